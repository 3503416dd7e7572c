//! Declared facts hold on generated inputs, in every dtype that the op takes.

use crate::support::{Draw, check_same, dtypes, examples_of, random, rows, run, takes};
use extenso_core::{Arg, Class, Fact, Kernel, Value, ops};
use extenso_testkit::eval::Application;
use extenso_testkit::rng::Rng;
use extenso_types::{DType, DTypeKind};

const SHAPES: [&[usize]; 4] = [&[], &[70], &[3, 1, 5], &[2, 0]];

#[test]
fn declared_facts_hold() {
    let mut checked = 0;
    for op in extenso_graph::tables().filter(|op| !op.facts.is_empty()) {
        let call = examples_of(op).remove(0).call;
        for (dtype, fact) in dtypes().flat_map(|dtype| op.facts.iter().map(move |fact| (dtype, *fact))) {
            for (seed, dims) in SHAPES.iter().enumerate() {
                let mut rng = Rng::new(u64::try_from(seed).expect("small"));
                checked += usize::from(check(&call, fact, dtype, dims, &mut rng));
            }
        }
    }
    assert!(checked > 200, "only {checked} equations were checked");
}

#[test]
fn an_elementwise_op_is_defined_everywhere_unless_it_says_so() {
    let mut tried = 0;
    for op in extenso_graph::tables().filter(|op| matches!(op.kernel, Kernel::Elementwise(_))) {
        let call = examples_of(op).remove(0).call;
        for (dtype, seed) in dtypes().flat_map(|dtype| (0..4).map(move |seed| (dtype, seed))) {
            let mut rng = Rng::new(seed);
            let args: Vec<Value> = op.params.iter().map(|_| random(dtype, &[70], Draw::Wide, &mut rng)).collect();
            let call = call.with_args(args.iter().map(Arg::from).collect());
            if takes(&call) && !op.facts.contains(&Fact::Partial) {
                run(&call, &format!("{} of {dtype}", op.name));
                tried += 1;
            }
        }
    }
    assert!(tried > 1000, "only {tried} calls were tried");
}

/// Checks one equation; false if the op does not take the dtype.
fn check(call: &Application, fact: Fact, dtype: DType, dims: &[usize], rng: &mut Rng) -> bool {
    let (segment, dims) =
        if call.op.class == Class::Segment { (Some(rows().1), vec![79]) } else { (None, dims.to_vec()) };
    let draw = if fact == Fact::Linear { Draw::Small } else { Draw::Wide };
    let x = random(dtype, &dims, draw, rng);
    let on = |x: &Value| call.with_args(std::iter::once(Arg::from(x)).chain(segment.as_ref().map(Arg::from)).collect());
    let what = format!("{} of {dtype}{dims:?}: {fact:?}", call.op.name);
    let apply = |x: &Value| run(&without_axes(on(x)), &what);
    match fact {
        Fact::Commutes => {
            let y = random(dtype, &[5], draw, rng);
            let y = if dims == [70] || dims.is_empty() { random(dtype, &dims, draw, rng) } else { y };
            let y = if dims == [2, 0] { random(dtype, &[1], draw, rng) } else { y };
            let both = |x: &Value, y: &Value| call.with_args(vec![x.into(), y.into()]);
            if !takes(&both(&x, &y)) {
                return false;
            }
            check_same(&run(&both(&x, &y), &what), &run(&both(&y, &x), &what), &what);
        }
        _ if !takes(&without_axes(on(&x))) => return false,
        Fact::Linear => {
            let Ok(doubled) = ops::multiply(&x, 2) else { return false };
            let (left, right) = (apply(&doubled), ops::multiply(apply(&x), 2).expect("numbers"));
            check_same(&left, &right, &what);
        }
        Fact::Idempotent => check_same(&apply(&apply(&x)), &apply(&x), &what),
        Fact::Involution => check_same(&apply(&apply(&x)), &x, &what),
        Fact::Constant => check_same(&apply(&x), &apply(&random(dtype, &dims, draw, rng)), &what),
        Fact::Covers => {
            // Of numbers, those that can be lengths.
            let rows = apply(&ops::bitwise_and(&x, 7).unwrap_or(x));
            let lengths = ops::row_lengths(&rows).expect("rows");
            check_same(&ops::partition_from_lengths(lengths).expect("lengths"), &rows, &what);
        }
        Fact::Partial => {
            let fails = |y: i64| call.with_args(vec![Arg::from(&x), Arg::from(y)]).call_one().is_err();
            if dtype.kind() != DTypeKind::Signed || dims.contains(&0) {
                return false;
            }
            assert!(fails(0) || fails(-1), "{what}");
        }
    }
    true
}

/// The application with the default attributes, if it has defaults for all: an example's axis may not exist here.
fn without_axes(call: Application) -> Application {
    let defaults: Option<Vec<_>> = call.op.attrs.params.iter().map(|p| (p.default)()).collect();
    match defaults.map(|defaults| (call.op.attrs.parse)(&defaults)) {
        Some(Ok(attrs)) => Application { attrs, ..call },
        _ => call,
    }
}
