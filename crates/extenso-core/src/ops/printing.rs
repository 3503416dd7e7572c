//! Values written out for people while a function runs.

use crate::attrs::{AttrSet, Attrs};
use crate::op::{Class, OpDef, OutputSpecs};
use crate::tensor::Tensor;
use crate::value::{Arg, Outputs, Value};
use extenso_types::{DType, Error, LeafSpec, Path, Result, Shape, TensorSpec};
use smallvec::smallvec;
use std::fmt::Write as _;
use std::sync::OnceLock;

crate::attrs! {
    /// A text with `{}` where the values go.
    pub struct Template { template: String }
}

crate::ops! {
    /// Printing.
    pub static PRINTING;

    /// Writes a line that is `template` with a value in the place of each `{}`, and returns it.
    ///
    /// In a traced function, the line is written each time the function comes here. Rust writes to standard error, Python to
    /// `sys.stdout`. Long axes are shortened.
    /// Errors: a number of `{}` other than that of values; lines that cannot be written.
    PRINT_LINE: print_line(values; Template { template: String }) = OpDef::general(Class::Effect, infer, run)
        .variadic()
        .unrelated()
        .effect()
        .part()
        .examples(&[("print_line(([1, 2], [0.5]), template=\"{} times {}\")", "\"[1, 2] times [0.5]\"")]);
}

const SLOT: &str = "{}";

/// Where lines go.
type Printer = fn(&str) -> Result<()>;

static PRINTER: OnceLock<Printer> = OnceLock::new();

/// Says where [`print()`] writes; the first to say so is heard. Without it, lines go to standard error.
pub fn set_printer(printer: Printer) {
    let _ = PRINTER.set(printer);
}

/// Writes a line that is `text` with a value in the place of each `{}`; in a traced function, each time it comes here.
///
/// A value of an extension type is shown by its components. Errors: as [`print_line`].
///
/// ```
/// use extenso_core::{Result, ops};
///
/// fn main() -> Result<()> {
///     let x = ops::add(1.0, 2.0)?;
///     ops::print("x = {}", &[x])
/// }
/// ```
pub fn print(text: &str, values: &[Value]) -> Result<()> {
    let (mut template, mut leaves) = (String::new(), Vec::new());
    let pieces = pieces(text, values.len())?;
    for (piece, value) in pieces.iter().zip(values) {
        template.push_str(piece);
        show(value, &mut template, &mut leaves)?;
    }
    template.push_str(pieces.last().unwrap_or(&""));
    crate::call_one(&PRINT_LINE, &[Arg::List(leaves)], &Template { template }).map(drop)
}

/// Appends the slots of a value: one, or those of its components by name.
fn show(value: &Value, template: &mut String, leaves: &mut Vec<Arg>) -> Result<()> {
    let Value::Ext(ext) = value else {
        template.push_str(SLOT);
        leaves.push(value.clone().into());
        return Ok(());
    };
    let _ = write!(template, "{}(", ext.def().name().as_str());
    for (i, ((segment, _), component)) in ext.spec()?.components.iter().zip(ext.components()?.iter()).enumerate() {
        let name = Path::from_iter([segment.clone()]).to_string();
        let (before, after) = (if i > 0 { ", " } else { "" }, if name.is_empty() { "" } else { ": " });
        let _ = write!(template, "{before}{}{after}", name.replace(SLOT, "{ }"));
        show(component, template, leaves)?;
    }
    template.push(')');
    Ok(())
}

/// What stands between the slots.
///
/// Errors: another number of slots than of values.
fn pieces(template: &str, values: usize) -> Result<Vec<&str>> {
    let pieces: Vec<&str> = template.split(SLOT).collect();
    if pieces.len() != values + 1 {
        let found = format!("the template has {} places `{{}}` for {values} values", pieces.len() - 1);
        return Err(Error::value(found).wanted("one place for each value"));
    }
    Ok(pieces)
}

fn infer(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    pieces(&Template::of(attrs)?.template, args.len())?;
    Ok(smallvec![LeafSpec::Tensor(TensorSpec::new(DType::String, Shape::scalar()))])
}

fn run(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let template = &Template::of(attrs)?.template;
    let pieces = pieces(template, args.len())?;
    let mut line = String::with_capacity(template.len());
    for (piece, value) in pieces.iter().zip(args) {
        let _ = write!(line, "{piece}{value}");
    }
    line.push_str(pieces.last().unwrap_or(&""));
    match PRINTER.get() {
        Some(printer) => printer(&line)?,
        None => eprintln!("{line}"),
    }
    Ok(smallvec![Tensor::strings(&[], &[line])?.into()])
}
