//! Gradient rules: what an op's declaration says of its derivative.
//!
//! A rule is ordinary code over ops; given symbols it appends nodes, so that gradients are graphs and have gradients.
//! Reverse accumulation over a graph is known to `extenso-graph`.

use crate::attrs::{AttrSet, Attrs};
use crate::ops;
use crate::value::{Arg, Value};
use extenso_types::{Error, Result};

/// A gradient rule: for each argument, the gradient of the loss with respect to it, or none.
pub type GradFn = fn(&GradCx<'_>) -> Result<Vec<Option<Value>>>;

/// What a gradient rule sees.
pub struct GradCx<'a> {
    /// The arguments of the op.
    pub args: &'a [Value],
    /// Its outputs.
    pub outputs: &'a [Value],
    /// The gradients of the loss with respect to the outputs; none where nothing depends on one.
    pub grads: &'a [Option<Value>],
    /// The attributes.
    pub attrs: &'a dyn AttrSet,
}

impl GradCx<'_> {
    /// The gradient with respect to the only output.
    pub fn g(&self) -> &Value {
        match self.grads.first() {
            Some(Some(g)) => g,
            // A rule is asked only if something depends on an output.
            _ => &self.outputs[0],
        }
    }

    /// The only output.
    pub fn y(&self) -> &Value {
        &self.outputs[0]
    }

    /// The gradient times the slope of the op; zero where the gradient is, whatever the slope.
    ///
    /// Errors: shapes that do not broadcast.
    pub fn times(&self, slope: impl Into<Arg>) -> Result<Value> {
        self.where_reached(ops::multiply(self.g(), slope)?)
    }

    /// The gradient divided by what the slope is one over; zero where the gradient is, even if it is divided by zero.
    ///
    /// Errors: shapes that do not broadcast.
    pub fn over(&self, by: impl Into<Arg>) -> Result<Value> {
        self.where_reached(ops::divide(self.g(), by)?)
    }

    /// This gradient of an argument, and zero for NaN where the gradient with respect to the output is zero: what an infinite slope gives
    /// where nothing depends on the output.
    ///
    /// Errors: shapes that do not broadcast.
    pub fn where_reached(&self, dx: Value) -> Result<Value> {
        ops::zero_for_nan(dx, self.g())
    }

    /// The attributes, typed.
    ///
    /// Errors: they belong to another op.
    pub fn attrs<A: Attrs>(&self) -> Result<&A> {
        A::of(self.attrs)
    }
}

/// Gives `g` the shape of `x` by summing over the axes along which `x` was broadcast.
///
/// Errors: the shapes are not of one broadcast.
pub fn unbroadcast(g: Value, x: &Value) -> Result<Value> {
    if g.tensor()?.shape() == x.tensor()?.shape() && x.tensor()?.shape().rank().is_some() {
        return Ok(g);
    }
    ops::sum_like(g, x)
}

/// The gradients of a unary op.
pub fn one(dx: Result<Value>) -> Result<Vec<Option<Value>>> {
    Ok(vec![Some(dx?)])
}

/// The gradients of a binary op, each unbroadcast to its argument.
pub fn two(cx: &GradCx<'_>, dx: Result<Value>, dy: Result<Value>) -> Result<Vec<Option<Value>>> {
    let [x, y] = cx.args else { return Err(Error::internal("a binary op with other than two arguments")) };
    Ok(vec![Some(unbroadcast(dx?, x)?), Some(unbroadcast(dy?, y)?)])
}
