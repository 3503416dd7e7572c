//! Booleans, one bit each: blocks of 64 in a word, and ranges of bits in Arrow's byte order.
//!
//! Invariant: bit i of a block is bit `i % 64` of word `i / 64`, and the bits of the last word beyond the length are
//! zero in everything written here, so that words compare and count as they are.
//! Knows nothing of what a boolean stands for; a null is the same to it as a mask.

use std::hint::black_box;

use super::isa::multiversion;
use super::reduce::Offset;

/// The number of words that hold `len` bits.
pub const fn words(len: usize) -> usize {
    len.div_ceil(64)
}

/// Copies bits `bit_offset..bit_offset + len` of `src`, least significant bit first, to the start of `out`.
///
/// `out` has [`words`]`(len)` words.
pub fn load_bits(src: &[u8], bit_offset: usize, len: usize, out: &mut [u64]) {
    let src = &src[bit_offset / 8..];
    let shift = bit_offset % 8;
    for (i, word) in out[..words(len)].iter_mut().enumerate() {
        *word = word_at(&src[8 * i..], shift) & first_ones(len - 64 * i);
    }
}

/// Copies the first `len` bits of `src` to `dst`, from bit `bit_offset`, a multiple of 8, on.
///
/// What the last byte holds beyond them becomes zero.
pub fn store_bits(src: &[u64], len: usize, dst: &mut [u8], bit_offset: usize) {
    debug_assert!(bit_offset.is_multiple_of(8), "bits are stored from whole bytes on");
    let dst = &mut dst[bit_offset / 8..][..len.div_ceil(8)];
    for (i, bytes) in dst.chunks_mut(8).enumerate() {
        let word = src[i] & first_ones(len - 64 * i);
        bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
    }
}

/// Tells whether any of bits `bit_offset..bit_offset + len` of `src` is one; of none, no.
pub fn any(src: &[u8], bit_offset: usize, len: usize) -> bool {
    let (head, body, tail) = split(src, bit_offset, len);
    head | tail != 0 || body.iter().any(|bytes| *bytes != [0; 8])
}

/// Tells whether all of bits `bit_offset..bit_offset + len` of `src` are ones; of none, yes.
pub fn all(src: &[u8], bit_offset: usize, len: usize) -> bool {
    count_ones(src, bit_offset, len) == len
}

/// Sets bit i of `out` to `f(i)`, for i below `len`. Inlined into the caller's loop; for slices see [`compare`].
#[inline(always)]
pub fn from_fn(len: usize, out: &mut [u64], mut f: impl FnMut(usize) -> bool) {
    for (i, word) in out[..words(len)].iter_mut().enumerate() {
        let start = 64 * i;
        let mut flags = [0; 64];
        for (j, flag) in flags[..64.min(len - start)].iter_mut().enumerate() {
            *flag = u8::from(f(start + j)).wrapping_neg();
        }
        *word = pack(&flags);
    }
}

/// Sets bit i of `out` to `f(x[i], y[i])`; `x` and `y` are equally long. Inlined into a caller that is compiled for each
/// instruction set.
#[inline(always)]
pub fn compare<T: Copy, F: Fn(T, T) -> bool>(x: &[T], y: &[T], out: &mut [u64], f: F) {
    let ((x, x_rest), (y, y_rest)) = (x.as_chunks(), y.as_chunks());
    for ((x, y), word) in x.iter().zip(y).zip(&mut *out) {
        *word = pack(&flags(x, y, &f));
    }
    if !x_rest.is_empty() {
        from_fn(x_rest.len(), &mut out[x.len()..], |i| f(x_rest[i], y_rest[i]));
    }
}

