//! Texts and bytes that the crate decodes: as views, which share the pages that they lie in, and then as the columns that they are.
//!
//! Few bytes can say many times which text of a dictionary they mean, so what all texts come to is counted before it is made.
//!
//! Invariant: fields, nulls and texts are those of the file. What the crate writes out itself, categories and texts that repeat the ones
//! before (DELTA_BYTE_ARRAY, `repeats.rs`), is counted in the file.

use super::decode::{Budget, array, too_much};
use super::meant::with_fields;
use super::project::{LeafColumn, item};
use super::proof::prove_chunk;
use super::repeats::repeated_bytes;
use super::{ParquetSource, guarded};
use crate::arrow::{inside, picked_of};
use arrow_array::cast::AsArray;
use arrow_array::types::{BinaryViewType, ByteViewType, LargeBinaryType, StringViewType};
use arrow_array::{Array, ArrayRef, GenericByteViewArray, StructArray, make_array};
use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer};
use arrow_data::{ArrayData, ArrayDataBuilder};
use arrow_schema::{ArrowError, DataType, FieldRef, Fields};
use extenso_core::kernels::pool::affordable;
use extenso_types::{Error, Result};
use foldhash::HashMap;
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;
use std::sync::Arc;

/// How many bytes texts may have, however small the file is: honest columns may hold one text over and over.
pub const TEXTS: usize = 512 << 20;

/// The metadata by which texts of these leaf columns are read as views; as it is, if there are none.
///
/// Categories stay what the crate makes of them, places in a dictionary, as far as it may write them out without harm.
///
/// Errors: texts that repeat the ones before, and come to more than `most` bytes; a dictionary that is malformed.
pub fn viewed(
    source: &ParquetSource,
    metadata: &ArrowReaderMetadata,
    columns: &[LeafColumn],
    (groups, leaves): (&[usize], &[usize]),
    most: usize,
) -> Result<ArrowReaderMetadata> {
    let chunks = |leaf: usize| {
        let chunk = move |group: &usize| metadata.metadata().row_group(*group).columns().get(leaf);
        groups.iter().filter_map(chunk)
    };
    let is_repeated =
        |leaf| chunks(leaf).flat_map(|chunk| chunk.encodings()).any(|encoding| encoding == Encoding::DELTA_BYTE_ARRAY);
    // What the crate writes out of all columns, of repeated texts and of categories.
    let (mut repeated, mut written) = (0_usize, 0_usize);
    let is_view = |column: &LeafColumn| {
        let leaf = column.number;
        if view_of(&column.data_type).is_none() || !leaves.contains(&leaf) {
            return Ok(false);
        }
        let named = |e: Error| e.at(format!("column '{}'", column.path));
        if matches!(column.data_type, DataType::Dictionary(..)) || is_repeated(leaf) {
            // What is looked at before it is read is proven before that.
            chunks(leaf).try_for_each(|chunk| prove_chunk(source, chunk).map(drop)).map_err(named)?;
        }
        if is_repeated(leaf) {
            // Some of their pages may be places in a dictionary.
            repeated = repeated.saturating_add(written_out(source, chunks(leaf)).map_err(named)?);
            for chunk in chunks(leaf) {
                if repeated > most {
                    break;
                }
                repeated = repeated.saturating_add(repeated_bytes(source, chunk, most).map_err(named)?);
            }
            return if repeated > most { Err(named(too_much())) } else { Ok(false) };
        }
        if !matches!(column.data_type, DataType::Dictionary(..)) {
            return Ok(true);
        }
        let bytes = written_out(source, chunks(leaf)).map_err(named)?;
        if column.is_ordered {
            // The order of words is known where they are a dictionary alone.
            return if bytes > most { Err(named(too_much())) } else { Ok(false) };
        }
        let much = written.saturating_add(bytes) > TEXTS;
        written = if much { written } else { written + bytes };
        Ok(much)
    };
    let chosen: Vec<bool> = columns.iter().map(is_view).collect::<Result<_>>()?;
    if !chosen.contains(&true) {
        return Ok(metadata.clone());
    }
    fn below(field: &FieldRef, chosen: &mut impl Iterator<Item = bool>) -> FieldRef {
        inside(field, &mut |field| below(field, chosen)).unwrap_or_else(|| {
            let view = chosen.next().filter(|chosen| *chosen).and_then(|_| view_of(field.data_type()));
            view.map_or_else(|| field.clone(), |view| Arc::new(field.as_ref().clone().with_data_type(view)))
        })
    }
    let fields = metadata.schema().fields();
    let mut chosen = chosen.into_iter();
    let fields = fields.iter().map(|field| below(field, &mut chosen)).collect();
    with_fields(metadata.metadata().clone(), metadata.schema(), fields)
}

