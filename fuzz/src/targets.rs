//! The targets: each reads bytes from outside, and has a corpus made in code.

mod arrow;
mod artifact;
mod cases;
mod infer;
mod json;
mod partitions;
mod paths;

/// One reader of outside bytes.
pub struct Target {
    /// Its name on the command line.
    pub name: &'static str,
    /// Inputs that it accepts, from which others are made.
    pub corpus: fn() -> Vec<Vec<u8>>,
    /// Pieces that its inputs are made of.
    pub dictionary: &'static [&'static [u8]],
    /// Reads an input and looks at what came of it. Panics if a law does not hold.
    pub run: fn(&[u8]),
}

/// Every target.
pub static TARGETS: &[Target] = &[
    Target { name: "json", corpus: json::corpus, dictionary: json::DICTIONARY, run: json::run },
    Target { name: "infer", corpus: infer::corpus, dictionary: infer::DICTIONARY, run: infer::run },
    Target { name: "artifact", corpus: artifact::files, dictionary: artifact::DICTIONARY, run: artifact::run_file },
    Target { name: "graph", corpus: artifact::graphs, dictionary: artifact::DICTIONARY, run: artifact::run_graph },
    Target { name: "weights", corpus: artifact::weights, dictionary: artifact::DICTIONARY, run: artifact::run_weights },
    Target { name: "arrow", corpus: arrow::corpus, dictionary: &[], run: arrow::run },
    Target { name: "paths", corpus: paths::corpus, dictionary: paths::DICTIONARY, run: paths::run },
    Target { name: "cases", corpus: cases::corpus, dictionary: cases::DICTIONARY, run: cases::run },
    Target { name: "partitions", corpus: partitions::corpus, dictionary: &[], run: partitions::run },
];

/// The input as text; what is not UTF-8 is replaced.
fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}
