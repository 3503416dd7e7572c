//! Reductions of ragged tensors.

mod support;

use extenso_core::attrs::Axes;
use extenso_core::{Value, ops};
use extenso_types::{DType, Result};
use support::{check, fails, ragged, traced, value};

const X: &str = "[[3, 1, 4], [1, 5], [9], [2, 6]]";
const NESTED: &str = "[[[1, 2], [3]], [[4]]]";
const PAIRS: &str = "[[[1, 2]], [], [[3, 4], [5, 6]]]";

fn sum(x: &str, axes: &[i64]) -> Result<Value> {
    ops::sum(value(x), Axes::List(axes.to_vec()), false)
}

#[test]
fn sums_over_axes() {
    let table: [(&str, &[i64], &str); 15] = [
        (X, &[1], "[8, 6, 9, 8]"),
        (X, &[-1], "[8, 6, 9, 8]"),
        (X, &[0], "[15, 12, 4]"),
        (X, &[0, 1], "31"),
        (X, &[1, 0], "31"),
        (NESTED, &[2], "[[3, 3], [4]]"),
        (NESTED, &[1], "[[4, 2], [4]]"),
        (NESTED, &[0], "[[5, 2], [3]]"),
        (NESTED, &[1, 2], "[6, 4]"),
        (NESTED, &[0, 2], "[7, 3]"),
        (NESTED, &[0, 1], "[8, 2]"),
        (PAIRS, &[1], "[[1, 2], [0, 0], [8, 10]]"),
        (PAIRS, &[2], "[[3], [], [7, 11]]"),
        (PAIRS, &[0], "[[4, 6], [5, 6]]"),
        (PAIRS, &[0, 1], "[9, 12]"),
    ];
    for (x, axes, wanted) in table {
        check(sum(x, axes), wanted);
    }
    check(ops::sum(value(X), Axes::All, false), "31");
    check(ops::sum(value(NESTED), Axes::All, false), "10");
}

#[test]
fn other_folds_and_means_over_axes() {
    check(ops::max(value(X), 1, false), "[4, 5, 9, 6]");
    check(ops::max(value(X), 0, false), "[9, 6, 4]");
    check(ops::min(value(X), 1, false), "[1, 1, 9, 2]");
    check(ops::min(value(X), 0, false), "[1, 1, 4]");
    check(ops::prod(value(X), 0, false), "[54, 30, 4]");
    let floats = ops::cast(value(X), DType::F64).expect("cast");
    check(ops::mean(&floats, 0, false), "[3.75, 4.0, 4.0]");
    check(ops::mean(value("[[1.0, 2.0], [], [4.0]]"), 1, false), "[1.5, nan, 4.0]");
    check(ops::any(value("[[True, False], [], [False]]"), 1, false), "[True, False, False]");
    check(ops::all(value("[[True, False], [], [True]]"), 0, false), "[True, False]");
}

#[test]
fn an_empty_row_gives_the_identity() {
    check(ops::max(value("[[1.0, 2.0], [], [4.0]]"), 1, false), "[2.0, -inf, 4.0]");
    check(ops::min(value("[[1.0, 2.0], [], [4.0]]"), 1, false), "[1.0, inf, 4.0]");
    check(ops::sum(value("[[1.0, 2.0], [], [4.0]]"), -1, false), "[3.0, 0.0, 4.0]");
    check(ops::prod(value("[[1, 2], [], [4]]"), -1, false), "[2, 1, 4]");
    let small = ops::cast(value("[[1, 2], [], [4]]"), DType::I8).expect("cast");
    check(ops::min(small, 1, false), "[1, 127, 4]");
}

#[test]
fn kept_axes_have_size_one() {
    check(ops::sum(value("[[1.0, 2.0], [], [4.0]]"), 1, true), "[[3.0], [0.0], [4.0]]");
    check(ops::sum(value("[[3, 1, 4], [1, 5], [9]]"), 0, true), "[[13, 6, 4]]");
    check(ops::sum(value(NESTED), 2, true), "[[[3], [3]], [[4]]]");
    check(ops::sum(value(NESTED), 1, true), "[[[4, 2]], [[4]]]");
    check(ops::sum(value(NESTED), [1, 2], true), "[[[6]], [[4]]]");
    check(ops::sum(value(NESTED), Axes::All, true), "[[[10]]]");
    check(ops::sum(value(PAIRS), 0, true), "[[[4, 6], [5, 6]]]");
}

