//! `StructTensor` of Python: records whose fields are values.

use crate::error::{OrRaise, raised};
use crate::value;
use extenso_core::{Ext, ExtensionType, Value};
use extenso_ext::StructTensor;
use extenso_types::{Error, Path, Shape, Spec};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Records: `StructTensor({"id": ids, "items": items})`, whose fields share their outer axes.
#[pyclass(name = "StructTensor", module = "extenso", frozen)]
pub struct PyStruct(pub Ext);

impl PyStruct {
    /// The records behind a value, if it is a struct.
    pub fn of(ext: &Ext) -> Option<PyStruct> {
        ext.downcast::<StructTensor>().map(|_| PyStruct(ext.clone()))
    }

    fn records(&self) -> PyResult<StructTensor> {
        StructTensor::from_value(&Value::Ext(self.0.clone())).or_raise()
    }
}

#[pymethods]
impl PyStruct {
    #[new]
    #[pyo3(signature = (fields, rank=1))]
    fn new(fields: &Bound<'_, PyDict>, rank: usize) -> PyResult<PyStruct> {
        let field = |(name, object): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            Ok((name.extract::<String>()?, value::from_py(&object)?))
        };
        let fields: Vec<(String, Value)> = fields.iter().map(field).collect::<PyResult<_>>()?;
        let shape = Shape::partial(std::iter::repeat_n(None, rank));
        StructTensor::from_fields(shape, fields).or_raise().map(|s| PyStruct(Ext::new(s)))
    }

    /// The names of the fields, in order.
    fn field_names(&self) -> PyResult<Vec<String>> {
        Ok(self.records()?.field_names().map(str::to_string).collect())
    }

    /// The field at a path, such as `items[*].price`: through lists and masked values.
    fn field_value<'py>(&self, py: Python<'py>, path: &str) -> PyResult<Bound<'py, PyAny>> {
        let path: Path = path.parse().or_raise()?;
        value::to_py(py, self.records()?.field_value(&path).or_raise()?)
    }

    /// The records with these fields replaced or added; the other fields keep their buffers.
    fn with_updates(&self, fields: &Bound<'_, PyDict>) -> PyResult<PyStruct> {
        let field = |(name, object): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            Ok((name.extract::<String>()?, value::from_py(&object)?))
        };
        let fields: Vec<(String, Value)> = fields.iter().map(field).collect::<PyResult<_>>()?;
        self.records()?.with_updates(fields).or_raise().map(|s| PyStruct(Ext::new(s)))
    }

    fn __getitem__<'py>(&self, py: Python<'py>, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let Ok(name) = name.extract::<String>() else {
            let error = Error::dtype(format!("a struct is indexed by {name}"))
                .wanted("the name of a field")
                .hint("Take rows with `ex.take` or `ex.slice`.");
            return Err(raised(py, error));
        };
        value::to_py(py, self.records()?.field(&name).or_raise()?.clone())
    }

    fn __extenso_type_spec__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        crate::spec::to_py(py, Spec::from(self.0.spec().or_raise()?))
    }

    fn __repr__(&self) -> PyResult<String> {
        Ok(format!("<{}>", Spec::from(self.0.spec().or_raise()?)))
    }
}
