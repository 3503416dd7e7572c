//! The leaves of a list as a vector of one dtype.

use super::{EvalError, Evaluated, malformed};
use crate::case::Expr;
use extenso_core::kernels::narrow_f32;
use extenso_core::{Element, Tensor};
use extenso_types::{DType, Error};
use half::{bf16, f16};

/// The leaves in the order in which they are written; `None` is no leaf.
pub(super) fn leaves_of<'a>(expr: &'a Expr, out: &mut Vec<&'a Expr>) -> Evaluated<()> {
    match expr {
        Expr::None => Ok(()),
        Expr::List(items) => items.iter().try_for_each(|item| leaves_of(item, out)),
        Expr::Bool(_) | Expr::Int(_) | Expr::Float(_) | Expr::Str(_) => {
            out.push(expr);
            Ok(())
        }
        Expr::Tuple(_) | Expr::Dict(_) | Expr::Name(_) | Expr::Call { .. } => {
            malformed(format!("`{expr}` stands in a typed list"))
        }
    }
}

/// A vector of these leaves, each rounded once to `dtype`.
///
/// Errors: a leaf that the dtype cannot hold.
pub(super) fn vector(dtype: DType, leaves: &[&Expr]) -> Evaluated<Tensor> {
    match dtype {
        DType::Bool => Ok(Tensor::bools(&[leaves.len()], &all(leaves, dtype, bool_of)?)?),
        DType::I8 => ints::<i8>(leaves),
        DType::I16 => ints::<i16>(leaves),
        DType::I32 => ints::<i32>(leaves),
        DType::I64 => ints::<i64>(leaves),
        DType::U8 => ints::<u8>(leaves),
        DType::U16 => ints::<u16>(leaves),
        DType::U32 => ints::<u32>(leaves),
        DType::U64 => ints::<u64>(leaves),
        DType::F16 => numbers(leaves, |e| float_of(e).map(f16::from_f64)),
        DType::BF16 => numbers(leaves, |e| float_of(e).map(bf16::from_f64)),
        DType::F32 => numbers(leaves, |e| float_of(e).map(narrow_f32)),
        DType::F64 => numbers(leaves, float_of),
        DType::String => Ok(Tensor::strings(&[leaves.len()], &all(leaves, dtype, text_of)?)?),
        DType::Bytes => Ok(Tensor::byte_strings(&[leaves.len()], &all(leaves, dtype, text_of)?)?),
        DType::Variant => malformed("a list of dtype variant"),
    }
}

fn all<'a, T>(leaves: &[&'a Expr], dtype: DType, of: impl Fn(&'a Expr) -> Option<T>) -> Evaluated<Vec<T>> {
    let misfit = |leaf: &Expr| EvalError::from(Error::value(format!("{leaf} does not fit dtype {dtype}")));
    leaves.iter().map(|leaf| of(leaf).ok_or_else(|| misfit(leaf))).collect()
}

fn numbers<'a, T: Element>(leaves: &[&'a Expr], of: impl Fn(&'a Expr) -> Option<T>) -> Evaluated<Tensor> {
    Ok(Tensor::new(&[leaves.len()], &all(leaves, T::DTYPE, of)?)?)
}

fn ints<T: Element + TryFrom<i128>>(leaves: &[&Expr]) -> Evaluated<Tensor> {
    numbers(leaves, |leaf| match leaf {
        Expr::Int(v) => T::try_from(*v).ok(),
        _ => None,
    })
}

fn bool_of(leaf: &Expr) -> Option<bool> {
    match leaf {
        Expr::Bool(v) => Some(*v),
        _ => None,
    }
}

fn float_of(leaf: &Expr) -> Option<f64> {
    match leaf {
        Expr::Float(v) => Some(*v),
        Expr::Int(v) => Some(*v as f64),
        _ => None,
    }
}

fn text_of(leaf: &Expr) -> Option<&str> {
    match leaf {
        Expr::Str(v) => Some(v),
        _ => None,
    }
}
