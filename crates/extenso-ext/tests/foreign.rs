//! What shipped types do beside a type that they do not know.

use extenso_core::{Answer, Call, Class, ExtensionType, Outputs, Target, Tensor, TypeSpec, Value, on, ops};
use extenso_derive::ExtensionType;
use extenso_ext::{Literal, MaskedTensor, RaggedTensor, constant};
use extenso_types::Result;

/// A type without a component that holds the value itself.
#[derive(ExtensionType, Clone)]
#[extenso(name = "tests/Foreign")]
struct Foreign {
    low: Tensor,
    high: Tensor,
}

fn foreign() -> Value {
    let one = || Tensor::from_vec(vec![1_i64]);
    Foreign { low: one(), high: one() }.into_value()
}

fn answered(_: &Call<'_>) -> Answer {
    Ok(Some(Outputs::from_iter([Value::from(Tensor::scalar(7_i64))])))
}

fn shipped() -> Result<[Value; 2]> {
    let list = |items: &[i64]| Literal::List(items.iter().map(|&i| Literal::Int(i)).collect());
    let ragged = constant(Literal::List(vec![list(&[1, 2]), list(&[])]))?;
    let masked = constant(Literal::List(vec![Literal::Int(1), Literal::None]))?;
    assert!(RaggedTensor::from_value(&ragged).is_ok() && MaskedTensor::from_value(&masked).is_ok());
    Ok([ragged, masked])
}

#[test]
fn shipped_types_leave_types_that_they_do_not_know_to_these() -> Result<()> {
    for value in shipped()? {
        let error = ops::add(&value, foreign()).expect_err("nobody answers").to_string();
        assert!(error.contains("no handler takes") && error.contains("tests/Foreign"), "{error}");
    }
    on(Target::Class(Class::BinaryElementwise), <Foreign as ExtensionType>::Spec::def(), "foreign", answered);
    for value in shipped()? {
        assert_eq!(ops::add(&value, foreign())?.to_string(), "7");
        assert_eq!(ops::add(foreign(), &value)?.to_string(), "7");
    }
    Ok(())
}
