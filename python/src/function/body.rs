//! What a trace does with the Python function: calls it, or takes the gradient of what it gives.
//!
//! Invariant: the body sees the arguments by its own signature, and those that a gradient is with respect to where they stand in it.

use super::nest::{self, Variables, py_to_nest};
use super::signature::Signature;
use crate::error::OrCarry;
use extenso_core::{Value, Variable};
use extenso_graph::ARGUMENTS;
use extenso_types::{Error, Nest, Result, Spec};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::Arc;

/// What all functions of one body have in common.
pub(super) struct Shared {
    pub(super) signature: Signature,
    pub(super) how: How,
}

/// What a function does with its body.
#[derive(Clone)]
pub(super) enum How {
    Call,
    /// The gradient with respect to these parameters, with the value or without.
    Grad {
        wrt: Wrt,
        with_value: bool,
    },
}

impl How {
    /// The function of the module that makes such a function.
    pub(super) fn maker(&self) -> &'static str {
        match self {
            How::Call => "function",
            How::Grad { with_value: false, .. } => "grad",
            How::Grad { with_value: true, .. } => "value_and_grad",
        }
    }
}

/// The positions of arguments: one of them, or a sequence, whose gradients are a tuple.
#[derive(Clone)]
pub(super) enum Wrt {
    One(i64),
    Several(Vec<i64>),
}

impl Wrt {
    /// The positions from the first argument on; negative ones count from behind the last.
    ///
    /// Errors: a position that is no argument; one that is named twice.
    fn positions(&self, arguments: usize) -> Result<Vec<usize>> {
        let argnums = match self {
            Wrt::One(i) => std::slice::from_ref(i),
            Wrt::Several(argnums) => argnums,
        };
        let mut found = Vec::with_capacity(argnums.len());
        for &i in argnums {
            let count = i64::try_from(arguments).unwrap_or(i64::MAX);
            let at = usize::try_from(if i < 0 { i.saturating_add(count) } else { i }).ok().filter(|at| *at < arguments);
            let at = at.ok_or_else(|| {
                let error = Error::index(format!("there is no argument {i}, which `argnums` names"));
                error.wanted(format!("positions from {} to {}", -count, count - 1))
            })?;
            if found.contains(&at) {
                return Err(Error::value(format!("`argnums` names argument {i} twice")).wanted("different positions"));
            }
            found.push(at);
        }
        Ok(found)
    }
}

impl Shared {
    /// The specs of arguments by name, and whether one of them was given as a spec.
    pub(super) fn specs(
        &self,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<(Nest<Spec>, bool)> {
        let bound = self.signature.bind(args, kwargs)?;
        let has_spec = bound.iter().map(|(_, object)| nest::has_spec(object)).collect::<PyResult<Vec<_>>>()?;
        let variables = Variables::default();
        let entry = |(name, object): (Arc<str>, Bound<'_, PyAny>)| Ok((name, nest::py_to_specs(&object, &variables)?));
        let specs = Nest::Record(ARGUMENTS.into(), bound.into_iter().map(entry).collect::<PyResult<_>>()?);
        Ok((specs, has_spec.contains(&true)))
    }

    /// Runs the body on values that may be symbols, and on variables.
    pub(super) fn run(
        &self,
        body: &Bound<'_, PyAny>,
        args: Nest<Value>,
        variables: &[Variable],
    ) -> Result<Nest<Value>> {
        let Nest::Record(_, entries) = &args else { return Err(Error::internal("arguments without names")) };
        match &self.how {
            How::Call => self.call(body, entries, variables),
            How::Grad { wrt, with_value } => self.grad(body, entries, variables, wrt, *with_value),
        }
    }

    fn call(
        &self,
        body: &Bound<'_, PyAny>,
        entries: &[(Arc<str>, Nest<Value>)],
        variables: &[Variable],
    ) -> Result<Nest<Value>> {
        let py = body.py();
        let called = || {
            let (args, kwargs) = self.signature.unbind(py, entries, variables)?;
            py_to_nest(&body.call(args, kwargs.as_ref())?)
        };
        called().or_carry(py)
    }

    /// The positions of the arguments that a gradient is with respect to.
    ///
    /// Errors: a position that is no argument; one that is named twice.
    pub(super) fn named(&self, wrt: &Wrt, entries: &mut [(Arc<str>, Nest<Value>)]) -> Result<Vec<usize>> {
        let arguments = (0..usize::from(u16::MAX)).take_while(|i| self.signature.at(entries, *i).is_some()).count();
        wrt.positions(arguments)
    }

    fn grad(
        &self,
        body: &Bound<'_, PyAny>,
        entries: &[(Arc<str>, Nest<Value>)],
        variables: &[Variable],
        wrt: &Wrt,
        with_value: bool,
    ) -> Result<Nest<Value>> {
        let mut given = entries.to_vec();
        let argnums = self.named(wrt, &mut given)?;
        let chosen = argnums.iter().filter_map(|i| self.signature.at(&mut given, *i).cloned()).collect();
        let with = |chosen: Nest<Value>| {
            let mut entries = entries.to_vec();
            if let Nest::Tuple(items) = chosen {
                for (&i, item) in argnums.iter().zip(items) {
                    if let Some(argument) = self.signature.at(&mut entries, i) {
                        *argument = item;
                    }
                }
            }
            self.call(body, &entries, variables)
        };
        let (value, grads) = extenso_graph::value_and_grad(with, Nest::Tuple(chosen))?;
        let grads = match (wrt, grads) {
            (Wrt::One(_), Nest::Tuple(mut items)) if items.len() == 1 => items.remove(0),
            (_, grads) => grads,
        };
        Ok(if with_value { Nest::Tuple(vec![Nest::Leaf(value), grads]) } else { grads })
    }
}
