//! Records with every kind of field, as the tests of ops on records have them.

use extenso_core::{Tensor, Value};
use extenso_ext::to_literal;
use extenso_formats::{FieldSpec as F, struct_spec};
use extenso_types::{DType, Dim, Nest, Shape, Spec, TensorSpec};

pub fn scalar(dtype: DType) -> F {
    F::Scalar(dtype, vec![])
}

/// Records with every kind of field.
pub fn spec() -> Spec {
    let item = F::Record(vec![("price", scalar(DType::F32)), ("sku", F::Optional(Box::new(scalar(DType::String))))]);
    struct_spec([
        ("id", scalar(DType::I64)),
        ("items", F::List(Box::new(item))),
        ("at", F::Scalar(DType::F64, vec![2])),
        ("paid", F::Optional(Box::new(scalar(DType::Bool)))),
    ])
    .expect("a spec")
}

pub const FULL: &str =
    r#"{"id":1,"items":[{"price":0.5,"sku":"a"},{"price":2.0,"sku":null}],"at":[1.0,2.0],"paid":true}"#;
pub const BARE: &str = r#"{"id":2,"items":[],"at":[0.0,0.5],"paid":null}"#;

pub fn texts(texts: &[&str]) -> Value {
    Tensor::strings(&[texts.len()], texts).expect("texts").into()
}

pub fn shown(value: &Value) -> String {
    to_literal(value).map_or_else(|e| e.to_string(), |literal| literal.to_string())
}

/// The spec of any number of elements of this dtype.
pub fn vector_of(dtype: DType) -> Nest<Spec> {
    Nest::Leaf(TensorSpec::new(dtype, Shape::new([Dim::any()])).into())
}
