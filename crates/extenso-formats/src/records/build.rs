//! Specs of records, made by hand.

use extenso_core::TypeSpec;
use extenso_ext::{MaskedTensorSpec, RaggedTensorSpec, StructSpec};
use extenso_types::{
    DType, Dim, ExtSpec, PartitionSpec, Result, Segment, Shape, Spec, StaticValue, TensorSpec, TypeDef,
};
use std::sync::Arc;

/// The spec of a batch of records with these fields, for tests and for callers without data.
///
/// The outer axis of every field is one variable: the number of records.
pub fn struct_spec(fields: impl IntoIterator<Item = (&'static str, FieldSpec)>) -> Result<Spec> {
    let rows = Dim::any();
    let fields: Result<Vec<_>> = fields.into_iter().map(|(name, f)| Ok((name, f.spec(rows)?))).collect();
    Ok(Spec::from(StructSpec::new(1, fields?)?.serialize()))
}

/// One field of a record.
#[derive(Clone, Debug)]
pub enum FieldSpec {
    /// A scalar, or a dense array of these sizes.
    Scalar(DType, Vec<usize>),
    /// A list.
    List(Box<FieldSpec>),
    /// A record.
    Record(Vec<(&'static str, FieldSpec)>),
    /// A value that may be null.
    Optional(Box<FieldSpec>),
}

impl FieldSpec {
    /// The spec of `rows` of these.
    ///
    /// Errors: those of the types.
    pub fn spec(&self, rows: Dim) -> Result<Spec> {
        match self {
            FieldSpec::Scalar(dtype, inner) => {
                let dims = std::iter::once(rows).chain(inner.iter().map(|&n| Dim::Known(n)));
                Ok(TensorSpec::new(*dtype, Shape::new(dims)).into())
            }
            FieldSpec::List(item) => {
                let items = Dim::any();
                Ok(list_spec(item.spec(items)?, rows, items))
            }
            FieldSpec::Record(fields) => {
                let fields: Result<Vec<_>> = fields.iter().map(|(name, f)| Ok((*name, f.spec(rows)?))).collect();
                Ok(Spec::from(StructSpec::new(1, fields?)?.serialize()))
            }
            FieldSpec::Optional(inner) => Ok(optional_spec(inner.spec(rows)?, rows)),
        }
    }
}

/// The spec of `rows` lists with `items` items together.
pub(crate) fn list_spec(item: Spec, rows: Dim, items: Dim) -> Spec {
    let partition = PartitionSpec::new(rows, items, DType::I64);
    let rows = (Segment::component("row_splits"), Spec::Partition(partition));
    ext(RaggedTensorSpec::def(), vec![(Segment::Each, item), rows])
}

/// The spec of `rows` values that may be null.
pub(crate) fn optional_spec(inner: Spec, rows: Dim) -> Spec {
    let mask = TensorSpec::new(DType::Bool, Shape::new([rows]));
    ext(MaskedTensorSpec::def(), vec![(Segment::Itself, inner), (Segment::component("mask"), mask.into())])
}

fn ext(def: &Arc<TypeDef>, components: Vec<(Segment, Spec)>) -> Spec {
    Spec::from(ExtSpec { def: def.clone(), static_data: StaticValue::None, components })
}
