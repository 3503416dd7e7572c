//! Texts as offsets and bytes.

use crate::offsets::{Offsets, with_offsets};
use arrow_buffer::{Buffer, MutableBuffer, ScalarBuffer};
use extenso_types::{Error, Result};

/// Concatenates texts into offsets and bytes.
pub fn join_text<'a>(items: impl Iterator<Item = &'a [u8]>) -> (Offsets, Buffer) {
    let mut bytes = MutableBuffer::new(0);
    let mut offsets = vec![0_i64];
    for item in items {
        bytes.extend_from_slice(item);
        offsets.push(i64::try_from(bytes.len()).unwrap_or(i64::MAX));
    }
    (Offsets::I64(ScalarBuffer::from(offsets)), bytes.into())
}

/// Checks that the offsets cut the bytes into texts of UTF-8.
///
/// Errors: they do not; the place is named.
pub(super) fn check_utf8(offsets: &Offsets, bytes: &Buffer) -> Result<()> {
    let (first, last) = (offsets.first(), offsets.last());
    let bad = |at: usize| {
        Error::data(format!("the bytes at {at} are not UTF-8")).wanted("UTF-8 text").hint("Use dtype bytes.")
    };
    let bytes = &bytes.as_slice()[first..last];
    // No offset can cut a character of one byte.
    if bytes.is_ascii() {
        return Ok(());
    }
    let text = std::str::from_utf8(bytes).map_err(|e| bad(first + e.valid_up_to()))?;
    with_offsets!(offsets, o => {
        for &at in o {
            let at = usize::try_from(at).unwrap_or(0);
            if !text.is_char_boundary(at - first) {
                return Err(bad(at));
            }
        }
    });
    Ok(())
}
