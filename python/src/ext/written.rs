//! Classes with a spec written by hand: any class with `__extenso_type_spec__`, and the `TypeSpec` subclass that it returns.
//!
//! Invariant: what `serialize` says of a component's spec is kept as a reference to the component, so that a spec of other
//! component specs says the same in both places.

use crate::arg;
use crate::depth::deeper;
use crate::error::{OrRaise, raised};
use crate::pointers::PointerMap;
use crate::spec::{self, PyTypeSpec};
use crate::value;
use extenso_core::{Value, without_ops};
use extenso_types::{Error, ExtSpec, Path, Segment, Spec, StaticValue};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};
use std::sync::{Arc, PoisonError, RwLock};

use super::assemble::{from_static, to_static};
use super::class::{Class, Form, new_def, own_attribute, type_name};

/// The spec class of a value class, and the name that it was registered under.
struct Link {
    spec_class: Py<PyType>,
    name: Option<String>,
    /// Kept, so that no other class comes to stand at its address.
    _value_class: Py<PyType>,
}

static LINKS: RwLock<PointerMap<Link>> = RwLock::new(PointerMap::new());

/// Says that values of `value_class` have specs of `spec_class`.
pub fn link_spec_class(value_class: &Bound<'_, PyType>, spec_class: &Bound<'_, PyType>, name: Option<String>) {
    let link = Link { spec_class: spec_class.clone().unbind(), name, _value_class: value_class.clone().unbind() };
    LINKS.write().unwrap_or_else(PoisonError::into_inner).insert(value_class.as_ptr().addr(), link);
}

fn spec_class<'py>(value_class: &Bound<'py, PyType>) -> Option<(Bound<'py, PyType>, Option<String>)> {
    let links = LINKS.read().unwrap_or_else(PoisonError::into_inner);
    let link = links.get(value_class.as_ptr().addr())?;
    Some((link.spec_class.bind(value_class.py()).clone(), link.name.clone()))
}

/// Registers the type of a spec class under a name, or under its default name.
///
/// Errors: it has no `value_type`, or one that does not say its spec itself; its type has another name already; the name is
/// taken.
pub fn name_spec_class(class: &Bound<'_, PyType>, name: Option<String>) -> PyResult<()> {
    let value_class = value_class(class)?;
    if let Some(known) = Class::known(&value_class) {
        let taken = known.def.name().to_string();
        return match name {
            Some(name) if name != taken => {
                let error = Error::value(format!("{value_class} is registered as '{taken}' already"));
                Err(error.wanted("one name for each class").hint("Register it before its first value is made."))
                    .or_raise()
            }
            _ => Ok(()),
        };
    }
    if !arg::is_written_extension(&value_class)? {
        let error = Error::dtype(format!("{value_class} has no `__extenso_type_spec__`"));
        let error =
            error.wanted("a class that says its spec itself: others cannot be made extension types from outside");
        return Err(error.hint("Wrap its objects in a class of yours.")).or_raise();
    }
    link_spec_class(&value_class, class, name);
    Class::of(&value_class)?;
    Ok(())
}

/// The class of the values of a spec class.
///
/// Errors: its `value_type` is no class.
pub fn value_class<'py>(class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyType>> {
    let found = class.getattr_opt("value_type")?;
    let found = found.and_then(|found| found.cast_into::<PyType>().ok());
    let missing = || {
        Error::missing(format!("{class} has no `value_type`")).wanted("the class of its values as a class attribute")
    };
    found.ok_or_else(missing).or_raise()
}

/// The class of a Python type with a spec written by hand, which becomes known here; none for any other type.
///
/// Errors: the name of its type is taken.
pub fn class_of(py_type: &Bound<'_, PyType>) -> PyResult<Option<Arc<Class>>> {
    if !arg::is_written_extension(py_type)? {
        return Ok(None);
    }
    let name = match spec_class(py_type) {
        Some((_, Some(name))) => name.parse().or_raise()?,
        Some((class, None)) if own_attribute(&class, "__extenso_name__")?.is_some() => type_name(&class)?,
        _ => type_name(py_type)?,
    };
    let def = new_def(py_type, name, "written by hand")?;
    let class = Class { def, py_type: py_type.clone().unbind(), form: Form::Written };
    Class::define(py_type.py(), class).map(Some)
}

/// The spec object that a value gives of itself.
///
/// Errors: it gives something else.
fn spec_of<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTypeSpec>> {
    let given = object.call_method0("__extenso_type_spec__")?;
    given.cast_into::<PyTypeSpec>().map_err(|given| {
        let given = given.into_inner();
        let error = Error::dtype(format!("`__extenso_type_spec__` returned a {}", arg::type_name(&given)));
        raised(object.py(), error.wanted("an instance of a subclass of TypeSpec").at(arg::type_name(object)))
    })
}

