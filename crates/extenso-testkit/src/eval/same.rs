//! Whether two values are the same: everything that a user can see, and nothing else.
//!
//! What lies under a missing value, values outside every row, and the width of offsets do not count. All NaNs are one.

use extenso_core::{Dense, ExtensionType, RowPartition, Storage, Tensor, Value, ops};
use extenso_ext::{MaskedTensor, RaggedTensor, to_literal};
use extenso_types::{DType, Error, Result};
use half::{bf16, f16};

/// How close floats must be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Closeness {
    /// Bit for bit.
    Bits,
    /// Within 4 units in the last place or 1e-6 of the wanted value, whichever is more.
    Near,
}

/// What differs between a value and the wanted one; none if they are the same.
///
/// Errors: a symbol; a type that cannot be taken apart.
pub fn difference(got: &Value, want: &Value, closeness: Closeness) -> Result<Option<String>> {
    match (got, want) {
        (Value::Tensor(a), Value::Tensor(b)) => tensors(a, b, closeness),
        (Value::Partition(a), Value::Partition(b)) => partitions(a, b),
        (Value::Ext(a), Value::Ext(b)) if a.def() == b.def() => extensions(got, want, closeness),
        _ => Ok(Some(format!("the type is {got:?}, wanted {want:?}"))),
    }
}

/// The value as text: its literal and its spec.
pub fn show(value: &Value) -> String {
    let spec = value.spec().map_or_else(|e| e.to_string(), |spec| spec.to_string());
    match to_literal(value) {
        Ok(literal) => format!("{literal}: {spec}"),
        Err(_) => format!("{value:?}"),
    }
}

fn partitions(a: &RowPartition, b: &RowPartition) -> Result<Option<String>> {
    let lengths = |p: &RowPartition| Ok::<_, Error>(p.data()?.lengths().collect::<Vec<_>>());
    let (a, b) = (lengths(a)?, lengths(b)?);
    Ok((a != b).then(|| format!("the rows have lengths {a:?}, wanted {b:?}")))
}

fn extensions(got: &Value, want: &Value, closeness: Closeness) -> Result<Option<String>> {
    if let (Ok(a), Ok(b)) = (RaggedTensor::from_value(got), RaggedTensor::from_value(want)) {
        let (a, b) = (a.compact()?, b.compact()?);
        return match partitions(a.partition(), b.partition())? {
            None => difference(a.values(), b.values(), closeness),
            differs => Ok(differs),
        };
    }
    if let (Ok(a), Ok(b)) = (MaskedTensor::from_value(got), MaskedTensor::from_value(want)) {
        return masked(&a, &b, closeness);
    }
    let (a, b) = (got.ext()?, want.ext()?);
    let (spec, wanted) = (a.spec()?, b.spec()?);
    let frame = |spec: &extenso_types::ExtSpec| {
        (spec.static_data.clone(), spec.components.iter().map(|(segment, _)| segment.clone()).collect::<Vec<_>>())
    };
    if frame(&spec) != frame(&wanted) {
        return Ok(Some(format!("the type is {spec}, wanted {wanted}")));
    }
    for ((x, y), (segment, _)) in a.components()?.iter().zip(&b.components()?).zip(&spec.components) {
        if let Some(differs) = difference(x, y, closeness)? {
            return Ok(Some(format!("component {segment:?}: {differs}")));
        }
    }
    Ok(None)
}

fn masked(a: &MaskedTensor, b: &MaskedTensor, closeness: Closeness) -> Result<Option<String>> {
    if let Some(differs) = tensors(a.mask(), b.mask(), Closeness::Bits)? {
        return Ok(Some(format!("mask: {differs}")));
    }
    difference(&present(a)?, &present(b)?, closeness)
}

/// The values that are there, as a list; a value that is uniform where the mask is keeps its sizes behind the mask's.
fn present(x: &MaskedTensor) -> Result<Value> {
    let mask = x.mask().data()?;
    let places: Vec<i64> = (0_i64..).zip(mask.bits()?).filter_map(|(i, there)| there.then_some(i)).collect();
    let values = match (x.values(), mask.dims().len()) {
        (values, 1) => values.clone(),
        (Value::Tensor(t), rank) => {
            let inner = t.data()?.dims()[rank..].iter().copied();
            t.with_dims(&std::iter::once(mask.len()).chain(inner).collect::<Vec<_>>())?.into()
        }
        (Value::Partition(_) | Value::Ext(_), rank) => {
            return Err(Error::shape(format!("a mask of rank {rank} over a type is not compared")));
        }
    };
    ops::take(values, Tensor::from_vec(places), 0)
}

fn tensors(a: &Tensor, b: &Tensor, closeness: Closeness) -> Result<Option<String>> {
    let (x, y) = (a.data()?, b.data()?);
    if (x.dtype(), x.dims()) != (y.dtype(), y.dims()) {
        return Ok(Some(format!("the tensor is {}, wanted {}", a.spec(), b.spec())));
    }
    for i in 0..x.len() {
        if let Some(differs) = elements(x, y, i, closeness)? {
            return Ok(Some(format!("element {i} is {differs}")));
        }
    }
    Ok(None)
}

fn elements(x: &Dense, y: &Dense, i: usize, closeness: Closeness) -> Result<Option<String>> {
    macro_rules! at {
        ($t:ty) => {
            (x.as_slice::<$t>()?[i], y.as_slice::<$t>()?[i])
        };
    }
    macro_rules! ints {
        ($t:ty) => {{
            let (a, b) = at!($t);
            (a != b).then(|| format!("{a}, wanted {b}"))
        }};
    }
    macro_rules! floats {
        ($t:ty) => {{
            let (a, b) = at!($t);
            let same = a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
            let near = || closeness == Closeness::Near && is_near(f64::from(a), f64::from(b), f64::from(<$t>::EPSILON));
            (!same && !near()).then(|| format!("{a:?}, wanted {b:?}"))
        }};
    }
    Ok(match x.dtype() {
        DType::Bool => {
            let (a, b) = (x.bits()?.value(i), y.bits()?.value(i));
            (a != b).then(|| format!("{a}, wanted {b}"))
        }
        DType::I8 => ints!(i8),
        DType::I16 => ints!(i16),
        DType::I32 => ints!(i32),
        DType::I64 => ints!(i64),
        DType::U8 => ints!(u8),
        DType::U16 => ints!(u16),
        DType::U32 => ints!(u32),
        DType::U64 => ints!(u64),
        DType::F16 => floats!(f16),
        DType::BF16 => floats!(bf16),
        DType::F32 => floats!(f32),
        DType::F64 => floats!(f64),
        DType::String | DType::Bytes => {
            let (a, b) = (x.text_at(i)?, y.text_at(i)?);
            (a != b).then(|| format!("\"{}\", wanted \"{}\"", a.escape_ascii(), b.escape_ascii()))
        }
        DType::Variant => match (x.storage(), y.storage()) {
            (Storage::Boxed(a), Storage::Boxed(b)) => difference(&a[i], &b[i], closeness)?,
            _ => Some("not boxed".to_string()),
        },
    })
}

fn is_near(a: f64, b: f64, epsilon: f64) -> bool {
    let unit = if b == 0.0 { 0.0 } else { b.abs().log2().floor().exp2() * epsilon };
    a.is_finite() && b.is_finite() && (a - b).abs() <= (4.0 * unit).max(1e-6 * b.abs())
}
