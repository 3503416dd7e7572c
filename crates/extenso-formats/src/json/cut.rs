//! An array of records in blocks: it is cut at the commas between its items.
//!
//! Invariant: a block ends at a comma of the array itself or with the input, and the next one begins with that comma; so the
//! bytes of the blocks are those of the input, and what is wrong with them is found where it is. Up to a fault of its syntax an
//! array is followed as its reader does; behind one nothing is read.

use super::room::{add, reserve};
use super::split::{MARK, is_array, is_blank};
use std::io::{self, BufRead, Read};

/// Where in an array the bytes that were read so far end.
#[derive(Default, Debug)]
pub struct Cuts {
    depth: usize,
    /// Whether they end inside a string.
    inside: bool,
    /// Whether they end behind a backslash in it.
    escaped: bool,
    /// Whether the array has ended.
    closed: bool,
    /// Whether something stands behind it, which is a fault.
    behind: bool,
    /// How many bytes of the text were looked at.
    looked: usize,
}

impl Cuts {
    /// Adds to a text, which is what the cut before left, until it has about so many bytes and a comma to be cut at; where that
    /// comma is, or none where the input ends with the text, or the text with what stands behind the array.
    ///
    /// Errors: what the operating system refuses; no memory.
    pub fn fill(&mut self, source: &mut dyn BufRead, size: usize, text: &mut Vec<u8>) -> io::Result<Option<usize>> {
        let mut comma = None;
        loop {
            while let Some(at) = self.next_comma(text) {
                comma = Some(at);
            }
            if self.behind {
                return Ok(None);
            }
            if text.len() >= size && comma.is_some() {
                return Ok(comma);
            }
            let wanted = size.saturating_sub(text.len()).max(size.min(MORE)).max(1);
            // A reader that finds no room behind a text makes some without asking.
            reserve(text, wanted.min(MORE) + ROOM)?;
            if source.take(wanted as u64).read_to_end(text)? == 0 {
                return Ok(None);
            }
        }
    }

    /// As [`Cuts::fill`], until the text has so many items, one at least; `item` is told that another begins.
    ///
    /// Errors: what the operating system refuses; no memory.
    pub fn fill_items(
        &mut self,
        source: &mut dyn BufRead,
        items: usize,
        text: &mut Vec<u8>,
        item: &mut dyn FnMut(),
    ) -> io::Result<Option<usize>> {
        let mut left = items;
        loop {
            while let Some(at) = self.next_comma(text) {
                item();
                left = left.saturating_sub(1);
                if left == 0 {
                    return Ok(Some(at));
                }
            }
            if self.behind || !more(source, text)? {
                return Ok(None);
            }
        }
    }

    /// Takes a block away from a text, but for the comma that it ends with, which is at this byte.
    pub fn cut(&mut self, text: &mut Vec<u8>, comma: usize) {
        text.drain(..comma);
        self.looked -= comma;
    }

    /// The next comma between items, behind which the text was looked at then; without one all of it was.
    fn next_comma(&mut self, text: &[u8]) -> Option<usize> {
        while let Some(byte) = text.get(self.looked) {
            let at = self.looked;
            self.looked += 1;
            if self.escaped {
                self.escaped = false;
            } else if self.inside {
                let Some(next) = memchr::memchr2(b'"', b'\\', &text[at..]) else {
                    self.looked = text.len();
                    return None;
                };
                self.looked = at + next + 1;
                (self.inside, self.escaped) = (text[at + next] == b'\\', text[at + next] == b'\\');
            } else {
                match byte {
                    _ if self.closed && !is_blank(&[*byte]) => {
                        self.behind = true;
                        return None;
                    }
                    b'"' => self.inside = true,
                    b'[' | b'{' => self.depth += 1,
                    b']' | b'}' => {
                        self.depth = self.depth.saturating_sub(1);
                        self.closed |= self.depth == 0;
                    }
                    b',' if self.depth == 1 && !self.closed => return Some(at),
                    _ => {}
                }
            }
        }
        None
    }
}

