//! Nested lists and what a key chooses of them, said by loops over lists.
//!
//! Invariant: knows nothing of tensors; an axis has a size, or is ragged.

/// Nested lists of numbers, of which some are missing.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    Leaf(Option<i64>),
    List(Vec<Tree>),
}

/// Nested lists, and for each axis its size or none where it is ragged. The outer axis always has a size.
#[derive(Clone, Debug)]
pub struct Lists {
    pub tree: Tree,
    pub axes: Vec<Option<usize>>,
    /// How many new axes stand before the outer one.
    pub new: usize,
}

/// One place of a key.
#[derive(Clone, Debug)]
pub enum Place {
    At(i64),
    Slice(Option<i64>, Option<i64>, i64),
    NewAxis,
    /// Positions in lists of the given axes.
    Ints(Lists),
    /// One boolean for each element of an axis.
    Mask(Vec<bool>),
    /// Positions for each row, in lists with the rows.
    InRows(Lists),
    /// A boolean for each element of this many axes from the first on, in lists with their rows.
    MaskOfRows(Lists),
}

/// A key that chooses nothing.
#[derive(Debug)]
pub struct Refused;

impl Tree {
    pub fn items(&self) -> &[Tree] {
        match self {
            Tree::List(items) => items,
            Tree::Leaf(_) => &[],
        }
    }

    /// The tree with what is at a depth replaced.
    fn at_depth(&self, depth: usize, f: &mut dyn FnMut(&Tree) -> Result<Tree, Refused>) -> Result<Tree, Refused> {
        match (self, depth) {
            (_, 0) => f(self),
            (Tree::Leaf(_), _) => Err(Refused),
            (Tree::List(items), _) => {
                items.iter().map(|item| item.at_depth(depth - 1, f)).collect::<Result<_, _>>().map(Tree::List)
            }
        }
    }
}

impl Lists {
    pub fn new(tree: Tree, axes: Vec<Option<usize>>) -> Lists {
        Lists { tree, axes, new: 0 }
    }

    /// What a place takes along an axis, and how many axes it leaves there.
    pub fn taken(&self, axis: usize, place: &Place) -> Result<(Lists, usize), Refused> {
        let size = self.axes.get(axis).copied();
        let mut axes = self.axes.clone();
        let over = |f: &mut dyn FnMut(&Tree) -> Result<Tree, Refused>| self.tree.at_depth(axis, f);
        let (tree, left) = match place {
            Place::NewAxis => {
                axes.insert(axis, Some(1));
                (over(&mut |list| Ok(Tree::List(vec![list.clone()])))?, 1)
            }
            Place::At(i) => {
                let at = position(*i, size.flatten().ok_or(Refused)?)?;
                axes.remove(axis);
                (over(&mut |list| Ok(list.items()[at].clone()))?, 0)
            }
            Place::Slice(start, stop, step) => {
                axes[axis] = size.ok_or(Refused)?.map(|n| sliced(n, *start, *stop, *step).len());
                let slice = |list: &Tree| {
                    let at = sliced(list.items().len(), *start, *stop, *step);
                    Ok(Tree::List(at.into_iter().map(|at| list.items()[at].clone()).collect()))
                };
                (over(&mut { slice })?, 1)
            }
            Place::Mask(mask) => {
                if size.flatten() != Some(mask.len()) {
                    return Err(Refused);
                }
                axes[axis] = Some(mask.iter().filter(|kept| **kept).count());
                (over(&mut |list| Ok(kept(list, mask)))?, 1)
            }
            Place::Ints(ints) => {
                let n = size.flatten().ok_or(Refused)?;
                axes.splice(axis..=axis, ints.axes.iter().copied());
                let depth = ints.axes.len();
                let mut pick = |list: &Tree| ints.tree.at_depth(depth, &mut |i| Ok(list.items()[index(i, n)?].clone()));
                (over(&mut pick)?, depth)
            }
            Place::InRows(ints) => {
                if size != Some(None) {
                    return Err(Refused);
                }
                axes[axis] = None;
                let mut rows = Vec::new();
                ints.tree.at_depth(axis, &mut |row| {
                    rows.push(row.clone());
                    Ok(row.clone())
                })?;
                let mut rows = rows.into_iter();
                let mut pick = |list: &Tree| {
                    let n = list.items().len();
                    let row = rows.next().ok_or(Refused)?;
                    row.at_depth(1, &mut |i| Ok(list.items()[index(i, n)?].clone()))
                };
                (over(&mut pick)?, 1)
            }
            Place::MaskOfRows(mask) => {
                let depth = mask.axes.len();
                (within(&self.tree, &mask.tree, depth), depth)
            }
        };
        let new = self.new + usize::from(axis == self.new && matches!(place, Place::NewAxis));
        // A list that is the outer one has a size.
        if let Some(outer) = axes.get_mut(new) {
            *outer = Some((0..new).fold(&tree, |tree, _| &tree.items()[0]).items().len());
        }
        Ok((Lists { tree, axes, new }, left))
    }
}

fn index(i: &Tree, n: usize) -> Result<usize, Refused> {
    match i {
        Tree::Leaf(Some(i)) => position(*i, n),
        Tree::Leaf(None) | Tree::List(_) => Err(Refused),
    }
}

fn position(i: i64, n: usize) -> Result<usize, Refused> {
    let n = i64::try_from(n).map_err(|_| Refused)?;
    let at = if i < 0 { i + n } else { i };
    if at < n { usize::try_from(at).map_err(|_| Refused) } else { Err(Refused) }
}

/// The positions of Python's `range(n)[start:stop:step]`, by walking.
fn sliced(n: usize, start: Option<i64>, stop: Option<i64>, step: i64) -> Vec<usize> {
    let n = i64::try_from(n).unwrap_or(0);
    let bound = |v: i64| if v < 0 { (v + n).max(-1) } else { v.min(n) };
    let first = start.map_or(if step < 0 { n - 1 } else { 0 }, |v| {
        let at = bound(v);
        if step < 0 { at.min(n - 1) } else { at.max(0) }
    });
    let end = stop.map_or(if step < 0 { -1 } else { n }, bound);
    let (mut at, mut found) = (first, Vec::new());
    while if step < 0 { at > end } else { at < end } {
        found.extend(usize::try_from(at));
        at += step;
    }
    found
}

fn kept(list: &Tree, mask: &[bool]) -> Tree {
    let items = list.items().iter().zip(mask).filter(|(_, kept)| **kept);
    Tree::List(items.map(|(item, _)| item.clone()).collect())
}

/// What a mask with the rows of the first `depth` axes keeps of the innermost of them.
fn within(tree: &Tree, mask: &Tree, depth: usize) -> Tree {
    if depth == 1 {
        let mask: Vec<bool> = mask.items().iter().map(|kept| *kept != Tree::Leaf(Some(0))).collect();
        return kept(tree, &mask);
    }
    Tree::List(tree.items().iter().zip(mask.items()).map(|(tree, mask)| within(tree, mask, depth - 1)).collect())
}
