//! Invariant: every dependency arrow between our crates points down.
//!
//! Reads manifests line by line, as far as dependency sections go; it is no TOML reader.

use super::{Fault, File};

struct Layer {
    name: &'static str,
    /// What the crate may depend on.
    uses: &'static [&'static str],
    /// What its tests may depend on besides: all that lies below `uses`, the testkit, and these.
    tests: &'static [&'static str],
}

const TYPES: &str = "extenso-types";
const CORE: &str = "extenso-core";
const DERIVE: &str = "extenso-derive";
const GRAPH: &str = "extenso-graph";
const EXT: &str = "extenso-ext";
const FORMATS: &str = "extenso-formats";
const FACADE: &str = "extenso";
const TESTKIT: &str = "extenso-testkit";

const LAYERS: [Layer; 12] = [
    Layer { name: TYPES, uses: &[], tests: &[] },
    // What the derive expands to names these, so its tests need them.
    Layer { name: DERIVE, uses: &[], tests: &[TYPES, CORE] },
    Layer { name: CORE, uses: &[TYPES], tests: &[] },
    Layer { name: GRAPH, uses: &[TYPES, CORE], tests: &[] },
    Layer { name: EXT, uses: &[TYPES, CORE, DERIVE], tests: &[] },
    Layer { name: FORMATS, uses: &[TYPES, CORE, EXT, GRAPH], tests: &[] },
    Layer { name: TESTKIT, uses: &[TYPES, CORE, GRAPH, EXT, FORMATS, DERIVE], tests: &[] },
    Layer { name: FACADE, uses: &[TYPES, CORE, DERIVE, GRAPH, EXT, FORMATS], tests: &[] },
    Layer { name: "extenso-cli", uses: &[FACADE], tests: &[] },
    Layer { name: "extenso-py", uses: &[TYPES, CORE, DERIVE, GRAPH, EXT, FORMATS, FACADE], tests: &[] },
    Layer { name: "extenso-fuzz", uses: &[TYPES, CORE, DERIVE, GRAPH, EXT, FORMATS, FACADE, TESTKIT], tests: &[] },
    Layer { name: "xtask", uses: &[], tests: &[] },
];

/// Finds dependencies that no layer allows.
pub fn faults(files: &[File]) -> Vec<Fault> {
    let manifests = files.iter().filter(|file| file.path.rsplit('/').next() == Some("Cargo.toml"));
    manifests.flat_map(manifest_faults).collect()
}

fn manifest_faults(file: &File) -> Vec<Fault> {
    let Some(package) = package(&file.text) else { return Vec::new() };
    let ours = dependencies(&file.text).into_iter().filter(|dependency| is_ours(&dependency.name));
    ours.filter_map(|dependency| {
        let what = refusal(package, &dependency)?;
        Some(Fault::at(file, dependency.line, what))
    })
    .collect()
}

fn is_ours(name: &str) -> bool {
    name == FACADE || name.starts_with("extenso-")
}

fn refusal(package: &str, dependency: &Dependency) -> Option<String> {
    let name = dependency.name.as_str();
    let Some(layer) = layer(package) else {
        return Some(format!("`{package}` has no layer. Give it one in xtask/src/tidy/layers.rs, with the reason."));
    };
    let in_tests = dependency.for_tests && (name == TESTKIT || layer.tests.contains(&name) || below(layer, name));
    if in_tests || layer.uses.contains(&name) {
        return None;
    }
    let wanted = if layer.uses.is_empty() { "none of our crates".to_string() } else { layer.uses.join(", ") };
    Some(format!("`{package}` may not depend on `{name}`. Wanted: {wanted}. Move the code down, or its user up."))
}

fn layer(name: &str) -> Option<&'static Layer> {
    LAYERS.iter().find(|layer| layer.name == name)
}

fn below(upper: &Layer, name: &str) -> bool {
    let direct = upper.uses.iter().filter_map(|used| layer(used));
    upper.uses.contains(&name) || direct.into_iter().any(|used| below(used, name))
}

struct Dependency {
    name: String,
    line: usize,
    for_tests: bool,
}

fn package(manifest: &str) -> Option<&str> {
    let mut lines = manifest.lines().map(str::trim).skip_while(|line| *line != "[package]").skip(1);
    lines.by_ref().take_while(|line| !line.starts_with('[')).find_map(|line| quoted_value(line, "name"))
}

/// Returns the value of `key = "value"`, which stands at the start of `text`.
fn quoted_value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let value = text.strip_prefix(key)?.trim_start().strip_prefix('=')?.trim_start();
    value.strip_prefix('"')?.split('"').next()
}

