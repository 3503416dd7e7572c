//! Nested lists as tensors.
//!
//! Integers are i64, or u64 if one is above the largest i64; floats f64, integers with floats f64. All other mixtures are errors that say
//! where they are.

use crate::arg;
use crate::call::apply_one;
use crate::error::{OrCarry, OrRaise};
use extenso_core::{Arg, Tensor, Value, ops, strengthen};
use extenso_types::{DType, Error, Path, Result, Segment};
use half::{bf16, f16};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyList, PyString, PyTuple};

/// The tensor of nested lists, or of bytes alone.
///
/// Errors: lists of different lengths, mixed kinds of leaves, a leaf that the dtype cannot hold; each with its place.
pub fn nested(object: &Bound<'_, PyAny>, dtype: Option<DType>) -> PyResult<Tensor> {
    let mut leaves = Leaves::default();
    let mut at = Vec::new();
    let dims = walk(object, &mut at, &mut leaves).or_raise()?;
    if leaves.has_values {
        return stacked(object, dtype);
    }
    leaves.tensor(&dims, dtype).or_raise()
}

/// The value of nested lists: a tensor, or a ragged tensor if lists of one depth have different lengths.
///
/// Errors: as `nested`, and as literals of ragged values have them.
pub fn list_value(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    let mut leaves = Leaves::default();
    match walk(object, &mut Vec::new(), &mut leaves) {
        _ if leaves.is_ragged => crate::literal::value(object),
        Ok(dims) if !leaves.has_values => leaves.tensor(&dims, None).map(Value::Tensor).or_raise(),
        Ok(_) => joined(object, None),
        Err(error) => Err(error).or_raise(),
    }
}

/// One leaf.
enum Leaf {
    Bool(bool),
    Int(i128),
    Float(f64),
    Str(String),
    Bytes(Vec<u8>),
}

impl Leaf {
    fn kind(&self) -> DType {
        match self {
            Leaf::Bool(_) => DType::Bool,
            Leaf::Int(_) => DType::I64,
            Leaf::Float(_) => DType::F64,
            Leaf::Str(_) => DType::String,
            Leaf::Bytes(_) => DType::Bytes,
        }
    }
}

#[derive(Default)]
struct Leaves {
    items: Vec<Leaf>,
    kind: Option<DType>,
    /// A leaf is a tensor or an array, so that the lists are joined by ops.
    has_values: bool,
    /// Lists of one depth have different lengths.
    is_ragged: bool,
}

/// The sizes below `object`; its leaves go to `leaves`.
fn walk(object: &Bound<'_, PyAny>, at: &mut Vec<usize>, leaves: &mut Leaves) -> Result<Vec<usize>> {
    let py = object.py();
    if !is_list(object) {
        if leaves.push(object, at)? {
            return Ok(Vec::new());
        }
        let Some(items) = arg::items_of(object).or_carry(py)? else {
            leaves.has_values = true;
            return Ok(Vec::new());
        };
        return walk(&items, at, leaves);
    }
    if at.len() >= MAX_DEPTH {
        return Err(Error::value(format!("lists are nested deeper than {MAX_DEPTH}")));
    }
    if let Ok(list) = object.cast_exact::<PyList>()
        && leaves.push_numbers(list)
    {
        return Ok(vec![list.len()]);
    }
    let mut inner: Option<Vec<usize>> = None;
    let mut n = 0;
    for item in object.try_iter().or_carry(py)? {
        at.push(n);
        let sizes = walk(&item.or_carry(py)?, at, leaves)?;
        match &inner {
            Some(first) if *first != sizes && !leaves.has_values => {
                leaves.is_ragged = true;
                return Err(uneven(at, first, &sizes));
            }
            Some(first) if first.len() == sizes.len() && *first != sizes => {
                leaves.is_ragged = true;
                inner = Some(sizes);
            }
            _ => inner = Some(sizes),
        }
        at.pop();
        n += 1;
    }
    Ok(std::iter::once(n).chain(inner.unwrap_or_default()).collect())
}

/// Axes of a tensor that lists may make; deeper nesting is a mistake, and would exhaust the stack.
const MAX_DEPTH: usize = 64;

fn is_list(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>()
}

