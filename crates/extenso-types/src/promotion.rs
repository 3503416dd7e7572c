//! Which dtype holds the values of two, and what numbers a dtype holds.
//!
//! Source: the promotion table of the Python Array API standard 2024.12; f16 beside bf16 gives f32, which holds both.
//! The call pipeline promotes by it; where it has no dtype, an op says which cast to write.

use crate::{DType, DTypeKind, Error, Result};

impl DType {
    /// The smallest dtype that holds the values of both, within one kind or of two kinds of integers.
    ///
    /// Errors: the standard has no such dtype: for numbers of two kinds, for u64 beside signed integers.
    ///
    /// ```
    /// # use extenso_types::DType;
    /// assert_eq!(DType::I8.promote(DType::U8).unwrap(), DType::I16);
    /// assert!(DType::I64.promote(DType::F32).is_err());
    /// ```
    pub fn promote(self, other: DType) -> Result<DType> {
        let (wide, narrow) = if self.width() < other.width() { (other, self) } else { (self, other) };
        let same_kind = wide.kind() == narrow.kind() && wide.is_numeric();
        let found = if wide == narrow {
            Some(wide)
        } else if same_kind && wide.width() == narrow.width() {
            // Two dtypes of one kind and one width are the two floats of 16 bits.
            Some(DType::F32)
        } else if same_kind
            || wide.kind() == DTypeKind::Signed && narrow.kind() == DTypeKind::Unsigned && wide.width() > narrow.width()
        {
            Some(wide)
        } else if wide.is_integer() && narrow.is_integer() {
            twice(wide)
        } else {
            None
        };
        found.ok_or_else(|| {
            Error::dtype(format!("{self} and {other} have no dtype in common"))
                .wanted("dtypes of one kind")
                .hint(format!("Cast one side: `cast(x, '{}')`.", if self.is_float() { self } else { other }))
        })
    }

    /// Whether `to` holds all values of this dtype, by the promotion table: then the two promote to `to`.
    ///
    /// ```
    /// # use extenso_types::DType;
    /// assert!(DType::F32.can_cast(DType::F64) && !DType::F64.can_cast(DType::F32));
    /// ```
    pub fn can_cast(self, to: DType) -> bool {
        self.promote(to).is_ok_and(|both| both == to)
    }

    /// Whether every number of `from` is one of this dtype.
    ///
    /// The table of promotion takes no integers for floats; here they are, as far as all of them are exact.
    ///
    /// ```
    /// # use extenso_types::DType;
    /// assert!(DType::F64.holds(DType::I32) && !DType::F64.holds(DType::I64) && !DType::U8.holds(DType::I8));
    /// ```
    pub fn holds(self, from: DType) -> bool {
        // Binary digits of the integers that are exact, whether negative ones are, and the exponents of floats.
        let digits = |dtype: DType| match dtype {
            DType::I8 => Some((7, true, 0)),
            DType::I16 => Some((15, true, 0)),
            DType::I32 => Some((31, true, 0)),
            DType::I64 => Some((63, true, 0)),
            DType::U8 => Some((8, false, 0)),
            DType::U16 => Some((16, false, 0)),
            DType::U32 => Some((32, false, 0)),
            DType::U64 => Some((64, false, 0)),
            DType::F16 => Some((11, true, 5)),
            DType::BF16 => Some((8, true, 8)),
            DType::F32 => Some((24, true, 8)),
            DType::F64 => Some((53, true, 11)),
            DType::Bool | DType::String | DType::Bytes | DType::Variant => None,
        };
        match (digits(from), digits(self)) {
            (Some((n, negative, exponent)), Some((m, negatives, exponents))) => {
                n <= m && (negatives || !negative) && exponent <= exponents
            }
            _ => false,
        }
    }

