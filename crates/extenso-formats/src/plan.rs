//! Plans: what a reader or a writer of records does with each value, whatever the format.
//!
//! Invariant: the columns of a checked plan are numbered from zero without gaps, and each has one place in the tree.
//! A leaf that nobody needs has no column. Knows nothing of specs, values or bytes.

use crate::columns::ColumnKind;
use crate::spelled;
use extenso_ext::Spelling;
use extenso_types::{DType, DTypeKind, Error, Path, Result, Segment};
use std::collections::HashSet;
use std::sync::Arc;

/// The number of a column.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ColumnId(pub u32);

impl ColumnId {
    /// The column's place in a list of columns.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What to do with one value of a record.
#[derive(Clone, PartialEq, Debug)]
pub enum Plan {
    /// Reads over the value; it still has to be well formed. A writer leaves a skipped field out.
    Skip,
    /// A boolean or a number.
    Scalar {
        /// The element type: bool, an integer or a float.
        dtype: DType,
        /// Where values go.
        column: ColumnId,
    },
    /// A string or a byte string.
    Text {
        /// String or bytes.
        dtype: DType,
        /// The width of the text's offsets: i32 or i64.
        index: DType,
        /// Where values go.
        column: ColumnId,
    },
    /// A time or a decimal, which is an integer that a text spells, or bytes of one width.
    Spelled {
        /// What the text of an integer is.
        spelling: Spelling,
        /// Where the integers go, of the width that the spelling says: decimals byte by byte.
        column: ColumnId,
    },
    /// A value that may be null or missing: then everything below gets its default (zero, empty row).
    Optional {
        /// Where the validity bits go; without it, null reads as the default, and a writer takes every value for valid.
        validity: Option<ColumnId>,
        /// The value that may be absent.
        inner: Box<Plan>,
    },
    /// A list.
    List {
        /// Where the ends of rows go.
        offsets: Option<ColumnId>,
        /// The width of the offsets: i32 or i64.
        index: DType,
        /// How many items there are, if every list has as many; an absent one then has the defaults of its items.
        size: Option<usize>,
        /// Each item.
        item: Box<Plan>,
    },
    /// A list of exactly `size` items: one more dense axis.
    Fixed {
        /// How many items there are.
        size: usize,
        /// Each item.
        item: Box<Plan>,
    },
    /// A value of one of several types.
    Union {
        /// Where the place of its type among the children goes, as i8.
        tags: Option<ColumnId>,
        /// The types, by name. Those that a value is not of get defaults.
        children: Vec<Field>,
    },
    /// A record. Fields that the plan does not name are read over; one without fields has to be a record all the same.
    Record {
        /// The fields, in the order in which a writer writes them.
        fields: Vec<Field>,
    },
}

/// One named field of a record.
#[derive(Clone, PartialEq, Debug)]
pub struct Field {
    /// The name.
    pub name: Arc<str>,
    /// What to do with its value.
    pub plan: Plan,
}

impl Field {
    /// A field of this name and plan.
    pub fn new(name: impl Into<Arc<str>>, plan: Plan) -> Field {
        Field { name: name.into(), plan }
    }
}

/// How deep a plan may nest; readers and writers recurse over plans, never over input.
pub const MAX_DEPTH: usize = 128;

/// How many types a union may have, so that i8 counts them.
pub const MAX_TYPES: usize = 128;

/// How many elements one null may stand for: the product of the fixed sizes above a leaf.
pub const MAX_FIXED: usize = 1 << 24;

impl Plan {
    /// What an error calls it.
    pub(crate) fn what(&self) -> String {
        match self {
            Plan::Skip => "nothing".into(),
            Plan::Scalar { dtype, .. } | Plan::Text { dtype, .. } => dtype.to_string(),
            Plan::Spelled { spelling, .. } if spelling.is_cells() => format!("{} bytes of one width", spelling.width()),
            Plan::Spelled { spelling, .. } if spelling.is_time() => "a time".into(),
            Plan::Spelled { .. } => "a decimal".into(),
            Plan::Optional { .. } => "a masked value".into(),
            Plan::List { .. } => "a list".into(),
            Plan::Fixed { size, .. } => format!("an axis of {size}"),
            Plan::Union { .. } => "a union".into(),
            Plan::Record { .. } => "a struct".into(),
        }
    }

