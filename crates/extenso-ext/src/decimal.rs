//! Decimals: integers of 128 or 256 bits, of which the last digits stand behind the point.
//!
//! Invariant: precision and scale are static data; no digit is lost but where a function says so. What is computed are ops over the
//! bytes, so that it is traced.

mod arithmetic;
mod bytes;
mod narrow;
mod numbers;
mod totals;

pub use arithmetic::{
    DECIMAL_IS_TEXT, DECIMAL_PARSE, DECIMAL_PRODUCT, DECIMAL_QUOTIENT, DECIMAL_SCALED, DecimalForm, DecimalShift,
};
pub use bytes::{DECIMAL_FLOATS, DECIMAL_INTEGERS, DECIMAL_SUM, DECIMAL_TEXTS};
pub(crate) use numbers::rounded;
pub use numbers::to_decimal;
pub use totals::{DECIMAL_ROW_RUNNING, DECIMAL_ROW_TOTALS, DECIMAL_RUNNING, DECIMAL_TOTAL};

use crate::Literal;
use crate::args::{answer, answer_ext, flat, typed, typed_arg};
use crate::cells::keys;
use crate::masked::MaskedTensor;
use crate::meaning::order::register_order;
use crate::meaning::{Meaning, differ, register_moves};
use crate::ragged::RaggedTensor;
use arrow_buffer::i256;
use bytes::{DecimalFloats, DecimalIntegers, DecimalScale};
use extenso_core::attrs::{Attrs, Axes, NoAttrs};
use extenso_core::reduce::Reduce;
use extenso_core::{Answer, Arg, Call, Dense, ExtensionType, Target, Tensor, Value, call_one, on, ops};
use extenso_derive::ExtensionType;
use extenso_types::{DType, Dim, Error, Result, TypeDef};
use std::sync::Arc;
use totals::{DecimalAxes, most_digits};

/// Decimals: `cells` are little-endian integers of 128 or 256 `bits` each, `scale` of whose at most `precision` digits stand behind the point.
///
/// ```
/// # use extenso_core::{ExtensionType, ops};
/// # use extenso_ext::{DecimalTensor, to_literal};
/// let x = DecimalTensor::parse(&["1.10", "-0.05"], 10, 2).unwrap().into_value();
/// assert_eq!(to_literal(&ops::add(&x, &x).unwrap()).unwrap().to_string(), r#"["2.20", "-0.10"]"#);
/// assert_eq!(ops::less(&x, &x).unwrap().to_string(), "[False, False]");
/// ```
#[derive(Clone, ExtensionType)]
#[extenso(name = "extenso/DecimalTensor", validate = fits, handlers = register)]
pub struct DecimalTensor {
    #[extenso(component)]
    cells: Tensor,
    #[extenso(static)]
    precision: i64,
    #[extenso(static)]
    scale: i64,
    #[extenso(static)]
    bits: i64,
}

/// The digits that integers of 32 bytes hold.
pub(crate) const MOST: i64 = 76;

fn fits(x: &DecimalTensor) -> Result<()> {
    let spec = x.cells.spec();
    let most = match x.bits {
        128 => 38,
        256 => MOST,
        other => return Err(Error::value(format!("found {other}")).wanted("128 or 256").at("bits")),
    };
    let last = spec.shape.dims().and_then(|dims| dims.last().copied());
    if spec.dtype != DType::U8 || !last.is_some_and(|last| last.is_compatible_with(Dim::Known(x.width()))) {
        return Err(Error::shape(format!("the cells are {spec}"))
            .at("cells")
            .wanted(format!("u8 with {} in the last axis", x.width())));
    }
    if !(1..=most).contains(&x.precision) {
        return Err(Error::value(format!("the precision is {}", x.precision)).wanted(format!("1 to {most} digits")));
    }
    if !(-MOST..=x.precision).contains(&x.scale) {
        return Err(Error::value(format!("the scale is {}", x.scale)).wanted("at most the precision"));
    }
    Ok(())
}

