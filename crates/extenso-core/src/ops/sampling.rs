//! Random numbers of distributions, from a key: compositions over the ops that give random bits.
//!
//! None keeps state: the same key gives the same numbers, and keys that are to give others come from [`random_split`] and
//! [`random_fold_in`]. Numbers in f16 and bf16 are drawn in f32 and rounded.

use super::nearest::{below, finite, nearest};
use super::rearrange::known_size;
use super::reduction::dtype_of;
use super::{
    add, any, arange, argmax, argsort, bitwise_invert, cast, check_all, check_weights, check_within, cumulative_sum,
    greater, greater_equal, indices_along, less, log, log1p, maximum, minimum, multiply, negative, ones_like,
    random_below, random_bits, random_bits_like, random_keys, random_unit, random_unit_like, reshape, searchsorted,
    slice, subtract, sum, take, top_k_indices, where_,
};
use crate::attrs::Axes;
use crate::call::strengthen;
use crate::kernels::special::Special;
use crate::ops::{divide, erfcinv, erfinv, sqrt};
use crate::tensor::Tensor;
use crate::value::{Arg, Scalar, Value};
use extenso_types::{DType, Error, Result};

/// The key of a seed, `u32[2]`.
///
/// ```
/// # use extenso_core::ops;
/// assert_eq!(ops::random_key((7 << 32) + 5).unwrap().to_string(), "[5, 7]");
/// ```
pub fn random_key(seed: u64) -> Result<Value> {
    Ok(Tensor::from_vec(crate::kernels::threefry::key_of(seed).to_vec()).into())
}

/// `count` keys that come from one, `u32[count, 2]`: as many streams of random numbers, which have nothing to do with each other.
///
/// Errors: a key that is neither two u32 nor an integer of 64 bits; a negative count.
///
/// ```
/// # use extenso_core::ops;
/// let keys = ops::random_split(42, 2).unwrap();
/// assert_eq!(keys.spec().unwrap().to_string(), "u32[2, 2]");
/// ```
pub fn random_split(key: impl Into<Arg>, count: i64) -> Result<Value> {
    let keys = |key: Arg| {
        if count < 0 {
            return Err(Error::value(format!("the count is {count}")).wanted("a number that is not negative"));
        }
        // One step aside, so that no number that is folded in gives one of these keys.
        let aside = random_keys(key, -1)?;
        random_keys(aside, arange(Scalar::Int(0), Scalar::Int(count), Scalar::Int(1), None)?)
    };
    keys(key.into()).map_err(|e| e.at_part("random_split"))
}

/// The key that comes from a key and an integer, say the number of a step: `u32[2]`; one for each of several integers.
///
/// Errors: a key that is neither two u32 nor an integer of 64 bits; data that are no integers.
///
/// ```
/// # use extenso_core::ops;
/// let key = ops::random_fold_in(42, 1).unwrap();
/// assert_ne!(key.to_string(), ops::random_fold_in(42, 2).unwrap().to_string());
/// ```
pub fn random_fold_in(key: impl Into<Arg>, data: impl Into<Arg>) -> Result<Value> {
    random_keys(key, data).map_err(|e| e.at_part("random_fold_in"))
}

/// The dtype that numbers of a dtype are drawn in.
fn drawn(dtype: DType) -> DType {
    if matches!(dtype, DType::F16 | DType::BF16) { DType::F32 } else { dtype }
}

/// In the dtype that is asked for, of the one drawn.
fn rounded(x: Value, dtype: DType) -> Result<Value> {
    if drawn(dtype) == dtype { Ok(x) } else { cast(x, dtype) }
}

/// Half the distance of the numbers of `random_unit`.
fn half_step(dtype: DType) -> f64 {
    if drawn(dtype) == DType::F32 { f64::powi(2.0, -25) } else { f64::powi(2.0, -54) }
}

/// Numbers above -1 and below 1, symmetric about zero, which is none of them.
fn symmetric(key: Arg, shape: Vec<i64>, dtype: DType) -> Result<Value> {
    let unit = random_unit(key, shape, drawn(dtype))?;
    add(subtract(multiply(unit, 2)?, 1)?, 2.0 * half_step(dtype))
}

