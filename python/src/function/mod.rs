//! Traced functions: `function`, `cond`, `grad`, and what is saved of them.
//!
//! Invariant: a call on data runs a concrete function; a call on symbols runs the Python function as part of the trace.

mod arguments;
mod body;
mod concrete;
mod control;
mod method;
mod nest;
mod origin;
mod signature;

use crate::error::{self, OrRaise, guarded, raised};
use crate::ext::from_static;
use crate::{arg, formats, spec};
use body::{How, Shared};
use extenso_core::{Value, current_scope};
use extenso_graph::{ARGUMENTS, Concrete, Function};
use extenso_types::{Error, Nest, Result, Segment, Spec};
use nest::Variables;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use signature::Signature;
use std::sync::{Arc, RwLock};

pub use concrete::PyConcrete;
pub use nest::{nest_to_py, py_to_nest};

/// Adds functions to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyFunction>()?;
    // A getter would stand behind the text of the class, which Python keeps under the same name.
    let class = module.py().get_type::<PyFunction>();
    class.setattr("__doc__", Doc(class.getattr("__doc__")?.unbind()))?;
    extenso_graph::find_origins_by(origin::find);
    control::add_to(module)?;
    concrete::add_to(module)
}

/// A function that is traced once per spec of its arguments.
///
/// `function(f)` makes one, also as a decorator. A call whose arguments differ in sizes alone generalises an earlier trace,
/// unless `reduce_retracing` is false. Python numbers, strings and booleans among the arguments are static: another value is
/// another trace. Variables are arguments by their specs, and by which of them are the same.
/// A method of a class that is no extension type has traces for each instance, which see the instance as it is when it is traced.
#[pyclass(name = "Function", module = "extenso", frozen)]
pub struct PyFunction {
    inner: Arc<Inner>,
    /// The instance that the function is a method of, which the traces do not keep.
    _instance: Option<Py<PyAny>>,
}

/// What the functions are that come of one method of one instance.
struct Inner {
    body: Py<PyAny>,
    /// What is called: the body, or the method that it is of an instance.
    called: Py<PyAny>,
    shared: Arc<Shared>,
    core: Function,
    declared: Option<Declared>,
    reduce_retracing: bool,
    last: RwLock<Option<Arc<Concrete>>>,
    instances: method::Instances,
}

/// An input signature as it was given.
struct Declared {
    given: Py<PyAny>,
    /// What every call's arguments are made to fit, by parameter.
    specs: Vec<(Arc<str>, Nest<Spec>)>,
    /// Whether the first parameter, `self`, is not among them: it is as it comes.
    without_self: bool,
}

/// The docstring of a function is that of its body, that of the class is its own.
#[pyclass(frozen)]
struct Doc(Py<PyAny>);

#[pymethods]
impl Doc {
    fn __get__<'py>(
        &self,
        instance: Option<Bound<'py, PyAny>>,
        owner: Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match instance.filter(|instance| !instance.is_none()) {
            Some(function) => function.cast::<PyFunction>()?.get().inner.body.bind(owner.py()).getattr("__doc__"),
            None => Ok(self.0.bind(owner.py()).clone()),
        }
    }
}

#[pymethods]
impl PyFunction {
    #[new]
    #[pyo3(signature = (f, input_signature=None, *, name=None, reduce_retracing=true))]
    fn new(
        f: Bound<'_, PyAny>,
        input_signature: Option<&Bound<'_, PyAny>>,
        name: Option<String>,
        reduce_retracing: bool,
    ) -> PyResult<PyFunction> {
        PyFunction::make(&f, input_signature, name, How::Call, reduce_retracing)
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let variables = Variables::default();
        if current_scope().is_some() {
            let args = self.bind(args, kwargs, &variables)?;
            return nest_to_py(
                py,
                &self.inner.shared.run(self.inner.called.bind(py), args, &variables.into_inner()).or_raise()?,
            );
        }
        if let Some(result) = self.call_last(py, args, kwargs)? {
            return Ok(result);
        }
        let args = self.bind(args, kwargs, &variables)?;
        let specs = args.try_map(|_, value| value.spec()).or_raise()?;
        let concrete = guarded(|| self.trace_for(&specs)).or_raise()?;
        *self.inner.last.write().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(concrete.clone());
        concrete::run(py, &concrete, &concrete::leaves_of(&args)?, &concrete::given(&args, variables))
    }

