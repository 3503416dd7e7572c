//! Functions of neural networks, random numbers and products that are no ops.

use super::{Composed, OfAxes, OfAxis, given};
use extenso_core::attrs::{Attrs, Axes, NoAttrs};
use extenso_core::ops::{self, DotAxes, OneAxis, Windows};
use extenso_core::{Arg, Scalar};
use extenso_ext::lists;
use extenso_types::{DType, Error, Result};

extenso_core::attrs! {
    /// Of `elu` and `celu`.
    pub struct Alpha { alpha: f64 = 1.0 }
    /// Of `leaky_relu`.
    pub struct Slope { slope: f64 = 0.01 }
    /// The last axis, or another.
    pub struct LastAxis { axis: i64 = -1 }
    /// Of normalizations.
    pub struct Over { axis: Axes = Axes::List(vec![-1]), epsilon: f64 = 1e-6 }
    /// Of `batch_norm`.
    pub struct Along { axis: i64 = -1, epsilon: f64 = 1e-3 }
    /// Of `huber`.
    pub struct Delta { delta: f64 = 1.0 }
    /// Of `conv1d`.
    pub struct Conv { stride: i64 = 1, padding: String = "valid".to_string(), dilation: i64 = 1, groups: i64 = 1 }
    /// Of pools.
    pub struct Pool { width: i64, stride: Option<i64> = None, padding: String = "valid".to_string() }
    /// Of `dropout`.
    pub struct Dropout { rate: f64, key: i64 }
    /// Of `random_uniform`.
    pub struct Uniform { shape: Vec<i64>, low: f64 = 0.0, high: f64 = 1.0, dtype: DType = DType::F64 }
    /// Of `random_normal`.
    pub struct Normal { shape: Vec<i64>, mean: f64 = 0.0, stddev: f64 = 1.0, dtype: DType = DType::F64 }
    /// Of `random_truncated_normal`.
    pub struct Truncated { shape: Vec<i64>, low: f64 = -2.0, high: f64 = 2.0, dtype: DType = DType::F64 }
    /// Of `random_bernoulli`.
    pub struct Trials { shape: Option<Vec<i64>> = None }
    /// Of `random_choice`.
    pub struct Choice { shape: Vec<i64>, replace: bool = true }
    /// Of `random_split` and `random_permutation`.
    pub struct Count { count: i64 }
    /// Of `diagonal` and `trace`.
    pub struct Diagonal { offset: i64 = 0, axis1: i64 = 0, axis2: i64 = 1 }
    /// Of `norm`.
    pub struct Norm { ord: f64 = 2.0, axis: Axes = Axes::All, keepdims: bool = false }
    /// Of `tensordot` by a number of axes.
    pub struct Dot { axes: i64 = 2 }
}

macro_rules! composed {
    ($($name:literal ($($param:literal),*; $attrs:ty) = $run:expr;)*) => {
        &[$(Composed { name: $name, params: &[$($param),*], attrs: <$attrs>::DEF, run: $run }),*]
    };
}

