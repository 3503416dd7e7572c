//! Decoding: messages into columns.
//!
//! Invariant: no call gives columns of rows that differ in number. How a message is read is the reader's (`read`), where it comes from the
//! source's (`frames`), what becomes of a bad one `policy`'s.

use super::example::{Example, Examples};
use super::frames::{Messages, damaged};
use super::node::{Record, compile};
use super::read::Scratch;
use super::schema::MessageType;
use crate::columns::{ColumnKind, Decoded, OnError};
use crate::plan::{ColumnId, Plan, fills};
use crate::policy::{Policy, no_rows};
use extenso_types::Result;
use std::sync::Arc;

/// Reads serialized messages of one type into the columns of one plan.
///
/// Cloning is cheap; each thread that decodes wants its own, because a decoder keeps buffers between calls.
#[derive(Clone, Debug)]
pub struct Decoder {
    plan: Arc<Compiled>,
    scratch: Scratch,
    marks: Vec<usize>,
}

#[derive(Debug)]
enum Root {
    Message(Record),
    Examples(Examples),
}

#[derive(Debug)]
struct Compiled {
    root: Root,
    kinds: Vec<ColumnKind>,
    /// What a whole row of defaults adds to each column.
    defaults: Vec<(ColumnId, usize)>,
}

impl Decoder {
    /// A decoder of messages of this type for this plan.
    ///
    /// Errors: see [`Plan::kinds`]; a plan that is no record; a field that the message does not have, unless it may be missing; one of
    /// another kind, each with its path.
    pub fn new(message: &MessageType, plan: &Plan) -> Result<Decoder> {
        let kinds = plan.kinds()?;
        Ok(Decoder::of(Compiled { root: Root::Message(compile(&message.0, plan)?), kinds, defaults: fills(plan) }))
    }

    /// A decoder of examples for this plan.
    ///
    /// Errors: see [`Plan::kinds`]; a plan that is no record of features that examples hold, with the path.
    pub fn examples(example: Example, plan: &Plan) -> Result<Decoder> {
        let kinds = plan.kinds()?;
        let root = Root::Examples(Examples::new(plan, example)?);
        Ok(Decoder::of(Compiled { root, kinds, defaults: fills(plan) }))
    }

    fn of(compiled: Compiled) -> Decoder {
        Decoder { plan: Arc::new(compiled), scratch: Scratch::default(), marks: Vec::new() }
    }

    /// Reads messages, one row each.
    ///
    /// Errors: under [`OnError::Raise`], the first bad row's, with row, byte and path; under every policy, lengths that lead outside,
    /// because they hide where the next message starts.
    pub fn messages(&mut self, source: Messages<'_>, on_error: OnError) -> Result<Decoded> {
        let Decoder { plan, scratch, marks } = self;
        let policy = Policy { on_error, defaults: &plan.defaults };
        let mut out = no_rows(&plan.kinds)?;
        source.try_each(|row, frame| {
            policy.row(row, frame.start, marks, &mut out, |columns| match &plan.root {
                _ if !frame.intact => Err(damaged()),
                Root::Message(root) => scratch.read(frame.bytes, root, columns),
                Root::Examples(maps) => scratch.read_example(frame.bytes, maps, columns),
            })
        })?;
        Ok(out)
    }
}
