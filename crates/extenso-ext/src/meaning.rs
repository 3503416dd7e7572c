//! Types that are one value under a meaning: what moves elements moves theirs, and the meaning stays.
//!
//! Invariant: no op is computed on the elements here. What has a value under the meaning is for each type to say.

pub(crate) mod nested;
pub(crate) mod order;
pub(crate) mod unread;

use crate::args::{again, answer, answer_ext, flat, int, typed, typed_arg, typed_ref};
use crate::axes::{positions, rank, zeros_of};
use crate::logical::uuid_beside;
use crate::{
    Bool8Tensor, CategoricalTensor, DateTensor, DecimalTensor, DurationTensor, FixedBytesTensor, IntervalTensor,
    JsonTensor, TimeTensor, TimestampTensor,
};
use extenso_core::attrs::Attrs;
use extenso_core::ops::{BroadcastTo, OneAxis, Reshape, Slice, Transpose};
use extenso_core::ops::{Run, assemble};
use extenso_core::reduce::normalize_axis;
use extenso_core::{
    Answer, Arg, Call, Dense, ExtensionType, OpDef, Target, Tensor, TypeSpec, Value, call_one, on, ops,
};
use extenso_types::{DType, Dims, Error, Result, TypeDef};
use std::sync::Arc;

/// A type that is one value under a meaning.
pub(crate) trait Meaning: ExtensionType {
    /// Whether an element is the innermost axis of the value: so many bytes.
    const CELLS: bool = false;

    /// Whether the order of elements is that of keys, and not that of numbers that they are.
    const BY_KEYS: bool = false;

    /// The elements.
    fn elements(&self) -> Value;

    /// Other elements under the same meaning.
    fn over(&self, elements: Value) -> Result<Self>;

    /// Checks that the elements of both mean the same.
    fn meets(&self, other: &Self) -> Result<()>;

    /// Both as values whose elements mean the same.
    ///
    /// Errors: there are none.
    fn alike(&self, other: &Self) -> Result<(Self, Self)> {
        self.meets(other)?;
        Ok((self.clone(), other.clone()))
    }

    /// Numbers or texts in the order of the elements.
    ///
    /// Errors: those of the ops that make them.
    fn order(&self) -> Result<Value> {
        Ok(self.elements())
    }

    /// Numbers or texts of several values in the order of their elements, where what they are does not matter.
    ///
    /// Errors: those of the ops that make them.
    fn orders(values: &[&Self]) -> Result<Vec<Value>> {
        values.iter().map(|x| x.order()).collect()
    }

    /// The least and the greatest element that there can be, of a type whose order is that of keys.
    ///
    /// Errors: a type that has none.
    fn ends(&self) -> Result<Self> {
        Err(Error::dtype("the elements have no order").wanted("times, decimals or categories"))
    }
}

/// What the first of some types makes of arguments, the first of which is one of its values.
macro_rules! first_of {
    ($of:ident $args:tt; $($type:ty),* $(,)?) => {
        None$(.or_else(|| $of::<$type> $args))*
    };
}
pub(crate) use first_of;

/// The same of all types under a meaning.
macro_rules! first_of_all {
    ($of:ident $args:tt) => {
        first_of!($of $args; TimestampTensor, DateTensor, TimeTensor, DurationTensor, IntervalTensor, DecimalTensor,
            CategoricalTensor, FixedBytesTensor, Bool8Tensor, JsonTensor)
    };
}

/// The elements of a value under a meaning; none of another value.
pub(crate) fn elements_of(value: &Value) -> Option<Value> {
    fn of<T: Meaning>(value: &Value) -> Option<Value> {
        typed::<T>(value).map(|x| x.elements())
    }
    first_of_all!(of(value))
}

