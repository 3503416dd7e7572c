//! Functions: polymorphic over specs, one concrete function per spec, in a bounded cache.
//!
//! Invariant: a call runs the most specific concrete function that accepts its arguments; a tie goes to the earlier trace.
//! A call that differs from an earlier one in sizes alone generalises that one instead of adding another, unless the function
//! was asked for exactly those specs.

use crate::builder::trace;
use crate::graph::Graph;
use crate::passes::{optimize, optimize_traced};
use crate::program::Program;
use crate::retrace::{Retrace, differences, first_mismatch, part_that_differs};
use extenso_core::{Provenance, Value, cast, current_scope, pack, without_ops};
use extenso_types::{Bindings, Error, ExtSpec, LeafSpec, Nest, Path, Result, Segment, Spec};
use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The name of the record that the arguments of a function with named parameters are.
pub const ARGUMENTS: &str = "arguments";

/// A function traced for one spec of its arguments.
#[derive(Debug)]
pub struct Concrete {
    name: String,
    input: Nest<Spec>,
    output: Nest<Spec>,
    graph: Graph,
    program: Program,
}

impl Concrete {
    /// Optimizes and compiles a graph over the leaves of `input` into a function.
    ///
    /// Errors: a malformed graph.
    pub fn new(name: impl Into<String>, input: Nest<Spec>, output: Nest<Spec>, graph: Graph) -> Result<Concrete> {
        Concrete::of_optimized(name.into(), input, output, optimize(graph)?)
    }

    /// The same of a graph that a trace made.
    fn traced(name: String, input: Nest<Spec>, output: Nest<Spec>, graph: Graph) -> Result<Concrete> {
        Concrete::of_optimized(name, input, output, optimize_traced(graph)?)
    }

    fn of_optimized(name: String, input: Nest<Spec>, output: Nest<Spec>, graph: Graph) -> Result<Concrete> {
        let program = Program::of_verified(&graph)?;
        Ok(Concrete { name, input, output, graph, program })
    }

    /// Compiles a graph that was read from a file and verified, as it stands.
    ///
    /// Errors: a graph that does not have the leaves of the signature.
    pub(crate) fn loaded(name: String, input: Nest<Spec>, output: Nest<Spec>, graph: Graph) -> Result<Concrete> {
        let wanted = leaves(&input);
        let mut bindings = Bindings::default();
        if wanted.len() != graph.inputs.len()
            || !wanted.iter().zip(&graph.inputs).all(|(w, i)| i.spec.accepts(w, &mut bindings))
        {
            return Err(Error::data("the graph's inputs are not the leaves of the signature"));
        }
        let (wanted, given) = (leaves(&output), graph.output_specs()?);
        let mut bindings = Bindings::default();
        if wanted.len() != given.len() || !wanted.iter().zip(&given).all(|(w, o)| w.accepts(o, &mut bindings)) {
            return Err(Error::data("the graph's outputs are not the leaves of the signature"));
        }
        Concrete::of_optimized(name, input, output, graph)
    }

    /// The function's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The specs of the arguments.
    pub fn input_spec(&self) -> &Nest<Spec> {
        &self.input
    }

    /// The specs of the results.
    pub fn output_spec(&self) -> &Nest<Spec> {
        &self.output
    }

    /// What a batch of records holds that the function runs over: its only argument, or all of them by name.
    pub fn record_spec(&self) -> &Nest<Spec> {
        self.only_argument().map_or(&self.input, |(_, nest)| nest)
    }

    /// The argument with data, if there is one alone, and the step that leads to it.
    fn only_argument(&self) -> Option<(Segment, &Nest<Spec>)> {
        let arguments: Vec<(Segment, &Nest<Spec>)> = match &self.input {
            Nest::Tuple(items) => items.iter().enumerate().map(|(i, nest)| (Segment::Index(i), nest)).collect(),
            Nest::Record(name, entries) if &**name == ARGUMENTS => {
                entries.iter().map(|(name, nest)| (Segment::Field(name.clone()), nest)).collect()
            }
            _ => return None,
        };
        let mut of_data = arguments.into_iter().filter(|(_, nest)| !nest.leaves().is_empty());
        of_data.next().filter(|_| of_data.next().is_none())
    }

