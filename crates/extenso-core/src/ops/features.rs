//! Features: numbers into buckets, texts into fingerprints, vocabularies of what there is, scaled numbers.
//!
//! Invariant: each element is treated on its own; only `vocabulary` looks at all of them.

use super::args::{data, one_tensor, spec_of, tensor_spec};
use super::normalize::{are_floats, in_f32};
use super::row_lines::{cut_by, rows};
use super::vocabulary::Items;
use super::{Run, assemble, cast, divide, equal, max, mean, min, root, square, subtract, where_, whole, zeros_like};
use crate::attrs::{AttrSet, Attrs, Axes};
use crate::kernels::pool::{Block, affordable};
use crate::op::{Class, OpDef, OutputSpecs};
use crate::tensor::{Dense, Tensor};
use crate::value::{Arg, Outputs, Scalar, Value};
use arrow_buffer::BooleanBuffer;
use extenso_types::{DType, DTypeKind, Dim, Dims, Error, LeafSpec, Result, Shape};
use smallvec::smallvec;
use std::collections::HashMap;

crate::attrs! {
    /// The attributes of `bucketize`.
    pub struct Bucketize { side: String = "right".to_string() }
    /// The attributes of `vocabulary`.
    pub struct Vocabulary { size: Option<i64> = None, min_count: i64 = 1 }
    /// The attributes of `segment_multi_hot`.
    pub struct Depth { depth: i64 }
}

crate::ops! {
    /// Ops that make features.
    pub static FEATURES;

    /// The bucket of each number between boundaries, as i64: how many boundaries are not above it.
    ///
    /// A number that is a boundary is in the bucket to the right of it, or with `side="left"` to the left; NaN is in the last one. Numbers
    /// of different dtypes are compared exactly. Shapes: `boundaries` is a vector of n; buckets are 0 to n.
    /// Errors: boundaries that decrease or are NaN, with their position; another side; no numbers.
    BUCKETIZE: bucketize(x, boundaries; Bucketize { side: String }) = OpDef::general(Class::Structural, infer_bucketize, run_bucketize)
        .apart(&[0])
        .examples(&[("bucketize([-5.0, 0.0, 50.0, 100.5], [0.0, 10.0, 100.0])", "[0, 1, 2, 3]"), ("bucketize([0, 5, 10], [0, 10], side=\"left\")", "[0, 1, 1]")]);

    /// For each row of ids `depth` booleans, true at each position that an id of the row names. An id outside names none.
    ///
    /// Shapes: `ids` is a vector, cut into n rows; the result is n by `depth`. Errors: ids that are no integers, or of another number than
    /// the partition cuts; a negative depth; a result beyond memory.
    SEGMENT_MULTI_HOT: segment_multi_hot(ids, partition; Depth { depth: i64 }) = OpDef::general(Class::Segment, infer_multi_hot, run_multi_hot)
        .part()
        .examples(&[("segment_multi_hot([0, 2, 2, 5], partition_from_lengths([3, 0, 1]), 3)", "[[True, False, True], [False, False, False], [False, False, False]]")]);

    /// FarmHash's `Fingerprint64` of each string's bytes, as u64: the same on every machine and in every version.
    FINGERPRINT: fingerprint(x) = OpDef::general(Class::UnaryElementwise, infer_fingerprint, run_fingerprint)
        .examples(&[("fingerprint([\"red\", \"größe\"])", "u64([991092756973969910, 7130186473359472984])")]);

    /// The distinct strings or integers, the most frequent first; among equally frequent ones the first first.
    ///
    /// At most `size` of them, and those alone that are there `min_count` times. Of rows and masked values, what is there counts.
    /// Shapes: the result is a vector. `lookup` finds positions in it. Errors: floats and booleans; a negative size.
    VOCABULARY: vocabulary(x; Vocabulary { size: Option<i64>, min_count: i64 }) = OpDef::general(Class::Structural, infer_vocabulary, run_vocabulary)
        .examples(&[("vocabulary([\"b\", \"a\", \"c\", \"a\"])", "[\"a\", \"b\", \"c\"]"), ("vocabulary([7, 5, 5, 7, 1], 2)", "[7, 5]")]);
}

/// Whether a number that is a boundary is in the bucket to the right of it.
fn to_the_right(attrs: &dyn AttrSet) -> Result<bool> {
    match Bucketize::of(attrs)?.side.as_str() {
        "right" => Ok(true),
        "left" => Ok(false),
        other => Err(Error::value(format!("the side is '{other}'")).wanted("'right' or 'left'")),
    }
}

