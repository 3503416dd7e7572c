//! What is made of the values at one place: columns that grow row by row, and the Arrow array that they become.
//!
//! Invariant: between rows every column holds as many values as its place has, and what a row wrote can be taken back. Recursion follows what is
//! wanted, never the input; what is skipped has its own bound.

use super::numbers::{Cell, Ints};
use super::schema::{Schema, TypeId};
use super::skip::{branch, skip};
use super::wire::{COMPLETE, Wire};
use crate::caught::caught;
use crate::failure::{Failure, Read};
use arrow_array::{ArrayRef, make_array};
use arrow_buffer::{BooleanBufferBuilder, Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::{DataType, FieldRef};
use extenso_types::{Error, Result, Segment};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The values at one place.
#[derive(Debug)]
pub struct Node {
    /// What they are called, and what they are in Arrow.
    pub field: FieldRef,
    /// Of a union of one type and null: which types are in it.
    pub tags: Option<Tags>,
    /// Which values are there, where some may not be.
    pub validity: Option<BooleanBufferBuilder>,
    pub data: Data,
    /// How many bytes a default has.
    pub weight: usize,
    /// Whether a value has no bytes in the file.
    pub empty: bool,
}

/// A union of one type and null, or of one alone.
#[derive(Clone, Copy, Debug)]
pub struct Tags {
    pub count: usize,
    pub null: Option<usize>,
}

/// Values of one type.
#[derive(Debug)]
pub enum Data {
    /// Values that are read over, or that have no bytes: nothing but how many they are.
    Over(TypeId),
    Bool(BooleanBufferBuilder),
    /// What they may be, and the numbers.
    Ints(RangeInclusive<i64>, Ints),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Text {
        utf8: bool,
        ends: Vec<i64>,
        bytes: Vec<u8>,
    },
    Cells {
        cell: Cell,
        width: usize,
        bytes: Vec<u8>,
    },
    /// Words by their numbers.
    Codes {
        words: ArrayRef,
        codes: Ints,
    },
    List {
        ends: Vec<i64>,
        /// How many items each list must have.
        size: Option<usize>,
        item: Box<Node>,
    },
    Record {
        /// The fields in the order of the file.
        parts: Vec<Part>,
        /// The places of those that have bytes.
        solid: Vec<usize>,
        /// How many bytes the others have in memory.
        hollow: usize,
    },
    Union(Box<Union>),
}

/// A field of a record.
#[derive(Debug)]
pub enum Part {
    Over(TypeId),
    Read(Node),
}

/// Values of several types.
#[derive(Debug)]
pub struct Union {
    /// What each type of the file is.
    pub branches: Vec<Branch>,
    pub children: Vec<Child>,
    /// Which child stands for null.
    pub null: usize,
    pub ids: Vec<i8>,
    /// Where in its child each value stands, where they do not stand at their own places.
    pub offsets: Option<Vec<i32>>,
}

/// What a type of a union is.
#[derive(Clone, Copy, Debug)]
pub enum Branch {
    Null,
    /// A type that is not wanted, whose values are read over and missing.
    Over(TypeId),
    Child(usize),
}

/// A type of a union that is wanted.
#[derive(Debug)]
pub struct Child {
    pub id: i8,
    pub node: Node,
    /// How many values it has.
    pub len: usize,
}

impl Node {
    /// Reads a value.
    pub fn read(&mut self, schema: &Schema, wire: &mut Wire<'_>) -> Read<()> {
        if let Some(Tags { count, null }) = self.tags {
            let tag = branch(wire, count)?;
            if null == Some(tag) {
                wire.charge(self.weight)?;
                self.fill(1);
                return Ok(());
            }
        }
        if let Some(bits) = &mut self.validity {
            bits.append(true);
        }
        self.data.read(schema, wire)
    }

    /// Reads the items of a list, of which `before` came before.
    fn read_items(&mut self, schema: &Schema, wire: &mut Wire<'_>, before: usize, count: usize) -> Read<()> {
        if self.empty {
            // Nothing but how many they are is in the file.
            wire.charge(count.saturating_mul(self.weight))?;
            self.fill(count);
            return Ok(());
        }
        if count > wire.rest() {
            let what = format!("{count} items are said to be here, in {} bytes", wire.rest());
            return Err(wire.unfit(what, COMPLETE));
        }
        if let (None, None, Data::Double(numbers)) = (&self.tags, &self.validity, &mut self.data) {
            let bytes = wire.take(count.saturating_mul(8))?;
            numbers.extend(bytes.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)));
            return Ok(());
        }
        if let (None, None, Data::Float(numbers)) = (&self.tags, &self.validity, &mut self.data) {
            let bytes = wire.take(count.saturating_mul(4))?;
            numbers.extend(bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)));
            return Ok(());
        }
        for i in 0..count {
            self.read(schema, wire).map_err(|e| e.inside(Segment::Index(before + i)))?;
        }
        Ok(())
    }

    /// Adds so many defaults, which are missing where that can be said.
    pub fn fill(&mut self, n: usize) {
        if let Some(bits) = &mut self.validity {
            bits.append_n(n, false);
        }
        match &mut self.data {
            Data::Over(_) => {}
            Data::Bool(bits) => bits.append_n(n, false),
            Data::Ints(_, numbers) | Data::Codes { codes: numbers, .. } => numbers.fill(n),
            Data::Float(numbers) => numbers.resize(numbers.len() + n, 0.0),
            Data::Double(numbers) => numbers.resize(numbers.len() + n, 0.0),
            Data::Text { ends, .. } | Data::List { ends, size: None, .. } => {
                ends.resize(ends.len() + n, last(ends));
            }
            Data::Cells { width, bytes, .. } => bytes.resize(bytes.len() + n * *width, 0),
            Data::List { ends, size: Some(size), item } => {
                item.fill(n * *size);
                let (from, size) = (last(ends), i64::try_from(*size).unwrap_or(i64::MAX));
                ends.extend((1..).take(n).map(|i| from + i * size));
            }
            Data::Record { parts, .. } => parts.iter_mut().for_each(|part| {
                if let Part::Read(node) = part {
                    node.fill(n);
                }
            }),
            Data::Union(union) => (0..n).for_each(|_| union.add(union.null).fill(1)),
        }
    }

    /// Notes how long every column is.
    pub fn mark(&self, marks: &mut Vec<usize>) {
        marks.extend(self.validity.as_ref().map(BooleanBufferBuilder::len));
        match &self.data {
            Data::Over(_) => {}
            Data::Bool(bits) => marks.push(bits.len()),
            Data::Ints(_, numbers) | Data::Codes { codes: numbers, .. } => marks.push(numbers.len()),
            Data::Float(numbers) => marks.push(numbers.len()),
            Data::Double(numbers) => marks.push(numbers.len()),
            Data::Text { ends, bytes, .. } => marks.extend([ends.len(), bytes.len()]),
            Data::Cells { bytes, .. } => marks.push(bytes.len()),
            Data::List { ends, item, .. } => {
                marks.push(ends.len());
                item.mark(marks);
            }
            Data::Record { parts, .. } => parts.iter().for_each(|part| {
                if let Part::Read(node) = part {
                    node.mark(marks);
                }
            }),
            Data::Union(union) => {
                marks.push(union.ids.len());
                for child in &union.children {
                    marks.push(child.len);
                    child.node.mark(marks);
                }
            }
        }
    }

    /// Takes back everything since [`Node::mark`].
    pub fn roll_back(&mut self, marks: &mut impl Iterator<Item = usize>) {
        if let Some(bits) = &mut self.validity {
            bits.truncate(next(marks));
        }
        match &mut self.data {
            Data::Over(_) => {}
            Data::Bool(bits) => bits.truncate(next(marks)),
            Data::Ints(_, numbers) | Data::Codes { codes: numbers, .. } => numbers.truncate(next(marks)),
            Data::Float(numbers) => numbers.truncate(next(marks)),
            Data::Double(numbers) => numbers.truncate(next(marks)),
            Data::Text { ends, bytes, .. } => {
                ends.truncate(next(marks));
                bytes.truncate(next(marks));
            }
            Data::Cells { bytes, .. } => bytes.truncate(next(marks)),
            Data::List { ends, item, .. } => {
                ends.truncate(next(marks));
                item.roll_back(marks);
            }
            Data::Record { parts, .. } => parts.iter_mut().for_each(|part| {
                if let Part::Read(node) = part {
                    node.roll_back(marks);
                }
            }),
            Data::Union(union) => {
                let len = next(marks);
                union.ids.truncate(len);
                if let Some(offsets) = &mut union.offsets {
                    offsets.truncate(len);
                }
                for child in &mut union.children {
                    child.len = next(marks);
                    child.node.roll_back(marks);
                }
            }
        }
    }

    /// The array of what came, of which there are `len`; the columns are empty afterwards.
    ///
    /// Errors: more items than the offsets of its type count.
    pub fn finish(&mut self, len: usize) -> Result<ArrayRef> {
        let odd = || Error::data("the values are no array of Arrow");
        caught(|| self.array(len).map(make_array)).unwrap_or_else(|_| Err(odd()))
    }

    fn array(&mut self, len: usize) -> Result<ArrayData> {
        let data_type = self.field.data_type().clone();
        let nulls = self.validity.as_mut().map(|bits| NullBuffer::new(bits.finish()));
        let mut made = ArrayData::builder(data_type.clone()).len(len).align_buffers(true);
        if !matches!(data_type, DataType::Union(..) | DataType::Null) {
            made = made.nulls(nulls.filter(|nulls| nulls.null_count() > 0));
        }
        made = match &mut self.data {
            Data::Over(_) => made,
            Data::Bool(bits) => made.add_buffer(bits.finish().into_inner()),
            Data::Ints(_, numbers) => made.add_buffer(numbers.take()),
            Data::Codes { words, codes } => made.add_buffer(codes.take()).add_child_data(words.to_data()),
            Data::Float(numbers) => made.add_buffer(Buffer::from_vec(std::mem::take(numbers))),
            Data::Double(numbers) => made.add_buffer(Buffer::from_vec(std::mem::take(numbers))),
            Data::Text { ends, bytes, .. } => {
                made.add_buffer(taken(ends)).add_buffer(Buffer::from_vec(std::mem::take(bytes)))
            }
            Data::Cells { bytes, .. } => made.add_buffer(Buffer::from_vec(std::mem::take(bytes))),
            Data::List { ends, item, .. } => {
                let items = usize::try_from(last(ends)).unwrap_or(0);
                let ends = match data_type {
                    DataType::List(_) => Some(narrow(ends)?),
                    DataType::LargeList(_) => Some(taken(ends)),
                    _ => {
                        ends.truncate(1);
                        None
                    }
                };
                ends.into_iter().fold(made, |made, ends| made.add_buffer(ends)).add_child_data(item.array(items)?)
            }
            Data::Record { parts, .. } => {
                let children = parts.iter_mut().filter_map(|part| match part {
                    Part::Read(node) => Some(node.array(len)),
                    Part::Over(_) => None,
                });
                made.child_data(children.collect::<Result<_>>()?)
            }
            Data::Union(union) => {
                let ids = Buffer::from_vec(std::mem::take(&mut union.ids));
                let offsets = union.offsets.as_mut().map(|offsets| Buffer::from_vec(std::mem::take(offsets)));
                let sparse = offsets.is_none();
                let children = union.children.iter_mut().map(|child| {
                    if sparse {
                        child.upto(len);
                    }
                    let n = std::mem::take(&mut child.len);
                    child.node.array(n)
                });
                let children = children.collect::<Result<_>>()?;
                offsets
                    .into_iter()
                    .fold(made.add_buffer(ids), |made, offsets| made.add_buffer(offsets))
                    .child_data(children)
            }
        };
        made.build().map_err(|e| Error::data(format!("Arrow refuses what was read: {e}")))
    }
}

