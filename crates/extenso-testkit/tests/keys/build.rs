//! Values of the nested lists of the model, and keys of its places.

use crate::model::{Lists, Place, Tree};
use extenso_core::{ExtensionType, Tensor, Value};
use extenso_ext::{Index, MaskedTensor, RaggedTensor, StructTensor};
use extenso_types::{Result, Shape};

/// What stands at the leaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Numbers,
    Booleans,
    /// Numbers, of which some are missing.
    Masked,
    /// Records whose field `a` is the number.
    Records,
}

/// The value of lists, whose ragged axes stand before all uniform ones but the first.
pub fn value(lists: &Lists, kind: Kind) -> Result<Value> {
    below(lists.tree.items().iter().collect(), &lists.axes[1..], kind)
}

fn below(items: Vec<&Tree>, inner: &[Option<usize>], kind: Kind) -> Result<Value> {
    let sizes: Option<Vec<usize>> = inner.iter().copied().collect();
    if let Some(sizes) = sizes {
        let dims: Vec<usize> = std::iter::once(items.len()).chain(sizes).collect();
        let mut leaves = Vec::new();
        items.iter().for_each(|item| push_leaves(item, &mut leaves));
        return dense(&dims, &leaves, kind);
    }
    let lengths = items.iter().map(|item| i64::try_from(item.items().len()).unwrap_or(0)).collect::<Vec<i64>>();
    let values = below(items.iter().flat_map(|item| item.items()).collect(), &inner[1..], kind)?;
    Ok(RaggedTensor::from_row_lengths(values, &Tensor::from_vec(lengths))?.into_value())
}

fn push_leaves(tree: &Tree, leaves: &mut Vec<Option<i64>>) {
    match tree {
        Tree::Leaf(leaf) => leaves.push(*leaf),
        Tree::List(items) => items.iter().for_each(|item| push_leaves(item, leaves)),
    }
}

fn dense(dims: &[usize], leaves: &[Option<i64>], kind: Kind) -> Result<Value> {
    let known: Vec<i64> = leaves.iter().map(|leaf| leaf.unwrap_or(0)).collect();
    let numbers = Tensor::new(dims, &known)?;
    Ok(match kind {
        Kind::Numbers => numbers.into(),
        Kind::Booleans => Tensor::bools(dims, &known.iter().map(|n| *n != 0).collect::<Vec<bool>>())?.into(),
        Kind::Masked => {
            let mask = Tensor::bools(dims, &leaves.iter().map(Option::is_some).collect::<Vec<bool>>())?;
            MaskedTensor::new(numbers, mask)?.into_value()
        }
        Kind::Records => {
            let pairs: Vec<i64> = known.iter().flat_map(|n| [*n, -*n]).collect();
            let wide: Vec<usize> = dims.iter().copied().chain([2]).collect();
            let fields = [("b", Tensor::new(&wide, &pairs)?), ("a", numbers)];
            StructTensor::from_fields(Shape::known(dims), fields)?.into_value()
        }
    })
}

/// The parts of a key; none is the ellipsis.
pub fn parts(places: &[Option<Place>]) -> Vec<Index> {
    let part = |place: &Option<Place>| match place {
        None => Index::Ellipsis,
        Some(Place::NewAxis) => Index::NewAxis,
        Some(Place::At(i)) => Index::At(*i),
        Some(Place::Slice(start, stop, step)) => Index::Slice { start: *start, stop: *stop, step: *step },
        Some(Place::Ints(ints) | Place::InRows(ints)) => Index::Pick(value(ints, Kind::Numbers).expect("integers")),
        Some(Place::Mask(mask)) => Index::Pick(Tensor::bools(&[mask.len()], mask).expect("a mask").into()),
        Some(Place::MaskOfRows(mask)) => Index::Pick(value(mask, Kind::Booleans).expect("a mask")),
    };
    places.iter().map(part).collect()
}

/// The lists as a literal shows them.
pub fn text(tree: &Tree) -> String {
    match tree {
        Tree::Leaf(None) => "None".to_string(),
        Tree::Leaf(Some(n)) => n.to_string(),
        Tree::List(items) => format!("[{}]", items.iter().map(text).collect::<Vec<_>>().join(", ")),
    }
}
