//! Sums of decimals along axes and in rows, as ops on their bytes.
//!
//! Invariant: a sum has as many digits as its bytes hold, and is an error where it needs more; none is lost on the way.

use super::bytes::cells;
use super::{MOST, integers, power};
use arrow_buffer::i256;
use extenso_core::attrs::{AttrSet, Attrs, NoAttrs};
use extenso_core::kernels::pool::affordable;
use extenso_core::ops::{Cumulative, RowScan};
use extenso_core::reduce::{normalize_axes, normalize_axis};
use extenso_core::{Class, Dense, OpDef, OutputSpecs, Outputs, Tensor, Value};
use extenso_types::{Dim, Error, LeafSpec, Result, Shape, TensorSpec};

extenso_core::attrs! {
    /// Which axes before the bytes are summed, and whether they stay, with size 1.
    pub struct DecimalAxes { axis: Vec<i64>, keepdims: bool = false }
}

/// The sums of decimals of one scale along axes.
///
/// Errors: an axis out of range or named twice; a sum that its bytes do not hold.
pub static DECIMAL_TOTAL: OpDef = OpDef::general(Class::Structural, infer_total, run_total).part().named(
    "decimal_total",
    "The sums of decimals of one scale along axes, as their bytes.\n",
    &["x"],
    DecimalAxes::DEF,
);

/// The sums of decimals of one scale in rows.
///
/// Errors: another number of decimals than the partition has values; a sum that its bytes do not hold.
pub static DECIMAL_ROW_TOTALS: OpDef = OpDef::general(Class::Structural, infer_rows, run_rows).part().named(
    "decimal_row_totals",
    "The sums of decimals of one scale in the rows of a partition, as their bytes.\n",
    &["x", "partition"],
    NoAttrs::DEF,
);

/// The sums of decimals of one scale up to each along an axis, or from each on.
///
/// Errors: an axis out of range; a sum that its bytes do not hold.
pub static DECIMAL_RUNNING: OpDef = OpDef::general(Class::Structural, infer_running, run_running).part().named(
    "decimal_running",
    "The sums of decimals of one scale up to each along an axis, or from each on, as their bytes.\n",
    &["x"],
    Cumulative::DEF,
);

/// The same in the rows of a partition.
///
/// Errors: another number of decimals than the partition has values; a sum that its bytes do not hold.
pub static DECIMAL_ROW_RUNNING: OpDef =
    OpDef::general(Class::Structural, infer_row_running, run_row_running).part().named(
        "decimal_row_running",
        "The sums of decimals of one scale up to each in the rows of a partition, or from each on, as their bytes.\n",
        &["x", "partition"],
        RowScan::DEF,
    );

/// The digits of the largest sum in cells of this width.
pub(crate) fn most_digits(width: usize) -> i64 {
    if width == 32 { MOST } else { 38 }
}

fn infer_total(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let DecimalAxes { axis, keepdims } = DecimalAxes::of(attrs)?;
    let [x] = args else { return Err(Error::value(format!("{} arguments are given", args.len())).wanted("one")) };
    let (spec, outer) = cells(x)?;
    let axes = normalize_axes(axis, outer.len()).map_err(|e| e.at("axis"))?;
    let kept = outer.iter().enumerate().filter_map(|(i, dim)| match (axes.contains(&i), *keepdims) {
        (false, _) => Some(*dim),
        (true, true) => Some(Dim::Known(1)),
        (true, false) => None,
    });
    let width = spec.shape.dims().and_then(|dims| dims.last().copied());
    Ok(OutputSpecs::from_iter([LeafSpec::Tensor(TensorSpec::new(spec.dtype, Shape::new(kept.chain(width))))]))
}

