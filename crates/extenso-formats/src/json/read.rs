//! Reading one record's text into columns.
//!
//! Invariant: recursion follows the plan, never the input; a value that is read over is followed by a loop (`skip`).
//! Nothing is allocated for a value but the room it takes in its column.
//! On a failure the columns are left as they are; taking the row back is the caller's.
//! What is usual is read by `quick`, which has no answer where something is odd: then everything is read again here, and what is wrong is said.

use super::Decimals;
use super::base64;
use super::failure::{Failure, Read};
use super::fields::Fields;
use super::node::Node;
use super::quick;
use super::scalar::{read_scalar, starts_number};
use super::skip::skip;
use crate::columns::{Column, Columns};
use crate::plan::ColumnId;
use crate::spelled;
use extenso_ext::Spelling;
use extenso_types::{Error, Segment};
use jiter::{Jiter, Peek};
use std::cmp::Ordering;

/// Buffers that outlive a record.
#[derive(Clone, Default, Debug)]
pub struct Scratch {
    quick: quick::Scratch,
    /// Whether a number may stand where a string is wanted.
    pub(super) decimals: Decimals,
    /// Where strings with escapes are decoded.
    tape: Vec<u8>,
    /// Where byte strings are decoded.
    bytes: Vec<u8>,
    /// One bit per field of each record that is open: whether it came.
    seen: Vec<u64>,
    /// How long the columns were before a record.
    marks: Vec<usize>,
}

impl Scratch {
    /// Reads a text, which is UTF-8, to its end: quickly, and if that finds anything odd, carefully.
    pub fn read(&mut self, text: &[u8], root: &Node, columns: &mut Columns) -> Read<()> {
        columns.mark(&mut self.marks);
        if self.quick.read(text, root, columns).is_some() {
            return Ok(());
        }
        columns.roll_back(&self.marks);
        self.read_carefully(text, root, columns)
    }

    pub(super) fn read_carefully(&mut self, text: &[u8], root: &Node, columns: &mut Columns) -> Read<()> {
        let jiter = Jiter::with_tape(text, std::mem::take(&mut self.tape));
        self.seen.clear();
        let (bytes, seen) = (&mut self.bytes, &mut self.seen);
        let mut reader = Reader { text, jiter, decimals: self.decimals, columns, bytes, seen };
        let read = reader.peek().and_then(|peek| reader.value(root, peek));
        let done = read.and_then(|()| Ok(reader.jiter.finish()?));
        self.tape = reader.jiter.into_tape();
        done
    }
}

/// One text being read.
struct Reader<'a, 'j> {
    text: &'j [u8],
    jiter: Jiter<'j>,
    decimals: Decimals,
    columns: &'a mut Columns,
    bytes: &'a mut Vec<u8>,
    seen: &'a mut Vec<u64>,
}

impl Reader<'_, '_> {
    /// What the next value begins with.
    fn peek(&mut self) -> Read<Peek> {
        Ok(self.jiter.peek()?)
    }

    /// Reads one value.
    fn value(&mut self, node: &Node, peek: Peek) -> Read<()> {
        match node {
            Node::Skip => skip(&mut self.jiter, peek),
            Node::Scalar(id) => match self.columns.get_mut(*id) {
                Some(column) => read_scalar(&mut self.jiter, self.text, peek, column),
                None => Err(Failure::new(self.jiter.current_index(), Error::internal("a scalar has no column"))),
            },
            Node::Spelled(spelling, id) => self.spelled(spelling, *id, peek),
            Node::String(id) => self.string(*id, peek),
            Node::Bytes(id) => self.byte_string(*id, peek),
            Node::Optional { validity, defaults, inner } => {
                let valid = peek != Peek::Null;
                self.columns.push_validity(*validity, valid);
                if valid {
                    return self.value(inner, peek);
                }
                self.jiter.known_null()?;
                self.fill(defaults)
            }
            Node::List { offsets, item } => self.list(*offsets, item, peek),
            Node::Fixed { size, item } => self.fixed(*size, item, peek),
            Node::Record(fields) => self.record(fields, peek),
        }
    }

