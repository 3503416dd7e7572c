"""The JSON form of messages, against Google's `protobuf`."""

import importlib
import random
from typing import Any

import extenso as ex
import pytest

pb: Any = importlib.import_module("google.protobuf.descriptor_pb2")
pool_of: Any = importlib.import_module("google.protobuf.descriptor_pool")
factory: Any = importlib.import_module("google.protobuf.message_factory")

SCALARS = [
    "double", "float", "int64", "uint64", "int32", "fixed64", "fixed32", "bool", "string", "bytes", "uint32", "sfixed32",
    "sfixed64", "sint32", "sint64",
]

FORMS = """
syntax = "proto3";
import "google/protobuf/timestamp.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/wrappers.proto";
import "google/protobuf/field_mask.proto";
enum Kind { OTHER = 0; BOOK = 1; GAME = -3; }
message Inner { sint32 some_number = 1; repeated float floats = 2; }
message Form {
    int32 a = 1; int64 long_number = 2; uint32 c = 3; uint64 d = 4; float e = 5; double f = 6; bool g = 7; string h = 8; bytes i = 9; Kind k = 10;
    optional int64 maybe = 11; optional string text = 12; repeated int64 longs = 13; repeated string texts = 14; repeated Kind kinds = 15;
    map<string, Inner> by_name = 16; map<int64, double> by_number = 17; map<bool, bytes> by_flag = 18; Inner inner = 19; repeated Inner inners = 20;
    oneof one { int32 x = 21; string y = 22; Inner z = 23; }
    google.protobuf.Timestamp at = 24; google.protobuf.Duration took = 25; google.protobuf.UInt64Value wrapped = 26;
    google.protobuf.StringValue name = 27; google.protobuf.FieldMask mask = 28;
}
"""


def _form_class() -> Any:
    modules = [importlib.import_module(f"google.protobuf.{name}_pb2") for name in ("timestamp", "duration", "wrappers", "field_mask")]
    file = pb.FileDescriptorProto(name="form.proto", syntax="proto3", dependency=[m.DESCRIPTOR.name for m in modules])
    types = {name: getattr(pb.FieldDescriptorProto, f"TYPE_{name.upper()}") for name in [*SCALARS, "message", "enum"]}
    kind = file.enum_type.add(name="Kind")
    for name, number in (("OTHER", 0), ("BOOK", 1), ("GAME", -3)):
        kind.value.add(name=name, number=number)
    form = None
    for line in FORMS.split("message ")[1:]:
        message = file.message_type.add(name=line.split()[0])
        form = message
        body = line[line.index("{") + 1 : line.rindex("}")]
        one = body.find("oneof one {")
        spans = [(body[:one] if one >= 0 else body, False)]
        if one >= 0:
            message.oneof_decl.add(name="one")
            inside, rest = body[one + len("oneof one {") :].split("}", 1)
            spans += [(inside, True), (rest, False)]
        for span, is_member in spans:
            for declared in filter(None, (part.strip() for part in span.split(";"))):
                head, number = declared.rsplit("=", 1)
                words = head.replace(", ", ",").split()
                name, of = words[-1], words[-2]
                field = message.field.add(name=name, number=int(number), label=1)
                if is_member:
                    field.oneof_index = 0
                if words[0] == "repeated":
                    field.label = 3
                if words[0] == "optional":
                    field.proto3_optional = True
                    field.oneof_index = len(message.oneof_decl)
                    message.oneof_decl.add(name=f"_{name}")
                if of.startswith("map<"):
                    key, value = of[4:-1].split(",")
                    entry_name = "".join(part.title() for part in name.split("_")) + "Entry"
                    entry = message.nested_type.add(name=entry_name)
                    entry.options.map_entry = True
                    for n, (part, part_type) in enumerate((("key", key), ("value", value)), 1):
                        inner = entry.field.add(name=part, number=n, label=1, type=types.get(part_type, types["message"]))
                        if part_type not in types:
                            inner.type_name = f".{part_type}"
                    field.label, field.type, field.type_name = 3, types["message"], f".{message.name}.{entry_name}"
                elif of in types:
                    field.type = types[of]
                else:
                    field.type, field.type_name = types["enum" if of == "Kind" else "message"], f".{of}"
        real = [i for i, decl in enumerate(message.oneof_decl) if not decl.name.startswith("_")]
        if real and real[0] != 0:
            # Oneofs that stand for `optional` come last.
            order = real + [i for i in range(len(message.oneof_decl)) if i not in real]
            names = [message.oneof_decl[i].name for i in order]
            for field in message.field:
                if field.HasField("oneof_index") and field.proto3_optional:
                    field.oneof_index = names.index(f"_{field.name}")
            for decl, name in zip(message.oneof_decl, names, strict=True):
                decl.name = name
    assert form is not None
    pool = pool_of.DescriptorPool()
    for module in modules:
        pool.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
    pool.Add(file)
    return factory.GetMessageClass(pool.FindMessageTypeByName("Form"))


