//! Numbers from strings and strings from numbers.
//!
//! Invariant: a number is the nearest of its dtype to the text, and what is written reads back as the same number.

use super::super::args::{data, one_tensor, spec_of, tensor_spec};
use super::string_spec;
use super::texts::in_parts;
use crate::attrs::{AttrSet, Attrs, Number};
use crate::elementwise::position;
use crate::kernels::decimal::Float;
use crate::op::{Class, OpDef, OutputSpecs};
use crate::tensor::{Dense, Element, Storage, Tensor};
use crate::value::{Outputs, Value};
use extenso_types::{DType, DTypeKind, Error, LeafSpec, Result};
use half::{bf16, f16};
use std::fmt::Display;

/// Characters of a text that errors show.
const SHOWN: usize = 40;

crate::attrs! {
    /// The attributes of `to_number`.
    pub struct ToNumber { dtype: DType, default: Option<Number> = None }
    /// The attributes of `is_number`.
    pub struct IsNumber { dtype: DType }
    /// The attributes of `format_float`.
    pub struct FormatFloat { precision: i64 = 6, scientific: bool = false }
}

crate::ops! {
    /// Ops between strings and numbers.
    pub static TEXT_NUMBERS;

    /// The number that each string is, in decimal digits, rounded once to the nearest of `dtype`.
    ///
    /// Floats are `1`, `-1.5`, `.5`, `2e-3`, `inf`, `nan`; integers have digits and a sign alone. Nothing may stand around a number:
    /// `strip` takes white space away. A string that is no number, or one that `dtype` does not hold, gives `default`.
    /// Errors: without a default, such a string, with its position; a default that `dtype` does not hold.
    TO_NUMBER: to_number(x; ToNumber { dtype: DType, default: Option<Number> }) = OpDef::general(Class::UnaryElementwise, infer_number, run_number)
        .alias_tf("strings.to_number")
        .examples(&[("to_number([\"12\", \"-3\", \"x\"], \"i64\", default=0)", "[12, -3, 0]"), ("to_number([\"7\", \"\", \"x\", \"300\"], \"u8\", default=0)", "u8([7, 0, 0, 0])")]);

    /// Whether each string is a number of `dtype`, as `to_number` reads it.
    ///
    /// So `mask(to_number(x, dtype, default=0), is_number(x, dtype))` is missing where a string is none.
    IS_NUMBER: is_number(x; IsNumber { dtype: DType }) = OpDef::general(Class::UnaryElementwise, infer_is_number, run_is_number)
        .examples(&[("is_number([\"12\", \"-3\", \"x\", \"1.5\"], \"i64\")", "[True, True, False, False]"), ("is_number([\"1.5\", \"\", \"1e999\"], \"f32\")", "[True, False, False]")]);

    /// Each number as text, with the fewest digits that read back as it.
    ///
    /// Floats are written as Rust writes them for debugging: `1.0`, `0.1`, `1e16`, `1e-7`; and `nan`, `inf`, `-inf`. Booleans are `true`
    /// and `false`; strings stay.
    /// Errors: bytes, boxed values.
    AS_STRING: as_string(x) = OpDef::general(Class::UnaryElementwise, infer_as_string, run_as_string)
        .examples(&[("as_string([1, -20])", "[\"1\", \"-20\"]"), ("as_string([1.0, 0.5])", "[\"1.0\", \"0.5\"]"), ("as_string([True, False])", "[\"true\", \"false\"]")]);

    /// Each float as text with `precision` digits behind the point, rounded once as C's `printf` does.
    ///
    /// That is `1.50`, or with `scientific` `1.50e+00`; and `nan`, `inf`, `-inf`. `rjust` and `zfill` bring texts to one width. Errors: a precision below 0 or above 400; other dtypes than floats.
    FORMAT_FLOAT: format_float(x; FormatFloat { precision: i64, scientific: bool }) = OpDef::general(Class::UnaryElementwise, infer_format, run_format)
        .instead("`as_string(x)` gives the text of other numbers.")
        .examples(&[("format_float([1.5, -0.125], precision=2)", "[\"1.50\", \"-0.12\"]"), ("format_float([1.5, 12345.0], precision=1, scientific=True)", "[\"1.5e+00\", \"1.2e+04\"]")]);
}

