"""Protocol buffers in and out: specs, sources, parts, policies, functions; against Google's `protobuf`."""

import base64
import doctest
import gzip
import importlib
import inspect
import io
import json
import pathlib
import random
import struct
from typing import Any

import extenso as ex
import pytest

pb: Any = importlib.import_module("google.protobuf.descriptor_pb2")
pool_of: Any = importlib.import_module("google.protobuf.descriptor_pool")
factory: Any = importlib.import_module("google.protobuf.message_factory")

ITEM = """
syntax = "proto2";
message Item { optional int64 id = 1; optional float price = 2; repeated string tags = 3; repeated Item parts = 4; }
"""
SCALARS = [
    "double", "float", "int64", "uint64", "int32", "fixed64", "fixed32", "bool", "string", "bytes", "uint32", "sfixed32",
    "sfixed64", "sint32", "sint64",
]


def _file() -> Any:
    """A file of proto2 with every kind of field: `All`, which holds `Inner`."""
    file = pb.FileDescriptorProto(name="all.proto", package="t", syntax="proto2")
    kind = file.enum_type.add(name="Kind")
    for name, number in [("NONE", 0), ("BOOK", 3), ("MINUS", -2)]:
        kind.value.add(name=name, number=number)
    inner, every = file.message_type.add(name="Inner"), file.message_type.add(name="All")
    one, many = pb.FieldDescriptorProto.LABEL_OPTIONAL, pb.FieldDescriptorProto.LABEL_REPEATED
    inner.field.add(name="id", number=1, type=pb.FieldDescriptorProto.TYPE_SINT64, label=one)
    inner.field.add(name="names", number=2, type=pb.FieldDescriptorProto.TYPE_STRING, label=many)
    number = 0
    for label, prefix in [(one, "o"), (many, "r"), (many, "p")]:
        for scalar in SCALARS:
            if prefix == "p" and scalar in ("string", "bytes"):
                continue
            number += 1
            kind_of = getattr(pb.FieldDescriptorProto, f"TYPE_{scalar.upper()}")
            field = every.field.add(name=f"{prefix}_{scalar}", number=number, type=kind_of, label=label)
            if prefix == "p":
                field.options.packed = True
    for label, prefix in [(one, "o"), (many, "r")]:
        number += 1
        every.field.add(name=f"{prefix}_kind", number=number, type=pb.FieldDescriptorProto.TYPE_ENUM, label=label, type_name=".t.Kind")
        number += 1
        every.field.add(name=f"{prefix}_inner", number=number, type=pb.FieldDescriptorProto.TYPE_MESSAGE, label=label, type_name=".t.Inner")
    every.oneof_decl.add(name="one")
    every.field.add(name="x", number=200, type=pb.FieldDescriptorProto.TYPE_INT32, label=one, oneof_index=0)
    every.field.add(
        name="y", number=201, type=pb.FieldDescriptorProto.TYPE_MESSAGE, label=one, oneof_index=0, type_name=".t.Inner"
    )
    return file


FILE = _file()
SET: bytes = pb.FileDescriptorSet(file=[FILE]).SerializeToString()
POOL = pool_of.DescriptorPool()
POOL.Add(FILE)
ALL: Any = factory.GetMessageClass(POOL.FindMessageTypeByName("t.All"))


def _value(field: Any, r: random.Random) -> Any:
    bits = 32 if "32" in field.name else 64
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    if "uint" in field.name or "_fixed" in field.name:
        # `to_py` has no integers above i64.
        low, high = 0, min(2**bits - 1, 2**63 - 1)
    match field.name.split("_")[-1]:
        case "double":
            return r.choice([0.0, -0.5, 1e300, float("inf")])
        case "float":
            return r.choice([0.0, -0.5, 1.5e30])
        case "bool":
            return r.random() < 0.5
        case "string":
            return r.choice(["", "ß", "abc"])
        case "bytes":
            return r.randbytes(r.randrange(3))
        case "kind":
            return r.choice([0, 3, -2])
        case "x":
            return r.randrange(-5, 5)
        case _:
            return r.choice([low, high, r.randrange(low, high) >> r.randrange(bits)])


