//! The rows of values as columns of one schema, for formats whose columns are Arrow's.
//!
//! Invariant: the schema follows from the spec of what is written, and not from whether a batch happens to have nulls.

#[cfg(feature = "parquet")]
use super::asked;
use super::levels::checked_columns;
use super::{to_arrow, to_arrow_field};
use crate::records::is;
use crate::run::{check_constants, check_rows};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, LargeListArray, ListArray, RecordBatch, RecordBatchOptions, StructArray};
#[cfg(feature = "parquet")]
use arrow_schema::SchemaRef;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema};
use extenso_core::Value;
use extenso_ext::{MaskedTensorSpec, UnionSpec, outer};
use extenso_types::{Dim, Error, ExtSpec, Nest, Path, Result, Segment, Spec};
use std::sync::Arc;

/// The name of the only column of a value that is no record.
const VALUE: &str = "value";

/// The rows of a value as columns, whose schema follows from the spec of the value alone.
///
/// A dict of values has a column for each, a record one for each field, and another value, of a type that is stored as a record too, one that
/// is named `value`; so have records that may be missing.
/// Errors: a value that Arrow has no array for; values, or parts of one, with another number of rows.
pub fn record_batch(value: &Nest<Value>) -> Result<RecordBatch> {
    check_constants(value, &Path::root())?;
    let rows = rows_of(value)?;
    let (fields, columns) = match value {
        Nest::Leaf(leaf) => {
            let ((field, array), spec) = (to_arrow_field(leaf)?, leaf.spec()?);
            // Columns have no field around them that could say what type they are of, or which rows are missing.
            let bare = field.metadata().is_empty() && !matches!(&spec, Spec::Ext(ext) if is::<MaskedTensorSpec>(ext));
            match settled(&array, &spec, false)?.as_struct_opt() {
                Some(record) if record.nulls().is_none() && bare => {
                    (record.fields().clone(), record.columns().to_vec())
                }
                _ => one_column(VALUE, leaf)?,
            }
        }
        Nest::Static(_) => (Fields::empty(), Vec::new()),
        Nest::Tuple(_) | Nest::List(_) | Nest::Dict(_) | Nest::Record(..) => columns_of(value)?,
    };
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    checked_columns(&fields)?;
    let schema = Arc::new(Schema::new(fields));
    RecordBatch::try_new_with_options(schema, columns, &options).map_err(|e| internal(&e))
}

/// The rows in the columns of those before: texts and lists may have offsets of another width, as blocks with bad rows do.
///
/// Errors: columns of other elements.
#[cfg(feature = "parquet")]
pub fn in_schema(batch: RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    if batch.schema() == *schema {
        return Ok(batch);
    }
    let own: FieldRef = Arc::new(Field::new_struct("", batch.schema().fields().clone(), false));
    let wanted = Field::new_struct("", schema.fields().clone(), false);
    let (_, rows) = asked(own, Arc::new(StructArray::from(batch.clone())), &wanted);
    if rows.data_type() != wanted.data_type() {
        let error = Error::dtype(format!("a batch has the columns {}", batch.schema())).wanted(schema.to_string());
        return Err(error.hint("An axis whose size differs from block to block is no column: keep rows, or pad to one size, as by `pad_to`."));
    }
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let columns = rows.as_struct().columns().to_vec();
    RecordBatch::try_new_with_options(schema.clone(), columns, &options).map_err(|e| internal(&e))
}

/// The number of rows, which all values of a nest have alike.
///
/// Errors: a value without an outer axis; two numbers, with the paths of both.
fn rows_of(value: &Nest<Value>) -> Result<usize> {
    let (mut first, mut leaves): (Option<(Path, usize)>, Vec<Value>) = (None, Vec::new());
    for (at, value) in value.leaves() {
        let named = || if at.is_root() { "the value".to_string() } else { format!("'{at}'") };
        let rows = match outer(value) {
            Some(Dim::Known(rows)) => rows,
            // What a type that is not known here has as rows, its array tells.
            Some(_) => to_arrow(value).map_err(|e| e.at(named()))?.len(),
            None => {
                let error = Error::shape(format!("{} is {}", named(), value.spec()?));
                return Err(error.wanted("the records as outer axis"));
            }
        };
        match &first {
            Some((other, known)) if *known != rows => {
                let what = format!("'{at}' has {rows} rows, and '{other}' has {known}");
                return Err(Error::shape(what).wanted("one number of rows"));
            }
            Some(_) => {}
            None => first = Some((at, rows)),
        }
        value.push_leaves(&mut leaves)?;
    }
    let rows = first.map_or(0, |(_, rows)| rows);
    check_rows(rows, &leaves)?;
    Ok(rows)
}

