"""Types whose values are many of a kind: they move as the records of their components do, wherever they stand."""

from __future__ import annotations

import pathlib
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import extenso as ex
import pyarrow.parquet
import pytest


class Box(ex.BatchableExtensionType):
    """A corner and a score each, and tags of any number."""

    __extenso_name__ = "tests.batchable/Box"
    corner: ex.Tensor
    score: ex.Tensor
    tags: ex.Tensor | ex.RaggedTensor  # The tags of one box are a tensor.
    unit: str = "px"


def boxes(unit: str = "px") -> Box:
    return Box([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]], [0.5, 0.1, 0.9], ex.constant([["a"], [], ["b", "c"]]), unit)


def records(x: Box) -> ex.StructTensor:
    return ex.StructTensor(x.shape, {"corner": x.corner, "score": x.score, "tags": x.tags})


RECORD = [
    {"corner": [0.0, 1.0], "score": 0.5, "tags": ["a"]},
    {"corner": [2.0, 3.0], "score": 0.1, "tags": []},
    {"corner": [4.0, 5.0], "score": 0.9, "tags": ["b", "c"]},
]
THERE = ex.tensor([True, False, True])
MOVES: list[Callable[[Any], Any]] = [
    lambda x: x,
    lambda x: x[1],
    lambda x: x[::-2],
    lambda x: x[THERE],
    lambda x: ex.take(x, [2, 0, 2]),
    lambda x: ex.take(x, ex.constant([[0], [], [2, 1]])),
    lambda x: ex.take(x, ex.constant([0, None])),
    lambda x: ex.concat([x, x[:1]]),
    lambda x: ex.stack([x, x]),
    lambda x: ex.expand_dims(x, 0),
    lambda x: ex.reshape(x, [3, 1]),
    lambda x: ex.transpose(ex.reshape(x, [3, 1])),
    lambda x: ex.flip(x, axis=0),
    lambda x: ex.roll(x, 1, axis=0),
    lambda x: ex.repeat(x, [2, 0, 1], axis=0),
    lambda x: ex.tile(x, [2]),
    lambda x: ex.split(x, [1, 2])[1],
    lambda x: ex.head(x, 2),
    lambda x: ex.where(THERE, x, x[::-1]),
    lambda x: ex.mask(x, THERE),
    lambda x: ex.drop_none(ex.mask(x, THERE)),
    lambda x: ex.group_by(x, ex.tensor([7, 8, 7]))[1],
    lambda x: ex.zip({"box": x, "n": [1, 2, 3]})[1:],
    lambda x: ex.mask(ex.zip({"box": x, "n": [1, 2, 3]}), THERE),
    lambda x: ex.combinations(x, 2, axis=0),
]


@pytest.mark.parametrize("move", MOVES)
def test_values_move_as_the_records_of_their_components(move: Callable[[Any], Any]) -> None:
    wanted = ex.to_py(move(records(boxes())))
    moved = move(boxes())
    assert ex.to_py(moved) == wanted
    f = ex.function(move)
    assert ex.to_py(f(boxes())) == wanted
    if isinstance(moved, Box):
        assert moved.unit == f(boxes()).unit == "px"


ROWS: list[Callable[[Any], Any]] = [
    lambda x: x[0],
    lambda x: x[:, :1],
    lambda x: x[:, ::-1],
    lambda x: ex.first(x, axis=1),
    lambda x: ex.pad_none(x, 2),
    lambda x: ex.concat([x, x], axis=0),
    lambda x: ex.concat([x, x], axis=1),
    lambda x: ex.flatten(x),
    lambda x: ex.take(x, [1, 0]),
    lambda x: ex.boolean_mask(x, ex.constant([[True, False], [], [True]])),
    lambda x: ex.combinations(x, 2),
    lambda x: ex.num(x),
    lambda x: ex.local_index(x),
    lambda x: ex.windows(x, 1),
    lambda x: ex.group_by(x, ex.tensor([1, 2, 1]))[1],
]


@pytest.mark.parametrize("move", ROWS)
def test_rows_of_values_move_as_rows_of_records(move: Callable[[Any], Any]) -> None:
    def rows(x: Any) -> ex.RaggedTensor:
        return ex.RaggedTensor.from_row_lengths(x, [2, 0, 1])

    wanted = ex.to_py(move(rows(records(boxes()))))
    assert ex.to_py(move(rows(boxes()))) == wanted
    f = ex.function(lambda x: move(rows(x)))
    assert ex.to_py(f(boxes())) == wanted
    inside = ex.StructTensor([3], {"n": [1, 2, 3], "boxes": rows(boxes())})
    assert ex.to_py(move(inside["boxes"])) == wanted
    assert ex.to_py(inside[::-1]["boxes"]) == ex.to_py(rows(boxes()))[::-1]


