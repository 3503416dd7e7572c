//! Elements by strides, as an exchange of axes reads them.
//!
//! Invariant: element `i` of the result is the source's at the sum of the strides times the position of `i`; each place that is read
//! is checked against the source by the indexing. Squares of elements are copied one after the other, so that what a cache line has
//! is used while it is there.

/// Copies the elements of sizes `dims` that stand in `source` from `start` on at these strides, in elements, into `out`, row-major.
///
/// There is an element for each position.
pub fn copy<T: Copy>(source: &[T], start: usize, dims: &[usize], strides: &[isize], out: &mut [T]) {
    let (dims, strides) = merged(dims, strides);
    match (dims.as_slice(), strides.as_slice()) {
        ([], _) | (_, []) => out.copy_from_slice(&source[start..][..out.len()]),
        ([n], [stride]) => line(source, start, *stride, &mut out[..*n]),
        ([.., n], [.., 1 | -1]) => rows(source, start, (&dims, &strides), *n, out),
        ([outer @ .., columns], [outer_strides @ .., column]) => {
            // The rows of squares are along the axis whose neighbours are nearest in the source.
            let at = (0..outer.len()).rev().min_by_key(|axis| outer_strides[*axis].unsigned_abs()).unwrap_or(0);
            if outer_strides[at].unsigned_abs() >= column.unsigned_abs() {
                return rows(source, start, (&dims, &strides), *columns, out);
            }
            let places: Vec<isize> =
                (0..outer.len()).map(|axis| dims[axis + 1..].iter().product::<usize>().cast_signed()).collect();
            let matrix = Matrix {
                rows: outer[at],
                row: outer_strides[at],
                columns: *columns,
                column: *column,
                out_row: places[at].unsigned_abs(),
            };
            let without = |steps: &[isize]| -> Vec<isize> {
                steps.iter().enumerate().filter(|(axis, _)| *axis != at).map(|(_, step)| *step).collect()
            };
            let sizes: Vec<usize> = (0..outer.len()).filter(|axis| *axis != at).map(|axis| outer[axis]).collect();
            let both: Vec<(isize, isize)> = without(outer_strides).into_iter().zip(without(&places)).collect();
            for_each(&sizes, &both, (start, 0), &mut |(from, to)| matrix.copy(source, from, &mut out[to..]));
        }
    }
}

/// Copies rows of `n` elements one after the other.
fn rows<T: Copy>(source: &[T], start: usize, (dims, strides): (&[usize], &[isize]), n: usize, out: &mut [T]) {
    let outer = dims.len() - 1;
    let mut rows = out.chunks_exact_mut(n.max(1));
    let both: Vec<(isize, isize)> = strides[..outer].iter().map(|stride| (*stride, 0)).collect();
    for_each(&dims[..outer], &both, (start, 0), &mut |(from, _)| {
        if let Some(row) = rows.next() {
            line(source, from, strides[outer], row);
        }
    });
}

/// Axes that are one in memory as one, without those of size 1.
pub fn merged(dims: &[usize], strides: &[isize]) -> (Vec<usize>, Vec<isize>) {
    let (mut sizes, mut steps): (Vec<usize>, Vec<isize>) = (Vec::new(), Vec::new());
    for (&n, &stride) in dims.iter().zip(strides).filter(|(n, _)| **n != 1) {
        match (sizes.last_mut(), steps.last_mut()) {
            (Some(size), Some(step)) if *step == n.cast_signed() * stride => (*size, *step) = (*size * n, stride),
            _ => {
                sizes.push(n);
                steps.push(stride);
            }
        }
    }
    (sizes, steps)
}

/// Calls `f` with both places of each position, in row-major order.
fn for_each(dims: &[usize], steps: &[(isize, isize)], at: (usize, usize), f: &mut impl FnMut((usize, usize))) {
    match (dims.split_first(), steps.split_first()) {
        (Some((&n, dims)), Some((&(from, to), steps))) => {
            let mut at = at;
            for _ in 0..n {
                for_each(dims, steps, at, f);
                // Behind the last position nothing is read.
                at = (at.0.wrapping_add_signed(from), at.1.wrapping_add_signed(to));
            }
        }
        _ => f(at),
    }
}

