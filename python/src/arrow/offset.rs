//! The offset of an array of the C interface: one number for its validity bits, its buffers and a struct's fields.
//!
//! Bits cannot begin inside a byte, so a slice whose buffers began at its first item would have to copy its bits. It leaves as
//! it came: the buffers begin earlier, and the offset says where its items do.

use arrow_array::ffi::FFI_ArrowArray;
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_data::{ArrayData, BufferSpec, layout};
use arrow_schema::{DataType, UnionMode};
use std::ptr::NonNull;
use std::sync::Arc;

/// The array whose structs, lists of one size and sparse unions begin where their children do, at every level.
///
/// Arrow's own arrays cut the fields of a struct twice where both have an offset.
pub fn into_fields(data: ArrayData) -> ArrayData {
    let (offset, len) = (data.offset(), data.len());
    let items = match data.data_type() {
        DataType::Struct(_) | DataType::Union(_, UnionMode::Sparse) => 1,
        DataType::FixedSizeList(_, size) => usize::try_from(*size).unwrap_or(0),
        _ => {
            let children = data.child_data().iter().cloned().map(into_fields).collect();
            return assume_built(data.into_builder().child_data(children));
        }
    };
    let nulls = data.nulls().cloned();
    // The tags of unions, a byte for each element, are the only buffer of these types.
    let tags = data.buffers().iter().map(|tags| tags.slice_with_length(offset, len)).collect();
    let child = |child: &ArrayData| into_fields(cut(child, offset * items, len * items));
    let children = data.child_data().iter().map(child).collect();
    let built = ArrayData::builder(data.data_type().clone()).len(len).nulls(nulls);
    assume_built(built.buffers(tags).child_data(children))
}

/// `len` items of an array, whose own fields stay as they are.
fn cut(data: &ArrayData, offset: usize, len: usize) -> ArrayData {
    let nulls = data.nulls().map(|nulls| nulls.slice(offset, len));
    assume_built(data.clone().into_builder().offset(data.offset() + offset).len(len).nulls(nulls))
}

/// The C array of `data`, with the addresses of its buffers.
///
/// Bits are copied only where the buffers beside them do not reach back as far as they do.
pub fn export(data: &ArrayData) -> FFI_ArrowArray {
    FFI_ArrowArray::new(&aligned(data))
}

fn aligned(data: &ArrayData) -> ArrayData {
    rewound(data, 0).unwrap_or_else(|| {
        let children = data.child_data().iter().map(aligned).collect();
        assume_built(data.clone().into_builder().child_data(children))
    })
}

/// The array that begins `lead` items before `data`, at the offset where its validity bits begin.
fn rewound(data: &ArrayData, lead: usize) -> Option<ArrayData> {
    let first = data.nulls().map_or(data.offset().max(lead), NullBuffer::offset);
    let offset = first.checked_sub(lead)?;
    let back = first.checked_sub(data.offset())?;
    let layout = layout(data.data_type());
    // Behind the views of texts stand as many buffers of bytes as there are.
    let specs = layout.buffers.iter().chain(std::iter::repeat(&BufferSpec::VariableWidth));
    let buffers = data.buffers().iter().zip(specs).map(|(buffer, spec)| match spec {
        BufferSpec::FixedWidth { byte_width, .. } => earlier(buffer, back.checked_mul(*byte_width)?),
        BufferSpec::BitMap => back.is_multiple_of(8).then(|| earlier(buffer, back / 8))?,
        BufferSpec::VariableWidth | BufferSpec::AlwaysNull => Some(buffer.clone()),
    });
    let buffers = buffers.collect::<Option<Vec<_>>>()?;
    let children = data.child_data().iter().map(|child| match data.data_type() {
        DataType::Struct(_) | DataType::Union(_, UnionMode::Sparse) => rewound(child, back),
        DataType::FixedSizeList(_, size) => rewound(child, back.checked_mul(usize::try_from(*size).ok()?)?),
        _ => Some(aligned(child)),
    });
    let children = children.collect::<Option<Vec<_>>>()?;
    let len = data.len() + lead;
    let nulls = data.nulls().map(|n| NullBuffer::new(BooleanBuffer::new(n.buffer().clone(), offset, len)));
    let built = ArrayData::builder(data.data_type().clone()).len(len).offset(offset).nulls(nulls);
    Some(assume_built(built.buffers(buffers).child_data(children)))
}

/// The buffer that begins `bytes` earlier in the same allocation, if that does.
fn earlier(buffer: &Buffer, bytes: usize) -> Option<Buffer> {
    if bytes == 0 {
        return Some(buffer.clone());
    }
    if buffer.ptr_offset() < bytes {
        return None;
    }
    let len = buffer.len() + bytes;
    // SAFETY: the allocation reaches at least `ptr_offset` bytes back from the buffer's pointer, so that the range lies in it;
    // the buffer that is its owner keeps it alive, and nobody writes to it.
    unsafe {
        let start = NonNull::new(buffer.as_ptr().sub(bytes).cast_mut())?;
        Some(Buffer::from_custom_allocation(start, len, Arc::new(buffer.clone())))
    }
}

/// An array of the items of a valid one, at another offset.
fn assume_built(builder: arrow_data::ArrayDataBuilder) -> ArrayData {
    // SAFETY: type, items and order are those of an array that was valid, so its offsets and lengths are in its buffers.
    unsafe { builder.build_unchecked() }
}