def test_one_trace_serves_all_sizes() -> None:
    f = ex.function(lambda x: ex.concat([x[1:], x[:1]]))
    sizes = [boxes(), boxes()[:2], ex.concat([boxes(), boxes()]), boxes()[:1], boxes()[:0]]
    for x in sizes:
        plain = ex.to_py(x)
        assert ex.to_py(f(x)) == plain[1:] + plain[:1]
    assert len(f.traces) <= 3


def test_members_of_a_value() -> None:
    x = boxes()
    assert (len(x), x.shape, x.ndim, [one.score.item() for one in x]) == (3, (3,), 1, [0.5, 0.1, 0.9])
    assert x[0].shape == () and ex.to_py(x[0]) == RECORD[0] and x.to_py() == RECORD
    assert x == boxes() and x != boxes("mm") and x != x[::-1]
    assert ex.size(x).item() == 3 and ex.shape(x).tolist() == [3]


def test_a_subclass_keeps_its_own_type_and_data() -> None:
    class Named(Box):
        __extenso_name__ = "tests.batchable/Named"
        name: ex.Tensor = ex.tensor(["x", "y", "z"])

    moved = Named(boxes().corner, boxes().score, boxes().tags, "mm")[1:]
    assert type(moved) is Named and moved.unit == "mm" and moved.name.tolist() == ["y", "z"]


def test_what_does_not_meet_is_refused() -> None:
    with pytest.raises(ex.DispatchError, match="concat: no handler takes tests.batchable/Box"):
        ex.concat([boxes(), boxes("mm")])
    with pytest.raises(ex.DispatchError):
        ex.concat([boxes(), records(boxes())])
    with pytest.raises(ex.DispatchError, match="add: no handler takes"):
        boxes() + 1
    with pytest.raises(IndexError, match="index 3 is out of range"):
        ex.take(boxes(), [3])


def test_components_whose_axes_differ_make_no_value() -> None:
    class Pair(ex.BatchableExtensionType):
        __extenso_name__ = "tests.batchable/Pair"
        a: ex.Tensor
        b: ex.Tensor

    x, few = boxes(), ex.constant([["a"], []])
    cases: list[tuple[Callable[[], object], str, str]] = [
        (lambda: Pair([1, 2, 3], [1, 2, 3, 4]), r"Pair: component 'b': .* \[4, ...\], and that of 'a' \[3\]", r"\[3\]"),
        (lambda: Pair([[1, 2]], [[1, 2, 3]]), r"Pair: component 'b': .* \[1, 3\], and that of 'a' \[1, 2\]", r"\[1, 2\]"),
        (lambda: Box(x.corner[:2], x.score, x.tags), r"Box: component 'corner': .* 'score' \[3\]", r"\[3\]"),
        (lambda: Box(x.corner, x.score, few), r"Box: component 'tags': .* \[2, ...\], and that of 'score' \[3\]", r"\[3\]"),
    ]
    for make, found, wanted in cases:
        for f in (make, ex.function(make)):
            with pytest.raises(ex.ShapeError, match=rf"{found}\.\nWanted: {wanted} in front of each component's own axes"):
                f()
    spec: Any = ex.spec_of(Pair([1, 2], [3, 4]))
    free = Pair.Spec(a=ex.TensorSpec([None], "i64"), b=ex.TensorSpec([None], "i64"))
    assert spec.from_components({"a": ex.tensor([1, 2]), "b": ex.tensor([3, 4])}) == Pair([1, 2], [3, 4])
    with pytest.raises(ex.ShapeError, match="component 'b'"):
        free.from_components({"a": ex.tensor([1, 2]), "b": ex.tensor([3])})
    # One value, of which each component has axes of its own.
    assert Pair([1, 2], 3).shape == () and Box([0.0, 1.0], 0.5, ["a", "b", "c"]).shape == ()


def test_a_handler_comes_before_what_the_base_does() -> None:
    class Counted(ex.BatchableExtensionType):
        __extenso_name__ = "tests.batchable/Counted"
        x: ex.Tensor
        moves: int = 0

    @ex.dispatch_for(ex.take, Counted)
    def take(x: Counted, indices: ex.Tensor, axis: int) -> Counted:
        return Counted(ex.take(x.x, indices, axis), x.moves + 1)

    x = ex.take(Counted([1, 2, 3]), [2, 0])
    assert (x.x.tolist(), x.moves) == ([3, 1], 1) and x[:1].moves == 1