/// Numbers above 0 and at most 1.
fn above_zero(key: Arg, shape: Vec<i64>, dtype: DType) -> Result<Value> {
    let unit = random_unit(key, shape, drawn(dtype))?;
    subtract(1, unit)
}

/// Floats from `low` up to `high`, which is none of them, every one as likely as the others. Where there is no float between the two, all are
/// `low`.
///
/// Errors: ends that are not finite in the dtype, or in the wrong order; those of `random_unit`.
///
/// ```
/// # use extenso_core::ops;
/// # use extenso_types::DType;
/// assert_eq!(ops::random_uniform(0, vec![2], 0.0, 2.0, DType::F64).unwrap().to_string(), "[1.2009981863286612, 1.506782435958591]");
/// ```
pub fn random_uniform(
    key: impl Into<Arg>,
    shape: impl Into<Vec<i64>>,
    low: f64,
    high: f64,
    dtype: DType,
) -> Result<Value> {
    let numbers = |key: Arg, shape: Vec<i64>| {
        finite("low", nearest(low, dtype))?;
        finite("high", nearest(high, dtype))?;
        if low > high {
            return Err(Error::value(format!("low is {low} and high is {high}")).wanted("low <= high"));
        }
        if (low, high) == (0.0, 1.0) {
            return random_unit(key, shape, dtype);
        }
        let unit = random_unit(key, shape, drawn(dtype))?;
        // Where the width overflows, its halves do not.
        let (width, half) = (high - low, high / 2.0 - low / 2.0);
        let numbers = if nearest(width, drawn(dtype)).is_finite() {
            add(multiply(unit, width)?, low)?
        } else {
            let part = multiply(unit, half)?;
            add(add(&part, low)?, part)?
        };
        let numbers = rounded(numbers, dtype)?;
        maximum(minimum(numbers, below(high, dtype))?, nearest(low, dtype))
    };
    numbers(key.into(), shape.into()).map_err(|e| e.at_part("random_uniform"))
}

/// Normal numbers of a mean and a standard deviation, by the inverse of the error function.
///
/// In f32 none is further than 5.4 standard deviations from the mean, in f64 8.3. Errors: a mean or a deviation that is not
/// finite; a negative deviation; those of `random_unit`.
///
/// ```
/// # use extenso_core::ops;
/// # use extenso_types::DType;
/// let x = ops::random_normal(0, vec![2, 3], 0.0, 1.0, DType::F32).unwrap();
/// assert_eq!(x.spec().unwrap().to_string(), "f32[2, 3]");
/// ```
pub fn random_normal(
    key: impl Into<Arg>,
    shape: impl Into<Vec<i64>>,
    mean: f64,
    stddev: f64,
    dtype: DType,
) -> Result<Value> {
    let numbers = |key: Arg, shape: Vec<i64>| {
        finite("the mean", mean)?;
        finite("the standard deviation", stddev)?;
        if stddev < 0.0 {
            return Err(Error::value(format!("the standard deviation is {stddev}")).wanted("a number from 0 on"));
        }
        let normal = multiply(erfinv(symmetric(key, shape, dtype)?)?, std::f64::consts::SQRT_2)?;
        rounded(add(multiply(normal, stddev)?, mean)?, dtype)
    };
    numbers(key.into(), shape.into()).map_err(|e| e.at_part("random_normal"))
}

