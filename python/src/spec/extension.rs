//! `ExtensionTypeSpec`: specs of annotated classes, and of types that no class of this process stands for.

use super::{PyTypeSpec, core_spec, to_py as spec_to_py};
use crate::error::OrRaise;
use crate::ext::{Annotated, Class, Form, convert_static, deserialized, join, split, value_class};
use crate::{arg, union, value};
use extenso_core::{Provenance, TypeSpec, rebuild};
use extenso_ext::StructSpec;
use extenso_types::{Error, ExtSpec, Path, Segment, Spec};
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};
use pyo3::{PyClassInitializer, ffi};
use std::sync::Arc;

/// The spec of a value of an annotated class, `Masked.Spec(values=..., mask=..., unit=...)`: a spec for each component, and
/// the static data.
#[pyclass(name = "ExtensionTypeSpec", module = "extenso", extends = PyTypeSpec, subclass, frozen)]
pub struct PyExtensionSpec;

#[pymethods]
impl PyExtensionSpec {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> PyClassInitializer<PyExtensionSpec> {
        PyTypeSpec { spec: Default::default() }.below(PyExtensionSpec)
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __init__(slf: &Bound<'_, Self>, args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        let class = class_of(slf)?;
        let spec = given(slf, &class, class.annotated().or_raise()?, args, kwargs)?;
        if slf.as_super().get().spec.set(Spec::from(spec)).is_err() {
            return Err(Error::value("a spec is made already").hint("Specs are immutable.")).or_raise();
        }
        Ok(())
    }

    /// The name of the type.
    #[getter]
    fn type_name(slf: &Bound<'_, Self>) -> PyResult<String> {
        Ok(ext_spec(slf)?.def.name().to_string())
    }

    /// The specs of the components by name.
    #[getter]
    fn component_specs<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        let specs = PyDict::new(slf.py());
        for (segment, spec) in &ext_spec(slf)?.components {
            specs.set_item(step(segment), spec_to_py(slf.py(), spec.clone())?)?;
        }
        Ok(specs)
    }

    /// The components of a value of this spec, by the names that `component_specs` has.
    fn to_components<'py>(slf: &Bound<'py, Self>, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let (spec, value) = (ext_spec(slf)?, value::from_py(value)?);
        let (wanted, given) = (Spec::Ext(spec.clone()), value.spec().or_raise()?);
        if !given.is_subtype_of(&wanted) {
            return Err(mismatch(&given, &wanted).at("to_components")).or_raise();
        }
        let components = PyDict::new(slf.py());
        for ((segment, _), component) in spec.components.iter().zip(value.ext().or_raise()?.components().or_raise()?) {
            components.set_item(step(segment), value::to_py(slf.py(), component)?)?;
        }
        Ok(components)
    }

    /// The value of these components, by the names that `component_specs` has, and of the static data of this spec.
    ///
    /// It is validated as one that comes from outside.
    fn from_components<'py>(slf: &Bound<'py, Self>, components: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>> {
        let spec = ext_spec(slf)?;
        let mut given = Vec::with_capacity(spec.components.len());
        for (segment, wanted) in &spec.components {
            let name = step(segment);
            let missing = || Error::missing(format!("the component '{name}' is missing")).at("from_components");
            let object = components.get_item(&name)?.ok_or_else(missing).or_raise()?;
            let component = value::from_py(&object)?;
            let found = component.spec().or_raise()?;
            if !found.is_subtype_of(wanted) {
                return Err(mismatch(&found, wanted).at(format!("component '{name}'")).at("from_components"))
                    .or_raise();
            }
            given.push(component);
        }
        if components.len() > given.len() {
            let names: Vec<_> = spec.components.iter().map(|(segment, _)| step(segment)).collect();
            let error = Error::value(format!("{} components are given", components.len()));
            return Err(error.wanted(names.join(", ")).at("from_components")).or_raise();
        }
        let made = rebuild(&spec, given, Provenance::Outside).or_raise()?;
        value::to_py(slf.py(), made)
    }

    // A field's name gives the spec of its components, or its static data.
    fn __getattr__<'py>(slf: &Bound<'py, Self>, name: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
        let missing = || PyAttributeError::new_err(format!("'{}' has no attribute '{name}'", arg::type_name(slf)));
        let class = class_of(slf).map_err(|_| missing())?;
        let annotated = class.annotated().or_raise()?;
        let at = annotated.table.position(name).ok_or_else(missing)?;
        Ok(fields(slf, annotated)?.swap_remove(at))
    }

    /// The fields, from which `deserialize` makes the spec again.
    fn serialize<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let class = class_of(slf)?;
        PyTuple::new(slf.py(), fields(slf, class.annotated().or_raise()?)?)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let Ok(class) = class_of(slf) else { return Ok(format!("<spec {}>", core_spec(slf.as_super())?)) };
        let annotated = class.annotated().or_raise()?;
        let mut texts = Vec::new();
        for (field, value) in annotated.table.fields.iter().zip(fields(slf, annotated)?) {
            texts.push(format!("{}={}", field.text, value.repr()?));
        }
        Ok(format!("{}({})", arg::type_name(slf), texts.join(", ")))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let spec = ext_spec(slf)?;
        if let Some(reduced) = union::reduced_union(py, &spec)? {
            return Ok(reduced);
        }
        let class = class_of(slf)?;
        let named = PyDict::new(py);
        let annotated = class.annotated().or_raise()?;
        for (field, value) in annotated.table.fields.iter().zip(fields(slf, annotated)?) {
            named.set_item(&field.name, crate::ext::plain(&value)?)?;
        }
        let make = py.import("extenso._core")?.getattr("_spec_from_fields")?;
        Ok((make, (class.py_type.bind(py), named)).into_pyobject(py)?.into_any())
    }
}

