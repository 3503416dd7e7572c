//! Elements brought together by the numbers of their segments, and elements put at positions. Compositions over ops.
//!
//! Invariant: what meets at one place is in the order that it has in the arguments, so that the bits of a sum depend on that alone.

use crate::args::{int, typed_ref};
use crate::axes::{dim, outer, rank};
use crate::masked::MaskedTensor;
use crate::mean::mean;
use crate::ragged::RaggedTensor;
use crate::ragged::reduction::of_rows;
use extenso_core::reduce::Fold;
use extenso_core::{ExtensionType, RowPartition, Tensor, Value, ops};
use extenso_types::{DType, Dim, Error, Result};

macro_rules! unsorted {
    ($($name:ident $segment:ident $what:literal $none:literal $example:literal;)*) => { $(
        #[doc = concat!($what, " of the elements of each segment along the outer axis. TensorFlow's name.")]
        ///
        #[doc = concat!("Shapes: `segments` has the number of a segment for each element, from 0 to below `count`, in any order; the result has `count` as outer axis. An element whose segment is missing is in none. ", $none)]
        /// Errors: segments that are no vector of integers, or of another size; a number out of range; a negative count; other dtypes than
        /// numbers.
        ///
        /// ```
        /// # use extenso_core::Tensor;
        /// # use extenso_ext::scatter;
        /// let (x, segments) = (Tensor::from_vec(vec![1.0, 2.0, 4.0]), Tensor::from_vec(vec![2_i64, 0, 2]));
        #[doc = concat!("assert_eq!(scatter::", stringify!($name), "(&x.into(), &segments.into(), 3).unwrap().to_string(), \"", $example, "\");")]
        /// ```
        pub fn $name(x: &Value, segments: &Value, count: i64) -> Result<Value> {
            $segment(x, segments, count).map_err(|e| e.at(stringify!($name)))
        }
    )* };
}
unsorted! {
    unsorted_segment_sum sum "The sum" "A segment without elements gives zero." "[2.0, 0.0, 5.0]";
    unsorted_segment_prod prod "The product" "A segment without elements gives one." "[2.0, 1.0, 4.0]";
    unsorted_segment_max max "The largest" "A segment without elements gives -inf or the smallest integer, and is missing where elements have no such end." "[2.0, -inf, 4.0]";
    unsorted_segment_min min "The smallest" "A segment without elements gives inf or the largest integer, and is missing where elements have no such end." "[2.0, inf, 1.0]";
    unsorted_segment_mean mean_of "The mean" "A segment without elements gives NaN." "[2.0, NaN, 2.5]";
}

/// The strings of each segment along the outer axis joined into one, in their order, with `separator` between them. TensorFlow's name.
///
/// Shapes and errors: as [`unsorted_segment_sum`], of texts; a segment without elements gives an empty string.
///
/// ```
/// # use extenso_core::Tensor;
/// # use extenso_ext::scatter;
/// let (x, segments) = (Tensor::strings(&[3], &["a", "b", "c"]).unwrap(), Tensor::from_vec(vec![2_i64, 0, 2]));
/// let joined = scatter::unsorted_segment_join(&x.into(), &segments.into(), 3, "+").unwrap();
/// assert_eq!(joined.to_string(), r#"["b", "", "a+c"]"#);
/// ```
pub fn unsorted_segment_join(x: &Value, segments: &Value, count: i64, separator: &str) -> Result<Value> {
    by_segment(x, segments, count)
        .and_then(|(values, rows)| ops::segment_join(values, rows, separator))
        .map_err(|e| e.at_part("unsorted_segment_join"))
}

fn sum(x: &Value, segments: &Value, count: i64) -> Result<Value> {
    if let Some(added) = added_up(x, segments, count)? {
        return Ok(added);
    }
    by_segment(x, segments, count).and_then(|(values, rows)| ops::segment_sum(values, rows))
}

fn prod(x: &Value, segments: &Value, count: i64) -> Result<Value> {
    by_segment(x, segments, count).and_then(|(values, rows)| ops::segment_prod(values, rows))
}

