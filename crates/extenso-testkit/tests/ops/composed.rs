//! Composed functions: traced without sizes they give what they give eagerly, and their gradients are finite differences.

use crate::support::check_same;
use crate::traces::{check_gradient, run, traced};
use extenso_core::attrs::Axes;
use extenso_core::{Tensor, Value, ops};
use extenso_ext::{lists, scatter};
use extenso_types::{DType, Dim, Nest, Result, Shape, Spec, TensorSpec};

type Composed = fn(&Value) -> Result<Value>;

/// The functions that need no size while they are traced.
const FUNCTIONS: [(&str, Composed); 31] = [
    ("clip", |x| ops::clip(x, -0.5, 1.5)),
    ("stack", |x| ops::stack(vec![x.clone(), ops::exp(x)?], 1)),
    ("flip", |x| ops::flip(x, Axes::All)),
    ("roll", |x| ops::roll(x, vec![2, -1], [0, 1])),
    ("roll all", |x| ops::roll(x, vec![4], Axes::All)),
    ("tile", |x| ops::tile(x, vec![2, 3])),
    ("repeat", |x| ops::repeat(x, 2, Some(1))),
    ("repeat all", |x| ops::repeat(x, 3, None)),
    ("top_k", |x| Ok(ops::top_k(x, 2)?.0)),
    ("boolean_mask", |x| ops::boolean_mask(x, ops::greater(x, 0.0)?, 0)),
    ("softmax", |x| ops::softmax(x, -1)),
    ("log_softmax", |x| ops::log_softmax(x, 0)),
    ("logsumexp", |x| ops::logsumexp(x, 1, false)),
    ("prod", |x| ops::prod(x, Axes::All, false)),
    ("isclose", |x| ops::cast(ops::isclose(x, 0.1, 0.5, 0.0, false)?, DType::F64)),
    ("nan_to_num", |x| ops::nan_to_num(ops::log(x)?, 0.5, None, None)),
    ("sequence_mask", |x| ops::cast(ops::sequence_mask(ops::cast(x, DType::I64)?, None)?, DType::F64)),
    ("unpad_rows", |x| ops::unpad_rows(x, rows([2, 1])?, false)),
    ("unpad_rows cropped", |x| ops::unpad_rows(x, rows([0, 5])?, true)),
    ("pad", |x| ops::pad(x, 0.5, vec![1_i64, 2, 0, 1])),
    ("covar", |x| lists::covar(x, &ops::exp(x)?, &Axes::List(vec![1]), 1.0, false)),
    ("corr", |x| lists::corr(x, &ops::exp(x)?, &Axes::List(vec![1]), true)),
    ("moment", |x| lists::moment(x, 2, &Axes::List(vec![0]), false)),
    ("unsorted_segment_sum", |x| scatter::unsorted_segment_sum(x, &vector([2, 0]), 3)),
    ("unsorted_segment_prod", |x| scatter::unsorted_segment_prod(x, &vector([1, 1]), 2)),
    ("unsorted_segment_mean", |x| scatter::unsorted_segment_mean(x, &vector([1, 1]), 2).and_then(numbers)),
    ("scatter_nd_add", |x| scatter::scatter_nd_add(x, &places(), &ops::multiply(x, x)?)),
    ("scatter_nd_update", |x| scatter::scatter_nd_update(x, &places(), &ops::multiply(x, x)?)),
    ("interp", |x| extenso_ext::interp(x, &table([-1.0, 0.25, 2.0]), &table([0.5, -1.0, 3.0]), None, None)),
    ("select", |x| {
        extenso_ext::select(
            &[ops::less(x, 0.0)?, ops::less(x, 0.7)?],
            &[ops::exp(x)?.into(), x.into()],
            Some(2.0.into()),
        )
    }),
    ("unique rows", |x| lists::unique(&ops::reshape(x, vec![-1_i64, 3])?, 0)),
];

fn rows(lengths: [i64; 2]) -> Result<Value> {
    ops::partition_from_lengths(Tensor::from_vec(lengths.to_vec()))
}

fn vector(numbers: [i64; 2]) -> Value {
    Tensor::from_vec(numbers.to_vec()).into()
}

