//! Texts as arguments: a vector of them, and which are there.

use arrow_buffer::BooleanBuffer;
use extenso_core::{Dense, Offsets, Value};
use extenso_types::{DTypeKind, Dim, Error, LeafSpec, Result};
use std::ops::Range;

/// The number of texts, as far as the arguments' specs tell: a vector of texts, and a boolean for each or one for all.
///
/// Errors: another dtype or rank.
pub fn infer_rows(args: &[LeafSpec]) -> Result<Dim> {
    let [texts, valid] = args else { return Err(Error::value(format!("{} arguments are given", args.len()))) };
    let texts = texts.tensor()?;
    if texts.dtype.kind() != DTypeKind::Text {
        return Err(Error::dtype(format!("the argument is {texts}")).wanted("strings or bytes"));
    }
    let Some([rows]) = texts.shape.dims() else {
        return Err(Error::shape(format!("the texts are {texts}")).wanted("a vector of them"));
    };
    infer_valid(valid, *rows)?;
    Ok(*rows)
}

/// Checks the spec of what says which of so many rows are there.
///
/// Errors: no booleans; another number of them.
pub fn infer_valid(valid: &LeafSpec, rows: Dim) -> Result<()> {
    let valid = valid.tensor()?;
    let fits = match valid.shape.dims() {
        None | Some([]) => true,
        Some([n]) => n.is_compatible_with(rows),
        Some(_) => false,
    };
    if fits && valid.dtype.kind() == DTypeKind::Bool {
        return Ok(());
    }
    Err(Error::dtype(format!("what says which rows are there is {valid}")).wanted(format!("bool[{rows}]")))
}

/// Which rows are there.
#[derive(Clone, Copy)]
pub enum Valid<'a> {
    All(bool),
    Each(&'a Dense),
}

impl<'a> Valid<'a> {
    /// Of an argument for so many rows.
    ///
    /// Errors: no booleans; another number of them.
    pub fn of(value: &'a Value, rows: usize) -> Result<Valid<'a>> {
        let dense = value.tensor()?.data()?;
        match dense.dims() {
            [] => Ok(Valid::All(dense.bits()?.value(0))),
            [n] if *n == rows => dense.bits().map(|_| Valid::Each(dense)),
            dims => {
                Err(Error::shape(format!("what says which rows are there has shape {dims:?}"))
                    .wanted(format!("[{rows}]")))
            }
        }
    }

    /// Whether a row is there.
    pub fn at(self, row: usize) -> bool {
        match self {
            Valid::All(all) => all,
            Valid::Each(dense) => dense.bits().is_ok_and(|bits| bits.value(row)),
        }
    }
}

/// The texts of an argument.
#[derive(Clone, Copy)]
pub struct Texts<'a> {
    offsets: &'a Offsets,
    bytes: &'a [u8],
    valid: Valid<'a>,
    /// How many there are.
    pub len: usize,
}

impl<'a> Texts<'a> {
    /// The texts, and which are there.
    ///
    /// Errors: other arguments.
    pub fn of(args: &'a [Value]) -> Result<Texts<'a>> {
        let [texts, valid] = args else { return Err(Error::value(format!("{} arguments are given", args.len()))) };
        let dense = texts.tensor()?.data()?;
        let (offsets, bytes) = dense.text()?;
        Ok(Texts { offsets, bytes, valid: Valid::of(valid, dense.len())?, len: dense.len() })
    }

    /// Which texts are there; none if all are.
    pub fn there(&self) -> Result<Option<BooleanBuffer>> {
        Ok(match self.valid {
            Valid::All(true) => None,
            Valid::All(false) => Some(BooleanBuffer::new_unset(self.len)),
            Valid::Each(dense) => Some(dense.bits()?.clone()),
        })
    }

    /// A text, if it is there.
    pub fn at(&self, i: usize) -> Option<&'a [u8]> {
        self.valid.at(i).then(|| self.bytes.get(self.offsets.get(i)..self.offsets.get(i + 1)).unwrap_or_default())
    }

    /// How many bytes they are.
    pub fn bytes(&self) -> usize {
        self.offsets.get(self.len) - self.offsets.get(0)
    }

    /// The texts from one on that have about so many bytes together; one at least, if there is one.
    pub fn piece(&self, start: usize, bytes: usize) -> Range<usize> {
        let most = self.offsets.get(start) + bytes;
        let (mut low, mut high) = ((start + 1).min(self.len), self.len);
        while low < high {
            let middle = low.midpoint(high);
            if self.offsets.get(middle) < most { low = middle + 1 } else { high = middle }
        }
        start..low
    }
}
