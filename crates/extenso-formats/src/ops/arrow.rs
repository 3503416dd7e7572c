//! Arrow as an op: the bytes of IPC files and streams to the leaves of their records.
//!
//! Invariant: the first output says which rows a file gave, and a column of which no leaf is given is not decoded.

use super::layout::{Layout, Records, of_rows, packed};
use super::parse::{Parsed, left, marked, name_of, policy};
use super::shapes::over;
use super::texts::{Texts, infer_rows};
use crate::arrow::{ArrowOptions, defaults, read_ipc, whole_of};
use crate::columns::OnError;
use crate::records::is;
use arrow_buffer::Buffer;
use extenso_core::attrs::{AttrSet, Attrs};
use extenso_core::{Class, ExtensionType, OpDef, OutputSpecs, Outputs, RowPartition, Tensor, Value, call, ops};
use extenso_ext::{MaskedTensorSpec, RaggedTensor, RaggedTensorSpec, StructSpec, rank, shape_of};
use extenso_types::{DType, Dim, Error, ExtSpec, LeafSpec, PartitionSpec, Path, Result, Shape, Spec, TensorSpec};
use std::sync::Arc;

extenso_core::attrs! {
    /// The attributes of `decode_arrow`: the spec of a batch of records, which of the outputs are given (the rows of the files, the leaves, and
    /// last what was bad), and what becomes of a bad record.
    pub struct DecodeArrow { spec: Records<Files>, needed: Option<Vec<i64>> = None, on_error: String = "raise".to_string() }
}

/// Which records each IPC file of a vector gave, the leaves of all these records, and what was bad: which records hold defaults, or of each
/// file how many were left out.
///
/// The second argument says which files are there; the others give no records. Errors: bytes that are no file or stream of Arrow, or
/// whose columns do not fit the spec, with row and path.
pub static DECODE_ARROW: OpDef = OpDef::general(Class::Structural, infer, run).narrow(narrow).named(
    "decode_arrow",
    "Which records each IPC file of a vector gave, the leaves of all these records, and what was bad.\n",
    &["files", "there"],
    DecodeArrow::DEF,
);

/// The records in the bytes of Arrow's IPC files and streams, by the spec of a batch of records.
///
/// One file gives its records; files under axes give rows of them, one axis more than the files have. Rows are missing where a file is.
/// A graph decodes the columns that it uses, unless bad records do not raise. The records are those of [`read_ipc`](crate::arrow::read_ipc).
///
/// Where bad records hold defaults, `bad` says which of the records these are; where they are left out, how many there were in each file.
/// Errors: bytes that are neither a file nor a stream, with row and byte; columns that do not fit the spec, with row and path; no bytes;
/// a record that does not fit, unless `on_error` says otherwise.
///
/// ```
/// # use extenso_core::Tensor;
/// # use extenso_ext::to_literal;
/// # use extenso_formats::{FieldSpec, arrow::write_ipc, ops::{decode_arrow, parse_json}, OnError, struct_spec};
/// # use extenso_types::DType;
/// let optional = FieldSpec::Optional(Box::new(FieldSpec::Scalar(DType::I64, vec![])));
/// let texts = Tensor::strings(&[2], &[r#"{"id": 7}"#, r#"{"id": null}"#]).unwrap();
/// let records = parse_json(&texts.into(), &struct_spec([("id", optional)]).unwrap(), OnError::Raise).unwrap().value;
/// let file = Tensor::byte_strings(&[], &[write_ipc(&records, false).unwrap()]).unwrap();
/// let spec = struct_spec([("id", FieldSpec::Scalar(DType::I64, vec![]))]).unwrap();
/// let again = decode_arrow(&file.into(), &spec, OnError::Default).unwrap();
/// assert_eq!(to_literal(&again.value).unwrap().to_string(), r#"[{"id": 7}, {"id": 0}]"#);
/// assert_eq!(again.bad.to_string(), "[False, True]");
/// ```
pub fn decode_arrow(x: &Value, spec: &Spec, on_error: OnError) -> Result<Parsed> {
    let attrs = DecodeArrow { spec: Records::new(spec.clone()), needed: None, on_error: name_of(on_error).to_string() };
    if matches!(x, Value::Tensor(_)) && rank(x)? == 0 {
        let Decoded { rows, bad } = decoded(&ops::expand_dims(x, 0)?, None, spec, &attrs)?;
        let bad = if on_error == OnError::Skip { ops::take(bad, 0_i64, 0_i64)? } else { bad };
        return Ok(Parsed { value: rows.values().clone(), bad });
    }
    let of_vector = |files: &Value, there: Option<&Value>| {
        let Decoded { rows, bad } = decoded(files, there, spec, &attrs)?;
        let bad = if on_error == OnError::Skip { bad } else { rows.with_values(bad)?.into_value() };
        Ok(vec![rows.into_value(), bad])
    };
    let mut results = over(x, None, true, &of_vector).map_err(|e| e.at(DECODE_ARROW.name))?.into_iter();
    match (results.next(), results.next()) {
        (Some(value), Some(bad)) => Ok(Parsed { value, bad }),
        _ => Err(Error::internal("the op gave nothing").at(DECODE_ARROW.name)),
    }
}

