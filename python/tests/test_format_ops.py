"""Texts that are records as ops: eager, traced, saved; their arguments."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import extenso as ex

EVENT = ex.StructTensorSpec([None], {"item": ex.TensorSpec([None], "i64"), "tags": ex.RaggedTensorSpec([None, None], "string")})
ONE, TWO = '{"item":7,"tags":["a"]}', '{"item":8,"tags":[]}'
ITEM = "syntax = 'proto3'; message Item { int64 id = 1; optional float price = 2; repeated string tags = 3; }"
RAW = [b"\x08\x07\x1a\x01a", b"", b"\x15\x00\x00\x00\x3f"]


def again(x: object) -> object:
    return ex.encode_json(ex.parse_json(x, EVENT))


def through(x: object) -> object:
    return ex.encode_proto(ex.parse_proto(x, ITEM, "Item", optional="masked"), ITEM, "Item")


@pytest.mark.parametrize("texts", [[ONE, TWO], [[ONE], [], [TWO, ONE]], [[ONE, TWO], [TWO, ONE]], ONE, [ONE, None], []])
def test_texts_of_any_shape_come_back(texts: object) -> None:
    x = ex.constant(texts) if texts else ex.tensor([], "string")
    assert ex.to_py(again(x)) == texts
    assert ex.to_py(ex.function(again)(x)) == texts


def test_arguments_may_be_python_objects() -> None:
    assert ex.to_py(ex.parse_json([ONE, None], EVENT))[1] is None
    assert len(ex.parse_json([], EVENT)) == 0
    assert ex.encode_json([{"item": 1}, {"item": 2}]).tolist() == ['{"item":1}', '{"item":2}']
    assert ex.encode_json({"item": 1}).item() == '{"item":1}'
    assert ex.parse_proto([], ITEM, "Item")["id"].tolist() == []


def test_messages_come_back() -> None:
    assert through(ex.tensor(RAW)).tolist() == RAW
    assert ex.function(through)(ex.tensor(RAW)).tolist() == RAW
    rows = ex.RaggedTensor.from_row_lengths(ex.tensor(RAW), [1, 0, 2])
    assert ex.to_py(through(rows)) == [RAW[:1], [], RAW[1:]]


def test_the_json_form_of_messages_comes_back() -> None:
    texts = ['{"id":"7","tags":["a"]}', "{}", '{"price":0.5}']

    def through_json(x: object) -> object:
        parsed = ex.parse_json(x, descriptor=ITEM, message="Item", optional="masked")
        return ex.encode_json(parsed, descriptor=ITEM, message="Item")

    assert ex.to_py(through_json(texts)) == texts
    assert ex.to_py(ex.function(through_json)(ex.tensor(texts))) == texts
    parsed = ex.parse_json(texts, descriptor=ITEM, message="Item", paths=["id"], on_error="default")
    assert (parsed[0]["id"].tolist(), parsed[1].tolist()) == ([7, 0, 0], [False, False, False])
    with pytest.raises(ex.Error, match="parse_json: nothing says what the records are"):
        ex.parse_json(texts)
    with pytest.raises(ex.Error, match="parse_json: one of `descriptor` and `message`"):
        ex.parse_json(texts, message="Item")


def test_a_saved_function_needs_extenso_alone(tmp_path: Path) -> None:
    f = ex.function(lambda x: ex.parse_proto(x, ITEM, "Item")["tags"])
    ex.save(f.get_concrete_function(ex.TensorSpec([None], "bytes")), tmp_path / "tags.exo")
    code = "import sys, extenso as ex; m = ex.load(sys.argv[1]); print(ex.to_py(m[m.functions[0]](ex.tensor([b'\\x1a\\x01a', b'']))))"
    done = subprocess.run([sys.executable, "-P", "-c", code, tmp_path / "tags.exo"], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[['a'], []]\n", "")


def test_only_what_a_function_uses_is_decoded() -> None:
    items = ex.function(lambda x: ex.parse_json(x, EVENT)["item"])
    odd = ex.tensor(['{"item": 1, "tags": {"no": "list"}}'])
    assert items(odd).tolist() == [1]
    with pytest.raises(ex.Error, match="'tags': a record came"):
        ex.parse_json(odd, EVENT)


def test_bad_rows_are_named_or_hold_defaults() -> None:
    records, bad = ex.parse_json([ONE, '{"item": "x", "tags": []}'], EVENT, on_error="default")
    assert (records["item"].tolist(), bad.tolist()) == ([7, 0], [False, True])
    records, bad = ex.function(lambda x: ex.parse_json(x, EVENT, on_error="default"))(ex.tensor([ONE, "]"]))
    assert (records["item"].tolist(), bad.tolist()) == ([7, 0], [False, True])
    for bad_call, text in [
        (lambda: ex.parse_json([ONE, "{"], EVENT), "parse_json: row 1, byte"),
        (lambda: ex.parse_json([ONE], EVENT, on_error="skip"), "each text has its place"),
        (lambda: ex.parse_json([1], EVENT), "Wanted: strings or bytes"),
        (lambda: ex.parse_json([ONE], ex.TensorSpec([], "i64")), "outer axis"),
        (lambda: ex.parse_proto([b"\x08"], ITEM, "Item"), "parse_proto: row 0, byte 1, 'id'"),
        (lambda: ex.parse_proto([b""], ITEM, "Other"), "there is no 'Other'"),
        (lambda: ex.encode_proto([1], ITEM, "Item"), "no struct is written"),
        (lambda: ex.encode_proto([{"x": 1}], ITEM, "Item"), "no field 'x'"),
        (lambda: ex.encode_json(None), "NoneType"),
    ]:
        with pytest.raises(ex.Error, match=text):
            bad_call()