fn max(x: &Value, segments: &Value, count: i64) -> Result<Value> {
    by_segment(x, segments, count).and_then(|(values, rows)| of_rows(Fold::Max)(&values, &rows))
}

fn min(x: &Value, segments: &Value, count: i64) -> Result<Value> {
    by_segment(x, segments, count).and_then(|(values, rows)| of_rows(Fold::Min)(&values, &rows))
}

fn mean_of(x: &Value, segments: &Value, count: i64) -> Result<Value> {
    by_segment(x, segments, count).and_then(|(values, rows)| segment_mean(&values, &rows))
}

/// The sums of a vector of numbers, each added where it goes; none of other values.
fn added_up(x: &Value, segments: &Value, count: i64) -> Result<Option<Value>> {
    let (Value::Tensor(vector), Value::Tensor(_)) = (x, segments) else { return Ok(None) };
    let dtype = Fold::Sum.out_dtype(vector.dtype()).ok();
    let Some(dtype @ (DType::I64 | DType::U64 | DType::F32 | DType::F64)) = dtype else { return Ok(None) };
    if vector.rank() != Some(1) {
        return Ok(None);
    }
    let numbers = numbers_of(x, segments, count)?;
    let zeros = ops::zeros(vec![count], dtype)?;
    ops::scatter_add_like(ops::cast(x, dtype)?, numbers, zeros).map(Some)
}

/// The mean of each row that the partition cuts, as of `mean`. An empty row gives NaN.
///
/// Errors: values whose number is not the partition's; other dtypes than numbers.
///
/// ```
/// # use extenso_core::{RowPartition, Tensor};
/// # use extenso_ext::scatter::segment_mean;
/// let rows = RowPartition::from_lengths([2, 0, 1]).unwrap();
/// assert_eq!(segment_mean(&Tensor::from_vec(vec![1, 2, 4]).into(), &rows).unwrap().to_string(), "[1.5, NaN, 4.0]");
/// ```
pub fn segment_mean(values: &Value, rows: &RowPartition) -> Result<Value> {
    RaggedTensor::from_partition(values.clone(), rows.clone())
        .and_then(|rows| mean(&rows.into_value(), 1, false))
        .map_err(|e| e.at_part("segment_mean"))
}

/// The elements in the order of their segments, and the segments as rows.
fn by_segment(x: &Value, segments: &Value, count: i64) -> Result<(Value, RowPartition)> {
    if let Some(some) = typed_ref::<MaskedTensor>(segments).filter(|some| some.mask_rank().ok() == Some(1)) {
        // What is of no known segment is in none.
        let there = Value::from(some.mask().clone());
        let (x, segments) = (ops::boolean_mask(x, &there, 0)?, ops::boolean_mask(some.values(), there, 0)?);
        return by_segment(&x, &segments, count);
    }
    let numbers = numbers_of(x, segments, count)?;
    let order = ops::argsort(&numbers, 0, false)?;
    let rows =
        ops::partition_from_rowids(ops::take(&numbers, &order, 0)?, Some(vec![count])).map_err(|e| e.at("segments"))?;
    Ok((ops::take(x, order, 0)?, rows.partition()?.clone()))
}

/// The numbers of the segments, as i64: from 0 to below `count`, one for each element.
fn numbers_of(x: &Value, segments: &Value, count: i64) -> Result<Value> {
    if count < 0 {
        return Err(Error::value(format!("the count is {count}")).wanted("a number that is not negative"));
    }
    let checked = || {
        let numbers = positions(segments)?;
        if rank(&numbers)? != 1 {
            return Err(Error::shape(format!("they have {} axes", rank(&numbers)?)).wanted("a vector"));
        }
        let numbers = beside(numbers, x)?;
        let wanted = format!("numbers of segments, from 0, of which there are {count}");
        let is_one = |number: &i64| (0..count).contains(number);
        if let Ok(known) = numbers.tensor()?.as_slice::<i64>() {
            // Looked at together first, which takes less time.
            if known.iter().all(is_one) {
                return Ok(numbers);
            }
            let at = known.iter().position(|number| !is_one(number)).unwrap_or(0);
            return Err(Error::index(format!("segment {} stands at [{at}]", known[at])).wanted(wanted));
        }
        let within = ops::logical_and(ops::greater_equal(&numbers, 0)?, ops::less(&numbers, count)?)?;
        ops::check_all(numbers, within, format!("a segment is negative, or not below {count}"), wanted)
    };
    checked().map_err(|e| e.at("segments"))
}

