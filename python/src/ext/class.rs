//! Classes: what is known of a Python class whose instances are values of an extension type.
//!
//! Invariant: a class has one definition; a class defined again has a new one under the old name. Classes are never
//! forgotten, because their definitions are not.

use crate::dispatch;
use crate::error::{OrCarry, OrRaise};
use crate::pointers::PointerMap;
use extenso_core::{Ext, Provenance, TypeBehavior, Value, lookup, register};
use extenso_types::{Error, ExtSpec, Fingerprint, Result, TypeDef, TypeName};
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use super::field::Table;
use super::value::PyExtension;
use super::{base, written};

/// A class whose instances are values of an extension type.
pub struct Class {
    /// The definition.
    pub def: Arc<TypeDef>,
    /// The class itself.
    pub py_type: Py<PyType>,
    /// How its values are taken apart.
    pub form: Form,
}

/// How the values of a class are taken apart.
pub enum Form {
    /// By its annotations.
    Annotated(Annotated),
    /// By a spec class written by hand.
    Written,
}

/// What is known of an annotated class.
pub struct Annotated {
    /// Its fields.
    pub table: Table,
    /// Its `__validate__`, unless it is the base's, which checks nothing.
    pub validate: Option<Py<PyAny>>,
    /// Its `__validate_data__`, unless it is the base's.
    pub validate_data: Option<Py<PyAny>>,
    /// Whether the definition is one of a type written in Rust.
    pub mirrors_rust: bool,
    /// Whether it is such a type or refines one: then `==` compares element by element, as that of tensors does.
    pub refines_rust: bool,
}

static CLASSES: RwLock<PointerMap<Arc<Class>>> = RwLock::new(PointerMap::new());
/// By the uid of the definition.
static BY_DEF: RwLock<BTreeMap<u64, Arc<Class>>> = RwLock::new(BTreeMap::new());

impl Class {
    /// The class that is known by a Python type; a type with `__extenso_type_spec__` becomes known when it is first seen.
    ///
    /// Errors: the name of its type is taken.
    pub fn of(py_type: &Bound<'_, PyType>) -> PyResult<Option<Arc<Class>>> {
        if let Some(class) = Class::known(py_type) {
            return Ok(Some(class));
        }
        written::class_of(py_type)
    }

    /// The class that is known by a Python type already.
    #[inline]
    pub fn known(py_type: &Bound<'_, PyType>) -> Option<Arc<Class>> {
        let classes = CLASSES.read().unwrap_or_else(PoisonError::into_inner);
        classes.get(py_type.as_ptr().addr()).cloned()
    }

    /// The class that stands for a definition.
    pub fn by_def(def: &TypeDef) -> Option<Arc<Class>> {
        let classes = BY_DEF.read().unwrap_or_else(PoisonError::into_inner);
        classes.get(&def.uid()).cloned()
    }

    /// The class that stands for a definition. Those of the types that Extenso ships are made when one is first met.
    pub fn met(py: Python<'_>, def: &TypeDef) -> PyResult<Option<Arc<Class>>> {
        let class = Class::by_def(def);
        if class.is_some() || !def.name().as_str().starts_with("extenso/") {
            return Ok(class);
        }
        py.import("extenso._types")?;
        Ok(Class::by_def(def))
    }

    /// Makes a class known, in the registry of core too.
    ///
    /// Errors: another module has the name.
    pub fn define(py: Python<'_>, class: Class) -> PyResult<Arc<Class>> {
        let class = Arc::new(class);
        let py_type = class.py_type.bind(py);
        let mirrors = matches!(&class.form, Form::Annotated(annotated) if annotated.mirrors_rust);
        if !mirrors {
            let owner: String = py_type.getattr("__module__")?.extract()?;
            let behavior = Behavior { class: class.clone(), dispatch_types: dispatch_types(py_type)? };
            register(&class.def, &format!("module {owner}"), Arc::new(behavior)).or_raise()?;
        }
        let address = py_type.as_ptr().addr();
        CLASSES.write().unwrap_or_else(PoisonError::into_inner).insert(address, class.clone());
        BY_DEF.write().unwrap_or_else(PoisonError::into_inner).insert(class.def.uid(), class.clone());
        dispatch::register_catch_all(&class, py_type)?;
        Ok(class)
    }

    /// The annotations' form.
    ///
    /// Errors: the class is written by hand.
    pub fn annotated(&self) -> Result<&Annotated> {
        match &self.form {
            Form::Annotated(annotated) => Ok(annotated),
            Form::Written => Err(Error::internal(format!("{} has no fields", self.def))),
        }
    }

    /// An instance as a core value.
    #[inline]
    pub fn value(self: &Arc<Self>, object: &Bound<'_, PyAny>) -> Value {
        Value::Ext(Ext::new(PyExtension::new(object, self)))
    }

