//! Products of matrices.

use crate::attrs::{AttrSet, Attrs};
use crate::elementwise::{Ended, Epilogue, InPlace, at_position};
use crate::grad::GradCx;
use crate::kernels::matmul::{
    Float, Layout, PackedB, ROWS, TILE_ROWS, dots, has_few_columns, is_dots, matmul as kernel, matmul_packed,
    reads_panels,
};
use crate::kernels::pool::{Block, affordable};
use crate::op::{Class, OpDef, OutputSpecs};
use crate::ops::{sum_like, transpose};
use crate::tensor::{Dense, Element, Storage, Tensor, element_count};
use crate::threads::{pieces_of, side_by_side};
use crate::value::{Outputs, Value};
use extenso_types::{DType, Dims, Error, LeafSpec, Result, Shape, TensorSpec, broadcast_dims};
use half::{bf16, f16};
use smallvec::{SmallVec, smallvec};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

crate::attrs! {
    /// The attributes of `matmul`.
    pub struct MatMul { transpose_y: bool = false }
}

crate::ops! {
    /// Products of matrices.
    pub static LINEAR;

    /// The matrix product over the last two axes; axes before them broadcast, vectors are rows on the left and columns on the right.
    ///
    /// With `transpose_y` the last two axes of `y` are exchanged: weights stored as `[out, in]`. Every element is one chain of
    /// fused multiply-adds in increasing order of the inner axis; of a product with one column and more steps than 256 bytes
    /// have elements, as many chains as those, added by halves. A zero is +0. So a row has the bits that it has in any batch.
    ///
    /// Errors: scalars, inner sizes that differ, dtypes that differ or are not numbers.
    MATMUL: matmul(x, y; MatMul { transpose_y: bool }) = OpDef::general(Class::Linear, infer_matmul, run_matmul)
        .grad(grad_matmul)
        .epilogue(run_epilogue)
        .examples(&[
            ("matmul([[1.0, 2.0], [3.0, 4.0]], [[1.0], [10.0]])", "[[21.0], [43.0]]"),
            ("matmul([1.0, 2.0], [[1.0, 10.0]], transpose_y=True)", "[21.0]"),
        ]);
}

/// Sizes of one product: batch, rows, inner, columns.
struct Sizes<D> {
    batch: SmallVec<[D; 4]>,
    rows: Option<D>,
    columns: Option<D>,
}

fn infer_matmul(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let transposed = MatMul::of(attrs)?.transpose_y;
    let [x, y] = args else { return Err(Error::value("two arguments are wanted")) };
    let (x, y) = (x.tensor()?, y.tensor()?);
    if x.dtype != y.dtype {
        return Err(Error::dtype(format!("the arguments are {} and {}", x.dtype, y.dtype))
            .wanted("one dtype for both")
            .hint(format!("Write `cast(x, '{}')` around the first.", y.dtype)));
    }
    if !x.dtype.is_numeric() {
        return Err(Error::dtype(format!("the op does not take {}", x.dtype)).wanted("numbers"));
    }
    let (Some(a), Some(b)) = (x.shape.dims(), y.shape.dims()) else {
        return Ok(smallvec![LeafSpec::Tensor(TensorSpec::new(x.dtype, Shape::unknown()))]);
    };
    let sizes = sizes(a, b, transposed, |p, q| p.is_compatible_with(q))?;
    let (ba, bb) = (&a[..a.len().saturating_sub(2)], &b[..b.len().saturating_sub(2)]);
    let batch = Shape::new(ba.iter().copied()).broadcast(&Shape::new(bb.iter().copied()))?;
    let dims = batch.dims().unwrap_or(&[]).iter().copied().chain(sizes.rows).chain(sizes.columns);
    Ok(smallvec![LeafSpec::Tensor(TensorSpec::new(x.dtype, Shape::new(dims)))])
}

fn sizes<D: Copy + std::fmt::Display>(
    a: &[D],
    b: &[D],
    transposed: bool,
    fits: impl Fn(D, D) -> bool,
) -> Result<Sizes<D>> {
    let scalar = || Error::shape("an argument is a scalar").wanted("vectors or matrices").hint("Use `multiply`.");
    let (ka, rows) = match a {
        [] => return Err(scalar()),
        [k] => (*k, None),
        [.., m, k] => (*k, Some(*m)),
    };
    let (kb, columns) = match (b, transposed) {
        ([], _) => return Err(scalar()),
        ([k], _) => (*k, None),
        ([.., k, n], false) | ([.., n, k], true) => (*k, Some(*n)),
    };
    if !fits(ka, kb) {
        return Err(Error::shape(format!("the inner sizes are {ka} and {kb}"))
            .wanted("the last axis of `x` as long as the inner axis of `y`"));
    }
    let batch = a[..a.len().saturating_sub(2)].iter().copied().collect();
    Ok(Sizes { batch, rows, columns })
}

