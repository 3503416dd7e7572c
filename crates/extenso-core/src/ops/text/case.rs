//! Strings in another case.
//!
//! Invariant: a string becomes what the full Unicode mapping makes of it as a whole, whatever stands beside it.

use super::super::args::one_tensor;
use super::texts::{Texts, mapped};
use crate::kernels::pool::Block;
use crate::tensor::{Dense, Storage, Tensor};
use crate::threads::{pieces, side_by_side, split_at_lengths};
use crate::value::Outputs;
use extenso_types::Result;
use std::ops::Range;

/// How the case of strings changes.
pub(super) struct Case {
    /// That of bytes which are ASCII; others stay.
    pub ascii: fn(&mut [u8]),
    /// What comes after that in a string of ASCII, where it depends on the place in it.
    pub placed: Option<fn(&mut [u8])>,
    pub any: fn(&str) -> String,
}

/// Strings in another case.
///
/// The bytes of all are changed at once, then the strings that are not ASCII are written over, as long as they keep their lengths,
/// which nearly all do. If one does not, all are made anew.
pub(super) fn in_case(x: &Dense, case: &Case) -> Result<Outputs> {
    let (offsets, _) = x.text()?;
    let (first, last) = (offsets.first(), offsets.last());
    let mut out = Block::new(last - first);
    let fits = match pieces(last - first) {
        1 => write(x, 0..x.len(), case, out.bytes_mut())?,
        n => {
            let part = x.len().div_ceil(n).max(1);
            let rows = (0..x.len()).step_by(part).map(|row| row..x.len().min(row + part));
            let lengths = rows.clone().map(|rows| offsets.get(rows.end) - offsets.get(rows.start));
            let parts = rows.zip(split_at_lengths(out.bytes_mut(), lengths)).collect();
            let fit = side_by_side(parts, |(rows, out)| write(x, rows, case, out));
            fit.into_iter().try_fold(true, |all, fits| fits.map(|fits| all & fits))?
        }
    };
    if !fits {
        return mapped(x, |i, out| anew(x, i, case, out));
    }
    let storage = Storage::Text { offsets: offsets.from_zero(), bytes: out.freeze() };
    one_tensor(Tensor::from_dense(x.dtype(), x.dims().into(), storage))
}

/// Pushes one string in its other case.
fn anew(x: &Dense, i: usize, case: &Case, out: &mut Texts) -> Result<()> {
    let text = x.text_at(i)?;
    if !text.is_ascii() {
        return out.push((case.any)(x.str_at(i)?).as_bytes());
    }
    if let Some(to) = out.place(text.len())? {
        to.copy_from_slice(text);
        (case.ascii)(to);
        case.placed.iter().for_each(|placed| placed(to));
    }
    Ok(())
}

/// Writes the strings of some rows; false if one has another length in its other case.
fn write(x: &Dense, mut rows: Range<usize>, case: &Case, out: &mut [u8]) -> Result<bool> {
    let (offsets, bytes) = x.text()?;
    let start = offsets.get(rows.start);
    let bytes = &bytes.as_slice()[start..offsets.get(rows.end)];
    out.copy_from_slice(bytes);
    (case.ascii)(out);
    if let Some(placed) = case.placed {
        rows.clone().for_each(|row| placed(&mut out[offsets.get(row) - start..offsets.get(row + 1) - start]));
    }
    let mut at = 0;
    while let Some(next) = first_beyond_ascii(&bytes[at..]) {
        let end_of = |row: usize| offsets.get(row + 1) - start;
        let Some(row) = rows.find(|row| end_of(*row) > at + next) else { return Ok(true) };
        let changed = (case.any)(x.str_at(row)?);
        let place = &mut out[offsets.get(row) - start..end_of(row)];
        if changed.len() != place.len() {
            return Ok(false);
        }
        place.copy_from_slice(changed.as_bytes());
        at = end_of(row);
    }
    Ok(true)
}

/// The place of the first byte that is not ASCII.
fn first_beyond_ascii(bytes: &[u8]) -> Option<usize> {
    /// So many bytes are looked at together.
    const BLOCK: usize = 128;
    let start = bytes.chunks(BLOCK).position(|block| !block.is_ascii())? * BLOCK;
    Some(start + bytes[start..].iter().position(|byte| !byte.is_ascii())?)
}

#[cfg(test)]
mod tests {
    use super::super::letters::{capitalized, casefolded, swapped, titled};
    use crate::ops::{capitalize, casefold, lower, swapcase, title, upper};
    use crate::tensor::Tensor;
    use crate::threads::with_threads;

    #[test]
    fn strings_change_their_case_as_alone() {
        // Some keep their length; with those that do not, all are made anew.
        let keep = [
            "Abc",
            "",
            "two WORDS a1b it's",
            "\u{c4}\u{d6} x",
            "\u{3a3}\u{39f}\u{3a3}",
            "Z",
            "\u{65e5}\u{672c}Q",
            "\u{e9}",
        ];
        let change = ["\u{130}I", "stra\u{df}e", "\u{fb01}"];
        for kinds in [&keep[..], &[&keep[..], &change].concat()] {
            let texts: Vec<&str> = (0..20_000).map(|i| kinds[i * 7919 % kinds.len()]).collect();
            let all = Tensor::strings(&[texts.len()], &texts).expect("texts");
            for threads in [1, 2] {
                let (low, up) = with_threads(threads, || (lower(&all).expect("lower"), upper(&all).expect("upper")));
                let others = with_threads(threads, || [capitalize(&all), title(&all), swapcase(&all), casefold(&all)]);
                let others = others.map(|made| made.expect("another case"));
                for (i, text) in texts.iter().enumerate() {
                    let at = |x: &crate::Value| {
                        x.tensor().and_then(Tensor::data).and_then(|x| x.str_at(i)).map(str::to_string)
                    };
                    assert_eq!(at(&low).expect("a text"), text.to_lowercase(), "{text:?}");
                    assert_eq!(at(&up).expect("a text"), text.to_uppercase(), "{text:?}");
                    assert_eq!(at(&others[0]).expect("a text"), capitalized(text), "{text:?}");
                    assert_eq!(at(&others[1]).expect("a text"), titled(text), "{text:?}");
                    assert_eq!(at(&others[2]).expect("a text"), swapped(text), "{text:?}");
                    assert_eq!(at(&others[3]).expect("a text"), casefolded(text), "{text:?}");
                }
            }
        }
    }
}
