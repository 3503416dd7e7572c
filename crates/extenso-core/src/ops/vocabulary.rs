//! Vocabularies: where a string or an integer stands among keys, and the value that stands there.
//!
//! Invariant: keys are distinct. The table of a tensor of keys is made once and kept with it, so that a constant of a graph is looked
//! through once, not in each call.

use super::args::{data, one_tensor, spec_of, tensor_spec};
use super::structural::stretch;
use super::text::{bucket, write_number};
use super::{Run, assemble, expand_dims_at, greater_equal, maximum, scatter_add_like, sum_like, where_, zeros_like};
use crate::attrs::{AttrSet, Attrs};
use crate::grad::GradCx;
use crate::op::{Class, OpDef, OutputSpecs};
use crate::tensor::{Dense, Storage, Tensor};
use crate::value::{Outputs, Value};
use extenso_types::{DType, DTypeKind, Dims, Error, LeafSpec, Result, Shape, TensorSpec};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

crate::attrs! {
    /// The attributes of `lookup`.
    pub struct Lookup { default: i64 = -1, oov_buckets: i64 = 0 }
}

crate::ops! {
    /// Ops that look values up.
    pub static VOCABULARIES;

    /// The position of each string or integer among `keys`, as i64.
    ///
    /// What is no key gives `default`; or with `oov_buckets`, the number of keys plus its bucket: that of `to_hash_bucket_fast`, for
    /// an integer of its digits. Shapes: `keys` is a vector, the result has the shape of `x`.
    /// Errors: a key that stands there twice, with both positions; keys of another dtype; a default beside buckets.
    LOOKUP: lookup(x, keys; Lookup { default: i64, oov_buckets: i64 }) = OpDef::general(Class::Structural, infer_lookup, run_lookup)
        .examples(&[("lookup([\"b\", \"x\", \"a\"], [\"a\", \"b\"])", "[1, -1, 0]"), ("lookup([7, 5, 123456], [5, 7], oov_buckets=10)", "[1, 0, 10]")]);

    /// The element of `values` that stands where each string or integer stands among `keys`, and `default` for what is no key.
    ///
    /// Shapes: `keys` is a vector of n, `values` has n as outer axis; its other axes follow those of `x` in the result, and `default`
    /// broadcasts to them. Errors: a key that stands there twice, with both positions; keys of another dtype than `x`, or a default
    /// of another than `values`.
    LOOKUP_VALUES: lookup_values(x, keys, values, default) = OpDef::general(Class::Structural, infer_values, run_values)
        .like(2)
        .grad(grad_values)
        .examples(&[("lookup_values([\"b\", \"x\"], [\"a\", \"b\"], [10, 20], 0)", "[20, 0]"), ("lookup_values([2, 3], [1, 2], [[0.5, 1.0], [2.0, 4.0]], [0.0, -1.0])", "[[2.0, 4.0], [0.0, -1.0]]")]);
}

/// The shape of what is looked up, and the number of keys.
fn infer_keys(args: &[LeafSpec]) -> Result<(Shape, TensorSpec)> {
    let (x, keys) = (spec_of(args, 0)?, spec_of(args, 1)?);
    if keys.dtype.kind() != DTypeKind::Text && !keys.dtype.is_integer() {
        return Err(Error::dtype(format!("the keys are {}", keys.dtype)).wanted("strings, bytes or integers"));
    }
    if x.dtype != keys.dtype {
        return Err(Error::dtype(format!("{} is looked up among keys that are {}", x.dtype, keys.dtype))
            .wanted("one dtype for both"));
    }
    if keys.shape.rank().is_some_and(|rank| rank != 1) {
        return Err(Error::shape(format!("the keys have shape {}", keys.shape)).wanted("a vector"));
    }
    Ok((x.shape.clone(), keys.clone()))
}

