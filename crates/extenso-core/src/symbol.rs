//! Symbols and scopes: what stands for data while a function is traced.
//!
//! Invariant: a symbol belongs to one scope; scopes nest on one thread, and the innermost is where ops are recorded.
//! What a scope does with an op is known to `extenso-graph`, through [`Tracer`].

use crate::attrs::AttrSet;
use crate::op::OpDef;
use crate::value::{Outputs, Value};
use extenso_types::{Error, LeafSpec, Result, TensorSpec};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The identity of a scope in this process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ScopeId(u64);

impl ScopeId {
    /// An identity that no other scope has.
    pub fn fresh() -> ScopeId {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        ScopeId(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// A place in a graph under construction, and the spec of what will be there.
#[derive(Debug)]
pub struct Symbol {
    /// The scope that the symbol belongs to.
    pub scope: ScopeId,
    /// The node that produces it.
    pub node: u32,
    /// Which of the node's outputs it is.
    pub output: u32,
    /// What is known of it.
    pub spec: LeafSpec,
    /// The op that it is a result of; none for an argument.
    pub op: Option<&'static OpDef>,
    /// The traced function's name, for messages.
    pub function: Arc<str>,
}

impl Symbol {
    pub(crate) fn tensor_spec(&self) -> Option<&TensorSpec> {
        self.spec.tensor().ok()
    }

    /// The error of a use that would need the symbol's data.
    pub fn has_no_data(&self) -> Error {
        if !is_open(self.scope) {
            return self.is_closed();
        }
        Error::scope(format!(
            "a symbol of function '{}' ({}) has no data while the function is traced",
            self.function, self.spec
        ))
        .hint(
            "Use `cond` or `where` instead of branching on it, ops instead of functions of other libraries, and `zeros_like`, \
             `broadcast_like` or `local_index` instead of a size that data say.",
        )
    }

    /// The error of a use after the function's scope closed.
    pub fn is_closed(&self) -> Error {
        Error::scope(format!(
            "a symbol of function '{}' ({}) is used after the function was traced",
            self.function, self.spec
        ))
        .hint("Return it from the function instead of keeping it outside.")
    }
}

/// What records ops: the graph under construction of one scope.
pub trait Tracer {
    /// The scope's identity.
    fn scope(&self) -> ScopeId;

    /// Whether what is recorded may never run, so that an op on data that fails is recorded too.
    fn may_not_run(&self) -> bool {
        false
    }

    /// Appends a node with these output specs and returns its symbols.
    ///
    /// Errors: an argument is a symbol of a closed scope, or cannot be captured.
    fn record(&self, op: &'static OpDef, args: &[Value], attrs: &dyn AttrSet, outputs: &[LeafSpec]) -> Result<Outputs>;
}

thread_local! {
    static SCOPES: RefCell<Vec<Rc<dyn Tracer>>> = const { RefCell::new(Vec::new()) };
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    static NO_OPS: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// Runs `f` with `tracer` as the innermost scope of this thread.
pub fn with_scope<R>(tracer: Rc<dyn Tracer>, f: impl FnOnce() -> R) -> R {
    struct Close;
    impl Drop for Close {
        fn drop(&mut self) {
            SCOPES.with_borrow_mut(Vec::pop);
            DEPTH.set(DEPTH.get() - 1);
        }
    }
    SCOPES.with_borrow_mut(|scopes| scopes.push(tracer));
    DEPTH.set(DEPTH.get() + 1);
    let _close = Close;
    f()
}

/// The innermost scope of this thread.
pub fn current_scope() -> Option<Rc<dyn Tracer>> {
    if DEPTH.get() == 0 {
        return None;
    }
    SCOPES.with_borrow(|scopes| scopes.last().cloned())
}

/// The scope of this thread that encloses `inner` directly.
pub fn outer_scope(inner: ScopeId) -> Option<Rc<dyn Tracer>> {
    SCOPES.with_borrow(|scopes| {
        let at = scopes.iter().position(|s| s.scope() == inner)?;
        scopes[..at].last().cloned()
    })
}

/// Whether a scope is open on this thread.
pub fn is_open(scope: ScopeId) -> bool {
    SCOPES.with_borrow(|scopes| scopes.iter().any(|s| s.scope() == scope))
}

/// Runs `f`, in which every op is an error that names `place`: taking a value apart and rebuilding it call no ops.
pub fn without_ops<R>(place: &'static str, f: impl FnOnce() -> R) -> R {
    let _restore = Restore(NO_OPS.replace(Some(place)));
    f()
}

/// Runs `f` with ops allowed again: checking the data of a value that was rebuilt may compute.
pub fn with_ops<R>(f: impl FnOnce() -> R) -> R {
    let _restore = Restore(NO_OPS.replace(None));
    f()
}

struct Restore(Option<&'static str>);

impl Drop for Restore {
    fn drop(&mut self) {
        NO_OPS.set(self.0);
    }
}

pub(crate) fn forbidden_place() -> Option<&'static str> {
    NO_OPS.get()
}
