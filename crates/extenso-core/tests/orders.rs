//! Laws of the ops that order, search and choose, for values of every dtype: what is fast gives what the plain way gives, bit for
//! bit and with any number of threads.

use extenso_core::ops::{
    argmax, argmin, argsort, boolean_mask, cast, equal, indices_along, logical_not, logical_or, maximum, nonzero,
    not_equal, reshape, searchsorted, sort, subtract, take, take_along_axis, top_k_indices, top_k_indices_where,
    transpose, unique_values,
};
use extenso_core::{Result, Tensor, Value, with_threads};
use extenso_types::DType;

const LENGTHS: [usize; 8] = [0, 1, 2, 63, 64, 65, 1000, 70_000];

/// Booleans and numbers.
fn dtypes() -> impl Iterator<Item = DType> {
    DType::all().filter(|dtype| *dtype == DType::Bool || dtype.is_numeric())
}

/// Values without an order, with both zeros and, where there is one, NaN.
fn values(n: usize, dtype: DType) -> Result<Value> {
    let one = |i: u32| match i.wrapping_mul(2_654_435_761) >> 7 {
        i if i % 50 == 0 && dtype.is_float() => f64::NAN,
        i if i % 50 == 1 => [0.0, -0.0][i as usize / 50 % 2],
        i => f64::from(i % 200) / 2.0,
    };
    cast(Tensor::from_vec((0..n as u32).map(one).collect::<Vec<f64>>()), dtype)
}

/// The same as texts.
fn texts(n: usize) -> Result<Value> {
    let texts: Vec<String> = (0..n).map(|i| format!("{}", i * 7919 % 101)).collect();
    Ok(Tensor::strings(&[n], &texts)?.into())
}

/// The bits of values, so that zeros differ and NaN does not.
fn bits(x: &Value) -> Result<Vec<u8>> {
    let data = x.tensor()?.data()?;
    if data.dtype() == DType::Bool {
        return Ok(data.bits()?.iter().map(u8::from).collect());
    }
    match data.fixed() {
        Ok(bytes) => Ok(bytes.to_vec()),
        Err(_) => (0..data.len()).try_fold(Vec::new(), |all, i| Ok([&all[..], data.text_at(i)?, b","].concat())),
    }
}

/// Checks a law for values of every dtype and length, with several numbers of threads.
fn check(fast: impl Fn(&Value) -> Result<Value>, plain: impl Fn(&Value) -> Result<Value>) -> Result<()> {
    for n in LENGTHS {
        let all = dtypes().map(|dtype| values(n, dtype)).chain([texts(n.min(1000))]);
        for x in all {
            let x = x?;
            let wanted = plain(&x)?;
            for threads in [1, 2, 5] {
                let found = with_threads(threads, || fast(&x))?;
                assert_eq!(found.spec()?, wanted.spec()?);
                assert!(bits(&found)? == bits(&wanted)?, "{n} of {}, {threads} threads", x.tensor()?.dtype());
            }
        }
    }
    Ok(())
}

#[test]
fn a_sort_takes_what_argsort_finds() -> Result<()> {
    for descending in [false, true] {
        check(|x| sort(x, -1, descending), |x| take_along_axis(x, argsort(x, -1, descending)?, -1))?;
    }
    Ok(())
}

#[test]
fn distinct_values_are_the_first_of_their_kind() -> Result<()> {
    let plain = |x: &Value| {
        let sorted = take(x, argsort(x, -1, false)?, 0)?;
        let places = indices_along(&sorted, 0)?;
        let before = take(&sorted, maximum(subtract(&places, 1)?, 0)?, 0)?;
        boolean_mask(&sorted, logical_or(equal(places, 0)?, not_equal(&sorted, before)?)?, 0)
    };
    check(|x| unique_values(x), plain)
}

#[test]
fn the_largest_begin_the_order() -> Result<()> {
    let first = |order: Value, k: usize| take(order, Tensor::from_vec((0..k as i64).collect::<Vec<_>>()), 0);
    for k in [0, 1, 10, 700] {
        let k_of = |x: &Value| Ok::<_, extenso_core::Error>(k.min(x.tensor()?.data()?.len()));
        check(|x| top_k_indices(x, k_of(x)? as i64), |x| first(argsort(x, -1, true)?, k_of(x)?))?;
    }
    Ok(())
}

