//! Lists as sets: what is found in one list is what is found there row by row.

use extenso_core::ops::{cast, reshape};
use extenso_core::{Result, Tensor, Value};
use extenso_ext::lists::isin;
use extenso_types::DType;

/// Values with both zeros and, where there is one, NaN.
fn values(n: u32, step: u32, dtype: DType) -> Result<Value> {
    let one = |i: u32| match i * step % 101 {
        0 if dtype.is_float() => f64::NAN,
        1 => -0.0,
        i => f64::from(i),
    };
    cast(Tensor::from_vec((0..n).map(one).collect::<Vec<f64>>()), dtype)
}

fn check(x: &Value, test: &Value) -> Result<()> {
    let wanted = isin(x, test, Some(0))?;
    assert_eq!(isin(x, test, None)?.to_string(), wanted.to_string());
    let column = reshape(x, vec![-1_i64, 1])?;
    assert_eq!(isin(&column, test, None)?.to_string(), reshape(wanted, vec![-1_i64, 1])?.to_string());
    Ok(())
}

#[test]
fn what_is_in_a_list_is_in_it_as_a_row() -> Result<()> {
    use DType::{BF16, Bool, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    for dtype in [Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64] {
        for (n, among) in [(0, 0), (0, 3), (3, 0), (70, 5), (300, 40), (40, 300)] {
            check(&values(n, 7, dtype)?, &values(among, 31, dtype)?)?;
        }
        check(&values(1, 1, dtype)?, &values(1, 1, dtype)?)?;
    }
    for among in [&["b", "", "b"][..], &[]] {
        let x = Tensor::strings(&[4], &["a", "b", "", "größer als alles"])?;
        check(&x.into(), &Tensor::strings(&[among.len()], among)?.into())?;
    }
    Ok(())
}
