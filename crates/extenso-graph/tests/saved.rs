//! The saved file: round trips, determinism, and what malformed bytes give.

use extenso_core::{Tensor, Value, Variable, attrs::Axes, ops};
use extenso_graph::save::{from_bytes, to_bytes};
use extenso_graph::{Concrete, Function, cond};
use extenso_types::{Nest, Result};
use std::sync::Arc;

fn sample() -> (Arc<Concrete>, Nest<Value>) {
    let seen = Variable::new("seen", Tensor::scalar(0_i64)).expect("a variable");
    let body = move |a: Nest<Value>| -> Result<Nest<Value>> {
        let leaves = a.leaves();
        let (x, words, p) = (leaves[0].1, leaves[1].1, leaves[2].1);
        ops::assign(ops::add(ops::read_variable(seen.clone())?, 1)?, seen.clone())?;
        let weights = Tensor::new(&[3, 2], &[0.5_f32, -1.0, 2.0, 0.25, 1.5, 3.0])?;
        let y = ops::tanh(ops::matmul(x, weights, false)?)?;
        let flags = Tensor::bools(&[2], &[true, false])?;
        let y = ops::where_(flags, &y, 0)?;
        let total = ops::sum(&y, Axes::List(vec![-1]), false)?;
        let chosen = cond(p, || Ok(Nest::Leaf(ops::exp(&total)?)), || Ok(Nest::Leaf(ops::negative(&total)?)))?;
        let joined = ops::concat(vec![words.clone(), Value::from(Tensor::strings(&[2], &["größe", ""])?)], 0)?;
        Ok(Nest::dict([("score", chosen), ("length", Nest::Leaf(ops::string_length(joined, "char".to_string())?))]))
    };
    let args = Nest::dict([
        ("a", Nest::Leaf(Tensor::new(&[2, 3], &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0]).expect("a tensor").into())),
        ("b", Nest::Leaf(Tensor::strings(&[1], &["x y"]).expect("a tensor").into())),
        ("c", Nest::Leaf(Tensor::bools(&[], &[true]).expect("a tensor").into())),
    ]);
    let f = Function::new("score", body);
    f.call(args.clone()).expect("runs");
    (f.traces()[0].clone(), args)
}

#[test]
fn a_loaded_function_gives_the_same_bits() {
    let (f, args) = sample();
    let loaded = from_bytes(to_bytes(std::slice::from_ref(&f)).expect("saves")).expect("loads");
    let text = |f: &Concrete| format!("{:?}", f.call(&args).expect("runs"));
    assert_eq!(text(loaded.function("score").expect("there")), text(&f));
    assert_eq!(loaded.variables[0].value().expect("held").to_string(), "2", "saved after one call, called once");
    let error = loaded.function("other").expect_err("not there").to_string();
    assert!(error.contains("one of score"), "{error}");
}

#[test]
fn save_of_load_is_the_file() {
    let bytes = to_bytes(&[sample().0]).expect("saves");
    let again = to_bytes(&from_bytes(bytes.clone()).expect("loads").functions).expect("saves");
    assert_eq!(bytes, again);
}

#[test]
fn a_changed_byte_is_an_error() {
    let bytes = to_bytes(&[sample().0]).expect("saves");
    for i in (0..bytes.len()).step_by(7) {
        let mut changed = bytes.clone();
        changed[i] ^= 0x41;
        assert!(from_bytes(changed).is_err(), "byte {i}");
    }
}

/// The container would refuse these; what lies behind it must stand alone.
#[test]
fn a_changed_graph_is_a_value_or_an_error() {
    use extenso_graph::save::archive::{Archive, write};
    let bytes = to_bytes(&[sample().0]).expect("saves");
    let archive = Archive::read(bytes, &[]).expect("reads");
    let mut members: std::collections::BTreeMap<String, Vec<u8>> =
        archive.members().iter().map(|(name, data)| (name.clone(), data.as_ref().to_vec())).collect();
    let args = sample().1;
    for name in ["graph.pb", "weights.safetensors"] {
        let original = members[name].clone();
        for i in 0..original.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut changed = original.clone();
                changed[i] ^= flip;
                members.insert(name.to_string(), changed);
                let file = write(&members, archive.features(), "test").expect("writes");
                if let Ok(module) = from_bytes(file) {
                    module.functions.iter().for_each(|f| drop(f.call(&args)));
                }
            }
        }
        members.insert(name.to_string(), original);
    }
}

