//! Categorical tensors: values of few kinds, each by its place in a vocabulary.
//!
//! Invariant: every code is a place of `categories`, or there are no codes. A category may stand there twice; what codes mean, not the
//! codes, is compared.

mod joined;

use crate::Literal;
use crate::args::{again, answer, answer_ext, flat, int, typed, typed_arg, typed_ref};
use crate::axes::{outer, positions, rank};
use crate::lists::{pad_to, ranks};
use crate::masked::MaskedTensor;
use crate::meaning::nested::{below, innermost};
use crate::meaning::order::register_order;
use crate::meaning::{Meaning, register_moves};
use crate::ragged::zero;
use extenso_core::attrs::Axes;
use extenso_core::{
    Answer, Arg, Call, Class, ExtensionType as _, Target, Tensor, Value, call_one, on, ops, strengthen,
};
use extenso_derive::ExtensionType;
use extenso_types::{DType, DTypeKind, Dim, Error, Result, TypeDef};
use std::sync::Arc;

/// Values by their places in a vocabulary. Ops see the values that the codes mean.
///
/// `ordered` says that the order of the vocabulary means something: then values are sorted and compared by it, and compared with what has the
/// same order or is one of the categories.
///
/// ```
/// # use extenso_core::{ExtensionType, Tensor, ops};
/// # use extenso_ext::CategoricalTensor;
/// let words = Tensor::strings(&[2], &["a", "b"]).unwrap();
/// let x = CategoricalTensor::new(Tensor::new::<i8>(&[3], &[1, 0, 1]).unwrap(), words, false).unwrap();
/// assert_eq!(x.decoded().unwrap().to_string(), r#"["b", "a", "b"]"#);
/// assert_eq!(ops::equal(x.into_value(), "b").unwrap().to_string(), "[True, False, True]");
/// ```
#[derive(Clone, ExtensionType)]
#[extenso(
    name = "extenso/CategoricalTensor",
    validate = fits,
    validate_data = in_range,
    guard = guarded,
    to_tensor = plain,
    handlers = register
)]
pub struct CategoricalTensor {
    #[extenso(itself)]
    codes: Tensor,
    #[extenso(component)]
    categories: Value,
    #[extenso(static)]
    ordered: bool,
}

fn fits(x: &CategoricalTensor) -> Result<()> {
    if !x.codes.dtype().is_integer() {
        return Err(Error::dtype(format!("the codes are {}", x.codes.dtype())).at("codes").wanted("integers"));
    }
    match outer(&x.categories) {
        Some(_) => Ok(()),
        None => Err(Error::shape("the categories are a scalar").at("categories").wanted("a vector of values")),
    }
}

/// Every code is the place of a category.
fn in_range(x: &CategoricalTensor) -> Result<()> {
    let (Ok(dense), Some(Dim::Known(count))) = (x.codes.data(), outer(&x.categories)) else { return Ok(()) };
    if dense.is_empty() {
        return Ok(());
    }
    let codes = ops::cast(&x.codes, DType::I64)?;
    let wrong = |code: &i64| !usize::try_from(*code).is_ok_and(|code| code < count);
    match codes.tensor()?.as_slice::<i64>()?.iter().position(wrong) {
        None => Ok(()),
        Some(at) => Err(Error::value(format!("code {at} is {}", codes.tensor()?.as_slice::<i64>()?[at]))
            .wanted(format!("a place of one of {count} categories"))
            .at("codes")),
    }
}

/// Codes that are no data are looked at when the graph runs.
fn guarded(x: CategoricalTensor) -> Result<CategoricalTensor> {
    let count = outer(&x.categories).and_then(Dim::known);
    if x.codes.data().is_ok() && count.is_some() {
        return Ok(x);
    }
    let codes = ops::cast(&x.codes, DType::I64)?;
    let size = || ops::sum(ops::ones_like(positions(&x.categories)?)?, Axes::All, false);
    let count = count.map_or_else(size, |count| Ok(Tensor::scalar(int(count)).into()))?;
    let known = ops::logical_and(ops::greater_equal(&codes, 0)?, ops::less(&codes, count)?)?;
    let codes = ops::check_all(&x.codes, known, "a code is of no category", "a place of one of the categories")?;
    Ok(CategoricalTensor { codes: codes.tensor()?.clone(), ..x })
}

fn plain(x: &CategoricalTensor) -> Result<Tensor> {
    x.decoded()?.tensor().cloned()
}

