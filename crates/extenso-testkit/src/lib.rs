//! Generators, conformance cases and law suites: what the tests of Extenso run, and what a type author can run on a type.
//!
//! Invariant: everything is seeded; a test that fails once fails again.

pub mod case;
pub mod eval;
pub mod functions;
pub mod laws;
pub mod rng;
