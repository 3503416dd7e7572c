//! Random arguments and attributes: most fit, many are at a border, some are absurd.

use extenso_core::attrs::AttrValue;
use extenso_core::{Arg, ExtensionType, OpDef, RowPartition, Scalar, Tensor, Value, Variable, ops};
use extenso_ext::{MaskedTensor, RaggedTensor, StructTensor};
use extenso_testkit::rng::Rng;
use extenso_types::{DType, DTypeKind, Result, Shape};

/// A size that no memory has; beside a size of zero it is one.
const ENDLESS: usize = 1 << 46;

/// Sizes of tensors.
const SHAPES: [&[usize]; 14] = [
    &[],
    &[1],
    &[2],
    &[3],
    &[2, 3],
    &[3, 2],
    &[2, 2],
    &[1, 3],
    &[0],
    &[0, 3],
    &[3, 0],
    &[2, 0, 2],
    &[ENDLESS, 0],
    &[0, ENDLESS],
];

const INTS: [i64; 18] =
    [0, 1, 2, 3, -1, -2, -3, 5, -5, 64, -64, 100, 1 << 46, 1 << 60, -(1 << 60), i64::MAX, i64::MIN, i64::MIN + 1];

const FLOATS: [f64; 10] = [0.0, -0.0, 1.0, -1.5, 0.5, 1e300, -1e300, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

const TEXTS: [&str; 16] = [
    "",
    "a",
    "byte",
    "char",
    "NFC",
    "left",
    "right",
    "both",
    "UTF-8",
    "(",
    "(a{1000}){1000}",
    "[a-z]+",
    "$1 ${x}",
    " ",
    "ß",
    "f32",
];

/// Makes arguments.
pub struct Draw(pub Rng);

impl Draw {
    /// Arguments of an op: values that may fit together.
    pub fn args(&mut self, op: &OpDef) -> Vec<Arg> {
        let dtype = self.dtype();
        let shape = *self.0.pick(&SHAPES);
        if op.variadic {
            let items = (0..self.0.below(4)).map(|_| self.arg(dtype, shape)).collect();
            return vec![Arg::List(items)];
        }
        let count = if self.0.below(30) == 0 { self.0.below(4) } else { op.params.len() };
        (0..count).map(|i| self.parameter(op.params.get(i).copied().unwrap_or(""), dtype, shape)).collect()
    }

    /// What the name of a parameter says is mostly given.
    fn parameter(&mut self, name: &str, dtype: DType, shape: &[usize]) -> Arg {
        let kind = if self.0.below(10) == 0 { "" } else { name };
        match kind {
            "partition" | "rows" => Arg::from(Value::Partition(self.partition(shape.first().copied().unwrap_or(0)))),
            "indices" | "lengths" | "row_splits" | "rowids" | "splits" | "counts" => {
                let dtype = *self.0.pick(&[DType::I64, DType::I32]);
                let shape = *self.0.pick(&SHAPES);
                Arg::from(self.tensor(dtype, shape))
            }
            "mask" | "condition" => Arg::from(self.tensor(DType::Bool, shape)),
            _ => self.arg(dtype, shape),
        }
    }

    fn arg(&mut self, dtype: DType, shape: &[usize]) -> Arg {
        let (dtype, shape) = match self.0.below(6) {
            0 => (self.dtype(), shape),
            1 => (dtype, *self.0.pick(&SHAPES)),
            _ => (dtype, shape),
        };
        match self.0.below(12) {
            0 => Arg::Scalar(self.scalar()),
            1 => Arg::from(Value::Partition(self.partition(3))),
            2..=4 => Arg::from(self.extension(dtype, shape)),
            _ => Arg::from(self.tensor(dtype, shape)),
        }
    }

    fn dtype(&mut self) -> DType {
        let all: Vec<DType> = DType::all().collect();
        *self.0.pick(&all)
    }

    fn scalar(&mut self) -> Scalar {
        match self.0.below(4) {
            0 => Scalar::Bool(true),
            1 => Scalar::Int(*self.0.pick(&INTS)),
            2 => Scalar::Float(*self.0.pick(&FLOATS)),
            _ => Scalar::Str(self.0.pick(&TEXTS).to_string()),
        }
    }

    fn tensor(&mut self, dtype: DType, shape: &[usize]) -> Value {
        let n: usize = shape.iter().product();
        let wide = self.0.below(3) == 0;
        let flat = match dtype.kind() {
            DTypeKind::Bool => Tensor::bools(&[n], &(0..n).map(|_| self.0.below(2) == 0).collect::<Vec<_>>()),
            DTypeKind::Text => {
                let texts: Vec<&str> = (0..n).map(|_| *self.0.pick(&TEXTS)).collect();
                if dtype == DType::Bytes { Tensor::byte_strings(&[n], &texts) } else { Tensor::strings(&[n], &texts) }
            }
            DTypeKind::Variant => Tensor::boxed(&[n], vec![Value::from(Tensor::scalar(1.0)); n]),
            DTypeKind::Float if wide => {
                Ok(Tensor::from_vec((0..n).map(|_| *self.0.pick(&FLOATS)).collect::<Vec<f64>>()))
            }
            _ if wide => Ok(Tensor::from_vec((0..n).map(|_| *self.0.pick(&INTS)).collect::<Vec<i64>>())),
            _ => Ok(Tensor::from_vec(
                (0..n).map(|_| i64::try_from(self.0.below(4)).expect("small") - 1).collect::<Vec<_>>(),
            )),
        };
        let flat = flat.expect("as many");
        let typed = if flat.dtype() == dtype { flat } else { cast(flat, dtype) };
        typed.with_dims(shape).expect("as many").into()
    }

    /// Rows that cut `n` values.
    fn partition(&mut self, n: usize) -> RowPartition {
        let n = if n > 100 { 0 } else { n };
        let first = self.0.below(n + 1);
        let lengths = match self.0.below(4) {
            0 => vec![n],
            1 => vec![0, first, 0, n - first],
            2 if n == 0 => Vec::new(),
            _ => vec![first, n - first],
        };
        RowPartition::from_lengths(lengths).expect("they cut")
    }

    fn extension(&mut self, dtype: DType, shape: &[usize]) -> Value {
        let values = self.tensor(dtype, shape);
        let outer = shape.first().copied();
        let made = match (self.0.below(7), outer) {
            (0, Some(n)) if n < 100 => {
                let rows = self.partition(n);
                RaggedTensor::from_partition(values.clone(), rows).map(ExtensionType::into_value)
            }
            (1, _) => {
                let mask = self.tensor(DType::Bool, shape);
                MaskedTensor::new(values.clone(), mask.tensor().expect("bits").clone()).map(ExtensionType::into_value)
            }
            (2, Some(n)) if n < 100 => {
                let other = self.tensor(DType::String, &[n]);
                let fields = [("a", values.clone()), ("b", other)];
                StructTensor::from_fields(Shape::known(&[n]), fields).map(ExtensionType::into_value)
            }
            (3, Some(n)) if n < 100 => {
                let (inner, rows) = (self.partition(n), self.partition(n));
                let outer = self.partition(inner.data().expect("data").nrows());
                drop(rows);
                RaggedTensor::from_partition(values.clone(), inner)
                    .and_then(|inner| RaggedTensor::from_partition(inner.into_value(), outer))
                    .map(ExtensionType::into_value)
            }
            // Missing as a whole: items of a tensor, rows, and rows with elements that are missing too.
            (4, Some(n)) if n < 100 => {
                let mask = self.tensor(DType::Bool, &[n]);
                MaskedTensor::new(values.clone(), mask.tensor().expect("bits").clone()).map(ExtensionType::into_value)
            }
            (5, Some(n)) if n < 100 => self.rows_of(values.clone(), n).and_then(|rows| self.some_missing(rows)),
            (6, Some(n)) if n < 100 => {
                let mask = self.tensor(DType::Bool, shape);
                MaskedTensor::new(values.clone(), mask.tensor().expect("bits").clone())
                    .and_then(|inner| self.rows_of(inner.into_value(), n))
                    .and_then(|rows| if self.0.below(2) == 0 { Ok(rows.into_value()) } else { self.some_missing(rows) })
            }
            _ => return values,
        };
        made.unwrap_or(values)
    }

    fn rows_of(&mut self, values: Value, n: usize) -> Result<RaggedTensor> {
        RaggedTensor::from_partition(values, self.partition(n))
    }

    /// The rows, of which some are missing.
    fn some_missing(&mut self, rows: RaggedTensor) -> Result<Value> {
        let n = rows.nrows().known().expect("data");
        let mask = self.tensor(DType::Bool, &[n]);
        MaskedTensor::new(rows.into_value(), mask.tensor()?.clone()).map(ExtensionType::into_value)
    }

    /// Attributes of an op, one for each of its parameters.
    pub fn attrs(&mut self, op: &OpDef) -> Vec<AttrValue> {
        op.attrs
            .params
            .iter()
            .map(|param| match (param.default)() {
                Some(default) if self.0.below(3) == 0 => default,
                _ => self.attr(param.kind),
            })
            .collect()
    }

    fn attr(&mut self, kind: &str) -> AttrValue {
        if kind.ends_with("or None") && self.0.below(4) == 0 {
            return AttrValue::None;
        }
        match kind {
            "bool" => AttrValue::Bool(self.0.below(2) == 0),
            "int" | "int or None" => AttrValue::Int(self.int()),
            "number or None" if self.0.below(2) == 0 => AttrValue::Int(self.int()),
            "float" | "number or None" => AttrValue::Float(*self.0.pick(&FLOATS)),
            "str" | "str or None" => AttrValue::Str(self.0.pick(&TEXTS).to_string()),
            "dtype" => AttrValue::DType(self.dtype()),
            "axes" if self.0.below(4) == 0 => AttrValue::None,
            "ints" | "pairs of ints" | "ints or None" | "axes" => {
                AttrValue::Ints((0..self.0.below(5)).map(|_| self.int()).collect())
            }
            "variable" => AttrValue::Variable(Variable::new("v", Tensor::scalar(1.0)).expect("a variable")),
            _ => AttrValue::None,
        }
    }

    /// Small ones mostly, since others are refused.
    fn int(&mut self) -> i64 {
        if self.0.below(3) > 0 { i64::try_from(self.0.below(6)).expect("small") - 2 } else { *self.0.pick(&INTS) }
    }
}

fn cast(flat: Tensor, dtype: DType) -> Tensor {
    ops::cast(flat, dtype).expect("numbers").tensor().expect("a tensor").clone()
}
