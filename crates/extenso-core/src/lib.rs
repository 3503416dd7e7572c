//! Tensors, row partitions, extension values, the op tables, and the one pipeline that applies ops.
//!
//! Every application of an op enters [`call`]: arguments are canonicalized, extension types are dispatched to, symbols are
//! recorded, and on data the op is inferred and run. What a graph is lives above, in `extenso-graph`, behind [`Tracer`].
//! The extension types that Extenso ships live above too, in `extenso-ext`, on public items only.

pub mod attrs;
mod call;
mod dispatch;
mod display;
pub mod elementwise;
mod ext;
pub mod grad;
pub mod kernels;
mod offsets;
mod op;
pub mod ops;
mod partition;
pub mod reduce;
mod symbol;
mod tensor;
mod threads;
mod value;
mod variable;

pub use call::{call, call_one, canonicalize, strengthen};
pub use dispatch::{Answer, Call, Handler, HandlerId, Target, on, register_handler, unregister};
pub use ext::{
    Component, Ext, Extension, ExtensionType, OpaqueExtension, Provenance, StaticData, TypeBehavior, TypeSpec,
    behavior, cast, check_spec, define, lookup, pack, rebuild, rebuild_named, register, resolve, why_opaque,
};
pub use offsets::Offsets;
pub use op::{Class, EpilogueFn, Fact, FirstSpecs, InferFn, Kernel, KernelFn, NarrowFn, OfRows, OpDef, OutputSpecs};
pub use partition::{RowPartition, Rows};
pub use symbol::{ScopeId, Symbol, Tracer, current_scope, is_open, outer_scope, with_ops, with_scope, without_ops};
pub use tensor::{
    Dense, Element, Elements, MAX_EMPTY, MAX_RANK, Storage, Tensor, bits_of_bytes, bytes_of_bits, element_count,
    join_text,
};
pub use threads::{in_order, side_by_side, threads, with_threads};
pub use value::{Arg, Outputs, Scalar, Value};
pub use variable::{Variable, with_variables};

// What `ops!` names where another crate calls it.
pub use extenso_types::{Error, Result};
