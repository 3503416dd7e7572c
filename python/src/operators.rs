//! Operators: the number and comparison slots that tensors and extension types share.
//!
//! Invariant: every operator is an application of an op.

/// Writes the methods of a class: those of the operators and the ones given.
macro_rules! with_operators {
    ($class:ident $(with __init__ = $init:path;)? { $($method:tt)* }) => {
        #[pymethods]
        impl $class {
            // Written here and not by the caller, because the names that PyO3 puts around it are hygienic.
            $(
                #[pyo3(signature = (*args, **kwargs))]
                fn __init__(
                    slf: &Bound<'_, Self>,
                    args: &Bound<'_, PyTuple>,
                    kwargs: Option<&Bound<'_, PyDict>>,
                ) -> PyResult<()> {
                    $init(slf, args, kwargs)
                }
            )?
            fn __add__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::call::binary(&extenso_core::ops::ADD, slf, other)
            }
            fn __radd__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::call::binary(&extenso_core::ops::ADD, other, slf)
            }
            fn __sub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::call::binary(&extenso_core::ops::SUBTRACT, slf, other)
            }
            fn __rsub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::call::binary(&extenso_core::ops::SUBTRACT, other, slf)
            }
            fn __mul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::call::binary(&extenso_core::ops::MULTIPLY, slf, other)
            }
            fn __rmul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::call::binary(&extenso_core::ops::MULTIPLY, other, slf)
            }
            fn __truediv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::call::binary(&extenso_core::ops::DIVIDE, slf, other)
            }
            fn __rtruediv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::call::binary(&extenso_core::ops::DIVIDE, other, slf)
            }
            fn __floordiv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::call::binary(&extenso_core::ops::FLOOR_DIVIDE, slf, other)
            }
            fn __rfloordiv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::call::binary(&extenso_core::ops::FLOOR_DIVIDE, other, slf)
            }
            fn __mod__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::call::binary(&extenso_core::ops::REMAINDER, slf, other)
            }
            fn __rmod__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::call::binary(&extenso_core::ops::REMAINDER, other, slf)
            }
            fn __divmod__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::call::divmod(slf, other)
            }
            fn __rdivmod__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::call::divmod(other, slf)
            }
            #[pyo3(signature = (ndigits=None, /))]
            fn __round__<'py>(slf: &Bound<'py, Self>, ndigits: Option<i64>) -> PyResult<Bound<'py, PyAny>> {
                crate::call::rounded(slf, ndigits)
            }
            fn __contains__(slf: &Bound<'_, Self>, item: &Bound<'_, PyAny>) -> PyResult<bool> {
                crate::call::contains(slf, item)
            }
            fn __format__(slf: &Bound<'_, Self>, spec: &str) -> PyResult<String> {
                crate::call::formatted(slf, spec)
            }
            fn __pow__<'py>(
                slf: &Bound<'py, Self>,
                other: &Bound<'py, PyAny>,
                modulo: Option<&Bound<'py, PyAny>>,
            ) -> PyResult<Bound<'py, PyAny>> {
                crate::call::power(slf, other, modulo)
            }
            fn __rpow__<'py>(
                slf: &Bound<'py, Self>,
                other: &Bound<'py, PyAny>,
                modulo: Option<&Bound<'py, PyAny>>,
            ) -> PyResult<Bound<'py, PyAny>> {
                crate::call::power(other, slf, modulo)
            }
            fn __matmul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::call::matmul(slf, other)
            }
            fn __rmatmul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::call::matmul(other, slf)
            }
            fn __and__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::call::binary(&extenso_core::ops::BITWISE_AND, slf, other)
            }
            fn __rand__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::call::binary(&extenso_core::ops::BITWISE_AND, other, slf)
            }
            fn __or__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::call::binary(&extenso_core::ops::BITWISE_OR, slf, other)
            }
            fn __ror__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::call::binary(&extenso_core::ops::BITWISE_OR, other, slf)
            }
            fn __xor__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::call::binary(&extenso_core::ops::BITWISE_XOR, slf, other)
            }
            fn __rxor__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::call::binary(&extenso_core::ops::BITWISE_XOR, other, slf)
            }
            fn __lshift__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::call::binary(&extenso_core::ops::BITWISE_LEFT_SHIFT, slf, other)
            }
            fn __rlshift__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::call::binary(&extenso_core::ops::BITWISE_LEFT_SHIFT, other, slf)
            }
            fn __rshift__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::call::binary(&extenso_core::ops::BITWISE_RIGHT_SHIFT, slf, other)
            }
            fn __rrshift__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::call::binary(&extenso_core::ops::BITWISE_RIGHT_SHIFT, other, slf)
            }
            fn __pos__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
                crate::call::unary(&extenso_core::ops::POSITIVE, slf)
            }
            fn __neg__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
                crate::call::unary(&extenso_core::ops::NEGATIVE, slf)
            }
            fn __abs__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
                crate::call::unary(&extenso_core::ops::ABS, slf)
            }
            fn __invert__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
                crate::call::unary(&extenso_core::ops::BITWISE_INVERT, slf)
            }
            $($method)*
        }
    };
}
pub(crate) use with_operators;
