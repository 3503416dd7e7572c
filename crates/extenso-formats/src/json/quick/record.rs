//! Reading one record's text into columns, where nothing in it is odd.
//!
//! Invariant: recursion follows the plan, never the input. What is read here the careful reader would have read to the same columns;
//! where there is no answer, columns hold some of the record, and taking it back is the caller's.

use super::{float, floats, integer, number, skip, space, string, word};
use crate::columns::{Column, Columns};
use crate::json::base64;
use crate::json::fields::Fields;
use crate::json::node::Node;
use crate::plan::ColumnId;
use crate::spelled;
use extenso_ext::Spelling;
use jiter::{Jiter, Peek};

/// Buffers that outlive a record.
#[derive(Clone, Default, Debug)]
pub struct Scratch {
    /// Where byte strings are decoded.
    bytes: Vec<u8>,
    /// One bit per field of each record that is open and not in order: whether it came.
    seen: Vec<u64>,
}

impl Scratch {
    /// Reads a text, which is UTF-8, to its end; none if there is anything odd in it.
    pub fn read(&mut self, text: &[u8], root: &Node, columns: &mut Columns) -> Option<()> {
        self.seen.clear();
        let mut reader = Reader { text, columns, scratch: self };
        let end = reader.value(root, space(text, 0))?;
        (space(text, end) == text.len()).then_some(())
    }
}

/// One text being read. Each method is given where a value starts, and gives where it ends.
struct Reader<'a> {
    text: &'a [u8],
    columns: &'a mut Columns,
    scratch: &'a mut Scratch,
}

impl<'a> Reader<'a> {
    fn value(&mut self, node: &Node, at: usize) -> Option<usize> {
        match node {
            Node::Skip => skip(self.text, at),
            Node::Scalar(id) => self.scalar(*id, at),
            Node::Spelled(spelling, id) => self.spelled(spelling, *id, at),
            Node::String(id) => self.string(*id, at),
            Node::Bytes(id) => self.byte_string(*id, at),
            Node::Optional { validity, defaults, inner } => {
                let null = word(self.text, at, b"null");
                self.columns.push_validity(*validity, null.is_none());
                match null {
                    None => self.value(inner, at),
                    Some(end) => self.columns.push_defaults(defaults).ok().map(|()| end),
                }
            }
            Node::List { offsets, item } => {
                let (n, end) = self.items(item, at)?;
                match offsets.and_then(|id| self.columns.get_mut(id)) {
                    Some(Column::Offsets(offsets)) => offsets.push_row(n).then_some(end),
                    _ => Some(end),
                }
            }
            Node::Fixed { size, item } => {
                let (n, end) = self.items(item, at)?;
                (n == *size).then_some(end)
            }
            Node::Record(fields) => self.record(fields, at),
        }
    }

    fn scalar(&mut self, id: ColumnId, at: usize) -> Option<usize> {
        macro_rules! add {
            ($numbers:expr, $read:expr) => {{
                let (value, end) = $read(self.text, at)?;
                $numbers.push(value);
                Some(end)
            }};
        }
        match self.columns.get_mut(id)? {
            Column::Bits(bits) => {
                let (bit, end) = match word(self.text, at, b"true") {
                    Some(end) => (true, end),
                    None => (false, word(self.text, at, b"false")?),
                };
                bits.push(bit);
                Some(end)
            }
            Column::I8(numbers) => add!(numbers, integer),
            Column::I16(numbers) => add!(numbers, integer),
            Column::I32(numbers) => add!(numbers, integer),
            Column::I64(numbers) => add!(numbers, integer),
            Column::U8(numbers) => add!(numbers, integer),
            Column::U16(numbers) => add!(numbers, integer),
            Column::U32(numbers) => add!(numbers, integer),
            Column::U64(numbers) => add!(numbers, integer),
            Column::F16(numbers) => add!(numbers, float),
            Column::BF16(numbers) => add!(numbers, float),
            Column::F32(numbers) => add!(numbers, float),
            Column::F64(numbers) => add!(numbers, float),
            Column::Text(_) | Column::Offsets(_) => None,
        }
    }

    /// Reads a list, and says how many items it has too.
    fn items(&mut self, item: &Node, at: usize) -> Option<(usize, usize)> {
        if let Node::Scalar(id) = item {
            match self.columns.get_mut(*id)? {
                Column::F32(numbers) => return floats(self.text, at, numbers),
                Column::F64(numbers) => return floats(self.text, at, numbers),
                _ => {}
            }
        }
        if *self.text.get(at)? != b'[' {
            return None;
        }
        let mut at = space(self.text, at + 1);
        if *self.text.get(at)? == b']' {
            return Some((0, at + 1));
        }
        let mut n = 1;
        loop {
            at = space(self.text, self.value(item, at)?);
            match *self.text.get(at)? {
                b',' => (n, at) = (n + 1, space(self.text, at + 1)),
                b']' => return Some((n, at + 1)),
                _ => return None,
            }
        }
    }

