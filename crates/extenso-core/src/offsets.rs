//! Offsets: non-negative integers that cut a list, in the width they came with.
//!
//! Offsets keep their width so that Arrow's List and LargeList can both share the buffer.

use crate::kernels::isa::multiversion;
use crate::kernels::pool::{Block, affordable};
use crate::threads::{pieces, side_by_side};
use arrow_buffer::{ArrowNativeType, ScalarBuffer};
use bytemuck::Pod;
use extenso_types::{DType, Error, Result};

/// Offsets into a list of values, i32 or i64.
#[derive(Clone, Debug)]
pub enum Offsets {
    /// 32-bit offsets.
    I32(ScalarBuffer<i32>),
    /// 64-bit offsets.
    I64(ScalarBuffer<i64>),
}

/// Runs `$body` with `$o` bound to the slice of offsets in its own width.
macro_rules! with_offsets {
    ($offsets:expr, $o:ident => $body:expr) => {
        match $offsets {
            $crate::offsets::Offsets::I32(buffer) => {
                let $o: &[i32] = buffer;
                $body
            }
            $crate::offsets::Offsets::I64(buffer) => {
                let $o: &[i64] = buffer;
                $body
            }
        }
    };
}
pub(crate) use with_offsets;

/// So many numbers from 0 on; nothing where the last is too large for their type.
fn counted<T: ArrowNativeType + Pod + TryFrom<usize>>(len: usize) -> Option<ScalarBuffer<T>> {
    T::try_from(len - 1).ok()?;
    let mut block = Block::new(len * size_of::<T>());
    block.slice_mut::<T>().iter_mut().enumerate().for_each(|(i, out)| *out = T::usize_as(i));
    Some(ScalarBuffer::new(block.freeze(), 0, len))
}

impl Offsets {
    /// The offsets of rows with these lengths.
    ///
    /// Errors: more rows than there is memory for; more values than 64 bits count.
    pub fn from_lengths(lengths: impl IntoIterator<Item = usize>) -> Result<Offsets> {
        let lengths = lengths.into_iter();
        affordable(lengths.size_hint().0.saturating_add(1).saturating_mul(size_of::<i64>()))?;
        let (mut end, mut fits) = (0_i64, true);
        let ends = lengths.map(|n| {
            let next = i64::try_from(n).ok().and_then(|n| end.checked_add(n));
            fits &= next.is_some();
            end = next.unwrap_or(end);
            end
        });
        let ends: Vec<i64> = std::iter::once(0).chain(ends).collect();
        if fits {
            return Ok(Offsets::I64(ends.into()));
        }
        Err(Error::value("the rows have more values than 64 bits count").wanted("fewer values"))
    }

    /// The offsets of rows of one value each, of the dtype `index`, i32 or i64.
    ///
    /// Errors: another dtype; more rows than it counts, or than there is memory for.
    pub fn of_single_values(nrows: usize, index: DType) -> Result<Offsets> {
        let many = || {
            let error = Error::value(format!("there are {nrows} rows, more than row splits of {index} count"));
            error.wanted("row splits of i64")
        };
        let len = nrows.checked_add(1).ok_or_else(many)?;
        affordable(len.saturating_mul(size_of::<i64>()))?;
        match index {
            DType::I32 => counted(len).map(Offsets::I32).ok_or_else(many),
            DType::I64 => counted(len).map(Offsets::I64).ok_or_else(many),
            other => Err(Error::dtype(format!("row splits of {other} do not exist")).wanted("i32 or i64")),
        }
    }

    /// The number of offsets, one more than of rows.
    pub fn len(&self) -> usize {
        with_offsets!(self, o => o.len())
    }

    /// Whether there is no offset at all, which no list has.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The offset at `i`; offsets are proven not negative wherever they are kept.
    pub fn get(&self, i: usize) -> usize {
        with_offsets!(self, o => o[i].try_into().unwrap_or(0))
    }

    /// The place of the first value.
    pub fn first(&self) -> usize {
        self.get(0)
    }

    /// The place behind the last value.
    pub fn last(&self) -> usize {
        self.get(self.len() - 1)
    }

    /// `len` offsets from `start`, sharing the buffer.
    pub fn slice(&self, start: usize, len: usize) -> Offsets {
        match self {
            Offsets::I32(buffer) => Offsets::I32(buffer.slice(start, len)),
            Offsets::I64(buffer) => Offsets::I64(buffer.slice(start, len)),
        }
    }

