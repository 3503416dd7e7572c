//! Values as formats of text have them: times, decimals, intervals and identifiers spelled out, categories by their words.
//!
//! Invariant: rows, masks and records stay as they are; what is plain already is shared.

use crate::args::typed;
use crate::categorical::CategoricalTensor;
use crate::logical::{Bool8Tensor, JsonTensor};
use crate::masked::MaskedTensor;
use crate::ragged::RaggedTensor;
use crate::specs::shape_of;
use crate::structs::{Field, StructTensor};
use crate::{Literal, decimal, logical, temporal};
use extenso_core::{ExtensionType, Tensor, Value};
use extenso_types::{Error, Result};

/// The value with text in the place of times, dates, durations, intervals, decimals and identifiers, as `to_literal` shows them; categories
/// are the values that they mean.
///
/// Shapes: those of the value. Errors: a symbol; elements of which the axes are not known.
///
/// ```
/// # use extenso_core::{ExtensionType, Tensor};
/// # use extenso_ext::{TimestampTensor, spelled};
/// let times = TimestampTensor::new(Tensor::from_vec(vec![0_i64]), "s", Some("UTC")).unwrap();
/// assert_eq!(spelled(&times.into_value()).unwrap().to_string(), r#"["1970-01-01T00:00:00Z"]"#);
/// ```
pub fn spelled(value: &Value) -> Result<Value> {
    if !matches!(value, Value::Ext(_)) {
        return Ok(value.clone());
    }
    if let Some(x) = typed::<MaskedTensor>(value) {
        return Ok(MaskedTensor::new(spelled(x.values())?, x.mask().clone())?.into_value());
    }
    if let Some(x) = typed::<RaggedTensor>(value) {
        return Ok(x.with_values(spelled(x.values())?)?.into_value());
    }
    if let Some(x) = typed::<StructTensor>(value) {
        let field =
            |(name, field): &Field| Ok((name.clone(), spelled(field).map_err(|e| e.at(format!("field '{name}'")))?));
        let fields: Result<Vec<Field>> = x.fields().iter().map(field).collect();
        return Ok(x.with_fields(fields?)?.into_value());
    }
    if let Some(x) = typed::<CategoricalTensor>(value) {
        return spelled(&x.decoded()?);
    }
    if let Some(x) = typed::<JsonTensor>(value) {
        return Ok(x.text().clone().into());
    }
    match value {
        Value::Ext(ext) if typed::<Bool8Tensor>(value).is_some() => {
            ext.to_tensor().ok_or_else(|| Error::internal("booleans without a tensor"))?.map(Value::Tensor)
        }
        _ => texts(value),
    }
}

/// The elements as text; the value itself where they have none.
fn texts(value: &Value) -> Result<Value> {
    for of in [temporal::literals, decimal::literals, logical::literals] {
        let Some(items) = of(value)? else { continue };
        let shape = shape_of(&value.spec()?);
        let dims = shape.to_dims().ok_or_else(|| Error::shape(format!("the shape {shape} is not known")))?;
        let bytes = |item: &Literal| match item {
            Literal::Str(text) => text.clone().into_bytes(),
            Literal::Bytes(bytes) => bytes.clone(),
            _ => Vec::new(),
        };
        if items.iter().any(|item| matches!(item, Literal::Bytes(_))) {
            return Ok(Tensor::byte_strings(&dims, &items.iter().map(bytes).collect::<Vec<_>>())?.into());
        }
        let texts: Vec<String> =
            items.into_iter().map(|item| if let Literal::Str(text) = item { text } else { String::new() }).collect();
        return Ok(Tensor::strings(&dims, &texts)?.into());
    }
    Ok(value.clone())
}
