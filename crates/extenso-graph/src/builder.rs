//! Building graphs: the scope that records ops, and tracing a function into it.
//!
//! Invariant: a symbol of an enclosing scope becomes a capture, an input of the inner graph; a symbol whose scope closed is
//! an error that names its function. Data becomes a constant.

use crate::graph::{Graph, Input, Node, NodeKind, ValueRef};
use crate::origin;
use extenso_core::attrs::AttrSet;
use extenso_core::{
    Arg, OpDef, Outputs, Provenance, RowPartition, ScopeId, Symbol, Tensor, Tracer, Value, call, pack, with_scope,
};
use extenso_types::{Error, LeafSpec, Nest, Path, Result, Segment, Spec};
use smallvec::{SmallVec, smallvec};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// The graph under construction of one scope.
pub(crate) struct Builder {
    scope: ScopeId,
    function: Arc<str>,
    may_not_run: bool,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    graph: Graph,
    captures: Vec<(Value, ValueRef)>,
    /// Where data stands, by the address of what its values share, which a constant keeps alive.
    constants: HashMap<usize, ValueRef>,
    last_effect: Option<u32>,
}

thread_local! {
    static BUILDERS: RefCell<Vec<Rc<Builder>>> = const { RefCell::new(Vec::new()) };
}

/// The innermost graph under construction on this thread.
pub(crate) fn current_builder() -> Option<Rc<Builder>> {
    BUILDERS.with_borrow(|builders| builders.last().cloned())
}

impl Builder {
    pub(crate) fn new(name: &str) -> Rc<Builder> {
        Builder::open(name, false)
    }

    /// A graph that may not run when the one around it does.
    pub(crate) fn of_branch(name: &str) -> Rc<Builder> {
        Builder::open(name, true)
    }

    fn open(name: &str, may_not_run: bool) -> Rc<Builder> {
        let state = State { graph: Graph { name: name.to_string(), ..Graph::default() }, ..State::default() };
        let state = RefCell::new(state);
        Rc::new(Builder { scope: ScopeId::fresh(), function: name.into(), may_not_run, state })
    }

    /// Runs `f` with this as the innermost scope.
    pub(crate) fn enter<R>(self: &Rc<Builder>, f: impl FnOnce() -> R) -> R {
        struct Leave;
        impl Drop for Leave {
            fn drop(&mut self) {
                BUILDERS.with_borrow_mut(Vec::pop);
            }
        }
        BUILDERS.with_borrow_mut(|builders| builders.push(self.clone()));
        let _leave = Leave;
        with_scope(self.clone(), f)
    }

    /// Adds an input and returns its symbol.
    pub(crate) fn input(&self, path: Path, spec: LeafSpec) -> Value {
        let at = self.push_input(path, spec.clone());
        self.symbol(at, spec)
    }

    fn push_input(&self, path: Path, spec: LeafSpec) -> ValueRef {
        let state = &mut *self.state.borrow_mut();
        state.graph.inputs.push(Input { path, spec: spec.clone() });
        let kind = NodeKind::Input(state.graph.inputs.len() - 1);
        state.push(Node { kind, inputs: SmallVec::new(), outputs: smallvec![spec], after: None, origin: None })
    }

    /// The symbol of a value of this graph.
    pub(crate) fn symbol(&self, at: ValueRef, spec: LeafSpec) -> Value {
        let is_tensor = matches!(spec, LeafSpec::Tensor(_));
        let op = match self.state.borrow().graph.nodes.get(at.node as usize).map(|node| &node.kind) {
            Some(NodeKind::Op(op, _)) => Some(*op),
            _ => None,
        };
        let (scope, function) = (self.scope, self.function.clone());
        let symbol = Arc::new(Symbol { scope, node: at.node, output: at.output, spec, op, function });
        if is_tensor { Tensor::from_symbol(symbol).into() } else { RowPartition::from_symbol(symbol).into() }
    }

