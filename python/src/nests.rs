//! What `extenso.nest` calls: walks over lists, tuples, dicts and records of Python.
//!
//! Invariant: [`entries`] alone says what stands in a container: the items of a dict by key, the fields of a record in their
//! order. What the leaves are that a composite is made of, `extenso.nest` says.

use crate::error::raised;
use crate::pointers::PointerMap;
use crate::tensor::PyTensor;
use extenso_types::Error;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyIterator, PyList, PyString, PyTuple, PyType};
use std::sync::{Arc, PoisonError, RwLock};

/// Adds the walks to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(_nest_leaves, module)?)?;
    module.add_function(wrap_pyfunction!(_nest_leaves_with_paths, module)?)?;
    module.add_function(wrap_pyfunction!(_nest_packed, module)?)?;
    module.add_function(wrap_pyfunction!(_nest_compare, module)?)
}

/// Deeper nests are refused: every walk over one is a recursion.
const MAX_DEPTH: usize = 100;

type Object<'py> = Bound<'py, PyAny>;

/// What leads from a container to something that stands in it.
enum Step<'py> {
    At(usize),
    Name(Object<'py>),
}

impl<'py> Step<'py> {
    fn object(&self, py: Python<'py>) -> PyResult<Object<'py>> {
        match self {
            Step::At(i) => Ok(i.into_pyobject(py)?.into_any()),
            Step::Name(name) => Ok(name.clone()),
        }
    }

    fn is(&self, other: &Step<'py>) -> PyResult<bool> {
        match (self, other) {
            (Step::At(a), Step::At(b)) => Ok(a == b),
            (Step::Name(a), Step::Name(b)) => Ok(a.is(b) || a.eq(b)?),
            (Step::At(_), Step::Name(_)) | (Step::Name(_), Step::At(_)) => Ok(false),
        }
    }
}

type Path<'py> = Vec<Step<'py>>;
type Entries<'py> = Vec<(Step<'py>, Object<'py>)>;

/// What the objects of a class are in a nest.
#[derive(Clone)]
enum Form {
    Leaf,
    Dict,
    /// A list or a tuple.
    Items,
    /// A named tuple, a dataclass or an attrs class, by its fields.
    Record(Arc<[Py<PyString>]>),
}

static FORMS: RwLock<PointerMap<(Py<PyType>, Form)>> = RwLock::new(PointerMap::new());

/// Whether something may stand in the object: it is a list, a tuple, a dict or a record.
pub fn is_container(x: &Object<'_>) -> PyResult<bool> {
    Ok(!matches!(form(x)?, Form::Leaf))
}

fn form(x: &Object<'_>) -> PyResult<Form> {
    if x.is_exact_instance_of::<PyFloat>() || x.is_exact_instance_of::<PyInt>() || x.is_exact_instance_of::<PyTensor>()
    {
        return Ok(Form::Leaf);
    }
    if x.is_exact_instance_of::<PyDict>() {
        return Ok(Form::Dict);
    }
    if x.is_exact_instance_of::<PyList>() || x.is_exact_instance_of::<PyTuple>() {
        return Ok(Form::Items);
    }
    let class = x.get_type();
    let key = class.as_ptr().addr();
    if let Some((_, form)) = FORMS.read().unwrap_or_else(PoisonError::into_inner).get(key) {
        return Ok(form.clone());
    }
    let form = form_of(&class)?;
    // The class is kept alive, so that no other class comes to stand at its address.
    FORMS.write().unwrap_or_else(PoisonError::into_inner).insert(key, (class.unbind(), form.clone()));
    Ok(form)
}

fn form_of(class: &Bound<'_, PyType>) -> PyResult<Form> {
    if class.is_subclass_of::<PyDict>()? {
        return Ok(Form::Dict);
    }
    let is_tuple = class.is_subclass_of::<PyTuple>()?;
    let mut names: Vec<Object<'_>> = Vec::new();
    if is_tuple && class.hasattr("_fields")? {
        names = class.getattr("_fields")?.try_iter()?.collect::<PyResult<_>>()?;
    } else if let Some(fields) = class.getattr_opt("__dataclass_fields__")? {
        for entry in fields.cast_into::<PyDict>()?.iter() {
            // Fields that are class variables or constructor arguments alone have another kind.
            if entry.1.getattr("_field_type")?.getattr("name")?.eq("_FIELD")? {
                names.push(entry.0);
            }
        }
    } else if let Some(fields) = class.getattr_opt("__attrs_attrs__")? {
        names = fields.try_iter()?.map(|field| field?.getattr("name")).collect::<PyResult<_>>()?;
    } else {
        return Ok(if is_tuple || class.is_subclass_of::<PyList>()? { Form::Items } else { Form::Leaf });
    }
    let names = names.into_iter().map(|name| Ok(name.cast_into::<PyString>()?.unbind()));
    names.collect::<PyResult<_>>().map(Form::Record)
}

/// What stands in a container; none for a leaf.
///
/// Errors: a dict with a key that is no string.
fn entries<'py>(x: &Object<'py>) -> PyResult<Option<Entries<'py>>> {
    Ok(Some(match form(x)? {
        Form::Leaf => return Ok(None),
        Form::Dict => sorted(x)?,
        Form::Items => match x.cast_exact::<PyList>() {
            Ok(list) => positions(list.iter()),
            Err(_) => positions(x.try_iter()?.collect::<PyResult<Vec<_>>>()?.into_iter()),
        },
        Form::Record(names) => {
            let field = |name: &Py<PyString>| {
                let name = name.bind(x.py());
                Ok((Step::Name(name.clone().into_any()), x.getattr(name)?))
            };
            names.iter().map(field).collect::<PyResult<_>>()?
        }
    }))
}

