//! Struct tensors: fields, paths, updates, and records that move.

mod support;

use extenso_core::{ExtensionType, Provenance, Tensor, Value, ops, pack};
use extenso_ext::{RaggedTensor, StructTensor, field_value, init};
use extenso_types::{Path, Shape, TypeName};
use support::{check, fails, traced, value};

const USERS: &str = r#"[
    {"id": 7, "history": [{"item": "a", "n": 1}, {"item": "b", "n": 2}]},
    {"id": 8, "history": []},
    {"id": 9, "history": [{"item": "c", "n": 3}]}
]"#;

fn users() -> StructTensor {
    StructTensor::from_value(&value(USERS)).expect("records")
}

fn at(path: &str) -> extenso_types::Result<Value> {
    users().field_value(&path.parse::<Path>().expect("a path"))
}

fn addresses(value: &Value) -> Vec<usize> {
    let mut leaves = Vec::new();
    value.push_leaves(&mut leaves).expect("taken apart");
    let tensors = leaves.iter().filter_map(|leaf| leaf.tensor().ok());
    tensors.flat_map(|t| t.data().expect("data").addresses()).collect()
}

#[test]
fn fields_have_the_outer_shape_of_the_records() {
    let of = |fields: Vec<(&str, Value)>| StructTensor::from_fields(Shape::known(&[2]), fields);
    assert!(of(vec![("a", value("[1, 2]")), ("b", value("[[1], [2, 3]]")), ("c", value("[[1, 2], [3, 4]]"))]).is_ok());
    fails(of(vec![("a", value("[1, 2]")), ("b", value("[1, 2, 3]"))]), &["field 'b'", "3", "2"]);
    fails(of(vec![("a", value("1"))]), &["field 'a'", "scalar"]);
    fails(of(vec![("a", value("[1, 2]")), ("a", value("[1, 2]"))]), &["field 'a'", "twice"]);
    fails(of(vec![("", value("[1, 2]"))]), &["name", "empty"]);
    let matrix = |field: &str| StructTensor::from_fields(Shape::known(&[2, 2]), [("a", value(field))]);
    assert!(matrix("[[1, 2], [3, 4]]").is_ok());
    fails(matrix("[[1, 2, 3], [4, 5, 6]]"), &["field 'a'", "[2, 3]"]);
    fails(matrix("[[1], [2, 3]]"), &["field 'a'", "ragged"]);
}

