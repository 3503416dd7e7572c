//! `StructTensor` of Python: records whose fields are values.

mod spec;

pub use spec::{PyStructSpec, struct_spec_object};

use crate::error::{self, OrRaise, guarded, noted, raised};
use crate::paths::Paths;
use crate::typed::Typed;
use crate::{arrow, index, literal, shape, value};
use extenso_core::attrs::Axes;
use extenso_core::{Ext, ExtensionType, Value};
use extenso_ext::{FieldPath, RaggedTensor, StructTensor};
use extenso_types::{Error, Path, Segment, Spec};
use pyo3::basic::CompareOp;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyString, PyTuple};

/// Records: `StructTensor([2], {"id": ids, "items": items})`, whose fields have the shape as their outer axes.
///
/// `[]` is the shape of one record. A size may be `None`, and is then that of the fields.
#[pyclass(name = "StructTensor", module = "extenso", frozen)]
pub struct PyStruct(pub Ext);

impl PyStruct {
    /// The records behind a value, if it is a struct.
    pub fn of(ext: &Ext) -> Option<PyStruct> {
        ext.downcast::<StructTensor>().map(|_| PyStruct(ext.clone()))
    }

    fn value(&self) -> Value {
        Value::Ext(self.0.clone())
    }

    fn records(&self) -> PyResult<StructTensor> {
        StructTensor::from_value(&self.value()).or_raise()
    }

    fn made(records: StructTensor) -> PyStruct {
        PyStruct(Ext::new(records))
    }
}

#[pymethods]
impl PyStruct {
    #[new]
    fn new(shape: &Bound<'_, PyAny>, fields: &Bound<'_, PyMapping>) -> PyResult<PyStruct> {
        let shape = shape::from_py(shape)?;
        let mut named: Vec<(String, Value)> = Vec::new();
        for entry in fields.items()? {
            let (name, field): (Bound<'_, PyAny>, Bound<'_, PyAny>) = entry.extract()?;
            let name = field_name(&name)?;
            let field = value::from_py(&field).map_err(|e| at_field(&field, &name, e))?;
            named.push((name, field));
        }
        guarded(|| StructTensor::from_fields(shape, named)).or_raise().map(PyStruct::made)
    }

