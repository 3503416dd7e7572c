//! The way to a leaf: which structs and lists it lies in, and from which definition level on each is there.
//!
//! Invariant: the levels are those of the file's schema, step by step; a leaf whose Arrow fields tell another way has none.

use super::super::project::width;
use super::values::Kind;
use arrow_schema::{DataType, Field};
use parquet::basic::Repetition;
use parquet::schema::types::{ColumnDescriptor, Type};
use std::sync::Arc;

/// The largest level that is usual.
const MOST: u8 = 100;

/// The way to one leaf.
#[derive(Clone, Debug)]
pub struct Way {
    /// The top field, with nothing below it that does not lead to the leaf.
    pub field: Arc<Field>,
    /// The rows, and the items of each list, the outermost first.
    pub depths: Vec<Depth>,
    pub kind: Kind,
    /// The definition level of a value that is there.
    pub there: u8,
    /// Whether the leaf itself may be null.
    pub nullable: bool,
}

/// What is between two lists.
#[derive(Clone, Default, Debug)]
pub struct Depth {
    /// The definition level from which there is an item.
    pub from: u8,
    /// The definition levels from which what may be null is there, the outermost first.
    pub nulls: Vec<u8>,
}

impl Way {
    /// The way to the leaf of this number below a top field, which `root` is in the file's schema; none if it is not usual.
    pub fn new(top: &Field, leaf: usize, root: &Type, column: &ColumnDescriptor) -> Option<Way> {
        let mut walk = Walk { leaf, level: 0, depths: vec![Depth::default()], steps: Vec::new() };
        let (field, leaf) = walk.below(top)?;
        let kind = Kind::of(column.physical_type(), leaf.data_type())?;
        let there = (walk.steps == steps(root, column)? && walk.level <= MOST).then_some(walk.level)?;
        let levels = (i16::from(there), i16::try_from(walk.depths.len() - 1).ok()?);
        let same = levels == (column.max_def_level(), column.max_rep_level());
        same.then(|| Way { field, depths: walk.depths, kind, there, nullable: leaf.is_nullable() })
    }
}

/// What makes a level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    Null,
    List,
}

struct Walk {
    /// How many leaves are before the wanted one.
    leaf: usize,
    level: u8,
    depths: Vec<Depth>,
    steps: Vec<Step>,
}

impl Walk {
    /// Whether the leaf is below the field; it is passed otherwise.
    fn leads(&mut self, field: &Field) -> bool {
        let width = width(field.data_type());
        if self.leaf >= width {
            self.leaf -= width;
            return false;
        }
        true
    }

    /// The field with nothing but the leaf below it, and the leaf.
    fn below(&mut self, field: &Field) -> Option<(Arc<Field>, Field)> {
        if field.is_nullable() {
            self.level = self.level.checked_add(1)?;
            self.depths.last_mut()?.nulls.push(self.level);
            self.steps.push(Step::Null);
        }
        let (data_type, leaf) = match field.data_type() {
            DataType::Struct(fields) => {
                let child = fields.iter().find(|field| self.leads(field))?;
                let (child, leaf) = self.below(child)?;
                (DataType::Struct([child].into_iter().collect()), leaf)
            }
            DataType::List(item) => self.items(item).map(|(item, leaf)| (DataType::List(item), leaf))?,
            DataType::LargeList(item) => self.items(item).map(|(item, leaf)| (DataType::LargeList(item), leaf))?,
            DataType::FixedSizeList(item, size) if *size > 0 => {
                self.items(item).map(|(item, leaf)| (DataType::FixedSizeList(item, *size), leaf))?
            }
            data_type => (data_type.clone(), field.clone()),
        };
        Some((Arc::new(field.clone().with_data_type(data_type)), leaf))
    }

    fn items(&mut self, item: &Field) -> Option<(Arc<Field>, Field)> {
        self.level = self.level.checked_add(1)?;
        self.depths.push(Depth { from: self.level, nulls: Vec::new() });
        self.steps.push(Step::List);
        self.below(item)
    }
}

/// What makes the levels of a column, by the file's schema.
fn steps(root: &Type, column: &ColumnDescriptor) -> Option<Vec<Step>> {
    let (mut at, mut steps) = (root, Vec::new());
    for (depth, name) in column.path().parts().iter().enumerate() {
        // The root is the first step itself.
        if depth > 0 {
            at = at.is_group().then(|| at.get_fields().iter().find(|field| field.name() == name))??.as_ref();
        } else if at.name() != name {
            return None;
        }
        match at.get_basic_info().repetition() {
            Repetition::REQUIRED => {}
            Repetition::OPTIONAL => steps.push(Step::Null),
            Repetition::REPEATED => steps.push(Step::List),
        }
    }
    Some(steps)
}
