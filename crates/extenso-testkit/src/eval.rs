//! Evaluating case expressions against the engine, and checking what cases claim.
//!
//! Invariant: nothing is computed here. A call is an op of the tables by its name, a constructor of literals, or a public
//! function that composes ops; so a case tests the engine and not this module.

mod apply;
mod claim;
mod compose;
mod construct;
mod leaves;
mod literal;
mod same;

pub use apply::Application;
pub use claim::{Failure, Report, run_block};
pub use same::{Closeness, difference, show};

use crate::case::Expr;
use extenso_core::{Arg, Scalar, Value, strengthen};
use extenso_types::Error;
use std::fmt;

/// Why an expression has no value.
#[derive(Debug)]
pub enum EvalError {
    /// The expression is not one: an unknown name, an argument too many. No case wants this.
    Malformed(String),
    /// The engine refused. A case may want this.
    Engine(Error),
}

/// The result of evaluating.
pub type Evaluated<T> = Result<T, EvalError>;

impl From<Error> for EvalError {
    fn from(e: Error) -> EvalError {
        EvalError::Engine(e)
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvalError::Malformed(text) => write!(f, "malformed case: {text}"),
            EvalError::Engine(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for EvalError {}

fn malformed<T>(text: impl Into<String>) -> Evaluated<T> {
    Err(EvalError::Malformed(text.into()))
}

/// The names bound so far in a block.
#[derive(Clone, Default)]
pub struct Scope(Vec<(String, Arg)>);

impl Scope {
    /// Binds a name; a later binding hides an earlier one.
    pub fn bind(&mut self, name: impl Into<String>, arg: Arg) {
        self.0.push((name.into(), arg));
    }

    fn get(&self, name: &str) -> Evaluated<Arg> {
        let found = self.0.iter().rev().find(|(known, _)| known == name);
        found.map_or_else(|| malformed(format!("nothing is bound to `{name}`")), |(_, arg)| Ok(arg.clone()))
    }
}

/// The value of an expression; a bare number has its default dtype.
///
/// ```
/// # use extenso_testkit::{case::parse_expr, eval::{Scope, show, value}};
/// let sums = value(&parse_expr("sum([[1, 2], [], [4]], axis=1)")?, &Scope::default())?;
/// assert_eq!(show(&sums), "[3, 0, 4]: i64[3]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn value(expr: &Expr, scope: &Scope) -> Evaluated<Value> {
    match arg(expr, scope)? {
        Arg::Value(value) => Ok(value),
        Arg::Scalar(scalar) => Ok(strengthen(&scalar, None)?.into()),
        Arg::List(_) => malformed(format!("`{expr}` is a tuple, which is no value")),
    }
}

/// The argument that an expression is: bare numbers are weak, a tuple is a list of arguments.
pub fn arg(expr: &Expr, scope: &Scope) -> Evaluated<Arg> {
    match expr {
        Expr::Bool(v) => Ok(Arg::Scalar(Scalar::Bool(*v))),
        Expr::Int(v) => Ok(Arg::Scalar(literal::whole(*v, Scalar::Int, Scalar::Unsigned)?)),
        Expr::Float(v) => Ok(Arg::Scalar(Scalar::Float(*v))),
        Expr::Str(v) => Ok(Arg::Scalar(Scalar::Str(v.clone()))),
        Expr::List(_) | Expr::Dict(_) | Expr::None => Ok(Arg::Value(literal::value(expr)?)),
        Expr::Tuple(items) => Ok(Arg::List(items.iter().map(|item| arg(item, scope)).collect::<Evaluated<_>>()?)),
        Expr::Name(name) => scope.get(name),
        Expr::Call { function, args, kwargs } => Ok(Arg::Value(call(function, args, kwargs, scope)?)),
    }
}

fn call(function: &str, args: &[Expr], kwargs: &[(String, Expr)], scope: &Scope) -> Evaluated<Value> {
    if let Some(made) = construct::construct(function, args, kwargs, scope) {
        return made;
    }
    match (apply::find_op(function), compose::find(function)) {
        (Some(op), _) => Application::bind(op, args, kwargs, scope)?.call_one(),
        (None, Some(composed)) => composed.call(args, kwargs, scope),
        (None, None) => malformed(format!("there is no function `{function}`")),
    }
}