/// Sets bit i of `out` to `f(x[i])`. Inlined as [`compare`].
#[inline(always)]
pub fn test<T: Copy, F: Fn(T) -> bool>(x: &[T], out: &mut [u64], f: F) {
    let (x, rest) = x.as_chunks();
    for (x, word) in x.iter().zip(&mut *out) {
        *word = pack(&flags(x, x, |x, _| f(x)));
    }
    if !rest.is_empty() {
        from_fn(rest.len(), &mut out[x.len()..], |i| f(rest[i]));
    }
}

/// Writes bits one after the other into words. What is not written of the last word is zero.
pub struct Writer<'a> {
    out: &'a mut [u64],
    /// The word that is not full, and how many of its bits are written.
    word: u64,
    filled: usize,
}

impl<'a> Writer<'a> {
    /// Writes from the first bit of `out` on.
    pub fn new(out: &'a mut [u64]) -> Writer<'a> {
        Writer { out, word: 0, filled: 0 }
    }

    /// Adds bits `bit_offset..bit_offset + len` of `src`.
    #[inline]
    pub fn copy(&mut self, src: &[u8], bit_offset: usize, len: usize) {
        let (src, shift) = (&src[bit_offset / 8..], bit_offset % 8);
        for at in (0..len).step_by(64) {
            let n = 64.min(len - at);
            self.push(word_at(&src[at / 8..], shift) & first_ones(n), n);
        }
    }

    /// Adds `len` bits that are alike.
    #[inline]
    pub fn fill(&mut self, bit: bool, len: usize) {
        for at in (0..len).step_by(64) {
            let n = 64.min(len - at);
            self.push(if bit { first_ones(n) } else { 0 }, n);
        }
    }

    /// Adds the first `n` bits of a word, of 1 to 64, whose others are zero.
    #[inline]
    fn push(&mut self, bits: u64, n: usize) {
        self.word |= bits << self.filled;
        self.filled += n;
        if self.filled >= 64 {
            self.filled -= 64;
            // Shifted twice, since none of the bits may be left.
            let rest = bits >> 1 >> (n - 1 - self.filled);
            self.next(rest);
        }
    }

    fn next(&mut self, rest: u64) {
        if let Some((first, out)) = std::mem::take(&mut self.out).split_first_mut() {
            (*first, self.out) = (self.word, out);
        }
        self.word = rest;
    }

    /// Writes what is left.
    pub fn finish(mut self) {
        self.next(0);
        self.out.fill(0);
    }
}

multiversion! {
    /// Sets each byte of `out` to the bit of `src` at its place, from `bit_offset` on: 0 or 1.
    pub fn spread(src: &[u8], bit_offset: usize, out: &mut [u8]) {
        let (src, shift) = (&src[bit_offset / 8..], bit_offset % 8);
        let (words, rest) = out.as_chunks_mut();
        for (i, out) in words.iter_mut().enumerate() {
            *out = spread_word(word_at(&src[8 * i..], shift));
        }
        if !rest.is_empty() {
            rest.copy_from_slice(&spread_word(word_at(&src[8 * words.len()..], shift))[..rest.len()]);
        }
    }

    /// Sets each bit, from the first of `out` on, to whether the byte at its place is not zero.
    pub fn gather_bits(src: &[u8], out: &mut [u64]) {
        test(src, out, |byte| byte != 0);
    }

    /// Counts the ones among bits `bit_offset..bit_offset + len` of `src`.
    pub fn count_ones(src: &[u8], bit_offset: usize, len: usize) -> usize {
        let (head, body, tail) = split(src, bit_offset, len);
        (u64::from(head.count_ones() + tail.count_ones()) + count_ones_of_bytes(body)) as usize
    }

    /// Counts the ones of each column of `rows` rows of bits, which stand one after the other from `bit_offset` on.
    pub fn column_counts(src: &[u8], bit_offset: usize, rows: usize, out: &mut [u64]) {
        let columns = out.len();
        out.fill(0);
        let mut row = vec![0; words(columns)];
        let mut few = vec![[0_u8; 64]; words(columns)];
        // A byte counts so many rows.
        for from in (0..rows).step_by(255) {
            few.fill([0; 64]);
            for r in from..rows.min(from + 255) {
                load_bits(src, bit_offset + r * columns, columns, &mut row);
                for (counts, word) in few.iter_mut().zip(&row) {
                    counts.iter_mut().enumerate().for_each(|(i, count)| *count += (word >> i) as u8 & 1);
                }
            }
            out.iter_mut().zip(few.as_flattened()).for_each(|(out, count)| *out += u64::from(*count));
        }
    }

    /// Sets `out[i]` to `x[i]` where bit i of `mask` is one and to `y[i]` elsewhere; the slices are equally long.
    pub fn select<T: Copy>(mask: &[u64], x: &[T], y: &[T], out: &mut [T]) {
        let (outs, out_rest) = out.as_chunks_mut::<32>();
        let ((xs, x_rest), (ys, y_rest)) = (x.as_chunks::<32>(), y.as_chunks::<32>());
        for (i, out) in outs.iter_mut().enumerate() {
            let (half, x, y) = (half_word(mask, i), xs[i], ys[i]);
            // Both are read before one is chosen: a choice of where to read from would not be vectorised.
            black_box(());
            for j in 0..32 {
                out[j] = if half >> j & 1 == 1 { x[j] } else { y[j] };
            }
        }
        for (j, out) in out_rest.iter_mut().enumerate() {
            *out = if half_word(mask, xs.len()) >> j & 1 == 1 { x_rest[j] } else { y_rest[j] };
        }
    }

    /// Selects bits as [`select`] does elements.
    pub fn select_bits(mask: &[u64], x: &[u64], y: &[u64], out: &mut [u64]) {
        for (i, out) in out.iter_mut().enumerate() {
            *out = y[i] ^ (mask[i] & (x[i] ^ y[i]));
        }
    }

    /// Sets `out` to the bits that are in both.
    pub fn and(x: &[u64], y: &[u64], out: &mut [u64]) {
        for (out, (x, y)) in out.iter_mut().zip(x.iter().zip(y)) {
            *out = x & y;
        }
    }

    /// Sets `out` to the bits that are in either.
    pub fn or(x: &[u64], y: &[u64], out: &mut [u64]) {
        for (out, (x, y)) in out.iter_mut().zip(x.iter().zip(y)) {
            *out = x | y;
        }
    }

    /// Sets `out` to the bits that are in one alone.
    pub fn xor(x: &[u64], y: &[u64], out: &mut [u64]) {
        for (out, (x, y)) in out.iter_mut().zip(x.iter().zip(y)) {
            *out = x ^ y;
        }
    }

    /// Sets `out` to the first `len` bits of `x`, inverted.
    pub fn not(x: &[u64], len: usize, out: &mut [u64]) {
        for (out, x) in out.iter_mut().zip(x) {
            *out = !x;
        }
        if !len.is_multiple_of(64) {
            out[len / 64] &= first_ones(len % 64);
        }
    }

    /// Counts the ones of whole words.
    pub fn count_ones_of_words(x: &[u64]) -> usize {
        x.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Counts the ones of each row `offsets[i]..offsets[i + 1]` of bits into `out[i]`; the rows' bit 0 is bit
    /// `bit_offset` of `src`. Rows follow one another, so each word is read once however short they are.
    pub fn segment_count_ones<O: Offset>(src: &[u8], bit_offset: usize, offsets: &[O], out: &mut [i64]) {
        let Some((first, ends)) = offsets.split_first() else { return };
        let start = bit_offset + first.index();
        let (mut at, mut word) = (start / 64, word_at(&src[start / 64 * 8..], 0));
        // The ones of the words before this one, and those before the row.
        let (mut before, mut begun) = (0, (word & first_ones(start % 64)).count_ones() as i64);
        for (out, end) in out.iter_mut().zip(ends) {
            let end = bit_offset + end.index();
            while at < end / 64 {
                before += word.count_ones() as i64;
                at += 1;
                word = word_at(&src[at * 8..], 0);
            }
            let ended = before + (word & first_ones(end % 64)).count_ones() as i64;
            *out = ended - begun;
            begun = ended;
        }
    }
}

/// A byte for each bit of a word: 0 or 1.
#[inline(always)]
fn spread_word(word: u64) -> [u8; 64] {
    let of_byte = |byte: u8| {
        // Each byte of the product keeps a bit of its own, and the sum carries it to the highest.
        let alone = (u64::from(byte) * 0x0101_0101_0101_0101) & 0x8040_2010_0804_0201;
        ((alone + 0x7f7f_7f7f_7f7f_7f7f) >> 7 & 0x0101_0101_0101_0101).to_le_bytes()
    };
    bytemuck::cast(word.to_le_bytes().map(of_byte))
}

/// A byte for each of two slices' elements, all ones where `f` holds and zero elsewhere.
#[inline(always)]
fn flags<T: Copy>(x: &[T; 64], y: &[T; 64], f: impl Fn(T, T) -> bool) -> [u8; 64] {
    let mut flags = [0; 64];
    for j in 0..64 {
        flags[j] = u8::from(f(x[j], y[j])).wrapping_neg();
    }
    flags
}

/// Packs the highest bits of 64 bytes, each zero or all ones.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[allow(unsafe_code)]
#[inline(always)]
fn pack(flags: &[u8; 64]) -> u64 {
    use std::arch::x86_64::{__m128i, _mm_movemask_epi8};
    let quarters: [__m128i; 4] = bytemuck::cast(*flags);
    // SAFETY: it needs SSE2 and nothing else, and this is compiled where that is.
    let bits = |quarter| unsafe { _mm_movemask_epi8(quarter) }.cast_unsigned();
    quarters.iter().rev().fold(0, |word, &quarter| word << 16 | u64::from(bits(quarter)))
}

/// Packs the lowest bits of 64 bytes, each zero or all ones. The product gathers those of eight bytes in its highest byte.
#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
#[inline(always)]
fn pack(flags: &[u8; 64]) -> u64 {
    let mut word = 0;
    for flags in flags.as_chunks().0 {
        let lowest = u64::from_le_bytes(*flags) & 0x0101_0101_0101_0101;
        word = (word >> 8) | (lowest.wrapping_mul(0x0102_0408_1020_4080) & (0xff << 56));
    }
    word
}

/// 32 bits at a time, since that is the width of the commonest lanes.
#[inline(always)]
fn half_word(mask: &[u64], i: usize) -> u32 {
    (mask[i / 2] >> (32 * (i % 2))) as u32
}

/// The bits before the first whole byte, the words after it, and the bits that remain.
#[inline(always)]
fn split(src: &[u8], bit_offset: usize, len: usize) -> (u64, &[[u8; 8]], u64) {
    let before = (bit_offset.wrapping_neg() % 8).min(len);
    let head = word_at(&src[bit_offset / 8..], bit_offset % 8) & first_ones(before);
    let (start, len) = ((bit_offset + before) / 8, len - before);
    let (body, _) = src[start..start + len / 8].as_chunks();
    (head, body, word_at(&src[start + 8 * body.len()..], 0) & first_ones(len % 64))
}

/// 64 bits from bit `shift`, below 8, of `src` on, with zeros beyond its end.
#[inline(always)]
fn word_at(src: &[u8], shift: usize) -> u64 {
    let mut padded = [0; 9];
    let bytes = src.first_chunk().unwrap_or_else(|| {
        padded[..src.len()].copy_from_slice(src);
        &padded
    });
    let [low @ .., high] = *bytes;
    u64::from_le_bytes(low) >> shift | u64::from(high) << 1 << (63 - shift)
}

/// A word of `len` ones from bit 0 on, of 64 at most.
#[inline(always)]
fn first_ones(len: usize) -> u64 {
    if len >= 64 { u64::MAX } else { (1 << len) - 1 }
}

#[inline(always)]
fn count_ones_of_bytes(x: &[[u8; 8]]) -> u64 {
    x.iter().map(|bytes| u64::from(u64::from_le_bytes(*bytes).count_ones())).sum()
}

#[cfg(test)]
mod tests {
    use super::super::isa::{supported, with_isa};
    use super::*;

    const LENGTHS: [usize; 14] = [0, 1, 7, 8, 9, 63, 64, 65, 71, 72, 127, 128, 129, 1000];

    fn bytes(n: usize) -> Vec<u8> {
        (0..n as u32).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 21) as u8).collect()
    }

