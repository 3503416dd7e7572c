//! Examples, written: the maps of features that `example` reads, by the same plans.
//!
//! Invariant: features come in the order of the plan, and numbers packed, so the same columns give the same bytes. What reads as nothing
//! because it is missing is left out; a list without items is written with its kind, so that it is told from one that is missing.

use super::encode::{bounds, raw_at, text_at, unfit};
use super::example::{Example, Holds, Parts, maps, refuse};
use super::meant::{self, Form};
use super::number::{Number, Raw};
use super::put::{put_key, put_number, put_sized};
use super::wire::WireType;
use crate::columns::{BitsRef, ColumnRef, OffsetsRef, TextRef, TextVec};
use crate::failure::{Failure, Read};
use crate::plan::Plan;
use crate::prove::Proof;
use extenso_core::side_by_side;
use extenso_ext::Spelling;
use extenso_types::{DType, Error, Path, Result, Segment};
use std::ops::Range;
use std::sync::Arc;

/// Writes the records of the columns as examples, in parts that follow each other and are written side by side.
///
/// Errors, each with its path: the plan (see [`Plan::kinds`]), and a plan that examples cannot hold; a column of another kind or too short; with
/// its row, a number that does not fit.
pub fn encode(example: Example, plan: &Plan, columns: &[ColumnRef<'_>], parts: Vec<Range<usize>>) -> Result<TextVec> {
    let writer = prepared(example, plan, columns, 0..parts.last().map_or(0, |part| part.end))?;
    let written = side_by_side(parts, |part| texts(&writer, part, |_| true));
    TextVec::joined(written.into_iter().collect::<Result<_>>()?).map_err(|e| e.at("encode"))
}

/// The example of each of these rows, and an empty text for those that are not there.
///
/// Errors: as [`encode`].
pub(crate) fn encode_example_texts(
    example: Example,
    plan: &Plan,
    columns: &[ColumnRef<'_>],
    rows: Range<usize>,
    is_there: impl Fn(usize) -> bool,
) -> Result<TextVec> {
    texts(&prepared(example, plan, columns, rows.clone())?, rows, is_there)
}

fn texts(writer: &[Map<'_>], rows: Range<usize>, is_there: impl Fn(usize) -> bool) -> Result<TextVec> {
    let (mut texts, mut bytes) = (TextVec::new(DType::I64)?, Vec::new());
    for row in rows {
        bytes.clear();
        if is_there(row) {
            let written = writer.iter().try_for_each(|map| map.write(row, &mut bytes));
            written.map_err(|failure| failure.of_row(row).at("encode"))?;
        }
        if !texts.push(&bytes) {
            return Err(Error::value("the messages are longer than offsets can count").at("encode"));
        }
    }
    Ok(texts)
}

/// A map of features, with their columns.
struct Map<'a> {
    /// The number of its field.
    number: u32,
    /// Its name in the record; an example is its only map.
    name: Option<Arc<str>>,
    features: Vec<Feature<'a>>,
}

struct Feature<'a> {
    name: Arc<str>,
    /// The steps of each row, if it has a value for each of some.
    steps: Option<OffsetsRef<'a>>,
    /// Which values are there, if some may be missing.
    there: Option<BitsRef<'a>>,
    /// The items of each value, if it has any number of them.
    row: Option<OffsetsRef<'a>>,
    /// How many elements a value has, or an item of it.
    size: usize,
    list: List<'a>,
}

/// The elements of a list, and with them its kind.
enum List<'a> {
    Bytes(TextRef<'a>),
    /// Decimals, or bytes of one width.
    Spelled(Form, Spelling, ColumnRef<'a>),
    Floats(ColumnRef<'a>),
    Integers(ColumnRef<'a>),
}

/// A plan and the columns, brought together and proven.
fn prepared<'a>(example: Example, plan: &Plan, columns: &[ColumnRef<'a>], rows: Range<usize>) -> Result<Vec<Map<'a>>> {
    let proof = Proof { columns, kinds: plan.kinds()? };
    let map = |(number, name, steps, fields): Parts<'_>| {
        let root = Path::root();
        let at = name.as_ref().map_or(root.clone(), |name| root.child(Segment::Field(name.clone())));
        let given = fields.iter().filter(|field| field.plan != Plan::Skip);
        let features = given.map(|field| {
            let at = at.child(Segment::Field(field.name.clone()));
            feature(&proof, &field.name, steps, &field.plan, rows.clone(), &at)
        });
        Ok(Map { number, name, features: features.collect::<Result<_>>()? })
    };
    maps(plan, example)?.into_iter().map(map).collect()
}

