//! Functions over records: decode what is needed, run, encode.

use crate::columns::{BadRows, Decoded, OnError};
use crate::json::{Decoder, Start, check_spelled, encode_parts};
use crate::looks::Seen;
use crate::parts;
use crate::plain::plain;
use crate::read::{JsonOptions, read_json};
use crate::records::RecordSpec;
use crate::source::{JsonBlocks, NdjsonSink, Progress, SourceOptions, run_blocks, unpack};
use crate::spelled;
use extenso_core::{Dense, MAX_EMPTY, Value};
use extenso_graph::Concrete;
use extenso_types::{Error, Nest, Path, Result, Segment, Spec, StaticValue};
use std::io::{BufRead, Write};
use std::ops::Range;
use std::sync::Arc;

/// What was made of records, and what was wrong with rows that were skipped or filled.
#[derive(Debug)]
pub struct Rows<T = Value> {
    /// The batch, or what a function makes of it.
    pub value: T,
    /// Rows that did not fit, under a policy other than raising.
    pub bad: BadRows,
    /// The paths of the leaves that were decoded, and how many elements each got: what was needed, and no more.
    pub visited: Vec<(Path, usize)>,
}

/// Reads lines of JSON as a batch of `spec`, whose outer axis is the records.
///
/// Errors: a row that does not fit, with its number, byte offset and path, unless `on_error` says otherwise; a spec that no
/// record can express.
pub fn decode_ndjson(input: &[u8], spec: &Spec, on_error: OnError) -> Result<Rows> {
    let options = JsonOptions { spec: Some(spec.clone()), on_error, ..JsonOptions::default() };
    read_json(input, &options)
}

/// Writes a batch as lines of JSON, in which times, decimals and identifiers are text, and categories their words.
///
/// Errors: a value that no record can express; values, or parts of one, with another number of rows.
pub fn encode_ndjson(value: &Nest<Value>) -> Result<Vec<u8>> {
    let batch = Batch::of_text(value)?;
    encode_parts(batch.records.plan(), &batch.records.columns(&batch.leaves)?, batch.parts())
}

/// A value taken apart for a writer.
pub(crate) struct Batch {
    pub records: RecordSpec,
    pub leaves: Vec<Value>,
    pub rows: usize,
}

impl Batch {
    /// Takes a value apart.
    ///
    /// Errors: a value that no record can express; values, or parts of one, with another number of rows.
    pub fn of(value: &Nest<Value>) -> Result<Batch> {
        check_constants(value, &Path::root())?;
        let value = &value.try_map(|_, value| plain(value))?;
        let spec = value.try_map(|_, v| v.spec())?;
        let records = RecordSpec::new(&spec, &[])?;
        let mut leaves = Vec::new();
        for (_, value) in value.leaves() {
            value.push_leaves(&mut leaves)?;
        }
        let rows = records.rows(&leaves)?.unwrap_or(0);
        check_rows(rows, &leaves)?;
        Ok(Batch { records, leaves, rows })
    }

    /// The rows in parts whose text fits into a core's cache, about.
    pub fn parts(&self) -> Vec<Range<usize>> {
        let elements = self.leaves.iter().map(elements).fold(0, usize::saturating_add);
        parts::even(self.rows, elements.saturating_mul(WRITTEN))
    }
}

/// About how many bytes an element has when it is written.
const WRITTEN: usize = 4;

fn elements(leaf: &Value) -> usize {
    match leaf {
        Value::Tensor(t) => t.data().map_or(0, Dense::len),
        Value::Partition(p) => p.data().map_or(0, extenso_core::Rows::nrows),
        Value::Ext(_) => 0,
    }
}

