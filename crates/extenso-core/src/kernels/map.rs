//! Elementwise kernels over blocks, one per dtype, from one formula each.
//!
//! A block is a run of elements as bytes: numbers in the machine's order, booleans packed into 64-bit words. Half-width
//! floats compute in f32 and are rounded once. The macros turn a formula into a table by dtype.

use super::angles::{cos_f32, cos_f64, sin_f32, sin_f64};
use super::bases::{expm1_f32, expm1_f64};
use super::elementary::{self, exp_f32, exp_f64, log_f32, log_f64, log1p_f32, log1p_f64, tanh_f32, tanh_f64};
use super::isa::multiversion;
use super::power;
use super::row_products::RowSums;
use extenso_types::DType;
use half::{bf16, f16};

/// Where and why a block failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The position in the block.
    pub index: usize,
    /// What is wrong there.
    pub what: &'static str,
}

/// Whether a block could be computed.
pub type Done = Result<(), Fault>;

/// Computes one block: inputs, output, number of elements.
pub type BlockFn = fn(&[&[u8]], &mut [u8], usize) -> Done;

/// A block function and the dtype of what it writes.
#[derive(Clone, Copy)]
pub struct BlockKernel {
    /// The dtype of the output.
    pub out: DType,
    /// The function.
    pub run: BlockFn,
    /// What sums rows of the output without storing it, for kernels of two arguments.
    pub sums: Option<RowSums>,
}

impl BlockKernel {
    /// A function and the dtype of what it writes.
    pub const fn new(out: DType, run: BlockFn) -> BlockKernel {
        BlockKernel { out, run, sums: None }
    }
}

/// A number and the type that arithmetic on it is done in.
pub trait Number: crate::tensor::Element {
    /// The type of intermediate values.
    type Wide: Copy;
    /// To the wide type, exactly.
    fn widen(self) -> Self::Wide;
    /// From the wide type, rounded to nearest even.
    fn narrow(wide: Self::Wide) -> Self;
}

macro_rules! numbers {
    ($($t:ty)*) => { $(
        impl Number for $t {
            type Wide = $t;
            #[inline(always)]
            fn widen(self) -> $t { self }
            #[inline(always)]
            fn narrow(wide: $t) -> $t { wide }
        }
    )* };
}
numbers! { i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 }

macro_rules! halves {
    ($($t:ty: $widen:ident $narrow:ident;)*) => { $(
        impl Number for $t {
            type Wide = f32;
            #[inline(always)]
            fn widen(self) -> f32 { elementary::$widen(self) }
            #[inline(always)]
            fn narrow(wide: f32) -> $t { elementary::$narrow(wide) }
        }
    )* };
}
halves! { f16: f16_to_f32 f32_to_f16; bf16: bf16_to_f32 f32_to_bf16; }

/// Elementary functions, the same formula on every machine.
///
/// They are of [`elementary`], [`bases`](super::bases), [`angles`](super::angles) and [`power`], and vectorise, but for the sine and the
/// cosine, whose kernels those of [`angles`](super::angles) are. What is not a number is always the canonical NaN.
pub trait Real: Copy {
    /// `e` to this power.
    fn exp_(self) -> Self;
    /// The natural logarithm.
    fn ln_(self) -> Self;
    /// The natural logarithm of 1 and this.
    fn ln_1p_(self) -> Self;
    /// The hyperbolic tangent.
    fn tanh_(self) -> Self;
    /// The sine of an angle in radians.
    fn sin_(self) -> Self;
    /// The cosine of an angle in radians.
    fn cos_(self) -> Self;
    /// `e` to this power, less 1.
    fn exp_m1_(self) -> Self;
    /// This to a power, within 1 ulp.
    fn pow_(self, power: Self) -> Self;
    /// This to the power 2, the very number that `pow_` gives.
    fn square_(self) -> Self;
    /// This to the power 0.5, the very number that `pow_` gives.
    fn root_(self) -> Self;
}

macro_rules! reals {
    ($($t:ty {
        $($name:ident $ours:ident),*;
        $pow:ident $square:ident $root:ident;
    })*) => { $(
        impl Real for $t {
            $(
                #[inline(always)]
                fn $name(self) -> $t { $ours(self) }
            )*
            #[inline(always)]
            fn pow_(self, power: $t) -> $t { power::$pow(self, power) }
            #[inline(always)]
            fn square_(self) -> $t { power::$square(self) }
            #[inline(always)]
            fn root_(self) -> $t { power::$root(self) }
        }
    )* };
}
reals! {
    f32 {
        exp_ exp_f32, ln_ log_f32, ln_1p_ log1p_f32, tanh_ tanh_f32, exp_m1_ expm1_f32, sin_ sin_f32, cos_ cos_f32;
        pow_f32 square_f32 root_f32;
    }
    f64 {
        exp_ exp_f64, ln_ log_f64, ln_1p_ log1p_f64, tanh_ tanh_f64, exp_m1_ expm1_f64, sin_ sin_f64, cos_ cos_f64;
        pow_f64 square_f64 root_f64;
    }
}

