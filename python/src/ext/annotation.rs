//! Annotations: type expressions of Python as kinds.
//!
//! Invariant: `typing` is imported only here, when a class has an annotation that no class alone says.

use crate::dtype::PyDType;
use crate::error::{OrRaise, raised};
use crate::partition::PyRowPartition;
use crate::record::PyStruct;
use crate::shape::PyShape;
use crate::tensor::PyTensor;
use crate::{arg, value};
use extenso_types::Error;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyString, PyTuple, PyType};

use super::PyExtensionBase;
use super::kind::Kind;

/// The kind of an annotation in the body of `class`.
///
/// Errors: a type that no field may have, with the ones that it may; a name that is not defined.
pub fn kind(class: &Bound<'_, PyType>, annotation: &Bound<'_, PyAny>) -> PyResult<Kind> {
    if annotation.is_none() {
        return Ok(Kind::None);
    }
    if annotation.is_instance_of::<PyString>() {
        return kind(class, &evaluate(class, annotation)?);
    }
    if let Some(text) = annotation.getattr_opt("__forward_arg__")? {
        return kind(class, &evaluate(class, &text)?);
    }
    match annotation.cast::<PyType>() {
        // `tuple[int, ...]` says of itself that it is a class.
        Ok(found) if !annotation.hasattr("__origin__")? => of_class(found),
        _ => of_generic(class, annotation),
    }
}

fn of_class(class: &Bound<'_, PyType>) -> PyResult<Kind> {
    let py = class.py();
    let none = py.None().bind(py).get_type();
    let known = [
        (none, Kind::None),
        (py.get_type::<PyBool>(), Kind::Bool),
        (py.get_type::<PyInt>(), Kind::Int),
        (py.get_type::<PyFloat>(), Kind::Float),
        (py.get_type::<PyString>(), Kind::Str),
        (py.get_type::<PyBytes>(), Kind::Bytes),
        (py.get_type::<PyDType>(), Kind::DType),
        (py.get_type::<PyShape>(), Kind::Shape),
        (py.get_type::<PyTensor>(), Kind::Tensor),
        (py.get_type::<PyRowPartition>(), Kind::Partition),
        (py.get_type::<PyExtensionBase>(), Kind::Ext(None)),
        (py.get_type::<PyStruct>(), Kind::Ext(Some(class.clone().unbind()))),
        (py.get_type::<value::PyOpaque>(), Kind::Ext(None)),
    ];
    if let Some((_, kind)) = known.into_iter().find(|(known, _)| known.is(class)) {
        return Ok(kind);
    }
    if class.is_subclass_of::<PyExtensionBase>()? || arg::is_written_extension(class)? {
        return Ok(Kind::Ext(Some(class.clone().unbind())));
    }
    Err(refused(class))
}

fn of_generic(class: &Bound<'_, PyType>, annotation: &Bound<'_, PyAny>) -> PyResult<Kind> {
    let py = annotation.py();
    let typing = py.import("typing")?;
    let origin = typing.call_method1("get_origin", (annotation,))?;
    let args = typing.call_method1("get_args", (annotation,))?.cast_into::<PyTuple>()?;
    let is = |module: &str, name: &str| PyResult::Ok(origin.is(py.import(module)?.getattr(name)?));
    if is("typing", "Union")? || is("types", "UnionType")? {
        return Ok(Kind::Union(kinds(class, &args)?));
    }
    if is("typing", "Annotated")? {
        return kind(class, &args.get_item(0)?);
    }
    if is("builtins", "tuple")? {
        return of_tuple(class, &args);
    }
    if is("collections.abc", "Mapping")? {
        let key = args.get_item(0)?;
        if key.is(py.get_type::<PyString>()) {
            return Ok(Kind::Mapping(Box::new(kind(class, &args.get_item(1)?)?)));
        }
    }
    Err(refused(annotation))
}

fn of_tuple(class: &Bound<'_, PyType>, args: &Bound<'_, PyTuple>) -> PyResult<Kind> {
    let py = class.py();
    if args.len() == 2 && args.get_item(1)?.is(py.Ellipsis()) {
        return Ok(Kind::Sequence(Box::new(kind(class, &args.get_item(0)?)?)));
    }
    kinds(class, args).map(Kind::Tuple)
}

fn kinds(class: &Bound<'_, PyType>, args: &Bound<'_, PyTuple>) -> PyResult<Vec<Kind>> {
    args.iter().map(|arg| kind(class, &arg)).collect()
}

fn refused(annotation: &Bound<'_, PyAny>) -> PyErr {
    let error = Error::dtype(format!("the annotation {annotation} is not allowed")).wanted(
        "bool, int, float, str, bytes, None, DType, Shape, Tensor, RowPartition, an extension type, \
         Union, tuple[...], Mapping[str, ...] or Annotated",
    );
    raised(annotation.py(), error)
}

/// Whether an annotation says that the attribute belongs to the class and is no field.
pub fn is_class_variable(annotation: &Bound<'_, PyAny>) -> PyResult<bool> {
    if let Ok(text) = annotation.cast::<PyString>() {
        let text = text.to_cow()?;
        return Ok(text.starts_with("ClassVar") || text.starts_with("typing.ClassVar"));
    }
    Ok(!annotation.is_instance_of::<PyType>() && annotation.repr()?.to_cow()?.starts_with("typing.ClassVar"))
}

/// The annotations of a class body, read as far as they can be: a name that is not defined yet leaves its text.
pub fn own_annotations<'py>(class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyDict>> {
    let py = class.py();
    let read = py.import("extenso._annotations")?.getattr("read")?;
    Ok(read.call1((class,))?.cast_into::<PyDict>()?)
}

/// A text annotation evaluated where its class stands.
///
/// Errors: a name that is not defined.
fn evaluate<'py>(class: &Bound<'py, PyType>, text: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let found = py.import("extenso._annotations")?.call_method1("evaluate", (class, text))?;
    if found.is_instance_of::<PyString>() {
        let error = Error::missing(format!("the annotation '{found}' has a name that is not defined"));
        return Err(error.hint("Define the class that it names before the first value is made.")).or_raise();
    }
    Ok(found)
}
