//! Plans made ready for reading.
//!
//! Invariant: what nobody needs is one node, whatever the plan says inside it; fields can be searched.

use super::fields::Fields;
use crate::plan::{ColumnId, Plan, fills};
use extenso_types::DType;

/// A plan made ready for reading: what nobody needs has become one node.
#[derive(Debug)]
pub enum Node {
    Skip,
    Scalar(ColumnId),
    String(ColumnId),
    Bytes(ColumnId),
    Optional { validity: Option<ColumnId>, defaults: Vec<(ColumnId, usize)>, inner: Box<Node> },
    List { offsets: Option<ColumnId>, item: Box<Node> },
    Fixed { size: usize, item: Box<Node> },
    Record(Fields<Node>),
}

impl Node {
    /// Makes a checked plan ready.
    pub fn compile(plan: &Plan) -> Node {
        if plan.is_unused() {
            return Node::Skip;
        }
        match plan {
            Plan::Skip => Node::Skip,
            Plan::Scalar { column, .. } => Node::Scalar(*column),
            Plan::Text { dtype: DType::String, column, .. } => Node::String(*column),
            Plan::Text { column, .. } => Node::Bytes(*column),
            Plan::Optional { validity, inner } => {
                Node::Optional { validity: *validity, defaults: fills(inner), inner: Box::new(Node::compile(inner)) }
            }
            Plan::List { offsets, item, .. } => Node::List { offsets: *offsets, item: Box::new(Node::compile(item)) },
            Plan::Fixed { size, item } => Node::Fixed { size: *size, item: Box::new(Node::compile(item)) },
            Plan::Record { fields } => {
                Node::Record(Fields::new(fields.iter().map(|f| (f.name.clone(), Node::compile(&f.plan))).collect()))
            }
        }
    }
}
