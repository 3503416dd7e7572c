//! The one error type of every crate surface.
//!
//! Invariant: the text says where, what came, what was wanted and what to do. Kinds are private; callers branch on predicates.

use crate::Path;
use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// The result of a fallible Extenso call.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a call failed.
///
/// ```
/// # use extenso_types::Error;
/// let e = Error::shape("argument 2 has shape [3], argument 1 [2]").wanted("shapes that broadcast").at("add");
/// assert_eq!(e.to_string(), "add: argument 2 has shape [3], argument 1 [2].\nWanted: shapes that broadcast.");
/// assert!(e.is_shape());
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: Kind,
    places: Vec<String>,
    /// The innermost of the paths that are places.
    path: Option<Path>,
    /// How many of the outermost places are an op's that may be a part of what is called outside: its name, and an argument of it.
    part: usize,
    what: String,
    wanted: Option<String>,
    hint: Option<String>,
    notes: Vec<String>,
    /// How many levels of rows the text is inside.
    rows: usize,
    cause: Option<Arc<dyn StdError + Send + Sync>>,
    refusal: Option<Refusal>,
}

/// What the operating system answered, and the file that it answered of.
#[derive(Clone)]
struct Refusal {
    kind: io::ErrorKind,
    code: Option<i32>,
    file: Option<PathBuf>,
}

/// Errors that say the same are equal, whatever caused them.
impl PartialEq for Inner {
    fn eq(&self, other: &Inner) -> bool {
        let text = |e: &Inner| (e.places.clone(), e.what.clone(), e.wanted.clone(), e.hint.clone(), e.notes.clone());
        self.kind == other.kind && self.rows == other.rows && text(self) == text(other)
    }
}

impl Eq for Inner {}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Type,
    Shape,
    Value,
    Index,
    Missing,
    Memory,
    Dispatch,
    Scope,
    Data,
    Io,
    Internal,
}

macro_rules! kinds {
    ($($kind:ident $make:ident $is:ident $doc:literal)*) => {
        impl Error {
            $(
                #[doc = concat!("Makes an error: ", $doc, ".")]
                pub fn $make(what: impl Into<String>) -> Error {
                    Error::new(Kind::$kind, what.into())
                }

                #[doc = concat!("Whether this says: ", $doc, ".")]
                pub fn $is(&self) -> bool {
                    self.0.kind == Kind::$kind
                }
            )*
        }
    };
}

kinds! {
    Type dtype is_dtype "a dtype or a type that does not fit"
    Shape shape is_shape "shapes or partitions that do not fit"
    Value value is_value "a value outside what is allowed"
    Index index is_index "an index out of range"
    Missing missing is_missing "a name that does not exist"
    Memory memory is_memory "more memory than the system gives"
    Dispatch dispatch is_dispatch "no handler takes these types"
    Scope scope is_scope "a symbol used where it has no meaning"
    Data data is_data "malformed bytes from outside"
    Io io is_io "the operating system refused"
    Internal internal is_internal "an invariant of Extenso does not hold: a bug to report"
}

impl Error {
    fn new(kind: Kind, what: String) -> Error {
        Error(Box::new(Inner {
            kind,
            places: Vec::new(),
            path: None,
            part: 0,
            what,
            wanted: None,
            hint: None,
            notes: Vec::new(),
            rows: 0,
            cause: None,
            refusal: None,
        }))
    }

    /// Adds what would have been right.
    pub fn wanted(mut self, wanted: impl Into<String>) -> Error {
        self.0.wanted = Some(wanted.into());
        self
    }

    /// Adds what to do next, as an imperative.
    pub fn hint(mut self, hint: impl Into<String>) -> Error {
        self.0.hint = Some(hint.into());
        self
    }

    /// Puts a place (an op, an argument, a path) in front of the text; the outermost comes first.
    ///
    /// The op that was called last gives way to it: it is a part of what is called here.
    pub fn at(mut self, place: impl Into<String>) -> Error {
        let place = place.into();
        let part = std::mem::take(&mut self.0.part);
        if self.0.places.first() != Some(&place) {
            self.0.places.drain(..part);
        }
        if self.0.places.first() != Some(&place) {
            self.0.places.insert(0, place);
        }
        self
    }

    /// Puts an op in front of the text, until an outer place says what was called.
    ///
    /// ```
    /// # use extenso_types::Error;
    /// let e = Error::value("q is 2.0").at_part("check_within");
    /// assert_eq!(e.to_string(), "check_within: q is 2.0.");
    /// assert_eq!(e.at("quantile").to_string(), "quantile: q is 2.0.");
    /// ```
    pub fn at_part(self, name: impl Into<String>) -> Error {
        let mut error = self.at(name);
        error.0.part = 1;
        error
    }

    /// The same with an argument of the op, which is gone with it.
    pub fn at_part_argument(self, name: impl Into<String>, argument: impl Into<String>) -> Error {
        let mut error = self.at(argument).at(name);
        error.0.part = 2;
        error
    }

    /// Whether the error names this op, which gives way.
    pub fn is_at_part(&self, name: &str) -> bool {
        self.0.part > 0 && self.0.places.first().is_some_and(|place| place == name)
    }

    /// The error of what a user called: its op stays, whatever is outside.
    ///
    /// ```
    /// # use extenso_types::Error;
    /// let e = Error::dtype("found string").at_part("add").settled();
    /// assert_eq!(e.at("function 'f'").to_string(), "function 'f': add: found string.");
    /// ```
    pub fn settled(mut self) -> Error {
        self.0.part = 0;
        self
    }

