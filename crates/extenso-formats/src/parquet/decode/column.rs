//! The pages of a column, one after another: slots of all depths, and the values of the last.
//!
//! Invariant: there are as many values as slots of the last depth. Where a record goes on over pages, lists do, as their lengths
//! are known only when all pages are put together.

use super::hybrid::Levels;
use super::page::parts;
use super::slots::Nest;
use super::texts::Budget;
use super::values::{Dictionary, Room, Values};
use super::way::Way;
use super::{Stop, bad};
use arrow_schema::ArrowError;
use parquet::column::page::Page;
use std::sync::Arc;

/// What was decoded of a column.
pub struct Column {
    pub nest: Nest,
    pub values: Values,
    /// How many pairs of levels there were.
    pub entries: usize,
}

impl Column {
    pub fn new(way: &Way, budget: &Arc<Budget>) -> Column {
        Column { nest: Nest::new(way), values: Values::new(way, budget), entries: 0 }
    }

    /// How many rows were begun.
    pub fn rows(&self) -> usize {
        self.nest.len(0)
    }

    /// Adds a data page. The first of a chunk begins with a row.
    ///
    /// Errors: levels or values that are malformed, or not those of the page's header; what is not usual.
    pub fn add(&mut self, page: &Page, dictionary: Option<&Dictionary>, way: &Way, first: bool) -> Result<(), Stop> {
        let Some(parts) = parts(page, way)? else { return Err(Stop::Unusual) };
        if first && way.depths.len() > 1 && !begins_row(&parts.repeats) {
            return Err(bad("the column does not begin with a row"));
        }
        let last = way.depths.len() - 1;
        let before = self.nest.len(last);
        self.entries += parts.levels.len();
        let values = match last {
            0 => self.nest.add(way, &parts.levels, &parts.levels)?,
            _ => self.nest.add(way, &parts.levels, &parts.repeats)?,
        };
        let slots = self.nest.len(last) - before;
        let levels = self.nest.depths.last().filter(|_| values < slots).and_then(|slots| slots.levels.each(before));
        let room = Room { slots, values, levels: levels.map(|levels| (levels, way.there)) };
        self.values.add(parts.encoding, parts.values, dictionary, room)
    }

    /// Adds what follows.
    ///
    /// Errors: more bytes of texts than can be counted.
    pub fn append(&mut self, way: &Way, more: Column) -> Result<(), ArrowError> {
        self.entries += more.entries;
        self.nest.append(way, &more.nest);
        self.values.append(more.values)
    }
}

fn begins_row(repeats: &Levels) -> bool {
    match repeats {
        Levels::Largest(n) => *n == 0,
        Levels::Each(each) => each.first().is_none_or(|repeat| *repeat == 0),
    }
}
