//! Functions of lists along an axis.

use super::rows::{InnerAxis, single};
use super::{Composed, given};
use extenso_core::attrs::{Attrs, NoAttrs};
use extenso_core::{Arg, Value};
use extenso_ext::lists;
use extenso_types::{Error, Result};

extenso_core::attrs! {
    /// Of `take_per_row`.
    pub struct RowAxis { axis: i64 = 1 }
    /// Of `pad_to`.
    pub struct PadTo { axis: i64 = -1, crop: bool = false }
    /// Of `isin`.
    pub struct WithinAxis { axis: Option<Vec<i64>> = None }
    /// Of `windows`.
    pub struct Windows { size: i64, stride: i64 = 1, axis: i64 = -1 }
    /// Of `combinations`.
    pub struct Combinations { n: i64, replacement: bool = false, axis: i64 = -1 }
}

macro_rules! composed {
    ($($name:literal ($($param:literal),*; $attrs:ty) = $run:expr;)*) => {
        &[$(Composed { name: $name, params: &[$($param),*], attrs: <$attrs>::DEF, run: $run }),*]
    };
}

pub(super) static FUNCTIONS: &[Composed] = composed! {
    "first" ("x"; InnerAxis) = |args, attrs| lists::first(&given(args, 0)?, InnerAxis::of(attrs)?.axis, None);
    "last" ("x"; InnerAxis) = |args, attrs| lists::last(&given(args, 0)?, InnerAxis::of(attrs)?.axis, None);
    "first_or" ("x", "default"; InnerAxis) = |args, attrs| {
        lists::first(&given(args, 0)?, InnerAxis::of(attrs)?.axis, Some(args[1].clone()))
    };
    "last_or" ("x", "default"; InnerAxis) = |args, attrs| {
        lists::last(&given(args, 0)?, InnerAxis::of(attrs)?.axis, Some(args[1].clone()))
    };
    "nth" ("x", "index"; InnerAxis) = |args, attrs| {
        lists::nth(&given(args, 0)?, args[1].clone(), InnerAxis::of(attrs)?.axis, None)
    };
    "head" ("x", "n"; InnerAxis) = |args, attrs| lists::head(&given(args, 0)?, &args[1], InnerAxis::of(attrs)?.axis);
    "tail" ("x", "n"; InnerAxis) = |args, attrs| lists::tail(&given(args, 0)?, &args[1], InnerAxis::of(attrs)?.axis);
    "top_k_values" ("x", "k"; InnerAxis) = |args, attrs| {
        Ok(lists::top_k(&given(args, 0)?, &args[1], InnerAxis::of(attrs)?.axis)?.0)
    };
    "take_per_row" ("x", "indices"; RowAxis) = |args, attrs| {
        lists::take_per_row(&given(args, 0)?, &given(args, 1)?, RowAxis::of(attrs)?.axis)
    };
    "pad_to" ("x", "length"; PadTo) = |args, attrs| {
        let PadTo { axis, crop } = *PadTo::of(attrs)?;
        lists::pad_to(&given(args, 0)?, &args[1], None, axis, crop)
    };
    "pad_with" ("x", "length", "value"; PadTo) = |args, attrs| {
        let PadTo { axis, crop } = *PadTo::of(attrs)?;
        lists::pad_to(&given(args, 0)?, &args[1], Some(args[2].clone()), axis, crop)
    };
    "shift" ("x", "by"; InnerAxis) = |args, attrs| {
        lists::shift(&given(args, 0)?, args[1].clone(), None, InnerAxis::of(attrs)?.axis)
    };
    "shift_with" ("x", "by", "value"; InnerAxis) = |args, attrs| {
        lists::shift(&given(args, 0)?, args[1].clone(), Some(args[2].clone()), InnerAxis::of(attrs)?.axis)
    };
    "lexsort" ("keys"; InnerAxis) = |args, attrs| lists::lexsort(&each(&args[0])?, InnerAxis::of(attrs)?.axis);
    "interp" ("x", "xp", "fp"; NoAttrs) = |args, _| {
        extenso_ext::interp(&given(args, 0)?, &given(args, 1)?, &given(args, 2)?, None, None)
    };
    "interp_between" ("x", "xp", "fp", "left", "right"; NoAttrs) = |args, _| {
        let ends = (Some(args[3].clone()), Some(args[4].clone()));
        extenso_ext::interp(&given(args, 0)?, &given(args, 1)?, &given(args, 2)?, ends.0, ends.1)
    };
    "select" ("conditions", "choices", "default"; NoAttrs) = |args, _| match &args[1] {
        Arg::List(choices) => extenso_ext::select(&each(&args[0])?, choices, Some(args[2].clone())),
        Arg::Value(_) | Arg::Scalar(_) => Err(Error::dtype("found a value").wanted("a tuple of values")),
    };
    "select_or_none" ("conditions", "choices"; NoAttrs) = |args, _| match &args[1] {
        Arg::List(choices) => extenso_ext::select(&each(&args[0])?, choices, None),
        Arg::Value(_) | Arg::Scalar(_) => Err(Error::dtype("found a value").wanted("a tuple of values")),
    };
    "run_lengths" ("x"; InnerAxis) = |args, attrs| lists::run_lengths(&given(args, 0)?, InnerAxis::of(attrs)?.axis);
    "unique" ("x"; InnerAxis) = |args, attrs| lists::unique(&given(args, 0)?, InnerAxis::of(attrs)?.axis);
    "isin" ("x", "test"; WithinAxis) = |args, attrs| {
        lists::isin(&given(args, 0)?, &args[1], single(&WithinAxis::of(attrs)?.axis)?)
    };
    "union" ("x", "y"; InnerAxis) = |args, attrs| of_two(args, InnerAxis::of(attrs)?.axis, lists::union);
    "intersection" ("x", "y"; InnerAxis) = |args, attrs| of_two(args, InnerAxis::of(attrs)?.axis, lists::intersection);
    "difference" ("x", "y"; InnerAxis) = |args, attrs| of_two(args, InnerAxis::of(attrs)?.axis, lists::difference);
    "windows" ("x"; Windows) = |args, attrs| {
        let Windows { size, stride, axis } = *Windows::of(attrs)?;
        lists::windows(&given(args, 0)?, size, stride, axis)
    };
    "combinations" ("x"; Combinations) = |args, attrs| {
        let Combinations { n, replacement, axis } = *Combinations::of(attrs)?;
        lists::combinations(&given(args, 0)?, n, replacement, axis)
    };
    "argcombinations" ("x"; Combinations) = |args, attrs| {
        let Combinations { n, replacement, axis } = *Combinations::of(attrs)?;
        lists::argcombinations(&given(args, 0)?, n, replacement, axis)
    };
    "ranges" ("starts", "limits", "deltas"; NoAttrs) = |args, _| {
        lists::ranges(args[0].clone(), args[1].clone(), args[2].clone())
    };
};

fn of_two(args: &[extenso_core::Arg], axis: i64, f: fn(&Value, &Value, i64) -> Result<Value>) -> Result<Value> {
    f(&given(args, 0)?, &given(args, 1)?, axis)
}

/// The values of a tuple.
fn each(arg: &Arg) -> Result<Vec<Value>> {
    match arg {
        Arg::List(values) => values.iter().map(|value| value.value().cloned()).collect(),
        Arg::Value(_) | Arg::Scalar(_) => Err(Error::dtype("found a value").wanted("a tuple of values")),
    }
}