    /// The width as a dtype.
    pub fn dtype(&self) -> DType {
        match self {
            Offsets::I32(_) => DType::I32,
            Offsets::I64(_) => DType::I64,
        }
    }

    /// The address of the first offset.
    pub fn address(&self) -> usize {
        with_offsets!(self, o => o.as_ptr().addr())
    }

    /// The offsets minus the first; themselves where that is 0.
    pub fn from_zero(&self) -> Offsets {
        if self.first() == 0 { self.clone() } else { Offsets::I64(self.relative().into()) }
    }

    /// The offsets minus the first, as 64-bit integers.
    #[allow(clippy::useless_conversion)] // One of the two widths is i64 already.
    pub fn relative(&self) -> Vec<i64> {
        with_offsets!(self, o => o.iter().map(|&v| i64::from(v) - i64::from(o[0])).collect())
    }

    /// Proves that the offsets cut a list of `nvalues` values.
    ///
    /// Errors: no offset, a first one below 0, one below the one before it, a last one beyond the values; each with its position.
    pub fn prove(&self, nvalues: usize) -> Result<()> {
        with_offsets!(self, o => {
            let (Some(&first), Some(&last)) = (o.first(), o.last()) else {
                return Err(Error::value("row splits are empty").wanted("one split more than rows: at least [0]"));
            };
            if first < 0 {
                return Err(Error::value(format!("the first row split is {first}")).wanted("a split that is not negative"));
            }
            // The position is looked for only on failure.
            if !never_decrease(o) {
                let i = o.windows(2).position(|w| w[0] > w[1]).unwrap_or(0);
                return Err(Error::value(format!("row splits decrease at [{}]: {} comes after {}", i + 1, o[i + 1], o[i]))
                    .wanted("splits that never decrease"));
            }
            if usize::try_from(last).is_ok_and(|last| last > nvalues) {
                return Err(Error::value(format!("the last row split is {last}, and there are {nvalues} values"))
                    .wanted("splits that end at or before the number of values"));
            }
            Ok(())
        })
    }
}

/// Whether none of the numbers is below the one before it.
fn never_decrease<T: Copy + PartialOrd + Sync>(o: &[T]) -> bool {
    let pieces = pieces(o.len());
    if pieces == 1 {
        return rises(o);
    }
    let piece = o.len().div_ceil(pieces);
    let parts = (0..o.len()).step_by(piece).map(|start| &o[start..o.len().min(start + piece + 1)]).collect();
    side_by_side(parts, |part| rises(part)).into_iter().all(|rises| rises)
}

multiversion! {
    fn rises<T: Copy + PartialOrd>(o: &[T]) -> bool {
        o.array_windows().fold(true, |ok, [before, after]| ok & (before <= after))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::with_threads;

    fn check(splits: &[i64], nvalues: usize, error: &str) {
        let text = Offsets::I64(splits.to_vec().into()).prove(nvalues).expect_err("malformed").to_string();
        assert!(text.contains(error), "{text}");
    }

    #[test]
    fn offsets_never_decrease() {
        check(&[0, 3, 2, 4], 4, "decrease at [2]: 2 comes after 3");
        check(&[], 4, "empty");
        check(&[-1, 3], 4, "first row split is -1");
        check(&[0, 5], 4, "last row split is 5");
        check(&[0, i64::MAX], 4, "last row split");
        assert!(Offsets::I64(vec![2, 3, 4].into()).prove(5).is_ok());
    }

    #[test]
    fn offsets_that_are_proven_in_pieces_never_decrease() {
        let mut splits: Vec<i64> = (0..200_000).collect();
        let (rises, piece) = (
            |o: &[i64]| with_threads(2, || never_decrease(o)),
            200_000_usize.div_ceil(with_threads(2, || pieces(200_000))),
        );
        assert!(rises(&splits) && piece < 200_000);
        // Wherever a piece begins, the step into it is looked at.
        for at in (piece..200_000).step_by(piece).flat_map(|start| start - 1..=start + 1) {
            let kept = splits[at];
            splits[at] = splits[at - 1] - 1;
            assert!(!rises(&splits), "decreases at {at}");
            splits[at] = kept;
        }
    }
}
