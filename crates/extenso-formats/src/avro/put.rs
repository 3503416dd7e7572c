//! Values on their way into rows: what of an array is written, and how.
//!
//! Invariant: a row is written without a look at the schema, which says what its bytes are.

use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};

/// How the values of one place are written.
#[derive(Debug)]
pub enum Put {
    Nothing,
    Bool(BooleanBuffer),
    I8(ScalarBuffer<i8>),
    I16(ScalarBuffer<i16>),
    I32(ScalarBuffer<i32>),
    I64(ScalarBuffer<i64>),
    U8(ScalarBuffer<u8>),
    U16(ScalarBuffer<u16>),
    U32(ScalarBuffer<u32>),
    /// Bytes as they are, so many for each value.
    Cells(Buffer, usize),
    /// Integers of so many bytes, the lowest first, written with the highest first.
    Decimal(Buffer, usize),
    /// The texts of identifiers of 16 bytes.
    Uuid(Buffer),
    Text32(ScalarBuffer<i32>, Buffer),
    Text64(ScalarBuffer<i64>, Buffer),
    Optional(Option<NullBuffer>, Box<Put>),
    List32(ScalarBuffer<i32>, Box<Put>),
    List64(ScalarBuffer<i64>, Box<Put>),
    /// Lists of so many items.
    Sized(usize, Box<Put>),
    Record(Vec<Put>),
    Union {
        ids: ScalarBuffer<i8>,
        offsets: Option<ScalarBuffer<i32>>,
        /// The children with their ids.
        children: Vec<(i8, Option<NullBuffer>, Put)>,
    },
}

/// Writes a number of variable length.
#[inline]
pub fn put_long(number: i64, out: &mut Vec<u8>) {
    let mut bits = (number << 1 ^ number >> 63).cast_unsigned();
    while bits >= 0x80 {
        out.push(bits.to_le_bytes()[0] | 0x80);
        bits >>= 7;
    }
    out.push(bits.to_le_bytes()[0]);
}

/// Writes bytes behind their length.
pub fn put_text(text: &[u8], out: &mut Vec<u8>) {
    put_long(i64::try_from(text.len()).unwrap_or(i64::MAX), out);
    out.extend_from_slice(text);
}

fn place(n: impl TryInto<usize>) -> usize {
    n.try_into().unwrap_or(0)
}

impl Put {
    /// Writes a value.
    pub fn put(&self, row: usize, out: &mut Vec<u8>) {
        match self {
            Put::Nothing => {}
            Put::Bool(bits) => out.push(u8::from(bits.value(row))),
            Put::I8(numbers) => put_long(numbers[row].into(), out),
            Put::I16(numbers) => put_long(numbers[row].into(), out),
            Put::I32(numbers) => put_long(numbers[row].into(), out),
            Put::I64(numbers) => put_long(numbers[row], out),
            Put::U8(numbers) => put_long(numbers[row].into(), out),
            Put::U16(numbers) => put_long(numbers[row].into(), out),
            Put::U32(numbers) => put_long(numbers[row].into(), out),
            Put::Cells(bytes, width) => out.extend_from_slice(&bytes[row * width..(row + 1) * width]),
            Put::Decimal(bytes, width) => put_decimal(&bytes[row * width..(row + 1) * width], out),
            Put::Uuid(bytes) => {
                put_long(36, out);
                extenso_ext::write_uuid(&bytes[row * 16..(row + 1) * 16], out);
            }
            Put::Text32(ends, bytes) => put_text(&bytes[place(ends[row])..place(ends[row + 1])], out),
            Put::Text64(ends, bytes) => put_text(&bytes[place(ends[row])..place(ends[row + 1])], out),
            Put::Optional(nulls, inner) => {
                if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
                    return out.push(0);
                }
                out.push(2);
                inner.put(row, out);
            }
            Put::List32(ends, item) => item.put_items(place(ends[row])..place(ends[row + 1]), out),
            Put::List64(ends, item) => item.put_items(place(ends[row])..place(ends[row + 1]), out),
            Put::Sized(size, item) => item.put_items(row * size..(row + 1) * size, out),
            Put::Record(parts) => parts.iter().for_each(|part| part.put(row, out)),
            Put::Union { ids, offsets, children } => {
                let child = children.iter().position(|(id, ..)| *id == ids[row]);
                let at = offsets.as_ref().map_or(row, |offsets| place(offsets[row]));
                match child.map(|child| (child, &children[child])) {
                    Some((child, (_, nulls, put))) if nulls.as_ref().is_none_or(|nulls| nulls.is_valid(at)) => {
                        put_long(i64::try_from(child).unwrap_or(0) + 1, out);
                        put.put(at, out);
                    }
                    _ => out.push(0),
                }
            }
        }
    }

    fn put_items(&self, items: std::ops::Range<usize>, out: &mut Vec<u8>) {
        if !items.is_empty() {
            put_long(i64::try_from(items.len()).unwrap_or(i64::MAX), out);
            items.for_each(|item| self.put(item, out));
        }
        out.push(0);
    }
}

/// Writes an integer, whose lowest byte is first, in as few bytes as hold it.
fn put_decimal(bytes: &[u8], out: &mut Vec<u8>) {
    let fill = if bytes.last().is_some_and(|high| *high >= 0x80) { 0xff } else { 0 };
    let mut n = bytes.len();
    while n > 1 && bytes[n - 1] == fill && (bytes[n - 2] >= 0x80) == (fill == 0xff) {
        n -= 1;
    }
    put_long(i64::try_from(n).unwrap_or(0), out);
    out.extend(bytes[..n].iter().rev());
}
