//! Sizes without end beside an axis of size zero: shown, and refused where a result would be without end too.

use extenso_core::attrs::Axes;
use extenso_core::{ExtensionType, RowPartition, Tensor, Value, ops};
use extenso_ext::{MaskedTensor, RaggedTensor, to_literal};

const ENDLESS: usize = 1 << 46;

fn zeros(dims: &[usize]) -> Tensor {
    Tensor::new::<f64>(dims, &[]).expect("no elements")
}

fn check_refused<T: std::fmt::Debug>(result: extenso_core::Result<T>, wanted: &str) {
    let error = result.expect_err("too much").to_string();
    assert!(error.contains(wanted), "{error}");
}

#[test]
fn endless_lists_are_no_literal() {
    let flat = zeros(&[ENDLESS, 0]);
    let masked = MaskedTensor::new(flat.clone(), Tensor::bools(&[ENDLESS, 0], &[]).expect("no elements"));
    let ragged = RaggedTensor::from_partition(flat.clone(), RowPartition::from_lengths([ENDLESS]).expect("a row"));
    let nested = zeros(&[1 << 23, 1 << 23, 0]);
    let values: [Value; 4] =
        [flat.into(), nested.into(), masked.expect("one shape").into_value(), ragged.expect("one row").into_value()];
    for value in values {
        check_refused(to_literal(&value), "lists without an element");
    }
    assert_eq!(to_literal(&zeros(&[2, 0]).into()).expect("two lists").to_string(), "[[], []]");
}

#[test]
fn what_is_shown_is_bounded() {
    let text = zeros(&[ENDLESS, 0]).to_string();
    assert!(text.matches("[]").count() == 100 && text.contains("[], ..., []"), "{text}");
    let many: Vec<usize> = std::iter::repeat_n(3, 30).chain([0]).collect();
    assert_eq!(zeros(&many).to_string(), "[...]");
    let long = Tensor::from_vec((0..1000_i64).collect());
    assert!(long.to_string().starts_with("[0, 1, ") && long.to_string().contains("49, ..., 950, "), "{long}");
}

#[test]
fn results_without_end_are_refused() {
    let (tall, wide) = (zeros(&[ENDLESS, 0]), zeros(&[0, ENDLESS]));
    let over = |axis: i64| Axes::List(vec![axis]);
    check_refused(ops::sum(&tall, over(1), false), "more memory than the system gives");
    check_refused(ops::prod(&wide, over(0), true), "more memory than the system gives");
    let no_rows = RowPartition::from_lengths([0, 0]).expect("two rows");
    check_refused(ops::segment_sum(&wide, &no_rows), "more memory than the system gives");
    check_refused(RowPartition::from_lengths(std::iter::repeat_n(0, ENDLESS)), "more memory than the system gives");
    assert_eq!(ops::sum(&tall, Axes::All, false).expect("one").to_string(), "0.0");
    let few = ops::segment_max(zeros(&[0, 3]), &no_rows).expect("identities");
    assert_eq!(few.to_string(), "[[-inf, -inf, -inf], [-inf, -inf, -inf]]");
    check_refused(ops::reshape(Tensor::scalar(1.0), vec![1_i64; 65]), "at most 64 axes");
}
