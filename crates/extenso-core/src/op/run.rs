//! Running an op on data: what the call pipeline and programs share.

use super::{Kernel, OpDef, OutputSpecs};
use crate::attrs::AttrSet;
use crate::elementwise::Epilogue;
use crate::tensor::Dense;
use crate::value::{Outputs, Value};
use extenso_types::{DTypeKind, Error, LeafSpec, Result};
use smallvec::SmallVec;
use std::sync::OnceLock;

impl OpDef {
    /// Infers and runs on data, without dispatch and without tracing: what both the call pipeline and programs do.
    ///
    /// Errors: arguments that do not fit, named by the op.
    pub fn run(&self, args: &[Value], attrs: &dyn AttrSet) -> Result<Outputs> {
        if let Some(outputs) = self.run_few(args.iter().map(Value::dense), attrs)? {
            return Ok(outputs);
        }
        self.run_as(args, attrs, &self.infer_of(args, attrs)?)
    }

    /// Output specs from arguments.
    ///
    /// Errors: arguments that do not fit.
    fn infer_of(&self, args: &[Value], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
        // Specs are large, and are made where they stay.
        let mut specs: SmallVec<[LeafSpec; 4]> = SmallVec::new();
        for arg in args {
            specs.push(arg.leaf_spec()?);
        }
        self.infer(&specs, attrs)
    }

    /// Runs on data whose inferred specs are these.
    fn run_as(&self, args: &[Value], attrs: &dyn AttrSet, inferred: &[LeafSpec]) -> Result<Outputs> {
        let is_text = |arg: &Value| arg.dense().is_some_and(|dense| dense.dtype().kind() == DTypeKind::Text);
        let outputs = match self.kernel {
            Kernel::Elementwise(lookup) => match self.text.filter(|_| args.iter().any(is_text)) {
                Some((_, kernel)) => kernel(args, attrs, inferred),
                None => crate::elementwise::run(lookup, args, attrs, inferred),
            },
            Kernel::Reduction(fold) => crate::reduce::run_axes(fold, args, attrs),
            Kernel::Segment(fold) => crate::reduce::run_segments(fold, args),
            Kernel::General(_, kernel) => kernel(args, attrs, inferred),
        }?;
        debug_assert!(self.holds(&outputs, inferred), "{}: outputs are not as inferred: {inferred:?}", self.name);
        Ok(outputs)
    }

    /// [`OpDef::run`] at one place of a program, whose arguments have the same dtypes each time: where they have the sizes of the
    /// first time too, the specs are those that were inferred then.
    ///
    /// Errors: arguments that do not fit.
    pub fn run_again(&self, args: &[Value], attrs: &dyn AttrSet, first: &FirstSpecs) -> Result<Outputs> {
        if let Some(outputs) = self.run_few(args.iter().map(Value::dense), attrs)? {
            return Ok(outputs);
        }
        self.with_specs(args, attrs, first, |inferred| self.run_as(args, attrs, inferred))
    }

    /// The same, where an elementwise expression replaces the output of an op that has an epilogue.
    ///
    /// Errors: arguments that do not fit, named by the op; those of the expression, which are not the op's.
    pub fn run_epilogue(
        &self,
        args: &[Value],
        attrs: &dyn AttrSet,
        first: &FirstSpecs,
        epilogue: &Epilogue<'_>,
    ) -> Result<Value> {
        let run = self.epilogue.ok_or_else(|| Error::internal(format!("`{}` has no epilogue", self.name)))?;
        self.with_specs(args, attrs, first, |_| Ok(())).map_err(|e| e.at(self.name))?;
        run(args, attrs, epilogue)
    }

    fn with_specs<R>(
        &self,
        args: &[Value],
        attrs: &dyn AttrSet,
        first: &FirstSpecs,
        run: impl FnOnce(&[LeafSpec]) -> Result<R>,
    ) -> Result<R> {
        match first.0.get() {
            Some((known, inferred)) if has_sizes(args, known) => run(inferred),
            known => {
                let inferred = self.infer_of(args, attrs)?;
                if known.is_none() {
                    let mut sizes = SmallVec::new();
                    each_size(args, |some| {
                        sizes.extend_from_slice(some);
                        true
                    });
                    // Of two threads that are first, either may be remembered.
                    let _ = first.0.set((sizes, inferred.clone()));
                }
                run(&inferred)
            }
        }
    }

    /// Runs an elementwise op on a few elements, which costs less than their specs do; none if this is no such case.
    ///
    /// Errors: a fault of the kernel, with its position.
    pub(crate) fn run_few<'a>(
        &self,
        args: impl Iterator<Item = Option<&'a Dense>>,
        attrs: &dyn AttrSet,
    ) -> Result<Option<Outputs>> {
        let Kernel::Elementwise(lookup) = self.kernel else { return Ok(None) };
        let mut inputs = SmallVec::<[&Dense; 3]>::new();
        for arg in args {
            let Some(input) = arg else { return Ok(None) };
            inputs.push(input);
        }
        crate::elementwise::run_few(lookup, &inputs, attrs)
    }

    fn holds(&self, outputs: &Outputs, inferred: &[LeafSpec]) -> bool {
        let mut bindings = extenso_types::Bindings::default();
        outputs.len() == inferred.len()
            && outputs.iter().zip(inferred).all(|(o, i)| o.leaf_spec().is_ok_and(|o| i.accepts(&o, &mut bindings)))
    }
}

/// The sizes that an op met first at one place of a program, and what was inferred from them.
#[derive(Default, Debug)]
pub struct FirstSpecs(OnceLock<(SmallVec<[usize; 16]>, OutputSpecs)>);

/// Whether the sizes of arguments are these; they are compared where they stand.
fn has_sizes(args: &[Value], mut known: &[usize]) -> bool {
    let same = each_size(args, |some| match known.split_at_checked(some.len()) {
        Some((first, rest)) if first == some => {
            known = rest;
            true
        }
        Some(_) | None => false,
    });
    same && known.is_empty()
}

/// Calls with the sizes of arguments until it is told to stop: of each the number of axes and the axes, or the rows and values, and the
/// length of rows if all have one. Gives whether it came to the end.
fn each_size(args: &[Value], mut go_on: impl FnMut(&[usize]) -> bool) -> bool {
    args.iter().all(|arg| match arg {
        Value::Tensor(tensor) => tensor.dense().is_none_or(|dense| go_on(&[dense.dims().len()]) && go_on(dense.dims())),
        Value::Partition(rows) => rows.data().map_or(true, |rows| {
            let length = rows.uniform_row_length().map_or(0, |n| n.saturating_add(1));
            go_on(&[rows.nrows(), rows.nvalues(), length])
        }),
        Value::Ext(_) => true,
    })
}
