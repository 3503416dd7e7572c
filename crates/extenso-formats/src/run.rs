//! Functions over records: decode what is needed, run, encode.

use crate::columns::{BadRows, OnError};
use crate::json::{Decoder, encode_lines};
use crate::read::{JsonOptions, read_json};
use crate::records::RecordSpec;
use extenso_core::Value;
use extenso_graph::{ARGUMENTS, Concrete};
use extenso_types::{Nest, Path, Result, Spec};

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

/// Writes a batch as lines of JSON.
///
/// Errors: a value that no record can express.
pub fn encode_ndjson(value: &Nest<Value>) -> Result<Vec<u8>> {
    let spec = value.try_map(|_, v| v.spec())?;
    let records = RecordSpec::new(&spec, &[])?;
    let mut leaves = Vec::new();
    for (_, value) in value.leaves() {
        value.push_leaves(&mut leaves)?;
    }
    let mut out = Vec::new();
    encode_lines(records.plan(), &records.columns(&leaves)?, rows_of(&leaves)?, &mut out)?;
    Ok(out)
}

/// The number of records: the outer size of the first leaf, whose outer axis is the records.
fn rows_of(leaves: &[Value]) -> Result<usize> {
    match leaves.last() {
        // A list's partition stands behind its values and has the records as rows.
        Some(Value::Partition(p)) => Ok(p.data()?.nrows()),
        Some(Value::Tensor(t)) => Ok(t.data()?.dims().first().copied().unwrap_or(1)),
        Some(Value::Ext(_)) | None => Ok(0),
    }
}

/// Runs a function on lines of JSON or an array of records, decoding the leaves that it needs and no others.
///
/// A row is an item of the function's argument, whatever nest that is; a function of several arguments has a field for each.
/// Errors: an argument that no record can express; rows that do not fit; those of the ops.
pub fn run_records(function: &Concrete, input: &[u8], on_error: OnError) -> Result<Rows<Nest<Value>>> {
    let records = RecordSpec::new(row(function.input()), &function.graph().needed_inputs())?;
    let decoded = Decoder::new(records.plan())?.records(input, on_error)?;
    let visited = records.visited(&decoded.columns);
    let leaves = records.leaves(decoded.columns)?;
    let results = function.program().run_with(|i| leaves.get(i).cloned().flatten())?;
    Ok(Rows { value: function.pack(results)?, bad: decoded.bad, visited })
}

/// Runs a function as [`run_records`] does, and writes its results as lines of JSON.
///
/// Errors: those of [`run_records`]; a result that no record can express.
pub fn run_ndjson(function: &Concrete, input: &[u8], on_error: OnError) -> Result<Rows<Vec<u8>>> {
    let Rows { value, bad, visited } = run_records(function, input, on_error)?;
    Ok(Rows { value: encode_ndjson(&value)?, bad, visited })
}

/// What a row holds: the only argument, or all of them by name.
fn row(input: &Nest<Spec>) -> &Nest<Spec> {
    let arguments: Vec<&Nest<Spec>> = match input {
        Nest::Tuple(arguments) => arguments.iter().collect(),
        Nest::Record(name, arguments) if &**name == ARGUMENTS => arguments.iter().map(|(_, nest)| nest).collect(),
        other => return other,
    };
    let mut of_data = arguments.into_iter().filter(|nest| !nest.leaves().is_empty());
    match (of_data.next(), of_data.next()) {
        (Some(only), None) => only,
        _ => input,
    }
}
