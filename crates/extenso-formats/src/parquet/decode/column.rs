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

#[cfg(test)]
mod tests {
    use super::super::values::Kind;
    use super::super::way::Depth;
    use super::*;
    use arrow_array::Array;
    use arrow_schema::{DataType, Field};
    use parquet::basic::Encoding;

    /// The way to a leaf that may be null, in a list that may not.
    fn way(kind: Kind, data_type: DataType) -> Way {
        let item = Arc::new(Field::new("item", data_type, true));
        let depths = vec![Depth::default(), Depth { from: 1, nulls: vec![2] }];
        Way { field: Arc::new(Field::new("x", DataType::List(item), false)), depths, kind, there: 2, nullable: true }
    }

    fn page(count: u32, encoding: Encoding, bytes: &[u8]) -> Page {
        let (def_level_encoding, rep_level_encoding) = (Encoding::RLE, Encoding::RLE);
        let buf = bytes.to_vec().into();
        Page::DataPage { buf, num_values: count, encoding, def_level_encoding, rep_level_encoding, statistics: None }
    }

    /// Four rows of one number each: what is behind their levels is the content.
    fn four(content: &[u8]) -> Vec<u8> {
        [&[2, 0, 0, 0, 8, 0, 2, 0, 0, 0, 8, 2][..], content].concat()
    }

    fn dictionary(kind: Kind, count: u32, bytes: &[u8]) -> Dictionary {
        let (buf, encoding) = (bytes.to_vec().into(), Encoding::PLAIN);
        let page = Page::DictionaryPage { buf, num_values: count, encoding, is_sorted: false };
        Dictionary::new(kind, &page).expect("a dictionary")
    }

    #[track_caller]
    fn check(way: &Way, dictionary: Option<&Dictionary>, page: Page, expect: Result<&str, &str>) {
        let mut column = Column::new(way, &Arc::new(Budget::new(1000)));
        let got = column.add(&page, dictionary, way, true).map(|()| {
            let rows = super::super::build::rows(column, way).expect("rows");
            let lists = rows.column(0).to_data().child_data()[0].clone();
            format!("{:?}", arrow_array::make_array(lists)).replace(['\n', ' '], "")
        });
        match (got, expect) {
            (Ok(got), Ok(expect)) => assert!(got.ends_with(expect), "{got}"),
            (Err(Stop::Bad(error)), Err(expect)) => assert!(error.to_string().contains(expect), "{error}"),
            (Err(Stop::Unusual), Err("unusual")) => {}
            (got, _) => panic!("{got:?}, and {expect:?} was wanted"),
        }
    }

    #[test]
    fn pages_that_lie_are_refused() {
        let way = way(Kind::Four, DataType::Int32);
        let two = dictionary(Kind::Four, 2, &[7, 0, 0, 0, 9, 0, 0, 0]);
        let places = |content: &[u8]| page(4, Encoding::RLE_DICTIONARY, &four(content));
        // Places of two bits, four of them packed.
        check(&way, Some(&two), places(&[2, 3, 0b01_00_01_00, 0]), Ok("[7,9,7,9,]"));
        check(&way, Some(&two), places(&[2, 3, 0b11_00_01_00, 0]), Err("the place 3 in a dictionary of 2"));
        check(&way, Some(&two), places(&[1, 8, 2]), Err("the place 2 in a dictionary of 2"));
        check(&way, None, places(&[2, 3, 0, 0]), Err("a dictionary that is not there"));
        check(&way, Some(&two), places(&[2, 3]), Err("the bytes end 4 numbers before their end"));
        check(&way, Some(&two), places(&[]), Err("a page has no values"));
        check(&way, Some(&two), places(&[33, 3, 0]), Err("numbers of 33 bits"));
        let plain = |count, bytes: &[u8]| page(count, Encoding::PLAIN, bytes);
        check(&way, None, plain(4, &four(&[1; 16])), Ok("[16843009,16843009,16843009,16843009,]"));
        check(&way, None, plain(4, &four(&[1; 15])), Err("4 numbers are said to follow, and 15 bytes do"));
        check(&way, None, plain(5, &four(&[1; 20])), Err("the bytes end 1 numbers before their end"));
        check(&way, None, plain(4, &four(&[1; 16])[..3]), Err("a length is cut short"));
        let mut above = four(&[1; 16]);
        above[11] = 3;
        check(&way, None, plain(4, &above), Err("a level is 3, and the largest is 2"));
        let mut within = four(&[1; 16]);
        within[5] = 1;
        check(&way, None, plain(4, &within), Err("does not begin with a row"));
        check(&way, None, page(4, Encoding::DELTA_BINARY_PACKED, &four(&[])), Err("unusual"));
    }

    #[test]
    fn runs_of_bits_are_bits() {
        let way = way(Kind::Bits, DataType::Boolean);
        let runs = |runs: &[u8]| page(4, Encoding::RLE, &four(&[&[2, 0, 0, 0], runs].concat()));
        check(&way, None, runs(&[8, 1]), Ok("[true,true,true,true,]"));
        check(&way, None, runs(&[3, 0b1010]), Ok("[false,true,false,true,]"));
        check(&way, None, runs(&[8, 3]), Err("a bit is 3"));
        check(&way, None, page(4, Encoding::PLAIN, &four(&[0b0011])), Ok("[true,true,false,false,]"));
        check(&way, None, page(4, Encoding::PLAIN, &four(&[])), Err("4 bits are said to follow"));
    }

    #[test]
    fn texts_are_sound_and_in_proportion() {
        let way = way(Kind::Utf8, DataType::Utf8);
        let plain = |text: &[u8]| page(4, Encoding::PLAIN, &four(&[&[2, 0, 0, 0], text].concat().repeat(4)));
        check(&way, None, plain(b"ab"), Ok("[\"ab\",\"ab\",\"ab\",\"ab\",]"));
        check(&way, None, plain(b"a\xff"), Err("invalid utf-8"));
        check(&way, None, plain(b"a"), Err("bytes are said to follow"));
        // Half of a character is no text, although all texts together are.
        let halves = [&[1, 0, 0, 0, 0xc3][..], &[1, 0, 0, 0, 0xa9]].concat().repeat(2);
        check(&way, None, page(4, Encoding::PLAIN, &four(&halves)), Err("UTF-8"));
        let long = dictionary(Kind::Utf8, 1, &[&[0x2c, 1, 0, 0][..], &[b'x'; 300]].concat());
        let places = page(4, Encoding::RLE_DICTIONARY, &four(&[1, 8, 0]));
        check(&way, Some(&long), places, Err("in proportion"));
    }
}
