//! Folds that end a fused expression.
//!
//! Invariant: a fold has the bits that it has on the stored expression. A block of the expression is folded while it lies in
//! cache, by as many folds as there are, so that several folds of the same rows read the data once.

use super::fold::{Fold, FoldKernel, PARALLEL, fold_long};
use super::{block_of, kernel_of, out_width};
use crate::elementwise::{BLOCK, Blocks, Expr, Source, SumsRows, at_position, with_result};
use crate::kernels::map::Fault;
use crate::kernels::pool::Block;
use crate::kernels::reduce::{LEAF, Offset};
use crate::offsets::{Offsets, with_offsets};
use crate::tensor::{Storage, Tensor};
use crate::threads::{pieces_of, side_by_side, split_at_lengths};
use crate::value::{Outputs, Value};
use extenso_types::{Dims, Error, Result};
use smallvec::SmallVec;

/// Where the rows of a block end; of a few, on the stack.
type Ends = SmallVec<[usize; 32]>;

/// What a fused expression ends in: the rows that are folded.
pub enum Cut<'a> {
    /// Rows of `n` elements each.
    Rows(usize),
    /// The rows of offsets.
    Segments(&'a Offsets),
}

impl Cut<'_> {
    fn row(&self, i: usize) -> (usize, usize) {
        match self {
            Cut::Rows(n) => (i * n, *n),
            Cut::Segments(offsets) => (offsets.get(i), offsets.get(i + 1) - offsets.get(i)),
        }
    }

    /// Sets where all rows end, a 0 in front, if they are a few that have all of `n` elements.
    fn few_ends(&self, nrows: usize, n: usize, ends: &mut Ends) -> bool {
        const FEW: usize = 64;
        if nrows > FEW {
            return false;
        }
        let mut last = 0;
        ends.push(last);
        for i in 0..nrows {
            let (start, len) = self.row(i);
            if i == 0 && start > 0 {
                return false;
            }
            last = start + len;
            ends.push(last);
        }
        last == n
    }

    /// Sets the ends of as many rows from `from` on as fit one block, counted from the start of the first; a 0 stands in front.
    fn ends_in_block(&self, from: usize, rows: usize, ends: &mut Ends) {
        // Rows without elements take no room, but their ends do.
        let rows = rows.min(BLOCK);
        ends.clear();
        match self {
            Cut::Rows(n) => ends.extend((0..=rows.min(BLOCK.checked_div(*n).unwrap_or(rows))).map(|i| i * n)),
            Cut::Segments(offsets) => with_offsets!(offsets, o => {
                let (start, all) = (o[from].index(), &o[from..=from + rows]);
                let fit = all.partition_point(|end| end.index() - start <= BLOCK);
                ends.resize(fit, 0);
                ends.iter_mut().zip(all).for_each(|(to, end)| *to = end.index() - start);
            }),
        }
    }
}

