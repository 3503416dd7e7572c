//! What the values of records were seen to be, and the spec that follows.
//!
//! | seen | spec |
//! |---|---|
//! | booleans | bool |
//! | integers | i64; u64 if one is above i64 and none below zero; what fits neither is an error |
//! | floats, also beside integers that f64 holds | f64; an integer that it would round is an error |
//! | `"NaN"`, `"Infinity"`, `"-Infinity"` beside numbers | f64; a string like any other elsewhere |
//! | strings | string |
//! | lists | ragged, whatever their lengths |
//! | records | a struct of the fields, in the order in which they were first seen |
//! | null, or a record without the field | masked |
//! | nothing but null; items that never came | f64, as `constant` makes of `[None]` and `[]` |
//! | records in which no field ever came | a struct without fields |
//! | values of two kinds | an error that names both rows |
//!
//! Invariant: every record that was seen can be read by the spec. Knows no format.

mod merge;

use crate::project::{MAX_LEVELS, Wanted};
use crate::records::{list_spec, optional_spec};
use extenso_core::TypeSpec;
use extenso_ext::StructSpec;
use extenso_types::{DType, Dim, Error, Path, Result, Segment, Shape, Spec, TensorSpec};
use std::collections::HashMap;
use std::sync::Arc;

/// How many fields records may have, all levels together.
pub const MAX_FIELDS: usize = 10_000;

/// What one value was seen to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sign {
    Null,
    Bool,
    /// An integer of i64 that is not negative.
    Int,
    Negative,
    /// An integer above i64 that fits u64.
    Big,
    /// An integer that fits neither.
    Huge,
    /// An integer that f64 does not hold, beside what else it is.
    Rounded,
    Float,
    /// A number with a point or an exponent that is to be its text, and so are the numbers beside it.
    Decimal,
    /// The name of a float that is no number: a float beside numbers, a string elsewhere.
    Name,
    Text,
    List,
    Record,
}

/// Signs that stand for one kind of value, with its name.
const KINDS: [(&str, &[Sign]); 5] = [
    ("true or false", &[Sign::Bool]),
    ("a number", &[Sign::Int, Sign::Negative, Sign::Big, Sign::Huge, Sign::Rounded, Sign::Float, Sign::Decimal]),
    ("a string", &[Sign::Text]),
    ("a list", &[Sign::List]),
    ("a record", &[Sign::Record]),
];

/// The kinds that the name of a float may belong to.
const NAMED: [&str; 2] = ["a number", "a string"];

/// The record and the byte of the input where something was first seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    pub row: usize,
    pub byte: usize,
}

/// What the values at one path were seen to be.
#[derive(Clone, Default, Debug)]
pub struct Seen {
    first: [Option<Place>; 13],
    /// Of lists: what their items are.
    item: Option<Box<Seen>>,
    /// Of records: what their fields are.
    record: Option<Box<Record>>,
}

/// What the fields of the records at one path were seen to be.
#[derive(Clone, Default, Debug)]
pub struct Record {
    /// How many records there were.
    count: usize,
    places: HashMap<Arc<str>, usize>,
    fields: Vec<Field>,
}

#[derive(Clone, Debug)]
struct Field {
    name: Arc<str>,
    /// How many records had it.
    count: usize,
    /// The number of the last record that had it, from 1.
    last: usize,
    seen: Seen,
}

impl Seen {
    /// Notes a value.
    ///
    /// Errors: the kind that was seen before, and in which row, if this is another.
    pub fn note(&mut self, sign: Sign, at: Place) -> std::result::Result<(), (&'static str, usize)> {
        if let Some((kind, before)) = self.kind()
            && !belongs(sign, kind)
        {
            return Err((kind, before.row));
        }
        // A string beside the name of a float makes that a string, a number makes it a float; another kind fits neither.
        if let Some(before) = self.at(Sign::Name)
            && sign != Sign::Name
            && !NAMED.iter().any(|kind| belongs(sign, kind))
        {
            return Err(("a string", before.row));
        }
        self.first[sign as usize].get_or_insert(at);
        Ok(())
    }

    /// What the items of the lists are.
    pub fn item(&mut self) -> &mut Seen {
        self.item.get_or_insert_default()
    }

    /// What the fields of the records are.
    pub fn record(&mut self) -> &mut Record {
        self.record.get_or_insert_default()
    }

    /// Whether these are records.
    pub fn is_record(&self) -> bool {
        self.at(Sign::Record).is_some()
    }