multiversion! {
    /// Spreads bits into numbers.
    pub fn spread<U: Copy>(bits: &[u64], out: &mut [U], zero: U, one: U) {
        for (o, word) in out.chunks_mut(64).zip(bits) {
            for (i, o) in o.iter_mut().enumerate() {
                *o = if (word >> i) & 1 == 1 { one } else { zero };
            }
        }
    }
}

/// Clears the bits behind the first `n`.
pub fn clear_tail(words: &mut [u64], n: usize) {
    if !n.is_multiple_of(64)
        && let Some(word) = words.get_mut(n / 64)
    {
        *word &= (1 << (n % 64)) - 1;
    }
}

/// Defines `each`, the loop that fills a slice by a formula over the elements of one slice or of two.
///
/// A function of its own where it stands and not an instance of a generic one: an instance would be compiled with the
/// module of the generic function, and an edit of one op would compile those of all ops again.
macro_rules! each {
    (|$x:ident: $t:ty| -> $u:ty $body:block) => {
        $crate::kernels::isa::multiversion! {
            fn each(x: &[$t], out: &mut [$u]) {
                for (o, x) in out.iter_mut().zip(x) {
                    let $x = *x;
                    *o = $body;
                }
            }
        }
    };
    (|$x:ident: $t:ty, $y:ident: $s:ty| -> $u:ty $body:block) => {
        $crate::kernels::isa::multiversion! {
            fn each(x: &[$t], y: &[$s], out: &mut [$u]) {
                for ((o, x), y) in out.iter_mut().zip(x).zip(y) {
                    let ($x, $y) = (*x, *y);
                    *o = $body;
                }
            }
        }
    };
}

/// A block function from a formula over one dtype.
macro_rules! block {
    ($t:ty; |$x:ident| $body:expr) => {{
        type Wide = <$t as $crate::kernels::map::Number>::Wide;
        $crate::kernels::map::each!(|x: $t| -> $t {
            let $x: Wide = $crate::kernels::map::Number::widen(x);
            <$t as $crate::kernels::map::Number>::narrow($body)
        });
        fn run(ins: &[&[u8]], out: &mut [u8], _n: usize) -> $crate::kernels::map::Done {
            each(bytemuck::cast_slice::<u8, $t>(ins[0]), bytemuck::cast_slice_mut::<u8, $t>(out));
            Ok(())
        }
        $crate::kernels::map::BlockKernel::new(<$t as $crate::tensor::Element>::DTYPE, run)
    }};
    ($t:ty; |$x:ident, $y:ident| $body:expr) => {{
        type Wide = <$t as $crate::kernels::map::Number>::Wide;
        $crate::kernels::map::each!(|x: $t, y: $t| -> $t {
            let ($x, $y): (Wide, Wide) =
                ($crate::kernels::map::Number::widen(x), $crate::kernels::map::Number::widen(y));
            <$t as $crate::kernels::map::Number>::narrow($body)
        });
        fn run(ins: &[&[u8]], out: &mut [u8], _n: usize) -> $crate::kernels::map::Done {
            let (x, y) = (bytemuck::cast_slice::<u8, $t>(ins[0]), bytemuck::cast_slice::<u8, $t>(ins[1]));
            each(x, y, bytemuck::cast_slice_mut::<u8, $t>(out));
            Ok(())
        }
        $crate::kernels::map::BlockKernel::new(<$t as $crate::tensor::Element>::DTYPE, run)
    }};
}

/// A block function from a predicate over one dtype.
macro_rules! predicate {
    ($t:ty; |$x:ident| $body:expr) => {{
        $crate::kernels::isa::multiversion! {
            fn each(x: &[$t], out: &mut [u64]) {
                $crate::kernels::bits::test(x, out, |x: $t| {
                    let $x = $crate::kernels::map::Number::widen(x);
                    $body
                })
            }
        }
        fn run(ins: &[&[u8]], out: &mut [u8], _n: usize) -> $crate::kernels::map::Done {
            each(bytemuck::cast_slice::<u8, $t>(ins[0]), bytemuck::cast_slice_mut::<u8, u64>(out));
            Ok(())
        }
        $crate::kernels::map::BlockKernel::new(extenso_types::DType::Bool, run)
    }};
    ($t:ty; |$x:ident, $y:ident| $body:expr) => {{
        $crate::kernels::isa::multiversion! {
            fn each(x: &[$t], y: &[$t], out: &mut [u64]) {
                $crate::kernels::bits::compare(x, y, out, |x: $t, y: $t| {
                    let ($x, $y) = ($crate::kernels::map::Number::widen(x), $crate::kernels::map::Number::widen(y));
                    $body
                })
            }
        }
        fn run(ins: &[&[u8]], out: &mut [u8], _n: usize) -> $crate::kernels::map::Done {
            let (x, y) = (bytemuck::cast_slice::<u8, $t>(ins[0]), bytemuck::cast_slice::<u8, $t>(ins[1]));
            each(x, y, bytemuck::cast_slice_mut::<u8, u64>(out));
            Ok(())
        }
        $crate::kernels::map::BlockKernel::new(extenso_types::DType::Bool, run)
    }};
}

