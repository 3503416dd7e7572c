//! `function`, `cond`, `grad`, `value_and_grad`.

use super::body::{How, Wrt};
use super::{PyFunction, nest_to_py, py_to_nest};
use crate::error::{OrCarry, OrRaise, guarded, raised};
use crate::typed::{Typed, typed};
use crate::{arg, value};
use extenso_core::Value;
use extenso_types::{Error, Nest};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCFunction, PyDict, PyList, PyTuple};

/// Adds the functions to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(function, module)?)?;
    module.add_function(wrap_pyfunction!(cond, module)?)?;
    module.add_function(wrap_pyfunction!(grad, module)?)?;
    module.add_function(wrap_pyfunction!(value_and_grad, module)?)
}

/// Makes a traced function of `f`; also a decorator, with or without arguments.
///
/// With an `input_signature`, a spec for each parameter in a sequence or by name, it is traced for that alone: numbers, lists
/// and dicts become values of the specs, and arguments that do not fit raise.
/// A call that differs from an earlier one in sizes alone generalises that trace; with `reduce_retracing=False` each size
/// has a trace of its own.
///
/// >>> import extenso as ex
/// >>> @ex.function
/// ... def f(x):
/// ...     return x * 2.0
/// >>> f(ex.tensor([1.0, 2.0]))
/// Tensor([2.0, 4.0], f64[2])
#[pyfunction]
#[pyo3(signature = (f=None, input_signature=None, *, name=None, reduce_retracing=Typed::new(true)), text_signature = "(f=None, input_signature=None, *, name=None, reduce_retracing=True)")]
fn function<'py>(
    py: Python<'py>,
    f: Option<Bound<'py, PyAny>>,
    input_signature: Option<Bound<'py, PyAny>>,
    name: Option<Typed<String>>,
    reduce_retracing: Typed<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    typed!(function: name, reduce_retracing);
    let make = move |f: &Bound<'py, PyAny>, specs: Option<&Bound<'py, PyAny>>, name| {
        PyFunction::make(f, specs, name, How::Call, reduce_retracing)
    };
    match f {
        Some(f) => Ok(Bound::new(py, make(&f, input_signature.as_ref(), name)?)?.into_any()),
        None => {
            let input_signature = input_signature.map(Bound::unbind);
            let decorate = move |args: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>| {
                let input_signature = input_signature.as_ref().map(|specs| specs.bind(args.py()));
                PyFunction::make(&args.get_item(0)?, input_signature, name.clone(), How::Call, reduce_retracing)
            };
            Ok(PyCFunction::new_closure(py, Some(c"function"), None, decorate)?.into_any())
        }
    }
}

/// The result of `then()` if `condition` is true, otherwise of `otherwise()`.
///
/// The branch that is not taken does nothing, errors included. In a traced function both are traced, and results that differ in
/// structure, dtype or type are an error. A call on data does not call the other branch, and so does not know of such a difference.
#[pyfunction]
#[pyo3(signature = (condition, then, otherwise))]
fn cond<'py>(
    py: Python<'py>,
    condition: &Bound<'py, PyAny>,
    then: &Bound<'py, PyAny>,
    otherwise: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let condition = value::from_py(condition)?;
    for (name, f) in [("then", then), ("otherwise", otherwise)] {
        if !f.is_callable() {
            let error = Error::dtype(format!("argument '{name}' is a value of type {}", arg::type_name(f)));
            let error = error.wanted("a function without parameters").hint("Write `lambda: ...` around the value.");
            return Err(raised(py, error.at("cond")));
        }
    }
    let branch = |f: &Bound<'py, PyAny>| f.call0().and_then(|result| py_to_nest(&result)).or_carry(py);
    let result: Nest<Value> =
        guarded(|| extenso_graph::cond(&condition, || branch(then), || branch(otherwise))).or_raise()?;
    nest_to_py(py, &result)
}

fn numbers(argnums: &Bound<'_, PyAny>) -> PyResult<Wrt> {
    // Room is made for as many items as a sequence says that it has: a list or a tuple does not lie.
    if argnums.is_instance_of::<PyList>() || argnums.is_instance_of::<PyTuple>() {
        return argnums.try_iter()?.map(|item| position(&item?)).collect::<PyResult<_>>().map(Wrt::Several);
    }
    position(argnums).map(Wrt::One)
}

fn position(argnum: &Bound<'_, PyAny>) -> PyResult<i64> {
    if argnum.is_instance_of::<PyBool>() || !argnum.hasattr("__index__")? {
        let error = Error::dtype(format!("`argnums` names {argnum}")).wanted("the position of an argument");
        return Err(raised(argnum.py(), error));
    }
    argnum.extract()
}

/// A function of the gradient of `f`, whose value is a float scalar, with respect to the argument at `argnums`, or a tuple for several.
///
/// The gradient has the structure and the types of the argument: float components hold gradients, all others what they held. A float of
/// Python is a scalar of f64 there. Negative positions count from behind the last argument.
///
/// >>> import extenso as ex
/// >>> ex.grad(lambda x: x * x)(3.0)
/// Tensor(6.0, f64[])
#[pyfunction]
#[pyo3(signature = (f, argnums=None))]
fn grad(f: &Bound<'_, PyAny>, argnums: Option<&Bound<'_, PyAny>>) -> PyResult<PyFunction> {
    let wrt = argnums.map_or(Ok(Wrt::One(0)), numbers)?;
    PyFunction::make(f, None, None, How::Grad { wrt, with_value: false }, true)
}

/// A function of the value of `f` and its gradient, as a pair; see `grad`.
#[pyfunction]
#[pyo3(signature = (f, argnums=None))]
fn value_and_grad(f: &Bound<'_, PyAny>, argnums: Option<&Bound<'_, PyAny>>) -> PyResult<PyFunction> {
    let wrt = argnums.map_or(Ok(Wrt::One(0)), numbers)?;
    PyFunction::make(f, None, None, How::Grad { wrt, with_value: true }, true)
}
