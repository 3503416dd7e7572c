//! Dispatch: which handler answers for an op whose arguments include values of extension types.
//!
//! Types are asked subclasses first, otherwise left to right, lists in order. For each type, its own handlers and then
//! those of its ancestors: first one for the op, then one for the op's class, then the catch-all. A handler may answer
//! *not implemented*; the next is asked. When all decline, the op runs on tensors if every argument converts to one.

use crate::attrs::AttrSet;
use crate::ext::behavior;
use crate::op::{Class, OpDef};
use crate::value::{Arg, Outputs, Value};
use extenso_types::{Error, Result, TypeDef};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, RwLock};

/// One application of an op, as a handler sees it.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// The op.
    pub op: &'static OpDef,
    /// The dispatching arguments, as the caller wrote them.
    pub args: &'a [Arg],
    /// The attributes.
    pub attrs: &'a dyn AttrSet,
}

/// A handler's answer; none is *not implemented*.
pub type Answer = Result<Option<Outputs>>;

/// What an extension type registers to say how it behaves under an op or a class.
pub trait Handler: Send + Sync {
    /// Answers the call.
    fn handle(&self, call: &Call<'_>) -> Answer;

    /// How error messages name the handler.
    fn name(&self) -> String;
}

/// What a handler is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    /// One op.
    Op(&'static OpDef),
    /// Every op of a class.
    Class(Class),
    /// Every op.
    Any,
}

/// The identity of a registered handler, for [`unregister`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HandlerId(u64);

type Entry = (HandlerId, Arc<dyn Handler>);

#[derive(Default)]
struct Handlers(HashMap<(Target, u64), Vec<Entry>>);

static HANDLERS: LazyLock<RwLock<Handlers>> = LazyLock::new(RwLock::default);
/// Counts changes, so that each thread knows when its cache is old.
static GENERATION: AtomicU64 = AtomicU64::new(1);

/// Registers a handler for values of `def` and of types that refine it. A later one for the same target comes first.
pub fn register_handler(target: Target, def: &TypeDef, handler: Arc<dyn Handler>) -> HandlerId {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let id = HandlerId(NEXT.fetch_add(1, Ordering::Relaxed));
    let mut handlers = HANDLERS.write().unwrap_or_else(std::sync::PoisonError::into_inner);
    handlers.0.entry((target, def.uid())).or_default().insert(0, (id, handler));
    GENERATION.fetch_add(1, Ordering::Release);
    id
}

/// Removes a handler.
pub fn unregister(id: HandlerId) {
    let mut handlers = HANDLERS.write().unwrap_or_else(std::sync::PoisonError::into_inner);
    handlers.0.values_mut().for_each(|entries| entries.retain(|(known, _)| *known != id));
    GENERATION.fetch_add(1, Ordering::Release);
}

/// Registers a Rust function as a handler.
pub fn on(
    target: Target,
    def: &TypeDef,
    name: &'static str,
    f: impl Fn(&Call<'_>) -> Answer + Send + Sync + 'static,
) -> HandlerId {
    register_handler(target, def, Arc::new(FnHandler(name, f)))
}

struct FnHandler<F>(&'static str, F);

impl<F: Fn(&Call<'_>) -> Answer + Send + Sync> Handler for FnHandler<F> {
    fn handle(&self, call: &Call<'_>) -> Answer {
        (self.1)(call)
    }

    fn name(&self) -> String {
        self.0.to_string()
    }
}

type Types<'a> = SmallVec<[&'a Arc<TypeDef>; 4]>;

/// Answers a call whose arguments include values of extension types.
///
/// Errors: what the handler that took the call returns; or that none took it, with the types and who declined.
pub(crate) fn dispatch(call: &Call<'_>, run: impl FnOnce(&[Arg]) -> Result<Outputs>) -> Result<Outputs> {
    let mut types = Types::new();
    call.args.iter().for_each(|arg| collect_types(arg, &mut types));
    let chain = chain_of(call.op, &types);
    let mut declined = Vec::new();
    for (_, handler) in chain.iter() {
        match handler.handle(call)? {
            Some(outputs) => return Ok(outputs),
            None => declined.push(handler.name()),
        }
    }
    match call.args.iter().map(as_tensor).collect::<Option<Result<Vec<Arg>>>>() {
        Some(args) => run(&args?),
        None => Err(no_handler(call.op, &types, &declined)),
    }
}

fn collect_types<'a>(arg: &'a Arg, types: &mut Types<'a>) {
    match arg {
        Arg::Value(Value::Ext(ext)) => insert_type(ext.def(), types),
        Arg::List(items) => items.iter().for_each(|item| collect_types(item, types)),
        Arg::Value(Value::Tensor(_) | Value::Partition(_)) | Arg::Scalar(_) => {}
    }
}

/// Puts a type before the first that it refines, otherwise at the end.
fn insert_type<'a>(def: &'a Arc<TypeDef>, types: &mut Types<'a>) {
    if types.iter().any(|t| t.uid() == def.uid()) {
        return;
    }
    let at = types.iter().position(|t| def.is_a(t)).unwrap_or(types.len());
    types.insert(at, def);
}

