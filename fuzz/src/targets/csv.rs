//! Tables to records, by a spec and by none, under every policy, and back.

use super::json::times;
use crate::outcomes::Outcomes;
use extenso_formats::csv::{CsvOptions, encode_csv, read_csv};
use extenso_formats::{FieldSpec as F, OnError, struct_spec};
use extenso_types::{DType, Nest, Spec};
use std::sync::LazyLock;

pub const DICTIONARY: &[&[u8]] = &[
    b"\"",
    b"\"\"",
    b",",
    b"\r\n",
    b"\n\n",
    b"\xef\xbb\xbf",
    b"\xff",
    b"id,user.name,user.age\n",
    b"9223372036854775808",
    b"1e400",
    b"NaN",
    b"true",
    b"2001-02-03",
];

static SPECS: LazyLock<[Option<Spec>; 3]> = LazyLock::new(|| {
    let scalar = |dtype| F::Scalar(dtype, vec![]);
    let user = vec![("name", scalar(DType::String)), ("age", F::Optional(Box::new(scalar(DType::U8))))];
    let plain =
        [("id", scalar(DType::I64)), ("user", F::Record(user)), ("score", F::Optional(Box::new(scalar(DType::F32))))];
    [None, Some(struct_spec(plain).expect("a record")), Some(times().expect("a record"))]
});

pub fn corpus() -> Vec<Vec<u8>> {
    let tables = [
        "id,user.name,user.age,score\n1,a,,0.5\n2,\"b, \"\"b\"\"\n\",7,NaN\n",
        "at,local,day,time,took,price,wide\r\n2001-02-03T04:05:06Z,1969-12-31T23:59:59,2000-02-29,23:59:59.5,1.5s,-12.5,1200\r\n,,,,,,\r\n",
        "x,y\n1,true\n2.5,false\n,\n",
        "a\n18446744073709551615\n-1\n",
    ];
    tables.iter().map(|table| table.as_bytes().to_vec()).collect()
}

pub fn run(bytes: &[u8], outcomes: &mut Outcomes) {
    for spec in SPECS.iter() {
        for on_error in [OnError::Raise, OnError::Skip, OnError::Default] {
            let options = CsvOptions { spec: spec.clone(), on_error, ..CsvOptions::default() };
            let Some(rows) = outcomes.of("csv", read_csv(bytes, &options)) else { continue };
            let read = rows.value.spec().expect("a spec");
            outcomes.value("csv", &read);
            for bad in rows.bad.first {
                outcomes.of::<()>("row", Err(bad.error));
            }
            let text = encode_csv(&Nest::Leaf(rows.value), b',').expect("what was read can be written");
            if spec.is_none() {
                continue;
            }
            let again = CsvOptions { spec: spec.clone(), ..CsvOptions::default() };
            // A blank line is no row, so one empty cell alone does not come back.
            let Some(again) = outcomes.of("again", read_csv(&text, &again)) else { continue };
            let twice = encode_csv(&Nest::Leaf(again.value), b',').expect("what was read can be written");
            assert_eq!(text, twice, "reading what was written gives the same");
        }
    }
}
