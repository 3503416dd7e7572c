//! Expressions whose results are stored.
//!
//! Invariant: each result has the bits of its step alone. Large results go past the caches, and pieces of them are computed side by
//! side.

use super::{BLOCK, Blocks, Expr, Scratch, Slot, Source, at_position, few};
use crate::kernels::map::{Done, Fault};
use crate::kernels::pool::{Block, affordable};
use crate::kernels::stream::{FAR, Past, past_caches};
use crate::tensor::{Storage, Tensor};
use crate::threads::{pieces_of, side_by_side};
use arrow_buffer::BooleanBuffer;
use extenso_types::{DType, Dims, Error, Result};
use smallvec::SmallVec;

/// Work below this many elements stays on the calling thread.
const PARALLEL: usize = 1 << 18;

/// Evaluates an expression whose inputs broadcast to `dims`, and gives each result that it stores to `each`, in the order of the steps.
///
/// Errors: an input that does not broadcast to `dims`; a fault of a kernel, with its position.
pub fn evaluate(expr: &Expr, inputs: &[Source<'_>], dims: &[usize], each: &mut dyn FnMut(Made)) -> Result<()> {
    let n: usize = dims.iter().product();
    if few::evaluate(expr, inputs, dims, n, each)? {
        return Ok(());
    }
    let blocks = Blocks::new(expr, inputs, dims)?;
    let bytes_of = |dtype: DType, n: usize| dtype.width().map_or(n.div_ceil(8), |w| n.saturating_mul(w));
    let block_of = |dtype: &DType| {
        let bytes = bytes_of(*dtype, n);
        affordable(bytes).map(|()| Block::new(bytes))
    };
    let dtypes: SmallVec<[DType; 4]> = expr.stored().collect();
    if dtypes.is_empty() {
        return Err(Error::internal("an empty expression"));
    }
    let mut made: SmallVec<[Block; 1]> = dtypes.iter().map(block_of).collect::<Result<_>>()?;
    let per_piece = n.div_ceil(BLOCK).div_ceil(pieces_of(n, PARALLEL)).max(1);
    let write = |start: usize, mut outs: Outs<'_>| {
        let mut scratch = blocks.scratch();
        let end = n.min(start + per_piece * BLOCK);
        past_caches(|past| {
            (start..end).step_by(BLOCK).try_for_each(|at| {
                let n = BLOCK.min(end - at);
                let mut chunk: Outs<'_> =
                    dtypes.iter().zip(&mut outs).map(|(d, out)| out.next(bytes_of(*d, n))).collect();
                blocks.write(&mut scratch, at, n, &mut chunk, past).map_err(|fault| (at, fault))
            })
        })
    };
    let far = |dtype: DType| bytes_of(dtype, n) >= FAR && dtype != DType::Bool;
    let outs = dtypes.iter().zip(&mut made).map(|(d, block)| Out { bytes: block.bytes_mut(), far: far(*d) });
    let mut outs: Outs<'_> = outs.collect();
    // The first fault by position, whichever thread is first.
    let done: std::result::Result<(), (usize, Fault)> = if n <= per_piece * BLOCK {
        write(0, outs)
    } else {
        let piece = |start: usize| {
            let n = (per_piece * BLOCK).min(n - start);
            (start, dtypes.iter().zip(&mut outs).map(|(d, out)| out.next(bytes_of(*d, n))).collect::<Outs<'_>>())
        };
        let pieces = (0..n).step_by(per_piece * BLOCK).map(piece).collect();
        let done = side_by_side(pieces, |(start, outs)| write(start, outs)).into_iter().collect();
        drop(outs);
        done
    };
    done.map_err(|(start, fault)| at_position(fault, start, dims))?;
    for (dtype, block) in dtypes.into_iter().zip(made) {
        let storage = match dtype {
            DType::Bool => Storage::Bits(BooleanBuffer::new(block.freeze(), 0, n)),
            _ => Storage::Fixed(block.elements()),
        };
        each(Made { dtype, storage, n });
    }
    Ok(())
}

/// The elements of a result, in row-major order.
#[derive(Clone)]
pub struct Made {
    pub(super) dtype: DType,
    pub(super) storage: Storage,
    /// How many.
    pub(super) n: usize,
}

impl Made {
    /// The result of an expression that stores one.
    ///
    /// Errors: there was none.
    pub fn only(made: Option<Made>) -> Result<Made> {
        made.ok_or_else(|| Error::internal("an expression stored nothing"))
    }

    /// The elements as a tensor of these sizes.
    ///
    /// Errors: sizes of another number of elements.
    pub fn tensor(self, dims: Dims) -> Result<Tensor> {
        if dims.iter().product::<usize>() != self.n {
            return Err(Error::internal(format!("{} results are given the sizes {dims:?}", self.n)));
        }
        Ok(Tensor::from_dense(self.dtype, dims, self.storage))
    }
}

/// Where the results of an expression go.
type Outs<'a> = SmallVec<[Out<'a>; 1]>;

/// Where one result goes, and whether past the caches.
struct Out<'a> {
    bytes: &'a mut [u8],
    far: bool,
}

impl<'a> Out<'a> {
    /// Cuts the next bytes off.
    fn next(&mut self, len: usize) -> Out<'a> {
        let (next, rest) = std::mem::take(&mut self.bytes).split_at_mut(len);
        self.bytes = rest;
        Out { bytes: next, far: self.far }
    }

    /// Fills all bytes, once.
    fn fill(&mut self, from: &[u8], past: &Past<'a>) {
        let bytes = std::mem::take(&mut self.bytes);
        let n = bytes.len();
        if self.far { past.copy(from, bytes) } else { bytes.copy_from_slice(&from[..n]) }
    }
}

impl Expr {
    /// The dtypes of what is stored, in the order of the steps.
    pub(super) fn stored(&self) -> impl Iterator<Item = DType> {
        let (last, before) = self.steps.split_last().map_or((None, &[][..]), |(last, before)| (Some(last), before));
        let before = before.iter().filter(|step| step.stored).map(|step| step.kernel.out);
        before.chain(last.map(|last| last.kernel.out).or_else(|| self.inputs.first().copied()))
    }
}

impl Blocks<'_> {
    /// Computes a block and stores each result.
    fn write<'a>(&self, scratch: &mut Scratch, start: usize, n: usize, outs: &mut [Out<'a>], past: &Past<'a>) -> Done {
        self.load(scratch, start, n);
        let Some((last, before)) = outs.split_last_mut() else { return Ok(()) };
        let mut before = before.iter_mut();
        let Some((end, steps)) = self.expr.steps.split_last() else {
            last.fill(self.exact_result(scratch, start, n), past);
            return Ok(());
        };
        for (i, step) in steps.iter().enumerate() {
            self.step(step, scratch, &[], start, n)?;
            if step.stored
                && let Some(out) = before.next()
            {
                out.fill(self.read(&Slot::Step(i), scratch, &[], start, n), past);
            }
        }
        // Numbers go straight to the result; bits are whole words in a register and then as many bytes as there are.
        if !last.far && end.kernel.out != DType::Bool {
            return (end.kernel.run)(&self.args(end, scratch, &[], start, n), last.bytes, n);
        }
        self.step(end, scratch, &[], start, n)?;
        last.fill(self.exact_result(scratch, start, n), past);
        Ok(())
    }
}
