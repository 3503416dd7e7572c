//! Scopes: tracing, captures, effects, control flow, gradients.

use extenso_core::{Arg, Tensor, Value, Variable, ops};
use extenso_graph::{Function, cond, value_and_grad};
use extenso_types::{Nest, Result};
use std::sync::{Arc, Mutex};

fn leaf(t: Tensor) -> Nest<Value> {
    Nest::Leaf(t.into())
}

fn one(nest: &Nest<Value>) -> Value {
    match nest {
        Nest::Leaf(v) => v.clone(),
        Nest::Tuple(items) | Nest::List(items) => one(&items[0]),
        other => panic!("{other:?}"),
    }
}

fn args(values: &[Tensor]) -> Nest<Value> {
    Nest::Tuple(values.iter().map(|t| leaf(t.clone())).collect())
}

fn arg(nest: &Nest<Value>, i: usize) -> Value {
    nest.leaves()[i].1.clone()
}

fn f32s(v: &[f32]) -> Tensor {
    Tensor::from_vec(v.to_vec())
}

#[test]
fn a_traced_function_gives_the_bits_of_its_body() {
    let body = |a: Nest<Value>| -> Result<Nest<Value>> {
        let (x, y) = (arg(&a, 0), arg(&a, 1));
        let z = ops::exp(ops::multiply(ops::add(&x, &y)?, 0.5)?)?;
        Ok(Nest::Leaf(ops::sum(ops::where_(ops::greater(&z, 1.0)?, &z, 0)?, extenso_core::attrs::Axes::All, false)?))
    };
    let f = Function::new("f", body);
    let x: Vec<f32> = (0..5000_u16).map(|i| f32::from(i % 37) / 37.0 - 0.4).collect();
    let a = args(&[f32s(&x), f32s(&x)]);
    let (eager, traced) = (one(&body(a.clone()).expect("runs")), one(&f.call(a).expect("runs")));
    assert_eq!(eager.to_string(), traced.to_string());
    let concrete = &f.traces()[0];
    assert_eq!(concrete.program().len(), 1, "{:?}", concrete.program());
}

#[test]
fn a_call_that_differs_in_sizes_generalises() {
    let traces = Arc::new(Mutex::new(0));
    let count = traces.clone();
    let f = Function::new("f", move |a| {
        *count.lock().expect("count") += 1;
        Ok(Nest::Leaf(ops::add(arg(&a, 0), 1)?))
    });
    for n in [3, 4, 5, 6] {
        f.call(args(&[f32s(&vec![1.0; n])])).expect("runs");
    }
    assert_eq!((*traces.lock().expect("count"), f.traces().len()), (2, 1));
    f.call(args(&[Tensor::from_vec(vec![1_i32])])).expect("runs");
    let why = f.retraces().pop().expect("a retrace");
    assert_eq!(why.differences, [("[0]".to_string(), "f32[?]".to_string(), "i32[1]".to_string())]);
}

#[test]
fn a_branch_that_is_not_taken_does_nothing() {
    let v = Variable::new("v", f32s(&[0.0])).expect("a variable");
    let w = v.clone();
    let f = Function::new("f", move |a| {
        let (p, x, y) = (arg(&a, 0), arg(&a, 1), arg(&a, 2));
        let outer = ops::add(&x, 0)?;
        cond(
            &p,
            || Ok(Nest::Leaf(ops::floor_divide(&outer, &y)?)),
            || {
                ops::assign(f32s(&[7.0]), w.clone())?;
                Ok(Nest::Leaf(outer.clone()))
            },
        )
    });
    let call = |p: bool, y: i64| {
        let p = Tensor::bools(&[], &[p]).expect("a bool");
        f.call(args(&[p, Tensor::from_vec(vec![6_i64]), Tensor::from_vec(vec![y])])).map(|r| one(&r).to_string())
    };
    assert_eq!(call(true, 2).expect("runs"), "[3]");
    assert_eq!(v.value().expect("held").to_string(), "[0.0]");
    let error = call(true, 0).expect_err("divides by zero").to_string();
    assert!(error.contains("divided by zero at position [0]"), "{error}");
    assert_eq!(call(false, 0).expect("does not divide"), "[6]");
    assert_eq!(v.value().expect("held").to_string(), "[7.0]");
}