/// A block function from a formula over words of 64 booleans.
macro_rules! bit_block {
    (|$x:ident| $body:expr) => {{
        $crate::kernels::map::each!(|$x: u64| -> u64 { $body });
        fn run(ins: &[&[u8]], out: &mut [u8], n: usize) -> $crate::kernels::map::Done {
            let out = bytemuck::cast_slice_mut::<u8, u64>(out);
            each(bytemuck::cast_slice::<u8, u64>(ins[0]), out);
            $crate::kernels::map::clear_tail(out, n);
            Ok(())
        }
        $crate::kernels::map::BlockKernel::new(extenso_types::DType::Bool, run)
    }};
    (|$x:ident, $y:ident| $body:expr) => {{
        $crate::kernels::map::each!(|$x: u64, $y: u64| -> u64 { $body });
        fn run(ins: &[&[u8]], out: &mut [u8], n: usize) -> $crate::kernels::map::Done {
            let out = bytemuck::cast_slice_mut::<u8, u64>(out);
            each(bytemuck::cast_slice::<u8, u64>(ins[0]), bytemuck::cast_slice::<u8, u64>(ins[1]), out);
            $crate::kernels::map::clear_tail(out, n);
            Ok(())
        }
        $crate::kernels::map::BlockKernel::new(extenso_types::DType::Bool, run)
    }};
}

/// Picks the kernel of a dtype from a group of dtypes.
macro_rules! by_dtype {
    ($dtype:expr, bits, $make:ident, $($f:tt)*) => {
        match $dtype {
            extenso_types::DType::Bool => Some($crate::kernels::map::bit_block!($($f)*)),
            _ => None,
        }
    };
    ($dtype:expr, floats, $make:ident, $($f:tt)*) => {
        match $dtype {
            extenso_types::DType::F16 => Some($crate::kernels::map::$make!(half::f16; $($f)*)),
            extenso_types::DType::BF16 => Some($crate::kernels::map::$make!(half::bf16; $($f)*)),
            extenso_types::DType::F32 => Some($crate::kernels::map::$make!(f32; $($f)*)),
            extenso_types::DType::F64 => Some($crate::kernels::map::$make!(f64; $($f)*)),
            _ => None,
        }
    };
    ($dtype:expr, signed, $make:ident, $($f:tt)*) => {
        match $dtype {
            extenso_types::DType::I8 => Some($crate::kernels::map::$make!(i8; $($f)*)),
            extenso_types::DType::I16 => Some($crate::kernels::map::$make!(i16; $($f)*)),
            extenso_types::DType::I32 => Some($crate::kernels::map::$make!(i32; $($f)*)),
            extenso_types::DType::I64 => Some($crate::kernels::map::$make!(i64; $($f)*)),
            _ => None,
        }
    };
    ($dtype:expr, unsigned, $make:ident, $($f:tt)*) => {
        match $dtype {
            extenso_types::DType::U8 => Some($crate::kernels::map::$make!(u8; $($f)*)),
            extenso_types::DType::U16 => Some($crate::kernels::map::$make!(u16; $($f)*)),
            extenso_types::DType::U32 => Some($crate::kernels::map::$make!(u32; $($f)*)),
            extenso_types::DType::U64 => Some($crate::kernels::map::$make!(u64; $($f)*)),
            _ => None,
        }
    };
    ($dtype:expr, ints, $make:ident, $($f:tt)*) => {
        $crate::kernels::map::by_dtype!($dtype, signed, $make, $($f)*)
            .or_else(|| $crate::kernels::map::by_dtype!($dtype, unsigned, $make, $($f)*))
    };
    ($dtype:expr, numbers, $make:ident, $($f:tt)*) => {
        $crate::kernels::map::by_dtype!($dtype, ints, $make, $($f)*)
            .or_else(|| $crate::kernels::map::by_dtype!($dtype, floats, $make, $($f)*))
    };
}

/// The kernels of an elementwise op by the dtype that its arguments share: `map!(ints: |x, y| ...; floats: |x, y| ...)`.
macro_rules! map {
    (@with $make:ident $($group:ident: |$($x:ident),*| $body:expr);+ $(;)?) => {{
        fn lookup(dtypes: &[extenso_types::DType], _: &dyn $crate::attrs::AttrSet) -> Option<$crate::kernels::map::BlockKernel> {
            let first = *dtypes.first()?;
            if dtypes.iter().any(|d| *d != first) {
                return None;
            }
            $(
                if let Some(kernel) = $crate::kernels::map::by_dtype!(first, $group, $make, |$($x),*| $body) {
                    return Some(kernel);
                }
            )+
            None
        }
        lookup as $crate::elementwise::Lookup
    }};
    (test $($rules:tt)*) => { $crate::kernels::map::map!(@with predicate $($rules)*) };
    ($($rules:tt)*) => { $crate::kernels::map::map!(@with block $($rules)*) };
}

pub(crate) use {bit_block, block, by_dtype, each, map, predicate};
