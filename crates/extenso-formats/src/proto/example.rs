//! Examples: the maps of features that TensorFlow writes, `tf.train.Example` and `SequenceExample`.
//!
//! A record of the plan is the map, by name; of a sequence example, a record of two, `context` and `feature_lists`. A feature of
//! exactly so many values is a scalar or dense axes, one of any number a list, one that may be missing masked; in `feature_lists`,
//! each is the item of a list over the steps. Source: TensorFlow's `core/example/example.proto` and `feature.proto`.
//!
//! Invariant: features that nobody needs are read over, whatever they hold; of a name that comes twice the last holds.

use super::meant::{Form, push_text};
use super::number::{Number, Raw};
use super::push::pushed;
use super::read::check_utf8;
use super::wire::{Span, Tag, Wire, WireType};
use crate::columns::{Column, Columns};
use crate::failure::{Failure, Read};
use crate::plan::{self, ColumnId, Plan, fills};
use crate::spelled;
use extenso_ext::Spelling;
use extenso_types::{DType, DTypeKind, Error, Path, Result, Segment};
use std::collections::HashMap;
use std::sync::Arc;

/// Which of the two messages a record is.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Example {
    /// `tf.train.Example`.
    #[default]
    Plain,
    /// `tf.train.SequenceExample`.
    Sequence,
}

/// A plan made ready for reading examples.
#[derive(Debug)]
pub struct Examples(Vec<Map>);

/// A map of features.
#[derive(Debug)]
struct Map {
    /// The number of its field.
    number: u32,
    /// Its name in the record; an example is its only map.
    name: Option<Arc<str>>,
    /// Whether each value is a list of features.
    steps: bool,
    features: Vec<Feature>,
    places: HashMap<Arc<str>, usize>,
}

/// How a feature stands in columns.
#[derive(Debug)]
pub struct Feature {
    name: Arc<str>,
    /// Whether it has a value for each of some steps, and where the ends of these go.
    pub steps: Option<Option<ColumnId>>,
    /// Whether it may be missing, and where that goes.
    pub optional: Option<Option<ColumnId>>,
    /// Where the ends of rows go, if it has any number of values.
    pub row: Option<Option<ColumnId>>,
    /// How many values it has, or how many an item of its rows has.
    pub size: usize,
    pub holds: Holds,
    /// How its byte strings are decimals or bytes of one width, if they are.
    pub spelled: Option<(Form, Spelling)>,
    pub column: Option<ColumnId>,
    defaults: Vec<(ColumnId, usize)>,
}

/// What a feature holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Holds {
    Bytes {
        utf8: bool,
    },
    Floats,
    Integers,
    /// Integers that are booleans: 0 and 1.
    Flags,
    /// Nobody needs its values.
    Anything,
}

impl Holds {
    /// The number of its field.
    fn number(self) -> Option<u32> {
        match self {
            Holds::Bytes { .. } => Some(1),
            Holds::Floats => Some(2),
            Holds::Integers | Holds::Flags => Some(3),
            Holds::Anything => None,
        }
    }
}

/// What an error calls the kinds of lists, by their numbers.
fn kind_name(number: u32) -> &'static str {
    match number {
        1 => "byte strings",
        2 => "floats",
        3 => "integers",
        _ => "nothing",
    }
}

impl Examples {
    /// Makes a checked plan ready.
    ///
    /// Errors, each with its path: a plan that is no record; a feature that examples cannot hold.
    pub fn new(plan: &Plan, example: Example) -> Result<Examples> {
        maps(plan, example)?.into_iter().map(map).collect::<Result<_>>().map(Examples)
    }

