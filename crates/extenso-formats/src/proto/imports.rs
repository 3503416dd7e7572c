//! What the files of messages import, with what comes through the public imports of others, as plain imports.
//!
//! prost-reflect 0.16 follows public imports one step, and those that return without end; behind this it needs to follow none.

use super::put::{put_key, put_sized};
use super::wire::{Span, Wire, WireType};
use crate::failure::Read;
use extenso_types::{Error, Result};
use prost_reflect::prost_types::FileDescriptorProto;
use std::collections::{HashMap, HashSet};

/// How many imports those of files may add up to, each with what comes through it.
const MOST: usize = 1 << 22;

/// How many files of a circle an error names.
const SHOWN: usize = 10;

/// For each file the names of those that it has by the public imports of others alone; none if no import is public.
///
/// Errors: public imports that lead back to where they began; too many of them.
pub fn through_public(files: &[&FileDescriptorProto]) -> Result<Option<Vec<Vec<String>>>> {
    if files.iter().all(|file| file.public_dependency.is_empty()) {
        return Ok(None);
    }
    let mut places = HashMap::new();
    for (place, file) in files.iter().enumerate() {
        places.entry(file.name()).or_insert(place);
    }
    let place = |name: &String| places.get(name.as_str()).copied();
    let public = |file: &&FileDescriptorProto| {
        let named = file.public_dependency.iter().filter_map(|at| file.dependency.get(usize::try_from(*at).ok()?));
        let mut targets: Vec<usize> = named.filter_map(place).collect();
        targets.sort_unstable();
        targets.dedup();
        targets
    };
    let mut reach = Reach { public: files.iter().map(public).collect(), of: vec![None; files.len()], left: MOST };
    (0..files.len()).try_for_each(|file| reach.follow(file, files))?;
    let added = |file: &&FileDescriptorProto| {
        let mut known: HashSet<&str> = file.dependency.iter().map(String::as_str).chain([file.name()]).collect();
        let mut added = Vec::new();
        for through in file.dependency.iter().filter_map(place) {
            for name in reach.count(through)?.iter().map(|other| files[*other].name()) {
                if known.insert(name) {
                    added.push(name.to_string());
                }
            }
        }
        Ok(added)
    };
    files.iter().map(added).collect::<Result<_>>().map(Some)
}

/// The files that come with each file, by public imports alone.
struct Reach {
    public: Vec<Vec<usize>>,
    /// Those that were followed.
    of: Vec<Option<Vec<usize>>>,
    left: usize,
}

impl Reach {
    /// Follows the public imports of a file, those of each before its own.
    fn follow(&mut self, file: usize, files: &[&FileDescriptorProto]) -> Result<()> {
        // The files that are being followed, and which import of each is next.
        let (mut open, mut entered) = (vec![(file, 0)], HashSet::from([file]));
        while let Some((file, next)) = open.last_mut() {
            let file = *file;
            match self.public[file].get(*next).copied() {
                _ if self.of[file].is_some() => drop(open.pop()),
                Some(import) => {
                    *next += 1;
                    if self.of[import].is_none() {
                        if !entered.insert(import) {
                            return Err(circle(open.iter().map(|(file, _)| *file), import, files));
                        }
                        open.push((import, 0));
                    }
                }
                None => {
                    let mut all = HashSet::new();
                    for import in self.public[file].clone() {
                        all.insert(import);
                        all.extend(self.count(import)?.iter().copied());
                    }
                    self.of[file] = Some(all.into_iter().collect());
                    open.pop();
                }
            }
        }
        Ok(())
    }

    /// What comes with a file that was followed, counted.
    fn count(&mut self, file: usize) -> Result<&[usize]> {
        let all = self.of[file].as_deref().unwrap_or_default();
        match self.left.checked_sub(all.len() + 1) {
            Some(left) => self.left = left,
            None => {
                let error = Error::data(format!("the public imports of the files add up to more than {MOST}"));
                return Err(error.wanted("fewer of them").at("descriptor"));
            }
        }
        Ok(all)
    }
}

fn circle(open: impl Iterator<Item = usize>, back: usize, files: &[&FileDescriptorProto]) -> Error {
    let show = |file: usize| files[file].name().chars().take(40).collect::<String>();
    let mut names: Vec<String> = open.skip_while(|file| *file != back).map(show).collect();
    if names.len() > SHOWN {
        names.splice(SHOWN / 2..names.len() - SHOWN / 2, ["...".to_string()]);
    }
    let error = Error::data(format!("file '{}' is imported by what it imports", show(back)));
    let error = error.wanted("public imports that do not return");
    error.hint(format!("They lead from one to the next: {} -> {}", names.join(" -> "), show(back))).at("descriptor")
}

