//! Masked tensors: what is missing stays missing, and no result depends on what lies under it.

mod support;

use extenso_core::attrs::Axes;
use extenso_core::{ExtensionType, Provenance, Tensor, Value, ops, rebuild};
use extenso_ext::{MaskedTensor, RaggedTensor, fill_none, is_none};
use extenso_types::{DType, Result};
use support::{check, fails, is_ragged, traced, traced_nodes, value};

fn masked(values: Value, mask: &str) -> Result<Value> {
    MaskedTensor::new(values, value(mask).tensor()?.clone()).map(ExtensionType::into_value)
}

fn is_masked(x: &Value) -> bool {
    MaskedTensor::from_value(x).is_ok()
}

#[test]
fn the_mask_has_the_outer_shape_of_the_values() {
    check(masked(value("[[1, 2], [3, 4]]"), "[True, False]"), "[[1, 2], None]");
    check(masked(value("[[1, 2], [3, 4]]"), "[[True, False], [False, True]]"), "[[1, None], [None, 4]]");
    check(masked(value("[[1], [2, 3]]"), "[False, True]"), "[None, [2, 3]]");
    check(masked(value("5"), "False"), "None");
    fails(masked(value("[1, 2]"), "[True]"), &["mask", "size 1", "2"]);
    fails(masked(value("[1, 2]"), "[[True], [False]]"), &["mask", "rank 2", "1"]);
    fails(masked(value("[[1], [2, 3]]"), "[[True], [False]]"), &["mask", "ragged"]);
    fails(masked(value("[1, 2]"), "[1, 0]"), &["mask", "i64", "bool"]);
}

#[test]
fn a_unary_op_keeps_the_mask() {
    let x = value("[1.0, None, 4.0]");
    let root = ops::sqrt(&x).expect("floats");
    let (before, after) = (MaskedTensor::from_value(&x), MaskedTensor::from_value(&root));
    let addresses = |m: Result<MaskedTensor>| m.expect("masked").mask().data().expect("data").addresses();
    assert_eq!(addresses(before), addresses(after));
    check(Ok(root), "[1.0, None, 2.0]");
}

/// Two operands and their sum.
const SUMS: [(&str, &str, &str); 8] = [
    ("[1, None, 3]", "[10, 20, None]", "[11, None, None]"),
    ("[1, None, 3]", "[10, 20, 30]", "[11, None, 33]"),
    ("[1, None, 3]", "10", "[11, None, 13]"),
    ("[1, None]", "[[10, 20], [30, None]]", "[[11, None], [31, None]]"),
    ("[[1], [None]]", "[[10, 20]]", "[[11, 21], [None, None]]"),
    ("[None]", "[1.0, 2.0]", "[None, None]"),
    ("[[1, None], []]", "[[10, 20], []]", "[[11, None], []]"),
    ("[[1, 2], None, [3]]", "[[10], [20], [30]]", "[[11, 12], None, [33]]"),
];

#[test]
fn a_sum_is_there_where_both_operands_are() {
    for (x, y, sum) in SUMS {
        check(ops::add(value(x), value(y)), sum);
        check(ops::add(value(y), value(x)), sum);
    }
}

#[test]
fn traced_sums_are_eager_sums() {
    for (x, y, sum) in SUMS {
        check(traced(&[value(x), value(y)], |args| ops::add(&args[0], &args[1])), sum);
    }
}

#[test]
fn a_masked_column_is_repeated_along_ragged_rows() {
    let sum = ops::add(value("[[1], [None], [3]]"), value("[[10, 20], [30], []]")).expect("broadcasts");
    assert!(is_ragged(&sum));
    check(Ok(sum.clone()), "[[11, 21], [None], []]");
    check(ops::add(value("[[10, 20], [30], []]"), value("[[1], [None], [3]]")), "[[11, 21], [None], []]");
    let rows = [value("[[10, 20], [30], []]"), value("[[1], [None], [3]]")];
    check(traced(&rows, |args| ops::add(&args[0], &args[1])), "[[11, 21], [None], []]");
}

#[test]
fn weak_scalars_stay_weak_beside_a_mask() {
    let x = ops::cast(value("[1, None]"), DType::I8).expect("cast");
    for sum in [ops::add(&x, 3), ops::add(3, &x)] {
        let sum = MaskedTensor::from_value(&sum.expect("fits")).expect("masked");
        assert_eq!(sum.values().tensor().expect("dense").dtype(), DType::I8);
    }
    let (_, nodes) = traced_nodes(&[x], |args| ops::add(&args[0], 3)).expect("traced");
    assert_eq!(nodes, ["add"]);
}

#[test]
fn no_op_fails_on_what_is_missing() {
    check(ops::floor_divide(value("[7, 8]"), value("[2, None]")), "[3, None]");
    check(ops::floor_divide(value("[7, None]"), value("[2, 0]")), "[3, None]");
    check(ops::floor_divide(value("[7, None]"), 2), "[3, None]");
    let pairs = masked(value("[[7, 8], [1, 1]]"), "[True, False]").expect("fits");
    check(ops::floor_divide(pairs, value("[[2, 4], [0, 0]]")), "[[3, 2], None]");
    fails(ops::floor_divide(value("[7, None]"), value("[0, 0]")), &["floor_divide", "zero", "[0]"]);
}

