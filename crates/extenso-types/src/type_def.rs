//! Names, versions and definitions of extension types.
//!
//! Invariant: two definitions with one uid are one; a class defined again has a new uid under its old name.
//! Holds no behaviour: how a type rebuilds its values is known to `extenso-core`.

use crate::{Error, Result};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The unique name of an extension type: `namespace/Name`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct TypeName(Arc<str>);

impl TypeName {
    /// The full text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What stands after the namespace.
    pub fn short(&self) -> &str {
        self.0.rsplit_once('/').map_or(&*self.0, |(_, name)| name)
    }
}

impl FromStr for TypeName {
    type Err = Error;

    /// Reads a name.
    ///
    /// Errors: no namespace, an empty part, white space or control characters.
    fn from_str(text: &str) -> Result<TypeName> {
        let parts = text.rsplit_once('/').filter(|(namespace, name)| !namespace.is_empty() && !name.is_empty());
        if parts.is_none() || text.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(
                Error::value(format!("'{text}' is not a type name")).wanted("`namespace/Name` without white space")
            );
        }
        Ok(TypeName(text.into()))
    }
}

impl fmt::Display for TypeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A hash of what a type's definition says: its fields, their annotations, its static data.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Fingerprint(pub u64);

impl Fingerprint {
    /// The fingerprint of a definition's text (FNV-1a, 64 bits; Fowler, Noll and Vo).
    pub fn of(definition: &str) -> Fingerprint {
        let hash = definition
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
        Fingerprint(hash)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// One definition of an extension type.
#[derive(Debug)]
pub struct TypeDef {
    uid: u64,
    name: TypeName,
    version: u32,
    fingerprint: Fingerprint,
    ancestors: Vec<Arc<TypeDef>>,
}

impl TypeDef {
    /// Makes a definition; `ancestors` are the types that it refines, nearest first.
    pub fn new(name: TypeName, version: u32, fingerprint: Fingerprint, ancestors: Vec<Arc<TypeDef>>) -> Arc<TypeDef> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let uid = NEXT.fetch_add(1, Ordering::Relaxed);
        Arc::new(TypeDef { uid, name, version, fingerprint, ancestors })
    }

    /// The identity of this definition in this process.
    pub fn uid(&self) -> u64 {
        self.uid
    }

    /// The type's name.
    pub fn name(&self) -> &TypeName {
        &self.name
    }

    /// The version that its author gave.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// The hash of the definition.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// The types that this one refines, nearest first.
    pub fn ancestors(&self) -> &[Arc<TypeDef>] {
        &self.ancestors
    }

    /// Whether this definition is `other` or refines it.
    pub fn is_a(&self, other: &TypeDef) -> bool {
        self.uid == other.uid || self.ancestors.iter().any(|a| a.uid == other.uid)
    }

    /// Whether both say the same: name, version and fingerprint.
    pub fn same_definition(&self, other: &TypeDef) -> bool {
        self.uid == other.uid
            || (self.name == other.name && self.version == other.version && self.fingerprint == other.fingerprint)
    }
}

impl PartialEq for TypeDef {
    fn eq(&self, other: &TypeDef) -> bool {
        self.same_definition(other)
    }
}

impl Eq for TypeDef {}

impl Hash for TypeDef {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl fmt::Display for TypeDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)
    }
}
