//! How long calls take, by criterion: `cargo bench -p extenso-testkit --bench times`.

#![allow(missing_docs)] // The macros of criterion make functions without a word.

mod work;

use criterion::{Criterion, criterion_group, criterion_main};

fn times(criterion: &mut Criterion) {
    for (name, make) in work::FEW.iter().chain(&work::MANY) {
        let mut made = None;
        criterion.bench_function(name, |bencher| {
            // Data are made for what the filter lets through alone.
            let work = made.get_or_insert_with(|| make().expect("the data are valid"));
            bencher.iter(|| work.run());
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).measurement_time(std::time::Duration::from_secs(3));
    targets = times
}
criterion_main!(benches);
