//! Base64 (RFC 4648): how byte strings stand in JSON.
//!
//! Writes the standard alphabet with padding. Reads that and the URL-safe alphabet, with or without padding.
//! Bits that carry nothing are written as zero and may be anything where they are read, as other readers of messages in JSON have them.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

const NONE: u8 = 0xff;

const VALUES: [u8; 256] = {
    let mut values = [NONE; 256];
    let mut i = 0;
    while i < 64 {
        values[ALPHABET[i] as usize] = i as u8;
        i += 1;
    }
    values[b'-' as usize] = 62;
    values[b'_' as usize] = 63;
    values
};

/// Appends the text of `bytes`.
pub fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    for chunk in bytes.chunks(3) {
        let at = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let group = at(0) << 16 | at(1) << 8 | at(2);
        let digit = |i: usize| ALPHABET[(group >> (18 - 6 * i)) as usize & 63];
        (0..4).for_each(|i| out.push(if i <= chunk.len() { digit(i) } else { b'=' }));
    }
}

/// Appends the bytes that `text` stands for, or says that it stands for none.
#[must_use]
pub fn decode(text: &[u8], out: &mut Vec<u8>) -> bool {
    let digits = match text {
        [head @ .., b'=', b'='] if head.len() % 4 == 2 => head,
        [head @ .., b'='] if head.len() % 4 == 3 => head,
        whole => whole,
    };
    digits.chunks(4).all(|chunk| decode_group(chunk, out))
}

fn decode_group(chunk: &[u8], out: &mut Vec<u8>) -> bool {
    let mut group = 0;
    for (i, digit) in chunk.iter().enumerate() {
        let value = VALUES[usize::from(*digit)];
        if value == NONE {
            return false;
        }
        group |= u32::from(value) << (18 - 6 * i);
    }
    let [_, a, b, c] = group.to_be_bytes();
    match chunk.len() {
        4 => out.extend([a, b, c]),
        3 => out.extend([a, b]),
        2 => out.push(a),
        _ => return false,
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], text: &str) {
        let (mut written, mut read) = (Vec::new(), Vec::new());
        encode(bytes, &mut written);
        assert_eq!(written, text.as_bytes());
        assert!(decode(text.as_bytes(), &mut read) && read == bytes, "{text}");
        read.clear();
        assert!(decode(text.trim_end_matches('=').as_bytes(), &mut read) && read == bytes, "{text} without padding");
    }

    #[test]
    fn the_vectors_of_rfc_4648_hold() {
        let texts = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
        texts.iter().enumerate().for_each(|(n, text)| check(&b"foobar"[..n], text));
        check(&[0xfb, 0xff, 0xfe], "+//+");
        let mut read = Vec::new();
        assert!(decode(b"-__-", &mut read) && read == [0xfb, 0xff, 0xfe]);
    }

    #[test]
    fn what_is_no_base64_is_refused() {
        for text in ["A", "====", "=", "AA=A", "A===", "AA=", "AAA==", "Zm9v\n", "Zm9v=", "é"] {
            assert!(!decode(text.as_bytes(), &mut Vec::new()), "{text}");
        }
    }
}
