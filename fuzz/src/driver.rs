//! Runs one target on mutations of its corpus until its time is over.

use crate::memory::peak;
use crate::mutate::mutate;
use crate::targets::Target;
use extenso_testkit::rng::Rng;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// When a run ends, and what one input may cost.
pub struct Limits {
    time: Duration,
    per_input: Duration,
    memory: u64,
}

impl Limits {
    /// The limits of a run of this length: ten seconds and a gibibyte for one input, which is at most a few kilobytes.
    pub fn of(time: Duration) -> Limits {
        Limits { time, per_input: Duration::from_secs(10), memory: 1 << 30 }
    }
}

/// An input that the target did not stand.
#[derive(Debug)]
pub struct Failure {
    target: &'static str,
    what: String,
    input: Vec<u8>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}\ninput: b\"{}\"", self.target, self.what, self.input.escape_ascii())
    }
}

/// The number of inputs that gave a value or an error; the corpus itself comes first.
pub fn run(target: &Target, seed: u64, limits: &Limits) -> Result<u64, Failure> {
    let start = Instant::now();
    let corpus = (target.corpus)();
    let mut rng = Rng::new(seed);
    for input in &corpus {
        run_one(target, input, limits)?;
    }
    let mut count = u64::try_from(corpus.len()).unwrap_or(0);
    while start.elapsed() < limits.time {
        let input = mutate(&corpus, target.dictionary, &mut rng);
        run_one(target, &input, limits)?;
        count += 1;
    }
    Ok(count)
}

fn run_one(target: &Target, input: &[u8], limits: &Limits) -> Result<(), Failure> {
    let (before, clock) = (peak(), Instant::now());
    let outcome = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    let fail = |what: String| Err(Failure { target: target.name, what, input: input.to_vec() });
    if let Err(panic) = outcome {
        let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
        return fail(format!("a panic: {}", text.unwrap_or("without text")));
    }
    let (grown, took) = (peak().saturating_sub(before), clock.elapsed());
    if took > limits.per_input {
        return fail(format!("one input took {:.1} s", took.as_secs_f64()));
    }
    if grown > limits.memory {
        return fail(format!("one input asked for {} MiB", grown >> 20));
    }
    Ok(())
}
