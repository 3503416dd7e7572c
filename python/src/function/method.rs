//! Methods: input signatures without `self`, and functions of one instance.
//!
//! Invariant: an instance of a class that is no value is no argument. It has traces of its own, which end with it: nothing here keeps it alive.

use super::nest::{Variables, py_to_argument, py_to_specs};
use super::signature::Signature;
use super::{Declared, Inner, PyFunction, Shared};
use crate::arg::{self, type_name};
use crate::error::raised;
use crate::nests;
use extenso_graph::{ARGUMENTS, Function};
use extenso_types::{Error, Nest, Spec};
use pyo3::exceptions::PyReferenceError;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PySequence, PyTuple, PyWeakrefMethods, PyWeakrefReference};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// What a method is of instances, by their addresses.
#[derive(Default)]
pub struct Instances(Mutex<HashMap<usize, Bond>>);

type Bond = (Py<PyWeakrefReference>, Arc<Inner>);

impl Instances {
    fn find(&self, instance: &Bound<'_, PyAny>) -> Option<Arc<Inner>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (weak, inner) = known.get(&instance.as_ptr().addr())?;
        // Another object may stand at the address of one that is gone.
        weak.bind(instance.py()).upgrade().is_some_and(|alive| alive.is(instance)).then(|| inner.clone())
    }

    fn insert(&self, instance: &Bound<'_, PyAny>, bond: Bond) {
        let py = instance.py();
        let gone: Vec<Bond> = {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let gone: Vec<usize> =
                known.iter().filter(|(_, (weak, _))| weak.bind(py).upgrade().is_none()).map(|(at, _)| *at).collect();
            let gone = gone.iter().filter_map(|at| known.remove(at)).collect();
            known.insert(instance.as_ptr().addr(), bond);
            gone
        };
        // What the traces hold may run code when it goes.
        drop(gone);
    }
}

/// The function that a method is of an instance; none of one that is an argument, a value or a container of values.
///
/// Errors: a method that Python cannot bind.
pub fn of_instance<'py>(
    method: &Bound<'py, PyFunction>,
    instance: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyFunction>>> {
    let (py, this) = (method.py(), method.get());
    let inner = match this.inner.instances.find(instance) {
        Some(inner) => inner,
        None => {
            let is_argument = || py_to_argument(instance, &Variables::default()).is_ok();
            if is_value(instance) || (nests::is_container(instance)? && is_argument()) {
                return Ok(None);
            }
            // An object without weak references cannot say when it is gone.
            let Ok(weak) = PyWeakrefReference::new(instance) else { return Ok(None) };
            let inner = Arc::new(this.inner.of_instance(instance, &weak)?);
            this.inner.instances.insert(instance, (weak.unbind(), inner.clone()));
            inner
        }
    };
    Bound::new(py, PyFunction { inner, _instance: Some(instance.clone().unbind()) }).map(Some)
}

fn is_value(instance: &Bound<'_, PyAny>) -> bool {
    // What is not known to be a value by its class may be an array, or be made a tensor.
    arg::is_value(instance) || crate::value::from_py(instance).is_ok()
}

/// The error of a method's first argument that is no value.
pub fn no_self(object: &Bound<'_, PyAny>) -> PyErr {
    let error = Error::dtype(format!("found a value of type {}", type_name(object)))
        .at("argument 'self'")
        .wanted("a value of an extension type, or a container of values");
    let hint = "A method of an object without weak references is traced without it: `self.f = function(self._f)` in `__init__`.";
    raised(object.py(), error.hint(hint))
}

impl Inner {
    pub fn new(
        name: String,
        body: &Bound<'_, PyAny>,
        called: &Bound<'_, PyAny>,
        shared: Shared,
        input_signature: Option<&Bound<'_, PyAny>>,
        reduce_retracing: bool,
    ) -> PyResult<Inner> {
        let shared = Arc::new(shared);
        let declared = input_signature.map(|given| Declared::new(&shared.signature, given)).transpose()?;
        let (kept, run) = (shared.clone(), called.clone().unbind());
        let traced = move |args| {
            let variables = super::nest::stand_ins(&args);
            Python::attach(|py| kept.run(run.bind(py), args, &variables))
        };
        let core = Function::new(name, traced).reduce_retracing(reduce_retracing);
        let (body, called) = (body.clone().unbind(), called.clone().unbind());
        let (last, instances) = (RwLock::new(None), Instances::default());
        Ok(Inner { body, called, shared, core, declared, reduce_retracing, last, instances })
    }

