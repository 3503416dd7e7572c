//! What only data can tell of a value that is made of symbols: checks that are in it, and made when the graph runs.
//!
//! Invariant: where sizes are known, nothing is put into the graph. A check changes no value and no spec.

use crate::args::int;
use crate::axes::{dim, is_ragged, one_size, rank};
use crate::shapes::size_along;
use extenso_core::{Provenance, Tensor, Value, ops, rebuild};
use extenso_types::{Dim, Error, Result};

/// `y`, whose first `axes` axes have the sizes of those of `x`: known now, or seen when the graph runs.
///
/// Errors: sizes that differ, now or when the graph runs, of which `what` is said.
pub(crate) fn of_outer_sizes(y: Value, x: &Value, axes: usize, what: &str) -> Result<Value> {
    let Ok(known) = rank(x) else { return Ok(y) };
    (0..axes.min(known)).filter(|axis| !is_ragged(x, *axis) || one_size(x, *axis).is_some()).try_fold(y, |y, axis| {
        let size = dim(x, axis)?.known().or_else(|| one_size(x, axis)).map_or_else(Dim::any, Dim::Known);
        of_size(y, axis, size, &|| size_along(x, axis), what)
    })
}

/// `y`, which has a size along an axis: one that is known, or that `size` tells as a vector of one.
///
/// Errors: as of [`of_outer_sizes`].
pub(crate) fn of_size(
    y: Value,
    axis: usize,
    known: Dim,
    size: &dyn Fn() -> Result<Value>,
    what: &str,
) -> Result<Value> {
    // Of other types than have axes nothing can be said.
    let Ok(found) = dim(&y, axis) else { return Ok(y) };
    let found = found.known().or_else(|| one_size(&y, axis));
    match (known.known(), found) {
        (Some(wanted), Some(found)) if wanted != found => {
            return Err(Error::shape(format!("{what} are {wanted} and {found}")).wanted("one size for both"));
        }
        (Some(_), Some(_)) => return Ok(y),
        (_, None) if is_ragged(&y, axis) => return Ok(y),
        (None, _) | (_, None) => {}
    }
    let wanted = known.known().map_or_else(size, |n| Ok(Tensor::from_vec(vec![int(n)]).into()))?;
    checked(&y, &size_along(&y, axis)?, &wanted, what)
}

/// The value, if the sizes are those that are wanted; `what` says of what.
///
/// Errors: sizes that differ, now or when the graph runs.
pub(crate) fn checked(value: &Value, given: &Value, wanted: &Value, what: &str) -> Result<Value> {
    of_tensors(value, &|tensor| ops::check_equal(tensor, given, wanted, what))
}

/// The value with `check` around each of its tensors.
fn of_tensors(value: &Value, check: &dyn Fn(&Value) -> Result<Value>) -> Result<Value> {
    match value {
        Value::Tensor(_) => check(value),
        Value::Partition(_) => Ok(value.clone()),
        Value::Ext(ext) => {
            let components = ext.components()?.iter().map(|x| of_tensors(x, check)).collect::<Result<_>>()?;
            rebuild(&ext.spec()?, components, Provenance::Trusted)
        }
    }
}
