//! Pieces of a source, decoded side by side into columns that are put end to end.
//!
//! A piece is small enough for what is made of it to stay in a core's cache until it is put behind the others, in memory that was
//! asked for once; each thread decodes into the same room again and again.
//!
//! Invariant: what comes out is what one thread would have read from the start to the end, row numbers in errors included.

use crate::columns::{Decoded, MAX_REPORTED, OnError};
use extenso_core::in_order;
use extenso_types::Result;
use std::mem;
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is known of all pieces before they are read.
#[derive(Clone, Copy, Debug)]
pub struct Pieces {
    /// The number of the first row.
    pub row: usize,
    /// What becomes of a row that does not fit.
    pub on_error: OnError,
    /// How many pieces there are, about.
    pub count: usize,
}

/// Decodes the pieces that `next` gives.
///
/// `next` is given a piece that is no longer needed, for its room, and says which row the piece seems to begin with. Where that is not
/// the row, because the rows before it were not counted, what names rows is made again. `read` adds the rows of a piece, of which
/// the first has the number that it is given.
///
/// Errors: the first of `next` and `read`; those of [`Decoded::append`].
pub fn assemble<W: Clone + Send + Sync, P: Default + Send>(
    about: Pieces,
    worker: &W,
    no_rows: Decoded,
    mut next: impl FnMut(P) -> Option<Result<(usize, P)>> + Send,
    read: impl Fn(&mut W, &P, usize, &mut Decoded) -> Result<()> + Sync,
) -> Result<Decoded> {
    let (empty, mut all, mut failed) = (no_rows.clone(), no_rows, None);
    let spare: Mutex<Vec<Desk<W, P>>> = Mutex::new(Vec::new());
    let take = || {
        let desk = locked(&spare).pop();
        let mut desk = desk.unwrap_or_else(|| Desk {
            worker: worker.clone(),
            piece: P::default(),
            row: 0,
            rows: empty.clone(),
            came: Ok(()),
            done: Ok(()),
        });
        match next(mem::take(&mut desk.piece))? {
            Ok((row, piece)) => (desk.row, desk.piece) = (row, piece),
            Err(error) => desk.came = Err(error),
        }
        Some(desk)
    };
    let decode = |mut desk: Desk<W, P>| {
        if desk.came.is_ok() {
            desk.done = read(&mut desk.worker, &desk.piece, desk.row, &mut desk.rows);
        }
        desk
    };
    let put = |mut desk: Desk<W, P>| {
        let skipped = if about.on_error == OnError::Skip { all.bad.count() } else { 0 };
        match desk.put_behind(about.row + all.rows + skipped, about.count, &read, &mut all) {
            Ok(()) => {
                desk.rows.clear();
                locked(&spare).push(desk);
                ControlFlow::Continue(())
            }
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        }
    };
    in_order(take, decode, put);
    failed.map_or(Ok(all), Err)
}

/// What one thread decodes a piece with, and into.
struct Desk<W, P> {
    worker: W,
    piece: P,
    /// The number of the first row of the piece, as far as it was known.
    row: usize,
    rows: Decoded,
    /// Whether the source gave the piece.
    came: Result<()>,
    /// Whether it was read.
    done: Result<()>,
}

impl<W, P> Desk<W, P> {
    /// Puts the rows of the piece, which begins with this row, behind all others.
    fn put_behind(
        &mut self,
        row: usize,
        count: usize,
        read: impl Fn(&mut W, &P, usize, &mut Decoded) -> Result<()>,
        all: &mut Decoded,
    ) -> Result<()> {
        // There is nothing to be read again of a piece that the source did not give.
        mem::replace(&mut self.came, Ok(()))?;
        let done = mem::replace(&mut self.done, Ok(()));
        if row == self.row || done.is_ok() && self.rows.bad.is_empty() {
            done?;
        } else if done.is_ok() && all.bad.first.len() >= MAX_REPORTED {
            // What is only listed has a number and no text.
            self.rows.bad.rows.iter_mut().for_each(|bad| *bad += row - self.row);
        } else {
            self.rows.clear();
            read(&mut self.worker, &self.piece, row, &mut self.rows)?;
        }
        if all.rows == 0 {
            // A little more, as no two pieces are alike.
            all.reserve(&self.rows, count + count / 16);
        }
        all.append(&self.rows)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
