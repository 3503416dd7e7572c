//! Tracing, saving, and loading where the type is not known.

use super::components::same;
use super::specs::general;
use super::{Subject, ensure};
use extenso_core::{ExtensionType, OpaqueExtension, Provenance, Value, rebuild, why_opaque};
use extenso_graph::save::{from_bytes, to_bytes};
use extenso_graph::{Concrete, trace};
use extenso_types::{Error, ExtSpec, Fingerprint, Nest, Result, Spec, TypeDef};
use std::sync::Arc;

/// The identity function of the spec, with known sizes and with unknown ones, has the spec as its result and gives the value.
pub(super) fn identity<T: ExtensionType>(subject: &Subject<T>) -> Result<()> {
    let spec = Spec::from(subject.spec.clone());
    for spec in [spec.clone(), general(&spec)] {
        let function = identity_of(&spec)?;
        let output = function.output_spec().leaves()[0].1.clone();
        ensure(output.equals(&spec), || format!("the identity of {spec} returns {output}"))?;
        let got = call(&function, &subject.value)?;
        same(&got, &subject.value)?;
        T::from_value(&got)?;
    }
    Ok(())
}

/// A function that was saved and loaded gives the value, and is saved as the same bytes.
pub(super) fn loaded<T: ExtensionType>(subject: &Subject<T>) -> Result<()> {
    let function = identity_of(&Spec::from(subject.spec.clone()))?;
    let bytes = to_bytes(std::slice::from_ref(&function))?;
    let module = from_bytes(bytes.clone())?;
    let got = call(&module.functions[0], &subject.value)?;
    same(&got, &subject.value)?;
    T::from_value(&got)?;
    let again = to_bytes(&module.functions)?;
    ensure(again == bytes, || "the loaded function is saved as other bytes".to_string())
}

/// Under a definition that no process has, the value is opaque: the same components by the same names, also through a file.
pub(super) fn opaque<T: ExtensionType>(subject: &Subject<T>) -> Result<()> {
    let own = &subject.spec.def;
    let fingerprint = Fingerprint::of(&format!("not {}", own.fingerprint()));
    let def = TypeDef::new(own.name().clone(), own.version(), fingerprint, own.ancestors().to_vec());
    let spec = ExtSpec { def: def.clone(), ..subject.spec.clone() };
    let value = rebuild(&spec, subject.components.clone(), Provenance::Outside)?;
    ensure(why_opaque(&def).is_some(), || "another definition is taken for this one".to_string())?;
    same_components(&value, subject)?;
    let function = identity_of(&Spec::from(spec))?;
    let module = from_bytes(to_bytes(&[function])?)?;
    let got = call(&module.functions[0], &retyped(&module.functions[0], subject)?)?;
    same_components(&got, subject)
}

/// The components under the definition that a loaded function has.
fn retyped<T: ExtensionType>(function: &Concrete, subject: &Subject<T>) -> Result<Value> {
    let inputs = function.input_spec().leaves();
    let spec = inputs.first().ok_or_else(|| Error::internal("no input"))?.1.ext()?.clone();
    rebuild(&spec, subject.components.clone(), Provenance::Outside)
}

fn same_components<T: ExtensionType>(value: &Value, subject: &Subject<T>) -> Result<()> {
    let ext = value.ext()?;
    let Some(opaque) = ext.downcast::<OpaqueExtension>() else {
        return Err(Error::value(format!("a value of another definition is not opaque: {value:?}")));
    };
    for ((segment, _), wanted) in subject.spec.components.iter().zip(&subject.components) {
        let got = opaque.component(segment).ok_or_else(|| Error::missing(format!("no component {segment:?}")))?;
        same(got, wanted).map_err(|e| e.at(format!("component {segment:?}")))?;
    }
    Ok(())
}

fn call(function: &Concrete, value: &Value) -> Result<Value> {
    match function.call(&Nest::Tuple(vec![Nest::Leaf(value.clone())]))? {
        Nest::Leaf(value) => Ok(value),
        other => Err(Error::internal(format!("the function returns {other:?}"))),
    }
}

fn identity_of(spec: &Spec) -> Result<Arc<Concrete>> {
    let input = Nest::Tuple(vec![Nest::Leaf(spec.clone())]);
    let traced = trace("law", &input, |args| Ok(Nest::Leaf(args.leaves()[0].1.clone())))?;
    Ok(Arc::new(Concrete::new("law", input, traced.output, traced.graph)?))
}
