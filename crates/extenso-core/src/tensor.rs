//! Tensors: dense, contiguous, row-major, immutable; their memory is Arrow memory.
//!
//! Invariant: a storage holds exactly the elements that the sizes say, aligned, with string bytes proven to be UTF-8.
//! Booleans are one bit each. A tensor is a value or a symbol; which it is, only code that needs the data asks.

mod booleans;
mod buffer;
mod spare;
mod text;

pub(crate) use booleans::{bits_in_runs, in_bytes};
pub use booleans::{bits_of_bytes, bytes_of_bits};
pub use text::join_text;

pub use crate::kernels::elements::Elements;
use crate::offsets::Offsets;
use crate::symbol::Symbol;
use crate::value::Value;
use arrow_buffer::{BooleanBuffer, Buffer};
use extenso_types::{DType, Dims, Error, Result, Shape, TensorSpec};
use half::{bf16, f16};
use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};
use text::{beyond, check_utf8};

/// A place that can be read, for what is empty.
static READABLE: [u8; 1] = [0];

/// A tensor: a value or a symbol.
#[derive(Clone)]
pub struct Tensor(Repr);

#[derive(Clone)]
enum Repr {
    Data(Arc<Dense>),
    Symbol(Arc<Symbol>),
}

/// The data of a tensor.
pub struct Dense {
    dtype: DType,
    dims: Dims,
    storage: Storage,
    /// What was computed from the elements once, and is kept as long as they are.
    derived: OnceLock<Arc<dyn Any + Send + Sync>>,
}

/// Where the elements of a tensor are.
#[derive(Clone)]
pub enum Storage {
    /// Numbers, in the machine's byte order.
    Fixed(Elements),
    /// Booleans, one bit each.
    Bits(BooleanBuffer),
    /// Strings and bytes: element i is `bytes[offsets[i]..offsets[i + 1]]`.
    Text {
        /// One more than elements.
        offsets: Offsets,
        /// What the offsets cut.
        bytes: Buffer,
    },
    /// Boxed values.
    Boxed(Arc<[Value]>),
}

/// A number type that tensors hold.
pub trait Element: bytemuck::Pod + Send + Sync + fmt::Debug {
    /// Its dtype.
    const DTYPE: DType;
}

macro_rules! elements {
    ($($t:ty: $d:ident)*) => { $(impl Element for $t { const DTYPE: DType = DType::$d; })* };
}
elements! { i8: I8 i16: I16 i32: I32 i64: I64 u8: U8 u16: U16 u32: U32 u64: U64 f16: F16 bf16: BF16 f32: F32 f64: F64 }

impl Tensor {
    /// A tensor of numbers.
    ///
    /// Shapes: `data` in row-major order.
    /// Errors: as many elements as `dims` say are not there.
    ///
    /// ```
    /// # use extenso_core::Tensor;
    /// let t = Tensor::new(&[2, 2], &[1.0f32, 2.0, 3.0, 4.0]).unwrap();
    /// assert_eq!(t.to_string(), "[[1.0, 2.0], [3.0, 4.0]]");
    /// ```
    pub fn new<T: Element>(dims: &[usize], data: &[T]) -> Result<Tensor> {
        expect_count(dims, data.len())?;
        let elements = Elements::copy_of(bytemuck::cast_slice(data));
        Ok(Tensor::from_dense(T::DTYPE, Dims::from_slice(dims), Storage::Fixed(elements)))
    }

    /// A vector of numbers, taking over the allocation.
    pub fn from_vec<T: Element + arrow_buffer::ArrowNativeType>(data: Vec<T>) -> Tensor {
        let dims = Dims::from_slice(&[data.len()]);
        Tensor::from_dense(T::DTYPE, dims, Storage::Fixed(Buffer::from_vec(data).into()))
    }

    /// A 0-d tensor.
    pub fn scalar<T: Element>(value: T) -> Tensor {
        let elements = Elements::copy_of(bytemuck::bytes_of(&value));
        Tensor::from_dense(T::DTYPE, Dims::new(), Storage::Fixed(elements))
    }