fn register(def: &Arc<TypeDef>) {
    register_moves::<DecimalTensor>(def, "DecimalTensor");
    register_order::<DecimalTensor>(def, "DecimalTensor order");
    numbers::register(def);
    on(Target::Op(&ops::SUM), def, "DecimalTensor sum", total);
    on(Target::Op(&ops::SEGMENT_SUM), def, "DecimalTensor sum", row_totals);
    on(Target::Op(&ops::CUMULATIVE_SUM), def, "DecimalTensor sum", running_totals);
    on(Target::Op(&ops::SEGMENT_CUMULATIVE_SUM), def, "DecimalTensor sum", running_row_totals);
    on(Target::Op(&ops::CAST), def, "DecimalTensor cast", cast);
}

impl DecimalTensor {
    /// Decimals of these bytes.
    ///
    /// Errors: cells that are not 16 or 32 bytes wide; more digits than they hold.
    pub fn new(cells: Tensor, precision: i64, scale: i64) -> Result<DecimalTensor> {
        let width = cells.shape().dims().and_then(|dims| dims.last()?.known());
        let bits = if width == Some(32) { 256 } else { 128 };
        DecimalTensor::of_bits(cells, precision, scale, bits)
    }

    pub(crate) fn of_bits(cells: Tensor, precision: i64, scale: i64, bits: i64) -> Result<DecimalTensor> {
        let made = DecimalTensor { cells, precision, scale, bits };
        fits(&made).map_err(|e| e.at("DecimalTensor"))?;
        Ok(made)
    }

    /// A vector of decimals from text: a sign, digits, a point and an exponent; 16 bytes each where the precision is at most 38, otherwise 32.
    ///
    /// Errors: text that is no decimal number, or has more digits than precision or scale leave, with its position.
    pub fn parse<S: AsRef<str>>(texts: &[S], precision: i64, scale: i64) -> Result<DecimalTensor> {
        let width = if precision <= 38 { 16 } else { 32 };
        let mut bytes = Vec::new();
        for (i, text) in texts.iter().enumerate() {
            let value = number(text.as_ref(), precision, scale).ok_or_else(|| {
                Error::value(format!("element {i} is '{}'", text.as_ref().chars().take(100).collect::<String>()))
                    .wanted(format!("a decimal number of {precision} digits, {scale} behind the point"))
                    .at("DecimalTensor")
            })?;
            bytes.extend_from_slice(&value.to_le_bytes()[..width]);
        }
        DecimalTensor::new(Tensor::new::<u8>(&[texts.len(), width], &bytes)?, precision, scale)
    }

    /// The bytes.
    pub fn cells(&self) -> &Tensor {
        &self.cells
    }

    /// The most digits.
    pub fn precision(&self) -> i64 {
        self.precision
    }

    /// How many digits stand behind the point.
    pub fn scale(&self) -> i64 {
        self.scale
    }

    pub(crate) fn width(&self) -> usize {
        if self.bits == 256 { 32 } else { 16 }
    }

    /// Sums of these decimals.
    fn sums(&self, elements: Value) -> Result<DecimalTensor> {
        DecimalTensor::of_bits(elements.tensor()?.clone(), most_digits(self.width()), self.scale, self.bits)
    }

    /// The decimals as text, exact.
    ///
    /// Errors: a symbol.
    pub fn texts(&self) -> Result<Vec<String>> {
        Ok(integers(self.cells.data()?)?.map(|v| shown(v, self.scale)).collect())
    }
}

/// The integers in a tensor of cells.
pub(crate) fn integers(cells: &Dense) -> Result<impl Iterator<Item = i256> + '_> {
    let wide = |cell: &[u8]| {
        let fill = if cell.last().is_some_and(|top| *top >= 0x80) { 0xff } else { 0 };
        let mut bytes = [fill; 32];
        bytes[..cell.len()].copy_from_slice(cell);
        i256::from_le_bytes(bytes)
    };
    Ok(cells.as_slice::<u8>()?.chunks_exact(cells.dims().last().copied().unwrap_or(16).max(1)).map(wide))
}

/// Ten to this power.
pub(crate) fn power(exponent: i64) -> Option<i256> {
    i256::from_i128(10).checked_pow(u32::try_from(exponent).ok()?)
}

