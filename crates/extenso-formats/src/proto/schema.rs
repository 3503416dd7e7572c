//! Descriptors: what a file of messages says of them.
//!
//! Invariant: a schema is linked and checked; every type that a field names is there.

use super::imports::{FILES, flat, through_public};
use super::member::ANY;
use super::put::{put_key, put_varint};
use super::rows::Readers;
use super::wire::WireType;
use crate::caught::caught;
use crate::names::some_names;
use extenso_types::{Error, Result};
use prost_reflect::prost::Message;
use prost_reflect::prost_types::{DescriptorProto, EnumDescriptorProto, FileDescriptorProto, FileDescriptorSet};
use prost_reflect::{DescriptorPool, MessageDescriptor};
use protox::Compiler;
use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver, IncludeFileResolver};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

/// The messages and enums of some files, linked.
///
/// ```
/// # use extenso_formats::proto::Schema;
/// let schema = Schema::from_text("syntax = 'proto3'; package shop; message Item { int64 id = 1; }").unwrap();
/// assert_eq!(schema.message("shop.Item").unwrap().name(), "shop.Item");
/// let error = schema.message("Item").unwrap_err().to_string();
/// assert_eq!(error, "message: there is no 'Item'.\nWanted: one of shop.Item.");
/// ```
#[derive(Clone, Debug)]
pub struct Schema {
    pool: DescriptorPool,
    readers: Arc<Readers>,
}

/// How many names an error lists.
const SHOWN: usize = 20;

/// The name of a text that has no file.
const TEXT: &str = "text.proto";

impl Schema {
    /// The schema of a serialized `FileDescriptorSet`, as `protoc --include_imports --descriptor_set_out` writes it.
    ///
    /// Errors: other bytes; a file that imports one which is not in the set; types that do not exist.
    pub fn from_descriptor_set(bytes: &[u8]) -> Result<Schema> {
        let refused =
            |text: String| Error::data(text).wanted("a serialized FileDescriptorSet with all imports").at("descriptor");
        let files = FileDescriptorSet::decode(bytes).map_err(|e| refused(e.to_string()))?;
        files.file.iter().try_for_each(|file| check_syntax(file).and_then(|()| check_names(file)))?;
        let files: Vec<&FileDescriptorProto> = files.file.iter().collect();
        let bytes = match through_public(&files)? {
            Some(added) => Cow::from(flat(bytes, &added).map_err(|e| e.of_document(0).at("descriptor"))?),
            None => Cow::from(bytes),
        };
        contained(|| DescriptorPool::decode(bytes.as_ref()).map(Schema::of).map_err(|e| refused(e.to_string())))
    }

    /// The schema of one `.proto` text, with a byte order mark or without; it may import the types of `google/protobuf` alone.
    ///
    /// Errors: a text that is no `.proto` file, or one of an edition; other imports.
    pub fn from_text(text: &str) -> Result<Schema> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        check_edition(text)?;
        contained(|| {
            let file = File::from_source(TEXT, text).map_err(|e| refused(&e))?;
            check_names(file.file_descriptor_proto())?;
            compile(Path::new(TEXT), Text(file))
        })
    }

    /// The schema of a file: of `.proto` text, whose imports are looked up beside it, or a `FileDescriptorSet`.
    ///
    /// Errors: those of the other constructors; what the operating system refuses.
    pub fn from_file(path: &Path) -> Result<Schema> {
        if path.extension().is_none_or(|ending| ending != "proto") {
            let read = std::fs::read(path).map_err(|e| Error::of_file(path, e));
            return Schema::from_descriptor_set(&read?);
        }
        let text = std::fs::read_to_string(path).map_err(|e| Error::of_file(path, e))?;
        check_edition(&text)?;
        let beside = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        contained(|| compile(path, Beside::of(beside, path)?))
    }

    fn of(pool: DescriptorPool) -> Schema {
        Schema { pool, readers: Arc::default() }
    }

    /// The message of this full name.
    ///
    /// Errors: there is none, with those that there are.
    pub fn message(&self, name: &str) -> Result<MessageType> {
        if let Some(message) = self.pool.get_message_by_name(name.trim_start_matches('.')) {
            return Ok(MessageType(message, self.readers.clone()));
        }
        let ours = self.pool.all_messages().filter(|m| !m.is_map_entry() && m.package_name() != "google.protobuf");
        let mut names: Vec<String> = ours.take(SHOWN + 1).map(|m| m.full_name().to_string()).collect();
        if names.len() > SHOWN {
            names[SHOWN] = "others".into();
        }
        let error = Error::missing(format!("there is no '{name}'"));
        if names.is_empty() {
            return Err(error.wanted("a descriptor of messages, of which this one has none").at("message"));
        }
        Err(error.wanted(format!("one of {}", some_names(names))).at("message"))
    }
}

