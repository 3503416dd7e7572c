//! Reading over values that nobody wants.
//!
//! Invariant: it takes no longer than there are bytes, whatever a schema says of values without any; the depth is bounded.

use super::schema::{Kind, Schema, TEXT, TypeId};
use super::wire::Wire;
use crate::failure::Read;

/// Which type of a union comes.
pub fn branch(wire: &mut Wire<'_>, count: usize) -> Read<usize> {
    let (at, tag) = (wire.at(), wire.long()?);
    usize::try_from(tag).ok().filter(|tag| *tag < count).ok_or_else(|| {
        wire.go_back(at);
        wire.unfit(format!("type {tag} of a union came"), &format!("one of {count}"))
    })
}

/// How deep what is skipped may nest.
const DEPTH: usize = 500;

/// Reads over a value.
pub fn skip(schema: &Schema, id: TypeId, wire: &mut Wire<'_>, depth: usize) -> Read<()> {
    if depth > DEPTH {
        return Err(wire.unfit("a value that is not wanted nests too deep", &format!("at most {DEPTH} levels")));
    }
    match &schema.of(id).kind {
        Kind::Null => {}
        Kind::Bool => drop(wire.bool()?),
        Kind::Int | Kind::Long | Kind::Enum(_) => drop(wire.long()?),
        Kind::Float => drop(wire.float()?),
        Kind::Double => drop(wire.double()?),
        Kind::Bytes | Kind::Text => drop(wire.text()?),
        Kind::Fixed(size) => drop(wire.take(*size)?),
        Kind::Record { skipped, .. } => {
            skipped.iter().try_for_each(|field| skip(schema, *field, wire, depth + 1))?;
        }
        Kind::Array(item) => skip_items(schema, None, *item, wire, depth)?,
        Kind::Map(value) => skip_items(schema, Some(TEXT), *value, wire, depth)?,
        Kind::Union(branches) => {
            let tag = branch(wire, branches.len())?;
            skip(schema, branches[tag], wire, depth + 1)?;
        }
    }
    Ok(())
}

fn skip_items(schema: &Schema, key: Option<TypeId>, item: TypeId, wire: &mut Wire<'_>, depth: usize) -> Read<()> {
    while let Some((count, bytes)) = wire.items()? {
        match bytes {
            Some(bytes) => drop(wire.take(bytes)?),
            // Items without bytes need no reading, however many they are.
            None if key.is_none() && schema.of(item).empty => {}
            None => {
                for _ in 0..count {
                    key.map_or(Ok(()), |key| skip(schema, key, wire, depth + 1))?;
                    skip(schema, item, wire, depth + 1)?;
                }
            }
        }
    }
    Ok(())
}