    /// The place of a value in this graph; data becomes a constant, a symbol of an enclosing scope a capture.
    ///
    /// Errors: a symbol of a scope that closed.
    pub(crate) fn import(&self, value: &Value) -> Result<ValueRef> {
        let Some(symbol) = value.symbol() else { return self.constant(value) };
        if symbol.scope == self.scope {
            return Ok(ValueRef { node: symbol.node, output: symbol.output });
        }
        if !extenso_core::is_open(symbol.scope) {
            return Err(symbol.is_closed());
        }
        let known = self.state.borrow().captures.iter().find(|(v, _)| same_value(v, value)).map(|(_, at)| *at);
        if let Some(at) = known {
            return Ok(at);
        }
        let name = Segment::component(format!("capture{}", self.state.borrow().captures.len()));
        let at = self.push_input(Path::from_iter([name]), symbol.spec.clone());
        self.state.borrow_mut().captures.push((value.clone(), at));
        Ok(at)
    }

    fn constant(&self, value: &Value) -> Result<ValueRef> {
        let spec = value.leaf_spec()?;
        let state = &mut *self.state.borrow_mut();
        let address = match value {
            Value::Tensor(t) => std::ptr::from_ref(t.data()?).addr(),
            Value::Partition(p) => std::ptr::from_ref(p.data()?).addr(),
            Value::Ext(_) => return Err(Error::internal("a value of an extension type is no constant")),
        };
        if let Some(at) = state.constants.get(&address) {
            return Ok(*at);
        }
        let kind = NodeKind::Constant(value.clone());
        let at =
            state.push(Node { kind, inputs: SmallVec::new(), outputs: smallvec![spec], after: None, origin: None });
        state.constants.insert(address, at);
        Ok(at)
    }

    /// The node at a place, and the values of its inputs as symbols.
    pub(crate) fn node(&self, i: u32) -> Option<Node> {
        self.state.borrow().graph.nodes.get(i as usize).cloned()
    }

    /// The value at a place: a constant as it is, anything else as a symbol.
    pub(crate) fn value(&self, at: ValueRef) -> Result<Value> {
        let (constant, spec) = {
            let state = self.state.borrow();
            let constant = match state.graph.nodes.get(at.node as usize).map(|n| &n.kind) {
                Some(NodeKind::Constant(value)) => Some(value.clone()),
                _ => None,
            };
            (constant, state.graph.spec(at)?.clone())
        };
        Ok(constant.unwrap_or_else(|| self.symbol(at, spec)))
    }

    /// The finished graph with these outputs, and what it captured, in the order of the inputs behind the arguments.
    ///
    /// Errors: an output is a symbol of a scope that closed.
    pub(crate) fn finish(&self, outputs: &[Value]) -> Result<(Graph, Vec<Value>)> {
        let outputs: Result<Vec<ValueRef>> = outputs.iter().map(|v| self.import(v)).collect();
        let outputs = outputs?;
        let mut state = self.state.borrow_mut();
        let captures = std::mem::take(&mut state.captures).into_iter().map(|(v, _)| v).collect();
        Ok((Graph { outputs, ..std::mem::take(&mut state.graph) }, captures))
    }
}

impl State {
    fn push(&mut self, node: Node) -> ValueRef {
        self.graph.nodes.push(node);
        let at = u32::try_from(self.graph.nodes.len() - 1).unwrap_or(u32::MAX);
        ValueRef { node: at, output: 0 }
    }
}

impl Tracer for Builder {
    fn scope(&self) -> ScopeId {
        self.scope
    }

    fn may_not_run(&self) -> bool {
        self.may_not_run
    }

