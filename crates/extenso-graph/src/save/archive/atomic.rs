//! Files and directories that appear under their name whole or not at all.
//!
//! Invariant: what is made under a temporary name is complete before it is renamed, and removed if anything fails. What is saved is synced
//! too, so that a system that fails does not lose it.
//! Does not lock: of two writers of one path, the last one wins.

use super::ArchiveError;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes a file, in place of the one at `path` if there is one; a reader sees the old bytes or the new ones.
///
/// A symbolic link at `path` is replaced, not followed. Errors: those of the operating system.
pub fn write_atomically(path: impl AsRef<Path>, bytes: &[u8]) -> Result<(), ArchiveError> {
    let create = |temporary: &Path| File::create_new(temporary).map(drop);
    publish_synced(path.as_ref(), create, |temporary| write_synced(temporary, bytes))
}

/// Fills a file, in place of the one at `path` if there is one; a reader sees the old bytes or the new ones.
///
/// It is left to the system when they are on the disk. Errors: those of the operating system, and of `fill`.
pub fn fill_atomically(
    path: impl AsRef<Path>,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), ArchiveError> {
    let create = |temporary: &Path| File::create_new(temporary).map(drop);
    publish(path.as_ref(), create, |temporary| fill(&mut File::options().write(true).open(temporary)?))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Creates and fills a temporary sibling of `path`, renames it to `path`, and waits until the name is on the disk.
pub(super) fn publish_synced(
    path: &Path,
    create: impl Fn(&Path) -> io::Result<()>,
    fill: impl FnOnce(&Path) -> io::Result<()>,
) -> Result<(), ArchiveError> {
    publish(path, create, fill)?;
    sync_folder(folder_of(path)).map_err(|e| ArchiveError::io("write", path, e))
}

/// Creates and fills a temporary sibling of `path`, then renames it to `path`.
fn publish(
    path: &Path,
    create: impl Fn(&Path) -> io::Result<()>,
    fill: impl FnOnce(&Path) -> io::Result<()>,
) -> Result<(), ArchiveError> {
    let folder = folder_of(path);
    let temporary = create_fresh(folder, create).map_err(|e| ArchiveError::io("write into", folder, e))?;
    let done = fill(&temporary).and_then(|()| fs::rename(&temporary, path));
    if done.is_err() {
        // The first error is the one to report; whatever this gives, nothing more can be done.
        let _ = fs::remove_file(&temporary).or_else(|_| fs::remove_dir_all(&temporary));
    }
    done.map_err(|e| ArchiveError::io("write", path, e))
}

/// Tries names until one is free: a process that died may have had this process id, and so may one on another machine.
fn create_fresh(folder: &Path, create: impl Fn(&Path) -> io::Result<()>) -> io::Result<PathBuf> {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    loop {
        let call = CALLS.fetch_add(1, Ordering::Relaxed);
        let temporary = folder.join(format!(".extenso-{}-{call}.tmp", process::id()));
        match create(&temporary) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            done => return done.map(|()| temporary),
        }
    }
}

/// Fills a file that exists and waits until the bytes are on the disk.
pub(super) fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::options().write(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Waits until the names in a folder are on the disk, where the system has such a call.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
