//! The targets: each reads bytes from outside, and has a corpus made in code.

use crate::mutate::Structure;
use crate::outcomes::Outcomes;

mod arrow;
mod artifact;
mod avro;
mod cases;
mod csv;
mod examples;
mod infer;
mod ipc;
mod json;
mod parquet;
mod partitions;
mod paths;
mod proto_json;
mod protobuf;
mod runner;

/// One reader of outside bytes.
pub struct Target {
    /// Its name on the command line.
    pub name: &'static str,
    /// Inputs that it accepts, from which others are made.
    pub corpus: fn() -> Vec<Vec<u8>>,
    /// Pieces that its inputs are made of.
    pub dictionary: &'static [&'static [u8]],
    /// What its inputs are made of.
    pub structure: Structure,
    /// The bytes in use that a byte of the input may cost at most, beyond `BASE`.
    pub cost: usize,
    /// Reads an input, looks at what came of it and notes it. Panics if a law does not hold.
    pub run: fn(&[u8], &mut Outcomes),
}

/// The cost where functions of any kind run.
const RUNS: usize = 1 << 20;

/// Every target.
pub static TARGETS: &[Target] = &[
    Target {
        name: "json",
        corpus: json::corpus,
        dictionary: json::DICTIONARY,
        structure: Structure::Json,
        cost: 512,
        run: json::run,
    },
    Target {
        name: "infer",
        corpus: infer::corpus,
        dictionary: infer::DICTIONARY,
        structure: Structure::Json,
        cost: 512,
        run: infer::run,
    },
    Target {
        name: "runner",
        corpus: runner::corpus,
        dictionary: json::DICTIONARY,
        structure: Structure::Json,
        cost: 512,
        run: runner::run,
    },
    Target {
        name: "protobuf",
        corpus: protobuf::corpus,
        dictionary: protobuf::DICTIONARY,
        structure: Structure::Protobuf,
        cost: 512,
        run: protobuf::run,
    },
    Target {
        name: "proto_json",
        corpus: proto_json::corpus,
        dictionary: proto_json::DICTIONARY,
        structure: Structure::Json,
        cost: 4096,
        run: proto_json::run,
    },
    Target {
        name: "csv",
        corpus: csv::corpus,
        dictionary: csv::DICTIONARY,
        structure: Structure::Bytes,
        cost: 4096,
        run: csv::run,
    },
    Target {
        name: "examples",
        corpus: examples::corpus,
        dictionary: examples::DICTIONARY,
        structure: Structure::Protobuf,
        cost: 512,
        run: examples::run,
    },
    Target {
        name: "descriptor",
        corpus: protobuf::descriptors,
        dictionary: protobuf::WORDS,
        structure: Structure::Protobuf,
        cost: 4096,
        run: protobuf::run_descriptor,
    },
    Target {
        name: "artifact",
        corpus: artifact::files,
        dictionary: artifact::DICTIONARY,
        structure: Structure::Bytes,
        cost: RUNS,
        run: artifact::run_file,
    },
    Target {
        name: "graph",
        corpus: artifact::graphs,
        dictionary: artifact::DICTIONARY,
        structure: Structure::Protobuf,
        cost: RUNS,
        run: artifact::run_graph,
    },
    Target {
        name: "weights",
        corpus: artifact::weights,
        dictionary: artifact::DICTIONARY,
        structure: Structure::Safetensors,
        cost: RUNS,
        run: artifact::run_weights,
    },
    Target {
        name: "arrow",
        corpus: arrow::corpus,
        dictionary: &[],
        structure: Structure::Bytes,
        cost: 512,
        run: arrow::run,
    },
    Target {
        name: "ipc",
        corpus: ipc::corpus,
        dictionary: ipc::DICTIONARY,
        structure: Structure::Bytes,
        cost: 1 << 14,
        run: ipc::run,
    },
    Target {
        name: "parquet",
        corpus: parquet::corpus,
        dictionary: parquet::DICTIONARY,
        structure: Structure::Bytes,
        cost: RUNS,
        run: parquet::run,
    },
    Target {
        name: "avro",
        corpus: avro::corpus,
        dictionary: avro::DICTIONARY,
        structure: Structure::Bytes,
        cost: RUNS,
        run: avro::run,
    },
    Target {
        name: "paths",
        corpus: paths::corpus,
        dictionary: paths::DICTIONARY,
        structure: Structure::Bytes,
        cost: 512,
        run: paths::run,
    },
    Target {
        name: "cases",
        corpus: cases::corpus,
        dictionary: cases::DICTIONARY,
        structure: Structure::Bytes,
        cost: 512,
        run: cases::run,
    },
    Target {
        name: "partitions",
        corpus: partitions::corpus,
        dictionary: &[],
        structure: Structure::Bytes,
        cost: 512,
        run: partitions::run,
    },
];

/// The input as text; what is not UTF-8 is replaced.
fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}
