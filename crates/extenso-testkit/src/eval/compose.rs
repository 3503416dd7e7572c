//! Public functions that are no ops: compositions, and constructors of the shipped types.

mod features;
mod formats;
mod keys;
mod lists;
mod meanings;
mod missing;
mod neural;
mod paths;
mod rows;
mod standard;
mod text;

use super::apply::Signature;
use super::{Evaluated, Scope};
use crate::case::Expr;
use extenso_core::attrs::{AttrSet, Attrs, AttrsDef, Axes, NoAttrs};
use extenso_core::ops::Split;
use extenso_core::reduce::Reduce;
use extenso_core::{Arg, ExtensionType, Scalar, Value, ops, strengthen};
use extenso_ext::{
    FieldPath, Index, NgramPads, RaggedTensor, broadcast, fill_none, index, promote, string_characters, string_ngrams,
    string_split,
};
use extenso_types::{DType, Error, Result};

/// A function of values and attributes.
pub(super) struct Composed {
    name: &'static str,
    params: &'static [&'static str],
    attrs: AttrsDef,
    run: fn(&[Arg], &dyn AttrSet) -> Result<Value>,
}

extenso_core::attrs! {
    /// Of `round_to`.
    pub struct RoundTo { digits: i64 }
    /// One axis.
    pub struct OfAxis { axis: i64 }
    /// One axis, or none for all.
    pub struct OfAxes { axis: Axes = Axes::All }
    /// Of `tile`.
    pub struct Tile { reps: Vec<i64> }
    /// Of `one_hot`.
    pub struct OneHot { depth: i64, dtype: DType = DType::F64 }
    /// Of `zeros` and `ones`.
    pub struct Filled { shape: Vec<i64>, dtype: DType = DType::F64 }
    /// Of `full`.
    pub struct Sized { shape: Vec<i64> }
    /// Of `string_ngrams`.
    pub struct OfNgrams { width: Vec<i64>, separator: String = " ".to_string(), left: Option<String> = None, right: Option<String> = None, padding_width: Option<i64> = None }
    /// Of `linspace`.
    pub struct Linspace { start: f64, stop: f64, num: i64, endpoint: bool = true }
    /// Of `eye`.
    pub struct Eye { rows: i64, columns: i64, diagonal: i64 = 0, dtype: DType = DType::F64 }
}

