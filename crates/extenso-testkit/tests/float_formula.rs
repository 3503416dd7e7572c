//! Invariant 4: for a function that treats rows independently, eager = traced = fused = loaded, row = batch, any number of
//! threads, any instruction set. Bit for bit.

use extenso_core::kernels::isa::{Isa, isa, supported, with_isa};
use extenso_core::{Offsets, RowPartition, Tensor, Value, ops, with_threads};
use extenso_graph::save::{from_bytes, to_bytes};
use extenso_graph::{Concrete, Function};
use extenso_testkit::functions::{RaggedFunction, RowFunction, bits, digest};
use extenso_testkit::rng::Rng;
use extenso_types::{DType, Nest};
use std::io::Write;
use std::sync::Arc;

const FUNCTIONS: u64 = 40;
const DTYPES: [DType; 4] = [DType::F16, DType::BF16, DType::F32, DType::F64];

fn traced(name: &str, f: impl Fn(&[Value]) -> extenso_types::Result<Value> + Send + Sync + 'static) -> Function {
    Function::new(name, move |args| {
        let leaves: Vec<Value> = args.leaves().into_iter().map(|(_, v)| v.clone()).collect();
        Ok(Nest::Leaf(f(&leaves)?))
    })
}

fn args(values: &[Value]) -> Nest<Value> {
    Nest::Tuple(values.iter().cloned().map(Nest::Leaf).collect())
}

fn run(f: &Concrete, values: &[Value]) -> Vec<u64> {
    match f.call(&args(values)).expect("runs") {
        Nest::Leaf(value) => bits(&value).expect("floats"),
        other => panic!("{other:?}"),
    }
}

fn loaded(f: &Arc<Concrete>) -> Arc<Concrete> {
    let module = from_bytes(to_bytes(std::slice::from_ref(f)).expect("saves")).expect("loads");
    module.functions[0].clone()
}

/// The numbers that arguments are made of.
#[derive(Clone, Copy)]
enum Draw {
    /// In [-1, 1).
    Unit,
    /// These, and a few infinities, zeros and NaNs of both signs.
    Special,
}

impl Draw {
    /// Every fourth argument has special numbers.
    fn of(i: usize) -> Draw {
        if i % 4 == 3 { Draw::Special } else { Draw::Unit }
    }

    /// Floats that begin three elements into their buffer, so that neither they nor their rows are aligned.
    fn floats(self, dtype: DType, dims: &[usize], rng: &mut Rng) -> Tensor {
        let n = dims.iter().product();
        let mut numbers = rng.f32s(3 + n);
        let special = [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0];
        match self {
            Draw::Unit => {}
            Draw::Special => (0..5).for_each(|_| numbers[3 + rng.below(n)] = *rng.pick(&special)),
        }
        let stored = ops::cast(Tensor::from_vec(numbers), dtype).expect("floats");
        let odd = stored.tensor().expect("a tensor").slice_rows(3, n).expect("in range");
        odd.with_dims(dims).expect("as many")
    }
}

/// Checks that `run` gives the bits wanted for any number of threads and under any instruction set.
fn check_everywhere(run: impl Fn() -> Vec<u64>, wanted: &[u64], what: &str) {
    for &isa in supported() {
        for threads in [1, 2, 3] {
            let got = with_threads(threads, || with_isa(isa, &run));
            assert!(got == wanted, "{what}, {threads} threads, {isa}");
        }
    }
}

/// Checks every way to run a function on a batch of rows.
fn check_rows(f: &RowFunction, batch: &Tensor, what: &str) {
    let what = format!("{what}, {}", batch.spec());
    let rows = batch.data().expect("data").dims()[0];
    let f = f.clone().of(batch.dtype()).expect("floats");
    let eager = || bits(&f.call(&batch.clone().into()).expect("runs")).expect("floats");
    let wanted = with_threads(1, eager);
    check_everywhere(eager, &wanted, &format!("{what}, eager"));

    let (body, per_row) = (f.clone(), wanted.len() / rows);
    let function = traced("f", move |a| body.call(&a[0]));
    function.call(args(&[batch.clone().into()])).expect("runs");
    let row = |i: usize| batch.slice_rows(i, 1).expect("a row").into();
    function.call(args(&[row(0)])).expect("generalises");
    let concrete = function.traces()[0].clone();
    for (f, way) in [(&concrete, "traced"), (&loaded(&concrete), "loaded")] {
        check_everywhere(|| run(f, &[batch.clone().into()]), &wanted, &format!("{what}, {way}"));
        for i in 0..rows {
            assert_eq!(run(f, &[row(i)]), wanted[i * per_row..][..per_row], "{what}, {way}, row {i}");
        }
    }
}

#[test]
fn every_way_to_run_gives_the_same_bits() {
    let generated = (0..FUNCTIONS).map(|seed| RowFunction::generate(seed).expect("generates"));
    let drawn = generated.enumerate().map(|(i, f)| (f, Draw::of(i)));
    let fixed = RowFunction::fixed(4096).expect("fixed").into_iter().map(|f| (f, Draw::Unit));
    let functions: Vec<_> = drawn.chain(fixed).collect();
    for (i, (f, draw)) in functions.iter().enumerate() {
        let mut rng = Rng::new(i as u64 ^ 0xfeed);
        let rows = 1 + rng.below(9);
        for dtype in DTYPES {
            check_rows(f, &draw.floats(dtype, &[rows, f.width()], &mut rng), &format!("function {i}"));
        }
    }
    for transposed in [false, true] {
        let wide = functions.iter().filter(|(f, _)| f.multiplies(4096, transposed)).count();
        assert!(wide > 0, "no weights with an inner size of 4096, transposed: {transposed}");
    }
}

