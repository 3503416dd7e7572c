//! Inference: the spec of a table from its first rows, by the rules of `seen`.
//!
//! A column in which cells are of two kinds is one of strings, since every cell is a text. In such a column an empty cell is an empty string; in others it
//! is missing.
//!
//! Invariant: the rows that were seen can all be read by the spec that follows.

use super::cell::{is_rounded, sign};
use crate::seen::{MAX_FIELDS, Place, Record, Seen, Sign};
use extenso_types::{Error, Path, Result, Segment};
use std::sync::Arc;

/// Where a sign was first seen, for each of them.
#[derive(Clone, Default)]
pub struct Found(Vec<(Sign, Place)>);

impl Found {
    /// Notes a cell.
    pub fn note(&mut self, cell: &[u8], at: Place) {
        for sign in [Some(sign(cell)), is_rounded(cell).then_some(Sign::Rounded)].into_iter().flatten() {
            if !self.0.iter().any(|(known, _)| *known == sign) {
                self.0.push((sign, at));
            }
        }
    }

    fn first(&self, signs: &[Sign]) -> Option<Place> {
        self.0.iter().filter(|(sign, _)| signs.contains(sign)).map(|(_, at)| *at).min_by_key(|at| at.byte)
    }

    /// The signs that the cells have in common.
    fn signs(&self) -> Vec<(Sign, Place)> {
        let number = [Sign::Int, Sign::Negative, Sign::Big, Sign::Huge, Sign::Float];
        let text = self.first(&[Sign::Text]);
        let mixed = self.first(&[Sign::Bool]).zip(self.first(&number)).map(|(a, _)| a);
        match text.or(mixed) {
            Some(at) => vec![(Sign::Text, at)],
            None => self.0.clone(),
        }
    }
}

/// Columns by the fields that their names lead through.
enum Tree {
    Column(usize),
    Fields(Vec<(Arc<str>, Tree)>),
}

/// What the records are of which these columns hold the fields.
///
/// Errors: two columns of one name; a column that is a record elsewhere; more fields than records may have.
pub fn seen(paths: &[Path], found: &[Found]) -> Result<Seen> {
    let mut tree = Vec::new();
    for (column, path) in paths.iter().enumerate() {
        insert(&mut tree, path.segments(), column).ok_or_else(|| {
            let error = Error::data(format!("column {} has the name '{path}', which another has", column + 1));
            error.wanted("each name once, and none that is a record in another").at("row 0")
        })?;
    }
    let start = Place { row: 0, byte: 0 };
    let (mut seen, mut room) = (Seen::default(), MAX_FIELDS);
    let _ = seen.note(Sign::Record, start);
    record(seen.record(), &tree, found, &mut room)?;
    Ok(seen)
}

/// Puts a column into the tree; none if its place is taken.
fn insert(fields: &mut Vec<(Arc<str>, Tree)>, path: &[Segment], column: usize) -> Option<()> {
    let (Segment::Field(name), rest) = path.split_first()? else { return None };
    let place = fields.iter().position(|(known, _)| known == name);
    match (place.map(|i| &mut fields[i].1), rest) {
        (None, []) => fields.push((name.clone(), Tree::Column(column))),
        (None, rest) => {
            let mut below = Vec::new();
            insert(&mut below, rest, column)?;
            fields.push((name.clone(), Tree::Fields(below)));
        }
        (Some(Tree::Fields(below)), [_, ..]) => insert(below, rest, column)?,
        (Some(_), _) => return None,
    }
    Some(())
}

fn record(record: &mut Record, fields: &[(Arc<str>, Tree)], found: &[Found], room: &mut usize) -> Result<()> {
    let (number, mut next) = (record.open(), 0);
    for (name, tree) in fields {
        let (_, seen) = record.field(name, number, &mut next, room)?;
        match tree {
            Tree::Column(column) => {
                for (sign, at) in found[*column].signs() {
                    // Signs that disagree were made strings before.
                    let _ = seen.note(sign, at);
                }
            }
            Tree::Fields(below) => {
                let _ = seen.note(Sign::Record, Place { row: 0, byte: 0 });
                self::record(seen.record(), below, found, room)?;
            }
        }
    }
    Ok(())
}
