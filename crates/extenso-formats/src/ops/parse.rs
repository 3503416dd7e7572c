//! Parsing: texts to the leaves of records.
//!
//! Invariant: what is not needed is not decoded, unless bad rows hold defaults: whether a row fits depends on all of it then.

use super::layout::{Layout, Records, has_lists, packed};
use super::shapes::over;
use super::texts::{Texts, infer_rows};
use crate::assemble::{Pieces, assemble};
use crate::columns::{Bits, Decoded, OnError};
use crate::json;
use crate::looks::Seen;
use crate::parts;
use crate::plan::Plan;
use crate::records::RecordSpec;
use arrow_buffer::{BooleanBuffer, Buffer};
use extenso_core::attrs::{AttrSet, Attrs};
use extenso_core::{Class, Fact, OpDef, OutputSpecs, Outputs, Tensor, Value, call};
use extenso_types::{DType, Error, LeafSpec, Nest, Result, Shape, Spec, TensorSpec};
use std::ops::Range;
use std::sync::Arc;

extenso_core::attrs! {
    /// The attributes of `parse_json`: the spec of a batch of records, which of its leaves are given (and last, which rows hold defaults),
    /// and what becomes of a bad row.
    pub struct ParseJson { spec: Records<Parser>, needed: Option<Vec<i64>> = None, on_error: String = "raise".to_string() }
}

/// The leaves of the records that a vector of JSON texts holds, and which rows hold defaults.
///
/// The second argument says which texts are there; the others give defaults. Errors: a text that is no record of the spec, with row,
/// byte and path.
pub static PARSE_JSON: OpDef =
    OpDef::general(Class::Structural, infer_json, run_json).narrow(narrow_json).facts(&[Fact::Covers]).named(
        "parse_json",
        "The leaves of the records that a vector of JSON texts holds, and which rows hold defaults.\n",
        &["texts", "there"],
        ParseJson::DEF,
    );

/// What was made of texts.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The records, under the axes of the texts.
    pub value: Value,
    /// Which of them hold defaults because their text did not fit.
    pub bad: Value,
}

/// The record in each JSON text, by the spec of a batch of records.
///
/// The records have the axes of the texts, rows included, and are missing where a text is. A graph decodes the leaves that it uses.
///
/// Errors: a text that does not fit, with row, byte and path, unless `on_error` says otherwise: leaving rows out is not possible here;
/// no texts; a spec that no record can express.
///
/// ```
/// # use extenso_core::Tensor;
/// # use extenso_ext::to_literal;
/// # use extenso_formats::{FieldSpec, OnError, ops::parse_json, struct_spec};
/// # use extenso_types::DType;
/// let spec = struct_spec([("id", FieldSpec::Scalar(DType::I64, vec![]))]).unwrap();
/// let texts = Tensor::strings(&[2], &[r#"{"id": 7}"#, r#"{"id": "eight"}"#]).unwrap();
/// let parsed = parse_json(&texts.clone().into(), &spec, OnError::Default).unwrap();
/// assert_eq!(to_literal(&parsed.value).unwrap().to_string(), r#"[{"id": 7}, {"id": 0}]"#);
/// assert_eq!(parsed.bad.to_string(), "[False, True]");
/// let error = parse_json(&texts.into(), &spec, OnError::Raise).unwrap_err().to_string();
/// assert!(error.starts_with("parse_json: row 1, byte 7, 'id': the string \"eight\" came."), "{error}");
/// ```
pub fn parse_json(x: &Value, spec: &Spec, on_error: OnError) -> Result<Parsed> {
    let attrs = ParseJson { spec: Records::new(spec.clone()), needed: None, on_error: name_of(on_error).to_string() };
    parsed(&PARSE_JSON, x, spec, &attrs)
}

