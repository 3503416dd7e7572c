//! Elementwise ops of one shape run as one step with several results, which have the bits of single ops.

mod support;

use extenso_core::attrs::Axes;
use extenso_core::{Tensor, Value, ops};
use extenso_graph::Function;
use extenso_types::{DType, Nest, Result};
use support::{body, check, numbers};

/// Few elements, a word of bits and one more, a block and one more, and enough to be split over threads.
const SIZES: [usize; 10] = [0, 1, 7, 64, 65, 512, 513, 1024, 1025, 600_000];

#[test]
fn results_that_share_what_they_read_are_one_step() {
    let f = body(|args| {
        let [x, y] = args else { panic!("two arguments") };
        let product = ops::multiply(x, y)?;
        let larger = ops::greater(&product, x)?;
        Ok(vec![ops::where_(&larger, &product, y)?, ops::add(&product, 1.0)?, larger, product, ops::subtract(y, x)?])
    });
    for n in SIZES {
        for dtype in [DType::F32, DType::F64, DType::F16] {
            check(&f, &[numbers(dtype, &[n]), numbers(dtype, &[n])], 1, &format!("{n} of {dtype}"));
        }
    }
}

#[test]
fn what_is_read_between_two_results_is_waited_for() {
    let f = body(|args| {
        let [x, y] = args else { panic!("two arguments") };
        let twice = ops::add(x, x)?;
        // Between the ops of one shape stands what needs the first of them.
        let turned = ops::cumulative_sum(&twice, 0, false)?;
        let further = ops::multiply(&turned, y)?;
        let again = ops::cumulative_sum(&further, 0, true)?;
        Ok(vec![ops::add(&twice, &again)?, further, ops::subtract(&twice, y)?])
    });
    for n in SIZES {
        check(&f, &[numbers(DType::F32, &[n]), numbers(DType::F32, &[n])], 5, &format!("{n} elements"));
    }
}

#[test]
fn stacked_features_are_a_step_and_a_concatenation() {
    let f = body(|args| {
        let [x, y] = args else { panic!("two arguments") };
        let features = [ops::add(x, y)?, ops::multiply(x, y)?, ops::greater(x, y)?, ops::subtract(x, y)?];
        let [sum, product, larger, difference] = &features;
        let chosen = ops::where_(larger, sum, product)?;
        let stacked = ops::stack(vec![sum.clone(), chosen, difference.clone()], 1)?;
        let wide = ops::expand_dims(x, -1)?;
        ops::concat(vec![stacked, wide.clone(), wide], 1).map(|all| vec![all, sum.clone()])
    });
    for n in SIZES.into_iter().filter(|n| *n < 100_000) {
        check(&f, &[numbers(DType::F32, &[n]), numbers(DType::F32, &[n])], 3, &format!("{n} rows"));
    }
}

#[test]
fn features_made_early_and_late_are_one_step() {
    let f = body(|args| {
        let [x, y] = args else { panic!("two arguments") };
        // One feature waits for what is no elementwise op; what only adds an axis to the others does not hold them back.
        let turned = ops::cumulative_sum(x, 0, false)?;
        let share = ops::divide(&turned, ops::add(x, 1.0)?)?;
        ops::stack(vec![ops::divide(x, 50.0)?, share, ops::subtract(y, x)?], 1).map(|all| vec![all])
    });
    for n in SIZES.into_iter().filter(|n| *n < 100_000) {
        check(&f, &[numbers(DType::F32, &[n]), numbers(DType::F32, &[n])], 3, &format!("{n} rows"));
    }
}

#[test]
fn elements_beside_each_other_have_any_width() {
    let f = body(|args| {
        let [x, y] = args else { panic!("two arguments") };
        ops::concat(vec![x.clone(), y.clone(), x.clone()], 1).map(|all| vec![all])
    });
    for dtype in [DType::I8, DType::F16, DType::F32, DType::F64] {
        for (rows, x, y) in [(3, 1, 1), (1000, 1, 3), (70_000, 2, 1), (2, 5000, 1), (5, 0, 2), (0, 1, 2)] {
            let args = [numbers(dtype, &[rows, x]), numbers(dtype, &[rows, y])];
            check(&f, &args, 1, &format!("{rows} rows of {x} and {y} {dtype}"));
            // What stands where is known without the op.
            let joined = ops::concat(vec![args[0].clone(), args[1].clone()], 1).expect("joined");
            let part = |from: i64, to: i64| ops::slice(&joined, 1, from, vec![to], 1).expect("columns");
            let (x, y) = (i64::try_from(x).expect("small"), i64::try_from(y).expect("small"));
            assert_eq!(part(0, x).to_string(), args[0].to_string());
            assert_eq!(part(x, x + y).to_string(), args[1].to_string());
        }
    }
}

