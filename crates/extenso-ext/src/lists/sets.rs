//! Lists as sets, and places in sorted lists.
//!
//! Both are found in the order of two lists together, so that anything that can be sorted can be looked for.

use super::groups::{Sorted, distinct};
use super::pick::{filled_like, parts};
use super::{Beside, along, as_rows_beside, check_scalars, flat_values, in_shape_of, only, with_flat};
use crate::args::{answer, typed_ref};
use crate::axes::rank;
use crate::categorical::CategoricalTensor;
use crate::masked::{MaskedTensor, missing_lists};
use crate::meaning::order::keys_of_both;
use crate::missing::may_lack;
use crate::ragged::RaggedTensor;
use extenso_core::attrs::Attrs;
use extenso_core::{Answer, Arg, Call, ExtensionType, Scalar, Tensor, Value, ops, strengthen};
use extenso_types::{DType, DTypeKind, Error, Result};

/// Whether each element of `x` is in `test`: in its list along `axis`, or without an axis in all of `test`.
///
/// NaN equals NaN here. Shapes: `test` has the rows of `x` before the axis; the result has the shape and the rows of `x`; what is
/// missing stays missing without an axis, and equals what is missing along one. Numbers that are written, one or a list, take the dtype
/// of `x`. Errors: other rows; dtypes that differ; a number that the dtype does not hold.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// let (x, test) = (constant(vec![vec![1, 2], vec![2]]).unwrap(), constant(vec![vec![2, 3], vec![]]).unwrap());
/// assert_eq!(to_literal(&lists::isin(&x, &test, Some(-1)).unwrap()).unwrap().to_string(), "[[False, True], [False]]");
/// assert_eq!(to_literal(&lists::isin(&x, &test, None).unwrap()).unwrap().to_string(), "[[False, True], [True]]");
/// ```
pub fn isin(x: &Value, test: impl Into<Arg>, axis: Option<i64>) -> Result<Value> {
    let test = test.into();
    let found = || within(x, &written(&test, x).map_err(|e| e.at("test"))?, axis);
    found().map_err(|e: Error| e.at_part("isin"))
}

/// The value, or what is written in the dtype of another.
fn written(test: &Arg, like: &Value) -> Result<Value> {
    let items = match test {
        Arg::Value(value) => return Ok(value.clone()),
        Arg::Scalar(_) => std::slice::from_ref(test),
        Arg::List(items) => items,
    };
    let dtype = crate::dtype_of(&like.spec()?);
    let whole: Option<Vec<i64>> = items.iter().map(integer).collect();
    match (whole, dtype) {
        (Some(numbers), Some(dtype)) if dtype.is_numeric() => {
            for end in numbers.iter().min().into_iter().chain(numbers.iter().max()) {
                strengthen(&Scalar::Int(*end), Some(dtype))?;
            }
            ops::cast(Tensor::from_vec(numbers), dtype)
        }
        _ if items.is_empty() => Ok(Tensor::from_vec(Vec::<f64>::new()).into()),
        _ => {
            let one = |item: &Arg| match item {
                Arg::Scalar(scalar) => ops::expand_dims(strengthen(scalar, dtype)?, 0),
                Arg::Value(_) | Arg::List(_) => Err(Error::dtype("found a list").wanted("numbers or strings alone")),
            };
            ops::concat(items.iter().map(one).collect::<Result<Vec<Value>>>()?, 0)
        }
    }
}

fn integer(item: &Arg) -> Option<i64> {
    match item {
        Arg::Scalar(Scalar::Int(number)) => Some(*number),
        Arg::Scalar(_) | Arg::Value(_) | Arg::List(_) => None,
    }
}

fn within(x: &Value, test: &Value, axis: Option<i64>) -> Result<Value> {
    match axis {
        Some(axis) => {
            let (x, lists) = (&as_rows_beside(x, axis, test)?, vec![Beside::lists("test", test)]);
            let found = along(x, axis, lists, &|rows, test| {
                Ok(vec![rows.with_values(members(rows, &test[0])?)?.into_value()])
            })?;
            in_shape_of(x, axis, only(found)?)
        }
        None => {
            let (values, test) = (flat_values(x)?, crate::ragged::flatten(test.clone(), None)?);
            with_flat(x, &members_of_all(&values, &test)?)
        }
    }
}

