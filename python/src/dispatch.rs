//! Handlers written in Python: how extension types behave under an op or a class of ops.
//!
//! Invariant: a handler runs on the caller's thread; `NotImplemented` passes the call on to the next.

use crate::error::{OrCarry, OrRaise, noted_once, raised};
use crate::ext::{Class, own_attribute};
use crate::op::{self, PyOpClass};
use crate::{call, value};
use extenso_core::{Answer, Arg, Call, Handler, HandlerId, Outputs, Target, Value, register_handler, unregister};
use extenso_types::{Error, TypeDef};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use smallvec::SmallVec;
use std::sync::{Arc, Mutex, PoisonError};

/// Makes a decorator that registers a handler for an op, or for a class of ops, and for values of these types.
///
/// A handler for one op is called like the op, `handler(x, y, **attributes)`; one for a class is given the op first. It may
/// return `NotImplemented`, and the next is asked. A later handler for the same target comes first.
#[pyfunction]
#[pyo3(signature = (target, *types))]
fn dispatch_for(target: &Bound<'_, PyAny>, types: &Bound<'_, PyTuple>) -> PyResult<PyDispatch> {
    let target = read_target(target)?;
    if types.is_empty() {
        return Err(Error::value("no type is given").wanted("at least one extension type").at("dispatch_for"))
            .or_raise();
    }
    let defs: PyResult<Vec<_>> = types.iter().map(|class| def_of(&class)).collect();
    Ok(PyDispatch { target, defs: defs? })
}

fn read_target(target: &Bound<'_, PyAny>) -> PyResult<Target> {
    if let Ok(class) = target.cast::<PyOpClass>() {
        return Ok(Target::Class(class.get().0));
    }
    let missing = || {
        let error = Error::dtype(format!("found {target}"))
            .wanted("an op such as `ex.add`, or a class such as `ex.reduction`")
            .at("dispatch_for");
        match target.is_callable() {
            true => error.hint("A function made of ops, as `mean` is, asks the handlers of these ops."),
            false => error,
        }
    };
    op::op_of(target).map(Target::Op).ok_or_else(missing).or_raise()
}

fn def_of(class: &Bound<'_, PyAny>) -> PyResult<Arc<TypeDef>> {
    let known = match class.cast::<PyType>() {
        Ok(class) => Class::of(class)?,
        Err(_) => None,
    };
    let unknown = || Error::dtype(format!("found {class}")).wanted("an extension type").at("dispatch_for");
    Ok(known.ok_or_else(unknown).or_raise()?.def.clone())
}

/// The decorator that `dispatch_for` returns.
#[pyclass(module = "extenso", frozen)]
struct PyDispatch {
    target: Target,
    defs: Vec<Arc<TypeDef>>,
}

/// The handlers that decorators registered, by the function that they wrap.
static REGISTERED: Mutex<Vec<(Py<PyAny>, HandlerId)>> = Mutex::new(Vec::new());

#[pymethods]
impl PyDispatch {
    fn __call__<'py>(&self, handler: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let form = match self.target {
            Target::Op(_) => Form::Op,
            Target::Class(_) | Target::Any => Form::Class,
        };
        for def in &self.defs {
            let made = PyHandler { function: handler.clone().unbind(), form: form.clone() };
            let id = register_handler(self.target, def, Arc::new(made));
            let entry = (handler.clone().unbind(), id);
            REGISTERED.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
        }
        Ok(handler)
    }
}

/// Removes a handler that `dispatch_for` registered, for every target and type that it was registered for.
#[pyfunction]
#[pyo3(name = "unregister")]
fn unregister_handler(handler: &Bound<'_, PyAny>) -> PyResult<()> {
    let mut registered = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    let before = registered.len();
    registered.retain(|(known, id)| {
        let same = known.is(handler);
        if same {
            unregister(*id);
        }
        !same
    });
    if registered.len() == before {
        let error = Error::missing(format!("{handler} is no registered handler"));
        return Err(raised(handler.py(), error.wanted("a function that `dispatch_for` decorated").at("unregister")));
    }
    Ok(())
}

/// Registers the `__extenso_dispatch__` of a class body as its catch-all.
pub fn register_catch_all(class: &Arc<Class>, py_type: &Bound<'_, PyType>) -> PyResult<()> {
    if let Some(method) = own_attribute(py_type, "__extenso_dispatch__")? {
        let form = Form::CatchAll(class.def.clone());
        register_handler(Target::Any, &class.def, Arc::new(PyHandler { function: method.unbind(), form }));
    }
    Ok(())
}

