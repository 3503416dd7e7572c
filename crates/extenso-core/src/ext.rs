//! Extension types: how values of a type are taken apart and rebuilt, and the registry of definitions.
//!
//! Invariant: no type is privileged. Everything above knows a value through [`Extension`] and its type through [`ExtSpec`];
//! a type that is not registered keeps its values as [`OpaqueExtension`], components and all.
//! Taking apart and rebuilding call no ops.

mod cast;
mod named;
mod opaque;

pub use cast::cast;
pub use named::rebuild_named;
pub use opaque::OpaqueExtension;

use crate::symbol::{with_ops, without_ops};
use crate::tensor::Tensor;
use crate::value::Value;
use extenso_types::{Error, ExtSpec, Fingerprint, Path, Result, Segment, Spec, StaticValue, TypeDef, TypeName};
use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, RwLock};

/// The spec of a user's type: static data, serialization, taking apart, rebuilding, compatibility.
///
/// `#[derive(ExtensionType)]` writes one from a struct of fields; by hand five methods are required.
pub trait TypeSpec: Sized + Clone + Send + Sync + 'static {
    /// The type that this is the spec of.
    type Value: ExtensionType<Spec = Self>;

    /// Whether [`TypeSpec::validate_data`] looks at anything: no value is rebuilt only to be looked at where it does not.
    const CHECKS_DATA: bool = true;

    /// The definition; see [`define`].
    fn def() -> &'static Arc<TypeDef>;

    /// The normal form: static data and component specs.
    fn serialize(&self) -> ExtSpec;

    /// Reads the normal form.
    ///
    /// Errors: components or static data that the type does not have.
    fn deserialize(spec: &ExtSpec) -> Result<Self>;

    /// Takes a value apart, in the order of the spec's components.
    fn to_components(&self, value: &Self::Value) -> Result<Vec<Value>>;

    /// Rebuilds a value.
    ///
    /// Errors: components that are not as the spec says.
    #[allow(clippy::wrong_self_convention)] // The spec rebuilds, under the name that the RFC gave it.
    fn from_components(&self, components: Vec<Value>) -> Result<Self::Value>;

    /// Checks what specs can tell: dtypes, ranks, static data. Runs on every rebuild, symbols included.
    fn validate(&self, _value: &Self::Value) -> Result<()> {
        Ok(())
    }

    /// Checks what only data can tell. Runs when components came from outside a value of this type.
    fn validate_data(&self, _value: &Self::Value) -> Result<()> {
        Ok(())
    }

    /// The value with the checks in it of what only data can tell, where its components are symbols: a graph makes them when it runs.
    ///
    /// Runs where [`TypeSpec::validate_data`] does. Of data there is nothing left to check.
    fn guard(&self, value: Self::Value) -> Result<Self::Value> {
        Ok(value)
    }

    /// Checks what specs can tell of a value of a type that refines this one. Runs on every rebuild, before the type's own checks.
    fn validate_refined(_spec: &ExtSpec, _components: &[Value]) -> Result<()> {
        Ok(())
    }

    /// A value of another type as one of this spec, if it has such a form and nothing is lost; see [`cast`].
    fn cast(_value: &Value, _wanted: &ExtSpec) -> Result<Option<Value>> {
        Ok(None)
    }

    /// The value as one tensor, for ops that no handler takes.
    fn to_tensor(_value: &Self::Value) -> Option<Result<Tensor>> {
        None
    }

    /// The names of types that handlers of this type mix with; none means any.
    fn dispatch_types() -> Option<&'static [&'static str]> {
        None
    }
}

/// A value of a user's type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an extension type",
    note = "add `#[derive(ExtensionType)]`, or write a `TypeSpec` and implement `ExtensionType::type_spec`"
)]
pub trait ExtensionType: Clone + Send + Sync + 'static {
    /// The type's spec.
    type Spec: TypeSpec<Value = Self>;

    /// The spec of this value.
    fn type_spec(&self) -> Self::Spec;

    /// The value seen as this type, rebuilt from components if it was made elsewhere or refines this type.
    ///
    /// Errors: a value of another type.
    fn from_value(value: &Value) -> Result<Self> {
        let ext = value.ext()?;
        match ext.downcast::<Self>() {
            Some(typed) => Ok(typed.clone()),
            None => view(ext),
        }
    }

    /// The value for ops.
    fn into_value(self) -> Value {
        Value::Ext(Ext::new(self))
    }
}

