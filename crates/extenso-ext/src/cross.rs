//! Crosses of features: every combination of one value of each, in each row.
//!
//! Compositions over ops. The crosses and their hashes are those of TensorFlow's `tf.ragged.cross` and `cross_hashed`.

use crate::CategoricalTensor;
use crate::args::typed;
use crate::axes::rank;
use crate::masked::{MaskedTensor, lists_there};
use crate::ragged::RaggedTensor;
use crate::specs::dtype_of;
use crate::structs::masked_by;
use extenso_core::{Arg, ExtensionType, RowPartition, Tensor, Value, ops};
use extenso_types::{DType, DTypeKind, Error, Result};

/// The factor of TensorFlow's `FingerprintCat64`, which is that of MurmurHash2.
const FACTOR: u64 = 0xc6a4_a793_5bd1_e995;
/// What a number is divided by to shift it right by 47 bits.
const SHIFT: u64 = 1 << 47;
/// More combinations than there can be; fewer are whole numbers in f64.
const MOST: f64 = 9_007_199_254_740_992.0;
/// The key of crosses where none is given, which is TensorFlow's.
pub const CROSS_KEY: i64 = 0xDE_CAFC_AFFE;

/// In each row, every combination of one value of each input, as text with `separator` between the values.
///
/// Values of the last input change first. Integers are written as by `as_string`. Shapes: inputs are `[n, k]`, dense or ragged; the
/// result is ragged, with as many values in a row as the product of the inputs' rows; a row that is missing in one input is missing.
/// Errors: no input; an input of another rank; different numbers of rows; values that are no text and no integers, or of which one may be
/// missing; more combinations than memory holds.
///
/// ```
/// # use extenso_ext::{constant, cross, to_literal};
/// let x = constant(vec![vec!["a"], vec!["b", "c"]]).unwrap();
/// let y = constant(vec![vec!["d"], vec!["e"]]).unwrap();
/// let crossed = cross(&[x, y], "_X_").unwrap();
/// assert_eq!(to_literal(&crossed).unwrap().to_string(), r#"[["a_X_d"], ["b_X_e", "c_X_e"]]"#);
/// ```
pub fn cross(inputs: &[Value], separator: &str) -> Result<Value> {
    let crossed = |inputs: &[Value]| {
        let crosses = Crosses::of(inputs)?;
        let texts: Result<Vec<Arg>> = crosses.values()?.iter().map(|x| Ok(ops::as_string(x)?.into())).collect();
        crosses.rows(ops::string_join(Arg::List(texts?), separator)?)
    };
    of_rows_there(inputs, &crossed).map_err(|e| e.at_part("cross"))
}

/// In each row, a number for every combination of one value of each input, as i64: its fingerprint, from 0 to below `num_buckets`.
///
/// With 0 buckets the fingerprint is taken modulo the greatest i64. Another `key` gives other fingerprints. The numbers are those of
/// TensorFlow's `tf.ragged.cross_hashed`. Shapes: as of [`cross`]. Errors: as of [`cross`]; a negative number of buckets.
///
/// ```
/// # use extenso_ext::{CROSS_KEY, constant, cross_hashed, to_literal};
/// let x = constant(vec![vec!["a"], vec!["b", "c"]]).unwrap();
/// let y = constant(vec![vec!["d"], vec!["e"]]).unwrap();
/// let crossed = cross_hashed(&[x, y], 10, CROSS_KEY).unwrap();
/// assert_eq!(to_literal(&crossed).unwrap().to_string(), "[[2], [1, 1]]");
/// ```
pub fn cross_hashed(inputs: &[Value], num_buckets: i64, key: i64) -> Result<Value> {
    let hashed = |inputs: &[Value]| {
        let buckets = match u64::try_from(num_buckets) {
            Ok(0) => i64::MAX.cast_unsigned(),
            Ok(buckets) => buckets,
            Err(_) => {
                return Err(
                    Error::value(format!("{num_buckets} buckets are asked for")).wanted("buckets, or 0 for none")
                );
            }
        };
        let crosses = Crosses::of(inputs)?;
        let mut print: Value = Tensor::scalar(key.cast_unsigned()).into();
        for values in crosses.values()? {
            print = joined(&print, &print_of(&values)?)?;
        }
        let found = ops::remainder(print, Tensor::scalar(buckets))?;
        crosses.rows(ops::cast(found, DType::I64)?)
    };
    of_rows_there(inputs, &hashed).map_err(|e| e.at_part("cross_hashed"))
}

/// The crosses of the rows that are there in every input; the others are missing.
fn of_rows_there(inputs: &[Value], crossed: &dyn Fn(&[Value]) -> Result<Value>) -> Result<Value> {
    match lists_there(inputs)? {
        Some((rows, there)) => masked_by(crossed(&rows)?, &there),
        None => crossed(inputs),
    }
}

/// The fingerprint of each value: of a text that of its bytes, of an integer itself.
fn print_of(x: &Value) -> Result<Value> {
    if let Some(x) = typed::<CategoricalTensor>(x) {
        return print_of(&x.decoded()?);
    }
    match x.tensor()?.dtype().kind() {
        DTypeKind::Text => ops::fingerprint(x),
        _ => ops::cast(ops::cast(x, DType::I64)?, DType::U64),
    }
}

