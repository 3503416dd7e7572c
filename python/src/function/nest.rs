//! Nests: Python's lists, tuples, dicts, named tuples, dataclasses and attrs classes, to core and back.

use crate::error::{OrRaise, guarded, noted, raised};
use crate::ext::{from_static, plain_components};
use crate::pointers::PointerMap;
use crate::tensor::PyTensor;
use crate::variable::PyVariable;
use crate::{arg, literal, nests, spec, value};
use extenso_core::attrs::Axes;
use extenso_core::{Tensor, Value, Variable, cast, ops};
use extenso_types::{Bindings, DType, Error, Nest, Spec, StaticValue, TensorSpec};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple, PyType};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// Deeper nests are refused: every walk over one is a recursion.
const MAX_DEPTH: usize = 100;

/// The nest of an object: tensors, partitions and extension values are leaves, numbers and strings static.
///
/// Errors: an object that is neither; nesting that is too deep.
pub fn py_to_nest(object: &Bound<'_, PyAny>) -> PyResult<Nest<Value>> {
    convert(object, 0, &|object| value::from_py(object).map(Nest::Leaf))
}

/// Different variables among the arguments of a call, in the order in which they are met.
pub type Variables = RefCell<Vec<Variable>>;

/// The nest of an argument. A variable is static: its spec, and which of the different variables of the call it is.
pub fn py_to_argument(object: &Bound<'_, PyAny>, variables: &Variables) -> PyResult<Nest<Value>> {
    convert(object, 0, &|object| match object.cast_exact::<PyVariable>() {
        Ok(variable) => Ok(Nest::Static(alias(&variable.get().0, variables))),
        Err(_) => value::from_py(object).map(Nest::Leaf),
    })
}

/// The nest of an argument whose leaves may be specs instead of values.
pub fn py_to_specs(object: &Bound<'_, PyAny>, variables: &Variables) -> PyResult<Nest<Spec>> {
    convert(object, 0, &|object| match object.cast_exact::<PyVariable>() {
        Ok(variable) => Ok(Nest::Static(alias(&variable.get().0, variables))),
        // One spec object for two arguments says no more than two equal ones: their sizes are each their own.
        Err(_) => spec::spec_or_value(object).map(|spec| Nest::Leaf(spec.with_sizes_of_its_own())),
    })
}

/// Whether a nest has a spec as a leaf.
pub fn has_spec(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let found = std::cell::Cell::new(false);
    convert::<()>(object, 0, &|object| {
        found.set(found.get() || object.is_instance_of::<spec::PyTypeSpec>());
        Ok(Nest::Leaf(()))
    })?;
    Ok(found.get())
}

const VARIABLE: &str = "variable";

fn alias(variable: &Variable, variables: &Variables) -> StaticValue {
    let mut variables = variables.borrow_mut();
    let at = variables.iter().position(|known| known.same(variable)).unwrap_or_else(|| {
        variables.push(variable.clone());
        variables.len() - 1
    });
    let spec = StaticValue::Spec(Box::new(Spec::Tensor(variable.spec().clone())));
    StaticValue::map([
        (VARIABLE.to_string(), StaticValue::Int(i64::try_from(at).unwrap_or(i64::MAX))),
        ("spec".to_string(), spec),
    ])
}

/// The number and the spec of the variable that a static argument is. Nothing else in a nest is a map and static.
fn aliased(value: &StaticValue) -> Option<(usize, &TensorSpec)> {
    match (value.get(VARIABLE), value.get("spec")) {
        (Some(StaticValue::Int(at)), Some(StaticValue::Spec(spec))) => match &**spec {
            Spec::Tensor(spec) => Some((usize::try_from(*at).ok()?, spec)),
            Spec::Partition(_) | Spec::Ext(_) => None,
        },
        _ => None,
    }
}

/// What stands for the variables of these arguments while a function is traced, in their order.
pub fn stand_ins<T>(args: &Nest<T>) -> Vec<Variable> {
    let mut found = Vec::new();
    push_stand_ins(args, &mut found);
    found
}