fn table(numbers: [f64; 3]) -> Value {
    Tensor::from_vec(numbers.to_vec()).into()
}

/// Two positions along the outer axis, which are one.
fn places() -> Value {
    Tensor::new(&[2, 1], &[1_i64, -1]).expect("two").into()
}

/// Zero where there is no number.
fn numbers(x: Value) -> Result<Value> {
    ops::where_(ops::isnan(&x)?, 0.0, x)
}

fn input() -> Value {
    Tensor::new(&[2, 3], &[0.3, -1.2, 2.1, 0.9, 0.1, -0.4]).expect("six").into()
}

fn unknown(rank_too: bool) -> Nest<Spec> {
    let dims = [Dim::any(), Dim::any()];
    let shape = if rank_too { Shape::unknown() } else { Shape::new(dims) };
    Nest::Tuple(vec![Nest::Leaf(TensorSpec::new(DType::F64, shape).into())])
}

#[test]
fn a_composed_function_without_sizes_gives_what_it_gives_eagerly() {
    for (name, f) in FUNCTIONS {
        let eager = f(&input()).expect(name);
        let graph = traced(&unknown(false), f).unwrap_or_else(|e| panic!("{name}: {e}"));
        check_same(&run(&graph, &input()), &eager, name);
    }
    for (name, f) in
        FUNCTIONS.into_iter().filter(|(name, _)| ["clip", "softmax", "prod", "top_k", "repeat all"].contains(name))
    {
        let graph = traced(&unknown(true), f).unwrap_or_else(|e| panic!("{name} without a rank: {e}"));
        check_same(&run(&graph, &input()), &f(&input()).expect(name), name);
    }
}

#[test]
fn gradients_of_composed_functions_are_finite_differences() {
    for (name, f) in FUNCTIONS {
        check_gradient(name, f, &unknown(false), [2, 3], &input());
    }
}

#[test]
fn parts_come_together_again() {
    let x = input();
    for axis in [0, 1, -1] {
        check_same(&ops::stack(ops::unstack(&x, axis).expect("parts"), axis).expect("stacks"), &x, "unstack");
    }
    check_same(&ops::concat(ops::split(&x, 3, 1).expect("parts"), 1).expect("joins"), &x, "split");
    check_same(
        &ops::concat(ops::split(&x, vec![1, 0, 2], -1).expect("parts"), 1).expect("joins"),
        &x,
        "split by sizes",
    );
    let (values, indices) = ops::top_k(&x, 2).expect("fits");
    check_same(&ops::take_along_axis(&x, indices, -1).expect("fits"), &values, "top_k");
    let at = ops::nonzero(ops::greater(&x, 0).expect("numbers")).expect("a matrix");
    assert_eq!(at.len(), 2);
    assert_eq!((at[0].to_string(), at[1].to_string()), ("[0, 0, 1, 1]".into(), "[0, 2, 0, 1]".into()));
}

#[test]
fn sections_that_do_not_fit_are_errors() {
    let x = input();
    for (sections, wanted) in [
        (ops::Sections::Equal(2), "2 parts"),
        (ops::Sections::Equal(0), "0 parts"),
        (ops::Sections::Equal(-3), "-3 parts"),
        (ops::Sections::Equal(1 << 60), "parts"),
        (ops::Sections::Sizes(vec![1, 1]), "[1, 1]"),
        (ops::Sections::Sizes(vec![4, -1]), "[4, -1]"),
        (ops::Sections::Sizes(vec![i64::MAX, i64::MAX]), "3 elements"),
    ] {
        let error = ops::split(&x, sections, 1).expect_err("does not fit").to_string();
        assert!(error.starts_with("split: ") && error.contains(wanted), "{error}");
    }
    let none: Value = Tensor::new::<f64>(&[0], &[]).expect("empty").into();
    assert!(ops::split(&none, 1 << 60, 0).expect_err("too many").to_string().contains("memory"));
    for k in [-1, 4, i64::MAX] {
        assert!(ops::top_k(&x, k).expect_err("does not fit").to_string().starts_with("top_k: "), "{k}");
    }
}
