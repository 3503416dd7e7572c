//! The derived conformance of every op in the tables: what a declaration says holds.
//!
//! Nothing here names an op but the list of those without examples; a new op is tested as soon as it is declared.

mod classes;
mod dtypes;
mod examples;
mod facts;
mod gradients;
mod reference;
mod support;
mod tracing;