    fn __get__<'py>(
        slf: Bound<'py, Self>,
        instance: Option<Bound<'py, PyAny>>,
        _owner: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(instance) = instance.filter(|i| !i.is_none()) else { return Ok(slf.into_any()) };
        match method::of_instance(&slf, &instance)? {
            Some(function) => Ok(function.into_any()),
            None => slf.py().import("types")?.getattr("MethodType")?.call1((slf, instance)),
        }
    }

    /// The name.
    #[getter]
    fn __name__(&self) -> &str {
        self.inner.core.name()
    }

    #[getter]
    fn __qualname__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.inner.body.bind(py).getattr("__qualname__")
    }

    #[getter]
    fn __wrapped__<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.inner.body.bind(py).clone()
    }

    /// The concrete functions traced so far, earliest first.
    #[getter]
    fn traces(&self) -> Vec<PyConcrete> {
        self.inner.core.traces().into_iter().map(PyConcrete).collect()
    }

    /// Why each trace happened: a list of `(path, old spec, new spec)` for each, empty for the first.
    #[getter]
    fn retraces(&self) -> Vec<Vec<(String, String, String)>> {
        self.inner.core.retraces().into_iter().map(|r| r.differences).collect()
    }

    /// The concrete function for arguments of these very specs; for values, the one that a call with them runs. A function with
    /// an input signature needs none.
    #[pyo3(signature = (*args, **kwargs))]
    fn get_concrete_function(
        &self,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyConcrete> {
        let given = !args.is_empty() || kwargs.is_some_and(|kwargs| !kwargs.is_empty());
        if self.inner.declared.is_some() && !given {
            return self.only_trace(args.py()).map(PyConcrete);
        }
        let (specs, exact) = self.inner.shared.specs(args, kwargs)?;
        let found = guarded(|| {
            if exact && self.inner.declared.is_none() {
                self.inner.core.concrete(&specs)
            } else {
                self.trace_for(&specs)
            }
        });
        found.or_raise().map(PyConcrete)
    }

    /// Runs the function on the records of a source, as `ConcreteFunction.run` does, with its keywords.
    ///
    /// Without an input signature the source is first looked at as by `infer_spec`, and the function is traced for the spec that is found, unless it was
    /// before. A function of one parameter, those with defaults aside, takes the records, one of several the fields of their names. To trace once for many sources,
    /// `f.get_concrete_function(spec).run(source)`.
    ///
    /// >>> import extenso as ex
    /// >>> ex.function(lambda x: x["a"] + x["b"]).run(b"a,b\n1,2\n3,4\n", format="csv")
    /// Tensor([3, 7], i64[2])
    #[pyo3(signature = (source, **kwargs))]
    fn run<'py>(&self, source: &Bound<'py, PyAny>, kwargs: Option<&Bound<'py, PyDict>>) -> PyResult<Bound<'py, PyAny>> {
        let py = source.py();
        let (source, concrete) = match self.inner.declared {
            Some(_) => (source.clone(), PyConcrete(self.only_trace(py)?)),
            None => {
                formats::check_bad_rows(source, kwargs)?;
                let (source, spec) = formats::with_spec(source, kwargs)?;
                (source, self.of_records(py, spec)?)
            }
        };
        Bound::new(py, concrete)?.call_method("run", (source,), kwargs)
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    fn __repr__(&self) -> String {
        format!("<function {}, {} traces>", self.inner.core.name(), self.inner.core.traces().len())
    }
}

impl PyFunction {
    fn make(
        f: &Bound<'_, PyAny>,
        input_signature: Option<&Bound<'_, PyAny>>,
        name: Option<String>,
        how: How,
        reduce_retracing: bool,
    ) -> PyResult<PyFunction> {
        if !f.is_callable() {
            let error = Error::dtype(format!("found a value of type {}", arg::type_name(f))).wanted("a function");
            return Err(raised(f.py(), error.at(how.maker())));
        }
        let name = match name {
            Some(name) => name,
            None => match f.getattr("__name__") {
                Ok(name) => name.extract()?,
                Err(_) => "function".to_string(),
            },
        };
        let shared = Shared { signature: Signature::of(f)?, how };
        let inner = Inner::new(name, f, f, shared, input_signature, reduce_retracing)?;
        Ok(PyFunction { inner: Arc::new(inner), _instance: None })
    }

    fn bind<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
        variables: &Variables,
    ) -> PyResult<Nest<Value>> {
        let bound = self.inner.shared.signature.bind(args, kwargs)?;
        let entry = |(i, (name, object)): (usize, (Arc<str>, Bound<'py, PyAny>))| {
            let nest = match (self.inner.declared.as_ref().and_then(|declared| declared.at(i)), &self.inner.shared.how)
            {
                (Some(wanted), _) => nest::argument_like(&name, &object, wanted, variables)?,
                (None, How::Call) if &*name == "self" => {
                    nest::py_to_argument(&object, variables).map_err(|_| method::no_self(&object))?
                }
                (None, How::Call) => nest::py_to_argument(&object, variables)
                    .map_err(|e| error::at(object.py(), e, &format!("argument '{name}'")))?,
                // A gradient is that of what a variable holds.
                (None, How::Grad { .. }) => py_to_nest(&object)?,
            };
            Ok((name, nest))
        };
        let mut entries = bound.into_iter().enumerate().map(entry).collect::<PyResult<Vec<_>>>()?;
        if let How::Grad { wrt, .. } = &self.inner.shared.how {
            // Positions that are none are refused when the gradient is made.
            for i in self.inner.shared.named(wrt, &mut entries).unwrap_or_default() {
                if let Some(argument) = self.inner.shared.signature.at(&mut entries, i) {
                    nest::floats_as_tensors(argument);
                }
            }
        }
        Ok(Nest::Record(ARGUMENTS.into(), entries))
    }

    /// The concrete function for records of a spec: the only argument, defaults aside, or the fields that are named as the parameters are.
    ///
    /// Errors: no parameters; one without a default that no field has the name of; those of the trace.
    fn of_records(&self, py: Python<'_>, spec: Spec) -> PyResult<PyConcrete> {
        let parameters = self.inner.shared.signature.parameters();
        let mut of_caller = parameters.iter().filter(|(_, has_default)| !has_default);
        match (of_caller.next().or(parameters.first()), of_caller.next()) {
            (Some((name, _)), None) => {
                let records = PyDict::new(py);
                records.set_item(&**name, spec::to_py(py, spec)?)?;
                return self.get_concrete_function(&PyTuple::empty(py), Some(&records));
            }
            (None, _) => {
                let error = Error::value(format!("function '{}' has no parameter with a name", self.inner.core.name()));
                return Err(raised(py, error.wanted("one that takes the records, or one for each field").at("run")));
            }
            (Some(_), Some(_)) => {}
        }
        let components = match &spec {
            Spec::Ext(ext) => &ext.components[..],
            Spec::Tensor(_) | Spec::Partition(_) => &[],
        };
        let mut fields: Vec<(&str, &Spec)> = Vec::new();
        for (segment, spec) in components {
            if let Segment::Field(name) = segment {
                fields.push((name, spec));
            }
        }
        let arguments = PyDict::new(py);
        for (name, has_default) in parameters {
            match fields.iter().find(|(field, _)| *field == &*name) {
                Some((_, field)) => arguments.set_item(&*name, spec::to_py(py, (*field).clone())?)?,
                None if has_default => {}
                None => {
                    let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
                    if names.is_empty() {
                        let error =
                            Error::dtype(format!("the function takes '{name}' and others, and the rows are {spec}"));
                        return Err(raised(py, error.wanted("records with a field for each").at("run")));
                    }
                    let error = Error::missing(format!("the records have no field '{name}', which the function takes"));
                    return Err(raised(py, error.wanted(format!("one of: {}", names.join(", "))).at("run")));
                }
            }
        }
        self.get_concrete_function(&PyTuple::empty(py), Some(&arguments))
    }

    /// The concrete function for arguments of these specs.
    ///
    /// Errors: arguments that the signature does not accept; those of the trace.
    fn trace_for(&self, specs: &Nest<Spec>) -> Result<Arc<Concrete>> {
        let Some(declared) = &self.inner.declared else { return self.inner.core.concrete_for(specs) };
        let concrete = self.inner.core.concrete(&declared.beside(specs))?;
        if concrete.accepts(specs) { Ok(concrete) } else { Err(concrete.mismatch(specs)) }
    }

    /// The concrete function there is, or that the signature says.
    ///
    /// Errors: none, or more than one.
    fn only_trace(&self, py: Python<'_>) -> PyResult<Arc<Concrete>> {
        if let Some(signature) = self.inner.declared.as_ref().and_then(Declared::whole) {
            return guarded(|| self.inner.core.concrete(&signature)).or_raise();
        }
        let mut traces = self.inner.core.traces();
        match (traces.pop(), traces.len()) {
            (Some(only), 0) => Ok(only),
            (last, others) => {
                let n = others + usize::from(last.is_some());
                let error = Error::value(format!("function '{}' has {n} traces", self.inner.core.name()))
                    .wanted("one")
                    .hint("Choose one with `f.get_concrete_function(*specs)`.");
                Err(raised(py, error.at("save")))
            }
        }
    }

    /// Runs the concrete function of the last call, if it accepts these arguments: the way of every call but the first.
    fn call_last<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let last = self.inner.last.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        let Some(concrete) = last else { return Ok(None) };
        if kwargs.is_some() || !self.inner.shared.signature.is_plain() {
            return Ok(None);
        }
        concrete::run_if_accepted(py, &concrete, args)
    }
}

/// A spec or a nest of specs as Python shows it.
pub fn specs_to_py<'py>(py: Python<'py>, nest: &Nest<Spec>) -> PyResult<Bound<'py, PyAny>> {
    let items = |items: &[Nest<Spec>]| items.iter().map(|n| specs_to_py(py, n)).collect::<PyResult<Vec<_>>>();
    match nest {
        Nest::Leaf(leaf) => spec::to_py(py, leaf.clone()),
        Nest::Static(value) => from_static(py, value),
        Nest::List(list) => Ok(PyList::new(py, items(list)?)?.into_any()),
        Nest::Tuple(tuple) => Ok(PyTuple::new(py, items(tuple)?)?.into_any()),
        Nest::Dict(entries) | Nest::Record(_, entries) => {
            let dict = PyDict::new(py);
            entries.iter().try_for_each(|(key, n)| dict.set_item(&**key, specs_to_py(py, n)?))?;
            Ok(dict.into_any())
        }
    }
}
