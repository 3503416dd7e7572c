//! The laws of types that are one value under a meaning: times, decimals, categories, unions.

use extenso_core::attrs::Axes;
use extenso_core::{Arg, ExtensionType, Tensor, Value, call_one, ops};
use extenso_ext::{
    Bool8Tensor, CategoricalTensor, DECIMAL_PARSE, DECIMAL_SCALED, DateTensor, DecimalForm, DecimalShift,
    DecimalTensor, DurationTensor, FixedBytesTensor, IntervalTensor, JsonTensor, MaskedTensor, RaggedTensor,
    TimeTensor, TimestampTensor, UnionChild, UnionTensor, Unread, cast_unit, date_part, date_trunc, decimal_to_string,
    lists, mean, strftime, to_date, to_decimal, to_duration, to_literal, to_time, to_timestamp,
};
use extenso_graph::{Function, save};
use extenso_testkit::laws::check_type;
use extenso_types::{DType, Nest, Result};

fn check<T: ExtensionType>(values: &[T]) {
    check_type(values).unwrap_or_else(|e| panic!("{e}"));
}

fn longs(values: &[i64]) -> Tensor {
    Tensor::from_vec(values.to_vec())
}

fn bytes(dims: &[usize]) -> Tensor {
    let count: usize = dims.iter().product();
    Tensor::new::<u8>(dims, &(0..=255).cycle().take(count).collect::<Vec<u8>>()).expect("bytes")
}

fn stamps() -> TimestampTensor {
    TimestampTensor::new(longs(&[0, -1, 951_782_400_000]), "ms", Some("UTC")).expect("fits")
}

fn union(offsets: Option<Vec<i32>>) -> UnionTensor {
    let child = |id, name: &str, values: Tensor| UnionChild { id, name: name.into(), values: values.into() };
    let texts = Tensor::strings(&[3], &["a", "b", "c"]).expect("strings");
    let tags = Tensor::new::<i8>(&[3], &[5, 0, 5]).expect("tags");
    let children = vec![child(0, "n", longs(&[1, 2, 3])), child(5, "t", texts)];
    UnionTensor::new(tags, offsets.map(Tensor::from_vec), children).expect("fits")
}

#[test]
fn times_obey_the_laws() {
    check(&[stamps(), TimestampTensor::new(longs(&[]), "ns", None).expect("fits")]);
    check(&[DateTensor::new(Tensor::from_vec(vec![-1_i32, 7]), "d").expect("fits")]);
    check(&[TimeTensor::new(Tensor::from_vec(vec![0_i32, 86_399]), "s").expect("fits")]);
    check(&[DurationTensor::new(longs(&[-5, 5]), "us").expect("fits")]);
    check(&[IntervalTensor::new(bytes(&[2, 16]), "month_day_nano").expect("fits")]);
}

#[test]
fn decimals_categories_and_unions_obey_the_laws() {
    check(&[DecimalTensor::parse(&["1.5", "-2"], 10, 1).expect("fits")]);
    check(&[DecimalTensor::new(bytes(&[2, 32]), 76, -3).expect("fits")]);
    let words = Tensor::strings(&[2], &["a", "b"]).expect("strings");
    let codes = Tensor::new::<i8>(&[3], &[1, 0, 1]).expect("codes");
    check(&[CategoricalTensor::new(codes, words, true).expect("fits")]);
    check(&[union(None), union(Some(vec![2, 0, 0]))]);
    check(&[FixedBytesTensor::new(bytes(&[3, 16]), Some("uuid")).expect("fits")]);
    check(&[Bool8Tensor::new(Tensor::new::<i8>(&[2], &[0, 3]).expect("bytes")).expect("fits")]);
    check(&[JsonTensor::new(Tensor::strings(&[1], &["{}"]).expect("strings")).expect("fits")]);
}

