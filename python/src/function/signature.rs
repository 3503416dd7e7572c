//! The parameters of a Python function, and calls bound to them.

use crate::error::raised;
use crate::variable::PyVariable;
use extenso_core::{Value, Variable};
use extenso_types::{Error, Nest};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::Arc;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Positional,
    Named,
    Rest,
    RestNamed,
}

struct Parameter {
    name: Arc<str>,
    kind: Kind,
    /// Whether an argument is given to it by name too.
    by_name: bool,
    default: Option<Py<PyAny>>,
}

/// The parameters in order.
pub struct Signature(Vec<Parameter>);

impl Signature {
    /// The signature of a callable; one of which Python cannot tell it, as of some that are not written in Python, takes any
    /// arguments by position.
    ///
    /// Errors: Python fails.
    pub fn of(f: &Bound<'_, PyAny>) -> PyResult<Signature> {
        let inspect = f.py().import("inspect")?;
        let empty = inspect.getattr("Parameter")?.getattr("empty")?;
        let signature = match inspect.call_method1("signature", (f,)) {
            Err(e) if e.is_instance_of::<PyValueError>(f.py()) => {
                let rest = Parameter { name: "args".into(), kind: Kind::Rest, by_name: false, default: None };
                return Ok(Signature(vec![rest]));
            }
            told => told?,
        };
        let parameters = signature.getattr("parameters")?.call_method0("values")?;
        let parameter = |p: PyResult<Bound<'_, PyAny>>| {
            let p = p?;
            let kind = p.getattr("kind")?.extract::<u8>()?;
            let by_name = matches!(kind, 1 | 3);
            let kind = match kind {
                0 | 1 => Kind::Positional,
                2 => Kind::Rest,
                3 => Kind::Named,
                _ => Kind::RestNamed,
            };
            let default = p.getattr("default")?;
            let name: String = p.getattr("name")?.extract()?;
            let default = (!default.is(&empty)).then(|| default.unbind());
            Ok(Parameter { name: name.into(), kind, by_name, default })
        };
        parameters.try_iter()?.map(parameter).collect::<PyResult<_>>().map(Signature)
    }

    /// Whether a call with as many arguments as parameters is bound by position alone.
    pub fn is_plain(&self) -> bool {
        self.0.iter().all(|p| p.kind == Kind::Positional)
    }

    /// The argument of a call at a position, among what the parameters hold: `*args` holds one for each from its own on.
    pub fn at<'a>(&self, entries: &'a mut [(Arc<str>, Nest<Value>)], position: usize) -> Option<&'a mut Nest<Value>> {
        let rest = self.0.iter().position(|p| p.kind == Kind::Rest).filter(|rest| *rest <= position);
        match (rest, &mut entries.get_mut(rest.unwrap_or(position))?.1) {
            (Some(rest), Nest::Tuple(items)) => items.get_mut(position - rest),
            (_, argument) => Some(argument),
        }
    }

    /// Whether the first parameter is that of a method.
    pub fn begins_with_self(&self) -> bool {
        self.0.first().is_some_and(|p| &*p.name == "self" && p.kind == Kind::Positional && p.default.is_none())
    }

    /// The names of the parameters that an argument is given to by name, and whether they have a default.
    pub fn parameters(&self) -> Vec<(Arc<str>, bool)> {
        let named = self.0.iter().filter(|p| matches!(p.kind, Kind::Positional | Kind::Named));
        named.map(|p| (p.name.clone(), p.default.is_some())).collect()
    }

    /// The arguments by parameter.
    ///
    /// Errors: a missing or unexpected argument.
    pub fn bind<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Vec<(Arc<str>, Bound<'py, PyAny>)>> {
        let py = args.py();
        let wrong = |what: String| raised(py, Error::dtype(what).wanted(format!("the arguments ({self})")));
        let mut positional = args.iter();
        let mut named = match kwargs {
            Some(kwargs) => kwargs.copy()?,
            None => PyDict::new(py),
        };
        let mut bound = Vec::with_capacity(self.0.len());
        for p in &self.0 {
            let given = match p.kind {
                Kind::Rest => Some(PyTuple::new(py, positional.by_ref())?.into_any()),
                Kind::RestNamed => Some(std::mem::replace(&mut named, PyDict::new(py)).into_any()),
                Kind::Named => None,
                Kind::Positional => positional.next(),
            };
            let by_name = if p.by_name { named.get_item(&*p.name)? } else { None };
            if by_name.is_some() {
                named.del_item(&*p.name)?;
            }
            let value = match (given, by_name) {
                (Some(_), Some(_)) => return Err(wrong(format!("the argument '{}' is given twice", p.name))),
                (Some(value), None) | (None, Some(value)) => value,
                (None, None) => match &p.default {
                    Some(default) => default.bind(py).clone(),
                    None => return Err(wrong(format!("the argument '{}' is missing", p.name))),
                },
            };
            bound.push((p.name.clone(), value));
        }
        if positional.next().is_some() {
            return Err(wrong(format!("{} arguments are given", args.len())));
        }
        match named.keys().iter().next() {
            Some(name) => Err(wrong(format!("the argument {name} is not known"))),
            None => Ok(bound),
        }
    }

    /// The call that gives the function these arguments, whose variables are these.
    pub fn unbind<'py>(
        &self,
        py: Python<'py>,
        entries: &[(Arc<str>, Nest<Value>)],
        variables: &[Variable],
    ) -> PyResult<(Bound<'py, PyTuple>, Option<Bound<'py, PyDict>>)> {
        let variables: PyResult<Vec<_>> =
            variables.iter().map(|variable| Bound::new(py, PyVariable(variable.clone()))).collect();
        let variables = variables?;
        let mut args = Vec::with_capacity(entries.len());
        let kwargs = PyDict::new(py);
        for (p, (_, nest)) in self.0.iter().zip(entries) {
            let object = super::nest::argument_to_py(py, nest, &variables)?;
            match p.kind {
                Kind::Positional => args.push(object),
                Kind::Named => kwargs.set_item(&*p.name, object)?,
                Kind::Rest => args.extend(object.try_iter()?.collect::<PyResult<Vec<_>>>()?),
                Kind::RestNamed => kwargs.update(object.cast::<PyDict>()?.as_mapping())?,
            }
        }
        let kwargs = (!kwargs.is_empty()).then_some(kwargs);
        Ok((PyTuple::new(py, args)?, kwargs))
    }
}

impl std::fmt::Display for Signature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = self.0.iter().map(|p| p.name.to_string()).collect();
        f.write_str(&names.join(", "))
    }
}
