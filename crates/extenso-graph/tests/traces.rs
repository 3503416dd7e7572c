//! Which trace answers a call, which gives way, and what stands for variables among the arguments.

use extenso_core::{Tensor, Value, Variable, ops, with_variables};
use extenso_graph::Function;
use extenso_types::{DType, Nest, Result, Shape, Spec, TensorSpec};

type Dims = [Option<usize>; 3];

const N: Option<usize> = None;
const TABLE: [Dims; 4] = [[N, N, N], [N, Some(1), N], [N, Some(1), Some(2)], [N, Some(2), Some(2)]];

fn spec(dims: &[Option<usize>]) -> Nest<Spec> {
    Nest::Leaf(TensorSpec::new(DType::F32, Shape::partial(dims.iter().copied())).into())
}

fn sized(dims: &[usize]) -> Nest<Spec> {
    spec(&dims.iter().map(|n| Some(*n)).collect::<Vec<_>>())
}

fn traced(specs: impl IntoIterator<Item = Nest<Spec>>) -> Function {
    let f = Function::new("f", Ok);
    for spec in specs {
        f.concrete(&spec).expect("traces");
    }
    f
}

fn inputs(f: &Function) -> Vec<String> {
    f.traces().iter().map(|concrete| concrete.input_spec().to_string()).collect()
}

#[test]
fn the_most_specific_trace_answers() {
    let check = |table: &[Dims], dims: [usize; 3], wanted: Dims| {
        let f = traced(table.iter().map(|dims| spec(dims)));
        assert_eq!(f.traces().len(), table.len());
        let found = f.find(&sized(&dims)).expect("one accepts");
        assert_eq!(found.input_spec().to_string(), spec(&wanted).to_string(), "{dims:?}");
    };
    let backwards: Vec<Dims> = TABLE.iter().rev().copied().collect();
    for table in [&TABLE[..], &backwards] {
        check(table, [1, 1, 2], TABLE[2]);
        check(table, [1, 1, 3], TABLE[1]);
        check(table, [1, 3, 3], TABLE[0]);
        check(table, [7, 2, 2], TABLE[3]);
    }
    assert!(traced([spec(&TABLE[1])]).find(&sized(&[1, 2, 3])).is_none());
}

#[test]
fn a_tie_goes_to_the_earlier_trace() {
    let (a, b) = (spec(&[N, Some(2)]), spec(&[Some(3), N]));
    for pair in [[a.clone(), b.clone()], [b, a]] {
        let f = traced(pair.clone());
        let found = f.find(&sized(&[3, 2])).expect("both accept");
        assert_eq!(found.input_spec().to_string(), pair[0].to_string());
    }
}

#[test]
fn what_was_asked_for_is_not_generalised() {
    let f = traced([sized(&[2])]);
    for n in [3, 4, 5] {
        f.concrete_for(&sized(&[n])).expect("traces");
    }
    assert_eq!(inputs(&f), ["f32[2]", "f32[?]"]);
    // A trace that a call made gives way to one that covers it.
    let g = Function::new("g", Ok);
    g.concrete_for(&sized(&[2])).expect("traces");
    g.concrete(&spec(&[N])).expect("traces");
    g.concrete(&spec(&[N])).expect("is there");
    assert_eq!(inputs(&g), ["f32[?]"]);
}

#[test]
fn each_size_has_a_trace_where_retracing_is_not_reduced() {
    let f = Function::new("f", Ok).reduce_retracing(false);
    for n in [2, 3, 2] {
        f.concrete_for(&sized(&[n])).expect("traces");
    }
    assert_eq!(inputs(&f), ["f32[2]", "f32[3]"]);
}

#[test]
fn traces_are_bounded_and_say_what_differed() {
    let f = Function::new("f", Ok);
    let args = |k: i64, n: usize| {
        Nest::dict([("k", Nest::Static(extenso_types::StaticValue::Int(k))), ("x", Nest::List(vec![sized(&[n])]))])
    };
    f.concrete_for(&args(0, 2)).expect("traces");
    f.concrete_for(&args(1, 3)).expect("traces");
    let why = f.retraces().pop().expect("a reason").differences;
    let wanted = [("k", "0", "1"), ("x[0]", "f32[2]", "f32[3]")].map(|(p, a, b)| (p.into(), a.into(), b.into()));
    assert_eq!(why, wanted);
    (2..1100).for_each(|k| drop(f.concrete_for(&args(k, 2)).expect("traces")));
    assert_eq!((f.traces().len(), f.retraces().len()), (32, 1024));
}