fn run_matmul(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    Ok(smallvec![product(args, attrs, None)?])
}

fn run_epilogue(args: &[Value], attrs: &dyn AttrSet, epilogue: &Epilogue<'_>) -> Result<Value> {
    product(args, attrs, Some(epilogue))
}

fn product(args: &[Value], attrs: &dyn AttrSet, epilogue: Option<&Epilogue<'_>>) -> Result<Value> {
    let transposed = MatMul::of(attrs)?.transpose_y;
    let (x, y) = (args[0].tensor()?.data()?, args[1].tensor()?.data()?);
    let found = sizes(x.dims(), y.dims(), transposed, |p, q| p == q)?;
    let (m, n) = (found.rows.unwrap_or(1), found.columns.unwrap_or(1));
    let k = x.dims().last().copied().unwrap_or(0);
    let y_batch = &y.dims()[..y.dims().len().saturating_sub(2)];
    let batch = broadcast_dims(&found.batch, y_batch)?;
    let dims: Dims = batch.iter().copied().chain(found.rows).chain(found.columns).collect();
    let bytes = element_count(&dims)?.saturating_mul(x.dtype().width().unwrap_or(1));
    affordable(bytes)?;
    let layout = if transposed && found.columns.is_some() { Layout::OutIn } else { Layout::InOut };
    let plan =
        Plan { m, k, n, layout, x_at: starts(&found.batch, &batch, m * k)?, y_at: starts(y_batch, &batch, k * n)? };
    let by_parts = match epilogue {
        Some(epilogue) => epilogue.by_parts(&dims)?,
        None => None,
    };
    let mut block = Block::new(bytes);
    macro_rules! by_dtype {
        (floats: $($d:ident $t:ty),*; ints: $($i:ident $u:ty),*) => {
            match x.dtype() {
                $(DType::$d => plan.floats::<$t>(x, y, block.slice_mut(), by_parts.as_ref())?,)*
                $(DType::$i => {
                    plan.ints(x, y, block.slice_mut(), |a: $u, b: $u, c: $u| a.wrapping_mul(b).wrapping_add(c))?;
                    by_parts.as_ref().map_or(Ok(()), |epilogue| epilogue.run(0, block.bytes_mut()))
                })*
                other => return Err(Error::dtype(format!("the op does not take {other}"))),
            }
        };
    }
    let done = by_dtype!(floats: F16 f16, BF16 bf16, F32 f32, F64 f64;
        ints: I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64);
    done.map_err(|(start, fault)| at_position(fault, start, &dims))?;
    if let (Some(epilogue), None) = (epilogue, by_parts) {
        epilogue.run(&dims, block.bytes_mut())?;
    }
    Ok(Value::Tensor(Tensor::from_dense(x.dtype(), dims, Storage::Fixed(block.elements()))))
}

/// Where products begin; of one, on the stack.
type Starts = SmallVec<[usize; 4]>;

/// Where each product of a batch begins in a source of sizes `from` that broadcasts to `batch`.
fn starts(from: &[usize], batch: &[usize], step: usize) -> Result<Starts> {
    if batch.is_empty() {
        return Ok(smallvec![0]);
    }
    let strides = crate::elementwise::broadcast_strides(from, batch)?;
    let n: usize = batch.iter().product();
    let at = |flat: usize| {
        let mut rest = flat;
        let place = batch.iter().zip(&strides).rev().map(|(d, s)| {
            let i = rest % d;
            rest /= d;
            i * s
        });
        place.sum::<usize>() * step
    };
    Ok((0..n).map(at).collect())
}

/// Weights as products read them, kept with the tensor of them.
struct Kept<T: Float> {
    sizes: (usize, usize, Layout),
    uses: AtomicUsize,
    panels: OnceLock<PackedB<T>>,
}

impl<T: Float + Element> Kept<T> {
    /// The panels: at once where a product would make them anyway, otherwise once it is seen that the weights come again.
    fn panels(&self, m: usize, y: &[T]) -> Option<&PackedB<T>> {
        const AGAIN: usize = 4;
        let (k, n, layout) = self.sizes;
        let wait = || !reads_panels::<T>(m) && self.uses.fetch_add(1, Ordering::Relaxed) < AGAIN;
        if self.panels.get().is_none() && wait() {
            return None;
        }
        Some(self.panels.get_or_init(|| PackedB::pack(k, n, y, layout)))
    }
}

struct Plan {
    m: usize,
    k: usize,
    n: usize,
    layout: Layout,
    x_at: Starts,
    y_at: Starts,
}

