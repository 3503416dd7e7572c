//! What the tests of this crate share: literals from Python text, checks on results, and a graph that records and replays.
#![allow(dead_code, unused_imports)] // Each test crate uses its part.

mod parse;
mod trace;

pub use parse::parse;
pub use trace::{traced, traced_nodes, traced_without_rows, traced_without_sizes};

use extenso_core::{ExtensionType, Tensor, Value};
use extenso_ext::{RaggedTensor, constant, to_literal};
use extenso_types::Result;

/// The value of a literal's text.
pub fn value(text: &str) -> Value {
    constant(parse(text)).expect(text)
}

/// The rows of a literal's text, ragged whatever their lengths.
pub fn ragged(text: &str) -> Value {
    let value = value(text);
    if RaggedTensor::from_value(&value).is_ok() {
        return value;
    }
    let dense = value.tensor().expect("rows").clone();
    let dims = dense.data().expect("data").dims().to_vec();
    let lengths = Tensor::from_vec(vec![i64::try_from(dims[1]).expect("small"); dims[0]]);
    let flat: Vec<usize> = std::iter::once(dims[0] * dims[1]).chain(dims[2..].iter().copied()).collect();
    RaggedTensor::from_row_lengths(dense.with_dims(&flat).expect("as many"), &lengths).expect("fits").into_value()
}

/// Checks the literal of a result.
pub fn check(result: Result<Value>, wanted: &str) {
    let result = result.unwrap_or_else(|e| panic!("wanted {wanted}, found the error: {e}"));
    let found = to_literal(&result).unwrap_or_else(|e| panic!("{result}: {e}"));
    assert_eq!(found.to_string(), parse(wanted).to_string());
}

/// Checks that a result is an error with each of these texts in it.
pub fn fails<T>(result: Result<T>, texts: &[&str]) {
    let Err(error) = result else { panic!("wanted an error with {texts:?}") };
    let message = error.to_string();
    texts.iter().for_each(|text| assert!(message.contains(text), "'{text}' is not in: {message}"));
}

/// Whether the value is a ragged tensor.
pub fn is_ragged(value: &Value) -> bool {
    RaggedTensor::from_value(value).is_ok()
}
