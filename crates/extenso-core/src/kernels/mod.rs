//! Kernels: loops over slices, the only place where arithmetic is done.
//!
//! Invariant: a result depends on the elements alone, never on address, instruction set or threads. Knows nothing of tensors.

#![allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_possible_wrap)]

/// Functions of f32 that are those of f64, rounded once.
macro_rules! narrow {
    ($($name:ident($($x:ident),*) $wide:ident;)*) => { $(
        #[doc = concat!("As [`", stringify!($wide), "`], within 0.51 ulp.")]
        #[inline(always)]
        pub fn $name($($x: f32),*) -> f32 {
            canonical_f32($wide($($x.into()),*) as f32)
        }
    )* };
}

pub mod activation;
pub mod angles;
pub mod arcs;
pub mod bases;
pub mod bits;
pub mod cast;
pub mod columns;
pub mod decimal;
pub mod digits;
pub mod elementary;
pub mod elements;
pub mod errors;
pub mod extremes;
pub mod farm;
pub mod float_lists;
pub mod gamma;
pub mod gather;
pub mod hyperbolic;
pub mod isa;
pub mod map;
pub mod marks;
pub mod matmul;
pub mod means;
pub mod order;
pub mod pool;
pub mod power;
pub mod prefetch;
pub mod quotient;
pub mod radix;
pub mod ranks;
pub mod real;
pub mod reduce;
mod reducers;
pub mod row_products;
pub mod scan;
mod short_rows;
pub mod special;
pub mod stream;
pub mod strided;
pub mod threefry;
pub mod words;

/// An f64 rounded to f32.
pub fn narrow_f32(v: f64) -> f32 {
    v as f32
}
