//! Objects of a host language, as values are made of them.

use super::{Held, Literal, check_depth};
use extenso_core::Value;
use extenso_types::{Path, Result};

/// An object of a host language.
pub trait Object: Sized {
    /// The name of a field, as records are asked for it.
    type Name;

    /// What it is.
    ///
    /// Errors: those of the host.
    fn seen(&self) -> Result<Seen<'_>>;

    /// Whether it is what stands for something missing.
    fn is_none(&self) -> bool;

    /// Whether it is a value.
    fn is_value(&self) -> bool;

    /// The value that it is.
    fn value(&self) -> Option<Value>;

    /// Adds the items of a list.
    ///
    /// Errors: an item that no value can be made of; those behind it are not added.
    fn items(&self, items: &mut Vec<Self>) -> Result<()>;

    /// The names of the fields of a record, in order.
    ///
    /// Errors: a name that is no text.
    fn names(&self) -> Result<Vec<Self::Name>>;

    /// A name as text.
    fn text(name: &Self::Name) -> &str;

    /// How many items a list has, or fields a record.
    fn len(&self) -> usize;

    /// Whether a list has no item, or a record no field.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The field of a name, which is at this place in other records; none if a record has none.
    ///
    /// Errors: a field that no value can be made of.
    fn field(&self, name: &Self::Name, at: usize) -> Result<Option<Self>>;

    /// The literal that it is.
    ///
    /// Errors: what has none, with its path, which begins with that of the object.
    fn literal(&self, at: &dyn Fn() -> Path) -> Result<Literal>;

    /// Checks that it is not nested too deep, where so many levels are around it.
    ///
    /// Errors: it is.
    fn check_depth(&self, depth: usize) -> Result<()>;
}

/// What an object is.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(missing_docs)] // The variants' names are those of the literals.
pub enum Seen<'a> {
    None,
    Bool(bool),
    Int(i64),
    Unsigned(u64),
    Float(f64),
    Str(&'a str),
    Bytes(&'a [u8]),
    List,
    Record,
    Value,
}

impl Seen<'_> {
    /// What an error calls it.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Seen::None => "None",
            Seen::Bool(_) => "a boolean",
            Seen::Int(_) | Seen::Unsigned(_) => "an integer",
            Seen::Float(_) => "a float",
            Seen::Str(_) => "a string",
            Seen::Bytes(_) => "bytes",
            Seen::List => "a list",
            Seen::Record => "a record",
            Seen::Value => "a value",
        }
    }
}

impl<'a> Object for &'a Literal {
    type Name = &'a str;

    fn seen(&self) -> Result<Seen<'_>> {
        Ok(self.as_seen())
    }

    fn is_none(&self) -> bool {
        matches!(self, Literal::None)
    }

    fn is_value(&self) -> bool {
        matches!(self, Literal::Value(_))
    }

    fn value(&self) -> Option<Value> {
        match self {
            Literal::Value(Held(value)) => Some(value.clone()),
            _ => None,
        }
    }

    fn items(&self, items: &mut Vec<&'a Literal>) -> Result<()> {
        if let Literal::List(list) = self {
            items.extend(list);
        }
        Ok(())
    }

    fn names(&self) -> Result<Vec<&'a str>> {
        Ok(self.fields().iter().map(|(name, _)| name.as_str()).collect())
    }

    fn text<'n>(name: &'n &'a str) -> &'n str {
        name
    }

    fn len(&self) -> usize {
        self.inner().count()
    }

    fn field(&self, name: &&'a str, at: usize) -> Result<Option<&'a Literal>> {
        let fields = self.fields();
        // Records of one program have their fields in one order.
        let found = fields.get(at).filter(|(known, _)| known == name);
        Ok(found.or_else(|| fields.iter().find(|(known, _)| known == name)).map(|(_, item)| item))
    }

    fn literal(&self, _: &dyn Fn() -> Path) -> Result<Literal> {
        Ok((*self).clone())
    }

    fn check_depth(&self, depth: usize) -> Result<()> {
        check_depth(self, depth)
    }
}

impl Literal {
    /// What it is.
    pub(super) fn as_seen(&self) -> Seen<'_> {
        match self {
            Literal::None => Seen::None,
            Literal::Bool(value) => Seen::Bool(*value),
            Literal::Int(value) => Seen::Int(*value),
            Literal::Unsigned(value) => Seen::Unsigned(*value),
            Literal::Float(value) => Seen::Float(*value),
            Literal::Str(value) => Seen::Str(value),
            Literal::Bytes(value) => Seen::Bytes(value),
            Literal::List(_) => Seen::List,
            Literal::Record(_) => Seen::Record,
            Literal::Value(_) => Seen::Value,
        }
    }

    fn fields(&self) -> &[(String, Literal)] {
        match self {
            Literal::Record(fields) => fields,
            _ => &[],
        }
    }
}