fn uneven(at: &[usize], first: &[usize], here: &[usize]) -> Error {
    let place = path(at);
    if first.len() != here.len() {
        return Error::shape(format!("the list is nested to depth {} here and {} before it", here.len(), first.len()))
            .wanted("one depth everywhere")
            .at(place);
    }
    Error::shape(format!("the list has shape {here:?} here and {first:?} before it"))
        .wanted("lists of one length at each depth")
        .hint("Use `constant` for rows of different lengths.")
        .at(place)
}

fn path(at: &[usize]) -> String {
    Path::from_iter(at.iter().map(|&i| Segment::Index(i))).to_string()
}

impl Leaves {
    /// Adds a leaf; no if the object is none.
    fn push(&mut self, object: &Bound<'_, PyAny>, at: &[usize]) -> Result<bool> {
        let Some(leaf) = leaf(object).map_err(|e| e.at(path(at)))? else { return Ok(false) };
        self.kind = Some(match (self.kind, leaf.kind()) {
            (None, kind) => kind,
            (Some(DType::I64), DType::F64) | (Some(DType::F64), DType::I64) => DType::F64,
            (Some(known), kind) if known == kind => kind,
            (Some(known), kind) => {
                return Err(Error::dtype(format!("found {kind} beside {known}"))
                    .wanted("leaves of one kind")
                    .at(path(at)));
            }
        });
        self.items.push(leaf);
        Ok(true)
    }

