//! The time that this process had a processor: what others do on the machine, and a pause, do not lengthen it.

use std::time::Duration;

/// The processor time that all threads of this process used so far.
#[cfg(unix)]
pub fn used() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(u64::try_from(now.tv_sec).unwrap_or(0), u32::try_from(now.tv_nsec).unwrap_or(0))
}

/// The time that passed since the first call.
#[cfg(not(unix))]
pub fn used() -> Duration {
    use std::sync::OnceLock;
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}
