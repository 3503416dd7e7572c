//! Values that mean more than their layout says: bytes of one width, booleans of eight bits, JSON texts.
//!
//! Invariant: the layout stays, so that what came from a column goes back into one of its type.

use crate::args::{again, answer, flat, typed, typed_arg};
use crate::cells::keys;
use crate::meaning::order::register_order;
use crate::meaning::{Meaning, differ, register_moves};
use crate::temporal::show::text;
use crate::{Literal, Spelling};
use extenso_core::attrs::Axes;
use extenso_core::{Answer, Arg, Call, Class, ExtensionType, Scalar, Target, Tensor, Value, on, ops};
use extenso_derive::ExtensionType;
use extenso_types::{DType, Dim, Error, Result, Spec, TypeDef};
use std::sync::Arc;

/// Byte strings of one width: `cells` are u8, whose last axis is one string. `kind` may say what they are, such as `uuid`.
///
/// ```
/// # use extenso_core::{ExtensionType, Tensor};
/// # use extenso_ext::{FixedBytesTensor, to_literal};
/// let x = FixedBytesTensor::new(Tensor::new::<u8>(&[2, 2], b"abcd").unwrap(), None).unwrap().into_value();
/// assert_eq!(to_literal(&x).unwrap().to_string(), r#"[b"ab", b"cd"]"#);
/// ```
#[derive(Clone, ExtensionType)]
#[extenso(name = "extenso/FixedBytesTensor", validate = fits_cells, to_tensor = byte_strings, handlers = register_bytes)]
pub struct FixedBytesTensor {
    #[extenso(component)]
    cells: Tensor,
    #[extenso(static)]
    kind: Option<String>,
}

/// Booleans of eight bits each: zero is false, anything else true. Ops see booleans.
#[derive(Clone, ExtensionType)]
#[extenso(name = "extenso/Bool8Tensor", validate = fits_bool8, to_tensor = booleans, handlers = register_bool8)]
pub struct Bool8Tensor {
    #[extenso(itself)]
    values: Tensor,
}

/// Texts that are JSON. Ops see strings.
#[derive(Clone, ExtensionType)]
#[extenso(name = "extenso/JsonTensor", validate = fits_json, to_tensor = texts, handlers = register_json)]
pub struct JsonTensor {
    #[extenso(itself)]
    text: Tensor,
}

fn fits_cells(x: &FixedBytesTensor) -> Result<()> {
    let spec = x.cells.spec();
    let last = spec.shape.dims().and_then(|dims| dims.last().copied());
    let fits = |last: Dim| x.kind.as_deref() != Some("uuid") || last.is_compatible_with(Dim::Known(16));
    if spec.dtype != DType::U8 || !last.is_some_and(fits) {
        return Err(Error::shape(format!("the cells are {spec}"))
            .at("cells")
            .wanted("u8 with the bytes in the last axis, 16 for a uuid"));
    }
    Ok(())
}

fn fits_bool8(x: &Bool8Tensor) -> Result<()> {
    if x.values.dtype() == DType::I8 {
        Ok(())
    } else {
        Err(Error::dtype(format!("the values are {}", x.values.dtype())).wanted("i8"))
    }
}

fn fits_json(x: &JsonTensor) -> Result<()> {
    if x.text.dtype() == DType::String {
        Ok(())
    } else {
        Err(Error::dtype(format!("the text is {}", x.text.dtype())).wanted("string"))
    }
}

fn byte_strings(x: &FixedBytesTensor) -> Result<Tensor> {
    keys(&x.cells, false)?.tensor().cloned()
}

fn booleans(x: &Bool8Tensor) -> Result<Tensor> {
    ops::not_equal(&x.values, 0_i64)?.tensor().cloned()
}

fn texts(x: &JsonTensor) -> Result<Tensor> {
    Ok(x.text.clone())
}

fn register_bytes(def: &Arc<TypeDef>) {
    register_moves::<FixedBytesTensor>(def, "FixedBytesTensor");
    register_order::<FixedBytesTensor>(def, "FixedBytesTensor order");
    on(Target::Class(Class::Comparison), def, "FixedBytesTensor comparison", equal_cells);
}