/// An op that parses vectors of texts, on texts of any shape.
pub fn parsed(op: &'static OpDef, x: &Value, spec: &Spec, attrs: &dyn AttrSet) -> Result<Parsed> {
    let all: Value = Tensor::bools(&[], &[true])?.into();
    let of_vector = |texts: &Value, there: Option<&Value>| {
        let mut leaves = call(op, &[texts.into(), there.unwrap_or(&all).into()], attrs)?;
        let bad = leaves.pop().ok_or_else(|| Error::internal("the op gave nothing"))?;
        Ok(vec![packed(spec, leaves.into_iter().collect())?, bad])
    };
    let results = over(x, None, has_lists(spec), &of_vector).map_err(|e| e.at(op.name))?;
    let mut results = results.into_iter();
    match (results.next(), results.next()) {
        (Some(value), Some(bad)) => Ok(Parsed { value, bad }),
        _ => Err(Error::internal("the op gave other results").at(op.name)),
    }
}

/// The name of a policy.
pub fn name_of(on_error: OnError) -> &'static str {
    match on_error {
        OnError::Raise => "raise",
        OnError::Skip => "skip",
        OnError::Default => "default",
    }
}

/// The policy of a name.
///
/// Errors: another name; one that would leave rows out.
pub fn policy(name: &str) -> Result<OnError> {
    match name {
        "raise" => Ok(OnError::Raise),
        "default" => Ok(OnError::Default),
        "skip" => Err(Error::value("rows cannot be left out: each text has its place")
            .wanted("'raise' or 'default'")
            .at("on_error")),
        other => Err(Error::value(format!("found '{other}'")).wanted("'raise' or 'default'").at("on_error")),
    }
}

/// A decoder of texts, each of which is a record.
#[derive(Clone, Debug)]
pub enum Form {
    Json(json::Decoder),
    #[cfg(feature = "proto")]
    Proto(crate::proto::Decoder),
}

impl Form {
    /// No rows yet.
    fn start(&self) -> Result<Decoded> {
        match self {
            Form::Json(decoder) => decoder.start(),
            #[cfg(feature = "proto")]
            Form::Proto(decoder) => decoder.start(),
        }
    }

    /// Adds texts, the first of which is row `first`; a row without one holds defaults.
    fn read(
        &mut self,
        texts: &mut dyn Iterator<Item = Option<&[u8]>>,
        first: usize,
        on_error: OnError,
        out: &mut Decoded,
    ) -> Result<()> {
        match self {
            Form::Json(decoder) => decoder.texts(texts, first, on_error, out),
            #[cfg(feature = "proto")]
            Form::Proto(decoder) => decoder.texts(texts, first, on_error, out),
        }
    }
}

/// A spec made ready for parsing.
#[derive(Debug)]
pub struct Parser {
    layout: Layout,
    records: RecordSpec,
    form: Form,
    on_error: OnError,
    /// For each leaf, and last for which rows hold defaults, whether it is given.
    needed: Vec<bool>,
}

impl Parser {
    /// Makes a spec ready.
    ///
    /// Errors: a spec that no record can express; outputs that do not exist; those of `form`.
    pub fn new(
        spec: &Spec,
        needed: Option<&[i64]>,
        on_error: &str,
        form: impl FnOnce(&Plan) -> Result<Form>,
    ) -> Result<Parser> {
        let (layout, on_error) = (Layout::new(spec)?, policy(on_error)?);
        let needed = marked(needed, layout.len() + 1)?;
        let decoded = match on_error {
            OnError::Default => vec![true; layout.len()],
            OnError::Raise | OnError::Skip => needed[..layout.len()].to_vec(),
        };
        let records = RecordSpec::looked(&Nest::Leaf(spec.clone()), &decoded)?;
        let form = form(records.plan())?;
        Ok(Parser { layout, records, form, on_error, needed })
    }

    /// The specs of the outputs.
    pub fn infer(&self, args: &[LeafSpec]) -> Result<OutputSpecs> {
        let rows = infer_rows(args)?;
        let bad = LeafSpec::Tensor(TensorSpec::new(DType::Bool, Shape::new([rows])));
        let all = self.layout.specs(rows).into_iter().chain([bad]);
        Ok(all.zip(&self.needed).filter(|(_, needed)| **needed).map(|(spec, _)| spec).collect())
    }

