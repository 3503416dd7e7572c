"""Tests of values as tensors of torch, and as keyed rows of torchrec."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import extenso as ex
import numpy as np
import pyarrow as pa
import pytest
from extenso._interop.torch import keyed
from interop_values import address

RECORDS = [{"ids": [1, 2], "one": 7, "some": None}, {"ids": [], "one": 8, "some": 9}]


def test_the_keys_are_fields_in_order() -> None:
    names, rows = keyed(ex.constant(RECORDS), ["some", "ids", "one"])
    assert names == ["some", "ids", "one"]
    assert [values.tolist() for values, _ in rows] == [[9], [1, 2], [7, 8]]
    assert [lengths.tolist() for _, lengths in rows] == [[0, 1], [2, 0], [1, 1]]
    assert keyed(ex.constant(RECORDS))[0] == ["ids", "one", "some"]
    assert keyed(ex.constant([[1], []]), ["k"])[1][0][1].tolist() == [1, 0]
    odd = ex.StructTensor([3], {
        "size": ex.tensor([[1, 2], [3, 4], [5, 6]]),
        "lists": ex.from_arrow(pa.array([[1, None], None, []])),
        "sized": ex.from_arrow(pa.array([[1, 2], None, [5, None]], pa.list_(pa.int64(), 2))),
        "whole": ex.from_arrow(pa.array([[1, 2], None, [5, 6]], pa.list_(pa.int64(), 2))),
        "inner": ex.constant([{"ids": [7]}, {"ids": []}, {"ids": [8, 9]}]),
    })
    names, rows = keyed(odd, ["size", "lists", "sized", "whole", ("inner", "ids")])
    assert names == ["size", "lists", "sized", "whole", "inner.ids"]
    assert [values.tolist() for values, _ in rows] == [[1, 2, 3, 4, 5, 6], [1], [1, 2, 5], [1, 2, 5, 6], [7, 8, 9]]
    assert [lengths.tolist() for _, lengths in rows] == [[2, 2, 2], [1, 0, 0], [2, 0, 1], [2, 0, 2], [1, 0, 2]]
    for value, keys in ((ex.constant([[1], []]), None), (ex.tensor([1]), ["a"]), (ex.constant([{"a": [[1], []]}]), None)):
        with pytest.raises(TypeError, match="to_kjt: found a value"):
            keyed(value, keys)
    with pytest.raises(TypeError, match="found a tensor of string"):
        keyed(ex.constant([{"a": ["x"]}, {"a": []}]))
    with pytest.raises(ValueError, match="there are no keys"):
        keyed(ex.constant(RECORDS), [])
    with pytest.raises(KeyError, match="missing"):
        keyed(ex.constant(RECORDS), ["missing"])


def test_the_call_of_torchrec_has_keys_values_and_lengths(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(**given: Any) -> Any:
        return given

    keyed_rows = SimpleNamespace(KeyedJaggedTensor=SimpleNamespace(from_lengths_sync=made))
    monkeypatch.setitem(sys.modules, "torchrec", keyed_rows)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(from_dlpack=np.from_dlpack))
    given = ex.constant(RECORDS).to_kjt(keys=["ids", "some"])
    assert given["keys"] == ["ids", "some"]
    assert given["values"].tolist() == [1, 2, 9] and given["lengths"].tolist() == [2, 0, 0, 1]


@pytest.fixture(name="torch")
def _torch() -> Any:
    return pytest.importorskip("torch", reason="the tests of torch need torch", exc_type=Exception)


def test_dense_tensors_are_shared(torch: Any) -> None:
    x = ex.tensor(np.arange(6.0).reshape(2, 3))
    made = x.to_torch()
    assert made.data_ptr() == address(x) and made.tolist() == x.tolist()
    assert ex.from_dlpack(made).tolist() == x.tolist()
    assert ex.tensor([True, False]).to_torch().tolist() == [True, False]
    with pytest.raises(TypeError, match="found a tensor of string"):
        ex.tensor(["a"]).to_torch()
    with pytest.raises(ValueError, match="'jagged' or 'strided'"):
        x.to_torch(layout="sparse")


def test_rows_are_jagged(torch: Any) -> None:
    rows = ex.constant([[1.5, 2.5], [], [3.5]])
    made = rows.to_torch()
    assert made.layout == torch.jagged and [row.tolist() for row in made.unbind()] == rows.to_py()
    assert made.values().data_ptr() == address(rows.flat_values)
    assert rows.to_torch(layout=torch.strided).tolist() == [[1.5, 2.5], [0.0, 0.0], [3.5, 0.0]]
    with pytest.raises(ValueError, match="2 ragged axes"):
        ex.constant([[[1], []], []]).to_torch()


def test_records_and_masked_values_are_dicts(torch: Any) -> None:
    made = ex.constant(RECORDS).to_torch()
    assert made["one"].tolist() == [7, 8] and made["some"]["mask"].tolist() == [False, True]
    assert [row.tolist() for row in made["ids"].unbind()] == [[1, 2], []]


def test_what_is_no_key_or_has_no_keyed_rows_is_refused_by_name() -> None:
    records = ex.constant([{"user": 1, "at": 0.5, "text": None}, {"user": 2, "at": 1.5, "text": "x"}])
    for keys, text in (
        ("user", "argument 'keys' has 'user'"),
        (["user", 1], "argument 'keys' has"),
        (3, "argument 'keys' has 3"),
        (["user", "user"], "the key 'user' comes twice"),
        (["user", "at"], "the values of 'user' are i64, those of 'at' f64"),
        (["text"], "found a tensor of string"),
    ):
        with pytest.raises(ex.Error, match=f"^to_kjt: {text}.*\nWanted: "):
            keyed(records, keys)
    kinds = ex.mask(ex.CategoricalTensor([0, 1], ["a", "b"]), [True, False])
    with pytest.raises(ex.DTypeError, match="^to_kjt: found a value of type CategoricalTensor"):
        keyed(ex.StructTensor([2], {"kind": kinds}))
