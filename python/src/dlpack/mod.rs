//! DLPack: numbers and booleans shared with any array library, both ways.
//!
//! Invariant: memory is given back exactly once, by whoever has the capsule last; what is shared outward is said to be
//! read-only, and where a capsule cannot say so, it holds a copy.

mod export;
mod import;

pub use export::{Wish, capsule};
pub use import::{from_dlpack, tensor_of};

use extenso_types::DType;
use std::ffi::{CStr, c_void};

/// The device that shares the memory of Python.
pub const CPU: i32 = 1;
/// The devices whose memory the CPU reads: its own, and what CUDA or ROCm have pinned of it.
const READABLE: [i32; 3] = [CPU, 3, 11];
/// The newest version that is written; a reader of version 1 takes every minor one.
const VERSION: Version = Version { major: 1, minor: 0 };
const READ_ONLY: u64 = 1;
const IS_COPIED: u64 = 2;

/// A kind of managed tensor, of which a capsule holds one.
trait Managed: Sized {
    /// The name of a capsule that nobody took yet.
    const NAME: &'static CStr;
    /// The name of one whose tensor was taken.
    const USED: &'static CStr;

    fn deleter(&self) -> Option<Deleter<Self>>;
}

// SAFETY: the protocol asks that it is called once, with the managed tensor that holds it.
type Deleter<M> = unsafe extern "C" fn(*mut M);

#[repr(C)]
#[derive(Clone, Copy)]
struct Version {
    major: u32,
    minor: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Device {
    kind: i32,
    id: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Element {
    code: u8,
    bits: u8,
    lanes: u16,
}

/// `DLTensor` of dlpack.h.
#[repr(C)]
struct RawTensor {
    data: *mut c_void,
    device: Device,
    rank: i32,
    element: Element,
    sizes: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// `DLManagedTensor`, which has neither a version nor flags.
#[repr(C)]
struct Unversioned {
    tensor: RawTensor,
    context: *mut c_void,
    deleter: Option<Deleter<Unversioned>>,
}

/// `DLManagedTensorVersioned`: its first three fields are the same in every version.
#[repr(C)]
struct Versioned {
    version: Version,
    context: *mut c_void,
    deleter: Option<Deleter<Versioned>>,
    flags: u64,
    tensor: RawTensor,
}

impl Managed for Unversioned {
    const NAME: &'static CStr = c"dltensor";
    const USED: &'static CStr = c"used_dltensor";

    fn deleter(&self) -> Option<Deleter<Self>> {
        self.deleter
    }
}

impl Managed for Versioned {
    const NAME: &'static CStr = c"dltensor_versioned";
    const USED: &'static CStr = c"used_dltensor_versioned";

    fn deleter(&self) -> Option<Deleter<Self>> {
        self.deleter
    }
}

const INT: u8 = 0;
const UINT: u8 = 1;
const FLOAT: u8 = 2;
const BFLOAT: u8 = 4;
const BOOL: u8 = 6;

/// Each dtype with the code and the bits that DLPack has for it.
const ELEMENTS: [(DType, u8, u8); 13] = [
    (DType::Bool, BOOL, 8),
    (DType::I8, INT, 8),
    (DType::I16, INT, 16),
    (DType::I32, INT, 32),
    (DType::I64, INT, 64),
    (DType::U8, UINT, 8),
    (DType::U16, UINT, 16),
    (DType::U32, UINT, 32),
    (DType::U64, UINT, 64),
    (DType::F16, FLOAT, 16),
    (DType::BF16, BFLOAT, 16),
    (DType::F32, FLOAT, 32),
    (DType::F64, FLOAT, 64),
];

impl Element {
    fn of(dtype: DType) -> Option<Element> {
        let (_, code, bits) = ELEMENTS.iter().find(|(known, ..)| *known == dtype)?;
        Some(Element { code: *code, bits: *bits, lanes: 1 })
    }

    fn dtype(self) -> Option<DType> {
        let found = ELEMENTS.iter().find(|(_, code, bits)| (*code, *bits) == (self.code, self.bits));
        found.filter(|_| self.lanes == 1).map(|(dtype, ..)| *dtype)
    }
}
