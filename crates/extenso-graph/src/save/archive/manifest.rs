//! `manifest.json`: what an archive holds and what a reader must be able to do.
//!
//! Invariant: a manifest has one text, so [`Manifest::parse`] accepts a text only if [`Manifest::to_text`] gives it back; all names in
//! it are safe as relative paths, on every system, and none is the folder of another.
//! Does not touch files.

use super::ArchiveError;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

/// The name of the member that holds the manifest.
pub(super) const MANIFEST: &str = "manifest.json";
const FORMAT: &str = "extenso";
const VERSION: u64 = 1;
const NAME_LIMIT: usize = 1024;
const HINT: &str = "Copy or save the artifact again";

/// The facts of an archive.
pub(super) struct Manifest {
    pub(super) features: BTreeSet<String>,
    pub(super) producer: String,
    pub(super) members: BTreeMap<String, Digest>,
}

impl Manifest {
    pub(super) fn of(
        members: &BTreeMap<&str, &[u8]>,
        features: &BTreeSet<String>,
        producer: &str,
    ) -> Result<Manifest, ArchiveError> {
        let members = members.iter().map(|(name, data)| (name.to_string(), Digest::of(data))).collect();
        check_names(&members)?;
        Ok(Manifest { features: features.clone(), producer: producer.to_string(), members })
    }

    /// Reads the text, refusing first what is newer than this reader.
    pub(super) fn parse(text: &[u8], known_features: &[&str]) -> Result<Manifest, ArchiveError> {
        let json = serde_json::from_slice(text)
            .map_err(|e| ArchiveError::refused(format!("{MANIFEST} is not JSON: {e}"), "a JSON object", HINT))?;
        check_version(&json)?;
        let features = features(&json).ok_or_else(not_canonical)?;
        check_features(&features, known_features)?;
        let manifest = from_json(&json, features).ok_or_else(not_canonical)?;
        check_names(&manifest.members)?;
        // This refuses at once unknown and doubled keys, another order, other spaces and other escapes.
        if manifest.to_text()?.as_bytes() == text { Ok(manifest) } else { Err(not_canonical()) }
    }

    /// The text, written here and not by a JSON library so that it stays the same for all releases.
    pub(super) fn to_text(&self) -> Result<String, ArchiveError> {
        let features: Vec<String> = self.features.iter().map(|f| quoted(f)).collect();
        let members: Vec<String> = self.members.iter().map(|(name, digest)| digest.to_line(name)).collect();
        let text = format!(
            "{{\n  \"format\": \"{FORMAT}\",\n  \"version\": {VERSION},\n  \"features\": [{}],\n  \"producer\": {},\n  \
             \"members\": {{{}\n  }}\n}}\n",
            features.join(", "),
            quoted(&self.producer),
            members.join(","),
        );
        // A reader finds the manifest by the plain header alone, and that holds 32 bits.
        if u32::try_from(text.len()).is_ok_and(|len| len < u32::MAX) {
            return Ok(text);
        }
        let what = format!("{MANIFEST} would have {} bytes", text.len());
        Err(ArchiveError::refused(what, "less than 4 GiB", "Save fewer members"))
    }
}

/// What proves the data of a member.
pub(super) struct Digest {
    pub(super) size: u64,
    sha256: String,
}

impl Digest {
    fn of(data: &[u8]) -> Digest {
        let sha256 = Sha256::digest(data).iter().map(|byte| format!("{byte:02x}")).collect();
        Digest { size: data.len() as u64, sha256 }
    }

    pub(super) fn check(&self, name: &str, data: &[u8]) -> Result<(), ArchiveError> {
        self.check_size(name, data.len() as u64)?;
        let found = Digest::of(data).sha256;
        if found == self.sha256 {
            return Ok(());
        }
        let what = format!("member {name:?} is damaged: its SHA-256 is {found}");
        Err(ArchiveError::refused(what, format!("{:?}, as {MANIFEST} says", self.sha256), HINT))
    }

    pub(super) fn check_size(&self, name: &str, found: u64) -> Result<(), ArchiveError> {
        if found == self.size {
            return Ok(());
        }
        let what = format!("member {name:?} has {found} bytes");
        Err(ArchiveError::refused(what, format!("{}, as {MANIFEST} says", self.size), HINT))
    }

