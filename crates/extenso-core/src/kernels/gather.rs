//! Elements at positions: numbers of any width, and texts.
//!
//! Invariant: what is read lies at the positions alone, and each is checked against its source by the indexing.

use super::isa::multiversion;
use super::reduce::Offset;

/// Copies the elements of `width` bytes at these positions.
pub fn elements(source: &[u8], width: usize, at: &[i64], out: &mut [u8]) {
    match width {
        1 => fixed::<1>(source, at, out),
        2 => fixed::<2>(source, at, out),
        4 => fixed::<4>(source, at, out),
        8 => fixed::<8>(source, at, out),
        64 => fixed::<64>(source, at, out),
        0 => {}
        _ => {
            for (out, &i) in out.chunks_exact_mut(width).zip(at) {
                out.copy_from_slice(&source[i as usize * width..][..width]);
            }
        }
    }
}

multiversion! {
    /// Whether all positions are those of elements of an axis of `n`.
    pub fn are_within(at: &[i64], n: usize) -> bool {
        let last = i64::try_from(n).unwrap_or(i64::MAX) - 1;
        // The sign of either is set for a position that is not.
        at.iter().fold(0, |outside, i| outside | i | last.wrapping_sub(*i)) >= 0
    }
}

/// Copies rows of `width` bytes to rows of `row` bytes, each from the place `at` on.
pub fn columns(source: &[u8], width: usize, row: usize, at: usize, out: &mut [u8]) {
    match width {
        1 => columns_of::<1>(source, row, at, out),
        2 => columns_of::<2>(source, row, at, out),
        4 => columns_of::<4>(source, row, at, out),
        8 => columns_of::<8>(source, row, at, out),
        0 => {}
        _ => {
            for (out, from) in out.chunks_exact_mut(row).zip(source.chunks_exact(width)) {
                out[at..at + width].copy_from_slice(from);
            }
        }
    }
}

/// [`columns`] of a width that the compiler knows.
fn columns_of<const N: usize>(source: &[u8], row: usize, at: usize, out: &mut [u8]) {
    for (out, from) in out.chunks_exact_mut(row).zip(source.as_chunks::<N>().0) {
        out[at..at + N].copy_from_slice(from);
    }
}

/// Writes the first numbers of `width` bytes of all sources, then the second ones, and so on. Whether it did: it knows few sources.
pub fn interleave(sources: &[&[u8]], width: usize, out: &mut [u8]) -> bool {
    match width {
        1 => interleave_numbers::<u8>(sources, out),
        2 => interleave_numbers::<u16>(sources, out),
        4 => interleave_numbers::<u32>(sources, out),
        8 => interleave_numbers::<u64>(sources, out),
        _ => false,
    }
}

fn interleave_numbers<T: bytemuck::Pod>(sources: &[&[u8]], out: &mut [u8]) -> bool {
    let out = bytemuck::cast_slice_mut::<u8, T>(out);
    let of = |i: usize| bytemuck::cast_slice::<u8, T>(sources[i]);
    match sources.len() {
        2 => interleave_few([of(0), of(1)], out),
        3 => interleave_few([of(0), of(1), of(2)], out),
        4 => interleave_few([of(0), of(1), of(2), of(3)], out),
        _ => return false,
    }
    true
}

fn interleave_few<T: Copy, const K: usize>(sources: [&[T]; K], out: &mut [T]) {
    let out = out.as_chunks_mut::<K>().0;
    let sources = sources.map(|source| &source[..out.len()]);
    for (i, out) in out.iter_mut().enumerate() {
        *out = sources.map(|source| source[i]);
    }
}

/// [`elements`] of a width that the compiler knows.
fn fixed<const N: usize>(source: &[u8], at: &[i64], out: &mut [u8]) {
    let source = source.as_chunks::<N>().0;
    for (out, &i) in out.as_chunks_mut::<N>().0.iter_mut().zip(at) {
        *out = source[i as usize];
    }
}

/// Repeats the bytes of one element, from `skip` of them on.
pub fn repeat(element: &[u8], skip: usize, out: &mut [u8]) {
    if element.is_empty() {
        return;
    }
    let (head, out) = out.split_at_mut(if skip == 0 { 0 } else { out.len().min(element.len() - skip) });
    head.copy_from_slice(&element[skip..skip + head.len()]);
    match element.len() {
        1 => repeat_fixed::<1>(element, out),
        2 => repeat_fixed::<2>(element, out),
        4 => repeat_fixed::<4>(element, out),
        8 => repeat_fixed::<8>(element, out),
        64 => repeat_fixed::<64>(element, out),
        _ => repeat_doubled(element, out),
    }
}

fn repeat_fixed<const N: usize>(element: &[u8], out: &mut [u8]) {
    let (outs, rest) = out.as_chunks_mut::<N>();
    if let Some(element) = element.first_chunk::<N>() {
        fill(outs, *element);
    }
    rest.copy_from_slice(&element[..rest.len()]);
}

