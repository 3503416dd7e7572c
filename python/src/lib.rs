//! `extenso._core`: the binding of Extenso to Python.
//!
//! Holds no logic of an op: Python objects become core values here, core does the work, and what comes back becomes
//! Python objects. Every application of an op goes through the core call pipeline.

mod arg;
mod arrow;
mod call;
mod composed;
mod depth;
mod dispatch;
mod dlpack;
mod dtype;
mod error;
mod ext;
mod features;
mod formats;
mod function;
mod import;
mod index;
mod lists;
mod literal;
mod meanings;
mod missing;
mod nests;
mod neural;
mod op;
mod operators;
mod partition;
mod paths;
mod piecewise;
mod pointers;
mod print;
mod products;
mod ragged;
mod random;
mod rearrange;
mod record;
mod scatter;
mod shape;
mod shapes;
mod spec;
mod standard;
mod strings;
mod tensor;
mod typed;
mod union;
mod value;
mod variable;

use pyo3::prelude::*;

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    error::add_to(module)?;
    dtype::add_to(module)?;
    shape::add_to(module)?;
    module.add_class::<tensor::PyTensor>()?;
    module.add_class::<tensor::PyTensorIterator>()?;
    module.add_class::<partition::PyRowPartition>()?;
    module.add_class::<variable::PyVariable>()?;
    module.add_class::<value::PyOpaque>()?;
    module.add_function(wrap_pyfunction!(tensor::tensor, module)?)?;
    module.add_function(wrap_pyfunction!(tensor::asarray, module)?)?;
    module.add_function(wrap_pyfunction!(tensor::tensor_from_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(tensor::_text_parts, module)?)?;
    module.add_function(wrap_pyfunction!(tensor::_text_of, module)?)?;
    module.add_function(wrap_pyfunction!(dlpack::from_dlpack, module)?)?;
    module.add_function(wrap_pyfunction!(arg::register_tensor_conversion_function, module)?)?;
    print::add_to(module)?;
    op::add_to(module)?;
    op::add_classes_to(module)?;
    module.add_function(wrap_pyfunction!(op::op_by_name, module)?)?;
    module.add_function(wrap_pyfunction!(op::op_examples, module)?)?;
    module.add_function(wrap_pyfunction!(op::op_tf_names, module)?)?;
    spec::add_to(module)?;
    ext::add_to(module)?;
    dispatch::add_to(module)?;
    record::add_to(module)?;
    literal::add_to(module)?;
    composed::add_to(module)?;
    meanings::add_to(module)?;
    union::add_to(module)?;
    missing::add_to(module)?;
    nests::add_to(module)?;
    paths::add_to(module)?;
    piecewise::add_to(module)?;
    ragged::add_to(module)?;
    rearrange::add_to(module)?;
    lists::add_to(module)?;
    scatter::add_to(module)?;
    shapes::add_to(module)?;
    standard::add_to(module)?;
    strings::add_to(module)?;
    features::add_to(module)?;
    random::add_to(module)?;
    products::add_to(module)?;
    neural::add_to(module)?;
    arrow::add_to(module)?;
    formats::add_to(module)?;
    error::OrRaise::or_raise(extenso_formats::init())?;
    function::add_to(module)
}
