//! Programs: a graph compiled for execution.
//!
//! Invariant: a program gives the bits that its graph gives op by op. A value is dropped after its last reader, so that its
//! buffer goes back to the pool. One small record takes no thread and no lock that another caller can hold.

mod step;

use crate::graph::{Graph, NodeKind, ValueRef};
use crate::origin::Lines;
use crate::passes::fuse::{Group, Groups, Head, How, Read, Sink, fuse};
use extenso_core::{FirstSpecs, Value};
use extenso_types::{Error, LeafSpec, Path, Result};
use smallvec::SmallVec;
use std::collections::HashMap;
use std::sync::Arc;
use step::{End, Fused, HeadOp, Step, Use, Work};

type Slot = usize;

/// A compiled graph.
#[derive(Debug)]
pub struct Program {
    slots: usize,
    inputs: Vec<(Path, LeafSpec, Option<Slot>)>,
    /// Constants by slot, which no step fills.
    constants: Vec<Option<Value>>,
    steps: Vec<Step>,
    outputs: Vec<Slot>,
    /// What is known of the results of steps, by slot.
    specs: Vec<Option<LeafSpec>>,
}

impl Program {
    /// Compiles a graph.
    ///
    /// Errors: a graph that is malformed.
    pub fn compile(graph: &Graph) -> Result<Program> {
        graph.verify()?;
        Program::of_verified(graph)
    }

    /// Compiles a graph that was verified, or that a trace and the passes made.
    pub(crate) fn of_verified(graph: &Graph) -> Result<Program> {
        let live = graph.live_nodes();
        let groups = fuse(graph, &live)?;
        let lines = lines_of(graph, &groups);
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
        let mut constants = Vec::new();
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
                    constants.push((slot, value.clone()));
                }
                NodeKind::Op(..) => {
                    waiting.push(i);
                    program.add_steps(graph, &groups, &lines, &mut slot_of, &mut waiting);
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
        program.constants = vec![None; slot_of.count];
        constants.into_iter().for_each(|(slot, value)| program.constants[slot] = Some(value));
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
    fn add_steps(
        &mut self,
        graph: &Graph,
        groups: &Groups,
        lines: &LinesOf,
        slots: &mut Slots,
        waiting: &mut Vec<usize>,
    ) {
        let mut before = usize::MAX;
        while before > waiting.len() {
            before = waiting.len();
            waiting.retain(|&i| {
                let step = match &groups[i] {
                    Some(group) if !group.roots.contains(&narrow(i)) || slots.find(root(i)).is_some() => return false,
                    Some(group) => fused_step(
                        graph,
                        group,
                        lines.get(&std::ptr::from_ref(&**group)).cloned().unwrap_or_default(),
                        slots,
                    ),
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
        self.outputs.iter().for_each(|&slot| kept[slot] = true);
        for step in self.steps.iter_mut().rev() {
            let is_last = |slot: Slot, kept: &mut [bool]| !std::mem::replace(&mut kept[slot], true);
            let read: SmallVec<[Slot; 4]> = step.args.iter().map(|(slot, _)| *slot).collect();
            for (i, (slot, how)) in step.args.iter_mut().enumerate().rev() {
                let is_read_again = read[i + 1..].contains(slot);
                *how = match is_last(*slot, &mut kept) {
                    _ if self.constants[*slot].is_some() => Use::Constant,
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
        slots.resize_with(self.slots, || None);
        for (i, (path, _, slot)) in self.inputs.iter().enumerate() {
            if let Some(slot) = slot {
                let value = leaf(i).ok_or_else(|| Error::missing(format!("the needed leaf '{path}' is missing")))?;
                slots[*slot] = Some(value);
            }
        }
        for step in &self.steps {
            step.run(&self.constants, &mut slots).map_err(|e| step.lines.note(e))?;
        }
        let value = |slot: &Slot| slots[*slot].as_ref().or(self.constants[*slot].as_ref()).cloned();
        let computed = |slot| value(slot).ok_or_else(|| Error::internal("an output was not computed"));
        self.outputs.iter().map(computed).collect()
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

/// Where the ops of each group were called.
type LinesOf = HashMap<*const Group, Lines>;

fn lines_of(graph: &Graph, groups: &Groups) -> LinesOf {
    let mut lines = LinesOf::new();
    for (node, group) in graph.nodes.iter().zip(groups).filter_map(|(node, group)| Some((node, group.as_ref()?))) {
        lines.entry(Arc::as_ptr(group)).or_default().add(node.origin.as_ref());
    }
    lines
}

/// The step of an op, if what it reads is there.
fn op_step(graph: &Graph, i: usize, slots: &mut Slots) -> Option<Step> {
    let node = &graph.nodes[i];
    let NodeKind::Op(op, attrs) = &node.kind else { return None };
    let args = node.inputs.iter().map(|v| Some((slots.find(*v)?, Use::Lent))).collect::<Option<_>>()?;
    let results = (0..node.outputs.len()).map(|o| slots.new_for(ValueRef { output: narrow(o), ..root(i) })).collect();
    let mut lines = Lines::default();
    lines.add(node.origin.as_ref());
    Some(Step {
        work: Work::Op(op, attrs.clone(), FirstSpecs::default()),
        args,
        results,
        unread: SmallVec::new(),
        lines,
    })
}

/// The step of a group, if what it reads is there.
fn fused_step(graph: &Graph, group: &Group, lines: Lines, slots: &mut Slots) -> Option<Step> {
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
    Some(Step { work, args, results, unread: SmallVec::new(), lines })
}

fn head_op(graph: &Graph, head: Head) -> Option<HeadOp> {
    let node = &graph.nodes[head.node as usize];
    let NodeKind::Op(op, attrs) = &node.kind else { return None };
    let (attrs, args) = (attrs.clone(), node.inputs.len());
    Some(HeadOp { op, attrs, args, input: head.input, first: FirstSpecs::default() })
}