def test_a_type_that_is_not_batchable_is_read_as_records_too() -> None:
    class Affine(ex.ExtensionType):
        __extenso_name__ = "tests.batchable/Affine"
        matrix: ex.Tensor

    one = Affine([[1, 2], [3, 4]])
    assert ex.to_py(ex.StructTensor([2], {"map": one})) == [{"map": {"matrix": [1, 2]}}, {"map": {"matrix": [3, 4]}}]
    assert ex.to_py(ex.StructTensor([], {"map": one})) == {"map": {"matrix": [[1, 2], [3, 4]]}}
    assert ex.to_py(ex.RaggedTensor.from_row_lengths(one, [0, 2])) == [[], [{"matrix": [1, 2]}, {"matrix": [3, 4]}]]
    with pytest.raises(ex.DispatchError, match="take"):
        ex.StructTensor([2], {"map": one})[0]


def test_rows_are_inside_a_value() -> None:
    class Amounts(ex.BatchableExtensionType):
        __extenso_name__ = "tests.batchable/Amounts"
        v: ex.Tensor | ex.RaggedTensor | ex.MaskedTensor

    for rows in ([[1], [2, 3]], [[1], None]):
        x = Amounts(ex.constant(rows))
        assert x.shape == (2,) and ex.to_py(x) == [{"v": row} for row in rows]
        assert ex.to_py(x[::-1]) == ex.to_py(ex.function(lambda x: x[::-1])(x)) == ex.to_py(x)[::-1]