    fn record(&mut self, fields: &Fields<Node>, peek: Peek) -> Read<()> {
        if peek != Peek::Object {
            return Err(self.mismatch("a record"));
        }
        let start = self.jiter.current_index();
        let base = self.seen.len();
        self.seen.resize(base + fields.list().len().div_ceil(64), 0);
        let (mut expected, mut came) = (0, 0);
        let mut key = self.jiter.known_object()?;
        while let Some(name) = key {
            match fields.find(name.as_bytes(), expected) {
                Some(place) => {
                    let (name, node) = &fields.list()[place];
                    let (word, bit) = (base + place / 64, 1 << (place % 64));
                    if self.seen[word] & bit != 0 {
                        return Err(self.duplicate(name));
                    }
                    self.seen[word] |= bit;
                    came += 1;
                    let read = self.peek().and_then(|peek| self.value(node, peek));
                    read.map_err(|e| e.inside(Segment::Field(name.clone())))?;
                    expected = place + 1;
                }
                None => {
                    let peek = self.peek()?;
                    skip(&mut self.jiter, peek)?;
                }
            }
            key = self.jiter.next_key()?;
        }
        if came < fields.list().len() {
            self.missing(fields, base, start)?;
        }
        self.seen.truncate(base);
        Ok(())
    }

    #[cold]
    fn duplicate(&self, name: &str) -> Box<Failure> {
        let what = format!("the key \"{name}\" came a second time");
        Failure::new(self.jiter.current_index(), Error::data(what).wanted("each key once"))
    }

    /// Fills in the fields that did not come.
    fn missing(&mut self, fields: &Fields<Node>, base: usize, start: usize) -> Read<()> {
        for (place, (name, node)) in fields.list().iter().enumerate() {
            if self.seen[base + place / 64] >> (place % 64) & 1 == 1 {
                continue;
            }
            match node {
                Node::Skip => {}
                Node::Optional { validity, defaults, .. } => {
                    self.columns.push_validity(*validity, false);
                    self.fill(defaults)?;
                }
                Node::Scalar(_)
                | Node::Spelled(..)
                | Node::String(_)
                | Node::Bytes(_)
                | Node::List { .. }
                | Node::Fixed { .. }
                | Node::Record(_) => {
                    let error = Error::data("the field is missing").wanted("a value");
                    let error = error.hint("Make the field optional in the spec if records may lack it");
                    return Err(Failure::new(start, error).inside(Segment::Field(name.clone())));
                }
            }
        }
        Ok(())
    }

    fn list(&mut self, offsets: Option<ColumnId>, item: &Node, peek: Peek) -> Read<()> {
        if peek != Peek::Array {
            return Err(self.mismatch("a list"));
        }
        let start = self.jiter.current_index();
        let n = self.items(item, usize::MAX)?;
        if let Some(Column::Offsets(offsets)) = offsets.and_then(|id| self.columns.get_mut(id))
            && !offsets.push_row(n)
        {
            return Err(Failure::new(start, offsets.refusal(n)));
        }
        Ok(())
    }

    fn fixed(&mut self, size: usize, item: &Node, peek: Peek) -> Read<()> {
        if peek != Peek::Array {
            return Err(self.mismatch(format!("a list of {size} items")));
        }
        let start = self.jiter.current_index();
        let n = self.items(item, size)?;
        match n.cmp(&size) {
            Ordering::Less => Err(wrong_size(start, size, &n.to_string())),
            Ordering::Equal => Ok(()),
            Ordering::Greater => Err(wrong_size(start, size, "more")),
        }
    }

    /// Reads the items of a list, and says how many there are; of more than `most`, one more.
    fn items(&mut self, item: &Node, most: usize) -> Read<usize> {
        let (mut next, mut n) = (self.jiter.known_array()?, 0);
        while let Some(peek) = next {
            if n == most {
                return Ok(n + 1);
            }
            self.value(item, peek).map_err(|e| e.inside(Segment::Index(n)))?;
            n += 1;
            next = self.jiter.array_step()?;
        }
        Ok(n)
    }

