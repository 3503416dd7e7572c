//! Every op of every table on random values and hostile attributes: a value or an error, soon, never a panic.
//!
//! Nothing here names an op; a new one is tried as soon as it is declared. What an op gives is what its inference said, with
//! known sizes and without.

mod broken;
mod draw;

use draw::Draw;
use extenso_core::attrs::NoAttrs;
use extenso_core::{Arg, OpDef, Outputs, Tensor, Value, call, canonicalize, ops};
use extenso_ext::to_literal;
use extenso_graph::trace;
use extenso_testkit::rng::Rng;
use extenso_types::{Bindings, Dim, LeafSpec, Nest, PartitionSpec, Shape, TensorSpec};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often each op is called.
const CALLS: usize = 250;
/// How long a call may take, where nothing is optimised and other tests run.
const LONGEST: Duration = Duration::from_secs(5);

#[test]
fn any_call_gives_a_value_or_an_error() {
    extenso_ext::init();
    std::panic::set_hook(Box::new(|panic| WHERE.with(|place| drop(place.replace(format!("{panic}"))))));
    let (mut faults, mut values, mut errors) = (BTreeMap::new(), 0, 0);
    for (i, op) in extenso_graph::tables().enumerate() {
        let mut draw = Draw(Rng::new(u64::try_from(i).expect("few") + seed()));
        for _ in 0..CALLS {
            let (args, attrs) = (draw.args(op), draw.attrs(op));
            let Ok(attrs) = (op.attrs.parse)(&attrs) else { continue };
            match tried(op, &args, &attrs) {
                Ok(gives) => *(if gives { &mut values } else { &mut errors }) += 1,
                Err(fault) => {
                    let texts: Vec<String> = args.iter().map(show).collect();
                    faults
                        .entry(op.name)
                        .or_insert_with(|| format!("{}({}; {attrs:?}): {fault}", op.name, texts.join(", ")));
                }
            }
        }
    }
    drop(std::panic::take_hook());
    let faults: Vec<String> = faults.into_values().collect();
    assert!(faults.is_empty(), "{} ops:\n{}", faults.len(), faults.join("\n\n"));
    assert!(values > 3000 && errors > 3000, "{values} values and {errors} errors");
}

thread_local! {
    static WHERE: std::cell::RefCell<String> = const { std::cell::RefCell::new(String::new()) };
}

