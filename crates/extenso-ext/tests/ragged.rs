//! Ragged tensors: construction, broadcasting, rows.

mod support;

use extenso_core::{ExtensionType, Offsets, RowPartition, Tensor, Value, ops};
use extenso_ext::RaggedTensor;
use extenso_types::Result;
use support::{
    check, fails, is_ragged, ragged, traced, traced_nodes, traced_without_rows, traced_without_sizes, value,
};

fn splits(values: &str, splits: &[i64]) -> Result<Value> {
    RaggedTensor::from_row_splits(value(values), &Tensor::from_vec(splits.to_vec())).map(ExtensionType::into_value)
}

fn rows_of(x: &Value) -> RaggedTensor {
    RaggedTensor::from_value(x).expect("ragged")
}

/// Rows as they stand in a sliced Arrow list: values before and behind belong to no row.
fn sliced() -> Value {
    let partition = RowPartition::from_offsets(Offsets::I32(vec![1, 3, 3, 4].into()), 6).expect("proven");
    let values = Tensor::from_vec(vec![0_i64, 1, 2, 3, 0, 0]);
    RaggedTensor::from_partition(values, partition).expect("fits").into_value()
}

#[test]
fn constructors_agree() {
    let letters = r#"["a", "b", "c", "d", "e", "f", "g", "h"]"#;
    let wanted = r#"[["a", "b", "c", "d"], [], ["e", "f", "g"], ["h"], []]"#;
    check(splits(letters, &[0, 4, 4, 7, 8, 8]), wanted);
    let lengths = Tensor::from_vec(vec![4_i64, 0, 3, 1, 0]);
    check(RaggedTensor::from_row_lengths(value(letters), &lengths).map(ExtensionType::into_value), wanted);
    let ids = Tensor::from_vec(vec![0_i64, 0, 0, 0, 2, 2, 2, 3]);
    check(RaggedTensor::from_value_rowids(value(letters), &ids, Some(5)).map(ExtensionType::into_value), wanted);
    let x = rows_of(&value(wanted));
    assert_eq!(x.row_splits().expect("data").to_string(), "[0, 4, 4, 7, 8, 8]");
    check(ops::row_splits(value(wanted)), "[0, 4, 4, 7, 8, 8]");
    check(ops::row_lengths(value(wanted)), "[4, 0, 3, 1, 0]");
    check(ops::value_rowids(value(wanted)), "[0, 0, 0, 0, 2, 2, 2, 3]");
    assert_eq!((x.nrows().known(), x.ragged_rank(), x.rank().ok()), (Some(5), 1, Some(2)));
    check(x.row(2), r#"["e", "f", "g"]"#);
}

#[test]
fn ids_give_as_many_rows_as_are_asked_for() {
    let ids = Tensor::from_vec(vec![0_i64, 0, 2, 2, 2, 3, 4]);
    let x = RaggedTensor::from_value_rowids(value("[1, 2, 3, 4, 5, 6, 7]"), &ids, Some(7)).expect("rows");
    assert_eq!(x.row_splits().expect("data").to_string(), "[0, 2, 2, 5, 6, 7, 7, 7]");
    let of =
        |ids: Vec<i64>, nrows| RaggedTensor::from_value_rowids(value("[1, 2]"), &Tensor::from_vec(ids), Some(nrows));
    fails(of(vec![1, 0], 2), &["value_rowids", "decrease", "[1]"]);
    fails(of(vec![-1, 0], 2), &["value_rowids", "negative", "[0]"]);
    fails(of(vec![0, 2], 2), &["value_rowids", "2", "[1]"]);
    fails(of(vec![0], 2), &["1", "2"]);
    fails(of(vec![0, 0], usize::MAX), &["memory"]);
}

#[test]
fn rows_are_proven_before_anything_is_made_of_them() {
    for bad in [&[][..], &[2, 3, 4], &[0, 3, 2, 4], &[0, 9], &[-1, 2], &[0, i64::MAX]] {
        fails(splits("[1, 2, 3, 4]", bad), &["row_splits"]);
    }
    let floats = Tensor::from_vec(vec![0.0, 4.0]);
    fails(RaggedTensor::from_row_splits(value("[1, 2, 3, 4]"), &floats), &["row_splits", "f64"]);
    fails(splits("1", &[0, 1]), &["values", "rank"]);
    let short = RowPartition::from_lengths([1, 2]).expect("proven");
    fails(RaggedTensor::from_partition(value("[1, 2]"), short), &["2", "3"]);
    fails(RaggedTensor::from_row_lengths(value("[1]"), &Tensor::from_vec(vec![-1_i64, 2])), &["row_lengths", "-1"]);
}

#[test]
fn a_unary_op_is_the_op_on_each_row() {
    check(ops::negative(value("[[1, 2], [], [3]]")), "[[-1, -2], [], [-3]]");
    check(ops::upper(value(r#"[["a", "b"], [], ["c"]]"#)), r#"[["A", "B"], [], ["C"]]"#);
    check(ops::string_length(value(r#"[["a", "bc"], [], [""]]"#), "char".to_string()), "[[1, 2], [], [0]]");
    check(ops::exp(value("[[[0.0], []], []]")), "[[[1.0], []], []]");
}

/// The tables of the broadcasting rules: two operands and their sum.
const SUMS: [(&str, &str, &str); 28] = [
    ("[[1, 2, 3], [], [4, 5]]", "[[1, 1, 1], [], [2, 2]]", "[[2, 3, 4], [], [6, 7]]"),
    ("[[1, 2, 3], [], [4, 5]]", "[[10], [20], [30]]", "[[11, 12, 13], [], [34, 35]]"),
    ("[[1, 2], [], [3]]", "[10]", "[[11, 12], [], [13]]"),
    ("[[1, 2], [], [3]]", "[[10]]", "[[11, 12], [], [13]]"),
    ("[[1, 2], [], [3]]", "10", "[[11, 12], [], [13]]"),
    ("[[[1, 2], [3]], [[4]]]", "[[[10]], [[20]]]", "[[[11, 12], [13]], [[24]]]"),
    ("[[[1, 2], [3]], [[4]]]", "[[[10], [20]], [[30]]]", "[[[11, 12], [23]], [[34]]]"),
    ("[[[1, 2], [3, 4]], [], [[5, 6]]]", "[10, 20]", "[[[11, 22], [13, 24]], [], [[15, 26]]]"),
    ("[[[1], [2, 3]], [[4]]]", "[[[10]], [[20]]]", "[[[11], [12, 13]], [[24]]]"),
    ("[[], []]", "[[1.0], [2.0]]", "[[], []]"),
    ("[[[1, 2], [3]], [[4], [5]]]", "[[[10], [20]]]", "[[[11, 12], [23]], [[14], [25]]]"),
    ("[[[1, 2], [3]]]", "[[1, 2], [3]]", "[[[2, 4], [6]]]"),
    ("[[1], [2], [3]]", "[[1, 2, 3], [], [4, 5]]", "[[2, 3, 4], [], [7, 8]]"),
    ("[[[1, 2]], [[3]]]", "[[[1, 1], [2, 2]], [[4]]]", "[[[2, 3], [3, 4]], [[7]]]"),
    ("[[[1, 2]], [[3]]]", "[[[10], [20]], [[30]]]", "[[[11, 12], [21, 22]], [[33]]]"),
    ("[[[1, 2]], [[3]], [[]]]", "[[[1], [2]], [], [[4], [5]]]", "[[[2, 3], [3, 4]], [], [[], []]]"),
    ("[[1], [2]]", "[[10, 20], [30, 40]]", "[[11, 21], [32, 42]]"),
    ("[[1], [2]]", "[10, 20, 30]", "[[11, 21, 31], [12, 22, 32]]"),
    ("[[[1], [2]]]", "[[[1, 2], [3]], [[4], [5, 6]], [[], [7]]]", "[[[2, 3], [5]], [[5], [7, 8]], [[], [9]]]"),
    ("[[[1, 2], [3]]]", "[[[10]], [[20]]]", "[[[11, 12], [13]], [[21, 22], [23]]]"),
    ("[[1], [2, 3]]", "[[5]]", "[[6], [7, 8]]"),
    ("[[1, 2]]", "[[10], [20], [30]]", "[[11, 12], [21, 22], [31, 32]]"),
    ("[[1, 2]]", "[[10, 20], [30, 40]]", "[[11, 22], [31, 42]]"),
    ("[[1, 2], [3, 4]]", "[[10, 20]]", "[[11, 22], [13, 24]]"),
    ("[[5]]", "[[1, 2], [], [3]]", "[[6, 7], [], [8]]"),
    ("[[[1, 2], [3, 4]], [[5, 6]]]", "[[[10, 20]]]", "[[[11, 22], [13, 24]], [[15, 26]]]"),
    (
        "[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]",
        "[[[10, 20], [30, 40]], [[50, 60], [70, 80]]]",
        "[[[11, 22], [33, 44]], [[55, 66], [77, 88]]]",
    ),
    ("[[], []]", "[[1.0]]", "[[], []]"),
];

#[test]
fn ragged_add_is_row_by_row_add() {
    for (x, y, sum) in SUMS {
        check(ops::add(ragged(x), value(y)), sum);
        check(ops::add(value(y), ragged(x)), sum);
    }
}

#[test]
fn traced_add_is_eager_add() {
    for (x, y, sum) in SUMS {
        check(traced(&[ragged(x), value(y)], |args| ops::add(&args[0], &args[1])), sum);
        check(traced(&[ragged(x)], |args| ops::add(value(y), &args[0])), sum);
    }
}

/// The result on data, and while tracing, whichever sizes are known.
fn however_traced(args: &[Value], f: impl Fn(&[Value]) -> Result<Value>, wanted: &str) {
    check(f(args), wanted);
    check(traced(args, &f), wanted);
    check(traced_without_rows(args, &f), wanted);
    check(traced_without_sizes(args, &f), wanted);
}

#[test]
fn rows_broadcast_alike_whatever_sizes_are_known() {
    for (x, y, sum) in SUMS {
        for pair in [[ragged(x), value(y)], [value(y), ragged(x)], [ragged(x), ragged_if_rows(y)]] {
            however_traced(&pair, |args| ops::add(&args[0], &args[1]), sum);
        }
    }
    let choice = |args: &[Value]| ops::where_(&args[0], &args[1], &args[2]);
    however_traced(&[value("[[True]]"), ragged("[[1], [2, 3]]"), value("[[7]]")], choice, "[[1], [2, 3]]");
    however_traced(&[ragged("[[True, False]]"), value("[[1], [2]]"), value("[[7]]")], choice, "[[1, 7], [2, 7]]");
    let like = |args: &[Value]| ops::broadcast_like(&args[0], &args[1]);
    however_traced(&[value("[[7]]"), ragged("[[1], [2, 3]]")], like, "[[7], [7, 7]]");
    however_traced(&[ragged("[[7, 8]]"), ragged("[[1, 1], [2, 3]]")], like, "[[7, 8], [7, 8]]");
    however_traced(&[value("[[7], [8]]"), ragged("[[1], [2, 3]]")], like, "[[7], [8, 8]]");
    let masked = |args: &[Value]| ops::add(&args[0], &args[1]);
    however_traced(&[value("[[1, None], [2]]"), value("[[10]]")], masked, "[[11, None], [12]]");
    fails(traced_without_sizes(&[value("[[1, 2], [3]]"), value("[[1], [2], [3]]")], masked), &["2", "3"]);
    fails(traced_without_sizes(&[ragged("[[1, 2], [3]]"), ragged("[[1, 2]]")], masked), &["row 1", "1", "2"]);
}

#[test]
fn arrays_broadcast_to_the_same_rows() {
    for i in [0, 1, 2] {
        let one = |args: &[Value]| Ok(ops::broadcast_arrays(args)?.remove(i));
        let wanted = ["[[1, 2], [], [3]]", "[[10, 10], [], [30]]", "[[7, 7], [], [7]]"][i];
        however_traced(&[ragged("[[1, 2], [], [3]]"), value("[[10], [20], [30]]"), value("7")], one, wanted);
        let wanted = ["[[5, 5], [5]]", "[[1, None], [2]]", "[[7, 7], [7]]"][i];
        however_traced(&[value("[[5]]"), value("[[1, None], [2]]"), value("[7]")], one, wanted);
    }
    fails(ops::broadcast_arrays(&[ragged("[[1, 2], [3]]"), value("[[1], [2], [3]]")]), &["broadcast_arrays", "2", "3"]);
}

fn ragged_if_rows(text: &str) -> Value {
    if text.starts_with("[[") { ragged(text) } else { value(text) }
}

#[test]
fn uniform_axes_are_rows_whatever_sizes_are_known() {
    let x = value("[[[1, 2], [3, 4], [5, 6]]]");
    let rows = |args: &[Value]| RaggedTensor::from_dense(args[0].clone(), 2).map(ExtensionType::into_value);
    check(traced_without_sizes(std::slice::from_ref(&x), rows), "[[[1, 2], [3, 4], [5, 6]]]");
    let stacked = |args: &[Value]| ops::stack(args.to_vec(), 0);
    let both = [value("[[1, 2], [3]]"), value("[[4, 5], [6, 7]]")];
    check(traced_without_sizes(&both, stacked), "[[[1, 2], [3]], [[4, 5], [6, 7]]]");
    let masked = value("[[[1, None], [3, 4]]]");
    check(traced_without_sizes(&[masked], rows), "[[[1, None], [3, 4]]]");
}

#[test]
fn rows_of_one_value_broadcast_whatever_lies_around_them() {
    // As they stand in a sliced list.
    let partition = RowPartition::from_offsets(Offsets::I32(vec![1, 2, 3].into()), 4).expect("proven");
    let ones =
        RaggedTensor::from_partition(Tensor::from_vec(vec![9_i64, 1, 2, 9]), partition).expect("fits").into_value();
    let longer = ragged("[[10, 20, 30], []]");
    for (x, y) in [(&ones, &longer), (&longer, &ones)] {
        check(ops::add(x, y), "[[11, 21, 31], []]");
        check(traced(&[x.clone(), y.clone()], |args| ops::add(&args[0], &args[1])), "[[11, 21, 31], []]");
    }
    check(ops::broadcast_like(&ones, &longer), "[[1, 1, 1], []]");
    fails(ops::broadcast_like(&longer, ragged("[[1], [2]]")), &["broadcast_like", "row 0"]);
    fails(traced(&[longer.clone(), ragged("[[1], [2]]")], |args| ops::broadcast_like(&args[0], &args[1])), &["row 0"]);
    fails(ops::add(ragged("[[1, 2], []]"), longer), &["add", "row 0", "2", "3"]);
}

#[test]
fn one_vector_for_each_row_broadcasts_over_the_rows() {
    let users = value("[[1, 2], [3]]");
    let raters = value("[[[1, 1], [2, 2]], [[5]]]");
    let scores =
        |users: &Value, raters: &Value| ops::sum(ops::multiply(ops::expand_dims(users, 1)?, raters)?, -1, false);
    check(scores(&users, &raters), "[[3, 6], [15]]");
    check(traced(&[users, raters], |args| scores(&args[0], &args[1])), "[[3, 6], [15]]");
    let texts = ops::where_(value("[[[True], [False]]]"), value(r#"[[["a"]]]"#), ragged(r#"[[["x", "y"], ["z"]]]"#));
    check(texts, r#"[[["a", "a"], ["z"]]]"#);
    let masked = ops::add(ragged("[[1], [2]]"), value("[[1, None], [None, 4, 5]]"));
    check(masked, "[[2, None], [None, 6, 7]]");
    let masked = ops::add(value("[[None, 2], [3]]"), value("[[[10]], [[20]]]"));
    check(masked, "[[[None, 12], [13]], [[None, 22], [23]]]");
}

#[test]
fn ragged_of_one_row_is_repeated() {
    let sum = ops::add(ragged("[[1, 2, 3]]"), value("[[10], [20], [30]]")).expect("broadcasts");
    assert!(is_ragged(&sum));
    check(Ok(sum), "[[11, 12, 13], [21, 22, 23], [31, 32, 33]]");
}

#[test]
fn a_uniform_axis_needs_every_row_to_have_its_size() {
    check(ops::add(ragged("[[1, 2], [3, 4]]"), value("[10, 20]")), "[[11, 22], [13, 24]]");
    check(ops::add(ragged("[[1, 2], [3, 4]]"), value("[[10, 20], [30, 40]]")), "[[11, 22], [33, 44]]");
    fails(ops::add(value("[[1, 2], [3]]"), value("[10, 20]")), &["add", "row 1"]);
    fails(ops::add(value("[[1, 2], [3]]"), value("[[1], [2, 3]]")), &["add", "row 0", "2", "1"]);
    fails(ops::add(value("[[1, 2], [3]]"), value("[[1], [2], [3]]")), &["add", "2 rows", "3"]);
    fails(traced(&[value("[[1, 2], [3]]"), value("[[1], [2, 3]]")], |a| ops::add(&a[0], &a[1])), &["row 0"]);
    fails(traced(&[value("[[1, 2], [3]]"), value("[10, 20]")], |a| ops::add(&a[0], &a[1])), &["row 1"]);
}

#[test]
fn a_shared_partition_is_neither_compared_nor_recorded() {
    let x = value("[[1, 2], [], [3]]");
    let partition = rows_of(&x).partition().clone();
    let sum = ops::add(ops::multiply(&x, 2).expect("scalar"), &x).expect("one partition");
    assert!(rows_of(&sum).partition().same(&partition));
    let (_, nodes) = traced_nodes(&[x], |args| ops::add(ops::multiply(&args[0], 2)?, &args[0])).expect("traced");
    assert_eq!(nodes, ["multiply", "add"]);
    let column = |args: &[Value]| ops::add(&args[0], ops::sum(&args[0], 1, true)?);
    let (_, nodes) = traced_nodes(&[value("[[1, 2], [], [3]]")], column).expect("traced");
    assert_eq!(nodes, ["segment_sum", "expand_dims", "squeeze", "gather_rows_of", "add"]);
    let column = |args: &[Value]| ops::add(&args[0], &args[1]);
    let args = [value("[[1, 2], [], [3]]"), value("[[1], [2], [3]]")];
    let (_, nodes) = traced_nodes(&args, column).expect("traced");
    assert_eq!(nodes[nodes.len() - 2..], ["gather_rows_of", "add"], "where fusion finds it: {nodes:?}");
}

#[test]
fn rows_that_hold_every_value_by_how_they_were_made_stay_as_they_are() {
    let x = Tensor::strings(&[2], &["a b", ""]).expect("strings").into();
    let split =
        |args: &[Value]| Ok(rows_of(&extenso_ext::string_split(&args[0], Some(" "), -1)?).compact()?.into_value());
    let (_, nodes) = traced_nodes(&[x], split).expect("traced");
    assert_eq!(nodes, ["split_values", "split_partition"]);
    let (_, nodes) =
        traced_nodes(&[value("[[1, 2], [3]]")], |args| Ok(rows_of(&args[0]).compact()?.into_value())).expect("traced");
    assert_eq!(nodes, ["row_lengths", "partition_from_lengths", "align_rows"], "of an argument nothing is known");
}

#[test]
fn weak_scalars_stay_weak_in_rows() {
    let x = ops::cast(value("[[1, 2], []]"), extenso_types::DType::I8).expect("cast");
    let sum = ops::add(&x, 3).expect("fits");
    assert_eq!(rows_of(&sum).values().tensor().expect("dense").dtype(), extenso_types::DType::I8);
    fails(ops::add(&x, 300), &["add", "300", "i8"]);
}

#[test]
fn comparisons_and_choices_broadcast_alike() {
    check(ops::less(value("[[1, 5], [], [2]]"), 3), "[[True, False], [], [True]]");
    let condition = value("[[True, False], [], [True]]");
    check(ops::where_(&condition, value("[[1, 2], [], [3]]"), 0), "[[1, 0], [], [3]]");
    check(ops::where_(value("[[True], [False], [True]]"), value("[[1, 2], [], [3]]"), 0), "[[1, 2], [], [3]]");
}

#[test]
fn values_outside_every_row_are_never_seen() {
    let x = sliced();
    check(Ok(x.clone()), "[[1, 2], [], [3]]");
    check(ops::floor_divide(value("[[6, 6], [], [6]]"), &x), "[[6, 3], [], [2]]");
    check(ops::floor_divide(&x, value("[[1], [0], [3]]")), "[[1, 2], [], [1]]");
    check(ops::floor_divide(&x, &x), "[[1, 1], [], [1]]");
    check(ops::sum(&x, 0, false), "[4, 2]");
    check(ops::prod(&x, extenso_core::attrs::Axes::All, false), "6");
    check(ops::row_splits(&x), "[0, 2, 2, 3]");
    check(ops::take(&x, value("[2, 0]"), 0), "[[3], [1, 2]]");
    check(ops::concat(vec![x.clone(), x.clone()], 0), "[[1, 2], [], [3], [1, 2], [], [3]]");
    check(traced(std::slice::from_ref(&x), |a| ops::prod(&a[0], extenso_core::attrs::Axes::All, false)), "6");
    check(traced(std::slice::from_ref(&x), |a| ops::take(&a[0], value("[2, 0]"), 0)), "[[3], [1, 2]]");
}

#[test]
fn take_picks_rows() {
    let x = value("[[1, 2], [], [3]]");
    let nested = value("[[[1, 2], []], [], [[3]]]");
    check(ops::take(&x, value("[2, 0, -2]"), 0), "[[3], [1, 2], []]");
    assert!(is_ragged(&ops::take(&x, value("[0, 0]"), 0).expect("rows")));
    check(ops::take(&x, 2, 0), "[3]");
    check(ops::take(&nested, value("[2, 0]"), 0), "[[[3]], [[1, 2], []]]");
    check(ops::take(value("[10, 20, 30]"), value("[[2, 0], [], [1]]"), 0), "[[30, 10], [], [20]]");
    check(ops::take(&x, value("[[2], [0, 1]]"), 0), "[[[3]], [[1, 2], []]]");
    fails(ops::take(&x, value("[3]"), 0), &["take", "3"]);
    fails(ops::take(&x, value("[0.5]"), 0), &["take", "f64"]);
    fails(ops::take(&x, 0, 1), &["take", "axis 1", "ragged"]);
    check(traced(&[x, value("[2, 0, 2]")], |a| ops::take(&a[0], &a[1], 0)), "[[3], [1, 2], [3]]");
    check(traced(&[nested, value("[2, 0]")], |a| ops::take(&a[0], &a[1], 0)), "[[[3]], [[1, 2], []]]");
}

#[test]
fn slices_of_rows_are_pythons() {
    let x = value("[[1, 2], [3, 4, 5], [6], [], [7]]");
    let lists: Vec<Vec<i64>> = vec![vec![1, 2], vec![3, 4, 5], vec![6], vec![], vec![7]];
    for start in -7..7 {
        for stop in (-7..7).map(Some).chain([None]) {
            for step in [-3, -2, -1, 1, 2, 3] {
                let attrs = |axis: i64| ops::slice(&x, axis, start, stop.map(|stop| vec![stop]), step);
                let outer = pick(&lists, start, stop, step);
                check(attrs(0), &format!("{outer:?}"));
                let inner: Vec<Vec<i64>> = lists.iter().map(|row| pick(row, start, stop, step)).collect();
                check(attrs(1), &format!("{inner:?}"));
                let traced =
                    traced(std::slice::from_ref(&x), |a| ops::slice(&a[0], 1, start, stop.map(|s| vec![s]), step));
                check(traced, &format!("{inner:?}"));
            }
        }
    }
    fails(ops::slice(&x, 1, 0, None, 0), &["slice", "step"]);
    check(traced(&[x], |a| ops::slice(&a[0], 0, 1, Some(vec![3]), 1)), "[[3, 4, 5], [6]]");
}

/// Python's slice, place by place.
fn pick<T: Clone>(list: &[T], start: i64, stop: Option<i64>, step: i64) -> Vec<T> {
    let n = i64::try_from(list.len()).expect("short");
    let from_end = |i: i64| if i < 0 { i + n } else { i };
    let inside = |i: i64| usize::try_from(i).ok().filter(|i| *i < list.len());
    let mut at = if step > 0 { from_end(start).max(0) } else { from_end(start).min(n - 1) };
    let end = stop.map_or(if step > 0 { n } else { -1 }, |stop| from_end(stop).max(-1));
    let mut out = Vec::new();
    while (step > 0 && at < end) || (step < 0 && at > end) {
        let Some(i) = inside(at) else { break };
        out.push(list[i].clone());
        at += step;
    }
    out
}

#[test]
fn concat_joins_rows_or_fellows() {
    let (x, y) = (value("[[1, 2], [3], []]"), value("[[], [4, 5], []]"));
    check(ops::concat(vec![x.clone(), ragged("[[4, 5, 6]]")], 0), "[[1, 2], [3], [], [4, 5, 6]]");
    check(ops::concat(vec![x.clone(), value("[[4, 5]]")], 0), "[[1, 2], [3], [], [4, 5]]");
    check(ops::concat(vec![x.clone(), y.clone()], 1), "[[1, 2], [3, 4, 5], []]");
    check(ops::concat(vec![x.clone(), value("[[7], [8], [9]]")], -1), "[[1, 2, 7], [3, 8], [9]]");
    let pairs = value("[[[1, 2]], [], [[3, 4]]]");
    check(ops::concat(vec![pairs.clone(), pairs], 2), "[[[1, 2, 1, 2]], [], [[3, 4, 3, 4]]]");
    fails(ops::concat(vec![x.clone(), value("[[1], [2, 3]]")], 1), &["concat", "2", "3"]);
    fails(ops::concat(vec![x.clone(), value("[1, 2]")], 0), &["concat", "rank"]);
    fails(ops::concat(vec![x.clone(), value("[[1.0], []]")], 0), &["concat", "i64", "f64"]);
    let both = [x, y];
    check(traced(&both, |a| ops::concat(a.to_vec(), 0)), "[[1, 2], [3], [], [], [4, 5], []]");
    check(traced(&both, |a| ops::concat(a.to_vec(), 1)), "[[1, 2], [3, 4, 5], []]");
}

#[test]
fn new_axes_stand_outside_between_and_inside() {
    let x = value("[[1, 2], [], [3]]");
    check(ops::expand_dims(&x, 0), "[[[1, 2], [], [3]]]");
    check(ops::expand_dims(&x, 1), "[[[1, 2]], [[]], [[3]]]");
    check(ops::expand_dims(&x, 2), "[[[1], [2]], [], [[3]]]");
    fails(ops::expand_dims(&x, 3), &["expand_dims", "axis 3"]);
}
