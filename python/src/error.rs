//! Exceptions: core errors as Python exceptions, and Python exceptions as core errors.
//!
//! Invariant: what a user's function raises comes out of an op as the very exception that went in.

use extenso_types::{Error, Result};
use pyo3::exceptions::{PyArithmeticError, PyAssertionError, PyException, PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};
use std::error::Error as _;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// One exception class: its name, the builtin that it also is, the errors that it stands for.
struct Kind(&'static str, &'static str, fn(&Error) -> bool, &'static str);

const KINDS: [Kind; 11] = [
    Kind("DTypeError", "TypeError", Error::is_dtype, "A dtype or a type that does not fit."),
    Kind("ShapeError", "ValueError", Error::is_shape, "Shapes or partitions that do not fit."),
    Kind("InvalidValueError", "ValueError", Error::is_value, "A value outside what is allowed."),
    Kind("OutOfRangeError", "IndexError", Error::is_index, "An index out of range."),
    Kind("MissingNameError", "KeyError", Error::is_missing, "A name that does not exist."),
    Kind("OutOfMemoryError", "MemoryError", Error::is_memory, "More memory than the system gives."),
    Kind("DispatchError", "TypeError", Error::is_dispatch, "No handler takes these types."),
    Kind("ScopeError", "RuntimeError", Error::is_scope, "A symbol used where it has no meaning."),
    Kind("DataError", "ValueError", Error::is_data, "Malformed bytes from outside."),
    Kind("FileError", "OSError", Error::is_io, "The operating system refused."),
    Kind(
        "InternalError",
        "RuntimeError",
        Error::is_internal,
        "An invariant of Extenso does not hold: a bug to report.",
    ),
];

/// What the operating system answers that Python has a class for: its kind, that class, and the number by its name in `errno`.
const ANSWERS: [(ErrorKind, &str, &str); 6] = [
    (ErrorKind::NotFound, "FileNotFoundError", "ENOENT"),
    (ErrorKind::PermissionDenied, "PermissionError", "EACCES"),
    (ErrorKind::IsADirectory, "IsADirectoryError", "EISDIR"),
    (ErrorKind::NotADirectory, "NotADirectoryError", "ENOTDIR"),
    (ErrorKind::AlreadyExists, "FileExistsError", "EEXIST"),
    (ErrorKind::BrokenPipe, "BrokenPipeError", "EPIPE"),
];

struct Classes {
    base: Py<PyType>,
    kinds: Vec<Py<PyType>>,
    /// `FileError` as the class of each answer, too.
    answers: Vec<Py<PyType>>,
}

static CLASSES: PyOnceLock<Classes> = PyOnceLock::new();

/// Adds the exception classes to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let classes = classes(py)?;
    module.add("Error", &classes.base)?;
    KINDS.iter().zip(&classes.kinds).try_for_each(|(kind, class)| module.add(kind.0, class))?;
    module.add_function(wrap_pyfunction!(file_error, module)?)?;
    let (pickle, reduced) = (py.import("copyreg")?.getattr("pickle")?, wrap_pyfunction!(reduced, module)?);
    let files = classes.answers.iter().chain([file_class(classes)]);
    files.map(|class| pickle.call1((class, &reduced))).collect::<PyResult<Vec<_>>>().map(drop)
}

fn classes(py: Python<'_>) -> PyResult<&Classes> {
    CLASSES.get_or_try_init(py, || {
        let root = py.get_type::<PyException>();
        let base = new_class(py, "Error", (root,), "The base of all errors of Extenso.")?;
        let builtins = py.import("builtins")?;
        let kinds: PyResult<_> = KINDS
            .iter()
            .map(|Kind(name, builtin, _, doc)| {
                let bases = (base.bind(py), builtins.getattr(*builtin)?);
                new_class(py, name, bases, doc)
            })
            .collect();
        let mut classes = Classes { kinds: kinds?, answers: Vec::new(), base };
        for (_, builtin, _) in &ANSWERS {
            let bases = (file_class(&classes).bind(py), builtins.getattr(*builtin)?);
            classes.answers.push(new_class(py, "FileError", bases, "The operating system refused.")?);
        }
        Ok(classes)
    })
}

