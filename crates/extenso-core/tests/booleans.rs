//! Laws of ops that move elements: booleans move as bytes do, from any bit on, few and many, with any number of threads.

use extenso_core::ops::{
    boolean_mask, broadcast_to, cast, concat, flip, gather_rows_of, partition_from_lengths, repeat, roll, slice, sort,
    stack, take, take_along_axis, tile, transpose, where_,
};
use extenso_core::{Result, Tensor, Value, with_threads};
use extenso_types::DType;

/// Booleans of these sizes, from some bit of their memory on.
fn booleans(dims: &[usize], from: usize) -> Result<Value> {
    let n: usize = dims.iter().product();
    let bit = |i: usize| (i.wrapping_mul(0x9e37_79b9) >> 13).is_multiple_of(3);
    let all = Tensor::bools(&[n + from], &(0..n + from).map(bit).collect::<Vec<_>>())?;
    Ok(all.slice_rows(from, n)?.with_dims(dims)?.into())
}

/// Checks that booleans are moved as their bytes are.
fn check(dims: &[usize], moved: impl Fn(&Value) -> Result<Value>) -> Result<()> {
    for from in [0, 1, 7, 13] {
        let x = booleans(dims, from)?;
        let wanted = cast(moved(&cast(&x, DType::U8)?)?, DType::Bool)?;
        for threads in [1, 3] {
            let found = with_threads(threads, || moved(&x))?;
            assert_eq!(found.spec()?, wanted.spec()?, "{dims:?}");
            let (found, wanted) = (found.tensor()?.data()?, wanted.tensor()?.data()?);
            assert!(found.bits()? == wanted.bits()?, "{dims:?} from bit {from}, {threads} threads");
        }
    }
    Ok(())
}

const SHAPES: [[usize; 3]; 7] = [[1, 1, 1], [2, 3, 5], [0, 3, 4], [7, 64, 9], [3, 5, 130], [70, 70, 30], [300, 1, 700]];

#[test]
fn slices_and_transposes() -> Result<()> {
    for dims in SHAPES {
        for axis in 0..3 {
            for step in [-3, -1, 1, 2, 40] {
                check(&dims, |x| slice(x, axis, if step < 0 { -1 } else { 1 }, None, step))?;
            }
            check(&dims, |x| flip(x, axis))?;
            check(&dims, |x| roll(x, vec![3], axis))?;
        }
        for order in [[2, 1, 0], [1, 0, 2], [0, 2, 1], [2, 0, 1]] {
            check(&dims, |x| transpose(x, Some(order.to_vec())))?;
        }
    }
    Ok(())
}

#[test]
fn joins_and_repetitions() -> Result<()> {
    for dims in SHAPES {
        for axis in 0..3 {
            check(&dims, |x| concat(vec![x.clone(), x.clone(), x.clone()], axis))?;
            check(&dims, |x| concat(vec![x.clone(), slice(x, axis, 0, Some(vec![1]), 1)?], axis))?;
            check(&dims, |x| repeat(x, 3, Some(axis)))?;
        }
        for axis in 0..4 {
            check(&dims, |x| stack(vec![x.clone(), flip(x, 0)?], axis))?;
        }
        check(&dims, |x| tile(x, vec![2, 1, 3]))?;
        check(&dims, |x| {
            let lengths: Vec<i64> = (0..dims[0] as i64).map(|i| i * 7 % 5).collect();
            gather_rows_of(x, partition_from_lengths(Tensor::from_vec(lengths))?)
        })?;
    }
    for (from, to) in
        [([1, 1, 5], [3, 4, 5]), ([4, 1, 1], [4, 30, 70]), ([3, 1, 9], [3, 500, 9]), ([1, 8, 1], [2, 8, 2])]
    {
        check(&from, |x| broadcast_to(x, to.iter().map(|n| *n as i64).collect::<Vec<_>>()))?;
    }
    Ok(())
}

#[test]
fn choices() -> Result<()> {
    for dims in SHAPES {
        for axis in 0..3 {
            let n = dims[axis as usize] as i64;
            for count in [1, 2, 50, 3000_i64] {
                let places: Vec<i64> = (0..if n == 0 { 0 } else { count }).map(|i| i * 31 % n).collect();
                check(&dims, |x| take(x, Tensor::from_vec(places.clone()), axis))?;
            }
            if n > 0 {
                check(&dims, |x| take(x, Tensor::scalar(n / 2), axis))?;
            }
            let mask: Vec<bool> = (0..n).map(|i| i % 3 != 1).collect();
            check(&dims, |x| boolean_mask(x, Tensor::bools(&[mask.len()], &mask)?, axis))?;
            check(&dims, |x| take_along_axis(x, extenso_core::ops::argsort(x, axis, true)?, axis))?;
            check(&dims, |x| sort(x, axis, false))?;
        }
        check(&dims, |x| where_(booleans(&dims, 3)?, x, slice(x, 0, 0, Some(vec![1]), 1)?))?;
    }
    Ok(())
}
