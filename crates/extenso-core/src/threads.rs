//! How many threads large work may use.
//!
//! Invariant: the number never changes a result, only the time it takes.

use crate::kernels::isa::{isa, with_isa};
use rayon::{ThreadPool, ThreadPoolBuilder, Yield};
use std::cell::Cell;
use std::collections::VecDeque;
use std::hint::spin_loop;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Work below this many elements stays on the calling thread.
const PARALLEL: usize = 1 << 16;

/// The most pieces for each thread.
const PER_THREAD: usize = 16;

/// More threads than this no work is split over, whatever is asked for.
const MOST: usize = 1 << 10;

/// How long a helper that has nothing to do stays awake, as the next piece of a program often comes at once: to wake a thread takes
/// as long as a small piece, and a system that spares its cores lets it begin on a core that is at work already.
const AWAKE: Duration = Duration::from_micros(200);

thread_local! {
    static OVERRIDE: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The number of threads that large work on this thread is split over: `EXTENSO_THREADS`, or the machine's; from 1 to 1024.
pub fn threads() -> usize {
    OVERRIDE.get().unwrap_or_else(threads_of_process)
}

fn threads_of_process() -> usize {
    static PROCESS: OnceLock<usize> = OnceLock::new();
    *PROCESS.get_or_init(|| {
        let wanted = std::env::var("EXTENSO_THREADS").ok().and_then(|text| text.parse().ok());
        wanted.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)).clamp(1, MOST)
    })
}

/// Runs `f` with large work of this thread split over `n` threads, or the nearest number that there may be.
pub fn with_threads<R>(n: usize, f: impl FnOnce() -> R) -> R {
    struct Restore(Option<usize>);
    impl Drop for Restore {
        fn drop(&mut self) {
            OVERRIDE.set(self.0);
        }
    }
    let _restore = Restore(OVERRIDE.replace(Some(n.clamp(1, MOST))));
    f()
}

/// The number of pieces that work on so many elements is cut into: one alone where there is little, otherwise some for each
/// thread, so that none waits long for another.
pub fn pieces(work: usize) -> usize {
    pieces_of(work, PARALLEL)
}

/// The same, where `little` elements are too few to be cut.
pub fn pieces_of(work: usize, little: usize) -> usize {
    match threads() {
        1 => 1,
        _ if work < little => 1,
        threads => (work.saturating_mul(2) / little).clamp(threads, PER_THREAD * threads),
    }
}

/// Gives what `f` makes of each item, in order; several items are worked on side by side.
///
/// The calling thread works too. It would otherwise sleep, and its core with it until the system moves a thread there. In a process
/// that was forked it works alone.
pub fn side_by_side<T: Send, R: Send>(items: Vec<T>, f: impl Fn(T) -> R + Sync) -> Vec<R> {
    let helpers = threads().min(items.len()).saturating_sub(1);
    let Some(pool) = (if helpers == 0 || is_forked() { None } else { pool() }) else {
        return items.into_iter().map(f).collect();
    };
    let mut made: Vec<Option<R>> = items.iter().map(|_| None).collect();
    let left = Mutex::new(items.into_iter().zip(&mut made));
    let next = || locked(&left).next();
    together(pool, helpers, || {
        while let Some((item, place)) = next() {
            *place = Some(f(item));
        }
    });
    made.into_iter().flatten().collect()
}

/// Gives what `make` makes of each item that `next` gives to `hand_on`, in order, until it says to stop; several items are worked on
/// side by side.
///
/// `next` and `hand_on` run on one thread at a time, whichever is free. Little is held at once: who is far ahead of the first
/// item that is not handed on waits for it. Inside all three, work is not split again: a thread that waits for its parts could
/// take up another item, and wait for itself.
pub fn in_order<T: Send, R: Send>(
    mut next: impl FnMut() -> Option<T> + Send,
    make: impl Fn(T) -> R + Sync,
    mut hand_on: impl FnMut(R) -> ControlFlow<()> + Send,
) {
    let helpers = threads() - 1;
    let Some(pool) = (if helpers == 0 || is_forked() { None } else { pool() }) else {
        while let Some(item) = next() {
            if hand_on(make(item)).is_break() {
                return;
            }
        }
        return;
    };
    let queue = Queue::new(AHEAD * (helpers + 1));
    let (next, hand_on) = (Mutex::new((0, next)), Mutex::new(hand_on));
    let take = || {
        let mut next = locked(&next);
        let number = next.0;
        next.0 += 1;
        queue.wait_for_room(number).then(|| next.1())?.map(|item| (number, item))
    };
    let work = || {
        // A panic would let the others wait for what never comes.
        let _stop = StopOnPanic(&queue);
        while let Some((number, item)) = take() {
            queue.put(number, make(item));
            // Whoever hands on does so until nothing is left; what comes between its last look and its leaving is looked for again.
            while queue.is_ready() {
                let Ok(mut hand_on) = hand_on.try_lock() else { break };
                while let Some(made) = queue.take() {
                    if hand_on(made).is_break() {
                        queue.stop();
                    }
                }
            }
        }
    };
    together(pool, helpers, || with_threads(1, work));
}

