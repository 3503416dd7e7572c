//! Assembling a tensor from runs of elements of other tensors: the one routine behind concat, take, repeat and the like.

use crate::kernels::pool::{Block, affordable};
use crate::tensor::{Dense, Storage, Tensor, element_count, join_text};
use crate::value::Value;
use arrow_buffer::BooleanBufferBuilder;
use extenso_types::{DType, Dims, Error, Result};

/// Consecutive elements of one source.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Which source, or none for zeros (empty strings, false).
    pub source: Option<usize>,
    /// The first element.
    pub start: usize,
    /// How many.
    pub len: usize,
}

/// A tensor of `dims` whose elements are the runs, one after the other. The runs have as many elements as `dims` say.
///
/// Errors: more elements than memory holds; variants have no zero to stand for elements without a source.
pub fn assemble(dtype: DType, dims: Dims, sources: &[&Dense], runs: impl Iterator<Item = Run>) -> Result<Tensor> {
    let count = element_count(&dims)?;
    // Where an axis is empty, there may still be more runs of nothing than anyone has time for.
    let runs = runs.take(if count == 0 { 0 } else { usize::MAX });
    // An element of text takes an offset, a boxed one more.
    affordable(count.saturating_mul(dtype.width().unwrap_or(8)))?;
    let storage = match dtype {
        DType::Bool => bits(count, sources, runs)?,
        DType::String | DType::Bytes => text(sources, runs)?,
        DType::Variant => boxed(sources, runs)?,
        _ => fixed(dtype.width().unwrap_or(1), count, sources, runs)?,
    };
    Ok(Tensor::from_dense(dtype, dims, storage))
}

fn fixed(width: usize, count: usize, sources: &[&Dense], runs: impl Iterator<Item = Run>) -> Result<Storage> {
    let mut block = Block::new(count * width);
    let mut out = block.bytes_mut();
    let buffers: Result<Vec<&[u8]>> = sources.iter().map(|s| Ok(s.fixed()?.as_slice())).collect();
    let buffers = buffers?;
    for run in runs {
        let (head, tail) = out.split_at_mut(run.len * width);
        match run.source {
            Some(s) => head.copy_from_slice(&buffers[s][run.start * width..(run.start + run.len) * width]),
            None => head.fill(0),
        }
        out = tail;
    }
    Ok(Storage::Fixed(block.freeze()))
}

fn bits(count: usize, sources: &[&Dense], runs: impl Iterator<Item = Run>) -> Result<Storage> {
    let mut out = BooleanBufferBuilder::new(count);
    for run in runs {
        match run.source {
            Some(s) => out.append_buffer(&sources[s].bits()?.slice(run.start, run.len)),
            None => out.append_n(run.len, false),
        }
    }
    Ok(Storage::Bits(out.finish()))
}

fn text(sources: &[&Dense], runs: impl Iterator<Item = Run>) -> Result<Storage> {
    let mut items: Vec<&[u8]> = Vec::new();
    for run in runs {
        for i in run.start..run.start + run.len {
            items.push(match run.source {
                Some(s) => sources[s].text_at(i)?,
                None => &[],
            });
        }
    }
    let (offsets, bytes) = join_text(items.into_iter());
    Ok(Storage::Text { offsets, bytes })
}

fn boxed(sources: &[&Dense], runs: impl Iterator<Item = Run>) -> Result<Storage> {
    let mut items: Vec<Value> = Vec::new();
    for run in runs.filter(|run| run.len > 0) {
        let source = run.source.ok_or_else(|| Error::value("a variant has no zero to stand for a missing element"))?;
        items.extend_from_slice(&sources[source].boxed()?[run.start..run.start + run.len]);
    }
    Ok(Storage::Boxed(items.into()))
}
