//! Types with a meaning from arrays that say the same otherwise: text, plain booleans, decimals of other digits, categories by other codes.
//!
//! Invariant: an item that somebody sees is brought over exactly, or refused with its row; what nobody sees becomes a default.

use super::source::Source;
use super::{finer, widened};
use crate::categories::{asked, check, encoded};
use crate::columns::{Column, ColumnKind};
use crate::records::is;
use crate::spelled;
use arrow_array::Array;
use extenso_core::{ExtensionType, Provenance, Tensor, Value, ops, rebuild};
use extenso_ext::{
    Bool8TensorSpec, CategoricalTensor, CategoricalTensorSpec, Cell, DecimalTensor, FixedBytesTensor, JsonTensorSpec,
    Spelling, cast_unit, outer,
};
use extenso_types::{DType, Error, ExtSpec, Result, Segment, Spec, StaticValue};

/// The value as one of this type; none if it is of nothing that the type has.
///
/// Errors: an item that is none of the type, with its row.
pub fn meant(source: &Source<'_>, found: &Value, ext: &ExtSpec) -> Option<Result<Value>> {
    if is::<CategoricalTensorSpec>(ext) {
        return categories(source, found, ext);
    }
    let spelling = Spelling::of(ext);
    let made = match (found, spelling) {
        (Value::Tensor(bits), None) if is::<Bool8TensorSpec>(ext) && bits.dtype() == DType::Bool => {
            ops::cast(bits, DType::I8).and_then(|bytes| bytes.tensor().cloned())
        }
        (Value::Tensor(text), None) if is::<JsonTensorSpec>(ext) && text.dtype() == DType::String => Ok(text.clone()),
        (Value::Tensor(text), Some(spelling)) if holds(&spelling, text.dtype()) => of_text(source, text, &spelling),
        (Value::Ext(_), Some(spelling)) => {
            let Ok(Spec::Ext(own)) = found.spec() else { return None };
            let own = Spelling::of(&own)?;
            match (DecimalTensor::from_value(found), FixedBytesTensor::from_value(found)) {
                (Ok(decimals), _) if spelling.is_number() => of_decimals(source, &decimals, &own, &spelling),
                // Bytes of one width are the same, whatever they identify.
                (_, Ok(cells)) if spelling.is_cells() && own.width() == spelling.width() => Ok(cells.cells().clone()),
                _ => return None,
            }
        }
        _ => return None,
    };
    Some(made.and_then(|elements| rebuild(ext, vec![elements.into()], Provenance::Outside)))
}

/// Whether text of this dtype says values of a spelling.
fn holds(spelling: &Spelling, dtype: DType) -> bool {
    match dtype {
        DType::String => !spelling.is_bytes(),
        DType::Bytes => spelling.is_cells(),
        _ => false,
    }
}

/// Categories by other codes, or of values that are there by themselves.
fn categories(source: &Source<'_>, found: &Value, ext: &ExtSpec) -> Option<Result<Value>> {
    let Ok((codes, words)) = asked(ext) else { return typed_words(source, found, ext) };
    let parts = |codes: Tensor, words: Value| rebuild(ext, vec![codes.into(), words], Provenance::Outside);
    if let Value::Tensor(values) = found {
        let values = widened(values.clone(), words.dtype)?;
        return Some(values.and_then(|values| {
            let each = per_item(source, values.data()?.len());
            let made = encoded(&values, |i| source.sees(i / each), ext).map_err(|e| e.at_path(&source.at));
            made.and_then(|(codes, words)| parts(codes, words.into()))
        }));
    }
    let given = given(found, ext)?;
    let known = widened(given.categories().tensor().ok()?.clone(), words.dtype)?;
    Some(known.and_then(|known| parts(coded(source, &given, known.data()?.len(), codes.dtype)?, known.into())))
}

