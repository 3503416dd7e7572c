//! What the keywords of the Array API standard ask of an op beside its attributes: compositions around the call.

use super::keywords::{Keyword, keywords};
use super::parse::Args;
use crate::error::{OrRaise, guarded};
use crate::{arg, dtype, standard, value};
use extenso_core::attrs::{AttrSet, AttrValue};
use extenso_core::{Arg, OpDef, Value, call_one, ops};
use extenso_types::{DType, Result};
use pyo3::prelude::*;

/// What a call asks.
#[derive(Default)]
pub struct Asked {
    dtype: Option<DType>,
    sorter: Option<Arg>,
    initial: bool,
}

impl Asked {
    /// Reads the keywords of an op; none if they ask nothing.
    ///
    /// Errors: another device; an object that a keyword does not take.
    pub fn read(op: &OpDef, given: &[Option<&Bound<'_, PyAny>>]) -> PyResult<Option<Asked>> {
        if given.iter().all(Option::is_none) {
            return Ok(None);
        }
        let mut asked = Asked::default();
        for (keyword, object) in keywords(op).iter().zip(given) {
            let Some(object) = object.filter(|object| !object.is_none()) else { continue };
            match keyword {
                Keyword::DType => asked.dtype = Some(dtype::from_py(object)?),
                Keyword::Device => standard::device(Some(object))?,
                Keyword::Copy | Keyword::Stable => drop(object.is_truthy()?),
                Keyword::Sorter => asked.sorter = Some(arg::from_py(object)?),
                Keyword::IncludeInitial => asked.initial = object.is_truthy()?,
            }
        }
        Ok(Some(asked))
    }

    /// Applies the op as it is asked.
    ///
    /// Errors: those of the op, of the cast, of the order.
    pub fn apply<'py>(
        self,
        py: Python<'py>,
        op: &'static OpDef,
        args: &[Arg],
        attrs: &dyn AttrSet,
    ) -> PyResult<Bound<'py, PyAny>> {
        value::to_py(py, guarded(|| self.run(op, args, attrs).map_err(|e| e.at(op.name))).or_raise()?)
    }

    fn run(self, op: &'static OpDef, args: &[Arg], attrs: &dyn AttrSet) -> Result<Value> {
        let mut args = args.to_vec();
        if let Some(dtype) = self.dtype {
            args[0] = ops::cast(&args[0], dtype)?.into();
        }
        if let Some(order) = self.sorter {
            args[0] = ops::take(&args[0], order, 0)?.into();
        }
        let mut found = call_one(op, &args, attrs)?;
        if self.initial
            && let [AttrValue::Int(axis), AttrValue::Bool(reverse)] = attrs.values()[..]
        {
            found = ops::with_initial(&found, i64::from(*op == ops::CUMULATIVE_PROD), axis, reverse)?;
        }
        match self.dtype {
            Some(dtype) => ops::cast(found, dtype),
            None => Ok(found),
        }
    }
}

/// Makes the first argument, or each of a list, a vector of its elements in row-major order.
///
/// Errors: a value without such an order.
pub fn flattened(args: &mut Args) -> Result<()> {
    let flat = |arg: &Arg| ops::reshape(arg, vec![-1_i64]).map(Arg::from);
    if let Some(first) = args.first_mut() {
        *first = match &*first {
            Arg::List(items) => Arg::List(items.iter().map(flat).collect::<Result<Vec<_>>>()?),
            one => flat(one)?,
        };
    }
    Ok(())
}
