//! How deep lists and records of Arrow may nest.
//!
//! Invariant: a type is followed down no further than that before it is known to end there.

#[cfg(feature = "ipc")]
use crate::project;
#[cfg(feature = "ipc")]
use arrow_schema::Fields;
use arrow_schema::{DataType, FieldRef};
use extenso_core::MAX_RANK;
use extenso_types::{Error, Result};
use std::sync::Arc;

/// The most levels of lists and records of an array: as many as a tensor has axes. Columns of files have those of all files.
pub const MAX_LEVELS: usize = MAX_RANK;

/// Checks that a type nests no deeper than all that follows it down is made for.
///
/// Errors: it nests deeper.
pub(crate) fn checked_levels(data_type: &DataType) -> Result<()> {
    if ends_within(data_type, MAX_LEVELS) { Ok(()) } else { Err(too_deep(MAX_LEVELS)) }
}

/// Checks that columns nest no deeper than records of any file, which is what readers of Arrow's schemas follow down too.
///
/// Errors: a column nests deeper, with its name.
#[cfg(feature = "ipc")]
pub(crate) fn checked_columns(fields: &Fields) -> Result<()> {
    match fields.iter().find(|field| !ends_within(field.data_type(), project::MAX_LEVELS)) {
        Some(field) => Err(too_deep(project::MAX_LEVELS).at(format!("column '{}'", field.name()))),
        None => Ok(()),
    }
}

/// What is said of types that nest deeper than so many levels.
///
/// ```
/// assert!(extenso_formats::arrow::too_deep(64).to_string().contains("at most 64 levels"));
/// ```
pub fn too_deep(levels: usize) -> Error {
    Error::data("the lists and records nest too deep").wanted(format!("at most {levels} levels"))
}

fn ends_within(data_type: &DataType, levels: usize) -> bool {
    let ends = |below: &DataType| levels.checked_sub(1).is_some_and(|levels| ends_within(below, levels));
    match data_type {
        DataType::Dictionary(_, words) => ends(words),
        _ => below(data_type).iter().all(|field| ends(field.data_type())),
    }
}

/// The fields that a type is made of.
pub(super) fn below(data_type: &DataType) -> Vec<&FieldRef> {
    match data_type {
        DataType::Struct(fields) => fields.iter().collect(),
        DataType::Union(fields, _) => fields.iter().map(|(_, field)| field).collect(),
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _)
        | DataType::RunEndEncoded(_, item) => vec![item],
        _ => Vec::new(),
    }
}

/// A field whose parts are others; none if it has none, but for words of dictionaries and runs.
pub(crate) fn inside(field: &FieldRef, of: &mut dyn FnMut(&FieldRef) -> FieldRef) -> Option<FieldRef> {
    let data_type = match field.data_type() {
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(of).collect()),
        DataType::List(item) => DataType::List(of(item)),
        DataType::LargeList(item) => DataType::LargeList(of(item)),
        DataType::ListView(item) => DataType::ListView(of(item)),
        DataType::LargeListView(item) => DataType::LargeListView(of(item)),
        DataType::FixedSizeList(item, size) => DataType::FixedSizeList(of(item), *size),
        DataType::Map(item, sorted) => DataType::Map(of(item), *sorted),
        DataType::Union(fields, mode) => {
            DataType::Union(fields.iter().map(|(id, field)| (id, of(field))).collect(), *mode)
        }
        _ => return None,
    };
    Some(Arc::new(field.as_ref().clone().with_data_type(data_type)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrow::{ArrowOptions, from_arrow, from_arrow_as, from_chunks, to_arrow};
    use arrow_array::{Array, ArrayRef, Int64Array, StructArray};
    use arrow_schema::Field;
    use extenso_core::{Tensor, Value};
    use extenso_types::{DType, Shape, Spec, TensorSpec};
    use std::sync::Arc;

    fn deep(levels: usize) -> ArrayRef {
        let field = |array: &ArrayRef| Arc::new(Field::new("a", array.data_type().clone(), true));
        (0..levels).fold(Arc::new(Int64Array::from(vec![1])), |array: ArrayRef, _| {
            Arc::new(StructArray::new(vec![field(&array)].into(), vec![array], None))
        })
    }

    #[test]
    fn arrays_that_nest_too_deep_are_refused_before_they_are_followed() {
        assert!(from_arrow(deep(MAX_LEVELS).as_ref()).is_ok());
        let spec = Spec::from(TensorSpec::new(DType::I64, Shape::known(&[1])));
        for levels in [MAX_LEVELS + 1, 3000] {
            let array = deep(levels);
            let field = Arc::new(Field::new("", array.data_type().clone(), true));
            let read = [
                from_arrow(array.as_ref()),
                from_arrow_as(array.as_ref(), &spec),
                from_chunks(&field, &[array], &ArrowOptions::default()).map(|rows| rows.value),
            ];
            for error in read.map(|read| read.expect_err("too deep").to_string()) {
                assert!(error.contains("nest too deep") && error.contains("at most 64 levels"), "{error}");
            }
        }
    }

    #[test]
    #[cfg(feature = "parquet")]
    fn columns_that_are_written_are_read() {
        use crate::arrow::{read_ipc, write_ipc};
        let column = |levels| from_arrow(deep(levels + 1).as_ref()).expect("a record of one column");
        let nest = extenso_types::Nest::Leaf(column(project::MAX_LEVELS));
        let parquet = crate::encode_parquet(&nest).expect("a file");
        assert!(crate::read_parquet(&parquet.into(), &Default::default()).is_ok());
        let file = write_ipc(&column(project::MAX_LEVELS), false).expect("a file");
        assert!(read_ipc(file.into(), &ArrowOptions::default()).is_ok());
        let nest = extenso_types::Nest::Leaf(column(project::MAX_LEVELS + 1));
        let errors = [
            crate::encode_parquet(&nest).map(drop).expect_err("too deep"),
            write_ipc(&column(project::MAX_LEVELS + 1), false).map(drop).expect_err("too deep"),
        ];
        for error in errors.map(|error| error.to_string()) {
            assert!(error.contains("column 'a'") && error.contains("at most 60 levels"), "{error}");
        }
    }

    #[test]
    fn a_tensor_of_as_many_axes_as_there_may_be_goes_out_and_comes_back() {
        let tensor: Value = Tensor::from_vec(vec![7_i64]).with_dims(&[1; MAX_RANK]).expect("a tensor").into();
        let again = from_arrow(to_arrow(&tensor).expect("an array").as_ref()).expect("a tensor");
        assert_eq!(again.spec().expect("a spec"), tensor.spec().expect("a spec"));
    }
}
