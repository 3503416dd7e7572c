//! What is decoded here is what the crate's own reader decodes.

use super::super::read::{both_ways, read_parquet};
use super::super::{ParquetOptions, ParquetSource};
use arrow_array::cast::AsArray;
use arrow_array::*;
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::{WriterProperties, WriterVersion};
use std::sync::Arc;

/// Numbers by chance (Steele et al., "Fast splittable pseudorandom number generators", 2014).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }

    fn leaf(&mut self) -> DataType {
        use DataType as D;
        let zone = Some("UTC".into());
        let categories = |keys, words| D::Dictionary(Box::new(keys), Box::new(words));
        self.of(&[
            D::Boolean,
            D::Boolean,
            D::Int32,
            D::Int64,
            D::Float32,
            D::Float64,
            D::Utf8,
            D::Utf8,
            D::LargeUtf8,
            D::Binary,
            D::LargeBinary,
            D::Int8,
            D::UInt8,
            D::Int16,
            D::UInt16,
            D::UInt32,
            D::UInt64,
            D::Date32,
            D::Timestamp(TimeUnit::Microsecond, zone),
            D::Timestamp(TimeUnit::Nanosecond, None),
            D::Time64(TimeUnit::Nanosecond),
            D::Time32(TimeUnit::Millisecond),
            categories(D::Int32, D::Utf8),
            categories(D::Int32, D::LargeUtf8),
            categories(D::Int32, D::Binary),
        ])
    }

    fn data_type(&mut self, depth: usize) -> DataType {
        let kind = if depth == 0 { 0 } else { self.below(6) };
        match kind {
            0 | 1 => self.leaf(),
            2 => {
                let n = 1 + self.below(3);
                DataType::Struct((0..n).map(|i| self.field(&format!("f{i}"), depth - 1)).collect())
            }
            3 => DataType::LargeList(Arc::new(self.field("item", depth - 1))),
            4 => {
                let size = 1 + self.below(3) as i32;
                DataType::FixedSizeList(Arc::new(self.field("item", depth - 1)), size)
            }
            _ => DataType::List(Arc::new(self.field("element", depth - 1))),
        }
    }

    fn field(&mut self, name: &str, depth: usize) -> Field {
        let data_type = self.data_type(depth);
        Field::new(name, data_type, !self.one_in(3))
    }

    fn nulls(&mut self, field: &Field, n: usize) -> Option<NullBuffer> {
        let some = self.of(&[2, 5, 50, usize::MAX]);
        field.is_nullable().then(|| NullBuffer::new(BooleanBuffer::collect_bool(n, |_| !self.one_in(some))))
    }

    fn lengths(&mut self, nulls: Option<&NullBuffer>, n: usize) -> Vec<usize> {
        let most = self.of(&[1, 2, 4, 12]);
        (0..n).map(|i| if nulls.is_some_and(|nulls| nulls.is_null(i)) { 0 } else { self.below(most + 1) }).collect()
    }

    fn list<O: OffsetSizeTrait>(&mut self, item: &Arc<Field>, nulls: Option<NullBuffer>, n: usize) -> ArrayRef {
        let lengths = self.lengths(nulls.as_ref(), n);
        let items = self.array(item, lengths.iter().sum());
        Arc::new(GenericListArray::<O>::new(item.clone(), OffsetBuffer::from_lengths(lengths), items, nulls))
    }

    fn bytes(&mut self, n: usize, width: usize) -> Buffer {
        // Few and small numbers, which make dictionaries and runs, or any.
        let kinds = self.of(&[1, 3, 200, usize::MAX]);
        let number = |chance: &mut Chance| if kinds == usize::MAX { chance.next() } else { chance.below(kinds) as u64 };
        let times = width == 4 || width == 8;
        let mask = if times { u64::MAX >> 12 } else { u64::MAX };
        let mut run = (0, 0);
        let mut next = || {
            if run.1 == 0 {
                run = (number(self) & mask, 1 + self.below(self.0 as usize % 3 * 10 + 1));
            }
            run.1 -= 1;
            run.0
        };
        (0..n).flat_map(|_| next().to_le_bytes()[..width].to_vec()).collect()
    }

    fn texts(&mut self, n: usize) -> Vec<String> {
        let words = ["", "a", "purée", "tofu-döner", "\u{1f373}", "a longer text, of more than a few bytes", "x"];
        let kinds = self.of(&[1, 4, 7, 10_000]);
        (0..n)
            .map(|_| words.get(self.below(kinds)).map_or_else(|| self.next().to_string(), |w| (*w).to_owned()))
            .collect()
    }

    fn array(&mut self, field: &Field, n: usize) -> ArrayRef {
        let nulls = self.nulls(field, n);
        let there = nulls.clone();
        match field.data_type() {
            DataType::Struct(fields) => {
                let children = fields.iter().map(|field| self.array(field, n)).collect();
                Arc::new(StructArray::new(fields.clone(), children, nulls))
            }
            DataType::List(item) => self.list::<i32>(item, nulls, n),
            DataType::LargeList(item) => self.list::<i64>(item, nulls, n),
            DataType::FixedSizeList(item, size) => {
                let items = self.array(item, n * *size as usize);
                Arc::new(FixedSizeListArray::new(item.clone(), *size, items, nulls))
            }
            DataType::Boolean => Arc::new(BooleanArray::new(BooleanBuffer::new(self.bytes(n, 1), 0, n), nulls)),
            data_type => match data_type.primitive_width() {
                Some(width) => {
                    let data =
                        ArrayData::builder(data_type.clone()).len(n).nulls(nulls).add_buffer(self.bytes(n, width));
                    make_array(data.align_buffers(true).build().expect("numbers"))
                }
                None => {
                    let texts = self.texts(n);
                    let there = |i: usize| there.as_ref().is_none_or(|nulls| nulls.is_valid(i));
                    let texts = texts.iter().enumerate().map(|(i, text)| there(i).then_some(text));
                    match data_type {
                        DataType::Utf8 => Arc::new(texts.collect::<StringArray>()),
                        DataType::LargeUtf8 => Arc::new(texts.collect::<LargeStringArray>()),
                        DataType::Dictionary(_, words) => {
                            let codes: DictionaryArray<types::Int32Type> =
                                texts.map(|t| t.map(|t| t.as_str())).collect();
                            let (keys, names) = (codes.keys().clone(), codes.values().as_string::<i32>());
                            let words: ArrayRef = match **words {
                                DataType::Utf8 => Arc::new(names.clone()),
                                DataType::LargeUtf8 => Arc::new(names.iter().collect::<LargeStringArray>()),
                                _ => Arc::new(names.iter().map(|t| t.map(str::as_bytes)).collect::<BinaryArray>()),
                            };
                            Arc::new(DictionaryArray::new(keys, words))
                        }
                        DataType::Binary => {
                            Arc::new(texts.map(|text| text.map(|t| t.as_bytes())).collect::<BinaryArray>())
                        }
                        _ => Arc::new(texts.map(|text| text.map(|t| t.as_bytes())).collect::<LargeBinaryArray>()),
                    }
                }
            },
        }
    }

    /// How a file is written, and whether nothing unusual is in it.
    fn properties(&mut self) -> (WriterProperties, bool) {
        let second = self.one_in(2);
        let plain = !second || self.one_in(2);
        let version = if second { WriterVersion::PARQUET_2_0 } else { WriterVersion::PARQUET_1_0 };
        let codecs = [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::ZSTD(Default::default())];
        let mut builder = WriterProperties::builder()
            .set_writer_version(version)
            .set_compression(self.of(&codecs))
            .set_dictionary_enabled(!self.one_in(3))
            .set_dictionary_page_size_limit(self.of(&[40, 1 << 20]))
            .set_data_page_size_limit(self.of(&[1, 100, 1 << 20]))
            .set_data_page_row_count_limit(self.of(&[1, 7, 20_000]))
            .set_write_batch_size(self.of(&[1, 10, 1024]));
        if plain {
            builder = builder.set_encoding(Encoding::PLAIN);
        }
        (builder.build(), plain)
    }
}