/// The type of a message, with all that it refers to.
#[derive(Clone, Debug)]
pub struct MessageType(pub(super) MessageDescriptor, pub(super) Arc<Readers>);

impl MessageType {
    /// The full name.
    pub fn name(&self) -> &str {
        self.0.full_name()
    }

    /// The serialized `FileDescriptorSet` of its file and those that it imports, each behind what it imports, and of extensions.
    pub fn descriptor_set(&self) -> Vec<u8> {
        let (pool, mut wanted, mut open) = (self.0.parent_pool(), HashSet::new(), vec![self.0.parent_file()]);
        // An extension belongs to its message, and an `Any` may hold every message that is known.
        open.extend(pool.all_extensions().map(|extension| extension.parent_file()));
        while let Some(file) = open.pop() {
            if wanted.insert(file.name().to_string()) {
                open.extend(file.dependencies());
            }
        }
        let holds_any = pool.get_message_by_name(ANY).is_some_and(|any| wanted.contains(any.parent_file().name()));
        let mut set = Vec::new();
        for file in pool.files().filter(|file| holds_any || wanted.contains(file.name())) {
            put_key(FILES, WireType::Bytes, &mut set);
            let file = file.encode_to_vec();
            put_varint(u64::try_from(file.len()).unwrap_or(u64::MAX), &mut set);
            set.extend_from_slice(&file);
        }
        set
    }
}

/// Checks that a file is of a syntax that is known, and that entries of maps have a key and a value; prost-reflect 0.16 panics at others.
fn check_syntax(file: &FileDescriptorProto) -> Result<()> {
    file.message_type.iter().try_for_each(check_entries)?;
    if matches!(file.syntax.as_deref(), None | Some("proto2" | "proto3")) {
        return Ok(());
    }
    let show = |text: &str| text.chars().take(40).collect::<String>();
    if file.syntax() == "editions" {
        return Err(editions(&format!("file '{}'", show(file.name()))));
    }
    let error = Error::data(format!("file '{}' has syntax '{}'", show(file.name()), show(file.syntax())));
    Err(error.wanted("proto2 or proto3").at("descriptor"))
}

/// How many bytes the full names of a file may have together.
const NAMES: usize = 64 << 20;

/// Checks that the full names of a file, of which each has those of all that is around it, are not far more than the file.
fn check_names(file: &FileDescriptorProto) -> Result<()> {
    fn of_enum(outer: usize, of: &EnumDescriptorProto) -> usize {
        let values = of.value.iter().map(|value| outer + value.name().len());
        values.fold(outer + of.name().len(), usize::saturating_add)
    }
    fn of_message(outer: usize, of: &DescriptorProto) -> usize {
        let own = outer.saturating_add(1 + of.name().len());
        let members = of.field.iter().chain(&of.extension).map(|field| field.name());
        let members = members.chain(of.oneof_decl.iter().map(|oneof| oneof.name())).map(|name| own + name.len());
        let inside = of.nested_type.iter().map(|inner| of_message(own, inner));
        let inside = inside.chain(of.enum_type.iter().map(|inner| of_enum(own, inner)));
        members.chain(inside).fold(own, usize::saturating_add)
    }
    let package = file.package();
    // Each part of a package is a name, too.
    let parts = package.split('.').count().saturating_mul(package.len());
    let messages = file.message_type.iter().map(|message| of_message(package.len(), message));
    let others = file.enum_type.iter().map(|of| of_enum(package.len(), of));
    let extensions = file.extension.iter().map(|field| package.len() + field.name().len());
    if messages.chain(others).chain(extensions).fold(parts, usize::saturating_add) <= NAMES {
        return Ok(());
    }
    let error = Error::data("the full names of a file have far more bytes than the file");
    Err(error.wanted(format!("at most {} MB", NAMES >> 20)).at("descriptor"))
}

/// Checks that the entries of maps among a message and those in it have a key and a value.
fn check_entries(message: &DescriptorProto) -> Result<()> {
    message.nested_type.iter().try_for_each(check_entries)?;
    let numbers = || message.field.iter().map(|field| field.number());
    let whole = message.field.len() == 2 && [1, 2].iter().all(|number| numbers().any(|of| of == *number));
    if whole || !message.options.as_ref().is_some_and(|options| options.map_entry()) {
        return Ok(());
    }
    let error = Error::data(format!("the entries of a map, '{}', lack a field", message.name()));
    Err(error.wanted("a key with the number 1 and a value with the number 2").at("descriptor"))
}

