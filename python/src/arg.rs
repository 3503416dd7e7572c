//! Arguments: what a Python object is to an op.
//!
//! Invariant: what a class is, is found once; a tensor and a number of Python are known by their type alone.
//! Numbers, booleans and strings of Python stay weak: they take the dtype of the tensors beside them.

use crate::error::{self, OrRaise, raised};
use crate::ext::{Class, PyExtensionBase};
use crate::import;
use crate::meanings::Meant;
use crate::partition::PyRowPartition;
use crate::pointers::PointerMap;
use crate::record::PyStruct;
use crate::tensor::PyTensor;
use crate::union::PyUnion;
use crate::value::PyOpaque;
use extenso_core::{Arg, Scalar, Tensor, Value, strengthen};
use extenso_types::{DType, Error};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PySequence, PyString, PyTuple, PyType};
use std::sync::{Arc, RwLock};

/// What the objects of a class are to an op.
#[derive(Clone)]
enum Role {
    /// Values of an extension type written by hand.
    Extension(Arc<Class>),
    /// Made a tensor by a registered function.
    Registered(Arc<Py<PyAny>>),
    /// Made a tensor by their `__extenso_tensor__`.
    Protocol,
    /// A subclass of a Python number or string.
    Scalar,
    /// Values of a library that say what is missing in them, by the function of ours that reads them.
    Library(&'static str),
    /// Memory or arrays.
    Array,
    /// Arrays of NumPy that say which of their elements are missing.
    Masked,
    /// Lists and tuples.
    Sequence,
    /// Other sequences, such as ranges, which are lists of their items.
    Items,
    /// Numbers and times of Python's `decimal`, `datetime` and `uuid`.
    Meaning(Meant),
    /// Nothing that an op takes.
    Other,
}

/// An argument.
///
/// Errors: nothing that an op takes.
pub fn from_py(object: &Bound<'_, PyAny>) -> PyResult<Arg> {
    operand(object)?.ok_or_else(|| no_argument(object, false)).or_raise()
}

/// An argument of a function that is no op, which an error names.
///
/// Errors: nothing that an op takes.
pub fn given(function: &str, argument: &str, object: &Bound<'_, PyAny>) -> PyResult<Arg> {
    from_py(object).map_err(|e| error::at(object.py(), e, &format!("{function}: argument '{argument}'")))
}

/// The same, if one is given.
///
/// Errors: as [`given`].
pub fn optional(function: &str, argument: &str, object: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Arg>> {
    object.map(|object| given(function, argument, object)).transpose()
}

/// Arguments of a function that takes as many as there are, which an error names by their positions.
///
/// Errors: nothing that an op takes.
pub fn each<'py>(function: &str, objects: &Bound<'py, PyAny>) -> PyResult<Vec<Arg>> {
    let one = |(i, object): (usize, PyResult<Bound<'py, PyAny>>)| {
        let object = object?;
        from_py(&object).map_err(|e| error::at(object.py(), e, &format!("{function}: [{i}]")))
    };
    objects.try_iter()?.enumerate().map(one).collect()
}

/// The error of an object that no op takes, or that is no list where one is wanted.
pub fn no_argument(object: &Bound<'_, PyAny>, list: bool) -> Error {
    let error = Error::dtype(format!("found a value of type {}", type_name(object)));
    if list {
        return error.wanted("a list or tuple of tensors");
    }
    if object.is_none() {
        return error
            .wanted("a tensor, a number, an array, or a list of these")
            .hint("`constant([1, None])` makes values of which some are missing.");
    }
    error
        .wanted("a tensor, a number, an array, a list of these, or a value of an extension type")
        .hint("Register a conversion with `register_tensor_conversion_function`.")
}

/// The name of an object's class, for messages.
pub fn type_name(object: &Bound<'_, PyAny>) -> String {
    object.get_type().qualname().map_or_else(|_| "object".into(), |name| name.to_string())
}

/// An argument, or none if no op takes the object.
#[inline]
pub fn operand(object: &Bound<'_, PyAny>) -> PyResult<Option<Arg>> {
    if let Ok(tensor) = object.cast_exact::<PyTensor>() {
        return Ok(Some(Arg::from(&tensor.get().0)));
    }
    other_operand(object)
}

fn other_operand(object: &Bound<'_, PyAny>) -> PyResult<Option<Arg>> {
    if let Ok(base) = object.cast::<PyExtensionBase>() {
        return Ok(Some(Arg::Value(PyExtensionBase::value(base))));
    }
    if object.is_exact_instance_of::<PyFloat>()
        || object.is_exact_instance_of::<PyInt>()
        || object.is_exact_instance_of::<PyBool>()
        || object.is_exact_instance_of::<PyString>()
    {
        return scalar(object).map(|scalar| Some(Arg::Scalar(scalar)));
    }
    if let Ok(partition) = object.cast_exact::<PyRowPartition>() {
        return Ok(Some(Arg::from(&partition.get().0)));
    }
    if let Ok(records) = object.cast_exact::<PyStruct>() {
        return Ok(Some(Arg::Value(Value::Ext(records.get().0.clone()))));
    }
    if let Ok(opaque) = object.cast::<PyOpaque>() {
        return Ok(Some(Arg::Value(Value::Ext(opaque.get().0.clone()))));
    }
    match role(&object.get_type())? {
        Role::Extension(class) => Ok(Some(Arg::Value(class.value(object)))),
        Role::Scalar => scalar(object).map(|scalar| Some(Arg::Scalar(scalar))),
        Role::Registered(_) | Role::Protocol => Ok(Some(Arg::from(tensor(object, None)?))),
        Role::Masked if lacks(object)? => crate::literal::value(object).map(|value| Some(Arg::Value(value))),
        Role::Library(reader) => of_library(object, reader).map(|value| Some(Arg::Value(value))),
        Role::Array | Role::Masked => import::array_value(object).map(|value| Some(Arg::Value(value))),
        Role::Sequence | Role::Items => import::list_value(object).map(|value| Some(Arg::Value(value))),
        Role::Meaning(kind) => crate::meanings::of_object(object, kind).map(|value| Some(Arg::Value(value))),
        Role::Other => Ok(None),
    }
}

/// The items of a sequence that is neither a list nor a tuple, such as a range; none if the object is no such thing.
pub fn items_of<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    match role(&object.get_type())? {
        Role::Items => object.cast::<PySequence>()?.to_list().map(|items| Some(items.into_any())),
        _ => Ok(None),
    }
}

