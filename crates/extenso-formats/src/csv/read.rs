//! Reading: rows into the columns of a plan.
//!
//! Invariant: no call gives columns of rows that differ in number. Recursion follows the plan, never the input.

use super::cell::{is_rounded, push_scalar};
use super::lines::Line;
use super::table::{Inference, Table};
use crate::assemble::{Pieces, assemble};
use crate::columns::{Column, Columns, Decoded, Kinds, OnError};
use crate::failure::{Failure, Read};
use crate::json::mark_len;
use crate::names::some_names;
use crate::parts::{self, Start};
use crate::plan::{ColumnId, Field, Plan, fills};
use crate::policy::{Policy, no_rows};
use crate::project::Wanted;
use crate::read::batch;
use crate::records::RecordSpec;
use crate::run::Rows as Batch;
use crate::source::unpack;
use crate::spelled;
use extenso_core::kernels::pool::affordable;
use extenso_ext::Spelling;
use extenso_types::{DType, Error, Nest, Path, Result, Segment, Spec};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How CSV is read: `CsvOptions::default()` has commas, infers the spec from all rows, reads all of it, and fails at a bad row.
#[derive(Clone, Debug)]
pub struct CsvOptions {
    /// What the records are; inferred if there is none.
    pub spec: Option<Spec>,
    /// What is read of them: the parts at or below these paths. Everything, if there is none.
    pub paths: Option<Vec<Path>>,
    /// From how many rows the spec is inferred: from all, if there is none.
    pub sample: Option<usize>,
    /// What stands between cells.
    pub delimiter: u8,
    /// What becomes of a row that does not fit.
    pub on_error: OnError,
}

impl Default for CsvOptions {
    fn default() -> CsvOptions {
        CsvOptions { spec: None, paths: None, sample: None, delimiter: b',', on_error: OnError::Raise }
    }
}

/// Reads a table as one batch, whose outer axis is the rows behind the first, which names the columns. It may be packed by gzip or zstd.
///
/// A name with dots is the path of a nested field, and a column without a name is `column_0`, by its place. Integers are i64 (u64 where they need it), other numbers f64, and a column in which cells are of two kinds is one of
/// strings. An empty cell is missing, or an empty string in a column of strings.
///
/// Errors: a row that does not fit, with its number, byte, path and column, unless `on_error` says otherwise; no row of names; a spec with a
/// field that has no column; lists, which CSV does not have.
///
/// ```
/// # use extenso_formats::csv::{CsvOptions, read_csv};
/// let rows = b"id,user.name,score\n1,Ann,0.5\n2,\"B, b\",\n";
/// let read = read_csv(rows, &CsvOptions::default()).unwrap();
/// assert_eq!(
///     extenso_ext::to_literal(&read.value).unwrap().to_string(),
///     r#"[{"id": 1, "user": {"name": "Ann"}, "score": 0.5}, {"id": 2, "user": {"name": "B, b"}, "score": None}]"#
/// );
/// ```
pub fn read_csv(input: &[u8], options: &CsvOptions) -> Result<Batch> {
    let input = unpack(input)?;
    if options.spec.is_none() && options.sample == Some(0) {
        return Err(Error::value("the sample has 0 records").wanted("at least one").at("sample"));
    }
    // A mark of UTF-8 is no part of the first cell.
    let mark = mark_len(&input);
    let (table, rows, mut start) = Table::begin(&input[mark..], options.delimiter)?;
    start.byte += mark;
    let spec = match &options.spec {
        Some(spec) => Wanted::of_paths(options.paths.as_deref()).and_then(|wanted| wanted.of(spec))?,
        None => match guessed(&table, rows, start, options) {
            Some(read) => return read,
            None => infer(&table, rows, start, options)?,
        },
    };
    read_rows(&spec, table, rows, start, options)
}

fn read_rows(spec: &Spec, table: Table, text: &[u8], start: Start, options: &CsvOptions) -> Result<Batch> {
    let records = RecordSpec::new(&Nest::Leaf(spec.clone()), &[])?;
    let decoded = Rows::new(records.plan(), table)?.block(text, start, options.on_error)?;
    batch(spec, &records, decoded, 0, options.on_error)
}

