//! Normalizations of lists, where their lines go across rows; otherwise those of the core.

use super::moves::{across_rows, rows_inside};
use crate::args::int;
use crate::axes::rank;
use crate::ragged::RaggedTensor;
use extenso_core::attrs::Axes;
use extenso_core::reduce::normalize_axes;
use extenso_core::{Arg, ExtensionType, Value, ops};
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
    match across(x, axis, &|lines| ops::layer_norm(lines, None, None, 1, epsilon)) {
        None => ops::layer_norm(x, scale, bias, axis.clone(), epsilon),
        Some(made) => made.and_then(|made| scaled(made, scale, bias)).map_err(|e| e.at("layer_norm")),
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
    match across(x, axis, &|lines| ops::rms_norm(lines, None, 1, epsilon)) {
        None => ops::rms_norm(x, scale, axis.clone(), epsilon),
        Some(made) => made.and_then(|made| scaled(made, scale, None)).map_err(|e| e.at("rms_norm")),
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
    across(x, axis, &|lines| ops::l2_normalize(lines, 1, epsilon))
        .unwrap_or_else(|| ops::l2_normalize(x, axis.clone(), epsilon))
}

/// What `f` makes of the lines along one axis, as rows, if they go across rows.
fn across(x: &Value, axis: &Axes, f: &dyn Fn(Value) -> Result<Value>) -> Option<Result<Value>> {
    let (Value::Ext(_), Axes::List(axes)) = (x, axis) else { return None };
    let axes = normalize_axes(axes, rank(x).ok()?).ok()?;
    let &[at] = &axes[..] else { return None };
    let lines = |rows: &RaggedTensor| f(rows.clone().into_value());
    rows_inside(x, at, &|_| true).then(|| across_rows(x, int(at), &lines))
}

fn scaled(x: Value, scale: Option<Arg>, bias: Option<Arg>) -> Result<Value> {
    let x = scale.map_or_else(|| Ok(x.clone()), |scale| ops::multiply(&x, scale))?;
    bias.map_or_else(|| Ok(x.clone()), |bias| ops::add(&x, bias))
}