def _message(r: random.Random) -> Any:
    message = ALL()
    for field in message.DESCRIPTOR.fields:
        if r.random() < 0.4:
            continue
        many = field.name[:2] in ("r_", "p_")
        if field.message_type is not None:
            part = getattr(message, field.name).add() if many else getattr(message, field.name)
            part.SetInParent()
            part.names.extend(["n"] * r.randrange(3))
            if r.random() < 0.5:
                part.id = r.randrange(-(2**63), 2**63)
        elif many:
            getattr(message, field.name).extend(_value(field, r) for _ in range(r.randrange(4)))
        else:
            setattr(message, field.name, _value(field, r))
    return message


def _py(message: Any) -> "dict[str, Any]":
    """A message as `to_py` shows it: None for what is not there."""
    row: dict[str, Any] = {}
    for field in message.DESCRIPTOR.fields:
        value = getattr(message, field.name)
        if field.name[:2] in ("r_", "p_") or field.name == "names":
            row[field.name] = [_py(item) if field.message_type is not None else item for item in value]
        elif not message.HasField(field.name):
            row[field.name] = None
        else:
            row[field.name] = _py(value) if field.message_type is not None else value
    return row


def _ours(messages: "list[bytes]") -> Any:
    return ex.to_py(ex.read_proto(messages, SET, "t.All", optional="masked"))


def test_messages_are_read_as_google_reads_them() -> None:
    r = random.Random(1)
    # Several messages in one are merged.
    rows = [b"".join(_message(r).SerializeToString() for _ in range(1 + r.randrange(3))) for _ in range(200)]
    assert _ours(rows) == [_py(ALL.FromString(row)) for row in rows]


def test_every_cut_of_a_message_is_read_as_google_reads_it() -> None:
    r = random.Random(2)
    row = _message(r).SerializeToString() + _message(r).SerializeToString()
    for end in range(len(row)):
        try:
            wanted = _py(ALL.FromString(row[:end]))
        except Exception:  # noqa: BLE001
            with pytest.raises(ex.DataError, match="row 0, byte"):
                _ours([row[:end]])
        else:
            assert _ours([row[:end]]) == [wanted]


def test_a_closed_enum_has_no_other_numbers() -> None:
    kind = ALL.DESCRIPTOR.fields_by_name["o_kind"].number
    row = bytes([kind << 3 & 0x7F | 0x80, kind >> 4, 7]) if kind > 15 else bytes([kind << 3, 7])
    assert _ours([row])[0]["o_kind"] is None and not ALL.FromString(row).HasField("o_kind")


def _crc(data: bytes) -> int:
    """CRC-32C, bit by bit."""
    c = 0xFFFFFFFF
    for byte in data:
        c ^= byte
        for _ in range(8):
            c = c >> 1 ^ (0x82F63B78 if c & 1 else 0)
    return c ^ 0xFFFFFFFF