    /// Adds the items of a list that are floats, or integers of 64 bits, of the kind of the leaves so far; no, and none of them, if
    /// one is something else.
    fn push_numbers(&mut self, list: &Bound<'_, PyList>) -> bool {
        let before = self.items.len();
        let Ok(first) = list.get_item(0) else { return false };
        let (kind, number) = match (float(&first), whole(&first)) {
            (Some(_), _) => (DType::F64, float as fn(&Bound<'_, PyAny>) -> Option<Leaf>),
            (_, Some(_)) => (DType::I64, whole as fn(&Bound<'_, PyAny>) -> Option<Leaf>),
            (None, None) => return false,
        };
        if self.kind.is_some_and(|known| known != kind) {
            return false;
        }
        for item in list {
            match number(&item) {
                Some(leaf) => self.items.push(leaf),
                None => {
                    self.items.truncate(before);
                    return false;
                }
            }
        }
        self.kind = Some(kind);
        true
    }

    fn tensor(&self, dims: &[usize], dtype: Option<DType>) -> Result<Tensor> {
        let dtype = dtype.or(self.kind()).unwrap_or(DType::F64);
        macro_rules! numbers {
            ($($d:ident $t:ty),*; $($f:ident $u:ty => $narrow:expr),*) => {
                match dtype {
                    $(DType::$d => Tensor::new(dims, &self.each(dtype, |leaf| match leaf {
                        Leaf::Int(i) => <$t>::try_from(*i).ok(),
                        _ => None,
                    })?),)*
                    $(DType::$f => {
                        let narrow: fn(f64) -> $u = $narrow;
                        Tensor::new(dims, &self.each(dtype, |leaf| match leaf {
                            Leaf::Float(v) => Some(narrow(*v)),
                            Leaf::Int(i) => Some(narrow(*i as f64)),
                            _ => None,
                        })?)
                    })*
                    DType::Bool => Tensor::bools(dims, &self.each(dtype, |leaf| match leaf {
                        Leaf::Bool(v) => Some(*v),
                        _ => None,
                    })?),
                    DType::String => Tensor::strings(dims, &self.each(dtype, |leaf| match leaf {
                        Leaf::Str(v) => Some(v.as_str()),
                        _ => None,
                    })?),
                    DType::Bytes => Tensor::byte_strings(dims, &self.each(dtype, |leaf| match leaf {
                        Leaf::Str(v) => Some(v.as_bytes()),
                        Leaf::Bytes(v) => Some(v.as_slice()),
                        _ => None,
                    })?),
                    DType::Variant => Err(Error::dtype("lists do not make variants").hint("Box values instead.")),
                }
            };
        }
        numbers!(I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64;
            F16 f16 => f16::from_f64, BF16 bf16 => bf16::from_f64, F32 f32 => |v| v as f32, F64 f64 => |v| v)
    }

    /// The dtype that holds all leaves.
    fn kind(&self) -> Option<DType> {
        let is_large = |leaf: &Leaf| matches!(leaf, Leaf::Int(v) if *v > i64::MAX.into());
        match self.kind {
            Some(DType::I64) if self.items.iter().any(is_large) => Some(DType::U64),
            kind => kind,
        }
    }

    fn each<'a, T>(&'a self, dtype: DType, f: impl Fn(&'a Leaf) -> Option<T>) -> Result<Vec<T>> {
        let misfit = |leaf: &Leaf| {
            let error = Error::dtype(format!("the leaf {} does not fit dtype {dtype}", leaf.text()));
            error.wanted(format!("a value of {dtype}"))
        };
        self.items.iter().map(|leaf| f(leaf).ok_or_else(|| misfit(leaf))).collect()
    }
}

impl Leaf {
    fn text(&self) -> String {
        match self {
            Leaf::Bool(true) => "True".into(),
            Leaf::Bool(false) => "False".into(),
            Leaf::Int(v) => v.to_string(),
            Leaf::Float(v) => format!("{v:?}"),
            Leaf::Str(v) => format!("{v:?}"),
            Leaf::Bytes(v) => format!("b\"{}\"", v.escape_ascii()),
        }
    }
}

/// The leaf that a float of Python's own is; none of another object.
fn float(object: &Bound<'_, PyAny>) -> Option<Leaf> {
    if object.is_exact_instance_of::<PyFloat>() { object.extract().ok().map(Leaf::Float) } else { None }
}

/// The leaf that an integer of Python's own of 64 bits is; none of another object.
fn whole(object: &Bound<'_, PyAny>) -> Option<Leaf> {
    if !object.is_exact_instance_of::<PyInt>() {
        return None;
    }
    object.extract::<i64>().ok().map(|v| Leaf::Int(v.into()))
}

/// The leaf that a Python object is; none for a tensor, an array, or what becomes one.
///
/// Errors: an integer beyond 64 bits, a string with lone surrogates.
fn leaf(object: &Bound<'_, PyAny>) -> Result<Option<Leaf>> {
    let py = object.py();
    Ok(Some(if let Ok(v) = object.cast::<PyBool>() {
        Leaf::Bool(v.is_true())
    } else if object.is_exact_instance_of::<PyFloat>() {
        Leaf::Float(object.extract().or_carry(py)?)
    } else if object.is_instance_of::<PyInt>() {
        Leaf::Int(integer(object)?)
    } else if let Ok(v) = object.cast::<PyString>() {
        Leaf::Str(v.extract().or_carry(py)?)
    } else if let Ok(v) = object.cast::<PyBytes>() {
        Leaf::Bytes(v.as_bytes().to_vec())
    } else {
        return Ok(None);
    }))
}

fn integer(object: &Bound<'_, PyAny>) -> Result<i128> {
    if let Ok(v) = object.extract::<i64>() {
        return Ok(v.into());
    }
    object.extract::<u64>().map(i128::from).map_err(|_| arg::too_large(object))
}

/// The tensor of lists whose leaves include tensors: joined by ops, so that symbols may be among them.
fn stacked(object: &Bound<'_, PyAny>, dtype: Option<DType>) -> PyResult<Tensor> {
    if !is_list(object) && arg::items_of(object)?.is_none() {
        return arg::tensor(object, dtype);
    }
    super::to_dtype(joined(object, dtype)?.tensor().cloned().or_raise()?, dtype)
}

/// The same, of values of any type.
fn joined(object: &Bound<'_, PyAny>, dtype: Option<DType>) -> PyResult<Value> {
    let items: PyResult<Vec<Arg>> = object.try_iter()?.map(|item| arg::from_py(&item?)).collect();
    let mut items = items?;
    let like = items.iter().find_map(|item| match item {
        Arg::Value(Value::Tensor(tensor)) => Some(tensor.dtype()),
        _ => None,
    });
    for item in &mut items {
        if let Arg::Scalar(scalar) = item {
            *item = Arg::from(strengthen(scalar, dtype.or(like)).or_raise()?);
        }
        *item = Arg::Value(apply_one(&ops::EXPAND_DIMS, std::slice::from_ref(item), &ops::OneAxis { axis: 0 })?);
    }
    apply_one(&ops::CONCAT, &[Arg::List(items)], &ops::OneAxis { axis: 0 })
}