fn infer_bucketize(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let (x, boundaries) = (spec_of(args, 0)?, spec_of(args, 1)?);
    to_the_right(attrs)?;
    for (name, spec) in [("x", x), ("boundaries", boundaries)] {
        if !spec.dtype.is_numeric() {
            return Err(Error::dtype(format!("found {}", spec.dtype))
                .wanted("numbers")
                .at(format!("argument '{name}'")));
        }
    }
    if boundaries.shape.rank().is_some_and(|rank| rank != 1) {
        return Err(Error::shape(format!("the boundaries have shape {}", boundaries.shape)).wanted("a vector"));
    }
    Ok(tensor_spec(DType::I64, x.shape.clone()))
}

fn run_bucketize(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, boundaries, right) = (data(args, 0)?, data(args, 1)?, to_the_right(attrs)?);
    // Of no data, quantiles are NaN.
    if x.is_empty() {
        return one_tensor(Tensor::new::<i64>(x.dims(), &[])?);
    }
    let buckets = match (x.dtype().is_integer(), boundaries.dtype().is_integer()) {
        (true, true) => buckets(&integers(x)?, &in_order(integers(boundaries)?)?, right),
        (false, false) => buckets(&floats(x)?, &in_order(floats(boundaries)?)?, right),
        // Integers that no float holds are compared as integers: a float is between the two next to it.
        (true, false) => {
            let whole = |x: f64| (if right { x.ceil() } else { x.floor() }) as i128;
            buckets(&integers(x)?, &in_order(floats(boundaries)?)?.into_iter().map(whole).collect::<Vec<_>>(), right)
        }
        (false, true) => {
            let whole = |x: f64| match x.is_nan() {
                true => i128::MAX,
                false => (if right { x.floor() } else { x.ceil() }) as i128,
            };
            let x: Vec<i128> = floats(x)?.into_iter().map(whole).collect();
            buckets(&x, &in_order(integers(boundaries)?)?, right)
        }
    };
    one_tensor(Tensor::new(x.dims(), &buckets)?)
}

/// The boundaries, if they are in order.
///
/// Errors: one that is NaN, or below the one before it.
#[allow(clippy::eq_op)]
fn in_order<T: PartialOrd + Copy>(boundaries: Vec<T>) -> Result<Vec<T>> {
    let faulty = |i: usize| boundaries[i] != boundaries[i] || i > 0 && boundaries[i] < boundaries[i - 1];
    match (0..boundaries.len()).find(|i| faulty(*i)) {
        None => Ok(boundaries),
        Some(i) if boundaries[i] != boundaries[i] => {
            Err(Error::value(format!("the boundary at [{i}] is NaN")).wanted("numbers that do not decrease"))
        }
        Some(i) => Err(Error::value(format!("the boundary at [{i}] is below the one before it"))
            .wanted("boundaries that do not decrease")
            .hint("Sort them: `sort(boundaries)`.")),
    }
}

/// The number of boundaries below each number, or not above it.
#[allow(clippy::eq_op)]
fn buckets<T: PartialOrd + Copy>(x: &[T], boundaries: &[T], right: bool) -> Vec<i64> {
    let bucket = |x: &T| match x == x {
        true if right => boundaries.partition_point(|boundary| boundary <= x),
        true => boundaries.partition_point(|boundary| boundary < x),
        false => boundaries.len(),
    };
    x.iter().map(|x| i64::try_from(bucket(x)).unwrap_or(i64::MAX)).collect()
}

fn as_dtype(x: &Dense, dtype: DType) -> Result<Value> {
    cast(Tensor::from_dense(x.dtype(), Dims::from_slice(x.dims()), x.storage().clone()), dtype)
}

fn integers(x: &Dense) -> Result<Vec<i128>> {
    if x.dtype() == DType::U64 {
        return Ok(x.as_slice::<u64>()?.iter().map(|&v| i128::from(v)).collect());
    }
    Ok(as_dtype(x, DType::I64)?.tensor()?.as_slice::<i64>()?.iter().map(|&v| i128::from(v)).collect())
}

fn floats(x: &Dense) -> Result<Vec<f64>> {
    Ok(as_dtype(x, DType::F64)?.tensor()?.as_slice::<f64>()?.to_vec())
}

