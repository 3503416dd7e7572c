//! Numbers that functions of lists take: one for all lists, or one for each.

use super::{Beside, count};
use crate::args::{int, typed_ref};
use crate::axes::{dim, outer, rank};
use crate::index::{Index, index};
use crate::masked::MaskedTensor;
use crate::missing::{lacks_rows_alone, may_lack};
use crate::ragged::RaggedTensor;
use extenso_core::{Arg, Scalar, Tensor, Value, ops};
use extenso_types::{Dim, Error, Result};

/// One integer for all lists, or one for each.
pub(super) enum Counts {
    /// Known now.
    All(i64),
    /// Data: of all lists if it has no axes, otherwise of each.
    Data(&'static str, Value),
}

impl Counts {
    /// The argument of this name.
    ///
    /// Errors: no integers; some that may be missing.
    pub(super) fn of(name: &'static str, given: &Arg) -> Result<Counts> {
        let wanted =
            || Error::dtype(format!("{name} is no integer")).at(name).wanted("one integer, or one for each list");
        match given {
            Arg::Scalar(Scalar::Int(n)) => Ok(Counts::All(*n)),
            Arg::Value(value) if may_lack(value) && !lacks_rows_alone(value) => {
                Err(Error::value("some of the numbers may be missing")
                    .at(name)
                    .wanted("numbers that are all there")
                    .hint(format!("Write `fill_none({name}, 0)` around them.")))
            }
            Arg::Value(value) if are_integers(value) => {
                let value = ops::whole(value)?;
                // A number that is data now is as good as one that is written.
                match value.tensor().ok().filter(|_| rank(&value).is_ok_and(|rank| rank == 0)).map(Tensor::data) {
                    Some(Ok(data)) => Ok(Counts::All(data.as_slice::<i64>()?[0])),
                    Some(Err(_)) | None => Ok(Counts::Data(name, value)),
                }
            }
            Arg::Value(_) | Arg::Scalar(_) | Arg::List(_) => Err(wanted()),
        }
    }

    /// The same, of numbers that must not be negative. Those of data are looked at by [`Counts::not_negative`].
    ///
    /// Errors: as [`Counts::of`], and a negative number.
    pub(super) fn natural(name: &'static str, given: &Arg) -> Result<Counts> {
        match Counts::of(name, given)? {
            Counts::All(n) => count(name, n).map(Counts::All),
            data @ Counts::Data(..) => Ok(data),
        }
    }

    /// What stands beside the lists.
    pub(super) fn beside(&self) -> Result<Vec<Beside>> {
        match self {
            Counts::Data(name, value) if rank(value)? > 0 => Ok(vec![Beside::each(name, value.clone())]),
            Counts::All(_) | Counts::Data(..) => Ok(Vec::new()),
        }
    }

    /// The number of each of these lists, with what stands beside them.
    ///
    /// Errors: other axes than one number for each.
    pub(super) fn for_each(&self, rows: &RaggedTensor, beside: &[Value]) -> Result<Value> {
        let none = ops::zeros_like(rows.row_lengths()?)?;
        match (self, beside) {
            (Counts::All(n), _) => ops::add(none, *n),
            (Counts::Data(name, _), [each]) if rank(each)? != 1 => {
                Err(Error::shape(format!("there are {} axes inside the lists", rank(each)? - 1))
                    .at(*name)
                    .wanted("one number for each list"))
            }
            (Counts::Data(name, _), [each]) => ops::add(each, none).map_err(|e| e.at(*name)),
            (Counts::Data(_, value), _) => ops::add(none, value),
        }
    }

    fn value(&self) -> Result<Value> {
        match self {
            Counts::All(n) => Ok(Tensor::scalar(*n).into()),
            Counts::Data(_, value) => Ok(value.clone()),
        }
    }

    /// The first elements along an axis, as many for all lists as this number says.
    ///
    /// Errors: a number for each list.
    pub(super) fn first_of_all(&self, x: &Value, axis: usize) -> Result<Value> {
        match self {
            Counts::All(n) => ops::slice(x, int(axis), 0_i64, Some(vec![*n]), 1_i64),
            Counts::Data(..) => {
                let n = self.not_negative(self.value()?)?;
                let first = Index::Between { start: None, stop: Some(n), step: 1 };
                let key: Vec<Index> = std::iter::repeat_n(Index::ALL, axis).chain([first]).collect();
                index(x, &key)
            }
        }
    }

    /// What was made of `x`, if this one number is at most the size of an axis of it.
    ///
    /// Errors: it is more, which of data is seen when the graph runs.
    pub(super) fn checked_beside(&self, made: Value, x: &Value, axis: usize) -> Result<Value> {
        let size = if axis == 0 { outer(x).and_then(Dim::known) } else { dim(x, axis)?.known() };
        let wanted = "at most as many as there are";
        let n = match (self, size) {
            (Counts::All(k), Some(n)) if int(n) < *k => {
                return Err(Error::value(format!("k is {k}, and the axis has {n} elements")).wanted(wanted));
            }
            (Counts::All(_), Some(_)) => return Ok(made),
            (_, Some(n)) => Value::from(Tensor::scalar(int(n))),
            (_, None) => ops::sum(ops::ones_like(ops::indices_along(x, int(axis))?)?, 0, false)?,
        };
        let (k, what) = match self {
            Counts::All(k) => (Value::from(Tensor::scalar(*k)), format!("k is {k}, and the axis has fewer elements")),
            Counts::Data(name, k) => (k.clone(), format!("{name} is more than the elements of the axis")),
        };
        ops::check_all(made, ops::greater_equal(n, k)?, what, wanted)
    }

    /// Numbers of lists that must not be negative, as the lengths that they are of.
    ///
    /// Errors: a negative one, with the list that it is of.
    pub(super) fn not_negative(&self, numbers: Value) -> Result<Value> {
        match self {
            Counts::All(_) => Ok(numbers),
            Counts::Data(name, _) if numbers.tensor().is_ok_and(|numbers| numbers.data().is_ok()) => {
                ops::partition_from_lengths(&numbers).map_err(|e| e.at(*name))?;
                Ok(numbers)
            }
            // A partition that nobody needs would not be made, nor its lengths looked at.
            Counts::Data(name, _) => {
                let fit = ops::greater_equal(&numbers, 0)?;
                ops::check_all(numbers, fit, format!("{name} is negative"), "numbers that are not negative")
            }
        }
    }
}

/// Whether a value holds integers below its rows.
pub(super) fn are_integers(value: &Value) -> bool {
    let inner = typed_ref::<RaggedTensor>(value).map(|rows| rows.values().clone());
    match inner.or_else(|| typed_ref::<MaskedTensor>(value).map(|masked| masked.values().clone())) {
        Some(values) => are_integers(&values),
        None => value.tensor().is_ok_and(|tensor| tensor.dtype().is_integer()),
    }
}