    /// Puts a path in front of the text; the path of the whole says nothing.
    ///
    /// ```
    /// # use extenso_types::{Error, Path};
    /// let path: Path = "items[*].price".parse().unwrap();
    /// let e = Error::data("null came").at_path(&path);
    /// assert_eq!(e.to_string(), "at 'items[*].price': null came.");
    /// assert_eq!(e.path(), Some(&path));
    /// ```
    pub fn at_path(mut self, path: &Path) -> Error {
        if path.is_root() {
            return self;
        }
        self.0.path.get_or_insert_with(|| path.clone());
        self.at(format!("at '{path}'"))
    }

    /// The path in the text, the innermost of several; none without one.
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_ref()
    }

    /// Keeps the error of a host language that this one carries; `source` gives it back.
    pub fn caused_by(mut self, cause: impl StdError + Send + Sync + 'static) -> Error {
        self.0.cause = Some(Arc::new(cause));
        self
    }

    /// Makes an error of what the operating system answered of a file, whose name comes first.
    ///
    /// ```
    /// # use extenso_types::Error;
    /// let e = Error::of_file("rows.csv", std::io::Error::from_raw_os_error(2));
    /// assert!(e.to_string().starts_with("'rows.csv': ") && e.is_io());
    /// assert_eq!((e.io_kind(), e.os_code()), (Some(std::io::ErrorKind::NotFound), Some(2)));
    /// assert_eq!(e.file(), Some("rows.csv".as_ref()));
    /// ```
    pub fn of_file(file: impl AsRef<std::path::Path>, e: io::Error) -> Error {
        let place = format!("'{}'", file.as_ref().display());
        Error::from(e).with_file(file.as_ref()).at(place)
    }

    /// Adds the file that the operating system answered of, which the text names.
    pub fn with_file(mut self, file: impl Into<PathBuf>) -> Error {
        if let Some(refusal) = &mut self.0.refusal {
            refusal.file = Some(file.into());
        }
        self
    }

    /// The same error under a text that says more.
    pub fn with_text(mut self, what: impl Into<String>) -> Error {
        self.0.what = what.into();
        self
    }

    /// The kind of what the operating system answered, if it did.
    pub fn io_kind(&self) -> Option<io::ErrorKind> {
        self.0.refusal.as_ref().map(|refusal| refusal.kind)
    }

    /// The number of what the operating system answered, if it gave one.
    pub fn os_code(&self) -> Option<i32> {
        self.0.refusal.as_ref()?.code
    }

    /// The file that the operating system answered of, if it is known.
    pub fn file(&self) -> Option<&std::path::Path> {
        self.0.refusal.as_ref()?.file.as_deref()
    }

    /// Adds a line below the text.
    pub fn note(mut self, note: impl Into<String>) -> Error {
        self.0.notes.push(note.into());
        self
    }

    /// Says of an error about axes or shapes that they are those of the values in the rows, one level further in.
    ///
    /// ```
    /// # use extenso_types::Error;
    /// let e = Error::shape("axis 1 has size 2").within_rows();
    /// let said = "axis 1 has size 2.\nThis is said of the values in the rows, whose axis 0 is axis 1 of the whole.";
    /// assert_eq!(e.to_string(), said);
    /// assert!(e.within_rows().to_string().ends_with("whose axis 0 is axis 2 of the whole."));
    /// ```
    pub fn within_rows(mut self) -> Error {
        self.0.rows += usize::from(matches!(self.0.kind, Kind::Shape | Kind::Index | Kind::Value));
        self
    }

    /// The lines below the text.
    pub fn notes(&self) -> &[String] {
        &self.0.notes
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let e = &self.0;
        for place in &e.places {
            write!(f, "{place}: ")?;
        }
        f.write_str(&sentence(&e.what))?;
        if let Some(wanted) = &e.wanted {
            write!(f, "\nWanted: {}", sentence(wanted))?;
            // Text that ends with code has no full stop, unless another sentence follows.
            f.write_str(if e.hint.is_some() && wanted.ends_with('`') { "." } else { "" })?;
        }
        if let Some(hint) = &e.hint {
            let lead = if e.wanted.is_some() { " " } else { "\n" };
            write!(f, "{lead}{}", sentence(hint))?;
        }
        if e.rows > 0 {
            write!(f, "\nThis is said of the values in the rows, whose axis 0 is axis {} of the whole.", e.rows)?;
        }
        e.notes.iter().try_for_each(|note| write!(f, "\n{note}"))
    }
}

fn sentence(text: &str) -> String {
    if text.ends_with(['.', '!', '?', '`', '\n']) { text.to_string() } else { format!("{text}.") }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.cause.as_deref().map(|cause| cause as &(dyn StdError + 'static))
    }
}

impl From<io::Error> for Error {
    fn from(e: io::Error) -> Error {
        let mut error = Error::io(e.to_string());
        error.0.refusal = Some(Refusal { kind: e.kind(), code: e.raw_os_error(), file: None });
        // A file object of a host language raises what its user wants to see.
        error.0.cause = e.into_inner().map(Arc::from);
        error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_given_back_and_says_nothing_more() {
        let plain = Error::value("a file is short").at("load");
        let carried = plain.clone().caused_by(std::io::Error::other("end of file"));
        assert!(carried.source().is_some_and(|cause| cause.downcast_ref::<std::io::Error>().is_some()));
        assert_eq!((plain.to_string(), plain), (carried.to_string(), carried));
    }

    #[test]
    fn what_a_reader_or_writer_failed_with_is_the_cause() {
        let through = Error::from(std::io::Error::other(Error::value("the file object is closed")));
        assert!(through.source().is_some_and(|cause| cause.downcast_ref::<Error>().is_some_and(Error::is_value)));
        assert!(Error::from(std::io::Error::from(std::io::ErrorKind::NotFound)).source().is_none());
    }
}