#[test]
fn concatenations_of_concatenations_are_one() {
    let f = body(|args| {
        let [x, y] = args else { panic!("two arguments") };
        // Sizes that depend on the elements.
        let some = |x: &Value| ops::boolean_mask(x, ops::greater(x, 0)?, 0);
        let both = ops::concat(vec![some(x)?, y.clone()], 0)?;
        let alone = ops::concat(vec![both], -1)?;
        let all = ops::concat(vec![y.clone(), ops::concat(vec![some(y)?, x.clone()], -1)?], 0)?;
        Ok(vec![alone, all])
    });
    for n in [0, 1, 70] {
        check(&f, &[numbers(DType::F32, &[n]), numbers(DType::F32, &[n])], None, &format!("{n} elements"));
    }
}

/// A number below `n`, and the next state.
fn below(state: &mut u64, n: usize) -> usize {
    *state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
    usize::try_from((*state >> 33) % n as u64).expect("small")
}

/// Ops at random on values of two shapes, of which some are results.
fn random_body(seed: u64, args: &[Value]) -> Result<Vec<Value>> {
    let mut state = seed;
    let (mut flat, mut wide) = (vec![args[0].clone(), args[1].clone()], vec![args[2].clone()]);
    let mut results = Vec::new();
    for _ in 0..40 {
        let (a, b) = (flat[below(&mut state, flat.len())].clone(), flat[below(&mut state, flat.len())].clone());
        let (w, v) = (wide[below(&mut state, wide.len())].clone(), wide[below(&mut state, wide.len())].clone());
        match below(&mut state, 11) {
            0 => flat.push(ops::add(a, b)?),
            1 => flat.push(ops::multiply(a, b)?),
            2 => flat.push(ops::where_(ops::less(&a, &b)?, b, a)?),
            3 => flat.push(ops::flip(a, Axes::All)?),
            4 => flat.push(ops::sum(w, Axes::List(vec![1]), false)?),
            5 => wide.push(ops::multiply(w, ops::expand_dims(a, 1)?)?),
            6 => wide.push(ops::subtract(w, v)?),
            7 => wide.push(ops::stack(vec![a.clone(), b, a], 1)?),
            8 => flat.push(ops::subtract(ops::max(&a, Axes::All, true)?, b)?),
            9 => results.push(ops::expand_dims(a, 0)?),
            _ => results.push(w),
        }
    }
    results.extend([flat.pop(), wide.pop()].into_iter().flatten());
    Ok(results)
}

#[test]
fn chains_of_random_graphs_change_no_bit() {
    for seed in 0..150 {
        let f = body(move |args| random_body(seed, args));
        for n in [1, 5, 300, 2000] {
            let args = [numbers(DType::F32, &[n]), numbers(DType::F32, &[n]), numbers(DType::F32, &[n, 3])];
            check(&f, &args, None, &format!("seed {seed}, {n} rows"));
        }
    }
}

#[test]
fn a_fault_in_a_chain_has_its_place() {
    let x = Tensor::from_vec((0..3000_i64).collect());
    let f = Function::new("f", |args| {
        let leaves: Vec<Value> = args.leaves().into_iter().map(|(_, leaf)| leaf.clone()).collect();
        let less = ops::subtract(&leaves[0], 2500)?;
        let divided = ops::floor_divide(&leaves[0], &less)?;
        Ok(Nest::Tuple(vec![Nest::Leaf(less), Nest::Leaf(divided)]))
    });
    let error = f.call(Nest::Tuple(vec![Nest::Leaf(x.into())])).expect_err("a division by zero");
    assert!(error.to_string().contains("[2500]"), "{error}");
}
