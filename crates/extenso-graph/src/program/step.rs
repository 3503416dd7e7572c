//! One step of a program: an op, or a fused chain and what it ends in.
//!
//! Invariant: a step leaves in its slots what later steps read, and nothing else of what it read.

use super::Slot;
use crate::origin::Lines;
use crate::passes::fuse::{Given, How};
use extenso_core::attrs::AttrSet;
use extenso_core::elementwise::{Epilogue, Expr, Made, Source, evaluate};
use extenso_core::reduce::{Cut, Fold, Reduce, evaluate_folds, fold_axes, normalize_axes};
use extenso_core::{FirstSpecs, OpDef, Outputs, Value};
use extenso_types::{Dims, Error, Result, broadcast_dims};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// A step: what it does, what it reads, and the slots of what it makes.
pub(super) struct Step {
    pub work: Work,
    pub args: SmallVec<[(Slot, Use); 4]>,
    pub results: SmallVec<[Slot; 1]>,
    /// Results that nothing reads.
    pub unread: SmallVec<[Slot; 1]>,
    /// Where its ops were called.
    pub lines: Lines,
}

/// How a step reads a value. What an op is given it has itself where it can: to count one more owner costs more than to give it back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// It is one of the constants.
    Constant,
    /// The step reads it at another place too.
    Shared,
    /// Others read it later.
    Lent,
    /// Nothing reads it later.
    Last,
}

/// What a step does.
pub(super) enum Work {
    Op(&'static OpDef, Arc<dyn AttrSet>, FirstSpecs),
    Fused(Fused),
}

/// A fused chain. Its arguments are those of what it makes first, what it reads, then the partitions of what is repeated in rows.
pub(super) struct Fused {
    pub expr: Expr,
    pub head: Option<HeadOp>,
    /// How each argument is read.
    pub reads: Vec<How>,
    pub end: End,
}

/// What a fused chain makes first and then replaces.
pub(super) struct HeadOp {
    pub op: &'static OpDef,
    pub attrs: Arc<dyn AttrSet>,
    /// The number of its arguments.
    pub args: usize,
    /// Its place among the inputs of the expression.
    pub input: usize,
    pub first: FirstSpecs,
}

/// What a fused chain ends in.
pub(super) enum End {
    /// Stored results are given as they are, or with more axes.
    Store(Vec<Given>),
    Axes(Fold, Reduce),
    /// Each fold has a result. The last argument is the partition.
    Segments(Vec<Fold>),
}

impl std::fmt::Debug for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let args: SmallVec<[Slot; 4]> = self.args.iter().map(|(slot, _)| *slot).collect();
        match &self.work {
            Work::Op(op, ..) => write!(f, "{:?} = {}{args:?}", self.results, op.name),
            Work::Fused(Fused { head: Some(head), expr, .. }) => {
                write!(f, "{:?} = {} and {} steps {args:?}", self.results, head.op.name, expr.len())
            }
            Work::Fused(fused) => write!(f, "{:?} = fused {} steps {args:?}", self.results, fused.expr.len()),
        }
    }
}

#[cold]
fn early() -> Error {
    Error::internal("a value was dropped too early")
}

impl Step {
    /// Runs the step on the values of slots, and fills the slots of its results.
    ///
    /// Errors: those of the ops; a value that is not there.
    pub fn run(&self, constants: &[Option<Value>], slots: &mut [Option<Value>]) -> Result<()> {
        let count = match &self.work {
            Work::Op(..) => self.args.len(),
            Work::Fused(fused) => fused.head.as_ref().map_or(0, |head| head.args),
        };
        let (given, read) = self.args.split_at(count);
        let mut args: SmallVec<[Value; 12]> = SmallVec::new();
        for (slot, how) in given {
            let arg = match how {
                Use::Constant => constants[*slot].clone(),
                Use::Shared => slots[*slot].clone(),
                Use::Lent | Use::Last => slots[*slot].take(),
            };
            let Some(arg) = arg else { return Err(early()) };
            args.push(arg);
        }
        match &self.work {
            Work::Op(op, attrs, first) => {
                let made = op.run_again(&args, &**attrs, first);
                self.fill(slots, made.map_err(|e| if op.part { e } else { e.at(op.name) })?);
            }
            Work::Fused(fused) => {
                let mut others: SmallVec<[&Value; 16]> = SmallVec::new();
                for (slot, how) in read {
                    let values = if *how == Use::Constant { constants } else { &*slots };
                    let Some(value) = &values[*slot] else { return Err(early()) };
                    others.push(value);
                }
                let mut results = Results::new();
                run_fused(fused, &args, &others, &mut results)?;
                drop(others);
                self.fill(slots, results.drain(..));
            }
        }
        for ((slot, how), arg) in given.iter().zip(args.drain(..)) {
            match how {
                Use::Lent => slots[*slot] = Some(arg),
                Use::Last => arg.give_back(),
                Use::Constant | Use::Shared => {}
            }
        }
        for (slot, how) in read {
            if *how == Use::Last
                && let Some(dead) = slots[*slot].take()
            {
                dead.give_back();
            }
        }
        self.unread.iter().filter_map(|slot| slots[*slot].take()).for_each(Value::give_back);
        Ok(())
    }

    fn fill(&self, slots: &mut [Option<Value>], made: impl IntoIterator<Item = Value>) {
        for (slot, value) in self.results.iter().zip(made) {
            slots[*slot] = Some(value);
        }
    }
}

