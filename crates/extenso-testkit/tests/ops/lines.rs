//! Laws of ops on rows as a whole: on ragged values they are the op on each row alone; traced without sizes they give the bits
//! of the call; their gradients are finite differences.

use crate::support::{Draw, check_same, dtypes, nest, random};
use extenso_core::attrs::Axes;
use extenso_core::{ExtensionType, RowPartition, Tensor, Value, ops};
use extenso_ext::{MaskedTensor, RaggedTensor, fill_none, ragged_spec};
use extenso_graph::{Concrete, trace, value_and_grad};
use extenso_testkit::rng::Rng;
use extenso_types::{DType, Nest, Result, Shape, Spec};

/// A function of lines along an axis.
type OnLines = fn(&Value, i64) -> Result<Value>;

const SHAPED: [(&str, OnLines); 10] = [
    ("sort", |x, axis| ops::sort(x, axis, false)),
    ("sort descending", |x, axis| ops::sort(x, axis, true)),
    ("argsort", |x, axis| ops::argsort(x, axis, false)),
    ("cumulative_sum", |x, axis| ops::cumulative_sum(x, axis, false)),
    ("cumulative_sum reverse", |x, axis| ops::cumulative_sum(x, axis, true)),
    ("cumulative_prod", |x, axis| ops::cumulative_prod(x, axis, false)),
    ("shift_in", |x, axis| ops::shift_in(x, 1, axis, 2)),
    ("flip", |x, axis| ops::flip(x, Axes::List(vec![axis]))),
    ("softmax", |x, axis| ops::softmax(x, axis)),
    ("linear_scan", |x, axis| ops::linear_scan(x, x, axis, false)),
];

/// Random rows, with every length from none up.
fn lengths(rng: &mut Rng) -> Vec<usize> {
    (0..1 + rng.below(6)).map(|_| rng.below(4) * rng.below(30)).collect()
}

fn slice(value: &Value, start: usize, len: usize) -> Value {
    value.tensor().expect("a tensor").slice_rows(start, len).expect("in range").into()
}

/// Values of each dtype, with and without an axis in the rows, cut into random rows.
fn each_rows(f: impl Fn(&RaggedTensor, &[usize], DType, &str)) {
    for seed in 0..8 {
        let mut rng = Rng::new(seed);
        let lengths = lengths(&mut rng);
        let n: usize = lengths.iter().sum();
        for dtype in dtypes() {
            for dims in [vec![n], vec![n, 2], vec![n, 0]] {
                let values = random(dtype, &dims, Draw::Wide, &mut rng);
                let partition = RowPartition::from_lengths(lengths.iter().copied()).expect("proven");
                let rows = RaggedTensor::from_partition(values, partition).expect("fits");
                f(&rows, &lengths, dtype, &format!("{dtype}{dims:?} in rows of {lengths:?}"));
            }
        }
    }
}

#[test]
fn an_op_on_lines_of_rows_is_the_op_on_each_row() {
    each_rows(|rows, lengths, _, what| {
        for (name, f) in SHAPED {
            let one = slice(rows.values(), 0, 0);
            let Ok(whole) = f(&rows.clone().into_value(), 1) else {
                assert!(f(&one, 0).is_err(), "{name} of {what} takes each row alone");
                continue;
            };
            let whole = RaggedTensor::from_value(&whole).expect("rows");
            let mut start = 0;
            for (i, len) in lengths.iter().enumerate() {
                let alone = f(&slice(rows.values(), start, *len), 0).expect("the same dtype");
                check_same(&whole.row(i).expect("a row"), &alone, &format!("{name} of {what}, row {i}"));
                start += len;
            }
        }
    });
}

#[test]
fn positions_in_rows_are_those_in_each_row() {
    each_rows(|rows, lengths, _, what| {
        for (name, f) in [("argmax", ops::argmax as fn(Value, Axes, bool) -> Result<Value>), ("argmin", ops::argmin)] {
            let whole = f(rows.clone().into_value(), Axes::List(vec![1]), false).expect("every dtype");
            let whole = MaskedTensor::from_value(&whole).expect("positions that may be missing");
            let mut start = 0;
            for (i, len) in lengths.iter().enumerate() {
                let there = slice(&whole.mask().clone().into(), i, 1);
                assert_eq!(there.to_string().contains("True"), *len > 0 && !there.to_string().contains("[]"), "{what}");
                if *len > 0 {
                    let alone = f(slice(rows.values(), start, *len), Axes::List(vec![0]), true).expect("elements");
                    check_same(&slice(whole.values(), i, 1), &alone, &format!("{name} of {what}, row {i}"));
                }
                start += len;
            }
        }
    });
}

