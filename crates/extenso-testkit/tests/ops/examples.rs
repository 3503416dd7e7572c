//! Docs and examples: there, and true in every float dtype.

use crate::support::{check_same, examples_of, in_dtype, run, values_of};

/// Ops that no case can call: they need a variable or graphs.
const WITHOUT: [&str; 3] = ["read_variable", "assign", "cond"];

#[test]
fn every_op_has_a_doc_and_an_example() {
    for op in extenso_graph::tables() {
        let doc = op.doc.trim();
        assert!(doc.ends_with('.') && doc.len() > 10, "{}: the doc is {doc:?}", op.name);
        let needs_host = op.attrs.params.iter().any(|p| matches!(p.kind, "variable" | "graph"));
        assert_eq!(WITHOUT.contains(&op.name), needs_host, "{}: is it in the list of those without examples?", op.name);
        assert_eq!(op.examples.is_empty(), needs_host, "{}: has {} examples", op.name, op.examples.len());
        for (text, _) in op.examples {
            let name = op.name.trim_end_matches('_');
            assert!(text.starts_with(&format!("{name}(")), "{text}: is an example of '{name}'");
        }
    }
    let names: Vec<_> = extenso_graph::tables().map(|op| op.name).collect();
    assert!(WITHOUT.iter().all(|name| names.contains(name)), "an op is listed that does not exist");
    let distinct: std::collections::BTreeSet<_> = names.iter().map(|name| name.trim_end_matches('_')).collect();
    assert_eq!(distinct.len(), names.len(), "two ops have one name");
}

#[test]
fn every_example_holds_in_every_float_dtype() {
    let mut floats = 0;
    for op in extenso_graph::tables() {
        for example in examples_of(op) {
            check_same(&run(&example.call, example.text), &example.wanted, example.text);
        }
        for (text, wanted) in op.examples {
            for dtype in ["f16", "bf16", "f32", "f64"] {
                let what = format!("{text} in {dtype}");
                let (call, wanted) = in_dtype(text, wanted, Some(dtype));
                check_same(&run(&call, &what), &wanted, &what);
                floats += usize::from(format!("{:?}", values_of(&call)).contains(dtype));
            }
        }
    }
    assert!(floats > 80, "only {floats} examples are of floats");
}
