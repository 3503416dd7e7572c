//! Enums: numbers and names.

use prost_reflect::{EnumDescriptor, Syntax};
use std::collections::HashMap;
use std::sync::Arc;

/// The values of an enum.
#[derive(Debug)]
pub struct Values {
    /// The first name of each number.
    names: HashMap<i32, Arc<str>>,
    closed: bool,
    /// What a field without presence has if nothing came.
    pub default: i32,
}

impl Values {
    /// The values that a descriptor lists.
    pub fn new(descriptor: &EnumDescriptor) -> Arc<Values> {
        let mut names = HashMap::new();
        for value in descriptor.values() {
            names.entry(value.number()).or_insert_with(|| value.name().into());
        }
        let closed = descriptor.parent_file().syntax() == Syntax::Proto2;
        // Without a `default` of its own, which only a field with presence has, the first value.
        let default = descriptor.values().next().map_or(0, |value| value.number());
        Arc::new(Values { names, closed, default })
    }

    /// Whether a field may hold this number; one that it may not hold counts as not there.
    pub fn has(&self, number: i32) -> bool {
        !self.closed || self.names.contains_key(&number)
    }

    /// The name of a number.
    pub fn name(&self, number: i32) -> Option<&Arc<str>> {
        self.names.get(&number)
    }
}
