"""Dispatch: handlers for ops and classes of ops, and the questions about them.

>>> import extenso as ex
>>> ex.dispatch.is_reduction_op(ex.sum)
True
"""

from extenso._core import (
    Op,
    OpClass,
    binary_elementwise,
    comparison,
    dispatch_for,
    effect,
    elementwise,
    is_binary_elementwise_op,
    is_reduction_op,
    is_unary_elementwise_op,
    linear,
    reduction,
    register_tensor_conversion_function,
    segment,
    structural,
    unary_elementwise,
    unregister,
)

__all__ = [
    "Op",
    "OpClass",
    "binary_elementwise",
    "comparison",
    "dispatch_for",
    "effect",
    "elementwise",
    "is_binary_elementwise_op",
    "is_reduction_op",
    "is_unary_elementwise_op",
    "linear",
    "reduction",
    "register_tensor_conversion_function",
    "segment",
    "structural",
    "unary_elementwise",
    "unregister",
]
