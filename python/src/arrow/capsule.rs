//! Arrays of other libraries through the PyCapsule protocol: one array, or the chunks of a stream.
//!
//! Invariant: an array that leaves this module was validated, in full where reading it would trust more than its layout.

use super::{offset, refused};
use crate::error::raised;
use crate::{arg, value};
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, make_array};
use arrow_schema::{DataType, Field, FieldRef};
use extenso_formats::arrow::{MAX_LEVELS, too_deep, with_bytes};
use extenso_formats::caught::caught;
use extenso_types::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use std::any::Any;
use std::ffi::{CStr, c_void};
use std::sync::Arc;

/// A field and its arrays, one after the other.
pub struct Chunks {
    pub field: FieldRef,
    pub arrays: Vec<ArrayRef>,
}

/// Whether an object hands out arrays by the protocol.
pub fn has_arrays(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(object.is_instance_of::<PyChunks>()
        || object.hasattr("__arrow_c_array__")?
        || object.hasattr("__arrow_c_stream__")?)
}

/// The arrays of an object with `__arrow_c_array__` or `__arrow_c_stream__`.
///
/// Errors: an object without either; arrays that are malformed.
pub fn chunks(object: &Bound<'_, PyAny>, op: &str) -> PyResult<Chunks> {
    let py = object.py();
    let stream = Coming::of(object, op)?;
    let (field, mut arrays) = (stream.field.clone(), Vec::new());
    for array in stream {
        arrays.push(array.map_err(|e| raised(py, e.at(op)))?);
        py.check_signals()?;
    }
    Ok(Chunks { field, arrays })
}

/// The arrays that an object handed out, which may do that once.
#[pyclass(name = "HeldArrays", module = "extenso", frozen)]
pub struct PyChunks(pub Chunks);

/// A field and its arrays as they come, validated.
pub struct Coming {
    pub field: FieldRef,
    rest: Rest,
}

enum Rest {
    Held(std::vec::IntoIter<ArrayRef>),
    InTurn(FFI_ArrowArrayStream),
}

impl Coming {
    /// The arrays of an object.
    ///
    /// Errors: an object without any; a schema that is malformed.
    pub fn of(object: &Bound<'_, PyAny>, op: &str) -> PyResult<Coming> {
        let held = |chunks: &Chunks| Coming {
            field: chunks.field.clone(),
            rest: Rest::Held(chunks.arrays.clone().into_iter()),
        };
        if let Ok(chunks) = object.cast::<PyChunks>() {
            return Ok(held(&chunks.get().0));
        }
        // A frame of pandas means what `from_pandas` says, and not what pyarrow makes of it, unless it is asked for as Arrow.
        if op != "from_arrow" && arg::reader_of(&object.get_type())? == Some("from_pandas") {
            let frame = value::to_py(object.py(), arg::of_library(object, "from_pandas")?)?;
            return one(&frame, op).map(|chunks| held(&chunks));
        }
        if object.hasattr("__arrow_c_array__")? {
            return one(object, op).map(|chunks| held(&chunks));
        }
        if object.hasattr("__arrow_c_stream__")? {
            return several(object, op);
        }
        let error = Error::dtype(format!("found a value of type {}", arg::type_name(object)))
            .wanted("an array or a table of an Arrow library, with `__arrow_c_array__` or `__arrow_c_stream__`");
        Err(raised(object.py(), error.at(op)))
    }
}

impl Iterator for Coming {
    type Item = Result<ArrayRef>;

    fn next(&mut self) -> Option<Result<ArrayRef>> {
        match &mut self.rest {
            Rest::Held(arrays) => arrays.next().map(Ok),
            Rest::InTurn(stream) => {
                let data = next(stream).transpose()?;
                Some(data.and_then(|data| imported(data, self.field.data_type())))
            }
        }
    }
}

/// The field that the capsule of a schema holds, which stays the capsule's.
///
/// Errors: another object; a schema that is malformed.
pub fn field_of(capsule: &Bound<'_, PyAny>, op: &str) -> PyResult<Field> {
    let schema = capsule.cast::<PyCapsule>()?.pointer_checked(Some(c"arrow_schema"))?.cast::<FFI_ArrowSchema>();
    // SAFETY: the capsule carries the name of the protocol, which says what it points to, and lives as long as the reference.
    let schema = unsafe { schema.as_ref() };
    field_from(capsule.py(), schema, op)
}

