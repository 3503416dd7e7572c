//! Values of types that are not defined in this process.
//!
//! Invariant: nothing is known of them but their spec and their components, which they keep.

use super::Extension;
use crate::tensor::Tensor;
use crate::value::Value;
use extenso_types::{ExtSpec, Result, Segment, Spec, TypeDef};
use std::any::Any;
use std::sync::Arc;

/// A value whose type is not registered in this process, or not in this definition: its spec and its components.
#[derive(Clone)]
pub struct OpaqueExtension {
    spec: ExtSpec,
    components: Vec<Value>,
}

impl OpaqueExtension {
    /// A value of these components.
    pub fn new(spec: ExtSpec, components: Vec<Value>) -> OpaqueExtension {
        OpaqueExtension { spec, components }
    }

    /// The component at `segment`.
    pub fn component(&self, segment: &Segment) -> Option<&Value> {
        let at = self.spec.components.iter().position(|(s, _)| s == segment)?;
        self.components.get(at)
    }
}

impl Extension for OpaqueExtension {
    fn def(&self) -> &Arc<TypeDef> {
        &self.spec.def
    }

    fn spec(&self) -> Result<ExtSpec> {
        let specs: Result<Vec<Spec>> = self.components.iter().map(Value::spec).collect();
        let segments = self.spec.components.iter().map(|(segment, _)| segment.clone());
        Ok(ExtSpec { components: segments.zip(specs?).collect(), ..self.spec.clone() })
    }

    fn components(&self) -> Result<Vec<Value>> {
        Ok(self.components.clone())
    }

    fn to_tensor(&self) -> Option<Result<Tensor>> {
        None
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
