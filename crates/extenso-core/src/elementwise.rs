//! Elementwise execution: expressions over blocks that stay in cache.
//!
//! An eager elementwise op is an expression of one step; a fused chain is one of many. Both run the same block functions,
//! so fusing changes no bit. Inputs that broadcast are read through, not made. Booleans stay one bit each.

mod access;
mod epilogue;
mod few;
mod register;
mod row_sums;
mod small;
mod stored;

pub use access::broadcast_strides;
pub use epilogue::Epilogue;
pub(crate) use epilogue::{Ended, InPlace};
pub(crate) use few::with_result;
pub(crate) use small::run as run_few;
pub use stored::{Made, evaluate};

use access::{Access, access};
use register::Register;
pub(crate) use row_sums::SumsRows;

use crate::attrs::AttrSet;
use crate::kernels::map::{BlockKernel, Done, Fault};
use crate::kernels::prefetch::prefetch;
use crate::op::OutputSpecs;
use crate::partition::Rows;
use crate::tensor::Dense;
use crate::value::{Outputs, Value};
use extenso_types::{DType, DTypeKind, Dims, Error, LeafSpec, Result, Shape, TensorSpec};
use smallvec::{SmallVec, smallvec};

/// The kernel of an op for argument dtypes, if it has one.
pub type Lookup = fn(&[DType], &dyn AttrSet) -> Option<BlockKernel>;

/// Elements per block; what one step writes stays in the first-level cache.
pub const BLOCK: usize = 1024;

/// An expression over blocks.
#[derive(Clone, Default)]
pub struct Expr {
    inputs: Vec<DType>,
    steps: Vec<Step>,
    registers: usize,
}

#[derive(Clone)]
struct Step {
    kernel: BlockKernel,
    args: SmallVec<[Slot; 3]>,
    register: usize,
    /// Whether its result is one of the expression, whatever reads it besides.
    stored: bool,
}

/// Where a step finds an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Slot {
    /// An input of the expression.
    Input(usize),
    /// The result of an earlier step.
    Step(usize),
}

impl Expr {
    /// Adds an input.
    pub fn input(&mut self, dtype: DType) -> Slot {
        self.inputs.push(dtype);
        Slot::Input(self.inputs.len() - 1)
    }

    /// Adds a step; the last one added is a result.
    pub fn step(&mut self, kernel: BlockKernel, args: impl IntoIterator<Item = Slot>) -> Slot {
        let register = self.steps.len();
        self.steps.push(Step { kernel, args: args.into_iter().collect(), register, stored: false });
        self.registers = self.steps.len();
        Slot::Step(self.steps.len() - 1)
    }

    /// Makes the step that was added last a result, whatever steps come behind it.
    pub fn store(&mut self) {
        if let Some(last) = self.steps.last_mut() {
            last.stored = true;
        }
    }

    /// Lets steps share registers: a register is free after the last step that reads it.
    pub fn plan(&mut self) {
        let reads = |step: &Step, of: usize| step.args.contains(&Slot::Step(of));
        let last_read: Vec<usize> = (0..self.steps.len())
            .map(|i| {
                let unread = if self.steps[i].stored { i } else { self.steps.len() };
                self.steps.iter().rposition(|s| reads(s, i)).unwrap_or(unread)
            })
            .collect();
        let mut owner: Vec<usize> = Vec::new();
        for i in 0..self.steps.len() {
            // A step may not write what it reads, so a register is free only after its last reader ran.
            let free = owner.iter().position(|&o| last_read[o] < i);
            let register = free.unwrap_or(owner.len());
            if free.is_some() {
                owner[register] = i
            } else {
                owner.push(i)
            }
            self.steps[i].register = register;
        }
        self.registers = owner.len();
    }

    /// The dtype of the result; without steps that is the first input.
    pub fn dtype(&self) -> Option<DType> {
        self.steps.last().map(|s| s.kernel.out).or_else(|| self.inputs.first().copied())
    }