/// The field that a schema is, which is followed down when it is known where it ends.
fn field_from(py: Python<'_>, schema: &FFI_ArrowSchema, op: &str) -> PyResult<Field> {
    // SAFETY: the struct is that of the C interface, and begins with these fields.
    if unsafe { (*std::ptr::from_ref(schema).cast::<RawSchema>()).release.is_null() } {
        return Err(refused(py, op, "the schema was released"));
    }
    // The crate panics where a name is no text, and where a schema has less than its format says.
    let read = caught(|| {
        if !ends_within(schema, MAX_LEVELS) {
            return Err(raised(py, too_deep(MAX_LEVELS).at(op)));
        }
        Field::try_from(schema).map_err(|e| refused(py, op, e))
    });
    read.unwrap_or_else(|panic| Err(refused(py, op, said(panic.as_ref()))))
}

/// What a panic said.
fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("no more is known").to_string()
}

/// A schema of the C interface, field by field, as far as it is looked at.
#[repr(C)]
struct RawSchema {
    format: *const c_void,
    name: *const c_void,
    metadata: *const c_void,
    flags: i64,
    n_children: i64,
    children: *mut *mut RawSchema,
    dictionary: *mut RawSchema,
    /// A function, which is not called here.
    release: *mut c_void,
}

fn ends_within(schema: &FFI_ArrowSchema, levels: usize) -> bool {
    let ends = |below: &FFI_ArrowSchema| levels.checked_sub(1).is_some_and(|levels| ends_within(below, levels));
    schema.children().all(ends) && schema.dictionary().is_none_or(ends)
}

fn one(object: &Bound<'_, PyAny>, op: &str) -> PyResult<Chunks> {
    let py = object.py();
    let capsules = object.call_method0("__arrow_c_array__")?.cast_into::<PyTuple>()?;
    let schema = capsules.get_item(0)?.cast_into::<PyCapsule>()?;
    let data = capsules.get_item(1)?.cast_into::<PyCapsule>()?;
    let schema = schema.pointer_checked(Some(c"arrow_schema"))?.cast::<FFI_ArrowSchema>();
    let data = data.pointer_checked(Some(c"arrow_array"))?.cast::<FFI_ArrowArray>();
    // SAFETY: the capsules carry the names of the protocol, which says what they point to; taking the array out leaves an
    // empty one, so that it is released once.
    let (schema, data) = unsafe { (schema.as_ref(), FFI_ArrowArray::from_raw(data.as_ptr())) };
    let field = field_from(py, schema, op)?;
    let field = with_bytes(&Arc::new(field));
    let array = imported(data, field.data_type()).map_err(|e| raised(py, e.at(op)))?;
    Ok(Chunks { field, arrays: vec![array] })
}

fn several(object: &Bound<'_, PyAny>, op: &str) -> PyResult<Coming> {
    let py = object.py();
    let capsule = object.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
    let stream = capsule.pointer_checked(Some(c"arrow_array_stream"))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: the capsule carries the name of the protocol, which says what it points to; taking the stream out leaves an
    // empty one, so that it is released once.
    let mut stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.as_ptr()) };
    let mut schema = FFI_ArrowSchema::empty();
    let get = stream.get_schema.ok_or_else(|| refused(py, op, "the stream was released"))?;
    // SAFETY: the stream is not released, and its function fills in the schema that it is given or returns an error.
    let code = unsafe { get(&mut stream, &mut schema) };
    check(&mut stream, code).map_err(|e| raised(py, e.at(op)))?;
    let field = field_from(py, &schema, op)?;
    Ok(Coming { field: with_bytes(&Arc::new(field)), rest: Rest::InTurn(stream) })
}

fn next(stream: &mut FFI_ArrowArrayStream) -> Result<Option<FFI_ArrowArray>> {
    let mut data = FFI_ArrowArray::empty();
    let get = stream.get_next.ok_or_else(|| Error::data("the stream was released"))?;
    // SAFETY: the stream is not released, and its function fills in the array that it is given, leaves it released at the
    // end, or returns an error.
    let code = unsafe { get(stream, &mut data) };
    check(stream, code)?;
    Ok((!data.is_released()).then_some(data))
}

