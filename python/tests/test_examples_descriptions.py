"""TensorFlow's feature descriptions: what examples are read by them. The classes here stand for TensorFlow's."""

from __future__ import annotations

import struct
from collections import namedtuple
from types import SimpleNamespace
from typing import Any

import extenso as ex
import pytest
from extenso._interop import examples

MODULE = "tensorflow.python.ops.parsing_config"
INT, FLOAT, STRING, INT32 = (SimpleNamespace(name=name) for name in ("int64", "float32", "string", "int32"))


def stand_in(name: str, fields: str, *defaults: object) -> Any:
    made = namedtuple(name, fields.split(), defaults=defaults, module=MODULE)  # type: ignore[misc]
    return made


FixedLen = stand_in("FixedLenFeature", "shape dtype default_value", None)
VarLen = stand_in("VarLenFeature", "dtype")
FixedLenSequence = stand_in("FixedLenSequenceFeature", "shape dtype allow_missing default_value", False, None)
Sparse = stand_in("SparseFeature", "index_key value_key dtype size already_sorted", False)
Ragged = stand_in("RaggedFeature", "dtype value_key partitions row_splits_dtype validate", None, (), INT32, False)
for kind in ("RowSplits", "RowLengths", "RowStarts", "RowLimits", "ValueRowIds"):
    setattr(Ragged, kind, stand_in(kind, "key"))
Ragged.UniformRowLength = stand_in("UniformRowLength", "length")


def varint(n: int) -> bytes:
    n %= 1 << 64
    return bytes([n]) if n < 128 else bytes([n % 128 + 128]) + varint(n >> 7)


def sized(number: int, data: bytes) -> bytes:
    return bytes([number << 3 | 2]) + varint(len(data)) + data


def feature(values: "list[Any]") -> bytes:
    """A feature whose list is of the kind of the first value; without values it has no kind, and is missing."""
    if not values:
        return b""
    if isinstance(values[0], bytes):
        return sized(1, b"".join(sized(1, value) for value in values))
    if isinstance(values[0], float):
        return sized(2, sized(1, struct.pack(f"<{len(values)}f", *values)))
    return sized(3, sized(1, b"".join(map(varint, values))))


def features_of(values: "dict[str, bytes]") -> bytes:
    return b"".join(sized(1, sized(1, name.encode()) + sized(2, value)) for name, value in values.items())


def example(**features: "list[Any]") -> bytes:
    return sized(1, features_of({name: feature(values) for name, values in features.items()}))


def sequence_example(context: "dict[str, list[Any]]", **lists: "list[list[Any]]") -> bytes:
    steps = {name: b"".join(sized(1, feature(step)) for step in list) for name, list in lists.items()}
    return example(**context) + sized(2, features_of(steps))


def check(messages: "list[bytes]", features: Any, expect: "list[Any]") -> Any:
    """Reads messages eagerly and in a traced function, which give the same, and returns the records."""
    d = examples.described(features)
    assert d is not None
    x = ex.tensor(messages, "bytes")
    traced = ex.function(lambda m: d.finish(ex.parse_examples(m, d.spec, sequence=d.sequence)))
    read = d.finish(ex.read_examples(messages, d.spec, sequence=d.sequence))
    for records in (read, traced(x), examples.read(ex.parse_examples, x, d, sequence=d.sequence)):
        assert ex.to_py(records) == expect
    return read


def refuses(features: Any, text: str, *messages: bytes) -> None:
    """Reading, and running what was traced, raises an error with this text; ops do not know the name."""
    d = examples.described(features)
    assert d is not None
    with pytest.raises(ex.Error, match=text):
        d.finish(ex.read_examples([*messages], d.spec, sequence=d.sequence))
    traced = ex.function(lambda m: d.finish(ex.parse_examples(m, d.spec, sequence=d.sequence)))
    with pytest.raises(ex.Error, match="row|value|length"):
        traced(ex.tensor([*messages], "bytes"))


