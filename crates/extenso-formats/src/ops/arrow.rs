//! Arrow as an op: the bytes of IPC files and streams to the leaves of their records.
//!
//! Invariant: the first output says which rows a file gave, and a column of which no leaf is given is not decoded.

use super::layout::{Layout, Records, of_rows, with_leaves};
use super::parse::{left, marked};
use super::shapes::over;
use super::texts::{Texts, infer_rows};
use crate::arrow::{ArrowOptions, defaults, read_ipc};
use crate::records::is;
use arrow_buffer::Buffer;
use extenso_core::attrs::{AttrSet, Attrs};
use extenso_core::{
    Class, ExtensionType, OpDef, OutputSpecs, Outputs, Provenance, RowPartition, Tensor, Value, call, ops, pack,
};
use extenso_ext::{MaskedTensorSpec, RaggedTensor, RaggedTensorSpec, StructSpec, rank, shape_of};
use extenso_types::{DType, Dim, Error, ExtSpec, LeafSpec, PartitionSpec, Path, Result, Spec};
use std::sync::Arc;

extenso_core::attrs! {
    /// The attributes of `decode_arrow`: the spec of a batch of records, and which of the outputs are given: the rows of the files, and
    /// the leaves.
    pub struct DecodeArrow { spec: Records<Files>, needed: Option<Vec<i64>> = None }
}

/// Which records each IPC file of a vector gave, and the leaves of all these records.
///
/// The second argument says which files are there; the others give no records. Errors: bytes that are no file or stream of Arrow, or
/// whose columns do not fit the spec, with row and path.
pub static DECODE_ARROW: OpDef = OpDef::general(Class::Structural, infer, run).narrow(narrow).named(
    "decode_arrow",
    "Which records each IPC file of a vector gave, and the leaves of all these records.\n",
    &["files", "there"],
    DecodeArrow::DEF,
);

/// The records in the bytes of Arrow's IPC files and streams, by the spec of a batch of records.
///
/// One file gives its records; files under axes give rows of them, one axis more than the files have. Rows are missing where a file is.
/// A graph decodes the columns that it uses. The records are those of [`read_ipc`](crate::arrow::read_ipc).
///
/// Errors: bytes that are neither a file nor a stream, with row and byte; columns that do not fit the spec, with row and path; no bytes.
///
/// ```
/// # use extenso_core::Tensor;
/// # use extenso_ext::to_literal;
/// # use extenso_formats::{FieldSpec, arrow::write_ipc, ops::{decode_arrow, parse_json}, OnError, struct_spec};
/// # use extenso_types::DType;
/// let spec = struct_spec([("id", FieldSpec::Scalar(DType::I64, vec![]))]).unwrap();
/// let texts = Tensor::strings(&[2], &[r#"{"id": 7}"#, r#"{"id": 8}"#]).unwrap();
/// let records = parse_json(&texts.into(), &spec, OnError::Raise).unwrap().value;
/// let file = Tensor::byte_strings(&[], &[write_ipc(&records, false).unwrap()]).unwrap();
/// let again = decode_arrow(&file.into(), &spec).unwrap();
/// assert_eq!(to_literal(&again).unwrap().to_string(), r#"[{"id": 7}, {"id": 8}]"#);
/// ```
pub fn decode_arrow(x: &Value, spec: &Spec) -> Result<Value> {
    let attrs = DecodeArrow { spec: Records::new(spec.clone()), needed: None };
    if matches!(x, Value::Tensor(_)) && rank(x)? == 0 {
        return Ok(decoded(&ops::expand_dims(x, 0)?, None, spec, &attrs)?.values().clone());
    }
    let of_vector = |files: &Value, there: Option<&Value>| Ok(vec![decoded(files, there, spec, &attrs)?.into_value()]);
    over(x, None, true, &of_vector)?.pop().ok_or_else(|| Error::internal("the op gave nothing").at(DECODE_ARROW.name))
}

/// The rows of records of a vector of files.
fn decoded(files: &Value, there: Option<&Value>, spec: &Spec, attrs: &DecodeArrow) -> Result<RaggedTensor> {
    let all: Value = Tensor::bools(&[], &[true])?.into();
    let mut outputs = call(&DECODE_ARROW, &[files.into(), there.unwrap_or(&all).into()], attrs)?.into_iter();
    let Some(Value::Partition(rows)) = outputs.next() else { return Err(Error::internal("the op gave no rows")) };
    let leaves: Vec<Value> = outputs.collect();
    let specs: Result<Vec<LeafSpec>> = leaves.iter().map(Value::leaf_spec).collect();
    let spec = with_leaves(spec, &mut specs?.into_iter());
    let traced = leaves.iter().any(|leaf| leaf.symbol().is_some());
    let provenance = if traced { Provenance::Trusted } else { Provenance::Outside };
    RaggedTensor::from_partition(pack(&spec, &mut leaves.into_iter(), provenance)?, rows)
}

