//! Times as text and text as times, in ops: they are traced like any other.
//!
//! Invariant: a text that was made of a time reads as it; one that is not exactly a time of the unit is an error.

use super::{DateTensor, DurationTensor, TimeTensor, TimestampTensor};
use crate::args::{answer, flat, typed_arg};
use crate::spelling::Spelling;
use extenso_core::attrs::{AttrSet, Attrs};
use extenso_core::{Answer, Arg, Call, Class, OpDef, OutputSpecs, Outputs, Tensor, Value, call_one};
use extenso_types::{DType, Error, LeafSpec, Result, TensorSpec};

extenso_core::attrs! {
    /// Which times a text spells (`timestamp`, `date`, `time` or `duration`), in which unit, and the zone of timestamps.
    pub struct TimeText { of: String, unit: String, zone: Option<String> = None }
}

/// The counts of the times that texts spell.
///
/// Errors: a text that is not exactly a time of the unit, with its position.
pub static TIME_PARSE: OpDef = OpDef::general(Class::Structural, infer_parse, run_parse).part().named(
    "time_parse",
    "The times that texts spell, as counts of a unit.\n",
    &["x"],
    TimeText::DEF,
);

/// The text of each time.
pub static TIME_TEXTS: OpDef = OpDef::general(Class::Structural, infer_texts, run_texts).part().named(
    "time_texts",
    "The text of each time, of which the count of a unit is given.\n",
    &["x"],
    TimeText::DEF,
);

/// The counts of the times that texts spell, in the dtype of their type.
pub(super) fn parsed(texts: &Value, of: &str, unit: &str, zone: Option<&str>) -> Result<Tensor> {
    let form = TimeText { of: of.into(), unit: unit.into(), zone: zone.map(Into::into) };
    call_one(&TIME_PARSE, &[Arg::from(texts)], &form)?.tensor().cloned()
}

/// `as_string` spells times as `to_literal` shows them.
pub(super) fn as_string(call: &Call<'_>) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    let form = |of: &str, unit: &str, zone: Option<&str>| TimeText {
        of: of.into(),
        unit: unit.into(),
        zone: zone.map(Into::into),
    };
    let (counts, form) = if let Some(x) = typed_arg::<TimestampTensor>(x) {
        (x.values().clone(), form("timestamp", x.unit(), x.zone()))
    } else if let Some(x) = typed_arg::<DateTensor>(x) {
        (x.values().clone(), form("date", x.unit(), None))
    } else if let Some(x) = typed_arg::<TimeTensor>(x) {
        (x.values().clone(), form("time", x.unit(), None))
    } else if let Some(x) = typed_arg::<DurationTensor>(x) {
        (x.values().clone(), form("duration", x.unit(), None))
    } else {
        return Ok(None);
    };
    answer(call_one(&TIME_TEXTS, &[Arg::from(&counts)], &form)?)
}

fn spelling(attrs: &dyn AttrSet) -> Result<Spelling> {
    let TimeText { of, unit, zone } = TimeText::of(attrs)?;
    Spelling::of_times(of, unit, zone.as_deref())
}

/// The spec of the only argument, which has this dtype, in another one.
fn infer(args: &[LeafSpec], from: DType, to: DType) -> Result<OutputSpecs> {
    let [x] = args else { return Err(Error::value(format!("{} arguments are given", args.len())).wanted("one")) };
    let x = x.tensor()?;
    if x.dtype != from {
        return Err(Error::dtype(format!("found {}", x.dtype)).wanted(from.name()));
    }
    Ok(OutputSpecs::from_iter([LeafSpec::Tensor(TensorSpec::new(to, x.shape.clone()))]))
}

fn infer_parse(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    infer(args, DType::String, spelling(attrs)?.dtype())
}

fn infer_texts(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    infer(args, spelling(attrs)?.dtype(), DType::String)
}

fn run_parse(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (dense, spelling) = (args[0].tensor()?.data()?, spelling(attrs)?);
    let cell = |i: usize| {
        let text = dense.str_at(i)?;
        spelling.parse(text).ok_or_else(|| {
            let shown: String = text.chars().take(100).collect();
            Error::value(format!("element {i} is '{shown}'")).wanted(spelling.wanted())
        })
    };
    let tensor = if spelling.dtype() == DType::I32 {
        let counts: Result<Vec<i32>> = (0..dense.len()).map(|i| Ok(i32::from_le_bytes(first(&cell(i)?)))).collect();
        Tensor::from_vec(counts?)
    } else {
        let counts: Result<Vec<i64>> = (0..dense.len()).map(|i| Ok(i64::from_le_bytes(first(&cell(i)?)))).collect();
        Tensor::from_vec(counts?)
    };
    Ok(Outputs::from_iter([tensor.with_dims(dense.dims())?.into()]))
}

fn first<const N: usize>(cell: &[u8]) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.iter_mut().zip(cell).for_each(|(byte, given)| *byte = *given);
    bytes
}

fn run_texts(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, spelling) = (args[0].tensor()?, spelling(attrs)?);
    let texts: Vec<String> = match spelling.dtype() {
        DType::I32 => x.as_slice::<i32>()?.iter().map(|count| spelling.show(&count.to_le_bytes())).collect(),
        _ => x.as_slice::<i64>()?.iter().map(|count| spelling.show(&count.to_le_bytes())).collect(),
    };
    Ok(Outputs::from_iter([Tensor::strings(x.data()?.dims(), &texts)?.into()]))
}
