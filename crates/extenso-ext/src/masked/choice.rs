//! `where` of rows of which some are missing as a whole.
//!
//! A row is as long as it is in the arguments that have it. A condition that is one for a row chooses the row, which is missing
//! where what it chooses is; any other chooses elements, and those of a missing row are missing. Where the row of the condition is
//! missing, so is the result.

use super::structure::{Layers, stretched};
use super::{MaskedTensor, trailing};
use crate::args::{flat, int, typed, typed_arg};
use crate::axes::{dim, outer, rank, zeros_of};
use crate::lists::spread;
use crate::missing::{as_rows, mask as masked_where};
use crate::ragged::{self, RaggedTensor, zero};
use crate::structs::masked_by;
use extenso_core::attrs::Axes;
use extenso_core::{Arg, Call, ExtensionType, RowPartition, Tensor, Value, ops};
use extenso_types::{DType, Dim, Error, Result};
use std::collections::BTreeSet;

/// The rows that are chosen; none unless an argument has rows that may be missing, and all rows are of one rank.
pub(super) fn of_rows(call: &Call<'_>) -> Result<Option<Value>> {
    let [condition, x, y] = flat(call) else { return Ok(None) };
    let mut given = [condition, x, y].map(Side::of);
    if let Some(like) = given.iter().find_map(Side::rows)
        && !given.iter().any(|side| matches!(side, Side::Masked(_)))
    {
        for side in &mut given {
            let Some(rows) = side.rows_of_a_tensor(like.rank()?)? else { continue };
            let values = match dim(rows.values(), 1)? {
                Dim::Known(1) if outer(rows.values()) != Some(like.nrows()) => continue,
                // A column has an element for each row.
                Dim::Known(1) => ops::broadcast_like(rows.values(), like.clone().into_value())?,
                Dim::Known(_) | Dim::Var(_) => RaggedTensor::of_uniform(rows.values())?.into_value(),
            };
            *side = Side::Masked(MaskedTensor::new(values, rows.mask)?);
        }
    }
    if !given.iter().any(|side| matches!(side, Side::Masked(_))) {
        return Ok(None);
    }
    let several = given.iter().filter_map(Side::rows).find(|rows| rows.nrows() != Dim::Known(1));
    if let Some(rows) = several {
        let first = ops::zeros_like(rows.row_lengths()?)?;
        for side in &mut given {
            if side.rows().is_some_and(|rows| rows.nrows() == Dim::Known(1)) {
                *side = Side::of(&Arg::Value(ops::take(side.arg(), &first, 0)?));
            }
        }
    }
    let Some(common) = Common::of(&given)? else { return Ok(None) };
    let [condition, x, y] = &given;
    match condition.one_for_a_row(common.rank)? {
        Some(one) => common.chosen_rows(one, x, y).map(Some),
        None => common.chosen_elements(condition, x, y).map(Some),
    }
}

/// Elements of a tensor under masks over each other, and those of another where they are missing; none of values that are no tensors.
///
/// A list is missing where it is in both.
pub(crate) fn first_there(x: &Value, y: &Value) -> Result<Option<Value>> {
    let (first, other) = (Layers::of(x)?, Layers::of(y)?);
    let all = rank(&first.values)?;
    if first.values.tensor().is_err() || other.values.tensor().is_err() || rank(&other.values)? != all {
        return Ok(None);
    }
    let there = first.there(all)?.map_or(Arg::from(true), Arg::Value);
    let chosen = ops::where_(there, &first.values, &other.values)?;
    let ranks: BTreeSet<usize> = first.masks.keys().chain(other.masks.keys()).copied().collect();
    let masked = |chosen: Value, &rank: &usize| match (first.there(rank)?, other.there(rank)?) {
        (Some(x), Some(y)) => {
            let mask = ops::broadcast_like(ops::logical_or(x, y)?, zeros_of(&chosen, rank)?)?;
            masked_by(chosen, mask.tensor()?)
        }
        _ => Ok(chosen),
    };
    ranks.iter().rev().try_fold(chosen, masked).map(Some)
}

/// An argument.
enum Side {
    Masked(MaskedTensor),
    Rows(RaggedTensor),
    /// Neither rows nor missing as such.
    Other(Arg),
}

impl Side {
    fn of(arg: &Arg) -> Side {
        match typed_arg::<MaskedTensor>(arg) {
            Some(x) if typed::<RaggedTensor>(&x.values).is_some() => Side::Masked(x),
            Some(_) | None => typed_arg(arg).map_or_else(|| Side::Other(arg.clone()), Side::Rows),
        }
    }

