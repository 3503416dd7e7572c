//! A function over records: of any format that a source is told to be, into a value or into a file.

use super::parquet::{Told, told};
use super::report::PyBadRows;
use super::source::Source;
use super::with_bytes;
use crate::error::{OrRaise, guarded};
use extenso_core::Value;
use extenso_formats::source::{Blocks, Format, open_file, open_reader, run_bytes, run_to_file};
use extenso_formats::{BadRows, OnError, Rows, SourceOptions};
use extenso_graph::Concrete;
use extenso_types::Nest;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Runs a function on all records of a source.
pub fn run(function: &Arc<Concrete>, source: &Bound<'_, PyAny>, on_error: OnError) -> PyResult<Rows<Nest<Value>>> {
    match told(source)? {
        Told::Parquet(file) => {
            let run = || extenso_formats::source::run_parquet(function, &file, on_error);
            source.py().detach(|| guarded(run)).or_raise()
        }
        Told::Other(source) => {
            let format = match Source::of(&source)? {
                Source::Path(path) => Format::of_name(&path),
                Source::Bytes(_) | Source::Text(_) | Source::File(_) => None,
            };
            with_bytes(&source, |bytes| run_bytes(function, bytes, format, on_error))
        }
    }
}

/// Runs a function on the records of a source, block by block, into a file; the rows that did not fit are given back under a policy other
/// than raising.
pub fn run_to<'py>(
    function: &Arc<Concrete>,
    source: &Bound<'py, PyAny>,
    target: &Path,
    on_error: OnError,
) -> PyResult<Option<Bound<'py, PyBadRows>>> {
    let py = source.py();
    let options = SourceOptions { on_error, ..SourceOptions::default() };
    let source = match Source::of(source)? {
        Source::Path(path) => Opening::Path(path),
        other => Opening::Reader(other.reader()?),
    };
    let run = || {
        let source: Box<dyn Blocks> = match source {
            Opening::Path(path) => open_file(function, &path, &options)?,
            Opening::Reader(reader) => open_reader(function, reader, &options)?,
        };
        let mut all = BadRows::default();
        run_to_file(function, source, target, None, &mut |done, bad| {
            all.first.clone_from(&done.first);
            all.rows.extend(&bad.rows);
            (0..bad.defaulted.len()).for_each(|i| all.defaulted.push(bad.defaulted.get(i)));
        })?;
        Ok(all)
    };
    let bad = py.detach(|| guarded(run)).or_raise()?;
    match on_error {
        OnError::Raise => Ok(None),
        OnError::Skip | OnError::Default => Bound::new(py, PyBadRows::new(bad)).map(Some),
    }
}

enum Opening {
    Path(PathBuf),
    Reader(Box<dyn std::io::BufRead + Send>),
}
