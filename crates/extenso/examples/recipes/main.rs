//! The main job, whole: a log of recipes in, a score for each out.
//!
//! `cargo run --release --example recipes [RECIPES]` writes a log of nested records, reads it back, traces `score` over the spec
//! of a record, shows what the graph needs of it, runs it over the file, saves it, loads it, and proves that blocks, batch,
//! single rows and the loaded function agree bit for bit.

mod log;
mod score;

use extenso::formats::{JsonOptions, Progress, Runner, encode_ndjson, read_json, run_lines};
use extenso::prelude::*;
use extenso::{Error, Result};
use indicatif::{ProgressBar, ProgressStyle};
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::Path as FilePath;
use std::sync::Arc;
use std::time::Instant;

/// How many recipes are scored one by one: enough to meet every odd row.
const SINGLE: usize = 1000;

fn main() -> Result<()> {
    let recipes = match std::env::args().nth(1) {
        None => 20_000,
        Some(text) => text.parse().map_err(|_| Error::value(format!("'{text}' is no number of recipes")))?,
    };
    let dir = std::env::temp_dir().join("extenso-recipes");
    std::fs::create_dir_all(&dir)?;
    let (rows, scores) = (dir.join("recipes.ndjson"), dir.join("scores.ndjson"));
    std::fs::write(&rows, log::lines(recipes, 7))?;

    let function = Function::new("score", score::score).concrete(&Nest::Leaf(log::spec()?))?;
    describe(&function)?;
    run(&function, &rows, &scores)?;
    show_best(&scores, 3)?;

    let saved = dir.join("recipes.exo");
    save::save(&saved, std::slice::from_ref(&function))?;
    println!("\nsaved {}, {} bytes", saved.display(), std::fs::metadata(&saved)?.len());
    prove(&function, save::load(&saved)?.function("score")?, &std::fs::read(&rows)?, &std::fs::read(&scores)?)
}

/// The size of the graph, and which leaves of a record it needs.
fn describe(function: &Arc<Concrete>) -> Result<()> {
    let (graph, program) = (function.graph(), function.program());
    let runner = Runner::new(function)?;
    let needed = runner.records().needed_paths();
    println!("score: {}", function.output_spec());
    println!("{} ops in {} steps, of which {} are fused", graph.op_count(), program.len(), program.fused());
    println!("reads {} of {} leaves:", needed.len(), graph.inputs.len());
    needed.iter().for_each(|path| println!("  {path}"));
    Ok(())
}

/// Scores the file, block by block.
fn run(function: &Arc<Concrete>, rows: &FilePath, scores: &FilePath) -> Result<()> {
    let bar = ProgressBar::new(std::fs::metadata(rows)?.len());
    let style = ProgressStyle::with_template("{bar:40} {percent:>3}%  {msg}  {bytes_per_sec}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let clock = Instant::now();
    let (source, sink) = (BufReader::new(File::open(rows)?), BufWriter::new(File::create(scores)?));
    let done = run_lines(function, source, sink, OnError::Raise, 1 << 20, &mut |done: &Progress| {
        bar.set_position(done.bytes as u64);
        bar.set_message(format!("{} recipes", done.rows));
    })?;
    bar.finish_and_clear();
    let (seconds, megabytes) = (clock.elapsed().as_secs_f64(), done.bytes as f64 / 1e6);
    println!("\n{} recipes, {megabytes:.1} MB of JSON in {seconds:.3} s", done.rows);
    println!("{:.0} recipes/s, {:.0} MB/s", done.rows as f64 / seconds, megabytes / seconds);
    Ok(())
}

/// Reads the results, whose spec is inferred, and shows the best.
fn show_best(scores: &FilePath, count: i64) -> Result<()> {
    let results = StructTensor::from_value(&read_json(&std::fs::read(scores)?, &JsonOptions::default())?.value)?;
    let (best, at) = ops::top_k(results.field("score")?, count)?;
    println!("\nthe best: {}", ops::take(results.field("title")?, &at, 0)?);
    println!("  score {best}");
    for part in ["total", "known"] {
        let of_all = extenso::field_value(results.field("amount")?, &part.parse()?)?;
        println!("  {part} {}", ops::take(&of_all, &at, 0)?);
    }
    Ok(())
}

/// In blocks = in one batch = row by row = loaded, bit for bit: floats are written so that each bit counts.
fn prove(function: &Arc<Concrete>, loaded: &Arc<Concrete>, rows: &[u8], blocks: &[u8]) -> Result<()> {
    let scored =
        |function: &Arc<Concrete>, rows: &[u8]| encode_ndjson(&Runner::new(function)?.run(rows, OnError::Raise)?.value);
    let batch = scored(function, rows)?;
    assert!(batch == blocks, "one batch differs from its blocks");
    assert!(batch == scored(loaded, rows)?, "the loaded function differs");

    let mut runner = Runner::new(loaded)?;
    let lines = |text| <[u8]>::split_inclusive(text, |byte| *byte == b'\n');
    for (row, wanted) in lines(rows).zip(lines(&batch)).take(SINGLE) {
        let single = encode_ndjson(&runner.run(row, OnError::Raise)?.value)?;
        assert_eq!(String::from_utf8_lossy(&single), String::from_utf8_lossy(wanted), "one row differs from its batch");
    }
    let (all, singles) = (lines(&batch).count(), lines(&batch).take(SINGLE).count());
    println!("bit for bit: blocks = batch = loaded for {all} recipes, = row by row for {singles}");
    Ok(())
}
