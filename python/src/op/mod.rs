//! Ops as builtin functions: one CPython builtin for each declaration of the op tables.
//!
//! Invariant: a function's name, signature, defaults and docstring are those of its declaration.

mod attr;
mod keywords;
mod parse;
mod signature;
mod standard;
mod text;

pub use attr::{attr, attr_to_py};
pub use text::{op_examples, op_tf_names};

use crate::error::{self, OrRaise, raised};
use crate::{arg, call};
use extenso_core::attrs::{AttrSet, AttrValue, Param};
use extenso_core::{Class, OpDef};
use extenso_types::Error;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCFunction, PyString, PyTuple};
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::pointers::PointerMap;

/// Every op that is a builtin, in the order of the tables: those of the module, and the parts of other functions.
pub fn all_ops() -> impl Iterator<Item = &'static OpDef> {
    extenso_graph::tables().filter(|op| signature::is_callable(op))
}

/// Every op that is a function of the module.
fn public_ops() -> impl Iterator<Item = &'static OpDef> {
    all_ops().filter(|op| signature::is_public(op))
}

/// What a builtin is bound to: a declaration, made ready for parsing calls.
#[pyclass(name = "Op", module = "extenso", frozen)]
pub struct PyOp {
    def: &'static OpDef,
    /// The names of the arguments, behind them those of the attributes, and behind these the keywords of the standard.
    names: Vec<Py<PyString>>,
    /// The attributes if a call gives none, unless one is required.
    defaults: Option<Arc<dyn AttrSet>>,
}

#[pymethods]
impl PyOp {
    /// The name.
    #[getter]
    fn name(&self) -> &'static str {
        self.def.name
    }

    /// The semantic class.
    #[getter]
    fn op_class(&self) -> String {
        self.def.class.to_string()
    }

    // Pickle finds a bound builtin by its name on what it is bound to.
    fn __getattr__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        if name == self.name() {
            return function(py, self.def);
        }
        Err(pyo3::exceptions::PyAttributeError::new_err(format!("an op has no attribute '{name}'")))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (&'static str,))> {
        Ok((py.import("extenso._core")?.getattr("_op")?, (self.name(),)))
    }

    fn __repr__(&self) -> String {
        format!("<op {} ({})>", self.name(), self.def.class)
    }
}

/// What the builtin of a name is bound to.
#[pyfunction]
#[pyo3(name = "_op")]
pub fn op_by_name<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let known = all_ops().find(|op| op.name == name);
    let op = known.ok_or_else(|| Error::missing(format!("no op is named '{name}'"))).or_raise()?;
    function(py, op)?.getattr("__self__")
}

static FUNCTIONS: PyOnceLock<PointerMap<Py<PyAny>>> = PyOnceLock::new();

/// Makes a builtin for every op, and adds those that users call to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add_class::<PyOp>()?;
    let functions = FUNCTIONS.get_or_try_init(py, || {
        let mut functions = PointerMap::new();
        for op in all_ops() {
            functions.insert(std::ptr::from_ref(op).addr(), builtin(py, op)?.unbind());
        }
        PyResult::Ok(functions)
    })?;
    public_ops().try_for_each(|op| match functions.get(std::ptr::from_ref(op).addr()) {
        Some(function) => module.add(op.name, function),
        None => Ok(()),
    })
}

/// The builtin of an op.
///
/// Errors: the op is no builtin.
pub fn function<'py>(py: Python<'py>, op: &'static OpDef) -> PyResult<Bound<'py, PyAny>> {
    let known = FUNCTIONS.get(py).and_then(|functions| functions.get(std::ptr::from_ref(op).addr()));
    let missing = || Error::missing(format!("the op '{}' is no Python function", op.name));
    Ok(known.ok_or_else(missing).or_raise()?.bind(py).clone())
}

/// The op of a builtin, if it is one.
pub fn op_of(function: &Bound<'_, PyAny>) -> Option<&'static OpDef> {
    let bound = function.cast::<PyCFunction>().ok()?.getattr("__self__").ok()?;
    Some(bound.cast::<PyOp>().ok()?.get().def)
}

fn builtin<'py>(py: Python<'py>, def: &'static OpDef) -> PyResult<Bound<'py, PyAny>> {
    let attrs = def.attrs.params;
    let names = def.params.iter().copied().chain(attrs.iter().map(|param| param.name));
    let names = names
        .chain(keywords::keywords(def).iter().map(|keyword| keyword.name()))
        .map(|name| PyString::intern(py, name).unbind())
        .collect();
    let values: Option<Vec<AttrValue>> = attrs.iter().map(|param: &Param| (param.default)()).collect();
    let defaults = values.map(|values| (def.attrs.parse)(&values)).transpose().or_raise()?;
    let bound = Bound::new(py, PyOp { def, names, defaults })?;
    let method = Box::leak(Box::new(ffi::PyMethodDef {
        ml_name: leaked(def.name.to_string())?,
        ml_meth: ffi::PyMethodDefPointer { PyCFunctionFastWithKeywords: entry },
        ml_flags: ffi::METH_FASTCALL | ffi::METH_KEYWORDS,
        ml_doc: leaked(text::doc(def))?,
    }));
    let module = PyString::intern(py, "extenso");
    // SAFETY: the method definition and its strings are never freed, and the function takes references of its own to the objects.
    unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyCFunction_NewEx(method, bound.as_ptr(), module.as_ptr())) }
}

