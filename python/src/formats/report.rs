//! Reports of bad rows as Python objects.

use crate::error::OrRaise;
use crate::tensor::PyTensor;
use extenso_core::Tensor;
use extenso_formats::columns::{Bits, MAX_REPORTED};
use extenso_formats::{BadRow, BadRows, OnError};
use extenso_types::{Error, Path};
use pyo3::prelude::*;

/// What a call gives: the value, or the value with its report, where the policy for bad rows leaves one.
pub fn with_report<'py>(value: Bound<'py, PyAny>, bad: BadRows, on_error: OnError) -> PyResult<Bound<'py, PyAny>> {
    match on_error {
        OnError::Raise => Ok(value),
        OnError::Skip | OnError::Default => {
            let py = value.py();
            Ok((value, PyBadRows(bad)).into_pyobject(py)?.into_any())
        }
    }
}

/// The rows that did not fit, under a policy other than raising. Its length is how many there are.
#[pyclass(name = "BadRows", module = "extenso", frozen)]
pub struct PyBadRows(BadRows);

impl PyBadRows {
    /// A report as an object.
    pub fn new(bad: BadRows) -> PyBadRows {
        PyBadRows(bad)
    }
}

#[pymethods]
impl PyBadRows {
    /// The numbers of all of them in the source, from 0, in order.
    #[getter]
    fn rows(&self) -> Vec<usize> {
        self.0.rows.clone()
    }

    /// The first of them, at most 16, described.
    #[getter]
    fn first(&self) -> Vec<PyBadRow> {
        self.0.first.iter().cloned().map(PyBadRow).collect()
    }

    /// With `on_error="default"`, whether each row of the value holds defaults; otherwise no elements.
    #[getter]
    fn defaulted(&self) -> PyResult<PyTensor> {
        let bits = &self.0.defaulted;
        let flags: Vec<bool> = (0..bits.len()).map(|i| bits.get(i)).collect();
        Tensor::bools(&[flags.len()], &flags).or_raise().map(PyTensor)
    }

    /// The same with these rows too, each with its number and what is wrong with it, which hold defaults, or are left out.
    fn _with(&self, more: Vec<(usize, String)>, default: bool) -> PyBadRows {
        let mut bad = self.0.clone();
        bad.rows.extend(more.iter().map(|(row, _)| *row));
        bad.rows.sort_unstable();
        let told = |(row, error)| BadRow { row, offset: None, path: Path::root(), error: Error::data(error) };
        bad.first.extend(more.into_iter().map(told));
        bad.first.sort_by_key(|bad| bad.row);
        bad.first.truncate(MAX_REPORTED);
        if default {
            let mut flags = Bits::default();
            (0..bad.defaulted.len()).for_each(|row| flags.push(bad.rows.binary_search(&row).is_ok()));
            bad.defaulted = flags;
        }
        PyBadRows(bad)
    }

    fn __len__(&self) -> usize {
        self.0.count()
    }

    fn __repr__(&self) -> String {
        let first = self.0.first.first().map_or(String::new(), |bad| format!(", the first: {}", bad.error));
        let plural = if self.0.count() == 1 { "" } else { "s" };
        format!("<{} bad row{plural}{first}>", self.0.count())
    }
}

/// Why one row did not fit.
#[pyclass(name = "BadRow", module = "extenso", frozen)]
pub struct PyBadRow(BadRow);

#[pymethods]
impl PyBadRow {
    /// The number of the row in the source, from 0.
    #[getter]
    fn row(&self) -> usize {
        self.0.row
    }

    /// The byte of the source where it went wrong; none where rows have no bytes of their own, as in Arrow and Parquet.
    #[getter]
    fn offset(&self) -> Option<usize> {
        self.0.offset
    }

    /// The path in the record where it went wrong.
    #[getter]
    fn path(&self) -> String {
        self.0.path.to_string()
    }

    /// What would have been raised.
    #[getter]
    fn message(&self) -> String {
        self.0.error.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<bad row: {}>", self.0.error)
    }
}
