//! Characters as Unicode has them: normal forms, code points, places in bytes, scripts.
//!
//! Invariant: a character is a code point that is no surrogate.

use super::super::args::{data, one_tensor, spec_of, tensor_spec};
use super::join::rows_of;
use super::split::vector;
use super::texts::{made, mapped};
use super::{infer_string, string_spec};
use crate::attrs::{AttrSet, Attrs};
use crate::op::{Class, Fact, OpDef, OutputSpecs};
use crate::tensor::{Dense, Tensor};
use crate::value::{Outputs, Value};
use extenso_types::{DType, Dim, Dims, Error, LeafSpec, Result, Shape};
use unicode_normalization::{
    IsNormalized, UnicodeNormalization, is_nfc_quick, is_nfd_quick, is_nfkc_quick, is_nfkd_quick,
};
use unicode_script::UnicodeScript;

crate::attrs! {
    /// The attributes of `string_normalize`.
    pub struct NormalForm { form: String = "NFC".to_string() }
    /// What comes of numbers that are no characters.
    pub struct CharacterFaults { errors: String = "strict".to_string() }
}

crate::ops! {
    /// Ops on characters.
    pub static TEXT_UNICODE;

    /// Each string in a normal form of Unicode: `NFC`, `NFD`, `NFKC` or `NFKD`. Errors: another form; bytes.
    STRING_NORMALIZE: string_normalize(x; NormalForm { form: String }) = OpDef::general(Class::UnaryElementwise, infer_normalize, run_normalize)
        .facts(&[Fact::Idempotent])
        .examples(&[("string_normalize([\"e\\u0301\", \"a\"])", "[\"\\u00e9\", \"a\"]"), ("string_normalize([\"ﬁ\", \"①\"], \"NFKC\")", "[\"fi\", \"1\"]")]);

    /// The code points of the characters of all strings, one after the other, as i32: a vector.
    ///
    /// `string_length` has their number in each string, and `unicode_decode` makes rows of them. Errors: bytes.
    CODE_POINT_VALUES: code_point_values(x) = OpDef::general(Class::Structural, infer_code_points, run_code_points)
        .part()
        .examples(&[("code_point_values([\"aö\", \"\", \"日\"])", "i32([97, 246, 26085])")]);

    /// Where the characters of each string begin, in bytes, one after the other, as i64: a vector.
    ///
    /// `string_length` has their number in each string. Errors: bytes.
    CHARACTER_STARTS: character_starts(x) = OpDef::general(Class::Structural, infer_starts, run_starts)
        .part()
        .examples(&[("character_starts([\"aöb\", \"\", \"日\"])", "[0, 1, 3, 0]")]);

    /// The string of each row of code points.
    ///
    /// A number that is no character is an error (`errors="strict"`), becomes U+FFFD (`"replace"`), or is left out (`"ignore"`).
    /// Shapes: `values` is a vector, cut by the partition; the result has one string for each row.
    /// Errors: such a number, with its position among the values; values that are no integers.
    SEGMENT_CHARACTERS: segment_characters(values, partition; CharacterFaults { errors: String }) = OpDef::general(Class::Segment, infer_characters, run_characters)
        .part()
        .examples(&[("segment_characters([97, 246, 26085], partition_from_lengths([2, 0, 1]))", "[\"aö\", \"\", \"日\"]"), ("segment_characters([97, 55296], partition_from_lengths([2]), errors=\"ignore\")", "[\"a\"]")]);

    /// The script of each code point, as the four letters of ISO 15924; `Zzzz` for a number that is no character.
    ///
    /// Errors: numbers that are no integers.
    UNICODE_SCRIPT: unicode_script(x) = OpDef::general(Class::UnaryElementwise, infer_script, run_script)
        .examples(&[("unicode_script([97, 1078, 26085, 33, -1])", "[\"Latn\", \"Cyrl\", \"Hani\", \"Zyyy\", \"Zzzz\"]")]);
}

#[derive(Clone, Copy)]
enum Form {
    Nfc,
    Nfd,
    Nfkc,
    Nfkd,
}

fn form(attrs: &dyn AttrSet) -> Result<Form> {
    match NormalForm::of(attrs)?.form.as_str() {
        "NFC" => Ok(Form::Nfc),
        "NFD" => Ok(Form::Nfd),
        "NFKC" => Ok(Form::Nfkc),
        "NFKD" => Ok(Form::Nfkd),
        other => Err(Error::value(format!("the form is '{other}'")).wanted("'NFC', 'NFD', 'NFKC' or 'NFKD'")),
    }
}

fn infer_normalize(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    form(attrs)?;
    infer_string(args, attrs)
}

fn run_normalize(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    match form(attrs)? {
        Form::Nfc => normalized(args, |text| is_nfc_quick(text.chars()), |text| text.nfc().collect()),
        Form::Nfd => normalized(args, |text| is_nfd_quick(text.chars()), |text| text.nfd().collect()),
        Form::Nfkc => normalized(args, |text| is_nfkc_quick(text.chars()), |text| text.nfkc().collect()),
        Form::Nfkd => normalized(args, |text| is_nfkd_quick(text.chars()), |text| text.nfkd().collect()),
    }
}

