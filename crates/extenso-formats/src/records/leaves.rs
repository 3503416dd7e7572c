//! Leaves of decoded columns, and columns of leaves that are written.
//!
//! Invariant: there are as many leaves as the spec has, in its order; none is made where no column was needed.

use super::{Leaf, Part, RecordSpec, There, Vocabulary};
use crate::categories::encoded;
use crate::columns::{BitsRef, Column, ColumnRef, Columns, OffsetVec, OffsetsRef, RowVec, TextRef};
use arrow_buffer::{BooleanBuffer, Buffer};
use extenso_core::kernels::pool::buffer;
use extenso_core::{Offsets, RowPartition, Storage, Tensor, Value, side_by_side};
use extenso_types::{DType, Dims, Error, Path, Result, Segment};

impl RecordSpec {
    /// The leaves of the columns of so many rows; none where a leaf was not needed.
    ///
    /// Errors: columns of another plan.
    pub fn leaves(&self, columns: Columns, rows: usize) -> Result<Vec<Option<Value>>> {
        /// So many elements are checked side by side.
        const MANY: usize = 1 << 17;
        let all: usize = columns.as_slice().iter().map(Column::len).sum();
        let words = self.words(&columns)?;
        let empty: Vec<usize> = self.leaves.iter().map(|leaf| self.outer_size(leaf, &columns, rows)).collect();
        let mut columns: Vec<Option<Column>> = columns.into_vec().into_iter().map(Some).collect();
        let mut column = |leaf: &Leaf| match leaf.column {
            None => Ok(None),
            Some(id) => match columns.get_mut(id.index()).and_then(Option::take) {
                Some(column) => Ok(Some(column)),
                None => Err(Error::internal(format!("leaf '{}' has no column", leaf.path))),
            },
        };
        let value = |(leaf, column, at): (&Leaf, Option<Column>, usize)| {
            column.map(|column| leaf.value(column, empty[at])).transpose()
        };
        let mut singles: Vec<RowPartition> = Vec::new();
        let mut leaves = Vec::with_capacity(self.leaves.len());
        let mut pairs = Vec::new();
        for leaf in &self.leaves {
            if leaf.is_count {
                let dims = leaf.dims(0, empty[leaves.len()]);
                leaves.push(Some(Tensor::bools(&dims, &[])?.into()));
                continue;
            }
            let column = column(leaf)?;
            match &column {
                // As many values that are always there have one partition.
                Some(Column::Offsets(rows)) if rows.counted().is_some() => {
                    leaves.push(Some(single(rows, &mut singles)?.into()));
                }
                _ if all >= MANY => {
                    pairs.push((leaf, column, leaves.len()));
                    leaves.push(None);
                }
                _ => leaves.push(value((leaf, column, leaves.len()))?),
            }
        }
        let made = side_by_side(pairs, |(leaf, column, at)| value((leaf, column, at)).map(|value| (at, value)));
        for made in made {
            let (at, value) = made?;
            leaves[at] = value;
        }
        for (at, value) in words {
            leaves[at] = Some(value);
        }
        Ok(leaves)
    }

    /// How many elements stand along the outer axis of a leaf that has an axis of size 0, which its values do not say; 0 for another.
    fn outer_size(&self, leaf: &Leaf, columns: &Columns, rows: usize) -> usize {
        if !leaf.inner.contains(&0) {
            return 0;
        }
        let path = leaf.path.segments();
        let Some(list) = path.iter().rposition(|step| *step == Segment::Each) else { return rows };
        let beside = |other: &&Leaf| {
            other
                .path
                .segments()
                .split_last()
                .is_some_and(|(last, list_of)| list_of == &path[..list] && *last != Segment::Each)
        };
        let offsets = self.leaves.iter().filter(beside);
        let mut ends = offsets.filter_map(|other| match columns.get(other.column?) {
            Some(Column::Offsets(ends)) => Some(ends.last()),
            _ => None,
        });
        ends.next().unwrap_or(0)
    }

    /// The leaves that are made of values by their categories, and where they stand.
    fn words(&self, columns: &Columns) -> Result<Vec<(usize, Value)>> {
        let made = side_by_side(self.vocabularies.iter().collect(), |vocabulary| vocabulary.made(columns));
        made.into_iter()
            .flat_map(|made| made.map_or_else(|e| vec![Err(e)], |made| made.into_iter().map(Ok).collect()))
            .collect()
    }

