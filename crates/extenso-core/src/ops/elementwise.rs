//! Elementwise ops: arithmetic, choices, casts, and the elementary functions that vectorise.

use super::comparison::{equal, greater, less, logical_and};
use super::elementwise_text as text;
use super::math::{faulty_ints, isnan};
use crate::attrs::{AttrSet, Attrs};
use crate::grad::{GradCx, one, two, unbroadcast};
use crate::kernels::bits::{select, select_bits};
use crate::kernels::cast::cast as cast_kernel;
use crate::kernels::map::{BlockKernel, Done, Fault, Real, map};
use crate::kernels::quotient::{Divided, FloorQuotient};
use crate::kernels::row_products;
use crate::op::Fact::{Commutes, Constant, Idempotent, Involution, Linear, Partial};
use crate::op::OpDef;
use crate::value::Value;
use extenso_types::{DType, Result};
use half::{bf16, f16};

crate::attrs! {
    /// The attributes of `cast`.
    pub struct Cast { dtype: DType }
}

crate::ops! {
    /// Elementwise ops.
    pub static ELEMENTWISE;

    /// Adds elementwise, with broadcasting. Integers wrap.
    ///
    /// Numbers of one kind are promoted to the dtype that holds both; Python scalars take the dtype of the tensor.
    ADD: add(x, y) = OpDef::binary(map!(ints: |x, y| x.wrapping_add(y); floats: |x, y| x + y))
        .facts(&[Commutes])
        .grad(|cx| two(cx, Ok(cx.g().clone()), Ok(cx.g().clone())))
        .examples(&[("add([[1, 2], [3, 4]], [10, 20])", "[[11, 22], [13, 24]]"), ("add([1.5, 2.5], 1)", "[2.5, 3.5]")]);

    /// Subtracts elementwise, with broadcasting. Integers wrap.
    SUBTRACT: subtract(x, y) = OpDef::binary(map!(ints: |x, y| x.wrapping_sub(y); floats: |x, y| x - y))
        .grad(|cx| two(cx, Ok(cx.g().clone()), negative(cx.g())))
        .examples(&[("subtract([3.0, 2.0], [1.0, 2.0])", "[2.0, 0.0]")]);

    /// Multiplies elementwise, with broadcasting. Integers wrap.
    MULTIPLY: multiply(x, y) = OpDef::binary(multiply_kernel)
        .facts(&[Commutes])
        .grad(|cx| two(cx, cx.times(&cx.args[1]), cx.times(&cx.args[0])))
        .examples(&[("multiply([1.0, 2.0, 3.0], 2)", "[2.0, 4.0, 6.0]")]);

    /// Divides floats elementwise, with broadcasting. Zero gives an infinity or NaN, as in IEEE 754.
    ///
    /// Integers have `floor_divide`.
    DIVIDE: divide(x, y) = OpDef::binary(map!(floats: |x, y| x / y))
        .instead("Integers have `floor_divide`.")
        .grad(|cx| {
            let dx = cx.over(&cx.args[1])?;
            let dy = cx.where_reached(negative(multiply(&dx, cx.y())?)?);
            two(cx, Ok(dx), dy)
        })
        .examples(&[("divide([1.0, 3.0], [2.0, 4.0])", "[0.5, 0.75]")]);

    /// Divides elementwise and rounds toward negative infinity, with broadcasting.
    ///
    /// The exact quotient is rounded, of which `remainder` is what is left: `6.0` has `0.1`, which is a little more than a tenth, 59 times.
    /// A finite number has an infinite one zero times.
    ///
    /// Errors: an integer is divided by zero; the message names the position.
    FLOOR_DIVIDE: floor_divide(x, y) = OpDef::binary(floor_divide_kernel)
        .facts(&[Partial])
        .examples(&[("floor_divide([7, -7], 2)", "[3, -4]"), ("floor_divide([7.0], [2.0])", "[3.0]")])
        .alias_tf("floordiv");

    /// The larger of two elements; NaN if either is. True is above false, and of texts the one that sorts behind is larger.
    MAXIMUM: maximum(x, y) = OpDef::binary(map!(bits: |x, y| x | y; ints: |x, y| if x > y { x } else { y }; floats: |x, y| if x > y || x.is_nan() { x } else { y }))
        .text(text::infer_both, text::maximum)
        .grad(|cx| {
            let first = greater(&cx.args[0], &cx.args[1])?;
            let zero = zeros_like(cx.g())?;
            two(cx, where_(&first, cx.g(), &zero), where_(&first, &zero, cx.g()))
        })
        .examples(&[("maximum([1.0, 5.0], 2.0)", "[2.0, 5.0]"), ("maximum(['a', 'c'], ['b', 'b'])", "['b', 'c']")]);

    /// The smaller of two elements; NaN if either is. False is below true, and of texts the one that sorts before is smaller.
    MINIMUM: minimum(x, y) = OpDef::binary(map!(bits: |x, y| x & y; ints: |x, y| if x < y { x } else { y }; floats: |x, y| if x < y || x.is_nan() { x } else { y }))
        .text(text::infer_both, text::minimum)
        .grad(|cx| {
            let first = less(&cx.args[0], &cx.args[1])?;
            let zero = zeros_like(cx.g())?;
            two(cx, where_(&first, cx.g(), &zero), where_(&first, &zero, cx.g()))
        })
        .examples(&[("minimum([1.0, 5.0], 2.0)", "[1.0, 2.0]"), ("minimum([True, False], True)", "[True, False]")]);

    /// The sign reversed, elementwise. Integers wrap.
    NEGATIVE: negative(x) = OpDef::unary(map!(ints: |x| x.wrapping_neg(); floats: |x| -x))
        .facts(&[Linear, Involution])
        .grad(|cx| one(negative(cx.g())))
        .examples(&[("negative([1.0, -2.0])", "[-1.0, 2.0]")])
        .alias_tf("neg");

    /// Elementwise reciprocal, `1 / x`. Zero gives an infinity with the sign of the zero.
    RECIPROCAL: reciprocal(x) = OpDef::unary(map!(floats: |x| 1.0 / x))
        .grad(|cx| one(negative(cx.times(multiply(cx.y(), cx.y())?)?)))
        .examples(&[("reciprocal([2.0, -4.0])", "[0.5, -0.25]"), ("reciprocal([[2.0, 4.0], [0.5]])", "[[0.5, 0.25], [2.0]]")]);

    /// `e` to the power of each element, within one unit in the last place.
    EXP: exp(x) = OpDef::unary(map!(floats: |x| x.exp_()))
        .grad(|cx| one(cx.times(cx.y())))
        .examples(&[("exp([0.0])", "[1.0]")]);

    /// The natural logarithm, within one unit in the last place. Zero gives -inf, a negative number NaN.
    LOG: log(x) = OpDef::unary(map!(floats: |x| x.ln_()))
        .grad(|cx| one(cx.over(&cx.args[0])))
        .examples(&[("log([1.0])", "[0.0]")]);

    /// The square root, correctly rounded. A negative number gives NaN.
    SQRT: sqrt(x) = OpDef::unary(map!(floats: |x| x.sqrt()))
        .grad(|cx| one(cx.over(multiply(cx.y(), 2)?)))
        .examples(&[("sqrt([4.0, 9.0])", "[2.0, 3.0]")]);

    /// The hyperbolic tangent, within two units in the last place.
    TANH: tanh(x) = OpDef::unary(map!(floats: |x| x.tanh_()))
        .grad(|cx| one(cx.times(subtract(ones_like(cx.y())?, multiply(cx.y(), cx.y())?)?)))
        .examples(&[("tanh([0.0])", "[0.0]")]);

    /// The magnitude of each element. The smallest integer of a signed dtype wraps to itself.
    ABS: abs(x) = OpDef::unary(map!(signed: |x| x.wrapping_abs(); unsigned: |x| x; floats: |x| x.abs()))
        .facts(&[Idempotent])
        .grad(|cx| {
            let negated = less(&cx.args[0], zeros_like(&cx.args[0])?)?;
            one(where_(negated, negative(cx.g())?, cx.g()))
        })
        .examples(&[("abs([-1.5, 2.0])", "[1.5, 2.0]")]);

    /// Picks from `x` where `condition` is true, otherwise from `y`; all three broadcast.
    WHERE: where_(condition, x, y) = OpDef::elementwise(where_kernel)
        .text(text::infer_where, text::run_where)
        .like(1)
        .grad(grad_where)
        .examples(&[("where([True, False], [1, 2], [3, 4])", "[1, 4]"), ("where([True, False], [1.0, 2.0], 0)", "[1.0, 0.0]")]);

    /// `x` with zero in the place of NaN where `g` is zero: what becomes of a gradient of zero times a slope.
    ///
    /// The slope may be infinite or NaN there, as it is of what lies under a missing value or of what `where` has not picked.
    /// Shapes: those of `x` and `g` broadcast.
    ZERO_FOR_NAN: zero_for_nan(x, g) = OpDef::binary(map!(floats: |x, g| if g == 0.0 && x.is_nan() { 0.0 } else { x }))
        .grad(|cx| {
            let stopped = logical_and(isnan(&cx.args[0])?, equal(&cx.args[1], 0)?)?;
            Ok(vec![Some(unbroadcast(where_(stopped, 0, cx.g())?, &cx.args[0])?), None])
        })
        .part()
        .examples(&[("zero_for_nan([1.0, nan, nan], [0.0, 0.0, inf])", "[1.0, 0.0, nan]")]);

    /// Converts elements to `dtype`.
    ///
    /// A float becomes an integer by truncation, NaN becomes 0, and what lies outside the range its nearest end. An integer
    /// that does not fit a narrower integer wraps. To bool is `x != 0`.
    CAST: cast(x; Cast { dtype: DType }) = OpDef::unary(|dtypes, attrs| match dtypes {
            [from] => cast_kernel(*from, Cast::of(attrs).ok()?.dtype),
            _ => None,
        })
        .grad(grad_cast)
        .examples(&[("cast([1.7, -1.7], dtype='i32')", "i32([1, -1])"), ("cast([0, 2], dtype='bool')", "[False, True]"), ("cast([0.5, 1.5], dtype='f64')", "f64([0.5, 1.5])")]);

    /// Zeros of the shape and dtype of `x`; false for booleans.
    ZEROS_LIKE: zeros_like(x) = OpDef::unary(|dtypes, _| constant(dtypes, false))
        .grad(|_| Ok(vec![None]))
        .facts(&[Idempotent, Constant])
        .examples(&[("zeros_like([1.5, 2.5])", "[0.0, 0.0]")]);

    /// Ones of the shape and dtype of `x`; true for booleans.
    ONES_LIKE: ones_like(x) = OpDef::unary(|dtypes, _| constant(dtypes, true))
        .grad(|_| Ok(vec![None]))
        .facts(&[Idempotent, Constant])
        .examples(&[("ones_like([1.5, 2.5])", "[1.0, 1.0]")]);
}

