//! Keys on records: names and places mixed, through rows and masks, on data and while tracing.

mod support;

use extenso_core::{ExtensionType, Value, ops};
use extenso_ext::{Index, StructTensor, index};
use extenso_types::Result;
use support::{check, fails, is_ragged, traced, value};

const RECIPE: &str = r#"{"recipe": {"title": "soup", "ingredients": [
    {"name": "leek", "amount": 2}, {"name": "salt", "amount": 1}, {"name": "water", "amount": 5}]}}"#;

const USERS: &str = r#"[
    {"id": 7, "xy": [1, 2], "history": [{"item": "a", "n": 1}, {"item": "b", "n": 2}]},
    {"id": 8, "xy": [3, 4], "history": []},
    {"id": 9, "xy": [5, 6], "history": [{"item": "c", "n": 3}]}
]"#;

/// A key from Python's text, as far as the tests write it: names in quotes, integers, slices, `...`, `None`, masks and indices.
fn key(text: &str) -> Vec<Index> {
    let mut depth = 0;
    let split = text.split(|c: char| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        c == ',' && depth == 0
    });
    split.map(|part| part_of(part.trim())).collect()
}

fn part_of(text: &str) -> Index {
    if let Some(name) = text.strip_prefix('\'') {
        return Index::Field(name.trim_end_matches('\'').into());
    }
    match text {
        "..." => Index::Ellipsis,
        "None" => Index::NewAxis,
        _ if text.starts_with('[') => Index::Pick(value(text)),
        _ if text.contains(':') => {
            let bounds: Vec<Option<i64>> = text.split(':').map(|bound| bound.parse().ok()).collect();
            Index::Slice { start: bounds[0], stop: bounds[1], step: bounds.get(2).copied().flatten().unwrap_or(1) }
        }
        _ => Index::At(text.parse().expect(text)),
    }
}

fn at(text: &str, keys: &str) -> Result<Value> {
    index(&value(text), &key(keys))
}

/// The result on data, and the same while tracing with sizes that are not known.
fn both(text: &str, keys: &str, wanted: &str) {
    check(at(text, keys), wanted);
    check(traced(&[value(text)], |args| index(&args[0], &key(keys))), wanted);
}

#[test]
fn a_field_of_a_vector_is_the_field_of_all() {
    for keys in ["'id'", ":, 'id'", "'id', :", "..., 'id'", "'id', ..."] {
        both(USERS, keys, "[7, 8, 9]");
    }
    both(USERS, "'history', 'n'", "[[1, 2], [], [3]]");
}