/// Whether a masked array of NumPy lacks an element.
fn lacks(array: &Bound<'_, PyAny>) -> PyResult<bool> {
    array.getattr("mask")?.call_method0("any")?.is_truthy()
}

/// The weak scalar of a Python number or string.
fn scalar(object: &Bound<'_, PyAny>) -> PyResult<Scalar> {
    if let Ok(v) = object.cast::<PyBool>() {
        return Ok(Scalar::Bool(v.is_true()));
    }
    if object.is_instance_of::<PyInt>() {
        return whole(object, Scalar::Int, Scalar::Unsigned);
    }
    if object.is_instance_of::<PyFloat>() {
        return Ok(Scalar::Float(object.extract()?));
    }
    Ok(Scalar::Str(object.extract()?))
}

/// A Python integer as 64 bits.
///
/// Errors: it does not fit.
pub fn int(object: &Bound<'_, PyAny>) -> PyResult<i64> {
    object.extract().map_err(|_| {
        let error = Error::value(format!("the integer {object} does not fit 64 bits"));
        raised(object.py(), error.wanted("an integer from -2**63 to 2**63 - 1"))
    })
}

/// What an integer is that neither i64 nor u64 holds.
pub fn too_large(object: &Bound<'_, PyAny>) -> Error {
    Error::value(format!("the integer {object} does not fit 64 bits"))
        .wanted("an integer from -2**63 to 2**64 - 1")
        .hint("A float holds more, not exactly.")
}