/// How many bytes the texts of categories may come to, if the crate writes them out, as it does where a dictionary ends.
fn written_out<'a>(source: &ParquetSource, chunks: impl Iterator<Item = &'a ColumnChunkMetaData>) -> Result<usize> {
    chunks.into_iter().try_fold(0_usize, |bytes, chunk| {
        let values = usize::try_from(chunk.num_values()).unwrap_or(usize::MAX);
        Ok(bytes.saturating_add(values.saturating_mul(longest_word(source, chunk)?)))
    })
}

/// How many bytes the longest word of the dictionary has that a chunk begins with; none without a dictionary.
fn longest_word(source: &ParquetSource, chunk: &ColumnChunkMetaData) -> Result<usize> {
    let first = guarded(|| SerializedPageReader::new(Arc::new(source.clone()), chunk, 0, None)?.get_next_page())?;
    let Some(Page::DictionaryPage { buf, num_values, .. }) = first else { return Ok(0) };
    let words = array::<LargeBinaryType>(&buf, num_values as usize);
    let words = words.map_err(|_| Error::data("the Parquet data is malformed: a dictionary ends inside a word"))?;
    Ok((0..words.len()).map(|i| words.value_length(i).as_usize()).max().unwrap_or(0))
}

/// The views of a column of texts or bytes, or of categories of them.
fn view_of(data_type: &DataType) -> Option<DataType> {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 => Some(DataType::Utf8View),
        DataType::Binary | DataType::LargeBinary => Some(DataType::BinaryView),
        DataType::Dictionary(_, words) if !matches!(**words, DataType::Dictionary(..)) => view_of(words),
        _ => None,
    }
}

/// How many bytes the texts of views come to as a column of this type. The words of categories are there once.
fn bytes_of(data: &ArrayData, wanted: &DataType) -> usize {
    match (data.data_type(), data.buffers()) {
        (DataType::Utf8View | DataType::BinaryView, _) if matches!(wanted, DataType::Dictionary(..)) => 0,
        (DataType::Utf8View | DataType::BinaryView, [views, ..]) => {
            let views = views.typed_data::<u128>().get(data.offset()..data.offset() + data.len());
            views.unwrap_or_default().iter().map(|view| *view as u32 as usize).fold(0, usize::saturating_add)
        }
        _ => {
            let parts = data.child_data().iter().zip(types(wanted));
            parts.map(|(part, wanted)| bytes_of(part, wanted)).fold(0, usize::saturating_add)
        }
    }
}

/// The types of the parts of a type.
fn types(data_type: &DataType) -> Vec<&DataType> {
    match data_type {
        DataType::Struct(fields) => fields.iter().map(|field| field.data_type()).collect(),
        other => item(other).into_iter().map(|field| field.data_type()).collect(),
    }
}