/// The numbers, of which there is one for each element of `x`; where sizes are not known while tracing, this is seen by the run.
fn beside(numbers: Value, x: &Value) -> Result<Value> {
    if dim(&numbers, 0)?.known().is_some_and(|n| outer(x) == Some(Dim::Known(n))) {
        return Ok(numbers);
    }
    // Put side by side, both must have one size.
    let both = vec![ops::expand_dims(numbers, 0)?, ops::expand_dims(crate::axes::positions(x)?, 0)?];
    ops::take(ops::concat(both, 0)?, Tensor::scalar(0_i64), 0)
}

fn positions(given: &Value) -> Result<Value> {
    match given.tensor() {
        Ok(tensor) if tensor.dtype().is_integer() => ops::whole(given),
        Ok(tensor) => Err(Error::dtype(format!("found {}", tensor.dtype())).wanted("integers")),
        Err(error) => Err(error),
    }
}

/// A tensor of `shape` with `updates` at positions along its first axes, and zeros elsewhere; what meets at one is added up.
///
/// An update that is missing adds nothing, and neither does one at a position that is. Shapes: as of [`gather_nd`](crate::gather_nd): a
/// vector along the last axis of `indices` is one position. Negative positions count from the end. Errors: indices that are no dense
/// integers; more positions than axes, or none; a position out of range; updates of another shape than `gather_nd` would give; other dtypes
/// than numbers; a negative size.
///
/// ```
/// # use extenso_core::Tensor;
/// # use extenso_ext::scatter::scatter_nd;
/// let (at, updates) = (Tensor::new(&[3, 1], &[1_i64, 3, 1]).unwrap(), Tensor::from_vec(vec![5, 6, 7]));
/// assert_eq!(scatter_nd(&at.into(), &updates.into(), &[4]).unwrap().to_string(), "[0, 12, 0, 6]");
/// ```
pub fn scatter_nd(indices: &Value, updates: &Value, shape: &[i64]) -> Result<Value> {
    let scattered = || {
        let (indices, updates) = &of_places(indices, updates)?;
        let dtype = unmasked(updates).tensor().map_err(|e| e.at("updates"))?.dtype();
        let zeros = ops::zeros(shape.to_vec(), dtype)?;
        let at = Places::of(indices, &zeros)?;
        let sums = ops::scatter_add_like(at.flat_updates(updates, &zeros)?, &at.flat, at.flattened(&zeros)?)?;
        ops::reshape_like(sums, zeros)
    };
    scattered().map_err(|e| e.at_part("scatter_nd"))
}

/// `x` with `updates` added at positions along its first axes; TensorFlow's `tensor_scatter_nd_add`.
///
/// What is missing of `x` stays so. Shapes and errors: as [`scatter_nd`], whose `shape` is that of `x`.
///
/// ```
/// # use extenso_core::Tensor;
/// # use extenso_ext::scatter::scatter_nd_add;
/// let (x, at) = (Tensor::from_vec(vec![1, 2, 3]), Tensor::new(&[2, 1], &[0_i64, 0]).unwrap());
/// assert_eq!(scatter_nd_add(&x.into(), &at.into(), &Tensor::from_vec(vec![10, 20]).into()).unwrap().to_string(), "[31, 2, 3]");
/// ```
pub fn scatter_nd_add(x: &Value, indices: &Value, updates: &Value) -> Result<Value> {
    let added = || {
        let (indices, updates) = &of_places(indices, updates)?;
        let like = unmasked(x);
        let at = Places::of(indices, &like)?;
        let sums = ops::scatter_add_like(at.flat_updates(updates, &like)?, &at.flat, at.flattened(&like)?)?;
        ops::add(x, ops::reshape_like(sums, like)?)
    };
    added().map_err(|e| e.at_part("scatter_nd_add"))
}

