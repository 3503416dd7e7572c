//! Lines: a tensor as rows along one axis, for kernels that take each line as a whole.

use super::permute;
use crate::partition::Rows;
use crate::reduce::normalize_axis;
use crate::tensor::{Dense, Tensor};
use crate::value::Value;
use extenso_types::{Dims, Error, Result, Shape, TensorSpec};
use std::ops::Range;

/// A tensor whose axis was brought to the end.
pub(super) struct Lines {
    tensor: Tensor,
    axis: usize,
}

impl Lines {
    /// The lines along `axis`.
    ///
    /// Errors: the axis is out of range, which it is for every scalar.
    pub fn of(x: &Value, axis: i64) -> Result<Lines> {
        let x = x.tensor()?;
        let dense = x.data()?;
        let rank = dense.dims().len();
        let axis = normalize_axis(axis, rank)?;
        let tensor = if axis + 1 == rank { x.clone() } else { permute(dense, &to_end(axis, rank))? };
        Ok(Lines { tensor, axis })
    }

    /// The lines along the outer axis, which a partition cuts into rows.
    ///
    /// Errors: a scalar; another number of values than the partition cuts.
    pub fn of_rows(x: &Value, rows: &Rows) -> Result<Lines> {
        let given = x.tensor()?.data()?.dims().first();
        match given {
            Some(&n) if n == rows.nvalues() => Lines::of(x, 0),
            Some(n) => Err(Error::shape(format!("{n} values are given to a partition of {}", rows.nvalues()))
                .wanted("as many values as the partition cuts")),
            None => Err(Error::shape("values are a scalar").wanted("at least a vector")),
        }
    }

    /// Where each line stands in the data.
    pub fn spans(&self) -> Result<impl Iterator<Item = Range<usize>> + use<>> {
        let (n, len) = (self.len()?, self.data()?.len());
        let count = len.checked_div(n).unwrap_or(0);
        Ok((0..count).map(move |i| i * n..(i + 1) * n))
    }

    /// Where each row of each line stands in the data.
    pub fn spans_of<'a>(&self, rows: &'a Rows) -> Result<impl Iterator<Item = Range<usize>> + use<'a>> {
        let of_line = move |line: Range<usize>| {
            (0..rows.nrows()).map(move |i| {
                let row = rows.row(i);
                line.start + row.start..line.start + row.end
            })
        };
        Ok(self.spans()?.flat_map(of_line))
    }

    /// The data, row by row.
    pub fn data(&self) -> Result<&Dense> {
        self.tensor.data()
    }

    /// The length of a line.
    pub fn len(&self) -> Result<usize> {
        Ok(self.data()?.dims().last().copied().unwrap_or(1))
    }

    /// The sizes, with lines of another length.
    pub fn dims_with(&self, len: usize) -> Result<Dims> {
        let mut dims = Dims::from_slice(self.data()?.dims());
        if let Some(last) = dims.last_mut() {
            *last = len;
        }
        Ok(dims)
    }

    /// A tensor of lines, with their axis where it was.
    pub fn back(&self, lines: Tensor) -> Result<Tensor> {
        let rank = lines.data()?.dims().len();
        if self.axis + 1 == rank {
            return Ok(lines);
        }
        let mut order: Vec<i64> = to_end(self.axis, rank);
        let last = order.len() - 1;
        // The inverse: the last axis goes back to its place.
        for (place, axis) in order.iter_mut().enumerate() {
            let from = if place == self.axis { last } else { place - usize::from(place > self.axis) };
            *axis = i64::try_from(from).unwrap_or(i64::MAX);
        }
        permute(lines.data()?, &order)
    }
}

fn to_end(axis: usize, rank: usize) -> Vec<i64> {
    let order = (0..rank).filter(|i| *i != axis).chain([axis]);
    order.map(|i| i64::try_from(i).unwrap_or(i64::MAX)).collect()
}

/// The spec, once its axis is known to be in range.
pub(super) fn same_shape(spec: &TensorSpec, axis: i64) -> Result<Shape> {
    if let Some(rank) = spec.shape.rank() {
        normalize_axis(axis, rank)?;
    }
    Ok(spec.shape.clone())
}
