"""Arrays and values inside dicts and lists keep their dtype; a field shares the memory of its array."""

from __future__ import annotations

import datetime as dt
import decimal
from typing import Any

import extenso as ex
import pytest

np: Any = pytest.importorskip("numpy", reason="NumPy is not installed, so that there are no arrays")


def test_an_array_in_a_field_keeps_dtype_and_memory() -> None:
    array = np.array([1.5, 2.5], dtype=np.float32)
    x = ex.constant({"a": array, "b": {"c": array}, "n": 1})
    assert x["a"].dtype == x["b", "c"].dtype == ex.f32
    assert np.shares_memory(np.asarray(x["a"]), array)
    assert np.shares_memory(np.asarray(x["b", "c"]), array)
    assert x.to_py() == {"a": [1.5, 2.5], "b": {"c": [1.5, 2.5]}, "n": 1}


def test_values_in_a_field_are_shared() -> None:
    rows, masked = ex.constant([[1], [2, 3]]), ex.constant([1, None])
    x = ex.constant({"rows": rows, "masked": masked, "t": ex.tensor([1, 2], dtype="u8")})
    assert x["t"].dtype == ex.u8
    assert x.to_py() == {"rows": [[1], [2, 3]], "masked": [1, None], "t": [1, 2]}


def test_arrays_in_lists_are_joined() -> None:
    def small(*items: int) -> Any:
        return np.array(items, dtype=np.int16)

    assert ex.constant([small(1, 2), small(3, 4)]).spec == ex.TensorSpec([2, 2], "i16")
    rows = ex.constant([small(1, 2), small(), small(3)])
    assert rows.to_py() == [[1, 2], [], [3]] and rows.values.dtype == ex.i16
    records = ex.constant([{"a": small(1)}, {"a": small(2, 3)}, {"a": None}])
    assert records.to_py() == [{"a": [1]}, {"a": [2, 3]}, {"a": None}]
    assert records["a"].values.values.dtype == ex.i16
    assert ex.constant([small(1, 2), [3, 4]]).to_py() == [[1, 2], [3, 4]]
    assert ex.constant([small(1), np.array([0.5])]).to_py() == [[1.0], [0.5]]
    assert ex.constant([np.float32(1.5), np.float32(2.5)]).dtype == ex.f32
    with pytest.raises(ex.Error, match=r"\[1\]"):
        ex.constant([small(1), "x"])


def test_a_spec_says_the_dtypes() -> None:
    spec = ex.StructTensorSpec([], {"a": ex.TensorSpec([2], "f64")})
    x = ex.constant({"a": np.array([1, 2], dtype=np.float32)}, spec)
    assert x["a"].dtype == ex.f64


def test_a_spec_of_times_takes_objects_and_texts() -> None:
    moment, day, hour = dt.datetime(2020, 1, 5, 3), dt.date(2020, 1, 5), dt.timedelta(hours=1)
    amount = decimal.Decimal("1.5")
    for item in (moment, day, hour, amount, dt.time(3, 4)):
        like = ex.constant([[item], [item, item], []])
        wanted = ex.constant([[item], [], [item, item]])
        given: Any = [[item], [], [item, item]]
        found = ex.constant(given, like.spec)
        assert found.spec == wanted.spec and found.to_py() == wanted.to_py()
        assert ex.constant(wanted.to_py(), like.spec).to_py() == wanted.to_py()
        masked = ex.constant([item, None])
        assert ex.constant([None, item], masked.spec).to_py() == [None, ex.constant([item]).to_py()[0]]
        record = ex.constant([{"a": item}])
        assert ex.constant([{"a": item}], record.spec).to_py() == record.to_py()
    milliseconds = ex.TimestampTensor(ex.constant([0]), "ms").spec
    assert ex.constant([moment], milliseconds).to_py() == ["2020-01-05T03:00:00"]
    with pytest.raises(ValueError, match=r"constant: \[0\]: found '2020-01-05T03:00:00.000001'"):
        ex.constant([moment + dt.timedelta(microseconds=1)], milliseconds)
    with pytest.raises(ValueError, match=r"constant: \[0\]: found an integer"):
        ex.constant([3], milliseconds)
    whole = ex.DecimalTensor.parse(["1"], 10, 2).spec
    assert ex.constant([3], whole).to_py() == ["3.00"]
    with pytest.raises(ex.Error, match="missing"):
        ex.constant([None], milliseconds)


