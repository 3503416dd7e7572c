//! Decimals that have no more digits than their type says.
//!
//! Invariant: what the bytes of a file say is a decimal of its type, so that it can be written again; arrays of other libraries in memory are theirs to prove.

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type};
use arrow_array::{Array, StructArray, make_array};
use arrow_schema::{ArrowError, DataType};
use extenso_types::{Error, Result};

/// Checks the decimals of rows, at any depth, but for those that are missing.
///
/// Errors: one has more digits, with its column.
pub(crate) fn checked_decimals(rows: &StructArray) -> Result<()> {
    for (field, column) in rows.fields().iter().zip(rows.columns()) {
        within_digits(column.as_ref()).map_err(|e| {
            let error = Error::data(format!("the data is malformed: {e}")).at(format!("column '{}'", field.name()));
            error.wanted("decimals of as many digits as the type of the column")
        })?;
    }
    Ok(())
}

fn within_digits(array: &dyn Array) -> std::result::Result<(), ArrowError> {
    match array.data_type() {
        DataType::Decimal32(precision, _) => {
            array.as_primitive::<Decimal32Type>().validate_decimal_precision(*precision)
        }
        DataType::Decimal64(precision, _) => {
            array.as_primitive::<Decimal64Type>().validate_decimal_precision(*precision)
        }
        DataType::Decimal128(precision, _) => {
            array.as_primitive::<Decimal128Type>().validate_decimal_precision(*precision)
        }
        DataType::Decimal256(precision, _) => {
            array.as_primitive::<Decimal256Type>().validate_decimal_precision(*precision)
        }
        other if other.is_nested() || matches!(other, DataType::Dictionary(..) | DataType::RunEndEncoded(..)) => {
            array.to_data().child_data().iter().try_for_each(|part| within_digits(make_array(part.clone()).as_ref()))
        }
        _ => Ok(()),
    }
}