    fn record(&self, op: &'static OpDef, args: &[Value], attrs: &dyn AttrSet, outputs: &[LeafSpec]) -> Result<Outputs> {
        let inputs: Result<SmallVec<[ValueRef; 4]>> = args.iter().map(|v| self.import(v)).collect();
        let kind = NodeKind::Op(op, attrs.boxed());
        let (inputs, outputs_of) = (inputs?, outputs.iter().cloned().collect());
        let mut node = Node { kind, inputs, outputs: outputs_of, after: None, origin: origin::current() };
        let at = {
            let state = &mut *self.state.borrow_mut();
            let effect = node.has_effect();
            if effect {
                node.after = state.last_effect;
            }
            let at = state.push(node);
            if effect {
                state.last_effect = Some(at.node);
            }
            at
        };
        let symbol = |(i, spec): (usize, &LeafSpec)| {
            let output = u32::try_from(i).unwrap_or(u32::MAX);
            self.symbol(ValueRef { output, ..at }, spec.clone())
        };
        Ok(outputs.iter().enumerate().map(symbol).collect())
    }
}

/// Whether both are one symbol, or share one allocation.
pub(crate) fn same_value(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Tensor(a), Value::Tensor(b)) => a.same(b),
        (Value::Partition(a), Value::Partition(b)) => a.same(b),
        (Value::Tensor(_) | Value::Partition(_) | Value::Ext(_), _) => false,
    }
}

/// What tracing gives.
#[derive(Debug)]
pub struct Traced {
    /// The graph over the leaves of the arguments.
    pub graph: Graph,
    /// The spec of the results.
    pub output: Nest<Spec>,
}

/// Traces a function of arguments with these specs.
///
/// Errors: those of the function; a result that is a symbol of another function.
pub fn trace(name: &str, args: &Nest<Spec>, f: impl FnOnce(Nest<Value>) -> Result<Nest<Value>>) -> Result<Traced> {
    let builder = Builder::new(name);
    let traced = builder.enter(|| {
        let args = args.try_map(|path, spec| placeholder(&builder, path, spec))?;
        let results = f(args)?;
        let mut leaves = Vec::new();
        for (_, value) in results.leaves() {
            value.push_leaves(&mut leaves)?;
        }
        let output = results.try_map(|_, value| value.spec())?;
        let (graph, captures) = builder.finish(&leaves)?;
        if let Some(symbol) = captures.iter().find_map(Value::symbol) {
            return Err(Error::scope(format!(
                "it uses a symbol of function '{}' without taking it as an argument",
                symbol.function
            ))
            .hint("Pass it as an argument."));
        }
        Ok(Traced { graph, output })
    });
    traced.map_err(|e| e.settled().at(format!("function '{name}'")))
}

/// The symbolic value of a spec: one input for each leaf, named by its path.
fn placeholder(builder: &Builder, path: &Path, spec: &Spec) -> Result<Value> {
    let mut leaves = spec.leaves(path).into_iter().map(|(path, leaf)| builder.input(path, leaf));
    pack(spec, &mut leaves, Provenance::Trusted)
}

/// Applies a graph's ops again to these inputs: eagerly on data, recording on symbols.
///
/// Errors: those of the ops.
pub fn replay(graph: &Graph, inputs: &[Value]) -> Result<Vec<Value>> {
    let mut values: Vec<Outputs> = Vec::with_capacity(graph.nodes.len());
    let get = |values: &[Outputs], at: &ValueRef| {
        let value = values.get(at.node as usize).and_then(|o| o.get(at.output as usize)).cloned();
        value.ok_or_else(|| Error::internal("a node's input does not stand before it"))
    };
    for node in &graph.nodes {
        let outputs = match &node.kind {
            NodeKind::Input(i) => {
                smallvec![inputs.get(*i).cloned().ok_or_else(|| Error::value(format!("input {i} is missing")))?]
            }
            NodeKind::Constant(value) => smallvec![value.clone()],
            NodeKind::Op(op, attrs) => {
                let args: Result<Vec<Arg>> = node.inputs.iter().map(|at| Ok(Arg::Value(get(&values, at)?))).collect();
                let args = if op.variadic { vec![Arg::List(args?)] } else { args? };
                origin::at(node.origin.as_ref(), || call(op, &args, &**attrs))?
            }
        };
        values.push(outputs);
    }
    graph.outputs.iter().map(|at| get(&values, at)).collect()
}
