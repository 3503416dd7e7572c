//! Calls of concrete functions: arguments by position and by name, as the Python function took them.
//!
//! A concrete function knows how its parameters are named and what they hold, and not which of them take the rest of a call: a parameter of a tuple
//! may be `*args`, and one of a dict `**kwargs`.

use super::nest::{self, Variables, argument_like, py_to_nest_like};
use crate::error::{OrRaise, raised};
use extenso_core::Value;
use extenso_graph::ARGUMENTS;
use extenso_types::{Error, Nest, Spec};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use std::sync::Arc;

/// The specs of named arguments.
pub fn by_name(input: &Nest<Spec>) -> Option<&[(Arc<str>, Nest<Spec>)]> {
    match input {
        Nest::Record(name, entries) if &**name == ARGUMENTS => Some(entries),
        _ => None,
    }
}

/// The arguments by position or name, made to fit the specs that the function takes.
///
/// Errors: arguments that are missing, unknown, given twice, or do not fit.
pub fn bind<'py>(
    input: &Nest<Spec>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
    variables: &Variables,
) -> PyResult<Nest<Value>> {
    let py = args.py();
    let wrong = |what: String| raised(py, Error::dtype(what).wanted(input.to_string()));
    let Some(wanted) = by_name(input) else {
        // A function that Rust saved with a nest of its own.
        return match (input, args.len()) {
            (Nest::Tuple(_), _) => py_to_nest_like(args.as_any(), input, variables),
            (Nest::List(_), _) => py_to_nest_like(args.to_list().as_any(), input, variables),
            (_, 1) => py_to_nest_like(&args.get_item(0)?, input, variables),
            (_, n) => Err(wrong(format!("{n} arguments are given"))),
        };
    };
    let mut call = Call { args, next: 0, named: kwargs.map(|kwargs| kwargs.copy()).transpose()?, variables };
    let mut entries = Vec::with_capacity(wanted.len());
    for (i, (key, spec)) in wanted.iter().enumerate() {
        let positional = call.next < args.len();
        let nest = match (call.by_name(key)?, spec) {
            (Some(_), _) if positional => return Err(wrong(format!("the argument '{key}' is given twice"))),
            (Some(object), _) => argument_like(key, &object, spec, variables)?,
            (None, Nest::Tuple(items)) if positional => call.rest(key, spec, items.len(), i + 1 == wanted.len())?,
            (None, _) if positional => {
                call.next += 1;
                argument_like(key, &args.get_item(call.next - 1)?, spec, variables)?
            }
            (None, Nest::Dict(entries)) if !entries.is_empty() && call.has_all(entries)? => {
                argument_like(key, call.rest_by_name(entries)?.as_any(), spec, variables)?
            }
            (None, _) if spec.leaves().is_empty() && nest::stand_ins(spec).is_empty() => {
                spec.try_map(|_, _| Err(Error::internal("static data have no leaves"))).or_raise()?
            }
            (None, _) => return Err(wrong(format!("the argument '{key}' is missing"))),
        };
        entries.push((key.clone(), nest));
    }
    if call.next < args.len() {
        return Err(wrong(format!("{} arguments are given", args.len())));
    }
    match call.named.and_then(|named| named.keys().iter().next()) {
        Some(name) => Err(wrong(format!("the argument '{name}' is not known"))),
        None => Ok(Nest::Record(ARGUMENTS.into(), entries)),
    }
}

/// What of a call is not bound yet.
struct Call<'a, 'py> {
    args: &'a Bound<'py, PyTuple>,
    next: usize,
    named: Option<Bound<'py, PyDict>>,
    variables: &'a Variables,
}

impl<'py> Call<'_, 'py> {
    /// The argument of this name, which is bound then.
    fn by_name(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(named) = &self.named else { return Ok(None) };
        let found = named.get_item(name)?;
        if found.is_some() {
            named.del_item(name)?;
        }
        Ok(found)
    }

    /// The argument of a parameter that holds so many: the next one, or all that are left.
    fn rest(&mut self, name: &str, spec: &Nest<Spec>, count: usize, is_last: bool) -> PyResult<Nest<Value>> {
        let (next, left) = (self.args.get_item(self.next)?, self.args.len() - self.next);
        let is_list = next.is_instance_of::<PyTuple>() || next.is_instance_of::<PyList>();
        if count != left {
            self.next += 1;
            return argument_like(name, &next, spec, self.variables);
        }
        // So many arguments for one parameter, behind which there is none, are not one.
        let are_parts = is_last && count > 1;
        if is_list
            && !are_parts
            && let Ok(whole) = argument_like(name, &next, spec, self.variables)
        {
            self.next += 1;
            return Ok(whole);
        }
        let rest = self.args.get_slice(self.next, self.args.len());
        self.next = self.args.len();
        argument_like(name, rest.as_any(), spec, self.variables)
    }

    fn has_all(&self, entries: &[(Arc<str>, Nest<Spec>)]) -> PyResult<bool> {
        let Some(named) = &self.named else { return Ok(false) };
        entries.iter().try_fold(true, |all, (name, _)| Ok(all && named.contains(&**name)?))
    }

    /// The arguments of these names in a dict.
    fn rest_by_name(&self, entries: &[(Arc<str>, Nest<Spec>)]) -> PyResult<Bound<'py, PyDict>> {
        let rest = PyDict::new(self.args.py());
        for (name, _) in entries {
            rest.set_item(&**name, self.by_name(name)?)?;
        }
        Ok(rest)
    }
}