fn push_stand_ins<T>(args: &Nest<T>, found: &mut Vec<Variable>) {
    match args {
        Nest::Leaf(_) => {}
        Nest::Static(value) => match aliased(value) {
            Some((at, spec)) if at == found.len() => found.push(stand_in(at, spec)),
            _ => {}
        },
        Nest::List(items) | Nest::Tuple(items) => items.iter().for_each(|item| push_stand_ins(item, found)),
        Nest::Dict(entries) | Nest::Record(_, entries) => {
            entries.iter().for_each(|(_, item)| push_stand_ins(item, found));
        }
    }
}

/// What stands for the variable of this number and spec, in whatever function.
fn stand_in(at: usize, spec: &TensorSpec) -> Variable {
    static KNOWN: RwLock<Vec<(usize, Variable)>> = RwLock::new(Vec::new());
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    let wanted = Spec::Tensor(spec.clone());
    let is_it = |(n, v): &&(usize, Variable)| *n == at && Spec::Tensor(v.spec().clone()).equals(&wanted);
    if let Some((_, found)) = known.iter().find(is_it) {
        return found.clone();
    }
    let made = Variable::stand_in(format!("variable {at} of the arguments"), spec.clone());
    known.push((at, made.clone()));
    made
}

/// The nest of an object that is to be like `wanted`: numbers, lists, dicts and arrays become values where that has specs, and values
/// of other types those of the specs where nothing is lost.
///
/// Errors: what is no value of the spec, with its path; those of [`py_to_nest`].
pub fn py_to_nest_like(object: &Bound<'_, PyAny>, wanted: &Nest<Spec>, variables: &Variables) -> PyResult<Nest<Value>> {
    match wanted {
        Nest::Leaf(spec) if arg::is_value(object) => {
            let value = value::from_py(object)?;
            Ok(Nest::Leaf(cast(&value, spec).or_raise()?.unwrap_or(value)))
        }
        Nest::Leaf(Spec::Tensor(spec)) => tensor_like(object, spec.dtype).map(|x| Nest::Leaf(x.into())),
        Nest::Leaf(spec) => literal::of_spec(object, spec).map(Nest::Leaf),
        Nest::List(wanted) if object.is_instance_of::<PyList>() && object.len()? == wanted.len() => {
            items_like(object, wanted, variables).map(Nest::List)
        }
        Nest::Tuple(wanted) if object.is_exact_instance_of::<PyTuple>() && object.len()? == wanted.len() => {
            items_like(object, wanted, variables).map(Nest::Tuple)
        }
        Nest::Dict(wanted) if has_keys(object, wanted)? => {
            entries_like(wanted, variables, &|name| object.get_item(name)).map(Nest::Dict)
        }
        Nest::Record(name, wanted) if record_fields(object)?.is_some_and(|(of, _)| of == *name) => {
            entries_like(wanted, variables, &|field| object.getattr(field))
                .map(|fields| Nest::Record(name.clone(), fields))
        }
        _ => py_to_argument(object, variables),
    }
}

/// The tensor of an object in a dtype; of an array whose numbers are no integers of the dtype, in its own.
fn tensor_like(object: &Bound<'_, PyAny>, dtype: DType) -> PyResult<Tensor> {
    if !dtype.is_integer() || !object.hasattr("dtype")? {
        return arg::tensor(object, Some(dtype));
    }
    let own = arg::tensor(object, None)?;
    if own.dtype() == dtype {
        return Ok(own);
    }
    let made = arg::tensor(object, Some(dtype))?;
    if !own.dtype().is_numeric() || dtype.holds(own.dtype()) {
        return Ok(made);
    }
    let back = || ops::equal(ops::cast(&made, own.dtype())?, &own);
    let same = guarded(|| ops::all(back()?, Axes::All, false)?.tensor()?.to_bool()).or_raise()?;
    Ok(if same { made } else { own })
}

/// The argument of a name, made to fit its spec; an exception says which it is.
pub fn argument_like(
    name: &str,
    object: &Bound<'_, PyAny>,
    wanted: &Nest<Spec>,
    variables: &Variables,
) -> PyResult<Nest<Value>> {
    let note = |e| noted(object.py(), e, format!("This is the argument '{name}'."));
    py_to_nest_like(object, wanted, variables).map_err(note)
}

fn has_keys(object: &Bound<'_, PyAny>, wanted: &[(Arc<str>, Nest<Spec>)]) -> PyResult<bool> {
    let Ok(dict) = object.cast::<PyDict>() else { return Ok(false) };
    let mut has = dict.len() == wanted.len();
    for (key, _) in wanted {
        has &= dict.contains(&**key)?;
    }
    Ok(has)
}

