//! Concrete functions: called, run over records, saved, loaded.

use super::arguments::{bind, by_name};
use super::nest::Variables;
use super::{PyFunction, nest, specs_to_py};
use crate::error::{OrRaise, guarded, raised};
use crate::typed::{Typed, typed};
use crate::{formats, value};
use extenso_core::{Provenance, Value, Variable, current_scope, pack, with_variables};
use extenso_formats::{OnError, run_ndjson};
use extenso_graph::{Concrete, save};
use extenso_types::{Bindings, Error, Nest, Spec};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyIterator, PyList, PySequence, PyTuple};
use std::path::PathBuf;
use std::sync::Arc;

/// Adds the class and `save`, `load` to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyConcrete>()?;
    module.add_class::<PyModel>()?;
    module.add_function(wrap_pyfunction!(save_functions, module)?)?;
    module.add_function(wrap_pyfunction!(from_file_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(load, module)?)
}

/// A function traced for one spec of its arguments.
#[pyclass(name = "ConcreteFunction", module = "extenso", frozen)]
pub struct PyConcrete(pub Arc<Concrete>);

#[pymethods]
impl PyConcrete {
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if kwargs.is_none()
            && let Some(result) = run_if_accepted(py, &self.0, args)?
        {
            return Ok(result);
        }
        let variables = Variables::default();
        let args = bind(self.0.input_spec(), args, kwargs, &variables)?;
        let specs = args.try_map(|_, value| value.spec()).or_raise()?;
        if !self.0.accepts(&specs) {
            return Err(raised(py, self.0.refusal(&args)));
        }
        run(py, &self.0, &leaves_of(&args)?, &given(&args, variables))
    }

    /// Runs the function on lines of JSON and returns its results as lines of JSON.
    ///
    /// A row is an item of the function's argument, whatever nest that is; a function of several arguments has a field for each.
    /// Only the leaves that the results need are decoded.
    fn run_ndjson<'py>(&self, py: Python<'py>, rows: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let out = py.detach(|| guarded(|| run_ndjson(&self.0, rows, OnError::Raise))).or_raise()?;
        Ok(PyBytes::new(py, &out.value))
    }

    /// Runs the function on records and returns its results; only the fields that it needs are decoded.
    ///
    /// The source is lines of JSON, an array of records, or an Arrow file or stream, packed by gzip or zstd or not, Avro or Parquet, as bytes, a path or a
    /// file object, or a list of dicts; what it is, its first bytes tell, then its name. It may also be what another library holds, with
    /// `__arrow_c_stream__` or `__arrow_c_array__`: a table, a frame, a relation, a reader of batches, of which one is held at a time where there is a `target`. A row that does not fit raises, with its number, byte offset and path; with
    /// `on_error="skip"` it is left out, with `"default"` it holds zeros, empty rows and missing values, and the result is
    /// `(results, bad)`, where `bad` lists these rows.
    ///
    /// With `target`, the records are read block by block, and the results are written into that file: Parquet where its name ends in
    /// `.parquet`, Avro for `.avro`, an Arrow file for `.arrow`, a stream for `.arrows`, CSV for `.csv`, messages for `.pb` and `.binpb`, TFRecords for `.tfrecord`,
    /// otherwise lines of JSON. Memory does not grow with the source. The function sees one block at a time: what it computes over the rows,
    /// such as a mean or a sort, is the block's. The result is then None, or the bad rows.
    ///
    /// With `descriptor` and `message`, the records are serialized messages; these, the source and `framing` are as `read_proto` takes them.
    /// The messages `tf.train.Example` and `tf.train.SequenceExample` want no descriptor, and are read as by `read_examples`. Results that are
    /// written as messages are those of the name `target_message`, or of `message`; a tensor of byte strings is messages already.
    ///
    /// `format` says what the source is where neither its first bytes nor its name do, and `target_format` what is written whatever the name of
    /// the target, which may then be a file object: `"json"`, `"csv"`, `"parquet"`, `"arrow"`, `"arrows"`, `"protobuf"` or `"tfrecord"`. `bad_rows`
    /// is the path of a file that gets a line of JSON for each row that did not fit. With `progress=True` and a target, a line on standard error tells how
    /// far the run is; a function is called after each block with an object that has `rows`, `bytes`, `bad` and `size`.
    #[pyo3(signature = (
        source, *, target=None, format=None, target_format=None, descriptor=None, message=None, framing=None, target_message=None,
        on_error="raise", bad_rows=None, progress=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords")]
    fn run<'py>(
        &self,
        py: Python<'py>,
        source: &Bound<'py, PyAny>,
        target: Option<&Bound<'py, PyAny>>,
        format: Option<&str>,
        target_format: Option<&str>,
        descriptor: Option<&Bound<'py, PyAny>>,
        message: Option<&str>,
        framing: Option<&str>,
        target_message: Option<&str>,
        on_error: &str,
        bad_rows: Option<PathBuf>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let said = formats::Said { format, target_format, descriptor, message, framing, target_message };
        let options = said.source(py, formats::policy(py, on_error)?)?;
        let of_target = [("target_message", target_message), ("target_format", target_format)];
        if let (None, Some((name, _))) = (target, of_target.iter().find(|(_, said)| said.is_some())) {
            let error = Error::missing(format!("`{name}` is given, and no target"));
            return Err(raised(py, error.wanted("`target`, what the results are written into").at("run")));
        }
        let sink = target.map(|target| Ok::<_, PyErr>((target, said.sink(py, &options)?))).transpose()?;
        let watchers = formats::Watchers::new(py, progress, bad_rows.as_deref(), [Some(source), target])?;
        let run = formats::Run::new(&self.0, source, options, watchers)?;
        match sink {
            Some((target, sink)) => run.into_target(target, &sink),
            None => run.results(),
        }
    }

    /// The name.
    #[getter]
    fn __name__(&self) -> &str {
        self.0.name()
    }

    /// The parameters, as `inspect.signature` gives them.
    #[getter]
    fn __signature__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let inspect = py.import("inspect")?;
        let kinds = inspect.getattr("Parameter")?;
        let parameter = |name: &str, kind: &str| kinds.call1((name, kinds.getattr(kind)?));
        let parameters: Vec<_> = match by_name(self.0.input_spec()) {
            Some(named) => {
                named.iter().map(|(name, _)| parameter(name, "POSITIONAL_OR_KEYWORD")).collect::<PyResult<_>>()?
            }
            None => vec![parameter("args", "VAR_POSITIONAL")?],
        };
        inspect.call_method1("Signature", (parameters,))
    }

    /// The specs of the arguments by name.
    #[getter]
    fn input_spec<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        specs_to_py(py, self.0.input_spec())
    }

    /// The specs of the results.
    #[getter]
    fn output_spec<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        specs_to_py(py, self.0.output_spec())
    }

    /// The fields of a record that the results depend on, as `read_json` takes them: `["id", "items[*].price"]`.
    ///
    /// A list of which only the number of items is needed stands for itself, and so does a tensor that is an argument.
    fn required_paths(&self) -> Vec<String> {
        self.0.required_paths().iter().map(ToString::to_string).collect()
    }

    /// The number of ops in the graph.
    #[getter]
    fn op_count(&self) -> usize {
        self.0.graph().op_count()
    }

    /// The graph as text.
    #[getter]
    fn graph(&self) -> String {
        self.0.graph().to_string()
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    /// A pickle holds the bytes of a file.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        reduced(py, std::slice::from_ref(&self.0), true)
    }

    fn __repr__(&self) -> String {
        format!("<concrete function {}>", self.0)
    }
}