/// How many items each thread may be ahead of the first that is not handed on.
const AHEAD: usize = 8;

/// What is made and not handed on yet.
struct Queue<R> {
    state: Mutex<Waiting<R>>,
    moved: Condvar,
    most: usize,
}

struct Waiting<R> {
    /// The number of the first item that is not handed on.
    first: usize,
    /// What was made of that item and those behind it.
    made: VecDeque<Option<R>>,
    stopped: bool,
}

impl<R> Queue<R> {
    fn new(most: usize) -> Queue<R> {
        let state = Waiting { first: 0, made: VecDeque::new(), stopped: false };
        Queue { state: Mutex::new(state), moved: Condvar::new(), most }
    }

    /// Waits until there is room for this item; false if there is no more to do.
    fn wait_for_room(&self, number: usize) -> bool {
        let full = |state: &mut Waiting<R>| !state.stopped && number >= state.first + self.most;
        let state = self.moved.wait_while(locked(&self.state), full);
        !state.unwrap_or_else(PoisonError::into_inner).stopped
    }

    fn put(&self, number: usize, made: R) {
        let mut state = locked(&self.state);
        let place = number - state.first;
        while state.made.len() <= place {
            state.made.push_back(None);
        }
        state.made[place] = Some(made);
    }

    fn is_ready(&self) -> bool {
        let state = locked(&self.state);
        !state.stopped && matches!(state.made.front(), Some(Some(_)))
    }

    /// What was made of the next item, if it was.
    fn take(&self) -> Option<R> {
        let mut state = locked(&self.state);
        if state.stopped || !matches!(state.made.front(), Some(Some(_))) {
            return None;
        }
        state.first += 1;
        self.moved.notify_all();
        state.made.pop_front().flatten()
    }

    fn stop(&self) {
        locked(&self.state).stopped = true;
        self.moved.notify_all();
    }
}

struct StopOnPanic<'a, R>(&'a Queue<R>);

impl<R> Drop for StopOnPanic<'_, R> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs the same work on the calling thread and on so many helpers.
fn together(pool: &'static ThreadPool, helpers: usize, work: impl Fn() + Sync) {
    let isa = isa();
    let at_work = AtomicUsize::new(0);
    let work = || {
        with_isa(isa, || {
            at_work.fetch_add(1, Ordering::Relaxed);
            work();
            at_work.fetch_sub(1, Ordering::Relaxed);
        });
    };
    cores::leave_this_one_to_the_caller();
    keep_awake(pool);
    pool.in_place_scope(|scope| {
        (0..helpers).for_each(|_| scope.spawn(|_| work()));
        work();
        let start = Instant::now();
        while at_work.load(Ordering::Relaxed) > 0 && start.elapsed() < AWAKE {
            spin_loop();
        }
    });
}

/// The helpers of all threads, one at least; none where the system gives no more threads.
fn pool() -> Option<&'static ThreadPool> {
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    let made = || {
        let workers = ThreadPoolBuilder::new().num_threads(threads_of_process().max(2) - 1);
        workers.thread_name(|_| "extenso".to_owned()).start_handler(|_| cores::register()).build().ok()
    };
    POOL.get_or_init(made).as_ref()
}

