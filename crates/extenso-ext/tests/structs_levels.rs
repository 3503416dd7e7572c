//! Records with other fields, and fields moved between levels.

mod support;

use extenso_core::{ExtensionType, Value};
use extenso_ext::{FieldPath, RaggedTensor, StructTensor, broadcast, index, promote};
use extenso_types::Result;
use support::{check, fails, ragged, traced, value};

const USERS: &str = r#"[
    {"id": 7, "docs": [{"tokens": [7, 17], "n": 1}, {"tokens": [3, 13], "n": 2}]},
    {"id": 8, "docs": []},
    {"id": 9, "docs": [{"tokens": [5, 15], "n": 3}, {"tokens": [], "n": 4}]}
]"#;

fn records(text: &str) -> StructTensor {
    StructTensor::from_value(&value(text)).expect("records")
}

fn field(x: &Value, names: &[&str]) -> Result<Value> {
    index(x, &names.iter().map(|name| (*name).into()).collect::<Vec<_>>())
}

type Move = fn(&Value, FieldPath, FieldPath) -> Result<Value>;

/// The field that a move makes, on data and while tracing.
fn moves(f: Move, text: &str, path: &[&str], to: &[&str], wanted: &str) {
    let run = |x: &Value| field(&f(x, path.into(), to.into())?, to);
    check(run(&value(text)), wanted);
    check(traced(&[value(text)], |args| run(&args[0])), wanted);
}

fn up(x: &Value, path: FieldPath, to: FieldPath) -> Result<Value> {
    promote(x, path, to)
}

fn down(x: &Value, path: FieldPath, to: FieldPath) -> Result<Value> {
    broadcast(x, path, to)
}

#[test]
fn promote_joins_the_lists_between_the_levels() {
    let x = r#"[{"docs": [{"tokens": [7, 17]}, {"tokens": [3, 13]}]}, {"docs": [{"tokens": [5, 15]}]}]"#;
    moves(up, x, &["docs", "tokens"], &["tokens"], "[[7, 17, 3, 13], [5, 15]]");
    moves(up, USERS, &["docs", "tokens"], &["tokens"], "[[7, 17, 3, 13], [], [5, 15]]");
    moves(up, USERS, &["docs", "n"], &["n"], "[[1, 2], [], [3, 4]]");
}

