//! Copies that go past the caches, and reads that are asked for in time.
//!
//! A store reads the line that it writes to, unless it says that the whole line will be written. For results that are larger
//! than the caches these reads are a third of what goes over the memory's wires.

#[cfg(target_arch = "x86_64")]
use super::isa::{Isa, isa};
use bytemuck::Pod;

/// Results of at least so many bytes are behind themselves in the caches: what is written first is gone when the last is there.
pub const FAR: usize = 1 << 23;

/// Copies bytes without reading the lines that they are written to. Slower than a plain copy where those are in a cache.
///
/// Both have one length. Whoever calls it calls [`arrived`] before another thread is told of what was written.
#[allow(unsafe_code)]
pub fn copy_past_caches(from: &[u8], to: &mut [u8]) {
    assert_eq!(from.len(), to.len(), "a copy has the length of its source");
    // SAFETY: `to` has as many bytes.
    unsafe { past_caches(from, to.as_mut_ptr()) }
}

/// Adds elements behind those of a vector that has room for them, as [`copy_past_caches`] copies.
#[allow(unsafe_code)]
pub fn extend_past_caches<T: Pod>(all: &mut Vec<T>, part: &[T]) {
    let room = &mut all.spare_capacity_mut()[..part.len()];
    // SAFETY: the room has as many bytes, all of which are written before the vector counts them.
    unsafe {
        past_caches(bytemuck::cast_slice(part), room.as_mut_ptr().cast());
        all.set_len(all.len() + part.len());
    }
}

/// Copies bytes; where stores have no other way, through the caches.
///
/// # Safety
///
/// As many bytes as `from` has may be written at `to`.
#[cfg(not(target_arch = "x86_64"))]
#[allow(unsafe_code)]
unsafe fn past_caches(from: &[u8], to: *mut u8) {
    // SAFETY: the caller says so.
    unsafe { to.copy_from_nonoverlapping(from.as_ptr(), from.len()) }
}

/// Copies bytes, whole lines of them past the caches.
///
/// # Safety
///
/// As many bytes as `from` has may be written at `to`.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
unsafe fn past_caches(from: &[u8], to: *mut u8) {
    let (head, from) = from.split_at(to.align_offset(LINE).min(from.len()));
    let (lines, tail) = from.as_chunks::<LINE>();
    // SAFETY: the three parts have as many bytes as all; the lines begin where one begins, and `isa()` only gives instruction sets
    // that this machine was found to support.
    unsafe {
        to.copy_from_nonoverlapping(head.as_ptr(), head.len());
        let to = to.add(head.len());
        match isa() {
            Isa::Avx512 => by_lines(lines, to.cast()),
            Isa::Avx2 | Isa::Baseline => by_quarters(lines, to.cast()),
        }
        to.add(lines.len() * LINE).copy_from_nonoverlapping(tail.as_ptr(), tail.len());
    }
}

/// The bytes of a cache line.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// A line at once, which is a tenth faster than by quarters.
///
/// # Safety
///
/// As many lines may be written at `to`, which is a multiple of 64 bytes.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
#[allow(unsafe_code)]
unsafe fn by_lines(from: &[[u8; LINE]], to: *mut [u8; LINE]) {
    use std::arch::x86_64::{_mm512_loadu_si512, _mm512_stream_si512};
    for (i, from) in from.iter().enumerate() {
        // SAFETY: the caller says so.
        unsafe { _mm512_stream_si512(to.add(i).cast(), _mm512_loadu_si512(from.as_ptr().cast())) };
    }
}

/// A line in four steps.
///
/// # Safety
///
/// As many lines may be written at `to`, which is a multiple of 16 bytes.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
unsafe fn by_quarters(from: &[[u8; LINE]], to: *mut [u8; LINE]) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
    for (i, from) in from.iter().enumerate() {
        let from = from.as_ptr().cast::<__m128i>();
        // SAFETY: the caller says so; every x86-64 has these instructions.
        unsafe {
            let to = to.add(i).cast::<__m128i>();
            for i in 0..LINE / size_of::<__m128i>() {
                _mm_stream_si128(to.add(i), _mm_loadu_si128(from.add(i)));
            }
        }
    }
}

/// Waits until what was copied past the caches is there for other threads.
#[allow(unsafe_code)]
pub fn arrived() {
    // SAFETY: a fence changes nothing, and every x86-64 has it.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

/// Asks for the line with the byte at `at`, to be read soon; it may lie behind the last.
///
/// Short texts that are read one by one do not tell the processor in time that the next lines follow.
#[inline(always)]
#[allow(unsafe_code)]
pub fn ask_for(bytes: &[u8], at: usize) {
    // SAFETY: it reads nothing, whatever the address is, and every x86-64 has it.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(bytes.as_ptr().wrapping_add(at).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (bytes, at);
}

#[cfg(test)]
mod tests {
    use super::super::isa::{supported, with_isa};
    use super::{copy_past_caches, extend_past_caches};

    #[test]
    fn every_byte_is_copied_and_no_other() {
        let from: Vec<u8> = (0..1000u32).map(|i| i.to_le_bytes()[0] ^ 0x5a).collect();
        for (start, len) in [(0, 0), (0, 1), (3, 63), (1, 64), (7, 200), (64, 128), (5, 900)] {
            for &isa in supported() {
                let (mut to, what) = (vec![0; 1000], format!("{len} bytes at {start}, {isa}"));
                with_isa(isa, || copy_past_caches(&from[start / 2..start / 2 + len], &mut to[start..start + len]));
                assert_eq!(to[start..start + len], from[start / 2..start / 2 + len], "{what}");
                assert!(to[..start].iter().chain(&to[start + len..]).all(|byte| *byte == 0), "{what}");
                let mut more = Vec::with_capacity(1000);
                with_isa(isa, || {
                    [&from[..start], &from[start..start + len]].map(|part| extend_past_caches(&mut more, part))
                });
                assert_eq!(more, from[..start + len], "{what}");
            }
        }
    }
}
