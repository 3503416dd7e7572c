//! Elementwise ops on a few elements: no specs, no registers on the heap, no expression.
//!
//! Invariant: the same block functions run as everywhere, so the bits are the same. What does not fit here, wrong
//! arguments included, is left to the general way.

use super::access::is_whole;
use super::{BLOCK, Lookup, at_position};
use crate::attrs::AttrSet;
use crate::kernels::bits::{load_bits, store_bits};
use crate::kernels::cast::fill;
use crate::kernels::map::BlockKernel;
use crate::kernels::pool::Block;
use crate::tensor::{Dense, Storage, Tensor};
use crate::value::{Outputs, Value};
use arrow_buffer::BooleanBuffer;
use extenso_types::{DType, Result};
use smallvec::smallvec;

/// Elements up to which scalars are spread and booleans unpacked on the stack.
const FEW: usize = 64;

/// Inputs that an elementwise op has at most.
const MOST: usize = 3;

/// How an input is read.
#[derive(Clone, Copy)]
enum Input<'a> {
    /// As it stands.
    Bytes(&'a [u8]),
    /// From one word of bits.
    Bits([u64; 1]),
    /// One element for all: the element and its width.
    Spread(&'a [u8], usize),
}

/// The result, if the inputs are of one shape but for scalars and axes of size 1 in front, and few.
///
/// Errors: a fault of the kernel, with its position.
pub fn run(lookup: Lookup, inputs: &[&Dense], attrs: &dyn AttrSet) -> Result<Option<Outputs>> {
    let Some(shaped) = inputs.iter().rev().max_by_key(|input| input.dims().len()) else { return Ok(None) };
    let (dims, n) = (shaped.dims(), shaped.len());
    if n > BLOCK || inputs.len() > MOST {
        return Ok(None);
    }
    let (mut dtypes, mut read) = ([DType::Bool; MOST], [Input::Bytes(&[]); MOST]);
    for (i, input) in inputs.iter().enumerate() {
        let Some(found) = input_of(input, dims, n) else { return Ok(None) };
        (dtypes[i], read[i]) = (input.dtype(), found);
    }
    let Some(kernel) = lookup(&dtypes[..inputs.len()], attrs) else { return Ok(None) };
    let Some(storage) = compute(kernel, &read[..inputs.len()], n, dims)? else { return Ok(None) };
    Ok(Some(smallvec![Value::Tensor(Tensor::from_dense(kernel.out, dims.into(), storage))]))
}

fn compute(kernel: BlockKernel, read: &[Input<'_>], n: usize, dims: &[usize]) -> Result<Option<Storage>> {
    // Only those that are needed are written, which counts here.
    let mut spread: [Option<[u64; FEW]>; 2] = [None, None];
    let scalars = read.iter().filter_map(|input| match input {
        Input::Spread(one, width) => Some((*one, *width)),
        Input::Bytes(_) | Input::Bits(_) => None,
    });
    for (i, (one, width)) in scalars.enumerate() {
        let Some(area) = spread.get_mut(i) else { return Ok(None) };
        spread_over(one, width, &mut bytemuck::cast_slice_mut(area.insert([0; FEW]))[..n * width]);
    }
    let mut areas = spread.iter().flatten();
    let mut slices: [&[u8]; MOST] = [&[]; MOST];
    for (slice, input) in slices.iter_mut().zip(read) {
        *slice = match input {
            Input::Bytes(bytes) => bytes,
            Input::Bits(word) => &bytemuck::cast_slice(word)[..n.div_ceil(64) * 8],
            Input::Spread(_, width) => areas.next().map_or(&[][..], |area| &bytemuck::cast_slice(area)[..n * width]),
        };
    }
    let slices = &slices[..read.len()];
    let done = match kernel.out.width() {
        Some(width) => {
            let mut out = Block::new(n * width);
            (kernel.run)(slices, out.bytes_mut(), n).map(|()| Storage::Fixed(out.elements()))
        }
        None if n <= FEW => {
            let mut word = [0_u64];
            let bytes = bytemuck::cast_slice_mut::<u64, u8>(&mut word);
            (kernel.run)(slices, &mut bytes[..n.div_ceil(64) * 8], n).map(|()| Storage::Bits(packed(&word, n)))
        }
        None => return Ok(None),
    };
    done.map(Some).map_err(|fault| at_position(fault, 0, dims))
}

fn input_of<'a>(input: &'a Dense, dims: &[usize], n: usize) -> Option<Input<'a>> {
    let alike = is_whole(input.dims(), dims);
    match input.storage() {
        Storage::Fixed(buffer) if alike => Some(Input::Bytes(buffer.as_slice())),
        Storage::Fixed(buffer) if input.dims().is_empty() && n <= FEW => {
            Some(Input::Spread(buffer.as_slice(), input.dtype().width()?))
        }
        Storage::Bits(bits) if alike && n <= FEW => {
            let mut word = [0];
            load_bits(bits.values(), bits.offset(), n, &mut word);
            Some(Input::Bits(word))
        }
        Storage::Fixed(_) | Storage::Bits(_) | Storage::Text { .. } | Storage::Boxed(_) => None,
    }
}

