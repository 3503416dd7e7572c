//! Functions of lists: what they do to one list they do to each list along an axis, ragged or uniform, the outermost included.
//!
//! Invariant: a list gets what the function gives of it alone, and no list sees another. All are compositions over ops, so they
//! trace and have gradients as these have.

mod bounds;
mod counts;
mod draws;
mod groups;
mod keys;
mod lexical;
mod moves;
mod norms;
mod parts;
mod pick;
mod quantiles;
mod ranges;
mod sets;
mod shifts;
mod spreads;
mod tuples;
mod windows;

pub(crate) use bounds::{Bounds, between};
pub use draws::{random_bernoulli, random_categorical, random_shuffle};
pub(crate) use groups::ranks;
pub use groups::{group_by, run_lengths, unique, unique_with_counts, unique_with_inverse};
pub use lexical::lexsort;
pub use moves::{diff, repeat, roll, softmax, tile, top_k};
pub use norms::{l2_normalize, layer_norm, rms_norm};
pub use parts::{glu, split};
pub use pick::{first, head, last, nth, pad_to, tail, take_per_row};
pub(crate) use quantiles::bin_counts;
pub use quantiles::{bincount, median, quantile};
pub use ranges::ranges;
pub(crate) use sets::places;
pub use sets::{difference, intersection, isin, searchsorted, union};
pub use shifts::shift;
pub use spreads::{corr, covar, log_softmax, logsumexp, moment, softmax_cross_entropy, std, var};
pub use tuples::{argcartesian, argcombinations, cartesian, combinations};
pub use windows::windows;

use crate::args::{int, typed_ref};
use crate::axes::{dim, one_row, outer, rank, zeros, zeros_of};
use crate::guard::checked;
use crate::masked::{MaskedTensor, all_as_rows, lists_of, missing_lists, trailing};
use crate::missing::with_one_more;
use crate::ragged::{RaggedTensor, dense};
use crate::structs::{StructTensor, masked_by};
use extenso_core::attrs::Axes;
use extenso_core::reduce::normalize_axis;
use extenso_core::{Arg, ExtensionType, Tensor, Value, ops};
use extenso_types::{Dim, Error, Result, Shape};

/// A further argument of a function of lists.
struct Beside {
    name: &'static str,
    value: Value,
    /// Whether it has one element for each list, and not a list.
    each: bool,
}

impl Beside {
    /// One element for each list.
    fn each(name: &'static str, value: Value) -> Beside {
        Beside { name, value, each: true }
    }

    /// One list for each list.
    fn lists(name: &'static str, value: &Value) -> Beside {
        Beside { name, value: value.clone(), each: false }
    }

    /// Whether it stands in rows beside those of lists along this axis.
    fn is_rows(&self, axis: usize) -> bool {
        axis > usize::from(self.each)
    }

    /// Beside all elements as one list.
    fn of_one_list(self) -> Result<Value> {
        if self.each { ops::expand_dims(self.value, 0) } else { Ok(one_list(&self.value)?.into_value()) }
    }

    /// Beside the lists of rows.
    fn of_rows(self, rows: &RaggedTensor) -> Result<Value> {
        let value = if self.each { Ok(self.value) } else { as_rows(&self.value).map(RaggedTensor::into_value) };
        let value = value.map_err(|e| e.at(self.name))?;
        let (given, wanted) = (outer(&value), rows.nrows());
        match given {
            Some(given) if given == wanted => Ok(value),
            Some(given) if given.is_compatible_with(wanted) => {
                let count = |zeros: Value| ops::sum(ops::ones_like(zeros)?, Axes::All, false);
                let (given, wanted) = (count(zeros(&value)?)?, count(rows.row_lengths()?.into())?);
                checked(&value, &given, &wanted, "the number of rows and of lists").map_err(|e| e.at(self.name))
            }
            _ => Err(Error::shape(format!("there are {} rows", given.map_or_else(|| "no".into(), |n| n.to_string())))
                .at(self.name)
                .wanted(format!("one for each of {wanted} lists"))),
        }
    }

    /// The values in these rows.
    fn inside(self, rows: &RaggedTensor) -> Result<Beside> {
        let values = as_rows(&self.value).and_then(|given| given.values_in(rows.partition()));
        Ok(Beside { value: values.map_err(|e| e.at(self.name))?, ..self })
    }
}

/// What a function makes of lists: the rows of a partition that leaves no value out, and what stands beside them.
type OfLists<'a> = &'a dyn Fn(&RaggedTensor, &[Value]) -> Result<Vec<Value>>;

/// Applies a function to the lists along an axis. What it gives has the lists as outer axis; the axes before stay as they are.
///
/// Errors: an axis out of range; what stands beside has other rows before the axis.
fn along(x: &Value, axis: i64, beside: Vec<Beside>, f: OfLists<'_>) -> Result<Vec<Value>> {
    at(x, normalize_axis(axis, rank(x)?)?, beside, f)
}