/// Batches above the sizes from which chains (2^18 elements), folds (2^17) and products (2^21 multiply-adds) are split.
#[test]
fn work_that_is_split_over_threads_gives_the_same_bits() {
    let mut rng = Rng::new(80);
    for dtype in [DType::F32, DType::F64] {
        let batch = Draw::Unit.floats(dtype, &[80, 4096], &mut rng);
        for (i, f) in RowFunction::fixed(4096).expect("fixed").iter().enumerate() {
            check_rows(f, &batch, &format!("fixed function {i}"));
        }
    }
}

/// Checks every way to run a function on ragged rows.
fn check_ragged(f: &RaggedFunction, values: &Tensor, lengths: &[usize], what: &str) {
    let what = format!("{what}, {}", values.dtype());
    let rows = RowPartition::from_lengths(lengths.iter().copied()).expect("proven");
    let eager = |values: &Tensor, rows: &RowPartition| {
        bits(&f.call(&values.clone().into(), rows).expect("runs")).expect("floats")
    };
    let wanted = with_threads(1, || eager(values, &rows));
    check_everywhere(|| eager(values, &rows), &wanted, &format!("{what}, eager"));

    let body = f.clone();
    let function = traced("f", move |a| body.call(&a[0], a[1].partition()?));
    let both = [Value::from(values.clone()), Value::from(rows.clone())];
    function.call(args(&both)).expect("runs");
    let concrete = function.traces()[0].clone();
    for (f, way) in [(&concrete, "traced"), (&loaded(&concrete), "loaded")] {
        check_everywhere(|| run(f, &both), &wanted, &format!("{what}, {way}"));
    }
    let mut start = 0;
    for (i, n) in lengths.iter().enumerate() {
        let alone = values.slice_rows(start, *n).expect("a row");
        let row = RowPartition::from_offsets(Offsets::from_lengths([*n]).expect("a length"), *n).expect("proven");
        assert_eq!(eager(&alone, &row), wanted[i..=i], "{what}, row {i} of {n}");
        start += n;
    }
}

#[test]
fn ragged_rows_give_the_same_bits_alone_and_together() {
    for (i, seed) in (0..FUNCTIONS).enumerate() {
        let mut rng = Rng::new(seed ^ 0xbeef);
        let length = |_| *rng.pick(&[0, 1, 2, 7, 15, 16, 17, 31, 33, 500, 1024, 1025, 3000]);
        let lengths: Vec<usize> = (0..20).map(length).collect();
        let f = RaggedFunction::generate(seed);
        for dtype in DTYPES {
            let values = Draw::of(i).floats(dtype, &[lengths.iter().sum()], &mut rng);
            check_ragged(&f, &values, &lengths, &format!("seed {seed}"));
        }
    }
}

/// Enough values that every fold of rows is split.
#[test]
fn ragged_rows_that_are_split_over_threads_give_the_same_bits() {
    let mut rng = Rng::new(200);
    let (mut lengths, mut left) = (Vec::new(), 200_000_usize);
    while left > 0 {
        let n = (*rng.pick(&[0, 1, 17, 100, 1025, 9000])).min(left);
        lengths.push(n);
        left -= n;
    }
    for dtype in [DType::F32, DType::F64] {
        let values = Draw::Unit.floats(dtype, &[200_000], &mut rng);
        for f in RaggedFunction::fixed() {
            check_ragged(&f, &values, &lengths, &format!("{f:?}"));
        }
    }
}

/// Says which instruction sets took part; a run that leaves one out proves less.
#[test]
fn every_instruction_set_of_the_machine_takes_part() {
    for &wanted in supported() {
        assert_eq!(with_isa(wanted, isa), wanted);
    }
    #[cfg(target_arch = "x86_64")]
    {
        let able = [(Isa::Avx2, is_x86_feature_detected!("avx2")), (Isa::Avx512, is_x86_feature_detected!("avx512bw"))];
        for (isa, able) in able {
            assert_eq!(supported().contains(&isa), able, "{isa}");
        }
    }
    let names: Vec<String> = supported().iter().map(Isa::to_string).collect();
    // Not by a macro of print, whose output a test that passes does not show.
    writeln!(std::io::stderr(), "instruction sets that ran: {}", names.join(", ")).expect("stderr");
}

/// Prints one digest over all functions, for the test below, which runs it under each instruction set.
#[test]
fn digest_of_all_functions() {
    let mut total = 0_u64;
    for seed in 0..FUNCTIONS {
        let f = RowFunction::generate(seed).expect("generates");
        let x = Tensor::new(&[3, f.width()], &Rng::new(seed).f32s(3 * f.width())).expect("a tensor");
        total = total.rotate_left(7) ^ digest(&f.call(&x.into()).expect("runs")).expect("floats");
    }
    println!("digest {total:016x} isa {}", isa());
}

#[test]
fn the_environment_chooses_the_instruction_set_and_no_bit() {
    let binary = std::env::current_exe().expect("this test");
    let digest = |isa: Isa| {
        let output = std::process::Command::new(&binary)
            .args(["digest_of_all_functions", "--exact", "--nocapture", "--test-threads=1"])
            .env("EXTENSO_ISA", isa.to_string())
            .output()
            .expect("runs");
        let text = String::from_utf8_lossy(&output.stdout).to_string();
        let line = text.lines().find_map(|l| l.split_once("digest ")).expect("a digest").1.to_string();
        let (digest, used) = line.split_once(" isa ").expect("an isa");
        assert!(used.starts_with(&isa.to_string()), "{used}");
        digest.to_string()
    };
    let all: Vec<String> = supported().iter().map(|isa| digest(*isa)).collect();
    assert!(all.windows(2).all(|w| w[0] == w[1]), "{all:?}");
}
