//! What follows a product element by element is one step with it, which has the bits of single ops.

mod support;

use extenso_core::{Value, ops};
use extenso_types::{DType, Result};
use support::{body, check, function, nest, numbers};

/// Rows, inner size and columns: one row, some that come at once, more than come at a time, and enough for threads.
const SIZES: [[usize; 3]; 9] = [
    [0, 3, 4],
    [1, 40, 256],
    [1, 3, 1],
    [3, 0, 5],
    [7, 5, 100],
    [64, 33, 17],
    [200, 8, 30],
    [385, 20, 64],
    [900, 200, 65],
];

fn layer(x: &Value, w: &Value, b: &Value) -> Result<Value> {
    ops::relu(ops::add(ops::matmul(x, w, false)?, b)?)
}

#[test]
fn a_layer_is_one_step() {
    let f = body(|args| {
        let [x, w, b] = args else { panic!("three arguments") };
        layer(x, w, b).map(|h| vec![h])
    });
    for [m, k, n] in SIZES {
        for dtype in [DType::F32, DType::F64, DType::F16, DType::BF16] {
            let bias = [numbers(dtype, &[n]), numbers(dtype, &[1, n]), numbers(dtype, &[m, 1]), numbers(dtype, &[])];
            for b in bias {
                let args = [numbers(dtype, &[m, k]), numbers(dtype, &[k, n]), b];
                check(&f, &args, 1, &format!("{m} x {k} by {k} x {n} of {dtype}"));
            }
        }
    }
}

#[test]
fn batches_and_transposed_weights_are_replaced_too() {
    let f = body(|args| {
        let [x, w, b] = args else { panic!("three arguments") };
        let product = ops::matmul(x, w, true)?;
        // Two inputs of the same sizes, of which only one is made by the step.
        let sum = ops::add(&product, b)?;
        ops::multiply(sum, product).map(|h| vec![h])
    });
    for [m, k, n] in SIZES {
        for batch in [1, 3] {
            let (x, w) = (numbers(DType::F32, &[batch, m, k]), numbers(DType::F32, &[n, k]));
            check(
                &f,
                &[x, w, numbers(DType::F32, &[batch, m, n])],
                1,
                &format!("{batch} times {m} x {k} by {n} x {k}"),
            );
        }
    }
}

#[test]
fn several_layers_are_as_many_steps() {
    let f = body(|args| {
        let [x, w, b] = args else { panic!("three arguments") };
        let h = layer(&layer(x, w, b)?, w, b)?;
        Ok(vec![ops::expand_dims(ops::tanh(&h)?, 1)?, h])
    });
    for m in [1, 7, 500] {
        let args = [numbers(DType::F32, &[m, 24]), numbers(DType::F32, &[24, 24]), numbers(DType::F32, &[24])];
        // The last layer has two results, so that its product is a step of its own.
        check(&f, &args, 3, &format!("{m} rows"));
    }
}

#[test]
fn one_op_replaces_a_product_too() {
    let f = body(|args| {
        let [x, w, b] = args else { panic!("three arguments") };
        ops::add(ops::matmul(x, w, false)?, b).map(|h| vec![h])
    });
    for (m, n) in [(1, 1), (1, 40), (64, 64), (300, 1)] {
        let args = [numbers(DType::F32, &[m, 30]), numbers(DType::F32, &[30, n]), numbers(DType::F32, &[n])];
        check(&f, &args, 1, &format!("{m} rows of {n}"));
    }
}

#[test]
fn a_product_that_others_read_is_stored() {
    let f = body(|args| {
        let [x, w, b] = args else { panic!("three arguments") };
        let product = ops::matmul(x, w, false)?;
        Ok(vec![ops::relu(ops::add(&product, b)?)?, product])
    });
    let wider = body(|args| {
        let [x, w, b] = args else { panic!("three arguments") };
        // The sum has more rows than the product.
        ops::relu(ops::add(ops::matmul(x, w, false)?, b)?).map(|h| vec![h])
    });
    let args = |m: usize, rows: usize| {
        [numbers(DType::F32, &[m, 9]), numbers(DType::F32, &[9, 8]), numbers(DType::F32, &[rows, 8])]
    };
    check(&f, &args(5, 5), 2, "a product that is a result");
    check(&wider, &args(1, 600), 2, "a product that is spread");
}

#[test]
fn integers_are_replaced_and_a_fault_has_its_position() {
    let f = body(|args| {
        let [x, w, b] = args else { panic!("three arguments") };
        ops::floor_divide(ops::add(ops::matmul(x, w, false)?, 1)?, b).map(|h| vec![h])
    });
    for (m, n) in [(2, 3), (700, 40)] {
        let full = |dims: &[i64], value: i64| ops::full(dims, value, Some(DType::I64)).expect("numbers");
        let args = |b: Value| [full(&[m, 5], 2), full(&[5, n], 3), b];
        check(&f, &args(full(&[n], 7)), 1, &format!("{m} rows"));
        let zeros = ops::concat(vec![full(&[1], 7), full(&[n - 1], 0)], 0).expect("joined");
        let error = function(&f).call(nest(&args(zeros))).expect_err("a division by zero").to_string();
        assert!(error.contains("position [0, 1]") && !error.contains("matmul"), "{error}");
    }
}
