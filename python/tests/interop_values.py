"""Values of every nesting, for the laws of conversions, and what it means that two are the same."""

from __future__ import annotations

from typing import Any

import extenso as ex
import numpy as np

NUMBERS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32", "f64"]


def values() -> "dict[str, Any]":
    """Values with an outer axis, by what they are."""
    made: dict[str, Any] = {f"numbers {dtype}": ex.tensor([0, 1, 2], dtype) for dtype in NUMBERS}
    records = [
        {"id": 1, "user": {"name": "ada", "tags": ["x", "y"]}, "score": None, "items": [{"n": 1, "at": [0.5]}, {"n": 2, "at": []}]},
        {"id": 2, "user": {"name": "größe", "tags": []}, "score": -0.0, "items": []},
    ]
    return made | {
        "floats": ex.tensor([0.0, -0.0, float("nan"), float("inf")]),
        "booleans": ex.tensor([True, False, True]),
        "strings": ex.tensor(["", "größe", "a\0"]),
        "bytes": ex.tensor([b"", b"\xff\0"]),
        "matrix": ex.tensor(np.arange(6, dtype=np.float32).reshape(2, 3)),
        "rows": ex.constant([[1, 2], [], [3]]),
        "rows of i32 splits": ex.RaggedTensor.from_row_splits([1.5, 2.5], ex.tensor([0, 2, 2], "i32")),
        "rows of rows": ex.constant([[[1, 2], []], [], [[3]]]),
        "rows of strings": ex.constant([["a"], [], ["b", ""]]),
        "rows of vectors": ex.RaggedTensor.from_row_splits(np.zeros((3, 2)), [0, 1, 3]),
        "masked": ex.MaskedTensor(ex.tensor([1, 0, 3], "i16"), ex.tensor([True, False, True])),
        "masked strings": ex.constant(["a", None, ""]),
        "masked booleans": ex.constant([True, None]),
        "masked rows": ex.constant([[1], None, []]),
        "rows of masked": ex.constant([[1.5, None], []]),
        "records": ex.constant(records),
        "records in rows": ex.constant([[{"a": 1}, {"a": 2}], []]),
        "no rows": ex.constant([[1]])[:0],
        "no records": ex.constant(records)[:0],
        "records without fields": ex.StructTensor([3], {}),
    }


def same(x: Any, y: Any) -> None:
    """Asserts that two values have one spec and the same elements, zeros with their signs and all."""
    assert ex.spec_of(x) == ex.spec_of(y)
    assert repr(ex.to_py(x)) == repr(ex.to_py(y))


def address(array: Any) -> int:
    """The address of an array's memory."""
    found: int = np.asarray(array).__array_interface__["data"][0]
    return found
