//! Ops with an effect: variables.

use crate::attrs::{AttrSet, Attrs};
use crate::op::{Class, OpDef, OutputSpecs};
use crate::value::{Outputs, Value};
use crate::variable::Variable;
use extenso_types::{Error, LeafSpec, Result, Spec};
use smallvec::smallvec;

crate::attrs! {
    /// The variable that an op reads or changes.
    pub struct OfVariable { variable: Variable }
}

crate::ops! {
    /// Ops with an effect.
    pub static STATE;

    /// What a variable holds now. In a traced function, what it holds when the function has come here.
    READ_VARIABLE: read_variable(; OfVariable { variable: Variable }) = OpDef::general(Class::Effect, infer_read, run_read).effect();

    /// Replaces what a variable holds and returns it.
    ///
    /// Errors: a dtype or shape that the variable does not allow.
    ASSIGN: assign(x; OfVariable { variable: Variable }) = OpDef::general(Class::Effect, infer_assign, run_assign).effect();
}

fn infer_read(_: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    Ok(smallvec![LeafSpec::Tensor(OfVariable::of(attrs)?.variable.spec().clone())])
}

fn run_read(_: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    Ok(smallvec![Value::Tensor(OfVariable::of(attrs)?.variable.value()?)])
}

fn infer_assign(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let variable = &OfVariable::of(attrs)?.variable;
    let given = args.first().ok_or_else(|| Error::value("argument 1 is missing"))?.tensor()?;
    if !Spec::Tensor(given.clone()).is_compatible_with(&Spec::Tensor(variable.spec().clone())) {
        return Err(Error::dtype(format!("variable '{}' is given {given}", variable.name()))
            .wanted(variable.spec().to_string()));
    }
    Ok(smallvec![LeafSpec::Tensor(variable.spec().clone())])
}

fn run_assign(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let value = args[0].tensor()?.clone();
    OfVariable::of(attrs)?.variable.set(value.clone())?;
    Ok(smallvec![Value::Tensor(value)])
}
