//! Tracing: what a function gives is what the call gives, with known sizes and without, traced and loaded.

use crate::support::{Example, check_same, examples, nest, run, values_of, with_values};
use extenso_core::Value;
use extenso_graph::save::{from_bytes, to_bytes};
use extenso_graph::{Concrete, trace};
use extenso_types::{Bindings, Dim, ExtSpec, Nest, PartitionSpec, Result, Shape, Spec, TensorSpec};
use std::sync::Arc;

fn traced(example: &Example, specs: &Nest<Spec>) -> Result<Arc<Concrete>> {
    let call = example.call.clone();
    let traced = trace(call.op.name, specs, |args| {
        let values: Vec<Value> = args.leaves().into_iter().map(|(_, v)| v.clone()).collect();
        let mut outputs = with_values(&call, &values).call()?;
        Ok(Nest::Leaf(outputs.remove(0)))
    })?;
    Ok(Arc::new(Concrete::new(call.op.name, specs.clone(), traced.output, traced.graph)?))
}

fn only(results: Nest<Value>) -> Value {
    match results {
        Nest::Leaf(value) => value,
        other => panic!("{other:?}"),
    }
}

fn check(example: &Example, mut generalise: impl FnMut(&Spec) -> Spec) {
    let args = nest(&values_of(&example.call));
    let specs = args.try_map(|_, v| Ok(generalise(&v.spec()?))).expect("specs");
    let concrete = traced(example, &specs).unwrap_or_else(|e| panic!("{}: {e}", example.text));
    let eager = run(&example.call, example.text);
    let actual = eager.spec().expect("a spec");
    let [(_, inferred)] = &concrete.output_spec().leaves()[..] else { panic!("one output") };
    assert!(inferred.accepts(&actual, &mut Bindings::default()), "{}: inferred {inferred}, is {actual}", example.text);
    check_same(&only(concrete.call(&args).expect(example.text)), &eager, example.text);
    let bytes = to_bytes(std::slice::from_ref(&concrete)).expect("saves");
    let module = from_bytes(bytes.clone()).expect("loads");
    check_same(&only(module.functions[0].call(&args).expect(example.text)), &eager, example.text);
    assert_eq!(to_bytes(&module.functions).expect("saves"), bytes, "{}: save of load is the file", example.text);
}

#[test]
fn traced_and_loaded_give_the_bits_of_the_call() {
    examples().iter().for_each(|example| check(example, Clone::clone));
}

#[test]
fn an_inferred_spec_with_an_unknown_outer_size_accepts_the_actual_one() {
    for example in examples() {
        let n = Dim::any();
        let mut first = None;
        // One variable for the outer axis: arguments of that size share it, as records do.
        check(&example, |spec| {
            map_dims(spec, &mut |at, dim| {
                let same = *first.get_or_insert(dim) == dim;
                if at == 0 && same && dim != Dim::Known(1) { n } else { dim }
            })
        });
    }
}

#[test]
fn an_inferred_spec_with_unknown_sizes_accepts_the_actual_one() {
    for example in examples() {
        let mut sizes: Vec<(Dim, Dim)> = Vec::new();
        check(&example, |spec| {
            map_dims(spec, &mut |_, dim| match sizes.iter().find(|(known, _)| *known == dim) {
                _ if dim == Dim::Known(1) => dim,
                Some((_, var)) => *var,
                None => {
                    sizes.push((dim, Dim::any()));
                    sizes[sizes.len() - 1].1
                }
            })
        });
    }
}

/// The spec with each size replaced; the first argument is the axis.
fn map_dims(spec: &Spec, f: &mut dyn FnMut(usize, Dim) -> Dim) -> Spec {
    match spec {
        Spec::Tensor(t) => {
            let dims = t.shape.dims().expect("data").iter().enumerate().map(|(axis, dim)| f(axis, *dim));
            TensorSpec::new(t.dtype, Shape::new(dims)).into()
        }
        Spec::Partition(p) => {
            Spec::Partition(PartitionSpec { nrows: f(0, p.nrows), nvalues: f(0, p.nvalues), ..p.clone() })
        }
        Spec::Ext(e) => {
            let components = e.components.iter().map(|(segment, spec)| (segment.clone(), map_dims(spec, f))).collect();
            Spec::from(ExtSpec { components, ..(**e).clone() })
        }
    }
}
