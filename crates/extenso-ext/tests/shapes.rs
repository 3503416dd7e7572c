//! Shapes, sizes and elements by several positions, of every type and while tracing.

use extenso_core::{ExtensionType, Tensor, Value, ops};
use extenso_ext::{MaskedTensor, StructTensor, constant, gather_nd, shape, size, to_literal};
use extenso_types::{Result, Shape};

fn dense(dims: &[usize]) -> Value {
    let n: usize = dims.iter().product();
    let all: Vec<i64> = (0..n).map(|i| i64::try_from(i).expect("few")).collect();
    Tensor::new(dims, &all).expect("as many").into()
}

fn lists() -> Value {
    constant(vec![vec![vec![1, 2], vec![]], vec![], vec![vec![3], vec![4, 5, 6]]]).expect("lists")
}

fn text(x: Result<Value>) -> String {
    x.and_then(|x| to_literal(&x)).map_or_else(|e| format!("error: {e}"), |x| x.to_string())
}

fn records(of: Value, dims: &[usize]) -> Value {
    StructTensor::from_fields(Shape::known(dims), [("a", of)]).expect("records").into_value()
}

#[test]
fn the_shape_has_the_size_of_each_axis() {
    assert_eq!(text(shape(&dense(&[2, 0, 3]))), "[2, 0, 3]");
    assert_eq!(text(shape(&dense(&[]))), "[]");
    assert_eq!(text(shape(&records(lists(), &[3]))), "[3]");
    let masked = MaskedTensor::new(dense(&[2, 3]), Tensor::bools(&[2], &[true, false]).expect("bits")).expect("masked");
    assert_eq!(text(shape(&masked.into_value())), "[2, 3]");
    let error = text(shape(&lists()));
    assert!(error.contains("axis 1 is ragged") && error.contains("num"), "{error}");
}

#[test]
fn the_size_counts_what_is_in_rows() {
    assert_eq!(text(size(&dense(&[2, 3]))), "6");
    assert_eq!(text(size(&dense(&[]))), "1");
    assert_eq!(text(size(&lists())), "6");
    assert_eq!(text(size(&ops::slice(lists(), 0, 1, Some(vec![3_i64]), 1).expect("rows"))), "4");
    assert_eq!(text(size(&records(lists(), &[3]))), "3");
}

#[test]
fn each_vector_of_positions_is_an_element() {
    let x = dense(&[2, 3, 4]);
    let at = |dims: &[usize], all: &[i64]| Value::from(Tensor::new(dims, all).expect("as many"));
    assert_eq!(text(gather_nd(&x, &at(&[3], &[1, -1, 0]))), "20");
    assert_eq!(text(gather_nd(&x, &at(&[2, 2], &[0, 0, 1, 2]))), "[[0, 1, 2, 3], [20, 21, 22, 23]]");
    assert_eq!(text(gather_nd(&x, &at(&[1, 2, 3], &[0, 1, 2, -1, -1, -1]))), "[[6, 23]]");
    assert_eq!(text(gather_nd(&lists(), &at(&[2, 2], &[0, 0, 2, 1]))), "[[1, 2], [4, 5, 6]]");
    assert_eq!(text(gather_nd(&lists(), &at(&[1, 1, 3], &[2, -1, 0]))), "[[4]]");
    let cut = Tensor::from_vec(vec![0_i64, 2, 2, 3]);
    let rows =
        extenso_ext::RaggedTensor::from_row_splits(at(&[3, 3], &[1, -1, 0, 0, 0, 1, 0, 1, 2]), &cut).expect("rows");
    assert_eq!(text(gather_nd(&x, &rows.into_value())), "[[20, 1], [], [6]]");
    assert_eq!(text(gather_nd(&dense(&[3]), &at(&[0, 1], &[]))), "[]");
    for (indices, wanted) in [
        (at(&[1, 2], &[0, 3]), "3"),
        (at(&[1, 2], &[2, 0]), "2"),
        (at(&[1, 4], &[0, 0, 0, 0]), "4 positions are given for 3 axes"),
        (at(&[1, 0], &[]), "at least one"),
        (Tensor::from_vec(vec![0.5_f32]).into(), "integers"),
    ] {
        let error = text(gather_nd(&x, &indices));
        assert!(error.starts_with("error: ") && error.contains(wanted) && error.contains("gather_nd"), "{error}");
    }
    let error = text(gather_nd(&lists(), &at(&[1, 2], &[1, 0])));
    assert!(error.contains("error") && error.contains("gather_nd"), "{error}");
}
