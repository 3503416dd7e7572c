//! Arrow's IPC files and streams, and what other libraries hold: `read_arrow`, `write_arrow`.
//!
//! Holds no logic of the format: sources become bytes or arrays, and options those of the formats crate.

use super::rows::Lines;
use super::source::{Source, is_once, of_source, opened};
use super::target::{batch_of, path_of, write_to};
use super::{Paths, policy, with_report};
use crate::arrow::chunks;
use crate::error::{OrRaise, guarded, raised};
use crate::typed::{Typed, typed};
use crate::{spec, value};
use arrow_buffer::Buffer;
use extenso_core::{ExtensionType, Value};
use extenso_ext::StructTensor;
use extenso_formats::arrow::{ArrowOptions, IpcCompression, from_chunks, read_ipc, write_ipc_compressed};
use extenso_types::{Dim, Error, Nest, Result, Shape};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};
use std::io::Read;
use std::path::Path;

/// Adds the functions to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(read_arrow, module)?)?;
    module.add_function(wrap_pyfunction!(write_arrow, module)?)
}

/// The rows of an IPC file or stream of Arrow, or of another library's table, as one value.
///
/// The source is bytes, a path, a file object, or an object with `__arrow_c_stream__` or `__arrow_c_array__`: a table of pyarrow, a frame
/// of polars, a relation of duckdb. Buffers are shared with it where there is one batch. With `spec`, fields that it does not know are not
/// looked at, optional ones that are missing are null, and narrower numbers are widened. With `paths`, such as
/// `["id", "items[*].price"]`, only these parts are in the value; columns that nobody asks for are not decoded. A row with a null where the
/// spec has none raises, with its number and path. With `on_error="skip"` it is left out, with `"default"` it holds zeros, empty rows and
/// missing values; then the result is `(value, bad)`, where `bad` lists these rows.
///
/// With `memory_map=True` a file is not read but mapped into memory: the buffers of the value are those of the file, and pages that
/// nobody looks at are never read; a pipe, which cannot be mapped, is read. The file must stay as it is while the value lives; a process
/// that looks at what was cut off a file is ended by the system.
///
/// >>> import extenso as ex
/// >>> data = ex.write_arrow(ex.constant([{"id": 1, "tags": ["a", "b"]}, {"id": 2, "tags": []}]))
/// >>> ex.to_py(ex.read_arrow(data, paths=["tags"]))
/// [{'tags': ['a', 'b']}, {'tags': []}]
#[pyfunction]
#[pyo3(signature = (source, spec=None, paths=None, *, on_error=Typed::new("raise"), memory_map=Typed::new(false)), text_signature = "(source, spec=None, paths=None, *, on_error=\"raise\", memory_map=False)")]
fn read_arrow<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    spec: Option<&Bound<'py, PyAny>>,
    paths: Option<Typed<Paths>>,
    on_error: Typed<&str>,
    memory_map: Typed<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    typed!(read_arrow: paths, on_error, memory_map);
    let spec = spec.map(spec::spec_or_value).transpose()?;
    let options = ArrowOptions { spec, paths: paths.map(|paths| paths.0), on_error: policy(py, on_error)? };
    let path = path_of(Some(source))?;
    let at = |e: Error| of_source(e, path.as_deref(), "read_arrow");
    let rows = if source.hasattr("__arrow_c_stream__")? || source.hasattr("__arrow_c_array__")? {
        let chunks = chunks(source, "read_arrow")?;
        py.detach(|| guarded(|| from_chunks(&chunks.field, &chunks.arrays, &options))).map_err(at).or_raise()?
    } else {
        let bytes = bytes_of(source, memory_map)?;
        py.detach(|| guarded(|| read_ipc(bytes, &options))).map_err(at).or_raise()?
    };
    with_report(value::to_py(py, rows.value)?, rows.bad, options.on_error)
}

/// The bytes of a source: those of a bytes object as they stand, those of a file read once, or mapped.
fn bytes_of(source: &Bound<'_, PyAny>, memory_map: bool) -> PyResult<Buffer> {
    let py = source.py();
    match Source::of(source)? {
        Source::Path(path) if memory_map && !is_once(&path) => {
            let size = opened(&path).and_then(|file| file.metadata().map_err(|e| Error::of_file(&path, e)));
            let size = size.or_raise()?.len();
            // No file without bytes can be mapped.
            if size == 0 { Ok(Buffer::from_vec(Vec::<u8>::new())) } else { mapped(py, &path) }
        }
        Source::Bytes(bytes) => Ok(Buffer::from(bytes::Bytes::from_owner(PyBackedBytes::from(bytes)))),
        Source::Text(text) | Source::Rows(Lines { text, .. }) => Ok(Buffer::from_vec(text)),
        source @ (Source::Path(_) | Source::File(_)) => {
            let mut reader = source.reader()?;
            let read = || {
                let mut bytes = Vec::new();
                reader.read_to_end(&mut bytes)?;
                Ok(bytes)
            };
            py.detach(|| guarded(read)).map(Buffer::from_vec).or_raise()
        }
    }
}

