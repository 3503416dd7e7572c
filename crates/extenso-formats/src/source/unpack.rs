//! gzip and zstd, told by the first bytes.
//!
//! Invariant: a stream is unpacked as it is read, so that memory does not grow with what is in it. What is held at a time, all of it or a
//! block, has a bound that is stated in the error.

#[cfg(feature = "proto")]
use crate::proto::Framing;
use extenso_types::{Error, Result};
use flate2::bufread::GzDecoder;
use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How much unpacked bytes may be, whatever they are packed in.
pub(crate) const MOST: u64 = 64 << 20;

/// How many times the packed bytes they may be beyond that.
pub(crate) const RATIO: u64 = 200;

/// How many bytes tell what a source is.
const HEAD: usize = 16;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Packing {
    Gzip,
    Zstd,
}

impl Packing {
    fn of(head: &[u8]) -> Option<Packing> {
        #[cfg(feature = "proto")]
        if Framing::is_tfrecord(head) {
            // The length of a record may be anything, and its checksum is no chance.
            return None;
        }
        match head {
            // The only method that there is, and no flag that has no meaning (RFC 1952).
            [0x1f, 0x8b] | [0x1f, 0x8b, 8] | [0x1f, 0x8b, 8, 0..=0x1f, ..] => Some(Packing::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Packing::Zstd),
            // A frame that is passed over, of so many bytes, may stand before the others (RFC 8878); so may a message begin.
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, a, b, c, 0, rest @ ..] => {
                let behind = rest.get(u32::from_le_bytes([*a, *b, *c, 0]) as usize..).unwrap_or_default();
                (behind.len() < 8 || Packing::of(behind) == Some(Packing::Zstd)).then_some(Packing::Zstd)
            }
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Packing::Gzip => "gzip",
            Packing::Zstd => "zstd",
        }
    }

    fn reader<'a>(self, source: Lines<'a>) -> io::Result<Unpacking<'a>> {
        let plain: Box<dyn Read + Send + 'a> = match self {
            Packing::Gzip => Box::new(Members(Some(GzDecoder::new(source)))),
            Packing::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(source)?),
        };
        Ok(Unpacking { plain, name: self.name() })
    }
}

/// The members of a file of gzip, one after another; zeros between them and at the end, as tapes and blocks are filled up with, are none.
struct Members<'a>(Option<GzDecoder<Lines<'a>>>);

impl Read for Members<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.0 {
            let n = member.read(out)?;
            if n > 0 || out.is_empty() {
                return Ok(n);
            }
            self.0 =
                self.0.take().map(|member| after_zeros(member.into_inner())).transpose()?.flatten().map(GzDecoder::new);
        }
        Ok(0)
    }
}

/// The source behind zeros; none at its end.
fn after_zeros(mut source: Lines<'_>) -> io::Result<Option<Lines<'_>>> {
    loop {
        let bytes = source.fill_buf()?;
        let (zeros, there) = (bytes.iter().take_while(|byte| **byte == 0).count(), bytes.len());
        source.consume(zeros);
        if there == 0 || zeros < there {
            return Ok((there > 0).then_some(source));
        }
    }
}

const BUFFER: usize = 1 << 17;

/// Whether what begins with these bytes is packed.
pub fn is_packed(head: &[u8]) -> bool {
    Packing::of(head).is_some()
}

type Lines<'a> = Box<dyn BufRead + Send + 'a>;

/// A source whose bytes are as they were before they were packed.
pub struct Unpacked<'a> {
    /// The first bytes, which `source` gives too.
    pub head: Vec<u8>,
    /// What is known of the packed bytes; none where the source was not packed.
    pub packed: Option<Arc<Packed>>,
    /// All of them.
    pub source: Lines<'a>,
}

/// What a source reads of blocks of about so many bytes, from the start, packed or not.
///
/// Errors: what the operating system refuses; packed bytes that are malformed.
pub fn unpacked<'a>(source: Lines<'a>, block: usize) -> Result<Unpacked<'a>> {
    let packed =
        Arc::new(Packed { read: AtomicU64::new(0), given: AtomicU64::new(0), most: MOST.saturating_add(block as u64) });
    let counted = BufReader::new(Counted { source, packed: packed.clone() });
    let (head, source) = peeked(Box::new(counted))?;
    let Some(packing) = Packing::of(&head) else { return Ok(Unpacked { head, packed: None, source }) };
    let plain = Bounded { plain: packing.reader(source).map_err(reading)?, packed: packed.clone() };
    let (head, source) = peeked(Box::new(BufReader::with_capacity(BUFFER, plain)))?;
    Ok(Unpacked { head, packed: Some(packed), source })
}

