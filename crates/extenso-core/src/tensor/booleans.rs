//! Booleans as bytes, and bytes as booleans: what moves one by one moves faster as bytes than as bits.

use super::{Dense, Storage, Tensor};
use crate::kernels::bits::{Writer, gather_bits, spread, words};
use crate::kernels::elements::Elements;
use crate::kernels::pool::{Block, affordable};
use crate::threads::{pieces, side_by_side};
use arrow_buffer::BooleanBuffer;
use extenso_types::{DType, Dims, Result};
use smallvec::SmallVec;

/// A byte for each boolean: 0 or 1.
///
/// ```
/// # use extenso_core::{bits_of_bytes, bytes_of_bits};
/// assert_eq!(bytes_of_bits(&bits_of_bytes(&[0, 1, 7])).as_slice(), [0, 1, 1]);
/// ```
pub fn bytes_of_bits(bits: &BooleanBuffer) -> Elements {
    let mut block = Block::new(bits.len());
    let piece = whole_words(bits.len());
    let parts = block.bytes_mut().chunks_mut(piece).enumerate().collect();
    side_by_side(parts, |(i, out): (usize, &mut [u8])| spread(bits.values(), bits.offset() + i * piece, out));
    block.elements()
}

/// Whether each byte is not zero.
pub fn bits_of_bytes(bytes: &[u8]) -> BooleanBuffer {
    let mut block = Block::new(words(bytes.len()) * size_of::<u64>());
    let piece = whole_words(bytes.len());
    let parts = bytes.chunks(piece).zip(block.slice_mut::<u64>().chunks_mut(piece / 64)).collect();
    side_by_side(parts, |(bytes, out)| gather_bits(bytes, out));
    BooleanBuffer::new(block.freeze(), 0, bytes.len())
}

/// So many booleans, which `write` adds one run after the other.
///
/// Errors: more than memory holds.
pub(crate) fn bits_in_runs(len: usize, write: impl FnOnce(&mut Writer<'_>)) -> Result<BooleanBuffer> {
    affordable(len / 8)?;
    let mut block = Block::new(words(len) * size_of::<u64>());
    let mut out = Writer::new(block.slice_mut());
    write(&mut out);
    out.finish();
    Ok(BooleanBuffer::new(block.freeze(), 0, len))
}

/// The elements of a piece of so many: a multiple of those of a word.
fn whole_words(len: usize) -> usize {
    len.div_ceil(pieces(len)).next_multiple_of(64).max(64)
}

/// What `moved` makes of booleans that are given to it as bytes: the booleans that are the bytes of its result.
///
/// Errors: those of `moved`; another dtype than bool; more bytes than memory holds.
pub(crate) fn in_bytes(sources: &[&Dense], moved: impl FnOnce(&[&Dense]) -> Result<Tensor>) -> Result<Tensor> {
    affordable(sources.iter().map(|source| source.len()).sum())?;
    let mut bytes: SmallVec<[Dense; 2]> = SmallVec::new();
    for source in sources {
        let storage = Storage::Fixed(bytes_of_bits(source.bits()?));
        bytes.push(Dense::new(DType::U8, Dims::from_slice(source.dims()), storage));
    }
    let made = moved(&bytes.iter().collect::<SmallVec<[&Dense; 2]>>())?;
    let made = made.data()?;
    Ok(Tensor::from_dense(DType::Bool, Dims::from_slice(made.dims()), Storage::Bits(bits_of_bytes(made.fixed()?))))
}
