//! Searching in sorted lines.
//!
//! Invariant: the order is that of `sort`, so that NaN is behind everything.

use super::args::{data, spec_of, tensor_spec};
use super::sorting::{by_lines, indices, sortable};
use crate::attrs::{AttrSet, Attrs};
use crate::kernels::order::Ordered;
use crate::kernels::pool::affordable;
use crate::op::{Class, OpDef, OutputSpecs};
use crate::ops::args::one_tensor;
use crate::tensor::{Dense, bytes_of_bits};
use crate::value::{Outputs, Value};
use extenso_types::{DType, Error, LeafSpec, Result, Shape};
use half::{bf16, f16};
use std::cmp::Ordering;

crate::attrs! {
    /// The attributes of `searchsorted`.
    pub struct SearchSorted { side: String = "left".into() }
}

crate::ops! {
    /// Searches.
    pub static SEARCHING;

    /// The positions in the sorted vector `x` at which each of `values` could enter and leave it sorted, as i64.
    ///
    /// With side "left" it is in front of equal elements, with "right" behind them. Where `x` has more axes, each line along the last is
    /// for the line of `values` at the same place. Shapes: the result has that of `values`.
    /// Errors: `x` is no vector, nor of the shape of `values` but for the last axis; dtypes that differ; another side.
    SEARCHSORTED: searchsorted(x, values; SearchSorted { side: String }) = OpDef::general(Class::Structural, infer, run)
        .examples(&[("searchsorted([1, 3, 3, 5], [3, 0, 9])", "[1, 0, 4]"), ("searchsorted([1, 3, 3, 5], [3], side='right')", "[3]"), ("searchsorted([[1, 3], [5, 9]], [[2], [9]])", "[[1], [1]]")]);
}

fn infer(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let (x, values) = (spec_of(args, 0)?, spec_of(args, 1)?);
    sortable(x)?;
    is_right(attrs)?;
    if x.dtype != values.dtype {
        return Err(Error::dtype(format!("{} is looked for among {}", values.dtype, x.dtype))
            .wanted("one dtype for both")
            .hint(format!("Write `cast(values, '{}')`.", x.dtype)));
    }
    if let Some(sorted) = x.shape.dims() {
        check_lines(sorted, values.shape.dims(), |x, y| x.is_compatible_with(y), &x.shape)?;
    }
    Ok(tensor_spec(DType::I64, values.shape.clone()))
}

/// One line for all values, or one for each of theirs.
fn check_lines<D: Copy>(
    sorted: &[D],
    values: Option<&[D]>,
    fits: impl Fn(D, D) -> bool,
    shape: &dyn std::fmt::Display,
) -> Result<()> {
    let outer = |dims: &[D]| dims[..dims.len() - 1].to_vec();
    let meet = match (sorted.len(), values) {
        (1, _) => true,
        (0, _) => false,
        (rank, Some(values)) => {
            values.len() == rank && outer(sorted).into_iter().zip(outer(values)).all(|(x, y)| fits(x, y))
        }
        (_, None) => true,
    };
    if meet {
        return Ok(());
    }
    Err(Error::shape(format!("the sorted elements have shape {shape}"))
        .wanted("a vector, or the shape of the values but for the last axis"))
}

fn is_right(attrs: &dyn AttrSet) -> Result<bool> {
    match SearchSorted::of(attrs)?.side.as_str() {
        "left" => Ok(false),
        "right" => Ok(true),
        other => Err(Error::value(format!("the side is '{other}'")).wanted("'left' or 'right'")),
    }
}

fn run(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, values, right) = (data(args, 0)?, data(args, 1)?, is_right(attrs)?);
    check_lines(x.dims(), Some(values.dims()), |x, y| x == y, &Shape::known(x.dims()))?;
    let lines = Lines { sorted: x.dims(), values: values.dims(), right };
    macro_rules! by_dtype {
        ($out:ident; $($d:ident $t:ty),*) => {
            match x.dtype() {
                $(DType::$d => lines.places(x.as_slice::<$t>()?, values.as_slice::<$t>()?, $out),)*
                DType::Bool => {
                    affordable(x.len().saturating_add(values.len()))?;
                    lines.places(&bytes_of_bits(x.bits()?), &bytes_of_bits(values.bits()?), $out)
                }
                DType::String | DType::Bytes | DType::Variant => lines.places(&texts(x)?, &texts(values)?, $out),
            }
        };
    }
    one_tensor(indices(values.dims().into(), |out| {
        by_dtype!(out; I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F16 f16, BF16 bf16, F32 f32, F64 f64);
        Ok(())
    })?)
}

/// What is sorted and looked for, line by line.
struct Lines<'a> {
    sorted: &'a [usize],
    values: &'a [usize],
    right: bool,
}

impl Lines<'_> {
    fn places<T: Ordered + Sync>(&self, sorted: &[T], values: &[T], out: &mut [i64]) {
        let [.., size] = *self.sorted else { return };
        if self.sorted.len() == 1 {
            return places(sorted, values, self.right, out);
        }
        let count = self.values.last().copied().unwrap_or(0);
        if count == 0 {
            return;
        }
        for (line, (values, out)) in values.chunks(count).zip(out.chunks_mut(count)).enumerate() {
            let sorted = sorted.get(line * size..(line + 1) * size).unwrap_or_default();
            places(sorted, values, self.right, out);
        }
    }
}

fn texts(x: &Dense) -> Result<Vec<&[u8]>> {
    (0..x.len()).map(|i| x.text_at(i)).collect()
}

/// The places of values in one line, found side by side. Keys are compared where there are any, without branches.
fn places<T: Ordered + Sync>(sorted: &[T], values: &[T], right: bool, out: &mut [i64]) {
    let place = |value: T| match value.key(false) {
        Some(value) if right => sorted.partition_point(|x| x.key(false).unwrap_or_default() <= value),
        Some(value) => sorted.partition_point(|x| x.key(false).unwrap_or_default() < value),
        None => sorted.partition_point(|x| match x.order(value, false) {
            Ordering::Less => true,
            Ordering::Equal => right,
            Ordering::Greater => false,
        }),
    };
    by_lines(values, 1, out, 1, |values, out| {
        out.iter_mut().zip(values).for_each(|(out, value)| *out = i64::try_from(place(*value)).unwrap_or(i64::MAX));
    });
}
