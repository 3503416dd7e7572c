//! The derived conformance of every op in the tables: what a declaration says holds.
//!
//! Nothing here names an op but the list of those without examples; a new op is tested as soon as it is
//! declared. Functions that are compositions of ops have no declaration; `composed` names them.

mod classes;
mod composed;
mod dtypes;
mod examples;
mod facts;
mod gradients;
mod lines;
mod lists;
mod networks;
mod promotion;
mod reference;
mod sizes;
mod support;
mod traces;
mod tracing;
