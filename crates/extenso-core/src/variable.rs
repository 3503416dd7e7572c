//! Variables: named tensors that change.
//!
//! Invariant: the dtype and rank of what a variable holds never change, nor do sizes that its spec knows.
//! Reading and assigning are ops with an effect; see `ops::state`.
//!
//! A function that takes variables is traced with stand-ins, which hold nothing: [`with_variables`] says what they stand for
//! while the function runs.

use crate::tensor::Tensor;
use extenso_types::{Error, Result, Spec, TensorSpec};
use std::cell::RefCell;
use std::fmt;
use std::sync::{Arc, RwLock};

/// A variable; clones are the same variable.
#[derive(Clone)]
pub struct Variable(Arc<Inner>);

struct Inner {
    name: String,
    spec: TensorSpec,
    /// None for a stand-in.
    value: Option<RwLock<Tensor>>,
}

thread_local! {
    /// Stand-ins and what they stand for, innermost last.
    static GIVEN: RefCell<Vec<(Variable, Variable)>> = const { RefCell::new(Vec::new()) };
}

/// Runs `f` while each stand-in stands for the variable beside it.
pub fn with_variables<R>(pairs: &[(Variable, Variable)], f: impl FnOnce() -> R) -> R {
    struct Leave(usize);
    impl Drop for Leave {
        fn drop(&mut self) {
            GIVEN.with_borrow_mut(|given| given.truncate(self.0));
        }
    }
    // What is given is looked up before, because a stand-in of the caller may be given in its turn.
    let pairs: Vec<_> = pairs.iter().map(|(stand_in, variable)| (stand_in.clone(), variable.resolved())).collect();
    let _leave = GIVEN.with_borrow_mut(|given| {
        let leave = Leave(given.len());
        given.extend(pairs);
        leave
    });
    f()
}

impl Variable {
    /// A variable that holds `initial`; its shape is fixed.
    ///
    /// Errors: `initial` is a symbol.
    pub fn new(name: impl Into<String>, initial: Tensor) -> Result<Variable> {
        initial.data()?;
        let spec = initial.spec();
        Ok(Variable(Arc::new(Inner { name: name.into(), spec, value: Some(RwLock::new(initial)) })))
    }

    /// A variable that stands for one of this spec that is an argument of a function.
    pub fn stand_in(name: impl Into<String>, spec: TensorSpec) -> Variable {
        Variable(Arc::new(Inner { name: name.into(), spec, value: None }))
    }

    /// What a stand-in stands for at present; any other variable is itself.
    fn resolved(&self) -> Variable {
        if self.0.value.is_some() {
            return self.clone();
        }
        let given = GIVEN.with_borrow(|given| given.iter().rev().find(|(s, _)| s.same(self)).map(|(_, v)| v.clone()));
        given.unwrap_or_else(|| self.clone())
    }

    /// The name, as files and messages show it.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The spec of what it may hold.
    pub fn spec(&self) -> &TensorSpec {
        &self.0.spec
    }

    /// What it holds now.
    ///
    /// Errors: a stand-in outside a call of its function.
    pub fn value(&self) -> Result<Tensor> {
        let variable = self.resolved();
        let held = variable.0.value.as_ref().ok_or_else(|| self.holds_nothing())?;
        Ok(held.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone())
    }

    fn holds_nothing(&self) -> Error {
        Error::scope(format!(
            "variable '{}' is an argument of a function and holds nothing outside a call",
            self.0.name
        ))
        .hint("Use it inside the function, or let the function use a variable from outside it.")
    }

    /// Replaces what it holds.
    ///
    /// Errors: a value that the spec does not allow; a stand-in outside a call of its function.
    pub fn set(&self, value: Tensor) -> Result<()> {
        value.data()?;
        let (given, wanted) = (Spec::Tensor(value.spec()), Spec::Tensor(self.0.spec.clone()));
        if !given.is_subtype_of(&wanted) {
            return Err(Error::dtype(format!("variable '{}' is given {given}", self.0.name)).wanted(wanted.to_string()));
        }
        let variable = self.resolved();
        let held = variable.0.value.as_ref().ok_or_else(|| self.holds_nothing())?;
        *held.write().unwrap_or_else(std::sync::PoisonError::into_inner) = value;
        Ok(())
    }

    /// Whether both are the same variable.
    pub fn same(&self, other: &Variable) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Variable({}, {})", self.0.name, self.0.spec)
    }
}