/// The same for a function of lists alone with one result.
fn along_one(x: &Value, axis: i64, f: &dyn Fn(&RaggedTensor) -> Result<Value>) -> Result<Value> {
    only(along(x, axis, Vec::new(), &|rows, _| Ok(vec![f(rows)?]))?)
}

fn only(values: Vec<Value>) -> Result<Value> {
    values.into_iter().next().ok_or_else(|| Error::internal("a function of lists gave nothing"))
}

fn at(x: &Value, axis: usize, beside: Vec<Beside>, f: OfLists<'_>) -> Result<Vec<Value>> {
    if let Some(mask) = lists_missing(x, axis, &beside)? {
        let emptied = |value: &Value| as_rows(&lists_of(value))?.only_where(&mask).map(RaggedTensor::into_value);
        let one_size = |value: &Value| typed_ref::<RaggedTensor>(&lists_of(value)).is_none();
        let all_of_one_size = one_size(x) && beside.iter().all(|other| !other.is_rows(axis) || one_size(&other.value));
        // What lies under lists of one size does no harm beside such lists, and none where others are one list for each.
        let own = if one_size(x) && (axis == 1 || all_of_one_size) { lists_of(x) } else { emptied(x)? };
        let others = |other: Beside| {
            let value = match other.is_rows(axis) {
                true if all_of_one_size => lists_of(&other.value),
                true => emptied(&other.value).map_err(|e| e.at(other.name))?,
                false => other.value,
            };
            Ok(Beside { value, ..other })
        };
        let made = at(&own, axis, beside.into_iter().map(others).collect::<Result<_>>()?, f)?;
        return made.into_iter().map(|y| masked_by(y, &mask)).collect();
    }
    if let Some(masked) = typed_ref::<MaskedTensor>(x)
        && masked.mask_rank()? <= axis.min(1)
    {
        let made = at(masked.values(), axis, beside, f)?;
        return made.into_iter().map(|y| Ok(MaskedTensor::new(y, masked.mask().clone())?.into_value())).collect();
    }
    if axis == 0 {
        return in_one_list(x, beside, f);
    }
    let rows = as_rows(x)?;
    if axis == 1 {
        let beside: Result<Vec<Value>> = beside.into_iter().map(|value| value.of_rows(&rows)).collect();
        return f(&rows, &beside?);
    }
    let deeper = beside.into_iter().map(|value| value.inside(&rows)).collect::<Result<Vec<Beside>>>()?;
    let made = at(rows.values(), axis - 1, deeper, f)?;
    made.into_iter().map(|y| outside(x, &rows, y)).collect()
}

/// The function on all elements as one list.
fn in_one_list(x: &Value, beside: Vec<Beside>, f: OfLists<'_>) -> Result<Vec<Value>> {
    let beside: Result<Vec<Value>> = beside.into_iter().map(Beside::of_one_list).collect();
    let made = f(&one_list(x)?, &beside?)?;
    let out = |y: Value| match typed_ref::<RaggedTensor>(&y) {
        Some(rows) => Ok(rows.compact()?.values().clone()),
        None => ops::take(y, 0, 0),
    };
    made.into_iter().map(out).collect()
}

/// All elements as one row.
fn one_list(x: &Value) -> Result<RaggedTensor> {
    RaggedTensor::from_partition(x.clone(), one_row(x)?)
}

/// The value as rows that are all of its values.
///
/// Errors: a scalar or a vector; rows that are missing as a whole.
fn as_rows(value: &Value) -> Result<RaggedTensor> {
    match typed_ref::<RaggedTensor>(value) {
        Some(rows) => rows.compact(),
        None if typed_ref::<MaskedTensor>(value).is_some_and(|x| typed_ref::<RaggedTensor>(x.values()).is_some()) => {
            crate::missing::as_rows(value)
        }
        None => RaggedTensor::of_uniform(value),
    }
}

/// What was made inside rows, in these rows; dense where the rows were, as far as sizes are known.
pub(crate) fn outside(x: &Value, rows: &RaggedTensor, made: Value) -> Result<Value> {
    let dense = typed_ref::<MaskedTensor>(&made).map_or_else(|| made.tensor().is_ok(), |y| y.values().tensor().is_ok());
    if typed_ref::<RaggedTensor>(x).is_none() && dense {
        if rank(&made)? == 1 {
            return ops::reshape_like(made, zeros_of(x, 2)?);
        }
        let outer = [dim(x, 0)?, dim(x, 1)?].into_iter().map(Ok);
        let sizes = outer.chain((1..rank(&made)?).map(|axis| dim(&made, axis))).collect::<Result<Vec<Dim>>>()?;
        let unknown = sizes.iter().filter(|n| n.known().is_none()).count();
        // Where a size is 0, the number of elements does not tell another.
        if unknown == 0 || (unknown == 1 && !sizes.contains(&Dim::Known(0))) {
            return ops::reshape(made, sizes.into_iter().map(|n| n.known().map_or(-1, int)).collect::<Vec<i64>>());
        }
    }
    Ok(rows.with_values(made)?.into_value())
}

