//! Several arrays of one type as one value: the batches of a stream, the chunks of a column.
//!
//! Invariant: a column that nobody wants is not looked at in any of them.

use super::import::{extension_name, rows_of_field};
use super::levels::{below, checked_levels};
use super::moved::{end_to_end, joined};
use super::parts::part;
use super::registered;
use super::whole::whole_of;
use crate::columns::{BadRows, OnError};
use crate::ops::any_rows;
use crate::policy::field_rows;
use crate::project::Wanted;
use crate::run::Rows;
use arrow_array::{Array, ArrayRef, new_empty_array};
use arrow_schema::extension::EXTENSION_TYPE_METADATA_KEY;
use arrow_schema::{Field, FieldRef};
use extenso_core::{MAX_EMPTY, Value};
use extenso_types::{Error, Path, Result, Spec};

/// What is read of Arrow arrays: everything as it is, by default.
#[derive(Clone, Default, Debug)]
pub struct ArrowOptions {
    /// What the values are, whatever the number of its rows is; as the arrays are by themselves if there is none.
    pub spec: Option<Spec>,
    /// What is read of them: the parts at or below these paths, such as `items[*].price`; everything, if there is none.
    pub paths: Option<Vec<Path>>,
    /// What becomes of a row with a null where the spec has none.
    pub on_error: OnError,
}

impl ArrowOptions {
    fn wanted(&self) -> Result<Wanted> {
        Wanted::of_paths(self.paths.as_deref()).map_err(|e| e.at("paths"))
    }
}

/// Arrays of one field, one after the other, as one value; no array gives a value of no items.
///
/// Errors: those of [`from_arrow_as`](super::from_arrow_as) with a spec and of [`from_arrow`](super::from_arrow) without; a path that leads
/// nowhere.
pub fn from_chunks(field: &FieldRef, chunks: &[ArrayRef], options: &ArrowOptions) -> Result<Rows> {
    checked_levels(field.data_type())?;
    let whole = match chunks {
        [] => Some(new_empty_array(field.data_type())),
        [_, _, ..] if has_components(field) => Some(joined(chunks)?),
        _ => None,
    };
    let chunks = whole.as_ref().map_or(chunks, std::slice::from_ref);
    let wanted = options.wanted()?;
    let mut bad = BadRows::default();
    let mut before = 0;
    let mut read = Vec::new();
    let spec = options.spec.as_ref().map(|spec| wanted.of(&any_rows(spec))).transpose()?;
    for chunk in chunks {
        checked_data(chunk)?;
        let (value, faults) = match &spec {
            Some(spec) => field_rows(field, chunk, before, Vec::new(), options.on_error, spec)?,
            None => pruned(field, chunk, &wanted, before, options.on_error)?,
        };
        bad.add(&faults);
        before += chunk.len();
        read.push(value);
    }
    let value = match &spec {
        Some(spec) => whole_of(read, spec)?,
        None => end_to_end(read)?,
    };
    Ok(Rows { value, bad, visited: Vec::new() })
}

/// Checks that an array has data if it has very many items, for each of which a value has some.
///
/// Errors: it has none.
pub fn checked_data(array: &ArrayRef) -> Result<()> {
    if array.len() <= MAX_EMPTY || array.get_buffer_memory_size() > 0 {
        return Ok(());
    }
    Err(Error::shape(format!("an array of {} items has no data", array.len()))
        .wanted(format!("at most {MAX_EMPTY} items without data")))
}

/// Whether some values are of a type that is stored by its components, at any level: such a type need not know `concat`.
pub fn has_components(field: &Field) -> bool {
    let text = field.metadata().get(EXTENSION_TYPE_METADATA_KEY);
    let named = extension_name(field).zip(text);
    named.is_some_and(|(name, text)| registered::frame(name, text).is_some())
        || below(field.data_type()).into_iter().any(|field| has_components(field))
}

fn pruned(
    field: &FieldRef,
    array: &ArrayRef,
    wanted: &Wanted,
    start: usize,
    on_error: OnError,
) -> Result<(Value, BadRows)> {
    let (field, array) = part(&Path::root(), field, array, wanted)?;
    rows_of_field(&field, array.as_ref(), start, on_error)
}
