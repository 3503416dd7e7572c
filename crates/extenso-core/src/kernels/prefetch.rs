//! Memory that is asked for before it is read.
//!
//! Invariant: no value depends on it, only how long a later read takes.

/// Asks for bytes that are read soon.
#[allow(unsafe_code)]
pub fn prefetch(bytes: &[u8]) {
    const LINE: usize = 64;
    for line in bytes.chunks(LINE) {
        // SAFETY: a prefetch changes nothing and never faults, and every x86-64 has it.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast());
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = line;
    }
}
