//! Laws of functions of lists: on ragged values they are the function on each row alone; traced without sizes they give the bits
//! of the call; their gradients are finite differences.

use crate::support::{Draw, check_same, dtypes, nest, random};
use extenso_core::attrs::Axes;
use extenso_core::{Arg, ExtensionType, RowPartition, Tensor, Value, ops};
use extenso_ext::{RaggedTensor, lists, ragged_spec, to_literal};
use extenso_graph::{Concrete, trace, value_and_grad};
use extenso_testkit::rng::Rng;
use extenso_types::{DType, Nest, Result, Shape, Spec};

/// A function of lists along an axis.
type OnLists = fn(&Value, i64) -> Result<Value>;

const FUNCTIONS: [(&str, OnLists); 22] = [
    ("head", |x, axis| lists::head(x, 2, axis)),
    ("tail", |x, axis| lists::tail(x, 3, axis)),
    ("pad_to", |x, axis| lists::pad_to(x, 4, None, axis, false)),
    ("pad_to crop", |x, axis| lists::pad_to(x, 4, None, axis, true)),
    ("run_lengths", lists::run_lengths),
    ("unique", lists::unique),
    ("unique counts", |x, axis| Ok(lists::unique_with_counts(x, axis)?.1)),
    ("unique inverse", |x, axis| Ok(lists::unique_with_inverse(x, axis)?.1)),
    ("isin", |x, axis| lists::isin(x, &lists::head(x, 2, axis)?, Some(axis))),
    ("union", |x, axis| lists::union(&lists::head(x, 2, axis)?, &lists::tail(x, 2, axis)?, axis)),
    ("intersection", |x, axis| lists::intersection(&lists::head(x, 3, axis)?, &lists::tail(x, 3, axis)?, axis)),
    ("difference", |x, axis| lists::difference(x, &lists::tail(x, 1, axis)?, axis)),
    ("windows", |x, axis| lists::windows(x, 2, 1, axis)),
    ("windows apart", |x, axis| lists::windows(x, 3, 2, axis)),
    ("combinations", |x, axis| lists::combinations(&lists::head(x, 5, axis)?, 3, false, axis)),
    ("combinations again", |x, axis| lists::combinations(&lists::head(x, 4, axis)?, 2, true, axis)),
    ("argcombinations", |x, axis| lists::argcombinations(&lists::head(x, 4, axis)?, 2, false, axis)),
    ("cartesian", |x, axis| {
        Ok(lists::cartesian(&[lists::head(x, 3, axis)?, lists::tail(x, 2, axis)?], axis)?.remove(1))
    }),
    ("roll", |x, axis| lists::roll(x, 2, &Axes::List(vec![axis]))),
    ("repeat", |x, axis| lists::repeat(x, 2, Some(axis))),
    ("diff", |x, axis| lists::diff(x, 2, axis)),
    ("top_k", |x, axis| Ok(lists::top_k(&lists::head(x, 3, axis)?, 0, axis)?.0)),
];

/// Random rows, with every length from none up.
fn lengths(rng: &mut Rng) -> Vec<usize> {
    (0..1 + rng.below(5)).map(|_| rng.below(3) * rng.below(6)).collect()
}

fn row(values: &Value, start: usize, len: usize) -> Value {
    values.tensor().expect("a tensor").slice_rows(start, len).expect("in range").into()
}

/// Values of each dtype, with and without an axis in the rows, cut into random rows.
fn each_rows(f: impl Fn(&RaggedTensor, &[usize], &str)) {
    for seed in 0..4 {
        let mut rng = Rng::new(seed);
        let lengths = lengths(&mut rng);
        let n: usize = lengths.iter().sum();
        for dtype in dtypes() {
            for dims in [vec![n], vec![n, 2]] {
                let values = random(dtype, &dims, Draw::Small, &mut rng);
                let partition = RowPartition::from_lengths(lengths.iter().copied()).expect("proven");
                let rows = RaggedTensor::from_partition(values, partition).expect("fits");
                f(&rows, &lengths, &format!("{dtype}{dims:?} in rows of {lengths:?}"));
            }
        }
    }
}