    /// The instance that stands for a value made in Rust or rebuilt from a file.
    ///
    /// Errors: components that the class refuses.
    pub fn object_of<'py>(self: &Arc<Self>, py: Python<'py>, ext: &Ext) -> PyResult<Bound<'py, PyAny>> {
        if let Form::Annotated(annotated) = &self.form
            && annotated.mirrors_rust
        {
            return base::of_rust(py, self, annotated, ext);
        }
        let (spec, components) = (ext.spec().or_raise()?, ext.components().or_raise()?);
        self.rebuild(py, &spec, components, Provenance::Trusted)
    }

    /// Rebuilds an instance.
    ///
    /// Errors: components or static data that the class refuses.
    pub fn rebuild<'py>(
        self: &Arc<Self>,
        py: Python<'py>,
        spec: &ExtSpec,
        components: Vec<Value>,
        provenance: Provenance,
    ) -> PyResult<Bound<'py, PyAny>> {
        match &self.form {
            Form::Annotated(_) => base::rebuild(py, self, spec, components, provenance),
            Form::Written => written::rebuild(py, spec, components),
        }
    }
}

struct Behavior {
    class: Arc<Class>,
    dispatch_types: Option<Vec<String>>,
}

impl TypeBehavior for Behavior {
    fn rebuild(&self, spec: &ExtSpec, components: Vec<Value>, provenance: Provenance) -> Result<Ext> {
        Python::attach(|py| {
            let object = self.class.rebuild(py, spec, components, provenance).or_carry(py)?;
            Ok(Ext::new(PyExtension::new(&object, &self.class)))
        })
    }

    fn dispatch_types(&self) -> Option<Vec<String>> {
        self.dispatch_types.clone()
    }

    fn checks_data(&self) -> bool {
        match &self.class.form {
            Form::Annotated(annotated) => annotated.validate_data.is_some() || annotated.refines_rust,
            Form::Written => false,
        }
    }
}

/// The names of the types that `__extenso_dispatch_types__` lists, as classes or names.
fn dispatch_types(py_type: &Bound<'_, PyType>) -> PyResult<Option<Vec<String>>> {
    let Some(listed) = py_type.getattr_opt("__extenso_dispatch_types__")? else { return Ok(None) };
    let names: PyResult<Vec<String>> = listed
        .try_iter()?
        .map(|item| {
            let item = item?;
            match item.cast::<PyType>() {
                Ok(class) => {
                    let unknown = || Error::dtype(format!("{class} in `__extenso_dispatch_types__`"));
                    let known = Class::of(class)?;
                    let known = known.ok_or_else(|| unknown().wanted("extension types or their names")).or_raise()?;
                    Ok(known.def.name().to_string())
                }
                Err(_) => item.extract(),
            }
        })
        .collect();
    names.map(Some)
}

/// The definition of a class by its name, version and definition text; ancestors by its `__mro__`.
///
/// Errors: a name that is no type name.
pub fn new_def(py_type: &Bound<'_, PyType>, name: TypeName, definition: &str) -> PyResult<Arc<TypeDef>> {
    let version: u32 = match own_attribute(py_type, "__extenso_version__")? {
        Some(version) => version.extract()?,
        None => 1,
    };
    Ok(TypeDef::new(name, version, Fingerprint::of(definition), ancestors(py_type)?))
}

/// The definitions of the classes behind this one in its `__mro__`.
fn ancestors(py_type: &Bound<'_, PyType>) -> PyResult<Vec<Arc<TypeDef>>> {
    let mut ancestors: Vec<Arc<TypeDef>> = Vec::new();
    for base in py_type.mro().iter().skip(1) {
        let Ok(base) = base.cast::<PyType>() else { continue };
        if let Some(class) = Class::of(base)? {
            let line = std::iter::once(&class.def).chain(class.def.ancestors());
            let new: Vec<_> =
                line.filter(|def| !ancestors.iter().any(|known| known.uid() == def.uid())).cloned().collect();
            ancestors.extend(new);
        }
    }
    Ok(ancestors)
}

/// The type name of a class: its `__extenso_name__`, otherwise module and qualified name.
///
/// Errors: a name that is no type name.
pub fn type_name(py_type: &Bound<'_, PyType>) -> PyResult<TypeName> {
    if let Some(name) = own_attribute(py_type, "__extenso_name__")? {
        return name.extract::<String>()?.parse().or_raise();
    }
    let module: String = py_type.getattr("__module__")?.extract()?;
    // A class inside a function has `<locals>` in its qualified name.
    let qualname = py_type.qualname()?.to_string().replace("<locals>.", "");
    format!("{module}/{qualname}").replace(['<', '>'], "").parse().or_raise()
}

/// An attribute of the class body itself, which subclasses do not inherit.
pub fn own_attribute<'py>(py_type: &Bound<'py, PyType>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    let dict = py_type.getattr("__dict__")?;
    if dict.contains(name)? { dict.get_item(name).map(Some) } else { Ok(None) }
}

/// The definition that a class with `__extenso_rust__` stands for.
///
/// Errors: no type of that name is registered.
pub fn rust_def(name: &str) -> PyResult<Arc<TypeDef>> {
    let parsed: TypeName = name.parse().or_raise()?;
    lookup(&parsed).ok_or_else(|| Error::missing(format!("no type '{name}' is defined in Rust"))).or_raise()
}
