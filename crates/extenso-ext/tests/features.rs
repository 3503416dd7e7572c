//! Parts of strings and features in rows and under masks, with symbols as with data.

mod support;

use extenso_core::ExtensionType;
use extenso_core::attrs::Axes;
use extenso_core::{Arg, Offsets, RowPartition, Tensor, Value, ops};
use extenso_ext::{
    CROSS_KEY, Combiner, RaggedTensor, cross, cross_hashed, drop_empty, embedding_lookup, multi_hot, regex_find_all,
    regex_groups, regex_split, string_rsplit, unicode_decode, unicode_encode,
};
use extenso_types::{DType, Result};
use support::{check, fails, traced, value};

type Function = fn(&[Value]) -> Result<Value>;

#[test]
fn what_is_composed_is_the_same_traced() {
    let params = r#"[[1.0, 2.0], [3.0, 4.0]]"#;
    let cases: &[(Function, &[&str], &str)] = &[
        (|x| string_rsplit(&x[0], Some("/"), 1), &[r#"["a/b/c", "", "d"]"#], r#"[["a/b", "c"], [""], ["d"]]"#),
        (|x| regex_split(&x[0], "[0-9]", -1), &[r#"["a1b", "c"]"#], r#"[["a", "b"], ["c"]]"#),
        (|x| regex_find_all(&x[0], "[0-9]", 0), &[r#"[["a1"], [], ["b", None]]"#], r#"[[["1"]], [], [[], None]]"#),
        (|x| drop_empty(&x[0]), &[r#"[["a", ""], [""], []]"#], r#"[["a"], [], []]"#),
        (
            |x| unicode_encode(&unicode_decode(&x[0])?, "strict"),
            &[r#"[["ab", ""], [], ["ö"]]"#],
            r#"[["ab", ""], [], ["ö"]]"#,
        ),
        (
            |x| regex_groups(&x[0], "(?P<a>[a-z])([0-9])?"),
            &[r#"["b1", "c", "-"]"#],
            r#"[{"a": "b", "2": "1"}, {"a": "c", "2": None}, {"a": None, "2": None}]"#,
        ),
        (|x| cross(x, "-"), &[r#"[["a"], ["b", "c"]]"#, "[[1, 2], []]"], r#"[["a-1", "a-2"], []]"#),
        (|x| cross_hashed(x, 10, CROSS_KEY), &[r#"[["a"], ["b", "c"]]"#, r#"[["d"], ["e"]]"#], "[[2], [1, 1]]"),
        (|x| multi_hot(&x[0], 2, DType::I64), &["[[0, 0], [], [1]]"], "[[1, 0], [0, 0], [0, 1]]"),
        (
            |x| embedding_lookup(&x[0], &x[1], None, Combiner::Mean, None),
            &[params, "[[0, 1], [], [1]]"],
            "[[2.0, 3.0], [0.0, 0.0], [3.0, 4.0]]",
        ),
        (
            |x| embedding_lookup(&x[0], &x[1], Some(&Arg::from(&x[2])), Combiner::Sum, Some(100.0)),
            &[params, "[[0, 1], [], [1]]", "[[1.0, 2.0], [], [0.5]]"],
            "[[7.0, 10.0], [0.0, 0.0], [1.5, 2.0]]",
        ),
    ];
    for (f, args, wanted) in cases {
        let args: Vec<Value> = args.iter().map(|text| value(text)).collect();
        check(f(&args), wanted);
        check(traced(&args, f), wanted);
    }
}

/// Rows with values before and behind that belong to none.
fn sliced(values: Tensor) -> Value {
    let partition = RowPartition::from_offsets(Offsets::I64(vec![1, 1, 3].into()), 4).expect("proven");
    RaggedTensor::from_partition(values, partition).expect("fits").into_value()
}

#[test]
fn what_lies_outside_the_rows_does_not_count() {
    let texts = |texts: [&str; 4]| sliced(Tensor::strings(&[4], &texts).expect("strings"));
    let numbers = |numbers: [i64; 4]| sliced(Tensor::from_vec(numbers.to_vec()));
    check(drop_empty(&texts(["x", "", "a", "y"])), r#"[[], ["a"]]"#);
    check(unicode_encode(&numbers([-1, 97, 98, -1]), "strict"), r#"["", "ab"]"#);
    check(cross(&[texts(["x", "a", "b", "y"]), numbers([9, 1, 2, 9])], ""), r#"[[], ["a1", "a2", "b1", "b2"]]"#);
    check(multi_hot(&numbers([0, 1, 1, 0]), 2, DType::I64), "[[0, 0], [0, 1]]");
    check(ops::vocabulary(texts(["x", "a", "a", "x"]), None, 1), r#"["a"]"#);
    check(
        ops::hex_decode(texts(["x", "61", "62", "y"])).and_then(|x| ops::string_decode(x, "utf-8", "strict")),
        r#"[[], ["a", "b"]]"#,
    );
    let params = Tensor::new(&[2, 1], &[1.0, 2.0]).expect("two").into();
    check(embedding_lookup(&params, &numbers([-9, 0, 1, 9]), None, Combiner::Sum, None), "[[0.0], [3.0]]");
}

/// A vector for each id would take more than a terabyte.
#[test]
fn several_hot_vectors_take_the_memory_of_the_result() {
    let (ids, depth) = (100_000, 10_000_000);
    let rows = RowPartition::from_lengths([ids]).expect("one row");
    let x = RaggedTensor::from_partition(Tensor::from_vec((0..ids as i64).collect::<Vec<_>>()), rows).expect("fits");
    let hot = multi_hot(&x.into_value(), depth, DType::I8).expect("fits into memory");
    check(ops::sum(hot, Axes::All, false), "100000");
}

#[test]
fn what_is_missing_fails_no_op() {
    check(ops::string_index(value(r#"["ab", None]"#), "b", "char"), "[1, None]");
    check(ops::vocabulary(value(r#"["b", None, "a", "a"]"#), None, 1), r#"["a", "b"]"#);
    let decoded =
        ops::base64_decode(value(r#"["YQ==", None]"#), false).and_then(|x| ops::string_decode(x, "utf-8", "strict"));
    check(decoded, r#"["a", None]"#);
    fails(cross(&[value(r#"[["a", None], []]"#)], ""), &["cross", "missing"]);
}
