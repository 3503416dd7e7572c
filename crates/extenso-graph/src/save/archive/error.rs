//! The error of the container.
//!
//! Invariant: the text says where, what came, what was wanted and what to do; text from a file appears quoted.
//! Knows nothing of zip; callers branch on predicates.

use std::error::Error;
use std::fmt::{self, Display};
use std::io;
use std::path::{Path, PathBuf};

/// Why an archive was not written or not accepted.
pub struct ArchiveError {
    kind: Kind,
    text: String,
}

enum Kind {
    Refused,
    Newer,
    Io(io::Error, PathBuf),
}

impl ArchiveError {
    /// Whether a newer version of Extenso, or a build with more features, would load the file.
    pub fn needs_upgrade(&self) -> bool {
        matches!(self.kind, Kind::Newer)
    }

    /// What the operating system answered, if it is the cause.
    pub fn io_kind(&self) -> Option<io::ErrorKind> {
        match &self.kind {
            Kind::Io(cause, _) => Some(cause.kind()),
            Kind::Refused | Kind::Newer => None,
        }
    }

    pub(super) fn refused(what: impl Display, wanted: impl Display, hint: &str) -> ArchiveError {
        ArchiveError { kind: Kind::Refused, text: format!("{what}.\nWanted: {wanted}. {hint}.") }
    }

    pub(super) fn newer(what: impl Display, wanted: impl Display, hint: &str) -> ArchiveError {
        ArchiveError { kind: Kind::Newer, ..ArchiveError::refused(what, wanted, hint) }
    }

    pub(super) fn io(attempt: &str, path: &Path, cause: io::Error) -> ArchiveError {
        let text = format!("{}: cannot {attempt}: {cause}", path.display());
        ArchiveError { kind: Kind::Io(cause, path.to_path_buf()), text }
    }

    /// Puts a place in front of the text.
    pub(super) fn at(self, place: impl Display) -> ArchiveError {
        ArchiveError { text: format!("{place}: {}", self.text), ..self }
    }
}

impl Display for ArchiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for ArchiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// What the operating system answered stays known; what the bytes are is the data's.
impl From<ArchiveError> for extenso_types::Error {
    fn from(e: ArchiveError) -> extenso_types::Error {
        match e.kind {
            Kind::Io(cause, path) => extenso_types::Error::from(cause).with_file(path).with_text(e.text),
            Kind::Refused | Kind::Newer => extenso_types::Error::data(e.text),
        }
    }
}

impl Error for ArchiveError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.kind {
            Kind::Io(cause, _) => Some(cause),
            Kind::Refused | Kind::Newer => None,
        }
    }
}
