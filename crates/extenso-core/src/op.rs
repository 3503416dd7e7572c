//! Op declarations: everything that is known of an op stands in one record.
//!
//! From a declaration derive the Rust function, the Python function, inference, the kernel, the gradient, dispatch, the
//! artifact encoding and a conformance test. No code elsewhere matches on the name of an op.

mod run;

pub use run::FirstSpecs;

use crate::attrs::{AttrSet, Attrs, AttrsDef, NoAttrs};
use crate::elementwise::{Epilogue, Lookup};
use crate::grad::GradFn;
use crate::reduce::Fold;
use crate::tensor::element_count;
use crate::value::{Outputs, Value};
use extenso_types::{DTypeKind, Dims, LeafSpec, Result};
use smallvec::SmallVec;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The specs of an op's outputs.
pub type OutputSpecs = SmallVec<[LeafSpec; 1]>;

/// Output specs from argument specs and attributes.
pub type InferFn = fn(&[LeafSpec], &dyn AttrSet) -> Result<OutputSpecs>;

/// Outputs from arguments, attributes and the inferred specs.
pub type KernelFn = fn(&[Value], &dyn AttrSet, &[LeafSpec]) -> Result<Outputs>;

/// The output of an op whose elements an expression then takes on, while they are near.
pub type EpilogueFn = fn(&[Value], &dyn AttrSet, &Epilogue<'_>) -> Result<Value>;

/// The attributes with which an op gives some of its outputs alone, in their order: those that are marked.
pub type NarrowFn = fn(&dyn AttrSet, &[bool]) -> Result<Arc<dyn AttrSet>>;

/// The semantic class of an op: what handlers register for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Class {
    /// One argument, each element on its own.
    UnaryElementwise,
    /// Two arguments that broadcast, each pair of elements on its own.
    BinaryElementwise,
    /// A binary elementwise op that gives booleans.
    Comparison,
    /// More arguments that broadcast, elementwise.
    Elementwise,
    /// Axes are folded into one element.
    Reduction,
    /// Elements move; none is computed.
    Structural,
    /// Works on the lines along an axis, each as a whole: orders, positions, running folds.
    Axiswise,
    /// Works along a row partition.
    Segment,
    /// Products of matrices.
    Linear,
    /// Reads or changes state.
    Effect,
}

impl Class {
    /// The class that contains this one, if any.
    pub fn wider(self) -> Option<Class> {
        (self == Class::Comparison).then_some(Class::BinaryElementwise)
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Class::UnaryElementwise => "unary elementwise",
            Class::BinaryElementwise => "binary elementwise",
            Class::Comparison => "comparison",
            Class::Elementwise => "elementwise",
            Class::Reduction => "reduction",
            Class::Structural => "structural",
            Class::Axiswise => "axiswise",
            Class::Segment => "segment",
            Class::Linear => "linear algebra",
            Class::Effect => "effect",
        })
    }
}

/// A declared fact; the law suite checks its equation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fact {
    /// `op(x, y) == op(y, x)`
    Commutes,
    /// `op(2 * x) == 2 * op(x)`
    Linear,
    /// `op(op(x)) == op(x)`
    Idempotent,
    /// `op(op(x)) == x`
    Involution,
    /// `op(x) == op(y)` for `y` of the shape and dtype of `x`
    Constant,
    /// `partition_from_lengths(row_lengths(op(x))) == op(x)`: every value belongs to a row
    Covers,
    /// `op(x, 0)` or `op(x, -1)` is an error: of integers it is not defined everywhere
    Partial,
}

/// What fused blocks find in rows themselves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OfRows {
    /// The elements of the first argument, each for all values of its row of the second.
    Repeated,
    /// The lengths of the rows of the only argument.
    Lengths,
}

/// How an op computes.
#[derive(Clone, Copy)]
pub enum Kernel {
    /// Blocks of elements; fuses with its neighbours.
    Elementwise(Lookup),
    /// Folds axes; fuses with the elementwise ops before it.
    Reduction(Fold),
    /// Folds the rows of a partition; fuses with the elementwise ops before it.
    Segment(Fold),
    /// Anything else: its own inference and its own kernel.
    General(InferFn, KernelFn),
}