    /// The number of records, which every leaf that stands in no list has as its outer size; none without such a leaf.
    ///
    /// Errors: two sizes, with the paths of both.
    pub fn rows(&self, leaves: &[Value]) -> Result<Option<usize>> {
        let mut first: Option<(&Path, usize)> = None;
        for (leaf, value) in self.leaves.iter().zip(leaves) {
            if leaf.path.segments().contains(&Segment::Each) {
                continue;
            }
            let rows = match value {
                Value::Partition(p) => p.data()?.nrows(),
                Value::Tensor(t) => t.data()?.dims().first().copied().unwrap_or(1),
                Value::Ext(e) => return Err(Error::internal(format!("a leaf of type {}", e.def()))),
            };
            match first {
                Some((path, other)) if other != rows => {
                    let what = format!("'{}' has {rows} rows, and '{path}' has {other}", leaf.path);
                    return Err(Error::shape(what).wanted("one number of rows"));
                }
                Some(_) => {}
                None => first = Some((&leaf.path, rows)),
            }
        }
        Ok(first.map(|(_, rows)| rows))
    }

    /// The columns of leaves, borrowed, for a writer.
    ///
    /// Errors: a leaf that is missing or not what the spec says.
    pub fn columns<'a>(&self, leaves: &'a [Value]) -> Result<Vec<ColumnRef<'a>>> {
        if let Some(Vocabulary { values, .. }) = self.vocabularies.first() {
            return Err(Error::internal(format!("'{}' is written by its categories", values.path)));
        }
        let mut columns = Vec::with_capacity(self.columns as usize);
        for (leaf, value) in self.leaves.iter().zip(leaves).filter(|(leaf, _)| leaf.column.is_some()) {
            columns.push(borrow(value).map_err(|e| e.at(format!("'{}'", leaf.path)))?);
        }
        Ok(columns)
    }
}

impl Vocabulary {
    /// The leaves that are needed, and where they stand.
    fn made(&self, columns: &Columns) -> Result<Vec<(usize, Value)>> {
        let id = self.values.column.ok_or_else(|| Error::internal("a vocabulary without values"))?;
        let column = columns.get(id).ok_or_else(|| Error::internal("a vocabulary without a column"))?;
        let values = self.values.value(column.clone(), 0)?;
        let each: usize = self.values.inner.iter().product();
        let there = |i: usize| {
            self.there.iter().all(|There { column, size, tag }| {
                // As many of both stand behind the outer axis, or one of these for several values.
                let place = i * size / each.max(1);
                match (columns.get(*column), tag) {
                    (Some(Column::Bits(bits)), _) => bits.get(place),
                    (Some(Column::I8(tags)), Some(tag)) => tags.get(place) == Some(tag),
                    _ => true,
                }
            })
        };
        let made = encoded(values.tensor()?, there, &self.spec).map_err(|e| e.at(format!("'{}'", self.values.path)));
        let (places, words) = made?;
        let value = |(at, part): &(usize, Part)| match part {
            Part::Places => (*at, places.clone().into()),
            Part::Categories => (*at, words.clone().into()),
        };
        Ok(self.leaves.iter().map(value).collect())
    }
}

impl Leaf {
    /// Whether it is needed and has no elements, so that none of them says how many rows there are.
    pub(super) fn is_hollow(&self) -> bool {
        (self.is_count || self.column.is_some()) && self.inner.contains(&0)
    }