fn dependencies(manifest: &str) -> Vec<Dependency> {
    let mut section = Section::Other;
    let mut found = Vec::new();
    for (line, text) in manifest.lines().map(str::trim).enumerate() {
        if let Some(header) = text.strip_prefix('[').and_then(|text| text.split(']').next()) {
            section = Section::of(header);
            if let Section::One { for_tests, name } = &section {
                found.push(Dependency { name: name.clone(), line, for_tests: *for_tests });
            }
        } else if let Some(name) = renamed(text) {
            found.extend(section.for_tests().map(|for_tests| Dependency { name, line, for_tests }));
        } else if let (Section::Many { for_tests }, Some((key, _))) = (&section, text.split_once('=')) {
            let key = key.split('.').next().unwrap_or(key).trim().trim_matches(['"', '\'']);
            found.push(Dependency { name: key.to_string(), line, for_tests: *for_tests });
        }
    }
    found
}

/// Returns the crate behind `alias = { package = "name" }`, or behind a line `package = "name"` of its own.
fn renamed(text: &str) -> Option<String> {
    text.match_indices("package").find_map(|(at, _)| quoted_value(&text[at..], "package")).map(str::to_string)
}

enum Section {
    /// `[dependencies]`: each line is one.
    Many {
        for_tests: bool,
    },
    /// `[dependencies.name]`: the header is one.
    One {
        for_tests: bool,
        name: String,
    },
    Other,
}

impl Section {
    fn of(header: &str) -> Section {
        for (kind, for_tests) in [("dependencies", false), ("build-dependencies", false), ("dev-dependencies", true)] {
            let is_kind = |text: &str| text == kind || text.ends_with(&format!(".{kind}"));
            if is_kind(header) {
                return Section::Many { for_tests };
            }
            if let Some((_, name)) = header.rsplit_once('.').filter(|(left, _)| is_kind(left)) {
                return Section::One { for_tests, name: name.trim_matches(['"', '\'']).to_string() };
            }
        }
        Section::Other
    }

    fn for_tests(&self) -> Option<bool> {
        match self {
            Section::Many { for_tests } | Section::One { for_tests, .. } => Some(*for_tests),
            Section::Other => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::faults;

    fn check(package: &str, rest: &str, expect: &[usize]) {
        let manifest = format!("[package]\nname = \"{package}\"\n{rest}");
        let expect: Vec<String> = expect.iter().map(|line| format!("crates/x/Cargo.toml:{line}")).collect();
        let expect: Vec<&str> = expect.iter().map(String::as_str).collect();
        testing::check(faults, &[("crates/x/Cargo.toml", &manifest)], &expect);
    }

    #[test]
    fn an_arrow_that_points_up_is_found() {
        check("extenso-types", "[dependencies]\nextenso-core.workspace = true", &[4]);
        check("extenso-core", "[dependencies]\nhalf = \"2\"\nextenso-graph = { workspace = true }", &[5]);
        check("extenso-core", "[build-dependencies]\n\"extenso-graph\" = \"1\"", &[4]);
        check("extenso-ext", "[dependencies.extenso-graph]\nworkspace = true", &[3]);
        check("extenso-ext", "[target.'cfg(unix)'.dependencies]\nextenso-graph.workspace = true", &[4]);
        check("extenso", "[dependencies]\nextenso-testkit.workspace = true", &[4]);
    }

    #[test]
    fn another_name_does_not_hide_a_crate() {
        check("extenso-core", "[dependencies]\ngraph = { package = \"extenso-graph\", version = \"1\" }", &[4]);
        check("extenso-core", "[dependencies.graph]\npackage = \"extenso-graph\"", &[4]);
    }

    #[test]
    fn tests_may_look_at_all_that_lies_below_and_at_the_testkit() {
        let all = "[dev-dependencies]\nextenso-testkit.workspace = true\nextenso-types.workspace = true\n";
        check("extenso-ext", all, &[]);
        check("extenso-types", "[dev-dependencies]\nextenso-core.workspace = true", &[4]);
        check("extenso-cli", "[dev-dependencies]\nextenso-graph.workspace = true", &[]);
    }

    #[test]
    fn a_crate_without_a_layer_is_found() {
        check("extenso-server", "[dependencies]\nextenso.workspace = true", &[4]);
        check("stranger", "[dependencies]\nhalf = \"2\"", &[]);
    }

    #[test]
    fn the_arrows_of_the_table_hold() {
        check("extenso-types", "[dependencies]\nhalf = \"2\"\n[features]\nextenso-core = []", &[]);
        check("extenso-formats", "[dependencies]\nextenso-ext.workspace = true\nextenso-graph.workspace = true", &[]);
        check("extenso-cli", "[dependencies]\nextenso.workspace = true", &[]);
    }

    #[test]
    fn every_layer_rests_on_earlier_ones() {
        for (at, layer) in super::LAYERS.iter().enumerate() {
            let earlier: Vec<&str> = super::LAYERS[..at].iter().map(|layer| layer.name).collect();
            assert!(layer.uses.iter().all(|used| earlier.contains(used)), "{}", layer.name);
        }
    }
}
