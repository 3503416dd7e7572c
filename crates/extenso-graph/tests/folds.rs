//! Fused folds of rows have the bits of single ops: several folds of one partition, and folds that read through repeated rows.

mod support;

use extenso_core::attrs::{Axes, NoAttrs};
use extenso_core::{Offsets, RowPartition, Value, call_one, ops};
use extenso_graph::Function;
use extenso_types::{DType, Nest};
use support::{body, check, numbers};

const FLOATS: [DType; 4] = [DType::F16, DType::BF16, DType::F32, DType::F64];

/// Rows of these lengths; `before` values stand before the first and `behind` after the last.
fn rows(before: usize, lengths: &[usize], behind: usize) -> Value {
    let ends = lengths.iter().scan(before, |end, n| {
        *end += n;
        Some(*end)
    });
    let offsets: Vec<i64> =
        std::iter::once(before).chain(ends).map(|end| i64::try_from(end).expect("few values")).collect();
    let nvalues = before + lengths.iter().sum::<usize>() + behind;
    Value::Partition(RowPartition::from_offsets(Offsets::I64(offsets.into()), nvalues).expect("rows"))
}

/// Rows of 0 to 50 values, longer and much longer ones among them if wanted.
fn lengths(n: usize, long: &[usize]) -> Vec<usize> {
    (0..n).map(|i| if i % 37 == 5 { long.get(i % 5).copied().unwrap_or(7) } else { i * 7919 % 51 }).collect()
}

fn partitions() -> Vec<(&'static str, Value)> {
    vec![
        ("many rows", rows(0, &lengths(600, &[]), 0)),
        ("values outside", rows(70, &lengths(300, &[]), 9)),
        ("longer rows", rows(3, &lengths(300, &[65, 200, 1024, 1025, 3000]), 1)),
        ("empty rows", rows(2, &[vec![0; 3000], vec![2, 0, 0, 1], vec![0; 40]].concat(), 0)),
        ("one row", rows(1, &[23], 1)),
        ("no row", rows(0, &[], 0)),
        ("no row, but values", rows(4, &[], 0)),
    ]
}

/// Enough work to be split over threads.
fn large() -> Value {
    rows(5, &lengths(6000, &[65, 300]), 64)
}

#[test]
fn folds_of_the_same_rows_run_as_one() {
    let stored = body(|args| {
        let [x, rows] = args else { panic!("two arguments") };
        let segment = |op| call_one(op, &[x.into(), rows.into()], &NoAttrs {});
        let total = segment(&ops::SEGMENT_SUM)?;
        Ok(vec![
            ops::multiply(&total, &total)?,
            segment(&ops::SEGMENT_MAX)?,
            segment(&ops::SEGMENT_PROD)?,
            segment(&ops::SEGMENT_MIN)?,
        ])
    });
    let chain = body(|args| {
        let [x, rows] = args else { panic!("two arguments") };
        let twice = ops::add(ops::multiply(x, x)?, x)?;
        let segment = |op| call_one(op, &[(&twice).into(), rows.into()], &NoAttrs {});
        Ok(vec![segment(&ops::SEGMENT_MIN)?, segment(&ops::SEGMENT_SUM)?])
    });
    let whole = [DType::I8, DType::U16, DType::I32, DType::I64, DType::U64];
    for dtype in FLOATS.into_iter().chain(whole) {
        let all = partitions().into_iter().chain((dtype == DType::F32).then(|| ("large", large())));
        for (what, rows) in all {
            let n = rows.partition().expect("rows").data().expect("data").nvalues();
            let args = [numbers(dtype, &[n]), rows];
            check(&stored, &args, 2, &format!("{what} of {dtype}"));
            check(&chain, &args, 1, &format!("a chain over {what} of {dtype}"));
        }
    }
}

#[test]
fn a_fold_before_an_op_that_needs_it_comes_first() {
    let f = body(|args| {
        let [x, rows] = args else { panic!("two arguments") };
        let total = ops::segment_sum(x, rows)?;
        let centred = ops::subtract(x, ops::gather_rows_of(&total, rows)?)?;
        let spread = ops::segment_max(ops::multiply(&centred, &centred)?, rows)?;
        Ok(vec![ops::add(ops::segment_max(x, rows)?, &spread)?, ops::segment_min(x, rows)?, total])
    });
    for (what, rows) in partitions() {
        let n = rows.partition().expect("rows").data().expect("data").nvalues();
        check(&f, &[numbers(DType::F32, &[n]), rows], 3, what);
    }
}

