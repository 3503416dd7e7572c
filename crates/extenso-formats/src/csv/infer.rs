//! Inference: the spec of a table from its first rows, by the rules of `seen`.
//!
//! A column in which cells are of two kinds is one of strings, since every cell is a text. In such a column an empty cell is an empty string; in others it
//! is missing.
//!
//! Invariant: the rows that were seen can all be read by the spec that follows.

use super::cell::{is_rounded, sign};
use crate::project::Wanted;
use crate::seen::{MAX_FIELDS, MAX_NESTING, Place, Record, Seen, Sign, too_many};
use extenso_types::{Error, Path, Result, Segment};
use std::collections::HashMap;
use std::sync::Arc;

/// Where a sign was first seen, for each of them.
#[derive(Clone, Default)]
pub struct Found {
    signs: Vec<(Sign, Place)>,
    /// Whether a text was seen, beside which nothing else matters.
    is_text: bool,
}

impl Found {
    /// Notes a cell.
    #[inline]
    pub fn note(&mut self, cell: &[u8], at: Place) {
        if self.is_text {
            return;
        }
        let sign = sign(cell);
        self.see(sign, at);
        if matches!(sign, Sign::Int | Sign::Negative | Sign::Big | Sign::Huge) && is_rounded(cell) {
            self.see(Sign::Rounded, at);
        }
    }

    #[inline]
    fn see(&mut self, sign: Sign, at: Place) {
        if !self.signs.iter().any(|(known, _)| *known == sign) {
            self.signs.push((sign, at));
            self.is_text |= sign == Sign::Text;
        }
    }

    /// Whether something was seen that is there.
    pub fn is_settled(&self) -> bool {
        self.signs.iter().any(|(sign, _)| *sign != Sign::Null)
    }

    /// Adds what was found in the rows behind so many others.
    pub fn add(&mut self, behind: &Found, rows: usize) {
        behind.signs.iter().for_each(|(sign, at)| self.see(*sign, Place { row: at.row + rows, byte: at.byte }));
    }

    fn first(&self, signs: &[Sign]) -> Option<Place> {
        self.signs.iter().filter(|(sign, _)| signs.contains(sign)).map(|(_, at)| *at).min_by_key(|at| at.byte)
    }

    /// The signs that the cells have in common.
    fn signs(&self) -> Vec<(Sign, Place)> {
        let number = [Sign::Int, Sign::Negative, Sign::Big, Sign::Huge, Sign::Float];
        let text = self.first(&[Sign::Text]);
        let mixed = self.first(&[Sign::Bool]).zip(self.first(&number)).map(|(a, _)| a);
        match text.or(mixed) {
            Some(at) => vec![(Sign::Text, at)],
            None => self.signs.clone(),
        }
    }
}

/// Columns by the fields that their names lead through.
#[derive(Default)]
struct Tree {
    places: HashMap<Arc<str>, usize>,
    fields: Vec<(Arc<str>, Node)>,
}

enum Node {
    Column(usize),
    Fields(Tree),
}

/// What the records are of which these columns hold the fields. Of columns that nobody wants, names may be those of others.
///
/// Errors: two columns of one name; a column that is a record elsewhere; a name that nests too deep; more fields than records may have.
pub fn seen(paths: &[Path], found: &[Found], wanted: &Wanted) -> Result<Seen> {
    if paths.len() > MAX_FIELDS {
        return Err(too_many());
    }
    let mut tree = Tree::default();
    // What is wanted takes its place before what is not.
    let (read, others): (Vec<_>, Vec<_>) = paths.iter().enumerate().partition(|(_, path)| is_wanted(path, wanted));
    for (column, path) in read {
        if path.segments().len() > MAX_NESTING {
            let error = Error::data(format!("the name of column {} nests too deep", column + 1));
            return Err(error.wanted(format!("at most {MAX_NESTING} levels")).at("row 0"));
        }
        tree.insert(path.segments(), column).map_err(|taken| {
            let what = match taken.is_record {
                false => format!("column {} has the name '{path}', which another has", column + 1),
                true => {
                    let depth = path.segments().len() - taken.left;
                    let both: Path = path.segments().iter().take(depth).cloned().collect();
                    format!("'{both}' is a value and a record: column {} has the name '{path}'", column + 1)
                }
            };
            Error::data(what).wanted("each name once, and none that is a record in another").at("row 0")
        })?;
    }
    for (column, path) in others.into_iter().filter(|(_, path)| path.segments().len() <= MAX_NESTING) {
        let _ = tree.insert(path.segments(), column);
    }
    let start = Place { row: 0, byte: 0 };
    let (mut seen, mut room) = (Seen::default(), MAX_FIELDS);
    let _ = seen.note(Sign::Record, start);
    record(seen.record(), &tree, found, &mut room)?;
    Ok(seen)
}

/// Whether anything of a column, or below it, is wanted.
fn is_wanted(path: &Path, wanted: &Wanted) -> bool {
    let below = |wanted, part: &Segment| match part {
        Segment::Field(name) => Wanted::field(wanted, name),
        _ => None,
    };
    path.segments().iter().try_fold(wanted, below).is_some()
}

/// Why a column has no place in the tree.
struct Taken {
    /// Whether another column makes a record of what this one makes a value, or the other way round.
    is_record: bool,
    /// How many steps of the path are left where the two meet.
    left: usize,
}

impl Tree {
    /// Puts a column into the tree.
    ///
    /// Errors: its place is taken.
    fn insert(&mut self, path: &[Segment], column: usize) -> std::result::Result<(), Taken> {
        let Some((Segment::Field(name), rest)) = path.split_first() else {
            return Err(Taken { is_record: false, left: 0 });
        };
        let Some(place) = self.places.get(name) else {
            let node = if rest.is_empty() {
                Node::Column(column)
            } else {
                let mut below = Tree::default();
                below.insert(rest, column)?;
                Node::Fields(below)
            };
            self.places.insert(name.clone(), self.fields.len());
            self.fields.push((name.clone(), node));
            return Ok(());
        };
        match &mut self.fields[*place].1 {
            Node::Fields(below) if !rest.is_empty() => below.insert(rest, column),
            Node::Column(_) if rest.is_empty() => Err(Taken { is_record: false, left: 0 }),
            Node::Fields(_) | Node::Column(_) => Err(Taken { is_record: true, left: rest.len() }),
        }
    }
}

fn record(record: &mut Record, tree: &Tree, found: &[Found], room: &mut usize) -> Result<()> {
    let (number, mut next) = (record.open(), 0);
    for (name, node) in &tree.fields {
        let (_, seen) = record.field(name, number, &mut next, room)?;
        match node {
            Node::Column(column) => {
                for (sign, at) in found[*column].signs() {
                    // Signs that disagree were made strings before.
                    let _ = seen.note(sign, at);
                }
            }
            Node::Fields(below) => {
                let _ = seen.note(Sign::Record, Place { row: 0, byte: 0 });
                self::record(seen.record(), below, found, room)?;
            }
        }
    }
    Ok(())
}
