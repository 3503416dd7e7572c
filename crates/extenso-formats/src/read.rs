//! JSON to values and back: whole inputs, blocks of lines, files.
//!
//! Invariant: no row is dropped or filled without being in the report that stands beside the value.

mod blocks;

pub use blocks::{Blocks, read_json_blocks};

use crate::columns::{Decoded, OnError};
use crate::json::{Decimals, Decoder, Inference, Lines, locate};
use crate::looks::{Seen, judged};
use crate::plan::Plan;
use crate::project::Wanted;
use crate::records::RecordSpec;
use crate::run::{Batch, Rows};
use crate::source::{is_packed, reading, unpack};
use extenso_core::{Provenance, Value, pack};
use extenso_graph::save::archive::fill_atomically;
use extenso_types::{Error, Nest, Path, Result, Spec};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};

/// How JSON is read: `JsonOptions::default()` infers the spec from all records, reads all of it, and fails at a bad row.
#[derive(Clone, Default, Debug)]
pub struct JsonOptions {
    /// What the records are; inferred if there is none.
    pub spec: Option<Spec>,
    /// What is read of them: the parts at or below these paths, such as `items[*].price`. The others are checked for syntax
    /// alone and are not in the value. Everything, if there is none.
    pub paths: Option<Vec<Path>>,
    /// Where the list of records is in the input, which is one document then, such as `data.rows`; the input itself, if there is none.
    pub items: Option<Path>,
    /// From how many records the spec is inferred: from all, if there is none. A later record that contradicts is a bad
    /// row; a field that only later records have is read over.
    pub sample: Option<usize>,
    /// What numbers with a point or an exponent are read as.
    pub decimals: Decimals,
    /// What becomes of a row that does not fit. Inference passes over rows that are no JSON or contradict an earlier one,
    /// unless bad rows fail the call.
    pub on_error: OnError,
}

impl JsonOptions {
    fn wanted(&self) -> Result<Wanted> {
        Wanted::of_paths(self.paths.as_deref())
    }

    /// The records in an input: the bytes that end with them, and where the list of them starts that the path leads to.
    ///
    /// Errors: the path leads to no list.
    fn records<'t>(&self, input: &'t [u8]) -> Result<(&'t [u8], Option<usize>)> {
        let Some(path) = &self.items else { return Ok((input, None)) };
        let span = locate(input, path)?;
        Ok((input.get(..span.end).unwrap_or_default(), Some(span.start)))
    }

    /// The spec of what is wanted, from the options or from what `look` sees of the first records.
    fn spec_of(&self, look: impl FnOnce(&mut Inference, usize) -> Result<usize>) -> Result<Spec> {
        if self.sample == Some(0) {
            return Err(Error::value("the sample has 0 records").wanted("at least one").at("sample"));
        }
        let wanted = self.wanted()?;
        match &self.spec {
            Some(spec) => wanted.of(spec),
            None => {
                let mut found = Inference::new(wanted, self.on_error).of_decimals(self.decimals);
                let looked = look(&mut found, self.sample.unwrap_or(usize::MAX));
                looked.and_then(|_| found.spec()).map_err(|e| e.at("infer_spec"))
            }
        }
    }
}

/// What an input is read with.
struct Reader {
    spec: Spec,
    records: RecordSpec,
    decoder: Decoder,
}

impl Reader {
    /// With the spec of the options, or of what `look` sees of the first records, which are `sample` if that is given.
    fn new(
        options: &JsonOptions,
        sample: Option<usize>,
        look: impl FnOnce(&mut Inference, usize) -> Result<usize>,
    ) -> Result<Reader> {
        let spec = options.spec_of(look)?;
        let records = RecordSpec::new(&Nest::Leaf(spec.clone()), &[])?;
        let mut decoder = Decoder::new(records.plan())?.of_decimals(options.decimals);
        if let (None, Some(sample)) = (&options.spec, sample) {
            let hint = format!("The spec was inferred from the first {sample} records. Raise `sample`, or give a spec");
            decoder = decoder.with_hint(sample, hint);
        }
        Ok(Reader { spec, records, decoder })
    }

    fn rows(&self, decoded: Decoded, start: usize, on_error: OnError) -> Result<Rows> {
        batch(&self.spec, &self.records, decoded, start, on_error)
    }
}

/// The value of decoded columns, of which every leaf is there; the rows are counted from `start`.
pub(crate) fn batch(
    spec: &Spec,
    records: &RecordSpec,
    decoded: Decoded,
    start: usize,
    on_error: OnError,
) -> Result<Rows> {
    let visited = records.visited(&decoded.columns);
    let leaves = records.leaves(decoded.columns, decoded.rows)?;
    let leaves: Option<Vec<Value>> = leaves.into_iter().collect();
    let leaves = leaves.ok_or_else(|| Error::internal("a leaf was not decoded"))?;
    let value = pack(spec, &mut leaves.into_iter(), Provenance::Trusted)?;
    let (value, bad) = judged(value, decoded.bad, Seen::from(start, &decoded.starts), spec, on_error)?;
    Ok(Rows { value, bad, visited })
}

/// Whether the rows of this spec are no objects, so that one may be an array.
fn reads_lists(spec: &Spec) -> Result<bool> {
    Ok(!matches!(RecordSpec::new(&Nest::Leaf(spec.clone()), &[])?.plan(), Plan::Record { .. }))
}

