//! Reading: a whole file as one value, or its blocks one after another.
//!
//! Invariant: of each block the wanted parts alone are decoded, into columns that grow until there are rows enough. A row whose values do not fit is
//! left out or replaced, as the policy says, if its end can be found.

use super::codec::Budget;
use super::container::{Container, Packed, Stored, malformed};
use super::node::Node;
use super::schema::Schema;
use super::shape::{Want, compile};
use super::skip::skip;
use super::wire::Wire;
use crate::arrow::from_arrow_field;
use crate::columns::{BadRow, BadRows, MAX_REPORTED, OnError};
use crate::failure::Failure;
use crate::ops::any_rows;
use crate::policy::{field_rows, only_column};
use crate::project::Wanted;
use crate::run::Rows;
use crate::source::{is_packed, reading, unpack};
use arrow_array::ArrayRef;
use arrow_schema::FieldRef;
use extenso_core::{Tensor, ops, side_by_side, threads};
use extenso_types::{Error, Path, Result, Spec};
use std::io::BufRead;
use std::sync::atomic::{AtomicU64, Ordering};

/// How Avro is read: `AvroOptions::default()` reads all of a file as what it is.
#[derive(Clone, Default, Debug)]
pub struct AvroOptions {
    /// What the records are; what the file says, if there is none.
    pub spec: Option<Spec>,
    /// What is read of them: the parts at or below these paths, such as `items[*].price`. Everything, if there is none.
    pub paths: Option<Vec<Path>>,
    /// What becomes of a row that does not fit.
    pub on_error: OnError,
}

/// Reads an Avro file as one batch, whose outer axis is the rows. What is not wanted is read over. The file may be packed by gzip or zstd.
///
/// Without a spec the value is what the file says: see [the table](crate::avro). With one, fields that it does not have are not looked at, an optional
/// field that the file lacks is missing, and numbers are widened where that is exact.
///
/// Errors: a malformed file; a path that leads nowhere; a needed field that is missing or of another type, with path, what came and what is
/// wanted; rows that do not fit, unless `on_error` says otherwise; a record that holds itself, where all of it is wanted.
///
/// ```
/// # use extenso_formats::{AvroOptions, encode_avro, read_avro};
/// # use extenso_types::Nest;
/// let rows = b"{\"id\": 1, \"items\": [{\"price\": 2.5}]}\n{\"id\": 2, \"items\": []}\n";
/// let value = extenso_formats::read_json(rows, &Default::default()).unwrap().value;
/// let file = encode_avro(&Nest::Leaf(value), Default::default()).unwrap();
/// let options = AvroOptions { paths: Some(vec!["items[*].price".parse().unwrap()]), ..AvroOptions::default() };
/// let read = read_avro(&file[..], &options).unwrap();
/// assert_eq!(
///     extenso_ext::to_literal(&read.value).unwrap().to_string(),
///     r#"[{"items": [{"price": 2.5}]}, {"items": []}]"#
/// );
/// ```
pub fn read_avro(mut source: impl BufRead, options: &AvroOptions) -> Result<Rows> {
    if is_packed(source.fill_buf().map_err(reading)?) {
        let mut packed = Vec::new();
        source.read_to_end(&mut packed).map_err(reading)?;
        return read_plain(&unpack(&packed)?[..], options);
    }
    read_plain(source, options)
}

fn read_plain(source: impl BufRead, options: &AvroOptions) -> Result<Rows> {
    let wanted = Wanted::of_paths(options.paths.as_deref()).map_err(|e| e.at("paths"))?;
    let spec = options.spec.as_ref().map(|spec| wanted.of(&any_rows(spec))).transpose().map_err(|e| e.at("paths"))?;
    let want = match &spec {
        Some(spec) => Want::Spec(spec),
        None if wanted.is_all() => Want::All,
        None => Want::Paths(&wanted),
    };
    let mut reader = Reader::open(source, want, options.on_error).map_err(|e| match spec {
        None if e.is_missing() => e.at("paths"),
        _ => e,
    })?;
    let Batch { rows, bad, count } = match reader.all(want)? {
        Some(batch) => batch,
        None => reader.empty()?,
    };
    match &spec {
        Some(spec) => {
            let only = if reader.schema.holds(spec)? { Some(only_column(&rows)?) } else { None };
            let (field, rows) = only.as_ref().map_or((reader.field(), &rows), |(field, rows)| (field, rows));
            let (value, bad) = field_rows(field, rows, 0, bad, options.on_error, spec)?;
            Ok(Rows { value, bad, visited: Vec::new() })
        }
        None => {
            let value = from_arrow_field(reader.field(), rows.as_ref())?;
            let value = if options.on_error == OnError::Skip && !bad.is_empty() {
                let odd: std::collections::HashSet<usize> = bad.iter().map(|bad| bad.row).collect();
                let kept = (0..count).filter(|row| !odd.contains(row)).filter_map(|row| i64::try_from(row).ok());
                ops::take(value, Tensor::from_vec(kept.collect::<Vec<i64>>()), 0_i64)?
            } else {
                value
            };
            Ok(Rows { value, bad: report(bad, count, options.on_error), visited: Vec::new() })
        }
    }
}

