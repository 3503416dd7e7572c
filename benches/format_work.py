"""The workloads on records in files and messages: NDJSON, protocol buffers, Parquet, and one record at a time."""

import pathlib
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from data import RATING_WIDTH, recipes, with_users
from work import NO_BAR, Bar, Work, total

RECIPES, USERS = 30_000, 60_000
SCALARS = {"int64": "BIGINT", "int32": "INTEGER", "float": "FLOAT", "string": "VARCHAR"}


class Records(NamedTuple):
    """One data set in all forms, and what of it is asked for."""

    name: str
    array: Any
    folder: pathlib.Path
    message: str
    leaves: "list[str]"
    """Three leaves; the first two stand for two."""
    number: "tuple[str, str]"
    """The list and the field of it whose sum is compared."""

    def path(self, suffix: str) -> pathlib.Path:
        return self.folder / f"{self.name}.{suffix}"


def duckdb_type(t: Any) -> str:
    """Returns a type of Arrow as DuckDB writes it."""
    import pyarrow as pa

    if pa.types.is_struct(t):
        return "STRUCT(" + ", ".join(f'"{t.field(i).name}" {duckdb_type(t.field(i).type)}' for i in range(t.num_fields)) + ")"
    if pa.types.is_list(t) or pa.types.is_fixed_size_list(t):
        return duckdb_type(t.value_type) + "[]"
    return SCALARS[str(t)]


def descriptors() -> bytes:
    """Returns the messages of both data sets as a serialized descriptor set."""
    from google.protobuf import descriptor_pb2 as d

    kinds = {"f": d.FieldDescriptorProto.TYPE_FLOAT, "i": d.FieldDescriptorProto.TYPE_INT64, "s": d.FieldDescriptorProto.TYPE_STRING}
    file = d.FileDescriptorProto(name="bench.proto", package="bench", syntax="proto2")

    def message(name: str, /, **fields: str) -> None:
        made = file.message_type.add(name=name)
        for number, (field, kind) in enumerate(fields.items(), 1):
            repeated, kind = kind.startswith("*"), kind.lstrip("*")
            one = made.field.add(name=field, number=number, label=3 if repeated else 1)
            if kind in kinds:
                one.type = kinds[kind]
                one.options.packed = repeated and kind != "s"
            else:
                one.type, one.type_name = d.FieldDescriptorProto.TYPE_MESSAGE, f".bench.{kind}"

    message("Ingredient", amount="f", unit="s", name="s")
    message("Step", description="s")
    message("Recipe", title="s", est_time="f", ingredients="*Ingredient", step="*Step")
    message("Rating", user_embedding="*f", score="f")
    message("RecipeRow", id="i", user_embedding="*f", recipe="Recipe", user_rating="*Rating")
    message("User", id="i", country="s", age="i")
    message("Event", item_id="i", ts="i", price="f", categories="*s")
    message("EventRow", user="User", history="*Event", label="f")
    return d.FileDescriptorSet(file=[file]).SerializeToString()


def of_records(folder: pathlib.Path) -> "Iterator[Callable[[], Work]]":
    """The workloads on files and on messages in memory, which are made first."""
    sets = [
        Records(
            "recipes", recipes(RECIPES), folder, "bench.RecipeRow", ["recipe.title", "user_rating[*].score", "id"], ("user_rating", "score")
        ),
        Records("events", with_users(USERS), folder, "bench.EventRow", ["user.country", "history[*].price", "label"], ("history", "price")),
    ]
    for records in sets:
        yield from of_json(records)
        yield from of_messages(records)
    yield from of_many_fields()
    yield from of_parquet(sets[0])
    yield lambda: one_record(sets[0])


def sums(records: Records) -> "tuple[Callable[[Any], dict[str, float]], Callable[[Any], dict[str, float]]]":
    """What is compared: of our results, and of Arrow tables."""
    import pyarrow as pa

    rows, field = records.number

    def ours(x: Any) -> "dict[str, float]":
        return {"n": float(x.shape[0]), "sum": total(x[rows, field].flat_values)}

    def theirs(t: Any) -> "dict[str, float]":
        column = pa.chunked_array([t[rows]]) if isinstance(t, pa.RecordBatch) else t[rows]
        values = [chunk.flatten() for chunk in column.chunks]
        values = [v.field(field) if pa.types.is_struct(v.type) else v for v in values]
        return {"n": float(t.num_rows), "sum": sum(total(v) for v in values)}

    return ours, theirs