    /// Rows of records: row i is `values[row_splits[i]:row_splits[i + 1]]`. The rows are a `RaggedTensor` of the records.
    #[staticmethod]
    fn from_row_splits<'py>(values: &Bound<'py, PyAny>, row_splits: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (records, splits) = (value::from_py(values)?, crate::ragged::vector(row_splits)?);
        let ragged = guarded(|| RaggedTensor::from_row_splits(records, &splits)).or_raise()?;
        value::to_py(values.py(), ragged.into_value())
    }

    /// The sizes of the axes of the records; `None` where one is not known while tracing.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        shape::tuple(py, self.records()?.shape())
    }

    /// The number of axes; 0 for one record.
    #[getter]
    fn ndim(&self) -> PyResult<usize> {
        self.rank()
    }

    /// The number of axes; 0 for one record.
    #[getter]
    fn rank(&self) -> PyResult<usize> {
        Ok(self.records()?.rank())
    }

    /// The spec.
    #[getter]
    fn spec<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        crate::spec::to_py(py, Spec::from(self.0.spec().or_raise()?))
    }

    /// The names of the fields, in order.
    fn field_names(&self) -> PyResult<Vec<String>> {
        Ok(self.records()?.field_names().map(str::to_string).collect())
    }

    /// The field of a name, or at a path: a tuple of names, or a text such as `items[*].price`.
    fn field_value<'py>(&self, path: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let records = self.records()?;
        let found = match path.extract::<String>() {
            Ok(text) => match records.field(&text) {
                Ok(field) => Ok(field.clone()),
                Err(missing) => match text.parse::<Path>() {
                    Ok(path) if !is_name(&path, &text) => guarded(|| records.field_value(&path)),
                    _ => Err(missing),
                },
            },
            Err(_) => {
                let path = field_path(path)?;
                guarded(|| records.select(path))
            }
        };
        value::to_py(path.py(), found.or_raise()?)
    }

    /// The records with these fields replaced or added; the other fields keep their buffers.
    ///
    /// A key is a name, or a tuple of names for a field of records inside, which has the rows of those records; so is a text in which `[*]`
    /// stands for a list.
    fn with_updates(&self, updates: &Bound<'_, PyMapping>) -> PyResult<PyStruct> {
        let mut fields: Vec<(FieldPath, Value)> = Vec::new();
        for entry in updates.items()? {
            let (path, field): (Bound<'_, PyAny>, Bound<'_, PyAny>) = entry.extract()?;
            let path = target_in(&self.value(), &path)?;
            let field = value::from_py(&field).map_err(|e| at_field(&field, &path.to_string(), e))?;
            fields.push((path, field));
        }
        let records = self.records()?;
        guarded(|| records.with_updates(fields)).or_raise().map(PyStruct::made)
    }

    /// The records without some fields: a list of names and of paths, which are tuples of names, or one of them.
    fn without(&self, paths: &Bound<'_, PyAny>) -> PyResult<PyStruct> {
        let (records, paths) = (self.records()?, path_or_paths(&Value::Ext(self.0.clone()), paths)?);
        guarded(|| records.without(paths)).or_raise().map(PyStruct::made)
    }

    /// The records with some fields only, in the order in which they are named: a list of names and of paths, or one of them.
    fn with_only(&self, paths: &Bound<'_, PyAny>) -> PyResult<PyStruct> {
        let (records, paths) = (self.records()?, path_or_paths(&Value::Ext(self.0.clone()), paths)?);
        guarded(|| records.with_only(paths)).or_raise().map(PyStruct::made)
    }

    /// The records with the field at `path` also at `to`, further up: see `extenso.promote`.
    fn promote<'py>(
        slf: &Bound<'py, Self>,
        path: &Bound<'py, PyAny>,
        to: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        promote(slf, path, to)
    }

    /// The records with the field at `path` also at `to`, further down: see `extenso.broadcast`.
    fn broadcast<'py>(
        slf: &Bound<'py, Self>,
        path: &Bound<'py, PyAny>,
        to: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        broadcast(slf, path, to)
    }

    /// The records with some fields only, which keep their places: see `extenso.paths.project`.
    fn project<'py>(slf: &Bound<'py, Self>, paths: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Paths::project(slf, paths)
    }

    /// What stands at a path in all records, in one vector: see `extenso.paths.reroot`.
    #[pyo3(signature = (path, index=None))]
    fn reroot<'py>(
        slf: &Bound<'py, Self>,
        path: &Bound<'py, PyAny>,
        index: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Paths::reroot(slf, path, index)
    }

    /// Whether the field at a path has a value in each of its records: see `extenso.paths.has`.
    fn has<'py>(slf: &Bound<'py, Self>, path: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Paths::has(slf, path)
    }

    /// How many values the field at a path has in each of its records: see `extenso.paths.size`. Without a path, how many
    /// records there are.
    #[pyo3(signature = (path=None))]
    fn size<'py>(slf: &Bound<'py, Self>, path: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        let Some(path) = path else {
            let records = slf.get().value();
            let count = guarded(|| extenso_ext::missing::count(&records, Axes::All, false)).or_raise()?;
            return value::to_py(slf.py(), count);
        };
        Paths::size(slf, path)
    }

    /// The position of each value of the field at a path in its record: see `extenso.paths.local_index`.
    fn local_index<'py>(slf: &Bound<'py, Self>, path: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Paths::local_index(slf, path)
    }

    /// The records with some items of the list at a path: see `extenso.paths.filter`.
    fn filter<'py>(
        slf: &Bound<'py, Self>,
        path: &Bound<'py, PyAny>,
        mask: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Paths::filter(slf, path, mask)
    }

    /// The records with the list at a path sliced: see `extenso.paths.slice`.
    #[pyo3(signature = (path, begin=None, end=None))]
    fn slice<'py>(
        slf: &Bound<'py, Self>,
        path: &Bound<'py, PyAny>,
        begin: Option<Typed<i64>>,
        end: Option<Typed<i64>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Paths::slice(slf, path, begin, end)
    }

    /// The records with a function of the values at some paths as a field: see `extenso.paths.apply`.
    fn apply<'py>(
        slf: &Bound<'py, Self>,
        paths: &Bound<'py, PyAny>,
        function: &Bound<'py, PyAny>,
        to: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Paths::apply(slf, paths, function, to)
    }

    /// The array of Arrow that shares the buffers: one of pyarrow if that is installed.
    fn to_arrow<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        arrow::array_of(py, &self.value())
    }

    /// The C interface of Arrow: a schema and an array in capsules.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<arrow::Capsules<'py>> {
        arrow::capsules_of(py, &self.value(), requested_schema.as_ref())
    }

    /// The C interface of Arrow: a stream of one array in a capsule.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<arrow::Stream<'py>> {
        arrow::stream_of(py, &self.value(), requested_schema.as_ref())
    }

    /// The records as dicts, in nested lists.
    fn to_py<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        literal::to_py(slf)
    }

    fn __getitem__<'py>(slf: &Bound<'py, Self>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        index::item(slf.py(), &slf.get().value(), key)
    }

    fn __len__(&self) -> PyResult<usize> {
        let records = self.records()?;
        let outer = records.shape().dims().and_then(|dims| dims.first().copied());
        let outer = outer.ok_or_else(|| {
            Error::shape("one record has no length").hint("`field_names()` has the names of its fields.")
        });
        let unknown = || Error::scope("the number of records is not known while the function is traced");
        outer.and_then(|dim| dim.known().ok_or_else(unknown)).or_raise()
    }

    /// Whether records have a field of this name.
    fn __contains__(&self, name: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(name) = name.extract::<String>() else {
            let error = Error::dtype(format!("found a value of type {}", crate::arg::type_name(name)))
                .wanted("the name of a field")
                .hint("Of the values of a field: `item in x['field']`.");
            return Err(error.at("in")).or_raise();
        };
        Ok(self.records()?.fields().iter().any(|(known, _)| **known == *name))
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let count = slf.get().__len__()?;
        let rows: PyResult<Vec<_>> = (0..count).map(|i| slf.get_item(i)).collect();
        Ok(rows?.into_pyobject(slf.py())?.try_iter()?.into_any())
    }

    fn __richcmp__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        op: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        let equal = match op {
            CompareOp::Eq | CompareOp::Ne => crate::ext::equal(slf, other)?,
            CompareOp::Lt | CompareOp::Le | CompareOp::Gt | CompareOp::Ge => None,
        };
        Ok(match equal {
            Some(equal) => (equal == matches!(op, CompareOp::Eq)).into_pyobject(slf.py())?.to_owned().into_any(),
            None => slf.py().NotImplemented().into_bound(slf.py()),
        })
    }

    fn __extenso_type_spec__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.spec(py)
    }

    /// A structured NumPy array, masked if a field may be missing; text and rows are objects.
    fn to_numpy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("extenso._interop.numpy")?.call_method1("records_to_numpy", (slf,))
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let shape = shape::literal(slf.get().records()?.shape());
        // A symbol has no data, and is shown by its spec.
        Ok(match crate::literal::shown(&slf.get().value()) {
            Some(text) => format!("<StructTensor shape={shape} {text}>"),
            None => format!("<{}>", Spec::from(slf.get().0.spec().or_raise()?)),
        })
    }

    // Values are immutable, so that a copy is the value.
    fn __copy__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    fn __deepcopy__<'py>(slf: &Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf.clone()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, records) = (slf.py(), slf.get().records()?);
        let fields = PyDict::new(py);
        for (name, field) in records.fields() {
            fields.set_item(&**name, value::to_py(py, field.clone())?)?;
        }
        let args = (shape::tuple(py, records.shape())?, fields);
        Ok((slf.get_type().into_any(), args.into_pyobject(py)?))
    }
}

