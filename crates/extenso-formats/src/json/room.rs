//! Memory for long records, of which the system is asked: where it gives none there is an error.
//!
//! Invariant: a text grows by what there is memory for, and a long record is read where there is memory for what becomes of it.

use super::node::Node;
use super::quick::{named, skip, space};
use crate::source::refused;
use extenso_core::kernels::pool::affordable;
use extenso_types::{Error, Result};
use std::io::{self, BufRead};

/// Adds what a source has up to the next end of a line, and that; how many bytes came, which are none at its end.
///
/// Errors: what the operating system refuses; no memory.
pub fn line(source: &mut dyn BufRead, text: &mut Vec<u8>) -> io::Result<usize> {
    let before = text.len();
    loop {
        let read = match source.fill_buf() {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        let line = memchr::memchr(b'\n', read).map_or(read.len(), |end| end + 1);
        add(text, &read[..line])?;
        source.consume(line);
        if line == 0 || text.last() == Some(&b'\n') {
            return Ok(text.len() - before);
        }
    }
}

/// Adds bytes to a text.
///
/// Errors: no memory.
pub fn add(text: &mut Vec<u8>, bytes: &[u8]) -> io::Result<()> {
    reserve(text, bytes.len())?;
    text.extend_from_slice(bytes);
    Ok(())
}

/// Makes room for more bytes of a text.
///
/// Errors: no memory.
pub fn reserve(text: &mut Vec<u8>, more: usize) -> io::Result<()> {
    if text.try_reserve(more).is_err() {
        let what = format!("{} bytes are read, and the system gives no more memory", text.len());
        return Err(refused(
            Error::memory(what).wanted("records that are shorter, each in a line or an item of an array"),
        ));
    }
    Ok(())
}

/// Checks that there is memory for what a record becomes that is read by this node: its texts, and a number for each item, where columns are
/// doubled as they grow and then put behind others.
///
/// Errors: there is not.
pub fn afford(record: &[u8], node: Option<&Node>) -> Result<()> {
    if record.len() < LONG {
        return Ok(());
    }
    let all = affordable(room(record));
    // What is asked for is looked at only where there is no memory for the whole record.
    match node.filter(|_| all.is_err()).and_then(|node| asked(record, space(record, 0), node)) {
        Some((wanted, _)) => affordable(wanted),
        None => all,
    }
}

/// Records of fewer bytes are read without asking.
const LONG: usize = 1 << 22;

/// How many bytes of memory an item takes beside its texts.
const ITEM: usize = 24;

/// How many bytes of memory a value may take.
fn room(value: &[u8]) -> usize {
    let items = memchr::memchr_iter(b',', value).count();
    value.len().saturating_mul(4).saturating_add(items.saturating_mul(ITEM))
}

/// How many bytes of memory what is asked for of the value at a byte may take, and where the value ends; none where it is odd.
fn asked(text: &[u8], at: usize, node: &Node) -> Option<(usize, usize)> {
    match (node, *text.get(at)?) {
        (Node::Skip, _) => Some((0, skip(text, at)?)),
        (Node::Optional { inner, .. }, _) => asked(text, at, inner),
        (Node::Record(fields), b'{') => each(text, at, b'}', |at| {
            let (value, name) = named(text, at)?;
            asked(text, value, fields.find(name, 0).map_or(&Node::Skip, |place| &fields.list()[place].1))
        }),
        (Node::List { item, .. } | Node::Fixed { item, .. }, b'[') => each(text, at, b']', |at| {
            let (wanted, end) = asked(text, at, item)?;
            Some((wanted.saturating_add(ITEM), end))
        }),
        _ => {
            let end = skip(text, at)?;
            Some((room(&text[at..end]), end))
        }
    }
}

/// What the members of the container at a byte come to, and where it ends.
fn each(
    text: &[u8],
    at: usize,
    close: u8,
    mut member: impl FnMut(usize) -> Option<(usize, usize)>,
) -> Option<(usize, usize)> {
    let (mut all, mut at) = (0_usize, space(text, at + 1));
    while *text.get(at)? != close {
        let (wanted, end) = member(at)?;
        (all, at) = (all.saturating_add(wanted), space(text, end));
        if text.get(at) == Some(&b',') {
            at = space(text, at + 1);
        }
    }
    Some((all, at + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Wanted;
    use crate::read::{JsonOptions, infer_spec};
    use crate::records::RecordSpec;
    use extenso_types::{Nest, Path};

    #[test]
    fn what_is_skipped_takes_no_memory() {
        let sample = br#"{"a": 1, "t": "x", "r": {"u": "y", "n": [1]}, "l": [{"v": "z", "m": 2}], "o": null}"#;
        let spec = infer_spec(sample, &JsonOptions::default()).expect("a spec");
        let text = br#" {"t" : "long" ,"o":{"x":[1,2]}, "a":1,"more":[{}], "r":{"u":"text","n":[7, 8]},"l":[{"v":"text"},{"m":12,"v":""}]}"#;
        let cases: [(&[&str], Option<usize>); 6] = [
            (&["a"], Some(4)),
            (&["t"], Some(4 * 6)),
            (&["r.u"], Some(4 * 6)),
            (&["r.n"], Some(2 * (4 + ITEM))),
            (&["l[*].v"], Some(4 * 6 + 4 * 2 + 2 * ITEM)),
            (&["a", "l[*].m"], Some(4 + 4 * 2 + 2 * ITEM)),
        ];
        for (paths, wanted) in cases {
            let paths: Vec<Path> = paths.iter().map(|path| path.parse().expect("a path")).collect();
            let spec = Wanted::of_paths(Some(&paths)).and_then(|wanted| wanted.of(&spec)).expect("a spec");
            let records = RecordSpec::new(&Nest::Leaf(spec), &[]).expect("records");
            let node = Node::compile(records.plan()).expect("a node");
            assert_eq!(asked(text, space(text, 0), &node).map(|(bytes, _)| bytes), wanted, "{paths:?}");
            for end in 0..text.len() {
                assert_eq!(asked(&text[..end], 1, &node), None, "{paths:?} to {end}");
            }
        }
    }
}
