//! Structural ops on records: records move as a tensor of their numbers does, whatever their fields are.

mod support;

use extenso_core::{Answer, Arg, Call, Class, ExtensionType, Outputs, Target, Tensor, Value, call_one, on, ops};
use extenso_derive::ExtensionType;
use extenso_ext::{Literal, RaggedTensor, StructTensor, index, to_literal};
use extenso_types::{Result, Shape, TypeDef};
use std::sync::Arc;
use support::{check, fails, traced, value};

/// A type of a user, which moves as its values do.
#[derive(ExtensionType, Clone)]
#[extenso(name = "tests/Wrapped", handlers = register)]
struct Wrapped {
    #[extenso(itself)]
    values: Value,
}

fn register(def: &Arc<TypeDef>) {
    on(Target::Class(Class::Structural), def, "Wrapped structure", on_values);
    on(Target::Class(Class::Segment), def, "Wrapped structure", on_values);
}

fn on_values(call: &Call<'_>) -> Answer {
    let args: Result<Vec<Arg>> = call.args.iter().map(unwrapped).collect();
    let values = call_one(call.op, &args?, call.attrs)?;
    Ok(Some(Outputs::from_iter([Wrapped { values }.into_value()])))
}

fn unwrapped(arg: &Arg) -> Result<Arg> {
    Ok(match arg {
        Arg::Value(value) => Arg::Value(Wrapped::from_value(value).map_or_else(|_| value.clone(), |x| x.values)),
        Arg::List(items) => Arg::List(items.iter().map(unwrapped).collect::<Result<_>>()?),
        Arg::Scalar(_) => arg.clone(),
    })
}

fn records(shape: &[usize]) -> Value {
    with_inner_axes(shape, true)
}

/// Records of this shape, numbered, with fields of every kind that the shape allows; those with further axes if wanted.
fn with_inner_axes(shape: &[usize], wanted: bool) -> Value {
    let count: usize = shape.iter().product();
    let numbers: Vec<i64> = (0..i64::try_from(count).expect("few")).collect();
    let n = Tensor::new(shape, &numbers).expect("as many");
    let pair = ops::add(ops::expand_dims(&n, -1).expect("an axis"), Tensor::from_vec(vec![0_i64, 100])).expect("fits");
    let there = ops::not_equal(ops::remainder(&n, 2).expect("integers"), 0).expect("fits");
    let odd = extenso_ext::missing::mask(&n.clone().into(), &there).expect("fits");
    let inner =
        StructTensor::from_fields(Shape::known(shape), [("s", ops::as_string(&n).expect("text"))]).expect("fits");
    let mut fields = vec![("n", Value::from(n.clone())), ("pair", pair), ("odd", odd), ("inner", inner.into_value())];
    if !wanted {
        fields.remove(1);
    }
    if shape.len() == 1 {
        let rows = RaggedTensor::from_row_lengths(
            ops::take(&n, Tensor::from_vec(numbers.clone()), 0).expect("fits"),
            &Tensor::from_vec(vec![1_i64; count]),
        );
        fields.push(("rows", rows.expect("rows").into_value()));
    }
    StructTensor::from_fields(Shape::known(shape), fields).expect("fits").into_value()
}

/// The literal with each number replaced by the record of that number.
fn numbered(numbers: &Literal, records: &[Literal]) -> Literal {
    match numbers {
        Literal::List(items) => Literal::List(items.iter().map(|item| numbered(item, records)).collect()),
        Literal::Int(i) => records[usize::try_from(*i).expect("a number")].clone(),
        other => other.clone(),
    }
}

/// Checks an op on records against the op on their numbers, on data and while tracing.
fn moves(shape: &[usize], op: impl Fn(&Value) -> Result<Value>) {
    let x = records(shape);
    let numbers = index(&x, &["n".into()]).expect("a field");
    let all = to_literal(&ops::reshape(&numbers, vec![-1_i64]).expect("one axis")).expect("data");
    let Literal::List(all) = all else { panic!("a list") };
    let flat = if shape.len() == 1 { x.clone() } else { ops::reshape(&x, vec![-1_i64]).expect("one axis") };
    let Literal::List(each) = to_literal(&flat).expect("data") else { panic!("a list") };
    assert_eq!(all.len(), each.len());
    let wanted = numbered(&to_literal(&op(&numbers).expect("numbers move")).expect("data"), &each).to_string();
    let found = to_literal(&op(&x).expect("records move")).expect("data");
    assert_eq!(found.to_string(), wanted);
    // Several axes of unknown sizes become one only where the fields have no further ones.
    let plain = with_inner_axes(shape, shape.len() == 1);
    let seen = traced(std::slice::from_ref(&plain), |args| op(&args[0])).expect("traced");
    let data = to_literal(&op(&plain).expect("records move")).expect("data");
    assert_eq!(to_literal(&seen).expect("data").to_string(), data.to_string());
}

