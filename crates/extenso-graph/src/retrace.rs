//! Retraces: why a function was traced again, place by place.
//!
//! Invariant: a difference names the innermost place at which both sides can be named: a leaf, a static value, or what one side
//! has and the other lacks.

use extenso_types::{Bindings, Nest, Path, Segment, Spec};
use std::collections::HashMap;

/// Why a function was traced.
#[derive(Clone, Debug)]
pub struct Retrace {
    /// What differed from the nearest earlier trace: argument path, old spec, new spec. A static value is its own spec, and
    /// what one side lacks is `absent`.
    pub differences: Vec<(String, String, String)>,
    /// Whether an earlier concrete function was generalised.
    pub generalised: bool,
}

/// Where the arguments of two calls differ, with both sides.
pub(crate) fn differences(old: &Nest<Spec>, new: &Nest<Spec>) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    each_difference(Some(old), Some(new), &Path::root(), &mut |path, old, new| {
        found.push((path.to_string(), text(old), text(new)));
    });
    found
}

/// The first place at which two nests have different structures, with both sides: what one side lacks before anything else, since numbers
/// of the host become leaves where all else fits.
pub(crate) fn first_mismatch(wanted: &Nest<Spec>, given: &Nest<Spec>) -> Option<(Path, String, String)> {
    let (mut first, mut lacking) = (None, None);
    each_difference(Some(wanted), Some(given), &Path::root(), &mut |path, wanted, given| {
        let place = || Some((path.clone(), text(wanted), text(given)));
        match (wanted, given) {
            (Some(Nest::Leaf(_)), Some(Nest::Leaf(_))) => {}
            (Some(_), Some(_)) => first = first.take().or_else(place),
            _ => lacking = lacking.take().or_else(place),
        }
    });
    lacking.or(first)
}

fn text(side: Option<&Nest<Spec>>) -> String {
    side.map_or_else(|| "absent".to_string(), Nest::to_string)
}

type Side<'a> = Option<&'a Nest<Spec>>;

fn each_difference(old: Side<'_>, new: Side<'_>, at: &Path, found: &mut dyn FnMut(&Path, Side<'_>, Side<'_>)) {
    match (old, new) {
        (Some(Nest::Leaf(a)), Some(Nest::Leaf(b))) if a.equals(b) => {}
        (Some(Nest::Static(a)), Some(Nest::Static(b))) if a == b => {}
        (Some(a), Some(b)) if same_kind(a, b) => {
            for (segment, [old, new]) in in_order(children(a), children(b)) {
                each_difference(old, new, &at.child(segment), found);
            }
        }
        _ => found(at, old, new),
    }
}

/// Whether both have parts that can be compared one by one.
fn same_kind(a: &Nest<Spec>, b: &Nest<Spec>) -> bool {
    match (a, b) {
        (Nest::List(_), Nest::List(_)) | (Nest::Tuple(_), Nest::Tuple(_)) | (Nest::Dict(_), Nest::Dict(_)) => true,
        (Nest::Record(a, _), Nest::Record(b, _)) => a == b,
        _ => false,
    }
}

fn children(nest: &Nest<Spec>) -> Vec<(Segment, &Nest<Spec>)> {
    match nest {
        Nest::Leaf(_) | Nest::Static(_) => Vec::new(),
        Nest::List(items) | Nest::Tuple(items) => {
            items.iter().enumerate().map(|(i, item)| (Segment::Index(i), item)).collect()
        }
        Nest::Dict(entries) | Nest::Record(_, entries) => {
            entries.iter().map(|(name, item)| (Segment::field(name.clone()), item)).collect()
        }
    }
}

/// The children of both sides: those of the old one in its order, then what the new one alone has.
fn in_order<'a>(
    old: Vec<(Segment, &'a Nest<Spec>)>,
    new: Vec<(Segment, &'a Nest<Spec>)>,
) -> Vec<(Segment, [Side<'a>; 2])> {
    let mut others: HashMap<Segment, &Nest<Spec>> = new.iter().cloned().collect();
    let mut pairs: Vec<_> = old.into_iter().map(|(at, item)| (at.clone(), [Some(item), others.remove(&at)])).collect();
    let added = new.into_iter().filter(|(at, _)| others.contains_key(at));
    pairs.extend(added.map(|(at, item)| (at, [None, Some(item)])));
    pairs
}

/// The innermost part of a spec that does not take what is given, with its path.
pub fn part_that_differs<'a>(path: Path, wanted: &'a Spec, given: &'a Spec) -> (Path, &'a Spec, &'a Spec) {
    let (Spec::Ext(of), Spec::Ext(by)) = (wanted, given) else { return (path, wanted, given) };
    if of.def != by.def || of.static_data != by.static_data || of.components.len() != by.components.len() {
        return (path, wanted, given);
    }
    for (segment, part) in &of.components {
        match by.components.iter().find(|(other, _)| other == segment) {
            Some((_, other)) if part.accepts(other, &mut Bindings::default()) => {}
            Some((_, other)) => return part_that_differs(path.child(segment.clone()), part, other),
            None => break,
        }
    }
    (path, wanted, given)
}

#[cfg(test)]
mod tests {
    use super::*;
    use extenso_types::{DType, Shape, StaticValue, TensorSpec};

    fn leaf(dims: &[usize]) -> Nest<Spec> {
        Nest::Leaf(TensorSpec::new(DType::I64, Shape::known(dims)).into())
    }

    fn check(old: Nest<Spec>, new: Nest<Spec>, expect: &[(&str, &str, &str)]) {
        let found = differences(&old, &new);
        let found: Vec<_> = found.iter().map(|(at, old, new)| (at.as_str(), old.as_str(), new.as_str())).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn a_difference_is_named_by_its_path_and_both_sides() {
        check(Nest::dict([("a", leaf(&[2]))]), Nest::dict([("a", leaf(&[3]))]), &[("a", "i64[2]", "i64[3]")]);
        let number = |n: i64| Nest::dict([("k", Nest::Static(StaticValue::Int(n))), ("x", leaf(&[1]))]);
        check(number(2), number(3), &[("k", "2", "3")]);
        check(number(2), number(2), &[]);
    }

    #[test]
    fn what_one_side_lacks_is_absent() {
        let one = || Nest::List(vec![leaf(&[1])]);
        let two = || Nest::List(vec![leaf(&[1]), leaf(&[])]);
        check(one(), two(), &[("[1]", "absent", "i64[]")]);
        check(two(), one(), &[("[1]", "i64[]", "absent")]);
        check(
            Nest::dict([("a", one())]),
            Nest::dict([("b", one())]),
            &[("a", "[i64[1]]", "absent"), ("b", "absent", "[i64[1]]")],
        );
    }

    #[test]
    fn other_structures_are_shown_whole() {
        check(Nest::List(vec![leaf(&[1])]), Nest::Tuple(vec![leaf(&[1])]), &[("", "[i64[1]]", "(i64[1],)")]);
        check(leaf(&[1]), Nest::Static(StaticValue::Int(3)), &[("", "i64[1]", "3")]);
    }
}
