//! A function over the blocks of a source, into a sink.
//!
//! Invariant: at most three blocks are held: one that is decoded, one that waits, one that the function runs on.

use super::{Block, Blocks, Sink};
use crate::columns::{BadRow, BadRows, MAX_REPORTED};
use crate::run::run_leaves;
use extenso_graph::Concrete;
use extenso_types::{Error, Result};
use std::sync::mpsc::sync_channel;
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;

/// What a run over blocks has done so far.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Progress {
    /// Rows read, bad ones included.
    pub rows: usize,
    /// Bytes read of the source.
    pub bytes: usize,
    /// How many rows did not fit.
    pub bad: usize,
    /// What is wrong with the first of them.
    pub first: Vec<BadRow>,
}

/// Is told after each block what has been done, and which rows of the block did not fit.
pub type Watch<'a> = dyn FnMut(&Progress, &BadRows) -> Result<()> + 'a;

/// Runs a function on the blocks of a source and writes its results into a sink, while the next block is decoded on another thread.
///
/// The function is called once for each block, on the rows that it has. `watch` is told after each block what has been done, and which rows of the block did not fit; an error
/// of it ends the run.
///
/// Errors: those of the source, of the ops, of the sink and of `watch`.
pub fn run_blocks(
    function: &Concrete,
    source: Box<dyn Blocks + '_>,
    sink: Box<dyn Sink + '_>,
    watch: &mut Watch<'_>,
) -> Result<Progress> {
    run_beside(Builder::new(), function, source, sink, watch)
}

/// As [`run_blocks`], with this thread for the source. Where the system gives no thread, blocks are decoded between the calls.
pub(super) fn run_beside(
    thread: Builder,
    function: &Concrete,
    source: Box<dyn Blocks + '_>,
    sink: Box<dyn Sink + '_>,
    watch: &mut Watch<'_>,
) -> Result<Progress> {
    let (send, receive) = sync_channel::<Result<Block>>(1);
    // A thread that is not given takes nothing: the source is here then.
    let source = Mutex::new(Some(source));
    let taken = &|| source.lock().unwrap_or_else(PoisonError::into_inner).take();
    std::thread::scope(|threads| {
        let decode = move || {
            let mut blocks = taken().into_iter().flat_map(blocks_of);
            // The receiver is gone when the function or the sink failed.
            while blocks.next().is_some_and(|block| send.send(block).is_ok()) {}
        };
        match thread.spawn_scoped(threads, decode) {
            Ok(_) => run_each(function, receive, sink, watch),
            Err(_) => run_each(function, taken().into_iter().flat_map(blocks_of), sink, watch),
        }
    })
}

/// The blocks of a source, to its end or the first that failed.
fn blocks_of<'a>(mut source: Box<dyn Blocks + 'a>) -> impl Iterator<Item = Result<Block>> + 'a {
    let mut failed = false;
    std::iter::from_fn(move || {
        let block = if failed { None } else { source.next().transpose() };
        failed |= matches!(block, Some(Err(_)));
        block
    })
}

/// Runs a function on blocks, and writes its results.
fn run_each(
    function: &Concrete,
    blocks: impl IntoIterator<Item = Result<Block>>,
    mut sink: Box<dyn Sink + '_>,
    watch: &mut Watch<'_>,
) -> Result<Progress> {
    let mut done = Progress::default();
    for block in blocks {
        let Block { leaves, rows, bytes, bad } = block?;
        // What the function says of rows, it counts in what it was given.
        let from = |e: Error| {
            if done.rows == 0 { e } else { e.note(format!("Its rows are counted from row {} on.", done.rows)) }
        };
        sink.write(&run_leaves(function, &leaves).map_err(from)?)?;
        drop(leaves);
        let bytes = usize::try_from(bytes).map_err(|_| Error::internal("more bytes than there are addresses"))?;
        let room = MAX_REPORTED - done.first.len();
        done.first.extend(bad.first.iter().take(room).cloned());
        done = Progress { rows, bytes, bad: done.bad + bad.count(), first: done.first };
        watch(&done, &bad)?;
    }
    sink.finish()?;
    Ok(done)
}