#[test]
fn values_that_are_too_few_are_refused() {
    let rows = rows(0, &[2, 1], 0);
    let f = Function::new("f", |args| {
        let leaves = args.leaves();
        let (x, rows) = (leaves[0].1, leaves[1].1);
        let ones = ops::cast(ops::ones_like(x)?, DType::Bool)?;
        Ok(Nest::Tuple(vec![
            Nest::Leaf(ops::segment_sum(ones, rows)?),
            Nest::Leaf(ops::segment_sum(x, rows)?),
            Nest::Leaf(ops::segment_max(x, rows)?),
        ]))
    });
    let call = |n| f.call(Nest::Tuple(vec![Nest::Leaf(numbers(DType::F32, &[n])), Nest::Leaf(rows.clone())]));
    assert!(call(3).is_ok());
    let error = call(2).expect_err("two values for three").to_string();
    assert!(error.contains("2 values are given to a partition of 3"), "{error}");
}

#[test]
fn a_mean_of_rows_reads_its_values_once() {
    let f = body(|args| {
        let [x, rows] = args else { panic!("two arguments") };
        let count = ops::segment_sum(ops::cast(ops::ones_like(x)?, DType::Bool)?, rows)?;
        Ok(vec![ops::divide(ops::segment_sum(x, rows)?, ops::cast(count, DType::F64)?)?, ops::segment_max(x, rows)?])
    });
    for (what, rows) in partitions() {
        let n = rows.partition().expect("rows").data().expect("data").nvalues();
        // The folds, and the quotient, which reads the lengths.
        check(&f, &[numbers(DType::F64, &[n]), rows], 2, what);
    }
}

#[test]
fn lengths_are_read_from_the_rows() {
    let f = body(|args| {
        let [x, rows] = args else { panic!("two arguments") };
        let n = ops::cast(ops::row_lengths(rows)?, DType::F32)?;
        let share = ops::divide(x, &n)?;
        Ok(vec![ops::where_(ops::greater(ops::row_lengths(rows)?, 3)?, &share, x)?, ops::add(share, n)?])
    });
    let stored = body(|args| {
        let [x, rows] = args else { panic!("two arguments") };
        let n = ops::row_lengths(rows)?;
        Ok(vec![ops::multiply(ops::cast(&n, DType::F32)?, x)?, n])
    });
    let total = body(|args| {
        let [x, rows] = args else { panic!("two arguments") };
        Ok(vec![ops::sum(ops::multiply(ops::cast(ops::row_lengths(rows)?, DType::F32)?, x)?, Axes::All, false)?])
    });
    for (what, rows) in partitions().into_iter().chain([("large", large())]) {
        let nrows = rows.partition().expect("rows").data().expect("data").nrows();
        let args = [numbers(DType::F32, &[nrows]), rows];
        check(&f, &args, 1, what);
        check(&total, &args, 1, what);
        // Lengths that are a result too are made.
        check(&stored, &args, 2, what);
    }
}

#[test]
fn a_fold_reads_through_repeated_rows() {
    let dot = body(|args| {
        let [own, rows, x] = args else { panic!("three arguments") };
        Ok(vec![ops::sum(ops::multiply(ops::gather_rows_of(own, rows)?, x)?, Axes::List(vec![1]), false)?])
    });
    for dtype in FLOATS {
        for inner in [1, 3, 16, 17, 48] {
            let all = partitions().into_iter().chain((dtype == DType::F32).then(|| ("large", large())));
            for (what, rows) in all {
                let data = rows.partition().expect("rows").data().expect("data");
                let (nrows, nvalues) = (data.nrows(), data.nvalues());
                let args = [numbers(dtype, &[nrows, inner]), rows, numbers(dtype, &[nvalues, inner])];
                check(&dot, &args, 1, &format!("{inner} {dtype} over {what}"));
            }
        }
    }
}

#[test]
fn factors_of_a_summed_product_may_be_chains_and_read_twice() {
    let last = || Axes::List(vec![1]);
    let f = body(move |args| {
        let [own, rows, x] = args else { panic!("three arguments") };
        let repeated = ops::gather_rows_of(own, rows)?;
        let chain = ops::multiply(ops::abs(x)?, &repeated)?;
        Ok(vec![ops::sum(ops::multiply(chain, repeated)?, last(), false)?])
    });
    let square = body(move |args| Ok(vec![ops::sum(ops::multiply(&args[2], &args[2])?, last(), false)?]));
    for dtype in [DType::F32, DType::F64] {
        for (what, rows) in partitions() {
            let data = rows.partition().expect("rows").data().expect("data");
            let args = [numbers(dtype, &[data.nrows(), 32]), rows.clone(), numbers(dtype, &[data.nvalues(), 32])];
            check(&f, &args, 1, &format!("a chain of {dtype} over {what}"));
            check(&square, &args, 1, &format!("a square of {dtype} over {what}"));
        }
    }
}