#[test]
fn an_axis_that_does_not_exist_or_comes_twice_is_an_error() {
    fails(sum(X, &[2]), &["sum", "axis 2"]);
    fails(sum(X, &[-3]), &["sum", "axis -3"]);
    fails(sum(X, &[1, -1]), &["sum", "axis", "twice"]);
}

#[test]
fn traced_sums_are_eager_sums() {
    let table: [(&str, Axes, &str); 7] = [
        (X, Axes::List(vec![1]), "[8, 6, 9, 8]"),
        (X, Axes::All, "31"),
        (NESTED, Axes::List(vec![2]), "[[3, 3], [4]]"),
        (NESTED, Axes::List(vec![1, 2]), "[6, 4]"),
        (NESTED, Axes::All, "10"),
        (PAIRS, Axes::List(vec![1]), "[[1, 2], [0, 0], [8, 10]]"),
        (PAIRS, Axes::List(vec![2]), "[[3], [], [7, 11]]"),
    ];
    for (x, axes, wanted) in table {
        check(traced(&[value(x)], |args| ops::sum(&args[0], axes.clone(), false)), wanted);
    }
}

#[test]
fn every_set_of_axes_is_traced_as_it_is_computed() {
    for x in [X, NESTED, PAIRS, "[[[], [1]], [], [[]]]", "[[[[1, 2], []], [[3]]], [], [[[4]], [[], [5, 6]]]]"] {
        let x = value(x);
        let rank = extenso_ext::rank(&x).expect("known");
        for set in 1..1_i64 << rank {
            let axes: Vec<i64> = (0..64).filter(|axis| set >> axis & 1 == 1).collect();
            for keepdims in [false, true] {
                let fold = |x: &Value| ops::sum(x, Axes::List(axes.clone()), keepdims);
                let eager = extenso_ext::to_literal(&fold(&x).expect("eager")).expect("shown").to_string();
                check(traced(std::slice::from_ref(&x), |args| fold(&args[0])), &eager);
            }
        }
    }
}

#[test]
fn sliced_rows_of_rows_fold_while_tracing() {
    let nested = value("[[[1, 2], [3]], [[4]], [[5, 6]], [[]]]");
    let cut = |x: &Value| ops::slice(x, 0, 1, Some(vec![3]), 1);
    let (eager, parts) = (cut(&nested).expect("sliced"), [nested]);
    check(ops::sum(&eager, Axes::All, false), "15");
    check(traced(&parts, |args| ops::sum(cut(&args[0])?, Axes::All, false)), "15");
    check(traced(&parts, |args| ops::sum(cut(&args[0])?, [0, 1], false)), "[9, 6]");
    check(traced(&[eager], |args| ops::sum(&args[0], Axes::All, false)), "15");
}

#[test]
fn rows_of_rows_fold_by_a_partition() {
    let partition = extenso_core::RowPartition::from_lengths([2, 0]).expect("proven");
    check(ops::segment_sum(ragged("[[1, 2], [3]]"), partition), "[[4, 2], []]");
}

#[test]
fn one_long_row_among_many_takes_linear_time() {
    let n = 200_000;
    let lengths = std::iter::once(n).chain(std::iter::repeat_n(0, n));
    let partition = extenso_core::RowPartition::from_lengths(lengths).expect("proven");
    let values = extenso_core::Tensor::from_vec(vec![1_i64; n]);
    let x = extenso_ext::RaggedTensor::from_partition(values, partition).expect("fits");
    let columns = ops::sum(extenso_core::ExtensionType::into_value(x), 0, false).expect("columns");
    assert_eq!(columns.tensor().expect("dense").data().expect("data").len(), n);
}