/// TensorFlow's `FingerprintCat64`.
fn joined(x: &Value, y: &Value) -> Result<Value> {
    let times = |x: Value| ops::multiply(x, Tensor::scalar(FACTOR));
    let mixed = times(shifted(times(y.clone())?)?)?;
    let seeded = ops::bitwise_xor(ops::bitwise_xor(x, Tensor::scalar(FACTOR))?, mixed)?;
    shifted(times(shifted(times(seeded)?)?)?)
}

/// `x ^ (x >> 47)`
fn shifted(x: Value) -> Result<Value> {
    ops::bitwise_xor(&x, ops::floor_divide(&x, Tensor::scalar(SHIFT))?)
}

/// Where the values of each combination stand among those of each input.
struct Crosses {
    inputs: Vec<RaggedTensor>,
    partition: RowPartition,
    places: Vec<Value>,
}

impl Crosses {
    fn of(inputs: &[Value]) -> Result<Crosses> {
        let inputs: Result<Vec<RaggedTensor>> =
            inputs.iter().enumerate().map(|(i, x)| rows_of(x).map_err(|e| e.at(format!("input {}", i + 1)))).collect();
        let inputs = inputs?;
        let Some(first) = inputs.first() else {
            return Err(Error::value("no input is given").wanted("at least one"));
        };
        inputs.iter().try_for_each(|input| check_rows(first, input))?;
        // How many combinations the inputs from each on have; those of all are known before one is made.
        let mut strides: Vec<Value> = Vec::new();
        for input in inputs.iter().rev() {
            let counts = ops::row_lengths(input.partition())?;
            strides.push(strides.last().map_or_else(|| Ok(counts.clone()), |inner| times(inner, &counts))?);
        }
        let all = strides.pop().ok_or_else(|| Error::internal("an input has combinations"))?;
        let partition = ops::partition_from_lengths(all)?.partition()?.clone();
        strides.reverse();
        let at = ops::places_in_rows(&partition)?;
        let of_rows = |each: Value| ops::gather_rows_of(each, &partition);
        let mut places = Vec::new();
        for (i, input) in inputs.iter().enumerate() {
            let turn = strides
                .get(i)
                .map_or_else(|| Ok(at.clone()), |stride| ops::floor_divide(&at, of_rows(stride.clone())?))?;
            let of_input = ops::remainder(turn, of_rows(ops::row_lengths(input.partition())?)?)?;
            places.push(ops::add(of_rows(ops::row_starts(input.partition())?)?, of_input)?);
        }
        Ok(Crosses { inputs, partition, places })
    }

    /// The values of each input, one for each combination.
    fn values(&self) -> Result<Vec<Value>> {
        self.inputs.iter().zip(&self.places).map(|(input, places)| ops::take(input.values(), places, 0)).collect()
    }

    fn rows(&self, values: Value) -> Result<Value> {
        Ok(RaggedTensor::from_partition(values, self.partition.clone())?.into_value())
    }
}

/// The products of numbers of combinations, and a number that no memory holds where they are more.
fn times(x: &Value, y: &Value) -> Result<Value> {
    let float = |x: &Value| ops::cast(x, DType::F64);
    let product = ops::minimum(ops::multiply(float(x)?, float(y)?)?, MOST)?;
    ops::cast(product, DType::I64)
}

fn check_rows(first: &RaggedTensor, input: &RaggedTensor) -> Result<()> {
    let rows = |x: &RaggedTensor| x.partition().spec().nrows;
    let (n, m) = (rows(first), rows(input));
    if n.is_compatible_with(m) {
        return Ok(());
    }
    Err(Error::shape(format!("one input has {m} rows, and the first {n}")).wanted("one number of rows for all"))
}

/// The input as rows of texts or integers.
fn rows_of(x: &Value) -> Result<RaggedTensor> {
    if rank(x)? != 2 {
        return Err(Error::shape(format!("the rank is {}", rank(x)?)).wanted("rank 2: rows of values"));
    }
    let rows = match typed::<RaggedTensor>(x) {
        Some(rows) => rows.compact()?,
        None if typed::<MaskedTensor>(x).is_none() => RaggedTensor::of_uniform(x)?,
        None => return Err(missing()),
    };
    if typed::<MaskedTensor>(rows.values()).is_some() {
        return Err(missing());
    }
    let dtype = dtype_of(&x.spec()?);
    if !dtype.is_some_and(|dtype| dtype.kind() == DTypeKind::Text || dtype.is_integer()) {
        let found = dtype.map_or("no tensor".to_string(), |dtype| dtype.to_string());
        return Err(Error::dtype(format!("the values are {found}")).wanted("strings or integers"));
    }
    Ok(rows)
}

fn missing() -> Error {
    Error::value("some of the values may be missing")
        .wanted("values that are all there")
        .hint("Write `fill_none(x, value)`.")
}
