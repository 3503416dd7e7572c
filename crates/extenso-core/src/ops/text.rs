//! Ops on strings.

use crate::attrs::{AttrSet, Attrs};
use crate::op::{Class, Fact, OpDef, OutputSpecs};
use crate::tensor::{Dense, Storage, Tensor, join_text};
use crate::value::{Outputs, Value};
use extenso_types::{DType, Dims, Error, LeafSpec, Result, TensorSpec};
use smallvec::smallvec;

crate::attrs! {
    /// The attributes of `string_length`.
    pub struct StringLength { unit: String = "char".to_string() }
}

crate::ops! {
    /// Ops on strings.
    pub static TEXT;

    /// The length of each string in Unicode characters (`unit="char"`) or bytes (`unit="byte"`), as i64.
    ///
    /// Errors: another unit; characters of a tensor of bytes.
    STRING_LENGTH: string_length(x; StringLength { unit: String }) = OpDef::general(Class::UnaryElementwise, infer_length, run_length)
        .alias_tf("strings.length")
        .examples(&[("string_length([\"a\", \"größe\"])", "[1, 5]")]);

    /// Upper case by the full Unicode mapping, which can lengthen a string.
    UPPER: upper(x) = OpDef::general(Class::UnaryElementwise, infer_string, |args, _, _| mapped(args, |s| s.to_uppercase()))
        .facts(&[Fact::Idempotent])
        .alias_tf("strings.upper")
        .examples(&[("upper([\"straße\", \"A\"])", "[\"STRASSE\", \"A\"]")]);

    /// Lower case by the full Unicode mapping, final sigma included.
    LOWER: lower(x) = OpDef::general(Class::UnaryElementwise, infer_string, |args, _, _| mapped(args, |s| s.to_lowercase()))
        .facts(&[Fact::Idempotent])
        .alias_tf("strings.lower")
        .examples(&[("lower([\"ABC\", \"ΟΔΟΣ\"])", "[\"abc\", \"οδος\"]")]);
}

fn text_spec(args: &[LeafSpec]) -> Result<&TensorSpec> {
    let spec = args.first().ok_or_else(|| Error::value("argument 1 is missing"))?.tensor()?;
    match spec.dtype {
        DType::String | DType::Bytes => Ok(spec),
        other => Err(Error::dtype(format!("the op does not take {other}")).wanted("strings")),
    }
}

fn infer_length(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let spec = text_spec(args)?;
    match (StringLength::of(attrs)?.unit.as_str(), spec.dtype) {
        ("byte", _) | ("char", DType::String) => {}
        ("char", _) => {
            return Err(Error::dtype("bytes have no characters").wanted("strings").hint("Or write `unit='byte'`."));
        }
        (other, _) => return Err(Error::value(format!("the unit is '{other}'")).wanted("'char' or 'byte'")),
    }
    Ok(smallvec![LeafSpec::Tensor(TensorSpec::new(DType::I64, spec.shape.clone()))])
}

fn run_length(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let chars = StringLength::of(attrs)?.unit == "char";
    let x = args[0].tensor()?.data()?;
    let length = |i: usize| {
        let n = if chars { x.str_at(i)?.chars().count() } else { x.text_at(i)?.len() };
        Ok(i64::try_from(n).unwrap_or(i64::MAX))
    };
    let lengths: Result<Vec<i64>> = (0..x.len()).map(length).collect();
    Ok(smallvec![Value::Tensor(Tensor::new(x.dims(), &lengths?)?)])
}

fn infer_string(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let spec = text_spec(args)?;
    if spec.dtype != DType::String {
        return Err(Error::dtype("the op does not take bytes").wanted("strings"));
    }
    Ok(smallvec![LeafSpec::Tensor(spec.clone())])
}

fn mapped(args: &[Value], f: impl Fn(&str) -> String) -> Result<Outputs> {
    let x: &Dense = args[0].tensor()?.data()?;
    let items: Result<Vec<String>> = (0..x.len()).map(|i| Ok(f(x.str_at(i)?))).collect();
    let (offsets, bytes) = join_text(items?.iter().map(String::as_bytes));
    let dims = Dims::from_slice(x.dims());
    Ok(smallvec![Value::Tensor(Tensor::from_dense(DType::String, dims, Storage::Text { offsets, bytes }))])
}