fn run_total(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let DecimalAxes { axis, keepdims } = DecimalAxes::of(attrs)?;
    let x = args[0].tensor()?.data()?;
    let (outer, width) = outer(x)?;
    let axes = normalize_axes(axis, outer.len())?;
    // How far apart neighbours along an axis are among the sums: not at all along one that is summed.
    let (mut steps, mut n) = (vec![0; outer.len()], 1_usize);
    for i in (0..outer.len()).rev().filter(|i| !axes.contains(i)) {
        steps[i] = n;
        n = n.saturating_mul(outer[i]);
    }
    let mut sums = Sums::new(n, width)?;
    let mut place = vec![0; outer.len()];
    for value in integers(x)? {
        sums.add(place.iter().zip(&steps).map(|(at, step)| at * step).sum(), value)?;
        for i in (0..outer.len()).rev() {
            place[i] += 1;
            if place[i] < outer[i] {
                break;
            }
            place[i] = 0;
        }
    }
    let size = |(i, dim): (usize, &usize)| match (axes.contains(&i), *keepdims) {
        (false, _) => Some(*dim),
        (true, true) => Some(1),
        (true, false) => None,
    };
    sums.tensor(outer.iter().enumerate().filter_map(size).collect())
}

fn infer_rows(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let [x, rows] = args else { return Err(Error::value(format!("{} arguments are given", args.len())).wanted("two")) };
    let ((spec, outer), rows) = (cells(x)?, rows.partition()?);
    let [n, inner @ ..] = outer else { return Err(Error::shape("one decimal is given").wanted("a vector of them")) };
    if !n.is_compatible_with(rows.nvalues) {
        return Err(Error::shape(format!("{n} decimals are given to a partition of {}", rows.nvalues)));
    }
    let width = spec.shape.dims().and_then(|dims| dims.last().copied());
    let dims = std::iter::once(rows.nrows).chain(inner.iter().copied()).chain(width);
    Ok(OutputSpecs::from_iter([LeafSpec::Tensor(TensorSpec::new(spec.dtype, Shape::new(dims)))]))
}

fn run_rows(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, rows) = (args[0].tensor()?.data()?, args[1].partition()?.data()?);
    let (outer, width) = outer(x)?;
    let Some((n, inner)) = outer.split_first() else { return Err(Error::shape("one decimal is given")) };
    if *n != rows.nvalues() {
        return Err(Error::shape(format!("{n} decimals are given to a partition of {}", rows.nvalues())));
    }
    let each = inner.iter().product::<usize>();
    let mut sums = Sums::new(rows.nrows().saturating_mul(each), width)?;
    let mut values = integers(x)?.skip(rows.first().saturating_mul(each));
    for row in 0..rows.nrows() {
        let n = rows.offsets().get(row + 1) - rows.offsets().get(row);
        for (i, value) in (0..n.saturating_mul(each)).zip(values.by_ref()) {
            sums.add(row * each + i % each.max(1), value)?;
        }
    }
    let mut dims = vec![rows.nrows()];
    dims.extend_from_slice(inner);
    sums.tensor(dims)
}

fn infer_running(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let [x] = args else { return Err(Error::value(format!("{} arguments are given", args.len())).wanted("one")) };
    let (spec, outer) = cells(x)?;
    normalize_axis(Cumulative::of(attrs)?.axis, outer.len()).map_err(|e| e.at("axis"))?;
    Ok(OutputSpecs::from_iter([LeafSpec::Tensor(spec.clone())]))
}

fn run_running(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let Cumulative { axis, reverse } = *Cumulative::of(attrs)?;
    let x = args[0].tensor()?.data()?;
    let (outer, width) = outer(x)?;
    let axis = normalize_axis(axis, outer.len())?;
    let mut sums = Sums::of(x, width)?;
    let (n, apart) = (outer[axis], outer[axis + 1..].iter().product::<usize>());
    for block in 0..sums.values.len() / (n * apart).max(1) {
        for i in 0..apart {
            sums.run(Line { first: block * n * apart + i, n, apart }, reverse)?;
        }
    }
    sums.tensor(outer.to_vec())
}

