//! Fields: the descriptors that classes have for their annotations, and the table of a class.
//!
//! Invariant: a table never changes; the kinds in it are found at their first use, because an annotation may name what comes later.

use crate::arg;
use crate::error::{OrRaise, raised};
use crate::ext::PyExtensionBase;
use extenso_types::{Error, Path, Segment};
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyMapping, PyString, PyType};
use std::sync::Arc;

use super::annotation;
use super::class::own_attribute;
use super::convert::convert;
use super::kind::{Components, Kind};

/// One field of an annotated class.
pub struct Field {
    /// Its name, interned.
    pub name: Py<PyString>,
    /// Its name.
    pub text: String,
    /// The step that leads to it, if it is one component.
    pub segment: Segment,
    annotation: Py<PyAny>,
    default: Option<Py<PyAny>>,
    /// The class whose body has the annotation.
    owner: Py<PyType>,
    resolved: PyOnceLock<Resolved>,
}

/// What is known of a field once its annotation is.
pub struct Resolved {
    /// What it may hold.
    pub kind: Kind,
    /// Its default, converted and checked.
    pub default: Option<Py<PyAny>>,
}

impl Field {
    /// A field of a class body.
    ///
    /// Errors: a reserved name.
    pub fn new(
        owner: &Bound<'_, PyType>,
        name: &Bound<'_, PyString>,
        annotation: &Bound<'_, PyAny>,
        default: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Field> {
        let text = name.to_cow()?.into_owned();
        if text == "self" || text == "Spec" || text.starts_with("__") || text.starts_with("_extenso") {
            let error = Error::value(format!("the field name '{text}' is reserved")).hint("Choose another name.");
            return Err(raised(owner.py(), error.at(owner.name()?.to_string())));
        }
        let segment = segment(owner, &text)?;
        Ok(Field {
            segment,
            name: PyString::intern(owner.py(), &text).unbind(),
            text,
            annotation: annotation.clone().unbind(),
            default: default.map(Bound::unbind),
            owner: owner.clone().unbind(),
            resolved: PyOnceLock::new(),
        })
    }

    /// Whether a value can be made without it.
    pub fn has_default(&self) -> bool {
        self.default.is_some()
    }

    /// The kind and the checked default.
    ///
    /// Errors: an annotation that is not allowed or names what is not defined; a default that does not fit.
    pub fn resolve(&self, py: Python<'_>) -> PyResult<&Resolved> {
        if let Some(resolved) = self.resolved.get(py) {
            return Ok(resolved);
        }
        let owner = self.owner.bind(py);
        let kind = annotation::kind(owner, self.annotation.bind(py)).map_err(|e| self.at(py, e))?;
        let default = self.default.as_ref().map(|default| convert(&kind, default.bind(py), &self.text));
        let default = default.transpose().map_err(|e| self.at(py, e))?.map(Bound::unbind);
        Ok(self.resolved.get_or_init(py, || Resolved { kind, default }))
    }

    fn at(&self, py: Python<'_>, exception: PyErr) -> PyErr {
        let place = format!("{}, field '{}'", self.owner.bind(py), self.text);
        exception.add_note(py, place.as_str()).map_or_else(|failure| failure, |()| exception)
    }

    /// Whether the annotation waits for a name to be defined.
    pub fn is_pending(&self, py: Python<'_>) -> bool {
        self.resolved.get(py).is_none() && self.annotation.bind(py).is_instance_of::<PyString>()
    }

    /// The field as the fingerprint of its class sees it.
    pub fn definition(&self, py: Python<'_>) -> String {
        match self.resolved.get(py) {
            Some(resolved) => format!("{}: {}", self.text, resolved.kind),
            None => format!("{}: {}", self.text, self.annotation.bind(py)),
        }
    }
}

/// The step to a field: its name, or what `__extenso_paths__` of the class body says, as a path of at most one step.
fn segment(owner: &Bound<'_, PyType>, name: &str) -> PyResult<Segment> {
    let Some(paths) = own_attribute(owner, "__extenso_paths__")? else { return Ok(Segment::field(name)) };
    let path: Path = step_of(owner, &paths, name)?.parse().or_raise()?;
    match path.segments() {
        [] => Ok(Segment::Itself),
        [segment] => Ok(segment.clone()),
        _ => Err(Error::value(format!("the path '{path}' has more than one step")).at("__extenso_paths__")).or_raise(),
    }
}

/// The step as the class body writes it.
///
/// Errors: a mapping without the field; a step that is no string.
fn step_of(owner: &Bound<'_, PyType>, paths: &Bound<'_, PyAny>, name: &str) -> PyResult<String> {
    let at = |e: Error| e.at("__extenso_paths__").at(format!("type {owner}, field '{name}'"));
    let paths = paths.cast::<PyMapping>().map_err(|_| {
        let found = arg::type_name(paths);
        raised(
            owner.py(),
            at(Error::dtype(format!("found a value of type {found}")).wanted("a dict of the steps of fields")),
        )
    })?;
    if !paths.contains(name)? {
        let error = Error::missing("the field has no step").wanted(format!("'{name}' among the keys"));
        return Err(raised(owner.py(), at(error.hint(format!("Add `\"{name}\": \"{name}\"`.")))));
    }
    let step = paths.get_item(name)?;
    step.extract().map_err(|_| {
        let found = arg::type_name(&step);
        raised(owner.py(), at(Error::dtype(format!("the step is a value of type {found}")).wanted("a string")))
    })
}

/// The fields of a class, those of its ancestors first.
pub struct Table {
    /// The fields in order.
    pub fields: Vec<Arc<Field>>,
    /// How many of them may be given by position.
    pub positional: usize,
    plain: PyOnceLock<bool>,
}

impl Table {
    /// The table of these fields. Behind a field with a default, one without is keyword-only, and so are those behind it.
    pub fn new(fields: Vec<Arc<Field>>) -> Table {
        let first_default = fields.iter().position(|field| field.has_default()).unwrap_or(fields.len());
        let keyword = fields[first_default..].iter().position(|field| !field.has_default());
        let positional = keyword.map_or(fields.len(), |at| first_default + at);
        Table { fields, positional, plain: PyOnceLock::new() }
    }