pub(super) static FUNCTIONS: &[Composed] = composed! {
    "elu" ("x"; Alpha) = |args, attrs| ops::elu(&args[0], Alpha::of(attrs)?.alpha);
    "celu" ("x"; Alpha) = |args, attrs| ops::celu(&args[0], Alpha::of(attrs)?.alpha);
    "leaky_relu" ("x"; Slope) = |args, attrs| ops::leaky_relu(&args[0], Slope::of(attrs)?.slope);
    "prelu" ("x", "slope"; NoAttrs) = |args, _| ops::prelu(&args[0], &args[1]);
    "glu" ("x"; LastAxis) = |args, attrs| lists::glu(&given(args, 0)?, LastAxis::of(attrs)?.axis);
    "layer_norm" ("x"; Over) = |args, attrs| {
        let Over { axis, epsilon } = Over::of(attrs)?.clone();
        lists::layer_norm(&given(args, 0)?, None, None, &axis, epsilon)
    };
    "rms_norm" ("x"; Over) = |args, attrs| {
        let Over { axis, epsilon } = Over::of(attrs)?.clone();
        lists::rms_norm(&given(args, 0)?, None, &axis, epsilon)
    };
    "l2_normalize" ("x"; Over) = |args, attrs| {
        let Over { axis, epsilon } = Over::of(attrs)?.clone();
        lists::l2_normalize(&given(args, 0)?, &axis, epsilon)
    };
    "batch_norm" ("x", "average", "variance"; Along) = |args, attrs| {
        let Along { axis, epsilon } = *Along::of(attrs)?;
        ops::batch_norm(&args[0], &args[1], &args[2], None, None, axis, epsilon)
    };
    "cosine_similarity" ("x", "y"; LastAxis) = |args, attrs| {
        extenso_ext::cosine_similarity(&args[0], &args[1], LastAxis::of(attrs)?.axis, 1e-8)
    };
    "softmax_cross_entropy" ("logits", "labels"; LastAxis) = |args, attrs| {
        lists::softmax_cross_entropy(&given(args, 0)?, &given(args, 1)?, LastAxis::of(attrs)?.axis)
    };
    "sparse_softmax_cross_entropy" ("logits", "labels"; LastAxis) = |args, attrs| {
        ops::sparse_softmax_cross_entropy(&args[0], &args[1], LastAxis::of(attrs)?.axis)
    };
    "sigmoid_cross_entropy" ("logits", "labels"; NoAttrs) = |args, _| ops::sigmoid_cross_entropy(&args[0], &args[1]);
    "mean_squared_error" ("predictions", "targets"; OfAxes) = |args, attrs| {
        ops::mean_squared_error(&args[0], &args[1], OfAxes::of(attrs)?.axis.clone())
    };
    "huber" ("predictions", "targets"; Delta) = |args, attrs| {
        ops::huber(&args[0], &args[1], Delta::of(attrs)?.delta)
    };
    "conv1d" ("x", "weights"; Conv) = |args, attrs| {
        let Conv { stride, padding, dilation, groups } = Conv::of(attrs)?.clone();
        ops::conv1d(&args[0], &args[1], Windows { stride, dilation, padding: padding.parse()? }, groups)
    };
    "max_pool1d" ("x"; Pool) = |args, attrs| {
        let Pool { width, stride, padding } = Pool::of(attrs)?.clone();
        ops::max_pool1d(&args[0], width, stride, padding.parse()?)
    };
    "avg_pool1d" ("x"; Pool) = |args, attrs| {
        let Pool { width, stride, padding } = Pool::of(attrs)?.clone();
        ops::avg_pool1d(&args[0], width, stride, padding.parse()?)
    };
    "dropout" ("x"; Dropout) = |args, attrs| {
        let Dropout { rate, key } = *Dropout::of(attrs)?;
        extenso_ext::dropout(&given(args, 0)?, rate, key)
    };
    "random_uniform" ("key"; Uniform) = |args, attrs| {
        let Uniform { shape, low, high, dtype } = Uniform::of(attrs)?.clone();
        ops::random_uniform(&args[0], shape, low, high, dtype)
    };
    "random_normal" ("key"; Normal) = |args, attrs| {
        let Normal { shape, mean, stddev, dtype } = Normal::of(attrs)?.clone();
        ops::random_normal(&args[0], shape, mean, stddev, dtype)
    };
    "random_split" ("key"; Count) = |args, attrs| ops::random_split(&args[0], Count::of(attrs)?.count);
    "random_permutation" ("key"; Count) = |args, attrs| ops::random_permutation(&args[0], Count::of(attrs)?.count);
    "random_shuffle" ("key", "x"; OneAxis) = |args, attrs| {
        lists::random_shuffle(&args[0], &given(args, 1)?, OneAxis::of(attrs)?.axis)
    };
    "random_categorical" ("key", "logits"; LastAxis) = |args, attrs| {
        lists::random_categorical(&args[0], &given(args, 1)?, LastAxis::of(attrs)?.axis)
    };
    "random_fold_in" ("key", "data"; NoAttrs) = |args, _| ops::random_fold_in(&args[0], &args[1]);
    "random_truncated_normal" ("key"; Truncated) = |args, attrs| {
        let Truncated { shape, low, high, dtype } = Truncated::of(attrs)?.clone();
        ops::random_truncated_normal(&args[0], shape, low, high, dtype)
    };
    "random_bernoulli" ("key", "p"; Trials) = |args, attrs| {
        lists::random_bernoulli(&args[0], &args[1], Trials::of(attrs)?.shape.clone())
    };
    "random_choice" ("key", "x"; Choice) = |args, attrs| {
        let Choice { shape, replace } = Choice::of(attrs)?.clone();
        ops::random_choice(&args[0], &args[1], shape, replace, None)
    };
    "random_choice_weighted" ("key", "x", "p"; Choice) = |args, attrs| {
        let Choice { shape, replace } = Choice::of(attrs)?.clone();
        ops::random_choice(&args[0], &args[1], shape, replace, Some(given(args, 2)?))
    };
    "vecdot" ("x", "y"; LastAxis) = |args, attrs| extenso_ext::vecdot(&args[0], &args[1], LastAxis::of(attrs)?.axis);
    "outer" ("x", "y"; NoAttrs) = |args, _| ops::outer(given(args, 0)?, given(args, 1)?);
    "inner" ("x", "y"; NoAttrs) = |args, _| extenso_ext::inner(given(args, 0)?, given(args, 1)?);
    "cross_product" ("x", "y"; OfAxis) = |args, attrs| ops::cross_product(&args[0], &args[1], OfAxis::of(attrs)?.axis);
    "tensordot" ("x", "y"; Dot) = |args, attrs| extenso_ext::tensordot(&given(args, 0)?, &given(args, 1)?, DotAxes::Count(Dot::of(attrs)?.axes));
    "diagonal" ("x"; Diagonal) = |args, attrs| {
        let Diagonal { offset, axis1, axis2 } = *Diagonal::of(attrs)?;
        ops::diagonal(&args[0], offset, axis1, axis2)
    };
    "trace" ("x"; Diagonal) = |args, attrs| {
        let Diagonal { offset, axis1, axis2 } = *Diagonal::of(attrs)?;
        ops::trace(&args[0], offset, axis1, axis2)
    };
    "norm" ("x"; Norm) = |args, attrs| {
        let Norm { ord, axis, keepdims } = Norm::of(attrs)?.clone();
        ops::norm(&args[0], ord, axis, keepdims)
    };
    "einsum" ("subscripts", "operands"; NoAttrs) = |args, _| match &args[1] {
        Arg::List(operands) => extenso_ext::einsum(text(&args[0])?, operands.clone()),
        one => extenso_ext::einsum(text(&args[0])?, [one.clone()]),
    };
};

fn text(arg: &Arg) -> Result<&str> {
    match arg {
        Arg::Scalar(Scalar::Str(text)) => Ok(text),
        Arg::Scalar(_) | Arg::Value(_) | Arg::List(_) => Err(Error::dtype("found a value").wanted("subscripts")),
    }
}