    /// Reads a record.
    pub fn read(&self, bytes: &[u8], groups: &mut Vec<u32>, columns: &mut Columns) -> Read<()> {
        let mut counts: Vec<Vec<Came>> = self.0.iter().map(|map| vec![Came::default(); map.features.len()]).collect();
        let mut reader = Reader { bytes, groups, columns };
        let whole = Span { start: 0, end: bytes.len() };
        reader.each(whole, |reader, tag, wire| {
            match self.0.iter().zip(&mut counts).find(|(map, _)| map.number == tag.number) {
                Some((map, came)) => {
                    let span = reader.sized(tag, wire)?;
                    inside(map.name.as_ref(), reader.map(map, came, span))
                }
                None => reader.skip(tag, wire),
            }
        })?;
        for (map, came) in self.0.iter().zip(&counts) {
            let end = map.features.iter().zip(came).try_for_each(|(feature, came)| {
                reader.end(feature, came).map_err(|e| e.inside(Segment::Field(feature.name.clone())))
            });
            inside(map.name.as_ref(), end)?;
        }
        Ok(())
    }
}

fn inside(name: Option<&Arc<str>>, read: Read<()>) -> Read<()> {
    match name {
        Some(name) => read.map_err(|e| e.inside(Segment::Field(name.clone()))),
        None => read,
    }
}

fn record<'a>(plan: &'a Plan, at: &Path) -> Result<&'a [plan::Field]> {
    match plan {
        Plan::Record { fields } => Ok(fields),
        _ => Err(refuse(at, "examples are records", "a struct")),
    }
}

/// A map of features: the number of its field, its name in the record, whether each value is a list of features, and the features.
pub type Parts<'p> = (u32, Option<Arc<str>>, bool, &'p [plan::Field]);

/// The maps of a record of examples.
///
/// Errors: a plan that is no record, or has other maps, with the path.
pub fn maps(plan: &Plan, example: Example) -> Result<Vec<Parts<'_>>> {
    let root = Path::root();
    let fields = record(plan, &root)?;
    if example == Example::Plain {
        return Ok(vec![(1, None, false, fields)]);
    }
    let mut maps = Vec::new();
    for plan::Field { name, plan } in fields.iter().filter(|field| !field.plan.is_unused()) {
        let at = root.child(Segment::Field(name.clone()));
        let (number, steps) = match &**name {
            "context" => (1, false),
            "feature_lists" => (2, true),
            _ => return Err(refuse(&at, "a sequence example has no such map", "context or feature_lists")),
        };
        maps.push((number, Some(name.clone()), steps, record(plan, &at)?));
    }
    Ok(maps)
}

fn map((number, name, steps, fields): Parts<'_>) -> Result<Map> {
    let root = Path::root();
    let at = name.as_ref().map_or(root.clone(), |name| root.child(Segment::Field(name.clone())));
    let mut features = Vec::new();
    for plan::Field { name, plan } in fields.iter().filter(|field| !field.plan.is_unused()) {
        features.push(feature(name, steps, plan, &at.child(Segment::Field(name.clone())))?);
    }
    let places = features.iter().enumerate().map(|(place, feature)| (feature.name.clone(), place)).collect();
    Ok(Map { number, name, steps, features, places })
}

