//! What becomes of a text that is no value of the type that it is read as.

use super::nested::{below, innermost, is_text};
use crate::CategoricalTensor;
use crate::args::{typed, typed_ref};
use crate::missing::mask;
use extenso_core::attrs::AttrSet;
use extenso_core::{Arg, OpDef, OutputSpecs, Value, call_one};
use extenso_types::{DType, Error, LeafSpec, Result, TensorSpec};
use std::str::FromStr;

/// What becomes of a text that is no value of the type that it is read as.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Unread {
    /// It is an error, with its position.
    #[default]
    Raise,
    /// It is missing, so that texts give a masked value, whether all are read or not.
    Missing,
}

impl FromStr for Unread {
    type Err = Error;

    fn from_str(name: &str) -> Result<Unread> {
        match name {
            "raise" => Ok(Unread::Raise),
            "missing" => Ok(Unread::Missing),
            _ => Err(Error::value(format!("found '{name}'")).wanted("'raise' or 'missing'").at("on_error")),
        }
    }
}

/// The value with what is to be read of it: all of it, or the texts of which `is_read` says that they are. Categories are the values that they mean.
pub(crate) fn to_read(x: &Value, unread: Unread, is_read: &'static OpDef, form: &dyn AttrSet) -> Result<Value> {
    if typed_ref::<CategoricalTensor>(&innermost(x)).is_some() {
        let meant = |x: &Value| typed::<CategoricalTensor>(x).map_or_else(|| Ok(x.clone()), |x| x.decoded());
        return to_read(&below(x, &meant)?, unread, is_read, form);
    }
    if unread == Unread::Raise || !is_text(&innermost(x)) {
        return Ok(x.clone());
    }
    mask(x, &below(x, &|texts| call_one(is_read, &[Arg::from(texts)], form))?)
}

/// The spec of a boolean for each text.
pub(crate) fn infer_is_read(args: &[LeafSpec]) -> Result<OutputSpecs> {
    let [x] = args else { return Err(Error::value(format!("{} arguments are given", args.len())).wanted("one")) };
    let x = x.tensor()?;
    if x.dtype != DType::String {
        return Err(Error::dtype(format!("found {}", x.dtype)).wanted("strings"));
    }
    Ok(OutputSpecs::from_iter([LeafSpec::Tensor(TensorSpec::new(DType::Bool, x.shape.clone()))]))
}
