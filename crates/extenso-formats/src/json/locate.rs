//! Where in one document the list of records is that a path leads to.
//!
//! Invariant: the whole document is checked for syntax, and a key that is on the path stands once.

use super::failure::{Failure, Read};
use super::skip::skip;
use super::split::mark_len;
use extenso_types::{Error, Path, Result, Segment};
use jiter::{Jiter, Peek};
use std::ops::Range;

/// The bytes of the value at a path of fields and places, in a document.
///
/// Errors: no such value, with what there is; a document that is no JSON.
pub fn locate(text: &[u8], path: &Path) -> Result<Range<usize>> {
    let (mut span, mut at) = (mark_len(text)..text.len(), Path::root());
    let told = |failure: Box<Failure>, start: usize| failure.of_document(start).at("items");
    if path.is_root() {
        return Ok(span);
    }
    for (depth, step) in path.segments().iter().enumerate() {
        let part = text.get(span.clone()).unwrap_or_default();
        let found = below(part, step, &at, depth == 0).map_err(|failure| told(failure, span.start))?;
        span = span.start + found.start..span.start + found.end;
        at = at.child(step.clone());
    }
    Ok(span)
}

/// Where the value of a step stands in a value, of which the end is checked where it is the document.
fn below(text: &[u8], step: &Segment, at: &Path, whole: bool) -> Read<Range<usize>> {
    let mut jiter = Jiter::new(text);
    let peek = jiter.peek()?;
    let (found, there) = match (step, peek) {
        (Segment::Field(name), Peek::Object) => field(&mut jiter, name)?,
        (Segment::Index(place), Peek::Array) => item(&mut jiter, *place)?,
        (Segment::Field(_) | Segment::Index(_), _) => {
            let what = if peek == Peek::Array {
                "a list"
            } else if peek == Peek::Object {
                "an object"
            } else {
                "no object"
            };
            let error = Error::data(format!("{} is {what}, and the path goes on with '{}'", named(at), shown(step)));
            return Err(Failure::new(jiter.current_index(), error.wanted("a path of what the document has")));
        }
        (Segment::Each | Segment::Component(_) | Segment::Itself, _) => {
            let error = Error::value(format!("the path goes on with '{}'", shown(step)));
            return Err(Failure::new(0, error.wanted("fields and places alone, as in `data.pages[0].rows`")));
        }
    };
    if whole {
        jiter.finish()?;
    }
    found.ok_or_else(|| {
        let error = Error::missing(format!("there is no '{}'", at.child(step.clone())));
        Failure::new(0, error.wanted(there))
    })
}

/// The span of a field, and what there is.
fn field(jiter: &mut Jiter<'_>, name: &str) -> Read<(Option<Range<usize>>, String)> {
    /// So many keys are told of.
    const MOST: usize = 20;
    let (mut found, mut known, mut count) = (None, Vec::new(), 0);
    let mut key = jiter.known_object()?;
    while let Some(this) = key {
        let is_it = this == name;
        if count < MOST {
            known.push(this.to_string());
        }
        count += 1;
        let peek = jiter.peek()?;
        let start = jiter.current_index();
        skip(jiter, peek)?;
        if is_it && found.replace(start..jiter.current_index()).is_some() {
            let error = Error::data(format!("the key \"{name}\" came a second time")).wanted("each key once");
            return Err(Failure::new(start, error));
        }
        key = jiter.next_key()?;
    }
    let there = match &known[..] {
        [] => "a field, of which the record has none".into(),
        known => format!("one of {}{}", known.join(", "), if count > known.len() { ", ..." } else { "" }),
    };
    Ok((found, there))
}

/// The span of an item, and what there is.
fn item(jiter: &mut Jiter<'_>, place: usize) -> Read<(Option<Range<usize>>, String)> {
    let (mut found, mut count) = (None, 0);
    let mut next = jiter.known_array()?;
    while let Some(peek) = next {
        let start = jiter.current_index();
        skip(jiter, peek)?;
        if count == place {
            found = Some(start..jiter.current_index());
        }
        count += 1;
        next = jiter.array_step()?;
    }
    Ok((found, format!("a place below {count}")))
}

fn named(at: &Path) -> String {
    if at.is_root() { "the document".into() } else { format!("'{at}'") }
}

fn shown(step: &Segment) -> String {
    Path::root().child(step.clone()).to_string()
}