    /// Whether the dtype is of a kind of the standard: "bool", "signed integer", "unsigned integer", "integral", "real
    /// floating", "complex floating" or "numeric".
    ///
    /// Errors: another name.
    ///
    /// ```
    /// # use extenso_types::DType;
    /// assert!(DType::U8.is_of_kind("integral").unwrap());
    /// ```
    pub fn is_of_kind(self, kind: &str) -> Result<bool> {
        Ok(match kind {
            "bool" => self.kind() == DTypeKind::Bool,
            "signed integer" => self.kind() == DTypeKind::Signed,
            "unsigned integer" => self.kind() == DTypeKind::Unsigned,
            "integral" => self.is_integer(),
            "real floating" => self.is_float(),
            "complex floating" => false,
            "numeric" => self.is_numeric(),
            other => {
                return Err(Error::value(format!("'{other}' is no kind of dtypes")).wanted(
                    "'bool', 'signed integer', 'unsigned integer', 'integral', 'real floating', 'complex floating' or 'numeric'",
                ));
            }
        })
    }

    /// The smallest and the largest integer of the dtype.
    ///
    /// Errors: no dtype of integers.
    ///
    /// ```
    /// # use extenso_types::DType;
    /// assert_eq!(DType::I8.integer_range().unwrap(), (-128, 127));
    /// ```
    pub fn integer_range(self) -> Result<(i128, i128)> {
        let bits = self.width().unwrap_or(0) * 8;
        match self.kind() {
            DTypeKind::Signed => Ok((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
            DTypeKind::Unsigned => Ok((0, (1 << bits) - 1)),
            DTypeKind::Bool | DTypeKind::Float | DTypeKind::Text | DTypeKind::Variant => {
                Err(Error::dtype(format!("found {self}")).wanted("a dtype of integers"))
            }
        }
    }

    /// The limits of the floats of the dtype.
    ///
    /// Errors: no dtype of floats.
    ///
    /// ```
    /// # use extenso_types::DType;
    /// assert_eq!(DType::F32.float_limits().unwrap().max, f64::from(f32::MAX));
    /// ```
    pub fn float_limits(self) -> Result<FloatLimits> {
        // Bits of the significand behind its first one, and the largest exponent.
        let (fraction, exponent) = match self {
            DType::F16 => (10, 15),
            DType::BF16 => (7, 127),
            DType::F32 => (23, 127),
            DType::F64 => (52, 1023),
            other => return Err(Error::dtype(format!("found {other}")).wanted("a dtype of floats")),
        };
        let eps = 2_f64.powi(-fraction);
        let max = (2.0 - eps) * 2_f64.powi(exponent);
        Ok(FloatLimits { eps, max, smallest_normal: 2_f64.powi(1 - exponent) })
    }
}

/// What floats of a dtype there are.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FloatLimits {
    /// From 1 to the next larger float.
    pub eps: f64,
    /// The largest finite float; the smallest is its negative.
    pub max: f64,
    /// The smallest positive float with a full significand.
    pub smallest_normal: f64,
}

/// The signed integers of twice the width.
fn twice(dtype: DType) -> Option<DType> {
    match dtype.width()? {
        1 => Some(DType::I16),
        2 => Some(DType::I32),
        4 => Some(DType::I64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promotion_is_symmetric_and_holds_both() {
        for (a, b) in DType::all().flat_map(|a| DType::all().map(move |b| (a, b))) {
            let Ok(both) = a.promote(b) else {
                assert!(b.promote(a).is_err());
                continue;
            };
            assert_eq!(b.promote(a).expect("symmetric"), both);
            assert!(a.can_cast(both) && b.can_cast(both), "{a}, {b}, {both}");
            if both.is_integer() {
                let ranges = [a, b, both].map(|d| d.integer_range().expect("integers"));
                assert!(ranges[..2].iter().all(|r| r.0 >= ranges[2].0 && r.1 <= ranges[2].1), "{a}, {b}, {both}");
            }
        }
    }

    #[test]
    fn limits_are_those_of_the_machine() {
        let single = DType::F32.float_limits().expect("floats");
        assert_eq!(single.eps, f64::from(f32::EPSILON));
        assert_eq!(single.smallest_normal, f64::from(f32::MIN_POSITIVE));
        let double = DType::F64.float_limits().expect("floats");
        assert_eq!((double.eps, double.max, double.smallest_normal), (f64::EPSILON, f64::MAX, f64::MIN_POSITIVE));
        assert_eq!(DType::U64.integer_range().expect("integers"), (0, i128::from(u64::MAX)));
    }
}
