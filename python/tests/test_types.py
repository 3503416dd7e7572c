"""Tests of `types`: the interfaces, asked at run time and by a type checker."""

from __future__ import annotations

import doctest
import pathlib
import subprocess
import sys
from typing import Any

import extenso as ex
import numpy as np
import pytest
from extenso import types


class Pair(ex.ExtensionType):
    first: ex.Tensor
    name: str = ""


def things() -> dict[str, Any]:
    f = ex.function(lambda x: x)
    return {
        "tensor": ex.tensor([1]),
        "dtype": ex.f32,
        "shape": ex.Shape([None, 2]),
        "variable": ex.Variable("v", 1.0),
        "partition": ex.RowPartition.from_row_lengths([1, 2]),
        "ragged": ex.constant([[1], []]),
        "struct": ex.constant([{"a": 1}]),
        "pair": Pair([1.0]),
        "function": f,
        "concrete": f.get_concrete_function(ex.tensor([1])),
        "array": np.zeros(2),
        "number": 1,
        "list": [1],
        "text": "a",
        "none": None,
        "numpy dtype": np.dtype("f4"),
    }


@pytest.mark.parametrize(
    ("interface", "has"),
    [
        (types.Tensor, {"tensor"}),
        (types.Value, {"tensor"}),
        (types.Symbol, set()),
        (types.DType, {"dtype"}),
        (types.Shape, {"shape"}),
        (types.Variable, {"variable"}),
        (types.RowPartition, {"partition"}),
        (types.Composite, {"ragged", "struct", "pair"}),
        (types.Function, {"function"}),
        (types.ConcreteFunction, {"concrete"}),
        (types.TensorLike, {"tensor", "variable", "array", "number", "list", "text"}),
    ],
)
def test_what_has_an_interface(interface: Any, has: set[str]) -> None:
    assert {name for name, thing in things().items() if isinstance(thing, interface)} == has


def test_symbols_are_tensors_and_no_values() -> None:
    seen: list[Any] = []

    @ex.function
    def f(x: ex.Tensor, rows: ex.RaggedTensor) -> ex.Tensor:
        seen.extend(isinstance(x, kind) for kind in (types.Tensor, types.Symbol, types.Value, types.TensorLike))
        seen.append(isinstance(rows, types.Composite))
        return x

    f(ex.tensor([1.0]), ex.constant([[1], []]))
    assert seen == [True, True, False, True, True]


def test_every_name_is_there_and_the_examples_hold() -> None:
    assert ex.types is types and all(hasattr(types, name) for name in types.__all__)
    results = doctest.testmod(types)
    assert results.attempted > 0 and results.failed == 0


def test_type_checkers_know_the_interfaces(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("mypy")
    source = """
import extenso as ex

def shape(x: ex.types.Tensor) -> tuple[int | None, ...]:
    return x.shape

def made(x: ex.types.TensorLike) -> ex.types.Tensor:
    return ex.tensor(x)

def assigned(v: ex.types.Variable, dtype: ex.types.DType) -> ex.types.Tensor:
    return v.assign(1)

def traced(f: ex.types.Function) -> ex.types.ConcreteFunction:
    return f.get_concrete_function(ex.tensor(1))

class Pair(ex.ExtensionType):
    first: ex.Tensor

def composite(x: ex.types.Composite) -> ex.types.Composite:
    return x

shape(ex.tensor([1]))
made([1, 2]), made(1.5), made(ex.tensor(1))
assigned(ex.Variable("v", 1), ex.f32)
traced(ex.function(lambda x: x))
composite(Pair(ex.tensor(1)))
"""
    wrong = ["shape(1)", "made(None)", 'assigned(ex.tensor(1), "f32")', "traced(len)", "composite(3)"]
    path = tmp_path / "checked.py"
    path.write_text(source + "\n".join(wrong) + "\n")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    first = source.count("\n") + 1
    lines = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
    assert lines == set(range(first, first + len(wrong))), done.stdout