def test_only_features_of_tensorflow_are_described() -> None:
    spec = ex.TensorSpec([None], "i64")
    alike = namedtuple("VarLenFeature", ["dtype"])(INT)
    others: list[Any] = [None, spec, {}, {"a": spec}, ({}, {}), [None, None], 7, "ab", {"a": VarLen}, {"a": alike}]
    for other in others:
        assert examples.described(other) is None
    assert not examples.described({"a": VarLen(INT)}).sequence  # type: ignore[union-attr]
    for pair in ((None, {"a": VarLen(INT)}), [{"a": VarLen(INT)}, {}]):
        assert examples.described(pair).sequence  # type: ignore[union-attr]


def test_what_is_of_fixed_length_is_dense_and_missing_ones_are_the_default() -> None:
    features = {
        "id": FixedLen([], INT),
        "a/b.c": FixedLen((2,), FLOAT, [0.5, 1.5]),
        "name": FixedLen([], "string", "é"),
        "grid": FixedLen([1, 2], INT, [[7, 8]]),
        "one": FixedLen(1, INT, -1),
    }
    full: dict[str, Any] = {"id": [3], "a/b.c": [2.0, 4.0], "name": [b"\xff"], "grid": [1, 2], "one": [5]}
    wanted = {"id": 3, "a/b.c": [2.0, 4.0], "name": b"\xff", "grid": [[1, 2]], "one": [5]}
    default = {"id": -4, "a/b.c": [0.5, 1.5], "name": "é".encode(), "grid": [[7, 8]], "one": [-1]}
    records = check([example(**full), example(id=[-4], name=[])], features, [wanted, default])
    assert isinstance(records["grid"], ex.Tensor) and list(records["grid"].shape) == [2, 1, 2]
    assert check([], features, [])["name"].dtype.name == "bytes"


def test_a_feature_without_default_must_be_there() -> None:
    refuses({"id": FixedLen([], INT)}, "row 1, .*'id': 0 values came", example(id=[1]), example(other=[1]))
    refuses({"id": FixedLen([], INT, 0)}, "row 0, .*'id': 2 values came", example(id=[1, 2]))


def test_what_is_of_any_length_is_rows() -> None:
    features = {"tags": VarLen(STRING), "x": VarLen(FLOAT), "pairs": FixedLenSequence([2], INT, True, 9)}
    messages = [example(tags=[b"a", b"b"], x=[1.5], pairs=[1, 2, 3, 4]), example(tags=[])]
    full = {"tags": [b"a", b"b"], "x": [1.5], "pairs": [[1, 2], [3, 4]]}
    records = check(messages, features, [full, {"tags": [], "x": [], "pairs": []}])
    assert records["pairs"].to_tensor(9).tolist() == [[[1, 2], [3, 4]], [[9, 9], [9, 9]]]
    refuses(features, "'pairs': 3 values came", example(pairs=[1, 2, 3]))


STORED = {
    "RowLengths": [2, 0, 1],
    "RowSplits": [0, 2, 2, 3],
    "RowLimits": [2, 2, 3],
    "RowStarts": [0, 2, 2],
    "ValueRowIds": [0, 0, 2],
}


@pytest.mark.parametrize("kind", STORED)
def test_every_kind_of_partition_says_the_same_of_rows(kind: str) -> None:
    features = {"x": Ragged(STRING, "v", [getattr(Ragged, kind)("p")])}
    messages = [example(v=[b"a", b"b", b"c"], p=STORED[kind]), example(), example(v=[b"d", b"e", b"f"], p=STORED[kind])]
    first, last = [[b"a", b"b"], [], [b"c"]], [[b"d", b"e"], [], [b"f"]]
    check(messages, features, [{"x": first}, {"x": []}, {"x": last}])