/// The declaration of an op.
pub struct OpDef {
    /// The name: snake case, NumPy's where NumPy has the op.
    pub name: &'static str,
    /// The doc comment of the declaration.
    pub doc: &'static str,
    /// The arguments that dispatch.
    pub params: &'static [&'static str],
    /// Whether the only argument is a list of any length.
    pub variadic: bool,
    /// Whether any number of captured values may follow the arguments.
    pub takes_captures: bool,
    /// The attributes.
    pub attrs: AttrsDef,
    /// The semantic class.
    pub class: Class,
    /// How it computes.
    pub kernel: Kernel,
    /// The gradient, if it has one.
    pub grad: Option<GradFn>,
    /// Declared facts.
    pub facts: &'static [Fact],
    /// Calls and their results, in the grammar of the conformance cases.
    pub examples: &'static [(&'static str, &'static str)],
    /// The semantic version that graphs store.
    pub version: u32,
    /// Whether it reads or changes state, and must be ordered and never dropped.
    pub effect: bool,
    /// Whether it is a part of functions that give users the whole: graphs and files name it, Python and the manual do not.
    pub part: bool,
    /// TensorFlow's name, for the compatibility namespace.
    pub alias_tf: Option<&'static str>,
    /// The first parameter whose dtype weak scalars take.
    pub like: usize,
    /// The positions of parameters whose dtype is their own: indices, masks, what only lends its shape.
    pub apart: &'static [usize],
    /// How an elementwise op is inferred and computed on strings and bytes, which no block holds.
    pub text: Option<(InferFn, KernelFn)>,
    /// What to use instead on dtypes that the op does not take.
    pub instead: Option<&'static str>,
    /// What it gives of rows, which fused blocks read without it.
    pub of_rows: Option<OfRows>,
    /// How it runs where an elementwise expression replaces its only output, element by element.
    pub epilogue: Option<EpilogueFn>,
    /// Whether it gives the elements of its only argument as they stand, under sizes with more axes of size 1.
    pub adds_axes: bool,
    /// How an op of several outputs is narrowed to those that are needed.
    pub narrow: Option<NarrowFn>,
}

impl OpDef {
    const fn new(class: Class, kernel: Kernel) -> OpDef {
        OpDef {
            name: "",
            doc: "",
            params: &[],
            variadic: false,
            takes_captures: false,
            attrs: NoAttrs::DEF,
            class,
            kernel,
            grad: None,
            facts: &[],
            examples: &[],
            version: 1,
            effect: false,
            part: false,
            alias_tf: None,
            like: 0,
            apart: &[],
            text: None,
            instead: None,
            of_rows: None,
            epilogue: None,
            adds_axes: false,
            narrow: None,
        }
    }

    /// An elementwise op of one argument.
    pub const fn unary(lookup: Lookup) -> OpDef {
        OpDef::new(Class::UnaryElementwise, Kernel::Elementwise(lookup))
    }

    /// An elementwise op of two arguments.
    pub const fn binary(lookup: Lookup) -> OpDef {
        OpDef::new(Class::BinaryElementwise, Kernel::Elementwise(lookup))
    }

    /// An elementwise op of two arguments that gives booleans.
    pub const fn comparison(lookup: Lookup) -> OpDef {
        OpDef::new(Class::Comparison, Kernel::Elementwise(lookup))
    }

    /// An elementwise op of more arguments.
    pub const fn elementwise(lookup: Lookup) -> OpDef {
        OpDef::new(Class::Elementwise, Kernel::Elementwise(lookup))
    }

    /// An op that folds axes.
    pub const fn reduction(fold: Fold) -> OpDef {
        OpDef::new(Class::Reduction, Kernel::Reduction(fold))
    }

    /// An op that folds the rows of a partition.
    pub const fn segment(fold: Fold) -> OpDef {
        OpDef::new(Class::Segment, Kernel::Segment(fold))
    }

    /// An op of any class by its own kernel.
    pub const fn general(class: Class, infer: InferFn, kernel: KernelFn) -> OpDef {
        OpDef::new(class, Kernel::General(infer, kernel))
    }

    /// Adds the gradient.
    pub const fn grad(mut self, grad: GradFn) -> OpDef {
        self.grad = Some(grad);
        self
    }

    /// Adds declared facts.
    pub const fn facts(mut self, facts: &'static [Fact]) -> OpDef {
        self.facts = facts;
        self
    }

