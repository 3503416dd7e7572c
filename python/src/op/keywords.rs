//! Keywords of the Array API standard that ops have in Python beside their attributes.
//!
//! Knows no Python objects: the generator of the stub file compiles this file too. What they do is in `standard.rs`.

use extenso_core::{OpDef, ops};

/// A keyword beside the attributes; without it, nothing changes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Keyword {
    /// `dtype=`: computes in this dtype, and gives it.
    DType,
    /// `device=`: there is one.
    Device,
    /// `copy=`: no one can tell a copy of what cannot change.
    Copy,
    /// `stable=`: every sort is.
    Stable,
    /// `sorter=`: the order in which the first argument is sorted.
    Sorter,
    /// `include_initial=`: begins a running fold with what it starts from.
    IncludeInitial,
}

impl Keyword {
    /// The name, as calls write it.
    pub fn name(self) -> &'static str {
        match self {
            Keyword::DType => "dtype",
            Keyword::Device => "device",
            Keyword::Copy => "copy",
            Keyword::Stable => "stable",
            Keyword::Sorter => "sorter",
            Keyword::IncludeInitial => "include_initial",
        }
    }

    /// The annotation and the default, as stubs write them.
    pub fn stub(self) -> (&'static str, &'static str) {
        match self {
            Keyword::DType => ("_DTypeLike | None", "None"),
            Keyword::Device => ("str | None", "None"),
            Keyword::Copy => ("builtins.bool | None", "None"),
            Keyword::Stable => ("builtins.bool", "True"),
            Keyword::Sorter => ("_Argument", "None"),
            Keyword::IncludeInitial => ("builtins.bool", "False"),
        }
    }
}

/// The keywords of an op, in order.
pub fn keywords(op: &OpDef) -> &'static [Keyword] {
    let known: [(&OpDef, &[Keyword]); 10] = [
        (&ops::SUM, &[Keyword::DType]),
        (&ops::PROD, &[Keyword::DType]),
        (&ops::CUMULATIVE_SUM, &[Keyword::DType, Keyword::IncludeInitial]),
        (&ops::CUMULATIVE_PROD, &[Keyword::DType, Keyword::IncludeInitial]),
        (&ops::SORT, &[Keyword::Stable]),
        (&ops::ARGSORT, &[Keyword::Stable]),
        (&ops::SEARCHSORTED, &[Keyword::Sorter]),
        (&ops::RESHAPE, &[Keyword::Copy]),
        (&ops::ZEROS_LIKE, &[Keyword::DType, Keyword::Device]),
        (&ops::ONES_LIKE, &[Keyword::DType, Keyword::Device]),
    ];
    known.into_iter().find(|(with, _)| *with == op).map_or(&[], |(_, keywords)| keywords)
}
