//! Columns joined end to end: what several threads read becomes what one would have read.

use super::{BadRows, Bits, Column, Decoded, OffsetVec, TextVec, extend};
use bytemuck::Pod;
use extenso_core::kernels::pool::reserve;
use extenso_core::kernels::stream::{FAR, Past, past_caches};
use extenso_types::{DType, Error, Result};

impl Decoded {
    /// Adds the rows of another part.
    ///
    /// Errors: more items or bytes than the offsets count; no memory for them; columns of different plans.
    pub fn append(&mut self, part: &Decoded) -> Result<()> {
        self.rows += part.rows;
        self.starts.extend(&part.starts);
        self.bad.add(&part.bad);
        let mut both = self.columns.0.iter_mut().zip(&part.columns.0);
        past_caches(|past| both.try_for_each(|(column, part)| column.append(part, past)))
    }

    /// Makes room for so many times what a part has. Where there is not as much memory, it is made later, for what comes.
    pub fn reserve(&mut self, part: &Decoded, times: usize) {
        for (column, part) in self.columns.0.iter_mut().zip(&part.columns.0) {
            column.reserve(part, times);
        }
    }

    /// Drops all rows, and keeps the room that they took.
    pub fn clear(&mut self) {
        self.rows = 0;
        self.starts.clear();
        self.bad = BadRows::default();
        self.columns.0.iter_mut().for_each(|column| column.truncate(0));
    }
}

/// Applies one body to two columns that hold the same.
macro_rules! both {
    ($column:expr, $other:expr, $numbers:ident, $part:ident => $on_numbers:expr,
     $bits:ident => $on_bits:expr, $texts:ident => $on_texts:expr, $offsets:ident => $on_offsets:expr) => {
        both!($column, $other, $numbers, $part => $on_numbers, $bits => $on_bits, $texts => $on_texts, $offsets => $on_offsets;
              I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64)
    };
    ($column:expr, $other:expr, $numbers:ident, $part:ident => $on_numbers:expr,
     $bits:ident => $on_bits:expr, $texts:ident => $on_texts:expr, $offsets:ident => $on_offsets:expr; $($variant:ident),*) => {
        match ($column, $other) {
            $((Column::$variant($numbers), Column::$variant($part)) => $on_numbers,)*
            (Column::Bits($bits), Column::Bits($part)) => $on_bits,
            (Column::Text($texts), Column::Text($part)) => $on_texts,
            (Column::Offsets($offsets), Column::Offsets($part)) => $on_offsets,
            _ => return Err(Error::internal("two parts of a column are of different kinds")),
        }
    };
}

impl Column {
    /// Adds all elements of another column.
    fn append<'a>(&'a mut self, part: &Column, past: &Past<'a>) -> Result<()> {
        let fits = both!(self, part,
            numbers, part => extend_from(numbers, part, past),
            bits => { bits.append(part); true },
            texts => texts.append(part, past),
            offsets => offsets.append(part, past));
        if fits {
            return Ok(());
        }
        Err(Error::value("there is more than offsets can count, or than there is memory for")
            .hint("Use i64 offsets, or read in smaller batches"))
    }

    fn reserve(&mut self, part: &Column, times: usize) {
        let reserve_all = || -> Result<()> {
            both!(self, part,
                numbers, part => room(numbers, part, times),
                bits => bits.reserve(part.len().saturating_mul(times)),
                texts => texts.reserve(part, times),
                offsets => offsets.reserve(part, times));
            Ok(())
        };
        let _ = reserve_all();
    }
}

fn room<T: Pod + Send>(all: &mut Vec<T>, part: &[T], times: usize) {
    let _ = reserve(all, part.len().saturating_mul(times));
}

/// Adds elements, and says whether there is memory for them.
fn extend_from<'a, T: Pod + Send>(all: &'a mut Vec<T>, part: &[T], past: &Past<'a>) -> bool {
    if is_far(all, part.len()) {
        past.extend(all, part);
        return true;
    }
    extend(all, part.len(), part.iter().copied()).is_ok()
}

/// As [`extend_from`], of what becomes of each element.
fn extend_with<'a, T: Pod + Send>(all: &'a mut Vec<T>, part: &[T], f: impl Fn(T) -> T, past: &Past<'a>) -> bool {
    if is_far(all, part.len()) {
        past.extend_with(all, part, f);
        return true;
    }
    extend(all, part.len(), part.iter().map(|x| f(*x))).is_ok()
}

/// Whether a column has room for `n` elements more, and is larger than the caches.
fn is_far<T>(all: &Vec<T>, n: usize) -> bool {
    all.capacity() >= FAR / size_of::<T>() && all.capacity() - all.len() >= n
}