/// The tensors and partitions of arguments, in order.
pub fn leaves_of(args: &Nest<Value>) -> PyResult<Vec<Value>> {
    let mut leaves = Vec::new();
    args.leaves().into_iter().try_for_each(|(_, value)| value.push_leaves(&mut leaves)).or_raise()?;
    Ok(leaves)
}

/// Elements from which on it pays to let other Python threads run.
const LARGE: usize = 1 << 12;

/// What stands for variables in a function, each with the variable that it stands for.
pub fn given(args: &Nest<Value>, variables: Variables) -> Vec<(Variable, Variable)> {
    nest::stand_ins(args).into_iter().zip(variables.into_inner()).collect()
}

/// Runs a concrete function on leaves and variables that it is known to accept.
pub fn run<'py>(
    py: Python<'py>,
    concrete: &Concrete,
    leaves: &[Value],
    variables: &[(Variable, Variable)],
) -> PyResult<Bound<'py, PyAny>> {
    if current_scope().is_some() {
        if let Some((_, variable)) = variables.first() {
            let error = Error::scope(format!(
                "variable '{}' is an argument in a function that is being traced",
                variable.name()
            ));
            return Err(raised(py, error.hint("Call the function itself there, and not the concrete function.")));
        }
        return nest::nest_to_py(py, &guarded(|| concrete.call_leaves(leaves)).or_raise()?);
    }
    let large = leaves.iter().any(|v| matches!(v, Value::Tensor(t) if t.data().is_ok_and(|d| d.len() >= LARGE)));
    let work = || {
        guarded(|| {
            with_variables(variables, || concrete.program().run(leaves))
                .map_err(|e| e.at(format!("function '{}'", concrete.name())))
        })
    };
    let results = if large { py.detach(work) } else { work() }.or_raise()?;
    let mut results = results.into_iter();
    let mut leaf = |spec: &Spec| value::to_py(py, pack(spec, &mut results, Provenance::Trusted).or_raise()?);
    match concrete.output_spec() {
        Nest::Leaf(spec) => leaf(spec),
        output => nest::build(py, output, &mut leaf, &[]),
    }
}

