//! Sums of embeddings, which are not gathered first.
//!
//! Invariant: a sum has the bits of `segment_sum` of what `take` gives.

use super::args::{data, spec_of};
use super::selection::{infer_taken, places};
use super::{gather_rows_of, scatter_add_like, take};
use crate::attrs::AttrSet;
use crate::op::{Class, OpDef, OutputSpecs};
use crate::reduce::{Fold, infer_segments, run_segments, run_segments_of};
use crate::value::{Outputs, Value};
use extenso_types::{Error, LeafSpec, Result};

crate::ops! {
    /// Ops that look up embeddings.
    pub static EMBEDDINGS;

    /// The sum for each row of `partition` of the rows of `params` at its `ids`, which are not gathered first.
    ///
    /// That is `segment_sum` of what `take` gives; `embedding_lookup` has means and weights too. Negative ids count from the end. An
    /// empty row gives zeros. Integers and booleans sum in 64 bits. Shapes: `params` is `[n, ...]`, `ids` a vector of the values that the
    /// partition cuts, the result `[rows, ...]`. Errors: ids that are no vector of integers, or not as many; an id out of range, with
    /// its position.
    EMBEDDING_BAG: embedding_bag(params, ids, partition) = OpDef::general(Class::Segment, infer_bag, run_bag)
        .apart(&[1])
        .grad(|cx| {
            let each = gather_rows_of(cx.g(), &cx.args[2])?;
            Ok(vec![Some(scatter_add_like(each, &cx.args[1], &cx.args[0])?), None, None])
        })
        .examples(&[("embedding_bag([[1.0, 2.0], [4.0, 8.0]], [0, 1, -1], partition_from_lengths([2, 0, 1]))", "[[5.0, 10.0], [0.0, 0.0], [4.0, 8.0]]")]);
}

fn infer_bag(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let (params, ids) = (spec_of(args, 0)?, spec_of(args, 1)?);
    if params.shape.rank() == Some(0) {
        return Err(Error::shape("the params are a scalar").wanted("a row for each id"));
    }
    if ids.shape.rank().is_some_and(|rank| rank != 1) {
        return Err(Error::shape(format!("the ids are {ids}")).wanted("a vector"));
    }
    let taken = infer_taken(params, ids, 0)?;
    let partition = args.get(2).ok_or_else(|| Error::internal("no partition"))?;
    infer_segments(Fold::Sum, &[taken, partition.clone()])
}

fn run_bag(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let [params, ids, partition] = args else { return Err(Error::internal("three arguments are wanted")) };
    let (x, at) = (data(args, 0)?, data(args, 1)?);
    let rows = partition.partition()?.data()?;
    let places = places(at, x.dims().first().copied().unwrap_or(0))?;
    match run_segments_of(Fold::Sum, x, &places, rows)? {
        Some(sums) => Ok(sums),
        None => run_segments(Fold::Sum, &[take(params, ids, 0)?, partition.clone()]),
    }
}