/// How a handler is called.
#[derive(Clone)]
enum Form {
    /// Like the op.
    Op,
    /// Like the op, with the op in front.
    Class,
    /// As a method of the first argument of this type: `(op, args, kwargs)`.
    CatchAll(Arc<TypeDef>),
}

struct PyHandler {
    function: Py<PyAny>,
    form: Form,
}

impl Handler for PyHandler {
    fn handle(&self, call: &Call<'_>) -> Answer {
        Python::attach(|py| {
            let of = |e| noted_once(py, e, format!("The handler `{}` of `{}` raised this.", self.name(), call.op.name));
            self.answer(py, call).map_err(of).or_carry(py)
        })
    }

    fn name(&self) -> String {
        Python::attach(|py| {
            let function = self.function.bind(py);
            let name = function.getattr("__qualname__").or_else(|_| function.repr().map(Bound::into_any));
            name.map_or_else(|_| "a handler".into(), |name| name.to_string())
        })
    }
}

impl PyHandler {
    fn answer(&self, py: Python<'_>, call: &Call<'_>) -> PyResult<Option<Outputs>> {
        let mut args: SmallVec<[Bound<'_, PyAny>; 4]> = SmallVec::new();
        if matches!(self.form, Form::Class) {
            args.push(op::function(py, call.op)?);
        }
        for arg in call.args {
            args.push(value::arg_to_py(py, arg)?);
        }
        let answer = match &self.form {
            Form::Op | Form::Class => call::python(self.function.bind(py), &args, keywords(py, call)?.as_ref())?,
            Form::CatchAll(def) => self.catch_all(py, call, def, args)?,
        };
        outputs(&answer)
    }

    fn catch_all<'py>(
        &self,
        py: Python<'py>,
        call: &Call<'_>,
        def: &TypeDef,
        args: SmallVec<[Bound<'py, PyAny>; 4]>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(instance) = first_of(py, call.args, def) else { return Ok(py.NotImplemented().into_bound(py)) };
        // The method of this class and not of a subclass, which is a handler of its own.
        let method = self.function.bind(py).call_method1("__get__", (&instance, instance.get_type()))?;
        let keywords = keywords(py, call)?.unwrap_or_else(|| PyDict::new(py));
        method.call1((op::function(py, call.op)?, PyTuple::new(py, args)?, keywords))
    }
}

/// The first argument whose type is `def` or refines it.
fn first_of<'py>(py: Python<'py>, args: &[Arg], def: &TypeDef) -> Option<Bound<'py, PyAny>> {
    args.iter().find_map(|arg| match arg {
        Arg::Value(value @ Value::Ext(ext)) if ext.def().is_a(def) => value::to_py(py, value.clone()).ok(),
        Arg::List(items) => first_of(py, items, def),
        Arg::Value(_) | Arg::Scalar(_) => None,
    })
}

/// The attributes as keywords; none if the op has none.
fn keywords<'py>(py: Python<'py>, call: &Call<'_>) -> PyResult<Option<Bound<'py, PyDict>>> {
    let params = call.op.attrs.params;
    if params.is_empty() {
        return Ok(None);
    }
    let keywords = PyDict::new(py);
    for (param, value) in params.iter().zip(call.attrs.values()) {
        keywords.set_item(param.name, op::attr_to_py(py, &value)?)?;
    }
    Ok(Some(keywords))
}

/// The outputs that a handler returned; none for `NotImplemented`.
///
/// Errors: something that is no value and does not become one.
fn outputs(answer: &Bound<'_, PyAny>) -> PyResult<Option<Outputs>> {
    if answer.is(answer.py().NotImplemented()) {
        return Ok(None);
    }
    if let Ok(several) = answer.cast_exact::<PyTuple>() {
        return several.iter().map(|item| value::from_py(&item)).collect::<PyResult<Outputs>>().map(Some);
    }
    Ok(Some(Outputs::from_elem(value::from_py(answer)?, 1)))
}

/// Adds the decorator and its reverse to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(dispatch_for, module)?)?;
    module.add_function(wrap_pyfunction!(unregister_handler, module)?)
}
