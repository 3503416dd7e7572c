//! Values by the names of their components.

use super::{Provenance, rebuild};
use crate::value::Value;
use extenso_types::{Error, ExtSpec, Path, Result};

/// Rebuilds a value, which comes from outside, of its components by the names that paths have for them.
///
/// Errors: a component that is missing, not known, given twice or of another spec, with its name; as [`rebuild`].
///
/// ```
/// # use extenso_core::{Tensor, rebuild_named};
/// # use extenso_types::{ExtSpec, Fingerprint, Segment, StaticValue, TypeDef};
/// // A type that a file speaks of and this process does not define.
/// let def = TypeDef::new("shop/Price".parse()?, 1, Fingerprint::of("value"), vec![]);
/// let column = Tensor::from_vec(vec![2.5, 4.0]);
/// let components = vec![(Segment::field("value"), column.spec().into())];
/// let spec = ExtSpec { def, static_data: StaticValue::None, components };
///
/// assert_eq!(rebuild_named(&spec, [("value", column.clone())])?.spec()?.to_string(), "Price(value: f64[2])");
/// let error = rebuild_named(&spec, [("amount", column)]).unwrap_err().to_string();
/// assert_eq!(error, "shop/Price: there is no component 'amount'.\nWanted: value.");
/// # Ok::<(), extenso_types::Error>(())
/// ```
pub fn rebuild_named<N: AsRef<str>, V: Into<Value>>(
    spec: &ExtSpec,
    components: impl IntoIterator<Item = (N, V)>,
) -> Result<Value> {
    let given: Vec<(String, Value)> =
        components.into_iter().map(|(name, value)| (name.as_ref().to_string(), value.into())).collect();
    let components = in_order(spec, given).map_err(|e| e.at(spec.def.name().to_string()))?;
    rebuild(spec, components, Provenance::Outside)
}

/// Named components in the order of the spec.
fn in_order(spec: &ExtSpec, given: Vec<(String, Value)>) -> Result<Vec<Value>> {
    let names: Vec<String> = spec.components.iter().map(|(s, _)| Path::from_iter([s.clone()]).to_string()).collect();
    let mut found: Vec<Option<Value>> = vec![None; names.len()];
    for (name, value) in given {
        let Some(at) = names.iter().position(|known| *known == name) else {
            return Err(Error::missing(format!("there is no component '{name}'")).wanted(names.join(", ")));
        };
        let at_name = |e: Error| e.at(format!("component '{name}'"));
        let (given, wanted) = (value.spec().map_err(at_name)?, &spec.components[at].1);
        if !given.is_subtype_of(wanted) {
            return Err(at_name(Error::dtype(format!("found {given}")).wanted(wanted.to_string())));
        }
        if found[at].replace(value).is_some() {
            return Err(Error::value(format!("the component '{name}' is given twice")).wanted(names.join(", ")));
        }
    }
    let missing = |name: &String| Error::missing(format!("the component '{name}' is missing")).wanted(names.join(", "));
    found.into_iter().zip(&names).map(|(value, name)| value.ok_or_else(|| missing(name))).collect()
}
