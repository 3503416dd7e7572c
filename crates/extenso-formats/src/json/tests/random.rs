//! Random plans and columns from a seed, and what holds for every plan.

use crate::columns::{Column, Columns};
use crate::plan::{ColumnId, Field, Plan, fills};
use extenso_core::kernels::decimal::Float;
use extenso_types::DType;
use half::{bf16, f16};

/// A small generator of random numbers (SplitMix64; Steele, Lea and Flood).
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

/// A record of random fields; every leaf has a column.
pub fn plan(rng: &mut Rng) -> Plan {
    let mut ids = 0;
    record(rng, 3, &mut ids)
}

const NAMES: [&str; 8] = ["a", "b", "item id", "größe", "\"q\\\n", "", "long_name_of_a_field", "long_name_of_a_fiele"];

fn record(rng: &mut Rng, depth: usize, ids: &mut u32) -> Plan {
    let n = rng.below(NAMES.len() + 1);
    let first = rng.below(NAMES.len());
    let field = |i: usize| Field::new(NAMES[(first + i) % NAMES.len()], any(rng, depth, true, ids));
    Plan::Record { fields: (0..n).map(field).collect() }
}

fn any(rng: &mut Rng, depth: usize, may_be_optional: bool, ids: &mut u32) -> Plan {
    let mut id = || {
        *ids += 1;
        ColumnId(*ids - 1)
    };
    let index = rng.pick(&[DType::I32, DType::I64]);
    match rng.below(if depth == 0 { 4 } else { 8 }) {
        0 | 1 => {
            let dtypes: Vec<DType> = DType::all().filter(|d| d.is_numeric() || *d == DType::Bool).collect();
            Plan::Scalar { dtype: rng.pick(&dtypes), column: id() }
        }
        2 => Plan::Text { dtype: rng.pick(&[DType::String, DType::Bytes]), index, column: id() },
        3 if may_be_optional => Plan::Optional { validity: Some(id()), inner: Box::new(any(rng, depth, false, ids)) },
        3 => Plan::Scalar { dtype: DType::U64, column: id() },
        4 | 5 => Plan::List { offsets: Some(id()), index, size: None, item: Box::new(any(rng, depth - 1, true, ids)) },
        6 => Plan::Fixed { size: rng.below(4), item: Box::new(any(rng, depth - 1, true, ids)) },
        _ => record(rng, depth - 1, ids),
    }
}

/// Columns of this many random rows.
pub fn columns(plan: &Plan, rows: usize, rng: &mut Rng) -> Columns {
    let mut columns = Columns::new(&plan.kinds().expect("a plan")).expect("kinds");
    (0..rows).for_each(|_| push(plan, &mut columns, rng));
    columns
}

fn push(plan: &Plan, columns: &mut Columns, rng: &mut Rng) {
    match plan {
        Plan::Skip => {}
        Plan::Scalar { column, .. } => push_scalar(columns.get_mut(*column).expect("a column"), rng),
        Plan::Text { dtype, column, .. } => {
            let pieces =
                ["", "a", "longer than one block of sixteen bytes", "\"\\/\n\r\t\u{8}", "é", "\u{0}\u{1f}\u{7f}", "😀"];
            let text: String = (0..rng.below(3)).map(|_| rng.pick(&pieces)).collect();
            let bytes: Vec<u8> = (0..rng.below(6)).map(|_| rng.next() as u8).collect();
            let Some(Column::Text(texts)) = columns.get_mut(*column) else { panic!("no text") };
            assert!(texts.push(if *dtype == DType::String { text.as_bytes() } else { &bytes }));
        }
        Plan::Spelled { .. } => panic!("no times"),
        Plan::Optional { validity, inner } => {
            let valid = rng.below(3) > 0;
            let Some(Column::Bits(bits)) = validity.and_then(|id| columns.get_mut(id)) else { panic!("no bits") };
            bits.push(valid);
            if valid {
                return push(inner, columns, rng);
            }
            for (id, n) in fills(inner) {
                columns.get_mut(id).expect("a column").push_defaults(n).expect("memory");
            }
        }
        Plan::List { offsets, item, .. } => {
            let n = rng.below(4);
            (0..n).for_each(|_| push(item, columns, rng));
            let Some(Column::Offsets(offsets)) = offsets.and_then(|id| columns.get_mut(id)) else {
                panic!("no offsets")
            };
            assert!(offsets.push_row(n));
        }
        Plan::Fixed { size, item } => (0..*size).for_each(|_| push(item, columns, rng)),
        Plan::Union { tags, children } => {
            let tag = rng.below(children.len());
            let Some(Column::I8(tags)) = tags.and_then(|id| columns.get_mut(id)) else { panic!("no tags") };
            tags.push(tag as i8);
            for (i, child) in children.iter().enumerate() {
                if i == tag {
                    push(&child.plan, columns, rng);
                    continue;
                }
                for (id, n) in fills(&child.plan) {
                    columns.get_mut(id).expect("a column").push_defaults(n).expect("memory");
                }
            }
        }
        Plan::Record { fields } => fields.iter().for_each(|field| push(&field.plan, columns, rng)),
    }
}