fn depth(attrs: &dyn AttrSet) -> Result<usize> {
    let depth = Depth::of(attrs)?.depth;
    usize::try_from(depth)
        .map_err(|_| Error::value(format!("depth is {depth}")).wanted("a number that is not negative"))
}

fn infer_multi_hot(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let ids = cut_by(args, 1)?;
    if !ids.dtype.is_integer() {
        return Err(Error::dtype(format!("the ids are {}", ids.dtype)).wanted("integers"));
    }
    if ids.shape.rank().is_some_and(|rank| rank != 1) {
        return Err(Error::shape(format!("the ids have shape {}", ids.shape)).wanted("a vector"));
    }
    let nrows = args[1].partition()?.nrows;
    Ok(tensor_spec(DType::Bool, Shape::new([nrows, Dim::Known(depth(attrs)?)])))
}

fn run_multi_hot(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (rows, depth) = (rows(args, 1)?, depth(attrs)?);
    let wide = whole(&args[0])?;
    let ids = wide.tensor()?.as_slice::<i64>()?;
    let count = rows.nrows().saturating_mul(depth);
    affordable(count / 8)?;
    let mut marks = Block::zeroed(count.div_ceil(8));
    let bytes = marks.bytes_mut();
    for row in 0..rows.nrows() {
        let named = ids[rows.row(row)].iter().filter_map(|id| usize::try_from(*id).ok().filter(|id| *id < depth));
        named.map(|id| row * depth + id).for_each(|at| bytes[at / 8] |= 1 << (at % 8));
    }
    one_tensor(Tensor::from_bits(&[rows.nrows(), depth], BooleanBuffer::new(marks.freeze(), 0, count))?)
}

fn infer_fingerprint(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let spec = spec_of(args, 0)?;
    if spec.dtype.kind() != DTypeKind::Text {
        return Err(Error::dtype(format!("the op does not take {}", spec.dtype))
            .wanted("strings or bytes")
            .hint("Write `as_string(x)` around numbers."));
    }
    Ok(tensor_spec(DType::U64, spec.shape.clone()))
}

fn run_fingerprint(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let x = data(args, 0)?;
    let prints: Result<Vec<u64>> = (0..x.len()).map(|i| Ok(crate::kernels::farm::fingerprint(x.text_at(i)?))).collect();
    one_tensor(Tensor::new(x.dims(), &prints?)?)
}

fn infer_vocabulary(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let (spec, Vocabulary { size, .. }) = (spec_of(args, 0)?, Vocabulary::of(attrs)?);
    if spec.dtype.kind() != DTypeKind::Text && !spec.dtype.is_integer() {
        return Err(Error::dtype(format!("found {}", spec.dtype)).wanted("strings, bytes or integers"));
    }
    if let Some(size) = size.filter(|size| *size < 0) {
        return Err(Error::value(format!("the size is {size}")).wanted("a size that is not negative"));
    }
    Ok(tensor_spec(spec.dtype, Shape::new([Dim::any()])))
}

fn run_vocabulary(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, Vocabulary { size, min_count }) = (data(args, 0)?, Vocabulary::of(attrs)?);
    let items = Items::of(x)?;
    // Where each key first stands, and how often it is there.
    let mut counts: HashMap<&[u8], (usize, i64)> = HashMap::new();
    for i in 0..x.len() {
        counts.entry(items.at(i)).or_insert((i, 0)).1 += 1;
    }
    let mut found: Vec<(usize, i64)> = counts.into_values().filter(|(_, count)| count >= min_count).collect();
    found.sort_unstable_by_key(|(first, count)| (std::cmp::Reverse(*count), *first));
    found.truncate(size.map_or(usize::MAX, |size| usize::try_from(size).unwrap_or(usize::MAX)));
    let dims: Dims = smallvec![found.len()];
    let run = |(first, _): (usize, i64)| Run { source: Some(0), start: first, len: 1 };
    one_tensor(assemble(x.dtype(), dims, &[x], found.into_iter().map(run))?)
}

