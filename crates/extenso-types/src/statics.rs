//! Static values: the data of a type that is not in tensors.
//!
//! Invariant: the set is closed, so every static value can be written to a file and read without the code that made it.
//! Equality is type-aware: `1`, `1.0` and `true` are three values; NaN equals itself.

use crate::{DType, Shape, Spec};
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};

/// One static value.
///
/// ```
/// # use extenso_types::StaticValue as S;
/// assert_ne!(S::Int(1), S::Float(1.0));
/// assert_eq!(S::Float(f64::NAN), S::Float(f64::NAN));
/// ```
#[derive(Clone, Debug)]
#[allow(missing_docs)] // The variants' names are their meaning.
pub enum StaticValue {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(String),
    Bytes(Vec<u8>),
    DType(DType),
    Shape(Shape),
    Spec(Box<Spec>),
    Tuple(Vec<StaticValue>),
    Map(BTreeMap<String, StaticValue>),
}

impl StaticValue {
    /// A map with these entries.
    pub fn map<K: Into<String>>(entries: impl IntoIterator<Item = (K, StaticValue)>) -> StaticValue {
        StaticValue::Map(entries.into_iter().map(|(k, v)| (k.into(), v)).collect())
    }

    /// The entry of a map, if this is a map that has it.
    pub fn get(&self, key: &str) -> Option<&StaticValue> {
        match self {
            StaticValue::Map(map) => map.get(key),
            _ => None,
        }
    }

    fn rank(&self) -> u8 {
        match self {
            StaticValue::None => 0,
            StaticValue::Bool(_) => 1,
            StaticValue::Int(_) => 2,
            StaticValue::Float(_) => 3,
            StaticValue::Str(_) => 4,
            StaticValue::Bytes(_) => 5,
            StaticValue::DType(_) => 6,
            StaticValue::Shape(_) => 7,
            StaticValue::Spec(_) => 8,
            StaticValue::Tuple(_) => 9,
            StaticValue::Map(_) => 10,
        }
    }
}

impl PartialEq for StaticValue {
    fn eq(&self, other: &StaticValue) -> bool {
        use StaticValue::*;
        match (self, other) {
            (None, None) => true,
            (Bool(a), Bool(b)) => a == b,
            (Int(a), Int(b)) => a == b,
            (Float(a), Float(b)) => float_key(*a) == float_key(*b),
            (Str(a), Str(b)) => a == b,
            (Bytes(a), Bytes(b)) => a == b,
            (DType(a), DType(b)) => a == b,
            (Shape(a), Shape(b)) => {
                a.dims().is_some() == b.dims().is_some() && a.is_subtype_of(b) && b.is_subtype_of(a)
            }
            (Spec(a), Spec(b)) => a.equals(b),
            (Tuple(a), Tuple(b)) => a == b,
            (Map(a), Map(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for StaticValue {}

impl Hash for StaticValue {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u8(self.rank());
        match self {
            StaticValue::Bool(v) => v.hash(state),
            StaticValue::Int(v) => v.hash(state),
            StaticValue::Float(v) => float_key(*v).hash(state),
            StaticValue::Str(v) => v.hash(state),
            StaticValue::Bytes(v) => v.hash(state),
            StaticValue::DType(v) => v.hash(state),
            StaticValue::Tuple(v) => v.hash(state),
            StaticValue::Map(v) => v.hash(state),
            // Shapes and specs are equal up to the names of their variables; their rank alone is a sound hash.
            StaticValue::None | StaticValue::Shape(_) | StaticValue::Spec(_) => {}
        }
    }
}

/// The bits of a float, with one NaN.
fn float_key(v: f64) -> u64 {
    if v.is_nan() { f64::NAN.to_bits() } else { v.to_bits() }
}

impl fmt::Display for StaticValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StaticValue::None => f.write_str("None"),
            StaticValue::Bool(v) => f.write_str(if *v { "True" } else { "False" }),
            StaticValue::Int(v) => write!(f, "{v}"),
            StaticValue::Float(v) => write!(f, "{v:?}"),
            StaticValue::Str(v) => write!(f, "{v:?}"),
            StaticValue::Bytes(v) => write!(f, "b\"{}\"", v.escape_ascii()),
            StaticValue::DType(v) => write!(f, "{v}"),
            StaticValue::Shape(v) => write!(f, "{v}"),
            StaticValue::Spec(v) => write!(f, "{v}"),
            StaticValue::Tuple(v) => {
                let items: Vec<_> = v.iter().map(StaticValue::to_string).collect();
                write!(f, "({}{})", items.join(", "), if v.len() == 1 { "," } else { "" })
            }
            StaticValue::Map(v) => {
                let items: Vec<_> = v.iter().map(|(k, v)| format!("{k}: {v}")).collect();
                write!(f, "{{{}}}", items.join(", "))
            }
        }
    }
}
