//! The laws of the container: one encoding, nothing trusted, nothing half written.

use super::manifest::MANIFEST;
use super::zip::{Directory, Entry, Writer};
use super::{Archive, ArchiveError, write, write_atomically, write_dir};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Command, Stdio};

type Done = Result<(), Box<dyn Error>>;
type Members = BTreeMap<String, Vec<u8>>;

const PRODUCER: &str = "extenso 0.1.0";

fn members(list: &[(&str, &[u8])]) -> Members {
    list.iter().map(|(name, data)| (name.to_string(), data.to_vec())).collect()
}

fn sample() -> Members {
    members(&[
        ("weights/a.safetensors", &[7; 130]),
        ("graph.pb", b"graph"),
        ("empty", b""),
        ("examples/größe \"東京\" 🦀", b"\0\xff"),
        ("a.json", b"{}"),
    ])
}

fn file(members: &Members) -> Result<Vec<u8>, ArchiveError> {
    write(members, &BTreeSet::from(["host".to_string()]), PRODUCER)
}

fn read(bytes: &[u8]) -> Result<Archive, ArchiveError> {
    Archive::read(bytes.to_vec(), &["host", "other"])
}

/// A zip that is canonical but for the text of its manifest.
fn forged(manifest: &str, members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = Writer::with_capacity(0);
    zip.member(MANIFEST, manifest.as_bytes());
    members.iter().for_each(|(name, data)| zip.member(name, data));
    zip.finish()
}

fn manifest_of(members: &Members) -> Result<String, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    write_dir(folder.path().join("x"), members, &BTreeSet::from(["host".to_string()]), PRODUCER)?;
    Ok(fs::read_to_string(folder.path().join("x").join(MANIFEST))?)
}

/// Checks that an attempt fails with all of `expect` in its text.
fn check<T>(attempt: Result<T, ArchiveError>, expect: &[&str]) {
    let text = attempt.err().map_or("accepted".to_string(), |e| e.to_string());
    for part in expect {
        assert!(text.contains(part), "{text:?} lacks {part:?}");
    }
}

#[test]
fn what_is_written_is_read() -> Done {
    for members in [sample(), Members::new(), members(&[("x", b"")])] {
        let archive = read(&file(&members)?)?;
        assert!(archive.names().eq(members.keys()));
        assert!(members.iter().all(|(name, data)| archive.member(name) == Some(data)));
        assert_eq!(archive.member(MANIFEST), None);
        assert_eq!((archive.producer(), archive.features().len()), (PRODUCER, 1));
    }
    Ok(())
}

#[test]
fn write_of_read_is_the_same_bytes() -> Done {
    let bytes = file(&sample())?;
    let archive = read(&bytes)?;
    assert_eq!(write(archive.members(), archive.features(), archive.producer())?, bytes);
    Ok(())
}

#[test]
fn the_encoding_of_a_release_stays() -> Done {
    let bytes = file(&sample())?;
    assert_eq!((bytes.len(), crc32fast::hash(&bytes)), (1663, 0x8fcdfc87));
    let expect = "{\n  \"format\": \"extenso\",\n  \"version\": 1,\n  \"features\": [\"host\"],\n  \
                  \"producer\": \"extenso 0.1.0\",\n  \"members\": {\n    \"x\": {\"sha256\": \
                  \"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\", \"size\": 0}\n  }\n}\n";
    assert_eq!(manifest_of(&members(&[("x", b"")]))?, expect);
    Ok(())
}

#[test]
fn data_is_aligned_and_borrowed_from_the_file() -> Done {
    let bytes: &'static [u8] = file(&sample())?.leak();
    let archive = Archive::read(bytes, &["host"])?;
    for member in archive.members().values() {
        let offset = member.as_ref().as_ptr().addr() - bytes.as_ptr().addr();
        assert!(offset.is_multiple_of(64) && offset < bytes.len());
    }
    Ok(())
}

#[test]
fn a_member_outlives_its_archive() -> Done {
    let member = read(&file(&sample())?)?.members()["graph.pb"].clone();
    assert_eq!(member.as_ref(), b"graph");
    Ok(())
}

