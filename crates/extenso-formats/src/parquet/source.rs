//! Where the bytes of a Parquet file are: in memory, or in a file that is read in ranges.
//!
//! Invariant: no byte outside the file is asked for, and threads that read one file do not move each other's place in it.

use bytes::Bytes;
use extenso_types::{Error, Result};
use parquet::errors::{ParquetError, Result as Read};
use parquet::file::reader::{ChunkReader, Length};
use std::fs::File;
use std::io::{self, BufReader, Read as _};
use std::path::Path;
use std::sync::Arc;

/// The bytes of a Parquet file. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct ParquetSource(Place);

#[derive(Clone, Debug)]
enum Place {
    Memory(Bytes),
    File(Arc<File>, u64),
}

impl ParquetSource {
    /// A file that is read in ranges, where its columns are; a pipe, which has no ranges, is read whole.
    ///
    /// Errors: what the operating system refuses.
    pub fn open(path: impl AsRef<Path>) -> Result<ParquetSource> {
        let path = path.as_ref();
        let open = || {
            let mut file = File::open(path)?;
            let about = file.metadata()?;
            if about.is_file() {
                return Ok(ParquetSource(Place::File(Arc::new(file), about.len())));
            }
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            Ok(bytes.into())
        };
        open().map_err(|e| Error::of_file(path, e))
    }

    /// How many bytes there are.
    pub fn size(&self) -> u64 {
        match &self.0 {
            Place::Memory(bytes) => bytes.len() as u64,
            Place::File(_, size) => *size,
        }
    }

    /// The bytes from `start` on, `length` of them or as many as there are.
    ///
    /// Errors: what the operating system refuses.
    pub(crate) fn range(&self, start: u64, length: u64) -> Result<Bytes> {
        let start = start.min(self.size());
        let length = usize::try_from(length.min(self.size() - start)).unwrap_or(usize::MAX);
        self.get_bytes(start, length).map_err(|e| match e {
            ParquetError::External(e) => super::write::outside(e),
            other => Error::io(other.to_string()),
        })
    }
}

impl From<Bytes> for ParquetSource {
    fn from(bytes: Bytes) -> ParquetSource {
        ParquetSource(Place::Memory(bytes))
    }
}

impl From<Vec<u8>> for ParquetSource {
    fn from(bytes: Vec<u8>) -> ParquetSource {
        Bytes::from(bytes).into()
    }
}

impl Length for ParquetSource {
    fn len(&self) -> u64 {
        self.size()
    }
}

impl ChunkReader for ParquetSource {
    type T = BufReader<Rest>;

    fn get_read(&self, start: u64) -> Read<BufReader<Rest>> {
        let rest = Rest { source: self.clone(), at: start };
        Ok(BufReader::with_capacity(BUFFER, rest))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Read<Bytes> {
        let end = start.checked_add(length as u64).filter(|end| *end <= self.size());
        let end = end.ok_or_else(|| {
            let what = format!("{length} bytes at byte {start} are wanted, and the file has {}", self.size());
            ParquetError::EOF(what)
        })?;
        match &self.0 {
            Place::Memory(bytes) => {
                let place = |at: u64| usize::try_from(at).map_err(|e| ParquetError::External(Box::new(e)));
                Ok(bytes.slice(place(start)?..place(end)?))
            }
            Place::File(file, _) => {
                let mut out = vec![0; length];
                read_exact_at(file, &mut out, start)?;
                Ok(out.into())
            }
        }
    }
}

/// How much of a file is read at a time where its pages begin.
const BUFFER: usize = 1 << 13;

/// A source from a byte on.
pub struct Rest {
    source: ParquetSource,
    at: u64,
}

impl io::Read for Rest {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = match &self.source.0 {
            Place::Memory(bytes) => {
                let at = usize::try_from(self.at).unwrap_or(usize::MAX).min(bytes.len());
                let n = out.len().min(bytes.len() - at);
                out[..n].copy_from_slice(&bytes[at..at + n]);
                n
            }
            Place::File(file, _) => read_at(file, out, self.at)?,
        };
        self.at += n as u64;
        Ok(n)
    }
}

fn read_exact_at(file: &File, mut out: &mut [u8], mut at: u64) -> io::Result<()> {
    while !out.is_empty() {
        match read_at(file, out, at) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n) => {
                out = &mut out[n..];
                at += n as u64;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

#[cfg(unix)]
fn read_at(file: &File, out: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, out, at)
}

#[cfg(windows)]
fn read_at(file: &File, out: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, out, at)
}
