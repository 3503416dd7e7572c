//! What users' types say of the data of their values, where a function runs on leaves and nobody makes the values.
//!
//! Invariant: a value is looked at if all its leaves are there and it cannot be missing, and once. What lies under a missing value has no
//! meaning, and no type refuses it. What a decoder makes of shipped types is right as it is.

use super::RecordSpec;
use crate::looks::{looks, refused};
use extenso_core::{Provenance, TypeSpec, Value, pack};
use extenso_ext::MaskedTensorSpec;
use extenso_graph::Concrete;
use extenso_types::{Error, Path, Result, Spec};
use std::error::Error as _;
use std::ops::Range;

/// A value that its type looks at.
#[derive(Clone, Debug)]
pub struct Check {
    path: Path,
    spec: Spec,
    leaves: Range<usize>,
}

impl RecordSpec {
    /// Compiles the spec of the records that a function takes, for the leaves that it needs. A user's type looks at those of a value of its
    /// own as it would if the value were made of them.
    ///
    /// Errors: as [`RecordSpec::new`].
    pub fn of(function: &Concrete) -> Result<RecordSpec> {
        let needed = function.graph().needed_inputs();
        let records = RecordSpec::new(function.record_spec(), &needed)?;
        let mut found = Found { checks: Vec::new(), needed: &needed, next: 0 };
        function.record_spec().leaves().into_iter().for_each(|(path, spec)| found.walk(path, spec, false));
        Ok(RecordSpec { checks: found.checks, ..records })
    }
}

struct Found<'a> {
    checks: Vec<Check>,
    needed: &'a [bool],
    next: usize,
}

impl Found<'_> {
    fn walk(&mut self, path: Path, spec: &Spec, may_be_missing: bool) {
        let Spec::Ext(ext) = spec else {
            self.next += 1;
            return;
        };
        let (first, inner) = (self.next, self.checks.len());
        let below = may_be_missing || ext.def.uid() == MaskedTensorSpec::def().uid();
        for (segment, spec) in &ext.components {
            self.walk(path.child(segment.clone()), spec, below);
        }
        let leaves = first..self.next;
        if !may_be_missing && looks(ext) && leaves.clone().all(|leaf| self.needed.get(leaf).copied().unwrap_or(true)) {
            // Making the value makes those inside it.
            self.checks.truncate(inner);
            self.checks.push(Check { path, spec: spec.clone(), leaves });
        }
    }
}

impl Check {
    /// Has the type look at its leaves among those of the whole.
    ///
    /// Errors: data that the type refuses, with the path of the value.
    pub fn of(&self, leaves: &[Option<Value>]) -> Result<()> {
        let mut parts = leaves[self.leaves.clone()].iter().flatten().cloned();
        let value = pack(&self.spec, &mut parts, Provenance::Trusted)?;
        let Some(bad) = refused(&value, None, 1)?.into_iter().next() else { return Ok(()) };
        Err(if self.path.is_root() { bad.error } else { placed(bad.error, &format!("'{}'", self.path)) })
    }
}

/// The error with a place in front; what a host language raised keeps its text, and has the place below it.
pub fn placed(error: Error, place: &str) -> Error {
    if error.source().is_some() { error.note(format!("Found in {place} of the records.")) } else { error.at(place) }
}
