//! The thin line: records in, the leaves that are needed, a function with types of its own, records out.

use extenso_core::{Component, ExtensionType, Tensor, Value, attrs::Axes, ops};
use extenso_derive::ExtensionType;
use extenso_ext::{MaskedTensor, RaggedTensor, StructTensor};
use extenso_formats::{
    FieldSpec as F, OnError, RecordSpec, Rows, decode_ndjson, encode_ndjson, run_ndjson, run_records, struct_spec,
};
use extenso_graph::save::{from_bytes, to_bytes};
use extenso_graph::{Concrete, trace};
use extenso_types::{DType, Nest, Result, Spec};
use std::sync::Arc;

/// A price with its currency.
#[derive(Clone, ExtensionType)]
#[extenso(name = "shop/Money")]
struct Money {
    units: Tensor,
    #[extenso(static)]
    currency: String,
}

fn twelve_leaves() -> Spec {
    let text = || F::Scalar(DType::String, vec![]);
    let item = F::Record(vec![
        ("sku", text()),
        ("price", F::Scalar(DType::F32, vec![])),
        ("weight", F::Scalar(DType::F64, vec![])),
    ]);
    struct_spec([
        ("id", F::Scalar(DType::I64, vec![])),
        ("embedding", F::Scalar(DType::F32, vec![4])),
        ("discount", F::Optional(Box::new(F::Scalar(DType::F32, vec![])))),
        ("items", F::List(Box::new(item))),
        ("tags", F::List(Box::new(text()))),
        ("note", text()),
    ])
    .expect("a spec")
}

const ROWS: &str = r#"{"id": 1, "embedding": [1, 2, 3, 4], "discount": 0.5, "items": [{"sku": "a", "price": 2, "weight": 1}, {"sku": "b", "price": 3.5, "weight": 2}], "tags": ["x"], "note": "n"}
{"id": 9007199254740993, "embedding": [0, 0, 0, 0], "discount": null, "items": [], "tags": [], "note": "größe"}
{"id": 3, "embedding": [0, 1, 0, 0], "items": [{"sku": "c", "price": 8, "weight": 0.1}], "tags": ["y", "z"], "note": ""}
"#;

/// Each order's total after discount.
fn total(args: Nest<Value>) -> Result<Nest<Value>> {
    let rows = StructTensor::from_value(args.leaves()[0].1)?;
    let prices = rows.field_value(&"items[*].price".parse()?)?;
    let sums = ops::sum(&prices, Axes::List(vec![1]), false)?;
    let discount = MaskedTensor::from_value(rows.field("discount")?)?;
    let off = ops::where_(discount.mask(), discount.values(), 0)?;
    let units = ops::multiply(sums, ops::subtract(1, off)?)?;
    let money = Money { units: Tensor::of_value(&units)?, currency: "EUR".into() };
    Ok(Nest::dict([
        ("total", Nest::Leaf(money.into_value())),
        ("n", Nest::Leaf(ops::row_lengths(RaggedTensor::from_value(&prices)?.partition())?)),
    ]))
}

fn concrete() -> Arc<Concrete> {
    let spec = Nest::Tuple(vec![Nest::Leaf(twelve_leaves())]);
    let traced = trace("total", &spec, total).expect("traces");
    Arc::new(Concrete::new("total", spec, traced.output, traced.graph).expect("compiles"))
}

const TOTALS: &str =
    "{\"n\":2,\"total\":{\"units\":2.75}}\n{\"n\":0,\"total\":{\"units\":0.0}}\n{\"n\":1,\"total\":{\"units\":8.0}}\n";

#[test]
fn only_needed_leaves_are_decoded() {
    let f = concrete();
    let records = RecordSpec::new(f.input_spec(), &f.graph().needed_inputs()).expect("a record");
    let paths: Vec<String> = records.needed_paths().iter().map(|p| p.to_string()).collect();
    assert_eq!(paths, ["[0].discount", "[0].discount@mask", "[0].items[*].price", "[0].items@row_splits"]);
    // What is not needed may be of any type.
    let odd = ROWS.replace("\"note\": \"n\"", "\"note\": [{}, 1]").replace("\"sku\": \"a\"", "\"sku\": 7");
    for rows in [ROWS.to_string(), odd] {
        let Rows { value: out, bad, .. } = run_ndjson(&f, rows.as_bytes(), OnError::Raise).expect("runs");
        assert_eq!((String::from_utf8(out).expect("text"), bad.count()), (TOTALS.into(), 0));
        let ran = run_records(&f, rows.as_bytes(), OnError::Raise).expect("runs");
        let visited: Vec<(String, usize)> = ran.visited.iter().map(|(path, n)| (format!("[0].{path}"), *n)).collect();
        assert_eq!(visited, paths.iter().cloned().zip([3; 4]).collect::<Vec<_>>());
    }
}

