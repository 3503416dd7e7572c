//! `RowPartition`: how a flat list is cut into rows, as a Python object.

use crate::error::OrRaise;
use crate::ragged::vector;
use crate::typed::{Typed, typed};
use crate::{arg, call, spec, value};
use extenso_core::attrs::NoAttrs;
use extenso_core::{Arg, RowPartition, ops};
use extenso_types::{DType, Error, Spec};
use pyo3::prelude::*;

/// How a flat list of values is cut into rows. Every partition is proven when it is made.
#[pyclass(name = "RowPartition", module = "extenso", frozen)]
pub struct PyRowPartition(pub RowPartition);

/// What pickling calls: the maker, the splits, the number of values, and of each row where it is known.
type Reduced<'py> = (Bound<'py, PyAny>, (Bound<'py, PyAny>, usize, Option<usize>));

#[pymethods]
impl PyRowPartition {
    /// The partition by row splits: one more than rows, from 0, never decreasing.
    ///
    /// `nvalues` is the number of values; without it, the last split. With `uniform_row_length` each row must have so many values, and it
    /// is known from then on.
    #[staticmethod]
    #[pyo3(signature = (splits, nvalues=None, uniform_row_length=None))]
    fn from_row_splits(
        splits: &Bound<'_, PyAny>,
        nvalues: Option<Typed<usize>>,
        uniform_row_length: Option<Typed<usize>>,
    ) -> PyResult<PyRowPartition> {
        typed!(from_row_splits: nvalues, uniform_row_length);
        let splits = vector(splits)?;
        let nvalues = nvalues.map_or_else(|| last_split(&splits), Ok)?;
        let rows = RowPartition::from_row_splits(&splits, nvalues);
        rows.and_then(|rows| rows.with_uniform_row_length(uniform_row_length)).or_raise().map(PyRowPartition)
    }

    /// The partition whose rows have these lengths.
    #[staticmethod]
    fn from_row_lengths<'py>(py: Python<'py>, lengths: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let lengths = Arg::from(arg::tensor(lengths, None)?);
        call::apply(py, &ops::PARTITION_FROM_LENGTHS, &[lengths], &NoAttrs {})
    }

    /// The splits of the rows, from 0.
    fn row_splits<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        call::apply(py, &ops::ROW_SPLITS, &[Arg::from(&self.0)], &NoAttrs {})
    }

    /// The number of values in each row.
    fn row_lengths<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        call::apply(py, &ops::ROW_LENGTHS, &[Arg::from(&self.0)], &NoAttrs {})
    }

    /// For each value the row that it belongs to.
    fn value_rowids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        call::apply(py, &ops::VALUE_ROWIDS, &[Arg::from(&self.0)], &NoAttrs {})
    }

    /// The number of rows; `None` if it is not known while tracing.
    #[getter]
    fn nrows(&self) -> Option<usize> {
        self.0.spec().nrows.known()
    }

    /// The number of values; `None` if it is not known while tracing.
    #[getter]
    fn nvalues(&self) -> Option<usize> {
        self.0.spec().nvalues.known()
    }

    /// The number of values in each row, if it is known that all have as many.
    #[getter]
    fn uniform_row_length(&self) -> Option<usize> {
        self.0.spec().uniform_row_length
    }

    /// The width of the offsets: `i32` or `i64`.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, crate::dtype::PyDType>> {
        crate::dtype::object(py, self.0.spec().index)
    }

    /// The spec.
    #[getter]
    fn spec<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        spec::to_py(py, Spec::Partition(self.0.spec()))
    }

    fn __extenso_type_spec__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.spec(py)
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(self.0.data().or_raise()?.nrows())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        match other.cast::<PyRowPartition>() {
            Ok(other) => self.0.equals(&other.get().0).or_raise(),
            Err(_) => Ok(false),
        }
    }

    fn __hash__(&self) -> PyResult<usize> {
        Ok(self.0.data().or_raise()?.nrows())
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        let py = slf.py();
        let rows = slf.get().0.data().or_raise()?;
        let splits = call::apply_one(&ops::ROW_SPLITS, &[Arg::from(&slf.get().0)], &NoAttrs {})?;
        let make = py.get_type::<PyRowPartition>().getattr("from_row_splits")?;
        // Splits are relative to the first, so the values before it are not counted.
        Ok((make, (value::to_py(py, splits)?, rows.nvalues() - rows.first(), rows.uniform_row_length())))
    }
}

fn last_split(splits: &extenso_core::Tensor) -> PyResult<usize> {
    let wide = call::apply_one(&ops::CAST, &[Arg::from(splits)], &ops::Cast { dtype: DType::I64 })?;
    let last = wide.tensor().and_then(|t| Ok(t.as_slice::<i64>()?.last().copied())).or_raise()?;
    usize::try_from(last.unwrap_or(0)).map_err(|_| Error::value(format!("the last row split is {last:?}"))).or_raise()
}
