//! Many elements at once: parts of them side by side, and texts that are written one behind the other.
//!
//! Invariant: what is made does not depend on how many parts there are.

use arrow_buffer::Buffer;
use extenso_core::{Offsets, Tensor, side_by_side, threads};
use extenso_types::{DType, Result};
use std::ops::Range;

/// Fewer elements are not worth a second thread.
const LITTLE: usize = 1 << 13;

/// The elements of each part of so many.
pub(crate) fn part_of(n: usize) -> usize {
    let parts = if n < LITTLE || threads() == 1 { 1 } else { 4 * threads() };
    n.div_ceil(parts).max(1)
}

/// What `f` makes of each part of so many elements, in order.
fn in_parts<R: Send>(n: usize, f: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
    let part = part_of(n);
    side_by_side((0..n).step_by(part).map(|start| start..n.min(start + part)).collect(), f)
}

/// Strings of these sizes, each of which `write` appends; none if it has none for one of them.
///
/// Errors: another number of them than the sizes say.
pub(crate) fn strings(
    dims: &[usize],
    write: impl Fn(usize, &mut Vec<u8>) -> Option<()> + Sync,
) -> Result<Option<Tensor>> {
    let n = dims.iter().product::<usize>();
    let parts: Option<Vec<(Vec<i64>, Vec<u8>)>> = in_parts(n, |items| {
        let (mut ends, mut bytes) = (Vec::with_capacity(items.len()), Vec::with_capacity(8 * items.len()));
        for i in items {
            write(i, &mut bytes)?;
            ends.push(crate::args::int(bytes.len()));
        }
        Some((ends, bytes))
    })
    .into_iter()
    .collect();
    let Some(parts) = parts else { return Ok(None) };
    let mut offsets = Vec::with_capacity(n + 1);
    offsets.push(0_i64);
    let mut all = Vec::with_capacity(parts.iter().map(|(_, bytes)| bytes.len()).sum());
    for (ends, bytes) in parts {
        let before = crate::args::int(all.len());
        offsets.extend(ends.into_iter().map(|end| before + end));
        all.extend_from_slice(&bytes);
    }
    Tensor::from_text(DType::String, dims, Offsets::I64(offsets.into()), Buffer::from_vec(all)).map(Some)
}

/// What `f` makes of each of so many places; none if it makes none of one.
pub(crate) fn each<T: Send + Copy + Default>(n: usize, f: impl Fn(usize) -> Option<T> + Sync) -> Option<Vec<T>> {
    let mut made = vec![T::default(); n];
    let part = part_of(n);
    let parts: Vec<(usize, &mut [T])> = made.chunks_mut(part).enumerate().map(|(i, out)| (i * part, out)).collect();
    let whole = side_by_side(parts, |(start, out)| {
        out.iter_mut().enumerate().try_for_each(|(i, out)| {
            *out = f(start + i)?;
            Some(())
        })
    });
    whole.into_iter().all(|part| part.is_some()).then_some(made)
}

/// Appends the digits of a number, so many at least.
pub(crate) fn digits(number: u128, least: usize, out: &mut Vec<u8>) {
    /// The digits of the largest number, and zeros before them.
    const ROOM: usize = 96;
    /// Ten to the power of nineteen, the largest that 64 bits hold.
    const STEP: u128 = 10_000_000_000_000_000_000;
    let (mut text, mut at, mut left) = ([b'0'; ROOM], ROOM, number);
    loop {
        let (mut low, end) = (u64::try_from(left % STEP).unwrap_or_default(), at);
        left /= STEP;
        while low > 0 {
            at -= 1;
            text[at] = b"0123456789"[usize::try_from(low % 10).unwrap_or_default()];
            low /= 10;
        }
        if left == 0 {
            break;
        }
        at = end - 19;
    }
    out.extend_from_slice(&text[at.min(ROOM - least.clamp(1, ROOM))..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_of_the_number_and_zeros_before_them() {
        let numbers = [0, 7, 10, 99, 1 << 63, u128::from(u64::MAX), 10_u128.pow(19), 10_u128.pow(19) - 1, u128::MAX];
        for number in numbers.into_iter().chain([10_u128.pow(38), 10_u128.pow(38) + 5]) {
            for least in [0, 1, 3, 40, 77] {
                let mut text = Vec::new();
                digits(number, least, &mut text);
                assert_eq!(String::from_utf8(text).as_deref(), Ok(format!("{number:0>least$}").as_str()));
            }
        }
    }

    #[test]
    fn parts_are_put_together_in_order() {
        for n in [0, 1, 3, LITTLE, 3 * LITTLE + 1] {
            let write = |i: usize, out: &mut Vec<u8>| {
                digits(i as u128, 0, out);
                Some(())
            };
            let texts = strings(&[n], write).expect("texts").expect("all");
            let numbers = each(n, Some).expect("all");
            assert_eq!(numbers, (0..n).collect::<Vec<_>>());
            let dense = texts.data().expect("data");
            assert!((0..n).all(|i| dense.str_at(i).expect("text") == i.to_string()));
            assert!(n == 0 || each(n, |i| (i + 1 < n).then_some(i)).is_none());
        }
    }
}
