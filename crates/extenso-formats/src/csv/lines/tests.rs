//! Rows of texts beside those of the crate `csv`, and however a text comes.

use super::*;

/// Texts of what ends cells and rows, quotes, and a letter, some of them longer than what is looked at together.
fn odd_texts() -> impl Iterator<Item = Vec<u8>> {
    let mut state = 7_u64;
    let mut random = move |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    (0..4000).map(move |i| {
        let parts: &[&[u8]] = &[b",", b"\n", b"\r", b"\"", b"\"\"", b"x", b"\r\n", b",\"", b"\",", b"\"\n", b"yyyy"];
        let count = if i % 50 == 0 { 9000 } else { random(24) };
        // Long texts in which a quote is rare have rows at all.
        let most = if i % 100 == 0 { parts.len() as u64 } else { 40 };
        let part = |_| parts.get(random(most) as usize).copied().unwrap_or(b"zz");
        (0..count).map(part).collect::<Vec<_>>().concat()
    })
}

#[test]
fn rows_are_those_of_the_crate_csv_whole_and_in_pieces() {
    let mut rows_seen = 0;
    for text in odd_texts() {
        let mut reader = csv::ReaderBuilder::new().flexible(true).has_headers(false).from_reader(&text[..]);
        let wanted: Vec<Vec<Vec<u8>>> =
            reader.byte_records().map(|record| record.expect("reads").iter().map(<[u8]>::to_vec).collect()).collect();
        let syntax = Syntax { delimiter: b',', blank: false };
        let read = |mut text: &[u8], piece: usize| {
            let (mut all, mut begins) = (Vec::new(), Vec::new());
            let whole = text.len();
            while !text.is_empty() {
                let (part, rest) = rows(text, b',', piece);
                let (mut lines, mut line) = (Lines::new(part, syntax), Line::default());
                while lines.next(&mut line).ok()? {
                    all.push(line.cells().map(<[u8]>::to_vec).collect::<Vec<_>>());
                    begins.push(whole - text.len() + line.start());
                }
                text = rest;
            }
            Some((all, begins))
        };
        let all = read(&text, usize::MAX);
        for piece in [0, 1, 3, 10, 1000] {
            assert_eq!(read(&text, piece), all, "{:?} by {piece}", text.escape_ascii().to_string());
        }
        // The crate takes what is there of a quoted cell that does not end.
        if let Some((found, begins)) = all {
            assert_eq!(found, wanted, "{:?}", text.escape_ascii().to_string());
            assert!(begins.iter().all(|at| !matches!(text[*at], b'\n' | b'\r')));
            rows_seen += found.len();
        }
    }
    assert!(rows_seen > 20_000, "{rows_seen} rows");
}

#[test]
fn ends_of_rows_are_found_however_a_text_comes() {
    for text in odd_texts().filter(|text| text.len() < 100) {
        let whole = Ends::default().first(&text, b',', 5, true);
        for step in 1..=text.len().max(1) {
            let mut ends = Ends::default();
            let parts = (step..text.len()).step_by(step);
            let found = parts.map(|end| ends.first(&text[..end], b',', 5, false)).find_map(|end| end);
            let found = found.or_else(|| ends.first(&text, b',', 5, true));
            assert_eq!(found, whole, "{:?} by {step}", text.escape_ascii().to_string());
        }
    }
}
