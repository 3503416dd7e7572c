//! TensorFlow's examples as ops: messages to the leaves of records, and back.

use super::encode::{Writer, encoded};
use super::layout::Records;
use super::parse::{Form, Parsed, Parser, left, name_of, parsed};
use super::texts::Valid;
use crate::columns::ColumnRef;
use crate::project::Wanted;
use crate::proto::{Decoder, Example, ExampleOptions, encode_example_texts};
use extenso_core::attrs::{AttrSet, Attrs};
use extenso_core::{Class, Fact, OpDef, OutputSpecs, Outputs, Value};
use extenso_types::{DType, LeafSpec, Result};
use std::ops::Range;
use std::sync::Arc;

extenso_core::attrs! {
    /// The attributes of `parse_examples`: as for `parse_json`, and whether the messages are sequence examples.
    pub struct ParseExamples {
        spec: Records<Parser>,
        sequence: bool = false,
        needed: Option<Vec<i64>> = None,
        on_error: String = "raise".to_string(),
    }

    /// The attributes of `encode_examples`: the spec of the records, and whether the messages are sequence examples.
    pub struct EncodeExamples { spec: Records<Writer>, sequence: bool = false }
}

/// The leaves of the records that a vector of serialized examples holds, and which rows hold defaults.
///
/// The second argument says which messages are there; the others give defaults. Errors: a message that cannot be read by the spec,
/// with row, byte and path.
pub static PARSE_EXAMPLES: OpDef =
    OpDef::general(Class::Structural, infer_parse, run_parse).narrow(narrow_parse).facts(&[Fact::Covers]).named(
        "parse_examples",
        "The leaves of the records that a vector of serialized examples holds, and which rows hold defaults.\n",
        &["messages", "there"],
        ParseExamples::DEF,
    );

/// The serialized example of each record that these leaves make.
///
/// The first argument says which records are there; the others give empty texts. Errors: leaves of another spec; a number that does not fit, with
/// row and path.
pub static ENCODE_EXAMPLES: OpDef = OpDef::general(Class::Structural, infer_encode, run_encode).variadic().named(
    "encode_examples",
    "The serialized example of each record that these leaves make.\n",
    &["leaves"],
    EncodeExamples::DEF,
);

/// The record in each `tf.train.Example` or `SequenceExample`.
///
/// The records have the axes of the messages, rows included, and are missing where a message is. They are those of
/// [`read_examples`](crate::read_examples). A graph decodes the features that it uses.
///
/// Errors: a message that does not fit, with row, byte and path, unless `on_error` says otherwise: leaving rows out is not possible
/// here; no texts; a spec that examples cannot be read as.
///
/// ```
/// # use extenso_core::Tensor;
/// # use extenso_ext::to_literal;
/// # use extenso_formats::{FieldSpec, OnError, ops::parse_examples, proto::{Example, ExampleOptions}, struct_spec};
/// # use extenso_types::DType;
/// let spec = struct_spec([("age", FieldSpec::Scalar(DType::I64, vec![]))]).unwrap();
/// let options = ExampleOptions { spec, paths: None, example: Example::Plain, on_error: OnError::Raise };
/// let example: &[u8] = b"\x0a\x0e\x0a\x0c\x0a\x03age\x12\x05\x1a\x03\x0a\x01\x07";
/// let parsed = parse_examples(&Tensor::byte_strings(&[1], &[example]).unwrap().into(), &options).unwrap();
/// assert_eq!(to_literal(&parsed.value).unwrap().to_string(), r#"[{"age": 7}]"#);
/// ```
pub fn parse_examples(x: &Value, options: &ExampleOptions) -> Result<Parsed> {
    let wanted = Wanted::of_paths(options.paths.as_deref()).and_then(|wanted| wanted.of(&options.spec));
    let spec = wanted.map_err(|e| e.at(PARSE_EXAMPLES.name))?;
    let attrs = ParseExamples {
        spec: Records::new(spec.clone()),
        sequence: options.example == Example::Sequence,
        needed: None,
        on_error: name_of(options.on_error).to_string(),
    };
    parsed(&PARSE_EXAMPLES, x, &spec, &attrs)
}

/// The serialized `tf.train.Example` or `SequenceExample` of each record, as bytes.
///
/// Records give a message each, under their axes; where one is missing, so is its message. The messages are those of
/// [`write_examples`](crate::write_examples).
///
/// Errors: values that are no records; a field that no feature can hold, with its path; a number that does not fit, with its row.
///
/// ```
/// # use extenso_ext::{Literal, constant};
/// # use extenso_formats::{ops::encode_examples, proto::Example};
/// let users = constant(Literal::List(vec![Literal::record([("age", Literal::Int(7))])])).unwrap();
/// let messages = encode_examples(&users, Example::Plain).unwrap();
/// let wanted = b"\x0a\x0e\x0a\x0c\x0a\x03age\x12\x05\x1a\x03\x0a\x01\x07";
/// assert_eq!(messages.tensor().unwrap().data().unwrap().text_at(0).unwrap(), wanted);
/// ```
pub fn encode_examples(x: &Value, example: Example) -> Result<Value> {
    let sequence = example == Example::Sequence;
    encoded(&ENCODE_EXAMPLES, x, |spec| EncodeExamples { spec: Records::new(spec), sequence })
}

fn example(sequence: bool) -> Example {
    if sequence { Example::Sequence } else { Example::Plain }
}

fn parser(attrs: &dyn AttrSet) -> Result<&Parser> {
    let ParseExamples { spec, sequence, needed, on_error } = ParseExamples::of(attrs)?;
    spec.ready(|spec| {
        Parser::new(spec, needed.as_deref(), on_error, |plan| {
            Decoder::examples(example(*sequence), plan).map(Form::Proto)
        })
    })
}

fn infer_parse(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    parser(attrs)?.infer(args)
}

fn run_parse(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    parser(attrs)?.run(args)
}

fn narrow_parse(attrs: &dyn AttrSet, used: &[bool]) -> Result<Arc<dyn AttrSet>> {
    let attrs = ParseExamples::of(attrs)?.clone();
    let (spec, needed) = (attrs.spec.anew(), left(attrs.needed.as_deref(), used));
    Ok(Arc::new(ParseExamples { spec, needed, ..attrs }))
}

fn writer(attrs: &dyn AttrSet) -> Result<&Writer> {
    EncodeExamples::of(attrs)?.spec.ready(Writer::new)
}

fn infer_encode(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    writer(attrs)?.infer(args, DType::Bytes)
}

fn run_encode(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (writer, example) = (writer(attrs)?, example(EncodeExamples::of(attrs)?.sequence));
    let write = |columns: &[ColumnRef<'_>], rows: Range<usize>, there: Valid<'_>| {
        encode_example_texts(example, writer.records.plan(), columns, rows, |row| there.at(row))
    };
    writer.run(args, DType::Bytes, &write)
}