impl Batch {
    /// Takes a value apart for a format of text, in which times, decimals and categories are spelled out.
    ///
    /// Errors: as [`Batch::of`]; a time outside of the day, with its row and path.
    pub fn of_text(value: &Nest<Value>) -> Result<Batch> {
        for (_, part) in value.leaves() {
            if spelled::has_odd(part)? {
                let whole = Batch::of(value)?;
                check_spelled(whole.records.plan(), &whole.records.columns(&whole.leaves)?, whole.rows)?;
            }
        }
        Batch::of(&value.try_map(|_, value| extenso_ext::spelled(value))?)
    }
}

/// Checks that what is the same for all rows, which no row holds, is nothing.
///
/// Errors: another constant, with its path.
pub(crate) fn check_constants(value: &Nest<Value>, at: &Path) -> Result<()> {
    let each = |items: &[Nest<Value>]| {
        items.iter().enumerate().try_for_each(|(i, item)| check_constants(item, &at.child(Segment::Index(i))))
    };
    match value {
        Nest::Static(StaticValue::None) | Nest::Leaf(_) => Ok(()),
        Nest::Static(constant) => {
            Err(Error::value(format!("{constant} is the same for all rows, and no row holds it"))
                .wanted("a value for each row")
                .hint("Leave it out, or write `broadcast_like(constant, x)` with a column `x` beside it.")
                .at_path(at))
        }
        Nest::List(items) | Nest::Tuple(items) => each(items),
        Nest::Dict(entries) | Nest::Record(_, entries) => {
            entries.iter().try_for_each(|(name, item)| check_constants(item, &at.child(Segment::field(name.clone()))))
        }
    }
}

/// Checks that there are elements in the rows, whose number nothing else bounds.
pub(crate) fn check_rows(rows: usize, leaves: &[Value]) -> Result<()> {
    if rows <= MAX_EMPTY || leaves.iter().map(elements).max().is_some_and(|most| most >= rows) {
        return Ok(());
    }
    Err(Error::shape(format!("{rows} rows are without an element")).wanted(format!("at most {MAX_EMPTY} such rows")))
}

/// A function made ready for records: the plan of the leaves that it needs, and a decoder.
///
/// A row is an item of the function's argument, whatever nest that is; a function of several arguments has a field for each.
#[derive(Debug)]
pub struct Runner {
    function: Arc<Concrete>,
    records: RecordSpec,
    decoder: Decoder,
    at: Start,
}

impl Runner {
    /// Makes a function ready.
    ///
    /// Errors: an argument that no record can express.
    pub fn new(function: &Arc<Concrete>) -> Result<Runner> {
        let records = RecordSpec::of(function)?;
        let decoder = Decoder::new(records.plan())?;
        Ok(Runner { function: function.clone(), records, decoder, at: Start::default() })
    }

    /// What is read of a row.
    pub fn records(&self) -> &RecordSpec {
        &self.records
    }

    /// Runs the function on lines of JSON, or on an array of records, packed or not.
    ///
    /// Errors: rows that do not fit, unless `on_error` says otherwise; those of the ops.
    pub fn run(&mut self, input: &[u8], on_error: OnError) -> Result<Rows<Nest<Value>>> {
        let decoded = self.decoder.records(&unpack(input)?, on_error)?;
        run_decoded(&self.function, &self.records, decoded, 0, on_error)
    }

    /// Runs the function on lines of JSON that follow those of the calls before: rows and bytes are counted on.
    ///
    /// Errors: as [`Runner::run`].
    pub fn block(&mut self, lines: &[u8], on_error: OnError) -> Result<Rows<Nest<Value>>> {
        let decoded = self.decoder.block(lines, self.at, on_error)?;
        let skipped = if on_error == OnError::Skip { decoded.bad.count() } else { 0 };
        let start = self.at.row;
        self.at = Start { row: start + decoded.rows + skipped, byte: self.at.byte + lines.len() };
        run_decoded(&self.function, &self.records, decoded, start, on_error)
    }

    /// How many rows the blocks had.
    pub fn rows(&self) -> usize {
        self.at.row
    }
}

