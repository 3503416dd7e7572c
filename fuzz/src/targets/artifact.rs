//! The saved file: as bytes, and its members behind a container made anew, so that what lies behind the hashes is reached.

use crate::driver::BASE;
use crate::memory;
use crate::outcomes::Outcomes;
use extenso_core::attrs::{AttrValue, Axes};
use extenso_core::{ExtensionType, RowPartition};
use extenso_core::{Tensor, Value, Variable, ops};
use extenso_ext::{MaskedTensor, RaggedTensor, StructTensor};
use extenso_formats::arrow::write_ipc;
use extenso_formats::ops::{decode_arrow, encode_json, encode_proto, parse_json, parse_proto};
use extenso_formats::proto::Schema;
use extenso_formats::{FieldSpec, OnError, ProtobufOptions, struct_spec};
use extenso_graph::save::Module;
use extenso_graph::save::archive::{Archive, write};
use extenso_graph::save::{from_bytes, to_bytes};
use extenso_graph::{Concrete, Graph, NodeKind, Subgraph, cond, trace};
use extenso_types::{DType, LeafSpec, Nest, Result, Shape};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

pub const DICTIONARY: &[&[u8]] = &[
    b"add",
    b"reshape",
    b"matmul",
    b"broadcast_to",
    b"f64",
    b"variant",
    b"PK\x01\x02",
    b"graph.pb",
    b"\x0a\x03sum",
    b"\xff\xff\xff\xff\x0f",
];

/// The bytes in use that a byte of a file may cost.
const READ_COST: usize = 256;
/// The number of elements from which a value is large.
const LARGE: usize = 1 << 20;

const GRAPH: &str = "graph.pb";
const WEIGHTS: &str = "weights.safetensors";

/// Functions that between them use every kind of node, spec and attribute.
static SAMPLES: LazyLock<Vec<(Arc<Concrete>, Nest<Value>)>> = LazyLock::new(|| samples().expect("the samples trace"));

type Body = fn(&[Value]) -> Result<Value>;