/// Single elements of one type as the items of one value; none of other values, or of elements that do not stand beside each other.
pub(crate) fn joined(values: &[&Value]) -> Option<Result<Value>> {
    fn of<T: Meaning>(values: &[&Value]) -> Option<Result<Value>> {
        typed_ref::<T>(values.first()?)?;
        let singles = values.iter().map(|value| typed_ref::<T>(value)).collect::<Option<Vec<_>>>()?;
        // Most mean what the one before means; decimals may have several numbers of digits.
        let mut groups: Vec<(&T, Vec<usize>)> = Vec::new();
        for (i, single) in singles.iter().enumerate() {
            match groups.iter().rposition(|(first, _)| first.meets(single).is_ok()) {
                Some(found) => groups[found].1.push(i),
                None if groups.len() < MOST_GROUPS => groups.push((single, vec![i])),
                None => return None,
            }
        }
        let part = |(first, group): &(&T, Vec<usize>)| {
            let elements = side_by_side::<T>(group.iter().map(|i| singles[*i].elements()))?;
            Some(elements.and_then(|elements| first.over(elements)).map(ExtensionType::into_value))
        };
        let parts: Result<Vec<Value>> = groups.iter().map(part).collect::<Option<_>>()?;
        let places: Vec<i64> = groups.iter().flat_map(|(_, group)| group.iter().map(|i| int(*i))).collect();
        let joined = |parts: Vec<Value>| match <[Value; 1]>::try_from(parts) {
            Ok([all]) => Ok(all),
            Err(parts) => ops::take(ops::concat(parts, 0)?, ops::argsort(Tensor::from_vec(places), 0, false)?, 0),
        };
        // What does not stand beside the others is named where it stands.
        parts.and_then(joined).ok().map(Ok)
    }
    first_of_all!(of(values))
}

/// Elements are joined by what they mean where that are so many at most.
const MOST_GROUPS: usize = 64;

/// Single elements as one tensor; none of what has axes.
fn side_by_side<T: Meaning>(elements: impl Iterator<Item = Value>) -> Option<Result<Value>> {
    let singles = elements.map(|x| x.tensor().cloned().ok()).collect::<Option<Vec<Tensor>>>()?;
    let dense = singles.iter().map(|single| single.data().ok()).collect::<Option<Vec<&Dense>>>()?;
    let (dtype, dims) = (dense.first()?.dtype(), Dims::from_slice(dense.first()?.dims()));
    if dims.len() != usize::from(T::CELLS) || dense.iter().any(|x| x.dtype() != dtype || x.dims() != &dims[..]) {
        return None;
    }
    let len = dims.iter().product();
    let runs = (0..dense.len()).map(|i| Run { source: Some(i), start: 0, len });
    let all = std::iter::once(dense.len()).chain(dims).collect();
    Some(assemble(dtype, all, &dense, runs).map(Value::Tensor))
}

/// What `f` makes of the elements, under the same meaning; none of another value.
pub(crate) fn over_elements(value: &Value, f: &dyn Fn(Value) -> Result<Value>) -> Option<Result<Value>> {
    fn of<T: Meaning>(value: &Value, f: &dyn Fn(Value) -> Result<Value>) -> Option<Result<Value>> {
        typed::<T>(value).map(|x| Ok(x.over(f(x.elements())?)?.into_value()))
    }
    first_of_all!(of(value, f))
}

/// The name of the type with its article; none of a value of another type.
pub(crate) fn name_of(value: &Value) -> Option<String> {
    fn of<T: Meaning>(value: &Value) -> Option<String> {
        typed_ref::<T>(value).map(|_| T::Spec::def().name().to_string())
    }
    let name = first_of_all!(of(value))?;
    let name = name.rsplit('/').next().unwrap_or_default();
    Some(format!("{} {name}", if name.starts_with(['A', 'E', 'I', 'O', 'U']) { "an" } else { "a" }))
}