/// What a fused chain makes. They are not moved but read out: to move so many places costs more than a value.
type Results = SmallVec<[Value; 16]>;

/// Runs a fused chain on the arguments of what it makes first, and the others.
fn run_fused(fused: &Fused, of_head: &[Value], args: &[&Value], results: &mut Results) -> Result<()> {
    let Fused { expr, head, reads, end } = fused;
    if let (Some(head), End::Store(given)) = (head, end) {
        return run_head(head, expr, reads, given, of_head, args, results);
    }
    let (args, partition) = match (end, args.split_last()) {
        (End::Segments(_), Some((last, args))) => (args, Some(last.partition()?)),
        _ => (args, None),
    };
    let mut inputs = Sources::new();
    add_sources(args, reads, &mut inputs)?;
    let mut dims = Dims::new();
    for input in &inputs {
        match input {
            Source::Elements(data) if data.dims().is_empty() || *data.dims() == *dims => {}
            _ if dims.is_empty() => dims = input.dims(),
            _ => dims = broadcast_dims(&dims, &input.dims())?,
        }
    }
    match (end, partition) {
        (End::Axes(fold, attrs), _) => results.extend(run_axes(expr, &inputs, dims, *fold, attrs)?),
        (End::Segments(folds), Some(partition)) => {
            let rows = partition.data()?;
            let [n] = dims.as_slice() else {
                return Err(Error::internal("a fused segment fold over more than a vector"));
            };
            if *n != rows.nvalues() {
                return Err(Error::shape(format!("{n} values are given to a partition of {}", rows.nvalues())));
            }
            let out = Dims::from_slice(&[rows.nrows()]);
            results.extend(evaluate_folds(expr, &inputs, &dims, folds, &Cut::Segments(rows.offsets()), out)?);
        }
        (End::Store(given), _) => {
            let mut stored: SmallVec<[Made; 8]> = SmallVec::new();
            evaluate(expr, &inputs, &dims, &mut |made| stored.push(made))?;
            if given.iter().map(|given| given.stored).eq(0..stored.len()) {
                for (given, made) in given.iter().zip(stored) {
                    results.push(Value::Tensor(made.tensor(given.sizes(&dims))?));
                }
                return Ok(());
            }
            for given in given {
                let made = stored.get(given.stored).cloned();
                results.push(Value::Tensor(Made::only(made)?.tensor(given.sizes(&dims))?));
            }
        }
        (End::Segments(_), None) => return Err(Error::internal("a fused segment fold without rows")),
    }
    Ok(())
}

/// Makes what comes first and replaces it by the only result of the expression.
fn run_head(
    head: &HeadOp,
    expr: &Expr,
    reads: &[How],
    given: &[Given],
    of_op: &[Value],
    others: &[&Value],
    results: &mut Results,
) -> Result<()> {
    let mut inputs = Sources::new();
    add_sources(others, reads, &mut inputs)?;
    let epilogue = Epilogue::new(expr, &inputs, head.input)?;
    let result = head.op.run_epilogue(of_op, &*head.attrs, &head.first, &epilogue)?;
    let tensor = result.tensor()?;
    let dims = tensor.data()?.dims();
    for given in given {
        results.push(match given.axes {
            None => result.clone(),
            Some(_) => Value::Tensor(tensor.with_dims(&given.sizes(dims))?),
        });
    }
    Ok(())
}

/// What an expression reads.
type Sources<'a> = SmallVec<[Source<'a>; 16]>;

/// Adds what an expression reads, from the arguments of its step.
fn add_sources<'a>(args: &[&'a Value], reads: &[How], sources: &mut Sources<'a>) -> Result<()> {
    let (inputs, partitions) = args.split_at(reads.len());
    let mut partitions = partitions.iter();
    for (value, how) in inputs.iter().zip(reads) {
        sources.push(match how {
            How::Plain => Source::Elements(value.tensor()?.data()?),
            How::Lengths => Source::Lengths(value.partition()?.data()?),
            How::Repeated(_) => {
                let rows = partitions.next().ok_or_else(|| Error::internal("rows are missing"))?;
                Source::Repeated(value.tensor()?.data()?, rows.partition()?.data()?)
            }
        });
    }
    Ok(())
}

fn run_axes(expr: &Expr, inputs: &[Source<'_>], dims: Dims, fold: Fold, attrs: &Reduce) -> Result<Outputs> {
    let rank = dims.len();
    let axes: SmallVec<[usize; 4]> = match &attrs.axis {
        extenso_core::attrs::Axes::All => (0..rank).collect(),
        extenso_core::attrs::Axes::List(axes) => normalize_axes(axes, rank)?,
    };
    let kept = rank - axes.len();
    if !axes.iter().copied().eq(kept..rank) {
        let mut stored = None;
        evaluate(expr, inputs, &dims, &mut |made| stored = Some(made))?;
        let stored = Made::only(stored)?.tensor(dims)?;
        return Ok(smallvec![Value::Tensor(fold_axes(fold, stored.data()?, &axes, attrs.keepdims)?)]);
    }
    let n = axes.iter().map(|&a| dims[a]).product();
    let mut out = Dims::from_slice(&dims[..kept]);
    if attrs.keepdims {
        out.extend(axes.iter().map(|_| 1));
    }
    evaluate_folds(expr, inputs, &dims, &[fold], &Cut::Rows(n), out)
}