#[test]
fn effects_without_symbolic_arguments_run_at_each_call() {
    let v = Variable::new("steps", Tensor::scalar(0_i64)).expect("a variable");
    let w = v.clone();
    let f = Function::new("f", move |_| {
        let next = ops::add(ops::read_variable(w.clone())?, 1)?;
        Ok(Nest::Leaf(ops::assign(next, w.clone())?))
    });
    for _ in 0..3 {
        f.call(Nest::Tuple(vec![])).expect("runs");
    }
    assert_eq!(v.value().expect("held").to_string(), "3");
    f.traces()[0].graph().verify().expect("effects are a chain");
}

#[test]
fn a_constant_is_assigned_at_each_call_and_traced_once() {
    let v = Variable::new("v", Tensor::scalar(0_i64)).expect("a variable");
    let (w, traces) = (v.clone(), Arc::new(Mutex::new(0)));
    let count = traces.clone();
    let f = Function::new("f", move |_| {
        *count.lock().expect("count") += 1;
        ops::assign(Tensor::scalar(7_i64), w.clone())?;
        Ok(Nest::Tuple(vec![]))
    });
    f.concrete(&Nest::Tuple(vec![])).expect("traces");
    assert_eq!(v.value().expect("held").to_string(), "0", "a trace assigns nothing");
    for _ in 0..2 {
        v.set(Tensor::scalar(0_i64)).expect("fits");
        f.call(Nest::Tuple(vec![])).expect("runs");
        assert_eq!(v.value().expect("held").to_string(), "7");
    }
    assert_eq!((*traces.lock().expect("count"), f.traces().len()), (1, 1));
}

#[test]
fn a_symbol_of_a_closed_scope_is_named() {
    let kept = Arc::new(Mutex::new(None));
    let keep = kept.clone();
    let f = Function::new("leaky", move |a| {
        *keep.lock().expect("kept") = Some(arg(&a, 0));
        Ok(a)
    });
    f.call(args(&[f32s(&[1.0])])).expect("runs");
    let symbol = kept.lock().expect("kept").take().expect("a symbol");
    let error = ops::add(&symbol, 1).expect_err("closed").to_string();
    assert!(error.contains("'leaky'") && error.contains("after the function was traced"), "{error}");
    let g = Function::new("g", move |_| Ok(Nest::Leaf(ops::add(&symbol, 1)?)));
    let error = g.call(Nest::Tuple(vec![])).expect_err("closed").to_string();
    assert!(error.contains("'leaky'"), "{error}");
}

#[test]
fn a_symbol_has_no_data() {
    let f = Function::new("f", |a| {
        arg(&a, 0).tensor()?.to_bool()?;
        Ok(a)
    });
    let error = f.call(args(&[Tensor::bools(&[], &[true]).expect("a bool")])).expect_err("a symbol").to_string();
    assert!(error.contains("function 'f'") && error.contains("`cond`"), "{error}");
}

type Body = fn(&[Value]) -> Result<Value>;