fn entries_like<'py>(
    wanted: &[(Arc<str>, Nest<Spec>)],
    variables: &Variables,
    of: &dyn Fn(&str) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Vec<(Arc<str>, Nest<Value>)>> {
    wanted.iter().map(|(name, wanted)| Ok((name.clone(), py_to_nest_like(&of(name)?, wanted, variables)?))).collect()
}

fn items_like(object: &Bound<'_, PyAny>, wanted: &[Nest<Spec>], variables: &Variables) -> PyResult<Vec<Nest<Value>>> {
    object.try_iter()?.zip(wanted).map(|(item, wanted)| py_to_nest_like(&item?, wanted, variables)).collect()
}

fn convert<T>(
    object: &Bound<'_, PyAny>,
    depth: usize,
    leaf: &dyn Fn(&Bound<'_, PyAny>) -> PyResult<Nest<T>>,
) -> PyResult<Nest<T>> {
    if depth > MAX_DEPTH {
        let error = Error::value(format!("a nest is deeper than {MAX_DEPTH}")).wanted("fewer levels");
        return Err(raised(object.py(), error));
    }
    if arg::is_value(object) {
        return leaf(object);
    }
    if let Some(value) = static_value(object)? {
        return Ok(Nest::Static(value));
    }
    let inner = |object: &Bound<'_, PyAny>| convert(object, depth + 1, leaf);
    if let Ok(list) = object.cast::<PyList>() {
        return list.iter().map(|item| inner(&item)).collect::<PyResult<_>>().map(Nest::List);
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        let mut entries = Vec::with_capacity(dict.len());
        for (key, item) in dict.iter() {
            let wrong = || Error::dtype(format!("a dict has the key {key}")).wanted("keys that are strings");
            entries.push((key.extract::<String>().map_err(|_| raised(object.py(), wrong()))?, item));
        }
        // Variables are numbered in the order of the nest.
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        let entries: PyResult<Vec<_>> = entries.into_iter().map(|(key, item)| Ok((key, inner(&item)?))).collect();
        return entries.map(Nest::dict);
    }
    if let Some((name, fields)) = record_fields(object)? {
        let field = |field: &Py<PyString>| {
            let field = field.bind(object.py());
            Ok((field.to_str()?.into(), inner(&object.getattr(field)?)?))
        };
        return fields.iter().map(field).collect::<PyResult<_>>().map(|fields| Nest::Record(name, fields));
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        return tuple.iter().map(|item| inner(&item)).collect::<PyResult<_>>().map(Nest::Tuple);
    }
    leaf(object)
}

/// The static value of a number, a string, bytes or `None`.
/// Numbers of Python in what a gradient is with respect to are scalars of f64, and no part of the structure.
pub fn floats_as_tensors(nest: &mut Nest<Value>) {
    match nest {
        Nest::Static(StaticValue::Float(number)) => *nest = Nest::Leaf(Tensor::scalar(*number).into()),
        Nest::Leaf(_) | Nest::Static(_) => {}
        Nest::List(items) | Nest::Tuple(items) => items.iter_mut().for_each(floats_as_tensors),
        Nest::Dict(items) | Nest::Record(_, items) => items.iter_mut().for_each(|(_, item)| floats_as_tensors(item)),
    }
}

fn static_value(object: &Bound<'_, PyAny>) -> PyResult<Option<StaticValue>> {
    Ok(if object.is_none() {
        Some(StaticValue::None)
    } else if let Ok(v) = object.cast::<PyBool>() {
        Some(StaticValue::Bool(v.is_true()))
    } else if object.is_exact_instance_of::<PyInt>() {
        Some(StaticValue::Int(arg::int(object)?))
    } else if object.is_exact_instance_of::<PyFloat>() {
        Some(StaticValue::Float(object.extract()?))
    } else if object.is_exact_instance_of::<PyString>() {
        Some(StaticValue::Str(object.extract()?))
    } else if let Ok(v) = object.cast_exact::<PyBytes>() {
        Some(StaticValue::Bytes(v.as_bytes().to_vec()))
    } else {
        None
    })
}

/// Classes of records that were met.
struct Records {
    /// The name of each, which is kept, so that no other class comes to stand at its address.
    names: PointerMap<(Py<PyType>, Arc<str>)>,
    /// The last one of each name, to make instances again.
    classes: Option<HashMap<Arc<str>, Py<PyType>>>,
}

static RECORDS: RwLock<Records> = RwLock::new(Records { names: PointerMap::new(), classes: None });

/// The name of a class, and those of its fields.
type Names = (Arc<str>, Arc<[Py<PyString>]>);

/// The names of the class of a named tuple, dataclass or attrs instance.
fn record_fields(object: &Bound<'_, PyAny>) -> PyResult<Option<Names>> {
    let Some(fields) = nests::record_fields(object)? else { return Ok(None) };
    let class = object.get_type();
    let key = class.as_ptr().addr();
    {
        let records = RECORDS.read().unwrap_or_else(PoisonError::into_inner);
        let is_last =
            |name: &Arc<str>| records.classes.as_ref().and_then(|of| of.get(name)).is_some_and(|c| c.is(&class));
        if let Some((_, name)) = records.names.get(key).filter(|(_, name)| is_last(name)) {
            return Ok(Some((name.clone(), fields)));
        }
    }
    let name: Arc<str> = format!("{}.{}", class.module()?, class.qualname()?).into();
    let mut records = RECORDS.write().unwrap_or_else(PoisonError::into_inner);
    records.names.insert(key, (class.clone().unbind(), name.clone()));
    records.classes.get_or_insert_default().insert(name.clone(), class.unbind());
    Ok(Some((name, fields)))
}

/// The Python object of a nest.
pub fn nest_to_py<'py>(py: Python<'py>, nest: &Nest<Value>) -> PyResult<Bound<'py, PyAny>> {
    build(py, nest, &mut |value: &Value| value::to_py(py, value.clone()), &[])
}

