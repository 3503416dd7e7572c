//! Programs: a graph compiled for execution.
//!
//! Invariant: a program gives the bits that its graph gives op by op. A value is dropped after its last reader, so that its
//! buffer goes back to the pool. One small record takes no thread and no lock that another caller can hold.

use crate::graph::{Graph, NodeKind, ValueRef};
use crate::passes::fuse::{Given, Group, Groups, Head, How, Read, Sink, fuse};
use extenso_core::attrs::AttrSet;
use extenso_core::elementwise::{Epilogue, Expr, Made, Source, evaluate};
use extenso_core::reduce::{Cut, Fold, Reduce, evaluate_folds, fold_axes, normalize_axes};
use extenso_core::{FirstSpecs, OpDef, Outputs, Tensor, Value};
use extenso_types::{Dims, Error, LeafSpec, Path, Result, broadcast_dims};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

type Slot = usize;

/// A compiled graph.
#[derive(Debug)]
pub struct Program {
    slots: usize,
    inputs: Vec<(Path, LeafSpec, Option<Slot>)>,
    constants: Vec<(Slot, Value)>,
    steps: Vec<Step>,
    outputs: Vec<Slot>,
    /// What is known of the results of steps, by slot.
    specs: Vec<Option<LeafSpec>>,
}

struct Step {
    work: Work,
    args: SmallVec<[(Slot, Use); 4]>,
    results: SmallVec<[Slot; 1]>,
    /// Results that nothing reads.
    unread: SmallVec<[Slot; 1]>,
}

/// How a step reads a value. Where it can, it has the value itself: to count one more owner costs more than to give it back.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// The step reads it at another place too.
    Shared,
    /// Others read it later.
    Lent,
    /// Nothing reads it later.
    Last,
}

enum Work {
    Op(&'static OpDef, Arc<dyn AttrSet>, FirstSpecs),
    Fused(Fused),
}

/// A fused chain. Its arguments are those of what it makes first, what it reads, then the partitions of what is repeated in rows.
struct Fused {
    expr: Expr,
    head: Option<HeadOp>,
    /// How each argument is read.
    reads: Vec<How>,
    end: End,
}

/// What a fused chain makes first and then replaces.
struct HeadOp {
    op: &'static OpDef,
    attrs: Arc<dyn AttrSet>,
    /// The number of its arguments.
    args: usize,
    /// Its place among the inputs of the expression.
    input: usize,
    first: FirstSpecs,
}

/// What a fused chain ends in.
enum End {
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

impl Program {
    /// Compiles a graph.
    ///
    /// Errors: a graph that is malformed.
    pub fn compile(graph: &Graph) -> Result<Program> {
        let live = graph.live_nodes();
        let groups = fuse(graph, &live)?;
        let mut slot_of = Slots::new(graph);
        let mut program = Program {
            slots: 0,
            inputs: Vec::new(),
            constants: Vec::new(),
            steps: Vec::new(),
            outputs: Vec::new(),
            specs: Vec::new(),
        };
        let mut input_slots = vec![None; graph.inputs.len()];
        let mut waiting: Vec<usize> = Vec::new();
        for (i, node) in graph.nodes.iter().enumerate().filter(|(i, _)| live[*i]) {
            let at = |output: usize| ValueRef { node: narrow(i), output: narrow(output) };
            match &node.kind {
                NodeKind::Input(input) => {
                    // An input may have several nodes; they share its slot.
                    let slot = *input_slots[*input].get_or_insert_with(|| slot_of.fresh());
                    slot_of.set(at(0), slot);
                }
                NodeKind::Constant(value) => {
                    let slot = slot_of.new_for(at(0));
                    program.constants.push((slot, value.clone()));
                }
                NodeKind::Op(..) => {
                    waiting.push(i);
                    program.add_steps(graph, &groups, &mut slot_of, &mut waiting);
                }
            }
        }
        if let Some(i) = waiting.first() {
            return Err(Error::internal(format!("node {i} waits for itself")));
        }
        let inputs = graph.inputs.iter().zip(input_slots);
        program.inputs = inputs.map(|(input, slot)| (input.path.clone(), input.spec.clone(), slot)).collect();
        program.outputs = graph.outputs.iter().map(|v| slot_of.get(*v)).collect::<Result<_>>()?;
        program.slots = slot_of.count;
        program.specs = vec![None; slot_of.count];
        for (slot, spec) in slot_of.of.iter().zip(graph.nodes.iter().flat_map(|node| &node.outputs)) {
            if let Some(slot) = slot {
                program.specs[*slot] = Some(spec.clone());
            }
        }
        program.mark_dead();
        Ok(program)
    }

