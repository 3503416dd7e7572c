//! `Variable`: a named tensor that changes, as a Python object.
//!
//! Invariant: reading and assigning are ops, so that a traced function orders them.

use crate::error::{OrRaise, raised};
use crate::operators::with_operators;
use crate::{arg, call, dtype, shape, spec};
use extenso_core::{Arg, Variable, ops};
use extenso_types::{Error, Spec};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// A named tensor that changes: `Variable("weights", [0.0, 0.0])`.
///
/// Its dtype and shape are those of the first value and never change. In operators and ops it stands for what it holds.
///
/// >>> import extenso as ex
/// >>> weights = ex.Variable("weights", [1.0, 2.0])
/// >>> (weights * 2).tolist()
/// [2.0, 4.0]
#[pyclass(name = "Variable", module = "extenso", frozen)]
pub struct PyVariable(pub Variable);

with_operators!(PyVariable {
    #[new]
    #[pyo3(signature = (name, initial, dtype=None))]
    fn new(name: String, initial: &Bound<'_, PyAny>, dtype: Option<&Bound<'_, PyAny>>) -> PyResult<PyVariable> {
        let initial = arg::tensor(initial, dtype.map(dtype::from_py).transpose()?)?;
        Variable::new(name, initial).or_raise().map(PyVariable)
    }

    /// What it holds now; in a traced function, when the function has come here.
    fn read<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        call::apply(py, &ops::READ_VARIABLE, &[], &self.attrs())
    }

    /// Replaces what it holds and returns it.
    fn assign<'py>(&self, py: Python<'py>, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        // A number or a list takes the dtype of the variable; a tensor or an array has to have it.
        let literal = value.is_instance_of::<PyList>() || matches!(arg::operand(value)?, Some(Arg::Scalar(_)));
        let value =
            if literal { Arg::from(arg::tensor(value, Some(self.0.spec().dtype))?) } else { arg::from_py(value)? };
        call::apply(py, &ops::ASSIGN, &[value], &self.attrs())
    }

    /// The name, as files and messages show it.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// The spec of what it holds.
    #[getter]
    fn spec<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        spec::to_py(py, Spec::Tensor(self.0.spec().clone()))
    }

    /// The element type.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, dtype::PyDType>> {
        dtype::object(py, self.0.spec().dtype)
    }

    /// The sizes of the axes.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        shape::tuple(py, &self.0.spec().shape)
    }

    /// The number of axes.
    #[getter]
    fn ndim(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.shape(py)?.len())
    }

    // An op that is given a variable takes what it holds.
    fn __extenso_tensor__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.read(py)
    }

    fn __repr__(&self) -> String {
        format!("Variable({:?}, {})", self.0.name(), self.0.spec())
    }

    fn __reduce__(&self, py: Python<'_>) -> PyResult<()> {
        let error = Error::value(format!("variable '{}' cannot be pickled", self.0.name()))
            .hint("Pickle what it holds: `variable.read()`.");
        Err(raised(py, error))
    }
});

impl PyVariable {
    fn attrs(&self) -> ops::OfVariable {
        ops::OfVariable { variable: self.0.clone() }
    }
}
