//! Encoding: the leaves of records to texts.

use super::layout::{Layout, Records};
use super::shapes::over;
use super::texts::{Valid, infer_valid};
use crate::columns::{ColumnRef, TextVec};
use crate::json::encode_texts;
use crate::parts;
use crate::plain::plain;
use crate::records::{RecordSpec, offsets_of};
use crate::run::check_rows;
use arrow_buffer::Buffer;
use extenso_core::attrs::{AttrSet, Attrs};
use extenso_core::{
    Arg, Class, Dense, ExtensionType, OpDef, OutputSpecs, Outputs, Tensor, Value, call_one, side_by_side,
};
use extenso_ext::{MaskedTensor, RaggedTensor, StructTensor, rank};
use extenso_types::{DType, Dim, Error, LeafSpec, Nest, Result, Shape, Spec, TensorSpec};
use std::ops::Range;

extenso_core::attrs! {
    /// The attributes of `encode_json`: the spec of the records.
    pub struct EncodeJson { spec: Records<Writer> }
}

/// The JSON text of each record that these leaves make.
///
/// The first argument says which records are there; the others give empty texts. Errors: leaves of another spec.
pub static ENCODE_JSON: OpDef = OpDef::general(Class::Structural, infer_json, run_json).variadic().named(
    "encode_json",
    "The JSON text of each record that these leaves make.\n",
    &["leaves"],
    EncodeJson::DEF,
);

/// The JSON text of each record.
///
/// Records give a text each, under their axes; other values one for each item of the outer axis, and a scalar one. What is missing
/// is missing in the texts. The texts are those of [`write_json`](crate::write_json).
///
/// Errors: a value that no record can express.
///
/// ```
/// # use extenso_ext::constant;
/// # use extenso_formats::ops::encode_json;
/// let x = constant(vec![vec![1, 2], vec![]]).unwrap();
/// assert_eq!(encode_json(&x).unwrap().to_string(), r#"["[1,2]", "[]"]"#);
/// ```
pub fn encode_json(x: &Value) -> Result<Value> {
    encoded(&ENCODE_JSON, x, |spec| EncodeJson { spec: Records::new(spec) })
}

/// An op that encodes vectors of records, on records of any shape.
pub fn encoded<A: AttrSet>(op: &'static OpDef, x: &Value, attrs: impl Fn(Spec) -> A) -> Result<Value> {
    let x = &plain(x).map_err(|e| e.at(op.name))?;
    let all: Value = Tensor::bools(&[], &[true])?.into();
    let of_vector = |records: &Value, there: Option<&Value>| {
        let mut leaves = vec![there.unwrap_or(&all).clone()];
        records.push_leaves(&mut leaves)?;
        let leaves = Arg::List(leaves.into_iter().map(Arg::Value).collect());
        Ok(vec![call_one(op, &[leaves], &attrs(records.spec()?))?])
    };
    let results = match MaskedTensor::from_value(x) {
        _ if holds_records(x) || rank(x).is_ok_and(|rank| rank == 0) => over(x, None, false, &of_vector),
        Ok(masked) => over_items(&masked, &of_vector),
        Err(_) => of_vector(x, None),
    };
    results?.pop().ok_or_else(|| Error::internal("the op gave nothing").at(op.name))
}

/// On the items of a masked value that holds no records: where whole items are missing, so are their texts.
fn over_items(x: &MaskedTensor, f: super::shapes::OfVector<'_>) -> Result<Vec<Value>> {
    if x.mask_rank()? != 1 {
        return f(&RaggedTensor::from_dense(x.clone().into_value(), 1)?.into_value(), None);
    }
    let mut texts = f(x.values(), Some(&x.mask().clone().into()))?;
    let texts = texts.pop().ok_or_else(|| Error::internal("the op gave nothing"))?;
    Ok(vec![MaskedTensor::new(texts, x.mask().clone())?.into_value()])
}

/// Whether there are records below the rows and masks of a value.
fn holds_records(x: &Value) -> bool {
    if let Ok(ragged) = RaggedTensor::from_value(x) {
        return holds_records(ragged.values());
    }
    if let Ok(masked) = MaskedTensor::from_value(x) {
        return holds_records(masked.values());
    }
    StructTensor::from_value(x).is_ok()
}

/// A spec made ready for writing.
#[derive(Debug)]
pub struct Writer {
    layout: Layout,
    pub records: RecordSpec,
}

/// Writes some rows of columns, of which some may not be there.
pub type Write<'a> = &'a (dyn Fn(&[ColumnRef<'_>], Range<usize>, Valid<'_>) -> Result<TextVec> + Sync);

impl Writer {
    /// Makes a spec ready.
    ///
    /// Errors: a spec that no record can express.
    pub fn new(spec: &Spec) -> Result<Writer> {
        Ok(Writer { layout: Layout::new(spec)?, records: RecordSpec::new(&Nest::Leaf(spec.clone()), &[])? })
    }

    /// The spec of the texts.
    pub fn infer(&self, args: &[LeafSpec], dtype: DType) -> Result<OutputSpecs> {
        let [there, leaves @ ..] = args else { return Err(Error::value("no arguments are given")) };
        let rows: Dim = self.layout.rows(leaves)?;
        infer_valid(there, rows)?;
        Ok([LeafSpec::Tensor(TensorSpec::new(dtype, Shape::new([rows])))].into_iter().collect())
    }

    /// The texts.
    pub fn run(&self, args: &[Value], dtype: DType, write: Write<'_>) -> Result<Outputs> {
        let [there, leaves @ ..] = args else { return Err(Error::value("no arguments are given")) };
        let rows = self.records.rows(leaves)?.ok_or_else(|| Error::internal("no leaf says how many rows there are"))?;
        check_rows(rows, leaves)?;
        let (there, columns) = (Valid::of(there, rows)?, self.records.columns(leaves)?);
        let elements: usize =
            leaves.iter().map(|leaf| leaf.tensor().and_then(|t| t.data()).map_or(0, Dense::len)).sum();
        let row_at =
            |work: usize| usize::try_from(work as u128 * rows as u128 / elements.max(1) as u128).unwrap_or(rows);
        let parts = parts::of_rows(rows, elements.saturating_mul(4), |work| row_at(work / 4));
        let parts = side_by_side(parts, |part| write(&columns, part, there));
        let (offsets, bytes) = TextVec::joined(parts.into_iter().collect::<Result<_>>()?)?.into_parts();
        let texts = Tensor::from_text(dtype, &[rows], offsets_of(offsets), Buffer::from_vec(bytes))?;
        Ok([Value::from(texts)].into_iter().collect())
    }
}

fn json(attrs: &dyn AttrSet) -> Result<&Writer> {
    EncodeJson::of(attrs)?.spec.ready(Writer::new)
}

fn infer_json(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    json(attrs)?.infer(args, DType::String)
}

fn run_json(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let writer = json(attrs)?;
    let write = |columns: &[ColumnRef<'_>], rows: Range<usize>, there: Valid<'_>| {
        encode_texts(writer.records.plan(), columns, rows, |row| there.at(row))
    };
    writer.run(args, DType::String, &write)
}