/// What is read by the spec of the first rows, where it is surely that of all of them: other rows fit it that would not change it.
fn guessed(table: &Table, text: &[u8], start: Start, options: &CsvOptions) -> Option<Result<Batch>> {
    if options.sample.is_some() || options.on_error != OnError::Raise {
        return None;
    }
    let (first, rest) = table.piece(text, GUESSED);
    let wanted = Wanted::of_paths(options.paths.as_deref()).ok().filter(|_| !rest.is_empty())?;
    let mut found = Inference::new(table.clone(), options.on_error);
    found.note(first, start, usize::MAX).ok()?;
    let spec = found.spec(&wanted).ok().filter(|_| found.is_settled())?;
    let records = RecordSpec::new(&Nest::Leaf(spec.clone()), &[]).ok()?;
    let rows = Rows { exact: true, ..Rows::new(records.plan(), table.clone()).ok()? };
    let decoded = rows.block(text, start, options.on_error).ok()?;
    Some(batch(&spec, &records, decoded, 0, options.on_error))
}

/// So many bytes of rows tell what the others are likely to be.
const GUESSED: usize = 1 << 18;

fn infer(table: &Table, rows: &[u8], start: Start, options: &CsvOptions) -> Result<Spec> {
    let wanted = Wanted::of_paths(options.paths.as_deref())?;
    let mut found = Inference::new(table.clone(), options.on_error);
    found.note(rows, start, options.sample.unwrap_or(usize::MAX))?;
    found.spec(&wanted).map_err(|e| e.at("infer_spec"))
}

/// A plan, and where in a row its leaves are.
#[derive(Debug)]
pub(crate) struct Rows {
    table: Table,
    root: Node,
    kinds: Kinds,
    defaults: Vec<(ColumnId, usize)>,
    /// Whether integers that f64 does not hold are refused, as they are where a spec is inferred of them.
    exact: bool,
}

/// How cells are read.
#[derive(Clone, Copy)]
struct How {
    /// Whether the whole text is UTF-8, and so are its cells.
    is_utf8: bool,
    exact: bool,
}

#[derive(Debug)]
enum Node {
    Skip,
    Scalar {
        dtype: DType,
        column: ColumnId,
        cell: usize,
    },
    Text {
        dtype: DType,
        column: ColumnId,
        cell: usize,
    },
    Spelled {
        spelling: Spelling,
        column: ColumnId,
        cell: usize,
    },
    Optional {
        validity: Option<ColumnId>,
        inner: Box<Node>,
        cells: Vec<usize>,
        /// Those of them that are there where they are quotes around nothing.
        texts: Vec<usize>,
        defaults: Vec<(ColumnId, usize)>,
    },
    Record(Vec<(Arc<str>, Node)>),
}

impl Rows {
    /// The plan for a table of these columns.
    ///
    /// Errors: see [`Plan::kinds`]; a field that has no column, unless it may be missing; several columns for rows of one cell; a list.
    pub fn new(plan: &Plan, table: Table) -> Result<Rows> {
        let kinds = Kinds::new(plan.kinds()?);
        let mut places: Places<'_> = BTreeMap::new();
        for (place, path) in table.paths.iter().enumerate() {
            places.entry(path).or_default().push(place);
        }
        let whole = Path::root();
        if is_one_cell(plan) {
            // A table of one column is its values, whatever the column is called.
            let [_] = *table.paths else {
                let error = Error::shape(format!("the table has {} columns", table.paths.len()));
                return Err(error
                    .wanted(format!("one column, of {}", plan.what()))
                    .hint("Name the columns in a spec of records."));
            };
            places = BTreeMap::from([(&whole, vec![0])]);
        }
        let root = Node::new(plan, &whole, &places)?;
        Ok(Rows { root, kinds, defaults: fills(plan), exact: false, table })
    }

