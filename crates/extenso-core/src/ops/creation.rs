//! Tensors from sizes and numbers alone. Plain functions: there is nothing to trace in them.

use super::reduction::dtype_of;
use super::{
    add, broadcast_to, cast, concat, equal, expand_dims, less, max, maximum, minimum, partition_from_lengths,
    places_in_rows, reshape,
};
use crate::call::strengthen;
use crate::kernels::pool::{Block, affordable};
use crate::tensor::{Element, Storage, Tensor};
use crate::value::{Arg, Scalar, Value};
use extenso_types::{DType, Error, Result};
use smallvec::smallvec;

/// `value` at each place of `shape`, in the dtype of the value, or in `dtype`.
///
/// Errors: a negative size, more elements than memory holds, a value that is no scalar or does not fit the dtype.
///
/// ```
/// # use extenso_core::ops;
/// assert_eq!(ops::full(vec![2, 2], 7, None).unwrap().to_string(), "[[7, 7], [7, 7]]");
/// ```
pub fn full(shape: impl Into<Vec<i64>>, value: impl Into<Arg>, dtype: Option<DType>) -> Result<Value> {
    let filled = |shape: Vec<i64>, value: Arg| {
        let one = match (&value, dtype) {
            (Arg::Scalar(scalar), _) => strengthen(scalar, dtype)?.into(),
            (Arg::Value(value), None) => value.clone(),
            (Arg::Value(value), Some(dtype)) => cast(value, dtype)?,
            (Arg::List(_), _) => return Err(Error::dtype("the value is a list").wanted("a scalar")),
        };
        if one.tensor()?.shape().rank() != Some(0) {
            return Err(Error::shape(format!("the value is {}", one.tensor()?.spec())).wanted("a scalar"));
        }
        broadcast_to(one, shape)
    };
    filled(shape.into(), value.into()).map_err(|e| e.at_part("full"))
}

/// Zeros of a shape and dtype; false for booleans.
///
/// Errors: a negative size, more elements than memory holds, a dtype without numbers.
///
/// ```
/// # use extenso_core::ops;
/// # use extenso_types::DType;
/// assert_eq!(ops::zeros(vec![2], DType::F32).unwrap().to_string(), "[0.0, 0.0]");
/// ```
pub fn zeros(shape: impl Into<Vec<i64>>, dtype: DType) -> Result<Value> {
    number(0, dtype).and_then(|zero| broadcast_to(zero, shape)).map_err(|e| e.at_part("zeros"))
}

/// Ones of a shape and dtype; true for booleans.
///
/// Errors: a negative size, more elements than memory holds, a dtype without numbers.
///
/// ```
/// # use extenso_core::ops;
/// # use extenso_types::DType;
/// assert_eq!(ops::ones(vec![2], DType::I8).unwrap().to_string(), "[1, 1]");
/// ```
pub fn ones(shape: impl Into<Vec<i64>>, dtype: DType) -> Result<Value> {
    number(1, dtype).and_then(|one| broadcast_to(one, shape)).map_err(|e| e.at_part("ones"))
}

fn number(value: i64, dtype: DType) -> Result<Value> {
    if dtype.is_numeric() || dtype == DType::Bool {
        return cast(Tensor::scalar(value), dtype);
    }
    Err(Error::dtype(format!("dtype {dtype} is asked for")).wanted("numbers or booleans"))
}

/// `start`, `start + step` and so on, up to `stop` and without it; i64 from integers and f64 from floats, or `dtype`.
///
/// Errors: a step of zero; numbers that are not finite or do not fit the dtype; more elements than memory holds.
///
/// ```
/// # use extenso_core::{Scalar, ops};
/// assert_eq!(ops::arange(Scalar::Int(1), Scalar::Int(7), Scalar::Int(2), None).unwrap().to_string(), "[1, 3, 5]");
/// ```
pub fn arange(start: Scalar, stop: Scalar, step: Scalar, dtype: Option<DType>) -> Result<Value> {
    let values = match (&start, &stop, &step) {
        (Scalar::Int(start), Scalar::Int(stop), Scalar::Int(step)) => int_range(*start, *stop, *step, dtype),
        (Scalar::Int(_) | Scalar::Unsigned(_), Scalar::Int(_) | Scalar::Unsigned(_), Scalar::Int(step))
            if dtype.is_none_or(DType::is_integer) =>
        {
            unsigned_range(integer(&start)?, integer(&stop)?, *step, dtype)
        }
        _ => float_range(float(&start)?, float(&stop)?, float(&step)?),
    };
    values.and_then(|values| in_dtype(values, dtype)).map_err(|e| e.at_part("arange"))
}

fn float(scalar: &Scalar) -> Result<f64> {
    match scalar {
        Scalar::Int(v) => Ok(*v as f64),
        Scalar::Unsigned(v) => Ok(*v as f64),
        Scalar::Float(v) => Ok(*v),
        Scalar::Bool(_) | Scalar::Str(_) => {
            Err(Error::dtype(format!("found the literal {scalar:?}")).wanted("a number").at("arange"))
        }
    }
}

