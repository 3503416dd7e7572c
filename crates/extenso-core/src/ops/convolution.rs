//! Convolution and pooling along one axis: windows of a sequence, and what is made of each.
//!
//! A window is as many slices as it has places, so that gradients follow, and only they need the length while tracing. An element
//! of a convolution is one chain of fused multiply-adds, over the places of the window in order and at each over the channels in
//! order, because it is an element of a `matmul`: a sequence has the bits that it has in any batch.

use super::normalize::in_f32;
use super::{add, concat, divide, matmul, maximum, ones_like, pad, reshape, slice, split};
use crate::ops::Sections;
use crate::tensor::Tensor;
use crate::value::{Arg, Value};
use extenso_types::{Dim, Error, Result};

/// What stands before and after a sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Padding {
    /// Nothing: windows lie within the sequence.
    Valid,
    /// As much on both sides, at the end one more if that is odd, that there is a window for each stride of the sequence.
    Same,
    /// As much before it that a window ends at each place and sees nothing that follows.
    Causal,
}

impl std::str::FromStr for Padding {
    type Err = Error;

    fn from_str(text: &str) -> Result<Padding> {
        match text.to_ascii_lowercase().as_str() {
            "valid" => Ok(Padding::Valid),
            "same" => Ok(Padding::Same),
            "causal" => Ok(Padding::Causal),
            _ => Err(Error::value(format!("the padding is '{text}'"))
                .wanted("'valid', 'same' or 'causal'")
                .at("padding")),
        }
    }
}

/// How windows lie on a sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Windows {
    /// From one window to the next.
    pub stride: i64,
    /// From one place of a window to the next.
    pub dilation: i64,
    /// What stands before and after the sequence.
    pub padding: Padding,
}

impl Default for Windows {
    fn default() -> Windows {
        Windows { stride: 1, dilation: 1, padding: Padding::Valid }
    }
}

/// The products of each window of `x` with the weights, summed over the places of the window and the channels.
///
/// Shapes: `x` is `[..., length, channels]`, the weights `[width, channels / groups, filters]`, the result `[..., windows, filters]`.
/// With several groups the channels and the filters are cut into as many, and each group of filters sees its channels. The
/// weights are not turned around. Errors: shapes that do not fit; dtypes that differ or are not numbers; numbers below 1; with
/// 'same' and a stride, a length that is not known while tracing; more places in a window, or groups, than 4096.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let x = Tensor::new(&[3, 1], &[1.0, 2.0, 4.0]).unwrap();
/// let weights = Tensor::new(&[2, 1, 1], &[-1.0, 1.0]).unwrap();
/// assert_eq!(ops::conv1d(x, weights, ops::Windows::default(), 1).unwrap().to_string(), "[[1.0], [2.0]]");
/// ```
pub fn conv1d(x: impl Into<Arg>, weights: impl Into<Arg>, windows: Windows, groups: i64) -> Result<Value> {
    convolved(&x.into(), &weights.into(), windows, groups).map_err(|e| e.at_part("conv1d"))
}

fn convolved(x: &Arg, weights: &Arg, windows: Windows, groups: i64) -> Result<Value> {
    let (x, weights) = (x.value()?, weights.value()?);
    let (_, channels) = last_two(x)?;
    let shape = weights.tensor()?.shape();
    let Some([Dim::Known(width), Dim::Known(inputs), Dim::Known(filters)]) = shape.dims() else {
        return Err(Error::shape(format!("the weights have the shape {shape}"))
            .at("argument 'weights'")
            .wanted("[width, channels / groups, filters], sizes that are known"));
    };
    at_least_one("groups", groups)?;
    if groups > int(MOST_PLACES) {
        return Err(Error::value(format!("groups is {groups}")).wanted(format!("from 1 to {MOST_PLACES}")));
    }
    let parts = usize::try_from(groups).unwrap_or(usize::MAX);
    let fits = filters % parts == 0 && channels.is_compatible_with(Dim::Known(inputs.saturating_mul(parts)));
    if !fits {
        let found = format!("the weights have the shape {shape} for {channels} channels in {groups} groups");
        return Err(Error::shape(found).wanted("[width, channels / groups, filters], and filters for each group"));
    }
    if !x.tensor()?.dtype().is_numeric() {
        return Err(Error::dtype(format!("found {}", x.tensor()?.dtype())).wanted("numbers"));
    }
    let padded = padded(x, 0.0, *width, windows)?;
    let places: Vec<Value> = places(&padded, *width, windows).collect::<Result<_>>()?;
    if groups == 1 {
        return filtered(places, weights, width * inputs, *filters);
    }
    let parted: Result<Vec<Vec<Value>>> =
        places.iter().map(|place| split(place, Sections::Equal(groups), -1)).collect();
    let (parted, weights) = (parted?, split(weights, Sections::Equal(groups), -1)?);
    let of_group = |group: usize| {
        let places = parted.iter().map(|parts| parts[group].clone()).collect();
        filtered(places, &weights[group], width * inputs, filters / parts)
    };
    let results: Result<Vec<Value>> = (0..parts).map(of_group).collect();
    concat(results?, -1)
}

/// The products of windows, given by their places, with weights.
fn filtered(places: Vec<Value>, weights: &Value, rows: usize, filters: usize) -> Result<Value> {
    let windows = if let [one] = &places[..] { one.clone() } else { concat(places, -1)? };
    matmul(windows, reshape(weights, vec![int(rows), int(filters)])?, false)
}

