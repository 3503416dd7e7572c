//! Plans made ready for reading messages of one type, in either form.
//!
//! Invariant: a field is here if it is needed, or if it belongs to a oneof of which a member is needed; the plan's kinds are those
//! of the descriptor, or hold them exactly.

use super::entries::Lookup;
use super::enums::Values;
use super::fields::Numbers;
use super::json::{Held, Known};
use super::meant::Form;
use super::number::Number;
use super::quick::Quick;
use crate::json::Fields;
use crate::plan::ColumnId;
use crate::project::Wanted;
use crate::spelled;
use extenso_ext::Spelling;
use std::sync::Arc;

/// A message to be read.
#[derive(Debug)]
pub struct Record {
    pub fields: Vec<Field>,
    /// The places of fields in the wire form.
    pub numbers: Numbers,
    /// How messages are read in the wire form if nothing in them is odd.
    pub quick: Option<Quick>,
    /// The places of fields in the JSON form, by the names of JSON and of the file.
    pub names: Fields<usize>,
    /// How its parts are looked up, if some of its fields are found by name.
    pub lookup: Option<Lookup>,
    /// The JSON form that it has of its own.
    pub known: Option<Known>,
    /// What an `Any` may hold.
    pub held: Option<Held>,
    /// Whether it is of a value of any kind that a depth ends: what it has no field for lies beyond, and nobody left it out.
    pub ends: bool,
}

impl Record {
    /// The place of a field, by its name in the file.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| *field.name == *name)
    }

    /// Marks the values of any kind below, which a depth ends. This may be a part of the `whole` that the depth says, of which paths want
    /// something: of a value of which something is left out because nobody needs it, nothing tells where it ends.
    pub fn end_at_depth(&mut self, whole: &Record, wanted: &Wanted) {
        let known = matches!(self.known, Some(Known::Struct | Known::Value | Known::ListValue));
        self.ends = (self.ends || known) && wanted.is_all() && self.is_all_of(whole);
        let nothing = Wanted::default();
        for place in 0..self.fields.len() {
            // Members of a union are wanted under its name.
            let around = self.union_of(place).map_or(Some(wanted), |union| wanted.field(&union.name));
            let field = &mut self.fields[place];
            let inside = around.and_then(|wanted| wanted.field(&field.name));
            let inside = inside.and_then(|wanted| if field.rule.is_list() { wanted.item() } else { Some(wanted) });
            let whole = whole.place(&field.name).and_then(|place| whole.fields[place].value.record());
            if let (Some(record), Some(whole)) = (field.value.record_mut(), whole) {
                // The entries of a struct hold such values too.
                record.ends = self.known == Some(Known::Struct);
                record.end_at_depth(whole, inside.unwrap_or(&nothing));
            }
        }
    }

    /// The union that the field of this place is a member of.
    fn union_of(&self, place: usize) -> Option<&Field> {
        let holds = |field: &&Field| matches!(&field.value, Value::Union { members, .. } if members.contains(&place));
        self.fields.iter().find(holds)
    }

    /// Whether all is read of it that is read of the whole.
    fn is_all_of(&self, whole: &Record) -> bool {
        let is_read = |name: &str| self.place(name).is_some_and(|place| self.fields[place].value.is_needed());
        whole.fields.iter().all(|field| !field.value.is_needed() || is_read(&field.name))
    }
}

/// A field to be read.
#[derive(Debug)]
pub struct Field {
    pub name: Arc<str>,
    pub rule: Rule,
    /// Whether a message of which it is no part has it not; otherwise it has its default then.
    pub presence: bool,
    /// Whether it is a map, whose entries are an object in JSON.
    pub map: bool,
    /// Whether null is a value of it in JSON, and does not say that there is none.
    pub null: bool,
    pub value: Value,
    /// What one value that is not there adds to each column.
    pub defaults: Vec<(ColumnId, usize)>,
    /// The other members of its oneof, by place.
    pub rivals: Vec<usize>,
    /// Of a map: the enum of its values, if it is closed.
    pub symbols: Option<Arc<Values>>,
}

