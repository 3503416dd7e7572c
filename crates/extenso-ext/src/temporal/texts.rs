//! Times as text and text as times, in ops: they are traced like any other.
//!
//! Invariant: a text that was made of a time reads as it; one that is not exactly a time of the unit is an error.

use super::pattern::Pattern;
use super::{DateTensor, DurationTensor, TimeTensor, TimestampTensor};
use crate::args::{answer, flat, typed};
use crate::meaning::unread::infer_is_read;
use crate::spelling::Spelling;
use crate::written::{each, strings};
use extenso_core::attrs::{AttrSet, Attrs};
use extenso_core::{Answer, Arg, Call, Class, OpDef, OutputSpecs, Outputs, Tensor, Value, call_one, ops};
use extenso_types::{DType, Error, LeafSpec, Result, TensorSpec};

extenso_core::attrs! {
    /// Which times a text spells (`timestamp`, `date`, `time` or `duration`), in which unit, the zone of timestamps, and the format if it is
    /// another than that of RFC 3339 and ISO 8601.
    pub struct TimeText { of: String, unit: String, zone: Option<String> = None, format: Option<String> = None }
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

/// Whether each text spells a time, so that `time_parse` reads it.
pub static TIME_IS_TEXT: OpDef = OpDef::general(Class::Structural, infer_is_text, run_is_text).part().named(
    "time_is_text",
    "Whether each text is exactly a time of the unit.\n",
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

pub(super) fn form(of: &str, unit: &str, zone: Option<&str>, format: Option<&str>) -> TimeText {
    TimeText { of: of.into(), unit: unit.into(), zone: zone.map(Into::into), format: format.map(Into::into) }
}

/// A text of the form that is read.
pub(super) fn some_text(form: &TimeText) -> Result<String> {
    Ok(match pattern(form)? {
        Some(pattern) => pattern.example().unwrap_or_default(),
        None => spelling(form)?.show(&[0; 8]),
    })
}

/// The counts of the times that texts spell, in the dtype of their type.
pub(super) fn parsed(texts: &Value, form: &TimeText) -> Result<Tensor> {
    call_one(&TIME_PARSE, &[Arg::from(texts)], form)?.tensor().cloned()
}

/// The text of each time, in a format or in that of RFC 3339 and ISO 8601; none of another type.
pub(super) fn shown(x: &Value, format: Option<&str>) -> Result<Option<Value>> {
    let Some((counts, form)) = counted(x, format) else { return Ok(None) };
    call_one(&TIME_TEXTS, &[Arg::from(&counts)], &form).map(Some)
}

/// `as_string` spells times as `to_literal` shows them.
pub(super) fn as_string(call: &Call<'_>) -> Answer {
    let [Arg::Value(x)] = flat(call) else { return Ok(None) };
    shown(x, None)?.map_or(Ok(None), answer)
}

/// The counts of times, and how they are written.
pub(super) fn counted(x: &Value, format: Option<&str>) -> Option<(Tensor, TimeText)> {
    if let Some(x) = typed::<TimestampTensor>(x) {
        Some((x.values().clone(), form("timestamp", x.unit(), x.zone(), format)))
    } else if let Some(x) = typed::<DateTensor>(x) {
        Some((x.values().clone(), form("date", x.unit(), None, format)))
    } else if let Some(x) = typed::<TimeTensor>(x) {
        Some((x.values().clone(), form("time", x.unit(), None, format)))
    } else {
        let x = typed::<DurationTensor>(x)?;
        Some((x.values().clone(), form("duration", x.unit(), None, format)))
    }
}

fn spelling(attrs: &dyn AttrSet) -> Result<Spelling> {
    let TimeText { of, unit, zone, .. } = TimeText::of(attrs)?;
    Spelling::of_times(of, unit, zone.as_deref())
}

/// The pattern of the format that is given.
fn pattern(attrs: &dyn AttrSet) -> Result<Option<Pattern>> {
    let TimeText { of, unit, zone, format } = TimeText::of(attrs)?;
    format.as_ref().map(|format| Pattern::new(format, of, unit, zone.as_deref())).transpose()
}

/// The spec of the only argument, which has this dtype, in another one.
pub(super) fn infer_as(args: &[LeafSpec], from: DType, to: DType) -> Result<OutputSpecs> {
    let [x] = args else { return Err(Error::value(format!("{} arguments are given", args.len())).wanted("one")) };
    let x = x.tensor()?;
    if x.dtype != from {
        return Err(Error::dtype(format!("found {}", x.dtype)).wanted(from.name()));
    }
    Ok(OutputSpecs::from_iter([LeafSpec::Tensor(TensorSpec::new(to, x.shape.clone()))]))
}

fn infer_parse(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    infer_as(args, DType::String, Reader::of(attrs)?.spelling.dtype())
}

fn infer_is_text(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    Reader::of(attrs)?;
    infer_is_read(args)
}

fn infer_texts(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    pattern(attrs)?;
    infer_as(args, spelling(attrs)?.dtype(), DType::String)
}

/// Reads texts as counts.
struct Reader {
    spelling: Spelling,
    pattern: Option<Pattern>,
}

impl Reader {
    fn of(attrs: &dyn AttrSet) -> Result<Reader> {
        let reader = Reader { spelling: spelling(attrs)?, pattern: pattern(attrs)? };
        if reader.pattern.as_ref().is_none_or(|pattern| pattern.example().is_some()) {
            return Ok(reader);
        }
        let TimeText { of, format, .. } = TimeText::of(attrs)?;
        let what = format!("'{}' does not say which {of} it is", format.as_deref().unwrap_or_default());
        let wanted = match &**of {
            "time" => "directives of the hour and the minute, and of twelve hours `%p`",
            _ => "directives of the whole day, and of twelve hours `%p`",
        };
        Err(Error::value(what).wanted(wanted).at("format"))
    }

    fn is_narrow(&self) -> bool {
        self.spelling.dtype() == DType::I32
    }

    fn count(&self, text: &str) -> Option<i64> {
        let Some(pattern) = &self.pattern else { return self.spelling.count(text) };
        let count = i64::try_from(pattern.parse(text)?).ok()?;
        (!self.is_narrow() || i32::try_from(count).is_ok()).then_some(count)
    }

    fn wanted(&self) -> String {
        self.pattern.as_ref().map_or_else(|| self.spelling.wanted(), Pattern::wanted)
    }
}

fn run_parse(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (dense, reader) = (args[0].tensor()?.data()?, Reader::of(attrs)?);
    let count = |i: usize| {
        let text = dense.str_at(i)?;
        reader.count(text).ok_or_else(|| {
            let shown: String = text.chars().take(100).collect();
            Error::value(format!("element {i} is '{shown}'")).wanted(reader.wanted())
        })
    };
    let counts = match each(dense.len(), |i| reader.count(dense.str_at(i).ok()?)) {
        Some(counts) => counts,
        None => (0..dense.len()).map(count).collect::<Result<Vec<i64>>>()?,
    };
    let tensor = match reader.is_narrow() {
        true => Tensor::from_vec(counts.into_iter().map(|count| count as i32).collect()),
        false => Tensor::from_vec(counts),
    };
    Ok(Outputs::from_iter([tensor.with_dims(dense.dims())?.into()]))
}

fn run_is_text(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (dense, reader) = (args[0].tensor()?.data()?, Reader::of(attrs)?);
    let is_text = |i: usize| Some(reader.count(dense.str_at(i).ok()?).is_some());
    let is = each(dense.len(), is_text).ok_or_else(|| Error::internal("an element is no text"))?;
    Ok(Outputs::from_iter([Tensor::bools(dense.dims(), &is)?.into()]))
}

fn run_texts(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, spelling, pattern) = (args[0].tensor()?, spelling(attrs)?, pattern(attrs)?);
    let (dims, wide) = (x.data()?.dims(), ops::cast(x, DType::I64)?);
    let counts = wide.tensor()?.as_slice::<i64>()?;
    let write = |i: usize, out: &mut Vec<u8>| {
        match &pattern {
            Some(pattern) => out.extend_from_slice(pattern.show(counts[i])?.as_bytes()),
            None => spelling.write_count(counts[i], out),
        }
        Some(())
    };
    if let Some(texts) = strings(dims, write)? {
        return Ok(Outputs::from_iter([texts.into()]));
    }
    let beyond = |pattern: &Pattern| counts.iter().enumerate().find(|(_, count)| pattern.show(**count).is_none());
    let Some((pattern, (i, count))) = pattern.as_ref().and_then(|pattern| Some((pattern, beyond(pattern)?))) else {
        return Err(Error::internal("a time has no text"));
    };
    Err(Error::value(format!("element {i} counts {count}, and is in no year that '{}' writes", pattern.format))
        .wanted("a time within 262 thousand years of the present"))
}
