//! Generated functions that treat rows independently, for the laws of the float formula.
//!
//! Invariant: a seed gives one function, whose result for a row may depend on that row alone.

use crate::rng::Rng;
use extenso_core::{RowPartition, Tensor, Value, ops};
use extenso_types::Result;

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

    /// The width of the rows that it takes.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Whether it multiplies by weights whose inner size is at least `k`.
    pub fn multiplies(&self, k: usize) -> bool {
        let inner = |w: &Tensor, t: bool| w.shape().to_dims().is_some_and(|d| d[usize::from(t)] >= k);
        self.steps.iter().any(|s| matches!(s, Step::Weights(w, t) if inner(w, *t)))
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

/// All elements of a float tensor as bits; NaNs are one.
///
/// Errors: a symbol or another dtype.
pub fn bits(x: &Value) -> Result<Vec<u32>> {
    let tensor = x.tensor()?;
    let key = |v: &f32| if v.is_nan() { f32::NAN.to_bits() } else { v.to_bits() };
    Ok(tensor.as_slice::<f32>()?.iter().map(key).collect())
}

/// The sum of everything, for digests.
///
/// Errors: as [`bits`].
pub fn digest(x: &Value) -> Result<u64> {
    let fold = |h: u64, b: u32| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3);
    Ok(bits(x)?.into_iter().fold(0xcbf2_9ce4_8422_2325, fold))
}