/// Rows whose texts are views, in as few parts as have texts of so many bytes at most, the last one first.
///
/// Errors: one row that has more; more than there is memory for.
pub fn parts(rows: StructArray, fields: &Fields, most: usize) -> Result<Vec<StructArray>> {
    let wanted = DataType::Struct(fields.clone());
    let (mut whole, mut parts) = (vec![rows], Vec::new());
    while let Some(rows) = whole.pop() {
        let (bytes, n) = (bytes_of(&rows.to_data(), &wanted), rows.len());
        if bytes <= most {
            affordable(bytes)?;
            parts.push(rows);
        } else if n < 2 {
            let error = Error::data(format!("the texts of one row have {bytes} bytes"));
            return Err(error.wanted(format!("at most {most} bytes")));
        } else {
            let part = |range: std::ops::Range<usize>| {
                let n = range.len();
                picked_of(&rows, std::iter::once(range), n).map(|part| part.as_struct().clone())
            };
            whole.push(part(0..n / 2)?);
            whole.push(part(n / 2..n)?);
        }
    }
    Ok(parts)
}

/// Takes the bytes that texts of these rows come to from the budget.
///
/// Errors: more bytes than it has, or than there is memory for.
pub fn afford(rows: &StructArray, fields: &Fields, budget: &Budget) -> Result<()> {
    let bytes = bytes_of(&rows.to_data(), &DataType::Struct(fields.clone()));
    budget.take(bytes)?;
    affordable(bytes)
}

/// Views as a column of texts, or of categories; of what is hidden, there is nothing.
///
/// Errors: more bytes than the type counts; more words than the keys count.
pub fn texts_of(
    views: &ArrayRef,
    wanted: &DataType,
    hidden: Option<&NullBuffer>,
) -> std::result::Result<ArrayRef, ArrowError> {
    match views.data_type() {
        DataType::Utf8View => column(views.as_byte_view::<StringViewType>(), wanted, hidden).map(make_array),
        DataType::BinaryView => column(views.as_byte_view::<BinaryViewType>(), wanted, hidden).map(make_array),
        other => Err(ArrowError::CastError(format!("{other} is no {wanted}"))),
    }
}

fn column<V: ByteViewType>(
    views: &GenericByteViewArray<V>,
    wanted: &DataType,
    hidden: Option<&NullBuffer>,
) -> std::result::Result<ArrayData, ArrowError> {
    let there = |i: usize| hidden.is_none_or(|hidden| hidden.is_valid(i));
    let nulls = views.nulls().cloned();
    let DataType::Dictionary(keys, words) = wanted else {
        let texts = || views.bytes_iter().enumerate().map(|(i, text)| if there(i) { text } else { &[] });
        return joined(wanted, texts)?.nulls(nulls).build();
    };
    let (places, mut texts) = categories(views, there);
    if texts.is_empty() && nulls.is_none() && !places.is_empty() {
        // Places that nobody sees are places of something, too.
        texts.push(&[]);
    }
    let words = joined(words, || texts.iter().copied())?.build()?;
    dictionary((places.len(), std::iter::once(places.iter().copied())), words, wanted, keys, nulls)
}

/// So many places among words, in parts, as an array of this type, whose keys are of another.
///
/// Errors: more words than the keys count.
pub fn dictionary(
    (n, parts): (usize, impl Iterator<Item = impl Iterator<Item = usize>>),
    words: ArrayData,
    wanted: &DataType,
    keys: &DataType,
    nulls: Option<NullBuffer>,
) -> std::result::Result<ArrayData, ArrowError> {
    let keys = bytes_of_keys((n, parts), keys, words.len())?;
    ArrayData::builder(wanted.clone()).len(n).nulls(nulls).add_buffer(keys).add_child_data(words).build()
}

