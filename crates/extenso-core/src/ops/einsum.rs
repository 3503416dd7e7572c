//! Products and sums in the notation of Einstein: `einsum` reads the subscripts, [`contract`](super::contract) computes.

use super::contract::{Label, Labelled, contract};
use crate::call::strengthen;
use crate::value::{Arg, Value};
use extenso_types::{Error, Result};

/// The product of the operands, summed over every subscript that the result does not have.
///
/// `subscripts` name the axes of each operand by letters, with commas between operands, and after `->` those of the result; `...`
/// stands for axes that broadcast, of any number. Without `->` the result has the axes of `...`, then the letters that stand once,
/// in alphabetical order. A letter that stands twice in an operand is its diagonal. As in NumPy, spaces do not count, and an
/// axis of size 1 is stretched.
///
/// Shapes: what the subscripts say. Two operands at a time are multiplied, those first whose product has the fewest axes, by `matmul` wherever a subscript is summed.
/// Errors: subscripts that do not read so, or do not fit the operands; sizes of a letter that differ; dtypes that differ or are
/// not numbers.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let x = Tensor::new(&[2, 2], &[1, 2, 3, 4]).unwrap();
/// assert_eq!(ops::einsum("ij,kj->ik", vec![x.clone(), x.clone()]).unwrap().to_string(), "[[5, 11], [11, 25]]");
/// assert_eq!(ops::einsum("ii", vec![x]).unwrap().to_string(), "5");
/// ```
pub fn einsum<A: Into<Arg>>(subscripts: &str, operands: impl IntoIterator<Item = A>) -> Result<Value> {
    let operands: Vec<Arg> = operands.into_iter().map(Into::into).collect();
    summed_product(subscripts, &operands).map_err(|e| e.at_part("einsum"))
}

fn summed_product(subscripts: &str, operands: &[Arg]) -> Result<Value> {
    let text: String = subscripts.chars().filter(|c| !c.is_whitespace()).collect();
    let (inputs, output) = match text.split_once("->") {
        Some((inputs, output)) => (inputs, Some(output)),
        None => (text.as_str(), None),
    };
    let terms: Vec<&str> = inputs.split(',').collect();
    if terms.len() != operands.len() {
        let found = format!("'{subscripts}' is of {} operands, and {} are given", terms.len(), operands.len());
        return Err(Error::value(found).wanted("subscripts for each operand, with commas between them"));
    }
    let terms: Result<Vec<Term>> = terms.into_iter().map(term).collect();
    let terms = terms?;
    let mut factors = Vec::new();
    for (i, (term, operand)) in terms.iter().zip(operands).enumerate() {
        factors.push(labelled(term, operand).map_err(|e| e.at(format!("operand {}", i + 1)))?);
    }
    let stretched = factors.iter().flat_map(|factor| &factor.labels).filter(|label| **label < MOST_STRETCHED);
    let stretched = stretched.max().map_or(0, |label| label + 1);
    let out = match output {
        Some(output) => asked(output, &terms, stretched)?,
        None => implied(&terms, stretched),
    };
    contract(factors, &out)
}

/// Labels below this are those of the axes of `...`, counted from the last; those of letters are the letters.
const MOST_STRETCHED: Label = 'A' as Label;

/// The subscripts of one operand, or of the result: the letters before and after `...`.
struct Term {
    before: Vec<Label>,
    after: Option<Vec<Label>>,
}

impl Term {
    fn letters(&self) -> impl Iterator<Item = Label> {
        self.before.iter().chain(self.after.iter().flatten()).copied()
    }
}

fn term(text: &str) -> Result<Term> {
    let letters = |part: &str| {
        let letter = |c: char| {
            if c.is_ascii_alphabetic() {
                return Ok(Label::from(c));
            }
            Err(Error::value(format!("found {c:?} in the subscripts '{text}'"))
                .wanted("letters from a to z and A to Z, and '...' once"))
        };
        part.chars().map(letter).collect::<Result<Vec<Label>>>()
    };
    match text.split_once("...") {
        Some((before, after)) => Ok(Term { before: letters(before)?, after: Some(letters(after)?) }),
        None => Ok(Term { before: letters(text)?, after: None }),
    }
}

/// An operand with a label for each axis.
fn labelled(term: &Term, operand: &Arg) -> Result<Labelled> {
    let value = match operand {
        Arg::Value(value) => value.clone(),
        Arg::Scalar(scalar) => strengthen(scalar, None)?.into(),
        Arg::List(_) => return Err(Error::dtype("found a list").wanted("a tensor")),
    };
    let tensor = value.tensor()?;
    if !tensor.dtype().is_numeric() {
        return Err(Error::dtype(format!("found {}", tensor.dtype())).wanted("numbers"));
    }
    let shape = tensor.shape();
    let rank = shape.rank().ok_or_else(|| {
        Error::shape("the rank is not known while tracing").wanted("a known rank").hint("Say the shape in the spec.")
    })?;
    let named = term.letters().count();
    if named > rank || (term.after.is_none() && named != rank) {
        let found = format!("{named} subscripts are given for the shape {shape}");
        return Err(Error::shape(found).wanted("one for each axis, or '...' for some"));
    }
    let stretched = Label::try_from(rank - named).unwrap_or(0);
    let after = term.after.iter().flatten().copied();
    Ok(Labelled { labels: term.before.iter().copied().chain((0..stretched).rev()).chain(after).collect(), value })
}

/// The labels of the result that is asked for.
fn asked(output: &str, terms: &[Term], stretched: Label) -> Result<Vec<Label>> {
    let term = term(output).map_err(|e| e.at("the result"))?;
    let letters: Vec<Label> = term.letters().collect();
    let known = |letter: Label| terms.iter().any(|term| term.letters().any(|of| of == letter));
    let odd = (0..letters.len()).find(|&i| !known(letters[i]) || letters[..i].contains(&letters[i]));
    if let Some(at) = odd {
        let letter = char::from_u32(letters[at]).unwrap_or('?');
        return Err(Error::value(format!("the result has the subscript '{letter}'"))
            .wanted("subscripts of the operands, each once"));
    }
    if term.after.is_none() && stretched > 0 {
        return Err(Error::value(format!("the result '{output}' has no '...', and the operands have"))
            .wanted("'...' in the result")
            .hint("Name the axes that are to be summed by letters."));
    }
    let after = term.after.iter().flatten().copied();
    Ok(term.before.iter().copied().chain((0..stretched).rev()).chain(after).collect())
}

/// The labels of the result where none is asked for.
fn implied(terms: &[Term], stretched: Label) -> Vec<Label> {
    let mut letters: Vec<Label> = terms.iter().flat_map(Term::letters).collect();
    letters.sort_unstable();
    let alone = letters.chunk_by(|x, y| x == y).filter(|run| run.len() == 1).map(|run| run[0]);
    (0..stretched).rev().chain(alone).collect()
}
