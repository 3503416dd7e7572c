//! Memory for long records, of which the system is asked: where it gives none there is an error.
//!
//! Invariant: a text grows by what there is memory for, and a long record is read where there is memory for what becomes of it.

use crate::source::refused;
use extenso_core::kernels::pool::affordable;
use extenso_types::{Error, Result};
use std::io::{self, BufRead};

/// Adds what a source has up to the next end of a line, and that; how many bytes came, which are none at its end.
///
/// Errors: what the operating system refuses; no memory.
pub fn line(source: &mut dyn BufRead, text: &mut Vec<u8>) -> io::Result<usize> {
    let before = text.len();
    loop {
        let read = match source.fill_buf() {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        let line = memchr::memchr(b'\n', read).map_or(read.len(), |end| end + 1);
        add(text, &read[..line])?;
        source.consume(line);
        if line == 0 || text.last() == Some(&b'\n') {
            return Ok(text.len() - before);
        }
    }
}

/// Adds bytes to a text.
///
/// Errors: no memory.
pub fn add(text: &mut Vec<u8>, bytes: &[u8]) -> io::Result<()> {
    reserve(text, bytes.len())?;
    text.extend_from_slice(bytes);
    Ok(())
}

/// Makes room for more bytes of a text.
///
/// Errors: no memory.
pub fn reserve(text: &mut Vec<u8>, more: usize) -> io::Result<()> {
    if text.try_reserve(more).is_err() {
        let what = format!("{} bytes are read, and the system gives no more memory", text.len());
        return Err(refused(
            Error::memory(what).wanted("records that are shorter, each in a line or an item of an array"),
        ));
    }
    Ok(())
}

/// Checks that there is memory for what a record becomes: its texts, and a number for each item, where columns are doubled as they grow and
/// then put behind others.
///
/// Errors: there is not.
pub fn afford(record: &[u8]) -> Result<()> {
    if record.len() < LONG {
        return Ok(());
    }
    let items = memchr::memchr_iter(b',', record).count();
    affordable(record.len().saturating_mul(4).saturating_add(items.saturating_mul(24)))
}

/// Records of fewer bytes are read without asking.
const LONG: usize = 1 << 22;