@pytest.mark.parametrize("kind", STORED)
def test_a_partition_never_moves_values_to_another_example(kind: str) -> None:
    features = {"x": Ragged(INT, "v", [getattr(Ragged, kind)("p")])}
    # Both together have six values, and the partitions cut six.
    short = {"RowLengths": [2], "RowSplits": [0, 2], "RowLimits": [2], "RowStarts": [1], "ValueRowIds": [0, 0]}[kind]
    long = {"RowLengths": [4], "RowSplits": [0, 4], "RowLimits": [4], "RowStarts": [-1], "ValueRowIds": [0] * 4}[kind]
    messages = [example(v=[1, 2, 3], p=short), example(v=[4, 5, 6], p=long)]
    refuses(features, f"feature 'x': {kind} 'p': .*row 0", *messages)
    refuses(features, f"feature 'x': {kind} 'p'", example(v=[1, 2, 3], p=[2**40, -1]))
    # Rows of one value each would stand beside rows of any number, if they were repeated.
    short, long = {"RowStarts": ([1], [-1]), "ValueRowIds": ([], [0, 0])}.get(kind, ([0], [2]))
    short, long = ([0, *short], [0, *long]) if kind == "RowSplits" else (short, long)
    refuses(features, f"feature 'x': {kind} 'p': .*row 0", example(v=[1], p=short), example(v=[2], p=long))


def test_partitions_are_applied_from_the_innermost_on() -> None:
    rows, limits, even = Ragged.RowLengths("outer"), Ragged.RowLimits("inner"), Ragged.UniformRowLength(2)
    features = {
        "two": Ragged(INT, "v", [rows, limits]),
        "one": Ragged(INT, "v", [limits]),
        "none": Ragged(INT, "v"),
        "v": Ragged(INT, None, [even]),
        "dense": Ragged(INT, "v", [even, Ragged.UniformRowLength(3)]),
        "pairs": Ragged(INT, "v", [even, limits]),
        "three": Ragged(INT, "v", [Ragged.UniformRowLength(1), rows, limits]),
    }
    cut = [[1, 2], [], [3], [4, 5, 6]]
    wanted = {
        "two": [[], [[1, 2], [], [3]], [[4, 5, 6]]],
        "one": cut,
        "none": [1, 2, 3, 4, 5, 6],
        "v": [[1, 2], [3, 4], [5, 6]],
        "dense": [[[1, 2, 3], [4, 5, 6]]],
        "pairs": [cut[:2], cut[2:]],
        "three": [[[]], [cut[:3]], [cut[3:]]],
    }
    messages = [example(v=[1, 2, 3, 4, 5, 6], outer=[0, 3, 1], inner=[2, 2, 3, 6]), example()]
    records = check(messages, features, [wanted, dict.fromkeys(wanted, [])])
    assert list(records["dense"].shape)[2:] == [2, 3] and records["dense"].ragged_rank == 1
    odd = [example(v=[1, 2, 3], outer=[1], inner=[3]), example(v=[4], outer=[1], inner=[1])]
    refuses(features, "feature 'v': UniformRowLength of 2: .*row 0", *odd)


def test_splits_have_the_width_that_is_said() -> None:
    for said, wanted in ((INT32, "i32"), (INT, "i64")):
        cuts = [Ragged.RowLengths("p"), Ragged.ValueRowIds("q")]
        features = {"x": Ragged(INT, "v", cuts, said), "y": Ragged(INT, "v", (), said)}
        records = check([example(v=[1, 2], p=[1], q=[0, 0])], features, [{"x": [[[1, 2]]], "y": [1, 2]}])
        assert {splits.dtype.name for splits in records["x"].nested_row_splits} == {wanted}
        assert records["y"].row_splits.dtype.name == wanted


def test_sparse_features_are_rows_of_values_by_their_indices() -> None:
    features = {
        "one": Sparse("i", "v", FLOAT, 9),
        "two": Sparse(["i", "j"], "v", FLOAT, [9, 9]),
        "stored": Sparse("i", "v", FLOAT, 9, True),
    }
    messages = [example(i=[5, 2, 5], j=[1, 0, 0], v=[0.5, 1.5, 2.5]), example()]
    one = [{"indices": 2, "values": 1.5}, {"indices": 5, "values": 0.5}, {"indices": 5, "values": 2.5}]
    two = [{"indices": [2, 0], "values": 1.5}, {"indices": [5, 0], "values": 2.5}, {"indices": [5, 1], "values": 0.5}]
    full = {"one": one, "two": two, "stored": [one[1], one[0], one[2]]}
    records = check(messages, features, [full, {"one": [], "two": [], "stored": []}])
    assert ex.to_py(records["two", "values"]) == [[1.5, 2.5, 0.5], []]
    messages = [example(i=[1], v=[0.5, 1.5]), example(i=[1, 2, 3], v=[0.5, 1.5])]
    for name in ("one", "stored"):
        refuses({name: features[name]}, f"feature '{name}': .*row 0", *messages)
    refuses({"two": features["two"]}, "feature 'two': .*row 0", example(i=[1, 2], j=[1], v=[0.5, 1.5]))
    # Rows of one index each would stand beside rows of any number, if they were repeated.
    refuses({"one": features["one"]}, "feature 'one': .*row 0", example(i=[1], v=[0.5, 1.5]), example(i=[1]))