impl Plan {
    fn floats<T: Float + Element>(
        &self,
        x: &Dense,
        y: &Dense,
        out: &mut [T],
        then: Option<&InPlace<'_>>,
    ) -> Result<Ended> {
        let is_kept = !is_dots::<T>(self.k, self.n) && !has_few_columns::<T>(self.m, self.n);
        let kept = if is_kept { self.kept::<T>(y)? } else { None };
        let (x, y) = (x.as_slice::<T>()?, y.as_slice::<T>()?);
        let (m, k, n) = (self.m, self.k, self.n);
        if m * n == 0 {
            return Ok(Ok(()));
        }
        let panels = kept.as_ref().and_then(|kept| kept.panels(m, y));
        let one = |(i, out): (usize, &mut [T])| {
            let x = &x[self.x_at[i]..self.x_at[i] + m * k];
            let y = &y[self.y_at[i]..self.y_at[i] + k * n];
            self.product(x, y, panels, out, |row, out| match then {
                Some(then) => then.run((i * m + row) * n, bytemuck::cast_slice_mut(out)),
                None => Ok(()),
            })
        };
        Ok(out.chunks_mut(m * n).enumerate().try_for_each(one))
    }

    /// What is kept with weights that are one matrix; nothing where they are so many that they should not be there twice.
    fn kept<T: Float + Element>(&self, y: &Dense) -> Result<Option<Arc<Kept<T>>>> {
        const MANY: usize = 1 << 22;
        let sizes = (self.k, self.n, self.layout);
        if y.len() != self.k * self.n || y.len() > MANY || y.is_empty() {
            return Ok(None);
        }
        let kept = y.derived(|_| Ok(Kept::<T> { sizes, uses: AtomicUsize::new(0), panels: OnceLock::new() }))?;
        Ok(Some(kept).filter(|kept| kept.sizes == sizes))
    }

    /// One product, split over threads by rows when there is enough to do. `then` is given rows that are done, and the first of them.
    fn product<T: Float + Element>(
        &self,
        x: &[T],
        y: &[T],
        panels: Option<&PackedB<T>>,
        out: &mut [T],
        then: impl Fn(usize, &mut [T]) -> Ended + Sync,
    ) -> Ended {
        const PARALLEL: usize = 1 << 21;
        let (m, k, n) = (self.m, self.k, self.n);
        if is_dots::<T>(k, n) {
            split_rows(k, 1, x, out, |x, out| dots(x, y, out));
            return then(0, out);
        }
        let few_columns = |n: usize, x: &[T], y: &[T], layout: Layout, out: &mut [T]| {
            split_rows(k, n, x, out, |x, out| kernel(out.len() / n, k, n, x, y, layout, out));
        };
        if has_few_columns::<T>(m, n) {
            few_columns(n, x, y, self.layout, out);
            return then(0, out);
        }
        if m == 1 && self.layout == Layout::OutIn && panels.is_none() {
            // The weights by a vector.
            few_columns(1, y, x, Layout::OutIn, out);
            return then(0, out);
        }
        let pieces = pieces_of(m * k * n, PARALLEL).min(m);
        let made;
        let packed = match (panels, pieces) {
            (None, 1) => {
                kernel(m, k, n, x, y, self.layout, out);
                return then(0, out);
            }
            (Some(panels), _) => panels,
            (None, _) => {
                made = PackedB::pack(k, n, y, self.layout);
                &made
            }
        };
        // As many rows as a product takes at a time anyway: they are in the cache when they are done.
        let some_rows = |(first, out): (usize, &mut [T])| {
            out.chunks_mut(ROWS * n).enumerate().try_for_each(|(i, out)| {
                let (first, count) = (first + i * ROWS, out.len() / n);
                matmul_packed(count, &x[first * k..(first + count) * k], packed, out);
                then(first, out)
            })
        };
        if pieces == 1 {
            return some_rows((0, out));
        }
        let rows = m.div_ceil(pieces).next_multiple_of(TILE_ROWS);
        let parts = out.chunks_mut(rows * n).enumerate().map(|(piece, out)| (piece * rows, out)).collect();
        side_by_side(parts, some_rows).into_iter().collect()
    }

    fn ints<T: Element>(&self, x: &Dense, y: &Dense, out: &mut [T], step: impl Fn(T, T, T) -> T) -> Result<()> {
        let (x, y) = (x.as_slice::<T>()?, y.as_slice::<T>()?);
        let (m, k, n) = (self.m, self.k, self.n);
        out.fill(T::zeroed());
        for (i, (&x_at, &y_at)) in self.x_at.iter().zip(&self.y_at).enumerate() {
            for row in 0..m {
                for column in 0..n {
                    let acc = &mut out[(i * m + row) * n + column];
                    for p in 0..k {
                        let b = match self.layout {
                            Layout::InOut => y[y_at + p * n + column],
                            Layout::OutIn => y[y_at + column * k + p],
                        };
                        *acc = step(x[x_at + row * k + p], b, *acc);
                    }
                }
            }
        }
        Ok(())
    }
}

