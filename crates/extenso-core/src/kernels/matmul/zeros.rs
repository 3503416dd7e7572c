//! The product of one row of which many elements are zero, as those behind a `relu` are, by weights that are used again.
//!
//! Invariant: the bits are those of all steps. A step of a zero and a finite weight adds a zero, and of zeros only the sign could change,
//! which no chain keeps that ends in one.

use super::super::isa::multiversion;
use super::{Chain, Range, black_box, columns, load, ranges, store};

/// Whether so many elements are zero that it pays to look for the others.
pub fn are_many<T: Chain>(row: &[T]) -> bool {
    const FEW: usize = 64;
    row.len() >= FEW && zeros_of(row) >= row.len() / 4
}

multiversion! {
    fn zeros_of<T: Chain>(row: &[T]) -> usize {
        row.iter().fold(0_u32, |n, x| n.wrapping_add((*x == T::default()).into())) as usize
    }
}

/// The elements of a part of a row that are not zero, and where they are.
struct Steps<T> {
    count: usize,
    places: [u32; STEPS],
    elements: [T; STEPS],
}

/// So many elements are looked at, then all panels are read.
const STEPS: usize = 256;

impl<T: Chain> Steps<T> {
    /// Looks at some elements. No branch: which are zero nobody foresees. By itself, so that it counts in a register.
    #[inline(never)]
    fn look(&mut self, row: &[T], part: Range<usize>) {
        let mut count = 0;
        for (place, x) in (0..).zip(&row[part]) {
            self.places[count] = place;
            self.elements[count] = *x;
            count += usize::from(*x != T::default());
        }
        self.count = count;
    }
}

/// The product of the row `a` by panels of `k` rows.
#[inline(always)]
pub fn row<T: Chain, const UNIT: usize, const WIDE: usize>(a: &[T], n: usize, panels: &[T], out: &mut [T]) {
    let mut steps = Steps { count: 0, places: [0; STEPS], elements: [T::default(); STEPS] };
    for part in ranges(a.len(), STEPS) {
        steps.look(a, part.clone());
        for columns in columns::<T>(n, false) {
            let rows = a.len() * columns.start + part.start * columns.len();
            let panel = &panels[rows..][..part.len() * columns.len()];
            let out = &mut out[columns.start..columns.end.min(n)];
            if columns.len() == WIDE {
                chains::<T, WIDE>(&steps, panel, part.start > 0, out);
            } else {
                chains::<T, UNIT>(&steps, panel, part.start > 0, out);
            }
        }
    }
}

/// The chains of the columns of a panel.
#[inline(always)]
fn chains<T: Chain, const C: usize>(steps: &Steps<T>, panel: &[T], goes_on: bool, out: &mut [T]) {
    let mut acc = [T::default(); C];
    if goes_on {
        load(out, &mut acc);
    }
    let (rows, _) = panel.as_chunks::<C>();
    for (place, x) in steps.places.iter().zip(&steps.elements).take(steps.count) {
        let b = &rows[*place as usize];
        for j in 0..C {
            acc[j] = x.fma(b[j], acc[j]);
        }
        // Keeps the compiler from vectorising across steps; it costs no instruction.
        black_box(());
    }
    store(&black_box(acc), out);
}
