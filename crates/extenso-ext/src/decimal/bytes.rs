//! Ops on the bytes of decimals: sums, integers and text. They are traced like any other, and check the digits where there are data.
//!
//! Invariant: cells are u8 with 16 or 32 in the last axis, little-endian integers; no digit is lost.

use super::{MOST, integers, narrow, power, shown};
use crate::written::{each, strings};
use arrow_buffer::i256;
use extenso_core::attrs::{AttrSet, Attrs};
use extenso_core::{Class, Dense, OpDef, OutputSpecs, Outputs, Tensor, Value, ops};
use extenso_types::{DType, Dim, Error, LeafSpec, Result, Shape, TensorSpec};
use std::cmp::Ordering;

extenso_core::attrs! {
    /// How many digits a sum may have, and whether it is a difference.
    pub struct DecimalSum { precision: i64, subtract: bool = false }

    /// How many digits stand behind the point.
    pub struct DecimalScale { scale: i64 }

    /// How many digits stand behind the point, and which integers are made.
    pub struct DecimalIntegers { scale: i64, dtype: DType = DType::I64 }

    /// How many digits stand behind the point, and which floats are made, f32 or f64.
    pub struct DecimalFloats { scale: i64, dtype: DType = DType::F64 }
}

/// The sums, or differences, of decimals of one scale.
///
/// Errors: bytes of another width or number; a result of more digits than the precision.
pub static DECIMAL_SUM: OpDef = OpDef::general(Class::Structural, infer_sum, run_sum).part().named(
    "decimal_sum",
    "The sums, or differences, of decimals of one scale, as their bytes.\n",
    &["x", "y"],
    DecimalSum::DEF,
);

/// The integer of each decimal without what stands behind the point; beyond the dtype, its last one.
pub static DECIMAL_INTEGERS: OpDef = OpDef::general(Class::Structural, infer_integers, run_integers).part().named(
    "decimal_integers",
    "The integer of each decimal, of which the bytes are given, without what stands behind the point.\n",
    &["x"],
    DecimalIntegers::DEF,
);

/// The float that is nearest to each decimal.
///
/// Errors: other dtypes than f32 and f64.
pub static DECIMAL_FLOATS: OpDef = OpDef::general(Class::Structural, infer_floats, run_floats).part().named(
    "decimal_floats",
    "The float that is nearest to each decimal, of which the bytes are given.\n",
    &["x"],
    DecimalFloats::DEF,
);

/// The text of each decimal, exact.
pub static DECIMAL_TEXTS: OpDef = OpDef::general(Class::Structural, infer_texts, run_texts).part().named(
    "decimal_texts",
    "The text of each decimal, of which the bytes are given.\n",
    &["x"],
    DecimalScale::DEF,
);

/// The spec of cells, and the axes before their bytes.
///
/// Errors: no bytes, or of another width.
pub(super) fn cells(arg: &LeafSpec) -> Result<(&TensorSpec, &[Dim])> {
    let spec = arg.tensor()?;
    let odd = || Error::dtype(format!("the cells are {spec}")).wanted("u8 with 16 or 32 in the last axis");
    let Some([outer @ .., width]) = spec.shape.dims() else { return Err(odd()) };
    let fits = spec.dtype == DType::U8 && matches!(width.known(), Some(16 | 32));
    if fits { Ok((spec, outer)) } else { Err(odd()) }
}

fn within(digits: i64, least: i64, name: &str) -> Result<()> {
    if (least..=MOST).contains(&digits) {
        return Ok(());
    }
    Err(Error::value(format!("found {digits}")).wanted(format!("from {least} to {MOST} digits")).at(name.to_string()))
}

fn infer_sum(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let DecimalSum { precision, .. } = DecimalSum::of(attrs)?;
    within(*precision, 1, "precision")?;
    let [x, y] = args else { return Err(Error::value(format!("{} arguments are given", args.len())).wanted("two")) };
    let ((x, _), (y, _)) = (cells(x)?, cells(y)?);
    if !x.shape.is_compatible_with(&y.shape) {
        return Err(Error::shape(format!("decimals of {} stand beside {}", y.shape, x.shape)).wanted("as many"));
    }
    Ok(OutputSpecs::from_iter([args[0].clone()]))
}

