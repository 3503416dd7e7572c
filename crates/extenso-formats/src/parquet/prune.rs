//! Row groups that statistics rule out.
//!
//! Invariant: a row group is left out only if no row of it can fit; without statistics it is read. Rows of a row group that is
//! read are not looked at.

use super::project::LeafColumn;
use super::times::DAY;
use crate::arrow::from_arrow;
use crate::names::some_names;
use arrow_array::new_empty_array;
use arrow_buffer::i256;
use arrow_schema::DataType;
use extenso_ext::{DecimalTensor, Spelling};
use extenso_types::{Error, Path, Result, Spec};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::statistics::Statistics;
use std::cmp::Ordering;

/// A condition that rows should fit, such as `day >= 3`.
#[derive(Clone, PartialEq, Debug)]
pub struct Condition {
    /// The column; for a list, one of its items.
    pub path: Path,
    /// How its values are compared.
    pub comparison: Comparison,
    /// With what.
    pub literal: Literal,
}

/// How values are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    /// Equal to it.
    Equal,
    /// Not equal to it.
    NotEqual,
    /// Below it.
    Less,
    /// At or below it.
    LessEqual,
    /// Above it.
    Greater,
    /// At or above it.
    GreaterEqual,
}

/// What values are compared with.
#[derive(Clone, PartialEq, Debug)]
pub enum Literal {
    /// True or false.
    Bool(bool),
    /// An integer; of times, a count of their unit.
    Int(i128),
    /// A float.
    Float(f64),
    /// Text, or bytes; of times and decimals, the text that JSON has for them.
    Text(Vec<u8>),
}

impl std::fmt::Display for Literal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Literal::Bool(bit) => f.write_str(if *bit { "True" } else { "False" }),
            Literal::Int(number) => number.fmt(f),
            Literal::Float(number) => write!(f, "{number:?}"),
            Literal::Text(text) => write!(f, "'{}'", text.escape_ascii()),
        }
    }
}

/// What the statistics of a column are compared with.
enum Compared<'a> {
    Bool(bool),
    /// A count, and what those of the column are multiplied by to be of its unit.
    Int(i128, i128),
    Float(f64),
    Text(&'a [u8]),
    /// A number with a fraction as an integer, and what the integers of the column are multiplied by to be of its scale.
    Decimal(i256, i256),
}

const SIGNS: [(&str, Comparison); 6] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    ("<", Comparison::Less),
    ("<=", Comparison::LessEqual),
    (">", Comparison::Greater),
    (">=", Comparison::GreaterEqual),
];

impl std::str::FromStr for Comparison {
    type Err = Error;

    fn from_str(sign: &str) -> Result<Comparison> {
        let found = SIGNS.iter().find(|(known, _)| *known == sign).map(|(_, comparison)| *comparison);
        found.ok_or_else(|| {
            Error::value(format!("found '{sign}'")).wanted("'==', '!=', '<', '<=', '>' or '>='").at("comparison")
        })
    }
}

/// The row groups among `groups` that may have a row that fits all conditions.
///
/// Errors: a path that is no leaf column; a literal that the column's values do not compare with.
pub fn prune(
    metadata: &ParquetMetaData,
    columns: &[LeafColumn],
    groups: Vec<usize>,
    conditions: &[Condition],
) -> Result<Vec<usize>> {
    let mut left = groups;
    for condition in conditions {
        let column = columns.iter().find(|column| column.path == condition.path).ok_or_else(|| {
            let paths: Vec<String> = columns.iter().map(|column| column.path.to_string()).collect();
            Error::missing(format!("there is no column '{}'", condition.path))
                .wanted(format!("one of {}", some_names(paths)))
        })?;
        let literal = compared(column, &condition.literal)?;
        left.retain(|group| may_fit(metadata.row_group(*group), column, condition.comparison, &literal));
    }
    Ok(left)
}

