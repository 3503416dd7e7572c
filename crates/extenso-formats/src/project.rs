//! Projection: which parts of records are wanted, said by paths.
//!
//! Invariant: what is wanted of a spec is a spec of the same records with fewer fields, in the order of the spec.

use crate::names::some_names;
use crate::records::is;
use extenso_core::TypeSpec;
use extenso_ext::{MaskedTensorSpec, RaggedTensorSpec, StructSpec, UnionSpec, shape_of};
use extenso_types::{Error, ExtSpec, Path, Result, Segment, Spec};
use std::sync::Arc;

/// How deep a path may lead, and how deep the records that it leads into may nest.
pub const MAX_LEVELS: usize = 60;

/// What is wanted of the value at one place.
#[derive(Clone, Default, Debug)]
pub struct Wanted {
    all: bool,
    fields: Vec<(Arc<str>, Wanted)>,
    item: Option<Box<Wanted>>,
}

impl Wanted {
    /// Everything.
    pub fn all() -> Wanted {
        Wanted { all: true, ..Wanted::default() }
    }

    /// Whether this is everything.
    pub fn is_all(&self) -> bool {
        self.all
    }

    /// What lies at or below these paths, such as `user.history[*].item_id`; everything if there are none given.
    ///
    /// Errors: an empty list; a path with other steps than fields and `[*]`, or with more than 60.
    pub fn of_paths(paths: Option<&[Path]>) -> Result<Wanted> {
        let Some(paths) = paths else { return Ok(Wanted::all()) };
        if paths.is_empty() {
            return Err(Error::value("the list of paths is empty").wanted("a path at least"));
        }
        let mut wanted = Wanted::default();
        paths.iter().try_for_each(|path| wanted.add(path).map_err(|e| e.at(format!("path '{path}'"))))?;
        Ok(wanted)
    }

    fn add(&mut self, path: &Path) -> Result<()> {
        if path.segments().len() > MAX_LEVELS {
            return Err(Error::value("the path is too long").wanted(format!("at most {MAX_LEVELS} steps")));
        }
        let mut at = self;
        for segment in path.segments() {
            at = match segment {
                Segment::Field(name) => at.step_into(name),
                Segment::Each => at.item.get_or_insert_default(),
                Segment::Index(_) | Segment::Component(_) | Segment::Itself => {
                    let error = Error::value("the path leads to a part of a value");
                    return Err(error.wanted("fields and `[*]` alone, as in `items[*].price`"));
                }
            };
        }
        at.all = true;
        Ok(())
    }