fn samples() -> Result<Vec<(Arc<Concrete>, Nest<Value>)>> {
    let matrix = Tensor::new(&[2, 3], &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    let rows =
        RaggedTensor::from_partition(Tensor::from_vec(vec![1.0, 2.0, 3.0]), RowPartition::from_lengths([2, 0, 1])?)?;
    let masked = MaskedTensor::new(Tensor::from_vec(vec![1_i64, 2, 3]), Tensor::bools(&[3], &[true, false, true])?)?;
    let record = StructTensor::from_fields(
        Shape::known(&[3]),
        [
            ("rows", rows.into_value()),
            ("masked", masked.into_value()),
            ("name", Tensor::strings(&[3], &["a", "ß", ""])?.into()),
        ],
    )?;
    let dense: Body = |a| {
        let weights = Tensor::new(&[3, 2], &[0.5_f32, -1.0, 2.0, 0.25, 1.5, 3.0])?;
        let y = ops::tanh(ops::matmul(&a[0], weights, false)?)?;
        let y = ops::where_(Tensor::bools(&[2], &[true, false])?, &y, 0)?;
        let total = ops::sum(&y, Axes::List(vec![-1]), false)?;
        let positive = ops::all(ops::greater(&total, 0)?, Axes::All, false)?;
        let chosen = cond(&positive, || Ok(Nest::Leaf(ops::exp(&total)?)), || Ok(Nest::Leaf(ops::negative(&total)?)))?;
        Ok(chosen.leaves()[0].1.clone())
    };
    let typed: Body = |a| {
        let record = StructTensor::from_value(&a[0])?;
        let rows = ops::sum(record.field("rows")?, 1, false)?;
        let lengths = ops::string_length(record.field("name")?, "byte".to_string())?;
        let masked = ops::add(record.field("masked")?, lengths)?;
        let taken = ops::take(rows, Tensor::from_vec(vec![2_i64, -1]), 0)?;
        Ok(StructTensor::from_fields(
            Shape::known(&[2]),
            [("rows", taken), ("masked", ops::slice(masked, 0, 1, None, 1)?)],
        )?
        .into_value())
    };
    let seen = Variable::new("seen", Tensor::scalar(0_i64))?;
    let stateful = move |a: &[Value]| {
        let counted = ops::assign(ops::add(ops::read_variable(seen.clone())?, 1)?, seen.clone())?;
        let shaped = ops::reshape(ops::concat(vec![a[0].clone(), a[0].clone()], 0)?, vec![-1_i64, 2])?;
        ops::broadcast_to(ops::add(ops::cast(shaped, DType::I64)?, counted)?, vec![3_i64, 6, 2])
    };
    extenso_formats::init()?;
    let texts: Body = |a| {
        let item = FieldSpec::Record(vec![("price", FieldSpec::Scalar(DType::F32, vec![2]))]);
        let spec =
            struct_spec([("id", FieldSpec::Scalar(DType::I64, vec![])), ("items", FieldSpec::List(Box::new(item)))])?;
        let records = StructTensor::from_value(&parse_json(&a[0], &spec, OnError::Default)?.value)?;
        encode_json(records.field("items")?)
    };
    let messages: Body = |a| {
        let text =
            "syntax = 'proto3'; message Item { int64 id = 1; map<string, float> prices = 2; repeated Item parts = 3; }";
        let item = Schema::from_text(text)?.message("Item")?;
        let options = ProtobufOptions { depth: Some(1), ..ProtobufOptions::default() };
        encode_proto(&parse_proto(&a[0], &item, &options)?.value, &item)
    };
    let files: Body = |a| {
        let spec = struct_spec([("id", FieldSpec::Scalar(DType::I64, vec![]))])?;
        Ok(decode_arrow(&a[0], &spec, OnError::Default)?.value)
    };
    let ids = StructTensor::from_fields(Shape::known(&[2]), [("id", Tensor::from_vec(vec![1_i64, 2]))])?;
    let arrow = Tensor::byte_strings(&[1], &[write_ipc(&ids.into_value(), false)?])?;
    let json = Tensor::strings(&[2], &[r#"{"id": 1, "items": [{"price": [1, 2.5]}]}"#, "{"])?;
    let proto = Tensor::byte_strings(&[2], &[&b"\x08\x07\x1a\x02\x08\x05"[..], b""])?;
    Ok(vec![
        sample("texts", json.into(), texts)?,
        sample("messages", proto.into(), messages)?,
        sample("files", arrow.into(), files)?,
        sample("dense", matrix.clone().into(), dense)?,
        sample("typed", record.into_value(), typed)?,
        sample("stateful", matrix.into(), stateful)?,
    ])
}

fn sample(name: &str, arg: Value, body: impl Fn(&[Value]) -> Result<Value>) -> Result<(Arc<Concrete>, Nest<Value>)> {
    let args = Nest::Tuple(vec![Nest::Leaf(arg)]);
    let specs = args.try_map(|_, v| v.spec())?;
    let traced = trace(name, &specs, |args| {
        let leaves: Vec<Value> = args.leaves().into_iter().map(|(_, v)| v.clone()).collect();
        Ok(Nest::dict([("y", Nest::Leaf(body(&leaves)?))]))
    })?;
    Ok((Arc::new(Concrete::new(name, specs, traced.output, traced.graph)?), args))
}

/// Whole files.
pub fn files() -> Vec<Vec<u8>> {
    SAMPLES.iter().map(|(f, _)| to_bytes(std::slice::from_ref(f)).expect("saves")).collect()
}

/// Graphs alone.
pub fn graphs() -> Vec<Vec<u8>> {
    files().into_iter().map(|file| members(file).remove(GRAPH).expect("a graph")).collect()
}

/// Weights alone.
pub fn weights() -> Vec<Vec<u8>> {
    files().into_iter().map(|file| members(file).remove(WEIGHTS).expect("weights")).collect()
}

fn members(file: Vec<u8>) -> BTreeMap<String, Vec<u8>> {
    let archive = Archive::read(file, &[]).expect("reads");
    archive.members().iter().map(|(name, data)| (name.clone(), data.as_ref().to_vec())).collect()
}

/// Every sample's members, in which one is exchanged.
static MEMBERS: LazyLock<Vec<BTreeMap<String, Vec<u8>>>> = LazyLock::new(|| files().into_iter().map(members).collect());

pub fn run_file(bytes: &[u8], outcomes: &mut Outcomes) {
    if let Some(module) = read(bytes.to_vec(), bytes.len(), outcomes) {
        let again = to_bytes(&module.functions).expect("what was loaded can be saved");
        assert_eq!(again, bytes, "save of load is the file");
        call_all(&module.functions, outcomes);
    }
}

pub fn run_graph(bytes: &[u8], outcomes: &mut Outcomes) {
    run_member(GRAPH, bytes, outcomes);
}

pub fn run_weights(bytes: &[u8], outcomes: &mut Outcomes) {
    run_member(WEIGHTS, bytes, outcomes);
}

fn run_member(name: &str, bytes: &[u8], outcomes: &mut Outcomes) {
    for members in MEMBERS.iter() {
        let mut members = members.clone();
        members.insert(name.to_string(), bytes.to_vec());
        let file = write(&members, &BTreeSet::new(), "fuzz").expect("writes");
        let len = file.len();
        if let Some(module) = read(file, len, outcomes) {
            let again = to_bytes(&module.functions).expect("what was loaded can be saved");
            let twice = to_bytes(&from_bytes(again.clone()).expect("what was saved can be loaded").functions);
            assert_eq!(twice.expect("saves"), again, "save of load is the file");
            call_all(&module.functions, outcomes);
        }
    }
}

/// Reads a file in memory in proportion to it. What a function needs when it runs is said by the sizes that it names.
fn read(file: Vec<u8>, len: usize, outcomes: &mut Outcomes) -> Option<Module> {
    let before = memory::start();
    let module = outcomes.of("load", from_bytes(file));
    let memory = memory::most_since(before);
    assert!(memory <= BASE + READ_COST * len, "reading {len} bytes took {memory} bytes of memory");
    module
}

fn call_all(functions: &[Arc<Concrete>], outcomes: &mut Outcomes) {
    for function in functions.iter().filter(|f| is_small(f.graph())) {
        outcomes.value("graph", function.graph());
        for (_, args) in SAMPLES.iter() {
            outcomes.of("call", function.call(args));
        }
    }
}

/// Whether no value of the graph is known to be large: a graph may ask for any size, and gets it where there is memory.
fn is_small(graph: &Graph) -> bool {
    let count = |spec: &LeafSpec| {
        let dims = spec.tensor().ok()?.shape.to_dims()?;
        dims.iter().try_fold(1_usize, |n, d| n.checked_mul(*d))
    };
    let small = |spec: &LeafSpec| count(spec).is_none_or(|n| n < LARGE);
    graph.nodes.iter().all(|node| {
        let inner = match &node.kind {
            NodeKind::Op(_, attrs) => attrs.values(),
            NodeKind::Input(_) | NodeKind::Constant(_) => Vec::new(),
        };
        let inner_small = inner.iter().all(|attr| match attr {
            AttrValue::Graph(graph) => Subgraph::of(graph).is_ok_and(|inner| is_small(inner.graph())),
            _ => true,
        });
        node.outputs.iter().all(small) && inner_small
    })
}