/// Categories that are times or of another type with a meaning: those that are there, by other codes or in a finer unit.
fn typed_words(source: &Source<'_>, found: &Value, ext: &ExtSpec) -> Option<Result<Value>> {
    let words = ext.components.iter().find(|(segment, _)| *segment != Segment::Itself);
    let (Some(Spec::Tensor(codes)), Some((_, Spec::Ext(words)))) = (ext.component(&Segment::Itself), words) else {
        return None;
    };
    let given = given(found, ext)?;
    let Ok(Spec::Ext(own)) = given.categories().spec() else { return None };
    let known = if own.def == words.def && own.static_data == words.static_data {
        Ok(given.categories().clone())
    } else {
        cast_unit(given.categories(), &finer(&own, words)?).map_err(|e| e.at_path(&source.at))
    };
    Some(known.and_then(|known| {
        let count = outer(&known).and_then(|dim| dim.known()).unwrap_or_default();
        let codes = coded(source, &given, count, codes.dtype)?;
        rebuild(ext, vec![codes.into(), known], Provenance::Outside)
    }))
}

/// The categories that are there, if they have an order where the spec has one; an order may be forgotten.
fn given(found: &Value, ext: &ExtSpec) -> Option<CategoricalTensor> {
    let given = CategoricalTensor::from_value(found).ok()?;
    (given.ordered() || *ext.static_data.get("ordered")? == StaticValue::Bool(false)).then_some(given)
}

/// The places of values among so many categories, in a dtype that counts them.
fn coded(source: &Source<'_>, given: &CategoricalTensor, count: usize, dtype: DType) -> Result<Tensor> {
    if given.codes().dtype() == dtype {
        return Ok(given.codes().clone());
    }
    check(count, dtype).map_err(|e| e.at_path(&source.at))?;
    ops::cast(given.codes(), dtype)?.tensor().cloned()
}

/// Texts or byte strings, each of which spells an element.
fn of_text(source: &Source<'_>, text: &Tensor, spelling: &Spelling) -> Result<Tensor> {
    let dense = text.data()?;
    let each = per_item(source, dense.len());
    let mut column = Column::new(ColumnKind::Number(spelling.dtype()))?;
    for i in 0..dense.len() {
        let given = dense.text_at(i)?;
        let seen = source.sees(i / each);
        let pushed = seen
            && match std::str::from_utf8(given) {
                _ if text.dtype() == DType::Bytes => spelled::push_bytes(spelling, given, &mut column),
                Ok(given) => spelled::push(spelling, given, &mut column),
                Err(_) => false,
            };
        if !pushed {
            column.push_defaults(spelled::elements(spelling))?;
        }
        if seen && !pushed {
            let wanted =
                if text.dtype() == DType::Bytes { format!("{} bytes", spelling.width()) } else { spelling.wanted() };
            source.refuse(i / each, || Error::data(came(given, text.dtype())).wanted(wanted))?;
        }
    }
    spelled::tensor(spelling, dense.dims(), column)
}

fn came(given: &[u8], dtype: DType) -> String {
    match dtype {
        DType::Bytes => format!("{} bytes came", given.len()),
        _ => format!("the string {:?} came", String::from_utf8_lossy(given).chars().take(40).collect::<String>()),
    }
}

/// Decimals of other digits, each of which is a number of these.
fn of_decimals(source: &Source<'_>, given: &DecimalTensor, own: &Spelling, spelling: &Spelling) -> Result<Tensor> {
    let cells = given.cells().data()?;
    let (from, bytes) = (own.width(), cells.as_slice::<u8>()?);
    let each = per_item(source, bytes.len() / from);
    let mut made = Vec::with_capacity((bytes.len() / from).saturating_mul(spelling.width()));
    for (i, cell) in bytes.chunks_exact(from).enumerate() {
        let seen = source.sees(i / each);
        let scaled = if seen { spelling.of_decimal(cell, given.scale()) } else { Some(Cell::default()) };
        made.extend_from_slice(&scaled.unwrap_or_default()[..spelling.width()]);
        if scaled.is_none() {
            let what = || format!("the decimal {} came", own.show(cell));
            source.refuse(i / each, || Error::data(what()).wanted(spelling.wanted()))?;
        }
    }
    let outer = cells.dims().split_last().map_or(&[][..], |(_, outer)| outer);
    spelled::tensor(spelling, outer, Column::U8(made))
}

/// How many elements each item has.
fn per_item(source: &Source<'_>, elements: usize) -> usize {
    elements.checked_div(source.array.len()).unwrap_or(1).max(1)
}
