//! Keys: what a key chooses of a tensor, of rows, of masked values and of records is what loops over lists choose, on data and
//! while tracing with sizes known and unknown.

mod build;
mod model;

use build::{Kind, parts, text, value};
use extenso_core::{Tensor, Value};
use extenso_ext::{Index, index, to_literal};
use extenso_graph::{Concrete, trace};
use extenso_types::{Dim, Error, ExtSpec, Nest, PartitionSpec, Result, Shape, Spec, TensorSpec};
use model::{Lists, Place, Refused, Tree};
use proptest::prelude::*;
use std::collections::HashMap;

/// A part of a key before it is known what it stands at.
#[derive(Clone, Debug)]
enum Draft {
    At(i64),
    Wild(i64),
    Slice(Option<i64>, Option<i64>, i64),
    NewAxis,
    Dots,
    Ints(Vec<u8>, u8),
    Mask(u8),
    OfRows(Vec<u8>, bool),
}

fn draft() -> impl Strategy<Value = Draft> {
    let bound = || proptest::option::of(-5..6_i64);
    let step = prop_oneof![1..4_i64, -3..0_i64];
    prop_oneof![
        3 => (-4..4_i64).prop_map(Draft::At),
        1 => (-5..5_i64).prop_map(Draft::Wild),
        6 => (bound(), bound(), step).prop_map(|(start, stop, step)| Draft::Slice(start, stop, step)),
        1 => Just(Draft::NewAxis),
        1 => Just(Draft::Dots),
        2 => (proptest::collection::vec(0..4_u8, 0..5), 0..3_u8).prop_map(|(at, form)| Draft::Ints(at, form)),
        1 => any::<u8>().prop_map(Draft::Mask),
        2 => (proptest::collection::vec(0..5_u8, 1..9), any::<bool>()).prop_map(|(seeds, mask)| Draft::OfRows(seeds, mask)),
    ]
}

fn lists() -> impl Strategy<Value = (Lists, Kind)> {
    let kind = prop_oneof![Just(Kind::Numbers), Just(Kind::Masked), Just(Kind::Records)];
    let lengths = proptest::collection::vec(0..4_usize, 1..24);
    let axes = (1..5_usize).prop_flat_map(|rank| (0..rank, proptest::collection::vec(0..4_usize, rank)));
    (axes, lengths, kind).prop_map(|((ragged, sizes), lengths, kind)| {
        let axis = |(axis, size): (usize, usize)| (axis == 0 || axis > ragged).then_some(size);
        let axes: Vec<Option<usize>> = sizes.into_iter().enumerate().map(axis).collect();
        let (mut lengths, mut next) = (lengths.into_iter().cycle(), 0);
        let tree = grown(&axes, &mut lengths, &mut next, kind == Kind::Masked);
        (Lists::new(tree, axes), kind)
    })
}

fn grown(axes: &[Option<usize>], lengths: &mut dyn Iterator<Item = usize>, next: &mut i64, missing: bool) -> Tree {
    let Some((size, inner)) = axes.split_first() else {
        *next += 1;
        return Tree::Leaf((!missing || *next % 3 != 0).then_some(*next));
    };
    let n = size.or_else(|| lengths.next()).unwrap_or(0);
    Tree::List((0..n).map(|_| grown(inner, lengths, next, missing)).collect())
}

/// The key that drafts become on some lists, and what it chooses of them.
struct Key {
    /// Places, and none for the ellipsis.
    places: Vec<Option<Place>>,
    wanted: std::result::Result<Lists, Refused>,
}

fn key(lists: &Lists, drafts: &[Draft]) -> Key {
    let mut key = Key { places: Vec::new(), wanted: Ok(lists.clone()) };
    let (mut axis, mut whole, mut tensor, mut dots) = (0, true, false, false);
    for (i, draft) in drafts.iter().enumerate() {
        let Ok(now) = &key.wanted else {
            // The ellipsis counts the places behind the refused one.
            let rest = drafts[i..].iter().filter(|d| dots && !matches!(d, Draft::NewAxis | Draft::Dots));
            key.places.extend(rest.map(|_| Some(Place::Slice(None, None, 1))));
            break;
        };
        if matches!(draft, Draft::Dots) {
            let behind = drafts[i + 1..].iter().filter(|d| !matches!(d, Draft::NewAxis | Draft::Dots)).count();
            if !dots && now.axes.len() >= axis + behind {
                (axis, dots) = (now.axes.len() - behind, true);
                key.places.push(None);
            }
            continue;
        }
        if axis >= now.axes.len() && !matches!(draft, Draft::NewAxis) {
            if dots {
                continue;
            }
            break;
        }
        let place = place(draft, now, axis, whole && !dots, tensor, dots);
        tensor |= matches!(place, Place::Ints(_) | Place::Mask(_) | Place::InRows(_) | Place::MaskOfRows(_));
        whole &= matches!(place, Place::Slice(None, None, 1));
        let taken = now.taken(axis, &place);
        key.places.push(Some(place));
        key.wanted = taken.map(|(lists, left)| {
            axis += left;
            lists
        });
    }
    key
}