/// A file of these columns, in row groups of so many rows.
fn file(chance: &mut Chance, fields: Fields, properties: WriterProperties, groups: &[usize]) -> ParquetSource {
    let schema = Arc::new(Schema::new(fields.clone()));
    let mut writer = ArrowWriter::try_new(Vec::new(), schema.clone(), Some(properties)).expect("a writer");
    for rows in groups {
        let columns = fields.iter().map(|field| chance.array(field, *rows)).collect();
        writer.write(&RecordBatch::try_new(schema.clone(), columns).expect("rows")).expect("writes");
        writer.flush().expect("writes");
    }
    writer.into_inner().expect("a file").into()
}

/// Whether the bits are the same, those under nulls too. Below lists of a fixed size the crate leaves what it happened to write.
fn same_bits(a: &dyn Array, b: &dyn Array) -> bool {
    let (a, b) = (a.to_data(), b.to_data());
    if a.data_type().is_primitive() {
        return a.buffers()[0].as_slice() == b.buffers()[0].as_slice();
    }
    let same = |(a, b): (&ArrayData, &ArrayData)| same_bits(&make_array(a.clone()), &make_array(b.clone()));
    matches!(a.data_type(), DataType::FixedSizeList(..)) || a.child_data().iter().zip(b.child_data()).all(same)
}

/// Whether numbers under nulls are zero.
fn has_zeros(array: &ArrayData) -> bool {
    let zero = |i: usize, width: usize| array.buffers()[0][i * width..(i + 1) * width].iter().all(|byte| *byte == 0);
    let width = match array.data_type() {
        DataType::Dictionary(keys, _) => keys.primitive_width(),
        data_type => data_type.primitive_width(),
    };
    let null = |i: &usize| array.is_null(*i);
    width.is_none_or(|width| (0..array.len()).filter(null).all(|i| zero(i, width)))
        && array.child_data().iter().all(has_zeros)
}

