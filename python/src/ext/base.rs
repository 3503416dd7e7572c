//! `ExtensionType`: the base of annotated classes. Holds the fields of a value and makes them from what a caller gives.
//!
//! Invariant: fields are set once, all together, converted and statically validated.

use crate::error::{OrRaise, guarded, raised};
use crate::operators::with_operators;
use crate::tensor::PyTensor;
use crate::{arg, call, spec, value};
use extenso_core::{Ext, ExtensionType, Provenance, TypeSpec, Value, with_ops, without_ops};
use extenso_ext::{BatchableSpec, RaggedTensor, RaggedTensorSpec};
use extenso_types::{Error, ExtSpec, StaticValue};
use pyo3::basic::CompareOp;
use pyo3::ffi;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PySuper, PyTuple, PyType};
use std::sync::{Arc, OnceLock};

use super::annotation;
use super::assemble::{join, split};
use super::batch::of_axes;
use super::class::{Annotated, Class, Form, new_def, own_attribute, rust_def, type_name};
use super::convert::convert;
use super::field::{Field, PyField, Table, immutable};
use super::kind::Kind;
use super::value::PyExtension;

/// The base of extension types written as annotated classes, in the manner of dataclasses.
///
/// Annotations are fields: tensors, row partitions and other extension types are components, everything else is static data.
/// Values are immutable. `__validate__` checks dtypes, shapes and static data whenever a value is made or rebuilt;
/// `__validate_data__` checks data when a value comes from outside.
#[pyclass(name = "ExtensionType", module = "extenso", subclass, frozen)]
pub struct PyExtensionBase {
    class: Arc<Class>,
    fields: OnceLock<Fields>,
    /// The value as Rust has it, where the class stands for a type that is written in Rust; fields are then made when they are
    /// first read.
    in_rust: OnceLock<Ext>,
}

with_operators!(PyExtensionBase with __init__ = init; {
    #[new]
    #[classmethod]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(cls: &Bound<'_, PyType>, _args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<PyExtensionBase> {
        match Class::known(cls) {
            Some(class) => Ok(PyExtensionBase { class, fields: OnceLock::new(), in_rust: OnceLock::new() }),
            None => {
                let error = Error::dtype("ExtensionType has no values of its own");
                Err(raised(cls.py(), error.hint("Define a class of it with annotated fields.")))
            }
        }
    }

    /// Checks dtypes, shapes and static data. Overridden by classes that have something to check; calls no op.
    fn __validate__(&self) {}

    /// Checks data of a value that comes from outside. Overridden by classes that have something to check.
    fn __validate_data__(&self) {}

    #[classmethod]
    #[pyo3(signature = (**kwargs))]
    fn __init_subclass__(cls: &Bound<'_, PyType>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        let others = PySuper::new(&cls.py().get_type::<Self>(), cls.as_any())?;
        others.call_method("__init_subclass__", (), kwargs)?;
        define(cls)
    }

    fn __extenso_type_spec__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let value = Self::value(slf);
        spec::to_py(slf.py(), value.spec().or_raise()?)
    }

    fn __setattr__(&self, name: &str, _value: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(immutable(name))
    }

    fn __delattr__(&self, name: &str) -> PyResult<()> {
        Err(immutable(name))
    }

    fn __richcmp__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>, op: CompareOp) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let whole = matches!(op, CompareOp::Eq | CompareOp::Ne);
        if !whole || slf.get().class.annotated().or_raise()?.refines_rust {
            return call::compare(slf, other, op);
        }
        let equal = super::equal::equal(slf, other)?;
        let answer = equal.map(|equal| (equal == matches!(op, CompareOp::Eq)).into_pyobject(py));
        Ok(match answer.transpose()? {
            Some(answer) => answer.to_owned().into_any(),
            None => py.NotImplemented().into_bound(py),
        })
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let this = slf.get();
        let fields = if this.is_set() { this.fields(slf)? } else { &[] };
        let mut texts = Vec::new();
        for (i, field) in this.class.annotated().or_raise()?.table.fields.iter().enumerate() {
            let value = fields.get(i).map(|value| value.bind(slf.py()).repr()).transpose()?;
            texts.push(format!("{}={}", field.text, value.map_or("<not set>".into(), |value| value.to_string())));
        }
        Ok(format!("{}({})", slf.get_type().name()?, texts.join(", ")))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        // Rows that were cut out of others are written without these.
        if let Some(rows) = slf.get().in_rust.get().and_then(Ext::downcast::<RaggedTensor>)
            && !rows.partition().covers_all()
        {
            let alone = value::to_py(py, rows.compact().or_raise()?.into_value())?;
            return Ok(alone.call_method0("__reduce__")?.cast_into()?);
        }
        let make = py.import("extenso._core")?.getattr("_extension_from_fields")?;
        let fields: PyResult<Vec<_>> = slf.get().fields(slf)?.iter().map(|value| plain(value.bind(py))).collect();
        let args = (slf.get_type(), PyTuple::new(py, fields?)?).into_pyobject(py)?;
        (make, args).into_pyobject(py)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.fields.get().into_iter().flatten().try_for_each(|value| visit.call(value))
    }
});