#[test]
fn promote_of_several_levels_is_promote_of_each() {
    let x = r#"[{"a": [{"b": [{"c": [1, 2]}, {"c": []}]}, {"b": []}]}, {"a": [{"b": [{"c": [3]}]}]}]"#;
    moves(up, x, &["a", "b", "c"], &["c"], "[[1, 2], [3]]");
    moves(up, x, &["a", "b", "c"], &["a", "c"], "[[[1, 2], []], [[3]]]");
    let twice = promote(&promote(&value(x), ["a", "b", "c"], ["a", "c"]).expect("up"), ["a", "c"], "c");
    check(field(&twice.expect("up"), &["c"]), "[[1, 2], [3]]");
    let root = r#"{"a": [{"b": [1, 2]}, {"b": [3]}], "r": {"s": "x"}}"#;
    moves(up, root, &["a", "b"], &["b"], "[1, 2, 3]");
    moves(up, root, &["r", "s"], &["s"], r#""x""#);
    let wide = r#"{"a": [[{"b": 1}, {"b": 2}], [{"b": 3}]]}"#;
    moves(up, wide, &["a", "b"], &["b"], "[1, 2, 3]");
}

#[test]
fn promote_takes_dense_lists_and_missing_values() {
    let dense = r#"[{"a": [{"b": [1, 2]}, {"b": [3, 4]}]}, {"a": [{"b": [5, 6]}, {"b": [7, 8]}]}]"#;
    // While tracing, lists in lists without rows need one size that is known.
    let joined = up(&value(dense), ["a", "b"].into(), "b".into()).expect("up");
    check(field(&joined, &["b"]), "[[1, 2, 3, 4], [5, 6, 7, 8]]");
    let items = r#"[{"a": [{"b": 1}, {"b": None}, None]}, {"a": []}]"#;
    moves(up, items, &["a", "b"], &["b"], "[[1, None, None], []]");
    let lists = r#"[{"a": [{"b": [1]}, {"b": None}]}, {"a": [{"b": [2, 3]}]}]"#;
    moves(up, lists, &["a", "b"], &["b"], "[[1], [2, 3]]");
    let whole = r#"[{"a": None}, {"a": [{"b": [2, 3]}, {"b": [4]}]}]"#;
    moves(up, whole, &["a", "b"], &["b"], "[None, [2, 3, 4]]");
    let record = r#"[{"r": {"s": 1}}, {"r": None}]"#;
    moves(up, record, &["r", "s"], &["s"], "[1, None]");
}

#[test]
fn broadcast_repeats_a_field_for_each_record_below() {
    moves(down, USERS, &["id"], &["docs", "id"], "[[7, 7], [], [9, 9]]");
    let x = r#"[{"k": [1, 2], "a": [{"b": [{"c": 1}, {"c": 2}]}, {"b": []}]}, {"k": [3], "a": [{"b": [{"c": 3}]}]}]"#;
    moves(down, x, &["k"], &["a", "b", "k"], "[[[[1, 2], [1, 2]], []], [[[3]]]]");
    let root = r#"{"k": "x", "a": [{"b": 1}, {"b": 2}], "r": {"s": 1}}"#;
    moves(down, root, &["k"], &["a", "k"], r#"["x", "x"]"#);
    moves(down, root, &["k"], &["r", "k"], r#""x""#);
    moves(down, r#"{"k": {"l": [1]}, "a": [{"b": 1}, {"b": 2}]}"#, &["k"], &["a", "k"], r#"[{"l": [1]}, {"l": [1]}]"#);
    moves(down, r#"{"k": 1, "a": [[{"b": 1}], []]}"#, &["k"], &["a", "k"], "[[1], []]");
    let dense = r#"[{"k": 1, "a": [{"b": 1}, {"b": 2}]}, {"k": 2, "a": [{"b": 3}, {"b": 4}]}]"#;
    check(field(&down(&value(dense), ["k"].into(), ["a", "k"].into()).expect("down"), &["a", "k"]), "[[1, 1], [2, 2]]");
    let masked = r#"[{"k": 1, "a": None}, {"k": 2, "a": [{"b": 3}, None]}]"#;
    moves(down, masked, &["k"], &["a", "k"], "[None, [2, None]]");
}

#[test]
fn levels_that_do_not_fit_are_errors() {
    let fails_up = |path: &[&str], to: &[&str], texts: &[&str]| fails(up(&value(USERS), path.into(), to.into()), texts);
    let fails_down =
        |path: &[&str], to: &[&str], texts: &[&str]| fails(down(&value(USERS), path.into(), to.into()), texts);
    fails_up(&["docs", "tokens"], &["id"], &["promote", "'id' already"]);
    fails_up(&["docs", "tokens"], &["docs", "t"], &["promote", "'docs.tokens'", "'docs.t'", "above"]);
    fails_up(&["docs", "tokens"], &["other", "t"], &["promote", "goes through"]);
    fails_up(&["docs", "x"], &["x"], &["promote", "'x'", "tokens, n"]);
    fails_up(&[], &["x"], &["promote", "empty"]);
    fails_down(&["id"], &["docs", "n"], &["broadcast", "'n' already"]);
    fails_down(&["id"], &["x"], &["broadcast", "below"]);
    fails_down(&["x"], &["docs", "x"], &["broadcast", "'x'", "id, docs"]);
    fails_down(&["id"], &["id", "x"], &["broadcast", "i64", "records"]);
    fails(promote(&value("[1, 2]"), ["a", "b"], "b"), &["promote", "i64[2]", "records"]);
}

fn addresses(value: &Value) -> Vec<usize> {
    let mut leaves = Vec::new();
    value.push_leaves(&mut leaves).expect("taken apart");
    leaves.iter().filter_map(|leaf| leaf.tensor().ok()).flat_map(|t| t.data().expect("data").addresses()).collect()
}

#[test]
fn a_field_inside_is_updated_where_it_stands() {
    let x = records(USERS);
    let new = ragged("[[10, 20], [], [30, 40]]");
    let y = x.with_updates([(["docs", "n"], new.clone()), (["docs", "m"], new)]).expect("fits");
    check(y.select(["docs", "n"]), "[[10, 20], [], [30, 40]]");
    check(y.select(["docs", "m"]), "[[10, 20], [], [30, 40]]");
    for path in [&["id"][..], &["docs", "tokens"]] {
        let of = |x: &StructTensor| addresses(&x.select(path).expect("there"));
        assert_eq!(of(&x), of(&y), "{path:?}");
    }
    fails(x.with_updates([(["docs", "n"], value("[[1], [2, 3], [4, 5]]"))]), &["'docs.n'", "field 'n'"]);
    fails(x.with_updates([(["docs", "n"], value("[1, 2, 3]"))]), &["'docs.n'", "rows"]);
    fails(x.with_updates([(["nothing", "n"], value("[1, 2, 3]"))]), &["'nothing.n'", "id, docs"]);
    let masked = records(r#"[{"r": {"a": 1}}, {"r": None}]"#);
    let masked = masked.with_updates([(["r", "b"], value("[3, 4]"))]).expect("fits");
    check(Ok(masked.into_value()), r#"[{"r": {"a": 1, "b": 3}}, {"r": None}]"#);
}

#[test]
fn fields_inside_are_left_out_by_their_paths() {
    let x = records(USERS);
    let less = x.without([FieldPath::from(["docs", "tokens"]), "id".into()]).expect("there").into_value();
    check(Ok(less), r#"[{"docs": [{"n": 1}, {"n": 2}]}, {"docs": []}, {"docs": [{"n": 3}, {"n": 4}]}]"#);
    let only = x.with_only([FieldPath::from(["docs", "n"]), "id".into()]).expect("there").into_value();
    check(
        Ok(only),
        r#"[{"docs": [{"n": 1}, {"n": 2}], "id": 7}, {"docs": [], "id": 8}, {"docs": [{"n": 3}, {"n": 4}], "id": 9}]"#,
    );
    fails(x.without([["docs", "x"]]), &["'docs.x'", "tokens, n"]);
    fails(x.with_only([["docs", "x"]]), &["field 'docs'", "'x'"]);
    fails(x.with_only([FieldPath::from("docs"), ["docs", "n"].into()]), &["docs", "twice"]);
    let none: [&str; 0] = [];
    check(x.with_only(none).map(ExtensionType::into_value), "[{}, {}, {}]");
    check(x.without(["id", "docs"]).map(ExtensionType::into_value), "[{}, {}, {}]");
}

#[test]
fn promoted_fields_share_what_they_can() {
    let x = value(USERS);
    let n = field(&promote(&x, ["docs", "n"], "n").expect("up"), &["n"]).expect("there");
    assert_eq!(addresses(&n), addresses(&field(&x, &["docs", "n"]).expect("there")));
    let rows = |x: &Value| RaggedTensor::from_value(x).expect("rows").partition().clone();
    assert!(rows(&n).same(&rows(&field(&x, &["docs"]).expect("there"))));
}