pub(super) fn spread_over(one: &[u8], width: usize, out: &mut [u8]) {
    match width {
        1 => fill::<u8>(one, out),
        2 => fill::<u16>(one, out),
        4 => fill::<u32>(one, out),
        _ => fill::<u64>(one, out),
    }
}

fn packed(word: &[u64; 1], n: usize) -> BooleanBuffer {
    let mut bytes = Block::new(n.div_ceil(8));
    store_bits(word, n, bytes.bytes_mut(), 0);
    BooleanBuffer::new(bytes.freeze(), 0, n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elementwise;
    use crate::op::{Kernel, OpDef};
    use crate::ops;

    fn check(op: &'static OpDef, args: &[Tensor]) {
        let args: Vec<Value> = args.iter().cloned().map(Value::Tensor).collect();
        let Kernel::Elementwise(lookup) = op.kernel else { panic!("{op:?} is not elementwise") };
        let attrs = crate::attrs::NoAttrs {};
        let specs: Vec<_> = args.iter().map(|arg| arg.leaf_spec().expect("a leaf")).collect();
        let inferred = op.infer(&specs, &attrs).expect("arguments that fit");
        let general = elementwise::run(lookup, &args, &attrs, &inferred).expect("the general way runs");
        let inputs: Vec<&Dense> = args.iter().map(|arg| arg.dense().expect("data")).collect();
        let small = run(lookup, &inputs, &attrs).expect("the small way runs").expect("few elements");
        assert_eq!(format!("{general:?}"), format!("{small:?}"), "{op:?}");
    }

    #[test]
    fn few_elements_have_the_bits_of_many() {
        let floats = Tensor::from_vec(vec![1.5_f32, -0.0, 3.0]);
        let one = Tensor::scalar(2.0_f32);
        let bits =
            Tensor::bools(&[5], &[true, false, true, true, false]).expect("five").slice_rows(1, 3).expect("rows");
        for op in [&ops::ADD, &ops::DIVIDE, &ops::LESS] {
            check(op, &[floats.clone(), floats.clone()]);
            check(op, &[floats.clone(), one.clone()]);
            check(op, &[one.clone(), floats.clone()]);
            check(op, &[one.clone(), one.clone()]);
            check(op, &[floats.clone(), Tensor::new(&[1, 1, 3], &[0.5_f32, 7.0, -1.0]).expect("a row")]);
        }
        check(&ops::LOGICAL_AND, &[bits.clone(), bits.clone()]);
        check(&ops::LOGICAL_NOT, std::slice::from_ref(&bits));
        check(&ops::WHERE, &[bits, floats, one]);
        check(&ops::NEGATIVE, &[Tensor::new::<f64>(&[0, 3], &[]).expect("empty")]);
    }
}