/// A C string that is never freed, as CPython wants the names and docs of builtins.
fn leaked(text: String) -> PyResult<*const std::ffi::c_char> {
    Ok(CString::new(text)?.into_raw())
}

/// Where CPython enters a builtin.
///
/// # Safety
/// CPython calls it attached, with `bound` the `PyOp` of the builtin, `nargs` positional arguments and the values of `kwnames` behind them.
unsafe extern "C" fn entry(
    bound: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    nargs: ffi::Py_ssize_t,
    kwnames: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    Python::attach(|py| {
        let result = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: CPython passes what the contract above says; all of it outlives the call.
            let (bound, given) = unsafe {
                let bound = Borrowed::from_ptr(py, bound).to_owned();
                (bound, parse::Given::new(py, args, nargs, kwnames))
            };
            bound.cast::<PyOp>()?.get().call(py, &given)
        }));
        let result = result.unwrap_or_else(|_| {
            let error = Error::internal("Rust code panicked while it read the arguments");
            Err(raised(py, error.hint("Report this with the call that led here.")))
        });
        match result {
            Ok(value) => value.into_ptr(),
            Err(exception) => {
                exception.restore(py);
                std::ptr::null_mut()
            }
        }
    })
}

impl PyOp {
    fn call<'py>(&self, py: Python<'py>, given: &parse::Given<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
        // Most calls give their arguments by position and no attribute, which needs no table of what was given.
        let operand = |object| arg::operand(object).map_err(|e| error::at(py, e, self.def.name));
        if let Some(defaults) = self.defaults.as_deref() {
            match given.plain(self.def) {
                Some([x]) => {
                    if let Some(x) = operand(x)? {
                        return call::apply(py, self.def, &[x], defaults);
                    }
                }
                Some([x, y]) => {
                    if let (Some(x), Some(y)) = (operand(x)?, operand(y)?) {
                        return call::apply(py, self.def, &[x, y], defaults);
                    }
                }
                Some(_) | None => {}
            }
        }
        let (args, attrs, asked) = parse::parse(self, given)?;
        match asked {
            None => call::apply(py, self.def, &args, &*attrs),
            Some(asked) => asked.apply(py, self.def, &args, &*attrs),
        }
    }
}

/// A semantic class of ops: what handlers register for. `op in ex.reduction` asks whether an op belongs to it.
#[pyclass(name = "OpClass", module = "extenso", frozen)]
pub struct PyOpClass(pub Class);

const CLASSES: [(&str, Class); 10] = [
    ("unary_elementwise", Class::UnaryElementwise),
    ("binary_elementwise", Class::BinaryElementwise),
    ("comparison", Class::Comparison),
    ("elementwise", Class::Elementwise),
    ("reduction", Class::Reduction),
    ("structural", Class::Structural),
    ("axiswise", Class::Axiswise),
    ("segment", Class::Segment),
    ("linear", Class::Linear),
    ("effect", Class::Effect),
];

#[pymethods]
impl PyOpClass {
    fn __contains__(&self, op: &Bound<'_, PyAny>) -> bool {
        op_of(op).is_some_and(|op| belongs(op, self.0))
    }

    /// The name.
    #[getter]
    fn name(&self) -> &'static str {
        CLASSES.iter().find(|(_, class)| *class == self.0).map_or("", |(name, _)| name)
    }

    /// The functions of the module that belong to the class, in the order of the tables.
    fn ops<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let ops: PyResult<Vec<_>> = public_ops().filter(|op| belongs(op, self.0)).map(|op| function(py, op)).collect();
        PyTuple::new(py, ops?)
    }

    fn __repr__(&self) -> String {
        format!("extenso.{}", self.name())
    }

    fn __reduce__(&self) -> &'static str {
        self.name()
    }
}

fn belongs(op: &OpDef, class: Class) -> bool {
    op.class == class || op.class.wider() == Some(class)
}

/// Adds the classes of ops and the questions about them to the module.
pub fn add_classes_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyOpClass>()?;
    CLASSES.iter().try_for_each(|(name, class)| module.add(*name, Bound::new(module.py(), PyOpClass(*class))?))?;
    module.add_function(wrap_pyfunction!(is_unary_elementwise_op, module)?)?;
    module.add_function(wrap_pyfunction!(is_binary_elementwise_op, module)?)?;
    module.add_function(wrap_pyfunction!(is_reduction_op, module)?)
}

/// Whether `op` is an op of one argument that works on each element on its own.
#[pyfunction]
fn is_unary_elementwise_op(op: &Bound<'_, PyAny>) -> bool {
    op_of(op).is_some_and(|op| belongs(op, Class::UnaryElementwise))
}

/// Whether `op` is an op of two arguments that works on each pair of elements on its own; comparisons are.
#[pyfunction]
fn is_binary_elementwise_op(op: &Bound<'_, PyAny>) -> bool {
    op_of(op).is_some_and(|op| belongs(op, Class::BinaryElementwise))
}

/// Whether `op` folds axes.
#[pyfunction]
fn is_reduction_op(op: &Bound<'_, PyAny>) -> bool {
    op_of(op).is_some_and(|op| belongs(op, Class::Reduction))
}
