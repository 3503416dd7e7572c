//! Ragged tensors: keys.

mod support;

use extenso_core::{Value, ops};
use extenso_ext::ragged::{Part, index};
use extenso_types::Result;
use support::{check, fails, ragged, traced, value};

const R: &str = r#"[["a", "b"], ["c", "d", "e"], ["f"], [], ["g"]]"#;
const PAIRS: &str = "[[[1, 2]], [], [[3, 4], [5, 6]]]";
const NESTED: &str = "[[[1, 2], [3]], [], [[4], [], [5, 6]]]";

fn slice(start: i64, stop: i64, step: i64) -> Part {
    Part::Slice { start: Some(start), stop: Some(stop), step }
}

fn at(x: &str, parts: &[Part]) -> Result<Value> {
    index(&value(x), parts)
}

fn select(text: &str) -> Part {
    Part::Select(value(text))
}

#[test]
fn keys_select_what_they_say() {
    let table: [(&str, &[Part], &str); 20] = [
        (R, &[Part::At(1)], r#"["c", "d", "e"]"#),
        (R, &[Part::At(-3)], r#"["f"]"#),
        (R, &[Part::Ellipsis, Part::At(2), Part::At(0)], r#""f""#),
        (R, &[Part::At(1), Part::At(-1)], r#""e""#),
        (R, &[Part::At(1), slice(1, 9, 1)], r#"["d", "e"]"#),
        (R, &[Part::Ellipsis], R),
        (R, &[], R),
        (R, &[slice(1, 3, 1)], r#"[["c", "d", "e"], ["f"]]"#),
        (R, &[Part::Ellipsis, slice(0, 1, 1)], r#"[["a"], ["c"], ["f"], [], ["g"]]"#),
        (R, &[slice(4, 0, -2), slice(5, -9, -1)], r#"[["g"], ["f"]]"#),
        (R, &[Part::NewAxis], r#"[[["a", "b"], ["c", "d", "e"], ["f"], [], ["g"]]]"#),
        (R, &[Part::ALL, Part::NewAxis], r#"[[["a", "b"]], [["c", "d", "e"]], [["f"]], [[]], [["g"]]]"#),
        (R, &[Part::Ellipsis, Part::NewAxis], r#"[[["a"], ["b"]], [["c"], ["d"], ["e"]], [["f"]], [], [["g"]]]"#),
        (PAIRS, &[Part::ALL, Part::ALL, Part::At(1)], "[[2], [], [4, 6]]"),
        (PAIRS, &[Part::Ellipsis, Part::At(-1)], "[[2], [], [4, 6]]"),
        (PAIRS, &[Part::Ellipsis, slice(1, 2, 1)], "[[[2]], [], [[4], [6]]]"),
        (PAIRS, &[Part::At(2), Part::At(1), Part::At(0)], "5"),
        (NESTED, &[Part::At(2), Part::ALL, slice(0, 1, 1)], "[[4], [], [5]]"),
        (NESTED, &[Part::ALL, Part::ALL, slice(0, 1, 1)], "[[[1], [3]], [], [[4], [], [5]]]"),
        (NESTED, &[Part::ALL, slice(-1, -9, -1)], "[[[3], [1, 2]], [], [[5, 6], [], [4]]]"),
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
    check(at(PAIRS, &[Part::ALL, Part::ALL, select("[1, 0, 1]")]), "[[[2, 1, 2]], [], [[4, 3, 4], [6, 5, 6]]]");
    let both = [value(R), value("[[2, 0], [4, 4]]")];
    check(traced(&both, |a| index(&a[0], &[Part::Select(a[1].clone())])), r#"[[["f"], ["a", "b"]], [["g"], ["g"]]]"#);
    check(at(R, &[select("[True, False, True, True, False]")]), r#"[["a", "b"], ["f"], []]"#);
    check(
        at(R, &[select("[[True, False], [False, True, True], [False], [], [True]]")]),
        r#"[["a"], ["d", "e"], [], [], ["g"]]"#,
    );
    check(at(PAIRS, &[Part::ALL, Part::ALL, select("[False, True]")]), "[[[2]], [], [[4], [6]]]");
}

#[test]
fn keys_that_select_nothing_are_errors() {
    fails(at(R, &[Part::ALL, Part::At(0)]), &["axis 1 is ragged", "slice"]);
    fails(at(NESTED, &[Part::ALL, Part::ALL, Part::At(0)]), &["axis 2 is ragged"]);
    fails(at(R, &[Part::At(5)]), &["5", "out of range"]);
    fails(at(R, &[Part::At(-6)]), &["-6", "out of range"]);
    fails(at(R, &[Part::At(2), Part::At(1)]), &["1", "out of range"]);
    fails(at(R, &[Part::At(0), Part::At(0), Part::At(0)]), &["3 axes", "has 2"]);
    fails(at(R, &[Part::Ellipsis, Part::Ellipsis]), &["two ellipses"]);
    fails(at(R, &[slice(0, 1, 0)]), &["step"]);
    fails(at(R, &[Part::ALL, slice(0, 1, 0)]), &["step"]);
    fails(at(R, &[select("0.5")]), &["f64", "integers"]);
    fails(at(R, &[select("[True]")]), &["mask", "1", "5"]);
    fails(at(R, &[Part::ALL, select("[0]")]), &["axis 1 is ragged"]);
    fails(traced(&[value(R)], |a| index(&a[0], &[Part::At(7)])), &["7", "out of range"]);
    fails(traced(&[value(R)], |a| index(&a[0], &[Part::ALL, Part::At(0)])), &["axis 1 is ragged"]);
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