fn infer_lookup(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let (shape, Lookup { default, oov_buckets }) = (infer_keys(args)?.0, Lookup::of(attrs)?);
    if *oov_buckets < 0 {
        return Err(Error::value(format!("{oov_buckets} buckets are asked for")).wanted("buckets, or 0 for none"));
    }
    if *oov_buckets > 0 && *default != -1 {
        return Err(Error::value(format!("a default, {default}, stands beside {oov_buckets} buckets"))
            .wanted("one of both: with buckets, everything has a number"));
    }
    Ok(tensor_spec(DType::I64, shape))
}

fn run_lookup(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, keys, Lookup { default, oov_buckets }) = (data(args, 0)?, data(args, 1)?, Lookup::of(attrs)?);
    let table = Table::of(keys)?;
    let (items, among) = (Items::of(x)?, Items::of(keys)?);
    let (n, buckets) = (int(keys.len()), u64::try_from(*oov_buckets).unwrap_or(0));
    let mut text = Vec::new();
    let mut position = |i: usize| match table.find(&among, items.at(i)) {
        Some(at) => Ok(int(at)),
        None if buckets == 0 => Ok(*default),
        None if x.dtype().kind() == DTypeKind::Text => Ok(n.saturating_add(bucket(items.at(i), buckets))),
        None => {
            text.clear();
            write_number(x, i, &mut text)?;
            Ok(n.saturating_add(bucket(&text, buckets)))
        }
    };
    let positions: Result<Vec<i64>> = (0..x.len()).map(&mut position).collect();
    one_tensor(Tensor::new(x.dims(), &positions?)?)
}

fn int(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn infer_values(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let (shape, keys) = infer_keys(args)?;
    let (values, default) = (spec_of(args, 2)?, spec_of(args, 3)?);
    if values.dtype != default.dtype {
        return Err(Error::dtype(format!("the values are {}, and the default is {}", values.dtype, default.dtype))
            .wanted("one dtype for both"));
    }
    let (Some(outer), Some(dims)) = (shape.dims(), values.shape.dims()) else {
        return Ok(tensor_spec(values.dtype, Shape::unknown()));
    };
    let [n, inner @ ..] = dims else {
        return Err(Error::shape("the values are a scalar").wanted("a value for each key"));
    };
    if keys.shape.dims().is_some_and(|keys| !keys[0].is_compatible_with(*n)) {
        return Err(Error::shape(format!("{n} values are given for keys of shape {}", keys.shape))
            .wanted("a value for each key"));
    }
    let element = Shape::new(inner.iter().copied());
    let fits = default.shape.rank().is_none_or(|rank| rank <= inner.len()) && element.broadcast(&default.shape).is_ok();
    if !fits {
        return Err(Error::shape(format!("the default has shape {}, and a value {element}", default.shape))
            .wanted("a default of the shape of one value"));
    }
    Ok(tensor_spec(values.dtype, Shape::new(outer.iter().chain(inner).copied())))
}

fn run_values(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, keys, values) = (data(args, 0)?, data(args, 1)?, data(args, 2)?);
    let inner = values.dims().get(1..).unwrap_or(&[]);
    if values.dims().first() != Some(&keys.len()) {
        return Err(Error::shape(format!("values of shape {:?} are given for {} keys", values.dims(), keys.len())));
    }
    let default = args.get(3).ok_or_else(|| Error::value("argument 4 is missing"))?.tensor()?;
    let default = stretch(default, Dims::from_slice(inner))?;
    let (table, items, among) = (Table::of(keys)?, Items::of(x)?, Items::of(keys)?);
    let width: usize = inner.iter().product();
    let run = |i: usize| match table.find(&among, items.at(i)) {
        Some(at) => Run { source: Some(0), start: at * width, len: width },
        None => Run { source: Some(1), start: 0, len: width },
    };
    let dims = x.dims().iter().chain(inner).copied().collect();
    one_tensor(assemble(values.dtype(), dims, &[values, default.data()?], (0..x.len()).map(run))?)
}