def of_json(records: Records) -> "Iterator[Callable[[], Work]]":
    import duckdb

    import extenso as ex

    path, (ours, theirs) = records.path("ndjson"), sums(records)
    x = ex.from_arrow(records.array)
    ex.write_json(x, path)
    spec = ex.spec_of(x)
    kind = records.array.type
    columns = ", ".join(f"'{kind.field(i).name}': '{duckdb_type(kind.field(i).type)}'" for i in range(kind.num_fields))
    query = f"SELECT * FROM read_json('{path}', format='newline_delimited', columns={{{columns}}})"
    connection = duckdb.connect()
    read = lambda: connection.sql(query).to_arrow_table()
    for what, bar, paths in (("all fields", Bar(0.6), None), ("3 leaves", Bar(0.35), records.leaves)):
        yield lambda what=what, bar=bar, paths=paths: Work(
            f"W1: NDJSON of {records.name}, {path.stat().st_size >> 20} MB, {what}",
            bar,
            (lambda: ex.read_json(path, spec, paths=paths), ours),
            {"duckdb": (read, theirs)},
        )


    yield lambda: Work(
        f"W1: the same out, {path.stat().st_size >> 20} MB",
        Bar(1.0),
        (lambda: ex.write_json(x, records.path("out.ndjson")), lambda _: {}),
        writers(records),
    )


def writers(records: Records) -> "dict[str, tuple[Callable[[], Any], Callable[[Any], dict[str, float]]]]":
    """The peers' ways to write records as lines of JSON."""
    import duckdb
    import polars as pl
    import pyarrow as pa

    table = pa.Table.from_struct_array(records.array)
    path, frame, connection = records.path("peer.ndjson"), pl.from_arrow(table), duckdb.connect()
    connection.register("records", table)
    return {
        "polars": (lambda: frame.write_ndjson(path), lambda _: {}),
        "duckdb": (lambda: connection.sql(f"COPY records TO '{path}' (FORMAT json)"), lambda _: {}),
    }


def of_messages(records: Records) -> "Iterator[Callable[[], Work]]":
    import numpy as np
    import ptars
    from google.protobuf import descriptor_pb2, descriptor_pool

    import extenso as ex

    ours, theirs = sums(records)
    bytes_of = descriptors()
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(descriptor_pb2.FileDescriptorSet.FromString(bytes_of).file[0].SerializeToString())
    handler = ptars.HandlerPool([pool.FindFileByName("bench.proto")]).get_for_message(pool.FindMessageTypeByName(records.message))
    messages = ex.encode_proto(ex.from_arrow(records.array), bytes_of, records.message)
    given = np.asarray(messages).tolist()
    size = sum(map(len, given)) >> 20
    # What is optional is a list of none or one.
    leaves = [leaf.replace("recipe.", "recipe[*].").replace("user.", "user[*].") for leaf in records.leaves[:2]]
    cases = (("all fields", Bar(0.25), Bar(0.6), None), ("2 leaves", Bar(0.15), NO_BAR, leaves))
    for what, bar, alone, paths in cases:
        yield lambda what=what, bar=bar, alone=alone, paths=paths: Work(
            f"W2: messages of {records.name}, {size} MB, {what}",
            bar,
            (lambda: ex.read_proto(messages, bytes_of, records.message, paths=paths), ours),
            {"ptars": (lambda: handler.list_to_record_batch(given), theirs)},
            alone=alone,
        )
    x, batch = ex.from_arrow(records.array), handler.list_to_record_batch(given)
    yield lambda: Work(
        f"W2: the same out, {size} MB",
        Bar(1.0),
        (lambda: ex.encode_proto(x, bytes_of, records.message), lambda _: {}),
        {"ptars": (lambda: handler.record_batch_to_array(batch), lambda _: {})},
    )


