//! Files and directories that appear under their name whole or not at all.
//!
//! Invariant: what is made under a temporary name is complete before it is renamed, and removed if anything fails. What is saved is synced
//! too, so that a system that fails does not lose it.
//! Where the system has files without a name, a file has none until it is complete, so that a process that is ended leaves nothing.
//! A symbolic link stays, and what it names is written. What is no file, a pipe or a device, is written to as it is.
//! Does not lock: of two writers of one path, the last one wins.

use super::ArchiveError;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes a file, in place of the one at `path` if there is one; a reader sees the old bytes or the new ones.
///
/// Errors: those of the operating system.
pub fn write_atomically(path: impl AsRef<Path>, bytes: &[u8]) -> Result<(), ArchiveError> {
    let new = NewFile::create(path)?;
    let written = new.file().write_all(bytes).and_then(|()| new.sync());
    written.map_err(|e| ArchiveError::io("write", &new.path, e))?;
    let folder = folder_of(&new.path).to_path_buf();
    let (path, is_file) = (new.path.clone(), new.is_file());
    new.publish()?;
    if is_file { sync_folder(&folder).map_err(|e| ArchiveError::io("write", &path, e)) } else { Ok(()) }
}

/// Fills a file, in place of the one at `path` if there is one; a reader sees the old bytes or the new ones.
///
/// It is left to the system when they are on the disk. Errors: those of the operating system, and of `fill`.
pub fn fill_atomically(
    path: impl AsRef<Path>,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), ArchiveError> {
    let mut new = NewFile::create(path)?;
    fill(&mut new.file).map_err(|e| ArchiveError::io("write", &new.path, e))?;
    new.publish()
}

/// A file that is written and has no name yet; where it gets none, it is removed.
pub struct NewFile {
    file: File,
    path: PathBuf,
    place: Place,
}

/// Where the bytes of a new file are until it has its name.
enum Place {
    /// In a file of another name.
    Named(PathBuf),
    /// In a file that has no name.
    #[cfg(target_os = "linux")]
    Unnamed,
    /// In what is no file, such as a pipe, which keeps its name.
    NoFile,
}

impl NewFile {
    /// Begins the file that will be at `path`, with the permissions of the one that is there.
    ///
    /// Errors: those of the operating system.
    pub fn create(path: impl AsRef<Path>) -> Result<NewFile, ArchiveError> {
        let refused = |e: io::Error| ArchiveError::io("write", path.as_ref(), e);
        let path = linked(path.as_ref()).map_err(refused)?;
        let there = fs::metadata(&path).ok();
        if there.as_ref().is_some_and(|there| !there.is_file() && !there.is_dir()) {
            let file = File::options().write(true).open(&path).map_err(refused)?;
            return Ok(NewFile { file, path, place: Place::NoFile });
        }
        let (file, place) = begun(folder_of(&path)).map_err(refused)?;
        let new = NewFile { file, path, place };
        if let Some(there) = there.filter(fs::Metadata::is_file) {
            new.file.set_permissions(there.permissions()).map_err(refused)?;
        }
        Ok(new)
    }

    /// What is written to.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Waits until the bytes are on the disk, if they go to a file.
    ///
    /// Errors: those of the operating system.
    pub fn sync(&self) -> io::Result<()> {
        if self.is_file() { self.file.sync_all() } else { Ok(()) }
    }

    /// Gives the file its name.
    ///
    /// Errors: those of the operating system, which leave no file behind.
    pub fn publish(mut self) -> Result<(), ArchiveError> {
        let refused = |e: io::Error| ArchiveError::io("write", &self.path, e);
        #[cfg(target_os = "linux")]
        if let Place::Unnamed = self.place {
            // A name that is taken is given by renaming alone.
            let named = create_fresh(folder_of(&self.path), |name| unnamed::link(&self.file, name));
            self.place = Place::Named(named.map_err(refused)?.1);
        }
        if let Place::Named(temporary) = &self.place {
            fs::rename(temporary, &self.path).map_err(refused)?;
            self.place = Place::NoFile;
        }
        Ok(())
    }

    fn is_file(&self) -> bool {
        !matches!(self.place, Place::NoFile)
    }
}

/// A file in a folder, without a name where that can be.
fn begun(folder: &Path) -> io::Result<(File, Place)> {
    #[cfg(target_os = "linux")]
    if let Ok(file) = unnamed::create(folder) {
        return Ok((file, Place::Unnamed));
    }
    let (file, temporary) = create_fresh(folder, |temporary| File::create_new(temporary))?;
    Ok((file, Place::Named(temporary)))
}

/// Files without a name (`O_TMPFILE` of Linux).
#[cfg(target_os = "linux")]
mod unnamed {
    use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd;
    use std::path::Path;

    /// A file in a folder, which goes with the last that has it open.
    ///
    /// Errors: a file system that has no such files, or no way to name them later.
    pub fn create(folder: &Path) -> io::Result<File> {
        let file =
            File::from(open(folder, OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC, Mode::from_raw_mode(0o666))?);
        std::fs::symlink_metadata(place(&file))?;
        Ok(file)
    }

    /// Names the file.
    ///
    /// Errors: the name is taken.
    pub fn link(file: &File, name: &Path) -> io::Result<()> {
        Ok(linkat(CWD, place(file), CWD, name, AtFlags::SYMLINK_FOLLOW)?)
    }

    /// Where the system shows an open file.
    fn place(file: &File) -> String {
        format!("/proc/self/fd/{}", file.as_raw_fd())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Place::Named(temporary) = &self.place {
            // That the file may stay is all that can go wrong.
            let _ = fs::remove_file(temporary);
        }
    }
}

/// What the links at a path lead to, which may not be there.
///
/// Errors: links without end.
pub fn linked(path: &Path) -> io::Result<PathBuf> {
    const MOST: usize = 40;
    let mut path = path.to_path_buf();
    for _ in 0..MOST {
        match fs::read_link(&path) {
            Ok(to) => path = folder_of(&path).join(to),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("it is a link to a link, and so on without end"))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes and fills a temporary folder beside `path`, renames it to `path`, and waits until the name is on the disk.
pub(super) fn publish_folder(path: &Path, fill: impl FnOnce(&Path) -> io::Result<()>) -> Result<(), ArchiveError> {
    let folder = folder_of(path);
    let made = create_fresh(folder, |temporary| fs::create_dir(temporary));
    let ((), temporary) = made.map_err(|e| ArchiveError::io("write", path, e))?;
    let done = fill(&temporary).and_then(|()| fs::rename(&temporary, path));
    if done.is_err() {
        // The first error is the one to report; whatever this gives, nothing more can be done.
        let _ = fs::remove_dir_all(&temporary);
    }
    done.and_then(|()| sync_folder(folder)).map_err(|e| ArchiveError::io("write", path, e))
}

/// Tries names until one is free: a process that died may have had this process id, and so may one on another machine.
fn create_fresh<T>(folder: &Path, create: impl Fn(&Path) -> io::Result<T>) -> io::Result<(T, PathBuf)> {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    loop {
        let call = CALLS.fetch_add(1, Ordering::Relaxed);
        let temporary = folder.join(format!(".extenso-{}-{call}.tmp", process::id()));
        match create(&temporary) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            done => return done.map(|made| (made, temporary)),
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