impl Data {
    fn read(&mut self, schema: &Schema, wire: &mut Wire<'_>) -> Read<()> {
        match self {
            Data::Over(id) => skip(schema, *id, wire, 0)?,
            Data::Bool(bits) => bits.append(wire.bool()?),
            Data::Ints(range, numbers) => {
                let (at, number) = (wire.at(), wire.long()?);
                if !range.contains(&number) || !numbers.push(number) {
                    wire.go_back(at);
                    return Err(wire.unfit(format!("the number {number} came"), "a number that fits the type"));
                }
            }
            Data::Float(numbers) => numbers.push(wire.float()?),
            Data::Double(numbers) => numbers.push(wire.double()?),
            Data::Text { utf8, ends, bytes } => {
                let at = wire.at();
                let text = wire.text()?;
                if *utf8 && simdutf8::basic::from_utf8(text).is_err() {
                    wire.go_back(at);
                    return Err(wire.unfit("a string is not UTF-8", "UTF-8 text"));
                }
                bytes.extend_from_slice(text);
                ends.push(i64::try_from(bytes.len()).unwrap_or(i64::MAX));
            }
            Data::Cells { cell, width, bytes } => cell.read(*width, wire, bytes)?,
            Data::Codes { words, codes } => {
                let (at, code) = (wire.at(), wire.long()?);
                if !usize::try_from(code).is_ok_and(|code| code < words.len()) || !codes.push(code) {
                    wire.go_back(at);
                    return Err(wire.unfit(
                        format!("the number {code} of a symbol came"),
                        &format!("one of {} symbols", words.len()),
                    ));
                }
            }
            Data::List { ends, size, item } => {
                let (start, mut count) = (wire.at(), 0_usize);
                while let Some((more, bytes)) = wire.items()? {
                    match bytes {
                        Some(bytes) if matches!(item.data, Data::Over(_)) && !item.empty && more <= bytes => {
                            wire.take(bytes)?;
                        }
                        _ => {
                            let from = wire.at();
                            item.read_items(schema, wire, count, more)?;
                            // Who reads over the block goes by its bytes, so these are those of the items.
                            if let Some(bytes) = bytes.filter(|bytes| *bytes != wire.at() - from) {
                                let read = wire.at() - from;
                                let what = format!("{bytes} bytes are said to be here, and {more} items have {read}");
                                return Err(wire.unfit(what, COMPLETE));
                            }
                        }
                    }
                    count = count.saturating_add(more);
                }
                if let Some(size) = size.filter(|size| *size != count) {
                    return Err(Failure::new(
                        start,
                        Error::data(format!("a list of {count} came")).wanted(format!("lists of {size}")),
                    ));
                }
                ends.push(last(ends).saturating_add(i64::try_from(count).unwrap_or(i64::MAX)));
            }
            Data::Record { parts, solid, hollow } => {
                wire.charge(*hollow)?;
                for place in solid {
                    match &mut parts[*place] {
                        Part::Over(id) => skip(schema, *id, wire, 0)?,
                        Part::Read(node) => node.read(schema, wire).map_err(|e| e.inside(step(&node.field)))?,
                    }
                }
            }
            Data::Union(union) => {
                let tag = branch(wire, union.branches.len())?;
                union.charge(wire)?;
                match union.branches[tag] {
                    Branch::Child(place) => {
                        let node = union.add(place);
                        node.read(schema, wire).map_err(|e| e.inside(step(&node.field)))?;
                    }
                    Branch::Null => union.add(union.null).fill(1),
                    Branch::Over(id) => {
                        skip(schema, id, wire, 0)?;
                        union.add(union.null).fill(1);
                    }
                }
            }
        }
        Ok(())
    }
}

