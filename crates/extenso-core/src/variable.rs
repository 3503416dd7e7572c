//! Variables: named tensors that change.
//!
//! Invariant: the dtype and rank of what a variable holds never change, nor do sizes that its spec knows.
//! Reading and assigning are ops with an effect; see `ops::state`.

use crate::tensor::Tensor;
use extenso_types::{Error, Result, Spec, TensorSpec};
use std::fmt;
use std::sync::{Arc, RwLock};

/// A variable; clones are the same variable.
#[derive(Clone)]
pub struct Variable(Arc<Inner>);

struct Inner {
    name: String,
    spec: TensorSpec,
    value: RwLock<Tensor>,
}

impl Variable {
    /// A variable that holds `initial`; its shape is fixed.
    ///
    /// Errors: `initial` is a symbol.
    pub fn new(name: impl Into<String>, initial: Tensor) -> Result<Variable> {
        initial.data()?;
        let spec = initial.spec();
        Ok(Variable(Arc::new(Inner { name: name.into(), spec, value: RwLock::new(initial) })))
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
    pub fn value(&self) -> Tensor {
        self.0.value.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    /// Replaces what it holds.
    ///
    /// Errors: a value that the spec does not allow.
    pub fn set(&self, value: Tensor) -> Result<()> {
        value.data()?;
        let (given, wanted) = (Spec::Tensor(value.spec()), Spec::Tensor(self.0.spec.clone()));
        if !given.is_subtype_of(&wanted) {
            return Err(Error::dtype(format!("variable '{}' is given {given}", self.0.name)).wanted(wanted.to_string()));
        }
        *self.0.value.write().unwrap_or_else(std::sync::PoisonError::into_inner) = value;
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
