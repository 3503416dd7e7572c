//! Parts of Arrow arrays by paths, through every layout of lists, through maps and runs.

use arrow_array::types::Int16Type;
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, Int16Array, Int64Array, LargeListArray, LargeListViewArray, ListArray,
    ListViewArray, MapArray, RunArray, StringArray, StructArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::Field;
use extenso_ext::to_literal;
use extenso_formats::arrow::{ArrowOptions, from_chunks};
use extenso_types::{Path, Result};
use std::sync::Arc;

/// Records of a number and a text.
fn records() -> ArrayRef {
    let (numbers, texts) = (Int64Array::from(vec![1, 2, 3, 4]), StringArray::from(vec!["a", "b", "c", "d"]));
    Arc::new(
        StructArray::try_from(vec![("n", Arc::new(numbers) as ArrayRef), ("s", Arc::new(texts))]).expect("records"),
    )
}

fn item(items: &ArrayRef) -> Arc<Field> {
    Arc::new(Field::new("item", items.data_type().clone(), true))
}

fn read(array: &ArrayRef, path: &str) -> Result<String> {
    let rows: ArrayRef = Arc::new(StructArray::try_from(vec![("x", array.clone())]).expect("rows"));
    let field = Arc::new(Field::new("", rows.data_type().clone(), false));
    let paths: Vec<Path> = vec![path.parse()?];
    let options = ArrowOptions { paths: Some(paths), ..ArrowOptions::default() };
    Ok(to_literal(&from_chunks(&field, &[rows], &options)?.value)?.to_string())
}

fn check(array: &ArrayRef, path: &str, wanted: &str) {
    assert_eq!(read(array, path).unwrap_or_else(|e| e.to_string()), wanted, "{path} of {}", array.data_type());
}

#[test]
fn paths_lead_through_lists_of_every_layout() {
    let items = records();
    let ends = || vec![0, 1, 1, 4];
    let lists: [ArrayRef; 4] = [
        Arc::new(ListArray::new(item(&items), OffsetBuffer::new(ends().into()), items.clone(), None)),
        Arc::new(LargeListArray::new(
            item(&items),
            OffsetBuffer::new(ends().into_iter().map(i64::from).collect::<Vec<_>>().into()),
            items.clone(),
            None,
        )),
        Arc::new(ListViewArray::new(item(&items), vec![0, 3, 1].into(), vec![1, 0, 3].into(), items.clone(), None)),
        Arc::new(LargeListViewArray::new(
            item(&items),
            vec![0, 3, 1].into(),
            vec![1, 0, 3].into(),
            items.clone(),
            None,
        )),
    ];
    for list in &lists {
        check(list, "x[*].n", r#"[{"x": [{"n": 1}]}, {"x": []}, {"x": [{"n": 2}, {"n": 3}, {"n": 4}]}]"#);
        check(&list.slice(2, 1), "x[*].s", r#"[{"x": [{"s": "b"}, {"s": "c"}, {"s": "d"}]}]"#);
        let error = read(list, "x[*].q").expect_err("no such field").to_string();
        assert!(error.contains("there is no column 'x[*].q'") && error.contains("n, s"), "{error}");
        let error = read(list, "x.n").expect_err("a list").to_string();
        assert!(error.contains("'x' is a list"), "{error}");
    }
    let nulls = Some(NullBuffer::from(vec![true, false]));
    let pairs: ArrayRef = Arc::new(FixedSizeListArray::new(item(&items), 2, items.clone(), nulls));
    check(&pairs, "x[*].n", r#"[{"x": [{"n": 1}, {"n": 2}]}, {"x": None}]"#);
    let pairs: ArrayRef = Arc::new(FixedSizeListArray::new(item(&items), 2, items, None));
    check(&pairs.slice(1, 1), "x[*].s", r#"[{"x": [{"s": "c"}, {"s": "d"}]}]"#);
}

#[test]
fn paths_lead_to_the_keys_and_the_values_of_maps() {
    let keys: ArrayRef = Arc::new(StringArray::from(vec!["k", "l", "m", "o"]));
    let fields = [("key", keys, false), ("value", records(), true)];
    let entries = fields
        .map(|(name, column, nullable)| (Arc::new(Field::new(name, column.data_type().clone(), nullable)), column));
    let entries = StructArray::from(entries.to_vec());
    let field = Arc::new(Field::new("entries", entries.data_type().clone(), false));
    let map: ArrayRef = Arc::new(MapArray::new(field, OffsetBuffer::new(vec![0, 1, 4].into()), entries, None, false));
    check(&map, "x[*].key", r#"[{"x": [{"key": "k"}]}, {"x": [{"key": "l"}, {"key": "m"}, {"key": "o"}]}]"#);
    check(&map.slice(0, 1), "x[*].value.n", r#"[{"x": [{"value": {"n": 1}}]}]"#);
    let error = read(&map, "x[*].n").expect_err("no such field").to_string();
    assert!(error.contains("key, value"), "{error}");
}

#[test]
fn paths_lead_through_runs_as_if_there_were_none() {
    let ends = Int16Array::from(vec![1, 3, 4, 6]);
    let runs = RunArray::<Int16Type>::try_new(&ends, records().as_ref()).expect("runs");
    let runs: ArrayRef = Arc::new(runs);
    check(
        &runs,
        "x.n",
        r#"[{"x": {"n": 1}}, {"x": {"n": 2}}, {"x": {"n": 2}}, {"x": {"n": 3}}, {"x": {"n": 4}}, {"x": {"n": 4}}]"#,
    );
    check(&runs.slice(2, 2), "x.s", r#"[{"x": {"s": "b"}}, {"x": {"s": "c"}}]"#);
}
