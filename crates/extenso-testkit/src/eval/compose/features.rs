//! Functions of features that are no ops.

use super::{Composed, given};
use extenso_core::attrs::{Attrs, Number};
use extenso_core::{Arg, Value, ops};
use extenso_ext::{CROSS_KEY, Combiner, cross, cross_hashed, embedding_lookup, multi_hot};
use extenso_types::{DType, Error, Result};

extenso_core::attrs! {
    /// Of `digitize`.
    pub struct Digitize { right: bool = false }
    /// Of `multi_hot`.
    pub struct MultiHot { depth: i64, dtype: DType = DType::F64 }
    /// Of `cross`.
    pub struct Cross { separator: String = "_X_".to_string() }
    /// Of `cross_hashed`.
    pub struct CrossHashed { num_buckets: i64 = 0, key: i64 = CROSS_KEY }
    /// Of `z_score`.
    pub struct ZScore { mean: Option<Number> = None, deviation: Option<Number> = None }
    /// Of `min_max_scale`.
    pub struct MinMax { low: Option<Number> = None, high: Option<Number> = None }
    /// Of `embedding_lookup` without weights, and of `weighted_embedding_lookup`.
    pub struct Embedding { combiner: String = "mean".to_string(), max_norm: Option<Number> = None }
}

pub(super) static FUNCTIONS: &[Composed] = &[
    Composed {
        name: "digitize",
        params: &["x", "bins"],
        attrs: Digitize::DEF,
        run: |args, attrs| ops::digitize(&args[0], &args[1], Digitize::of(attrs)?.right),
    },
    Composed {
        name: "multi_hot",
        params: &["ids"],
        attrs: MultiHot::DEF,
        run: |args, attrs| {
            let MultiHot { depth, dtype } = *MultiHot::of(attrs)?;
            multi_hot(&given(args, 0)?, depth, dtype)
        },
    },
    Composed {
        name: "cross",
        params: &["inputs"],
        attrs: Cross::DEF,
        run: |args, attrs| cross(&list(args)?, &Cross::of(attrs)?.separator),
    },
    Composed {
        name: "cross_hashed",
        params: &["inputs"],
        attrs: CrossHashed::DEF,
        run: |args, attrs| {
            let CrossHashed { num_buckets, key } = *CrossHashed::of(attrs)?;
            cross_hashed(&list(args)?, num_buckets, key)
        },
    },
    Composed {
        name: "z_score",
        params: &["x"],
        attrs: ZScore::DEF,
        run: |args, attrs| {
            let ZScore { mean, deviation } = *ZScore::of(attrs)?;
            ops::z_score(&args[0], mean.map(number), deviation.map(number))
        },
    },
    Composed {
        name: "min_max_scale",
        params: &["x"],
        attrs: MinMax::DEF,
        run: |args, attrs| {
            let MinMax { low, high } = *MinMax::of(attrs)?;
            ops::min_max_scale(&args[0], low.map(number), high.map(number))
        },
    },
    Composed {
        name: "embedding_lookup",
        params: &["params", "ids", "weights"],
        attrs: Embedding::DEF,
        run: |args, attrs| {
            let Embedding { combiner, max_norm } = Embedding::of(attrs)?;
            let norm = max_norm.map(|norm| match norm {
                Number::Int(v) => v as f64,
                Number::Float(v) => v,
            });
            embedding_lookup(&given(args, 0)?, &given(args, 1)?, Some(&args[2]), combiner.parse::<Combiner>()?, norm)
        },
    },
];

fn number(number: Number) -> Arg {
    match number {
        Number::Int(v) => Arg::from(v),
        Number::Float(v) => Arg::from(v),
    }
}

/// The only argument as values: a tuple.
fn list(args: &[Arg]) -> Result<Vec<Value>> {
    match &args[0] {
        Arg::List(items) => (0..items.len()).map(|i| given(items, i)).collect(),
        Arg::Value(_) | Arg::Scalar(_) => Err(Error::dtype("found one value").wanted("a tuple of values")),
    }
}
