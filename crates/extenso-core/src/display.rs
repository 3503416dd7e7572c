//! How values show themselves: nested lists, shortened when long.

use crate::ext::{Ext, OpaqueExtension};
use crate::offsets::Offsets;
use crate::partition::RowPartition;
use crate::tensor::{Dense, Storage, Tensor};
use crate::value::Value;
use extenso_types::{DType, Spec};
use half::{bf16, f16};
use std::fmt;

/// Elements shown at each end of an axis that is longer than twice this.
const EDGE: usize = 50;
/// Elements shown at most, about.
const MOST: usize = 10_000;

impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.data() {
            Ok(dense) => write_axis(f, dense, dense.dims(), 0, edge(dense.dims())),
            Err(_) => write!(f, "<symbol {}>", self.spec()),
        }
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor({self}, {})", self.spec())
    }
}

impl fmt::Debug for RowPartition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.data() {
            Ok(rows) => {
                f.write_str("RowPartition(")?;
                write_offsets(f, rows.offsets())?;
                f.write_str(")")
            }
            Err(_) => write!(f, "RowPartition(<symbol {}>)", self.spec()),
        }
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Tensor(t) => t.fmt(f),
            Value::Partition(p) => p.fmt(f),
            Value::Ext(e) => e.fmt(f),
        }
    }
}

impl fmt::Debug for Ext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.spec() {
            Ok(spec) => write!(f, "{}", Spec::from(spec)),
            Err(_) => write!(f, "{}(?)", self.def()),
        }
    }
}

impl fmt::Debug for OpaqueExtension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "opaque {:?}", Ext::new(self.clone()))
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Tensor(t) => fmt::Display::fmt(t, f),
            Value::Partition(_) | Value::Ext(_) => fmt::Debug::fmt(self, f),
        }
    }
}

/// The offsets minus the first, shortened as an axis is.
fn write_offsets(f: &mut fmt::Formatter<'_>, offsets: &Offsets) -> fmt::Result {
    f.write_str("[")?;
    for (i, before) in shown(offsets.len(), EDGE) {
        f.write_str(before)?;
        write!(f, "{}", offsets.get(i) - offsets.first())?;
    }
    f.write_str("]")
}

/// The elements that are shown of `n`, some at each end, and what stands before each.
fn shown(n: usize, edge: usize) -> impl Iterator<Item = (usize, &'static str)> {
    // Sizes may be without end where another is zero: what is left out is not passed over one by one.
    let (head, tail) = if n > 2 * edge { (edge, n - edge) } else { (n, n) };
    let before = move |i| {
        if i == 0 {
            ""
        } else if i == tail {
            ", ..., "
        } else {
            ", "
        }
    };
    (0..head).chain(tail..n).map(move |i| (i, before(i)))
}

/// How many elements are shown at each end of an axis, so that not too many are shown altogether.
fn edge(dims: &[usize]) -> usize {
    let shown = |edge: usize| dims.iter().fold(1_usize, |n, &d| n.saturating_mul(d.min(2 * edge).max(1)));
    let mut edge = EDGE;
    while edge > 0 && shown(edge) > MOST {
        edge /= 2;
    }
    edge
}

fn write_axis(f: &mut fmt::Formatter<'_>, dense: &Dense, dims: &[usize], at: usize, edge: usize) -> fmt::Result {
    let Some((&n, inner)) = dims.split_first() else { return write_element(f, dense, at) };
    let step: usize = inner.iter().product();
    f.write_str("[")?;
    for (i, before) in shown(n, edge) {
        f.write_str(before)?;
        write_axis(f, dense, inner, at + i * step, edge)?;
    }
    if edge == 0 && n > 0 {
        f.write_str("...")?;
    }
    f.write_str("]")
}

fn write_element(f: &mut fmt::Formatter<'_>, dense: &Dense, i: usize) -> fmt::Result {
    macro_rules! numbers {
        ($($d:ident $t:ty),*) => {
            match (dense.dtype(), dense.storage()) {
                $((DType::$d, Storage::Fixed(buffer)) => match bytemuck::cast_slice::<u8, $t>(buffer).get(i) {
                    Some(v) => write!(f, "{v:?}"),
                    None => Ok(()),
                },)*
                (_, Storage::Bits(bits)) => f.write_str(if bits.value(i) { "True" } else { "False" }),
                (DType::String, Storage::Text { .. }) => write!(f, "{:?}", dense.str_at(i).unwrap_or("")),
                (_, Storage::Text { .. }) => write!(f, "b\"{}\"", dense.text_at(i).unwrap_or(&[]).escape_ascii()),
                (_, Storage::Boxed(values)) => match values.get(i) {
                    Some(v) => write!(f, "{v}"),
                    None => Ok(()),
                },
                (_, Storage::Fixed(_)) => Ok(()),
            }
        };
    }
    numbers!(I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F16 f16, BF16 bf16, F32 f32, F64 f64)
}

#[cfg(test)]
mod tests {
    use crate::partition::RowPartition;

    #[test]
    fn long_partitions_are_shown_as_long_tensors_are() {
        let rows = |n: usize| format!("{:?}", RowPartition::from_lengths(vec![2; n]).expect("lengths"));
        assert_eq!(rows(0), "RowPartition([0])");
        assert_eq!(rows(3), "RowPartition([0, 2, 4, 6])");
        assert_eq!(rows(99).matches(", ").count(), 99);
        let long = rows(100_000);
        assert!(long.starts_with("RowPartition([0, 2, ") && long.ends_with(", 199998, 200000])"), "{long}");
        assert!(long.contains(", 98, ..., 199902, ") && long.len() < 1000, "{long}");
    }
}