/// The number of the files in a `FileDescriptorSet`.
pub const FILES: u32 = 1;
/// The numbers of the imports in a file, and of those of them that are public.
const IMPORTS: u32 = 3;
const PUBLIC: u32 = 10;

/// A set of files with these imports more in each, and none of them public; all else stays as it is written.
pub fn flat(set: &[u8], added: &[Vec<String>]) -> Read<Vec<u8>> {
    let (mut out, mut added) = (Vec::new(), added.iter());
    for field in fields(set) {
        let (number, start, end) = field?;
        if number != FILES {
            out.extend_from_slice(&set[start..end]);
            continue;
        }
        let mut wire = Wire::new(set, Span { start, end });
        wire.tag()?;
        let file = wire.sized().map(|span| wire.bytes(span))?;
        put_key(FILES, WireType::Bytes, &mut out);
        put_sized(&mut out, |out| {
            for field in fields(file) {
                let (number, start, end) = field?;
                if number != PUBLIC {
                    out.extend_from_slice(&file[start..end]);
                }
            }
            added.next().into_iter().flatten().try_for_each(|name| {
                put_key(IMPORTS, WireType::Bytes, out);
                put_text(name.as_bytes(), out)
            })
        })?;
    }
    Ok(out)
}

fn put_text(text: &[u8], out: &mut Vec<u8>) -> Read<()> {
    put_sized(out, |out| {
        out.extend_from_slice(text);
        Ok(())
    })
}