    /// Reads whole rows, the first of which starts there.
    ///
    /// Errors: under [`OnError::Raise`], that a row does not fit, with its number, byte, path and column; under every policy, that the text ends
    /// inside a quoted cell.
    pub fn block(&self, text: &[u8], start: Start, on_error: OnError) -> Result<Decoded> {
        let mut out = no_rows(&self.kinds)?;
        let Some(size) = parts::piece(text.len()) else {
            self.part(text, start, on_error, &mut out)?;
            return Ok(out);
        };
        let about = Pieces { row: start.row, on_error, count: text.len() / size };
        let mut rest = text;
        let next = |_| {
            let byte = start.byte + text.len() - rest.len();
            let piece;
            (piece, rest) = self.table.piece(rest, size);
            (!piece.is_empty()).then_some(Ok((start.row, (byte, piece))))
        };
        assemble(about, &self, out, next, |rows, (byte, text): &(usize, &[u8]), row, out| {
            rows.part(text, Start { row, byte: *byte }, on_error, out)
        })
    }

    fn part(&self, text: &[u8], start: Start, on_error: OnError, out: &mut Decoded) -> Result<()> {
        let policy = Policy { on_error, defaults: &self.defaults };
        let how = How { is_utf8: simdutf8::basic::from_utf8(text).is_ok(), exact: self.exact };
        let mut marks = Vec::new();
        self.table.each_row(text, start, |line, row, byte| {
            if line.size() >= LONG {
                affordable(line.size().saturating_mul(2)).map_err(|e| e.at(format!("row {row}, byte {byte}")))?;
            }
            let read = |columns: &mut Columns| match line.len() == self.table.paths.len() {
                true => self.root.read(line, how, columns),
                false => Err(self.table.lengths(line)),
            };
            policy.row(row, byte, &mut marks, out, read).map(|()| true)
        })?;
        Ok(())
    }
}

/// Rows of fewer bytes are read without asking for memory.
const LONG: usize = 1 << 20;

/// Whether a row is one cell.
fn is_one_cell(plan: &Plan) -> bool {
    match plan {
        plan if plan.is_unused() => false,
        Plan::Scalar { .. } | Plan::Text { .. } | Plan::Spelled { .. } => true,
        Plan::Optional { inner, .. } => is_one_cell(inner),
        Plan::Skip | Plan::Record { .. } | Plan::List { .. } | Plan::Fixed { .. } | Plan::Union { .. } => false,
    }
}

/// The columns of each name.
type Places<'p> = BTreeMap<&'p Path, Vec<usize>>;

impl Node {
    fn new(plan: &Plan, at: &Path, places: &Places<'_>) -> Result<Node> {
        let cell = || match places.get(at).map(Vec::as_slice) {
            Some([place]) => Ok(*place),
            Some(_) => Err(Error::data(format!("there are several columns '{at}'")).wanted("each name once")),
            None => {
                let names = some_names(places.keys().map(ToString::to_string));
                Err(Error::missing(format!("there is no column '{at}'; there are: {names}")).wanted(plan.what()))
            }
        };
        Ok(match plan {
            plan if plan.is_unused() => Node::Skip,
            Plan::Skip => Node::Skip,
            Plan::Scalar { dtype, column } => Node::Scalar { dtype: *dtype, column: *column, cell: cell()? },
            Plan::Text { dtype, column, .. } => Node::Text { dtype: *dtype, column: *column, cell: cell()? },
            Plan::Spelled { spelling, column } => {
                Node::Spelled { spelling: spelling.clone(), column: *column, cell: cell()? }
            }
            Plan::Optional { validity, inner } => {
                // The paths below one stand behind it in their order.
                let below = places.range::<Path, _>(at..).take_while(|(path, _)| path.starts_with(at));
                let cells: Vec<usize> = below.flat_map(|(_, places)| places.iter().copied()).collect();
                let node = if cells.is_empty() { Node::Skip } else { Node::new(inner, at, places)? };
                let texts = cells.iter().copied().filter(|cell| node.reads_text(*cell)).collect();
                Node::Optional { validity: *validity, inner: Box::new(node), cells, texts, defaults: fills(inner) }
            }
            Plan::Record { fields } => {
                let field = |Field { name, plan }: &Field| {
                    Ok((name.clone(), Node::new(plan, &at.child(Segment::Field(name.clone())), places)?))
                };
                Node::Record(fields.iter().map(field).collect::<Result<_>>()?)
            }
            Plan::List { .. } | Plan::Fixed { .. } | Plan::Union { .. } => {
                let what = if matches!(plan, Plan::Union { .. }) { "union" } else { "list" };
                let error = Error::dtype(format!("'{at}' is a {what}, and CSV has none"));
                return Err(error.wanted("records of numbers, strings and booleans").hint("Use JSON or Parquet"));
            }
        })
    }

