//! `extenso inspect`: what a saved file holds, for people, or as JSON for programs.

use crate::Failure;
use crate::tree::Tree;
use clap::Args;
use extenso::save::{self, archive::Archive};
use extenso::{Concrete, Nest, NodeKind, Spec};
use serde_json::{Value as Json, json};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

#[derive(Args)]
pub struct Inspect {
    /// The file, or the directory of its members.
    file: PathBuf,
    /// One function only.
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// Shows every node of the graphs, too.
    #[arg(long)]
    graph: bool,
    /// Writes JSON.
    #[arg(long)]
    json: bool,
}

/// A file that was read.
struct File {
    name: String,
    /// The members of the container and their sizes.
    members: Vec<(String, u64)>,
    producer: String,
    module: save::Module,
}

impl Inspect {
    pub fn run(&self) -> Result<(), Failure> {
        let file = self.open()?;
        let functions: Vec<&Concrete> = match &self.function {
            Some(name) => vec![file.module.function(name)?],
            None => file.module.functions.iter().map(|f| &**f).collect(),
        };
        let text = if self.json {
            let json = json!({
                "file": file.name, "members": file.members, "producer": file.producer,
                "functions": functions.iter().map(|f| facts(f)).collect::<Vec<_>>(),
                "types": types(&file.module),
            });
            format!("{json:#}\n")
        } else {
            self.page(&file, &functions)
        };
        std::io::stdout().write_all(text.as_bytes()).map_err(Failure::io("standard output"))
    }

    fn open(&self) -> Result<File, Failure> {
        let archive = Archive::open(&self.file, &[]).map_err(|e| extenso::Error::data(e.to_string()))?;
        let size = |name: &str| archive.member(name).map_or(0, |member| member.len() as u64);
        let members = archive.names().map(|name| (name.to_string(), size(name))).collect();
        let name = self.file.file_name().unwrap_or(self.file.as_os_str()).to_string_lossy().into_owned();
        let module = save::load(&self.file)?;
        Ok(File { name, members, producer: archive.producer().to_string(), module })
    }

    fn page(&self, file: &File, functions: &[&Concrete]) -> String {
        let members: Vec<_> = file.members.iter().map(|(name, bytes)| format!("{name} {}", size(*bytes))).collect();
        let mut out = format!("{} · written by {} · {}\n", file.name, file.producer, members.join(", "));
        for function in functions {
            describe(function, &mut out);
            if self.graph {
                let _ = write!(out, "\n  graph\n{}", indented(&function.graph().to_string()));
            }
        }
        if !file.module.variables.is_empty() {
            out += "\nvariables\n";
            for variable in &file.module.variables {
                let _ = writeln!(out, "  {}: {}", variable.name(), variable.spec());
            }
        }
        if !file.module.types.is_empty() {
            out += "\ntypes\n";
            for def in &file.module.types {
                let _ = writeln!(out, "  {} version {} ({})", def.name().as_str(), def.version(), def.fingerprint());
            }
        }
        out
    }
}

fn describe(function: &Concrete, out: &mut String) {
    let graph = function.graph();
    let needed = graph.needed_inputs();
    let read = needed.iter().filter(|needed| **needed).count();
    let _ = writeln!(out, "\nfunction {}", function.name());
    let _ = writeln!(out, "\n  takes, and reads {read} of {} leaves (● all, ◐ some, ○ none)", needed.len());
    let mut marks = needed.into_iter();
    for (name, nest) in arguments(function.input_spec()) {
        Tree::new(&name, nest, &mut marks).write(out, "    ", true);
    }
    out.push_str("\n  gives\n");
    Tree::new("result", function.output_spec(), &mut std::iter::empty()).write(out, "    ", false);
    let (ops, program) = (graph.op_count(), function.program());
    let _ = writeln!(
        out,
        "\n  {} in {}, {} fused; {}\n  at most {} of results at once, {} where what varies has {MANY} elements",
        counted(ops, "op"),
        counted(program.len(), "step"),
        program.fused(),
        counted(constants(function), "constant"),
        size(bytes(program.peak_bytes(1))),
        size(bytes(program.peak_bytes(MANY))),
    );
}

/// As many elements stand for a batch.
const MANY: usize = 1000;

fn bytes(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// The arguments by name; a function of one nameless argument has one.
fn arguments(input: &Nest<Spec>) -> Vec<(String, &Nest<Spec>)> {
    match input {
        Nest::Record(name, entries) if &**name == extenso::ARGUMENTS => {
            entries.iter().map(|(name, nest)| (name.to_string(), nest)).collect()
        }
        Nest::Tuple(items) => items.iter().enumerate().map(|(i, nest)| (format!("argument {i}"), nest)).collect(),
        other => vec![("argument".to_string(), other)],
    }
}

fn constants(function: &Concrete) -> usize {
    function.graph().nodes.iter().filter(|node| matches!(node.kind, NodeKind::Constant(_))).count()
}

fn facts(function: &Concrete) -> Json {
    let (graph, program) = (function.graph(), function.program());
    let inputs = graph.inputs.iter().zip(graph.needed_inputs()).map(
        |(input, needed)| json!({ "path": input.path.to_string(), "spec": input.spec.to_string(), "needed": needed }),
    );
    json!({
        "name": function.name(),
        "input": function.input_spec().to_string(),
        "output": function.output_spec().to_string(),
        "leaves": inputs.collect::<Vec<_>>(),
        "required_paths": function.required_paths().iter().map(ToString::to_string).collect::<Vec<_>>(),
        "ops": graph.op_count(),
        "steps": program.len(),
        "fused": program.fused(),
        "constants": constants(function),
        "peak_bytes": { "1": program.peak_bytes(1), MANY.to_string(): program.peak_bytes(MANY) },
    })
}

fn types(module: &save::Module) -> Vec<Json> {
    let fact = |def: &std::sync::Arc<extenso::TypeDef>| {
        json!({
            "name": def.name().as_str(), "version": def.version(), "fingerprint": def.fingerprint().to_string(),
        })
    };
    module.types.iter().map(fact).collect()
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}\n")).collect()
}

/// A number of bytes in the unit that fits.
pub fn size(bytes: u64) -> String {
    let units = ["kB", "MB", "GB", "TB"];
    let mut value = bytes as f64;
    let mut unit = None;
    for next in units {
        if value < 1000.0 {
            break;
        }
        value /= 1000.0;
        unit = Some(next);
    }
    unit.map_or(format!("{bytes} bytes"), |unit| format!("{value:.1} {unit}"))
}
