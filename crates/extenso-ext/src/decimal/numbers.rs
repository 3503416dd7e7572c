//! Decimals as numbers: compared, added, multiplied, divided, beside each other and beside integers and floats.
//!
//! Invariant: sums and products are exact, and have a type that depends on the types of the operands alone; a quotient is rounded once.

use super::arithmetic::{
    DECIMAL_IS_TEXT, DECIMAL_PARSE, DECIMAL_PRODUCT, DECIMAL_QUOTIENT, DECIMAL_SCALED, DecimalForm, DecimalShift,
};
use super::bytes::{DECIMAL_SUM, DECIMAL_TEXTS, DecimalScale, DecimalSum};
use super::totals::most_digits;
use super::{DecimalTensor, MOST};
use crate::args::{answer, answer_ext, flat, int, typed, typed_arg};
use crate::axes::zeros_of;
use crate::meaning::nested::{below_filled, is_text};
use crate::meaning::unread::{Unread, to_read};
use crate::meaning::{Meaning, chosen, over_elements};
use extenso_core::{Answer, Arg, Call, Class, ExtensionType, OpDef, Scalar, Target, Value, call_one, on, ops};
use extenso_types::{DType, Error, Result, TypeDef};
use std::sync::Arc;

/// The digits behind the point that a quotient has at least.
const BEHIND: i64 = 6;

