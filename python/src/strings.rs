//! Strings: functions that are no ops, as Rust has them.
//!
//! Invariant: no logic of a function stands here.

use crate::composed::attribute;
use crate::error::{OrRaise, guarded};
use crate::typed::{Typed, typed};
use crate::{arg, value};
use extenso_core::{Arg, Value, ops};
use extenso_types::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

type Given<'a, 'py> = &'a Bound<'py, PyAny>;
type Made<'py> = PyResult<Bound<'py, PyAny>>;

/// Adds the functions to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    macro_rules! add {
        ($($name:ident)*) => { $(module.add_function(wrap_pyfunction!($name, module)?)?;)* };
    }
    add! {
        string_rsplit regex_split regex_find_all regex_groups drop_empty string_partition string_rpartition string_format
        unicode_decode unicode_decode_with_offsets unicode_encode unicode_split_with_offsets unicode_transcode hash_bucket
    }
    Ok(())
}

fn made<'py>(py: Python<'py>, make: impl FnOnce() -> Result<Value>) -> Made<'py> {
    value::to_py(py, guarded(make).or_raise()?)
}

fn made_tuple<'py>(py: Python<'py>, make: impl FnOnce() -> Result<Vec<Value>>) -> PyResult<Bound<'py, PyTuple>> {
    let values: PyResult<Vec<_>> = guarded(make).or_raise()?.into_iter().map(|v| value::to_py(py, v)).collect();
    PyTuple::new(py, values?)
}

/// The pieces of each string, split from the back, in one more axis: at `sep`, or at Unicode white space; at most `maxsplit` times
/// unless that is negative.
///
/// At white space no piece is empty; at `sep` pieces may be, as of `str.rsplit`. Missing strings stay missing.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.string_rsplit(["a/b/c"], "/", maxsplit=1))
/// [['a/b', 'c']]
#[pyfunction]
#[pyo3(signature = (x, sep=None, maxsplit=Typed::new(-1)), text_signature = "(x, sep=None, maxsplit=-1)")]
fn string_rsplit<'py>(x: Given<'_, 'py>, sep: Option<Typed<&str>>, maxsplit: Typed<i64>) -> Made<'py> {
    typed!(string_rsplit: sep, maxsplit);
    let strings = value::given("string_rsplit", "x", x)?;
    made(x.py(), || extenso_ext::string_rsplit(&strings, sep, maxsplit))
}

/// The pieces of each string between the matches of `pattern`, in one more axis; at most `maxsplit` splits unless that is negative.
///
/// Missing strings stay missing.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.regex_split(["a, b;c", ""], "[,;] *"))
/// [['a', 'b', 'c'], ['']]
#[pyfunction]
#[pyo3(signature = (x, pattern, maxsplit=Typed::new(-1)), text_signature = "(x, pattern, maxsplit=-1)")]
fn regex_split<'py>(x: Given<'_, 'py>, pattern: Typed<&str>, maxsplit: Typed<i64>) -> Made<'py> {
    typed!(regex_split: pattern, maxsplit);
    let strings = value::given("regex_split", "x", x)?;
    made(x.py(), || extenso_ext::regex_split(&strings, pattern, maxsplit))
}

/// What a group of `pattern` matches, in all matches in each string, in one more axis; group 0 is the whole match.
///
/// A group that takes no part is empty. Missing strings stay missing.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.regex_find_all(["a1b22", "c"], "[0-9]+"))
/// [['1', '22'], []]
#[pyfunction]
#[pyo3(signature = (x, pattern, group=Typed::new(0)), text_signature = "(x, pattern, group=0)")]
fn regex_find_all<'py>(x: Given<'_, 'py>, pattern: Typed<&str>, group: Typed<i64>) -> Made<'py> {
    typed!(regex_find_all: pattern, group);
    let strings = value::given("regex_find_all", "x", x)?;
    made(x.py(), || extenso_ext::regex_find_all(&strings, pattern, group))
}