#[test]
fn every_changed_byte_is_an_error() -> Done {
    let bytes = file(&sample())?;
    for at in 0..bytes.len() {
        for pattern in [0x01, 0x80, 0xff, 0x20, 0x55] {
            let mut changed = bytes.clone();
            changed[at] ^= pattern;
            assert!(read(&changed).is_err(), "byte {at} ^ {pattern:#x}");
        }
    }
    Ok(())
}

#[test]
fn every_truncation_is_an_error() -> Done {
    let bytes = file(&sample())?;
    for end in 0..bytes.len() {
        assert!(read(&bytes[..end]).is_err(), "{end} bytes");
        assert!(read(&bytes[bytes.len() - end..]).is_err(), "the last {end} bytes");
    }
    Ok(())
}

#[test]
fn every_appended_or_prepended_byte_is_an_error() -> Done {
    let bytes = file(&sample())?;
    check(read(&[&bytes[..], &[0]].concat()), &["1 bytes follow the end"]);
    check(read(&[&bytes[..], &bytes[..]].concat()), &["bytes follow the end"]);
    check(read(&[&[0], &bytes[..]].concat()), &["starts with \"\\x00PK\\x03\"", "Wanted: the file of an Extenso"]);
    Ok(())
}

#[test]
fn errors_say_where_what_and_what_to_do() -> Done {
    let bytes = file(&sample())?;
    let place = bytes.windows(130).position(|w| w == [7; 130]).ok_or("no data")?;
    let mut changed = bytes.clone();
    changed[place] = 8;
    check(read(&changed), &["member \"weights/a.safetensors\" is damaged", "Wanted: ", "Copy the file again"]);
    check(read(&bytes[..bytes.len() - 1]), &["ends at byte", "in the zip directory"]);
    let mut deflated = bytes.clone();
    deflated[8] = 8;
    check(read(&deflated), &["byte 8, in the header of member \"manifest.json\", is 0x08", "0x00", "unzip it"]);
    check(read(b""), &["starts with \"\""]);
    Ok(())
}

#[test]
fn unsafe_names_are_refused_by_writer_and_reader() -> Done {
    let manifest = manifest_of(&members(&[("x", b"")]))?;
    let long = "n".repeat(1025);
    let names = ["", "/a", "..", "a/../b", "a/..", "./a", "a//b", "a/", "a\\b", "C:a", "a\0b", "a\nb", MANIFEST, &long];
    for name in names {
        check(file(&members(&[(name, b"")])), &["member name", "Wanted: names that are relative", "Rename"]);
        let quoted = serde_json::Value::from(name).to_string();
        check(read(&forged(&manifest.replace("\"x\"", &quoted), &[(name, b"")])), &["member name"]);
    }
    check(file(&members(&[("a", b""), ("a-b", b""), ("a/b", b"")])), &["\"a\" is the folder of another"]);
    check(file(&members(&[("manifest.json/x", b"")])), &["\"manifest.json\" cannot be a folder"]);
    Ok(())
}

