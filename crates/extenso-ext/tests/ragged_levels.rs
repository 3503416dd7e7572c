//! Ragged tensors: levels of nesting, joining, axes of size 1, and broadcasting to given rows.

mod support;

use extenso_core::{Arg, Tensor, Value, ops};
use extenso_ext::ragged::{flatten, local_index, num, unflatten};
use extenso_types::Result;
use support::{check, fails, is_ragged, ragged, traced, traced_nodes, value};

const NESTED: &str = "[[[1, 2], [3]], [], [[4], [], [5, 6]]]";
const PAIRS: &str = "[[[1, 2]], [], [[3, 4], [5, 6]]]";
const DENSE: &str = "[[1, 2, 3], [4, 5, 6]]";

#[test]
fn num_counts_the_elements_of_lists() {
    let table: [(&str, i64, &str); 9] = [
        (NESTED, 0, "3"),
        (NESTED, 1, "[2, 0, 3]"),
        (NESTED, 2, "[[2, 1], [], [1, 0, 2]]"),
        (NESTED, -1, "[[2, 1], [], [1, 0, 2]]"),
        (PAIRS, 2, "[[2], [], [2, 2]]"),
        (PAIRS, -2, "[1, 0, 2]"),
        (DENSE, 0, "2"),
        (DENSE, 1, "[3, 3]"),
        (r#"[["a"], []]"#, 1, "[1, 0]"),
    ];
    for (x, axis, wanted) in table {
        check(num(value(x), axis), wanted);
        check(traced(&[value(x)], |a| num(a[0].clone(), axis)), wanted);
    }
    fails(num(value(DENSE), 2), &["num", "axis 2"]);
}

#[test]
fn local_index_numbers_the_elements_of_lists() {
    let table: [(&str, i64, &str); 9] = [
        ("[[3, 1], None, [2]]", -1, "[[0, 1], None, [0]]"),
        ("[[[3, 1], None], None]", -1, "[[[0, 1], None], None]"),
        (NESTED, 0, "[0, 1, 2]"),
        (NESTED, 1, "[[0, 1], [], [0, 1, 2]]"),
        (NESTED, -1, "[[[0, 1], [0]], [], [[0], [], [0, 1]]]"),
        (PAIRS, 2, "[[[0, 1]], [], [[0, 1], [0, 1]]]"),
        (DENSE, 0, "[0, 1]"),
        (DENSE, 1, "[[0, 1, 2], [0, 1, 2]]"),
        (DENSE, -1, "[[0, 1, 2], [0, 1, 2]]"),
    ];
    for (x, axis, wanted) in table {
        check(local_index(value(x), axis), wanted);
        check(traced(&[value(x)], |a| local_index(a[0].clone(), axis)), wanted);
    }
}

#[test]
fn flatten_takes_a_level_out() {
    let table: [(&str, Option<i64>, &str); 8] = [
        (NESTED, Some(1), "[[1, 2], [3], [4], [], [5, 6]]"),
        (NESTED, Some(2), "[[1, 2, 3], [], [4, 5, 6]]"),
        (NESTED, Some(-1), "[[1, 2, 3], [], [4, 5, 6]]"),
        (NESTED, None, "[1, 2, 3, 4, 5, 6]"),
        (PAIRS, Some(2), "[[1, 2], [], [3, 4, 5, 6]]"),
        (PAIRS, None, "[1, 2, 3, 4, 5, 6]"),
        (DENSE, Some(1), "[1, 2, 3, 4, 5, 6]"),
        ("[[[[1], []], []], [], [[[2, 3]]]]", Some(3), "[[[1], []], [], [[2, 3]]]"),
    ];
    for (x, axis, wanted) in table {
        check(flatten(value(x), axis), wanted);
        check(traced(&[value(x)], |a| flatten(a[0].clone(), axis)), wanted);
        let rows = ops::slice(value(x), 0, -1, None, -1).expect("rows");
        let back = ops::slice(rows, 0, -1, None, -1).expect("rows");
        check(flatten(back, axis), wanted);
    }
    fails(flatten(value(NESTED), Some(0)), &["flatten", "axis 0"]);
    fails(flatten(value(NESTED), Some(3)), &["flatten", "axis 3"]);
}

#[test]
fn unflatten_puts_a_level_in() {
    let six = || value("[1, 2, 3, 4, 5, 6]");
    check(unflatten(six(), value("[2, 0, 4]")), "[[1, 2], [], [3, 4, 5, 6]]");
    check(unflatten(six(), 3), "[[1, 2, 3], [4, 5, 6]]");
    check(unflatten(value(PAIRS), value("[1, 2]")), "[[[[1, 2]]], [[], [[3, 4], [5, 6]]]]");
    check(unflatten(six(), value("[2, None, 4]")), "[[1, 2], None, [3, 4, 5, 6]]");
    fails(unflatten(six(), value("[2, 3]")), &["unflatten", "5", "6"]);
    fails(unflatten(six(), value("[7, -1]")), &["unflatten", "-1"]);
    fails(unflatten(six(), 4), &["unflatten", "6", "4"]);
    fails(unflatten(six(), value("[3.0, 3.0]")), &["unflatten", "f64"]);
    let both = [six(), value("[2, 0, 4]")];
    check(traced(&both, |a| unflatten(a[0].clone(), a[1].clone())), "[[1, 2], [], [3, 4, 5, 6]]");
}

fn stacked(values: &[Value], axis: i64) -> Result<Value> {
    ops::stack(values.iter().map(Arg::from).collect::<Vec<_>>(), axis)
}

#[test]
fn stack_puts_values_side_by_side() {
    let (x, y) = (value("[[1, 2], [3], []]"), value("[[4], [5, 6], [7]]"));
    let table = [
        (0, "[[[1, 2], [3], []], [[4], [5, 6], [7]]]"),
        (1, "[[[1, 2], [4]], [[3], [5, 6]], [[], [7]]]"),
        (-3, "[[[1, 2], [3], []], [[4], [5, 6], [7]]]"),
    ];
    for (axis, wanted) in table {
        check(stacked(&[x.clone(), y.clone()], axis), wanted);
        check(traced(&[x.clone(), y.clone()], |a| stacked(a, axis)), wanted);
    }
    let same = value("[[4, 5], [6], []]");
    check(stacked(&[x.clone(), same], 2), "[[[1, 4], [2, 5]], [[3, 6]], []]");
    check(stacked(&[x.clone(), value("[[4, 5], [6, 7], [8, 9]]")], 0), "[[[1, 2], [3], []], [[4, 5], [6, 7], [8, 9]]]");
    fails(stacked(&[x.clone(), y.clone()], 2), &["stack", "row 0"]);
    fails(stacked(&[x.clone(), value("[1, 2]")], 0), &["stack", "rank"]);
    fails(stacked(&[x, y], 3), &["stack", "axis 3"]);
    fails(stacked(&[], 0), &["stack", "no tensor"]);
}

#[test]
fn axes_of_size_one_come_and_go() {
    let x = value("[[1, 2], [], [3]]");
    let table: [(&[i64], &str); 4] = [
        (&[0], "[[[1, 2], [], [3]]]"),
        (&[1], "[[[1, 2]], [[]], [[3]]]"),
        (&[-1], "[[[1], [2]], [], [[3]]]"),
        (&[0, 3], "[[[[1], [2]], [], [[3]]]]"),
    ];
    for (axes, wide) in table {
        let there = |x: &Value| ops::expand_dims_at(x, axes.to_vec());
        check(there(&x), wide);
        check(ops::squeeze(there(&x).expect("wide"), axes.to_vec()), "[[1, 2], [], [3]]");
        check(traced(std::slice::from_ref(&x), |a| there(&a[0])), wide);
    }
    check(ops::squeeze(ragged("[[1], [2]]"), vec![1]), "[1, 2]");
    check(traced(&[ragged("[[1], [2]]")], |a| ops::squeeze(&a[0], vec![1])), "[1, 2]");
    fails(ops::squeeze(&x, vec![1]), &["squeeze", "row 0", "2"]);
    fails(ops::squeeze(&x, vec![0]), &["squeeze", "3"]);
    fails(traced(&[x], |a| ops::squeeze(&a[0], vec![1])), &["row 0"]);
}

#[test]
fn uniform_inner_axes_change_places() {
    let x = value("[[[[1, 2, 3], [4, 5, 6]]], []]");
    check(ops::transpose(&x, Some(vec![0, 1, 3, 2])), "[[[[1, 4], [2, 5], [3, 6]]], []]");
    check(ops::transpose(value("[[1], []]"), Some(vec![0, 1])), "[[1], []]");
    fails(ops::transpose(&x, None), &["transpose", "axis 1 is ragged"]);
    fails(ops::transpose(&x, Some(vec![0, 2, 1, 3])), &["transpose", "axis 1 is ragged"]);
    fails(ops::transpose(&x, Some(vec![0, 1])), &["transpose", "rank 4"]);
}

#[test]
fn rows_of_vectors_are_multiplied_by_a_matrix() {
    let (x, weights) = (value("[[[1.0, 2.0]], [], [[3.0, 4.0], [5.0, 6.0]]]"), value("[[1.0], [10.0]]"));
    let wanted = "[[[21.0]], [], [[43.0], [65.0]]]";
    check(ops::matmul(&x, &weights, false), wanted);
    check(traced(&[x, weights.clone()], |a| ops::matmul(&a[0], &a[1], false)), wanted);
    fails(ops::matmul(value("[[1.0, 2.0], []]"), weights, false), &["matmul", "axis 1 is ragged"]);
    let x = value("[[[1.0, 2.0]], [], [[3.0, 4.0], [5.0, 6.0]]]");
    let each = value("[[[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]], [[2.0, 0.0], [0.0, 3.0]]]");
    let wanted = "[[[1.0, 2.0]], [], [[6.0, 12.0], [10.0, 18.0]]]";
    check(ops::matmul(&x, &each, false), wanted);
    check(traced(&[x, each], |a| ops::matmul(&a[0], &a[1], false)), wanted);
}

#[test]
fn values_are_broadcast_to_rows() {
    let rows = value("[[0, 0, 0], [], [0, 0]]");
    let table = [
        ("[[10], [20], [30]]", "[[10, 10, 10], [], [30, 30]]"),
        ("10", "[[10, 10, 10], [], [10, 10]]"),
        ("[10]", "[[10, 10, 10], [], [10, 10]]"),
        ("[[1, 2, 3], [], [4, 5]]", "[[1, 2, 3], [], [4, 5]]"),
    ];
    for (x, wanted) in table {
        check(ops::broadcast_like(value(x), &rows), wanted);
        check(traced(&[value(x), rows.clone()], |a| ops::broadcast_like(&a[0], &a[1])), wanted);
    }
    fails(ops::broadcast_like(value("[[10], [20]]"), &rows), &["broadcast_like"]);
    fails(ops::broadcast_like(value("[[[10]]]"), &rows), &["broadcast_like", "axes"]);
}

/// Broadcasting between ranks, in both directions, and with two ragged axes.
#[test]
fn ranks_are_padded_on_the_left() {
    let table = [
        (NESTED, "[10, 20, 30]", None),
        (NESTED, "[[[10]], [[20]], [[30]]]", Some("[[[11, 12], [13]], [], [[34], [], [35, 36]]]")),
        (NESTED, NESTED, Some("[[[2, 4], [6]], [], [[8], [], [10, 12]]]")),
        (NESTED, "10", Some("[[[11, 12], [13]], [], [[14], [], [15, 16]]]")),
        (NESTED, "[[[10], [20]], [], [[30], [40], [50]]]", Some("[[[11, 12], [23]], [], [[34], [], [55, 56]]]")),
        (PAIRS, "[10, 20]", Some("[[[11, 22]], [], [[13, 24], [15, 26]]]")),
        (PAIRS, "[[[10]], [[20]], [[30]]]", Some("[[[11, 12]], [], [[33, 34], [35, 36]]]")),
    ];
    for (x, y, wanted) in table {
        for (x, y) in [(value(x), value(y)), (value(y), value(x))] {
            let traced = traced(&[x.clone(), y.clone()], |a| ops::add(&a[0], &a[1]));
            match wanted {
                Some(wanted) => {
                    check(ops::add(&x, &y), wanted);
                    check(traced, wanted);
                }
                None => {
                    fails(ops::add(&x, &y), &["add"]);
                    fails(traced, &[]);
                }
            }
        }
    }
}

#[test]
fn shared_partitions_cost_one_node_at_every_depth() {
    let nested = [value(NESTED)];
    let (_, nodes) = traced_nodes(&nested, |a| ops::add(&a[0], ops::multiply(&a[0], 2)?)).expect("traced");
    assert_eq!(nodes, ["multiply", "add"]);
    let (_, nodes) = traced_nodes(&nested, |a| ops::add(&a[0], 1)).expect("traced");
    assert_eq!(nodes, ["add"]);
}

#[test]
fn results_stay_ragged_where_rows_happen_to_be_equal() {
    let x = ragged("[[1, 2], [3, 4]]");
    assert!(is_ragged(&ops::add(&x, value("[[1, 2], [3, 4]]")).expect("sum")));
    assert!(is_ragged(&ops::slice(&x, 1, 0, Some(vec![1]), 1).expect("rows")));
    let taken = ops::take(&x, Tensor::from_vec(vec![0_i64]), 0).expect("rows");
    assert!(is_ragged(&taken));
}