#[test]
fn random_columns_are_those_of_the_crate() {
    let mut usual = 0;
    for seed in 0..400 {
        let mut chance = Chance(seed);
        let fields: Fields = (0..3).map(|i| chance.field(&format!("c{i}"), 4)).collect();
        let (properties, plain) = chance.properties();
        let mut groups: Vec<usize> = (0..chance.below(3)).map(|_| chance.of(&[0, 1, 9, 40, 150])).collect();
        groups.push(20);
        let source = file(&mut chance, fields.clone(), properties, &groups);
        for (ours, theirs) in both_ways(&source).expect("opens") {
            let theirs = theirs.expect("the crate reads what it wrote");
            let Some(ours) = ours.unwrap_or_else(|e| panic!("seed {seed}, {fields:?}: {e}")) else {
                assert!(!plain, "seed {seed}: not usual: {:?}", theirs.data_type());
                continue;
            };
            usual += 1;
            assert_eq!(ours.data_type(), theirs.data_type(), "seed {seed}");
            assert!(ours == theirs, "seed {seed}: {:?}", ours.data_type());
            assert!(same_bits(&ours, &theirs) && has_zeros(&ours.to_data()), "seed {seed}: {:?}", ours.data_type());
            ours.to_data().validate_full().expect("a sound array");
        }
    }
    assert!(usual > 800, "{usual}");
}

/// Large enough for several pieces, whose pages begin within rows.
#[test]
fn pieces_are_put_together() {
    let mut chance = Chance(7);
    let item = |data_type| Arc::new(Field::new("item", data_type, true));
    let inner = DataType::FixedSizeList(item(DataType::Float32), 16);
    let deep = DataType::List(item(DataType::List(item(DataType::Utf8))));
    let fields: Fields = [("a", DataType::List(item(inner))), ("b", deep), ("c", DataType::Boolean)]
        .map(|(n, t)| Field::new(n, t, true))
        .into_iter()
        .collect();
    for (version, dictionary) in [(WriterVersion::PARQUET_1_0, true), (WriterVersion::PARQUET_2_0, false)] {
        let properties = WriterProperties::builder()
            .set_writer_version(version)
            .set_dictionary_enabled(dictionary)
            .set_encoding(Encoding::PLAIN)
            .set_data_page_size_limit(10_000)
            .build();
        let source = file(&mut chance, fields.clone(), properties, &[9_000, 20_000]);
        for (ours, theirs) in both_ways(&source).expect("opens") {
            assert_eq!(ours.expect("reads").expect("usual"), theirs.expect("reads"));
        }
    }
}

#[test]
fn hostile_bytes_give_what_the_crate_gives_or_an_error() {
    for seed in 0..12 {
        let mut chance = Chance(seed);
        let fields: Fields = (0..2).map(|i| chance.field(&format!("c{i}"), 3)).collect();
        let (properties, _) = chance.properties();
        let source = file(&mut chance, fields, properties, &[6, 3]);
        let bytes = source.range(0, source.size()).expect("bytes").to_vec();
        let hostile = (0..400).map(|_| {
            let mut odd = bytes.clone();
            let at = chance.below(odd.len());
            match chance.below(4) {
                0 => odd[at] ^= 1 << chance.below(8),
                1 => odd[at] = chance.of(&[0, 1, 0x7f, 0x80, 0xff]),
                2 => drop(odd.splice(at..(at + 4).min(bytes.len()), [0xff, 0xff, 0xff, 0x0f])),
                _ => drop(odd.drain(at..(at + 3).min(bytes.len()))),
            }
            odd
        });
        for odd in hostile.collect::<Vec<_>>() {
            for (ours, theirs) in both_ways(&odd.into()).unwrap_or_default() {
                if let (Ok(Some(ours)), Ok(theirs)) = (ours, theirs) {
                    assert_eq!(ours, theirs, "seed {seed}");
                }
            }
        }
    }
}

#[test]
fn texts_that_are_none_name_their_column() {
    for dictionary in [true, false] {
        let properties = WriterProperties::builder().set_dictionary_enabled(dictionary).build();
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["some", "UNIQUE", "texts"]));
        let rows = RecordBatch::try_from_iter([("t", texts)]).expect("rows");
        let mut writer = ArrowWriter::try_new(Vec::new(), rows.schema(), Some(properties)).expect("a writer");
        writer.write(&rows).expect("writes");
        let mut bytes = writer.into_inner().expect("a file");
        let at = bytes.windows(6).position(|text| text == b"UNIQUE").expect("the text");
        bytes[at] = 0xff;
        let error = read_parquet(&bytes.into(), &ParquetOptions::default()).expect_err("no text").to_string();
        assert!(error.starts_with("at 't': the bytes at 4 are not UTF-8"), "{error}");
    }
}