fn infer_row_running(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    infer_rows(args, attrs)?;
    Ok(args.first().cloned().into_iter().collect())
}

fn run_row_running(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, rows) = (args[0].tensor()?.data()?, args[1].partition()?.data()?);
    let ((outer, width), reverse) = (outer(x)?, RowScan::of(attrs)?.reverse);
    let Some((n, inner)) = outer.split_first() else { return Err(Error::shape("one decimal is given")) };
    if *n != rows.nvalues() {
        return Err(Error::shape(format!("{n} decimals are given to a partition of {}", rows.nvalues())));
    }
    let mut sums = Sums::of(x, width)?;
    let apart = inner.iter().product::<usize>();
    for row in 0..rows.nrows() {
        let (from, to) = (rows.offsets().get(row), rows.offsets().get(row + 1));
        for i in 0..apart {
            sums.run(Line { first: from * apart + i, n: to - from, apart }, reverse)?;
        }
    }
    sums.tensor(outer.to_vec())
}

/// `n` elements, the first of which has this place and the next ones stand `apart`.
struct Line {
    first: usize,
    n: usize,
    apart: usize,
}

/// The axes before the bytes, and how many bytes there are.
fn outer(x: &Dense) -> Result<(&[usize], usize)> {
    let (width, outer) = x.dims().split_last().ok_or_else(|| Error::internal("decimals without bytes"))?;
    Ok((outer, *width))
}

/// Sums that grow.
struct Sums {
    values: Vec<i256>,
    width: usize,
}

impl Sums {
    /// So many sums of nothing, in cells of this width.
    fn new(n: usize, width: usize) -> Result<Sums> {
        affordable(n.saturating_mul(size_of::<i256>()))?;
        Ok(Sums { values: vec![i256::ZERO; n], width })
    }

    /// The decimals of a tensor, as sums of one each.
    fn of(x: &Dense, width: usize) -> Result<Sums> {
        affordable((x.len() / width.max(1)).saturating_mul(size_of::<i256>()))?;
        Ok(Sums { values: integers(x)?.collect(), width })
    }

    /// Adds to each element of a line those before it, or behind it.
    fn run(&mut self, line: Line, reverse: bool) -> Result<()> {
        for i in 1..line.n {
            let (to, from) = if reverse { (line.n - 1 - i, line.n - i) } else { (i, i - 1) };
            let before = self.values[line.first + from * line.apart];
            self.add(line.first + to * line.apart, before)?;
        }
        Ok(())
    }

    fn add(&mut self, at: usize, value: i256) -> Result<()> {
        let sum = &mut self.values[at];
        *sum = sum.checked_add(value).ok_or_else(|| too_large(at, most_digits(self.width)))?;
        Ok(())
    }

    fn tensor(self, mut dims: Vec<usize>) -> Result<Outputs> {
        let digits = most_digits(self.width);
        let most = power(digits).unwrap_or(i256::MAX);
        let mut bytes = Vec::with_capacity(self.values.len() * self.width);
        for (i, sum) in self.values.iter().enumerate() {
            if *sum >= most || *sum <= most.wrapping_neg() {
                return Err(too_large(i, digits));
            }
            bytes.extend_from_slice(&sum.to_le_bytes()[..self.width]);
        }
        dims.push(self.width);
        Ok(Outputs::from_iter([Tensor::new::<u8>(&dims, &bytes)?.into()]))
    }
}

fn too_large(at: usize, digits: i64) -> Error {
    Error::value(format!("sum {at} has more than {digits} digits")).wanted("a sum that its bytes hold")
}

#[cfg(test)]
mod tests {
    use crate::{DecimalTensor, RaggedTensor, to_literal};
    use extenso_core::attrs::Axes;
    use extenso_core::{ExtensionType, RowPartition, Tensor, Value, ops};
    use extenso_types::Result;