fn register(def: &Arc<TypeDef>) {
    on(Target::Any, def, "CategoricalTensor by its values", by_values);
    on(Target::Class(Class::UnaryElementwise), def, "CategoricalTensor elementwise", by_categories);
    register_moves::<CategoricalTensor>(def, "CategoricalTensor moves");
    register_order::<CategoricalTensor>(def, "CategoricalTensor order");
    on(Target::Op(&ops::FINGERPRINT), def, "CategoricalTensor by its values", by_values);
    for op in [&ops::LESS, &ops::LESS_EQUAL, &ops::GREATER, &ops::GREATER_EQUAL, &ops::SEARCHSORTED] {
        on(Target::Op(op), def, "CategoricalTensor by its order", compared);
    }
    for op in [&ops::EQUAL, &ops::NOT_EQUAL] {
        on(Target::Op(op), def, "CategoricalTensor by its categories", equated);
    }
    on(Target::Op(&ops::MAXIMUM), def, "CategoricalTensor by its order", picked);
    on(Target::Op(&ops::MINIMUM), def, "CategoricalTensor by its order", picked);
    on(Target::Op(&ops::CONCAT), def, "CategoricalTensor concat", joined::concat);
}

impl CategoricalTensor {
    /// The values of `categories` at these places.
    ///
    /// Errors: codes that are no integers, or no place of a category, now or when the graph runs.
    pub fn new(codes: Tensor, categories: impl Into<Value>, ordered: bool) -> Result<CategoricalTensor> {
        let made = CategoricalTensor { codes, categories: categories.into(), ordered };
        fits(&made).and_then(|()| in_range(&made)).and_then(|()| guarded(made)).map_err(|e| e.at("CategoricalTensor"))
    }

    /// Codes that are known to be places of categories.
    pub(crate) fn of_places(codes: &Value, categories: Value, ordered: bool) -> Result<CategoricalTensor> {
        let made = CategoricalTensor { codes: codes.tensor()?.clone(), categories, ordered };
        fits(&made).map(|()| made)
    }

    /// A vector or tensor of values by its distinct ones, in the order of how often they come.
    ///
    /// Errors: values that no vocabulary is made of.
    pub fn of(values: &Value) -> Result<CategoricalTensor> {
        let categories = ops::vocabulary(values, None, 1_i64)?;
        let codes = ops::lookup(values, &categories, -1_i64, 0_i64)?;
        CategoricalTensor::of_places(&codes, categories, false)
    }

    /// The place of each in the vocabulary.
    pub fn codes(&self) -> &Tensor {
        &self.codes
    }

    /// The vocabulary.
    pub fn categories(&self) -> &Value {
        &self.categories
    }

    /// Whether the order of the categories means something.
    pub fn ordered(&self) -> bool {
        self.ordered
    }

    /// The values that the codes mean.
    ///
    /// Errors: those of `take`.
    pub fn decoded(&self) -> Result<Value> {
        self.spread(&self.categories)
    }

    /// For each element what stands for its category among `each`.
    ///
    /// Errors: those of `take`.
    pub(crate) fn spread(&self, each: &Value) -> Result<Value> {
        // Without a category, all elements are missing, and what stands for them may be anything.
        if outer(each) == Some(Dim::Known(0)) && !self.codes.shape().dims().unwrap_or_default().contains(&Dim::Known(0))
        {
            let padded = pad_to(each, 1_i64, None, 0, false)?;
            let one = typed_ref::<MaskedTensor>(&padded).map_or_else(|| padded.clone(), |one| one.values().clone());
            return ops::take(one, ops::zeros_like(&self.codes)?, 0_i64);
        }
        match each {
            // Whether there is a category is known when the graph runs.
            Value::Tensor(known) if known.rank() == Some(1) && known.shape().to_dims().is_none() => {
                let places = ops::indices_along(known, 0)?;
                let none = ops::equal(ops::sum(ops::ones_like(places)?, Axes::All, false)?, 0)?;
                let spare =
                    ops::boolean_mask(ops::expand_dims(zero(known.dtype())?, 0)?, ops::expand_dims(none, 0)?, 0)?;
                ops::take(ops::concat(vec![each.clone(), spare], 0)?, &self.codes, 0_i64)
            }
            _ => ops::take(each, &self.codes, 0_i64),
        }
    }
}

