//! Functions: tracing, the graph, its passes, programs, gradients, control flow, and the saved file.
//!
//! A function is traced once per spec into a [`Graph`] of tensors and row partitions; a [`Program`] runs it. Nothing here
//! knows a concrete extension type: arguments and results are taken apart and rebuilt by their specs.

mod builder;
mod control;
mod display;
mod function;
mod gradient;
mod graph;
mod memory;
mod origin;
mod passes;
mod program;
mod retrace;
pub mod save;
mod tables;

pub use builder::{Traced, replay, trace};
pub use control::{COND, CONTROL, cond};
pub use function::{ARGUMENTS, Concrete, Function, is_generalising, with_generalising};
pub use gradient::{gradients, value_and_grad};
pub use graph::{Graph, Input, Node, NodeKind, Subgraph, ValueRef};
pub use origin::{Origin, find_origins_by};
pub use passes::optimize;
pub use program::Program;
pub use retrace::Retrace;
pub use tables::{join_table, tables};