    /// The fields of a record that the results depend on, in the order of the arguments.
    ///
    /// They are paths of [`record_spec`](Concrete::record_spec), such as `items[*].price`. A list of which only the number
    /// of items is needed stands for itself, and so does a tensor that is an argument.
    pub fn required_paths(&self) -> Vec<Path> {
        let argument = self.only_argument().map(|(segment, _)| segment);
        let field = |path: &Path| -> Path {
            let fields = path.segments().iter().take_while(|segment| !matches!(segment, Segment::Component(_)));
            // What may be missing has the fields that it has when it is there.
            let steps: Vec<&Segment> = fields.filter(|segment| **segment != Segment::Itself).collect();
            let skip = usize::from(steps.len() > 1 && steps.first().copied() == argument.as_ref());
            steps.into_iter().skip(skip).cloned().collect()
        };
        let needed = self.graph.inputs.iter().zip(self.graph.needed_inputs()).filter(|(_, needed)| *needed);
        let fields: Vec<Path> = needed.map(|(input, _)| field(&input.path)).collect();
        // What has a field below it that is needed stands for nothing itself.
        let above: HashSet<Path> = fields
            .iter()
            .flat_map(|path| (0..path.segments().len()).map(|n| path.segments()[..n].iter().cloned().collect()))
            .collect();
        let mut seen = HashSet::new();
        fields.into_iter().filter(|path| !above.contains(path) && seen.insert(path.clone())).collect()
    }

    /// The graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Whether arguments of these specs may be given.
    pub fn accepts(&self, args: &Nest<Spec>) -> bool {
        accepts(&self.input, args)
    }

    /// Calls the function; arguments of other types are cast to those of the signature where nothing is lost, see [`cast`].
    ///
    /// Errors: arguments that the signature does not accept, with path, found and wanted; those of the ops.
    pub fn call(&self, args: &Nest<Value>) -> Result<Nest<Value>> {
        self.call_leaves(&self.fitted(args)?)
    }

    /// The leaves of arguments that are made to fit the signature.
    fn fitted(&self, args: &Nest<Value>) -> Result<Vec<Value>> {
        let specs = specs_of(args)?;
        if self.accepts(&specs) {
            return leaves_of(args);
        }
        if self.input.assert_same_structure(&specs).is_err() {
            return Err(self.mismatch(&specs));
        }
        let fitted = self.each(args, |value, wanted| Ok(cast(value, wanted)?.unwrap_or_else(|| value.clone())))?;
        if self.accepts(&specs_of(&fitted)?) {
            return leaves_of(&fitted);
        }
        Err(self.refusal(&fitted))
    }

    /// What becomes of each of the arguments and what is wanted in its place.
    fn each<T>(&self, args: &Nest<Value>, f: impl Fn(&Value, &Spec) -> Result<T>) -> Result<Nest<T>> {
        let wanted = self.input.leaves();
        let mut wanted = wanted.iter();
        args.try_map(|_, value| match wanted.next() {
            Some((_, wanted)) => f(value, wanted),
            None => Err(Error::internal("nests of one structure have as many leaves")),
        })
    }

    /// Calls the function on leaves that its signature is known to accept.
    ///
    /// Errors: those of the ops.
    pub fn call_leaves(&self, leaves: &[Value]) -> Result<Nest<Value>> {
        // The graph becomes part of the function being traced: what depends on symbols, and effects.
        let results = if current_scope().is_some() {
            crate::builder::replay(&self.graph, leaves)
        } else {
            self.program.run(leaves)
        };
        self.pack(results.map_err(|e| e.at(format!("function '{}'", self.name)))?)
    }

    /// Checks that leaves that were read have the sizes that the function was traced for; those that are not needed may not be there.
    ///
    /// Errors: a leaf of another size, with its path.
    pub fn check_sizes(&self, leaves: &[Option<Value>]) -> Result<()> {
        let mut bindings = Bindings::default();
        for (input, leaf) in self.graph.inputs.iter().zip(leaves) {
            let Some(leaf) = leaf else { continue };
            let found = leaf.leaf_spec()?;
            if !input.spec.accepts(&found, &mut bindings) {
                return Err(Error::shape(format!("function '{}': '{}': {found} came", self.name, input.path))
                    .wanted(format!("{}, for which the function was traced", input.spec))
                    .hint(
                        "Trace it for any number of rows and of their items: `get_concrete_function` of a spec whose sizes are None.",
                    ));
            }
        }
        Ok(())
    }

