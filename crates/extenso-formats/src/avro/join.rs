//! Columns that were read apart, put end to end.
//!
//! Invariant: nodes of one place of one schema are put together; what is put behind is taken, and the columns are those that one reader would
//! have made.

use super::node::{Data, Node, Part, Union, last};

impl Node {
    /// Takes the values of another node of the same place, behind its own.
    pub fn append(&mut self, other: &mut Node) {
        if let (Some(bits), Some(more)) = (&mut self.validity, &mut other.validity) {
            bits.append_buffer(&more.finish());
        }
        self.data.append(&mut other.data);
    }
}

impl Data {
    fn append(&mut self, other: &mut Data) {
        match (self, other) {
            (Data::Bool(bits), Data::Bool(more)) => bits.append_buffer(&more.finish()),
            (Data::Ints(_, numbers), Data::Ints(_, more))
            | (Data::Codes { codes: numbers, .. }, Data::Codes { codes: more, .. }) => numbers.append(more),
            (Data::Float(numbers), Data::Float(more)) => numbers.append(more),
            (Data::Double(numbers), Data::Double(more)) => numbers.append(more),
            (Data::Cells { bytes, .. }, Data::Cells { bytes: more, .. }) => bytes.append(more),
            (Data::Text { ends, bytes, .. }, Data::Text { ends: more, bytes: text, .. }) => {
                append_ends(ends, more);
                bytes.append(text);
            }
            (Data::List { ends, item, .. }, Data::List { ends: more, item: items, .. }) => {
                append_ends(ends, more);
                item.append(items);
            }
            (Data::Record { parts, .. }, Data::Record { parts: more, .. }) => {
                for pair in parts.iter_mut().zip(more) {
                    if let (Part::Read(node), Part::Read(more)) = pair {
                        node.append(more);
                    }
                }
            }
            (Data::Union(union), Data::Union(more)) => union.append(more),
            // What is read over has no column, and nodes of one place are alike.
            _ => {}
        }
    }
}

impl Union {
    fn append(&mut self, other: &mut Union) {
        let (before, count) = (self.ids.len(), other.ids.len());
        if let (Some(offsets), Some(more)) = (&mut self.offsets, &mut other.offsets) {
            for (id, offset) in other.ids.iter().zip(more.drain(..)) {
                let child = self.children.iter().find(|child| child.id == *id);
                let from = i32::try_from(child.map_or(0, |child| child.len)).unwrap_or(i32::MAX);
                offsets.push(offset.saturating_add(from));
            }
        }
        let sparse = self.offsets.is_none();
        for (child, more) in self.children.iter_mut().zip(&mut other.children) {
            if sparse {
                child.upto(before);
                more.upto(count);
            }
            child.node.append(&mut more.node);
            child.len += std::mem::take(&mut more.len);
        }
        self.ids.append(&mut other.ids);
    }
}

/// Adds the ends of other rows, which begin where the own ones end.
fn append_ends(ends: &mut Vec<i64>, more: &mut Vec<i64>) {
    let from = last(ends);
    ends.extend(more.drain(1..).map(|end| end.saturating_add(from)));
}
