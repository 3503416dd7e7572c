//! `x[...]`: fields by name and places by position, in one key.
//!
//! Invariant: names and places do not disturb each other. A place counts axes from the left whatever names stand before it,
//! so that `x["id", 0]` is `x[0, "id"]`; fields are chosen first, and only what was chosen is moved.

use super::path::select;
use crate::args::int;
use crate::axes::{dim, rank};
use extenso_core::{RowPartition, Tensor, Value, ops};
use extenso_types::{DType, Dim, Error, Result};
use std::sync::Arc;

/// One part of a key.
#[derive(Clone, Debug)]
pub enum Index {
    /// The field of this name, through rows and masks.
    Field(Arc<str>),
    /// The element at a position, from the end if negative; its axis is gone.
    At(i64),
    /// A part of an axis, by the rules of Python.
    Slice {
        /// The first position; without one, the end that the step leads away from.
        start: Option<i64>,
        /// The position behind the last; without one, the other end.
        stop: Option<i64>,
        /// The distance of two positions; not 0.
        step: i64,
    },
    /// An axis of size 1 before the next one.
    NewAxis,
    /// All axes that the other parts leave over.
    Ellipsis,
    /// The elements where a boolean tensor is true, or at the positions that a tensor of integers has.
    Pick(Value),
}

impl Index {
    /// All of an axis.
    pub const ALL: Index = Index::Slice { start: None, stop: None, step: 1 };

    /// The number of axes that the part is about.
    fn width(&self) -> Result<usize> {
        match self {
            Index::Field(_) | Index::NewAxis | Index::Ellipsis => Ok(0),
            Index::At(_) | Index::Slice { .. } => Ok(1),
            Index::Pick(picked) if is_mask(picked) => rank(picked),
            Index::Pick(_) => Ok(1),
        }
    }
}

impl From<&str> for Index {
    fn from(name: &str) -> Index {
        Index::Field(name.into())
    }
}

impl From<i64> for Index {
    fn from(position: i64) -> Index {
        Index::At(position)
    }
}

/// What a key chooses of a value: fields of its records, places of its axes.
///
/// Works on tensors, rows, masked values and records, and while tracing where the sizes that are needed are known.
/// Errors: a name that is no field; more places than axes; a position out of range; two ellipses.
///
/// ```
/// # use extenso_ext::{Index, Literal, constant, index, to_literal};
/// let item = |n: i64| Literal::record([("n", n)]);
/// let x = constant(Literal::record([("items", vec![item(1), item(2), item(3)])])).unwrap();
/// let n = index(&x, &["items".into(), Index::Slice { start: Some(1), stop: None, step: 1 }, "n".into()]).unwrap();
/// assert_eq!(to_literal(&n).unwrap().to_string(), "[2, 3]");
/// ```
pub fn index(value: &Value, key: &[Index]) -> Result<Value> {
    chosen(value, key).map_err(|e| e.at("index"))
}

fn chosen(value: &Value, key: &[Index]) -> Result<Value> {
    let (mut value, mut places) = (value.clone(), Vec::new());
    for part in key {
        match part {
            Index::Field(name) => {
                places = spread(places, &value)?;
                value = select(&value, std::slice::from_ref(name))?;
            }
            Index::At(_) | Index::Slice { .. } | Index::NewAxis | Index::Ellipsis | Index::Pick(_) => {
                places.push(part.clone());
            }
        }
    }
    moved(value.clone(), &spread(places, &value)?)
}

/// The places with the ellipsis as whole axes, as many as the value has left.
fn spread(places: Vec<Index>, value: &Value) -> Result<Vec<Index>> {
    if places.is_empty() {
        return Ok(places);
    }
    let widths: Result<Vec<usize>> = places.iter().map(Index::width).collect();
    let (used, rank) = (widths?.iter().sum::<usize>(), rank(value)?);
    if used > rank {
        return Err(Error::index(format!("the key is about {used} axes, and the value has {rank}"))
            .wanted("at most one place for each axis"));
    }
    let mut dots = places.iter().enumerate().filter(|(_, part)| matches!(part, Index::Ellipsis));
    let (first, second) = (dots.next().map(|(i, _)| i), dots.next());
    if second.is_some() {
        return Err(Error::index("the key has two ellipses").wanted("at most one"));
    }
    let Some(at) = first else { return Ok(places) };
    let mut spread = places;
    spread.splice(at..=at, std::iter::repeat_n(Index::ALL, rank - used));
    Ok(spread)
}

