//! Bit-packed booleans (being written).
/// Loads bits.
pub fn load_bits(src: &[u8], bit_offset: usize, len: usize, out: &mut [u64]) {
    for (w, o) in out[..len.div_ceil(64)].iter_mut().enumerate() {
        *o = 0;
        for b in 0..64.min(len - w * 64) {
            let at = bit_offset + w * 64 + b;
            *o |= u64::from(src[at / 8] >> (at % 8) & 1) << b;
        }
    }
}
