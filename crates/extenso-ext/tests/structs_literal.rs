//! Records from literals: without a spec, and of a spec that is given.

mod support;

use extenso_core::{ExtensionType, RowPartition, Tensor, TypeSpec, Value};
use extenso_ext::{MaskedTensor, RaggedTensor, StructSpec, StructTensor, constant, constant_of, to_literal};
use extenso_types::{DType, Dim, Result, Shape, Spec, TensorSpec};
use support::{check, fails, parse, value};

fn tensor(dtype: DType, sizes: &[Option<usize>]) -> Spec {
    TensorSpec::new(dtype, Shape::partial(sizes.iter().copied())).into()
}

fn of(text: &str, spec: &Spec) -> Result<Value> {
    constant_of(parse(text), spec)
}

/// The value of a literal under the spec that the value of another has.
fn like(text: &str, model: &str) -> Result<Value> {
    of(text, &general(&value(model)))
}

/// The spec of a value with sizes that are not known.
fn general(value: &Value) -> Spec {
    widened(&value.spec().expect("a spec"))
}

fn widened(spec: &Spec) -> Spec {
    match spec {
        Spec::Tensor(t) => tensor(t.dtype, &vec![None; t.shape.rank().expect("a rank")]),
        Spec::Partition(p) => {
            let mut p = p.clone();
            (p.nrows, p.nvalues) = (Dim::any(), Dim::any());
            Spec::Partition(p)
        }
        Spec::Ext(ext) => {
            let mut ext = (**ext).clone();
            ext.components.iter_mut().for_each(|(_, spec)| *spec = widened(spec));
            ext.into()
        }
    }
}

#[test]
fn a_literal_is_what_its_value_shows() {
    for text in [
        "{}",
        "[{}, {}, {}]",
        "[]",
        "[[], []]",
        r#"{"a": 1, "b": [1.5, 2.5], "c": "x", "d": True, "e": {"f": []}}"#,
        r#"[{"a": [{"b": 1}]}, {"a": []}, {"a": [{"b": 2}, {"b": 3}]}]"#,
        r#"[[{"a": 1}], [], [{"a": 2}, {"a": 3}]]"#,
        r#"[[{"a": 1}], [{"a": 2}]]"#,
        r#"[[[{"a": [1, 2]}]], [[{"a": [3, 4]}]]]"#,
        r#"[{"größe x": 1, ".": [None, 2], " ": {"@": b"y"}}]"#,
        r#"[None, {"a": None}, {"a": {"b": 1}}]"#,
        r#"[{"a": [None, {"b": 1}]}, None]"#,
    ] {
        assert_eq!(to_literal(&value(text)).expect(text), parse(text), "{text}");
    }
}

