//! The binary as a user runs it: what it prints, writes and exits with.

use extenso::prelude::*;
use std::io::{Read, Write};
use std::path::{Path as File, PathBuf};
use std::process::{Command, Output, Stdio};

/// The price of each order with tax: one leaf of three is needed.
fn saved(dir: &File) -> PathBuf {
    let priced = Function::new("priced", |args: Nest<Value>| {
        let orders = StructTensor::from_value(args.leaves()[0].1)?;
        let prices = orders.field_value(&"items[*].price".parse()?)?;
        Ok(Nest::dict([("total", Nest::Leaf(ops::multiply(ops::sum(&prices, Axes::List(vec![1]), false)?, 1.25)?))]))
    });
    let scalar = |dtype| FieldSpec::Scalar(dtype, vec![]);
    let item = FieldSpec::Record(vec![("price", scalar(DType::F64)), ("sku", scalar(DType::String))]);
    let note = FieldSpec::Optional(Box::new(scalar(DType::String)));
    let spec = struct_spec([("items", FieldSpec::List(Box::new(item))), ("note", note)]).expect("a spec");
    let path = dir.join("priced.exo");
    save::save(&path, &[priced.concrete(&Nest::Leaf(spec)).expect("traces")]).expect("saves");
    path
}

const ROWS: &str = r#"{"items": [{"price": 2, "sku": "a"}, {"price": 4, "sku": 7}], "note": [1]}
{"items": [{"price": "free"}]}
{"items": []}
"#;

