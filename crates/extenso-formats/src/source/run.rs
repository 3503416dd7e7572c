//! A function over the blocks of a source, into a sink.
//!
//! Invariant: at most three blocks are held: one that is decoded, one that waits, one that the function runs on.

use super::{Block, Blocks, Sink};
use crate::columns::{BadRow, BadRows, MAX_REPORTED};
use crate::run::run_leaves;
use extenso_graph::Concrete;
use extenso_types::{Error, Result};
use std::sync::mpsc::sync_channel;

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
    mut source: Box<dyn Blocks + '_>,
    mut sink: Box<dyn Sink + '_>,
    watch: &mut Watch<'_>,
) -> Result<Progress> {
    let (send, receive) = sync_channel::<Result<Block>>(1);
    std::thread::scope(|threads| {
        threads.spawn(move || {
            // The receiver is gone when the function or the sink failed.
            while let Some(block) = source.next().transpose() {
                let ended = block.is_err();
                if send.send(block).is_err() || ended {
                    break;
                }
            }
        });
        let mut done = Progress::default();
        for block in receive {
            let Block { leaves, rows, bytes, bad } = block?;
            sink.write(&run_leaves(function, &leaves)?)?;
            drop(leaves);
            let bytes = usize::try_from(bytes).map_err(|_| Error::internal("more bytes than there are addresses"))?;
            let room = MAX_REPORTED - done.first.len();
            done.first.extend(bad.first.iter().take(room).cloned());
            done = Progress { rows, bytes, bad: done.bad + bad.count(), first: done.first };
            watch(&done, &bad)?;
        }
        sink.finish()?;
        Ok(done)
    })
}
