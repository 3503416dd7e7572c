//! `print`: values and texts as a line, in a traced function each time it runs.

use crate::error::{OrRaise, guarded, raised};
use crate::typed::{Typed, typed};
use crate::{arg, value};
use extenso_core::ops;
use extenso_types::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

/// Adds the function to the module, and makes `sys.stdout` the place of what is printed.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    ops::set_printer(write_line);
    module.add_function(wrap_pyfunction!(print, module)?)
}

/// Prints values and texts as a line, in a traced function each time it runs.
///
/// Long axes are shortened. Values of extension types show their components. A text stands as it is; one with `{}` in it is
/// refused, since values go there.
///
/// >>> import extenso as ex
/// >>> ex.print("x =", ex.tensor([1, 2]))
/// x = [1, 2]
#[pyfunction]
#[pyo3(signature = (*values, sep=Typed::new(" ")), text_signature = "(*values, sep=\" \")")]
fn print(py: Python<'_>, values: &Bound<'_, PyTuple>, sep: Typed<&str>) -> PyResult<()> {
    typed!(print: sep);
    let mut shown = Vec::with_capacity(values.len());
    let mut template = Vec::with_capacity(values.len());
    for given in values {
        match given.cast::<PyString>() {
            Ok(text) if text.to_str()?.contains("{}") => {
                let error = Error::value("a text holds `{}`").wanted("values as arguments of their own");
                return Err(raised(py, error.at("print")));
            }
            Ok(text) => template.push(text.to_str()?.to_string()),
            Err(_) => {
                shown.push(if arg::is_value(&given) {
                    value::from_py(&given)?
                } else {
                    arg::tensor(&given, None)?.into()
                });
                template.push("{}".to_string());
            }
        }
    }
    guarded(|| ops::print(&template.join(sep), &shown)).or_raise()
}

fn write_line(line: &str) -> Result<()> {
    let written = Python::attach(|py| py.import("builtins")?.getattr("print")?.call1((line,)).map(drop));
    written.map_err(|e| Error::value(format!("the line cannot be written: {e}")))
}