/// Numbers of the standard normal distribution between `low` and `high`: the quantiles of uniform numbers.
///
/// Source: the inverse of the distribution's upper tail by Wichura's algorithm AS 241 (1988), and from 30 on by the asymptotic series of
/// the tail (Abramowitz and Stegun, 26.2.12), so that intervals far from 0 have the numbers of the distribution too.
///
/// Errors: `low` is not below `high`, or one is NaN; those of `random_unit`.
///
/// ```
/// # use extenso_core::{attrs::Axes, ops};
/// # use extenso_types::DType;
/// let x = ops::random_truncated_normal(0, vec![100], -2.0, 2.0, DType::F32).unwrap();
/// assert_eq!(ops::all(ops::less_equal(ops::abs(x).unwrap(), 2.0).unwrap(), Axes::All, false).unwrap().to_string(), "True");
/// ```
pub fn random_truncated_normal(
    key: impl Into<Arg>,
    shape: impl Into<Vec<i64>>,
    low: f64,
    high: f64,
    dtype: DType,
) -> Result<Value> {
    let numbers = |key: Arg, shape: Vec<i64>| {
        if !matches!(low.partial_cmp(&high), Some(std::cmp::Ordering::Less)) {
            return Err(Error::value(format!("low is {low} and high is {high}")).wanted("low < high"));
        }
        if low >= 0.0 {
            return rounded_from_f64(upper_tail(uniform(key, shape, dtype)?, low, high)?, low, high, dtype);
        }
        if high <= 0.0 {
            let mirrored = negative(upper_tail(uniform(key, shape, dtype)?, -high, -low)?)?;
            return rounded_from_f64(mirrored, low, high, dtype);
        }
        let scale = std::f64::consts::FRAC_1_SQRT_2;
        let (from, to) = ((low * scale).erf_(), (high * scale).erf_());
        let unit = random_unit(key, shape, drawn(dtype))?;
        let share = add(multiply(add(unit, half_step(dtype))?, to - from)?, from)?;
        let normal = multiply(erfinv(share)?, std::f64::consts::SQRT_2)?;
        rounded(maximum(minimum(normal, high)?, low)?, dtype)
    };
    numbers(key.into(), shape.into()).map_err(|e| e.at_part("random_truncated_normal"))
}

/// Numbers from 0 up to 1, without 1, in f64, of as many digits as the dtype has.
fn uniform(key: Arg, shape: Vec<i64>, dtype: DType) -> Result<Value> {
    let unit = random_unit(key, shape, drawn(dtype))?;
    if drawn(dtype) == DType::F64 { Ok(unit) } else { add(cast(unit, DType::F64)?, half_step(dtype)) }
}

fn rounded_from_f64(x: Value, low: f64, high: f64, dtype: DType) -> Result<Value> {
    let inside = maximum(minimum(x, high)?, low)?;
    if dtype == DType::F64 { Ok(inside) } else { cast(inside, dtype) }
}

/// From here on the asymptotic series of the tail has twelve digits.
const ASYMPTOTIC: f64 = 30.0;

/// What the normal distribution from `near` to `far`, which are not negative, has at these shares of its weight.
fn upper_tail(share: Value, near: f64, far: f64) -> Result<Value> {
    let scale = std::f64::consts::FRAC_1_SQRT_2;
    if near < ASYMPTOTIC {
        let (from, to) = ((near * scale).erfc_(), (far * scale).erfc_());
        // Of the larger of two numbers of one size, little is lost.
        let left = multiply(subtract(1, multiply(share, 1.0 - to / from)?)?, from)?;
        return multiply(erfcinv(left)?, std::f64::consts::SQRT_2);
    }
    let square = near * near;
    // x times the tail over the density, by the square of 1 / x.
    let series = |v: f64| 1.0 - v * (1.0 - v * (3.0 - 15.0 * v));
    let lost = if far.is_finite() {
        let ratio = near / far * series(1.0 / far / far) / series(1.0 / square);
        -(-0.5 * (far - near) * (far + near) + ratio.ln()).exp_m1()
    } else {
        1.0
    };
    let twice = multiply(log1p(negative(multiply(share, lost)?)?)?, -2)?;
    // x^2 = near^2 + more, where more = twice + 2 log of the ratio of the series over x: each step gives three digits.
    let more = (0..4).try_fold(twice.clone(), |more, _| {
        let wider = divide(more, square)?;
        let v = divide(1.0 / square, add(&wider, 1)?)?;
        let tail = subtract(1, multiply(&v, subtract(1, multiply(&v, subtract(3, multiply(&v, 15)?)?)?)?)?)?;
        let bent = multiply(log(divide(tail, series(1.0 / square))?)?, 2)?;
        add(&twice, subtract(bent, log1p(wider)?)?)
    })?;
    multiply(sqrt(add(divide(more, square)?, 1)?)?, near)
}

