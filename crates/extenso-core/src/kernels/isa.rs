//! Which instruction set the kernels run on, and the macro that compiles one body for each.
//!
//! Invariant: the choice never changes a result. A body states every fused multiply-add through `mul_add`, which is
//! correctly rounded in every instruction set, and nothing else is contracted or reordered.
//! Does not choose algorithms: a kernel whose shape depends on the number of registers asks [`isa`] itself.

use std::cell::Cell;
use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

/// An instruction set that kernels are compiled for, from the least to the most able.
///
/// Anything but x86-64 has `Baseline` alone, which there includes what every such processor has (NEON, for one).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Isa {
    /// What the compiler may assume everywhere; on x86-64, SSE2. A fused multiply-add is a call to libm there.
    Baseline,
    /// AVX2 with FMA, BMI1, BMI2, LZCNT, POPCNT and F16C (x86-64-v3).
    Avx2,
    /// AVX-512 F, BW, DQ, VL and CD, and all of AVX2 (x86-64-v4).
    Avx512,
}

/// Gives the instruction set that kernels called on this thread use: the best supported one, unless the environment
/// variable `EXTENSO_ISA` or [`with_isa`] says otherwise.
#[inline]
pub fn isa() -> Isa {
    CURRENT.get().unwrap_or_else(enter_process_isa)
}

/// Gives the instruction sets that this machine runs, the least able first.
pub fn supported() -> &'static [Isa] {
    static BEST: OnceLock<Isa> = OnceLock::new();
    let best = *BEST.get_or_init(detect);
    &ALL[..=best as usize]
}

/// Runs `f` with the kernels of this thread on `isa`, or on the best supported set below it.
///
/// Other threads are not affected, those that `f` hands work to included.
pub fn with_isa<R>(isa: Isa, f: impl FnOnce() -> R) -> R {
    struct Restore(Option<Isa>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0);
        }
    }
    let _restore = Restore(CURRENT.replace(Some(isa.min(best()))));
    f()
}

const ALL: [Isa; 3] = [Isa::Baseline, Isa::Avx2, Isa::Avx512];

thread_local! {
    // One thread-local read serves both the cache and the override. `None` until the thread's first kernel.
    // Invariant: what stands here is supported; the dispatch in `multiversion!` relies on it.
    static CURRENT: Cell<Option<Isa>> = const { Cell::new(None) };
}

#[cold]
fn enter_process_isa() -> Isa {
    static PROCESS: OnceLock<Isa> = OnceLock::new();
    let isa = *PROCESS.get_or_init(|| match std::env::var_os("EXTENSO_ISA") {
        Some(text) => chosen(&text.to_string_lossy()),
        None => best(),
    });
    CURRENT.set(Some(isa));
    isa
}

fn chosen(text: &str) -> Isa {
    match text.parse::<Isa>() {
        Ok(isa) if isa <= best() => isa,
        Ok(isa) => {
            eprintln!("EXTENSO_ISA: this machine does not support {isa}. Kernels use {} instead.", best());
            best()
        }
        Err(error) => {
            eprintln!("EXTENSO_ISA: {error} Kernels use {}.", best());
            best()
        }
    }
}

fn best() -> Isa {
    supported().last().copied().unwrap_or(Isa::Baseline)
}

#[cfg(target_arch = "x86_64")]
fn detect() -> Isa {
    macro_rules! has {
        ($($feature:tt),*) => { $(std::arch::is_x86_feature_detected!($feature))&&* };
    }
    if !has!("avx2", "fma", "bmi1", "bmi2", "lzcnt", "popcnt", "f16c") {
        Isa::Baseline
    } else if !has!("avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd") {
        Isa::Avx2
    } else {
        Isa::Avx512
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn detect() -> Isa {
    Isa::Baseline
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Isa::Baseline => "baseline",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512",
        })
    }
}

impl FromStr for Isa {
    type Err = UnknownIsa;

    fn from_str(text: &str) -> Result<Isa, UnknownIsa> {
        let same = |isa: &Isa| text.trim().eq_ignore_ascii_case(&isa.to_string());
        ALL.into_iter().find(same).ok_or_else(|| UnknownIsa(text.to_owned()))
    }
}

/// The error of parsing an [`Isa`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownIsa(String);