#[test]
fn a_field_of_lists_keeps_their_rows() {
    check(at("id"), "[7, 8, 9]");
    check(at("history[*].item"), r#"[["a", "b"], [], ["c"]]"#);
    let users = users();
    let of = |path: &str| users.field_value(&path.parse::<Path>().expect("a path")).expect(path);
    let rows = |path: &str| RaggedTensor::from_value(&of(path)).expect("ragged").partition().clone();
    assert!(rows("history[*].item").same(&rows("history")));
    assert!(of("history@row_splits").partition().expect("a partition").same(&rows("history")));
    fails(at("history.item"), &["'history.item'", "[*].item"]);
    fails(at("nothing"), &["'nothing'", "id, history"]);
    fails(at("id.x"), &["'id.x'", "i64"]);
    fails(at("history[0]"), &["[*]"]);
}

#[test]
fn what_is_missing_outside_is_missing_inside() {
    let x = value(r#"[{"a": 1}, None, {"a": 3}]"#);
    check(field_value(&x, &"a".parse().expect("a path")), "[1, None, 3]");
    check(field_value(&x, &"@mask".parse().expect("a path")), "[True, False, True]");
}

#[test]
fn every_leaf_of_the_spec_is_a_path_to_its_component() {
    let x = users().into_value();
    let spec = x.spec().expect("a spec");
    let paths: Vec<_> = spec.leaves(&Path::root()).into_iter().map(|(path, _)| path).collect();
    let text: Vec<_> = paths.iter().map(ToString::to_string).collect();
    assert_eq!(text, ["id", "history[*].item", "history[*].n", "history@row_splits"]);
    paths.iter().for_each(|path| assert!(field_value(&x, path).is_ok(), "{path}"));
}

#[test]
fn updating_a_field_keeps_the_buffers_of_the_others() {
    let before = users();
    let after = before.with_updates([("id", value("[1, 2, 3]")), ("new", value("[0.5, 1.5, 2.5]"))]).expect("fits");
    assert_eq!(after.field_names().collect::<Vec<_>>(), ["id", "history", "new"]);
    assert_eq!(addresses(before.field("history").expect("there")), addresses(after.field("history").expect("there")));
    fails(before.with_updates([("new", value("[1, 2]"))]), &["field 'new'", "2", "3"]);
    let less = after.without(["id"]).expect("there");
    assert_eq!(less.field_names().collect::<Vec<_>>(), ["history", "new"]);
    let only = after.with_only(["new", "id"]).expect("there");
    assert_eq!(only.field_names().collect::<Vec<_>>(), ["new", "id"]);
    fails(after.without(["x"]), &["'x'", "id, history, new"]);
    fails(after.with_only(["x"]), &["'x'"]);
}

#[test]
fn many_updates_are_one_after_the_other() {
    let column = |n: usize| value(&format!("[{n}, {n}]"));
    let name = |i: usize| format!("f{i}");
    let wide = StructTensor::from_fields(Shape::known(&[2]), (0..20).map(|i| (name(i), column(i)))).expect("fits");
    // Some are replaced, some twice, some are new, some new ones are replaced.
    let updates: Vec<(String, Value)> = (10..30).chain(15..35).map(|i| (name(i), column(100 + i))).collect();
    let at_once = wide.with_updates(updates.clone()).expect("fits");
    let each = updates.iter().try_fold(wide.clone(), |x, (name, new)| x.with_updates([(name.as_str(), new.clone())]));
    assert_eq!(at_once.to_string(), each.expect("fits").to_string());
    assert_eq!(at_once.field_names().collect::<Vec<_>>(), (0..35).map(name).collect::<Vec<_>>());
    let odd = updates.into_iter().chain([("odd".to_string(), value("[1, 2, 3]"))]);
    fails(wide.with_updates(odd), &["field 'odd'", "3", "2"]);
    let backwards: Vec<String> = (0..35).rev().map(name).collect();
    let turned = at_once.with_only(backwards.iter().map(String::as_str)).expect("there");
    assert_eq!(turned.field_names().collect::<Vec<_>>(), backwards);
    fails(wide.with_only(backwards.iter().map(String::as_str)), &["there is no field 'f34'"]);
    // Joined by name, wherever the fields stand.
    let joined = ops::concat(vec![at_once.into_value(), turned.into_value()], 0).expect("alike");
    check(field_value(&joined, &"f3".parse::<Path>().expect("a path")), "[3, 3, 3, 3]");
}

#[test]
fn rebuilding_from_leaves_is_the_value() {
    for text in [USERS, r#"{"a": 1, "b": [1, 2]}"#, "[{}, {}, {}]", "{}", r#"[[{"a": 1}], [{"a": 2}]]"#] {
        let x = value(text);
        let mut leaves = Vec::new();
        x.push_leaves(&mut leaves).expect("taken apart");
        let spec = x.spec().expect("a spec");
        let again = pack(&spec, &mut leaves.into_iter(), Provenance::Outside).expect(text);
        assert!(again.spec().expect("a spec").equals(&spec), "{text}");
        check(Ok(again), text);
    }
}

#[test]
fn records_without_fields_keep_their_shape() {
    let x = StructTensor::from_value(&value("[{}, {}, {}]")).expect("records");
    assert_eq!((x.shape().to_dims().as_deref(), x.fields().len()), (Some(&[3][..]), 0));
    check(ops::take(x.clone().into_value(), value("[0, 1]"), 0), "[{}, {}]");
    check(ops::concat(vec![x.clone().into_value(), x.into_value()], 0), "[{}, {}, {}, {}, {}, {}]");
}

#[test]
fn records_without_fields_do_not_take_the_memory() {
    let none: [(&str, Value); 0] = [];
    for sizes in [&[1 << 40][..], &[1 << 60, 1 << 60]] {
        assert!(StructTensor::from_fields(Shape::known(sizes), none.clone()).is_err(), "{sizes:?}");
    }
}

#[test]
fn records_move_field_by_field() {
    let x = value(r#"[{"a": 1, "b": [1, 2]}, {"a": 2, "b": []}, {"a": 3, "b": [3]}]"#);
    check(ops::take(&x, value("[2, 0]"), 0), r#"[{"a": 3, "b": [3]}, {"a": 1, "b": [1, 2]}]"#);
    check(ops::take(&x, 1, 0), r#"{"a": 2, "b": []}"#);
    check(ops::slice(&x, 0, 1, None, 1), r#"[{"a": 2, "b": []}, {"a": 3, "b": [3]}]"#);
    let both = ops::concat(vec![x.clone(), ops::take(&x, value("[0]"), 0).expect("there")], 0);
    check(both, r#"[{"a": 1, "b": [1, 2]}, {"a": 2, "b": []}, {"a": 3, "b": [3]}, {"a": 1, "b": [1, 2]}]"#);
    fails(ops::concat(vec![x.clone(), value(r#"[{"c": 1}]"#)], 0), &["concat", "a, b", "c"]);
    fails(ops::take(&x, value("[5]"), 0), &["take", "field 'a'", "5"]);
    fails(ops::add(&x, 1), &["add", "extenso/StructTensor"]);
    let history = at("history").expect("rows");
    check(ops::take(history, value("[2, 1]"), 0), r#"[[{"item": "c", "n": 3}], []]"#);
    let picked = traced(&[users().into_value()], |args| {
        let history = field_value(&args[0], &"history".parse::<Path>()?)?;
        ops::take(history, value("[2, 1]"), 0)
    });
    check(picked, r#"[[{"item": "c", "n": 3}], []]"#);
}

#[test]
fn features_of_records_are_traced_as_they_run() {
    let feature = |args: &[Value]| {
        let n = field_value(&args[0], &"history[*].n".parse::<Path>()?)?;
        ops::sum(ops::multiply(n, 10)?, 1, false)
    };
    check(feature(&[users().into_value()]), "[30, 0, 30]");
    check(traced(&[users().into_value()], feature), "[30, 0, 30]");
}

#[test]
fn types_are_known_by_name_after_init() {
    init();
    for name in ["extenso/RaggedTensor", "extenso/MaskedTensor", "extenso/StructTensor"] {
        let name: TypeName = name.parse().expect("a name");
        assert!(extenso_core::lookup(&name).is_some_and(|def| extenso_core::behavior(&def).is_some()), "{name}");
    }
}

#[test]
fn a_field_may_be_of_any_type() {
    let x = value(r#"[{"p": {"q": [1, None]}}, {"p": {"q": [3]}}]"#);
    check(field_value(&x, &"p.q".parse().expect("a path")), "[[1, None], [3]]");
    let tensor = Tensor::from_vec(vec![1.0, 2.0]);
    let x = StructTensor::from_value(&x).expect("records").with_updates([("t", tensor)]).expect("fits");
    check(x.field_value(&"t".parse().expect("a path")), "[1.0, 2.0]");
}
