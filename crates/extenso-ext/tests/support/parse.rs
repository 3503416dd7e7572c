//! Literals from Python text, as far as the tests write them.

use extenso_ext::Literal;

/// The literal of a text.
///
/// # Panics
/// The text is not one.
pub fn parse(text: &str) -> Literal {
    let mut rest = text;
    let literal = item(&mut rest);
    assert!(rest.trim().is_empty(), "'{rest}' is left over in {text}");
    literal
}

fn item(rest: &mut &str) -> Literal {
    *rest = rest.trim_start();
    if eat(rest, "[") {
        return Literal::List(until(rest, "]", item));
    }
    if eat(rest, "{") {
        return Literal::Record(until(rest, "}", entry));
    }
    if eat(rest, "b\"") {
        return Literal::Bytes(string(rest).into_bytes());
    }
    if eat(rest, "\"") {
        return Literal::Str(string(rest));
    }
    let end = rest.find([',', ']', '}', ' ']).unwrap_or(rest.len());
    let (word, tail) = rest.split_at(end);
    *rest = tail;
    match word {
        "None" => Literal::None,
        "True" => Literal::Bool(true),
        "False" => Literal::Bool(false),
        _ => word.parse().map(Literal::Int).or_else(|_| word.parse().map(Literal::Float)).expect(word),
    }
}

fn entry(rest: &mut &str) -> (String, Literal) {
    *rest = rest.trim_start();
    assert!(eat(rest, "\""), "a key is wanted at '{rest}'");
    let key = string(rest);
    *rest = rest.trim_start();
    assert!(eat(rest, ":"), "':' is wanted at '{rest}'");
    (key, item(rest))
}

fn until<T>(rest: &mut &str, close: &str, read: fn(&mut &str) -> T) -> Vec<T> {
    let mut items = Vec::new();
    loop {
        *rest = rest.trim_start();
        if eat(rest, close) {
            return items;
        }
        items.push(read(rest));
        *rest = rest.trim_start();
        eat(rest, ",");
    }
}

fn string(rest: &mut &str) -> String {
    let end = rest.find('"').expect("a closing quote");
    let (text, tail) = rest.split_at(end);
    *rest = &tail[1..];
    text.to_string()
}

fn eat(rest: &mut &str, prefix: &str) -> bool {
    match rest.strip_prefix(prefix) {
        Some(tail) => {
            *rest = tail;
            true
        }
        None => false,
    }
}