fn at_field(object: &Bound<'_, PyAny>, name: &str, exception: PyErr) -> PyErr {
    noted(object.py(), exception, format!("This is the field '{name}' of a StructTensor."))
}

/// The name of a field.
///
/// Errors: it is no string.
pub fn field_name(name: &Bound<'_, PyAny>) -> PyResult<String> {
    name.extract().map_err(|_| {
        let error = Error::dtype(format!("a field has the name {name}, a {}", crate::arg::type_name(name)));
        raised(name.py(), error.wanted("a string").at("StructTensor"))
    })
}

/// A name, or a tuple or list of names.
pub fn field_path(path: &Bound<'_, PyAny>) -> PyResult<FieldPath> {
    if path.is_instance_of::<PyString>() {
        return Ok(FieldPath::from(field_name(path)?));
    }
    let names = path.try_iter().and_then(|names| names.map(|name| field_name(&name?)).collect::<PyResult<Vec<_>>>());
    names.map(FieldPath::from_iter).map_err(|_| {
        let error = Error::dtype(format!("found {path} as a path")).wanted("the name of a field, or a tuple of names");
        raised(path.py(), error)
    })
}

/// A path in a value: as [`field_path`], or a text such as `docs[*].n` that leads to a field of its records.
pub fn path_in(whole: &Value, path: &Bound<'_, PyAny>) -> PyResult<FieldPath> {
    match path.cast::<PyString>() {
        Ok(_) => Ok(FieldPath::of_text(whole, &field_name(path)?)),
        Err(_) => field_path(path),
    }
}