/// How often a field comes, and what its plan makes of that.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// Once, as the value.
    One,
    /// Once or not at all, as a value that may be missing.
    Maybe { validity: Option<ColumnId> },
    /// Once or not at all, as a list.
    Row { offsets: Option<ColumnId> },
    /// Any number of times, as a list.
    Each { offsets: Option<ColumnId> },
    /// So many times, as a dense axis.
    Exactly { size: usize },
    /// Once or not at all, as one of the types of a union, which says what is there.
    Member,
    /// It is not needed, but another member of its oneof is.
    Rival,
}

impl Rule {
    /// Whether what comes of it is a list.
    fn is_list(self) -> bool {
        self.repeats() || matches!(self, Rule::Row { .. })
    }

    /// Whether the field is repeated.
    pub fn repeats(self) -> bool {
        match self {
            Rule::Each { .. } | Rule::Exactly { .. } => true,
            Rule::One | Rule::Maybe { .. } | Rule::Row { .. } | Rule::Member | Rule::Rival => false,
        }
    }
}

/// What a field holds, and where it goes if it is needed.
#[derive(Debug)]
pub enum Value {
    Number {
        number: Number,
        column: Option<ColumnId>,
    },
    Enum {
        values: Arc<Values>,
        column: Option<ColumnId>,
    },
    Text {
        utf8: bool,
        column: Option<ColumnId>,
    },
    /// A time, a decimal, or bytes of one width.
    Spelled {
        form: Form,
        spelling: Spelling,
        column: ColumnId,
    },
    Message {
        record: Option<Box<Record>>,
        group: bool,
    },
    /// The values of a map at some keys.
    Keyed(Box<Record>),
    /// The member of a oneof that there is, whose place among the members goes where the tags go.
    Union {
        tags: Option<ColumnId>,
        /// The places of the members.
        members: Vec<usize>,
    },
    /// Nothing that the message has, or that is needed.
    Nothing,
}

impl Value {
    /// The column of the values themselves.
    pub fn column(&self) -> Option<ColumnId> {
        match self {
            Value::Number { column, .. } | Value::Enum { column, .. } | Value::Text { column, .. } => *column,
            Value::Spelled { column, .. } => Some(*column),
            Value::Message { .. } | Value::Keyed(_) | Value::Union { .. } | Value::Nothing => None,
        }
    }

    /// How many elements of its column it has.
    pub fn elements(&self) -> usize {
        match self {
            Value::Spelled { spelling, .. } => spelled::elements(spelling),
            _ => 1,
        }
    }

    /// Whether something of it is needed.
    pub fn is_needed(&self) -> bool {
        match self {
            Value::Number { column, .. } | Value::Enum { column, .. } | Value::Text { column, .. } => column.is_some(),
            Value::Message { record, .. } => record.is_some(),
            Value::Keyed(_) | Value::Union { .. } | Value::Spelled { .. } => true,
            Value::Nothing => false,
        }
    }

    /// The record that it is, if it is one.
    fn record(&self) -> Option<&Record> {
        match self {
            Value::Message { record: Some(record), .. } | Value::Keyed(record) => Some(record),
            Value::Number { .. } | Value::Enum { .. } | Value::Text { .. } | Value::Message { record: None, .. } => {
                None
            }
            Value::Union { .. } | Value::Spelled { .. } | Value::Nothing => None,
        }
    }

    fn record_mut(&mut self) -> Option<&mut Record> {
        match self {
            Value::Message { record: Some(record), .. } | Value::Keyed(record) => Some(record),
            Value::Number { .. } | Value::Enum { .. } | Value::Text { .. } | Value::Message { record: None, .. } => {
                None
            }
            Value::Union { .. } | Value::Spelled { .. } | Value::Nothing => None,
        }
    }
}