/// The normal form of a value's spec.
pub fn spec(object: &Bound<'_, PyAny>) -> PyResult<ExtSpec> {
    let given = spec_of(object)?;
    let class = object.get_type();
    if spec_class(&class).is_none() {
        link_spec_class(&class, &given.get_type(), None);
    }
    match spec::core_spec(&given)? {
        Spec::Ext(spec) => Ok((*spec).clone()),
        other => Err(Error::dtype(format!("the spec is {other}")).wanted("the spec of an extension type")).or_raise(),
    }
}

/// The components of a value.
pub fn components(object: &Bound<'_, PyAny>) -> PyResult<Vec<Value>> {
    let given = spec_of(object)?;
    let nest = given.call_method1("to_components", (object,))?;
    let Spec::Ext(spec) = spec::core_spec(&given)? else {
        return Err(Error::internal("a spec written by hand is no extension's")).or_raise();
    };
    let leaves = flatten(&nest, &arg::is_value)?;
    let component = |(i, (segment, leaf)): (usize, (Segment, Bound<'_, PyAny>))| {
        let made = value::from_py(&leaf)?;
        match (&made, spec.components.get(i)) {
            // A value that stands for itself has no end.
            (Value::Ext(ext), Some((_, wanted))) if !matches!(wanted, Spec::Ext(wanted) if ext.def().is_a(&wanted.def)) =>
            {
                let error = Error::dtype(format!("found a value of type {}", arg::type_name(&leaf)));
                Err(error.wanted(wanted.to_string()).at_path(&Path::from_iter([segment])).at("to_components"))
                    .or_raise()
            }
            _ => Ok(made),
        }
    };
    leaves.into_iter().enumerate().map(component).collect()
}

/// The normal form of a spec object whose class is written by hand.
///
/// Errors: methods that are missing or return what no spec has.
pub fn written_spec(given: &Bound<'_, PyTypeSpec>) -> PyResult<Spec> {
    let written = || {
        let value_class = value_class_of(given)?;
        let class = Class::of(&value_class)?;
        let unknown = || {
            Error::dtype(format!("{value_class} is no extension type")).wanted("a class with `__extenso_type_spec__`")
        };
        let class = class.ok_or_else(unknown).or_raise()?;
        if spec_class(&value_class).is_none() {
            link_spec_class(&value_class, &given.get_type(), None);
        }
        let mut components = Vec::new();
        for (segment, leaf) in flatten(&attribute(given, "component_specs")?, &is_spec)? {
            components.push((segment, spec::core_spec(leaf.cast::<PyTypeSpec>()?)?));
        }
        let serialized = to_static(&given.call_method0("serialize")?)?;
        let static_data = referring(serialized, &components);
        Ok(Spec::from(ExtSpec { def: class.def.clone(), static_data, components }))
    };
    deeper(given.py(), "a spec", || without_ops("serialize", written))
}

fn value_class_of<'py>(given: &Bound<'py, PyTypeSpec>) -> PyResult<Bound<'py, PyType>> {
    let found = attribute(given, "value_type")?;
    let wrong = || Error::dtype(format!("`value_type` is {found}")).wanted("the class of the values");
    found.cast::<PyType>().cloned().map_err(|_| wrong()).or_raise()
}

/// A property, a plain attribute, or what a method of that name returns.
fn attribute<'py>(given: &Bound<'py, PyTypeSpec>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let found = given.getattr(name)?;
    if found.is_callable() && !found.is_instance_of::<PyType>() { found.call0() } else { Ok(found) }
}

const REFERENCE: &str = "extenso component";

/// Static data in which the specs of components are references to them.
fn referring(value: StaticValue, components: &[(Segment, Spec)]) -> StaticValue {
    match value {
        StaticValue::Spec(spec) => match components.iter().position(|(_, known)| known.equals(&spec)) {
            Some(at) => StaticValue::Tuple(vec![
                StaticValue::Str(REFERENCE.into()),
                StaticValue::Int(i64::try_from(at).unwrap_or(i64::MAX)),
            ]),
            None => StaticValue::Spec(spec),
        },
        StaticValue::Tuple(items) => {
            StaticValue::Tuple(items.into_iter().map(|item| referring(item, components)).collect())
        }
        StaticValue::Map(entries) => {
            StaticValue::Map(entries.into_iter().map(|(key, item)| (key, referring(item, components))).collect())
        }
        other => other,
    }
}

/// Static data with its references replaced by the specs of the components.
fn resolved(value: &StaticValue, components: &[(Segment, Spec)]) -> StaticValue {
    match value {
        StaticValue::Tuple(items) => match items.as_slice() {
            [StaticValue::Str(tag), StaticValue::Int(at)] if tag == REFERENCE => {
                let found = usize::try_from(*at).ok().and_then(|at| components.get(at));
                found.map_or_else(|| value.clone(), |(_, spec)| StaticValue::Spec(Box::new(spec.clone())))
            }
            items => StaticValue::Tuple(items.iter().map(|item| resolved(item, components)).collect()),
        },
        StaticValue::Map(entries) => {
            StaticValue::Map(entries.iter().map(|(key, item)| (key.clone(), resolved(item, components))).collect())
        }
        other => other.clone(),
    }
}

