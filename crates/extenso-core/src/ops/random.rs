//! Random bits and numbers from a key: without state, and the same on every machine.
//!
//! Invariant: the element at a place, in row-major order, is a function of the key and the place alone. A key is two u32, or one
//! integer of 64 bits, which is a seed; it is an argument, so that it is traced and saved like any other.

use super::args::{data, one_tensor, spec_of, tensor_spec};
use crate::attrs::{AttrSet, Attrs};
use crate::elementwise::position;
use crate::kernels::elementary::{f32_to_bf16, f32_to_f16};
use crate::kernels::pool::{Block, affordable};
use crate::kernels::threefry::{Key, derived, fill_below, fill_blocks, fill_words, key_of};
use crate::op::{Class, OpDef, OutputSpecs};
use crate::tensor::{Dense, Element, Storage, Tensor, element_count};
use crate::threads::side_by_side;
use crate::value::{Outputs, Value};
use extenso_types::{DType, Dim, Dims, Error, LeafSpec, Result, Shape, TensorSpec};
use smallvec::{SmallVec, smallvec};

crate::attrs! {
    /// The attributes of `random_bits`.
    pub struct RandomBits { shape: Vec<i64>, dtype: DType = DType::U32 }
    /// The attributes of `random_unit`.
    pub struct RandomUnit { shape: Vec<i64>, dtype: DType = DType::F64 }
    /// The attributes of `random_unit_like`.
    pub struct RandomUnitLike { dtype: DType = DType::F64 }
    /// The attributes of `random_bits_like`.
    pub struct RandomBitsLike { dtype: DType = DType::U32 }
    /// The attributes of `random_below`.
    pub struct RandomBelow { shape: Vec<i64> }
    /// The attributes of `check_weights`.
    pub struct CheckWeights { most: f64, least: i64 = 0 }
    /// The attributes of `random_integers`.
    pub struct RandomIntegers { low: i64, high: i64, shape: Vec<i64>, dtype: DType = DType::I64 }
}

