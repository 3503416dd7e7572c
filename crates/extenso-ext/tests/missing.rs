//! Functions of missing data: what is missing is told apart, counted, left out, filled up and replaced at every level.

mod support;

use extenso_core::attrs::Axes;
use extenso_core::{ExtensionType, Tensor, Value, ops};
use extenso_ext::missing::{coalesce, count, drop_none, is_valid, mask, pad_none};
use extenso_ext::{MaskedTensor, RaggedTensor, fill_none};
use extenso_types::{DType, Result};
use support::{check, fails, is_ragged, traced, value};

/// The result on data, and while tracing with sizes that are not known.
fn both(text: &str, f: impl Fn(&Value) -> Result<Value>, wanted: &str) {
    check(f(&value(text)), wanted);
    check(traced(&[value(text)], |args| f(&args[0])), wanted);
}

fn two(x: &str, y: &str, f: impl Fn(&Value, &Value) -> Result<Value>, wanted: &str) {
    check(f(&value(x), &value(y)), wanted);
    check(traced(&[value(x), value(y)], |args| f(&args[0], &args[1])), wanted);
}

const RECORDS: &str = r#"[{"a": 1, "b": [1, None]}, {"a": None, "b": []}, None]"#;

#[test]
fn a_value_is_there_where_it_is_not_missing() {
    both("[1, None]", |x| is_valid(x, None), "[True, False]");
    both("[[1, None], [], [3]]", |x| is_valid(x, None), "[[True, False], [], [True]]");
    both(RECORDS, |x| is_valid(x, None), "[True, True, False]");
}