/// The report of bad rows among so many.
fn report(bad: Vec<BadRow>, count: usize, on_error: OnError) -> BadRows {
    let mut out = BadRows { rows: bad.iter().map(|bad| bad.row).collect(), ..BadRows::default() };
    if on_error == OnError::Default {
        let mut rows = out.rows.iter().peekable();
        (0..count).for_each(|row| out.defaulted.push(rows.next_if(|bad| **bad == row).is_some()));
    }
    out.first = bad.into_iter().take(MAX_REPORTED).collect();
    out
}

/// Rows as an array.
pub(crate) struct Batch {
    pub rows: ArrayRef,
    /// How many there are.
    pub count: usize,
    /// Those that hold defaults, since their values did not fit the schema of the file.
    pub bad: Vec<BadRow>,
}

/// A file, and what is wanted of it.
pub(crate) struct Reader<R> {
    file: Container<R>,
    schema: Schema,
    root: Node,
    on_error: OnError,
    budget: Budget,
    row: usize,
}

impl<R: BufRead> Reader<R> {
    /// Reads the header.
    ///
    /// Errors: see [`read_avro`].
    pub fn open(source: R, want: Want<'_>, on_error: OnError) -> Result<Reader<R>> {
        let (file, schema) = Container::open(source)?;
        let root = compile(&schema, want)?;
        Ok(Reader { file, schema, root, on_error, budget: Budget::default(), row: 0 })
    }

    /// What the rows are.
    pub fn field(&self) -> &FieldRef {
        &self.root.field
    }

    /// How many bytes were read.
    pub fn bytes(&self) -> u64 {
        self.file.bytes()
    }

    /// No rows.
    ///
    /// Errors: none that a file has.
    pub fn empty(&mut self) -> Result<Batch> {
        Ok(Batch { rows: self.root.finish(0)?, count: 0, bad: Vec::new() })
    }

    /// The rows of the next blocks, until they have so many bytes; none at the end.
    ///
    /// Errors: malformed bytes; rows that do not fit, under the policy that raises.
    pub fn next(&mut self, size: usize) -> Result<Option<Batch>> {
        self.budget = Budget::default();
        let (before, mut held, mut bad, mut any) = (self.row, 0_u64, Vec::new(), false);
        while held < size as u64 {
            let start = self.budget.left();
            let Some(block) = self.file.next(&mut self.budget)? else { break };
            any = true;
            self.rows(&block, &mut bad)?;
            let made = start.saturating_sub(self.budget.left());
            held = held.saturating_add(made).saturating_add(block.bytes.len() as u64);
        }
        if !any {
            return Ok(None);
        }
        let count = self.row - before;
        Ok(Some(Batch { rows: self.root.finish(count)?, count, bad }))
    }

    /// All rows that are left, of which blocks are decoded side by side; none if there is none. `want` is what the file was opened with.
    ///
    /// Errors: as [`Reader::next`], and the same ones.
    pub fn all(&mut self, want: Want<'_>) -> Result<Option<Batch>> {
        let most = threads() * PER_THREAD;
        if threads() < 2 || self.root.empty {
            return self.next(usize::MAX);
        }
        self.budget = Budget::default();
        let (before, mut bad, mut desks, mut any, mut ended) = (self.row, Vec::new(), Vec::new(), false, Ok(false));
        while let Ok(false) = ended {
            let mut blocks = Vec::new();
            while blocks.len() < most && matches!(ended, Ok(false)) {
                match self.file.packed() {
                    Ok(Some(block)) => blocks.push(block),
                    Ok(None) => ended = Ok(true),
                    // The blocks before may have an error that comes first.
                    Err(e) => ended = Err(e),
                }
            }
            any |= !blocks.is_empty();
            while desks.len() < blocks.len() {
                desks.push(compile(&self.schema, want)?);
            }
            self.together(blocks, &mut desks, want, &mut bad)?;
        }
        ended?;
        if !any {
            return Ok(None);
        }
        let count = self.row - before;
        Ok(Some(Batch { rows: self.root.finish(count)?, count, bad }))
    }

