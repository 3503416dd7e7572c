//! Features of rows: several-hot vectors and embeddings.
//!
//! Compositions over ops, so that they are traced, saved and differentiated as these are.

use crate::args::{answer, typed_ref};
use crate::axes::rank;
use crate::by_rows::by_rows;
use crate::masked::{MaskedTensor, fill_none, rows_there, trailing};
use crate::missing::{drop_none, is_valid, mask};
use crate::ragged::RaggedTensor;
use crate::structs::masked_by;
use extenso_core::attrs::Axes;
use extenso_core::kernels::pool::affordable;
use extenso_core::{Answer, Arg, Call, ExtensionType, RowPartition, Value, call_one, ops};
use extenso_types::{DType, Error, Result};

/// For each innermost row of `ids` a vector of `depth` numbers: one at each position that an id of the row names, zero elsewhere.
///
/// An id outside, and one that is missing, names no position. Shapes: the last axis of `ids` becomes one of `depth`.
/// Errors: a scalar; ids that are no integers; a negative depth; a dtype without numbers.
///
/// ```
/// # use extenso_types::DType;
/// let ids = extenso_ext::constant(vec![vec![0, 2, 2], vec![]]).unwrap();
/// assert_eq!(extenso_ext::multi_hot(&ids, 3, DType::I64).unwrap().to_string(), "[[1, 0, 1], [0, 0, 0]]");
/// ```
pub fn multi_hot(ids: &Value, depth: i64, dtype: DType) -> Result<Value> {
    let hot = |ids: &Value, _: Option<&Value>, rows: &RowPartition| {
        // Below zero is no position.
        let named = fill_none(&ops::whole(ids)?, -1)?;
        if let (Some(nrows), Ok(depth)) = (rows.spec().nrows.known(), usize::try_from(depth)) {
            // The marks are bits, of which there is room for more than for what becomes of them.
            affordable(nrows.saturating_mul(depth).saturating_mul(dtype.width().unwrap_or_default()))?;
        }
        ops::cast(ops::segment_multi_hot(named, rows, depth)?, dtype)
    };
    by_rows(ids, None, &hot).map_err(|e| e.at_part("multi_hot"))
}

/// How the embeddings of a row become one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Combiner {
    /// Their weighted sum.
    Sum,
    /// The sum divided by that of the weights.
    Mean,
    /// The sum divided by the root of the sum of the squared weights.
    SqrtN,
}

impl std::str::FromStr for Combiner {
    type Err = Error;

    fn from_str(name: &str) -> Result<Combiner> {
        match name {
            "sum" => Ok(Combiner::Sum),
            "mean" => Ok(Combiner::Mean),
            "sqrtn" => Ok(Combiner::SqrtN),
            other => Err(Error::value(format!("the combiner is '{other}'")).wanted("'sum', 'mean' or 'sqrtn'")),
        }
    }
}

/// For each innermost row of `ids` the rows of `params` that the ids name, combined into one.
///
/// Each is multiplied by its weight, if there are `weights`, which broadcast to `ids`; and before that shortened to the Euclidean
/// length `max_norm`, if it is longer. A row without ids, or whose weights come to nothing, gives zeros; an id that is missing is left
/// out. The result has gradients with respect to `params` and `weights`.
/// Shapes: `params` is `[vocabulary, ...]`; the last axis of `ids` gives way to the other axes of `params`.
/// Errors: a scalar as ids; an id out of range; params that are no floats, or a vector; weights of another dtype than params.
///
/// ```
/// # use extenso_core::Tensor;
/// # use extenso_ext::{Combiner, constant, embedding_lookup};
/// let params = Tensor::new(&[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
/// let ids = constant(vec![vec![0, 2], vec![]]).unwrap();
/// let found = embedding_lookup(&params.into(), &ids, None, Combiner::Mean, None).unwrap();
/// assert_eq!(found.to_string(), "[[3.0, 4.0], [0.0, 0.0]]");
/// ```
pub fn embedding_lookup(
    params: &Value,
    ids: &Value,
    weights: Option<&Arg>,
    combiner: Combiner,
    max_norm: Option<f64>,
) -> Result<Value> {
    let lookup = || {
        if let Some(Arg::Value(given)) = weights
            && (lacks_rows(given)? || lacks_rows(ids)?)
            && let Some((args, there)) = rows_there(&[Arg::from(ids), Arg::from(given)])?
            && let [ids, weights] = &args[..]
        {
            return masked_by(embedding_lookup(params, ids.value()?, Some(weights), combiner, max_norm)?, &there);
        }
        let table = Table::of(params, combiner, max_norm)?;
        if let Some(dtype) = crate::dtype_of(&ids.spec()?).filter(|dtype| !dtype.is_integer()) {
            return Err(Error::dtype(format!("the ids are {dtype}")).at("ids").wanted("integers"));
        }
        let given = weights.map(|weights| table.weights(ids, weights)).transpose()?;
        // Where a weight is missing, the id counts as missing.
        let ids = match given.as_ref().filter(|given| lacks_elements(given)) {
            Some(given) => &mask(&fill_none(ids, 0)?, &is_valid(given, None)?)?,
            None => ids,
        };
        let weights = given.map(|given| fill_none(&given, 0.0)).transpose()?;
        by_rows(ids, weights.as_ref(), &|ids, weights, rows| table.rows(ids, weights, rows))
    };
    lookup().map_err(|e| e.at_part("embedding_lookup"))
}

