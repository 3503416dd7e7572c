//! The op tables: every op of this crate, declared once, by family.
//!
//! Invariant: what is known of an op stands in its declaration; no code matches on the name of an op.

mod args;
mod assemble;
mod bitwise;
mod creation;
mod cumulative;
mod elementwise;
mod elementwise_text;
mod extremes;
mod floats;
mod like;
mod features;
mod linear;
mod lines;
mod masks;
mod math;
mod padding;
mod partition;
mod positions;
mod printing;
mod ranges;
mod rearrange;
mod recurrence;
mod reduction;
mod reshaping;
mod row_lines;
mod rows;
mod search;
mod selection;
mod sets;
mod shifts;
mod softmax;
mod sorting;
mod state;
mod statistics;
mod stretch;
mod structural;
mod text;
mod trigonometry;
mod vocabulary;

pub use assemble::{Run, assemble};
pub use bitwise::*;
pub use creation::*;
pub use cumulative::*;
pub use elementwise::*;
pub use extremes::*;
pub use floats::*;
pub use like::*;
pub use features::*;
pub use linear::*;
pub use masks::*;
pub use math::*;
pub use padding::*;
pub use partition::*;
pub use positions::*;
pub use printing::*;
pub use ranges::*;
pub use rearrange::*;
pub use recurrence::*;
pub use reduction::*;
pub use reshaping::*;
pub use row_lines::*;
pub use rows::*;
pub use search::*;
pub use selection::*;
pub use sets::*;
pub use shifts::*;
pub use softmax::*;
pub use sorting::*;
pub use state::*;
pub use statistics::*;
pub use stretch::*;
pub use structural::*;
pub use text::*;
pub use trigonometry::*;
pub use vocabulary::*;

use crate::op::OpDef;

/// The tables of this crate, with what they are about.
pub static TABLES: &[(&str, &[&OpDef])] = &[
    ("Elementwise", ELEMENTWISE),
    ("Mathematics", MATH),
    ("Trigonometry", TRIGONOMETRY),
    ("Floats", FLOATS),
    ("Bits", BITWISE),
    ("Shifts and signs", SHIFTS),
    ("Reductions", REDUCTIONS),
    ("Running folds", CUMULATIVE),
    ("Running extremes", EXTREMES),
    ("Recurrences", RECURRENCES),
    ("Structure", STRUCTURAL),
    ("Selection", SELECTION),
    ("Positions", POSITIONS),
    ("Masks and borders", MASKS),
    ("Sorting", SORTING),
    ("Searching", SEARCHING),
    ("Row partitions", PARTITIONS),
    ("Places in rows", ROWS),
    ("Rows as a whole", ROW_LINES),
    ("Rows that broadcast", STRETCHING),
    ("Rows as a dense axis", PADDING),
    ("Ranges", RANGES),
    ("Strings", TEXT),
    ("Letters", TEXT_LETTERS),
    ("Finding and filling strings", TEXT_EDITS),
    ("Joining strings", TEXT_JOINS),
    ("Splitting strings", TEXT_SPLITS),
    ("Patterns in strings", TEXT_PATTERNS),
    ("Parts by pattern", TEXT_PARTS),
    ("Strings and bytes", TEXT_BYTES),
    ("Unicode", TEXT_UNICODE),
    ("Strings and numbers", TEXT_NUMBERS),
    ("Hashes of strings", TEXT_HASHES),
    ("Vocabularies", VOCABULARIES),
    ("Features", FEATURES),
    ("Linear algebra", LINEAR),
    ("State", STATE),
    ("Printing", PRINTING),
];
