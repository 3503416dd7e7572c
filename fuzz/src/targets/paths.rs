//! Names: paths, type names, dtypes. What was read is written as text that reads back to it.

use super::text;
use crate::outcomes::Outcomes;
use extenso_types::{DType, Path, TypeName};

pub const DICTIONARY: &[&[u8]] = &[
    b".\"",
    b"\\\"",
    b"[*]",
    b"[3]",
    b"@mask",
    b"@\"a b\"",
    b"..",
    b"\xc3\xa4",
    b"[18446744073709551616]",
    b"float16",
];

pub fn corpus() -> Vec<Vec<u8>> {
    [
        "user.history[*].item_id",
        "a[3].b",
        "x@row_splits",
        "\"a.b\".\"\\\"q\\\\\"[*]@mask",
        "größe",
        "",
        "space/Name",
        "bf16",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

pub fn run(bytes: &[u8], outcomes: &mut Outcomes) {
    let text = text(bytes);
    if let Some(path) = outcomes.of("path", text.parse::<Path>()) {
        outcomes.value("path", &path);
        let again: Path = path.to_string().parse().expect("a path's text is a path");
        assert_eq!(again, path, "the path of a path's text is the path");
    }
    if let Some(name) = outcomes.of("name", text.parse::<TypeName>()) {
        assert_eq!(name.to_string(), text, "a name is its text");
    }
    if let Ok(dtype) = text.parse::<DType>() {
        assert_eq!(dtype.name().parse::<DType>(), Ok(dtype), "a dtype's name is its own");
    }
}