impl Union {
    /// Counts what a value adds to the children that it is not of, which have a default at its place.
    fn charge(&self, wire: &mut Wire<'_>) -> Read<()> {
        let weights = self.children.iter().map(|child| child.node.weight);
        match self.offsets {
            Some(_) => wire.charge(self.children[self.null].node.weight),
            None => wire.charge(weights.fold(0, usize::saturating_add)),
        }
    }

    /// The child of the next value, which is of it.
    fn add(&mut self, place: usize) -> &mut Node {
        let (before, child) = (self.ids.len(), &mut self.children[place]);
        self.ids.push(child.id);
        match &mut self.offsets {
            Some(offsets) => offsets.push(i32::try_from(child.len).unwrap_or(i32::MAX)),
            None => child.upto(before),
        }
        child.len += 1;
        &mut child.node
    }
}

impl Child {
    /// Adds defaults where values of other types stand.
    pub fn upto(&mut self, len: usize) {
        self.node.fill(len.saturating_sub(self.len));
        self.len = self.len.max(len);
    }
}

/// The step of a path to a field.
fn step(field: &FieldRef) -> Segment {
    Segment::field(field.name().as_str())
}

/// Where the last row ends.
pub fn last(ends: &[i64]) -> i64 {
    ends.last().copied().unwrap_or(0)
}

/// The ends, of which the zero stays.
fn taken(ends: &mut Vec<i64>) -> Buffer {
    Buffer::from_vec(std::mem::replace(ends, vec![0]))
}

/// The ends in four bytes each.
fn narrow(ends: &mut Vec<i64>) -> Result<Buffer> {
    let narrow: std::result::Result<Vec<i32>, _> = ends.iter().map(|end| i32::try_from(*end)).collect();
    let all = last(ends);
    *ends = vec![0];
    narrow.map(Buffer::from_vec).map_err(|_| {
        Error::value(format!("lists of {all} items are said to have offsets of four bytes"))
            .wanted("fewer items in a block of rows")
    })
}

fn next(marks: &mut impl Iterator<Item = usize>) -> usize {
    marks.next().unwrap_or(0)
}

/// A list without items yet, or texts.
pub fn no_ends() -> Vec<i64> {
    vec![0]
}

/// No validity bits yet.
pub fn no_bits() -> BooleanBufferBuilder {
    BooleanBufferBuilder::new(0)
}

/// The words of codes.
pub fn words_of(symbols: &[Arc<str>]) -> ArrayRef {
    Arc::new(arrow_array::LargeStringArray::from_iter_values(symbols))
}