type Handle = fn(&Call<'_>) -> Answer;

/// Registers what moves elements.
pub(crate) fn register_moves<T: Meaning>(def: &Arc<TypeDef>, name: &'static str) {
    let moves: [&'static OpDef; 7] = [
        &ops::TAKE,
        &ops::SLICE,
        &ops::BOOLEAN_MASK,
        &ops::EXPAND_DIMS,
        &ops::GATHER_ROWS_OF,
        &ops::ALIGN_ROWS,
        &ops::STRETCH_ROWS,
    ];
    for op in moves {
        on(Target::Op(op), def, name, moved::<T>);
    }
    let shapes: [(&'static OpDef, Handle); 8] = [
        (&ops::RESHAPE, reshaped::<T>),
        (&ops::TRANSPOSE, reshaped::<T>),
        (&ops::BROADCAST_TO, reshaped::<T>),
        (&ops::EXPAND_DIMS_AT, by_numbers::<T>),
        (&ops::SQUEEZE, by_numbers::<T>),
        (&ops::TAKE_ALONG_AXIS, by_numbers::<T>),
        (&ops::RESHAPE_LIKE, by_numbers::<T>),
        (&ops::UNPAD_ROWS, by_numbers::<T>),
    ];
    for (op, cells) in shapes {
        on(Target::Op(op), def, name, if T::CELLS { cells } else { moved::<T> });
    }
    let others: [(&'static OpDef, Handle); 9] = [
        (&ops::CONCAT, concat::<T>),
        (&ops::WHERE, chosen::<T>),
        (&ops::ROW_PARTITION, row_partition::<T>),
        (&ops::BROADCAST_LIKE, broadcast_like::<T>),
        (&ops::INDICES_ALONG, indices_along::<T>),
        (&ops::SHIFT_IN, beside_another::<T>),
        (&ops::SEGMENT_SHIFT, beside_another::<T>),
        (&ops::PAD, beside_another::<T>),
        (&ops::PAD_ROWS, beside_another::<T>),
    ];
    for (op, handle) in others {
        on(Target::Op(op), def, name, handle);
    }
    on(Target::Op(&ops::RESHAPE_LIKE), def, name, shape_lent::<T>);
}

/// An op of one such value, and of other arguments that are tensors and partitions.
pub(crate) fn moved<T: Meaning>(call: &Call<'_>) -> Answer {
    let [x, rest @ ..] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<T>(x) else { return Ok(None) };
    let rest = rest.iter().map(shape_alone::<T>).collect::<Result<Vec<Arg>>>()?;
    if rest.iter().any(|arg| matches!(arg, Arg::Value(Value::Ext(_)))) {
        return Ok(None);
    }
    let elements = x.elements();
    let args: Vec<Arg> = std::iter::once(Arg::from(&elements)).chain(rest.iter().cloned()).collect();
    let outer = rank(&elements).map(|rank| rank - usize::from(T::CELLS));
    let made = if let (true, Ok(Slice { axis, .. })) = (T::CELLS, Slice::of(call.attrs)) {
        let attrs = Slice { axis: int(normalize_axis(*axis, outer?)?), ..Slice::of(call.attrs)?.clone() };
        call_one(call.op, &args, &attrs)?
    } else if let (true, Ok(OneAxis { axis })) = (T::CELLS, OneAxis::of(call.attrs)) {
        let axes = outer? + usize::from(*call.op == ops::EXPAND_DIMS);
        call_one(call.op, &args, &OneAxis { axis: int(normalize_axis(*axis, axes)?) })?
    } else {
        call_one(call.op, &args, call.attrs)?
    };
    answer_ext(x.over(made)?)
}

/// An op that gives elements of so many bytes other axes; the innermost axis is that of the bytes.
fn reshaped<T: Meaning>(call: &Call<'_>) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<T>(x) else { return Ok(None) };
    let cells = x.elements();
    let dims = cells.tensor()?.shape();
    let Some(width) = dims.dims().and_then(|dims| dims.last()?.known()) else { return Ok(None) };
    let inside = |shape: &[i64]| shape.iter().copied().chain([int(width)]).collect::<Vec<i64>>();
    let made = if let Ok(Reshape { shape }) = Reshape::of(call.attrs) {
        ops::reshape(cells, inside(shape))?
    } else if let Ok(BroadcastTo { shape }) = BroadcastTo::of(call.attrs) {
        ops::broadcast_to(cells, inside(shape))?
    } else {
        let outer = int(rank(&cells)?.saturating_sub(1));
        let axes = match &Transpose::of(call.attrs)?.axes {
            Some(axes) => axes.clone(),
            None => (0..outer).rev().collect(),
        };
        let axes: Result<Vec<usize>> = axes.iter().map(|&axis| normalize_axis(axis, rank(&cells)? - 1)).collect();
        let axes: Vec<i64> = axes?.into_iter().map(int).chain([outer]).collect();
        ops::transpose(&cells, Some(axes))?
    };
    answer_ext(x.over(made)?)
}

/// Zeros of the shape of such a value; any other argument as it is.
fn shape_alone<T: Meaning>(arg: &Arg) -> Result<Arg> {
    match typed_arg::<T>(arg) {
        Some(x) => zeros_of(arg.value()?, rank_of(&x)?).map(Arg::Value),
        None => Ok(arg.clone()),
    }
}

pub(crate) fn rank_of<T: Meaning>(x: &T) -> Result<usize> {
    rank(&x.elements()).map(|rank| rank - usize::from(T::CELLS))
}

/// The elements as one vector, and the number of each in it, in the shape that they have.
fn in_a_row<T: Meaning>(x: &T) -> Result<(Value, Value)> {
    let (whole, axes) = (x.clone().into_value(), rank_of(x)?);
    let zeros = zeros_of(&whole, axes)?;
    Ok(match axes {
        0 => (ops::expand_dims(whole, 0)?, zeros),
        1 => (whole, positions(&zeros)?),
        _ => {
            let numbers = positions(&ops::reshape(&zeros, vec![-1_i64])?)?;
            (ops::reshape(whole, vec![-1_i64])?, ops::reshape_like(numbers, zeros)?)
        }
    })
}

/// An op that moves elements, on their numbers.
fn by_numbers<T: Meaning>(call: &Call<'_>) -> Answer {
    let [x, rest @ ..] = call.args else { return Ok(None) };
    let Some(x) = typed_arg::<T>(x) else { return Ok(None) };
    let rest = rest.iter().map(shape_alone::<T>).collect::<Result<Vec<Arg>>>()?;
    let (row, numbers) = in_a_row(&x)?;
    let args: Vec<Arg> = std::iter::once(Arg::Value(numbers)).chain(rest).collect();
    answer(ops::take(row, call_one(call.op, &args, call.attrs)?, 0)?)
}

/// An op that puts one further element, its last argument, beside those of the first.
fn beside_another<T: Meaning>(call: &Call<'_>) -> Answer {
    let [x, rest @ .., other] = call.args else { return Ok(None) };
    let (Some(x), Some(other)) = (typed_arg::<T>(x), typed_arg::<T>(other)) else { return Ok(None) };
    let (x, other) = x.alike(&other)?;
    let (row, numbers) = in_a_row(&x)?;
    let (other, _) = in_a_row(&other)?;
    let behind = ops::sum(ops::ones_like(positions(&row)?)?, 0, false)?;
    let args = std::iter::once(Arg::Value(numbers)).chain(rest.iter().cloned()).chain([Arg::Value(behind)]);
    let places = call_one(call.op, &args.collect::<Vec<Arg>>(), call.attrs)?;
    answer(ops::take(ops::concat(vec![row, other], 0)?, places, 0)?)
}

/// An op on another value, to which such a value lends its shape alone.
fn shape_lent<T: Meaning>(call: &Call<'_>) -> Answer {
    let [x, like] = flat(call) else { return Ok(None) };
    if typed_arg::<T>(x).is_some() || typed_arg::<T>(like).is_none() {
        return Ok(None);
    }
    answer(call_one(call.op, &[x.clone(), shape_alone::<T>(like)?], call.attrs)?)
}

/// `indices_along` counts the elements of an axis.
fn indices_along<T: Meaning>(call: &Call<'_>) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    if typed_arg::<T>(x).is_none() {
        return Ok(None);
    }
    answer(call_one(call.op, &[shape_alone::<T>(x)?], call.attrs)?)
}

/// An op whose result is no element, such as an order.
pub(crate) fn measured<T: Meaning>(call: &Call<'_>) -> Answer {
    let args = flat(call);
    let [x, rest @ ..] = args else { return Ok(None) };
    let Some(x) = typed_arg::<T>(x) else { return Ok(None) };
    if let [other] = rest
        && let Some(other) = typed_arg::<T>(other)
    {
        let (x, other) = x.alike(&other)?;
        return again(call, &orders(call, &[&x, &other])?).map(Some);
    }
    // Rows and masks beside it know more of their elements.
    if rest.iter().any(|arg| matches!(arg, Arg::Value(Value::Ext(_)))) {
        return Ok(None);
    }
    // What stands for elements is not found among numbers that mean something else.
    if [&ops::SEARCHSORTED, &ops::LOOKUP].contains(&call.op) {
        return Ok(None);
    }
    let args: Vec<Arg> = orders(call, &[&x])?.into_iter().chain(rest.iter().cloned()).collect();
    again(call, &args).map(Some)
}

/// What stands for the elements in an op; one that makes numbers of what it is given is given the same everywhere.
fn orders<T: Meaning>(call: &Call<'_>, values: &[&T]) -> Result<Vec<Arg>> {
    let made = if *call.op == ops::FINGERPRINT || *call.op == ops::LOOKUP {
        values.iter().map(|x| x.order()).collect::<Result<Vec<Value>>>()?
    } else {
        T::orders(values)?
    };
    Ok(made.into_iter().map(Arg::Value).collect())
}

fn concat<T: Meaning>(call: &Call<'_>) -> Answer {
    let Some(parts) = flat(call).iter().map(typed_arg::<T>).collect::<Option<Vec<_>>>() else { return Ok(None) };
    let Some(first) = parts.first() else { return Ok(None) };
    let axis = normalize_axis(OneAxis::of(call.attrs)?.axis, rank_of(first)?)?;
    let mut common = first.clone();
    for (i, part) in parts.iter().enumerate() {
        common = common.alike(part).map_err(|e| e.at(format!("argument {}", i + 1)))?.0;
    }
    let elements = parts.iter().map(|part| Ok(common.alike(part)?.1.elements())).collect::<Result<Vec<Value>>>()?;
    answer_ext(common.over(ops::concat(elements, int(axis))?)?)
}

/// `where` of elements that mean the same.
///
/// Errors: a condition of such elements; elements that do not mean the same.
pub(crate) fn chosen<T: Meaning>(call: &Call<'_>) -> Answer {
    let [condition, x, y] = flat(call) else { return Ok(None) };
    if typed_arg::<Bool8Tensor>(condition).is_some() {
        let booleans = ops::cast(condition, DType::Bool)?;
        return answer(ops::where_(booleans, x, y)?);
    }
    if typed_arg::<T>(condition).is_some() {
        let found = condition.value()?.spec()?;
        return Err(Error::dtype(format!("the condition is {found}")).at("argument 'condition'").wanted("booleans"));
    }
    let [x, y] = uuid_beside(x, y)?.unwrap_or_else(|| [x.clone(), y.clone()]);
    let (Some(x), Some(y)) = (typed_arg::<T>(&x), typed_arg::<T>(&y)) else { return Ok(None) };
    let (x, y) = x.alike(&y)?;
    let condition = match condition {
        Arg::Value(value) if T::CELLS => Arg::from(ops::expand_dims(value, -1_i64)?),
        other => other.clone(),
    };
    answer_ext(x.over(ops::where_(condition, x.elements(), y.elements())?)?)
}

fn row_partition<T: Meaning>(call: &Call<'_>) -> Answer {
    let [splits, values] = call.args else { return Ok(None) };
    let Some(x) = typed_arg::<T>(values) else { return Ok(None) };
    answer(call_one(call.op, &[splits.clone(), Arg::from(x.elements())], call.attrs)?)
}

/// `broadcast_like` keeps the meaning of the first argument; the second lends its shape alone.
fn broadcast_like<T: Meaning>(call: &Call<'_>) -> Answer {
    let [x, like] = flat(call) else { return Ok(None) };
    let like = shape_alone::<T>(like)?;
    match typed_arg::<T>(x) {
        Some(_) if T::CELLS => by_numbers::<T>(call),
        Some(x) => answer_ext(x.over(call_one(call.op, &[Arg::from(x.elements()), like], call.attrs)?)?),
        None => answer(call_one(call.op, &[x.clone(), like], call.attrs)?),
    }
}

/// The error of two meanings.
pub(crate) fn differ(a: impl std::fmt::Display, b: impl std::fmt::Display) -> Error {
    Error::dtype(format!("{b} stands beside {a}")).wanted("one type for both")
}
