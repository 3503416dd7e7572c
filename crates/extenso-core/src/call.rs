//! The call pipeline: every application of an op, from every language, eager or tracing, enters here once.
//!
//! 1 canonicalize, 2 dispatch to extension types, 3 record if tracing, 4 infer, 5 run. There is no second path.

use crate::attrs::{AttrSet, AttrValue};
use crate::dispatch::{Call, dispatch};
use crate::op::OpDef;
use crate::ops::{CAST, Cast};
use crate::symbol::{current_scope, forbidden_place};
use crate::tensor::{Dense, Tensor, join_text};
use crate::value::{Arg, Outputs, Scalar, Value};
use extenso_types::{DType, DTypeKind, Error, LeafSpec, Result};
use half::{bf16, f16};
use smallvec::SmallVec;

/// The arguments of a call.
pub type Values = SmallVec<[Value; 4]>;

/// Applies an op.
///
/// Errors: arguments that do not fit, named by the op; what a handler returns; that no handler takes the types.
pub fn call(op: &'static OpDef, args: &[Arg], attrs: &dyn AttrSet) -> Result<Outputs> {
    if let Some(place) = forbidden_place() {
        return Err(Error::scope(format!("{place} calls the op"))
            .wanted("no op while a value is taken apart or rebuilt")
            .hint("Compute in the constructor and keep the result as a component.")
            .at(op.name));
    }
    let outputs = if args.iter().any(has_extension) {
        dispatch(&Call { op, args, attrs }, |args| on_tensors(op, args, attrs))
    } else {
        on_tensors(op, args, attrs)
    };
    outputs.map_err(|e| if e.is_at_part(op.name) { e } else { e.at_part(op.name) })
}

/// Applies an op of one output.
///
/// Errors: as [`call`].
pub fn call_one(op: &'static OpDef, args: &[Arg], attrs: &dyn AttrSet) -> Result<Value> {
    let mut outputs = call(op, args, attrs)?;
    outputs.pop().ok_or_else(|| Error::internal("the op gave no output").at(op.name))
}

fn has_extension(arg: &Arg) -> bool {
    match arg {
        Arg::Value(Value::Ext(_)) => true,
        Arg::Value(Value::Tensor(_) | Value::Partition(_)) | Arg::Scalar(_) => false,
        Arg::List(items) => items.iter().any(has_extension),
    }
}

fn on_tensors(op: &'static OpDef, args: &[Arg], attrs: &dyn AttrSet) -> Result<Outputs> {
    now(op, args, attrs).or_else(|error| later(op, args, attrs).ok_or(error))
}

/// What is recorded for an op that fails on data, where it may be that nobody wants its result: a node, which fails when it runs.
fn later(op: &'static OpDef, args: &[Arg], attrs: &dyn AttrSet) -> Option<Outputs> {
    let tracer = current_scope().filter(|tracer| tracer.may_not_run())?;
    let values = canonicalize(op, args).ok()?;
    let specs: Result<SmallVec<[LeafSpec; 4]>> = values.iter().map(Value::leaf_spec).collect();
    let outputs = op.infer(&specs.ok()?, attrs).ok()?;
    tracer.record(op, &values, attrs, &outputs).ok()
}

fn now(op: &'static OpDef, args: &[Arg], attrs: &dyn AttrSet) -> Result<Outputs> {
    // Values of a few elements are canonical as they stand, and nothing of them needs a copy.
    if args.len() == op.params.len()
        && let Some(outputs) = op.run_few(args.iter().map(dense_of), attrs)?
    {
        return Ok(outputs);
    }
    let values = canonicalize(op, args)?;
    let symbolic = values.iter().any(|v| v.symbol().is_some());
    let scope = if symbolic || op.effect { current_scope() } else { None };
    match scope {
        Some(tracer) => {
            let specs: Result<SmallVec<[LeafSpec; 4]>> = values.iter().map(Value::leaf_spec).collect();
            let outputs = op.infer(&specs?, attrs)?;
            tracer.record(op, &values, attrs, &outputs)
        }
        None if symbolic => Err(values
            .iter()
            .find_map(Value::symbol)
            .map_or_else(|| Error::internal("a symbol is lost"), |symbol| symbol.is_closed())),
        None => op.run(&values, attrs),
    }
}

fn dense_of(arg: &Arg) -> Option<&Dense> {
    match arg {
        Arg::Value(value) => value.dense(),
        Arg::Scalar(_) | Arg::List(_) => None,
    }
}

/// The arguments as the op gets them: lists spread, weak scalars strengthened, numbers of one kind promoted.
///
/// Errors: another number of arguments than the op has; a scalar that does not fit the tensors beside it.
pub fn canonicalize(op: &'static OpDef, args: &[Arg]) -> Result<Values> {
    let flat: &[Arg] = match args {
        [Arg::List(items)] if op.variadic => items,
        _ => args,
    };
    if !op.variadic && flat.len() != op.params.len() && !(op.takes_captures && flat.len() > op.params.len()) {
        return Err(Error::value(format!("{} arguments are given", flat.len())).wanted(format!(
            "{}: {}",
            op.params.len(),
            op.params.join(", ")
        )));
    }
    let sharing = || flat.iter().enumerate().filter(|(i, _)| op.shares_dtype(*i)).map(|(_, arg)| arg);
    let like = promoted(sharing().filter_map(dtype_of)).or_else(|| common(sharing()));
    let mut values = Values::new();
    for (i, arg) in flat.iter().enumerate() {
        let like = if op.shares_dtype(i) { like } else { None };
        let value = match arg {
            Arg::Value(value) => widened(value, like),
            Arg::Scalar(scalar) => strengthen(scalar, like).map(Value::Tensor),
            Arg::List(_) => Err(Error::dtype("found a list").wanted("a tensor")),
        };
        values.push(value.map_err(|e| e.at_part_argument(op.name, argument_name(op, i)))?);
    }
    Ok(values)
}

