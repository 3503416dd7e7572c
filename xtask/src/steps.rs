//! Runs steps one after the other, names each with its seconds, and stops at the first that fails.
//!
//! A step writes straight to the terminal, so the closing lines of every test runner stay in the log.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::Outcome;

/// The steps that have run so far.
pub struct Steps {
    started: Instant,
    done: Vec<(String, Duration)>,
}

impl Steps {
    /// Starts the clock.
    pub fn start() -> Steps {
        Steps { started: Instant::now(), done: Vec::new() }
    }

    /// Runs a command as a step.
    pub fn command(&mut self, name: &str, mut command: Command) -> Outcome {
        self.task(name, &line(&command), || succeed(&mut command))
    }

    /// Runs a function as a step; `what` is shown as its command line.
    pub fn task<T>(&mut self, name: &str, what: &str, run: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
        println!("\n==> {name}: {what}");
        let clock = Instant::now();
        let result = run().map_err(|failure| format!("step `{name}` failed: {failure}"))?;
        let seconds = clock.elapsed();
        println!("<== {name}: {:.1} s", seconds.as_secs_f64());
        self.done.push((name.to_string(), seconds));
        Ok(result)
    }

    /// Prints every step with its seconds, and their sum.
    pub fn finish(self) {
        println!("\n{} steps passed in {:.1} s", self.done.len(), self.started.elapsed().as_secs_f64());
        for (name, seconds) in &self.done {
            println!("  {:7.1} s  {name}", seconds.as_secs_f64());
        }
    }
}

/// Runs a command to its end. Errors: it does not start, or does not succeed; the error is its command line.
pub fn succeed(command: &mut Command) -> Outcome {
    let status =
        command.stdin(Stdio::null()).status().map_err(|error| format!("`{}` did not start: {error}", line(command)))?;
    if status.success() {
        return Ok(());
    }
    Err(format!("`{}` ended with {status}", line(command)))
}

fn line(command: &Command) -> String {
    let words: Vec<_> =
        [command.get_program()].into_iter().chain(command.get_args()).map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_failing_step_is_named_with_its_command() {
        let error = Steps::start().command("lint", shell("exit 3")).expect_err("it exits with 3");
        assert_eq!(error, "step `lint` failed: `sh -c exit 3` ended with exit status: 3");
    }

    #[test]
    fn a_command_that_is_not_there_is_named() {
        let error = succeed(&mut Command::new("no-such-program")).expect_err("it cannot start");
        assert!(error.starts_with("`no-such-program` did not start: "), "{error}");
    }

    #[test]
    fn a_passing_step_is_counted() {
        let mut steps = Steps::start();
        assert_eq!(steps.command("nothing", shell("exit 0")), Ok(()));
        assert_eq!(steps.task("seven", "7", || Ok(7)), Ok(7));
        assert_eq!(steps.done.len(), 2);
    }
}
