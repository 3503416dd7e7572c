//! Borrowed columns: what a writer of records reads, without copying, from memory laid out as Arrow's.
//!
//! Offsets may begin above zero (a slice of a partition): rows then point into the whole of the items. Bits may begin
//! inside a byte. Nothing here is proven; a writer checks what it is given before it starts.

use super::{Bits, ColumnKind, OffsetVec, TextVec};
use extenso_types::DType;
use half::{bf16, f16};

/// Borrowed bits: booleans or validity, least significant bit first.
#[derive(Clone, Copy, Debug)]
pub struct BitsRef<'a> {
    /// The packed bytes.
    pub bytes: &'a [u8],
    /// Where the first bit stands.
    pub offset: usize,
    /// How many bits there are.
    pub len: usize,
}

impl BitsRef<'_> {
    /// The bit at `i`; false behind the end of the bytes.
    pub fn get(&self, i: usize) -> bool {
        let at = self.offset.saturating_add(i);
        self.bytes.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 == 1)
    }

    /// How many bits both the length and the bytes allow.
    pub fn available(&self) -> usize {
        self.len.min(self.bytes.len().saturating_mul(8).saturating_sub(self.offset))
    }
}

/// Borrowed offsets of either width: one more than there are rows.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // The variants' names are their meaning.
pub enum OffsetsRef<'a> {
    I32(&'a [i32]),
    I64(&'a [i64]),
}

impl OffsetsRef<'_> {
    /// The offset at `i`, if there is one and it is not negative.
    pub fn get(&self, i: usize) -> Option<usize> {
        match self {
            OffsetsRef::I32(ends) => ends.get(i).and_then(|end| usize::try_from(*end).ok()),
            OffsetsRef::I64(ends) => ends.get(i).and_then(|end| usize::try_from(*end).ok()),
        }
    }

    /// The dtype of the offsets.
    pub fn dtype(&self) -> DType {
        match self {
            OffsetsRef::I32(_) => DType::I32,
            OffsetsRef::I64(_) => DType::I64,
        }
    }
}

/// Borrowed strings or byte strings.
#[derive(Clone, Copy, Debug)]
pub struct TextRef<'a> {
    /// Where each text begins and ends.
    pub offsets: OffsetsRef<'a>,
    /// The bytes that the offsets point into.
    pub bytes: &'a [u8],
}

/// One borrowed column.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // The variants' names are their meaning.
pub enum ColumnRef<'a> {
    Bits(BitsRef<'a>),
    I8(&'a [i8]),
    I16(&'a [i16]),
    I32(&'a [i32]),
    I64(&'a [i64]),
    U8(&'a [u8]),
    U16(&'a [u16]),
    U32(&'a [u32]),
    U64(&'a [u64]),
    F16(&'a [f16]),
    BF16(&'a [bf16]),
    F32(&'a [f32]),
    F64(&'a [f64]),
    Text(TextRef<'a>),
    Offsets(OffsetsRef<'a>),
}

impl ColumnRef<'_> {
    /// What the column holds.
    pub fn kind(&self) -> ColumnKind {
        match self {
            ColumnRef::Bits(_) => ColumnKind::Bits,
            ColumnRef::I8(_) => ColumnKind::Number(DType::I8),
            ColumnRef::I16(_) => ColumnKind::Number(DType::I16),
            ColumnRef::I32(_) => ColumnKind::Number(DType::I32),
            ColumnRef::I64(_) => ColumnKind::Number(DType::I64),
            ColumnRef::U8(_) => ColumnKind::Number(DType::U8),
            ColumnRef::U16(_) => ColumnKind::Number(DType::U16),
            ColumnRef::U32(_) => ColumnKind::Number(DType::U32),
            ColumnRef::U64(_) => ColumnKind::Number(DType::U64),
            ColumnRef::F16(_) => ColumnKind::Number(DType::F16),
            ColumnRef::BF16(_) => ColumnKind::Number(DType::BF16),
            ColumnRef::F32(_) => ColumnKind::Number(DType::F32),
            ColumnRef::F64(_) => ColumnKind::Number(DType::F64),
            ColumnRef::Text(text) => ColumnKind::Text(text.offsets.dtype()),
            ColumnRef::Offsets(offsets) => ColumnKind::Offsets(offsets.dtype(), None),
        }
    }
}

impl<'a> From<&'a Bits> for BitsRef<'a> {
    fn from(bits: &'a Bits) -> BitsRef<'a> {
        BitsRef { bytes: bits.as_bytes(), offset: 0, len: bits.len() }
    }
}

impl<'a> From<&'a OffsetVec> for OffsetsRef<'a> {
    fn from(offsets: &'a OffsetVec) -> OffsetsRef<'a> {
        match offsets {
            OffsetVec::I32(ends) => OffsetsRef::I32(ends),
            OffsetVec::I64(ends) => OffsetsRef::I64(ends),
        }
    }
}

impl<'a> From<&'a TextVec> for TextRef<'a> {
    fn from(text: &'a TextVec) -> TextRef<'a> {
        TextRef { offsets: text.offsets().into(), bytes: text.as_bytes() }
    }
}

#[cfg(test)]
impl<'a> ColumnRef<'a> {
    /// A column that was read, as a writer takes it; the ends of all its rows are written.
    pub(crate) fn of(column: &'a mut super::Column) -> extenso_types::Result<ColumnRef<'a>> {
        use super::Column;
        Ok(match column {
            Column::Bits(bits) => ColumnRef::Bits((&*bits).into()),
            Column::I8(numbers) => ColumnRef::I8(numbers),
            Column::I16(numbers) => ColumnRef::I16(numbers),
            Column::I32(numbers) => ColumnRef::I32(numbers),
            Column::I64(numbers) => ColumnRef::I64(numbers),
            Column::U8(numbers) => ColumnRef::U8(numbers),
            Column::U16(numbers) => ColumnRef::U16(numbers),
            Column::U32(numbers) => ColumnRef::U32(numbers),
            Column::U64(numbers) => ColumnRef::U64(numbers),
            Column::F16(numbers) => ColumnRef::F16(numbers),
            Column::BF16(numbers) => ColumnRef::BF16(numbers),
            Column::F32(numbers) => ColumnRef::F32(numbers),
            Column::F64(numbers) => ColumnRef::F64(numbers),
            Column::Text(text) => ColumnRef::Text((&*text).into()),
            Column::Offsets(rows) => ColumnRef::Offsets(rows.written()?.into()),
        })
    }
}