/// Lets the helpers look for work until there was none for a while.
fn keep_awake(pool: &'static ThreadPool) {
    static WATCHES: AtomicUsize = AtomicUsize::new(0);
    while WATCHES.load(Ordering::Relaxed) < pool.current_num_threads() {
        WATCHES.fetch_add(1, Ordering::Relaxed);
        pool.spawn(|| {
            let mut idle = Instant::now();
            while idle.elapsed() < AWAKE {
                match rayon::yield_now() {
                    Some(Yield::Executed) => idle = Instant::now(),
                    _ => spin_loop(),
                }
            }
            WATCHES.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

/// Whether this process was forked from one that had its threads already: they are not here, and who waits for them waits forever.
fn is_forked() -> bool {
    static FIRST: OnceLock<u32> = OnceLock::new();
    let process = std::process::id();
    *FIRST.get_or_init(|| process) != process
}

/// Where helpers run.
///
/// A system may let a thread that wakes begin on the core of the one that woke it, although another is idle, and leave both there
/// for some milliseconds: all of what is to be done. So helpers are kept off the core that the caller is on.
#[cfg(target_os = "linux")]
mod cores {
    use rustix::thread::{Pid, gettid, sched_getaffinity, sched_getcpu, sched_setaffinity};
    use std::sync::{Mutex, PoisonError};

    /// The helpers, and the core that they are kept off.
    static HELPERS: Mutex<(Vec<Pid>, Option<usize>)> = Mutex::new((Vec::new(), None));

    pub(super) fn register() {
        let mut helpers = HELPERS.lock().unwrap_or_else(PoisonError::into_inner);
        helpers.0.push(gettid());
        helpers.1 = None;
    }

    /// Keeps helpers off the core of the calling thread, if they may run on others and it is not one of them.
    pub(super) fn leave_this_one_to_the_caller() {
        if rayon::current_thread_index().is_some() {
            return;
        }
        // Whoever holds it does the same; where helpers run changes no result.
        let Ok(mut helpers) = HELPERS.try_lock() else { return };
        let here = sched_getcpu();
        if helpers.1 == Some(here) {
            return;
        }
        let Ok(mut cores) = sched_getaffinity(None) else { return };
        cores.unset(here);
        if cores.count() > 0 {
            for helper in &helpers.0 {
                let _ = sched_setaffinity(Some(*helper), &cores);
            }
            helpers.1 = Some(here);
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod cores {
    pub(super) fn register() {}
    pub(super) fn leave_this_one_to_the_caller() {}
}

/// Cuts a slice into parts of these lengths.
pub fn split_at_lengths<T>(mut all: &mut [T], lengths: impl IntoIterator<Item = usize>) -> Vec<&mut [T]> {
    let mut parts = Vec::new();
    for n in lengths {
        let (part, rest) = all.split_at_mut(n);
        parts.push(part);
        all = rest;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_is_handed_on_in_order() {
        for (threads, n, stop) in [(1, 50, 50), (2, 0, 9), (2, 1, 9), (3, 500, 500), (4, 500, 77)] {
            let (mut items, mut got) = (0..n, Vec::new());
            let make = |i: usize| {
                (0..(i * 7919) % 997).for_each(|_| spin_loop());
                i * i
            };
            let hand_on = |made| {
                got.push(made);
                if got.len() == stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            with_threads(threads, || in_order(|| items.next(), make, hand_on));
            assert_eq!(got, (0..n.min(stop)).map(|i| i * i).collect::<Vec<_>>(), "{threads} threads");
        }
    }

    #[test]
    fn any_number_of_threads_may_be_asked_for() {
        for n in [0, 1, MOST, usize::MAX] {
            with_threads(n, || {
                assert!((1..=MOST).contains(&threads()), "{n} threads are {}", threads());
                assert!(pieces(usize::MAX) <= MOST * PER_THREAD, "{n} threads");
                let (mut items, mut got) = (0..100, Vec::new());
                let hand_on = |made| {
                    got.push(made);
                    ControlFlow::Continue(())
                };
                in_order(|| items.next(), |i| i, hand_on);
                assert_eq!(got, (0..100).collect::<Vec<_>>(), "{n} threads");
            });
        }
    }

    #[test]
    fn a_panic_lets_nobody_wait() {
        let make = |i: usize| assert_ne!(i, 3, "the item of the test");
        let run = || {
            let mut items = 0..1_000_000;
            with_threads(3, || in_order(|| items.next(), make, |()| ControlFlow::Continue(())));
        };
        assert!(std::panic::catch_unwind(run).is_err());
    }
}