fn place(draft: &Draft, now: &Lists, axis: usize, whole: bool, tensor: bool, dots: bool) -> Place {
    let size = now.axes.get(axis).copied().flatten();
    let all = Place::Slice(None, None, 1);
    let within = |i: i64, n: usize| i.rem_euclid(2 * i64::try_from(n).unwrap_or(1)) - i64::try_from(n).unwrap_or(0);
    match (draft, size) {
        (Draft::NewAxis, _) => Place::NewAxis,
        (Draft::Slice(start, stop, step), _) => Place::Slice(*start, *stop, *step),
        (Draft::Wild(i), _) => Place::At(*i),
        (Draft::At(i), Some(n)) if n > 0 => Place::At(within(*i, n)),
        (Draft::Ints(at, form), Some(n)) if !tensor && (n > 0 || at.is_empty()) => {
            let leaf = |&i: &u8| Tree::Leaf(Some(within(i.into(), n)));
            let flat: Vec<Tree> = at.iter().map(leaf).collect();
            Place::Ints(match form {
                1 => Lists::new(Tree::List(vec![Tree::List(flat.clone())]), vec![Some(1), Some(flat.len())]),
                2 if axis == 0 => {
                    let rows = vec![Tree::List(flat[..flat.len() / 2].into()), Tree::List(flat)];
                    Lists::new(Tree::List(rows), vec![Some(2), None])
                }
                _ => Lists::new(Tree::List(flat.clone()), vec![Some(flat.len())]),
            })
        }
        (Draft::Mask(bits), Some(n)) if !tensor => Place::Mask((0..n).map(|i| bits >> (i % 8) & 1 == 1).collect()),
        (Draft::OfRows(seeds, false), None) if whole && !tensor => {
            let mut seeds = seeds.iter().cycle().copied();
            let axes = now.axes[..=axis].to_vec();
            Place::InRows(Lists::new(chosen_in_rows(&now.tree, axis, &mut seeds), axes))
        }
        (Draft::OfRows(seeds, true), Some(_)) if axis == 0 && !tensor && !dots && now.axes.get(1) == Some(&None) => {
            let mut seeds = seeds.iter().cycle().copied();
            let depth = 2 + usize::from(seeds.next().unwrap_or(0)) % (now.axes.len() - 1);
            let axes = now.axes[..depth].to_vec();
            Place::MaskOfRows(Lists::new(chances(&now.tree, depth, &mut seeds), axes))
        }
        _ => all,
    }
}

/// Positions in each list of an axis, as lists with the rows.
fn chosen_in_rows(tree: &Tree, axis: usize, seeds: &mut dyn Iterator<Item = u8>) -> Tree {
    if axis > 0 {
        return Tree::List(tree.items().iter().map(|row| chosen_in_rows(row, axis - 1, seeds)).collect());
    }
    let n = i64::try_from(tree.items().len()).unwrap_or(0);
    let count = if n == 0 { 0 } else { seeds.next().unwrap_or(0) % 4 };
    Tree::List((0..count).map(|_| Tree::Leaf(Some(i64::from(seeds.next().unwrap_or(0)) % (2 * n) - n))).collect())
}

/// True and false in lists like those of the first `depth` axes.
fn chances(tree: &Tree, depth: usize, seeds: &mut dyn Iterator<Item = u8>) -> Tree {
    if depth == 0 {
        return Tree::Leaf(Some(i64::from(seeds.next().unwrap_or(0)) % 2));
    }
    Tree::List(tree.items().iter().map(|item| chances(item, depth - 1, seeds)).collect())
}

fn shown(found: Result<Value>) -> Result<String> {
    Ok(to_literal(&found?)?.to_string())
}

fn traced(x: &Value, key: &[Index], spec: Spec) -> Result<Value> {
    let specs = Nest::Leaf(spec);
    let traced = trace("chosen", &specs, |args| Ok(Nest::Leaf(index(args.leaves()[0].1, key)?)))?;
    let chosen = Concrete::new("chosen", specs, traced.output, traced.graph)?;
    Ok(chosen.call(&Nest::Leaf(x.clone()))?.leaves()[0].1.clone())
}

/// The spec with a variable for each size of it.
fn open(spec: &Spec, sizes: &mut HashMap<usize, Dim>) -> Spec {
    let mut size = |dim: Dim| match dim {
        Dim::Known(n) => *sizes.entry(n).or_insert_with(Dim::any),
        Dim::Var(_) => dim,
    };
    match spec {
        Spec::Tensor(t) => {
            let dims: Vec<Dim> = t.shape.dims().into_iter().flatten().map(|dim| size(*dim)).collect();
            TensorSpec::new(t.dtype, Shape::new(dims)).into()
        }
        Spec::Partition(p) => {
            Spec::Partition(PartitionSpec { nrows: size(p.nrows), nvalues: size(p.nvalues), ..p.clone() })
        }
        Spec::Ext(ext) => {
            let components = ext.components.iter().map(|(name, spec)| (name.clone(), open(spec, sizes))).collect();
            ExtSpec { def: ext.def.clone(), static_data: ext.static_data.clone(), components }.into()
        }
    }
}

