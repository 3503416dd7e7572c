//! The memory of tensors of numbers as buffers, for whoever shares it.

use super::{Dense, Tensor};
use arrow_buffer::Buffer;
use extenso_types::Result;

impl Tensor {
    /// The bytes of a tensor of numbers as a buffer of the same memory. The buffer of a few, which stand in the tensor, keeps the tensor.
    ///
    /// Errors: this is a symbol, or of another dtype.
    ///
    /// ```
    /// # use extenso_core::Tensor;
    /// let x = Tensor::new(&[2], &[1.0_f32, 2.0]).unwrap();
    /// assert_eq!(x.buffer().unwrap().as_ptr().addr(), x.data().unwrap().addresses()[0]);
    /// ```
    pub fn buffer(&self) -> Result<Buffer> {
        let elements = self.data()?.fixed()?;
        let kept = || Buffer::from(bytes::Bytes::from_owner(Kept(self.clone())));
        Ok(elements.shared().cloned().unwrap_or_else(kept))
    }
}

/// A tensor of numbers as the owner of its bytes.
struct Kept(Tensor);

impl AsRef<[u8]> for Kept {
    fn as_ref(&self) -> &[u8] {
        self.0.data().and_then(Dense::fixed).map_or(&[], |elements| elements.as_slice())
    }
}
