//! Elementwise ops on strings and bytes, which the blocks of numbers and bits do not hold.
//!
//! Bytes are compared as they stand: equal strings are those of equal code points, and UTF-8 has the order of code points.

use super::structural::stretch;
use super::{Run, assemble};
use crate::attrs::AttrSet;
use crate::kernels::pool::{Block, affordable};
use crate::op::OutputSpecs;
use crate::tensor::{Dense, Tensor, element_count};
use crate::threads::{pieces, side_by_side};
use crate::value::{Outputs, Value};
use arrow_buffer::BooleanBuffer;
use extenso_types::{DType, Dims, Error, LeafSpec, Result, TensorSpec};
use smallvec::smallvec;

/// A boolean for each pair of texts of one dtype.
pub(super) fn infer_comparison(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let [x, y] = args else { return Err(Error::value("two arguments are wanted")) };
    let shape = alike(x.tensor()?, y.tensor()?)?.shape;
    Ok(smallvec![LeafSpec::Tensor(TensorSpec::new(DType::Bool, shape))])
}

/// Text of the dtype of both choices.
pub(super) fn infer_where(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let [condition, x, y] = args else { return Err(Error::value("three arguments are wanted")) };
    let condition = condition.tensor()?;
    if condition.dtype != DType::Bool {
        return Err(Error::dtype(format!("the condition is {}", condition.dtype)).wanted("booleans"));
    }
    let both = alike(x.tensor()?, y.tensor()?)?;
    Ok(smallvec![LeafSpec::Tensor(TensorSpec::new(both.dtype, both.shape.broadcast(&condition.shape)?))])
}

/// Text of the dtype of both arguments.
pub(super) fn infer_both(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let [x, y] = args else { return Err(Error::value("two arguments are wanted")) };
    Ok(smallvec![LeafSpec::Tensor(alike(x.tensor()?, y.tensor()?)?)])
}

fn alike(x: &TensorSpec, y: &TensorSpec) -> Result<TensorSpec> {
    if x.dtype == y.dtype {
        return Ok(TensorSpec::new(x.dtype, x.shape.broadcast(&y.shape)?));
    }
    Err(Error::dtype(format!("the arguments are {} and {}", x.dtype, y.dtype))
        .wanted("one dtype for both: strings beside strings alone, bytes beside bytes"))
}

/// Whether texts are equal.
pub(super) fn equal(args: &[Value], _: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    compare(args, out, |x, y| x == y)
}

/// Whether texts differ.
pub(super) fn not_equal(args: &[Value], _: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    compare(args, out, |x, y| x != y)
}

/// Whether texts of `x` are in front of those of `y`.
pub(super) fn less(args: &[Value], _: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    compare(args, out, |x, y| x < y)
}

/// Whether texts of `x` are in front of those of `y` or equal to them.
pub(super) fn less_equal(args: &[Value], _: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    compare(args, out, |x, y| x <= y)
}

/// Whether texts of `x` are behind those of `y`.
pub(super) fn greater(args: &[Value], _: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    compare(args, out, |x, y| x > y)
}

/// Whether texts of `x` are behind those of `y` or equal to them.
pub(super) fn greater_equal(args: &[Value], _: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    compare(args, out, |x, y| x >= y)
}

fn compare(args: &[Value], out: &[LeafSpec], holds: impl Fn(&[u8], &[u8]) -> bool + Sync) -> Result<Outputs> {
    let dims = sizes(out)?;
    let (x, y) = (beside(&args[0], &dims)?, beside(&args[1], &dims)?);
    let bits = compared(x.data()?, y.data()?, element_count(&dims)?, holds)?;
    Ok(smallvec![Value::Tensor(Tensor::from_bits(&dims, bits)?)])
}

/// The argument in this shape, or the one text that it has for all.
pub(super) fn beside(arg: &Value, dims: &Dims) -> Result<Tensor> {
    let x = arg.tensor()?;
    if x.data()?.len() == 1 { Ok(x.clone()) } else { stretch(x, dims.clone()) }
}

/// For which of `n` pairs `holds` says so; one text stands beside all.
fn compared(x: &Dense, y: &Dense, n: usize, holds: impl Fn(&[u8], &[u8]) -> bool + Sync) -> Result<BooleanBuffer> {
    match (one_for_all(x)?, one_for_all(y)?) {
        (Some(x), Some(y)) => {
            let same = holds(x, y);
            each_bit(n, |_| Ok(same))
        }
        (Some(x), None) => each_bit(n, |i| Ok(holds(x, y.text_at(i)?))),
        (None, Some(y)) => each_bit(n, |i| Ok(holds(x.text_at(i)?, y))),
        (None, None) => each_bit(n, |i| Ok(holds(x.text_at(i)?, y.text_at(i)?))),
    }
}

fn one_for_all(x: &Dense) -> Result<Option<&[u8]>> {
    if x.len() == 1 { x.text_at(0).map(Some) } else { Ok(None) }
}

