//! Projection to leaf columns: which columns of a file hold what is wanted.
//!
//! Invariant: leaf columns are numbered as they stand in the file, which is the order of the leaves of its Arrow fields. Of a struct of
//! which nothing is wanted but that it is there, one column is read; of a map, one of its keys and one of its values at least, since the
//! crate decodes no half of one.

use super::cells;
use super::times::scales;
use crate::arrow::{check_whole, columns_there, named};
use crate::needs::record_of;
use crate::project::Wanted;
use crate::records::{is, is_record};
use arrow_schema::{DataType, Field, FieldRef, Fields};
use extenso_ext::{MaskedTensorSpec, RaggedTensorSpec, StructSpec};
use extenso_types::{Error, ExtSpec, Path, Result, Segment, Spec};

/// A leaf column: its number, where it stands in a record, and what it is in Arrow.
#[derive(Clone, Debug)]
pub struct LeafColumn {
    pub number: usize,
    pub path: Path,
    pub data_type: DataType,
    /// What its statistics, and a count in the unit that was given, are multiplied by before they are compared.
    pub scales: (i128, i128),
    /// Whether it is read as cells of bytes, of which the values are made.
    pub is_cells: bool,
    /// Whether it is categories whose order is known.
    pub is_ordered: bool,
}

/// All leaf columns below these fields.
pub fn leaf_columns(fields: &Fields) -> Vec<LeafColumn> {
    fn below(at: &Path, field: &Field, out: &mut Vec<LeafColumn>) {
        let data_type = field.data_type().clone();
        match (&data_type, item(&data_type)) {
            (DataType::Struct(fields), _) => fields.iter().for_each(|field| below(&of_field(at, field), field, out)),
            (_, Some(item)) => below(&at.child(Segment::Each), item, out),
            (_, None) => {
                let made = cells::of(field);
                let (is_cells, data_type) = (made.is_some(), made.unwrap_or(data_type));
                let (number, scales) = (out.len(), scales(field));
                let is_ordered = field.dict_is_ordered() == Some(true);
                out.push(LeafColumn { number, path: at.clone(), data_type, scales, is_cells, is_ordered });
            }
        }
    }
    let mut out = Vec::new();
    fields.iter().for_each(|field| below(&of_field(&Path::root(), field), field, &mut out));
    out
}

fn of_field(at: &Path, field: &Field) -> Path {
    at.child(Segment::field(field.name().as_str()))
}

/// What the items of a list or a map are.
pub fn item(data_type: &DataType) -> Option<&FieldRef> {
    match data_type {
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => Some(field),
        _ => None,
    }
}

/// How many leaf columns a type has.
pub fn width(data_type: &DataType) -> usize {
    match (data_type, item(data_type)) {
        (DataType::Struct(fields), _) => fields.iter().map(|field| width(field.data_type())).sum(),
        (_, Some(field)) => width(field.data_type()),
        (_, None) => 1,
    }
}

/// The columns at or below the wanted paths.
///
/// Errors: a path that leads nowhere, with what there is.
pub fn columns_of_paths(fields: &Fields, wanted: &Wanted) -> Result<Vec<usize>> {
    let mut walk = Walk::default();
    walk.wanted_fields(&Path::root(), fields, wanted)?;
    Ok(with_both_halves(fields, walk.chosen))
}

/// The columns that records of this spec, or values of it in the only `column`, are made of. An optional field that the file lacks has none.
///
/// Errors: the file lacks a field that is not optional, with the columns that there are.
pub fn columns_of_spec(fields: &Fields, spec: &Spec, column: bool) -> Result<Vec<usize>> {
    let mut walk = Walk::default();
    match (&fields[..], record_of(spec)) {
        ([only], _) if column => walk.of_spec(&Path::root(), only.data_type(), spec)?,
        (_, Some(record)) => walk.fields_of_spec(&Path::root(), fields, record)?,
        (_, None) => {}
    }
    Ok(with_both_halves(fields, walk.chosen))
}