impl Bits {
    /// Adds all bits of another list.
    pub fn append(&mut self, other: &Bits) {
        let shift = self.len() % 8;
        let (bytes, len) = (other.as_bytes(), self.len() + other.len());
        if shift > 0 {
            // Each byte fills up the last one, and what is left of it begins the next.
            let mut carry = self.bytes.pop().unwrap_or_default();
            self.bytes.extend(bytes.iter().map(|byte| {
                let whole = carry | byte << shift;
                carry = byte >> (8 - shift);
                whole
            }));
            self.bytes.push(carry);
            self.bytes.truncate(len.div_ceil(8));
        } else {
            self.bytes.extend_from_slice(bytes);
        }
        self.len = len;
    }

    fn reserve(&mut self, bits: usize) {
        let _ = reserve(&mut self.bytes, bits.div_ceil(8));
    }
}

impl TextVec {
    /// The texts of all parts, in order.
    ///
    /// Errors: more bytes than offsets count.
    pub fn joined(parts: Vec<TextVec>) -> Result<TextVec> {
        let mut parts = parts.into_iter();
        let mut all = parts.next().map_or_else(|| TextVec::new(DType::I64), Ok)?;
        for part in parts {
            if !past_caches(|past| all.append(&part, past)) {
                return Err(Error::value("the texts are longer than offsets can count"));
            }
        }
        Ok(all)
    }

    /// Adds all texts of another column, or says that the offsets' width cannot count them.
    #[must_use]
    pub fn append<'a>(&'a mut self, other: &TextVec, past: &Past<'a>) -> bool {
        self.offsets.append(&other.offsets, past) && extend_from(&mut self.bytes, &other.bytes, past)
    }

    fn reserve(&mut self, part: &TextVec, times: usize) {
        self.offsets.reserve(part.len(), times);
        room(&mut self.bytes, &part.bytes, times);
    }
}

impl OffsetVec {
    /// Adds all rows of another column, or says that the width cannot count them.
    #[must_use]
    pub fn append<'a>(&'a mut self, other: &OffsetVec, past: &Past<'a>) -> bool {
        let last = self.last();
        let Some(end) = last.checked_add(other.last()) else { return false };
        match (self, other) {
            (OffsetVec::I32(ends), OffsetVec::I32(more)) => match (i32::try_from(last), i32::try_from(end)) {
                (Ok(last), Ok(_)) => extend_with(ends, more.get(1..).unwrap_or_default(), |end| last + end, past),
                _ => false,
            },
            (OffsetVec::I64(ends), OffsetVec::I64(more)) => match (i64::try_from(last), i64::try_from(end)) {
                (Ok(last), Ok(_)) => extend_with(ends, more.get(1..).unwrap_or_default(), |end| last + end, past),
                _ => false,
            },
            (OffsetVec::I32(_), OffsetVec::I64(_)) | (OffsetVec::I64(_), OffsetVec::I32(_)) => false,
        }
    }

    pub(super) fn reserve(&mut self, rows: usize, times: usize) {
        let n = rows.saturating_mul(times);
        let _ = match self {
            OffsetVec::I32(ends) => reserve(ends, n),
            OffsetVec::I64(ends) => reserve(ends, n),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::{ColumnKind, Columns};

    fn filled(rows: std::ops::Range<usize>) -> Columns {
        let kinds = [
            ColumnKind::Bits,
            ColumnKind::Number(DType::F32),
            ColumnKind::Text(DType::I32),
            ColumnKind::Offsets(DType::I64, None),
        ];
        let mut columns = Columns::new(&kinds).expect("kinds");
        for (i, column) in rows.flat_map(|row| (0..4).map(move |i| (row, i))) {
            match &mut columns.0[column] {
                Column::Bits(bits) => bits.push(i % 3 == 0),
                Column::F32(numbers) => numbers.push(i as f32),
                Column::Text(texts) => assert!(texts.push(&b"abcdefg"[..i % 7])),
                Column::Offsets(offsets) => assert!(offsets.push_row(i % 5)),
                _ => {}
            }
        }
        columns
    }

    #[test]
    fn parts_joined_are_what_one_would_have_read() {
        let part = |rows: std::ops::Range<usize>| Decoded {
            rows: rows.len(),
            starts: rows.clone().map(|row| row * 10).collect(),
            columns: filled(rows),
            bad: super::super::BadRows::default(),
        };
        let cuts =
            [vec![0, 40], vec![0, 8, 40], vec![0, 3, 3, 21, 40], vec![0, 1, 2, 9, 12, 40], vec![0, 3, 700, 1300]];
        // With room for a few rows, and for more than the caches have.
        for (cuts, times) in cuts.iter().flat_map(|cuts| [3, 250_000].map(|times| (cuts, times))) {
            let mut all = part(0..0);
            all.reserve(&part(0..9), times);
            for cut in cuts.windows(2) {
                all.append(&part(cut[0]..cut[1])).expect("joined");
            }
            assert_eq!(all, part(0..*cuts.last().expect("a cut")), "{cuts:?}");
            all.clear();
            assert_eq!(all, part(0..0));
        }
    }
}
