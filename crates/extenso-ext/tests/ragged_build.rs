//! Ragged tensors: every way to write down rows, what is read back, and what is refused.

mod support;

use extenso_core::{ExtensionType, Tensor, Value, ops};
use extenso_ext::{Index, RaggedTensor, index, shape, shape_of};
use extenso_types::Result;
use support::{check, fails, is_ragged, traced, value};

const LETTERS: &str = r#"["a", "b", "c", "d", "e", "f", "g", "h"]"#;
const ROWS: &str = r#"[["a", "b", "c", "d"], [], ["e", "f", "g"], ["h"], []]"#;

fn ints(items: &[i64]) -> Tensor {
    Tensor::from_vec(items.to_vec())
}

fn i32s(items: &[i32]) -> Tensor {
    Tensor::from_vec(items.to_vec())
}

fn shown(x: Result<RaggedTensor>) -> Result<Value> {
    x.map(ExtensionType::into_value)
}

fn tensor(x: &Value) -> Tensor {
    x.tensor().expect("a tensor").clone()
}

type Factory = fn(Value, &Tensor) -> Result<RaggedTensor>;

const FACTORIES: [(Factory, &[i64]); 6] = [
    (RaggedTensor::from_row_splits, &[0, 4, 4, 7, 8, 8]),
    (RaggedTensor::from_row_lengths, &[4, 0, 3, 1, 0]),
    (|values, ids| RaggedTensor::from_value_rowids(values, ids, Some(5)), &[0, 0, 0, 0, 2, 2, 2, 3]),
    (RaggedTensor::from_row_starts, &[0, 4, 4, 7, 8]),
    (RaggedTensor::from_row_limits, &[4, 4, 7, 8, 8]),
    (|values, splits| RaggedTensor::from_nested_row_splits(values, std::slice::from_ref(splits)), &[0, 4, 4, 7, 8, 8]),
];

#[test]
fn factories_agree() {
    for (factory, given) in FACTORIES {
        check(shown(factory(value(LETTERS), &ints(given))), ROWS);
        let narrow: Vec<i32> = given.iter().map(|&v| i32::try_from(v).expect("small")).collect();
        check(shown(factory(value(LETTERS), &i32s(&narrow))), ROWS);
        let args = [value(LETTERS), ints(given).into()];
        check(traced(&args, |a| shown(factory(a[0].clone(), &tensor(&a[1])))), ROWS);
    }
    let x = RaggedTensor::from_row_splits(value(LETTERS), &ints(&[0, 4, 4, 7, 8, 8])).expect("rows");
    assert_eq!(x.value_rowids().expect("data").to_string(), "[0, 0, 0, 0, 2, 2, 2, 3]");
    assert_eq!(x.bounding_shape().expect("data").to_string(), "[5, 4]");
}

#[test]
fn splits_keep_their_width() {
    let x = RaggedTensor::from_row_splits(value("[1, 2, 3]"), &i32s(&[0, 1, 3])).expect("rows");
    assert_eq!(x.row_splits().expect("data").dtype(), extenso_types::DType::I32);
    let x = RaggedTensor::from_row_starts(value("[1, 2, 3]"), &i32s(&[0, 1])).expect("rows");
    assert_eq!(x.row_splits().expect("data").dtype(), extenso_types::DType::I32);
}

#[test]
fn rows_of_one_length() {
    let six = || value("[1, 2, 3, 4, 5, 6]");
    check(shown(RaggedTensor::from_uniform_row_length(six(), 2, None)), "[[1, 2], [3, 4], [5, 6]]");
    check(shown(RaggedTensor::from_uniform_row_length(six(), 3, Some(2))), "[[1, 2, 3], [4, 5, 6]]");
    let none = || ops::slice(six(), 0, 0, Some(vec![0]), 1).expect("empty");
    check(shown(RaggedTensor::from_uniform_row_length(none(), 0, Some(3))), "[[], [], []]");
    check(shown(RaggedTensor::from_uniform_row_length(none(), 0, None)), "[]");
    let pairs = |a: &[Value]| shown(RaggedTensor::from_uniform_row_length(a[0].clone(), 2, None));
    check(traced(&[six()], pairs), "[[1, 2], [3, 4], [5, 6]]");
    check(pairs(&[value("[[1], [2, 3], [], [4]]")]), "[[[1], [2, 3]], [[], [4]]]");
    for (length, nrows) in
        [(4, None), (2, Some(2)), (2, Some(4)), (0, None), (-1, None), (-6, Some(-1)), (i64::MAX, Some(2))]
    {
        fails(RaggedTensor::from_uniform_row_length(six(), length, nrows), &["uniform_row_length"]);
    }
    fails(RaggedTensor::from_uniform_row_length(none(), 0, Some(i64::MAX)), &["memory"]);
    fails(traced(&[value("[1, 2, 3]")], pairs), &["3 values", "2"]);
}

