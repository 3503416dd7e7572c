//! Products and sums in the notation of Einstein, over rows as well.
//!
//! A ragged axis stands behind the axis that it is ragged in, and both are one axis of the values: the subscripts of the two become
//! one, operands that have the outer one alone are repeated for each value, and what is left are subscripts of the values.

use crate::args::{int, typed, typed_arg};
use crate::axes::rank;
use crate::masked::{Mask, MaskedTensor, fill_none};
use crate::products::{in_dtype, integers_of};
use crate::ragged::RaggedTensor;
use crate::structs::masked_by;
use extenso_core::attrs::Axes;
use extenso_core::ops::DotAxes;
use extenso_core::reduce::{normalize_axes, normalize_axis};
use extenso_core::{Arg, ExtensionType, RowPartition, Tensor, Value, ops};
use extenso_types::{Error, Result};

/// The product of the operands, summed over every subscript that the result does not have; of rows too.
///
/// As [`ops::einsum`] for tensors. The subscript of a ragged axis stands behind that of the axis outside it, in ragged operands
/// and in a result that has both: `'ijk,kl->ijl'` multiplies the vectors of rows by a matrix. A result without the outer
/// one is summed column by column. What is missing is zero, and adds nothing; a list that is missing stays so where the result has
/// its axes. Errors: as there; a ragged axis in another place; rows that differ.
///
/// ```
/// # use extenso_ext::{constant, einsum, to_literal};
/// # use extenso_core::Tensor;
/// let (x, w) = (constant(vec![vec![1.0, 2.0], vec![], vec![3.0]]).unwrap(), Tensor::from_vec(vec![10.0, 20.0, 30.0]));
/// assert_eq!(to_literal(&einsum("ij,i->ij", [(&x).into(), w.into()]).unwrap()).unwrap().to_string(), "[[10.0, 20.0], [], [90.0]]");
/// assert_eq!(einsum("ij,ij->i", [&x, &x].map(Into::into)).unwrap().to_string(), "[5.0, 0.0, 9.0]");
/// ```
pub fn einsum(subscripts: &str, operands: impl IntoIterator<Item = Arg>) -> Result<Value> {
    let operands: Vec<Arg> = operands.into_iter().collect();
    if !operands.iter().any(in_rows_or_missing) {
        return ops::einsum(subscripts, operands);
    }
    let product = |operands: &[Arg]| {
        let (inputs, out) = read(subscripts, operands)?;
        let dtype = integers_of(operands);
        let terms = inputs.into_iter().zip(operands.to_vec()).map(|(letters, operand)| Term { letters, operand });
        in_dtype(Sum { terms: terms.collect(), out }.of_what_is_there()?, dtype)
    };
    ops::in_f32(&operands.iter().collect::<Vec<_>>(), product).map_err(|e| e.at_part("einsum"))
}

/// The products of `x` and `y`, summed over pairs of axes; of rows too.
///
/// As [`ops::tensordot`] for tensors. Errors: as there and in [`einsum`].
///
/// ```
/// # use extenso_ext::{RaggedTensor, tensordot};
/// # use extenso_core::{ExtensionType, Tensor};
/// let vectors = Tensor::new(&[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
/// let x = RaggedTensor::from_row_lengths(vectors, &Tensor::from_vec(vec![1_i64, 2])).unwrap().into_value();
/// let y = tensordot(&x, &Tensor::from_vec(vec![10.0, 1.0]).into(), 1).unwrap();
/// assert_eq!(RaggedTensor::from_value(&y).unwrap().to_string(), "[[12.0], [34.0, 56.0]]");
/// ```
pub fn tensordot(x: &Value, y: &Value, axes: impl Into<DotAxes>) -> Result<Value> {
    let axes = axes.into();
    if ![x, y].into_iter().any(|value| in_rows_or_missing(&value.into())) {
        return ops::tensordot(x, y, axes);
    }
    let product = |factors: &[Arg]| {
        let (x, y) = (factors[0].value()?, factors[1].value()?);
        let (of_x, of_y) = (rank(x)?, rank(y)?);
        let (left, right) = match axes {
            DotAxes::Count(n) if (0..=int(of_x.min(of_y))).contains(&n) => {
                ((int(of_x) - n..int(of_x)).collect(), (0..n).collect())
            }
            DotAxes::Count(n) => {
                return Err(Error::value(format!("{n} axes are given")).wanted(format!("from 0 to {}", of_x.min(of_y))));
            }
            DotAxes::Pairs(left, right) => (left, right),
        };
        if left.len() != right.len() || of_x + of_y > 52 {
            return Err(Error::value(format!("axes {left:?} are given for 'x' and {right:?} for 'y'"))
                .wanted("as many of both, of at most 52 axes together"));
        }
        normalize_axes(&left, of_x).and(normalize_axes(&right, of_y))?;
        let free: Vec<char> = ('a'..='z').chain('A'..='Z').collect();
        let (letters, mut others) = (free[..of_x].to_vec(), free[of_x..of_x + of_y].to_vec());
        for (at, of) in right.iter().zip(&left) {
            others[normalize_axis(*at, of_y)?] = letters[normalize_axis(*of, of_x)?];
        }
        let once =
            |own: &[char], other: &[char]| own.iter().filter(|c| !other.contains(c)).copied().collect::<Vec<char>>();
        let out = [once(&letters, &others), once(&others, &letters)].concat();
        let terms = [(letters, x), (others, y)].map(|(letters, value)| Term { letters, operand: value.into() });
        in_dtype(Sum { terms: terms.into(), out }.of_what_is_there()?, integers_of([&x.into(), &y.into()]))
    };
    ops::in_f32(&[&x.into(), &y.into()], product).map_err(|e| e.at_part("tensordot"))
}

