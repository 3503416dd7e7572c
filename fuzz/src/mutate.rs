//! Mutations: one to eight small changes of one input of the corpus, of its bytes or of what they mean.
#![allow(clippy::ptr_arg)] // Changes have one type, also those that keep the length.

mod json;
mod protobuf;
mod safetensors;

use extenso_testkit::rng::Rng;

/// Bytes that are borders of something.
const BYTES: [u8; 12] = [0, 1, 2, 7, 0x1f, 0x20, 0x7f, 0x80, 0xc0, 0xed, 0xfe, 0xff];
/// Numbers that are borders of something, as little-endian words.
const NUMBERS: [i64; 12] = [0, 1, -1, 2, 255, 65536, 1 << 31, (1 << 31) - 1, 1 << 32, 1 << 60, i64::MAX, i64::MIN];
/// Inputs do not grow beyond this.
const LONGEST: usize = 1 << 16;

type Change = fn(&mut Vec<u8>, &[Vec<u8>], &[&[u8]], &mut Rng);

const CHANGES: [Change; 10] = [
    flip_bit,
    set_byte,
    insert_byte,
    remove_range,
    repeat_range,
    truncate,
    splice,
    insert_token,
    replace_by_token,
    set_number,
];

/// What the inputs of a target are made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Structure {
    /// Bytes, of which no more is known.
    Bytes,
    /// JSON, one record or lines of it.
    Json,
    /// A message of protocol buffers.
    Protobuf,
    /// Weights: a header of JSON, and data.
    Safetensors,
}

/// The next input: half of all changes keep the structure, so that what lies behind it is reached.
pub fn mutate(corpus: &[Vec<u8>], structure: Structure, dictionary: &[&[u8]], rng: &mut Rng) -> Vec<u8> {
    let mut input = rng.pick(corpus).clone();
    let keep = rng.below(2) == 0;
    for _ in 0..=rng.below(8) {
        match structure {
            Structure::Json if keep => json::change(&mut input, corpus, rng),
            Structure::Protobuf if keep => protobuf::change(&mut input, corpus, rng),
            Structure::Safetensors if keep => safetensors::change(&mut input, corpus, rng),
            Structure::Bytes | Structure::Json | Structure::Protobuf | Structure::Safetensors => {
                rng.pick(&CHANGES)(&mut input, corpus, dictionary, rng);
            }
        }
    }
    input.truncate(LONGEST);
    input
}

fn place(input: &[u8], rng: &mut Rng) -> usize {
    rng.below(input.len() + 1)
}

fn range(input: &[u8], rng: &mut Rng) -> std::ops::Range<usize> {
    let start = place(input, rng);
    let most = (input.len() - start).min(64);
    start..start + rng.below(most + 1)
}

fn flip_bit(input: &mut Vec<u8>, _: &[Vec<u8>], _: &[&[u8]], rng: &mut Rng) {
    let at = place(input, rng);
    if let Some(byte) = input.get_mut(at) {
        *byte ^= 1 << rng.below(8);
    }
}

fn set_byte(input: &mut Vec<u8>, _: &[Vec<u8>], _: &[&[u8]], rng: &mut Rng) {
    let at = place(input, rng);
    if let Some(byte) = input.get_mut(at) {
        *byte = *rng.pick(&BYTES);
    }
}

fn insert_byte(input: &mut Vec<u8>, _: &[Vec<u8>], _: &[&[u8]], rng: &mut Rng) {
    let at = place(input, rng);
    input.insert(at, rng.next_u64().to_le_bytes()[0]);
}

fn remove_range(input: &mut Vec<u8>, _: &[Vec<u8>], _: &[&[u8]], rng: &mut Rng) {
    let range = range(input, rng);
    input.drain(range);
}

fn repeat_range(input: &mut Vec<u8>, _: &[Vec<u8>], _: &[&[u8]], rng: &mut Rng) {
    let piece = input[range(input, rng)].to_vec();
    let at = place(input, rng);
    let times = 1 + rng.below(8);
    input.splice(at..at, piece.repeat(times));
}

fn truncate(input: &mut Vec<u8>, _: &[Vec<u8>], _: &[&[u8]], rng: &mut Rng) {
    let at = place(input, rng);
    input.truncate(at);
}

fn splice(input: &mut Vec<u8>, corpus: &[Vec<u8>], _: &[&[u8]], rng: &mut Rng) {
    let other = rng.pick(corpus);
    let piece = other[range(other, rng)].to_vec();
    let at = range(input, rng);
    input.splice(at, piece);
}

fn insert_token(input: &mut Vec<u8>, _: &[Vec<u8>], dictionary: &[&[u8]], rng: &mut Rng) {
    if !dictionary.is_empty() {
        let at = place(input, rng);
        input.splice(at..at, rng.pick(dictionary).iter().copied());
    }
}

fn replace_by_token(input: &mut Vec<u8>, _: &[Vec<u8>], dictionary: &[&[u8]], rng: &mut Rng) {
    if !dictionary.is_empty() {
        let at = range(input, rng);
        input.splice(at, rng.pick(dictionary).iter().copied());
    }
}

fn set_number(input: &mut Vec<u8>, _: &[Vec<u8>], _: &[&[u8]], rng: &mut Rng) {
    let bytes = rng.pick(&NUMBERS).to_le_bytes();
    let width = *rng.pick(&[2, 4, 8]);
    let at = place(input, rng);
    let end = (at + width).min(input.len());
    input[at..end].copy_from_slice(&bytes[..end - at]);
}
