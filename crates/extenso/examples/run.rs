//! Runs a function of a saved file on lines of JSON: `run FILE FUNCTION ROWS`, results on standard output.
//!
//! What the results are goes to standard error: here no type of the file is defined, so values of its types are opaque.

use extenso::formats::{OnError, encode_ndjson, run_records};
use extenso::{OpaqueExtension, Path, Result, Value, save};
use std::io::Write;

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, name, rows] = args.as_slice() else { return Err("usage: run FILE FUNCTION ROWS".into()) };
    let module = save::load(file)?;
    let function = module.function(name)?;
    eprintln!("{name}: {} -> {}", function.input_spec(), function.output_spec());
    let results = run_records(function, &std::fs::read(rows)?, OnError::Raise)?.value;
    for (path, value) in results.leaves() {
        describe(&path, value)?;
    }
    std::io::stdout().write_all(&encode_ndjson(&results)?)?;
    Ok(())
}

fn describe(path: &Path, value: &Value) -> Result<()> {
    let Some(opaque) = value.ext().ok().filter(|ext| ext.downcast::<OpaqueExtension>().is_some()) else {
        eprintln!("{path} = {value}");
        return Ok(());
    };
    let spec = opaque.spec()?;
    eprintln!("{path} is an opaque {}", spec.def);
    let components = spec.components.into_iter().zip(opaque.components()?);
    components.into_iter().try_for_each(|((segment, _), component)| describe(&path.child(segment), &component))
}
