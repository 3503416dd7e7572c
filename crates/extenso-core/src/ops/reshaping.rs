//! Axes in another order, and values brought to one shape. Compositions.

use super::rearrange::{int, rank_of};
use super::{broadcast_like, broadcast_to, equal, expand_dims_at, logical_and, transpose};
use crate::reduce::{normalize_axes, normalize_axis};
use crate::tensor::Tensor;
use crate::value::{Arg, Value};
use extenso_types::{Error, Result, Shape};

/// The axes in the order of `axes`.
///
/// `transpose` under the name of the Array API. Errors: `axes` is not a permutation.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let x = Tensor::new(&[1, 2], &[7, 8]).unwrap();
/// assert_eq!(ops::permute_dims(x, vec![1, 0]).unwrap().to_string(), "[[7], [8]]");
/// ```
pub fn permute_dims(x: impl Into<Arg>, axes: impl Into<Vec<i64>>) -> Result<Value> {
    transpose(x, Some(axes.into())).map_err(|e| e.at_part("permute_dims"))
}

/// Matrices with rows and columns exchanged: the last two axes.
///
/// Errors: fewer than two axes.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let x = Tensor::new(&[1, 1, 2], &[7, 8]).unwrap();
/// assert_eq!(ops::matrix_transpose(x).unwrap().to_string(), "[[[7], [8]]]");
/// ```
pub fn matrix_transpose(x: impl Into<Arg>) -> Result<Value> {
    let transposed = |x: &Value| {
        let rank = rank_of(x)?;
        if rank < 2 {
            return Err(Error::shape(format!("the argument is {}", x.spec()?)).wanted("at least two axes"));
        }
        let mut order: Vec<i64> = (0..int(rank)).collect();
        order.swap(rank - 2, rank - 1);
        transpose(x, Some(order))
    };
    x.into().value().and_then(transposed).map_err(|e| e.at_part("matrix_transpose"))
}

/// The axes at `source` moved to `destination`; the others stay in order.
///
/// Errors: an axis out of range or named twice; another number of sources than destinations.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let x = Tensor::new(&[1, 1, 2], &[7, 8]).unwrap();
/// assert_eq!(ops::moveaxis(x, vec![-1], vec![0]).unwrap().to_string(), "[[[7]], [[8]]]");
/// ```
pub fn moveaxis(x: impl Into<Arg>, source: impl Into<Vec<i64>>, destination: impl Into<Vec<i64>>) -> Result<Value> {
    let moved = |x: &Value, source: Vec<i64>, destination: Vec<i64>| {
        let rank = rank_of(x)?;
        if source.len() != destination.len() {
            return Err(Error::value(format!("{} axes move to {} places", source.len(), destination.len()))
                .wanted("a place for each axis"));
        }
        let taken = normalize_axes(&source, rank)?;
        normalize_axes(&destination, rank)?;
        let mut moves = Vec::new();
        for (from, to) in source.iter().zip(&destination) {
            moves.push((normalize_axis(*to, rank)?, normalize_axis(*from, rank)?));
        }
        moves.sort_unstable();
        let mut order: Vec<usize> = (0..rank).filter(|axis| !taken.contains(axis)).collect();
        moves.into_iter().for_each(|(to, from)| order.insert(to, from));
        transpose(x, Some(order.into_iter().map(int).collect::<Vec<_>>()))
    };
    x.into().value().and_then(|x| moved(x, source.into(), destination.into())).map_err(|e| e.at_part("moveaxis"))
}

/// Values repeated to the one shape that they broadcast to together, and to the same rows.
///
/// Errors: shapes or rows that do not broadcast; a result beyond memory.
///
/// ```
/// # use extenso_core::{Tensor, Value, ops};
/// let values = [Tensor::from_vec(vec![1, 2]), Tensor::scalar(7)].map(Value::from);
/// assert_eq!(ops::broadcast_arrays(&values).unwrap()[1].to_string(), "[7, 7]");
/// ```
pub fn broadcast_arrays(values: &[Value]) -> Result<Vec<Value>> {
    alike(values).map_err(|e| e.at_part("broadcast_arrays"))
}

fn alike(values: &[Value]) -> Result<Vec<Value>> {
    let shapes: Option<Vec<Shape>> = values.iter().map(|x| x.tensor().ok().map(Tensor::shape)).collect();
    if let Some(shapes) = shapes {
        let common = shapes.iter().try_fold(Shape::scalar(), |common, shape| common.broadcast(shape))?;
        if let Some(dims) = common.to_dims() {
            let sizes: Vec<i64> = dims.iter().copied().map(int).collect();
            return values.iter().map(|x| broadcast_to(x, sizes.clone())).collect();
        }
    }
    // Rows have no one shape, and while tracing sizes may be known to the data alone: something of that shape stands for them.
    let Some((first, others)) = values.split_first() else { return Ok(Vec::new()) };
    let like = others.iter().try_fold(equal(first, first)?, |like, x| logical_and(like, equal(x, x)?))?;
    values.iter().map(|x| broadcast_like(x, &like)).collect()
}

/// Which axis of a grid the first vector lies along.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Indexing {
    /// The second: the vectors are columns and rows of a picture.
    Xy,
    /// The first: the vectors are indices of a matrix.
    Ij,
}

/// The coordinates of a grid: for each vector a tensor that repeats it along the axes of the others.
///
/// Errors: an argument that is no vector; a result beyond memory.
///
/// ```
/// # use extenso_core::{Tensor, Value, ops};
/// let axes = [Tensor::from_vec(vec![1, 2]), Tensor::from_vec(vec![7, 8])].map(Value::from);
/// let grid = ops::meshgrid(&axes, ops::Indexing::Ij).unwrap();
/// assert_eq!((grid[0].to_string(), grid[1].to_string()), ("[[1, 1], [2, 2]]".into(), "[[7, 8], [7, 8]]".into()));
/// ```
pub fn meshgrid(vectors: &[Value], indexing: Indexing) -> Result<Vec<Value>> {
    let placed = |(i, x): (usize, &Value)| {
        if rank_of(x)? != 1 {
            return Err(Error::shape(format!("argument {} is {}", i + 1, x.spec()?)).wanted("a vector"));
        }
        let at = match (indexing, i) {
            (Indexing::Xy, 0 | 1) if vectors.len() > 1 => 1 - i,
            (Indexing::Xy | Indexing::Ij, i) => i,
        };
        expand_dims_at(x, (0..vectors.len()).filter(|axis| *axis != at).map(int).collect::<Vec<_>>())
    };
    let placed: Result<Vec<Value>> = vectors.iter().enumerate().map(placed).collect();
    placed.and_then(|placed| alike(&placed)).map_err(|e| e.at_part("meshgrid"))
}