def _masked_crc(data: bytes) -> bytes:
    c = _crc(data)
    return struct.pack("<I", ((c >> 15 | c << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def test_every_kind_of_source_gives_the_same(tmp_path: pathlib.Path) -> None:
    rows = [b"\x08\x01\x1a\x01a", b"", b"\x08\x02"]
    wanted = [{"id": [1], "tags": ["a"]}, {"id": [], "tags": []}, {"id": [2], "tags": []}]
    delimited = b"".join(bytes([len(row)]) + row for row in rows)
    records = b""
    for row in rows:
        head = struct.pack("<Q", len(row))
        records += head + _masked_crc(head) + row + _masked_crc(row)
    path, proto, other = tmp_path / "rows.pb", tmp_path / "item.proto", tmp_path / "other.proto"
    path.write_bytes(delimited)
    other.write_text('syntax = "proto3"; message Other { int32 x = 1; }')
    proto.write_text(ITEM.replace('proto2";', 'proto2"; import "other.proto";'))
    sources: list[Any] = [rows, tuple(rows), ex.tensor(rows), delimited, bytearray(delimited), records, path, str(path)]
    for source in [*sources, io.BytesIO(records), io.BytesIO(delimited)]:
        assert ex.to_py(ex.read_proto(source, ITEM, "Item", paths=["id[*]", "tags"])) == wanted
    assert ex.to_py(ex.read_proto(rows, proto, "Item", paths=["id", "tags"])) == wanted
    assert ex.to_py(ex.read_proto(records, ITEM, "Item", paths=["tags"], framing="tfrecord")) == [{"tags": row["tags"]} for row in wanted]
    damaged = records[:13] + bytes([records[13] ^ 1]) + records[14:]
    value, bad = ex.read_proto(damaged, ITEM, "Item", paths=["id"], on_error="skip")
    assert (ex.to_py(value), bad.rows, bad.first[0].offset) == ([{"id": []}, {"id": [2]}], [0], 12)


@pytest.mark.parametrize(
    "name", ["proto_spec", "read_proto", "write_proto", "read_examples", "write_examples", "parse_examples", "encode_examples"]
)
def test_the_examples_of_the_docstrings_hold(name: str) -> None:
    text = inspect.getdoc(getattr(ex, name)) or ""
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
    assert test.examples and doctest.DocTestRunner(verbose=False).run(test).failed == 0


def test_what_does_not_fit_is_named() -> None:
    read = ex.read_proto
    calls: list[tuple[Any, str]] = [
        (lambda: read([b""], "message M {", "M"), "descriptor: "),
        (lambda: read([b""], 5, "M"), "descriptor: found a value of type int"),
        (lambda: read([b""], b"\xff", "M"), "descriptor: "),
        (lambda: read([b""], ITEM, "M"), "message: there is no 'M'"),
        (lambda: read([b""], ITEM, "Item"), "'parts': message Item holds itself"),
        (lambda: read([b"", "x"], ITEM, "Item", depth=0), r"source\[1\]: found a value of type str"),
        (lambda: read(ex.tensor([[b""]]), ITEM, "Item", depth=0), "source: the messages have shape"),
        (lambda: read(ex.tensor([1]), ITEM, "Item", depth=0), "source"),
        (lambda: read([], ITEM, "Item", optional="none"), "optional: found 'none'"),
        (lambda: read([], ITEM, "Item", enums="none"), "enums: found 'none'"),
        (lambda: read(b"", ITEM, "Item", framing="none"), "framing: found 'none'"),
        (lambda: read([b"\x08"], ITEM, "Item", depth=0), "row 0, byte 1, 'id': the message ends in a varint"),
        (lambda: read(b"\x7f", ITEM, "Item", depth=0), "row 0, byte 0: a length of 127 bytes stands here"),
        (lambda: read([], ITEM, "Item", paths=["nothing"]), "there is no 'nothing'"),
    ]
    for call, wanted in calls:
        with pytest.raises(ex.Error, match=wanted):
            call()


def test_a_function_reads_the_fields_that_it_needs(tmp_path: pathlib.Path) -> None:
    spec = ex.proto_spec(ITEM, "Item", depth=1, optional="masked")
    total = ex.function(lambda item: {"n": ex.num(item["parts"]), "id": item["id"]}, name="total")
    path = tmp_path / "f.exo"
    ex.save(total.get_concrete_function(spec), path)
    loaded = ex.load(path)
    assert sorted(loaded.required_paths()) == ["id", "parts"]
    # The price, which nobody needs, is no float; the tags are not UTF-8.
    rows = [b"\x08\x05\x10\x01\x1a\x01\xff\x22\x02\x08\x07\x22\x00", b"\x22\x02\x08\x07"]
    out = loaded.run(rows, descriptor=ITEM, message="Item")
    assert (out["n"].tolist(), ex.to_py(out["id"])) == ([2, 1], [5, None])
    out, bad = loaded.run([*rows, b"\x22\x05"], descriptor=ITEM, message="Item", on_error="skip")
    assert (out["n"].tolist(), bad.rows, bad.first[0].path) == ([2, 1], [2], "parts")
    with pytest.raises(ex.Error, match="`descriptor` and `message` for records"):
        loaded.run(rows, message="Item")


def test_one_spec_gives_the_same_components_from_json_and_from_messages() -> None:
    messages = [b"\x08\x01\x15\x00\x00\x20\x40\x1a\x01a\x1a\x02bc", b"\x08\x02"]
    lines = b'{"id": 1, "price": 2.5, "tags": ["a", "bc"]}\n{"id": 2, "price": null, "tags": []}\n'
    spec = ex.proto_spec(ITEM, "Item", depth=0, optional="masked")
    read, wanted = ex.read_proto(messages, ITEM, "Item", spec), ex.read_json(lines, spec)
    assert ex.write_json(read) == ex.write_json(wanted)
    ours, theirs = ex.nest.flatten(read, expand_composites=True), ex.nest.flatten(wanted, expand_composites=True)
    assert [x.tolist() for x in ours] == [x.tolist() for x in theirs]


def test_what_is_written_is_what_google_reads(tmp_path: pathlib.Path) -> None:
    r = random.Random(3)
    rows = [_message(r).SerializeToString() for _ in range(100)]
    options: dict[str, Any]
    for options in [{"optional": "masked"}, {"optional": "rows"}, {"optional": "masked", "enums": "names"}]:
        value = ex.read_proto(rows, SET, "t.All", **options)
        written = ex.write_proto(value, descriptor=SET, message="t.All")
        assert [ALL.FromString(row) for row in written.tolist()] == [ALL.FromString(row) for row in rows]
        for framing in ("delimited", "tfrecord"):
            path = tmp_path / f"rows.{framing}"
            ex.write_proto(value, path, SET, "t.All", framing=framing)
            again = ex.read_proto(path, SET, "t.All", **options)
            assert ex.write_proto(again, descriptor=SET, message="t.All").tolist() == written.tolist()
            # A file object is a target as a path is, and serialized messages are messages already.
            for x, of in [(value, (SET, "t.All")), (written, ())]:
                file = io.BytesIO()
                assert ex.write_proto(x, file, *of, framing=framing) is None
                assert file.getvalue() == path.read_bytes()


def test_what_a_message_cannot_hold_is_named() -> None:
    one = "syntax = 'proto3'; enum E { A = 0; } message M { int32 id = 1; repeated sint32 n = 2; oneof o { int32 x = 3; E e = 4; } M m = 5; }"
    cases: list[tuple[Any, str]] = [
        ([{"id": 2**40}], r"encode: row 0, 'id': the number 1099511627776 stands here"),
        ([{"n": [1]}, {"n": [2, 2**31]}], r"encode: row 1, 'n\[1\]': the number 2147483648 stands here"),
        ([{"x": 1, "e": 0}], "encode: row 0, 'e': this member of a oneof and 'x' are both there"),
        ([{"x": [1, 2]}, {"x": []}], "encode: row 0, 'x': 2 values stand here"),
        ([{"e": "B"}], "encode: row 0, 'e': the enum has no 'B'"),
        ([{"id": "a"}], "encode: 'id': a field of kind int32 is given string"),
        ([{"other": 1}], "encode: 'other': message M has no field 'other'"),
        ([{"n": 1}], "encode: 'n': a repeated field is given one value"),
        ([{"m": {"z": 1}}], "encode: 'm.z': message M has no field 'z'"),
        ([{"id": 0.5}], "encode: 'id': a field of kind int32"),
    ]
    for rows, wanted in cases:
        with pytest.raises(ex.Error, match=wanted):
            ex.write_proto(ex.constant(rows), descriptor=one, message="M")
    with pytest.raises(ex.Error, match="nothing says which message"):
        ex.write_proto(ex.constant([{"id": 1}]))
    with pytest.raises(ex.Error, match="nothing says which message"):
        ex.write_proto(ex.constant([{"id": 1}]), io.BytesIO())
    with pytest.raises(ex.Error, match="one of `descriptor` and `message` is given"):
        ex.write_proto(ex.constant([{"id": 1}]), io.BytesIO(), one)
    with pytest.raises(ex.Error, match="encode: message M requires 'id'"):
        ex.write_proto(ex.constant([{"x": 1}]), None, "message M { required int32 id = 1; optional int32 x = 2; }", "M")


EXAMPLE = """
syntax = "proto3";
package tf;
message BytesList { repeated bytes value = 1; }
message FloatList { repeated float value = 1; }
message Int64List { repeated int64 value = 1; }
message Feature { oneof kind { BytesList bytes_list = 1; FloatList float_list = 2; Int64List int64_list = 3; } }
message Features { map<string, Feature> feature = 1; }
message Example { Features features = 1; }
"""


def test_examples_are_read_by_the_names_of_their_features(tmp_path: pathlib.Path) -> None:
    def feature(name: str, **lists: Any) -> "dict[str, Any]":
        kinds = dict.fromkeys(["bytes_list", "float_list", "int64_list"])
        return {"key": name, "value": {**kinds, **{kind: {"value": value} for kind, value in lists.items()}}}

    rows: list[list[dict[str, Any]]] = [
        [feature("age", int64_list=[7]), feature("x", float_list=[0.5, 1.0]), feature("tags", bytes_list=[b"a", b"b"])],
        [feature("tags", bytes_list=[]), feature("other", float_list=[1.0]), feature("x", float_list=[2.0, 3.0])],
    ]
    one = {"features": None}
    spec = ex.proto_spec(EXAMPLE, "tf.Example", optional="masked")
    lines = json.dumps([{**one, "features": {"feature": _jsonable(row)}} for row in rows]).encode()
    examples = ex.write_proto(ex.read_json(lines, spec), descriptor=EXAMPLE, message="tf.Example")
    features = ex.StructTensorSpec(
        [None],
        {
            "age": ex.MaskedTensorSpec(ex.TensorSpec([None], "i32")),
            "x": ex.TensorSpec([None, 2], "f32"),
            "tags": ex.RaggedTensorSpec([None, None], "string"),
        },
    )
    wanted = [{"age": 7, "x": [0.5, 1.0], "tags": ["a", "b"]}, {"age": None, "x": [2.0, 3.0], "tags": []}]
    assert ex.to_py(ex.read_examples(examples, features)) == wanted
    assert ex.to_py(ex.read_examples(examples, features, paths=["x"])) == [{"x": row["x"]} for row in wanted]
    f = ex.function(lambda row: ex.sum(row["x"], axis=1), name="f").get_concrete_function(features)
    assert f.run(examples, message="tf.train.Example").tolist() == [1.5, 5.0]
    value, bad = ex.read_examples([*examples.tolist(), b""], features, on_error="skip")
    assert (ex.to_py(value), bad.rows, bad.first[0].path) == (wanted, [2], "x")


FEATURES = ex.StructTensorSpec(
    [None],
    {
        "age": ex.TensorSpec([None], "i64"),
        "x": ex.MaskedTensorSpec(ex.TensorSpec([None], "f32")),
        "pair": ex.TensorSpec([None, 2], "f64"),
        "tags": ex.RaggedTensorSpec([None, None], "string"),
    },
)
USERS: "list[dict[str, Any]]" = [
    {"age": 7, "x": 0.5, "pair": [0.25, 1.0], "tags": ["a", "b"]},
    {"age": -1, "x": None, "pair": [-1.5, 0.0], "tags": []},
]


def test_examples_are_written_and_read_again(tmp_path: pathlib.Path) -> None:
    lines = b"".join(json.dumps(row).encode() + b"\n" for row in USERS)
    users = ex.read_json(lines, FEATURES)
    messages = ex.write_examples(users)
    assert ex.to_py(ex.read_examples(messages, FEATURES)) == USERS
    for framing in ("tfrecord", "delimited"):
        path, sink = tmp_path / framing, io.BytesIO()
        ex.write_examples(users, path, framing=framing)
        ex.write_examples(users, sink, framing=framing)
        assert path.read_bytes() == sink.getvalue()
        assert ex.to_py(ex.read_examples(path, FEATURES, framing=framing)) == USERS
    # What a descriptor says of an example reads what was written too.
    plain = ex.read_proto(messages, EXAMPLE, "tf.Example")
    features = [entry for feature in ex.to_py(plain)[0]["features"] for entry in feature["feature"]]
    assert [entry["key"] for entry in features] == ["age", "x", "pair", "tags"]
    assert features[0]["value"] == {"bytes_list": [], "float_list": [], "int64_list": [{"value": [7]}]}
    with pytest.raises(ex.Error, match="fits f32"):
        ex.write_examples(ex.constant([{"y": 0.5}, {"y": 0.1}]))
    with pytest.raises(ex.Error, match="a feature cannot hold a struct"):
        ex.write_examples(ex.constant([{"deep": {"ok": 1}}]))
    flags = ex.constant([{"ok": True}, {"ok": False}])
    assert ex.to_py(ex.read_examples(ex.write_examples(flags), ex.StructTensorSpec([None], {"ok": ex.TensorSpec([None], "bool")}))) == ex.to_py(flags)


def test_a_graph_decodes_the_features_that_it_uses() -> None:
    messages = ex.encode_examples(ex.read_json([{**row} for row in USERS], FEATURES))
    assert ex.to_py(ex.parse_examples(messages, FEATURES)) == USERS
    age = ex.function(lambda raw: ex.parse_examples(raw, FEATURES)["age"] + 1, name="age")
    assert age(messages).tolist() == [8, 0]
    # The bytes of the tags are no UTF-8, and nobody looks at them.
    odd = ex.write_examples(ex.constant([{"age": 1, "pair": [0.0, 0.0], "tags": [b"\xff"]}]))
    assert age(odd).tolist() == [2]
    with pytest.raises(ex.DataError, match="'tags'.*UTF-8"):
        ex.parse_examples(odd, FEATURES)
    records, bad = ex.parse_examples(odd, FEATURES, on_error="default")
    assert (ex.to_py(records["tags"]), bad.tolist()) == ([[]], [True])
    rows = ex.constant([messages.tolist(), []])
    assert ex.to_py(ex.parse_examples(rows, FEATURES, paths=["age"])) == [[{"age": 7}, {"age": -1}], []]


def test_a_run_writes_examples(tmp_path: pathlib.Path) -> None:
    f = ex.function(lambda users: {"n": ex.num(users["tags"], axis=1)}, name="f").get_concrete_function(FEATURES)
    messages = ex.encode_examples(ex.read_json([{**row} for row in USERS], FEATURES))
    said: dict[str, Any] = {"message": "tf.train.Example"}
    for more in ({}, {"target_message": "tf.train.Example"}):
        f.run(messages, target=tmp_path / "out.tfrecord", **said, **more)
        counts = ex.StructTensorSpec([None], {"n": ex.TensorSpec([None], "i32")})
        assert ex.to_py(ex.read_examples(tmp_path / "out.tfrecord", counts)) == [{"n": 2}, {"n": 0}]
    with pytest.raises(ex.InvalidValueError, match="JSON form"):
        f.run(messages, target=tmp_path / "out.ndjson", target_message="tf.train.Example", **said)


@pytest.mark.parametrize("framing", ["delimited", "tfrecord"])
def test_packed_files_of_messages_are_read(framing: str, tmp_path: pathlib.Path) -> None:
    rows = ex.read_json([{"id": 7, "tags": ["a"]}, {"id": 8, "tags": []}])
    plain, path = tmp_path / "rows", tmp_path / "rows.gz"
    ex.write_proto(rows, plain, descriptor=ITEM, message="Item", framing=framing)
    path.write_bytes(gzip.compress(plain.read_bytes()) + bytes(512))
    for source in (path, path.read_bytes()):
        read = ex.read_proto(source, ITEM, "Item", paths=["id"], optional="masked")
        assert ex.to_py(read) == [{"id": 7}, {"id": 8}]


OPTIONAL = """syntax = 'proto2'; message M { optional int64 a = 1; optional P p = 2; repeated P q = 3; optional string s = 4; required bool r = 5; }
message P { optional int64 v = 1; optional string w = 2; }"""


@pytest.mark.parametrize(
    "row",
    [
        {"a": [7], "p": [{"v": [1], "w": []}], "q": [{"v": [1], "w": []}, {"v": [2], "w": []}], "s": ["x"]},
        {"a": [], "p": [], "q": [{"v": [], "w": []}], "s": []},
        {"a": [0], "p": [{"v": [], "w": [""]}], "q": [{"v": [], "w": ["u"]}], "s": []},
    ],
)
def test_what_is_optional_may_have_one_length_in_all_rows(row: dict[str, Any], tmp_path: pathlib.Path) -> None:
    """Rows of one length are dense, and others are not; the messages are the same."""
    row = {**row, "r": True}
    beside = {"a": [3], "p": [{"v": [4], "w": ["y"]}], "q": [{"v": [5], "w": ["a"]}, {"v": [], "w": []}, {"v": [6], "w": []}], "s": ["z"], "r": False}
    spec = ex.infer_spec([beside, {**beside, "a": [], "p": [], "q": [], "s": []}])
    wanted = ex.encode_proto(ex.read_json([row, beside], spec), OPTIONAL, "M").tolist()[0]
    assert ex.encode_proto(ex.constant([row]), OPTIONAL, "M").tolist() == [wanted]
    assert ex.encode_proto(ex.constant([row, row]), OPTIONAL, "M").tolist() == [wanted, wanted]
    ex.write_proto(ex.constant([row]), tmp_path / "m", descriptor=OPTIONAL, message="M")
    assert ex.to_py(ex.read_proto(tmp_path / "m", OPTIONAL, "M")) == [row]
    with pytest.raises(ex.Error, match="'a'.*an axis of 2"):
        ex.encode_proto(ex.constant([{"a": [1, 2], "r": True}]), OPTIONAL, "M")


def _jsonable(row: "list[dict[str, Any]]") -> "list[dict[str, Any]]":
    text = json.dumps(row, default=lambda b: base64.b64encode(b).decode())
    return list(json.loads(text))


def test_an_any_in_parts_is_one_message() -> None:
    text = 'syntax="proto3"; import "google/protobuf/any.proto"; message M { google.protobuf.Any any = 1; int32 i = 2; }'
    kind, value, other = b"\x0a\x05\x0a\x03a/M", b"\x0a\x04\x12\x02\x10\x05", b"\x0a\x05\x0a\x03a/X"

    def read(message: bytes) -> object:
        rows = ex.read_proto([message], text, "M", optional="masked", paths=['any."[M]".i', "any.type_url"])
        return rows.to_py()[0]["any"]

    for parts in (kind + value, value + kind, value + other + kind):
        assert read(parts) == {"[M]": {"i": 5}, "type_url": "a/M"}
    assert read(kind + value + other) == {"[M]": None, "type_url": "a/X"}


def test_the_name_of_the_target_says_how_messages_are_framed(tmp_path: pathlib.Path) -> None:
    item, rows = "syntax = 'proto3'; message M { int64 a = 1; }", [{"a": 1}, {"a": 2}]
    for name in ("w.tfrecord", "w.pb"):
        ex.write_proto(ex.constant(rows), tmp_path / name, item, "M")
        assert ex.read_proto(tmp_path / name, item, "M").to_py() == rows
    ex.write_proto(ex.constant(rows), tmp_path / "x.tfrecord", item, "M", framing="delimited")
    assert (tmp_path / "x.tfrecord").read_bytes() == (tmp_path / "w.pb").read_bytes()


def test_what_other_readers_take_is_taken() -> None:
    """Bits of base64 that carry nothing, and a mark before a descriptor."""
    text = "syntax='proto3'; message M{uint64 a=1; bytes y=2;}"
    assert ex.read_proto([b"\x08\x01"], "\ufeff" + text, "M")["a"].to_py() == [1]
    for said, bytes_ in (('"-_"', b"\xfb"), ('"AR=="', b"\x01"), ('"AB"', b"\0")):
        assert ex.read_json(f'{{"y": {said}}}'.encode(), descriptor=text, message="M")["y"].to_py() == [bytes_]


def test_a_oneof_comes_back_from_arrow_and_avro() -> None:
    text = "syntax='proto3'; message M { oneof o { string s = 1; int32 i = 2; } }"
    lines = b'{"s":"x"}\n{"i":3}\n{}\n'
    x = ex.read_json(lines, descriptor=text, message="M", oneof="union", optional="masked")
    wanted = ex.encode_proto(x, text, "M").tolist()
    for back in (ex.read_arrow(ex.write_arrow(x)), ex.from_arrow(ex.to_arrow(x)), ex.read_avro(ex.write_avro(x))):
        assert ex.encode_proto(back, text, "M").tolist() == wanted
        assert ex.write_json(back, descriptor=text, message="M") == lines