#[test]
fn a_stand_in_stands_for_what_is_given() {
    let held = |n: i64| Variable::new("v", Tensor::scalar(n)).expect("a variable");
    let stand_in = Variable::stand_in("v", TensorSpec::new(DType::I64, Shape::known(&[])));
    let inside = stand_in.clone();
    let f = Function::new("f", move |args: Nest<Value>| -> Result<Nest<Value>> {
        let sum = ops::add(ops::read_variable(inside.clone())?, args.leaves()[0].1)?;
        Ok(Nest::Leaf(ops::assign(sum, inside.clone())?))
    });
    let call = |n: i64| f.call(Nest::Leaf(Tensor::scalar(n).into())).map(|r| r.leaves()[0].1.to_string());
    let (a, b) = (held(1), held(10));
    for (variable, wanted) in [(&a, "3"), (&b, "12"), (&a, "5")] {
        let got = with_variables(&[(stand_in.clone(), variable.clone())], || call(2)).expect("runs");
        assert_eq!(got, wanted);
    }
    assert_eq!(b.value().expect("held").to_string(), "12");
    let error = call(2).expect_err("nothing is given").to_string();
    assert!(error.contains("argument of a function"), "{error}");
    assert_eq!(f.traces().len(), 1);
}

#[test]
fn equal_constants_are_one_and_zeros_of_two_signs_are_two() {
    let ops_of = |first: f32, second: f32| {
        let f = Function::new("f", move |args| {
            let Nest::Leaf(x) = &args else { panic!("one leaf") };
            let [a, b] = [first, second].map(|by| ops::atan2(Tensor::scalar(by), x));
            Ok(Nest::Tuple(vec![Nest::Leaf(a?), Nest::Leaf(b?)]))
        });
        f.concrete(&spec(&[N])).expect("traces").graph().op_count()
    };
    assert_eq!((ops_of(0.5, 0.5), ops_of(0.5, 1.5), ops_of(0.0, -0.0)), (1, 2, 2));
}

#[test]
fn what_undoes_another_op_is_what_was_there_before() {
    let ops_of = |made: fn(&Value) -> Result<Value>| {
        let f = Function::new("f", move |args| {
            let Nest::Leaf(x) = &args else { panic!("one leaf") };
            made(x).map(Nest::Leaf)
        });
        f.concrete(&Nest::Leaf(TensorSpec::new(DType::I64, Shape::partial([N])).into()))
            .expect("traces")
            .graph()
            .op_count()
    };
    assert_eq!(ops_of(|x| ops::row_lengths(ops::partition_from_lengths(x)?)), 0);
    assert_eq!(ops_of(|x| ops::squeeze(ops::expand_dims(x, 1_i64)?, vec![-1_i64])), 0);
    // An i32 partition counts in i64, and another axis is dropped.
    let narrow = |x: &Value| ops::row_lengths(ops::partition_from_lengths(ops::cast(x, DType::I32)?)?);
    assert_eq!(ops_of(narrow), 3);
    let other = |x: &Value| ops::squeeze(ops::expand_dims(ops::expand_dims(x, 0_i64)?, 2_i64)?, vec![0_i64]);
    assert_eq!(ops_of(other), 3);
}

#[test]
fn a_malformed_graph_is_an_error_wherever_it_is_compiled() {
    use extenso_graph::{Concrete, Graph, Node, NodeKind, Program, ValueRef, optimize};
    use extenso_types::{LeafSpec, Shape, TensorSpec};
    let spec = LeafSpec::Tensor(TensorSpec::new(DType::F32, Shape::known(&[2])));
    let node = |inputs: &[ValueRef]| Node {
        kind: NodeKind::Input(3),
        inputs: inputs.iter().copied().collect(),
        outputs: std::iter::once(spec.clone()).collect(),
        after: None,
        origin: None,
    };
    let at = |node, output| ValueRef { node, output };
    let graph = |nodes, outputs| Graph { name: "odd".into(), nodes, inputs: Vec::new(), outputs };
    for graph in [
        graph(vec![node(&[])], vec![at(0, 0)]),
        graph(vec![node(&[at(7, 0)])], vec![at(0, 0)]),
        graph(Vec::new(), vec![at(0, 0)]),
        graph(vec![node(&[])], vec![at(0, 9)]),
    ] {
        assert!(Program::compile(&graph).is_err(), "{graph}");
        assert!(optimize(graph.clone()).is_err());
        assert!(Concrete::new("odd", Nest::Tuple(Vec::new()), Nest::Tuple(Vec::new()), graph).is_err());
    }
}