/// The fields of a message: the number of each, and where it begins and ends.
fn fields(message: &[u8]) -> impl Iterator<Item = Read<(u32, usize, usize)>> + '_ {
    let (mut wire, mut groups) = (Wire::new(message, Span { start: 0, end: message.len() }), Vec::new());
    std::iter::from_fn(move || {
        (!wire.is_done()).then(|| {
            let tag = wire.tag()?;
            wire.skip(tag, &mut groups)?;
            Ok((tag.number, tag.at, wire.at()))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::Schema;
    use super::*;
    use prost_reflect::prost::Message;
    use prost_reflect::prost_types::FileDescriptorSet;
    use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
    use prost_reflect::prost_types::{DescriptorProto, FieldDescriptorProto};

    /// A file with a message of its name, and what it imports, publicly or not.
    fn file(name: &str, imports: &[&str], public: bool) -> FileDescriptorProto {
        let count = i32::try_from(imports.len()).expect("few imports");
        FileDescriptorProto {
            name: Some(name.into()),
            dependency: imports.iter().map(|import| import.to_string()).collect(),
            public_dependency: if public { (0..count).collect() } else { Vec::new() },
            message_type: vec![DescriptorProto { name: Some(name.to_uppercase()), ..DescriptorProto::default() }],
            ..FileDescriptorProto::default()
        }
    }

    /// The same with a field of the type of another file.
    fn holding(mut file: FileDescriptorProto, other: &str) -> FileDescriptorProto {
        file.message_type[0].field.push(FieldDescriptorProto {
            name: Some("f".into()),
            number: Some(1),
            label: Some(Label::Optional.into()),
            r#type: Some(Type::Message.into()),
            type_name: Some(format!(".{}", other.to_uppercase())),
            ..FieldDescriptorProto::default()
        });
        file
    }

    fn schema(files: Vec<FileDescriptorProto>) -> Result<Schema> {
        Schema::from_descriptor_set(&FileDescriptorSet { file: files }.encode_to_vec())
    }

    #[test]
    fn what_is_imported_publicly_comes_through_any_number_of_files() {
        let chain = |first: FileDescriptorProto| {
            vec![file("d", &[], true), file("c", &["d"], true), file("b", &["c"], true), file("a", &["b"], true), first]
        };
        let set = schema(chain(holding(file("x", &["a"], false), "d"))).expect("a schema");
        // The set of a message is one that is read again.
        let again = Schema::from_descriptor_set(&set.message("X").expect("a message").descriptor_set());
        assert!(again.and_then(|set| set.message("D")).is_ok());
        let mut private = chain(holding(file("x", &["a"], false), "d"));
        private[2].public_dependency.clear();
        assert!(schema(private).expect_err("no public import").to_string().starts_with("descriptor: "));
        // Two ways through each of many layers.
        let mut layers = vec![file("p0", &[], true), file("q0", &[], true)];
        for i in 1..60 {
            let below = [format!("p{}", i - 1), format!("q{}", i - 1)];
            let below = below.each_ref().map(String::as_str);
            layers.extend([format!("p{i}"), format!("q{i}")].map(|name| file(&name, &below, true)));
        }
        layers.push(holding(file("x", &["p59", "q59", "p59"], false), "q0"));
        assert!(schema(layers).is_ok());
    }

    #[test]
    fn public_imports_that_return_are_refused() {
        // What the fuzzer found: a file that imports itself.
        for (circle, names) in [
            (
                vec![file("r", &["r"], true)],
                "'r' is imported by what it imports.\nWanted: public imports that do not return. They lead from one to the next: r -> r.",
            ),
            (
                vec![
                    file("x", &["a"], true),
                    file("a", &["b"], true),
                    file("b", &["c"], true),
                    file("c", &["a"], true),
                ],
                "'a' is imported by what it imports.\nWanted: public imports that do not return. They lead from one to the next: a -> b -> c -> a.",
            ),
        ] {
            let error = schema(circle).expect_err("a circle").to_string();
            assert_eq!(error, format!("descriptor: file {names}"));
        }
        let names: Vec<String> = (0..20_000).map(|i| format!("f{i}")).collect();
        let long = |last: &str| {
            let next = names.iter().skip(1).map(String::as_str).chain([last]);
            names.iter().zip(next).map(|(name, next)| file(name, &[next], true)).collect()
        };
        let error = schema(long("f0")).expect_err("a circle").to_string();
        assert!(
            error.ends_with(
                "f0 -> f1 -> f2 -> f3 -> f4 -> ... -> f19995 -> f19996 -> f19997 -> f19998 -> f19999 -> f0."
            ),
            "{error}"
        );
        let error = schema(long("other")).expect_err("too many").to_string();
        assert!(
            error.starts_with("descriptor: the public imports of the files add up to more than 4194304"),
            "{error}"
        );
    }

    #[test]
    fn all_else_of_a_set_stays() {
        let mut odd = holding(file("a", &["b"], true), "b").encode_to_vec();
        // Fields that no descriptor has, a group among them.
        odd.extend_from_slice(b"\xa2\x06\x03xyz\xab\x06\x08\x01\xac\x06");
        let mut set = Vec::new();
        for bytes in [&file("b", &[], false).encode_to_vec(), &odd] {
            put_key(FILES, WireType::Bytes, &mut set);
            put_text(bytes, &mut set).expect("written");
        }
        set.extend_from_slice(b"\xa2\x06\x01x");
        let came = flat(&set, &[vec!["z".into()], vec!["c".into(), "d".into()]]).expect("a set");
        let files = FileDescriptorSet::decode(came.as_slice()).expect("a set").file;
        assert_eq!(
            (&files[0].dependency, &files[1].dependency),
            (&vec!["z".to_string()], &["b", "c", "d"].map(String::from).to_vec())
        );
        assert!(files.iter().all(|file| file.public_dependency.is_empty()));
        assert!(
            came.ends_with(b"\xa2\x06\x03xyz\xab\x06\x08\x01\xac\x06\x1a\x01c\x1a\x01d\xa2\x06\x01x"),
            "{}",
            came.escape_ascii()
        );
    }

    #[test]
    fn files_beside_each_other_are_read_alike() {
        let folder = tempfile::tempdir().expect("a folder");
        let of = |files: &[(&str, &str)]| {
            for (name, text) in files {
                std::fs::write(folder.path().join(name), format!("syntax = 'proto3'; {text}")).expect("written");
            }
            Schema::from_file(&folder.path().join(files[0].0))
        };
        let chain = [
            ("x.proto", "import 'a.proto'; message X { D d = 1; }"),
            ("a.proto", "import public 'b.proto';"),
            (
                "b.proto",
                "import public 'c.proto'; import 'google/protobuf/any.proto'; message B { google.protobuf.Any any = 1; }",
            ),
            ("c.proto", "import public 'd.proto';"),
            ("d.proto", "message D { int64 v = 1; }"),
        ];
        assert!(of(&chain).and_then(|schema| schema.message("X")).is_ok());
        let wrong = of(&[("x.proto", "import 'a.proto';\nmessage X { E d = 1; }")]).expect_err("no E").to_string();
        assert!(wrong.starts_with("descriptor: ") && wrong.contains("name 'E' is not defined"), "{wrong}");
        let circle = of(&[("b.proto", "import public 'a.proto';")]).expect_err("a circle").to_string();
        assert!(circle.contains("b.proto -> a.proto -> b.proto"), "{circle}");
        let private = of(&[("b.proto", "import 'c.proto';"), ("c.proto", "import 'b.proto';")]).expect_err("a circle");
        assert!(private.to_string().contains("b.proto -> c.proto -> b.proto"), "{private}");
    }
}
