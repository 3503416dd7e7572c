//! An array on its way to a spec: its path, the rows of the batch that its items belong to, and which items anybody sees.
//!
//! Invariant: what lies under a null, or outside every row, is seen by nobody, so that a null there is no fault.

use super::both;
use crate::arrow::import::{self, Items};
use crate::arrow::texts::given;
use crate::columns::{BadRow, Misfits};
use arrow_array::{Array, ArrayRef, LargeListArray, ListArray, cast::AsArray, make_array};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder, NullBuffer, OffsetBuffer};
use arrow_data::transform::MutableArrayData;
use arrow_schema::{DataType, FieldRef};
use extenso_core::Offsets;
use extenso_core::kernels::pool::affordable;
use extenso_types::{Error, Path, Result, Segment, Spec};
use std::cell::RefCell;
use std::sync::Arc;

/// The row of the batch that an item is in.
#[derive(Clone, Copy)]
pub enum Rows<'a> {
    /// Items are rows.
    Items,
    /// Items are cut into the items around them.
    Lists(&'a Offsets, &'a Rows<'a>),
    /// So many items are one around them.
    Uniform(usize, &'a Rows<'a>),
    /// Each item is the one around it that is named.
    Places(&'a [usize], &'a Rows<'a>),
}

impl Rows<'_> {
    fn of(&self, item: usize) -> usize {
        match self {
            Rows::Items => item,
            Rows::Lists(offsets, outer) => {
                let list = (0..offsets.len() - 1).rfind(|&list| offsets.get(list) <= item).unwrap_or(0);
                outer.of(list)
            }
            Rows::Uniform(size, outer) => outer.of(item.checked_div(*size).unwrap_or(0)),
            Rows::Places(places, outer) => outer.of(places.get(item).copied().unwrap_or(0)),
        }
    }
}

/// The rows that do not fit.
pub type Faults = RefCell<Misfits>;

/// An array on its way to a spec.
pub struct Source<'a> {
    pub at: Path,
    /// The field of the array, with its metadata.
    pub field: FieldRef,
    pub array: ArrayRef,
    pub rows: Rows<'a>,
    /// The number of the first row of the batch.
    start: usize,
    /// Which items are seen; all, if there is none.
    seen: Option<BooleanBuffer>,
    /// Where rows that do not fit are noted; they fail the call, if there is none.
    faults: Option<&'a Faults>,
}

impl<'a> Source<'a> {
    /// A whole array, whose first row has the number `start`.
    pub fn root(field: FieldRef, array: ArrayRef, start: usize, faults: Option<&'a Faults>) -> Source<'a> {
        Source { at: Path::root(), field, array, rows: Rows::Items, start, seen: None, faults }
    }

    /// The column of a field, whose items are seen where this one's are.
    pub fn field_of(&self, at: Path, field: &FieldRef, array: &ArrayRef) -> Source<'a> {
        let (field, array, seen) = (field.clone(), array.clone(), self.seen.clone());
        Source { at, field, array, rows: self.rows, start: self.start, seen, faults: self.faults }
    }

