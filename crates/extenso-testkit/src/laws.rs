//! Law suites that a type author runs on their own type.
//!
//! Invariant: a law is an equation on values and specs that no shipped type is excused from. A suite stops at the first law
//! that does not hold and says which law, of which value, and what differs.

mod components;
mod graphs;
mod specs;

use extenso_core::{ExtensionType, TypeSpec, Value};
use extenso_types::{Error, ExtSpec, Result};

/// Checks every law of extension types on these values.
///
/// Errors: the first law that does not hold, with the number of the value.
///
/// ```
/// # use extenso_testkit::laws::check_type;
/// # use extenso_ext::MaskedTensor;
/// # use extenso_core::Tensor;
/// let x = MaskedTensor::new(Tensor::from_vec(vec![1, 2]), Tensor::bools(&[2], &[true, false])?)?;
/// check_type(&[x])?;
/// # Ok::<(), extenso_types::Error>(())
/// ```
pub fn check_type<T: ExtensionType>(values: &[T]) -> Result<()> {
    if values.is_empty() {
        return Err(Error::value("no value is given").wanted("at least one value to check the laws on"));
    }
    for (i, value) in values.iter().enumerate() {
        let subject = Subject::new(value).map_err(|e| e.at(format!("value {i}")))?;
        for (law, holds) in laws::<T>() {
            holds(&subject).map_err(|e| e.at(format!("law '{law}'")).at(format!("value {i}")))?;
        }
    }
    let specs: Result<Vec<ExtSpec>> = values.iter().map(|v| Subject::new(v).map(|s| s.spec)).collect();
    specs::pairs(&specs?).map_err(|e| e.at("law 'compatibility is symmetric'"))
}

type Law<T> = (&'static str, fn(&Subject<T>) -> Result<()>);

fn laws<T: ExtensionType>() -> [Law<T>; 10] {
    [
        ("the value is a T", components::is_itself::<T>),
        ("components are as the spec says", components::fit_the_spec::<T>),
        ("rebuilding gives the value", components::round_trip::<T>),
        ("rebuilding checks the number of components", components::counted::<T>),
        ("deserialize of serialize is the spec", specs::normal_form::<T>),
        ("a spec is equal to itself up to the names of variables", specs::up_to_names::<T>),
        ("a spec is a subtype of itself, and its own join", specs::order::<T>),
        ("the identity function gives the value", graphs::identity::<T>),
        ("a loaded function gives the value", graphs::loaded::<T>),
        ("an unregistered definition keeps the components", graphs::opaque::<T>),
    ]
}

/// A value, and what every law looks at.
struct Subject<T> {
    typed: T,
    value: Value,
    spec: ExtSpec,
    components: Vec<Value>,
}

impl<T: ExtensionType> Subject<T> {
    /// Takes the value apart, which calls no op.
    fn new(typed: &T) -> Result<Subject<T>> {
        T::Spec::def();
        let value = typed.clone().into_value();
        let ext = value.ext()?;
        let (spec, components) = (ext.spec()?, ext.components()?);
        Ok(Subject { typed: typed.clone(), value, spec, components })
    }
}

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::value(what())) }
}