    /// Adds the steps of the nodes that wait, in order, as far as what they read is there.
    ///
    /// A group stores what nodes between its own read, and reads what stands between them: then those wait for it.
    fn add_steps(&mut self, graph: &Graph, groups: &Groups, slots: &mut Slots, waiting: &mut Vec<usize>) {
        let mut before = usize::MAX;
        while before > waiting.len() {
            before = waiting.len();
            waiting.retain(|&i| {
                let step = match &groups[i] {
                    Some(group) if !group.roots.contains(&narrow(i)) || slots.find(root(i)).is_some() => return false,
                    Some(group) => fused_step(graph, group, slots),
                    None => op_step(graph, i, slots),
                };
                let waits = step.is_none();
                self.steps.extend(step);
                waits
            });
        }
    }

    /// Notes after each step what no later step reads.
    fn mark_dead(&mut self) {
        let mut kept = vec![false; self.slots];
        self.outputs.iter().chain(self.constants.iter().map(|(slot, _)| slot)).for_each(|&slot| kept[slot] = true);
        for step in self.steps.iter_mut().rev() {
            let is_last = |slot: Slot, kept: &mut [bool]| !std::mem::replace(&mut kept[slot], true);
            let read: SmallVec<[Slot; 4]> = step.args.iter().map(|(slot, _)| *slot).collect();
            for (i, (slot, how)) in step.args.iter_mut().enumerate().rev() {
                let is_read_again = read[i + 1..].contains(slot);
                *how = match is_last(*slot, &mut kept) {
                    _ if is_read_again => Use::Shared,
                    true => Use::Last,
                    false => Use::Lent,
                };
            }
            step.unread = step.results.iter().copied().filter(|&slot| is_last(slot, &mut kept)).collect();
        }
    }

    /// What is known of the value of each slot.
    pub(crate) fn result_specs(&self) -> &[Option<LeafSpec>] {
        &self.specs
    }

    /// For each step the slots that it fills, and those that nobody reads after it and some step filled.
    pub(crate) fn lives(&self) -> impl Iterator<Item = (&[Slot], SmallVec<[Slot; 4]>)> {
        let given = |slot: &Slot| self.inputs.iter().any(|(_, _, input)| input.as_ref() == Some(slot));
        self.steps.iter().map(move |step| {
            let read = step.args.iter().filter(|(_, how)| *how == Use::Last).map(|(slot, _)| *slot);
            let dead = read.chain(step.unread.iter().copied()).filter(|slot| !given(slot)).collect();
            (step.results.as_slice(), dead)
        })
    }

    /// The number of steps.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether there is no step.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The number of fused chains.
    pub fn fused(&self) -> usize {
        self.steps.iter().filter(|s| matches!(s.work, Work::Fused(..))).count()
    }

    /// Runs the program on the leaves of its arguments.
    ///
    /// Errors: another number of leaves; those of the ops.
    pub fn run(&self, args: &[Value]) -> Result<Vec<Value>> {
        if args.len() != self.inputs.len() {
            return Err(
                Error::value(format!("{} leaves are given", args.len())).wanted(format!("{}", self.inputs.len()))
            );
        }
        self.run_with(|i| args.get(i).cloned())
    }

    /// Runs the program on leaves of which those that it does not need may be missing.
    ///
    /// Errors: a needed leaf is missing; those of the ops.
    pub fn run_with(&self, leaf: impl Fn(usize) -> Option<Value>) -> Result<Vec<Value>> {
        let mut slots: SmallVec<[Option<Value>; 96]> = SmallVec::new();
        slots.resize(self.slots, None);
        for (i, (path, _, slot)) in self.inputs.iter().enumerate() {
            if let Some(slot) = slot {
                let value = leaf(i).ok_or_else(|| Error::missing(format!("the needed leaf '{path}' is missing")))?;
                slots[*slot] = Some(value);
            }
        }
        for (slot, value) in &self.constants {
            slots[*slot] = Some(value.clone());
        }
        for step in &self.steps {
            step.run(&mut slots)?;
        }
        let take = |slot: &Slot| slots[*slot].clone().ok_or_else(|| Error::internal("an output was not computed"));
        self.outputs.iter().map(take).collect()
    }
}

fn narrow(i: usize) -> u32 {
    u32::try_from(i).unwrap_or(u32::MAX)
}

/// Where the values of a graph are kept: those of a node stand side by side, from its first place on.
struct Slots {
    first: Vec<usize>,
    of: Vec<Option<Slot>>,
    count: usize,
}

impl Slots {
    fn new(graph: &Graph) -> Slots {
        let mut first = Vec::with_capacity(graph.nodes.len() + 1);
        let mut end = 0;
        for node in &graph.nodes {
            first.push(end);
            end += node.outputs.len();
        }
        first.push(end);
        Slots { first, of: vec![None; end], count: 0 }
    }