/// How long a schema is at most that tells of a stream of Arrow by itself.
const SCHEMA: usize = 1 << 20;

/// Where the schema ends that a stream of Arrow before 0.15 begins with, if these bytes may be such a stream: its length, and a place in it. No text has
/// a zero there.
pub fn old_schema(head: &[u8]) -> Option<usize> {
    let word = |at: usize| {
        let bytes = head.get(at..)?.first_chunk::<4>()?;
        usize::try_from(u32::from_le_bytes(*bytes)).ok()
    };
    let (length, root) = (word(0)?, word(4)?);
    (root > 0 && root < length && length <= SCHEMA).then_some(4 + length)
}

fn peeked<'a>(mut source: Lines<'a>) -> Result<(Vec<u8>, Lines<'a>)> {
    let mut head = Vec::new();
    source.by_ref().take(HEAD as u64).read_to_end(&mut head).map_err(reading)?;
    if let Some(end) = old_schema(&head).filter(|end| *end > head.len()) {
        source.by_ref().take((end - head.len()) as u64).read_to_end(&mut head).map_err(reading)?;
    }
    Ok((head.clone(), Box::new(Cursor::new(head).chain(source))))
}

/// How much was read of packed bytes, and how much they gave.
pub struct Packed {
    read: AtomicU64,
    /// Since the block was begun.
    given: AtomicU64,
    /// What a block may be, whatever it is packed in.
    most: u64,
}

impl Packed {
    /// How many packed bytes were read so far.
    pub fn bytes(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// Begins a block: what came before is no longer held.
    pub fn begin_block(&self) {
        self.given.store(0, Ordering::Relaxed);
    }

    /// Counts what is held of a block.
    ///
    /// Errors: too much.
    fn hold(&self, bytes: u64) -> Result<()> {
        let given = self.given.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if given <= self.most.max(RATIO.saturating_mul(self.bytes())) {
            return Ok(());
        }
        let error = Error::data(format!("{} packed bytes hold {given} that are read at once", self.bytes()));
        let error = error.wanted(format!("rows of at most {RATIO} times as many, or {} MB", MOST >> 20));
        Err(error.hint("Unpack the bytes first, if rows as long as this one are meant"))
    }
}

/// A reader that says how much was read of it.
struct Counted<R> {
    source: R,
    packed: Arc<Packed>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.source.read(out)?;
        self.packed.read.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

/// A reader of what is packed, of which little is held.
struct Bounded<R> {
    plain: R,
    packed: Arc<Packed>,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.plain.read(out)?;
        self.packed.hold(n as u64).map_err(refused)?;
        Ok(n)
    }
}

/// What is in these bytes, whole: of gzip and zstd, which their first bytes tell, what was packed, and of others they themselves.
///
/// Errors: packed bytes that are malformed; more than 64 MB of them that are more than 200 times the packed ones.
///
/// ```
/// # use extenso_formats::source::unpack;
/// assert_eq!(*unpack(b"plain").unwrap(), *b"plain");
/// assert!(unpack(b"\x1f\x8b\x08").is_err());
/// ```
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

/// An error of a reader that is no refusal of the operating system.
#[derive(Debug)]
struct Refused(Error);

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Refused {}

/// An error of a reader, which `reading` gives again.
pub fn refused(error: Error) -> io::Error {
    io::Error::other(Refused(error))
}

/// The error of a reader: what is malformed is the data's, what there is no memory for says so, the rest is the operating system's.
pub fn reading(e: io::Error) -> Error {
    match e.get_ref().and_then(|e| e.downcast_ref::<Refused>()) {
        Some(Refused(error)) => error.clone(),
        None if e.kind() == io::ErrorKind::OutOfMemory && e.raw_os_error().is_none() => {
            let error = Error::memory("what is read at once takes more memory than the system gives");
            error.hint("Read it in smaller blocks, or split it")
        }
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
            _ => {
                let error = Error::data(format!("the {} data is malformed: {e}", self.name));
                refused(error.wanted("the bytes as they were packed, complete"))
            }
        })
    }
}
