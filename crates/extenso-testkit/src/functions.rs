//! Generated functions that treat rows independently, for the laws of the float formula.
//!
//! Invariant: a seed gives one function, whose result for a row may depend on that row alone.

use crate::rng::Rng;
use extenso_core::{RowPartition, Tensor, Value, ops};
use extenso_types::{DType, Error, Result};
use half::{bf16, f16};

/// A function of a batch of rows.
#[derive(Clone, Debug)]
pub struct RowFunction {
    width: usize,
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
enum Step {
    Unary(&'static str),
    Bias(Tensor),
    Mask(Tensor),
    /// Weights `[in, out]`, or `[out, in]` if transposed.
    Weights(Tensor, bool),
    Row(&'static str, bool),
    Residual,
}

const UNARY: [&str; 5] = ["exp", "tanh", "abs", "negative", "sqrt"];
/// The outputs of the fixed products: some vectors of every instruction set, and one more.
const OUTPUTS: usize = 33;
const FOLDS: [&str; 5] = ["sum", "max", "min", "prod", "none"];

impl RowFunction {
    /// The function of a seed. Inner sizes go up to 4096.
    ///
    /// Errors: none, for any seed; ops report theirs.
    pub fn generate(seed: u64) -> Result<RowFunction> {
        let mut rng = Rng::new(seed);
        let width = *rng.pick(&[1, 3, 16, 17, 64, 100, 513, 1024, 1500, 4096]);
        let mut columns = width;
        let mut steps = Vec::new();
        for _ in 0..3 + rng.below(6) {
            let step = match rng.below(7) {
                0 | 1 => Step::Unary(UNARY[rng.below(UNARY.len())]),
                2 => Step::Bias(Tensor::from_vec(rng.f32s(columns))),
                3 => {
                    let bits: Vec<bool> = (0..columns).map(|_| rng.below(3) > 0).collect();
                    Step::Mask(Tensor::bools(&[columns], &bits)?)
                }
                4 | 5 => {
                    let (out, transposed) = (*rng.pick(&[1, 5, 16, 33, 96]), rng.below(2) == 0);
                    let shape = if transposed { [out, columns] } else { [columns, out] };
                    let weights = Tensor::new(&shape, &rng.f32s(columns * out))?;
                    columns = out;
                    Step::Weights(weights, transposed)
                }
                _ => Step::Residual,
            };
            steps.push(step);
        }
        steps.push(Step::Row(FOLDS[rng.below(FOLDS.len())], rng.below(2) == 0));
        Ok(RowFunction { width, steps })
    }

    /// Functions of rows of `width` that do not depend on a seed: a chain, the sum of each row, the sum of each row of a
    /// chain, and products by weights `[in, out]` and `[out, in]`.
    ///
    /// Errors: as [`RowFunction::generate`].
    pub fn fixed(width: usize) -> Result<Vec<RowFunction>> {
        let mut rng = Rng::new(4096);
        let chain = [Step::Unary("exp"), Step::Bias(Tensor::from_vec(rng.f32s(width))), Step::Unary("tanh")];
        let weights = |shape: [usize; 2], rng: &mut Rng| Tensor::new(&shape, &rng.f32s(width * OUTPUTS));
        let sum = Step::Row("sum", false);
        let functions = [
            chain.to_vec(),
            vec![sum.clone()],
            [&chain[..], &[sum]].concat(),
            vec![Step::Weights(weights([width, OUTPUTS], &mut rng)?, false)],
            vec![Step::Weights(weights([OUTPUTS, width], &mut rng)?, true)],
        ];
        Ok(functions.into_iter().map(|steps| RowFunction { width, steps }).collect())
    }

    /// The same function on floats of another dtype.
    ///
    /// Errors: `dtype` has no floats.
    pub fn of(mut self, dtype: DType) -> Result<RowFunction> {
        for step in &mut self.steps {
            if let Step::Bias(numbers) | Step::Weights(numbers, _) = step {
                *numbers = ops::cast(&*numbers, dtype)?.tensor()?.clone();
            }
        }
        Ok(self)
    }

    /// The width of the rows that it takes.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Whether it multiplies by weights whose inner size is at least `k`, and which are `[out, in]` if `transposed`.
    pub fn multiplies(&self, k: usize, transposed: bool) -> bool {
        let inner = |w: &Tensor| w.shape().to_dims().is_some_and(|d| d[usize::from(transposed)] >= k);
        self.steps.iter().any(|s| matches!(s, Step::Weights(w, t) if *t == transposed && inner(w)))
    }

    /// The function.
    ///
    /// Shapes: `x` is `[rows, width]`, the result has the rows as its first axis.
    pub fn call(&self, x: &Value) -> Result<Value> {
        let mut x = x.clone();
        let mut before = x.clone();
        for step in &self.steps {
            let next = match step {
                Step::Unary("exp") => ops::exp(&x)?,
                Step::Unary("tanh") => ops::tanh(&x)?,
                Step::Unary("abs") => ops::abs(&x)?,
                Step::Unary("sqrt") => ops::sqrt(ops::abs(&x)?)?,
                Step::Unary(_) => ops::negative(&x)?,
                Step::Bias(b) => ops::multiply(ops::add(&x, b)?, 0.5)?,
                Step::Mask(m) => ops::where_(m, &x, 0.25)?,
                Step::Weights(w, transposed) => ops::matmul(&x, w, *transposed)?,
                Step::Residual if before.spec()? == x.spec()? => ops::add(&x, &before)?,
                Step::Residual => x.clone(),
                Step::Row("sum", keep) => ops::sum(&x, -1, *keep)?,
                Step::Row("max", keep) => ops::max(&x, -1, *keep)?,
                Step::Row("min", keep) => ops::min(&x, -1, *keep)?,
                Step::Row("prod", keep) => ops::prod(&x, -1, *keep)?,
                Step::Row(..) => x.clone(),
            };
            before = std::mem::replace(&mut x, next);
        }
        Ok(x)
    }
}

/// A generated function of ragged rows: an elementwise chain and a fold of each row.
#[derive(Clone, Debug)]
pub struct RaggedFunction(Vec<u8>, u8);

impl RaggedFunction {
    /// The function of a seed.
    pub fn generate(seed: u64) -> RaggedFunction {
        let mut rng = Rng::new(seed);
        let chain = (0..1 + rng.below(5)).map(|_| u8::try_from(rng.below(5)).unwrap_or(0)).collect();
        RaggedFunction(chain, u8::try_from(rng.below(4)).unwrap_or(0))
    }

    /// Functions that do not depend on a seed: every fold, alone and after a chain.
    pub fn fixed() -> Vec<RaggedFunction> {
        let chains = [vec![], vec![1, 3]];
        chains.iter().flat_map(|chain| (1..4).map(|fold| RaggedFunction(chain.clone(), fold))).collect()
    }

    /// The function of values and their partition into rows.
    pub fn call(&self, values: &Value, rows: &RowPartition) -> Result<Value> {
        let mut x = values.clone();
        for step in &self.0 {
            x = match step {
                0 => ops::exp(&x)?,
                1 => ops::multiply(&x, &x)?,
                2 => ops::where_(ops::greater(&x, 0.1)?, &x, 0)?,
                3 => ops::tanh(&x)?,
                _ => ops::subtract(&x, ops::gather_rows_of(ops::segment_max(&x, rows)?, rows)?)?,
            };
        }
        match self.1 {
            0 | 1 => ops::segment_sum(x, rows),
            2 => ops::segment_max(x, rows),
            _ => ops::segment_prod(x, rows),
        }
    }
}

/// All elements of a float tensor as they lie in memory, NaNs as they are.
///
/// Errors: a symbol or another dtype.
pub fn bits(x: &Value) -> Result<Vec<u64>> {
    let tensor = x.tensor()?;
    Ok(match tensor.dtype() {
        DType::F16 => tensor.as_slice::<f16>()?.iter().map(|v| v.to_bits().into()).collect(),
        DType::BF16 => tensor.as_slice::<bf16>()?.iter().map(|v| v.to_bits().into()).collect(),
        DType::F32 => tensor.as_slice::<f32>()?.iter().map(|v| v.to_bits().into()).collect(),
        DType::F64 => tensor.as_slice::<f64>()?.iter().map(|v| v.to_bits()).collect(),
        other => return Err(Error::dtype(format!("found {other}")).wanted("floats")),
    })
}

/// One number for all bits.
///
/// Errors: as [`bits`].
pub fn digest(x: &Value) -> Result<u64> {
    let fold = |h: u64, b: u64| (h ^ b).wrapping_mul(0x0100_0000_01b3);
    Ok(bits(x)?.into_iter().fold(0xcbf2_9ce4_8422_2325, fold))
}