def test_errors_name_what_was_called() -> None:
    months = np.array([1], dtype="m8[M]")
    with pytest.raises(ex.Error, match=r"^constant: found an array of timedelta64\[M\]"):
        ex.constant(months)
    with pytest.raises(ex.Error, match=r"^constant: .*a.*: found an array"):
        ex.constant({"a": months})
    with pytest.raises(ex.Error, match=r"^add: found an array of timedelta64\[M\]"):
        ex.add(ex.DurationTensor(ex.constant([1]), "s"), months)
    with pytest.raises(ex.Error, match=r"^from_numpy: found an array of timedelta64\[M\]"):
        ex.from_numpy(months)
    with pytest.raises(ex.Error, match=r"^constant: \[1\]: found 1E\+80"):
        ex.constant([decimal.Decimal(1), decimal.Decimal("1e80")])


def test_rows_of_one_length_have_it_as_the_spec_says() -> None:
    spec = ex.RaggedTensorSpec([None, 2, None], "i64")
    x = ex.constant([[[1], [2]], [[3], []]], spec)
    assert x.shape == (2, 2, None) and x.spec.is_subtype_of(spec) and x.to_py() == [[[1], [2]], [[3], []]]
    assert ex.function(lambda x: ex.sum(x, axis=2), input_signature=[spec])(x).to_py() == [[1, 2], [3, 0]]
    for given, path, size in (([[[1], [2]], [[3]]], r"\[1\]", 1), ([[[1], [2], [3]]], r"\[0\]", 3), ([[]], r"\[0\]", 0)):
        with pytest.raises(ex.ShapeError, match=f"constant: {path}: the list has {size} items.\nWanted: 2, as the spec"):
            ex.constant(given, spec)
    with pytest.raises(ex.ShapeError, match=r"\[0\]\[1\]: the list has 1 items.\nWanted: 3"):
        ex.constant([[[1, 2, 3], [4]], []], ex.RaggedTensorSpec([None, None, 3], "i64"))
    optional = ex.MaskedTensorSpec(spec)
    assert ex.constant([[[1], [2]], None], optional).to_py() == [[[1], [2]], None]
    with pytest.raises(ex.ShapeError, match="Wanted: 2"):
        ex.constant([[[1]], None], optional)


def test_where_an_object_does_not_fit_is_told_by_its_path() -> None:
    big, huge = 2**63, 2**70
    for given, text in [
        ([[1, 2], [3, "x"]], r"constant: \[1\]\[1\]: a string stands beside an integer"),
        ([None, [None, 1], [], [2, [3]]], r"constant: \[3\]\[1\]: a list stands beside an integer.\nWanted: equal nesting"),
        ([{"a": [1]}, {"a": None}, {"a": [2, None, b"x"]}], r"constant: \[2\].a\[2\]: bytes stands beside"),
        ([{"a": 1}, None, {"a": 1, "b": 2}], r"constant: \[2\].b: the first record has no such field"),
        ([[{"a": 1, "b": 1}], [{"b": 1, "a": 1}, {"b": 2}]], r"constant: \[1\]\[1\].a: the record has no such field"),
        ([{"a": 1}, [1]], r"constant: \[1\]: a list stands beside a record"),
        ([[1], 2], r"constant: \[1\]: an integer stands beside a list"),
        ([{"a": 1}, {1: 2}], r"constant: \[1\]: a record has the key 1"),
        ({"a": {"b": [1, {1, 2}]}}, r"constant: a.b\[1\]: found a value of type set"),
        ([[], [0.5, [object()]]], r"constant: \[1\]\[1\]: a list stands beside a float"),
        ([[[object()]]], r"constant: \[0\]\[0\]\[0\]: found a value of type object"),
        ([-1, None, big], r"constant: \[0\]: -1 stands beside an integer above the largest i64"),
        ([[1], [huge]], r"\[1\]\[0\]"),
        (["a", "\ud800"], r"surrogates"),
        ([ex.constant([1, 2]), [3, {1}]], r"constant: \[1\]\[1\]: found a value of type set"),
        ([ex.constant({"a": 1}), {"a": {"b": [{1}]}}], r"constant: \[1\].a.b\[0\]: found a value of type set"),
    ]:
        with pytest.raises((ex.Error, OverflowError, UnicodeError), match=text):
            ex.constant(given)
    assert ex.constant([big, 0.5, -1]).tolist() == [float(big), 0.5, -1.0]
    assert ex.constant([1, None, big]).dtype == ex.u64


