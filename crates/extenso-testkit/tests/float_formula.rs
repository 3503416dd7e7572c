//! Invariant 4: for a function that treats rows independently, eager = traced = fused = loaded, row = batch, any number of
//! threads, any instruction set. Bit for bit.

use extenso_core::kernels::isa::{Isa, supported, with_isa};
use extenso_core::{Offsets, RowPartition, Tensor, Value, with_threads};
use extenso_graph::save::{from_bytes, to_bytes};
use extenso_graph::{Concrete, Function};
use extenso_testkit::functions::{RaggedFunction, RowFunction, bits, digest};
use extenso_testkit::rng::Rng;
use extenso_types::Nest;
use std::sync::Arc;

const FUNCTIONS: u64 = 40;

fn traced(name: &str, f: impl Fn(&[Value]) -> extenso_types::Result<Value> + Send + Sync + 'static) -> Function {
    Function::new(name, move |args| {
        let leaves: Vec<Value> = args.leaves().into_iter().map(|(_, v)| v.clone()).collect();
        Ok(Nest::Leaf(f(&leaves)?))
    })
}

fn args(values: &[Value]) -> Nest<Value> {
    Nest::Tuple(values.iter().cloned().map(Nest::Leaf).collect())
}

fn run(f: &Concrete, values: &[Value]) -> Vec<u32> {
    match f.call(&args(values)).expect("runs") {
        Nest::Leaf(value) => bits(&value).expect("floats"),
        other => panic!("{other:?}"),
    }
}

fn loaded(f: &Arc<Concrete>) -> Arc<Concrete> {
    let module = from_bytes(to_bytes(std::slice::from_ref(f)).expect("saves")).expect("loads");
    module.functions[0].clone()
}

#[test]
fn every_way_to_run_gives_the_same_bits() {
    let mut wide = 0;
    for seed in 0..FUNCTIONS {
        let f = RowFunction::generate(seed).expect("generates");
        wide += usize::from(f.multiplies(1000));
        let mut rng = Rng::new(seed ^ 0xfeed);
        let rows = 1 + rng.below(9);
        // One row in front is sliced off, so that rows lie at odd offsets.
        let stored = Tensor::new(&[rows + 1, f.width()], &rng.f32s((rows + 1) * f.width())).expect("a tensor");
        let batch = stored.slice_rows(1, rows).expect("rows");
        let expected = bits(&f.call(&batch.clone().into()).expect("runs")).expect("floats");
        let per_row = expected.len() / rows;

        let body = f.clone();
        let function = traced("f", move |a| body.call(&a[0]));
        function.call(args(&[batch.clone().into()])).expect("runs");
        let single = batch.slice_rows(0, 1).expect("a row");
        function.call(args(&[single.into()])).expect("generalises");
        let concrete = function.traces()[0].clone();
        let loaded = loaded(&concrete);

        for f in [&concrete, &loaded] {
            for threads in [1, 2] {
                assert_eq!(
                    with_threads(threads, || run(f, &[batch.clone().into()])),
                    expected,
                    "seed {seed}, {threads} threads"
                );
            }
            for &isa in supported() {
                assert_eq!(with_isa(isa, || run(f, &[batch.clone().into()])), expected, "seed {seed}, {isa}");
            }
            for row in 0..rows {
                let one = batch.slice_rows(row, 1).expect("a row");
                assert_eq!(
                    run(f, &[one.into()]),
                    expected[row * per_row..(row + 1) * per_row],
                    "seed {seed}, row {row}"
                );
            }
        }
    }
    assert!(wide >= 3, "weights with an inner size of 1000 and more: {wide}");
}

#[test]
fn ragged_rows_give_the_same_bits_alone_and_together() {
    for seed in 0..FUNCTIONS {
        let f = RaggedFunction::generate(seed);
        let mut rng = Rng::new(seed ^ 0xbeef);
        let lengths: Vec<usize> =
            (0..20).map(|_| *rng.pick(&[0, 1, 2, 7, 15, 16, 17, 31, 33, 500, 1024, 1025, 3000])).collect();
        let total: usize = lengths.iter().sum();
        let values = Tensor::from_vec(rng.f32s(total));
        let rows = RowPartition::from_lengths(lengths.clone()).expect("proven");
        let expected = bits(&f.call(&values.clone().into(), &rows).expect("runs")).expect("floats");
        let body = f.clone();
        let function = traced("f", move |a| body.call(&a[0], a[1].partition()?));
        let both = [Value::from(values.clone()), Value::from(rows.clone())];
        function.call(args(&both)).expect("runs");
        let concrete = function.traces()[0].clone();
        for f in [&concrete, &loaded(&concrete)] {
            for threads in [1, 2] {
                assert_eq!(with_threads(threads, || run(f, &both)), expected, "seed {seed}");
            }
            for &isa in supported() {
                assert_eq!(with_isa(isa, || run(f, &both)), expected, "seed {seed}, {isa}");
            }
        }
        let mut start = 0;
        for (i, n) in lengths.iter().enumerate() {
            let alone = values.slice_rows(start, *n).expect("a row");
            let row = RowPartition::from_offsets(Offsets::from_lengths([*n]), *n).expect("proven");
            let got = bits(&f.call(&alone.into(), &row).expect("runs")).expect("floats");
            assert_eq!(got, expected[i..=i], "seed {seed}, row {i} of {n}");
            start += n;
        }
    }
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
    println!("digest {total:016x} isa {}", extenso_core::kernels::isa::isa());
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