impl PyExtensionBase {
    /// All fields.
    ///
    /// Errors: the constructor has not set them; a value of Rust has other components than the class has fields.
    #[inline]
    pub fn fields(&self, slf: &Bound<'_, PyAny>) -> PyResult<&[Py<PyAny>]> {
        match self.fields.get() {
            Some(fields) => Ok(fields),
            None => self.fields_of_rust(slf),
        }
    }

    fn fields_of_rust(&self, slf: &Bound<'_, PyAny>) -> PyResult<&[Py<PyAny>]> {
        let ext = self.in_rust.get().ok_or_else(|| self.is_empty(slf)).or_raise()?;
        let (spec, components) = (ext.spec().or_raise()?, ext.components().or_raise()?);
        let made = joined(slf.py(), &self.class, &spec, components)?;
        Ok(self.fields.get_or_init(|| made))
    }

    fn is_set(&self) -> bool {
        self.fields.get().is_some() || self.in_rust.get().is_some()
    }

    /// The error of a value whose constructor set no fields.
    fn is_empty(&self, slf: &Bound<'_, PyAny>) -> Error {
        Error::value(format!("a {} has no fields yet", arg::type_name(slf)))
            .hint("Call `super().__init__(...)` in its `__init__`, before the fields are read.")
    }

    /// The class.
    pub fn class(&self) -> &Arc<Class> {
        &self.class
    }

    /// The instance as a core value: that of Rust, if the class stands for a type that is written there.
    #[inline]
    pub fn value(slf: &Bound<'_, PyExtensionBase>) -> Value {
        Value::Ext(match slf.get().in_rust.get() {
            Some(ext) => ext.clone(),
            None => Ext::new(PyExtension::Annotated(slf.clone().unbind())),
        })
    }

    fn fill(slf: &Bound<'_, Self>, fields: Fields, provenance: Provenance) -> PyResult<()> {
        let this = slf.get();
        if this.is_set() || this.fields.set(fields).is_err() {
            let error = Error::value(format!("a {} is made already", arg::type_name(slf)));
            return Err(error.hint("Values are immutable: call `__init__` once.")).or_raise();
        }
        let annotated = this.class.annotated().or_raise()?;
        if annotated.refines_rust && provenance == Provenance::Outside {
            let made = check_in_rust(slf)?;
            if let Some(Value::Ext(ext)) = made.filter(|_| annotated.mirrors_rust) {
                this.in_rust.get_or_init(|| ext);
            }
        }
        Self::validate(slf, annotated, provenance)
    }

    /// Runs what the class says itself.
    fn validate(slf: &Bound<'_, Self>, annotated: &Annotated, provenance: Provenance) -> PyResult<()> {
        if let Some(validate) = &annotated.validate {
            // Sizes that are not known are `None` to it, and fit.
            extenso_graph::with_generalising(false, || {
                without_ops("__validate__", || {
                    call::python(validate.bind(slf.py()), std::slice::from_ref(slf.as_any()), None)
                })
            })?;
        }
        if let Some(validate) = annotated.validate_data.as_ref().filter(|_| provenance == Provenance::Outside)
            && !Self::is_symbolic(slf)?
        {
            with_ops(|| call::python(validate.bind(slf.py()), std::slice::from_ref(slf.as_any()), None))?;
        }
        Ok(())
    }

    /// Whether a component stands for data while tracing, so that there is no data to check.
    fn is_symbolic(slf: &Bound<'_, Self>) -> PyResult<bool> {
        let mut leaves = Vec::new();
        Self::value(slf).push_leaves(&mut leaves).or_raise()?;
        Ok(leaves.iter().any(|leaf| leaf.symbol().is_some()))
    }
}

/// Has the type that is written in Rust look at its components, as it does when Rust makes the value, which is what it gives.
fn check_in_rust(slf: &Bound<'_, PyAny>) -> PyResult<Option<Value>> {
    let Some(class) = rust_ancestor(&slf.get_type()) else { return Ok(None) };
    let annotated = class.annotated().or_raise()?;
    let (spec, components) = (spec(&class, annotated, slf)?, components(annotated, slf)?);
    guarded(|| extenso_core::rebuild(&spec, components, Provenance::Outside)).or_raise().map(Some)
}

