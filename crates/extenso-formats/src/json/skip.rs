//! Reading over a value that nobody needs.
//!
//! Invariant: the value is followed by a loop, at most [`MAX_SKIPPED_DEPTH`] deep, and checked for syntax alone.

use super::failure::{Failure, Read};
use extenso_types::Error;
use jiter::{Jiter, Peek};

/// How deep a value that is read over may nest.
pub const MAX_SKIPPED_DEPTH: u32 = u128::BITS;

/// Reads over one value of any kind.
pub fn skip(jiter: &mut Jiter<'_>, mut peek: Peek) -> Read<()> {
    // One bit per open container, the innermost lowest: whether it is an object.
    let (mut objects, mut depth) = (0_u128, 0);
    loop {
        let opened = match peek {
            Peek::Object | Peek::Array if depth == MAX_SKIPPED_DEPTH => return Err(too_deep(jiter)),
            Peek::Object => jiter.next_object_bytes()?.is_some().then_some(1),
            Peek::Array => jiter.known_array()?.map(|first| {
                peek = first;
                0
            }),
            _ => {
                jiter.known_skip(peek)?;
                None
            }
        };
        if let Some(kind) = opened {
            objects = objects << 1 | kind;
            depth += 1;
            if kind == 1 {
                peek = jiter.peek()?;
            }
            continue;
        }
        loop {
            if depth == 0 {
                return Ok(());
            }
            if objects & 1 == 1 {
                if jiter.next_key_bytes()?.is_some() {
                    peek = jiter.peek()?;
                    break;
                }
            } else if let Some(next) = jiter.array_step()? {
                peek = next;
                break;
            }
            objects >>= 1;
            depth -= 1;
        }
    }
}

/// Whether a text is one JSON value that can be read over.
pub fn is_json(text: &[u8]) -> bool {
    let mut jiter = Jiter::new(text);
    let read = |jiter: &mut Jiter<'_>| -> Read<()> {
        let peek = jiter.peek()?;
        skip(jiter, peek)?;
        Ok(jiter.finish()?)
    };
    std::str::from_utf8(text).is_ok() && read(&mut jiter).is_ok()
}

#[cold]
fn too_deep(jiter: &Jiter<'_>) -> Box<Failure> {
    let error = Error::data("a value that nobody needs nests too deep");
    Failure::new(jiter.current_index(), error.wanted(format!("at most {MAX_SKIPPED_DEPTH} levels")))
}