/// Numbers of the exponential distribution of rate 1: waiting times of mean 1.
///
/// Errors: those of `random_unit`.
///
/// ```
/// # use extenso_core::ops;
/// # use extenso_types::DType;
/// assert_eq!(ops::random_exponential(0, vec![3], DType::F32).unwrap().spec().unwrap().to_string(), "f32[3]");
/// ```
pub fn random_exponential(key: impl Into<Arg>, shape: impl Into<Vec<i64>>, dtype: DType) -> Result<Value> {
    let numbers = |key, shape| {
        let unit = random_unit(key, shape, drawn(dtype))?;
        rounded(negative(log1p(negative(unit)?)?)?, dtype)
    };
    numbers(key.into(), shape.into()).map_err(|e| e.at_part("random_exponential"))
}

/// Numbers of the standard Gumbel distribution, `-log(-log(u))`.
///
/// The position of the largest sum of these and logarithms of weights is drawn by the weights. Errors: those of `random_unit`.
///
/// ```
/// # use extenso_core::ops;
/// # use extenso_types::DType;
/// assert_eq!(ops::random_gumbel(0, vec![3], DType::F64).unwrap().spec().unwrap().to_string(), "f64[3]");
/// ```
pub fn random_gumbel(key: impl Into<Arg>, shape: impl Into<Vec<i64>>, dtype: DType) -> Result<Value> {
    let numbers = |key: Arg, shape: Vec<i64>| rounded(gumbel(above_zero(key, shape, dtype)?, dtype)?, dtype);
    numbers(key.into(), shape.into()).map_err(|e| e.at_part("random_gumbel"))
}

/// Of numbers above 0 and at most 1, of which 1 would give an infinity.
fn gumbel(unit: Value, dtype: DType) -> Result<Value> {
    negative(log(negative(log(minimum(unit, 1.0 - half_step(dtype) * 2.0)?)?)?)?)
}

/// True with probability `p`, in `shape`, or in the shape of `p`.
///
/// Errors: no floats; probabilities below 0, above 1 or NaN, or that do not broadcast to the shape; those of `random_unit`.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let x = ops::random_bernoulli(0, Tensor::from_vec(vec![0.0, 1.0]), None).unwrap();
/// assert_eq!(x.to_string(), "[False, True]");
/// ```
pub fn random_bernoulli(key: impl Into<Arg>, p: impl Into<Arg>, shape: Option<Vec<i64>>) -> Result<Value> {
    let trials = |key: Arg, p: Arg| {
        let dtype = match &p {
            Arg::Value(p) => p.tensor()?.dtype(),
            Arg::Scalar(_) | Arg::List(_) => DType::F64,
        };
        let p = match p {
            Arg::Value(p) => {
                let p = rounded_up(p, dtype)?;
                Arg::from(check_weights(&p, &p, 1.0, 0)?)
            }
            Arg::Scalar(p) => {
                check_weights(strengthen(&p, Some(DType::F64))?, 0.0, 1.0, 0)?;
                Arg::Scalar(p)
            }
            list @ Arg::List(_) => list,
        };
        let unit = match shape {
            Some(shape) => random_unit(key, shape, drawn(dtype))?,
            None => random_unit_like(key, &p, drawn(dtype))?,
        };
        less(unit, p)
    };
    trials(key.into(), p.into()).map_err(|e| e.at_part("random_bernoulli"))
}

/// In the dtype that numbers of a dtype are drawn in.
fn rounded_up(x: Value, dtype: DType) -> Result<Value> {
    if drawn(dtype) == dtype { Ok(x) } else { cast(x, drawn(dtype)) }
}

/// For each vector of logarithms of weights along `axis` a position, drawn by the weights.
///
/// The axis is left out of the result. Errors: no floats, or NaN; logits of one vector that are all -inf, so that nothing is to be drawn; an
/// axis out of range or empty; a key of another form.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let weights = Tensor::from_vec(vec![f64::NEG_INFINITY, 0.0]);
/// assert_eq!(ops::random_categorical(0, weights, -1).unwrap().to_string(), "1");
/// ```
pub fn random_categorical(key: impl Into<Arg>, logits: impl Into<Arg>, axis: i64) -> Result<Value> {
    let drawn_by = |key: Arg, logits: Arg| {
        let logits = check_within(logits, f64::NEG_INFINITY, f64::INFINITY, "logits")?;
        let unit = random_unit_like(key, &logits, drawn(logits.tensor()?.dtype()))?;
        some_drawn(&categorical_of(&logits, unit, axis)?, any(greater(&logits, f64::NEG_INFINITY)?, axis, false)?)
    };
    drawn_by(key.into(), logits.into()).map_err(|e| e.at_part("random_categorical"))
}