/// `x` with `updates` in the place of what is at positions along its first axes; TensorFlow's `tensor_scatter_nd_update`.
///
/// Of several updates at one position the last one stays; one that is missing leaves nothing there. Shapes and errors: as [`scatter_nd_add`], of any dtype.
///
/// ```
/// # use extenso_core::Tensor;
/// # use extenso_ext::scatter::scatter_nd_update;
/// let (x, at) = (Tensor::from_vec(vec![1, 2, 3]), Tensor::new(&[2, 1], &[0_i64, -1]).unwrap());
/// assert_eq!(scatter_nd_update(&x.into(), &at.into(), &Tensor::from_vec(vec![10, 20]).into()).unwrap().to_string(), "[10, 2, 20]");
/// ```
pub fn scatter_nd_update(x: &Value, indices: &Value, updates: &Value) -> Result<Value> {
    let updated = || {
        let (indices, updates) = &of_places(indices, updates)?;
        let at = Places::of(indices, &unmasked(x))?;
        let (flat, updates) = (at.flattened(x)?, at.flat_updates(updates, x)?);
        // Behind the elements stand the updates: for each place the last update that goes there, or the element.
        let own = ops::indices_along(&flat, 0)?;
        let count = ops::sum(ops::ones_like(&own)?, 0, false)?;
        let order = ops::argsort(&at.flat, 0, false)?;
        let rows = ops::partition_from_lengths(ops::scatter_add_like(ops::ones_like(&at.flat)?, &at.flat, &own)?)?;
        let last = ops::segment_max(order, rows)?;
        let from = ops::where_(ops::greater_equal(&last, 0)?, ops::add(&last, count)?, own)?;
        ops::reshape_like(ops::take(ops::concat(vec![flat, updates], 0)?, from, 0)?, x)
    };
    updated().map_err(|e| e.at_part("scatter_nd_update"))
}

/// Positions of which all are there, and what goes to these.
fn of_places(indices: &Value, updates: &Value) -> Result<(Value, Value)> {
    let Some(some) = typed_ref::<MaskedTensor>(indices) else { return Ok((indices.clone(), updates.clone())) };
    let (all, own) = (rank(some.values())?, some.mask_rank()?);
    let at = some.values();
    // A position of which one number is missing is none.
    let there = if own == all { ops::all(some.mask(), -1, false)? } else { some.mask().clone().into() };
    match own.min(all.saturating_sub(1)) {
        0 => of_these(&ops::expand_dims(at, 0)?, &ops::expand_dims(updates, 0)?, &ops::expand_dims(there, 0)?),
        _ => of_these(at, updates, &there),
    }
}

fn of_these(indices: &Value, updates: &Value, there: &Value) -> Result<(Value, Value)> {
    Ok((ops::boolean_mask(indices, there, 0)?, ops::boolean_mask(updates, there, 0)?))
}

/// The values under a mask.
fn unmasked(x: &Value) -> Value {
    typed_ref::<MaskedTensor>(x).map_or_else(|| x.clone(), |x| unmasked(x.values()))
}

/// Positions along the first axes of a tensor.
struct Places {
    /// How many axes they are along.
    axes: usize,
    /// The axes of the indices before the last.
    before: usize,
    /// The indices, which have them.
    before_last: Value,
    /// Each as one number, in row-major order; a vector.
    flat: Value,
}