    fn of_instance(&self, instance: &Bound<'_, PyAny>, weak: &Bound<'_, PyWeakrefReference>) -> PyResult<Inner> {
        let py = instance.py();
        let body = self.body.bind(py);
        let bound = body.call_method1("__get__", (instance, instance.get_type()))?;
        let (body_of_all, instance_of_this) = (body.clone().unbind(), weak.clone().unbind());
        let call = move |args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>| {
            let py = args.py();
            let Some(instance) = instance_of_this.bind(py).upgrade() else {
                return Err(PyReferenceError::new_err("the object that the traced method is of is gone"));
            };
            let bound = body_of_all.bind(py).call_method1("__get__", (&instance, instance.get_type()))?;
            bound.call(args, kwargs).map(Bound::unbind)
        };
        let called = PyCFunction::new_closure(py, None, None, call)?.into_any();
        let shared = Shared { signature: Signature::of(&bound)?, how: self.shared.how.clone() };
        let given = self.declared.as_ref().map(|declared| declared.given.bind(py));
        Inner::new(self.core.name().to_string(), body, &called, shared, given, self.reduce_retracing)
    }
}

impl Declared {
    /// The specs of a declared signature: one for each parameter, in a sequence or by name; `self` may be left out.
    ///
    /// Errors: another number; no specs.
    fn new(signature: &Signature, given: &Bound<'_, PyAny>) -> PyResult<Declared> {
        let py = given.py();
        let (args, kwargs) = match (given.cast::<PyDict>(), given.cast::<PySequence>()) {
            (Ok(named), _) => (PyTuple::empty(py), Some(named)),
            (_, Ok(sequence)) => (sequence.to_tuple()?, None),
            _ => {
                let error = Error::dtype(format!("found a value of type {}", type_name(given)));
                return Err(raised(
                    py,
                    error.wanted("a sequence of specs, one for each argument").at("input_signature"),
                ));
            }
        };
        let names_self = kwargs.is_some_and(|named| named.contains("self").unwrap_or(false));
        let without_self = signature.begins_with_self() && !names_self && args.len() < signature.parameters().len();
        let variables = Variables::default();
        let bound = match without_self {
            // Whatever `self` is, it is taken as it comes.
            true => {
                let with_self = std::iter::once(py.None().into_bound(py)).chain(args.iter());
                signature.bind(&PyTuple::new(py, with_self.collect::<Vec<_>>())?, kwargs)?.split_off(1)
            }
            false => signature.bind(&args, kwargs)?,
        };
        let specs = bound.into_iter().map(|(name, object)| Ok((name, py_to_specs(&object, &variables)?)));
        Ok(Declared { given: given.clone().unbind(), specs: specs.collect::<PyResult<_>>()?, without_self })
    }

    /// What the argument at a position is made to fit.
    pub fn at(&self, position: usize) -> Option<&Nest<Spec>> {
        let position = if self.without_self { position.checked_sub(1)? } else { position };
        self.specs.get(position).map(|(_, spec)| spec)
    }

    /// The specs of all arguments; none where it is not said what `self` is.
    pub fn whole(&self) -> Option<Nest<Spec>> {
        (!self.without_self).then(|| Nest::Record(ARGUMENTS.into(), self.specs.clone()))
    }

    /// The specs of all arguments, with `self` as it came.
    pub fn beside(&self, came: &Nest<Spec>) -> Nest<Spec> {
        let first = match came {
            Nest::Record(_, entries) if self.without_self => entries.first().cloned(),
            _ => None,
        };
        Nest::Record(ARGUMENTS.into(), first.into_iter().chain(self.specs.iter().cloned()).collect())
    }
}
