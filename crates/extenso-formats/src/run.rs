//! Functions over records: decode what is needed, run, encode.

use crate::columns::{BadRows, OnError};
use crate::json::{Decoder, encode_lines};
use crate::records::RecordSpec;
use extenso_core::{Provenance, Value, pack};
use extenso_graph::Concrete;
use extenso_types::{Error, Nest, Result, Spec};

/// Decoded records: the value, and what was wrong with rows that were skipped or filled.
pub struct Rows {
    /// The batch.
    pub value: Value,
    /// Rows that did not fit, under a policy other than raising.
    pub bad: BadRows,
}

/// Reads lines of JSON as a batch of `spec`, whose outer axis is the records.
///
/// Errors: a row that does not fit, with its number, byte offset and path, unless `on_error` says otherwise; a spec that no
/// record can express.
pub fn decode_ndjson(input: &[u8], spec: &Spec, on_error: OnError) -> Result<Rows> {
    let records = RecordSpec::new(&Nest::Leaf(spec.clone()), &[])?;
    let decoded = Decoder::new(records.plan())?.lines(input, on_error)?;
    let leaves: Option<Vec<Value>> = records.leaves(decoded.columns)?.into_iter().collect();
    let leaves = leaves.ok_or_else(|| Error::internal("a leaf was not decoded"))?;
    let value = pack(spec, &mut leaves.into_iter(), Provenance::Outside)?;
    Ok(Rows { value, bad: decoded.bad })
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

/// Runs a function of one batch of records on lines of JSON, decoding the leaves that it needs and no others, and writes its
/// results as lines of JSON.
///
/// Errors: a function of other arguments; rows that do not fit; those of the ops.
pub fn run_ndjson(function: &Concrete, input: &[u8], on_error: OnError) -> Result<Vec<u8>> {
    let spec = match function.input().leaves().as_slice() {
        [(_, spec)] => (*spec).clone(),
        other => {
            return Err(Error::value(format!("function '{}' takes {} arguments", function.name(), other.len()))
                .wanted("one batch of records"));
        }
    };
    let records = RecordSpec::new(&Nest::Leaf(spec), &function.graph().needed_inputs())?;
    let decoded = Decoder::new(records.plan())?.lines(input, on_error)?;
    let leaves = records.leaves(decoded.columns)?;
    let results = function.program().run_with(|i| leaves.get(i).cloned().flatten())?;
    encode_ndjson(&function.pack(results)?)
}
