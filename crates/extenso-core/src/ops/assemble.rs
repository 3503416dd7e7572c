//! Assembling a tensor from runs of elements of other tensors: the one routine behind concat, take, repeat and the like.

use crate::kernels::gather;
use crate::kernels::pool::{Block, Growing, affordable};
use crate::kernels::stream::{FAR, past_caches};
use crate::offsets::{Offsets, with_offsets};
use crate::tensor::{Dense, Elements, Storage, Tensor, bits_in_runs, element_count, in_bytes};
use crate::threads::{pieces, side_by_side, split_at_lengths};
use crate::value::Value;
use arrow_buffer::{Buffer, ScalarBuffer};
use extenso_types::{DType, Dims, Error, Result};
use smallvec::SmallVec;

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
        DType::String | DType::Bytes => text(count, sources, runs)?,
        DType::Variant => boxed(sources, runs)?,
        _ => fixed(dtype.width().unwrap_or(1), count, sources, runs)?,
    };
    Ok(Tensor::from_dense(dtype, dims, storage))
}

/// Runs of so many bytes are copied together with what lies behind them.
const SHORT: usize = 32;

fn fixed(width: usize, count: usize, sources: &[&Dense], runs: impl Iterator<Item = Run>) -> Result<Storage> {
    let mut block = Block::new(count * width);
    let out = block.bytes_mut();
    let mut buffers: SmallVec<[&[u8]; 16]> = SmallVec::new();
    for source in sources {
        buffers.push(source.fixed()?.as_slice());
    }
    let mut at = 0;
    for run in runs {
        let (from, len) = (run.start * width, run.len * width);
        match run.source {
            Some(s) if len <= SHORT => gather::copy_short(buffers[s], from, len, out, at),
            Some(s) => copy(&buffers[s][from..from + len], &mut out[at..at + len]),
            None => out[at..at + len].fill(0),
        }
        at += len;
    }
    Ok(Storage::Fixed(block.elements()))
}

fn bits(count: usize, sources: &[&Dense], runs: impl Iterator<Item = Run>) -> Result<Storage> {
    let sources = sources.iter().map(|source| source.bits()).collect::<Result<Vec<_>>>()?;
    let bits = bits_in_runs(count, |out| {
        for Run { source, start, len } in runs {
            match source {
                Some(s) => out.copy(sources[s].values(), sources[s].offset() + start, len),
                None => out.fill(false, len),
            }
        }
    });
    bits.map(Storage::Bits)
}

/// So many bits are moved together faster than as bytes.
pub(super) const LONG_BITS: usize = 64;

/// A tensor whose rows are rows of each source, of so many elements, beside each other.
pub(super) fn beside(dtype: DType, dims: Dims, sources: &[&Dense], lens: &[usize]) -> Result<Tensor> {
    if dtype == DType::Bool && lens.iter().any(|len| *len < LONG_BITS) {
        return in_bytes(sources, |bytes| beside(DType::U8, dims, bytes, lens));
    }
    if dtype.width().is_none() {
        let rows = element_count(&dims)? / lens.iter().sum::<usize>().max(1);
        let of_row =
            |o: usize| lens.iter().enumerate().map(move |(s, &len)| Run { source: Some(s), start: o * len, len });
        return assemble(dtype, dims, sources, (0..rows).flat_map(of_row));
    }
    /// Rows of a block, which stays in the cache while every source writes to it, have so many bytes.
    const NEAR: usize = 1 << 14;
    let width = dtype.width().unwrap_or(1);
    let parts: Result<Vec<(&[u8], usize)>> =
        sources.iter().zip(lens).map(|(s, len)| Ok((s.fixed()?.as_slice(), len * width))).collect();
    let parts = parts?;
    let (count, row) = (element_count(&dims)?, lens.iter().sum::<usize>() * width);
    affordable(count.saturating_mul(width))?;
    let mut block = Block::new(count * width);
    let rows = count * width / row.max(1);
    let per_block = (NEAR / row.max(1)).max(1);
    let write = |(first, out): (usize, &mut [u8])| {
        if parts.iter().all(|(_, len)| *len == width) {
            let n = out.len() / row.max(1);
            let of_rows = parts.iter().map(|(bytes, _)| &bytes[first * width..(first + n) * width]);
            if gather::interleave(&of_rows.collect::<SmallVec<[&[u8]; 4]>>(), width, out) {
                return;
            }
        }
        for (i, out) in out.chunks_mut((per_block * row).max(1)).enumerate() {
            let (from, n) = (first + i * per_block, out.len() / row);
            let mut at = 0;
            for (bytes, len) in &parts {
                gather::columns(&bytes[from * len..(from + n) * len], *len, row, at, out);
                at += len;
            }
        }
    };
    let per_piece = rows.div_ceil(pieces(count * width)).max(1);
    let out = block.bytes_mut();
    match rows <= per_piece {
        true => write((0, out)),
        false => {
            let pieces = out.chunks_mut(per_piece * row).enumerate().map(|(i, out)| (i * per_piece, out)).collect();
            drop(side_by_side(pieces, write));
        }
    }
    Ok(Tensor::from_dense(dtype, dims, Storage::Fixed(block.elements())))
}