    /// Adds examples: calls and their results.
    pub const fn examples(mut self, examples: &'static [(&'static str, &'static str)]) -> OpDef {
        self.examples = examples;
        self
    }

    /// Adds TensorFlow's name.
    pub const fn alias_tf(mut self, name: &'static str) -> OpDef {
        self.alias_tf = Some(name);
        self
    }

    /// Says that the op reads or changes state.
    pub const fn effect(mut self) -> OpDef {
        self.effect = true;
        self
    }

    /// Says that the op is a part of other functions and not for users itself.
    pub const fn part(mut self) -> OpDef {
        self.part = true;
        self
    }

    /// Says that the only argument is a list.
    pub const fn variadic(mut self) -> OpDef {
        self.variadic = true;
        self
    }

    /// Says that captured values follow the arguments.
    pub const fn takes_captures(mut self) -> OpDef {
        self.takes_captures = true;
        self
    }

    /// Says which parameter is the first whose dtype weak scalars take.
    pub const fn like(mut self, param: usize) -> OpDef {
        self.like = param;
        self
    }

    /// Says which parameters have a dtype of their own: it is not promoted with that of the others, nor taken by weak scalars of theirs.
    pub const fn apart(mut self, params: &'static [usize]) -> OpDef {
        self.apart = params;
        self
    }

    /// Says that every parameter has a dtype of its own.
    pub const fn unrelated(mut self) -> OpDef {
        self.like = usize::MAX;
        self
    }

    /// Whether the dtype of the parameter at this position is that of the others of its kind.
    pub(crate) fn shares_dtype(&self, param: usize) -> bool {
        param >= self.like && !self.apart.contains(&param)
    }

    /// Adds how an elementwise op is inferred and computed on strings and bytes.
    pub const fn text(mut self, infer: InferFn, kernel: KernelFn) -> OpDef {
        self.text = Some((infer, kernel));
        self
    }

    /// Says what the op gives of rows, so that nobody has to make it.
    pub const fn of_rows(mut self, what: OfRows) -> OpDef {
        self.of_rows = Some(what);
        self
    }

    /// Adds how the op runs where an elementwise expression replaces its output.
    pub const fn epilogue(mut self, run: EpilogueFn) -> OpDef {
        self.epilogue = Some(run);
        self
    }

    /// Says that the op gives its argument as it stands, with more axes of size 1.
    pub const fn adds_axes(mut self) -> OpDef {
        self.adds_axes = true;
        self
    }

    /// Adds how the op is narrowed to the outputs that are needed, so that a graph does not compute the others.
    pub const fn narrow(mut self, narrow: NarrowFn) -> OpDef {
        self.narrow = Some(narrow);
        self
    }

    /// Adds what to use instead on dtypes that the op does not take, as a sentence.
    pub const fn instead(mut self, instead: &'static str) -> OpDef {
        self.instead = Some(instead);
        self
    }

    /// Adds what names the op: its name, doc comment, arguments and attributes. [`ops!`](crate::ops) calls it.
    ///
    /// A function whose name would be a keyword of Rust ends in `_`; the op does not.
    pub const fn named(
        mut self,
        name: &'static str,
        doc: &'static str,
        params: &'static [&'static str],
        attrs: AttrsDef,
    ) -> OpDef {
        self.name = match name.as_bytes() {
            [head @ .., b'_'] => match std::str::from_utf8(head) {
                Ok(head) => head,
                Err(_) => name,
            },
            _ => name,
        };
        self.doc = doc;
        self.params = params;
        self.attrs = attrs;
        self
    }

    /// Output specs from argument specs: one function for eager calls, tracing and the check of loaded graphs.
    ///
    /// Errors: arguments that do not fit.
    pub fn infer(&self, args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
        let inferred = match self.kernel {
            Kernel::Elementwise(lookup) => match self.on_text(args) {
                Some((infer, _)) => infer(args, attrs),
                None => crate::elementwise::infer(lookup, args, attrs),
            },
            Kernel::Reduction(fold) => crate::reduce::infer_axes(fold, args, attrs),
            Kernel::Segment(fold) => crate::reduce::infer_segments(fold, args),
            Kernel::General(infer, _) => infer(args, attrs),
        };
        let inferred = inferred.map_err(|e| match self.instead {
            Some(instead) if e.is_dtype() => e.note(instead),
            _ => e,
        })?;
        inferred.iter().try_for_each(check_sizes)?;
        Ok(inferred)
    }

    /// The functions for text, if the op has them and an argument is text.
    fn on_text(&self, args: &[LeafSpec]) -> Option<(InferFn, KernelFn)> {
        let is_text = |arg: &LeafSpec| arg.tensor().is_ok_and(|t| t.dtype.kind() == DTypeKind::Text);
        self.text.filter(|_| args.iter().any(is_text))
    }
}

