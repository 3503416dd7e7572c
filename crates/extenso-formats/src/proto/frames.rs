//! Where messages come from: a list of them, or a file in which each has its length before it.
//!
//! Invariant: a record that lies in the input is borrowed; what hides where the next one starts is an error under every policy.

use super::put::put_varint;
use super::wire::{Span, Wire};
use crate::failure::{Failure, Read};
use crate::parts::Start;
use extenso_core::Dense;
use extenso_types::{Error, Result};

/// Serialized messages, one for each row.
#[derive(Clone, Copy)]
pub enum Messages<'a> {
    /// Each by itself; a byte in an error is one of its message.
    Each(&'a [&'a [u8]]),
    /// The elements of a tensor of byte strings, in row-major order; a byte in an error is one of its message.
    Texts(&'a Dense),
    /// A file of messages with a varint for the length before each, as `writeDelimitedTo` of Java writes it.
    Delimited(&'a [u8]),
    /// A TFRecord file: lengths, messages, and the masked CRC-32C of both, which are checked.
    TfRecord(&'a [u8]),
}

/// How messages stand in a file.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Framing {
    /// As [`Messages::Delimited`].
    #[default]
    Delimited,
    /// As [`Messages::TfRecord`].
    TfRecord,
}

/// Where a message of a file ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// Before this byte, what stands around the message included.
    Ends(usize),
    /// Behind what is there: so many bytes more are needed before anything else can be said.
    Lacks(usize),
    /// Nobody knows: its length is none.
    Odd,
}

impl Framing {
    /// The framing of a file that begins with these bytes: TFRecords if the first checksum says so, otherwise lengths alone. Fewer bytes than
    /// tell are the whole file, which is of TFRecords if it ends inside the first and is no messages by lengths alone.
    pub fn of_head(head: &[u8]) -> Framing {
        match head {
            head if Framing::is_tfrecord(head) => Framing::TfRecord,
            _ if is_cut_record(head) && !is_delimited(head) => Framing::TfRecord,
            _ => Framing::Delimited,
        }
    }

    /// Whether a file that begins with these bytes begins with a length and its checksum.
    pub(crate) fn is_tfrecord(head: &[u8]) -> bool {
        head.split_first_chunk::<LENGTH>().is_some_and(|(len, rest)| rest.starts_with(&masked_crc(len)))
    }

    /// The messages of a file, or of a part of it.
    pub fn messages(self, bytes: &[u8]) -> Messages<'_> {
        match self {
            Framing::Delimited => Messages::Delimited(bytes),
            Framing::TfRecord => Messages::TfRecord(bytes),
        }
    }

    /// Where the message at this byte of a file ends, of which this much was read.
    pub fn extent(self, read: &[u8], at: usize) -> Extent {
        let rest = read.get(at..).unwrap_or_default();
        let (head, len, tail) = match self {
            Framing::Delimited => match varint(rest) {
                Ok((head, len)) => (head, len, 0),
                Err(unknown) => return unknown,
            },
            Framing::TfRecord => match rest.split_first_chunk::<LENGTH>() {
                Some((len, check)) if check.len() >= TAIL => match check.starts_with(&masked_crc(len)) {
                    true => (HEAD, u64::from_le_bytes(*len), TAIL),
                    false => return Extent::Odd,
                },
                _ => return Extent::Lacks(HEAD - rest.len()),
            },
        };
        let len = usize::try_from(len).ok().filter(|len| *len <= MOST);
        match len.map(|len| at + head + len + tail) {
            Some(end) if end <= read.len() => Extent::Ends(end),
            Some(end) => Extent::Lacks(end - read.len()),
            None => Extent::Odd,
        }
    }

    /// Appends a message with what stands around it.
    pub fn put(self, message: &[u8], out: &mut Vec<u8>) {
        let len = u64::try_from(message.len()).unwrap_or(u64::MAX);
        match self {
            Framing::Delimited => {
                put_varint(len, out);
                out.extend_from_slice(message);
            }
            Framing::TfRecord => {
                out.extend_from_slice(&len.to_le_bytes());
                out.extend_from_slice(&masked_crc(&len.to_le_bytes()));
                out.extend_from_slice(message);
                out.extend_from_slice(&masked_crc(message));
            }
        }
    }
}