/// The spec of a batch of records, from lines of JSON or an array of records; `spec` in the options is not looked at.
///
/// Integers are i64 (u64 where they need it), numbers otherwise f64, lists ragged, and a field that a record lacks, or has
/// as null, masked. A field that is never anything but null, and the items of lists that are all empty, are f64. A record
/// in which no field ever came has none.
///
/// Errors: no records; values of two kinds at one path, with both rows; integers that neither i64 nor u64 holds; records
/// that nest deeper than 60 levels or have more than 10,000 fields.
///
/// ```
/// # use extenso_formats::{JsonOptions, infer_spec};
/// let rows = br#"{"id": 1, "tags": ["a"]}
/// {"id": 2, "tags": [], "score": 0.5}"#;
/// let spec = infer_spec(rows, &JsonOptions::default()).unwrap();
/// assert_eq!(
///     spec.to_string(),
///     "StructTensor(id: i64[?], tags: RaggedTensor([*]: string[?], @row_splits: partition<i64>[? rows of ? values]), \
///      score: MaskedTensor(f64[?], @mask: bool[?]), rank=1)"
/// );
/// ```
pub fn infer_spec(input: &[u8], options: &JsonOptions) -> Result<Spec> {
    let (options, text) = (JsonOptions { spec: None, ..options.clone() }, unpack(input)?);
    let (text, array) = options.records(&text)?;
    options.spec_of(|found, most| found.input(text, array, most))
}

/// Reads lines of JSON, or an array of records, as one batch, whose outer axis is the records. They may be packed by gzip or zstd. With `items`, the
/// input is one document, and the records are the array at that path of it.
///
/// ```
/// # use extenso_formats::{JsonOptions, read_json};
/// let text = br#"{"status": "ok", "data": {"rows": [{"id": 1}, {"id": 2}]}}"#;
/// let options = JsonOptions { items: Some("data.rows".parse().unwrap()), ..JsonOptions::default() };
/// let rows = read_json(text, &options).unwrap();
/// assert_eq!(extenso_ext::to_literal(&rows.value).unwrap().to_string(), r#"[{"id": 1}, {"id": 2}]"#);
/// ```
///
/// Errors: a row that does not fit, with its number, byte offset and path, unless `on_error` says otherwise; a path that
/// leads nowhere; a spec that no record can express; those of [`infer_spec`] without a spec.
///
/// ```
/// # use extenso_formats::{JsonOptions, OnError, read_json};
/// let rows = br#"[{"id": 1, "note": 5}, {"id": "two"}, {"id": 9007199254740993}]"#;
/// let options = JsonOptions {
///     paths: Some(vec!["id".parse().unwrap()]),
///     on_error: OnError::Skip,
///     ..JsonOptions::default()
/// };
/// let rows = read_json(rows, &options).unwrap();
/// assert_eq!(extenso_ext::to_literal(&rows.value).unwrap().to_string(), r#"[{"id": 1}, {"id": 9007199254740993}]"#);
/// assert_eq!(rows.bad.rows, [1]);
/// assert!(rows.bad.first[0].error.to_string().starts_with("row 1, byte 30, 'id': the string \"two\" came."));
/// ```
pub fn read_json(input: &[u8], options: &JsonOptions) -> Result<Rows> {
    let text = unpack(input)?;
    let (text, array) = options.records(&text)?;
    let mut reader = Reader::new(options, options.sample, |found, most| found.input(text, array, most))?;
    let decoded = match array {
        Some(start) => reader.decoder.array_at(text, start, options.on_error)?,
        None => reader.decoder.records(text, options.on_error)?,
    };
    reader.rows(decoded, 0, options.on_error)
}

/// Reads a file as [`read_json`] reads what is in it. With a spec, little of the text is held at a time.
///
/// Errors: those of [`read_json`]; what the operating system refuses.
pub fn read_json_file(file: File, options: &JsonOptions) -> Result<Rows> {
    let bytes = file.metadata().map_or(0, |data| usize::try_from(data.len()).unwrap_or(usize::MAX));
    let mut source = BufReader::new(file);
    if options.spec.is_none() || options.items.is_some() || is_packed(source.fill_buf().map_err(reading)?) {
        let mut text = Vec::new();
        // Where there is not as much memory, the reader tells of it.
        let _ = text.try_reserve_exact(bytes.min(1 << 30));
        source.read_to_end(&mut text).map_err(reading)?;
        return read_json(&text, options);
    }
    let mut reader = Reader::new(options, None, |_, _| Ok(0))?;
    let decoded = reader.decoder.stream(Box::new(source), bytes, options.on_error)?;
    reader.rows(decoded, 0, options.on_error)
}

/// Writes a batch as lines of JSON into a file, which appears under its name whole or not at all; when it is on the disk is left to the system.
///
/// Errors: a value that no record can express; what the operating system refuses.
pub fn write_json(value: &Nest<Value>, path: impl AsRef<std::path::Path>) -> Result<()> {
    crate::source::plain_name(path.as_ref())?;
    let batch = Batch::of_text(value)?;
    let columns = batch.records.columns(&batch.leaves)?;
    let lines = Lines::new(batch.records.plan(), &columns, batch.parts())?;
    let written = fill_atomically(path, |file| lines.put(|lines| file.write_all(lines)));
    written.map_err(Error::from)
}
