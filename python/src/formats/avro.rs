//! Avro in and out: `read_avro`, `write_avro`.

use super::report::with_report;
use super::source::{Source, with_file_or_bytes};
use super::target::{batch_of, write_to};
use super::{Paths, policy};
use crate::error::{OrRaise, guarded, raised};
use crate::typed::{Typed, typed};
use crate::{spec, value};
use extenso_formats::{AvroCodec, AvroOptions, encode_avro};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::io::BufReader;

/// Adds the functions to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(read_avro, module)?)?;
    module.add_function(wrap_pyfunction!(write_avro, module)?)
}

/// The rows of an Avro file as one value, whose outer axis is the rows.
///
/// The source is a path, bytes, or a file object. With `paths`, such as `["id", "items[*].price"]`, only the values at or below them are decoded; with `spec`, those
/// of its fields. Without `spec` the value is what the file says: lists are ragged, a value that may be null is masked, an enum gives categories, a map a
/// list of records of `key` and `value`. With it, numbers are widened to it, a field that may be missing may be missing in the file, and a row that does not
/// fit raises; `on_error` is that of `read_json`.
///
/// >>> import extenso as ex
/// >>> file = ex.write_avro(ex.constant([{"id": 1, "items": [{"price": 2.5}]}, {"id": 2, "items": []}]))
/// >>> ex.to_py(ex.read_avro(file, paths=["items[*].price"]))
/// [{'items': [{'price': 2.5}]}, {'items': []}]
#[pyfunction]
#[pyo3(signature = (source, spec=None, paths=None, *, on_error=Typed::new("raise")), text_signature = "(source, spec=None, paths=None, *, on_error=\"raise\")")]
fn read_avro<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    spec: Option<&Bound<'py, PyAny>>,
    paths: Option<Typed<Paths>>,
    on_error: Typed<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    typed!(read_avro: paths, on_error);
    let options = AvroOptions {
        spec: spec.map(spec::spec_or_value).transpose()?,
        paths: paths.map(|paths| paths.0),
        on_error: policy(py, on_error)?,
    };
    let of_file = |file| extenso_formats::read_avro(BufReader::new(file), &options);
    let of_bytes = |bytes: &[u8]| extenso_formats::read_avro(bytes, &options);
    let rows = with_file_or_bytes(py, Source::of(source)?, "read_avro", of_file, of_bytes)?;
    with_report(value::to_py(py, rows.value)?, rows.bad, options.on_error)
}

/// Writes a value, or a nest of values, as an Avro file: one row for each item of the outer axis.
///
/// The entries of records or of a dict are fields; another value is one field named `value`. Types that Avro has not are written under one that holds
/// their values, so that `read_avro` gives the same value. `codec` packs the blocks: `"null"`, `"deflate"`, `"snappy"` or `"zstandard"`. The target is a path,
/// where the file appears whole or not at all, or a file object that is open for bytes; without it, the bytes are returned.
///
/// >>> import extenso as ex
/// >>> file = ex.write_avro({"x": ex.constant([[1, 2], []])})
/// >>> ex.to_py(ex.read_avro(file))
/// [{'x': [1, 2]}, {'x': []}]
#[pyfunction]
#[pyo3(signature = (x, target=None, *, codec=Typed::new("deflate")), text_signature = "(x, target=None, *, codec=\"deflate\")")]
fn write_avro<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    target: Option<&Bound<'py, PyAny>>,
    codec: Typed<&str>,
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    typed!(write_avro: codec);
    let codec: AvroCodec = codec.parse().map_err(|e| raised(py, e))?;
    let nest = batch_of(x, "write_avro")?;
    let bytes = py.detach(|| guarded(|| encode_avro(&nest, codec).map_err(|e| e.at("write_avro")))).or_raise()?;
    write_to(py, target, &bytes)
}