fn vector(items: &[i64]) -> Tensor {
    Tensor::from_vec(items.to_vec())
}

#[test]
fn a_vector_of_records_moves_as_its_numbers_do() {
    let n: &[usize] = &[4];
    moves(n, |x| ops::take(x, vector(&[3, 0, -1]), 0));
    moves(n, |x| ops::take(x, Tensor::new(&[2, 2], &[0_i64, 1, 3, 3])?, 0));
    moves(n, |x| ops::take(x, 2, 0));
    moves(n, |x| ops::take_along_axis(x, vector(&[2, 2, 0]), 0));
    moves(n, |x| ops::slice(x, 0, -1, None, -2));
    moves(n, |x| ops::flip(x, 0));
    moves(n, |x| ops::roll(x, vec![1], 0));
    moves(n, |x| ops::repeat(x, 2, Some(0)));
    moves(n, |x| ops::repeat(x, vector(&[2, 0, 1, 0]), Some(0)));
    moves(n, |x| ops::tile(x, vec![2]));
    moves(n, |x| ops::boolean_mask(x, Tensor::bools(&[4], &[true, false, false, true])?, 0));
    moves(n, |x| ops::concat(vec![x.clone(), x.clone()], 0));
    moves(n, |x| ops::stack(vec![ops::take(x, 0, 0)?, ops::take(x, 3, 0)?], 0));
    moves(n, |x| ops::expand_dims(x, 0));
    moves(n, |x| ops::expand_dims(x, 1));
    moves(n, |x| ops::where_(Tensor::bools(&[4], &[true, false, true, false])?, x, ops::flip(x, 0)?));
    moves(n, |x| ops::where_(Tensor::bools(&[4], &[true, false, true, false])?, x, ops::take(x, 1, 0)?));
    moves(n, |x| ops::where_(Tensor::bools(&[], &[false])?, x, ops::flip(x, 0)?));
}

#[test]
fn records_of_two_axes_move_as_their_numbers_do() {
    let n: &[usize] = &[2, 3];
    moves(n, |x| ops::transpose(x, None));
    moves(n, |x| ops::flip(x, [0_i64, 1]));
    moves(n, |x| ops::flip(x, 1));
    moves(n, |x| ops::roll(x, vec![1], 1));
    moves(n, |x| ops::tile(x, vec![2, 1]));
    moves(n, |x| ops::repeat(x, 2, Some(1)));
    moves(n, |x| ops::take_along_axis(x, Tensor::new(&[2, 2], &[0_i64, 2, 1, -1])?, 1));
    moves(n, |x| ops::concat(vec![x.clone(), x.clone()], 1));
    moves(n, |x| ops::stack(vec![x.clone(), x.clone()], 1));
    moves(n, |x| ops::boolean_mask(x, Tensor::bools(&[2, 3], &[true, false, true, false, false, true])?, 0));
    moves(n, |x| ops::expand_dims_at(x, vec![0_i64, 2]));
    moves(n, |x| ops::take(x, vector(&[2, 0]), 1));
    moves(n, |x| ops::where_(Tensor::bools(&[3], &[true, false, true])?, x, ops::flip(x, 0)?));
    moves(&[2, 1], |x| ops::squeeze(x, vec![1_i64]));
    moves(&[1, 3], |x| ops::broadcast_like(x, ops::zeros(vec![2, 3], extenso_types::DType::I64)?));
}

#[test]
fn known_sizes_give_parts() {
    let x = records(&[4]);
    let parts = ops::split(&x, 2, 0).expect("two parts");
    check(index(&parts[1], &["n".into()]), "[2, 3]");
    let each = ops::unstack(&x, 0).expect("four records");
    check(index(&each[3], &["rows".into()]), "[3]");
    check(ops::indices_along(&x, 0), "[0, 1, 2, 3]");
    let wide = records(&[2, 3]);
    check(
        index(&ops::broadcast_to(ops::take(&wide, 0, 0).expect("a row"), vec![2_i64, 3]).expect("fits"), &["n".into()]),
        "[[0, 1, 2], [0, 1, 2]]",
    );
    check(ops::indices_along(&wide, 1), "[0, 1, 2]");
}