fn floor_divide_kernel(dtypes: &[DType], attrs: &dyn AttrSet) -> Option<BlockKernel> {
    faulty_ints!(dtypes; "an integer is divided by zero" if |y| y == 0; all by one |x, by, out| Divided::quotients(x, by, out); |x, y| {
        let q = x.wrapping_div(y);
        if x.wrapping_rem(y) != 0 && (x < 0) != (y < 0) { q - 1 } else { q }
    }; I8 i8, I16 i16, I32 i32, I64 i64);
    faulty_ints!(dtypes; "an integer is divided by zero" if |y| y == 0; all by one |x, by, out| Divided::quotients(x, by, out); |x, y| x / y; U8 u8, U16 u16, U32 u32, U64 u64);
    map!(floats: |x, y| x.floor_quotient(y))(dtypes, attrs)
}

fn where_kernel(dtypes: &[DType], _: &dyn AttrSet) -> Option<BlockKernel> {
    macro_rules! widths {
        ($dtype:expr; $($d:pat => $t:ty),*) => {
            match $dtype {
                $($d => {
                    fn run(ins: &[&[u8]], out: &mut [u8], _n: usize) -> Done {
                        let (x, y) = (bytemuck::cast_slice::<u8, $t>(ins[1]), bytemuck::cast_slice::<u8, $t>(ins[2]));
                        select(bytemuck::cast_slice(ins[0]), x, y, bytemuck::cast_slice_mut::<u8, $t>(out));
                        Ok(())
                    }
                    Some(run as crate::kernels::map::BlockFn)
                })*
                DType::Bool => Some(pick_bits as crate::kernels::map::BlockFn),
                DType::String | DType::Bytes | DType::Variant => None,
            }
        };
    }
    let [DType::Bool, x, y] = dtypes else { return None };
    if x != y {
        return None;
    }
    let run = widths!(*x;
        DType::I8 | DType::U8 => u8,
        DType::I16 | DType::U16 | DType::F16 | DType::BF16 => u16,
        DType::I32 | DType::U32 | DType::F32 => u32,
        DType::I64 | DType::U64 | DType::F64 => u64)?;
    Some(BlockKernel::new(*x, run))
}

