//! Laws of arrays as sources: they are read in blocks as they are read whole.

use super::*;
use std::io::Write as _;

/// What a run over blocks gives, or its error, with what it reports of bad rows.
fn of_blocks(text: &str, block: usize, on_error: OnError) -> String {
    let options = SourceOptions { block, on_error, ..SourceOptions::default() };
    let (function, mut out) = (totals(), Vec::new());
    let source = open_bytes(&function, text.into(), &options).expect("opens");
    let done = run_blocks(&function, source, Box::new(NdjsonSink(&mut out)), &mut |_, _| Ok(()));
    match done {
        Ok(done) => {
            let bad: Vec<String> = done.first.iter().map(|bad| format!("{bad:?}")).collect();
            format!("{}{bad:?}", String::from_utf8(out).expect("text"))
        }
        Err(e) => e.to_string(),
    }
}

/// The same of the whole text at once.
fn of_whole(text: &str, on_error: OnError) -> String {
    match crate::run_records(&totals(), text.as_bytes(), on_error) {
        Ok(rows) => {
            let bad: Vec<String> = rows.bad.first.iter().map(|bad| format!("{bad:?}")).collect();
            format!("{}{bad:?}", String::from_utf8(encode_ndjson(&rows.value).expect("writes")).expect("text"))
        }
        Err(e) => e.to_string(),
    }
}

#[test]
fn an_array_in_blocks_is_the_array_whole_errors_included() {
    let rows: Vec<&str> = ROWS.trim_end().lines().collect();
    let row = |note: &str| format!(r#"{{"id": 9, "items": [], "note": {note}, "else": [{{"a": "],[\"\\"}}, [1, 2]]}}"#);
    let all = [rows.join(" ,\n "), row(r#""\"],[{""#), row("null"), row("7"), row(r#""z""#)].join(",");
    let mut texts = vec!["[]".to_string(), " [ ] ".into(), "[".into(), "[,]".into(), "[1 2]".into(), "[1,2,,3]".into()];
    for end in [
        "]",
        " ] \n",
        ",]",
        ", , 1]",
        "",
        ",",
        "] x",
        "][1]",
        "], [1, 2]",
        ", {\"id\": ]",
        "}",
        ", \"a\"]",
        ", tru, 1]",
    ] {
        texts.push(format!("[{all}{end}"));
        texts.push(format!("\u{feff} \n[{all}{end}"));
    }
    for text in &texts {
        for on_error in [OnError::Raise, OnError::Skip, OnError::Default] {
            let wanted = of_whole(text, on_error);
            for block in [1, 7, 100, 300, BLOCK] {
                let found = of_blocks(text, block, on_error);
                assert_eq!(found, wanted, "{text} by {block}");
            }
        }
    }
}

#[test]
fn an_array_is_looked_at_in_blocks_as_it_is_whole() {
    let text = format!(" [{}]", ROWS.trim_end().replace('\n', ","));
    for sample in [None, Some(1), Some(2)] {
        let asked = Asked { sample, ..Asked::default() };
        let spec = |block: usize| {
            let options = SourceOptions { block, ..SourceOptions::default() };
            spec_of_reader(Box::new(Cursor::new(text.clone())), &options, &asked).expect("a spec").to_string()
        };
        assert!([1, 50, 150].iter().all(|block| spec(*block) == spec(BLOCK)));
    }
}

#[test]
fn a_packed_array_of_many_small_rows_is_read() {
    // More than is read at once of what is packed so well.
    let (row, count) = (format!(r#"{{"id": 1, "items": [], "note": null, "else": "{}"}}"#, "x".repeat(4000)), 24_000);
    let mut packing = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packing.write_all(format!("[{}{row}]", format!("{row},").repeat(count)).as_bytes()).expect("packs");
    let packed = packing.finish().expect("packs");
    let options = SourceOptions { block: 1 << 20, ..SourceOptions::default() };
    let function = totals();
    let source = open_bytes(&function, packed, &options).expect("opens");
    let done = run_blocks(&function, source, Box::new(NdjsonSink(std::io::sink())), &mut |_, _| Ok(())).expect("runs");
    assert_eq!(done.rows, count + 1);
}