/// How a feature of this plan stands in columns.
///
/// Errors: a plan that no feature can hold, with the path.
pub fn feature(name: &Arc<str>, steps: bool, plan: &Plan, at: &Path) -> Result<Feature> {
    let (steps, plan) = match plan {
        Plan::List { offsets, item, .. } if steps => (Some(*offsets), &**item),
        _ if steps => return Err(refuse(at, "a list of features is read as one value", "a list, of the steps")),
        plan => (None, plan),
    };
    let (optional, plan) = match plan {
        Plan::Optional { validity, inner } => (Some(*validity), &**inner),
        plan => (None, plan),
    };
    let defaults = fills(plan);
    let (row, mut plan) = match plan {
        Plan::List { offsets, item, .. } => (Some(*offsets), &**item),
        plan => (None, plan),
    };
    let mut size = 1;
    while let Plan::Fixed { size: more, item } = plan {
        (size, plan) = (size * more, item);
    }
    let mut spelled = None;
    let (holds, column) = match plan {
        Plan::Skip => (Holds::Anything, None),
        Plan::Spelled { spelling, column } if spelling.is_time() => (Holds::Integers, Some(*column)),
        Plan::Spelled { spelling, column } => {
            let form = if spelling.is_cells() { Form::Bytes } else { Form::Text };
            spelled = Some((form, spelling.clone()));
            (Holds::Bytes { utf8: form == Form::Text }, Some(*column))
        }
        Plan::Scalar { dtype: DType::Bool, column } => (Holds::Flags, Some(*column)),
        Plan::Text { dtype, column, .. } => (Holds::Bytes { utf8: *dtype == DType::String }, Some(*column)),
        Plan::Scalar { dtype: DType::F32 | DType::F64, column } => (Holds::Floats, Some(*column)),
        Plan::Scalar { dtype, column } if matches!(dtype.kind(), DTypeKind::Signed | DTypeKind::Unsigned) => {
            (Holds::Integers, Some(*column))
        }
        _ => {
            return Err(refuse(
                at,
                "a feature cannot hold this",
                "integers, booleans, f32, f64, bytes, strings, times, decimals, or lists of these",
            ));
        }
    };
    Ok(Feature { name: name.clone(), steps, optional, row, size, holds, spelled, column, defaults })
}

/// The error of a plan at a path.
pub fn refuse(at: &Path, what: &str, wanted: &str) -> Error {
    super::node::refuse(at, what.to_string(), wanted)
}

/// What came of a feature.
#[derive(Clone, Copy, Default, Debug)]
struct Came {
    /// How many values.
    values: usize,
    /// How many steps.
    steps: usize,
    /// The number of the list that came last, if any.
    kind: Option<u32>,
    at: usize,
    /// How long its columns were before it came.
    marks: Option<[usize; 3]>,
}

impl Feature {
    /// How many elements of its column a value has.
    pub fn elements(&self) -> usize {
        self.spelled.as_ref().map_or(1, |(_, spelling)| spelled::elements(spelling))
    }

    /// The columns of its values; the one of steps is written at the end.
    fn columns(&self) -> [Option<ColumnId>; 3] {
        [self.column, self.row.flatten(), self.optional.flatten()]
    }
}

struct Reader<'a, 'j> {
    bytes: &'j [u8],
    groups: &'a mut Vec<u32>,
    columns: &'a mut Columns,
}