/// The class of what the operating system refused.
fn file_class(classes: &Classes) -> &Py<PyType> {
    let at = KINDS.iter().position(|kind| kind.0 == "FileError").unwrap_or_default();
    &classes.kinds[at]
}

fn new_class<'py>(py: Python<'py>, name: &str, bases: impl IntoPyObject<'py>, doc: &str) -> PyResult<Py<PyType>> {
    let dict = PyDict::new(py);
    dict.set_item("__module__", "extenso")?;
    dict.set_item("__doc__", doc)?;
    // KeyError would show the text with quotes around it.
    dict.set_item("__str__", py.get_type::<PyException>().getattr("__str__")?)?;
    let class = py.get_type::<PyType>().call1((name, bases, dict))?;
    Ok(class.cast_into::<PyType>()?.unbind())
}

/// The exception of a core error.
pub fn raised(py: Python<'_>, error: Error) -> PyErr {
    if let Some(cause) = error.source().and_then(|source| source.downcast_ref::<PyErr>()) {
        return error.notes().iter().fold(cause.clone_ref(py), |cause, note| noted(py, cause, note.clone()));
    }
    let class = classes(py).map(|classes| {
        let known = KINDS.iter().position(|Kind(_, _, is, _)| is(&error));
        known.map_or(&classes.base, |i| &classes.kinds[i]).bind(py).clone()
    });
    match class {
        Ok(class) if error.io_kind().is_some() => answered(py, &class, &error).unwrap_or_else(|failure| failure),
        Ok(class) => PyErr::from_type(class, error.to_string()),
        Err(failure) => failure,
    }
}

/// The exception of what the operating system answered, which has its number and the name of the file where these are known.
fn answered(py: Python<'_>, class: &Bound<'_, PyType>, error: &Error) -> PyResult<PyErr> {
    let found = ANSWERS.iter().position(|(kind, _, _)| error.io_kind() == Some(*kind));
    let class = found.map_or(Ok(class.clone()), |i| Ok::<_, PyErr>(classes(py)?.answers[i].bind(py).clone()))?;
    let code = match (error.os_code(), found) {
        (Some(code), _) => Some(code),
        (None, Some(i)) => Some(py.import("errno")?.getattr(ANSWERS[i].2)?.extract::<i32>()?),
        (None, None) => None,
    };
    let text = code.map(|code| py.import("os")?.call_method1("strerror", (code,))).transpose()?;
    let file = error.file().map(|file| file.as_os_str());
    Ok(PyErr::from_value(told(&class, &error.to_string(), (code, text, file))?))
}

/// An exception of a class with this text and what the operating system told beside it: number, text, name of the file.
fn told<'py, A, B, C>(
    class: &Bound<'py, PyType>,
    text: &str,
    (code, said, file): (A, B, C),
) -> PyResult<Bound<'py, PyAny>>
where
    A: IntoPyObject<'py>,
    B: IntoPyObject<'py>,
    C: IntoPyObject<'py>,
{
    // Given to the constructor, they would be the arguments, which are what the exception shows.
    let made = class.call1((text,))?;
    made.setattr("errno", code)?;
    made.setattr("strerror", said)?;
    made.setattr("filename", file)?;
    Ok(made)
}

/// What stands beside the text of an exception of the operating system.
fn beside<'py>(exception: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    Ok((exception.getattr("errno")?, exception.getattr("strerror")?, exception.getattr("filename")?))
}

/// How pickle makes a `FileError` again, whose class is one of several of one name.
#[pyfunction]
fn reduced<'py>(exception: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
    let py = exception.py();
    let answers = &classes(py)?.answers;
    let answer = answers.iter().position(|class| exception.get_type().is(class)).map(|i| ANSWERS[i].1);
    let args = (answer, exception.str()?, beside(exception)?).into_pyobject(py)?;
    (py.import("extenso._core")?.getattr("_file_error")?, args, exception.getattr("__dict__")?).into_pyobject(py)
}

