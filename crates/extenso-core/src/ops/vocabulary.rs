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
use crate::kernels::pool::affordable;
use crate::kernels::reduce::Offset;
use crate::kernels::stream::{FAR, ask_for, past_caches};
use crate::kernels::words::{hash, short};
use crate::offsets::{Offsets, with_offsets};
use crate::op::{Class, OpDef, OutputSpecs};
use crate::tensor::{Dense, Storage, Tensor};
use crate::threads::{pieces, side_by_side};
use crate::value::{Outputs, Value};
use extenso_types::{DType, DTypeKind, Dims, Error, LeafSpec, Result, Shape, TensorSpec};
use smallvec::smallvec;
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
    let unknown = |i: usize| {
        if buckets == 0 {
            return Ok(*default);
        }
        let mut text = Vec::new();
        let bytes = match x.dtype().kind() {
            DTypeKind::Text => items.at(i),
            _ => {
                write_number(x, i, &mut text)?;
                &text
            }
        };
        Ok(n.saturating_add(bucket(bytes, buckets)))
    };
    let find = |group: &mut Group, part: (usize, &mut [i64])| match &items {
        Items::Text(offsets, bytes) => with_offsets!(offsets, o => {
            let spans = o[part.0..=part.0 + part.1.len()].array_windows();
            table.positions(&among, bytes, spans.map(|[from, to]| (from.index(), to.index())), group, part.1)
        }),
        Items::Fixed(bytes, width) => {
            let spans = (part.0..part.0 + part.1.len()).map(|i| (i * width, (i + 1) * width));
            table.positions(&among, bytes, spans, group, part.1)
        }
    };
    one_tensor(found(x.len(), find, unknown)?.with_dims(x.dims())?)
}

/// The positions of `n` items, as `find` writes those from one item on; `unknown` says what stands for those that it found nowhere.
fn found(
    n: usize,
    find: impl Fn(&mut Group, (usize, &mut [i64])) + Sync,
    unknown: impl Fn(usize) -> Result<i64> + Sync,
) -> Result<Tensor> {
    super::sorting::indices(smallvec![n], |out| {
        let piece = n.div_ceil(pieces(n)).max(1);
        let parts = out.chunks_mut(piece).enumerate().collect();
        let far = n >= FAR / size_of::<i64>();
        let done = side_by_side(parts, |(part, out): (usize, &mut [i64])| {
            let (mut group, mut near) = (Group::new(), [0; GROUP]);
            past_caches(|past| {
                out.chunks_mut(GROUP).enumerate().try_for_each(|(at, out)| {
                    let (first, found) = (part * piece + at * GROUP, &mut near[..out.len()]);
                    find(&mut group, (first, found));
                    // What is unknown is filled in while its neighbours are in the nearest cache.
                    if has_unknown(found) {
                        let mut unknowns = (first..).zip(&mut *found).filter(|(_, found)| **found == NOWHERE);
                        unknowns.try_for_each(|(i, found)| unknown(i).map(|number| *found = number))?;
                    }
                    match far {
                        true => past.copy(bytemuck::cast_slice(found), bytemuck::cast_slice_mut(out)),
                        false => out.copy_from_slice(found),
                    }
                    Ok(())
                })
            })
        });
        done.into_iter().collect()
    })
}

/// What stands for the position of an item that is no key.
const NOWHERE: i64 = -1;

/// So many items are looked up together.
const GROUP: usize = 64;

