//! The pool of result buffers as ops use it.
//!
//! The pool belongs to the process, so these tests have a file of their own and take turns.

use extenso_core::kernels::pool::{held, limit, reused, set_limit, trim};
use extenso_core::{Tensor, Value, ops};
use std::sync::{Mutex, MutexGuard};

const ELEMENTS: usize = 1 << 20;
const BYTES: usize = ELEMENTS * size_of::<f32>();

/// An empty pool, for one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    set_limit(1 << 30);
    trim();
    assert_eq!(held(), 0);
    turn
}

fn operands() -> (Tensor, Tensor) {
    (Tensor::from_vec(vec![1.5_f32; ELEMENTS]), Tensor::from_vec(vec![0.25_f32; ELEMENTS]))
}

fn address(value: &Value) -> usize {
    value.tensor().expect("a tensor").data().expect("data").addresses()[0]
}

#[test]
fn a_dropped_result_is_where_the_next_one_is_written() {
    let _turn = alone();
    let (x, y) = operands();
    let (first, before) = (ops::add(&x, &y).expect("numbers"), reused());
    let place = address(&first);
    drop(first);
    assert_eq!(held(), BYTES);
    let second = ops::add(&x, &y).expect("numbers");
    assert_eq!((address(&second), held(), reused()), (place, 0, before + 1));
    let sums = second.tensor().expect("a tensor").as_slice::<f32>().expect("f32");
    assert!(sums.iter().all(|sum| *sum == 1.75));
}

#[test]
fn a_result_that_somebody_holds_is_not_written_over() {
    let _turn = alone();
    let (x, y) = operands();
    let first = ops::add(&x, &y).expect("numbers");
    let row = first.tensor().expect("a tensor").slice_rows(ELEMENTS - 1, 1).expect("in range");
    let place = address(&first);
    drop(first);
    assert_eq!(held(), 0);
    let second = ops::subtract(&x, &y).expect("numbers");
    assert_ne!(address(&second), place);
    assert_eq!(row.to_string(), "[1.75]");
    drop(row);
    assert_eq!(held(), BYTES);
}

#[test]
fn a_pool_of_no_bytes_keeps_nothing() {
    let _turn = alone();
    let (x, y) = operands();
    drop(ops::add(&x, &y).expect("numbers"));
    assert_eq!(held(), BYTES);
    set_limit(0);
    assert_eq!((limit(), held()), (0, 0), "what was held goes back at once");
    let before = reused();
    drop([0; 2].map(|_| ops::add(&x, &y).expect("numbers")));
    assert_eq!((held(), reused()), (0, before));
}

#[test]
fn a_limit_keeps_as_many_blocks_as_fit() {
    let _turn = alone();
    let (x, y) = operands();
    set_limit(2 * BYTES);
    let three = [0; 3].map(|_| ops::add(&x, &y).expect("numbers"));
    drop(three);
    assert_eq!(held(), 2 * BYTES);
    set_limit(2 * BYTES);
    assert_eq!(held(), 2 * BYTES, "a limit that holds drops nothing");
}

#[test]
fn trim_gives_everything_back() {
    let _turn = alone();
    let (x, y) = operands();
    drop([0; 3].map(|_| ops::add(&x, &y).expect("numbers")));
    assert_eq!(held(), 3 * BYTES);
    trim();
    assert_eq!(held(), 0);
    let before = reused();
    let again = ops::add(&x, &y).expect("numbers");
    assert_eq!((held(), reused()), (0, before), "the block is a new one");
    drop(again);
    assert_eq!(held(), BYTES, "the pool works on");
}
