//! Writing: values as Avro files.
//!
//! Invariant: all batches of a file have one schema; the same values give the same bytes.

use super::codec::AvroCodec;
use super::container::{MAGIC, MARKER};
use super::encode::rows_of;
use super::put::{put_long, put_text};
use crate::arrow::record_batch;
use extenso_core::Value;
use extenso_graph::save::archive::write_atomically;
use extenso_types::{Error, Nest, Result};
use std::io::Write;
use std::path::Path;

/// How large a block grows before it is packed and written, in bytes.
const BLOCK: usize = 1 << 16;

/// Writes a batch as the bytes of an Avro file, one row for each item of the outer axis.
///
/// A dict of values has a field for each, a record one for each field, and another value one that is named `value`. What types are written as, [the
/// table](crate::avro) says; reading gives the same value, but for categories whose words are no names and decimals of a negative scale, which the spec
/// of the value reads.
///
/// Errors: a value that Arrow has no array for; values, or parts of one, with another number of rows.
///
/// ```
/// # use extenso_ext::constant;
/// # use extenso_formats::{AvroOptions, encode_avro, read_avro};
/// # use extenso_types::Nest;
/// let value = Nest::dict([("x", Nest::Leaf(constant(vec![vec![1], vec![]]).unwrap()))]);
/// let file = encode_avro(&value, Default::default()).unwrap();
/// let read = read_avro(&file[..], &AvroOptions::default()).unwrap();
/// assert_eq!(extenso_ext::to_literal(&read.value).unwrap().to_string(), r#"[{"x": [1]}, {"x": []}]"#);
/// ```
pub fn encode_avro(value: &Nest<Value>, codec: AvroCodec) -> Result<Vec<u8>> {
    let mut writer = AvroWriter::new(Vec::new(), codec);
    writer.write(value)?;
    writer.finish()
}

/// Writes a batch as an Avro file, which appears under its name whole or not at all.
///
/// Errors: those of [`encode_avro`]; what the operating system refuses.
pub fn write_avro(value: &Nest<Value>, path: impl AsRef<Path>, codec: AvroCodec) -> Result<()> {
    let bytes = encode_avro(value, codec)?;
    write_atomically(path, &bytes).map_err(Error::from)
}

/// Writes batches one after another as the rows of one Avro file.
pub struct AvroWriter<W> {
    codec: AvroCodec,
    /// Whether categories are written as what they are.
    decoded: bool,
    state: State<W>,
}

enum State<W> {
    /// No batch has said yet what the rows are.
    New(W),
    Open(W, Vec<u8>),
    Failed,
}

impl<W: Write> AvroWriter<W> {
    /// A file without rows, whose blocks are packed by this codec.
    pub fn new(sink: W, codec: AvroCodec) -> AvroWriter<W> {
        AvroWriter { codec, decoded: false, state: State::New(sink) }
    }

    /// As [`AvroWriter::new`], of blocks whose categories may differ: these are written as what they are, since the schema of a file says all
    /// symbols of an enum before the first row.
    pub fn of_blocks(sink: W, codec: AvroCodec) -> AvroWriter<W> {
        AvroWriter { decoded: true, ..AvroWriter::new(sink, codec) }
    }

    /// Writes one more batch, of the types of those before.
    ///
    /// Errors: those of [`encode_avro`]; other types than before; what the operating system refuses.
    pub fn write(&mut self, value: &Nest<Value>) -> Result<()> {
        let (schema, rows) = rows_of(&record_batch(value)?, self.decoded)?;
        let (mut sink, known) = match std::mem::replace(&mut self.state, State::Failed) {
            State::New(mut sink) => {
                sink.write_all(&header(&schema, self.codec))?;
                (sink, schema.clone())
            }
            State::Open(sink, known) => (sink, known),
            State::Failed => return Err(Error::value("the file failed before").wanted("a new one")),
        };
        if schema != known {
            let text = |schema: &[u8]| String::from_utf8_lossy(schema).into_owned();
            return Err(Error::dtype(format!("a batch has the schema {}", text(&schema))).wanted(text(&known)));
        }
        let (marker, mut block, mut first) = (marker(&known, self.codec), Vec::new(), 0);
        for row in 0..rows.count {
            rows.put(row, &mut block);
            if block.len() >= BLOCK || row + 1 == rows.count {
                let (packed, mut head) = (self.codec.pack(&block)?, Vec::new());
                put_long(i64::try_from(row + 1 - first).unwrap_or(i64::MAX), &mut head);
                put_long(i64::try_from(packed.len()).unwrap_or(i64::MAX), &mut head);
                sink.write_all(&head)?;
                sink.write_all(&packed)?;
                sink.write_all(&marker)?;
                block.clear();
                first = row + 1;
            }
        }
        self.state = State::Open(sink, known);
        Ok(())
    }

    /// Gives the sink back.
    ///
    /// Errors: no batch was written, so that there is no schema; what the operating system refuses.
    pub fn finish(self) -> Result<W> {
        match self.state {
            State::Open(mut sink, _) => {
                sink.flush()?;
                Ok(sink)
            }
            State::New(_) => Err(Error::value("no batch was written").wanted("one at least, which may have no rows")),
            State::Failed => Err(Error::value("the file failed before").wanted("a new one")),
        }
    }
}

fn header(schema: &[u8], codec: AvroCodec) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    put_long(2, &mut out);
    put_text(b"avro.schema", &mut out);
    put_text(schema, &mut out);
    put_text(b"avro.codec", &mut out);
    put_text(codec.name().as_bytes(), &mut out);
    put_long(0, &mut out);
    out.extend_from_slice(&marker(schema, codec));
    out
}

/// The marker behind blocks: the FNV-1a hash of what the file says that it is, so that the same values give the same bytes.
fn marker(schema: &[u8], codec: AvroCodec) -> [u8; MARKER] {
    let mut hash = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    for byte in schema.iter().chain(codec.name().as_bytes()) {
        hash = (hash ^ u128::from(*byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b);
    }
    hash.to_be_bytes()
}