def _filled(message: Any, rng: random.Random, depth: int = 2) -> Any:
    """A message whose fields are there or not by chance, with values that JSON can say."""
    for field in message.DESCRIPTOR.fields:
        if rng.random() < 0.3 or (depth == 0 and field.message_type):
            continue
        of = field.message_type.full_name if field.message_type else ""
        if field.message_type and field.message_type.GetOptions().map_entry:
            key_field, value_field = field.message_type.fields
            for _ in range(rng.randint(0, 3)):
                key = _scalar(key_field, rng)
                if value_field.message_type:
                    _filled(getattr(message, field.name)[key], rng, depth - 1)
                else:
                    getattr(message, field.name)[key] = _scalar(value_field, rng)
        elif of == "google.protobuf.Timestamp":
            unit = 10 ** rng.choice([0, 3, 6, 9])
            message.at.FromNanoseconds(rng.randint(-(10**18), 10**18) // unit * unit)
        elif of == "google.protobuf.Duration":
            message.took.FromNanoseconds(rng.randint(-(10**15), 10**15))
        elif of == "google.protobuf.FieldMask":
            message.mask.paths.extend(rng.sample(["a", "by_name", "inner.some_number"], 2))
        elif field.is_repeated:
            for _ in range(rng.randint(0, 3)):
                items = getattr(message, field.name)
                _filled(items.add(), rng, depth - 1) if field.message_type else items.append(_scalar(field, rng))
        elif field.message_type:
            getattr(message, field.name).SetInParent()
            _filled(getattr(message, field.name), rng, depth - 1)
        else:
            setattr(message, field.name, _scalar(field, rng))
    return message


def _scalar(field: Any, rng: random.Random) -> Any:
    kind = field.cpp_type
    if kind == field.CPPTYPE_ENUM:
        return rng.choice([0, 1, -3])
    if kind == field.CPPTYPE_BOOL:
        return rng.random() < 0.5
    if kind in (field.CPPTYPE_FLOAT, field.CPPTYPE_DOUBLE):
        return rng.choice([0.5, -1e10, 0.0, -0.0, float("inf"), float("-inf"), rng.random()])
    if kind == field.CPPTYPE_STRING:
        return rng.choice([b"", b"\xff\xfe\xfd", b"ab"]) if field.type == field.TYPE_BYTES else rng.choice(["", "aß\n\"", "\U0001f600"])
    low, high = {
        field.CPPTYPE_INT32: (-(2**31), 2**31 - 1), field.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
        field.CPPTYPE_UINT32: (0, 2**32 - 1), field.CPPTYPE_UINT64: (0, 2**63 - 1),  # `to_py` has no larger ones.
    }[kind]
    return rng.choice([low, high, 0, 1, rng.randint(low, high)])


@pytest.mark.parametrize("optional", ["rows", "masked"])
@pytest.mark.parametrize("enums", ["numbers", "names"])
def test_the_json_form_is_that_of_the_oracle(optional: Any, enums: Any) -> None:
    forms: Any = importlib.import_module("google.protobuf.json_format")
    form, rng = _form_class(), random.Random(5)
    messages = [_filled(form(), rng) for _ in range(60)]
    said: dict[str, Any] = {"descriptor": FORMS, "message": "Form", "optional": optional, "enums": enums}
    value = ex.read_proto([message.SerializeToString() for message in messages], **said)
    for keywords in ({}, {"preserving_proto_field_name": True}, {"use_integers_for_enums": True}, {"always_print_fields_with_no_presence": True}):
        lines = "\n".join(forms.MessageToJson(message, indent=None, **keywords) for message in messages)
        read = ex.read_json(lines.encode(), **said)
        assert str(_sorted(read)) == str(_sorted(value))
    written = ex.write_json(value, descriptor=FORMS, message="Form").decode().splitlines()
    for line, message in zip(written, messages, strict=True):
        assert str(forms.Parse(line, form())) == str(message)


def _sorted(records: Any) -> Any:
    """The records without the order of maps, which messages do not have."""
    def order(entries: Any) -> Any:
        if isinstance(entries, list):
            items = [order(entry) for entry in entries]
            return sorted(items, key=str) if items and isinstance(items[0], dict) and set(items[0]) == {"key", "value"} else items
        return {name: order(entry) for name, entry in entries.items()} if isinstance(entries, dict) else entries

    return order(ex.to_py(records))


def test_keywords_of_the_json_form_want_each_other() -> None:
    for keywords in ({"descriptor": FORMS}, {"message": "Form"}):
        with pytest.raises(ex.Error, match="`descriptor` and `message`"):
            ex.read_json(b"{}", **keywords)
        with pytest.raises(ex.Error, match="`descriptor` and `message`"):
            ex.write_json({"a": ex.tensor([1])}, **keywords)
    value, bad = ex.read_json(b'{"a": 1}\n{"a": "x"}', descriptor=FORMS, message="Form", paths=["a"], on_error="skip")
    assert (value["a"].tolist(), bad.rows) == ([1], [1])


def test_a_key_of_a_number_has_one_spelling() -> None:
    options: Any = {"descriptor": 'syntax="proto3"; message M { map<int32, bool> m = 1; }', "message": "M"}
    assert ex.read_json(b'{"m": {"1": true, "-2": false}}', **options).to_py() == [
        {"m": [{"key": 1, "value": True}, {"key": -2, "value": False}]}
    ]
    for key in ("1.0", "1e0", "-0", "01", "+1"):
        with pytest.raises(ex.DataError, match="the key|invalid"):
            ex.read_json(b'{"m": {"%s": true}}' % key.encode(), **options)
        with pytest.raises(ex.Error, match="is no key of a map by int32"):
            ex.read_json(b'{"m": {"1": true}}', paths=[f'm["{key}"]'], **options)


def test_the_message_of_an_any_is_that_of_the_oracle() -> None:
    forms, rng = importlib.import_module("google.protobuf.json_format"), random.Random(7)
    known = {name: importlib.import_module(f"google.protobuf.{name}_pb2") for name in ("any", "duration", "wrappers")}
    file = pb.FileDescriptorProto(name="parcel.proto", syntax="proto3", dependency=[m.DESCRIPTOR.name for m in known.values()])
    item = file.message_type.add(name="Item")
    item.field.add(name="sku_number", number=1, label=1, type=3)
    item.field.add(name="tags", number=2, label=3, type=9)
    parcel = file.message_type.add(name="Parcel")
    for name, number, label in (("content", 1, 1), ("more", 2, 3)):
        parcel.field.add(name=name, number=number, label=label, type=11, type_name=".google.protobuf.Any")
    pool = pool_of.DescriptorPool()
    for module in known.values():
        pool.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
    pool.Add(file)
    of = {name: factory.GetMessageClass(pool.FindMessageTypeByName(name)) for name in (
        "Item", "Parcel", "google.protobuf.Any", "google.protobuf.Duration", "google.protobuf.Int64Value",
    )}

    def fill(held: Any, depth: int = 0) -> None:
        name = rng.choice([name for name in of if depth < 3 or name != "google.protobuf.Any"])
        inner = of[name]()
        if name == "Item":
            inner.sku_number, inner.tags[:] = rng.randint(-3, 3), rng.sample(["a", "é", "\n"], rng.randint(0, 3))
        elif name == "Parcel":
            fill(inner.content, depth + 1) if depth < 3 else None
        elif name == "google.protobuf.Any":
            fill(inner, depth + 1)
        elif name == "google.protobuf.Duration":
            inner.FromNanoseconds(rng.randint(-(10**12), 10**12))
        else:
            inner.value = rng.randint(-(2**63), 2**63 - 1)
        held.Pack(inner)

    messages = [of["Parcel"]() for _ in range(60)]
    for message in messages:
        if rng.random() < 0.8:
            fill(message.content)
        for _ in range(rng.randint(0, 2)):
            fill(message.more.add())
    files = pb.FileDescriptorSet(file=[pb.FileDescriptorProto.FromString(m.DESCRIPTOR.serialized_pb) for m in known.values()] + [file])
    said: Any = {"descriptor": files.SerializeToString(), "message": "Parcel"}
    value = ex.read_proto([message.SerializeToString() for message in messages], **said)
    lines = "\n".join(forms.MessageToJson(message, indent=None, descriptor_pool=pool) for message in messages)
    assert ex.to_py(ex.read_json(lines.encode(), **said)) == ex.to_py(value)
    spread = ",\n".join(forms.MessageToJson(message, descriptor_pool=pool) for message in messages)
    assert ex.to_py(ex.read_json(f"[{spread}]".encode(), **said)) == ex.to_py(value)
    written = ex.write_json(value, **said).decode().splitlines()
    for line, message in zip(written, messages, strict=True):
        assert str(forms.Parse(line, of["Parcel"](), descriptor_pool=pool)) == str(message)