fn positions<'py>(items: impl Iterator<Item = Object<'py>>) -> Entries<'py> {
    items.enumerate().map(|(i, item)| (Step::At(i), item)).collect()
}

/// The items of a dict in the order of their keys.
fn sorted<'py>(x: &Object<'py>) -> PyResult<Entries<'py>> {
    let dict = x.cast::<PyDict>()?;
    let mut items: Vec<(Bound<'py, PyString>, Object<'py>)> = Vec::with_capacity(dict.len());
    let mut put = |key: Object<'py>, item: Object<'py>| match key.cast_into::<PyString>() {
        Ok(key) => {
            items.push((key, item));
            Ok(())
        }
        Err(other) => Err(no_key(&other.into_inner())),
    };
    if dict.is_exact_instance_of::<PyDict>() {
        dict.iter().try_for_each(|(key, item)| put(key, item))?;
    } else {
        x.try_iter()?.try_for_each(|key| key.and_then(|key| put(key.clone(), x.get_item(key)?)))?;
    }
    // The bytes of UTF-8 have the order of the characters. A text that has none is compared by Python.
    if items.iter().all(|(key, _)| key.to_str().is_ok()) {
        items.sort_by(|(a, _), (b, _)| a.to_str().unwrap_or("").cmp(b.to_str().unwrap_or("")));
    } else {
        items.sort_by(|(a, _), (b, _)| a.compare(b).unwrap_or(std::cmp::Ordering::Equal));
    }
    Ok(items.into_iter().map(|(key, item)| (Step::Name(key.into_any()), item)).collect())
}

fn no_key(key: &Object<'_>) -> PyErr {
    let shown = key.repr().map_or_else(|_| "of an unknown kind".to_string(), |text| text.to_string());
    raised(key.py(), Error::value(format!("a dict has the key {shown}")).wanted("keys that are strings").at("nest"))
}

fn check_depth(py: Python<'_>, path: &[Step<'_>]) -> PyResult<()> {
    if path.len() <= MAX_DEPTH {
        return Ok(());
    }
    let error = Error::value(format!("the nest is deeper than {MAX_DEPTH}")).wanted("fewer levels").at("nest");
    Err(raised(py, error))
}

/// How messages name a place.
fn text(py: Python<'_>, path: &[Step<'_>]) -> PyResult<String> {
    let mut text = String::new();
    for step in path {
        text += &format!("[{}]", step.object(py)?.repr()?);
    }
    Ok(if text.is_empty() { "the whole".into() } else { text })
}

/// Visits the leaves in order.
fn walk<'py>(
    x: &Object<'py>,
    path: &mut Path<'py>,
    visit: &mut dyn FnMut(&Object<'py>, &mut Path<'py>) -> PyResult<()>,
) -> PyResult<()> {
    check_depth(x.py(), path)?;
    let Some(entries) = entries(x)? else { return visit(x, path) };
    for (step, item) in entries {
        path.push(step);
        walk(&item, path, visit)?;
        path.pop();
    }
    Ok(())
}

/// What a leaf is made of, if `parts` says so.
fn parts_of<'py>(leaf: &Object<'py>, parts: Option<&Object<'py>>) -> PyResult<Option<Vec<Object<'py>>>> {
    let Some(parts) = parts else { return Ok(None) };
    let found = parts.call1((leaf,))?;
    if found.is_none() { Ok(None) } else { found.try_iter()?.collect::<PyResult<_>>().map(Some) }
}

