//! Tests of the case parser; the round trip is tried on generated expressions.

use super::*;

fn check_expr(text: &str, expect: Expr) {
    assert_eq!(parse_expr(text), Ok(expect), "{text}");
}

/// Checks that `text` is refused at `line:column`, with `wanted` in what was wanted.
fn check_error(text: &str, place: (usize, usize), wanted: &str) {
    let error = parse_expr(text).expect_err(text);
    assert_eq!((error.line(), error.column()), place, "{text}: {error}");
    assert!(error.wanted().contains(wanted), "{text}: {error}");
}

/// Checks what one statement prints as, or the text of its error.
fn check_statement(text: &str, expect: &str) {
    let printed = reprint(text).unwrap_or_else(|error| error.to_string());
    assert_eq!(printed.replace('\n', "; "), expect, "{text}");
}

/// Reads the statements of one block and prints them, one to a line.
fn reprint(text: &str) -> Result<String, ParseError> {
    let blocks = parse_markdown("t.md", &format!("```case\n{text}\n```\n"))?;
    Ok(blocks[0].statements.iter().map(print_statement).collect::<Vec<_>>().join("\n"))
}

fn print_statement(statement: &Statement) -> String {
    match statement {
        Statement::Bind { name, expr, .. } => format!("{name} = {expr}"),
        Statement::Case(case) => case.to_string(),
    }
}

fn text(text: &str) -> Expr {
    Expr::Str(text.to_string())
}

#[test]
fn literals_are_pythons() {
    check_expr(" None ", Expr::None);
    check_expr("True", Expr::Bool(true));
    check_expr("-9223372036854775808", Expr::Int(i64::MIN.into()));
    check_expr("18446744073709551615", Expr::Int(u64::MAX.into()));
    check_expr("-170141183460469231731687303715884105728", Expr::Int(i128::MIN));
    check_expr("1e16", Expr::Float(1e16));
    check_expr("- .5", Expr::Float(-0.5));
    check_expr("2.", Expr::Float(2.0));
    check_expr("-0.0", Expr::Float(-0.0));
    check_expr("nan", Expr::Float(f64::NAN));
    check_expr("-inf", Expr::Float(f64::NEG_INFINITY));
}