#[test]
fn fresh_sizes_that_later_ops_read_are_verified() {
    let body = |a: Nest<Value>| -> Result<Nest<Value>> {
        let leaves = a.leaves();
        let (x, y) = (leaves[0].1, leaves[1].1);
        let joined = ops::concat(vec![x.clone(), y.clone()], 0)?;
        let doubled = ops::add(&joined, &joined)?;
        let again = ops::concat(vec![x.clone(), y.clone()], 0)?;
        Ok(Nest::Leaf(ops::sum(ops::multiply(ops::exp(doubled)?, again)?, Axes::All, false)?))
    };
    let f = Function::new("f", body);
    let args = |n: usize| {
        Nest::Tuple(vec![n, n + 1].into_iter().map(|n| Nest::Leaf(Tensor::from_vec(vec![0.5_f32; n]).into())).collect())
    };
    f.call(args(2)).expect("runs");
    let wanted = format!("{:?}", f.call(args(5)).expect("generalises"));
    let loaded = from_bytes(to_bytes(&f.traces()).expect("saves")).expect("loads");
    assert_eq!(format!("{:?}", loaded.functions[0].call(&args(5)).expect("runs")), wanted);
}

#[test]
fn two_functions_of_one_name_are_refused() {
    use extenso_graph::save::archive::{Archive, write};
    let bytes = to_bytes(&[sample().0]).expect("saves");
    let archive = Archive::read(bytes, &[]).expect("reads");
    let mut members: std::collections::BTreeMap<String, Vec<u8>> =
        archive.members().iter().map(|(name, data)| (name.clone(), data.as_ref().to_vec())).collect();
    // Messages one behind the other are one message with the fields of both: here with each function twice.
    let graph = members["graph.pb"].clone();
    members.insert("graph.pb".to_string(), graph.repeat(2));
    let file = write(&members, archive.features(), "test").expect("writes");
    let error = from_bytes(file).expect_err("two of one name").to_string();
    assert!(error.contains("two functions have the name 'score'"), "{error}");
}

/// The file of a function that adds two constants of these sizes, in which both are read from the weights of the first.
fn of_one_weight(dims: [&[usize]; 2]) -> Vec<u8> {
    use extenso_graph::save::archive::{Archive, write};
    let constants =
        dims.map(|dims| Tensor::new(dims, &(0..100_u8).map(f32::from).collect::<Vec<_>>()).expect("a tensor"));
    let f = Function::new("f", move |a| {
        let sum = ops::add(a.leaves()[0].1, &constants[0])?;
        Ok(Nest::Leaf(ops::add(ops::exp(sum)?, &constants[1])?))
    });
    let x = Tensor::new(&[100], &[0.0_f32; 100]).expect("a tensor");
    f.call(Nest::Leaf(x.into())).expect("runs");
    let archive = Archive::read(to_bytes(&f.traces()).expect("saves"), &[]).expect("reads");
    let renamed = |data: &[u8]| {
        let mut data = data.to_vec();
        for at in 0..data.len().saturating_sub(6) {
            if data[at..].starts_with(b"w000001") {
                data[at + 6] = b'0';
            }
        }
        data
    };
    let member =
        |(name, data): (&String, &[u8])| (name.clone(), if name == "graph.pb" { renamed(data) } else { data.to_vec() });
    let members = archive.members().iter().map(|(name, data)| member((name, data.as_ref()))).collect();
    write(&members, archive.features(), "test").expect("writes")
}

#[test]
fn constants_of_one_name_share_memory_and_have_one_spec() {
    use extenso_graph::NodeKind;
    let module = from_bytes(of_one_weight([&[100], &[100]])).expect("loads");
    let constants: Vec<usize> = module.functions[0]
        .graph()
        .nodes
        .iter()
        .filter_map(|node| match &node.kind {
            NodeKind::Constant(Value::Tensor(tensor)) => {
                Some(tensor.as_slice::<f32>().expect("floats").as_ptr().addr())
            }
            _ => None,
        })
        .collect();
    assert!(matches!(constants[..], [first, second] if first == second), "{constants:?}");
    let error = from_bytes(of_one_weight([&[100], &[1, 100]])).expect_err("two specs").to_string();
    assert!(error.contains("'w000000'") && error.contains("f32[100]") && error.contains("f32[1, 100]"), "{error}");
}
