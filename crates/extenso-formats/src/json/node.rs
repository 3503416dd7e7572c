//! Plans made ready for reading.
//!
//! Invariant: what nobody needs is one node, whatever the plan says inside it; fields can be searched.

use super::fields::Fields;
use crate::plan::{ColumnId, Field, Plan, fills};
use extenso_ext::Spelling;
use extenso_types::{DType, Error, Result};

/// A plan made ready for reading: what nobody needs has become one node.
#[derive(Debug)]
pub enum Node {
    Skip,
    Scalar(ColumnId),
    Spelled(Spelling, ColumnId),
    String(ColumnId),
    Bytes(ColumnId),
    Optional { validity: Option<ColumnId>, defaults: Vec<(ColumnId, usize)>, inner: Box<Node> },
    List { offsets: Option<ColumnId>, item: Box<Node> },
    Fixed { size: usize, item: Box<Node> },
    Record(Fields<Node>),
}

impl Node {
    /// Makes a checked plan ready.
    ///
    /// Errors: a union, because a value of JSON does not say of which type it is.
    pub fn compile(plan: &Plan) -> Result<Node> {
        if plan.is_unused() {
            return Ok(Node::Skip);
        }
        let boxed = |plan: &Plan| Node::compile(plan).map(Box::new);
        Ok(match plan {
            Plan::Skip => Node::Skip,
            Plan::Scalar { column, .. } => Node::Scalar(*column),
            Plan::Spelled { spelling, column } => Node::Spelled(spelling.clone(), *column),
            Plan::Text { dtype: DType::String, column, .. } => Node::String(*column),
            Plan::Text { column, .. } => Node::Bytes(*column),
            Plan::Optional { validity, inner } => {
                Node::Optional { validity: *validity, defaults: fills(inner), inner: boxed(inner)? }
            }
            Plan::List { offsets, item, .. } => Node::List { offsets: *offsets, item: boxed(item)? },
            Plan::Fixed { size, item } => Node::Fixed { size: *size, item: boxed(item)? },
            Plan::Union { .. } => {
                let error = Error::dtype("a union is read, and a value of JSON does not say of which type it is");
                return Err(error.wanted("one type").hint("Messages in their JSON form are read by their descriptor"));
            }
            Plan::Record { fields } => {
                let field = |f: &Field| {
                    Ok((f.name.clone(), Node::compile(&f.plan).map_err(|e| e.at(format!("'{}'", f.name)))?))
                };
                Node::Record(Fields::new(fields.iter().map(field).collect::<Result<_>>()?))
            }
        })
    }
}
