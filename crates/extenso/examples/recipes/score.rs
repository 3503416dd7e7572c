//! How much a user will like a recipe: one ordinary function from a batch of records to a score for each.

use crate::log::WIDTH;
use extenso::prelude::*;
use extenso::{
    Answer, Call, Component, Error, Outputs, Result, Target, TypeDef, field_value, fill_none, is_none, on, ragged,
};
use extenso_testkit::rng::Rng;
use std::sync::Arc;

/// Buckets of title words, and the size of a bucket's embedding.
const BUCKETS: usize = 256;
const WORD_WIDTH: usize = 4;
/// Units of the hidden layer.
const HIDDEN: usize = 32;

/// What the ingredients of each recipe amount to: rows of amounts, some of which are missing.
#[derive(Clone, ExtensionType)]
#[extenso(name = "recipes/Amounts", handlers = handlers)]
struct Amounts {
    rows: RaggedTensor,
    #[extenso(static)]
    unit: String,
}

/// The sum of the amounts that are known, and which share is.
#[derive(Clone, ExtensionType)]
#[extenso(name = "recipes/Amount")]
struct Amount {
    total: Tensor,
    known: Tensor,
    #[extenso(static)]
    unit: String,
}

fn handlers(def: &Arc<TypeDef>) {
    on(Target::Op(&ops::SUM), def, "Amounts sum", sum_of_known);
}

/// The sum of amounts is an amount, which says how much of it is known.
fn sum_of_known(call: &Call<'_>) -> Answer {
    let amounts = Amounts::from_value(call.args[0].value()?)?;
    let rows = amounts.rows.into_value();
    let total = ops::sum(fill_none(&rows, 0.0)?, 1, false)?;
    let known = ops::sum(ops::cast(ops::logical_not(is_none(&rows, None)?)?, DType::F32)?, 1, false)?;
    let known = ops::divide(known, ops::maximum(count(&rows)?, 1.0)?)?;
    let sum = Amount { total: Tensor::of_value(&total)?, known: Tensor::of_value(&known)?, unit: amounts.unit };
    Ok(Some(Outputs::from_iter([sum.into_value()])))
}

/// The score of each recipe, with its title and what is known of its amounts.
pub fn score(args: Nest<Value>) -> Result<Nest<Value>> {
    let logs = args.leaves()[0].1.clone();
    let field = |path: &str| field_value(&logs, &path.parse()?);
    let title = field("recipe.title")?;
    let ingredients = field("recipe.ingredients[*].amount")?;
    let amounts = Amounts { rows: RaggedTensor::from_value(&ingredients)?, unit: "mixed".into() };
    let amount = Amount::from_value(&ops::sum(amounts.into_value(), 1, false)?)?;

    let taste = taste(&field("user_embedding")?, &field("user_rating")?)?;
    let features = [
        column(&taste)?,
        column(&ops::log1p(field("recipe.est_time")?)?)?,
        column(&ops::log1p(amount.total.clone())?)?,
        column(&amount.known.clone().into())?,
        column(&count(&ingredients)?)?,
        column(&count(&field("recipe.step")?)?)?,
        words(&title)?,
    ];
    let score = network(&ops::concat(features.to_vec(), 1)?)?;
    Ok(Nest::dict([
        ("title", Nest::Leaf(title)),
        ("score", Nest::Leaf(score)),
        ("amount", Nest::Leaf(amount.into_value())),
    ]))
}

/// The mean rating, in which raters who resemble the user weigh more; 3 where nobody rated.
fn taste(user: &Value, ratings: &Value) -> Result<Value> {
    let rater = field_value(ratings, &"[*].user_embedding".parse()?)?;
    let given = field_value(ratings, &"[*].score".parse()?)?;
    // [recipes, (raters), 16] against [recipes, 1, 16].
    let likeness = ops::sum(ops::multiply(rater, ops::expand_dims(user, 1)?)?, 2, false)?;
    let weight = ops::exp(ops::divide(likeness, 4.0)?)?;
    let (all, weighted) = (ops::sum(&weight, 1, false)?, ops::sum(ops::multiply(&weight, given)?, 1, false)?);
    let mean = ops::divide(weighted, ops::where_(ops::greater(&all, 0.0)?, &all, 1.0)?)?;
    ops::where_(ops::greater(&all, 0.0)?, mean, 3.0)
}

/// How many there are in each row, as a float.
fn count(rows: &Value) -> Result<Value> {
    ops::cast(ragged::num(rows.clone(), 1)?, DType::F32)
}

/// The sum of the embeddings of a title's words, and their number.
fn words(title: &Value) -> Result<Value> {
    let words = extenso::string_split(&ops::lower(title)?, None, -1)?;
    let buckets = ops::to_hash_bucket_fast(&words, int(BUCKETS)?)?;
    let of_words = ops::take(weights(1, &[BUCKETS, WORD_WIDTH])?, buckets, 0)?;
    ops::concat(vec![ops::sum(of_words, 1, false)?, column(&count(&words)?)?], 1)
}

/// Two dense layers and a squashing to between 0 and 1.
fn network(features: &Value) -> Result<Value> {
    let inputs = 6 + WORD_WIDTH + 1;
    let hidden =
        ops::relu(ops::add(ops::matmul(features, weights(2, &[inputs, HIDDEN])?, false)?, weights(3, &[HIDDEN])?)?)?;
    let out = ops::matmul(hidden, weights(4, &[HIDDEN, 1])?, false)?;
    ops::squeeze(ops::sigmoid(out)?, vec![1])
}

fn column(x: &Value) -> Result<Value> {
    ops::expand_dims(x, 1)
}

/// Seeded weights: what a training run would leave.
fn weights(seed: u64, dims: &[usize]) -> Result<Tensor> {
    let values = Rng::new(seed).f32s(dims.iter().product());
    let scale = 1.0 / (WIDTH as f32).sqrt();
    Tensor::new(dims, &values.iter().map(|v| v * scale).collect::<Vec<_>>())
}

fn int(n: usize) -> Result<i64> {
    i64::try_from(n).map_err(|_| Error::value(format!("{n} is too large")))
}
