//! Ops on the bytes of decimals whose results have other digits: rescaled, multiplied, divided, read from text.
//!
//! Invariant: a result is exact, or rounded once, half to even; what does not fit its digits is an error with its place.

use super::bytes::cells;
use super::narrow::{self, Shift};
use super::{MOST, integers, power};
use crate::meaning::unread::infer_is_read;
use crate::written::each;
use arrow_buffer::i256;
use extenso_core::attrs::{AttrSet, Attrs};
use extenso_core::{Class, Dense, OpDef, OutputSpecs, Outputs, Tensor, Value, ops};
use extenso_types::{DType, Dim, Error, LeafSpec, Result, Shape, TensorSpec};

extenso_core::attrs! {
    /// The digits of a result, those of them behind the point, and its bits.
    pub struct DecimalForm { precision: i64, scale: i64, bits: i64 = 128 }

    /// How many more digits stand behind the point, the digits of a result, and its bits.
    pub struct DecimalShift { by: i64, precision: i64, bits: i64 = 128 }
}

/// Decimals with other digits.
///
/// Errors: a number that has more than the precision.
pub static DECIMAL_SCALED: OpDef = OpDef::general(Class::Structural, infer_shifted, run_scaled).part().named(
    "decimal_scaled",
    "Decimals with more or fewer digits behind the point, rounded half to even, as their bytes.\n",
    &["x"],
    DecimalShift::DEF,
);

/// The products of decimals.
///
/// Errors: another number of them; a product that has more digits than the precision.
pub static DECIMAL_PRODUCT: OpDef = OpDef::general(Class::Structural, infer_product, run_product).part().named(
    "decimal_product",
    "The products of decimals, exact, as their bytes.\n",
    &["x", "y"],
    DecimalForm::DEF,
);

/// The quotients of decimals.
///
/// Errors: another number of them; a division by zero; a quotient that has more digits than the precision.
pub static DECIMAL_QUOTIENT: OpDef = OpDef::general(Class::Structural, infer_shifted, run_quotient).part().named(
    "decimal_quotient",
    "The quotients of decimals with more digits behind the point, rounded half to even, as their bytes.\n",
    &["x", "y"],
    DecimalShift::DEF,
);

/// Decimals of texts, and of numbers, whose text is the shortest that is read as them.
///
/// Errors: text that is no number; a number that has more digits than the precision.
pub static DECIMAL_PARSE: OpDef = OpDef::general(Class::Structural, infer_parse, run_parse).part().named(
    "decimal_parse",
    "Decimals that texts spell, or that numbers are, rounded half to even, as their bytes.\n",
    &["x"],
    DecimalForm::DEF,
);

/// Whether each text is a number that `decimal_parse` reads.
pub static DECIMAL_IS_TEXT: OpDef = OpDef::general(Class::Structural, infer_is_text, run_is_text).part().named(
    "decimal_is_text",
    "Whether each text is a number of so many digits.\n",
    &["x"],
    DecimalForm::DEF,
);

/// The bytes of a result.
struct Form {
    precision: i64,
    width: usize,
}

impl Form {
    fn of(precision: i64, bits: i64) -> Result<Form> {
        let (width, most) = match bits {
            128 => (16, 38),
            256 => (32, MOST),
            other => return Err(Error::value(format!("found {other}")).wanted("128 or 256").at("bits")),
        };
        if (1..=most).contains(&precision) {
            return Ok(Form { precision, width });
        }
        Err(Error::value(format!("found {precision}")).wanted(format!("1 to {most} digits")).at("precision"))
    }

    fn spec(&self, outer: &[Dim]) -> OutputSpecs {
        let shape = Shape::new(outer.iter().copied().chain([Dim::Known(self.width)]));
        OutputSpecs::from_iter([LeafSpec::Tensor(TensorSpec::new(DType::U8, shape))])
    }

    /// Whether an integer has no more digits.
    fn fits(&self) -> impl Fn(&i256) -> bool + use<> {
        let most = power(self.precision).unwrap_or(i256::MAX);
        move |value| *value < most && *value > most.wrapping_neg()
    }

    fn tensor(&self, outer: &[usize], values: impl Iterator<Item = Option<i256>>) -> Result<Outputs> {
        let fits = self.fits();
        let mut bytes = Vec::new();
        for (i, value) in values.enumerate() {
            let value = value.filter(&fits).ok_or_else(|| {
                Error::value(format!("element {i} has more digits than {}", self.precision))
                    .wanted("a result that fits the precision")
            })?;
            bytes.extend_from_slice(&value.to_le_bytes()[..self.width]);
        }
        let dims: Vec<usize> = outer.iter().copied().chain([self.width]).collect();
        Ok(Outputs::from_iter([Tensor::new::<u8>(&dims, &bytes)?.into()]))
    }
}

