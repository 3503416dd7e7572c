//! Keys on rows, on data and while tracing.

mod support;

use extenso_core::{Value, ops};
use extenso_ext::{Index, index};
use extenso_types::Result;
use support::{check, fails, ragged, traced, value};

const R: &str = r#"[["a", "b"], ["c", "d", "e"], ["f"], [], ["g"]]"#;
const PAIRS: &str = "[[[1, 2]], [], [[3, 4], [5, 6]]]";
const NESTED: &str = "[[[1, 2], [3]], [], [[4], [], [5, 6]]]";

fn slice(start: i64, stop: i64, step: i64) -> Index {
    Index::Slice { start: Some(start), stop: Some(stop), step }
}

fn at(x: &str, parts: &[Index]) -> Result<Value> {
    index(&value(x), parts)
}

fn select(text: &str) -> Index {
    Index::Pick(value(text))
}

#[test]
fn keys_select_what_they_say() {
    let table: [(&str, &[Index], &str); 20] = [
        (R, &[Index::At(1)], r#"["c", "d", "e"]"#),
        (R, &[Index::At(-3)], r#"["f"]"#),
        (R, &[Index::Ellipsis, Index::At(2), Index::At(0)], r#""f""#),
        (R, &[Index::At(1), Index::At(-1)], r#""e""#),
        (R, &[Index::At(1), slice(1, 9, 1)], r#"["d", "e"]"#),
        (R, &[Index::Ellipsis], R),
        (R, &[], R),
        (R, &[slice(1, 3, 1)], r#"[["c", "d", "e"], ["f"]]"#),
        (R, &[Index::Ellipsis, slice(0, 1, 1)], r#"[["a"], ["c"], ["f"], [], ["g"]]"#),
        (R, &[slice(4, 0, -2), slice(5, -9, -1)], r#"[["g"], ["f"]]"#),
        (R, &[Index::NewAxis], r#"[[["a", "b"], ["c", "d", "e"], ["f"], [], ["g"]]]"#),
        (R, &[Index::ALL, Index::NewAxis], r#"[[["a", "b"]], [["c", "d", "e"]], [["f"]], [[]], [["g"]]]"#),
        (R, &[Index::Ellipsis, Index::NewAxis], r#"[[["a"], ["b"]], [["c"], ["d"], ["e"]], [["f"]], [], [["g"]]]"#),
        (PAIRS, &[Index::ALL, Index::ALL, Index::At(1)], "[[2], [], [4, 6]]"),
        (PAIRS, &[Index::Ellipsis, Index::At(-1)], "[[2], [], [4, 6]]"),
        (PAIRS, &[Index::Ellipsis, slice(1, 2, 1)], "[[[2]], [], [[4], [6]]]"),
        (PAIRS, &[Index::At(2), Index::At(1), Index::At(0)], "5"),
        (NESTED, &[Index::At(2), Index::ALL, slice(0, 1, 1)], "[[4], [], [5]]"),
        (NESTED, &[Index::ALL, Index::ALL, slice(0, 1, 1)], "[[[1], [3]], [], [[4], [], [5]]]"),
        (NESTED, &[Index::ALL, slice(-1, -9, -1)], "[[[3], [1, 2]], [], [[5, 6], [], [4]]]"),
    ];
    for (x, parts, wanted) in table {
        check(at(x, parts), wanted);
        check(traced(&[value(x)], |a| index(&a[0], parts)), wanted);
    }
}

#[test]
fn tensors_in_keys_pick_rows() {
    check(at(R, &[select("[2, 0, -1]")]), r#"[["f"], ["a", "b"], ["g"]]"#);
    check(at(R, &[select("[[2, 0], [4, 4]]")]), r#"[[["f"], ["a", "b"]], [["g"], ["g"]]]"#);
    check(at(R, &[select("[[2], [0, 1]]")]), r#"[[["f"]], [["a", "b"], ["c", "d", "e"]]]"#);
    check(at(PAIRS, &[Index::ALL, Index::ALL, select("[1, 0, 1]")]), "[[[2, 1, 2]], [], [[4, 3, 4], [6, 5, 6]]]");
    let both = [value(R), value("[[2, 0], [4, 4]]")];
    check(traced(&both, |a| index(&a[0], &[Index::Pick(a[1].clone())])), r#"[[["f"], ["a", "b"]], [["g"], ["g"]]]"#);
    check(at(R, &[select("[True, False, True, True, False]")]), r#"[["a", "b"], ["f"], []]"#);
    check(
        at(R, &[select("[[True, False], [False, True, True], [False], [], [True]]")]),
        r#"[["a"], ["d", "e"], [], [], ["g"]]"#,
    );
    check(at(PAIRS, &[Index::ALL, Index::ALL, select("[False, True]")]), "[[[2]], [], [[4], [6]]]");
}

#[test]
fn keys_that_select_nothing_are_errors() {
    fails(at(R, &[Index::ALL, Index::At(0)]), &["axis 1 is ragged", "slice"]);
    fails(at(NESTED, &[Index::ALL, Index::ALL, Index::At(0)]), &["axis 2 is ragged"]);
    fails(at(R, &[Index::At(5)]), &["5", "out of range"]);
    fails(at(R, &[Index::At(-6)]), &["-6", "out of range"]);
    fails(at(R, &[Index::At(2), Index::At(1)]), &["1", "out of range"]);
    fails(at(R, &[Index::At(0), Index::At(0), Index::At(0)]), &["3 axes", "has 2"]);
    fails(at(R, &[Index::Ellipsis, Index::Ellipsis]), &["two ellipses"]);
    fails(at(R, &[slice(0, 1, 0)]), &["step"]);
    fails(at(R, &[Index::ALL, slice(0, 1, 0)]), &["step"]);
    fails(at(R, &[select("0.5")]), &["f64", "integers"]);
    fails(at(R, &[select("[True]")]), &["mask", "1", "5"]);
    fails(at(R, &[Index::ALL, select("[0]")]), &["axis 1 is ragged"]);
    fails(traced(&[value(R)], |a| index(&a[0], &[Index::At(7)])), &["7", "out of range"]);
    fails(traced(&[value(R)], |a| index(&a[0], &[Index::ALL, Index::At(0)])), &["axis 1 is ragged"]);
}

#[test]
fn masks_keep_rows_or_pick_them() {
    let x = || value("[[1, 2, 3], [4], [5, 6]]");
    let table = [
        ("[True, False, True]", "[[1, 2, 3], [5, 6]]"),
        ("[False, False, False]", "[]"),
        ("[[True, False, True], [False], [True, True]]", "[[1, 3], [], [5, 6]]"),
    ];
    for (mask, wanted) in table {
        check(ops::boolean_mask(x(), value(mask), 0), wanted);
        check(traced(&[x(), value(mask)], |a| ops::boolean_mask(&a[0], &a[1], 0)), wanted);
    }
    let nested = value(NESTED);
    check(
        ops::boolean_mask(nested.clone(), value("[[True, False], [], [False, True, True]]"), 0),
        "[[[1, 2]], [], [[], [5, 6]]]",
    );
    let deep = value("[[[True, False], [True]], [], [[False], [], [False, True]]]");
    check(ops::boolean_mask(nested, deep, 0), "[[[1], [3]], [], [[], [], [6]]]");
    check(ops::boolean_mask(value("[[1, 2], [3, 4]]"), ragged("[[True, False], [True, True]]"), 0), "[[1], [3, 4]]");
    check(ops::boolean_mask(value("[[1, 2], [3, 4]]"), value("[[True, False], [True, True]]"), 0), "[1, 3, 4]");
    fails(ops::boolean_mask(x(), value("[1, 0, 1]"), 0), &["boolean_mask", "booleans", "i64"]);
    fails(ops::boolean_mask(x(), value("[True]"), 0), &["boolean_mask", "1", "3"]);
    fails(ops::boolean_mask(x(), value("[[True], [True], [True, True]]"), 0), &["boolean_mask", "row 0", "3", "1"]);
    fails(ops::boolean_mask(x(), value("True"), 0), &["boolean_mask", "axis"]);
    let short = traced(&[x(), value("[True, True]")], |a| ops::boolean_mask(&a[0], &a[1], 0));
    fails(short, &["2", "3"]);
}