    /// The outputs.
    pub fn run(&self, args: &[Value]) -> Result<Outputs> {
        let texts = Texts::of(args)?;
        let read = |form: &mut Form, rows: &Range<usize>, first: usize, out: &mut Decoded| {
            form.read(&mut rows.clone().map(|row| texts.at(row)), first, self.on_error, out)
        };
        let mut out = self.form.start()?;
        match parts::piece(texts.bytes()) {
            Some(size) => {
                let mut at = 0;
                let next = |_| {
                    let rows = texts.piece(at, size);
                    at = rows.end;
                    (!rows.is_empty()).then_some(Ok((rows.start, rows)))
                };
                let about = Pieces { row: 0, on_error: self.on_error, count: texts.bytes() / size };
                out = assemble(about, &self.form, out, next, read)?;
            }
            None => read(&mut self.form.clone(), &(0..texts.len), 0, &mut out)?,
        }
        let Decoded { columns, rows, bad, .. } = out;
        let leaves = self.records.leaves(columns, rows)?;
        let there = texts.there()?;
        let seen = Seen { there: there.as_ref(), ..Seen::default() };
        let (leaves, bad) = self.records.judged(leaves, bad, seen, self.on_error)?;
        let mut outputs = Outputs::with_capacity(self.needed.len());
        for (leaf, needed) in leaves.into_iter().zip(&self.needed) {
            if *needed {
                outputs.push(leaf.ok_or_else(|| Error::internal("a leaf was not decoded"))?);
            }
        }
        if self.needed.last() == Some(&true) {
            outputs.push(flags(bad.defaulted, rows)?.into());
        }
        Ok(outputs)
    }
}

/// One bit for each row; without any, all are false.
fn flags(mut bits: Bits, rows: usize) -> Result<Tensor> {
    bits.push_defaults(rows.saturating_sub(bits.len())).map_err(|_| Error::memory("there is no memory for flags"))?;
    let (bytes, len) = bits.into_parts();
    Tensor::from_bits(&[len], BooleanBuffer::new(Buffer::from_vec(bytes), 0, len))
}

/// Which of `count` outputs are given.
///
/// Errors: places out of order, or outside.
pub fn marked(places: Option<&[i64]>, count: usize) -> Result<Vec<bool>> {
    let Some(places) = places else { return Ok(vec![true; count]) };
    let mut marked = vec![false; count];
    let mut from = 0;
    for place in places {
        let at = usize::try_from(*place).ok().filter(|at| (from..count).contains(at)).ok_or_else(|| {
            Error::value(format!("output {place} is needed"))
                .wanted(format!("places below {count}, in order"))
                .at("needed")
        })?;
        marked[at] = true;
        from = at + 1;
    }
    Ok(marked)
}

/// The places of the outputs that are left of these.
pub fn left(needed: Option<&[i64]>, used: &[bool]) -> Option<Vec<i64>> {
    let places: Vec<i64> = needed.map_or_else(|| (0..).take(used.len()).collect(), <[i64]>::to_vec);
    Some(places.into_iter().zip(used).filter(|(_, used)| **used).map(|(place, _)| place).collect())
}

fn parser(attrs: &dyn AttrSet) -> Result<&Parser> {
    let ParseJson { spec, needed, on_error } = ParseJson::of(attrs)?;
    spec.ready(|spec| Parser::new(spec, needed.as_deref(), on_error, |plan| json::Decoder::new(plan).map(Form::Json)))
}

fn infer_json(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    parser(attrs)?.infer(args)
}

fn run_json(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    parser(attrs)?.run(args)
}

fn narrow_json(attrs: &dyn AttrSet, used: &[bool]) -> Result<Arc<dyn AttrSet>> {
    let ParseJson { spec, needed, on_error } = ParseJson::of(attrs)?;
    let needed = left(needed.as_deref(), used);
    Ok(Arc::new(ParseJson { spec: spec.anew(), needed, on_error: on_error.clone() }))
}