fn check(found: Result<Value>, key: &Key, what: &str) -> std::result::Result<(), TestCaseError> {
    match (shown(found), &key.wanted) {
        (Ok(found), Ok(wanted)) => prop_assert_eq!(found, text(&wanted.tree), "{}", what),
        (Err(error), Ok(wanted)) => prop_assert!(false, "{what}: wanted {}, found {error}", text(&wanted.tree)),
        (Ok(found), Err(Refused)) => prop_assert!(false, "{what}: wanted an error, found {found}"),
        (Err(error), Err(Refused)) => {
            prop_assert!(!error.is_internal(), "{what}: {error}");
            prop_assert!(error.to_string().contains("index"), "{what}: {error}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_key_chooses_what_loops_choose(
        (lists, kind) in lists(),
        drafts in proptest::collection::vec(draft(), 0..6),
        name_at in any::<proptest::sample::Index>(),
    ) {
        let x = value(&lists, kind).expect("a value of lists");
        let whole: Vec<Index> = if kind == Kind::Records { vec!["a".into()] } else { Vec::new() };
        prop_assert_eq!(shown(index(&x, &whole)).expect("shows"), text(&lists.tree));
        let key = key(&lists, &drafts);
        let mut parts = parts(&key.places);
        if kind == Kind::Records {
            // The fields of what places choose are what the places choose of the fields.
            let moved = index(&x, &parts).and_then(|x| index(&x, &["a".into()]));
            check(moved, &key, "places, then a name")?;
            // An ellipsis before a name is about the axes of the records, whatever stands behind the name.
            let dots = parts.iter().position(|part| matches!(part, Index::Ellipsis)).unwrap_or(parts.len());
            let at = name_at.index(dots + 2);
            parts.insert(if at > dots { parts.len() } else { at }, "a".into());
        }
        let eager = index(&x, &parts);
        check(eager.clone(), &key, "eager")?;
        if eager.is_err() {
            return Ok(());
        }
        // A mask of uniform axes inside rows makes rows of them, whose number nothing tells where the axes are unknown or empty.
        let makes_rows = key.places.iter().flatten().any(|place| matches!(place, Place::MaskOfRows(_)));
        let inner = lists.axes.get(2..).unwrap_or(&[]);
        let spec = x.spec().expect("a spec");
        if !(makes_rows && inner.contains(&Some(0))) {
            check(traced(&x, &parts, spec.clone()), &key, "traced")?;
        }
        if kind == Kind::Numbers && (!makes_rows || inner.is_empty()) {
            check(traced(&x, &parts, open(&spec, &mut HashMap::new())), &key, "traced with unknown sizes")?;
        }
    }
}

#[test]
fn a_slice_of_the_outer_axis_shares_the_values() {
    // A few bytes stand in their tensor, and are copied.
    let address = |x: &Value| x.tensor().expect("a tensor").as_slice::<i64>().expect("numbers").as_ptr();
    let part = [Index::Slice { start: Some(1), stop: Some(3), step: 1 }];
    let x = Value::from(Tensor::new(&[6, 2], &[0_i64, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]).expect("a matrix"));
    for key in [&part[..], &[Index::At(1)]] {
        let found = index(&x, key).expect("rows");
        assert_eq!(address(&found), address(&x).wrapping_add(2), "{key:?}");
    }
    let lengths = Tensor::from_vec(vec![1_i64, 0, 2, 1]);
    let values = Value::from(Tensor::from_vec(vec![10_i64, 20, 30, 40]));
    let rows = extenso_ext::RaggedTensor::from_row_lengths(values.clone(), &lengths).expect("rows");
    let rows = extenso_core::ExtensionType::into_value(rows);
    let found = index(&rows, &part).expect("rows");
    let found: extenso_ext::RaggedTensor = extenso_core::ExtensionType::from_value(&found).expect("rows");
    assert_eq!(address(found.values()), address(&values).wrapping_add(1));
    assert_eq!(address(&index(&rows, &[Index::At(2)]).expect("a row")), address(&values).wrapping_add(1));
}

#[test]
fn a_key_touches_only_the_field_asked() {
    let axes = vec![Some(3), None];
    let lists = Lists::new(grown(&axes, &mut [2, 0, 3].into_iter().cycle(), &mut 0, false), axes);
    let spec = value(&lists, Kind::Records).and_then(|x| x.spec()).expect("a spec");
    let key = [Index::ALL, Index::Slice { start: None, stop: Some(3), step: 1 }, "a".into()];
    let traced = trace("chosen", &Nest::Leaf(spec), |args| Ok(Nest::Leaf(index(args.leaves()[0].1, &key)?)));
    let needed = traced.map_err(|e: Error| e.to_string()).expect("traces").graph.needed_inputs();
    assert_eq!(needed.iter().filter(|needed| **needed).count(), 2, "the field and the rows: {needed:?}");
}