/// The bytes of text are asked for so far ahead.
const AHEAD: usize = 640;

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
    let run = |i: usize| match table.find(&among, &items, i) {
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
    Text(&'a Offsets, &'a [u8]),
    Fixed(&'a [u8], usize),
}

impl<'a> Items<'a> {
    pub fn of(x: &'a Dense) -> Result<Items<'a>> {
        match (x.storage(), x.dtype().width()) {
            (Storage::Text { offsets, bytes }, _) => Ok(Items::Text(offsets, bytes)),
            (Storage::Fixed(buffer), Some(width)) => Ok(Items::Fixed(buffer, width)),
            _ => Err(Error::dtype(format!("found {}", x.dtype())).wanted("strings, bytes or integers")),
        }
    }

    fn bytes(&self) -> &'a [u8] {
        match self {
            Items::Text(_, bytes) | Items::Fixed(bytes, _) => bytes,
        }
    }

    /// Where an element begins and ends.
    fn span(&self, i: usize) -> (usize, usize) {
        match self {
            Items::Text(offsets, _) => (offsets.get(i), offsets.get(i + 1)),
            Items::Fixed(_, width) => (i * width, (i + 1) * width),
        }
    }

    pub fn at(&self, i: usize) -> &'a [u8] {
        let (from, to) = self.span(i);
        &self.bytes()[from..to]
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

/// Positions of keys by their hash, with open addressing. It is at most a quarter full: searches are short, and they end. They begin
/// at a pair of slots, of which both are read at once; few keys find no place in their pair.
struct Table {
    /// One more than a position, or 0 where there is no key.
    slots: Vec<[u32; 2]>,
    /// The keys as numbers behind one that is none; those too long for a number are [`LONG`], as it is.
    words: Vec<u128>,
    // Keys may come from outside: a hash with a random state cannot be made to collide.
    state: RandomState,
    secret: [u64; 2],
}

/// What no short key is.
const LONG: u128 = u128::MAX;

/// What no key is.
const UNLIKE: u128 = LONG - 1;

/// Whether one of these positions is [`NOWHERE`].
#[inline(always)]
fn has_unknown(found: &[i64]) -> bool {
    found.iter().fold(0, |all, at| all | at) < 0
}

/// Items that are looked up together: as numbers, the pairs of slots in which their searches begin, and what stands there.
struct Group {
    words: [u128; GROUP],
    found: [[u32; 2]; GROUP],
}

impl Group {
    fn new() -> Group {
        Group { words: [LONG; GROUP], found: [[0; 2]; GROUP] }
    }
}

impl Table {
    /// The table of keys, made once for a tensor.
    ///
    /// Errors: two keys are alike; too many keys.
    fn of(keys: &Dense) -> Result<Arc<Table>> {
        keys.derived(Table::new)
    }

    fn new(keys: &Dense) -> Result<Table> {
        let pairs = keys.len().saturating_mul(2).next_power_of_two().max(2);
        affordable(pairs.saturating_mul(size_of::<[u32; 2]>()))?;
        let state = RandomState::new();
        let secret = [state.hash_one(0), state.hash_one(1)];
        let mut table = Table { slots: vec![[0; 2]; pairs], words: vec![LONG], state, secret };
        let items = Items::of(keys)?;
        for i in 0..keys.len() {
            let (from, to) = items.span(i);
            table.words.push(short(items.bytes(), from, to - from).unwrap_or(LONG));
            let slot = table.slot(&items, items.bytes(), (from, to));
            if let Some(before) = table.position(slot) {
                return Err(Error::value(format!("the keys at [{before}] and [{i}] are both {}", shown(keys, i)?))
                    .wanted("keys that are distinct"));
            }
            table.slots.as_flattened_mut()[slot] = u32::try_from(i + 1)
                .map_err(|_| Error::value(format!("{} keys are given", keys.len())).wanted("fewer than 2^32 keys"))?;
        }
        Ok(table)
    }

    /// Where the key with these bytes stands, or the free slot where it would.
    fn slot(&self, keys: &Items<'_>, bytes: &[u8], (from, to): (usize, usize)) -> usize {
        match short(bytes, from, to - from) {
            Some(word) => self.search(hash(word, self.secret), |at| self.words[at + 1] == word),
            None => {
                let key = &bytes[from..to];
                self.search(self.state.hash_one(key), |at| self.words[at + 1] == LONG && keys.at(at) == key)
            }
        }
    }

    /// The pair of slots at which a search begins.
    #[inline(always)]
    fn pair_of(&self, hash: u64) -> usize {
        let mask = self.slots.len() - 1;
        usize::try_from(hash & mask as u64).unwrap_or(0)
    }

    fn search(&self, hash: u64, is_key: impl Fn(usize) -> bool) -> usize {
        let mut slot = 2 * self.pair_of(hash);
        while self.position(slot).is_some_and(|at| !is_key(at)) {
            slot = (slot + 1) & (2 * self.slots.len() - 1);
        }
        slot
    }

    #[inline(always)]
    fn position(&self, slot: usize) -> Option<usize> {
        (self.slots.as_flattened()[slot] as usize).checked_sub(1)
    }

    /// Writes the positions of at most [`GROUP`] items, which begin and end at `spans`.
    ///
    /// The pairs of all are asked for, then all are compared, so that they are waited for together; and those that stand in
    /// another pair than their first are searched for behind all others, as the processor cannot guess which they are.
    fn positions(
        &self,
        keys: &Items<'_>,
        bytes: &[u8],
        spans: impl Iterator<Item = (usize, usize)> + Clone,
        group: &mut Group,
        out: &mut [i64],
    ) {
        for ((word, found), (from, to)) in group.words.iter_mut().zip(&mut group.found).zip(spans.clone()) {
            ask_for(bytes, from + AHEAD);
            *word = short(bytes, from, to - from).unwrap_or(UNLIKE);
            *found = self.slots[self.pair_of(hash(*word, self.secret))];
        }
        for ((word, found), out) in group.words.iter().zip(&group.found).zip(&mut *out) {
            let [is_first, is_second] = found.map(|at| self.words[at as usize] == *word);
            let at = if is_first {
                found[0]
            } else if is_second {
                found[1]
            } else {
                0
            };
            *out = i64::from(at) - 1;
        }
        if has_unknown(out) {
            for (((word, found), out), span) in group.words.iter().zip(&group.found).zip(&mut *out).zip(spans) {
                if *out == NOWHERE && (*word == UNLIKE || found[1] != 0) {
                    *out = self.position(self.slot(keys, bytes, span)).map_or(NOWHERE, int);
                }
            }
        }
    }

    /// The position of an item among the keys.
    fn find(&self, keys: &Items<'_>, items: &Items<'_>, i: usize) -> Option<usize> {
        self.position(self.slot(keys, items.bytes(), items.span(i)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::with_threads;

    #[test]
    fn many_items_are_found_as_by_a_map() {
        // Short words, words too long for a number, and of both some that are no key.
        let word = |i: usize| if i.is_multiple_of(3) { format!("a word of many bytes, {i}") } else { format!("w{i}") };
        let keys: Vec<String> = (0..500).map(word).collect();
        let items: Vec<String> = (0..70_000).map(|i| word(i * 7919 % 700)).collect();
        let tensor = |texts: &[String]| {
            Tensor::strings(&[texts.len()], &texts.iter().map(String::as_str).collect::<Vec<_>>()).expect("texts")
        };
        let wanted: Vec<i64> = (0..70_000).map(|i| i * 7919 % 700).map(|i| if i < 500 { i } else { -1 }).collect();
        for threads in [1, 2] {
            let found = with_threads(threads, || lookup(tensor(&items), tensor(&keys), -1, 0)).expect("found");
            assert_eq!(found.tensor().expect("a tensor").as_slice::<i64>().expect("i64"), wanted, "{threads} threads");
        }
    }
}
