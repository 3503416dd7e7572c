//! Calls of ops: which arguments dispatch, and which are attributes.

use super::{Evaluated, Scope, arg, literal, malformed};
use crate::case::Expr;
use extenso_core::attrs::{AttrSet, AttrValue, AttrsDef, Param};
use extenso_core::{Arg, OpDef, Outputs, Value, call, call_one};
use extenso_types::{Error, Result};
use std::sync::Arc;

/// An op with its arguments and attributes, ready to be called.
#[derive(Clone)]
pub struct Application {
    /// The op.
    pub op: &'static OpDef,
    /// The arguments that dispatch.
    pub args: Vec<Arg>,
    /// The attributes.
    pub attrs: Arc<dyn AttrSet>,
}

impl Application {
    /// Reads an expression that calls an op at its outermost.
    ///
    /// Errors: another expression; what the arguments' own evaluation gives.
    pub fn of(expr: &Expr, scope: &Scope) -> Evaluated<Application> {
        let Expr::Call { function, args, kwargs } = expr else { return malformed(format!("`{expr}` is no call")) };
        match find_op(function) {
            Some(op) => Application::bind(op, args, kwargs, scope),
            None => malformed(format!("there is no op `{function}`")),
        }
    }

    pub(super) fn bind(
        op: &'static OpDef,
        args: &[Expr],
        kwargs: &[(String, Expr)],
        scope: &Scope,
    ) -> Evaluated<Application> {
        let signature = Signature { name: op.name, params: op.params, attrs: &op.attrs };
        let (args, attrs) = signature.bind(args, kwargs, scope)?;
        Ok(Application { op, args, attrs })
    }

    /// Calls the op.
    ///
    /// Errors: those of the op.
    pub fn call(&self) -> Result<Outputs> {
        call(self.op, &self.args, &*self.attrs)
    }

    /// Calls the op for its only output.
    ///
    /// Errors: those of the op.
    pub fn call_one(&self) -> Evaluated<Value> {
        Ok(call_one(self.op, &self.args, &*self.attrs)?)
    }

    /// The same application on other arguments.
    pub fn with_args(&self, args: Vec<Arg>) -> Application {
        Application { args, ..self.clone() }
    }
}

/// The op of a name in cases: that of the table, without the underscore that keeps it from a keyword.
pub(super) fn find_op(name: &str) -> Option<&'static OpDef> {
    extenso_graph::tables().find(|op| op.name.trim_end_matches('_') == name)
}

/// What may stand between the parentheses of a call.
pub(super) struct Signature<'a> {
    pub name: &'a str,
    pub params: &'a [&'a str],
    pub attrs: &'a AttrsDef,
}

impl Signature<'_> {
    /// The arguments that dispatch, and the attributes.
    pub fn bind(
        &self,
        args: &[Expr],
        kwargs: &[(String, Expr)],
        scope: &Scope,
    ) -> Evaluated<(Vec<Arg>, Arc<dyn AttrSet>)> {
        let names: Vec<&str> = self.params.iter().copied().chain(self.attrs.params.iter().map(|p| p.name)).collect();
        if args.len() > names.len() {
            return malformed(format!("`{}` takes {} arguments: {}", self.name, names.len(), names.join(", ")));
        }
        if let Some((name, _)) = kwargs.iter().find(|(name, _)| !names[args.len()..].contains(&name.as_str())) {
            return malformed(format!("`{}` has no argument `{name}` left to give by name", self.name));
        }
        let find = |at: usize| {
            let by_name = || kwargs.iter().find(|(name, _)| name == names[at]).map(|(_, expr)| expr);
            args.get(at).or_else(by_name)
        };
        let count = self.params.len();
        let missing = |name: &str| Error::missing(format!("argument '{name}' is missing")).at(self.name);
        let values = self.params.iter().enumerate().map(|(i, name)| {
            let expr = find(i).ok_or_else(|| missing(name))?;
            arg(expr, scope)
        });
        let values: Vec<Arg> = values.collect::<Evaluated<_>>()?;
        let attrs = self.attrs.params.iter().enumerate().map(|(i, param)| match find(count + i) {
            Some(expr) => attribute(expr, param, scope),
            None => Ok((param.default)().ok_or_else(|| missing(param.name))?),
        });
        let attrs: Vec<AttrValue> = attrs.collect::<Evaluated<_>>()?;
        Ok((values, (self.attrs.parse)(&attrs).map_err(|e| e.at(self.name))?))
    }
}

fn attribute(expr: &Expr, param: &Param, scope: &Scope) -> Evaluated<AttrValue> {
    Ok(match expr {
        Expr::None => AttrValue::None,
        Expr::Bool(v) => AttrValue::Bool(*v),
        Expr::Int(v) => AttrValue::Int(literal::int(*v)?),
        Expr::Float(v) => AttrValue::Float(*v),
        Expr::Str(v) if param.kind == "dtype" => AttrValue::DType(v.parse()?),
        Expr::Str(v) => AttrValue::Str(v.clone()),
        Expr::Tuple(items) => {
            let item = |item: &Expr| match item {
                Expr::Int(v) => literal::int(*v),
                other => malformed(format!("`{other}` in the attribute `{}`", param.name)),
            };
            AttrValue::Ints(items.iter().map(item).collect::<Evaluated<_>>()?)
        }
        Expr::Name(name) => match scope.get(name)? {
            Arg::Scalar(extenso_core::Scalar::Int(v)) => AttrValue::Int(v),
            _ => return malformed(format!("`{name}` as the attribute `{}`", param.name)),
        },
        Expr::List(_) | Expr::Dict(_) | Expr::Call { .. } => {
            return malformed(format!("`{expr}` as the attribute `{}`", param.name));
        }
    })
}