fn in_rows_or_missing(operand: &Arg) -> bool {
    typed_arg::<RaggedTensor>(operand).is_some() || typed_arg::<MaskedTensor>(operand).is_some()
}

/// The subscripts of each operand and of the result, with letters for the axes of `...`.
///
/// What is wrong with letters is found where the values are multiplied.
fn read(subscripts: &str, operands: &[Arg]) -> Result<(Vec<Vec<char>>, Vec<char>)> {
    let text: String = subscripts.chars().filter(|c| !c.is_whitespace()).collect();
    let (inputs, out) = text.split_once("->").map_or((text.as_str(), None), |(inputs, out)| (inputs, Some(out)));
    let terms: Vec<&str> = inputs.split(',').collect();
    if terms.len() != operands.len() {
        let found = format!("'{subscripts}' is of {} operands, and {} are given", terms.len(), operands.len());
        return Err(Error::value(found).wanted("subscripts for each operand, with commas between them"));
    }
    let free: Vec<char> = ('A'..='Z').chain('a'..='z').filter(|c| !text.contains(*c)).collect();
    let mut most = 0;
    let mut read = Vec::new();
    for (i, (term, operand)) in terms.into_iter().zip(operands).enumerate() {
        let axes = match operand {
            Arg::Value(value) => rank(value)?,
            Arg::Scalar(_) | Arg::List(_) => 0,
        };
        let (letters, stretched) = spelled(term, axes, &free).map_err(|e| e.at(format!("operand {}", i + 1)))?;
        most = most.max(stretched);
        read.push(letters);
    }
    let stretched = free.iter().take(most).rev().copied();
    let out = match out.map(|out| (out, out.split_once("..."))) {
        Some((_, Some((before, after)))) => before.chars().chain(stretched).chain(after.chars()).collect(),
        Some((out, None)) if most == 0 => out.chars().collect(),
        Some((out, None)) => {
            return Err(Error::value(format!("the result '{out}' has no '...', and the operands have"))
                .wanted("'...' in the result"));
        }
        None => {
            let mut all: Vec<char> = read.iter().flatten().copied().filter(|c| !free.contains(c)).collect();
            all.sort_unstable();
            stretched.chain(all.chunk_by(|x, y| x == y).filter(|run| run.len() == 1).map(|run| run[0])).collect()
        }
    };
    Ok((read, out))
}

/// The subscripts of one operand, and how many of its axes `...` stands for.
fn spelled(term: &str, axes: usize, free: &[char]) -> Result<(Vec<char>, usize)> {
    let wrong = |named: usize| {
        Error::shape(format!("{named} subscripts are given for {axes} axes"))
            .wanted("one for each axis, or '...' for some")
    };
    let Some((before, after)) = term.split_once("...") else {
        let letters: Vec<char> = term.chars().collect();
        return if letters.len() == axes { Ok((letters, 0)) } else { Err(wrong(letters.len())) };
    };
    let named = before.chars().count() + after.chars().count();
    let stretched = axes.checked_sub(named).ok_or_else(|| wrong(named))?;
    if stretched > free.len() {
        return Err(Error::value(format!("'...' stands for {stretched} axes")).wanted("fewer axes"));
    }
    Ok((before.chars().chain(free[..stretched].iter().rev().copied()).chain(after.chars()).collect(), stretched))
}

/// An operand with a letter for each axis.
struct Term {
    letters: Vec<char>,
    operand: Arg,
}

/// A product that is summed over the letters that are not in `out`.
struct Sum {
    terms: Vec<Term>,
    out: Vec<char>,
}