    /// How many fields all records have together, missing ones included.
    pub fn cells(&self) -> usize {
        let below =
            |record: &Record| record.fields.iter().map(|field| field.seen.cells()).fold(0, usize::saturating_add);
        let own = |record: &Record| record.count.saturating_mul(record.fields.len()).saturating_add(below(record));
        let items = self.item.as_ref().map_or(0, |item| item.cells());
        items.saturating_add(self.record.as_ref().map_or(0, |record| own(record)))
    }

    /// The spec of a batch of these records, as far as it is wanted.
    ///
    /// Errors, each with its path: nothing but other values than records; integers that fit no dtype; a name that no field may
    /// have.
    pub fn batch(&self, wanted: &Wanted) -> Result<Spec> {
        let found = match (self.kind(), self.at(Sign::Null)) {
            (Some(("a record", _)), None) => self.element(Dim::any(), &mut Vec::new())?,
            (Some(("a record", _)), Some(null)) => return Err(no_record("null", null)),
            (Some((kind, at)), _) => return Err(no_record(kind, at)),
            (None, Some(null)) => return Err(no_record("null", null)),
            (None, None) => {
                let error = Error::value("there are no records").wanted("at least one");
                return Err(error.hint("Give a spec to read an empty input"));
            }
        };
        wanted.of(&found)
    }

    fn at(&self, sign: Sign) -> Option<Place> {
        self.first[sign as usize]
    }

    /// The kind of the values, and where it was first seen; names of floats have none of their own.
    fn kind(&self) -> Option<(&'static str, Place)> {
        KINDS.iter().find_map(|(kind, signs)| {
            let first = signs.iter().filter_map(|sign| self.at(*sign)).min_by_key(|at| at.byte);
            first.map(|at| (*kind, at))
        })
    }

    /// The spec of `rows` values, null among them or not.
    fn element(&self, rows: Dim, at: &mut Vec<Segment>) -> Result<Spec> {
        let of = |dtype| Spec::from(TensorSpec::new(dtype, Shape::new([rows])));
        match (self.kind(), self.at(Sign::Name)) {
            (Some(("true or false", _)), _) => Ok(of(DType::Bool)),
            (Some(("a number", _)), name) => Ok(of(self.number(name, at)?)),
            (Some(("a list", _)), _) => self.list(rows, at),
            (Some(("a record", _)), _) => match &self.record {
                Some(record) => record.spec(rows, at),
                None => Ok(StructSpec::bare(Shape::new([rows])).serialize().into()),
            },
            (Some(_), _) | (None, Some(_)) => Ok(of(DType::String)),
            (None, None) => Ok(of(DType::F64)),
        }
    }

    /// [`Seen::element`], masked if null is among the values or records lack the field.
    fn place(&self, rows: Dim, missing: bool, at: &mut Vec<Segment>) -> Result<Spec> {
        let spec = self.element(rows, at)?;
        let masked = missing || self.at(Sign::Null).is_some();
        Ok(if masked { optional_spec(spec, rows) } else { spec })
    }

    fn number(&self, name: Option<Place>, at: &[Segment]) -> Result<DType> {
        let refused = |place: Place, what: String, wanted: &str| {
            let path: Path = at.iter().cloned().collect();
            let error = Error::data(what).wanted(wanted).hint("Give a spec with f64, which rounds them");
            error.at(format!("row {}, byte {}, '{path}'", place.row, place.byte))
        };
        if self.at(Sign::Decimal).is_some() {
            return Ok(DType::String);
        }
        if let Some(float) = self.at(Sign::Float).or(name) {
            return self.at(Sign::Rounded).map_or(Ok(DType::F64), |place| {
                let what = format!("an integer came that f64 does not hold, beside a float in row {}", float.row);
                Err(refused(place, what, "integers that f64 holds, or no floats beside them"))
            });
        }
        let beyond = |place, what| refused(place, what, "integers that all fit i64, or all fit u64");
        match (self.at(Sign::Huge), self.at(Sign::Big), self.at(Sign::Negative)) {
            (Some(place), _, _) => Err(beyond(place, "an integer came that fits neither i64 nor u64".into())),
            (None, Some(place), Some(negative)) => {
                let what = format!("an integer above i64 came, and one below zero in row {}", negative.row);
                Err(beyond(place, what))
            }
            (None, Some(_), None) => Ok(DType::U64),
            (None, None, _) => Ok(DType::I64),
        }
    }

