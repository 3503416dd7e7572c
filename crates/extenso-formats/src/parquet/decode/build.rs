//! The arrays of a column: values, and around them the lists and structs on their way.
//!
//! Invariant: lists hold all items that there are, each once.

use super::column::Column;
use super::slots::{Nest, SlotLevels, Slots};
use super::values::Values;
use super::way::{Depth, Way};
use arrow_array::{Array, ArrayRef, FixedSizeListArray, GenericListArray, OffsetSizeTrait, StructArray, make_array};
use arrow_buffer::{BooleanBuffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_data::transform::MutableArrayData;
use arrow_schema::{ArrowError, DataType, Field};
use std::iter::repeat_n;
use std::sync::Arc;

type Result<T> = std::result::Result<T, ArrowError>;

/// The rows of a column: a struct of its top field.
///
/// Errors: lists that do not hold their items; lists of a fixed size with others; more items or bytes than offsets count.
pub fn rows(column: Column, way: &Way) -> Result<StructArray> {
    let rows = column.rows();
    let mut build = Build { nest: column.nest, values: Some(column.values), way, depth: 0, null: 0, gaps: None };
    let array = build.array(&way.field)?;
    StructArray::try_new_with_length([way.field.clone()].into_iter().collect(), vec![array], None, rows)
}

fn malformed(what: impl Into<String>) -> ArrowError {
    ArrowError::ParseError(what.into())
}

struct Build<'a> {
    nest: Nest,
    values: Option<Values>,
    way: &'a Way,
    /// How many lists were entered.
    depth: usize,
    /// How many of what may be null between two lists were.
    null: usize,
    /// Which of the lists around the values have none in the file, and are to have so many.
    gaps: Option<(Vec<bool>, usize)>,
}