crate::ops! {
    /// Random numbers.
    pub static RANDOM;

    /// Integers of a dtype, every one as likely as the others: random bits.
    ///
    /// They are those of Threefry-2x32 with 20 rounds (Salmon et al., 2011), by counters from 0. Errors: a key that is neither
    /// two u32 nor an integer of 64 bits; a negative size; more elements than memory holds; a dtype without integers.
    RANDOM_BITS: random_bits(key; RandomBits { shape: Vec<i64>, dtype: DType }) = OpDef::general(Class::Structural, infer_bits, run_bits)
        .apart(&[0])
        .examples(&[("random_bits(0, shape=(2,), dtype='u32')", "u32([1797259609, 2579123966])"), ("random_bits(u32([0, 0]), shape=(1,), dtype='i64')", "i64([-7369490985612476071])")]);

    /// Floats from 0 up to 1, without 1: multiples of `2**-24` in f32, `2**-53` in f64, `2**-11` in f16 and `2**-8` in bf16.
    ///
    /// Errors: a key that is neither two u32 nor an integer of 64 bits; a negative size; more elements than memory holds; a
    /// dtype without floats.
    RANDOM_UNIT: random_unit(key; RandomUnit { shape: Vec<i64>, dtype: DType }) = OpDef::general(Class::Structural, infer_unit, run_unit)
        .apart(&[0])
        .examples(&[("random_unit(0, shape=(2,), dtype='f64')", "f64([0.6004990931643306, 0.7533912179792955])"), ("random_unit(u32([0, 0]), shape=(2,), dtype='f32')", "f32([0.41845709085464478, 0.6004990339279175])")]);

    /// As `random_unit`, in the shape of `like`.
    ///
    /// Errors: a key that is neither two u32 nor an integer of 64 bits; a dtype without floats.
    RANDOM_UNIT_LIKE: random_unit_like(key, like; RandomUnitLike { dtype: DType }) = OpDef::general(Class::Structural, infer_unit_like, run_unit)
        .apart(&[0, 1])
        .examples(&[("random_unit_like(0, [7, 8], dtype='f64')", "f64([0.6004990931643306, 0.7533912179792955])")]);

    /// As `random_bits`, in the shape of `like`.
    ///
    /// Errors: a key that is neither two u32 nor an integer of 64 bits; a dtype without integers.
    RANDOM_BITS_LIKE: random_bits_like(key, like; RandomBitsLike { dtype: DType }) = OpDef::general(Class::Structural, infer_bits_like, run_bits)
        .apart(&[0, 1])
        .part()
        .examples(&[("random_bits_like(0, [7, 8], dtype='u32')", "u32([1797259609, 2579123966])")]);

    /// Integers from 0 up to `count`, an i64, without it: those of `random_integers`, below a number that need not be known while tracing.
    ///
    /// Errors: a count that is no i64, or not above zero where an integer is asked for; a key that is neither two u32 nor an integer
    /// of 64 bits; a negative size; more elements than memory holds.
    RANDOM_BELOW: random_below(key, count; RandomBelow { shape: Vec<i64> }) = OpDef::general(Class::Structural, infer_below, run_below)
        .apart(&[0, 1])
        .part()
        .examples(&[("random_below(0, 6, shape=(4,))", "[3, 4, 5, 0]")]);

    /// `p` as it stands, if each number is from 0 up to `most`, `least` of them at least are above zero, and they have the shape of `like`.
    ///
    /// Errors: what is not so; other dtypes than floats.
    CHECK_WEIGHTS: check_weights(p, like; CheckWeights { most: f64, least: i64 }) = OpDef::general(Class::Structural, infer_weights, run_weights)
        .apart(&[0, 1])
        .part()
        .examples(&[("check_weights([0.0, 0.5], [7, 8], most=1.0, least=1)", "[0.0, 0.5]")]);

    /// Integers from `low` up to `high`, without `high`, every one as likely as the others.
    ///
    /// Errors: `low` is not below `high`, or the dtype does not hold both ends; a key that is neither two u32 nor an integer of
    /// 64 bits; a negative size; more elements than memory holds.
    RANDOM_INTEGERS: random_integers(key; RandomIntegers { low: i64, high: i64, shape: Vec<i64>, dtype: DType }) = OpDef::general(Class::Structural, infer_integers, run_integers)
        .apart(&[0])
        .examples(&[("random_integers(0, low=1, high=7, shape=(4,))", "[4, 5, 6, 1]")]);

    /// For each integer of `data` a key of its own, `u32[..., 2]`, made of it and `key`.
    ///
    /// Errors: a key that is neither two u32 nor an integer of 64 bits; data that are no integers.
    RANDOM_KEYS: random_keys(key, data) = OpDef::general(Class::Structural, infer_keys, run_keys)
        .apart(&[0, 1])
        .examples(&[("random_keys(u32([0, 0]), [0, 1])", "u32([[3052080898, 3649930382], [2505436250, 1275586974]])")]);
}

/// Checks a key's dtype and shape.
fn check_key(args: &[LeafSpec]) -> Result<()> {
    let spec = spec_of(args, 0)?;
    let fits = match spec.dtype {
        DType::U32 => spec.shape.is_compatible_with(&Shape::known(&[2])),
        DType::I64 | DType::U64 => spec.shape.is_compatible_with(&Shape::scalar()),
        _ => false,
    };
    if fits {
        return Ok(());
    }
    Err(Error::dtype(format!("found {spec}"))
        .at("argument 'key'")
        .wanted("a key: integers, two of u32 or one of 64 bits")
        .hint("`random_keys` makes keys of one key."))
}

fn key(args: &[Value]) -> Result<Key> {
    let key = data(args, 0)?;
    match key.dtype() {
        DType::I64 => key.as_slice::<i64>()?.first().map(|seed| key_of(seed.cast_unsigned())),
        DType::U64 => key.as_slice::<u64>()?.first().map(|seed| key_of(*seed)),
        _ => key.as_slice::<u32>()?.try_into().ok(),
    }
    .ok_or_else(|| Error::shape(format!("the key has sizes {:?}", key.dims())).wanted("two u32"))
}

