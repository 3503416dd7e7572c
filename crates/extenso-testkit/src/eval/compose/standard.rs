//! Functions of the Python Array API standard that are no ops.

use super::rows::composed;
use super::{Composed, given};
use extenso_core::attrs::{Attrs, Axes, NoAttrs};
use extenso_core::ops::Quantiles;
use extenso_core::reduce::Reduce;
use extenso_core::{Value, ops};

extenso_core::attrs! {
    /// A diagonal.
    pub struct Diagonal { k: i64 = 0 }
    /// An order of axes.
    pub struct Order { axes: Vec<i64> }
    /// Axes and where they move.
    pub struct Moves { source: Vec<i64>, destination: Vec<i64> }
    /// Of `var` and `std`.
    pub struct Spread { axis: Axes = Axes::All, correction: f64 = 0.0, keepdims: bool = false }
    /// Of `moment`.
    pub struct Moment { n: i64, axis: Axes = Axes::All, keepdims: bool = false }
    /// Of `isclose`.
    pub struct Close { rtol: f64 = 1e-5, atol: f64 = 1e-8, equal_nan: bool = false }
    /// Of `nan_to_num`.
    pub struct Finite { nan: f64 = 0.0, posinf: f64 = f64::MAX, neginf: f64 = f64::MIN }
    /// Of `sequence_mask`.
    pub struct Width { maxlen: Option<i64> = None }
    /// Of `quantile`.
    pub struct OfLine { axis: Axes = Axes::All, keepdims: bool = false }
    /// Of `bincount`.
    pub struct Bins { minlength: i64 = 0 }
    /// Of `diff`.
    pub struct Steps { axis: i64 = -1, n: i64 = 1 }
}

pub(super) static FUNCTIONS: &[Composed] = composed! {
    "full_like" ("x", "fill_value"; NoAttrs) = |args, _| ops::full_like(given(args, 0)?, &args[1], None);
    "tril" ("x"; Diagonal) = |args, attrs| ops::tril(given(args, 0)?, Diagonal::of(attrs)?.k);
    "triu" ("x"; Diagonal) = |args, attrs| ops::triu(given(args, 0)?, Diagonal::of(attrs)?.k);
    "permute_dims" ("x"; Order) = |args, attrs| ops::permute_dims(given(args, 0)?, Order::of(attrs)?.axes.clone());
    "matrix_transpose" ("x"; NoAttrs) = |args, _| ops::matrix_transpose(given(args, 0)?);
    "moveaxis" ("x"; Moves) = |args, attrs| {
        let Moves { source, destination } = Moves::of(attrs)?.clone();
        ops::moveaxis(given(args, 0)?, source, destination)
    };
    "count_nonzero" ("x"; Reduce) = |args, attrs| {
        let Reduce { axis, keepdims } = Reduce::of(attrs)?.clone();
        ops::count_nonzero(given(args, 0)?, axis, keepdims)
    };
    "isclose" ("x", "y"; Close) = |args, attrs| {
        let Close { rtol, atol, equal_nan } = *Close::of(attrs)?;
        ops::isclose(&args[0], &args[1], rtol, atol, equal_nan)
    };
    "nan_to_num" ("x"; Finite) = |args, attrs| {
        let Finite { nan, posinf, neginf } = *Finite::of(attrs)?;
        ops::nan_to_num(&args[0], nan, Some(posinf), Some(neginf))
    };
    "sequence_mask" ("lengths"; Width) = |args, attrs| ops::sequence_mask(&args[0], Width::of(attrs)?.maxlen);
    "covar" ("x", "y"; Spread) = |args, attrs| {
        let Spread { axis, correction, keepdims } = Spread::of(attrs)?.clone();
        extenso_ext::lists::covar(&given(args, 0)?, &given(args, 1)?, &axis, correction, keepdims)
    };
    "corr" ("x", "y"; Reduce) = |args, attrs| {
        let Reduce { axis, keepdims } = Reduce::of(attrs)?.clone();
        extenso_ext::lists::corr(&given(args, 0)?, &given(args, 1)?, &axis, keepdims)
    };
    "moment" ("x"; Moment) = |args, attrs| {
        let Moment { n, axis, keepdims } = Moment::of(attrs)?.clone();
        extenso_ext::lists::moment(&given(args, 0)?, n, &axis, keepdims)
    };
    "var" ("x"; Spread) = |args, attrs| {
        let Spread { axis, correction, keepdims } = Spread::of(attrs)?.clone();
        extenso_ext::lists::var(&given(args, 0)?, &axis, correction, keepdims)
    };
    "std" ("x"; Spread) = |args, attrs| {
        let Spread { axis, correction, keepdims } = Spread::of(attrs)?.clone();
        extenso_ext::lists::std(&given(args, 0)?, &axis, correction, keepdims)
    };
    "median" ("x"; Reduce) = |args, attrs| {
        let Reduce { axis, keepdims } = Reduce::of(attrs)?.clone();
        extenso_ext::lists::median(&given(args, 0)?, &axis, keepdims)
    };
    "quantile" ("x", "q"; OfLine) = |args, attrs| {
        let OfLine { axis, keepdims } = OfLine::of(attrs)?.clone();
        let q = Quantiles::of(&given(args, 1)?).map_err(|e| e.at("quantile"))?;
        extenso_ext::lists::quantile(&given(args, 0)?, q, &axis, keepdims)
    };
    "bincount" ("x"; Bins) = |args, attrs| {
        extenso_ext::lists::bincount(&given(args, 0)?, None, Bins::of(attrs)?.minlength)
    };
    "diff" ("x"; Steps) = |args, attrs| {
        let Steps { axis, n } = *Steps::of(attrs)?;
        match given(args, 0)? {
            lists @ Value::Ext(_) => extenso_ext::lists::diff(&lists, n, axis),
            dense => ops::diff(dense, axis, n, None, None),
        }
    };
    "unique_values" ("x"; NoAttrs) = |args, _| ops::unique_values(given(args, 0)?);
};