    /// This array where its items are not null.
    pub fn seen_where(&self, nulls: Option<&NullBuffer>) -> Source<'a> {
        let seen = both(self.seen.as_ref(), nulls);
        let (at, field, array) = (self.at.clone(), self.field.clone(), self.array.clone());
        Source { at, field, array, rows: self.rows, start: self.start, seen, faults: self.faults }
    }

    /// This array without runs: each item by itself.
    ///
    /// Errors: more items than there is memory for.
    pub fn without_runs(&self) -> Result<Source<'a>> {
        let array = import::without_runs(self.array.as_ref()).map_err(|e| e.at_path(&self.at))?;
        // What the values are stands in a field of their own.
        let field = match self.array.data_type() {
            DataType::RunEndEncoded(_, values) if import::extension_name(values).is_some() => values.clone(),
            _ => self.field.clone(),
        };
        Ok(Source { array, field, ..self.seen_where(None) })
    }

    /// This array of list views as one of lists.
    ///
    /// Errors: more items than there is memory for.
    pub fn without_views(&self) -> Result<Source<'a>> {
        let none = || Error::internal(format!("{} has no lists", self.array.data_type()));
        let (offsets, Items { field, array }) = import::lists_of(&self.at, self.array.as_ref()).ok_or_else(none)??;
        let nulls = self.array.nulls().cloned();
        let made = match offsets {
            Offsets::I32(cut) => {
                ListArray::try_new(field, OffsetBuffer::new(cut), array, nulls).map(|made| Arc::new(made) as ArrayRef)
            }
            Offsets::I64(cut) => LargeListArray::try_new(field, OffsetBuffer::new(cut), array, nulls)
                .map(|made| Arc::new(made) as ArrayRef),
        };
        let array = made.map_err(|e| Error::data(e.to_string()).at_path(&self.at))?;
        Ok(Source { array, ..self.seen_where(None) })
    }

    /// The items of this array's lists.
    pub fn each<'b>(&self, items: Items, rows: Rows<'b>, seen: Option<BooleanBuffer>) -> Source<'b>
    where
        'a: 'b,
    {
        self.part(Segment::Each, items, rows, seen)
    }

    /// The items of a part of this array.
    pub fn part<'b>(&self, part: Segment, items: Items, rows: Rows<'b>, seen: Option<BooleanBuffer>) -> Source<'b>
    where
        'a: 'b,
    {
        let (at, Items { field, array }) = (self.at.child(part), items);
        Source { at, field, array, rows, start: self.start, seen, faults: self.faults }
    }

    /// Checks that no item that is seen is null.
    ///
    /// Errors: the first that is, with its row and path.
    pub fn all_there(&self, wanted: &Spec) -> Result<()> {
        self.all_there_or(wanted, "Give a masked spec where values may be null.")
    }

    /// The same, with what to do where one is.
    ///
    /// Errors: as [`Source::all_there`].
    pub fn all_there_or(&self, wanted: &Spec, hint: &str) -> Result<()> {
        let Some(nulls) = import::nulls_of(self.array.as_ref()) else { return Ok(()) };
        let null = !nulls.inner();
        let found = match &self.seen {
            Some(seen) => &null & seen,
            None => null,
        };
        let null = || Error::data("null came").wanted(wanted.to_string());
        found.set_indices().try_for_each(|item| self.refuse(item, || null().hint(hint)))
    }

    /// Notes that an item does not fit, where that is noted, and not only that its row does not fit for what was noted before.
    ///
    /// Errors: the one of the item, with its row and path, where rows that do not fit fail the call.
    pub fn refuse(&self, item: usize, error: impl FnOnce() -> Error) -> Result<()> {
        let row = self.start + self.rows.of(item);
        let fault = || {
            let place = if self.at.is_root() { format!("row {row}") } else { format!("row {row}, '{}'", self.at) };
            BadRow { row, offset: None, path: self.at.clone(), error: error().at(place) }
        };
        match self.faults {
            None => Err(fault().error),
            Some(faults) => {
                faults.borrow_mut().note(row, fault);
                Ok(())
            }
        }
    }

    /// The error that the array is of another type.
    pub fn mismatch(&self, wanted: &Spec) -> Error {
        let named = if self.at.is_root() { "the array".to_string() } else { format!("'{}'", self.at) };
        let found = match import::extension_name(&self.field) {
            Some(name) => format!("{} ({name})", self.array.data_type()),
            None => given(&self.field, self.array.data_type()).to_string(),
        };
        Error::dtype(format!("{named} has the Arrow type {found}")).wanted(wanted.to_string())
    }

    /// The items of lists that all have one size, and the size; none of an array without lists.
    ///
    /// Errors: a list of another size that somebody sees, with its row, where rows that do not fit fail the call.
    pub fn uniform(&self, size: Option<usize>) -> Option<Result<(usize, Items)>> {
        if let Some(lists) = self.array.as_fixed_size_list_opt() {
            let found = usize::try_from(lists.value_length()).unwrap_or(0);
            if let Some(size) = size.filter(|size| *size != found) {
                let row = self.start + self.rows.of(0);
                return Some(Err(of_another_size(found, size).at(format!("row {row}, '{}'", self.at))));
            }
            let DataType::FixedSizeList(field, _) = lists.data_type() else { return None };
            return Some(Ok((found, Items { field: field.clone(), array: import::uniform_items(lists) })));
        }
        Some(
            import::lists_of(&self.at, self.array.as_ref())?
                .and_then(|(offsets, items)| self.of_size(size, &offsets, items)),
        )
    }

    /// The same of lists of any sizes: what nobody sees of another size, and what is noted, becomes as many nulls.
    fn of_size(&self, size: Option<usize>, offsets: &Offsets, items: Items) -> Result<(usize, Items)> {
        let (count, nulls) = (offsets.len() - 1, import::nulls_of(self.array.as_ref()));
        let length = |list: usize| offsets.get(list + 1) - offsets.get(list);
        let is_seen = |list: &usize| self.sees(*list) && nulls.as_ref().is_none_or(|nulls| nulls.is_valid(*list));
        let size = size.unwrap_or_else(|| (0..count).find(is_seen).map_or(0, length));
        let mut fits = true;
        for list in (0..count).filter(|&list| length(list) != size) {
            fits = false;
            if is_seen(&list) {
                self.refuse(list, || of_another_size(length(list), size))?;
            }
        }
        if fits {
            let array = items.array.slice(offsets.first(), offsets.last() - offsets.first());
            return Ok((size, Items { array, ..items }));
        }
        let total = count.saturating_mul(size);
        affordable(total.saturating_mul(size_of::<u64>()))?;
        let source = items.array.to_data();
        let mut filled = MutableArrayData::new(vec![&source], true, total);
        for list in 0..count {
            let from = offsets.get(list);
            let added = match length(list) == size {
                true => filled.try_extend(0, from, from + size),
                false => filled.try_extend_nulls(size),
            };
            added.map_err(|e| Error::data(e.to_string()).at_path(&self.at))?;
        }
        Ok((size, Items { array: make_array(filled.freeze()), ..items }))
    }

    /// Whether somebody sees an item.
    pub fn sees(&self, item: usize) -> bool {
        self.seen.as_ref().is_none_or(|seen| seen.value(item))
    }

    /// Which items of lists of this size are seen.
    pub fn seen_of(&self, size: usize) -> Option<BooleanBuffer> {
        self.seen.as_ref().map(|seen| import::repeated(seen, size))
    }

    /// Which items of lists are seen; all, where every list is seen and every item is in one.
    pub fn seen_in(&self, offsets: &Offsets, items: &dyn Array) -> Option<BooleanBuffer> {
        if self.seen.is_none() && offsets.first() == 0 && offsets.last() == items.len() {
            return None;
        }
        let mut bits = BooleanBufferBuilder::new(items.len());
        bits.append_n(offsets.first(), false);
        for list in 0..offsets.len() - 1 {
            bits.append_n(offsets.get(list + 1) - offsets.get(list), self.sees(list));
        }
        bits.append_n(items.len() - offsets.last(), false);
        Some(bits.finish())
    }
}

fn of_another_size(found: usize, wanted: usize) -> Error {
    Error::shape(format!("a list of {found} came")).wanted(format!("lists of {wanted}"))
}
