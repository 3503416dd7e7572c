//! Strings in rows and under masks: splitting, joining, reading numbers, looking up; with symbols as with data.

mod support;

use extenso_core::attrs::Number;
use extenso_core::{ExtensionType, Offsets, RowPartition, Tensor, Value, ops};
use extenso_ext::{RaggedTensor, string_characters, string_ngrams, string_split};
use extenso_types::DType;
use support::{check, fails, ragged, traced, value};

/// Rows with values before and behind that belong to none.
fn sliced(texts: [&str; 4]) -> Value {
    let partition = RowPartition::from_offsets(Offsets::I64(vec![1, 1, 3].into()), 4).expect("proven");
    RaggedTensor::from_partition(Tensor::strings(&[4], &texts).expect("strings"), partition).expect("fits").into_value()
}

#[test]
fn a_split_gives_one_more_axis() {
    let cases = [
        (r#"["a b", "", " c "]"#, r#"[["a", "b"], [], ["c"]]"#),
        (r#"[["a b"], [], ["c", "d e"]]"#, r#"[[["a", "b"]], [], [["c"], ["d", "e"]]]"#),
        (r#"["a b", None]"#, r#"[["a", "b"], None]"#),
        (r#"[["a b", None], []]"#, r#"[[["a", "b"], None], []]"#),
        (r#"[["a b", None], ["c", "d"]]"#, r#"[[["a", "b"], None], [["c"], ["d"]]]"#),
        (r#"[["a b"], None]"#, r#"[[["a", "b"]], None]"#),
        (r#"[["a b", "c"], ["d", ""]]"#, r#"[[["a", "b"], ["c"]], [["d"], []]]"#),
        (r#""a b""#, r#"["a", "b"]"#),
    ];
    for (x, pieces) in cases {
        check(string_split(&value(x), None, -1), pieces);
        check(traced(&[value(x)], |args| string_split(&args[0], None, -1)), pieces);
    }
    check(string_split(&sliced(["x y", "a b", "c", "z z"]), None, -1), r#"[[], [["a", "b"], ["c"]]]"#);
}

#[test]
fn characters_and_neighbours_are_rows() {
    let x = value(r#"["ab", "", "ö"]"#);
    check(string_characters(&x), r#"[["a", "b"], [], ["ö"]]"#);
    check(traced(&[x], |args| string_characters(&args[0])), r#"[["a", "b"], [], ["ö"]]"#);
    let x = value(r#"[["a", "b", "c"], [], ["d"]]"#);
    check(string_ngrams(&x, &[2], "+", None), r#"[["a+b", "b+c"], [], []]"#);
    check(traced(&[x], |args| string_ngrams(&args[0], &[2], "+", None)), r#"[["a+b", "b+c"], [], []]"#);
    check(string_ngrams(&value(r#"[[["a", "b"]], []]"#), &[2], " ", None), r#"[[["a b"]], []]"#);
    check(string_ngrams(&sliced(["x", "a", "b", "y"]), &[2], " ", None), r#"[[], ["a b"]]"#);
    fails(string_ngrams(&value(r#"[["a", None], []]"#), &[2], " ", None), &["string_ngrams", "missing", "fill_none"]);
    fails(string_ngrams(&ragged(r#"[["a"], []]"#), &[i64::MIN], " ", None), &["string_ngrams", "width"]);
}

#[test]
fn a_join_joins_rows() {
    let rows = value(r#"[["a", "b"], [], ["c"]]"#);
    check(ops::reduce_join(&rows, -1, "-"), r#"["a-b", "", "c"]"#);
    check(traced(&[rows], |args| ops::reduce_join(&args[0], -1, "-")), r#"["a-b", "", "c"]"#);
    check(ops::reduce_join(sliced(["x", "a", "b", "y"]), 1, ""), r#"["", "ab"]"#);
    check(ops::reduce_join(value(r#"[[["a"], ["b", "c"], []], []]"#), 1, ""), r#"[["ab", "c"], []]"#);
    check(ops::reduce_join(value(r#"[[["a"], ["b", "c"], []], []]"#), [2, 1], "-"), r#"["a-b-c-", ""]"#);
    let some = value(r#"[["a", None, "b"], [], [None]]"#);
    check(ops::reduce_join(&some, -1, "-"), r#"["a-b", "", ""]"#);
    check(traced(&[some], |args| ops::reduce_join(&args[0], -1, "-")), r#"["a-b", "", ""]"#);
}

#[test]
fn no_number_is_read_where_none_is() {
    let none: Option<Number> = None;
    check(ops::to_number(sliced(["x", "1", "2", "y"]), DType::I64, none), "[[], [1, 2]]");
    check(ops::to_number(value(r#"[["1", None], []]"#), DType::I64, none), "[[1, None], []]");
    check(ops::to_number(value(r#"[["1"], None]"#), DType::I64, none), "[[1], None]");
    let masked = ops::lower(value(r#"["1", None]"#)).expect("strings");
    check(traced(&[masked], |args| ops::to_number(&args[0], DType::F64, none)), "[1.0, None]");
    fails(ops::to_number(value(r#"[["1"], ["x", "2"]]"#), DType::I64, none), &["to_number", "\"x\"", "[1]"]);
}

#[test]
fn what_is_there_is_looked_up() {
    let (keys, values) = (value(r#"["a", "b"]"#), value("[1.5, 2.5]"));
    let x = value(r#"[["b", None], [], ["x"]]"#);
    check(ops::lookup(&x, &keys, -1, 0), "[[1, None], [], [-1]]");
    check(ops::lookup_values(&x, &keys, &values, 0), "[[2.5, None], [], [0.0]]");
    let args = [x, keys, values];
    check(traced(&args, |args| ops::lookup(&args[0], &args[1], -1, 0)), "[[1, None], [], [-1]]");
    check(traced(&args, |args| ops::lookup_values(&args[0], &args[1], &args[2], 0)), "[[2.5, None], [], [0.0]]");
}

#[test]
fn a_table_is_of_its_keys_alone() {
    // The table stays with the keys; a slice of them is another tensor with a table of its own.
    let keys = Tensor::strings(&[3], &["a", "b", "c"]).expect("strings");
    let x = value(r#"["c", "a"]"#);
    for _ in 0..2 {
        check(ops::lookup(&x, &keys, -1, 0), "[2, 0]");
        check(ops::lookup(&x, keys.slice_rows(1, 2).expect("in range"), -1, 0), "[1, -1]");
    }
}

#[test]
fn a_pattern_cannot_run_away() {
    let x = Tensor::strings(&[1], &["a".repeat(20_000)]).expect("strings");
    check(ops::regex_full_match(&x, "(a|a)*b"), "[False]");
    fails(ops::regex_full_match(&x, r"(\w{100}){100}"), &["regex_full_match", "size"]);
    fails(ops::regex_full_match(&x, "(".repeat(5000)), &["regex_full_match", "pattern"]);
}
