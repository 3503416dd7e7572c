//! What is read quickly is what is read carefully, and the rest is read all the same.

use super::compile::compile;
use super::node::Record;
use super::read::Scratch;
use super::tests::{check, check_refused, masked, message};
use super::{Enums, Messages, Optionals, ProtobufOptions, proto_spec, quick, read_proto};
use crate::columns::Columns;
use crate::{OnError, RecordSpec};
use extenso_ext::to_literal;
use extenso_types::{Nest, Path, Result};

/// A small generator of random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % n
    }
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The bytes of an order, of which hardly anything is odd, and nothing the order of the fields.
fn random_order(random: &mut Random, in_order: bool) -> Vec<u8> {
    let mut fields = vec![(1, vec![0x08, 1])];
    for _ in 0..random.below(8) {
        let number = [2, 3, 4, 4, 5, 6, 7, 8, 9, 10, 11, 13, 20][random.below(13)];
        let mut value = Vec::new();
        let wire = match number {
            3 | 6 | 7 | 8 | 20 if random.below(2) == 0 => {
                varint([0, 3, 150, 1 << 31, u64::MAX >> random.below(64)][random.below(5)], &mut value);
                0
            }
            3 | 7 | 13 => {
                let packed = if number == 13 { vec![0; 4 * random.below(3)] } else { vec![3; random.below(4)] };
                varint(packed.len() as u64, &mut value);
                value.extend(packed);
                2
            }
            4 | 5 | 10 => {
                let item: &[u8] = [&b""[..], b"\x08\x07", b"\x11\0\0\0\0\0\0\xf0\x3f\x08\x96\x01"][random.below(3)];
                varint(item.len() as u64, &mut value);
                value.extend(item);
                2
            }
            2 | 9 => {
                let text = ["", "note", "größe"][random.below(3)];
                varint(text.len() as u64, &mut value);
                value.extend(text.as_bytes());
                2
            }
            11 => {
                value.extend(b"\x05\x0a\x01a\x10\x07");
                2
            }
            _ => {
                value.push(3);
                0
            }
        };
        let mut field = Vec::new();
        varint(number << 3 | wire, &mut field);
        fields.push((number, [field, value].concat()));
    }
    if in_order {
        fields.sort_by_key(|(number, _)| *number);
    }
    fields.into_iter().flat_map(|(_, field)| field).collect()
}

type ReadQuickly = fn(&[u8], &Record, &mut Columns) -> Option<()>;

#[test]
fn what_is_read_quickly_is_what_is_read_carefully() {
    let all = ["id", "note", "counts", "items", "gift", "kind", "kinds", "stock", "vector", "card", "bank", "swap"];
    let messages = [("shop.Order", &all[..]), ("shop.Plain", &all[..9])].map(|(name, all)| (message(name), all));
    let (mut quickly, mut in_order, mut random) = (0, 0, Random(1));
    for round in 0..30_000 {
        let (order, all) = &messages[round / 7 % 2];
        let paths: Vec<Path> = all
            .iter()
            .filter(|_| round % 3 == 0 || random.below(2) == 0)
            .map(|path| path.parse().expect("a path"))
            .collect();
        let optionals = if round % 2 == 0 { Optionals::Masked } else { Optionals::Rows };
        let enums = if round % 5 == 0 { Enums::Names } else { Enums::Numbers };
        let paths = (!paths.is_empty()).then_some(paths);
        let options = ProtobufOptions { paths, optionals, enums, ..ProtobufOptions::default() };
        let spec = proto_spec(order, &options).expect("a spec");
        let plan = RecordSpec::new(&Nest::Leaf(spec), &[]).expect("records");
        let root = compile(order, plan.plan()).expect("a record");
        let kinds = plan.plan().kinds().expect("kinds");
        let mut bytes = random_order(&mut random, round % 4 > 0);
        for _ in 0..random.below(3) * (round % 2) {
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
        }
        let none = Columns::new(&kinds).expect("columns");
        let mut careful = none.clone();
        let read = Scratch::default().read_carefully(&bytes, &root, &mut careful);
        for (count, read_quickly) in
            [(&mut quickly, quick::read::<false> as ReadQuickly), (&mut in_order, quick::read::<true>)]
        {
            let mut quick = none.clone();
            if read_quickly(&bytes, &root, &mut quick).is_some() {
                *count += 1;
                assert!(read.is_ok(), "{}: {read:?}", bytes.escape_ascii());
                assert_eq!(format!("{quick:?}"), format!("{careful:?}"), "{}", bytes.escape_ascii());
            }
        }
    }
    assert!(
        quickly > 5_000 && in_order > 5_000 && in_order < quickly,
        "{quickly} records are read quickly, {in_order} in order"
    );
}

#[test]
fn a_short_text_is_checked_to_its_end_and_no_further() {
    for len in 0..40 {
        let note = "é".repeat(len / 2) + &"a".repeat(len % 2);
        let mut bytes = vec![8, 1, 0x12, u8::try_from(note.len()).expect("short")];
        bytes.extend(note.as_bytes());
        // What follows is no UTF-8.
        bytes.extend(b"\x18\xff\xff\xff\xff\x0f\x18\xff\x01");
        check(&bytes, &["note", "counts"], &format!(r#"{{"note": "{note}", "counts": [4294967295, 255]}}"#));
        for at in 0..note.len() {
            let mut bytes = bytes.clone();
            bytes[4 + at] = 0xff;
            check_refused(&bytes, &["note"], "row 0, byte ");
        }
    }
}

#[test]
fn odd_messages_among_many_are_read_as_all_others() {
    const MANY: usize = 30_000;
    let order = |i: usize| {
        let mut bytes = vec![8];
        varint(i as u64, &mut bytes);
        bytes.extend(b"\x12\x04note");
        bytes
    };
    // The last of two notes holds.
    let twice = |i: usize| [order(i), b"\x12\x01x".to_vec()].concat();
    for odd in [vec![], vec![0], vec![MANY / 2, MANY - 1], vec![7, 9000, 9001, 20_000]] {
        let messages: Vec<Vec<u8>> = (0..MANY).map(|i| if odd.contains(&i) { twice(i) } else { order(i) }).collect();
        let read = |bad: Option<usize>, on_error: OnError| {
            let mut all: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
            bad.into_iter().for_each(|i| all[i] = b"\x08");
            let options = ProtobufOptions { on_error, ..masked(&["id", "note"]) };
            read_proto(Messages::Each(&all), &message("shop.Order"), &options)
        };
        let literal = |skipped: Option<usize>| {
            let row = |i: usize| format!(r#"{{"id": {i}, "note": "{}"}}"#, if odd.contains(&i) { "x" } else { "note" });
            let rows: Vec<String> = (0..MANY).filter(|i| Some(*i) != skipped).map(row).collect();
            format!("[{}]", rows.join(", "))
        };
        for threads in [1, 3] {
            extenso_core::with_threads(threads, || {
                let came =
                    |rows: Result<crate::Rows<_>>| to_literal(&rows.expect("rows").value).expect("text").to_string();
                assert!(came(read(None, OnError::Raise)) == literal(None), "{odd:?}");
                let bad = Some(MANY / 3);
                let error = read(bad, OnError::Raise).expect_err("a bad row").to_string();
                assert!(error.contains(&format!("row {}", MANY / 3)), "{error}");
                assert!(came(read(bad, OnError::Skip)) == literal(bad), "{odd:?}");
            });
        }
    }
}