/// The Python object of an argument, whose variables are these.
pub fn argument_to_py<'py>(
    py: Python<'py>,
    nest: &Nest<Value>,
    variables: &[Bound<'py, PyVariable>],
) -> PyResult<Bound<'py, PyAny>> {
    build(py, nest, &mut |value: &Value| value::to_py(py, value.clone()), variables)
}

/// The Python object of a nest, with its leaves made by `leaf` and these variables.
pub fn build<'py, T>(
    py: Python<'py>,
    nest: &Nest<T>,
    leaf: &mut dyn FnMut(&T) -> PyResult<Bound<'py, PyAny>>,
    variables: &[Bound<'py, PyVariable>],
) -> PyResult<Bound<'py, PyAny>> {
    let mut items =
        |items: &[Nest<T>]| items.iter().map(|n| build(py, n, &mut *leaf, variables)).collect::<PyResult<Vec<_>>>();
    match nest {
        Nest::Leaf(value) => leaf(value),
        Nest::Static(value) => match aliased(value).and_then(|(at, _)| variables.get(at)) {
            Some(variable) => Ok(variable.clone().into_any()),
            None => from_static(py, value),
        },
        Nest::List(list) => Ok(PyList::new(py, items(list)?)?.into_any()),
        Nest::Tuple(tuple) => Ok(PyTuple::new(py, items(tuple)?)?.into_any()),
        Nest::Dict(entries) => dict(py, entries, leaf, variables),
        Nest::Record(name, entries) => {
            let class = {
                let records = RECORDS.read().unwrap_or_else(PoisonError::into_inner);
                records.classes.as_ref().and_then(|classes| classes.get(name)).map(|class| class.bind(py).clone())
            };
            // The class is not known here in a file made elsewhere. Its fields are.
            let Some(class) = class else { return dict(py, entries, leaf, variables) };
            let field = |(name, item): &(Arc<str>, Nest<T>)| {
                Ok((PyString::intern(py, name).into_any(), build(py, item, &mut *leaf, variables)?))
            };
            nests::record_of(&class, entries.iter().map(field).collect::<PyResult<_>>()?)
        }
    }
}

fn dict<'py, T>(
    py: Python<'py>,
    entries: &[(Arc<str>, Nest<T>)],
    leaf: &mut dyn FnMut(&T) -> PyResult<Bound<'py, PyAny>>,
    variables: &[Bound<'py, PyVariable>],
) -> PyResult<Bound<'py, PyAny>> {
    let dict = PyDict::new(py);
    for (key, item) in entries {
        dict.set_item(&**key, build(py, item, &mut *leaf, variables)?)?;
    }
    Ok(dict.into_any())
}