/// The integer of a decimal text, which may have an exponent.
pub(crate) fn number(text: &str, precision: i64, scale: i64) -> Option<i256> {
    if let Some(value) = narrow::exact(text.as_bytes(), precision, scale) {
        return Some(i256::from_i128(value));
    }
    let (negative, digits) = match text.split_at_checked(1)? {
        ("-", rest) => (true, rest),
        ("+", rest) => (false, rest),
        _ => (false, text),
    };
    let (digits, exponent) =
        digits.split_once(['e', 'E']).map_or((digits, Some(0)), |(digits, e)| (digits, power_of(e)));
    let (whole, behind) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.len() + behind.len() == 0 || !whole.bytes().chain(behind.bytes()).all(|b| b.is_ascii_digit()) {
        return None;
    }
    let behind = behind.trim_end_matches('0');
    let ten = i256::from_i128(10);
    let mut value = i256::ZERO;
    for digit in whole.bytes().chain(behind.bytes()) {
        value = value.checked_mul(ten)?.checked_add(i256::from_i128(i128::from(digit - b'0')))?;
    }
    let shift = scale.checked_sub(i64::try_from(behind.len()).ok()?)?.checked_add(exponent?)?;
    if value == i256::ZERO {
        return Some(value);
    }
    if shift >= 0 {
        value = value.checked_mul(power(shift)?)?;
    } else {
        let by = power(-shift)?;
        if value.checked_rem(by)? != i256::ZERO {
            return None;
        }
        value = value.checked_div(by)?;
    }
    let fits = value < power(precision)?;
    fits.then(|| if negative { value.wrapping_neg() } else { value })
}

/// The exponent behind an `e`.
fn power_of(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_one = (1..=18).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_one { text.parse().ok() } else { None }
}

/// Appends the text of an integer with `scale` digits behind the point.
pub(crate) fn write(value: i256, scale: i64, out: &mut Vec<u8>) {
    match value.to_i128() {
        Some(value) => narrow::write(value, scale, out),
        None => out.extend_from_slice(shown(value, scale).as_bytes()),
    }
}

/// The text of an integer with `scale` digits behind the point.
pub(crate) fn shown(value: i256, scale: i64) -> String {
    let text = value.to_string();
    let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |digits| ("-", digits));
    match usize::try_from(scale) {
        Ok(0) => text,
        Ok(scale) => {
            let digits = format!("{digits:0>width$}", width = scale + 1);
            let (whole, behind) = digits.split_at(digits.len() - scale);
            format!("{sign}{whole}.{behind}")
        }
        Err(_) if value == i256::ZERO => text,
        Err(_) => format!("{sign}{digits}{}", "0".repeat(usize::try_from(-scale).unwrap_or(0))),
    }
}

impl Meaning for DecimalTensor {
    const CELLS: bool = true;
    const BY_KEYS: bool = true;

    fn elements(&self) -> Value {
        self.cells.clone().into()
    }

    fn over(&self, elements: Value) -> Result<DecimalTensor> {
        DecimalTensor::of_bits(elements.tensor()?.clone(), self.precision, self.scale, self.bits)
    }

    fn meets(&self, other: &DecimalTensor) -> Result<()> {
        let show = |x: &DecimalTensor| format!("DecimalTensor[{}, {}]", x.precision, x.scale);
        let alike = (self.precision, self.scale, self.width()) == (other.precision, other.scale, other.width());
        if alike { Ok(()) } else { Err(differ(show(self), show(other))) }
    }

    fn alike(&self, other: &DecimalTensor) -> Result<(DecimalTensor, DecimalTensor)> {
        numbers::alike(self, other)
    }

    fn order(&self) -> Result<Value> {
        keys(&self.cells, true)
    }

    /// The integers themselves, where 64 bits hold all.
    fn orders(values: &[&DecimalTensor]) -> Result<Vec<Value>> {
        let small: Option<Vec<Value>> = values.iter().map(|x| narrow::small(&x.cells).map(Value::from)).collect();
        small.map_or_else(|| values.iter().map(|x| x.order()).collect(), Ok)
    }

    fn ends(&self) -> Result<DecimalTensor> {
        let most = power(self.precision).unwrap_or(i256::MAX).wrapping_sub(i256::ONE);
        let cells = [most.wrapping_neg(), most].map(|end| end.to_le_bytes());
        let cells: Vec<u8> = cells.iter().flat_map(|cell| &cell[..self.width()]).copied().collect();
        self.over(Tensor::new::<u8>(&[2, self.width()], &cells)?.into())
    }
}