/// Runs a concrete function on arguments by position, if it is quickly seen that it accepts them as they stand.
pub fn run_if_accepted<'py>(
    py: Python<'py>,
    concrete: &Concrete,
    args: &Bound<'py, PyTuple>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(wanted) = by_name(concrete.input_spec()).filter(|wanted| wanted.len() == args.len()) else {
        return Ok(None);
    };
    let mut leaves = Vec::with_capacity(wanted.len());
    let mut bindings = Bindings::default();
    for ((_, wanted), given) in wanted.iter().zip(args.iter_borrowed()) {
        if !nest::matches(wanted, &given, &mut leaves, &mut bindings)? {
            return Ok(None);
        }
    }
    run(py, concrete, &leaves, &[]).map(Some)
}

/// The functions of a file, by name; where there is one alone, the file is called and run as that function.
#[pyclass(name = "Model", module = "extenso", frozen)]
pub struct PyModel(save::Module);

#[pymethods]
impl PyModel {
    /// The names of the functions.
    #[getter]
    fn functions(&self) -> Vec<String> {
        self.0.functions.iter().map(|f| f.name().to_string()).collect()
    }

    /// The names, versions and fingerprints of the extension types that the file uses.
    #[getter]
    fn types(&self) -> Vec<(String, u32, String)> {
        self.0.types.iter().map(|t| (t.name().to_string(), t.version(), t.fingerprint().to_string())).collect()
    }

