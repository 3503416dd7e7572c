//! Enums: numbers and names.

use prost_reflect::{EnumDescriptor, Syntax};
use std::collections::HashMap;
use std::sync::Arc;

/// Whether it is the enum of the null.
pub fn is_null(descriptor: &EnumDescriptor) -> bool {
    descriptor.full_name() == "google.protobuf.NullValue"
}

/// The values of an enum.
#[derive(Debug)]
pub struct Values {
    /// The first name of each number.
    names: HashMap<i32, Arc<str>>,
    /// The number of each name.
    numbers: HashMap<Arc<str>, i32>,
    closed: bool,
    /// Whether it is the enum of the null, which is written as one in JSON.
    pub is_null: bool,
    /// What a field without presence has if nothing came.
    pub default: i32,
}

impl Values {
    /// The values that a descriptor lists.
    pub fn new(descriptor: &EnumDescriptor) -> Arc<Values> {
        let (mut names, mut numbers) = (HashMap::new(), HashMap::new());
        // The descriptor's own `values` have those of one number in any order.
        for value in &descriptor.enum_descriptor_proto().value {
            names.entry(value.number()).or_insert_with(|| value.name().into());
            numbers.insert(value.name().into(), value.number());
        }
        let closed = descriptor.parent_file().syntax() == Syntax::Proto2;
        // Without a `default` of its own, which only a field with presence has, the first value; `values` has them by number.
        let default = if names.is_empty() { 0 } else { descriptor.default_value().number() };
        let is_null = is_null(descriptor);
        Arc::new(Values { names, numbers, closed, is_null, default })
    }

    /// Whether there are numbers that a field may not hold.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether a field may hold this number; one that it may not hold counts as not there.
    pub fn has(&self, number: i32) -> bool {
        !self.closed || self.names.contains_key(&number)
    }

    /// The number of a name.
    pub fn number(&self, name: &str) -> Option<i32> {
        self.numbers.get(name).copied()
    }

    /// The name of a number.
    pub fn name(&self, number: i32) -> Option<&Arc<str>> {
        self.names.get(&number)
    }
}