#[test]
fn rows_that_a_function_left_out_are_reported() {
    let bad = ROWS.replace("\"price\": 8", "\"price\": \"8\"");
    let lines: Vec<&str> = TOTALS.lines().collect();
    let zeros = "{\"n\":0,\"total\":{\"units\":0.0}}";
    for (policy, last) in [(OnError::Skip, ""), (OnError::Default, zeros)] {
        let Rows { value: out, bad: report, .. } = run_ndjson(&concrete(), bad.as_bytes(), policy).expect("runs");
        assert_eq!(String::from_utf8(out).expect("text").trim_end(), [lines[0], lines[1], last].join("\n").trim_end());
        assert_eq!((report.rows.as_slice(), report.first[0].path.to_string()), (&[2][..], "items[0].price".into()));
    }
    // An array of the records is the same batch.
    let array = format!("[{}]", ROWS.trim_end().replace('\n', ","));
    let out = run_ndjson(&concrete(), array.as_bytes(), OnError::Raise).expect("runs").value;
    assert_eq!(String::from_utf8(out).expect("text"), TOTALS);
}

#[test]
fn a_loaded_function_runs_on_records_without_its_types() {
    let bytes = to_bytes(&[concrete()]).expect("saves");
    let module = from_bytes(bytes).expect("loads");
    let f = module.function("total").expect("there");
    assert_eq!(f.output_spec().to_string(), "{n: i64[?], total: Money(units: f32[?], currency=\"EUR\")}");
    let out = run_ndjson(f, ROWS.as_bytes(), OnError::Raise).expect("runs").value;
    assert_eq!(String::from_utf8(out).expect("text"), TOTALS);
}

#[test]
fn records_come_back_as_they_were() {
    let rows = decode_ndjson(ROWS.as_bytes(), &twelve_leaves(), OnError::Raise).expect("decodes");
    let text = encode_ndjson(&Nest::Leaf(rows.value.clone())).expect("encodes");
    let again = decode_ndjson(&text, &twelve_leaves(), OnError::Raise).expect("decodes");
    assert_eq!(text, encode_ndjson(&Nest::Leaf(again.value)).expect("encodes"));
    assert!(String::from_utf8(text).expect("text").contains("9007199254740993"));
}

#[test]
fn a_bad_row_is_named_by_row_and_path() {
    let bad = ROWS.replace("\"price\": 8", "\"price\": \"8\"");
    let error = run_ndjson(&concrete(), bad.as_bytes(), OnError::Raise).expect_err("a string").to_string();
    assert!(error.contains("row 2") && error.contains("items[0].price"), "{error}");
}