/// The spec of a pickle.
#[pyfunction]
#[pyo3(name = "_spec_from_fields")]
pub fn spec_from_fields<'py>(cls: &Bound<'py, PyType>, fields: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>> {
    let spec = empty(&cls.getattr("Spec")?.cast_into::<PyType>()?)?;
    // A spec class may have a constructor of its own; the fields are what the base takes.
    PyExtensionSpec::__init__(spec.cast()?, &PyTuple::empty(cls.py()), Some(fields))?;
    Ok(spec)
}

/// The spec class that an annotated class has as its `Spec`.
pub fn class_for<'py>(class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let body = PyDict::new(py);
    body.set_item("value_type", class)?;
    body.set_item("__module__", class.getattr("__module__")?)?;
    body.set_item("__qualname__", format!("{}.Spec", class.qualname()?))?;
    body.set_item("__doc__", format!("The spec of a {}.", class.name()?))?;
    py.get_type::<PyType>().call1(("Spec", (py.get_type::<PyExtensionSpec>(),), body))
}

/// The spec object of a normal form.
///
/// Errors: what a spec class written by hand raises.
pub fn to_py(py: Python<'_>, spec: Arc<ExtSpec>) -> PyResult<Bound<'_, PyAny>> {
    let class = match Class::met(py, &spec.def)? {
        Some(class) => match &class.form {
            Form::Annotated(_) => class.py_type.bind(py).getattr("Spec")?.cast_into::<PyType>()?,
            Form::Written => return deserialized(py, &class, &spec),
        },
        None if spec.def.uid() == StructSpec::def().uid() => {
            return crate::record::struct_spec_object(py, Spec::Ext(spec));
        }
        None => py.get_type::<PyExtensionSpec>(),
    };
    let object = empty(&class)?;
    let _ = object.cast::<PyTypeSpec>()?.get().spec.set(Spec::Ext(spec));
    Ok(object)
}

/// A spec object without fields, as `__new__` leaves it.
fn empty<'py>(class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    if !class.is_subclass_of::<PyExtensionSpec>()? {
        return Err(Error::dtype(format!("{class} is no spec class")).wanted("a subclass of ExtensionTypeSpec"))
            .or_raise();
    }
    let args = PyTuple::empty(py);
    // SAFETY: the slot is the `__new__` of our class, called with a subclass of it and no arguments, as `type.__call__` would.
    unsafe {
        let slot = ffi::PyType_GetSlot(py.get_type::<PyExtensionSpec>().as_type_ptr(), ffi::Py_tp_new);
        let new: ffi::newfunc = std::mem::transmute(slot);
        Bound::from_owned_ptr_or_err(py, new(class.as_type_ptr(), args.as_ptr(), std::ptr::null_mut()))
    }
}

