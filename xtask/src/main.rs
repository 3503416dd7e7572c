//! The automation of the repository, run as `cargo xtask <command>`.
//!
//! Each command is one line of [`COMMANDS`] and one module. Nothing here knows tensors.

use std::env;
use std::process::ExitCode;

mod bench;
mod check;
mod coverage;
mod fuzz;
mod generate;
mod python;
mod repo;
mod steps;
mod tidy;

use repo::Repo;

/// What every step returns: nothing, or the line that says what failed and what to do.
type Outcome<T = ()> = Result<T, String>;

struct Command {
    name: &'static str,
    usage: &'static str,
    run: fn(&Repo, &[String]) -> Outcome,
}

const COMMANDS: [Command; 5] = [
    Command {
        name: "test",
        usage: "test [--rust | --python | --quick]  everything a change must pass, or a part of it",
        run: check::run,
    },
    Command {
        name: "tidy",
        usage: "tidy                                the house rules, and whether generated files are fresh",
        run: tidy::run,
    },
    Command {
        name: "gen",
        usage: "gen [--check]                       writes the files that the op tables generate",
        run: generate::run,
    },
    Command {
        name: "bench",
        usage: "bench [--peers] [-- ARGS]           runs benches/run.py against the release wheel",
        run: bench::run,
    },
    Command {
        name: "fuzz",
        usage: "fuzz [--coverage] [--seconds N] [TARGET]  mutates what comes from outside",
        run: fuzz::run,
    },
];

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    if coverage::is_compiler() {
        return coverage::compile(&args);
    }
    match dispatch(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(args: &[String]) -> Outcome {
    let name = args.first().map(String::as_str).unwrap_or("help");
    if matches!(name, "help" | "--help" | "-h") {
        println!("{}", usage());
        return Ok(());
    }
    let command = COMMANDS
        .iter()
        .find(|command| command.name == name)
        .ok_or_else(|| format!("there is no command `{name}`.\n{}", usage()))?;
    (command.run)(&Repo::find()?, &args[1..])
}

fn usage() -> String {
    let lines: Vec<&str> = COMMANDS.iter().map(|command| command.usage).collect();
    format!("cargo xtask <command>\n  {}", lines.join("\n  "))
}

/// Refuses an argument that the command does not know.
fn only(args: &[String], known: &[&str]) -> Outcome {
    match args.iter().find(|arg| !known.contains(&arg.as_str())) {
        Some(arg) => Err(format!("unknown argument `{arg}`. Wanted: {}.", list(known))),
        None => Ok(()),
    }
}

fn list(known: &[&str]) -> String {
    match known {
        [] => "none".to_string(),
        _ => known.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(args: &[&str]) -> Vec<String> {
        args.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_unknown_command_is_answered_with_the_known_ones() {
        let error = dispatch(&strings(&["tset"])).expect_err("no such command");
        for command in &COMMANDS {
            assert!(error.contains(command.usage), "{error}");
        }
    }

    #[test]
    fn an_unknown_argument_is_refused_by_name() {
        let error = only(&strings(&["--check", "--chekc"]), &["--check"]);
        assert_eq!(error, Err("unknown argument `--chekc`. Wanted: --check.".to_string()));
    }
}
