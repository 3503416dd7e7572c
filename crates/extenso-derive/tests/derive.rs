//! What the derive writes behaves as a hand-written type does.

use extenso_core::{
    Arg, ExtensionType, Outputs, Provenance, Target, Tensor, TypeSpec, Value, call_one, on, ops, pack, rebuild,
};
use extenso_derive::ExtensionType;
use extenso_types::{DType, Error, Path, Result, Spec, TypeDef};
use std::sync::Arc;

/// A quantity with a unit.
#[derive(Clone, ExtensionType)]
#[extenso(name = "test/Length", version = 3, validate = is_float, validate_data = is_not_negative, handlers = handlers)]
pub struct Length {
    #[extenso(itself)]
    value: Tensor,
    #[extenso(static)]
    unit: String,
}

fn is_float(length: &Length) -> Result<()> {
    match length.value.dtype() {
        DType::F64 => Ok(()),
        other => Err(Error::dtype(format!("a length is {other}")).wanted("f64")),
    }
}

fn is_not_negative(length: &Length) -> Result<()> {
    let negative = length.value.as_slice::<f64>()?.iter().any(|v| *v < 0.0);
    if negative { Err(Error::value("a length is negative")) } else { Ok(()) }
}

fn handlers(def: &Arc<TypeDef>) {
    on(Target::Op(&ops::NEGATIVE), def, "Length.negative", |call| {
        let [Arg::Value(x)] = call.args else { return Ok(None) };
        let x = Length::from_value(x)?;
        let value = call_one(call.op, &[Arg::from(&x.value)], call.attrs)?;
        let negated = Length { value: value.tensor()?.clone(), ..x };
        Ok(Some(Outputs::from_iter([negated.into_value()])))
    });
}

#[derive(Clone, ExtensionType)]
#[extenso(name = "test/Measured", refines = Length, to_tensor = plain)]
struct Measured {
    #[extenso(itself)]
    value: Tensor,
    #[extenso(component = "sigma")]
    deviation: Tensor,
    #[extenso(static)]
    unit: String,
}

fn plain(measured: &Measured) -> Result<Tensor> {
    Ok(measured.value.clone())
}

/// Named by the package and the struct.
#[derive(Clone, ExtensionType)]
struct Trip {
    legs: Length,
    anything: Value,
}

/// A crate that re-exports the derive and the two crates that its output names.
mod facade {
    pub mod __private {
        pub use extenso_core as core;
        pub use extenso_types as types;
    }
}

#[derive(Clone, ExtensionType)]
#[extenso(name = "test/Outside", crate = "crate::facade", dispatch_types = ["test/Length"])]
struct Outside {
    value: Tensor,
}

#[test]
fn paths_begin_where_the_crate_attribute_says() {
    let value = Outside { value: Tensor::scalar(1.0) };
    assert_eq!(spec_of(value).to_string(), "Outside(value: f64[])");
    assert_eq!(OutsideSpec::dispatch_types(), Some(&["test/Length"][..]));
}

fn meters(values: &[f64]) -> Length {
    Length { value: Tensor::from_vec(values.to_vec()), unit: "m".into() }
}

fn measured() -> Measured {
    Measured { value: Tensor::from_vec(vec![1.0]), deviation: Tensor::from_vec(vec![0.1]), unit: "m".into() }
}

fn spec_of(value: impl ExtensionType) -> Spec {
    value.into_value().spec().expect("a spec")
}

#[test]
fn deserialize_of_serialize_is_the_spec() {
    let spec = meters(&[1.0]).type_spec();
    let again = LengthSpec::deserialize(&spec.serialize()).expect("its own normal form");
    assert_eq!(again.serialize(), spec.serialize());
    assert_eq!(spec_of(meters(&[1.0])).to_string(), "Length(f64[1], unit=\"m\")");
}

#[test]
fn rebuilding_from_components_is_the_value() {
    let trip = Trip { legs: meters(&[1.0, 2.0]), anything: Tensor::scalar(7_i64).into() }.into_value();
    let mut leaves = Vec::new();
    trip.push_leaves(&mut leaves).expect("taken apart");
    let spec = trip.spec().expect("a spec");
    let again = pack(&spec, &mut leaves.into_iter(), Provenance::Outside).expect("rebuilt");
    assert!(again.spec().expect("a spec").equals(&spec));
    let legs = Trip::from_value(&again).expect("a trip").legs;
    assert_eq!(legs.value.to_string(), "[1.0, 2.0]");
}

#[test]
fn leaves_have_the_paths_that_the_attributes_say() {
    let trip = Trip { legs: meters(&[1.0]), anything: measured().into_value() };
    let paths: Vec<_> = spec_of(trip).leaves(&Path::root()).iter().map(|(path, _)| path.to_string()).collect();
    assert_eq!(paths, ["legs", "anything", "anything@sigma"]);
}

#[test]
fn names_and_versions_are_as_given_or_the_package_and_the_struct() {
    let def = LengthSpec::def();
    assert_eq!((def.name().as_str(), def.version()), ("test/Length", 3));
    assert_eq!(TripSpec::def().name().as_str(), "extenso-derive/Trip");
    assert_ne!(TripSpec::def().fingerprint(), def.fingerprint());
}

#[test]
fn static_validation_runs_on_every_rebuild_and_data_validation_on_data_from_outside() {
    let spec = spec_of(meters(&[1.0]));
    let of = |values: Tensor, provenance| rebuild(spec.ext().expect("an extension"), vec![values.into()], provenance);
    let negative = || Tensor::from_vec(vec![-1.0]);
    assert!(of(negative(), Provenance::Trusted).is_ok());
    assert!(of(negative(), Provenance::Outside).expect_err("negative").to_string().contains("negative"));
    let error = of(Tensor::from_vec(vec![1_i64]), Provenance::Trusted).expect_err("integers").to_string();
    assert!(error.contains("test/Length") && error.contains("i64"), "{error}");
}

#[test]
fn a_refining_type_is_its_base_and_has_its_handlers() {
    assert!(MeasuredSpec::def().is_a(LengthSpec::def()));
    let base = Length::from_value(&measured().into_value()).expect("seen as its base");
    assert_eq!(base.unit, "m");
    let negated = ops::negative(measured().into_value()).expect("the base's handler");
    assert_eq!(Length::from_value(&negated).expect("a length").value.to_string(), "[-1.0]");
}

#[test]
fn an_op_without_a_handler_runs_on_the_tensor() {
    let sum = ops::sum(measured().into_value(), extenso_core::attrs::Axes::All, false).expect("by to_tensor");
    assert_eq!(sum.to_string(), "1.0");
    let error = ops::sum(meters(&[1.0]).into_value(), 0, false).expect_err("no tensor").to_string();
    assert!(error.contains("sum") && error.contains("test/Length"), "{error}");
}

#[test]
fn another_type_is_an_error_that_names_both() {
    let error = Length::from_value(&Trip { legs: meters(&[]), anything: meters(&[]).into_value() }.into_value());
    let text = error.err().map(|e| e.to_string()).unwrap_or_default();
    assert!(text.contains("extenso-derive/Trip") && text.contains("test/Length"), "{text}");
}