#[test]
fn rows_of_rows_by_splits_and_lengths() {
    let flat = || value("[1, 2, 3, 4]");
    let nested = "[[[1], [2, 3]], [], [[4]]]";
    let splits = [ints(&[0, 2, 2, 3]), ints(&[0, 1, 3, 4])];
    let x = RaggedTensor::from_nested_row_splits(flat(), &splits).expect("rows");
    check(shown(Ok(x.clone())), nested);
    check(shown(RaggedTensor::from_nested_row_lengths(flat(), &[ints(&[2, 0, 1]), ints(&[1, 2, 1])])), nested);
    let back = x.nested_row_splits().expect("data");
    assert_eq!(back.iter().map(ToString::to_string).collect::<Vec<_>>(), ["[0, 2, 2, 3]", "[0, 1, 3, 4]"]);
    check(x.flat_values(), "[1, 2, 3, 4]");
    let cut = RaggedTensor::from_value(&ops::slice(x.into_value(), 0, 1, None, 1).expect("rows")).expect("ragged");
    check(cut.flat_values(), "[4]");
    let back = cut.nested_row_splits().expect("data");
    assert_eq!(back.iter().map(ToString::to_string).collect::<Vec<_>>(), ["[0, 0, 1]", "[0, 1]"]);
    fails(RaggedTensor::from_nested_row_splits(flat(), &[]), &["nested_row_splits", "empty"]);
    let bad = [ints(&[0, 2]), ints(&[0, 3, 2, 4])];
    fails(RaggedTensor::from_nested_row_splits(flat(), &bad), &["nested_row_splits", "[1]", "decrease"]);
}

