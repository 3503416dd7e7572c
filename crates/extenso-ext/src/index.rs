//! `x[...]`: fields by name and places by position, in one key, of any value.
//!
//! Invariant: names and places do not disturb each other. A place counts axes from the left whatever names stand before it,
//! so that `x["id", 0]` is `x[0, "id"]`; fields are chosen first, and only what was chosen is moved. What a place selects is
//! computed by ops, so that symbols are indexed like values; what an op does with a type, its handlers say.

mod place;
mod several;

use crate::args::{int, typed_ref};
use crate::axes::rank;
use crate::meaning::nested::innermost;
use crate::structs::paths::project;
use crate::structs::select;
use crate::{Bool8Tensor, FieldPath};
use extenso_core::{Value, ops};
use extenso_types::{DType, Error, Result};
pub(crate) use several::in_one_axis;
use std::sync::Arc;

/// One part of a key.
#[derive(Clone, Debug)]
pub enum Index {
    /// The field of this name, through rows and masks.
    Field(Arc<str>),
    /// The records with these fields only, which names or paths of names lead to, through rows and masks.
    Fields(Vec<FieldPath>),
    /// The element at a position, from the end if negative; its axis is gone.
    At(i64),
    /// A part of an axis, by the rules of Python; of each row for itself where the axis is ragged.
    Slice {
        /// The first position; without one, the end that the step leads away from.
        start: Option<i64>,
        /// The position behind the last; without one, the other end.
        stop: Option<i64>,
        /// The distance of two positions; not 0.
        step: i64,
    },
    /// The same with bounds that are known when the graph runs: one integer each.
    Between {
        /// As of [`Index::Slice`].
        start: Option<Value>,
        /// As of [`Index::Slice`].
        stop: Option<Value>,
        /// As of [`Index::Slice`].
        step: i64,
    },
    /// An axis of size 1 before the next one.
    NewAxis,
    /// All axes that the other parts leave over.
    Ellipsis,
    /// The elements where booleans are true, or at the positions that integers say.
    Pick(Value),
}

impl Index {
    /// All of an axis.
    pub const ALL: Index = Index::Slice { start: None, stop: None, step: 1 };
}

impl From<&str> for Index {
    fn from(name: &str) -> Index {
        Index::Field(name.into())
    }
}

impl From<i64> for Index {
    fn from(position: i64) -> Index {
        Index::At(position)
    }
}

/// A part that is no name, and where it stands in the key.
#[derive(Clone)]
struct Place {
    part: Index,
    at: usize,
}

/// What a key chooses of a value: fields of its records, places of its axes.
///
/// Works on tensors, rows, masked values and records, and while tracing where the sizes that are needed are known.
///
/// A slice along a ragged axis slices each row for itself. A single position there is an error, since no position is in every
/// row; integers with the rows of the value, or with a vector for each row, choose positions of each row. Integers along any
/// other axis put their axes in its place. A mask is about as many axes as it has: of a dense value these become one, while
/// ragged values keep their rows, and so does whatever a ragged mask is of. A mask without axes leaves a new one. Of a dense value,
/// integers for neighbouring axes broadcast, and choose an element for each of their places.
///
/// Errors, with the part of the key: a name that is no field; more places than axes; a position out of range, or along a ragged
/// axis; a step of zero; two ellipses, or two tensors; a tensor of other than integers or booleans; a mask that does not fit.
///
/// ```
/// # use extenso_ext::{Index, Literal, constant, index, to_literal};
/// let item = |n: i64| Literal::record([("n", n)]);
/// let x = constant(Literal::record([("items", vec![item(1), item(2), item(3)])])).unwrap();
/// let n = index(&x, &["items".into(), Index::Slice { start: Some(1), stop: None, step: 1 }, "n".into()]).unwrap();
/// assert_eq!(to_literal(&n).unwrap().to_string(), "[2, 3]");
///
/// let rows = constant(vec![vec![1, 2], vec![3, 4, 5], vec![6]]).unwrap();
/// let show = |key: &[Index]| to_literal(&index(&rows, key).unwrap()).unwrap().to_string();
/// assert_eq!(show(&[Index::At(1)]), "[3, 4, 5]");
/// assert_eq!(show(&[Index::ALL, Index::Slice { start: None, stop: None, step: -1 }]), "[[2, 1], [5, 4, 3], [6]]");
/// assert_eq!(show(&[Index::ALL, Index::Pick(constant(vec![vec![-1], vec![0, 0], vec![]]).unwrap())]), "[[2], [3, 3], []]");
/// assert!(index(&rows, &[Index::ALL, Index::At(0)]).unwrap_err().to_string().contains("axis 1 is ragged"));
/// ```
pub fn index(value: &Value, key: &[Index]) -> Result<Value> {
    chosen(value, key).map_err(|e| e.at_part("index"))
}