/// Writes each element of `width` bytes so many times.
pub fn repeat_each(elements: &[u8], width: usize, times: usize, out: &mut [u8]) {
    match width {
        1 => numbers_each::<u8>(elements, times, out),
        2 => numbers_each::<u16>(elements, times, out),
        4 => numbers_each::<u32>(elements, times, out),
        8 => numbers_each::<u64>(elements, times, out),
        0 => {}
        _ => {
            for (element, out) in elements.chunks_exact(width).zip(out.chunks_exact_mut(times * width)) {
                out.chunks_exact_mut(width).for_each(|out| out.copy_from_slice(element));
            }
        }
    }
}

fn numbers_each<T: bytemuck::Pod>(elements: &[u8], times: usize, out: &mut [u8]) {
    let (elements, out) = (bytemuck::cast_slice::<u8, T>(elements), bytemuck::cast_slice_mut::<u8, T>(out));
    match times {
        2 => times_each::<T, 2>(elements, out),
        3 => times_each::<T, 3>(elements, out),
        4 => times_each::<T, 4>(elements, out),
        5 => times_each::<T, 5>(elements, out),
        8 => times_each::<T, 8>(elements, out),
        _ => elements.iter().zip(out.chunks_exact_mut(times.max(1))).for_each(|(x, out)| out.fill(*x)),
    }
}

/// As often as the compiler knows.
fn times_each<T: Copy, const N: usize>(elements: &[T], out: &mut [T]) {
    out.as_chunks_mut::<N>().0.iter_mut().zip(elements).for_each(|(out, x)| *out = [*x; N]);
}

/// Repeats elements of `width` bytes for the values of their rows, which offsets cut. `out` is what the rows have.
pub fn repeat_rows<O: Offset>(elements: &[u8], width: usize, offsets: &[O], out: &mut [u8]) {
    match width {
        1 => repeat_numbers::<u8, O, 128>(elements, offsets, out),
        2 => repeat_numbers::<u16, O, 64>(elements, offsets, out),
        4 => repeat_numbers::<u32, O, 32>(elements, offsets, out),
        8 => repeat_numbers::<u64, O, 16>(elements, offsets, out),
        _ => {
            let first = offsets[0].index();
            for (element, row) in elements.chunks_exact(width).zip(offsets.windows(2)) {
                repeat(element, 0, &mut out[(row[0].index() - first) * width..(row[1].index() - first) * width]);
            }
        }
    }
}

/// The same for numbers. Most rows are short: so many elements are written at once, over those of the next row.
fn repeat_numbers<T: bytemuck::Pod, O: Offset, const SHORT: usize>(elements: &[u8], offsets: &[O], out: &mut [u8]) {
    let out = bytemuck::cast_slice_mut::<u8, T>(out);
    let first = offsets[0].index();
    for (element, row) in elements.chunks_exact(size_of::<T>()).zip(offsets.windows(2)) {
        let element: T = bytemuck::pod_read_unaligned(element);
        let (start, end) = (row[0].index() - first, row[1].index() - first);
        match out[start..].first_chunk_mut::<SHORT>() {
            Some(short) if end - start <= SHORT => *short = [element; SHORT],
            _ => out[start..end].fill(element),
        }
    }
}

multiversion! {
    fn fill<E: Copy>(out: &mut [E], element: E) {
        out.fill(element);
    }
}

/// Copies what is there already, twice as much each time: few copies, and long ones.
fn repeat_doubled(element: &[u8], out: &mut [u8]) {
    let mut done = element.len().min(out.len());
    out[..done].copy_from_slice(&element[..done]);
    while done < out.len() {
        let more = done.min(out.len() - done);
        out.copy_within(..more, done);
        done += more;
    }
}

/// Writes where each of the texts at these positions ends, the first beginning at 0; gives the end of the last.
pub fn text_ends<O: Offset>(offsets: &[O], at: &[i64], ends: &mut [i64]) -> usize {
    let mut end = 0;
    for (out, &i) in ends.iter_mut().zip(at) {
        let i = i as usize;
        end += offsets[i + 1].index() - offsets[i].index();
        *out = end as i64;
    }
    end
}

/// Writes where each of the texts between these offsets ends, the first beginning at `end`; gives the end of the last.
#[inline(always)]
pub fn run_ends<O: Offset>(offsets: &[O], mut end: usize, ends: &mut [i64]) -> usize {
    for (out, text) in ends.iter_mut().zip(offsets.windows(2)) {
        end += text[1].index() - text[0].index();
        *out = end as i64;
    }
    end
}

/// Writes how long each of the texts between these offsets is.
pub fn text_lengths<O: Offset>(offsets: &[O], out: &mut [i64]) {
    for (out, text) in out.iter_mut().zip(offsets.windows(2)) {
        *out = (text[1].index() - text[0].index()) as i64;
    }
}

/// Copies the texts at these positions one after the other.
pub fn texts<O: Offset>(offsets: &[O], bytes: &[u8], at: &[i64], out: &mut [u8]) {
    let mut end = 0;
    for &i in at {
        let i = i as usize;
        let (from, to) = (offsets[i].index(), offsets[i + 1].index());
        copy_short(bytes, from, to - from, out, end);
        end += to - from;
    }
}

