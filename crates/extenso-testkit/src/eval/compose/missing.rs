//! Functions of missing data.

use super::rows::{AnyAxis, composed, single};
use super::{Composed, OfAxis, given};
use extenso_core::Arg;
use extenso_core::attrs::{Attrs, NoAttrs};
use extenso_core::reduce::Reduce;
use extenso_ext::missing;
use extenso_types::Error;

extenso_core::attrs! {
    /// Of `pad_none`.
    pub struct PadNone { target: i64, axis: i64 = 1, clip: bool = false }
}

pub(super) static FUNCTIONS: &[Composed] = composed! {
    "is_none" ("x"; AnyAxis) = |args, attrs| missing::is_none(&given(args, 0)?, single(&AnyAxis::of(attrs)?.axis)?);
    "is_valid" ("x"; AnyAxis) = |args, attrs| missing::is_valid(&given(args, 0)?, single(&AnyAxis::of(attrs)?.axis)?);
    "mask" ("x", "condition"; NoAttrs) = |args, _| missing::mask(&given(args, 0)?, &given(args, 1)?);
    "nan_to_none" ("x"; NoAttrs) = |args, _| missing::nan_to_none(&given(args, 0)?);
    "count" ("x"; Reduce) = |args, attrs| {
        let Reduce { axis, keepdims } = Reduce::of(attrs)?.clone();
        missing::count(&given(args, 0)?, axis, keepdims)
    };
    "coalesce" ("values"; NoAttrs) = |args, _| match &args[0] {
        Arg::List(values) => missing::coalesce(values),
        Arg::Value(_) | Arg::Scalar(_) => Err(Error::dtype("found a value").wanted("a tuple of values")),
    };
    "singletons" ("x"; OfAxis) = |args, attrs| missing::singletons(&given(args, 0)?, OfAxis::of(attrs)?.axis);
    "drop_none" ("x"; AnyAxis) = |args, attrs| {
        missing::drop_none(&given(args, 0)?, single(&AnyAxis::of(attrs)?.axis)?)
    };
    "pad_none" ("x"; PadNone) = |args, attrs| {
        let PadNone { target, axis, clip } = *PadNone::of(attrs)?;
        missing::pad_none(&given(args, 0)?, target, axis, clip)
    };
};