fn as_tensor(arg: &Arg) -> Option<Result<Arg>> {
    match arg {
        Arg::Value(Value::Ext(ext)) => ext.to_tensor().map(|t| t.map(Arg::from)),
        Arg::List(items) => {
            let items: Option<Result<Vec<Arg>>> = items.iter().map(as_tensor).collect();
            items.map(|items| items.map(Arg::List))
        }
        other => Some(Ok(other.clone())),
    }
}

type Key = (usize, SmallVec<[u64; 4]>);

#[derive(Default)]
struct Cache {
    generation: u64,
    chains: HashMap<Key, Rc<[Entry]>, BuildHasherDefault<KeyHasher>>,
}

/// Hashes addresses and uids by a multiplication each: they are ours, so nobody chooses them to collide.
#[derive(Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        // A slice of uids comes as its bytes.
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, v: u64) {
        self.0 = (self.0 ^ v).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_right(29);
    }

    fn write_usize(&mut self, v: usize) {
        self.write_u64(v.try_into().unwrap_or(u64::MAX));
    }
}

thread_local! {
    static CACHE: RefCell<Cache> = RefCell::default();
}

/// The handlers for an op and an ordered tuple of types; cached per thread, so that a call takes no lock.
fn chain_of(op: &'static OpDef, types: &Types<'_>) -> Rc<[Entry]> {
    let generation = GENERATION.load(Ordering::Acquire);
    let key: Key = (std::ptr::from_ref(op).addr(), types.iter().map(|t| t.uid()).collect());
    CACHE.with_borrow_mut(|cache| {
        if cache.generation != generation {
            *cache = Cache { generation, chains: HashMap::default() };
        }
        match cache.chains.get(&key) {
            Some(chain) => chain.clone(),
            None => cache.chains.entry(key).or_insert_with(|| find_chain(op, types)).clone(),
        }
    })
}

fn find_chain(op: &'static OpDef, types: &Types<'_>) -> Rc<[Entry]> {
    let handlers = HANDLERS.read().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut chain: Vec<Entry> = Vec::new();
    for def in types {
        if !mixes_with(def, types) {
            continue;
        }
        for ancestor in std::iter::once(*def).chain(def.ancestors()) {
            let targets = [
                Some(Target::Op(op)),
                Some(Target::Class(op.class)),
                op.class.wider().map(Target::Class),
                Some(Target::Any),
            ];
            for target in targets.into_iter().flatten() {
                let found = handlers.0.get(&(target, ancestor.uid())).into_iter().flatten();
                chain.extend(found.cloned());
            }
        }
    }
    let mut seen = std::collections::HashSet::new();
    chain.retain(|(id, _)| seen.insert(id.0));
    chain.into()
}

/// Whether the type's handlers take part beside the other types of a call.
fn mixes_with(def: &TypeDef, types: &Types<'_>) -> bool {
    let Some(names) = behavior(def).and_then(|b| b.dispatch_types()) else { return true };
    let listed = |t: &TypeDef| names.iter().any(|name| name == t.name().as_str());
    types.iter().all(|t| t.is_a(def) || def.is_a(t) || listed(t) || t.ancestors().iter().any(|a| listed(a)))
}

fn no_handler(op: &OpDef, types: &Types<'_>, declined: &[String]) -> Error {
    let names: Vec<_> = types.iter().map(|t| t.name().to_string()).collect();
    let error = Error::dispatch(format!("no handler takes {}", names.join(", ")))
        .hint(format!(
            "Convert an argument, with `cast`, `to_timestamp` or the like, or register a handler for `{}` or for its class ({}).",
            op.name, op.class
        ));
    if declined.is_empty() { error } else { error.note(format!("Declined: {}.", declined.join(", "))) }
}