fn line<T: Copy>(source: &[T], start: usize, stride: isize, out: &mut [T]) {
    let n = out.len();
    match stride {
        _ if n == 0 => {}
        1 => out.copy_from_slice(&source[start..][..n]),
        0 => out.fill(source[start]),
        2.. => {
            let from = source[start..].iter().step_by(stride.unsigned_abs());
            out.iter_mut().zip(from).for_each(|(out, from)| *out = *from);
        }
        _ => {
            let from = source[..=start].iter().rev().step_by(stride.unsigned_abs());
            out.iter_mut().zip(from).for_each(|(out, from)| *out = *from);
        }
    }
}

/// Rows by columns, each with the step to the next in the source; a row of the result begins `out_row` elements behind the one before.
struct Matrix {
    rows: usize,
    row: isize,
    columns: usize,
    column: isize,
    out_row: usize,
}

impl Matrix {
    fn copy<T: Copy>(&self, source: &[T], start: usize, out: &mut [T]) {
        const SIDE: usize = 16;
        for r in (0..self.rows).step_by(SIDE) {
            for c in (0..self.columns).step_by(SIDE) {
                let n = SIDE.min(self.columns - c);
                for r in r..self.rows.min(r + SIDE) {
                    let from = start.wrapping_add_signed(r.cast_signed() * self.row + c.cast_signed() * self.column);
                    line(source, from, self.column, &mut out[r * self.out_row + c..][..n]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(dims: &[usize], strides: &[isize]) {
        let reach = |down: bool| -> usize {
            let steps = dims.iter().zip(strides).filter(|(_, stride)| (**stride < 0) == down);
            steps.map(|(n, stride)| n.saturating_sub(1) * stride.unsigned_abs()).sum()
        };
        let (start, len) = (reach(true), reach(true) + reach(false) + 1);
        let source: Vec<u32> = (0..u32::try_from(len).expect("small")).collect();
        let n: usize = dims.iter().product();
        let place = |mut i: usize| {
            let mut at = start;
            for (size, stride) in dims.iter().zip(strides).rev() {
                at = at.wrapping_add_signed((i % size).cast_signed() * stride);
                i /= size;
            }
            source[at]
        };
        let mut out = vec![u32::MAX; n];
        copy(&source, start, dims, strides, &mut out);
        assert_eq!(out, (0..n).map(place).collect::<Vec<_>>(), "{dims:?} by {strides:?}");
    }

    #[test]
    fn every_element_comes_from_its_place() {
        check(&[], &[]);
        check(&[5], &[1]);
        check(&[5], &[3]);
        check(&[17, 33], &[1, 17]);
        check(&[33, 17], &[17, 1]);
        check(&[3, 1, 40], &[40, 0, 1]);
        for (dims, order) in [
            ([2, 3, 4, 5], [3, 2, 1, 0]),
            ([2, 3, 4, 5], [1, 0, 3, 2]),
            ([2, 3, 4, 5], [0, 1, 3, 2]),
            ([20, 3, 35, 2], [2, 0, 3, 1]),
            ([1, 30, 1, 18], [3, 0, 1, 2]),
        ] {
            let strides = [dims[1] * dims[2] * dims[3], dims[2] * dims[3], dims[3], 1].map(usize::cast_signed);
            check(&order.map(|axis| dims[axis]), &order.map(|axis| strides[axis]));
        }
        check(&[5], &[-1]);
        check(&[7], &[-3]);
        check(&[6, 40], &[40, -1]);
        check(&[6, 40], &[-40, 1]);
        check(&[40, 33], &[1, -40]);
        check(&[40, 33, 5], &[-5, 200, 1]);
        check(&[40, 33, 5], &[10, 400, 2]);
        check(&[0, 3], &[1, 1]);
        check(&[4, 3], &[1, 0]);
    }
}