    fn bit(src: &[u8], i: usize) -> bool {
        src[i / 8] >> (i % 8) & 1 == 1
    }

    fn word_bits(src: &[u64], len: usize) -> Vec<bool> {
        assert!(len.is_multiple_of(64) || src[len / 64] >> (len % 64) == 0, "the tail is zero");
        (0..len).map(|i| src[i / 64] >> (i % 64) & 1 == 1).collect()
    }

    #[test]
    fn bits_come_from_any_offset_to_words_and_bytes_and_go_back() {
        let src = bytes(140);
        for len in LENGTHS {
            for offset in 0..80 {
                let exact = &src[..(offset + len).div_ceil(8)];
                let mut loaded = vec![u64::MAX; words(len)];
                load_bits(exact, offset, len, &mut loaded);
                let wanted: Vec<bool> = (offset..offset + len).map(|i| bit(exact, i)).collect();
                assert_eq!(word_bits(&loaded, len), wanted, "{offset} {len}");

                let mut stored = vec![0xff; 8 + len.div_ceil(8)];
                store_bits(&loaded, len, &mut stored, 64);
                assert_eq!((0..len).map(|i| bit(&stored, 64 + i)).collect::<Vec<_>>(), wanted);
                assert!((len..len.next_multiple_of(8)).all(|i| !bit(&stored, 64 + i)));

                for &isa in supported() {
                    let (mut spread_out, mut back) = (vec![7; len], vec![u64::MAX; words(len)]);
                    with_isa(isa, || {
                        spread(exact, offset, &mut spread_out);
                        gather_bits(&spread_out, &mut back);
                    });
                    assert_eq!(spread_out, wanted.iter().map(|&bit| u8::from(bit)).collect::<Vec<_>>());
                    assert_eq!(back, loaded, "{isa} {offset} {len}");
                }
            }
        }
    }

