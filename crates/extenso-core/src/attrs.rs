//! Attributes: the arguments of an op that are not values.
//!
//! Each op's attributes are a typed struct, declared once with [`attrs!`](crate::attrs). From the declaration come the
//! defaults, the names, and the closed set of plain values that graphs, files and other languages see.

use crate::variable::Variable;
use extenso_types::{DType, Error, Result, Spec};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// An attribute as a plain value.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // The variants' names are their meaning.
pub enum AttrValue {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(String),
    DType(DType),
    Ints(Vec<i64>),
    Bytes(Arc<[u8]>),
    Spec(Spec),
    Variable(Variable),
    /// A subgraph; its type is known to `extenso-graph`.
    Graph(Arc<dyn GraphAttr>),
}

/// A subgraph as an attribute; implemented by `extenso-graph`.
pub trait GraphAttr: Any + Send + Sync + fmt::Debug {
    /// The graph, to be downcast.
    fn as_any(&self) -> &dyn Any;

    /// Whether running it reads or changes state.
    fn has_effect(&self) -> bool;
}

/// A Rust type that an attribute may have.
pub trait AttrType: Sized + Clone {
    /// How signatures write the type.
    const NAME: &'static str;
    /// The plain value.
    fn to_attr(&self) -> AttrValue;
    /// The typed value, if the plain one fits.
    fn from_attr(value: &AttrValue) -> Option<Self>;
}

/// One attribute of an op.
pub struct Param {
    /// Its name.
    pub name: &'static str,
    /// Its type, as signatures write it.
    pub kind: &'static str,
    /// Its default; without one it is required.
    pub default: fn() -> Option<AttrValue>,
}

/// The attributes of one application of an op.
pub trait AttrSet: Any + Send + Sync + fmt::Debug {
    /// The plain values in the order of the declaration.
    fn values(&self) -> Vec<AttrValue>;
    /// The typed struct, to be downcast.
    fn as_any(&self) -> &dyn Any;
    /// A copy that can be kept.
    fn boxed(&self) -> Arc<dyn AttrSet>;
}

/// The declaration of a set of attributes.
pub struct AttrsDef {
    /// The attributes in order.
    pub params: &'static [Param],
    /// Reads plain values, one for each attribute, in order.
    pub parse: fn(&[AttrValue]) -> Result<Arc<dyn AttrSet>>,
}

/// A typed set of attributes, as [`attrs!`](crate::attrs) declares it.
pub trait Attrs: AttrSet + Sized {
    /// Its declaration.
    const DEF: AttrsDef;

    /// The typed struct behind `set`.
    ///
    /// Errors: `set` belongs to another op, which only a malformed graph can cause.
    fn of(set: &dyn AttrSet) -> Result<&Self> {
        set.as_any().downcast_ref().ok_or_else(|| Error::internal(format!("attributes {set:?} belong to another op")))
    }
}