    fn arg(&self) -> Arg {
        match self {
            Side::Masked(x) => Arg::Value(x.clone().into_value()),
            Side::Rows(x) => Arg::Value(x.clone().into_value()),
            Side::Other(arg) => arg.clone(),
        }
    }

    fn rows(&self) -> Option<RaggedTensor> {
        match self {
            Side::Masked(x) => typed(&x.values),
            Side::Rows(x) => Some(x.clone()),
            Side::Other(_) => None,
        }
    }

    fn mask(&self) -> Option<&Tensor> {
        match self {
            Side::Masked(x) => Some(&x.mask),
            Side::Rows(_) | Side::Other(_) => None,
        }
    }

    /// Whether rows can be left empty, if there are any: those of one list for all cannot, nor those that may be a column.
    fn may_be_cut(&self, of: usize) -> bool {
        let Side::Other(Arg::Value(value)) = self else { return true };
        match rank(value).ok().and_then(|axes| (axes + 1).checked_sub(of)) {
            Some(1) => dim(value, 1).is_ok_and(|size| size.known().is_some()),
            Some(axis) => dim(value, axis).is_ok_and(|size| size == Dim::Known(1)),
            None => true,
        }
    }

    /// The argument with nothing in the rows that `mask` leaves out, unless it has none of its own.
    fn only_where(&self, mask: &Tensor, of: usize) -> Result<Side> {
        Ok(match self {
            Side::Masked(x) => {
                let rows = RaggedTensor::from_value(&x.values)?.only_where(mask)?;
                match x.mask.same(mask) {
                    true => Side::Rows(rows),
                    false => Side::Masked(MaskedTensor::new(rows.into_value(), x.mask.clone())?),
                }
            }
            Side::Rows(x) => Side::Rows(x.only_where(mask)?),
            Side::Other(Arg::Value(value)) if rank(value)? == of && dim(value, 1)? != Dim::Known(1) => {
                match self.rows_of_a_tensor(of)? {
                    Some(x) => {
                        let rows = as_rows(x.values())?.only_where(mask)?;
                        Side::Masked(MaskedTensor::new(rows.into_value(), x.mask)?)
                    }
                    None => Side::Rows(as_rows(value)?.only_where(mask)?),
                }
            }
            Side::Other(arg) => Side::Other(arg.clone()),
        })
    }

    /// The rows, those too that are missing.
    fn all_there(self) -> Side {
        match self {
            Side::Masked(x) => Side::of(&Arg::Value(x.values)),
            Side::Rows(_) | Side::Other(_) => self,
        }
    }

    /// Which rows are there.
    fn there(&self) -> Arg {
        self.mask().map_or(Arg::from(true), Arg::from)
    }

    /// A tensor of which outer items are missing as a whole, if it has as many axes as the rows.
    fn rows_of_a_tensor(&self, of: usize) -> Result<Option<MaskedTensor>> {
        let Side::Other(arg) = self else { return Ok(None) };
        let Some(x) = typed_arg::<MaskedTensor>(arg) else { return Ok(None) };
        Ok(if x.mask_rank()? == 1 && rank(&x.values)? == of { Some(x) } else { None })
    }

    /// The length of every row, of values that have one, and whether they are not stretched: known now, or seen when the graph runs.
    fn uniform(&self, of: usize) -> Result<Option<(Arg, Arg)>> {
        let Side::Other(Arg::Value(value)) = self else { return Ok(None) };
        let Some(axis) = (rank(value)? + 1).checked_sub(of) else { return Ok(None) };
        Ok(match dim(value, axis)? {
            Dim::Known(1) => None,
            Dim::Known(size) => Some((Arg::from(int(size)), Arg::from(true))),
            Dim::Var(_) => {
                let along = ops::indices_along(zeros_of(value, axis + 1)?, int(axis))?;
                let size = ops::sum(ops::ones_like(along)?, Axes::All, false)?;
                let own = ops::not_equal(&size, 1)?;
                Some((Arg::Value(size), Arg::Value(own)))
            }
        })
    }