/// The cells of all arguments, which are as many.
fn outer(args: &[LeafSpec]) -> Result<&[Dim]> {
    let Some((x, rest)) = args.split_first() else { return Err(Error::value("no argument is given").wanted("cells")) };
    let (_, outer) = cells(x)?;
    for other in rest {
        let (_, beside) = cells(other)?;
        let shape = |dims: &[Dim]| Shape::new(dims.iter().copied());
        if !shape(outer).is_compatible_with(&shape(beside)) {
            let found = format!("decimals of {} stand beside {}", shape(beside), shape(outer));
            return Err(Error::shape(found).wanted("as many"));
        }
    }
    Ok(outer)
}

/// The axes before the bytes.
fn outer_dims(x: &Value) -> Result<Vec<usize>> {
    Ok(x.tensor()?.data()?.dims().split_last().map(|(_, outer)| outer.to_vec()).unwrap_or_default())
}

/// The integers of two arguments, pair by pair.
fn pairs(args: &[Value]) -> Result<(Vec<usize>, impl Iterator<Item = (i256, i256)> + '_)> {
    let (x, y) = (outer_dims(&args[0])?, outer_dims(&args[1])?);
    if x != y {
        return Err(Error::shape(format!("decimals of shape {y:?} stand beside {x:?}")).wanted("as many"));
    }
    Ok((x, integers(args[0].tensor()?.data()?)?.zip(integers(args[1].tensor()?.data()?)?)))
}

fn infer_shifted(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let DecimalShift { by, precision, bits } = *DecimalShift::of(attrs)?;
    if !(-4 * MOST..=4 * MOST).contains(&by) {
        return Err(Error::value(format!("found {by}")).wanted("fewer digits").at("by"));
    }
    Ok(Form::of(precision, bits)?.spec(outer(args)?))
}

fn infer_product(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let DecimalForm { precision, bits, .. } = *DecimalForm::of(attrs)?;
    Ok(Form::of(precision, bits)?.spec(outer(args)?))
}

fn infer_parse(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let DecimalForm { precision, scale, bits } = *DecimalForm::of(attrs)?;
    let form = Form::of(precision, bits)?;
    if !(-MOST..=precision).contains(&scale) {
        return Err(Error::value(format!("the scale is {scale}")).wanted("at most the precision").at("scale"));
    }
    let [x] = args else { return Err(Error::value(format!("{} arguments are given", args.len())).wanted("one")) };
    let spec = x.tensor()?;
    let dims = spec.shape.dims().ok_or_else(|| Error::shape("the rank is not known").wanted("a known rank"))?;
    if spec.dtype != DType::String && !spec.dtype.is_numeric() {
        return Err(Error::dtype(format!("found {}", spec.dtype)).wanted("string"));
    }
    Ok(form.spec(dims))
}

/// The integer divided by another, rounded half to even.
pub(super) fn rounded(value: i256, by: i256) -> Option<i256> {
    let (whole, rest) = (value.checked_div(by)?, value.checked_rem(by)?);
    let sign = if (value < i256::ZERO) == (by < i256::ZERO) { i256::ONE } else { i256::MINUS_ONE };
    // What is left is compared with what is missing, since its double may not fit.
    let rest = rest.wrapping_abs();
    let left = by.wrapping_abs().checked_sub(rest)?;
    let odd = whole.wrapping_rem(i256::from_i128(2)) != i256::ZERO;
    if rest > left || (rest == left && odd) { whole.checked_add(sign) } else { Some(whole) }
}

/// The integer with so many more digits.
pub(super) fn shifted(value: i256, by: i64) -> Option<i256> {
    if by >= 0 {
        return if value == i256::ZERO { Some(value) } else { value.checked_mul(power(by)?) };
    }
    // No number has as many digits as a power that is too large.
    power(-by).map_or(Some(i256::ZERO), |power| rounded(value, power))
}

type Cells<'a> = &'a [[u8; 16]];

/// The cells of two arguments, if those and the result have 16 bytes each.
fn narrow_pairs(args: &[Value], bits: i64) -> Result<Option<(Cells<'_>, Cells<'_>)>> {
    if bits != 128 {
        return Ok(None);
    }
    let (x, y) = (args[0].tensor()?.data()?, args[1].tensor()?.data()?);
    Ok(narrow::cells_of(x)?.zip(narrow::cells_of(y)?))
}

