//! Inverses: what an op makes of the result of another may be what that was made of.
//!
//! Invariant: the value is the same bit for bit, and of the same spec; the ops that are passed over cannot fail where theirs does not.

use super::Rewriter;
use crate::graph::{Node, NodeKind, ValueRef};
use extenso_core::OpDef;
use extenso_core::attrs::{AttrSet, Attrs};
use extenso_core::ops::{self, OneAxis, Squeeze};
use extenso_core::reduce::normalize_axis;
use extenso_types::LeafSpec;

/// The value that an op on these values, of an arena that is being built, gives back as it was; none if it makes another.
pub(crate) fn undone(node: &Node, inputs: &[ValueRef], made: &Rewriter) -> Option<ValueRef> {
    let NodeKind::Op(op, attrs) = &node.kind else { return None };
    let back = match inputs {
        [rows] if is(op, &ops::ROW_LENGTHS) => made_of(made, *rows, &ops::PARTITION_FROM_LENGTHS)?.1,
        [wide] if is(op, &ops::SQUEEZE) => {
            let (added, back) = made_of(made, *wide, &ops::EXPAND_DIMS)?;
            let rank = made.spec(*wide)?.tensor().ok()?.shape.rank()?;
            let [dropped] = Squeeze::of(&**attrs).ok()?.axis[..] else { return None };
            let place = |axis: i64| normalize_axis(axis, rank).ok();
            if place(OneAxis::of(added).ok()?.axis)? != place(dropped)? {
                return None;
            }
            back
        }
        _ => return None,
    };
    (made.spec(back)? == node.outputs.first()?).then_some(back)
}

fn is(op: &OpDef, other: &'static OpDef) -> bool {
    std::ptr::eq(op, other)
}

/// The attributes of the op that a value is the result of, and its first argument, if it is this op.
fn made_of<'a>(made: &'a Rewriter, at: ValueRef, op: &'static OpDef) -> Option<(&'a dyn AttrSet, ValueRef)> {
    let node = made.nodes.get(at.node as usize)?;
    match &node.kind {
        NodeKind::Op(by, attrs) if is(by, op) => Some((&**attrs, *node.inputs.first()?)),
        _ => None,
    }
}

impl Rewriter {
    fn spec(&self, at: ValueRef) -> Option<&LeafSpec> {
        self.nodes.get(at.node as usize)?.outputs.get(at.output as usize)
    }
}
