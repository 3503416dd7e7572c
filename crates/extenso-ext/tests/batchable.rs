//! Types that refine `Batchable` move as the records of their components, known or not.

use extenso_core::{Ext, ExtensionType, OpaqueExtension, Tensor, TypeSpec, Value, ops};
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
