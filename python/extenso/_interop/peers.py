"""The libraries that a conversion may need, and what values are made of, as all conversions see it."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from extenso._core import DTypeError, ExtensionType, OpaqueExtension, ShapeError, StructTensor, Tensor, flatten, tensor
from extenso._types import BatchableExtensionType, Bool8Tensor, MaskedTensor, RaggedTensor

# Where a package has another name than the module.
_PACKAGES = {"tensorflow": "tensorflow-cpu"}


def peer(name: str, conversion: str) -> Any:
    """Returns the module of a library; where it is not installed, an error says what to install."""
    try:
        return import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] != name.partition(".")[0]:
            raise
        package = _PACKAGES.get(name, name)
        raise ModuleNotFoundError(f"{conversion} needs {name}: pip install {package}", name=name) from None


def kind_of(x: object) -> str:
    """Returns the name of an object's class, for messages."""
    return type(x).__qualname__


def refused(conversion: str, x: object, wanted: str, hint: str = "") -> DTypeError:
    """Returns the error of a value that has no counterpart."""
    text = f"{conversion}: found a value of type {kind_of(x)}.\nWanted: {wanted}."
    return DTypeError(f"{text} {hint}" if hint else text)


def refuse_scalar(x: Any, conversion: str) -> None:
    """Refuses one element, where a library has columns alone."""
    shape = x.mask.shape if isinstance(x, MaskedTensor) else getattr(x, "shape", None)
    # A class that a user wrote may call a component so.
    if isinstance(shape, tuple) and not shape:
        raise ShapeError(f"{conversion}: a scalar has no array.\nWanted: at least a vector. Use `expand_dims(x, 0)`.")


def of_tensor(x: Tensor, conversion: str, wanted: str = "numbers or booleans") -> Tensor:
    """Returns the tensor if its elements are numbers or booleans."""
    if x.dtype.name in ("string", "bytes", "variant"):
        raise DTypeError(
            f"{conversion}: found a tensor of {x.dtype.name}.\n"
            f"Wanted: {wanted}. Make numbers of text first, with `lookup` or `to_hash_bucket_fast`."
        )
    return x


def rows_of(x: RaggedTensor) -> "tuple[Tensor, Any]":
    """Returns the splits of the outer rows, from 0, and the values that are in rows; both share their memory."""
    return x.row_splits, flatten(x, axis=1)


def components_of(x: Any) -> "dict[str, Any]":
    """Returns the values that a value of a class that a user wrote is made of, by name; none of other values."""
    if type(x) is OpaqueExtension:
        return x.components
    if not isinstance(x, ExtensionType) or _is_shipped(x):
        return {}
    parts = {name: getattr(x, name) for name in getattr(type(x), "__match_args__", ())}
    return {name: part for name, part in parts.items() if isinstance(part, Tensor | ExtensionType | StructTensor)}


def _is_shipped(x: ExtensionType) -> bool:
    # The base of batchable types is no class of a value: who refines it says what the components are.
    return hasattr(type(x), "__extenso_rust__") and not isinstance(x, BatchableExtensionType)


def records_of(x: Any) -> Any:
    """Returns a value of a class that a user wrote as records of its components, and every other value as it is.

    The records of a batchable type have its shape, and those of any other type one axis.
    """
    parts = components_of(x)
    if not parts:
        return x
    return StructTensor(x.shape if isinstance(x, BatchableExtensionType) else [None], parts)


def parts_inside(x: Any) -> "list[Any]":
    """Returns the values that records, rows and masked values are made of; none of other values."""
    if isinstance(x, StructTensor):
        return [x.field_value((name,)) for name in x.field_names()]
    return [x.values] if isinstance(x, MaskedTensor | RaggedTensor) else []


# The component that is the numbers of a value which only says what they count.
_NUMBERS = {
    "extenso/TimestampTensor": "values",
    "extenso/DateTensor": "values",
    "extenso/TimeTensor": "values",
    "extenso/DurationTensor": "values",
    "extenso/CategoricalTensor": "codes",
    "extenso/FixedBytesTensor": "cells",
    "extenso/JsonTensor": "text",
}


def numbers_of(x: Any) -> Any:
    """Returns the numbers of times, dates and categories, and every other value as it is."""
    if isinstance(x, Bool8Tensor):
        return tensor(x)
    field = _NUMBERS.get(getattr(type(x), "__extenso_rust__", ""))
    return x if field is None else getattr(x, field)


def parts_of(
    x: Any, conversion: str, dense: "Callable[[Tensor], Any]", rows: "Callable[[RaggedTensor], Any]"
) -> Any:
    """Returns a value in the terms of a library that has tensors alone.

    A tensor is what `dense` makes of it and rows of numbers what `rows` does. Records become a dict of their fields,
    rows of records a dict of rows, masked values a dict of `values` and `mask`, and a value of a class that a user wrote
    a dict of its components. Times and dates are what they count, and categories their codes.
    """

    def inner(part: Any) -> Any:
        return parts_of(part, conversion, dense, rows)

    x = numbers_of(x)
    if isinstance(x, Tensor):
        return dense(x)
    if isinstance(x, StructTensor):
        return {name: inner(x.field_value((name,))) for name in x.field_names()}
    if isinstance(x, RaggedTensor):
        flat, splits = x.flat_values, x.nested_row_splits
        numbers = numbers_of(flat)
        if isinstance(numbers, Tensor):
            return rows(x if numbers is flat else RaggedTensor.from_nested_row_splits(numbers, splits))
        fields = _fields(flat, conversion)
        return {name: inner(RaggedTensor.from_nested_row_splits(part, splits)) for name, part in fields.items()}
    return {name: inner(part) for name, part in _fields(x, conversion).items()}


def _fields(x: Any, conversion: str) -> "dict[str, Any]":
    if isinstance(x, StructTensor):
        return {name: x.field_value((name,)) for name in x.field_names()}
    if isinstance(x, MaskedTensor):
        return {"values": x.values, "mask": x.mask}
    if parts := components_of(x):
        return parts
    raise refused(conversion, x, "tensors, rows, records, masked values, or a class with such components")