/// Values by their distinct ones, in the order of how often they come; in rows and under masks, where what is missing stays so.
///
/// Errors: values that no vocabulary is made of.
///
/// ```
/// # use extenso_ext::{constant, to_categorical, to_literal};
/// let words = constant(vec![vec!["b", "a"], vec!["b"]]).unwrap();
/// assert_eq!(to_literal(&to_categorical(&words).unwrap()).unwrap().to_string(), r#"[["b", "a"], ["b"]]"#);
/// ```
pub fn to_categorical(values: &Value) -> Result<Value> {
    let known = ops::vocabulary(values, None, 1_i64)?;
    // Where all are missing, what stands under the masks is the vocabulary: a code is the place of a category.
    let none = outer(&known).and_then(|dim| dim.known()) == Some(0);
    let categories = if none { ops::vocabulary(innermost(values), None, 1_i64)? } else { known };
    // What is missing is looked up too, and stands at the first.
    let codes = ops::lookup(values, &categories, 0_i64, 0_i64)?;
    let made = |codes: &Value| Ok(CategoricalTensor::of_places(codes, categories.clone(), false)?.into_value());
    below(&codes, &made).map_err(|e| e.at_part("to_categorical"))
}

impl Meaning for CategoricalTensor {
    const BY_KEYS: bool = true;

    fn elements(&self) -> Value {
        self.codes.clone().into()
    }

    fn over(&self, elements: Value) -> Result<CategoricalTensor> {
        let codes = elements.tensor()?.clone();
        Ok(CategoricalTensor { codes, categories: self.categories.clone(), ordered: self.ordered })
    }

    fn meets(&self, other: &CategoricalTensor) -> Result<()> {
        if same(&self.categories, &other.categories) && self.codes.dtype() == other.codes.dtype() {
            return Ok(());
        }
        Err(two_vocabularies())
    }

    /// Two vocabularies without an order are one that has the categories of both.
    fn alike(&self, other: &CategoricalTensor) -> Result<(CategoricalTensor, CategoricalTensor)> {
        if self.ordered || other.ordered || self.meets(other).is_ok() {
            self.meets(other)?;
            return Ok((self.clone(), other.clone()));
        }
        let (codes, categories) = joined::in_one_vocabulary(&[self.clone(), other.clone()])?;
        let made = |codes: &Value| {
            let codes = codes.tensor()?.clone();
            Ok::<_, Error>(CategoricalTensor { codes, categories: categories.clone(), ordered: false })
        };
        Ok((made(&codes[0])?, made(&codes[1])?))
    }

    /// The places of categories whose order means something, and otherwise the order of what they are.
    fn order(&self) -> Result<Value> {
        if self.ordered {
            return Ok(self.elements());
        }
        let order = self.in_order()?;
        // Without a category, all elements are missing, and something stands for them.
        let order = match outer(&self.categories).and_then(Dim::known) {
            Some(1..) => order,
            Some(0) | None => ops::concat(vec![order, Tensor::from_vec(vec![0_i64]).into()], 0)?,
        };
        ops::take(order, &self.codes, 0_i64)
    }

    fn ends(&self) -> Result<CategoricalTensor> {
        // The last is neither, unless there is no category.
        let order = ops::cast(self.in_order()?, DType::I64)?;
        let behind = |last: i64| ops::concat(vec![order.clone(), Tensor::from_vec(vec![last]).into()], 0);
        let least = ops::argmin(behind(i64::MAX)?, 0_i64, false)?;
        let greatest = ops::argmax(behind(-1)?, 0_i64, false)?;
        self.over(ops::cast(ops::stack(vec![least, greatest], 0)?, self.codes.dtype())?)
    }
}

impl CategoricalTensor {
    /// Numbers of the categories in their order.
    fn in_order(&self) -> Result<Value> {
        if self.ordered { positions(&self.categories) } else { ranks(&self.categories) }
    }
}

/// Whether two vocabularies are one, without looking at symbols.
fn same(a: &Value, b: &Value) -> bool {
    let (Value::Tensor(x), Value::Tensor(y)) = (a, b) else { return false };
    let equal = || {
        let alike = x.data().ok()?.dims() == y.data().ok()?.dims() && x.dtype() == y.dtype();
        let all =
            |value: Value| ops::all(value, extenso_core::attrs::Axes::All, false).ok()?.tensor().ok()?.to_bool().ok();
        if alike { all(ops::equal(a, b).ok()?) } else { None }
    };
    x.same(y) || equal().unwrap_or(false)
}