/// A file in memory, which Python maps.
fn mapped(py: Python<'_>, path: &Path) -> PyResult<Buffer> {
    let mmap = py.import("mmap")?;
    let read = PyDict::new(py);
    read.set_item("access", mmap.getattr("ACCESS_READ")?)?;
    let file = py.import("io")?.call_method1("open", (path, "rb"))?;
    let map = mmap.call_method("mmap", (file.call_method0("fileno")?, 0), Some(&read));
    file.call_method0("close")?;
    let map = map?;
    Ok(Buffer::from(bytes::Bytes::from_owner(Mapped(PyBuffer::get(&map)?))))
}

/// The bytes of a map, which lives as long as they are looked at.
struct Mapped(PyBuffer<u8>);

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the map is contiguous and has so many bytes; it cannot be closed while its buffer is held, and nobody writes to
        // it, since it was made for reading.
        unsafe { std::slice::from_raw_parts(self.0.buf_ptr().cast::<u8>(), self.0.len_bytes()) }
    }
}

/// Writes a value, or a dict of columns, as an IPC file of Arrow with one batch.
///
/// The target is a path, under which the file appears whole or not at all, or a file object; without one, the bytes are returned. With
/// `stream=True`, or a path that ends in `.arrows`, it is a stream. Records are written as their columns, anything else as one column,
/// which `read_arrow` gives back as the value. Values of extension types keep their types. `compression` is that of the buffers: `"lz4"` or `"zstd"`.
///
/// >>> import extenso as ex
/// >>> ex.read_arrow(ex.write_arrow(ex.constant([[1, 2], []]))).to_py()
/// [[1, 2], []]
#[pyfunction]
#[pyo3(signature = (x, target=None, *, stream=None, compression=None))]
fn write_arrow<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    target: Option<&Bound<'py, PyAny>>,
    stream: Option<Typed<bool>>,
    compression: Option<Typed<&str>>,
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    typed!(write_arrow: stream, compression);
    let value = records(&batch_of(x, "write_arrow")?).map_err(|e| e.at("write_arrow")).or_raise()?;
    let path = path_of(target)?;
    let compression = compression.map(|name| compression_of(py, name)).transpose()?;
    let named = path.as_ref().and_then(|path| path.extension()).is_some_and(|end| end == "arrows");
    let write = || write_ipc_compressed(&value, stream.unwrap_or(named), compression);
    let bytes = py.detach(|| guarded(write)).map_err(|e| e.at("write_arrow")).or_raise()?;
    write_to(py, target, &bytes)
}

fn compression_of(py: Python<'_>, name: &str) -> PyResult<IpcCompression> {
    match name {
        "lz4" => Ok(IpcCompression::Lz4),
        "zstd" => Ok(IpcCompression::Zstd),
        other => {
            let error = Error::value(format!("found '{other}'")).wanted("'lz4', 'zstd' or None");
            Err(raised(py, error.at("compression")))
        }
    }
}

/// The value that a nest is as columns: itself, or a struct of the values of a dict.
///
/// Errors: another nest.
fn records(nest: &Nest<Value>) -> Result<Value> {
    match nest {
        Nest::Leaf(value) => Ok(value.clone()),
        Nest::Dict(entries) | Nest::Record(_, entries) => {
            let fields: Result<Vec<_>> =
                entries.iter().map(|(name, nest)| Ok((name.clone(), records(nest)?))).collect();
            let fields = fields?;
            // How many rows there are, the values say, or their arrays.
            let shape = if fields.is_empty() { Shape::known(&[0]) } else { Shape::new([Dim::any()]) };
            Ok(StructTensor::from_fields(shape, fields)?.into_value())
        }
        Nest::Tuple(_) | Nest::List(_) | Nest::Static(_) => {
            Err(Error::dtype("found a list of values").wanted("a value, or a dict of columns"))
        }
    }
}