/// The class, or the nearest one that it refines, whose type is written in Rust and has components. Its fields are the first ones.
fn rust_ancestor(cls: &Bound<'_, PyType>) -> Option<Arc<Class>> {
    let known = cls.mro().iter().filter_map(|base| Class::known(base.cast::<PyType>().ok()?)).collect::<Vec<_>>();
    let in_rust = |annotated: &Annotated| annotated.mirrors_rust && !annotated.table.fields.is_empty();
    known.into_iter().find(|class| class.annotated().is_ok_and(in_rust))
}

/// The constructor that classes have unless they write one.
fn init(
    slf: &Bound<'_, PyExtensionBase>,
    args: &Bound<'_, PyTuple>,
    kwargs: Option<&Bound<'_, PyDict>>,
) -> PyResult<()> {
    let this = slf.get();
    let fields = given(slf, this.class.annotated().or_raise()?, args, kwargs)?;
    PyExtensionBase::fill(slf, fields, Provenance::Outside)
}

pub type Fields = Box<[Py<PyAny>]>;

/// The fields of a constructor call: by position, by name, by default; converted.
///
/// Errors: too many, unknown or missing arguments; a value that does not fit, with its path; outer axes that do not meet.
fn given(
    slf: &Bound<'_, PyExtensionBase>,
    annotated: &Annotated,
    args: &Bound<'_, PyTuple>,
    kwargs: Option<&Bound<'_, PyDict>>,
) -> PyResult<Fields> {
    let (py, table) = (slf.py(), &annotated.table);
    let misuse = |what: String| {
        let name = arg::type_name(slf);
        Err(Error::dtype(what).wanted(format!("{name}{}", table.signature())).at(name)).or_raise()
    };
    if args.len() > table.positional {
        return misuse(format!("{} arguments are given by position", args.len()));
    }
    let mut named: Vec<Option<Bound<'_, PyAny>>> = Vec::new();
    if let Some(kwargs) = kwargs {
        named.resize(table.fields.len(), None);
        for (key, value) in kwargs {
            match table.position(key.cast::<PyString>()?) {
                Some(at) if at >= args.len() => named[at] = Some(value),
                Some(_) => return misuse(format!("the field '{key}' is given twice")),
                None => return misuse(format!("there is no field '{key}'")),
            }
        }
    }
    let mut fields = Vec::with_capacity(table.fields.len());
    for (i, field) in table.fields.iter().enumerate() {
        let resolved = field.resolve(py)?;
        let object =
            if i < args.len() { Some(args.get_borrowed_item(i)?.to_owned()) } else { named.get(i).cloned().flatten() };
        let value = match (object, &resolved.default) {
            (Some(object), _) => held(&slf.get().class, &resolved.kind, &object, &field.text)?.unbind(),
            (None, Some(default)) => default.clone_ref(py),
            (None, None) => return misuse(format!("the field '{}' is missing", field.text)),
        };
        fields.push(value);
    }
    of_axes(py, &slf.get().class, table, fields.into())
}

/// A field's value for pickle, which cannot write read-only mappings.
pub fn plain<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if let Ok(proxy) = value.cast::<pyo3::types::PyMappingProxy>() {
        let dict = PyDict::new(value.py());
        for item in proxy.items()? {
            let (key, item): (Bound<'py, PyAny>, Bound<'py, PyAny>) = item.extract()?;
            dict.set_item(key, plain(&item)?)?;
        }
        return Ok(dict.into_any());
    }
    if let Ok(tuple) = value.cast::<PyTuple>() {
        let items: PyResult<Vec<_>> = tuple.iter().map(|item| plain(&item)).collect();
        return Ok(PyTuple::new(value.py(), items?)?.into_any());
    }
    Ok(value.clone())
}

/// The value of a pickle: its fields are converted and validated, as those of a constructor are.
#[pyfunction]
#[pyo3(name = "_extension_from_fields")]
pub fn extension_from_fields<'py>(
    cls: &Bound<'py, PyType>,
    fields: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    let object = empty(cls)?;
    let base = object.cast::<PyExtensionBase>()?;
    let converted =
        given(base, base.get().class.annotated().or_raise()?, &PyTuple::empty(cls.py()), Some(&named(base, fields)?))?;
    PyExtensionBase::fill(base, converted, Provenance::Outside)?;
    Ok(object)
}

