//! The container of the saved file: named members, as one strict zip or as a directory.
//!
//! Invariant: an archive has one encoding. A file is accepted only if it is, byte for byte, what [`write`] makes of the members,
//! features and producer found in it, so one changed, missing or added byte is an error.
//! Does not know what a member means, compresses nothing, and holds no code.
//!
//! The zip holds `manifest.json` first and then the members in bytewise order of their names. `manifest.json` gives the name, size
//! and SHA-256 of each, and a record of the zip follows from a member's name, size, place and CRC-32 alone. A reader therefore
//! needs no parser of zip: it lays the file out as the writer would and compares. What later versions must keep is the first
//! member, so that a reader of today can say of a newer file that it is newer.

mod atomic;
mod directory;
mod error;
mod manifest;
mod zip;

pub use atomic::{NewFile, fill_atomically, linked, write_atomically};
pub use directory::write_dir;
pub use error::ArchiveError;

use manifest::{MANIFEST, Manifest};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Encodes members as the bytes of a file.
///
/// `features` are the abilities that a reader must have to load the file, `producer` the program that writes it.
/// Errors: a name is empty, absolute, longer than 1024 bytes, reserved (`manifest.json`), has an empty, `.` or `..` part, `\`, `:`
/// or a control character, or is the folder of another name.
///
/// ```text
/// let members = BTreeMap::from([("graph.pb".to_string(), vec![1, 2, 3])]);
/// let file = write(&members, &BTreeSet::new(), "extenso 0.1.0")?;
/// assert_eq!(Archive::read(file, &[])?.member("graph.pb"), Some(&[1, 2, 3][..]));
/// ```
pub fn write<B: AsRef<[u8]>>(
    members: &BTreeMap<String, B>,
    features: &BTreeSet<String>,
    producer: &str,
) -> Result<Vec<u8>, ArchiveError> {
    let members = borrowed(members);
    let manifest = Manifest::of(&members, features, producer)?.to_text()?;
    // The records of a member take less than three times its line in the manifest: the file is allocated once.
    let capacity = members.values().map(|data| data.len()).sum::<usize>() + 4 * manifest.len();
    let mut zip = zip::Writer::with_capacity(capacity);
    zip.member(MANIFEST, manifest.as_bytes());
    members.iter().for_each(|(name, data)| zip.member(name, data));
    Ok(zip.finish())
}

/// The members as the concrete core of the writers takes them.
fn borrowed<B: AsRef<[u8]>>(members: &BTreeMap<String, B>) -> BTreeMap<&str, &[u8]> {
    members.iter().map(|(name, data)| (name.as_str(), data.as_ref())).collect()
}

/// A file or directory that has been read and proven.
///
/// `write(a.members(), a.features(), a.producer())` gives the bytes that it was read from.
#[derive(Clone, Debug)]
pub struct Archive {
    members: BTreeMap<String, Member>,
    features: BTreeSet<String>,
    producer: String,
}

impl Archive {
    /// Reads a file or a directory, whichever `path` is.
    ///
    /// Errors: as of [`Archive::read`] and [`Archive::read_dir`], and those of the operating system.
    pub fn open(path: impl AsRef<Path>, known_features: &[&str]) -> Result<Archive, ArchiveError> {
        let path = path.as_ref();
        let facts = std::fs::metadata(path).map_err(|e| ArchiveError::io("open", path, e))?;
        if facts.is_dir() {
            return Archive::read_dir(path, known_features);
        }
        Archive::read(directory::read_plain(path, &facts)?, known_features).map_err(|e| e.at(path.display()))
    }

    /// Reads the bytes of a file; the members borrow from them.
    ///
    /// `bytes` must give the same slice at every call. `known_features` are those that the caller can honour.
    /// Errors: the bytes are not what [`write`] makes, are of a newer version, or need a feature that is not known.
    pub fn read(
        bytes: impl AsRef<[u8]> + Send + Sync + 'static,
        known_features: &[&str],
    ) -> Result<Archive, ArchiveError> {
        Archive::read_owner(&(Arc::new(bytes) as Owner), known_features)
    }

    fn read_owner(owner: &Owner, known_features: &[&str]) -> Result<Archive, ArchiveError> {
        let file = owner.as_ref().as_ref();
        let mut zip = zip::Reader::new(file);
        let text = zip.member(MANIFEST, zip.size_of_first()?)?;
        let manifest = Manifest::parse(&file[text], known_features)?;
        let mut members = BTreeMap::new();
        for (name, digest) in &manifest.members {
            let range = zip.member(name, digest.size)?;
            digest.check(name, &file[range.clone()])?;
            members.insert(name.clone(), Member { owner: owner.clone(), range });
        }
        zip.finish()?;
        Ok(Archive { members, features: manifest.features, producer: manifest.producer })
    }

    /// Reads the directory form.
    ///
    /// A directory has no checksum of `manifest.json` itself: an edit of its producer or features is seen by the file form alone.
    /// Errors: a file is missing, changed or not listed in `manifest.json`, something is a symbolic link, or as of [`Archive::read`].
    pub fn read_dir(path: impl AsRef<Path>, known_features: &[&str]) -> Result<Archive, ArchiveError> {
        directory::read(path.as_ref(), known_features)
    }

    /// The data of a member.
    pub fn member(&self, name: &str) -> Option<&[u8]> {
        self.members.get(name).map(AsRef::as_ref)
    }

    /// All members by name, without `manifest.json`.
    pub fn members(&self) -> &BTreeMap<String, Member> {
        &self.members
    }

    /// The names of the members in bytewise order, without `manifest.json`.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.members.keys().map(String::as_str)
    }

    /// The features that the file requires.
    pub fn features(&self) -> &BTreeSet<String> {
        &self.features
    }

    /// The program that wrote the file.
    pub fn producer(&self) -> &str {
        &self.producer
    }
}

/// What keeps the bytes of a file: a vector, and as well a memory map.
type Owner = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// The data of one member; a clone shares the bytes and keeps them alive without the archive.
#[derive(Clone)]
pub struct Member {
    owner: Owner,
    range: Range<usize>,
}

impl AsRef<[u8]> for Member {
    fn as_ref(&self) -> &[u8] {
        &self.owner.as_ref().as_ref()[self.range.clone()]
    }
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.range.len())
    }
}

#[cfg(test)]
mod tests;