    #[test]
    fn runs_of_bits_are_written_one_after_the_other() {
        let src = bytes(140);
        for step in [1, 2, 7, 31, 63, 64, 65, 100, 500] {
            let mut wanted: Vec<bool> = Vec::new();
            let mut out = [u64::MAX; 40];
            let mut writer = Writer::new(&mut out);
            for (i, from) in (0..300).step_by(step).enumerate() {
                writer.copy(&src, from, step);
                wanted.extend((from..from + step).map(|i| bit(&src, i)));
                writer.fill(i % 2 == 0, 3 * i % 70);
                wanted.extend(std::iter::repeat_n(i % 2 == 0, 3 * i % 70));
                if wanted.len() > 1700 {
                    break;
                }
            }
            writer.finish();
            wanted.resize(40 * 64, false);
            assert_eq!(word_bits(&out, 40 * 64), wanted, "{step}");
        }
    }

    #[test]
    fn counts_agree_with_bits_at_any_offset() {
        let src = bytes(140);
        for len in LENGTHS {
            for offset in 0..80 {
                let exact = &src[..(offset + len).div_ceil(8)];
                let ones = (offset..offset + len).filter(|&i| bit(exact, i)).count();
                assert_eq!(count_ones(exact, offset, len), ones);
                assert_eq!((any(exact, offset, len), all(exact, offset, len)), (ones > 0, ones == len));
            }
            assert!(all(&[0xff; 140], 3, len) && !any(&[0; 140], 3, len));
        }
        let offsets = [3, 3, 5, 59, 70, 400, 1115];
        for &isa in supported() {
            let mut counts = [0; 6];
            with_isa(isa, || segment_count_ones::<i32>(&src, 5, &offsets, &mut counts));
            for (row, count) in offsets.windows(2).zip(counts) {
                assert_eq!(count, (row[0]..row[1]).filter(|&i| bit(&src, i as usize + 5)).count() as i64);
            }
        }
    }

