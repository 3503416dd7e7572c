//! The table of dtypes: an op takes a dtype, or says which it takes.

use crate::support::{Draw, examples_of, random, values_of, with_values};
use extenso_core::{Arg, OpDef, Tensor, Value, call};
use extenso_testkit::rng::Rng;
use extenso_types::{DType, LeafSpec};

/// The words by which an error names dtypes.
const WORDS: [&str; 6] = ["numbers", "floats", "integers", "booleans", "strings", "one dtype"];

#[test]
fn an_op_takes_a_dtype_or_says_which_it_takes() {
    let (mut taken, mut refused, mut silent) = (0, 0, Vec::new());
    for op in extenso_graph::tables().filter(|op| !op.examples.is_empty()) {
        let calls = examples_of(op);
        let Some(example) = calls.iter().find(|e| values_of(&e.call).iter().all(|v| v.ext().is_err())) else {
            panic!("{}: no example without ragged arguments", op.name)
        };
        let main = main_dtype(op, &values_of(&example.call));
        for dtype in DType::all() {
            // A weak scalar would take the dtype of the others or refuse it: one stands for it.
            let strong = example.call.args.iter().map(|arg| match arg {
                Arg::Scalar(_) => Arg::from(retyped(&Tensor::scalar(1.0).into(), Some(DType::F64), dtype)),
                other => other.clone(),
            });
            let strong = example.call.with_args(strong.collect());
            let values: Vec<Value> = values_of(&strong).iter().map(|v| retyped(v, main, dtype)).collect();
            let applied = with_values(&strong, &values);
            match call(op, &applied.args, &*applied.attrs) {
                Ok(outputs) => {
                    taken += 1;
                    let specs: Vec<LeafSpec> = outputs.iter().map(|v| v.leaf_spec().expect("leaves")).collect();
                    assert!(!specs.is_empty(), "{} of {dtype} gives nothing", op.name);
                }
                // The dtype is taken; ones are no splits.
                Err(e) if e.is_value() => taken += 1,
                Err(e) => {
                    refused += 1;
                    let text = e.to_string();
                    let wanted = text.split("Wanted: ").nth(1).unwrap_or_default();
                    let told = WORDS.iter().any(|word| wanted.contains(word));
                    if !e.is_dtype() || !told || !text.starts_with(op.name) {
                        silent.push(format!("{} of {dtype}: {text}", op.name));
                    }
                }
            }
        }
    }
    assert!(silent.is_empty(), "errors that do not name the op and what it takes:\n{}", silent.join("\n"));
    assert!(taken > 300 && refused > 100, "{taken} taken, {refused} refused");
}

/// The dtype that varies: that of the first argument that weak scalars follow.
fn main_dtype(op: &OpDef, values: &[Value]) -> Option<DType> {
    values.iter().skip(op.like).find_map(|v| Some(v.tensor().ok()?.dtype()))
}

/// A tensor of the main dtype in another; others as they are.
fn retyped(value: &Value, main: Option<DType>, dtype: DType) -> Value {
    let Value::Tensor(t) = value else { return value.clone() };
    if Some(t.dtype()) != main {
        return value.clone();
    }
    let dims = t.data().expect("data").dims();
    if dtype == DType::Variant {
        let boxes = vec![Value::from(Tensor::scalar(1.0)); dims.iter().product()];
        return Tensor::boxed(dims, boxes).expect("as many").into();
    }
    // Ones are indices, splits and divisors as well as numbers.
    let ones = random(dtype, dims, Draw::Small, &mut Rng::new(1));
    extenso_core::ops::ones_like(&ones).unwrap_or(ones)
}
