//! Values: what comes out of ops as Python objects, and Python objects as values.

use crate::arg;
use crate::error::{self, OrRaise, raised};
use crate::ext::equal::equal;
use crate::ext::{Class, PyExtension};
use crate::partition::PyRowPartition;
use crate::record::PyStruct;
use crate::tensor::PyTensor;
use crate::union::PyUnion;
use extenso_core::{Arg, Ext, Outputs, Scalar, Value, why_opaque};
use extenso_ext::outer;
use extenso_types::{Dim, Error, Path, Spec};
use pyo3::prelude::*;
use pyo3::pyclass::CompareOp;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// The outputs of an op: one as it is, several as a tuple.
pub fn outputs_to_py(py: Python<'_>, mut outputs: Outputs) -> PyResult<Bound<'_, PyAny>> {
    if outputs.len() == 1
        && let Some(value) = outputs.pop()
    {
        return to_py(py, value);
    }
    let items: PyResult<Vec<_>> = outputs.into_iter().map(|value| to_py(py, value)).collect();
    Ok(PyTuple::new(py, items?)?.into_any())
}

/// A value as a Python object. A value of a Python class comes back as the object that it was.
#[inline]
pub fn to_py(py: Python<'_>, value: Value) -> PyResult<Bound<'_, PyAny>> {
    match value {
        Value::Tensor(tensor) => Ok(Bound::new(py, PyTensor(tensor))?.into_any()),
        Value::Partition(partition) => Ok(Bound::new(py, PyRowPartition(partition))?.into_any()),
        Value::Ext(ext) => ext_to_py(py, &ext),
    }
}

fn ext_to_py<'py>(py: Python<'py>, ext: &Ext) -> PyResult<Bound<'py, PyAny>> {
    if let Some(value) = ext.downcast::<PyExtension>() {
        return Ok(value.object(py));
    }
    if let Some(records) = PyStruct::of(ext) {
        return Ok(Bound::new(py, records)?.into_any());
    }
    if let Some(union) = PyUnion::of(py, ext)? {
        return Ok(union);
    }
    match Class::met(py, ext.def())? {
        Some(class) => class.object_of(py, ext),
        None => Ok(Bound::new(py, PyOpaque(ext.clone()))?.into_any()),
    }
}

/// An argument as the Python object that a handler sees; a weak scalar is the Python number that it was.
pub fn arg_to_py<'py>(py: Python<'py>, arg: &Arg) -> PyResult<Bound<'py, PyAny>> {
    Ok(match arg {
        Arg::Value(Value::Ext(ext)) => ext_to_py(py, ext)?,
        Arg::Value(value @ (Value::Tensor(_) | Value::Partition(_))) => to_py(py, value.clone())?,
        Arg::Scalar(Scalar::Bool(v)) => PyBool::new(py, *v).to_owned().into_any(),
        Arg::Scalar(Scalar::Int(v)) => PyInt::new(py, *v).into_any(),
        Arg::Scalar(Scalar::Unsigned(v)) => PyInt::new(py, *v).into_any(),
        Arg::Scalar(Scalar::Float(v)) => PyFloat::new(py, *v).into_any(),
        Arg::Scalar(Scalar::Str(v)) => PyString::new(py, v).into_any(),
        Arg::List(items) => {
            let items: PyResult<Vec<_>> = items.iter().map(|item| arg_to_py(py, item)).collect();
            PyList::new(py, items?)?.into_any()
        }
    })
}

/// The value of a Python object; numbers and array-likes become tensors.
///
/// Errors: the object is no value and does not become one.
pub fn from_py(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    match arg::from_py(object)? {
        Arg::Value(value) => Ok(value),
        Arg::Scalar(_) => arg::tensor(object, None).map(Value::Tensor),
        Arg::List(_) => Err(arg::no_argument(object, false)).or_raise(),
    }
}

/// The same of an argument of a function that is no op, which an error names.
///
/// Errors: as [`from_py`].
pub fn given(function: &str, argument: &str, object: &Bound<'_, PyAny>) -> PyResult<Value> {
    from_py(object).map_err(|e| error::at(object.py(), e, &format!("{function}: argument '{argument}'")))
}

/// A value whose type no class of this process stands for: its components by name.
#[pyclass(name = "OpaqueExtension", module = "extenso", subclass, frozen)]
pub struct PyOpaque(pub Ext);

#[pymethods]
impl PyOpaque {
    /// The name of the type.
    #[getter]
    fn type_name(&self) -> String {
        self.0.def().name().to_string()
    }

    /// Why no class stands for the type.
    #[getter]
    fn reason(&self) -> String {
        why_opaque(self.0.def())
            .unwrap_or_else(|| "the type is defined in Rust and no Python class is bound to it".into())
    }

    /// The components by name.
    #[getter]
    fn components<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let spec = self.0.spec().or_raise()?;
        let components = PyDict::new(py);
        for ((segment, _), value) in spec.components.into_iter().zip(self.0.components().or_raise()?) {
            components.set_item(Path::from_iter([segment]).to_string(), to_py(py, value)?)?;
        }
        Ok(components)
    }

    fn __extenso_type_spec__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        crate::spec::to_py(py, Spec::from(self.0.spec().or_raise()?))
    }

    fn __richcmp__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        op: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let equal = match op {
            CompareOp::Eq => equal(slf.as_any(), other)?,
            CompareOp::Ne => equal(slf.as_any(), other)?.map(|equal| !equal),
            CompareOp::Lt | CompareOp::Le | CompareOp::Gt | CompareOp::Ge => None,
        };
        Ok(match equal {
            Some(answer) => PyBool::new(py, answer).to_owned().into_any(),
            None => py.NotImplemented().into_bound(py),
        })
    }

    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        crate::index::item(py, &Value::Ext(self.0.clone()), key)
    }

    fn __len__(&self) -> PyResult<usize> {
        let length = || match outer(&Value::Ext(self.0.clone())) {
            Some(Dim::Known(length)) => Ok(length),
            Some(Dim::Var(_)) => Err(Error::scope("the number of values is not known while the function is traced")),
            None => Err(Error::shape(format!("one {} has no length", self.0.def()))),
        };
        length().or_raise()
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let items: PyResult<Vec<_>> = (0..slf.get().__len__()?).map(|i| slf.get_item(i)).collect();
        Ok(items?.into_pyobject(slf.py())?.try_iter()?.into_any())
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    fn __repr__(&self) -> PyResult<String> {
        Ok(format!("<opaque {}>", Spec::from(self.0.spec().or_raise()?)))
    }

    fn __reduce__(&self, py: Python<'_>) -> PyResult<()> {
        let error = Error::dtype(format!("a value of the opaque type {} cannot be pickled", self.0.def()))
            .hint("Save it in a function's file, or define the type.");
        Err(raised(py, error))
    }
}