/// The spec object of a normal form.
///
/// Errors: no spec class is known for the type; what its `deserialize` raises.
pub fn deserialized<'py>(py: Python<'py>, class: &Class, spec: &ExtSpec) -> PyResult<Bound<'py, PyAny>> {
    let value_class = class.py_type.bind(py);
    let unknown = || {
        Error::missing(format!("no spec class is known for {}", class.def))
            .hint("Set `value_type` in the body of the spec class, or register it with `register_type_spec`.")
    };
    let (spec_class, _) = spec_class(value_class).ok_or_else(unknown).or_raise()?;
    let data = from_static(py, &resolved(&spec.static_data, &spec.components))?;
    spec_class.call_method1("deserialize", (data,))
}

/// Rebuilds a value.
///
/// Errors: what the spec class raises.
pub fn rebuild<'py>(py: Python<'py>, spec: &ExtSpec, components: Vec<Value>) -> PyResult<Bound<'py, PyAny>> {
    let made = spec::to_py(py, Spec::from(spec.clone()))?;
    let structure = attribute(made.cast::<PyTypeSpec>()?, "component_specs")?;
    let mut leaves = components.into_iter().map(|component| value::to_py(py, component));
    let nest = pack(&structure, &mut leaves, &is_spec)?;
    made.call_method1("from_components", (nest,))
}

fn is_spec(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyTypeSpec>()
}

/// The leaves of a nest of lists, tuples and dicts, each with the step that leads to it; dicts in the order of their keys.
///
/// Errors: something that is neither a leaf nor a nest.
pub fn flatten<'py>(
    nest: &Bound<'py, PyAny>,
    is_leaf: &dyn Fn(&Bound<'py, PyAny>) -> bool,
) -> PyResult<Vec<(Segment, Bound<'py, PyAny>)>> {
    if is_leaf(nest) {
        return Ok(vec![(Segment::Itself, nest.clone())]);
    }
    let mut leaves = Vec::new();
    for (key, item) in entries(nest)? {
        let inner = flatten(&item, is_leaf)?;
        leaves.extend(inner.into_iter().map(|(segment, leaf)| (below(&key, &segment), leaf)));
    }
    Ok(leaves)
}

/// One step for two: a component has one, however deep it stands in the nest.
fn below(key: &Segment, inner: &Segment) -> Segment {
    match (key, inner) {
        (key, Segment::Itself) => key.clone(),
        (key, inner) => Segment::field(Path::from_iter([key.clone(), inner.clone()]).to_string()),
    }
}

fn entries<'py>(nest: &Bound<'py, PyAny>) -> PyResult<Vec<(Segment, Bound<'py, PyAny>)>> {
    if let Ok(dict) = nest.cast::<PyDict>() {
        let mut entries: Vec<(String, Bound<'py, PyAny>)> =
            dict.iter().map(|(key, item)| Ok((key.extract()?, item))).collect::<PyResult<_>>()?;
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        return Ok(entries.into_iter().map(|(key, item)| (Segment::field(key), item)).collect());
    }
    if nest.is_instance_of::<PyTuple>() || nest.is_instance_of::<PyList>() {
        return nest.try_iter()?.enumerate().map(|(i, item)| Ok((Segment::Index(i), item?))).collect();
    }
    let error = Error::dtype(format!("found a value of type {} among the components", arg::type_name(nest)));
    Err(error.wanted("a tensor, a row partition, a value of an extension type, or a list, tuple or dict of these"))
        .or_raise()
}

/// The nest of the structure of `nest` with its leaves taken from `leaves`.
///
/// Errors: too few leaves.
pub fn pack<'py>(
    nest: &Bound<'py, PyAny>,
    leaves: &mut dyn Iterator<Item = PyResult<Bound<'py, PyAny>>>,
    is_leaf: &dyn Fn(&Bound<'py, PyAny>) -> bool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = nest.py();
    if is_leaf(nest) {
        return leaves.next().unwrap_or_else(|| Err(Error::value("no component is left")).or_raise());
    }
    let entries = entries(nest)?;
    let items: PyResult<Vec<_>> = entries.iter().map(|(_, item)| pack(item, leaves, is_leaf)).collect();
    let items = items?;
    if nest.is_instance_of::<PyTuple>() {
        return Ok(PyTuple::new(py, items)?.into_any());
    }
    if nest.is_instance_of::<PyList>() {
        return Ok(PyList::new(py, items)?.into_any());
    }
    let dict = PyDict::new(py);
    for ((segment, _), item) in entries.into_iter().zip(items) {
        if let Segment::Field(key) = segment {
            dict.set_item(&*key, item)?;
        }
    }
    Ok(dict.into_any())
}