/// Texts one after another.
///
/// Errors: more bytes than the type counts.
pub fn joined<'a, I: Iterator<Item = &'a [u8]>>(
    data_type: &DataType,
    texts: impl Fn() -> I,
) -> std::result::Result<ArrayDataBuilder, ArrowError> {
    let (n, bytes) = texts().fold((0, 0_usize), |(n, bytes), text| (n + 1, bytes.saturating_add(text.len())));
    let mut values = Vec::with_capacity(bytes);
    let mut ends = Vec::with_capacity(n + 1);
    ends.push(0_usize);
    for text in texts() {
        values.extend_from_slice(text);
        ends.push(values.len());
    }
    let offsets = match data_type {
        DataType::Utf8 | DataType::Binary if i32::try_from(bytes).is_err() => {
            return Err(ArrowError::CastError("the texts of a column have more bytes than its type counts".into()));
        }
        DataType::Utf8 | DataType::Binary => Buffer::from_iter(ends.into_iter().map(|end| end as i32)),
        _ => Buffer::from_iter(ends.into_iter().map(|end| end as i64)),
    };
    let column = ArrayData::builder(data_type.clone()).len(n).add_buffer(offsets);
    Ok(column.add_buffer(Buffer::from_vec(values)))
}

/// The places of texts among those that differ, in the order in which they come first, and these.
fn categories<V: ByteViewType>(
    views: &GenericByteViewArray<V>,
    there: impl Fn(usize) -> bool,
) -> (Vec<usize>, Vec<&[u8]>) {
    let (mut seen, mut known) = (HashMap::<u128, usize>::default(), HashMap::<&[u8], usize>::default());
    let mut words = Vec::new();
    let mut place = |(view, text)| {
        // Views of one text of one page are one number, so that few texts are compared.
        *seen.entry(view).or_insert_with(|| {
            *known.entry(text).or_insert_with(|| {
                words.push(text);
                words.len() - 1
            })
        })
    };
    let places = views.views().iter().copied().zip(views.bytes_iter()).enumerate();
    let places = places.map(|(i, view)| if there(i) { place(view) } else { 0 }).collect();
    (places, words)
}

/// Places in a dictionary of so many words, as its keys.
///
/// Errors: more words than such keys count.
fn bytes_of_keys(
    (n, parts): (usize, impl Iterator<Item = impl Iterator<Item = usize>>),
    keys: &DataType,
    words: usize,
) -> std::result::Result<Buffer, ArrowError> {
    let last = words.saturating_sub(1);
    fn of<K: TryFrom<usize> + ArrowNativeType>(
        (n, parts): (usize, impl Iterator<Item = impl Iterator<Item = usize>>),
        last: usize,
    ) -> Option<Buffer> {
        K::try_from(last).ok()?;
        let mut keys = Vec::<K>::with_capacity(n);
        parts.for_each(|part| keys.extend(part.map(|place| K::try_from(place).unwrap_or_default())));
        Some(keys.into())
    }
    let places = (n, parts);
    let made = match keys {
        DataType::Int8 => of::<i8>(places, last),
        DataType::Int16 => of::<i16>(places, last),
        DataType::Int32 => of::<i32>(places, last),
        DataType::UInt8 => of::<u8>(places, last),
        DataType::UInt16 => of::<u16>(places, last),
        DataType::UInt32 => of::<u32>(places, last),
        DataType::UInt64 => of::<u64>(places, last),
        _ => of::<i64>(places, last),
    };
    made.ok_or_else(|| ArrowError::CastError(format!("{words} words are more than keys of {keys} count")))
}

#[cfg(test)]
mod tests {
    use super::super::{ParquetOptions, ParquetSource, read_parquet, read_parquet_blocks};
    use super::*;
    use arrow_array::types::{ArrowDictionaryKeyType, Int8Type, Int32Type, UInt16Type};
    use arrow_array::{DictionaryArray, LargeStringArray, PrimitiveArray, RecordBatch, StringArray, StringViewArray};
    use arrow_schema::{Field, Schema};
    use extenso_ext::to_literal;
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_writer::ArrowWriterOptions;
    use parquet::file::properties::WriterProperties;

