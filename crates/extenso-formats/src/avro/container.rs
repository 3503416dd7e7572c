//! Object container files: a header with the schema, and blocks of rows, each with the marker of the header behind it.
//!
//! Invariant: one block is held, and no more memory is made for it than bytes come.

use super::codec::{AvroCodec, Budget};
use super::schema::{MAX_SCHEMA, Schema};
use super::wire::COMPLETE;
use crate::source::reading;
use extenso_types::{Error, Result};
use std::io::{BufRead, Read};

/// What every file begins with.
pub const MAGIC: &[u8; 4] = b"Obj\x01";

/// How many bytes a marker has.
pub const MARKER: usize = 16;

/// So much room is made at once for what the file says comes.
const ROOM: usize = 1 << 20;

/// A file, of which the header was read.
pub struct Container<R> {
    source: R,
    /// How many bytes were read.
    at: u64,
    codec: AvroCodec,
    marker: Vec<u8>,
}

/// Rows as they are stored, unpacked.
pub struct Stored {
    /// How many there are.
    pub rows: usize,
    pub bytes: Vec<u8>,
    /// The place of the bytes in the file.
    pub at: u64,
    /// Whether the bytes stand in the file as they are.
    pub plain: bool,
}

/// Rows as they stand in the file.
#[derive(Clone)]
pub struct Packed {
    /// How many there are.
    pub rows: usize,
    pub bytes: Vec<u8>,
    /// The place of the bytes in the file.
    at: u64,
    /// The place of the block.
    start: u64,
    codec: AvroCodec,
}

impl Packed {
    /// What is in it.
    ///
    /// Errors: a block that is malformed or holds too much.
    pub fn unpack(self, budget: &mut Budget) -> Result<Stored> {
        let Packed { rows, bytes, at, start, codec } = self;
        let bytes = codec.unpack(bytes, budget).map_err(|e| e.at(format!("the block at byte {start}")))?;
        Ok(Stored { rows, bytes, at, plain: codec == AvroCodec::Null })
    }
}

impl<R: BufRead> Container<R> {
    /// Reads the header, and the schema in it.
    ///
    /// Errors: bytes that begin otherwise or are cut off; no schema, or a malformed one; a codec that is not read; what the operating
    /// system refuses.
    pub fn open(source: R) -> Result<(Container<R>, Schema)> {
        let mut file = Container { source, at: 0, codec: AvroCodec::Null, marker: Vec::new() };
        if file.exact(MAGIC.len())? != MAGIC {
            return Err(malformed(0, "it does not begin with 'Obj' and the version 1").wanted("an Avro file"));
        }
        let mut schema = None;
        while let Some(entries) = file.entries()? {
            for _ in 0..entries {
                let key = file.text(MAX_SCHEMA)?;
                let at = file.at;
                let value = file.text(MAX_SCHEMA)?;
                match &*key {
                    b"avro.schema" => schema = Some(Schema::parse(&value)?),
                    b"avro.codec" => file.codec = codec_of(&value).map_err(|e| e.at(format!("byte {at}")))?,
                    _ => {}
                }
            }
        }
        file.marker = file.exact(MARKER)?;
        let schema = schema.ok_or_else(|| malformed(file.at, "the header has no schema").wanted("an Avro file"))?;
        Ok((file, schema))
    }

    /// How many bytes were read.
    pub fn bytes(&self) -> u64 {
        self.at
    }

    /// The next block; none at the end.
    ///
    /// Errors: a block that is cut off, or has another marker; one that is malformed or holds too much.
    pub fn next(&mut self, budget: &mut Budget) -> Result<Option<Stored>> {
        self.packed()?.map(|block| block.unpack(budget)).transpose()
    }

    /// The next block as it stands in the file; none at the end.
    ///
    /// Errors: a block that is cut off, or has another marker.
    pub fn packed(&mut self) -> Result<Option<Packed>> {
        if self.source.fill_buf().map_err(reading)?.is_empty() {
            return Ok(None);
        }
        let start = self.at;
        let rows = self.size()?;
        let length = self.size()?;
        let at = self.at;
        let packed = self.exact(length)?;
        let behind = self.at;
        if self.exact(MARKER)? != self.marker {
            return Err(malformed(behind, "the marker behind a block is not that of the header").wanted(COMPLETE));
        }
        Ok(Some(Packed { rows, bytes: packed, at, start, codec: self.codec }))
    }

    /// How many entries the next part of the header has; none at its end.
    fn entries(&mut self) -> Result<Option<u64>> {
        let count = self.long()?;
        if count < 0 {
            self.long()?;
        }
        Ok((count != 0).then_some(count.unsigned_abs()))
    }

    fn long(&mut self) -> Result<i64> {
        let at = self.at;
        let mut bits = 0_u64;
        for shift in (0..70).step_by(7) {
            let mut byte = [0];
            self.source.read_exact(&mut byte).map_err(|e| match e.kind() {
                std::io::ErrorKind::UnexpectedEof => malformed(at, "a number is cut off").wanted(COMPLETE),
                _ => reading(e),
            })?;
            self.at += 1;
            let low = u64::from(byte[0] & 0x7f);
            if shift == 63 && low > 1 {
                break;
            }
            bits |= low << shift;
            if byte[0] < 0x80 {
                return Ok((bits >> 1).cast_signed() ^ -(bits & 1).cast_signed());
            }
        }
        Err(malformed(at, "a number has more than 64 bits"))
    }

    fn size(&mut self) -> Result<usize> {
        let (at, size) = (self.at, self.long()?);
        usize::try_from(size).map_err(|_| malformed(at, format!("a length is {size}")))
    }

    fn text(&mut self, most: usize) -> Result<Vec<u8>> {
        let (at, length) = (self.at, self.size()?);
        if length > most {
            return Err(malformed(at, format!("{length} bytes are in the header")).wanted(format!("at most {most}")));
        }
        self.exact(length)
    }

    /// The next bytes, as many as that.
    fn exact(&mut self, length: usize) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(length.min(ROOM));
        self.source.by_ref().take(length as u64).read_to_end(&mut bytes).map_err(reading)?;
        if bytes.len() < length {
            let what = format!("{length} bytes are said to be here, and {} came", bytes.len());
            return Err(malformed(self.at, what).wanted(COMPLETE));
        }
        self.at += length as u64;
        Ok(bytes)
    }
}

fn codec_of(name: &[u8]) -> Result<AvroCodec> {
    let name = String::from_utf8_lossy(name);
    name.parse().map_err(|_| {
        let error = Error::value(format!("the blocks are packed by '{name}'"));
        error.wanted("null, deflate, snappy or zstandard").hint("Write the file with one of these")
    })
}

/// The error of bytes that are no such file.
pub fn malformed(at: u64, what: impl std::fmt::Display) -> Error {
    Error::data(format!("the Avro data is malformed: {what}")).at(format!("byte {at}"))
}