    /// A tensor of numbers in a buffer, which is shared.
    ///
    /// Errors: the dtype is not a number; the buffer has not as many bytes as `dims` say. A misaligned buffer is copied.
    pub fn from_buffer(dtype: DType, dims: &[usize], buffer: Buffer) -> Result<Tensor> {
        let width = dtype
            .width()
            .ok_or_else(|| Error::dtype(format!("{dtype} has no fixed width")).wanted("a number dtype"))?;
        let bytes = element_count(dims)?.checked_mul(width);
        if bytes.is_none_or(|n| n != buffer.len()) {
            return Err(Error::shape(format!("{} bytes are given for {dtype}{dims:?}", buffer.len()))
                .wanted(bytes.map_or("a smaller shape".into(), |n| format!("{n} bytes"))));
        }
        let aligned = buffer.as_ptr().align_offset(width) == 0;
        let buffer = if aligned { buffer } else { Buffer::from_slice_ref(buffer.as_slice()) };
        Ok(Tensor::from_dense(dtype, Dims::from_slice(dims), Storage::Fixed(buffer.into())))
    }

    /// A tensor of booleans in a bit buffer, which is shared.
    ///
    /// Errors: as many bits as `dims` say are not there.
    pub fn from_bits(dims: &[usize], bits: BooleanBuffer) -> Result<Tensor> {
        expect_count(dims, bits.len())?;
        Ok(Tensor::from_dense(DType::Bool, Dims::from_slice(dims), Storage::Bits(bits)))
    }

    /// A tensor of booleans.
    ///
    /// Errors: as many elements as `dims` say are not there.
    pub fn bools(dims: &[usize], data: &[bool]) -> Result<Tensor> {
        Tensor::from_bits(dims, bits_of_bytes(bytemuck::cast_slice(data)))
    }

    /// A tensor of strings or bytes in buffers, which are shared.
    ///
    /// Errors: the dtype is not string or bytes; offsets that do not cut the bytes; text that is not UTF-8.
    pub fn from_text(dtype: DType, dims: &[usize], offsets: Offsets, bytes: Buffer) -> Result<Tensor> {
        offsets.prove(bytes.len())?;
        expect_count(dims, offsets.len() - 1)?;
        match dtype {
            DType::Bytes => {}
            DType::String => check_utf8(&offsets, &bytes)?,
            other => return Err(Error::dtype(format!("{other} is not text")).wanted("string or bytes")),
        }
        Ok(Tensor::from_dense(dtype, Dims::from_slice(dims), Storage::Text { offsets, bytes }))
    }

    /// A tensor of strings.
    ///
    /// Errors: as many elements as `dims` say are not there.
    pub fn strings<S: AsRef<str>>(dims: &[usize], data: &[S]) -> Result<Tensor> {
        let (offsets, bytes) = join_text(data.iter().map(|s| s.as_ref().as_bytes()));
        expect_count(dims, data.len())?;
        Ok(Tensor::from_dense(DType::String, Dims::from_slice(dims), Storage::Text { offsets, bytes }))
    }

    /// A tensor of byte strings.
    ///
    /// Errors: as many elements as `dims` say are not there.
    pub fn byte_strings<S: AsRef<[u8]>>(dims: &[usize], data: &[S]) -> Result<Tensor> {
        let (offsets, bytes) = join_text(data.iter().map(AsRef::as_ref));
        Tensor::from_text(DType::Bytes, dims, offsets, bytes)
    }

    /// A tensor of boxed values.
    ///
    /// Errors: as many elements as `dims` say are not there.
    pub fn boxed(dims: &[usize], values: Vec<Value>) -> Result<Tensor> {
        expect_count(dims, values.len())?;
        Ok(Tensor::from_dense(DType::Variant, Dims::from_slice(dims), Storage::Boxed(values.into())))
    }