/// The seed of a run: another one tries other values.
fn seed() -> u64 {
    std::env::var("EXTENSO_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

type Attrs = Arc<dyn extenso_core::attrs::AttrSet>;

#[test]
fn an_op_that_breaks_a_law_is_found() {
    let attrs: Attrs = Arc::new(NoAttrs {});
    let args = [Arg::from(Tensor::from_vec(vec![1.0, 2.0]))];
    for op in broken::BROKEN {
        assert!(tried(op, &args, &attrs).is_err(), "{} is not found", op.name);
    }
    assert_eq!(tried(&ops::NEGATIVE, &args, &attrs), Ok(true));
    assert_eq!(tried(&ops::NEGATIVE, &[], &attrs), Ok(false));
}

/// Whether the call gives values; a panic, a law that does not hold and a call that takes long are the error.
fn tried(op: &'static OpDef, args: &[Arg], attrs: &Attrs) -> Result<bool, String> {
    let start = Instant::now();
    let outcome = catch_unwind(AssertUnwindSafe(|| one(op, args, attrs))).map_err(|_| WHERE.take())??;
    if start.elapsed() > LONGEST { Err(format!("took {:.0?}", start.elapsed())) } else { Ok(outcome) }
}

/// Whether the call gives values; a law that does not hold is the error.
fn one(op: &'static OpDef, args: &[Arg], attrs: &Attrs) -> Result<bool, String> {
    let outcome = call(op, args, &**attrs);
    if let Err(error) = &outcome
        && !error.to_string().starts_with(op.name)
    {
        return Err(format!("the error does not begin with the op: {error}"));
    }
    if let Some(values) = leaves(op, args) {
        inferred(op, &values, attrs, outcome.as_ref().ok())?;
        traced(op, &values, attrs);
    }
    let Ok(outputs) = outcome else { return Ok(false) };
    for output in &outputs {
        output.spec().map_err(|e| format!("the output has no spec: {e}"))?;
        drop((format!("{output:?} {output}"), to_literal(output)));
    }
    Ok(true)
}

/// The arguments as the op itself gets them, if each is a tensor or a partition.
fn leaves(op: &'static OpDef, args: &[Arg]) -> Option<Vec<Value>> {
    let values = canonicalize(op, args).ok()?.into_vec();
    (op.variadic || values.len() == op.params.len()).then_some(())?;
    values.iter().all(|value| value.ext().is_err()).then_some(values)
}

/// What was inferred from known sizes, from an unknown outer one and from unknown ones holds for what came.
fn inferred(op: &OpDef, values: &[Value], attrs: &Attrs, outputs: Option<&Outputs>) -> Result<(), String> {
    let specs: Vec<LeafSpec> = values.iter().map(|v| v.leaf_spec().expect("a leaf")).collect();
    let n = Dim::any();
    for (what, unknown) in [("known", None), ("an unknown outer", Some(true)), ("unknown", Some(false))] {
        let specs: Vec<LeafSpec> = specs.iter().map(|spec| generalised(spec, unknown, n)).collect();
        let inferred = op.infer(&specs, &**attrs);
        let Some(outputs) = outputs else { continue };
        let inferred = inferred.map_err(|e| format!("there is a value, and inference from {what} sizes says {e}"))?;
        let mut bindings = Bindings::default();
        let holds = inferred.len() == outputs.len()
            && inferred.iter().zip(outputs).all(|(i, o)| i.accepts(&o.leaf_spec().expect("a leaf"), &mut bindings));
        if !holds {
            let came: Vec<LeafSpec> = outputs.iter().map(|o| o.leaf_spec().expect("a leaf")).collect();
            return Err(format!("from {what} sizes {inferred:?} was inferred, and {came:?} came"));
        }
    }
    Ok(())
}

/// The spec with its outer size, or all, unknown; every size on its own but the outer one.
fn generalised(spec: &LeafSpec, only_outer: Option<bool>, n: Dim) -> LeafSpec {
    match (spec, only_outer) {
        (LeafSpec::Tensor(t), Some(true)) => {
            let dims = t.shape.dims().unwrap_or_default().iter().enumerate();
            let dims = dims.map(|(i, d)| if i == 0 { Dim::any() } else { *d });
            LeafSpec::Tensor(TensorSpec::new(t.dtype, Shape::new(dims)))
        }
        (LeafSpec::Tensor(t), Some(false)) => {
            let dims = t.shape.dims().unwrap_or_default().iter().map(|_| Dim::any());
            LeafSpec::Tensor(TensorSpec::new(t.dtype, Shape::new(dims)))
        }
        (LeafSpec::Partition(p), Some(_)) => {
            LeafSpec::Partition(PartitionSpec { nrows: n, nvalues: Dim::any(), ..p.clone() })
        }
        (spec, None) => spec.clone(),
    }
}

/// The call in a function of unknown sizes: traced, and called with the values, whatever comes of it.
fn traced(op: &'static OpDef, values: &[Value], attrs: &Attrs) {
    let specs =
        values.iter().map(|v| Nest::Leaf(generalised(&v.leaf_spec().expect("a leaf"), Some(false), Dim::any()).into()));
    let specs = Nest::Tuple(specs.collect());
    let traced = trace(op.name, &specs, |args| {
        let args: Vec<Arg> = args.leaves().into_iter().map(|(_, v)| Arg::from(v.clone())).collect();
        let args = if op.variadic { vec![Arg::List(args)] } else { args };
        Ok(Nest::Tuple(call(op, &args, &**attrs)?.into_iter().map(Nest::Leaf).collect()))
    });
    let Ok(traced) = traced else { return };
    let concrete = extenso_graph::Concrete::new(op.name, specs, traced.output, traced.graph);
    let args = Nest::Tuple(values.iter().cloned().map(Nest::Leaf).collect());
    drop(concrete.and_then(|concrete| concrete.call(&args)));
}

fn show(arg: &Arg) -> String {
    match arg {
        Arg::Value(value) => value.spec().map_or_else(|e| e.to_string(), |spec| format!("{spec} {value}")),
        Arg::Scalar(scalar) => format!("{scalar:?}"),
        Arg::List(items) => format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(", ")),
    }
}