impl Places {
    /// Errors: no dense integers; more positions than axes, or none; one out of range.
    fn of(indices: &Value, x: &Value) -> Result<Places> {
        let spec = x.tensor().map_err(|e| e.at("x"))?.spec();
        let wrong = |error: Error| error.at("indices");
        let indices = positions(indices).map_err(wrong)?;
        let before = rank(&indices)?.checked_sub(1);
        let axes = before.and_then(|at| dim(&indices, at).ok()?.known()).filter(|axes| *axes > 0);
        let (Some(before), Some(axes)) = (before, axes) else {
            return Err(wrong(
                Error::shape(format!("found {}", indices.tensor()?.spec()))
                    .wanted("a known last axis of positions, at least one"),
            ));
        };
        if axes > rank(x)? {
            let found = format!("{axes} positions are given for {} axes of {spec}", rank(x)?);
            return Err(wrong(Error::shape(found).wanted("at most one position for each axis")));
        }
        let each = ops::reshape(&indices, vec![-1, int(axes)])?;
        let mut flat: Option<Value> = None;
        for axis in 0..axes {
            let all = ops::indices_along(x, int(axis))?;
            // Taken from all positions of the axis, one that is out of range is an error, and a negative one counts from the end.
            let at = ops::take(&each, Tensor::scalar(int(axis)), 1)?;
            let at = ops::take(&all, at, 0).map_err(|e| wrong(e.at(format!("axis {axis}"))))?;
            flat = Some(match flat {
                None => at,
                Some(flat) => ops::add(ops::multiply(flat, ops::sum(ops::ones_like(&all)?, 0, false)?)?, at)?,
            });
        }
        let flat = flat.ok_or_else(|| Error::internal("positions along no axis"))?;
        Ok(Places { axes, before, before_last: indices, flat })
    }

    /// The tensor with the axes of positions as one.
    fn flattened(&self, x: &Value) -> Result<Value> {
        if self.axes == 1 {
            return Ok(x.clone());
        }
        let inner = (self.axes..rank(x)?).map(|axis| Ok(dim(x, axis)?.known().map(int)));
        let inner: Option<Vec<i64>> = inner.collect::<Result<_>>()?;
        let inner = inner.ok_or_else(|| {
            Error::shape("the axes behind the positions have sizes that are not known while tracing")
                .wanted("known sizes")
        })?;
        let outer = (0..self.axes).map(|axis| Ok(dim(x, axis)?.known().map(int)));
        let outer: Option<i64> = outer.collect::<Result<Option<Vec<i64>>>>()?.map(|sizes| sizes.iter().product());
        ops::reshape(x, std::iter::once(outer.unwrap_or(-1)).chain(inner).collect::<Vec<i64>>())
    }

    /// The updates, one for each position.
    ///
    /// Errors: another rank or other sizes than the elements at the positions have.
    fn flat_updates(&self, updates: &Value, x: &Value) -> Result<Value> {
        let wrong = |error: Error| error.at("updates");
        let given = rank(updates).map_err(wrong)?;
        let wanted = self.before + rank(x)? - self.axes;
        if given != wanted {
            let found = format!("they have {given} axes");
            return Err(wrong(Error::shape(found).wanted(format!("{wanted}, as the elements at the positions have"))));
        }
        for axis in 0..given {
            let wanted = match axis.checked_sub(self.before) {
                None => dim(&self.before_last, axis)?,
                Some(inner) => dim(x, self.axes + inner)?,
            };
            if !dim(updates, axis)?.is_compatible_with(wanted) {
                let found = format!("axis {axis} has size {}", dim(updates, axis)?);
                return Err(wrong(Error::shape(found).wanted(wanted.to_string())));
            }
        }
        let flat = updates;
        match self.before {
            0 => ops::expand_dims(flat, 0),
            1 => Ok(flat.clone()),
            _ => {
                let sizes = (self.before..given).map(|axis| Ok(dim(updates, axis)?.known().map_or(-1, int)));
                let sizes = std::iter::once(Ok(-1)).chain(sizes).collect::<Result<Vec<i64>>>()?;
                ops::reshape(flat, sizes)
            }
        }
    }
}