/// Runs a function on decoded columns of the leaves that it needs, of rows that are counted from `start`.
///
/// Errors: a row that a user's type refuses, under the policy that raises; those of the ops.
pub(crate) fn run_decoded(
    function: &Concrete,
    records: &RecordSpec,
    decoded: Decoded,
    start: usize,
    on_error: OnError,
) -> Result<Rows<Nest<Value>>> {
    let visited = records.visited(&decoded.columns);
    let leaves = records.leaves(decoded.columns, decoded.rows)?;
    let (leaves, bad) = records.judged(leaves, decoded.bad, Seen::from(start, &decoded.starts), on_error)?;
    Ok(Rows { value: run_leaves(function, &leaves)?, bad, visited })
}

/// Runs a function on the leaves of its argument, of which those that it does not need may be missing.
///
/// Errors: leaves of other sizes than it was traced for, as where it is called; those of the ops.
pub(crate) fn run_leaves(function: &Concrete, leaves: &[Option<Value>]) -> Result<Nest<Value>> {
    function.check_sizes(leaves)?;
    let results = function.program().run_with(|i| leaves.get(i).cloned().flatten());
    function.pack(results.map_err(|e| e.at(format!("function '{}'", function.name())))?)
}

/// Runs a function on lines of JSON or an array of records, decoding the leaves that it needs and no others.
///
/// Errors: those of [`Runner`].
pub fn run_records(function: &Arc<Concrete>, input: &[u8], on_error: OnError) -> Result<Rows<Nest<Value>>> {
    Runner::new(function)?.run(input, on_error)
}

/// Runs a function as [`run_records`] does, and writes its results as lines of JSON.
///
/// Errors: those of [`Runner`]; a result that no record can express.
pub fn run_ndjson(function: &Arc<Concrete>, input: &[u8], on_error: OnError) -> Result<Rows<Vec<u8>>> {
    let Rows { value, bad, visited } = run_records(function, input, on_error)?;
    Ok(Rows { value: encode_ndjson(&value)?, bad, visited })
}

/// Runs a function on lines of JSON, about `block` bytes of them at a time, and writes its results as lines of JSON.
///
/// The next block is decoded while the function runs on one; it is called once for each, on the rows that it has. `watch` is told after each
/// block what has been done.
///
/// Errors: those of [`Runner`], with rows and bytes counted from the start; what the operating system refuses.
///
/// ```
/// # use extenso_core::{Value, ops};
/// # use extenso_formats::{OnError, run_lines};
/// # use extenso_graph::Function;
/// # use extenso_types::{DType, Dim, Nest, Shape, Spec, TensorSpec};
/// let double = Function::new("double", |x| Ok(Nest::Leaf(ops::multiply(x.leaves()[0].1, 2)?)));
/// let spec = Spec::from(TensorSpec::new(DType::I64, Shape::new([Dim::any()])));
/// let (mut out, mut blocks) = (Vec::new(), 0);
/// let f = double.concrete(&Nest::Leaf(spec)).unwrap();
/// let done = run_lines(&f, &b"1\n2\nx\n4"[..], &mut out, OnError::Skip, 4, &mut |_| blocks += 1).unwrap();
/// assert_eq!((out.as_slice(), blocks), (&b"2\n4\n8\n"[..], 2));
/// assert_eq!((done.rows, done.bad, done.first[0].row), (4, 1, 2));
/// ```
pub fn run_lines(
    function: &Arc<Concrete>,
    source: impl BufRead + Send,
    sink: impl Write,
    on_error: OnError,
    block: usize,
    watch: &mut dyn FnMut(&Progress),
) -> Result<Progress> {
    let options = SourceOptions { on_error, block, ..SourceOptions::default() };
    let lines = JsonBlocks::new(function, Box::new(source), &options)?;
    run_blocks(function, Box::new(lines), Box::new(NdjsonSink(sink)), &mut |done, _| {
        watch(done);
        Ok(())
    })
}