#[test]
fn a_function_of_lists_is_the_function_of_each_row() {
    each_rows(|rows, lengths, what| {
        for (name, f) in FUNCTIONS {
            let Ok(whole) = f(&rows.clone().into_value(), 1) else {
                assert!(f(&row(rows.values(), 0, 0), 0).is_err(), "{name} of {what} takes each row alone");
                continue;
            };
            let whole = RaggedTensor::from_value(&whole).expect("rows");
            let mut start = 0;
            for (i, len) in lengths.iter().enumerate() {
                let alone = f(&row(rows.values(), start, *len), 0).expect("the same dtype");
                check_same(&whole.row(i).expect("a row"), &alone, &format!("{name} of {what}, row {i}"));
                start += len;
            }
        }
    });
}

#[test]
fn an_element_of_each_list_is_the_element_of_each_row() {
    each_rows(|rows, lengths, what| {
        for index in [0_i64, 1, -1, -3] {
            let whole = lists::nth(&rows.clone().into_value(), index, 1, None).expect("every dtype");
            let mut start = 0;
            for (i, len) in lengths.iter().enumerate() {
                let alone = lists::nth(&row(rows.values(), start, *len), index, 0, None).expect("every dtype");
                let of_row = ops::take(&whole, i64::try_from(i).expect("small"), 0).expect("in range");
                let text = |value: &Value| to_literal(value).expect("literal").to_string();
                assert_eq!(text(&of_row), text(&alone), "{index} of {what}, row {i}");
                start += len;
            }
        }
    });
}

/// A function of rows.
type OnRows = fn(&Value) -> Result<Value>;

/// A number for each list of the input.
fn each(numbers: [i64; 4]) -> Tensor {
    Tensor::from_vec(numbers.to_vec())
}

/// Numbers of lists that are data, as their lengths are.
fn halves(x: &Value) -> Result<Value> {
    ops::floor_divide(RaggedTensor::from_value(x)?.row_lengths()?, 2)
}

const DIFFERENTIABLE: [(&str, OnRows); 24] = [
    ("median", |x| numbers(lists::median(x, &Axes::List(vec![1]), false)?)),
    ("quantile", |x| numbers(lists::quantile(x, 0.3, &Axes::List(vec![1]), true)?)),
    ("first", |x| lists::first(x, 1, Some(Arg::from(0.5)))),
    ("nth", |x| lists::nth(x, Tensor::from_vec(vec![2_i64, 0, -1, 5]), 1, Some(Arg::from(2.0)))),
    ("head", |x| lists::head(x, 2, 1)),
    ("tail", |x| lists::tail(x, 2, 1)),
    ("head of each", |x| lists::head(x, each([2, 1, 0, 5]), 1)),
    ("head of data", |x| lists::head(x, halves(x)?, 1)),
    ("tail of data", |x| lists::tail(x, halves(x)?, 1)),
    ("top_k of data", |x| Ok(lists::top_k(x, halves(x)?, 1)?.0)),
    ("roll of data", |x| lists::roll(x, halves(x)?, &Axes::List(vec![1]))),
    ("pad_to", |x| lists::pad_to(x, 2, Some(Arg::from(0.5)), 1, false)),
    ("pad_to of each", |x| lists::pad_to(x, each([5, 1, 2, 2]), Some(Arg::from(0.5)), 1, true)),
    ("windows", |x| lists::windows(x, 2, 1, 1)),
    ("combinations", |x| lists::combinations(x, 2, false, 1)),
    ("cartesian", |x| Ok(lists::cartesian(&[x.clone(), lists::head(x, 2, 1)?], 1)?.remove(1))),
    ("roll", |x| lists::roll(x, 1, &Axes::List(vec![1]))),
    ("repeat", |x| lists::repeat(x, 2, Some(1))),
    ("tile", |x| lists::tile(x, &[1, 2])),
    ("diff", |x| lists::diff(x, 1, 1)),
    ("cumulative_max", |x| ops::cumulative_max(x, 1, false)),
    ("cumulative_min reverse", |x| ops::cumulative_min(x, 1, true)),
    ("cumulative_max of columns", |x| ops::cumulative_max(x, 0, false)),
    ("sort of columns", |x| ops::sort(x, 0, true)),
];

