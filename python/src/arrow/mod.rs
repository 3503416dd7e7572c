//! Arrow arrays in and out, through the PyCapsule protocol: any library that has it, and no copy of a buffer.
//!
//! Invariant: what comes in is proven before it is read: offsets, text and partitions by core, the layout by arrow.

mod offset;

use crate::error::{OrRaise, guarded, raised};
use crate::value;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::{Array, make_array};
use extenso_formats::arrow;
use extenso_types::Error;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

/// Adds the functions to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyArrowArray>()?;
    module.add_function(wrap_pyfunction!(from_arrow, module)?)?;
    module.add_function(wrap_pyfunction!(to_arrow, module)?)
}

fn refused(py: Python<'_>, what: impl std::fmt::Display) -> PyErr {
    raised(py, Error::data(format!("the Arrow array is malformed: {what}")).at("from_arrow"))
}

/// The value of an Arrow array of any library (`__arrow_c_array__`), sharing its buffers.
///
/// Lists become ragged tensors, structs struct tensors, and an array with nulls a masked tensor.
#[pyfunction]
fn from_arrow<'py>(array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    if !array.hasattr("__arrow_c_array__")? {
        let error = Error::dtype(format!("found a value of type {}", crate::arg::type_name(array)))
            .wanted("an array with `__arrow_c_array__`")
            .hint("Combine the chunks of a chunked array or table before.");
        return Err(raised(py, error.at("from_arrow")));
    }
    let capsules = array.call_method0("__arrow_c_array__")?.cast_into::<PyTuple>()?;
    let schema = capsules.get_item(0)?.cast_into::<PyCapsule>()?;
    let data = capsules.get_item(1)?.cast_into::<PyCapsule>()?;
    let schema = schema.pointer_checked(Some(c"arrow_schema"))?.cast::<FFI_ArrowSchema>();
    let data = data.pointer_checked(Some(c"arrow_array"))?.cast::<FFI_ArrowArray>();
    // SAFETY: the capsules carry the names of the protocol, which says what they point to; taking the array out leaves an
    // empty one, so that it is released once.
    let data = unsafe { from_ffi(FFI_ArrowArray::from_raw(data.as_ptr()), schema.as_ref()) };
    let data = data.map_err(|e| refused(py, e))?;
    data.validate().map_err(|e| refused(py, e))?;
    let read = guarded(|| arrow::from_arrow(make_array(offset::into_fields(data)).as_ref())).or_raise()?;
    value::to_py(py, read)
}

/// An Arrow array that shares the buffers of a value; libraries take it through `__arrow_c_array__`.
#[pyclass(name = "ArrowArray", module = "extenso", frozen)]
struct PyArrowArray(arrow_array::ArrayRef);

#[pymethods]
impl PyArrowArray {
    /// The C interface: a schema and an array in capsules.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // A consumer may ask for another type; the protocol lets the producer keep its own.
        drop(requested_schema);
        let data = self.0.to_data();
        let schema = FFI_ArrowSchema::try_from(data.data_type())
            .map_err(|e| raised(py, Error::internal(format!("Arrow refuses to export: {e}")).at("to_arrow")))?;
        let schema = PyCapsule::new_with_value(py, schema, c"arrow_schema")?;
        Ok((schema, PyCapsule::new_with_value(py, offset::export(&data), c"arrow_array")?))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __repr__(&self) -> String {
        format!("<Arrow array of {} {}>", self.0.len(), self.0.data_type())
    }
}

/// The Arrow array of a value, sharing its buffers: pass it to `pyarrow.array`, polars or any other reader of the protocol.
#[pyfunction]
fn to_arrow(x: &Bound<'_, PyAny>) -> PyResult<PyArrowArray> {
    let value = value::from_py(x)?;
    guarded(|| arrow::to_arrow(&value)).or_raise().map(PyArrowArray)
}