    /// The number of steps.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether there is no step.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

/// What an expression reads.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// The elements.
    Elements(&'a Dense),
    /// Each element of the outer axis, for all values of its row.
    Repeated(&'a Dense, &'a Rows),
    /// The lengths of the rows, as i64.
    Lengths(&'a Rows),
}

impl<'a> From<&'a Dense> for Source<'a> {
    fn from(data: &'a Dense) -> Source<'a> {
        Source::Elements(data)
    }
}

impl Source<'_> {
    /// The sizes that are read.
    pub fn dims(&self) -> Dims {
        match self {
            Source::Elements(data) => Dims::from_slice(data.dims()),
            Source::Lengths(rows) => smallvec![rows.nrows()],
            Source::Repeated(data, rows) => {
                let mut dims = Dims::from_slice(data.dims());
                dims.iter_mut().take(1).for_each(|outer| *outer = rows.nvalues());
                dims
            }
        }
    }
}

/// The specs of an elementwise op: a dtype from its table, the broadcast shape.
///
/// Errors: dtypes that differ or that the op does not take; shapes that do not broadcast.
pub fn infer(lookup: Lookup, args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let mut dtypes: SmallVec<[DType; 4]> = SmallVec::new();
    let mut shape: Option<Shape> = None;
    for arg in args {
        let spec = arg.tensor()?;
        dtypes.push(spec.dtype);
        shape = Some(match shape {
            None => spec.shape.clone(),
            Some(shape) => shape.broadcast(&spec.shape)?,
        });
    }
    let kernel = lookup(&dtypes, attrs).ok_or_else(|| no_kernel(lookup, &dtypes, attrs))?;
    Ok(smallvec![LeafSpec::Tensor(TensorSpec::new(kernel.out, shape.unwrap_or_else(Shape::scalar)))])
}

fn no_kernel(lookup: Lookup, dtypes: &[DType], attrs: &dyn AttrSet) -> Error {
    if let [condition, a, b] = *dtypes
        && condition != DType::Bool
        && lookup(&[DType::Bool, a, b], attrs).is_some()
    {
        let error = Error::dtype(format!("the condition is {condition}")).wanted("booleans");
        return error.hint("Compare it: `not_equal(condition, 0)`.");
    }
    if let [a, b] | [DType::Bool, a, b] = *dtypes
        && a != b
    {
        let (first, second) = (converted("x", a, b), converted("y", b, a));
        return Error::dtype(format!("the arguments are {a} and {b}"))
            .wanted("one dtype for both")
            .hint(format!("Write `{first}` around the first or `{second}` around the second."));
    }
    let names: Vec<_> = dtypes.iter().map(|d| d.name()).collect();
    let error = Error::dtype(format!("the op does not take {}", names.join(", ")));
    let taken = taken(lookup, dtypes.len(), attrs);
    match (taken.is_empty(), dtypes.contains(&DType::String)) {
        // Only a cast asks for a dtype that nothing becomes.
        (true, _) => error.wanted("another dtype to go to").hint("`as_string(x)` gives the text of numbers."),
        (false, true) if dtypes.len() == 2 => {
            error.wanted(taken).hint("Write `to_number(x, dtype)` around both, or `string_join((x, y))` for one text.")
        }
        (false, true) => error.wanted(taken).hint("Write `to_number(x, dtype)` around the argument."),
        (false, false) => error.wanted(taken).hint("Write `cast(x, dtype)` around the argument."),
    }
}

/// How an argument of one dtype is written to have another.
fn converted(name: &str, from: DType, to: DType) -> String {
    match (from, to) {
        (_, DType::String) => format!("as_string({name})"),
        (DType::String, _) => format!("to_number({name}, '{to}')"),
        _ => format!("cast({name}, '{to}')"),
    }
}

/// What an op takes, in words.
fn taken(lookup: Lookup, arguments: usize, attrs: &dyn AttrSet) -> String {
    let kinds = [
        ("booleans", DTypeKind::Bool),
        ("signed integers", DTypeKind::Signed),
        ("unsigned integers", DTypeKind::Unsigned),
        ("floats", DTypeKind::Float),
    ];
    let takes = |dtype: DType| {
        let mut dtypes: SmallVec<[DType; 4]> = smallvec![dtype; arguments];
        let alike = lookup(&dtypes, attrs).is_some();
        // A condition in front chooses between the others.
        dtypes[0] = DType::Bool;
        alike || (arguments > 2 && lookup(&dtypes, attrs).is_some())
    };
    let taken = |kind: DTypeKind| DType::all().any(|d| d.kind() == kind && takes(d));
    let words: Vec<&str> = kinds.iter().filter(|(_, kind)| taken(*kind)).map(|(word, _)| *word).collect();
    words.join(", ").replace("signed integers, unsigned integers, floats", "numbers")
}

/// Runs an elementwise op on data.
///
/// Errors: a fault of the kernel, such as a division by zero, with its position.
pub fn run(lookup: Lookup, args: &[Value], attrs: &dyn AttrSet, inferred: &[LeafSpec]) -> Result<Outputs> {
    let mut inputs: SmallVec<[Source<'_>; 4]> = SmallVec::new();
    let mut dtypes: SmallVec<[DType; 4]> = SmallVec::new();
    for arg in args {
        let data = arg.tensor()?.data()?;
        dtypes.push(data.dtype());
        inputs.push(data.into());
    }
    let kernel = lookup(&dtypes, attrs).ok_or_else(|| no_kernel(lookup, &dtypes, attrs))?;
    let dims = match inferred {
        [LeafSpec::Tensor(spec)] => spec.shape.to_dims(),
        _ => None,
    }
    .ok_or_else(|| Error::internal("an elementwise op without a shape"))?;
    let mut expr = Expr::default();
    let slots: SmallVec<[Slot; 4]> = dtypes.iter().map(|d| expr.input(*d)).collect();
    expr.step(kernel, slots);
    let mut result = None;
    evaluate(&expr, &inputs, &dims, &mut |made| result = Some(made))?;
    Ok(smallvec![Value::Tensor(Made::only(result)?.tensor(dims)?)])
}

pub(crate) fn at_position(fault: Fault, start: usize, dims: &[usize]) -> Error {
    let error = Error::value(format!("{} at position {:?}", fault.what, position(start + fault.index, dims)));
    match fault.what {
        "an integer is divided by zero" => {
            error.wanted("divisors that are not 0").hint("Cast to floats, or choose by `where`.")
        }
        "an integer has a negative power" => error.wanted("powers from 0 on").hint("Cast to floats."),
        "a number of places is negative" => error.wanted("numbers from 0 on"),
        _ => error,
    }
}

/// The place of an element along each axis, from its place in row-major order.
pub(crate) fn position(flat: usize, dims: &[usize]) -> Vec<usize> {
    let mut flat = flat;
    let mut position: Vec<usize> = dims
        .iter()
        .rev()
        .map(|&d| {
            let i = flat % d.max(1);
            flat /= d.max(1);
            i
        })
        .collect();
    position.reverse();
    position
}

/// An expression bound to its inputs, ready to compute any block.
pub struct Blocks<'a> {
    expr: &'a Expr,
    dims: &'a [usize],
    inputs: SmallVec<[Access<'a>; 4]>,
}

/// The registers of one thread.
pub struct Scratch {
    inputs: SmallVec<[Register; 4]>,
    steps: SmallVec<[Register; 4]>,
    /// The ragged row that was read last: the next is near.
    row: usize,
}

impl<'a> Blocks<'a> {
    /// Binds an expression.
    ///
    /// Errors: an input of another dtype than the expression was made for, or one that does not broadcast to `dims`.
    pub fn new(expr: &'a Expr, inputs: &[Source<'a>], dims: &'a [usize]) -> Result<Blocks<'a>> {
        let pairs = expr.inputs.iter().zip(inputs);
        let inputs: Result<_> = pairs.map(|(dtype, input)| access(*dtype, input, dims)).collect();
        Ok(Blocks { expr, dims, inputs: inputs? })
    }

    /// Fresh registers.
    pub fn scratch(&self) -> Scratch {
        let register = |needed: bool| if needed { Register::take() } else { Register::default() };
        Scratch {
            inputs: self.inputs.iter().map(|input| register(input.loads())).collect(),
            steps: (0..self.expr.registers).map(|_| register(true)).collect(),
            row: 0,
        }
    }

    /// Computes `n` elements from `start`, at most a block; the last result stays in a register.
    pub fn run(&self, scratch: &mut Scratch, start: usize, n: usize) -> Done {
        self.load(scratch, start, n);
        self.expr.steps.iter().try_for_each(|step| self.step(step, scratch, &[], start, n))
    }

    fn load(&self, scratch: &mut Scratch, start: usize, n: usize) {
        for (access, register) in self.inputs.iter().zip(&mut scratch.inputs) {
            access.load(self.dims, start, n, register);
        }
    }

    /// Asks for the block from `start` on, so that it is there when it is run.
    pub fn prefetch(&self, start: usize) {
        for access in &self.inputs {
            if let Access::Full(bytes, width) = access {
                let from = bytes.len().min(start * width);
                prefetch(&bytes[from..bytes.len().min(from + BLOCK * width)]);
            }
        }
    }

    /// The bytes of the `n` elements from `start` that [`Blocks::run`] left where they are.
    pub fn exact_result<'s>(&'s self, scratch: &'s Scratch, start: usize, n: usize) -> &'s [u8] {
        self.read(&self.last(), scratch, &[], start, n)
    }

    /// The same, and some more bytes where there are any: what stands in them is left open.
    pub fn result<'s>(&'s self, scratch: &'s Scratch, start: usize, n: usize) -> &'s [u8] {
        match self.last() {
            Slot::Step(i) => bytemuck::cast_slice(&scratch.steps[self.expr.steps[i].register]),
            Slot::Input(i) => match &self.inputs[i] {
                Access::Full(bytes, width) => &bytes[start * width..],
                _ => self.read(&Slot::Input(i), scratch, &[], start, n),
            },
        }
    }

    /// The bytes of the result, where that is an input as it stands.
    pub fn in_place(&self) -> Option<&[u8]> {
        match &self.inputs[..] {
            [Access::Full(bytes, _)] if self.expr.steps.is_empty() => Some(bytes),
            _ => None,
        }
    }

    fn last(&self) -> Slot {
        self.expr.steps.len().checked_sub(1).map_or(Slot::Input(0), Slot::Step)
    }

    /// Makes what a step makes of these elements; `given` are those of the input that is [`Access::Given`], if there is one.
    fn step(&self, step: &Step, scratch: &mut Scratch, given: &[u8], start: usize, n: usize) -> Done {
        let mut register = std::mem::take(&mut scratch.steps[step.register]);
        let bytes = match step.kernel.out.width() {
            Some(width) => n * width,
            None => n.div_ceil(64) * 8,
        };
        let out = &mut bytemuck::cast_slice_mut::<u64, u8>(&mut register)[..bytes];
        let done = (step.kernel.run)(&self.args(step, scratch, given, start, n), out, n);
        scratch.steps[step.register] = register;
        done
    }

    fn args<'s>(
        &'s self,
        step: &Step,
        scratch: &'s Scratch,
        given: &'s [u8],
        start: usize,
        n: usize,
    ) -> SmallVec<[&'s [u8]; 3]> {
        step.args.iter().map(|slot| self.read(slot, scratch, given, start, n)).collect()
    }

    fn read<'s>(&'s self, slot: &Slot, scratch: &'s Scratch, given: &'s [u8], start: usize, n: usize) -> &'s [u8] {
        match *slot {
            Slot::Step(i) => {
                let source = &self.expr.steps[i];
                register_bytes(&scratch.steps[source.register], source.kernel.out, n)
            }
            Slot::Input(i) => match &self.inputs[i] {
                Access::Full(bytes, width) => &bytes[start * width..(start + n) * width],
                Access::Given => given,
                Access::Splat(register) => register_bytes(register, self.expr.inputs[i], n),
                Access::Cycle { register, width, period } => {
                    &bytemuck::cast_slice(register)[start % period * width..][..n * width]
                }
                _ => register_bytes(&scratch.inputs[i], self.expr.inputs[i], n),
            },
        }
    }
}

fn register_bytes(register: &[u64], dtype: DType, n: usize) -> &[u8] {
    let bytes = dtype.width().map_or(n.div_ceil(64) * 8, |w| n * w);
    &bytemuck::cast_slice(register)[..bytes]
}
