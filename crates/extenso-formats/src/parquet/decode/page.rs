//! The parts of a data page: repetition levels, definition levels, values (Apache Parquet, "Data Pages").
//!
//! Invariant: a part lies inside the page, or the page is refused.

use super::hybrid::Levels;
use super::way::Way;
use super::{Stop, bad};
use parquet::basic::Encoding;
use parquet::column::page::Page;

/// A data page taken apart.
#[derive(Debug)]
pub struct Parts<'a> {
    pub repeats: Levels,
    pub levels: Levels,
    pub encoding: Encoding,
    pub values: &'a [u8],
}

/// Takes a data page apart; none if it is another page.
///
/// Errors: levels that are cut short, too large, or packed in a way that is not usual; numbers that differ from the header's.
pub fn parts<'a>(page: &'a Page, way: &Way) -> Result<Option<Parts<'a>>, Stop> {
    // There are fewer lists than levels, and those are few.
    let lists = u8::try_from(way.depths.len() - 1).map_err(|_| Stop::Unusual)?;
    let count = page.num_values() as usize;
    match page {
        Page::DictionaryPage { .. } => Ok(None),
        Page::DataPage { buf, encoding, def_level_encoding, rep_level_encoding, .. } => {
            let (repeats, rest) = prefixed(buf, lists, *rep_level_encoding, count)?;
            let (levels, values) = prefixed(rest, way.there, *def_level_encoding, count)?;
            Ok(Some(Parts { repeats, levels, encoding: *encoding, values }))
        }
        Page::DataPageV2 { buf, encoding, num_nulls, def_levels_byte_len, rep_levels_byte_len, .. } => {
            let (repeats, rest) = split(buf, *rep_levels_byte_len)?;
            let (levels, values) = split(rest, *def_levels_byte_len)?;
            let (repeats, levels) = (of(repeats, lists, count)?, of(levels, way.there, count)?);
            let nulls = match &levels {
                Levels::Largest(_) => 0,
                Levels::Each(each) => each.iter().filter(|level| **level != way.there).count(),
            };
            if nulls != *num_nulls as usize {
                return Err(bad(format!("a page has {nulls} nulls, and its header says {num_nulls}")));
            }
            Ok(Some(Parts { repeats, levels, encoding: *encoding, values }))
        }
    }
}

/// Levels behind their length, which are not there if none is above 0.
fn prefixed(bytes: &[u8], most: u8, encoding: Encoding, count: usize) -> Result<(Levels, &[u8]), Stop> {
    if most == 0 {
        return Ok((Levels::Largest(count), bytes));
    }
    if encoding != Encoding::RLE {
        return Err(Stop::Unusual);
    }
    let (length, rest) = length(bytes)?;
    let (levels, rest) = split(rest, length)?;
    Ok((Levels::read(levels, most, count)?, rest))
}

fn of(bytes: &[u8], most: u8, count: usize) -> Result<Levels, Stop> {
    if most == 0 { Ok(Levels::Largest(count)) } else { Levels::read(bytes, most, count) }
}

/// A length of four bytes, and what is behind it.
pub fn length(bytes: &[u8]) -> Result<(u32, &[u8]), Stop> {
    let (length, rest) = bytes.split_first_chunk::<4>().ok_or_else(|| bad("a length is cut short"))?;
    Ok((u32::from_le_bytes(*length), rest))
}

/// So many bytes, and what is behind them.
pub fn split(bytes: &[u8], length: u32) -> Result<(&[u8], &[u8]), Stop> {
    let cut = || bad(format!("{length} bytes are said to follow, and {} do", bytes.len()));
    bytes.split_at_checked(length as usize).ok_or_else(cut)
}