#[test]
fn a_count_is_of_what_is_there() {
    both("[1, None, 3]", |x| count(x, Axes::All, false), "2");
    both("[[1, None], [None, None]]", |x| count(x, 1, false), "[1, 0]");
    both("[[1, None], [None, None]]", |x| count(x, 0, true), "[[1, 0]]");
    both("[[1, None], [], [3, 4, None]]", |x| count(x, 1, false), "[1, 0, 2]");
    both("[[1, None], None, [3]]", |x| count(x, 1, false), "[1, None, 1]");
    both(r#"["a", None]"#, |x| count(x, 0, false), "1");
    both(RECORDS, |x| count(x, Axes::All, false), "2");
    fails(count(&value("[1]"), 1, false), &["count", "axis"]);
}

#[test]
fn a_mask_makes_values_missing() {
    two("[1, 2, 3]", "[True, False, True]", mask, "[1, None, 3]");
    two("[1, None, 3]", "[True, True, False]", mask, "[1, None, None]");
    two("[1, 2, 3]", "[True, None, False]", mask, "[1, None, None]");
    two("[[1, 2], [], [3]]", "[[True, False], [], [False]]", mask, "[[1, None], [], [None]]");
    two("[[1, 2], [], [3]]", "[True, True, False]", mask, "[[1, 2], [], None]");
    two("[[1, 2], [3, 4]]", "[[True, False], [False, True]]", mask, "[[1, None], [None, 4]]");
    two(r#"[{"a": 1}, {"a": 2}]"#, "[True, False]", mask, r#"[{"a": 1}, None]"#);
    fails(mask(&value("[1, 2]"), &value("[True]")), &["mask", "1", "2"]);
    fails(mask(&value("[1, 2]"), &value("[1, 0]")), &["mask", "bool"]);
    two("[[1, 2], [], [3]]", "[[True], [False], [False]]", mask, "[[1, 2], [], [None]]");
    fails(mask(&value("[[1], []]"), &value("[[True], [False, True]]")), &["mask", "row"]);
    fails(mask(&value("[1, 2]"), &value("[[True], []]")), &["mask"]);
}

#[test]
fn the_first_value_that_is_there_is_chosen() {
    let first = |x: &Value, y: &Value| coalesce(&[x.into(), y.into()]);
    two("[1, None, None]", "[7, 8, None]", first, "[1, 8, None]");
    two("[1, None]", "9", first, "[1, 9]");
    two("[[1, None], [None]]", "[[7, 8], [9]]", first, "[[1, 8], [9]]");
    two("[[1, 2], None]", "[[7], [8, 9]]", first, "[[1, 2], [8, 9]]");
    two("[[1, 2], None]", "[[7], None]", first, "[[1, 2], None]");
    two("[[1, 2], None, [3]]", "[7, 8]", first, "[[1, 2], [7, 8], [3]]");
    two(r#"[{"a": 1}, None]"#, r#"[{"a": 7}, {"a": 8}]"#, first, r#"[{"a": 1}, {"a": 8}]"#);
    two(r#"[{"a": 1}, None]"#, r#"{"a": 8}"#, first, r#"[{"a": 1}, {"a": 8}]"#);
    two(r#"[{"a": 1}, {"a": None}]"#, r#"[{"a": 7}, {"a": 8}]"#, first, r#"[{"a": 1}, {"a": 8}]"#);
    two("[[3, None], None, [1]]", "[[9, 9], [8], [7]]", first, "[[3, 9], [8], [1]]");
    two("[[3, None], None, [1, None]]", "[[9, 9], None, None]", first, "[[3, 9], None, [1, None]]");
    two("[[3, None], [1, None], [4]]", "[[None, 9], None, [7]]", first, "[[3, 9], [1, None], [4]]");
    two("[[[3, None], None], None]", "[[[7, 8], [9]], [[6]]]", first, "[[[3, 8], [9]], [[6]]]");
    two("[[3, None], None]", "[7, 8, 9]", first, "[[3, None], [7, 8, 9]]");
    two(
        r#"[{"a": 1}, {"a": None}, None]"#,
        r#"[{"a": 7}, {"a": 8}, {"a": 9}]"#,
        first,
        r#"[{"a": 1}, {"a": 8}, {"a": 9}]"#,
    );
    let records = r#"[{"a": None}, {"a": 1}, None, None]"#;
    two(records, r#"[{"a": 7}, None, {"a": 8}, None]"#, first, r#"[{"a": 7}, {"a": 1}, {"a": 8}, None]"#);
    two("[1, 2]", "[7, 8]", first, "[1, 2]");
    let three = coalesce(&[value("[None, None]").into(), value("[1, None]").into(), 0.into()]);
    fails(three, &["coalesce"]);
    let three = |x: &Value, y: &Value| coalesce(&[x.into(), y.into(), 0.into()]);
    two("[None, None, 3]", "[1, None, 9]", |x, y| three(&ops::cast(x, DType::I64)?, y), "[1, 0, 3]");
    fails(coalesce(&[]), &["coalesce", "no argument"]);
    fails(coalesce(&[1.into(), 2.into()]), &["coalesce", "number"]);
    fails(first(&value("[[1, 2], None]"), &value("[[7]]")), &["coalesce", "rows"]);
    fails(first(&value("[[1, None], [2]]"), &value("[[7], [8, 9]]")), &["coalesce", "row"]);
    fails(first(&value(r#"[{"a": 1}, None]"#), &value("[1, 2]")), &["coalesce"]);
}

#[test]
fn a_column_of_which_some_is_missing_meets_rows_of_which_some_are() {
    let (column, rows) = ("[[1], [None], [None], [3]]", "[[3, 1], None, [4], [2]]");
    let wanted = "[[4, 2], None, [None], [5]]";
    two(column, rows, |x, y| ops::add(x, y), wanted);
    two(rows, column, |x, y| ops::add(x, y), wanted);
    two(rows, column, |x, y| ops::greater(x, y), "[[True, False], None, [None], [False]]");
    two(rows, column, |x, y| ops::maximum(x, y), "[[3, 1], None, [None], [3]]");
    two(rows, column, |x, y| ops::floor_divide(x, y), "[[3, 1], None, [None], [0]]");
    two("[[1], [None]]", "[[[1, 2], []], None]", |x, y| ops::add(ops::expand_dims(x, 1)?, y), "[[[2, 3], []], None]");
    let vector = |x: &Value, y: &Value| ops::add(ops::expand_dims(x, 1)?, y);
    two("[1, None, None, 3]", rows, vector, wanted);
    fails(ops::add(value("[[1], [None]]"), value(rows)), &["add"]);
}

#[test]
fn what_is_missing_is_left_out() {
    let all = |x: &Value| drop_none(x, None);
    both("[1, None, 3]", all, "[1, 3]");
    both("[[1, None], [], [None, 4]]", all, "[[1], [], [4]]");
    both("[[1, None], [3, 4]]", all, "[[1], [3, 4]]");
    both("[[1, None], None, [3]]", all, "[[1], [3]]");
    both("[[1, None], None, [3]]", |x| drop_none(x, Some(0)), "[[1, None], [3]]");
    both("[[1, None], None, [3]]", |x| drop_none(x, Some(1)), "[[1], None, [3]]");
    both("[[1, None], None, [3]]", |x| drop_none(x, Some(-1)), "[[1], None, [3]]");
    both("[[[1, None]], [None, [2]]]", all, "[[[1]], [[2]]]");
    check(all(&value("[[[1, None], [2, 3]], [[4, 5], [None, None]]]")), "[[[1], [2, 3]], [[4, 5], []]]");
    both(RECORDS, all, r#"[{"a": 1, "b": [1]}, {"a": None, "b": []}]"#);
    both(RECORDS, |x| drop_none(x, Some(1)), r#"[{"a": 1, "b": [1]}, {"a": None, "b": []}, None]"#);
    both(r#"{"a": [1, None], "b": None}"#, all, r#"{"a": [1], "b": None}"#);
    both("[1, 2]", all, "[1, 2]");
    fails(drop_none(&value("[1]"), Some(1)), &["drop_none", "axis"]);
    let plain = drop_none(&value("[1, None]"), None).expect("dropped");
    assert!(plain.tensor().is_ok(), "{plain:?}");
}

#[test]
fn lists_are_filled_up() {
    let to = |target: i64, axis: i64, clip: bool| move |x: &Value| pad_none(x, target, axis, clip);
    both("[[1, 2, 3], [], [4]]", to(2, 1, false), "[[1, 2, 3], [None, None], [4, None]]");
    both("[[1, 2, 3], [], [4]]", to(2, 1, true), "[[1, 2], [None, None], [4, None]]");
    both("[[1, 2, 3], [], [4]]", to(2, -1, true), "[[1, 2], [None, None], [4, None]]");
    both("[[1, 2, 3], [], [4]]", to(0, 1, true), "[[], [], []]");
    both("[1, 2]", to(3, 0, false), "[1, 2, None]");
    both("[1, 2]", to(1, 0, false), "[1, 2]");
    both("[1, 2]", to(1, 0, true), "[1]");
    both("[[1, 2], []]", to(3, 0, false), "[[1, 2], [], None]");
    both("[[1, None], []]", to(1, 1, false), "[[1, None], [None]]");
    both("[[1, 2], [3, 4]]", to(3, 1, false), "[[1, 2, None], [3, 4, None]]");
    both("[[1, 2], [3, 4]]", to(1, 1, true), "[[1], [3]]");
    both("[[[1], []], [[2, 3]]]", to(1, 2, false), "[[[1], [None]], [[2, 3]]]");
    both("[[[1], []], [[2, 3]]]", to(2, 1, false), "[[[1], []], [[2, 3], None]]");
    check(to(3, 2, false)(&value("[[[1, 2], [3, 4]]]")), "[[[1, 2, None], [3, 4, None]]]");
    check(to(3, 1, false)(&value("[[[1], [None]]]")), "[[[1], [None], None]]");
    check(to(2, 0, false)(&value("[[1, None]]")), "[[1, None], None]");
    both(r#"["a"]"#, to(2, 0, true), r#"["a", None]"#);
    both(r#"[{"a": 1, "b": [1]}]"#, to(2, 0, false), r#"[{"a": 1, "b": [1]}, None]"#);
    both(r#"[{"b": [1]}, {"b": []}]"#, to(1, 1, true), r#"[{"b": [1]}, {"b": [None]}]"#);
    both("[[1, 2], None, [3]]", to(2, 1, true), "[[1, 2], None, [3, None]]");
    check(pad_none(&ops::slice(value("[1]"), 0, 0, Some(vec![0]), 1).expect("empty"), 2, 0, true), "[None, None]");
    fails(pad_none(&value("[1]"), -5, 0, true), &["pad_none", "-5"]);
    fails(pad_none(&value("[1]"), 5, 1, true), &["pad_none", "axis"]);
    fails(pad_none(&value(r#"[{"a": 1, "b": [1]}]"#), 5, 1, true), &["pad_none", "field 'a'", "axis"]);
    for axis in [0, 1] {
        fails(pad_none(&value("[[1], []]"), i64::MAX, axis, true), &["pad_none"]);
        fails(pad_none(&value("[[1], []]"), i64::MAX, axis, false), &["pad_none"]);
        fails(pad_none(&value("[[1], []]"), 1 << 60, axis, false), &["pad_none"]);
    }
}

#[test]
fn clipped_lists_are_dense() {
    let dense = pad_none(&value("[[1, 2, 3], [], [4]]"), 2, 1, true).expect("padded");
    assert!(!is_ragged(&dense));
    let masked = MaskedTensor::from_value(&dense).expect("masked");
    assert_eq!(
        (masked.values().spec().expect("known").to_string(), masked.mask_rank().expect("known")),
        ("i64[3, 2]".into(), 2)
    );
}

#[test]
fn missing_fields_of_records_are_filled() {
    let x = r#"[{"a": 1, "b": [1, None]}, {"a": None, "b": []}]"#;
    both(x, |x| fill_none(x, 0), r#"[{"a": 1, "b": [1, 0]}, {"a": 0, "b": []}]"#);
    fails(fill_none(&value(r#"[{"a": "x"}, {"a": None}]"#), 0), &["fill_none", "field 'a'"]);
    two(r#"[{"a": 1}, None]"#, r#"{"a": 2}"#, |x, y| fill_none(x, y), r#"[{"a": 1}, {"a": 2}]"#);
}

/// Rows of values whose splits are i32.
fn narrow(text: &str) -> Value {
    let rows = RaggedTensor::from_value(&value(text)).expect("rows");
    let splits = ops::cast(rows.row_splits().expect("splits"), DType::I32).expect("cast");
    RaggedTensor::from_row_splits(rows.values().clone(), splits.tensor().expect("a vector")).expect("fits").into_value()
}

fn index_of(value: &Value) -> DType {
    RaggedTensor::from_value(value).expect("rows").partition().spec().index
}

#[test]
fn rows_keep_the_dtype_of_their_splits() {
    let x = narrow("[[1, 2, 3], [], [4]]");
    type Op = fn(&Value) -> Result<Value>;
    let kept: [Op; 9] = [
        |x| ops::slice(x, 1, 0, Some(vec![1]), 1),
        |x| ops::slice(x, 1, 0, None, 2),
        |x| ops::slice(x, 0, 1, None, 1),
        |x| ops::slice(x, 0, 0, None, 2),
        |x| ops::take(x, Tensor::from_vec(vec![2_i64, 0]), 0),
        |x| ops::concat(vec![x.clone(), x.clone()], 0),
        |x| ops::concat(vec![x.clone(), x.clone()], 1),
        |x| ops::boolean_mask(x, ops::greater(x, 1)?, 0),
        |x| pad_none(x, 2, 1, false),
    ];
    for (i, op) in kept.iter().enumerate() {
        assert_eq!(index_of(&op(&x).expect("fits")), DType::I32, "{i}");
        let wide = op(&value("[[1, 2, 3], [], [4]]")).expect("fits");
        assert_eq!(index_of(&wide), DType::I64, "{i}");
        let seen = traced(std::slice::from_ref(&x), |args| op(&args[0])).expect("traced");
        assert_eq!(index_of(&seen), DType::I32, "{i} traced");
        check(Ok(seen), &extenso_ext::to_literal(&wide).expect("data").to_string());
    }
    let mixed = ops::concat(vec![x, value("[[1], [], []]")], 0).expect("fits");
    assert_eq!(index_of(&mixed), DType::I64);
}

#[test]
fn lengths_of_32_bits_that_add_up_to_more_are_an_error() {
    let lengths = Tensor::from_vec(vec![i32::MAX, 1]);
    fails(ops::partition_from_lengths(lengths), &["partition_from_lengths", "2147483648", "32 bits"]);
}
