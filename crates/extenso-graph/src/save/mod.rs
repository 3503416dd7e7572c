//! The saved file, `*.exo`: functions with their signatures, types and weights, without the code that made them.
//!
//! Invariant: `save(load(x))` is `x`, byte for byte. The reader trusts nothing: the container proves every byte, every graph
//! is verified, every type of a value is what its spec says. Serialized shapes live in this folder alone, as the mirror
//! structs of `wire`, append-only after a release.

pub mod archive;
mod decode;
mod encode;
mod weights;
mod wire;

use crate::function::Concrete;
use archive::Archive;
use extenso_core::Variable;
use extenso_types::{Error, Result, TypeDef};
use prost::Message;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

const GRAPH: &str = "graph.pb";
const WEIGHTS: &str = "weights.safetensors";
const PRODUCER: &str = concat!("extenso ", env!("CARGO_PKG_VERSION"));

/// What a file holds.
#[derive(Debug, Clone)]
pub struct Module {
    /// The functions in the order in which they were saved.
    pub functions: Vec<Arc<Concrete>>,
    /// The variables that they share.
    pub variables: Vec<Variable>,
    /// The extension types that they use.
    pub types: Vec<Arc<TypeDef>>,
}

impl Module {
    /// The function of this name.
    ///
    /// Errors: there is none; the message lists those that there are.
    pub fn function(&self, name: &str) -> Result<&Arc<Concrete>> {
        self.functions.iter().find(|f| f.name() == name).ok_or_else(|| {
            let names: Vec<_> = self.functions.iter().map(|f| f.name()).collect();
            Error::missing(format!("there is no function '{name}' in the file"))
                .wanted(format!("one of {}", names.join(", ")))
        })
    }
}

/// The bytes of a file with these functions.
///
/// Errors: two functions of one name; a constant that cannot be saved.
pub fn to_bytes(functions: &[Arc<Concrete>]) -> Result<Vec<u8>> {
    let (members, features) = members(functions)?;
    archive::write(&members, &features, PRODUCER).map_err(Error::from)
}

/// Writes a file with these functions: to a temporary name, synced, renamed.
///
/// Errors: as [`to_bytes`]; what the operating system refuses.
pub fn save(path: impl AsRef<Path>, functions: &[Arc<Concrete>]) -> Result<()> {
    archive::write_atomically(path, &to_bytes(functions)?).map_err(Error::from)
}

/// Writes the members of a file as a directory.
///
/// Errors: as [`save`]; the directory exists and is not empty.
pub fn save_dir(path: impl AsRef<Path>, functions: &[Arc<Concrete>]) -> Result<()> {
    let (members, features) = members(functions)?;
    archive::write_dir(path, &members, &features, PRODUCER).map_err(Error::from)
}

/// Reads a file or a directory.
///
/// Errors: bytes that are not what some `save` wrote; a newer version; an op that this build does not have, by name.
pub fn load(path: impl AsRef<Path>) -> Result<Module> {
    read(&Archive::open(path, &[]).map_err(Error::from)?)
}

/// Reads the bytes of a file.
///
/// Errors: as [`load`].
pub fn from_bytes(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Result<Module> {
    read(&Archive::read(bytes, &[]).map_err(Error::from)?)
}

/// The members of a file, and the abilities that a reader needs.
type Members = (BTreeMap<String, Vec<u8>>, BTreeSet<String>);

fn members(functions: &[Arc<Concrete>]) -> Result<Members> {
    let mut weights = weights::Writer::default();
    let file = encode::file(functions, &mut weights)?;
    let members = BTreeMap::from([(GRAPH.to_string(), file.encode_to_vec()), (WEIGHTS.to_string(), weights.finish()?)]);
    Ok((members, BTreeSet::new()))
}

fn read(archive: &Archive) -> Result<Module> {
    let member =
        |name: &str| archive.member(name).ok_or_else(|| Error::data(format!("the file has no member '{name}'")));
    let file = wire::File::decode(member(GRAPH)?).map_err(|e| Error::data(format!("{GRAPH}: {e}")))?;
    decode::module(file, &weights::Reader::new(member(WEIGHTS)?)?)
}
