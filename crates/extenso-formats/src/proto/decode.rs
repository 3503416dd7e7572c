//! Decoding: messages into columns.
//!
//! Invariant: no call gives columns of rows that differ in number. How a message is read is the reader's (`read`), where it comes from the
//! source's (`frames`), what becomes of a bad one `policy`'s.

use super::compile::compile;
use super::example::{Example, Examples};
use super::frames::{Frame, Messages, damaged};
use super::node::Record;
use super::read::Scratch;
use super::schema::MessageType;
use crate::assemble::{Pieces, assemble};
use crate::columns::{Decoded, Kinds, OnError};
use crate::parts::{self, Start};
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
    /// Whether messages came that the quick reader does not take.
    was_odd: bool,
}

#[derive(Debug)]
enum Root {
    Message(Box<Record>),
    Examples(Examples),
}

#[derive(Debug)]
struct Compiled {
    root: Root,
    kinds: Kinds,
    /// What a whole row of defaults adds to each column.
    defaults: Vec<(ColumnId, usize)>,
}

impl Decoder {
    /// A decoder of messages of this type for this plan.
    ///
    /// Errors: see [`Plan::kinds`]; a plan that is no record; a field that the message does not have, unless it may be missing; one of
    /// another kind, each with its path.
    pub fn new(message: &MessageType, plan: &Plan) -> Result<Decoder> {
        let kinds = Kinds::new(plan.kinds()?);
        Ok(Decoder::of(Compiled {
            root: Root::Message(Box::new(compile(message, plan)?)),
            kinds,
            defaults: fills(plan),
        }))
    }

    /// A decoder of examples for this plan.
    ///
    /// Errors: see [`Plan::kinds`]; a plan that is no record of features that examples hold, with the path.
    pub fn examples(example: Example, plan: &Plan) -> Result<Decoder> {
        let kinds = Kinds::new(plan.kinds()?);
        let root = Root::Examples(Examples::new(plan, example)?);
        Ok(Decoder::of(Compiled { root, kinds, defaults: fills(plan) }))
    }

    fn of(compiled: Compiled) -> Decoder {
        Decoder { plan: Arc::new(compiled), scratch: Scratch::default(), marks: Vec::new(), was_odd: false }
    }

    /// No rows yet.
    pub(crate) fn start(&self) -> Result<Decoded> {
        no_rows(&self.plan.kinds)
    }

    /// Reads messages, one row each.
    ///
    /// Errors: under [`OnError::Raise`], the first bad row's, with row, byte and path; under every policy, lengths that lead outside,
    /// because they hide where the next message starts.
    pub fn messages(&mut self, source: Messages<'_>, on_error: OnError) -> Result<Decoded> {
        self.block(source, Start::default(), on_error)
    }

    /// [`Decoder::messages`] of a part of a source: rows and bytes are counted from `start`.
    ///
    /// Errors: as [`Decoder::messages`].
    pub fn block<'a>(&mut self, source: Messages<'a>, start: Start, on_error: OnError) -> Result<Decoded> {
        let bytes = source.bytes();
        let Some(size) = parts::piece(bytes) else {
            let mut out = self.start()?;
            let frames: Result<Vec<Frame<'a>>> = source.frames(start).collect();
            if frames.is_ok_and(|frames| self.all_quickly(&frames, on_error, &mut out)) {
                return Ok(out);
            }
            for (row, frame) in (start.row..).zip(source.frames(start)) {
                self.record(row, frame?, on_error, &mut out)?;
            }
            return Ok(out);
        };
        let about = Pieces { row: start.row, on_error, count: bytes / size };
        let (mut row, mut frames) = (start.row, source.frames(start).peekable());
        // Who is free looks for the messages of the next piece, while others read theirs.
        let next = |mut piece: Vec<Frame<'a>>| {
            piece.clear();
            let (first, mut room) = (row, size);
            // What fails stands alone: the messages before it are read first.
            while room > 0
                && let Some(frame) = frames.next_if(|frame| frame.is_ok() || piece.is_empty())
            {
                match frame {
                    Ok(frame) => {
                        room = room.saturating_sub(frame.bytes.len().max(1));
                        piece.push(frame);
                    }
                    Err(error) => return Some(Err(error)),
                }
            }
            row += piece.len();
            (!piece.is_empty()).then_some(Ok((first, piece)))
        };
        assemble(about, self, self.start()?, next, |decoder, frames: &Vec<Frame<'a>>, row, out| {
            if decoder.all_quickly(frames, on_error, out) {
                return Ok(());
            }
            (row..).zip(frames).try_for_each(|(row, frame)| decoder.record(row, *frame, on_error, out))
        })
    }

    /// Reads messages that have nothing odd, all of them or none: how long the columns were is noted once.
    ///
    /// After some that were odd it no longer tries.
    fn all_quickly(&mut self, frames: &[Frame<'_>], on_error: OnError, out: &mut Decoded) -> bool {
        let Root::Message(root) = &self.plan.root else { return false };
        // A row that does not hold defaults is noted too.
        if self.was_odd || on_error == OnError::Default {
            return false;
        }
        let records = frames.iter().map(|frame| frame.intact.then_some(frame.bytes));
        self.was_odd = !self.scratch.quickly.all(records, root, &mut out.columns);
        if self.was_odd {
            return false;
        }
        out.rows += frames.len();
        if on_error != OnError::Raise {
            out.starts.extend(frames.iter().map(|frame| frame.start));
        }
        true
    }

    /// Reads messages, the first of which is row `first`; a row without one holds defaults.
    ///
    /// Errors: as [`Decoder::messages`].
    pub(crate) fn texts<'t>(
        &mut self,
        texts: impl Iterator<Item = Option<&'t [u8]>>,
        first: usize,
        on_error: OnError,
        out: &mut Decoded,
    ) -> Result<()> {
        for (row, text) in (first..).zip(texts) {
            match text {
                Some(bytes) => self.record(row, Frame { start: 0, bytes, intact: true }, on_error, out)?,
                None => Policy { on_error, defaults: &self.plan.defaults }.missing(out)?,
            }
        }
        self.plan.kinds.note(&out.columns);
        Ok(())
    }

    fn record(&mut self, row: usize, frame: Frame<'_>, on_error: OnError, out: &mut Decoded) -> Result<()> {
        let Decoder { plan, scratch, marks, .. } = self;
        let policy = Policy { on_error, defaults: &plan.defaults };
        policy.row(row, frame.start, marks, out, |columns| match &plan.root {
            _ if !frame.intact => Err(damaged()),
            Root::Message(root) => scratch.read(frame.bytes, root, columns),
            Root::Examples(maps) => scratch.read_example(frame.bytes, maps, columns),
        })
    }
}
