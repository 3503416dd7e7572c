//! What is measured: calls of ops and functions over data that a seed makes.

#![allow(missing_docs, dead_code)] // A module of two programs, each of which uses some of it.

use extenso_core::{ExtensionType, RowPartition, Tensor, Value, attrs::Axes, ops};
use extenso_ext::RaggedTensor;
use extenso_graph::Function;
use extenso_testkit::rng::Rng;
use extenso_types::{Nest, Result};
use std::hint::black_box;

/// A call to be measured.
pub struct Work {
    pub name: &'static str,
    call: Box<dyn Fn() -> Result<()>>,
}

impl Work {
    fn new<T>(name: &'static str, call: impl Fn() -> Result<T> + 'static) -> Work {
        let call = move || {
            black_box(call()?);
            Ok(())
        };
        Work { name, call: Box::new(call) }
    }

    /// Calls it.
    pub fn run(&self) {
        (self.call)().expect("the data fit the ops");
    }
}

/// Makes data and what is done with them.
pub type Make = fn() -> Result<Work>;

/// Calls of few elements, whose cost is that of a call.
pub const FEW: [(&str, Make); 3] =
    [("add_8", add_of_eight), ("masked_add_8", masked_add_of_eight), ("layers_1", || layers("layers_1", 1))];

/// Calls of many elements.
pub const MANY: [(&str, Make); 7] = [
    ("layers_64", || layers("layers_64", 64)),
    ("layers_4096", || layers("layers_4096", 4096)),
    ("chain", chain),
    ("chain_sum", chain_sum),
    ("rows_sum_mean_max", rows_sum_mean_max),
    ("rows_dot", rows_dot),
    ("rows_concat", rows_concat),
];

fn floats(dims: &[usize], seed: u64) -> Result<Value> {
    Ok(Tensor::new(dims, &Rng::new(seed).f32s(dims.iter().product()))?.into())
}

fn add_of_eight() -> Result<Work> {
    let (x, y) = (floats(&[8], 1)?, floats(&[8], 2)?);
    Ok(Work::new("add_8", move || ops::add(&x, &y)))
}

fn masked_add_of_eight() -> Result<Work> {
    let bits = [true, false, true, true, true, false, true, true];
    let masked = |seed| mask(floats(&[8], seed)?, &bits);
    let (x, y) = (masked(1)?, masked(2)?);
    Ok(Work::new("masked_add_8", move || ops::add(&x, &y)))
}

fn mask(values: Value, bits: &[bool]) -> Result<Value> {
    Ok(extenso_ext::MaskedTensor::new(values, Tensor::bools(&[bits.len()], bits)?)?.into_value())
}

/// A traced function of one tensor, and a call of it.
fn traced(name: &'static str, x: Value, body: impl Fn(Value) -> Result<Value> + Send + Sync + 'static) -> Result<Work> {
    let function = Function::new(name, move |x| Ok(Nest::Leaf(body(x.leaves()[0].1.clone())?)));
    function.call(Nest::Leaf(x.clone()))?;
    Ok(Work::new(name, move || function.call(Nest::Leaf(x.clone()))))
}

/// Three dense layers of 256 units.
fn layers(name: &'static str, batch: usize) -> Result<Work> {
    const UNITS: usize = 256;
    let weights: Result<Vec<_>> =
        (0..3).map(|i| Ok((floats(&[UNITS, UNITS], i)?, floats(&[UNITS], 10 + i)?))).collect();
    let weights = weights?;
    traced(name, floats(&[batch, UNITS], 20)?, move |mut x| {
        for (i, (w, b)) in weights.iter().enumerate() {
            x = ops::add(ops::matmul(&x, w, false)?, b)?;
            x = if i < 2 { ops::relu(x)? } else { x };
        }
        Ok(x)
    })
}

fn chained(x: Value) -> Result<Value> {
    let zero = Tensor::scalar(0.0_f32);
    let logs = ops::where_(ops::greater(&x, &zero)?, ops::log1p(&x)?, &zero)?;
    ops::add(ops::multiply(logs, Tensor::scalar(0.5_f32))?, ops::sqrt(ops::abs(x)?)?)
}

fn chain() -> Result<Work> {
    traced("chain", floats(&[4_000_000], 3)?, chained)
}

fn chain_sum() -> Result<Work> {
    traced("chain_sum", floats(&[4_000_000], 3)?, |x| ops::sum(chained(x)?, Axes::All, false))
}

/// Some 100 000 rows of 0 to 50 elements.
fn rows(seed: u64) -> Result<(RowPartition, usize)> {
    let mut rng = Rng::new(seed);
    let lengths: Vec<usize> = (0..100_000).map(|_| rng.below(51)).collect();
    let n = lengths.iter().sum();
    Ok((RowPartition::from_lengths(lengths)?, n))
}

fn rows_sum_mean_max() -> Result<Work> {
    let (rows, n) = rows(4)?;
    let x = RaggedTensor::from_partition(floats(&[n], 5)?, rows)?.into_value();
    let last = || Axes::List(vec![-1]);
    traced("rows_sum_mean_max", x, move |x| {
        let sum_and_mean = ops::add(ops::sum(&x, last(), false)?, ops::mean(&x, last(), false)?)?;
        ops::add(sum_and_mean, ops::max(x, last(), false)?)
    })
}

/// One vector of each row times each of its vectors.
fn rows_dot() -> Result<Work> {
    const WIDTH: usize = 16;
    let (rows, n) = rows(6)?;
    let own = floats(&[100_000, 1, WIDTH], 7)?;
    let x = RaggedTensor::from_partition(floats(&[n, WIDTH], 8)?, rows)?.into_value();
    traced("rows_dot", x, move |x| ops::sum(ops::multiply(&own, x)?, Axes::List(vec![-1]), false))
}

fn rows_concat() -> Result<Work> {
    let (rows, n) = rows(9)?;
    let x = RaggedTensor::from_partition(floats(&[n, 16], 10)?, rows)?.into_value();
    Ok(Work::new("rows_concat", move || ops::concat(vec![x.clone(), x.clone()], 0)))
}