#[test]
fn lists_of_records_are_dense_where_lengths_agree() {
    let shape =
        |text: &str| StructTensor::from_value(&value(text)).expect(text).shape().to_dims().expect("known").to_vec();
    assert_eq!(shape("[{}, {}, {}]"), [3]);
    assert_eq!(shape("{}"), []);
    assert_eq!(shape(r#"[[{"a": 1}], [{"a": 2}]]"#), [2, 1]);
    assert!(RaggedTensor::from_value(&value(r#"[[{"a": 1}], []]"#)).is_ok());
}

#[test]
fn records_that_differ_are_errors_with_a_path() {
    let wrong = |text: &str, texts: &[&str]| fails(constant(parse(text)), texts);
    wrong(r#"[{"a": 1}, {"a": "x"}]"#, &["[1].a", "a string", "an integer"]);
    wrong(r#"[{"a": 1}, {"a": [1]}]"#, &["[1].a", "a list", "equal nesting"]);
    wrong(r#"[{"a": {"b": 1}}, {"a": {"c": 1}}]"#, &["[1].a.c"]);
    wrong(r#"[{"a": 1}, {}]"#, &["[1].a", "no such field"]);
    wrong("[{}, [{}]]", &["[1]", "a list", "a record"]);
    wrong(r#"{"": 1}"#, &["name", "empty"]);
}

#[test]
fn a_spec_says_dtypes_rows_and_masks() {
    let mut x = of("[1, 2, 3]", &tensor(DType::U8, &[None])).expect("fits");
    assert_eq!(x.tensor().expect("a tensor").dtype(), DType::U8);
    x = of("[[1, 2], [3, 4]]", &tensor(DType::F16, &[Some(2), None])).expect("fits");
    assert_eq!(x.tensor().expect("a tensor").spec().to_string(), "f16[2, 2]");
    x = of("[[1], [2]]", &Spec::from(TensorSpec::new(DType::F64, Shape::unknown()))).expect("fits");
    assert_eq!(x.tensor().expect("a tensor").spec().to_string(), "f64[2, 1]");
    check(of("[]", &tensor(DType::I64, &[None, Some(3)])), "[]");
    x = like("[[1, 2], [3, 4]]", "[[1], [2, 3]]").expect("fits");
    assert!(RaggedTensor::from_value(&x).is_ok());
    x = like("[1, 2]", "[1, None]").expect("fits");
    assert!(MaskedTensor::from_value(&x).is_ok());
    let narrow = Tensor::from_vec(vec![0_i32, 1, 3]);
    let narrow = RaggedTensor::from_row_splits(Tensor::from_vec(vec![1, 2, 3]), &narrow).expect("fits").into_value();
    x = of("[[1], [], [2, 3]]", &general(&narrow)).expect("fits");
    assert_eq!(RaggedTensor::from_value(&x).expect("rows").partition().spec().index, DType::I32);
}

#[test]
fn a_value_of_a_spec_has_the_spec() {
    for model in [
        r#"[{"a": 1, "b": ["x", None], "c": {"d": [1.5]}}, {"a": 2, "b": [], "c": {"d": [2.5]}}]"#,
        r#"[[{"a": [1, None]}], []]"#,
        r#"[None, {"a": None, "b": [{"c": True}]}, {"a": 1, "b": []}]"#,
        r#"{"a": [None, {"b": [[1], [2, 3]]}]}"#,
        "[[[1], None, []], None]",
        "[{}, {}]",
        "None",
    ] {
        let x = value(model);
        let again = of(model, &general(&x)).expect(model);
        assert!(again.spec().expect("a spec").equals(&x.spec().expect("a spec")), "{model}");
        check(Ok(again), model);
    }
}

#[test]
fn what_is_missing_under_a_masked_spec_is_missing() {
    let model = r#"[{"a": 1, "b": None, "c": {"d": 1}}, {"a": 2, "b": [1, 2], "c": None}]"#;
    check(like(r#"[{"a": 1}]"#, model), r#"[{"a": 1, "b": None, "c": None}]"#);
    check(like(r#"[{"c": {"d": 5}, "a": 1}]"#, model), r#"[{"a": 1, "b": None, "c": {"d": 5}}]"#);
    check(like("[]", model), "[]");
    check(like("[None, None]", "[[1, 2], None]"), "[None, None]");
}

#[test]
fn literals_that_do_not_fit_a_spec_are_errors_with_a_path() {
    let wrong = |text: &str, model: &str, texts: &[&str]| fails(like(text, model), texts);
    wrong("[1, 2.5]", "[1]", &["constant", "[1]", "a float", "i64"]);
    wrong(r#"[{"a": "x"}]"#, r#"[{"a": 1}]"#, &["[0].a", "a string", "i64"]);
    wrong("[{}]", r#"[{"a": 1}]"#, &["[0].a", "no such field", "masked"]);
    wrong(r#"[{"a": 1, "b": 2}]"#, r#"[{"a": 1}]"#, &["[0].b", "one of: a"]);
    wrong("[None]", r#"[{"a": 1}]"#, &["[0]", "missing", "masked"]);
    wrong("[[1], None]", "[[1], [2, 3]]", &["[1]", "missing"]);
    wrong("[1]", r#"[{"a": 1}]"#, &["[0]", "an integer", "a record"]);
    wrong("[1]", "[[1], [2, 3]]", &["[0]", "an integer", "a list"]);
    wrong(r#"{"a": [[1], [2, 3]]}"#, r#"{"a": [[1], [2]]}"#, &["a[1]", "2 items", "1"]);
    fails(of("[300]", &tensor(DType::U8, &[None])), &["[0]", "300", "u8", "0 to 255"]);
    fails(of("[-1]", &tensor(DType::U64, &[None])), &["[0]", "-1", "u64"]);
    fails(of("[1, 2, 3]", &tensor(DType::I64, &[Some(2)])), &["3 items", "2"]);
    fails(of("1", &tensor(DType::I64, &[None])), &["an integer", "a list"]);
    let partition = Spec::Partition(RowPartition::from_lengths([1]).expect("rows").spec());
    fails(of("[1]", &partition), &["row partition"]);
    let huge = widened(&value("[[1], None]").spec().expect("a spec"));
    assert!(of("[None]", &huge).is_ok());
}

#[test]
fn a_spec_alone_does_not_take_the_memory() {
    let masked = value("[[1, 2], None]").spec().expect("a spec");
    let Spec::Ext(ext) = &masked else { panic!("masked") };
    let mut ext = (**ext).clone();
    // Lists of a fixed and huge size under one missing element.
    ext.components[0].1 = tensor(DType::I64, &[Some(1), Some(1 << 40)]);
    ext.components[1].1 = tensor(DType::Bool, &[Some(1)]);
    fails(of("[None]", &ext.into()), &["under what is missing"]);
}

#[test]
fn the_sizes_of_a_spec_are_those_that_its_fields_tell() {
    let x = StructTensor::from_value(&value(r#"[{"a": [1], "b": 1}, {"a": [], "b": 2}]"#)).expect("records");
    let spec = StructSpec::deserialize(value_spec(&x).ext().expect("a struct")).expect("a struct");
    assert_eq!(spec.known_shape().to_dims().as_deref(), Some(&[2][..]));
}

fn value_spec(x: &StructTensor) -> Spec {
    x.clone().into_value().spec().expect("a spec")
}
