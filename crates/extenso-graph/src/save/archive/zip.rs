//! The records of the zip: a file as a function of its members' names and data.
//!
//! Invariant: reader and writer take every byte outside member data from the same functions, and the data of every member starts
//! at a multiple of 64 bytes.
//! Does not read zips of other programs. Source: PKWARE's APPNOTE, 4.3 (records), 4.5.3 (Zip64), 4.6 (0xa11e).
//!
//! A field that its plain record cannot hold has all bits set there and its value in a Zip64 field or record, which are absent
//! where nothing needs them.

use super::ArchiveError;
use std::iter;
use std::ops::Range;

const ALIGNMENT: u16 = 64;
/// Header id of "Data Stream Alignment": the alignment as 2 bytes, then zeros.
const ALIGNMENT_ID: u16 = 0xa11e;
const ZIP64_ID: u16 = 1;
/// An extra field before its data.
const FIELD_LEN: usize = 4;
const LOCAL_LEN: usize = 30;
const LOCAL_CRC: usize = 14;
const LOCAL_SIZE: usize = 22;
const LOCAL_SIGNATURE: &[u8] = b"PK\x03\x04";
const PLAIN_VERSION: u16 = 20;
const ZIP64_VERSION: u16 = 45;
/// Flags (UTF-8 names), method (stored), time (00:00:00) and date (1980-01-01).
const FIXED: [u8; 8] = [0, 8, 0, 0, 0, 0, 0x21, 0];
const HINT: &str = "Copy the file again; if another program packed it anew, unzip it and open the directory";

/// Appends members and then the directory.
pub(super) struct Writer {
    file: Vec<u8>,
    directory: Directory,
}

impl Writer {
    pub(super) fn with_capacity(bytes: usize) -> Writer {
        Writer { file: Vec::with_capacity(bytes), directory: Directory::default() }
    }

    pub(super) fn member(&mut self, name: &str, data: &[u8]) {
        let entry = Entry { name, size: data.len() as u64, offset: self.file.len() as u64, crc: crc32fast::hash(data) };
        let header = entry.local_header();
        self.file.extend_from_slice(&header);
        self.file.extend_from_slice(data);
        self.directory.push(&entry);
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        let directory = self.directory.finish(self.file.len() as u64);
        self.file.extend_from_slice(&directory);
        self.file
    }
}

/// Compares a file with what the writer would have made, member by member.
pub(super) struct Reader<'a> {
    file: &'a [u8],
    at: usize,
    directory: Directory,
}

impl<'a> Reader<'a> {
    pub(super) fn new(file: &'a [u8]) -> Reader<'a> {
        Reader { file, at: 0, directory: Directory::default() }
    }

    /// The size that the first member claims; nothing is known of it yet.
    pub(super) fn size_of_first(&self) -> Result<u64, ArchiveError> {
        let size = self.number(LOCAL_SIZE).filter(|_| self.file.starts_with(LOCAL_SIGNATURE));
        size.map(u64::from).ok_or_else(|| {
            let start = self.file[..self.file.len().min(4)].escape_ascii();
            ArchiveError::refused(format!("the file starts with \"{start}\""), "the file of an Extenso artifact", HINT)
        })
    }

    /// Checks the next member against its name, claimed size and checksum, and gives the place of its data.
    pub(super) fn member(&mut self, name: &str, size: u64) -> Result<Range<usize>, ArchiveError> {
        let crc = self.number(self.at + LOCAL_CRC).unwrap_or(0);
        let entry = Entry { name, size, offset: self.at as u64, crc };
        self.expect(&entry.local_header(), &format!("the header of member {name:?}"))?;
        let range = self.take(size).ok_or_else(|| {
            let rest = self.file.len() - self.at;
            let what = format!("member {name:?} has {size} bytes, of which the file holds {rest}");
            ArchiveError::refused(what, "a whole file", HINT)
        })?;
        let found = crc32fast::hash(&self.file[range.clone()]);
        if found != crc {
            let what = format!("member {name:?} is damaged: its CRC-32 is {found:08x}");
            return Err(ArchiveError::refused(what, format!("{crc:08x}"), HINT));
        }
        self.directory.push(&entry);
        Ok(range)
    }

    /// Checks that the directory and nothing else follows.
    pub(super) fn finish(mut self) -> Result<(), ArchiveError> {
        let directory = std::mem::take(&mut self.directory).finish(self.at as u64);
        self.expect(&directory, "the zip directory")?;
        match self.file.len() - self.at {
            0 => Ok(()),
            rest => Err(ArchiveError::refused(format!("{rest} bytes follow the end of the zip"), "none", HINT)),
        }
    }

    fn take(&mut self, size: u64) -> Option<Range<usize>> {
        let end = self.at.checked_add(usize::try_from(size).ok()?).filter(|end| *end <= self.file.len())?;
        Some(std::mem::replace(&mut self.at, end)..end)
    }

    fn number(&self, at: usize) -> Option<u32> {
        self.file.get(at..)?.first_chunk().copied().map(u32::from_le_bytes)
    }

    fn expect(&mut self, wanted: &[u8], place: &str) -> Result<(), ArchiveError> {
        let rest = &self.file[self.at..];
        let same = iter::zip(rest, wanted).take_while(|(a, b)| a == b).count();
        let at = self.at + same;
        match (rest.get(same), wanted.get(same)) {
            (_, None) => {
                self.at = at;
                Ok(())
            }
            (None, Some(_)) => {
                Err(ArchiveError::refused(format!("the file ends at byte {at}, in {place}"), "a whole file", HINT))
            }
            (Some(found), Some(byte)) => {
                let what = format!("byte {at}, in {place}, is {found:#04x}");
                Err(ArchiveError::refused(what, format!("{byte:#04x}, as Extenso writes it"), HINT))
            }
        }
    }
}

/// What the zip says of one member.
pub(super) struct Entry<'a> {
    pub(super) name: &'a str,
    pub(super) size: u64,
    pub(super) offset: u64,
    pub(super) crc: u32,
}