/// What was made of each element along `axis` in the shape of `x` up to there, dense where `x` is.
fn in_shape_of(x: &Value, axis: i64, made: Value) -> Result<Value> {
    let mut like = x.clone();
    while let Some(masked) = typed_ref::<MaskedTensor>(&like) {
        let values = masked.values().clone();
        like = values;
    }
    if like.tensor().is_err() || made.tensor().is_ok() {
        return Ok(made);
    }
    let mut masks = Vec::new();
    let rows = without_list_masks(&made, 0, &mut masks)?;
    let of_one_size = |rows: &RaggedTensor| rows.partition().spec().uniform_row_length.is_some();
    if !typed_ref::<RaggedTensor>(&rows).is_some_and(|rows| masks.is_empty() || of_one_size(&rows)) {
        return Ok(made);
    }
    let axes = normalize_axis(axis, rank(&like)?)? + 1;
    let flat = crate::ragged::flatten(rows, None)?;
    let whole = if rank(&made)? == axes {
        ops::reshape_like(flat, zeros_of(&like, axes)?)
    } else {
        ops::reshape_like(flat, &like)
    };
    masks.into_iter().rev().try_fold(whole?, |whole, (axes, mask)| {
        masked_by(whole, ops::reshape_like(mask, zeros_of(&like, axes)?)?.tensor()?)
    })
}

/// The rows without what says that lists in them are missing, and that by the number of axes that it is about. The value has `outer` axes around it.
fn without_list_masks(made: &Value, outer: usize, masks: &mut Vec<(usize, Tensor)>) -> Result<Value> {
    if let Some(masked) = typed_ref::<MaskedTensor>(made)
        && masked.mask_rank()? < rank(masked.values())?
    {
        masks.push((outer + masked.mask_rank()?, masked.mask().clone()));
        return without_list_masks(masked.values(), outer, masks);
    }
    match typed_ref::<RaggedTensor>(made) {
        Some(rows) => {
            let rows = rows.compact()?;
            Ok(rows.with_values(without_list_masks(rows.values(), outer + 1, masks)?)?.into_value())
        }
        None => Ok(made.clone()),
    }
}

/// Values for all elements of `x` in one list, in the rows and the shape of `x`.
fn with_flat(x: &Value, flat: &Value) -> Result<Value> {
    if let Some(rows) = typed_ref::<RaggedTensor>(x) {
        let rows = rows.compact()?;
        return Ok(rows.with_values(with_flat(rows.values(), flat)?)?.into_value());
    }
    if let Some(masked) = typed_ref::<MaskedTensor>(x) {
        let values = with_flat(masked.values(), flat)?;
        return Ok(MaskedTensor::new(values, masked.mask().clone())?.into_value());
    }
    // Of another type its shape alone is asked.
    if x.tensor().is_ok() { ops::reshape_like(flat, x) } else { ops::reshape_like(flat, zeros_of(x, rank(x)?)?) }
}

/// The values of all elements in one list, without what says that some are missing.
fn flat_values(x: &Value) -> Result<Value> {
    match typed_ref::<MaskedTensor>(x) {
        Some(masked) => flat_values(masked.values()),
        None => match typed_ref::<RaggedTensor>(x) {
            Some(rows) => flat_values(rows.compact()?.values()),
            None => ops::reshape(x, vec![-1_i64]),
        },
    }
}