#[test]
fn a_manifest_that_lies_is_refused() -> Done {
    let pair = members(&[("a", b"1"), ("b", b"2")]);
    let text = manifest_of(&pair)?;
    let data: &[(&str, &[u8])] = &[("a", b"1"), ("b", b"2")];
    assert!(read(&forged(&text, data)).is_ok());
    let sha_a = text.split("\"sha256\": \"").nth(1).map(|rest| &rest[..64]).ok_or("no sha256")?;
    let cases = [
        // Other members than the file has, in other order or twice.
        (text.clone(), vec![("a", b"1".as_slice())]),
        (text.clone(), vec![("a", b"1"), ("b", b"2"), ("c", b"3")]),
        (text.clone(), vec![("b", b"2"), ("a", b"1")]),
        (text.clone(), vec![("a", b"1"), ("a", b"1"), ("b", b"2")]),
        (text.replace("\"b\"", "\"c\""), data.to_vec()),
        (text.replace("\"b\"", "\"a\""), data.to_vec()),
        (text.replace("\"b\"", "\"a\""), vec![("a", b"1"), ("a", b"2")]),
        // Sizes and hashes.
        (text.replace("\"size\": 1", "\"size\": 18446744073709551615"), data.to_vec()),
        (text.replace("\"size\": 1", "\"size\": 4294967295"), data.to_vec()),
        (text.replace("\"size\": 1", "\"size\": 0"), data.to_vec()),
        (text.replace("\"size\": 1", "\"size\": -1"), data.to_vec()),
        (text.replace("\"size\": 1", "\"size\": 1.0"), data.to_vec()),
        (text.replace(sha_a, &sha_a.to_uppercase()), data.to_vec()),
        (text.replace(sha_a, "00"), data.to_vec()),
        // Other texts of the same facts, and other facts.
        (text.replace(": ", ":"), data.to_vec()),
        (text.replace("\"a\"", "\"\\u0061\""), data.to_vec()),
        (text.replace("[\"host\"]", "[\"host\", \"host\"]"), data.to_vec()),
        (text.replace("[\"host\"]", "[\"other\", \"host\"]"), data.to_vec()),
        (text.replace("[\"host\"]", "[1]"), data.to_vec()),
        (text.replace("\"producer\"", "\"x\": 1, \"producer\""), data.to_vec()),
        (text.replace("\"version\": 1", "\"version\": 0"), data.to_vec()),
        (text.replace("\"version\": 1", "\"version\": \"1\""), data.to_vec()),
        (text.replace("\"extenso\"", "\"other\""), data.to_vec()),
        ("[".repeat(100_000), vec![]),
        ("null".to_string(), vec![]),
        (String::new(), vec![]),
    ];
    for (text, data) in cases {
        assert!(read(&forged(&text, &data)).is_err(), "accepted {text}\n{data:?}");
    }
    Ok(())
}

#[test]
fn what_is_newer_is_refused_by_name() -> Done {
    let text = manifest_of(&Members::new())?;
    let newer = forged(&text.replace("\"version\": 1", "\"version\": 2, \"unheard\": []"), &[]);
    check(read(&newer), &["version 2", "a newer Extenso wrote it (producer: \"extenso 0.1.0\")", "Upgrade"]);
    let bytes = file(&sample())?;
    check(Archive::read(bytes.clone(), &["other"]), &["requires \"host\"", "among [\"other\"]", "Upgrade"]);
    assert!(read(&newer).is_err_and(|e| e.needs_upgrade()));
    assert!(Archive::read(bytes, &[]).is_err_and(|e| e.needs_upgrade()));
    assert!(read(b"").is_err_and(|e| !e.needs_upgrade() && e.io_kind().is_none()));
    Ok(())
}

/// Numbers that look random and are the same in every run (xorshift64*).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % end.max(1)
    }

    fn mutate(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len());
        let end = at + self.below((bytes.len() - at).min(80) + 1);
        match self.below(6) {
            0 => bytes[at..end].fill(0xff),
            1 => drop(bytes.drain(at..end)),
            2 => bytes.extend_from_within(at..end),
            3 => drop(bytes.splice(at..at, vec![0x50; end - at])),
            4 => bytes[at] = self.below(256) as u8,
            _ => {
                let to = self.below(bytes.len() - (end - at) + 1);
                bytes.copy_within(at..end, to);
            }
        }
    }
}

/// Checks the only law that holds for all bytes.
fn error_or_canonical(bytes: &[u8]) -> Done {
    if let Ok(archive) = read(bytes) {
        assert_eq!(write(archive.members(), archive.features(), archive.producer())?, bytes);
    }
    Ok(())
}

#[test]
fn any_bytes_are_an_error_or_canonical() -> Done {
    let mut random = Random(1);
    let (bytes, text) = (file(&sample())?, manifest_of(&sample())?);
    let sample = sample();
    let data: Vec<(&str, &[u8])> = sample.iter().map(|(name, data)| (name.as_str(), data.as_slice())).collect();
    for _ in 0..4000 {
        let len = random.below(300);
        let mut garbage: Vec<u8> = (0..len).map(|_| random.below(256) as u8).collect();
        error_or_canonical(&garbage)?;
        garbage.splice(..len.min(4), *b"PK\x03\x04");
        error_or_canonical(&garbage)?;
        let mut changed = bytes.clone();
        let mut manifest = text.clone().into_bytes();
        for _ in 0..=random.below(3) {
            random.mutate(&mut changed);
            random.mutate(&mut manifest);
        }
        error_or_canonical(&changed)?;
        error_or_canonical(&forged(&String::from_utf8_lossy(&manifest), &data))?;
    }
    Ok(())
}

