//! How many instructions calls take, by gungraun: `cargo bench -p extenso-testkit --features counts --bench counts`.
//!
//! It needs valgrind, and the command `gungraun-runner` of the version that Cargo.toml names.

#![allow(missing_docs)] // The macros of gungraun make functions without a word.

mod work;

use gungraun::{library_benchmark, library_benchmark_group, main};
use work::Work;

/// The call of this place in the list, made and called once: what is counted is a call like the last.
fn warm(place: usize) -> Work {
    let work = work::FEW[place].1().expect("the data are valid");
    work.run();
    work
}

#[library_benchmark(setup = warm)]
#[bench::add_8(0)]
#[bench::masked_add_8(1)]
#[bench::layers_1(2)]
fn counts(work: Work) {
    work.run();
}

library_benchmark_group!(name = calls; benchmarks = counts);
main!(library_benchmark_groups = calls);