#[test]
fn rows_of_records_move_as_rows_of_numbers_do() {
    let x = || value(r#"[[{"n": 0, "t": ["a"]}, {"n": 1, "t": []}], [], [{"n": 2, "t": ["b", "c"]}]]"#);
    let numbers = |y: Result<Value>, wanted: &str| {
        let y = y.expect("moved");
        check(index(&y, &["n".into()]), wanted);
        index(&y, &["t".into()]).expect("both fields move");
    };
    numbers(ops::flip(x(), 1), "[[1, 0], [], [2]]");
    numbers(ops::boolean_mask(x(), value("[[False, True], [], [True]]"), 0), "[[1], [], [2]]");
    numbers(ops::boolean_mask(x(), value("[False, True, True]"), 0), "[[], [2]]");
    numbers(ops::concat(vec![x(), x()], 1), "[[0, 1, 0, 1], [], [2, 2]]");
    numbers(ops::take_along_axis(x(), value("[[1, 1], [], [0]]"), 1), "[[1, 1], [], [2]]");
    numbers(ops::repeat(x(), 2, Some(0)), "[[0, 1], [0, 1], [], [], [2], [2]]");
    numbers(
        ops::where_(value("[[True, False], [], [False]]"), x(), ops::flip(x(), 1).expect("flipped")),
        "[[0, 0], [], [2]]",
    );
    numbers(
        ops::where_(
            value("[True, False, True]"),
            ops::flip(value(r#"[{"n": 1, "t": []}, {"n": 2, "t": []}, {"n": 3, "t": []}]"#), 0).expect("flipped"),
            value(r#"{"n": 9, "t": []}"#),
        ),
        "[3, 9, 1]",
    );
    numbers(ops::take(value(r#"[{"n": 0, "t": ["a"]}, {"n": 1, "t": []}]"#), value("[1, None]"), 0), "[1, None]");
}

#[test]
fn fields_of_any_type_move() {
    let wrapped = Wrapped { values: value("[[1, 2], [], [3]]") }.into_value();
    let x = StructTensor::from_fields(Shape::known(&[3]), [("w", wrapped)]).expect("fits").into_value();
    let moved = |y: Result<Value>, wanted: &str| {
        let field = index(&y.expect("moved"), &["w".into()]).expect("a field");
        check(Ok(Wrapped::from_value(&field).expect("of the type").values), wanted);
    };
    moved(ops::slice(&x, 0, 1, None, 1), "[[], [3]]");
    moved(ops::take(&x, vector(&[2, 0]), 0), "[[3], [1, 2]]");
    moved(ops::flip(&x, 0), "[[3], [], [1, 2]]");
    moved(ops::concat(vec![x.clone(), x.clone()], 0), "[[1, 2], [], [3], [1, 2], [], [3]]");
    moved(ops::boolean_mask(&x, value("[True, True, False]"), 0), "[[1, 2], []]");
    moved(ops::where_(value("[True, False, True]"), &x, ops::flip(&x, 0).expect("flipped")), "[[1, 2], [], [3]]");
    moved(ops::repeat(&x, 2, Some(0)), "[[1, 2], [1, 2], [], [], [3], [3]]");
}

#[test]
fn records_that_do_not_fit_are_errors() {
    let (x, y) = (value(r#"[{"a": 1}, {"a": 2}]"#), value(r#"[{"b": 1}, {"b": 2}]"#));
    let condition = || value("[True, False]");
    fails(ops::where_(condition(), &x, &y), &["where", "[a]", "[b]", "the same fields"]);
    fails(ops::where_(condition(), &x, 0), &["where"]);
    fails(ops::squeeze(&x, vec![0_i64]), &["squeeze", "2"]);
    fails(ops::transpose(&x, Some(vec![1])), &["transpose"]);
    fails(ops::take_along_axis(&x, vector(&[5]), 0), &["take_along_axis", "5"]);
    fails(ops::broadcast_to(&x, vec![3]), &["broadcast_to"]);
    fails(ops::indices_along(&x, 1), &["indices_along", "axis"]);
}
