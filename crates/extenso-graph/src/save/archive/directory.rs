//! The directory form: the members and `manifest.json` as files.
//!
//! Invariant: a directory is read only if it holds exactly the files that `manifest.json` lists, none behind a symbolic link.
//! Knows nothing of zip.

use super::atomic;
use super::manifest::{MANIFEST, Manifest, has_folder};
use super::{Archive, ArchiveError, Member, borrowed};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirEntry, Metadata};
use std::io;
use std::path::Path;
use std::sync::Arc;

const HINT: &str = "Remove it, or save the artifact again";

/// Writes members as a new directory, which appears whole or not at all.
///
/// Errors: as of [`write`](super::write); `path` exists and is not an empty directory; two names differ by case alone and the file
/// system does not tell them apart.
pub fn write_dir<B: AsRef<[u8]>>(
    path: impl AsRef<Path>,
    members: &BTreeMap<String, B>,
    features: &BTreeSet<String>,
    producer: &str,
) -> Result<(), ArchiveError> {
    let mut files = borrowed(members);
    let manifest = Manifest::of(&files, features, producer)?.to_text()?;
    files.insert(MANIFEST, manifest.as_bytes());
    atomic::publish_folder(path.as_ref(), |root| write_tree(root, &files))
}

fn write_tree(root: &Path, files: &BTreeMap<&str, &[u8]>) -> io::Result<()> {
    let mut folders = BTreeSet::new();
    for (name, data) in files {
        let path = root.join(name);
        let parents = path.ancestors().skip(1).take_while(|folder| folder.starts_with(root));
        folders.extend(parents.map(Path::to_path_buf));
        fs::create_dir_all(path.parent().unwrap_or(root))?;
        fs::File::create_new(&path)?;
        atomic::write_synced(&path, data)?;
    }
    folders.iter().try_for_each(|folder| atomic::sync_folder(folder))
}

/// Reads a directory; see [`Archive::read_dir`].
pub(super) fn read(root: &Path, known_features: &[&str]) -> Result<Archive, ArchiveError> {
    let text = read_listed(&root.join(MANIFEST), |_| Ok(()))?;
    let manifest = Manifest::parse(&text, known_features).map_err(|e| e.at(root.display()))?;
    refuse_strangers(root, &manifest)?;
    let mut members = BTreeMap::new();
    for (name, digest) in &manifest.members {
        let data = read_listed(&root.join(name), |size| digest.check_size(name, size))?;
        digest.check(name, &data).map_err(|e| e.at(root.display()))?;
        members.insert(name.clone(), Member { range: 0..data.len(), owner: Arc::new(data) });
    }
    Ok(Archive { members, features: manifest.features, producer: manifest.producer })
}

/// Refuses what the manifest does not list, and symbolic links; a folder without members is not entered.
fn refuse_strangers(root: &Path, manifest: &Manifest) -> Result<(), ArchiveError> {
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        let path = root.join(&folder);
        for entry in fs::read_dir(&path).map_err(|e| ArchiveError::io("list", &path, e))? {
            let entry = entry.map_err(|e| ArchiveError::io("list", &path, e))?;
            folders.extend(folder_within(&folder, &entry, manifest)?);
        }
    }
    Ok(())
}

/// The folder that the entry is, or nothing if it is a listed file.
fn folder_within(parent: &str, entry: &DirEntry, manifest: &Manifest) -> Result<Option<String>, ArchiveError> {
    let kind = entry.file_type().map_err(|e| ArchiveError::io("inspect", &entry.path(), e))?;
    let name = entry.file_name().to_str().map(|name| format!("{parent}{name}"));
    let folder = name.as_ref().map(|name| format!("{name}/"));
    match (name, folder) {
        (Some(name), _) if kind.is_file() && (name == MANIFEST || manifest.members.contains_key(&name)) => Ok(None),
        (_, Some(folder)) if kind.is_dir() && has_folder(&manifest.members, &folder) => Ok(Some(folder)),
        _ => {
            let what = if kind.is_symlink() { "a symbolic link" } else { "not of the artifact" };
            let what = format!("{}: this is {what}", entry.path().display());
            Err(ArchiveError::refused(what, format!("only the files that {MANIFEST} lists"), HINT))
        }
    }
}

fn read_listed(path: &Path, check_size: impl Fn(u64) -> Result<(), ArchiveError>) -> Result<Vec<u8>, ArchiveError> {
    let facts = fs::symlink_metadata(path).map_err(|e| ArchiveError::io("open", path, e))?;
    check_size(facts.len()).map_err(|e| e.at(path.display()))?;
    read_plain(path, &facts)
}

/// Reads a file of which `facts` are known. Anything else is refused, because a pipe would wait and a device would not end.
pub(super) fn read_plain(path: &Path, facts: &Metadata) -> Result<Vec<u8>, ArchiveError> {
    if !facts.is_file() {
        let what = format!("{}: this is no regular file", path.display());
        return Err(ArchiveError::refused(what, "a file of an Extenso artifact", "Give the path of a saved artifact"));
    }
    fs::read(path).map_err(|e| ArchiveError::io("read", path, e))
}
