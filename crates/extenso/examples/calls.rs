//! How long a call of a saved function takes with one line of text after the other: `calls FILE FUNCTION LINES`.
//!
//! Gives the median and the 99th percentile of single calls, in seconds. The function takes a vector of one byte string.

use extenso::{Result, Tensor, Value, save};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// How often each line is given to the function before anything is measured, and how often then.
const BEFORE: usize = 10;
const ROUNDS: usize = 200;

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, name, lines] = args.as_slice() else { return Err("usage: calls FILE FUNCTION LINES".into()) };
    let module = save::load(file)?;
    let function = module.function(name)?;
    let text = std::fs::read(lines)?;
    let line = |line: &[u8]| Tensor::byte_strings(&[1], &[line]).map(Value::from);
    let lines: Vec<Value> = text.split_inclusive(|byte| *byte == b'\n').map(line).collect::<Result<_>>()?;
    let call = |line: &Value| {
        let start = Instant::now();
        black_box(function.call_leaves(std::slice::from_ref(line))?);
        Result::Ok(start.elapsed())
    };
    for line in std::iter::repeat_n(&lines, BEFORE).flatten() {
        call(line)?;
    }
    let mut times: Vec<Duration> = std::iter::repeat_n(&lines, ROUNDS).flatten().map(call).collect::<Result<_>>()?;
    times.sort_unstable();
    let part = |percent: usize| times.get(times.len() * percent / 100).ok_or("no line is given");
    println!("{} {}", part(50)?.as_secs_f64(), part(99)?.as_secs_f64());
    Ok(())
}