#[test]
fn a_choice_is_there_where_what_it_picks_is() {
    let condition = value("[True, False, True, None]");
    check(ops::where_(&condition, value("[1, None, None, 4]"), value("[10, 20, 30, 40]")), "[1, 20, None, None]");
    check(ops::where_(value("[True, False]"), value("[1, None]"), 0), "[1, 0]");
}

#[test]
fn reductions_pass_over_what_is_missing() {
    let x = value("[[3, None, 1], [None, None, None]]");
    check(ops::sum(&x, Axes::All, false), "4");
    check(ops::sum(&x, 1, false), "[4, 0]");
    check(ops::prod(&x, 1, false), "[3, 1]");
    check(ops::max(&x, 0, false), "[3, -9223372036854775808, 1]");
    check(ops::min(value("[1.5, None]"), 0, false), "1.5");
    check(ops::min(value("[None, None]"), 0, false), "inf");
    check(ops::any(value("[False, None]"), 0, false), "False");
    check(ops::all(value("[True, None]"), 0, false), "True");
    check(ops::mean(value("[1.0, None, 4.0]"), 0, false), "2.5");
    let largest = ops::max(ops::cast(value("[None]"), DType::U64).expect("cast"), 0, false).expect("identity");
    assert_eq!(largest.to_string(), "0");
    check(traced(&[x], |args| ops::sum(&args[0], 1, false)), "[4, 0]");
}

#[test]
fn reductions_of_rows_pass_over_missing_items_and_leave_missing_rows() {
    check(ops::sum(value("[[1, None, 3], [], [None]]"), 1, false), "[4, 0, 0]");
    check(ops::sum(value("[[1, None, 3], [], [None, 5]]"), 0, false), "[1, 5, 3]");
    check(ops::max(value("[[1, None, 3], [], [None, 5]]"), Axes::All, false), "5");
    check(ops::sum(value("[[1, 2], None, [3]]"), 1, false), "[3, None, 3]");
    check(ops::sum(value("[[1, 2], None, [3]]"), Axes::All, false), "6");
}

#[test]
fn filled_values_are_plain() {
    let filled = fill_none(&value("[1, None, 3]"), 0).expect("fits");
    assert!(!is_masked(&filled));
    check(Ok(filled), "[1, 0, 3]");
    check(fill_none(&value("[[1, None], [], [3]]"), -1), "[[1, -1], [], [3]]");
    check(fill_none(&value("[1, None]"), value("[10, 20]")), "[1, 20]");
    check(fill_none(&value("[1, 2]"), 0), "[1, 2]");
    fails(fill_none(&value("[1, None]"), 0.5), &["fill_none", "0.5", "i64"]);
}

#[test]
fn missing_values_are_told_apart() {
    check(is_none(&value("[1, None]"), None), "[False, True]");
    check(is_none(&value("[[1, None], [], [3]]"), None), "[[False, True], [], [False]]");
    check(is_none(&value("[[1, 2], None]"), None), "[False, True]");
    check(is_none(&value(r#"["a", "b"]"#), None), "[False, False]");
    check(traced(&[value(r#"["a", "b"]"#)], |args| is_none(&args[0], None)), "[False, False]");
}

#[test]
fn values_and_mask_move_together() {
    let x = value("[[1, None], [3, 4], [None, 6]]");
    check(ops::take(&x, value("[2, 0]"), 0), "[[None, 6], [1, None]]");
    check(ops::slice(&x, 1, 1, None, 1), "[[None], [4], [6]]");
    check(ops::transpose(&x, None), "[[1, 3, None], [None, 4, 6]]");
    check(ops::reshape(&x, vec![-1_i64]), "[1, None, 3, 4, None, 6]");
    check(ops::concat(vec![x.clone(), value("[[7, 8]]")], 0), "[[1, None], [3, 4], [None, 6], [7, 8]]");
    let rows = value("[[1, 2], None, [3]]");
    check(ops::take(&rows, value("[1, 0]"), 0), "[None, [1, 2]]");
    check(ops::concat(vec![rows.clone(), value("[[4], [5, 6]]")], 0), "[[1, 2], None, [3], [4], [5, 6]]");
    check(ops::take(value("[[1, None], [], [3]]"), value("[2, 0]"), 0), "[[3], [1, None]]");
    let partition = RaggedTensor::from_value(&value("[[0, 0], [0]]")).expect("rows").partition().clone();
    check(ops::gather_rows_of(value("[1, None]"), partition), "[1, 1, None]");
    let prefix = masked(value("[[1, 2], [3, 4]]"), "[True, False]").expect("fits");
    check(ops::slice(&prefix, 1, 0, Some(vec![1]), 1), "[[1], None]");
    check(ops::expand_dims(prefix, 2), "[[[1], [2]], None]");
}

#[test]
fn components_from_outside_are_checked() {
    let x = value("[1, None]");
    let spec = x.spec().expect("a spec");
    let spec = spec.ext().expect("an extension");
    let components = |mask: Tensor| vec![Tensor::from_vec(vec![1_i64, 2]).into(), mask.into()];
    let mask = |n: usize| Tensor::bools(&[n], &vec![true; n]).expect("bits");
    assert!(rebuild(spec, components(mask(2)), Provenance::Outside).is_ok());
    fails(rebuild(spec, components(mask(3)), Provenance::Outside), &["extenso/MaskedTensor", "mask", "3"]);
}
