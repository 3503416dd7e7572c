//! Composed functions of the Array API: traced without sizes they give what they give eagerly; distinct elements keep their laws.

use extenso_core::attrs::Axes;
use extenso_core::ops::Sections;
use extenso_core::{Tensor, Value, ops};
use extenso_graph::{Concrete, trace};
use extenso_testkit::eval::{Closeness, difference};
use extenso_testkit::rng::Rng;
use extenso_types::{DType, Dim, Nest, Result, Shape, Spec, TensorSpec};

type Composed = fn(&Value) -> Result<Value>;

const FUNCTIONS: [(&str, Composed); 29] = [
    ("full_like", |x| ops::full_like(x, 7, Some(DType::I8))),
    ("tril", |x| ops::tril(x, 0)),
    ("triu", |x| ops::triu(x, 1)),
    ("permute_dims", |x| ops::permute_dims(x, vec![1, 0])),
    ("matrix_transpose", |x| ops::matrix_transpose(x)),
    ("moveaxis", |x| ops::moveaxis(x, vec![-1], vec![0])),
    ("broadcast_arrays", |x| Ok(ops::broadcast_arrays(&[x.clone(), Tensor::scalar(2.5).into()])?.remove(1))),
    ("count_nonzero", |x| ops::count_nonzero(x, Axes::List(vec![1]), true)),
    ("var", |x| ops::var(x, Axes::List(vec![0]), 1.0, false)),
    ("std", |x| ops::std(x, Axes::All, 0.0, true)),
    ("diff", |x| ops::diff(x, -1, 1, Some(x.clone()), None)),
    ("diff of diff", |x| ops::diff(x, -1, 2, None, None)),
    ("diff of nothing", |x| ops::diff(x, 0, 3, None, None)),
    ("first part", |x| Ok(ops::split(x, vec![1, 2], -1)?.remove(0))),
    ("second part", |x| Ok(ops::split(x, vec![1, 2], 1)?.remove(1))),
    ("equal part", |x| Ok(ops::split(x, 3, 1)?.remove(2))),
    ("glu", |x| ops::glu(x, 0)),
    ("diagonal", |x| ops::diagonal(x, 1, 0, 1)),
    ("diagonal below", |x| ops::diagonal(x, -1, 1, 0)),
    ("diagonal outside", |x| ops::diagonal(x, 5, 0, 1)),
    ("trace", |x| ops::trace(x, 0, 0, 1)),
    ("random_shuffle", |x| ops::random_shuffle(7, x, -1)),
    ("median", |x| ops::median(x, Axes::List(vec![0]), true)),
    ("quantile", |x| ops::quantile(x, 0.3, Axes::All, true)),
    ("quantiles", |x| ops::quantile(x, vec![0.0, 0.9], Axes::List(vec![1]), true)),
    ("bincount", |x| {
        let places = ops::cast(ops::add(x, 2)?, DType::I64)?;
        ops::bincount(places, Some(x.clone()), 2)
    }),
    ("unique counts", |x| Ok(ops::unique_all(x)?.counts)),
    ("unique inverse", |x| Ok(ops::unique_inverse(x)?.1)),
    ("with_initial", |x| ops::with_initial(&ops::cumulative_sum(x, 1, false)?, 0, 1, false)),
];

fn check(got: &Value, want: &Value, what: &str) {
    let differs = difference(got, want, Closeness::Bits).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert!(differs.is_none(), "{what}: {}", differs.unwrap_or_default());
}

#[test]
fn a_composed_function_without_sizes_gives_what_it_gives_eagerly() {
    let input: Value = Tensor::new(&[2, 3], &[0.3, -1.2, 2.1, 0.3, 0.1, -0.4]).expect("six").into();
    let spec = TensorSpec::new(DType::F64, Shape::new([Dim::any(), Dim::any()]));
    let specs: Nest<Spec> = Nest::Tuple(vec![Nest::Leaf(spec.into())]);
    for (name, f) in FUNCTIONS {
        let traced = trace(name, &specs, |args| Ok(Nest::Leaf(f(args.leaves()[0].1)?)));
        let traced = traced.unwrap_or_else(|e| panic!("{name}: {e}"));
        let concrete = Concrete::new(name, specs.clone(), traced.output, traced.graph).expect("compiles");
        let results = concrete.call(&Nest::Tuple(vec![Nest::Leaf(input.clone())])).expect("runs");
        check(results.leaves()[0].1, &f(&input).expect(name), name);
    }
}

