//! Values of a leaf, of any usual type.
//!
//! Invariant: as many values are added as there are slots, zero where one is null.

use super::Stop;
use super::bits::Bits;
use super::hybrid::{Run, Runs, unpack};
use super::numbers::Numbers;
use super::texts::{Budget, Texts};
use super::way::Way;
use super::words::Words;
use arrow_array::ArrayRef;
use arrow_array::types::{BinaryType, LargeBinaryType, LargeUtf8Type, Utf8Type};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType, TimeUnit};
use parquet::basic::{Encoding, Type};
use parquet::column::page::Page;
use std::cell::RefCell;
use std::iter::repeat_n;
use std::sync::Arc;

/// What values are held as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Numbers of four bytes, or narrower ones that are written as such.
    Four,
    /// Numbers of eight bytes.
    Eight,
    Bits,
    Utf8,
    LargeUtf8,
    Binary,
    LargeBinary,
    /// Categories of texts, and of bytes.
    Utf8Words,
    LargeUtf8Words,
    BinaryWords,
    LargeBinaryWords,
}

impl Kind {
    /// What holds values of a type that are written as this one; none if the bits of both are not the same.
    pub fn of(written: Type, data_type: &DataType) -> Option<Kind> {
        use DataType as D;
        Some(match (written, data_type) {
            (Type::INT32, D::Int8 | D::Int16 | D::Int32 | D::UInt8 | D::UInt16 | D::UInt32 | D::Date32) => Kind::Four,
            (Type::INT32, D::Time32(TimeUnit::Second | TimeUnit::Millisecond)) => Kind::Four,
            (Type::FLOAT, D::Float32) => Kind::Four,
            (Type::INT64, D::Int64 | D::UInt64 | D::Date64 | D::Timestamp(..) | D::Duration(_)) => Kind::Eight,
            (Type::INT64, D::Time64(TimeUnit::Microsecond | TimeUnit::Nanosecond)) => Kind::Eight,
            (Type::DOUBLE, D::Float64) => Kind::Eight,
            (Type::BOOLEAN, D::Boolean) => Kind::Bits,
            (Type::BYTE_ARRAY, D::Utf8) => Kind::Utf8,
            (Type::BYTE_ARRAY, D::LargeUtf8) => Kind::LargeUtf8,
            (Type::BYTE_ARRAY, D::Binary) => Kind::Binary,
            (Type::BYTE_ARRAY, D::LargeBinary) => Kind::LargeBinary,
            (Type::BYTE_ARRAY, D::Dictionary(_, words)) => match **words {
                D::Utf8 => Kind::Utf8Words,
                D::LargeUtf8 => Kind::LargeUtf8Words,
                D::Binary => Kind::BinaryWords,
                D::LargeBinary => Kind::LargeBinaryWords,
                _ => return None,
            },
            _ => return None,
        })
    }
}

/// The slots that values are added to.
#[derive(Clone, Copy, Debug)]
pub struct Room<'a> {
    pub slots: usize,
    /// How many of them have a value.
    pub values: usize,
    /// The definition level of each slot, and that of a value. Without it there is a value in each.
    pub levels: Option<(&'a [u8], u8)>,
}

impl Room<'_> {
    /// Hands on a value for each slot that has one, and none for each other.
    pub fn fill<T>(&self, values: impl IntoIterator<Item = T>, mut add: impl FnMut(Option<T>)) {
        let mut values = values.into_iter();
        match self.levels {
            None => values.take(self.slots).for_each(|value| add(Some(value))),
            Some((levels, there)) => {
                levels.iter().for_each(|level| add(if *level == there { values.next() } else { None }));
            }
        }
    }
}

/// Values of one kind.
pub trait Leaf: Sized {
    type Dictionary: Send + Sync + 'static;

    /// A dictionary of so many values, written one after another.
    fn dictionary(bytes: &[u8], count: usize) -> Result<Self::Dictionary, Stop>;

    /// Makes room for so many values, if that is worth it.
    ///
    /// Errors: there is no memory for them.
    fn reserve(&mut self, _n: usize) -> Result<(), Stop> {
        Ok(())
    }

    /// Adds values that are written one after another.
    fn plain(&mut self, bytes: &[u8], room: Room<'_>) -> Result<(), Stop>;

    /// Adds values of a dictionary by their places in it.
    fn placed(&mut self, dictionary: &Self::Dictionary, places: Places<'_>, room: Room<'_>) -> Result<(), Stop>;

    /// Adds values that are written as runs.
    fn runs(&mut self, _bytes: &[u8], _room: Room<'_>) -> Result<(), Stop> {
        Err(Stop::Unusual)
    }

    /// Adds the values that follow.
    fn append(&mut self, more: Self) -> Result<(), ArrowError>;

    /// The array of a type that is held so.
    fn finish(self, data_type: &DataType, nulls: Option<NullBuffer>) -> Result<ArrayRef, ArrowError>;
}

/// Places in a dictionary, which are written behind their width.
pub struct Places<'a> {
    bytes: &'a [u8],
    count: usize,
}