impl Entry<'_> {
    pub(super) fn local_header(&self) -> Vec<u8> {
        let zip64 = zip64_field(&[self.size, self.size]);
        let used = self.offset + (LOCAL_LEN + self.name.len() + zip64.len() + FIELD_LEN) as u64;
        let mut alignment = ALIGNMENT.to_le_bytes().to_vec();
        while !(used + alignment.len() as u64).is_multiple_of(ALIGNMENT.into()) {
            alignment.push(0);
        }
        let extra = [zip64.as_slice(), &field(ALIGNMENT_ID, &alignment)].concat();
        let version = if zip64.is_empty() { PLAIN_VERSION } else { ZIP64_VERSION };
        [LOCAL_SIGNATURE, &version.to_le_bytes(), &self.common(&extra), self.name.as_bytes(), &extra].concat()
    }

    fn directory_header(&self) -> Vec<u8> {
        let extra = zip64_field(&[self.size, self.size, self.offset]);
        let version = if extra.is_empty() { PLAIN_VERSION } else { ZIP64_VERSION }.to_le_bytes();
        [
            b"PK\x01\x02".as_slice(),
            &version,
            &version,
            &self.common(&extra),
            // No comment, first disk, no attributes.
            &[0; 10],
            &low32(self.offset),
            self.name.as_bytes(),
            &extra,
        ]
        .concat()
    }

    /// The fields that both headers have in the same order.
    fn common(&self, extra: &[u8]) -> Vec<u8> {
        let (size, name_len) = (low32(self.size), low16(self.name.len() as u64));
        [FIXED.as_slice(), &self.crc.to_le_bytes(), &size, &size, &name_len, &low16(extra.len() as u64)].concat()
    }
}

/// The headers of the members so far, which end the file.
#[derive(Default)]
pub(super) struct Directory {
    headers: Vec<u8>,
    count: u64,
}

impl Directory {
    pub(super) fn push(&mut self, entry: &Entry<'_>) {
        self.headers.extend_from_slice(&entry.directory_header());
        self.count += 1;
    }

    /// Adds the end records, for a directory that starts at `offset`.
    pub(super) fn finish(self, offset: u64) -> Vec<u8> {
        let (count, size) = (self.count, self.headers.len() as u64);
        let plain = count < u64::from(u16::MAX) && size < u64::from(u32::MAX) && offset < u64::from(u32::MAX);
        let zip64 = if plain { Vec::new() } else { zip64_end(count, size, offset) };
        let count = low16(count);
        let end = [b"PK\x05\x06".as_slice(), &[0; 4], &count, &count, &low32(size), &low32(offset), &[0; 2]].concat();
        [self.headers, zip64, end].concat()
    }
}

/// The Zip64 end record and its locator.
fn zip64_end(count: u64, size: u64, offset: u64) -> Vec<u8> {
    let version = ZIP64_VERSION.to_le_bytes();
    let count = count.to_le_bytes();
    [
        b"PK\x06\x06".as_slice(),
        &44_u64.to_le_bytes(),
        &version,
        &version,
        &[0; 8],
        &count,
        &count,
        &size.to_le_bytes(),
        &offset.to_le_bytes(),
        b"PK\x06\x07",
        &[0; 4],
        &(offset + size).to_le_bytes(),
        // One disk in all.
        &1_u32.to_le_bytes(),
    ]
    .concat()
}

/// The extra field with those values that a 32-bit field cannot hold; empty if there are none.
fn zip64_field(values: &[u64]) -> Vec<u8> {
    let large = values.iter().filter(|v| **v >= u64::from(u32::MAX));
    let values: Vec<u8> = large.flat_map(|v| v.to_le_bytes()).collect();
    if values.is_empty() { values } else { field(ZIP64_ID, &values) }
}

fn field(id: u16, data: &[u8]) -> Vec<u8> {
    [&id.to_le_bytes(), &low16(data.len() as u64), data].concat()
}

/// The value, or all bits set if it does not fit.
fn low32(value: u64) -> [u8; 4] {
    u32::try_from(value).unwrap_or(u32::MAX).to_le_bytes()
}

/// The value, or all bits set if it does not fit.
fn low16(value: u64) -> [u8; 2] {
    u16::try_from(value).unwrap_or(u16::MAX).to_le_bytes()
}