    /// The results as values of their types.
    ///
    /// Errors: a type that refuses its components.
    pub fn pack(&self, leaves: Vec<Value>) -> Result<Nest<Value>> {
        let mut leaves = leaves.into_iter();
        without_ops("from_components", || self.output.try_map(|_, spec| pack(spec, &mut leaves, Provenance::Trusted)))
    }

    /// The error of arguments that the signature does not accept and that cannot be made to fit, which tells of what of them cannot.
    pub fn refusal(&self, args: &Nest<Value>) -> Error {
        let specs = match specs_of(args) {
            Ok(specs) => specs,
            Err(error) => return error,
        };
        if self.input.assert_same_structure(&specs).is_err() {
            return self.mismatch(&specs);
        }
        match self.each(args, as_far_as_it_fits) {
            Ok(told) if !self.accepts(&told) => self.mismatch(&told),
            // Each fits, and all together do not.
            Ok(_) | Err(_) => self.mismatch(&specs),
        }
    }

    /// The error of arguments of specs that the signature does not accept.
    pub fn mismatch(&self, given: &Nest<Spec>) -> Error {
        let place = format!("function '{}'", self.name);
        if let Some((path, wanted, given)) = first_mismatch(&self.input, given) {
            let argument = if path.is_root() { "the arguments".to_string() } else { format!("argument '{path}'") };
            return Error::value(format!("found {given}")).wanted(wanted).at(argument).at(place);
        }
        let mut bindings = Bindings::default();
        for ((path, wanted), (_, given)) in self.input.leaves().into_iter().zip(given.leaves()) {
            if !wanted.accepts(given, &mut bindings) {
                let (path, wanted, given) = part_that_differs(path, wanted, given);
                let error = Error::dtype(format!("found {given}")).wanted(wanted.to_string());
                return error.at(format!("argument '{path}'")).at(place);
            }
        }
        Error::internal("arguments were refused that fit").at(place)
    }
}

/// The name with the arguments and results: `total(x: f32[?], k: 2) -> f32[]`.
impl fmt::Display for Concrete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match &self.input {
            Nest::Record(name, entries) if &**name == ARGUMENTS => {
                let entries: Vec<_> = entries.iter().map(|(name, spec)| format!("{name}: {spec}")).collect();
                write!(f, "({})", entries.join(", "))?;
            }
            input @ Nest::Tuple(_) => input.fmt(f)?,
            input => write!(f, "({input})")?,
        }
        write!(f, " -> {}", self.output)
    }
}

/// The spec of a value as if its components fitted where they can be made to, so that it differs from what is wanted where it cannot.
fn as_far_as_it_fits(value: &Value, wanted: &Spec) -> Result<Spec> {
    let (Value::Ext(ext), Spec::Ext(wanted)) = (value, wanted) else { return value.spec() };
    let mut spec: ExtSpec = ext.spec()?;
    for ((segment, part), component) in spec.components.iter_mut().zip(ext.components()?) {
        let Some(wanted) = wanted.component(segment) else { continue };
        *part = match cast(&component, wanted)? {
            Some(fitted) => fitted.spec()?,
            None => as_far_as_it_fits(&component, wanted)?,
        };
    }
    Ok(spec.into())
}

fn specs_of(args: &Nest<Value>) -> Result<Nest<Spec>> {
    args.try_map(|_, value| value.spec())
}

fn leaves_of(args: &Nest<Value>) -> Result<Vec<Value>> {
    let mut leaves = Vec::new();
    args.leaves().into_iter().try_for_each(|(_, value)| value.push_leaves(&mut leaves))?;
    Ok(leaves)
}

/// Whether values of the specs `given` may stand where `wanted` are wanted.
fn accepts(wanted: &Nest<Spec>, given: &Nest<Spec>) -> bool {
    if wanted.assert_same_structure(given).is_err() {
        return false;
    }
    let mut bindings = Bindings::default();
    let mut pairs = wanted.leaves().into_iter().zip(given.leaves());
    pairs.all(|((_, wanted), (_, given))| wanted.accepts(given, &mut bindings))
}

fn leaves(nest: &Nest<Spec>) -> Vec<LeafSpec> {
    nest.leaves().into_iter().flat_map(|(path, spec)| spec.leaves(&path)).map(|(_, leaf)| leaf).collect()
}

type Body = dyn Fn(Nest<Value>) -> Result<Nest<Value>> + Send + Sync;

