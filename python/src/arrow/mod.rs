//! Arrow arrays in and out, through the PyCapsule protocol: any library that has it, and no copy of a buffer.
//!
//! Invariant: what comes in is proven before it is read: offsets, text and partitions by core, the layout by arrow.

mod capsule;
mod offset;
mod stream;

pub use capsule::{Coming, PyChunks, chunks, has_arrays};

use crate::error::{OrRaise, guarded, raised};
use crate::spec::spec_or_value;
use crate::value;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::{Array, ArrayRef};
use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use arrow_schema::{DataType, Field, FieldRef};
use extenso_core::Value;
use extenso_formats::arrow::{self, ArrowOptions};
use extenso_types::{Error, Result, Spec};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// Adds the functions to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyArrowArray>()?;
    module.add_function(wrap_pyfunction!(from_arrow, module)?)?;
    module.add_function(wrap_pyfunction!(_to_arrow, module)?)?;
    module.add_function(wrap_pyfunction!(to_arrow, module)?)
}

fn refused(py: Python<'_>, op: &str, what: impl std::fmt::Display) -> PyErr {
    raised(py, Error::data(format!("the Arrow array is malformed: {what}")).at(op))
}

/// The value of an Arrow array of any library (`__arrow_c_array__`), or of a table or a chunked array (`__arrow_c_stream__`).
///
/// Buffers are shared where there is one chunk. Lists become ragged tensors, structs and tables struct tensors, and an array with nulls a
/// masked tensor. With `spec` the value is one of it: fields that it does not know are not looked at, optional ones that are missing are
/// null, and narrower numbers are widened; anything else that does not fit is an error with its path.
#[pyfunction]
#[pyo3(signature = (obj, spec=None))]
fn from_arrow<'py>(obj: &Bound<'py, PyAny>, spec: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    let py = obj.py();
    let options = ArrowOptions { spec: spec.map(spec_or_value).transpose()?, ..ArrowOptions::default() };
    let chunks = chunks(obj, "from_arrow")?;
    let read = guarded(|| arrow::from_chunks(&chunks.field, &chunks.arrays, &options));
    value::to_py(py, read.map_err(|e| e.at("from_arrow")).or_raise()?.value)
}

/// The value of this spec that arrays of a library hold.
///
/// Errors: what does not fit the spec, with its path.
pub fn of_spec(object: &Bound<'_, PyAny>, spec: Spec) -> PyResult<Value> {
    let options = ArrowOptions { spec: Some(spec), ..ArrowOptions::default() };
    let chunks = chunks(object, "constant")?;
    let read = guarded(|| arrow::from_chunks(&chunks.field, &chunks.arrays, &options));
    Ok(read.map_err(|e| e.at("constant")).or_raise()?.value)
}

/// An Arrow array that shares the buffers of a value; libraries take it through `__arrow_c_array__` or `__arrow_c_stream__`.
#[pyclass(name = "ArrowArray", module = "extenso", frozen)]
pub struct PyArrowArray {
    field: FieldRef,
    array: ArrayRef,
}

impl PyArrowArray {
    /// The array of a value.
    ///
    /// Errors: a value that Arrow has no array for.
    fn of(value: &Value) -> PyResult<PyArrowArray> {
        let made = guarded(|| {
            let (field, array) = arrow::to_arrow_field(value)?;
            without_nul(&field)?;
            Ok((field, array))
        });
        let (field, array) = made.or_raise()?;
        Ok(PyArrowArray { field, array })
    }

    /// The array in the layout that a consumer asks for. The protocol lets the producer keep its own, which an array of other elements does.
    fn asked(self, py: Python<'_>, requested: Option<&Bound<'_, PyAny>>) -> PyResult<PyArrowArray> {
        let Some(requested) = requested else { return Ok(self) };
        let wanted = capsule::field_of(requested, "to_arrow")?;
        let made = py.detach(|| guarded(|| Ok(arrow::asked(self.field, self.array, &wanted))));
        made.or_raise().map(|(field, array)| PyArrowArray { field, array })
    }

