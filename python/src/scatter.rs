//! Elements brought together by segments, and put at positions: functions that are no ops, as Rust has them.
//!
//! Invariant: no logic of a function stands here.

use crate::composed::attribute;
use crate::rearrange::{Given, Made, made};
use crate::typed::{Typed, typed};
use crate::value;
use extenso_ext::scatter;
use pyo3::prelude::*;

/// Adds the functions to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    macro_rules! add {
        ($($name:ident)*) => { $(module.add_function(wrap_pyfunction!($name, module)?)?;)* };
    }
    add! { segment_mean unsorted_segment_sum unsorted_segment_prod unsorted_segment_max unsorted_segment_min }
    add! { unsorted_segment_mean unsorted_segment_join scatter_nd scatter_nd_add scatter_nd_update }
    Ok(())
}

/// The mean of each row that the partition cuts, as of `mean`. An empty row gives NaN.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.segment_mean([1, 2, 4], ex.RowPartition.from_row_lengths([2, 1])))
/// [1.5, 4.0]
#[pyfunction]
fn segment_mean<'py>(values: Given<'_, 'py>, partition: Given<'_, 'py>) -> Made<'py> {
    let (given, rows) =
        (value::given("segment_mean", "values", values)?, value::given("segment_mean", "partition", partition)?);
    let partition = || rows.partition().map_err(|e| e.at("argument 'partition'").at("segment_mean"));
    made(values.py(), || scatter::segment_mean(&given, partition()?))
}

/// The sum of the elements of each segment along the outer axis; `segments` has the number of one for each element, below `count`.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.unsorted_segment_sum([1, 2, 4], [2, 0, 2], 3))
/// [2, 0, 5]
#[pyfunction]
fn unsorted_segment_sum<'py>(x: Given<'_, 'py>, segments: Given<'_, 'py>, count: Typed<i64>) -> Made<'py> {
    typed!(unsorted_segment_sum: count);
    let (given, numbers) =
        (value::given("unsorted_segment_sum", "x", x)?, value::given("unsorted_segment_sum", "segments", segments)?);
    made(x.py(), || scatter::unsorted_segment_sum(&given, &numbers, count))
}

/// The product of the elements of each segment along the outer axis; `segments` has the number of one for each element, below `count`.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.unsorted_segment_prod([1, 2, 4], [2, 0, 2], 3))
/// [2, 1, 4]
#[pyfunction]
fn unsorted_segment_prod<'py>(x: Given<'_, 'py>, segments: Given<'_, 'py>, count: Typed<i64>) -> Made<'py> {
    typed!(unsorted_segment_prod: count);
    let (given, numbers) =
        (value::given("unsorted_segment_prod", "x", x)?, value::given("unsorted_segment_prod", "segments", segments)?);
    made(x.py(), || scatter::unsorted_segment_prod(&given, &numbers, count))
}

/// The largest of the elements of each segment along the outer axis; `segments` has the number of one for each element, below `count`.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.unsorted_segment_max([1.0, 2.0, 4.0], [2, 0, 2], 3))
/// [2.0, -inf, 4.0]
#[pyfunction]
fn unsorted_segment_max<'py>(x: Given<'_, 'py>, segments: Given<'_, 'py>, count: Typed<i64>) -> Made<'py> {
    typed!(unsorted_segment_max: count);
    let (given, numbers) =
        (value::given("unsorted_segment_max", "x", x)?, value::given("unsorted_segment_max", "segments", segments)?);
    made(x.py(), || scatter::unsorted_segment_max(&given, &numbers, count))
}

/// The smallest of the elements of each segment along the outer axis; `segments` has the number of one for each element, below `count`.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.unsorted_segment_min([1.0, 2.0, 4.0], [2, 0, 2], 3))
/// [2.0, inf, 1.0]
#[pyfunction]
fn unsorted_segment_min<'py>(x: Given<'_, 'py>, segments: Given<'_, 'py>, count: Typed<i64>) -> Made<'py> {
    typed!(unsorted_segment_min: count);
    let (given, numbers) =
        (value::given("unsorted_segment_min", "x", x)?, value::given("unsorted_segment_min", "segments", segments)?);
    made(x.py(), || scatter::unsorted_segment_min(&given, &numbers, count))
}

