//! Columns joined end to end: what several threads read becomes what one would have read.

use super::{Bits, Column, Columns, Decoded, MAX_REPORTED, OffsetVec, TextVec};
use extenso_core::side_by_side;
use extenso_types::{DType, Error, Result};

impl Decoded {
    /// The rows of all parts, in order.
    ///
    /// Errors: more items or bytes than the offsets count; columns of different plans.
    pub fn joined(mut parts: Vec<Decoded>) -> Result<Decoded> {
        if parts.len() == 1
            && let Some(only) = parts.pop()
        {
            return Ok(only);
        }
        let mut parts = parts.into_iter();
        let mut all = parts.next().ok_or_else(|| Error::internal("no part was read"))?;
        let mut columns: Vec<Vec<Column>> = all.columns.0.drain(..).map(|column| vec![column]).collect();
        for part in parts {
            all.rows += part.rows;
            all.bad.rows.extend(part.bad.rows);
            let room = MAX_REPORTED.saturating_sub(all.bad.first.len());
            all.bad.first.extend(part.bad.first.into_iter().take(room));
            all.bad.defaulted.append(&part.bad.defaulted);
            columns.iter_mut().zip(part.columns.0).for_each(|(parts, column)| parts.push(column));
        }
        let joined: Result<Vec<Column>> = side_by_side(columns, join).into_iter().collect();
        Ok(Decoded { columns: Columns(joined?), ..all })
    }
}

/// The elements of all parts of one column.
fn join(parts: Vec<Column>) -> Result<Column> {
    let rest: usize = parts.iter().skip(1).map(Column::len).sum();
    let mut parts = parts.into_iter();
    let mut all = parts.next().ok_or_else(|| Error::internal("a column has no part"))?;
    macro_rules! numbers {
        ($($variant:ident),*) => {
            match &mut all {
                $(Column::$variant(numbers) => {
                    numbers.reserve_exact(rest);
                    for part in parts {
                        match part {
                            Column::$variant(part) => numbers.extend_from_slice(&part),
                            _ => return Err(unlike()),
                        }
                    }
                })*
                Column::Bits(bits) => {
                    for part in parts {
                        match part {
                            Column::Bits(part) => bits.append(&part),
                            _ => return Err(unlike()),
                        }
                    }
                }
                Column::Text(texts) => {
                    for part in parts {
                        match part {
                            Column::Text(part) => counted(texts.append(&part))?,
                            _ => return Err(unlike()),
                        }
                    }
                }
                Column::Offsets(offsets) => {
                    for part in parts {
                        match part {
                            Column::Offsets(part) => counted(offsets.append(&part))?,
                            _ => return Err(unlike()),
                        }
                    }
                }
            }
        };
    }
    numbers!(I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64);
    Ok(all)
}

fn unlike() -> Error {
    Error::internal("two parts of a column are of different kinds")
}

fn counted(fits: bool) -> Result<()> {
    if fits {
        return Ok(());
    }
    Err(Error::value("there is more than the offsets can count").hint("Use i64 offsets, or read in smaller batches"))
}

impl Bits {
    /// Adds all bits of another list.
    pub fn append(&mut self, other: &Bits) {
        let shift = self.len() % 8;
        if shift == 0 {
            self.extend_bytes(other.as_bytes(), other.len());
            return;
        }
        for i in 0..other.len() {
            self.push(other.get(i));
        }
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
            if !all.append(&part) {
                return Err(Error::value("the texts are longer than offsets can count"));
            }
        }
        Ok(all)
    }

    /// Adds all texts of another column, or says that the offsets' width cannot count them.
    #[must_use]
    pub fn append(&mut self, other: &TextVec) -> bool {
        let fits = self.offsets_mut().append(other.offsets());
        if fits {
            self.push_bytes(other.as_bytes());
        }
        fits
    }
}

impl OffsetVec {
    /// Adds all rows of another column, or says that the width cannot count them.
    #[must_use]
    pub fn append(&mut self, other: &OffsetVec) -> bool {
        let last = self.last();
        let Some(end) = last.checked_add(other.last()) else { return false };
        match (self, other) {
            (OffsetVec::I32(ends), OffsetVec::I32(more)) => match (i32::try_from(last), i32::try_from(end)) {
                (Ok(last), Ok(_)) => {
                    ends.extend(more.iter().skip(1).map(|end| last + end));
                    true
                }
                _ => false,
            },
            (OffsetVec::I64(ends), OffsetVec::I64(more)) => match (i64::try_from(last), i64::try_from(end)) {
                (Ok(last), Ok(_)) => {
                    ends.extend(more.iter().skip(1).map(|end| last + end));
                    true
                }
                _ => false,
            },
            (OffsetVec::I32(_), OffsetVec::I64(_)) | (OffsetVec::I64(_), OffsetVec::I32(_)) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::ColumnKind;

    fn filled(rows: std::ops::Range<usize>) -> Columns {
        let kinds = [
            ColumnKind::Bits,
            ColumnKind::Number(DType::F32),
            ColumnKind::Text(DType::I32),
            ColumnKind::Offsets(DType::I64),
        ];
        let mut columns = Columns::new(&kinds).expect("kinds");
        for (i, column) in rows.flat_map(|row| (0..4).map(move |i| (row, i))) {
            match &mut columns.0[column] {
                Column::Bits(bits) => bits.push(i % 3 == 0),
                Column::F32(numbers) => numbers.push(1.5),
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
            columns: filled(rows),
            bad: super::super::BadRows::default(),
        };
        for cuts in [vec![0, 40], vec![0, 8, 40], vec![0, 3, 3, 21, 40]] {
            let parts = cuts.windows(2).map(|cut| part(cut[0]..cut[1])).collect();
            assert_eq!(Decoded::joined(parts).expect("joined"), part(0..40), "{cuts:?}");
        }
    }
}
