//! Where gradients end.

use crate::attrs::AttrSet;
use crate::ext::{Provenance, pack};
use crate::op::{Class, OpDef, OutputSpecs};
use crate::value::{Outputs, Value};
use extenso_types::{LeafSpec, Result};
use smallvec::smallvec;

crate::ops! {
    /// Where gradients end.
    pub static BARRIERS;

    /// `x` as it stands, as if it were no function of anything: its gradient is zero.
    WITHOUT_GRADIENT: without_gradient(x) = OpDef::general(Class::Structural, infer, run)
        .grad(|_| Ok(vec![None]))
        .part()
        .examples(&[("without_gradient([0.5, 1.5])", "[0.5, 1.5]")]);
}

/// The value as it stands, as if it were no function of anything: gradients end here. JAX's name; a composition.
///
/// Any type: its floats have a gradient of zero. Errors: a value that cannot be taken apart.
///
/// ```
/// # use extenso_core::{Tensor, Value, ops};
/// let x = Value::from(Tensor::from_vec(vec![1.5, 2.5]));
/// assert_eq!(ops::stop_gradient(&x).unwrap().to_string(), "[1.5, 2.5]");
/// ```
pub fn stop_gradient(x: &Value) -> Result<Value> {
    let stopped = || {
        let mut leaves = Vec::new();
        x.push_leaves(&mut leaves)?;
        let stopped: Result<Vec<Value>> = leaves.into_iter().map(of_leaf).collect();
        pack(&x.spec()?, &mut stopped?.into_iter(), Provenance::Trusted)
    };
    stopped().map_err(|e| e.at_part("stop_gradient"))
}

fn of_leaf(leaf: Value) -> Result<Value> {
    match &leaf {
        Value::Tensor(tensor) if tensor.dtype().is_float() => without_gradient(leaf),
        Value::Tensor(_) | Value::Partition(_) | Value::Ext(_) => Ok(leaf),
    }
}

fn infer(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    Ok(OutputSpecs::from_iter([args[0].clone()]))
}

fn run(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    Ok(smallvec![args[0].clone()])
}