    /// Categories of these words, in turn, some of them missing.
    fn words<K: ArrowDictionaryKeyType>(words: &[&str], n: usize) -> ArrayRef {
        let places = (0..n).map(|i| (i % 7 != 3).then(|| K::Native::usize_as(i % words.len())));
        let places: PrimitiveArray<K> = places.collect();
        Arc::new(DictionaryArray::new(places, Arc::new(LargeStringArray::from(words.to_vec()))))
    }

    fn file(groups: &[ArrayRef], properties: WriterProperties) -> ParquetSource {
        file_of(groups, properties, false)
    }

    /// A file of one column, which is plain where the file does not say what it is in Arrow.
    fn file_of(groups: &[ArrayRef], properties: WriterProperties, plain: bool) -> ParquetSource {
        let field = Field::new("x", groups[0].data_type().clone(), true);
        let schema = Arc::new(Schema::new(vec![field]));
        let options = ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(plain);
        let mut writer = ArrowWriter::try_new_with_options(Vec::new(), schema.clone(), options).expect("a writer");
        for group in groups {
            writer.write(&RecordBatch::try_new(schema.clone(), vec![group.clone()]).expect("rows")).expect("writes");
            writer.flush().expect("writes");
        }
        writer.into_inner().expect("a file").into()
    }

    fn text(rows: &extenso_core::Value) -> String {
        to_literal(rows).expect("rows").to_string()
    }

    #[test]
    fn categories_are_what_was_written_whole_and_in_blocks() {
        let long = "a word that is longer than a view holds itself";
        let groups = |a: &[&str], b: &[&str], n| {
            let of =
                |all: &[&str]| [words::<Int8Type>(all, n), words::<UInt16Type>(all, n), words::<Int32Type>(all, n)];
            let (a, b) = (of(a), of(b));
            a.into_iter().zip(b).map(|(a, b)| vec![a, b]).collect::<Vec<_>>()
        };
        for (limit, page) in [(1 << 20, 1 << 20), (40, 1 << 20), (1 << 20, 20), (40, 20)] {
            for groups in groups(&["b", long, "a"], &["c", "a", long, ""], 50) {
                let properties = WriterProperties::builder()
                    .set_dictionary_page_size_limit(limit)
                    .set_data_page_size_limit(page)
                    .set_write_batch_size(5)
                    .build();
                let source = file(&groups, properties);
                let whole = read_parquet(&source, &ParquetOptions::default()).expect("rows").value;
                let spec = whole.spec().expect("a spec").to_string();
                assert!(spec.contains("CategoricalTensor"), "{spec}");
                let plain: Vec<Option<String>> = groups.iter().flat_map(words_of).collect();
                let wanted: Vec<String> = plain
                    .iter()
                    .map(|word| {
                        format!("{{\"x\": {}}}", word.as_ref().map_or("None".into(), |word| format!("{word:?}")))
                    })
                    .collect();
                assert_eq!(text(&whole), format!("[{}]", wanted.join(", ")));
                let blocks = read_parquet_blocks(&source, 15, ParquetOptions::default()).expect("blocks");
                let found: Vec<String> = blocks
                    .map(|block| text(&block.expect("a block").value).trim_matches(['[', ']']).to_owned())
                    .collect();
                assert_eq!(found.join(", "), wanted.join(", "));
            }
        }
    }

    fn words_of(group: &ArrayRef) -> Vec<Option<String>> {
        let keys = group.as_any_dictionary();
        let words = keys.values().as_string::<i64>();
        let places = keys.normalized_keys();
        (0..group.len()).map(|i| group.is_valid(i).then(|| words.value(places[i]).to_owned())).collect()
    }