/// Runs `$body` with `$t` as the type of an integer dtype, `$f` with that of a float dtype.
macro_rules! by_dtype {
    ($dtype:expr, $t:ident => $integer:expr, $f:ident => $float:expr, _ => $other:expr) => {
        by_dtype!(@arms $dtype, $t, $integer, $f, $float, $other,
            [I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64], [F16 f16, BF16 bf16, F32 f32, F64 f64])
    };
    (@arms $dtype:expr, $t:ident, $integer:expr, $f:ident, $float:expr, $other:expr, [$($I:ident $i:ty),*], [$($F:ident $g:ty),*]) => {
        match $dtype {
            $(DType::$I => { type $t = $i; $integer })*
            $(DType::$F => { type $f = $g; $float })*
            DType::Bool | DType::String | DType::Bytes | DType::Variant => $other,
        }
    };
}

fn infer_number(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let (shape, ToNumber { dtype, default }) = (string_spec(args)?.shape.clone(), ToNumber::of(attrs)?);
    of_numbers(*dtype)?;
    by_dtype!(*dtype, T => whole::<T>(*default, *dtype).map(drop), F => real::<F>(*default, *dtype).map(drop), _ => Ok(()))?;
    Ok(tensor_spec(*dtype, shape))
}

fn of_numbers(dtype: DType) -> Result<()> {
    if dtype.is_numeric() {
        return Ok(());
    }
    Err(Error::dtype(format!("the dtype is {dtype}")).wanted("a dtype of numbers"))
}

fn infer_is_number(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    of_numbers(IsNumber::of(attrs)?.dtype)?;
    Ok(tensor_spec(DType::Bool, string_spec(args)?.shape.clone()))
}

fn run_is_number(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let x = data(args, 0)?;
    let read =
        |is_read: fn(&str) -> bool| (0..x.len()).map(|i| x.str_at(i).map(is_read)).collect::<Result<Vec<bool>>>();
    let is = by_dtype!(
        IsNumber::of(attrs)?.dtype,
        T => read(|text| text.parse::<T>().is_ok()),
        F => read(|text| read_float::<F>(text).is_some()),
        _ => Err(Error::internal("the dtype is not of numbers"))
    );
    one_tensor(Tensor::bools(x.dims(), &is?)?)
}

fn whole<T: TryFrom<i64>>(default: Option<Number>, dtype: DType) -> Result<Option<T>> {
    let Some(default) = default else { return Ok(None) };
    let number = match default {
        Number::Int(v) => T::try_from(v).ok(),
        Number::Float(_) => None,
    };
    number.map(Some).ok_or_else(|| misfit(default, dtype))
}

fn real<T: Float>(default: Option<Number>, dtype: DType) -> Result<Option<T>> {
    let Some(default) = default else { return Ok(None) };
    // Through its text a number is rounded once.
    let number = match default {
        Number::Int(v) => T::parse(&v.to_string()),
        Number::Float(v) if v.is_finite() => T::parse(&format!("{v:?}")),
        Number::Float(v) => Some(T::exact(v)),
    };
    number.map(Some).ok_or_else(|| misfit(default, dtype))
}

fn misfit(default: Number, dtype: DType) -> Error {
    let text = match default {
        Number::Int(v) => v.to_string(),
        Number::Float(v) => format!("{v:?}"),
    };
    Error::value(format!("the default is {text}")).wanted(format!("a number that {dtype} holds"))
}

fn run_number(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, ToNumber { dtype, default }) = (data(args, 0)?, ToNumber::of(attrs)?);
    by_dtype!(
        *dtype,
        T => numbers::<T>(x, whole(*default, *dtype)?, |text| text.parse().ok()),
        F => numbers::<F>(x, real(*default, *dtype)?, read_float),
        _ => Err(Error::internal("the dtype is not of numbers"))
    )
}

/// The float that a text is; digits alone cannot say an infinity.
fn read_float<T: Float>(text: &str) -> Option<T> {
    if text.bytes().any(|byte| byte.is_ascii_digit()) {
        return T::parse(text);
    }
    text.parse().ok().map(T::exact)
}

fn numbers<T: Element>(x: &Dense, default: Option<T>, read: fn(&str) -> Option<T>) -> Result<Outputs> {
    let number = |i: usize| {
        let text = x.str_at(i)?;
        read(text).or(default).ok_or_else(|| no_number(text, T::DTYPE, i, x.dims()))
    };
    let numbers: Result<Vec<T>> = (0..x.len()).map(number).collect();
    one_tensor(Tensor::new(x.dims(), &numbers?)?)
}

