//! Expressions over a few elements: one pass, without blocks, and registers that are as short as the elements are few.
//!
//! Invariant: the same block functions run as everywhere, so the bits are the same. What does not fit here, wrong arguments
//! included, is left to the general way.

use super::access::{is_whole, without_ones, write_lengths};
use super::small::spread_over;
use super::{Expr, Made, Slot, Source, at_position};
use crate::kernels::bits::load_bits;
use crate::kernels::map::Fault;
use crate::kernels::pool::Block;
use crate::tensor::Storage;
use arrow_buffer::BooleanBuffer;
use extenso_types::{DType, Result};
use smallvec::SmallVec;
use std::cell::RefCell;

/// Elements of an expression that is evaluated here, at most.
pub(super) const FEW: usize = 1024;

/// Words of all registers, at most: they stay in the first cache.
const MOST: usize = 1 << 13;

thread_local! {
    /// The registers of the inputs that are spread, then those of the steps: each has as many words as the widest elements take.
    static WORDS: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// How an input is read.
enum Input<'a> {
    /// As it stands.
    Bytes(&'a [u8]),
    /// From the register of its place.
    Spread,
}

/// Gives what the expression stores to `each`, if its inputs are of the shape `dims` or of one element.
///
/// Errors: a fault of a kernel, with its position.
pub(super) fn evaluate(
    expr: &Expr,
    inputs: &[Source<'_>],
    dims: &[usize],
    n: usize,
    each: &mut dyn FnMut(Made),
) -> Result<bool> {
    if expr.steps.is_empty() {
        return Ok(false);
    }
    let stored = |dtype: DType, words: &[u64]| {
        let bytes = &bytemuck::cast_slice(words)[..dtype.width().map_or(n.div_ceil(8), |width| n * width)];
        let mut block = Block::new(bytes.len());
        block.bytes_mut().copy_from_slice(bytes);
        let storage = match dtype {
            DType::Bool => Storage::Bits(BooleanBuffer::new(block.freeze(), 0, n)),
            _ => Storage::Fixed(block.elements()),
        };
        each(Made { dtype, storage, n });
    };
    Ok(run(expr, dims, n, bind(inputs, dims, n), stored, |_| ())?.is_some())
}

/// What `read` makes of the last result, if the inputs are of the shape `dims` or of one element.
///
/// Errors: a fault of a kernel, with its position.
pub(crate) fn with_result<R>(
    expr: &Expr,
    inputs: &[Source<'_>],
    dims: &[usize],
    read: impl FnOnce(&[u8]) -> R,
) -> Result<Option<R>> {
    let n = dims.iter().product();
    run(expr, dims, n, bind(inputs, dims, n), |_, _| (), read)
}

/// Puts the last result in the place of the input `held`, which the others stand around, if they are of the shape `dims` or of one
/// element.
///
/// Errors: a fault of the kernel, with its position.
pub(super) fn in_place(
    expr: &Expr,
    inputs: &[Source<'_>],
    held: usize,
    dims: &[usize],
    elements: &mut [u8],
) -> Result<bool> {
    let n = dims.iter().product();
    // It is read before any step runs, and written when all have run.
    let elements = RefCell::new(elements);
    let mut others = bind(inputs, dims, n);
    let bind = |i: usize, dtype: DType, register: &mut [u64]| {
        if i != held {
            return others(i - usize::from(i > held), dtype, register);
        }
        let elements = elements.borrow();
        bytemuck::cast_slice_mut::<u64, u8>(register)[..elements.len()].copy_from_slice(&elements);
        Some(Input::Spread)
    };
    let read = |result: &[u8]| elements.borrow_mut().copy_from_slice(result);
    Ok(run(expr, dims, n, bind, |_, _| (), read)?.is_some())
}

/// Binds each input that is alike or one element.
fn bind<'a>(
    inputs: &[Source<'a>],
    dims: &[usize],
    n: usize,
) -> impl FnMut(usize, DType, &mut [u64]) -> Option<Input<'a>> {
    move |i, dtype, register| input(dtype, inputs.get(i)?, dims, n, register)
}

/// Runs the steps on what `bind` finds or brings to a register; `stored` is given each result that is stored, and `read` the last.
fn run<'a, R>(
    expr: &Expr,
    dims: &[usize],
    n: usize,
    mut bind: impl FnMut(usize, DType, &mut [u64]) -> Option<Input<'a>>,
    stored: impl FnMut(DType, &[u64]),
    read: impl FnOnce(&[u8]) -> R,
) -> Result<Option<R>> {
    const LINE: usize = 8;
    if n > FEW {
        return Ok(None);
    }
    let words = n.next_multiple_of(LINE).max(LINE);
    let all = (expr.inputs.len() + expr.registers) * words;
    if all > MOST {
        return Ok(None);
    }
    let run = |kept: &mut Vec<u64>| {
        if kept.len() < all {
            kept.resize(all, 0);
        }
        let (spread, work) = kept[..all].split_at_mut(expr.inputs.len() * words);
        let mut bound: SmallVec<[Input<'_>; 16]> = SmallVec::new();
        for ((i, dtype), register) in expr.inputs.iter().enumerate().zip(spread.chunks_exact_mut(words)) {
            match bind(i, *dtype, register) {
                Some(input) => bound.push(input),
                None => return Ok(None),
            }
        }
        let slots = Slots { expr, inputs: &bound, spread, words, n };
        let last = slots.run(work, stored).map_err(|fault| at_position(fault, 0, dims))?;
        Ok(Some(read(last)))
    };
    // A thread that ends keeps nothing.
    WORDS.try_with(|kept| run(&mut kept.borrow_mut())).unwrap_or(Ok(None))
}

/// How an input is read, if it is alike or one element; what is not read as it stands is brought to the register.
fn input<'a>(dtype: DType, source: &Source<'a>, dims: &[usize], n: usize, register: &mut [u64]) -> Option<Input<'a>> {
    let input = match *source {
        Source::Elements(data) if data.dtype() == dtype => data,
        Source::Lengths(rows) if dtype == DType::I64 && is_whole(&[rows.nrows()], dims) => {
            write_lengths(rows, 0, &mut register[..n]);
            return Some(Input::Spread);
        }
        Source::Elements(_) | Source::Repeated(..) | Source::Lengths(_) => return None,
    };
    let alike = is_whole(input.dims(), dims);
    match input.storage() {
        Storage::Fixed(buffer) if alike => return Some(Input::Bytes(buffer.as_slice())),
        Storage::Fixed(buffer) if buffer.len() == dtype.width()? && input.dims().len() <= dims.len() => {
            let width = buffer.len();
            spread_over(buffer.as_slice(), width, &mut bytemuck::cast_slice_mut(register)[..n * width]);
        }
        Storage::Fixed(buffer) if n > 0 && dims.ends_with(without_ones(input.dims())) => {
            let out: &mut [u8] = bytemuck::cast_slice_mut(register);
            out[..n * dtype.width()?].chunks_exact_mut(buffer.len()).for_each(|out| out.copy_from_slice(buffer));
        }
        Storage::Bits(bits) if alike => load_bits(bits.values(), bits.offset(), n, register),
        Storage::Bits(bits) if bits.len() == 1 && input.dims().len() <= dims.len() => {
            register[..n.div_ceil(64)].fill(if bits.value(0) { u64::MAX } else { 0 });
        }
        Storage::Fixed(_) | Storage::Bits(_) | Storage::Text { .. } | Storage::Boxed(_) => return None,
    }
    Some(Input::Spread)
}

/// Where the arguments of steps are.
struct Slots<'a> {
    expr: &'a Expr,
    inputs: &'a [Input<'a>],
    spread: &'a [u64],
    /// Of each register.
    words: usize,
    n: usize,
}