/// The records of files, and what was bad.
struct Decoded {
    rows: RaggedTensor,
    bad: Value,
}

/// The rows of records of a vector of files.
fn decoded(files: &Value, there: Option<&Value>, spec: &Spec, attrs: &DecodeArrow) -> Result<Decoded> {
    let all: Value = Tensor::bools(&[], &[true])?.into();
    let mut leaves = call(&DECODE_ARROW, &[files.into(), there.unwrap_or(&all).into()], attrs)?;
    let none = || Error::internal("the op gave other results");
    let bad = leaves.pop().ok_or_else(none)?;
    let mut leaves = leaves.into_iter();
    let Some(Value::Partition(rows)) = leaves.next() else { return Err(none()) };
    let records = packed(spec, leaves.collect())?;
    Ok(Decoded { rows: RaggedTensor::from_partition(records, rows)?, bad })
}

/// A spec made ready for decoding.
#[derive(Debug)]
pub struct Files {
    layout: Layout,
    /// What is decoded: the spec, without the fields of which nothing is needed.
    decoded: Spec,
    /// For each leaf of what is decoded, its place in the whole spec.
    places: Vec<usize>,
    /// For the rows of the files, then for each leaf, and for what was bad, whether it is given.
    needed: Vec<bool>,
    on_error: OnError,
}

impl Files {
    fn new(spec: &Spec, needed: Option<&[i64]>, on_error: &str) -> Result<Files> {
        let layout = Layout::new(spec)?;
        if shape_of(spec).rank().is_none_or(|rank| rank == 0) {
            return Err(Error::shape(format!("the spec is {spec}")).wanted("the records as outer axis"));
        }
        let needed = marked(needed, layout.len() + 2)?;
        let on_error = policy_of(on_error)?;
        // Whether a record fits depends on all of it, where that does not raise.
        let all = vec![true; layout.len()];
        let used = if on_error == OnError::Raise { &needed[1..=layout.len()] } else { &all };
        let (decoded, places) = narrowed(&of_rows(spec, Dim::any()), 0, used);
        Ok(Files { layout, decoded, places, needed, on_error })
    }

    fn infer(&self, args: &[LeafSpec]) -> Result<OutputSpecs> {
        let (nrows, nvalues) = (infer_rows(args)?, Dim::any());
        let rows = LeafSpec::Partition(PartitionSpec::new(nrows, nvalues, DType::I64));
        let bad = match self.on_error {
            OnError::Skip => TensorSpec::new(DType::I64, Shape::new([nrows])),
            OnError::Raise | OnError::Default => TensorSpec::new(DType::Bool, Shape::new([nvalues])),
        };
        let leaves = self.layout.specs(nvalues);
        let all = std::iter::once(rows).chain(leaves).chain([LeafSpec::Tensor(bad)]);
        Ok(all.zip(&self.needed).filter(|(_, needed)| **needed).map(|(spec, _)| spec).collect())
    }

    fn run(&self, args: &[Value]) -> Result<Outputs> {
        let (batches, lengths, bad) = self.read(args)?;
        let batch = if batches.is_empty() { defaults(&self.decoded, 0)? } else { whole_of(batches, &self.decoded)? };
        let mut leaves = Vec::new();
        batch.push_leaves(&mut leaves)?;
        let mut outputs = Outputs::default();
        if self.needed.first() == Some(&true) {
            outputs.push(RowPartition::from_lengths(lengths)?.into());
        }
        let given = self.places.iter().zip(leaves).filter(|(place, _)| self.needed.get(**place + 1) == Some(&true));
        outputs.extend(given.map(|(_, leaf)| leaf));
        if self.needed.last() == Some(&true) {
            outputs.push(bad);
        }
        Ok(outputs)
    }

