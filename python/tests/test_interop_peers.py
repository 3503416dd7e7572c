"""Tests of what all conversions have alike: no library is needed before one is asked for, and every value has them."""

from __future__ import annotations

import doctest
import subprocess
import sys
from typing import Any

import extenso as ex
import pytest

CONVERSIONS = {
    "to_pandas": "pandas",
    "to_polars": "polars",
    "to_awkward": "awkward",
    "to_torch": "torch",
    "to_kjt": "torch",
    "to_jax": "jax",
    "to_tensorflow": "tensorflow",
}


class Point(ex.ExtensionType):
    x: ex.Tensor
    y: ex.Tensor


def every_kind() -> "list[Any]":
    return [
        ex.tensor([1.0]),
        ex.constant([[1], []]),
        ex.constant([1, None]),
        ex.constant([{"a": 1}]),
        Point(x=[1.0, 2.0], y=[3.0, 4.0]),
    ]


@pytest.mark.parametrize("conversion", CONVERSIONS)
def test_a_library_that_is_missing_is_named(conversion: str, monkeypatch: pytest.MonkeyPatch) -> None:
    peer = CONVERSIONS[conversion]
    monkeypatch.setitem(sys.modules, peer, None)
    for x in every_kind():
        with pytest.raises(ImportError, match=rf"^{conversion} needs {peer}: pip install {peer}"):
            getattr(x, conversion)()


@pytest.mark.parametrize("peer", ["pandas", "polars", "awkward"])
def test_what_comes_in_names_the_library_too(peer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, peer, None)
    with pytest.raises(ImportError, match=f"^from_{peer} needs {peer}: pip install {peer}$"):
        getattr(ex, f"from_{peer}")([1])


def test_importing_the_package_imports_no_library() -> None:
    program = "import sys, extenso; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert loaded.isdisjoint({*CONVERSIONS.values(), "pyarrow", "extenso._interop"}) and "extenso" in loaded


@pytest.mark.parametrize("peer", ["pandas", "polars", "awkward", "numpy"])
def test_a_class_of_a_user_is_records_of_its_components(peer: str) -> None:
    pytest.importorskip(peer, reason=f"this test needs {peer}")
    made = getattr(Point(x=[1.0, 2.0], y=[3.0, 4.0]), f"to_{peer}")()
    assert ex.to_py(getattr(ex, f"from_{peer}")(made)) == [{"x": 1.0, "y": 3.0}, {"x": 2.0, "y": 4.0}]


@pytest.mark.parametrize("conversion", [*CONVERSIONS, "to_numpy"])
def test_a_symbol_has_no_data_to_convert(conversion: str) -> None:
    peer = CONVERSIONS.get(conversion, "numpy")
    pytest.importorskip(peer, reason=f"this test needs {peer}", exc_type=Exception)

    def body(x: Any) -> Any:
        with pytest.raises(ex.Error):
            getattr(x, conversion)()
        return x

    ex.function(body)(ex.tensor([1.0]))
    ex.function(body)(ex.constant([[1], []]))
    ex.function(body)(ex.constant([{"a": 1}]))


@pytest.mark.parametrize("peer", ["numpy", "pandas", "polars", "awkward", "dlpack"])
def test_the_examples_print_what_they_show(peer: str) -> None:
    if peer != "dlpack":
        pytest.importorskip(peer, reason=f"this test needs {peer}")
    shown = [getattr(ex, f"from_{peer}"), getattr(ex.StructTensor, f"to_{peer}", None)]
    for function in shown:
        test = doctest.DocTestParser().get_doctest(getattr(function, "__doc__", None) or "", {}, peer, None, None)
        assert doctest.DocTestRunner(verbose=False).run(test).failed == 0
    assert ">>>" in shown[0].__doc__


@pytest.mark.parametrize("peer", ["pandas", "polars", "awkward"])
def test_one_element_is_no_column(peer: str) -> None:
    pytest.importorskip(peer, reason=f"this test needs {peer}")
    tags, children = ex.tensor([0, 1], "i8"), {"n": ex.tensor([1, 2]), "t": ex.tensor(["a", "b"])}
    lists, records, union = ex.constant([[1], None]), ex.constant([{"a": 1}, None]), ex.UnionTensor(tags, children)
    for x in (ex.tensor(1), ex.mask(True, False), lists[0], ex.TimestampTensor(0, "s"), records[0], union[0]):
        with pytest.raises(ex.ShapeError, match=f"^to_{peer}: a scalar has no array.\n.*expand_dims"):
            getattr(x, f"to_{peer}")()


def test_a_component_may_be_called_shape() -> None:
    pytest.importorskip("awkward", reason="this test needs awkward")

    class Box(ex.ExtensionType):
        shape: ex.Tensor

    records = ex.StructTensor([2], {"box": Box(shape=[1.0, 2.0])})
    assert records.to_awkward().to_list() == [{"box": {"shape": 1.0}}, {"box": {"shape": 2.0}}]