    pub(crate) fn from_dense(dtype: DType, dims: Dims, storage: Storage) -> Tensor {
        Tensor(Repr::Data(spare::placed(Dense::new(dtype, dims, storage))))
    }

    /// A tensor that stands for data while tracing.
    pub fn from_symbol(symbol: Arc<Symbol>) -> Tensor {
        Tensor(Repr::Symbol(symbol))
    }

    /// The symbol, if this is one.
    pub fn symbol(&self) -> Option<&Arc<Symbol>> {
        match &self.0 {
            Repr::Symbol(symbol) => Some(symbol),
            Repr::Data(_) => None,
        }
    }

    /// Whether both are one without looking at elements: the same allocation or the same node.
    pub fn same(&self, other: &Tensor) -> bool {
        match (&self.0, &other.0) {
            (Repr::Data(a), Repr::Data(b)) => Arc::ptr_eq(a, b),
            (Repr::Symbol(a), Repr::Symbol(b)) => (a.scope, a.node, a.output) == (b.scope, b.node, b.output),
            (Repr::Data(_), Repr::Symbol(_)) | (Repr::Symbol(_), Repr::Data(_)) => false,
        }
    }

    /// The data.
    ///
    /// Errors: this is a symbol, which has none until its function runs.
    pub fn data(&self) -> Result<&Dense> {
        match &self.0 {
            Repr::Data(dense) => Ok(dense),
            Repr::Symbol(symbol) => Err(symbol.has_no_data()),
        }
    }

    /// The data, unless this is a symbol.
    pub(crate) fn dense(&self) -> Option<&Dense> {
        match &self.0 {
            Repr::Data(dense) => Some(dense),
            Repr::Symbol(_) => None,
        }
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        match &self.0 {
            Repr::Data(dense) => dense.dtype,
            Repr::Symbol(symbol) => symbol.tensor_spec().map_or(DType::Variant, |s| s.dtype),
        }
    }

    /// The shape, as far as it is known.
    pub fn shape(&self) -> Shape {
        match &self.0 {
            Repr::Data(dense) => Shape::known(&dense.dims),
            Repr::Symbol(symbol) => symbol.tensor_spec().map_or_else(Shape::unknown, |s| s.shape.clone()),
        }
    }

    /// The number of axes; none for a symbol of unknown rank.
    pub fn rank(&self) -> Option<usize> {
        match &self.0 {
            Repr::Data(dense) => Some(dense.dims.len()),
            Repr::Symbol(symbol) => symbol.tensor_spec().and_then(|s| s.shape.rank()),
        }
    }

    /// The spec.
    pub fn spec(&self) -> TensorSpec {
        TensorSpec::new(self.dtype(), self.shape())
    }

    /// The elements of a tensor of numbers.
    ///
    /// Errors: this is a symbol, or of another dtype.
    pub fn as_slice<T: Element>(&self) -> Result<&[T]> {
        self.data()?.as_slice()
    }

    /// A range of the outer axis, sharing the buffers.
    ///
    /// Errors: a symbol, a scalar, a range beyond the axis.
    pub fn slice_rows(&self, start: usize, len: usize) -> Result<Tensor> {
        let dense = self.data()?;
        let rows = dense
            .dims
            .first()
            .copied()
            .ok_or_else(|| Error::shape("a scalar has no rows").wanted("a tensor of rank 1 or more"))?;
        if start.checked_add(len).is_none_or(|end| end > rows) {
            return Err(Error::index(format!("rows {start}..{start}+{len} are beyond {rows} rows")));
        }
        let inner: usize = dense.dims[1..].iter().product();
        let (from, count) = (start * inner, len * inner);
        let mut dims = dense.dims.clone();
        dims[0] = len;
        Ok(Tensor::from_dense(dense.dtype, dims, dense.storage.slice(dense.dtype.width().unwrap_or(0), from, count)))
    }

    /// The same elements under other sizes, sharing the buffers.
    ///
    /// Errors: a symbol, or another number of elements.
    pub fn with_dims(&self, dims: &[usize]) -> Result<Tensor> {
        let dense = self.data()?;
        expect_count(dims, dense.len())?;
        Ok(Tensor::from_dense(dense.dtype, Dims::from_slice(dims), dense.storage.clone()))
    }