    /// Whether a cell is read as text.
    fn reads_text(&self, of: usize) -> bool {
        match self {
            Node::Text { cell, .. } => *cell == of,
            Node::Optional { texts, .. } => texts.contains(&of),
            Node::Record(fields) => fields.iter().any(|(_, node)| node.reads_text(of)),
            Node::Skip | Node::Scalar { .. } | Node::Spelled { .. } => false,
        }
    }

    /// Reads a row.
    fn read(&self, line: &Line<'_>, how: How, columns: &mut Columns) -> Read<()> {
        let text = |cell: usize| line.cell(cell);
        match self {
            Node::Skip => Ok(()),
            Node::Scalar { dtype, column, cell } => {
                let given = text(*cell);
                let refused = how.exact && *dtype == DType::F64 && is_rounded(given);
                let pushed = !refused && columns.get_mut(*column).is_some_and(|column| push_scalar(given, column));
                if pushed { Ok(()) } else { Err(line.refuse(*cell, wanted(*dtype))) }
            }
            Node::Spelled { spelling, column, cell } => {
                let given = text(*cell);
                let push = |column| match std::str::from_utf8(given.trim_ascii()) {
                    _ if spelling.is_bytes() => spelled::push_bytes(spelling, given, column),
                    Ok(given) => spelled::push(spelling, given, column),
                    Err(_) => false,
                };
                let pushed = columns.get_mut(*column).is_some_and(push);
                if pushed { Ok(()) } else { Err(line.refuse(*cell, spelling.wanted())) }
            }
            Node::Text { dtype, column, cell } => {
                let given = text(*cell);
                if *dtype == DType::String && !how.is_utf8 && std::str::from_utf8(given).is_err() {
                    return Err(line.refuse(*cell, "UTF-8 text".into()));
                }
                let pushed = match columns.get_mut(*column) {
                    Some(Column::Text(texts)) => texts.push(given),
                    _ => false,
                };
                if pushed { Ok(()) } else { Err(line.refuse(*cell, "less text than the offsets reach".into())) }
            }
            Node::Optional { validity, inner, cells, texts, defaults } => {
                // In a table of one column, what is missing is in quotes: for many readers a line of nothing is no row.
                let there = cells.iter().any(|cell| !text(*cell).is_empty())
                    || line.len() > 1 && texts.iter().any(|cell| line.is_nothing_in_quotes(*cell));
                if let Some(Column::Bits(bits)) = validity.and_then(|id| columns.get_mut(id)) {
                    bits.push(there);
                }
                if there {
                    return inner.read(line, how, columns);
                }
                let fill = |(id, n): &(ColumnId, usize)| {
                    columns.get_mut(*id).map_or(Ok(()), |column| column.push_defaults(*n))
                };
                defaults.iter().try_for_each(fill).map_err(|e| Failure::new(0, e))
            }
            Node::Record(fields) => fields.iter().try_for_each(|(name, node)| {
                node.read(line, how, columns).map_err(|failure| failure.inside(Segment::Field(name.clone())))
            }),
        }
    }
}

fn wanted(dtype: DType) -> String {
    match dtype {
        DType::Bool => "true or false".into(),
        dtype if dtype.is_float() => format!("a number that fits {dtype}, NaN, Infinity or -Infinity"),
        dtype => format!("an integer that fits {dtype}"),
    }
}
