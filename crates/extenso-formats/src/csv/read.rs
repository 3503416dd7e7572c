//! Reading: rows into the columns of a plan.
//!
//! Invariant: no call gives columns of rows that differ in number. Recursion follows the plan, never the input.

use super::cell::{push_scalar, shown};
use super::infer::{Found, seen};
use super::path_of;
use super::quotes::Quotes;
use crate::columns::{Column, Columns, Decoded, Kinds, OnError};
use crate::failure::{Failure, Read};
use crate::json::mark_len;
use crate::names::some_names;
use crate::plan::{ColumnId, Field, Plan, fills};
use crate::policy::{Policy, no_rows};
use crate::project::Wanted;
use crate::read::batch;
use crate::records::RecordSpec;
use crate::run::Rows as Batch;
use crate::seen::Place;
use crate::source::unpack;
use crate::spelled;
use csv::{ByteRecord, Reader, ReaderBuilder};
use extenso_core::kernels::pool::affordable;
use extenso_ext::Spelling;
use extenso_types::{DType, Error, Nest, Path, Result, Segment, Spec};
use std::collections::{BTreeMap, HashSet};
use std::io::Read as Bytes;
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
    let spec = match &options.spec {
        Some(spec) => Wanted::of_paths(options.paths.as_deref()).and_then(|wanted| wanted.of(spec))?,
        None => infer(&input, options)?,
    };
    let records = RecordSpec::new(&Nest::Leaf(spec.clone()), &[])?;
    let mut table = Table::new(&input[..], options.delimiter)?;
    let rows = Rows::new(records.plan(), &table.paths)?;
    let mut out = rows.none()?;
    while table.next()? {
        rows.read(&table, options.on_error, &mut out)?;
    }
    batch(&spec, &records, out, 0, options.on_error)
}

fn infer(input: &[u8], options: &CsvOptions) -> Result<Spec> {
    if options.sample == Some(0) {
        return Err(Error::value("the sample has 0 records").wanted("at least one").at("sample"));
    }
    let wanted = Wanted::of_paths(options.paths.as_deref())?;
    let mut found = Inference::new(Table::new(input, options.delimiter)?, options.on_error);
    found.rows(options.sample.unwrap_or(usize::MAX))?;
    found.spec(&wanted).map_err(|e| e.at("infer_spec"))
}

/// What was found in the rows of a table so far.
pub(crate) struct Inference<R> {
    table: Table<R>,
    found: Vec<Found>,
    on_error: OnError,
}

impl<R: Bytes> Inference<R> {
    /// Nothing yet.
    pub fn new(table: Table<R>, on_error: OnError) -> Inference<R> {
        let found = vec![Found::default(); table.paths.len()];
        Inference { table, found, on_error }
    }

    /// Looks at the next rows, at most so many; how many there were.
    ///
    /// Errors: under the policy that raises, a row of another length; a table that is cut off; what the operating system refuses.
    pub fn rows(&mut self, most: usize) -> Result<usize> {
        let Inference { table, found, on_error } = self;
        let mut rows = 0;
        while rows < most && table.next()? {
            rows += 1;
            if table.line.record.len() != found.len() {
                match on_error {
                    OnError::Raise => return Err(table.lengths().finish(table.row, table.start).2),
                    OnError::Skip | OnError::Default => continue,
                }
            }
            let at = Place { row: table.row, byte: table.start };
            found.iter_mut().zip(&table.line.record).for_each(|(found, cell)| found.note(cell, at));
        }
        Ok(rows)
    }

    /// The spec of what is wanted of the rows.
    ///
    /// Errors: two columns of one name that are wanted; a path that leads nowhere.
    pub fn spec(&self, wanted: &Wanted) -> Result<Spec> {
        seen(&self.table.paths, &self.found, wanted).and_then(|seen| seen.batch(wanted))
    }
}

/// Rows of cells, one after another.
pub(crate) struct Table<R> {
    reader: Reader<Quotes<R>>,
    /// The paths that the names of the columns say.
    pub paths: Vec<Path>,
    line: Line,
    /// Of a table of one column the next row, if there is one, and where it starts: empty lines before it are rows too.
    ahead: Option<(Option<Line>, usize)>,
    /// The number of the row; of the first, 0.
    pub row: usize,
    /// The byte at which the row starts.
    start: usize,
    begun: bool,
}

/// About how many bytes of memory a column takes beside its name.
const COLUMN: usize = 1 << 8;

/// The cells of a row.
#[derive(Default)]
struct Line {
    record: ByteRecord,
    /// The cells that are quotes around nothing.
    quoted: Vec<usize>,
    /// Whether no cell stands in quotes, so that each begins behind those before it.
    plain: bool,
}