/// Whether rows may be missing.
fn lacks_rows(x: &Value) -> Result<bool> {
    typed_ref::<MaskedTensor>(x).map_or(Ok(false), |masked| Ok(masked.mask_rank()? < rank(x)?))
}

/// Whether single elements may be missing, and not rows alone.
fn lacks_elements(x: &Value) -> bool {
    match (typed_ref::<RaggedTensor>(x), typed_ref::<MaskedTensor>(x)) {
        (Some(rows), _) => lacks_elements(rows.values()),
        (None, Some(masked)) => rank(x).is_ok_and(|rank| masked.mask_rank().is_ok_and(|of_mask| of_mask == rank)),
        (None, None) => false,
    }
}

/// `embedding_bag` leaves ids out that are missing.
pub(crate) fn bag_of_those_there(call: &Call<'_>) -> Answer {
    let [params, Arg::Value(ids), Arg::Value(Value::Partition(rows))] = call.args else { return Ok(None) };
    if typed_ref::<MaskedTensor>(ids).is_none() {
        return Ok(None);
    }
    if rank(ids)? != 1 {
        return Err(Error::shape(format!("the ids have rank {}", rank(ids)?)).wanted("a vector").at("ids"));
    }
    let rows = RaggedTensor::from_partition(ids.clone(), rows.clone())?;
    let there = RaggedTensor::from_value(&drop_none(&rows.into_value(), Some(1))?)?.compact()?;
    let args = [params.clone(), Arg::from(there.values()), there.partition().into()];
    answer(call_one(call.op, &args, call.attrs)?)
}

/// The embeddings and what is done with them.
struct Table<'a> {
    params: &'a Value,
    dtype: DType,
    /// What is computed in: of halves, floats of 32 bits.
    wide: DType,
    inner: usize,
    combiner: Combiner,
    max_norm: Option<f64>,
}