fn view<T: ExtensionType>(ext: &Ext) -> Result<T> {
    let def = T::Spec::def();
    if !ext.def().is_a(def) && !ext.def().same_definition(def) {
        return Err(Error::dtype(format!("found a value of type {}", ext.def())).wanted(format!("one of type {def}")));
    }
    let spec = ext.spec()?;
    let typed = T::Spec::deserialize(&spec)?;
    let wanted = typed.serialize();
    let components = ext.components()?;
    // A type that refines this one may have more components; they stay behind.
    let pick = |segment: &Segment| {
        let at = spec.components.iter().position(|(s, _)| s == segment);
        at.and_then(|i| components.get(i).cloned()).ok_or_else(|| {
            Error::missing(format!("{} has no component '{}'", ext.def(), Path::from_iter([segment.clone()])))
        })
    };
    let components: Result<Vec<Value>> = wanted.components.iter().map(|(segment, _)| pick(segment)).collect();
    checked(&typed, components?, Provenance::Trusted)
}

fn checked<S: TypeSpec>(spec: &S, components: Vec<Value>, provenance: Provenance) -> Result<S::Value> {
    let value = spec.from_components(components)?;
    spec.validate(&value)?;
    match provenance {
        Provenance::Trusted => Ok(value),
        Provenance::Outside => with_ops(|| spec.validate_data(&value).and_then(|()| spec.guard(value))),
    }
}

/// Where components came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Provenance {
    /// From a value of the type, so that its data was checked when that was made.
    Trusted,
    /// From outside: a file, a nest, a caller.
    Outside,
}

/// A value of some extension type, as dispatch, graphs and files see it.
pub trait Extension: Any + Send + Sync {
    /// The definition of the type.
    fn def(&self) -> &Arc<TypeDef>;
    /// The spec in normal form.
    fn spec(&self) -> Result<ExtSpec>;
    /// The components in the order of the spec.
    fn components(&self) -> Result<Vec<Value>>;
    /// The value as one tensor, if the type has such a conversion.
    fn to_tensor(&self) -> Option<Result<Tensor>>;
    /// The value, to be downcast.
    fn as_any(&self) -> &dyn Any;
}

impl<T: ExtensionType> Extension for T {
    fn def(&self) -> &Arc<TypeDef> {
        T::Spec::def()
    }

    fn spec(&self) -> Result<ExtSpec> {
        Ok(without_ops("type_spec", || self.type_spec().serialize()))
    }

    fn components(&self) -> Result<Vec<Value>> {
        without_ops("to_components", || self.type_spec().to_components(self))
    }

