"""A value means the same wherever it is handed in."""

import collections
import collections.abc
import datetime as dt
import types
import uuid
from typing import Any

import pytest

import extenso as ex


def test_a_frame_of_pandas_means_the_same_everywhere() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"x": [1.0, float("nan")]}, index=pd.Index([5, 6]))
    wanted = str(ex.to_py(ex.from_pandas(frame)))
    assert str(ex.to_py(ex.read_arrow(frame))) == wanted
    assert ex.infer_spec(frame).is_compatible_with(ex.from_pandas(frame))
    total = ex.function(lambda r: ex.sum(r["x"]))
    assert str(total(frame)) == str(total.run(frame)) == str(total(ex.from_pandas(frame)))
    assert ex.write_json(frame) == b'{"index":5,"x":1.0}\n{"index":6,"x":"NaN"}\n'
    columns = pd.MultiIndex.from_tuples([("p", "q"), ("p", "r")])
    nested = pd.DataFrame([[1, 2]], columns=columns)
    inner = ex.function(lambda r: r["p", "q"])
    assert inner(nested).tolist() == inner.run(nested).tolist() == [1]
    # As Arrow it is what pyarrow makes of it.
    assert ex.to_py(ex.from_arrow(frame))[1]["x"] is None


def test_uuids_are_values_and_compare_with_their_text() -> None:
    text = "01234567-89ab-cdef-0123-456789abcdef"
    x = ex.constant([uuid.UUID(text), None, uuid.UUID(int=1)])
    assert ex.to_py(x == text) == [True, None, False]
    assert ex.to_py(x != text.upper()) == [False, None, True]
    assert ex.to_py(x == uuid.UUID(text)) == [True, None, False]
    with pytest.raises(ex.Error, match="equal: found 'x'.*\n.*a uuid"):
        x == "x"


def test_nests_of_values_become_nests() -> None:
    given = {"a": ex.tensor([1, 2]), "b": (ex.constant([[1], []]), [ex.tensor(0.5)])}
    assert ex.to_py(given) == {"a": [1, 2], "b": ([[1], []], [0.5])}


def test_booleans_of_eight_bits_choose() -> None:
    pa = pytest.importorskip("pyarrow")
    x = ex.tensor([10, 20])
    there = ex.from_arrow(pa.array([False, True]).cast(pa.bool8()))
    assert x[there].tolist() == [20]
    assert ex.where(there, x, 0).tolist() == [0, 20]
    records = ex.constant([{"a": 1}, {"a": 2}])
    assert ex.to_py(records[there]) == [{"a": 2}]


def test_utc_has_several_names() -> None:
    pa = pytest.importorskip("pyarrow")
    at = dt.datetime(2024, 1, 2, tzinfo=dt.timezone.utc)
    spec = ex.infer_spec(pa.table({"at": pa.array([at], pa.timestamp("us", "UTC"))}))
    for zone in ("Etc/UTC", "+00:00", "UTC"):
        table = pa.table({"at": pa.array([at], pa.timestamp("us", zone))})
        assert ex.from_arrow(table, spec)["at"].zone == "UTC"
    elsewhere = pa.table({"at": pa.array([at], pa.timestamp("us", "+01:00"))})
    with pytest.raises(ex.DTypeError, match="'at'"):
        ex.from_arrow(elsewhere, spec)


def test_a_function_for_a_spec_takes_tables() -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"k": pa.array(["a", "b"]).dictionary_encode(), "x": [1, 2], "n": pa.array([[1], None])})
    f = ex.function(lambda r: r["x"] + ex.fill_none(ex.sum(r["n"], axis=1), 0))
    concrete = f.get_concrete_function(ex.infer_spec(table))
    assert concrete(table).tolist() == concrete.run(table).tolist() == f(table).tolist() == [2, 2]
    with pytest.raises(ex.DTypeError, match="'x'"):
        concrete(table.set_column(1, "x", pa.array(["a", "b"])))


def test_nests_end() -> None:
    endless: list[object] = []
    endless.append(endless)
    deep: object = ex.tensor(1)
    for _ in range(200):
        deep = {"a": (deep,)}
    for nest in (endless, deep):
        with pytest.raises(ex.InvalidValueError, match="to_py: a nest is deeper than 100"):
            ex.to_py(nest)


def test_sequences_are_lists_of_their_items() -> None:
    assert ex.tensor(range(3)).tolist() == [0, 1, 2]
    assert ex.tensor(range(3), dtype="f32").tolist() == [0.0, 1.0, 2.0]
    assert ex.add(range(3), collections.deque([1, 2, 3])).tolist() == [1, 3, 5]
    assert ex.add([range(3), range(1)], 1).to_py() == [[1, 2, 3], [1]]
    assert ex.constant([range(3), range(1)]).to_py() == [[0, 1, 2], [0]]
    assert ex.constant(collections.deque([{"a": range(2)}, {"a": None}])).to_py() == [{"a": [0, 1]}, {"a": None}]
    assert ex.constant([types.MappingProxyType({"a": 1})])["a"].tolist() == [1]
    assert ex.tensor([ex.tensor(1), 2]).tolist() == ex.tensor(collections.deque([ex.tensor(1), 2])).tolist() == [1, 2]

    class Itself(collections.abc.Sequence):  # type: ignore[type-arg]
        def __len__(self) -> int:
            return 1

        def __getitem__(self, i: Any) -> Any:
            if i:
                raise IndexError
            return self

    for reader in (ex.tensor, ex.constant, ex.negative):
        with pytest.raises(ex.Error, match="deeper"):
            reader(Itself())
    with pytest.raises(ex.Error, match="type set"):
        ex.tensor({1, 2})
    for text in (collections.UserString("abc"), bytearray(b"abc")):
        with pytest.raises(ex.Error, match="type UserString|type bytearray"):
            ex.constant(text)