def test_lists_in_themselves_are_refused_at_once() -> None:
    alone: "list[Any]" = []
    alone.append(alone)
    many: "list[Any]" = [[]]
    many.extend([many] * 1000)
    record: "dict[str, Any]" = {"a": 1}
    record["b"] = [record, {"a": 1, "b": []}]
    deep: "Any" = 1
    for _ in range(80):
        deep = [deep]
    for given in [alone, many, record, [record], deep, {"a": deep}]:
        with pytest.raises(ex.Error, match="deeper"):
            ex.constant(given)


class _Int(int):
    pass


class _List(list):  # type: ignore[type-arg]
    pass


def test_random_nests_come_back() -> None:
    random = np.random.default_rng(3)

    def leaf(kind: int) -> Any:
        i = int(random.integers(-5, 5))
        return [i, i / 2, f"t\u00e9xt {i}", f"{i}".encode(), i > 0, _Int(i), np.float64(i)][kind]

    def spec(depth: int) -> Any:
        kind = int(random.integers(0, 3)) if depth else 0
        if kind == 1:
            return [spec(depth - 1)]
        if kind == 2:
            return {f"f{i}": spec(depth - 1) for i in range(random.integers(1, 4))}
        return int(random.integers(0, 7))

    def item(of: Any, missing: float) -> Any:
        if random.random() < missing:
            return None
        if isinstance(of, dict):
            names = list(of)
            random.shuffle(names)
            return {name: item(of[name], missing) for name in names}
        if isinstance(of, list):
            items = [item(of[0], missing) for _ in range(random.integers(0, 4))]
            return [items, tuple(items), _List(items)][int(random.integers(0, 3))]
        return leaf(of)

    def plain(x: Any) -> Any:
        if isinstance(x, dict):
            return {name: plain(item) for name, item in x.items()}
        return [plain(item) for item in x] if isinstance(x, (list, tuple)) else x

    for i in range(400):
        of = spec(4)
        rows = [item(of, 0.0 if i % 2 else 0.2) for _ in range(random.integers(0, 6))]
        if not i % 2 and not any(row is not None for row in rows):
            continue
        value = ex.constant(rows)
        assert ex.to_py(value) == plain(rows), (of, rows)
        # What the values are, and not only how they show.
        again = ex.constant(plain(rows), ex.spec_of(value))
        assert ex.to_py(again) == plain(rows)


def test_classes_with_lengths_and_hashes_of_their_own_hold_what_they_hold() -> None:
    class Record(dict):  # type: ignore[type-arg]
        def __len__(self) -> int:
            return 1

    class Long(list):  # type: ignore[type-arg]
        def __len__(self) -> int:
            return 10**12

    class Name(str):
        def __hash__(self) -> int:
            return hash(self.lower())

        def __eq__(self, other: object) -> bool:
            return isinstance(other, str) and self.lower() == other.lower()

    rows = [{"a": 1, "b": 2}, {"a": 3, "b": 4}]
    assert ex.constant([Record(rows[0]), Record(rows[1])]).to_py() == rows
    assert ex.constant([Long([1, 2]), Long([3, 4])]).to_py() == [[1, 2], [3, 4]]
    assert ex.constant([{Name("Ab"): 1}, {"Ab": 2}, {Name("Ab"): 3}]).to_py() == [{"Ab": 1}, {"Ab": 2}, {"Ab": 3}]
    with pytest.raises(ex.Error, match=r"\[1\].ab: the first record has no such field"):
        ex.constant([{Name("Ab"): 1}, {Name("ab"): 2}])