/// The annotated class whose spec this is.
///
/// Errors: a type that no class of this process stands for.
fn class_of(slf: &Bound<'_, PyExtensionSpec>) -> PyResult<Arc<Class>> {
    let class = Class::known(&value_class(&slf.get_type())?);
    class.ok_or_else(|| Error::dtype("an ExtensionTypeSpec of no class").hint("Use the `Spec` of a class.")).or_raise()
}

fn mismatch(found: &Spec, wanted: &Spec) -> Error {
    Error::dtype(format!("found {found}")).wanted(wanted.to_string())
}

fn ext_spec(slf: &Bound<'_, PyExtensionSpec>) -> PyResult<Arc<ExtSpec>> {
    core_spec(slf.as_super())?.ext().cloned().or_raise()
}

/// The name of a component.
pub fn step(segment: &Segment) -> String {
    Path::from_iter([segment.clone()]).to_string()
}

/// For each field the spec of its components, or its static data.
fn fields<'py>(slf: &Bound<'py, PyExtensionSpec>, annotated: &Annotated) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let (py, spec) = (slf.py(), ext_spec(slf)?);
    let components = spec.components.iter().map(|(_, spec)| spec_to_py(py, spec.clone()));
    join(py, &annotated.table, &spec.static_data, components)
}

/// The normal form of what a caller gives for the fields.
///
/// Errors: too many, unknown or missing fields; something that is no spec where a component stands.
fn given(
    slf: &Bound<'_, PyExtensionSpec>,
    class: &Class,
    annotated: &Annotated,
    args: &Bound<'_, PyTuple>,
    kwargs: Option<&Bound<'_, PyDict>>,
) -> PyResult<ExtSpec> {
    let (py, table) = (slf.py(), &annotated.table);
    let misuse = |what: String| {
        let name = arg::type_name(slf);
        Error::dtype(what).wanted(format!("{name}{}", table.signature())).at(name)
    };
    if args.len() > table.positional {
        return Err(misuse(format!("{} arguments are given by position", args.len()))).or_raise();
    }
    for key in kwargs.iter().flat_map(|kwargs| kwargs.keys()) {
        match table.position(key.cast::<PyString>()?) {
            Some(at) if at >= args.len() => {}
            Some(_) => return Err(misuse(format!("the field '{key}' is given twice"))).or_raise(),
            None => return Err(misuse(format!("there is no field '{key}'"))).or_raise(),
        }
    }
    let value = |i: usize| -> PyResult<Bound<'_, PyAny>> {
        let field = &table.fields[i];
        let named = kwargs.map(|kwargs| kwargs.get_item(&field.name)).transpose()?.flatten();
        let object = if i < args.len() { Some(args.get_item(i)?) } else { named };
        match (object, &field.resolve(py)?.default) {
            (Some(object), _) => convert_static(&field.resolve(py)?.kind, &object, &field.text),
            (None, Some(default)) => Ok(default.bind(py).clone()),
            (None, None) => Err(misuse(format!("the field '{}' is missing", field.text))).or_raise(),
        }
    };
    let is_spec = |object: &Bound<'_, PyAny>| object.is_instance_of::<PyTypeSpec>();
    let (static_data, parts) = split(py, table, value, &is_spec)?;
    let mut components = Vec::new();
    for (segment, part) in parts {
        let not_a_spec =
            || Error::dtype(format!("expected a spec, got '{}'", arg::type_name(&part))).at(step(&segment));
        let spec = core_spec(part.cast::<PyTypeSpec>().map_err(|_| not_a_spec()).or_raise()?)?;
        components.push((segment, spec));
    }
    Ok(ExtSpec { def: class.def.clone(), static_data, components })
}