fn push_scalar(column: &mut Column, rng: &mut Rng) {
    // Few bits as often as many: small numbers, extremes and everything between.
    let bits = rng.next() >> rng.below(64);
    let bits = if rng.below(2) == 0 { bits } else { !bits };
    match column {
        Column::Bits(column) => column.push(bits & 1 == 1),
        Column::I8(column) => column.push(bits as i8),
        Column::I16(column) => column.push(bits as i16),
        Column::I32(column) => column.push(bits as i32),
        Column::I64(column) => column.push(bits as i64),
        Column::U8(column) => column.push(bits as u8),
        Column::U16(column) => column.push(bits as u16),
        Column::U32(column) => column.push(bits as u32),
        Column::U64(column) => column.push(bits),
        Column::F16(column) => column.push(canonical(f16::from_bits(bits as u16), f16::is_nan)),
        Column::BF16(column) => column.push(canonical(bf16::from_bits(bits as u16), bf16::is_nan)),
        Column::F32(column) => column.push(canonical(f32::from_bits(bits as u32), f32::is_nan)),
        Column::F64(column) => column.push(canonical(f64::from_bits(bits), f64::is_nan)),
        Column::Text(_) | Column::Offsets(_) => panic!("no scalar"),
    }
}

fn canonical<T: Float>(value: T, is_nan: fn(T) -> bool) -> T {
    if is_nan(value) { T::exact(f64::NAN) } else { value }
}

/// The plan without the columns that `keep` refuses, and the old ids of those that are left.
pub fn project(plan: &Plan, keep: &mut impl FnMut(ColumnId) -> bool, old: &mut Vec<ColumnId>) -> Plan {
    let mut take = |id: ColumnId| {
        keep(id).then(|| {
            old.push(id);
            ColumnId(old.len() as u32 - 1)
        })
    };
    match plan {
        Plan::Skip => Plan::Skip,
        Plan::Scalar { dtype, column } => {
            take(*column).map_or(Plan::Skip, |column| Plan::Scalar { dtype: *dtype, column })
        }
        Plan::Text { dtype, index, column } => {
            take(*column).map_or(Plan::Skip, |column| Plan::Text { dtype: *dtype, index: *index, column })
        }
        Plan::Spelled { spelling, column } => {
            take(*column).map_or(Plan::Skip, |column| Plan::Spelled { spelling: spelling.clone(), column })
        }
        Plan::Optional { validity, inner } => {
            Plan::Optional { validity: validity.and_then(take), inner: Box::new(project(inner, keep, old)) }
        }
        Plan::List { offsets, index, size, item } => {
            let offsets = offsets.and_then(take);
            Plan::List { offsets, index: *index, size: *size, item: Box::new(project(item, keep, old)) }
        }
        Plan::Fixed { size, item } => Plan::Fixed { size: *size, item: Box::new(project(item, keep, old)) },
        Plan::Union { tags, children } => {
            let tags = tags.and_then(take);
            let children = children.iter().map(|f| Field::new(f.name.clone(), project(&f.plan, keep, old)));
            Plan::Union { tags, children: children.collect() }
        }
        Plan::Record { fields } => {
            let fields = fields.iter().map(|f| Field::new(f.name.clone(), project(&f.plan, keep, old)));
            Plan::Record { fields: fields.collect() }
        }
    }
}

/// Asserts that the columns hold exactly this many rows of the plan.
pub fn assert_rows(plan: &Plan, columns: &Columns, rows: usize) {
    let len = |id: ColumnId| columns.get(id).expect("a column").len();
    match plan {
        Plan::Skip => {}
        Plan::Scalar { column, .. } | Plan::Text { column, .. } => assert_eq!(len(*column), rows),
        Plan::Spelled { spelling, column } => assert_eq!(len(*column), rows * crate::spelled::elements(spelling)),
        Plan::Optional { validity, inner } => {
            validity.iter().for_each(|id| assert_eq!(len(*id), rows));
            assert_rows(inner, columns, rows);
        }
        Plan::List { offsets, item, .. } => {
            let Some(Column::Offsets(offsets)) = offsets.and_then(|id| columns.get(id)) else { return };
            assert_eq!(offsets.len(), rows);
            assert_rows(item, columns, offsets.last());
        }
        Plan::Fixed { size, item } => assert_rows(item, columns, size * rows),
        Plan::Union { tags, children } => {
            tags.iter().for_each(|id| assert_eq!(len(*id), rows));
            children.iter().for_each(|child| assert_rows(&child.plan, columns, rows));
        }
        Plan::Record { fields } => fields.iter().for_each(|field| assert_rows(&field.plan, columns, rows)),
    }
}
