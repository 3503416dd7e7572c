//! Literals: what they mean, and back.

mod support;

use extenso_core::{Tensor, Value};
use extenso_ext::{Literal, constant, to_literal};
use support::{check, fails, is_ragged, parse, value};

const LITERALS: [&str; 34] = [
    "None",
    "True",
    "-3",
    "2.5",
    r#""text""#,
    r#"b"bytes""#,
    "[]",
    "[[], []]",
    "[1, 2]",
    "[1.5, inf, -inf]",
    "[True, False]",
    r#"["a", "ß", ""]"#,
    "[[1, 2], [3, 4]]",
    "[[1, 2], [], [3]]",
    "[[[1], [2, 3]], [], [[4]]]",
    "[[[1, 2]], [], [[3, 4], [5, 6]]]",
    "[[[]], []]",
    "[[], [[1]]]",
    "[1, None, 3]",
    "[None, None]",
    "[[1, None], [None, 4]]",
    "[[1, None], [], [3]]",
    "[[1, 2], None, [3]]",
    "[[[1], None], [], None]",
    "{}",
    r#"{"a": 1, "b": [1, 2], "c": {"d": "x"}}"#,
    "[{}, {}, {}]",
    r#"[{"a": 1, "b": [1, 2]}, {"a": 2, "b": []}]"#,
    r#"[[{"a": 1}, {"a": 2}], [{"a": 3}, {"a": 4}]]"#,
    r#"[[{"a": 1}, {"a": 2}], []]"#,
    r#"[{"docs": [{"tokens": [7, 17]}, {"tokens": [3, 13]}]}, {"docs": [{"tokens": [5, 15]}]}]"#,
    r#"[{"a": 1}, None, {"a": None}]"#,
    r#"[[{"a": [1]}, {"a": []}], [{"a": [2, 3]}, {"a": [4]}]]"#,
    r#"[{"a": [[1, 2], [3, 4]]}, {"a": [[5, 6], [7, 8]]}]"#,
];

#[test]
fn a_literal_read_back_is_itself() {
    for text in LITERALS {
        check(Ok(value(text)), text);
    }
}

#[test]
fn lists_are_dense_if_lengths_agree_at_each_depth() {
    let dims = |text: &str| value(text).tensor().expect("dense").data().expect("data").dims().to_vec();
    assert_eq!(dims("[[1, 2], [3, 4]]"), [2, 2]);
    assert_eq!(dims("[[], []]"), [2, 0]);
    assert_eq!(dims("[[[1], [2]]]"), [1, 2, 1]);
    for text in ["[[1], []]", "[[[1], [2, 3]], [[4], [5]]]"] {
        assert!(is_ragged(&value(text)), "{text}");
    }
    let spec = |text: &str| format!("{:?}", value(text));
    assert_eq!(spec("[[[1, 2]], []]"), "RaggedTensor([*]: i64[1, 2], @row_splits: partition<i64>[2 rows of 1 values])");
    assert_eq!(spec(r#"[[{"a": 1}], [{"a": 2}]]"#), "StructTensor(a: i64[2, 1], rank=2)");
}

#[test]
fn integers_beside_floats_are_floats() {
    check(Ok(value("[1, 2.5]")), "[1.0, 2.5]");
    check(Ok(value("[[1], [2.5, 3]]")), "[[1.0], [2.5, 3.0]]");
    assert_eq!(value("[]").tensor().expect("dense").dtype(), extenso_types::DType::F64);
    assert_eq!(value("[1]").tensor().expect("dense").dtype(), extenso_types::DType::I64);
}

#[test]
fn what_does_not_fit_is_named_by_its_path() {
    let of = |text: &str| constant(parse(text));
    fails(of("[1, [2]]"), &["constant", "[1]", "a list", "an integer", "equal nesting"]);
    fails(of("[[1], [[2]]]"), &["[1][0]", "equal nesting"]);
    fails(of(r#"[1, "a"]"#), &["[1]", "a string", "an integer"]);
    fails(of("[True, 1]"), &["[1]"]);
    fails(of(r#"[{"a": 1}, {"a": "x"}]"#), &["[1].a", "a string"]);
    fails(of(r#"[{"a": 1}, {"b": 1}]"#), &["[1].b"]);
    fails(of(r#"[{"a": 1}, {}]"#), &["[1].a", "no such field"]);
    fails(of("[{}, [{}]]"), &["[1]", "a list", "a record"]);
    fails(of(r#"{"a": [1, [2]]}"#), &["a[1]"]);
    fails(of(r#"{"a": 1, "a": 2}"#), &["field 'a'", "twice"]);
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| (0..depth).fold(Literal::Int(1), |inner, _| Literal::List(vec![inner]));
    assert!(constant(nested(64)).is_ok());
    fails(constant(nested(65)), &["constant", "64"]);
}

#[test]
fn every_dtype_but_boxed_values_has_literals() {
    let narrow = Tensor::new(&[2], &[1.5_f32, -0.0]).expect("floats");
    check(to_literal(&narrow.into()).and_then(constant), "[1.5, -0.0]");
    let large = Value::from(Tensor::new(&[1], &[u64::MAX]).expect("integers"));
    assert_eq!(to_literal(&large).expect("a literal"), Literal::List(vec![Literal::Unsigned(u64::MAX)]));
    let beside = |v: i64| constant(Literal::List(vec![Literal::Int(v), Literal::Unsigned(u64::MAX)]));
    assert_eq!(beside(1).expect("integers").to_string(), "[1, 18446744073709551615]");
    fails(beside(-1), &["[0]", "-1", "i64"]);
    let boxed = Value::from(Tensor::boxed(&[1], vec![value("1")]).expect("boxed"));
    fails(to_literal(&boxed), &["variant"]);
}

#[test]
fn text_is_written_as_python_writes_it() {
    let literal = Literal::record([("a\"b", Literal::from(vec!["x\ny", "\u{1}ß\\"])), ("n", Literal::Float(f64::NAN))]);
    assert_eq!(literal.to_string(), "{\"a\\\"b\": [\"x\\ny\", \"\\u0001ß\\\\\"], \"n\": nan}");
    assert_eq!(Literal::Bytes(vec![0, b'\'', b'"', 255]).to_string(), "b\"\\x00'\\\"\\xff\"");
    assert_eq!(Literal::from(vec![Some(true), None]).to_string(), "[True, None]");
}