/// Evaluates an expression over `dims` and folds its rows, block by block, without storing the expression's result.
///
/// Gives a tensor of `out_dims` for each fold. Errors: a fold that does not take the dtype of the expression; a fault of a
/// kernel, with its position.
pub fn evaluate_folds(
    expr: &Expr,
    inputs: &[Source<'_>],
    dims: &[usize],
    folds: &[Fold],
    cut: &Cut<'_>,
    out_dims: Dims,
) -> Result<Outputs> {
    let dtype = expr.dtype().ok_or_else(|| Error::internal("an empty expression"))?;
    let nrows: usize = out_dims.iter().product();
    let mut kernels: SmallVec<[FoldKernel; 2]> = SmallVec::new();
    for fold in folds {
        kernels.push(kernel_of(*fold, dtype)?);
    }
    let (mut ends, mut outputs) = (Ends::new(), Outputs::new());
    if cut.few_ends(nrows, dims.iter().product(), &mut ends)
        && few_folds(expr, inputs, dims, &kernels, &ends, &out_dims, &mut outputs)?
    {
        return Ok(outputs);
    }
    let block = |kernel: &FoldKernel| block_of(nrows, out_width(kernel.out));
    let mut outs: SmallVec<[Block; 2]> = kernels.iter().map(block).collect::<Result<_>>()?;
    let blocks = Blocks::new(expr, inputs, dims)?;
    let work = if nrows == 0 { (0, 0) } else { cut.row(nrows - 1) };
    let pieces = pieces_of(work.0 + work.1, PARALLEL);
    let sums = match (cut, folds) {
        (Cut::Rows(n), [Fold::Sum]) => blocks.sums_rows(*n),
        _ => None,
    };
    let fold = |part: Part<'_>| part.fold(&blocks, cut, sums.as_ref());
    let fault = if pieces == 1 {
        let whole = kernels.iter().zip(&mut outs).map(|(kernel, out)| (kernel, out.bytes_mut()));
        fold(Part { from: 0, rows: nrows, outs: whole.collect() }).err()
    } else {
        let done = side_by_side(parts(&kernels, &mut outs, nrows, pieces), fold);
        // Parts and their blocks are in order, but rows may overtake what is not in any row.
        done.into_iter().filter_map(std::result::Result::err).min_by_key(|(start, fault)| start + fault.index)
    };
    if let Some((start, fault)) = fault {
        return Err(at_position(fault, start, dims));
    }
    let tensor = |(kernel, out): (&FoldKernel, Block)| folded(kernel, &out_dims, out);
    Ok(kernels.iter().zip(outs).map(tensor).collect())
}

fn folded(kernel: &FoldKernel, dims: &[usize], out: Block) -> Value {
    Value::Tensor(Tensor::from_dense(kernel.out, Dims::from_slice(dims), Storage::Fixed(out.elements())))
}

/// Adds the folds of a few rows of few elements; no where these are more.
fn few_folds(
    expr: &Expr,
    inputs: &[Source<'_>],
    dims: &[usize],
    kernels: &[FoldKernel],
    ends: &Ends,
    out_dims: &[usize],
    outputs: &mut Outputs,
) -> Result<bool> {
    let nrows = ends.len() - 1;
    let block = |kernel: &FoldKernel| Block::new(nrows * out_width(kernel.out));
    let mut outs: SmallVec<[Block; 2]> = kernels.iter().map(block).collect();
    let fold = |values: &[u8]| {
        for (kernel, out) in kernels.iter().zip(&mut outs) {
            (kernel.between)(values, ends, out.bytes_mut());
        }
    };
    let Some(()) = with_result(expr, inputs, dims, fold)? else { return Ok(false) };
    for (kernel, out) in kernels.iter().zip(outs) {
        outputs.push(folded(kernel, out_dims, out));
    }
    Ok(true)
}

/// So many elements stay in a near cache, so that the next fold finds them there.
const NEAR: usize = 1 << 16;

/// How many of the first rows, of which one is no longer than a block, are together no more elements than stay near, and none longer.
fn near_rows(offsets: &Offsets) -> usize {
    with_offsets!(offsets, o => {
        let start = o[0].index();
        let rows = o.array_windows().map(|[start, end]| (start.index(), end.index()));
        rows.take_while(|(from, end)| end - from <= BLOCK && end - start <= NEAR).count()
    })
}

/// Some of the rows, and where their results go.
struct Part<'a> {
    from: usize,
    rows: usize,
    outs: SmallVec<[(&'a FoldKernel, &'a mut [u8]); 2]>,
}

fn parts<'a>(kernels: &'a [FoldKernel], outs: &'a mut [Block], nrows: usize, pieces: usize) -> Vec<Part<'a>> {
    let rows = nrows.div_ceil(pieces).max(1);
    let part = |from: usize| Part { from, rows: rows.min(nrows - from), outs: SmallVec::new() };
    let mut parts: Vec<Part<'_>> = (0..nrows).step_by(rows).map(part).collect();
    for (kernel, out) in kernels.iter().zip(outs) {
        let lengths = parts.iter().map(|part| part.rows * out_width(kernel.out));
        let bytes = split_at_lengths(out.bytes_mut(), lengths.collect::<SmallVec<[usize; 8]>>());
        parts.iter_mut().zip(bytes).for_each(|(part, bytes)| part.outs.push((kernel, bytes)));
    }
    parts
}

impl Part<'_> {
    fn fold(
        mut self,
        blocks: &Blocks<'_>,
        cut: &Cut<'_>,
        sums: Option<&SumsRows>,
    ) -> std::result::Result<(), (usize, Fault)> {
        let mut scratch = blocks.scratch();
        let mut ends = Ends::new();
        let mut i = 0;
        while i < self.rows {
            let (start, len) = cut.row(self.from + i);
            if len > BLOCK {
                self.fold_long_row(blocks, i, start, len)?;
                i += 1;
                continue;
            }
            if let (Cut::Segments(offsets), Some(bytes)) = (cut, blocks.in_place()) {
                let next = i + near_rows(&offsets.slice(self.from + i, self.rows - i + 1));
                let offsets = offsets.slice(self.from + i, next - i + 1);
                for (kernel, out) in &mut self.outs {
                    let width = out_width(kernel.out);
                    (kernel.segments)(bytes, &offsets, &mut out[i * width..next * width]);
                }
                i = next;
                continue;
            }
            if let (Some(sums), [(kernel, out)]) = (sums, self.outs.as_mut_slice()) {
                let (next, width) = (self.rows.min(i + sums.in_block()), out_width(kernel.out));
                blocks.prefetch(start + (next - i) * len);
                let out = &mut out[i * width..next * width];
                if blocks.sum_rows(sums, &mut scratch, start, out).map_err(|fault| (start, fault))? {
                    i = next;
                    continue;
                }
            }
            cut.ends_in_block(self.from + i, self.rows - i, &mut ends);
            let (n, next) = (ends[ends.len() - 1], i + ends.len() - 1);
            blocks.prefetch(start + n);
            blocks.run(&mut scratch, start, n).map_err(|fault| (start, fault))?;
            let values = blocks.result(&scratch, start, n);
            for (kernel, out) in &mut self.outs {
                let width = out_width(kernel.out);
                (kernel.between)(values, &ends, &mut out[i * width..next * width]);
            }
            i = next;
        }
        Ok(())
    }

    /// Folds a row that is longer than a block, leaf by leaf, in pieces side by side.
    fn fold_long_row(
        &mut self,
        blocks: &Blocks<'_>,
        i: usize,
        start: usize,
        len: usize,
    ) -> std::result::Result<(), (usize, Fault)> {
        let kernels: SmallVec<[&FoldKernel; 2]> = self.outs.iter().map(|(kernel, _)| *kernel).collect();
        let partials = fold_long(&kernels, len, |range, partials| {
            let mut scratch = blocks.scratch();
            for at in (start + range.start..start + range.end).step_by(LEAF) {
                let n = LEAF.min(start + range.end - at);
                blocks.run(&mut scratch, at, n).map_err(|fault| (at, fault))?;
                let leaf = blocks.exact_result(&scratch, at, n);
                partials.iter_mut().for_each(|partial| partial.push(leaf));
            }
            Ok(())
        })?;
        for ((kernel, out), partial) in self.outs.iter_mut().zip(&partials) {
            let width = out_width(kernel.out);
            partial.finish(&mut out[i * width..(i + 1) * width]);
        }
        Ok(())
    }
}