/// What was found gives its gradient to the value that stands there, the rest to the default.
fn grad_values(cx: &GradCx<'_>) -> Result<Vec<Option<Value>>> {
    let [x, keys, values, default] = cx.args else { return Err(Error::internal("four arguments became others")) };
    let rank = values.tensor()?.shape().rank();
    let inner = rank.ok_or_else(|| Error::shape("the gradient of lookup_values needs a known rank"))? - 1;
    let index = lookup(x, keys, -1, 0)?;
    let axes: Vec<i64> = (1..=inner).map(|i| -int(i)).collect();
    let found = expand_dims_at(greater_equal(&index, 0)?, axes)?;
    let nothing = zeros_like(cx.g())?;
    let of_values = where_(&found, cx.g(), &nothing)?;
    let of_values = scatter_add_like(of_values, maximum(index, 0)?, values)?;
    let of_default = sum_like(where_(found, nothing, cx.g())?, default)?;
    Ok(vec![None, None, Some(of_values), Some(of_default)])
}

/// The bytes of the elements of a tensor of text or integers.
pub(super) enum Items<'a> {
    Text(&'a Dense),
    Fixed(&'a [u8], usize),
}

impl<'a> Items<'a> {
    pub fn of(x: &'a Dense) -> Result<Items<'a>> {
        match (x.storage(), x.dtype().width()) {
            (Storage::Text { .. }, _) => Ok(Items::Text(x)),
            (Storage::Fixed(buffer), Some(width)) => Ok(Items::Fixed(buffer, width)),
            _ => Err(Error::dtype(format!("found {}", x.dtype())).wanted("strings, bytes or integers")),
        }
    }

    pub fn at(&self, i: usize) -> &'a [u8] {
        match self {
            Items::Text(x) => x.text_at(i).unwrap_or(&[]),
            Items::Fixed(bytes, width) => &bytes[i * width..][..*width],
        }
    }
}

/// A key as errors show it.
fn shown(keys: &Dense, i: usize) -> Result<String> {
    if keys.dtype().kind() == DTypeKind::Text {
        return Ok(format!("{:?}", String::from_utf8_lossy(keys.text_at(i)?)));
    }
    let mut text = Vec::new();
    write_number(keys, i, &mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Positions of keys by their hash, with open addressing. It is at most half full, so that a search ends.
struct Table {
    /// One more than a position; 0 is free.
    slots: Vec<usize>,
    state: RandomState,
}

impl Table {
    /// The table of keys, made once for a tensor.
    ///
    /// Errors: two keys are alike.
    fn of(keys: &Dense) -> Result<Arc<Table>> {
        keys.derived(Table::new)
    }

    fn new(keys: &Dense) -> Result<Table> {
        let size = keys.len().saturating_mul(2).next_power_of_two().max(2);
        crate::kernels::pool::affordable(size.saturating_mul(size_of::<usize>()))?;
        // Keys may come from outside: a hash with a random state cannot be made to collide.
        let mut table = Table { slots: vec![0; size], state: RandomState::new() };
        let items = Items::of(keys)?;
        for i in 0..keys.len() {
            let slot = table.slot(&items, items.at(i));
            if let Some(before) = table.slots[slot].checked_sub(1) {
                return Err(Error::value(format!("the keys at [{before}] and [{i}] are both {}", shown(keys, i)?))
                    .wanted("keys that are distinct"));
            }
            table.slots[slot] = i + 1;
        }
        Ok(table)
    }

    /// Where a key stands, or the free slot where it would.
    fn slot(&self, keys: &Items<'_>, key: &[u8]) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = usize::try_from(self.state.hash_one(key) & mask as u64).unwrap_or(0);
        while let Some(at) = self.slots[slot].checked_sub(1) {
            if keys.at(at) == key {
                break;
            }
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn find(&self, keys: &Items<'_>, key: &[u8]) -> Option<usize> {
        self.slots[self.slot(keys, key)].checked_sub(1)
    }
}