/// The value after each place in turn; `axis` is the axis of the value that the next one is about.
fn moved(mut value: Value, places: &[Index]) -> Result<Value> {
    let mut axis = 0;
    for place in places {
        match place {
            Index::At(i) => value = at(&value, axis, *i)?,
            Index::Slice { start: None, stop: None, step: 1 } => axis += 1,
            Index::Slice { start, stop, step } => {
                let start = start.unwrap_or(if *step < 0 { i64::MAX } else { 0 });
                value = ops::slice(&value, int(axis), start, stop.map(|stop| vec![stop]), *step)?;
                axis += 1;
            }
            Index::NewAxis => {
                value = ops::expand_dims(&value, int(axis))?;
                axis += 1;
            }
            Index::Pick(mask) if is_mask(mask) => {
                value = where_true(&value, axis, mask)?;
                axis += 1;
            }
            Index::Pick(indices) => {
                value = ops::take(&value, indices, int(axis))?;
                axis += rank(indices)?;
            }
            Index::Field(_) | Index::Ellipsis => return Err(Error::internal("a name stands among places")),
        }
    }
    Ok(value)
}

fn at(value: &Value, axis: usize, i: i64) -> Result<Value> {
    if let Some(n) = dim(value, axis)?.known().map(int)
        && !(-n..n).contains(&i)
    {
        return Err(Error::index(format!("index {i} is out of range for axis {axis} of size {n}")).wanted(if n > 0 {
            format!("an index from {} to {}", -n, n - 1)
        } else {
            "a slice".to_string()
        }));
    }
    ops::take(value, Tensor::scalar(i), int(axis))
}

fn is_mask(picked: &Value) -> bool {
    picked.tensor().is_ok_and(|t| t.dtype() == DType::Bool)
}

/// The elements where the mask is true; the axes of the mask become one.
fn where_true(value: &Value, axis: usize, mask: &Value) -> Result<Value> {
    let at = |e: Error| e.at("mask");
    match rank(mask)? {
        0 => Err(at(Error::shape("the mask is a scalar").wanted("the shape of the axes that it is about"))),
        1 => {
            let kept = kept(mask)?;
            if axis == 0 {
                return ops::gather_rows_of(value, &kept).map_err(at);
            }
            let size = dim(value, axis)?.known().map(|n| (0..int(n)).collect::<Vec<i64>>());
            let indices = match size {
                Some(all) => ops::gather_rows_of(Tensor::from_vec(all), &kept).map_err(at)?,
                None => ops::value_rowids(&kept)?,
            };
            ops::take(value, indices, int(axis))
        }
        _ if axis > 0 => Err(at(Error::shape(format!("the mask has {} axes, from axis {axis} on", rank(mask)?))
            .wanted("several axes from the first on alone"))),
        axes => {
            let flat = ops::reshape(mask, vec![-1_i64])?;
            ops::gather_rows_of(flattened(value, mask, axes).map_err(at)?, &kept(&flat)?).map_err(at)
        }
    }
}

/// The partition in which a place has one value where the mask is true, and none elsewhere.
fn kept(mask: &Value) -> Result<RowPartition> {
    ops::partition_from_lengths(ops::cast(mask, DType::I64)?)?.partition().cloned()
}

/// The value with the first `axes` axes as one.
fn flattened(value: &Value, mask: &Value, axes: usize) -> Result<Value> {
    let sizes: Vec<Dim> = (0..rank(value)?).map(|axis| dim(value, axis)).collect::<Result<_>>()?;
    for (axis, size) in sizes[..axes].iter().enumerate() {
        let given = dim(mask, axis)?;
        if !given.is_compatible_with(*size) {
            return Err(Error::shape(format!("axis {axis} has size {given}, and that of the value {size}")));
        }
    }
    let inner = sizes[axes..].iter().map(|size| size.known().map_or(-1, int));
    ops::reshape(value, std::iter::once(-1).chain(inner).collect::<Vec<i64>>())
}
