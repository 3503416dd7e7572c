//! What the blocks of a file are packed by.
//!
//! Invariant: a block gives at most so many bytes as its packed ones may hold, whatever it says.

use crate::source::{MOST, RATIO};
use extenso_types::{Error, Result};
use flate2::Compression;
use std::borrow::Cow;
use std::io::{Read, Write};
use std::str::FromStr;

/// How blocks are packed.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum AvroCodec {
    /// Not at all.
    Null,
    /// Deflate, which every reader of Avro knows.
    #[default]
    Deflate,
    /// Snappy, with a checksum.
    Snappy,
    /// zstd.
    Zstd,
}

/// How much more may be made of a file than it has bytes: some for any file, and so many times its bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget(u64);

impl Default for Budget {
    fn default() -> Budget {
        Budget(MOST)
    }
}

impl Budget {
    /// Counts bytes that were read.
    pub fn add(&mut self, bytes: usize) {
        self.0 = self.0.saturating_add(RATIO.saturating_mul(bytes as u64));
    }

    /// Counts bytes that are made of nothing.
    ///
    /// Errors: they are too many.
    pub fn charge(&mut self, bytes: usize) -> Result<()> {
        match self.0.checked_sub(bytes as u64) {
            Some(left) => {
                self.0 = left;
                Ok(())
            }
            None => Err(Error::data("the file says that it holds far more than it has bytes")
                .wanted(format!("at most {RATIO} times as much, or {} MB", MOST >> 20))
                .hint("Run over it with a target, which holds a block of it")),
        }
    }

    /// Takes so many bytes; whether there were as many.
    pub fn take(&mut self, bytes: u64) -> bool {
        let left = self.0.checked_sub(bytes);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }

    /// How many bytes are left.
    pub fn left(self) -> u64 {
        self.0
    }
}

/// The names of codecs.
const NAMES: [(AvroCodec, &str); 4] = [
    (AvroCodec::Null, "null"),
    (AvroCodec::Deflate, "deflate"),
    (AvroCodec::Snappy, "snappy"),
    (AvroCodec::Zstd, "zstandard"),
];

impl FromStr for AvroCodec {
    type Err = Error;

    fn from_str(name: &str) -> Result<AvroCodec> {
        let found = NAMES.iter().find(|(_, known)| *known == name).map(|(codec, _)| *codec);
        found.ok_or_else(|| {
            let names: Vec<&str> = NAMES.iter().map(|(_, name)| *name).collect();
            Error::value(format!("found '{name}'")).wanted(format!("one of {}", names.join(", "))).at("codec")
        })
    }
}

impl AvroCodec {
    /// The name.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(codec, _)| *codec == self).map_or("null", |(_, name)| name)
    }

    /// What is in a block.
    ///
    /// Errors: packed bytes that are malformed, or that hold more than the budget has.
    pub(super) fn unpack(self, block: Vec<u8>, budget: &mut Budget) -> Result<Vec<u8>> {
        budget.add(block.len());
        let most = budget.left();
        let out = match self {
            AvroCodec::Null => return Ok(block),
            AvroCodec::Deflate => self.whole(flate2::read::DeflateDecoder::new(&*block), most),
            AvroCodec::Zstd => {
                let reader = zstd::stream::read::Decoder::with_buffer(&*block).map_err(|e| self.odd(&e))?;
                self.whole(reader, most)
            }
            AvroCodec::Snappy => self.snappy(&block, most),
        };
        let out = out?;
        budget.charge(out.len()).map(|()| out)
    }

    fn whole(self, reader: impl Read, most: u64) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        reader.take(most.saturating_add(1)).read_to_end(&mut out).map_err(|e| self.odd(&e))?;
        Ok(out)
    }

    fn snappy(self, block: &[u8], most: u64) -> Result<Vec<u8>> {
        let (packed, sum) = block.split_last_chunk::<4>().ok_or_else(|| self.odd(&"it has no checksum"))?;
        let length = snap::raw::decompress_len(packed).map_err(|e| self.odd(&e))?;
        if length as u64 > most {
            return Budget(most).charge(length).map(|()| Vec::new());
        }
        let out = snap::raw::Decoder::new().decompress_vec(packed).map_err(|e| self.odd(&e))?;
        if crc32fast::hash(&out) != u32::from_be_bytes(*sum) {
            return Err(self.odd(&"its checksum is that of other bytes"));
        }
        Ok(out)
    }

    /// A block of these bytes.
    ///
    /// Errors: more bytes than the codec takes.
    pub(super) fn pack(self, bytes: &[u8]) -> Result<Cow<'_, [u8]>> {
        let refused = |e: &dyn std::fmt::Display| Error::value(format!("{} refuses a block: {e}", self.name()));
        match self {
            AvroCodec::Null => Ok(Cow::Borrowed(bytes)),
            AvroCodec::Deflate => {
                let mut writer = flate2::write::DeflateEncoder::new(Vec::new(), Compression::fast());
                writer.write_all(bytes).and_then(|()| writer.finish()).map(Cow::Owned).map_err(|e| refused(&e))
            }
            AvroCodec::Snappy => {
                let mut out = snap::raw::Encoder::new().compress_vec(bytes).map_err(|e| refused(&e))?;
                out.extend_from_slice(&crc32fast::hash(bytes).to_be_bytes());
                Ok(Cow::Owned(out))
            }
            AvroCodec::Zstd => zstd::stream::encode_all(bytes, 0).map(Cow::Owned).map_err(|e| refused(&e)),
        }
    }

    fn odd(self, what: &dyn std::fmt::Display) -> Error {
        Error::data(format!("the {} data of a block is malformed: {what}", self.name()))
            .wanted("the bytes as they were packed, complete")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unpacked_ends_a_byte_behind_the_budget() {
        let endless = AvroCodec::Deflate.whole(std::io::repeat(0), 10).expect("reads");
        assert_eq!(endless.len(), 11);
        assert!(Budget(10).charge(endless.len()).is_err());
    }
}
