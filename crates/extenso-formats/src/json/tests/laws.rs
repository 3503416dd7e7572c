//! Laws over random plans and columns, and what hostile bytes may do: an error or a value, never a panic.

use super::random::{Rng, assert_rows, columns, plan, project};
use super::{decode, list, optional, record, scalar, text};
use crate::columns::{ColumnRef, Columns, Decoded, OnError};
use crate::json::node::Node;
use crate::json::read::Scratch;
use crate::json::{Decoder, encode_lines, quick};
use crate::plan::{ColumnId, Plan};
use extenso_types::{DType, Result};

fn encode(plan: &Plan, columns: &Columns, rows: usize) -> Vec<u8> {
    let (mut out, mut columns) = (Vec::new(), columns.clone().into_vec());
    let columns: Result<Vec<ColumnRef<'_>>> = columns.iter_mut().map(ColumnRef::of).collect();
    encode_lines(plan, &columns.expect("memory"), rows, &mut out).expect("columns of the plan");
    out
}

/// Equality bit for bit: the text of a number tells apart what `==` does not.
fn same(a: &Columns, b: &Columns) -> bool {
    format!("{a:?}") == format!("{b:?}")
}

#[test]
fn what_was_written_reads_back_bit_for_bit() {
    for seed in 0..2000 {
        let mut rng = Rng(seed);
        let (plan, rows) = (plan(&mut rng), rng.below(12));
        let before = columns(&plan, rows, &mut rng);
        let json = encode(&plan, &before, rows);
        let after = decode(&plan, &json, OnError::Raise).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert!(same(&before, &after.columns) && after.rows == rows, "seed {seed}");
        assert_eq!(encode(&plan, &after.columns, rows), json, "seed {seed}");
    }
}

#[test]
fn what_is_read_quickly_is_what_is_read_carefully() {
    let (mut quickly, mut refused) = (0, 0);
    for seed in 0..6000 {
        let mut rng = Rng(seed);
        let plan = plan(&mut rng);
        let mut text = encode(&plan, &columns(&plan, 1, &mut rng), 1);
        let is_changed = seed % 3 > 0;
        for _ in 0..if is_changed { 1 + rng.below(3) } else { 0 } {
            let at = rng.below(text.len());
            let byte = rng.pick(b"\"\\[]{},:0123456789.eE+-tfnu \n\x01\xc3");
            if rng.below(2) == 0 { text[at] = byte } else { text.insert(at, byte) }
        }
        if std::str::from_utf8(&text).is_err() {
            continue;
        }
        let (root, none) = (Node::compile(&plan).expect("a plan"), columns(&plan, 0, &mut rng));
        let (mut quick, mut careful) = (none.clone(), none);
        let read = Scratch::default().read_carefully(&text, &root, &mut careful);
        match (quick::Scratch::default().read(&text, &root, &mut quick), read) {
            (Some(()), Ok(())) => {
                quickly += 1;
                assert!(same(&quick, &careful), "seed {seed}: {}", text.escape_ascii());
            }
            (Some(()), Err(e)) => panic!("seed {seed}: {e:?}: {}", text.escape_ascii()),
            (None, Ok(())) => refused += usize::from(!is_changed),
            (None, Err(_)) => {}
        }
    }
    // Little of what was written is odd.
    assert!(quickly > 2000 && refused < 100, "{quickly} records are read quickly, {refused} are not");
}

#[test]
fn a_projection_equals_all_projected() {
    for seed in 0..1000 {
        let mut rng = Rng(seed);
        let (plan, mut old) = (plan(&mut rng), Vec::new());
        let all = columns(&plan, 5, &mut rng);
        let json = encode(&plan, &all, 5);
        let narrow = project(&plan, &mut |_| rng.below(4) == 0, &mut old);
        let decoded = decode(&narrow, &json, OnError::Raise).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let wanted: Vec<_> = old.iter().map(|id| all.get(*id).expect("a column")).collect();
        assert_eq!(format!("{:?}", decoded.columns.as_slice()), format!("{wanted:?}"), "seed {seed}");
    }
}

fn twelve() -> Plan {
    let item = record([
        ("item_id", scalar(DType::I64, 6)),
        ("price", scalar(DType::F32, 7)),
        ("title", text(DType::String, 8)),
        ("seen", scalar(DType::Bool, 9)),
        ("tags", list(Some(10), scalar(DType::U16, 11))),
    ]);
    record([
        ("id", scalar(DType::U64, 0)),
        ("score", optional(Some(1), scalar(DType::F64, 2))),
        ("country", text(DType::String, 3)),
        ("key", text(DType::Bytes, 4)),
        ("history", list(Some(5), item)),
        ("box", Plan::Fixed { size: 4, item: Box::new(scalar(DType::F16, 12)) }),
    ])
}

#[test]
fn needed_three_of_twelve_equals_all_projected() {
    let (plan, mut rng) = (twelve(), Rng(7));
    let all = columns(&plan, 200, &mut rng);
    let json = encode(&plan, &all, 200);
    let mut old = Vec::new();
    let narrow = project(&plan, &mut |id| [3, 5, 7].contains(&id.0), &mut old);
    assert_eq!(old, [ColumnId(3), ColumnId(5), ColumnId(7)]);
    let decoded = decode(&narrow, &json, OnError::Raise).expect("the same records");
    let wanted: Vec<_> = old.iter().map(|id| all.get(*id).expect("a column")).collect();
    assert_eq!(format!("{:?}", decoded.columns.as_slice()), format!("{wanted:?}"));
    // Keys that the plan does not even name are read over as well.
    let Plan::Record { mut fields } = narrow else { panic!("no record") };
    fields.retain(|field| !field.plan.is_unused());
    let unnamed = decode(&Plan::Record { fields }, &json, OnError::Raise).expect("the same records");
    assert!(same(&unnamed.columns, &decoded.columns));
}