/// A Python integer, which may be above the largest i64.
///
/// Errors: it fits neither i64 nor u64.
pub fn whole<T>(object: &Bound<'_, PyAny>, of: fn(i64) -> T, large: fn(u64) -> T) -> PyResult<T> {
    if let Ok(small) = object.extract() {
        return Ok(of(small));
    }
    object.extract().map(large).map_err(|_| raised(object.py(), too_large(object)))
}

/// An argument of an op that takes any number of values: a list or tuple of arguments; none if it is neither.
///
/// Errors: an item that no op takes.
pub fn list(object: &Bound<'_, PyAny>) -> PyResult<Option<Arg>> {
    if !object.is_instance_of::<PyList>() && !object.is_instance_of::<PyTuple>() {
        return Ok(None);
    }
    let items: PyResult<Vec<Arg>> = object.try_iter()?.map(|item| from_py(&item?)).collect();
    Ok(Some(Arg::List(items?)))
}

/// The tensor of an object; a number without `dtype` gets its own default.
///
/// Errors: no tensor can be made of it, or not of that dtype.
pub fn tensor(object: &Bound<'_, PyAny>, dtype: Option<DType>) -> PyResult<Tensor> {
    let py = object.py();
    if let Ok(tensor) = object.cast_exact::<PyTensor>() {
        return import::to_dtype(tensor.get().0.clone(), dtype);
    }
    if let Ok(base) = object.cast::<PyExtensionBase>() {
        return import::to_dtype(as_tensor(object, PyExtensionBase::value(base))?, dtype);
    }
    if object.is_exact_instance_of::<PyFloat>()
        || object.is_exact_instance_of::<PyInt>()
        || object.is_exact_instance_of::<PyBool>()
        || object.is_exact_instance_of::<PyString>()
    {
        return number(object, dtype);
    }
    let made = match role(&object.get_type())? {
        Role::Registered(convert) => {
            let converted = convert.bind(py).call1((object,))?;
            made_tensor(&converted, "the registered conversion")?
        }
        Role::Protocol => {
            let converted = object.call_method0("__extenso_tensor__")?;
            made_tensor(&converted, "`__extenso_tensor__`")?
        }
        Role::Scalar => return number(object, dtype),
        Role::Masked if lacks(object)? => {
            let error = Error::value("some elements of the array are missing").wanted("an array that is all there");
            return Err(error.hint("`constant` makes a masked tensor of it.")).or_raise();
        }
        Role::Library(reader) => match of_library(object, reader)? {
            Value::Tensor(tensor) => tensor,
            other => as_tensor(object, other)?,
        },
        Role::Array | Role::Masked => return import::array(object, dtype),
        Role::Sequence | Role::Items => return import::nested(object, dtype),
        Role::Extension(class) => as_tensor(object, class.value(object))?,
        Role::Meaning(_) => {
            let error = Error::dtype(format!("a {} is no tensor", type_name(object)));
            let error = error.wanted("a tensor, a number, an array, or a list of these");
            return Err(error.hint("`constant` makes times and decimals of it.")).or_raise();
        }
        Role::Other => return Err(no_argument(object, false)).or_raise(),
    };
    import::to_dtype(made, dtype)
}

/// The tensor that a value of an extension type says it is.
fn as_tensor(object: &Bound<'_, PyAny>, value: Value) -> PyResult<Tensor> {
    match value.ext().or_raise()?.to_tensor() {
        Some(tensor) => tensor.or_raise(),
        None => {
            let error = Error::dtype(format!("a {} is no single tensor", type_name(object)))
                .wanted("a class with `__extenso_tensor__`")
                .hint("Take one of its components.");
            Err(raised(object.py(), error))
        }
    }
}