/// For each value of a vector whether it is in another, both of any type.
fn members_of_all(values: &Value, test: &Value) -> Result<Value> {
    if let (Value::Tensor(one), Value::Tensor(other)) = (values, test)
        && one.dtype() == other.dtype()
    {
        return members_of_one(values, test, one.dtype());
    }
    if let (Some(x), Value::Tensor(test)) = (typed_ref::<CategoricalTensor>(values), test)
        && let Some(words) = x.words()
        && words.dtype() == test.dtype()
    {
        return x.spread(&members_of_one(x.categories(), &test.clone().into(), test.dtype())?);
    }
    match keys_of_both(values, test)? {
        Some([values, test]) => members_of_one(&values, &test, values.tensor()?.dtype()),
        None => within(values, test, Some(0)),
    }
}

/// For each value of a vector whether it is in another.
fn members_of_one(values: &Value, test: &Value, dtype: DType) -> Result<Value> {
    if dtype.kind() == DTypeKind::Text || dtype.is_integer() {
        return ops::greater_equal(ops::lookup(values, ops::unique_values(test)?, -1, 0)?, 0);
    }
    // What is there can enter in front of itself and behind.
    let test = ops::sort(test, -1, false)?;
    ops::less(ops::searchsorted(&test, values, "left")?, ops::searchsorted(&test, values, "right")?)
}

/// For each value whether it is in the row of `test`.
fn members(rows: &RaggedTensor, test: &Value) -> Result<Value> {
    let both = Both::of(rows, test, true)?;
    let runs = both.sorted.runs()?;
    let found = ops::segment_any(ops::cast(&both.second, DType::Bool)?, &runs.cut)?;
    both.of_first(ops::gather_rows_of(found, &runs.cut)?)
}

/// Two lists of each row together, in order.
struct Both {
    sorted: Sorted,
    /// One for each element in order that is of the second list.
    second: Value,
    /// The same in the places that the elements had.
    marks: Value,
}

impl Both {
    /// The rows joined with others; of equal elements those of the first come first if `before`.
    fn of(rows: &RaggedTensor, others: &Value, before: bool) -> Result<Both> {
        let others = typed_ref::<RaggedTensor>(others).ok_or_else(|| Error::internal("lists are rows"))?.into_owned();
        let marked = |rows: &RaggedTensor, mark: i64| rows.with_values(filled_like(rows.values(), mark)?);
        let joined = |first: RaggedTensor, second: RaggedTensor| {
            let parts = if before { [first, second] } else { [second, first] };
            let joined = ops::concat(parts.map(RaggedTensor::into_value).to_vec(), 1)?;
            RaggedTensor::from_value(&joined)?.compact()
        };
        let marks = joined(marked(rows, 0)?, marked(&others, 1)?)?;
        let sorted = Sorted::of(&joined(rows.clone(), others)?)?;
        let second = ops::take(marks.values(), &sorted.places, 0)?;
        Ok(Both { sorted, second, marks: marks.values().clone() })
    }

    /// What stands for each element in order, for those of the first list in the places that they had.
    fn of_first(&self, ordered: Value) -> Result<Value> {
        let back = self.sorted.back(ordered)?;
        ops::boolean_mask(back, ops::equal(&self.marks, 0)?, 0)
    }
}

/// The distinct elements that `x` or `y` have in their lists along `axis`, in increasing order.
///
/// Shapes: both have the same rows before the axis. Errors: other rows; dtypes that differ; elements that are rows.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// let (x, y) = (constant(vec![vec![3, 1], vec![]]).unwrap(), constant(vec![vec![2, 3], vec![5]]).unwrap());
/// assert_eq!(to_literal(&lists::union(&x, &y, -1).unwrap()).unwrap().to_string(), "[[1, 2, 3], [5]]");
/// ```
pub fn union(x: &Value, y: &Value, axis: i64) -> Result<Value> {
    let joined = |rows: &RaggedTensor, others: &Value| {
        let joined = ops::concat(vec![rows.clone().into_value(), others.clone()], 1)?;
        distinct(&RaggedTensor::from_value(&joined)?.compact()?)
    };
    of_two(x, y, axis, &joined).map_err(|e| e.at_part("union"))
}

/// The distinct elements that both `x` and `y` have in their lists along `axis`, in increasing order.
///
/// Shapes and errors: as [`union`].
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// let (x, y) = (constant(vec![vec![3, 1], vec![]]).unwrap(), constant(vec![vec![2, 3], vec![5]]).unwrap());
/// assert_eq!(to_literal(&lists::intersection(&x, &y, -1).unwrap()).unwrap().to_string(), "[[3], []]");
/// ```
pub fn intersection(x: &Value, y: &Value, axis: i64) -> Result<Value> {
    of_two(x, y, axis, &|rows, others| chosen(rows, others, true)).map_err(|e| e.at_part("intersection"))
}

