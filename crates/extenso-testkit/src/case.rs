//! Conformance cases: the text of `conformance/*.md` and of op examples, read into expressions and claims.
//!
//! Invariant: what is accepted here is Python syntax as well, so that one text serves the Rust and the Python runner,
//! and an expression that was read prints as text that reads back to an equal one.
//! Evaluates nothing and knows no op, dtype or constructor: `i8([1, 2])` is a call like any other.

mod error;
mod lexer;
mod markdown;
mod parser;
mod print;
#[cfg(test)]
mod tests;

pub use error::ParseError;

/// The brackets that may be open at once in one expression.
pub const MAX_NESTING: usize = 64;

/// Reads one expression, with nothing but white space and comments around it.
///
/// Errors: the text is not one expression of the grammar in `conformance/README.md`, or more than [`MAX_NESTING`]
/// brackets are open in it.
///
/// ```
/// # use extenso_testkit::case::{Expr, parse_expr};
/// let expr = parse_expr("sum([[1.0], []], axis=-1)")?;
/// let Expr::Call { function, args, kwargs } = &expr else { panic!("a call") };
/// assert_eq!((function.as_str(), args.len()), ("sum", 1));
/// assert_eq!(kwargs[0], ("axis".to_string(), Expr::Int(-1)));
/// assert_eq!(expr.to_string(), "sum([[1.0], []], axis=-1)");
/// # Ok::<(), extenso_testkit::case::ParseError>(())
/// ```
pub fn parse_expr(text: &str) -> Result<Expr, ParseError> {
    parser::expression(&lexer::tokens(text, 1)?)
}

/// Reads the fenced blocks with the info string `case` of a Markdown file, in order.
///
/// `file_name` goes into blocks, cases and errors as it is; lines count from 1 in the file.
/// Errors: the first statement outside the grammar, a block that is not closed, or a fence that is nearly a `case`
/// fence (indented, or `cases`) and would otherwise be passed over in silence.
pub fn parse_markdown(file_name: &str, text: &str) -> Result<Vec<Block>, ParseError> {
    markdown::blocks(file_name, text).map_err(|error| error.in_file(file_name))
}

/// One fenced block: bindings, and the cases that may use those before them.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The file name given to [`parse_markdown`].
    pub file: String,
    /// The headings that the block stands under, outermost first.
    pub heading: Vec<String>,
    /// The line of the opening fence.
    pub line: usize,
    /// The statements, in order.
    pub statements: Vec<Statement>,
}

/// One statement of a block.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// `name = expr`: a name for the statements that follow in the same block.
    Bind {
        /// The name bound.
        name: String,
        /// What it stands for.
        expr: Expr,
        /// The line on which the statement begins.
        line: usize,
    },
    /// An expression and what is claimed of it.
    Case(Case),
}

/// An expression, what is claimed of it, and where that stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The left-hand side: a call, or a name bound earlier in the block.
    pub expr: Expr,
    /// What holds of it.
    pub claim: Claim,
    /// The file name given to [`parse_markdown`].
    pub file: String,
    /// The headings that the case stands under, joined by ` > `.
    pub title: String,
    /// The line on which the case begins.
    pub line: usize,
}

/// What a case says about its expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Claim {
    /// `==`: the same type, dtype, shape and values, bit for bit; all NaNs are one.
    Equals(Expr),
    /// `~=`: as `==`, but floats may differ by 4 units in the last place or by 1e-6 of the value written.
    Near(Expr),
    /// `raises "a" and "b"`: an error whose text contains each of these.
    Raises(Vec<String>),
}

/// An expression in the subset of Python that cases use.
///
/// Equality is of what was written: `nan` equals `nan`, and `0.0` differs from `-0.0` and from `0`.
#[derive(Clone, Debug)]
pub enum Expr {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// A decimal integer; wide enough for every integer dtype.
    Int(i128),
    /// A number with a point or an exponent, or one of `nan`, `inf`, `-inf`.
    Float(f64),
    /// A string between single or double quotes.
    Str(String),
    /// `[a, b]`.
    List(Vec<Expr>),
    /// `(a, b)`, `(a,)` or `()`.
    Tuple(Vec<Expr>),
    /// `{"a": x}`, in the order written; no key comes twice.
    Dict(Vec<(String, Expr)>),
    /// A name that is neither a literal nor one of Python's keywords.
    Name(String),
    /// `function(args, key=value)`.
    Call {
        /// The name called.
        function: String,
        /// The positional arguments.
        args: Vec<Expr>,
        /// The keyword arguments in the order written; no keyword comes twice.
        kwargs: Vec<(String, Expr)>,
    },
}

impl PartialEq for Expr {
    fn eq(&self, other: &Self) -> bool {
        use Expr::{Bool, Call, Dict, Float, Int, List, Name, None, Str, Tuple};
        match (self, other) {
            (None, None) => true,
            (Bool(a), Bool(b)) => a == b,
            (Int(a), Int(b)) => a == b,
            (Float(a), Float(b)) => a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
            (Str(a), Str(b)) | (Name(a), Name(b)) => a == b,
            (List(a), List(b)) | (Tuple(a), Tuple(b)) => a == b,
            (Dict(a), Dict(b)) => a == b,
            (
                Call { function, args, kwargs },
                Call { function: other_function, args: other_args, kwargs: other_kwargs },
            ) => function == other_function && args == other_args && kwargs == other_kwargs,
            (None | Bool(_) | Int(_) | Float(_) | Str(_) | List(_) | Tuple(_) | Dict(_) | Name(_) | Call { .. }, _) => {
                false
            }
        }
    }
}

impl Eq for Expr {}