#[test]
fn more_members_than_the_plain_end_record_counts() -> Done {
    for count in [65_534, 65_535, 70_000] {
        let many: Members = (0..count).map(|i| (format!("{i:x}"), Vec::new())).collect();
        let bytes = file(&many)?;
        assert_eq!(read(&bytes)?.members().len(), count);
        python(
            "assert len(zipfile.ZipFile(sys.argv[1]).namelist()) == int(sys.argv[2]) + 1",
            &bytes,
            &count.to_string(),
        )?;
    }
    Ok(())
}

#[test]
fn python_opens_the_file() -> Done {
    let script = "z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; \
                  assert z.namelist() == sys.argv[2].split('|'), z.namelist(); assert z.read('graph.pb') == b'graph'; \
                  assert all(i.date_time == (1980, 1, 1, 0, 0, 0) for i in z.infolist())";
    let members = sample();
    let names: Vec<&str> = [MANIFEST].into_iter().chain(members.keys().map(String::as_str)).collect();
    python(script, &file(&members)?, &names.join("|"))
}

#[test]
fn python_finds_members_above_4_gib() -> Done {
    // The data of the large member is a hole in the file, so that nothing is written for it.
    const LARGE: u64 = 5 << 30;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("large");
    let (mut file, mut directory) = (fs::File::create(&path)?, Directory::default());
    let mut offset = 0;
    for (name, size) in [("large", LARGE), ("edge", u64::from(u32::MAX)), ("small", 5)] {
        let entry = Entry { name, size, offset, crc: crc32fast::hash(b"small") };
        file.write_all(&entry.local_header())?;
        offset = file.stream_position()? + size;
        match name {
            "small" => file.write_all(b"small")?,
            _ => file.seek(SeekFrom::Start(offset)).map(drop)?,
        }
        directory.push(&entry);
    }
    file.write_all(&directory.finish(offset))?;
    let script = "z = zipfile.ZipFile(sys.argv[1]); assert z.read('small') == b'small'; \
                  assert [i.file_size for i in z.infolist()] == [5 << 30, 2**32 - 1, 5]; \
                  assert z.getinfo('small').header_offset > 9 << 30; \
                  assert z.open('large').read(9) == bytes(9)";
    python_at(script, &path, "")
}

fn python(script: &str, bytes: &[u8], argument: &str) -> Done {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("file.exo");
    write_atomically(&path, bytes)?;
    python_at(script, &path, argument)
}

fn python_at(script: &str, path: &Path, argument: &str) -> Done {
    if Command::new("python3").arg("--version").stdout(Stdio::null()).status().is_err() {
        eprintln!("SKIPPED: python3 is not found, so its zipfile did not check the archive");
        return Ok(());
    }
    let script = format!("import sys, zipfile; {script}");
    assert!(Command::new("python3").args(["-c", &script]).arg(path).arg(argument).status()?.success());
    Ok(())
}

/// Writes the sample as a directory, changes it, and gives what opening it then says.
fn opened_after(change: impl FnOnce(&Path) -> std::io::Result<()>) -> Result<Archive, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("model.exo");
    write_dir(&path, &sample(), &BTreeSet::from(["host".to_string()]), PRODUCER)?;
    change(&path)?;
    Ok(Archive::open(&path, &["host"])?)
}

#[test]
fn a_directory_is_the_same_archive() -> Done {
    let archive = opened_after(|_| Ok(()))?;
    assert_eq!(write(archive.members(), archive.features(), archive.producer())?, file(&sample())?);
    Ok(())
}