    /// Reads the text of a time or a decimal, or the digits of a number where that is text of it.
    fn spelled(&mut self, spelling: &Spelling, id: ColumnId, peek: Peek) -> Read<()> {
        let start = self.jiter.current_index();
        if spelling.is_bytes() {
            return self.cells(spelling, id, peek);
        }
        let text = match peek {
            Peek::String => self.jiter.known_str()?,
            _ if spelling.is_number() && starts_number(peek) => {
                std::str::from_utf8(self.jiter.known_number_bytes(peek)?).unwrap_or_default()
            }
            _ => return Err(self.mismatch(spelling.wanted())),
        };
        let pushed = self.columns.get_mut(id).is_some_and(|column| spelled::push(spelling, text, column));
        if pushed { Ok(()) } else { Err(Failure::mismatch(self.text, start, spelling.wanted())) }
    }

    /// Reads byte strings of one width.
    fn cells(&mut self, spelling: &Spelling, id: ColumnId, peek: Peek) -> Read<()> {
        let wanted = || format!("a base64 string of {}", spelling.wanted());
        if peek != Peek::String {
            return Err(self.mismatch(wanted()));
        }
        let start = self.jiter.current_index();
        let text = self.jiter.known_str()?;
        self.bytes.clear();
        let decoded = base64::decode(text.as_bytes(), self.bytes);
        let column = self.columns.get_mut(id).filter(|_| decoded);
        let pushed = column.is_some_and(|column| spelled::push_bytes(spelling, self.bytes, column));
        if pushed { Ok(()) } else { Err(Failure::mismatch(self.text, start, wanted())) }
    }

    fn string(&mut self, id: ColumnId, peek: Peek) -> Read<()> {
        let start = self.jiter.current_index();
        let text = match peek {
            Peek::String => self.jiter.known_str()?.as_bytes(),
            _ if self.decimals == Decimals::Texts && starts_number(peek) => self.jiter.known_number_bytes(peek)?,
            _ => return Err(self.mismatch("a string")),
        };
        push_text(self.columns, id, text, start)
    }

    fn byte_string(&mut self, id: ColumnId, peek: Peek) -> Read<()> {
        if peek != Peek::String {
            return Err(self.mismatch("a base64 string"));
        }
        let start = self.jiter.current_index();
        let text = self.jiter.known_str()?;
        self.bytes.clear();
        if !base64::decode(text.as_bytes(), self.bytes) {
            return Err(Failure::mismatch(self.text, start, "a base64 string"));
        }
        push_text(self.columns, id, self.bytes, start)
    }

    fn fill(&mut self, defaults: &[(ColumnId, usize)]) -> Read<()> {
        self.columns.push_defaults(defaults).map_err(|e| Failure::new(self.jiter.current_index(), e))
    }

    #[cold]
    fn mismatch(&self, wanted: impl Into<String>) -> Box<Failure> {
        Failure::mismatch(self.text, self.jiter.current_index(), wanted)
    }
}

fn push_text(columns: &mut Columns, id: ColumnId, text: &[u8], start: usize) -> Read<()> {
    if let Some(Column::Text(texts)) = columns.get_mut(id)
        && !texts.push(text)
    {
        return Err(overflow(start, "bytes"));
    }
    Ok(())
}

#[cold]
fn overflow(start: usize, what: &str) -> Box<Failure> {
    let error = Error::value(format!("there are more {what} than the offsets can count"));
    Failure::new(start, error.hint("Use i64 offsets, or read in smaller batches"))
}

#[cold]
fn wrong_size(start: usize, size: usize, came: &str) -> Box<Failure> {
    Failure::new(start, Error::data(format!("a list of {came} items came")).wanted(format!("{size} items")))
}
