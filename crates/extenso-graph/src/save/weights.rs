//! Constants and variables as safetensors.
//!
//! A tensor of numbers is one entry. Booleans are packed bits, strings two entries (offsets and bytes), a row partition its
//! offsets. The spec beside the name says which; the reader checks that the entries are what the spec needs.

use extenso_core::{Dense, Offsets, RowPartition, Storage, Tensor, Value};
use extenso_types::{DType, Error, LeafSpec, Result};
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use std::collections::BTreeMap;

#[derive(Default)]
pub(super) struct Writer {
    entries: BTreeMap<String, (Dtype, Vec<usize>, Vec<u8>)>,
    count: usize,
}

const DTYPES: [(DType, Dtype); 12] = [
    (DType::I8, Dtype::I8),
    (DType::I16, Dtype::I16),
    (DType::I32, Dtype::I32),
    (DType::I64, Dtype::I64),
    (DType::U8, Dtype::U8),
    (DType::U16, Dtype::U16),
    (DType::U32, Dtype::U32),
    (DType::U64, Dtype::U64),
    (DType::F16, Dtype::F16),
    (DType::BF16, Dtype::BF16),
    (DType::F32, Dtype::F32),
    (DType::F64, Dtype::F64),
];

impl Writer {
    /// Adds a value and returns its name.
    ///
    /// Errors: a symbol, or boxed values.
    pub(super) fn add(&mut self, value: &Value) -> Result<String> {
        let name = format!("w{:06}", self.count);
        self.count += 1;
        match value {
            Value::Tensor(t) => self.tensor(&name, t.data()?)?,
            Value::Partition(p) => self.offsets(&name, p.data()?.offsets()),
            Value::Ext(e) => return Err(Error::internal(format!("a constant of type {} in a graph", e.def()))),
        }
        Ok(name)
    }

    fn tensor(&mut self, name: &str, dense: &Dense) -> Result<()> {
        match dense.storage() {
            Storage::Fixed(buffer) => {
                let dtype = DTYPES.iter().find(|(d, _)| *d == dense.dtype()).map(|(_, s)| *s);
                let dtype = dtype.ok_or_else(|| Error::internal("numbers without a safetensors dtype"))?;
                self.put(name.to_string(), dtype, dense.dims().to_vec(), buffer.as_slice().to_vec());
            }
            Storage::Bits(bits) => {
                let packed: Vec<u8> = bits.sliced().as_slice()[..bits.len().div_ceil(8)].to_vec();
                self.put(format!("{name}.bits"), Dtype::U8, vec![packed.len()], zero_tail(packed, bits.len()));
            }
            Storage::Text { offsets, bytes } => {
                let (first, last) = (offsets.first(), offsets.last());
                self.offsets(name, &Offsets::I64(offsets.relative().into()));
                self.put(
                    format!("{name}.bytes"),
                    Dtype::U8,
                    vec![last - first],
                    bytes.as_slice()[first..last].to_vec(),
                );
            }
            Storage::Boxed(_) => return Err(Error::value("a constant of boxed values cannot be saved")),
        }
        Ok(())
    }

    fn offsets(&mut self, name: &str, offsets: &Offsets) {
        let (dtype, bytes) = match offsets {
            Offsets::I32(o) => (Dtype::I32, o.inner().as_slice().to_vec()),
            Offsets::I64(o) => (Dtype::I64, o.inner().as_slice().to_vec()),
        };
        self.put(format!("{name}.offsets"), dtype, vec![offsets.len()], bytes);
    }

    fn put(&mut self, name: String, dtype: Dtype, shape: Vec<usize>, data: Vec<u8>) {
        self.entries.insert(name, (dtype, shape, data));
    }

