//! What a thing *is*: dtypes, shapes, specs, nests, paths, names of types, errors.
//!
//! Invariant: nothing here holds data or depends on another crate of the workspace, so anything may depend on it.
//! Kernels, values and tracing live above, in `extenso-core` and `extenso-graph`.

mod dtype;
mod error;
mod nest;
mod path;
mod promotion;
mod shape;
mod spec;
mod statics;
mod type_def;

pub use dtype::{DType, DTypeKind};
pub use error::{Error, Result};
pub use nest::Nest;
pub use path::{Path, Segment};
pub use promotion::FloatLimits;
pub use shape::{Dim, DimId, Dims, Shape, broadcast_dims};
pub use spec::{Bindings, ExtSpec, LeafSpec, PartitionSpec, Spec, TensorSpec};
pub use statics::StaticValue;
pub use type_def::{Fingerprint, TypeDef, TypeName};