/// The spec of a result whose shape is asked for.
fn asked(shape: &[i64], dtype: DType) -> Result<OutputSpecs> {
    let size = |&n: &i64| {
        let known = usize::try_from(n).map(Dim::Known);
        known.map_err(|_| Error::value(format!("shape {shape:?} is asked for")).wanted("sizes that are not negative"))
    };
    let dims: Result<SmallVec<[Dim; 4]>> = shape.iter().map(size).collect();
    Ok(tensor_spec(dtype, Shape::new(dims?)))
}

fn check_dtype(dtype: DType, fits: bool, wanted: &str) -> Result<()> {
    if fits {
        return Ok(());
    }
    Err(Error::dtype(format!("dtype {dtype} is asked for")).wanted(wanted))
}

fn infer_bits(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let RandomBits { shape, dtype } = RandomBits::of(attrs)?;
    check_key(args)?;
    check_dtype(*dtype, dtype.is_integer(), "integers")?;
    asked(shape, *dtype)
}

fn infer_unit(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let RandomUnit { shape, dtype } = RandomUnit::of(attrs)?;
    check_key(args)?;
    check_dtype(*dtype, dtype.is_float(), "floats")?;
    asked(shape, *dtype)
}

fn infer_unit_like(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let dtype = RandomUnitLike::of(attrs)?.dtype;
    check_key(args)?;
    check_dtype(dtype, dtype.is_float(), "floats")?;
    Ok(tensor_spec(dtype, spec_of(args, 1)?.shape.clone()))
}

fn infer_integers(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let RandomIntegers { low, high, shape, dtype } = RandomIntegers::of(attrs)?;
    check_key(args)?;
    check_dtype(*dtype, dtype.is_integer(), "integers")?;
    if low >= high {
        return Err(Error::value(format!("low is {low} and high is {high}")).wanted("low < high"));
    }
    for end in [*low, high - 1] {
        crate::call::strengthen(&crate::value::Scalar::Int(end), Some(*dtype))?;
    }
    asked(shape, *dtype)
}

fn infer_bits_like(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let dtype = RandomBitsLike::of(attrs)?.dtype;
    check_key(args)?;
    check_dtype(dtype, dtype.is_integer(), "integers")?;
    Ok(tensor_spec(dtype, spec_of(args, 1)?.shape.clone()))
}

fn infer_below(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    check_key(args)?;
    let count = spec_of(args, 1)?;
    if count.dtype != DType::I64 || !count.shape.is_compatible_with(&Shape::scalar()) {
        return Err(Error::dtype(format!("found {count}")).at("argument 'count'").wanted("integers: one i64"));
    }
    asked(&RandomBelow::of(attrs)?.shape, DType::I64)
}

fn infer_weights(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let (p, like) = (spec_of(args, 0)?, spec_of(args, 1)?);
    if !p.dtype.is_float() {
        return Err(Error::dtype(format!("found {}", p.dtype)).at("argument 'p'").wanted("floats"));
    }
    if !p.shape.is_compatible_with(&like.shape) {
        return Err(no_weights(&p.shape.to_string(), &like.shape.to_string()));
    }
    Ok(smallvec![args[0].clone()])
}

fn no_weights(found: &str, like: &str) -> Error {
    Error::shape(format!("the weights have shape {found} for {like}")).at("argument 'p'").wanted("one for each element")
}

fn infer_keys(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    check_key(args)?;
    let numbers = spec_of(args, 1)?;
    if !numbers.dtype.is_integer() {
        return Err(Error::dtype(format!("found {}", numbers.dtype)).at("argument 'data'").wanted("integers"));
    }
    let Some(dims) = numbers.shape.dims() else { return Ok(tensor_spec(DType::U32, Shape::unknown())) };
    Ok(tensor_spec(DType::U32, Shape::new(dims.iter().copied().chain([Dim::Known(2)]))))
}