    fn to_tensor(&self) -> Option<Result<Tensor>> {
        T::Spec::to_tensor(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A shared value of some extension type.
#[derive(Clone)]
pub struct Ext(Arc<dyn Extension>);

impl Ext {
    /// Wraps a value.
    pub fn new(value: impl Extension) -> Ext {
        Ext(Arc::new(value))
    }

    /// The value, if it is a `T`.
    pub fn downcast<T: Any>(&self) -> Option<&T> {
        self.0.as_any().downcast_ref()
    }
}

impl std::ops::Deref for Ext {
    type Target = dyn Extension;

    fn deref(&self) -> &(dyn Extension + 'static) {
        &*self.0
    }
}

/// What the registry knows of a definition: how its values are rebuilt.
pub trait TypeBehavior: Send + Sync {
    /// Rebuilds a value.
    ///
    /// Errors: components that the type refuses.
    fn rebuild(&self, spec: &ExtSpec, components: Vec<Value>, provenance: Provenance) -> Result<Ext>;

    /// The names of types that handlers of this type mix with; none means any.
    fn dispatch_types(&self) -> Option<Vec<String>>;

    /// Checks what specs can tell of a value of a type that refines this one.
    ///
    /// Errors: components that do not fit.
    fn validate_refined(&self, _spec: &ExtSpec, _components: &[Value]) -> Result<()> {
        Ok(())
    }

    /// Whether data of components that came from outside is looked at when a value is rebuilt.
    fn checks_data(&self) -> bool {
        true
    }

    /// Checks that a spec that came from outside is one of this type.
    ///
    /// Errors: components or static data that the type does not have.
    fn check_spec(&self, _spec: &ExtSpec) -> Result<()> {
        Ok(())
    }

    /// A value of another type as one of this, if it has such a form.
    ///
    /// Errors: those of the ops.
    fn cast(&self, _value: &Value, _wanted: &ExtSpec) -> Result<Option<Value>> {
        Ok(None)
    }
}

struct Typed<S>(std::marker::PhantomData<fn() -> S>);

impl<S: TypeSpec> TypeBehavior for Typed<S> {
    fn rebuild(&self, spec: &ExtSpec, components: Vec<Value>, provenance: Provenance) -> Result<Ext> {
        Ok(Ext::new(checked(&S::deserialize(spec)?, components, provenance)?))
    }

    fn dispatch_types(&self) -> Option<Vec<String>> {
        S::dispatch_types().map(|names| names.iter().map(ToString::to_string).collect())
    }

    fn validate_refined(&self, spec: &ExtSpec, components: &[Value]) -> Result<()> {
        S::validate_refined(spec, components)
    }

    fn checks_data(&self) -> bool {
        S::CHECKS_DATA
    }

    fn check_spec(&self, spec: &ExtSpec) -> Result<()> {
        S::deserialize(spec).map(drop)
    }

    fn cast(&self, value: &Value, wanted: &ExtSpec) -> Result<Option<Value>> {
        S::cast(value, wanted)
    }
}

#[derive(Default)]
struct Registry {
    behaviors: HashMap<u64, Arc<dyn TypeBehavior>>,
    live: HashMap<TypeName, (Arc<TypeDef>, String)>,
}

static REGISTRY: LazyLock<RwLock<Registry>> = LazyLock::new(RwLock::default);

/// Defines the Rust type behind `S`; to be called once, from the static behind [`TypeSpec::def`].
///
/// `definition` is the text that the fingerprint is of: fields and their types.
///
/// # Panics
/// The name is malformed or taken by another module: a mistake in the program, found at the first use of the type.
pub fn define<S: TypeSpec>(name: &str, version: u32, definition: &str, ancestors: Vec<Arc<TypeDef>>) -> Arc<TypeDef> {
    let owner = std::any::type_name::<S>();
    let make = || {
        let def = TypeDef::new(name.parse()?, version, Fingerprint::of(definition), ancestors);
        register(&def, owner, Arc::new(Typed::<S>(std::marker::PhantomData)))?;
        Ok::<_, Error>(def)
    };
    make().unwrap_or_else(|e| panic!("{owner}: {e}"))
}

/// Makes `def` the live definition of its name. The same owner replaces what it defined before, as a notebook cell does.
///
/// Errors: another owner has the name.
pub fn register(def: &Arc<TypeDef>, owner: &str, behavior: Arc<dyn TypeBehavior>) -> Result<()> {
    let mut registry = REGISTRY.write().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some((_, first)) = registry.live.get(def.name()).filter(|(_, first)| first != owner) {
        return Err(Error::value(format!(
            "the type name '{}' is taken: {first} defined it, now {owner} does",
            def.name()
        ))
        .wanted("one place for each name")
        .hint("Give one of the two another name."));
    }
    registry.live.insert(def.name().clone(), (def.clone(), owner.to_string()));
    registry.behaviors.insert(def.uid(), behavior);
    Ok(())
}

/// The live definition of a name.
pub fn lookup(name: &TypeName) -> Option<Arc<TypeDef>> {
    let registry = REGISTRY.read().unwrap_or_else(std::sync::PoisonError::into_inner);
    registry.live.get(name).map(|(def, _)| def.clone())
}

/// How values of a definition are rebuilt, if it is registered.
pub fn behavior(def: &TypeDef) -> Option<Arc<dyn TypeBehavior>> {
    let registry = REGISTRY.read().unwrap_or_else(std::sync::PoisonError::into_inner);
    registry.behaviors.get(&def.uid()).cloned()
}

/// The definition that a file means: the live one if it says the same, otherwise one of the file's own.
pub fn resolve(name: TypeName, version: u32, fingerprint: Fingerprint, ancestors: Vec<Arc<TypeDef>>) -> Arc<TypeDef> {
    let own = TypeDef::new(name, version, fingerprint, ancestors);
    lookup(own.name()).filter(|live| live.same_definition(&own)).unwrap_or(own)
}

/// Why a value of `def` stays opaque, if it does.
pub fn why_opaque(def: &TypeDef) -> Option<String> {
    if behavior(def).is_some() {
        return None;
    }
    Some(match lookup(def.name()) {
        None => format!("no type '{}' is registered in this process", def.name()),
        Some(live) => format!(
            "'{}' is registered as version {} ({}), the value is of version {} ({})",
            def.name(),
            live.version(),
            live.fingerprint(),
            def.version(),
            def.fingerprint()
        ),
    })
}

/// Checks that a spec that came from outside is one of its type, if that is registered.
///
/// Errors: components or static data that the type does not have.
pub fn check_spec(spec: &ExtSpec) -> Result<()> {
    let checked = behavior(&spec.def).map_or(Ok(()), |behavior| behavior.check_spec(spec));
    checked.map_err(|e| Error::data(format!("a spec is none of its type: {e}")).at(spec.def.name().to_string()))
}

/// Rebuilds a value of an extension type; one that is not registered becomes an [`OpaqueExtension`].
///
/// Errors: the number of components is not the spec's, or the type or one that it refines refuses them.
pub fn rebuild(spec: &ExtSpec, components: Vec<Value>, provenance: Provenance) -> Result<Value> {
    if spec.components.len() != components.len() {
        return Err(Error::value(format!("{} components are given for {spec}", components.len())));
    }
    let made = without_ops("from_components", || {
        for refined in spec.def.ancestors().iter().filter_map(|ancestor| behavior(ancestor)) {
            refined.validate_refined(spec, &components)?;
        }
        match behavior(&spec.def) {
            Some(behavior) => behavior.rebuild(spec, components, provenance),
            None => Ok(Ext::new(OpaqueExtension::new(spec.clone(), components))),
        }
    });
    made.map(Value::Ext).map_err(|e| e.at(spec.def.name().to_string()))
}

/// Builds a value of `spec` from its leaves, taken in order.
///
/// Errors: too few leaves, or a type that refuses its components.
pub fn pack(spec: &Spec, leaves: &mut dyn Iterator<Item = Value>, provenance: Provenance) -> Result<Value> {
    match spec {
        Spec::Tensor(_) | Spec::Partition(_) => {
            leaves.next().ok_or_else(|| Error::value(format!("no component is left for {spec}")))
        }
        Spec::Ext(ext) => {
            let components: Result<Vec<Value>> =
                ext.components.iter().map(|(_, c)| pack(c, leaves, provenance)).collect();
            rebuild(ext, components?, provenance)
        }
    }
}

/// What a field of an extension type can be: a tensor, a row partition, any value, or another extension type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a component of an extension type",
    note = "components are tensors, row partitions, values and other extension types; mark plain data with `#[extenso(static)]`"
)]
pub trait Component: Sized {
    /// The component's value.
    fn to_value(&self) -> Value;
    /// Reads the component.
    ///
    /// Errors: a value of another kind.
    fn of_value(value: &Value) -> Result<Self>;
}

impl Component for Value {
    fn to_value(&self) -> Value {
        self.clone()
    }
    fn of_value(value: &Value) -> Result<Value> {
        Ok(value.clone())
    }
}

impl Component for Tensor {
    fn to_value(&self) -> Value {
        Value::Tensor(self.clone())
    }
    fn of_value(value: &Value) -> Result<Tensor> {
        value.tensor().cloned()
    }
}

impl Component for crate::RowPartition {
    fn to_value(&self) -> Value {
        Value::Partition(self.clone())
    }
    fn of_value(value: &Value) -> Result<crate::RowPartition> {
        value.partition().cloned()
    }
}

impl<T: ExtensionType> Component for T {
    fn to_value(&self) -> Value {
        self.clone().into_value()
    }
    fn of_value(value: &Value) -> Result<T> {
        T::from_value(value)
    }
}

/// Plain data that an extension type may carry as static data.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be static data of an extension type",
    note = "static data is bool, i64, f64, String, DType, and vectors and options of these"
)]
pub trait StaticData: Sized {
    /// The static value.
    fn to_static(&self) -> StaticValue;
    /// Reads the static value, if it fits.
    fn of_static(value: &StaticValue) -> Option<Self>;
}

