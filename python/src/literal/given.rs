//! Objects of Python, as values are made of them.

use super::{MAX_DEPTH, array};
use crate::arg;
use crate::error::OrCarry;
use extenso_core::Value;
use extenso_ext::{Literal, Object, Seen};
use extenso_types::{Error, Path, Result, Segment};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};

/// An object of Python that a value is made of.
pub enum Given<'py> {
    /// Of a class of Python that says what it is: nothing, a number, text, a list, a tuple or a dict.
    Plain(Bound<'py, PyAny>),
    Value(Box<Value>),
}

impl<'py> Given<'py> {
    /// The object, or what it is as a value, a list or a dict.
    ///
    /// Errors: what no value can be made of; those of Python.
    pub fn of(object: Bound<'py, PyAny>) -> Result<Given<'py>> {
        if is_plain(&object) { Ok(Given::Plain(object)) } else { Given::odd(&object, 0) }
    }

    #[cold]
    fn odd(object: &Bound<'py, PyAny>, depth: usize) -> Result<Given<'py>> {
        if depth > MAX_DEPTH {
            return Err(Error::value(format!("a nest is deeper than {MAX_DEPTH}")));
        }
        let py = object.py();
        let other = |object: Bound<'py, PyAny>| match is_plain(&object) {
            true => Ok(Given::Plain(object)),
            false => Given::odd(&object, depth + 1),
        };
        if let Some(value) = array(object).or_carry(py)? {
            Ok(Given::Value(Box::new(value)))
        } else if object.hasattr("tolist").or_carry(py)? {
            other(object.call_method0("tolist").or_carry(py)?)
        } else if let Some(list) = arg::items_of(object).or_carry(py)? {
            other(list)
        } else if object.is_instance_of::<PyMapping>() {
            other(object.py().get_type::<PyDict>().call1((object,)).or_carry(py)?)
        } else {
            Err(Error::dtype(format!("found a value of type {}", arg::type_name(object)))
                .wanted("numbers, strings, bytes, times, decimals, None, and lists, tuples and dicts of these"))
        }
    }
}

/// Whether an object is of a class of Python that says what it is, or of one that refines it.
fn is_plain(object: &Bound<'_, PyAny>) -> bool {
    object.is_exact_instance_of::<PyFloat>()
        || object.is_exact_instance_of::<PyInt>()
        || object.is_exact_instance_of::<PyString>()
        || object.is_none()
        || object.is_instance_of::<PyInt>()
        || object.is_instance_of::<PyFloat>()
        || object.is_instance_of::<PyString>()
        || object.is_instance_of::<PyList>()
        || object.is_instance_of::<PyDict>()
        || object.is_instance_of::<PyTuple>()
        || object.is_instance_of::<PyBytes>()
}

/// What an object is that [`is_plain`].
fn plain<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<Seen<'a>> {
    if let Ok(v) = object.cast_exact::<PyFloat>() {
        Ok(Seen::Float(v.value()))
    } else if object.is_none() {
        Ok(Seen::None)
    } else if let Ok(v) = object.cast::<PyBool>() {
        Ok(Seen::Bool(v.is_true()))
    } else if object.is_instance_of::<PyInt>() {
        arg::whole(object, Seen::Int, Seen::Unsigned)
    } else if let Ok(v) = object.cast::<PyString>() {
        v.to_str().map(Seen::Str)
    } else if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        Ok(Seen::List)
    } else if object.is_instance_of::<PyDict>() {
        Ok(Seen::Record)
    } else if let Ok(v) = object.cast::<PyBytes>() {
        Ok(Seen::Bytes(v.as_bytes()))
    } else {
        object.extract().map(Seen::Float)
    }
}

/// The key of a field, and its text.
pub struct Key<'py>(Bound<'py, PyString>, String);

/// The keys of a dict, which are the names of a record.
fn keys<'py>(dict: &Bound<'py, PyDict>) -> Result<Vec<Key<'py>>> {
    let key = |key: Bound<'py, PyAny>| match key.extract::<String>() {
        Ok(text) => Ok(match key.cast_into_exact::<PyString>() {
            Ok(key) => Key(key, text),
            Err(_) => Key(PyString::new(dict.py(), &text), text),
        }),
        Err(_) => {
            let error = Error::dtype(format!("a record has the key {key}"));
            Err(error.wanted("keys that are strings"))
        }
    };
    dict.keys().iter().map(key).collect()
}

impl<'py> Object for Given<'py> {
    type Name = Key<'py>;