/// The chosen columns, with a column of the keys and one of the values of each map of which any is chosen.
fn with_both_halves(fields: &Fields, mut chosen: Vec<usize>) -> Vec<usize> {
    fn below(data_type: &DataType, first: usize, chosen: &mut Vec<usize>) {
        let among = |chosen: &[usize], (from, to): (usize, usize)| chosen.iter().any(|leaf| (from..to).contains(leaf));
        match (data_type, item(data_type)) {
            (DataType::Struct(fields), _) => {
                each(fields, first, &mut |field, (from, _)| below(field.data_type(), from, chosen));
            }
            (DataType::Map(..), Some(entries)) => {
                if let (DataType::Struct(halves), true) =
                    (entries.data_type(), among(chosen, (first, first + width(data_type))))
                {
                    each(halves, first, &mut |_, half| {
                        if !among(chosen, half) {
                            chosen.push(half.0);
                        }
                    });
                }
                below(entries.data_type(), first, chosen);
            }
            (_, Some(field)) => below(field.data_type(), first, chosen),
            (_, None) => {}
        }
    }
    each(fields, 0, &mut |field, (from, _)| below(field.data_type(), from, &mut chosen));
    chosen.sort_unstable();
    chosen
}

/// Tells of each field the number of its first leaf column, and of the one behind its last.
fn each(fields: &Fields, first: usize, tell: &mut dyn FnMut(&Field, (usize, usize))) {
    fields.iter().fold(first, |from, field| {
        let to = from + width(field.data_type());
        tell(field, (from, to));
        to
    });
}

#[derive(Default)]
struct Walk {
    /// The number of the next leaf column.
    next: usize,
    chosen: Vec<usize>,
}

impl Walk {
    fn all(&mut self, data_type: &DataType) {
        let end = self.next + width(data_type);
        self.chosen.extend(self.next..end);
        self.next = end;
    }

    fn none(&mut self, data_type: &DataType) {
        self.next += width(data_type);
    }

    /// Chooses a column at least, so that the records that hold none of what is wanted are counted.
    fn one_at_least(&mut self, from: (usize, usize)) {
        let (chosen, first) = from;
        if self.chosen.len() == chosen && self.next > first {
            self.chosen.push(first);
        }
    }

    fn mark(&self) -> (usize, usize) {
        (self.chosen.len(), self.next)
    }

    fn wanted_fields(&mut self, at: &Path, fields: &Fields, wanted: &Wanted) -> Result<()> {
        wanted.check_fields(at, fields.iter().map(|field| field.name().as_str()))?;
        fields.iter().try_for_each(|field| match wanted.field(field.name()) {
            Some(wanted) => self.wanted(&of_field(at, field), field, wanted),
            None => {
                self.none(field.data_type());
                Ok(())
            }
        })
    }

    fn wanted(&mut self, at: &Path, field: &Field, wanted: &Wanted) -> Result<()> {
        let data_type = field.data_type();
        check_whole(at, field, wanted)?;
        if wanted.is_all() {
            self.all(data_type);
            return Ok(());
        }
        match (data_type, item(data_type)) {
            (DataType::Struct(fields), _) => self.wanted_fields(at, fields, wanted),
            (_, Some(field)) => {
                let axis = matches!(data_type, DataType::FixedSizeList(..)).then(|| wanted.along_axis()).flatten();
                let below = axis.map_or_else(|| wanted.only_item(at), Ok)?;
                self.wanted(&at.child(Segment::Each), field, below)
            }
            (_, None) => Err(Error::missing(format!("'{at}' is a column of type {data_type}, and the path goes on"))
                .wanted("the end of the path")),
        }
    }

    fn fields_of_spec(&mut self, at: &Path, fields: &Fields, ext: &ExtSpec) -> Result<()> {
        columns_there(at, fields, named(ext).filter(|_| is::<StructSpec>(ext)))?;
        let from = self.mark();
        for field in fields {
            match ext.component(&Segment::field(field.name().as_str())) {
                Some(spec) => self.of_spec(&of_field(at, field), field.data_type(), spec)?,
                None => self.none(field.data_type()),
            }
        }
        self.one_at_least(from);
        Ok(())
    }

    fn of_spec(&mut self, at: &Path, data_type: &DataType, spec: &Spec) -> Result<()> {
        match (spec, data_type, item(data_type)) {
            (Spec::Ext(ext), _, _) if is::<MaskedTensorSpec>(ext) => match ext.component(&Segment::Itself) {
                Some(inner) => return self.of_spec(at, data_type, inner),
                None => self.all(data_type),
            },
            (Spec::Ext(ext), _, Some(field)) if is::<RaggedTensorSpec>(ext) => {
                match ext.components.iter().find(|(_, spec)| !matches!(spec, Spec::Partition(_))) {
                    Some((_, spec)) => return self.of_spec(&at.child(Segment::Each), field.data_type(), spec),
                    None => self.all(data_type),
                }
            }
            (Spec::Ext(ext), DataType::Struct(fields), _) if is_record(ext) => {
                return self.fields_of_spec(at, fields, ext);
            }
            _ => self.all(data_type),
        }
        Ok(())
    }
}