    pub(super) fn finish(&self) -> Result<Vec<u8>> {
        let bad = |e: safetensors::SafeTensorError| Error::internal(format!("weights: {e}"));
        let views: std::result::Result<Vec<(&String, TensorView<'_>)>, _> = self
            .entries
            .iter()
            .map(|(name, (dtype, shape, data))| Ok((name, TensorView::new(*dtype, shape.clone(), data)?)))
            .collect();
        serialize(views.map_err(bad)?, None).map_err(bad)
    }
}

fn zero_tail(mut packed: Vec<u8>, bits: usize) -> Vec<u8> {
    if !bits.is_multiple_of(8)
        && let Some(last) = packed.last_mut()
    {
        *last &= (1 << (bits % 8)) - 1;
    }
    packed
}

pub(super) struct Reader<'a>(SafeTensors<'a>);

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Result<Reader<'a>> {
        SafeTensors::deserialize(bytes).map(Reader).map_err(|e| Error::data(format!("weights: {e}")))
    }

    /// The value of a name, which must be of this spec.
    ///
    /// Errors: entries that are missing or not what the spec needs.
    pub(super) fn get(&self, name: &str, spec: &LeafSpec) -> Result<Value> {
        self.read(name, spec).map_err(|e| e.at(format!("weights '{name}'")))
    }

    fn read(&self, name: &str, spec: &LeafSpec) -> Result<Value> {
        let spec = match spec {
            LeafSpec::Tensor(spec) => spec,
            LeafSpec::Partition(spec) => {
                let nvalues = spec
                    .nvalues
                    .known()
                    .ok_or_else(|| Error::data("a constant partition of an unknown number of values"))?;
                let offsets = self.offsets(name)?;
                if offsets.dtype() != spec.index {
                    return Err(Error::data(format!("offsets are {}", offsets.dtype())).wanted(spec.index.name()));
                }
                let rows = RowPartition::from_offsets(offsets, nvalues)?;
                return Ok(Value::Partition(rows.with_uniform_row_length(spec.uniform_row_length)?));
            }
        };
        let dims = spec
            .shape
            .to_dims()
            .ok_or_else(|| Error::data(format!("a constant of the spec {spec}")).wanted("known sizes"))?;
        let tensor = match spec.dtype {
            DType::Bool => {
                let n = extenso_core::element_count(&dims)?;
                let bytes = self.entry(&format!("{name}.bits"), Dtype::U8)?;
                if bytes.len() != n.div_ceil(8) {
                    return Err(Error::data(format!("{} bytes hold {n} booleans", bytes.len())));
                }
                Tensor::from_bits(&dims, arrow_buffer::BooleanBuffer::new(arrow_buffer::Buffer::from(bytes), 0, n))?
            }
            DType::String | DType::Bytes => {
                let bytes = self.entry(&format!("{name}.bytes"), Dtype::U8)?;
                Tensor::from_text(spec.dtype, &dims, self.offsets(name)?, arrow_buffer::Buffer::from(bytes))?
            }
            DType::Variant => return Err(Error::data("a constant of boxed values")),
            dtype => {
                let wanted = DTYPES.iter().find(|(d, _)| *d == dtype).map(|(_, s)| *s);
                let bytes =
                    self.entry(name, wanted.ok_or_else(|| Error::internal("numbers without a safetensors dtype"))?)?;
                Tensor::from_buffer(dtype, &dims, arrow_buffer::Buffer::from(bytes))?
            }
        };
        Ok(Value::Tensor(tensor))
    }

    fn entry(&self, name: &str, dtype: Dtype) -> Result<&[u8]> {
        let view = self.0.tensor(name).map_err(|e| Error::data(e.to_string()))?;
        if view.dtype() != dtype {
            return Err(Error::data(format!("'{name}' is {:?}", view.dtype())).wanted(format!("{dtype:?}")));
        }
        // The view borrows the file, which outlives it.
        self.0.tensor(name).map(|v| v.data()).map_err(|e| Error::data(e.to_string()))
    }

    fn offsets(&self, name: &str) -> Result<Offsets> {
        let name = format!("{name}.offsets");
        let view = self.0.tensor(&name).map_err(|e| Error::data(e.to_string()))?;
        let words = |width: usize| view.data().chunks_exact(width);
        match view.dtype() {
            Dtype::I32 => Ok(Offsets::I32(
                words(4).map(|b| i32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect::<Vec<_>>().into(),
            )),
            Dtype::I64 => {
                let word = |b: &[u8]| b.try_into().map(i64::from_le_bytes).unwrap_or(-1);
                Ok(Offsets::I64(words(8).map(word).collect::<Vec<_>>().into()))
            }
            other => Err(Error::data(format!("'{name}' is {other:?}")).wanted("I32 or I64")),
        }
    }
}
