//! The laws of extension types, on those that are shipped, on derived ones, and on one written by hand.

use extenso_core::{ExtensionType, RowPartition, Tensor, TypeSpec, Value, define, ops};
use extenso_derive::ExtensionType;
use extenso_ext::{Literal, MaskedTensor, RaggedTensor, StructTensor, constant};
use extenso_testkit::laws::check_type;
use extenso_types::{DType, Error, ExtSpec, Result, Segment, Shape, Spec, StaticValue, TypeDef};
use std::sync::{Arc, LazyLock};

fn check<T: ExtensionType>(values: &[T]) {
    check_type(values).unwrap_or_else(|e| panic!("{e}"));
}

fn floats(n: usize) -> Tensor {
    Tensor::from_vec((0..n).map(|i| i as f64 - 1.5).collect::<Vec<_>>())
}

fn masked() -> MaskedTensor {
    MaskedTensor::new(floats(3), Tensor::bools(&[3], &[true, false, true]).expect("bits")).expect("fits")
}

fn ragged(values: impl Into<Value>) -> RaggedTensor {
    let partition = RowPartition::from_lengths([2, 0, 1]).expect("proven");
    RaggedTensor::from_partition(values, partition).expect("fits")
}

#[test]
fn masked_tensors_obey_the_laws() {
    let matrix = Tensor::strings(&[2, 2], &["a", "", "ß", "d"]).expect("strings");
    let scalar = MaskedTensor::new(Tensor::scalar(1_i8), Tensor::bools(&[], &[false]).expect("a bit")).expect("fits");
    let rows = MaskedTensor::new(matrix, Tensor::bools(&[2], &[true, false]).expect("bits")).expect("fits");
    check(&[masked(), scalar, rows]);
}

#[test]
fn ragged_tensors_obey_the_laws() {
    let nested =
        RaggedTensor::from_partition(ragged(floats(3)).into_value(), RowPartition::from_lengths([3]).expect("proven"));
    let empty = RaggedTensor::from_partition(floats(0), RowPartition::from_lengths([]).expect("proven"));
    let sliced = extenso_core::Offsets::I32(vec![1, 1, 3].into());
    let sliced = RaggedTensor::from_partition(floats(4), RowPartition::from_offsets(sliced, 4).expect("proven"));
    let parts = [nested, empty, sliced].map(|x| x.expect("fits"));
    check(&[&[ragged(floats(3)), ragged(masked().into_value())][..], &parts].concat());
}

#[test]
fn struct_tensors_obey_the_laws() {
    let record = constant(Literal::record([("a", Literal::Int(1)), ("größe, \"x\"", Literal::Str("y".into()))]));
    let record = StructTensor::from_value(&record.expect("a record")).expect("a record");
    let nested = StructTensor::from_fields(
        Shape::known(&[3]),
        [("m", masked().into_value()), ("r", ragged(floats(3)).into_value()), ("s", floats(3).into())],
    );
    let bare = StructTensor::from_fields(Shape::known(&[2, 5]), std::iter::empty::<(&str, Value)>());
    check(&[record, nested.expect("fits"), bare.expect("fits")]);
}

/// A price in a currency.
#[derive(Clone, ExtensionType)]
#[extenso(name = "test/Price", version = 2, validate = is_float, validate_data = is_not_negative)]
struct Price {
    #[extenso(itself)]
    amount: Value,
    #[extenso(component)]
    rows: RowPartition,
    #[extenso(static)]
    currency: String,
    #[extenso(static)]
    digits: Option<i64>,
}

fn is_float(price: &Price) -> Result<()> {
    match price.amount.tensor()?.dtype() {
        DType::F64 => Ok(()),
        other => Err(Error::dtype(format!("prices are {other}")).wanted("f64")),
    }
}

fn is_not_negative(price: &Price) -> Result<()> {
    let least = ops::min(&price.amount, extenso_core::attrs::Axes::All, false)?;
    match least.tensor()?.as_slice::<f64>()? {
        [least] if *least < 0.0 => Err(Error::value("a price is negative")),
        _ => Ok(()),
    }
}

#[test]
fn a_derived_type_obeys_the_laws() {
    let price = |digits| Price {
        amount: Tensor::from_vec(vec![1.5, 2.5]).into(),
        rows: RowPartition::from_lengths([1, 1]).expect("proven"),
        currency: "EUR".into(),
        digits,
    };
    check(&[price(None), price(Some(2))]);
}

/// A polynomial: as many coefficients as it has, highest first; its spec is written by hand.
#[derive(Clone)]
struct Polynomial {
    coefficients: Vec<Tensor>,
}

#[derive(Clone)]
struct PolynomialSpec {
    coefficients: Vec<Spec>,
}

impl ExtensionType for Polynomial {
    type Spec = PolynomialSpec;

    fn type_spec(&self) -> PolynomialSpec {
        PolynomialSpec { coefficients: self.coefficients.iter().map(|t| Spec::Tensor(t.spec())).collect() }
    }
}

impl TypeSpec for PolynomialSpec {
    type Value = Polynomial;

    fn def() -> &'static Arc<TypeDef> {
        static DEF: LazyLock<Arc<TypeDef>> =
            LazyLock::new(|| define::<PolynomialSpec>("test/Polynomial", 1, "coefficients", Vec::new()));
        &DEF
    }

    fn serialize(&self) -> ExtSpec {
        let components = self.coefficients.iter().enumerate().map(|(i, spec)| (Segment::Index(i), spec.clone()));
        let degree = i64::try_from(self.coefficients.len()).unwrap_or(i64::MAX);
        ExtSpec {
            def: PolynomialSpec::def().clone(),
            static_data: StaticValue::map([("terms", StaticValue::Int(degree))]),
            components: components.collect(),
        }
    }

    fn deserialize(spec: &ExtSpec) -> Result<PolynomialSpec> {
        Ok(PolynomialSpec { coefficients: spec.components.iter().map(|(_, spec)| spec.clone()).collect() })
    }

    fn to_components(&self, value: &Polynomial) -> Result<Vec<Value>> {
        Ok(value.coefficients.iter().cloned().map(Value::from).collect())
    }

    fn from_components(&self, components: Vec<Value>) -> Result<Polynomial> {
        let coefficients: Result<Vec<Tensor>> = components.iter().map(|c| c.tensor().cloned()).collect();
        Ok(Polynomial { coefficients: coefficients? })
    }
}

#[test]
fn a_type_with_a_spec_written_by_hand_obeys_the_laws() {
    let of = |n: usize| Polynomial { coefficients: (0..n).map(|i| floats(i + 1)).collect() };
    check(&[of(0), of(1), of(3)]);
}
