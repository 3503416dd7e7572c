//! The table of dtypes: an op takes a dtype and means in it what it means in others, or says which it takes.

use crate::support::{Draw, examples_of, random, takes, values_of, with_values};
use extenso_core::{Arg, Class, OpDef, Tensor, Value, call, ops};
use extenso_testkit::eval::Application;
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
    ops::ones_like(&ones).unwrap_or(ones)
}

#[test]
fn an_op_on_small_numbers_means_the_same_in_every_dtype() {
    let mut compared = 0;
    for op in extenso_graph::tables().filter(|op| !op.examples.is_empty()) {
        if matches!(op.class, Class::Structural | Class::Segment | Class::Linear | Class::Effect) {
            continue;
        }
        for call in examples_of(op).into_iter().map(|e| e.call) {
            for (kind, widest) in [(DType::is_integer as fn(DType) -> bool, DType::I64), (DType::is_float, DType::F64)]
            {
                let Some((wanted, _)) = numbers(&call, widest) else { continue };
                for dtype in DType::all().filter(|d| kind(*d)) {
                    let Some((got, out)) = numbers(&call, dtype) else { continue };
                    // Beyond this, the dtype wraps or is infinite, as it should.
                    let most = if out == dtype { largest(dtype) } else { 1e15 };
                    let pairs = got.iter().zip(&wanted).filter(|(_, want)| (0.0..=most).contains(*want));
                    for (got, want) in pairs {
                        let near = (got - want).abs() <= 8.0 * unit(out) * want.abs().max(1.0);
                        assert!(near, "{} of {dtype}: {got}, of {widest}: {want}", op.name);
                        compared += 1;
                    }
                }
            }
        }
    }
    assert!(compared > 5000, "only {compared} numbers were compared");
}

/// The result on small numbers from 1, as f64, and its dtype; none if the op does not take the dtype.
fn numbers(call: &Application, dtype: DType) -> Option<(Vec<f64>, DType)> {
    let mut rng = Rng::new(17);
    let mut argument = |i: usize| {
        let small = random(DType::I64, &[2, 35], Draw::Small, &mut rng);
        let small = ops::where_(ops::equal(&small, 0).expect("numbers"), 1, small).expect("numbers");
        let of = if i < call.op.like { DType::Bool } else { dtype };
        let odd =
            ops::subtract(&small, ops::multiply(ops::floor_divide(&small, 2).expect("numbers"), 2).expect("numbers"));
        ops::cast(if of == DType::Bool { odd.expect("numbers") } else { small }, of).expect("numbers")
    };
    let args: Vec<Value> = (0..call.op.params.len()).map(&mut argument).collect();
    let call = call.with_args(args.iter().map(Arg::from).collect());
    let result = takes(&call).then(|| call.call_one().expect("takes the dtype"))?;
    let wide = ops::cast(&result, DType::F64).ok()?;
    let wide = wide.tensor().expect("a tensor").as_slice::<f64>().expect("f64").to_vec();
    Some((wide, result.tensor().expect("a tensor").dtype()))
}

/// The largest number up to which results are compared.
fn largest(dtype: DType) -> f64 {
    match dtype {
        DType::I8 => 127.0,
        DType::U8 => 255.0,
        DType::I16 | DType::U16 => 32767.0,
        DType::F16 => 65504.0,
        _ => 1e9,
    }
}

/// The relative distance of two neighbours; 0 for integers.
fn unit(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => f64::powi(2.0, -10),
        DType::BF16 => f64::powi(2.0, -7),
        DType::F32 => f64::powi(2.0, -23),
        DType::F64 => f64::EPSILON,
        _ => 0.0,
    }
}
