//! Functions of paths: each gives what the same walk over plain records gives, on data and while tracing.

mod support;

use extenso_core::{Value, ops};
use extenso_ext::{FieldPath, broadcast, index, paths, promote, unzip, zip};
use extenso_types::Result;
use support::{check, fails, traced, value};

const USERS: &str = r#"[
    {"id": 7, "docs": [{"tokens": [7, 17], "n": 1}, {"tokens": [], "n": 2}]},
    {"id": 8, "docs": []},
    {"id": 9, "docs": [{"tokens": [5, 15, 25], "n": 3}]}
]"#;
const SPARSE: &str = r#"[{"docs": [{"n": 1}, None, {"n": None}], "r": {"a": [1, None]}}, {"docs": None, "r": None}]"#;

fn both(text: &str, f: impl Fn(&Value) -> Result<Value>, wanted: &str) {
    check(f(&value(text)), wanted);
    check(traced(&[value(text)], |args| f(&args[0])), wanted);
}

#[test]
fn a_projection_keeps_the_places_of_fields() {
    let wanted = r#"[{"docs": [{"n": 1}, {"n": 2}], "id": 7}, {"docs": [], "id": 8}, {"docs": [{"n": 3}], "id": 9}]"#;
    both(USERS, |x| paths::project(x, [FieldPath::from(["docs", "n"]), "id".into()]), wanted);
    both("[[{\"a\": 1, \"b\": 2}], []]", |x| paths::project(x, ["b"]), "[[{\"b\": 2}], []]");
    fails(paths::project(&value(USERS), [["docs", "x"]]), &["project", "docs", "'x'"]);
    fails(paths::project(&value("[1]"), ["x"]), &["project", "records"]);
}