#[test]
fn malformed_rows_are_errors() {
    let three = || value("[1, 2, 3]");
    type Case = (Factory, &'static [i64], &'static [&'static str]);
    let table: [Case; 14] = [
        (RaggedTensor::from_row_splits, &[], &["row_splits", "empty"]),
        (RaggedTensor::from_row_splits, &[2, 3], &["row_splits", "first", "2"]),
        (RaggedTensor::from_row_splits, &[0, 3, 2, 3], &["row_splits", "decrease", "[2]"]),
        (RaggedTensor::from_row_splits, &[0, 4], &["row_splits", "4", "3"]),
        (RaggedTensor::from_row_splits, &[0, i64::MAX], &["row_splits"]),
        (RaggedTensor::from_row_starts, &[], &["row_starts", "first"]),
        (RaggedTensor::from_row_starts, &[1, 2], &["row_starts", "first", "1"]),
        (RaggedTensor::from_row_starts, &[0, 5], &["row_starts", "decrease"]),
        (RaggedTensor::from_row_limits, &[2], &["row_limits", "2", "3"]),
        (RaggedTensor::from_row_limits, &[4], &["row_limits", "4", "3"]),
        (RaggedTensor::from_row_limits, &[-1, 3], &["row_limits", "decrease"]),
        (RaggedTensor::from_row_lengths, &[1, 1], &["3", "2"]),
        (RaggedTensor::from_row_lengths, &[i64::MAX, i64::MAX], &["row_lengths", "row 1"]),
        (
            |values, ids| RaggedTensor::from_value_rowids(values, ids, None),
            &[0, 0, i64::MAX - 1],
            &["value_rowids", "nrows"],
        ),
    ];
    for (factory, given, texts) in table {
        fails(factory(three(), &ints(given)), texts);
    }
    let floats = Tensor::from_vec(vec![0.0, 3.0]);
    let matrix = Tensor::new(&[1, 2], &[0_i64, 3]).expect("a matrix");
    for (factory, _) in FACTORIES {
        fails(factory(three(), &floats), &["f64"]);
        fails(factory(three(), &matrix), &[]);
        fails(factory(value("1"), &ints(&[0, 1])), &[]);
    }
}

#[test]
fn dense_tensors_become_rows() {
    let dense = || value("[[5, 7, 0], [0, 3, 0], [6, 0, 0]]");
    check(shown(RaggedTensor::from_dense(dense(), 1)), "[[5, 7, 0], [0, 3, 0], [6, 0, 0]]");
    assert!(is_ragged(&shown(RaggedTensor::from_dense(dense(), 1)).expect("rows")));
    check(shown(RaggedTensor::from_dense_lengths(dense(), value("[1, 0, 3]"))), "[[5], [], [6, 0, 0]]");
    check(shown(RaggedTensor::from_dense_padding(dense(), 0, 1)), "[[5, 7], [0, 3], [6]]");
    let cube = || value("[[[5, 0], [7, 0], [0, 0]], [[0, 0], [3, 0], [0, 0]]]");
    check(shown(RaggedTensor::from_dense_padding(cube(), 0, 1)), "[[[5, 0], [7, 0]], [[0, 0], [3, 0]]]");
    check(shown(RaggedTensor::from_dense_padding(cube(), 0, 2)), "[[[5], [7], []], [[], [3], []]]");
    assert_eq!(RaggedTensor::from_dense(cube(), 2).expect("rows").ragged_rank(), 2);
    let padding = |a: &[Value]| shown(RaggedTensor::from_dense_padding(a[0].clone(), 0, 1));
    check(traced(&[dense()], padding), "[[5, 7], [0, 3], [6]]");
    let lengths = |a: &[Value]| shown(RaggedTensor::from_dense_lengths(a[0].clone(), a[1].clone()));
    check(traced(&[dense(), value("[1, 0, 3]")], lengths), "[[5], [], [6, 0, 0]]");
    fails(RaggedTensor::from_dense_lengths(dense(), value("[1, 4, 0]")), &["lengths", "row 1", "4", "3"]);
    fails(RaggedTensor::from_dense_lengths(dense(), value("[1, -1, 0]")), &["lengths", "-1"]);
    fails(RaggedTensor::from_dense_lengths(dense(), value("[1, 1]")), &["lengths", "3", "2"]);
    fails(RaggedTensor::from_dense(value("[1, 2]"), 1), &["ragged_rank", "rank 1"]);
    for huge in [0, 2, 8_968_073_515_812_833_920] {
        fails(RaggedTensor::from_dense(dense(), huge), &["ragged_rank"]);
        fails(RaggedTensor::from_dense_padding(dense(), 0, huge), &["ragged_rank"]);
    }
}

#[test]
fn rows_become_dense_tensors() {
    let x = || value("[[0, 1, 2], [], [3]]");
    let dense =
        |x: Value, fill: i64, shape: Option<&[Option<i64>]>| extenso_ext::ragged::to_dense(x, Some(fill.into()), shape);
    let table: [(Option<&[Option<i64>]>, &str); 6] = [
        (None, "[[0, 1, 2], [5, 5, 5], [3, 5, 5]]"),
        (Some(&[None, Some(2)]), "[[0, 1], [5, 5], [3, 5]]"),
        (Some(&[None, Some(4)]), "[[0, 1, 2, 5], [5, 5, 5, 5], [3, 5, 5, 5]]"),
        (Some(&[Some(2), None]), "[[0, 1, 2], [5, 5, 5]]"),
        (Some(&[Some(4), Some(1)]), "[[0], [5], [3], [5]]"),
        (Some(&[Some(0), Some(1)]), "[]"),
    ];
    for (shape, wanted) in table {
        check(dense(x(), 5, shape), wanted);
        check(traced(&[x()], |a| dense(a[0].clone(), 5, shape)), wanted);
    }
    check(
        dense(value("[[[1, 2], [3]], [], [[4]]]"), 0, None),
        "[[[1, 2], [3, 0]], [[0, 0], [0, 0]], [[4, 0], [0, 0]]]",
    );
    check(
        dense(value("[[[1, 2]], [], [[3, 4]]]"), 0, Some(&[None, None, Some(3)])),
        "[[[1, 2, 0]], [[0, 0, 0]], [[3, 4, 0]]]",
    );
    check(extenso_ext::ragged::to_dense(value(r#"[["a"], []]"#), None, None), r#"[["a"], [""]]"#);
    check(dense(value("[[1, None], [], [3]]"), 7, None), "[[1, None], [7, 7], [3, 7]]");
    let empty = dense(support::ragged("[[], []]"), 0, None);
    let empty = empty.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(empty.tensor().expect("dense").data().expect("data").dims(), [2, 0]);
    fails(dense(x(), 5, Some(&[None])), &["to_dense", "1", "2"]);
    fails(dense(x(), 5, Some(&[None, Some(-1)])), &["to_dense", "-1"]);
    fails(dense(x(), 5, Some(&[None, Some(i64::MAX)])), &["to_dense"]);
    fails(extenso_ext::ragged::to_dense(x(), Some(Tensor::scalar(1.5).into()), None), &["to_dense", "f64", "i64"]);
}

/// The shape of rows whose length is known, and that of what ops make of them; the same is known while tracing.
#[test]
fn rows_of_one_length_stay_what_they_are() {
    let rows = || value("[[1], [2, 3], [], [4], [5], [6, 7]]");
    let even = |length| RaggedTensor::from_uniform_row_length(rows(), length, None).expect("rows").into_value();
    type Part = fn(&Value) -> Result<Value>;
    let kept: [(Part, &str, &str); 12] = [
        (|x| Ok(x.clone()), "[3, 2, ?]", "[[[1], [2, 3]], [[], [4]], [[5], [6, 7]]]"),
        (|x| ops::add(x, 1), "[3, 2, ?]", "[[[2], [3, 4]], [[], [5]], [[6], [7, 8]]]"),
        (|x| ops::slice(x, 0, 1, None, 1), "[2, 2, ?]", "[[[], [4]], [[5], [6, 7]]]"),
        (|x| ops::slice(x, 1, 1, None, 1), "[3, 1, ?]", "[[[2, 3]], [[4]], [[6, 7]]]"),
        (|x| ops::take(x, ints(&[2, 0]), 0), "[2, 2, ?]", "[[[5], [6, 7]], [[1], [2, 3]]]"),
        (|x| ops::take(x, -1, 1), "[3, ?]", "[[2, 3], [4], [6, 7]]"),
        (
            |x| ops::take(x, ints(&[1, 1, 0]), 1),
            "[3, 3, ?]",
            "[[[2, 3], [2, 3], [1]], [[4], [4], []], [[6, 7], [6, 7], [5]]]",
        ),
        (
            |x| ops::concat(vec![x.clone(), x.clone()], 0),
            "[6, 2, ?]",
            "[[[1], [2, 3]], [[], [4]], [[5], [6, 7]], [[1], [2, 3]], [[], [4]], [[5], [6, 7]]]",
        ),
        (
            |x| ops::concat(vec![x.clone(), ops::slice(x, 1, 0, Some(vec![1]), 1)?], 1),
            "[3, 3, ?]",
            "[[[1], [2, 3], [1]], [[], [4], []], [[5], [6, 7], [5]]]",
        ),
        (|x| ops::sum(x, 2, false), "[3, 2]", "[[1, 5], [0, 4], [5, 13]]"),
        (
            |x| ops::add(ops::sum(x, 2, true)?, ops::ones_like(x)?),
            "[3, 2, ?]",
            "[[[2], [6, 6]], [[], [5]], [[6], [14, 14]]]",
        ),
        (|x| ops::expand_dims(x, 0), "[1, 3, 2, ?]", "[[[[1], [2, 3]], [[], [4]], [[5], [6, 7]]]]"),
    ];
    for (part, shape, wanted) in kept {
        let found = part(&even(2)).expect(wanted);
        assert_eq!(shape_of(&found.spec().expect("a spec")).to_string(), shape, "{wanted}");
        check(Ok(found), wanted);
        check(traced(&[even(2)], |args| part(&args[0])), wanted);
    }
    let unknown = |x: Result<Value>| shape_of(&x.expect("rows").spec().expect("a spec")).to_dims();
    assert_eq!(unknown(ops::concat(vec![even(2), even(3)], 0)), None);
    assert_eq!(unknown(ops::slice(rows(), 0, 0, Some(vec![2]), 1)), None);
    fails(ops::take(even(2), 2, 1), &["2", "out of range"]);
    check(
        index(&even(2), &[Index::Slice { start: None, stop: None, step: 1 }, Index::At(-1)]),
        "[[2, 3], [4], [6, 7]]",
    );
    let picked = Index::Pick(ints(&[1, 0]).into());
    check(index(&even(2), &[1.into(), picked]), "[[4], []]");
    fails(index(&even(2), &[Index::Slice { start: None, stop: None, step: 1 }, Index::At(2)]), &["axis 1 of size 2"]);
    fails(shape(&even(2)), &["axis 2 is ragged"]);
    let pairs = RaggedTensor::from_uniform_row_length(value("[1, 2, 3, 4]"), 2, None).expect("rows").into_value();
    check(shape(&pairs), "[2, 2]");
    fails(traced(&[even(2)], |args| ops::take(&args[0], -3, 1)), &["index", "out of range"]);
}
