//! Taking apart and rebuilding.

use super::{Subject, ensure};
use crate::eval::{Closeness, difference};
use extenso_core::{ExtensionType, Provenance, TypeSpec, Value, rebuild};
use extenso_types::{Result, Spec};

/// A value of the type is seen as one.
pub(super) fn is_itself<T: ExtensionType>(subject: &Subject<T>) -> Result<()> {
    ensure(subject.value.ext()?.def() == T::Spec::def(), || {
        "the value has another definition than its spec".to_string()
    })?;
    same(&T::from_value(&subject.value)?.into_value(), &subject.value)
}

/// There are as many components as the spec has, and each has its spec.
pub(super) fn fit_the_spec<T: ExtensionType>(subject: &Subject<T>) -> Result<()> {
    let (given, wanted) = (subject.components.len(), subject.spec.components.len());
    ensure(given == wanted, || format!("{given} components, the spec has {wanted}"))?;
    for (component, (segment, wanted)) in subject.components.iter().zip(&subject.spec.components) {
        let given = component.spec()?;
        ensure(given.is_subtype_of(wanted), || format!("component {segment:?} is {given}, the spec says {wanted}"))?;
    }
    let mut names: Vec<_> = subject.spec.components.iter().map(|(segment, _)| segment).collect();
    names.sort();
    names.dedup();
    ensure(names.len() == wanted, || "two components have one name".to_string())
}

/// A value rebuilt from its components, as from its own and as from outside, has its spec and its bits.
pub(super) fn round_trip<T: ExtensionType>(subject: &Subject<T>) -> Result<()> {
    for provenance in [Provenance::Trusted, Provenance::Outside] {
        let again = rebuild(&subject.spec, subject.components.clone(), provenance)?;
        let (spec, wanted) = (again.spec()?, Spec::from(subject.spec.clone()));
        ensure(spec.equals(&wanted), || format!("the spec of the rebuilt value is {spec}, wanted {wanted}"))?;
        same(&again, &subject.value)?;
        T::from_value(&again)?;
    }
    same(&subject.typed.clone().into_value(), &subject.value)
}

/// Too few components, or one too many, are an error.
pub(super) fn counted<T: ExtensionType>(subject: &Subject<T>) -> Result<()> {
    let more: Vec<Value> = subject.components.iter().chain(subject.components.first()).cloned().collect();
    let fewer: Vec<Value> = subject.components.iter().skip(1).cloned().collect();
    for components in [more, fewer] {
        let count = components.len();
        let refused =
            count == subject.components.len() || rebuild(&subject.spec, components, Provenance::Trusted).is_err();
        ensure(refused, || format!("{count} components make a value of {}", subject.spec))?;
    }
    Ok(())
}

/// Checks that both values have the same type and the same bits.
pub(super) fn same(got: &Value, want: &Value) -> Result<()> {
    match difference(got, want, Closeness::Bits)? {
        None => Ok(()),
        Some(differs) => ensure(false, || differs),
    }
}