fn no_number(text: &str, dtype: DType, i: usize, dims: &[usize]) -> Error {
    let more = if text.chars().nth(SHOWN).is_some() { "..." } else { "" };
    let shown: String = text.chars().take(SHOWN).collect();
    Error::value(format!("{shown:?}{more} is no number of {dtype}, at position {:?}", position(i, dims)))
        .wanted(format!("the text of a number that {dtype} holds"))
        .hint("Or give a `default`. `is_number` says which they are.")
}

fn infer_as_string(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let spec = spec_of(args, 0)?;
    match spec.dtype {
        DType::Bytes | DType::Variant => {
            Err(Error::dtype(format!("the op does not take {}", spec.dtype)).wanted("numbers, booleans or strings"))
        }
        _ => Ok(tensor_spec(DType::String, spec.shape.clone())),
    }
}

fn run_as_string(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let x = data(args, 0)?;
    if x.dtype().kind() == DTypeKind::Text {
        return one_tensor(args[0].tensor()?.clone());
    }
    written(x, |i, text| write_number(x, i, text))
}

/// A text for each element.
fn written(x: &Dense, write: impl Fn(usize, &mut Vec<u8>) -> Result<()> + Sync) -> Result<Outputs> {
    let texts = in_parts(x.len(), |mut items, out| {
        let mut text = Vec::new();
        items.try_for_each(|i| {
            text.clear();
            write(i, &mut text)?;
            out.push(&text)
        })
    })?;
    one_tensor(texts.finish(DType::String, x.dims())?)
}

/// More digits than any float has in front of them.
const MOST_DIGITS: i64 = 400;

fn infer_format(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let (spec, precision) = (spec_of(args, 0)?, FormatFloat::of(attrs)?.precision);
    if !spec.dtype.is_float() {
        return Err(Error::dtype(format!("the op does not take {}", spec.dtype)).wanted("floats"));
    }
    if !(0..=MOST_DIGITS).contains(&precision) {
        return Err(Error::value(format!("the precision is {precision}")).wanted(format!("from 0 to {MOST_DIGITS}")));
    }
    Ok(tensor_spec(DType::String, spec.shape.clone()))
}

fn run_format(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, FormatFloat { precision, scientific }) = (data(args, 0)?, FormatFloat::of(attrs)?);
    let digits = usize::try_from(*precision).unwrap_or(0);
    written(x, |i, text| {
        let number = match x.dtype() {
            DType::F16 => x.as_slice::<f16>()?[i].to_f64(),
            DType::BF16 => x.as_slice::<bf16>()?[i].to_f64(),
            DType::F32 => f64::from(x.as_slice::<f32>()?[i]),
            _ => x.as_slice::<f64>()?[i],
        };
        match (number.is_finite(), *scientific) {
            (false, _) => write_float(number, text),
            (true, false) => write_shown(format_args!("{number:.digits$}"), text),
            (true, true) => write_scientific(&format!("{number:.digits$e}"), text),
        }
        Ok(())
    })
}

/// A number as Rust writes it, with a sign and two digits of the exponent at least.
fn write_scientific(shown: &str, out: &mut Vec<u8>) {
    let (digits, exponent) = shown.split_once('e').unwrap_or((shown, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
    write_shown(format_args!("{digits}e{sign}{exponent:0>2}"), out);
}

/// Appends the text of element `i`, a number or a boolean.
///
/// Errors: another dtype.
pub(crate) fn write_number(x: &Dense, i: usize, out: &mut Vec<u8>) -> Result<()> {
    if let Storage::Bits(bits) = x.storage() {
        out.extend_from_slice(if bits.value(i) { b"true" } else { b"false" });
        return Ok(());
    }
    by_dtype!(
        x.dtype(),
        T => write_shown(x.as_slice::<T>()?[i], out),
        F => write_float(x.as_slice::<F>()?[i], out),
        _ => return Err(Error::dtype(format!("found {}", x.dtype())).wanted("numbers"))
    );
    Ok(())
}

fn write_shown(number: impl Display, out: &mut Vec<u8>) {
    use std::io::Write;
    // Writing to a vector does not fail.
    let _ = write!(out, "{number}");
}

fn write_float<T: Float>(number: T, out: &mut Vec<u8>) {
    match number.wide() {
        v if v.is_nan() => out.extend_from_slice(b"nan"),
        v if v.is_infinite() => out.extend_from_slice(if v > 0.0 { b"inf" } else { b"-inf" }),
        _ => number.write(out),
    }
}
