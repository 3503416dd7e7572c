//! Tensors made after another: of its shape with one value, and its triangles. Compositions.

use super::rearrange::rank_of;
use super::reduction::dtype_of;
use super::{
    broadcast_like, cast, expand_dims, greater_equal, indices_along, less_equal, subtract, where_, zeros_like,
};
use crate::call::strengthen;
use crate::value::{Arg, Value};
use extenso_types::{DType, Error, Result};

/// `value` at each place of the shape of `x`, in the dtype of `x`, or in `dtype`.
///
/// Rows stay rows; what is missing has the value too, and a row that is missing is an empty one. Errors: a value that does not broadcast to its shape, or that the dtype cannot hold.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// assert_eq!(ops::full_like(Tensor::from_vec(vec![1.5, 2.5]), 7, None).unwrap().to_string(), "[7.0, 7.0]");
/// ```
pub fn full_like(x: impl Into<Arg>, value: impl Into<Arg>, dtype: Option<DType>) -> Result<Value> {
    let filled = |x: &Value, value: Arg| {
        let dtype = dtype.map_or_else(|| dtype_of(x), Ok)?;
        let one = match &value {
            Arg::Scalar(scalar) => strengthen(scalar, Some(dtype))?.into(),
            Arg::Value(value) => cast(value, dtype)?,
            Arg::List(_) => return Err(Error::dtype("the value is a list").wanted("a scalar")),
        };
        broadcast_like(one, x)
    };
    x.into().value().and_then(|x| filled(x, value.into())).map_err(|e| e.at_part("full_like"))
}

/// The lower triangles of matrices: zero where the column is more than `k` right of the row.
///
/// Shapes: the last two axes are those of the matrices. Errors: fewer than two axes; text.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// assert_eq!(ops::tril(Tensor::new(&[2, 2], &[1, 2, 3, 4]).unwrap(), 0).unwrap().to_string(), "[[1, 0], [3, 4]]");
/// ```
pub fn tril(x: impl Into<Arg>, k: i64) -> Result<Value> {
    triangle(&x.into(), |right| less_equal(right, k)).map_err(|e| e.at_part("tril"))
}

/// The upper triangles of matrices: zero where the column is less than `k` right of the row.
///
/// Shapes: the last two axes are those of the matrices. Errors: fewer than two axes; text.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// assert_eq!(ops::triu(Tensor::new(&[2, 2], &[1, 2, 3, 4]).unwrap(), 0).unwrap().to_string(), "[[1, 2], [0, 4]]");
/// ```
pub fn triu(x: impl Into<Arg>, k: i64) -> Result<Value> {
    triangle(&x.into(), |right| greater_equal(right, k)).map_err(|e| e.at_part("triu"))
}

/// The matrices with zeros but where a place, by how far it is right of the diagonal, is chosen.
fn triangle(x: &Arg, chosen: impl Fn(Value) -> Result<Value>) -> Result<Value> {
    let x = x.value()?;
    if rank_of(x)? < 2 {
        return Err(Error::shape(format!("the argument is {}", x.spec()?)).wanted("at least two axes"));
    }
    let rows = expand_dims(indices_along(x, -2)?, 1)?;
    where_(chosen(subtract(indices_along(x, -1)?, rows)?)?, x, zeros_like(x)?)
}