/// A product whose right side has few columns, split over threads by rows when the left side is large; `product` makes some rows.
fn split_rows<T: Float + Element>(k: usize, n: usize, x: &[T], out: &mut [T], product: impl Fn(&[T], &mut [T]) + Sync) {
    const PARALLEL: usize = 1 << 17;
    // As many rows as are turned at once.
    const TURNED: usize = 64;
    let m = out.len() / n;
    let pieces = pieces_of(m * k, PARALLEL);
    if pieces == 1 {
        return product(x, out);
    }
    let rows = m.div_ceil(pieces).next_multiple_of(TURNED);
    side_by_side(out.chunks_mut(rows * n).enumerate().collect(), |(piece, out): (usize, &mut [T])| {
        product(&x[piece * rows * k..][..out.len() / n * k], out);
    });
}

fn grad_matmul(cx: &GradCx<'_>) -> Result<Vec<Option<Value>>> {
    let (x, y, g) = (&cx.args[0], &cx.args[1], cx.g());
    let transposed = cx.attrs::<MatMul>()?.transpose_y;
    let rank = |v: &Value| Ok::<_, Error>(v.tensor()?.shape().rank());
    let (Some(rx), Some(ry)) = (rank(x)?, rank(y)?) else {
        return Err(Error::shape("the gradient of matmul needs known ranks"));
    };
    // Vectors become matrices for the rule and are brought back by their own shape at the end.
    let x2 = if rx == 1 { crate::ops::expand_dims(x, 0)? } else { x.clone() };
    let y2 = match (ry, transposed) {
        (1, true) => crate::ops::expand_dims(y, 0)?,
        (1, false) => crate::ops::expand_dims(y, 1)?,
        _ => y.clone(),
    };
    let mut g2 = g.clone();
    if ry == 1 {
        g2 = crate::ops::expand_dims(g2, -1)?;
    }
    if rx == 1 {
        g2 = crate::ops::expand_dims(g2, -2)?;
    }
    let dx = matmul(&g2, &y2, !transposed)?;
    let swapped = |v: &Value| swap_last(v);
    let dy = if transposed { matmul(swapped(&g2)?, &x2, false)? } else { matmul(swapped(&x2)?, &g2, false)? };
    let back = |d: Value, of: &Value, rank: usize| {
        if rank == 1 { crate::ops::reshape_like(sum_batch(d)?, of) } else { sum_like(d, of) }
    };
    Ok(vec![Some(back(dx, x, rx)?), Some(back(dy, y, ry)?)])
}

/// Sums the batch axes away, leaving a matrix.
fn sum_batch(v: Value) -> Result<Value> {
    let rank = v.tensor()?.shape().rank().unwrap_or(2);
    let axes: Vec<i64> = (0..rank.saturating_sub(2)).map(|a| i64::try_from(a).unwrap_or(0)).collect();
    if axes.is_empty() { Ok(v) } else { crate::ops::sum(v, crate::attrs::Axes::List(axes), false) }
}

fn swap_last(v: &Value) -> Result<Value> {
    let rank = v.tensor()?.shape().rank().unwrap_or(2);
    let mut axes: Vec<i64> = (0..rank).map(|a| i64::try_from(a).unwrap_or(0)).collect();
    axes.swap(rank - 1, rank - 2);
    transpose(v, Some(axes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(rows: usize, columns: usize) -> Value {
        let x: Vec<f32> = (0..rows * columns).map(|i| f32::from((i * 7919 % 1013) as u16) / 512.0 - 1.0).collect();
        Tensor::new(&[rows, columns], &x).expect("the sizes fit").into()
    }

    fn bits(x: &Value) -> Vec<u32> {
        let x = x.tensor().and_then(Tensor::as_slice::<f32>).expect("data");
        x.iter().map(|x| x.to_bits()).collect()
    }

    #[test]
    fn weights_that_come_again_change_no_bit() {
        for rows in [1, 3, 40] {
            let (x, weights) = (numbers(rows, 33), numbers(33, 33));
            let product = |transposed| matmul(&x, &weights, transposed).map(|y| bits(&y)).expect("a product");
            let fresh = |transposed| matmul(&x, numbers(33, 33), transposed).map(|y| bits(&y)).expect("a product");
            for _ in 0..8 {
                assert_eq!(product(false), fresh(false), "{rows} rows");
                assert_eq!(product(true), fresh(true), "{rows} rows, transposed");
            }
        }
    }
}