/// Checks that a text does not begin with an edition, which neither protox 0.10 nor prost-reflect 0.16 knows.
fn check_edition(text: &str) -> Result<()> {
    let mut rest = text.trim_start();
    loop {
        let behind = if rest.starts_with("//") {
            rest.split_once('\n')
        } else if rest.starts_with("/*") {
            rest.split_once("*/")
        } else {
            break;
        };
        rest = behind.map_or("", |(_, behind)| behind.trim_start());
    }
    let after = rest.strip_prefix("edition").map(str::trim_start);
    if after.is_some_and(|after| after.starts_with('=')) { Err(editions("the file")) } else { Ok(()) }
}

fn editions(file: &str) -> Error {
    let error = Error::data(format!("{file} has an edition")).wanted("proto2 or proto3");
    error.hint("Write `syntax = \"proto3\";`, with `optional` where a field has presence").at("descriptor")
}

/// Calls a reader of descriptors. That of prost-reflect 0.16 panics while it makes the text of some errors.
fn contained(read: impl FnOnce() -> Result<Schema>) -> Result<Schema> {
    caught(read).unwrap_or_else(|_| {
        let error = Error::data("the files do not fit together");
        Err(error.wanted("every type that is named, once, and each file behind those that it imports").at("descriptor"))
    })
}

/// The one file of a text.
struct Text(File);

impl FileResolver for Text {
    fn resolve_path(&self, path: &Path) -> Option<String> {
        path.to_str().map(str::to_string)
    }

    fn open_file(&self, name: &str) -> std::result::Result<File, protox::Error> {
        if name == TEXT { Ok(self.0.clone()) } else { Err(protox::Error::file_not_found(name)) }
    }
}

/// The files of a folder that one of them imports, with what comes through public imports; what is no file is no worry yet.
struct Beside {
    folder: IncludeFileResolver,
    opened: HashMap<String, File>,
}

impl Beside {
    /// Errors: public imports that return, or too many.
    fn of(folder: &Path, path: &Path) -> Result<Beside> {
        let folder = IncludeFileResolver::new(folder.into());
        let mut names: Vec<String> = folder.resolve_path(path).into_iter().collect();
        let (mut seen, mut files) = (HashSet::new(), Vec::new());
        while let Some(name) = names.pop() {
            if seen.insert(name.clone())
                && let Ok(file) = folder.open_file(&name)
            {
                names.extend_from_slice(&file.file_descriptor_proto().dependency);
                files.push(file);
            }
        }
        let found: Vec<&FileDescriptorProto> = files.iter().map(File::file_descriptor_proto).collect();
        found.iter().try_for_each(|file| check_names(file))?;
        if let Some(added) = through_public(&found)? {
            for (file, added) in files.iter_mut().zip(added) {
                let mut imports = file.file_descriptor_proto().clone();
                // The others keep their text, of which errors say the line.
                if !(added.is_empty() && imports.public_dependency.is_empty()) {
                    imports.public_dependency.clear();
                    imports.dependency.extend(added);
                    *file = File::from_file_descriptor_proto(imports);
                }
            }
        }
        let opened = files.into_iter().map(|file| (file.name().to_string(), file)).collect();
        Ok(Beside { folder, opened })
    }
}

impl FileResolver for Beside {
    fn resolve_path(&self, path: &Path) -> Option<String> {
        self.folder.resolve_path(path)
    }

    fn open_file(&self, name: &str) -> std::result::Result<File, protox::Error> {
        self.opened.get(name).map_or_else(|| self.folder.open_file(name), |file| Ok(file.clone()))
    }
}

fn compile(path: &Path, files: impl FileResolver + 'static) -> Result<Schema> {
    let mut resolver = ChainFileResolver::new();
    resolver.add(files);
    resolver.add(GoogleFileResolver::new());
    let mut compiler = Compiler::with_file_resolver(resolver);
    compiler.open_file(path).map_err(|e| refused(&e))?;
    Ok(Schema::of(compiler.descriptor_pool()))
}

fn refused(error: &protox::Error) -> Error {
    // The other form of the error has the line and the column.
    let text = format!("{error:?}");
    Error::data(text.trim_end().to_string()).wanted("the text of a .proto file").at("descriptor")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_far_longer_than_their_file_are_refused() {
        let long = format!("syntax = 'proto3'; package {}; message M {{ int32 x = 1; }}", vec!["a"; 20_000].join("."));
        let fields: String = (1..2000).map(|i| format!("int32 x{i} = {i};")).collect();
        let many = format!("syntax = 'proto3'; package {}; message M {{ {fields} }}", "a".repeat(40_000));
        for text in [long, many] {
            let error = Schema::from_text(&text).map(drop).expect_err("too long").to_string();
            assert!(error.starts_with("descriptor: the full names of a file"), "{error}");
        }
    }

    #[test]
    fn a_panic_of_the_reader_is_an_error() {
        let error = contained(|| std::panic::panic_any("odd names")).map(drop).expect_err("a panic").to_string();
        assert!(error.starts_with("descriptor: the files do not fit together"), "{error}");
    }
}
