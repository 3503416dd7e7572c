"""One law over all formats: records -> format -> components gives the same bits for every format, and for direct construction; and back."""

import io
import random
from collections.abc import Callable
from typing import Any

import extenso as ex
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

SCHEMA = """
syntax = "proto3";
message User { string name = 1; optional int32 age = 2; }
message Item { string sku = 1; float price = 2; repeated uint32 counts = 3; }
message Row { int64 id = 1; User user = 2; repeated Item items = 3; repeated string tags = 4; optional double score = 5; bool paid = 6; }
"""


def _vector(dtype: str) -> Any:
    return ex.TensorSpec([None], dtype)


def _masked(dtype: str) -> Any:
    return ex.MaskedTensorSpec(_vector(dtype))


def _spec() -> Any:
    user = ex.StructTensorSpec([None], {"name": _vector("string"), "age": _masked("i32")})
    item = ex.StructTensorSpec([None], {"sku": _vector("string"), "price": _vector("f32"), "counts": ex.RaggedTensorSpec([None, None], "u32")})
    return ex.StructTensorSpec(
        [None],
        {
            "id": _vector("i64"),
            "user": user,
            "items": ex.RaggedTensorSpec([None, None], flat_values_spec=item),
            "tags": ex.RaggedTensorSpec([None, None], "string"),
            "score": _masked("f64"),
            "paid": _vector("bool"),
        },
    )


SPEC = _spec()


RESULTS = ex.StructTensorSpec([None], {"name": _vector("string"), "score": _masked("f64"), "total": _vector("f32")})


def _records(seed: int, n: int) -> "list[dict[str, Any]]":
    rng = random.Random(seed)
    text = lambda: rng.choice(["", "a", "ß", "x" * rng.randrange(70), "\u0000\n\"", "日本"])
    number = lambda: rng.choice([0.0, -0.0, 1.5, -1e300, 5e-324, rng.uniform(-1, 1)])
    item = lambda: {
        "sku": text(),
        "price": float(np.float32(rng.choice([0.0, -0.0, 0.1, -3.25, 1e30]))),
        "counts": [rng.choice([0, 1, 2**32 - 1]) for _ in range(rng.randrange(3))],
    }
    return [
        {
            "id": rng.choice([0, -1, 2**63 - 1, -(2**63), i]),
            "user": {"name": text(), "age": rng.choice([None, 0, -(2**31), 7])},
            "items": [item() for _ in range(rng.randrange(4))],
            "tags": [text() for _ in range(rng.randrange(3))],
            "score": rng.choice([None, number()]),
            "paid": rng.random() < 0.5,
        }
        for i in range(n)
    ]


def _through_pyarrow(value: Any) -> Any:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_batches([pa.RecordBatch.from_struct_array(pa.array(value.to_arrow()))]), sink)
    return ex.read_parquet(sink.getvalue(), SPEC)


FORMATS: "dict[str, Callable[[Any], Any]]" = {
    "json": lambda value: ex.read_json(ex.write_json(value), SPEC),
    "protobuf": lambda value: ex.read_proto(ex.write_proto(value, descriptor=SCHEMA, message="Row"), SCHEMA, "Row", SPEC),
    "arrow": lambda value: ex.from_arrow(value.to_arrow(), SPEC),
    "parquet": lambda value: ex.read_parquet(ex.write_parquet(value), SPEC),
    "parquet of pyarrow": _through_pyarrow,
    "avro": lambda value: ex.read_avro(ex.write_avro(value), SPEC),
}


def _components(value: Any) -> "list[tuple[str, Any]]":
    """The dtype and the bits of each component."""
    bits = lambda x: x.tolist() if x.dtype in (ex.string, ex.bytes) else np.asarray(x).tobytes()
    return [(str(x.dtype), bits(x)) for x in ex.nest.flatten(value, expand_composites=True)]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(("seed", "n"), [(1, 0), (2, 1), (3, 7), (4, 300)])
def test_every_format_gives_the_components_of_direct_construction(name: str, seed: int, n: int) -> None:
    records = _records(seed, n)
    direct = ex.read_json(records, SPEC)
    assert ex.to_py(direct) == records
    if n:
        assert _components(ex.constant(records, SPEC)) == _components(direct)
    read = FORMATS[name](direct)
    assert ex.spec_of(read) == ex.spec_of(direct)
    assert _components(read) == _components(direct)
    assert ex.to_py(read) == records


def test_a_function_gives_the_same_bits_over_every_format(tmp_path: Any) -> None:
    records = _records(5, 200)
    value = ex.read_json(records, SPEC)
    total = lambda r: {"total": ex.sum(r["items", "price"], axis=1), "name": r["user", "name"], "score": r["score"]}
    f = ex.function(total, name="total").get_concrete_function(SPEC)
    wanted = _components(f(value))
    messages = ex.write_proto(value, descriptor=SCHEMA, message="Row")
    assert _components(f.run(messages, descriptor=SCHEMA, message="Row")) == wanted
    json, parquet, avro = ex.write_json(value), ex.write_parquet(value), ex.write_avro(value)
    for source in [json, parquet, avro]:
        assert _components(f.run(source)) == wanted
        f.run(source, target=tmp_path / "out.parquet")
        assert _components(ex.read_parquet(tmp_path / "out.parquet", RESULTS)) == wanted
        f.run(source, target=tmp_path / "out.avro")
        assert _components(ex.read_avro(tmp_path / "out.avro", RESULTS)) == wanted
        f.run(source, target=tmp_path / "out.ndjson")
        assert (tmp_path / "out.ndjson").read_bytes() == ex.write_json(f(value))
