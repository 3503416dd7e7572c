//! Times, decimals, categories and unions, and what values show themselves as.

use super::{Composed, given, path};
use extenso_core::attrs::{Attrs, NoAttrs};
use extenso_core::{Arg, ExtensionType, Tensor, Value, ops};
use extenso_ext::{
    CategoricalTensor, DateTensor, DecimalTensor, DurationTensor, MaskedTensor, RaggedTensor, TimestampTensor,
    UnionChild, UnionTensor, constant, to_categorical, to_literal,
};
use extenso_types::{DType, Error, Result};

extenso_core::attrs! {
    /// Of times.
    pub struct Unit { unit: String = "s".to_string() }
    /// Of what is taken of times.
    pub struct Part { part: String = "year".to_string() }
    /// Of times of texts, and of their texts.
    pub struct TimeForm {
        unit: String = "s".to_string(),
        zone: Option<String> = None,
        format: Option<String> = None,
        on_error: String = "raise".to_string(),
    }
    /// Of decimals.
    pub struct Digits { precision: i64 = 10, scale: i64 = 2 }
    /// Of decimals of texts.
    pub struct DigitsOfTexts { precision: i64 = 10, scale: i64 = 2, on_error: String = "raise".to_string() }
}

pub(super) static FUNCTIONS: &[Composed] = &[
    Composed {
        name: "timestamps",
        params: &["x"],
        attrs: Unit::DEF,
        run: |args, attrs| {
            let unit = &Unit::of(attrs)?.unit;
            inside(&given(args, 0)?, &|x| Ok(TimestampTensor::new(x, unit, None)?.into_value()))
        },
    },
    Composed {
        name: "durations",
        params: &["x"],
        attrs: Unit::DEF,
        run: |args, attrs| {
            let unit = &Unit::of(attrs)?.unit;
            inside(&given(args, 0)?, &|x| Ok(DurationTensor::new(x, unit)?.into_value()))
        },
    },
    Composed {
        name: "dates",
        params: &["x"],
        attrs: NoAttrs::DEF,
        run: |args, _| {
            let days = ops::cast(given(args, 0)?, DType::I32)?;
            inside(&days, &|x| Ok(DateTensor::new(x, "d")?.into_value()))
        },
    },
    Composed {
        name: "decimals",
        params: &["x"],
        attrs: Digits::DEF,
        run: |args, attrs| {
            let Digits { precision, scale } = *Digits::of(attrs)?;
            inside(&given(args, 0)?, &|x| decimals(&x, precision, scale))
        },
    },
    Composed {
        name: "categories",
        params: &["x"],
        attrs: NoAttrs::DEF,
        run: |args, _| to_categorical(&given(args, 0)?),
    },
    Composed {
        name: "ordered",
        params: &["x", "categories"],
        attrs: NoAttrs::DEF,
        run: |args, _| {
            let categories = given(args, 1)?;
            let codes = ops::lookup(given(args, 0)?, &categories, 0_i64, 0_i64)?;
            inside(&codes, &|codes| Ok(CategoricalTensor::new(codes, categories.clone(), true)?.into_value()))
        },
    },
    Composed {
        name: "union_of",
        params: &["tags", "children"],
        attrs: NoAttrs::DEF,
        run: |args, _| {
            let Arg::List(children) = &args[1] else { return Err(Error::dtype("the children are no tuple")) };
            let child = |(id, child): (i8, &Arg)| {
                Ok(UnionChild { id, name: format!("c{id}").into(), values: child.value()?.clone() })
            };
            let children = (0_i8..).zip(children).map(child).collect::<Result<Vec<UnionChild>>>()?;
            let tags = ops::cast(given(args, 0)?, DType::I8)?;
            inside(&tags, &|tags| Ok(UnionTensor::new(tags, None, children.clone())?.into_value()))
        },
    },
    Composed {
        name: "date_part",
        params: &["x"],
        attrs: Part::DEF,
        run: |args, attrs| extenso_ext::date_part(&given(args, 0)?, &Part::of(attrs)?.part),
    },
    Composed {
        name: "date_trunc",
        params: &["x"],
        attrs: Unit::DEF,
        run: |args, attrs| extenso_ext::date_trunc(&given(args, 0)?, &Unit::of(attrs)?.unit),
    },
    Composed {
        name: "to_decimal",
        params: &["x"],
        attrs: DigitsOfTexts::DEF,
        run: |args, attrs| {
            let DigitsOfTexts { precision, scale, on_error } = DigitsOfTexts::of(attrs)?;
            extenso_ext::to_decimal(&given(args, 0)?, *precision, *scale, on_error.parse()?)
        },
    },
    Composed {
        name: "to_timestamp",
        params: &["x"],
        attrs: TimeForm::DEF,
        run: |args, attrs| {
            let TimeForm { unit, zone, format, on_error } = TimeForm::of(attrs)?;
            extenso_ext::to_timestamp(&given(args, 0)?, unit, zone.as_deref(), format.as_deref(), on_error.parse()?)
        },
    },
    Composed {
        name: "strftime",
        params: &["x"],
        attrs: TimeForm::DEF,
        run: |args, attrs| {
            extenso_ext::strftime(&given(args, 0)?, TimeForm::of(attrs)?.format.as_deref().unwrap_or_default())
        },
    },
    Composed {
        name: "to_duration",
        params: &["x"],
        attrs: TimeForm::DEF,
        run: |args, attrs| {
            let TimeForm { unit, on_error, .. } = TimeForm::of(attrs)?;
            extenso_ext::to_duration(&given(args, 0)?, unit, on_error.parse()?)
        },
    },
    Composed {
        name: "to_time",
        params: &["x"],
        attrs: TimeForm::DEF,
        run: |args, attrs| {
            let TimeForm { unit, format, on_error, .. } = TimeForm::of(attrs)?;
            extenso_ext::to_time(&given(args, 0)?, unit, format.as_deref(), on_error.parse()?)
        },
    },
    Composed {
        name: "to_date",
        params: &["x"],
        attrs: TimeForm::DEF,
        run: |args, attrs| {
            let TimeForm { format, on_error, .. } = TimeForm::of(attrs)?;
            extenso_ext::to_date(&given(args, 0)?, format.as_deref(), on_error.parse()?)
        },
    },
    Composed {
        name: "zip_of",
        params: &["names", "values"],
        attrs: NoAttrs::DEF,
        run: |args, _| {
            let Arg::List(values) = &args[1] else { return Err(Error::dtype("the values are no tuple")) };
            let values = values.iter().map(|value| value.value().cloned()).collect::<Result<Vec<Value>>>()?;
            extenso_ext::zip(path(args, 0)?.names().iter().cloned().zip(values), None)
        },
    },
    Composed {
        name: "shown",
        params: &["x"],
        attrs: NoAttrs::DEF,
        run: |args, _| constant(to_literal(&given(args, 0)?)?),
    },
];

/// The value with its innermost tensor replaced.
fn inside(value: &Value, f: &dyn Fn(Tensor) -> Result<Value>) -> Result<Value> {
    if let Ok(x) = RaggedTensor::from_value(value) {
        return Ok(x.with_values(inside(x.values(), f)?)?.into_value());
    }
    if let Ok(x) = MaskedTensor::from_value(value) {
        return Ok(MaskedTensor::new(inside(x.values(), f)?, x.mask().clone())?.into_value());
    }
    f(value.tensor()?.clone())
}

/// Decimals of texts; no text is zero.
fn decimals(texts: &Tensor, precision: i64, scale: i64) -> Result<Value> {
    let dense = texts.data()?;
    let text = |i| dense.str_at(i).map(|text| if text.is_empty() { "0" } else { text });
    let flat = DecimalTensor::parse(&(0..dense.len()).map(text).collect::<Result<Vec<_>>>()?, precision, scale)?;
    let sizes = dense.dims().iter().map(|&n| i64::try_from(n).unwrap_or(i64::MAX)).collect::<Vec<i64>>();
    ops::reshape(flat.into_value(), sizes)
}