fn number(object: &Bound<'_, PyAny>, dtype: Option<DType>) -> PyResult<Tensor> {
    strengthen(&scalar(object)?, dtype).or_raise()
}

fn made_tensor(object: &Bound<'_, PyAny>, by: &str) -> PyResult<Tensor> {
    match object.cast::<PyTensor>() {
        Ok(tensor) => Ok(tensor.get().0.clone()),
        Err(_) => {
            let error = Error::dtype(format!("{by} returned a {}", type_name(object))).wanted("a tensor");
            Err(raised(object.py(), error))
        }
    }
}

/// Whether an object is a value as it stands: a tensor, a row partition, a value of an extension type.
pub fn is_value(object: &Bound<'_, PyAny>) -> bool {
    object.is_exact_instance_of::<PyTensor>()
        || object.is_exact_instance_of::<PyRowPartition>()
        || object.is_instance_of::<PyExtensionBase>()
        || object.is_exact_instance_of::<PyStruct>()
        || object.is_instance_of::<PyOpaque>()
        || matches!(role(&object.get_type()), Ok(Role::Extension(_)))
}

/// The value that an object of `decimal` or `datetime` is; none of another object.
///
/// Errors: as `of_object` has them.
pub fn meaning(object: &Bound<'_, PyAny>) -> PyResult<Option<Value>> {
    match role(&object.get_type())? {
        Role::Meaning(kind) => crate::meanings::of_object(object, kind).map(Some),
        Role::Library(reader) => of_library(object, reader).map(Some),
        _ => Ok(None),
    }
}

/// Whether an object is one of `decimal`, `datetime` or `uuid`.
pub fn is_meant(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(matches!(role(&object.get_type())?, Role::Meaning(_)))
}

/// Whether a class has a spec written by hand.
pub fn is_written_extension(class: &Bound<'_, PyType>) -> PyResult<bool> {
    let py = class.py();
    let ours = [
        py.get_type::<PyTensor>(),
        py.get_type::<PyRowPartition>(),
        py.get_type::<PyStruct>(),
        py.get_type::<PyOpaque>(),
        py.get_type::<PyUnion>(),
    ];
    if ours.iter().any(|known| known.is(class)) || class.is_subclass_of::<PyExtensionBase>()? {
        return Ok(false);
    }
    class.hasattr("__extenso_type_spec__")
}

static ROLES: RwLock<PointerMap<(Py<PyType>, Role)>> = RwLock::new(PointerMap::new());
/// A class and the function that makes tensors of its objects.
type Conversion = (Py<PyType>, Arc<Py<PyAny>>);

static CONVERSIONS: RwLock<Vec<Conversion>> = RwLock::new(Vec::new());

fn role(class: &Bound<'_, PyType>) -> PyResult<Role> {
    let key = class.as_ptr().addr();
    if let Some((_, role)) = ROLES.read().unwrap_or_else(std::sync::PoisonError::into_inner).get(key) {
        return Ok(role.clone());
    }
    let role = find_role(class)?;
    let mut roles = ROLES.write().unwrap_or_else(std::sync::PoisonError::into_inner);
    // The class is kept alive, so that no other class comes to stand at its address.
    roles.insert(key, (class.clone().unbind(), role.clone()));
    Ok(role)
}

