//! Laws of classes: elementwise ops on rows, on each element alone, at odd offsets; folds of rows; the identity of a fold.

use crate::support::{Draw, check_same, dtypes, examples_of, random, rows, run, takes};
use extenso_core::attrs::{AttrType, AttrValue, Axes};
use extenso_core::{Arg, Class, ExtensionType, OpDef, RowPartition, Tensor, Value, ops};
use extenso_ext::{MaskedTensor, RaggedTensor};
use extenso_testkit::eval::Application;
use extenso_testkit::rng::Rng;
use extenso_types::{DType, DTypeKind};

/// Lengths around the borders of words, vectors and blocks.
const LENGTHS: [usize; 12] = [0, 1, 7, 8, 9, 63, 64, 65, 1023, 1024, 1025, 2500];

/// Ops that are defined for few texts, those of their cases.
const OF_CERTAIN_TEXTS: [&str; 3] = ["string_index", "base64_decode", "hex_decode"];

/// Every op of these classes with each dtype that it takes, and arguments of a length.
fn each(classes: &[Class], dims: &[usize], f: impl Fn(&Application, &[Value], &str)) {
    let mut count = 0;
    for op in extenso_graph::tables().filter(|op| classes.contains(&op.class) && !op.examples.is_empty()) {
        for call in examples_of(op).into_iter().map(|e| e.call) {
            for dtype in dtypes() {
                let mut rng = Rng::new(11);
                let values: Vec<Value> = (0..op.params.len()).map(|i| argument(op, i, dtype, dims, &mut rng)).collect();
                let on = |values: &[Value]| call.with_args(values.iter().map(Arg::from).collect());
                if takes(&on(&values)) {
                    let fails = on(&values).call().is_err();
                    if fails && dtype.kind() == DTypeKind::Text && OF_CERTAIN_TEXTS.contains(&op.name) {
                        continue;
                    }
                    let values = if fails { above_zero(values) } else { values };
                    let on = on(&values);
                    f(&on, &values, &format!("{} of {dtype}{dims:?}", op.name));
                    count += 1;
                }
            }
        }
    }
    assert!(count > 20, "only {count} applications");
}

/// An argument: a condition in front of those that are alike, and no zero to divide integers by.
fn argument(op: &OpDef, i: usize, dtype: DType, dims: &[usize], rng: &mut Rng) -> Value {
    let dtype = if i < op.like { DType::Bool } else { dtype };
    let value = random(dtype, dims, Draw::Wide, rng);
    if i + 1 < op.params.len() || !dtype.is_integer() || op.params.len() < 2 {
        return value;
    }
    let ones = ops::ones_like(&value).expect("numbers");
    ops::where_(ops::equal(&value, ops::zeros_like(&value).expect("numbers")).expect("numbers"), ones, value)
        .expect("numbers")
}

/// The arguments with one for each element of the last that is not above zero: powers of integers.
fn above_zero(mut values: Vec<Value>) -> Vec<Value> {
    if let Some(last) = values.last_mut() {
        let above = ops::greater(&*last, 0).expect("numbers");
        *last = ops::where_(above, &*last, 1).expect("numbers");
    }
    values
}

const ELEMENTWISE: [Class; 4] =
    [Class::UnaryElementwise, Class::BinaryElementwise, Class::Comparison, Class::Elementwise];

fn slice(value: &Value, start: usize, len: usize) -> Value {
    value.tensor().expect("a tensor").slice_rows(start, len).expect("in range").into()
}

#[test]
fn an_elementwise_op_on_rows_is_the_op_on_each_row() {
    let (lengths, partition) = rows();
    each(&ELEMENTWISE, &[79], |call, values, what| {
        let ragged = |v: &Value| RaggedTensor::from_partition(v.clone(), partition.clone()).expect("fits").into_value();
        let whole = run(&call.with_args(values.iter().map(|v| ragged(v).into()).collect()), what);
        let whole = RaggedTensor::from_value(&whole).expect("rows");
        let mut start = 0;
        for (i, len) in lengths.iter().enumerate() {
            let row = call.with_args(values.iter().map(|v| slice(v, start, *len).into()).collect());
            check_same(&whole.row(i).expect("a row"), &run(&row, what), &format!("{what}, row {i}"));
            start += len;
        }
    });
}

#[test]
fn an_elementwise_op_is_the_op_on_each_element() {
    for length in LENGTHS {
        each(&ELEMENTWISE, &[length], |call, values, what| {
            let whole = run(call, what);
            for i in (0..length).filter(|i| i % 61 == 0 || i + 20 > length) {
                let one = call.with_args(values.iter().map(|v| slice(v, i, 1).into()).collect());
                check_same(&slice(&whole, i, 1), &run(&one, what), &format!("{what}, element {i}"));
            }
        });
    }
}

