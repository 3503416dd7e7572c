//! Arrow arrays that Arrow's own validation accepts, made from bytes: their types, lengths, offsets and validity.

use crate::outcomes::Outcomes;
use arrow_array::{Array, ArrayRef, make_array};
use arrow_buffer::Buffer;
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field, Fields};
use extenso_ext::to_literal;
use extenso_formats::arrow::{from_arrow, to_arrow};
use std::sync::Arc;

pub fn corpus() -> Vec<Vec<u8>> {
    // A length and an offset, a type, and what its buffers hold.
    let flat = |kind: u8| [&[4, 0, kind, 0][..], &(0..64).collect::<Vec<u8>>()].concat();
    let nulls = |kind: u8| [&[5, 1, kind, 1, 0b1011_0101][..], &(0..80).collect::<Vec<u8>>()].concat();
    let offsets: Vec<u8> = [0_i32, 2, 2, 3, 5, 6, 7].iter().flat_map(|o| o.to_le_bytes()).collect();
    let list = |kind: u8, child: u8| {
        [&[4, 1, kind, 1, 0xff][..], &offsets, &[9, 0, child, 0][..], &(0..120).collect::<Vec<u8>>()].concat()
    };
    let mut corpus: Vec<Vec<u8>> = (0..24).map(flat).collect();
    corpus.extend((0..24).map(nulls));
    corpus.extend((16..24).flat_map(|kind| [0, 7, 13, 17, 19].map(|child| list(kind, child))));
    corpus
}

pub fn run(bytes: &[u8], outcomes: &mut Outcomes) {
    let mut input = Input(bytes);
    let Some(data) = array(&mut input, 0) else { return };
    let array: ArrayRef = make_array(data);
    let from = usize::from(input.byte()).min(array.len());
    let len = usize::from(input.byte()).min(array.len() - from);
    for array in [array.clone(), array.slice(from, len)] {
        let Some(value) = outcomes.of("from_arrow", from_arrow(&array)) else { continue };
        outcomes.value("from_arrow", value.spec().expect("a spec"));
        drop(to_literal(&value));
        let again = to_arrow(&value).expect("what came in goes out");
        assert_eq!(again.len(), array.len(), "the length stays");
        from_arrow(&again).expect("what went out comes in");
    }
}

/// Bytes that never end: zeros follow.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        self.take(1)[0]
    }

    fn take(&mut self, n: usize) -> Vec<u8> {
        let (head, tail) = self.0.split_at(n.min(self.0.len()));
        self.0 = tail;
        let mut taken = head.to_vec();
        taken.resize(n, 0);
        taken
    }
}

const DEEPEST: usize = 4;

/// An array that Arrow's validation accepts, if the bytes make one.
fn array(input: &mut Input<'_>, depth: usize) -> Option<ArrayData> {
    let (len, offset) = (usize::from(input.byte() % 32), usize::from(input.byte() % 8));
    let kind = input.byte() % 24;
    // Arrow's validation lets offsets beyond such children through, on which its own constructors panic; these are sliced as
    // arrays instead.
    let offset = if matches!(kind, 18..=22) { 0 } else { offset };
    let elements = len + offset;
    let mut nulls = None;
    if input.byte() % 2 == 1 {
        nulls = Some(Buffer::from_vec(input.take(elements.div_ceil(8))));
    }
    let plain = |data_type: DataType, width: usize, input: &mut Input<'_>| {
        (data_type, vec![Buffer::from_vec(input.take(elements * width))], Vec::new())
    };
    let (data_type, buffers, children): (DataType, Vec<Buffer>, Vec<ArrayData>) = match kind {
        0 => plain(DataType::Int8, 1, input),
        1 => plain(DataType::Int16, 2, input),
        2 => plain(DataType::Int32, 4, input),
        3 => plain(DataType::Int64, 8, input),
        4 => plain(DataType::UInt8, 1, input),
        5 => plain(DataType::UInt16, 2, input),
        6 => plain(DataType::UInt32, 4, input),
        7 => plain(DataType::UInt64, 8, input),
        8 => plain(DataType::Float16, 2, input),
        9 => plain(DataType::Float32, 4, input),
        10 => plain(DataType::Float64, 8, input),
        11 => plain(DataType::Date32, 4, input),
        12 => (DataType::Boolean, vec![Buffer::from_vec(input.take(elements.div_ceil(8)))], Vec::new()),
        13 => text(DataType::Utf8, 4, elements, input),
        14 => text(DataType::LargeUtf8, 8, elements, input),
        15 => text(DataType::Binary, 4, elements, input),
        16 => list(DataType::List, 4, elements, input, depth)?,
        17 => list(DataType::LargeList, 8, elements, input, depth)?,
        18 | 19 => {
            let size = i32::from(input.byte() % 4);
            let child = child(input, depth)?;
            (DataType::FixedSizeList(field("item", &child), size), Vec::new(), vec![child])
        }
        20..=22 => {
            let children: Vec<ArrayData> = (0..kind - 19).map_while(|_| child(input, depth)).collect();
            let fields: Fields = children.iter().zip(["a", "b c", "ß"]).map(|(c, name)| field(name, c)).collect();
            (DataType::Struct(fields), Vec::new(), children)
        }
        _ => (DataType::Null, Vec::new(), Vec::new()),
    };
    let builder = ArrayData::builder(data_type).len(len).offset(offset).buffers(buffers).child_data(children);
    builder.null_bit_buffer(nulls).align_buffers(true).build().ok()
}

fn child(input: &mut Input<'_>, depth: usize) -> Option<ArrayData> {
    if depth >= DEEPEST { None } else { array(input, depth + 1) }
}

fn field(name: &str, child: &ArrayData) -> Arc<Field> {
    Arc::new(Field::new(name, child.data_type().clone(), true))
}

type Parts = (DataType, Vec<Buffer>, Vec<ArrayData>);

/// Offsets as the bytes have them, kept small so that validation lets some through.
fn offsets(width: usize, elements: usize, input: &mut Input<'_>) -> Buffer {
    let mut bytes = input.take((elements + 1) * width);
    if bytes.first().is_none_or(|first| first % 2 == 0) {
        let mut last = 0;
        for offset in bytes.chunks_mut(width) {
            last += u64::from(offset[0] % 4);
            offset.copy_from_slice(&last.to_le_bytes()[..width]);
        }
    }
    Buffer::from_vec(bytes)
}

fn text(data_type: DataType, width: usize, elements: usize, input: &mut Input<'_>) -> Parts {
    let offsets = offsets(width, elements, input);
    (data_type, vec![offsets, Buffer::from_vec(input.take(128))], Vec::new())
}

fn list(
    of: fn(Arc<Field>) -> DataType,
    width: usize,
    elements: usize,
    input: &mut Input<'_>,
    depth: usize,
) -> Option<Parts> {
    let offsets = offsets(width, elements, input);
    let child = child(input, depth)?;
    Some((of(field("item", &child)), vec![offsets], vec![child]))
}