impl Sum {
    /// The product with zeros where an operand is missing, so that it adds nothing. A list that is missing in one operand has no product
    /// in a result with its axis.
    fn of_what_is_there(self) -> Result<Value> {
        let Some((outer, inner)) = self.terms.iter().find_map(Term::rows) else { return self.of_tensors() };
        let Some(mask) = self.lists_there(outer)? else { return self.value() };
        let terms = self.terms.iter().map(|term| term.where_there(&mask, outer, inner)).collect::<Result<_>>()?;
        let product = Sum { terms, out: self.out.clone() }.value()?;
        match self.out.iter().position(|letter| *letter == outer) {
            Some(0) => masked_by(product, &mask),
            Some(at) => {
                let mask = ops::expand_dims_at(mask, (0..at).map(int).collect::<Vec<_>>())?;
                Mask { mask, covers: at + 1, rank: self.out.len() }.over(product)
            }
            None => Ok(product),
        }
    }

    /// Which lists along the axis are there in every operand; none if no operand may miss one.
    fn lists_there(&self, outer: char) -> Result<Option<Tensor>> {
        let masks = self.terms.iter().filter_map(|term| term.lists(outer)).map(|lists| Ok(lists.mask().clone()));
        let both = |a: Result<Tensor>, b: Result<Tensor>| ops::logical_and(a?, b?)?.tensor().cloned();
        masks.reduce(both).transpose()
    }

    fn value(self) -> Result<Value> {
        let rows = self.terms.iter().find_map(|term| Some((typed_arg::<RaggedTensor>(&term.operand)?, &term.letters)));
        let Some((rows, letters)) = rows else { return self.of_tensors() };
        let rows = rows.compact()?;
        let [outer, inner, ..] = letters[..] else {
            return Err(Error::internal("a ragged operand has two axes"));
        };
        if outer == inner {
            return Err(Error::value(format!("'{outer}' stands twice for an operand that is ragged there"))
                .wanted("two subscripts for a ragged axis and the one outside it"));
        }
        let place = |letter: char| self.out.iter().position(|of| *of == letter);
        match (place(outer), place(inner)) {
            (Some(0), Some(1)) => {
                let values = self.of_values(&rows, outer, inner, true)?.of_what_is_there()?;
                Ok(rows.with_values(values)?.into_value())
            }
            (None, Some(0)) => {
                let values = self.of_values(&rows, outer, inner, true)?.of_what_is_there()?;
                ops::sum(rows.with_values(values)?.into_value(), Axes::List(vec![0]), false)
            }
            (Some(at), None) => self.summed_rows(&rows, (outer, inner), at),
            (None, None) => self.of_values(&rows, outer, inner, false)?.of_what_is_there(),
            (_, Some(_)) => Err(Error::shape(format!("axis '{inner}' is ragged in '{outer}'"))
                .wanted(format!("'{outer}{inner}' at the beginning of the result, or one of the two"))
                .hint("Make the rows dense first: `to_tensor`.")),
        }
    }

    /// The sums of each row, with the outer axis at the position `at` of the result.
    fn summed_rows(mut self, rows: &RaggedTensor, (outer, inner): (char, char), at: usize) -> Result<Value> {
        self.out.remove(at);
        self.out.insert(0, outer);
        let values = self.of_values(rows, outer, inner, true)?.of_what_is_there()?;
        let sums = ops::sum(rows.with_values(values)?.into_value(), Axes::List(vec![1]), false)?;
        if at == 0 { Ok(sums) } else { moved_back(sums, at) }
    }

    /// The same over the values of rows, whose axis is `inner`; `kept` in the result or not.
    fn of_values(&self, rows: &RaggedTensor, outer: char, inner: char, kept: bool) -> Result<Sum> {
        let terms = self.terms.iter().map(|term| term.in_values(rows.partition(), outer, inner));
        let rest = self.out.iter().copied().filter(|letter| ![outer, inner].contains(letter));
        Ok(Sum { terms: terms.collect::<Result<_>>()?, out: kept.then_some(inner).into_iter().chain(rest).collect() })
    }

    fn of_tensors(self) -> Result<Value> {
        let text = |letters: &[char]| letters.iter().collect::<String>();
        let inputs: Vec<String> = self.terms.iter().map(|term| text(&term.letters)).collect();
        let subscripts = format!("{}->{}", inputs.join(","), text(&self.out));
        let (mut operands, mut masks) = (Vec::new(), Vec::new());
        for Term { letters, operand } in self.terms {
            match typed_arg::<MaskedTensor>(&operand) {
                Some(x) => {
                    masks.extend(mask_in(&x, &letters, &self.out)?);
                    operands.push(Arg::Value(fill_none(&x.into_value(), 0)?));
                }
                None => operands.push(operand),
            }
        }
        let product = ops::einsum(&subscripts, operands)?;
        masks.iter().try_fold(product, |product, mask| mask.over(product))
    }
}

