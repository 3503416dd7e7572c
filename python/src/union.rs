//! Unions: their class, and how they and their specs are pickled.
//!
//! Holds no logic of the type: arguments become values, `extenso_ext` does the work.

use crate::error::{OrRaise, guarded, raised};
use crate::value::PyOpaque;
use crate::{arg, arrow, index, literal, shape, spec, value};
use extenso_core::{Ext, ExtensionType, TypeSpec, Value};
use extenso_ext::{UnionChild, UnionSpec, UnionTensor};
use extenso_types::{DType, Error, ExtSpec, Spec};
use pyo3::prelude::*;
use pyo3::types::{PyMapping, PyTuple};
use std::sync::Arc;

type Object<'py> = Bound<'py, PyAny>;

/// Adds the class to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyUnion>()?;
    module.add_function(wrap_pyfunction!(_union_spec, module)?)
}

/// Elements of several types: `tags` says for each which child it is of, by its number or by its id, where `ids` are given.
///
/// An element stands at its own place in its child, or with `offsets` at the place that these say. Tags are i8, offsets i32.
///
/// >>> import extenso as ex
/// >>> x = ex.UnionTensor([0, 1, 0], {"number": [7, 8], "text": ["a"]}, offsets=[0, 0, 1])
/// >>> x.to_py(), x.child("text").to_py()
/// ([7, 'a', 8], [None, 'a', None])
#[pyclass(name = "UnionTensor", module = "extenso", extends = PyOpaque, frozen)]
pub struct PyUnion;

impl PyUnion {
    /// The object of a value, if it is a union.
    pub fn of<'py>(py: Python<'py>, ext: &Ext) -> PyResult<Option<Object<'py>>> {
        if ext.downcast::<UnionTensor>().is_none() {
            return Ok(None);
        }
        let made = PyClassInitializer::from(PyOpaque(ext.clone())).add_subclass(PyUnion);
        Ok(Some(Bound::new(py, made)?.into_any()))
    }
}

fn union_of(slf: &Bound<'_, PyUnion>) -> PyResult<UnionTensor> {
    UnionTensor::from_value(&value_of(slf)).or_raise()
}

fn value_of(slf: &Bound<'_, PyUnion>) -> Value {
    Value::Ext(slf.as_super().get().0.clone())
}

/// As many children as there are ids.
const MOST: usize = 1 << 8;

/// The items of an argument, each as one of this type.
///
/// Errors: no items; one of another type; more than a union has children.
fn each<'py, T>(name: &str, items: &Object<'py>, wanted: &str) -> PyResult<Vec<T>>
where
    T: for<'a> FromPyObject<'a, 'py>,
{
    let odd = || {
        let error = Error::dtype(format!("argument '{name}': found a value of type {}", arg::type_name(items)));
        raised(items.py(), error.wanted(wanted).at("UnionTensor"))
    };
    let one = |item: PyResult<Object<'py>>| item.ok()?.extract::<T>().ok();
    let read: Option<Vec<T>> = items.try_iter().map_err(|_| odd())?.take(MOST + 1).map(one).collect();
    read.filter(|read| read.len() <= MOST).ok_or_else(odd)
}

/// The names of children and what each is, of a mapping or of pairs.
fn named<'py>(children: &Object<'py>) -> PyResult<Vec<(String, Object<'py>)>> {
    let pairs = match children.cast::<PyMapping>() {
        Ok(mapping) => mapping.items()?.into_any(),
        Err(_) => children.clone(),
    };
    each("children", &pairs, "the values of each child by its name")
}

/// The id of each child: its number, if no ids are given.
fn ids_of(given: Option<&Object<'_>>, count: usize) -> PyResult<Vec<i8>> {
    let ids = match given {
        Some(ids) => each("ids", ids, "integers of 8 bits")?,
        None => (0..=i8::MAX).take(count).collect(),
    };
    if ids.len() == count {
        return Ok(ids);
    }
    let error = Error::value(format!("{} ids are there for {count} children", ids.len()));
    Err(error.wanted("one for each, of 8 bits").at("UnionTensor")).or_raise()
}

/// The spec of unions, of those of tags, places and children.
#[pyfunction]
fn _union_spec<'py>(
    tags: &Object<'py>,
    children: &Object<'py>,
    offsets: Option<&Object<'py>>,
    ids: &Object<'py>,
) -> PyResult<Object<'py>> {
    let children = named(children)?;
    let ids = ids_of(Some(ids), children.len())?;
    let of = |(id, (name, child)): (i8, (String, Object<'py>))| Ok((id, name.into(), spec::spec_or_value(&child)?));
    let children = ids.into_iter().zip(children).map(of).collect::<PyResult<_>>()?;
    let places = offsets.map(spec::spec_or_value).transpose()?;
    let made = UnionSpec::new(spec::spec_or_value(tags)?, places, children);
    spec::to_py(tags.py(), Spec::from(made.serialize()))
}

/// How the spec of unions is made again; none of another spec.
pub fn reduced_union<'py>(py: Python<'py>, ext: &ExtSpec) -> PyResult<Option<Object<'py>>> {
    if !ext.def.is_a(UnionSpec::def()) {
        return Ok(None);
    }
    let union = UnionSpec::deserialize(ext).or_raise()?;
    let of_child =
        |(_, name, child): &(i8, Arc<str>, Spec)| (&**name, spec::to_py(py, child.clone())?).into_pyobject(py);
    let children = union.children().iter().map(of_child).collect::<PyResult<Vec<Bound<'py, PyTuple>>>>()?;
    let places = union.offsets().map(|places| spec::to_py(py, places.clone())).transpose()?;
    let ids: Vec<i8> = union.children().iter().map(|(id, ..)| *id).collect();
    let make = py.import("extenso._core")?.getattr("_union_spec")?;
    let args = (spec::to_py(py, union.tags().clone())?, children, places, ids);
    Ok(Some((make, args).into_pyobject(py)?.into_any()))
}