impl Slots<'_> {
    /// Runs the steps and gives the last result, or the first input where there is no step.
    fn run<'a>(
        &'a self,
        work: &'a mut [u64],
        mut stored: impl FnMut(DType, &[u64]),
    ) -> std::result::Result<&'a [u8], Fault> {
        for (i, step) in self.expr.steps.iter().enumerate() {
            let (before, rest) = work.split_at_mut(step.register * self.words);
            let (out, after) = rest.split_at_mut(self.words);
            let mut args: SmallVec<[&[u8]; 3]> = SmallVec::new();
            for slot in &step.args {
                args.push(match *slot {
                    Slot::Input(i) => self.input(i),
                    Slot::Step(i) => match self.expr.steps[i].register.checked_sub(step.register + 1) {
                        Some(at) => self.step(i, at, after),
                        None => self.step(i, self.expr.steps[i].register, before),
                    },
                });
            }
            let dtype = step.kernel.out;
            (step.kernel.run)(&args, &mut bytemuck::cast_slice_mut(out)[..bytes_of(dtype, self.n)], self.n)?;
            if step.stored || i + 1 == self.expr.steps.len() {
                stored(dtype, out);
            }
        }
        Ok(match self.expr.steps.len().checked_sub(1) {
            Some(last) => self.step(last, self.expr.steps[last].register, work),
            None => self.input(0),
        })
    }

    fn input(&self, i: usize) -> &[u8] {
        match self.inputs[i] {
            Input::Bytes(bytes) => bytes,
            Input::Spread => self.register(i, self.spread, self.expr.inputs[i]),
        }
    }

    /// The result of a step, which is the register `at` of these.
    fn step<'r>(&self, i: usize, at: usize, registers: &'r [u64]) -> &'r [u8] {
        self.register(at, registers, self.expr.steps[i].kernel.out)
    }

    fn register<'r>(&self, at: usize, registers: &'r [u64], dtype: DType) -> &'r [u8] {
        &bytemuck::cast_slice(&registers[at * self.words..])[..bytes_of(dtype, self.n)]
    }
}

/// The bytes of so many elements in a register: bits are whole words.
fn bytes_of(dtype: DType, n: usize) -> usize {
    dtype.width().map_or(n.div_ceil(64) * 8, |width| n * width)
}
