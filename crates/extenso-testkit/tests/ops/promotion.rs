//! Numbers of one kind beside each other are promoted before an op sees them: one rule of the call pipeline, no op's own.

use crate::support::{check_same, examples_of, values_of, with_values};
use extenso_core::{Arg, OpDef, Value, call, ops};
use extenso_testkit::eval::{Application, Closeness, difference};
use extenso_types::{DType, LeafSpec};

#[test]
fn an_op_of_two_dtypes_is_the_op_on_the_dtype_that_holds_both() {
    let mut compared = 0;
    for example in mixable() {
        for (position, narrow, wide) in changes(&example) {
            let (mixed, alone) = (retyped(&example, narrow, Some((position, wide))), retyped(&example, wide, None));
            if !takes(&example, &alone) || !holds(narrow, wide, &alone) {
                continue;
            }
            let what = format!("{} of {narrow}, and {wide} in argument {}", example.op.name, position + 1);
            let of = |values: &[Value]| {
                let applied = with_values(&example, values);
                call(applied.op, &applied.args, &*applied.attrs)
            };
            // The numbers of some examples are others in this dtype, and wrong ones.
            let Ok(want) = of(&alone) else { continue };
            let got = of(&mixed).unwrap_or_else(|e| panic!("{what}: {e}"));
            got.iter().zip(&want).for_each(|(got, want)| check_same(got, want, &what));
            compared += 1;
        }
    }
    assert!(compared >= 150, "only {compared} calls were compared");
}

#[test]
fn an_argument_of_a_dtype_of_its_own_stands_apart() {
    let mut taken = Vec::new();
    for example in mixable() {
        for (position, narrow, wide) in changes(&example) {
            if takes(&example, &retyped(&example, narrow, Some((position, wide)))) {
                taken.push(format!("{}: argument {}, {narrow} beside {wide}", example.op.name, position + 1));
            }
        }
    }
    taken.dedup();
    assert!(taken.is_empty(), "taken as they are, and so to be declared `apart`:\n{}", taken.join("\n"));
}

/// The examples whose arguments are tensors and partitions, each in its place.
fn mixable() -> impl Iterator<Item = Application> {
    let given = |arg: &Arg| matches!(arg, Arg::Value(value) if value.ext().is_err());
    let plain = move |call: &Application| match call.args.as_slice() {
        [Arg::List(items)] => items.iter().all(given),
        args => args.iter().all(given),
    };
    extenso_graph::tables().flat_map(examples_of).map(|example| example.call).filter(plain)
}

/// Whether the narrow dtype holds all values of the wide one.
fn holds(narrow: DType, wide: DType, values: &[Value]) -> bool {
    let cast = |value: &Value, dtype| ops::cast(value, dtype).expect("numbers");
    let of_wide = |value: &&Value| value.tensor().is_ok_and(|t| t.dtype() == wide);
    let same = |value: &Value| difference(&cast(&cast(value, narrow), wide), value, Closeness::Bits);
    values.iter().filter(of_wide).all(|value| same(value).is_ok_and(|differs| differs.is_none()))
}

/// Whether the op takes the values as they are.
fn takes(example: &Application, values: &[Value]) -> bool {
    let specs: Vec<LeafSpec> = values.iter().map(|v| v.leaf_spec().expect("leaves")).collect();
    example.op.infer(&specs, &*example.attrs).is_ok()
}

/// The positions of arguments whose dtype is that of others, with a dtype for the others and a wider one for it.
fn changes(example: &Application) -> Vec<(usize, DType, DType)> {
    let values = values_of(example);
    let sharing: Vec<usize> = (0..values.len()).filter(|i| shares(example.op, &values, *i)).collect();
    if sharing.len() < 2 {
        return Vec::new();
    }
    let pairs = [(DType::I32, DType::I64), (DType::U8, DType::I32), (DType::F32, DType::F64), (DType::F16, DType::F32)];
    sharing.into_iter().flat_map(|i| pairs.map(|(narrow, wide)| (i, narrow, wide))).collect()
}

/// Whether the value is of numbers whose dtype the others of its kind have too.
fn shares(op: &OpDef, values: &[Value], position: usize) -> bool {
    let numbers = values[position].tensor().is_ok_and(|t| t.dtype().is_numeric());
    numbers && position >= op.like && !op.apart.contains(&position)
}

/// The values of the example with those that share a dtype in this one, and one of them in another.
fn retyped(example: &Application, dtype: DType, other: Option<(usize, DType)>) -> Vec<Value> {
    let values = values_of(example);
    let of = |i: usize| other.filter(|(at, _)| *at == i).map_or(dtype, |(_, wide)| wide);
    (0..values.len())
        .map(|i| match shares(example.op, &values, i) {
            true => ops::cast(&values[i], of(i)).expect("numbers of an example fit"),
            false => values[i].clone(),
        })
        .collect()
}