/// The positions drawn, if there was something to draw in each list.
///
/// Errors: a list in which there was not.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let drawn = Tensor::from_vec(vec![2_i64]).into();
/// assert_eq!(ops::some_drawn(&drawn, Tensor::bools(&[1], &[true]).unwrap()).unwrap().to_string(), "[2]");
/// assert!(ops::some_drawn(&drawn, Tensor::bools(&[1], &[false]).unwrap()).unwrap_err().to_string().contains("all -inf at [0]"));
/// ```
pub fn some_drawn(positions: &Value, drawable: impl Into<Arg>) -> Result<Value> {
    check_all(positions, drawable, "the logits are all -inf", "one that is above -inf in each list to draw from")
}

/// [`random_categorical`] by random numbers from 0 to below 1, one for each of the logits.
///
/// Errors: no floats; an axis out of range or empty; numbers of another shape.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let (logits, unit) = (Tensor::from_vec(vec![0.0, 0.0]), Tensor::from_vec(vec![0.25, 0.75]));
/// assert_eq!(ops::categorical_of(&logits.into(), unit, 0).unwrap().to_string(), "0");
/// ```
pub fn categorical_of(logits: &Value, unit: impl Into<Arg>, axis: i64) -> Result<Value> {
    let dtype = dtype_of(logits)?;
    let noise = gumbel(subtract(1, unit)?, dtype)?;
    argmax(add(rounded_up(logits.clone(), dtype)?, noise)?, axis, false)
}

/// The integers from 0 up to `count` in random order, every order as likely as the others.
///
/// Errors: a negative count; a key of another form.
///
/// ```
/// # use extenso_core::ops;
/// let order = ops::random_permutation(0, 5).unwrap();
/// assert_eq!(ops::sort(order, 0, false).unwrap().to_string(), "[0, 1, 2, 3, 4]");
/// ```
pub fn random_permutation(key: impl Into<Arg>, count: i64) -> Result<Value> {
    // Two of 64 random bits are alike so seldom that the order of those two does not matter.
    let order = random_bits(key, vec![count], DType::U64).and_then(|bits| argsort(bits, 0, false));
    order.map_err(|e| e.at_part("random_permutation"))
}

/// The elements of `x` along `axis` in random order; what stands at one position stays together.
///
/// Errors: an axis out of range; a key of another form.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let x = ops::random_shuffle(0, Tensor::from_vec(vec![1, 2, 3]), 0).unwrap();
/// assert_eq!(ops::sort(x, 0, false).unwrap().to_string(), "[1, 2, 3]");
/// ```
pub fn random_shuffle(key: impl Into<Arg>, x: impl Into<Arg>, axis: i64) -> Result<Value> {
    let shuffled = |key: Arg, x: Arg| {
        let numbers = cast(indices_along(&x, axis)?, DType::F64)?;
        take(x, argsort(random_unit_like(key, numbers, DType::F64)?, 0, false)?, axis)
    };
    shuffled(key.into(), x.into()).map_err(|e| e.at_part("random_shuffle"))
}

/// Elements of `x` along its first axis, drawn at random, in `shape`; each may be drawn again if `replace` says so.
///
/// With weights `p`, one for each, an element is drawn by its weight. Errors: more elements than there are to draw without
/// replacement, of weights above zero if there are weights; nothing to draw from; weights below 0, infinite or NaN, or of another size.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let x = Tensor::from_vec(vec![7, 8, 9]);
/// let weights = Tensor::from_vec(vec![0.0, 1.0, 0.0]);
/// assert_eq!(ops::random_choice(0, &x, vec![2], true, Some(weights.into())).unwrap().to_string(), "[8, 8]");
/// assert_eq!(ops::sort(ops::random_choice(0, x, vec![3], false, None).unwrap(), 0, false).unwrap().to_string(), "[7, 8, 9]");
/// ```
pub fn random_choice(
    key: impl Into<Arg>,
    x: impl Into<Arg>,
    shape: impl Into<Vec<i64>>,
    replace: bool,
    p: Option<Value>,
) -> Result<Value> {
    let chosen = |key: Arg, x: Arg, shape: Vec<i64>| {
        let places = random_places(key, &indices_along(&x, 0)?, shape, replace, p)?;
        take(x, places, 0)
    };
    chosen(key.into(), x.into(), shape.into()).map_err(|e| e.at_part("random_choice"))
}

