//! `Shape`: a possibly partial shape as a Python object, and shapes as tuples.

use crate::error::OrRaise;
use extenso_types::{Dim, DimId, Error, Shape, StaticValue};
use pyo3::IntoPyObjectExt;
use pyo3::basic::CompareOp;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// A shape of which sizes, or even the rank, may be unknown.
///
/// `Shape([None, 3])` has two axes and an unknown outer size; of `Shape(None)` not even the rank is known.
#[pyclass(name = "Shape", module = "extenso", frozen)]
pub struct PyShape(pub Shape);

/// What pickling calls: the class and its sizes.
type Reduced<'py> = (Bound<'py, PyAny>, (Option<Bound<'py, PyTuple>>,));

#[pymethods]
impl PyShape {
    #[new]
    #[pyo3(signature = (dims=None))]
    fn new(dims: Option<&Bound<'_, PyAny>>) -> PyResult<PyShape> {
        dims.map_or_else(|| Ok(Shape::unknown()), from_py).map(PyShape)
    }

    /// The sizes, `None` where one is unknown, or `None` if the rank is.
    #[getter]
    fn dims<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.0.dims().map(|dims| sizes(py, dims)).transpose()
    }

    /// The number of axes, if it is known.
    #[getter]
    fn rank(&self) -> Option<usize> {
        self.0.rank()
    }

    /// Whether some concrete shape satisfies both.
    fn is_compatible_with(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.0.is_compatible_with(&from_py(other)?))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let key = |shape: &Shape| StaticValue::Shape(shape.clone());
        other.cast::<PyShape>().is_ok_and(|other| key(&self.0) == key(&other.get().0))
    }

    fn __hash__(&self) -> u64 {
        self.0.rank().map_or(u64::MAX, |rank| u64::try_from(rank).unwrap_or(0))
    }

    fn __repr__(&self) -> String {
        format!("Shape({})", literal(&self.0))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        Ok((slf.get_type().into_any(), (slf.get().dims(slf.py())?,)))
    }
}

/// A shape as Python writes it: `[None, 3]`, or `None`.
pub fn literal(shape: &Shape) -> String {
    let size = |dim: &Dim| dim.known().map_or("None".to_string(), |n| n.to_string());
    shape.dims().map_or("None".into(), |dims| format!("[{}]", dims.iter().map(size).collect::<Vec<_>>().join(", ")))
}

/// The sizes as a tuple, `None` where one is unknown.
pub fn sizes<'py>(py: Python<'py>, dims: &[Dim]) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, dims.iter().map(|dim| dim.known()))
}

/// A size that a trace for calls of several sizes does not know. What asks for it is an error, so that each size gets a trace of its own:
/// `None` would compare unequal to every number, and take the wrong side of a branch. It is known to equal itself.
#[pyclass(name = "UnknownSize", module = "extenso._core", frozen)]
pub struct PyUnknownSize(Option<DimId>);

impl PyUnknownSize {
    fn asked<T>() -> PyResult<T> {
        let error = Error::shape("the size is not known while the function is traced for several sizes");
        Err(error.wanted("a function that does not look at it, or a trace for each size")).or_raise()
    }
}

#[pymethods]
impl PyUnknownSize {
    fn __richcmp__(&self, other: &Bound<'_, PyAny>, op: CompareOp) -> PyResult<bool> {
        let same = other.cast::<PyUnknownSize>().is_ok_and(|other| self.0.is_some() && self.0 == other.get().0);
        match op {
            CompareOp::Eq if same => Ok(true),
            CompareOp::Ne if same => Ok(false),
            _ => PyUnknownSize::asked(),
        }
    }

    fn __hash__(&self) -> PyResult<u64> {
        PyUnknownSize::asked()
    }

    fn __bool__(&self) -> PyResult<bool> {
        PyUnknownSize::asked()
    }

    fn __index__(&self) -> PyResult<usize> {
        PyUnknownSize::asked()
    }

    fn __repr__(&self) -> PyResult<String> {
        PyUnknownSize::asked()
    }
}

/// The size that `None` stands for: in a trace for several sizes one that is not to be looked at.
#[pyfunction]
fn _size<'py>(size: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if size.is_none() && extenso_graph::is_generalising() {
        return Ok(Bound::new(size.py(), PyUnknownSize(None))?.into_any());
    }
    Ok(size.clone())
}

/// The shape of a value as a tuple, `None` where a size is unknown.
///
/// Errors: not even the rank is known.
pub fn tuple<'py>(py: Python<'py>, shape: &Shape) -> PyResult<Bound<'py, PyTuple>> {
    let dims = shape.dims().ok_or_else(|| {
        Error::shape("the rank is not known while the function is traced").hint("Give an input spec with a rank.")
    });
    let dims = dims.or_raise()?;
    if dims.iter().all(|dim| dim.known().is_some()) || !extenso_graph::is_generalising() {
        return sizes(py, dims);
    }
    let size = |dim: &Dim| match dim {
        Dim::Known(size) => size.into_bound_py_any(py),
        Dim::Var(id) => Bound::new(py, PyUnknownSize(Some(*id))).map(Bound::into_any),
    };
    PyTuple::new(py, dims.iter().map(size).collect::<PyResult<Vec<_>>>()?)
}

/// The shape that a Python object says: a `Shape`, a sequence of sizes and `None`s, or `None`.
pub fn from_py(dims: &Bound<'_, PyAny>) -> PyResult<Shape> {
    if let Ok(shape) = dims.cast::<PyShape>() {
        return Ok(shape.get().0.clone());
    }
    if dims.is_none() {
        return Ok(Shape::unknown());
    }
    let sizes: PyResult<Vec<Option<usize>>> = dims.try_iter()?.map(|size| size?.extract()).collect();
    sizes.map(Shape::partial).map_err(|_| {
        let error = Error::dtype(format!("found {dims}")).wanted("a sequence of sizes, `None` where one is unknown");
        crate::error::raised(dims.py(), error.at("shape"))
    })
}

/// Adds the class to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyUnknownSize>()?;
    module.add_function(wrap_pyfunction!(_size, module)?)?;
    module.add_class::<PyShape>()
}