/// A traced function.
pub struct Function {
    name: String,
    body: Box<Body>,
    cache: RwLock<Cache>,
    reduce_retracing: bool,
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<function {}, {} traces>", self.name, self.traces().len())
    }
}

/// Concrete functions that a function keeps: the earliest makes room for a new one.
const MAX_TRACES: usize = 32;
/// Reasons of traces that a function keeps.
const MAX_RETRACES: usize = 1024;

#[derive(Default)]
struct Cache {
    traces: Vec<Kept>,
    retraces: Vec<Retrace>,
}

/// A concrete function of the cache.
struct Kept {
    concrete: Arc<Concrete>,
    /// Whether somebody asked for these very specs, so that it is never generalised.
    exact: bool,
}

impl Function {
    /// A function with this body, traced when it is called.
    pub fn new(
        name: impl Into<String>,
        body: impl Fn(Nest<Value>) -> Result<Nest<Value>> + Send + Sync + 'static,
    ) -> Function {
        Function { name: name.into(), body: Box::new(body), cache: RwLock::default(), reduce_retracing: true }
    }

    /// The function that generalises a trace when a call differs from it in sizes alone, or traces each size for itself.
    ///
    /// ```
    /// # use extenso_graph::Function;
    /// # use extenso_core::Tensor;
    /// # use extenso_types::Nest;
    /// let f = Function::new("f", Ok).reduce_retracing(false);
    /// for n in [2, 3, 4] {
    ///     f.call(Nest::Leaf(Tensor::from_vec(vec![1.0_f32; n]).into())).unwrap();
    /// }
    /// assert_eq!(f.traces().len(), 3);
    /// ```
    pub fn reduce_retracing(mut self, reduce: bool) -> Function {
        self.reduce_retracing = reduce;
        self
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Calls the function: traced on data, as an ordinary function on symbols.
    ///
    /// Errors: those of the body and of the ops.
    pub fn call(&self, args: Nest<Value>) -> Result<Nest<Value>> {
        if current_scope().is_some() {
            return (self.body)(args);
        }
        let specs = args.try_map(|_, value| value.spec())?;
        let mut leaves = Vec::new();
        for (_, value) in args.leaves() {
            value.push_leaves(&mut leaves)?;
        }
        self.concrete_for(&specs)?.call_leaves(&leaves)
    }

    /// The concrete function of these very specs, traced if there is none. No call generalises it.
    ///
    /// Errors: those of the body.
    pub fn concrete(&self, specs: &Nest<Spec>) -> Result<Arc<Concrete>> {
        let same = |kept: &&mut Kept| kept.concrete.accepts(specs) && accepts(specs, &kept.concrete.input);
        if let Some(kept) = self.write().traces.iter_mut().find(same) {
            kept.exact = true;
            return Ok(kept.concrete.clone());
        }
        let differences = self.nearest(specs).map_or_else(Vec::new, |old| differences(&old.input, specs));
        let concrete = self.trace(specs.clone(), Retrace { differences, generalised: false }, true)?;
        // What a call traced and this one covers is not needed any more.
        self.write().traces.retain(|kept| kept.exact || !concrete.accepts(&kept.concrete.input));
        Ok(concrete)
    }

    /// The concrete function that a call with arguments of these specs runs, traced if there is none.
    ///
    /// Errors: those of the body.
    pub fn concrete_for(&self, specs: &Nest<Spec>) -> Result<Arc<Concrete>> {
        if let Some(found) = self.find(specs) {
            return Ok(found);
        }
        let Some((old, joined)) = self.generalised(specs) else {
            let differences = self.nearest(specs).map_or_else(Vec::new, |old| differences(&old.input, specs));
            return self.trace(specs.clone(), Retrace { differences, generalised: false }, false);
        };
        let why = |generalised| Retrace { differences: differences(&old.input, specs), generalised };
        let Ok(concrete) = with_generalising(true, || self.trace(joined, why(true), false)) else {
            // What the body does needs sizes that are known: those of this call then, and those of the other stay as they are.
            self.write()
                .traces
                .iter_mut()
                .filter(|kept| Arc::ptr_eq(&kept.concrete, &old))
                .for_each(|kept| kept.exact = true);
            return self.trace(specs.clone(), why(false), false);
        };
        self.write().traces.retain(|kept| !Arc::ptr_eq(&kept.concrete, &old));
        Ok(concrete)
    }

    fn trace(&self, specs: Nest<Spec>, why: Retrace, exact: bool) -> Result<Arc<Concrete>> {
        let traced = trace(&self.name, &specs, |args| (self.body)(args))?;
        let concrete = Arc::new(Concrete::traced(self.name.clone(), specs, traced.output, traced.graph)?);
        let mut cache = self.write();
        // Another thread may have traced the same meanwhile.
        let same = |kept: &&mut Kept| kept.concrete.accepts(&concrete.input) && concrete.accepts(&kept.concrete.input);
        if let Some(kept) = cache.traces.iter_mut().find(same) {
            kept.exact |= exact;
            return Ok(kept.concrete.clone());
        }
        if cache.retraces.len() == MAX_RETRACES {
            cache.retraces.remove(0);
        }
        if cache.traces.len() == MAX_TRACES {
            cache.traces.remove(0);
        }
        cache.retraces.push(why);
        cache.traces.push(Kept { concrete: concrete.clone(), exact });
        Ok(concrete)
    }

    /// The most specific concrete function that accepts these specs; of several that are, the earliest.
    pub fn find(&self, args: &Nest<Spec>) -> Option<Arc<Concrete>> {
        let cache = self.read();
        let mut best: Option<&Arc<Concrete>> = None;
        for concrete in cache.traces.iter().map(|kept| &kept.concrete).filter(|c| c.accepts(args)) {
            // Strictly more specific: it goes where the best goes, and not the other way round.
            let better = best.is_none_or(|best| best.accepts(&concrete.input) && !concrete.accepts(&best.input));
            if better {
                best = Some(concrete);
            }
        }
        best.cloned()
    }

    /// The concrete functions traced so far, earliest first.
    pub fn traces(&self) -> Vec<Arc<Concrete>> {
        self.read().traces.iter().map(|kept| kept.concrete.clone()).collect()
    }

    /// Why each trace happened, earliest first; of very many, the last thousand.
    pub fn retraces(&self) -> Vec<Retrace> {
        self.read().retraces.clone()
    }

    /// An earlier trace that differs from these specs in sizes alone, and its join with them.
    fn generalised(&self, specs: &Nest<Spec>) -> Option<(Arc<Concrete>, Nest<Spec>)> {
        let cache = self.read();
        let mut candidates = cache.traces.iter().rev().filter(|kept| self.reduce_retracing && !kept.exact);
        candidates.find_map(|kept| Some((kept.concrete.clone(), join(&kept.concrete.input, specs)?)))
    }

    /// The trace that differs least from these specs; of several, the latest.
    fn nearest(&self, specs: &Nest<Spec>) -> Option<Arc<Concrete>> {
        let traces = self.traces();
        traces.into_iter().rev().min_by_key(|old| differences(&old.input, specs).len())
    }

    fn read(&self) -> RwLockReadGuard<'_, Cache> {
        self.cache.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Cache> {
        self.cache.write().unwrap_or_else(PoisonError::into_inner)
    }
}

thread_local! {
    static GENERALISING: Cell<bool> = const { Cell::new(false) };
}

/// Whether a trace for more sizes than those of a call is made on this thread: a body that fails because of what it asks of sizes is traced
/// again for those of the call.
pub fn is_generalising() -> bool {
    GENERALISING.get()
}

/// What a function gives where [`is_generalising`] is this: false for what may take an unknown size for any.
pub fn with_generalising<T>(on: bool, f: impl FnOnce() -> T) -> T {
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            GENERALISING.set(self.0);
        }
    }
    let _before = Before(GENERALISING.replace(on));
    f()
}

/// The join of two argument nests, if their ranks are the same.
fn join(a: &Nest<Spec>, b: &Nest<Spec>) -> Option<Nest<Spec>> {
    a.assert_same_structure(b).ok()?;
    let mut others = b.leaves().into_iter();
    let joined = a.try_map(|_, x| {
        let joined = others.next().and_then(|(_, y)| x.join(y));
        joined.filter(ranks_known).ok_or_else(|| Error::value("the specs have no join"))
    });
    joined.ok()
}

fn ranks_known(spec: &Spec) -> bool {
    let leaves = spec.leaves(&Path::root());
    leaves.iter().all(|(_, leaf)| leaf.tensor().map_or(true, |t| t.shape.rank().is_some()))
}
