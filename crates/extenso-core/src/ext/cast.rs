//! Values of other types as those that a spec wants, where nothing is lost: rows of one length as rows, numbers in wider dtypes.
//!
//! The method of this name of TensorFlow's trace types is the model; here it gives nothing rather than an error where there is no such value.

use super::{Provenance, behavior, rebuild};
use crate::offsets::Offsets;
use crate::ops;
use crate::tensor::Tensor;
use crate::value::Value;
use arrow_buffer::Buffer;
use extenso_types::{Bindings, DType, DTypeKind, ExtSpec, Result, Spec};

/// The value as one of `wanted`: itself if it is one, otherwise what the type of `wanted` makes of it; none where it has no such form.
///
/// Nothing is lost: numbers are widened where the wider dtype holds them all, a tensor of f64 without elements, as lists without items are,
/// is one of any dtype, components are cast one by one, and what a type takes
/// beside its own values its [`TypeSpec::cast`](crate::TypeSpec::cast) says. Errors: those of the ops.
///
/// ```
/// # use extenso_core::{Tensor, cast};
/// # use extenso_types::{DType, Shape, TensorSpec};
/// let wanted = TensorSpec::new(DType::F64, Shape::known(&[2])).into();
/// let x = cast(&Tensor::from_vec(vec![1_i32, 2]).into(), &wanted)?.unwrap();
/// assert_eq!(x.spec()?.to_string(), "f64[2]");
/// // Not every integer of 64 bits is a float.
/// assert!(cast(&Tensor::from_vec(vec![1_i64, 2]).into(), &wanted)?.is_none());
/// # Ok::<(), extenso_types::Error>(())
/// ```
pub fn cast(value: &Value, wanted: &Spec) -> Result<Option<Value>> {
    if wanted.accepts(&value.spec()?, &mut Bindings::default()) {
        return Ok(Some(value.clone()));
    }
    let made = match (wanted, value) {
        (Spec::Tensor(spec), Value::Tensor(x)) if spec.dtype.holds(x.dtype()) => Some(ops::cast(x, spec.dtype)?),
        (Spec::Tensor(spec), Value::Tensor(x)) => of_nothing(x, spec.dtype)?,
        (Spec::Ext(spec), _) => of_type(value, spec)?,
        (Spec::Tensor(_) | Spec::Partition(_), _) => None,
    };
    Ok(match made {
        Some(value) if wanted.accepts(&value.spec()?, &mut Bindings::default()) => Some(value),
        Some(_) | None => None,
    })
}

/// A tensor without elements, of the dtype of lists without items, in another dtype.
fn of_nothing(x: &Tensor, dtype: DType) -> Result<Option<Value>> {
    let Some(data) = x.data().ok().filter(|data| data.is_empty() && x.dtype() == DType::F64) else { return Ok(None) };
    Ok(match dtype.kind() {
        DTypeKind::Variant => None,
        DTypeKind::Text => {
            let none = Offsets::from_lengths(std::iter::empty())?;
            Some(Tensor::from_text(dtype, data.dims(), none, Buffer::from_vec(Vec::<u8>::new()))?.into())
        }
        _ => Some(ops::cast(x, dtype)?),
    })
}

fn of_type(value: &Value, wanted: &ExtSpec) -> Result<Option<Value>> {
    if let Some(behavior) = behavior(&wanted.def)
        && let Some(made) = behavior.cast(value, wanted)?
    {
        return Ok(Some(made));
    }
    let Value::Ext(ext) = value else { return Ok(None) };
    let given = ext.spec()?;
    let names = |spec: &ExtSpec| spec.components.iter().map(|(segment, _)| segment.clone()).collect::<Vec<_>>();
    if given.def != wanted.def || given.static_data != wanted.static_data || names(&given) != names(wanted) {
        return Ok(None);
    }
    let mut components = Vec::with_capacity(wanted.components.len());
    for (component, (_, spec)) in ext.components()?.iter().zip(&wanted.components) {
        let Some(component) = cast(component, spec)? else { return Ok(None) };
        components.push(component);
    }
    rebuild(wanted, components, Provenance::Trusted).map(Some)
}