fn int(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// The length and the channels of a sequence.
fn last_two(x: &Value) -> Result<(Dim, Dim)> {
    let shape = x.tensor()?.shape();
    match shape.dims() {
        Some([.., length, channels]) => Ok((*length, *channels)),
        _ => Err(Error::shape(format!("found the shape {shape}"))
            .at("argument 'x'")
            .wanted("[..., length, channels], a rank that is known")),
    }
}

fn at_least_one(name: &str, number: i64) -> Result<()> {
    if number >= 1 {
        return Ok(());
    }
    Err(Error::value(format!("{name} is {number}")).wanted("a number from 1 on"))
}

/// The sequence with what stands before and after it.
fn padded(x: &Value, fill: f64, width: usize, windows: Windows) -> Result<Value> {
    let Windows { stride, dilation, padding } = windows;
    at_least_one("stride", stride)?;
    at_least_one("dilation", dilation)?;
    if !(1..=MOST_PLACES).contains(&width) {
        return Err(Error::value(format!("a window has {width} places")).wanted(format!("from 1 to {MOST_PLACES}")));
    }
    let (length, _) = last_two(x)?;
    let reach = int(width - 1).saturating_mul(dilation);
    let (before, after) = match padding {
        Padding::Valid => return Ok(x.clone()),
        Padding::Causal => (reach, 0),
        Padding::Same if stride == 1 => (reach / 2, reach - reach / 2),
        Padding::Same => {
            let length = length.known().ok_or_else(|| {
                Error::shape("the length is not known while tracing").wanted("a known length for 'same' with a stride")
            })?;
            let gaps = (int(length) - 1).div_euclid(stride);
            let covered = gaps.saturating_mul(stride).saturating_add(reach.saturating_add(1));
            let missing = covered.saturating_sub(int(length)).max(0);
            (missing / 2, missing - missing / 2)
        }
    };
    let rank = x.tensor()?.shape().rank().unwrap_or(2);
    let mut widths = vec![0; 2 * (rank - 2)];
    widths.extend([before, after, 0, 0]);
    let dtype = x.tensor()?.dtype();
    let fill =
        if dtype.is_float() { super::cast(Tensor::scalar(fill), dtype)? } else { super::zeros(Vec::new(), dtype)? };
    pad(x, fill, widths)
}

/// Each place of a window is a slice, and each group of channels.
const MOST_PLACES: usize = 4096;

/// For each place of a window, what stands there in all windows; made when it is asked for.
fn places(x: &Value, width: usize, windows: Windows) -> impl Iterator<Item = Result<Value>> {
    let place = move |at: usize| {
        let start = int(at).saturating_mul(windows.dilation);
        let behind = int(width - 1 - at).saturating_mul(windows.dilation);
        let stop = (behind > 0).then(|| vec![-behind]);
        slice(x, -2, start, stop, windows.stride)
    };
    (0..width).map(place)
}

/// The largest element of each window, channel by channel. What `padding` adds is never the largest.
///
/// Shapes: `x` is `[..., length, channels]`, the result `[..., windows, channels]`. Without a stride windows follow one another.
/// Errors: no floats; a rank below 2; numbers below 1; those of [`conv1d`].
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let x = Tensor::new(&[4, 1], &[1.0, 3.0, 2.0, 0.0]).unwrap();
/// assert_eq!(ops::max_pool1d(x, 2, None, ops::Padding::Valid).unwrap().to_string(), "[[3.0], [2.0]]");
/// ```
pub fn max_pool1d(x: impl Into<Arg>, width: i64, stride: Option<i64>, padding: Padding) -> Result<Value> {
    let largest = |x: Arg| pooled(x.value()?, f64::NEG_INFINITY, width, stride, padding, |x, y| maximum(x, y));
    largest(x.into()).map_err(|e| e.at_part("max_pool1d"))
}

/// The mean of each window, channel by channel, over the places that lie in the sequence.
///
/// Shapes: `x` is `[..., length, channels]`, the result `[..., windows, channels]`. Without a stride windows follow one another.
/// Errors: no floats; a rank below 2; numbers below 1; those of [`conv1d`].
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let x = Tensor::new(&[4, 1], &[1.0, 3.0, 2.0, 0.0]).unwrap();
/// assert_eq!(ops::avg_pool1d(x, 2, None, ops::Padding::Valid).unwrap().to_string(), "[[2.0], [1.0]]");
/// ```
pub fn avg_pool1d(x: impl Into<Arg>, width: i64, stride: Option<i64>, padding: Padding) -> Result<Value> {
    let mean = |x: Arg| {
        let total = |x: &Value| pooled(x, 0.0, width, stride, padding, |x, y| add(x, y));
        in_f32(&[&x], |args| {
            let x = args[0].value()?;
            let totals = total(x)?;
            if padding == Padding::Valid {
                divide(totals, width as f64)
            } else {
                divide(totals, total(&ones_like(x)?)?)
            }
        })
    };
    mean(x.into()).map_err(|e| e.at_part("avg_pool1d"))
}

/// What is at the places of each window, folded place by place: only one of them is there at a time.
fn pooled(
    x: &Value,
    fill: f64,
    width: i64,
    stride: Option<i64>,
    padding: Padding,
    f: impl Fn(&Value, &Value) -> Result<Value>,
) -> Result<Value> {
    let dtype = x.tensor()?.dtype();
    if !dtype.is_float() {
        return Err(Error::dtype(format!("found {dtype}")).wanted("floats"));
    }
    at_least_one("width", width)?;
    let windows = Windows { stride: stride.unwrap_or(width), dilation: 1, padding };
    let width = usize::try_from(width).unwrap_or(usize::MAX);
    let padded = padded(x, fill, width, windows)?;
    let mut places = places(&padded, width, windows);
    let first = places.next().ok_or_else(|| Error::internal("a window without places"))??;
    places.try_fold(first, |all, place| f(&all, &place?))
}