/// The leaves in order; `parts` gives what a leaf is made of, or `None`.
#[pyfunction]
#[pyo3(signature = (structure, parts=None))]
fn _nest_leaves<'py>(structure: &Object<'py>, parts: Option<&Object<'py>>) -> PyResult<Bound<'py, PyList>> {
    let mut leaves = Vec::new();
    walk(structure, &mut Vec::new(), &mut |leaf, _| {
        match parts_of(leaf, parts)? {
            Some(parts) => leaves.extend(parts),
            None => leaves.push(leaf.clone()),
        }
        Ok(())
    })?;
    PyList::new(structure.py(), leaves)
}

/// The leaves in order, each with the names and positions that lead to it.
#[pyfunction]
#[pyo3(signature = (structure, parts=None))]
fn _nest_leaves_with_paths<'py>(structure: &Object<'py>, parts: Option<&Object<'py>>) -> PyResult<Bound<'py, PyList>> {
    let py = structure.py();
    let mut leaves: Vec<(Bound<'py, PyTuple>, Object<'py>)> = Vec::new();
    let place =
        |path: &[Step<'py>]| PyTuple::new(py, path.iter().map(|step| step.object(py)).collect::<PyResult<Vec<_>>>()?);
    walk(structure, &mut Vec::new(), &mut |leaf, path| {
        let Some(parts) = parts_of(leaf, parts)? else {
            leaves.push((place(path)?, leaf.clone()));
            return Ok(());
        };
        for (i, part) in parts.into_iter().enumerate() {
            path.push(Step::At(i));
            leaves.push((place(path)?, part));
            path.pop();
        }
        Ok(())
    })?;
    PyList::new(py, leaves)
}

/// The leaves in the structure of another nest. `parts` gives what a leaf of it is made of, or `None`; `packed` makes a leaf
/// of as many, given the text of its place.
#[pyfunction]
#[pyo3(signature = (structure, leaves, parts=None, packed=None))]
fn _nest_packed<'py>(
    structure: &Object<'py>,
    leaves: &Bound<'py, PyIterator>,
    parts: Option<&Object<'py>>,
    packed: Option<&Object<'py>>,
) -> PyResult<Object<'py>> {
    let py = structure.py();
    let mut leaves = leaves.clone();
    let made = rebuilt(structure, &mut Vec::new(), &mut |leaf, path| {
        let (Some(parts), Some(packed)) = (parts_of(leaf, parts)?, packed) else { return next(py, &mut leaves, path) };
        let mut found = Vec::with_capacity(parts.len());
        for i in 0..parts.len() {
            path.push(Step::At(i));
            found.push(next(py, &mut leaves, path)?);
            path.pop();
        }
        packed.call1((leaf, found, text(py, path)?))
    })?;
    match leaves.next() {
        None => Ok(made),
        Some(Err(exception)) => Err(exception),
        Some(Ok(_)) => {
            let error = Error::value("leaves are left over").wanted("one leaf for each of the structure");
            Err(raised(py, error.at("pack_sequence_as")))
        }
    }
}

fn next<'py>(py: Python<'py>, leaves: &mut Bound<'py, PyIterator>, path: &[Step<'py>]) -> PyResult<Object<'py>> {
    match leaves.next() {
        Some(leaf) => leaf,
        None => {
            let error = Error::value(format!("no leaf is left for {}", text(py, path)?));
            Err(raised(py, error.wanted("one leaf for each of the structure").at("pack_sequence_as")))
        }
    }
}

/// The structure with what `leaf` makes of its leaves.
fn rebuilt<'py>(
    x: &Object<'py>,
    path: &mut Path<'py>,
    leaf: &mut dyn FnMut(&Object<'py>, &mut Path<'py>) -> PyResult<Object<'py>>,
) -> PyResult<Object<'py>> {
    check_depth(x.py(), path)?;
    let Some(entries) = entries(x)? else { return leaf(x, path) };
    let mut made: Entries<'py> = Vec::with_capacity(entries.len());
    for (step, item) in entries {
        path.push(step);
        let built = rebuilt(&item, path, leaf)?;
        made.extend(path.pop().map(|step| (step, built)));
    }
    container(x, made)
}