    fn record(&mut self, fields: &Fields<Node>, at: usize) -> Option<usize> {
        if *self.text.get(at)? != b'{' {
            return None;
        }
        let list = fields.list();
        let base = self.scratch.seen.len();
        // Most records have their keys in the order of the plan; what came is a number as long as this one does.
        let (mut came, mut ordered, mut expected) = (0, true, 0);
        let mut at = space(self.text, at + 1);
        while *self.text.get(at)? != b'}' {
            let (place, value) = self.key(fields, expected, at)?;
            at = match place {
                None => skip(self.text, value)?,
                Some(place) => {
                    if ordered && place != came {
                        ordered = false;
                        self.note_first(came, base, list.len());
                    }
                    if !ordered {
                        self.note(place, base)?;
                    }
                    (came, expected) = (came + 1, place + 1);
                    self.value(&list[place].1, value)?
                }
            };
            at = space(self.text, at);
            match *self.text.get(at)? {
                b',' => {
                    at = space(self.text, at + 1);
                    if self.text.get(at) == Some(&b'}') {
                        return None;
                    }
                }
                b'}' => break,
                _ => return None,
            }
        }
        if came < list.len() {
            for (place, (_, node)) in list.iter().enumerate() {
                let there =
                    if ordered { place < came } else { self.scratch.seen[base + place / 64] >> (place % 64) & 1 == 1 };
                if !there {
                    self.missing(node)?;
                }
            }
        }
        self.scratch.seen.truncate(base);
        Some(at + 1)
    }

    /// Reads a key and its colon: the place of the field, if there is one of that name, and where its value starts.
    #[inline]
    fn key(&mut self, fields: &Fields<Node>, expected: usize, at: usize) -> Option<(Option<usize>, usize)> {
        if let Some(value) = fields.starts(self.text, at, expected) {
            return Some((Some(expected), space(self.text, value)));
        }
        let (name, end, escaped) = self.quoted(at)?;
        let place =
            if escaped { fields.find(&self.unescaped(at, end)?, expected) } else { fields.find(name, expected) };
        let colon = space(self.text, end);
        (*self.text.get(colon)? == b':').then(|| (place, space(self.text, colon + 1)))
    }

    /// What stands between the quotes of a string, where it ends, and whether there is an escape in it.
    #[inline]
    fn quoted(&self, at: usize) -> Option<(&'a [u8], usize, bool)> {
        if *self.text.get(at)? != b'"' {
            return None;
        }
        let (end, escaped) = string(self.text, at + 1)?;
        Some((self.text.get(at + 1..end - 1)?, end, escaped))
    }

    /// The text of a string with escapes.
    #[cold]
    fn unescaped(&self, at: usize, end: usize) -> Option<Vec<u8>> {
        let mut jiter = Jiter::new(self.text.get(at..end)?);
        (jiter.peek().ok()? == Peek::String).then_some(jiter.known_str().ok()?.as_bytes().to_vec())
    }

    #[cold]
    fn note_first(&mut self, came: usize, base: usize, fields: usize) {
        self.scratch.seen.resize(base + fields.div_ceil(64), 0);
        (0..came).for_each(|place| self.scratch.seen[base + place / 64] |= 1 << (place % 64));
    }

    /// Notes that a field came; none if it came before.
    fn note(&mut self, place: usize, base: usize) -> Option<()> {
        let (word, bit) = (&mut self.scratch.seen[base + place / 64], 1 << (place % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new.then_some(())
    }

    fn missing(&mut self, node: &Node) -> Option<()> {
        match node {
            Node::Skip => Some(()),
            Node::Optional { validity, defaults, .. } => {
                self.columns.push_validity(*validity, false);
                self.columns.push_defaults(defaults).ok()
            }
            Node::Scalar(_)
            | Node::Spelled(..)
            | Node::String(_)
            | Node::Bytes(_)
            | Node::List { .. }
            | Node::Fixed { .. }
            | Node::Record(_) => None,
        }
    }

    fn string(&mut self, id: ColumnId, at: usize) -> Option<usize> {
        let (text, end, escaped) = self.quoted(at)?;
        let unescaped = if escaped { self.unescaped(at, end)? } else { Vec::new() };
        let Column::Text(texts) = self.columns.get_mut(id)? else { return None };
        texts.push(if escaped { &unescaped } else { text }).then_some(end)
    }

    fn byte_string(&mut self, id: ColumnId, at: usize) -> Option<usize> {
        // An escape is nothing that base64 has.
        let (text, end, _) = self.quoted(at)?;
        let Column::Text(texts) = self.columns.get_mut(id)? else { return None };
        let bytes = &mut self.scratch.bytes;
        bytes.clear();
        (base64::decode(text, bytes) && texts.push(bytes)).then_some(end)
    }

    fn spelled(&mut self, spelling: &Spelling, id: ColumnId, at: usize) -> Option<usize> {
        if spelling.is_bytes() {
            let (text, end, _) = self.quoted(at)?;
            let bytes = &mut self.scratch.bytes;
            bytes.clear();
            let decoded = base64::decode(text, bytes);
            return (decoded && spelled::push_bytes(spelling, bytes, self.columns.get_mut(id)?)).then_some(end);
        }
        let (text, end) = match *self.text.get(at)? {
            b'"' => match self.quoted(at)? {
                (_, _, true) => return None,
                (text, end, false) => (text, end),
            },
            _ if spelling.is_number() => {
                let end = number(self.text, at)?;
                (self.text.get(at..end)?, end)
            }
            _ => return None,
        };
        // The whole text is UTF-8, and so is what stands between two of its quotes.
        let text = std::str::from_utf8(text).ok()?;
        spelled::push(spelling, text, self.columns.get_mut(id)?).then_some(end)
    }
}
