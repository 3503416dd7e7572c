//! Examples: the maps of features that TensorFlow writes, `tf.train.Example` and `SequenceExample`.
//!
//! A record of the plan is the map, by name; of a sequence example, a record of two, `context` and `feature_lists`. A feature of
//! exactly so many values is a scalar or dense axes, one of any number a list, one that may be missing masked; in `feature_lists`,
//! each is the item of a list over the steps. Source: TensorFlow's `core/example/example.proto` and `feature.proto`.
//!
//! Invariant: features that nobody needs are read over, whatever they hold; of a name that comes twice the last holds.

mod read;

use super::meant::Form;
use super::wire::Span;
use crate::columns::Columns;
use crate::failure::Read;
use crate::plan::{self, ColumnId, Plan, fills};
use crate::spelled;
use extenso_ext::Spelling;
use extenso_types::{DType, DTypeKind, Error, Path, Result, Segment};
use read::{Came, Reader};
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
                &format!("a feature cannot hold {}", plan.what()),
                "integers, booleans, f32, f64, bytes, strings, times, decimals, or lists of these",
            ));
        }
    };
    Ok(Feature { name: name.clone(), steps, optional, row, size, holds, spelled, column, defaults })
}

/// The error of a plan at a path.
pub fn refuse(at: &Path, what: &str, wanted: &str) -> Error {
    super::compile::refuse(at, what.to_string(), wanted)
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
