//! Checking what cases claim.

use super::{Closeness, EvalError, Evaluated, Scope, arg, difference, show, value};
use crate::case::{Block, Case, Claim, Expr, Statement};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A case whose claim does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The file and line of the case.
    pub place: String,
    /// The expression.
    pub call: String,
    /// What was wanted.
    pub wanted: String,
    /// What came.
    pub got: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}\n  wanted: {}\n  got:    {}", self.place, self.call, self.wanted, self.got)
    }
}

/// What became of the cases of a block.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The cases that hold.
    pub passed: usize,
    /// The cases that do not.
    pub failures: Vec<Failure>,
}

/// Runs the statements of a block in order.
pub fn run_block(block: &Block) -> Report {
    let mut scope = Scope::default();
    let mut report = Report::default();
    for statement in &block.statements {
        match statement {
            Statement::Bind { name, expr, line } => match guarded(|| arg(expr, &scope)) {
                Ok(arg) => scope.bind(name, arg),
                Err(got) => {
                    let place = format!("{}:{line}", block.file);
                    report.failures.push(Failure { place, call: expr.to_string(), wanted: "a value".into(), got });
                }
            },
            Statement::Case(case) => match check(case, &scope) {
                Ok(()) => report.passed += 1,
                Err((wanted, got)) => {
                    let place = format!("{}:{}", case.file, case.line);
                    report.failures.push(Failure { place, call: case.expr.to_string(), wanted, got });
                }
            },
        }
    }
    report
}

/// What was wanted and what came, if they differ.
fn check(case: &Case, scope: &Scope) -> Result<(), (String, String)> {
    match &case.claim {
        Claim::Equals(want) => equals(&case.expr, want, scope, Closeness::Bits),
        Claim::Near(want) => equals(&case.expr, want, scope, Closeness::Near),
        Claim::Raises(texts) => raises(&case.expr, texts, scope),
    }
}

fn equals(expr: &Expr, want: &Expr, scope: &Scope, closeness: Closeness) -> Result<(), (String, String)> {
    let wanted = guarded(|| value(want, scope)).map_err(|e| (want.to_string(), format!("no such value: {e}")))?;
    let got = guarded(|| value(expr, scope)).map_err(|e| (want.to_string(), e))?;
    match guarded(|| Ok(difference(&got, &wanted, closeness)?)) {
        Ok(None) => Ok(()),
        Ok(Some(differs)) => Err((show(&wanted), format!("{} ({differs})", show(&got)))),
        Err(e) => Err((show(&wanted), e)),
    }
}

fn raises(expr: &Expr, texts: &[String], scope: &Scope) -> Result<(), (String, String)> {
    let wanted = format!("an error with {texts:?}");
    let error = match catch_unwind(AssertUnwindSafe(|| value(expr, scope))) {
        Err(panic) => return Err((wanted, panic_text(&*panic))),
        Ok(Ok(got)) => return Err((wanted, show(&got))),
        Ok(Err(EvalError::Malformed(text))) => return Err((wanted, format!("malformed case: {text}"))),
        Ok(Err(EvalError::Engine(error))) => error.to_string(),
    };
    if texts.iter().all(|text| error.contains(text.as_str())) { Ok(()) } else { Err((wanted, error)) }
}

/// Evaluates; a panic is a failure like another, so that one run shows all.
fn guarded<T>(f: impl FnOnce() -> Evaluated<T>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(result) => result.map_err(|e| e.to_string()),
        Err(panic) => Err(panic_text(&*panic)),
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    format!("a panic: {}", text.unwrap_or("without text"))
}