    multiversion! {
        fn test_each<T: Copy, F: Fn(T) -> bool>(x: &[T], out: &mut [u64], f: F) {
            test(x, out, f)
        }

        fn compare_each<T: Copy, F: Fn(T, T) -> bool>(x: &[T], y: &[T], out: &mut [u64], f: F) {
            compare(x, y, out, f)
        }
    }

    #[test]
    fn comparisons_and_selections_are_elementwise_in_every_isa() {
        fn check<T: Copy + PartialOrd + std::fmt::Debug>(of: impl Fn(u8) -> T) {
            for len in LENGTHS {
                let x: Vec<T> = bytes(len).into_iter().map(&of).collect();
                let y: Vec<T> = bytes(len).into_iter().rev().map(&of).collect();
                let less: Vec<bool> = x.iter().zip(&y).map(|(x, y)| x < y).collect();
                for &isa in supported() {
                    with_isa(isa, || {
                        let mut mask = vec![u64::MAX; words(len)];
                        test_each(&x, &mut mask, |x| x > of(7));
                        assert_eq!(word_bits(&mask, len), x.iter().map(|&x| x > of(7)).collect::<Vec<_>>());
                        compare_each(&x, &y, &mut mask, |x, y| x < y);
                        assert_eq!(word_bits(&mask, len), less, "{isa} {len}");
                        let mut out = x.clone();
                        select(&mask, &x, &y, &mut out);
                        assert!((0..len).all(|i| out[i] == if less[i] { x[i] } else { y[i] }), "{isa} {len}");
                    });
                }
            }
        }
        check(|x| x);
        check(u16::from);
        check(f32::from);
        check(f64::from);
        check(u128::from);
    }