    /// The decimals 0.0, 0.1, ... under these sizes.
    fn decimals(dims: &[usize]) -> Result<DecimalTensor> {
        let texts: Vec<String> =
            (0..dims.iter().product::<usize>()).map(|i| format!("{}.{}", i / 10, i % 10)).collect();
        let flat = DecimalTensor::parse(&texts, 10, 1)?;
        let dims: Vec<i64> = dims.iter().chain(&[16]).map(|n| i64::try_from(*n).expect("small")).collect();
        DecimalTensor::new(ops::reshape(flat.cells(), dims)?.tensor()?.clone(), 10, 1)
    }

    fn shown(value: Result<Value>) -> String {
        value.and_then(|value| to_literal(&value)).map_or_else(|e| e.to_string(), |literal| literal.to_string())
    }

    #[test]
    fn sums_along_axes_are_those_of_the_numbers() {
        let numbers: Vec<f64> = (0..24).map(f64::from).collect();
        let numbers = Tensor::new(&[2, 3, 4], &numbers).expect("numbers");
        let x = decimals(&[2, 3, 4]).expect("decimals").into_value();
        for axis in [vec![], vec![0], vec![1], vec![-1], vec![0, 2], vec![2, 1], vec![0, 1, 2]] {
            for keepdims in [false, true] {
                let sums = ops::sum(&x, Axes::List(axis.clone()), keepdims).expect("sums");
                let wanted = ops::divide(ops::sum(&numbers, Axes::List(axis.clone()), keepdims).expect("sums"), 10.0)
                    .expect("tenths");
                let floats = ops::cast(&sums, extenso_types::DType::F64).expect("floats");
                assert_eq!(floats.to_string(), wanted.to_string(), "{axis:?}, {keepdims}");
            }
        }
        assert!(shown(ops::sum(&x, 3, false)).contains("axis 3 is out of range"));
    }

    #[test]
    fn running_sums_are_those_of_the_numbers() {
        let numbers: Vec<f64> = (0..24).map(f64::from).collect();
        let numbers = Tensor::new(&[2, 3, 4], &numbers).expect("numbers");
        let x = decimals(&[2, 3, 4]).expect("decimals").into_value();
        for (axis, reverse) in [(0, false), (1, true), (-1, false), (2, true)] {
            let sums = ops::cumulative_sum(&x, axis, reverse).expect("sums");
            let wanted =
                ops::divide(ops::cumulative_sum(&numbers, axis, reverse).expect("sums"), 10.0).expect("tenths");
            let floats = ops::cast(&sums, extenso_types::DType::F64).expect("floats");
            assert_eq!(floats.to_string(), wanted.to_string(), "{axis}, {reverse}");
        }
        let rows = RowPartition::from_lengths([2, 0, 4]).expect("rows");
        let x = decimals(&[6]).expect("decimals").into_value();
        let sums = |reverse| shown(ops::segment_cumulative_sum(&x, &rows, reverse));
        assert_eq!(sums(false), r#"["0.0", "0.1", "0.2", "0.5", "0.9", "1.4"]"#);
        assert_eq!(sums(true), r#"["0.1", "0.1", "1.4", "1.2", "0.9", "0.5"]"#);
    }

    #[test]
    fn rows_have_their_sums_and_none_has_more_digits_than_its_bytes() {
        let x = decimals(&[6]).expect("decimals").into_value();
        let rows = RowPartition::from_lengths([2, 0, 3, 1]).expect("rows");
        assert_eq!(shown(ops::segment_sum(&x, &rows)), r#"["0.1", "0.0", "0.9", "0.5"]"#);
        let ragged = RaggedTensor::from_partition(x, rows).expect("rows").into_value();
        assert_eq!(shown(ops::sum(&ragged, 1, false)), r#"["0.1", "0.0", "0.9", "0.5"]"#);
        let nines = "9".repeat(38);
        let large = DecimalTensor::parse(&[&nines, "1"], 38, 0).expect("decimals").into_value();
        assert!(shown(ops::sum(&large, 0, false)).contains("sum 0 has more than 38 digits"));
    }
}
