//! Values in literals keep their dtype: a field shares their memory, a list joins them.

mod support;

use extenso_core::{ExtensionType, Tensor, Value, ops};
use extenso_ext::{Literal, StructTensor, constant, constant_of, index};
use extenso_types::DType;
use support::{check, fails, value};

fn floats(items: &[f32]) -> Value {
    Tensor::from_vec(items.to_vec()).into()
}

fn spec_at(x: &Value, name: &str) -> String {
    index(x, &[name.into()]).expect("a field").spec().expect("known").to_string()
}

#[test]
fn a_value_in_a_field_is_shared() {
    let given = floats(&[1.5, 2.5]);
    let x = constant(Literal::record([("a", Literal::from(given.clone())), ("b", 1.into())])).expect("a record");
    let address = |value: &Value| value.tensor().expect("dense").data().expect("data").addresses();
    let found = index(&x, &["a".into()]).expect("a field");
    assert_eq!((address(&found), found.spec().expect("known").to_string().as_str()), (address(&given), "f32[2]"));
    let rows = constant(Literal::record([("r", Literal::from(value("[[1, None], []]")))])).expect("a record");
    check(Ok(rows), r#"{"r": [[1, None], []]}"#);
}

#[test]
fn values_in_a_list_are_joined() {
    let list = |items: &[&[f32]]| constant(items.iter().map(|item| Literal::from(floats(item))).collect::<Vec<_>>());
    let dense = list(&[&[1.5, 2.0], &[3.0, 4.0]]).expect("dense");
    assert_eq!(dense.spec().expect("known").to_string(), "f32[2, 2]");
    let rows = list(&[&[1.5, 2.0], &[], &[3.0]]).expect("rows");
    assert_eq!(extenso_ext::dtype_of(&rows.spec().expect("known")), Some(DType::F32));
    check(Ok(rows), "[[1.5, 2.0], [], [3.0]]");
    let small = |text: &str| Literal::from(ops::cast(value(text), DType::I8).expect("cast"));
    let nested = |items: Vec<Literal>| constant(items).expect("joined");
    check(Ok(nested(vec![small("[[1, 2], []]"), small("[[3]]")])), "[[[1, 2], []], [[3]]]");
    check(Ok(nested(vec![small("[[1, 2]]"), small("[[3], [4]]")])), "[[[1, 2]], [[3], [4]]]");
    check(Ok(nested(vec![small("[1]"), Literal::None, small("[2, 3]")])), "[[1], None, [2, 3]]");
    check(Ok(nested(vec![small("[1, None]"), small("[2, 3]")])), "[[1, None], [2, 3]]");
    check(Ok(nested(vec![Literal::List(vec![small("[1]")]), Literal::List(vec![])])), "[[[1]], []]");
}

#[test]
fn records_of_values_are_joined_field_by_field() {
    let record = |n: i64, items: &[f32]| Literal::record([("n", Literal::Int(n)), ("a", floats(items).into())]);
    let x = constant(vec![record(1, &[1.5]), record(2, &[2.5, 3.5])]).expect("records");
    check(Ok(x.clone()), r#"[{"n": 1, "a": [1.5]}, {"n": 2, "a": [2.5, 3.5]}]"#);
    assert!(spec_at(&x, "a").contains("f32"), "{}", spec_at(&x, "a"));
    let made = StructTensor::from_value(&x).expect("records").into_value();
    let one = |i: i64| Literal::from(ops::take(&made, i, 0).expect("a record"));
    check(constant(vec![one(1), one(0)]), r#"[{"n": 2, "a": [2.5, 3.5]}, {"n": 1, "a": [1.5]}]"#);
}

#[test]
fn a_value_beside_anything_else_is_its_literal() {
    let x = |items: Vec<Literal>| constant(items);
    check(x(vec![floats(&[1.5]).into(), vec![2.0, 3.0].into()]), "[[1.5], [2.0, 3.0]]");
    check(x(vec![floats(&[1.5]).into(), value("[2, 3]").into()]), "[[1.5], [2.0, 3.0]]");
    check(x(vec![Value::from(Tensor::scalar(1.5_f32)).into(), 2.into()]), "[1.5, 2.0]");
    fails(x(vec![floats(&[1.5]).into(), value("[[2.0]]").into()]), &["constant", "equal nesting"]);
    fails(x(vec![floats(&[1.5]).into(), "x".into()]), &["constant", "[1]"]);
    let spec = value("[[1.5], [2.5, 3.5]]").spec().expect("known");
    let list = Literal::from(vec![Literal::from(floats(&[1.5])), Literal::from(floats(&[4.5, 5.5]))]);
    check(constant_of(list, &spec), "[[1.5], [4.5, 5.5]]");
}
