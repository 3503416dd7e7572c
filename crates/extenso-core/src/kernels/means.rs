//! Means of integers from their sums.
//!
//! Invariant: a mean is the quotient of the exact sum and the count, rounded once to the nearest f64, of two equally near to the even one.

/// The exact sum of fewer than 2^32 integers of 64 bits, from what is left of it in 64 bits and from the sum of their upper halves.
///
/// The lower halves add up to less than 2^64, and that is what the two differ by.
#[inline(always)]
pub fn total(wrapped: i128, high: i128) -> i128 {
    let high = high << 32;
    high + ((wrapped - high) & i128::from(u64::MAX))
}

/// `total / count`, rounded once; NaN where there are none.
#[inline(always)]
pub fn quotient_of(total: i128, count: i128) -> f64 {
    const EXACT: i128 = 1 << 53;
    match count {
        ..=0 => f64::NAN,
        count if total.abs() <= EXACT && count <= EXACT => total as f64 / count as f64,
        count => far_quotient(total, count),
    }
}

/// The quotient of a sum that no f64 may hold.
fn far_quotient(total: i128, count: i128) -> f64 {
    /// So many bits of the fraction: a quotient above 2^-7 then has two more than an f64, and its last is far from the rounded one.
    const FRACTION: u32 = 62;
    let (whole, rest) = (total.unsigned_abs() / count.unsigned_abs(), total.unsigned_abs() % count.unsigned_abs());
    let (bits, rest, scale) = match whole >> (127 - FRACTION) {
        0 => {
            let rest = rest << FRACTION;
            let (fraction, rest) = (rest / count.unsigned_abs(), rest % count.unsigned_abs());
            (whole << FRACTION | fraction, rest, f64::powi(2.0, -62))
        }
        _ => (whole, rest, 1.0),
    };
    let size = (bits | u128::from(rest > 0)) as f64 * scale;
    if total < 0 { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_exact_whatever_wrapped() {
        let lists: [&[i64]; 5] =
            [&[], &[-1], &[i64::MAX; 7], &[i64::MIN; 9], &[i64::MAX, i64::MIN, -5, 1 << 32, (1 << 32) - 1, -(1 << 32)]];
        for x in lists {
            let wrapped = x.iter().fold(0_i64, |sum, x| sum.wrapping_add(*x));
            let high = x.iter().map(|x| x >> 32).sum::<i64>();
            let wanted: i128 = x.iter().copied().map(i128::from).sum();
            assert_eq!(total(wrapped.into(), high.into()), wanted, "{x:?}");
        }
        let x = [u64::MAX; 5];
        let (wrapped, high) =
            (x.iter().fold(0_u64, |sum, x| sum.wrapping_add(*x)), x.iter().map(|x| x >> 32).sum::<u64>());
        assert_eq!(total(wrapped.into(), high.into()), 5 * i128::from(u64::MAX));
    }

    #[test]
    fn a_mean_of_equal_numbers_is_the_number_rounded_once() {
        let numbers = [1, (1 << 53) + 1, (1 << 53) + 3, (1 << 60) + 129, i128::from(i64::MAX), i128::from(u64::MAX)];
        for x in numbers.into_iter().flat_map(|x| [x, -x]) {
            for n in [1, 2, 3, 7, 1000, (1 << 32) - 1] {
                assert_eq!(quotient_of(x * n, n).to_bits(), (x as f64).to_bits(), "{x} {n}");
            }
        }
    }

    #[test]
    fn a_quotient_is_the_nearest_float() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        for _ in 0..20_000 {
            let count = i128::from(next() >> (32 + next() % 31)) + 1;
            let total = i128::from(next().cast_signed() >> (next() % 20)) * i128::from(next() >> (33 + next() % 30));
            let found = quotient_of(total, count);
            assert_eq!(found.to_bits(), by_digits(total, count).to_bits(), "{total} / {count} is not {found}");
        }
    }

    /// The quotient in decimals, which the standard library rounds once. A 1 stands for all digits that are left out.
    fn by_digits(total: i128, count: i128) -> f64 {
        let mut rest = total.unsigned_abs() % count.unsigned_abs();
        let mut text = format!("{}{}.", if total < 0 { "-" } else { "" }, total.unsigned_abs() / count.unsigned_abs());
        for _ in 0..60 {
            text.push_str(&(rest * 10 / count.unsigned_abs()).to_string());
            rest = rest * 10 % count.unsigned_abs();
        }
        text.push(if rest > 0 { '1' } else { '0' });
        text.parse().expect("a number")
    }
}