impl<R: Bytes> Table<R> {
    /// Reads the names of the columns.
    ///
    /// Errors: no names; names that are not UTF-8; more than there is memory for; what the operating system refuses.
    pub fn new(source: R, delimiter: u8) -> Result<Table<R>> {
        let mut reader =
            ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(Quotes::new(source, delimiter));
        let names = reader.byte_headers().map_err(reading)?;
        let of_names = |e: Error| e.at("the row of names");
        affordable(names.as_slice().len().saturating_mul(4).saturating_add(names.len().saturating_mul(COLUMN)))
            .map_err(of_names)?;
        let names = names.clone();
        if reader.get_ref().is_cut() {
            return Err(of_names(cut_off()));
        }
        if names.is_empty() {
            return Err(Error::data("there is no row of names").wanted("the names of the columns in the first row"));
        }
        let taken: HashSet<&[u8]> = names.iter().filter(|name| name.starts_with(b"column_")).collect();
        let path = |(i, name): (usize, &[u8])| {
            let name = if i == 0 { &name[mark_len(name)..] } else { name };
            let name = std::str::from_utf8(name).map_err(|_| {
                let what = format!("the name {} of column {} is not UTF-8", shown(name), i + 1);
                of_names(Error::data(what).wanted("UTF-8 text"))
            })?;
            // Other writers leave the column of their own row numbers without a name.
            let own = format!("column_{i}");
            let free = || !taken.contains(own.as_bytes());
            Ok(path_of(if name.is_empty() && free() { &own } else { name }))
        };
        let paths = names.iter().enumerate().map(path).collect::<Result<Vec<_>>>()?;
        let (end, mut quoted) = (reader.position().byte(), Vec::new());
        reader.get_mut().take_nothing(place(end), &mut quoted);
        reader.get_mut().take_begun(place(end));
        reader.get_mut().forget_blank((names.len() == 1).then_some(place(end)));
        let line = Line { quoted, ..Line::default() };
        Ok(Table { reader, paths, line, ahead: None, row: 0, start: 0, begun: false })
    }

    /// Reads the next row; whether there is one.
    ///
    /// Errors: the table ends inside a quoted cell, with row and byte; what the operating system refuses.
    pub fn next(&mut self) -> Result<bool> {
        let there = if self.paths.len() == 1 { self.next_of_one_column()? } else { self.next_line()? };
        if there {
            self.row += usize::from(self.begun);
            self.begun = true;
        }
        Ok(there)
    }

    /// An empty line is a row whose only cell is empty.
    fn next_of_one_column(&mut self) -> Result<bool> {
        let (line, start) = match self.ahead.take() {
            Some(ahead) => ahead,
            None if self.next_line()? => (Some(std::mem::take(&mut self.line)), self.start),
            None => (None, usize::MAX),
        };
        (self.start, self.line) = match (self.reader.get_mut().take_blank(start), line) {
            (Some(blank), line) => {
                self.ahead = Some((line, start));
                (blank, Line { record: ByteRecord::from(vec![""]), quoted: Vec::new(), plain: true })
            }
            (None, Some(line)) => (start, line),
            (None, None) => return Ok(false),
        };
        Ok(true)
    }

    /// Reads the next line that is not empty; whether there is one.
    fn next_line(&mut self) -> Result<bool> {
        let there = self.reader.read_byte_record(&mut self.line.record).map_err(reading)?;
        if there {
            self.start = self.line.record.position().map_or(0, |at| place(at.byte()));
            let end = place(self.reader.position().byte());
            self.reader.get_mut().take_nothing(end, &mut self.line.quoted);
            // In a table of one column, what is missing is in quotes: for many readers a line of nothing is no row.
            if self.paths.len() == 1 {
                self.line.quoted.clear();
            }
        }
        if self.reader.get_ref().is_cut() {
            let row = if there { self.rows() } else { self.row };
            return Err(cut_off().at(format!("row {row}, byte {}", self.start)));
        }
        if there {
            self.measure();
        }
        Ok(there)
    }

    /// Finds where the row starts, and whether its cells stand one behind another.
    fn measure(&mut self) {
        let end = place(self.reader.position().byte());
        let begun = self.reader.get_mut().take_begun(end);
        self.start = begun.unwrap_or(self.start);
        let ends = usize::from(!self.reader.get_ref().ends_open_at(end));
        let spare = end.saturating_sub(self.start).checked_sub(self.line.size() + ends);
        // A pair of quotes takes two bytes; one is what was left of the end of the line before.
        self.line.plain = spare.is_some_and(|spare| spare < 2);
        self.start += spare.filter(|spare| *spare == 1).unwrap_or(0);
    }

    /// How many rows were read.
    pub fn rows(&self) -> usize {
        self.row + usize::from(self.begun)
    }

    /// How many bytes were read.
    pub fn bytes(&self) -> u64 {
        self.reader.position().byte()
    }