/// Some of the positions `among`, which are those from 0 on, drawn at random.
fn random_places(key: Arg, among: &Value, shape: Vec<i64>, replace: bool, p: Option<Value>) -> Result<Value> {
    if shape.iter().any(|size| *size < 0) {
        return Err(Error::value(format!("shape {shape:?} is asked for")).wanted("sizes that are not negative"));
    }
    let wanted = shape.iter().try_fold(1_i64, |product, size| product.checked_mul(*size)).unwrap_or(i64::MAX);
    // A size that is not known while tracing is looked at by the ops that draw.
    let count = known_size(among, 0)?;
    if let Some(count) = count
        && ((count == 0 && wanted != 0) || (!replace && wanted > count))
    {
        return Err(Error::value(format!("{wanted} elements are to be drawn of {count}"))
            .wanted("as many at most")
            .hint("With `replace` each may be drawn again, if there is one."));
    }
    let Some(p) = p else {
        if replace {
            return random_below(key, sum(ones_like(among)?, Axes::All, false)?, shape);
        }
        let bits = random_bits_like(key, among, DType::U64)?;
        if count.is_some_and(|count| wanted < count / 8) {
            // Few are found sooner than all are put in order. The least of them are the greatest of what they are not.
            return reshape(top_k_indices(bitwise_invert(bits)?, wanted)?, shape);
        }
        let order = argsort(bits, 0, false)?;
        return reshape(slice(order, 0, 0, Some(vec![wanted]), 1)?, shape);
    };
    let least = if replace { wanted.min(1) } else { wanted };
    let weights = check_weights(cast(p, DType::F64)?, among, f64::MAX, least)?;
    if replace { by_weight(key, weights, shape) } else { by_rank(key, weights, wanted, shape) }
}

/// The positions at which running sums of the weights first pass random parts of their total.
fn by_weight(key: Arg, weights: Value, shape: Vec<i64>) -> Result<Value> {
    let ends = cumulative_sum(&weights, 0, false)?;
    let total = slice(&ends, 0, -1, None, 1)?;
    // A part is less than the total, as the last end is that, and positive: so it is before an end.
    let drawn = multiply(random_unit(key, shape, DType::F64)?, reshape(total, Vec::new())?)?;
    searchsorted(ends, drawn, "right".to_string())
}

/// The positions of the largest Gumbel numbers that the weights shift, which are those of drawing one after the other.
///
/// Source: W. Kool, H. van Hoof and M. Welling, "Stochastic beams and where to find them" (2019).
fn by_rank(key: Arg, weights: Value, wanted: i64, shape: Vec<i64>) -> Result<Value> {
    let unit = subtract(1, random_unit_like(key, &weights, DType::F64)?)?;
    let ranks = add(log(weights)?, gumbel(unit, DType::F64)?)?;
    reshape(top_k_indices(ranks, wanted)?, shape)
}

/// `x` with each element zero with probability `rate`, and divided by `1 - rate` where it is not (Srivastava et al., 2014).
///
/// Errors: no floats; a rate below 0 or not below 1; a key of another form.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// assert_eq!(ops::dropout(Tensor::from_vec(vec![1.0, 2.0]), 0.0, 3).unwrap().to_string(), "[1.0, 2.0]");
/// ```
pub fn dropout(x: impl Into<Arg>, rate: f64, key: impl Into<Arg>) -> Result<Value> {
    let dropped = |x: Arg, key: Arg| {
        if !(0.0..1.0).contains(&rate) {
            return Err(Error::value(format!("the rate is {rate}")).wanted("a number from 0 up to 1, without 1"));
        }
        let kept = greater_equal(random_unit_like(key, &x, DType::F32)?, rate)?;
        where_(kept, multiply(&x, 1.0 / (1.0 - rate))?, 0)
    };
    dropped(x.into(), key.into()).map_err(|e| e.at_part("dropout"))
}