impl Places<'_> {
    /// All places, in a dictionary of so many values.
    ///
    /// Errors: one that the dictionary does not have.
    pub fn all(self, len: usize) -> Result<Vec<u32>, Stop> {
        let found = RefCell::new(Vec::with_capacity(self.count));
        let same = |place: u32, n| {
            found.borrow_mut().extend(repeat_n(place, n));
            Ok(())
        };
        let block = |places: &[u32]| {
            found.borrow_mut().extend_from_slice(places);
            Ok(())
        };
        self.each(same, block)?;
        let found = found.into_inner();
        match found.iter().max() {
            Some(last) if *last as usize >= len => Err(beyond(*last, len)),
            _ => Ok(found),
        }
    }

    /// Hands on all places, equal ones and packed ones.
    pub fn each(
        self,
        mut same: impl FnMut(u32, usize) -> Result<(), Stop>,
        mut block: impl FnMut(&[u32]) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let Some((width, bytes)) = self.bytes.split_first() else {
            return if self.count == 0 { Ok(()) } else { Err(super::bad("a page has no values")) };
        };
        let mut runs = Runs::new(bytes, *width, self.count)?;
        while let Some(run) = runs.next()? {
            match run {
                Run::Same(place, n) => same(place, n)?,
                Run::Packed(packed, n) => unpack(packed, *width, n, &mut block)?,
            }
        }
        Ok(())
    }
}

/// A place that the dictionary does not have.
pub fn beyond(place: u32, len: usize) -> Stop {
    super::bad(format!("a value has the place {place} in a dictionary of {len}"))
}

/// Makes the kinds one type.
macro_rules! kinds {
    ($($kind:ident: $leaf:ty = $new:expr;)*) => {
        /// Values of any kind.
        pub enum Values { $($kind($leaf),)* }

        /// What places in a column chunk are places of.
        pub enum Dictionary { $($kind(<$leaf as Leaf>::Dictionary),)* }

        impl Values {
            /// No values.
            pub fn new(way: &Way, budget: &Arc<Budget>) -> Values {
                match way.kind { $(Kind::$kind => Values::$kind(($new)(way, budget)),)* }
            }

            /// Makes room for so many values, if that is worth it.
            pub fn reserve(&mut self, n: usize) -> Result<(), Stop> {
                match self { $(Values::$kind(leaf) => leaf.reserve(n),)* }
            }

            /// Adds the values of a page.
            ///
            /// Errors: fewer than there are to be; places that the dictionary does not have, or no dictionary; an encoding that is not
            /// usual.
            pub fn add(&mut self, encoding: Encoding, bytes: &[u8], dictionary: Option<&Dictionary>, room: Room<'_>) -> Result<(), Stop> {
                match (self, encoding) {
                    $((Values::$kind(leaf), Encoding::PLAIN) => leaf.plain(bytes, room),
                    (Values::$kind(leaf), Encoding::RLE) => leaf.runs(bytes, room),
                    (Values::$kind(leaf), Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY) => match dictionary {
                        Some(Dictionary::$kind(dictionary)) => leaf.placed(dictionary, Places { bytes, count: room.values }, room),
                        _ => Err(super::bad("a page has places in a dictionary that is not there")),
                    },)*
                    _ => Err(Stop::Unusual),
                }
            }

            /// Adds the values that follow, of the same kind.
            pub fn append(&mut self, more: Values) -> Result<(), ArrowError> {
                match (self, more) {
                    $((Values::$kind(leaf), Values::$kind(more)) => leaf.append(more),)*
                    _ => Err(ArrowError::ComputeError("values of two kinds in one column".into())),
                }
            }

            /// The array of them.
            pub fn finish(self, data_type: &DataType, nulls: Option<NullBuffer>) -> Result<ArrayRef, ArrowError> {
                match self { $(Values::$kind(leaf) => leaf.finish(data_type, nulls),)* }
            }
        }

        impl Dictionary {
            /// The dictionary of a page.
            pub fn new(kind: Kind, page: &Page) -> Result<Dictionary, Stop> {
                let Page::DictionaryPage { buf, num_values, encoding, .. } = page else { return Err(Stop::Unusual) };
                if !matches!(encoding, Encoding::PLAIN | Encoding::PLAIN_DICTIONARY) {
                    return Err(Stop::Unusual);
                }
                let count = *num_values as usize;
                Ok(match kind { $(Kind::$kind => Dictionary::$kind(<$leaf as Leaf>::dictionary(buf, count)?),)* })
            }
        }
    };
}

kinds! {
    Four: Numbers<u32> = |_, _| Numbers::default();
    Eight: Numbers<u64> = |_, _| Numbers::default();
    Bits: Bits = |_, _| Bits::default();
    Utf8: Texts<Utf8Type> = Texts::new;
    LargeUtf8: Texts<LargeUtf8Type> = Texts::new;
    Binary: Texts<BinaryType> = Texts::new;
    LargeBinary: Texts<LargeBinaryType> = Texts::new;
    Utf8Words: Words<Utf8Type> = |_, _| Words::default();
    LargeUtf8Words: Words<LargeUtf8Type> = |_, _| Words::default();
    BinaryWords: Words<BinaryType> = |_, _| Words::default();
    LargeBinaryWords: Words<LargeBinaryType> = |_, _| Words::default();
}