#[test]
fn an_unzipped_file_is_the_directory() -> Done {
    let script = "zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])";
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("unzipped");
    fs::create_dir(&path)?;
    python(script, &file(&sample())?, &path.to_string_lossy())?;
    if fs::read_dir(&path)?.next().is_some() {
        assert!(Archive::open(&path, &["host"])?.names().eq(sample().keys()));
    }
    Ok(())
}

#[test]
fn a_changed_directory_is_refused() {
    let check = |expect: &str, change: fn(&Path) -> std::io::Result<()>| {
        let text = opened_after(change).err().map_or("accepted".to_string(), |e| e.to_string());
        assert!(text.contains(expect), "{text:?} lacks {expect:?}");
    };
    check("\"graph.pb\" is damaged", |p| fs::write(p.join("graph.pb"), "Graph"));
    check("\"graph.pb\" has 6 bytes.\nWanted: 5", |p| fs::write(p.join("graph.pb"), "graph\n"));
    check("cannot open", |p| fs::remove_file(p.join("graph.pb")));
    check("cannot open", |p| fs::remove_file(p.join(MANIFEST)));
    check("not of the artifact", |p| fs::write(p.join("stranger"), ""));
    check("not of the artifact", |p| fs::write(p.join("weights/stranger"), ""));
    check("not of the artifact", |p| fs::create_dir(p.join("stranger")));
    check("not of the artifact", |p| fs::remove_file(p.join("a.json")).and_then(|()| fs::create_dir(p.join("a.json"))));
    check("not as Extenso writes it", |p| {
        let text = fs::read_to_string(p.join(MANIFEST))?;
        fs::write(p.join(MANIFEST), text + "\n")
    });
}

#[cfg(unix)]
#[test]
fn symbolic_links_are_refused_within_a_directory() {
    use std::os::unix::fs::symlink;
    for (name, expect) in
        [("graph.pb", "a symbolic link"), ("weights", "a symbolic link"), (MANIFEST, "no regular file")]
    {
        let attempt = opened_after(|p| {
            let moved = p.with_extension("moved");
            fs::rename(p.join(name), &moved)?;
            symlink(&moved, p.join(name))
        });
        assert!(attempt.is_err_and(|e| e.to_string().contains(expect)), "{name}");
    }
}

#[test]
fn a_write_is_whole_or_nothing() -> Done {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("model.exo");
    write_atomically(&path, b"old")?;
    let bytes = file(&sample())?;
    write_atomically(&path, &bytes)?;
    assert_eq!(fs::read(&path)?, bytes);
    assert!(Archive::open(&path, &["host"]).is_ok());
    // A directory is in the way of the file, and a file in the way of the directory.
    let taken = folder.path().join("taken");
    fs::create_dir(&taken)?;
    check(write_atomically(&taken, b"x"), &["cannot write"]);
    check(write_dir(&path, &sample(), &BTreeSet::new(), PRODUCER), &["cannot write"]);
    let names = fs::read_dir(folder.path())?.map(|e| e.map(|e| e.file_name())).collect::<Result<BTreeSet<_>, _>>()?;
    assert_eq!(names, BTreeSet::from(["model.exo".into(), "taken".into()]));
    assert_eq!(fs::read(&path)?, bytes);
    Ok(())
}

#[test]
fn a_temporary_of_a_dead_process_is_not_in_the_way() -> Done {
    let folder = tempfile::tempdir()?;
    for call in 0..500 {
        fs::write(folder.path().join(format!(".extenso-{}-{call}.tmp", std::process::id())), "stale")?;
    }
    write_atomically(folder.path().join("model.exo"), b"new")?;
    assert_eq!(fs::read(folder.path().join("model.exo"))?, b"new");
    assert_eq!(fs::read_dir(folder.path())?.count(), 501);
    Ok(())
}

#[test]
fn a_missing_file_is_an_io_error() {
    let error = Archive::open("/no/such/model.exo", &[]).err();
    assert_eq!(error.and_then(|e| e.io_kind()), Some(std::io::ErrorKind::NotFound));
    let error = write_atomically("/no/such/model.exo", b"").err();
    assert_eq!(error.and_then(|e| e.io_kind()), Some(std::io::ErrorKind::NotFound));
}