/// Strings in a normal form, which those that are ASCII have already, and many others.
fn normalized(
    args: &[Value],
    is_normal: impl Fn(&str) -> IsNormalized + Sync,
    normal: impl Fn(&str) -> String + Sync,
) -> Result<Outputs> {
    let x = data(args, 0)?;
    let (offsets, bytes) = x.text()?;
    if bytes.as_slice()[offsets.first()..offsets.last()].is_ascii() {
        return one_tensor(args[0].tensor()?.clone());
    }
    mapped(x, |i, out| match x.str_at(i)? {
        text if text.is_ascii() || is_normal(text) == IsNormalized::Yes => out.push(text.as_bytes()),
        text => out.push(normal(text).as_bytes()),
    })
}

fn infer_code_points(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    string_spec(args)?;
    Ok(tensor_spec(DType::I32, Shape::new([Dim::any()])))
}

fn run_code_points(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let x = data(args, 0)?;
    let mut points: Vec<i32> = Vec::new();
    for i in 0..x.len() {
        points.extend(x.str_at(i)?.chars().map(|c| u32::from(c).cast_signed()));
    }
    one_tensor(Tensor::new(&[points.len()], &points)?)
}

fn infer_starts(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    string_spec(args)?;
    Ok(tensor_spec(DType::I64, Shape::new([Dim::any()])))
}

fn run_starts(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let x = data(args, 0)?;
    let mut starts: Vec<i64> = Vec::new();
    for i in 0..x.len() {
        starts.extend(x.str_at(i)?.char_indices().map(|(at, _)| i64::try_from(at).unwrap_or(i64::MAX)));
    }
    one_tensor(Tensor::new(&[starts.len()], &starts)?)
}

/// What comes of a number that is no character; none for an error.
fn substitute(attrs: &dyn AttrSet) -> Result<Option<&'static str>> {
    match CharacterFaults::of(attrs)?.errors.as_str() {
        "strict" => Ok(None),
        "replace" => Ok(Some("\u{FFFD}")),
        "ignore" => Ok(Some("")),
        other => Err(Error::value(format!("errors is '{other}'")).wanted("'strict', 'replace' or 'ignore'")),
    }
}

fn infer_characters(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let values = spec_of(args, 0)?;
    let partition = args.get(1).ok_or_else(|| Error::value("argument 2 is missing"))?.partition()?;
    substitute(attrs)?;
    if !values.dtype.is_integer() {
        return Err(Error::dtype(format!("the code points are {}", values.dtype)).wanted("integers"));
    }
    match values.shape.dims() {
        Some([outer]) if !outer.is_compatible_with(partition.nvalues) => {
            Err(Error::shape(format!("{outer} values are given to a partition of {}", partition.nvalues))
                .wanted("as many values as the partition cuts"))
        }
        Some([_]) | None => Ok(tensor_spec(DType::String, Shape::new([partition.nrows]))),
        Some(_) => {
            Err(Error::shape(format!("the values have shape {}", values.shape)).wanted("a vector of code points"))
        }
    }
}

fn run_characters(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (points, rows, substitute) = (code_points(data(args, 0)?)?, rows_of(args)?, substitute(attrs)?);
    if points.len() != rows.nvalues() {
        return Err(Error::shape(format!("{} values are given to a partition of {}", points.len(), rows.nvalues())));
    }
    vector(rows.nrows(), |row, out| {
        for i in rows.row(row) {
            match (character(points[i]), substitute) {
                (Some(c), _) => out.write(c.encode_utf8(&mut [0; 4]).as_bytes())?,
                (None, Some(text)) => out.write(text.as_bytes())?,
                (None, None) => return Err(no_character(points[i], i)),
            }
        }
        out.end()
    })
}

fn no_character(point: i64, i: usize) -> Error {
    Error::value(format!("{point} is no character, at position [{i}] of the values"))
        .wanted("code points: 0 to 0x10FFFF, but no surrogates")
        .hint("Or say what is to come of such numbers: `errors='replace'` or `errors='ignore'`.")
}

/// The character of a code point, if it is one.
fn character(point: i64) -> Option<char> {
    u32::try_from(point).ok().and_then(char::from_u32)
}

/// Integers of any width as i64; what does not fit in there is no code point before and after.
fn code_points(x: &Dense) -> Result<Vec<i64>> {
    let tensor = Tensor::from_dense(x.dtype(), Dims::from_slice(x.dims()), x.storage().clone());
    Ok(crate::ops::cast(tensor, DType::I64)?.tensor()?.as_slice::<i64>()?.to_vec())
}

fn infer_script(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let spec = spec_of(args, 0)?;
    if !spec.dtype.is_integer() {
        return Err(Error::dtype(format!("the code points are {}", spec.dtype))
            .wanted("integers")
            .hint("`unicode_decode` gives the code points of strings."));
    }
    Ok(tensor_spec(DType::String, spec.shape.clone()))
}

fn run_script(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let x = data(args, 0)?;
    let points = code_points(x)?;
    made(DType::String, x.dims(), |i, out| {
        out.push(character(points[i]).map_or("Zzzz", |c| c.script().short_name()).as_bytes())
    })
}
