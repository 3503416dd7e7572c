//! Texts as offsets and bytes.

use crate::offsets::{Offsets, with_offsets};
use crate::threads::{pieces_of, side_by_side};
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
    if is_ascii(bytes) {
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

/// Why there is no text at `i`.
#[cold]
pub(super) fn beyond(i: usize, len: usize) -> Error {
    Error::value(format!("element {i} is asked for, of {len}")).wanted("an element that there is")
}

/// Whether all bytes are characters of their own.
fn is_ascii(bytes: &[u8]) -> bool {
    match pieces_of(bytes.len(), MANY) {
        1 => bytes.is_ascii(),
        pieces => {
            let parts = bytes.chunks(bytes.len().div_ceil(pieces)).collect();
            side_by_side(parts, <[u8]>::is_ascii).into_iter().all(|ascii| ascii)
        }
    }
}

/// So many bytes are looked at side by side.
const MANY: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use crate::tensor::Tensor;

    #[test]
    fn there_is_no_text_behind_the_last() {
        let texts = Tensor::strings(&[2], &["a", "bc"]).expect("texts");
        let texts = texts.data().expect("data");
        assert_eq!(texts.str_at(1).expect("there"), "bc");
        for i in [2, 3, usize::MAX] {
            let error = texts.str_at(i).expect_err("there is none").to_string();
            assert!(error.contains(&format!("element {i} is asked for, of 2")), "{error}");
            assert!(texts.text_at(i).is_err());
        }
    }
}
