//! Row groups that statistics rule out.
//!
//! Invariant: a row group is left out only if no row of it can fit; without statistics it is read. Rows of a row group that is
//! read are not looked at.

use super::project::LeafColumn;
use super::times::DAY;
use arrow_schema::DataType;
use extenso_types::{Error, Path, Result};
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
    /// An integer.
    Int(i128),
    /// A float.
    Float(f64),
    /// Text, or bytes.
    Text(Vec<u8>),
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
                .wanted(format!("one of {}", paths.join(", ")))
        })?;
        comparable(column, &condition.literal)?;
        left.retain(|group| may_fit(metadata.row_group(*group), column, condition));
    }
    Ok(left)
}

fn comparable(column: &LeafColumn, literal: &Literal) -> Result<()> {
    let known = match literal {
        Literal::Bool(_) => matches!(column.data_type, DataType::Boolean),
        Literal::Int(_) => {
            column.data_type.is_integer() || is_float(&column.data_type) || column.data_type.is_temporal()
        }
        Literal::Float(_) => is_float(&column.data_type),
        Literal::Text(_) => matches!(
            column.data_type,
            DataType::Utf8
                | DataType::LargeUtf8
                | DataType::Utf8View
                | DataType::Binary
                | DataType::LargeBinary
                | DataType::BinaryView
        ),
    };
    if known {
        return Ok(());
    }
    let wanted = match &column.data_type {
        DataType::Boolean => "True or False",
        other if other.is_integer() || other.is_temporal() => "an integer",
        other if is_float(other) => "a number",
        _ => "a string, for a column of strings; other columns have no order here",
    };
    let what = format!("column '{}' is {}, which does not compare with {literal:?}", column.path, column.data_type);
    Err(Error::dtype(what).wanted(wanted))
}

fn is_float(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Float32 | DataType::Float64)
}

/// Whether the statistics leave room for a row that fits.
fn may_fit(group: &RowGroupMetaData, column: &LeafColumn, condition: &Condition) -> bool {
    let Some(chunk) = group.columns().get(column.number) else { return true };
    let Some(statistics) = chunk.statistics() else { return true };
    if chunk.num_values() > 0 && statistics.null_count_opt().map(i64::try_from) == Some(Ok(chunk.num_values())) {
        return false;
    }
    let literal = &condition.literal;
    let Some((least, most)) = bounds(statistics, column, literal) else { return true };
    match condition.comparison {
        Comparison::Equal => least != Ordering::Greater && most != Ordering::Less,
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
fn bounds(statistics: &Statistics, column: &LeafColumn, literal: &Literal) -> Option<(Ordering, Ordering)> {
    let unsigned = column.data_type.is_unsigned_integer();
    // The old fields have no stated order but that of signed numbers.
    let deprecated = statistics.is_min_max_deprecated();
    let compare = |a: f64, b: f64| a.partial_cmp(&b);
    // A date of milliseconds has statistics of days where it is stored so.
    let days = column.data_type == DataType::Date64 && matches!(statistics, Statistics::Int32(_));
    let (times, per) = if days { (DAY.into(), 1) } else { column.scales };
    let count = |n: i128, v: &i128| n.saturating_mul(times).cmp(&v.saturating_mul(per));
    match (statistics, literal) {
        (Statistics::Boolean(s), Literal::Bool(v)) => Some((s.min_opt()?.cmp(v), s.max_opt()?.cmp(v))),
        (Statistics::Int32(s), Literal::Int(v)) if !(unsigned && deprecated) => {
            let wide = |n: &i32| if unsigned { i128::from(n.cast_unsigned()) } else { i128::from(*n) };
            Some((count(wide(s.min_opt()?), v), count(wide(s.max_opt()?), v)))
        }
        (Statistics::Int64(s), Literal::Int(v)) if !(unsigned && deprecated) => {
            let wide = |n: &i64| if unsigned { i128::from(n.cast_unsigned()) } else { i128::from(*n) };
            Some((count(wide(s.min_opt()?), v), count(wide(s.max_opt()?), v)))
        }
        (Statistics::Float(s), _) => {
            let v = number(literal)?;
            Some((compare(f64::from(*s.min_opt()?), v)?, compare(f64::from(*s.max_opt()?), v)?))
        }
        (Statistics::Double(s), _) => {
            let v = number(literal)?;
            Some((compare(*s.min_opt()?, v)?, compare(*s.max_opt()?, v)?))
        }
        (Statistics::ByteArray(s), Literal::Text(v)) if !deprecated => {
            Some((s.min_opt()?.data().cmp(v), s.max_opt()?.data().cmp(v)))
        }
        _ => None,
    }
}

/// The number that floats are compared with; an integer only if a float is that integer.
fn number(literal: &Literal) -> Option<f64> {
    match literal {
        Literal::Float(v) => Some(*v),
        Literal::Int(v) => i32::try_from(*v).ok().map(f64::from),
        Literal::Bool(_) | Literal::Text(_) => None,
    }
}
