//! `x[...]`: keys as applications of take, slice, expand_dims and masks.
//!
//! Invariant: what a key selects is computed by ops, so that symbols are indexed like values. A position is taken along
//! uniform axes alone: a ragged one has no place that is in every row.

use super::{RaggedTensor, select};
use crate::args::{int, typed};
use crate::axes::rank;
use extenso_core::{Tensor, Value, ops};
use extenso_types::{DType, Error, Result};

/// One part of a key.
#[derive(Clone)]
pub enum Part {
    /// The element at a position, counted from the end if negative; the axis is dropped.
    At(i64),
    /// A slice by the rules of Python.
    Slice {
        /// The first position; without it, the end that the step comes from.
        start: Option<i64>,
        /// The position to stop before; without it, the end that the step goes to.
        stop: Option<i64>,
        /// The step, which is not zero.
        step: i64,
    },
    /// A new axis of size 1.
    NewAxis,
    /// As many whole axes as the other parts leave; at most once.
    Ellipsis,
    /// Integer positions, or a mask of booleans.
    Select(Value),
}

impl Part {
    /// The whole axis.
    pub const ALL: Part = Part::Slice { start: None, stop: None, step: 1 };

    /// How many axes the part is about.
    fn width(&self) -> Result<usize> {
        match self {
            Part::At(_) | Part::Slice { .. } => Ok(1),
            Part::NewAxis | Part::Ellipsis => Ok(0),
            Part::Select(value) => {
                if is_mask(value) {
                    rank(value)
                } else {
                    Ok(1)
                }
            }
        }
    }
}

/// What a key selects of a value.
///
/// Integer positions take along the outer axis of ragged values and along every uniform one; slices go along all axes, and
/// slice each row for itself along a ragged one. A mask picks as [`boolean_mask`](ops::boolean_mask) does.
/// Errors: more parts than axes, two ellipses; a position out of range, or along a ragged axis; a step of zero; a mask of
/// several axes behind the first; a part that is neither integers nor booleans.
///
/// ```
/// # use extenso_ext::{Literal, constant, to_literal};
/// # use extenso_ext::ragged::{Part, index};
/// let list = |items: &[&str]| Literal::List(items.iter().map(|s| Literal::Str(s.to_string())).collect());
/// let rows = [&["a", "b"][..], &["c", "d", "e"], &["f"], &[], &["g"]];
/// let x = constant(Literal::List(rows.iter().map(|row| list(row)).collect())).unwrap();
/// let show = |parts: &[Part]| to_literal(&index(&x, parts).unwrap()).unwrap().to_string();
/// assert_eq!(show(&[Part::At(1)]), r#"["c", "d", "e"]"#);
/// assert_eq!(show(&[Part::Ellipsis, Part::At(2), Part::At(0)]), r#""f""#);
/// let last = Part::Slice { start: Some(-1), stop: None, step: 1 };
/// assert_eq!(show(&[Part::ALL, last]), r#"[["b"], ["e"], ["f"], [], ["g"]]"#);
/// assert!(index(&x, &[Part::ALL, Part::At(0)]).unwrap_err().to_string().contains("axis 1 is ragged"));
/// ```
pub fn index(x: &Value, parts: &[Part]) -> Result<Value> {
    let parts = expanded(x, parts)?;
    let mut result = x.clone();
    let mut axis = 0;
    for part in &parts {
        let kept;
        (result, kept) = applied(result, part, axis)?;
        axis += kept;
    }
    Ok(result)
}

/// What a part selects at an axis, and how many axes are left in its place.
fn applied(x: Value, part: &Part, axis: usize) -> Result<(Value, usize)> {
    Ok(match part {
        Part::At(i) => {
            refuse_ragged(&x, axis)?;
            (ops::take(x, Tensor::scalar(*i), int(axis))?, 0)
        }
        Part::Slice { start: None, stop: None, step: 1 } => (x, 1),
        Part::Slice { start, stop, step } => {
            let start = start.unwrap_or(if *step < 0 { i64::MAX } else { 0 });
            (ops::slice(x, int(axis), start, stop.map(|stop| vec![stop]), *step)?, 1)
        }
        Part::NewAxis => (ops::expand_dims(x, int(axis))?, 1),
        Part::Ellipsis => (x, 0),
        Part::Select(chosen) => (selected(&x, chosen, axis)?, axes_left(&x, chosen)?),
    })
}

/// The parts with whole axes in the place of the ellipsis.
fn expanded(x: &Value, parts: &[Part]) -> Result<Vec<Part>> {
    let axes = rank(x)?;
    let named = parts.iter().map(Part::width).sum::<Result<usize>>()?;
    if named > axes {
        return Err(Error::index(format!("the key is about {named} axes, and the value has {axes}"))
            .wanted("at most one part for each axis"));
    }
    if parts.iter().filter(|part| matches!(part, Part::Ellipsis)).count() > 1 {
        return Err(Error::index("the key has two ellipses").wanted("at most one"));
    }
    let whole = |part: &Part| match part {
        Part::Ellipsis => vec![Part::ALL; axes - named],
        Part::At(_) | Part::Slice { .. } | Part::NewAxis | Part::Select(_) => vec![part.clone()],
    };
    Ok(parts.iter().flat_map(whole).collect())
}

/// Errors: the axis is ragged.
fn refuse_ragged(x: &Value, axis: usize) -> Result<()> {
    let mut value = x.clone();
    let mut inner = axis;
    while let Some(ragged) = typed::<RaggedTensor>(&value) {
        match inner {
            0 => return Ok(()),
            1 => {
                let error = Error::index(format!("axis {axis} is ragged: a position is not in every row"));
                return Err(error.wanted("a slice along a ragged axis, as in `x[:, 0:1]`"));
            }
            _ => inner -= 1,
        }
        value = ragged.values().clone();
    }
    Ok(())
}

fn is_mask(value: &Value) -> bool {
    match typed::<RaggedTensor>(value) {
        Some(ragged) => is_mask(ragged.values()),
        None => value.tensor().is_ok_and(|t| t.dtype() == DType::Bool),
    }
}

fn selected(x: &Value, chosen: &Value, axis: usize) -> Result<Value> {
    if !is_mask(chosen) {
        if let Ok(tensor) = chosen.tensor()
            && !tensor.dtype().is_integer()
        {
            return Err(Error::dtype(format!("found indices of {}", tensor.spec())).wanted("integers or booleans"));
        }
        refuse_ragged(x, axis)?;
        return ops::take(x, chosen, int(axis));
    }
    match (axis, rank(chosen)?) {
        (0, _) => ops::boolean_mask(x, chosen, 0),
        (_, 1) => {
            refuse_ragged(x, axis)?;
            select::along(x, chosen, axis)
        }
        (_, axes) => Err(Error::shape(format!("a mask of {axes} axes stands at axis {axis}"))
            .wanted("a mask of one axis, or one of the first axes")),
    }
}

/// How many axes a selection leaves in the place of those that it is about.
fn axes_left(x: &Value, chosen: &Value) -> Result<usize> {
    let axes = rank(chosen)?;
    let keeps_rows = typed::<RaggedTensor>(x).is_some() || typed::<RaggedTensor>(chosen).is_some();
    Ok(if is_mask(chosen) && !keeps_rows { 1 } else { axes })
}
