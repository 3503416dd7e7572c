//! How many items the columns of a batch say that they have.
//!
//! Invariant: a column whose items are not in the bytes of the batch has few of them, but for nulls and runs, of which a few bytes say many items.
//! What these take by themselves is bounded when they are read (`shared`).

use arrow_schema::{DataType, Field, Schema};

/// How many items a column of runs, or of nulls alone, may have.
pub const IN_RUNS: usize = 1 << 24;

/// Checks the number of rows and the lengths of all columns, outer ones first; `most` is for columns that are neither.
///
/// Errors: what is wrong.
pub fn checked_lengths(rows: i64, lengths: &[i64], schema: Option<&Schema>, most: usize) -> Result<(), String> {
    let mut nodes = Nodes { lengths: lengths.iter(), most };
    let fields = schema.map_or(&[][..], |schema| schema.fields());
    fields.iter().try_for_each(|field| nodes.column(field))?;
    // What no field tells of is bounded as a column without one.
    while nodes.length(most)?.is_some() {}
    // The rows of some columns are as many as their items.
    fits(rows, if fields.is_empty() { most } else { most.max(IN_RUNS) })
}

fn fits(length: i64, most: usize) -> Result<(), String> {
    match usize::try_from(length) {
        Ok(length) if length <= most => Ok(()),
        _ => Err(format!("a column has {length} items")),
    }
}

struct Nodes<'a> {
    lengths: std::slice::Iter<'a, i64>,
    most: usize,
}

impl Nodes<'_> {
    /// The next length, if there is one.
    fn length(&mut self, most: usize) -> Result<Option<i64>, String> {
        let length = self.lengths.next().copied();
        length.map_or(Ok(()), |length| fits(length, most)).map(|()| length)
    }

    fn column(&mut self, field: &Field) -> Result<(), String> {
        let most = if in_proportion(field.data_type()) { self.most } else { self.most.max(IN_RUNS) };
        self.length(most)?;
        match field.data_type() {
            DataType::List(item)
            | DataType::LargeList(item)
            | DataType::ListView(item)
            | DataType::LargeListView(item)
            | DataType::FixedSizeList(item, _)
            | DataType::Map(item, _) => self.column(item),
            DataType::Struct(fields) => fields.iter().try_for_each(|field| self.column(field)),
            DataType::Union(fields, _) => fields.iter().try_for_each(|(_, field)| self.column(field)),
            DataType::RunEndEncoded(ends, values) => self.column(ends).and_then(|()| self.column(values)),
            // The values of a dictionary are in a batch of their own.
            _ => Ok(()),
        }
    }
}

/// Whether items of a type have bits in the batch. Records have those of their fields, of which there are as many.
fn in_proportion(data_type: &DataType) -> bool {
    match data_type {
        DataType::RunEndEncoded(..) | DataType::Null => false,
        DataType::Struct(fields) => fields.is_empty() || fields.iter().any(|field| in_proportion(field.data_type())),
        DataType::FixedSizeList(item, width) => *width <= 0 || in_proportion(item.data_type()),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn check(fields: Vec<(&str, DataType)>, rows: i64, lengths: &[i64], fits: bool) {
        let fields: Vec<Field> = fields.into_iter().map(|(name, of)| Field::new(name, of, true)).collect();
        let schema = Schema::new(fields);
        assert_eq!(checked_lengths(rows, lengths, Some(&schema), 100).is_ok(), fits, "{schema:?} {lengths:?}");
    }

    fn runs() -> DataType {
        let ends = Field::new("run_ends", DataType::Int32, false);
        DataType::RunEndEncoded(Arc::new(ends), Arc::new(Field::new("values", DataType::Null, true)))
    }

    #[test]
    fn runs_alone_are_long() {
        let many = 10_000_000;
        check(vec![("r", runs())], many, &[many, 1, 1], true);
        check(vec![("n", DataType::Null)], many, &[many], true);
        check(vec![("r", runs())], many, &[many, many, 1], false);
        check(vec![("r", runs())], 1 << 25, &[1 << 25, 1, 1], false);
        check(vec![("n", DataType::Null)], 1 << 25, &[1 << 25], false);
        check(vec![("n", DataType::Int8)], 101, &[101], false);
        check(vec![("n", DataType::Int8), ("r", runs())], many, &[many, many, 1, 1], false);
        let inside = |of: Vec<(&str, DataType)>| {
            DataType::Struct(of.into_iter().map(|(name, of)| Field::new(name, of, true)).collect())
        };
        check(vec![("s", inside(vec![("r", runs())]))], many, &[many, many, 1, 1], true);
        check(vec![("s", inside(vec![("r", runs()), ("n", DataType::Int8)]))], 101, &[101, 101, 1, 1, 101], false);
        check(vec![("s", inside(vec![]))], 101, &[101], false);
        check(vec![], 101, &[], false);
        check(vec![("n", DataType::Null)], 5, &[5, -1], false);
        check(vec![("n", DataType::Null)], 5, &[5, 101], false);
        check(vec![("s", inside(vec![("n", DataType::Null)]))], many, &[many, many], true);
        check(vec![("n", DataType::Null)], 5, &[], true);
    }
}