fn run_sum(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let DecimalSum { precision, subtract } = DecimalSum::of(attrs)?;
    let (x, y) = (args[0].tensor()?.data()?, args[1].tensor()?.data()?);
    if x.dims() != y.dims() {
        let what = format!("decimals of shape {:?} stand beside {:?}", y.dims(), x.dims());
        return Err(Error::shape(what).wanted("as many"));
    }
    let width = x.dims().last().copied().unwrap_or(16);
    if let (Some(a), Some(b)) = (narrow::cells_of(x)?, narrow::cells_of(y)?) {
        let sum = |i: usize| {
            let (a, b) = (i128::from_le_bytes(a[i]), i128::from_le_bytes(b[i]));
            if *subtract { a.checked_sub(b) } else { a.checked_add(b) }
        };
        if let Some(made) = narrow::made(&x.dims()[..x.dims().len() - 1], *precision, sum)? {
            return Ok(made);
        }
    }
    let most = power(*precision).unwrap_or(i256::MAX);
    let mut bytes = Vec::with_capacity(x.len());
    for (i, (a, b)) in integers(x)?.zip(integers(y)?).enumerate() {
        let sum = if *subtract { a.checked_sub(b) } else { a.checked_add(b) };
        let sum = sum.filter(|v| *v < most && *v > most.wrapping_neg()).ok_or_else(|| {
            Error::value(format!("element {i} has more digits than {precision}"))
                .wanted("a result that fits the precision")
        })?;
        bytes.extend_from_slice(&sum.to_le_bytes()[..width]);
    }
    Ok(Outputs::from_iter([Tensor::new::<u8>(x.dims(), &bytes)?.into()]))
}

/// Tensors of this dtype with the axes of the decimals.
fn infer_as(args: &[LeafSpec], scale: i64, dtype: DType) -> Result<OutputSpecs> {
    within(scale, -MOST, "scale")?;
    let [x] = args else { return Err(Error::value(format!("{} arguments are given", args.len())).wanted("one")) };
    let (_, outer) = cells(x)?;
    Ok(OutputSpecs::from_iter([LeafSpec::Tensor(TensorSpec::new(dtype, Shape::new(outer.iter().copied())))]))
}

/// The axes of decimals, and their integers.
fn elements(args: &[Value]) -> Result<(Vec<usize>, impl Iterator<Item = i256> + '_)> {
    let x = args[0].tensor()?.data()?;
    Ok((x.dims().split_last().map(|(_, outer)| outer.to_vec()).unwrap_or_default(), integers(x)?))
}

fn infer_integers(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let DecimalIntegers { scale, dtype } = DecimalIntegers::of(attrs)?;
    if !dtype.is_integer() {
        return Err(Error::dtype(format!("found {dtype}")).wanted("integers").at("dtype"));
    }
    infer_as(args, *scale, *dtype)
}