fn in_dtype(values: Tensor, dtype: Option<DType>) -> Result<Value> {
    dtype.map_or_else(|| Ok(values.clone().into()), |dtype| cast(&values, dtype))
}

fn integer(scalar: &Scalar) -> Result<i128> {
    match scalar {
        Scalar::Int(v) => Ok((*v).into()),
        Scalar::Unsigned(v) => Ok((*v).into()),
        Scalar::Float(_) | Scalar::Bool(_) | Scalar::Str(_) => Err(Error::internal("no integer").at("arange")),
    }
}

/// The range as u64, of which an end is beyond i64.
fn unsigned_range(start: i128, stop: i128, step: i64, dtype: Option<DType>) -> Result<Tensor> {
    if step == 0 {
        return Err(no_step());
    }
    let (span, width) = (stop - start, i128::from(step));
    let count = ((span + width - width.signum()) / width).max(0);
    let of_dtype = dtype.filter(|dtype| dtype.is_integer()).unwrap_or(DType::U64);
    for end in [start, start + width * (count - 1)].into_iter().filter(|_| count > 0) {
        let beyond = || Error::value(format!("{end} is in the range")).wanted("integers of at most 64 bits");
        let short = i64::try_from(end).map(Scalar::Int);
        let literal = short.or_else(|_| u64::try_from(end).map(Scalar::Unsigned)).map_err(|_| beyond())?;
        strengthen(&literal, Some(of_dtype))?;
    }
    let count = usize::try_from(count).map_err(|_| too_many(count))?;
    // Both ends are in the dtype, so what wraps comes back.
    let mut next = u64::try_from(start.rem_euclid(1 << 64)).unwrap_or(0);
    written(count, || {
        let value = next;
        next = next.wrapping_add_signed(step);
        value
    })
}

fn int_range(start: i64, stop: i64, step: i64, dtype: Option<DType>) -> Result<Tensor> {
    if step == 0 {
        return Err(no_step());
    }
    let (span, width) = (i128::from(stop) - i128::from(start), i128::from(step));
    // Rounded up; nothing if the step leads away.
    let count = ((span + width - width.signum()) / width).max(0);
    let count = usize::try_from(count).map_err(|_| too_many(count))?;
    let last = count.checked_sub(1).map(|i| start.wrapping_add(step.wrapping_mul(i64::try_from(i).unwrap_or(0))));
    if let Some(dtype) = dtype.filter(|d| d.is_integer()) {
        [Some(start), last]
            .into_iter()
            .flatten()
            .filter(|_| count > 0)
            .try_for_each(|end| strengthen(&Scalar::Int(end), Some(dtype)).map(drop))?;
    }
    let mut next = start;
    written(count, || {
        let value = next;
        next = next.wrapping_add(step);
        value
    })
}

fn float_range(start: f64, stop: f64, step: f64) -> Result<Tensor> {
    if step == 0.0 {
        return Err(no_step());
    }
    if ![start, stop, step].iter().all(|x| x.is_finite()) {
        return Err(Error::value(format!("the range is from {start} to {stop} by {step}")).wanted("finite numbers"));
    }
    let count = ((stop - start) / step).ceil().max(0.0);
    let count = if count < 9e15 { count as usize } else { return Err(too_many(count)) };
    let mut i = 0.0;
    written(count, || {
        let value = start + i * step;
        i += 1.0;
        value
    })
}

fn no_step() -> Error {
    Error::value("the step is 0").wanted("a step that is not zero")
}

fn too_many(count: impl std::fmt::Display) -> Error {
    Error::value(format!("{count} elements are asked for, more than memory holds"))
}

/// A vector of what a function gives, time after time.
fn written<T: Element>(count: usize, mut next: impl FnMut() -> T) -> Result<Tensor> {
    let bytes = count.saturating_mul(size_of::<T>());
    affordable(bytes)?;
    let mut block = Block::new(bytes);
    block.slice_mut::<T>().iter_mut().for_each(|out| *out = next());
    Ok(Tensor::from_dense(T::DTYPE, smallvec![count], Storage::Fixed(block.elements())))
}

/// `num` numbers from `start` on, equally far from each other, the last one `stop`; in f64, or in `dtype`.
///
/// Without `endpoint`, `stop` would be the next. Errors: `num` is negative, or more than memory holds.
///
/// ```
/// # use extenso_core::ops;
/// assert_eq!(ops::linspace(0.0, 1.0, 3, true, None).unwrap().to_string(), "[0.0, 0.5, 1.0]");
/// ```
pub fn linspace(start: f64, stop: f64, num: i64, endpoint: bool, dtype: Option<DType>) -> Result<Value> {
    let values = count_of("num", num).and_then(|count| {
        let gaps = if endpoint { count.saturating_sub(1) } else { count };
        let step = (stop - start) / gaps.max(1) as f64;
        let mut i = 0;
        written(count, || {
            let value = if endpoint && i == gaps && gaps > 0 { stop } else { start + i as f64 * step };
            i += 1;
            value
        })
    });
    // Of integers each is the one below, as NumPy has it.
    let whole = |values: Tensor| match dtype.is_some_and(DType::is_integer) {
        true => super::floor(values)?.tensor().cloned(),
        false => Ok(values),
    };
    values.and_then(whole).and_then(|values| in_dtype(values, dtype)).map_err(|e| e.at_part("linspace"))
}