/// Declares a typed set of attributes with their defaults.
///
/// ```
/// extenso_core::attrs! {
///     /// How much to shift.
///     pub struct Shift { by: i64, wrap: bool = false }
/// }
/// use extenso_core::attrs::{AttrValue, Attrs};
/// let set = (Shift::DEF.parse)(&[AttrValue::Int(3), AttrValue::Bool(true)]).unwrap();
/// assert_eq!(Shift::of(&*set).unwrap().by, 3);
/// ```
#[macro_export]
macro_rules! attrs {
    ($($(#[$doc:meta])* pub struct $name:ident { $($(#[$fdoc:meta])* $field:ident: $t:ty $(= $default:expr)?),* $(,)? })*) => { $(
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name { $(#[allow(missing_docs)] $(#[$fdoc])* pub $field: $t),* }

        impl $crate::attrs::AttrSet for $name {
            fn values(&self) -> Vec<$crate::attrs::AttrValue> {
                vec![$($crate::attrs::AttrType::to_attr(&self.$field)),*]
            }
            fn as_any(&self) -> &dyn std::any::Any { self }
            fn boxed(&self) -> std::sync::Arc<dyn $crate::attrs::AttrSet> { std::sync::Arc::new(self.clone()) }
        }

        impl $crate::attrs::Attrs for $name {
            const DEF: $crate::attrs::AttrsDef = $crate::attrs::AttrsDef {
                params: &[$($crate::attrs::Param {
                    name: stringify!($field),
                    kind: <$t as $crate::attrs::AttrType>::NAME,
                    default: || $crate::attrs!(@default $t $(, $default)?),
                }),*],
                parse: |values| {
                    #[allow(unused_mut, unused_variables)]
                    let mut values = values.iter();
                    Ok(std::sync::Arc::new($name { $($field: $crate::attrs::parse_one(stringify!($field), values.next())?),* }))
                },
            };
        }
    )* };
    (@default $t:ty) => { None };
    (@default $t:ty, $default:expr) => {{
        let value: $t = $default;
        Some($crate::attrs::AttrType::to_attr(&value))
    }};
}

/// Reads one attribute.
///
/// Errors: it is missing, or of another type.
pub fn parse_one<T: AttrType>(name: &str, value: Option<&AttrValue>) -> Result<T> {
    let value = value.ok_or_else(|| Error::missing(format!("attribute '{name}' is missing")))?;
    T::from_attr(value).ok_or_else(|| Error::dtype(format!("attribute '{name}' is {value}")).wanted(T::NAME))
}

attrs! {
    /// No attributes.
    pub struct NoAttrs {}
}

/// The axes of a reduction: all, or a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Axes {
    /// Every axis.
    All,
    /// These, negative ones from the end.
    List(Vec<i64>),
}

impl From<i64> for Axes {
    fn from(axis: i64) -> Axes {
        Axes::List(vec![axis])
    }
}

impl<const N: usize> From<[i64; N]> for Axes {
    fn from(axes: [i64; N]) -> Axes {
        Axes::List(axes.to_vec())
    }
}

/// Integers in pairs, one pair after the other; Python's callers may write each pair by itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pairs(pub Vec<i64>);

impl From<Vec<i64>> for Pairs {
    fn from(numbers: Vec<i64>) -> Pairs {
        Pairs(numbers)
    }
}

impl<const N: usize> From<[i64; N]> for Pairs {
    fn from(numbers: [i64; N]) -> Pairs {
        Pairs(numbers.to_vec())
    }
}

/// An integer or a float.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(missing_docs)] // The variants' names are their meaning.
pub enum Number {
    Int(i64),
    Float(f64),
}

macro_rules! attr_types {
    ($($t:ty, $name:literal, $x:ident => $to:expr, { $($pattern:pat => $from:expr),* };)*) => { $(
        impl AttrType for $t {
            const NAME: &'static str = $name;
            fn to_attr(&self) -> AttrValue {
                let $x = self;
                $to
            }
            fn from_attr(value: &AttrValue) -> Option<$t> {
                match value {
                    $($pattern => Some($from),)*
                    _ => None,
                }
            }
        }
    )* };
}
attr_types! {
    bool, "bool", x => AttrValue::Bool(*x), { AttrValue::Bool(v) => *v };
    i64, "int", x => AttrValue::Int(*x), { AttrValue::Int(v) => *v };
    Option<i64>, "int or None", x => x.map_or(AttrValue::None, AttrValue::Int),
        { AttrValue::None => None, AttrValue::Int(v) => Some(*v) };
    Option<Number>, "number or None", x => match x { None => AttrValue::None, Some(Number::Int(v)) => AttrValue::Int(*v), Some(Number::Float(v)) => AttrValue::Float(*v) },
        { AttrValue::None => None, AttrValue::Int(v) => Some(Number::Int(*v)), AttrValue::Float(v) => Some(Number::Float(*v)) };
    f64, "float", x => AttrValue::Float(*x), { AttrValue::Float(v) => *v, AttrValue::Int(v) => *v as f64 };
    String, "str", x => AttrValue::Str(x.clone()), { AttrValue::Str(v) => v.clone() };
    Option<String>, "str or None", x => x.as_ref().map_or(AttrValue::None, |v| AttrValue::Str(v.clone())),
        { AttrValue::None => None, AttrValue::Str(v) => Some(v.clone()) };
    DType, "dtype", x => AttrValue::DType(*x), { AttrValue::DType(v) => *v };
    Vec<i64>, "ints", x => AttrValue::Ints(x.clone()), { AttrValue::Ints(v) => v.clone(), AttrValue::Int(v) => vec![*v] };
    Pairs, "pairs of ints", x => AttrValue::Ints(x.0.clone()), { AttrValue::Ints(v) => Pairs(v.clone()), AttrValue::Int(v) => Pairs(vec![*v]) };
    Option<Vec<i64>>, "ints or None", x => x.as_ref().map_or(AttrValue::None, |v| AttrValue::Ints(v.clone())),
        { AttrValue::None => None, AttrValue::Int(v) => Some(vec![*v]), AttrValue::Ints(v) => Some(v.clone()) };
    Axes, "axes", x => match x { Axes::All => AttrValue::None, Axes::List(v) => AttrValue::Ints(v.clone()) },
        { AttrValue::None => Axes::All, AttrValue::Int(v) => Axes::List(vec![*v]), AttrValue::Ints(v) => Axes::List(v.clone()) };
    Arc<[u8]>, "bytes", x => AttrValue::Bytes(x.clone()), { AttrValue::Bytes(v) => v.clone() };
    Spec, "spec", x => AttrValue::Spec(x.clone()), { AttrValue::Spec(v) => v.clone() };
    Variable, "variable", x => AttrValue::Variable(x.clone()), { AttrValue::Variable(v) => v.clone() };
    Arc<dyn GraphAttr>, "graph", x => AttrValue::Graph(x.clone()), { AttrValue::Graph(v) => v.clone() };
}

impl fmt::Display for AttrValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AttrValue::None => f.write_str("None"),
            AttrValue::Bool(v) => f.write_str(if *v { "True" } else { "False" }),
            AttrValue::Int(v) => write!(f, "{v}"),
            AttrValue::Float(v) => write!(f, "{v:?}"),
            AttrValue::Str(v) => write!(f, "{v:?}"),
            AttrValue::DType(v) => write!(f, "'{v}'"),
            AttrValue::Ints(v) => write!(f, "{v:?}"),
            AttrValue::Bytes(v) => write!(f, "{} bytes", v.len()),
            AttrValue::Spec(v) => v.fmt(f),
            AttrValue::Variable(v) => write!(f, "variable '{}'", v.name()),
            AttrValue::Graph(_) => f.write_str("a graph"),
        }
    }
}