#[test]
fn parts_that_do_not_come_to_the_size_are_found_when_the_graph_runs() {
    let input: Value = Tensor::from_vec(vec![1.0, 2.0, 3.0]).into();
    let spec = TensorSpec::new(DType::F64, Shape::new([Dim::any()]));
    let specs: Nest<Spec> = Nest::Tuple(vec![Nest::Leaf(spec.into())]);
    for sections in [Sections::Sizes(vec![1, 1]), Sections::Sizes(vec![2, 2]), Sections::Equal(2)] {
        let part = |x: &Value| -> Result<Value> { Ok(ops::split(x, sections.clone(), 0)?.remove(0)) };
        let traced = trace("split", &specs, |args| Ok(Nest::Leaf(part(args.leaves()[0].1)?))).expect("traced");
        let concrete = Concrete::new("split", specs.clone(), traced.output, traced.graph).expect("compiles");
        let error = concrete.call(&Nest::Tuple(vec![Nest::Leaf(input.clone())])).expect_err("another size");
        assert!(error.to_string().contains('3'), "{sections:?}: {error}");
    }
    let negative = trace("split", &specs, |args| {
        let parts = ops::split(args.leaves()[0].1, vec![4, -1], 0)?;
        Ok(Nest::Tuple(parts.into_iter().map(Nest::Leaf).collect()))
    });
    assert!(negative.expect_err("a negative size").to_string().contains("[4, -1]"));
}

#[test]
fn distinct_elements_by_their_inverse_are_the_tensor() {
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let n = rng.below(40);
        let numbers: Vec<i64> = (0..2 * n).map(|_| i64::try_from(rng.below(9)).expect("small") - 4).collect();
        let x: Value = Tensor::new(&[n, 2], &numbers).expect("as many").into();
        for dtype in [DType::I8, DType::U64, DType::F16, DType::F64, DType::Bool] {
            let x = ops::cast(&x, dtype).expect("numbers");
            let unique = ops::unique_all(&x).expect("takes the dtype");
            check(&ops::take(&unique.values, &unique.inverse_indices, 0).expect("in range"), &x, "inverse");
            let flat = ops::reshape(&x, vec![-1_i64]).expect("flat");
            check(&ops::take(flat, &unique.indices, 0).expect("in range"), &unique.values, "indices");
            check(&ops::unique_values(&x).expect("takes the dtype"), &unique.values, "values");
            check(&ops::sort(&unique.values, -1, false).expect("sorts"), &unique.values, "order");
            let total = ops::sum(&unique.counts, Axes::All, false).expect("numbers").to_string();
            assert_eq!(total, (2 * n).to_string(), "counts of {dtype}");
        }
    }
}

#[test]
fn a_place_in_a_sorted_vector_keeps_it_sorted() {
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let mut draw = |n: usize| (0..n).map(|_| i64::try_from(rng.below(12)).expect("small")).collect::<Vec<_>>();
        let (mut sorted, values) = (draw(15), draw(9));
        sorted.sort_unstable();
        for (side, before) in [("left", false), ("right", true)] {
            let x = Tensor::from_vec(sorted.clone());
            let places = ops::searchsorted(x, Tensor::from_vec(values.clone()), side).expect("one dtype");
            let places = places.tensor().expect("a tensor").as_slice::<i64>().expect("i64").to_vec();
            let counted = |v: &i64| sorted.iter().filter(|s| *s < v || before && *s == v).map(|_| 1).sum::<i64>();
            assert_eq!(places, values.iter().map(counted).collect::<Vec<_>>(), "{side} of {values:?} in {sorted:?}");
        }
    }
}
