//! The sessions of the guide's chapter on the command line: each command prints what the chapter shows.

use extenso::formats::proto::{Framing, Schema};
use extenso::formats::{encode_proto, read_json};
use extenso::prelude::*;
use extenso::{ARGUMENTS, Result};
use std::path::Path as File;
use std::process::Command;

const CHAPTER: &str = include_str!("../../../book/command-line.md");

#[test]
fn the_chapter_shows_what_the_commands_print() -> Result<()> {
    let dir = tempfile::tempdir()?;
    save::save(dir.path().join("priced.exo"), &[priced()?])?;
    let [rows] = blocks("json")[..] else { panic!("one block of rows") };
    std::fs::write(dir.path().join("rows.ndjson"), rows)?;
    let [shop] = blocks("proto")[..] else { panic!("one block of messages") };
    std::fs::write(dir.path().join("shop.proto"), shop)?;
    std::fs::write(dir.path().join("orders.pb"), orders(shop)?)?;

    let mut commands = 0;
    for session in blocks("console") {
        for step in session.split("$ ").skip(1) {
            let (command, shown) = step.split_once('\n').expect("a command on a line");
            let printed = printed(command, dir.path())?;
            assert!(fits(shown, &printed), "`{command}` prints\n{printed}\nand the chapter shows\n{shown}");
            commands += 1;
        }
    }
    assert_eq!(commands, 12);
    Ok(())
}

/// What the Python block of the chapter saves.
fn priced() -> Result<std::sync::Arc<Concrete>> {
    let scalar = |dtype| FieldSpec::Scalar(dtype, vec![]);
    let item = FieldSpec::Record(vec![("price", scalar(DType::F64)), ("sku", scalar(DType::String))]);
    let note = FieldSpec::Optional(Box::new(scalar(DType::String)));
    let orders = struct_spec([("items", FieldSpec::List(Box::new(item))), ("note", note)])?;
    let priced = Function::new("priced", |args: Nest<Value>| {
        let orders = StructTensor::from_value(args.leaves()[0].1)?;
        let prices = orders.field_value(&"items[*].price".parse()?)?;
        Ok(Nest::dict([("total", Nest::Leaf(ops::multiply(ops::sum(&prices, 1, false)?, 1.25)?))]))
    });
    priced.concrete(&Nest::Record(ARGUMENTS.into(), vec![("orders".into(), Nest::Leaf(orders))]))
}

/// What the Python block of the chapter writes.
fn orders(shop: &str) -> Result<Vec<u8>> {
    let order = Schema::from_text(shop)?.message("Order")?;
    let rows = br#"[{"items": [{"price": 2.0, "sku": "a"}, {"price": 4.0, "sku": "b"}]}, {"items": []}]"#;
    let messages = encode_proto(&Nest::Leaf(read_json(rows, &Default::default())?.value), &order)?;
    let (dense, mut file) = (messages.data()?, Vec::new());
    (0..dense.len()).try_for_each(|i| dense.text_at(i).map(|message| Framing::Delimited.put(message, &mut file)))?;
    Ok(file)
}

/// The fenced blocks of one language.
fn blocks(language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    CHAPTER.split(&*fence).skip(1).map(|rest| rest.split("```").next().unwrap_or_default()).collect()
}

/// Standard output, then standard error.
fn printed(command: &str, dir: &File) -> Result<String> {
    let args: Vec<&str> = command.split_whitespace().skip(1).collect();
    let done = Command::new(env!("CARGO_BIN_EXE_extenso")).args(args).current_dir(dir).output()?;
    Ok(String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned())
}

/// Whether a text is the pattern, whose `...` stand for any text.
fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.trim_end().split("...");
    let Some(mut rest) = parts.next().and_then(|first| text.trim_end().strip_prefix(first)) else { return false };
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.is_empty()
}