/// The dtype and sizes of the result.
fn target(out: &[LeafSpec]) -> Result<(DType, Dims)> {
    let TensorSpec { dtype, shape, .. } = spec_of(out, 0)?;
    let dims = shape.to_dims().ok_or_else(|| Error::internal("sizes are not known at run time"))?;
    Ok((*dtype, dims))
}

/// A result written in pieces, each from its first place, which is even; on several threads when it is large.
fn written<T: Element>(dims: Dims, fill: impl Fn(u64, &mut [T]) + Sync) -> Result<Outputs> {
    const PIECE: usize = 1 << 16;
    let bytes = element_count(&dims)?.saturating_mul(size_of::<T>());
    affordable(bytes)?;
    let mut block = Block::new(bytes);
    let out = block.slice_mut::<T>();
    let place = |piece: usize| u64::try_from(piece * PIECE).unwrap_or(u64::MAX);
    side_by_side(out.chunks_mut(PIECE).enumerate().collect(), |(piece, out)| fill(place(piece), out));
    one_tensor(Tensor::from_dense(T::DTYPE, dims, Storage::Fixed(block.elements())))
}

/// From 32 bits for each element.
fn of_words<T: Element>(key: Key, dims: Dims, f: impl Fn(u32) -> T + Copy + Sync) -> Result<Outputs> {
    written(dims, |first, out| fill_words(key, first / 2, out, f))
}

/// From 64 bits for each element.
fn of_blocks<T: Element>(key: Key, dims: Dims, f: impl Fn(u64) -> T + Copy + Sync) -> Result<Outputs> {
    written(dims, |first, out| fill_blocks(key, first, out, f))
}

fn run_bits(args: &[Value], _: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    let ((dtype, dims), key) = (target(out)?, key(args)?);
    macro_rules! by_dtype {
        ($($d:ident $t:ty, $of:ident;)*) => { match dtype {
            $(DType::$d => $of(key, dims, |bits| bits as $t),)*
            other => Err(Error::internal(format!("random bits of {other}"))),
        } };
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)]
    let made = by_dtype! {
        I8 i8, of_words; U8 u8, of_words; I16 i16, of_words; U16 u16, of_words; I32 i32, of_words; U32 u32, of_words;
        I64 i64, of_blocks; U64 u64, of_blocks;
    };
    made
}

fn run_unit(args: &[Value], _: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    let ((dtype, dims), key) = (target(out)?, key(args)?);
    // As many of the upper bits as the float holds exactly; half of them would do for the conversion from i32 to be exact.
    let unit = |word: u32, bits: u32| (word >> (32 - bits)) as f32 / (1_u32 << bits) as f32;
    match dtype {
        DType::F16 => of_words(key, dims, |word| f32_to_f16(unit(word, 11))),
        DType::BF16 => of_words(key, dims, |word| f32_to_bf16(unit(word, 8))),
        DType::F32 => of_words(key, dims, |word| unit(word, 24)),
        DType::F64 => of_blocks(key, dims, |block| (block >> 11) as f64 / (1_u64 << 53) as f64),
        other => Err(Error::internal(format!("random floats of {other}"))),
    }
}

fn run_integers(args: &[Value], attrs: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    let ((dtype, dims), key) = (target(out)?, key(args)?);
    let RandomIntegers { low, high, .. } = *RandomIntegers::of(attrs)?;
    let span = high.wrapping_sub(low).cast_unsigned();
    macro_rules! by_dtype {
        ($($d:ident $t:ty),*) => { match dtype {
            $(DType::$d => written(dims, |first, out| {
                fill_below(key, first, span, out, |number| low.wrapping_add(number.cast_signed()) as $t);
            }),)*
            other => Err(Error::internal(format!("random integers of {other}"))),
        } };
    }
    // Both ends fit the dtype, and so does what is between them.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let made = by_dtype!(I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64);
    made
}