/// The error of a stream, in its own words.
fn check(stream: &mut FFI_ArrowArrayStream, code: i32) -> Result<()> {
    if code == 0 {
        return Ok(());
    }
    let mut text = format!("error {code}");
    if let Some(get) = stream.get_last_error {
        // SAFETY: the stream is not released; its text, if any, ends with a zero and lives until the next call.
        unsafe {
            let last = get(stream);
            if !last.is_null() {
                text = CStr::from_ptr(last).to_string_lossy().into_owned();
            }
        }
    }
    Err(Error::data(format!("the stream failed: {text}")))
}

/// The array of the C interface, validated.
fn imported(data: FFI_ArrowArray, data_type: &DataType) -> Result<ArrayRef> {
    let malformed = |e: String| Error::data(format!("the Arrow array is malformed: {e}"));
    if data.is_released() {
        return Err(Error::data("the Arrow array was released").wanted("an array that is handed out once"));
    }
    let data = put_right(data, data_type);
    let read = caught(|| {
        // SAFETY: the array comes with this type, by the protocol.
        let data = unsafe { from_ffi_and_data_type(data, data_type.clone()) }.map_err(|e| malformed(e.to_string()))?;
        let checked = if is_plain(data_type) { data.validate() } else { data.validate_full() };
        checked.map_err(|e| malformed(e.to_string()))?;
        Ok(make_array(offset::into_fields(data)))
    });
    read.unwrap_or_else(|panic| Err(malformed(said(panic.as_ref()))))
}

/// Whether what reads an array of this type checks all that validation in full would.
fn is_plain(data_type: &DataType) -> bool {
    match data_type {
        DataType::Utf8View
        | DataType::BinaryView
        | DataType::ListView(_)
        | DataType::LargeListView(_)
        | DataType::Union(..)
        | DataType::Dictionary(..)
        | DataType::RunEndEncoded(..) => false,
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => is_plain(field.data_type()),
        DataType::Struct(fields) => fields.iter().all(|field| is_plain(field.data_type())),
        _ => true,
    }
}

/// An array of the C interface, field by field.
#[repr(C)]
#[derive(Clone, Copy)]
struct Raw {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut Raw,
    dictionary: *mut Raw,
    // SAFETY: whoever calls it gives the struct that it stands in, once.
    release: Option<unsafe extern "C" fn(*mut Raw)>,
    private_data: *mut c_void,
}

/// An array, or a part of one, as the crate wants it, with what it points to.
struct Put {
    raw: Raw,
    buffers: Vec<*const c_void>,
    children: Vec<*mut Raw>,
    parts: Vec<Put>,
    offsets: Vec<u64>,
}

/// What is put right, and what came, which is released after it.
struct Shadow {
    _put: Put,
    _came: FFI_ArrowArray,
}

/// The only offset of what has no items.
static NOWHERE: [u64; 1] = [0];

/// Puts right what libraries may do and the crate refuses: arrays of nulls have no buffers, and those that some give them are taken
/// out of sight; offsets of what is empty may begin anywhere, or be none, and those of texts may stand at any byte. What came stays as it is.
fn put_right(data: FFI_ArrowArray, data_type: &DataType) -> FFI_ArrowArray {
    // SAFETY: it is called with an array that was made here, once, as the C interface says.
    unsafe extern "C" fn release(array: *mut Raw) {
        // SAFETY: the array is one that was made here and is not released, so that its data is what was boxed for it.
        unsafe {
            drop(Box::from_raw((*array).private_data.cast::<Shadow>()));
            (*array).release = None;
        }
    }
    // SAFETY: the struct is that of the C interface, whose fields are these; the array comes with this type and is not released.
    let put = unsafe { put(std::ptr::from_ref(&data).cast::<Raw>(), data_type) };
    let mut raw = put.raw;
    raw.release = Some(release);
    // What the parts point to stays where it is when they are moved.
    raw.private_data = Box::into_raw(Box::new(Shadow { _put: put, _came: data })).cast();
    // SAFETY: the fields are those of the struct, and all that they point to lives until it is released.
    unsafe { FFI_ArrowArray::from_raw(std::ptr::from_mut(&mut raw).cast()) }
}