#[test]
fn a_traced_function_does_with_times_what_an_eager_one_does() {
    let body = |x: &Value| -> Result<(Value, Value)> {
        let by = DurationTensor::new(longs(&[1, 2, 3]), "s")?.into_value();
        let later = ops::subtract(ops::add(x, by)?, x)?;
        let year = date_part(x, "year")?;
        Ok((cast_unit(&later, "s")?, ops::add(year, ops::cast(ops::less(x, x)?, DType::I64)?)?))
    };
    let f = Function::new("parts", move |args| {
        let (later, year) = body(args.leaves()[0].1)?;
        Ok(Nest::Tuple(vec![Nest::Leaf(later), Nest::Leaf(year)]))
    });
    let out = f.call(Nest::Leaf(stamps().into_value())).expect("runs");
    let shown: Vec<String> = out.leaves().iter().map(|(_, v)| to_literal(v).expect("a literal").to_string()).collect();
    assert_eq!(shown, [r#"["1s", "2s", "3s"]"#, "[1970, 1969, 2000]"]);
}

#[test]
fn decimals_are_cast_as_their_digits_say() {
    let cast = |texts: &[&str], scale, dtype| {
        let x = DecimalTensor::parse(texts, 30, scale).expect("decimals").into_value();
        ops::cast(x, dtype).expect("numbers").to_string()
    };
    // Neither goes by way of the other's nearest number.
    assert_eq!(
        cast(&["9007199254740993", "-9007199254740993"], 0, DType::I64),
        "[9007199254740993, -9007199254740993]"
    );
    assert_eq!(cast(&["16777217.0000000001"], 10, DType::F32), "[16777218.0]");
    assert_eq!(
        cast(&["18446744073709551615", "1e25", "-1"], 0, DType::U64),
        "[18446744073709551615, 18446744073709551615, 0]"
    );
    assert_eq!(cast(&["1.99", "-1.99", "0.5", "300"], 2, DType::I8), "[1, -1, 0, 127]");
    assert_eq!(cast(&["1200", "-100", "0"], -2, DType::I32), "[1200, -100, 0]");
    assert_eq!(cast(&["0.01", "0"], 2, DType::Bool), "[True, False]");
    assert_eq!(cast(&["0.5", "2.5"], 1, DType::F16), "[0.5, 2.5]");
    let x = DecimalTensor::parse(&["1"], 3, 0).expect("decimals").into_value();
    let error = ops::cast(x, DType::String).expect_err("no number").to_string();
    assert!(error.contains("decimals are cast to string") && error.contains("decimal_to_string"), "{error}");
}

#[test]
fn a_traced_function_does_with_decimals_what_an_eager_one_does() {
    extenso_formats::init().expect("known");
    let body = |x: &Value| -> Result<Vec<Value>> {
        let sum = ops::subtract(ops::add(x, x)?, ops::take(x, longs(&[1, 0]), 0_i64)?)?;
        let floats = ops::cast(&sum, DType::F64)?;
        let over = ops::greater(&sum, x)?;
        Ok(vec![decimal_to_string(&sum)?, floats, over, sum])
    };
    for (precision, scale) in [(10, 2), (60, 30)] {
        let x = DecimalTensor::parse(&["1.10", "-0.05"], precision, scale).expect("fits").into_value();
        let eager: Vec<String> =
            body(&x).expect("runs").iter().map(|v| to_literal(v).expect("shown").to_string()).collect();
        assert_eq!(eager[1..3], ["[2.25, -1.2]", "[True, False]"]);
        let f = Function::new("sums", move |args| {
            Ok(Nest::Tuple(body(args.leaves()[0].1)?.into_iter().map(Nest::Leaf).collect()))
        });
        let bytes =
            save::to_bytes(&[f.concrete(&Nest::Leaf(x.spec().expect("a spec"))).expect("traced")]).expect("saved");
        let loaded = save::from_bytes(bytes).expect("loaded");
        let results = loaded.function("sums").expect("there").call(&Nest::Leaf(x)).expect("ran");
        let traced: Vec<String> =
            results.leaves().iter().map(|(_, v)| to_literal(v).expect("shown").to_string()).collect();
        assert_eq!(traced, eager);
    }
    let twice = Function::new("twice", |args| Ok(Nest::Leaf(ops::add(args.leaves()[0].1, args.leaves()[0].1)?)));
    let most = format!("{}.9", "9".repeat(37));
    let most = DecimalTensor::parse(&["0.1", &most], 38, 1).expect("fits").into_value();
    let error = twice.call(Nest::Leaf(most)).expect_err("too many digits").to_string();
    assert!(error.contains("element 1 has more digits than 38"), "{error}");
}

#[test]
fn what_is_a_value_under_a_meaning_stands_in_rows_and_under_masks() {
    let decimals = DecimalTensor::parse(&["1.5", "-2.0", "0.5"], 10, 1).expect("fits").into_value();
    for values in [decimals, stamps().into_value(), union(None).into_value(), union(Some(vec![2, 0, 0])).into_value()] {
        let rows = RaggedTensor::from_row_lengths(values.clone(), &longs(&[2, 0, 1])).expect("rows").into_value();
        let taken = ops::take(&rows, longs(&[2, 0]), 0_i64).expect("taken");
        let items = to_literal(&values).expect("a literal").to_string();
        let mask = Tensor::bools(&[3], &[true, false, true]).expect("a mask");
        let masked = MaskedTensor::new(values.clone(), mask).expect("fits").into_value();
        let both =
            ops::concat(vec![values.clone(), ops::slice(&values, 0_i64, 1_i64, None, 1_i64).expect("sliced")], 0_i64);
        assert_eq!(to_literal(&taken).expect("a literal").to_string().matches('[').count(), 3);
        assert_eq!(to_literal(&masked).expect("a literal").to_string().matches("None").count(), 1);
        assert!(
            to_literal(&both.expect("joined")).expect("a literal").to_string().starts_with(&items[..items.len() - 1])
        );
    }
}

/// The results of a function on a value as text: called, traced, and saved and loaded.
fn every_way(x: &Value, body: fn(&Value) -> Result<Vec<Value>>) -> [Vec<String>; 3] {
    extenso_formats::init().expect("known");
    let show = |v: &Value| to_literal(v).expect("shown").to_string();
    let shown = |out: Nest<Value>| out.leaves().iter().map(|(_, v)| show(v)).collect();
    let f = Function::new("f", move |args| {
        Ok(Nest::Tuple(body(args.leaves()[0].1)?.into_iter().map(Nest::Leaf).collect()))
    });
    let concrete = f.concrete(&Nest::Leaf(x.spec().expect("a spec"))).expect("traced");
    let loaded = save::from_bytes(save::to_bytes(&[concrete]).expect("saved")).expect("loaded");
    [
        body(x).expect("runs").iter().map(show).collect(),
        shown(f.call(Nest::Leaf(x.clone())).expect("runs")),
        shown(loaded.function("f").expect("there").call(&Nest::Leaf(x.clone())).expect("runs")),
    ]
}

#[test]
fn orders_and_positions_are_the_same_eager_traced_and_loaded() {
    let body = |x: &Value| -> Result<Vec<Value>> {
        let last = ops::take(ops::sort(x, 1, true)?, longs(&[2, 0]), 0)?;
        Ok(vec![
            ops::sort(x, 1, false)?,
            ops::argsort(x, 1, true)?,
            ops::max(x, 1, false)?,
            ops::argmin(x, 1, false)?,
            ops::cumulative_min(x, 1, false)?,
            lists::last(x, 1, None)?,
            lists::last(x, 1, Some(ops::max(x, Axes::All, false)?.into()))?,
            lists::pad_to(x, 2, None, 1, false)?,
            lists::unique(x, 1)?,
            lists::roll(x, 1, &Axes::List(vec![1]))?,
            ops::stack(vec![x.clone(), x.clone()], 1)?,
            ops::equal(x, x)?,
            last,
        ])
    };
    let decimals = DecimalTensor::parse(&["1.5", "-2.0", "0.5", "-2.0"], 10, 1).expect("fits").into_value();
    let times = TimestampTensor::new(longs(&[5, -7, 0, -7]), "us", None).expect("fits").into_value();
    let words = Tensor::strings(&[3], &["b", "a", "c"]).expect("words");
    let codes = Tensor::new::<i8>(&[4], &[2, 0, 1, 0]).expect("codes");
    let uuids = FixedBytesTensor::new(bytes(&[4, 16]), Some("uuid")).expect("fits").into_value();
    let ordered = CategoricalTensor::new(codes, words, true).expect("fits").into_value();
    for values in [decimals, times, uuids, ordered] {
        let mask = Tensor::bools(&[4], &[true, true, false, true]).expect("a mask");
        let masked = MaskedTensor::new(values.clone(), mask).expect("fits").into_value();
        for values in [values, masked] {
            let rows = RaggedTensor::from_row_lengths(values, &longs(&[3, 0, 1])).expect("rows").into_value();
            let [eager, traced, loaded] = every_way(&rows, body);
            assert_eq!(eager, traced);
            assert_eq!(eager, loaded);
        }
    }
}

#[test]
fn what_is_computed_of_decimals_is_the_same_eager_traced_and_loaded() {
    let body = |x: &Value| -> Result<Vec<Value>> {
        Ok(vec![
            ops::multiply(x, x)?,
            ops::divide(x, 7)?,
            ops::subtract(0.125, x)?,
            ops::abs(x)?,
            ops::where_(ops::less(x, 0)?, 0, x)?,
            ops::as_string(x)?,
            ops::maximum(x, 1)?,
            to_decimal(x, 30, 0, Unread::Raise)?,
            mean(x, 1, false)?,
            ops::floor_divide(x, -2)?,
            ops::remainder(x, 0.3)?,
            ops::sign(x)?,
        ])
    };
    for (precision, scale) in [(10, 2), (60, 20)] {
        let x = DecimalTensor::parse(&["1.10", "-0.05", "2.5"], precision, scale).expect("fits").into_value();
        let rows = RaggedTensor::from_row_lengths(x, &longs(&[2, 0, 1])).expect("rows").into_value();
        let [eager, traced, loaded] = every_way(&rows, body);
        assert_eq!(eager, traced);
        assert_eq!(eager, loaded);
        assert_eq!(eager[7], r#"[["1", "0"], [], ["2"]]"#);
    }
}

#[test]
fn times_are_made_of_texts_and_of_each_other_the_same_eager_traced_and_loaded() {
    const FORMAT: &str = "%I.%M.%S.%f %p, %d-%b-%y %z";
    let body = |x: &Value| -> Result<Vec<Value>> {
        let moments = to_timestamp(x, "ms", Some("+05:30"), None, Unread::Raise)?;
        let dates = to_date(&moments, None, Unread::Raise)?;
        Ok(vec![
            ops::as_string(&moments)?,
            ops::as_string(&dates)?,
            ops::as_string(to_time(&moments, "s", None, Unread::Raise)?)?,
            to_timestamp(&dates, "s", Some("+05:30"), None, Unread::Raise)?,
            to_timestamp(&moments, "us", Some("UTC"), None, Unread::Raise)?,
            to_date(&ops::as_string(&dates)?, None, Unread::Raise)?,
            to_time(&ops::as_string(to_time(&moments, "us", None, Unread::Raise)?)?, "us", None, Unread::Raise)?,
            to_duration(
                &ops::as_string(to_duration(&ops::cast(&moments, DType::I64)?, "ms", Unread::Raise)?)?,
                "ns",
                Unread::Raise,
            )?,
            to_timestamp(&strftime(&moments, FORMAT)?, "us", Some("UTC"), Some(FORMAT), Unread::Raise)?,
            to_date(&strftime(&dates, "%j of %Y")?, Some("%j of %Y"), Unread::Raise)?,
            date_trunc(&moments, "quarter")?,
            date_trunc(&to_timestamp(&moments, "s", Some("Europe/Berlin"), None, Unread::Raise)?, "week")?,
            date_part(&to_timestamp(&dates, "s", Some("America/New_York"), None, Unread::Raise)?, "day")?,
            date_trunc(&to_date(x, Some("%F"), Unread::Missing)?, "week")?,
        ])
    };
    let texts = ["1970-01-01T00:00:00+05:30", "", "2000-02-28T23:30:00.5Z", "1969-12-31T18:29:59.999Z"];
    let mask = Tensor::bools(&[4], &[true, false, true, true]).expect("a mask");
    let texts = MaskedTensor::new(Tensor::strings(&[4], &texts).expect("texts"), mask).expect("fits").into_value();
    let rows = RaggedTensor::from_row_lengths(texts, &longs(&[2, 0, 2])).expect("rows").into_value();
    let [eager, traced, loaded] = every_way(&rows, body);
    assert_eq!(eager, traced);
    assert_eq!(eager, loaded);
    assert_eq!(
        [&eager[0], &eager[1], &eager[2], &eager[3]],
        [
            r#"[["1970-01-01T00:00:00+05:30", None], [], ["2000-02-29T05:00:00.500+05:30", "1969-12-31T23:59:59.999+05:30"]]"#,
            r#"[["1970-01-01", None], [], ["2000-02-29", "1969-12-31"]]"#,
            r#"[["00:00:00", None], [], ["05:00:00", "23:59:59"]]"#,
            r#"[["1970-01-01T00:00:00+05:30", None], [], ["2000-02-29T00:00:00+05:30", "1969-12-31T00:00:00+05:30"]]"#,
        ]
    );
    let of = |x: &Value| to_timestamp(x, "s", None, None, Unread::Raise).expect_err("a zone").to_string();
    assert!(of(&stamps().into_value()).contains("zone UTC"));
    let unknown = to_timestamp(&dates(), "s", Some("Europe/Atlantis"), None, Unread::Raise);
    let unknown = unknown.expect_err("no zone").to_string();
    assert!(unknown.contains("Europe/Atlantis"), "{unknown}");
}

fn dates() -> Value {
    DateTensor::new(Tensor::from_vec(vec![0_i32]), "d").expect("fits").into_value()
}

#[test]
fn the_order_of_ordered_categories_is_that_of_their_vocabulary() {
    let words = Tensor::strings(&[3], &["low", "mid", "high"]).expect("words");
    let codes = Tensor::new::<i8>(&[4], &[2, 0, 1, 0]).expect("codes");
    let of = |ordered| CategoricalTensor::new(codes.clone(), words.clone(), ordered).expect("fits").into_value();
    let sorted = |x: Value| to_literal(&ops::sort(x, 0, false).expect("sorted")).expect("shown").to_string();
    assert_eq!(sorted(of(true)), r#"["low", "low", "mid", "high"]"#);
    assert_eq!(sorted(of(false)), r#"["high", "low", "low", "mid"]"#);
    assert_eq!(to_literal(&ops::max(of(true), 0, false).expect("one")).expect("shown").to_string(), r#""high""#);
}

#[test]
fn the_bytes_of_decimals_are_checked() {
    let cells = Tensor::new::<u8>(&[1, 16], &[0; 16]).expect("cells");
    let texts = Tensor::strings(&[1], &["1"]).expect("texts");
    for (precision, bits) in [(0, 128), (39, 128), (77, 256), (5, 64)] {
        let form = DecimalForm { precision, scale: 0, bits };
        assert!(call_one(&DECIMAL_PARSE, &[Arg::from(&texts)], &form).is_err(), "{precision}, {bits}");
        let shift = DecimalShift { by: 0, precision, bits };
        assert!(call_one(&DECIMAL_SCALED, &[Arg::from(&cells)], &shift).is_err(), "{precision}, {bits}");
    }
    let far = DecimalShift { by: i64::MIN, precision: 5, bits: 128 };
    assert!(call_one(&DECIMAL_SCALED, &[Arg::from(&cells)], &far).is_err());
}