/// The literal as the column's values compare with it.
///
/// Errors: they do not.
fn compared<'a>(column: &LeafColumn, literal: &'a Literal) -> Result<Compared<'a>> {
    let data_type = plain(&column.data_type);
    let spelling = spelling_of(data_type);
    let decimals = spelling.as_ref().is_some_and(Spelling::is_number);
    let found = match literal {
        Literal::Bool(bit) => (*data_type == DataType::Boolean).then_some(Compared::Bool(*bit)),
        Literal::Int(number) if decimals => decimal(data_type, &number.to_string()),
        Literal::Int(number) => {
            let (times, per) = column.scales;
            let counts = data_type.is_integer() || is_float(data_type) || data_type.is_temporal();
            counts.then_some(Compared::Int(number.saturating_mul(per), times))
        }
        Literal::Float(number) if data_type.is_integer() => halves(*number),
        Literal::Float(number) => is_float(data_type).then_some(Compared::Float(*number)),
        Literal::Text(text) => match (data_type, std::str::from_utf8(text)) {
            (DataType::FixedSizeBinary(width), _) => {
                (usize::try_from(*width) == Ok(text.len())).then_some(Compared::Text(text))
            }
            (_, Ok(text)) if decimals => decimal(data_type, text),
            // What is spelled is counted in the unit of the file, and not in the one that was given.
            (_, Ok(text)) if spelling.is_some() => spelling
                .as_ref()
                .and_then(|spelling| spelling.parse(text))
                .map(|cell| Compared::Int(count(&cell).into(), 1)),
            _ => is_text(data_type).then_some(Compared::Text(text)),
        },
    };
    found.ok_or_else(|| {
        let wanted = match (data_type, &spelling) {
            (DataType::Boolean, _) => "True or False".to_string(),
            (DataType::FixedSizeBinary(width), _) => format!("{width} bytes"),
            (other, Some(spelling)) if other.is_temporal() => format!("{}, or a count", spelling.wanted()),
            (_, Some(_)) if decimals => "a decimal number, an integer or text".to_string(),
            (other, _) if other.is_integer() || is_float(other) => "a number".to_string(),
            _ => "a string, for a column of strings; other columns have no order here".to_string(),
        };
        let what = format!("column '{}' is {}, which does not compare with {literal}", column.path, column.data_type);
        Error::dtype(what).wanted(wanted)
    })
}

/// What integers compare with as they do with a float: their doubles with an even number, or with the odd one between two.
fn halves<'a>(number: f64) -> Option<Compared<'a>> {
    let whole = i256::from_i128(number.floor() as i128);
    let odd = i256::from_i128((number.fract() != 0.0 && number.is_finite()).into());
    (!number.is_nan()).then(|| Compared::Decimal(whole.wrapping_add(whole).wrapping_add(odd), i256::from_i128(2)))
}

/// What the values are that statistics are of.
fn plain(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, words) => words,
        other => other,
    }
}

fn is_text(data_type: &DataType) -> bool {
    use DataType::{Binary, BinaryView, LargeBinary, LargeUtf8, Utf8, Utf8View};
    matches!(data_type, Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView)
}

/// How values of a type are spelled, if they are times or decimals.
fn spelling_of(data_type: &DataType) -> Option<Spelling> {
    match from_arrow(&new_empty_array(data_type)).ok()?.spec().ok()? {
        Spec::Ext(ext) => Spelling::of(&ext),
        Spec::Tensor(_) | Spec::Partition(_) => None,
    }
}

/// The count that the bytes of an integer are, which are filled up with its sign.
fn count(cell: &[u8; 32]) -> i64 {
    let [a, b, c, d, e, f, g, h, ..] = *cell;
    i64::from_le_bytes([a, b, c, d, e, f, g, h])
}

/// The decimal of a text, in the scale of the column, or in a finer one that it needs.
fn decimal<'a>(data_type: &DataType, text: &str) -> Option<Compared<'a>> {
    let own = match data_type {
        DataType::Decimal32(_, scale) | DataType::Decimal64(_, scale) => *scale,
        DataType::Decimal128(_, scale) | DataType::Decimal256(_, scale) => *scale,
        _ => return None,
    };
    let read = |scale: i8| Some((scale, DecimalTensor::parse(&[text], DIGITS, scale.into()).ok()?));
    let (scale, read) = (own.max(0)..=i8::try_from(DIGITS).unwrap_or(i8::MAX)).find_map(read)?;
    let cell = read.cells().as_slice::<u8>().ok()?.first_chunk::<32>().copied()?;
    let times = i256::from_i128(10).checked_pow(u32::from(scale.abs_diff(own)))?;
    Some(Compared::Decimal(i256::from_le_bytes(cell), times))
}

/// The most digits of a decimal.
const DIGITS: i64 = 76;

/// The integer of some bytes, the highest first.
fn integer(bytes: &[u8]) -> Option<i256> {
    let negative = bytes.first().is_some_and(|top| *top >= 0x80);
    let mut wide = if negative { [0xff; 32] } else { [0; 32] };
    wide.get_mut(32_usize.checked_sub(bytes.len())?..)?.copy_from_slice(bytes);
    Some(i256::from_be_bytes(wide))
}

fn is_float(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Float16 | DataType::Float32 | DataType::Float64)
}

/// Whether the statistics leave room for a row that fits.
fn may_fit(group: &RowGroupMetaData, column: &LeafColumn, comparison: Comparison, literal: &Compared<'_>) -> bool {
    let Some(chunk) = group.columns().get(column.number) else { return true };
    let Some(statistics) = chunk.statistics() else { return true };
    if chunk.num_values() > 0 && statistics.null_count_opt().map(i64::try_from) == Some(Ok(chunk.num_values())) {
        return false;
    }
    let Some((least, most)) = bounds(statistics, column, literal) else { return true };
    match comparison {
        Comparison::Equal => least != Ordering::Greater && most != Ordering::Less,
        // Statistics do not tell of NaN, which is not equal to any number.
        Comparison::NotEqual if is_float(plain(&column.data_type)) => true,
        Comparison::NotEqual => {
            let exact = statistics.min_is_exact() && statistics.max_is_exact();
            !(exact && least == Ordering::Equal && most == Ordering::Equal)
        }
        Comparison::Less => least == Ordering::Less,
        Comparison::LessEqual => least != Ordering::Greater,
        Comparison::Greater => most == Ordering::Greater,
        Comparison::GreaterEqual => most != Ordering::Less,
    }
}