/// Copies bytes, many of them by several threads: one does not use all of the memory's speed.
fn copy(from: &[u8], to: &mut [u8]) {
    const LARGE: usize = 1 << 20;
    if from.len() < LARGE {
        return to.copy_from_slice(from);
    }
    let piece = from.len().div_ceil(pieces(from.len()));
    let both: Vec<_> = from.chunks(piece).zip(to.chunks_mut(piece)).collect();
    let far = from.len() >= FAR;
    side_by_side(both, |(from, to)| match far {
        true => past_caches(|past| past.copy(from, to)),
        false => to.copy_from_slice(from),
    });
}

/// So many runs of texts are looked at together.
const TOGETHER: usize = 1 << 16;

/// A longer run of texts is copied as one.
const LONG: usize = 16;

/// Texts: runs are looked at some at a time, of short ones first the lengths and then the bytes, by several threads.
fn text(count: usize, sources: &[&Dense], mut runs: impl Iterator<Item = Run>) -> Result<Storage> {
    let sources: Result<Vec<(&Offsets, &Buffer)>> = sources.iter().map(|s| s.text()).collect();
    let sources = sources?;
    let mut ends = Block::new((count + 1) * size_of::<i64>());
    let (first, mut rest) = ends.slice_mut::<i64>().split_at_mut(1);
    first.fill(0);
    let mut bytes = Growing::with_capacity(likely_bytes(count, &sources));
    let mut some: Vec<Run> = Vec::with_capacity(count.min(TOGETHER));
    loop {
        some.clear();
        some.extend(runs.by_ref().filter(|run| run.len > 0).take(TOGETHER));
        if some.is_empty() {
            break;
        }
        let (ends, tail) = rest.split_at_mut(some.iter().map(|run| run.len).sum());
        rest = tail;
        match ends.len() > some.len() * LONG {
            true => long_runs(&sources, &some, ends, &mut bytes)?,
            false => short_runs(&sources, &some, ends, &mut bytes)?,
        }
    }
    Ok(Storage::Text { offsets: offsets_of(ends, count), bytes: bytes.freeze() })
}

/// Adds runs of texts: the bytes of each are copied as one, and its offsets moved.
fn long_runs(sources: &[(&Offsets, &Buffer)], runs: &[Run], mut ends: &mut [i64], bytes: &mut Growing) -> Result<()> {
    for run in runs {
        let (head, tail) = ends.split_at_mut(run.len);
        ends = tail;
        let before = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
        let Some((offsets, source)) = run.source.map(|s| sources[s]) else {
            head.fill(before);
            continue;
        };
        let (from, to) = (offsets.get(run.start), offsets.get(run.start + run.len));
        copy(&source.as_slice()[from..to], bytes.more(to - from)?);
        let moved = before - i64::try_from(from).unwrap_or(i64::MAX);
        move_offsets(&offsets.slice(run.start + 1, run.len), moved, head);
    }
    Ok(())
}

