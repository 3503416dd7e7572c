//! Batchable classes: the components of a value have its axes in front.
//!
//! Invariant: the type written in Rust says which components meet; tensors that obviously do are not shown to it.

use crate::error::{OrRaise, guarded};
use crate::tensor::PyTensor;
use crate::{arg, value};
use extenso_core::{Dense, TypeSpec, Value};
use extenso_ext::{Batchable, BatchableSpec};
use extenso_types::{ExtSpec, Result};
use pyo3::prelude::*;

use super::assemble::split;
use super::base::{Fields, joined};
use super::class::Class;
use super::field::Table;
use super::kind::Components;

/// Fields that a constructor is given, whose components have the axes of the value, now or when a graph runs.
///
/// Errors: outer axes that differ.
pub fn of_axes(py: Python<'_>, class: &Class, table: &Table, fields: Fields) -> PyResult<Fields> {
    if !class.def.is_a(BatchableSpec::def()) || are_alike(py, table, &fields) {
        return Ok(fields);
    }
    let (static_data, parts) = split(py, table, |i| Ok(fields[i].bind(py).clone()), &arg::is_value)?;
    let values: Vec<Value> = parts.iter().map(|(_, part)| value::from_py(part)).collect::<PyResult<_>>()?;
    let specs = parts.into_iter().zip(&values).map(|((segment, _), value)| Ok((segment, value.spec()?)));
    let components = specs.collect::<Result<_>>().or_raise()?;
    let spec = ExtSpec { def: class.def.clone(), static_data, components };
    let name = class.py_type.bind(py).name()?.to_string();
    BatchableSpec::validate_refined(&spec, &values).map_err(|e| e.at(&name)).or_raise()?;
    let mut leaves = Vec::new();
    values.iter().try_for_each(|value| value.push_leaves(&mut leaves)).or_raise()?;
    if leaves.iter().all(|leaf| leaf.symbol().is_none()) {
        return Ok(fields);
    }
    let values = guarded(|| Batchable::guarded(values)).map_err(|e| e.at(name)).or_raise()?;
    joined(py, class, &spec, values)
}

/// Whether all components are tensors whose sizes are the same along the axes that all of them have.
fn are_alike(py: Python<'_>, table: &Table, fields: &[Py<PyAny>]) -> bool {
    let mut shared: Option<&[usize]> = None;
    for (field, value) in table.fields.iter().zip(fields) {
        let Ok(tensor) = value.bind(py).cast_exact::<PyTensor>() else {
            match field.resolve(py).map(|known| known.kind.components()) {
                Ok(Components::None) => continue,
                Ok(Components::One | Components::Some) | Err(_) => return false,
            }
        };
        let Ok(dims) = tensor.get().0.data().map(Dense::dims) else { return false };
        let axes = shared.map_or(dims.len(), |shared| shared.len().min(dims.len()));
        if shared.is_some_and(|shared| shared[..axes] != dims[..axes]) {
            return false;
        }
        shared = Some(&dims[..axes]);
    }
    true
}