static FUNCTIONS: &[Composed] = &[
    Composed {
        name: "stack",
        params: &["values"],
        attrs: OfAxis::DEF,
        run: |args, attrs| ops::stack(&args[0], OfAxis::of(attrs)?.axis),
    },
    Composed {
        name: "flip",
        params: &["x"],
        attrs: OfAxes::DEF,
        run: |args, attrs| ops::flip(given(args, 0)?, OfAxes::of(attrs)?.axis.clone()),
    },
    Composed {
        name: "roll",
        params: &["x", "shift"],
        attrs: OfAxes::DEF,
        run: |args, attrs| extenso_ext::lists::roll(&given(args, 0)?, &args[1], &OfAxes::of(attrs)?.axis),
    },
    Composed {
        name: "tile",
        params: &["x"],
        attrs: Tile::DEF,
        run: |args, attrs| extenso_ext::lists::tile(&given(args, 0)?, &Tile::of(attrs)?.reps),
    },
    Composed {
        name: "repeat",
        params: &["x", "counts"],
        attrs: OfAxes::DEF,
        run: |args, attrs| {
            let axis = match &OfAxes::of(attrs)?.axis {
                Axes::All => None,
                Axes::List(axes) => axes.first().copied(),
            };
            extenso_ext::lists::repeat(&given(args, 0)?, &args[1], axis)
        },
    },
    Composed {
        name: "one_hot",
        params: &["indices"],
        attrs: OneHot::DEF,
        run: |args, attrs| {
            let OneHot { depth, dtype } = *OneHot::of(attrs)?;
            ops::one_hot(given(args, 0)?, depth, dtype)
        },
    },
    Composed {
        name: "zeros",
        params: &[],
        attrs: Filled::DEF,
        run: |_, attrs| {
            let Filled { shape, dtype } = Filled::of(attrs)?.clone();
            ops::zeros(shape, dtype)
        },
    },
    Composed {
        name: "ones",
        params: &[],
        attrs: Filled::DEF,
        run: |_, attrs| {
            let Filled { shape, dtype } = Filled::of(attrs)?.clone();
            ops::ones(shape, dtype)
        },
    },
    Composed {
        name: "full",
        params: &["fill_value"],
        attrs: Sized::DEF,
        run: |args, attrs| ops::full(Sized::of(attrs)?.shape.clone(), &args[0], None),
    },
    Composed {
        name: "arange",
        params: &["start", "stop", "step"],
        attrs: NoAttrs::DEF,
        run: |args, _| match args {
            [Arg::Scalar(start), Arg::Scalar(stop), Arg::Scalar(step)] => {
                ops::arange(start.clone(), stop.clone(), step.clone(), None)
            }
            _ => Err(Error::dtype("found a tensor").wanted("numbers").at("arange")),
        },
    },
    Composed {
        name: "linspace",
        params: &[],
        attrs: Linspace::DEF,
        run: |_, attrs| {
            let Linspace { start, stop, num, endpoint } = *Linspace::of(attrs)?;
            ops::linspace(start, stop, num, endpoint, None)
        },
    },
    Composed {
        name: "eye",
        params: &[],
        attrs: Eye::DEF,
        run: |_, attrs| {
            let Eye { rows, columns, diagonal, dtype } = *Eye::of(attrs)?;
            ops::eye(rows, columns, diagonal, dtype)
        },
    },
    Composed {
        name: "softmax",
        params: &["x"],
        attrs: OfAxis::DEF,
        run: |args, attrs| extenso_ext::lists::softmax(&given(args, 0)?, OfAxis::of(attrs)?.axis),
    },
    Composed {
        name: "log_softmax",
        params: &["x"],
        attrs: OfAxis::DEF,
        run: |args, attrs| extenso_ext::lists::log_softmax(&given(args, 0)?, OfAxis::of(attrs)?.axis),
    },
    Composed {
        name: "logsumexp",
        params: &["x"],
        attrs: Reduce::DEF,
        run: |args, attrs| {
            let Reduce { axis, keepdims } = Reduce::of(attrs)?.clone();
            extenso_ext::lists::logsumexp(&given(args, 0)?, &axis, keepdims)
        },
    },
    Composed {
        name: "round_to",
        params: &["x"],
        attrs: RoundTo::DEF,
        run: |args, attrs| extenso_ext::round_to(&given(args, 0)?, RoundTo::of(attrs)?.digits),
    },
    Composed {
        name: "clip",
        params: &["x", "low", "high"],
        attrs: NoAttrs::DEF,
        run: |args, _| ops::clip(&args[0], &args[1], &args[2]),
    },
    Composed { name: "mean", params: &["x"], attrs: Reduce::DEF, run: mean },
    Composed {
        name: "ragged_from_row_splits",
        params: &["values", "row_splits"],
        attrs: NoAttrs::DEF,
        run: |args, _| {
            let splits = given(args, 1)?;
            Ok(RaggedTensor::from_row_splits(given(args, 0)?, splits.tensor()?)?.into_value())
        },
    },
    Composed {
        name: "fill_none",
        params: &["x", "value"],
        attrs: NoAttrs::DEF,
        run: |args, _| fill_none(&given(args, 0)?, &args[1]),
    },
    Composed {
        name: "string_split",
        params: &["x"],
        attrs: Split::DEF,
        run: |args, attrs| {
            let Split { sep, maxsplit } = Split::of(attrs)?;
            string_split(&given(args, 0)?, sep.as_deref(), *maxsplit)
        },
    },
    Composed {
        name: "string_characters",
        params: &["x"],
        attrs: NoAttrs::DEF,
        run: |args, _| string_characters(&given(args, 0)?),
    },
    Composed {
        name: "string_ngrams",
        params: &["x"],
        attrs: OfNgrams::DEF,
        run: |args, attrs| {
            let OfNgrams { width, separator, left, right, padding_width } = OfNgrams::of(attrs)?.clone();
            let pads = left.zip(right).map(|(left, right)| NgramPads { left, right, most: padding_width });
            string_ngrams(&given(args, 0)?, &width, &separator, pads.as_ref())
        },
    },
    Composed {
        name: "field",
        params: &["x", "path"],
        attrs: NoAttrs::DEF,
        run: |args, _| {
            let key: Vec<Index> = path(args, 1)?.names().iter().map(|name| Index::Field(name.clone())).collect();
            index(&given(args, 0)?, &key)
        },
    },
    Composed {
        name: "index",
        params: &["x", "key"],
        attrs: NoAttrs::DEF,
        run: |args, _| index(&given(args, 0)?, &keys::key(&args[1])?),
    },
    Composed {
        name: "promote",
        params: &["x", "path", "to"],
        attrs: NoAttrs::DEF,
        run: |args, _| promote(&given(args, 0)?, path(args, 1)?, path(args, 2)?),
    },
    Composed {
        name: "broadcast",
        params: &["x", "path", "to"],
        attrs: NoAttrs::DEF,
        run: |args, _| broadcast(&given(args, 0)?, path(args, 1)?, path(args, 2)?),
    },
];