/// Registers what is computed of decimals.
pub(super) fn register(def: &Arc<TypeDef>) {
    type Handle = fn(&Call<'_>) -> Answer;
    on(Target::Class(Class::Comparison), def, "DecimalTensor comparison", compared);
    let ops: [(&'static OpDef, Handle); 17] = [
        (&ops::WHERE, where_),
        (&ops::ADD, |call| summed(call, false)),
        (&ops::SUBTRACT, |call| summed(call, true)),
        (&ops::MULTIPLY, multiplied),
        (&ops::DIVIDE, divided),
        (&ops::FLOOR_DIVIDE, |call| divided_evenly(call, |quotient, _| quotient)),
        (&ops::REMAINDER, |call| divided_evenly(call, |_, rest| rest)),
        (&ops::SIGN, sign),
        (&ops::NEGATIVE, negative),
        (&ops::ABS, absolute),
        (&ops::ROUND, |call| whole(call, &|x, _| Ok(x))),
        (&ops::FLOOR, |call| whole(call, &below)),
        (&ops::CEIL, |call| whole(call, &above)),
        (&ops::TRUNC, |call| whole(call, &towards_zero)),
        (&ops::MAXIMUM, |call| extreme(call, &ops::GREATER_EQUAL)),
        (&ops::MINIMUM, |call| extreme(call, &ops::LESS_EQUAL)),
        (&ops::AS_STRING, texts),
    ];
    for (op, handle) in ops {
        on(Target::Op(op), def, "DecimalTensor arithmetic", handle);
    }
}

/// Numbers as decimals of `precision` digits, of which `scale` stand behind the point, rounded half to even.
///
/// Integers, floats, strings and decimals, in rows and under masks. A float is the shortest number that is read as it. A text that is no
/// number, or one of more digits, is an error or missing, as `unread` says.
/// Errors: text that is no number; a number of more digits; another type.
///
/// ```
/// # use extenso_ext::{Unread, constant, to_decimal, to_literal};
/// let x = to_decimal(&constant(vec![1.005, 2.0]).unwrap(), 10, 2, Unread::Raise).unwrap();
/// assert_eq!(to_literal(&x).unwrap().to_string(), r#"["1.00", "2.00"]"#);
/// ```
pub fn to_decimal(x: &Value, precision: i64, scale: i64, unread: Unread) -> Result<Value> {
    let form = DecimalForm { precision, scale, bits: bits_of_made(precision) };
    let zero = |x: &Value| match over_elements(x, &|cells| ops::zeros_like(cells)) {
        Some(zeros) => Ok(Some(Arg::Value(zeros?))),
        None if is_text(x) => Ok(Some(Arg::from("0"))),
        None => Ok(x.tensor().is_ok_and(|x| x.dtype().is_numeric()).then(|| Arg::from(0_i64))),
    };
    let made = to_read(x, unread, &DECIMAL_IS_TEXT, &form)
        .and_then(|x| below_filled(&x, &zero, &|x| made(x, precision, scale)));
    made.map_err(|e| e.at_part("to_decimal"))
}

fn made(x: &Value, precision: i64, scale: i64) -> Result<Value> {
    let bits = bits_of_made(precision);
    if let Some(x) = typed::<DecimalTensor>(x) {
        return Ok(in_form(&x, precision, scale, bits.max(if x.width() == 32 { 256 } else { 128 }))?.into_value());
    }
    match x.tensor().map(|tensor| tensor.dtype()) {
        Ok(dtype) if dtype == DType::String || dtype.is_numeric() => {
            parsed(x.clone(), precision, scale, bits).map(ExtensionType::into_value)
        }
        _ => Err(Error::dtype(format!("found {}", x.spec()?)).wanted("integers, floats, strings or decimals")),
    }
}

/// The bits of decimals of so many digits that are made anew.
fn bits_of_made(precision: i64) -> i64 {
    if precision > 38 { 256 } else { 128 }
}

fn parsed(numbers: Value, precision: i64, scale: i64, bits: i64) -> Result<DecimalTensor> {
    let cells = call_one(&DECIMAL_PARSE, &[Arg::Value(numbers)], &DecimalForm { precision, scale, bits })?;
    DecimalTensor::of_bits(cells.tensor()?.clone(), precision, scale, bits)
}

/// The decimals with another number of digits; what no longer stands behind the point is rounded half to even.
fn in_form(x: &DecimalTensor, precision: i64, scale: i64, bits: i64) -> Result<DecimalTensor> {
    if (x.precision(), x.scale(), bits_of(x)) == (precision, scale, bits) {
        return Ok(x.clone());
    }
    let attrs = DecimalShift { by: scale - x.scale(), precision, bits };
    let cells = call_one(&DECIMAL_SCALED, &[Arg::from(x.cells())], &attrs)?;
    DecimalTensor::of_bits(cells.tensor()?.clone(), precision, scale, bits)
}

/// The decimals rounded half to even to so many digits behind the point, or before it if `digits` is negative, with one more digit for
/// what is rounded up.
pub(crate) fn rounded(x: &DecimalTensor, digits: i64) -> Result<DecimalTensor> {
    if digits >= x.scale() {
        return Ok(x.clone());
    }
    let form = |x: &DecimalTensor, scale: i64, least: i64| {
        let precision = (x.precision() - x.scale() + scale + 1).max(least).min(MOST);
        in_form(x, precision, scale, if precision > 38 { 256 } else { bits_of(x) })
    };
    let digits = digits.max(-MOST);
    let kept = form(x, digits, 1)?;
    if digits < 0 { form(&kept, 0, 1) } else { Ok(kept) }
}

/// Whole decimals, of those that are nearest to the decimals.
fn whole(call: &Call<'_>, of: &dyn Fn(Value, Value) -> Result<Value>) -> Answer {
    let Some(x) = flat(call).first().and_then(typed_arg::<DecimalTensor>) else { return Ok(None) };
    answer(of(rounded(&x, 0)?.into_value(), x.into_value())?)
}

fn below(nearest: Value, x: Value) -> Result<Value> {
    moved_where(ops::greater(&nearest, x)?, nearest, &|from| ops::subtract(from, 1))
}

fn above(nearest: Value, x: Value) -> Result<Value> {
    moved_where(ops::less(&nearest, x)?, nearest, &|from| ops::add(from, 1))
}

/// Decimals that are moved in some places; in the others a move may have more digits than there are.
fn moved_where(there: Value, x: Value, moved: &dyn Fn(Value) -> Result<Value>) -> Result<Value> {
    let from = ops::where_(&there, &x, 0)?;
    ops::where_(there, moved(from)?, x)
}

fn towards_zero(nearest: Value, x: Value) -> Result<Value> {
    ops::where_(ops::less(&x, 0)?, above(nearest.clone(), x.clone())?, below(nearest, x)?)
}

fn bits_of(x: &DecimalTensor) -> i64 {
    if x.width() == 32 { 256 } else { 128 }
}

/// The bits that so many digits need, at least those of both operands.
fn bits_for(precision: i64, x: &DecimalTensor, y: &DecimalTensor) -> i64 {
    if precision > 38 { 256 } else { bits_of(x).max(bits_of(y)) }
}

/// Both with as many digits before and behind the point as either has.
pub(crate) fn alike(x: &DecimalTensor, y: &DecimalTensor) -> Result<(DecimalTensor, DecimalTensor)> {
    let scale = x.scale().max(y.scale());
    let whole = (x.precision() - x.scale()).max(y.precision() - y.scale());
    let precision = (whole + scale).clamp(1, MOST);
    let bits = bits_for(precision, x, y);
    Ok((in_form(x, precision, scale, bits)?, in_form(y, precision, scale, bits)?))
}

/// Two operands of which one is of decimals; none if the other is no number.
fn operands(call: &Call<'_>) -> Result<Option<(DecimalTensor, DecimalTensor)>> {
    let [x, y] = flat(call) else { return Ok(None) };
    Ok(number(x)?.zip(number(y)?))
}

/// A decimal, an integer, or a number of the host language, as a decimal of its own digits.
fn number(arg: &Arg) -> Result<Option<DecimalTensor>> {
    let text = match arg {
        Arg::Scalar(Scalar::Int(v)) => v.to_string(),
        Arg::Scalar(Scalar::Unsigned(v)) => v.to_string(),
        Arg::Scalar(Scalar::Float(v)) => v.to_string(),
        Arg::Scalar(_) | Arg::List(_) => return Ok(None),
        Arg::Value(value) => {
            return match value.tensor().map(|tensor| tensor.dtype()) {
                Ok(dtype) if dtype.is_integer() => parsed(value.clone(), 20, 0, 128).map(Some),
                Ok(_) => Ok(None),
                Err(_) => Ok(typed(value)),
            };
        }
    };
    DecimalTensor::one(&text).map(Some)
}

impl DecimalTensor {
    /// One decimal, of the digits that its text has, without an exponent.
    ///
    /// Errors: text that is no decimal number, or has more than 76 digits.
    ///
    /// ```
    /// # use extenso_ext::DecimalTensor;
    /// assert_eq!(DecimalTensor::one("-1.50").unwrap().texts().unwrap(), ["-1.50"]);
    /// ```
    pub fn one(text: &str) -> Result<DecimalTensor> {
        let (whole, behind) =
            text.trim_start_matches('-').split_once('.').unwrap_or((text.trim_start_matches('-'), ""));
        let digits = int(whole.trim_start_matches('0').len() + behind.len()).max(1);
        if digits > MOST {
            let shown: String = text.chars().take(100).collect();
            return Err(Error::value(format!("'{shown}' has {digits} digits")).wanted(format!("at most {MOST}")));
        }
        let one = DecimalTensor::parse(&[text], digits, int(behind.len()))?;
        one.over(ops::squeeze(one.cells(), vec![0_i64])?)
    }
}

/// Both with the shape that they broadcast to.
fn stretched(x: DecimalTensor, y: DecimalTensor) -> Result<(DecimalTensor, DecimalTensor)> {
    let outer = |x: &DecimalTensor| x.cells().shape().to_dims().map(|dims| dims[..dims.len() - 1].to_vec());
    if outer(&x).is_some() && outer(&x) == outer(&y) {
        return Ok((x, y));
    }
    let (x, y) = (x.into_value(), y.into_value());
    let zeros = |x: &Value| zeros_of(x, crate::axes::rank(x)?);
    let like = ops::add(zeros(&x)?, zeros(&y)?)?;
    let repeated = |x: Value| DecimalTensor::from_value(&ops::broadcast_like(x, &like)?);
    Ok((repeated(x)?, repeated(y)?))
}

/// Decimals are compared by their keys.
fn compared(call: &Call<'_>) -> Answer {
    let Some((x, y)) = operands(call)? else { return Ok(None) };
    let (x, y) = alike(&x, &y)?;
    let keys: Vec<Arg> = DecimalTensor::orders(&[&x, &y])?.into_iter().map(Arg::Value).collect();
    answer(call_one(call.op, &keys, call.attrs)?)
}

/// The sum or difference, with a digit more, as far as the cells have one.
fn summed(call: &Call<'_>, subtract: bool) -> Answer {
    let Some((x, y)) = operands(call)? else { return Ok(None) };
    let (x, y) = alike(&x, &y)?;
    let (x, y) = stretched(x, y)?;
    let (precision, scale, bits) = ((x.precision() + 1).min(most_digits(x.width())), x.scale(), bits_of(&x));
    let attrs = DecimalSum { precision, subtract };
    let cells = call_one(&DECIMAL_SUM, &[Arg::from(x.cells()), Arg::from(y.cells())], &attrs)?;
    answer_ext(DecimalTensor::of_bits(cells.tensor()?.clone(), precision, scale, bits)?)
}

/// The product, which has the digits of both.
fn multiplied(call: &Call<'_>) -> Answer {
    let Some((x, y)) = operands(call)? else { return Ok(None) };
    let precision = (x.precision() + y.precision()).min(MOST);
    let (scale, bits) = (x.scale() + y.scale(), bits_for(precision, &x, &y));
    if scale > precision {
        return Err(Error::value(format!("the product has {scale} digits behind the point"))
            .wanted(format!("at most {MOST}"))
            .hint("Use `to_decimal` for fewer digits."));
    }
    let (x, y) = stretched(x, y)?;
    let attrs = DecimalForm { precision, scale, bits };
    let cells = call_one(&DECIMAL_PRODUCT, &[Arg::from(x.cells()), Arg::from(y.cells())], &attrs)?;
    answer_ext(DecimalTensor::of_bits(cells.tensor()?.clone(), precision, scale, bits)?)
}

/// The quotient, rounded half to even, with the digits behind the point that the operands have, and at least six.
fn divided(call: &Call<'_>) -> Answer {
    let Some((x, y)) = operands(call)? else { return Ok(None) };
    let scale = x.scale().max(y.scale()).max(BEHIND);
    let bits = bits_of(&x).max(bits_of(&y));
    let precision = most_digits(if bits == 256 { 32 } else { 16 });
    let by = scale - x.scale() + y.scale();
    let (x, y) = stretched(x, y)?;
    let attrs = DecimalShift { by, precision, bits };
    let cells = call_one(&DECIMAL_QUOTIENT, &[Arg::from(x.cells()), Arg::from(y.cells())], &attrs)?;
    answer_ext(DecimalTensor::of_bits(cells.tensor()?.clone(), precision, scale, bits)?)
}

/// The largest whole quotient that is not above the exact one, or what it leaves, which has the sign of the divisor; both exact.
fn divided_evenly(call: &Call<'_>, wanted: fn(Value, Value) -> Value) -> Answer {
    let Some((x, y)) = operands(call)? else { return Ok(None) };
    let (x, y) = alike(&x, &y)?;
    let (x, y) = stretched(x, y)?;
    let precision = (x.precision() + 1).min(MOST);
    let bits = bits_for(precision, &x, &y);
    let attrs = DecimalShift { by: 0, precision, bits };
    let cells = call_one(&DECIMAL_QUOTIENT, &[Arg::from(x.cells()), Arg::from(y.cells())], &attrs)?;
    let nearest = DecimalTensor::of_bits(cells.tensor()?.clone(), precision, 0, bits)?.into_value();
    let (precision, scale, width) = (y.precision(), y.scale(), bits_of(&y));
    let (x, y) = (x.into_value(), y.into_value());
    let rest = ops::subtract(x, ops::multiply(&nearest, &y)?)?;
    // The nearest quotient is at most one above: what it leaves is then on the other side of zero than the divisor.
    let opposite = ops::logical_xor(ops::less(&rest, 0)?, ops::less(&y, 0)?)?;
    let above = ops::logical_and(ops::not_equal(&rest, 0)?, opposite)?;
    let quotient = ops::where_(&above, ops::subtract(&nearest, 1)?, nearest)?;
    let rest = ops::where_(above, ops::add(&rest, y)?, rest)?;
    let rest = in_form(&DecimalTensor::from_value(&rest)?, precision, scale, width)?.into_value();
    answer(wanted(quotient, rest))
}

/// -1, 0 or 1 as decimals of one digit.
fn sign(call: &Call<'_>) -> Answer {
    let Some(x) = flat(call).first().and_then(typed_arg::<DecimalTensor>) else { return Ok(None) };
    let x = x.into_value();
    let counted = |holds: Result<Value>| ops::cast(holds?, DType::I64);
    let signs = ops::subtract(counted(ops::greater(&x, 0))?, counted(ops::less(&x, 0))?)?;
    answer(to_decimal(&signs, 1, 0, Unread::Raise)?)
}

fn negative(call: &Call<'_>) -> Answer {
    let Some(x) = flat(call).first().and_then(typed_arg::<DecimalTensor>) else { return Ok(None) };
    let none = ops::zeros_like(x.cells())?;
    let attrs = DecimalSum { precision: x.precision(), subtract: true };
    answer_ext(x.over(call_one(&DECIMAL_SUM, &[Arg::Value(none), Arg::from(x.cells())], &attrs)?)?)
}

fn absolute(call: &Call<'_>) -> Answer {
    let Some(x) = flat(call).first().and_then(typed_arg::<DecimalTensor>) else { return Ok(None) };
    let x = x.into_value();
    answer(ops::where_(ops::less(&x, 0)?, ops::negative(&x)?, x)?)
}

/// The larger or the smaller of two.
fn extreme(call: &Call<'_>, comparison: &'static OpDef) -> Answer {
    let Some((x, y)) = operands(call)? else { return Ok(None) };
    let (x, y) = alike(&x, &y)?;
    let (x, y) = (Arg::Value(x.into_value()), Arg::Value(y.into_value()));
    answer(ops::where_(call_one(comparison, &[x.clone(), y.clone()], call.attrs)?, x, y)?)
}

/// `where` of decimals, and of numbers beside them.
fn where_(call: &Call<'_>) -> Answer {
    let [condition, x, y] = flat(call) else { return Ok(None) };
    let is_decimal = |arg: &Arg| typed_arg::<DecimalTensor>(arg).is_some();
    if is_decimal(condition) || (is_decimal(x) && is_decimal(y)) {
        return chosen::<DecimalTensor>(call);
    }
    let (Some(x), Some(y)) = (number(x)?, number(y)?) else { return Ok(None) };
    answer(ops::where_(condition, x.into_value(), y.into_value())?)
}

/// The texts, exact.
fn texts(call: &Call<'_>) -> Answer {
    let Some(x) = flat(call).first().and_then(typed_arg::<DecimalTensor>) else { return Ok(None) };
    answer(call_one(&DECIMAL_TEXTS, &[Arg::from(x.cells())], &DecimalScale { scale: x.scale() })?)
}
