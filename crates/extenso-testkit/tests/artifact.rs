//! A saved file with everything in it: types, several functions, a gradient, a vocabulary, branches, variables.

use extenso_core::attrs::Axes;
use extenso_core::{ExtensionType, RowPartition, Tensor, Value, Variable, ops};
use extenso_derive::ExtensionType;
use extenso_ext::{Literal, MaskedTensor, RaggedTensor, StructTensor, constant};
use extenso_graph::save::archive::{Archive, write};
use extenso_graph::save::{from_bytes, to_bytes};
use extenso_graph::{Concrete, Function, cond, gradients};
use extenso_types::{Error, Nest, Path, Result, Segment, Shape};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

/// A price in a currency.
#[derive(Clone, ExtensionType)]
#[extenso(name = "test.artifact/Price", version = 3)]
struct Price {
    #[extenso(component)]
    amount: Value,
    #[extenso(static)]
    currency: String,
}

fn records() -> Value {
    let rows = |values: Value| {
        let partition = RowPartition::from_lengths([2, 1]).expect("proven");
        RaggedTensor::from_partition(values, partition).expect("fits").into_value()
    };
    let flags = Tensor::bools(&[3], &[true, false, true]).expect("bits");
    let amounts = MaskedTensor::new(Tensor::from_vec(vec![1.0_f32, 2.0, 4.0]), flags).expect("fits").into_value();
    let price = Price { amount: Tensor::from_vec(vec![2.5_f32, -1.0]).into(), currency: "EUR".into() };
    let words = Tensor::strings(&[3], &["Öl", "Mehl", "?"]).expect("strings");
    let fields = [("amounts", rows(amounts)), ("price", price.into_value()), ("words", rows(words.into()))];
    StructTensor::from_fields(Shape::known(&[2]), fields).expect("fits").into_value()
}

fn field(records: &Value, name: &str) -> Result<Value> {
    StructTensor::from_value(records)?.field_value(&Path::from_iter([Segment::field(name)]))
}

/// Counts its calls, looks words up, takes a branch, and gives its records back.
fn score(calls: &Variable, args: &Nest<Value>) -> Result<Nest<Value>> {
    ops::assign(ops::add(ops::read_variable(calls.clone())?, 1)?, calls.clone())?;
    let records = args.leaves()[0].1.clone();
    let vocabulary = Tensor::strings(&[2], &["Mehl", "Öl"])?;
    let ids = ops::lookup(field(&records, "words")?, vocabulary, -1, 3)?;
    let known = ops::sum(&ids, Axes::All, false)?;
    let many = ops::greater(&known, 1)?;
    let branch = cond(&many, || Ok(Nest::Leaf(ops::negative(&known)?)), || Ok(Nest::Leaf(known.clone())))?;
    Ok(Nest::dict([("branch", branch), ("ids", Nest::Leaf(ids)), ("records", Nest::Leaf(records))]))
}

/// The gradient of the masked amounts' sum of squares.
fn slope(args: &Nest<Value>) -> Result<Nest<Value>> {
    let x = args.leaves()[0].1.clone();
    let y = ops::sum(ops::square(&x)?, Axes::All, false)?;
    let mut slopes = gradients(&[y], &[x], None)?;
    slopes.pop().map(Nest::Leaf).ok_or_else(|| Error::internal("no gradient"))
}

fn functions() -> (Vec<Arc<Concrete>>, [Nest<Value>; 2]) {
    let calls = Variable::new("calls", Tensor::scalar(0_i64)).expect("a variable");
    let weights = constant(Literal::List(vec![Literal::Float(0.5), Literal::Float(-2.0)])).expect("a literal");
    let args = [Nest::Tuple(vec![Nest::Leaf(records())]), Nest::Tuple(vec![Nest::Leaf(weights)])];
    let (score, slope) = (
        Function::new("score", move |args: Nest<Value>| score(&calls, &args)),
        Function::new("slope", |args: Nest<Value>| slope(&args)),
    );
    score.call(args[0].clone()).expect("runs");
    slope.call(args[1].clone()).expect("runs");
    (vec![score.traces()[0].clone(), slope.traces()[0].clone()], args)
}

static FILE: LazyLock<Vec<u8>> = LazyLock::new(|| to_bytes(&functions().0).expect("saves"));

#[test]
fn it_loads_with_the_same_results_and_saves_as_the_same_file() {
    let (saved, args) = functions();
    let loaded = from_bytes(to_bytes(&saved).expect("saves")).expect("loads");
    for (function, args) in saved.iter().zip(&args) {
        let again = loaded.function(function.name()).expect("there");
        let text = |f: &Concrete| format!("{:?}", f.call(args).expect("runs"));
        assert_eq!(text(again), text(function), "{}", function.name());
    }
    assert_eq!(to_bytes(&from_bytes(FILE.clone()).expect("loads").functions).expect("saves"), *FILE);
}

#[test]
fn every_changed_byte_is_refused() {
    for at in 0..FILE.len() {
        for pattern in [0x01, 0x80, 0xff] {
            let mut changed = FILE.clone();
            changed[at] ^= pattern;
            assert!(from_bytes(changed).is_err(), "byte {at} ^ {pattern:#x}");
        }
    }
}

/// The container refuses these; what lies behind it stands alone all the same.
#[test]
fn a_changed_member_behind_the_container_is_a_value_or_an_error() {
    let (_, args) = functions();
    let archive = Archive::read(FILE.clone(), &[]).expect("reads");
    let whole: BTreeMap<String, Vec<u8>> =
        archive.members().iter().map(|(name, data)| (name.clone(), data.as_ref().to_vec())).collect();
    for (name, original) in &whole {
        for at in (0..original.len()).step_by(3) {
            for pattern in [0x01, 0x80, 0xff] {
                let mut members = whole.clone();
                members.get_mut(name).expect("there")[at] ^= pattern;
                let Ok(module) = write(&members, archive.features(), "test")
                    .map_err(drop)
                    .and_then(|file| from_bytes(file).map_err(drop))
                else {
                    continue;
                };
                for (function, args) in module.functions.iter().zip(&args) {
                    drop(function.call(args));
                }
            }
        }
    }
}