impl Build<'_> {
    /// The array of a field, from its slots on.
    fn array(&mut self, field: &Field) -> Result<ArrayRef> {
        let nulls = if field.is_nullable() { self.nulls()? } else { None };
        match field.data_type() {
            DataType::Struct(fields) => {
                let len = self.nest.len(self.depth);
                let children = fields.iter().map(|field| self.array(field)).collect::<Result<_>>()?;
                Ok(Arc::new(StructArray::try_new_with_length(fields.clone(), children, nulls, len)?))
            }
            DataType::List(item) => self.list::<i32>(item, nulls),
            DataType::LargeList(item) => self.list::<i64>(item, nulls),
            DataType::FixedSizeList(item, size) => self.fixed(item, *size, nulls),
            data_type => self.leaf(data_type, nulls),
        }
    }

    /// The nulls of the next that may be null at this depth; none if all are there.
    fn nulls(&mut self) -> Result<Option<NullBuffer>> {
        let there = self.depth().and_then(|depth| depth.nulls.get(self.null)).copied();
        let there = there.ok_or_else(|| malformed("nulls without a level"))?;
        self.null += 1;
        let levels = self.nest.depths.get(self.depth).map(|slots| &slots.levels);
        Ok(levels.and_then(|levels| nulls(levels, there)))
    }

    fn depth(&self) -> Option<&Depth> {
        self.way.depths.get(self.depth)
    }

    /// Goes into a list, and gets its slots, and the level from which it has an item.
    fn enter(&mut self) -> Result<(Slots, u8)> {
        let slots = self.nest.depths.get_mut(self.depth).map(std::mem::take);
        self.depth += 1;
        self.null = 0;
        let from = self.depth().map(|depth| depth.from);
        let (mut slots, from) = slots.zip(from).ok_or_else(|| malformed("lists without a level"))?;
        // The last list ends where the items do.
        let items = self.nest.len(self.depth);
        if slots.starts.first().copied().unwrap_or(items) != 0 {
            return Err(malformed("items before the first list"));
        }
        slots.starts.push(items);
        Ok((slots, from))
    }

    fn list<O: OffsetSizeTrait>(&mut self, item: &Arc<Field>, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let (slots, _) = self.enter()?;
        let items = self.nest.len(self.depth);
        let offset = |start: &usize| O::from_usize(*start).unwrap_or_default();
        if O::from_usize(items).is_none() {
            return Err(malformed(format!("lists have {items} items, more than their offsets count")));
        }
        let offsets: Vec<O> = slots.starts.iter().map(offset).collect();
        drop(slots);
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        let values = self.array(item)?;
        Ok(Arc::new(GenericListArray::<O>::try_new(item.clone(), offsets, values, nulls)?))
    }

    fn fixed(&mut self, item: &Arc<Field>, size: i32, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let (slots, from) = self.enter()?;
        let wanted = usize::try_from(size).map_err(|e| malformed(e.to_string()))?;
        let len = slots.levels.len();
        let levels = slots.levels.each(0);
        // Below a struct that is null, a list is too, whether it may be or not.
        let is_null = |i: usize| levels.is_some_and(|levels| levels[i] + 1 < from);
        for (i, ends) in slots.starts.windows(2).enumerate() {
            let found = ends[1] - ends[0];
            if found != if is_null(i) { 0 } else { wanted } {
                return Err(malformed(format!("a list has {found} items, and its type says {wanted}")));
            }
        }
        if let Some(levels) = levels.filter(|_| (0..len).any(is_null)) {
            self.widen(levels, wanted, is_null)?;
        }
        let values = self.array(item)?;
        Ok(Arc::new(FixedSizeListArray::try_new_with_length(item.clone(), size, values, nulls, len)?))
    }

    /// Makes slots for the items of lists of a fixed size that are null, which have none in the file.
    fn widen(&mut self, levels: &[u8], size: usize, is_null: impl Fn(usize) -> bool) -> Result<()> {
        let all = levels.len().checked_mul(size).ok_or_else(|| malformed("more items than there are numbers"))?;
        let (next, inner) = (self.nest.len(self.depth), self.nest.len(self.depth + 1));
        let Some(slots) = self.nest.depths.get_mut(self.depth) else { return Ok(()) };
        let (mut wide, mut starts, mut at) = (Vec::with_capacity(all), Vec::new(), 0);
        let lists = slots.starts.len() == next;
        for (list, level) in levels.iter().enumerate() {
            if is_null(list) {
                wide.extend(repeat_n(*level, size));
                starts.extend(repeat_n(slots.starts.get(at).copied().unwrap_or(inner), if lists { size } else { 0 }));
                continue;
            }
            match slots.levels.each(0).and_then(|each| each.get(at..at + size)) {
                Some(each) => wide.extend_from_slice(each),
                None => wide.extend(repeat_n(self.way.there, size)),
            }
            starts.extend_from_slice(slots.starts.get(at..at + size).unwrap_or_default());
            at += size;
        }
        *slots = Slots { levels: SlotLevels::from(wide), starts };
        if self.depth + 1 == self.way.depths.len() {
            self.gaps = Some(((0..levels.len()).map(is_null).collect(), size));
        }
        Ok(())
    }

    /// The array of the values.
    fn leaf(&mut self, data_type: &DataType, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let values = self.values.take().ok_or_else(|| malformed("a column has two leaves"))?;
        let Some((gaps, size)) = self.gaps.take() else { return values.finish(data_type, nulls) };
        let data = values.finish(data_type, None)?.to_data();
        let mut out = MutableArrayData::new(vec![&data], true, gaps.len().saturating_mul(size));
        let mut at = 0;
        for gap in gaps {
            if gap {
                out.try_extend_nulls(size)?;
            } else {
                out.try_extend(0, at, at + size)?;
                at += size;
            }
        }
        Ok(make_array(out.freeze().into_builder().nulls(nulls).build()?))
    }
}

/// What is there from a level on; none if all are.
fn nulls(levels: &SlotLevels, there: u8) -> Option<NullBuffer> {
    let each = levels.each(0)?;
    let nulls = NullBuffer::new(BooleanBuffer::collect_bool(each.len(), |i| each[i] >= there));
    (nulls.null_count() > 0).then_some(nulls)
}