fn find_role(class: &Bound<'_, PyType>) -> PyResult<Role> {
    let py = class.py();
    if let Some(class) = Class::of(class)? {
        return Ok(Role::Extension(class));
    }
    // A copy, because asking for a subclass can run Python code, which may register a conversion.
    let conversions: Vec<_> = {
        let known = CONVERSIONS.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        known.iter().rev().map(|(class, convert)| (class.clone_ref(py), convert.clone())).collect()
    };
    for (known, convert) in conversions {
        if class.is_subclass(known.bind(py))? {
            return Ok(Role::Registered(convert));
        }
    }
    let scalars = [py.get_type::<PyString>(), py.get_type::<PyInt>()];
    Ok(if class.hasattr("__extenso_tensor__")? {
        Role::Protocol
    } else if scalars.iter().any(|scalar| class.is_subclass(scalar).unwrap_or(false)) {
        Role::Scalar
    } else if class.is_subclass_of::<PyBytes>()?
        || class.is_subclass_of::<PyList>()?
        || class.is_subclass_of::<PyTuple>()?
    {
        Role::Sequence
    } else if let Some(reader) = reader_of(class)? {
        Role::Library(reader)
    } else if class.hasattr("mask")? && class.hasattr("filled")? && class.hasattr("__array__")? {
        Role::Masked
    } else if has_buffer(class) || class.hasattr("__array__")? || class.hasattr("__dlpack__")? {
        Role::Array
    } else if class.is_subclass_of::<PyFloat>()? {
        Role::Scalar
    } else if let Some(kind) = Meant::of(class)? {
        Role::Meaning(kind)
    } else if class.is_subclass(&py.import("collections.abc")?.getattr("Sequence")?)?
        && !class.is_subclass(&py.import("collections")?.getattr("UserString")?)?
    {
        Role::Items
    } else {
        Role::Other
    })
}

/// The function that reads the values of a class as what they are, where an array would lose what is missing, lists or fields.
pub(crate) fn reader_of(class: &Bound<'_, PyType>) -> PyResult<Option<&'static str>> {
    if has_buffer(class) {
        return Ok(None);
    }
    let module: String = class.getattr("__module__").and_then(|module| module.extract()).unwrap_or_default();
    let library = module.split('.').next().unwrap_or_default();
    Ok(match library {
        "pandas" if class.hasattr("iloc")? => Some("from_pandas"),
        "awkward" if class.hasattr("__array__")? => Some("from_awkward"),
        _ if class.hasattr("__arrow_c_array__")? || class.hasattr("__arrow_c_stream__")? => Some("from_arrow"),
        _ => None,
    })
}

/// What a function of ours makes of the value of a library. A series is its values, which NumPy may hold.
pub(crate) fn of_library(object: &Bound<'_, PyAny>, reader: &'static str) -> PyResult<Value> {
    let read = |object: &Bound<'_, PyAny>| {
        let read = object.py().import("extenso")?.call_method1(reader, (object,))?;
        crate::value::from_py(&read)
    };
    if reader != "from_pandas" || object.hasattr("columns")? {
        return read(object);
    }
    let kind = object.getattr("dtype")?.getattr_opt("kind")?.and_then(|kind| kind.extract::<String>().ok());
    let of_numpy = !object.getattr("dtype")?.hasattr("na_value")?;
    match kind.filter(|_| of_numpy) {
        Some(kind) if kind != "O" => import::array_value(object),
        _ => {
            let alone = PyDict::new(object.py());
            alone.set_item("drop", true)?;
            read(&object.call_method("reset_index", (), Some(&alone))?)
        }
    }
}

fn has_buffer(class: &Bound<'_, PyType>) -> bool {
    // SAFETY: the pointer is that of a type object; `PyType_GetSlot` reads a slot of it and gives null where there is none.
    unsafe { !ffi::PyType_GetSlot(class.as_type_ptr(), ffi::Py_bf_getbuffer).is_null() }
}

/// Registers a function that makes tensors of the objects of a class and of its subclasses.
///
/// `convert(object)` must return a tensor. A later registration comes first.
#[pyfunction]
#[pyo3(signature = (cls, convert))]
pub fn register_tensor_conversion_function(cls: Bound<'_, PyType>, convert: Py<PyAny>) {
    let mut conversions = CONVERSIONS.write().unwrap_or_else(std::sync::PoisonError::into_inner);
    conversions.push((cls.unbind(), Arc::new(convert)));
    ROLES.write().unwrap_or_else(std::sync::PoisonError::into_inner).clear();
}