    /// A function of the file; or what its only function has of this name.
    fn __getattr__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        if let Some(f) = self.0.functions.iter().find(|f| f.name() == name) {
            return Ok(Bound::new(py, PyConcrete(f.clone()))?.into_any());
        }
        if let [only] = &self.0.functions[..] {
            let only = Bound::new(py, PyConcrete(only.clone()))?;
            if only.hasattr(name)? {
                return only.getattr(name);
            }
        }
        let names = self.functions().join(", ");
        let text = format!("there is no function '{name}' in the file. It has {names}.");
        Err(pyo3::exceptions::PyAttributeError::new_err(text))
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match &self.0.functions[..] {
            [only] => PyConcrete(only.clone()).__call__(py, args, kwargs),
            functions => {
                let error = Error::value(format!("the file holds {} functions", functions.len()));
                let hint = format!("Call one of them by name: {}.", self.functions().join(", "));
                Err(raised(py, error.wanted("one").hint(hint)))
            }
        }
    }

    fn __getitem__(&self, name: &str) -> PyResult<PyConcrete> {
        self.0.function(name).or_raise().map(|f| PyConcrete(f.clone()))
    }

    fn __contains__(&self, name: &Bound<'_, PyAny>) -> bool {
        name.extract::<String>().is_ok_and(|name| self.0.functions.iter().any(|f| f.name() == name))
    }

    fn __len__(&self) -> usize {
        self.0.functions.len()
    }

    /// The names, as a dict of the functions has them.
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.functions())?.try_iter()
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    /// A pickle holds the bytes of the file.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        reduced(py, &self.0.functions, false)
    }

    fn __repr__(&self) -> String {
        format!("<model with {}>", self.functions().join(", "))
    }
}

/// How pickle makes functions again: all, or the only one.
fn reduced<'py>(py: Python<'py>, functions: &[Arc<Concrete>], only: bool) -> PyResult<Bound<'py, PyTuple>> {
    let bytes = guarded(|| save::to_bytes(functions)).or_raise()?;
    let make = py.import("extenso._core")?.getattr("_from_file_bytes")?;
    (make, (PyBytes::new(py, &bytes), only)).into_pyobject(py)
}

/// The functions of the bytes of a file, or its only one.
#[pyfunction(name = "_from_file_bytes")]
fn from_file_bytes<'py>(py: Python<'py>, bytes: Vec<u8>, only: bool) -> PyResult<Bound<'py, PyAny>> {
    let module = guarded(|| extenso_formats::init().and_then(|()| save::from_bytes(bytes))).or_raise()?;
    match &module.functions[..] {
        [f] if only => Ok(Bound::new(py, PyConcrete(f.clone()))?.into_any()),
        _ => Ok(Bound::new(py, PyModel(module))?.into_any()),
    }
}

/// Writes a function, a list of functions, or a model to a file: concrete functions, or ones with exactly one trace or signature.
///
/// The file appears under its name whole or not at all.
#[pyfunction(name = "save")]
#[pyo3(signature = (functions, path))]
fn save_functions(py: Python<'_>, functions: &Bound<'_, PyAny>, path: PathBuf) -> PyResult<()> {
    let concrete = |f: Bound<'_, PyAny>| {
        if let Ok(concrete) = f.cast::<PyConcrete>() {
            return Ok(concrete.get().0.clone());
        }
        let function = f.cast::<PyFunction>().map_err(|_| {
            raised(py, Error::dtype(format!("found {f}")).wanted("a function made by `function`").at("save"))
        })?;
        function.get().only_trace(py)
    };
    let functions = match functions.cast::<PySequence>() {
        _ if functions.is_instance_of::<PyModel>() => functions.cast::<PyModel>()?.get().0.functions.clone(),
        Ok(list) => list.try_iter()?.map(|f| concrete(f?)).collect::<PyResult<Vec<_>>>()?,
        Err(_) => vec![concrete(functions.clone())?],
    };
    if functions.is_empty() {
        return Err(raised(py, Error::value("there is no function").wanted("one at least").at("save")));
    }
    guarded(|| save::save(path, &functions)).or_raise()
}

/// Reads a file or a directory that `save` wrote.
///
/// Values of types that are not defined here, or defined differently, come out as `OpaqueExtension`.
#[pyfunction]
fn load(path: Typed<PathBuf>) -> PyResult<PyModel> {
    typed!(load: path);
    guarded(|| extenso_formats::init().and_then(|()| save::load(path))).or_raise().map(PyModel)
}
