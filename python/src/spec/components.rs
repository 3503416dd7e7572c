//! Values by their components: what a caller gives for each is brought to its spec.

use crate::error::{self, OrRaise, guarded, raised};
use crate::{arg, literal, value};
use extenso_core::{Value, rebuild_named};
use extenso_types::{Error, ExtSpec, Spec};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::extension::step;

/// The value of a dict of components, by the names that `component_specs` has, or of a tuple of all in their order.
///
/// It is validated as one that comes from outside. Errors: another object; a component that is missing, not known or does not fit, by name.
pub fn of_components(object: &Bound<'_, PyAny>, spec: &ExtSpec) -> PyResult<Value> {
    let steps: Vec<String> = spec.components.iter().map(|(segment, _)| step(segment)).collect();
    let wanted = || format!("the components {} in a dict, or in a tuple", steps.join(", "));
    let refused = |error: Error| raised(object.py(), error.wanted(wanted()).at(spec.def.name().to_string()));
    let mut given: Vec<(String, Bound<'_, PyAny>)> = Vec::with_capacity(steps.len());
    if let Ok(dict) = object.cast::<PyDict>() {
        for (key, item) in dict.iter() {
            let key = key.extract().map_err(|_| refused(Error::dtype(format!("a dict has the key {key}"))))?;
            given.push((key, item));
        }
    } else if let Ok(tuple) = object.cast::<PyTuple>() {
        if tuple.len() != steps.len() {
            return Err(refused(Error::value(format!("{} components are given", tuple.len()))));
        }
        given.extend(steps.iter().cloned().zip(tuple.iter()));
    } else {
        return Err(refused(Error::dtype(format!("found a value of type {}", arg::type_name(object)))));
    }
    let mut components = Vec::with_capacity(given.len());
    for (name, item) in given {
        let at = spec.components.iter().zip(&steps).find(|(_, known)| **known == name);
        let made = match at {
            Some(((_, wanted), _)) => component(&item, wanted),
            // It is refused by its name.
            None => value::from_py(&item),
        };
        let place = format!("component '{name}'");
        components.push((name, made.map_err(|e| error::at(object.py(), e, &place))?));
    }
    guarded(|| rebuild_named(spec, components)).or_raise()
}

/// A component that numbers, lists or an array may stand for.
fn component(object: &Bound<'_, PyAny>, wanted: &Spec) -> PyResult<Value> {
    match wanted {
        _ if arg::is_value(object) => value::from_py(object),
        Spec::Tensor(spec) => arg::tensor(object, Some(spec.dtype)).map(Value::from),
        Spec::Partition(_) | Spec::Ext(_) => literal::of_spec(object, wanted),
    }
}
