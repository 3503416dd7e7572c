//! What remains of an input that ends the process: it stands in a file while it runs, and one that hangs ends the run.

use crate::driver::PER_INPUT;
use std::fs::File;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The input that runs now, in a file.
pub struct Watch {
    file: File,
}

/// How many inputs began so far.
static BEGUN: AtomicU64 = AtomicU64::new(0);

impl Watch {
    /// The file of this name, emptied.
    ///
    /// Errors: those of the file system.
    pub fn new(path: &Path) -> std::io::Result<Watch> {
        Ok(Watch { file: File::create(path)? })
    }

    /// Notes the input that runs next. What the file system refuses is not noted.
    pub fn begin(&mut self, input: &[u8]) {
        BEGUN.fetch_add(1, Ordering::Relaxed);
        let written = self.file.rewind().and_then(|()| self.file.write_all(input));
        let len = u64::try_from(input.len()).unwrap_or(0);
        drop(written.and_then(|()| self.file.set_len(len)));
    }
}

/// Ends the process when one input runs for much longer than it may, or waits for something that does not come.
///
/// It counts the seconds in which it looked: a pause of the process is none of them.
pub fn end_when_it_hangs(path: PathBuf) {
    const LONG: u64 = 30;
    std::thread::spawn(move || {
        let (mut last, mut seconds) = (0, 0);
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let now = BEGUN.load(Ordering::Relaxed);
            if now != last {
                (last, seconds) = (now, 0);
            } else if seconds > LONG * PER_INPUT.as_secs() {
                eprintln!("an input runs for {seconds} s; it is in {}", path.display());
                std::process::exit(1);
            } else {
                seconds += 1;
            }
        }
    });
}