/// Whether a file looks like a TFRecord of which its length, or the checksum of that, is not whole.
fn is_cut_record(file: &[u8]) -> bool {
    match file.split_first_chunk::<LENGTH>() {
        Some((len, check)) => {
            u64::from_le_bytes(*len) <= MOST as u64 && check.len() < TAIL && masked_crc(len).starts_with(check)
        }
        // The high bytes of a length are zeros, which no field begins with.
        None => file.last() == Some(&0) && file.iter().skip(4).all(|byte| *byte == 0),
    }
}

/// Whether a file is messages of fields, each behind its length.
fn is_delimited(file: &[u8]) -> bool {
    let fields = |bytes: &[u8]| {
        let (mut wire, mut groups) = (Wire::new(bytes, Span { start: 0, end: bytes.len() }), Vec::new());
        while !wire.is_done() {
            let tag = wire.tag()?;
            wire.skip(tag, &mut groups)?;
        }
        Read::Ok(())
    };
    Messages::Delimited(file).frames(Start::default()).all(|frame| frame.is_ok_and(|frame| fields(frame.bytes).is_ok()))
}

/// One message of a source.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Where it starts.
    pub start: usize,
    pub bytes: &'a [u8],
    /// Whether its checksum is that of the bytes.
    pub intact: bool,
}

/// The bytes of a TFRecord before and behind the message, and those of its length.
const HEAD: usize = 12;
const TAIL: usize = 4;
const LENGTH: usize = HEAD - TAIL;

/// Protocol buffers have no longer messages.
const MOST: usize = i32::MAX as usize;

/// The bytes of the varint that these begin with, and its value.
fn varint(bytes: &[u8]) -> std::result::Result<(usize, u64), Extent> {
    let n = bytes.iter().position(|byte| byte & 0x80 == 0).map_or(bytes.len() + 1, |last| last + 1);
    if n > VARINT {
        return Err(Extent::Odd);
    }
    let digits = bytes.get(..n).ok_or(Extent::Lacks(1))?;
    Ok((n, digits.iter().rev().fold(0, |value, byte| value << 7 | u64::from(byte & 0x7f))))
}

/// Most bytes that a varint has.
const VARINT: usize = 10;

impl<'a> Messages<'a> {
    /// The messages of a file, which [`unpack`](crate::source::unpack) has unpacked; without a framing, TFRecords if the first checksum says so,
    /// otherwise delimited ones.
    ///
    /// ```
    /// # use extenso_formats::proto::Messages;
    /// assert!(matches!(Messages::of_file(b"\x02\x08\x07", None), Messages::Delimited(_)));
    /// ```
    pub fn of_file(bytes: &'a [u8], framing: Option<Framing>) -> Messages<'a> {
        match framing {
            Some(framing) => framing.messages(bytes),
            None => Framing::of_head(bytes).messages(bytes),
        }
    }

    /// Each message, up to the first error; rows and bytes are counted from `start`.
    ///
    /// Errors: a length that is none or leads outside; a checksum of a length that is another's.
    pub fn frames(self, start: Start) -> Frames<'a> {
        Frames { source: self, start, row: 0, at: 0, failed: false }
    }

    /// How many bytes there are.
    pub fn bytes(self) -> usize {
        match self {
            Messages::Each(list) => list.iter().map(|bytes| bytes.len()).sum(),
            Messages::Texts(texts) => texts.text().map_or(0, |(offsets, _)| offsets.get(texts.len()) - offsets.get(0)),
            Messages::Delimited(bytes) | Messages::TfRecord(bytes) => bytes.len(),
        }
    }

