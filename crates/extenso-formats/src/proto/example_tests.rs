//! What examples are read as, and refused.

use super::{Example, ExampleOptions, Messages, encode_examples, read_examples};
use crate::{FieldSpec as F, OnError, struct_spec};
use extenso_ext::{Literal, constant, to_literal};
use extenso_types::{DType, Nest, Result, Spec};

fn sized(number: u8, bytes: &[u8]) -> Vec<u8> {
    let len = u8::try_from(bytes.len()).expect("a short message");
    [&[number << 3 | 2, len], bytes].concat()
}

/// A map of features: each a name, the number of its kind, and what its list holds.
fn features(entries: &[(&str, u8, &[u8])]) -> Vec<u8> {
    let entry = |(name, kind, list): &(&str, u8, &[u8])| {
        sized(1, &[sized(1, name.as_bytes()), sized(2, &sized(*kind, list))].concat())
    };
    entries.iter().flat_map(entry).collect()
}

fn example(entries: &[(&str, u8, &[u8])]) -> Vec<u8> {
    sized(1, &features(entries))
}

fn read(spec: &Spec, example: Example, bytes: &[u8]) -> Result<String> {
    let options = ExampleOptions { spec: spec.clone(), paths: None, example, on_error: OnError::Raise };
    let value = read_examples(Messages::Each(&[bytes]), &options)?.value;
    let literal = to_literal(&value)?.to_string();
    // What was read is written, and reads as the same.
    let written = encode_examples(&Nest::Leaf(value), example)?;
    let again = read_examples(Messages::Texts(written.data()?), &options)?.value;
    assert_eq!(to_literal(&again)?.to_string(), literal);
    assert_eq!(encode_examples(&Nest::Leaf(again), example)?.to_string(), written.to_string());
    Ok(literal)
}

fn scalar(dtype: DType) -> F {
    F::Scalar(dtype, vec![])
}

fn list(item: F) -> F {
    F::List(Box::new(item))
}

fn optional(inner: F) -> F {
    F::Optional(Box::new(inner))
}

