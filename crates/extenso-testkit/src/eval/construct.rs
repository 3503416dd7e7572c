//! Constructors of the grammar: dtypes by name, `tensor`, `ragged`, `masked`.

use super::leaves::{leaves_of, vector};
use super::{Evaluated, Scope, literal, malformed, value};
use crate::case::Expr;
use extenso_core::{ExtensionType, RowPartition, Tensor, Value, ops};
use extenso_ext::{Literal, MaskedTensor, RaggedTensor, constant};
use extenso_types::{DType, Error, Result};

/// What a constructor gives; none if `function` is no constructor.
pub(super) fn construct(
    function: &str,
    args: &[Expr],
    kwargs: &[(String, Expr)],
    scope: &Scope,
) -> Option<Evaluated<Value>> {
    let make: fn(&Call<'_>) -> Evaluated<Value> = match function {
        "tensor" => dense,
        "ragged" => |call| Ok(rows(&call.listed()?)?),
        "masked" => |call| Ok(masked(&call.listed()?)?),
        name => {
            let dtype = DType::all().find(|d| d.name() == name && *d != DType::Variant)?;
            let [list] = args else { return Some(malformed(format!("`{name}` takes one list"))) };
            return Some(typed(list, dtype));
        }
    };
    Some(match args {
        [list] => make(&Call { list, kwargs, scope }),
        _ => malformed(format!("`{function}` takes one list")),
    })
}

struct Call<'a> {
    list: &'a Expr,
    kwargs: &'a [(String, Expr)],
    scope: &'a Scope,
}

impl Call<'_> {
    fn kwarg(&self, name: &str) -> Option<&Expr> {
        self.kwargs.iter().find(|(known, _)| known == name).map(|(_, expr)| expr)
    }

    fn dtype(&self) -> Evaluated<Option<DType>> {
        match self.kwarg("dtype") {
            None => Ok(None),
            Some(Expr::Str(name)) => Ok(Some(name.parse()?)),
            Some(other) => malformed(format!("`dtype={other}`")),
        }
    }

    /// The list as a value, dense or ragged by its lengths.
    fn listed(&self) -> Evaluated<Value> {
        match self.dtype()? {
            Some(dtype) => typed(self.list, dtype),
            None => value(self.list, self.scope),
        }
    }
}

/// A list of one dtype: its structure is that of a list of positions, in whose place the leaves are put.
fn typed(list: &Expr, dtype: DType) -> Evaluated<Value> {
    let mut leaves = Vec::new();
    leaves_of(list, &mut leaves)?;
    let mut next = 0;
    let structure = constant(positions(list, &mut next))?;
    // What lies under a missing value has position 0, where the zero of the dtype stands.
    let zero = zero_of(dtype);
    let all: Vec<&Expr> = std::iter::once(&zero).chain(leaves).collect();
    let all = vector(dtype, &all)?;
    Ok(map_tensor(&structure, &|at| ops::take(&all, ops::cast(at, DType::I64)?, 0))?)
}

fn zero_of(dtype: DType) -> Expr {
    match dtype {
        DType::Bool => Expr::Bool(false),
        DType::String | DType::Bytes => Expr::Str(String::new()),
        _ => Expr::Int(0),
    }
}

fn positions(expr: &Expr, next: &mut i64) -> Literal {
    match expr {
        Expr::None => Literal::None,
        Expr::List(items) => Literal::List(items.iter().map(|item| positions(item, next)).collect()),
        _ => {
            *next += 1;
            Literal::Int(*next)
        }
    }
}

/// The value with its innermost tensor replaced.
fn map_tensor(value: &Value, f: &dyn Fn(&Tensor) -> Result<Value>) -> Result<Value> {
    if let Ok(x) = RaggedTensor::from_value(value) {
        return Ok(x.with_values(map_tensor(x.values(), f)?)?.into_value());
    }
    if let Ok(x) = MaskedTensor::from_value(value) {
        return Ok(MaskedTensor::new(map_tensor(x.values(), f)?, x.mask().clone())?.into_value());
    }
    f(value.tensor()?)
}

fn dense(call: &Call<'_>) -> Evaluated<Value> {
    let mut leaves = Vec::new();
    leaves_of(call.list, &mut leaves)?;
    let shape = match call.kwarg("shape") {
        Some(Expr::Tuple(sizes)) => sizes.iter().map(size).collect::<Evaluated<Vec<usize>>>()?,
        None => vec![leaves.len()],
        Some(other) => return malformed(format!("`shape={other}`")),
    };
    let flat = match call.dtype()? {
        Some(dtype) => vector(dtype, &leaves)?,
        None => literal::value(&Expr::List(leaves.into_iter().cloned().collect()))?.tensor()?.clone(),
    };
    Ok(flat.with_dims(&shape)?.into())
}

fn size(expr: &Expr) -> Evaluated<usize> {
    match expr {
        Expr::Int(n) => usize::try_from(*n).map_err(|_| Error::value(format!("the size {n} is negative")).into()),
        other => malformed(format!("the size `{other}`")),
    }
}

/// The value with rows in every axis but the first.
fn rows(value: &Value) -> Result<Value> {
    if let Ok(x) = RaggedTensor::from_value(value) {
        return Ok(x.with_values(rows(x.values())?)?.into_value());
    }
    let dims = value.tensor()?.data()?.dims();
    let [n, k, inner @ ..] = dims else { return Ok(value.clone()) };
    let flat: Vec<usize> = std::iter::once(n * k).chain(inner.iter().copied()).collect();
    let partition = RowPartition::from_lengths(std::iter::repeat_n(*k, *n))?;
    let values = rows(&value.tensor()?.with_dims(&flat)?.into())?;
    Ok(RaggedTensor::from_partition(values, partition)?.into_value())
}

/// The value with a mask, also where nothing is missing.
fn masked(value: &Value) -> Result<Value> {
    if let Ok(x) = RaggedTensor::from_value(value) {
        return Ok(x.with_values(masked(x.values())?)?.into_value());
    }
    if MaskedTensor::from_value(value).is_ok() {
        return Ok(value.clone());
    }
    let dense = value.tensor()?.data()?;
    let mask = Tensor::bools(dense.dims(), &vec![true; dense.len()])?;
    Ok(MaskedTensor::new(value.clone(), mask)?.into_value())
}