fn named<'py>(base: &Bound<'py, PyExtensionBase>, fields: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyDict>> {
    let table = &base.get().class.annotated().or_raise()?.table;
    if table.fields.len() != fields.len() {
        let error = Error::data(format!("the pickle has {} fields", fields.len()));
        return Err(error.wanted(format!("{}{}", arg::type_name(base), table.signature()))).or_raise();
    }
    let named = PyDict::new(base.py());
    table.fields.iter().zip(fields).try_for_each(|(field, value)| named.set_item(&field.name, value))?;
    Ok(named)
}

/// An instance without fields, as `__new__` leaves it.
fn empty<'py>(cls: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyAny>> {
    if !cls.is_subclass_of::<PyExtensionBase>()? {
        return Err(Error::dtype(format!("{cls} is no extension type")).wanted("a subclass of ExtensionType"))
            .or_raise();
    }
    new_of(cls)
}

/// What `__new__` of our class gives for a class that is known to be a subclass of it.
fn new_of<'py>(cls: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyAny>> {
    let py = cls.py();
    let args = PyTuple::empty(py);
    // SAFETY: the slot is the `__new__` of our class, called with a subclass of it and no arguments, as `type.__call__` would.
    unsafe {
        let slot = ffi::PyType_GetSlot(py.get_type::<PyExtensionBase>().as_type_ptr(), ffi::Py_tp_new);
        let new: ffi::newfunc = std::mem::transmute(slot);
        Bound::from_owned_ptr_or_err(py, new(cls.as_type_ptr(), args.as_ptr(), std::ptr::null_mut()))
    }
}

/// Rebuilds a value of an annotated class.
///
/// Errors: components or static data that the class refuses.
pub fn rebuild<'py>(
    py: Python<'py>,
    class: &Arc<Class>,
    spec: &ExtSpec,
    components: Vec<Value>,
    provenance: Provenance,
) -> PyResult<Bound<'py, PyAny>> {
    let fields = joined(py, class, spec, components)?;
    let object = empty(class.py_type.bind(py))?;
    PyExtensionBase::fill(object.cast::<PyExtensionBase>()?, fields, provenance)?;
    Ok(object)
}

/// The fields that these components are. Of one of many, that of rows is one row.
///
/// Errors: components or static data that the fields do not hold.
pub fn joined(py: Python<'_>, class: &Class, spec: &ExtSpec, components: Vec<Value>) -> PyResult<Fields> {
    let table = &class.annotated().or_raise()?.table;
    let components = components.into_iter().map(|component| value::to_py(py, component));
    let values = join(py, table, &spec.static_data, components)?;
    let field = |(field, value): (&Arc<Field>, Bound<'_, PyAny>)| -> PyResult<Py<PyAny>> {
        Ok(held(class, &field.resolve(py)?.kind, &value, &field.text)?.unbind())
    };
    table.fields.iter().zip(values).map(field).collect()
}

/// The object that a field holds for `object`. One of many values has one row where they have rows.
///
/// Errors: it does not fit; `path` says where.
fn held<'py>(class: &Class, kind: &Kind, object: &Bound<'py, PyAny>, path: &str) -> PyResult<Bound<'py, PyAny>> {
    let rows = |of: &Bound<'_, PyType>| Class::known(of).is_some_and(|of| of.def.is_a(RaggedTensorSpec::def()));
    match kind {
        Kind::Ext(Some(of))
            if object.is_exact_instance_of::<PyTensor>()
                && class.def.is_a(BatchableSpec::def())
                && rows(of.bind(object.py())) =>
        {
            Ok(object.clone())
        }
        _ => convert(kind, object, path),
    }
}

/// The instance that stands for a value of a type that is written in Rust. Its fields are made when they are read.
///
/// Errors: what the class itself validates.
pub fn of_rust<'py>(
    py: Python<'py>,
    class: &Arc<Class>,
    annotated: &Annotated,
    ext: &Ext,
) -> PyResult<Bound<'py, PyAny>> {
    let object = new_of(class.py_type.bind(py))?;
    let base = object.cast::<PyExtensionBase>()?;
    base.get().in_rust.get_or_init(|| ext.clone());
    PyExtensionBase::validate(base, annotated, Provenance::Trusted)?;
    Ok(object)
}

/// The spec of an instance.
pub fn spec(class: &Arc<Class>, annotated: &Annotated, object: &Bound<'_, PyAny>) -> PyResult<ExtSpec> {
    let py = object.py();
    let fields = object.cast::<PyExtensionBase>()?.get().fields(object)?;
    let (static_data, parts) = split(py, &annotated.table, |i| Ok(fields[i].bind(py).clone()), &arg::is_value)?;
    let components: PyResult<Vec<_>> =
        parts.into_iter().map(|(segment, part)| Ok((segment, value::from_py(&part)?.spec().or_raise()?))).collect();
    Ok(ExtSpec { def: class.def.clone(), static_data, components: components? })
}

