//! Copies that go past the caches, and reads that are asked for in time.
//!
//! A store reads the line that it writes to, unless it says that the whole line will be written. For results that are larger
//! than the caches these reads are a third of what goes over the memory's wires.

#[cfg(target_arch = "x86_64")]
use super::isa::{Isa, isa};
use bytemuck::Pod;
use std::marker::PhantomData;

/// Results of at least so many bytes are behind themselves in the caches: what is written first is gone when the last is there.
pub const FAR: usize = 1 << 23;

/// Runs `work`, which stores past the caches by the [`Past`] that it is lent, and waits until all is there for other threads.
///
/// So one wait is enough for a piece of work, and none is forgotten: neither where `work` returns early nor where it panics.
///
/// ```
/// use extenso_core::kernels::stream::past_caches;
///
/// let mut to = [0; 3];
/// past_caches(|past| past.copy(&[1, 2, 3], &mut to));
/// assert_eq!(to, [1, 2, 3]);
/// ```
///
/// What is stored to stays borrowed until it is there, so `work` cannot look at it.
///
/// ```compile_fail,E0502
/// use extenso_core::kernels::stream::past_caches;
///
/// let mut to = [0; 3];
/// past_caches(|past| {
///     past.copy(&[1, 2, 3], &mut to);
///     assert_eq!(to, [1, 2, 3]);
/// });
/// ```
#[inline]
pub fn past_caches<'a, R>(work: impl FnOnce(&Past<'a>) -> R) -> R {
    let _wait = Wait;
    work(&Past(PhantomData))
}

/// Stores past the caches, to memory that is borrowed for `'a`: until [`past_caches`], which lends it, has waited for them.
///
/// Invariant: it stays on the thread that waits, and `'a` does not end before that has. So it is neither sent nor shared, and
/// `'a` is neither made longer nor shorter.
pub struct Past<'a>(PhantomData<*mut &'a mut ()>);

impl<'a> Past<'a> {
    /// Copies bytes without reading the lines that they are written to. Slower than a plain copy where those are in a cache.
    ///
    /// Both have one length.
    #[allow(unsafe_code)]
    pub fn copy(&self, from: &[u8], to: &'a mut [u8]) {
        assert_eq!(from.len(), to.len(), "a copy has the length of its source");
        // SAFETY: `to` has as many bytes, and nobody else has them before they are there.
        unsafe { store(from, to.as_mut_ptr()) }
    }

    /// Adds elements behind those of a vector that has room for them, as [`Past::copy`] copies.
    pub fn extend<T: Pod>(&self, all: &'a mut Vec<T>, part: &[T]) {
        append(all, part);
    }

    /// As [`Past::extend`], of what becomes of each element.
    pub fn extend_with<T: Pod>(&self, all: &'a mut Vec<T>, part: &[T], f: impl Fn(T) -> T) {
        let mut near = [T::zeroed(); 512];
        for part in part.chunks(near.len()) {
            let near = &mut near[..part.len()];
            near.iter_mut().zip(part).for_each(|(near, x)| *near = f(*x));
            append(all, near);
        }
    }
}

/// Adds elements to a vector that has room for them and is borrowed until they are there.
#[allow(unsafe_code)]
fn append<T: Pod>(all: &mut Vec<T>, part: &[T]) {
    let room = &mut all.spare_capacity_mut()[..part.len()];
    // SAFETY: the room has as many bytes, all of which are written before the vector counts them; none is read here.
    unsafe {
        store(bytemuck::cast_slice(part), room.as_mut_ptr().cast());
        all.set_len(all.len() + part.len());
    }
}

/// Waits, where it is dropped, until what this thread stored past the caches is there for other threads.
struct Wait;

impl Drop for Wait {
    #[inline]
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: a fence changes nothing, and every x86-64 has it.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            std::arch::x86_64::_mm_sfence();
        }
    }
}

/// Copies bytes; where stores have no other way, through the caches.
///
/// # Safety
///
/// As many bytes as `from` has may be written at `to`, and are not looked at before this thread has dropped a [`Wait`].
#[cfg(not(target_arch = "x86_64"))]
#[allow(unsafe_code)]
unsafe fn store(from: &[u8], to: *mut u8) {
    // SAFETY: the caller says so.
    unsafe { to.copy_from_nonoverlapping(from.as_ptr(), from.len()) }
}

/// Copies bytes, whole lines of them past the caches.
///
/// # Safety
///
/// As many bytes as `from` has may be written at `to`, and are not looked at before this thread has dropped a [`Wait`].
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
unsafe fn store(from: &[u8], to: *mut u8) {
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
/// As many lines may be written at `to`, which is a multiple of 64 bytes, as [`store`] says.
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
/// As many lines may be written at `to`, which is a multiple of 16 bytes, as [`store`] says.
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
    use super::past_caches;

    #[test]
    fn every_byte_is_copied_and_no_other() {
        let from: Vec<u8> = (0..1000u32).map(|i| i.to_le_bytes()[0] ^ 0x5a).collect();
        for (start, len) in [(0, 0), (0, 1), (3, 63), (1, 64), (7, 200), (64, 128), (5, 900)] {
            for &isa in supported() {
                let (mut to, what) = (vec![0; 1000], format!("{len} bytes at {start}, {isa}"));
                let source = &from[start / 2..start / 2 + len];
                with_isa(isa, || past_caches(|past| past.copy(source, &mut to[start..start + len])));
                assert_eq!(&to[start..start + len], source, "{what}");
                assert!(to[..start].iter().chain(&to[start + len..]).all(|byte| *byte == 0), "{what}");
                let mut more = Vec::with_capacity(1000);
                with_isa(isa, || {
                    past_caches(|past| past.extend(&mut more, &from[..start]));
                    past_caches(|past| past.extend_with(&mut more, &from[start..start + len], |x| x));
                });
                assert_eq!(more, from[..start + len], "{what}");
            }
        }
    }
}