/// Checks that the sizes that are known are those of a tensor.
fn check_sizes(spec: &LeafSpec) -> Result<()> {
    let LeafSpec::Tensor(spec) = spec else { return Ok(()) };
    let Some(dims) = spec.shape.dims() else { return Ok(()) };
    let known: Dims = dims.iter().map(|dim| dim.known().unwrap_or(1)).collect();
    element_count(&known).map(drop)
}

impl PartialEq for OpDef {
    fn eq(&self, other: &OpDef) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for OpDef {}

impl Hash for OpDef {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::from_ref(self).hash(state);
    }
}

impl fmt::Debug for OpDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Declares ops: a static record and a Rust function for each, and the table of all.
///
/// `NAME: function(arguments; Attributes { field: type }) = OpDef...`; what stands before `;` dispatches. The ops of another
/// crate than this one stand `in` a package, whose name is in front of theirs.
///
/// ```
/// use extenso_core::attrs::AttrSet;
/// use extenso_core::{Class, OpDef, OutputSpecs, Outputs, Result, Value, ops};
/// use extenso_types::LeafSpec;
///
/// fn infer(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
///     Ok(args.iter().cloned().collect())
/// }
///
/// fn kernel(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
///     Ok(std::iter::once(ops::multiply(&args[0], &args[0])?).collect())
/// }
///
/// extenso_core::ops! {
///     /// Ops of one's own.
///     pub static MINE in "doc";
///
///     /// The square of each element.
///     SQUARE: square(x) = OpDef::general(Class::UnaryElementwise, infer, kernel);
/// }
/// assert_eq!(square(3.0).unwrap().to_string(), "9.0");
/// assert_eq!(SQUARE.name, "doc.square");
/// ```
#[macro_export]
macro_rules! ops {
    ($(#[$table_doc:meta])* pub static $table:ident; $($ops:tt)*) => {
        $crate::ops! { @table "", $(#[$table_doc])* $table $($ops)* }
    };
    ($(#[$table_doc:meta])* pub static $table:ident in $package:literal; $($ops:tt)*) => {
        $crate::ops! { @table concat!($package, "."), $(#[$table_doc])* $table $($ops)* }
    };
    (
        @table $prefix:expr, $(#[$table_doc:meta])* $table:ident
        $(
            $(#[doc = $doc:literal])*
            $NAME:ident: $function:ident ($($param:ident),* $(; $attrs:ident { $($attr:ident: $t:ty),* $(,)? })?) = $def:expr;
        )*
    ) => {
        $(
            $(#[doc = $doc])*
            #[doc = ""]
            #[doc = concat!("This is the declaration; [`", stringify!($function), "`] calls it.")]
            pub static $NAME: $crate::OpDef = $def.named(
                concat!($prefix, stringify!($function)),
                concat!($($doc, "\n"),*),
                &[$(stringify!($param)),*],
                $crate::ops!(@attrs $($attrs)?),
            );

            $(#[doc = $doc])*
            #[allow(clippy::too_many_arguments)]
            pub fn $function(
                $($param: impl Into<$crate::Arg>,)*
                $($($attr: impl Into<$t>),*)?
            ) -> $crate::Result<$crate::Value> {
                #[allow(unused_variables)]
                let attrs = $crate::ops!(@make $($attrs { $($attr: $attr.into()),* })?);
                $crate::call_one(&$NAME, &[$($param.into()),*], &attrs)
            }
        )*

        $(#[$table_doc])*
        pub static $table: &[&$crate::OpDef] = &[$(&$NAME),*];
    };
    (@attrs) => { <$crate::attrs::NoAttrs as $crate::attrs::Attrs>::DEF };
    (@attrs $attrs:ident) => { <$attrs as $crate::attrs::Attrs>::DEF };
    (@make) => { $crate::attrs::NoAttrs {} };
    (@make $attrs:ident { $($body:tt)* }) => { $attrs { $($body)* } };
}