    /// Whether each field holds one component; not before all annotations are known.
    pub fn is_plain(&self, py: Python<'_>) -> bool {
        let is_one = |field: &Arc<Field>| field.resolve(py).map(|known| known.kind.components() == Components::One);
        let found = self.plain.get_or_try_init(py, || {
            self.fields.iter().map(is_one).collect::<PyResult<Vec<_>>>().map(|all| !all.contains(&false))
        });
        found.is_ok_and(|plain| *plain)
    }

    /// Where the field of a name stands.
    pub fn position(&self, name: &Bound<'_, PyString>) -> Option<usize> {
        let same = self.fields.iter().position(|field| field.name.as_ptr() == name.as_ptr());
        same.or_else(|| {
            let text = name.to_cow().ok()?;
            self.fields.iter().position(|field| field.text == text)
        })
    }

    /// `(values, mask, unit=...)`, for messages.
    pub fn signature(&self) -> String {
        let mut texts: Vec<String> = Vec::new();
        for (i, field) in self.fields.iter().enumerate() {
            if i == self.positional {
                texts.push("*".into());
            }
            texts.push(format!("{}{}", field.text, if field.has_default() { "=..." } else { "" }));
        }
        format!("({})", texts.join(", "))
    }
}

/// The attribute that a class has for a field: reads it, and refuses to change it.
#[pyclass(name = "Field", module = "extenso", frozen)]
pub struct PyField {
    /// Where it stands in the table of the class that has the attribute.
    pub at: usize,
    /// The field.
    pub field: Arc<Field>,
}

#[pymethods]
impl PyField {
    fn __get__<'py>(
        slf: &Bound<'py, Self>,
        instance: Option<&Bound<'py, PyAny>>,
        _owner: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(instance) = instance else { return Ok(slf.as_any().clone()) };
        let this = slf.get();
        let base = instance.cast::<PyExtensionBase>()?.get();
        let value = base.fields(instance)?.get(this.at);
        Ok(value.ok_or_else(|| Error::internal("a field has no value")).or_raise()?.bind(slf.py()).clone())
    }

    fn __set__(&self, _instance: &Bound<'_, PyAny>, _value: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(immutable(&self.field.text))
    }

    fn __delete__(&self, _instance: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(immutable(&self.field.text))
    }

    /// The name of the field.
    #[getter]
    fn name(&self) -> &str {
        &self.field.text
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("<field {}>", self.field.definition(py))
    }
}

/// The exception of an attempt to change a value.
pub fn immutable(name: &str) -> PyErr {
    PyAttributeError::new_err(format!(
        "'{name}' cannot be changed: values of extension types are immutable. Make a new value with the constructor."
    ))
}