fn check(fields: &[(&'static str, F)], bytes: &[u8], wanted: &str) {
    let came = struct_spec(fields.to_vec()).and_then(|spec| read(&spec, Example::Plain, bytes));
    let came = came.unwrap_or_else(|e| e.to_string());
    assert!(came.starts_with(wanted), "wanted: {wanted}\n  came: {came}");
}

const INTS: &[u8] = b"\x0a\x03\x01\x02\x03";
const FLOATS: &[u8] = b"\x0a\x08\0\0\x80\x3f\0\0\0\x40";

#[test]
fn features_are_scalars_axes_lists_or_missing() {
    let a = [("a", scalar(DType::I64))];
    check(&a, &example(&[("a", 3, b"\x0a\x01\x07")]), r#"[{"a": 7}]"#);
    check(&a, &example(&[("b", 2, FLOATS), ("a", 3, b"\x08\x07")]), r#"[{"a": 7}]"#);
    check(&[("a", F::Scalar(DType::F32, vec![2]))], &example(&[("a", 2, FLOATS)]), r#"[{"a": [1.0, 2.0]}]"#);
    check(&[("a", F::Scalar(DType::F64, vec![2]))], &example(&[("a", 2, FLOATS)]), r#"[{"a": [1.0, 2.0]}]"#);
    check(&[("a", list(scalar(DType::I8)))], &example(&[("a", 3, INTS)]), r#"[{"a": [1, 2, 3]}]"#);
    check(&[("a", list(scalar(DType::I8)))], b"", r#"[{"a": []}]"#);
    check(&[("a", list(F::Scalar(DType::F32, vec![1])))], &example(&[("a", 2, FLOATS)]), r#"[{"a": [[1.0], [2.0]]}]"#);
    check(&[("a", optional(scalar(DType::String)))], &example(&[("a", 1, b"\x0a\x01x")]), r#"[{"a": "x"}]"#);
    check(&[("a", optional(scalar(DType::String)))], &example(&[("b", 1, b"\x0a\x01x")]), r#"[{"a": None}]"#);
    check(
        &[("a", optional(list(scalar(DType::Bytes))))],
        &example(&[("a", 1, b"\x0a\x01\xff\x0a\x00")]),
        r#"[{"a": [b"\xff", b""]}]"#,
    );
}

#[test]
fn of_a_name_that_comes_twice_the_last_holds() {
    let twice = example(&[("a", 3, INTS), ("a", 3, b"\x08\x09")]);
    check(&[("a", list(scalar(DType::I64)))], &twice, r#"[{"a": [9]}]"#);
    check(&[("a", list(scalar(DType::I64)))], &[twice.clone(), twice].concat(), r#"[{"a": [9]}]"#);
    // Lists of one kind in one feature go on; one of another kind begins anew.
    let parts = |kinds: &[(u8, &[u8])]| {
        let feature: Vec<u8> = kinds.iter().flat_map(|(kind, list)| sized(*kind, list)).collect();
        sized(1, &sized(1, &[sized(1, b"a"), sized(2, &feature)].concat()))
    };
    check(&[("a", list(scalar(DType::I64)))], &parts(&[(3, INTS), (3, INTS)]), r#"[{"a": [1, 2, 3, 1, 2, 3]}]"#);
    check(&[("a", list(scalar(DType::I64)))], &parts(&[(3, INTS), (2, FLOATS), (3, b"\x08\x09")]), r#"[{"a": [9]}]"#);
    check(
        &[("a", list(scalar(DType::I64)))],
        &parts(&[(3, INTS), (2, FLOATS)]),
        "row 0, byte 4, 'a': the feature holds floats.\nWanted: integers.",
    );
}

#[test]
fn features_that_do_not_fit_are_named() {
    check(&[("a", scalar(DType::I64))], &example(&[("a", 3, INTS)]), "row 0, byte 4, 'a': 3 values came.\nWanted: 1.");
    check(&[("a", scalar(DType::I64))], b"", "row 0, byte 0, 'a': 0 values came.\nWanted: 1. Make the feature masked");
    check(
        &[("a", list(F::Scalar(DType::I64, vec![2])))],
        &example(&[("a", 3, INTS)]),
        "row 0, byte 4, 'a': 3 values came.\nWanted: a multiple of 2",
    );
    check(
        &[("a", scalar(DType::String))],
        &example(&[("a", 1, b"\x0a\x01\xff")]),
        "row 0, byte 13, 'a': byte 0xff is not UTF-8",
    );
    check(
        &[("a", scalar(DType::I8))],
        &example(&[("a", 3, b"\x08\x80\x01")]),
        "row 0, byte 12, 'a': the number 128 came",
    );
    check(&[("a", scalar(DType::F16))], b"", "'a': a feature cannot hold f16");
    check(&[("a", list(list(scalar(DType::I64))))], b"", "'a': a feature cannot hold a list");
    check(&[("a", scalar(DType::I64))], b"\x0a\x05\x0a", "row 0, byte 1: a length of 5 bytes stands here");
}

#[test]
fn a_sequence_example_has_a_context_and_steps() {
    let context = F::Record(vec![("id", scalar(DType::I64))]);
    let lists = F::Record(vec![("words", list(list(scalar(DType::String)))), ("score", list(scalar(DType::F32)))]);
    let spec = struct_spec([("context", context), ("feature_lists", lists)]).expect("a spec");
    let step = |kind, list: &[u8]| sized(1, &sized(kind, list));
    let entry =
        |name: &str, steps: &[Vec<u8>]| sized(1, &[sized(1, name.as_bytes()), sized(2, &steps.concat())].concat());
    let words = entry("words", &[step(1, b"\x0a\x01x\x0a\x01y"), step(1, b"")]);
    let score = entry("score", &[step(2, b"\x0a\x04\0\0\x80\x3f"), step(2, b"\x0d\0\0\0\x40")]);
    let bytes =
        [sized(1, &features(&[("id", 3, b"\x08\x07")])), sized(2, &[words.clone(), score.clone()].concat())].concat();
    let wanted = r#"[{"context": {"id": 7}, "feature_lists": {"words": [["x", "y"], []], "score": [1.0, 2.0]}}]"#;
    assert_eq!(read(&spec, Example::Sequence, &bytes).expect("reads"), wanted);
    // The last of a name holds here too.
    let twice = [sized(2, &[score.clone(), words.clone()].concat()), bytes].concat();
    assert_eq!(read(&spec, Example::Sequence, &twice).expect("reads"), wanted);
    for end in 0..twice.len() {
        drop(read(&spec, Example::Sequence, &twice[..end]));
    }
}

#[test]
fn what_no_feature_holds_is_not_written() {
    let written = |rows: Vec<Literal>| {
        let value = constant(Literal::List(rows)).expect("a value");
        encode_examples(&Nest::Leaf(value), Example::Plain).expect_err("not written").to_string()
    };
    let one = |value: Literal| Literal::record([("a", value)]);
    let fits = [one(Literal::Float(0.5)), one(Literal::Float(f64::NAN)), one(Literal::Float(f64::INFINITY))];
    encode_examples(&Nest::Leaf(constant(Literal::List(fits.to_vec())).expect("a value")), Example::Plain)
        .expect("floats that are f32");
    let error = written(vec![one(Literal::Float(0.5)), one(Literal::Float(0.1))]);
    assert!(error.contains("row 1") && error.contains("'a'") && error.contains("fits f32"), "{error}");
    let wide =
        crate::read_json(br#"{"a": 18446744073709551615}"#, &crate::JsonOptions::default()).expect("reads").value;
    let error = encode_examples(&Nest::Leaf(wide), Example::Plain).expect_err("too wide").to_string();
    assert!(error.contains("row 0") && error.contains("fits i64"), "{error}");
    let error = written(vec![one(Literal::record([("b", Literal::Int(1))]))]);
    assert!(error.contains("'a': a feature cannot hold "), "{error}");
    let error = written(vec![Literal::Int(1)]);
    assert!(error.contains("examples are records"), "{error}");
}
