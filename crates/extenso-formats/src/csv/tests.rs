//! Laws of reading and writing tables.

use super::*;
use crate::OnError;
use extenso_ext::to_literal;
use extenso_types::{DType, Dim, Nest};

fn read(rows: &str, options: &CsvOptions) -> String {
    match read_csv(rows.as_bytes(), options) {
        Ok(rows) => to_literal(&rows.value).expect("a literal").to_string(),
        Err(e) => e.to_string(),
    }
}

fn check(rows: &str, wanted: &str) {
    let found = read(rows, &CsvOptions::default());
    assert!(found.contains(wanted), "{rows}: {found}");
}

#[test]
fn cells_are_what_they_all_are() {
    check("a,b\n1,true\n-2,False\n", r#"[{"a": 1, "b": True}, {"a": -2, "b": False}]"#);
    check("a\n1\n2.5\n", r#"[{"a": 1.0}, {"a": 2.5}]"#);
    check("a\n1\nx\n", r#"[{"a": "1"}, {"a": "x"}]"#);
    check("a\ntrue\n1\n", r#"[{"a": "true"}, {"a": "1"}]"#);
    check("a,b\n,x\n1,\n", r#"[{"a": None, "b": "x"}, {"a": 1, "b": ""}]"#);
    let big = read_csv(b"a\n18446744073709551615\n", &CsvOptions::default()).expect("reads").value;
    assert_eq!(big.spec().expect("a spec").to_string(), "StructTensor(a: u64[1], rank=1)");
    check("a\n18446744073709551616\n", "Wanted: integers that all fit i64, or all fit u64");
    check("a\n9007199254740993\n0.5\n", "row 0, byte 2, 'a': an integer came that f64 does not hold");
    check("a\n9007199254740993\nx\n", r#"[{"a": "9007199254740993"}, {"a": "x"}]"#);
    check("\u{feff}u.a,u.b.c,d\n1,2,3\n", r#"[{"u": {"a": 1, "b": {"c": 2}}, "d": 3}]"#);
    check("a;b,c\r\n\"x\"\"y\n\",2\r\n", r#"[{"a;b": "x\"y\n", "c": 2}]"#);
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    check("", "there is no row of names");
    check("id,s\n1,x\n2,\"tru", "row 1, byte 9: the table ends inside a quoted cell.\nWanted: a quote that ends it.");
    check("\"a,b\n1,2\n", "the row of names: the table ends inside a quoted cell");
    check("a,a\n1,2\n", "column 2 has the name 'a', which another has");
    check("a,a.b\n1,2\n", "'a' is a value and a record: column 2 has the name 'a.b'");
    check("x.a.b,x.a\n1,2\n", "'x.a' is a value and a record: column 2 has the name 'x.a'");
    check("a,b\n1,2\n3\n", "row 1, byte 8: the row has 1 cells.\nWanted: 2, as the row of names.");
    let sampled = CsvOptions { sample: Some(1), ..CsvOptions::default() };
    let found = read("id,u.x\n1,2\n3,four\n", &sampled);
    assert!(
        found.contains("row 1, byte 13, 'u.x': 'four' came in column 2.\nWanted: an integer that fits i64."),
        "{found}"
    );
}

#[test]
fn names_that_nobody_reads_may_be_those_of_others() {
    let of = |paths: &[&str]| {
        let paths = paths.iter().map(|path| path.parse().expect("a path")).collect();
        CsvOptions { paths: Some(paths), ..CsvOptions::default() }
    };
    for rows in ["a,b,a.c\n,1,2\n", "b,a,a\n1,2,3\n", "a.c.d,b,a.c\n2,1,3\n"] {
        assert_eq!(read(rows, &of(&["b"])), r#"[{"b": 1}]"#);
    }
    assert_eq!(read("b.x,b.x.y,b.z\n1,2,3\n", &of(&["b.z"])), r#"[{"b": {"z": 3}}]"#);
    assert!(read("a,b,a.c\n,1,2\n", &of(&["a"])).contains("'a' is a value and a record"));
    assert!(read("b,a,a\n1,2,3\n", &of(&["a"])).contains("column 3 has the name 'a', which another has"));
    assert!(read("a,b,a.c\n,1,2\n", &of(&["d"])).contains("there is no"));
}

#[test]
fn a_spec_says_what_columns_are() {
    let spec = crate::infer_spec(br#"{"a": 0.5, "n": {"s": "x"}, "gone": null}"#, &Default::default()).expect("a spec");
    let options = CsvOptions { spec: Some(spec.clone()), ..CsvOptions::default() };
    assert_eq!(read("n.s,other,a\nx,y,1\n", &options), r#"[{"a": 1.0, "n": {"s": "x"}, "gone": None}]"#);
    assert!(read("n.s\nx\n", &options).contains("there is no column 'a'; there are: n.s.\nWanted: "));
    assert!(read("n.s,a,a\nx,1,2\n", &options).contains("there are several columns 'a'"));
    assert!(read("n.s,a,\u{1b}[31m\nx,\u{1b}[32m,2\n", &options).contains("'\\u{1b}[32m' came"));
    let lists = crate::infer_spec(br#"{"a": [1]}"#, &Default::default()).expect("a spec");
    let lists = CsvOptions { spec: Some(lists), ..CsvOptions::default() };
    assert!(read("a\n1\n", &lists).contains("'a' is a list, and CSV has none"));
    for (on_error, wanted) in [
        (OnError::Skip, r#"[{"a": 1.0, "n": {"s": "x"}, "gone": None}]"#),
        (OnError::Default, r#"[{"a": 1.0, "n": {"s": "x"}, "gone": None}, {"a": 0.0, "n": {"s": ""}, "gone": None}]"#),
    ] {
        let options = CsvOptions { spec: Some(spec.clone()), on_error, ..CsvOptions::default() };
        assert_eq!(read("n.s,a\nx,1\ny,two\n", &options), wanted);
    }
}

#[test]
fn what_was_written_is_read() {
    let rows = r#"{"i": -7, "f": 0.1, "t": true, "u": {"s": "a, \"b\"\n", "o": null}, "n": "NaN"}
{"i": 8, "f": 1e300, "t": false, "u": {"s": "", "o": 4}, "n": 1.5}"#;
    let value = crate::read_json(rows.as_bytes(), &Default::default()).expect("reads").value;
    let text = encode_csv(&Nest::Leaf(value.clone()), b'\t').expect("writes");
    let spec = Some(crate::infer_spec(rows.as_bytes(), &Default::default()).expect("a spec"));
    let options = CsvOptions { spec, delimiter: b'\t', ..CsvOptions::default() };
    let again = read_csv(&text, &options).expect("reads").value;
    assert_eq!(to_literal(&again).expect("one").to_string(), to_literal(&value).expect("one").to_string());
    let list = crate::read_json(br#"{"a": [1]}"#, &Default::default()).expect("reads").value;
    let error = encode_csv(&Nest::Leaf(list), b',').expect_err("a list").to_string();
    assert!(error.contains("'a' is a list, and CSV has none"), "{error}");
}

#[test]
fn a_column_without_a_name_is_named_by_its_place() {
    check(",a\n0,1\n1,2\n", r#"[{"column_0": 0, "a": 1}, {"column_0": 1, "a": 2}]"#);
    check("\u{feff}\"\",a,\n0,1,x\n", r#"[{"column_0": 0, "a": 1, "column_2": "x"}]"#);
    check(",column_1,\n0,1,2\n", r#"[{"column_0": 0, "column_1": 1, "column_2": 2}]"#);
    let asked = CsvOptions { paths: Some(vec!["column_0".parse().expect("a path")]), ..CsvOptions::default() };
    assert_eq!(read(",a\n7,1\n", &asked), r#"[{"column_0": 7}]"#);
    // A name that is taken is given to no other column.
    assert!(!read("column_1,\n0,1\n", &CsvOptions::default()).contains("column_1_"));
}

#[test]
fn names_are_written_as_they_are_unless_they_would_be_read_as_paths() {
    let written = |json: &str| {
        let value = crate::read_json(json.as_bytes(), &Default::default()).expect("reads").value;
        String::from_utf8(encode_csv(&Nest::Leaf(value), b',').expect("writes")).expect("text")
    };
    let plain = r#"{"user name": 1, "first-name": 2, "2020": 3, "a,b": 4, "a\"b": 5}"#;
    assert_eq!(written(plain), "user name,first-name,2020,\"a,b\",\"a\"\"b\"\n1,2,3,4,5\n");
    assert_eq!(
        written(r#"{"a.b": 1, "\"q": 2, "u": {"x y": 3}}"#),
        "\"\"\"a.b\"\"\",\"\"\"\\\"\"q\"\"\",\"u.\"\"x y\"\"\"\n1,2,3\n"
    );
    let pair = |i: i64| Nest::Leaf(extenso_core::Tensor::from_vec(vec![i]).into());
    assert_eq!(encode_csv(&Nest::Tuple(vec![pair(1), pair(2)]), b',').expect("writes"), b"0,1\n1,2\n");
}

#[test]
fn what_was_written_has_the_names_that_it_had() {
    const PARTS: [&str; 16] =
        ["a", ".", "\"", "\\", "[", "]", "@", "0", " ", "\u{e9}", ",", "\n", "\u{feff}", "*", "\r", "column_0"];
    let mut names: Vec<String> = Vec::new();
    for a in PARTS {
        names.push(a.into());
        for b in PARTS {
            names.push(format!("{a}{b}"));
            names.extend(PARTS.map(|c| format!("{a}{b}{c}")));
        }
    }
    let mut seen = std::collections::HashSet::new();
    names.retain(|name| seen.insert(name.clone()));
    let one = || Nest::Leaf(extenso_core::Tensor::from_vec(vec![1_i64]).into());
    let inner = Nest::dict(names.iter().take(300).map(|name| (name.as_str(), one())));
    let all = names.iter().map(|name| (name.as_str(), one())).chain([("in ner", inner)]);
    let text = encode_csv(&Nest::dict(all), b',').expect("writes");
    let again = read_csv(&text, &CsvOptions::default()).expect("reads").value;
    assert_eq!(encode_csv(&Nest::Leaf(again.clone()), b',').expect("writes"), text);
    let paths: std::collections::HashSet<Path> =
        again.spec().expect("a spec").leaves(&Path::root()).into_iter().map(|(path, _)| path).collect();
    let field = |name: &String| Path::root().child(Segment::field(name.as_str()));
    assert!(names.iter().all(|name| paths.contains(&field(name))));
    let inner = Path::root().child(Segment::field("in ner"));
    assert!(names.iter().take(300).all(|name| paths.contains(&inner.child(Segment::field(name.as_str())))));
}

#[test]
fn floats_that_are_no_numbers_are_floats_again() {
    let floats = vec![f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    for floats in [floats.clone(), floats[..1].to_vec(), floats[2..].to_vec()] {
        let value = Nest::dict([("f", Nest::Leaf(extenso_core::Tensor::from_vec(floats).into()))]);
        let text = encode_csv(&value, b',').expect("writes");
        let again = read_csv(&text, &CsvOptions::default()).expect("reads").value;
        assert!(again.spec().expect("a spec").to_string().contains("f: f64"));
        assert_eq!(encode_csv(&Nest::Leaf(again), b',').expect("writes"), text);
    }
    check("a\nNaN\nx\n", r#"[{"a": "NaN"}, {"a": "x"}]"#);
    check("a,b\n,1\ninf,2\n", r#"[{"a": None, "b": 1}, {"a": "#);
}

#[test]
fn names_that_nest_too_deep_and_too_many_names_are_refused_at_once() {
    let deep = |dots: usize| format!("x,a{}\n1,2\n", ".a".repeat(dots));
    assert!(read_csv(deep(59).as_bytes(), &CsvOptions::default()).is_ok());
    for dots in [60, 100_000] {
        let error = read_csv(deep(dots).as_bytes(), &CsvOptions::default()).expect_err("too deep").to_string();
        assert!(
            error.contains("the name of column 2 nests too deep") && error.contains("at most 60 levels"),
            "{error}"
        );
    }
    let names: Vec<String> = (0..300_000).map(|i| format!("c{i}")).collect();
    let error = read_csv(names.join(",").as_bytes(), &CsvOptions::default()).expect_err("too many").to_string();
    assert!(error.contains("more than 10000 fields"), "{error}");
}

#[test]
fn a_bad_cell_is_told_of_by_its_first_byte() {
    let number = extenso_types::TensorSpec::new(
        extenso_types::DType::I64,
        extenso_types::Shape::new([extenso_types::Dim::any()]),
    );
    let fields = [("a", number.clone().into()), ("b", number.into())];
    let spec = extenso_core::TypeSpec::serialize(&extenso_ext::StructSpec::new(1, fields).expect("fields"));
    let options = CsvOptions { spec: Some(spec.into()), on_error: OnError::Skip, ..CsvOptions::default() };
    for text in [
        "a,b\n1,2\n3,x\n4,5\n",
        "a,b\n1,2\nx,4\n",
        "a,b\r\n1,2\r\n3,x\r\n4,5\r\n",
        "a,b\n1,2\n3,x",
        "a,b\r\n1,2\r\n33,x",
        "a,b\n3,x\n",
        "a,b\n\"1\",2\n,,,\n\n33,x\n",
        "a,b\n1,2\n\n3,x\n",
        "a,b\r\n\r\n1,2\r\n\r\n\r\n33,x",
        "\n\na,b\n\n\n3,x\n",
    ] {
        let bad = read_csv(text.as_bytes(), &options).expect("reads").bad.first;
        assert_eq!(bad.last().expect("a bad row").offset, text.find('x'), "{text:?}");
    }
    // Quotes hide nothing.
    for (text, wanted) in [
        ("a,b\n1,2\n\"3\",x\n", 12),
        ("a,b\n1,2\n\n\n\"3\"\"\",x\n", 10),
        ("a,b\n\"1\"2,x", 9),
        ("a,b\r\n\"\r\n\",1", 5),
    ] {
        let bad = read_csv(text.as_bytes(), &options).expect("reads").bad.first;
        assert_eq!(bad[0].offset, Some(wanted), "{text:?}");
    }
    let bad = read_csv(b"a,b\n1,2\n\n3\n", &options).expect("reads").bad.first;
    assert_eq!(bad[0].offset, Some(9));
}

#[test]
fn what_one_column_says_is_read_again_or_refused() {
    let of = |text: &str| Nest::Leaf(crate::read_json(text.as_bytes(), &Default::default()).expect("reads").value);
    let rows = of("{\"a\": \"x\"}\n{\"a\": null}");
    let text = encode_csv(&rows, b',').expect("writes");
    assert_eq!(text, b"a\nx\n\"\"\n");
    let Nest::Leaf(value) = &rows else { panic!("records") };
    let spec = crate::ops::any_rows(&value.spec().expect("a spec"));
    let options = CsvOptions { spec: Some(spec), ..CsvOptions::default() };
    assert_eq!(read(std::str::from_utf8(&text).expect("text"), &options), r#"[{"a": "x"}, {"a": None}]"#);
    let error = encode_csv(&of("{\"a\": null}\n{\"a\": \"\"}"), b',').expect_err("both are alike").to_string();
    assert!(error.starts_with("row 1 of the only column 'a' is an empty string"), "{error}");
    // Nothing is missing, or there is another column.
    assert_eq!(encode_csv(&of("{\"a\": \"\"}"), b',').expect("writes"), b"a\n\"\"\n");
    assert!(encode_csv(&of("{\"a\": null, \"b\": 1}\n{\"a\": \"\", \"b\": 2}"), b',').is_ok());
}

#[test]
fn an_empty_line_is_a_row_of_a_table_of_one_column() {
    let field = |spec| crate::struct_spec([("a", spec)]).expect("a spec");
    let number = crate::FieldSpec::Scalar(DType::I64, vec![]);
    let plain = CsvOptions { spec: Some(field(number.clone())), ..CsvOptions::default() };
    let masked =
        CsvOptions { spec: Some(field(crate::FieldSpec::Optional(Box::new(number)))), ..CsvOptions::default() };
    for (text, wanted) in [
        ("a\n1\n\n3\n", r#"[{"a": 1}, {"a": None}, {"a": 3}]"#),
        ("\n\na\n\n\n1\n", r#"[{"a": None}, {"a": None}, {"a": 1}]"#),
        ("a\r\n1\r\n\r\n", r#"[{"a": 1}, {"a": None}]"#),
        ("a\r\r1", r#"[{"a": None}, {"a": 1}]"#),
        ("a\n\"1\"\n\n\"\"\n", r#"[{"a": 1}, {"a": None}, {"a": None}]"#),
        ("a\n", "[]"),
        ("a\n\n", r#"[{"a": None}]"#),
    ] {
        assert_eq!(read(text, &masked), wanted, "{text:?}");
    }
    assert_eq!(read("a\n1\n\n", &CsvOptions::default()), r#"[{"a": 1}, {"a": None}]"#);
    assert_eq!(read("a,b\n1,2\n\n3,4\n", &CsvOptions::default()), r#"[{"a": 1, "b": 2}, {"a": 3, "b": 4}]"#);
    let skipped = CsvOptions { on_error: OnError::Skip, ..plain };
    let bad = read_csv(b"a\n1\n\n3\nx\n\n", &skipped).expect("reads").bad;
    assert_eq!(bad.rows, [1, 3, 4]);
    assert_eq!(bad.first.iter().map(|bad| bad.offset).collect::<Vec<_>>(), [Some(4), Some(7), Some(9)]);
    // However long the lines are that were read ahead.
    let long = format!("a\n{}\n\n{}\n\n", "1".repeat(18), "\n".repeat(20_000));
    let rows = read_csv(long.as_bytes(), &masked).expect("reads").value;
    assert_eq!(extenso_ext::outer(&rows), Some(Dim::Known(20_004)));
}

fn literal(value: &extenso_core::Value) -> String {
    to_literal(value).expect("a literal").to_string()
}

#[test]
fn a_mark_before_the_table_changes_nothing() {
    let options = CsvOptions::default();
    for text in
        ["\"a,\",c\n1,\"\"\n2,\"x\"\n", "\"a,\",c\n1,2\n", "\"a\n\"\n1\n\n2\n", "\"\",b\n1,2\n", "a\n\"\"\n\"1\"\n"]
    {
        let read = |text: &[u8]| literal(&read_csv(text, &options).expect("reads").value);
        assert_eq!(read(format!("\u{feff}{text}").as_bytes()), read(text.as_bytes()), "{text:?}");
    }
}

#[test]
fn zero_has_a_sign_in_every_integer() {
    let read = read_csv(b"a\n-0\n18446744073709551615\n", &CsvOptions::default()).expect("reads");
    assert_eq!(literal(&read.value), r#"[{"a": 0}, {"a": 18446744073709551615}]"#);
}

#[test]
fn records_without_fields_are_no_table() {
    let rows = crate::read_json(b"{}\n{}\n", &Default::default()).expect("reads").value;
    let error = super::encode_csv(&Nest::Leaf(rows), b',').expect_err("no fields").to_string();
    assert!(error.contains("no fields"), "{error}");
}

#[test]
fn cells_of_many_digits_are_what_they_are_read_as() {
    let numbers = [
        "0",
        "-0",
        "7",
        "-7",
        "123456789012345678",
        "-123456789012345678",
        "1234567890123456789",
        "0012",
        "-0012",
        "1.5",
        "-0.25",
        "00.5",
        "1.",
        ".5",
        "-.5",
        "1.2.3",
        "1-2",
        "--1",
        "+3",
        " 4 ",
        "0.1234567890123456",
        "123456789.123456789",
        "9007199254740993.0",
        "0.30000000000000004",
        "1e5",
        "123456789012345678.5",
        "179769313486231570000000000000000000000.0",
        "5.0000000000000001",
        "-",
        "1 2",
        "1_000",
        "\u{661}",
        "0x10",
    ];
    for text in numbers {
        let one = |cells: &str| {
            read_csv(format!("a,b\n{cells},1\n").as_bytes(), &CsvOptions::default()).expect("reads").value
        };
        let found = literal(&one(text));
        let trimmed = text.trim();
        let wanted = match (trimmed.parse::<i64>(), trimmed.parse::<f64>()) {
            (Ok(whole), _) => whole.to_string(),
            (_, Ok(float)) => extenso_ext::Literal::Float(float).to_string(),
            _ => format!("{text:?}"),
        };
        assert_eq!(found, format!("[{{\"a\": {wanted}, \"b\": 1}}]"), "{text}");
        for dtype in [DType::F64, DType::F32] {
            let field = |name| (name, crate::FieldSpec::Scalar(dtype, vec![]));
            let spec = crate::struct_spec([field("a"), field("b")]).expect("a spec");
            let options = CsvOptions { spec: Some(spec), ..CsvOptions::default() };
            let read = read_csv(format!("a,b\n{text},1\n").as_bytes(), &options);
            let wanted = match dtype {
                DType::F32 => trimmed.parse::<f32>().ok().map(f64::from),
                _ => trimmed.parse::<f64>().ok(),
            };
            let wanted = wanted.map(|float| format!("[{{\"a\": {}, \"b\": 1.0}}]", extenso_ext::Literal::Float(float)));
            assert_eq!(read.ok().map(|read| literal(&read.value)), wanted, "{text} as {dtype}");
        }
    }
}

#[test]
fn what_is_guessed_is_what_all_rows_say() {
    let line = |i: usize| format!("{i},{}.5,{},word {i},\n", i % 7, i.is_multiple_of(2));
    let head = |n: usize| "a,b,c,d,e\n".to_string() + &(0..n).map(line).collect::<String>();
    let (long, long_e) = (head(20_000), head(20_000).replace(",\n", ",7\n"));
    assert!(long.len() > 400_000);
    let last = [
        "",
        "1,2,true,x,7",
        "-1,2,true,x,7",
        "1.5,2,true,x,7",
        "x,2,true,x,7",
        ",2,true,x,7",
        "1,,true,x,7",
        "1,2,,x,7",
        "1,2,true,,7",
        "1,2,true,x,",
        "1,2,1,x,7",
        "1,x,true,x,7",
        "18446744073709551615,2,true,x,7",
        "18446744073709551616,2,true,x,7",
        "1,9007199254740993,true,x,7",
        "1,9007199254740992,true,x,7",
        "1,NaN,true,x,7",
        "1,inf,true,x,7",
        "1,1e400,true,x,7",
        "+1,2,true,x,7",
        " 1 , 2,true,x,7",
        "1,2,True,\"x,\"\"\",7",
        "1,2,true,x",
        "1,2,true,x,7,8",
        "1,2,true,\"x",
        "1,2,true,x,7\n\n\n1,2,false,y,8\n",
    ];
    for head in [&long, &long_e] {
        for last in last {
            let text = format!("{head}{last}");
            let read = |sample| {
                let options = CsvOptions { sample, ..CsvOptions::default() };
                read_csv(text.as_bytes(), &options).map(|read| {
                    let spec = read.value.spec().expect("a spec").to_string();
                    (spec, encode_csv(&Nest::Leaf(read.value), b',').expect("writes"))
                })
            };
            let (guessed, looked) = (read(None), read(Some(usize::MAX / 2)));
            assert_eq!(guessed.map_err(|e| e.to_string()), looked.map_err(|e| e.to_string()), "{last:?}");
        }
    }
}

#[test]
fn rows_are_numbered_alike_in_pieces() {
    let rows: String =
        (0..40_000).map(|i| if i % 9_999 == 5 { "x,\"\n\"\n\n".into() } else { format!("{i},\"y\n\"\n") }).collect();
    let text = format!("\u{feff}a,b\r\n{rows}");
    let field = |name, dtype| (name, crate::FieldSpec::Scalar(dtype, vec![]));
    let spec = crate::struct_spec([field("a", DType::I64), field("b", DType::String)]).expect("a spec");
    let options = CsvOptions { spec: Some(spec), on_error: OnError::Skip, ..CsvOptions::default() };
    let read = read_csv(text.as_bytes(), &options).expect("reads");
    let wanted: Vec<usize> = (0..40_000).filter(|i| i % 9_999 == 5).collect();
    assert_eq!(read.bad.rows, wanted);
    let offsets: Vec<Option<usize>> = text.match_indices("\nx,").map(|(at, _)| Some(at + 1)).collect();
    assert_eq!(read.bad.first.iter().map(|bad| bad.offset).collect::<Vec<_>>(), offsets[..read.bad.first.len()]);
    let error = read_csv(text.as_bytes(), &CsvOptions { on_error: OnError::Raise, ..options })
        .expect_err("a bad row")
        .to_string();
    assert!(error.starts_with("row 5, byte "), "{error}");
    let error = read_csv((text + "1\n").as_bytes(), &CsvOptions::default()).expect_err("a short row").to_string();
    assert!(error.starts_with("row 40000, byte ") && error.contains("the row has 1 cells"), "{error}");
}