fn feature<'a>(
    proof: &Proof<'_, 'a>,
    name: &Arc<str>,
    steps: bool,
    plan: &Plan,
    rows: Range<usize>,
    at: &Path,
) -> Result<Feature<'a>> {
    let shape = super::example::feature(name, steps, plan, at)?;
    let segments = at.segments();
    let list = |id, rows: &mut Range<usize>| {
        let (offsets, items) = proof.list(id, rows, segments)?;
        *rows = items;
        Ok::<_, Error>(offsets)
    };
    let mut rows = rows;
    let steps = shape.steps.map(|id| list(id, &mut rows)).transpose()?;
    let there = shape.optional.flatten().map(|id| proof.bits(id, &rows, segments)).transpose()?.flatten();
    let row = shape.row.map(|id| list(id, &mut rows)).transpose()?;
    let (Some(start), Some(end)) = (rows.start.checked_mul(shape.size), rows.end.checked_mul(shape.size)) else {
        return Err(refuse(at, "there are more values than can be counted", "fewer"));
    };
    let missing = || Error::internal("a feature has no column").at_path(at);
    let (elements, id) = (start..end, shape.column.ok_or_else(missing)?);
    let each = shape.elements();
    let list = match (shape.holds, shape.spelled) {
        (_, Some((form, spelling))) => {
            let (Some(start), Some(end)) = (start.checked_mul(each), end.checked_mul(each)) else {
                return Err(refuse(at, "there are more bytes than can be counted", "fewer"));
            };
            List::Spelled(form, spelling, proof.column(id, &(start..end), segments)?)
        }
        (Holds::Bytes { utf8 }, None) => List::Bytes(proof.text(id, utf8, &elements, segments)?),
        (Holds::Floats, None) => List::Floats(proof.column(id, &elements, segments)?),
        (Holds::Integers | Holds::Flags, None) => List::Integers(proof.column(id, &elements, segments)?),
        (Holds::Anything, None) => return Err(missing()),
    };
    Ok(Feature { name: name.clone(), steps, there, row, size: shape.size, list })
}

impl Map<'_> {
    fn write(&self, row: usize, out: &mut Vec<u8>) -> Read<()> {
        put_key(self.number, WireType::Bytes, out);
        let inside = |e: Box<Failure>| match &self.name {
            Some(name) => e.inside(Segment::Field(name.clone())),
            None => e,
        };
        put_sized(out, |out| {
            let entry = |feature: &Feature<'_>| {
                feature.entry(row, out).map_err(|e| inside(e.inside(Segment::Field(feature.name.clone()))))
            };
            self.features.iter().try_for_each(entry)
        })
    }
}

impl Feature<'_> {
    /// Appends a name and its feature, unless that is missing.
    fn entry(&self, row: usize, out: &mut Vec<u8>) -> Read<()> {
        if self.steps.is_none() && !self.is_there(row) {
            return Ok(());
        }
        put_key(1, WireType::Bytes, out);
        put_sized(out, |out| {
            put_key(1, WireType::Bytes, out);
            put_bytes(self.name.as_bytes(), out)?;
            put_key(2, WireType::Bytes, out);
            put_sized(out, |out| match &self.steps {
                None => self.value(row, out),
                Some(steps) => bounds(steps, row).enumerate().try_for_each(|(n, step)| {
                    put_key(1, WireType::Bytes, out);
                    put_sized(out, |out| self.value(step, out)).map_err(|e| e.inside(Segment::Index(n)))
                }),
            })
        })
    }

    fn is_there(&self, value: usize) -> bool {
        self.there.is_none_or(|bits| bits.get(value))
    }

    /// Appends the list of a value, and nothing of one that is missing.
    fn value(&self, value: usize, out: &mut Vec<u8>) -> Read<()> {
        if !self.is_there(value) {
            return Ok(());
        }
        let items = self.row.as_ref().map_or(value..value + 1, |row| bounds(row, value));
        self.list.write(items.start * self.size..items.end * self.size, out)
    }
}

impl List<'_> {
    fn write(&self, elements: Range<usize>, out: &mut Vec<u8>) -> Read<()> {
        let (number, kind, column) = match self {
            List::Bytes(text) => {
                put_key(1, WireType::Bytes, out);
                return put_sized(out, |out| {
                    elements.into_iter().try_for_each(|i| {
                        put_key(1, WireType::Bytes, out);
                        put_bytes(text_at(text, i), out)
                    })
                });
            }
            List::Spelled(form, spelling, column) => {
                put_key(1, WireType::Bytes, out);
                return put_sized(out, |out| {
                    elements.into_iter().try_for_each(|i| {
                        put_key(1, WireType::Bytes, out);
                        meant::put(*form, spelling, column, i, out)
                    })
                });
            }
            List::Floats(column) => (2, Number::Float, column),
            List::Integers(column) => (3, Number::Int64, column),
        };
        put_key(number, WireType::Bytes, out);
        put_sized(out, |out| {
            if elements.is_empty() {
                return Ok(());
            }
            put_key(1, WireType::Bytes, out);
            put_sized(out, |out| {
                elements.into_iter().try_for_each(|i| {
                    let raw = raw_at(column, i);
                    raw.map(plain).and_then(|raw| put_number(kind, raw, out)).ok_or_else(|| unfit(kind, raw))
                })
            })
        })
    }
}

/// A wide float as the float that it is exactly, if it is one; a boolean as 0 or 1; any other number as it stands.
fn plain(raw: Raw) -> Raw {
    match raw {
        #[expect(clippy::cast_possible_truncation, reason = "what does not come back is left as it is")]
        Raw::Double(wide) if f64::from(wide as f32) == wide || wide.is_nan() => Raw::Float(wide as f32),
        Raw::Bool(bit) => Raw::Signed(bit.into()),
        Raw::Signed(_) | Raw::Unsigned(_) | Raw::Float(_) | Raw::Double(_) => raw,
    }
}

fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) -> Read<()> {
    put_sized(out, |out| {
        out.extend_from_slice(bytes);
        Ok(())
    })
}