/// The distinct elements of the lists of `x` along `axis` that those of `y` do not have, in increasing order.
///
/// Shapes and errors: as [`union`].
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// let (x, y) = (constant(vec![vec![3, 1], vec![]]).unwrap(), constant(vec![vec![2, 3], vec![5]]).unwrap());
/// assert_eq!(to_literal(&lists::difference(&x, &y, -1).unwrap()).unwrap().to_string(), "[[1], []]");
/// ```
pub fn difference(x: &Value, y: &Value, axis: i64) -> Result<Value> {
    of_two(x, y, axis, &|rows, others| chosen(rows, others, false)).map_err(|e| e.at_part("difference"))
}

fn of_two(x: &Value, y: &Value, axis: i64, f: &dyn Fn(&RaggedTensor, &Value) -> Result<Value>) -> Result<Value> {
    only(along(x, axis, vec![Beside::lists("y", y)], &|rows, others| Ok(vec![f(rows, &others[0])?]))?)
}

fn chosen(rows: &RaggedTensor, others: &Value, wanted: bool) -> Result<Value> {
    let distinct = RaggedTensor::from_value(&distinct(rows)?)?;
    let kept = members(&distinct, others)?;
    let kept = if wanted { kept } else { ops::logical_not(kept)? };
    let mask = distinct.with_values(kept)?;
    ops::boolean_mask(distinct.into_value(), mask.into_value(), 0)
}

/// For each element of `x` the place in `sorted` at which it would keep the order: before equal elements, or with `right` behind.
///
/// Shapes: `sorted` is a vector for all of `x`, or has the rows of `x` before the last axis, a list for each list; the result is
/// i64 of the shape and the rows of `x`, missing where `x` is, and where a list of either is. Errors: other rows; dtypes that differ;
/// sorted elements of which one may be missing.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// let (sorted, x) = (constant(vec![vec![1, 3], vec![]]).unwrap(), constant(vec![vec![0, 3, 9], vec![4]]).unwrap());
/// assert_eq!(to_literal(&lists::searchsorted(&sorted, &x, false).unwrap()).unwrap().to_string(), "[[0, 1, 2], [0]]");
/// ```
pub fn searchsorted(sorted: &Value, x: &Value, right: bool) -> Result<Value> {
    let found = || {
        if rank(sorted)? == 1 && (rank(x)? != 1 || typed_ref::<MaskedTensor>(x).is_some()) {
            let side = if right { "right" } else { "left" };
            return with_flat(x, &ops::searchsorted(sorted, flat_values(x)?, side)?);
        }
        let lacks_lists_alone = || missing_lists(sorted).is_some_and(|lists| !may_lack(lists.values()));
        if typed_ref::<MaskedTensor>(sorted).is_some() && !lacks_lists_alone() {
            return Err(may_be_missing());
        }
        let (x, lists) = (&as_rows_beside(x, -1, sorted)?, vec![Beside::lists("sorted", sorted)]);
        let places = along(x, -1, lists, &|rows, sorted| {
            check_scalars(rows)?;
            if typed_ref::<RaggedTensor>(&sorted[0]).is_some_and(|rows| is_masked(rows.values())) {
                return Err(may_be_missing());
            }
            let (values, mask) = parts(rows.values())?;
            let both = Both::of(&rows.with_values(values)?, &sorted[0], !right)?;
            let before = ops::segment_cumulative_sum(&both.second, both.sorted.rows.partition(), false)?;
            let places = both.of_first(before)?;
            let places = match mask {
                Some(mask) => MaskedTensor::new(places, mask.tensor()?.clone())?.into_value(),
                None => places,
            };
            Ok(vec![rows.with_values(places)?.into_value()])
        })?;
        in_shape_of(x, -1, only(places)?)
    };
    found().map_err(|e: Error| e.at_part("searchsorted"))
}

fn is_masked(value: &Value) -> bool {
    typed_ref::<MaskedTensor>(value).is_some()
}

fn may_be_missing() -> Error {
    Error::dtype("some of the sorted elements may be missing")
        .wanted("elements that are all there")
        .hint("Write `fill_none(sorted, value)`.")
}

/// The handler of the op of this name.
pub(crate) fn places(call: &Call<'_>) -> Answer {
    let [sorted, x] = call.args else { return Ok(None) };
    let right = match ops::SearchSorted::of(call.attrs)?.side.as_str() {
        "left" => false,
        "right" => true,
        other => return Err(Error::value(format!("the side is '{other}'")).wanted("'left' or 'right'")),
    };
    answer(searchsorted(sorted.value()?, x.value()?, right)?)
}