/// What the groups of `pattern` match in the first match in each string, as records: a field for each group.
///
/// A field has the name of its group, or its number if it has none; it is missing where the pattern does not match, or the group
/// takes no part.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.regex_groups(["k=v", "x"], "(?P<key>[a-z])=(?P<value>[a-z])"))
/// [{'key': 'k', 'value': 'v'}, {'key': None, 'value': None}]
#[pyfunction]
fn regex_groups<'py>(x: Given<'_, 'py>, pattern: Typed<&str>) -> Made<'py> {
    typed!(regex_groups: pattern);
    let strings = value::given("regex_groups", "x", x)?;
    made(x.py(), || extenso_ext::regex_groups(&strings, pattern))
}

/// The strings of each innermost row that are not empty.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.drop_empty(ex.string_split(["a,,b", ""], ",")))
/// [['a', 'b'], []]
#[pyfunction]
fn drop_empty<'py>(x: Given<'_, 'py>) -> Made<'py> {
    let strings = value::given("drop_empty", "x", x)?;
    made(x.py(), || extenso_ext::drop_empty(&strings))
}

/// What stands before the first `sep` of each string, `sep` itself, and what stands behind it.
///
/// A string without `sep` is all before it, and the other two are empty, as of `str.partition`.
///
/// >>> import extenso as ex
/// >>> [ex.to_py(part) for part in ex.string_partition(["a=b=c", "d"], "=")]
/// [['a', 'd'], ['=', ''], ['b=c', '']]
#[pyfunction]
fn string_partition<'py>(x: Given<'_, 'py>, sep: Typed<&str>) -> PyResult<Bound<'py, PyTuple>> {
    typed!(string_partition: sep);
    let strings = arg::given("string_partition", "x", x)?;
    made_tuple(x.py(), || Ok(ops::string_partition(strings, sep)?.into()))
}

/// What stands before the last `sep` of each string, `sep` itself, and what stands behind it.
///
/// A string without `sep` is all behind it, and the other two are empty, as of `str.rpartition`.
///
/// >>> import extenso as ex
/// >>> [ex.to_py(part) for part in ex.string_rpartition(["a/b/c", "d"], "/")]
/// [['a/b', ''], ['/', ''], ['c', 'd']]
#[pyfunction]
fn string_rpartition<'py>(x: Given<'_, 'py>, sep: Typed<&str>) -> PyResult<Bound<'py, PyTuple>> {
    typed!(string_rpartition: sep);
    let strings = arg::given("string_rpartition", "x", x)?;
    made_tuple(x.py(), || Ok(ops::string_rpartition(strings, sep)?.into()))
}

/// The template with the text of one value in the place of each `{}`, elementwise: `values` is a list, and they broadcast.
///
/// `{{` and `}}` are brackets. Numbers are written as by `as_string`.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.string_format("{}: {}", [[1, 2], "x"]))
/// ['1: x', '2: x']
#[pyfunction]
fn string_format<'py>(template: Typed<&str>, values: Given<'_, 'py>) -> Made<'py> {
    typed!(string_format: template);
    let args = list("string_format", values)?;
    made(values.py(), || ops::string_format(template, &args))
}

/// The arguments of a list or tuple.
///
/// Errors: another object, named by the function.
pub fn list(function: &'static str, values: Given<'_, '_>) -> PyResult<Vec<Arg>> {
    if !values.is_instance_of::<PyList>() && !values.is_instance_of::<PyTuple>() {
        return Err(arg::no_argument(values, true).at(function)).or_raise();
    }
    arg::each(function, values)
}

/// The code points of each string's characters, in one more axis, as i32.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.unicode_decode(["aö", ""]))
/// [[97, 246], []]
#[pyfunction]
fn unicode_decode<'py>(x: Given<'_, 'py>) -> Made<'py> {
    let strings = value::given("unicode_decode", "x", x)?;
    made(x.py(), || extenso_ext::unicode_decode(&strings))
}