    fn lengths(&self) -> Box<Failure> {
        let what = format!("the row has {} cells", self.line.record.len());
        Failure::new(0, Error::data(what).wanted(format!("{}, as the row of names", self.paths.len())))
    }
}

impl Line {
    /// How many bytes the cells have, with what stands between them.
    fn size(&self) -> usize {
        self.record.as_slice().len() + self.record.len().saturating_sub(1)
    }

    fn text(&self, cell: usize) -> &[u8] {
        self.record.get(cell).unwrap_or_default()
    }

    /// The failure of a cell, at its first byte, or at that of the row, if quotes hide how many bytes stand before it.
    #[cold]
    fn refuse(&self, cell: usize, wanted: String) -> Box<Failure> {
        let what = format!("{} came in column {}", shown(self.text(cell)), cell + 1);
        let before = self.record.iter().take(cell).map(|text| text.len() + 1).sum();
        Failure::new(if self.plain { before } else { 0 }, Error::data(what).wanted(wanted))
    }
}

fn place(byte: u64) -> usize {
    usize::try_from(byte).unwrap_or(usize::MAX)
}

fn cut_off() -> Error {
    Error::data("the table ends inside a quoted cell").wanted("a quote that ends it")
}

fn reading(e: csv::Error) -> Error {
    match e.into_kind() {
        csv::ErrorKind::Io(e) => crate::source::reading(e),
        other => Error::data(format!("this is not CSV: {other:?}")),
    }
}

/// A plan, and where in a row its leaves are.
#[derive(Debug)]
pub(crate) struct Rows {
    root: Node,
    kinds: Kinds,
    defaults: Vec<(ColumnId, usize)>,
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
    pub fn new(plan: &Plan, paths: &[Path]) -> Result<Rows> {
        let kinds = Kinds::new(plan.kinds()?);
        let mut places: Places<'_> = BTreeMap::new();
        for (place, path) in paths.iter().enumerate() {
            places.entry(path).or_default().push(place);
        }
        let whole = Path::root();
        if is_one_cell(plan) {
            // A table of one column is its values, whatever the column is called.
            let [_] = paths else {
                let error = Error::shape(format!("the table has {} columns", paths.len()));
                return Err(error
                    .wanted(format!("one column, of {}", plan.what()))
                    .hint("Name the columns in a spec of records."));
            };
            places = BTreeMap::from([(&whole, vec![0])]);
        }
        let root = Node::new(plan, &whole, &places)?;
        Ok(Rows { root, kinds, defaults: fills(plan) })
    }

    /// No rows yet.
    ///
    /// Errors: no memory.
    pub fn none(&self) -> Result<Decoded> {
        no_rows(&self.kinds)
    }

    /// Reads the row that a table is at.
    ///
    /// Errors: under [`OnError::Raise`], that the row does not fit, with its number, byte, path and column.
    pub fn read<R: Bytes>(&self, table: &Table<R>, on_error: OnError, out: &mut Decoded) -> Result<()> {
        let policy = Policy { on_error, defaults: &self.defaults };
        policy.row(table.row, table.start, &mut Vec::new(), out, |columns| {
            if table.line.record.len() != table.paths.len() {
                return Err(table.lengths());
            }
            self.root.read(&table.line, columns)
        })
    }
}

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
    fn read(&self, line: &Line, columns: &mut Columns) -> Read<()> {
        let text = |cell: usize| line.text(cell);
        match self {
            Node::Skip => Ok(()),
            Node::Scalar { dtype, column, cell } => {
                let pushed = columns.get_mut(*column).is_some_and(|column| push_scalar(text(*cell), column));
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
                if *dtype == DType::String && std::str::from_utf8(text(*cell)).is_err() {
                    return Err(line.refuse(*cell, "UTF-8 text".into()));
                }
                let pushed = match columns.get_mut(*column) {
                    Some(Column::Text(texts)) => texts.push(text(*cell)),
                    _ => false,
                };
                if pushed { Ok(()) } else { Err(line.refuse(*cell, "less text than the offsets reach".into())) }
            }
            Node::Optional { validity, inner, cells, texts, defaults } => {
                let there = cells.iter().any(|cell| !text(*cell).is_empty())
                    || line.quoted.iter().any(|cell| texts.contains(cell));
                if let Some(Column::Bits(bits)) = validity.and_then(|id| columns.get_mut(id)) {
                    bits.push(there);
                }
                if there {
                    return inner.read(line, columns);
                }
                let fill = |(id, n): &(ColumnId, usize)| {
                    columns.get_mut(*id).map_or(Ok(()), |column| column.push_defaults(*n))
                };
                defaults.iter().try_for_each(fill).map_err(|e| Failure::new(0, e))
            }
            Node::Record(fields) => fields.iter().try_for_each(|(name, node)| {
                node.read(line, columns).map_err(|failure| failure.inside(Segment::Field(name.clone())))
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
