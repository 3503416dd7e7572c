//! Types that refine `Batchable` move as the records of their components, known or not.

use extenso_core::{Ext, ExtensionType, OpaqueExtension, Provenance, Tensor, TypeSpec, Value, ops, rebuild};
use extenso_derive::ExtensionType;
use extenso_ext::{Batchable, BatchableSpec, RaggedTensor, StructTensor, rank, to_literal};
use extenso_types::{ExtSpec, Fingerprint, Result, Segment, Shape, StaticValue, TypeDef};

#[derive(ExtensionType, Clone)]
#[extenso(name = "tests/Span", refines = "Batchable")]
struct Span {
    low: Tensor,
    high: Tensor,
    #[extenso(static)]
    unit: String,
}

fn span(unit: &str) -> Value {
    let high = Tensor::new(&[3, 2], &[1_i64, 2, 3, 4, 5, 6]).expect("a matrix");
    Span { low: Tensor::from_vec(vec![1_i64, 2, 3]), high, unit: unit.into() }.into_value()
}

#[test]
fn a_value_moves_with_its_data_that_are_no_components() -> Result<()> {
    let moved = Span::from_value(&ops::take(span("m"), Tensor::from_vec(vec![2_i64, 0]), 0)?)?;
    assert_eq!((moved.low.to_string(), moved.high.to_string()), ("[3, 1]".into(), "[[5, 6], [1, 2]]".into()));
    assert_eq!((moved.unit.clone(), rank(&moved.into_value())?), ("m".into(), 1));
    assert!(ops::concat(vec![span("m"), span("s")], 0).is_err_and(|error| error.is_dispatch()));
    Ok(())
}

#[test]
fn components_whose_axes_differ_make_no_value() -> Result<()> {
    let spec = span("m").spec()?;
    let column = |n: i64| Value::from(Tensor::from_vec((0..n).collect::<Vec<i64>>()));
    let made = |low, high| rebuild(spec.ext()?, vec![column(low), column(high)], Provenance::Outside);
    assert!(made(4, 4).is_ok());
    let error = made(3, 4).map(|_| ()).expect_err("three and four").to_string();
    let wanted = "tests/Span: component 'high': the outer shape is [4, ...], and that of 'low' [3].\n\
                  Wanted: [3] in front of each component's own axes.";
    assert_eq!(error, wanted);
    // One value, of which a component has an axis of its own.
    let one = rebuild(spec.ext()?, vec![Tensor::scalar(1_i64).into(), column(2)], Provenance::Outside)?;
    assert_eq!(rank(&one)?, 0);
    Ok(())
}

#[test]
fn a_value_of_a_type_that_is_not_known_here_moves_too() -> Result<()> {
    let base = BatchableSpec::def().clone();
    let def = TypeDef::new("tests/Elsewhere".parse()?, 1, Fingerprint::of("elsewhere"), vec![base]);
    let column = Tensor::from_vec(vec![1_i64, 2, 3]);
    let components = vec![(Segment::field("x"), Value::from(column.clone()).spec()?)];
    let spec = ExtSpec { def, static_data: StaticValue::None, components };
    let value = Value::Ext(Ext::new(OpaqueExtension::new(spec, vec![column.into()])));
    let rows = RaggedTensor::from_value(&ops::take(
        StructTensor::from_fields(Shape::known(&[3]), [("inside", value)])?.into_value(),
        RaggedTensor::from_row_lengths(Tensor::from_vec(vec![2_i64, 0]), &Tensor::from_vec(vec![1_i64, 1]))?
            .into_value(),
        0,
    )?)?;
    assert_eq!(to_literal(&rows.into_value())?.to_string(), r#"[[{"inside": {"x": 3}}], [{"inside": {"x": 1}}]]"#);
    Ok(())
}