def test_sequence_examples_are_a_context_and_features_of_steps() -> None:
    context = {"id": FixedLen([], INT, -1), "tags": Ragged(STRING, "t", [Ragged.RowLengths("l")])}
    lists = {
        "xy": FixedLenSequence([2], FLOAT),
        "ids": VarLen(INT),
        "rows": Ragged(INT, "v", [Ragged.UniformRowLength(1), Ragged.RowLengths("l")]),
        "v": Ragged(INT),
    }
    steps: dict[str, Any] = {"xy": [[0.5, 1.0], [1.5, 2.0]], "ids": [[1], [], [2, 3]], "v": [[1, 2, 3], []]}
    messages = [sequence_example({"id": [7], "t": [b"a"], "l": [0, 1]}, **steps, l=[[1, 2], []]), b""]
    full = {"context": {"id": 7, "tags": [[], [b"a"]]}, "feature_lists": {**steps, "rows": [[[[1]], [[2, 3]]], []]}}
    empty = {"context": {"id": -1, "tags": []}, "feature_lists": dict.fromkeys(lists, [])}
    check(messages, (context, lists), [full, empty])
    check(messages, (context, None), [{"context": row["context"]} for row in (full, empty)])
    check(messages, ({}, lists), [{"feature_lists": row["feature_lists"]} for row in (full, empty)])
    rows = (None, {"rows": lists["rows"]})
    refuses(rows, "feature 'rows': .*row 0 has 1 values.* and 2", sequence_example({}, v=[[1], [2]], l=[[1]]))
    refuses(rows, "feature 'rows': RowLengths 'l': .*row 1", sequence_example({}, v=[[1], [2]], l=[[1], [2]]))


def test_records_have_the_axes_of_the_messages() -> None:
    d = examples.described({"x": Ragged(INT, "v", [Ragged.RowLimits("p")]), "n": FixedLen([], INT, 0)})
    assert d is not None
    traced = ex.function(lambda m: d.finish(ex.parse_examples(m, d.spec)))
    full, none = example(v=[1, 2, 3], p=[1, 3], n=[4]), b""
    row, rest = {"x": [[1], [2, 3]], "n": 4}, {"x": [], "n": 0}
    cases: list[tuple[Any, Any]] = [
        (full, row),
        (none, rest),
        ([[full, none], [none, full]], [[row, rest], [rest, row]]),
        ([[full], [], [none, full]], [[row], [], [rest, row]]),
        ([full, None], [row, None]),
        ([[full, None], []], [[row, None], []]),
        ([[none], None], [[rest], None]),
    ]
    for messages, wanted in cases:
        assert ex.to_py(traced(ex.constant(messages))) == wanted


def test_rows_of_no_values_are_empty_in_one_example_as_in_many() -> None:
    features = {"x": FixedLenSequence([], INT, True), "pairs": FixedLenSequence([2], INT, True, 9)}
    for messages, shapes in ((b"", ((0,), (0, 2))), (example(x=[1], pairs=[1, 2, 3, 4]), ((1,), (2, 2)))):
        record = ex.parse_examples(messages, features)
        assert (record["x"].shape, record["pairs"].shape) == shapes
    assert ex.to_py(ex.parse_examples([b""], features)) == [{"x": [], "pairs": []}]