fn run_scaled(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let DecimalShift { by, precision, bits } = *DecimalShift::of(attrs)?;
    if let (128, Some(cells), Some(shift)) = (bits, narrow::cells_of(args[0].tensor()?.data()?)?, Shift::of(by)) {
        let scaled = |i: usize| shift.shifted(i128::from_le_bytes(cells[i]));
        if let Some(made) = narrow::made(&outer_dims(&args[0])?, precision, scaled)? {
            return Ok(made);
        }
    }
    let values = integers(args[0].tensor()?.data()?)?.map(|v| shifted(v, by));
    Form::of(precision, bits)?.tensor(&outer_dims(&args[0])?, values)
}

fn run_product(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let DecimalForm { precision, bits, .. } = *DecimalForm::of(attrs)?;
    let (dims, pairs) = pairs(args)?;
    if let Some((x, y)) = narrow_pairs(args, bits)? {
        let product = |i: usize| {
            let (x, y) = (i128::from_le_bytes(x[i]), i128::from_le_bytes(y[i]));
            match (i64::try_from(x), i64::try_from(y)) {
                (Ok(x), Ok(y)) => Some(i128::from(x) * i128::from(y)),
                _ => x.checked_mul(y),
            }
        };
        if let Some(made) = narrow::made(&dims, precision, product)? {
            return Ok(made);
        }
    }
    Form::of(precision, bits)?.tensor(&dims, pairs.map(|(x, y)| x.checked_mul(y)))
}

fn run_quotient(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let DecimalShift { by, precision, bits } = *DecimalShift::of(attrs)?;
    let (dims, pairs) = pairs(args)?;
    if let (Some((x, y)), Some(shift)) = (narrow_pairs(args, bits)?, by.checked_abs().and_then(Shift::of)) {
        let quotient = |i: usize| {
            let (x, y) = (i128::from_le_bytes(x[i]), i128::from_le_bytes(y[i]));
            if by >= 0 { narrow::rounded(shift.shifted(x)?, y) } else { narrow::rounded(x, shift.shifted(y)?) }
        };
        if let Some(made) = narrow::made(&dims, precision, quotient)? {
            return Ok(made);
        }
    }
    let pairs: Vec<(i256, i256)> = pairs.collect();
    if let Some(i) = pairs.iter().position(|(_, y)| *y == i256::ZERO) {
        return Err(Error::value(format!("element {i} is divided by zero")).wanted("divisors that are not zero"));
    }
    let quotient = |(x, y): &(i256, i256)| {
        if by >= 0 { rounded(shifted(*x, by)?, *y) } else { rounded(*x, shifted(*y, -by)?) }
    };
    Form::of(precision, bits)?.tensor(&dims, pairs.iter().map(quotient))
}

fn run_parse(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let DecimalForm { precision, scale, bits } = *DecimalForm::of(attrs)?;
    if bits == 128
        && let Some(made) = quick(args[0].tensor()?.data()?, precision, scale)?
    {
        return Ok(made);
    }
    let texts = ops::as_string(&args[0])?;
    let dense = texts.tensor()?.data()?;
    let mut values = Vec::with_capacity(dense.len());
    for i in 0..dense.len() {
        let text = dense.str_at(i)?;
        values.push(spelled(text, scale).ok_or_else(|| {
            Error::value(format!("element {i} is '{}'", text.chars().take(100).collect::<String>()))
                .wanted(format!("a number of {precision} digits, {scale} of them behind the point"))
        })?);
    }
    Form::of(precision, bits)?.tensor(dense.dims(), values.into_iter().map(Some))
}

fn infer_is_text(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let DecimalForm { precision, bits, .. } = *DecimalForm::of(attrs)?;
    Form::of(precision, bits)?;
    infer_is_read(args)
}

fn run_is_text(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let DecimalForm { precision, scale, bits } = *DecimalForm::of(attrs)?;
    let (dense, fits) = (args[0].tensor()?.data()?, Form::of(precision, bits)?.fits());
    let integer = |text: &str| {
        let narrow = narrow::spelled(text.as_bytes(), scale).map(i256::from_i128);
        narrow.or_else(|| spelled(text, scale))
    };
    let is = each(dense.len(), |i| Some(integer(dense.str_at(i).ok()?).is_some_and(|value| fits(&value))));
    let is = is.ok_or_else(|| Error::internal("an element is no text"))?;
    Ok(Outputs::from_iter([Tensor::bools(dense.dims(), &is)?.into()]))
}