    fn to_line(&self, name: &str) -> String {
        format!("\n    {}: {{\"sha256\": {}, \"size\": {}}}", quoted(name), quoted(&self.sha256), self.size)
    }
}

/// Whether a name starts with `folder`, which ends in `/`.
pub(super) fn has_folder(members: &BTreeMap<String, Digest>, folder: &str) -> bool {
    members
        .range::<str, _>((Bound::Included(folder), Bound::Unbounded))
        .next()
        .is_some_and(|(name, _)| name.starts_with(folder))
}

fn check_names(members: &BTreeMap<String, Digest>) -> Result<(), ArchiveError> {
    let wanted = "names that are relative paths in any file system, such as \"weights/a.safetensors\"";
    let refused = |name: &str, why: &str| {
        Err(ArchiveError::refused(format!("member name {name:?} {why}"), wanted, "Rename the member"))
    };
    for name in members.keys() {
        if let Some(why) = fault(name) {
            return refused(name, why);
        }
        if has_folder(members, &format!("{name}/")) {
            return refused(name, "is the folder of another member");
        }
    }
    if has_folder(members, &format!("{MANIFEST}/")) { refused(MANIFEST, "cannot be a folder") } else { Ok(()) }
}

fn fault(name: &str) -> Option<&'static str> {
    let faults = [
        (name.is_empty(), "is empty"),
        (name == MANIFEST, "is reserved"),
        (name.len() > NAME_LIMIT, "is longer than 1024 bytes"),
        (name.starts_with('/'), "is absolute"),
        // A colon makes a drive or a stream of what is in front of it on Windows.
        (
            name.contains(['\\', ':']) || name.contains(char::is_control),
            "has a backslash, a colon or a control character",
        ),
        (name.split('/').any(|part| matches!(part, "" | "." | "..")), "has an empty part, `.` or `..`"),
    ];
    faults.into_iter().find_map(|(found, why)| found.then_some(why))
}

fn check_version(json: &Value) -> Result<(), ArchiveError> {
    if json.get("format").and_then(Value::as_str) != Some(FORMAT) {
        let what = format!("{MANIFEST} does not say \"format\": \"{FORMAT}\"");
        return Err(ArchiveError::refused(what, "an Extenso artifact", "Give the path of a saved artifact"));
    }
    match json.get("version").and_then(Value::as_u64) {
        Some(VERSION) => Ok(()),
        Some(found) if found > VERSION => {
            let producer = json.get("producer").unwrap_or(&Value::Null);
            let what = format!("the artifact has version {found}; a newer Extenso wrote it (producer: {producer})");
            Err(ArchiveError::newer(what, format!("version {VERSION} or below"), "Upgrade Extenso"))
        }
        _ => Err(not_canonical()),
    }
}

fn features(json: &Value) -> Option<BTreeSet<String>> {
    json.get("features")?.as_array()?.iter().map(|f| f.as_str().map(str::to_string)).collect()
}

fn check_features(required: &BTreeSet<String>, known: &[&str]) -> Result<(), ArchiveError> {
    let unknown: Vec<String> = required.iter().filter(|f| !known.contains(&f.as_str())).map(|f| quoted(f)).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let what = format!("the artifact requires {}, which this program does not have", unknown.join(", "));
    let wanted = format!("features among {known:?}");
    Err(ArchiveError::newer(what, wanted, "Upgrade Extenso, or add the package that has the feature"))
}

fn from_json(json: &Value, features: BTreeSet<String>) -> Option<Manifest> {
    let producer = json.get("producer")?.as_str()?.to_string();
    let members = json.get("members")?.as_object()?.iter();
    let members = members.map(|(name, facts)| Some((name.clone(), digest(facts)?))).collect::<Option<_>>()?;
    Some(Manifest { features, producer, members })
}

fn digest(json: &Value) -> Option<Digest> {
    Some(Digest { size: json.get("size")?.as_u64()?, sha256: json.get("sha256")?.as_str()?.to_string() })
}

fn not_canonical() -> ArchiveError {
    ArchiveError::refused(format!("{MANIFEST} is not as Extenso writes it"), "the text as it was saved", HINT)
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