    /// The condition without its axes of size 1, if it has no others behind the first.
    fn one_for_a_row(&self, of: usize) -> Result<Option<Arg>> {
        let Side::Other(Arg::Value(value)) = self else {
            return Ok(if let Side::Other(arg) = self { Some(arg.clone()) } else { None });
        };
        let given = rank(value)?;
        let first = usize::from(given == of);
        let mut unknown = None;
        for axis in first..given {
            match dim(value, axis)? {
                Dim::Known(1) => {}
                Dim::Known(_) => return Ok(None),
                Dim::Var(_) => unknown = Some(axis),
            }
        }
        // Whether rows or elements are chosen decides of which type the result is.
        if let Some(axis) = unknown {
            return Err(Error::shape(format!("the size of axis {axis} of the condition is not known"))
                .wanted("a known size beside rows that may be missing: 1 chooses rows, any other elements"));
        }
        ops::squeeze(value, (first..given).map(int).collect::<Vec<_>>()).map(|value| Some(Arg::Value(value)))
    }
}

/// The rows that the arguments have in common.
struct Common {
    rank: usize,
    /// How long each row is.
    lengths: Value,
    rows: RowPartition,
    /// Where a row has a length.
    there: Arg,
}

impl Common {
    fn of(given: &[Side; 3]) -> Result<Option<Common>> {
        let rows: Vec<RaggedTensor> = given.iter().filter_map(Side::rows).collect();
        let Some(first) = rows.first() else { return Ok(None) };
        let rank = first.rank()?;
        for other in &rows {
            if other.rank()? != rank || !other.nrows().is_compatible_with(first.nrows()) {
                return Ok(None);
            }
        }
        let (mut lengths, mut there) = (ops::zeros_like(first.row_lengths()?)?, Arg::from(false));
        for side in given {
            let (own, has) = match (side.rows(), side.uniform(rank)?) {
                (Some(rows), _) => (Value::from(rows.row_lengths()?), side.there()),
                (None, Some((size, own))) => (ops::add(ops::zeros_like(&lengths)?, size)?, own),
                (None, None) => continue,
            };
            lengths = ops::maximum(&lengths, ops::where_(has.clone(), own, 0)?)?;
            there = or(there, has)?;
        }
        let rows = ops::partition_from_lengths(&lengths)?.partition()?.clone();
        Ok(Some(Common { rank, lengths, rows, there }))
    }

    /// Rows of one argument or the other; a row that has no length in any is missing.
    fn chosen_rows(&self, condition: Arg, x: &Side, y: &Side) -> Result<Value> {
        let (condition, known) = match typed_arg::<MaskedTensor>(&condition) {
            Some(one) => (Arg::from(one.values()), Some(one.mask)),
            None => (condition, None),
        };
        let ((x, x_there), (y, y_there)) = (self.row_by_row(x)?, self.row_by_row(y)?);
        let chosen = ops::where_(condition.clone(), x_there, y_there)?;
        let there = ops::logical_and(chosen, self.there.clone())?;
        let there = known.map_or(Ok(there.clone()), |known| ops::logical_and(known, &there))?;
        // A condition for each row is a column of as many axes as the rows have.
        let column = match &condition {
            Arg::Value(value) if rank(value)? == 1 => Arg::Value(trailing(value, self.rank - 1)?),
            Arg::Value(_) | Arg::Scalar(_) | Arg::List(_) => condition,
        };
        let mask = ops::broadcast_like(there, &self.lengths)?;
        let values = ops::where_(column, x, y)?;
        masked_by(values, mask.tensor()?)
    }

    /// The argument without what says that rows are missing, and which rows are there.
    fn row_by_row(&self, side: &Side) -> Result<(Arg, Arg)> {
        match side.rows_of_a_tensor(self.rank)? {
            Some(rows) => Ok((Arg::from(rows.values()), Arg::from(&rows.mask))),
            None => Ok((self.filled(side)?, side.there())),
        }
    }

    /// Elements of one argument or the other, in the rows of the condition.
    fn chosen_elements(&self, condition: &Side, x: &Side, y: &Side) -> Result<Value> {
        let may_be_cut = |side: &Side| side.may_be_cut(self.rank);
        if let Some(known) = condition.mask().filter(|_| may_be_cut(x) && may_be_cut(y)) {
            // Nothing is chosen in a row whose condition is missing.
            let cut = |side: &Side| side.only_where(known, self.rank);
            let given = [cut(condition)?.all_there(), cut(x)?, cut(y)?];
            let common = Common::of(&given)?.ok_or_else(|| Error::internal("a condition of rows has rows"))?;
            let [condition, x, y] = &given;
            return masked_by(common.chosen_elements(condition, x, y)?, known);
        }
        let (condition, known) = match condition.rows_of_a_tensor(self.rank)? {
            Some(rows) => (Arg::from(rows.values()), Some(rows.mask)),
            None => (self.filled(condition)?, condition.mask().cloned()),
        };
        let (known, like) = (known.as_ref(), typed_arg::<RaggedTensor>(&condition));
        let elements = |side| self.elements(side, known, like.as_ref());
        let values = ops::where_(condition, elements(x)?, elements(y)?)?;
        known.map_or(Ok(values.clone()), |mask| masked_by(values, mask))
    }

