//! Ops on strings whose places, counts and patterns are data: one for each string, or one for all.
//!
//! Invariant: what stands beside a string has a shape that broadcasts to its own and back.

use super::super::args::{data, spec_of, tensor_spec};
use super::super::structural::stretch;
use super::texts::mapped;
use super::{bits, part, place, text_spec};
use crate::attrs::AttrSet;
use crate::elementwise::position;
use crate::kernels::pool::affordable;
use crate::op::{Class, OpDef, OutputSpecs};
use crate::tensor::Tensor;
use crate::value::{Outputs, Value};
use extenso_types::{DType, Dims, Error, LeafSpec, Result};
use memchr::memmem::find;

crate::ops! {
    /// Ops on strings with an argument for each.
    pub static TEXT_EACH;

    /// The part of each string from `start`, of `length` characters, or bytes of tensors of bytes: `substr` with numbers for each string.
    ///
    /// A negative `start` counts from the end; a string that is too short gives what is there, and a length that is not above zero
    /// nothing. Errors: numbers that are no i64; shapes that do not broadcast.
    SUBSTR_EACH: substr_each(x, start, length) = OpDef::general(Class::Elementwise, infer_substr, run_substr)
        .apart(&[1, 2])
        .examples(&[("substr_each([\"größe\", \"abc\"], [2, -2], [2, 5])", "[\"öß\", \"bc\"]")]);

    /// Each string as many times in a row as `count` says: `string_repeat` with a number for each string. A count below zero is none.
    ///
    /// Errors: counts that are no i64; shapes that do not broadcast; more memory than the system gives.
    STRING_REPEAT_EACH: string_repeat_each(x, count) = OpDef::general(Class::Elementwise, infer_repeat, run_repeat)
        .apart(&[1])
        .examples(&[("string_repeat_each([\"ab\", \"c\"], [2, 0])", "[\"abab\", \"\"]")]);

    /// Whether each string begins with its `pattern`, which stands for itself. Errors: strings beside bytes; shapes that do not broadcast.
    STARTS_WITH_EACH: starts_with_each(x, pattern) = OpDef::general(Class::Elementwise, infer_test, |args, _, out| tested(args, out, <[u8]>::starts_with))
        .examples(&[("starts_with_each([\"abc\", \"cab\"], [\"ab\", \"ab\"])", "[True, False]")]);

    /// Whether each string ends with its `pattern`, which stands for itself. Errors: strings beside bytes; shapes that do not broadcast.
    ENDS_WITH_EACH: ends_with_each(x, pattern) = OpDef::general(Class::Elementwise, infer_test, |args, _, out| tested(args, out, <[u8]>::ends_with))
        .examples(&[("ends_with_each([\"abc\", \"cab\"], \"ab\")", "[False, True]")]);

    /// Whether its `pattern`, which stands for itself, is somewhere in each string. Errors: strings beside bytes; shapes that do not broadcast.
    CONTAINS_EACH: contains_each(x, pattern) = OpDef::general(Class::Elementwise, infer_test, |args, _, out| tested(args, out, |text, pattern| find(text, pattern).is_some()))
        .examples(&[("contains_each([\"abc\", \"a b\"], [\"b\", \"ab\"])", "[True, False]")]);
}

/// Strings of the shape that all arguments broadcast to; those behind the first are integers.
fn beside_integers(args: &[LeafSpec], names: &[&str]) -> Result<OutputSpecs> {
    let spec = text_spec(args)?;
    let mut shape = spec.shape.clone();
    for (i, name) in names.iter().enumerate() {
        let given = spec_of(args, i + 1)?;
        if given.dtype != DType::I64 {
            let error = Error::dtype(format!("found {}", given.dtype)).at(format!("argument '{name}'"));
            return Err(error.wanted("integers: i64").hint(format!("Write `cast({name}, 'i64')`.")));
        }
        shape = shape.broadcast(&given.shape)?;
    }
    Ok(tensor_spec(spec.dtype, shape))
}

fn infer_substr(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    beside_integers(args, &["start", "length"])
}

fn infer_repeat(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    beside_integers(args, &["count"])
}

fn infer_test(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let (x, pattern) = (text_spec(args)?, spec_of(args, 1)?);
    if x.dtype != pattern.dtype {
        return Err(Error::dtype(format!("the patterns are {} for {}", pattern.dtype, x.dtype))
            .at("argument 'pattern'")
            .wanted("strings beside strings alone, bytes beside bytes"));
    }
    Ok(tensor_spec(DType::Bool, x.shape.broadcast(&pattern.shape)?))
}

/// The arguments, each of the shape of the result.
fn stretched(args: &[Value], out: &[LeafSpec]) -> Result<Vec<Tensor>> {
    let dims: Dims =
        spec_of(out, 0)?.shape.to_dims().ok_or_else(|| Error::internal("sizes are not known at run time"))?;
    args.iter().map(|arg| stretch(arg.tensor()?, dims.clone())).collect()
}

fn run_substr(args: &[Value], _: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    let args = stretched(args, out)?;
    let (x, start, length) = (args[0].data()?, args[1].as_slice::<i64>()?, args[2].as_slice::<i64>()?);
    mapped(x, |i, out| {
        let length = usize::try_from(length[i]).unwrap_or(0);
        if x.dtype() == DType::String {
            return out.push(part(x.str_at(i)?, start[i], length).as_bytes());
        }
        let text = x.text_at(i)?;
        let from = place(start[i], text.len());
        out.push(&text[from..from.saturating_add(length).min(text.len())])
    })
}

fn run_repeat(args: &[Value], _: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    let args = stretched(args, out)?;
    let (x, counts) = (args[0].data()?, args[1].as_slice::<i64>()?);
    let count = |i: usize| usize::try_from(counts[i]).unwrap_or(0);
    let mut all = 0_usize;
    for i in 0..x.len() {
        let one = x.text_at(i)?.len().saturating_mul(count(i));
        affordable(one).map_err(|e| e.at(format!("the string at position {:?}", position(i, x.dims()))))?;
        all = all.saturating_add(one);
    }
    affordable(all)?;
    mapped(x, |i, out| {
        out.write_times(x.text_at(i)?, count(i))?;
        out.end()
    })
}

fn tested(args: &[Value], out: &[LeafSpec], holds: fn(&[u8], &[u8]) -> bool) -> Result<Outputs> {
    let args: Vec<Value> = stretched(args, out)?.into_iter().map(Value::Tensor).collect();
    let (x, pattern) = (data(&args, 0)?, data(&args, 1)?);
    bits(x, |i| Ok(holds(x.text_at(i)?, pattern.text_at(i)?)))
}