    fn schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.field.as_ref())
            .map_err(|e| raised(py, Error::internal(format!("Arrow refuses to export: {e}")).at("to_arrow")))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The C interface: a stream of the array alone in a capsule.
    fn stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let stream = stream::of_one(self.field.clone(), offset::export(&self.array.to_data()));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// The C interface: a schema and an array in capsules.
    fn capsules<'py>(&self, py: Python<'py>) -> PyResult<Capsules<'py>> {
        let array = PyCapsule::new_with_value(py, offset::export(&self.array.to_data()), c"arrow_array")?;
        Ok((self.schema(py)?, array))
    }
}

/// Checks that the C interface has a text for what a field says: its texts end at the first NUL.
fn without_nul(field: &Field) -> Result<()> {
    let wrong = |what: &str, text: &str| {
        let found = format!("{what} {text:?} has a NUL, at which texts of Arrow's C interface end");
        Err(Error::value(found).at("to_arrow").wanted("text without one"))
    };
    if field.name().contains('\0') {
        return wrong("the name", field.name());
    }
    match field.data_type() {
        DataType::Timestamp(_, Some(zone)) if zone.contains('\0') => wrong("the zone", zone),
        DataType::Dictionary(_, words) => without_nul(&Field::new("", (**words).clone(), true)),
        DataType::Struct(fields) => fields.iter().try_for_each(|field| without_nul(field)),
        DataType::Union(fields, _) => fields.iter().try_for_each(|(_, field)| without_nul(field)),
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _)
        | DataType::ListView(item)
        | DataType::LargeListView(item) => without_nul(item),
        _ => Ok(()),
    }
}

pub type Capsules<'py> = (Bound<'py, PyCapsule>, Bound<'py, PyCapsule>);
pub type Stream<'py> = Bound<'py, PyCapsule>;

/// The C interface of a value, in the layout that a consumer asks for where that is of the same elements.
///
/// Errors: a value that Arrow has no array for; a schema that is none.
pub fn capsules_of<'py>(
    py: Python<'py>,
    value: &Value,
    requested: Option<&Bound<'py, PyAny>>,
) -> PyResult<Capsules<'py>> {
    PyArrowArray::of(value)?.asked(py, requested)?.capsules(py)
}

/// The C interface of a value as a stream of one array, in the layout that a consumer asks for where that is of the same elements.
///
/// Errors: as [`capsules_of`].
pub fn stream_of<'py>(py: Python<'py>, value: &Value, requested: Option<&Bound<'py, PyAny>>) -> PyResult<Stream<'py>> {
    PyArrowArray::of(value)?.asked(py, requested)?.stream(py)
}

/// The array of a value as an array of pyarrow where that is installed and knows its type.
pub fn array_of<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    let array = PyArrowArray::of(value)?;
    let named = array.field.metadata().get(EXTENSION_TYPE_NAME_KEY).is_some_and(|name| !name.starts_with("arrow."));
    let array = Bound::new(py, array)?.into_any();
    match py.import("pyarrow") {
        Ok(pyarrow) if !named => pyarrow.call_method1("array", (array,)),
        _ => Ok(array),
    }
}

#[pymethods]
impl PyArrowArray {
    /// The C interface: a schema and an array in capsules.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Capsules<'py>> {
        let array = PyArrowArray { field: self.field.clone(), array: self.array.clone() };
        array.asked(py, requested_schema.as_ref())?.capsules(py)
    }

    /// The C interface: a stream of the array alone in a capsule.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let array = PyArrowArray { field: self.field.clone(), array: self.array.clone() };
        array.asked(py, requested_schema.as_ref())?.stream(py)
    }

    /// The C interface: the schema in a capsule.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        self.schema(py)
    }

    fn __len__(&self) -> usize {
        self.array.len()
    }

    fn __repr__(&self) -> String {
        format!("<Arrow array of {} {}>", self.array.len(), self.array.data_type())
    }
}

/// The Arrow array of a value, sharing its buffers: pass it to `pyarrow.array`, polars or any other reader of the protocol.
#[pyfunction]
fn to_arrow(x: &Bound<'_, PyAny>) -> PyResult<PyArrowArray> {
    PyArrowArray::of(&value::from_py(x)?)
}

/// The method `to_arrow` of values.
#[pyfunction]
fn _to_arrow<'py>(x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    array_of(x.py(), &value::from_py(x)?)
}
