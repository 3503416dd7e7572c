//! Examples as applications, and values made from seeds.

use extenso_core::{Arg, OpDef, Provenance, RowPartition, Tensor, Value, ops, pack};
use extenso_testkit::case::{Expr, parse_expr};
use extenso_testkit::eval::{Application, Closeness, Scope, difference, show, value};
use extenso_testkit::rng::Rng;
use extenso_types::{DType, DTypeKind, Nest};

/// An example of a declaration.
pub struct Example {
    pub text: &'static str,
    pub call: Application,
    pub wanted: Value,
}

/// Every example of every op.
pub fn examples() -> Vec<Example> {
    extenso_graph::tables().flat_map(examples_of).collect()
}

/// The examples of one op.
pub fn examples_of(op: &'static OpDef) -> Vec<Example> {
    let read = |(text, wanted): &(&'static str, &'static str)| {
        let (call, wanted) = in_dtype(text, wanted, None);
        Example { text, call, wanted }
    };
    op.examples.iter().map(read).collect()
}

/// The call and the result with lists of floats in a dtype.
pub fn in_dtype(text: &str, wanted: &str, dtype: Option<&str>) -> (Application, Value) {
    let read = |text: &str| parse_expr(text).unwrap_or_else(|e| panic!("{text}: {e}"));
    let (mut call, mut wanted) = (read(text), read(wanted));
    if let Some(dtype) = dtype {
        call = floats_as(call, dtype);
        wanted = if has_float(&wanted) { typed(wanted, dtype) } else { wanted };
    }
    let scope = Scope::default();
    let call = Application::of(&call, &scope).unwrap_or_else(|e| panic!("{text}: {e}"));
    (call, value(&wanted, &scope).unwrap_or_else(|e| panic!("{text}: {e}")))
}

fn floats_as(expr: Expr, dtype: &str) -> Expr {
    match expr {
        Expr::List(_) if has_float(&expr) => typed(expr, dtype),
        Expr::Tuple(items) => Expr::Tuple(items.into_iter().map(|item| floats_as(item, dtype)).collect()),
        Expr::Call { function, args, kwargs } => {
            Expr::Call { function, args: args.into_iter().map(|arg| floats_as(arg, dtype)).collect(), kwargs }
        }
        other => other,
    }
}

fn typed(expr: Expr, dtype: &str) -> Expr {
    Expr::Call { function: dtype.to_string(), args: vec![expr], kwargs: Vec::new() }
}

fn has_float(expr: &Expr) -> bool {
    match expr {
        Expr::Float(_) => true,
        Expr::List(items) => items.iter().any(has_float),
        _ => false,
    }
}

/// The values among the arguments, lists included.
pub fn values_of(call: &Application) -> Vec<Value> {
    fn push(arg: &Arg, out: &mut Vec<Value>) {
        match arg {
            Arg::Value(value) => out.push(value.clone()),
            Arg::Scalar(_) => {}
            Arg::List(items) => items.iter().for_each(|item| push(item, out)),
        }
    }
    let mut out = Vec::new();
    call.args.iter().for_each(|arg| push(arg, &mut out));
    out
}

/// The application with other values in the places of its own.
pub fn with_values(call: &Application, values: &[Value]) -> Application {
    fn replace(arg: &Arg, values: &mut std::slice::Iter<'_, Value>) -> Arg {
        match arg {
            Arg::Value(_) => Arg::Value(values.next().expect("as many values").clone()),
            Arg::Scalar(_) => arg.clone(),
            Arg::List(items) => Arg::List(items.iter().map(|item| replace(item, values)).collect()),
        }
    }
    let mut values = values.iter();
    call.with_args(call.args.iter().map(|arg| replace(arg, &mut values)).collect())
}

/// The values as arguments of a function.
pub fn nest(values: &[Value]) -> Nest<Value> {
    Nest::Tuple(values.iter().cloned().map(Nest::Leaf).collect())
}

/// Checks that both have the same bits.
pub fn check_same(got: &Value, want: &Value, what: &str) {
    let differs = difference(got, want, Closeness::Bits).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert!(
        differs.is_none(),
        "{what}: {}\n  wanted {}\n  got    {}",
        differs.unwrap_or_default(),
        show(want),
        show(got)
    );
}