#[pymethods]
impl PyUnion {
    #[new]
    #[pyo3(signature = (tags, children, offsets=None, ids=None))]
    fn new(
        tags: &Object<'_>,
        children: &Object<'_>,
        offsets: Option<&Object<'_>>,
        ids: Option<&Object<'_>>,
    ) -> PyResult<PyClassInitializer<PyUnion>> {
        let children = named(children)?;
        let ids = ids_of(ids, children.len())?;
        let child = |(id, (name, values)): (i8, (String, Object<'_>))| {
            Ok(UnionChild { id, name: name.into(), values: value::from_py(&values)? })
        };
        let children = ids.into_iter().zip(children).map(child).collect::<PyResult<Vec<UnionChild>>>()?;
        let whole = |x: &Object<'_>, dtype| {
            let x = value::from_py(x)?;
            guarded(|| extenso_core::ops::cast(x, dtype)?.tensor().cloned()).or_raise()
        };
        let places = offsets.map(|offsets| whole(offsets, DType::I32)).transpose()?;
        let tags = whole(tags, DType::I8)?;
        let Value::Ext(made) = guarded(|| UnionTensor::new(tags, places, children)).or_raise()?.into_value() else {
            return Err(Error::internal("a union is no extension type")).or_raise();
        };
        Ok(PyClassInitializer::from(PyOpaque(made)).add_subclass(PyUnion))
    }

    /// The type id of each element.
    #[getter]
    fn tags<'py>(slf: &Bound<'py, Self>) -> PyResult<Object<'py>> {
        value::to_py(slf.py(), union_of(slf)?.tags().clone().into())
    }

    /// The spec.
    #[getter]
    fn spec<'py>(slf: &Bound<'py, Self>) -> PyResult<Object<'py>> {
        spec::to_py(slf.py(), value_of(slf).spec().or_raise()?)
    }

    /// The sizes of the axes; `None` where one is not known while tracing.
    #[getter]
    fn shape<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        shape::tuple(slf.py(), &union_of(slf)?.tags().shape())
    }

    /// The number of axes.
    #[getter]
    fn ndim(slf: &Bound<'_, Self>) -> PyResult<usize> {
        Ok(Self::shape(slf)?.len())
    }

    /// The type ids of the children, in order: those that `tags` names.
    fn child_ids(slf: &Bound<'_, Self>) -> PyResult<Vec<i8>> {
        Ok(union_of(slf)?.children().iter().map(|child| child.id).collect())
    }

    /// The names of the children, in order.
    fn child_names(slf: &Bound<'_, Self>) -> PyResult<Vec<String>> {
        Ok(union_of(slf)?.children().iter().map(|child| child.name.to_string()).collect())
    }

    /// The elements of the child of this name; the others are missing.
    fn child<'py>(slf: &Bound<'py, Self>, name: &str) -> PyResult<Object<'py>> {
        let union = union_of(slf)?;
        value::to_py(slf.py(), guarded(|| union.child(name)).or_raise()?)
    }

    /// The elements in a list.
    fn to_py<'py>(slf: &Bound<'py, Self>) -> PyResult<Object<'py>> {
        literal::to_py(slf)
    }

    /// The array of Arrow that shares the buffers: one of pyarrow if that is installed.
    fn to_arrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Object<'py>> {
        arrow::array_of(slf.py(), &value_of(slf))
    }

    /// The C interface of Arrow: a schema and an array in capsules.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        slf: &Bound<'py, Self>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<arrow::Capsules<'py>> {
        arrow::capsules_of(slf.py(), &value_of(slf), requested_schema.as_ref())
    }

    /// The C interface of Arrow: a stream of one array in a capsule.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        slf: &Bound<'py, Self>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<arrow::Stream<'py>> {
        arrow::stream_of(slf.py(), &value_of(slf), requested_schema.as_ref())
    }

    fn __getitem__<'py>(slf: &Bound<'py, Self>, key: &Object<'py>) -> PyResult<Object<'py>> {
        index::item(slf.py(), &value_of(slf), key)
    }

    fn __len__(slf: &Bound<'_, Self>) -> PyResult<usize> {
        let shape = union_of(slf)?.tags().shape();
        let outer = shape.dims().and_then(|dims| dims.first().copied());
        let outer = outer.ok_or_else(|| Error::shape("one element of a union has no length"));
        let unknown = || Error::scope("the number of elements is not known while the function is traced");
        outer.and_then(|dim| dim.known().ok_or_else(unknown)).or_raise()
    }

    fn __bool__(slf: &Bound<'_, Self>) -> PyResult<bool> {
        let found = union_of(slf)?.tags().shape();
        Err(Error::dtype(format!("a union of shape {found} is neither true nor false"))
            .hint("Take the elements of one child, the others are missing: `x.child(name)`."))
        .or_raise()
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let shown = literal::shown(&value_of(slf));
        Ok(format!("UnionTensor({})", shown.unwrap_or_else(|| "...".into())))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (py, union) = (slf.py(), union_of(slf)?);
        let of_child = |child: &UnionChild| (&*child.name, value::to_py(py, child.values.clone())?).into_pyobject(py);
        let children = union.children().iter().map(of_child).collect::<PyResult<Vec<Bound<'py, PyTuple>>>>()?;
        let places = union.offsets().map(|offsets| value::to_py(py, offsets.clone().into())).transpose()?;
        let args = (PyUnion::tags(slf)?, children, places, PyUnion::child_ids(slf)?);
        Ok((slf.get_type(), args).into_pyobject(py)?.into_any())
    }
}
