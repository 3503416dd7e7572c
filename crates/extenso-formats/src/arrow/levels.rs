//! How deep lists and records of Arrow may nest.
//!
//! Invariant: a type is followed down no further than that before it is known to end there.

use arrow_schema::DataType;
use extenso_core::MAX_RANK;
use extenso_types::{Error, Result};

/// The most levels of lists and records: as many as a tensor has axes.
pub const MAX_LEVELS: usize = MAX_RANK;

/// Checks that a type nests no deeper than all that follows it down is made for.
///
/// Errors: it nests deeper.
pub(crate) fn checked_levels(data_type: &DataType) -> Result<()> {
    if ends_within(data_type, MAX_LEVELS) { Ok(()) } else { Err(too_deep()) }
}

/// What is said of types that nest deeper.
///
/// ```
/// assert!(extenso_formats::arrow::too_deep().to_string().contains("at most 64 levels"));
/// ```
pub fn too_deep() -> Error {
    Error::data("the lists and records nest too deep").wanted(format!("at most {MAX_LEVELS} levels"))
}

fn ends_within(data_type: &DataType, levels: usize) -> bool {
    let ends = |below: &DataType| levels.checked_sub(1).is_some_and(|levels| ends_within(below, levels));
    match data_type {
        DataType::Struct(fields) => fields.iter().all(|field| ends(field.data_type())),
        DataType::Union(fields, _) => fields.iter().all(|(_, field)| ends(field.data_type())),
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _)
        | DataType::RunEndEncoded(_, item) => ends(item.data_type()),
        DataType::Dictionary(_, words) => ends(words),
        _ => true,
    }
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
    fn a_tensor_of_as_many_axes_as_there_may_be_goes_out_and_comes_back() {
        let tensor: Value = Tensor::from_vec(vec![7_i64]).with_dims(&[1; MAX_RANK]).expect("a tensor").into();
        let again = from_arrow(to_arrow(&tensor).expect("an array").as_ref()).expect("a tensor");
        assert_eq!(again.spec().expect("a spec"), tensor.spec().expect("a spec"));
    }
}
