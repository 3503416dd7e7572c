//! Eight characters of a number as one word, the first in the lowest byte.
//!
//! Source of [`joined`]: D. Lemire, "Quickly parsing eight digits", 2018.

/// A one in each byte.
pub const ONES: u64 = 0x0101_0101_0101_0101;
/// The highest bit of each byte.
pub const HIGHS: u64 = 0x80 * ONES;
/// Eight characters 0: what turns digits into their values, and back, where it differs.
pub const ZEROS: u64 = 0x30 * ONES;

/// The powers of ten by which up to eight digits are moved.
pub const POWERS: [i64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// The highest bit of each byte that is none of 0 to 9.
#[inline(always)]
pub fn not_digits(bytes: u64) -> u64 {
    (((bytes & !HIGHS) + ONES * 0x76) | bytes) & HIGHS
}

/// The number that eight digits are, as bytes 0 to 9: neighbours are joined three times.
#[inline(always)]
pub fn joined(digits: u64) -> u64 {
    let pairs = digits.wrapping_mul(10 << 8 | 1) >> 8 & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100 << 16 | 1) >> 16 & 0x0000_ffff_0000_ffff;
    fours.wrapping_mul(10_000 << 32 | 1) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_told_from_all_other_bytes_and_joined() {
        for byte in 0..=u8::MAX {
            for place in 0..8 {
                let word = ZEROS & !(0xff << (8 * place)) | u64::from(byte) << (8 * place);
                let odd = if byte.is_ascii_digit() { 0 } else { 0x80 << (8 * place) };
                assert_eq!(not_digits(word ^ ZEROS), odd, "{byte} at {place}");
            }
        }
        for number in (0..100_000_000).step_by(9_973).chain([7, 99_999_999]) {
            let text: [u8; 8] = format!("{number:08}").into_bytes().try_into().expect("eight digits");
            assert_eq!(joined(u64::from_le_bytes(text) ^ ZEROS), number);
        }
    }
}