    /// The place of a value, if there is such a value.
    fn place(&self, at: ValueRef) -> Option<usize> {
        let (node, output) = (at.node as usize, at.output as usize);
        let place = self.first.get(node)?.checked_add(output)?;
        (place < *self.first.get(node + 1)?).then_some(place)
    }

    fn fresh(&mut self) -> Slot {
        self.count += 1;
        self.count - 1
    }

    fn set(&mut self, at: ValueRef, slot: Slot) {
        if let Some(place) = self.place(at) {
            self.of[place] = Some(slot);
        }
    }

    fn new_for(&mut self, at: ValueRef) -> Slot {
        let slot = self.fresh();
        self.set(at, slot);
        slot
    }

    fn find(&self, at: ValueRef) -> Option<Slot> {
        self.place(at).and_then(|place| self.of[place])
    }

    fn get(&self, at: ValueRef) -> Result<Slot> {
        self.find(at).ok_or_else(|| Error::internal(format!("value {}.{} has no slot", at.node, at.output)))
    }
}

fn root(node: usize) -> ValueRef {
    ValueRef { node: narrow(node), output: 0 }
}

/// The step of an op, if what it reads is there.
fn op_step(graph: &Graph, i: usize, slots: &mut Slots) -> Option<Step> {
    let node = &graph.nodes[i];
    let NodeKind::Op(op, attrs) = &node.kind else { return None };
    let args = node.inputs.iter().map(|v| Some((slots.find(*v)?, Use::Lent))).collect::<Option<_>>()?;
    let results = (0..node.outputs.len()).map(|o| slots.new_for(ValueRef { output: narrow(o), ..root(i) })).collect();
    Some(Step { work: Work::Op(op, attrs.clone(), FirstSpecs::default()), args, results, unread: SmallVec::new() })
}

/// The step of a group, if what it reads is there.
fn fused_step(graph: &Graph, group: &Group, slots: &mut Slots) -> Option<Step> {
    let head = group.head.and_then(|head| head_op(graph, head));
    let first = group.head.map_or(&[][..], |head| &graph.nodes[head.node as usize].inputs);
    let is_read = |(i, _): &(usize, &Read)| group.head.is_none_or(|head| head.input != *i);
    let read = group.inputs.iter().enumerate().filter(is_read).map(|(_, read)| read);
    let rows = read.clone().filter_map(|read| match read.how {
        How::Repeated(rows) => Some(rows),
        How::Plain | How::Lengths => None,
    });
    let reads = first.iter().copied().chain(read.clone().map(|read| read.at)).chain(rows);
    let mut args: SmallVec<[(Slot, Use); 4]> =
        reads.map(|v| Some((slots.find(v)?, Use::Lent))).collect::<Option<_>>()?;
    let end = match &group.sink {
        Sink::Store(given) => End::Store(given.clone()),
        Sink::Axes(fold, reduce) => End::Axes(*fold, reduce.clone()),
        Sink::Segments(folds, partition) => {
            args.push((slots.find(*partition)?, Use::Lent));
            End::Segments(folds.clone())
        }
    };
    let results = group.roots.iter().map(|&node| slots.new_for(root(node as usize))).collect();
    let reads = read.map(|read| read.how).collect();
    let work = Work::Fused(Fused { expr: group.expr.clone(), head, reads, end });
    Some(Step { work, args, results, unread: SmallVec::new() })
}

fn head_op(graph: &Graph, head: Head) -> Option<HeadOp> {
    let node = &graph.nodes[head.node as usize];
    let NodeKind::Op(op, attrs) = &node.kind else { return None };
    let (attrs, args) = (attrs.clone(), node.inputs.len());
    Some(HeadOp { op, attrs, args, input: head.input, first: FirstSpecs::default() })
}

#[cold]
fn early() -> Error {
    Error::internal("a value was dropped too early")
}

impl Step {
    fn run(&self, slots: &mut [Option<Value>]) -> Result<()> {
        let mut args: SmallVec<[Value; 12]> = SmallVec::with_capacity(self.args.len());
        for (slot, how) in &self.args {
            let arg = if *how == Use::Shared { slots[*slot].clone() } else { slots[*slot].take() };
            args.push(arg.ok_or_else(early)?);
        }
        let results = match &self.work {
            Work::Op(op, attrs, first) => op.run_again(&args, &**attrs, first).map_err(|e| e.at(op.name))?,
            Work::Fused(fused) => run_fused(fused, &args)?,
        };
        for ((slot, how), arg) in self.args.iter().zip(args) {
            if *how == Use::Lent {
                slots[*slot] = Some(arg);
            }
        }
        for (slot, value) in self.results.iter().zip(results) {
            slots[*slot] = Some(value);
        }
        for slot in &self.unread {
            slots[*slot] = None;
        }
        Ok(())
    }
}

fn run_fused(fused: &Fused, args: &[Value]) -> Result<Outputs> {
    let Fused { expr, head, reads, end } = fused;
    if let (Some(head), End::Store(given)) = (head, end) {
        return run_head(head, expr, reads, given, args);
    }
    let (args, partition) = match (end, args.split_last()) {
        (End::Segments(_), Some((last, args))) => (args, Some(last.partition()?)),
        _ => (args, None),
    };
    let inputs = sources(args, reads)?;
    let mut dims = Dims::new();
    for input in &inputs {
        match input {
            Source::Elements(data) if data.dims().is_empty() || *data.dims() == *dims => {}
            _ => dims = broadcast_dims(&dims, &input.dims())?,
        }
    }
    match (end, partition) {
        (End::Axes(fold, attrs), _) => run_axes(expr, &inputs, dims, *fold, attrs),
        (End::Segments(folds), Some(partition)) => {
            let rows = partition.data()?;
            let [n] = dims.as_slice() else {
                return Err(Error::internal("a fused segment fold over more than a vector"));
            };
            if *n != rows.nvalues() {
                return Err(Error::shape(format!("{n} values are given to a partition of {}", rows.nvalues())));
            }
            let out = Dims::from_slice(&[rows.nrows()]);
            evaluate_folds(expr, &inputs, &dims, folds, &Cut::Segments(rows.offsets()), out)
        }
        (End::Store(given), _) => {
            let stored = evaluate(expr, &inputs, &dims)?;
            let mut results = Outputs::with_capacity(given.len());
            for given in given {
                results.push(Value::Tensor(given_of(given, &stored, &dims)?));
            }
            Ok(results)
        }
        (End::Segments(_), None) => Err(Error::internal("a fused segment fold without rows")),
    }
}

/// Makes what comes first and replaces it by the only result of the expression.
fn run_head(head: &HeadOp, expr: &Expr, reads: &[How], given: &[Given], args: &[Value]) -> Result<Outputs> {
    let (of_op, others) = args.split_at(head.args);
    let inputs = sources(others, reads)?;
    let epilogue = Epilogue::new(expr, &inputs, head.input)?;
    let result = head.op.run_epilogue(of_op, &*head.attrs, &head.first, &epilogue)?;
    let tensor = result.tensor()?;
    let dims = tensor.data()?.dims();
    let mut results = Outputs::with_capacity(given.len());
    for given in given {
        results.push(match given.axes {
            None => result.clone(),
            Some(_) => Value::Tensor(tensor.with_dims(&given.sizes(dims))?),
        });
    }
    Ok(results)
}

/// A stored result of the sizes `dims`, under the sizes that it is given.
fn given_of(given: &Given, stored: &[Made], dims: &[usize]) -> Result<Tensor> {
    let made = stored.get(given.stored).ok_or_else(|| Error::internal("a result was not stored"))?;
    made.tensor(given.sizes(dims))
}

/// What an expression reads, from the arguments of its step.
fn sources<'a>(args: &'a [Value], reads: &[How]) -> Result<SmallVec<[Source<'a>; 8]>> {
    let (inputs, partitions) = args.split_at(reads.len());
    let mut partitions = partitions.iter();
    // To collect results costs more than this.
    let mut sources = SmallVec::with_capacity(inputs.len());
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
    Ok(sources)
}

fn run_axes(expr: &Expr, inputs: &[Source<'_>], dims: Dims, fold: Fold, attrs: &Reduce) -> Result<Outputs> {
    let rank = dims.len();
    let axes: SmallVec<[usize; 4]> = match &attrs.axis {
        extenso_core::attrs::Axes::All => (0..rank).collect(),
        extenso_core::attrs::Axes::List(axes) => normalize_axes(axes, rank)?,
    };
    let kept = rank - axes.len();
    if !axes.iter().copied().eq(kept..rank) {
        let stored = evaluate(expr, inputs, &dims)?;
        let [stored] = stored.as_slice() else { return Err(Error::internal("a fold reads one result")) };
        return Ok(smallvec![Value::Tensor(fold_axes(fold, stored.tensor(dims)?.data()?, &axes, attrs.keepdims)?)]);
    }
    let n = axes.iter().map(|&a| dims[a]).product();
    let mut out = Dims::from_slice(&dims[..kept]);
    if attrs.keepdims {
        out.extend(axes.iter().map(|_| 1));
    }
    evaluate_folds(expr, inputs, &dims, &[fold], &Cut::Rows(n), out)
}
