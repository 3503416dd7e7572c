//! Sums of rows of an expression whose last step gives them without storing what it makes.
//!
//! Invariant: a sum has the bits that it has where the step is stored and folded.

use super::access::Access;
use super::{BLOCK, Blocks, Scratch, Slot};
use crate::kernels::map::Fault;
use crate::kernels::row_products::{Factor, RowSums, fits};
use crate::partition::Rows;

/// Rows of a block at most: the shortest have as many elements as a fold has lanes.
const ROWS: usize = BLOCK / 16;

/// As many places are filled at a time: a ragged row that has fewer values costs no guess at how many it has.
const FILLED: usize = 16;

/// How the last step of an expression sums rows.
#[derive(Clone, Copy)]
pub struct SumsRows {
    run: RowSums,
    args: [Arg; 2],
    n: usize,
    width: usize,
}

/// Where an argument of the last step has its rows.
#[derive(Clone, Copy)]
enum Arg {
    /// One after the other.
    Slot(Slot),
    /// In this input, which holds each once for all values of a ragged row.
    Repeated(usize),
}

impl SumsRows {
    /// The number of rows that make a block.
    pub fn in_block(&self) -> usize {
        BLOCK / self.n
    }
}

impl Blocks<'_> {
    /// How the last step sums rows of `n` elements, if it can.
    pub fn sums_rows(&self, n: usize) -> Option<SumsRows> {
        let (last, steps) = self.expr.steps.split_last()?;
        let &[x, y] = last.args.as_slice() else { return None };
        let (run, width) = (last.kernel.sums?, last.kernel.out.width()?);
        let arg = |slot: Slot| match slot {
            Slot::Input(i) if matches!(self.inputs[i], Access::Repeated { size, .. } if size == n * width) => {
                let read_before = steps.iter().any(|step| step.args.contains(&slot));
                if read_before { Arg::Slot(slot) } else { Arg::Repeated(i) }
            }
            _ => Arg::Slot(slot),
        };
        fits(n).then(|| SumsRows { run, args: [arg(x), arg(y)], n, width })
    }

    /// Writes the sums of the rows from `start` on, which are as many as there are places in `out` and fit a block.
    ///
    /// Gives whether it could: it cannot where a value is in no ragged row.
    pub fn sum_rows(
        &self,
        sums: &SumsRows,
        scratch: &mut Scratch,
        start: usize,
        out: &mut [u8],
    ) -> Result<bool, Fault> {
        let rows = out.len() / sums.width;
        let mut at = [[0; ROWS + FILLED]; 2];
        for (at, arg) in at.iter_mut().zip(sums.args) {
            if !self.find_rows(arg, sums.n, start, scratch, &mut at[..rows + FILLED]) {
                return Ok(false);
            }
        }
        let in_place = |input: usize| sums.args.iter().any(|arg| matches!(arg, Arg::Repeated(i) if *i == input));
        for (i, (access, register)) in self.inputs.iter().zip(&mut scratch.inputs).enumerate() {
            if !in_place(i) {
                access.load(self.dims, start, rows * sums.n, register);
            }
        }
        for step in &self.expr.steps[..self.expr.steps.len() - 1] {
            self.step(step, scratch, &[], start, rows * sums.n)?;
        }
        let factor = |i: usize| {
            let bytes = match sums.args[i] {
                Arg::Slot(slot) => self.read(&slot, scratch, &[], start, rows * sums.n),
                Arg::Repeated(input) => self.repeated(input).map_or(&[][..], |(bytes, _)| bytes),
            };
            Factor { bytes, at: &at[i][..rows] }
        };
        (sums.run)(factor(0), factor(1), sums.n, out);
        Ok(true)
    }

    fn repeated(&self, input: usize) -> Option<(&[u8], &Rows)> {
        match &self.inputs[input] {
            Access::Repeated { bytes, rows, .. } => Some((bytes, rows)),
            _ => None,
        }
    }

    /// Sets where each row of an argument begins; whether all of them are there. Behind those, what stands is left open.
    fn find_rows(&self, arg: Arg, n: usize, start: usize, scratch: &mut Scratch, at: &mut [usize]) -> bool {
        let Arg::Repeated(input) = arg else {
            at.iter_mut().enumerate().for_each(|(i, at)| *at = i * n);
            return true;
        };
        let Some((_, rows)) = self.repeated(input) else { return false };
        let first = start / n;
        let (mut value, end) = (first, first + at.len() - FILLED);
        let mut row = rows.row_near(scratch.row, value);
        while let Some(found) = row {
            let here = rows.row(found).end.min(end);
            for from in (value - first..here - first).step_by(FILLED) {
                at[from..from + FILLED].fill(found * n);
            }
            scratch.row = found;
            if here == end {
                return true;
            }
            value = here;
            row = rows.next_row(row, value);
        }
        false
    }
}