/// The argument as a path: a name, or a tuple of names.
fn path(args: &[Arg], i: usize) -> Result<FieldPath> {
    let name = |arg: &Arg| match arg {
        Arg::Scalar(Scalar::Str(name)) => Ok(name.clone()),
        Arg::Scalar(_) | Arg::Value(_) | Arg::List(_) => {
            Err(Error::dtype("found something else in a path").wanted("the names of fields"))
        }
    };
    match &args[i] {
        Arg::List(names) => names.iter().map(name).collect::<Result<FieldPath>>(),
        one => name(one).map(FieldPath::from),
    }
}

/// Every function, family by family.
fn functions() -> impl Iterator<Item = &'static Composed> {
    let families = [rows::FUNCTIONS, lists::FUNCTIONS, missing::FUNCTIONS, paths::FUNCTIONS, standard::FUNCTIONS];
    let more = [text::FUNCTIONS, features::FUNCTIONS, neural::FUNCTIONS, formats::FUNCTIONS, meanings::FUNCTIONS];
    FUNCTIONS.iter().chain(families.into_iter().chain(more).flatten())
}

fn mean(args: &[Arg], attrs: &dyn AttrSet) -> Result<Value> {
    let Reduce { axis, keepdims } = Reduce::of(attrs)?.clone();
    extenso_ext::mean(&given(args, 0)?, axis, keepdims)
}

/// The argument as a value.
fn given(args: &[Arg], i: usize) -> Result<Value> {
    match &args[i] {
        Arg::Value(value) => Ok(value.clone()),
        Arg::Scalar(scalar) => Ok(strengthen(scalar, None)?.into()),
        Arg::List(_) => Err(Error::dtype("found a list").wanted("a value")),
    }
}

/// The function of this name.
pub(super) fn find(name: &str) -> Option<&'static Composed> {
    functions().find(|f| f.name == name)
}

impl Composed {
    pub(super) fn call(&self, args: &[Expr], kwargs: &[(String, Expr)], scope: &Scope) -> Evaluated<Value> {
        let signature = Signature { name: self.name, params: self.params, attrs: &self.attrs };
        let (args, attrs) = signature.bind(args, kwargs, scope)?;
        Ok((self.run)(&args, &*attrs)?)
    }
}