    /// The value of a column; `empty` is the size of the outer axis if another has the size 0.
    fn value(&self, column: Column, empty: usize) -> Result<Value> {
        macro_rules! numbers {
            ($column:expr; $($variant:ident $dtype:ident),*) => {
                match $column {
                    $(Column::$variant(v) => {
                        let dims = self.dims(v.len(), empty);
                        Tensor::from_buffer(DType::$dtype, &dims, buffer(v))?.into()
                    })*
                    // Arrow has no such numbers, whose bytes are copied.
                    Column::BF16(v) => {
                        let bytes = Buffer::from_slice_ref(bytemuck::cast_slice::<_, u8>(&v));
                        Tensor::from_buffer(DType::BF16, &self.dims(v.len(), empty), bytes)?.into()
                    }
                    Column::Bits(bits) if self.spec.tensor()?.dtype == DType::I8 => {
                        let bytes: Vec<i8> = (0..bits.len()).map(|i| i8::from(bits.get(i))).collect();
                        Tensor::from_buffer(DType::I8, &self.dims(bytes.len(), empty), buffer(bytes))?.into()
                    }
                    Column::Bits(bits) => {
                        let (bytes, n) = bits.into_parts();
                        Tensor::from_bits(&self.dims(n, empty), BooleanBuffer::new(buffer(bytes), 0, n))?.into()
                    }
                    Column::Text(text) => {
                        let (offsets, bytes) = text.into_parts();
                        let (offsets, dtype) = (offsets_of(offsets), self.spec.tensor()?.dtype);
                        let dims = self.dims(offsets.len() - 1, empty);
                        Tensor::from_text(dtype, &dims, offsets, buffer(bytes))?.into()
                    }
                    Column::Offsets(rows) => {
                        let offsets = offsets_of(rows.into_offsets()?);
                        let nvalues = offsets.last();
                        let rows = RowPartition::from_offsets(offsets, nvalues)?;
                        rows.with_uniform_row_length(self.spec.partition()?.uniform_row_length)?.into()
                    }
                }
            };
        }
        Ok(
            numbers!(column; I8 I8, I16 I16, I32 I32, I64 I64, U8 U8, U16 U16, U32 U32, U64 U64, F16 F16, F32 F32, F64 F64),
        )
    }

    fn dims(&self, elements: usize, empty: usize) -> Dims {
        let size: usize = self.inner.iter().product();
        std::iter::once(elements.checked_div(size).unwrap_or(empty)).chain(self.inner.iter().copied()).collect()
    }
}

/// The partition of rows of one value each: one of those that there are, or one more.
fn single(rows: &RowVec, singles: &mut Vec<RowPartition>) -> Result<RowPartition> {
    for made in &*singles {
        let data = made.data()?;
        if data.nrows() == rows.len() && data.offsets().dtype() == rows.dtype() {
            return Ok(made.clone());
        }
    }
    let made = RowPartition::of_single_values(rows.len(), rows.dtype())?;
    singles.push(made.clone());
    Ok(made)
}

pub(crate) fn offsets_of(offsets: OffsetVec) -> Offsets {
    match offsets {
        OffsetVec::I32(o) => Offsets::I32(buffer(o).into()),
        OffsetVec::I64(o) => Offsets::I64(buffer(o).into()),
    }
}

fn borrow_offsets(offsets: &Offsets) -> OffsetsRef<'_> {
    match offsets {
        Offsets::I32(o) => OffsetsRef::I32(o),
        Offsets::I64(o) => OffsetsRef::I64(o),
    }
}

fn borrow(value: &Value) -> Result<ColumnRef<'_>> {
    let dense = match value {
        Value::Partition(p) => return Ok(ColumnRef::Offsets(borrow_offsets(p.data()?.offsets()))),
        Value::Tensor(t) => t.data()?,
        Value::Ext(e) => return Err(Error::internal(format!("a leaf of type {}", e.def()))),
    };
    macro_rules! numbers {
        ($($dtype:ident $variant:ident),*) => {
            match (dense.storage(), dense.dtype()) {
                $((Storage::Fixed(_), DType::$dtype) => Ok(ColumnRef::$variant(dense.as_slice()?)),)*
                (Storage::Bits(bits), _) => {
                    Ok(ColumnRef::Bits(BitsRef { bytes: bits.values(), offset: bits.offset(), len: bits.len() }))
                }
                (Storage::Text { offsets, bytes }, _) => {
                    Ok(ColumnRef::Text(TextRef { offsets: borrow_offsets(offsets), bytes: bytes.as_slice() }))
                }
                (Storage::Fixed(_) | Storage::Boxed(_), other) => {
                    Err(Error::dtype(format!("found {other}")).wanted("numbers, booleans or strings"))
                }
            }
        };
    }
    numbers!(I8 I8, I16 I16, I32 I32, I64 I64, U8 U8, U16 U16, U32 U32, U64 U64, F16 F16, BF16 BF16, F32 F32, F64 F64)
}