/// Decimals of texts, integers and f64 by integers of 128 bits; none where one is no number, or has more digits.
fn quick(x: &Dense, precision: i64, scale: i64) -> Result<Option<Outputs>> {
    let by_text = |text: &str| spelled(text, scale)?.to_i128();
    macro_rules! whole {
        ($t:ty) => {{
            let (numbers, Some(shift)) = (x.as_slice::<$t>()?, Shift::of(scale)) else { return Ok(None) };
            narrow::made(x.dims(), precision, |i| shift.shifted(numbers[i].into()))
        }};
    }
    match x.dtype() {
        DType::String => narrow::made(x.dims(), precision, |i| {
            let text = x.str_at(i).ok()?;
            narrow::spelled(text.as_bytes(), scale).or_else(|| by_text(text))
        }),
        DType::F64 => {
            let (numbers, power) = (x.as_slice::<f64>()?, narrow::float_power(scale.unsigned_abs()));
            narrow::made(x.dims(), precision, |i| {
                let near = power.and_then(|power| narrow::of_float(numbers[i], power, scale < 0));
                near.or_else(|| by_text(&format!("{:?}", numbers[i])))
            })
        }
        DType::I8 => whole!(i8),
        DType::I16 => whole!(i16),
        DType::I32 => whole!(i32),
        DType::I64 => whole!(i64),
        DType::U8 => whole!(u8),
        DType::U16 => whole!(u16),
        DType::U32 => whole!(u32),
        DType::U64 => whole!(u64),
        _ => Ok(None),
    }
}

/// The integer of a number in text at a scale, rounded half to even; none if it is no number, or too large.
pub(super) fn spelled(text: &str, scale: i64) -> Option<i256> {
    let (negative, rest) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let rest = if negative { rest } else { rest.strip_prefix('+').unwrap_or(rest) };
    let (digits, exponent) = match rest.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
        None => (rest, 0),
    };
    let (whole, behind) = digits.split_once('.').unwrap_or((digits, ""));
    let digits: Vec<u8> = whole.bytes().chain(behind.bytes()).collect();
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let shift = scale + i64::from(exponent) - i64::try_from(behind.len()).ok()?;
    let dropped = usize::try_from(-shift.min(0)).ok()?;
    let kept = digits.len().saturating_sub(dropped);
    let ten = i256::from_i128(10);
    let mut value = i256::ZERO;
    for digit in &digits[..kept] {
        value = value.checked_mul(ten)?.checked_add(i256::from_i128(i128::from(digit - b'0')))?;
    }
    if dropped > digits.len() {
        return Some(i256::ZERO);
    }
    let rest = &digits[kept..];
    let half = rest.first().map(|first| first.cmp(&b'5').then(rest[1..].iter().any(|d| *d != b'0').cmp(&false)));
    let odd = value.wrapping_rem(i256::from_i128(2)) != i256::ZERO;
    if half.is_some_and(|half| half.is_gt() || (half.is_eq() && odd)) {
        value = value.checked_add(i256::ONE)?;
    }
    let value = shifted(value, shift.max(0))?;
    Some(if negative { value.wrapping_neg() } else { value })
}

#[cfg(test)]
mod tests {
    use super::spelled;

    fn check(text: &str, scale: i64, expect: Option<&str>) {
        assert_eq!(spelled(text, scale).map(|v| v.to_string()).as_deref(), expect, "{text} at {scale}");
    }

    #[test]
    fn a_number_in_text_is_rounded_once_and_half_to_even() {
        check("1.005", 2, Some("100"));
        check("1.015", 2, Some("102"));
        check("1.0050001", 2, Some("101"));
        check("-2.5", 0, Some("-2"));
        check("-3.5", 0, Some("-4"));
        check("0.5", 0, Some("0"));
        check("0.51", 0, Some("1"));
        check("5e-3", 2, Some("0"));
        check("6e-3", 2, Some("1"));
        check("1e-300", 2, Some("0"));
        check("12e3", -2, Some("120"));
        check("1250", -2, Some("12"));
        check("1e80", 0, None);
        check("0e999", 0, Some("0"));
        check("", 0, None);
        check(".", 0, None);
        check("+-1", 0, None);
        check("nan", 0, None);
        check("1e", 0, None);
    }
}
