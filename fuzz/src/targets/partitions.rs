//! Row partitions from integers of every kind: what is accepted cuts the values, whatever op looks at it.

use crate::outcomes::Outcomes;
use extenso_core::{ExtensionType, Offsets, RowPartition, Tensor, ops};
use extenso_ext::{RaggedTensor, to_literal};

pub fn corpus() -> Vec<Vec<u8>> {
    let wide = |splits: &[i64]| splits.iter().flat_map(|s| s.to_le_bytes()).collect::<Vec<u8>>();
    let narrow = |splits: &[i32]| splits.iter().flat_map(|s| s.to_le_bytes()).collect::<Vec<u8>>();
    vec![
        wide(&[0, 4, 4, 7, 8, 8]),
        wide(&[2, 3, 6]),
        wide(&[0]),
        wide(&[0, 0, 2, 2, 2, 3, 4]),
        narrow(&[0, 4, 4, 7, 8, 8]),
        narrow(&[1, 1, 9]),
        Vec::new(),
    ]
}

pub fn run(bytes: &[u8], outcomes: &mut Outcomes) {
    let wide: Vec<i64> = bytes.as_chunks().0.iter().map(|b| i64::from_le_bytes(*b)).collect();
    let narrow: Vec<i32> = bytes.as_chunks().0.iter().map(|b| i32::from_le_bytes(*b)).collect();
    for nvalues in [0, 8, 10] {
        let values = Tensor::from_vec((0..nvalues).collect::<Vec<i64>>());
        for splits in [Tensor::from_vec(wide.clone()), Tensor::from_vec(narrow.clone())] {
            look_at(outcomes.of("splits", RaggedTensor::from_row_splits(values.clone(), &splits)));
            look_at(outcomes.of("lengths", RaggedTensor::from_row_lengths(values.clone(), &splits)));
            let rows = RaggedTensor::from_value_rowids(values.clone(), &splits, Some(bytes.len()));
            look_at(outcomes.of("row ids", rows));
        }
        let n = usize::try_from(nvalues).expect("small");
        for offsets in [Offsets::I64(wide.clone().into()), Offsets::I32(narrow.clone().into())] {
            let partition = outcomes.of("offsets", RowPartition::from_offsets(offsets, n));
            look_at(partition.and_then(|p| RaggedTensor::from_partition(values.clone(), p).ok()));
        }
    }
    drop(ops::partition_from_lengths(Tensor::from_vec(wide)));
}

/// Proves what a partition promises, and lets ops that trust it run.
fn look_at(ragged: Option<RaggedTensor>) {
    let Some(ragged) = ragged else { return };
    let rows = ragged.partition().data().expect("data");
    let offsets: Vec<usize> = (0..=rows.nrows()).map(|i| rows.offsets().get(i)).collect();
    assert!(
        offsets.windows(2).all(|w| w[0] <= w[1]) && offsets.last() <= Some(&rows.nvalues()),
        "not proven: {offsets:?}"
    );
    let value = ragged.clone().into_value();
    let sums = ops::sum(&value, 1, false).expect("rows have sums");
    let spread = ops::gather_rows_of(sums, ragged.partition()).expect("a sum for each value");
    let again = ragged.with_values(spread).expect("as many values").into_value();
    ops::add(&value, again).expect("one partition");
    ops::concat(vec![value.clone(), ragged.compact().expect("data").into_value()], 0).expect("rows after rows");
    to_literal(&value).expect("a literal");
    ops::value_rowids(ragged.partition()).expect("rows of values");
    ops::row_splits(ragged.partition()).expect("splits");
}
