//! Runs one target on its corpus and on mutations of it until its time is over.
//!
//! An input that leads to a kind of value or error that none before it led to joins the corpus.

use crate::clock;
use crate::memory;
use crate::mutate::mutate;
use crate::outcomes::Outcomes;
use crate::targets::Target;
use extenso_testkit::rng::Rng;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// The bytes in use that any input may cost, however short.
pub const BASE: usize = 4 << 20;
/// The corpus does not grow beyond this.
const LARGEST: usize = 1 << 12;
/// How much processor time one input may take.
pub const PER_INPUT: Duration = Duration::from_secs(10);

/// What a run came to.
pub struct Report {
    /// The inputs that were made in code.
    pub seeds: usize,
    /// These and the inputs that joined them.
    pub corpus: usize,
    /// How often the target ran.
    pub executions: u64,
    /// Kinds of values, and of errors.
    pub kinds: (usize, usize),
    /// The most bytes in use that an input took.
    pub memory: usize,
    /// The most processor time that an input took.
    pub slowest: Duration,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (values, errors) = self.kinds;
        write!(
            f,
            "{:>9} executions; corpus {} + {}; {values} kinds of values, {errors} of errors; at most {} KiB, {:.0?}",
            self.executions,
            self.seeds,
            self.corpus - self.seeds,
            self.memory >> 10,
            self.slowest,
        )
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

/// Runs a target for so much processor time. `watch` is told each input before it runs.
pub fn run(target: &Target, seed: u64, time: Duration, watch: &mut dyn FnMut(&[u8])) -> Result<Report, Failure> {
    let start = clock::used();
    let mut corpus = (target.corpus)();
    let mut rng = Rng::new(seed);
    let mut outcomes = Outcomes::default();
    let mut report =
        Report { seeds: corpus.len(), corpus: 0, executions: 0, kinds: (0, 0), memory: 0, slowest: Duration::ZERO };
    let mut execute = |input: &[u8], outcomes: &mut Outcomes| {
        watch(input);
        let (memory, took) = run_one(target, input, outcomes)?;
        report.executions += 1;
        report.memory = report.memory.max(memory);
        report.slowest = report.slowest.max(took);
        Ok(())
    };
    for input in &corpus {
        execute(input, &mut outcomes)?;
    }
    outcomes.take_fresh();
    while clock::used() - start < time {
        let input = mutate(&corpus, target.structure, target.dictionary, &mut rng);
        execute(&input, &mut outcomes)?;
        if outcomes.take_fresh() && corpus.len() < LARGEST {
            corpus.push(input);
        }
    }
    Ok(Report { corpus: corpus.len(), kinds: outcomes.counts(), ..report })
}

/// Memory and time of one input.
fn run_one(target: &Target, input: &[u8], outcomes: &mut Outcomes) -> Result<(usize, Duration), Failure> {
    let (before, start) = (memory::start(), clock::used());
    let outcome = catch_unwind(AssertUnwindSafe(|| (target.run)(input, outcomes)));
    let (memory, took) = (memory::most_since(before), clock::used() - start);
    let fail = |what: String| Err(Failure { target: target.name, what, input: input.to_vec() });
    if let Err(panic) = outcome {
        let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
        return fail(format!("a panic: {}", text.unwrap_or("without text")));
    }
    if took > PER_INPUT {
        return fail(format!("one input took {:.1} s", took.as_secs_f64()));
    }
    let most = BASE + target.cost * input.len();
    if memory > most {
        return fail(format!("{} bytes took {memory} bytes of memory, and {most} are in proportion", input.len()));
    }
    Ok((memory, took))
}