#[test]
fn gradients_are_finite_differences() {
    let functions: [(&str, Body); 8] = [
        ("exp", |a| ops::exp(ops::multiply(&a[0], &a[1])?)),
        ("divide", |a| ops::divide(&a[0], &a[1])),
        ("tanh", |a| ops::tanh(ops::subtract(&a[0], ops::reciprocal(&a[1])?)?)),
        ("log sqrt abs", |a| ops::log(ops::sqrt(ops::abs(ops::add(&a[0], 3)?)?)?)),
        ("matmul", |a| ops::matmul(ops::reshape(&a[0], vec![2, 3])?, ops::reshape(&a[1], vec![2, 3])?, true)),
        ("max", |a| ops::max(ops::multiply(&a[0], &a[1])?, 0, false)),
        ("take", |a| ops::take(ops::multiply(&a[0], &a[1])?, Tensor::from_vec(vec![5_i64, 0, 5]), 0)),
        ("broadcast", |a| ops::multiply(ops::reshape(&a[0], vec![2, 3])?, ops::slice(&a[1], 0, 0, Some(vec![3]), 1)?)),
    ];
    let (x, y) = (vec![0.3, -0.8, 1.7, 0.9, -0.2, 0.6], vec![1.3, 0.7, -0.4, 0.9, 1.1, -1.2]);
    for (name, f) in functions {
        let loss = move |a: &[Value]| ops::sum(f(a)?, extenso_core::attrs::Axes::All, false);
        let grad = Function::new(name, move |a| {
            let body = |a: Nest<Value>| {
                let values: Vec<Value> = a.leaves().into_iter().map(|(_, v)| v.clone()).collect();
                Ok(Nest::Leaf(loss(&values)?))
            };
            Ok(value_and_grad(body, a)?.1)
        });
        let at = |x: &[f64], y: &[f64]| [Tensor::from_vec(x.to_vec()), Tensor::from_vec(y.to_vec())];
        let value = |x: &[f64], y: &[f64]| {
            let values: Vec<Value> = at(x, y).map(Value::Tensor).to_vec();
            loss(&values).expect("runs").tensor().expect("a tensor").as_slice::<f64>().expect("f64")[0]
        };
        let grads = grad.call(args(&at(&x, &y))).expect(name);
        for (which, (_, g)) in grads.leaves().into_iter().enumerate() {
            for (i, g) in g.tensor().expect("a tensor").as_slice::<f64>().expect("f64").iter().enumerate() {
                let step = |d: f64| {
                    let (mut x, mut y) = (x.clone(), y.clone());
                    if which == 0 {
                        x[i] += d
                    } else {
                        y[i] += d
                    }
                    value(&x, &y)
                };
                let numeric = (step(1e-6) - step(-1e-6)) / 2e-6;
                assert!(
                    (g - numeric).abs() < 1e-6 * numeric.abs().max(1.0),
                    "{name}: d{which}[{i}]: {g} and {numeric}"
                );
            }
        }
    }
}

#[test]
fn gradients_go_through_cond_and_again() {
    let cube = |a: Nest<Value>| -> Result<Nest<Value>> {
        let x = arg(&a, 0);
        cond(
            &ops::greater(&x, 0)?,
            || Ok(Nest::Leaf(ops::multiply(&x, ops::multiply(&x, &x)?)?)),
            || Ok(Nest::Leaf(ops::negative(&x)?)),
        )
    };
    let first = move |a: Nest<Value>| Ok(Nest::Leaf(arg(&value_and_grad(cube, a)?.1, 0)));
    let second = Function::new("second", move |a| Ok(value_and_grad(first, a)?.1));
    let first = Function::new("first", first);
    let at = |f: &Function, x: f64| one(&f.call(args(&[Tensor::scalar(x)])).expect("runs")).to_string();
    assert_eq!((at(&first, 2.0), at(&first, -2.0)), ("12.0".into(), "-1.0".into()));
    assert_eq!((at(&second, 2.0), at(&second, -2.0)), ("12.0".into(), "0.0".into()));
}

#[test]
fn weak_scalars_stay_weak_in_graphs() {
    let f = Function::new("f", |a| Ok(Nest::Leaf(ops::add(arg(&a, 0), Arg::from(3_i64))?)));
    let out = one(&f.call(args(&[Tensor::from_vec(vec![1_i8, 125])])).expect("runs"));
    assert_eq!(out.spec().expect("a spec").to_string(), "i8[2]");
    assert_eq!(out.to_string(), "[4, -128]");
}

#[test]
fn the_text_of_a_graph_shows_constants_attributes_and_branches() {
    let f = Function::new("f", |a| {
        let (p, x) = (arg(&a, 0), arg(&a, 1));
        let sum = ops::sum(ops::multiply(&x, 2.5)?, 1, true)?;
        cond(&p, || Ok(Nest::Leaf(ops::negative(&sum)?)), || Ok(Nest::Leaf(ops::add(&sum, 1.5)?)))
    });
    let x = Tensor::new(&[1, 2], &[1.0, 2.0]).expect("a matrix");
    f.call(args(&[Tensor::bools(&[], &[true]).expect("a bool"), x])).expect("runs");
    let text = f.traces()[0].graph().to_string();
    for line in ["constant 2.5: f64[]", ", axis=[1], keepdims=True): f64[1, 1]", "negative(%0)", "constant 1.5: f64[]"]
    {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}