    /// The only element of a tensor of one boolean.
    ///
    /// Errors: a symbol, another dtype, more or fewer elements.
    pub fn to_bool(&self) -> Result<bool> {
        let dense = self.data()?;
        match &dense.storage {
            Storage::Bits(bits) if bits.len() == 1 => Ok(bits.value(0)),
            _ => Err(Error::dtype(format!("found {}", self.spec())).wanted("one boolean")),
        }
    }
}

impl Dense {
    fn new(dtype: DType, dims: Dims, storage: Storage) -> Dense {
        Dense { dtype, dims, storage, derived: OnceLock::new() }
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The sizes of the axes.
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.dims.iter().product()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where the elements are.
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// The elements of a tensor of numbers.
    ///
    /// Errors: another dtype.
    pub fn as_slice<T: Element>(&self) -> Result<&[T]> {
        match &self.storage {
            Storage::Fixed(buffer) if self.dtype == T::DTYPE => Ok(bytemuck::cast_slice(buffer.as_slice())),
            _ => Err(self.not(T::DTYPE.name())),
        }
    }

    /// The bytes of a tensor of numbers.
    ///
    /// Errors: another dtype.
    pub fn fixed(&self) -> Result<&Elements> {
        match &self.storage {
            Storage::Fixed(elements) => Ok(elements),
            _ => Err(self.not("numbers")),
        }
    }

    /// The bits of a tensor of booleans.
    ///
    /// Errors: another dtype.
    pub fn bits(&self) -> Result<&BooleanBuffer> {
        match &self.storage {
            Storage::Bits(bits) => Ok(bits),
            _ => Err(self.not("bool")),
        }
    }

    /// The offsets and bytes of a tensor of strings or bytes.
    ///
    /// Errors: another dtype.
    pub fn text(&self) -> Result<(&Offsets, &Buffer)> {
        match &self.storage {
            Storage::Text { offsets, bytes } => Ok((offsets, bytes)),
            _ => Err(self.not("string or bytes")),
        }
    }

    /// The values of a tensor of boxed values.
    ///
    /// Errors: another dtype.
    pub fn boxed(&self) -> Result<&[Value]> {
        match &self.storage {
            Storage::Boxed(values) => Ok(values),
            _ => Err(self.not("variant")),
        }
    }

    /// The bytes of element `i` of a tensor of strings or bytes.
    ///
    /// Errors: another dtype; no such element.
    pub fn text_at(&self, i: usize) -> Result<&[u8]> {
        let (offsets, bytes) = self.text()?;
        // No byte of an empty buffer can be read, and to compare nothing at such an address takes long.
        let bytes = if bytes.is_empty() { &READABLE[..0] } else { bytes.as_slice() };
        if i >= offsets.len().saturating_sub(1) {
            return Err(beyond(i, offsets.len().saturating_sub(1)));
        }
        Ok(&bytes[offsets.get(i)..offsets.get(i + 1)])
    }

    /// Element `i` of a tensor of strings.
    ///
    /// Errors: another dtype; no such element.
    pub fn str_at(&self, i: usize) -> Result<&str> {
        std::str::from_utf8(self.text_at(i)?)
            .map_err(|_| Error::internal("a string tensor holds bytes that are not UTF-8"))
    }

    /// What `make` computes from the elements; computed once and kept with them. One kind of thing is kept, the first asked for.
    ///
    /// Errors: those of `make`.
    pub(crate) fn derived<T: Any + Send + Sync>(&self, make: impl FnOnce(&Dense) -> Result<T>) -> Result<Arc<T>> {
        if let Some(kept) = self.derived.get().and_then(|kept| kept.clone().downcast().ok()) {
            return Ok(kept);
        }
        let made = Arc::new(make(self)?);
        // Of two threads that computed it, either may keep its own: they are alike.
        let _ = self.derived.set(made.clone());
        Ok(made)
    }

    /// The addresses of the buffers, for showing what is shared.
    pub fn addresses(&self) -> Vec<usize> {
        match &self.storage {
            Storage::Fixed(buffer) => vec![buffer.as_ptr().addr()],
            Storage::Bits(bits) => vec![bits.inner().as_ptr().addr()],
            Storage::Text { offsets, bytes } => vec![offsets.address(), bytes.as_ptr().addr()],
            Storage::Boxed(values) => vec![values.as_ptr().addr()],
        }
    }

    /// Checks that nested lists can be made of the tensor, which has lists even where it has no elements.
    ///
    /// Errors: more than [`MAX_EMPTY`] lists without any element.
    ///
    /// ```
    /// # use extenso_core::Tensor;
    /// let endless = Tensor::new::<f64>(&[1 << 40, 0], &[]).unwrap();
    /// let error = endless.data().unwrap().check_lists().unwrap_err().to_string();
    /// assert!(error.contains("1099511627776 lists without an element"), "{error}");
    /// ```
    pub fn check_lists(&self) -> Result<()> {
        let lists: usize = self.dims.iter().take_while(|&&d| d > 0).product();
        if !self.is_empty() || lists <= MAX_EMPTY {
            return Ok(());
        }
        Err(Error::shape(format!("{}{:?} is {lists} lists without an element", self.dtype, self.dims))
            .wanted(format!("at most {MAX_EMPTY} lists"))
            .hint("Look at the shape instead."))
    }

    fn not(&self, wanted: &str) -> Error {
        Error::dtype(format!("found {}{:?}", self.dtype, self.dims)).wanted(wanted.to_string())
    }
}

impl Storage {
    /// No elements, of the same kind.
    pub(crate) fn slice_of_none(&self) -> Storage {
        self.slice(1, 0, 0)
    }