/// A `FileError` that is this class of Python, too, if one is named.
#[pyfunction]
#[pyo3(name = "_file_error")]
fn file_error<'py>(
    py: Python<'py>,
    answer: Option<&str>,
    text: &str,
    beside: (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>),
) -> PyResult<Bound<'py, PyAny>> {
    let classes = classes(py)?;
    let class = match ANSWERS.iter().position(|(_, builtin, _)| Some(*builtin) == answer) {
        Some(i) => &classes.answers[i],
        None => file_class(classes),
    };
    told(class.bind(py), text, beside)
}

/// The exception with a sentence more.
pub fn noted(py: Python<'_>, exception: PyErr, note: String) -> PyErr {
    exception.add_note(py, note).map_or_else(|e| e, |()| exception)
}

/// One of our exceptions with a sentence more, unless it has that already; another as it is.
pub fn noted_once(py: Python<'_>, exception: PyErr, note: String) -> PyErr {
    let has = |notes: Bound<'_, PyAny>| notes.contains(&note).unwrap_or(false);
    let said = exception.value(py).getattr("__notes__").is_ok_and(has);
    if said || !is_ours(py, &exception) { exception } else { noted(py, exception, note) }
}

fn is_ours(py: Python<'_>, exception: &PyErr) -> bool {
    classes(py).is_ok_and(|classes| exception.is_instance(py, classes.base.bind(py)))
}

/// The exception with the text that `f` makes of its own, if it is one of ours; another as it is.
pub fn reworded(py: Python<'_>, exception: PyErr, f: impl FnOnce(&str) -> String) -> PyErr {
    if !is_ours(py, &exception) {
        return exception;
    }
    let (class, text) = (exception.get_type(py), f(&exception.value(py).to_string()));
    let files = classes(py).is_ok_and(|classes| exception.is_instance(py, file_class(classes).bind(py)));
    let made = match beside(exception.value(py)).and_then(|beside| told(&class, &text, beside)) {
        Ok(made) if files => PyErr::from_value(made),
        Ok(_) | Err(_) => PyErr::from_type(class, text),
    };
    made.set_cause(py, exception.cause(py));
    made
}

/// The exception that says in front where it was, or what was called.
pub fn at(py: Python<'_>, exception: PyErr, place: &str) -> PyErr {
    reworded(py, exception, |text| format!("{place}: {text}"))
}

/// The core error that carries an exception through Rust.
///
/// One that says nothing of the data, such as `KeyboardInterrupt` or `AttributeError`, is no fault of a row that a reader could leave out.
pub fn carried(py: Python<'_>, exception: PyErr) -> Error {
    let name = exception.get_type(py).name().map_or_else(|_| "an exception".to_string(), |name| name.to_string());
    let of_data = exception.is_instance_of::<PyValueError>(py)
        || exception.is_instance_of::<PyAssertionError>(py)
        || exception.is_instance_of::<PyArithmeticError>(py)
        || exception.is_instance_of::<PyIndexError>(py);
    let kind = if of_data { Error::value } else { Error::internal };
    kind(format!("{name}: {}", exception.value(py))).caused_by(exception)
}

/// Core results as Python results.
pub trait OrRaise<T> {
    /// The value.
    ///
    /// Errors: the exception of the core error.
    fn or_raise(self) -> PyResult<T>;
}

impl<T> OrRaise<T> for Result<T> {
    #[inline]
    fn or_raise(self) -> PyResult<T> {
        self.map_err(|error| Python::attach(|py| raised(py, error)))
    }
}

/// Python results as core results.
pub trait OrCarry<T> {
    /// The value.
    ///
    /// Errors: the core error that carries the exception.
    fn or_carry(self, py: Python<'_>) -> Result<T>;
}

impl<T> OrCarry<T> for PyResult<T> {
    #[inline]
    fn or_carry(self, py: Python<'_>) -> Result<T> {
        self.map_err(|exception| carried(py, exception))
    }
}

/// Runs core code; a panic in it becomes an error.
pub fn guarded<T>(f: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("no message");
        Err(Error::internal(format!("Rust code panicked: {text}")).hint("Report this with the call that led here."))
    })
}
