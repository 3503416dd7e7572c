//! CSV: rows of a table to records, and records to rows.
//!
//! | plan | cell |
//! |---|---|
//! | bool | `true`, `false`, also with capitals |
//! | integers, floats | a number, with blanks around it or not; `NaN`, `Infinity`, `-Infinity`, also as `nan`, `inf`, `-inf` |
//! | string, bytes | the cell as it is, empty or not |
//! | times, decimals, identifiers; categories | their text; what they mean |
//! | optional | empty where it is missing; a record is missing where all its cells are empty |
//! | record | a column for each field, whose name is its path: `user.name` |
//! | no name | the field `column_0`, by its place, unless another column has this name |
//! | list | none: CSV has no lists |
//!
//! An empty line is a row in a table of one column, whose cell is empty, and nothing otherwise.
//!
//! Invariant: the first row names the columns, and a column that is not wanted is not looked at.

mod cell;
mod infer;
mod lines;
mod read;
mod table;
mod write;

#[cfg(test)]
mod tests;

pub(crate) use lines::Ends;
pub(crate) use read::Rows;
pub use read::{CsvOptions, read_csv};
pub(crate) use table::{Inference, Table};
pub(crate) use write::encode_rows;
pub use write::{encode_csv, write_csv};

use extenso_types::{Path, Segment};

/// What stands between the cells of a file of this name: a tab where it ends in `.tsv`, packed or not, and a comma otherwise.
///
/// ```
/// # use extenso_formats::csv::delimiter_of_name;
/// assert_eq!(delimiter_of_name("rows.tsv.gz".as_ref()), b'\t');
/// assert_eq!(delimiter_of_name("rows.csv".as_ref()), b',');
/// ```
pub fn delimiter_of_name(path: &std::path::Path) -> u8 {
    let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase());
    if name.is_some_and(|name| name.split('.').skip(1).any(|ending| ending == "tsv")) { b'\t' } else { b',' }
}

/// The name of the column of a path: that of a field as it is, and the text of the path where [`path_of`] would take that for
/// another.
fn name_of(path: &Path) -> String {
    let read = |name: &str| !name.is_empty() && !name.starts_with(['"', '\u{feff}']) && path_of(name) == *path;
    match path.segments() {
        [Segment::Field(name)] if read(name) => name.to_string(),
        _ => path.to_string(),
    }
}

/// The path that a column's name says: fields with dots between them, or one field where it is no such path.
fn path_of(name: &str) -> Path {
    let path = name.parse::<Path>().ok();
    let fields = |path: &Path| path.segments().iter().all(|step| matches!(step, Segment::Field(_)));
    path.filter(|path| fields(path) && !path.is_root()).unwrap_or_else(|| Path::root().child(Segment::field(name)))
}