fn pick_bits(ins: &[&[u8]], out: &mut [u8], _n: usize) -> Done {
    let [c, x, y] = [0, 1, 2].map(|i| bytemuck::cast_slice::<u8, u64>(ins[i]));
    select_bits(c, x, y, bytemuck::cast_slice_mut::<u8, u64>(out));
    Ok(())
}

fn multiply_kernel(dtypes: &[DType], attrs: &dyn AttrSet) -> Option<BlockKernel> {
    let kernel = map!(ints: |x, y| x.wrapping_mul(y); floats: |x, y| x * y)(dtypes, attrs)?;
    Some(BlockKernel { sums: row_products::kernel(kernel.out), ..kernel })
}

fn constant(dtypes: &[DType], one: bool) -> Option<BlockKernel> {
    macro_rules! fill {
        ($dtype:expr; $($d:ident $t:ty: $zero:expr, $one:expr;)*) => {
            match $dtype {
                $(DType::$d => {
                    fn zeros(_: &[&[u8]], out: &mut [u8], _n: usize) -> Done {
                        bytemuck::cast_slice_mut::<u8, $t>(out).fill($zero);
                        Ok(())
                    }
                    fn ones(_: &[&[u8]], out: &mut [u8], _n: usize) -> Done {
                        bytemuck::cast_slice_mut::<u8, $t>(out).fill($one);
                        Ok(())
                    }
                    Some(BlockKernel::new(DType::$d, if one { ones } else { zeros }))
                })*
                DType::Bool if one => Some(crate::kernels::map::bit_block!(|x| x | !0)),
                DType::Bool => Some(crate::kernels::map::bit_block!(|x| x & 0)),
                DType::String | DType::Bytes | DType::Variant => None,
            }
        };
    }
    fill!(*dtypes.first()?;
        I8 i8: 0, 1; I16 i16: 0, 1; I32 i32: 0, 1; I64 i64: 0, 1; U8 u8: 0, 1; U16 u16: 0, 1; U32 u32: 0, 1; U64 u64: 0, 1;
        F16 f16: f16::ZERO, f16::ONE; BF16 bf16: bf16::ZERO, bf16::ONE; F32 f32: 0.0, 1.0; F64 f64: 0.0, 1.0;)
}

fn grad_where(cx: &GradCx<'_>) -> Result<Vec<Option<Value>>> {
    let zero = zeros_like(cx.g())?;
    let dx = where_(&cx.args[0], cx.g(), &zero)?;
    let dy = where_(&cx.args[0], &zero, cx.g())?;
    Ok(vec![None, Some(unbroadcast(dx, &cx.args[1])?), Some(unbroadcast(dy, &cx.args[2])?)])
}

fn grad_cast(cx: &GradCx<'_>) -> Result<Vec<Option<Value>>> {
    let from = cx.args[0].tensor()?.dtype();
    if from.is_float() && cx.y().tensor()?.dtype().is_float() { one(cast(cx.g(), from)) } else { Ok(vec![None]) }
}
