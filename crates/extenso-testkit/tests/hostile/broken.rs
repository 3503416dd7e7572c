//! Ops that break a law each, so that the search is seen to find them.

#![allow(dead_code)] // They are called by their table alone.

use extenso_core::attrs::AttrSet;
use extenso_core::{Class, OpDef, OutputSpecs, Outputs, Tensor, ops};
use extenso_types::{DType, LeafSpec, Result};

extenso_core::ops! {
    /// Ops that break a law each.
    pub static BROKEN in "broken";

    /// Says the shape of `x` and gives a scalar.
    OTHER_SHAPE: other_shape(x) = OpDef::general(Class::Structural, same, |_, _, _| Ok(scalar(1.0)));

    /// Says the dtype of `x` and gives i64.
    OTHER_DTYPE: other_dtype(x) = OpDef::general(Class::Structural, same, |args, _, _| {
        Ok(Outputs::from_iter([ops::cast(ops::zeros_like(&args[0])?, DType::I64)?]))
    });

    /// Looks beyond the elements.
    PANICS: panics(x) = OpDef::general(Class::Structural, same, |args, _, _| {
        Ok(scalar(args[0].tensor()?.data()?.as_slice::<f64>()?[9]))
    });
}

fn same(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    Ok(OutputSpecs::from_iter([args[0].clone()]))
}

fn scalar(value: f64) -> Outputs {
    Outputs::from_iter([Tensor::scalar(value).into()])
}
