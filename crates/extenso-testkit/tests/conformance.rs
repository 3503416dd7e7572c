//! Every case of `conformance/*.md` holds.

use extenso_testkit::case::parse_markdown;
use extenso_testkit::eval::run_block;
use std::path::Path;

fn check_folder(folder: &Path) -> (usize, Vec<String>) {
    let mut files: Vec<_> = std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "md"));
    files.sort();
    assert!(!files.is_empty(), "no case files in {}", folder.display());
    let (mut passed, mut failures) = (0, Vec::new());
    for path in files {
        let name = format!("conformance/{}", path.file_name().expect("a name").to_string_lossy());
        let text = std::fs::read_to_string(&path).expect("a text file");
        for block in parse_markdown(&name, &text).unwrap_or_else(|e| panic!("{e}")) {
            let report = run_block(&block);
            passed += report.passed;
            failures.extend(report.failures.iter().map(ToString::to_string));
        }
    }
    (passed, failures)
}

#[test]
fn every_case_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let (passed, failures) = check_folder(&folder);
    let count = failures.len();
    assert!(failures.is_empty(), "{count} cases fail, {passed} hold:\n{}", failures.join("\n"));
    println!("{passed} cases hold");
    assert!(passed > 250, "only {passed} cases were found");
}

#[test]
fn a_failing_case_says_where_what_and_why() {
    let text = "```case\nx = [1, 2]\nadd(x, 1) == [2, 4]\nadd(x, [1, 2, 3]) == [1]\nadd(x, 1) raises \"no\"\n```\n";
    let blocks = parse_markdown("f.md", text).expect("parses");
    let failures = run_block(&blocks[0]).failures;
    assert_eq!(failures.len(), 3);
    let first = failures[0].to_string();
    for part in ["f.md:3: add(x, 1)", "wanted: [2, 4]: i64[2]", "got:    [2, 3]", "element 1 is 3, wanted 4"] {
        assert!(first.contains(part), "'{part}' is not in:\n{first}");
    }
    assert!(failures[1].got.contains("do not broadcast"), "{}", failures[1]);
    assert!(failures[2].got.starts_with("[2, 3]"), "{}", failures[2]);
}