fn argument_name(op: &OpDef, i: usize) -> String {
    match op.params.get(i) {
        Some(name) if !op.variadic => format!("argument '{name}'"),
        _ => format!("argument {}", i + 1),
    }
}

fn dtype_of(arg: &Arg) -> Option<DType> {
    match arg {
        Arg::Value(Value::Tensor(t)) => Some(t.dtype()),
        Arg::Value(Value::Partition(_) | Value::Ext(_)) | Arg::Scalar(_) | Arg::List(_) => None,
    }
}

/// The dtype that holds the values of all, or the first where none does: the op then says what it wants.
fn promoted(mut dtypes: impl Iterator<Item = DType>) -> Option<DType> {
    let first = dtypes.next()?;
    Some(dtypes.try_fold(first, DType::promote).unwrap_or(first))
}

/// The value in a dtype that holds all its values; as it is where that dtype does not.
fn widened(value: &Value, like: Option<DType>) -> Result<Value> {
    match (value, like) {
        (Value::Tensor(t), Some(like)) if t.dtype() != like && t.dtype().can_cast(like) => {
            call_one(&CAST, &[Arg::from(t)], &Cast { dtype: like })
        }
        _ => Ok(value.clone()),
    }
}

/// The dtype of weak scalars alone that are not all of one kind: integers beside floats are floats.
fn common<'a>(args: impl Iterator<Item = &'a Arg>) -> Option<DType> {
    let kinds = args.filter_map(|arg| match arg {
        Arg::Scalar(Scalar::Int(_) | Scalar::Unsigned(_)) => Some(DType::I64),
        Arg::Scalar(Scalar::Float(_)) => Some(DType::F64),
        Arg::Scalar(Scalar::Bool(_) | Scalar::Str(_)) | Arg::Value(_) | Arg::List(_) => None,
    });
    kinds.reduce(|a, b| if a == b { a } else { DType::F64 }).filter(|dtype| *dtype == DType::F64)
}

/// Gives a weak scalar the dtype of the tensors beside it, or its own default.
///
/// Errors: the dtype cannot hold the value.
pub fn strengthen(scalar: &Scalar, like: Option<DType>) -> Result<Tensor> {
    let natural = match scalar {
        Scalar::Bool(_) => DType::Bool,
        Scalar::Int(_) => DType::I64,
        Scalar::Unsigned(_) => DType::U64,
        Scalar::Float(_) => DType::F64,
        Scalar::Str(_) => DType::String,
    };
    let dtype = like.unwrap_or(natural);
    let misfit = || {
        let error = Error::dtype(format!("the literal {} does not fit dtype {dtype}", literal(scalar)))
            .wanted(format!("a value of {dtype}"));
        Err(match scalar {
            Scalar::Bool(_) => error.hint("Write 1 or 0 for a truth value among numbers."),
            _ => error.hint(format!("A tensor that stands beside it can be cast: `cast(x, '{natural}')`.")),
        })
    };
    match (scalar, dtype.kind()) {
        (Scalar::Bool(b), DTypeKind::Bool) => Tensor::bools(&[], &[*b]),
        (Scalar::Int(i), DTypeKind::Float) => Ok(float_scalar(dtype, *i as f64)),
        (Scalar::Unsigned(i), DTypeKind::Float) => Ok(float_scalar(dtype, *i as f64)),
        (Scalar::Unsigned(i), DTypeKind::Unsigned) if dtype == DType::U64 => Ok(Tensor::scalar(*i)),
        (Scalar::Float(f), DTypeKind::Float) => Ok(float_scalar(dtype, *f)),
        (Scalar::Int(i), DTypeKind::Signed | DTypeKind::Unsigned) => int_scalar(dtype, *i).map_or_else(misfit, Ok),
        (Scalar::Str(s), DTypeKind::Text) => {
            let (offsets, bytes) = join_text(std::iter::once(s.as_bytes()));
            Tensor::from_text(dtype, &[], offsets, bytes)
        }
        _ => misfit(),
    }
}

fn literal(scalar: &Scalar) -> String {
    match scalar {
        Scalar::Bool(v) => AttrValue::Bool(*v).to_string(),
        Scalar::Int(v) => v.to_string(),
        Scalar::Unsigned(v) => v.to_string(),
        Scalar::Float(v) => AttrValue::Float(*v).to_string(),
        Scalar::Str(v) => AttrValue::Str(v.clone()).to_string(),
    }
}

fn float_scalar(dtype: DType, v: f64) -> Tensor {
    match dtype {
        DType::F16 => Tensor::scalar(f16::from_f64(v)),
        DType::BF16 => Tensor::scalar(bf16::from_f64(v)),
        DType::F32 => Tensor::scalar(crate::kernels::narrow_f32(v)),
        _ => Tensor::scalar(v),
    }
}

fn int_scalar(dtype: DType, v: i64) -> Option<Tensor> {
    macro_rules! fit {
        ($($d:ident $t:ty),*) => { match dtype {
            $(DType::$d => <$t>::try_from(v).ok().map(Tensor::scalar),)*
            _ => None,
        } };
    }
    fit!(I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64)
}