    fn step_into(&mut self, name: &Arc<str>) -> &mut Wanted {
        let place = self.fields.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            self.fields.push((name.clone(), Wanted::default()));
            self.fields.len() - 1
        });
        &mut self.fields[place].1
    }

    /// What is wanted of a field; none if nothing is.
    pub fn field(&self, name: &str) -> Option<&Wanted> {
        if self.all {
            return Some(self);
        }
        self.fields.iter().find(|(known, _)| **known == *name).map(|(_, wanted)| wanted)
    }

    /// The fields of which something is wanted, where it is not everything.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|(name, _)| &**name)
    }

    /// The fields of which something is wanted, by name; none where everything is.
    #[cfg(feature = "proto")]
    pub fn fields(&self) -> impl Iterator<Item = (&Arc<str>, &Wanted)> {
        self.fields.iter().filter(|_| !self.all).map(|(name, wanted)| (name, wanted))
    }

    /// What is wanted of the items of a list; none if nothing is.
    pub fn item(&self) -> Option<&Wanted> {
        if self.all { Some(self) } else { self.item.as_deref() }
    }

    /// What is wanted of the items of lists of one size, which are an axis: `[*]` stands for it, or nothing does. None if nothing is,
    /// or if some paths name it and others do not.
    pub fn along_axis(&self) -> Option<&Wanted> {
        match (self.item(), self.fields.is_empty()) {
            (None, false) => Some(self),
            (item, _) if self.all => item,
            (Some(_), false) => None,
            (item, true) => item,
        }
    }

    /// What is wanted of the items of a list.
    ///
    /// Errors: the path goes on with a field.
    #[cfg(any(feature = "parquet", feature = "avro"))]
    pub fn only_item(&self, at: &Path) -> Result<&Wanted> {
        let item = self.item().filter(|_| self.fields.is_empty());
        item.ok_or_else(|| self.astray(at, "a list", "`[*]`"))
    }

    /// Checks that a record of these fields has those that are wanted.
    ///
    /// Errors: a field that it lacks, with those that there are; the path goes on with `[*]`.
    #[cfg(any(feature = "parquet", feature = "avro"))]
    pub fn check_fields<'n>(&self, at: &Path, names: impl Iterator<Item = &'n str> + Clone) -> Result<()> {
        if self.item.is_some() {
            return Err(self.astray(at, "a record", "the name of a field"));
        }
        let there = |name: &str| names.clone().any(|known| known == name);
        match self.fields.iter().find(|(name, _)| !there(name)) {
            Some((missing, _)) => {
                let known = at.child(Segment::Field(missing.clone()));
                let names: Vec<&str> = names.collect();
                let error = Error::missing(format!("there is no '{known}'"));
                Err(error.wanted(format!("one of {}", some_names(names))))
            }
            None => Ok(()),
        }
    }

    /// The spec of what is wanted of values of this spec.
    ///
    /// Errors: a path that leads nowhere, with what there is.
    pub fn of(&self, spec: &Spec) -> Result<Spec> {
        self.part(spec, &Path::root(), 1)
    }

    /// The part of a value in one that has so many axes, which are its first.
    fn part(&self, spec: &Spec, at: &Path, outer: usize) -> Result<Spec> {
        match spec {
            _ if self.all => Ok(spec.clone()),
            Spec::Ext(ext) if is::<MaskedTensorSpec>(ext) => rebuilt(ext, |segment, spec| match segment {
                Segment::Itself => self.part(spec, at, outer).map(Some),
                _ => Ok(Some(spec.clone())),
            }),
            Spec::Ext(ext) if is::<RaggedTensorSpec>(ext) => self.list(ext, at),
            dense => self.of_dense(dense, at, outer),
        }
    }

    /// The part of a value whose axes are its own: `[*]` may stand for each of them, or nothing does.
    fn of_dense(&self, spec: &Spec, at: &Path, outer: usize) -> Result<Spec> {
        let rank = shape_of(spec).rank().unwrap_or(outer);
        let (mut wanted, mut at) = (self, at.clone());
        for _ in outer..rank {
            match wanted.item.as_deref().filter(|_| !wanted.all && wanted.fields.is_empty()) {
                Some(item) => (wanted, at) = (item, at.child(Segment::Each)),
                None => break,
            }
        }
        match spec {
            _ if wanted.all => Ok(spec.clone()),
            Spec::Ext(ext) if is::<StructSpec>(ext) => wanted.record(ext, &at, rank),
            Spec::Ext(ext) if is::<UnionSpec>(ext) => wanted.union(ext, &at, rank),
            other => Err(wanted.astray(&at, &format!("{other}"), "the end of the path")),
        }
    }

    fn list(&self, ext: &ExtSpec, at: &Path) -> Result<Spec> {
        let item = self.item.as_ref().filter(|_| self.fields.is_empty());
        let item = item.ok_or_else(|| self.astray(at, "a list", "`[*]`"))?;
        rebuilt(ext, |segment, spec| match spec {
            Spec::Partition(_) => Ok(Some(spec.clone())),
            Spec::Tensor(_) | Spec::Ext(_) => item.part(spec, &at.child(segment.clone()), 1).map(Some),
        })
    }

    fn record(&self, ext: &ExtSpec, at: &Path, rank: usize) -> Result<Spec> {
        let names: Vec<&Arc<str>> = ext.components.iter().filter_map(|(segment, _)| named(segment)).collect();
        self.check(at, "a record", &names)?;
        rebuilt(ext, |segment, spec| match segment {
            Segment::Field(name) => {
                self.field(name).map(|wanted| wanted.part(spec, &at.child(segment.clone()), rank)).transpose()
            }
            _ => Ok(None),
        })
    }

    /// The types of a union that are wanted; an element of another type is none of them.
    fn union(&self, ext: &ExtSpec, at: &Path, rank: usize) -> Result<Spec> {
        let spec = UnionSpec::deserialize(ext)?;
        self.check(at, "a union", &spec.children().iter().map(|(_, name, _)| name).collect::<Vec<_>>())?;
        let mut children = Vec::new();
        for (i, name, child) in spec.children() {
            let at = at.child(Segment::Field(name.clone()));
            if let Some(wanted) = self.field(name) {
                let id = if spec.offsets().is_some() { *i } else { i8::try_from(children.len()).unwrap_or(i8::MAX) };
                children.push((id, name.clone(), wanted.part(child, &at, rank)?));
            }
        }
        Ok(UnionSpec::new(spec.tags().clone(), spec.offsets().cloned(), children).serialize().into())
    }

    /// Checks that there are the fields of which something is wanted.
    fn check(&self, at: &Path, what: &str, names: &[&Arc<str>]) -> Result<()> {
        if self.item.is_some() {
            return Err(self.astray(at, what, "the name of a field"));
        }
        let Some((missing, _)) = self.fields.iter().find(|(name, _)| !names.contains(&name)) else { return Ok(()) };
        let shown = |name: &Arc<str>| Path::from_iter([Segment::Field(name.clone())]).to_string();
        let names: Vec<String> = names.iter().map(|name| shown(name)).collect();
        let known: Path = at.child(Segment::Field(missing.clone()));
        let wanted = match names.as_slice() {
            [] => "a field of these records, of which none was seen".to_string(),
            names => format!("one of {}", some_names(names)),
        };
        Err(Error::missing(format!("there is no '{known}'")).wanted(wanted))
    }

    /// The error of a path that goes on behind its end.
    pub(crate) fn astray(&self, at: &Path, what: &str, wanted: &str) -> Error {
        let next = match (self.fields.first(), &self.item) {
            (Some((name, _)), _) => Path::from_iter([Segment::Field(name.clone())]).to_string(),
            (None, _) => "[*]".to_string(),
        };
        Error::missing(format!("'{at}' is {what}, and the path goes on with '{next}'")).wanted(wanted)
    }
}

