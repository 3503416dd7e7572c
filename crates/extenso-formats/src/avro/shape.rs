//! From a schema to nodes: what of it is wanted, and what each type is in Arrow.
//!
//! Invariant: what is not wanted has no column. There are at most so many nodes, however often a schema names a type.

use super::node::{Branch, Child, Data, Node, Part, Tags, Union, no_bits, no_ends, words_of};
use super::numbers::{Cell, Ints};
use super::schema::{Kind, Schema, TEXT, Type, TypeId};
use crate::arrow::no_column;
use crate::needs::Needs;
use crate::plan::MAX_FIXED;
use crate::project::{MAX_LEVELS, Wanted};
use crate::records::{is, is_record};
use crate::seen::MAX_FIELDS;
use arrow_schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use arrow_schema::{DataType, Field, FieldRef, IntervalUnit, TimeUnit, UnionFields, UnionMode};
use extenso_core::TypeSpec;
use extenso_ext::{MaskedTensorSpec, RaggedTensorSpec, StructSpec, UnionSpec};
use extenso_types::{DType, Error, ExtSpec, Path, Result, Segment, Spec};
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// What is wanted of the values at one place.
#[derive(Clone, Copy)]
pub enum Want<'a> {
    All,
    /// How many there are.
    Nothing,
    Paths(&'a Wanted),
    Spec(&'a Spec),
    /// What a function needs of its argument, of the rows.
    Argument(&'a Needs),
    /// The value of the only field.
    Only(&'a Spec),
}

/// The node of the rows.
///
/// Errors: a path that leads nowhere; a field of a spec that the file lacks and that is not optional, with those that there are; a record
/// that holds itself, where all of it is wanted; too many fields.
pub fn compile(schema: &Schema, want: Want<'_>) -> Result<Node> {
    let want = match want {
        Want::Argument(needs) => match &needs.spec {
            Some(spec) if schema.columns().map_or(Ok(false), |columns| needs.in_column(&columns))? => Want::Only(spec),
            Some(spec) => Want::Spec(spec),
            None => Want::Nothing,
        },
        Want::Spec(spec) if schema.holds(spec)? => Want::Only(spec),
        want => want,
    };
    Compiler { schema, nodes: 0, above: Vec::new() }.node(schema.root, want, "", &Path::root())
}

struct Compiler<'s> {
    schema: &'s Schema,
    nodes: usize,
    /// The records around the one that is looked at.
    above: Vec<TypeId>,
}

/// A value's column, before it has a name.
struct Made {
    data_type: DataType,
    data: Data,
    weight: usize,
    ordered: bool,
    /// The name of an extension type, where the logical type is one.
    extension: Option<&'static str>,
}

impl Made {
    fn new(data_type: DataType, data: Data, weight: usize) -> Made {
        Made { data_type, data, weight, ordered: false, extension: None }
    }
}

impl Compiler<'_> {
    fn node(&mut self, id: TypeId, want: Want<'_>, name: &str, at: &Path) -> Result<Node> {
        self.nodes += 1;
        if self.nodes > MAX_FIELDS || at.segments().len() > MAX_LEVELS {
            let what = if self.nodes > MAX_FIELDS { "there are too many fields" } else { "the records nest too deep" };
            let error = Error::value(what).wanted(format!("at most {MAX_FIELDS} fields and {MAX_LEVELS} levels"));
            return Err(error.hint("Give `paths` or a spec of fewer").at_path(at));
        }
        let schema = self.schema;
        let mut of = schema.of(id);
        let (mut tags, mut inner) = (None, id);
        if let Kind::Union(branches) = &of.kind {
            let there: Vec<TypeId> = branches.iter().copied().filter(|id| schema.of(*id).kind != Kind::Null).collect();
            let null = branches.iter().position(|id| schema.of(*id).kind == Kind::Null);
            // A union of null alone has no other type.
            if let [only] | [only, ..] = there.as_slice()
                && there.len() == 1
                && schema.of(*only).flag("arrowUnion") != Some(true)
            {
                (tags, inner) = (Some(Tags { count: branches.len(), null }), *only);
                of = schema.of(inner);
            } else if there.is_empty() {
                (tags, inner) = (Some(Tags { count: 1, null: None }), branches[0]);
                of = schema.of(inner);
            }
        }
        let nullable = tags.is_some_and(|tags| tags.null.is_some());
        let want = unmasked(want);
        let made = self.value(inner, of, want, at)?;
        let empty = schema.of(id).empty;
        let validity = nullable.then(no_bits);
        let weight = made.weight.max(1).saturating_add(usize::from(nullable));
        Ok(Node { field: named(name, &made, of), tags, validity, data: made.data, weight, empty })
    }

    fn value(&mut self, id: TypeId, of: &Type, want: Want<'_>, at: &Path) -> Result<Made> {
        let all = matches!(want, Want::All);
        if let (Want::Nothing, _) | (_, Kind::Null) = (want, &of.kind) {
            let nothing = if of.kind == Kind::Null { DataType::Null } else { DataType::Struct(Default::default()) };
            return Ok(Made::new(nothing, Data::Over(id), 8));
        }
        if let (Want::Paths(wanted), false) =
            (want, matches!(of.kind, Kind::Record { .. } | Kind::Array(_) | Kind::Map(_) | Kind::Union(_)))
            && !wanted.is_all()
        {
            let error = Error::missing(format!("'{at}' is of type {}, and the path goes on", of.short()));
            return Err(error.wanted("the end of the path"));
        }
        match &of.kind {
            Kind::Record { fields, .. } => {
                if all && self.above.contains(&id) {
                    let error = Error::value(format!("record {} holds itself", of.short())).wanted("an end of it");
                    return Err(error.hint("Give `paths` or a spec that say how deep to follow it").at_path(at));
                }
                self.above.push(id);
                let made = self.record(fields, want, at);
                self.above.pop();
                made
            }
            Kind::Array(item) => {
                let axis = match want {
                    Want::Paths(wanted) if of.int("arrowFixedSize").is_some() => wanted.along_axis().map(part),
                    _ => None,
                };
                let inside = axis.map_or_else(|| self.item(want, at), Ok)?;
                let item = self.node(*item, inside, "item", &at.child(Segment::Each))?;
                Ok(list(of, item))
            }
            Kind::Map(value) => {
                let item = self.entry(*value, self.item(want, at)?, &at.child(Segment::Each))?;
                Ok(list(of, item))
            }
            Kind::Union(branches) => self.union(branches, want, at),
            kind => Ok(leaf(kind, of, want)),
        }
    }

    /// What is wanted of the items of a list.
    fn item<'a>(&self, want: Want<'a>, at: &Path) -> Result<Want<'a>> {
        Ok(match want {
            Want::Paths(wanted) => part(wanted.only_item(at)?),
            Want::Spec(Spec::Ext(ext)) if is::<RaggedTensorSpec>(ext) => {
                let item = ext.components.iter().map(|(_, spec)| spec).find(|spec| !matches!(spec, Spec::Partition(_)));
                item.map_or(Want::All, Want::Spec)
            }
            Want::Spec(_) | Want::Only(_) | Want::Argument(_) | Want::All => Want::All,
            Want::Nothing => Want::Nothing,
        })
    }

    /// An entry of a map: a record of its key and its value.
    fn entry(&mut self, value: TypeId, want: Want<'_>, at: &Path) -> Result<Node> {
        let fields = [("key", TEXT), ("value", value)];
        let fields = fields.map(|(name, of)| super::schema::Field { name: name.into(), of });
        let made = self.record(&fields, unmasked(want), at)?;
        let (weight, data_type) = (made.weight.max(1), made.data_type);
        let field = Arc::new(Field::new("item", data_type, true));
        Ok(Node { field, tags: None, validity: None, data: made.data, weight, empty: false })
    }

    fn record(&mut self, fields: &[super::schema::Field], want: Want<'_>, at: &Path) -> Result<Made> {
        match want {
            Want::Paths(wanted) if !wanted.is_all() => wanted.check_fields(at, fields.iter().map(|f| &*f.name))?,
            Want::Spec(Spec::Ext(ext)) if is::<StructSpec>(ext) || is_record(ext) => all_there(ext, fields, at)?,
            _ => {}
        }
        let (mut parts, mut solid, mut hollow, mut weight, mut arrow) =
            (Vec::new(), Vec::new(), 0_usize, 1_usize, Vec::new());
        for field in fields {
            let wanted = match want {
                Want::Paths(wanted) => wanted.field(&field.name).map(part),
                Want::Spec(Spec::Ext(ext)) if is_record(ext) => {
                    ext.component(&Segment::Field(field.name.clone())).map(Want::Spec)
                }
                Want::Only(spec) => Some(Want::Spec(spec)),
                Want::Spec(_) | Want::All => Some(Want::All),
                Want::Nothing | Want::Argument(_) => None,
            };
            let empty = self.schema.of(field.of).empty;
            if !empty {
                solid.push(parts.len());
            }
            parts.push(match wanted {
                Some(want) => {
                    let node = self.node(field.of, want, &field.name, &at.child(Segment::Field(field.name.clone())))?;
                    weight = weight.saturating_add(node.weight);
                    hollow = hollow.saturating_add(if empty { node.weight } else { 0 });
                    arrow.push(node.field.clone());
                    Part::Read(node)
                }
                None => Part::Over(field.of),
            });
        }
        Ok(Made::new(DataType::Struct(arrow.into()), Data::Record { parts, solid, hollow }, weight))
    }

    fn union(&mut self, branches: &[TypeId], want: Want<'_>, at: &Path) -> Result<Made> {
        let schema = self.schema;
        let names = names_of(schema, branches);
        let spec = match want {
            Want::Spec(Spec::Ext(ext)) if is::<UnionSpec>(ext) => UnionSpec::deserialize(ext).ok(),
            _ => None,
        };
        // The children of a spec that the file has, in its order and by its ids.
        let spec = spec.filter(|spec| {
            let there = |name: &str| names.iter().any(|(_, known)| **known == *name);
            !spec.children().is_empty() && spec.children().iter().all(|(_, name, _)| there(name))
        });
        if let Want::Paths(wanted) = want {
            wanted.check_fields(at, names.iter().map(|(_, name)| &**name))?;
        }
        let mut places: Vec<(usize, Arc<str>, i8, Want<'_>)> = Vec::new();
        for (branch, name) in &names {
            let given = spec.as_ref().and_then(|spec| spec.children().iter().find(|(_, known, _)| known == name));
            let said = schema.of(branches[*branch]).int("arrowTypeId").and_then(|id| i8::try_from(id).ok());
            let id = given.map(|(id, ..)| *id).or(said).unwrap_or(i8::try_from(places.len()).unwrap_or(i8::MAX));
            let want = match (given, want) {
                (Some((_, _, spec)), _) => Want::Spec(spec),
                (None, Want::Paths(wanted)) => match wanted.field(name) {
                    Some(wanted) => part(wanted),
                    None => continue,
                },
                (None, _) if spec.is_some() => continue,
                (None, _) => Want::All,
            };
            places.push((*branch, name.clone(), id, want));
        }
        if let Some(spec) = &spec {
            let order = |name: &str| spec.children().iter().position(|(_, known, _)| **known == *name);
            places.sort_by_key(|(_, name, ..)| order(name));
        } else if !distinct(&places) {
            (0..).zip(&mut places).for_each(|(i, place)| place.2 = i);
        }
        let holds_null = places.len() < branches.len();
        let masked = |spec: &Spec| matches!(spec, Spec::Ext(ext) if is::<MaskedTensorSpec>(ext));
        let holder = spec.as_ref().and_then(|spec| spec.children().iter().position(|(_, _, spec)| masked(spec)));
        let null = holder.unwrap_or(0);
        let said = || branches.iter().any(|branch| schema.of(*branch).flag("arrowDense") == Some(true));
        let dense = spec.as_ref().map_or_else(said, |spec| spec.offsets().is_some());
        let over = |id: &TypeId| if schema.of(*id).kind == Kind::Null { Branch::Null } else { Branch::Over(*id) };
        let mut slots: Vec<Branch> = branches.iter().map(over).collect();
        let (mut children, mut fields) = (Vec::new(), Vec::new());
        for (place, (branch, name, id, want)) in places.into_iter().enumerate() {
            slots[branch] = Branch::Child(place);
            let mut node = self.boxed(branches[branch], want, &name, &at.child(Segment::Field(name.clone())))?;
            if holds_null && place == null && node.validity.is_none() {
                node.validity = Some(no_bits());
            }
            fields.push((id, node.field.clone()));
            children.push(Child { id, node, len: 0 });
        }
        let weights = children.iter().map(|child| child.node.weight);
        let weight = if dense { 5 + children[null].node.weight } else { weights.fold(1, usize::saturating_add) };
        let mode = if dense { UnionMode::Dense } else { UnionMode::Sparse };
        let fields = UnionFields::try_new(fields.iter().map(|(id, _)| *id), fields.iter().map(|(_, f)| f.clone()));
        let fields = fields.map_err(|e| Error::internal(format!("Arrow refuses a union: {e}")))?;
        let offsets = dense.then(Vec::new);
        let union = Union { branches: slots, children, null, ids: Vec::new(), offsets };
        Ok(Made::new(DataType::Union(fields, mode), Data::Union(Box::new(union)), weight))
    }

    /// The node of a type of a union, which may stand in a record of one field to be told from another of its kind.
    fn boxed(&mut self, id: TypeId, want: Want<'_>, name: &str, at: &Path) -> Result<Node> {
        let of = self.schema.of(id);
        match &of.kind {
            Kind::Record { fields, .. } if of.flag("arrowBoxed") == Some(true) && fields.len() == 1 => {
                self.node(fields[0].of, want, name, at)
            }
            _ => self.node(id, want, name, at),
        }
    }
}