/// Whether an object is what a nest of specs accepts; its leaves are appended.
///
/// Says no where it would take work to find out; the caller then goes the long way.
pub fn matches(
    wanted: &Nest<Spec>,
    object: &Bound<'_, PyAny>,
    leaves: &mut Vec<Value>,
    bindings: &mut Bindings,
) -> PyResult<bool> {
    match wanted {
        Nest::Leaf(wanted) => fits(wanted, object, leaves, bindings),
        Nest::Static(wanted) => Ok(static_value(object)?.is_some_and(|given| given == *wanted)),
        Nest::List(wanted) => {
            let Ok(list) = object.cast_exact::<PyList>() else { return Ok(false) };
            all(wanted, list.iter(), list.len(), leaves, bindings)
        }
        Nest::Tuple(wanted) => {
            let Ok(tuple) = object.cast_exact::<PyTuple>() else { return Ok(false) };
            all(wanted, tuple.iter(), tuple.len(), leaves, bindings)
        }
        Nest::Dict(wanted) => {
            let Ok(dict) = object.cast_exact::<PyDict>() else { return Ok(false) };
            if dict.len() != wanted.len() {
                return Ok(false);
            }
            for (key, wanted) in wanted {
                let Some(item) = dict.get_item(&**key)? else { return Ok(false) };
                if !matches(wanted, &item, leaves, bindings)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Nest::Record(name, wanted) => {
            let Some((of, fields)) = record_fields(object)? else { return Ok(false) };
            if of != *name || fields.len() != wanted.len() {
                return Ok(false);
            }
            for (field, (name, wanted)) in fields.iter().zip(wanted) {
                let field = field.bind(object.py());
                if field.to_str()? != &**name || !matches(wanted, &object.getattr(field)?, leaves, bindings)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
    }
}

/// As [`matches`], for one leaf of a nest.
fn fits(wanted: &Spec, object: &Bound<'_, PyAny>, leaves: &mut Vec<Value>, bindings: &mut Bindings) -> PyResult<bool> {
    match wanted {
        Spec::Tensor(spec) => {
            let Ok(tensor) = object.cast_exact::<PyTensor>() else { return Ok(false) };
            let tensor = &tensor.get().0;
            let fits = tensor.data().is_ok_and(|d| d.dtype() == spec.dtype && bindings.sizes(&spec.shape, d.dims()));
            if fits {
                leaves.push(tensor.clone().into());
            }
            Ok(fits)
        }
        Spec::Ext(_) if !arg::is_value(object) => Ok(false),
        Spec::Ext(spec) => {
            if let Some(components) = plain_components(object, spec) {
                let mut pairs = spec.components.iter().zip(components);
                return pairs.try_fold(true, |all, ((_, wanted), component)| {
                    Ok(all && fits(wanted, component.bind(object.py()), leaves, bindings)?)
                });
            }
            let value = value::from_py(object)?;
            let Value::Ext(ext) = &value else { return Ok(false) };
            if ext.def().uid() != spec.def.uid() {
                return Ok(false);
            }
            let given = ext.spec().or_raise()?;
            let fits = wanted.accepts(&Spec::from(given), bindings);
            if fits {
                value.push_leaves(leaves).or_raise()?;
            }
            Ok(fits)
        }
        Spec::Partition(spec) => {
            let Ok(Value::Partition(p)) = value::from_py(object) else { return Ok(false) };
            let given = p.spec();
            let fits = p.symbol().is_none()
                && given.index == spec.index
                && spec.allows_rows_of(given.uniform_row_length)
                && bindings.dim(spec.nrows, given.nrows)
                && bindings.dim(spec.nvalues, given.nvalues);
            leaves.push(p.into());
            Ok(fits)
        }
    }
}

fn all<'py>(
    wanted: &[Nest<Spec>],
    items: impl Iterator<Item = Bound<'py, PyAny>>,
    len: usize,
    leaves: &mut Vec<Value>,
    bindings: &mut Bindings,
) -> PyResult<bool> {
    if len != wanted.len() {
        return Ok(false);
    }
    for (wanted, item) in wanted.iter().zip(items) {
        if !matches(wanted, &item, leaves, bindings)? {
            return Ok(false);
        }
    }
    Ok(true)
}
