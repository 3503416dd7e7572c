//! Changes of a message of protocol buffers that leave its lengths right: fields are moved, repeated, left out and exchanged.

use extenso_testkit::rng::Rng;

/// Numbers that are borders of something.
const NUMBERS: [u64; 12] = [0, 1, 2, 3, 127, 128, 1 << 31, (1 << 32) - 1, 1 << 60, i64::MAX as u64, 1 << 63, u64::MAX];

/// One field: its number with the wire type, and what it holds.
#[derive(Clone, PartialEq, Debug)]
struct Field {
    tag: u64,
    payload: Payload,
}

#[derive(Clone, PartialEq, Debug)]
enum Payload {
    Number(u64),
    Fixed(Vec<u8>),
    Bytes(Vec<u8>),
}

/// Changes one field of the message, or of a message in it.
pub fn change(input: &mut Vec<u8>, corpus: &[Vec<u8>], rng: &mut Rng) {
    let Some(mut fields) = parse(input).filter(|fields| !fields.is_empty()) else { return };
    let at = rng.below(fields.len());
    // Most of a message lies deep in it.
    if let Payload::Bytes(bytes) = &mut fields[at].payload
        && rng.below(5) > 0
        && parse(bytes).is_some_and(|inner| !inner.is_empty())
    {
        change(bytes, corpus, rng);
    } else {
        change_field(&mut fields, at, corpus, rng);
    }
    *input = write(&fields);
}

fn change_field(fields: &mut Vec<Field>, at: usize, corpus: &[Vec<u8>], rng: &mut Rng) {
    match rng.below(7) {
        0 => drop(fields.remove(at)),
        1 => fields.insert(at, fields[at].clone()),
        2 => {
            let other = rng.below(fields.len());
            fields.swap(at, other);
        }
        3 => fields.extend(field_of(rng.pick::<Vec<u8>>(corpus), rng)),
        4 => fields[at].tag ^= 8 << rng.below(3),
        _ => change_payload(&mut fields[at].payload, rng),
    }
}

fn change_payload(payload: &mut Payload, rng: &mut Rng) {
    match payload {
        Payload::Number(n) => {
            *n = match rng.below(3) {
                0 => n.wrapping_add(1),
                1 => n.wrapping_sub(1),
                _ => *rng.pick(&NUMBERS),
            }
        }
        Payload::Fixed(bytes) | Payload::Bytes(bytes) if !bytes.is_empty() => {
            let at = rng.below(bytes.len());
            bytes[at] ^= 1 << rng.below(8);
        }
        Payload::Bytes(bytes) => bytes.push(0),
        Payload::Fixed(_) => {}
    }
}

/// Some field of a message, from any depth.
fn field_of(message: &[u8], rng: &mut Rng) -> Option<Field> {
    let fields = parse(message).filter(|fields| !fields.is_empty())?;
    let field = rng.pick(&fields).clone();
    match &field.payload {
        Payload::Bytes(inner) if rng.below(4) > 0 => field_of(inner, rng).or(Some(field)),
        _ => Some(field),
    }
}

/// The fields of a message, if it is one to its last byte.
fn parse(mut bytes: &[u8]) -> Option<Vec<Field>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let tag = read_number(&mut bytes)?;
        let payload = match tag & 7 {
            0 => Payload::Number(read_number(&mut bytes)?),
            1 => Payload::Fixed(take(&mut bytes, 8)?),
            5 => Payload::Fixed(take(&mut bytes, 4)?),
            2 => {
                let len = usize::try_from(read_number(&mut bytes)?).ok()?;
                Payload::Bytes(take(&mut bytes, len)?)
            }
            _ => return None,
        };
        fields.push(Field { tag, payload });
    }
    Some(fields)
}

fn take(bytes: &mut &[u8], n: usize) -> Option<Vec<u8>> {
    let (head, tail) = bytes.split_at_checked(n)?;
    *bytes = tail;
    Some(head.to_vec())
}

fn read_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, tail) = bytes.split_first()?;
        *bytes = tail;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn write(fields: &[Field]) -> Vec<u8> {
    let mut out = Vec::new();
    for field in fields {
        write_number(field.tag, &mut out);
        match &field.payload {
            Payload::Number(n) => write_number(*n, &mut out),
            Payload::Fixed(bytes) => out.extend(bytes),
            Payload::Bytes(bytes) => {
                write_number(u64::try_from(bytes.len()).unwrap_or(u64::MAX), &mut out);
                out.extend(bytes);
            }
        }
    }
    out
}

fn write_number(mut n: u64, out: &mut Vec<u8>) {
    while n >= 0x80 {
        out.push(n.to_le_bytes()[0] | 0x80);
        n >>= 7;
    }
    out.push(n.to_le_bytes()[0]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_of_its_fields_is_the_message() {
        let message = b"\x0a\x03abc\x10\xac\x02\x19\x01\x02\x03\x04\x05\x06\x07\x08\x25\x01\x02\x03\x04";
        let fields = parse(message).expect("a message");
        assert_eq!((fields.len(), fields[1].payload.clone()), (4, Payload::Number(300)));
        assert_eq!(write(&fields), message);
        assert_eq!(parse(b"\x0a\x09abc"), None);
    }

    #[test]
    fn a_changed_message_is_a_message() {
        let corpus = [b"\x0a\x05\x0a\x03abc\x10\xac\x02".to_vec()];
        let mut rng = Rng::new(1);
        for _ in 0..200 {
            let mut input = corpus[0].clone();
            change(&mut input, &corpus, &mut rng);
            let wire = |f: Vec<Field>| f.iter().all(|f| f.tag & 7 < 6);
            assert!(parse(&input).is_some_and(wire), "{input:?}");
        }
    }
}
