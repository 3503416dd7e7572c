//! What users' types say of the data of their values, where a function or an op takes leaves and nobody makes the values.
//!
//! Invariant: a type of which anything is needed is read whole and looks at it, whatever the rows are stored in; where no type looks at data,
//! no leaf more is read and no value is made.

use super::RecordSpec;
use crate::columns::{BadRows, OnError};
use crate::looks::{Seen, judged, looks_somewhere};
use crate::needs::Needs;
use extenso_core::{Provenance, Value, pack};
use extenso_graph::Concrete;
use extenso_types::{Error, Nest, Result, Spec};
use std::error::Error as _;

impl RecordSpec {
    /// Compiles the spec of the records that a function takes, for the leaves that it needs and what users' types look at beside them.
    ///
    /// Errors: as [`RecordSpec::new`].
    pub fn of(function: &Concrete) -> Result<RecordSpec> {
        RecordSpec::looked(function.record_spec(), &function.graph().needed_inputs())
    }

    /// Compiles the spec of a batch as [`RecordSpec::new`] does, and for what users' types look at beside what is needed.
    ///
    /// Errors: as [`RecordSpec::new`].
    pub(crate) fn looked(spec: &Nest<Spec>, needed: &[bool]) -> Result<RecordSpec> {
        if !spec.leaves().into_iter().any(|(_, spec)| looks_somewhere(spec)) {
            return RecordSpec::new(spec, needed);
        }
        let needs = Needs::new(spec, needed)?;
        if !needs.spec.as_ref().is_some_and(looks_somewhere) {
            return RecordSpec::new(spec, needed);
        }
        let mut read = vec![false; needs.none().len()];
        needs.places.iter().flatten().for_each(|place| read[*place] = true);
        Ok(RecordSpec { looked: Some(needs.into()), ..RecordSpec::new(spec, &read)? })
    }

    /// The leaves of rows, without those that users' types refuse, or with defaults in their place, as other bad rows have them.
    ///
    /// Errors: a row that is refused, under the policy that raises.
    pub(crate) fn judged(
        &self,
        leaves: Vec<Option<Value>>,
        bad: BadRows,
        seen: Seen<'_>,
        on_error: OnError,
    ) -> Result<(Vec<Option<Value>>, BadRows)> {
        let Some(needs) = &self.looked else { return Ok((leaves, bad)) };
        let Some(spec) = &needs.spec else { return Ok((leaves, bad)) };
        let value = pack(spec, &mut needs.found(&leaves)?.into_iter(), Provenance::Trusted)?;
        let (value, bad) = judged(value, bad, seen, spec, on_error)?;
        let mut found = Vec::with_capacity(needs.places.len());
        value.push_leaves(&mut found)?;
        Ok((needs.leaves(found)?, bad))
    }
}

/// The error with a place in front; what a host language raised keeps its text, and has the place below it.
pub fn placed(error: Error, place: &str) -> Error {
    if error.source().is_some() { error.note(format!("Found in {place} of the records.")) } else { error.at(place) }
}