/// Where lists of an operand are there, if the result has the axes that say so: none of elements one by one.
fn mask_in(x: &MaskedTensor, letters: &[char], out: &[char]) -> Result<Option<Mask>> {
    let own = &letters[..x.mask_rank()?];
    let places: Option<Vec<usize>> = own.iter().map(|letter| out.iter().position(|of| of == letter)).collect();
    let Some(places) = places.filter(|_| own.len() < letters.len()) else { return Ok(None) };
    let mut order: Vec<usize> = (0..own.len()).collect();
    order.sort_by_key(|at| places[*at]);
    if order.windows(2).any(|two| places[two[0]] == places[two[1]]) {
        return Ok(None);
    }
    let covers = places.iter().max().map_or(0, |last| last + 1);
    let mask = ops::transpose(x.mask(), Some(order.into_iter().map(int).collect::<Vec<_>>()))?;
    let others: Vec<i64> = (0..covers).filter(|place| !places.contains(place)).map(int).collect();
    Ok(Some(Mask { mask: ops::expand_dims_at(mask, others)?, covers, rank: out.len() }))
}

impl Term {
    /// The subscripts of the rows of the operand, if it has rows.
    fn rows(&self) -> Option<(char, char)> {
        let masked = typed_arg::<MaskedTensor>(&self.operand);
        let rows = masked.map_or_else(|| typed_arg(&self.operand), |x| typed::<RaggedTensor>(x.values()));
        rows.and_then(|_| Some((*self.letters.first()?, *self.letters.get(1)?)))
    }

    /// The operand as lists along the axis of which some are missing, if it is that.
    fn lists(&self, outer: char) -> Option<MaskedTensor> {
        let of_lists = |x: &MaskedTensor| x.mask_rank().is_ok_and(|axes| axes == 1) && self.letters.len() > 1;
        typed_arg(&self.operand).filter(|x| self.letters.first() == Some(&outer) && of_lists(x))
    }

    /// The term with nothing in lists that are missing.
    fn where_there(&self, mask: &Tensor, outer: char, inner: char) -> Result<Term> {
        let operand = self.lists(outer).map_or_else(|| self.operand.clone(), |lists| Arg::from(lists.values()));
        let operand = match &operand {
            Arg::Value(value) if self.letters.starts_with(&[outer, inner]) => {
                let rows = typed::<RaggedTensor>(value).map_or_else(|| RaggedTensor::of_uniform(value), Ok)?;
                Arg::Value(rows.only_where(mask)?.into_value())
            }
            Arg::Value(_) | Arg::Scalar(_) | Arg::List(_) => operand,
        };
        Ok(Term { letters: self.letters.clone(), operand })
    }

    /// The operand over the values of rows: cut as they are, or repeated for each, or as it stands.
    ///
    /// Errors: the two axes in other places; other rows.
    fn in_values(&self, rows: &RowPartition, outer: char, inner: char) -> Result<Term> {
        let place = |letter: char| self.letters.iter().position(|of| *of == letter);
        let (outer_at, inner_at) = (place(outer), place(inner));
        let Arg::Value(value) = &self.operand else {
            return Ok(Term { letters: self.letters.clone(), operand: self.operand.clone() });
        };
        let value = match (outer_at, inner_at) {
            (None, None) => value.clone(),
            (Some(0), Some(1)) => match typed_arg::<RaggedTensor>(&self.operand) {
                Some(given) => given.compact()?.values_in(rows)?,
                None => RaggedTensor::of_uniform(value)?.values_in(rows)?,
            },
            (Some(at), None) => ops::gather_rows_of(moved_first(value, at)?, rows)?,
            (_, Some(_)) => {
                return Err(Error::shape(format!(
                    "an operand has the subscripts '{}'",
                    self.letters.iter().collect::<String>()
                ))
                .wanted(format!("'{outer}{inner}' at the beginning, since '{inner}' is ragged in '{outer}'")));
            }
        };
        let rest = self.letters.iter().copied().filter(|letter| ![outer, inner].contains(letter));
        let first = outer_at.map(|_| inner);
        Ok(Term { letters: first.into_iter().chain(rest).collect(), operand: Arg::Value(value) })
    }
}

/// The value with an axis in front of the others.
fn moved_first(value: &Value, at: usize) -> Result<Value> {
    if at == 0 {
        return Ok(value.clone());
    }
    let others = (0..rank(value)?).filter(|axis| *axis != at);
    ops::transpose(value, Some(std::iter::once(at).chain(others).map(int).collect()))
}

/// The value with its first axis at the position `at`.
fn moved_back(value: Value, at: usize) -> Result<Value> {
    let order = (1..=at).chain([0]).chain(at + 1..rank(&value)?);
    ops::transpose(&value, Some(order.map(int).collect()))
}