fn extenso(args: &[&str], dir: &File) -> Output {
    Command::new(env!("CARGO_BIN_EXE_extenso")).args(args).current_dir(dir).output().expect("runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

#[test]
fn inspect_shows_what_is_read() {
    let dir = tempfile::tempdir().expect("a directory");
    saved(dir.path());
    let page = extenso(&["inspect", "priced.exo", "--graph"], dir.path());
    assert!(page.status.success(), "{}", text(&page.stderr));
    let page = text(&page.stdout);
    let wanted = [
        "priced.exo · written by extenso ",
        "function priced",
        "reads 2 of 5 leaves",
        "◐ ├─ items[*]",
        "● │  ├─ price  f64[?]",
        "○ │  └─ sku    string[?]",
        "○ └─ note      string[?] or null",
        "└─ total  f64[?]",
        "multiply(",
        "extenso/RaggedTensor version 1",
    ];
    wanted.iter().for_each(|line| assert!(page.contains(line), "{line}\nis not in\n{page}"));

    let json = text(&extenso(&["inspect", "priced.exo", "--json"], dir.path()).stdout);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["functions"][0]["leaves"][0]["path"], "items[*].price");
    assert_eq!(json["functions"][0]["leaves"][0]["needed"], true);
    assert_eq!(json["functions"][0]["required_paths"], serde_json::json!(["items[*].price"]));
}

#[test]
fn run_scores_rows_and_tells_of_bad_ones() {
    let dir = tempfile::tempdir().expect("a directory");
    saved(dir.path());
    std::fs::write(dir.path().join("rows.ndjson"), ROWS).expect("written");
    let run = |more: &[&str]| {
        let args = ["run", "priced.exo", "--input", "rows.ndjson", "--output", "out.ndjson"];
        extenso(&[&args[..], more].concat(), dir.path())
    };
    let refused = run(&[]);
    assert_eq!(refused.status.code(), Some(1));
    let error = text(&refused.stderr);
    assert!(error.contains("row 1, byte 96, 'items[0].price'"), "{error}");
    // Nothing is left behind, not even a part.
    assert_eq!(std::fs::read_dir(dir.path()).expect("listed").count(), 2);

    let skipped = run(&["--on-error", "skip"]);
    assert!(skipped.status.success());
    assert!(text(&skipped.stderr).contains("1 of 3 rows did not fit."));
    let written = || std::fs::read_to_string(dir.path().join("out.ndjson")).expect("written");
    assert_eq!(written(), "{\"total\":7.5}\n{\"total\":0.0}\n");

    let filled = run(&["--on-error", "default", "--quiet"]);
    assert!(filled.status.success());
    assert_eq!(written(), "{\"total\":7.5}\n{\"total\":0.0}\n{\"total\":0.0}\n");
}

#[test]
fn an_array_is_rows_too_and_results_go_to_standard_output() {
    let dir = tempfile::tempdir().expect("a directory");
    saved(dir.path());
    std::fs::write(dir.path().join("rows.json"), r#"[{"items": [{"price": 8}]}, {"items": []}]"#).expect("written");
    let run = extenso(&["run", "priced.exo", "-i", "rows.json"], dir.path());
    assert_eq!(text(&run.stdout), "{\"total\":10.0}\n{\"total\":0.0}\n");
}

#[test]
fn columns_go_in_and_out_and_bad_rows_aside() {
    let dir = tempfile::tempdir().expect("a directory");
    saved(dir.path());
    std::fs::write(dir.path().join("rows.ndjson"), ROWS).expect("written");
    let args =
        ["run", "priced.exo", "rows.ndjson", "-o", "out.parquet", "--on-error", "skip", "--bad-rows", "bad.ndjson"];
    let run = extenso(&args, dir.path());
    assert!(run.status.success(), "{}", text(&run.stderr));
    let written = std::fs::read(dir.path().join("out.parquet")).expect("written");
    assert!(written.starts_with(b"PAR1") && written.ends_with(b"PAR1"));
    let bad = std::fs::read_to_string(dir.path().join("bad.ndjson")).expect("written");
    assert!(
        bad.starts_with("{\"row\":1,\"byte\":96,\"path\":\"items[0].price\",") && bad.lines().count() == 1,
        "{bad}"
    );

    let rows = extenso::formats::read_json(br#"{"items": [{"price": 8.0}], "other": 1}"#, &Default::default());
    let file = extenso::formats::encode_parquet(&Nest::Leaf(rows.expect("reads").value)).expect("written");
    std::fs::write(dir.path().join("rows"), file).expect("written");
    let run = extenso(&["run", "priced.exo", "rows", "-q"], dir.path());
    assert_eq!((text(&run.stdout), text(&run.stderr)), ("{\"total\":10.0}\n".into(), String::new()));
}

#[test]
fn bad_rows_are_never_written_over_what_a_run_reads_or_writes() {
    let dir = tempfile::tempdir().expect("a directory");
    saved(dir.path());
    let there = |name: &str| std::fs::read(dir.path().join(name)).expect("there");
    std::fs::write(dir.path().join("rows.ndjson"), ROWS).expect("written");
    std::fs::write(dir.path().join("rows.proto"), "syntax = \"proto3\"; message Row {}").expect("written");
    let before = ["priced.exo", "rows.ndjson", "rows.proto"].map(there);
    let refused = |args: &[&str], bad: &str| {
        let input = std::fs::File::open(dir.path().join("rows.ndjson")).expect("there");
        let args = [&["run", "priced.exo"], args, &["--on-error", "skip", "--bad-rows", bad]].concat();
        let mut run = Command::new(env!("CARGO_BIN_EXE_extenso"));
        let run = run.args(&args).current_dir(dir.path()).stdin(input).output().expect("runs");
        let why = if bad == "-" { "'-' is no file" } else { "is read or written by the run itself" };
        assert!(text(&run.stderr).contains(why), "{args:?}: {}", text(&run.stderr));
        assert_eq!(run.status.code(), Some(1));
    };
    refused(&["rows.ndjson"], "-");
    refused(&["rows.ndjson"], "priced.exo");
    refused(&["rows.ndjson"], "rows.ndjson");
    refused(&["rows.ndjson", "-o", "new"], "./new");
    refused(&["rows.ndjson", "-o", "new"], "../../../../../../../../../../proc/self/cwd/new");
    refused(&["rows.ndjson", "--descriptor", "rows.proto", "--to-message", "Row"], "rows.proto");
    #[cfg(target_os = "linux")]
    refused(&["-"], "rows.ndjson");
    assert_eq!(["priced.exo", "rows.ndjson", "rows.proto"].map(there), before);
}

#[test]
fn options_of_messages_that_nothing_reads_are_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    saved(dir.path());
    std::fs::write(dir.path().join("rows.ndjson"), ROWS).expect("written");
    let alone = extenso(&["run", "priced.exo", "rows.ndjson", "--descriptor", "rows.proto"], dir.path());
    assert!(text(&alone.stderr).contains("a descriptor is given, and no message"), "{}", text(&alone.stderr));
    let columns = extenso(&["run", "priced.exo", "rows.ndjson", "--to-message", "Row", "-o", "x.parquet"], dir.path());
    assert!(text(&columns.stderr).contains("the results are no messages"), "{}", text(&columns.stderr));
}

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_said_is_no_panic_and_what_is_ended_leaves_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    saved(dir.path());
    std::fs::write(dir.path().join("rows.ndjson"), ROWS).expect("written");
    let full = || std::fs::File::options().write(true).open("/dev/full").expect("a device");
    for (data, code) in [("rows.ndjson", 0), ("none.ndjson", 1)] {
        let mut run = Command::new(env!("CARGO_BIN_EXE_extenso"));
        let args = ["run", "priced.exo", data, "--on-error", "skip"];
        let run = run.args(args).current_dir(dir.path()).stdout(Stdio::null()).stderr(full()).status().expect("runs");
        assert_eq!(run.code(), Some(code), "{data}");
    }
    let full = extenso(&["run", "priced.exo", "rows.ndjson", "--on-error", "skip", "-o", "/dev/full"], dir.path());
    assert!(text(&full.stderr).contains("'/dev/full'"), "{}", text(&full.stderr));

    let before = std::fs::read_dir(dir.path()).expect("a directory").count();
    let mut run = Command::new(env!("CARGO_BIN_EXE_extenso"));
    let args = ["run", "priced.exo", "-", "-q", "-o", "out.ndjson"];
    let mut run = run.args(args).current_dir(dir.path()).stdin(Stdio::piped()).spawn().expect("runs");
    let line = b"{\"items\": [{\"price\": 8}]}\n";
    run.stdin.as_mut().expect("a pipe").write_all(&line.repeat(1 << 20)).expect("read");
    run.kill().and_then(|()| run.wait()).expect("ended");
    assert_eq!(std::fs::read_dir(dir.path()).expect("a directory").count(), before);
}

#[test]
fn verify_says_whether_records_fit() {
    let dir = tempfile::tempdir().expect("a directory");
    saved(dir.path());
    std::fs::write(dir.path().join("rows.ndjson"), ROWS).expect("written");
    let odd = extenso(&["verify", "priced.exo", "rows.ndjson"], dir.path());
    assert_eq!(odd.status.code(), Some(1));
    assert!(text(&odd.stderr).contains("row 1, byte 96, 'items[0].price': the string \"free\" came."));
    for (json, fits) in
        [(r#"{"items": [{"price": 8.0}]}"#, true), (r#"{"items": [{"price": "a"}]}"#, false), ("{\"x\": 1}", false)]
    {
        let rows = extenso::formats::read_json(json.as_bytes(), &Default::default()).expect("reads").value;
        let file = extenso::formats::encode_parquet(&Nest::Leaf(rows)).expect("written");
        std::fs::write(dir.path().join("rows.parquet"), file).expect("written");
        let run = extenso(&["verify", "priced.exo", "rows.parquet"], dir.path());
        let said = text(&run.stdout) + &text(&run.stderr);
        assert_eq!(run.status.success(), fits, "{said}");
        assert!(
            said.contains(if fits { "The first 1 rows fit. priced reads items[*].price." } else { "items" }),
            "{said}"
        );
    }
}

#[test]
fn verify_reads_standard_input() {
    let dir = tempfile::tempdir().expect("a directory");
    saved(dir.path());
    for (rows, fits) in [("{\"items\": [{\"price\": 8.0}]}\n", true), (ROWS, false)] {
        let verify = Command::new(env!("CARGO_BIN_EXE_extenso"))
            .args(["verify", "priced.exo", "-"])
            .current_dir(dir.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut verify = verify.expect("starts");
        verify.stdin.take().expect("its input").write_all(rows.as_bytes()).expect("written");
        let done = verify.wait_with_output().expect("ends");
        assert_eq!(done.status.success(), fits, "{}", text(&done.stderr));
        assert_eq!(text(&done.stdout).contains("The first 1 rows fit."), fits);
    }
}

#[test]
fn arrow_files_and_streams_go_in_and_out() {
    let dir = tempfile::tempdir().expect("a directory");
    saved(dir.path());
    std::fs::write(dir.path().join("rows.ndjson"), ROWS).expect("written");
    let rows = extenso::formats::read_json(br#"{"items": [{"price": 8.0}], "other": 1}"#, &Default::default());
    let rows = rows.expect("reads").value;
    for (name, stream) in [("rows.arrow", false), ("rows.arrows", true)] {
        let file = extenso::formats::arrow::write_ipc(&rows, stream).expect("written");
        std::fs::write(dir.path().join(name), &file).expect("written");
        let run = extenso(&["run", "priced.exo", name, "-q"], dir.path());
        assert_eq!((text(&run.stdout), text(&run.stderr)), ("{\"total\":10.0}\n".into(), String::new()));
        let verified = text(&extenso(&["verify", "priced.exo", name], dir.path()).stdout);
        assert_eq!(verified, "The first 1 rows fit. priced reads items[*].price.\n");
        let written = format!("out.{name}");
        assert!(extenso(&["run", "priced.exo", name, "-q", "-o", &written], dir.path()).status.success());
        let out = std::fs::read(dir.path().join(&written)).expect("written");
        assert!(out.starts_with(if stream { &[0xff; 4] } else { b"ARRO" }));
        std::fs::write(dir.path().join(name), &file[..file.len() / 2]).expect("written");
        let cut = extenso(&["run", "priced.exo", name, "-q"], dir.path());
        assert_eq!(cut.status.code(), Some(1));
        assert!(text(&cut.stderr).contains("the IPC bytes are malformed"), "{}", text(&cut.stderr));
    }
}

#[test]
fn avro_goes_in_and_out() {
    let dir = tempfile::tempdir().expect("a directory");
    saved(dir.path());
    let rows = |json: &str| extenso::formats::read_json(json.as_bytes(), &Default::default()).expect("reads").value;
    let file = |json: &str| {
        let codec = extenso::formats::AvroCodec::Deflate;
        extenso::formats::encode_avro(&Nest::Leaf(rows(json)), codec).expect("written")
    };
    let good = file(r#"{"items": [{"price": 8.0}], "other": 1}"#);
    // The first bytes say what it is, and so does the name.
    for name in ["rows", "rows.avro"] {
        std::fs::write(dir.path().join(name), &good).expect("written");
        let run = extenso(&["run", "priced.exo", name, "-q"], dir.path());
        assert_eq!((text(&run.stdout), text(&run.stderr)), ("{\"total\":10.0}\n".into(), String::new()));
        let verified = text(&extenso(&["verify", "priced.exo", name], dir.path()).stdout);
        assert_eq!(verified, "The first 1 rows fit. priced reads items[*].price.\n");
    }
    // The results are rows of Avro, by the name of the file or because it is asked for.
    for more in [&["-o", "out.avro"][..], &["-o", "out", "--to", "avro"]] {
        let run = extenso(&[&["run", "priced.exo", "rows.avro", "-q"], more].concat(), dir.path());
        assert!(run.status.success(), "{}", text(&run.stderr));
        let written = std::fs::read(dir.path().join(more[1])).expect("written");
        assert!(written.starts_with(b"Obj\x01"));
        let read = extenso::formats::read_avro(&written[..], &Default::default()).expect("reads").value;
        assert_eq!(to_literal(&read).expect("a literal").to_string(), r#"[{"total": 10.0}]"#);
    }
    // A row that does not fit is told of.
    let odd = file("{\"items\": [{\"price\": 8.0}]}\n{\"items\": [{\"price\": null}]}\n{\"items\": []}\n");
    std::fs::write(dir.path().join("rows.avro"), odd).expect("written");
    for refused in [&["run", "priced.exo", "rows.avro"][..], &["verify", "priced.exo", "rows.avro"]] {
        let refused = extenso(refused, dir.path());
        assert_eq!(refused.status.code(), Some(1));
        assert!(text(&refused.stderr).contains("row 1, 'items[*].price': null came"), "{}", text(&refused.stderr));
    }
    let args = ["run", "priced.exo", "rows.avro", "-q", "--on-error", "skip", "--bad-rows", "bad.ndjson"];
    assert_eq!(text(&extenso(&args, dir.path()).stdout), "{\"total\":10.0}\n{\"total\":0.0}\n");
    assert!(std::fs::read_to_string(dir.path().join("bad.ndjson")).expect("written").starts_with("{\"row\":1,"));
    // Columns that the function wants and the file lacks, and a file that is cut short.
    std::fs::write(dir.path().join("rows.avro"), file(r#"{"x": 1}"#)).expect("written");
    let other = extenso(&["verify", "priced.exo", "rows.avro"], dir.path());
    assert!(!other.status.success() && text(&other.stderr).contains("there is no column 'items'"));
    std::fs::write(dir.path().join("rows.avro"), &good[..good.len() - 1]).expect("written");
    let cut = extenso(&["run", "priced.exo", "rows.avro", "-q"], dir.path());
    assert_eq!(cut.status.code(), Some(1));
    assert!(text(&cut.stderr).contains("the Avro data is malformed"), "{}", text(&cut.stderr));
}

const SHOP: &str = "syntax = 'proto3';
    message Order { repeated Item items = 1; }
    message Item { double price = 1; }
    message Total { double total = 1; }";

#[test]
fn messages_go_in_and_out() {
    let dir = tempfile::tempdir().expect("a directory");
    saved(dir.path());
    std::fs::write(dir.path().join("shop.proto"), SHOP).expect("written");
    // An order of 2 and 4, one of an item whose price is cut short, and one of nothing.
    let item = |price: f64| [&b"\x0a\x09\x09"[..], &price.to_le_bytes()].concat();
    let orders = [[&b"\x16"[..], &item(2.0), &item(4.0)].concat(), b"\x03\x0a\x01\x09".to_vec(), b"\0".to_vec()];
    std::fs::write(dir.path().join("orders.pb"), orders.concat()).expect("written");
    let run = |command: &str, more: &[&str]| {
        let args = [command, "priced.exo", "orders.pb", "--descriptor", "shop.proto", "--message", "Order"];
        extenso(&[&args[..], more].concat(), dir.path())
    };
    for refused in [run("run", &["-o", "totals.pb"]), run("verify", &[])] {
        assert_eq!(refused.status.code(), Some(1));
        let error = text(&refused.stderr);
        assert!(error.contains("row 1, byte 27, 'items[0].price'"), "{error}");
    }
    let skipped = run("run", &["--on-error", "skip", "-q", "--bad-rows", "bad.ndjson"]);
    assert_eq!(text(&skipped.stdout), "{\"total\":7.5}\n{\"total\":0.0}\n");
    assert!(std::fs::read_to_string(dir.path().join("bad.ndjson")).expect("written").starts_with("{\"row\":1,"));

    let written = run("run", &["--on-error", "skip", "-o", "totals.pb", "--to-message", "Total"]);
    assert!(written.status.success(), "{}", text(&written.stderr));
    let wanted = [&b"\x09\x09"[..], &7.5_f64.to_le_bytes(), b"\0"].concat();
    assert_eq!(std::fs::read(dir.path().join("totals.pb")).expect("written"), wanted);

    // The results are no orders, a name wants a descriptor, and a file of messages wants a name.
    assert!(text(&run("run", &["--on-error", "skip", "-o", "a.pb"]).stderr).contains("no field 'total'"));
    let bare = |args: &[&str]| text(&extenso(args, dir.path()).stderr);
    assert!(bare(&["run", "priced.exo", "orders.pb", "--message", "Order"]).contains("--descriptor"));
    assert!(bare(&["run", "priced.exo", "orders.pb"]).contains("nothing says of which"));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let dir = tempfile::tempdir().expect("a directory");
    saved(dir.path());
    // More than a pipe holds, and more than one block.
    std::fs::write(dir.path().join("rows.ndjson"), "{\"items\": []}\n".repeat(1_000_000)).expect("written");
    let mut run = Command::new(env!("CARGO_BIN_EXE_extenso"))
        .args(["run", "priced.exo", "-i", "rows.ndjson"])
        .current_dir(dir.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("runs");
    let mut first = [0; 16];
    run.stdout.take().expect("a pipe").read_exact(&mut first).expect("a line");
    assert_eq!(&first, b"{\"total\":0.0}\n{\"");
    let done = run.wait_with_output().expect("ends");
    assert!(done.status.success(), "{}", text(&done.stderr));
}

#[test]
fn what_is_missing_is_named() {
    let dir = tempfile::tempdir().expect("a directory");
    saved(dir.path());
    for (args, wanted) in [
        (&["inspect", "nothing.exo"][..], "nothing.exo"),
        (&["run", "priced.exo", "--function", "other", "-i", "x"], "one of priced"),
        (&["run", "priced.exo", "-i", "nothing.ndjson"], "nothing.ndjson"),
    ] {
        let run = extenso(args, dir.path());
        assert_eq!((run.status.code(), run.stdout.as_slice()), (Some(1), &b""[..]));
        assert!(text(&run.stderr).starts_with("extenso: ") && text(&run.stderr).contains(wanted), "{args:?}");
    }
    assert_eq!(extenso(&["serve"], dir.path()).status.code(), Some(2));
}

#[test]
fn the_saved_function_is_not_written_over() {
    let dir = tempfile::tempdir().expect("a directory");
    saved(dir.path());
    std::fs::write(dir.path().join("rows.ndjson"), "{\"items\": []}\n").expect("written");
    let model = std::fs::read(dir.path().join("priced.exo")).expect("a file");
    for output in ["priced.exo", "./priced.exo"] {
        let run = extenso(&["run", "priced.exo", "rows.ndjson", "-q", "-o", output], dir.path());
        assert!(
            !run.status.success() && text(&run.stderr).contains("is the saved function itself"),
            "{}",
            text(&run.stderr)
        );
    }
    assert_eq!(std::fs::read(dir.path().join("priced.exo")).expect("a file"), model);
}
