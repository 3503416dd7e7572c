//! Choices by several conditions, lines through points, orders by several keys, and where gradients end.

use crate::error::{self, OrRaise};
use crate::rearrange::{Given, Made, made};
use crate::typed::{Typed, typed};
use crate::{arg, value};
use extenso_core::{Value, ops};
use extenso_ext::lists;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// Adds the functions to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(select, module)?)?;
    module.add_function(wrap_pyfunction!(interp, module)?)?;
    module.add_function(wrap_pyfunction!(lexsort, module)?)?;
    module.add_function(wrap_pyfunction!(stop_gradient, module)?)
}

/// Of the choices the first whose condition is true, element by element, and where none is `default`, or nothing without one.
///
/// All broadcast as the arguments of `where`; where a condition that is looked at is missing, so is the result.
///
/// >>> import extenso as ex
/// >>> x = ex.tensor([-5.0, 0.5, 7.0])
/// >>> ex.select([x < 0.0, x < 1.0], [0.0, x], 9.0)
/// Tensor([0.0, 0.5, 9.0], f64[3])
/// >>> ex.to_py(ex.select([x < 0.0, x < 1.0], [0.0, x]))
/// [0.0, 0.5, None]
#[pyfunction]
#[pyo3(signature = (conditions, choices, default=None))]
fn select<'py>(conditions: Given<'_, 'py>, choices: Given<'_, 'py>, default: Option<Given<'_, 'py>>) -> Made<'py> {
    let tests = listed("select", "conditions", conditions)?;
    is_list("select", "choices", choices)?;
    let given = arg::each("select: argument 'choices'", choices)?;
    let rest = arg::optional("select", "default", default)?;
    made(conditions.py(), || extenso_ext::select(&tests, &given, rest))
}

/// What lies above each number on the line through the points of `xp` and `fp`.
///
/// Below the first point it is `left`, and above the last `right`; without them, what these points have. `xp` must not decrease.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.interp(ex.constant([[0.5, 15.0], [-1.0]]), [0.0, 10.0, 20.0], [0.0, 1.0, 3.0]))
/// [[0.05, 2.0], [0.0]]
#[pyfunction]
#[pyo3(signature = (x, xp, fp, left=None, right=None))]
fn interp<'py>(
    x: Given<'_, 'py>,
    xp: Given<'_, 'py>,
    fp: Given<'_, 'py>,
    left: Option<Given<'_, 'py>>,
    right: Option<Given<'_, 'py>>,
) -> Made<'py> {
    let points = (value::given("interp", "xp", xp)?, value::given("interp", "fp", fp)?);
    let ends = (arg::optional("interp", "left", left)?, arg::optional("interp", "right", right)?);
    let given = value::given("interp", "x", x)?;
    made(x.py(), || extenso_ext::interp(&given, &points.0, &points.1, ends.0, ends.1))
}

/// The positions along `axis` by which lists are in the order of several keys: of the last one, of the one before it where that is
/// equal, and so on.
///
/// What is equal in all keys keeps its order, and what is missing comes last. `take_along_axis` takes the positions.
///
/// >>> import extenso as ex
/// >>> price, name = ex.constant([[2, 1, 2], [5]]), ex.constant([["b", "b", "a"], ["c"]])
/// >>> ex.to_py(ex.lexsort((price, name)))
/// [[2, 1, 0], [0]]
#[pyfunction]
#[pyo3(signature = (keys, axis=Typed::new(-1)), text_signature = "(keys, axis=-1)")]
fn lexsort<'py>(keys: Given<'_, 'py>, axis: Typed<i64>) -> Made<'py> {
    typed!(lexsort: axis);
    let given = listed("lexsort", "keys", keys)?;
    made(keys.py(), || lists::lexsort(&given, axis))
}

/// The value as it stands, as if it were no function of anything: gradients end here.
///
/// A value of any type; its floats have a gradient of zero.
///
/// >>> import extenso as ex
/// >>> ex.grad(lambda x: ex.sum(x * ex.stop_gradient(x)))(ex.tensor([1.5, 2.0]))
/// Tensor([1.5, 2.0], f64[2])
#[pyfunction]
fn stop_gradient<'py>(x: Given<'_, 'py>) -> Made<'py> {
    let given = value::given("stop_gradient", "x", x)?;
    made(x.py(), || ops::stop_gradient(&given))
}

/// The values of a list or tuple.
fn listed(function: &str, argument: &str, objects: Given<'_, '_>) -> PyResult<Vec<Value>> {
    is_list(function, argument, objects)?;
    let one = |(i, object): (usize, PyResult<Bound<'_, PyAny>>)| {
        let object = object?;
        let place = format!("{function}: argument '{argument}': [{i}]");
        value::from_py(&object).map_err(|e| error::at(object.py(), e, &place))
    };
    objects.try_iter()?.enumerate().map(one).collect()
}

fn is_list(function: &str, argument: &str, object: Given<'_, '_>) -> PyResult<()> {
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        return Ok(());
    }
    Err(arg::no_argument(object, true).at(format!("argument '{argument}'")).at(function.to_string())).or_raise()
}
