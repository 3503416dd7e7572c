//! Calendar intervals: months, days and a rest of time, which no one length is equal to.

use crate::cells::{count, keys, signed};
use crate::meaning::{Meaning, differ, measured, register_moves};
use crate::spelling::{Cell, integer};
use arrow_buffer::i256;
use extenso_core::{Target, Tensor, Value, on, ops};
use extenso_derive::ExtensionType;
use extenso_types::{DType, Dim, Error, Result, TypeDef};
use std::sync::Arc;

/// Calendar intervals, each some bytes: `month` (4), `day_time` (days and milliseconds, 4 each), or `month_day_nano` (months and days, 4
/// each, and nanoseconds, 8), little-endian.
///
/// ```
/// # use extenso_core::Tensor;
/// # use extenso_ext::IntervalTensor;
/// let x = IntervalTensor::new(Tensor::new::<u8>(&[2, 4], &[14, 0, 0, 0, 255, 255, 255, 255]).unwrap(), "month").unwrap();
/// assert_eq!(x.part("months").unwrap().to_string(), "[14, -1]");
/// ```
#[derive(Clone, ExtensionType)]
#[extenso(name = "extenso/IntervalTensor", validate = fits, handlers = register)]
pub struct IntervalTensor {
    #[extenso(component)]
    cells: Tensor,
    #[extenso(static)]
    unit: String,
}

fn width(unit: &str) -> Result<usize> {
    match unit {
        "month" => Ok(4),
        "day_time" => Ok(8),
        "month_day_nano" => Ok(16),
        other => {
            Err(Error::value(format!("found '{other}'")).wanted("'month', 'day_time' or 'month_day_nano'").at("unit"))
        }
    }
}

fn fits(x: &IntervalTensor) -> Result<()> {
    let width = width(&x.unit)?;
    let spec = x.cells.spec();
    let last = spec.shape.dims().and_then(|dims| dims.last().copied());
    if spec.dtype == DType::U8 && last.is_some_and(|last| last.is_compatible_with(Dim::Known(width))) {
        return Ok(());
    }
    Err(Error::shape(format!("the cells are {spec}")).at("cells").wanted(format!("u8 with {width} in the last axis")))
}

fn register(def: &Arc<TypeDef>) {
    register_moves::<IntervalTensor>(def, "IntervalTensor");
    // A month has no length, so that intervals are equal part by part, and have no order.
    for op in [&ops::EQUAL, &ops::NOT_EQUAL] {
        on(Target::Op(op), def, "IntervalTensor comparison", measured::<IntervalTensor>);
    }
}

impl IntervalTensor {
    /// Intervals of this unit.
    ///
    /// Errors: another unit; cells of another width.
    pub fn new(cells: Tensor, unit: &str) -> Result<IntervalTensor> {
        let made = IntervalTensor { cells, unit: unit.into() };
        fits(&made).map_err(|e| e.at("IntervalTensor"))?;
        Ok(made)
    }

    /// The bytes.
    pub fn cells(&self) -> &Tensor {
        &self.cells
    }

    /// The unit.
    pub fn unit(&self) -> &str {
        &self.unit
    }

    /// One part of each, as i64: `months`, `days`, `milliseconds` or `nanoseconds`.
    ///
    /// Errors: a part that the unit does not have.
    pub fn part(&self, part: &str) -> Result<Value> {
        let (from, to) = match (self.unit.as_str(), part) {
            ("month" | "month_day_nano", "months") | ("day_time", "days") => (0, 4),
            ("day_time", "milliseconds") | ("month_day_nano", "days") => (4, 8),
            ("month_day_nano", "nanoseconds") => (8, 16),
            _ => {
                return Err(Error::value(format!("an interval of unit '{}' has no part '{part}'", self.unit))
                    .wanted("'months', 'days', 'milliseconds' or 'nanoseconds'"));
            }
        };
        signed(&self.cells, from, to)
    }

    /// The text of each interval.
    pub(super) fn texts(&self) -> Result<Vec<String>> {
        let parts = parts_of(&self.unit).ok_or_else(|| Error::internal("intervals of no unit"))?;
        let (count, cells) = (count(&self.cells)?, self.cells.as_slice::<u8>()?);
        let width: usize = parts.iter().map(|(width, _)| width).sum();
        Ok((0..count).map(|i| shown(&cells[i * width..(i + 1) * width], parts)).collect())
    }
}

/// The parts of an interval of a unit: how many bytes each has, and the unit that stands behind it in a text.
pub(crate) fn parts_of(unit: &str) -> Option<&'static [(usize, &'static str)]> {
    match unit {
        "month" => Some(&[(4, "mo")]),
        "day_time" => Some(&[(4, "d"), (4, "ms")]),
        "month_day_nano" => Some(&[(4, "mo"), (4, "d"), (8, "ns")]),
        _ => None,
    }
}

/// The text of an interval, whose bytes these are.
pub(crate) fn shown(cell: &[u8], parts: &[(usize, &str)]) -> String {
    let mut rest = cell;
    let part = |(width, unit): &(usize, &str)| {
        let (part, behind) = rest.split_at_checked(*width).unwrap_or((rest, &[]));
        rest = behind;
        format!("{}{unit}", integer(part).to_i128().unwrap_or_default())
    };
    parts.iter().map(part).collect::<Vec<_>>().join(" ")
}

/// The bytes of the text of an interval: its parts in order, each at most once, and at least one; none of any other text.
pub(crate) fn read(text: &str, parts: &[(usize, &str)]) -> Option<Cell> {
    let (mut cell, mut at, mut rest) = (Cell::default(), 0, text.split(' ').peekable());
    rest.peek().filter(|first| !first.is_empty())?;
    for (width, unit) in parts {
        let number = |part: &&str| part.strip_suffix(unit).and_then(|number| number.parse::<i64>().ok());
        if let Some(number) = rest.peek().and_then(number) {
            rest.next();
            let bytes = number.to_le_bytes();
            if integer(&bytes[..*width]) != i256::from_i128(number.into()) {
                return None;
            }
            cell[at..at + width].copy_from_slice(&bytes[..*width]);
        }
        at += width;
    }
    rest.next().is_none().then_some(cell)
}

impl Meaning for IntervalTensor {
    const CELLS: bool = true;

    fn elements(&self) -> Value {
        self.cells.clone().into()
    }

    fn over(&self, elements: Value) -> Result<IntervalTensor> {
        IntervalTensor::new(elements.tensor()?.clone(), &self.unit)
    }

    fn meets(&self, other: &IntervalTensor) -> Result<()> {
        if self.unit == other.unit { Ok(()) } else { Err(differ(&self.unit, &other.unit)) }
    }

    fn order(&self) -> Result<Value> {
        keys(&self.cells, false)
    }
}
