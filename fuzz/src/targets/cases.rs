//! The case parser: what was read prints as text that reads back to it. Nothing is evaluated.

use super::text;
use crate::outcomes::Outcomes;
use extenso_testkit::case::{parse_expr, parse_markdown};
use extenso_types::Error;

pub const DICTIONARY: &[&[u8]] = &[
    b"```case\n",
    b"\n```\n",
    b" == ",
    b" ~= ",
    b" raises \"",
    b"\" and \"",
    b"nan",
    b"-inf",
    b"\\u00df",
    b"\\x41",
    b"(((((((((",
    b"]]]]",
    b"{\"a\": ",
    b", key=",
    b"1e308",
    b"# ",
    b"170141183460469231731687303715884105728",
    b"\xc2\xa0",
    b"\t",
    b"\"\"\"",
];

pub fn corpus() -> Vec<Vec<u8>> {
    let markdown = "# Title\n\n## Part\n\n```case\n# One.\nx = [[1, 2], [], [-3]]\nadd(x, 1) == [[2, 3], [], [-2]]\nexp([1.0]) ~= [\n    2.718281828459045,\n]\nadd(\"a\", x) raises \"add\" and \"[2]\"\n```\n";
    let expressions = [
        "sum([[1.0], []], axis=-1)",
        "f(None, True, 12, -9223372036854775808, .5, 1e-6, nan, -inf, \"\\n\\t\\\\\\x41\\u00df\", (a,), (), {\"k\": [1]}, key=i8([1]))",
        "'a'",
    ];
    std::iter::once(markdown).chain(expressions).map(|text| text.as_bytes().to_vec()).collect()
}

pub fn run(bytes: &[u8], outcomes: &mut Outcomes) {
    let text = text(bytes);
    drop(parse_markdown("fuzz.md", &text));
    let parsed = parse_expr(&text).map_err(|e| Error::data(e.to_string()));
    if let Some(expr) = outcomes.of("expression", parsed) {
        outcomes.value("expression", &expr);
        let again = parse_expr(&expr.to_string()).expect("an expression's text is an expression");
        assert_eq!(again, expr, "the expression of an expression's text is the expression");
    }
}