    /// Decodes blocks side by side, each into a node of its own, and puts these behind the rows that there are.
    ///
    /// What a block may hold follows from the blocks before, of which not all is known yet: each is given the most that may be left, and one
    /// that has an error or took more than was left is decoded again, alone.
    fn together(
        &mut self,
        blocks: Vec<Packed>,
        desks: &mut [Node],
        want: Want<'_>,
        bad: &mut Vec<BadRow>,
    ) -> Result<()> {
        let (mut most, mut row, mut tasks) = (self.budget, self.row, Vec::new());
        for (block, desk) in blocks.into_iter().zip(desks) {
            let (given, first) = (most, row);
            most.add(block.bytes.len());
            row = row.saturating_add(block.rows);
            tasks.push((block, desk, given, first));
        }
        let (schema, on_error) = (&self.schema, self.on_error);
        // All together are not more than the last may be given, or wait for their turn.
        let shared = AtomicU64::new(most.left());
        let has_room = |bytes: usize| {
            let take = |left: u64| left.checked_sub(bytes as u64);
            shared.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
        };
        let done = side_by_side(tasks, |(block, desk, given, row)| {
            let (mut left, mut bad) = (given, Vec::new());
            let read = block.clone().unpack(&mut left).and_then(|stored| {
                if !has_room(stored.bytes.len()) {
                    return Err(Error::memory("the blocks before it have to be read first"));
                }
                rows(schema, desk, &stored, Place { on_error, row }, &mut left, &mut bad)
            });
            let mut all = given;
            all.add(block.bytes.len());
            let used = all.left().saturating_sub(left.left());
            (block, desk, read.map(|()| (used, bad)))
        });
        for (block, desk, read) in done {
            let mut left = self.budget;
            left.add(block.bytes.len());
            match read {
                Ok((used, odd)) if left.take(used) => {
                    self.budget = left;
                    self.row += block.rows;
                    self.root.append(desk);
                    bad.extend(odd);
                }
                _ => {
                    *desk = compile(&self.schema, want)?;
                    let stored = block.unpack(&mut self.budget)?;
                    self.rows(&stored, bad)?;
                }
            }
        }
        Ok(())
    }

    /// Decodes the rows of a block.
    fn rows(&mut self, block: &Stored, bad: &mut Vec<BadRow>) -> Result<()> {
        let place = Place { on_error: self.on_error, row: self.row };
        rows(&self.schema, &mut self.root, block, place, &mut self.budget, bad)?;
        self.row += block.rows;
        Ok(())
    }
}

/// So many blocks are taken for each thread, so that one that is late is not waited for long.
const PER_THREAD: usize = 4;

/// The first row of a block, and what becomes of rows that do not fit.
#[derive(Clone, Copy)]
struct Place {
    on_error: OnError,
    row: usize,
}

/// Decodes the rows of a block into a node.
///
/// Errors: malformed bytes; rows that do not fit, under the policy that raises.
fn rows(
    schema: &Schema,
    root: &mut Node,
    block: &Stored,
    Place { on_error, mut row }: Place,
    budget: &mut Budget,
    bad: &mut Vec<BadRow>,
) -> Result<()> {
    let (marks, row) = (&mut Vec::new(), &mut row);
    let mut wire = Wire::new(&block.bytes, budget);
    let told = |failure: Box<Failure>, row: usize| block.told(*failure, row);
    if root.empty {
        wire.charge(block.rows.saturating_mul(root.weight)).map_err(|e| told(e, *row).error)?;
        root.fill(block.rows);
        *row += block.rows;
    } else {
        for _ in 0..block.rows {
            let start = wire.at();
            marks.clear();
            if on_error != OnError::Raise {
                root.mark(marks);
            }
            if let Err(failure) = root.read(schema, &mut wire) {
                let fault = told(failure, *row);
                if on_error == OnError::Raise {
                    return Err(fault.error);
                }
                // A row whose end is not found hides where the next begins.
                wire.go_back(start);
                root.roll_back(&mut marks.drain(..));
                let over = skip(schema, schema.root, &mut wire, 0).and_then(|()| wire.charge(root.weight));
                over.map_err(|e| told(e, *row).error)?;
                root.fill(1);
                bad.push(fault);
            }
            *row += 1;
        }
    }
    match wire.rest() {
        0 => Ok(()),
        rest => Err(malformed(block.at, format!("{rest} bytes are behind the {} rows of a block", block.rows))
            .wanted("blocks of the rows that they say")),
    }
}

impl Stored {
    /// A failure of a row, with its place.
    fn told(&self, failure: Failure, row: usize) -> BadRow {
        let at = usize::try_from(self.at).unwrap_or(usize::MAX);
        if self.plain {
            let (offset, path, error) = failure.finish(row, at);
            return BadRow { row, offset: Some(offset), path, error };
        }
        let (_, path, error) = failure.finish(row, 0);
        BadRow { row, offset: Some(at), path, error: error.at(format!("the unpacked block at byte {at}")) }
    }
}
