//! Sizes that are one size under two variables, once the values that they are of are one.
//!
//! Invariant: after a merge every later node speaks of the variable of the value that stays.

use extenso_core::OutputSpecs;
use extenso_types::{Dim, DimId, LeafSpec, Shape};
use std::collections::HashMap;

/// What the variables of values that are gone stand for.
#[derive(Default)]
pub(crate) struct Renamed(HashMap<DimId, Dim>);

impl Renamed {
    /// Notes that values of the first specs are those of the second.
    pub(crate) fn note(&mut self, gone: &OutputSpecs, stays: &OutputSpecs) {
        for (gone, stays) in gone.iter().zip(stays) {
            match (gone, stays) {
                (LeafSpec::Tensor(a), LeafSpec::Tensor(b)) => {
                    let dims = a.shape.dims().into_iter().flatten().zip(b.shape.dims().into_iter().flatten());
                    dims.for_each(|(a, b)| self.same(*a, *b));
                }
                (LeafSpec::Partition(a), LeafSpec::Partition(b)) => {
                    self.same(a.nrows, b.nrows);
                    self.same(a.nvalues, b.nvalues);
                }
                (LeafSpec::Tensor(_), LeafSpec::Partition(_)) | (LeafSpec::Partition(_), LeafSpec::Tensor(_)) => {}
            }
        }
    }

    fn same(&mut self, gone: Dim, stays: Dim) {
        match gone {
            Dim::Var(id) if gone != stays => {
                self.0.insert(id, stays);
            }
            Dim::Var(_) | Dim::Known(_) => {}
        }
    }

    /// Puts what variables stand for into specs.
    pub(crate) fn apply(&self, specs: &mut OutputSpecs) {
        if self.0.is_empty() {
            return;
        }
        for spec in specs {
            match spec {
                LeafSpec::Tensor(tensor) => {
                    if let Some(dims) = tensor.shape.dims() {
                        tensor.shape = Shape::new(dims.iter().map(|dim| self.of(*dim)));
                    }
                }
                LeafSpec::Partition(rows) => {
                    rows.nrows = self.of(rows.nrows);
                    rows.nvalues = self.of(rows.nvalues);
                }
            }
        }
    }

    fn of(&self, dim: Dim) -> Dim {
        match dim {
            Dim::Var(id) => self.0.get(&id).copied().unwrap_or(dim),
            Dim::Known(_) => dim,
        }
    }
}
