//! The op tables: every op of this crate, declared once, by family.
//!
//! Invariant: what is known of an op stands in its declaration; no code matches on the name of an op.

mod activations;
mod args;
mod arithmetic;
mod assemble;
mod barrier;
mod bitwise;
mod checks;
mod comparison;
mod contract;
mod convolution;
mod counting;
mod creation;
mod cumulative;
mod einsum;
mod elementwise;
mod elementwise_text;
mod embeddings;
mod extremes;
mod features;
mod floats;
mod like;
mod linear;
mod lines;
mod long_lines;
mod losses;
mod masks;
mod math;
mod nearest;
mod normalize;
mod padding;
mod partition;
mod positions;
mod printing;
mod products;
mod quantiles;
mod random;
mod ranges;
mod rearrange;
mod recurrence;
mod reduction;
mod repetition;
mod reshaping;
mod row_lines;
mod row_order;
mod rows;
mod sampling;
mod search;
mod selection;
mod sets;
mod shifts;
mod softmax;
mod sorting;
mod special;
mod state;
mod statistics;
mod stretch;
mod strides;
mod structural;
mod text;
mod trigonometry;
mod vocabulary;

pub use activations::*;
pub use arithmetic::*;
pub use assemble::{Run, assemble};
pub use barrier::*;
pub use bitwise::*;
pub use checks::*;
pub use comparison::*;
pub use convolution::*;
pub use counting::*;
pub use creation::*;
pub use cumulative::*;
pub use einsum::*;
pub use elementwise::*;
pub use embeddings::*;
pub use extremes::*;
pub use features::*;
pub use floats::*;
pub use like::*;
pub use linear::*;
pub use losses::*;
pub use masks::*;
pub use math::*;
pub use normalize::*;
pub use padding::*;
pub use partition::*;
pub use positions::*;
pub use printing::*;
pub use products::*;
pub use quantiles::*;
pub use random::*;
pub use ranges::*;
pub use rearrange::*;
pub use recurrence::*;
pub use reduction::*;
pub use reshaping::*;
pub use row_lines::*;
pub use row_order::*;
pub use rows::*;
pub use sampling::*;
pub use search::*;
pub use selection::*;
pub use sets::*;
pub use shifts::*;
pub use softmax::*;
pub use sorting::*;
pub use special::*;
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
    ("Comparisons and logic", COMPARISONS),
    ("Mathematics", MATH),
    ("Arithmetic", ARITHMETIC),
    ("Trigonometry", TRIGONOMETRY),
    ("Floats", FLOATS),
    ("Special functions", SPECIAL),
    ("Activations", ACTIVATIONS),
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
    ("Counting", COUNTING),
    ("Row partitions", PARTITIONS),
    ("Embeddings", EMBEDDINGS),
    ("Places in rows", ROWS),
    ("Rows as a whole", ROW_LINES),
    ("Rows in order", ROW_ORDERS),
    ("Rows that broadcast", STRETCHING),
    ("Rows as a dense axis", PADDING),
    ("Ranges", RANGES),
    ("Strings", TEXT),
    ("Letters", TEXT_LETTERS),
    ("Finding and filling strings", TEXT_EDITS),
    ("Strings with an argument each", TEXT_EACH),
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
    ("Random numbers", RANDOM),
    ("Checks", CHECKS),
    ("Gradients", BARRIERS),
    ("State", STATE),
    ("Printing", PRINTING),
];
