//! Expressions that take the place of one of their inputs: what ends a product of matrices, while its elements are in the cache.
//!
//! Invariant: each element has the bits that it has where the input is stored first and then read.

use super::access::{Access, access};
use super::{BLOCK, Blocks, Expr, Scratch, Slot, Source, at_position, few};
use crate::kernels::map::{Done, Fault};
use extenso_types::{DType, Error, Result};

/// An expression, what it reads, and which of its inputs is made by an op whose result it replaces.
pub struct Epilogue<'a> {
    expr: &'a Expr,
    /// The other inputs, in order.
    inputs: &'a [Source<'a>],
    held: usize,
    dtype: DType,
}

impl<'a> Epilogue<'a> {
    /// The expression on these inputs, of which the one at `held` is left out: it is what an op makes.
    ///
    /// Errors: the expression does not keep the dtype of that input.
    pub fn new(expr: &'a Expr, inputs: &'a [Source<'a>], held: usize) -> Result<Epilogue<'a>> {
        match (expr.dtype(), expr.inputs.get(held)) {
            (Some(dtype), Some(same)) if *same == dtype && !expr.is_empty() => {
                Ok(Epilogue { expr, inputs, held, dtype })
            }
            _ => Err(Error::internal("an epilogue makes another dtype of what it is given")),
        }
    }

    /// Replaces all elements, which have the sizes `dims`.
    ///
    /// Errors: an input that does not broadcast to `dims`; a fault of a kernel, with its position.
    pub(crate) fn run(&self, dims: &[usize], elements: &mut [u8]) -> Result<()> {
        match few::in_place(self.expr, self.inputs, self.held, dims, elements)? {
            true => Ok(()),
            false => self.bind(dims)?.run(0, elements).map_err(|(start, fault)| at_position(fault, start, dims)),
        }
    }

    /// Makes it ready to replace elements as they come, or nothing where there are so few in all that they had better come at once.
    ///
    /// Errors: an input that does not broadcast to `dims`.
    pub(crate) fn by_parts(&self, dims: &'a [usize]) -> Result<Option<InPlace<'a>>> {
        if dims.iter().product::<usize>() <= few::FEW { Ok(None) } else { self.bind(dims).map(Some) }
    }

    fn bind(&self, dims: &'a [usize]) -> Result<InPlace<'a>> {
        let mut inputs = self.inputs.iter();
        let mut access = |(i, dtype): (usize, &DType)| {
            if i == self.held {
                return Ok(Access::Given);
            }
            let input = inputs.next().ok_or_else(|| Error::internal("an epilogue has too few inputs"))?;
            access(*dtype, input, dims)
        };
        let inputs: Result<_> = self.expr.inputs.iter().enumerate().map(&mut access).collect();
        let blocks = Blocks { expr: self.expr, dims, inputs: inputs? };
        Ok(InPlace { blocks, held: self.held, width: self.dtype.width().unwrap_or(1) })
    }
}

/// A fault of an epilogue, and the place that its index counts from.
pub(crate) type Ended = std::result::Result<(), (usize, Fault)>;

/// An [`Epilogue`] that is ready.
pub(crate) struct InPlace<'a> {
    blocks: Blocks<'a>,
    held: usize,
    width: usize,
}

impl InPlace<'_> {
    /// Replaces the elements from place `start` on.
    ///
    /// Errors: a fault of a kernel, and the place that its index counts from.
    pub fn run(&self, start: usize, elements: &mut [u8]) -> Ended {
        let mut scratch = self.blocks.scratch();
        for (i, block) in elements.chunks_mut(BLOCK * self.width).enumerate() {
            let (at, n) = (start + i * BLOCK, block.len() / self.width);
            self.blocks.replace(&mut scratch, self.held, at, n, block).map_err(|fault| (at, fault))?;
        }
        Ok(())
    }
}

impl Blocks<'_> {
    /// Puts the last result in the place of the input `held`.
    fn replace(&self, scratch: &mut Scratch, held: usize, start: usize, n: usize, elements: &mut [u8]) -> Done {
        self.load(scratch, start, n);
        let Some((last, steps)) = self.expr.steps.split_last() else { return Ok(()) };
        steps.iter().try_for_each(|step| self.step(step, scratch, elements, start, n))?;
        // What the last step reads and replaces is put aside; the others read it where it stands.
        let mut aside = std::mem::take(&mut scratch.inputs[held]);
        let kept: &mut [u8] = bytemuck::cast_slice_mut(&mut aside);
        let reads = last.args.iter().any(|slot| matches!(slot, Slot::Input(i) if *i == held));
        let kept = if reads { &mut kept[..elements.len()] } else { &mut [] };
        kept.copy_from_slice(&elements[..kept.len()]);
        let done = (last.kernel.run)(&self.args(last, scratch, kept, start, n), elements, n);
        scratch.inputs[held] = aside;
        done
    }
}