def of_many_fields() -> "Iterator[Callable[[], Work]]":
    """1024 messages of 100 repeated integers, as struct2tensor publishes them, and one of a single field, which is mostly the call."""
    import extenso as ex

    def wide(fields: int, n: int) -> "tuple[str, dict[str, list[int]]]":
        text = " ".join(f"repeated int64 f{i} = {i + 1};" for i in range(fields))
        return f"syntax = 'proto2'; message Wide {{ {text} }}", {f"f{i}": [i * 7 + k for k in range(n)] for i in range(fields)}

    for rows, fields, n, most in ((1024, 100, 1, 1e-3), (1024, 100, 100, 50e-3), (1, 1, 1, 20e-6)):
        schema, record = wide(fields, n)
        given = ex.encode_proto(ex.read_json([record] * rows), schema, "Wide")
        yield lambda rows=rows, fields=fields, n=n, most=most, given=given, schema=schema: Work(
            f"W2: {rows} messages of {fields} lists of {n}",
            NO_BAR,
            (lambda: ex.read_proto(given, schema, "Wide"), lambda x: {"n": float(x.shape[0]), "sum": total(x["f0"].flat_values)}),
            {},
            alone=Bar(seconds=most),
        )


def of_parquet(records: Records) -> "Iterator[Callable[[], Work]]":
    import pyarrow as pa
    import pyarrow.parquet as pq

    import extenso as ex

    path, (ours, theirs) = records.path("parquet"), sums(records)
    table = pa.Table.from_struct_array(records.array)
    pq.write_table(table, path)
    rows, field = records.number
    columns = [records.leaves[0], f"{rows}.list.element.{field}"]
    yield lambda: Work(
        "W3: Parquet of recipes, all fields",
        Bar(0.8),
        (lambda: ex.read_parquet(path), ours),
        {"pyarrow": (lambda: pq.read_table(path), theirs)},
    )
    yield lambda: Work(
        "W3: Parquet of recipes, 2 leaves",
        Bar(1.0),
        (lambda: ex.read_parquet(path, paths=records.leaves[:2]), ours),
        {"pyarrow": (lambda: pq.ParquetFile(path).read(columns=columns), theirs)},
    )