impl<'j> Reader<'_, 'j> {
    /// Calls `f` with each field of a message.
    fn each(&mut self, span: Span, mut f: impl FnMut(&mut Self, Tag, &mut Wire<'j>) -> Read<()>) -> Read<()> {
        let mut wire = Wire::new(self.bytes, span);
        while !wire.is_done() {
            let tag = wire.tag()?;
            f(self, tag, &mut wire)?;
        }
        Ok(())
    }

    fn skip(&mut self, tag: Tag, wire: &mut Wire<'j>) -> Read<()> {
        wire.skip(tag, self.groups).map(drop)
    }

    fn sized(&mut self, tag: Tag, wire: &mut Wire<'j>) -> Read<Span> {
        super::read::expect(tag, WireType::Bytes)?;
        wire.sized()
    }

    fn map(&mut self, map: &Map, came: &mut [Came], span: Span) -> Read<()> {
        self.each(span, |reader, tag, wire| {
            if tag.number != 1 {
                return reader.skip(tag, wire);
            }
            let entry = reader.sized(tag, wire)?;
            reader.entry(map, came, entry)
        })
    }

    /// Reads a name and its feature, which may come in any order.
    fn entry(&mut self, map: &Map, came: &mut [Came], entry: Span) -> Read<()> {
        let mut name = Span::default();
        self.each(entry, |reader, tag, wire| {
            match tag.number {
                1 => name = reader.sized(tag, wire)?,
                _ => reader.skip(tag, wire)?,
            }
            Ok(())
        })?;
        let name = self.bytes.get(name.start..name.end).and_then(|name| std::str::from_utf8(name).ok());
        let Some(place) = name.and_then(|name| map.places.get(name)) else { return Ok(()) };
        let (feature, came) = (&map.features[*place], &mut came[*place]);
        self.take_back(feature, came);
        *came = Came { at: entry.start, marks: came.marks, ..Came::default() };
        let read = self.each(entry, |reader, tag, wire| match tag.number {
            2 if map.steps => {
                let list = reader.sized(tag, wire)?;
                reader.list(feature, came, list)
            }
            2 => {
                let value = reader.sized(tag, wire)?;
                reader.values(feature, came, value)
            }
            _ => reader.skip(tag, wire),
        });
        read.map_err(|e| e.inside(Segment::Field(feature.name.clone())))
    }

    /// Forgets what came of a feature before.
    fn take_back(&mut self, feature: &Feature, came: &mut Came) {
        let columns = feature.columns();
        match came.marks {
            None => came.marks = Some(columns.map(|id| id.and_then(|id| self.columns.get(id)).map_or(0, Column::len))),
            Some(marks) => {
                for (id, len) in columns.into_iter().zip(marks) {
                    if let Some(column) = id.and_then(|id| self.columns.get_mut(id)) {
                        column.truncate(len);
                    }
                }
            }
        }
    }

    /// Reads the steps of a feature, each of which is complete.
    fn list(&mut self, feature: &Feature, came: &mut Came, list: Span) -> Read<()> {
        self.each(list, |reader, tag, wire| {
            if tag.number != 1 {
                return reader.skip(tag, wire);
            }
            let value = reader.sized(tag, wire)?;
            let mut one = Came { at: value.start, ..Came::default() };
            let read = reader.values(feature, &mut one, value).and_then(|()| reader.value_end(feature, &one));
            read.map_err(|e| e.inside(Segment::Index(came.steps)))?;
            came.steps += 1;
            Ok(())
        })
    }

    /// Reads a feature's values. Lists of one kind go on, one of another kind begins anew.
    fn values(&mut self, feature: &Feature, came: &mut Came, value: Span) -> Read<()> {
        self.each(value, |reader, tag, wire| {
            if !(1..=3).contains(&tag.number) {
                return reader.skip(tag, wire);
            }
            let list = reader.sized(tag, wire)?;
            if came.kind.replace(tag.number) != Some(tag.number) {
                if let Some(column) = feature.column.and_then(|id| reader.columns.get_mut(id)) {
                    column.truncate(column.len().saturating_sub(came.values * feature.elements()));
                }
                came.values = 0;
            }
            if feature.holds == Holds::Anything || feature.holds.number() == Some(tag.number) {
                reader.each(list, |reader, item, wire| {
                    if item.number != 1 {
                        return reader.skip(item, wire);
                    }
                    came.values += reader.items(feature, tag.number, item, wire)?;
                    Ok(())
                })?;
            }
            Ok(())
        })
    }

    /// Reads values of a list, and says how many.
    fn items(&mut self, feature: &Feature, kind: u32, tag: Tag, wire: &mut Wire<'j>) -> Read<usize> {
        let number = match kind {
            2 => Number::Float,
            3 => Number::Int64,
            _ => {
                let span = self.sized(tag, wire)?;
                let text = wire.bytes(span);
                let column = feature.column.and_then(|id| self.columns.get_mut(id));
                if let (Some((form, spelling)), Some(column)) = (&feature.spelled, column) {
                    push_text(*form, spelling, text, column, span.start)?;
                    return Ok(1);
                }
                if feature.holds == (Holds::Bytes { utf8: true }) {
                    check_utf8(text, span.start)?;
                }
                if let Some(Column::Text(texts)) = feature.column.and_then(|id| self.columns.get_mut(id)) {
                    pushed(texts.push(text), span.start)?;
                }
                return Ok(1);
            }
        };
        if feature.holds == Holds::Flags {
            return self.flags(feature, tag, wire);
        }
        let column = feature.column.and_then(|id| self.columns.get_mut(id));
        if tag.wire == WireType::Bytes {
            let span = wire.sized()?;
            return number.read_packed(&mut Wire::new(self.bytes, span), column);
        }
        super::read::expect(tag, number.wire())?;
        // One number is packed ones of which there is one.
        let start = wire.at();
        number.read(wire)?;
        number.read_packed(&mut Wire::new(self.bytes, Span { start, end: wire.at() }), column)
    }

    /// Reads integers that are booleans, and says how many.
    fn flags(&mut self, feature: &Feature, tag: Tag, wire: &mut Wire<'j>) -> Read<usize> {
        let is_packed = tag.wire == WireType::Bytes;
        if !is_packed {
            super::read::expect(tag, Number::Int64.wire())?;
        }
        let start = wire.at();
        let part = if is_packed {
            wire.sized()?
        } else {
            wire.varint()?;
            Span { start, end: wire.at() }
        };
        let (mut numbers, mut n) = (Wire::new(self.bytes, part), 0);
        while !numbers.is_done() {
            let at = numbers.at();
            let bit = match Number::Int64.read(&mut numbers)? {
                Raw::Signed(0) => false,
                Raw::Signed(1) => true,
                other => {
                    return Err(Failure::new(at, Error::data(format!("the number {other} came")).wanted("0 or 1")));
                }
            };
            if let Some(Column::Bits(bits)) = feature.column.and_then(|id| self.columns.get_mut(id)) {
                bits.push(bit);
            }
            n += 1;
        }
        Ok(n)
    }

    /// Ends a feature of a record.
    fn end(&mut self, feature: &Feature, came: &Came) -> Read<()> {
        match feature.steps {
            Some(offsets) => self.row(offsets, came.steps, came.at),
            None => self.value_end(feature, came),
        }
    }

    /// Ends the values of a feature: there are as many as there should be, or it is missing.
    fn value_end(&mut self, feature: &Feature, came: &Came) -> Read<()> {
        if let (Some(kind), Some(wanted)) = (came.kind, feature.holds.number())
            && kind != wanted
        {
            let error = Error::data(format!("the feature holds {}", kind_name(kind)));
            return Err(Failure::new(came.at, error.wanted(kind_name(wanted))));
        }
        if let Some(validity) = feature.optional {
            let there = came.kind.is_some();
            if let Some(Column::Bits(bits)) = validity.and_then(|id| self.columns.get_mut(id)) {
                bits.push(there);
            }
            if !there {
                return self.fill(&feature.defaults, came.at);
            }
        }
        let wrong = |wanted: String| {
            let error = Error::data(format!("{} values came", came.values)).wanted(wanted);
            let hint = "Make the feature masked in the spec if examples may lack it";
            Failure::new(came.at, if came.kind.is_none() { error.hint(hint) } else { error })
        };
        match feature.row {
            None if came.values == feature.size => Ok(()),
            None => Err(wrong(feature.size.to_string())),
            Some(offsets) => match came.values.checked_div(feature.size) {
                Some(n) if n * feature.size == came.values => self.row(offsets, n, came.at),
                _ => Err(wrong(format!("a multiple of {}", feature.size))),
            },
        }
    }

    fn row(&mut self, offsets: Option<ColumnId>, count: usize, at: usize) -> Read<()> {
        match offsets.and_then(|id| self.columns.get_mut(id)) {
            Some(Column::Offsets(offsets)) => pushed(offsets.push_row(count), at),
            _ => Ok(()),
        }
    }

    fn fill(&mut self, defaults: &[(ColumnId, usize)], at: usize) -> Read<()> {
        for (id, n) in defaults {
            let filled = self.columns.get_mut(*id).map_or(Ok(()), |column| column.push_defaults(*n));
            filled.map_err(|e| Failure::new(at, e))?;
        }
        Ok(())
    }
}