macro_rules! static_data {
    ($($t:ty, $variant:ident;)*) => { $(
        impl StaticData for $t {
            fn to_static(&self) -> StaticValue {
                StaticValue::$variant(self.clone())
            }
            fn of_static(value: &StaticValue) -> Option<$t> {
                match value {
                    StaticValue::$variant(v) => Some(v.clone()),
                    _ => None,
                }
            }
        }
    )* };
}
static_data! { bool, Bool; i64, Int; f64, Float; String, Str; extenso_types::DType, DType; extenso_types::Shape, Shape; }

impl<T: StaticData> StaticData for Vec<T> {
    fn to_static(&self) -> StaticValue {
        StaticValue::Tuple(self.iter().map(T::to_static).collect())
    }
    fn of_static(value: &StaticValue) -> Option<Vec<T>> {
        match value {
            StaticValue::Tuple(items) => items.iter().map(T::of_static).collect(),
            _ => None,
        }
    }
}

impl<T: StaticData> StaticData for Option<T> {
    fn to_static(&self) -> StaticValue {
        self.as_ref().map_or(StaticValue::None, T::to_static)
    }
    fn of_static(value: &StaticValue) -> Option<Option<T>> {
        match value {
            StaticValue::None => Some(None),
            other => T::of_static(other).map(Some),
        }
    }
}