impl Table<'_> {
    fn of(params: &Value, combiner: Combiner, max_norm: Option<f64>) -> Result<Table<'_>> {
        let dtype = params.tensor().map_err(|e| e.at("params"))?.dtype();
        if !dtype.is_float() {
            return Err(Error::dtype(format!("the params are {dtype}")).wanted("floats"));
        }
        let inner = rank(params)?.checked_sub(1).filter(|inner| *inner > 0);
        let inner = inner.ok_or_else(|| Error::shape("the params are no matrix").wanted("a row for each id"))?;
        if let Some(norm) = max_norm.filter(|norm| !norm.is_finite() || *norm <= 0.0) {
            return Err(Error::value(format!("max_norm is {norm}")).wanted("a length above zero"));
        }
        let wide = if matches!(dtype, DType::F16 | DType::BF16) { DType::F32 } else { dtype };
        Ok(Table { params, dtype, wide, inner, combiner, max_norm })
    }

    /// The weights in the rows of the ids, missing where an id is.
    ///
    /// Errors: weights that do not broadcast to the ids.
    fn weights(&self, ids: &Value, weights: &Arg) -> Result<Value> {
        let ones = ops::cast(ops::ones_like(ids)?, self.dtype)?;
        let made = ops::multiply(weights, ones)?;
        let (found, wanted) = (crate::shape_of(&made.spec()?), crate::shape_of(&ids.spec()?));
        if found.is_compatible_with(&wanted) {
            return Ok(made);
        }
        let error = Error::shape(format!("with the ids, of shape {wanted}, the weights have {found}"));
        Err(error.wanted("weights that broadcast to the ids").at("weights"))
    }

    fn rows(&self, ids: &Value, weights: Option<&Value>, rows: &RowPartition) -> Result<Value> {
        let made = self.rows_wide(ids, weights, rows)?;
        if self.wide == self.dtype { Ok(made) } else { ops::cast(made, self.dtype) }
    }

    fn rows_wide(&self, ids: &Value, weights: Option<&Value>, rows: &RowPartition) -> Result<Value> {
        if weights.is_none() && matches!(ids, Value::Tensor(_)) {
            // Every id counts once.
            let total = match self.max_norm {
                None if rank(ids)? == 1 && self.wide == self.dtype => ops::embedding_bag(self.params, ids, rows)?,
                _ => ops::segment_sum(self.found(ids)?, rows)?,
            };
            return self.combined(total, || ops::cast(ops::row_lengths(rows)?, self.wide));
        }
        let weights = match weights {
            Some(weights) => weights.clone(),
            None => fill_none(&self.weights(ids, &Arg::from(1.0))?, 0.0)?,
        };
        let weights = if self.wide == self.dtype { weights } else { ops::cast(weights, self.wide)? };
        let found = ops::multiply(self.found(ids)?, trailing(&weights, self.inner)?)?;
        // What stands for a missing id may be no number, which no weight makes zero.
        let found = match typed_ref::<MaskedTensor>(ids) {
            Some(ids) => ops::where_(trailing(&ids.mask().clone().into(), self.inner)?, found, 0.0)?,
            None => found,
        };
        let total = ops::segment_sum(found, rows)?;
        self.combined(total, || match self.combiner {
            Combiner::SqrtN => ops::segment_sum(ops::square(&weights)?, rows),
            Combiner::Sum | Combiner::Mean => ops::segment_sum(&weights, rows),
        })
    }

    /// The embeddings of ids, each at most as long as it may be; of a missing one, any.
    fn found(&self, ids: &Value) -> Result<Value> {
        let found = ops::take(self.params, fill_none(ids, 0)?, 0)?;
        self.shortened(if self.wide == self.dtype { found } else { ops::cast(found, self.wide)? })
    }

    /// The sums as the combiner wants them; `by` gives the sums of the weights of rows, or of their squares.
    fn combined(&self, total: Value, by: impl Fn() -> Result<Value>) -> Result<Value> {
        if self.combiner == Combiner::Sum {
            return Ok(total);
        }
        let by = by()?;
        let nothing = ops::equal(&by, 0.0)?;
        // A gradient must not see a division by zero, or a root at zero.
        let by = ops::where_(&nothing, 1.0, by)?;
        let by = if self.combiner == Combiner::SqrtN { ops::sqrt(by)? } else { by };
        // Numbers of rows take an axis when all is done with them: what comes before is one step.
        let (by, nothing) = (trailing(&by, self.inner)?, trailing(&nothing, self.inner)?);
        ops::where_(nothing, 0.0, ops::divide(total, by)?)
    }

    /// Embeddings of at most the greatest length.
    fn shortened(&self, found: Value) -> Result<Value> {
        let Some(norm) = self.max_norm else { return Ok(found) };
        let axes: Vec<i64> = (1..=self.inner).map(|axis| -crate::args::int(axis)).collect();
        let squares = ops::sum(ops::square(&found)?, Axes::List(axes), true)?;
        let long = ops::greater(&squares, norm * norm)?;
        let factor = ops::divide(norm, ops::sqrt(ops::where_(&long, squares, 1.0)?)?)?;
        ops::multiply(found, ops::where_(long, factor, 1.0)?)
    }
}