/// The mean of the elements of each segment along the outer axis; `segments` has the number of one for each element, below `count`.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.unsorted_segment_mean([1, 2, 4], [1, 0, 1], 2))
/// [2.0, 2.5]
#[pyfunction]
fn unsorted_segment_mean<'py>(x: Given<'_, 'py>, segments: Given<'_, 'py>, count: Typed<i64>) -> Made<'py> {
    typed!(unsorted_segment_mean: count);
    let (given, numbers) =
        (value::given("unsorted_segment_mean", "x", x)?, value::given("unsorted_segment_mean", "segments", segments)?);
    made(x.py(), || scatter::unsorted_segment_mean(&given, &numbers, count))
}

/// The strings of each segment along the outer axis joined into one, in their order, with `separator` between them.
///
/// `segments` has the number of a segment for each string, below `count`; one without strings gives an empty string.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.unsorted_segment_join(["a", "b", "c"], [2, 0, 2], 3, separator="+"))
/// ['b', '', 'a+c']
#[pyfunction]
#[pyo3(signature = (x, segments, count, separator=Typed::new("")), text_signature = "(x, segments, count, separator='')")]
fn unsorted_segment_join<'py>(
    x: Given<'_, 'py>,
    segments: Given<'_, 'py>,
    count: Typed<i64>,
    separator: Typed<&str>,
) -> Made<'py> {
    typed!(unsorted_segment_join: count, separator);
    let given = value::given("unsorted_segment_join", "x", x)?;
    let numbers = value::given("unsorted_segment_join", "segments", segments)?;
    made(x.py(), || scatter::unsorted_segment_join(&given, &numbers, count, separator))
}

/// A tensor of `shape` with `updates` at positions, as of `gather_nd`, and zeros elsewhere; what meets at one is added up.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.scatter_nd([[1], [3], [1]], [5, 6, 7], 4))
/// [0, 12, 0, 6]
#[pyfunction]
fn scatter_nd<'py>(indices: Given<'_, 'py>, updates: Given<'_, 'py>, shape: Given<'_, 'py>) -> Made<'py> {
    let (at, given) =
        (value::given("scatter_nd", "indices", indices)?, value::given("scatter_nd", "updates", updates)?);
    let sizes: Vec<i64> = attribute("scatter_nd", "shape", shape)?;
    made(indices.py(), || scatter::scatter_nd(&at, &given, &sizes))
}

/// `x` with `updates` added at positions, as of `gather_nd`.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.scatter_nd_add([1, 2, 3], [[0], [0]], [10, 20]))
/// [31, 2, 3]
#[pyfunction]
fn scatter_nd_add<'py>(x: Given<'_, 'py>, indices: Given<'_, 'py>, updates: Given<'_, 'py>) -> Made<'py> {
    let (base, at, given) = (
        value::given("scatter_nd_add", "x", x)?,
        value::given("scatter_nd_add", "indices", indices)?,
        value::given("scatter_nd_add", "updates", updates)?,
    );
    made(x.py(), || scatter::scatter_nd_add(&base, &at, &given))
}

/// `x` with `updates` in the place of what is at positions, as of `gather_nd`; of several at one the last stays.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.scatter_nd_update([1, 2, 3], [[0], [-1]], [10, 20]))
/// [10, 2, 20]
#[pyfunction]
fn scatter_nd_update<'py>(x: Given<'_, 'py>, indices: Given<'_, 'py>, updates: Given<'_, 'py>) -> Made<'py> {
    let (base, at, given) = (
        value::given("scatter_nd_update", "x", x)?,
        value::given("scatter_nd_update", "indices", indices)?,
        value::given("scatter_nd_update", "updates", updates)?,
    );
    made(x.py(), || scatter::scatter_nd_update(&base, &at, &given))
}