/// The sums along axes, of as many digits as the bytes hold.
fn total(call: &Call<'_>) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<DecimalTensor>(x) else { return Ok(None) };
    let Reduce { axis, keepdims } = Reduce::of(call.attrs)?.clone();
    let rank = x.cells.shape().rank().map_or(0, |rank| rank.saturating_sub(1));
    let axis = match axis {
        Axes::All => (0..rank).map(|axis| i64::try_from(axis).unwrap_or_default()).collect(),
        Axes::List(axes) => axes.to_vec(),
    };
    answer_ext(x.sums(call_one(&DECIMAL_TOTAL, &[Arg::from(&x.cells)], &DecimalAxes { axis, keepdims })?)?)
}

/// The sums in rows, of as many digits as the bytes hold.
fn row_totals(call: &Call<'_>) -> Answer {
    let [x, rows] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<DecimalTensor>(x) else { return Ok(None) };
    answer_ext(x.sums(call_one(&DECIMAL_ROW_TOTALS, &[Arg::from(&x.cells), rows.clone()], &NoAttrs {})?)?)
}

/// The running sums along an axis, of as many digits as the bytes hold.
fn running_totals(call: &Call<'_>) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<DecimalTensor>(x) else { return Ok(None) };
    answer_ext(x.sums(call_one(&DECIMAL_RUNNING, &[Arg::from(&x.cells)], call.attrs)?)?)
}

/// The running sums in rows, of as many digits as the bytes hold.
fn running_row_totals(call: &Call<'_>) -> Answer {
    let [x, rows] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<DecimalTensor>(x) else { return Ok(None) };
    answer_ext(x.sums(call_one(&DECIMAL_ROW_RUNNING, &[Arg::from(&x.cells), rows.clone()], call.attrs)?)?)
}

/// Decimals as numbers: floats are rounded once, and integers lose what stands behind the point.
fn cast(call: &Call<'_>) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<DecimalTensor>(x) else { return Ok(None) };
    let (cells, scale, dtype) = (Arg::from(&x.cells), x.scale, ops::Cast::of(call.attrs)?.dtype);
    answer(match dtype {
        DType::Bool => ops::cast(floats(&x, DType::F64)?, dtype)?,
        _ if dtype.is_integer() => call_one(&DECIMAL_INTEGERS, &[cells], &DecimalIntegers { scale, dtype })?,
        _ if dtype.is_float() => floats(&x, dtype)?,
        _ => {
            let error = Error::dtype(format!("decimals are cast to {dtype}")).wanted("numbers or booleans");
            return Err(error.hint("`decimal_to_string` gives their text."));
        }
    })
}

/// The floats that are nearest; of decimals that may be beyond them, their texts are read.
fn floats(x: &DecimalTensor, dtype: DType) -> Result<Value> {
    let (cells, scale) = ([Arg::from(&x.cells)], x.scale);
    if matches!(dtype, DType::F32 | DType::F64) && scale >= 0 && x.width() == 16 {
        return call_one(&DECIMAL_FLOATS, &cells, &DecimalFloats { scale, dtype });
    }
    ops::to_number(call_one(&DECIMAL_TEXTS, &cells, &DecimalScale { scale })?, dtype, None)
}

/// Decimals as strings, exact, in the rows and under the masks of the value.
///
/// Errors: another type; a symbol.
pub fn decimal_to_string(x: &Value) -> Result<Value> {
    if let Some(x) = typed::<MaskedTensor>(x) {
        return Ok(MaskedTensor::new(decimal_to_string(x.values())?, x.mask().clone())?.into_value());
    }
    if let Some(x) = typed::<RaggedTensor>(x) {
        return Ok(x.with_values(decimal_to_string(x.values())?)?.into_value());
    }
    let Some(x) = typed::<DecimalTensor>(x) else {
        return Err(Error::dtype(format!("found {}", x.spec()?)).wanted("decimals").at("decimal_to_string"));
    };
    call_one(&DECIMAL_TEXTS, &[Arg::from(&x.cells)], &DecimalScale { scale: x.scale })
}

/// The elements of a vector of decimals as text; none of another type.
pub(crate) fn literals(value: &Value) -> Result<Option<Vec<Literal>>> {
    let Some(x) = typed::<DecimalTensor>(value) else { return Ok(None) };
    Ok(Some(x.texts()?.into_iter().map(Literal::Str).collect()))
}