fn run_below(args: &[Value], _: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    let ((_, dims), key) = (target(out)?, key(args)?);
    let count = data(args, 1)?.as_slice::<i64>()?.first().copied().unwrap_or(0);
    let span = u64::try_from(count).ok().filter(|count| *count > 0 || dims.contains(&0)).ok_or_else(|| {
        Error::value(format!("the count is {count}")).wanted("a number above zero where something is to be drawn")
    })?;
    // Of no numbers none is drawn, but a span is divided by.
    written(dims, |first, out: &mut [i64]| fill_below(key, first, span.max(1), out, u64::cast_signed))
}

fn run_weights(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let CheckWeights { most, least } = *CheckWeights::of(attrs)?;
    let (p, like) = (data(args, 0)?, data(args, 1)?);
    if p.dims() != like.dims() {
        return Err(no_weights(&format!("{:?}", p.dims()), &format!("{:?}", like.dims())));
    }
    let wide = super::cast(&args[0], DType::F64)?;
    check_weights_of(wide.tensor()?.as_slice::<f64>()?, p.dims(), most, least).map_err(|e| e.at("argument 'p'"))?;
    Ok(smallvec![args[0].clone()])
}

fn check_weights_of(p: &[f64], dims: &[usize], most: f64, least: i64) -> Result<()> {
    let (mut above, mut total) = (0_i64, 0.0);
    for (i, p) in p.iter().copied().enumerate() {
        if !(0.0..=most).contains(&p) {
            let what = Error::value(format!("{p} stands at {:?}", position(i, dims)));
            return Err(what.wanted(match most {
                f64::MAX => "finite numbers from 0 on".to_string(),
                most => format!("numbers from 0 to {most}"),
            }));
        }
        above += i64::from(p > 0.0);
        total += p;
    }
    if above < least {
        return Err(Error::value(format!("{above} of the weights are above zero")).wanted(format!("at least {least}")));
    }
    if least > 0 && total.is_infinite() {
        return Err(Error::value("the weights add up to an infinity").wanted("smaller weights"));
    }
    Ok(())
}

fn run_keys(args: &[Value], _: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    let ((_, dims), key) = (target(out)?, key(args)?);
    let numbers = super::cast(&args[1], DType::I64)?;
    let numbers: &Dense = numbers.tensor()?.data()?;
    let numbers = numbers.as_slice::<i64>()?;
    let keys: Vec<u32> = numbers.iter().flat_map(|number| derived(key, number.cast_unsigned())).collect();
    Ok(smallvec![Tensor::new(&dims, &keys)?.into()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::isa::{Isa, supported, with_isa};
    use crate::threads::with_threads;

    #[test]
    fn neither_threads_nor_instruction_sets_change_a_number() {
        let shape = vec![3_i64, 50_001];
        let all = || {
            let made =
                [DType::F16, DType::BF16, DType::F32, DType::F64].map(|dtype| random_unit(5, shape.clone(), dtype));
            let made = made.into_iter().chain([
                random_bits(5, shape.clone(), DType::I16),
                random_bits(5, shape.clone(), DType::U64),
                random_integers(5, -7, 1_000_003, shape.clone(), DType::I32),
            ]);
            let bytes = |value: Result<Value>| {
                let value = value.expect("made");
                value.tensor().and_then(|t| t.data()?.fixed().map(|bytes| bytes.to_vec())).expect("numbers")
            };
            made.map(bytes).collect::<Vec<_>>()
        };
        let wanted = with_threads(1, || with_isa(Isa::Baseline, all));
        for &isa in supported() {
            for count in [1, 2, 5] {
                assert!(with_threads(count, || with_isa(isa, all)) == wanted, "{isa}, {count} threads");
            }
        }
    }

    #[test]
    fn a_longer_result_begins_with_a_shorter_one() {
        let long = random_unit(7, vec![1000_i64], DType::F32).expect("made");
        let short = random_unit(7, vec![33_i64], DType::F32).expect("made");
        let slice = |v: &Value| v.tensor().expect("a tensor").as_slice::<f32>().expect("f32").to_vec();
        assert_eq!(slice(&long)[..33], slice(&short));
    }
}