    /// Checks the plan and gets the kinds of its columns, in the order of their ids.
    ///
    /// Errors, each with its path: a dtype without a column kind, column ids used twice or with gaps, field names used
    /// twice, an optional directly inside an optional (no format can tell its two nulls apart), a union of no or more than
    /// [`MAX_TYPES`] types, a plan deeper than [`MAX_DEPTH`], fixed sizes whose product is above [`MAX_FIXED`].
    ///
    /// ```text
    /// Record { id: Scalar(i64, #0), tags: List(offsets #1, Text(string, #2)) }  ->  [Number(i64), Offsets(i32), Text(i32)]
    /// ```
    pub fn kinds(&self) -> Result<Vec<ColumnKind>> {
        let mut found = Vec::new();
        self.collect(&mut Vec::new(), 1, &mut found).map_err(|e| e.at("plan"))?;
        found.sort_by_key(|(id, _)| *id);
        for (i, (id, _)) in found.iter().enumerate() {
            if id.index() != i {
                let what = format!("column {} stands where column {i} should", id.0);
                return Err(Error::value(what).wanted("ids from zero without gaps, each used once").at("plan"));
            }
        }
        Ok(found.into_iter().map(|(_, kind)| kind).collect())
    }

    /// Whether nothing of the value is wanted, so that reading over it is enough.
    pub fn is_unused(&self) -> bool {
        match self {
            Plan::Skip => true,
            Plan::Scalar { .. } | Plan::Text { .. } | Plan::Spelled { .. } => false,
            Plan::Optional { validity: column, inner: below } | Plan::List { offsets: column, item: below, .. } => {
                column.is_none() && below.is_unused()
            }
            Plan::Fixed { item, .. } => item.is_unused(),
            Plan::Union { tags: Some(_), .. } => false,
            // That it is a record is what is wanted of one without fields.
            Plan::Record { fields } if fields.is_empty() => false,
            Plan::Union { tags: None, children: fields } | Plan::Record { fields } => {
                fields.iter().all(|field| field.plan.is_unused())
            }
        }
    }

    fn collect(&self, at: &mut Vec<Segment>, product: usize, found: &mut Vec<(ColumnId, ColumnKind)>) -> Result<()> {
        if at.len() > MAX_DEPTH {
            return Err(refuse(at, "the plan nests too deep", format!("at most {MAX_DEPTH} levels")));
        }
        match self {
            Plan::Skip => Ok(()),
            Plan::Scalar { dtype, column } => {
                found.push((*column, scalar_kind(*dtype, at)?));
                Ok(())
            }
            Plan::Text { dtype, index, column } => {
                if dtype.kind() != DTypeKind::Text {
                    return Err(refuse(at, format!("{dtype} is no text"), "string or bytes"));
                }
                found.push((*column, ColumnKind::Text(check_index(*index, at)?)));
                Ok(())
            }
            Plan::Spelled { spelling, column } => {
                found.push((*column, ColumnKind::Number(spelling.dtype())));
                Ok(())
            }
            Plan::Optional { validity, inner } => {
                if matches!(**inner, Plan::Optional { .. }) {
                    return Err(refuse(at, "an optional holds an optional", "one optional"));
                }
                found.extend(validity.map(|id| (id, ColumnKind::Bits)));
                inner.below(Segment::Itself, at, product, found)
            }
            Plan::List { offsets, index, size, item } => {
                let kind = ColumnKind::Offsets(check_index(*index, at)?, *size);
                found.extend(offsets.map(|id| (id, kind)));
                let product = fixed_product(product, size.unwrap_or(1), at)?;
                item.below(Segment::Each, at, product, found)
            }
            Plan::Fixed { size, item } => {
                let product = fixed_product(product, *size, at)?;
                item.below(Segment::Each, at, product, found)
            }
            Plan::Union { tags, children } => {
                if !(1..=MAX_TYPES).contains(&children.len()) {
                    let what = format!("a union has {} types", children.len());
                    return Err(refuse(at, what, format!("from 1 to {MAX_TYPES}")));
                }
                found.extend(tags.map(|id| (id, ColumnKind::Number(DType::I8))));
                collect_fields(children, at, product, found)
            }
            Plan::Record { fields } => collect_fields(fields, at, product, found),
        }
    }