/// # Safety
/// The array is of this type and not released, and outlives what is made.
unsafe fn put(array: *const Raw, data_type: &DataType) -> Put {
    // SAFETY: the caller's promise.
    let raw = unsafe { *array };
    let mut made = Put { raw, buffers: Vec::new(), children: Vec::new(), parts: Vec::new(), offsets: Vec::new() };
    // SAFETY: the array is of this type.
    let mut offsets = |width, is_text| unsafe { made.put_offsets(width, is_text) };
    let below: Vec<&DataType> = match data_type {
        DataType::Null => {
            made.raw.n_buffers = 0;
            return made;
        }
        DataType::Utf8 | DataType::Binary => {
            offsets(4, true);
            return made;
        }
        DataType::LargeUtf8 | DataType::LargeBinary => {
            offsets(8, true);
            return made;
        }
        DataType::Dictionary(_, values) => {
            if !raw.dictionary.is_null() {
                // SAFETY: a dictionary is of the type of its values.
                made.parts.push(unsafe { put(raw.dictionary, values) });
                made.raw.dictionary = std::ptr::from_mut(&mut made.parts[0].raw);
            }
            return made;
        }
        DataType::List(item) | DataType::Map(item, _) => {
            offsets(4, false);
            vec![item.data_type()]
        }
        DataType::LargeList(item) => {
            offsets(8, false);
            vec![item.data_type()]
        }
        DataType::ListView(item) | DataType::LargeListView(item) | DataType::FixedSizeList(item, _) => {
            vec![item.data_type()]
        }
        DataType::Struct(fields) => fields.iter().map(|field| field.data_type()).collect(),
        DataType::Union(fields, _) => fields.iter().map(|(_, field)| field.data_type()).collect(),
        DataType::RunEndEncoded(ends, values) => vec![ends.data_type(), values.data_type()],
        _ => return made,
    };
    if raw.children.is_null() || usize::try_from(raw.n_children) != Ok(below.len()) {
        return made;
    }
    // SAFETY: there are so many children.
    let children = unsafe { std::slice::from_raw_parts(raw.children, below.len()) };
    if children.iter().any(|child| child.is_null()) {
        return made;
    }
    // SAFETY: each child is of its type.
    made.parts = children.iter().zip(below).map(|(child, below)| unsafe { put(*child, below) }).collect();
    made.children = made.parts.iter_mut().map(|part| std::ptr::from_mut(&mut part.raw)).collect();
    made.raw.children = made.children.as_mut_ptr();
    made
}

impl Put {
    /// Makes offsets of so many bytes each such that the crate reads them.
    ///
    /// # Safety
    /// The second buffer is one of such offsets, if there is one.
    unsafe fn put_offsets(&mut self, width: usize, is_text: bool) {
        let Ok(n) = usize::try_from(self.raw.n_buffers) else { return };
        if self.raw.buffers.is_null() || !(2..=3).contains(&n) {
            return;
        }
        // SAFETY: there are so many buffers.
        let buffers = unsafe { std::slice::from_raw_parts(self.raw.buffers, n) };
        let at = buffers[1];
        let there = self.raw.offset.checked_add(self.raw.length).and_then(|last| usize::try_from(last).ok());
        let offsets = match there {
            // The crate takes no bytes of what has no texts, wherever these begin; lists may begin anywhere.
            _ if self.raw.length == 0 && (is_text || at.is_null()) => {
                self.raw.offset = 0;
                NOWHERE.as_ptr().cast()
            }
            Some(last) if is_text && !at.is_null() && at.addr() % width != 0 => {
                let bytes = last.saturating_add(1).saturating_mul(width);
                self.offsets = vec![0; bytes.div_ceil(size_of::<u64>())];
                // SAFETY: an array has an offset more than it has items, and there is room for all.
                unsafe { std::ptr::copy_nonoverlapping(at.cast::<u8>(), self.offsets.as_mut_ptr().cast(), bytes) };
                self.offsets.as_ptr().cast()
            }
            _ => return,
        };
        self.buffers = buffers.to_vec();
        self.buffers[1] = offsets;
        self.raw.buffers = self.buffers.as_mut_ptr();
    }
}