    #[test]
    fn one_long_word_many_times_is_no_text_at_once() {
        let n = 3000;
        let word = "x".repeat(1 << 20);
        let places = PrimitiveArray::<Int32Type>::from(vec![0; n]);
        let categories: ArrayRef =
            Arc::new(DictionaryArray::new(places, Arc::new(StringArray::from(vec![word.as_str()]))));
        let properties = || WriterProperties::builder().set_dictionary_page_size_limit(4 << 20);
        // The words of categories are there once, in however many row groups.
        let source = file(&[categories.clone(), categories.clone()], properties().build());
        let rows = read_parquet(&source, &ParquetOptions::default()).expect("categories").value;
        assert_eq!(crate::looks::rows_of(&rows), Some(2 * n));
        let blocks = read_parquet_blocks(&source, n, ParquetOptions::default()).expect("blocks");
        let rows = blocks.map(|block| crate::looks::rows_of(&block.expect("a block").value).expect("rows"));
        assert_eq!(rows.sum::<usize>(), 2 * n);
        // Texts are made one by one, and 3 GB of one are too many at once.
        let source = file_of(&[categories], properties().build(), true);
        let error = read_parquet(&source, &ParquetOptions::default()).expect_err("3 GB").to_string();
        assert!(error.contains("far more bytes than the file"), "{error}");
    }

    #[test]
    fn rows_come_in_parts_of_so_many_bytes() {
        let texts: ArrayRef = Arc::new(StringViewArray::from_iter_values((0..50).map(|i| "x".repeat(i % 9))));
        let field = |data_type| Fields::from(vec![Field::new("t", data_type, false)]);
        let rows = StructArray::new(field(DataType::Utf8View), vec![texts.clone()], None);
        let lengths = |rows: &StructArray| -> Vec<usize> {
            rows.column(0).as_string_view().iter().map(|text| text.map_or(0, str::len)).collect()
        };
        for most in [8, 9, 20, 1000] {
            let mut found = parts(rows.clone(), &field(DataType::Utf8), most).expect("parts");
            found.reverse();
            assert!(found.iter().all(|part| lengths(part).iter().sum::<usize>() <= most));
            assert_eq!(found.iter().flat_map(lengths).collect::<Vec<_>>(), lengths(&rows));
        }
        let error = parts(rows.clone(), &field(DataType::Utf8), 7).expect_err("a row of 8").to_string();
        assert!(error.starts_with("the texts of one row have 8 bytes"), "{error}");
        // Of categories each word is there once.
        let keys = DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8));
        assert_eq!(parts(rows, &field(keys), 0).expect("one part").len(), 1);
    }

    #[test]
    fn views_become_categories_in_the_order_in_which_they_come() {
        let long = "a word that is longer than a view holds itself";
        let views: ArrayRef = Arc::new(
            [Some("b"), None, Some(long), Some("hidden"), Some("b"), Some(long)].iter().collect::<StringViewArray>(),
        );
        let wanted = |keys, words| DataType::Dictionary(Box::new(keys), Box::new(words));
        let hidden = NullBuffer::from(vec![true, false, true, false, true, true]);
        for (keys, words) in [(DataType::Int8, DataType::Utf8), (DataType::UInt64, DataType::LargeUtf8)] {
            let made = texts_of(&views, &wanted(keys, words), Some(&hidden)).expect("categories");
            let made = made.as_any_dictionary();
            assert_eq!((made.normalized_keys(), made.null_count()), (vec![0, 0, 1, 0, 0, 1], 1));
            assert_eq!(made.values().len(), 2);
        }
        let many: ArrayRef = Arc::new(StringViewArray::from_iter_values((0..200).map(|i| i.to_string())));
        let error = texts_of(&many, &wanted(DataType::Int8, DataType::Utf8), None).expect_err("too many").to_string();
        assert!(error.contains("200 words are more than keys of Int8 count"), "{error}");
        // What nobody sees is a place of something, too.
        let none: ArrayRef = Arc::new(StringViewArray::from_iter_values(["", ""]));
        let unseen = texts_of(&none, &wanted(DataType::Int8, DataType::Utf8), Some(&NullBuffer::new_null(2)));
        assert_eq!(unseen.expect("places").as_any_dictionary().values().len(), 1);
    }
}