/// Any other op sees what the codes mean.
fn by_values(call: &Call<'_>) -> Answer {
    let decode = |arg: &Arg| match typed_arg::<CategoricalTensor>(arg) {
        Some(x) => x.decoded().map(Arg::Value),
        None => Ok(arg.clone()),
    };
    let args: Result<Vec<Arg>> = flat(call).iter().map(decode).collect();
    again(call, &args?).map(Some)
}

/// An op of one argument is applied to each category once.
fn by_categories(call: &Call<'_>) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<CategoricalTensor>(x) else { return Ok(None) };
    // Of categories that no value has nothing is told, and an error says which value it is of.
    call_one(call.op, &[Arg::from(&x.categories)], call.attrs)
        .map_or_else(|_| by_values(call), |made| answer(x.spread(&made)?))
}

/// Where the order of categories means something, it is what is compared.
fn compared(call: &Call<'_>) -> Answer {
    match in_one_order(call)? {
        Some((_, places)) => again(call, &places).map(Some),
        None => equated(call),
    }
}

/// Beside one value each category is compared once, and among the same distinct categories their codes are equal or not.
fn equated(call: &Call<'_>) -> Answer {
    let [x, y] = flat(call) else { return by_values(call) };
    let is_equality = *call.op == ops::EQUAL || *call.op == ops::NOT_EQUAL;
    let (codes, found) = match (typed_arg::<CategoricalTensor>(x), typed_arg::<CategoricalTensor>(y)) {
        (Some(a), None) if is_one(y) && a.words().is_some() => {
            (a.codes, call_one(call.op, &[Arg::from(&a.categories), y.clone()], call.attrs))
        }
        (None, Some(b)) if is_one(x) && b.words().is_some() => {
            (b.codes, call_one(call.op, &[x.clone(), Arg::from(&b.categories)], call.attrs))
        }
        (Some(a), Some(b)) if is_equality && a.are_distinct() && a.meets(&b).is_ok() => {
            return again(call, &[Arg::from(&a.codes), Arg::from(&b.codes)]).map(Some);
        }
        _ => return by_values(call),
    };
    // An error says what the values are.
    found.map_or_else(|_| by_values(call), |found| answer(ops::take(found, codes, 0_i64)?))
}

fn is_one(arg: &Arg) -> bool {
    match arg {
        Arg::Scalar(_) => true,
        Arg::Value(Value::Tensor(x)) => x.rank() == Some(0),
        Arg::Value(_) | Arg::List(_) => false,
    }
}

impl CategoricalTensor {
    /// The categories, if they are a vector of data, and not more than there are codes.
    pub(crate) fn words(&self) -> Option<&Tensor> {
        let words = self.categories.tensor().ok()?;
        let codes = self.codes.shape().to_dims()?.iter().product::<usize>();
        matches!(words.data().ok()?.dims(), [count] if *count <= codes).then_some(words)
    }

    /// Whether elements are equal where their codes are. A NaN is not.
    pub(crate) fn are_distinct(&self) -> bool {
        let distinct = |words: &Tensor| {
            let unique = ops::unique_values(words).ok()?;
            Some(unique.tensor().ok()?.data().ok()?.len() == words.data().ok()?.len())
        };
        let words = self.words().filter(|words| words.dtype().is_integer() || words.dtype().kind() == DTypeKind::Text);
        words.and_then(distinct).unwrap_or(false)
    }
}

/// The later or the earlier of two in their order.
fn picked(call: &Call<'_>) -> Answer {
    let Some((like, places)) = in_one_order(call)? else { return by_values(call) };
    let codes = call_one(call.op, &places, call.attrs)?;
    answer_ext(like.over(ops::cast(codes, like.codes.dtype())?)?)
}

/// Places in the vocabulary of two arguments, and the one whose vocabulary it is; none if the order of neither means something.
fn in_one_order(call: &Call<'_>) -> Result<Option<(CategoricalTensor, [Arg; 2])>> {
    let [x, y] = flat(call) else { return Ok(None) };
    let (a, b) = (typed_arg::<CategoricalTensor>(x), typed_arg::<CategoricalTensor>(y));
    let Some(like) = [&a, &b].into_iter().flatten().find(|x| x.ordered).cloned() else { return Ok(None) };
    let places = |arg: &Arg, typed: &Option<CategoricalTensor>| match typed {
        Some(other) => like.places_of(other).map(Arg::Value),
        None => like.place_of(arg).map(Arg::Value),
    };
    let both = [places(x, &a)?, places(y, &b)?];
    Ok(Some((like, both)))
}