#[test]
fn the_largest_of_rows_are_the_first_of_their_order() {
    each_rows(|rows, _, _, what| {
        if extenso_ext::rank(rows.values()).expect("known") > 1 {
            return;
        }
        let x = rows.clone().into_value();
        let (values, indices) = ops::top_k(&x, 3).expect("as many as there are");
        let first = ops::slice(ops::sort(&x, 1, true).expect("sorts"), 1, 0, Some(vec![3]), 1).expect("a slice");
        check_same(&values, &first, what);
        check_same(&ops::take_along_axis(&x, indices, 1).expect("in range"), &first, what);
    });
}

#[test]
fn missing_elements_are_sorted_as_if_they_were_left_out() {
    each_rows(|rows, _, dtype, what| {
        if extenso_ext::rank(rows.values()).expect("known") > 1 || dtype == DType::Bytes {
            return;
        }
        let n = rows.values().tensor().expect("a tensor").data().expect("data").len();
        let mask = random(DType::Bool, &[n], Draw::Wide, &mut Rng::new(5));
        let masked = MaskedTensor::new(rows.values().clone(), mask.tensor().expect("bits").clone()).expect("fits");
        let masked = rows.with_values(masked.into_value()).expect("as many").into_value();
        let mask = rows.with_values(mask).expect("as many").into_value();
        let present = ops::boolean_mask(rows.clone().into_value(), &mask, 0).expect("picks");
        let sorted = ops::sort(&masked, 1, false).expect("sorts");
        let there = ops::logical_not(extenso_ext::is_none(&sorted, None).expect("known")).expect("bits");
        let fill = random(dtype, &[], Draw::Small, &mut Rng::new(1));
        let sorted = fill_none(&sorted, fill).expect("the same dtype");
        let kept = ops::boolean_mask(sorted, there, 0).expect("picks");
        check_same(&kept, &ops::sort(present, 1, false).expect("sorts"), what);
    });
}

/// A function of rows.
type OnRows = fn(&Value) -> Result<Value>;

const DIFFERENTIABLE: [(&str, OnRows); 17] = [
    ("cumulative_prod", |x| ops::cumulative_prod(x, 1, false)),
    ("cumulative_prod reverse", |x| ops::cumulative_prod(x, 1, true)),
    ("cumulative_prod of columns", |x| ops::cumulative_prod(x, 0, false)),
    ("cumulative_sum", |x| ops::cumulative_sum(x, 1, true)),
    ("sort", |x| ops::sort(x, 1, true)),
    ("top_k", |x| Ok(ops::top_k(x, 2)?.0)),
    ("shift_in", |x| ops::shift_in(x, 0.5, 1, -1)),
    ("linear_scan", |x| ops::linear_scan(x, ops::add(x, 1)?, 1, false)),
    ("linear_scan reverse", |x| ops::linear_scan(x, ops::multiply(x, 0.5)?, 1, true)),
    ("softmax", |x| ops::softmax(x, 1)),
    ("flip", |x| ops::flip(x, Axes::List(vec![1]))),
    ("pad", |x| ops::pad(x, 0.5, vec![0_i64, 0, 1, 1])),
    ("pairs in each row", |x| ops::multiply(ops::expand_dims(x, 1)?, ops::expand_dims(x, 2)?)),
    ("one value for all rows", |x| ops::multiply(x, ops::slice(x, 0, 3, None, 1)?)),
    ("one row beside a column", |x| ops::multiply(ops::sum(x, 1, true)?, ops::slice(x, 0, 0, Some(vec![1]), 1)?)),
    ("one row of a column", |x| ops::multiply(x, ops::slice(ops::sum(x, 1, true)?, 0, 3, None, 1)?)),
    ("one vector for each row", |x| ops::multiply(ops::expand_dims(ops::exp(x)?, 1)?, ops::expand_dims(x, 1)?)),
];

/// Rows with zeros, one and several in a row.
fn input(values: &[f64]) -> Value {
    let partition = RowPartition::from_lengths([3, 0, 4, 1]).expect("proven");
    RaggedTensor::from_partition(Tensor::from_vec(values.to_vec()), partition).expect("fits").into_value()
}