#[test]
fn the_largest_where_a_condition_holds_begin_the_order_of_these() -> Result<()> {
    let holds = |x: &Value| {
        let n = x.tensor()?.data()?.len();
        Tensor::bools(&[n], &(0..n).map(|i| i % 7 < 4 && i > n / 3).collect::<Vec<_>>()).map(Value::from)
    };
    for k in [0, 1, 10, 700] {
        let k_of = |x: &Value| Ok::<_, extenso_core::Error>(k.min(x.tensor()?.data()?.len()));
        let found = |x: &Value| top_k_indices_where(x, holds(x)?, k_of(x)? as i64);
        let plain = |x: &Value| {
            let order = argsort(x, -1, true)?;
            let there = boolean_mask(&order, take(holds(x)?, &order, 0)?, 0)?;
            let others = boolean_mask(indices_along(x, 0)?, logical_not(holds(x)?)?, 0)?;
            let all = extenso_core::ops::concat(vec![there, others], 0)?;
            take(all, Tensor::from_vec((0..k_of(x)? as i64).collect::<Vec<_>>()), 0)
        };
        check(found, plain)?;
    }
    Ok(())
}

#[test]
fn extremes_of_columns_are_those_of_the_lines_of_the_transpose() -> Result<()> {
    let turned = |x: &Value| transpose(x, Some(vec![0_i64, 2, 1]));
    for outer in [1, 3] {
        for n in [1, 2, 65, 300] {
            for width in [2, 7, 300] {
                for x in dtypes().map(|dtype| values(outer * n * width, dtype)).chain([texts(outer * n * width)]) {
                    let x = reshape(x?, vec![outer as i64, n as i64, width as i64])?;
                    for threads in [1, 3] {
                        let [most, least] = with_threads(threads, || [argmax(&x, 1, false), argmin(&x, 1, false)]);
                        assert_eq!(bits(&most?)?, bits(&argmax(turned(&x)?, -1, false)?)?, "{x:?}");
                        assert_eq!(bits(&least?)?, bits(&argmin(turned(&x)?, -1, false)?)?, "{x:?}");
                    }
                }
            }
        }
    }
    Ok(())
}

#[test]
fn places_are_the_counts_of_what_comes_before() -> Result<()> {
    for (side, before) in [("left", false), ("right", true)] {
        for dtype in dtypes() {
            let (x, sought) = (values(500, dtype)?, values(300, dtype)?);
            // A stable sort of both puts equal ones of the second behind those of the first, or in front.
            let parts = if before { [&x, &sought] } else { [&sought, &x] };
            let both = extenso_core::ops::concat(parts.map(Clone::clone).to_vec(), 0)?;
            let order = argsort(&both, -1, false)?;
            let order = order.tensor()?.data()?.as_slice::<i64>()?.to_vec();
            let is_sought = |i: i64| if before { i >= 500 } else { i < 300 };
            let mut wanted = vec![0; 300];
            let mut seen = 0;
            for i in order {
                match is_sought(i) {
                    true => wanted[i as usize - if before { 500 } else { 0 }] = seen,
                    false => seen += 1,
                }
            }
            let found = searchsorted(sort(x, -1, false)?, sought, side)?;
            assert_eq!(found.tensor()?.data()?.as_slice::<i64>()?, wanted, "{side}, {dtype}");
        }
    }
    Ok(())
}

#[test]
fn what_is_not_zero_is_found_in_order() -> Result<()> {
    for n in LENGTHS {
        for dtype in dtypes() {
            let x = values(n, dtype)?;
            let found = nonzero(&x)?;
            let mask = cast(&x, DType::Bool)?;
            let wanted = boolean_mask(indices_along(&x, 0)?, mask, 0)?;
            assert_eq!(bits(&found[0])?, bits(&wanted)?, "{n} of {dtype}");
            assert_eq!(found.len(), 1);
        }
    }
    Ok(())
}