fn register_bool8(def: &Arc<TypeDef>) {
    register_moves::<Bool8Tensor>(def, "Bool8Tensor");
}

fn register_json(def: &Arc<TypeDef>) {
    register_moves::<JsonTensor>(def, "JsonTensor");
}

/// Strings of one width are equal where all bytes are; an order is that of the byte strings. Beside a `uuid`, a text is one.
fn equal_cells(call: &Call<'_>) -> Answer {
    let [x, y] = flat(call) else { return Ok(None) };
    if let Some(both) = uuid_beside(x, y)? {
        return again(call, &both).map(Some);
    }
    let (Some(x), Some(y)) = (typed_arg::<FixedBytesTensor>(x), typed_arg::<FixedBytesTensor>(y)) else {
        return Ok(None);
    };
    x.meets(&y)?;
    let last = || Axes::List(vec![-1]);
    let cells =
        || again(call, &[Arg::from(&x.cells), Arg::from(&y.cells)])?.pop().ok_or_else(|| Error::internal("no output"));
    match *call.op {
        ref op if *op == ops::EQUAL => answer(ops::all(cells()?, last(), false)?),
        ref op if *op == ops::NOT_EQUAL => answer(ops::any(cells()?, last(), false)?),
        _ => Ok(None),
    }
}

/// Both operands, of which one is of uuids and the other was the text of one; none of any others.
///
/// Errors: a text that is no uuid.
pub(crate) fn uuid_beside(x: &Arg, y: &Arg) -> Result<Option<[Arg; 2]>> {
    let read = |uuids: &Arg, text: &Arg| {
        let (Some(uuids), Arg::Scalar(Scalar::Str(text))) = (typed_arg::<FixedBytesTensor>(uuids), text) else {
            return Ok(None);
        };
        let Spec::Ext(spec) = uuids.clone().into_value().spec()? else { return Ok(None) };
        let Some(spelling) = Spelling::of(&spec).filter(|spelling| !spelling.is_bytes()) else { return Ok(None) };
        let cell = spelling.parse(text).ok_or_else(|| {
            Error::value(format!("found '{text}'")).wanted("a uuid, such as 01234567-89ab-cdef-0123-456789abcdef")
        })?;
        let cells = Tensor::new(&[spelling.width()], &cell[..spelling.width()])?;
        FixedBytesTensor::new(cells, uuids.kind()).map(|one| Some(Arg::Value(one.into_value())))
    };
    Ok(match (read(x, y)?, read(y, x)?) {
        (Some(one), _) => Some([x.clone(), one]),
        (None, Some(one)) => Some([one, y.clone()]),
        (None, None) => None,
    })
}

impl FixedBytesTensor {
    /// Byte strings of these bytes.
    ///
    /// Errors: cells that are not u8, or have no last axis of a known size.
    pub fn new(cells: Tensor, kind: Option<&str>) -> Result<FixedBytesTensor> {
        let made = FixedBytesTensor { cells, kind: kind.map(str::to_string) };
        fits_cells(&made).map_err(|e| e.at("FixedBytesTensor"))?;
        Ok(made)
    }

    /// The bytes.
    pub fn cells(&self) -> &Tensor {
        &self.cells
    }

    /// What they are.
    pub fn kind(&self) -> Option<&str> {
        self.kind.as_deref()
    }

    fn strings(&self) -> Result<Vec<&[u8]>> {
        let dense = self.cells.data()?;
        let width = dense.dims().last().copied().unwrap_or(0);
        if width == 0 {
            dense.check_lists()?;
            return Ok(vec![&[]; crate::cells::count(&self.cells)?]);
        }
        Ok(dense.as_slice::<u8>()?.chunks_exact(width).collect())
    }
}

impl Bool8Tensor {
    /// Booleans of these bytes.
    ///
    /// Errors: values that are not i8.
    pub fn new(values: Tensor) -> Result<Bool8Tensor> {
        let made = Bool8Tensor { values };
        fits_bool8(&made).map_err(|e| e.at("Bool8Tensor"))?;
        Ok(made)
    }