    /// The records of each file that is there, how many records each place has, and what was bad.
    fn read(&self, args: &[Value]) -> Result<(Vec<Value>, Vec<usize>, Value)> {
        let files = Texts::of(args)?;
        let (offsets, bytes) = args.first().ok_or_else(|| Error::internal("no files"))?.tensor()?.data()?.text()?;
        let (spec, on_error) = (Some(self.decoded.clone()), self.on_error);
        let options = ArrowOptions { spec, on_error, ..ArrowOptions::default() };
        let (mut left_out, mut defaulted) = (Vec::new(), Vec::new());
        let (mut batches, mut lengths) = (Vec::new(), Vec::with_capacity(files.len));
        for i in 0..files.len {
            if files.at(i).is_none() {
                lengths.push(0);
                left_out.push(0);
                continue;
            }
            let file: Buffer = bytes.slice_with_length(offsets.get(i), offsets.get(i + 1) - offsets.get(i));
            let read = read_ipc(file, &options).map_err(|e| e.at(format!("row {i}")))?;
            let len = outer(&read.value)?;
            lengths.push(len);
            left_out.push(i64::try_from(read.bad.count()).unwrap_or(i64::MAX));
            defaulted.extend((0..len).map(|row| read.bad.defaulted.get(row)));
            batches.push(read.value);
        }
        let bad = match self.on_error {
            OnError::Skip => Tensor::from_vec(left_out),
            OnError::Raise | OnError::Default => Tensor::from_bits(&[defaulted.len()], defaulted.into())?,
        };
        Ok((batches, lengths, bad.into()))
    }
}

/// The number of records of a batch.
fn outer(batch: &Value) -> Result<usize> {
    let shape = shape_of(&batch.spec()?);
    let rows = shape.dims().and_then(|dims| dims.first()?.known());
    rows.ok_or_else(|| Error::shape(format!("records of shape {shape} came")).wanted("a known number of them"))
}

/// The spec without the fields of which no leaf is needed, and the places of its leaves; `first` is that of the first leaf.
///
/// A list or a mask whose items are not needed keeps the first field of them.
fn narrowed(spec: &Spec, first: usize, needed: &[bool]) -> (Spec, Vec<usize>) {
    let count = |spec: &Spec| spec.leaves(&Path::root()).len();
    let Spec::Ext(ext) = spec else { return (spec.clone(), vec![first]) };
    let is_record = is::<StructSpec>(ext);
    if !is_record && !is::<RaggedTensorSpec>(ext) && !is::<MaskedTensorSpec>(ext) {
        return (spec.clone(), (first..first + count(spec)).collect());
    }
    let used = |from: usize, count: usize| needed.get(from..from + count).is_some_and(|needed| needed.contains(&true));
    let is_used = used(first, count(spec));
    let (mut components, mut places, mut at) = (Vec::new(), Vec::new(), first);
    for (segment, part) in &ext.components {
        let count = count(part);
        let is_first = !is_used && places.is_empty() && count > 0;
        if !is_record || is_first || used(at, count) {
            let (part, inside) = narrowed(part, at, needed);
            components.push((segment.clone(), part));
            places.extend(inside);
        }
        at += count;
    }
    (ExtSpec { def: ext.def.clone(), static_data: ext.static_data.clone(), components }.into(), places)
}

/// The policy of a name; records may be left out, since each file has any number of them.
///
/// Errors: another name.
fn policy_of(name: &str) -> Result<OnError> {
    if name == name_of(OnError::Skip) { Ok(OnError::Skip) } else { policy(name) }
}

fn files(attrs: &dyn AttrSet) -> Result<&Files> {
    let DecodeArrow { spec, needed, on_error } = DecodeArrow::of(attrs)?;
    spec.ready(|spec| Files::new(spec, needed.as_deref(), on_error))
}

fn infer(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    files(attrs)?.infer(args)
}

fn run(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    files(attrs)?.run(args)
}

fn narrow(attrs: &dyn AttrSet, used: &[bool]) -> Result<Arc<dyn AttrSet>> {
    let DecodeArrow { spec, needed, on_error } = DecodeArrow::of(attrs)?;
    let (spec, needed) = (spec.anew(), left(needed.as_deref(), used));
    Ok(Arc::new(DecodeArrow { spec, needed, on_error: on_error.clone() }))
}
