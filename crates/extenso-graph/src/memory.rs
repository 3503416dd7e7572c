//! How much memory a program takes for what its steps make.
//!
//! Invariant: nothing runs; sizes are those of specs, and a value counts from the step that makes it to the last that reads it.

use crate::program::Program;
use extenso_types::{DType, Dim, LeafSpec, TensorSpec};

impl Program {
    /// The most bytes that results of steps take at once, if every size that varies is `unknown`.
    ///
    /// Arguments and constants are not among them, nor the letters of texts, whose number no spec tells. Results that share their
    /// memory count each for itself.
    ///
    /// ```
    /// # use extenso_core::{Value, ops};
    /// # use extenso_graph::Function;
    /// # use extenso_types::{DType, Dim, Nest, Shape, Spec, TensorSpec};
    /// let f = Function::new("f", |x| {
    ///     Ok(Nest::Leaf(ops::sum(ops::sort(x.leaves()[0].1, 0, false)?, 0, false)?))
    /// });
    /// let spec = Spec::from(TensorSpec::new(DType::F32, Shape::new([Dim::any()])));
    /// let f = f.concrete(&Nest::Leaf(spec)).unwrap();
    /// // The sorted elements, and their sum.
    /// assert_eq!(f.program().peak_bytes(1000), 4000 + 4);
    /// ```
    pub fn peak_bytes(&self, unknown: usize) -> usize {
        let specs = self.result_specs();
        let bytes = |slot: &usize| specs[*slot].as_ref().map_or(0, |spec| bytes_of(spec, unknown));
        let (mut now, mut peak) = (0_usize, 0);
        for (results, dead) in self.lives() {
            now = results.iter().map(bytes).fold(now, usize::saturating_add);
            peak = peak.max(now);
            now = dead.iter().map(bytes).fold(now, usize::saturating_sub);
        }
        peak
    }
}

/// The bytes of a value of this spec, if every size that varies is `unknown`.
fn bytes_of(spec: &LeafSpec, unknown: usize) -> usize {
    match spec {
        LeafSpec::Tensor(spec) => tensor_bytes(spec, unknown),
        LeafSpec::Partition(spec) => {
            let splits = spec.nrows.known().unwrap_or(unknown).saturating_add(1);
            splits.saturating_mul(spec.index.width().unwrap_or(size_of::<i64>()))
        }
    }
}

fn tensor_bytes(spec: &TensorSpec, unknown: usize) -> usize {
    let size = |dim: &Dim| dim.known().unwrap_or(unknown);
    let elements = spec.shape.dims().map_or(unknown, |dims| dims.iter().map(size).fold(1, usize::saturating_mul));
    match (spec.dtype, spec.dtype.width()) {
        (DType::Bool, _) => elements.div_ceil(8),
        (_, Some(width)) => elements.saturating_mul(width),
        // A text has an offset and a boxed value a pointer.
        (_, None) => elements.saturating_mul(size_of::<i64>()),
    }
}