/// The array, whose fields may be null where the spec says so, and not where nulls happen to be. It stands in records that may be
/// missing if `optional`: lists of one size may be null there, as readers of Parquet want it.
fn settled(array: &ArrayRef, spec: &Spec, optional: bool) -> Result<ArrayRef> {
    let Spec::Ext(ext) = spec else { return Ok(array.clone()) };
    let nulls = array.nulls().cloned();
    let done: std::result::Result<ArrayRef, ArrowError> = match array.data_type() {
        _ if is::<MaskedTensorSpec>(ext) => {
            return ext
                .component(&Segment::Itself)
                .map_or_else(|| Ok(array.clone()), |inner| settled(array, inner, true));
        }
        DataType::List(field) => {
            let Some(item) = item_of(ext) else { return Ok(array.clone()) };
            let list = array.as_list::<i32>();
            let values = settled(list.values(), item, false)?;
            let list = ListArray::try_new(refit(field, &values, item, false), list.offsets().clone(), values, nulls);
            list.map(|list| Arc::new(list) as ArrayRef)
        }
        DataType::LargeList(field) => {
            let Some(item) = item_of(ext) else { return Ok(array.clone()) };
            let list = array.as_list::<i64>();
            let values = settled(list.values(), item, false)?;
            let list =
                LargeListArray::try_new(refit(field, &values, item, false), list.offsets().clone(), values, nulls);
            list.map(|list| Arc::new(list) as ArrayRef)
        }
        DataType::Struct(fields) => {
            let mut refitted = Vec::with_capacity(fields.len());
            let mut columns = Vec::with_capacity(fields.len());
            for (i, (field, column)) in fields.iter().zip(array.as_struct().columns()).enumerate() {
                let segment = Segment::field(field.name().as_str());
                // Fields mostly stand in the order of the spec.
                let there = ext.components.get(i).filter(|(known, _)| *known == segment).map(|(_, spec)| spec);
                let spec = there.or_else(|| ext.component(&segment));
                let column = spec.map_or_else(|| Ok(column.clone()), |spec| settled(column, spec, optional))?;
                refitted.push(spec.map_or_else(|| field.clone(), |spec| refit(field, &column, spec, optional)));
                columns.push(column);
            }
            let record = StructArray::try_new_with_length(refitted.into(), columns, nulls, array.len());
            record.map(|record| Arc::new(record) as ArrayRef)
        }
        _ => Ok(array.clone()),
    };
    done.map_err(|e| internal(&e))
}

/// What the items of a list are.
fn item_of(ext: &ExtSpec) -> Option<&Spec> {
    ext.components.iter().map(|(_, spec)| spec).find(|spec| !matches!(spec, Spec::Partition(_)))
}

fn refit(field: &FieldRef, array: &ArrayRef, spec: &Spec, optional: bool) -> FieldRef {
    // What is missing in a union is so in its children.
    let masked = matches!(spec, Spec::Ext(ext) if is::<MaskedTensorSpec>(ext) || is::<UnionSpec>(ext));
    let field = field.as_ref().clone().with_data_type(array.data_type().clone());
    let of_size = optional && matches!(array.data_type(), DataType::FixedSizeList(..));
    Arc::new(field.with_nullable(masked || of_size || array.null_count() > 0))
}

fn one_column(name: &str, value: &Value) -> Result<(Fields, Vec<ArrayRef>)> {
    let (field, column) = column_of(name, &Nest::Leaf(value.clone()))?;
    Ok((vec![field].into(), vec![column]))
}

fn columns_of(nest: &Nest<Value>) -> Result<(Fields, Vec<ArrayRef>)> {
    let entries: Vec<(String, &Nest<Value>)> = match nest {
        Nest::Tuple(items) | Nest::List(items) => items.iter().enumerate().map(|(i, n)| (i.to_string(), n)).collect(),
        Nest::Dict(entries) | Nest::Record(_, entries) => entries.iter().map(|(k, n)| (k.to_string(), n)).collect(),
        Nest::Leaf(_) | Nest::Static(_) => Vec::new(),
    };
    let of_data = entries.into_iter().filter(|(_, nest)| !matches!(nest, Nest::Static(_)));
    let column = |(name, nest): (String, &Nest<Value>)| match &*name {
        "" => Err(Error::value("the name of a field is empty").wanted("a name, which those who read it want")),
        name => column_of(name, nest),
    };
    let columns: Result<Vec<(FieldRef, ArrayRef)>> = of_data.map(column).collect();
    let (fields, columns): (Vec<FieldRef>, Vec<ArrayRef>) = columns?.into_iter().unzip();
    Ok((fields.into(), columns))
}

fn column_of(name: &str, nest: &Nest<Value>) -> Result<(FieldRef, ArrayRef)> {
    let column: ArrayRef = match nest {
        Nest::Leaf(value) => {
            let spec = value.spec()?;
            let place = |e: Error| e.at(format!("field '{name}'"));
            let (field, array) = to_arrow_field(value).map_err(place)?;
            let array = settled(&array, &spec, false).map_err(place)?;
            return Ok((refit(&Arc::new(field.as_ref().clone().with_name(name)), &array, &spec, false), array));
        }
        Nest::Static(_) | Nest::Tuple(_) | Nest::List(_) | Nest::Dict(_) | Nest::Record(..) => {
            let (fields, columns) = columns_of(nest)?;
            let rows = columns.first().map_or(0, |column| column.len());
            Arc::new(StructArray::try_new_with_length(fields, columns, None, rows).map_err(|e| internal(&e))?)
        }
    };
    Ok((Arc::new(Field::new(name, column.data_type().clone(), false)), column))
}

fn internal(e: &ArrowError) -> Error {
    Error::internal(format!("Arrow refuses what was proven: {e}"))
}
