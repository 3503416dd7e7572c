//! Bytes that lie, are cut or flipped: an error or a value, in the memory that they are worth.

use super::*;

#[test]
fn few_bytes_make_no_more_than_they_may() {
    let refused = |schema: &str, rows: i64, data: &[u8], wanted: &str| {
        check_refused(&file(schema, "null", rows, data), &AvroOptions::default(), wanted);
    };
    let far = "far more than it has bytes";
    let field = |of: &str| record(&format!(r#"{{"name":"x","type":{of}}}"#));
    refused(&record(""), i64::MAX, &[], far);
    refused(&field(r#""null""#), 1 << 40, &[], far);
    refused(&field(r#"{"type":"array","items":"null"}"#), 1, &longs(&[i64::MAX, 0]), far);
    refused(&field(r#"{"type":"array","items":"long"}"#), 1, &longs(&[i64::MAX, 0]), "items are said to be here");
    refused(&field(r#"{"type":"array","items":"long"}"#), 1, &longs(&[i64::MIN, 0]), "items are said to be here");
    refused(&field(r#""string""#), 1, &longs(&[i64::MAX]), "bytes are said to be here");
    refused(&field(r#""string""#), 1, &longs(&[-1]), "a length is -1");
    refused(&field(r#""long""#), 1, &longs(&[1, 2]), "1 bytes are behind the 1 rows");
    refused(&field(r#""long""#), -1, &[], "a length is -1");
    let odd = "3 bytes are said to be here, and 2 items have 2";
    refused(&field(r#"{"type":"array","items":"long"}"#), 1, &longs(&[-2, 3, 7, 8, 0]), odd);
    let over = record(r#"{"name":"l","type":{"type":"array","items":"long"}},{"name":"x","type":"long"}"#);
    for (bytes, wanted) in [(i64::MAX, "bytes are said to be here"), (-5, "a length is -5")] {
        check_refused(&file(&over, "null", 1, &longs(&[-1, bytes, 7, 0, 9])), &paths(&["x"]), wanted);
    }
    let huge = r#"["null",{"type":"fixed","name":"f","size":2000000000}]"#;
    refused(&field(huge), 1, &longs(&[0]), far);
    let sized = r#"["null",{"type":"array","arrowFixedSize":16000000,"items":"double"}]"#;
    refused(&field(sized), 1, &longs(&[0]), far);
    // Many nulls in place of wide records; and types that double with each name.
    let wide: Vec<String> = (0..5000).map(|i| format!(r#"{{"name":"f{i}","type":"double"}}"#)).collect();
    let wide = format!(r#"["null",{{"type":"record","name":"w","fields":[{}]}}]"#, wide.join(","));
    refused(&field(&wide), 100_000, &[0; 100_000], far);
    let mut doubling = r#"{"type":"record","name":"r0","fields":[{"name":"a","type":"null"}]}"#.to_string();
    for i in 1..50 {
        let before = i - 1;
        doubling = format!(
            r#"{{"type":"record","name":"r{i}","fields":[{{"name":"a","type":{doubling}}},{{"name":"b","type":"r{before}"}}]}}"#
        );
    }
    refused(&doubling, 1, &[], "too many fields");
    let beside = record(&format!(r#"{{"name":"x","type":"long"}},{{"name":"y","type":{doubling}}}"#));
    assert_eq!(read(&file(&beside, "null", 1, &[2]), &paths(&["x"])).expect("reads"), r#"[{"x": 1}]"#);
}

#[test]
fn blocks_and_headers_say_how_long_they_are() {
    let schema = record(r#"{"name":"x","type":"long"}"#);
    let whole = file(&schema, "null", 1, &[2]);
    // The length of the block stands before its byte and the marker.
    let block = |length: i64| [&whole[..whole.len() - 18], &longs(&[length]), &whole[whole.len() - 17..]].concat();
    assert_eq!(read(&block(1), &AvroOptions::default()).expect("reads"), r#"[{"x": 1}]"#);
    check_refused(&block(-1), &AvroOptions::default(), "a length is -1");
    check_refused(&block(i64::MAX), &AvroOptions::default(), "bytes are said to be here");
    check_refused(&block(0), &AvroOptions::default(), "the marker behind a block is not that of the header");
    // The entries of a header come behind how many they are, or behind that and their bytes.
    let headed = |counts: &[i64]| [MAGIC, &longs(counts), &whole[5..]].concat();
    let entries = i64::try_from(header(&whole) - 16 - 1 - 5).expect("short");
    assert_eq!(read(&headed(&[-2, entries]), &AvroOptions::default()).expect("reads"), r#"[{"x": 1}]"#);
    for counts in [&[i64::MAX][..], &[i64::MIN, 0]] {
        check_refused(&headed(counts), &AvroOptions::default(), "the Avro data is malformed");
    }
    check_refused(&[MAGIC, &longs(&[1, 1 << 40])].concat(), &AvroOptions::default(), "bytes are in the header");
}

#[test]
fn packed_blocks_hold_no_more_than_they_may() {
    let schema = record(r#"{"name":"x","type":"bytes"}"#);
    let zeros = vec![0; 80 << 20];
    for codec in [AvroCodec::Deflate, AvroCodec::Zstd, AvroCodec::Snappy] {
        let packed = codec.pack(&zeros).expect("packs");
        if packed.len() < zeros.len() / 300 {
            check_refused(&file(&schema, codec.name(), 1, &packed), &AvroOptions::default(), "far more");
        }
        let odd = file(&schema, codec.name(), 1, b"\xff\xff\xff\xff\x0f odd bytes");
        assert!(read(&odd, &AvroOptions::default()).is_err(), "{codec:?}");
    }
    check_refused(&file(&schema, "snappy", 1, b"\xff\xff\xff\xff\x0f odd bytes"), &AvroOptions::default(), "far more");
    check_refused(&file(&schema, "snappy", 1, b"ab"), &AvroOptions::default(), "it has no checksum");
    check_refused(&file(&schema, "bzip2", 1, b"ab"), &AvroOptions::default(), "the blocks are packed by 'bzip2'");
}

#[test]
fn odd_schemas_are_refused() {
    let refused =
        |schema: &str, wanted: &str| check_refused(&file(schema, "null", 0, &[]), &AvroOptions::default(), wanted);
    refused("{", "it is no JSON");
    refused("7", "a type is no text, list or object");
    refused(r#""nowhere""#, "there is no type 'nowhere'");
    refused("[]", "a union has 0 types");
    refused(r#"["int",["long"]]"#, "a union stands in a union");
    refused(r#"["int","int"]"#, "a union has 'int' twice");
    refused(r#"{"type":"record","name":"r"}"#, "'r' has no list of fields");
    refused(r#"{"type":"record","name":"r","fields":[{"name":"a","type":"r"}]}"#, "record r holds itself");
    refused(r#"{"type":"fixed","name":"f","size":-1}"#, "'f' has no size");
    refused(r#"{"type":"enum","name":"e","symbols":["a","a"]}"#, "'e' has a symbol twice");
    refused(&"[".repeat(100_000), "it is no JSON");
    let mut deep = r#""long""#.to_string();
    for _ in 0..65 {
        deep = format!(r#"{{"type":"array","items":{deep}}}"#);
    }
    refused(&deep, "nest too deep");
}

#[test]
fn flipped_bytes_give_an_error_or_a_value() {
    let value = batch();
    for codec in CODECS {
        let bytes = encode_avro(&Nest::Leaf(value.clone()), codec).expect("writes");
        for at in 0..bytes.len() {
            let mut odd = bytes.clone();
            for flip in [1, 0x80, 0xff] {
                odd[at] = bytes[at] ^ flip;
                drop(read(&odd, &AvroOptions::default()));
            }
            assert!(read(&bytes[..at], &AvroOptions::default()).is_err() || at == header(&bytes), "{at} bytes");
        }
    }
}

/// Where the header ends, behind which a file may.
fn header(bytes: &[u8]) -> usize {
    let marker = &bytes[bytes.len() - 16..];
    bytes.windows(16).position(|window| window == marker).map_or(0, |at| at + 16)
}
