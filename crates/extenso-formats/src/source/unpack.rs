//! gzip and zstd, told by the first bytes.
//!
//! Invariant: a stream is unpacked as it is read, so that memory does not grow with what is in it. What is unpacked whole has a bound that
//! is stated in the error.

use extenso_types::{Error, Result};
use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Cursor, Read};

/// How much unpacked bytes may be, whatever they are packed in.
pub(crate) const MOST: u64 = 64 << 20;

/// How many times the packed bytes they may be beyond that.
pub(crate) const RATIO: u64 = 200;

/// How many bytes tell what a source is.
const HEAD: usize = 12;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Packing {
    Gzip,
    Zstd,
}

impl Packing {
    fn of(head: &[u8]) -> Option<Packing> {
        match head {
            [0x1f, 0x8b, ..] => Some(Packing::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Packing::Zstd),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Packing::Gzip => "gzip",
            Packing::Zstd => "zstd",
        }
    }

    fn reader<'a>(self, source: Box<dyn BufRead + Send + 'a>) -> io::Result<Box<dyn BufRead + Send + 'a>> {
        let plain: Box<dyn Read + Send + 'a> = match self {
            Packing::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(source)),
            Packing::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(source)?),
        };
        Ok(Box::new(BufReader::with_capacity(BUFFER, Unpacking { plain, name: self.name() })))
    }
}

const BUFFER: usize = 1 << 17;

/// Whether what begins with these bytes is packed.
pub fn is_packed(head: &[u8]) -> bool {
    Packing::of(head).is_some()
}

/// The first bytes of what is in a source, whether it is packed, and a reader of what is in it, from the start.
///
/// Errors: what the operating system refuses; packed bytes that are malformed.
pub fn unpacked<'a>(source: Box<dyn BufRead + Send + 'a>) -> Result<(Vec<u8>, bool, Box<dyn BufRead + Send + 'a>)> {
    let (head, source) = peeked(source)?;
    match Packing::of(&head) {
        Some(packing) => {
            let (head, source) = peeked(packing.reader(source).map_err(reading)?)?;
            Ok((head, true, source))
        }
        None => Ok((head, false, source)),
    }
}

fn peeked<'a>(mut source: Box<dyn BufRead + Send + 'a>) -> Result<(Vec<u8>, Box<dyn BufRead + Send + 'a>)> {
    let mut head = Vec::new();
    source.by_ref().take(HEAD as u64).read_to_end(&mut head).map_err(reading)?;
    Ok((head.clone(), Box::new(Cursor::new(head).chain(source))))
}

/// What is in these bytes, whole.
///
/// Errors: packed bytes that are malformed; more than 64 MB of them that are more than 200 times the packed ones.
pub fn unpack(bytes: &[u8]) -> Result<Cow<'_, [u8]>> {
    let Some(packing) = Packing::of(bytes) else { return Ok(Cow::Borrowed(bytes)) };
    let most = MOST.max(RATIO.saturating_mul(bytes.len() as u64));
    let mut out = Vec::new();
    let reader = packing.reader(Box::new(bytes)).map_err(reading)?;
    let n = reader.take(most + 1).read_to_end(&mut out).map_err(reading)?;
    if n as u64 <= most {
        return Ok(Cow::Owned(out));
    }
    let error = Error::data(format!("{} bytes of {} hold more than {most}", bytes.len(), packing.name()));
    let error = error.wanted(format!("at most {RATIO} times as many, or {} MB", MOST >> 20));
    Err(error.hint("Read them in blocks, which takes the memory of one block"))
}

/// Packed bytes that are not what their packing says.
#[derive(Debug)]
struct Malformed(String);

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Malformed {}

/// The error of a reader: what is malformed is the data's, the rest the operating system's.
pub fn reading(e: io::Error) -> Error {
    match e.get_ref().and_then(|e| e.downcast_ref::<Malformed>()) {
        Some(Malformed(what)) => Error::data(what.clone()).wanted("the bytes as they were packed, complete"),
        None => e.into(),
    }
}

/// A reader of what is packed, whose errors say so.
struct Unpacking<'a> {
    plain: Box<dyn Read + Send + 'a>,
    name: &'static str,
}

impl Read for Unpacking<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.plain.read(out).map_err(|e| match e.kind() {
            io::ErrorKind::Interrupted => e,
            _ => io::Error::other(Malformed(format!("the {} data is malformed: {e}", self.name))),
        })
    }
}