const VALUES: [f64; 8] = [0.5, 0.0, -1.5, 0.0, 2.0, -0.0, 3.0, 0.25];
/// The same without ties, where an order has a derivative.
const APART: [f64; 8] = [0.5, 0.1, -1.5, 0.3, 2.0, -0.4, 3.0, 0.25];

fn unknown() -> Nest<Spec> {
    let spec = ragged_spec(&Shape::partial([None, None]), DType::F64, 1, DType::I64).expect("a spec");
    Nest::Tuple(vec![Nest::Leaf(spec)])
}

fn traced(f: impl Fn(&Value) -> Result<Value>) -> Result<Concrete> {
    let traced = trace("lines", &unknown(), |args| Ok(Nest::Leaf(f(args.leaves()[0].1)?)))?;
    Concrete::new("lines", unknown(), traced.output, traced.graph)
}

fn run(f: &Concrete, x: &Value) -> Value {
    f.call(&nest(std::slice::from_ref(x))).expect("runs").leaves()[0].1.clone()
}

#[test]
fn an_op_on_rows_without_sizes_gives_what_it_gives_eagerly() {
    for (name, f) in DIFFERENTIABLE {
        let graph = traced(f).unwrap_or_else(|e| panic!("{name}: {e}"));
        for x in [input(&VALUES), input(&APART)] {
            check_same(&run(&graph, &x), &f(&x).expect(name), name);
        }
    }
    for (name, f) in SHAPED {
        let graph = traced(|x| f(x, 1)).unwrap_or_else(|e| panic!("{name}: {e}"));
        check_same(&run(&graph, &input(&VALUES)), &f(&input(&VALUES), 1).expect(name), name);
    }
}

/// The sum of squares and more of all elements, so that they have different gradients.
fn loss(f: OnRows, x: &Value) -> Result<Value> {
    let y = f(x)?;
    ops::sum(ops::multiply(&y, ops::add(&y, 3)?)?, Axes::All, false)
}

fn gradient(x: &Value, loss: &dyn Fn(&Value) -> Result<Value>) -> Result<Value> {
    let (_, grads) = value_and_grad(|x| Ok(Nest::Leaf(loss(x.leaves()[0].1)?)), Nest::Leaf(x.clone()))?;
    Ok(grads.leaves()[0].1.clone())
}

fn floats(x: &Value) -> Vec<f64> {
    let flat = RaggedTensor::from_value(x).map_or_else(|_| x.clone(), |rows| rows.values().clone());
    flat.tensor().expect("a tensor").as_slice::<f64>().expect("f64").to_vec()
}

fn check_differences(name: &str, data: &[f64; 8], got: &[f64], loss: &dyn Fn(&Value) -> f64) {
    for (i, got) in got.iter().enumerate() {
        let moved = |by: f64| {
            let mut data = *data;
            data[i] += by;
            loss(&input(&data))
        };
        let want = (moved(1e-6) - moved(-1e-6)) / 2e-6;
        assert!((got - want).abs() <= 1e-5 * want.abs().max(1.0), "{name}: d/dx[{i}] is {got}, differences {want}");
    }
}

#[test]
fn gradients_of_ops_on_rows_are_finite_differences() {
    for (name, f) in DIFFERENTIABLE {
        let data = if ["sort", "top_k"].contains(&name) { APART } else { VALUES };
        let graph = traced(|x| gradient(x, &|x| loss(f, x))).unwrap_or_else(|e| panic!("{name}: {e}"));
        let got = floats(&run(&graph, &input(&data)));
        check_differences(name, &data, &got, &|x| floats(&loss(f, x).expect(name))[0]);
    }
}

#[test]
fn gradients_of_running_folds_have_gradients() {
    for (name, f) in
        DIFFERENTIABLE.into_iter().filter(|(name, _)| name.starts_with("cumulative") || name.starts_with("linear"))
    {
        // The sum of the squares of the gradient.
        let steepness = move |x: &Value| {
            let g = gradient(x, &|x| loss(f, x))?;
            ops::sum(ops::multiply(&g, &g)?, Axes::All, false)
        };
        let graph = traced(|x| gradient(x, &steepness)).unwrap_or_else(|e| panic!("{name}: {e}"));
        let first = traced(steepness).unwrap_or_else(|e| panic!("{name}: {e}"));
        let got = floats(&run(&graph, &input(&VALUES)));
        check_differences(name, &VALUES, &got, &|x| floats(&run(&first, x))[0]);
    }
}