fn run_integers(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let DecimalIntegers { scale, dtype } = DecimalIntegers::of(attrs)?;
    let (dims, elements) = elements(args)?;
    let x = args[0].tensor()?.data()?;
    let by = if *scale >= 0 { narrow::power_of_ten(*scale) } else { None };
    if let (Some(cells), Some(by)) = (narrow::cells_of(x)?, by) {
        macro_rules! by_dtype {
            ($($D:ident $t:ty),*) => {
                match dtype {
                    $(DType::$D => each(cells.len(), |i| {
                        let (whole, _) = narrow::divided(i128::from_le_bytes(cells[i]), by)?;
                        <$t>::try_from(whole.clamp(<$t>::MIN.into(), <$t>::MAX.into())).ok()
                    }).map(Tensor::from_vec),)*
                    _ => None,
                }
            };
        }
        if let Some(made) = by_dtype!(I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64) {
            return Ok(Outputs::from_iter([made.with_dims(&dims)?.into()]));
        }
    }
    // No number has as many digits as a power that is too large.
    let power = power(scale.abs());
    let whole = elements.map(|v| match power {
        Some(power) if *scale >= 0 => v.wrapping_div(power),
        None if *scale >= 0 => i256::ZERO,
        _ => power.and_then(|power| v.checked_mul(power)).unwrap_or(match v.cmp(&i256::ZERO) {
            Ordering::Less => i256::MIN,
            Ordering::Equal => v,
            Ordering::Greater => i256::MAX,
        }),
    });
    macro_rules! by_dtype {
        ($($D:ident $t:ty),*) => {
            match dtype {
                $(DType::$D => {
                    let (least, most) = (i256::from_i128(<$t>::MIN.into()), i256::from_i128(<$t>::MAX.into()));
                    let near = |v: i256| v.clamp(least, most).to_i128().and_then(|v| <$t>::try_from(v).ok());
                    Tensor::new::<$t>(&dims, &whole.map(|v| near(v).unwrap_or_default()).collect::<Vec<_>>())?
                })*
                other => return Err(Error::dtype(format!("found {other}")).wanted("integers").at("dtype")),
            }
        };
    }
    let made = by_dtype!(I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64);
    Ok(Outputs::from_iter([made.into()]))
}

fn infer_floats(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let DecimalFloats { scale, dtype } = DecimalFloats::of(attrs)?;
    if !matches!(dtype, DType::F32 | DType::F64) {
        return Err(Error::dtype(format!("found {dtype}")).wanted("f32 or f64").at("dtype"));
    }
    infer_as(args, *scale, *dtype)
}

/// Of an integer that is no float, or of many digits behind the point, the text is exact, and its parser rounds once.
fn run_floats(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let DecimalFloats { scale, dtype } = DecimalFloats::of(attrs)?;
    let x = args[0].tensor()?.data()?;
    let power = u64::try_from(*scale).ok().and_then(narrow::float_power);
    macro_rules! nearest {
        ($t:ty, $quick:path) => {
            match narrow::cells_of(x)? {
                None => None,
                Some(cells) => each(cells.len(), |i| {
                    let value = i128::from_le_bytes(cells[i]);
                    let read = || {
                        let mut text = Vec::new();
                        narrow::write(value, *scale, &mut text);
                        str::from_utf8(&text).ok()?.parse::<$t>().ok().filter(|v| v.is_finite())
                    };
                    power.and_then(|power| $quick(value, power)).or_else(read)
                })
                .map(Tensor::from_vec),
            }
        };
    }
    let made = match dtype {
        DType::F32 => nearest!(f32, narrow::float_32),
        _ => nearest!(f64, narrow::float),
    };
    let made = match made {
        Some(made) => made.with_dims(&x.dims()[..x.dims().len() - 1])?.into(),
        None => ops::to_number(text_of(x, *scale)?, *dtype, None)?,
    };
    Ok(Outputs::from_iter([made]))
}

fn infer_texts(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    infer_as(args, DecimalScale::of(attrs)?.scale, DType::String)
}

fn run_texts(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let text = text_of(args[0].tensor()?.data()?, DecimalScale::of(attrs)?.scale)?;
    Ok(Outputs::from_iter([text.into()]))
}

/// The texts of decimals.
fn text_of(x: &Dense, scale: i64) -> Result<Tensor> {
    let outer = x.dims().split_last().map(|(_, outer)| outer).unwrap_or_default();
    if let Some(cells) = narrow::cells_of(x)? {
        let write = |i: usize, out: &mut Vec<u8>| {
            narrow::write(i128::from_le_bytes(cells[i]), scale, out);
            Some(())
        };
        if let Some(texts) = strings(outer, write)? {
            return Ok(texts);
        }
    }
    let texts: Vec<String> = integers(x)?.map(|v| shown(v, scale)).collect();
    Tensor::strings(outer, &texts)
}