#[test]
fn the_order_of_keys_does_not_matter() {
    fn reverse(plan: &Plan) -> Plan {
        match plan {
            Plan::Record { fields } => {
                let mut fields = fields.clone();
                fields.reverse();
                fields.iter_mut().for_each(|field| field.plan = reverse(&field.plan));
                Plan::Record { fields }
            }
            Plan::List { offsets, index, size, item } => {
                Plan::List { offsets: *offsets, index: *index, size: *size, item: Box::new(reverse(item)) }
            }
            other => other.clone(),
        }
    }
    let (plan, mut rng) = (twelve(), Rng(8));
    let all = columns(&plan, 50, &mut rng);
    let json = encode(&reverse(&plan), &all, 50);
    let decoded = decode(&plan, &json, OnError::Raise).expect("the same records");
    assert!(same(&decoded.columns, &all));
}

/// Reads hostile bytes in every way there is.
fn attack(plan: &Plan, decoder: &mut Decoder, input: &[u8]) -> Option<Decoded> {
    for on_error in [OnError::Skip, OnError::Default] {
        let decoded = decoder.lines(input, on_error).expect("bad rows are no error of the call");
        assert_rows(plan, &decoded.columns, decoded.rows);
    }
    if let Ok(columns) = decoder.one(input) {
        assert_rows(plan, &columns, 1);
    }
    if let Ok(decoded) = decoder.array(input, OnError::Raise) {
        assert_rows(plan, &decoded.columns, decoded.rows);
    }
    let decoded = decoder.lines(input, OnError::Raise).ok()?;
    assert_rows(plan, &decoded.columns, decoded.rows);
    Some(decoded)
}

fn victims() -> impl Iterator<Item = (Plan, Decoder, Vec<u8>)> {
    (0..24).map(|seed| {
        let mut rng = Rng(seed);
        let mut plan = if seed == 0 { twelve() } else { plan(&mut rng) };
        let all = columns(&plan, 2, &mut rng);
        let json = encode(&plan, &all, 2);
        if seed % 3 == 2 {
            plan = project(&plan, &mut |_| rng.below(2) == 0, &mut Vec::new());
        }
        let decoder = Decoder::new(&plan).expect("a plan");
        (plan, decoder, json)
    })
}

#[test]
fn a_record_cut_anywhere_is_an_error() {
    for (plan, mut decoder, json) in victims() {
        let line = json.split(|b| *b == b'\n').next().expect("a line");
        for n in 1..line.len() {
            assert!(attack(&plan, &mut decoder, &line[..n]).is_none(), "{}", String::from_utf8_lossy(&line[..n]));
        }
        assert!(attack(&plan, &mut decoder, line).is_some());
    }
}

#[test]
fn flipped_bytes_give_an_error_or_a_value() {
    for (seed, (plan, mut decoder, json)) in victims().enumerate() {
        let mut rng = Rng(seed as u64);
        for _ in 0..600 {
            let mut bytes = json.clone();
            for _ in 0..=rng.below(3) {
                let at = rng.below(bytes.len());
                bytes[at] = if rng.below(2) == 0 { rng.next() as u8 } else { rng.pick(b"{}[]\",:\\0-.eEtfn\n u") };
            }
            attack(&plan, &mut decoder, &bytes);
        }
    }
}

#[test]
fn rearranged_records_give_an_error_or_a_value() {
    const TOKENS: [&[u8]; 16] = [
        b"{",
        b"}",
        b"[",
        b"]",
        b"null",
        b"\"\"",
        b",",
        b":",
        b"-1e999",
        b"\\ud800",
        b"{\"a\":",
        b"[[[[",
        b"1.5",
        b"\xff",
        b"\n",
        b"18446744073709551616",
    ];
    for (seed, (plan, mut decoder, json)) in victims().enumerate() {
        let mut rng = Rng(seed as u64);
        for _ in 0..600 {
            let mut bytes = json.clone();
            for _ in 0..=rng.below(3) {
                let (a, b) = (rng.below(bytes.len() + 1), rng.below(bytes.len() + 1));
                let (from, to) = (a.min(b), a.max(b));
                match rng.below(4) {
                    0 => drop(bytes.drain(from..to)),
                    1 => {
                        let piece = bytes[from..to].to_vec();
                        let at = rng.below(bytes.len() + 1);
                        bytes.splice(at..at, piece);
                    }
                    2 => bytes[from..to].reverse(),
                    _ => drop(bytes.splice(from..from, rng.pick(&TOKENS).iter().copied())),
                }
            }
            attack(&plan, &mut decoder, &bytes);
        }
    }
}

#[test]
fn garbage_is_an_error() {
    let plan = twelve();
    let mut decoder = Decoder::new(&plan).expect("a plan");
    let mut rng = Rng(3);
    for n in 0..2000 {
        let bytes: Vec<u8> = (0..1 + n % 50).map(|_| rng.next() as u8 | 0x20).collect();
        let blank = bytes.iter().all(|b| b" \t\r\n".contains(b));
        assert!(attack(&plan, &mut decoder, &bytes).is_none() || blank);
    }
}