#[test]
fn an_elementwise_op_does_not_depend_on_where_its_argument_lies() {
    each(&ELEMENTWISE, &[1100], |call, values, what| {
        let shifted: Vec<Value> = values.iter().map(|v| slice(v, 3, 1090)).collect();
        let whole = run(call, what);
        let part = run(&call.with_args(shifted.iter().map(Arg::from).collect()), what);
        check_same(&part, &slice(&whole, 3, 1090), what);
    });
}

fn reduce(call: &Application, x: &Value, axis: Axes, keepdims: bool, what: &str) -> Value {
    let attrs = [AttrType::to_attr(&axis), AttrValue::Bool(keepdims)];
    let attrs = (call.op.attrs.parse)(&attrs).expect("a reduction");
    run(&Application { attrs, ..call.with_args(vec![x.into()]) }, what)
}

#[test]
fn a_reduction_of_rows_is_the_reduction_of_each_row() {
    let lengths = [1, 0, 2, 7, 16, 33, 0, 1024, 1025, 3000, 5];
    let total = lengths.iter().sum();
    let partition = RowPartition::from_lengths(lengths).expect("proven");
    each(&[Class::Reduction], &[total], |call, values, what| {
        let wide = &values[0];
        let dtype = wide.tensor().expect("a tensor").dtype();
        // In the whole range most sums of floats are NaN.
        let unit = Tensor::from_vec(Rng::new(3).f32s(total));
        let unit = if dtype.is_float() { ops::cast(unit, dtype).expect("floats") } else { wide.clone() };
        for values in [wide, &unit] {
            let ragged = RaggedTensor::from_partition(values.clone(), partition.clone()).expect("fits").into_value();
            let whole = reduce(call, &ragged, Axes::List(vec![-1]), false, what);
            // Of texts an empty row has none.
            let masked = MaskedTensor::from_value(&whole).ok();
            let whole = masked.as_ref().map_or(whole, |masked| masked.values().clone());
            let mut start = 0;
            for (i, len) in lengths.into_iter().enumerate() {
                let row = slice(values, start, len);
                if let Some(masked) = &masked {
                    let there = Tensor::bools(&[1], &[len > 0]).expect("a bit").into();
                    check_same(
                        &slice(&masked.mask().clone().into(), i, 1),
                        &there,
                        &format!("{what}, row {i} of {len}"),
                    );
                    if len == 0 {
                        continue;
                    }
                }
                let alone = reduce(call, &row, Axes::List(vec![-1]), true, what);
                check_same(&slice(&whole, i, 1), &alone, &format!("{what}, row {i} of {len}"));
                start += len;
            }
        }
    });
}

#[test]
fn a_fold_of_an_empty_row_is_its_identity() {
    each(&[Class::Reduction], &[1], |call, values, what| {
        let keep = |axis: Axes, x: &Value| reduce(call, x, axis, false, what);
        let one = &values[0];
        let dtype = one.tensor().expect("a tensor").dtype();
        let rows = RaggedTensor::from_row_lengths(slice(one, 0, 0), &Tensor::from_vec(vec![0_i64, 0])).expect("rows");
        let by_row = keep(Axes::List(vec![1]), &rows.into_value());
        if dtype.kind() == DTypeKind::Text {
            let missing = extenso_ext::is_none(&by_row, None).expect("a mask");
            return check_same(&missing, &Tensor::bools(&[2], &[true, true]).expect("bits").into(), what);
        }
        let empty = keep(Axes::All, &slice(one, 0, 0));
        // The same for a dense row, a ragged row, and a row of a matrix.
        let matrix = slice(one, 0, 0).tensor().expect("a tensor").with_dims(&[2, 0]).expect("empty");
        check_same(&by_row, &keep(Axes::List(vec![1]), &matrix.into()), what);
        check_same(&by_row, &ops::broadcast_to(&empty, vec![2_i64]).expect("repeats"), what);
        // op(identity, x) = op(x); in the dtype of the elements, where an empty row has the identity of that.
        let identity = if dtype == DType::Bool { ops::cast(&empty, DType::Bool) } else { ops::cast(&empty, dtype) };
        let identity = ops::reshape(identity.expect("numbers"), vec![1_i64]).expect("one");
        let x = if dtype.is_float() {
            ops::add(random(dtype, &[1], Draw::Small, &mut Rng::new(5)), 1).expect("numbers")
        } else {
            one.clone()
        };
        let both = ops::concat(vec![identity, x.clone()], 0).expect("joins");
        check_same(&keep(Axes::All, &both), &keep(Axes::All, &x), what);
    });
}