fn named(segment: &Segment) -> Option<&Arc<str>> {
    match segment {
        Segment::Field(name) => Some(name),
        Segment::Index(_) | Segment::Component(_) | Segment::Itself | Segment::Each => None,
    }
}

/// The spec with other components, or without some.
fn rebuilt(ext: &ExtSpec, part: impl Fn(&Segment, &Spec) -> Result<Option<Spec>>) -> Result<Spec> {
    let mut components = Vec::with_capacity(ext.components.len());
    for (segment, spec) in &ext.components {
        components.extend(part(segment, spec)?.map(|spec| (segment.clone(), spec)));
    }
    Ok(Spec::from(ExtSpec { def: ext.def.clone(), static_data: ext.static_data.clone(), components }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FieldSpec as F, struct_spec};
    use extenso_types::DType;

    fn check(paths: &[&str], wanted: &str) {
        let scalar = || F::Scalar(DType::I64, vec![]);
        let item = F::Record(vec![("price", scalar()), ("sku", F::Scalar(DType::String, vec![]))]);
        let user = F::Record(vec![("id", scalar()), ("age", F::Optional(Box::new(scalar())))]);
        let spec =
            struct_spec([("id", scalar()), ("items", F::List(Box::new(item))), ("user", F::Optional(Box::new(user)))]);
        let paths: Vec<Path> = paths.iter().map(|path| path.parse().expect("a path")).collect();
        let part = Wanted::of_paths(Some(&paths)).and_then(|w| w.of(&spec.expect("a spec")));
        let text = part.map_or_else(|e| e.to_string(), |spec| spec.to_string());
        assert!(text.contains(wanted), "{paths:?}: {text}");
    }

    #[test]
    fn what_is_wanted_keeps_the_order_and_nesting_of_the_spec() {
        check(
            &["user.age", "id"],
            "StructTensor(id: i64[?], user: MaskedTensor(StructTensor(age: MaskedTensor(i64[?], @mask: bool[?])",
        );
        check(
            &["items[*].price"],
            "StructTensor(items: RaggedTensor([*]: StructTensor(price: i64[?], rank=1), @row_splits",
        );
        check(&["items", "items[*].sku"], "price: i64[?], sku: string[?]");
    }

    #[test]
    fn an_axis_of_records_may_stand_in_a_path_or_not() {
        let scalar = |dims: &[usize]| F::Scalar(DType::I64, dims.to_vec());
        let spec = struct_spec([("v", scalar(&[2])), ("n", scalar(&[]))]).expect("a spec");
        let part = |path: &str| {
            let paths = [path.parse().expect("a path")];
            let part = Wanted::of_paths(Some(&paths)).and_then(|wanted| wanted.of(&spec));
            part.map_or_else(|e| e.to_string(), |spec| spec.to_string())
        };
        assert_eq!(part("v[*]"), part("v"));
        assert!(part("v[*][*]").contains("and the path goes on with '[*]'"), "{}", part("v[*][*]"));
        assert!(part("n[*]").contains("'n' is i64[?], and the path goes on with '[*]'"), "{}", part("n[*]"));
    }

    #[test]
    fn a_path_that_leads_nowhere_is_named() {
        check(&["user.name"], "there is no 'user.name'.\nWanted: one of id, age.");
        check(&["items.price"], "'items' is a list, and the path goes on with 'price'.\nWanted: `[*]`");
        check(&["user[*]"], "'user' is a record, and the path goes on with '[*]'.\nWanted: the name of a field.");
        check(&["id.x"], "'id' is i64[?], and the path goes on with 'x'.\nWanted: the end of the path.");
        check(&["items[0].price"], "path 'items[0].price': the path leads to a part of a value.");
        check(&["items@row_splits"], "fields and `[*]` alone");
        check(&[], "the list of paths is empty");
    }
}
