//! Normalizations of lists, where their lines go across rows; otherwise those of the core.

use super::spreads::{apart, columns, in_f32, list, unfolded};
use extenso_core::attrs::Axes;
use extenso_core::{Arg, Value, ops};
use extenso_types::Result;

/// `x` less its mean over `axis`, divided by its standard deviation there; times `scale`, plus `bias`.
///
/// As [`ops::layer_norm`]; along an axis with ragged rows inside, of each column of the rows. Errors: as there.
///
/// ```
/// # use extenso_core::attrs::Axes;
/// # use extenso_ext::{constant, lists, to_literal};
/// let x = constant(vec![vec![1.0, 5.0], vec![3.0]]).unwrap();
/// let y = lists::layer_norm(&x, None, None, &Axes::List(vec![0]), 0.25).unwrap();
/// assert_eq!(to_literal(&lists::diff(&y, 1, 1).unwrap()).unwrap().to_string(), "[[0.8944271909999159], []]");
/// ```
pub fn layer_norm(x: &Value, scale: Option<Arg>, bias: Option<Arg>, axis: &Axes, epsilon: f64) -> Result<Value> {
    let centered = |x: &Value| apart(x, axis);
    match across(x, axis, epsilon, &centered, &|squares, axes| of_mean(squares, axes, epsilon)).transpose() {
        None => ops::layer_norm(x, scale, bias, axis.clone(), epsilon),
        Some(made) => made.and_then(|made| scaled(made, scale, bias)).map_err(|e| e.at_part("layer_norm")),
    }
}

/// `x` divided by the root of the mean of its squares over `axis`; times `scale`.
///
/// As [`ops::rms_norm`]; along an axis with ragged rows inside, of each column of the rows. Errors: as there.
///
/// ```
/// # use extenso_core::attrs::Axes;
/// # use extenso_ext::{constant, lists, to_literal};
/// let x = constant(vec![vec![3.0, 5.0], vec![-3.0]]).unwrap();
/// let y = lists::rms_norm(&x, None, &Axes::List(vec![0]), 0.0).unwrap();
/// assert_eq!(to_literal(&y).unwrap().to_string(), "[[1.0, 1.0], [-1.0]]");
/// ```
pub fn rms_norm(x: &Value, scale: Option<Arg>, axis: &Axes, epsilon: f64) -> Result<Value> {
    let as_is = |x: &Value| Ok(x.clone());
    match across(x, axis, epsilon, &as_is, &|squares, axes| of_mean(squares, axes, epsilon)).transpose() {
        None => ops::rms_norm(x, scale, axis.clone(), epsilon),
        Some(made) => made.and_then(|made| scaled(made, scale, None)).map_err(|e| e.at_part("rms_norm")),
    }
}

/// `x` divided by its length over `axis`, but by no less than the root of `epsilon`.
///
/// As [`ops::l2_normalize`]; along an axis with ragged rows inside, of each column of the rows. Errors: as there.
///
/// ```
/// # use extenso_core::attrs::Axes;
/// # use extenso_ext::{constant, lists, to_literal};
/// let x = constant(vec![vec![6.0, 5.0], vec![-8.0]]).unwrap();
/// let y = lists::l2_normalize(&x, &Axes::List(vec![0]), 1e-12).unwrap();
/// assert_eq!(to_literal(&y).unwrap().to_string(), "[[0.6, 1.0], [-0.8]]");
/// ```
pub fn l2_normalize(x: &Value, axis: &Axes, epsilon: f64) -> Result<Value> {
    let as_is = |x: &Value| Ok(x.clone());
    let length = |squares: Value, axes: Axes| ops::sqrt(ops::maximum(ops::sum(squares, axes, false)?, epsilon)?);
    match across(x, axis, epsilon, &as_is, &length).transpose() {
        None => ops::l2_normalize(x, axis.clone(), epsilon),
        Some(made) => made.map_err(|e| e.at_part("l2_normalize")),
    }
}

/// What `brought` makes of `x`, divided by what `size` makes of its squares over `axis`; none unless lines along it go across rows.
fn across(
    x: &Value,
    axis: &Axes,
    epsilon: f64,
    brought: &dyn Fn(&Value) -> Result<Value>,
    size: &dyn Fn(Value, Axes) -> Result<Value>,
) -> Result<Option<Value>> {
    // The functions of the core say what is wrong with `epsilon`.
    let Some(axes) = columns(x, axis)?.filter(|_| epsilon >= 0.0) else { return Ok(None) };
    let divided = |x: &Value| {
        let x = brought(x)?;
        let size = size(ops::square(&x)?, list(&axes))?;
        ops::divide(&x, unfolded(&size, &x, &axes)?)
    };
    in_f32(x, divided).map(Some)
}

fn of_mean(squares: Value, axes: Axes, epsilon: f64) -> Result<Value> {
    ops::sqrt(ops::add(ops::mean(squares, axes, false)?, epsilon)?)
}

fn scaled(x: Value, scale: Option<Arg>, bias: Option<Arg>) -> Result<Value> {
    let x = scale.map_or_else(|| Ok(x.clone()), |scale| ops::multiply(&x, scale))?;
    bias.map_or_else(|| Ok(x.clone()), |bias| ops::add(&x, bias))
}