impl CategoricalTensor {
    /// The places of other values in this order.
    fn places_of(&self, other: &CategoricalTensor) -> Result<Value> {
        if !other.ordered {
            return Err(Error::dtype("categories that have no order stand beside some that have one")
                .wanted("one order for both")
                .hint("Compare what they are: `as_string(x)` for words."));
        }
        let places = ops::cast(&other.codes, DType::I64)?;
        let (a, b) = (&self.categories, &other.categories);
        let on_data = |x: &Value| matches!(x, Value::Tensor(x) if x.data().is_ok());
        match same(a, b) {
            true => Ok(places),
            false if on_data(a) && on_data(b) => Err(two_vocabularies()),
            false => ops::check_all(places, ops::equal(a, b)?, "the categories are two vocabularies", "one for both"),
        }
    }

    /// The place of one value, which is a category.
    fn place_of(&self, word: &Arg) -> Result<Value> {
        if let Arg::Value(words) = word
            && rank(words)? > 0
        {
            return Err(Error::dtype("values stand beside categories that have an order")
                .wanted("one category, or others of the same order")
                .hint("Compare what they are: `as_string(x)` for words."));
        }
        let found = ops::equal(&self.categories, word.clone())?;
        let known = ops::any(&found, Axes::All, false)?;
        let named = match word {
            Arg::Scalar(word) => strengthen(word, None)?.to_string(),
            Arg::Value(word) if word.tensor().is_ok_and(|word| word.data().is_ok()) => word.to_string(),
            Arg::Value(_) | Arg::List(_) => "a value".to_string(),
        };
        ops::check_all(
            ops::argmax(found, 0_i64, false)?,
            known,
            format!("{named} is no category"),
            "one of the categories",
        )
    }
}

fn two_vocabularies() -> Error {
    Error::value("the categories are two vocabularies")
        .wanted("one vocabulary for both")
        .hint("Decode both: `as_string(x)` for words")
}

/// The elements of a vector of these; none of another type.
pub(crate) fn literals(value: &Value) -> Result<Option<Literal>> {
    let Some(x) = typed::<CategoricalTensor>(value) else { return Ok(None) };
    crate::to_literal(&x.decoded()?).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lists;

    fn words(words: &[&str]) -> Tensor {
        Tensor::strings(&[words.len()], words).expect("words")
    }

    /// Codes of these words.
    fn categories(codes: &[i8], of: &[&str]) -> Value {
        let codes = Tensor::new::<i8>(&[codes.len()], codes).expect("codes");
        CategoricalTensor::new(codes, words(of), false).expect("categories").into_value()
    }

    fn shown(value: Result<Value>) -> String {
        value.and_then(|value| crate::to_literal(&value)).expect("a value").to_string()
    }

    #[test]
    fn a_word_that_stands_twice_is_one() {
        let x = categories(&[0, 1, 2, 0], &["a", "b", "a"]);
        let y = categories(&[2, 1, 1, 0], &["a", "b", "a"]);
        assert_eq!(shown(ops::equal(&x, &y)), "[True, True, False, True]");
        assert_eq!(shown(ops::not_equal(&x, "a")), "[False, True, False, False]");
        assert_eq!(shown(lists::unique(&x, 0)), r#"["a", "b"]"#);
        assert_eq!(shown(lists::isin(&x, words(&["a"]), None)), "[True, False, True, True]");
    }

    #[test]
    fn a_nan_among_categories_equals_none() {
        let codes = Tensor::new::<i8>(&[3], &[0, 1, 1]).expect("codes");
        let floats = Tensor::from_vec(vec![f64::NAN, 1.0]);
        let x = CategoricalTensor::new(codes, floats, false).expect("categories").into_value();
        assert_eq!(shown(ops::equal(&x, &x)), "[False, True, True]");
        assert_eq!(shown(lists::isin(&x, Tensor::from_vec(vec![f64::NAN]), None)), "[True, False, False]");
    }

    #[test]
    fn more_categories_than_codes_are_compared_by_values() {
        let (one, many) = (categories(&[1], &["a", "b", "c"]), categories(&[], &["a"]));
        assert_eq!(shown(ops::equal(&one, "b")), "[True]");
        assert_eq!(shown(ops::equal(&many, "a")), "[]");
        assert_eq!(shown(lists::isin(&many, words(&["a"]), None)), "[]");
    }
}
