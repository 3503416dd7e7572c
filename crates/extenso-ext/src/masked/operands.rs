//! The operands of an elementwise op of which some are masked, and the masks of its result.
//!
//! Invariant: what an operand has in a row that is missing in another says nothing, neither its values nor their number.

use super::{MaskedTensor, trailing};
use crate::args::{flat, int, typed, typed_arg};
use crate::axes::{dim, is_ragged, outer, rank, zeros_of};
use crate::lists::spread;
use crate::ragged::RaggedTensor;
use crate::structs::masked_by;
use extenso_core::{Arg, Call, ExtensionType, Tensor, Value, ops};
use extenso_types::{DType, Dim, Result};
use smallvec::SmallVec;

/// The operands of an op that broadcasts.
pub(super) struct Operands {
    pub(super) items: Vec<Item>,
    /// The rank of the result.
    pub(super) rank: usize,
}

pub(super) enum Item {
    /// An operand without a mask, and its rank; none for a literal.
    Plain(Arg, Option<usize>),
    /// A masked operand, the rank of its values and of its mask.
    Masked(MaskedTensor, usize, usize),
}

/// The rows that are there in every operand, and where they stand among all.
pub(super) struct There {
    pub(super) operands: Vec<Arg>,
    /// Which of all rows they are.
    pub(super) mask: Tensor,
}

/// Whether values stand in the same rows, those inside rows too.
fn in_same_rows(x: &RaggedTensor, y: &RaggedTensor) -> bool {
    let below = |rows: &RaggedTensor| match typed::<MaskedTensor>(rows.values()) {
        Some(masked) => typed::<RaggedTensor>(masked.values()),
        None => typed(rows.values()),
    };
    x.partition().same(y.partition())
        && match (below(x), below(y)) {
            (Some(x), Some(y)) => in_same_rows(&x, &y),
            (None, None) => true,
            _ => false,
        }
}

impl There {
    /// What was made of the rows that are there, missing at the others.
    pub(super) fn among_all(&self, made: &Value) -> Result<Value> {
        let each = ops::partition_from_lengths(ops::cast(&self.mask, DType::I64)?)?;
        masked_by(spread(made, &each)?, &self.mask)
    }
}

/// The numbers of the rows.
fn numbered(rows: &Arg) -> Result<Value> {
    ops::indices_along(zeros_of(rows.value()?, 1)?, 0)
}

impl Operands {
    /// The operands as they are given; none if one is a list.
    pub(super) fn given(call: &Call<'_>) -> Result<Option<Operands>> {
        let mut items = Vec::new();
        for arg in flat(call) {
            items.push(match (typed_arg::<MaskedTensor>(arg), arg) {
                (Some(x), _) => {
                    let (values, mask) = (rank(x.values())?, x.mask_rank()?);
                    Item::Masked(x, values, mask)
                }
                (None, Arg::Value(value)) => {
                    Item::Plain(arg.clone(), Some(if outer(value).is_none() { 0 } else { rank(value)? }))
                }
                (None, Arg::Scalar(_)) => Item::Plain(arg.clone(), None),
                (None, Arg::List(_)) => return Ok(None),
            });
        }
        let rank = items.iter().map(|item| item.rank().unwrap_or(0)).max().unwrap_or(0);
        Ok(Some(Operands { items, rank }))
    }

    /// The operands, of which masked rows with fewer axes than others are rows in rows, as often as they lack axes; none if none are.
    pub(super) fn with_rows_as_deep(&self) -> Result<Option<Vec<Arg>>> {
        let lacks = |item: &Item| matches!(item, Item::Masked(_, own, _) if *own < self.rank) && item.rows().is_some();
        if !self.items.iter().any(lacks) {
            return Ok(None);
        }
        let deep = |item: &Item| match item {
            Item::Masked(x, own, _) if lacks(item) => {
                let axes: Vec<i64> = (0..self.rank - own).map(int).collect();
                ops::expand_dims_at(x.clone().into_value(), axes).map(Arg::Value)
            }
            Item::Masked(x, ..) => Ok(Arg::Value(x.clone().into_value())),
            Item::Plain(arg, _) => Ok(arg.clone()),
        };
        self.items.iter().map(deep).collect::<Result<_>>().map(Some)
    }

    /// None if a ragged operand has its rows inside the masked ones: then the rows come first and the mask after.
    pub(super) fn with_masks_first(self) -> Option<Operands> {
        let rows_first = |item: &Item| match item {
            Item::Plain(arg, _) => typed_arg::<RaggedTensor>(arg).is_some(),
            Item::Masked(..) => false,
        };
        if self.items.iter().any(rows_first) && self.cover_rows() { None } else { Some(self) }
    }