    /// The argument as elements in rows that are all there; those of a missing row are missing, if `known` does not miss the row.
    ///
    /// A missing row is taken to be like those of the condition, if this has rows.
    fn elements(&self, side: &Side, known: Option<&Tensor>, like: Option<&RaggedTensor>) -> Result<Arg> {
        let (values, mask) = match (side.rows_of_a_tensor(self.rank)?, like, side) {
            (Some(rows), Some(like), _) if dim(rows.values(), 1)? == Dim::Known(1) => {
                (Arg::Value(ops::broadcast_like(rows.values(), like.clone().into_value())?), rows.mask)
            }
            (Some(rows), ..) => return Ok(Arg::Value(stretched(&rows)?.into_value())),
            (None, Some(like), Side::Masked(x)) if rank(like.values())? > 1 => {
                (self.filled_like(x, like)?, x.mask.clone())
            }
            (None, _, Side::Masked(x)) => (self.filled(side)?, x.mask.clone()),
            (None, _, Side::Rows(_) | Side::Other(_)) => return self.filled(side),
        };
        if known.is_some_and(|known| known.same(&mask)) {
            return Ok(values);
        }
        let rows: RaggedTensor = RaggedTensor::from_value(values.value()?)?;
        let there = ops::gather_rows_of(&mask, rows.partition())?;
        let values = match rank(rows.values())? - 1 {
            inner @ 1.. if like.is_some() => {
                masked_where(rows.values(), &ops::broadcast_like(trailing(&there, inner)?, rows.values())?)?
            }
            // Of lists in a missing row nothing is known, not even how long they are.
            _ => masked_by(rows.values().clone(), there.tensor()?)?,
        };
        Ok(Arg::Value(rows.with_values(values)?.into_value()))
    }

    /// Rows in rows, with those of the condition where they are missing, in which any element may stand.
    fn filled_like(&self, x: &MaskedTensor, like: &RaggedTensor) -> Result<Arg> {
        let Some(dtype) = ragged::flatten(x.values.clone(), None)?.tensor().ok().map(Tensor::dtype) else {
            return self.filled(&Side::Masked(x.clone()));
        };
        let other = ops::broadcast_like(zero(dtype)?, like.clone().into_value())?;
        let place = ops::indices_along(&x.mask, 0)?;
        let count = ops::sum(ops::ones_like(&place)?, 0, false)?;
        let place = ops::where_(&x.mask, &place, ops::add(&place, count)?)?;
        let rows = x.rows_there()?.ok_or_else(|| Error::internal("rows are missing"))?;
        ops::take(ops::concat(vec![rows.into_value(), other], 0)?, place, 0).map(Arg::Value)
    }

    /// The argument with rows of the common lengths, of nothing in particular, where its own are missing.
    fn filled(&self, side: &Side) -> Result<Arg> {
        let x = match side {
            Side::Masked(x) => x,
            Side::Rows(x) => return Ok(Arg::Value(x.clone().into_value())),
            Side::Other(arg) => return Ok(arg.clone()),
        };
        let Some(kept) = x.rows_there()? else { return Ok(Arg::Value(x.values.clone())) };
        let own = ops::partition_from_lengths(ops::where_(&x.mask, &self.lengths, 0)?)?;
        let values = kept.values_in(own.partition()?)?;
        let there = ops::cast(ops::gather_rows_of(&x.mask, &self.rows)?, DType::I64)?;
        let values = spread(&values, &ops::partition_from_lengths(there)?)?;
        Ok(Arg::Value(RaggedTensor::from_partition(values, self.rows.clone())?.into_value()))
    }
}

fn or(x: Arg, y: Arg) -> Result<Arg> {
    let all = |arg: &Arg| matches!(arg, Arg::Scalar(extenso_core::Scalar::Bool(true)));
    let none = |arg: &Arg| matches!(arg, Arg::Scalar(extenso_core::Scalar::Bool(false)));
    Ok(match (&x, &y) {
        _ if all(&x) || none(&y) => x,
        _ if all(&y) || none(&x) => y,
        _ => Arg::Value(ops::logical_or(x, y)?),
    })
}