/// Adds runs of texts of which most are short: where each text ends, then the bytes of all.
fn short_runs(sources: &[(&Offsets, &Buffer)], runs: &[Run], ends: &mut [i64], bytes: &mut Growing) -> Result<()> {
    let part = runs.len().div_ceil(pieces(ends.len().saturating_mul(TEXT))).max(1);
    let lengths = runs.chunks(part).map(|runs| runs.iter().map(|run| run.len).sum());
    let mut ends = split_at_lengths(ends, lengths);
    let parts = runs.chunks(part).zip(ends.iter_mut().map(|ends| &mut **ends)).collect();
    let sizes = side_by_side(parts, |(runs, ends)| ends_of_runs(sources, runs, ends));
    let before = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
    let out = bytes.more(sizes.iter().fold(0, |sum, n| sum.saturating_add(*n)))?;
    let begins =
        sizes.iter().scan(before, |end, n| Some(std::mem::replace(end, *end + i64::try_from(*n).unwrap_or(0))));
    let parts = runs.chunks(part).zip(ends).zip(begins.zip(split_at_lengths(out, sizes.iter().copied()))).collect();
    side_by_side(parts, |((runs, ends), (begin, out))| {
        ends.iter_mut().for_each(|end| *end += begin);
        let mut at = 0;
        for run in runs {
            let Some((offsets, bytes)) = run.source.map(|s| sources[s]) else { continue };
            let (from, to) = (offsets.get(run.start), offsets.get(run.start + run.len));
            gather::copy_short(bytes, from, to - from, out, at);
            at += to - from;
        }
    });
    Ok(())
}

/// A text costs as much as so many numbers.
const TEXT: usize = 4;

/// Writes where each text of the runs ends, the first beginning at 0; gives the end of the last.
fn ends_of_runs(sources: &[(&Offsets, &Buffer)], runs: &[Run], mut ends: &mut [i64]) -> usize {
    let mut end = 0;
    for run in runs {
        let (head, tail) = ends.split_at_mut(run.len);
        ends = tail;
        match run.source {
            Some(s) => {
                with_offsets!(sources[s].0, o => end = gather::run_ends(&o[run.start..=run.start + run.len], end, head))
            }
            None => head.fill(i64::try_from(end).unwrap_or(i64::MAX)),
        }
    }
    end
}

/// As many bytes as so many texts have if they are as long as those of the sources.
fn likely_bytes(count: usize, sources: &[(&Offsets, &Buffer)]) -> usize {
    let texts: usize = sources.iter().map(|(offsets, _)| offsets.len() - 1).sum();
    let bytes: usize = sources.iter().map(|(offsets, _)| offsets.last() - offsets.first()).sum();
    // What comes out is rarely much longer, and never so often that twice the sources would be too much.
    bytes.checked_div(texts).map_or(0, |mean| count.saturating_mul(mean + 1).min(bytes.saturating_mul(2)))
}

#[allow(clippy::useless_conversion)] // One of the two widths is i64 already.
fn move_offsets(offsets: &Offsets, by: i64, out: &mut [i64]) {
    with_offsets!(offsets, o => out.iter_mut().zip(o).for_each(|(out, &at)| *out = i64::from(at) + by));
}

fn offsets_of(ends: Block, count: usize) -> Offsets {
    Offsets::I64(ScalarBuffer::new(ends.freeze(), 0, count + 1))
}

/// The elements of the outer axis at these positions, each of which is one; `dims` are those of the result.
///
/// Errors: more than memory holds.
pub(super) fn gathered(x: &Dense, at: &[i64], dims: Dims) -> Result<Tensor> {
    let inner: usize = x.dims().iter().skip(1).product();
    if x.dtype() == DType::Bool && inner < LONG_BITS && are_many(at.len(), x.dims()[0]) {
        return in_bytes(&[x], |bytes| gathered(bytes[0], at, dims));
    }
    let storage = match x.storage() {
        Storage::Fixed(source) => {
            let width = inner * x.dtype().width().unwrap_or(1);
            affordable(at.len().saturating_mul(width))?;
            Storage::Fixed(gathered_elements(source, width, at))
        }
        Storage::Text { offsets, bytes } if inner == 1 => with_offsets!(offsets, o => gathered_texts(o, bytes, at)?),
        Storage::Text { .. } | Storage::Bits(_) | Storage::Boxed(_) => {
            let start = |&i: &i64| usize::try_from(i).unwrap_or(0) * inner;
            let runs = at.iter().map(|i| Run { source: Some(0), start: start(i), len: inner });
            return assemble(x.dtype(), dims, &[x], runs);
        }
    };
    Ok(Tensor::from_dense(x.dtype(), dims, storage))
}

/// Whether so many of the elements of an axis of `n` are taken that it is worth to read them all.
fn are_many(taken: usize, n: usize) -> bool {
    /// A byte is read in less than a part of the time that it takes to move a bit by itself.
    const FASTER: usize = 16;
    taken >= n / FASTER
}

