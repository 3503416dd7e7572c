//! `where` of rows of which some are missing as a whole.
//!
//! A row is as long as it is in the arguments that have it. A condition that is one for a row chooses the row, which is missing
//! where what it chooses is; any other chooses elements, and those of a missing row are missing. Where the row of the condition is
//! missing, so is the result.

use super::MaskedTensor;
use super::structure::stretched;
use crate::args::{flat, int, typed, typed_arg};
use crate::axes::{dim, rank, zeros_of};
use crate::lists::spread;
use crate::ragged::RaggedTensor;
use crate::structs::masked_by;
use extenso_core::attrs::Axes;
use extenso_core::{Arg, Call, ExtensionType, RowPartition, Tensor, Value, ops};
use extenso_types::{DType, Dim, Error, Result};

/// The rows that are chosen; none unless an argument has rows that may be missing, and all rows are of one rank.
pub(super) fn of_rows(call: &Call<'_>) -> Result<Option<Value>> {
    let [condition, x, y] = flat(call) else { return Ok(None) };
    let mut given = [condition, x, y].map(Side::of);
    if let Some(rank) = given.iter().find_map(Side::rows).map(|rows| rows.rank()).transpose()?
        && !given.iter().any(|side| matches!(side, Side::Masked(_)))
    {
        for side in &mut given {
            if let Some(rows) = side.rows_of_a_tensor(rank)?.filter(|x| dim(x.values(), 1) != Ok(Dim::Known(1))) {
                *side =
                    Side::Masked(MaskedTensor::new(RaggedTensor::of_uniform(rows.values())?.into_value(), rows.mask)?);
            }
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
            Arg::Value(value) if rank(value)? == 1 => Arg::Value(super::trailing(value, self.rank - 1)?),
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
        let (condition, known) = match condition.rows_of_a_tensor(self.rank)? {
            Some(rows) => (Arg::from(rows.values()), Some(rows.mask)),
            None => (self.filled(condition)?, condition.mask().cloned()),
        };
        let known = known.as_ref();
        let values = ops::where_(condition, self.elements(x, known)?, self.elements(y, known)?)?;
        known.map_or(Ok(values.clone()), |mask| masked_by(values, mask))
    }

    /// The argument as elements in rows that are all there; those of a missing row are missing, if `known` does not miss the row.
    fn elements(&self, side: &Side, known: Option<&Tensor>) -> Result<Arg> {
        if let Some(rows) = side.rows_of_a_tensor(self.rank)? {
            return Ok(Arg::Value(stretched(&rows)?.into_value()));
        }
        let filled = self.filled(side)?;
        let Side::Masked(x) = side else { return Ok(filled) };
        if known.is_some_and(|known| known.same(&x.mask)) {
            return Ok(filled);
        }
        let rows: RaggedTensor = RaggedTensor::from_value(filled.value()?)?;
        let there = ops::gather_rows_of(&x.mask, rows.partition())?;
        let values = masked_by(rows.values().clone(), there.tensor()?)?;
        Ok(Arg::Value(rows.with_values(values)?.into_value()))
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