/// Adds what a source has at hand, and says whether that was anything.
fn more(source: &mut dyn BufRead, text: &mut Vec<u8>) -> io::Result<bool> {
    loop {
        match source.fill_buf() {
            Ok(bytes) => {
                let came = bytes.len();
                add(text, bytes)?;
                source.consume(came);
                return Ok(came > 0);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Reads to the first byte that is not blank, behind a byte order mark, and says whether it begins an array, which it does within `size` bytes.
///
/// What begins like a mark and is none is read as far as it is like one: no line is at its end then.
/// Errors: what the operating system refuses.
pub fn begin(source: &mut dyn BufRead, size: usize, text: &mut Vec<u8>) -> io::Result<bool> {
    while text.len() < size.max(HEAD) {
        let Some(byte) = first(source)? else { break };
        let marks = MARK.starts_with(text) && MARK.get(text.len()) == Some(&byte);
        if !marks && !text.is_empty() && text.len() < MARK.len() && MARK.starts_with(text) {
            break;
        }
        source.consume(1);
        text.push(byte);
        if !marks && !is_blank(&[byte]) {
            break;
        }
    }
    Ok(is_array(text))
}

/// The first byte that a source has, which stays there; none at its end.
fn first(source: &mut dyn BufRead) -> io::Result<Option<u8>> {
    loop {
        match source.fill_buf() {
            Ok(bytes) => return Ok(bytes.first().copied()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// How far an array may stand from the start of a source, however small the blocks are.
const HEAD: usize = 1 << 6;

/// How much room a reader wants behind what it reads, to see that there is no more.
const ROOM: usize = 1 << 6;

/// How much is read at a time of an item that is longer than a block.
const MORE: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    /// The blocks of about so many bytes.
    fn blocks(mut input: &[u8], size: usize) -> Vec<String> {
        let (mut cuts, mut text, mut blocks) = (Cuts::default(), Vec::new(), Vec::new());
        loop {
            let comma = cuts.fill(&mut input, size, &mut text).expect("reads");
            let block = &text[..comma.map_or(text.len(), |at| at + 1)];
            blocks.push(String::from_utf8_lossy(block).into_owned());
            match comma {
                Some(comma) => cuts.cut(&mut text, comma),
                None => return blocks,
            }
        }
    }

    #[test]
    fn blocks_of_items_are_the_array() {
        let items = [r#"[{"a": "\\\",["}"#, r#" {"a": "]"}"#, r#" {"c": [1, {"d": 2}]}"#, "4 ]  "];
        let text = items.join(",");
        for (n, room) in (1..6).flat_map(|n| [1, 2, 7, 100].map(|room| (n, room))) {
            let mut source = io::BufReader::with_capacity(room, text.as_bytes());
            let (mut cuts, mut held, mut blocks, mut begun) = (Cuts::default(), Vec::new(), Vec::new(), 1);
            while let Some(comma) = cuts.fill_items(&mut source, n, &mut held, &mut || begun += 1).expect("reads") {
                blocks.push(String::from_utf8_lossy(&held[..comma]).into_owned());
                cuts.cut(&mut held, comma);
            }
            blocks.push(String::from_utf8_lossy(&held).into_owned());
            let wanted: Vec<String> = items.chunks(n).map(|items| items.join(",")).collect();
            let blocks: Vec<&str> = blocks.iter().map(|block| block.strip_prefix(',').unwrap_or(block)).collect();
            assert_eq!((blocks, begun), (wanted.iter().map(String::as_str).collect(), items.len()), "{n} {room}");
        }
    }

    #[test]
    fn what_begins_like_a_mark_ends_no_line() {
        let begun = |mut input: &[u8]| {
            let mut text = Vec::new();
            (begin(&mut input, 1, &mut text).expect("reads"), text)
        };
        assert_eq!(begun(b"\xef\n[1]"), (false, b"\xef".to_vec()));
        assert_eq!(begun(b"\xef\xbb\n[1]"), (false, b"\xef\xbb".to_vec()));
        assert_eq!(begun(b"\xef\xbb\xbf\n [1]"), (true, b"\xef\xbb\xbf\n [".to_vec()));
        assert_eq!(begun(b"\n [1]"), (true, b"\n [".to_vec()));
        assert_eq!(begun(b" {}"), (false, b" {".to_vec()));
        assert_eq!(begun(b""), (false, Vec::new()));
    }

    #[test]
    fn what_stands_behind_an_array_is_seen_before_more_is_read() {
        for (size, behind) in (1..30).flat_map(|size| [" x", "\n[1, 2]", ",", " , {}", "]", "\""].map(|b| (size, b))) {
            let input = format!("[1, 2, 3]{behind}{}", "z".repeat(2 * MORE));
            let (mut rest, mut cuts, mut text) = (input.as_bytes(), Cuts::default(), Vec::new());
            while let Some(comma) = cuts.fill(&mut rest, size, &mut text).expect("reads") {
                cuts.cut(&mut text, comma);
            }
            assert!(rest.len() > MORE, "{size} {behind}: {} bytes are left", rest.len());
        }
    }

    #[test]
    fn an_array_is_cut_between_its_items_alone() {
        let items = [r#"[{"a": "\\\",[", "b": [1, 2]}"#, r#" {"a": "]", "b": []}"#, r#" {"c": "\\"} ]  "#];
        let wanted = [format!("{},", items[0]), format!(",{},", items[1]), format!(",{}", items[2])];
        assert_eq!(blocks(items.join(",").as_bytes(), 1), wanted);
        for size in 1..100 {
            let blocks = blocks(items.join(",").as_bytes(), size);
            let joined: String = blocks.iter().enumerate().map(|(i, block)| &block[usize::from(i > 0)..]).collect();
            assert_eq!(joined, items.join(","));
            assert!(blocks.iter().all(|block| wanted.iter().any(|item| block.ends_with(item.trim_start_matches(',')))));
        }
    }
}