/// The components of an instance as they stand, if it is of the type of `spec` and each of its fields holds one component.
pub fn plain_components<'a>(object: &'a Bound<'_, PyAny>, spec: &ExtSpec) -> Option<&'a [Py<PyAny>]> {
    let base = object.cast::<PyExtensionBase>().ok()?.get();
    let is_plain = base.class.def.uid() == spec.def.uid()
        && spec.static_data == StaticValue::None
        && base.class.annotated().ok()?.table.is_plain(object.py());
    base.fields.get().filter(|fields| is_plain && fields.len() == spec.components.len()).map(|fields| &**fields)
}

/// The components of an instance.
pub fn components(annotated: &Annotated, object: &Bound<'_, PyAny>) -> PyResult<Vec<Value>> {
    let py = object.py();
    let fields = object.cast::<PyExtensionBase>()?.get().fields(object)?;
    let (_, parts) = split(py, &annotated.table, |i| Ok(fields[i].bind(py).clone()), &arg::is_value)?;
    parts.iter().map(|(_, part)| value::from_py(part)).collect()
}

/// Defines the extension type of a new class.
///
/// Errors: a reserved field name, an annotation or a default that is not allowed, a type name that is taken.
fn define(cls: &Bound<'_, PyType>) -> PyResult<()> {
    let py = cls.py();
    let table = Table::new(fields(cls)?);
    for field in table.fields.iter().filter(|field| !field.is_pending(py)) {
        field.resolve(py)?;
    }
    let (def, mirrors_rust) = match own_attribute(cls, "__extenso_rust__")? {
        Some(name) => (rust_def(&name.extract::<String>()?)?, true),
        None => {
            let definition: Vec<_> = table.fields.iter().map(|field| field.definition(py)).collect();
            (new_def(cls, type_name(cls)?, &definition.join("\n"))?, false)
        }
    };
    let annotated = Annotated {
        validate: overridden(cls, "__validate__")?,
        validate_data: overridden(cls, "__validate_data__")?,
        mirrors_rust,
        refines_rust: (mirrors_rust && !table.fields.is_empty()) || rust_ancestor(cls).is_some(),
        table,
    };
    for (at, field) in annotated.table.fields.iter().enumerate() {
        cls.setattr(&field.name, Bound::new(py, PyField { at, field: field.clone() })?)?;
    }
    let names: Vec<_> =
        annotated.table.fields[..annotated.table.positional].iter().map(|field| field.name.clone_ref(py)).collect();
    cls.setattr("__match_args__", PyTuple::new(py, names)?)?;
    if own_attribute(cls, "Spec")?.is_none() {
        cls.setattr("Spec", spec::class_for(cls)?)?;
    }
    Class::define(py, Class { def, py_type: cls.clone().unbind(), form: Form::Annotated(annotated) })?;
    Ok(())
}

/// The fields of a class: those of its ancestors, then its own; one annotated again keeps its place.
fn fields(cls: &Bound<'_, PyType>) -> PyResult<Vec<Arc<Field>>> {
    let mut fields: Vec<Arc<Field>> = Vec::new();
    let mut put = |field: Arc<Field>| match fields.iter_mut().find(|known| known.text == field.text) {
        Some(known) => *known = field,
        None => fields.push(field),
    };
    let bases: Vec<_> = cls.mro().iter().skip(1).collect();
    for base in bases.iter().rev() {
        if let Some(class) = base.cast::<PyType>().ok().and_then(Class::known)
            && let Ok(annotated) = class.annotated()
        {
            annotated.table.fields.iter().cloned().for_each(&mut put);
        }
    }
    for (name, annotation) in annotation::own_annotations(cls)? {
        if annotation::is_class_variable(&annotation)? {
            continue;
        }
        let name = name.cast_into::<PyString>()?;
        let default = own_attribute(cls, &name.to_cow()?)?;
        put(Arc::new(Field::new(cls, &name, &annotation, default)?));
    }
    Ok(fields)
}

/// A method of the class, unless it is the one that the base has.
fn overridden(cls: &Bound<'_, PyType>, name: &str) -> PyResult<Option<Py<PyAny>>> {
    let (found, of_base) = (cls.getattr(name)?, cls.py().get_type::<PyExtensionBase>().getattr(name)?);
    Ok((!found.is(&of_base)).then(|| found.unbind()))
}