    /// The message of this number, or the one at this byte of a file.
    fn next(self, row: usize, at: usize) -> Read<Option<Frame<'a>>> {
        match self {
            Messages::Each(list) => Ok(list.get(row).map(|bytes| Frame { start: 0, bytes, intact: true })),
            Messages::Texts(texts) if row < texts.len() => {
                let bytes = texts.text_at(row).map_err(|error| Failure::new(0, error))?;
                Ok(Some(Frame { start: 0, bytes, intact: true }))
            }
            Messages::Texts(_) => Ok(None),
            Messages::Delimited(bytes) if at < bytes.len() => delimited(bytes, at).map(Some),
            Messages::TfRecord(bytes) if at < bytes.len() => tf_record(bytes, at).map(Some),
            Messages::Delimited(_) | Messages::TfRecord(_) => Ok(None),
        }
    }
}

/// The messages of a source, one after the other.
pub struct Frames<'a> {
    source: Messages<'a>,
    start: Start,
    row: usize,
    at: usize,
    failed: bool,
}

impl<'a> Iterator for Frames<'a> {
    type Item = Result<Frame<'a>>;

    fn next(&mut self) -> Option<Result<Frame<'a>>> {
        if self.failed {
            return None;
        }
        match self.source.next(self.row, self.at) {
            Ok(frame) => frame.map(|frame| {
                let tail = if matches!(self.source, Messages::TfRecord(_)) { TAIL } else { 0 };
                self.row += 1;
                self.at = frame.start + frame.bytes.len() + tail;
                Ok(Frame { start: self.start.byte + frame.start, ..frame })
            }),
            Err(failure) => {
                self.failed = true;
                Some(Err(failure.finish(self.start.row + self.row, self.start.byte).2))
            }
        }
    }
}

fn delimited(bytes: &[u8], at: usize) -> Read<Frame<'_>> {
    let mut wire = Wire::new(bytes, Span { start: at, end: bytes.len() });
    let span = wire.sized()?;
    Ok(Frame { start: span.start, bytes: wire.bytes(span), intact: true })
}

/// The record at this byte.
///
/// Source: <https://www.tensorflow.org/tutorials/load_data/tfrecord>: a length of 8 bytes, its checksum of 4, the message, its checksum of 4.
fn tf_record(bytes: &[u8], at: usize) -> Read<Frame<'_>> {
    let ends = || Failure::new(bytes.len(), Error::data("the file ends in a record").wanted("more bytes"));
    let head = bytes.get(at..).and_then(|rest| rest.first_chunk::<HEAD>()).ok_or_else(ends)?;
    let (len, check) = head.split_at(HEAD - TAIL);
    if masked_crc(len) != *check {
        let error = Error::data("the checksum of a length is wrong").wanted("a TFRecord file, without compression");
        let packed = at == 0 && is_zlib(bytes);
        let told = "It begins as what zlib packs does: unpack it first, or write it with gzip or without compression";
        return Err(Failure::new(at, if packed { error.hint(told) } else { error }));
    }
    let len = len.first_chunk().map_or(0, |len| u64::from_le_bytes(*len));
    let start = at + HEAD;
    let end = usize::try_from(len).ok().and_then(|len| start.checked_add(len)).ok_or_else(ends)?;
    let message = bytes.get(start..end).ok_or_else(ends)?;
    let check = bytes.get(end..).and_then(|rest| rest.first_chunk::<TAIL>()).ok_or_else(ends)?;
    Ok(Frame { start, bytes: message, intact: masked_crc(message) == *check })
}

/// Whether bytes begin as those that zlib packs: with the method, and a check of the two bytes (RFC 1950).
fn is_zlib(bytes: &[u8]) -> bool {
    matches!(bytes, [0x78, flags, ..] if (0x7800 + u16::from(*flags)) % 31 == 0)
}

/// The checksum of TFRecords: CRC-32C, turned by 15 bits and moved, as TensorFlow's `lib/hash/crc32c.h` defines it.
fn masked_crc(bytes: &[u8]) -> [u8; TAIL] {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes()
}

/// The message of a record whose checksum is wrong.
pub fn damaged() -> Box<Failure> {
    Failure::new(0, Error::data("the checksum of the message is wrong").wanted("the bytes that were written"))
}
