//! The tree of a spec: a line for each place in a record, with what is known of it and whether a function reads it.
//!
//! Invariant: marks are taken in the order of the spec's leaves, one for each leaf.

use extenso::{ExtSpec, MaskedTensorSpec, Nest, Path, RaggedTensorSpec, Segment, Spec, TypeSpec};
use std::fmt::Write;

/// One place and what is below it.
#[derive(Debug)]
pub struct Tree {
    label: String,
    note: String,
    /// Whether the leaves that stand here (not below) are read.
    read: Vec<bool>,
    below: Vec<Tree>,
}

impl Tree {
    /// The tree of a nest of specs, which takes a mark for each of its leaves.
    pub fn new(label: &str, nest: &Nest<Spec>, marks: &mut dyn Iterator<Item = bool>) -> Tree {
        Grower { marks }.nest(label.to_string(), nest)
    }

    /// Writes the tree below a margin; with `marks`, each line says whether it is read.
    pub fn write(&self, out: &mut String, margin: &str, marks: bool) {
        let mut lines = Vec::new();
        self.lines(String::new(), "", &mut lines);
        let width = lines.iter().map(|(text, _)| text.chars().count()).max().unwrap_or(0);
        for (text, tree) in lines {
            let mark = if marks { format!("{} ", tree.mark()) } else { String::new() };
            let gap = width - text.chars().count();
            let line = format!("{margin}{mark}{text}{:gap$}  {}", "", tree.note);
            let _ = writeln!(out, "{}", line.trim_end());
        }
    }

    fn lines<'a>(&'a self, lead: String, rest: &str, lines: &mut Vec<(String, &'a Tree)>) {
        lines.push((format!("{lead}{}", self.label), self));
        let last = self.below.len().saturating_sub(1);
        for (i, tree) in self.below.iter().enumerate() {
            let (branch, trunk) = if i == last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            tree.lines(format!("{rest}{branch}"), &format!("{rest}{trunk}"), lines);
        }
    }

    /// Read, in part, or not.
    fn mark(&self) -> char {
        let all = self.reads();
        match (all.contains(&true), all.contains(&false)) {
            (true, true) => '◐',
            (true, false) => '●',
            (false, _) => '○',
        }
    }

    fn reads(&self) -> Vec<bool> {
        self.read.iter().copied().chain(self.below.iter().flat_map(Tree::reads)).collect()
    }
}

struct Grower<'a> {
    marks: &'a mut dyn Iterator<Item = bool>,
}

impl Grower<'_> {
    fn nest(&mut self, label: String, nest: &Nest<Spec>) -> Tree {
        let (note, entries): (&str, Vec<(String, &Nest<Spec>)>) = match nest {
            Nest::Leaf(spec) => return self.spec(label, spec),
            Nest::Static(value) => {
                return Tree { label, note: format!("always {value}"), read: Vec::new(), below: Vec::new() };
            }
            Nest::List(items) => ("list", numbered(items)),
            Nest::Tuple(items) => ("tuple", numbered(items)),
            Nest::Dict(entries) | Nest::Record(_, entries) => {
                ("", entries.iter().map(|(key, nest)| (key.to_string(), nest)).collect())
            }
        };
        let below = entries.into_iter().map(|(label, nest)| self.nest(label, nest)).collect();
        Tree { label, note: note.into(), read: Vec::new(), below }
    }

    fn spec(&mut self, label: String, spec: &Spec) -> Tree {
        match spec {
            Spec::Tensor(tensor) => self.leaf(label, tensor.to_string()),
            Spec::Partition(partition) => self.leaf(label, partition.to_string()),
            Spec::Ext(ext) if is::<RaggedTensorSpec>(ext) => self.folded(label + "[*]", ext),
            Spec::Ext(ext) if is::<MaskedTensorSpec>(ext) => {
                let mut tree = self.folded(label, ext);
                tree.note += " or null";
                tree
            }
            Spec::Ext(ext) => self.record(label, ext),
        }
    }

    fn leaf(&mut self, label: String, note: String) -> Tree {
        Tree { label, note, read: self.marks.next().into_iter().collect(), below: Vec::new() }
    }

    /// A list or an optional value is shown as what is in it.
    fn folded(&mut self, label: String, ext: &ExtSpec) -> Tree {
        let mut tree = Tree { label: label.clone(), note: String::new(), read: Vec::new(), below: Vec::new() };
        let mut own = Vec::new();
        for (segment, spec) in &ext.components {
            match segment {
                Segment::Each | Segment::Itself => tree = self.spec(label.clone(), spec),
                _ => own.extend(self.spec(String::new(), spec).read),
            }
        }
        tree.read.extend(own);
        tree
    }

    fn record(&mut self, label: String, ext: &ExtSpec) -> Tree {
        let name = |segment: &Segment| match segment {
            Segment::Field(name) => name.to_string(),
            other => Path::root().child(other.clone()).to_string(),
        };
        let below = ext.components.iter().map(|(segment, spec)| self.spec(name(segment), spec)).collect();
        let is_struct = ext.def.name().short() == "StructTensor";
        let note = if is_struct { String::new() } else { type_note(ext) };
        Tree { label, note, read: Vec::new(), below }
    }
}

/// The name of a user's type, with its static data.
fn type_note(ext: &ExtSpec) -> String {
    let data = ext.static_data.to_string();
    if data == "{}" { ext.def.to_string() } else { format!("{} {data}", ext.def) }
}

fn numbered(items: &[Nest<Spec>]) -> Vec<(String, &Nest<Spec>)> {
    items.iter().enumerate().map(|(i, nest)| (format!("[{i}]"), nest)).collect()
}

fn is<S: TypeSpec>(ext: &ExtSpec) -> bool {
    ext.def.name() == S::def().name()
}
