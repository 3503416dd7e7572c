//! Numbers of four and eight bytes, whatever they mean: bits are moved, and not looked at.
//!
//! Invariant: places are compared with the dictionary before they are taken.

use super::values::{Leaf, Places, Room, beyond};
use super::{Stop, bad};
use arrow_array::{ArrayRef, make_array};
use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType};
use extenso_core::kernels::pool::{buffer, reserve};
use std::iter::repeat_n;

/// A number as it is written: the lowest byte first (Apache Parquet, "Encodings": PLAIN).
pub trait Word: ArrowNativeType + bytemuck::Pod + Sync {
    const SIZE: usize;

    /// The numbers of bytes.
    fn each(bytes: &[u8]) -> impl Iterator<Item = Self>;
}

impl Word for u32 {
    const SIZE: usize = 4;

    fn each(bytes: &[u8]) -> impl Iterator<Item = u32> {
        bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word))
    }
}

impl Word for u64 {
    const SIZE: usize = 8;

    fn each(bytes: &[u8]) -> impl Iterator<Item = u64> {
        bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word))
    }
}

/// The bits of numbers.
#[derive(Default)]
pub struct Numbers<T>(Vec<T>);

/// The bytes of so many numbers.
fn bytes_of<T: Word>(bytes: &[u8], count: usize) -> Result<&[u8], Stop> {
    let there = count.checked_mul(T::SIZE).and_then(|length| bytes.get(..length));
    there.ok_or_else(|| bad(format!("{count} numbers are said to follow, and {} bytes do", bytes.len())))
}

impl<T: Word> Numbers<T> {
    /// Adds the values of a page that has nulls among them.
    fn spread(&mut self, values: impl IntoIterator<Item = T>, room: Room<'_>) {
        self.0.reserve(room.slots);
        room.fill(values, |value| self.0.push(value.unwrap_or_default()));
    }
}

/// Adds values of a dictionary.
fn place<T: Word>(dictionary: &[T], places: Places<'_>, out: &mut Vec<T>) -> Result<(), Stop> {
    let out = std::cell::RefCell::new(out);
    let same = |place: u32, n| {
        let value = dictionary.get(place as usize).ok_or_else(|| beyond(place, dictionary.len()))?;
        out.borrow_mut().extend(repeat_n(*value, n));
        Ok(())
    };
    let block = |places: &[u32]| {
        let last = places.iter().fold(0, |a, b| a.max(*b));
        if last as usize >= dictionary.len() {
            return Err(beyond(last, dictionary.len()));
        }
        out.borrow_mut().extend(places.iter().map(|place| dictionary[*place as usize]));
        Ok(())
    };
    places.each(same, block)
}

impl<T: Word> Leaf for Numbers<T> {
    type Dictionary = Vec<T>;

    fn dictionary(bytes: &[u8], count: usize) -> Result<Vec<T>, Stop> {
        Ok(T::each(bytes_of::<T>(bytes, count)?).collect())
    }

    fn reserve(&mut self, n: usize) -> Result<(), Stop> {
        reserve(&mut self.0, n).map_err(|e| bad(e.to_string()))
    }

    fn plain(&mut self, bytes: &[u8], room: Room<'_>) -> Result<(), Stop> {
        let values = T::each(bytes_of::<T>(bytes, room.values)?);
        match room.levels {
            None => self.0.extend(values),
            Some(_) => self.spread(values, room),
        }
        Ok(())
    }

    fn placed(&mut self, dictionary: &Vec<T>, places: Places<'_>, room: Room<'_>) -> Result<(), Stop> {
        if room.levels.is_none() {
            self.0.reserve(room.slots);
            return place(dictionary, places, &mut self.0);
        }
        let mut values = Vec::with_capacity(room.values);
        place(dictionary, places, &mut values)?;
        self.spread(values, room);
        Ok(())
    }

    fn append(&mut self, more: Numbers<T>) -> Result<(), ArrowError> {
        self.0.extend_from_slice(&more.0);
        Ok(())
    }

    fn finish(self, data_type: &DataType, nulls: Option<NullBuffer>) -> Result<ArrayRef, ArrowError> {
        let n = self.0.len();
        let buffer = match data_type.primitive_width() {
            // Of a number that is written wider than it is, the lowest bytes.
            Some(1) => Buffer::from_vec(self.0.iter().map(|n| n.as_usize().to_le_bytes()[0]).collect::<Vec<u8>>()),
            Some(2) => {
                let low = |n: &T| u16::from_le_bytes([n.as_usize().to_le_bytes()[0], n.as_usize().to_le_bytes()[1]]);
                Buffer::from_vec(self.0.iter().map(low).collect::<Vec<u16>>())
            }
            _ => buffer(self.0),
        };
        Ok(make_array(ArrayData::builder(data_type.clone()).len(n).nulls(nulls).add_buffer(buffer).build()?))
    }
}