    /// Whether a mask says something of an axis that may be ragged.
    pub(super) fn cover_rows(&self) -> bool {
        self.items.iter().any(|item| item.covers(self.rank).is_some_and(|covers| covers > 1))
    }

    /// Where rows are there in every operand that may miss some as a whole; none if no operand may, or none has rows.
    pub(super) fn row_mask(&self) -> Result<Option<Tensor>> {
        if !self.items.iter().any(|item| item.rows().is_some()) {
            return Ok(None);
        }
        let masks = self.items.iter().filter_map(|item| match item {
            Item::Masked(x, ..) if item.covers(self.rank) == Some(1) => Some(Ok(x.mask.clone())),
            Item::Plain(..) | Item::Masked(..) => None,
        });
        let both = |a: Result<Tensor>, b: Result<Tensor>| ops::logical_and(a?, b?)?.tensor().cloned();
        masks.reduce(both).transpose()
    }

    /// Whether operands may have different lengths or values in rows that are missing in one of them.
    pub(super) fn rows_differ(&self) -> Result<bool> {
        let rows: Vec<RaggedTensor> = self.items.iter().filter_map(Item::rows).collect();
        let [first, others @ ..] = &rows[..] else { return Ok(false) };
        if others.iter().any(|other| !in_same_rows(first, other)) {
            return Ok(true);
        }
        for item in self.items.iter().filter(|item| item.rows().is_none()) {
            if item.tells_apart(self.rank)? > 1 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The operands at the rows that are there: what they have at others need not agree. None if rows have different ranks, or an
    /// operand is known to have another number of rows.
    pub(super) fn rows_there(&self, mask: &Tensor) -> Result<Option<There>> {
        for rows in self.items.iter().filter_map(Item::rows) {
            if rows.rank()? != self.rank {
                return Ok(None);
            }
        }
        let given = self.items.iter().map(|item| match item.whole(self.rank) {
            Arg::Value(value) if item.rank() == Some(self.rank) => (outer(&value), Arg::Value(value)),
            arg => (None, arg),
        });
        let given: Vec<(Option<Dim>, Arg)> = given.collect();
        // One row stands beside each of the others, and what is missing of it is missing beside all.
        let mut mask = Value::from(mask.clone());
        for (nrows, arg) in &given {
            let (Some(nrows), Some(all)) = (*nrows, outer(&mask)) else { continue };
            let [one, all_one] = [nrows, all].map(|n| n == Dim::Known(1));
            if !one && !all_one && !nrows.is_compatible_with(all) {
                return Ok(None);
            }
            if !one && nrows != all {
                mask = ops::logical_and(mask, ops::greater_equal(numbered(arg)?, 0)?)?;
            }
        }
        let all = outer(&mask);
        let at = ops::boolean_mask(ops::indices_along(&mask, 0)?, &mask, 0)?;
        let there = given.into_iter().map(|(nrows, arg)| match (nrows, arg) {
            (Some(_), Arg::Value(value)) if nrows == all => Ok(Arg::Value(ops::take(value, &at, 0)?)),
            (None | Some(Dim::Known(1)), arg) => Ok(arg),
            // A size that is not known yet may be 1.
            (Some(_), arg) => {
                let wide = ops::add(numbered(&arg)?, ops::zeros_like(ops::cast(&mask, DType::I64)?)?)?;
                Ok(Arg::Value(ops::take(arg, ops::take(wide, &at, 0)?, 0)?))
            }
        });
        let operands = there.collect::<Result<Vec<Arg>>>()?;
        Ok(Some(There { operands, mask: mask.tensor()?.clone() }))
    }

    pub(super) fn values(&self) -> Vec<Arg> {
        self.items.iter().map(Item::value).collect()
    }

    /// Where the masked operands are there, those that say it of the same axes together; the most axes come first.
    pub(super) fn masks(&self) -> Result<SmallVec<[Mask; 2]>> {
        let mut layers: SmallVec<[Mask; 2]> = SmallVec::new();
        for item in &self.items {
            let Some(covers) = item.covers(self.rank) else { continue };
            let Some(mask) = item.mask(self.rank, covers)? else { continue };
            match layers.iter_mut().find(|layer| layer.covers == covers) {
                Some(layer) => layer.mask = ops::logical_and(&layer.mask, mask)?,
                None => layers.push(Mask { mask, covers, rank: self.rank }),
            }
        }
        layers.sort_by_key(|layer| std::cmp::Reverse(layer.covers));
        Ok(layers)
    }
}

impl Item {
    pub(super) fn rank(&self) -> Option<usize> {
        match self {
            Item::Plain(_, rank) => *rank,
            Item::Masked(_, rank, _) => Some(*rank),
        }
    }

    /// The rows that the operand has.
    pub(super) fn rows(&self) -> Option<RaggedTensor> {
        match self {
            Item::Plain(arg, _) => typed_arg(arg),
            Item::Masked(x, ..) => typed(x.values()),
        }
    }

    /// The operand without what says that rows are missing as a whole.
    pub(super) fn whole(&self, rank: usize) -> Arg {
        match self {
            Item::Plain(arg, _) => arg.clone(),
            Item::Masked(x, ..) if self.covers(rank) == Some(1) => Arg::from(x.values()),
            Item::Masked(x, ..) => Arg::Value(x.clone().into_value()),
        }
    }

    /// The operand as it is.
    pub(super) fn given(&self) -> Arg {
        match self {
            Item::Plain(arg, _) => arg.clone(),
            Item::Masked(x, ..) => Arg::Value(x.clone().into_value()),
        }
    }

    /// The operand without its mask.
    pub(super) fn value(&self) -> Arg {
        match self {
            Item::Plain(arg, _) => arg.clone(),
            Item::Masked(x, ..) => Arg::from(x.values()),
        }
    }

    /// How many axes of the result, from the outer one, the operand's mask says something of.
    pub(super) fn covers(&self, rank: usize) -> Option<usize> {
        match self {
            Item::Plain(..) => None,
            Item::Masked(_, values, mask) => Some(rank - values + mask),
        }
    }

    /// The operand's mask with axes of size 1 up to the first `covers` axes of the result.
    pub(super) fn mask(&self, rank: usize, covers: usize) -> Result<Option<Value>> {
        match self {
            Item::Plain(..) => Ok(None),
            Item::Masked(x, values, mask) => {
                trailing(&x.mask.clone().into(), covers - (rank - values + mask)).map(Some)
            }
        }
    }

    /// The mask of a condition, if what it chooses from has no other: what is missing as a whole stays so.
    pub(super) fn only_mask(&self, chosen: &[&Item], rank: usize) -> Result<Option<Mask>> {
        let Item::Masked(condition, ..) = self else { return Ok(None) };
        let same = |item: &&Item| match item {
            Item::Plain(..) => true,
            Item::Masked(x, ..) => x.mask.same(&condition.mask) && item.covers(rank) == self.covers(rank),
        };
        let covers = self.covers(rank).filter(|_| chosen.iter().all(same));
        let Some(covers) = covers else { return Ok(None) };
        Ok(self.mask(rank, covers)?.map(|mask| Mask { mask, covers, rank }))
    }

    /// How many axes of the result, from the outer one, the operand's values differ along, as far as is known.
    pub(super) fn tells_apart(&self, rank: usize) -> Result<usize> {
        let Arg::Value(value) = self.value() else { return Ok(0) };
        let own = self.rank().unwrap_or(0);
        for axis in (0..own).rev() {
            if dim(&value, axis)? != Dim::Known(1) {
                return Ok(rank - own + axis + 1);
            }
        }
        Ok(0)
    }

    /// The operand's values without the last `count` axes of the result, along which they have size 1 if any.
    pub(super) fn without_last(&self, count: usize) -> Result<Arg> {
        let Arg::Value(value) = self.value() else { return Ok(self.value()) };
        let axes: Vec<i64> = (1..=count.min(self.rank().unwrap_or(0))).map(|i| -int(i)).collect();
        if axes.is_empty() { Ok(Arg::Value(value)) } else { ops::squeeze(value, axes).map(Arg::Value) }
    }
}

/// The mask of a result.
pub(crate) struct Mask {
    pub(crate) mask: Value,
    /// The axes of the result that it has, counted from the outer one.
    pub(crate) covers: usize,
    pub(crate) rank: usize,
}

impl Mask {
    /// The mask with axes of size 1 behind, up to a rank.
    pub(super) fn against(&self, rank: usize) -> Result<Value> {
        trailing(&self.mask, rank - self.covers)
    }

    /// The values under the mask, which is repeated along the axes that the values were repeated along.
    pub(crate) fn over(&self, values: Value) -> Result<Value> {
        let shape = self.mask.tensor()?.shape();
        let given = shape.dims().unwrap_or(&[]);
        let wanted: Result<Vec<Dim>> = (0..self.covers).map(|axis| dim(&values, axis)).collect();
        let wanted = wanted?;
        // Sizes that are not known yet may be 1 in the mask alone.
        if *given == *wanted {
            return Ok(MaskedTensor::new(values, self.mask.tensor()?.clone())?.into_value());
        }
        let ragged = (1..self.covers).any(|axis| is_ragged(&values, axis));
        let mask = if ragged {
            ops::broadcast_like(self.against(self.rank)?, &values)?
        } else {
            ops::broadcast_like(&self.mask, zeros_of(&values, self.covers)?)?
        };
        Ok(MaskedTensor::new(values, mask.tensor()?.clone())?.into_value())
    }
}
