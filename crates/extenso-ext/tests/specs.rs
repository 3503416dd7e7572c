//! Specs by what a user says of them, and values as the tensors that they are made of.

mod support;

use extenso_core::{ExtensionType, Tensor, TypeSpec};
use extenso_ext::{
    RaggedTensor, StructSpec, collapse, collapse_spec, dtype_of, expand, expand_spec, masked_spec, ragged_spec,
    shape_of,
};
use extenso_types::{DType, Shape, Spec, TensorSpec};
use support::{check, fails, value};

const VALUES: [&str; 7] = [
    "[1, 2]",
    "[[1], [2, 3]]",
    "[1, None]",
    r#"[{"a": [[1], []], "b": None}, {"a": [], "b": "x"}]"#,
    "[{}, {}]",
    "[[[1, None], []], []]",
    r#"[[{"a": 1}], []]"#,
];

fn tensor(sizes: &[Option<usize>]) -> Spec {
    TensorSpec::new(DType::I64, Shape::partial(sizes.iter().copied())).into()
}

#[test]
fn packing_what_expanding_gave_is_the_value() {
    for text in VALUES {
        let x = value(text);
        let (spec, tensors) = (x.spec().expect("a spec"), expand(&x).expect(text));
        let specs: Vec<TensorSpec> = tensors.iter().map(Tensor::spec).collect();
        assert_eq!(specs, expand_spec(&spec), "{text}");
        assert!(collapse_spec(&spec, specs).expect(text).equals(&spec), "{text}");
        check(collapse(&spec, tensors), text);
    }
}

#[test]
fn partitions_from_tensors_are_proven() {
    let x = value("[[1], [2, 3]]");
    let spec = x.spec().expect("a spec");
    let of = |splits: Vec<i64>| collapse(&spec, [Tensor::from_vec(vec![1_i64, 2, 3]), Tensor::from_vec(splits)]);
    check(of(vec![0, 3, 3]), "[[1, 2, 3], []]");
    for splits in [vec![], vec![1, 2, 3], vec![0, 3, 2], vec![0, 1, 9]] {
        assert!(of(splits.clone()).is_err(), "{splits:?}");
    }
    fails(collapse(&spec, [Tensor::from_vec(vec![1.5])]), &["f64", "i64"]);
    fails(collapse(&spec, [Tensor::from_vec(vec![1_i64, 2, 3])]), &["no tensor is left"]);
    let three = [1, 2, 3].map(|n| Tensor::from_vec(vec![0_i64; n]));
    fails(collapse(&tensor(&[None]), three), &["left over"]);
}

#[test]
fn a_spec_says_the_shape_and_the_dtype_of_its_values() {
    let says = |text: &str, shape: &str, dtype: Option<DType>| {
        let spec = value(text).spec().expect("a spec");
        assert_eq!((shape_of(&spec).to_string().as_str(), dtype_of(&spec)), (shape, dtype), "{text}");
    };
    says("[[1], [2, 3]]", "[2, ?]", Some(DType::I64));
    says("[[[1.5]], []]", "[2, ?, 1]", Some(DType::F64));
    says("[1, None]", "[2]", Some(DType::I64));
    says(r#"[{"a": [1]}, {"a": []}]"#, "[2]", None);
    says(r#"[[{"a": 1}], []]"#, "[2, ?]", None);
    says("[{}, {}]", "[2]", None);
}

#[test]
fn sizes_that_one_field_knows_are_those_of_all() {
    let spec =
        StructSpec::of_shape(&Shape::partial([None]), [("a", tensor(&[Some(3)])), ("b", tensor(&[None, Some(2)]))]);
    assert_eq!(
        Spec::from(spec.expect("fits").serialize()).to_string(),
        "StructTensor(a: i64[3], b: i64[3, 2], rank=1)"
    );
    let wrong =
        |fields: Vec<(&str, Spec)>, texts: &[&str]| fails(StructSpec::of_shape(&Shape::known(&[2]), fields), texts);
    wrong(vec![("a", tensor(&[Some(3)]))], &["StructTensorSpec", "field 'a'", "[3]", "[2]"]);
    wrong(vec![("a", tensor(&[]))], &["field 'a'"]);
    wrong(vec![("", tensor(&[None]))], &["name"]);
    wrong(vec![("a", tensor(&[None])), ("a", tensor(&[None]))], &["'a'", "once"]);
}

#[test]
fn specs_made_of_words_accept_the_values_that_they_describe() {
    let accepts = |spec: Spec, text: &str| {
        let given = value(text).spec().expect("a spec");
        assert!(given.is_subtype_of(&spec), "{spec} and {given}");
    };
    let shape = |sizes: &[Option<usize>]| Shape::partial(sizes.iter().copied());
    accepts(ragged_spec(&shape(&[None, None]), DType::I64, 1, DType::I64).expect("fits"), "[[1], [2, 3]]");
    accepts(
        ragged_spec(&shape(&[None, None, None]), DType::I64, 2, DType::I64).expect("fits"),
        "[[[1], []], [[2, 3]]]",
    );
    accepts(masked_spec(&tensor(&[None])).expect("fits"), "[1, None]");
    let records = StructSpec::of_shape(&shape(&[None]), [("a", tensor(&[None]))]).expect("fits").serialize();
    accepts(masked_spec(&Spec::from(records.clone())).expect("fits"), r#"[{"a": 1}, None]"#);
    accepts(
        ragged_spec(&shape(&[None, None]), Spec::from(records), 1, DType::I64).expect("fits"),
        r#"[[{"a": 1}], []]"#,
    );
    let pairs = ragged_spec(&shape(&[None, Some(2), None]), DType::I64, 2, DType::I64).expect("fits");
    assert_eq!(shape_of(&pairs).to_string(), shape(&[None, Some(2), None]).to_string());
    assert!(!value("[[[1], []], [[], [2]]]").spec().expect("a spec").is_subtype_of(&pairs));
    let even = RaggedTensor::from_uniform_row_length(value("[[1], [], [], [2]]"), 2, None).expect("rows").into_value();
    assert!(even.spec().expect("a spec").is_subtype_of(&pairs));
    fails(ragged_spec(&Shape::unknown(), DType::I64, usize::MAX, DType::I64), &["ragged rank"]);
    fails(ragged_spec(&shape(&[None, None]), DType::I64, 1, DType::U8), &["u8", "i32 or i64"]);
}