/// A spec made ready for decoding.
#[derive(Debug)]
pub struct Files {
    layout: Layout,
    /// What is decoded: the spec, without the fields of which nothing is needed.
    decoded: Spec,
    /// For each leaf of what is decoded, its place in the whole spec.
    places: Vec<usize>,
    /// For the rows of the files, and then for each leaf, whether it is given.
    needed: Vec<bool>,
}

impl Files {
    fn new(spec: &Spec, needed: Option<&[i64]>) -> Result<Files> {
        let layout = Layout::new(spec)?;
        if shape_of(spec).rank().is_none_or(|rank| rank == 0) {
            return Err(Error::shape(format!("the spec is {spec}")).wanted("the records as outer axis"));
        }
        let needed = marked(needed, layout.len() + 1)?;
        let (decoded, places) = narrowed(&of_rows(spec, Dim::any()), 0, &needed[1..]);
        Ok(Files { layout, decoded, places, needed })
    }

    fn infer(&self, args: &[LeafSpec]) -> Result<OutputSpecs> {
        let (nrows, nvalues) = (infer_rows(args)?, Dim::any());
        let rows = LeafSpec::Partition(PartitionSpec { nrows, nvalues, index: DType::I64 });
        let all = std::iter::once(rows).chain(self.layout.specs(nvalues));
        Ok(all.zip(&self.needed).filter(|(_, needed)| **needed).map(|(spec, _)| spec).collect())
    }

    fn run(&self, args: &[Value]) -> Result<Outputs> {
        let (batches, lengths) = self.read(args)?;
        let batch = match <[Value; 1]>::try_from(batches) {
            Ok([batch]) => batch,
            Err(none) if none.is_empty() => defaults(&self.decoded, 0)?,
            Err(several) => ops::concat(several, 0_i64)?,
        };
        let mut leaves = Vec::new();
        batch.push_leaves(&mut leaves)?;
        let mut outputs = Outputs::default();
        if self.needed.first() == Some(&true) {
            outputs.push(RowPartition::from_lengths(lengths)?.into());
        }
        let given = self.places.iter().zip(leaves).filter(|(place, _)| self.needed.get(**place + 1) == Some(&true));
        outputs.extend(given.map(|(_, leaf)| leaf));
        Ok(outputs)
    }

    /// The records of each file that is there, and how many records each place has.
    fn read(&self, args: &[Value]) -> Result<(Vec<Value>, Vec<usize>)> {
        let files = Texts::of(args)?;
        let (offsets, bytes) = args.first().ok_or_else(|| Error::internal("no files"))?.tensor()?.data()?.text()?;
        let options = ArrowOptions { spec: Some(self.decoded.clone()), ..ArrowOptions::default() };
        let (mut batches, mut lengths) = (Vec::new(), Vec::with_capacity(files.len));
        for i in 0..files.len {
            if files.at(i).is_none() {
                lengths.push(0);
                continue;
            }
            let file: Buffer = bytes.slice_with_length(offsets.get(i), offsets.get(i + 1) - offsets.get(i));
            let batch = read_ipc(file, &options).map_err(|e| e.at(format!("row {i}")))?.value;
            lengths.push(outer(&batch)?);
            batches.push(batch);
        }
        Ok((batches, lengths))
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

fn files(attrs: &dyn AttrSet) -> Result<&Files> {
    let DecodeArrow { spec, needed } = DecodeArrow::of(attrs)?;
    spec.ready(|spec| Files::new(spec, needed.as_deref()))
}

fn infer(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    files(attrs)?.infer(args)
}

fn run(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    files(attrs)?.run(args)
}

fn narrow(attrs: &dyn AttrSet, used: &[bool]) -> Result<Arc<dyn AttrSet>> {
    let DecodeArrow { spec, needed } = DecodeArrow::of(attrs)?;
    Ok(Arc::new(DecodeArrow { spec: Records::new(spec.spec().clone()), needed: left(needed.as_deref(), used) }))
}
