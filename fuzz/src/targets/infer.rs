//! Specs inferred from JSON: what was seen can be read by the spec that follows, from lines, arrays and blocks alike.

use crate::outcomes::Outcomes;
use extenso_core::Value;
use extenso_formats::{JsonOptions, OnError, encode_ndjson, infer_spec, read_json, read_json_blocks};
use extenso_types::{Nest, Path};

pub const DICTIONARY: &[&[u8]] = &[
    b"null",
    b"true",
    b"\"NaN\"",
    b"\"x\"",
    b"1e400",
    b"0.5",
    b"-1",
    b"9223372036854775808",
    b"18446744073709551616",
    b"{}",
    b"[]",
    b"[{}]",
    b"{\"a\":",
    b"}\n{",
    b"\n",
    b", ",
    b"\"\":",
    b"\"b\":",
    b"[[[[[[[[",
    b"]]]]",
    b"\"\\ud800\"",
    b"\xff",
    b"\xef\xbb\xbf",
];

pub fn corpus() -> Vec<Vec<u8>> {
    let inputs = [
        "{\"a\": 1, \"b\": [1, 2.5, null]}\n{\"a\": null, \"b\": []}\n{\"b\": [-0.0], \"c\": {\"d\": true}}\n",
        "[{\"a\": [{\"b\": 1, \"c\": \"x\"}, {\"b\": 2}]}, {\"a\": []}, {\"a\": [{}]}]",
        "{\"a\": \"NaN\"}\n{\"a\": 1}\n{\"a\": \"-Infinity\"}\n\n{\"a\": 18446744073709551615}\n",
        "{\"a\": {\"b\": {\"c\": [[[1]], []]}}}\r\n{\"a\": {\"b\": {}}}\r\n{\"a\": {}}\r\n",
        "{\"a\": 18446744073709551615}\n{\"a\": 0}\n",
        "{\"größe\": \"\\u00e9\\ud83d\\ude00\", \"a b\": [true, false]}\n",
        "{\"a\": null}\n{\"a\": []}\n{\"a\": [null]}\n{\"a\": [[]]}\n",
    ];
    let mut corpus: Vec<Vec<u8>> = inputs.iter().map(|text| text.as_bytes().to_vec()).collect();
    corpus.push(format!("{{\"a\": {}{}}}", "[".repeat(59), "]".repeat(59)).into_bytes());
    corpus.push(format!("{{\"a\": {}}}", "[{\"b\":".repeat(2000)).into_bytes());
    corpus
}

pub fn run(bytes: &[u8], outcomes: &mut Outcomes) {
    let paths: Vec<Path> = ["a", "b[*]"].map(|path| path.parse().expect("a path")).to_vec();
    for on_error in [OnError::Raise, OnError::Skip, OnError::Default] {
        for paths in [None, Some(paths.clone())] {
            for sample in [None, Some(1)] {
                one(bytes, &JsonOptions { paths: paths.clone(), sample, on_error, ..JsonOptions::default() }, outcomes);
            }
        }
    }
}

fn one(bytes: &[u8], options: &JsonOptions, outcomes: &mut Outcomes) {
    let rows = read_json(bytes, options);
    let Some(spec) = outcomes.of("infer", infer_spec(bytes, options)) else {
        assert!(rows.is_err(), "what has no spec is not read");
        return;
    };
    if options.sample.is_none() && options.on_error == OnError::Raise {
        assert!(rows.is_ok(), "what was seen can be read: {:?}", rows.err());
    }
    let Some(rows) = outcomes.of("read", rows) else { return };
    outcomes.value("read", &spec);
    assert!(rows.value.spec().expect("a spec").is_subtype_of(&spec), "the value is of the spec");
    let text = written(&rows.value);
    let given = JsonOptions { spec: Some(spec), ..JsonOptions::default() };
    let again = read_json(&text, &given).expect("what was written can be read");
    assert_eq!(text, written(&again.value), "reading what was written gives the same");
    blocks(
        bytes,
        &JsonOptions { on_error: options.on_error, paths: options.paths.clone(), ..given },
        &text,
        &rows.bad.rows,
    );
}

/// The blocks together are the whole, lines and arrays alike.
fn blocks(bytes: &[u8], options: &JsonOptions, whole: &[u8], bad: &[usize]) {
    let (mut text, mut rows) = (Vec::new(), Vec::new());
    for block in read_json_blocks(bytes, 2, options.clone()).expect("two rows") {
        let Ok(block) = block else { return };
        text.extend(written(&block.value));
        rows.extend(block.bad.rows);
    }
    assert_eq!((text.as_slice(), rows.as_slice()), (whole, bad), "the blocks together are the whole");
}

fn written(value: &Value) -> Vec<u8> {
    encode_ndjson(&Nest::Leaf(value.clone())).expect("what was read can be written")
}