/// What is wanted below a path.
fn part(wanted: &Wanted) -> Want<'_> {
    if wanted.is_all() { Want::All } else { Want::Paths(wanted) }
}

/// What is wanted of values under a mask.
fn unmasked(want: Want<'_>) -> Want<'_> {
    match want {
        Want::Spec(Spec::Ext(ext)) if is::<MaskedTensorSpec>(ext) => {
            ext.component(&Segment::Itself).map_or(Want::All, |inner| unmasked(Want::Spec(inner)))
        }
        Want::Paths(wanted) => part(wanted),
        want => want,
    }
}

/// Checks that a record has the fields of a spec, but for optional ones.
fn all_there(ext: &ExtSpec, fields: &[super::schema::Field], at: &Path) -> Result<()> {
    for (segment, spec) in &ext.components {
        let optional = matches!(spec, Spec::Ext(ext) if is::<MaskedTensorSpec>(ext));
        let Segment::Field(name) = segment else { continue };
        if !optional && fields.iter().all(|field| field.name != *name) {
            let known: Vec<&str> = fields.iter().map(|field| &*field.name).collect();
            return Err(no_column(&at.child(segment.clone()), &known, spec));
        }
    }
    Ok(())
}

/// The types of a union but null, by their places, and what each is called.
fn names_of(schema: &Schema, branches: &[TypeId]) -> Vec<(usize, Arc<str>)> {
    let mut names: Vec<(usize, Arc<str>)> = Vec::new();
    for (i, id) in branches.iter().enumerate().filter(|(_, id)| schema.of(**id).kind != Kind::Null) {
        let of = schema.of(*id);
        let own = of.text("arrowName").cloned().unwrap_or_else(|| of.short().into());
        let known = |name: &str| names.iter().any(|(_, other)| **other == *name);
        // Types of two namespaces may have one name.
        let full = if known(&own) { of.name.clone().unwrap_or_else(|| own.clone()) } else { own };
        let mut name = full.clone();
        for n in 2.. {
            if !known(&name) {
                break;
            }
            name = format!("{full} {n}").into();
        }
        names.push((i, name));
    }
    names
}

fn distinct(places: &[(usize, Arc<str>, i8, Want<'_>)]) -> bool {
    let ids: std::collections::HashSet<i8> = places.iter().map(|place| place.2).filter(|id| *id >= 0).collect();
    ids.len() == places.len()
}

fn list(of: &Type, item: Node) -> Made {
    let sized = of.int("arrowFixedSize").and_then(|size| usize::try_from(size).ok());
    let size = sized.filter(|size| *size <= MAX_FIXED && matches!(of.kind, Kind::Array(_)));
    let (field, weight) = (item.field.clone(), item.weight);
    let (data_type, weight) = match size {
        // A size that fits memory fits Arrow's.
        Some(size) => (
            DataType::FixedSizeList(field, i32::try_from(size).unwrap_or(i32::MAX)),
            weight.saturating_mul(size).saturating_add(8),
        ),
        None if of.flag("arrowLargeList") == Some(false) => (DataType::List(field), 8),
        None => (DataType::LargeList(field), 8),
    };
    Made::new(data_type, Data::List { ends: no_ends(), size, item: Box::new(item) }, weight)
}

/// A value without parts.
fn leaf(kind: &Kind, of: &Type, want: Want<'_>) -> Made {
    let logical = of.text("logicalType").map_or("", |text| &**text);
    let text = |utf8: bool| {
        Made::new(
            if utf8 { DataType::LargeUtf8 } else { DataType::LargeBinary },
            Data::Text { utf8, ends: no_ends(), bytes: Vec::new() },
            8,
        )
    };
    let cells = |data_type: DataType, cell: Cell, width: usize| {
        Made::new(data_type, Data::Cells { cell, width, bytes: Vec::new() }, width)
    };
    let spelled = matches!(want, Want::Spec(Spec::Tensor(tensor)) if tensor.dtype == DType::String);
    match kind {
        Kind::Bool => Made::new(DataType::Boolean, Data::Bool(no_bits()), 1),
        Kind::Float => Made::new(DataType::Float32, Data::Float(Vec::new()), 4),
        Kind::Double => Made::new(DataType::Float64, Data::Double(Vec::new()), 8),
        Kind::Int | Kind::Long => {
            let int = *kind == Kind::Int;
            let data_type = number(int, logical, of.text("arrowZone"));
            let ints = Ints::of(&data_type).unwrap_or(Ints::I64(Vec::new()));
            let (width, range) = (ints.width(), range(int, &data_type));
            Made::new(data_type, Data::Ints(range, ints), width)
        }
        Kind::Text if logical == "uuid" && !spelled => {
            Made { extension: Some("arrow.uuid"), ..cells(DataType::FixedSizeBinary(16), Cell::Uuid, 16) }
        }
        Kind::Text => text(true),
        Kind::Fixed(size) => fixed(*size, logical, of),
        Kind::Enum(symbols) => {
            let key = match of.text("arrowIndex").map(|text| &**text) {
                Some("int8") => DataType::Int8,
                Some("int16") => DataType::Int16,
                Some("int64") => DataType::Int64,
                Some("uint8") => DataType::UInt8,
                Some("uint16") => DataType::UInt16,
                Some("uint32") => DataType::UInt32,
                _ => DataType::Int32,
            };
            let codes = Ints::of(&key).unwrap_or(Ints::I32(Vec::new()));
            let (width, words) = (codes.width(), words_of(symbols));
            let data_type = DataType::Dictionary(Box::new(key), Box::new(DataType::LargeUtf8));
            let made = Made::new(data_type, Data::Codes { words, codes }, width);
            Made { ordered: of.flag("arrowOrdered") == Some(true), ..made }
        }
        // What has parts was taken before.
        Kind::Bytes | Kind::Null | Kind::Array(_) | Kind::Map(_) | Kind::Union(_) | Kind::Record { .. } => {
            match decimal(logical, of) {
                Some((data_type, digits, width)) => cells(data_type, Cell::Decimal(None, digits), width),
                None => text(false),
            }
        }
    }
}

/// The numbers that there may be: those of the width, and of a time of day.
fn range(int: bool, data_type: &DataType) -> RangeInclusive<i64> {
    const DAY: i64 = 86_400;
    match data_type {
        DataType::Time32(unit) | DataType::Time64(unit) => {
            let per_second = match unit {
                TimeUnit::Second => 1,
                TimeUnit::Millisecond => 1_000,
                TimeUnit::Microsecond => 1_000_000,
                TimeUnit::Nanosecond => 1_000_000_000,
            };
            0..=DAY * per_second - 1
        }
        _ if int => i32::MIN.into()..=i32::MAX.into(),
        _ => i64::MIN..=i64::MAX,
    }
}

/// What integers count.
fn number(int: bool, logical: &str, zone: Option<&Arc<str>>) -> DataType {
    let zone = Some(zone.cloned().unwrap_or_else(|| "UTC".into()));
    match (int, logical) {
        (true, "date") => DataType::Date32,
        (true, "time-millis") => DataType::Time32(TimeUnit::Millisecond),
        (true, "arrow.time32-second") => DataType::Time32(TimeUnit::Second),
        (true, "arrow.int8") => DataType::Int8,
        (true, "arrow.int16") => DataType::Int16,
        (true, "arrow.uint8") => DataType::UInt8,
        (true, "arrow.uint16") => DataType::UInt16,
        (true, _) => DataType::Int32,
        (false, "time-micros") => DataType::Time64(TimeUnit::Microsecond),
        (false, "arrow.time64-nanosecond") => DataType::Time64(TimeUnit::Nanosecond),
        (false, "timestamp-millis") => DataType::Timestamp(TimeUnit::Millisecond, zone),
        (false, "timestamp-micros") => DataType::Timestamp(TimeUnit::Microsecond, zone),
        (false, "timestamp-nanos") => DataType::Timestamp(TimeUnit::Nanosecond, zone),
        (false, "arrow.timestamp-second") => DataType::Timestamp(TimeUnit::Second, zone),
        (false, "local-timestamp-millis") => DataType::Timestamp(TimeUnit::Millisecond, None),
        (false, "local-timestamp-micros") => DataType::Timestamp(TimeUnit::Microsecond, None),
        (false, "local-timestamp-nanos") => DataType::Timestamp(TimeUnit::Nanosecond, None),
        (false, "arrow.local-timestamp-second") => DataType::Timestamp(TimeUnit::Second, None),
        (false, "arrow.duration-seconds") => DataType::Duration(TimeUnit::Second),
        (false, "arrow.duration-millis") => DataType::Duration(TimeUnit::Millisecond),
        (false, "arrow.duration-micros") => DataType::Duration(TimeUnit::Microsecond),
        (false, "arrow.duration-nanos") => DataType::Duration(TimeUnit::Nanosecond),
        (false, "arrow.date64") => DataType::Date64,
        (false, "arrow.uint32") => DataType::UInt32,
        (false, _) => DataType::Int64,
    }
}

/// The type of decimals of these digits, how many these are, and its width; none where they are no decimals, which then are bytes.
fn decimal(logical: &str, of: &Type) -> Option<(DataType, u8, usize)> {
    let precision = of.int("precision").filter(|_| logical == "decimal").and_then(|n| u8::try_from(n).ok())?;
    let scale = i8::try_from(of.int("scale").unwrap_or(0)).ok()?;
    let fits = scale >= 0 && u8::try_from(scale).is_ok_and(|scale| scale <= precision);
    match precision {
        1..=38 if fits && of.int("arrowDecimalBytes") != Some(32) => {
            Some((DataType::Decimal128(precision, scale), precision, 16))
        }
        1..=76 if fits => Some((DataType::Decimal256(precision, scale), precision, 32)),
        _ => None,
    }
}

fn fixed(size: usize, logical: &str, of: &Type) -> Made {
    let cells = |data_type: DataType, cell: Cell, width: usize| {
        Made::new(data_type, Data::Cells { cell, width, bytes: Vec::new() }, width)
    };
    let plain = || cells(DataType::FixedSizeBinary(i32::try_from(size).unwrap_or(i32::MAX)), Cell::Plain, size);
    match (logical, size) {
        ("decimal", _) => match decimal(logical, of) {
            Some((data_type, digits, width)) => cells(data_type, Cell::Decimal(Some(size), digits), width),
            None => plain(),
        },
        ("duration", 12) => cells(DataType::Interval(IntervalUnit::MonthDayNano), Cell::Span, 16),
        ("uuid", 16) => Made { extension: Some("arrow.uuid"), ..plain() },
        ("arrow.uint64", 8) => cells(DataType::UInt64, Cell::Plain, 8),
        ("arrow.float16", 2) => cells(DataType::Float16, Cell::Plain, 2),
        ("arrow.interval-year-month", 4) => cells(DataType::Interval(IntervalUnit::YearMonth), Cell::Plain, 4),
        ("arrow.interval-day-time", 8) => cells(DataType::Interval(IntervalUnit::DayTime), Cell::Plain, 8),
        ("arrow.interval-month-day-nano", 16) => cells(DataType::Interval(IntervalUnit::MonthDayNano), Cell::Plain, 16),
        _ => plain(),
    }
}

/// The field of a column, which says what type of an extension it is.
fn named(name: &str, made: &Made, of: &Type) -> FieldRef {
    let mut metadata = HashMap::new();
    if let Some(extension) = made.extension {
        metadata.insert(EXTENSION_TYPE_NAME_KEY.to_string(), extension.to_string());
        metadata.insert(EXTENSION_TYPE_METADATA_KEY.to_string(), String::new());
    } else if let Some(extension) = of.text("arrowExtension") {
        let said = of.text("arrowExtensionMetadata").map_or("", |text| &**text);
        metadata.insert(EXTENSION_TYPE_NAME_KEY.to_string(), extension.to_string());
        metadata.insert(EXTENSION_TYPE_METADATA_KEY.to_string(), said.to_string());
    }
    let field = Field::new(name, made.data_type.clone(), true).with_metadata(metadata);
    Arc::new(if made.ordered { field.with_dict_is_ordered(true) } else { field })
}