    /// The bytes.
    pub fn values(&self) -> &Tensor {
        &self.values
    }
}

impl JsonTensor {
    /// Texts of JSON, which are not looked at.
    ///
    /// Errors: no strings.
    pub fn new(text: Tensor) -> Result<JsonTensor> {
        let made = JsonTensor { text };
        fits_json(&made).map_err(|e| e.at("JsonTensor"))?;
        Ok(made)
    }

    /// The texts.
    pub fn text(&self) -> &Tensor {
        &self.text
    }
}

impl Meaning for FixedBytesTensor {
    const CELLS: bool = true;
    const BY_KEYS: bool = true;

    fn elements(&self) -> Value {
        self.cells.clone().into()
    }

    fn over(&self, elements: Value) -> Result<FixedBytesTensor> {
        FixedBytesTensor::new(elements.tensor()?.clone(), self.kind())
    }

    fn meets(&self, other: &FixedBytesTensor) -> Result<()> {
        let show = |x: &FixedBytesTensor| format!("{} of {}", x.kind().unwrap_or("bytes"), x.cells.spec());
        let width = |x: &FixedBytesTensor| x.cells.shape().dims().and_then(|dims| dims.last()?.known());
        let alike = self.kind == other.kind && width(self) == width(other);
        if alike { Ok(()) } else { Err(differ(show(self), show(other))) }
    }

    fn order(&self) -> Result<Value> {
        keys(&self.cells, false)
    }

    fn ends(&self) -> Result<FixedBytesTensor> {
        let width = self.cells.shape().dims().and_then(|dims| dims.last()?.known());
        let width = width.ok_or_else(|| Error::shape("the width is not known").wanted("a known width"))?;
        let cells: Vec<u8> = [0, 0xff].into_iter().flat_map(|byte| std::iter::repeat_n(byte, width)).collect();
        self.over(Tensor::new::<u8>(&[2, width], &cells)?.into())
    }
}

impl Meaning for Bool8Tensor {
    fn elements(&self) -> Value {
        self.values.clone().into()
    }

    fn over(&self, elements: Value) -> Result<Bool8Tensor> {
        Bool8Tensor::new(elements.tensor()?.clone())
    }

    fn meets(&self, _: &Bool8Tensor) -> Result<()> {
        Ok(())
    }
}

impl Meaning for JsonTensor {
    fn elements(&self) -> Value {
        self.text.clone().into()
    }

    fn over(&self, elements: Value) -> Result<JsonTensor> {
        JsonTensor::new(elements.tensor()?.clone())
    }

    fn meets(&self, _: &JsonTensor) -> Result<()> {
        Ok(())
    }
}

/// The elements of a vector of these; none of another type.
pub(crate) fn literals(value: &Value) -> Result<Option<Vec<Literal>>> {
    if let Some(x) = typed::<FixedBytesTensor>(value) {
        let uuid = x.kind() == Some("uuid");
        let show = |bytes: &[u8]| {
            if uuid { Literal::Str(text(|out| write_uuid(bytes, out))) } else { Literal::Bytes(bytes.to_vec()) }
        };
        return Ok(Some(x.strings()?.into_iter().map(show).collect()));
    }
    if let Some(x) = typed::<Bool8Tensor>(value) {
        return Ok(Some(x.values.as_slice::<i8>()?.iter().map(|&v| Literal::Bool(v != 0)).collect()));
    }
    let Some(x) = typed::<JsonTensor>(value) else { return Ok(None) };
    let dense = x.text.data()?;
    (0..dense.len()).map(|i| Ok(Literal::Str(dense.str_at(i)?.to_string()))).collect::<Result<Vec<_>>>().map(Some)
}

/// Appends the text of a uuid, whose 16 bytes these are: its digits in groups.
///
/// ```
/// let mut text = Vec::new();
/// extenso_ext::write_uuid(&[0x12; 16], &mut text);
/// assert_eq!(text, b"12121212-1212-1212-1212-121212121212");
/// ```
pub fn write_uuid(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for (i, byte) in bytes.iter().enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            out.push(b'-');
        }
        out.extend([DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
}