MISFITS: "list[tuple[Any, bytes, bytes, Any, Any]]" = [
    (Sparse("i", "v", INT, 9), example(i=[1], v=[7]), example(i=[1, 2], v=[7]), [{"indices": 1, "values": 7}], []),
    (Sparse(["i"], "v", INT, [9]), example(i=[1], v=[7]), example(v=[7]), [{"indices": [1], "values": 7}], []),
    (Ragged(INT, "v", [Ragged.RowLengths("i")]), example(i=[1], v=[7]), example(i=[2], v=[7]), [[7]], []),
    (Ragged(INT, "v", [Ragged.RowSplits("i")]), example(i=[0, 1], v=[7]), example(i=[0, -1], v=[7]), [[7]], []),
    (Ragged(INT, "v", [Ragged.UniformRowLength(2)]), example(v=[7, 8]), example(v=[7]), [[7, 8]], []),
]


@pytest.mark.parametrize(("feature", "good", "odd", "full", "none"), MISFITS)
def test_examples_whose_parts_disagree_are_bad_ones(feature: Any, good: bytes, odd: bytes, full: Any, none: Any) -> None:
    features = {"x": feature, "n": FixedLen([], INT, 3)}
    messages = [good, odd, b"\xff", good, odd]
    row, rest = {"x": full, "n": 3}, {"x": none, "n": 3}
    with pytest.raises(ex.Error, match="feature 'x'"):
        ex.read_examples([good, odd], features)
    records, bad = ex.read_examples(messages, features, on_error="skip")
    assert (ex.to_py(records), bad.rows, [row.row for row in bad.first]) == ([row, row], [1, 2, 4], [1, 2, 4])
    assert bad.first[0].message.startswith("row 1: feature 'x'")
    records, bad = ex.read_examples(messages, features, on_error="default")
    assert (ex.to_py(records), bad.rows) == ([row, rest, rest, row, rest], [1, 2, 4])
    assert bad.defaulted.tolist() == [False, True, True, False, True]
    records, flags = ex.parse_examples(ex.constant([[good, odd], [], [good]]), features, on_error="default")
    assert (ex.to_py(records), ex.to_py(flags)) == ([[row, rest], [], [row]], [[False, True], [], [False]])
    record, flag = ex.parse_examples(odd, features, on_error="default")
    assert (ex.to_py(record), ex.to_py(flag)) == (rest, True)


def test_a_graph_decodes_the_features_that_it_uses() -> None:
    rows = Ragged(INT, "v", [Ragged.RowLimits("p")])
    d = examples.described({"x": rows, "n": FixedLen([], INT, 0), "id": FixedLen([], INT)})
    assert d is not None
    n = ex.function(lambda m: d.finish(ex.parse_examples(m, d.spec))["n"] + 1, name="n")
    # The partition does not fit, the kind of `v` is wrong, and `id` is missing.
    assert n(ex.tensor([example(v=[0.5], p=[9], n=[4]), b""])).tolist() == [5, 1]
    f = ex.function(lambda records: d.finish(records)["n"], name="f").get_concrete_function(d.spec)
    assert f.run([example(n=[4]), b""], message="tf.train.Example").tolist() == [4, 0]


def test_what_is_read_is_asked_for_by_the_names_of_the_features() -> None:
    plain = examples.described({"a/b": Ragged(INT, "v"), "n": FixedLen([], INT), "s": Sparse("i", "w", INT, 9)})
    assert plain is not None
    messages = [example(v=[1]), example(v=[2, 3], n=[4])]
    records = examples.read(ex.read_examples, messages, plain, paths=['["a/b"]'])
    assert ex.to_py(records) == [{"a/b": [1]}, {"a/b": [2, 3]}]
    with pytest.raises(ex.MissingNameError, match="there is no 'v'"):
        examples.read(ex.read_examples, messages, plain, paths=["v"])
    some = plain.only(['["a/b"]', "n"])
    wanted = [{"a/b": [2, 3], "n": 4}]
    records, bad = examples.read(ex.read_examples, messages, some, on_error="skip")
    assert (ex.to_py(records), bad.rows) == (wanted, [0])
    records, rows = examples.read(ex.parse_examples, messages, some, on_error="default")
    assert (ex.to_py(records), rows.tolist()) == ([{"a/b": [], "n": 0}, *wanted], [True, False])
    with pytest.raises(ex.InvalidValueError, match="found a dict, and sequence=True"):
        examples.read(ex.read_examples, messages, plain, sequence=True)
    pair = examples.described(({"n": FixedLen([], INT, 3)}, {"x": Ragged(INT, "v"), "y": VarLen(INT)}))
    assert pair is not None
    for path, one in (("context", {"context": {"n": 3}}), ("feature_lists.x", {"feature_lists": {"x": []}})):
        assert ex.to_py(examples.read(ex.read_examples, [b""], pair, paths=[path], sequence=True)) == [one]
    with pytest.raises(ex.InvalidValueError, match="found a pair of dicts, and sequence=False"):
        examples.read(ex.read_examples, [b""], pair)