    #[test]
    fn logic_is_bitwise_in_every_isa() {
        let src = bytes(300);
        for len in LENGTHS {
            let (mut x, mut y, mut out) = (vec![0; words(len)], vec![0; words(len)], vec![0; words(len)]);
            load_bits(&src, 0, len, &mut x);
            load_bits(&src, 1003, len, &mut y);
            let (x_bits, y_bits) = (word_bits(&x, len), word_bits(&y, len));
            let wanted =
                |f: fn(bool, bool) -> bool| x_bits.iter().zip(&y_bits).map(|(&x, &y)| f(x, y)).collect::<Vec<_>>();
            for &isa in supported() {
                with_isa(isa, || {
                    and(&x, &y, &mut out);
                    assert_eq!(word_bits(&out, len), wanted(|x, y| x && y));
                    or(&x, &y, &mut out);
                    assert_eq!(word_bits(&out, len), wanted(|x, y| x || y));
                    xor(&x, &y, &mut out);
                    assert_eq!(word_bits(&out, len), wanted(|x, y| x != y));
                    not(&x, len, &mut out);
                    assert_eq!(word_bits(&out, len), wanted(|x, _| !x));
                    select_bits(&x, &y, &x, &mut out);
                    assert_eq!(word_bits(&out, len), wanted(|x, y| if x { y } else { x }));
                });
            }
        }
    }

    #[test]
    fn a_function_of_the_index_fills_a_block() {
        let mut out = [u64::MAX; 2];
        from_fn(100, &mut out, |i| i % 3 == 0);
        assert_eq!(word_bits(&out, 100), (0..100).map(|i| i % 3 == 0).collect::<Vec<_>>());
    }
}
