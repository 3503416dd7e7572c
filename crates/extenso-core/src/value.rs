//! Values and arguments: what ops take and give.

use crate::ext::Ext;
use crate::partition::RowPartition;
use crate::symbol::Symbol;
use crate::tensor::{Dense, Tensor};
use extenso_types::{Error, LeafSpec, Result, Spec};
use smallvec::SmallVec;
use std::sync::Arc;

/// Any value: a tensor, a row partition, or a value of an extension type.
#[derive(Clone)]
pub enum Value {
    /// A tensor.
    Tensor(Tensor),
    /// A row partition.
    Partition(RowPartition),
    /// A value of an extension type.
    Ext(Ext),
}

/// The results of one op.
pub type Outputs = SmallVec<[Value; 2]>;

/// An argument of an op as the caller wrote it.
#[derive(Clone, Debug)]
pub enum Arg {
    /// A value.
    Value(Value),
    /// A number of the host language, which takes the dtype of the tensors beside it.
    Scalar(Scalar),
    /// A list, for ops that take any number of values.
    List(Vec<Arg>),
}

/// A weak scalar: a literal without a dtype of its own.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)] // The variants' names are their meaning.
pub enum Scalar {
    Bool(bool),
    Int(i64),
    /// An integer above the largest i64; a smaller one is an `Int`.
    Unsigned(u64),
    Float(f64),
    Str(String),
}

impl Value {
    /// The tensor.
    ///
    /// Errors: it is something else.
    pub fn tensor(&self) -> Result<&Tensor> {
        match self {
            Value::Tensor(t) => Ok(t),
            Value::Partition(_) | Value::Ext(_) => Err(self.not("a tensor")),
        }
    }

    /// The row partition.
    ///
    /// Errors: it is something else.
    pub fn partition(&self) -> Result<&RowPartition> {
        match self {
            Value::Partition(p) => Ok(p),
            Value::Tensor(_) | Value::Ext(_) => Err(self.not("a row partition")),
        }
    }

    /// The value of an extension type.
    ///
    /// Errors: it is something else.
    pub fn ext(&self) -> Result<&Ext> {
        match self {
            Value::Ext(e) => Ok(e),
            Value::Tensor(_) | Value::Partition(_) => Err(self.not("a value of an extension type")),
        }
    }

    /// The data, if this is a tensor that has it.
    pub(crate) fn dense(&self) -> Option<&Dense> {
        match self {
            Value::Tensor(t) => t.dense(),
            Value::Partition(_) | Value::Ext(_) => None,
        }
    }

    /// Drops a value that was computed on the way to others: what it is made of serves the next of this thread, if nobody else has it.
    pub fn give_back(self) {
        match self {
            Value::Tensor(tensor) => tensor.give_back(),
            Value::Partition(_) | Value::Ext(_) => {}
        }
    }

    /// The symbol, if this is a tensor or partition that is one.
    pub fn symbol(&self) -> Option<&Arc<Symbol>> {
        match self {
            Value::Tensor(t) => t.symbol(),
            Value::Partition(p) => p.symbol(),
            Value::Ext(_) => None,
        }
    }

    /// The spec.
    ///
    /// Errors: an extension value cannot tell its own.
    pub fn spec(&self) -> Result<Spec> {
        match self {
            Value::Tensor(t) => Ok(Spec::Tensor(t.spec())),
            Value::Partition(p) => Ok(Spec::Partition(p.spec())),
            Value::Ext(e) => Ok(Spec::from(e.spec()?)),
        }
    }

    /// The spec of a tensor or partition.
    ///
    /// Errors: a value of an extension type, which must be taken apart first.
    pub fn leaf_spec(&self) -> Result<LeafSpec> {
        match self {
            Value::Tensor(t) => Ok(LeafSpec::Tensor(t.spec())),
            Value::Partition(p) => Ok(LeafSpec::Partition(p.spec())),
            Value::Ext(_) => Err(self.not("a tensor or a row partition")),
        }
    }

    /// Appends the tensors and partitions that the value is made of.
    ///
    /// Errors: an extension value cannot be taken apart.
    pub fn push_leaves(&self, out: &mut Vec<Value>) -> Result<()> {
        match self {
            Value::Tensor(_) | Value::Partition(_) => out.push(self.clone()),
            Value::Ext(e) => e.components()?.iter().try_for_each(|c| c.push_leaves(out))?,
        }
        Ok(())
    }

    fn not(&self, wanted: &str) -> Error {
        let found = match self {
            Value::Tensor(t) => format!("a tensor {}", t.spec()),
            Value::Partition(p) => format!("a {}", p.spec()),
            Value::Ext(e) => format!("a value of type {}", e.def().name()),
        };
        Error::dtype(format!("found {found}")).wanted(wanted.to_string())
    }
}

impl Arg {
    /// The value.
    ///
    /// Errors: a list, or a weak scalar, which has no dtype alone.
    pub fn value(&self) -> Result<&Value> {
        match self {
            Arg::Value(v) => Ok(v),
            Arg::Scalar(s) => Err(Error::dtype(format!("found the literal {s:?}")).wanted("a value")),
            Arg::List(_) => Err(Error::dtype("found a list").wanted("a value")),
        }
    }
}

macro_rules! arg_from {
    ($($from:ty, $x:ident => $arg:expr;)*) => { $(
        impl From<$from> for Arg {
            fn from($x: $from) -> Arg {
                $arg
            }
        }
    )* };
}
arg_from! {
    Value, x => Arg::Value(x);
    &Value, x => Arg::Value(x.clone());
    Tensor, x => Arg::Value(Value::Tensor(x));
    &Tensor, x => Arg::Value(Value::Tensor(x.clone()));
    RowPartition, x => Arg::Value(Value::Partition(x));
    &RowPartition, x => Arg::Value(Value::Partition(x.clone()));
    Ext, x => Arg::Value(Value::Ext(x));
    &Arg, x => x.clone();
    bool, x => Arg::Scalar(Scalar::Bool(x));
    i32, x => Arg::Scalar(Scalar::Int(x.into()));
    i64, x => Arg::Scalar(Scalar::Int(x));
    u64, x => Arg::Scalar(i64::try_from(x).map_or(Scalar::Unsigned(x), Scalar::Int));
    f64, x => Arg::Scalar(Scalar::Float(x));
    &str, x => Arg::Scalar(Scalar::Str(x.to_string()));
    Vec<Arg>, x => Arg::List(x);
    &[Value], x => Arg::List(x.iter().map(Arg::from).collect());
    Vec<Value>, x => Arg::List(x.into_iter().map(Arg::Value).collect());
}

impl From<Tensor> for Value {
    fn from(t: Tensor) -> Value {
        Value::Tensor(t)
    }
}

impl From<RowPartition> for Value {
    fn from(p: RowPartition) -> Value {
        Value::Partition(p)
    }
}

impl From<Ext> for Value {
    fn from(e: Ext) -> Value {
        Value::Ext(e)
    }
}