REFUSED: "list[tuple[Any, str]]" = [
    ({"a": VarLen(INT), "b": ex.TensorSpec([], "i64")}, "feature 'b' of the example: found .* type TensorSpec"),
    ({"a": VarLen(INT32)}, "feature 'a': found the dtype int32"),
    ({"a": Ragged(INT, None, (), FLOAT)}, "feature 'a': found the dtype float32.\nWanted: int32 or int64"),
    ({"a": FixedLen([None], INT)}, r"feature 'a': found the shape \[None\]"),
    ({"a": FixedLen(None, INT)}, "feature 'a': found the shape None"),
    ({"a": FixedLen([2], INT, 0)}, "feature 'a': default_value: the number of elements is 1.\nWanted: 2"),
    ({"a": FixedLen([], INT, 0.5)}, "feature 'a': default_value: .*0.5 does not fit"),
    ({"a": FixedLenSequence([], INT)}, "feature 'a': found .*allow_missing=False"),
    ({"a": Ragged(INT, None, [7])}, "feature 'a': partitions: found a value of type int"),
    ({"a": Ragged(INT, None, [Ragged.UniformRowLength(0)])}, "feature 'a': found a UniformRowLength of 0"),
    ({"a": Sparse([], "v", INT, [])}, "feature 'a': found no index_key"),
    ({"a": VarLen(INT), "b": Ragged(FLOAT, "a")}, "feature 'b': found 'a' as .*, and elsewhere as .*'i64'"),
    ({"a": Ragged(STRING, None, [Ragged.RowSplits("a")])}, "feature 'a': found 'a' as"),
    (({"a": FixedLenSequence([], INT, True)}, None), "feature 'a' of the context: found .*FixedLenSequenceFeature"),
    (({"a": Sparse("i", "v", INT, 3)}, {}), "feature 'a' of the context: found .*SparseFeature"),
    ((None, {"a": FixedLen([], INT)}), "feature 'a' of the feature lists: found .*FixedLenFeature"),
    ((3, {"a": VarLen(INT)}), "features of the context: found a value of type int"),
]


@pytest.mark.parametrize(("features", "text"), REFUSED)
def test_a_description_that_says_nothing_is_refused(features: Any, text: str) -> None:
    with pytest.raises(ex.Error, match=f"^{text}"):
        examples.described(features)


def test_examples_are_read_by_descriptions() -> None:
    # hook
    features = {"n": FixedLen([], INT, 0), "x": Ragged(STRING, "v", [Ragged.RowLengths("p")])}
    messages = [example(n=[1], v=[b"a"], p=[0, 1]), b""]
    wanted = [{"n": 1, "x": [[], [b"a"]]}, {"n": 0, "x": []}]
    assert ex.to_py(ex.read_examples(messages, features)) == wanted
    assert ex.to_py(ex.parse_examples(messages, features)) == wanted
    traced = ex.function(lambda m: ex.parse_examples(m, features))
    assert ex.to_py(traced(ex.tensor(messages, "bytes"))) == wanted
    pair = ({"n": FixedLen([], INT, 0)}, {"ids": VarLen(INT)})
    steps = ex.read_examples([sequence_example({"n": [1]}, ids=[[1], []])], pair, sequence=True)
    assert ex.to_py(steps) == [{"context": {"n": 1}, "feature_lists": {"ids": [[1], []]}}]
    records, bad = ex.read_examples([*messages, example(n=[1, 2])], features, on_error="skip")
    assert (ex.to_py(records), bad.rows) == (wanted, [2])
