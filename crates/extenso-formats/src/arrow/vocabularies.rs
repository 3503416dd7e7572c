//! The words of dictionaries over the batches of one file, which has one vocabulary for each.
//!
//! Invariant: a vocabulary only grows, so that the words of one batch are the first of those of the next. Words are told apart by their
//! bits; those that are no elements of one buffer, such as records, are one vocabulary as a whole or stand behind those that there are.

use super::from_arrow;
use super::moved::extended;
use crate::categories::check;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, make_array};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType};
use extenso_core::{Tensor, ops};
use extenso_types::{Error, Result};
use std::collections::HashMap;

/// The vocabularies of the dictionaries of a batch, in the order in which these stand in it.
#[derive(Default, Debug)]
pub struct Vocabularies(Vec<Vocabulary>);

/// The words of one dictionary so far, and the place of each.
#[derive(Debug)]
struct Vocabulary {
    words: ArrayRef,
    places: HashMap<Vec<u8>, usize>,
}

impl Vocabularies {
    /// The batch, whose dictionaries have the words of those before and then their own.
    ///
    /// Errors: more words than the codes count.
    pub fn of_all(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        let mut next = 0;
        let column = |column: &ArrayRef| Ok(make_array(self.below(column.to_data(), &mut next)?));
        let columns = batch.columns().iter().map(column).collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(batch.schema(), columns, &options).map_err(|e| internal(&e))
    }

    fn below(&mut self, data: ArrayData, next: &mut usize) -> Result<ArrayData> {
        if let DataType::Dictionary(..) = data.data_type() {
            let place = *next;
            *next += 1;
            return self.dictionary(data, place);
        }
        if data.child_data().is_empty() {
            return Ok(data);
        }
        let children = data.child_data().iter().map(|child| self.below(child.clone(), next)).collect::<Result<_>>()?;
        data.into_builder().child_data(children).build().map_err(|e| internal(&e))
    }

    fn dictionary(&mut self, data: ArrayData, place: usize) -> Result<ArrayData> {
        let array = make_array(data.clone());
        let any = array.as_any_dictionary();
        if place == self.0.len() {
            self.0.push(Vocabulary { words: any.values().slice(0, 0), places: HashMap::new() });
        }
        let known = &mut self.0[place];
        let places = known.places_of(any.values())?;
        let codes = from_arrow(
            make_array(any.keys().to_data().into_builder().nulls(None).build().map_err(|e| internal(&e))?).as_ref(),
        )?;
        let codes = codes.tensor()?;
        check(known.words.len(), codes.dtype()).map_err(|e| e.at("the categories of all blocks"))?;
        let moved =
            if array.is_empty() { codes.clone().into() } else { ops::take(Tensor::from_vec(places), codes, 0_i64)? };
        let moved = ops::cast(moved, codes.dtype())?;
        let builder = ArrayData::builder(data.data_type().clone()).len(data.len()).nulls(data.nulls().cloned());
        let made = builder.add_buffer(moved.tensor()?.buffer()?).add_child_data(known.words.to_data());
        made.build().map_err(|e| internal(&e))
    }
}

impl Vocabulary {
    /// The places of these words among those that there are, to which the others are added.
    fn places_of(&mut self, words: &ArrayRef) -> Result<Vec<i64>> {
        let (data, before) = (words.to_data(), self.words.len());
        if data == self.words.to_data() {
            return Ok((0..).take(words.len()).collect());
        }
        let (mut places, mut added) = (Vec::with_capacity(words.len()), Vec::new());
        for word in 0..words.len() {
            let end = before + added.len();
            let place = match key(words, &data, word) {
                Some(key) => *self.places.entry(key).or_insert(end),
                None => end,
            };
            if place == end {
                added.push((1, word, word + 1));
            }
            places.push(i64::try_from(place).unwrap_or(i64::MAX));
        }
        if !added.is_empty() {
            let rows = before + added.len();
            let all = std::iter::once((0, 0, before)).chain(added);
            self.words = extended(&[self.words.clone(), words.clone()], rows, all)?;
        }
        Ok(places)
    }
}

/// The bits of a word; none of one that is no element of one buffer.
fn key(words: &ArrayRef, data: &ArrayData, word: usize) -> Option<Vec<u8>> {
    let width = match words.data_type() {
        DataType::Boolean => return Some(vec![words.as_boolean().value(word).into()]),
        DataType::Utf8 => return Some(words.as_string::<i32>().value(word).into()),
        DataType::LargeUtf8 => return Some(words.as_string::<i64>().value(word).into()),
        DataType::Binary => return Some(words.as_binary::<i32>().value(word).into()),
        DataType::LargeBinary => return Some(words.as_binary::<i64>().value(word).into()),
        DataType::FixedSizeBinary(width) => usize::try_from(*width).ok()?,
        other => other.primitive_width()?,
    };
    let start = (data.offset() + word) * width;
    data.buffers().first()?.get(start..start + width).map(<[u8]>::to_vec)
}

fn internal(e: &ArrowError) -> Error {
    Error::internal(format!("Arrow refuses what was proven: {e}"))
}
