//! The main job in small: orders as lines of JSON go in, totals come out, by one function that is traced, run and saved.
//!
//! Shows that a batch, its rows one by one, and the function loaded from its file give the same bytes; panics otherwise.

use extenso::formats::RecordSpec;
use extenso::prelude::*;
use extenso::{Component, Result};
use std::sync::Arc;
use std::time::Instant;

const ORDERS: usize = 4096;

/// An amount of money; the currency is known before any data is.
#[derive(Clone, ExtensionType)]
#[extenso(name = "shop/Money")]
struct Money {
    units: Tensor,
    #[extenso(static)]
    currency: String,
}

fn main() -> Result<()> {
    let function = Function::new("total", total).concrete(&Nest::Leaf(order_spec()?))?;
    describe(&function)?;

    let rows = orders(ORDERS, 7);
    let batch = run_ndjson(&function, rows.as_bytes(), OnError::Raise)?.value;
    measure(&function, rows.as_bytes())?;
    show(&rows, &batch);

    let path = std::env::temp_dir().join("orders.exo");
    save::save(&path, std::slice::from_ref(&function))?;
    let module = save::load(&path)?;
    let loaded = run_ndjson(module.function("total")?, rows.as_bytes(), OnError::Raise)?.value;
    println!("saved and loaded: {}", path.display());

    assert_eq!(row_by_row(&function, &rows)?, batch, "row by row differs from the batch");
    assert_eq!(loaded, batch, "the loaded function differs from the traced one");
    println!("batch = row by row = loaded, bit for bit, for {ORDERS} orders");
    Ok(())
}

/// An order: twelve leaves.
fn order_spec() -> Result<Spec> {
    let number = |dtype| FieldSpec::Scalar(dtype, vec![]);
    let item = FieldSpec::Record(vec![
        ("sku", number(DType::String)),
        ("quantity", number(DType::I32)),
        ("price", number(DType::F32)),
        ("weight", number(DType::F64)),
    ]);
    struct_spec([
        ("id", number(DType::I64)),
        ("embedding", FieldSpec::Scalar(DType::F32, vec![4])),
        ("discount", FieldSpec::Optional(Box::new(number(DType::F32)))),
        ("items", FieldSpec::List(Box::new(item))),
        ("tags", FieldSpec::List(Box::new(number(DType::String)))),
        ("note", number(DType::String)),
    ])
}

/// The total of each order after its discount, and the number of its items.
fn total(orders: Nest<Value>) -> Result<Nest<Value>> {
    let orders = StructTensor::from_value(orders.leaves()[0].1)?;
    let field = |path: &str| orders.field_value(&path.parse()?);
    let quantity = ops::cast(field("items[*].quantity")?, DType::F32)?;
    let lines = ops::multiply(field("items[*].price")?, quantity)?;
    let discount = extenso::fill_none(&field("discount")?, 0.0)?;
    let units = ops::multiply(ops::sum(&lines, -1, false)?, ops::subtract(1.0, discount)?)?;
    let money = Money { units: Tensor::of_value(&units)?, currency: "EUR".into() };
    let count = ops::row_lengths(RaggedTensor::from_value(&lines)?.partition())?;
    Ok(Nest::dict([("total", Nest::Leaf(money.into_value())), ("items", Nest::Leaf(count))]))
}

fn describe(function: &Concrete) -> Result<()> {
    let (graph, program) = (function.graph(), function.program());
    let records = RecordSpec::new(function.input(), &graph.needed_inputs())?;
    println!("signature: {} -> {}", function.input(), function.output());
    println!("needed leaves: {} of {}", records.needed_paths().len(), graph.inputs.len());
    records.needed_paths().iter().for_each(|path| println!("  {path}"));
    println!(
        "graph: {} ops; program: {} steps, of which {} are fused",
        graph.op_count(),
        program.len(),
        program.fused()
    );
    Ok(())
}

fn measure(function: &Arc<Concrete>, rows: &[u8]) -> Result<()> {
    let clock = Instant::now();
    run_ndjson(function, rows, OnError::Raise)?;
    println!("this run: {:.0} rows per second, JSON in and out", ORDERS as f64 / clock.elapsed().as_secs_f64());
    Ok(())
}

fn show(rows: &str, results: &[u8]) {
    let results = String::from_utf8_lossy(results);
    let pair = rows.lines().zip(results.lines()).next().unwrap_or_default();
    println!("the first order: {}\nits result: {}", pair.0, pair.1);
}

fn row_by_row(function: &Arc<Concrete>, rows: &str) -> Result<Vec<u8>> {
    let results = rows.lines().map(|row| Ok(run_ndjson(function, row.as_bytes(), OnError::Raise)?.value));
    results.collect::<Result<Vec<_>>>().map(|results| results.concat())
}

/// Lines of JSON, always the same for one seed.
fn orders(count: usize, seed: u64) -> String {
    let mut random = SplitMix64(seed);
    (0..count).map(|id| order(id, &mut random)).collect()
}

fn order(id: usize, random: &mut SplitMix64) -> String {
    let embedding: Vec<String> = (0..4).map(|_| format!("{:.3}", random.unit())).collect();
    // Absent, null, and given: the first two are both a missing value.
    let discount = match random.below(3) {
        0 => String::new(),
        1 => r#""discount": null, "#.to_string(),
        _ => format!(r#""discount": {:.2}, "#, random.unit() / 2.0),
    };
    let items: Vec<String> = (0..random.below(6)).map(|_| item(random)).collect();
    let tags: Vec<String> = (0..random.below(3)).map(|_| format!(r#""tag{}""#, random.below(20))).collect();
    let (embedding, items, tags) = (embedding.join(", "), items.join(", "), tags.join(", "));
    let head = format!(r#"{{"id": {id}, "embedding": [{embedding}], {discount}"#);
    format!("{head}\"items\": [{items}], \"tags\": [{tags}], \"note\": \"order {id}\"}}\n")
}

fn item(random: &mut SplitMix64) -> String {
    let (sku, quantity) = (random.below(1000), 1 + random.below(4));
    let (price, weight) = (random.unit() * 90.0 + 1.0, random.unit() * 5.0);
    format!(r#"{{"sku": "s{sku}", "quantity": {quantity}, "price": {price:.2}, "weight": {weight:.3}}}"#)
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}