/// How the least and the greatest value compare with the literal, if the statistics have them in its order.
fn bounds(statistics: &Statistics, column: &LeafColumn, literal: &Compared<'_>) -> Option<(Ordering, Ordering)> {
    let unsigned = column.data_type.is_unsigned_integer();
    // The old fields have no stated order but that of signed numbers.
    let deprecated = statistics.is_min_max_deprecated();
    let compare = |a: f64, b: f64| a.partial_cmp(&b);
    // A date of milliseconds has statistics of days where it is stored so.
    let days = column.data_type == DataType::Date64 && matches!(statistics, Statistics::Int32(_));
    let day: i128 = if days { DAY.into() } else { 1 };
    match (statistics, literal) {
        (Statistics::Boolean(s), Compared::Bool(v)) => Some((s.min_opt()?.cmp(v), s.max_opt()?.cmp(v))),
        (Statistics::Int32(_) | Statistics::Int64(_), Compared::Int(v, times)) if !(unsigned && deprecated) => {
            let (least, most) = integers(statistics, unsigned)?;
            let of = |n: i128| n.saturating_mul(day).saturating_mul(*times).cmp(v);
            Some((of(least), of(most)))
        }
        (Statistics::Int32(_) | Statistics::Int64(_), Compared::Decimal(v, each)) if !(unsigned && deprecated) => {
            let (least, most) = integers(statistics, unsigned)?;
            let of = |n: i128| Some(i256::from_i128(n).checked_mul(*each)?.cmp(v));
            Some((of(least)?, of(most)?))
        }
        (Statistics::Float(s), _) => {
            // As in ops, the literal becomes one of the column's dtype.
            let v = f64::from(number(literal)? as f32);
            Some((compare(f64::from(*s.min_opt()?), v)?, compare(f64::from(*s.max_opt()?), v)?))
        }
        (Statistics::Double(s), _) => {
            let v = number(literal)?;
            Some((compare(*s.min_opt()?, v)?, compare(*s.max_opt()?, v)?))
        }
        (Statistics::FixedLenByteArray(s), _) if !deprecated && *plain(&column.data_type) == DataType::Float16 => {
            let v = half::f16::from_f64(number(literal)?).into();
            let of = |bytes: &[u8]| compare(half::f16::from_le_bytes(bytes.try_into().ok()?).into(), v);
            Some((of(s.min_opt()?.data())?, of(s.max_opt()?.data())?))
        }
        (Statistics::ByteArray(s), Compared::Text(v)) if !deprecated => {
            Some((s.min_opt()?.data().cmp(v), s.max_opt()?.data().cmp(v)))
        }
        (Statistics::FixedLenByteArray(s), Compared::Text(v)) if !deprecated => {
            Some((s.min_opt()?.data().cmp(v), s.max_opt()?.data().cmp(v)))
        }
        // Bytes have the order of signed numbers in the new fields alone.
        (Statistics::FixedLenByteArray(s), Compared::Decimal(v, each)) if !deprecated => {
            let of = |bytes: &[u8]| Some(integer(bytes)?.checked_mul(*each)?.cmp(v));
            Some((of(s.min_opt()?.data())?, of(s.max_opt()?.data())?))
        }
        (Statistics::ByteArray(s), Compared::Decimal(v, each))
            if !deprecated && statistics.min_is_exact() && statistics.max_is_exact() =>
        {
            let of = |bytes: &[u8]| Some(integer(bytes)?.checked_mul(*each)?.cmp(v));
            Some((of(s.min_opt()?.data())?, of(s.max_opt()?.data())?))
        }
        _ => None,
    }
}

/// The least and the greatest of integers.
fn integers(statistics: &Statistics, unsigned: bool) -> Option<(i128, i128)> {
    let narrow = |n: i32| if unsigned { n.cast_unsigned().into() } else { n.into() };
    let wide = |n: i64| if unsigned { n.cast_unsigned().into() } else { n.into() };
    match statistics {
        Statistics::Int32(s) => Some((narrow(*s.min_opt()?), narrow(*s.max_opt()?))),
        Statistics::Int64(s) => Some((wide(*s.min_opt()?), wide(*s.max_opt()?))),
        _ => None,
    }
}

/// The number that floats are compared with; an integer only if a float is that integer.
fn number(literal: &Compared<'_>) -> Option<f64> {
    match literal {
        Compared::Float(v) => Some(*v),
        Compared::Int(v, _) => i32::try_from(*v).ok().map(f64::from),
        Compared::Bool(_) | Compared::Text(_) | Compared::Decimal(..) => None,
    }
}
