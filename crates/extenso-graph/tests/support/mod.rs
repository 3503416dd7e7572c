//! What tests of programs share: a body op by op beside its program.

use extenso_core::kernels::isa::{supported, with_isa};
use extenso_core::{Storage, Tensor, Value, ops, with_threads};
use extenso_graph::Function;
use extenso_types::{DType, Nest, Result};
use std::sync::Arc;

/// Numbers of many magnitudes, so that another order of additions gives other bits.
pub fn numbers(dtype: DType, dims: &[usize]) -> Value {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        f64::from(i16::from_le_bytes([state.to_le_bytes()[0], state.to_le_bytes()[1]])) / f64::from(1 << (state % 13))
    };
    let all: Vec<f64> = (0..dims.iter().product()).map(|_| next()).collect();
    ops::cast(Tensor::new(dims, &all).expect("as many"), dtype).expect("numbers")
}

fn bytes(value: &Value) -> Vec<u8> {
    match value.tensor().expect("a tensor").data().expect("data").storage() {
        Storage::Fixed(buffer) => buffer.to_vec(),
        Storage::Bits(bits) => bits.iter().map(u8::from).collect(),
        Storage::Text { .. } | Storage::Boxed(_) => panic!("not numbers or booleans"),
    }
}

/// Arguments to results.
pub type Body = Arc<dyn Fn(&[Value]) -> Result<Vec<Value>> + Send + Sync>;

/// The results of a body op by op are those of its program, of so many steps, on any number of threads and any instruction set.
pub fn check(body: &Body, args: &[Value], steps: impl Into<Option<usize>>, what: &str) {
    let wanted: Vec<Vec<u8>> = body(args).expect("runs").iter().map(bytes).collect();
    let (f, nest) = (function(body), nest(args));
    for &isa in supported() {
        for threads in [1, 2, 3] {
            let got = with_threads(threads, || with_isa(isa, || f.call(nest.clone()))).expect("runs");
            let got: Vec<Vec<u8>> = got.leaves().into_iter().map(|(_, leaf)| bytes(leaf)).collect();
            assert!(got == wanted, "{what}, {threads} threads, {isa}");
        }
    }
    let traces = f.traces();
    // What is random has as many steps as it has.
    let steps = steps.into().unwrap_or(traces[0].program().len());
    assert_eq!(traces[0].program().len(), steps, "{what}: {:?}", traces[0].program());
}

/// A body that is traced.
pub fn function(body: &Body) -> Function {
    let body = body.clone();
    Function::new("f", move |args| {
        let leaves: Vec<Value> = args.leaves().into_iter().map(|(_, leaf)| leaf.clone()).collect();
        Ok(Nest::Tuple(body(&leaves)?.into_iter().map(Nest::Leaf).collect()))
    })
}

/// Arguments of a traced body.
pub fn nest(args: &[Value]) -> Nest<Value> {
    Nest::Tuple(args.iter().cloned().map(Nest::Leaf).collect())
}

/// A function as a body.
pub fn body(f: impl Fn(&[Value]) -> Result<Vec<Value>> + Send + Sync + 'static) -> Body {
    Arc::new(f)
}