def one_record(records: Records) -> Work:
    """A line of JSON, features of it, and a perceptron of three layers of 256: one record after the other."""
    import msgspec
    import numpy as np
    import onnxruntime as ort

    import extenso as ex
    from dense_work import onnx_model

    rng = np.random.default_rng(11)
    lines = [line for line, _ in zip(records.path("ndjson").open("rb"), range(200))]
    titles = records.array.field("recipe").field("title").slice(0, 200).to_pylist()
    known = sorted({word for title in titles for word in title.lower().split(" ")})
    width = 2 * RATING_WIDTH + 8
    table = rng.standard_normal((len(known) + 1, RATING_WIDTH), dtype=np.float32)
    sizes = [width, 256, 256, 256, 1]
    layers = [
        (rng.standard_normal((a, b), dtype=np.float32) / np.float32(a**0.5), rng.standard_normal(b, dtype=np.float32))
        for a, b in zip(sizes, sizes[1:])
    ]
    spec = ex.spec_of(ex.from_arrow(records.array))
    words, embedding = ex.tensor(known), ex.tensor(table)
    weights = [(ex.tensor(w), ex.tensor(b)) for w, b in layers]

    @ex.function
    def score(lines):  # type: ignore[no-untyped-def]
        x = ex.parse_json(lines, spec)
        recipe, ratings = x["recipe"], x["user_rating"]
        tokens = ex.string_split(ex.lower(recipe["title"]), " ")
        title = ex.embedding_lookup(embedding, ex.lookup(tokens, words, oov_buckets=1))
        user = x["user_embedding"].to_tensor(shape=[None, RATING_WIDTH])
        dots = ex.sum(ex.expand_dims(user, 1) * ratings["user_embedding"], axis=-1)
        n, ingredients = ex.cast(ex.num(ratings["score"]), "f32"), recipe["ingredients"]
        some = lambda x: ex.where(n > 0.0, x, 0.0)
        count = lambda rows, most: ex.cast(ex.num(rows), "f32") / most
        amounts = ex.mean(ingredients["amount"], axis=1)
        features = [
            some(ex.mean(dots, axis=1)),
            some(ex.max(dots, axis=1)),
            some(ex.mean(ratings["score"], axis=1)),
            n / 50.0,
            recipe["est_time"] / 100.0,
            count(ingredients["amount"], 20.0),
            ex.where(ex.num(ingredients["amount"]) > 0, amounts, 0.0),
            count(recipe["step"]["description"], 8.0),
        ]
        h = ex.concat([title, user, ex.stack(features, axis=1)], axis=1)
        for w, b in weights[:-1]:
            h = ex.relu(ex.matmul(h, w) + b)
        return ex.matmul(h, weights[-1][0]) + weights[-1][1]

    places = {word: i for i, word in enumerate(known)}
    session = ort.InferenceSession(onnx_model(layers), providers=["CPUExecutionProvider"])

    def features(r: Any) -> Any:
        recipe, ratings = r["recipe"], r["user_rating"]
        out = np.zeros((1, width), np.float32)
        row, k = out[0], 2 * RATING_WIDTH
        row[:RATING_WIDTH] = table[[places.get(w, len(places)) for w in recipe["title"].lower().split(" ")]].mean(axis=0)
        own = r["user_embedding"][:RATING_WIDTH]
        row[RATING_WIDTH : RATING_WIDTH + len(own)] = own
        if ratings:
            dots = np.array([x["user_embedding"] for x in ratings], np.float32) @ row[RATING_WIDTH:k]
            row[k : k + 4] = dots.mean(), dots.max(), sum(x["score"] for x in ratings) / len(ratings), len(ratings) / 50
        ingredients = recipe["ingredients"]
        row[k + 4], row[k + 5], row[k + 7] = recipe["est_time"] / 100, len(ingredients) / 20, len(recipe["step"]) / 8
        row[k + 6] = sum(x["amount"] for x in ingredients) / len(ingredients) if ingredients else 0
        return out

    given = [ex.tensor([line], dtype="bytes") for line in lines]
    place = {"ours": 0, "theirs": 0}

    def turn(who: str) -> int:
        place[who] = (place[who] + 1) % len(lines)
        return place[who]

    def singles() -> "dict[str, tuple[float, Bar]]":
        """Single calls, and those of the saved function from Rust."""
        times = []
        for line in given * 100:
            start = time.perf_counter()
            score(line)
            times.append(time.perf_counter() - start)
        path, text = records.folder / "score.exo", records.folder / "lines.ndjson"
        ex.save(score, str(path))
        text.write_bytes(b"".join(lines))
        command = ["cargo", "run", "-q", "--release", "-p", "extenso", "--example", "calls", str(path), "score", str(text)]
        done = subprocess.run(command, cwd=pathlib.Path(__file__).parent.parent, stdout=subprocess.PIPE, check=True)
        p50, p99 = map(float, done.stdout.split())
        low, high = statistics.median(times), statistics.quantiles(times, n=100)[-1]
        return {
            "W9: the median of single calls": (low, NO_BAR),
            "W9: the 99th percentile of single calls": (high, Bar(seconds=2 * low)),
            "W9: the same from Rust, a single call": (p50, Bar(seconds=18e-6)),
            "W9: the 99th percentile from Rust": (p99, Bar(seconds=2 * p50)),
        }

    decode = msgspec.json.Decoder().decode
    return Work(
        "W9: one recipe from JSON to the score of a perceptron",
        Bar(seconds=20e-6),
        (lambda: score(given[turn("ours")]), lambda _: {"sum": sum(float(np.asarray(score(line))[0, 0]) for line in given)}),
        {
            "msgspec, numpy, onnxruntime": (
                lambda: session.run(None, {"x": features(decode(lines[turn("theirs")]))}),
                lambda _: {"sum": sum(float(session.run(None, {"x": features(decode(line))})[0][0, 0]) for line in lines)},
            )
        },
        singles,
    )
