//! A file that tells of the rows that did not fit.
//!
//! Invariant: a line of JSON for each row, in the order of the rows; it is written while a run goes on, so that a run that fails leaves
//! what it knew.

use crate::columns::BadRows;
use crate::json::write_string;
use extenso_graph::save::archive::linked;
use extenso_types::{Error, Result};
use std::fs::{self, File};
use std::io::Write;
#[cfg(unix)]
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf, absolute};

/// A file with a line of JSON for each bad row: its number, and for the first rows of a block their byte, path and error.
#[derive(Debug)]
pub struct BadRowsFile {
    path: PathBuf,
    file: File,
}

impl BadRowsFile {
    /// An empty file of this name, which is none of those that a run reads and writes.
    ///
    /// Errors: it is one of them, and stays as it is; what the operating system refuses.
    pub fn create(path: &Path, of_run: &[&Path]) -> Result<BadRowsFile> {
        BadRowsFile::check(path, of_run)?;
        let file = File::create(path).map_err(|e| Error::of_file(path, e))?;
        Ok(BadRowsFile { path: path.to_path_buf(), file })
    }

    /// Checks that a file of this name is none of those that a run reads and writes.
    ///
    /// Errors: it is one of them.
    pub fn check(path: &Path, of_run: &[&Path]) -> Result<()> {
        if of_run.iter().all(|other| !is_same(path, other)) {
            return Ok(());
        }
        let error = Error::value(format!("'{}' is read or written by the run itself", path.display()));
        Err(error.wanted("another file for what did not fit").at("bad_rows"))
    }

    /// Adds the bad rows of a block.
    ///
    /// Errors: what the operating system refuses.
    ///
    /// ```
    /// # use extenso_formats::{BadRow, BadRows, source::BadRowsFile};
    /// # use extenso_types::Error;
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("bad.ndjson");
    /// let first = BadRow { row: 3, offset: Some(70), path: "price".parse().unwrap(), error: Error::data("a string came") };
    /// let mut file = BadRowsFile::create(&path, &[]).unwrap();
    /// file.write(&BadRows { rows: vec![3, 5], first: vec![first], ..BadRows::default() }).unwrap();
    /// let wanted = "{\"row\":3,\"byte\":70,\"path\":\"price\",\"error\":\"a string came.\"}\n{\"row\":5}\n";
    /// assert_eq!(std::fs::read_to_string(&path).unwrap(), wanted);
    /// ```
    pub fn write(&mut self, bad: &BadRows) -> Result<()> {
        let mut lines = Vec::new();
        for (i, row) in bad.rows.iter().enumerate() {
            lines.extend_from_slice(format!("{{\"row\":{row}").as_bytes());
            if let Some(first) = bad.first.get(i) {
                if let Some(byte) = first.offset {
                    lines.extend_from_slice(format!(",\"byte\":{byte}").as_bytes());
                }
                lines.extend_from_slice(b",\"path\":");
                write_string(first.path.to_string().as_bytes(), &mut lines);
                lines.extend_from_slice(b",\"error\":");
                write_string(first.error.to_string().as_bytes(), &mut lines);
            }
            lines.extend_from_slice(b"}\n");
        }
        self.file.write_all(&lines).map_err(|e| Error::of_file(&self.path, e))
    }
}

/// Whether two names are of one file; of files that are not there yet, whether they would be.
/// Whether two names lead to one file, or would.
pub fn is_same(a: &Path, b: &Path) -> bool {
    match (fs::metadata(a), fs::metadata(b)) {
        // A terminal or a pipe is written to by many.
        (Ok(a), Ok(b)) if !a.is_file() || !b.is_file() => false,
        #[cfg(unix)]
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => resolved(a).zip(resolved(b)).is_some_and(|(a, b)| a == b),
    }
}

/// Where a file of this name is or would be, whatever ways and links lead there.
fn resolved(path: &Path) -> Option<PathBuf> {
    let path = absolute(linked(path).ok()?).ok()?;
    path.canonicalize().ok().or_else(|| Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?)))
}