/// Copies `len` bytes. What lies behind them in `out` may be written too: the next text stands there.
#[inline(always)]
pub fn copy_short(bytes: &[u8], from: usize, len: usize, out: &mut [u8], to: usize) {
    const SHORT: usize = 32;
    if len <= SHORT
        && let (Some(bytes), Some(out)) = (bytes[from..].first_chunk::<SHORT>(), out[to..].first_chunk_mut::<SHORT>())
    {
        *out = *bytes;
        return;
    }
    out[to..to + len].copy_from_slice(&bytes[from..from + len]);
}

multiversion! {
    /// Sets the elements where bits are ones: their positions from `start` on.
    pub fn positions_of_ones(words: &[u64], start: usize, out: &mut [i64]) {
        let mut next = 0;
        for (i, &word) in words.iter().enumerate() {
            let mut rest = word;
            while rest != 0 {
                out[next] = (start + 64 * i + rest.trailing_zeros() as usize) as i64;
                next += 1;
                rest &= rest - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_of_an_axis_are_within_it() {
        let check = |at: &[i64], n: usize| {
            assert_eq!(are_within(at, n), at.iter().all(|i| (0..n as i64).contains(i)), "{at:?} of {n}")
        };
        for i in [i64::MIN, -1, 0, 1, 4, 5, i64::MAX] {
            check(&[0, 1, 2, 3, 4, 0, i, 1, 2], 5);
            check(&[i], 0);
            check(&[i], 1);
        }
        check(&[], 0);
    }

    #[test]
    fn numbers_of_few_sources_stand_beside_each_other() {
        let source: Vec<u8> = (0..=255).collect();
        for width in [1, 2, 4, 8] {
            for count in [2, 3, 4] {
                let sources: Vec<&[u8]> = (0..count).map(|i| &source[40 * i..][..5 * width]).collect();
                let mut out = vec![0; count * 5 * width];
                assert!(interleave(&sources, width, &mut out));
                let wanted: Vec<u8> = (0..5)
                    .flat_map(|i| sources.iter().map(move |s| &s[i * width..][..width]))
                    .flatten()
                    .copied()
                    .collect();
                assert_eq!(out, wanted, "{width} {count}");
            }
        }
        assert!(!interleave(&[&source], 1, &mut []) && !interleave(&[&source, &source], 3, &mut []));
    }

    #[test]
    fn elements_of_every_width_are_repeated() {
        let source: Vec<u8> = (0..=255).collect();
        for width in [1, 2, 4, 8, 16] {
            for times in [1, 2, 3, 4, 5, 7, 8, 16] {
                let source = &source[..6 * width];
                let mut out = vec![0; times * source.len()];
                repeat_each(source, width, times, &mut out);
                let wanted: Vec<u8> = source.chunks(width).flat_map(|x| x.repeat(times)).collect();
                assert_eq!(out, wanted, "{width} bytes {times} times");
            }
        }
    }

    #[test]
    fn elements_of_every_width_are_copied() {
        let source: Vec<u8> = (0..=255).collect();
        for width in [1, 2, 3, 4, 8, 12, 64] {
            let at = [2_i64, 0, 1, 2];
            let mut out = vec![0; width * at.len()];
            elements(&source, width, &at, &mut out);
            let wanted: Vec<u8> = at.iter().flat_map(|&i| source[i as usize * width..][..width].to_vec()).collect();
            assert_eq!(out, wanted, "{width}");
        }
    }

    #[test]
    fn an_element_is_repeated_from_anywhere() {
        for width in [1, 2, 3, 4, 8, 20, 64] {
            let element: Vec<u8> = (0..width).collect();
            let width = element.len();
            for (skip, len) in [(0, 200), (width - 1, 77), (width / 2, 1), (0, 0)] {
                let mut out = vec![255; len];
                repeat(&element, skip, &mut out);
                let wanted: Vec<u8> = (skip..skip + len).map(|i| element[i % width]).collect();
                assert_eq!(out, wanted, "{width} {skip}");
            }
        }
    }

    #[test]
    fn texts_short_and_long_are_copied() {
        let long = "x".repeat(100);
        let words = ["a", "", &long, "größe"];
        let bytes = words.concat().into_bytes();
        let mut offsets = vec![0_i32];
        words.iter().for_each(|w| offsets.push(offsets[offsets.len() - 1] + w.len() as i32));
        let at = [3_i64, 2, 1, 0, 3];
        let mut ends = [0; 5];
        let mut out = vec![0; text_ends(&offsets, &at, &mut ends)];
        texts(&offsets, &bytes, &at, &mut out);
        assert_eq!(out, at.map(|i| words[i as usize]).concat().into_bytes());
        assert_eq!(ends[4], out.len() as i64);
    }

    #[test]
    fn ones_are_found_in_order() {
        let mut out = [0; 4];
        positions_of_ones(&[1 << 63 | 1, 0, 0b110], 10, &mut out);
        assert_eq!(out, [10, 73, 139, 140]);
    }
}
