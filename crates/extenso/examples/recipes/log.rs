//! A log of recipes that users rated: its spec, and lines of it, always the same for one seed.

use extenso::prelude::*;
use extenso::{Result, Spec};
use extenso_testkit::rng::Rng;
use std::fmt::Write;

/// The size of an embedding.
pub const WIDTH: usize = 16;

const DISHES: [&str; 8] = ["Soup", "Stew", "Curry", "Salad", "Pie", "Gratin", "Risotto", "Tart"];
const MANNERS: [&str; 6] = ["Quick", "Slow Roasted", "Grandma's", "Spicy", "Crispy", "Größere"];
const THINGS: [&str; 8] = ["carrot", "leek", "potato", "rice", "chickpea", "onion", "cream", "thyme"];
const UNITS: [&str; 4] = ["g", "ml", "piece", "pinch"];

/// What is known of a batch of records.
pub fn spec() -> Result<Spec> {
    let scalar = |dtype| FieldSpec::Scalar(dtype, vec![]);
    let embedding = || FieldSpec::Scalar(DType::F32, vec![WIDTH]);
    let list = |item| FieldSpec::List(Box::new(item));
    let ingredient = FieldSpec::Record(vec![
        ("amount", FieldSpec::Optional(Box::new(scalar(DType::F32)))),
        ("unit", scalar(DType::String)),
        ("name", scalar(DType::String)),
    ]);
    let recipe = FieldSpec::Record(vec![
        ("title", scalar(DType::String)),
        ("est_time", scalar(DType::F32)),
        ("ingredients", list(ingredient)),
        ("step", list(FieldSpec::Record(vec![("description", scalar(DType::String))]))),
    ]);
    let rating = FieldSpec::Record(vec![("user_embedding", embedding()), ("score", scalar(DType::F32))]);
    struct_spec([("user_embedding", embedding()), ("recipe", recipe), ("user_rating", list(rating))])
}

/// Lines of JSON.
pub fn lines(count: usize, seed: u64) -> String {
    let mut random = Rng::new(seed);
    let mut out = String::new();
    for _ in 0..count {
        let (user, recipe) = (embedding(&mut random), recipe(&mut random));
        let ratings: Vec<String> = (0..random.below(51)).map(|_| rating(&mut random)).collect();
        let ratings = ratings.join(",");
        let _ = writeln!(out, r#"{{"user_embedding":{user},"recipe":{recipe},"user_rating":[{ratings}]}}"#);
    }
    out
}

fn embedding(random: &mut Rng) -> String {
    let numbers: Vec<String> = (0..WIDTH).map(|_| format!("{:.3}", random.unit())).collect();
    format!("[{}]", numbers.join(","))
}

fn recipe(random: &mut Rng) -> String {
    let title = format!("{} {} {}", random.pick(&MANNERS), random.pick(&THINGS), random.pick(&DISHES));
    let time = 5 * (1 + random.below(24));
    let ingredients: Vec<String> = (0..random.below(21)).map(|_| ingredient(random)).collect();
    let steps: Vec<String> = (0..random.below(8)).map(|i| format!(r#"{{"description":"Step {i}."}}"#)).collect();
    let (ingredients, steps) = (ingredients.join(","), steps.join(","));
    format!(r#"{{"title":"{title}","est_time":{time},"ingredients":[{ingredients}],"step":[{steps}]}}"#)
}

fn ingredient(random: &mut Rng) -> String {
    // Null, absent, and given: the first two are both a missing amount.
    let amount = match random.below(8) {
        0 => String::new(),
        1 => r#""amount":null,"#.to_string(),
        _ => format!(r#""amount":{:.1},"#, (random.unit() + 1.0) * 200.0),
    };
    format!(r#"{{{amount}"unit":"{}","name":"{}"}}"#, random.pick(&UNITS), random.pick(&THINGS))
}

fn rating(random: &mut Rng) -> String {
    format!(r#"{{"user_embedding":{},"score":{}}}"#, embedding(random), 1 + random.below(5))
}