#[test]
fn string_escapes_are_pythons() {
    check_expr(r#""a\tb\\\"\'""#, text("a\tb\\\"'"));
    check_expr(r"'\x41\u00df\U0001F600\0\1012'", text("Aß😀\0A2"));
    check_expr("'# no comment'", text("# no comment"));
    check_error(r#"["\q"]"#, (1, 3), "escapes");
    check_error(r#""\ud800""#, (1, 2), "escapes");
    check_error(r#""\400""#, (1, 2), "escapes");
    check_error("\"a\nb\"", (1, 1), "closing quote");
    check_error("[1,\n \"\0\"]", (2, 3), "an escape");
    check_error("1 # \r", (1, 5), "an escape");
}

#[test]
fn one_item_in_parentheses_is_itself() {
    check_expr("(1)", Expr::Int(1));
    check_expr("(1,)", Expr::Tuple(vec![Expr::Int(1)]));
    check_expr("()", Expr::Tuple(vec![]));
    check_expr("(1, 2,)", Expr::Tuple(vec![Expr::Int(1), Expr::Int(2)]));
}

#[test]
fn calls_nest_and_span_lines() {
    let call = Expr::Call {
        function: "f".to_string(),
        args: vec![Expr::List(vec![]), Expr::Name("x".to_string())],
        kwargs: vec![("k".to_string(), Expr::Dict(vec![("a".to_string(), Expr::None)]))],
    };
    check_expr("f([], x, k={'a': None})", call.clone());
    check_expr("\nf(  # the call\n  [\n], x,\n\n k={'a': None},)\n", call);
}

#[test]
fn errors_tell_line_column_and_what_was_wanted() {
    check_error("", (1, 1), "an expression");
    check_error("[1,\n  2 3]", (2, 5), "`,` or `]` after an item of the `[` in line 1");
    check_error("[1, 2", (1, 6), "`,` or `]`");
    check_error("[,]", (1, 2), "an expression");
    check_error("ß", (1, 1), "case grammar");
    check_error("1 2", (1, 3), "the end of the expression");
    check_error("'a' 'b'", (1, 5), "the end of the expression");
    check_error("f(x)(y)", (1, 5), "the end of the expression");
    check_error("-x", (1, 2), "a number");
    check_error("[1_000]", (1, 2), "decimal digits");
    check_error("[0x10, 007]", (1, 2), "decimal digits");
    check_error("1e", (1, 1), "decimal digits");
    check_error("170141183460469231731687303715884105728", (1, 1), "128 bits");
    check_error("f(a=1, 2)", (1, 8), "a keyword argument");
    check_error("f(a=1, a=2)", (1, 8), "does not have yet");
    check_error("f(in=1)", (1, 3), "Python's keywords");
    check_error("lambda", (1, 1), "Python's keywords");
    check_error("{'a': 1, 'a': 2}", (1, 10), "does not have yet");
    check_error("{a: 1}", (1, 2), "a string as key");
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(parse_expr(&nested(MAX_NESTING)).is_ok());
    check_error(&nested(MAX_NESTING + 1), (1, MAX_NESTING + 1), "at most 64 open brackets");
    check_error(&"f(".repeat(100_000), (1, 2 * MAX_NESTING + 2), "at most 64 open brackets");
}

#[test]
fn statements_are_bindings_and_claims() {
    check_statement("x = [1,\n  2]\nf(x) == x # same", "x = [1, 2]; f(x) == x");
    check_statement("f( 1 )~=.5", "f(1) ~= 0.5");
    check_statement("f(1) raises 'a b' and \"c\"", "f(1) raises \"a b\" and \"c\"");
    check_statement("raises = f()\nraises raises 'x'", "raises = f(); raises raises \"x\"");
    check_statement("# nothing\n\n", "");
}

#[test]
fn statements_outside_the_grammar_are_refused_with_their_place() {
    check_statement(
        "f(1)\n== 1",
        "t.md:2:5: found the end of the line. Wanted: `==`, `~=`, `raises` or, after a name, `=`.",
    );
    check_statement("f(1) = 1", "t.md:2:1: found `f`. Wanted: a name to bind, before `=`.");
    check_statement("nan = 1", "t.md:2:1: found `nan`. Wanted: a name to bind, before `=`.");
    check_statement("1 == 1", "t.md:2:1: found `1`. Wanted: a call, or a bound name, to claim something of.");
    check_statement("\n  f() == 1", "t.md:3:3: found `f`. Wanted: a statement at the start of the line.");
    check_statement("f() == 1 == 2", "t.md:2:10: found `==`. Wanted: the end of the statement.");
    check_statement("f() raises x", "t.md:2:12: found `x`. Wanted: a string that the error's text contains.");
    check_statement(
        "f() raises 'x' and y",
        "t.md:2:20: found `y`. Wanted: another string that the error's text contains.",
    );
}

#[test]
fn blocks_carry_heading_and_line() {
    let text = "# A\n\n## B\n\n```python\n# no heading\n```\n\n```case\nf() == 1\n\n# comment\ng(\n) == 2\n```\n\n## C\n\
                ~~~~case\n~~~~\n# D\n```case\nx = 1\n```";
    let blocks = parse_markdown("t.md", text).expect("the text is in the grammar");
    let places: Vec<_> = blocks.iter().map(|block| (block.heading.join("/"), block.line)).collect();
    assert_eq!(places, [("A/B".to_string(), 9), ("A/C".to_string(), 18), ("D".to_string(), 21)]);
    let Statement::Case(case) = &blocks[0].statements[1] else { panic!("a case") };
    assert_eq!((case.file.as_str(), case.title.as_str(), case.line), ("t.md", "A > B", 13));
    assert!(matches!(&blocks[2].statements[0], Statement::Bind { line: 22, .. }));
}

#[test]
fn no_block_is_passed_over_in_silence() {
    for fence in ["```cases", "  ```case", "``` Case", "```case python"] {
        let error = parse_markdown("t.md", &format!("\n{fence}\n```\n")).expect_err(fence);
        assert!(error.line() == 2 && error.wanted().contains("a fence"), "{error}");
    }
    let error = parse_markdown("t.md", "```case\nf() == 1\n").expect_err("not closed");
    assert!(error.wanted().contains("a closing fence"), "{error}");
}

#[test]
fn an_outer_fence_hides_an_inner_one() {
    assert_eq!(parse_markdown("t.md", "````text\n```case\n???\n```\n````\n"), Ok(vec![]));
}

#[test]
fn equality_is_of_what_was_written() {
    assert_eq!(parse_expr("nan"), parse_expr("nan"));
    assert_ne!(parse_expr("0.0"), parse_expr("-0.0"));
    assert_ne!(parse_expr("0.0"), parse_expr("0"));
    assert_ne!(parse_expr("[1]"), parse_expr("(1,)"));
}

#[test]
fn what_is_printed_reads_back_equal() {
    for seed in 0..5_000 {
        let expr = Random(seed).expr(4);
        let printed = expr.to_string();
        assert_eq!(parse_expr(&printed).as_ref(), Ok(&expr), "seed {seed}: {printed}");
        assert!(!printed.contains('\n'), "seed {seed}: {printed}");
    }
}

#[test]
fn a_broken_text_is_refused_or_prints_as_what_reads_the_same() {
    let (mut read, mut refused) = (0, 0);
    for seed in 0..20_000 {
        let mut random = Random(seed);
        let mut text: Vec<char> = format!("f() == {}", random.expr(2)).chars().collect();
        let (from, to) = (random.below(text.len()), random.below(text.len()));
        let moved = text.remove(from);
        text.insert(to, moved);
        let text: String = text.into_iter().collect();
        match reprint(&text) {
            Ok(printed) => {
                assert_eq!(reprint(&printed).as_ref(), Ok(&printed), "{text}");
                read += 1;
            }
            Err(_) => refused += 1,
        }
    }
    assert!(read > 1_000 && refused > 1_000, "{read} texts read, {refused} refused");
}

#[test]
fn every_conformance_file_parses() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance");
    let mut cases = 0;
    for entry in std::fs::read_dir(folder).expect("the conformance folder") {
        let path = entry.expect("an entry of the folder").path();
        if path.extension().is_some_and(|extension| extension == "md") {
            let text = std::fs::read_to_string(&path).expect("a readable file");
            let blocks = parse_markdown(&path.display().to_string(), &text).unwrap_or_else(|error| panic!("{error}"));
            assert!(!blocks.is_empty(), "{} has no case block", path.display());
            cases += blocks.iter().map(|block| block.statements.len()).sum::<usize>();
        }
    }
    assert!(cases > 0);
}

/// SplitMix64 (Steele, Lea and Flood, 2014): enough to vary expressions, and the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).expect("below `end`")
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    fn expr(&mut self, depth: usize) -> Expr {
        match self.below(if depth == 0 { 6 } else { 10 }) {
            0 => self.pick(&[Expr::None, Expr::Bool(true), Expr::Bool(false)]).clone(),
            1 => Expr::Int(i128::from(self.next().cast_signed()) << self.below(65)),
            2 => Expr::Float(f64::from_bits(self.next())),
            3 => Expr::Float(*self.pick(&[0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1.0, 1e22, 5e-324])),
            4 => Expr::Str(self.string()),
            5 => Expr::Name(self.name()),
            6 => Expr::List(self.items(depth - 1)),
            7 => Expr::Tuple(self.items(depth - 1)),
            8 => Expr::Dict(self.entries(depth - 1, Self::string)),
            _ => {
                let (function, args) = (self.name(), self.items(depth - 1));
                Expr::Call { function, args, kwargs: self.entries(depth - 1, Self::name) }
            }
        }
    }

    fn items(&mut self, depth: usize) -> Vec<Expr> {
        (0..self.below(4)).map(|_| self.expr(depth)).collect()
    }

    fn entries(&mut self, depth: usize, key: fn(&mut Self) -> String) -> Vec<(String, Expr)> {
        // The index keeps keys apart.
        (0..self.below(3)).map(|index| (format!("{}{index}", key(self)), self.expr(depth))).collect()
    }

    fn name(&mut self) -> String {
        self.pick(&["x", "sum", "_", "raises", "row_splits", "nan_", "infinity", "T2"]).to_string()
    }

    fn string(&mut self) -> String {
        let pool =
            ['a', ' ', '"', '\'', '\\', '\n', '\r', '\t', '\0', '\x7f', '\u{85}', '\u{2028}', 'ß', '😀', '#', '`'];
        (0..self.below(6)).map(|_| *self.pick(&pool)).collect()
    }
}
