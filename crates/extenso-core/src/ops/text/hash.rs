//! Hash buckets: numbers below a count that texts fall to, the same on every machine and in every version.

use super::super::args::{data, one_tensor, tensor_spec};
use super::{numbers, text_spec};
use crate::attrs::{AttrSet, Attrs};
use crate::op::{Class, OpDef, OutputSpecs};
use crate::value::{Outputs, Value};
use extenso_types::{DType, Error, LeafSpec, Result};
use siphasher::sip::SipHasher24;

crate::attrs! {
    /// The attributes of `to_hash_bucket_fast`.
    pub struct Buckets { buckets: i64 }
    /// The attributes of `to_hash_bucket_strong`.
    pub struct KeyedBuckets { buckets: i64, key: Vec<i64> }
}

crate::ops! {
    /// Ops that hash strings.
    pub static TEXT_HASHES;

    /// The bucket of each string's bytes, from 0 to below `buckets`, as i64: FarmHash's `Fingerprint64` modulo `buckets`, as TensorFlow has it.
    ///
    /// Whoever chooses the strings can make them fall into one bucket; `to_hash_bucket_strong` has a key against that.
    /// Errors: fewer than one bucket.
    TO_HASH_BUCKET_FAST: to_hash_bucket_fast(x; Buckets { buckets: i64 }) = OpDef::general(Class::UnaryElementwise, infer_fast, run_fast)
        .alias_tf("strings.to_hash_bucket_fast")
        .examples(&[("to_hash_bucket_fast([\"Hello\", \"TensorFlow\", \"2.x\"], 3)", "[0, 2, 2]")]);

    /// The bucket of each string's bytes, from 0 to below `buckets`, as i64: SipHash-2-4 modulo `buckets`, as TensorFlow has it.
    ///
    /// The key is two numbers; who does not know it cannot choose strings that fall into one bucket. Errors: fewer than one bucket; a key that is not two numbers.
    TO_HASH_BUCKET_STRONG: to_hash_bucket_strong(x; KeyedBuckets { buckets: i64, key: Vec<i64> }) = OpDef::general(Class::UnaryElementwise, infer_strong, run_strong)
        .alias_tf("strings.to_hash_bucket_strong")
        .examples(&[("to_hash_bucket_strong([\"Hello\", \"TF\"], 3, (1, 2))", "[2, 0]")]);
}

/// The fast bucket of some bytes.
pub(in super::super) fn bucket(bytes: &[u8], buckets: u64) -> i64 {
    below(crate::kernels::farm::fingerprint(bytes), buckets)
}

fn below(hash: u64, buckets: u64) -> i64 {
    i64::try_from(hash % buckets.max(1)).unwrap_or(i64::MAX)
}

fn count(buckets: i64) -> Result<u64> {
    u64::try_from(buckets)
        .ok()
        .filter(|n| *n > 0)
        .ok_or_else(|| Error::value(format!("{buckets} buckets are asked for")).wanted("at least one bucket"))
}

fn key(key: &[i64]) -> Result<SipHasher24> {
    match key {
        [k0, k1] => Ok(SipHasher24::new_with_keys(k0.cast_unsigned(), k1.cast_unsigned())),
        _ => Err(Error::value(format!("the key is {key:?}")).wanted("a key of two numbers")),
    }
}

fn infer_fast(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let shape = text_spec(args)?.shape.clone();
    count(Buckets::of(attrs)?.buckets)?;
    Ok(tensor_spec(DType::I64, shape))
}

fn infer_strong(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let (shape, keyed) = (text_spec(args)?.shape.clone(), KeyedBuckets::of(attrs)?);
    count(keyed.buckets)?;
    key(&keyed.key)?;
    Ok(tensor_spec(DType::I64, shape))
}

fn hashed(args: &[Value], hash: impl Fn(&[u8]) -> i64 + Sync) -> Result<Outputs> {
    let x = data(args, 0)?;
    one_tensor(numbers(x.dims(), |i| x.text_at(i).map(&hash))?)
}

fn run_fast(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let buckets = count(Buckets::of(attrs)?.buckets)?;
    hashed(args, |bytes| bucket(bytes, buckets))
}

fn run_strong(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let keyed = KeyedBuckets::of(attrs)?;
    let (buckets, hasher) = (count(keyed.buckets)?, key(&keyed.key)?);
    hashed(args, |bytes| below(hasher.hash(bytes), buckets))
}
