//! Matmul (being written).
/// f
pub trait Float: Copy + Send + Sync {
    /// z
    fn fma(a: Self, b: Self, c: f32) -> f32;
}
/// l
#[derive(Clone, Copy)]
pub enum Layout {
    /// a
    InOut,
    /// b
    OutIn,
}
/// p
pub struct PackedB<T>(Vec<T>);
impl<T: Copy> PackedB<T> {
    /// p
    pub fn pack(_k: usize, _n: usize, b: &[T], _l: Layout) -> Self {
        PackedB(b.to_vec())
    }
}
/// m
pub fn matmul<T>(_m: usize, _k: usize, _n: usize, _a: &[T], _b: &[T], _l: Layout, _out: &mut [T]) {}
/// m
pub fn matmul_packed<T>(_m: usize, _a: &[T], _p: &PackedB<T>, _out: &mut [T]) {}
macro_rules! i { ($($t:ty)*) => { $(impl Float for $t { fn fma(_a: Self, _b: Self, c: f32) -> f32 { c } })* } }
i! { f32 f64 half::f16 half::bf16 }