impl fmt::Display for UnknownIsa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` names no instruction set. Wanted: baseline, avx2 or avx512.", self.0)
    }
}

impl std::error::Error for UnknownIsa {}

/// Defines functions whose body is compiled once per instruction set and chosen by [`isa`] at each call.
///
/// What the body calls takes part when it is inlined, so helpers are `#[inline(always)]`; closures are inlined as they
/// are. Generic parameters are types with bounds such as `R: Reducer<T> + Copy` or `F: Fn(T) -> T`; a list that would
/// end in `>>` ends in `>,>`. Every argument is `name: Type`.
///
/// ```text
/// multiversion! {
///     /// Doubles.
///     pub fn double(x: &[f32], out: &mut [f32]) {
///         for (o, x) in out.iter_mut().zip(x) { *o = 2.0 * x }
///     }
/// }
/// ```
macro_rules! multiversion {
    ($(
        $(#[$meta:meta])*
        $vis:vis fn $name:ident
            $(< $( $G:ident $(
                : $B:ident $(< $($BA:ty),* >)? $(+ $C:ident $(< $($CA:ty),* >)?)* $(( $($FA:ty),* ) -> $FR:ty)?
            )? ),+ $(,)? >)?
            ( $( $arg:ident : $ty:ty ),* $(,)? ) $( -> $ret:ty )?
        $body:block
    )+) => {$(
        $(#[$meta])*
        #[allow(unsafe_code, clippy::too_many_arguments)]
        $vis fn $name
            $(< $( $G $( : $B $(< $($BA),* >)? $(+ $C $(< $($CA),* >)?)* $(( $($FA),* ) -> $FR)? )? ),+ >)?
            ( $( $arg : $ty ),* ) $( -> $ret )?
        {
            #[inline(always)]
            fn body
                $(< $( $G $( : $B $(< $($BA),* >)? $(+ $C $(< $($CA),* >)?)* $(( $($FA),* ) -> $FR)? )? ),+ >)?
                ( $( $arg : $ty ),* ) $( -> $ret )?
            $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
            fn avx2
                $(< $( $G $( : $B $(< $($BA),* >)? $(+ $C $(< $($CA),* >)?)* $(( $($FA),* ) -> $FR)? )? ),+ >)?
                ( $( $arg : $ty ),* ) $( -> $ret )?
            {
                body $(::< $($G),+ >)? ( $($arg),* )
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd")]
            #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
            fn avx512
                $(< $( $G $( : $B $(< $($BA),* >)? $(+ $C $(< $($CA),* >)?)* $(( $($FA),* ) -> $FR)? )? ),+ >)?
                ( $( $arg : $ty ),* ) $( -> $ret )?
            {
                body $(::< $($G),+ >)? ( $($arg),* )
            }

            match $crate::kernels::isa::isa() {
                // SAFETY: `isa()` only gives instruction sets that this machine was found to support.
                #[cfg(target_arch = "x86_64")]
                $crate::kernels::isa::Isa::Avx2 => unsafe { avx2 $(::< $($G),+ >)? ( $($arg),* ) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                $crate::kernels::isa::Isa::Avx512 => unsafe { avx512 $(::< $($G),+ >)? ( $($arg),* ) },
                #[cfg(not(target_arch = "x86_64"))]
                $crate::kernels::isa::Isa::Avx2 | $crate::kernels::isa::Isa::Avx512 => {
                    body $(::< $($G),+ >)? ( $($arg),* )
                }
                $crate::kernels::isa::Isa::Baseline => body $(::< $($G),+ >)? ( $($arg),* ),
            }
        }
    )+};
}
pub(crate) use multiversion;

#[cfg(test)]
mod tests {
    use super::*;

    multiversion! {
        fn nothing() {}

        fn fold<T: Copy, A, F: Fn(A, T) -> A>(x: &[T], start: A, f: F) -> A {
            let mut acc = start;
            for &x in x {
                acc = f(acc, x);
            }
            acc
        }

        fn total<T: Copy + Into<f64>,>(x: &[T]) -> f64 {
            if x.is_empty() {
                return 0.0;
            }
            x.iter().map(|&x| x.into()).sum()
        }
    }

    #[test]
    fn every_isa_is_chosen_by_its_name() {
        for isa in ALL {
            assert_eq!(isa.to_string().parse(), Ok(isa));
        }
        assert_eq!("AVX2 ".parse(), Ok(Isa::Avx2));
        assert!("sse9".parse::<Isa>().is_err());
        assert_eq!(chosen("sse9"), best());
        assert_eq!(chosen("baseline"), Isa::Baseline);
    }

    #[test]
    fn an_override_ends_with_its_scope() {
        let before = isa();
        for &wanted in supported() {
            assert_eq!(with_isa(wanted, isa), wanted);
        }
        let panicked = std::panic::catch_unwind(|| with_isa(Isa::Baseline, || std::panic::resume_unwind(Box::new(()))));
        assert!(panicked.is_err());
        assert_eq!(isa(), before);
        assert!(with_isa(Isa::Avx512, isa) <= best());
    }

    #[test]
    fn fused_multiply_add_is_fused_in_every_isa() {
        let (x, y) = (1.0 + f32::EPSILON, 1.0 - f32::EPSILON);
        for &isa in supported() {
            let fused = with_isa(isa, || fold(&[x], -1.0, |acc: f32, x| x.mul_add(y, acc)));
            assert_eq!(fused, -(f32::EPSILON * f32::EPSILON), "{isa}");
            assert_eq!(with_isa(isa, || total(&[1.5_f32, 2.0])), 3.5);
            with_isa(isa, nothing);
        }
    }
}
