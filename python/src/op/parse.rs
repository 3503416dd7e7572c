//! Reading a call: positional and keyword arguments as op arguments and attributes.

use super::PyOp;
use super::attr::attr;
use super::keywords::keywords;
use super::standard::{Asked, flattened};
use crate::arg;
use crate::error::{self, OrRaise};
use extenso_core::attrs::{AttrSet, AttrValue};
use extenso_core::{Arg, OpDef};
use extenso_types::Error;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use smallvec::SmallVec;
use std::sync::Arc;

/// What a caller gave, borrowed for the length of the call.
pub struct Given<'a, 'py> {
    positional: &'a [Bound<'py, PyAny>],
    keywords: &'a [Bound<'py, PyAny>],
    names: Option<Borrowed<'a, 'py, PyTuple>>,
}

impl<'a, 'py> Given<'a, 'py> {
    /// Reads the arguments of METH_FASTCALL | METH_KEYWORDS.
    ///
    /// # Safety
    /// `args` points to `nargs` objects and behind them one for each name of the tuple `kwnames`, which may be null; all outlive `'a`.
    pub unsafe fn new(
        py: Python<'py>,
        args: *const *mut ffi::PyObject,
        nargs: ffi::Py_ssize_t,
        kwnames: *mut ffi::PyObject,
    ) -> Given<'a, 'py> {
        let nargs = usize::try_from(nargs).unwrap_or(0);
        // SAFETY: the caller says that `kwnames` is a tuple or null.
        let names = unsafe { Borrowed::from_ptr_or_opt(py, kwnames).map(|names| names.cast_unchecked::<PyTuple>()) };
        let count = nargs + names.as_ref().map_or(0, |names| names.len());
        let all: &[Bound<'py, PyAny>] = if count == 0 {
            &[]
        } else {
            // SAFETY: the caller says that there are `count` objects; a `Bound` is a pointer to one, and none is dropped here.
            unsafe { std::slice::from_raw_parts(args.cast(), count) }
        };
        let (positional, keywords) = all.split_at(nargs);
        Given { positional, keywords, names }
    }

    /// The arguments, if these are all, by position; an op that takes a list of them has none to give so.
    #[inline]
    pub fn plain(&self, op: &OpDef) -> Option<&'a [Bound<'py, PyAny>]> {
        let all = self.names.is_none() && !op.variadic && self.positional.len() == op.params.len();
        all.then_some(self.positional)
    }
}

type Slots<'a, 'py> = SmallVec<[Option<&'a Bound<'py, PyAny>>; 8]>;
/// The arguments of a call.
pub type Args = SmallVec<[Arg; 4]>;

/// Attributes of a call: shared defaults, or its own.
pub type Attributes = Arc<dyn AttrSet>;

/// The arguments and attributes of a call, and what the keywords of the standard ask beside these.
///
/// Errors: too many, unknown or missing arguments; an argument that no op takes; attributes of another type.
pub fn parse(op: &PyOp, given: &Given<'_, '_>) -> PyResult<(Args, Attributes, Option<Asked>)> {
    let slots = slots(op, given)?;
    let (params, rest) = slots.split_at(op.def.params.len());
    let (attrs, keywords) = rest.split_at(op.def.attrs.params.len());
    let mut args = arguments(op, params)?;
    let attrs = attributes(op, &mut args, attrs)?;
    Ok((args, attrs, Asked::read(op.def, keywords)?))
}

fn slots<'a, 'py>(op: &PyOp, given: &Given<'a, 'py>) -> PyResult<Slots<'a, 'py>> {
    let count = op.names.len();
    if given.positional.len() > count {
        let error = Error::dtype(format!("{} arguments are given", given.positional.len()));
        return Err(misuse(op, error)).or_raise();
    }
    let mut slots: Slots = given.positional.iter().map(Some).collect();
    slots.resize(count, None);
    if let Some(names) = &given.names {
        for (key, value) in names.iter_borrowed().zip(given.keywords) {
            let at = position(op, &key)?;
            if slots[at].replace(value).is_some() {
                return Err(misuse(op, Error::dtype(format!("the argument '{}' is given twice", &*key)))).or_raise();
            }
        }
    }
    Ok(slots)
}

/// Where a keyword stands; Python interns the names of keywords, so that most are found by their address.
fn position(op: &PyOp, key: &Borrowed<'_, '_, PyAny>) -> PyResult<usize> {
    if let Some(at) = op.names.iter().position(|name| name.as_ptr() == key.as_ptr()) {
        return Ok(at);
    }
    let key = key.cast::<PyString>()?;
    let text = key.to_cow()?;
    let params = op.def.params.iter().copied().chain(op.def.attrs.params.iter().map(|param| param.name));
    let mut params = params.chain(keywords(op.def).iter().map(|keyword| keyword.name()));
    let unknown = || misuse(op, Error::dtype(format!("there is no argument '{text}'")));
    params.position(|name| name == text).ok_or_else(unknown).or_raise()
}

fn arguments(op: &PyOp, params: &[Option<&Bound<'_, PyAny>>]) -> PyResult<Args> {
    let mut args = Args::new();
    for (object, name) in params.iter().zip(op.def.params) {
        let missing = || misuse(op, Error::dtype(format!("the argument '{name}' is missing")));
        let object = object.ok_or_else(missing).or_raise()?;
        let arg = if op.def.variadic { arg::list(object) } else { arg::operand(object) };
        let arg = arg.map_err(|e| error::at(object.py(), e, op.def.name))?;
        let misfit = || arg::no_argument(object, op.def.variadic).at(format!("argument '{name}'")).at(op.def.name);
        args.push(arg.ok_or_else(misfit).or_raise()?);
    }
    Ok(args)
}

fn attributes(op: &PyOp, args: &mut Args, given: &[Option<&Bound<'_, PyAny>>]) -> PyResult<Attributes> {
    if given.iter().all(Option::is_none)
        && let Some(defaults) = &op.defaults
    {
        return Ok(defaults.clone());
    }
    let mut values: SmallVec<[AttrValue; 4]> = SmallVec::new();
    for (object, param) in given.iter().zip(op.def.attrs.params) {
        let missing = || misuse(op, Error::dtype(format!("the argument '{}' is missing", param.name)));
        values.push(match object {
            // No axis at all: the elements in row-major order, along the one that there then is.
            Some(object) if param.name == "axis" && param.kind == "int" && object.is_none() => {
                flattened(args).or_raise()?;
                AttrValue::Int(0)
            }
            Some(object) => attr(op.def.name, param, object)?,
            None => (param.default)().ok_or_else(missing).or_raise()?,
        });
    }
    (op.def.attrs.parse)(&values).map_err(|e| e.at(op.def.name)).or_raise()
}

fn misuse(op: &PyOp, error: Error) -> Error {
    error.wanted(super::signature::signature(op.def)).at(op.def.name)
}
