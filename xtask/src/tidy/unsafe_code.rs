//! Invariant: `unsafe` stands only where the table allows, each time beside its reason.

use super::rust_text::code;
use super::{Fault, File, has_word, named};

const WORD: &str = "unsafe";
const REACH: usize = 5;
/// The test that counts what its process takes from the heap.
const COUNTS: &str = "crates/extenso-graph/tests/allocations.rs";

/// Finds `unsafe` in a file that may not hold it, or without a reason.
pub fn faults(files: &[File]) -> Vec<Fault> {
    named(files, &[".rs"]).flat_map(file_faults).collect()
}

fn file_faults(file: &File) -> Vec<Fault> {
    let code = code(&file.text);
    let lines: Vec<&str> = file.text.lines().collect();
    let uses = code.lines().enumerate().filter(|(_, line)| has_word(line, WORD));
    uses.filter_map(|(at, line)| Some(Fault::at(file, at, fault(&file.path, line, &lines, at)?))).collect()
}

fn fault(path: &str, code: &str, lines: &[&str], at: usize) -> Option<&'static str> {
    if !allowed(path) {
        return Some(
            "`unsafe` may stand only in extenso-core's kernels, the binding and the test that counts allocations. \
             Move it there or find the safe form.",
        );
    }
    let declares = ["unsafe fn", "unsafe extern", "unsafe trait"].iter().any(|word| code.contains(word));
    if has_reason(lines, at) || (declares && has_contract(lines, at)) {
        return None;
    }
    Some(
        "`unsafe` without its reason. Write `// SAFETY:` within 5 lines above it; \
         an `unsafe fn` or trait may have a `# Safety` section instead.",
    )
}

fn allowed(path: &str) -> bool {
    path.starts_with("crates/extenso-core/src/kernels/") || path.starts_with("python/src/") || path == COUNTS
}

fn has_reason(lines: &[&str], at: usize) -> bool {
    lines[at.saturating_sub(REACH)..=at].iter().any(|line| line.contains("// SAFETY:"))
}

fn has_contract(lines: &[&str], at: usize) -> bool {
    let attached = |line: &&&str| line.trim_start().starts_with("///") || line.trim_start().starts_with("#[");
    lines[..at].iter().rev().take_while(attached).any(|line| line.contains("# Safety"))
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::{COUNTS, faults};

    const KERNEL: &str = "crates/extenso-core/src/kernels/map.rs";

    #[test]
    fn unsafe_stands_only_where_it_is_allowed() {
        let text = "// SAFETY: in bounds.\nunsafe { f() }";
        check(faults, &[("crates/extenso-ext/src/lib.rs", text)], &["crates/extenso-ext/src/lib.rs:2"]);
        for path in ["crates/extenso-formats/src/json.rs", "crates/extenso-formats/src/arrow/ffi.rs"] {
            check(faults, &[(path, text)], &[&format!("{path}:2")]);
        }
        for path in [KERNEL, COUNTS, "python/src/tensor.rs"] {
            check(faults, &[(path, text)], &[]);
        }
    }

    #[test]
    fn unsafe_needs_a_reason() {
        check(faults, &[(KERNEL, "fn f() {\n    unsafe { g() }\n}")], &["crates/extenso-core/src/kernels/map.rs:2"]);
        check(faults, &[(KERNEL, "// SAFETY: x.\n\n\n\n\nunsafe { g() }")], &[]);
        check(
            faults,
            &[(KERNEL, "// SAFETY: x.\n\n\n\n\n\nunsafe { g() }")],
            &["crates/extenso-core/src/kernels/map.rs:7"],
        );
    }

    #[test]
    fn an_unsafe_fn_may_state_its_contract() {
        let contract = "/// Adds.\n///\n/// # Safety\n/// The pointer is valid.\n#[inline]\n";
        check(faults, &[(KERNEL, &format!("{contract}unsafe fn f() {{}}"))], &[]);
        check(faults, &[(KERNEL, &format!("{contract}unsafe extern \"C\" fn f() {{}}"))], &[]);
        check(
            faults,
            &[(KERNEL, &format!("{contract}fn g() {{}}\nunsafe fn f() {{}}"))],
            &["crates/extenso-core/src/kernels/map.rs:7"],
        );
    }

    #[test]
    fn the_word_in_a_comment_or_a_string_is_no_use() {
        let text = "#![deny(unsafe_code)]\n// unsafe\nlet x = \"unsafe\";";
        check(faults, &[("crates/extenso/src/lib.rs", text)], &[]);
    }
}