/// The only output of a call.
pub fn run(call: &Application, what: &str) -> Value {
    call.call_one().unwrap_or_else(|e| panic!("{what}: {e}"))
}

/// How numbers are drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Draw {
    /// Small whole numbers from 0, with which floats compute exactly.
    Small,
    /// The whole range, infinities, NaN and both zeros included.
    Wide,
}

/// A tensor of any dtype but variant.
pub fn random(dtype: DType, dims: &[usize], draw: Draw, rng: &mut Rng) -> Value {
    let n: usize = dims.iter().product();
    let shaped = |tensor: Tensor| Value::from(tensor.with_dims(dims).expect("as many"));
    match (dtype.kind(), draw) {
        (DTypeKind::Bool, _) => {
            shaped(Tensor::bools(&[n], &(0..n).map(|_| rng.below(2) == 0).collect::<Vec<_>>()).expect("bits"))
        }
        (DTypeKind::Text, _) => {
            let texts: Vec<String> = (0..n).map(|_| text(rng)).collect();
            shaped(match dtype {
                DType::Bytes => Tensor::byte_strings(&[n], &texts).expect("bytes"),
                _ => Tensor::strings(&[n], &texts).expect("strings"),
            })
        }
        (DTypeKind::Float, Draw::Wide) => {
            let special = [0.0, -0.0, 1.0, -1.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e-30, 6e4, 0.1];
            let floats: Vec<f64> =
                (0..n).map(|i| if i % 3 == 0 { *rng.pick(&special) } else { 8.0 * rng.unit() }).collect();
            cast(shaped(Tensor::from_vec(floats)), dtype)
        }
        (_, Draw::Wide) => {
            let bits = (0..n).map(|_| i64::from_ne_bytes(rng.next_u64().to_ne_bytes())).collect();
            cast(shaped(Tensor::from_vec::<i64>(bits)), dtype)
        }
        (_, Draw::Small) => {
            let numbers = (0..n).map(|_| i64::try_from(rng.below(8)).expect("small")).collect();
            cast(shaped(Tensor::from_vec::<i64>(numbers)), dtype)
        }
    }
}

fn cast(value: Value, dtype: DType) -> Value {
    ops::cast(value, dtype).expect("numbers")
}

fn text(rng: &mut Rng) -> String {
    let parts = ["a", "B", "ß", "ΟΔΟΣ", "σ", " ", "İ", "ŉ", "ﬁ", "日本", "e\u{301}", "1"];
    (0..rng.below(4)).map(|_| *rng.pick(&parts)).collect()
}

/// A value of the same spec whose floats are drawn from [-1, 1).
pub fn random_like(value: &Value, rng: &mut Rng) -> Value {
    let mut leaves = Vec::new();
    value.push_leaves(&mut leaves).expect("taken apart");
    for leaf in &mut leaves {
        if let Value::Tensor(t) = leaf
            && t.dtype() == DType::F64
        {
            let dims = t.data().expect("data").dims();
            let floats: Vec<f64> = (0..dims.iter().product()).map(|_| rng.unit()).collect();
            *leaf = Tensor::new(dims, &floats).expect("as many").into();
        }
    }
    pack(&value.spec().expect("a spec"), &mut leaves.into_iter(), Provenance::Trusted).expect("rebuilt")
}

/// Rows of different lengths, some empty.
pub fn rows() -> (Vec<usize>, RowPartition) {
    let lengths = vec![3, 0, 1, 70, 0, 5];
    (lengths.clone(), RowPartition::from_lengths(lengths).expect("proven"))
}

/// The dtypes that tensors of elements have.
pub fn dtypes() -> impl Iterator<Item = DType> {
    DType::all().filter(|dtype| *dtype != DType::Variant)
}

/// Whether the op takes these arguments.
pub fn takes(call: &Application) -> bool {
    let specs: Vec<_> = call.args.iter().filter_map(|arg| arg.value().ok()?.leaf_spec().ok()).collect();
    specs.len() == call.args.len() && call.op.infer(&specs, &*call.attrs).is_ok()
}