#[test]
fn a_new_root_is_what_stands_at_the_path() {
    let docs = r#"[{"tokens": [7, 17], "n": 1, "user": 0}, {"tokens": [], "n": 2, "user": 0}, {"tokens": [5, 15, 25], "n": 3, "user": 2}]"#;
    both(USERS, |x| paths::reroot(x, "docs", Some("user")), docs);
    both(USERS, |x| paths::reroot(x, ["docs", "tokens"], None), "[7, 17, 5, 15, 25]");
    both(USERS, |x| paths::reroot(x, ["docs", "n"], None), "[1, 2, 3]");
    both(USERS, |x| paths::reroot(x, "id", None), "[7, 8, 9]");
    both(SPARSE, |x| paths::reroot(x, "docs", Some("i")), r#"[{"n": 1, "i": 0}, None, {"n": None, "i": 0}]"#);
    both(SPARSE, |x| paths::reroot(x, ["r", "a"], None), "[1, None]");
    both(
        r#"{"a": [{"b": 1}, {"b": 2}]}"#,
        |x| paths::reroot(x, "a", Some("i")),
        r#"[{"b": 1, "i": 0}, {"b": 2, "i": 0}]"#,
    );
    both(r#"{"a": {"b": 1}}"#, |x| paths::reroot(x, ["a", "b"], None), "[1]");
    fails(paths::reroot(&value(USERS), "docs", Some("n")), &["reroot", "'n' already"]);
    fails(paths::reroot(&value(USERS), "id", Some("i")), &["reroot", "'id'", "records"]);
    fails(paths::reroot(&value(USERS), "x", None), &["reroot", "'x'"]);
}

#[test]
fn sizes_count_the_values_of_each_record() {
    both(USERS, |x| paths::size(x, "docs"), "[2, 0, 1]");
    both(USERS, |x| paths::has(x, "docs"), "[True, False, True]");
    both(USERS, |x| paths::size(x, ["docs", "tokens"]), "[[2, 0], [], [3]]");
    both(USERS, |x| paths::has(x, ["docs", "tokens"]), "[[True, False], [], [True]]");
    both(USERS, |x| paths::size(x, ["docs", "n"]), "[[1, 1], [], [1]]");
    both(SPARSE, |x| paths::size(x, "docs"), "[3, 0]");
    both(SPARSE, |x| paths::has(x, "r"), "[True, False]");
    both(SPARSE, |x| paths::size(x, ["r", "a"]), "[2, None]");
    both(SPARSE, |x| paths::size(x, ["docs", "n"]), "[[1, None, 0], None]");
    both(r#"{"a": [1, 2], "b": None}"#, |x| paths::size(x, "a"), "2");
    both(r#"{"a": [1, 2], "b": None}"#, |x| paths::has(x, "b"), "False");
    both(r#"[{"a": [1, 2]}, {"a": [3, 4]}]"#, |x| paths::size(x, "a"), "[2, 2]");
    fails(paths::has(&value(USERS), ["docs", "x"]), &["has", "'docs.x'"]);
}

#[test]
fn positions_count_from_the_start_of_each_list() {
    both(USERS, |x| paths::local_index(x, "docs"), "[[0, 1], [], [0]]");
    both(USERS, |x| paths::local_index(x, ["docs", "tokens"]), "[[[0, 1], []], [], [[0, 1, 2]]]");
    both(USERS, |x| paths::local_index(x, "id"), "[0, 0, 0]");
    both(SPARSE, |x| paths::local_index(x, "docs"), "[[0, 1, 2], None]");
    both(r#"[{"a": [1, 2]}, {"a": [3, 4]}]"#, |x| paths::local_index(x, "a"), "[[0, 1], [0, 1]]");
    both(r#"{"a": [1, 2]}"#, |x| paths::local_index(x, "a"), "[0, 1]");
}

fn above(x: &Value, path: &[&str], n: i64) -> Result<Value> {
    let key: Vec<_> = path.iter().map(|name| (*name).into()).collect();
    ops::greater(index(x, &key)?, n)
}

#[test]
fn a_filter_keeps_the_items_where_the_mask_is_true() {
    let wanted = r#"[{"id": 7, "docs": [{"tokens": [], "n": 2}]}, {"id": 8, "docs": []},
        {"id": 9, "docs": [{"tokens": [5, 15, 25], "n": 3}]}]"#;
    both(USERS, |x| paths::filter(x, "docs", &above(x, &["docs", "n"], 1)?), wanted);
    let wanted = r#"[{"id": 7, "docs": [{"tokens": [17], "n": 1}, {"tokens": [], "n": 2}]}, {"id": 8, "docs": []},
        {"id": 9, "docs": [{"tokens": [15, 25], "n": 3}]}]"#;
    both(USERS, |x| paths::filter(x, ["docs", "tokens"], &above(x, &["docs", "tokens"], 10)?), wanted);
    let wanted = r#"[{"docs": [{"n": 1}], "r": {"a": [1, None]}}, {"docs": None, "r": None}]"#;
    both(SPARSE, |x| paths::filter(x, "docs", &above(x, &["docs", "n"], 0)?), wanted);
    let wanted = r#"[{"docs": [{"n": 1}, None, {"n": None}], "r": {"a": [1]}}, {"docs": None, "r": None}]"#;
    check(paths::filter(&value(SPARSE), ["r", "a"], &above(&value(SPARSE), &["r", "a"], 0).expect("mask")), wanted);
    both(
        r#"[{"a": [1, 2]}, {"a": [3, 4]}]"#,
        |x| paths::filter(x, "a", &above(x, &["a"], 1)?),
        r#"[{"a": [2]}, {"a": [3, 4]}]"#,
    );
    both(r#"{"a": [1, 2]}"#, |x| paths::filter(x, "a", &above(x, &["a"], 1)?), r#"{"a": [2]}"#);
    let x = value(USERS);
    fails(paths::filter(&x, "docs", &value("[[True], [], [True]]")), &["filter", "'docs'", "row"]);
    fails(paths::filter(&x, "docs", &value("[True, False, True]")), &["filter", "'docs'"]);
    fails(paths::filter(&x, "id", &value("[True, False, True]")), &["filter", "'id'", "a list"]);
    fails(paths::filter(&x, "docs", &value("[[1, 0], [], [1]]")), &["filter", "boolean"]);
}

#[test]
fn a_slice_is_of_each_list() {
    let tokens = |x: &Value, begin, end| {
        index(&paths::slice(x, ["docs", "tokens"], begin, end)?, &["docs".into(), "tokens".into()])
    };
    both(USERS, |x| tokens(x, Some(1), None), "[[[17], []], [], [[15, 25]]]");
    both(USERS, |x| tokens(x, None, Some(-1)), "[[[7], []], [], [[5, 15]]]");
    both(USERS, |x| tokens(x, Some(-2), Some(2)), "[[[7, 17], []], [], [[15]]]");
    let first = r#"[{"docs": [{"n": 1}], "r": {"a": [1, None]}}, {"docs": None, "r": None}]"#;
    both(SPARSE, |x| paths::slice(x, "docs", None, Some(1)), first);
    both(r#"[{"a": [1, 2]}, {"a": [3, 4]}]"#, |x| paths::slice(x, "a", Some(1), None), r#"[{"a": [2]}, {"a": [4]}]"#);
    fails(paths::slice(&value(USERS), "id", None, Some(1)), &["slice", "'id'", "a list"]);
}

#[test]
fn a_function_is_applied_to_the_values_at_paths() {
    let sums = |x: &Value| paths::apply(x, [["docs", "tokens"]], |v| ops::sum(&v[0], -1, false), ["docs", "sum"]);
    let found = |x: &Value| index(&sums(x)?, &["docs".into(), "sum".into()]);
    both(USERS, found, "[[24, 0], [], [45]]");
    let plus = |x: &Value| paths::apply(x, [FieldPath::from(["docs", "n"])], |v| ops::add(&v[0], 1), ["docs", "n"]);
    let wanted = r#"[{"docs": [{"n": 2}, None, {"n": None}], "r": {"a": [1, None]}}, {"docs": None, "r": None}]"#;
    both(SPARSE, plus, wanted);
    let several = |x: &Value| {
        paths::apply(
            x,
            [FieldPath::from("id"), ["docs", "n"].into()],
            |v| ops::add(&v[0], ops::sum(&v[1], 1, false)?),
            "total",
        )
    };
    both(USERS, |x| index(&several(x)?, &["total".into()]), "[10, 8, 12]");
    fails(paths::apply(&value(USERS), ["x"], |v| Ok(v[0].clone()), "y"), &["apply", "'x'"]);
    fails(paths::apply(&value(USERS), ["id"], |v| Ok(v[0].clone()), ["docs", "y"]), &["apply", "docs.y", "rows"]);
}

fn side_by_side(x: &Value, y: &Value, limit: Option<i64>) -> Result<Value> {
    zip([("x", x.clone()), ("y", y.clone())], limit)
}

fn zips(x: &str, y: &str, limit: Option<i64>, wanted: &str) {
    check(side_by_side(&value(x), &value(y), limit), wanted);
    check(traced(&[value(x), value(y)], |args| side_by_side(&args[0], &args[1], limit)), wanted);
}

#[test]
fn values_side_by_side_are_records() {
    zips("[1, 2]", r#"["a", "b"]"#, None, r#"[{"x": 1, "y": "a"}, {"x": 2, "y": "b"}]"#);
    zips("[[1, 2], []]", "[[3, 4], []]", None, r#"[[{"x": 1, "y": 3}, {"x": 2, "y": 4}], []]"#);
    zips("[[1, 2], [3]]", "[5, 6]", None, r#"[[{"x": 1, "y": 5}, {"x": 2, "y": 5}], [{"x": 3, "y": 6}]]"#);
    zips("[[1, 2], [3]]", "[5, 6]", Some(1), r#"[{"x": [1, 2], "y": 5}, {"x": [3], "y": 6}]"#);
    zips("[[1, 2], [3]]", "7", None, r#"[[{"x": 1, "y": 7}, {"x": 2, "y": 7}], [{"x": 3, "y": 7}]]"#);
    zips(
        "[[1, 2], [3, 4]]",
        "[5, 6]",
        None,
        r#"[[{"x": 1, "y": 5}, {"x": 2, "y": 5}], [{"x": 3, "y": 6}, {"x": 4, "y": 6}]]"#,
    );
    zips("[[1, None], []]", "[[3, 4], []]", None, r#"[[{"x": 1, "y": 3}, {"x": None, "y": 4}], []]"#);
    zips(
        "[[[1], [2, 3]], []]",
        "[[[4], [5, 6]], []]",
        None,
        r#"[[[{"x": 1, "y": 4}], [{"x": 2, "y": 5}, {"x": 3, "y": 6}]], []]"#,
    );
    zips("1", r#""a""#, None, r#"{"x": 1, "y": "a"}"#);
    zips("[[1], None]", "[5, 6]", Some(1), r#"[{"x": [1], "y": 5}, {"x": None, "y": 6}]"#);
    fails(side_by_side(&value("[[1, 2], []]"), &value("[[1], [2]]"), None), &["zip", "field 'y'", "row"]);
    fails(side_by_side(&value("[1, 2]"), &value("[1]"), None), &["zip", "'y'"]);
    zips("[[1], None, []]", "[[2], [3], None]", None, r#"[[{"x": 1, "y": 2}], None, None]"#);
    fails(side_by_side(&value("[[3, 1], [], []]"), &value("[[3], None, []]"), None), &["zip", "field 'y'", "row"]);
    fails(side_by_side(&value("[1]"), &value("[1]"), Some(0)), &["zip", "depth_limit is 0"]);
    fails(zip::<&str, Value>([], None), &["zip", "no field"]);
}

#[test]
fn the_fields_of_records_are_what_was_put_side_by_side() {
    for (x, y) in [("[1, 2]", "[3, 4]"), ("[[1, 2], [], [3]]", "[[4, 5], [], [None]]"), ("1", "2")] {
        let fields = unzip(&side_by_side(&value(x), &value(y), None).expect("alike")).expect("records");
        let names: Vec<&str> = fields.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["x", "y"]);
        check(Ok(fields[0].1.clone()), x);
        check(Ok(fields[1].1.clone()), y);
    }
    let missing = unzip(&value(r#"[{"a": 1}, None]"#)).expect("records");
    check(Ok(missing[0].1.clone()), "[1, None]");
    fails(unzip(&value("[1]")), &["unzip", "records"]);
}

/// Lists of records that happen to have one length are no reason for a field to have one.
#[test]
fn records_in_a_rectangle_take_the_fields_that_records_in_rows_take() {
    const EVEN: &str =
        r#"[{"id": [1, 2], "a": [{"v": [1, 2]}, {"v": [3, 4]}]}, {"id": [3], "a": [{"v": [5, 6]}, {"v": [7, 8]}]}]"#;
    let kept = r#"[{"a": [{"v": [2]}, {"v": [3, 4]}]}, {"a": [{"v": [5, 6]}, {"v": [7, 8]}]}]"#;
    let above = |x: &Value, bound: i64| ops::greater(paths_at(x, &["a", "v"])?, bound);
    both(EVEN, |x| paths::filter(&paths::project(x, ["a"])?, ["a", "v"], &above(x, 1)?), kept);
    both(
        EVEN,
        |x| index(&paths::filter(x, ["a", "v"], &above(x, 7)?)?, &["a".into(), "v".into()]),
        "[[[], []], [[], [8]]]",
    );
    let uneven = |_: &[Value]| Ok(value("[[[1], []], [[], [2, 3]]]"));
    let with = r#"[{"v": [1, 2], "w": [1]}, {"v": [3, 4], "w": []}]"#;
    both(EVEN, |x| ops::take(index(&paths::apply(x, [["a", "v"]], uneven, ["a", "w"])?, &["a".into()])?, 0, 0), with);
    both(
        EVEN,
        |x| index(&broadcast(x, "id", ["a", "id"])?, &["a".into(), "id".into()]),
        "[[[1, 2], [1, 2]], [[3], [3]]]",
    );
    let nested = r#"[{"a": [{"b": [{"v": 1}, {"v": 2}]}, {"b": [{"v": 3}, {"v": 4}]}]}, {"a": [{"b": [{"v": 5}, {"v": 6}]}, {"b": [{"v": 7}, {"v": 8}]}]}]"#;
    both(
        nested,
        |x| index(&promote(x, ["a", "b", "v"], ["a", "v"])?, &["a".into(), "v".into()]),
        "[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]",
    );
    let deep = |_: &[Value]| Ok(value("[[[[1], []], [[], []]], [[[], [2]], [[3, 4], []]]]"));
    both(
        nested,
        |x| index(&paths::apply(x, ["a"], deep, ["a", "b", "w"])?, &["a".into(), "b".into(), "w".into()]),
        "[[[[1], []], [[], []]], [[[], [2]], [[3, 4], []]]]",
    );
    fails(
        paths::apply(&value(EVEN), ["a"], |_| Ok(value("[[[1]], [[2], [3]]]")), ["a", "w"]),
        &["apply", "'w'", "row"],
    );
}

fn paths_at(x: &Value, names: &[&str]) -> Result<Value> {
    index(x, &names.iter().map(|&name| name.into()).collect::<Vec<_>>())
}
