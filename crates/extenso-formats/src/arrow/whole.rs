//! Values of one spec end to end as one value of that spec.
//!
//! Invariant: the value is one of the spec, or the error says where it is not. Each part was one before: several vocabularies in one may be
//! more than the codes count, and have no order.

use super::decode::{checked, defaults};
use super::moved::{end_to_end, picked};
use crate::categories::check;
use crate::records::is;
use extenso_core::{ExtensionType, Provenance, Tensor, Value, ops, rebuild};
use extenso_ext::{CategoricalTensor, CategoricalTensorSpec, outer};
use extenso_types::{Error, ExtSpec, Path, Result, Segment, Spec, StaticValue, TensorSpec};

/// The rows of values of a spec, one value after the other, as one of this spec.
///
/// Errors: as [`end_to_end`]; more categories than the codes of the spec count; orders of categories of which none is the beginning of
/// another.
pub fn whole_of(parts: Vec<Value>, spec: &Spec) -> Result<Value> {
    if parts.len() < 2 || !has_categories(spec) {
        return end_to_end(parts);
    }
    let joined = end_to_end(parts.clone())?;
    let settled = settled(&Path::root(), &joined, &parts.iter().collect::<Vec<_>>(), spec)?;
    checked(settled.unwrap_or(joined), spec)
}

/// The rows of a value of a spec at these places, of which the one behind its last row is a row of defaults; of the spec as the value is.
///
/// Errors: a type that has no default; as [`whole_of`].
pub fn with_default(value: Value, spec: &Spec, places: Vec<i64>) -> Result<Value> {
    let parts = vec![value, defaults(spec, 1)?];
    let made = picked(parts.clone(), places)?;
    let settled = settled(&Path::root(), &made, &parts.iter().collect::<Vec<_>>(), spec)?;
    Ok(settled.unwrap_or(made))
}

fn has_categories(spec: &Spec) -> bool {
    let Spec::Ext(ext) = spec else { return false };
    is::<CategoricalTensorSpec>(ext) || ext.components.iter().any(|(_, spec)| has_categories(spec))
}

/// The joined value with the codes and the order that the spec has; none if it is as it should be.
fn settled(at: &Path, joined: &Value, parts: &[&Value], spec: &Spec) -> Result<Option<Value>> {
    let (Value::Ext(whole), Spec::Ext(ext)) = (joined, spec) else { return Ok(None) };
    if is::<CategoricalTensorSpec>(ext) {
        return categories(joined, parts, ext).map_err(|e| if at.is_root() { e } else { e.at_path(at) });
    }
    let of_parts = parts.iter().map(|part| part.ext()?.components()).collect::<Result<Vec<_>>>()?;
    let (mut components, mut own, mut changed) = (whole.components()?, whole.spec()?, false);
    for (i, (component, (segment, spec))) in components.iter_mut().zip(&ext.components).enumerate() {
        let of_parts: Vec<&Value> = of_parts.iter().filter_map(|parts| parts.get(i)).collect();
        if let Some(made) = settled(&at.child(segment.clone()), component, &of_parts, spec)? {
            own.components[i].1 = made.spec()?;
            (*component, changed) = (made, true);
        }
    }
    if changed { rebuild(&own, components, Provenance::Trusted).map(Some) } else { Ok(None) }
}

fn categories(joined: &Value, parts: &[&Value], ext: &ExtSpec) -> Result<Option<Value>> {
    let whole = CategoricalTensor::from_value(joined)?;
    let codes = ext.component(&Segment::Itself);
    let Some(Spec::Tensor(TensorSpec { dtype, .. })) = codes else { return Ok(None) };
    let ordered = ext.static_data.get("ordered") == Some(&StaticValue::Bool(true));
    if whole.codes().dtype() == *dtype && whole.ordered() == ordered {
        return Ok(None);
    }
    check(outer(whole.categories()).and_then(|count| count.known()).unwrap_or(0), *dtype)?;
    if ordered && !whole.ordered() {
        for part in parts {
            begins(whole.categories(), CategoricalTensor::from_value(part)?.categories())?;
        }
    }
    let codes = ops::cast(whole.codes(), *dtype)?.tensor()?.clone();
    Ok(Some(CategoricalTensor::new(codes, whole.categories().clone(), ordered)?.into_value()))
}

/// Checks that the words are the first of these.
///
/// Errors: they are not.
fn begins(all: &Value, words: &Value) -> Result<()> {
    let count = |words: &Value| outer(words).and_then(|count| count.known()).unwrap_or(0);
    let alike = if count(words) <= count(all) {
        let places = (0..).take(count(words)).collect::<Vec<i64>>();
        let same = ops::equal(ops::take(all, Tensor::from_vec(places), 0_i64)?, words)?;
        ops::all(same, extenso_core::attrs::Axes::All, false)?.tensor()?.to_bool()?
    } else {
        false
    };
    if alike {
        return Ok(());
    }
    let error =
        Error::value("the parts of a column have their categories in several orders").wanted("one order for all");
    Err(error.hint("Read categories without an order, or bring all parts to one dictionary before."))
}
