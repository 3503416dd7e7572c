//! Kinds: what the annotation of a field allows.
//!
//! Invariant: an int is no float and a float no int; a boolean is neither.

use crate::arg::type_name;
use crate::dtype::PyDType;
use crate::partition::PyRowPartition;
use crate::record::PyStruct;
use crate::shape::PyShape;
use crate::tensor::PyTensor;
use crate::value::PyOpaque;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyMapping, PyString, PyTuple, PyType};
use std::fmt;

use super::PyExtensionBase;

/// What a field may hold.
pub enum Kind {
    /// The only value `None`.
    None,
    /// A boolean.
    Bool,
    /// An integer of 64 bits.
    Int,
    /// A float.
    Float,
    /// A string.
    Str,
    /// Bytes.
    Bytes,
    /// A dtype.
    DType,
    /// A shape.
    Shape,
    /// A tensor.
    Tensor,
    /// A row partition.
    Partition,
    /// A value of an extension type: of this class, or of any.
    Ext(Option<Py<PyType>>),
    /// One of these.
    Union(Vec<Kind>),
    /// A tuple of any length.
    Sequence(Box<Kind>),
    /// A tuple of these.
    Tuple(Vec<Kind>),
    /// A mapping from strings.
    Mapping(Box<Kind>),
}

/// How many components a value of a kind has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Components {
    /// None: it is static data.
    None,
    /// It is one.
    One,
    /// It depends on the value.
    Some,
}

impl Kind {
    /// How many components a value of this kind has.
    pub fn components(&self) -> Components {
        match self {
            Kind::None | Kind::Bool | Kind::Int | Kind::Float | Kind::Str | Kind::Bytes | Kind::DType | Kind::Shape => {
                Components::None
            }
            Kind::Tensor | Kind::Partition | Kind::Ext(_) => Components::One,
            Kind::Union(members) => {
                let mut counts = members.iter().map(Kind::components);
                let first = counts.next().unwrap_or(Components::None);
                if counts.all(|count| count == first) { first } else { Components::Some }
            }
            Kind::Sequence(item) | Kind::Mapping(item) => item.inside(),
            Kind::Tuple(items) => {
                if items.iter().all(|item| item.components() == Components::None) {
                    Components::None
                } else {
                    Components::Some
                }
            }
        }
    }

    fn inside(&self) -> Components {
        if self.components() == Components::None { Components::None } else { Components::Some }
    }

    /// Whether an object is of this kind as it stands, without a conversion; containers are asked for their type alone.
    pub fn holds(&self, object: &Bound<'_, PyAny>) -> bool {
        match self {
            Kind::None => object.is_none(),
            Kind::Bool => object.is_instance_of::<PyBool>(),
            Kind::Int => object.is_instance_of::<PyInt>() && !object.is_instance_of::<PyBool>(),
            Kind::Float => object.is_instance_of::<PyFloat>(),
            Kind::Str => object.is_instance_of::<PyString>(),
            Kind::Bytes => object.is_instance_of::<PyBytes>(),
            Kind::DType => object.is_instance_of::<PyDType>(),
            Kind::Shape => object.is_instance_of::<PyShape>(),
            Kind::Tensor => object.is_exact_instance_of::<PyTensor>(),
            Kind::Partition => object.is_exact_instance_of::<PyRowPartition>(),
            Kind::Ext(Some(class)) => object.is_instance(class.bind(object.py())).unwrap_or(false),
            Kind::Ext(None) => {
                object.is_instance_of::<PyExtensionBase>()
                    || object.is_instance_of::<PyStruct>()
                    || object.is_instance_of::<PyOpaque>()
            }
            Kind::Union(members) => members.iter().any(|member| member.holds(object)),
            Kind::Sequence(_) | Kind::Tuple(_) => object.is_instance_of::<PyTuple>(),
            Kind::Mapping(_) => object.is_instance_of::<PyMapping>(),
        }
    }

    /// How messages name an object that is not of the kind.
    pub fn found(object: &Bound<'_, PyAny>) -> String {
        if object.is_none() { "None".into() } else { format!("'{}'", type_name(object)) }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |items: &[Kind]| items.iter().map(Kind::to_string).collect::<Vec<_>>().join(", ");
        match self {
            Kind::None => f.write_str("None"),
            Kind::Bool => f.write_str("bool"),
            Kind::Int => f.write_str("int"),
            Kind::Float => f.write_str("float"),
            Kind::Str => f.write_str("str"),
            Kind::Bytes => f.write_str("bytes"),
            Kind::DType => f.write_str("DType"),
            Kind::Shape => f.write_str("Shape"),
            Kind::Tensor => f.write_str("Tensor"),
            Kind::Partition => f.write_str("RowPartition"),
            Kind::Ext(Some(class)) => Python::attach(|py| match class.bind(py).qualname() {
                Ok(name) => write!(f, "{name}"),
                Err(_) => f.write_str("ExtensionType"),
            }),
            Kind::Ext(None) => f.write_str("ExtensionType"),
            Kind::Union(members) => write!(f, "Union[{}]", list(members)),
            Kind::Sequence(item) => write!(f, "tuple[{item}, ...]"),
            Kind::Tuple(items) if items.is_empty() => f.write_str("tuple[()]"),
            Kind::Tuple(items) => write!(f, "tuple[{}]", list(items)),
            Kind::Mapping(item) => write!(f, "Mapping[str, {item}]"),
        }
    }
}
