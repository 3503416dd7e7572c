//! An array as a stream of one chunk: what libraries ask for that take tables alone.
//!
//! Invariant: the array is handed out once; a stream that was released has nothing left.

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_schema::FieldRef;
use std::ffi::{c_char, c_int, c_void};
use std::ptr;

/// What the C interface calls an invalid argument.
const INVALID: c_int = 22;

/// What a stream has to give.
struct Chunk {
    field: FieldRef,
    array: Option<FFI_ArrowArray>,
}

/// The stream of this array alone.
pub fn of_one(field: FieldRef, array: FFI_ArrowArray) -> FFI_ArrowArrayStream {
    let chunk = Box::new(Chunk { field, array: Some(array) });
    FFI_ArrowArrayStream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release),
        private_data: Box::into_raw(chunk).cast::<c_void>(),
    }
}

// SAFETY: called with a stream that `of_one` made and nobody released, and room for a schema.
unsafe extern "C" fn get_schema(stream: *mut FFI_ArrowArrayStream, out: *mut FFI_ArrowSchema) -> c_int {
    // SAFETY: as the function says; the chunk is that of `of_one`.
    let chunk = unsafe { &*(*stream).private_data.cast::<Chunk>() };
    match FFI_ArrowSchema::try_from(chunk.field.as_ref()) {
        Ok(schema) => {
            // SAFETY: there is room, which holds nothing.
            unsafe { ptr::write(out, schema) };
            0
        }
        Err(_) => INVALID,
    }
}

// SAFETY: called with a stream that `of_one` made and nobody released, and room for an array.
unsafe extern "C" fn get_next(stream: *mut FFI_ArrowArrayStream, out: *mut FFI_ArrowArray) -> c_int {
    // SAFETY: as the function says; the chunk is that of `of_one`, and streams are read by one thread at a time.
    let chunk = unsafe { &mut *(*stream).private_data.cast::<Chunk>() };
    // SAFETY: there is room, which holds nothing.
    unsafe { ptr::write(out, chunk.array.take().unwrap_or_else(FFI_ArrowArray::empty)) };
    0
}

// SAFETY: called with a stream that `of_one` made; there is no text of an error.
unsafe extern "C" fn get_last_error(_: *mut FFI_ArrowArrayStream) -> *const c_char {
    ptr::null()
}

// SAFETY: called once with a stream that `of_one` made, by its last owner.
unsafe extern "C" fn release(stream: *mut FFI_ArrowArrayStream) {
    // SAFETY: as the function says; the chunk is the box of `of_one`, and a released stream says so.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<Chunk>()));
        (*stream).private_data = ptr::null_mut();
        (*stream).release = None;
    }
}
