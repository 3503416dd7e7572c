//! What a call of a loaded program takes from the heap: after the first calls what its results are made of, and nothing else.

#![allow(unsafe_code)] // An allocator that counts is one.

use extenso_core::attrs::Axes;
use extenso_core::{Tensor, Value, ops};
use extenso_graph::{Concrete, Function, save};
use extenso_types::{Nest, Result};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

/// The allocator of the system, which counts for each thread what it is asked for and what it gets back.
struct Counting;

thread_local! {
    static TAKEN: Cell<usize> = const { Cell::new(0) };
    static GIVEN_BACK: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: memory is taken from the system and given back to it alone, by the layouts of the caller.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        TAKEN.with(|taken| taken.set(taken.get() + 1));
        // SAFETY: what the caller owes is what the system asks.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        GIVEN_BACK.with(|given| given.set(given.get() + 1));
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static HEAP: Counting = Counting;

/// How often `f` takes memory, and how often it gives some back before it returns, once it has run before.
fn counted<T>(f: impl Fn() -> T) -> (usize, usize) {
    for _ in 0..8 {
        drop(f());
    }
    let before = (TAKEN.get(), GIVEN_BACK.get());
    let result = f();
    let after = (TAKEN.get(), GIVEN_BACK.get());
    drop(result);
    (after.0 - before.0, after.1 - before.1)
}

type Body = fn(&[Value]) -> Result<Value>;

/// A function as a file has it.
fn loaded(body: Body, args: &[Value]) -> Arc<Concrete> {
    let f = Function::new("f", move |args| {
        let leaves: Vec<Value> = args.leaves().into_iter().map(|(_, leaf)| leaf.clone()).collect();
        body(&leaves).map(Nest::Leaf)
    });
    let specs = args.iter().map(|arg| Nest::Leaf(arg.spec().expect("a spec"))).collect();
    let concrete = f.concrete(&Nest::Tuple(specs)).expect("traced");
    let file = save::to_bytes(&[concrete]).expect("saved");
    save::from_bytes(file).expect("loaded").function("f").expect("the function").clone()
}

fn record() -> Vec<Value> {
    vec![
        Tensor::from_vec(vec![1.0, 2.0, 3.0]).into(),
        Tensor::from_vec(vec![2_i64, 0, 1]).into(),
        Tensor::new(&[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).expect("a matrix").into(),
        Tensor::strings(&[2], &["A", "b"]).expect("texts").into(),
    ]
}

/// What a tensor of a few numbers is made of: they stand beside what it says of them.
const TENSOR: usize = 1;
/// The list of the results.
const LIST: usize = 1;

#[test]
fn a_program_of_one_step_takes_what_its_result_is_made_of() {
    let cases: [(&str, Body); 6] = [
        ("add", |x| ops::add(&x[0], 1.0)),
        ("three at once", |x| ops::sqrt(ops::multiply(ops::add(&x[0], 1.0)?, &x[0])?)),
        ("sum", |x| ops::sum(&x[0], Axes::All, false)),
        ("take", |x| ops::take(&x[0], &x[1], 0)),
        ("matmul", |x| ops::matmul(&x[0], &x[2], false)),
        ("lower", |x| ops::lower(&x[3])),
    ];
    let args = record();
    let mut faults = Vec::new();
    for (name, body) in cases {
        let f = loaded(body, &args);
        let (taken, given_back) = counted(|| f.program().run(&args).expect("runs"));
        // The bytes of texts and their offsets stand in buffers, which have owners.
        let most = if name == "lower" { TENSOR + 4 } else { TENSOR };
        if given_back > 0 || taken > most + LIST {
            faults.push(format!("{name}: {taken} times taken, {given_back} times given back"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn values_between_steps_take_nothing() {
    let args = record();
    let body: Body = |x| {
        let y = ops::take(ops::add(&x[0], 1.0)?, &x[1], 0)?;
        let y = ops::take(ops::multiply(y, 2.0)?, &x[1], 0)?;
        ops::matmul(y, &x[2], false)
    };
    let f = loaded(body, &args);
    assert!(f.program().len() > 2);
    assert_eq!(counted(|| f.program().run(&args).expect("runs")), (TENSOR + LIST, 0));
}

#[test]
fn values_between_steps_take_nothing_where_they_are_more_than_a_few_numbers() {
    let weights = Tensor::new(&[200, 200], &vec![0.5; 40_000]).expect("a matrix");
    let args = [Tensor::new(&[1, 200], &[1.0; 200]).expect("a row").into(), weights.into()];
    let body: Body = |x| {
        let layer = |h: Value| ops::relu(ops::add(ops::matmul(h, &x[1], false)?, 1.0)?);
        ops::sum(layer(layer(layer(x[0].clone())?)?)?, Axes::All, false)
    };
    let f = loaded(body, &args);
    assert!(f.program().len() > 3);
    assert_eq!(counted(|| f.program().run(&args).expect("runs")), (TENSOR + LIST, 0));
}