/// Of each of `outer` parts of `n` elements of `inner` numbers or booleans those at these positions, each of which is one; `dims` are
/// those of the result.
///
/// Errors: more than memory holds.
pub(super) fn gathered_along(
    x: &Dense,
    at: &[i64],
    (outer, n, inner): (usize, usize, usize),
    dims: Dims,
) -> Result<Tensor> {
    // Where there is nothing, the sizes of it may be without end.
    if element_count(&dims)? == 0 {
        return assemble(x.dtype(), dims, &[x], std::iter::empty());
    }
    if x.dtype() == DType::Bool && inner < LONG_BITS && are_many(at.len(), n) {
        return in_bytes(&[x], |bytes| gathered_along(bytes[0], at, (outer, n, inner), dims));
    }
    if x.dtype().width().is_none() {
        let start = |o: usize, &i: &i64| (o * n + usize::try_from(i).unwrap_or(0)) * inner;
        let of_part = |o| at.iter().map(move |i| Run { source: Some(0), start: start(o, i), len: inner });
        return assemble(x.dtype(), dims, &[x], (0..outer).flat_map(of_part));
    }
    let width = inner * x.dtype().width().unwrap_or(1);
    let row = at.len().saturating_mul(width);
    affordable(outer.saturating_mul(row))?;
    let (bytes, mut block) = (x.fixed()?.as_slice(), Block::new(outer * row));
    let per_piece = outer.div_ceil(pieces(outer * row)).max(1);
    let parts: Vec<_> = block.bytes_mut().chunks_mut((per_piece * row).max(1)).enumerate().collect();
    side_by_side(parts, |(piece, out): (usize, &mut [u8])| {
        for (i, out) in out.chunks_mut(row).enumerate() {
            let part = (piece * per_piece + i) * n * width;
            gather::elements(&bytes[part..part + n * width], width, at, out);
        }
    });
    Ok(Tensor::from_dense(x.dtype(), dims, Storage::Fixed(block.elements())))
}

fn gathered_elements(source: &[u8], width: usize, at: &[i64]) -> Elements {
    let mut block = Block::new(at.len() * width);
    if width > 0 && !at.is_empty() {
        let piece = at.len().div_ceil(pieces(at.len() * width.div_ceil(8)));
        if piece == at.len() {
            gather::elements(source, width, at, block.bytes_mut());
            return block.elements();
        }
        let parts = at.chunks(piece).zip(block.bytes_mut().chunks_mut(piece * width)).collect();
        side_by_side(parts, |(at, out)| gather::elements(source, width, at, out));
    }
    block.elements()
}

fn gathered_texts<O: crate::kernels::reduce::Offset + Sync>(
    offsets: &[O],
    bytes: &[u8],
    at: &[i64],
) -> Result<Storage> {
    let mut ends = Block::new((at.len() + 1) * size_of::<i64>());
    let (first, rest) = ends.slice_mut::<i64>().split_at_mut(1);
    first.fill(0);
    let piece = at.len().div_ceil(pieces(at.len())).max(1);
    let parts = at.chunks(piece).zip(rest.chunks_mut(piece)).collect();
    let sizes = side_by_side(parts, |(at, ends)| gather::text_ends(offsets, at, ends));
    affordable(sizes.iter().fold(0, |sum, n| sum.saturating_add(*n)))?;
    let mut out = Block::new(sizes.iter().sum());
    let begins = sizes.iter().scan(0, |end, n| Some(std::mem::replace(end, *end + n)));
    let outs = split_at_lengths(out.bytes_mut(), sizes.iter().copied());
    let parts = at.chunks(piece).zip(rest.chunks_mut(piece)).zip(begins.zip(outs)).collect();
    side_by_side(parts, |((at, ends), (begin, out))| {
        let begin = i64::try_from(begin).unwrap_or(i64::MAX);
        ends.iter_mut().for_each(|end| *end += begin);
        gather::texts(offsets, bytes, at, out);
    });
    Ok(Storage::Text { offsets: offsets_of(ends, at.len()), bytes: out.freeze() })
}

fn boxed(sources: &[&Dense], runs: impl Iterator<Item = Run>) -> Result<Storage> {
    let mut items: Vec<Value> = Vec::new();
    for run in runs.filter(|run| run.len > 0) {
        let source = run.source.ok_or_else(|| Error::value("a variant has no zero to stand for a missing element"))?;
        items.extend_from_slice(&sources[source].boxed()?[run.start..run.start + run.len]);
    }
    Ok(Storage::Boxed(items.into()))
}
