//! Runs a function of a saved file on lines of JSON: `run FILE FUNCTION ROWS`, results on standard output.

use extenso::formats::{OnError, run_ndjson};
use extenso::save;
use std::io::Write;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, name, rows] = args.as_slice() else { return Err("usage: run FILE FUNCTION ROWS".into()) };
    let module = save::load(file)?;
    let function = module.function(name)?;
    eprintln!("{name}: {} -> {}", function.input(), function.output());
    let out = run_ndjson(function, &std::fs::read(rows)?, OnError::Raise)?;
    std::io::stdout().write_all(&out)?;
    Ok(())
}
