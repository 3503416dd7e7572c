//! Functions of paths in records: `size_at(x, path)` is `extenso.paths.size(x, path)`.

use super::rows::{composed, single};
use super::{Composed, given, path};
use extenso_core::Arg;
use extenso_core::attrs::{Attrs, NoAttrs};
use extenso_ext::{FieldPath, paths};
use extenso_types::Result;

extenso_core::attrs! {
    /// Of `reroot_at`.
    pub struct Index { index: Option<String> = None }
    /// Of `slice_at`.
    pub struct Bounds { begin: Option<Vec<i64>> = None, end: Option<Vec<i64>> = None }
    /// Of `zip_fields`.
    pub struct Depth { depth_limit: Option<Vec<i64>> = None }
}

pub(super) static FUNCTIONS: &[Composed] = composed! {
    "project_at" ("x", "paths"; NoAttrs) = |args, _| paths::project(&given(args, 0)?, several(args)?);
    "reroot_at" ("x", "path"; Index) = |args, attrs| {
        paths::reroot(&given(args, 0)?, path(args, 1)?, Index::of(attrs)?.index.as_deref())
    };
    "has_at" ("x", "path"; NoAttrs) = |args, _| paths::has(&given(args, 0)?, path(args, 1)?);
    "size_at" ("x", "path"; NoAttrs) = |args, _| paths::size(&given(args, 0)?, path(args, 1)?);
    "local_index_at" ("x", "path"; NoAttrs) = |args, _| paths::local_index(&given(args, 0)?, path(args, 1)?);
    "filter_at" ("x", "path", "mask"; NoAttrs) = |args, _| {
        paths::filter(&given(args, 0)?, path(args, 1)?, &given(args, 2)?)
    };
    "slice_at" ("x", "path"; Bounds) = |args, attrs| {
        let Bounds { begin, end } = Bounds::of(attrs)?;
        paths::slice(&given(args, 0)?, path(args, 1)?, single(begin)?, single(end)?)
    };
    "zip_fields" ("x"; Depth) = |args, attrs| {
        extenso_ext::zip(extenso_ext::unzip(&given(args, 0)?)?, single(&Depth::of(attrs)?.depth_limit)?)
    };
};

/// The argument as paths: a tuple of tuples of names.
fn several(args: &[Arg]) -> Result<Vec<FieldPath>> {
    match &args[1] {
        Arg::List(items) => (0..items.len()).map(|i| path(items, i)).collect(),
        Arg::Value(_) | Arg::Scalar(_) => Ok(vec![path(args, 1)?]),
    }
}