/// A nest is read as it is written, from one key down to records in records.
#[test]
fn a_row_is_an_item_of_the_argument_whatever_nest_it_is() {
    let number = || Nest::Leaf(F::Scalar(DType::F64, vec![]).spec(extenso_types::Dim::any()).expect("a spec"));
    let record = || Nest::Leaf(struct_spec([("x", F::Scalar(DType::F64, vec![]))]).expect("a spec"));
    let cases = [
        (Nest::dict([("a", record())]), r#"{"a": {"x": 1.5}}"#, r#"{"a":{"x":1.5}}"#),
        (Nest::dict([("a", record()), ("b", number())]), r#"{"b": 2, "a": {"x": 1}}"#, r#"{"a":{"x":1.0},"b":2.0}"#),
        (
            Nest::dict([("c", Nest::dict([("d", record())])), ("e", Nest::Tuple(vec![number(), number()]))]),
            r#"{"c": {"d": {"x": 0.25}}, "e": {"0": 3, "1": 4}}"#,
            r#"{"c":{"d":{"x":0.25}},"e":{"0":3.0,"1":4.0}}"#,
        ),
    ];
    for (argument, rows, wanted) in cases {
        for input in [Nest::Tuple(vec![argument.clone()]), argument.clone()] {
            let only = |args: Nest<Value>| match args {
                Nest::Tuple(mut args) => Ok(args.remove(0)),
                other => Ok(other),
            };
            let traced = trace("same", &input, only).expect("traces");
            let f = Arc::new(Concrete::new("same", input, traced.output, traced.graph).expect("compiles"));
            let out = run_ndjson(&f, rows.as_bytes(), OnError::Raise).expect("runs").value;
            assert_eq!(String::from_utf8(out).expect("text").trim_end(), wanted);
        }
    }
}

/// Several arguments are fields of a row by name, and rows that were left out are told of.
#[test]
fn arguments_are_fields_and_bad_rows_are_told() {
    let column = || Nest::Leaf(F::Scalar(DType::I64, vec![]).spec(extenso_types::Dim::any()).expect("a spec"));
    let arguments = [
        ("x".into(), column()),
        ("y".into(), column()),
        ("n".into(), Nest::Static(extenso_types::StaticValue::Int(3))),
    ];
    let input = Nest::Record(extenso_graph::ARGUMENTS.into(), arguments.into());
    let add = |args: Nest<Value>| {
        let [x, y] = [0, 1].map(|i| args.leaves()[i].1.clone());
        ops::add(&x, &y).map(Nest::Leaf)
    };
    let traced = trace("add", &input, add).expect("traces");
    let f = Arc::new(Concrete::new("add", input, traced.output, traced.graph).expect("compiles"));
    let rows = b"{\"x\": 1, \"y\": 2}\n{\"x\": 1}\n{\"y\": 5, \"x\": 4}\n";
    let out = run_ndjson(&f, rows, OnError::Skip).expect("runs");
    assert_eq!(out.value, b"3\n9\n");
    assert_eq!(out.bad.rows, [1]);
}

/// An amount that is not negative.
#[derive(Clone, ExtensionType)]
#[extenso(name = "shop/Amount", validate_data = is_not_negative)]
struct Amount {
    units: Tensor,
    note: Tensor,
}

fn is_not_negative(amount: &Amount) -> Result<()> {
    match amount.units.as_slice::<i64>()?.iter().find(|units| **units < 0) {
        Some(units) => Err(extenso_types::Error::value(format!("an amount is {units}")).wanted("0 or more")),
        None => Ok(()),
    }
}

/// A value that a function takes apart is looked at by its type as one that a reader makes, wherever it stands, and whole.
#[test]
fn a_users_type_looks_at_the_data_of_a_run() {
    use extenso_core::TypeSpec;
    use extenso_formats::source::{Format, SinkOptions, SourceOptions, open_bytes, open_sink, run_blocks, run_bytes};
    let amount = |rows| {
        let [units, note] =
            [DType::I64, DType::String].map(|dtype| F::Scalar(dtype, vec![]).spec(rows).expect("a spec"));
        Spec::from(AmountSpec { units, note }.serialize())
    };
    let function = |spec: Spec, both: bool| {
        let part = move |args: Nest<Value>| {
            let rows = StructTensor::from_value(args.leaves()[0].1)?;
            let amount = Amount::from_value(&match RaggedTensor::from_value(rows.field("paid")?) {
                Ok(list) => list.values().clone(),
                Err(_) => rows.field("paid")?.clone(),
            })?;
            let note = if both { ops::string_length(&amount.note, "byte")? } else { ops::add(&amount.units, 0)? };
            ops::add(ops::sum(&amount.units, Axes::All, false)?, ops::sum(note, Axes::All, false)?).map(Nest::Leaf)
        };
        let traced = trace("part", &Nest::Leaf(spec.clone()), part).expect("traces");
        Arc::new(Concrete::new("part", Nest::Leaf(spec), traced.output, traced.graph).expect("compiles"))
    };
    let rows = extenso_types::Dim::any();
    let fields = extenso_ext::StructSpec::new(1, [("paid", amount(rows))]).expect("fields").serialize();
    let plain = Spec::from(fields);
    let line = |units: i64| format!("{{\"paid\": {{\"units\": {units}, \"note\": \"ab\"}}}}\n");
    let table = |units: i64| format!("paid.units,paid.note\n1,a\n{units},ab\n");
    let told = |error: extenso_types::Error, wanted: &str| {
        let error = error.to_string();
        assert!(error.starts_with(wanted) && error.contains("shop/Amount: an amount is -3"), "{error}");
    };
    for (format, good, bad) in
        [(Format::Json, line(1) + &line(3), line(1) + &line(-3)), (Format::Csv, table(3), table(-3))]
    {
        let options = SourceOptions { format: Some(format), ..SourceOptions::default() };
        for both in [true, false] {
            let f = function(plain.clone(), both);
            assert!(run_bytes(&f, good.as_bytes(), &options).is_ok());
            let whole = run_bytes(&f, bad.as_bytes(), &options);
            let mut out = Vec::new();
            let mut in_blocks = || {
                let source = open_bytes(&f, bad.clone().into_bytes(), &options)?;
                let sink = open_sink(&SinkOptions::default(), Box::new(&mut out))?;
                run_blocks(&f, source, sink, &mut |_, _| Ok(()))
            };
            told(whole.expect_err("a negative amount"), "row 1: 'paid'");
            told(in_blocks().expect_err("a negative amount"), "row 1: 'paid'");
        }
    }
    // In lists, too.
    let items = extenso_types::Dim::any();
    let partition = extenso_types::PartitionSpec::new(rows, items, DType::I64);
    let list = Spec::from(extenso_types::ExtSpec {
        def: extenso_ext::RaggedTensorSpec::def().clone(),
        static_data: extenso_types::StaticValue::None,
        components: vec![
            (extenso_types::Segment::Each, amount(items)),
            (extenso_types::Segment::component("row_splits"), Spec::Partition(partition)),
        ],
    });
    let fields = extenso_ext::StructSpec::new(1, [("paid", list)]).expect("fields").serialize();
    let f = function(Spec::from(fields), true);
    let bad = "{\"paid\": []}\n{\"paid\": [{\"units\": -3, \"note\": \"\"}]}\n";
    told(run_records(&f, bad.as_bytes(), OnError::Raise).expect_err("a negative amount"), "row 1: 'paid[*]'");
}

/// What is found by looking is the spec of what is read, where rows of a user's type are missing in some blocks.
#[cfg(all(feature = "parquet", feature = "avro"))]
#[test]
fn missing_rows_of_a_users_type_are_found_by_looking() {
    use extenso_formats::arrow::{ArrowOptions, read_ipc, write_ipc};
    use extenso_formats::source::{Asked, SourceOptions, spec_of_reader};
    use extenso_formats::{encode_avro, encode_parquet, read_avro, read_parquet};
    let rows = |units: Vec<i64>| {
        let n = units.len();
        let mask = Tensor::of_value(&ops::greater(Tensor::from_vec(units.clone()), 0).expect("a mask")).expect("bits");
        let note = Tensor::strings(&[n], &vec!["a"; n]).expect("texts");
        let amount = Amount { units: Tensor::from_vec(units), note }.into_value();
        let paid = MaskedTensor::new(amount.clone(), mask).expect("a mask").into_value();
        StructTensor::from_fields(extenso_types::Shape::known(&[n]), [("paid", paid), ("all", amount)])
            .expect("records")
            .into_value()
    };
    let value = rows((0..5000).map(|i| i64::from(i != 4999)).collect());
    let found = |bytes: &[u8]| {
        let options = SourceOptions { block: 1 << 10, ..SourceOptions::default() };
        spec_of_reader(Box::new(std::io::Cursor::new(bytes.to_vec())), &options, &Asked::default()).expect("a spec")
    };
    let same = |bytes: &[u8], read: Value| {
        let spec = read.spec().expect("a spec");
        assert!(found(bytes).accepts(&spec, &mut extenso_types::Bindings::default()), "{} {spec}", found(bytes));
        assert!(spec.to_string().contains("paid: MaskedTensor(Amount"), "{spec}");
        assert!(found(bytes).to_string().contains("all: Amount"), "{}", found(bytes));
    };
    let file = write_ipc(&value, true).expect("written");
    same(&file, read_ipc(file.clone().into(), &ArrowOptions::default()).expect("read").value);
    let file = encode_avro(&Nest::Leaf(value.clone()), Default::default()).expect("written");
    same(&file, read_avro(&file[..], &Default::default()).expect("read").value);
    let file = encode_parquet(&Nest::Leaf(value)).expect("written");
    same(&file, read_parquet(&file.clone().into(), &Default::default()).expect("read").value);
}