    fn list(&self, rows: Dim, at: &mut Vec<Segment>) -> Result<Spec> {
        let items = Dim::any();
        at.push(Segment::Each);
        let unseen = Seen::default();
        let item = self.item.as_deref().unwrap_or(&unseen).place(items, false, at)?;
        at.pop();
        Ok(list_spec(item, rows, items))
    }
}

impl Record {
    /// Begins with the next record, and gets its number, from 1.
    pub fn open(&mut self) -> usize {
        self.count += 1;
        self.count
    }

    /// What a field of the record with this number is, to be noted.
    ///
    /// `next` is where the field is expected, and is moved behind it; `room` is how many fields may be new.
    /// Errors: the record has the field already; there is no room; an empty name.
    pub fn field(
        &mut self,
        name: &str,
        number: usize,
        next: &mut usize,
        room: &mut usize,
    ) -> Result<(Arc<str>, &mut Seen)> {
        let place = match self.fields.get(*next) {
            Some(field) if *field.name == *name => *next,
            _ => match self.places.get(name) {
                Some(place) => *place,
                None => self.add(name, room)?,
            },
        };
        *next = place + 1;
        let field = &mut self.fields[place];
        if field.last == number {
            return Err(Error::data(format!("the key \"{name}\" came a second time")).wanted("each key once"));
        }
        (field.last, field.count) = (number, field.count + 1);
        Ok((field.name.clone(), &mut field.seen))
    }

    fn add(&mut self, name: &str, room: &mut usize) -> Result<usize> {
        if name.is_empty() {
            let error = Error::data("the name of a field is empty").wanted("a name");
            return Err(error.hint("Give a spec, or paths; what they leave out is read over"));
        }
        *room = room.checked_sub(1).ok_or_else(too_many)?;
        let name: Arc<str> = name.into();
        self.places.insert(name.clone(), self.fields.len());
        self.fields.push(Field { name, count: 0, last: 0, seen: Seen::default() });
        Ok(self.fields.len() - 1)
    }

    fn spec(&self, rows: Dim, at: &mut Vec<Segment>) -> Result<Spec> {
        let mut fields = Vec::with_capacity(self.fields.len());
        for field in &self.fields {
            at.push(Segment::Field(field.name.clone()));
            let spec = field.seen.place(rows, field.count < self.count, at)?;
            fields.push((field.name.clone(), spec));
            at.pop();
        }
        if fields.is_empty() {
            return Ok(StructSpec::bare(Shape::new([rows])).serialize().into());
        }
        Ok(Spec::from(StructSpec::new(1, fields)?.serialize()))
    }
}

/// Whether f64 does not hold the integer of these digits, which may have a sign; what is no integer is none. The digits by which other
/// writers name a float that is whole, the fewest and then zeros, are that float.
pub fn is_rounded(digits: &str) -> bool {
    let value = digits.strip_prefix(['-', '+']).unwrap_or(digits).trim_start_matches('0');
    // Fifteen digits are below 2^53.
    if value.len() <= 15 || !value.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    // Most integers are told without a text of the float: it holds them, or they do not end as the fewest digits do.
    match value.parse::<u128>() {
        Ok(whole) if value.len() < 39 && (whole as f64) as u128 == whole => return false,
        Ok(_) if !value.ends_with('0') => return true,
        Ok(_) | Err(_) => {}
    }
    value.parse().is_ok_and(|float: f64| format!("{float:.0}") != value && format!("{float}") != value)
}

fn belongs(sign: Sign, kind: &str) -> bool {
    match sign {
        Sign::Null => true,
        Sign::Name => NAMED.contains(&kind),
        _ => KINDS.iter().any(|(name, signs)| *name == kind && signs.contains(&sign)),
    }
}

fn no_record(what: &str, at: Place) -> Error {
    let error = Error::data(format!("{what} came")).wanted("a record in each row").hint("Give a spec of other values");
    error.at(format!("row {}, byte {}", at.row, at.byte))
}

/// What is said of records of more fields.
pub fn too_many() -> Error {
    let error = Error::value(format!("the records have more than {MAX_FIELDS} fields"));
    error.wanted("the same fields in most records").hint("Give a spec, or paths, if the keys are data")
}

/// How deep lists and records may nest: each level may be optional, and a plan is at most [`crate::plan::MAX_DEPTH`] deep.
pub const MAX_NESTING: usize = MAX_LEVELS;
