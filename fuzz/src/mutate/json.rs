//! Changes of JSON that leave it JSON, mostly: values are moved, repeated, left out, wrapped and exchanged.

use extenso_testkit::rng::Rng;
use std::ops::Range;

/// Values that stand where another stood.
const VALUES: [&str; 16] = [
    "null",
    "true",
    "0",
    "-1",
    "1.5",
    "1e400",
    "-0.0",
    "9223372036854775808",
    "\"\"",
    "\"NaN\"",
    "\"\\ud83d\\ude00\"",
    "[]",
    "{}",
    "[null]",
    "[[1], []]",
    "{\"a\": 1}",
];
/// The longest value that is repeated.
const LONGEST: usize = 4096;

/// Changes one value of the text.
pub fn change(input: &mut Vec<u8>, corpus: &[Vec<u8>], rng: &mut Rng) {
    let spans = values(input);
    if spans.is_empty() {
        return;
    }
    let at = rng.pick(&spans).clone();
    let piece = input[at.clone()].to_vec();
    let new = match rng.below(7) {
        0 => rng.pick(&VALUES).as_bytes().to_vec(),
        1 => other_value(rng.pick::<Vec<u8>>(corpus), rng),
        2 => input[rng.pick(&spans).clone()].to_vec(),
        3 if piece.len() < LONGEST => [&piece[..], b",", &piece].concat(),
        4 => [b"[", &piece[..], b"]"].concat(),
        5 => [b"{\"a\":", &piece[..], b"}"].concat(),
        _ => return leave_out(input, at),
    };
    input.splice(at, new);
}

fn other_value(text: &[u8], rng: &mut Rng) -> Vec<u8> {
    let spans = values(text);
    if spans.is_empty() { b"0".to_vec() } else { text[rng.pick(&spans).clone()].to_vec() }
}

/// Takes a value away, with the comma behind it.
fn leave_out(input: &mut Vec<u8>, at: Range<usize>) {
    let comma = usize::from(input.get(at.end) == Some(&b','));
    input.drain(at.start..at.end + comma);
}

/// Where values stand: text, words and numbers, and what brackets enclose. Broken text has those that it has.
fn values(text: &[u8]) -> Vec<Range<usize>> {
    let (mut spans, mut open, mut at) = (Vec::new(), Vec::new(), 0);
    while let Some(&byte) = text.get(at) {
        let end = match byte {
            b'[' | b'{' => {
                open.push(at);
                at + 1
            }
            b']' | b'}' => {
                spans.extend(open.pop().map(|start| start..at + 1));
                at + 1
            }
            b'"' => {
                let end = end_of_text(text, at + 1);
                spans.push(at..end);
                end
            }
            b'-' | b'0'..=b'9' | b'a'..=b'z' => {
                let word = text[at..].iter().take_while(|b| b.is_ascii_alphanumeric() || b"+-.".contains(b)).count();
                spans.push(at..at + word);
                at + word
            }
            _ => at + 1,
        };
        at = end;
    }
    spans
}

fn end_of_text(text: &[u8], mut at: usize) -> usize {
    while let Some(&byte) = text.get(at) {
        at += 1;
        match byte {
            b'"' => break,
            b'\\' => at += 1,
            _ => {}
        }
    }
    at.min(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_found() {
        let text = br#"{"a": [1, -2.5e3, "x\"]"], "b": null}"#;
        let found: Vec<&str> = values(text).into_iter().map(|s| std::str::from_utf8(&text[s]).expect("text")).collect();
        let wanted = [
            "\"a\"",
            "1",
            "-2.5e3",
            "\"x\\\"]\"",
            "[1, -2.5e3, \"x\\\"]\"]",
            "\"b\"",
            "null",
            "{\"a\": [1, -2.5e3, \"x\\\"]\"], \"b\": null}",
        ];
        assert_eq!(found, wanted);
        assert!(values(b"\"\\").len() == 1 && values(b"]]").is_empty());
    }
}