    fn below(
        &self,
        step: Segment,
        at: &mut Vec<Segment>,
        product: usize,
        found: &mut Vec<(ColumnId, ColumnKind)>,
    ) -> Result<()> {
        at.push(step);
        self.collect(at, product, found)?;
        at.pop();
        Ok(())
    }
}

fn collect_fields(
    fields: &[Field],
    at: &mut Vec<Segment>,
    product: usize,
    found: &mut Vec<(ColumnId, ColumnKind)>,
) -> Result<()> {
    let mut names = HashSet::new();
    for Field { name, plan } in fields {
        if !names.insert(name) {
            return Err(refuse(at, format!("two fields are named \"{name}\""), "each name once"));
        }
        plan.below(Segment::Field(name.clone()), at, product, found)?;
    }
    Ok(())
}

/// How many defaults one absent value of this plan adds to each column below it.
pub(crate) fn fills(plan: &Plan) -> Vec<(ColumnId, usize)> {
    fn add(plan: &Plan, n: usize, out: &mut Vec<(ColumnId, usize)>) {
        match plan {
            Plan::Skip => {}
            Plan::Scalar { column, .. } | Plan::Text { column, .. } => out.push((*column, n)),
            Plan::Spelled { spelling, column } => out.push((*column, n * spelled::elements(spelling))),
            Plan::Optional { validity, inner } => {
                out.extend(validity.map(|id| (id, n)));
                add(inner, n, out);
            }
            // An absent list is an empty row, of which nothing is added to its items.
            Plan::List { offsets, size, item, .. } => {
                out.extend(offsets.map(|id| (id, n)));
                size.iter().for_each(|size| add(item, n * size, out));
            }
            Plan::Fixed { size, item } => add(item, n * size, out),
            Plan::Union { tags, children } => {
                out.extend(tags.map(|id| (id, n)));
                children.iter().for_each(|Field { plan, .. }| add(plan, n, out));
            }
            Plan::Record { fields } => fields.iter().for_each(|Field { plan, .. }| add(plan, n, out)),
        }
    }
    let mut out = Vec::new();
    add(plan, 1, &mut out);
    out
}

/// How many elements one null stands for below another fixed size.
fn fixed_product(product: usize, size: usize, at: &[Segment]) -> Result<usize> {
    product.checked_mul(size).filter(|p| *p <= MAX_FIXED).ok_or_else(|| {
        refuse(at, "the product of the fixed sizes is too large", format!("at most {MAX_FIXED} elements"))
    })
}

fn scalar_kind(dtype: DType, at: &[Segment]) -> Result<ColumnKind> {
    match dtype.kind() {
        DTypeKind::Bool => Ok(ColumnKind::Bits),
        DTypeKind::Signed | DTypeKind::Unsigned | DTypeKind::Float => Ok(ColumnKind::Number(dtype)),
        DTypeKind::Text | DTypeKind::Variant => Err(refuse(at, format!("{dtype} is no scalar"), "bool or a number")),
    }
}

fn check_index(index: DType, at: &[Segment]) -> Result<DType> {
    if matches!(index, DType::I32 | DType::I64) {
        return Ok(index);
    }
    Err(refuse(at, format!("offsets of {index} do not exist"), "i32 or i64"))
}

fn refuse(at: &[Segment], what: impl Into<String>, wanted: impl Into<String>) -> Error {
    let path: Path = at.iter().cloned().collect();
    let error = Error::value(what).wanted(wanted);
    if path.is_root() { error } else { error.at(format!("'{path}'")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scalar(id: u32) -> Plan {
        Plan::Scalar { dtype: DType::I64, column: ColumnId(id) }
    }

    fn check_refused(plan: Plan, text: &str) {
        let error = plan.kinds().expect_err(text).to_string();
        assert!(error.contains(text), "{error}");
    }

    #[test]
    fn columns_are_numbered_without_gaps() {
        let pair = |a, b| Plan::Record { fields: vec![Field::new("a", scalar(a)), Field::new("b", scalar(b))] };
        assert_eq!(pair(1, 0).kinds().expect("a plan").len(), 2);
        check_refused(pair(0, 0), "column 0 stands where column 1 should");
        check_refused(pair(0, 2), "column 2 stands where column 1 should");
    }

    #[test]
    fn plans_out_of_bounds_are_refused_with_their_path() {
        let wrap = |plan| Plan::Record { fields: vec![Field::new("a b", plan)] };
        check_refused(wrap(Plan::Scalar { dtype: DType::Variant, column: ColumnId(0) }), "plan: '\"a b\"': variant");
        let huge = Plan::Fixed { size: 1 << 40, item: Box::new(scalar(0)) };
        check_refused(wrap(huge), "too large");
        let mut deep = scalar(0);
        for _ in 0..200 {
            deep = Plan::Fixed { size: 1, item: Box::new(deep) };
        }
        check_refused(deep, "too deep");
        let optional = |inner| Plan::Optional { validity: None, inner: Box::new(inner) };
        check_refused(optional(optional(Plan::Skip)), "optional");
        check_refused(Plan::List { offsets: None, index: DType::U8, size: None, item: Box::new(Plan::Skip) }, "u8");
        let fields = vec![Field::new("a", Plan::Skip), Field::new("a", Plan::Skip)];
        check_refused(Plan::Record { fields }, "two fields");
        check_refused(Plan::Union { tags: None, children: vec![] }, "a union has 0 types");
    }
}