/// The string of each innermost row of code points: one axis less.
///
/// A number that is no character is an error (`errors="strict"`), becomes U+FFFD (`"replace"`), or is left out (`"ignore"`).
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.unicode_encode(ex.constant([[97, 246], []])))
/// ['aö', '']
#[pyfunction]
#[pyo3(signature = (x, errors=Typed::new("strict")), text_signature = "(x, errors=\"strict\")")]
fn unicode_encode<'py>(x: Given<'_, 'py>, errors: Typed<&str>) -> Made<'py> {
    typed!(unicode_encode: errors);
    let points = value::given("unicode_encode", "x", x)?;
    made(x.py(), || extenso_ext::unicode_encode(&points, errors))
}

/// The code points of each string's characters, in one more axis, as i32, and where each begins in the string, in bytes, as i64.
///
/// >>> import extenso as ex
/// >>> [ex.to_py(x) for x in ex.unicode_decode_with_offsets(["öa", ""])]
/// [[[246, 97], []], [[0, 2], []]]
#[pyfunction]
fn unicode_decode_with_offsets<'py>(x: Given<'_, 'py>) -> PyResult<Bound<'py, PyTuple>> {
    let strings = value::given("unicode_decode_with_offsets", "x", x)?;
    made_tuple(x.py(), || extenso_ext::unicode_decode_with_offsets(&strings).map(|(x, starts)| vec![x, starts]))
}

/// The characters of each string, in one more axis, and where each begins in the string, in bytes.
///
/// >>> import extenso as ex
/// >>> [ex.to_py(x) for x in ex.unicode_split_with_offsets(["öa", ""])]
/// [[['ö', 'a'], []], [[0, 2], []]]
#[pyfunction]
fn unicode_split_with_offsets<'py>(x: Given<'_, 'py>) -> PyResult<Bound<'py, PyTuple>> {
    let strings = value::given("unicode_split_with_offsets", "x", x)?;
    made_tuple(x.py(), || extenso_ext::unicode_split_with_offsets(&strings).map(|(x, starts)| vec![x, starts]))
}

/// Bytes in one encoding as bytes in another: `utf-8`, `utf-16-be`, `utf-16-le`, `utf-32-be` or `utf-32-le`.
///
/// What is no text is an error (`errors="strict"`), becomes U+FFFD (`"replace"`), or is left out (`"ignore"`).
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.unicode_transcode(ex.tensor([b"a"]), "utf-8", "utf-16-be"))
/// [b'\x00a']
#[pyfunction]
#[pyo3(signature = (x, input_encoding, output_encoding, errors=Typed::new("strict")), text_signature = "(x, input_encoding, output_encoding, errors=\"strict\")")]
fn unicode_transcode<'py>(
    x: Given<'_, 'py>,
    input_encoding: Typed<&str>,
    output_encoding: Typed<&str>,
    errors: Typed<&str>,
) -> Made<'py> {
    typed!(unicode_transcode: input_encoding, output_encoding, errors);
    let bytes = arg::given("unicode_transcode", "x", x)?;
    made(x.py(), || ops::unicode_transcode(bytes, input_encoding, output_encoding, errors))
}

/// The bucket of each string, or of each number's text, from 0 to below `buckets`.
///
/// Without a key the buckets are those of `to_hash_bucket_fast`, with one, of two numbers, those of `to_hash_bucket_strong`.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.hash_bucket([5, 8, 123456], 10))
/// [1, 7, 8]
#[pyfunction]
#[pyo3(signature = (x, buckets, key=None))]
fn hash_bucket<'py>(x: Given<'_, 'py>, buckets: Typed<i64>, key: Option<Given<'_, 'py>>) -> Made<'py> {
    typed!(hash_bucket: buckets);
    let (given, key) = (arg::given("hash_bucket", "x", x)?, key.map(|key| pair("hash_bucket", key)).transpose()?);
    made(x.py(), || ops::hash_bucket(given, buckets, key))
}

fn pair(function: &str, key: Given<'_, '_>) -> PyResult<[i64; 2]> {
    let numbers: Vec<i64> = attribute(function, "key", key)?;
    let fits = <[i64; 2]>::try_from(numbers.as_slice());
    fits.map_err(|_| Error::value(format!("the key is {numbers:?}")).wanted("two numbers").at("hash_bucket")).or_raise()
}
