//! Windows that slide along lists.

use super::{along_one, rows_value};
use crate::args::int;
use crate::axes::{counted, is_ragged, rank};
use extenso_core::reduce::normalize_axis;
use extenso_core::{Arg, Value, ops};
use extenso_types::{DType, Error, Result};

/// Each `size` neighbours along `axis`, the first of each window `stride` behind that of the one before.
///
/// A list shorter than `size` has no window. These are the n-grams of anything. Shapes: the axis counts windows, and behind it is
/// one of `size`. Errors: a size or a stride below one; an axis out of range; more elements than memory holds.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// let x = constant(vec![vec![1, 2, 3], vec![], vec![4]]).unwrap();
/// assert_eq!(to_literal(&lists::windows(&x, 2, 1, -1).unwrap()).unwrap().to_string(), "[[[1, 2], [2, 3]], [], []]");
/// ```
pub fn windows(x: &Value, size: i64, stride: i64, axis: i64) -> Result<Value> {
    slid(x, size, stride, axis).map_err(|e| e.at_part("windows"))
}

/// The numbers of so many places are made, whether there is a window or not.
const COUNTED: i64 = 1 << 16;

fn slid(x: &Value, size: i64, stride: i64, axis: i64) -> Result<Value> {
    for (name, n) in [("size", size), ("stride", stride)] {
        if n < 1 {
            return Err(Error::value(format!("{name} is {n}")).wanted("at least 1"));
        }
    }
    let axis = normalize_axis(axis, rank(x)?)?;
    // A window begins where as many elements as it needs are left.
    let stop = (size > 1).then(|| vec![1 - size]);
    let of_starts = |starts: Value| {
        let starts = ops::expand_dims(starts, 1)?;
        if size <= COUNTED {
            return ops::add(starts, counted(usize::try_from(size).unwrap_or(0))?);
        }
        // Counted once for each window, of which there may be none.
        let all = ops::repeat(starts, size, Some(1))?;
        let counted = ops::cumulative_sum(ops::ones_like(&all)?, 1, false)?;
        ops::subtract(ops::add(all, counted)?, 1)
    };
    if is_ragged(x, axis) {
        return along_one(x, int(axis), &|rows| {
            let starts = ops::sliced_places(rows.partition(), 0_i64, stop.clone(), stride)?;
            let cut = ops::sliced_rows(rows.partition(), 0_i64, stop.clone(), stride)?;
            rows_value(ops::take(rows.values(), of_starts(starts)?, 0)?, &cut)
        });
    }
    if axis == 0 && stride == 1 && size <= SHARED && is_data(x) {
        return shared(x, size);
    }
    let starts = ops::slice(ops::indices_along(x, int(axis))?, 0_i64, 0_i64, stop, stride)?;
    ops::take(x, of_starts(starts)?, int(axis))
}

/// Windows of at most so many places are joined of pieces of the list.
const SHARED: i64 = 1024;

/// The windows of dense data along its first axis: what stands at each place of all windows is a piece of the list that shares its
/// memory, so no index as large as the windows is made.
fn shared(x: &Value, size: i64) -> Result<Value> {
    let piece = |at: i64| {
        let behind = size - 1 - at;
        Ok(Arg::from(ops::slice(x, 0_i64, at, (behind > 0).then(|| vec![-behind]), 1_i64)?))
    };
    ops::stack((0..size).map(piece).collect::<Result<Vec<Arg>>>()?, 1)
}

/// Whether a value is numbers or booleans that are known. Traced windows are a `take`, whatever their size.
fn is_data(x: &Value) -> bool {
    matches!(x, Value::Tensor(x) if (x.dtype().is_numeric() || x.dtype() == DType::Bool) && x.data().is_ok())
}
