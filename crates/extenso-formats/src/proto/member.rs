//! Members of a message: its fields, and the extensions of it that its schema knows.
//!
//! Invariant: an extension has its full name in brackets, as in `[shop.discount]`, which no field has.

use crate::names::some_names;
use prost_reflect::{ExtensionDescriptor, FieldDescriptor, Kind, MessageDescriptor, OneofDescriptor};

/// A field, or an extension.
#[derive(Clone, Debug)]
pub enum Member {
    Field(FieldDescriptor),
    Extension(ExtensionDescriptor),
}

macro_rules! either {
    ($member:expr, $of:ident => $what:expr) => {
        match $member {
            Member::Field($of) => $what,
            Member::Extension($of) => $what,
        }
    };
}

impl Member {
    /// All members of a message, fields first.
    pub fn all(message: &MessageDescriptor) -> Vec<Member> {
        message.fields().map(Member::Field).chain(message.extensions().map(Member::Extension)).collect()
    }

    /// The member of this name.
    pub fn find(message: &MessageDescriptor, name: &str) -> Option<Member> {
        match in_brackets(name) {
            Some(name) => message.get_extension_by_full_name(name).map(Member::Extension),
            None => message.get_field_by_name(name).map(Member::Field),
        }
    }

    pub fn name(&self) -> String {
        match self {
            Member::Field(field) => field.name().to_string(),
            Member::Extension(extension) => format!("[{}]", extension.full_name()),
        }
    }

    /// The name in JSON.
    pub fn json_name(&self) -> String {
        match self {
            Member::Field(field) => field.json_name().to_string(),
            Member::Extension(_) => self.name(),
        }
    }

    pub fn number(&self) -> u32 {
        either!(self, of => of.number())
    }

    pub fn kind(&self) -> Kind {
        either!(self, of => of.kind())
    }

    pub fn is_map(&self) -> bool {
        either!(self, of => of.is_map())
    }

    pub fn is_group(&self) -> bool {
        either!(self, of => of.is_group())
    }

    pub fn is_packed(&self) -> bool {
        either!(self, of => of.is_packed())
    }

    /// Whether it comes any number of times.
    pub fn repeats(&self) -> bool {
        either!(self, of => of.is_list() || of.is_map())
    }

    pub fn is_required(&self) -> bool {
        matches!(self, Member::Field(field) if field.is_required())
    }

    /// Whether a message says if it is there; the key and the value of a map's entry always are.
    pub fn has_presence(&self) -> bool {
        let in_entry = matches!(self, Member::Field(field) if field.parent_message().is_map_entry());
        either!(self, of => of.supports_presence()) && !in_entry
    }

    /// The oneof that it belongs to, which the file names.
    pub fn oneof(&self) -> Option<OneofDescriptor> {
        match self {
            Member::Field(field) => field.containing_oneof().filter(|oneof| !oneof.is_synthetic()),
            Member::Extension(_) => None,
        }
    }
}

/// The message `google.protobuf.Any`, which holds a message of any type.
pub const ANY: &str = "google.protobuf.Any";

/// What stands between brackets, if the text is in them.
pub fn in_brackets(name: &str) -> Option<&str> {
    name.strip_prefix('[')?.strip_suffix(']')
}

/// The message that an `Any` is cast to by this name, as in `[shop.Item]`.
pub fn cast(any: &MessageDescriptor, name: &str) -> Option<MessageDescriptor> {
    let name = in_brackets(name).filter(|_| any.full_name() == ANY)?;
    any.parent_pool().get_message_by_name(name)
}

/// What an error lists as the members of a message.
pub fn names(message: &MessageDescriptor) -> String {
    let names: Vec<String> = Member::all(message).iter().map(Member::name).collect();
    some_names(names)
}
