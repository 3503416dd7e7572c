//! Values as objects of Python.

use crate::error::OrCarry;
use crate::tensor::OBJECT;
use crate::value;
use extenso_core::Value;
use extenso_ext::Host;
use extenso_types::Result;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString};

/// Objects of Python.
pub struct Objects<'py>(pub Python<'py>);

impl<'py> Host for Objects<'py> {
    type Object = Bound<'py, PyAny>;
    type Name = Bound<'py, PyString>;
    const SIZE: usize = OBJECT + size_of::<usize>();

    fn none(&self) -> Self::Object {
        self.0.None().into_bound(self.0)
    }
    fn bool(&self, value: bool) -> Self::Object {
        PyBool::new(self.0, value).to_owned().into_any()
    }
    fn int(&self, value: i64) -> Self::Object {
        PyInt::new(self.0, value).into_any()
    }
    fn unsigned(&self, value: u64) -> Self::Object {
        PyInt::new(self.0, value).into_any()
    }
    fn float(&self, value: f64) -> Self::Object {
        PyFloat::new(self.0, value).into_any()
    }
    fn str(&self, value: &str) -> Self::Object {
        PyString::new(self.0, value).into_any()
    }
    fn bytes(&self, value: &[u8]) -> Self::Object {
        PyBytes::new(self.0, value).into_any()
    }
    fn value(&self, value: &Value) -> Result<Self::Object> {
        value::to_py(self.0, value.clone()).or_carry(self.0)
    }
    fn list(&self, items: impl ExactSizeIterator<Item = Self::Object>) -> Result<Self::Object> {
        PyList::new(self.0, items).map(Bound::into_any).or_carry(self.0)
    }
    fn name(&self, name: &str) -> Self::Name {
        PyString::intern(self.0, name)
    }
    fn record(&self, names: &[Self::Name], items: impl Iterator<Item = Self::Object>) -> Result<Self::Object> {
        let dict = PyDict::new(self.0);
        names.iter().zip(items).try_for_each(|(name, item)| dict.set_item(name, item)).or_carry(self.0)?;
        Ok(dict.into_any())
    }
}
