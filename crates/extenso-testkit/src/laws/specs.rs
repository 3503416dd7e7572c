//! Specs: the normal form, equality, order.

use super::{Subject, ensure};
use extenso_core::{ExtensionType, TypeSpec};
use extenso_types::{Dim, ExtSpec, PartitionSpec, Result, Shape, Spec, TensorSpec};

/// The spec reads back from its normal form, also with sizes that are not known.
pub(super) fn normal_form<T: ExtensionType>(subject: &Subject<T>) -> Result<()> {
    let general = general(&Spec::from(subject.spec.clone()));
    for spec in [&subject.spec, &**general.ext()?] {
        let again = T::Spec::deserialize(spec)?.serialize();
        let same = Spec::from(again.clone()).equals(&Spec::from(spec.clone())) && again.static_data == spec.static_data;
        ensure(same, || format!("{spec} reads back as {again}"))?;
    }
    Ok(())
}

/// Two specs of the same sizes are equal whatever their variables are called, and unequal where one size is known.
pub(super) fn up_to_names<T: ExtensionType>(subject: &Subject<T>) -> Result<()> {
    let spec = Spec::from(subject.spec.clone());
    ensure(spec.equals(&spec), || format!("{spec} is not equal to itself"))?;
    let (a, b) = (general(&spec), general(&spec));
    ensure(a.equals(&b) && b.equals(&a), || format!("{a} is not equal to itself under other names"))?;
    let has_sizes = !spec.leaves(&extenso_types::Path::root()).is_empty() && a != spec;
    ensure(!has_sizes || !a.equals(&spec), || format!("{a} is equal to {spec}"))
}

/// Subtyping is reflexive and a spec's join with itself is the spec; a value's spec is a subtype of its general form.
pub(super) fn order<T: ExtensionType>(subject: &Subject<T>) -> Result<()> {
    let spec = Spec::from(subject.spec.clone());
    let general = general(&spec);
    for s in [&spec, &general] {
        ensure(s.is_subtype_of(s), || format!("{s} is not a subtype of itself"))?;
        ensure(s.is_compatible_with(s), || format!("{s} is not compatible with itself"))?;
        ensure(s.join(s).is_some_and(|joined| joined.equals(s)), || format!("{s} is not its own join"))?;
    }
    ensure(spec.is_subtype_of(&general), || format!("{spec} is not a subtype of {general}"))?;
    ensure(spec.join(&general).is_some_and(|j| j.equals(&general)), || format!("{spec} joins {general} to another"))
}

/// Of any two specs: compatibility is symmetric, and a join accepts both.
pub(super) fn pairs(specs: &[ExtSpec]) -> Result<()> {
    let specs: Vec<Spec> = specs.iter().cloned().map(Spec::from).collect();
    for a in &specs {
        for b in &specs {
            let symmetric = a.is_compatible_with(b) == b.is_compatible_with(a);
            ensure(symmetric, || format!("{a} and {b} are compatible one way only"))?;
            let Some(joined) = a.join(b) else { continue };
            let above = a.is_subtype_of(&joined) && b.is_subtype_of(&joined);
            ensure(above, || format!("{a} and {b} join to {joined}, which does not accept both"))?;
        }
    }
    Ok(())
}

/// The spec with a variable in the place of each size; equal sizes share one, so that what fits before fits after.
pub(super) fn general(spec: &Spec) -> Spec {
    generalised(spec, &mut Vec::new())
}

fn generalised(spec: &Spec, sizes: &mut Vec<(Dim, Dim)>) -> Spec {
    let mut var = |dim: Dim| {
        if let Some((_, var)) = sizes.iter().find(|(known, _)| *known == dim) {
            return *var;
        }
        // A size of 1 broadcasts, which a variable does not say.
        let var = if dim == Dim::Known(1) { dim } else { Dim::any() };
        sizes.push((dim, var));
        var
    };
    match spec {
        Spec::Tensor(t) => {
            let shape = t.shape.dims().map_or_else(Shape::unknown, |dims| Shape::new(dims.iter().map(|d| var(*d))));
            TensorSpec::new(t.dtype, shape).into()
        }
        Spec::Partition(p) => Spec::Partition(PartitionSpec::new(var(p.nrows), var(p.nvalues), p.index)),
        Spec::Ext(e) => {
            let components = e.components.iter().map(|(segment, spec)| (segment.clone(), generalised(spec, sizes)));
            Spec::from(ExtSpec { components: components.collect(), ..(**e).clone() })
        }
    }
}