    fn seen(&self) -> Result<Seen<'_>> {
        match self {
            Given::Plain(object) => plain(object).or_carry(object.py()),
            Given::Value(_) => Ok(Seen::Value),
        }
    }

    fn is_none(&self) -> bool {
        matches!(self, Given::Plain(object) if object.is_none())
    }

    fn is_value(&self) -> bool {
        matches!(self, Given::Value(_))
    }

    fn value(&self) -> Option<Value> {
        match self {
            Given::Plain(_) => None,
            Given::Value(value) => Some((**value).clone()),
        }
    }

    fn items(&self, items: &mut Vec<Given<'py>>) -> Result<()> {
        let Given::Plain(object) = self else { return Ok(()) };
        let mut push = |item| Given::of(item).map(|item| items.push(item));
        match (object.cast::<PyList>(), object.cast::<PyTuple>()) {
            (Ok(list), _) => list.iter().try_for_each(&mut push),
            (_, Ok(tuple)) => tuple.iter().try_for_each(&mut push),
            _ => Ok(()),
        }
    }

    fn names(&self) -> Result<Vec<Key<'py>>> {
        match self {
            Given::Plain(object) => keys(object.cast::<PyDict>().map_err(PyErr::from).or_carry(object.py())?),
            Given::Value(_) => Ok(Vec::new()),
        }
    }

    fn text<'n>(name: &'n Key<'py>) -> &'n str {
        &name.1
    }

    fn len(&self) -> usize {
        match self {
            // A class may say another number, and its items are as many.
            Given::Plain(object) => {
                match (object.cast::<PyList>(), object.cast::<PyTuple>(), object.cast::<PyDict>()) {
                    (Ok(list), ..) => list.len(),
                    (_, Ok(tuple), _) => tuple.len(),
                    (.., Ok(dict)) => dict.len(),
                    _ => 0,
                }
            }
            Given::Value(_) => 0,
        }
    }

    fn field(&self, name: &Key<'py>, _: usize) -> Result<Option<Given<'py>>> {
        let Given::Plain(object) = self else { return Ok(None) };
        let Ok(dict) = object.cast::<PyDict>() else { return Ok(None) };
        if let Some(item) = dict.get_item(&name.0).or_carry(object.py())? {
            return Given::of(item).map(Some);
        }
        // A class of texts may have a hash of its own.
        let is = |key: &Bound<'py, PyAny>| key.extract::<String>().is_ok_and(|text| text == name.1);
        dict.iter().find(|(key, _)| is(key)).map(|(_, item)| Given::of(item)).transpose()
    }

    fn literal(&self, at: &dyn Fn() -> Path) -> Result<Literal> {
        literal(self, &Trail::From(at), 0)
    }

    fn check_depth(&self, depth: usize) -> Result<()> {
        match self {
            Given::Plain(object) => check_depth(object, depth),
            Given::Value(_) => Ok(()),
        }
    }
}

/// Errors: lists and dicts in each other, so many that one may be in itself.
fn check_depth(object: &Bound<'_, PyAny>, depth: usize) -> Result<()> {
    if depth > MAX_DEPTH {
        return Err(Error::value(format!("a nest is deeper than {MAX_DEPTH}")).wanted("fewer levels"));
    }
    let inner = |object: &Bound<'_, PyAny>| check_depth(object, depth + 1);
    if let Ok(list) = object.cast::<PyList>() {
        list.iter().try_for_each(|item| inner(&item))
    } else if let Ok(tuple) = object.cast::<PyTuple>() {
        tuple.iter().try_for_each(|item| inner(&item))
    } else if let Ok(dict) = object.cast::<PyDict>() {
        dict.iter().try_for_each(|(_, item)| inner(&item))
    } else {
        Ok(())
    }
}

/// Where an object stands; made a path when an error asks for it.
pub enum Trail<'a> {
    Root,
    /// At a path that something else knows.
    From(&'a dyn Fn() -> Path),
    Item(&'a Trail<'a>, usize),
    Field(&'a Trail<'a>, &'a str),
}

impl Trail<'_> {
    fn path(&self) -> Path {
        match self {
            Trail::Root => Path::root(),
            Trail::From(path) => path(),
            Trail::Item(outer, i) => outer.path().child(Segment::Index(*i)),
            Trail::Field(outer, name) => outer.path().child(Segment::field(*name)),
        }
    }

    fn at(&self, error: Error) -> Error {
        let path = self.path();
        if path.is_root() { error } else { error.at(path.to_string()) }
    }
}

/// The literal of an object, read whole.
pub fn literal(given: &Given<'_>, at: &Trail<'_>, depth: usize) -> Result<Literal> {
    if depth > MAX_DEPTH {
        return Err(Error::value(format!("a nest is deeper than {MAX_DEPTH}")));
    }
    Ok(match given.seen().map_err(|e| at.at(e))? {
        Seen::None => Literal::None,
        Seen::Bool(v) => Literal::Bool(v),
        Seen::Int(v) => Literal::Int(v),
        Seen::Unsigned(v) => Literal::Unsigned(v),
        Seen::Float(v) => Literal::Float(v),
        Seen::Str(v) => Literal::Str(v.to_string()),
        Seen::Bytes(v) => Literal::Bytes(v.to_vec()),
        Seen::Value => Literal::from(given.value().ok_or_else(|| Error::internal("a value is held"))?),
        Seen::List => {
            let mut items = Vec::new();
            given.items(&mut items).map_err(|e| Trail::Item(at, items.len()).at(e))?;
            let item = |(i, item)| literal(item, &Trail::Item(at, i), depth + 1);
            Literal::List(items.iter().enumerate().map(item).collect::<Result<_>>()?)
        }
        Seen::Record => {
            let mut fields = Vec::with_capacity(given.len());
            for key in given.names().map_err(|e| at.at(e))? {
                let below = Trail::Field(at, &key.1);
                if let Some(item) = given.field(&key, 0).map_err(|e| below.at(e))? {
                    fields.push((key.1.clone(), literal(&item, &below, depth + 1)?));
                }
            }
            Literal::Record(fields)
        }
    })
}