    /// `count` elements of `width` bytes from `from`, sharing the buffers.
    fn slice(&self, width: usize, from: usize, count: usize) -> Storage {
        match self {
            Storage::Fixed(elements) => Storage::Fixed(elements.slice(from * width, count * width)),
            Storage::Bits(bits) => Storage::Bits(bits.slice(from, count)),
            Storage::Text { offsets, bytes } => {
                Storage::Text { offsets: offsets.slice(from, count + 1), bytes: bytes.clone() }
            }
            Storage::Boxed(values) => Storage::Boxed(values[from..from + count].into()),
        }
    }
}

/// The number of elements of a tensor of these sizes.
///
/// Errors: more than memory can address.
pub fn element_count(dims: &[usize]) -> Result<usize> {
    if dims.len() > MAX_RANK {
        return Err(Error::shape(format!("a tensor of {} axes is asked for", dims.len()))
            .wanted(format!("at most {MAX_RANK} axes")));
    }
    // A zero axis hides an overflow beside it, which would still overflow in the sizes of rows.
    let nonzero = dims.iter().filter(|&&d| d > 0).try_fold(1_usize, |n, &d| n.checked_mul(d));
    match nonzero.filter(|&n| n <= isize::MAX as usize) {
        Some(n) => Ok(if dims.contains(&0) { 0 } else { n }),
        None => Err(Error::shape(format!("sizes {dims:?} have more elements than memory can address"))),
    }
}

/// The most axes that a tensor has: NumPy's bound.
pub const MAX_RANK: usize = 64;

/// The most lists or records that are made where there is no element: their number is bounded by no memory.
pub const MAX_EMPTY: usize = 1 << 24;

fn expect_count(dims: &[usize], given: usize) -> Result<()> {
    let wanted = element_count(dims)?;
    if wanted == given {
        return Ok(());
    }
    Err(Error::shape(format!("{given} elements are given for shape {dims:?}")).wanted(format!("{wanted} elements")))
}

impl From<Dense> for Tensor {
    fn from(dense: Dense) -> Tensor {
        Tensor(Repr::Data(Arc::new(dense)))
    }
}
