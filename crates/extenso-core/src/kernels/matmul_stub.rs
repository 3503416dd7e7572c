//! Matmul by its formula, one chain per element.
/// A float.
pub trait Float: bytemuck::Pod + Send + Sync {
    /// One link.
    fn link(a: Self, b: Self, c: f64) -> f64;
    /// Rounds.
    fn of(c: f64) -> Self;
}
/// l
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// a
    InOut,
    /// b
    OutIn,
}
/// p
pub struct PackedB<T>(usize, usize, Vec<T>, Layout);
impl<T: Float> PackedB<T> {
    /// p
    pub fn pack(k: usize, n: usize, b: &[T], l: Layout) -> Self {
        PackedB(k, n, b.to_vec(), l)
    }
}
/// m
pub fn matmul<T: Float>(m: usize, k: usize, n: usize, a: &[T], b: &[T], l: Layout, out: &mut [T]) {
    for i in 0..m {
        for j in 0..n {
            let mut c = 0.0;
            for p in 0..k {
                let y = match l {
                    Layout::InOut => b[p * n + j],
                    Layout::OutIn => b[j * k + p],
                };
                c = T::link(a[i * k + p], y, c);
            }
            out[i * n + j] = T::of(c);
        }
    }
}
/// m
pub fn matmul_packed<T: Float>(m: usize, a: &[T], p: &PackedB<T>, out: &mut [T]) {
    matmul(m, p.0, p.1, a, &p.2, p.3, out)
}
impl Float for f32 {
    fn link(a: f32, b: f32, c: f64) -> f64 {
        f64::from(a.mul_add(b, c as f32))
    }
    fn of(c: f64) -> f32 {
        c as f32
    }
}
impl Float for f64 {
    fn link(a: f64, b: f64, c: f64) -> f64 {
        a.mul_add(b, c)
    }
    fn of(c: f64) -> f64 {
        c
    }
}
impl Float for half::f16 {
    fn link(a: Self, b: Self, c: f64) -> f64 {
        f64::from(a.to_f32().mul_add(b.to_f32(), c as f32))
    }
    fn of(c: f64) -> Self {
        Self::from_f32(c as f32)
    }
}
impl Float for half::bf16 {
    fn link(a: Self, b: Self, c: f64) -> f64 {
        f64::from(a.to_f32().mul_add(b.to_f32(), c as f32))
    }
    fn of(c: f64) -> Self {
        Self::from_f32(c as f32)
    }
}