/// Zero where there is no number: what an empty row has.
fn numbers(x: Value) -> Result<Value> {
    ops::where_(ops::isnan(&x)?, 0.0, x)
}

/// Functions that are not traced for their gradient.
const OTHERS: [(&str, OnRows); 9] = [
    ("first", |x| lists::first(x, 1, None)),
    ("run_lengths", |x| lists::run_lengths(x, 1)),
    ("unique", |x| lists::unique(x, 1)),
    ("unique of all", |x| lists::unique(&flat(x), 0)),
    ("isin", |x| lists::isin(x, &lists::head(x, 1, 1)?, Some(1))),
    ("searchsorted", |x| lists::searchsorted(&ops::sort(x, 1, false)?, x, true)),
    ("group_by", |x| Ok(lists::group_by(x, &ops::greater(x, 0.2)?, 1)?.1)),
    ("argsort of columns", |x| ops::argsort(x, 0, false)),
    ("softmax of columns", |x| lists::softmax(x, 0)),
];

const VALUES: [f64; 8] = [0.5, 0.1, -1.5, 0.3, 2.0, -0.4, 3.0, 0.25];

fn input(values: &[f64]) -> Value {
    let partition = RowPartition::from_lengths([3, 0, 4, 1]).expect("proven");
    RaggedTensor::from_partition(Tensor::from_vec(values.to_vec()), partition).expect("fits").into_value()
}

fn unknown() -> Nest<Spec> {
    let spec = ragged_spec(&Shape::partial([None, None]), DType::F64, 1, DType::I64).expect("a spec");
    Nest::Tuple(vec![Nest::Leaf(spec)])
}

fn traced(f: impl Fn(&Value) -> Result<Value>) -> Result<Concrete> {
    let traced = trace("lists", &unknown(), |args| Ok(Nest::Leaf(f(args.leaves()[0].1)?)))?;
    Concrete::new("lists", unknown(), traced.output, traced.graph)
}

fn run(f: &Concrete, x: &Value) -> Value {
    f.call(&nest(std::slice::from_ref(x))).expect("runs").leaves()[0].1.clone()
}

#[test]
fn a_function_of_lists_without_sizes_gives_what_it_gives_eagerly() {
    for (name, f) in DIFFERENTIABLE.into_iter().chain(OTHERS) {
        let graph = traced(f).unwrap_or_else(|e| panic!("{name}: {e}"));
        check_same(&run(&graph, &input(&VALUES)), &f(&input(&VALUES)).expect(name), name);
    }
}

fn loss(f: OnRows, x: &Value) -> Result<Value> {
    let y = f(x)?;
    ops::sum(ops::multiply(&y, ops::add(&y, 3)?)?, Axes::All, false)
}

/// All elements in one list.
fn flat(x: &Value) -> Value {
    if extenso_ext::rank(x).expect("known") == 0 {
        x.clone()
    } else {
        extenso_ext::ragged::flatten(x.clone(), None).expect("a list")
    }
}

fn floats(x: &Value) -> Vec<f64> {
    flat(x).tensor().expect("a tensor").as_slice::<f64>().expect("f64").to_vec()
}

#[test]
fn gradients_of_functions_of_lists_are_finite_differences() {
    for (name, f) in DIFFERENTIABLE {
        let graph = traced(|x| {
            let (_, grads) = value_and_grad(|x| Ok(Nest::Leaf(loss(f, x.leaves()[0].1)?)), Nest::Leaf(x.clone()))?;
            Ok(grads.leaves()[0].1.clone())
        });
        let got = floats(&run(&graph.unwrap_or_else(|e| panic!("{name}: {e}")), &input(&VALUES)));
        for (i, got) in got.iter().enumerate() {
            let moved = |by: f64| {
                let mut data = VALUES;
                data[i] += by;
                floats(&loss(f, &input(&data)).expect(name))[0]
            };
            let want = (moved(1e-6) - moved(-1e-6)) / 2e-6;
            assert!((got - want).abs() <= 1e-5 * want.abs().max(1.0), "{name}: d/dx[{i}] is {got}, differences {want}");
        }
    }
}