fn chosen(value: &Value, key: &[Index]) -> Result<Value> {
    let mut value = value.clone();
    let mut places: Vec<Place> = Vec::new();
    for (at, part) in key.iter().enumerate() {
        match part {
            Index::Field(name) => {
                spread(&mut places, &value)?;
                value = select(&value, name).map_err(|e| at_part(e, at, key.len()))?;
            }
            Index::Fields(paths) => {
                spread(&mut places, &value)?;
                value = project(&value, paths.iter().cloned()).map_err(|e| at_part(e, at, key.len()))?;
            }
            // Booleans of eight bits choose as others do.
            Index::Pick(picked) if typed_ref::<Bool8Tensor>(&innermost(picked)).is_some() => {
                places.push(Place { part: Index::Pick(ops::cast(picked, DType::Bool)?), at });
            }
            Index::At(_)
            | Index::Slice { .. }
            | Index::Between { .. }
            | Index::NewAxis
            | Index::Ellipsis
            | Index::Pick(_) => {
                places.push(Place { part: part.clone(), at });
            }
        }
    }
    spread(&mut places, &value)?;
    if let Some(place) = places.iter().find(|place| place::is_mask_without_axes(&place.part))
        && places.iter().any(|place| place::is_tensor(&place.part))
    {
        return Err(at_part(two_tensors(), place.at, key.len()));
    }
    match several::joined(&value, &places)? {
        Some((value, places)) => moved(value, &places, key.len()),
        None => moved(value, &places, key.len()),
    }
}

/// The error at a part of a key of several.
fn at_part(error: Error, at: usize, of: usize) -> Error {
    if of > 1 { error.at(format!("part {} of the key", at + 1)) } else { error }
}

/// Puts whole axes in the place of the ellipsis, as many as the value has left.
fn spread(places: &mut Vec<Place>, value: &Value) -> Result<()> {
    let is_dots = |place: &Place| matches!(place.part, Index::Ellipsis);
    let dots = places.iter().position(is_dots);
    if places.iter().filter(|place| is_dots(place)).count() > 1 {
        return Err(Error::index("the key has two ellipses").wanted("at most one"));
    }
    let rank = match (rank(value), dots) {
        (Ok(rank), _) => rank,
        // While tracing, the axes of an unknown number are counted from the left.
        (Err(_), None) => return Ok(()),
        (Err(error), Some(_)) => return Err(error),
    };
    let used: usize = places.iter().map(|place| place::width(&place.part)).sum::<Result<usize>>()?;
    if used > rank {
        return Err(Error::index(format!("the key is about {used} axes, and the value has {rank}"))
            .wanted("at most one place for each axis"));
    }
    if let Some(i) = dots {
        let whole = Place { part: Index::ALL, at: places[i].at };
        places.splice(i..=i, std::iter::repeat_n(whole, rank - used));
    }
    Ok(())
}

/// The value after each place in turn; `axis` is the axis of the value that the next one is about, `named` what the axis was
/// before the places in front took theirs away.
fn moved(mut value: Value, places: &[Place], of: usize) -> Result<Value> {
    let (mut axis, mut named, mut tensors, mut new_axes) = (0, 0, 0, Vec::new());
    for (i, place) in places.iter().enumerate() {
        let wrong = |e: Error| at_part(e, place.at, of);
        if matches!(place.part, Index::NewAxis) {
            // New axes come last: an axis beside one of rows would be one of rows, where no position can be chosen.
            new_axes.push(axis + new_axes.len());
            continue;
        }
        tensors += usize::from(place::is_tensor(&place.part));
        if tensors > 1 {
            return Err(wrong(two_tensors()));
        }
        let before = value;
        value = place::taken(&before, axis, named, &place.part).map_err(wrong)?;
        if i + 1 < places.len() {
            axis += place::left(&place.part, &before, axis, &value).map_err(wrong)?;
            named += place::width(&place.part)?;
        }
    }
    new_axes.into_iter().try_fold(value, |value, axis| ops::expand_dims(value, int(axis)))
}

fn two_tensors() -> Error {
    Error::value("a second tensor stands in the key")
        .wanted("at most one tensor, or integers for neighbouring axes: of rows and records for the first ones")
        .hint("Index twice, as in `x[i][:, j]`.")
}