/// A bit for each of `n` elements; those of many are found by several threads.
///
/// Errors: the first of `f`; more memory than the system gives.
pub(super) fn each_bit(n: usize, f: impl Fn(usize) -> Result<bool> + Sync) -> Result<BooleanBuffer> {
    /// The bits of a word.
    const WORD: usize = u64::BITS as usize;
    let words = n.div_ceil(WORD);
    affordable(words.saturating_mul(size_of::<u64>()))?;
    let mut block = Block::new(words * size_of::<u64>());
    let write = |(first, words): (usize, &mut [u64])| {
        words.iter_mut().enumerate().try_for_each(|(i, word)| {
            let start = (first + i) * WORD;
            *word = 0;
            for i in start..n.min(start + WORD) {
                *word |= u64::from(f(i)?) << (i - start);
            }
            Result::Ok(())
        })
    };
    let part = words.div_ceil(pieces(n.saturating_mul(TEXT))).max(1);
    let parts = block.slice_mut::<u64>().chunks_mut(part).enumerate().map(|(i, words)| (i * part, words)).collect();
    side_by_side(parts, write).into_iter().collect::<Result<()>>()?;
    Ok(BooleanBuffer::new(block.freeze(), 0, n))
}

/// A text costs as much as so many numbers.
const TEXT: usize = 4;

/// Texts of `x` where the condition is true, otherwise of `y`.
pub(super) fn run_where(args: &[Value], _: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    let dims = sizes(out)?;
    let [condition, x, y] = args else { return Err(Error::internal("three arguments became others")) };
    let (x, y) = (beside(x, &dims)?, beside(y, &dims)?);
    let condition = stretch(condition.tensor()?, dims.clone())?;
    chosen(x.data()?, y.data()?, dims, condition.data()?.bits()?)
}

/// The texts that sort behind.
pub(super) fn maximum(args: &[Value], _: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    one_of(args, out, |x, y| x > y)
}

/// The texts that sort before.
pub(super) fn minimum(args: &[Value], _: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    one_of(args, out, |x, y| x < y)
}

/// Texts of `x` where `holds` says so, otherwise of `y`.
fn one_of(args: &[Value], out: &[LeafSpec], holds: impl Fn(&[u8], &[u8]) -> bool + Sync) -> Result<Outputs> {
    let dims = sizes(out)?;
    let (x, y) = (beside(&args[0], &dims)?, beside(&args[1], &dims)?);
    let (x, y) = (x.data()?, y.data()?);
    let bits = compared(x, y, element_count(&dims)?, holds)?;
    chosen(x, y, dims, &bits)
}

/// Texts of `x` where a bit is set, otherwise of `y`; one text stands beside all.
fn chosen(x: &Dense, y: &Dense, dims: Dims, bits: &BooleanBuffer) -> Result<Outputs> {
    let (sources, alone) = ([x, y], [x.len() == 1, y.len() == 1]);
    let run = |i: usize| {
        let source = usize::from(!bits.value(i));
        Run { source: Some(source), start: if alone[source] { 0 } else { i }, len: 1 }
    };
    Ok(smallvec![Value::Tensor(assemble(x.dtype(), dims, &sources, (0..bits.len()).map(run))?)])
}

fn sizes(out: &[LeafSpec]) -> Result<Dims> {
    let spec = out.first().ok_or_else(|| Error::internal("an elementwise op without a shape"))?.tensor()?;
    spec.shape.to_dims().ok_or_else(|| Error::internal("sizes are not known at run time"))
}

#[cfg(test)]
mod tests {
    use crate::ops::{equal, less, maximum, where_};
    use crate::tensor::Tensor;
    use crate::threads::with_threads;

    #[test]
    fn many_texts_are_compared_and_chosen_as_each_alone() {
        let kinds = ["b", "", "größe", "a text of more than thirty-two bytes", "a", "日本"];
        let words = |by: usize| (0..70_001).map(|i| kinds[i * by % 6]).collect::<Vec<&str>>();
        let (x, y) = (words(7919), words(104_729 + 2));
        let rows = |texts: &[&str]| Tensor::strings(&[texts.len()], texts).and_then(|all| all.slice_rows(1, 70_000));
        let (of_x, of_y) = (rows(&x).expect("texts"), rows(&y).expect("texts"));
        let (x, y) = (&x[1..], &y[1..]);
        let bools = |f: &dyn Fn(usize) -> bool| {
            let bools: Vec<bool> = (0..x.len()).map(f).collect();
            Tensor::bools(&[x.len()], &bools).expect("booleans")
        };
        let texts = |f: &dyn Fn(usize) -> &'static str| {
            let texts: Vec<&str> = (0..70_000).map(f).collect();
            Tensor::strings(&[texts.len()], &texts).expect("texts").to_string()
        };
        for threads in [1, 2] {
            with_threads(threads, || {
                let made = |value: extenso_types::Result<crate::Value>| value.expect("a value").to_string();
                assert_eq!(made(equal(&of_x, &of_y)), bools(&|i| x[i] == y[i]).to_string());
                assert_eq!(made(less(&of_x, &of_y)), bools(&|i| x[i] < y[i]).to_string());
                assert_eq!(made(equal(&of_x, "größe")), bools(&|i| x[i] == "größe").to_string());
                assert_eq!(made(less("b", &of_y)), bools(&|i| "b" < y[i]).to_string());
                assert_eq!(made(maximum(&of_x, "b")), texts(&|i| x[i].max("b")));
                let chosen = where_(bools(&|i| i % 3 == 0), &of_x, "");
                assert_eq!(made(chosen), texts(&|i| if i % 3 == 0 { x[i] } else { "" }));
            });
        }
    }
}