/// The bucket of each number between `bins`, as i64: `bucketize` with the arguments of NumPy's `digitize`.
///
/// With `right` a number that is a boundary is in the bucket to the left of it.
///
/// Errors: as of `bucketize`; bins that decrease, which NumPy takes.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let x = Tensor::from_vec(vec![0.5, 1.0, 9.0]);
/// assert_eq!(ops::digitize(x, Tensor::from_vec(vec![1.0, 2.0]), true).unwrap().to_string(), "[0, 0, 2]");
/// ```
pub fn digitize(x: impl Into<Arg>, bins: impl Into<Arg>, right: bool) -> Result<Value> {
    bucketize(x, bins, if right { "left" } else { "right" }).map_err(|e| e.at_part("digitize"))
}

/// `(x - mean) / deviation`, and zero where the deviation is zero; without them, those of all elements of `x`.
///
/// The deviation is that of the elements themselves: the root of the mean square, and zero where they are alike. A composition, so it has
/// a gradient.
///
/// Errors: no floats; shapes that do not broadcast.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let x = Tensor::from_vec(vec![1.0, 3.0]);
/// assert_eq!(ops::z_score(&x, None, None).unwrap().to_string(), "[-1.0, 1.0]");
/// assert_eq!(ops::z_score(x, Some(1.0.into()), Some(0.5.into())).unwrap().to_string(), "[0.0, 4.0]");
/// ```
pub fn z_score(x: impl Into<Arg>, mean: Option<Arg>, deviation: Option<Arg>) -> Result<Value> {
    in_f32(&[&x.into()], |x| standard(&x[0], mean, deviation)).map_err(|e| e.at_part("z_score"))
}

fn standard(x: &Arg, center: Option<Arg>, deviation: Option<Arg>) -> Result<Value> {
    are_floats(x)?;
    let center = center.map_or_else(|| mean(x, Axes::All, false).map(Arg::from), Ok)?;
    let moved = subtract(x, &center)?;
    let spread = match deviation {
        Some(deviation) => deviation,
        None => {
            let spread = root(mean(square(subtract(x, mean(x, Axes::All, false)?)?)?, Axes::All, false)?)?;
            // Of elements that are alike the mean may be rounded, and their distance to it would be all there is.
            let alike = equal(max(x, Axes::All, false)?, min(x, Axes::All, false)?)?;
            where_(alike, zeros_like(&spread)?, spread)?.into()
        }
    };
    over(moved, spread)
}

/// `(x - low) / (high - low)`, and zero where both ends are one; without them, the ends of all elements of `x`.
///
/// What is outside of the ends is below 0 or above 1: `clip` brings it in. A composition, so it has a gradient.
///
/// Errors: no floats; shapes that do not broadcast.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let x = Tensor::from_vec(vec![1.0, 2.0, 5.0]);
/// assert_eq!(ops::min_max_scale(&x, None, None).unwrap().to_string(), "[0.0, 0.25, 1.0]");
/// assert_eq!(ops::min_max_scale(x, Some(0.0.into()), Some(2.0.into())).unwrap().to_string(), "[0.5, 1.0, 2.5]");
/// ```
pub fn min_max_scale(x: impl Into<Arg>, low: Option<Arg>, high: Option<Arg>) -> Result<Value> {
    between(&x.into(), low, high).map_err(|e| e.at_part("min_max_scale"))
}

fn between(x: &Arg, low: Option<Arg>, high: Option<Arg>) -> Result<Value> {
    are_floats(x)?;
    let low = low.map_or_else(|| min(x, Axes::All, false).map(Arg::from), Ok)?;
    let high = high.map_or_else(|| max(x, Axes::All, false).map(Arg::from), Ok)?;
    // Both distances are of the dtype of `x`, also where the ends are numbers without one.
    in_f32(&[x, &low, &high], |args| {
        let (above, below) = (subtract(&args[0], &args[1])?, subtract(&args[0], &args[2])?);
        over(above.clone(), subtract(above, below)?.into())
    })
}

/// The quotient, and zero where `by` is zero; the gradient does not see the division by zero.
fn over(x: Value, by: Arg) -> Result<Value> {
    // A number without a dtype would get one of its own before it meets `x`.
    if let Arg::Scalar(number) = &by {
        let nothing = matches!(number, Scalar::Int(0)) || matches!(number, Scalar::Float(v) if *v == 0.0);
        return if nothing { zeros_like(x) } else { divide(x, by) };
    }
    let nothing = equal(&by, 0.0)?;
    // Zero as `x` has it, so that what is missing there stays missing.
    where_(&nothing, zeros_like(&x)?, divide(x, where_(&nothing, 1.0, by)?)?)
}