/// A container like `x` of what was made of its entries.
fn container<'py>(x: &Object<'py>, made: Entries<'py>) -> PyResult<Object<'py>> {
    let py = x.py();
    let class = x.get_type();
    match form(x)? {
        Form::Leaf => Ok(x.clone()),
        Form::Dict => {
            // The order of the keys is that of the structure, whatever the order of the leaves.
            let exact = x.cast_exact::<PyDict>();
            let dict = match exact {
                Ok(dict) => dict.copy()?,
                Err(_) => x.try_iter()?.try_fold(PyDict::new(py), |dict, key| {
                    dict.set_item(key?, py.None())?;
                    Ok::<_, PyErr>(dict)
                })?,
            };
            made.iter().try_for_each(|(step, item)| dict.set_item(step.object(py)?, item))?;
            if exact.is_ok() { Ok(dict.into_any()) } else { class.call1((dict,)) }
        }
        Form::Items => {
            let items = made.into_iter().map(|(_, item)| item).collect::<Vec<_>>();
            if x.is_exact_instance_of::<PyTuple>() {
                return Ok(PyTuple::new(py, items)?.into_any());
            }
            let list = PyList::new(py, items)?.into_any();
            if x.is_exact_instance_of::<PyList>() { Ok(list) } else { class.call1((list.try_iter()?,)) }
        }
        Form::Record(_) => {
            let fields = made.into_iter().map(|(step, item)| Ok((step.object(py)?, item)));
            record_of(&class, fields.collect::<PyResult<_>>()?)
        }
    }
}

/// The names of the fields of a named tuple, a dataclass or an attrs instance, in their order.
pub fn record_fields(x: &Object<'_>) -> PyResult<Option<Arc<[Py<PyString>]>>> {
    Ok(match form(x)? {
        Form::Record(names) => Some(names),
        Form::Leaf | Form::Dict | Form::Items => None,
    })
}

/// The record of a class with these fields, as `pickle` makes it: without its constructor, which may take or do something else.
pub fn record_of<'py>(class: &Bound<'py, PyType>, fields: Vec<(Object<'py>, Object<'py>)>) -> PyResult<Object<'py>> {
    let py = class.py();
    if class.is_subclass_of::<PyTuple>()? {
        let items = PyTuple::new(py, fields.into_iter().map(|(_, item)| item))?;
        return class.call_method1(intern!(py, "_make"), (items,));
    }
    let made = class.call_method1(intern!(py, "__new__"), (class,))?;
    let set = py.get_type::<PyAny>().getattr(intern!(py, "__setattr__"))?;
    for (name, item) in fields {
        set.call1((&made, name, item))?;
    }
    Ok(made)
}

/// Checks that two nests have the same structure; `leaves` compares two leaves, given the text of their place.
#[pyfunction]
#[pyo3(signature = (a, b, check_types, leaves=None))]
fn _nest_compare<'py>(
    a: &Object<'py>,
    b: &Object<'py>,
    check_types: bool,
    leaves: Option<&Object<'py>>,
) -> PyResult<()> {
    compare(a, b, &mut Vec::new(), check_types, leaves)
}

fn compare<'py>(
    a: &Object<'py>,
    b: &Object<'py>,
    path: &mut Path<'py>,
    check_types: bool,
    leaves: Option<&Object<'py>>,
) -> PyResult<()> {
    let py = a.py();
    check_depth(py, path)?;
    let (left, right) = match (entries(a)?, entries(b)?) {
        (Some(left), Some(right)) => (left, right),
        (None, None) => return leaves.map_or(Ok(()), |leaves| leaves.call1((a, b, text(py, path)?)).map(drop)),
        (left, right) => {
            let (left, right) = (kind(a, left.is_none())?, kind(b, right.is_none())?);
            return Err(differ(py, path, &format!("a {left} stands against a {right}"))?);
        }
    };
    if check_types && !a.get_type().is(b.get_type()) {
        return Err(differ(py, path, &format!("a {} stands against a {}", kind(a, false)?, kind(b, false)?))?);
    }
    let mut same = left.len() == right.len();
    for ((x, _), (y, _)) in left.iter().zip(&right) {
        same = same && x.is(y)?;
    }
    if !same {
        return Err(differ(py, path, &format!("{} stand against {}", steps(py, &left)?, steps(py, &right)?))?);
    }
    for ((step, x), (_, y)) in left.into_iter().zip(right) {
        path.push(step);
        compare(&x, &y, path, check_types, leaves)?;
        path.pop();
    }
    Ok(())
}

fn kind(x: &Object<'_>, is_leaf: bool) -> PyResult<String> {
    if is_leaf { Ok("leaf".into()) } else { Ok(x.get_type().name()?.to_string()) }
}

fn steps<'py>(py: Python<'py>, entries: &[(Step<'py>, Object<'py>)]) -> PyResult<String> {
    let steps = entries.iter().map(|(step, _)| step.object(py)).collect::<PyResult<Vec<_>>>()?;
    Ok(PyList::new(py, steps)?.repr()?.to_string())
}

fn differ(py: Python<'_>, path: &[Step<'_>], what: &str) -> PyResult<PyErr> {
    let error = Error::value(what.to_string()).wanted("the same structure on both sides");
    Ok(raised(py, error.at(format!("at {}", text(py, path)?)).at("assert_same_structure")))
}
