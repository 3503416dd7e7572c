"""Tests of records: construction, keys, updates, levels, specs, and what all values have alike."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import extenso as ex
import pyarrow as pa
import pytest

USERS = [
    {"id": 7, "docs": [{"tokens": [7, 17], "n": 1}, {"tokens": [3, 13], "n": 2}]},
    {"id": 8, "docs": []},
    {"id": 9, "docs": [{"tokens": [5, 15], "n": 3}, {"tokens": [], "n": 4}]},
]
RECIPE = {"recipe": {"title": "soup", "ingredients": [{"name": "leek", "amount": 2}, {"name": "salt", "amount": 1}]}}


class Labeled(ex.ExtensionType):
    """A type of a user."""

    values: ex.Tensor
    label: str = ""


def values() -> list[Any]:
    return [
        ex.tensor([[1.5, 2.5]]),
        ex.tensor(["a", "größe"]),
        ex.constant(USERS),
        ex.constant(RECIPE),
        ex.constant([{}, {}]),
        ex.constant([[1], [2, 3]]),
        ex.constant([1, None]),
        ex.constant([[{"a": 1}], []]),
        ex.constant([{"a": [None, {"b": 1}]}, None]),
    ]


@pytest.mark.parametrize(
    "data",
    [
        {},
        [{}, {}, {}],
        {"a": 1, "b": [1.5], "c": {"d": ["x"]}},
        [{"a": [None, {"b": 1}]}, None],
        [[{"a": 1}], [{"a": 2}]],
        [[{"a": 1}], [], [{"a": 2}, {"a": 3}]],
        [{"größe x": 1, ".": [None, 2], " ": {"@": b"y"}}],
        USERS,
        [None, {"a": None}, {"a": {"b": True}}],
    ],
)
def test_a_constant_is_what_it_shows(data: Any) -> None:
    assert ex.constant(data).to_py() == data


def test_records_are_made_of_fields_of_any_type() -> None:
    labeled, rows = Labeled([1.0, 2.0], "x"), ex.constant([[1], []])
    inner = ex.StructTensor([2], {"q": ["a", "b"]})
    s = ex.StructTensor([2], {"t": [1, 2], "r": rows, "s": inner, "m": ex.constant([1, None]), "u": labeled})
    assert (s.shape, s.rank, len(s)) == ((2,), 1, 2)
    assert s.field_names() == ["t", "r", "s", "m", "u"]
    assert s["u"].label == "x"
    assert s.field_value(("s", "q")).to_py() == ["a", "b"]
    assert ex.StructTensor([None], {"t": [1, 2]}).shape == (2,)
    assert ex.StructTensor([], {"t": [1, 2]}).shape == ()
    assert ex.StructTensor([3], {}).to_py() == [{}, {}, {}]
    assert [record["t"].item() for record in s.without("u")] == [1, 2]


@pytest.mark.parametrize(
    ("shape", "fields", "error", "text"),
    [
        ([2], {"a": [1, 2], "b": [1, 2, 3]}, ValueError, "field 'b'"),
        ([2], {"a": 1}, ValueError, "field 'a'"),
        ([2], {"": [1, 2]}, ValueError, "empty"),
        ([2], {1: [1, 2]}, TypeError, "a string"),
        ([2], {"a": object()}, TypeError, "found a value of type object"),
        (None, {"a": 1}, ValueError, "known rank"),
        ([2, 2], {"a": ex.constant([[1], [2, 3]])}, ValueError, "ragged"),
    ],
)
def test_fields_that_do_not_fit_are_errors(shape: Any, fields: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        ex.StructTensor(shape, fields)


def test_rows_of_records_are_cut_by_splits() -> None:
    items = ex.constant([{"a": 1}, {"a": 2}, {"a": 3}])
    rows = ex.StructTensor.from_row_splits(items, [0, 1, 1, 3])
    assert isinstance(rows, ex.RaggedTensor)
    assert rows.to_py() == [[{"a": 1}], [], [{"a": 2}, {"a": 3}]]
    assert rows["a"].to_py() == [[1], [], [2, 3]]
    with pytest.raises(ValueError, match="row_splits"):
        ex.StructTensor.from_row_splits(items, [0, 3, 2])


def key(*parts: Any) -> Any:
    return parts if len(parts) != 1 else parts[0]


@pytest.mark.parametrize(
    ("data", "at", "wanted"),
    [
        (USERS, key("id"), [7, 8, 9]),
        (USERS, key(slice(None), "id"), [7, 8, 9]),
        (USERS, key(..., "id"), [7, 8, 9]),
        (USERS, key("id", 1), 8),
        (USERS, key(-1, "id"), 9),
        (USERS, key(1), USERS[1]),
        (USERS, key(slice(None, None, -1), "id"), [9, 8, 7]),
        (USERS, key([True, False, True], "docs", "n"), [[1, 2], [3, 4]]),
        (USERS, key([2, 0], "id"), [9, 7]),
        (USERS, key([], "id"), []),
        (USERS, key("docs", 0, slice(1, None), "tokens"), [[3, 13]]),
        (USERS, key(None, slice(1, 2)), [[USERS[1]]]),
        (RECIPE, key("recipe", "ingredients", slice(None), "name"), ["leek", "salt"]),
        (RECIPE, key("recipe", "ingredients", 1, "amount"), 1),
        ([{"r": {"a": 1}}, {"r": None}], key("r", "a"), [1, None]),
        ([[{"a": 1}, None], []], key("a"), [[1, None], []]),
    ],
)
def test_keys_mix_names_and_places(data: Any, at: Any, wanted: Any) -> None:
    x = ex.constant(data)
    assert ex.to_py(x[at]) == wanted
    if isinstance(x, ex.StructTensor) and None not in (at if isinstance(at, tuple) else (at,)):
        traced = ex.function(lambda x: x[at])
        assert ex.to_py(traced(x)) == wanted


def test_fields_are_reached_step_by_step_through_rows_and_masks() -> None:
    x = ex.constant([{"recipe": RECIPE["recipe"]}, {"recipe": None}])
    assert x["recipe"]["ingredients"]["amount"].to_py() == [[2, 1], None]
    assert x["recipe"]["title"].to_py() == ["soup", None]
    assert ex.constant(RECIPE)["recipe"]["ingredients"]["amount"].to_py() == [2, 1]


@pytest.mark.parametrize(
    ("at", "error", "text"),
    [
        ("x", KeyError, "one of: id, docs"),
        (("docs", "x"), KeyError, "tokens, n"),
        (3, IndexError, "index 3 is out of range for axis 0 of size 3"),
        ((0, 0), IndexError, "2 axes"),
        (True, TypeError, "a boolean"),
        (1.5, TypeError, "names of fields|integer"),
        (slice("a", None), TypeError, "in a slice"),
        ([True], IndexError, "mask"),
        ((..., ...), IndexError, "two ellipses"),
    ],
)
def test_keys_that_choose_nothing_are_errors(at: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        ex.constant(USERS)[at]


def test_updates_keep_the_buffers_of_the_others() -> None:
    import numpy as np

    def address(x: Any) -> int:
        return int(np.asarray(x).__array_interface__["data"][0])

    before = ex.StructTensor([2], {"a": [1, 2], "b": [1.5, 2.5], "r": ex.constant([{"c": 3}, {"c": 4}])})
    after = before.with_updates({"a": [3, 4], ("r", "d"): [5, 6]})
    assert address(before["b"]) == address(after["b"])
    assert address(before["r", "c"]) == address(after["r", "c"])
    assert after.to_py()[1] == {"a": 4, "b": 2.5, "r": {"c": 4, "d": 6}}
    assert before["a"].to_py() == [1, 2]
    with pytest.raises(ValueError, match="field 'new'"):
        before.with_updates({"new": [1, 2, 3]})
    assert after.without(["a", ("r", "c")]).to_py()[0] == {"b": 1.5, "r": {"d": 5}}
    assert after.with_only([("r", "c"), "a"]).to_py()[0] == {"r": {"c": 3}, "a": 3}
    assert after.without("a").field_names() == ["b", "r"]
    with pytest.raises(KeyError, match="'r.x'"):
        after.without([("r", "x")])


def test_fields_move_between_levels() -> None:
    x = ex.constant(USERS)
    assert x.promote(("docs", "tokens"), "tokens")["tokens"].to_py() == [[7, 17, 3, 13], [], [5, 15]]
    assert x.broadcast("id", ("docs", "id"))["docs", "id"].to_py() == [[7, 7], [], [9, 9]]
    traced = ex.function(lambda x: ex.promote(x, ("docs", "tokens"), "tokens")["tokens"])
    assert traced(x).to_py() == [[7, 17, 3, 13], [], [5, 15]]
    with pytest.raises(ValueError, match="'id' already"):
        x.promote(("docs", "n"), "id")


def test_a_constant_of_a_spec_has_its_dtypes_rows_and_masks() -> None:
    spec = ex.StructTensorSpec(
        [None],
        {
            "id": ex.TensorSpec([None], "u8"),
            "tags": ex.RaggedTensorSpec([None, None], "string", row_splits_dtype="i32"),
            "price": ex.MaskedTensorSpec(ex.TensorSpec([None], "f32")),
        },
    )
    x = ex.constant([{"id": 1, "tags": ["a"], "price": None}, {"tags": ["b"], "id": 2}], spec)
    assert x.to_py() == [{"id": 1, "tags": ["a"], "price": None}, {"id": 2, "tags": ["b"], "price": None}]
    assert spec.is_compatible_with(x)
    assert x["tags"].spec.row_splits_dtype == ex.i32
    for data, text in [
        ([{"id": 300, "tags": [], "price": None}], r"\[0\].id: 300"),
        ([{"id": 1, "tags": [1], "price": 1.0}], r"\[0\].tags\[0\]: found an integer"),
        ([{"tags": []}], r"\[0\].id"),
        ([{"id": 1, "tags": [], "x": 1}], r"\[0\].x"),
    ]:
        with pytest.raises((ValueError, KeyError), match=text):
            ex.constant(data, spec)
    with pytest.raises(TypeError, match=r"constant: a\[0\]: found a value of type object"):
        ex.constant({"a": [object()]})
    with pytest.raises(TypeError, match="keys that are strings"):
        ex.constant([{1: 2}])


def test_records_are_equal_as_a_whole() -> None:
    assert ex.constant(USERS) == ex.constant(USERS)
    assert ex.constant(USERS) != ex.constant(USERS[:2])
    assert (ex.constant([{"a": 1}]) == 3) is False


def test_records_show_shape_and_values() -> None:
    assert repr(ex.constant([{"a": 1}])) == '<StructTensor shape=[1] [{"a": 1}]>'
    many = repr(ex.constant([{"a": i} for i in range(1000)]))
    assert many.startswith("<StructTensor shape=[1000]") and many.endswith(", ...]>") and len(many) < 400
    seen: list[str] = []
    ex.function(lambda x: (seen.append(repr(x)), x["a"])[1])(ex.constant([{"a": 1}]))
    assert seen[0].startswith("<StructTensor(")


@pytest.mark.parametrize("i", range(9))
def test_values_and_their_specs_are_copied_and_pickled(i: int) -> None:
    x = values()[i]
    for made in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert type(made) is type(x)
        assert ex.to_py(made) == ex.to_py(x)
    spec = x.spec
    assert spec == ex.spec_of(x)
    for again in (copy.copy(spec), copy.deepcopy(spec), pickle.loads(pickle.dumps(spec))):
        assert again == spec and hash(again) == hash(spec) and type(again) is type(spec)
    assert type(spec).deserialize(spec.serialize()) == spec


def test_values_say_shape_and_dtype() -> None:
    assert (ex.constant([[1], [2, 3]]).shape, ex.constant([[1], [2, 3]]).dtype) == ((2, None), ex.i64)
    assert (ex.constant([1.5, None]).shape, ex.constant([1.5, None]).dtype) == ((2,), ex.f64)
    rows = ex.constant([[{"a": 1}], []])
    assert (rows.shape, rows.dtype) == ((2, None), None)
    import numpy as np

    assert ex.tensor([1, 2]).to_numpy().tolist() == [1, 2]
    masked = ex.constant([1, None]).to_numpy()
    assert isinstance(masked, np.ma.MaskedArray) and masked.tolist() == [1, None]


def test_spec_classes_make_the_specs_of_values() -> None:
    rows = ex.RaggedTensorSpec([2, None, 3], "f32", 1)
    assert isinstance(ex.constant([[1], [2, 3]]).spec, ex.RaggedTensorSpec)
    assert (rows.shape.dims, rows.dtype, rows.ragged_rank, rows.row_splits_dtype) == ((2, None, 3), ex.f32, 1, ex.i64)
    assert rows.flat_values_spec == ex.TensorSpec([None, 3], "f32")
    assert rows == ex.RaggedTensorSpec([2, None, 3], "f32", 1)
    assert hash(rows) == hash(ex.RaggedTensorSpec([2, None, 3], "f32", 1))
    assert ex.RaggedTensorSpec([None, None, None], "i64").ragged_rank == 2
    assert ex.RaggedTensorSpec([None, None], "i64").is_compatible_with(ex.constant([[1], [2, 3]]))
    joined = ex.RaggedTensorSpec([2, None], "i64").most_specific_compatible_type(ex.RaggedTensorSpec([3, None], "i64"))
    assert joined == ex.RaggedTensorSpec([None, None], "i64")
    records = ex.StructTensorSpec([None], {"a": ex.TensorSpec([None], "i64")})
    of_records = ex.RaggedTensorSpec([None, None], flat_values_spec=records)
    assert of_records.is_compatible_with(ex.constant([[{"a": 1}], []]))
    assert records.field_names() == ["a"] and records.rank == 1
    assert ex.StructTensorSpec([2], {"a": ex.TensorSpec([None], "i64")}).field_specs["a"].shape.dims == (2,)
    assert ex.MaskedTensorSpec(records).is_compatible_with(ex.constant([{"a": 1}, None]))
    assert ex.MaskedTensorSpec(ex.TensorSpec([None], "i64")).shape.dims == (None,)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: ex.RaggedTensorSpec([2, None], "f32", 0), "ragged rank"),
        (lambda: ex.RaggedTensorSpec([2, None], "f32", 8968073515812833920), "ragged rank"),
        (lambda: ex.RaggedTensorSpec(None, "f32", 8968073515812833920), "ragged rank"),
        (lambda: ex.RaggedTensorSpec([2, None], "f32", 1, "u8"), "i32 or i64"),
        (lambda: ex.RaggedTensorSpec([2, None]), "one of the two"),
        (lambda: ex.StructTensorSpec([2], {"a": ex.TensorSpec([3], "i64")}), "field 'a'"),
        (lambda: ex.StructTensorSpec([2], {"a": ex.TensorSpec([], "i64")}), "field 'a'"),
        (lambda: ex.StructTensorSpec([2, 2], {"a": ex.RaggedTensorSpec([2, None], "i64")}), "field 'a'.*ragged"),
        (lambda: ex.StructTensorSpec(None, {}), "known rank"),
        (lambda: ex.StructTensorSpec([2], {"a": 3}), "a spec"),
        (lambda: ex.StructTensorSpec([2], {"a": ex.RaggedTensorSpec([2, None], "i64")}, "i32"), "field 'a'.*i64"),
        (lambda: ex.MaskedTensorSpec(ex.TensorSpec(None, "i64")), "mask"),
    ],
)
def test_specs_that_say_nothing_are_errors(make: Any, text: str) -> None:
    with pytest.raises((TypeError, ValueError), match=text):
        make()


def test_a_function_takes_the_spec_of_records() -> None:
    spec = ex.StructTensorSpec([None], {"a": ex.RaggedTensorSpec([None, None], "i64"), "b": ex.TensorSpec([None], "i64")})

    @ex.function
    def total(x: Any) -> Any:
        return ex.sum(x["a"], 1) + x["b"]

    f = total.get_concrete_function(spec)
    assert f(ex.constant([{"a": [1, 2], "b": 3}, {"a": [], "b": 4}])).to_py() == [6, 4]


def test_a_path_in_one_name_is_told_how_it_is_written() -> None:
    x = ex.constant([{"u": 1, "ev": [{"t": 3}]}, {"u": 2, "ev": []}])
    for call in (lambda: ex.paths.size(x, "ev.t"), lambda: x["ev.t"], lambda: ex.promote(x, "ev.t", "t")):
        with pytest.raises(ex.Error, match="level of a path is a name of its own: 'ev', then 't'|not above the other"):
            call()


def test_rows_that_were_cut_out_of_others_are_pickled_alone() -> None:
    nested = ex.from_arrow(pa.array([[[1]], [[2], [5, 6]], [[3]]])[1:])
    records = ex.from_arrow(pa.array([{"a": [1] * 1000}, {"a": [2]}])[1:])
    for x in (nested, nested[:1], records, ex.from_arrow(pa.array([["a"], ["b", "c"]])[1:])):
        assert ex.to_py(pickle.loads(pickle.dumps(x))) == ex.to_py(x)
    assert len(pickle.dumps(records)) < 4000


def test_components_of_a_users_type_have_as_many_rows_as_what_holds_them() -> None:
    three = Labeled(ex.tensor([1.0, 2.0, 3.0]))
    rows = ex.RaggedTensor.from_row_lengths(three, [1, 2])
    assert rows.values.values.tolist() == [1.0, 2.0, 3.0]
    assert ex.StructTensor([3], {"x": three})["x"].values.tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(ex.ShapeError, match=r"field 'x': the outer shape is \[3, ...\], and that of the records \[2\]"):
        ex.StructTensor([2], {"x": three})
    with pytest.raises(ex.ShapeError, match="the outer size is 3, and the partition cuts 2 values"):
        ex.RaggedTensor.from_row_lengths(three, [1, 1])
    with pytest.raises(ex.ShapeError, match="the mask has the outer size 2, and the values have the outer size 3"):
        ex.MaskedTensor(three, ex.tensor([True, False]))
    with pytest.raises(ex.ShapeError, match="the outer shape is that of a scalar"):
        ex.StructTensor([2], {"x": Labeled(ex.tensor(1.0))})


def test_equality_looks_at_nothing_that_is_not_there() -> None:
    missing = ex.StructTensor([2], {"x": ex.mask(ex.tensor([1, 2]), [True, False])})
    assert missing == ex.constant([{"x": 1}, {"x": None}]) and not missing != ex.constant([{"x": 1}, {"x": None}])
    assert missing != ex.constant([{"x": 1}, {"x": 2}]) and missing != ex.constant([{"x": 3}, {"x": None}])
    assert ex.read_parquet(ex.write_parquet(missing)) == ex.read_json(b'{"x": 1}\n{"x": null}\n') == missing
    rows = ex.mask(ex.RaggedTensor.from_row_lengths([1, 2, 3], [2, 1]), [True, False])
    assert ex.StructTensor([2], {"x": rows}) == ex.constant([{"x": [1, 2]}, {"x": None}])
    three = ex.constant([{"x": [1, 2]}, {"x": [3]}, {"x": []}])
    assert three[1:] == ex.constant([{"x": [3]}, {"x": []}]) and three[:1] != three[1:2]
    assert ex.constant([{"x": [1]}, {"x": [2]}]) != ex.constant([{"x": [1, 2]}, {"x": []}])
    assert ex.constant([{"x": math.nan}]) != ex.constant([{"x": math.nan}])


def test_a_path_of_one_quoted_name_and_of_lists_of_one_size() -> None:
    records = ex.constant([{"b b": 1, "items": [{"p": 1.0}], "tags": [1, 2]}])
    assert records.field_value('"b b"').to_py() == [1]
    assert records.field_value("items[*].p").to_py() == [[1.0]]
    assert records.field_value("tags[*]").to_py() == [[1, 2]]
    with pytest.raises(ex.Error, match="no field"):
        records.field_value('"c c"')


def test_a_text_is_a_path_where_it_names_no_field() -> None:
    x = ex.constant([{"docs": [{"n": 1, "t": [1, 2]}, {"n": 2, "t": []}], "a.b": 7}, {"docs": [], "a.b": 8}])
    assert x.project(["docs[*].n"]).to_py() == x.project([("docs", "n")]).to_py()
    assert x.without("docs[*].n").to_py() == x.without([("docs", "n")]).to_py()
    assert x.size("docs[*].t").to_py() == x.size(("docs", "t")).to_py()
    assert x.reroot("docs[*]").to_py() == x.reroot("docs").to_py()
    assert ex.promote(x, "docs[*].t", "t").to_py() == ex.promote(x, ("docs", "t"), "t").to_py()
    assert ex.paths.has(x, "docs[*].n").to_py() == ex.paths.has(x, ("docs", "n")).to_py()
    assert x.project("a.b").to_py() == [{"a.b": 7}, {"a.b": 8}]
    rows = ex.StructTensor.from_row_splits(x, [0, 1, 2])
    for name in ("without", "with_only", "field_value", "size", "has"):
        method = getattr(rows, name)
        assert method("docs[*].n").to_py() == method(("docs", "n")).to_py(), name
    with pytest.raises(ex.MissingNameError):
        x.project(["docs[*].m"])


RECORDS = [
    [{"id": 1, "docs": [{"n": 1}, {"n": 2}], "u": {"k": 5}}],
    [],
    [{"id": 2, "docs": [], "u": {"k": 6}}, {"id": 3, "docs": [{"n": 3}], "u": {"k": 7}}],
]
# What methods of records do to every value that holds records, by names.
METHODS: dict[str, Any] = {
    "field_value of a name": lambda x: x.field_value("id"),
    "field_value of names": lambda x: x.field_value(("docs", "n")),
    "field_value of a text": lambda x: x.field_value("docs[*].n"),
    "with_updates": lambda x: x.with_updates({"neg": -x["id"], ("u", "neg"): -x["u", "k"]}),
    "with_updates below lists": lambda x: x.with_updates({("docs", "m"): x["docs", "n"] + 1}),
    "without": lambda x: x.without(["docs", ("u", "k")]),
    "without one": lambda x: x.without(("u", "k")),
    "with_only": lambda x: x.with_only(["u", "id"]),
    "with_only nothing": lambda x: x.with_only([]),
    "promote": lambda x: x.promote(("docs", "n"), "all"),
    "broadcast": lambda x: x.broadcast("id", ("docs", "id")),
    "project": lambda x: x.project([("docs", "n"), "id"]),
    "has": lambda x: x.has("id"),
    "size": lambda x: x.size("docs"),
    "local_index": lambda x: x.local_index("docs"),
    "filter": lambda x: x.filter("docs", x["docs", "n"] > 1),
    "slice": lambda x: x.slice("docs", 0, 1),
    "apply": lambda x: x.apply(["id"], ex.negative, "neg"),
}


@pytest.mark.parametrize("method", METHODS)
def test_methods_of_rows_of_records_are_those_of_each_row(method: str) -> None:
    """Checks each value against the methods of the records in it: row by row, and of what is there."""
    call = METHODS[method]
    rows = ex.constant(RECORDS)
    wanted = [ex.to_py(call(row)) for row in rows]
    missing_rows = ex.MaskedTensor(rows, [True, False, True])
    # The second record is not there, whatever its values are.
    flat = ex.MaskedTensor(rows.values, [True, False, True])
    records = ex.to_py(call(rows.values))
    cases = [
        (rows, wanted),
        (missing_rows, [wanted[0], None, wanted[2]]),
        (flat, [records[0], None, records[2]]),
        (ex.RaggedTensor(flat, rows.partition), [[records[0]], [], [None, records[2]]]),
        (ex.RaggedTensor.from_row_splits(rows, [0, 1, 3]), [wanted[:1], wanted[1:]]),
    ]
    for x, expected in cases:
        assert ex.to_py(call(x)) == expected
        assert ex.to_py(ex.function(call)(x)) == expected


@pytest.mark.parametrize("method", METHODS)
def test_methods_of_rows_of_records_share_the_partition(method: str) -> None:
    rows = ex.constant(RECORDS)
    made = METHODS[method](rows)
    assert made.row_splits.to_numpy().ctypes.data == rows.row_splits.to_numpy().ctypes.data
    if method.startswith("with_updates"):
        assert made["id"].values.to_numpy().ctypes.data == rows["id"].values.to_numpy().ctypes.data


def test_records_in_rows_are_counted_and_brought_into_one_vector() -> None:
    rows = ex.constant(RECORDS)
    some = ex.constant([RECORDS[0][0], None])
    assert rows.field_names() == some.field_names() == ["id", "docs", "u"]
    assert rows.size().item() == 3 and some.size().item() == 1
    assert rows.reroot("docs", "row").to_py() == [{"n": 1, "row": 0}, {"n": 2, "row": 0}, {"n": 3, "row": 2}]
    assert some.reroot("docs").to_py() == [{"n": 1}, {"n": 2}]
    assert "id" in rows and "k" not in rows and "docs" in some
    assert some[0].without(["docs", "u"]).to_py() == {"id": 1}
    assert some[1].field_value("id").to_py() is None


def test_values_without_records_do_not_have_the_methods_of_records() -> None:
    methods = set(dir(ex.StructTensor)) - set(dir(ex.tensor([1]))) - {"from_row_splits", "rank"} | {"size"}
    of_records = [ex.constant(RECORDS), ex.constant([RECORDS[0][0], None])]
    others = [ex.constant([[1], []]), ex.constant([1, None]), ex.constant([[1], None])]
    for name in methods - {name for name in methods if name.startswith("__")}:
        assert all(hasattr(x, name) and name in dir(x) for x in of_records), name
        assert not any(hasattr(x, name) or name in dir(x) for x in others), name
    with pytest.raises(AttributeError, match="'RaggedTensor' has no 'without': its values are a Tensor.\nWanted: rows"):
        others[0].without("a")
    with pytest.raises(AttributeError, match="'MaskedTensor' has no 'size'"):
        ex.function(lambda x: x.size())(others[2])
    assert 1 in others[1] and "a" in ex.constant(["b", "a", None])


def test_methods_of_rows_of_records_say_what_is_wrong() -> None:
    rows = ex.constant(RECORDS)
    for call in (
        lambda: rows.field_value("nothing"),
        lambda: rows.field_value(("u", "nothing")),
        lambda: rows.field_value("docs.n"),
        lambda: rows.without(["nothing"]),
        lambda: rows.with_only(["id", "nothing"]),
    ):
        with pytest.raises(ex.MissingNameError, match="nothing'|'n' leads nowhere"):
            call()
    with pytest.raises(ValueError, match="a field is named twice"):
        rows.with_only(["id", "id"])
    with pytest.raises(ex.ShapeError, match="their new field must have the same rows"):
        rows.with_updates({"a": [1, 2, 3]})
    with pytest.raises(ex.DTypeError, match="found 3 as a path"):
        rows.field_value(3)
    with pytest.raises(ex.DTypeError, match="with_updates: found a value of type int"):
        rows.with_updates(3)


def test_a_field_of_a_class_of_rows_may_have_the_name_of_a_method() -> None:
    class Sized(ex.RaggedTensor):
        size: int = 0

    rows = ex.constant(RECORDS)
    assert Sized(rows.values, rows.partition, size=3).size == 3
    assert Sized(rows.values, rows.partition).without("id").field_names() == ["docs", "u"]


def test_a_text_with_lists_in_it_is_a_path_for_new_fields_too() -> None:
    x = ex.constant([{"id": 1, "b": [{"s": 1}, {"s": 2}]}, {"id": 2, "b": []}, {"id": 3, "b": [{"s": 4}]}])
    assert x.with_updates({"b[*].s": x["b", "s"] * 10}).to_py() == x.with_updates({("b", "s"): x["b", "s"] * 10}).to_py()
    assert x.with_updates({"b[*].t": x["b", "s"]})["b", "t"].to_py() == [[1, 2], [], [4]]
    assert x.broadcast("id", "b[*].i")["b", "i"].to_py() == [[1, 1], [], [3]]
    assert x.with_updates({"b.t": x["id"]}).field_names() == ["id", "b", "b.t"]
    with pytest.raises(ex.Error):
        x.with_updates({"c[*].t": x["b", "s"]})