#[test]
fn names_and_places_do_not_disturb_each_other() {
    both(RECIPE, "'recipe', 'ingredients', :, 'name'", r#"["leek", "salt", "water"]"#);
    both(RECIPE, "'recipe', 'ingredients', 1:, 'name'", r#"["salt", "water"]"#);
    both(RECIPE, "'recipe', 'ingredients', -1, 'amount'", "5");
    for keys in ["1, 'id'", "'id', 1", "-2, 'id'"] {
        both(USERS, keys, "8");
    }
    for keys in ["2, 'history', 0, 'item'", "'history', 2, 'item', 0", "'history', 'item', 2, 0"] {
        both(USERS, keys, r#""c""#);
    }
    both(USERS, "::-1, 'xy', 0", "[5, 3, 1]");
    both(USERS, "..., 'xy', 1", "[2, 4, 6]");
    both(USERS, "'xy', ..., 1", "[2, 4, 6]");
}

#[test]
fn places_move_all_fields() {
    both(USERS, "1", r#"{"id": 8, "xy": [3, 4], "history": []}"#);
    both(USERS, "1:2", r#"[{"id": 8, "xy": [3, 4], "history": []}]"#);
    both(USERS, "[2, 0], 'id'", "[9, 7]");
    both(USERS, "[[2, 0], [1, 1]], 'id'", "[[9, 7], [8, 8]]");
    both(USERS, "[True, False, True], 'history', 'n'", "[[1, 2], [3]]");
    both(USERS, "[False, False, True]", r#"[{"id": 9, "xy": [5, 6], "history": [{"item": "c", "n": 3}]}]"#);
    both(USERS, "'xy', :, [False, True]", "[[2], [4], [6]]");
    both(USERS, "'xy', [[True, False], [False, False], [True, True]]", "[1, 5, 6]");
    let grid = r#"[[{"a": 1, "b": [1, 2]}, {"a": 2, "b": [3, 4]}], [{"a": 3, "b": [5, 6]}, {"a": 4, "b": [7, 8]}]]"#;
    check(at(grid, "[[True, False], [False, True]]"), r#"[{"a": 1, "b": [1, 2]}, {"a": 4, "b": [7, 8]}]"#);
    check(at(grid, ":, 1, 'b'"), "[[3, 4], [7, 8]]");
    check(at(grid, "1, 'b', :, 0"), "[5, 7]");
}

#[test]
fn new_axes_stand_before_the_next_place() {
    both(r#"{"a": 1, "b": [1, 2]}"#, "None", r#"[{"a": 1, "b": [1, 2]}]"#);
    both(r#"{"a": 1, "b": [[1], [2, 3]]}"#, "None", r#"[{"a": 1, "b": [[1], [2, 3]]}]"#);
    both(r#"[{"a": 1}, {"a": 2}]"#, "None", r#"[[{"a": 1}, {"a": 2}]]"#);
    both(r#"[{"a": 1}, {"a": 2}]"#, ":, None", r#"[[{"a": 1}], [{"a": 2}]]"#);
    let rows = r#"[{"a": [1]}, {"a": [2, 3]}]"#;
    both(rows, "None", r#"[[{"a": [1]}, {"a": [2, 3]}]]"#);
    both(rows, ":, None", r#"[[{"a": [1]}], [{"a": [2, 3]}]]"#);
    assert!(is_ragged(&at(rows, "None").expect("rows")));
}

#[test]
fn a_field_of_masked_records_is_missing_where_either_is() {
    let x = r#"[{"a": 1, "b": [1, 2], "c": {"d": "x"}}, None, {"a": None, "b": [], "c": {"d": "y"}}]"#;
    both(x, "'a'", "[1, None, None]");
    both(x, "'b'", "[[1, 2], None, []]");
    both(x, "'c', 'd'", r#"["x", None, "y"]"#);
    both(x, "2, 'c', 'd'", r#""y""#);
    let inside = r#"[[{"a": 1}, None], [], [{"a": None}]]"#;
    both(inside, "'a'", "[[1, None], [], [None]]");
    let deep = r#"[{"r": {"a": 1}}, {"r": None}]"#;
    both(deep, "'r', 'a'", "[1, None]");
}

#[test]
fn errors_say_what_is_wrong_with_a_key() {
    fails(at(USERS, "'nothing'"), &["index", "'nothing'", "id, xy, history"]);
    fails(at(USERS, "'history', 'x'"), &["'x'", "item, n"]);
    fails(at(USERS, "'id', 'x'"), &["'x'", "leads nowhere"]);
    fails(at(USERS, "0, 0"), &["2 axes", "1"]);
    fails(at(USERS, "0, 0, 'xy'"), &["2 axes", "1"]);
    fails(at(USERS, "5"), &["index 5", "axis 0", "size 3", "-3 to 2"]);
    fails(at(USERS, "..., ..., 'id'"), &["two ellipses"]);
    fails(at(USERS, "[True, False]"), &["mask", "2", "3"]);
    fails(at(USERS, "'xy', [[True], [False], [True]]"), &["part 2", "mask of 1", "axis 1, which has 2"]);
    fails(at(USERS, "[0.5]"), &["integer"]);
    fails(at(USERS, "[True, None, True]"), &["missing", "fill_none"]);
    fails(at(USERS, "[0], 'xy', [True, False]"), &["part 3", "second tensor"]);
    fails(at(USERS, "::0"), &["step"]);
    fails(at("{}", "0"), &["1 axes", "0"]);
}

#[test]
fn records_without_fields_are_indexed() {
    check(at("[{}, {}, {}]", "1:"), "[{}, {}]");
    check(at("[{}, {}, {}]", "0"), "{}");
    check(at("[{}, {}, {}]", "[True, False, True]"), "[{}, {}]");
    check(at("[{}, {}]", "None"), "[[{}, {}]]");
}

#[test]
fn reshaping_records_keeps_the_axes_inside_them() {
    let x = value(r#"[{"a": 1, "b": [1, 2]}, {"a": 2, "b": [3, 4]}]"#);
    check(ops::reshape(&x, vec![2_i64, 1]), r#"[[{"a": 1, "b": [1, 2]}], [{"a": 2, "b": [3, 4]}]]"#);
    let x = StructTensor::from_value(&ops::reshape(&x, vec![1_i64, -1]).expect("fits")).expect("records");
    assert_eq!(x.shape().to_dims().as_deref(), Some(&[1, 2][..]));
}