/// Where a field is to be: as [`field_path`], or a text with `[*]` in it, which goes through lists.
pub fn target_in(whole: &Value, path: &Bound<'_, PyAny>) -> PyResult<FieldPath> {
    match path.extract::<String>() {
        Ok(text) if text.contains("[*]") => Ok(FieldPath::of_text(whole, &text)),
        Ok(_) | Err(_) => field_path(path),
    }
}

/// Some paths in a value; one name or text alone is one path.
pub fn paths_in(whole: &Value, paths: &Bound<'_, PyAny>) -> PyResult<Vec<FieldPath>> {
    if paths.is_instance_of::<PyString>() {
        return Ok(vec![path_in(whole, paths)?]);
    }
    paths.try_iter()?.map(|path| path_in(whole, &path?)).collect()
}

/// The same, where a tuple of names is one path too.
fn path_or_paths(whole: &Value, paths: &Bound<'_, PyAny>) -> PyResult<Vec<FieldPath>> {
    let of_names = |names: &Bound<'_, PyTuple>| names.iter().all(|name| name.is_instance_of::<PyString>());
    match paths.cast::<PyTuple>() {
        Ok(names) if !names.is_empty() && of_names(names) => Ok(vec![field_path(paths)?]),
        _ => paths_in(whole, paths),
    }
}

/// The records with the field at `path` also at `to`, one or more levels further up; the lists between are joined.
///
/// >>> import extenso as ex
/// >>> users = ex.constant([{"docs": [{"tokens": [7, 17]}, {"tokens": [3]}]}, {"docs": [{"tokens": [5]}]}])
/// >>> ex.promote(users, ("docs", "tokens"), "tokens")["tokens"].to_py()
/// [[7, 17, 3], [5]]
#[pyfunction]
pub fn promote<'py>(
    x: &Bound<'py, PyAny>,
    path: &Bound<'py, PyAny>,
    to: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let whole = value::given("promote", "x", x)?;
    let at = |e| error::at(x.py(), e, "promote");
    let (path, to) = (path_in(&whole, path).map_err(at)?, target_in(&whole, to).map_err(at)?);
    value::to_py(x.py(), guarded(|| extenso_ext::promote(&whole, path, to)).or_raise()?)
}

/// The records with the field at `path` also at `to`, one or more levels further down, repeated for each record there.
///
/// >>> import extenso as ex
/// >>> users = ex.constant([{"id": 7, "docs": [{"n": 1}, {"n": 2}]}, {"id": 8, "docs": []}])
/// >>> ex.broadcast(users, "id", ("docs", "id"))["docs", "id"].to_py()
/// [[7, 7], []]
#[pyfunction]
pub fn broadcast<'py>(
    x: &Bound<'py, PyAny>,
    path: &Bound<'py, PyAny>,
    to: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let whole = value::given("broadcast", "x", x)?;
    let at = |e| error::at(x.py(), e, "broadcast");
    let (path, to) = (path_in(&whole, path).map_err(at)?, target_in(&whole, to).map_err(at)?);
    value::to_py(x.py(), guarded(|| extenso_ext::broadcast(&whole, path, to)).or_raise()?)
}

/// Adds the class, its spec and the functions to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyStruct>()?;
    module.add_class::<PyStructSpec>()?;
    module.add_function(wrap_pyfunction!(index::index, module)?)?;
    module.add_function(wrap_pyfunction!(promote, module)?)?;
    module.add_function(wrap_pyfunction!(broadcast, module)?)?;
    spec::add_to(module)
}

/// Whether a path is this name alone, as it is written.
fn is_name(path: &Path, name: &str) -> bool {
    matches!(path.segments(), [Segment::Field(field)] if **field == *name)
}
