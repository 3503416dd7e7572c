//! Booleans.
//!
//! Invariant: a bit is read where the bytes have one.

use super::hybrid::{Run, Runs, unpack};
use super::page::{length, split};
use super::values::{Leaf, Places, Room};
use super::{Stop, bad};
use arrow_array::{ArrayRef, BooleanArray};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder, NullBuffer};
use arrow_schema::{ArrowError, DataType};
use std::sync::Arc;

/// Growing bits.
pub struct Bits(BooleanBufferBuilder);

impl Default for Bits {
    fn default() -> Bits {
        Bits(BooleanBufferBuilder::new(0))
    }
}

impl Leaf for Bits {
    type Dictionary = ();

    fn dictionary(_: &[u8], _: usize) -> Result<(), Stop> {
        Err(Stop::Unusual)
    }

    fn plain(&mut self, bytes: &[u8], room: Room<'_>) -> Result<(), Stop> {
        if bytes.len() < room.values.div_ceil(8) {
            return Err(bad(format!("{} bits are said to follow, and {} bytes do", room.values, bytes.len())));
        }
        match room.levels {
            None => self.0.append_packed_range(0..room.values, bytes),
            Some(_) => {
                let bits = (0..room.values).map(|i| bytes[i / 8] >> (i % 8) & 1 == 1);
                room.fill(bits, |bit| self.0.append(bit.unwrap_or_default()));
            }
        }
        Ok(())
    }

    fn placed(&mut self, (): &(), _: Places<'_>, _: Room<'_>) -> Result<(), Stop> {
        Err(Stop::Unusual)
    }

    fn runs(&mut self, bytes: &[u8], room: Room<'_>) -> Result<(), Stop> {
        if room.values == 0 {
            room.fill([], |bit: Option<bool>| self.0.append(bit.unwrap_or_default()));
            return Ok(());
        }
        let (length, rest) = length(bytes)?;
        let mut runs = Runs::new(split(rest, length)?.0, 1, room.values)?;
        let mut values = Vec::with_capacity(room.values);
        while let Some(run) = runs.next()? {
            match run {
                Run::Same(value @ 0..=1, n) => values.resize(values.len() + n, value == 1),
                Run::Same(value, _) => return Err(bad(format!("a bit is {value}"))),
                Run::Packed(packed, n) => unpack(packed, 1, n, |block| {
                    values.extend(block.iter().map(|bit| *bit == 1));
                    Ok(())
                })?,
            }
        }
        room.fill(values, |bit| self.0.append(bit.unwrap_or_default()));
        Ok(())
    }

    fn append(&mut self, mut more: Bits) -> Result<(), ArrowError> {
        let more: BooleanBuffer = more.0.finish();
        self.0.append_buffer(&more);
        Ok(())
    }

    fn finish(mut self, _: &DataType, nulls: Option<NullBuffer>) -> Result<ArrayRef, ArrowError> {
        let bits = self.0.finish();
        if nulls.as_ref().is_some_and(|nulls| nulls.len() != bits.len()) {
            return Err(ArrowError::ComputeError("as many nulls as bits are wanted".into()));
        }
        Ok(Arc::new(BooleanArray::new(bits, nulls)))
    }
}