/// The elements in rows of one or none, one below the other; zero, empty or missing where a row has none.
pub(crate) fn spread(found: &Value, cut: &Value) -> Result<Value> {
    let partition = cut.partition()?;
    if let Value::Tensor(tensor) = found {
        let rows = ops::pad_rows(found, partition, dense::zero(tensor.dtype())?, Some(vec![1_i64]))?;
        return ops::squeeze(rows, vec![1_i64]);
    }
    if let Some(masked) = typed_ref::<MaskedTensor>(found) {
        let mask = spread(&masked.mask().clone().into(), cut)?;
        return Ok(MaskedTensor::new(spread(masked.values(), cut)?, mask.tensor()?.clone())?.into_value());
    }
    if let Some(records) = typed_ref::<StructTensor>(found) {
        if let Some(count) = records.count() {
            let count = spread(&count.clone().into(), cut)?;
            return Ok(StructTensor::counted(count.tensor()?.clone(), records.rank())?.into_value());
        }
        let inner = records.shape().dims().unwrap_or_default().iter().skip(1).copied();
        let shape = Shape::new(std::iter::once(partition.spec().nrows).chain(inner));
        let fields = records.fields().iter().map(|(name, value)| Ok((name.clone(), spread(value, cut)?)));
        return Ok(StructTensor::from_fields(shape, fields.collect::<Result<Vec<_>>>()?)?.into_value());
    }
    if typed_ref::<RaggedTensor>(found).is_some() {
        // A row without a row is an empty row.
        let rows = RaggedTensor::from_partition(found.clone(), partition.clone())?;
        return crate::ragged::flatten(rows.into_value(), Some(2));
    }
    let there = ops::row_lengths(partition)?;
    // What stands where nothing is: one more element, or of a type that nothing is known of the first.
    let (found, nothing) = match with_one_more(found) {
        Some(more) => (more?, Arg::Value(ops::sum(&there, 0, false)?)),
        None => (found.clone(), Arg::from(0_i64)),
    };
    let at = ops::where_(ops::greater(&there, 0)?, ops::row_starts(partition)?, nothing)?;
    ops::take(found, at, 0)
}

/// The elements of short lists: `default` where none is there, or missing without one.
fn or_missing(found: Value, there: &Value, default: Option<&Arg>) -> Result<Value> {
    match default {
        Some(default) => {
            check_default(&found, default)?;
            if let Some(lists) = missing_lists(&found) {
                // What stands where no list is, is there.
                let made = or_missing(lists.values().clone(), there, Some(default))?;
                let mask = ops::logical_or(lists.mask(), ops::logical_not(there)?)?;
                return masked_by(made, mask.tensor()?);
            }
            let wide = trailing(there, rank(&found)? - 1)?;
            ops::where_(wide, found, default.clone())
        }
        // Where elements of so many axes may be missing one by one, the whole is so on top of that.
        None if typed_ref::<MaskedTensor>(&found).is_some_and(|found| found.mask_rank().is_ok_and(|rank| rank < 2)) => {
            Ok(found)
        }
        None => Ok(MaskedTensor::new(found, there.tensor()?.clone())?.into_value()),
    }
}

/// Checks that what stands for an element has no other axes than it.
fn check_default(found: &Value, default: &Arg) -> Result<()> {
    let (own, given) = (rank(found)? - 1, default.value().map_or(Ok(0), rank)?);
    if given <= own {
        return Ok(());
    }
    let wanted = if own == 0 { "one value for all".to_string() } else { format!("at most {own}, as an element has") };
    Err(Error::shape(format!("what is put where no element is has {given} axes")).wanted(wanted))
}

/// Checks that the elements of lists have no axes of their own.
fn check_scalars(rows: &RaggedTensor) -> Result<()> {
    match rank(rows.values())? {
        1 => Ok(()),
        n => Err(Error::shape(format!("the elements along the axis have {} axes of their own", n - 1))
            .wanted("numbers, booleans or text along the axis")
            .hint("Give the last axis, or `flatten` the axes inside.")),
    }
}

/// A count that must not be negative.
fn count(name: &str, n: i64) -> Result<i64> {
    if n >= 0 {
        return Ok(n);
    }
    Err(Error::value(format!("{name} is {n}")).wanted("a number that is not negative"))
}

/// Rows of these lengths.
fn cut_by(lengths: Value) -> Result<Value> {
    ops::partition_from_lengths(lengths)
}

/// Where lists are there in `x` and beside it, if some may be missing in one of them and others stand beside them.
fn lists_missing(x: &Value, axis: usize, beside: &[Beside]) -> Result<Option<Tensor>> {
    let lists = beside.iter().filter(|other| other.is_rows(axis)).map(|other| &other.value);
    if lists.clone().next().is_none() || axis == 0 {
        return Ok(None);
    }
    let mask = |value: &Value| missing_lists(value).map(|x| x.mask().clone());
    lists.chain([x]).filter_map(mask).map(Ok).reduce(both).transpose()
}

fn both(x: Result<Tensor>, y: Result<Tensor>) -> Result<Tensor> {
    ops::logical_and(x?, y?)?.tensor().cloned()
}

/// The value with lists as rows where others stand beside them that are rows, and some of both are missing: what is made of both has their axes then.
fn as_rows_beside(x: &Value, axis: i64, other: &Value) -> Result<Value> {
    let missing = missing_lists(x).is_some() || missing_lists(other).is_some();
    if !missing || normalize_axis(axis, rank(x)?)? < 2 {
        return Ok(x.clone());
    }
    only(all_as_rows(&[x.clone(), other.clone()])?)
}

/// Rows as a value.
fn rows_value(values: Value, cut: &Value) -> Result<Value> {
    Ok(RaggedTensor::from_partition(values, cut.partition()?.clone())?.into_value())
}
