//! Values that are chosen by several conditions, or by where a number lies between others.
//!
//! Invariant: all are compositions of ops, so that symbols are treated like values and gradients follow.

use crate::axes::{outer, rank};
use crate::dtype_of;
use crate::missing::mask;
use extenso_core::{Arg, Value, ops};
use extenso_types::{DType, Dim, Error, Result};

/// Of the choices the first whose condition is true, element by element, and where none is `default`, or nothing without one. NumPy's name.
///
/// Shapes: all broadcast as those of `where`; where a condition that is looked at is missing, so is the result. Errors: no condition,
/// or another number of choices; conditions that are not boolean; choices and a default of different dtypes, or shapes that do not broadcast.
///
/// ```
/// # use extenso_core::{Arg, Tensor, Value, ops};
/// # use extenso_ext::{select, to_literal};
/// let x = Value::from(Tensor::from_vec(vec![-5.0, 0.5, 7.0]));
/// let conditions = [ops::less(&x, 0.0).unwrap(), ops::less(&x, 1.0).unwrap()];
/// let found = select(&conditions, &[Arg::from(0.0), Arg::from(&x)], Some(Arg::from(9.0))).unwrap();
/// assert_eq!(found.to_string(), "[0.0, 0.5, 9.0]");
/// let found = select(&conditions, &[Arg::from(0.0), Arg::from(&x)], None).unwrap();
/// assert_eq!(to_literal(&found).unwrap().to_string(), "[0.0, 0.5, None]");
/// ```
pub fn select(conditions: &[Value], choices: &[Arg], default: Option<Arg>) -> Result<Value> {
    let chosen = || {
        let (Some(last), true) = (choices.last(), conditions.len() == choices.len()) else {
            let (conditions, choices) = (conditions.len(), choices.len());
            return Err(Error::value(format!("{conditions} conditions and {choices} choices are given"))
                .wanted("a choice for each condition, and at least one"));
        };
        let mut pairs = conditions.iter().zip(choices).rev();
        let rest = default.clone().unwrap_or_else(|| last.clone());
        let found = pairs
            .try_fold(rest, |rest, (condition, choice)| ops::where_(condition, choice.clone(), rest).map(Arg::Value))?;
        let found = found.value()?;
        if default.is_some() {
            return Ok(found.clone());
        }
        let any = conditions.iter().cloned().map(Ok).reduce(|a, b| ops::logical_or(a?, b?));
        any.map_or_else(|| Ok(found.clone()), |any| mask(found, &any?))
    };
    chosen().map_err(|e| e.at_part("select"))
}

/// What lies above each number on the line through the points of `xp` and `fp`. NumPy's name.
///
/// Below the first point it is `left`, and above the last `right`; without them, what these points have. NaN gives NaN. Integers are
/// taken as f64. Shapes: those of `x`, rows too; `xp`, which must not decrease, and `fp` are vectors of one size. Errors: no point; other
/// shapes; an `xp` that decreases or is NaN; no numbers.
///
/// ```
/// # use extenso_core::{Tensor, Value};
/// let vector = |x: [f64; 3]| Value::from(Tensor::from_vec(x.to_vec()));
/// let found = extenso_ext::interp(&vector([0.5, 15.0, -1.0]), &vector([0.0, 10.0, 20.0]), &vector([0.0, 1.0, 3.0]), None, None);
/// assert_eq!(found.unwrap().to_string(), "[0.05, 2.0, 0.0]");
/// ```
pub fn interp(x: &Value, xp: &Value, fp: &Value, left: Option<Arg>, right: Option<Arg>) -> Result<Value> {
    let found = || {
        let (x, xp, fp) = (floats(x)?, floats(xp)?, floats(fp)?);
        let size = points(&xp).map_err(|e| e.at("xp"))?;
        let given = points(&fp).map_err(|e| e.at("fp"))?;
        if !size.is_compatible_with(given) {
            return Err(
                Error::shape(format!("there are {size} points in xp, and {given} in fp")).wanted("as many in both")
            );
        }
        let count = ops::sum(ops::ones_like(ops::cast(&xp, DType::I64)?)?, 0, false)?;
        let last = ops::subtract(&count, 1)?;
        let above = ops::bucketize(&x, &xp, "right".to_string()).map_err(|e| e.at("xp"))?;
        // The points on either side; beyond the ends, those next to them.
        let lower = ops::maximum(ops::minimum(ops::subtract(above, 1)?, ops::subtract(&last, 1)?)?, 0)?;
        let upper = ops::minimum(ops::add(&lower, 1)?, &last)?;
        let at = |of: &Value, place: &Value| ops::take(of, place, 0);
        let ((x0, x1), (f0, f1)) = ((at(&xp, &lower)?, at(&xp, &upper)?), (at(&fp, &lower)?, at(&fp, &upper)?));
        let width = ops::subtract(x1, &x0)?;
        // Nothing is divided by zero where points stand above each other, which the gradient would see.
        let share = ops::divide(ops::subtract(&x, x0)?, ops::where_(ops::equal(&width, 0.0)?, 1.0, &width)?)?;
        let rise = ops::subtract(f1, &f0)?;
        let beyond = ops::add(&f0, ops::multiply(&share, &rise)?)?;
        // At a point the next one has no say where it is infinite; a finite one says what the slope is.
        let endless = ops::logical_and(ops::equal(share, 0.0)?, ops::logical_not(ops::isfinite(rise)?)?)?;
        let between = ops::where_(endless, &f0, beyond)?;
        let (first_x, last_x, last_f) = (at(&xp, &zero())?, at(&xp, &last)?, at(&fp, &last)?);
        let right = right.unwrap_or(Arg::from(&last_f));
        let left = left.map_or_else(|| at(&fp, &zero()).map(Arg::Value), Ok)?;
        let to_last = ops::where_(ops::equal(&x, &last_x)?, &last_f, between)?;
        let to_right = ops::where_(ops::greater(&x, last_x)?, right, to_last)?;
        ops::where_(ops::less(x, first_x)?, left, to_right)
    };
    found().map_err(|e| e.at_part("interp"))
}

fn zero() -> Value {
    extenso_core::Tensor::scalar(0_i64).into()
}

/// The number of points.
///
/// Errors: no vector, or nothing in it.
fn points(x: &Value) -> Result<Dim> {
    match (rank(x)?, outer(x)) {
        (1, Some(size)) if size != Dim::Known(0) => Ok(size),
        (rank, size) => {
            let size = size.map_or_else(|| "no".to_string(), |size| size.to_string());
            Err(Error::shape(format!("found rank {rank} and {size} elements")).wanted("a vector of at least one point"))
        }
    }
}

/// Integers as f64.
fn floats(x: &Value) -> Result<Value> {
    match dtype_of(&x.spec()?) {
        Some(dtype) if dtype.is_integer() => ops::cast(x, DType::F64),
        _ => Ok(x.clone()),
    }
}