def test_files_give_values_that_move(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "boxes.parquet"
    ex.write_parquet(ex.StructTensor([3], {"box": boxes("mm"), "n": [1, 2, 3]}), path)
    box = ex.read_parquet(path)["box"]
    assert isinstance(box, Box) and box[1:].unit == "mm" and ex.to_py(box) == RECORD
    again = ex.function(lambda row: {"best": row["box"][row["n"] > 1], "n": row["n"]}).run(path)
    assert isinstance(again["best"], Box) and ex.to_py(again["best"]) == RECORD[1:]
    saved = tmp_path / "f.exo"
    ex.save(ex.function(lambda x: x[::-1]).get_concrete_function(boxes()), saved)
    assert ex.to_py(ex.load(saved)(boxes())) == RECORD[::-1]


def test_lists_of_no_element_are_filled_up_and_have_no_first_one() -> None:
    rows = ex.RaggedTensor.from_row_lengths(boxes()[:0], [0, 0])
    padded, first = (lambda x: ex.pad_none(x, 1)), (lambda x: ex.first(x))
    for f, wanted in ((padded, [[None], [None]]), (first, [None, None])):
        assert ex.to_py(f(rows)) == wanted
        assert ex.to_py(ex.function(f)(rows)) == wanted


class Span(ex.BatchableExtensionType):
    """A text and its words."""

    __extenso_name__ = "tests.batchable/Span"

    text: ex.Tensor
    words: ex.RaggedTensor


SPANS = [{"text": "a", "words": ["a", "b"]}, {"text": "b", "words": ["c"]}]


def test_one_of_many_has_one_row() -> None:
    spans = Span(["a", "b"], ex.constant([["a", "b"], ["c"]]))
    assert [ex.to_py(span) for span in spans] == SPANS
    assert isinstance(spans[0], Span) and isinstance(spans[0].words, ex.Tensor)
    assert pickle.loads(pickle.dumps(spans[1])) == spans[1]
    assert ex.to_py(ex.function(lambda x: x[1].words)(spans)) == ["c"]
    assert ex.to_py(ex.stack([spans[1], spans[0]])) == SPANS[::-1]
    assert ex.to_py(ex.StructTensor([2], {"s": spans})[0]) == {"s": SPANS[0]}
    with pytest.raises(ex.DTypeError, match="words: expected RaggedTensor, got 'list'"):
        Span("a", ["b"])


@pytest.mark.parametrize(
    "op",
    [
        lambda x: ex.expand_dims(x, 0),
        lambda x: ex.expand_dims(x, 1),
        lambda x: ex.stack([x, x]),
        lambda x: ex.reshape(x, [2, 1]),
        lambda x: ex.windows(x, 2),
        lambda x: ex.combinations(x, 2),
        lambda x: ex.where([False, True], x, x),
        lambda x: ex.coalesce(x, x[::-1]),
    ],
)
def test_values_with_rows_that_may_be_missing_move_as_records_do(op: Callable[[Any], Any]) -> None:
    spans = ex.MaskedTensor(Span(["a", "b"], ex.constant([["a", "b"], ["c"]])), [True, False])
    records = ex.MaskedTensor(ex.constant(SPANS), [True, False])
    assert ex.to_py(op(spans)) == ex.to_py(op(records)) == ex.to_py(ex.function(op)(spans))


def test_vectors_of_missing_values_come_back_from_files(tmp_path: pathlib.Path) -> None:
    class Point(ex.BatchableExtensionType):
        __extenso_name__ = "tests.batchable/Point"
        at: ex.Tensor
        score: ex.Tensor

    there = ex.MaskedTensor(Point([[1, 2], [3, 4]], [1.0, 2.0]), [True, False])
    for column in (there, ex.RaggedTensor.from_row_lengths(there, [0, 2])):
        rows = ex.StructTensor([2], {"x": column})
        for write, read in ((ex.write_parquet, ex.read_parquet), (ex.write_avro, ex.read_avro), (ex.write_arrow, ex.read_arrow)):
            assert read(write(rows)) == read(write(rows), ex.spec_of(rows)) == rows
    plain = ex.StructTensor([2], {"x": ex.MaskedTensor(ex.StructTensor([2], {"at": [[1, 2], [3, 4]]}), [True, False])})
    ex.write_parquet(plain, tmp_path / "rows.parquet")
    assert ex.spec_of(ex.read_parquet(tmp_path / "rows.parquet")) == ex.spec_of(plain)
    assert pyarrow.parquet.read_table(tmp_path / "rows.parquet").to_pylist() == [{"x": {"at": [1, 2]}}, {"x": None}]


def test_values_of_a_type_that_nobody_knows_move_too(tmp_path: pathlib.Path) -> None:
    spans = Span(["a", "b"], ex.constant([["a", "b"], ["c"]]))
    rows = ex.StructTensor([2], {"s": spans, "may": ex.MaskedTensor(spans, [True, False])})
    script = """
import sys, extenso as ex
for path in sys.argv[1:]:
    rows = getattr(ex, "read_" + path.rsplit(".", 1)[1])(path)
    assert isinstance(rows["s"], ex.OpaqueExtension) and len(rows["s"]) == 2
    assert ex.to_py(rows[::-1]["s"].components["text"]) == ["b", "a"]
    assert [ex.to_py(span.components["words"]) for span in rows["s"]] == [["a", "b"], ["c"]]
    assert ex.to_py(rows[1])["may"] is None and ex.to_py(ex.concat([rows["s"], rows["s"]])[2].components["text"]) == "a"
"""
    paths = []
    for write in (ex.write_arrow, ex.write_parquet, ex.write_avro):
        paths.append(tmp_path / write.__name__.replace("write_", "rows."))
        write(rows, paths[-1])
    subprocess.run([sys.executable, "-P", "-c", script, *map(str, paths)], check=True)


INSIDE: list[Callable[[Any], Any]] = [
    lambda x: x,
    lambda x: x[:0],
    lambda x: ex.stack([x, x]),
    lambda x: ex.mask(x, THERE),
    lambda x: ex.RaggedTensor.from_row_lengths(x, [2, 0, 1]),
    lambda x: ex.StructTensor([3], {"n": [1, 2, 3], "box": x}),
]


@pytest.mark.parametrize("peer", ["numpy", "pandas", "polars", "awkward"])
@pytest.mark.parametrize("inside", INSIDE)
def test_other_libraries_see_the_records_of_the_components(inside: Callable[[Any], Any], peer: str) -> None:
    pytest.importorskip(peer, reason=f"this test needs {peer}")
    made = getattr(inside(boxes()), f"to_{peer}")()
    wanted = getattr(inside(records(boxes())), f"to_{peer}")()
    assert type(made) is type(wanted)
    back = getattr(ex, f"from_{peer}")
    assert ex.to_py(back(made)) == ex.to_py(back(wanted))
    if peer == "awkward":
        # Nothing is said to be optional that is never missing.
        assert ex.spec_of(back(made)) == ex.spec_of(back(wanted))


def test_one_of_many_values_is_one_record_in_other_libraries() -> None:
    assert boxes()[1].to_numpy().item()[1] == 0.1
    ak: Any = pytest.importorskip("awkward", reason="this test needs awkward")
    one = boxes()[0].to_awkward()
    assert isinstance(one, ak.Record) and one.to_list() == RECORD[0]


def test_libraries_of_tensors_see_a_dict_of_the_components() -> None:
    from extenso._interop.peers import parts_of

    for inside in INSIDE:
        made = parts_of(inside(boxes()), "test", ex.to_py, ex.to_py)
        assert made == parts_of(inside(records(boxes())), "test", ex.to_py, ex.to_py)
