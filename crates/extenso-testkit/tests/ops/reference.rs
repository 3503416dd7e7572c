//! Folds against the plainest code there is: over axes, over rows of partitions, at every length around a block.

use crate::support::{Draw, check_same, dtypes, random};
use extenso_core::{RowPartition, Tensor, Value, ops};
use extenso_testkit::rng::Rng;
use extenso_types::{DType, DTypeKind};

type Fold = fn(&Value) -> Value;
type RowFold = fn(&Value, &RowPartition) -> Value;
type PlainFold = fn(&[i64]) -> Option<i64>;

/// The folds as (over an axis, over rows, on numbers as i64); small numbers, so that floats are exact.
fn folds() -> [(&'static str, Fold, RowFold, PlainFold); 3] {
    [
        (
            "sum",
            |x| ops::sum(x, -1, false).expect("a sum"),
            |x, p| ops::segment_sum(x, p).expect("sums"),
            |v| Some(v.iter().sum()),
        ),
        (
            "max",
            |x| ops::max(x, -1, false).expect("a maximum"),
            |x, p| ops::segment_max(x, p).expect("maxima"),
            |v| v.iter().copied().max(),
        ),
        (
            "min",
            |x| ops::min(x, -1, false).expect("a minimum"),
            |x, p| ops::segment_min(x, p).expect("minima"),
            |v| v.iter().copied().min(),
        ),
    ]
}

/// Numbers as the i64 that they are, for the plain fold.
fn whole(value: &Value) -> Vec<i64> {
    let wide = ops::cast(value, DType::I64).expect("numbers");
    wide.tensor().expect("a tensor").as_slice::<i64>().expect("i64").to_vec()
}

fn numbers() -> impl Iterator<Item = DType> {
    // A sum of 2500 numbers below 8 is exact in all floats but the 16-bit ones, whose sums are kept short.
    dtypes().filter(|d| d.is_numeric())
}

#[test]
fn folds_are_those_of_plain_loops() {
    for (name, axis, _, plain) in folds() {
        for dtype in numbers() {
            let narrow = dtype.kind() == DTypeKind::Float && dtype.width() == Some(2);
            for n in (1..40).chain([63, 64, 65, 127, 128, 129, 511, 1023, 1024, 1025, 2047, 2500]) {
                if narrow && name == "sum" && n > 35 {
                    continue;
                }
                let x = random(dtype, &[3, n], Draw::Small, &mut Rng::new(3));
                let numbers = whole(&x);
                let want: Vec<i64> = numbers.chunks(n).map(|row| plain(row).expect("not empty")).collect();
                assert_eq!(whole(&axis(&x)), want, "{name} of {dtype}[3, {n}]");
            }
        }
    }
}

#[test]
fn folds_of_rows_are_those_of_each_row() {
    let lengths = [1, 5, 17, 64, 65, 3, 1025, 2, 900, 7];
    let partition = RowPartition::from_lengths(lengths).expect("proven");
    let total = lengths.iter().sum();
    for (name, axis, segment, _) in folds() {
        for dtype in numbers() {
            for columns in [1, 3] {
                let x = random(dtype, &[total, columns], Draw::Wide, &mut Rng::new(9));
                let x = if columns == 1 { flat(&x) } else { x };
                let folded = segment(&x, &partition);
                let mut start = 0;
                for (i, len) in lengths.iter().enumerate() {
                    let row = x.tensor().expect("a tensor").slice_rows(start, *len).expect("a row");
                    let row = if columns == 1 { row.into() } else { ops::transpose(row, None).expect("moves") };
                    let want = axis(&row);
                    let got = folded.tensor().expect("a tensor").slice_rows(i, 1).expect("a row");
                    check_same(
                        &flat(&got.into()),
                        &flat(&want),
                        &format!("{name} of {dtype}, row {i} of {len}, {columns} columns"),
                    );
                    start += len;
                }
            }
        }
    }
}

fn flat(value: &Value) -> Value {
    let tensor: &Tensor = value.tensor().expect("a tensor");
    tensor.with_dims(&[tensor.data().expect("data").len()]).expect("as many").into()
}