fn count_of(name: &str, count: i64) -> Result<usize> {
    usize::try_from(count)
        .map_err(|_| Error::value(format!("{name} is {count}")).wanted("a number that is not negative"))
}

/// A matrix of `rows` by `columns` with ones on a diagonal and zeros elsewhere; `diagonal` 0 is the main one, 1 that above it.
///
/// Errors: a negative size, more elements than memory holds, a dtype without numbers.
///
/// ```
/// # use extenso_core::ops;
/// # use extenso_types::DType;
/// assert_eq!(ops::eye(2, 3, 1, DType::I64).unwrap().to_string(), "[[0, 1, 0], [0, 0, 1]]");
/// ```
pub fn eye(rows: i64, columns: i64, diagonal: i64, dtype: DType) -> Result<Value> {
    let matrix = || {
        count_of("the number of rows", rows)?;
        count_of("the number of columns", columns)?;
        // Before ranges as long as the axes are made.
        affordable(rows.unsigned_abs().saturating_mul(columns.unsigned_abs()).try_into().unwrap_or(usize::MAX))?;
        let ones = equal(expand_dims(add(up_to(rows)?, diagonal)?, 1)?, up_to(columns)?)?;
        cast(ones, dtype)
    };
    matrix().map_err(|e| e.at_part("eye"))
}

fn up_to(count: i64) -> Result<Value> {
    int_range(0, count, 1, None).map(Value::from)
}

/// For each length a row of `width` booleans, of which as many as it says are true; without it, as wide as the greatest length.
///
/// Shapes: a last axis comes after those of `lengths`. TensorFlow's `sequence_mask`. Errors: lengths that are no integers; a
/// negative width; a result beyond memory.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let mask = ops::sequence_mask(Tensor::from_vec(vec![1_i64, 3, 0]), None).unwrap();
/// assert_eq!(mask.to_string(), "[[True, False, False], [True, True, True], [False, False, False]]");
/// ```
pub fn sequence_mask(lengths: impl Into<Arg>, width: Option<i64>) -> Result<Value> {
    let mask = |lengths: Arg| {
        let lengths = whole(lengths).map_err(|e| e.at("lengths"))?;
        let places = match width {
            Some(width) => up_to(count_of("the width", width).map(|_| width)?)?,
            None => {
                let width = maximum(max(concat(vec![reshape(&lengths, vec![-1_i64])?, up_to(1)?], 0)?, 0, true)?, 0)?;
                places_in_rows(partition_from_lengths(width)?)?
            }
        };
        less(places, expand_dims(lengths, -1)?)
    };
    mask(lengths.into()).map_err(|e| e.at_part("sequence_mask"))
}

/// Integers as i64; those above its largest are its largest, which no position or length reaches.
///
/// Errors: other dtypes.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let places = Tensor::from_vec(vec![7, u64::MAX]);
/// assert_eq!(ops::whole(places).unwrap().to_string(), "[7, 9223372036854775807]");
/// ```
pub fn whole(numbers: impl Into<Arg>) -> Result<Value> {
    let numbers = numbers.into();
    let Arg::Value(value) = &numbers else { return cast(numbers, DType::I64) };
    let dtype = value.tensor().map_or_else(|_| dtype_of(value), |x| Ok(x.dtype()))?;
    match dtype {
        DType::I64 => Ok(value.clone()),
        DType::U64 => cast(minimum(numbers, i64::MAX)?, DType::I64),
        dtype if dtype.is_integer() => cast(numbers, DType::I64),
        dtype => Err(Error::dtype(format!("found {dtype}")).wanted("integers")),
    }
}

/// For each index a row of `depth` zeros with a one at the index; an index outside has zeros alone.
///
/// Shapes: a last axis of `depth` comes after those of `indices`. Errors: indices that are no integers; a negative depth;
/// a result beyond memory; a dtype without numbers.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// # use extenso_types::DType;
/// let y = ops::one_hot(Tensor::from_vec(vec![1_i64, 0, -1]), 2, DType::I64).unwrap();
/// assert_eq!(y.to_string(), "[[0, 1], [1, 0], [0, 0]]");
/// ```
pub fn one_hot(indices: impl Into<Arg>, depth: i64, dtype: DType) -> Result<Value> {
    let rows = |indices: Arg| {
        count_of("depth", depth)?;
        if !dtype.is_numeric() && dtype != DType::Bool {
            return Err(Error::dtype(format!("found {dtype}")).wanted("numbers or bool").at("dtype"));
        }
        let rows = expand_dims(whole(indices).map_err(|e| e.at("indices"))?, -1)?;
        cast(equal(rows, up_to(depth)?)?, dtype)
    };
    rows(indices.into()).map_err(|e| e.at_part("one_hot"))
}
