//! The op tables that this process knows: a file names its ops, and loading it finds them here.

use crate::control::CONTROL;
use extenso_core::OpDef;
use extenso_types::{Error, Result};
use std::sync::RwLock;

type Table = &'static [&'static OpDef];

static JOINED: RwLock<Vec<Table>> = RwLock::new(Vec::new());

/// Every op that is known: those of the core, of this crate, and of the tables that were joined.
pub fn tables() -> impl Iterator<Item = &'static OpDef> {
    let joined = JOINED.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
    shipped().chain(joined.into_iter().flatten().copied())
}

fn shipped() -> impl Iterator<Item = &'static OpDef> {
    extenso_core::ops::TABLES.iter().map(|(_, ops)| *ops).chain(std::iter::once(CONTROL)).flatten().copied()
}

/// Makes the ops of another crate's table known, so that files that use them load. A table may be joined again.
///
/// Errors: a name that another op has.
pub fn join_table(table: Table) -> Result<()> {
    let mut joined = JOINED.write().unwrap_or_else(std::sync::PoisonError::into_inner);
    if joined.iter().any(|known| std::ptr::eq(*known, table)) {
        return Ok(());
    }
    let known: Vec<_> = shipped().chain(joined.iter().copied().flatten().copied()).collect();
    if let Some(op) = table.iter().find(|op| known.iter().any(|other| other.name == op.name)) {
        return Err(Error::value(format!("another op is named '{}'", op.name))
            .wanted("names that no other table has")
            .hint("Declare the table `in` a package: its name stands in front of the ops' names.")
            .at("join_table"));
    }
    joined.push(table);
    Ok(())
}
