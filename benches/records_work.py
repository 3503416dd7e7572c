"""The workloads on recipes and on an event log."""

from collections.abc import Callable, Iterator
from typing import Any

from work import Bar, Work, total

TOP, WIDTH = 20, 16
BUCKETS = 1 << 18


def frame(array: Any) -> Any:
    """Returns records as a data frame of polars."""
    import polars as pl

    return pl.DataFrame({"x": pl.from_arrow(array)}).unnest("x").rechunk()


def of_recipes(recipes: Any) -> "Iterator[Callable[[], Work]]":
    """The workloads on recipes."""
    import numba
    import numpy as np
    import polars as pl

    import extenso as ex

    x = ex.from_arrow(recipes)
    ratings = recipes.field("user_rating")
    cuts, scores = ratings.offsets.to_numpy(), ratings.values.field("score").to_numpy()

    def fold() -> Work:
        def adds(o: Any) -> "dict[str, float]":
            sums, means, largest = (np.asarray(v, np.float64) for v in o)
            keep = np.isfinite(means)
            return {"sum": np.nansum(sums), "mean": means[keep].sum(), "max": largest[keep].sum()}

        @numba.njit(fastmath=True)
        def loop(scores, cuts):  # type: ignore[no-untyped-def]
            n = len(cuts) - 1
            a, b, c = np.empty(n, np.float32), np.empty(n, np.float32), np.empty(n, np.float32)
            for i in range(n):
                t, m = np.float32(0), np.float32(-np.inf)
                for j in range(cuts[i], cuts[i + 1]):
                    t += scores[j]
                    m = max(m, scores[j])
                k = cuts[i + 1] - cuts[i]
                a[i], b[i], c[i] = t, (t / k if k else np.nan), (m if k else np.nan)
            return a, b, c

        ours = ex.function(lambda s: (ex.sum(s, axis=1), ex.mean(s, axis=1), ex.max(s, axis=1)))
        lists = pl.DataFrame({"s": pl.from_arrow(type(ratings).from_arrays(ratings.offsets, ratings.values.field("score")))})
        s = pl.col("s")
        query = [s.list.sum().alias("a"), s.list.mean().alias("b"), s.list.max().alias("c")]
        rows = x["user_rating", "score"]
        return Work(
            "W4a: sum, mean and max of each of 100k rows",
            Bar(0.5),
            (lambda: ours(rows), adds),
            {
                "numba": (lambda: loop(scores, cuts), adds),
                "polars": (lambda: lists.select(query), lambda o: adds([o[c].to_numpy() for c in "abc"])),
            },
            alone=Bar(0.8),
        )

    yield fold

    def mask() -> Work:
        ingredients = x["recipe", "ingredients"]
        lists = pl.DataFrame({"i": pl.from_arrow(recipes.field("recipe").field("ingredients"))})
        query = pl.col("i").list.eval(pl.element().filter(pl.element().struct.field("amount") > 1))

        def ours(o: Any) -> "dict[str, float]":
            flat = ex.flatten(o)
            length = ex.sum(ex.string_length(flat["name"], unit="byte"))
            return {"n": flat.shape[0], "amount": total(flat["amount"]), "name": float(length)}

        def theirs(o: Any) -> "dict[str, float]":
            v = o["i"].explode().drop_nulls().struct.unnest()
            v = v.filter(pl.col("amount").is_not_null())
            return {"n": v.height, "amount": total(v["amount"]), "name": v["name"].str.len_bytes().sum()}

        return Work(
            "W4b: boolean mask of 100k rows of records, packed",
            Bar(0.7),
            (lambda: ex.boolean_mask(ingredients, ingredients["amount"] > 1.0), ours),
            {"polars": (lambda: lists.select(query), theirs)},
        )

    yield mask

    def dot() -> Work:
        adds = lambda o: {"sum": total(o), "abs": total(np.abs(np.asarray(o, np.float64))), "n": len(o)}
        embedding = recipes.field("user_embedding")
        own_cuts, own = embedding.offsets.to_numpy(), embedding.values.to_numpy()
        rated = ratings.values.field("user_embedding").values.to_numpy().reshape(-1, WIDTH)

        @numba.njit(fastmath=True)
        def loop(own_cuts, own, cuts, rated):  # type: ignore[no-untyped-def]
            out = np.empty(len(rated), np.float32)
            u = np.zeros(WIDTH, np.float32)
            for i in range(len(cuts) - 1):
                n = min(WIDTH, own_cuts[i + 1] - own_cuts[i])
                for k in range(WIDTH):
                    u[k] = own[own_cuts[i] + k] if k < n else np.float32(0)
                for j in range(cuts[i], cuts[i + 1]):
                    t = np.float32(0)
                    for k in range(WIDTH):
                        t += u[k] * rated[j, k]
                    out[j] = t
            return out

        @ex.function
        def ours(own, rated):  # type: ignore[no-untyped-def]
            user = own.to_tensor(shape=[None, WIDTH])
            return ex.sum(ex.expand_dims(user, 1) * rated, axis=-1)

        a, b = x["user_embedding"], x["user_rating", "user_embedding"]
        return Work(
            "W4d: one vector of each row times each of its 0 to 50 vectors",
            Bar(0.6),
            (lambda: ours(a, b), lambda o: adds(o.flat_values)),
            {"numba": (lambda: loop(own_cuts, own, cuts, rated), adds)},
        )

    yield dot

    def concat() -> Work:
        import pyarrow as pa

        again = ex.from_arrow(pa.concat_arrays([recipes, recipes.slice(0, 0)]))
        table, other = frame(recipes), frame(pa.concat_arrays([recipes, recipes.slice(0, 0)]))
        score = lambda o: total(o["user_rating"].explode().struct.field("score").drop_nulls())
        return Work(
            "W4e: two times 100k records in one, contiguous",
            Bar(1.05),
            (lambda: ex.concat([x, again]), lambda o: {"n": o.shape[0], "score": total(o["user_rating", "score"].flat_values)}),
            {"polars": (lambda: pl.concat([table, other], rechunk=True), lambda o: {"n": o.height, "score": score(o)})},
        )

    yield concat

    def names() -> Work:
        ingredients = x["recipe", "ingredients"]
        lists = pl.DataFrame({"i": pl.from_arrow(recipes.field("recipe").field("ingredients"))})
        query = pl.col("i").list.head(3).list.eval(pl.element().struct.field("name"))
        found = lambda o: {"bytes": float(o)}
        return Work(
            "W4f: `[:, :3, 'name']`, packed, and the bytes counted",
            Bar(0.7),
            (lambda: ex.sum(ex.string_length(ingredients[:, :3, "name"].flat_values, unit="byte")), found),
            {"polars": (lambda: lists.select(query).to_series().explode().str.len_bytes().sum(), found)},
        )

    yield names

    def titles() -> Work:
        column = recipes.field("recipe").field("title")
        strings, series = ex.from_arrow(column), pl.DataFrame({"t": pl.from_arrow(column)})
        query = (
            series.lazy()
            .with_row_index("row")
            .with_columns(pl.col("t").str.to_lowercase().str.split(" "))
            .explode("t")
            .select("row", (pl.col("t").hash() % BUCKETS).cast(pl.UInt32).alias("b"))
            .group_by("row", "b")
            .len()
        )

        @ex.function
        def ours(title):  # type: ignore[no-untyped-def]
            return ex.unique_with_counts(ex.to_hash_bucket_fast(ex.string_split(ex.lower(title), " "), BUCKETS), axis=1)

        def adds(row: Any, count: Any) -> "dict[str, float]":
            return {"tokens": total(count), "rows": float(len(np.unique(np.asarray(row))))}

        return Work(
            "W5a: lower, split, hash and count the words of 100k titles",
            Bar(0.5),
            (lambda: ours(strings), lambda o: {"tokens": total(o[1].flat_values), "rows": float((np.asarray(ex.num(o[0])) > 0).sum())}),
            {"polars": (lambda: query.collect(), lambda o: adds(o["row"].to_numpy(), o["len"].to_numpy()))},
        )

    yield titles


def of_few_recipes(recipes: Any) -> "Iterator[Callable[[], Work]]":
    """The workload on 1k recipes."""
    import numpy as np

    import extenso as ex

    def promoted() -> Work:
        x = ex.from_arrow(recipes)
        ratings, est = recipes.field("user_rating"), recipes.field("recipe").field("est_time").to_numpy()
        cuts, scores = ratings.offsets.to_numpy(), ratings.values.field("score").to_numpy()

        def ours() -> Any:
            scored = x.promote(["user_rating", "score"], "scores")
            return scored["scores"] * ex.expand_dims(scored["recipe", "est_time"], 1)

        adds = lambda o: {"n": len(o), "sum": total(o)}
        return Work(
            "W4g: promote and broadcast in 1k records, eager",
            Bar(seconds=12e-6),
            (ours, lambda o: adds(o.flat_values)),
            {"numpy": (lambda: scores * np.repeat(est, np.diff(cuts)), adds)},
        )

    yield promoted


def of_events(history: Any, vocabulary: "list[str]") -> "Iterator[Callable[[], Work]]":
    """The workloads on an event log."""
    import numba
    import numpy as np
    import polars as pl
    import pyarrow as pa
    import pyarrow.compute as pc

    import extenso as ex

    x = ex.from_arrow(history)
    events, cuts = history.values, history.offsets.to_numpy()

    def last() -> Work:
        weights = np.arange(1, TOP + 1)

        def adds(o: Any) -> "dict[str, float]":
            item, price = (np.asarray(v) for v in o)
            return {"item": float((item * weights).sum()), "price": float((price.astype(np.float64) * weights).sum())}

        @ex.function
        def ours(x):  # type: ignore[no-untyped-def]
            order = ex.argsort(x["ts"], axis=1, descending=True)[:, :TOP]
            dense = lambda field: ex.take_along_axis(x[field], order, axis=1).to_tensor(shape=[None, TOP])
            return dense("item_id"), dense("price")

        @numba.njit
        def loop(cuts, ts, item, price):  # type: ignore[no-untyped-def]
            n = len(cuts) - 1
            a, b = np.zeros((n, TOP), np.int64), np.zeros((n, TOP), np.float32)
            for i in range(n):
                order = np.argsort(-ts[cuts[i] : cuts[i + 1]])
                for k in range(min(TOP, len(order))):
                    a[i, k] = item[cuts[i] + order[k]]
                    b[i, k] = price[cuts[i] + order[k]]
            return a, b

        lists, el = pl.DataFrame({"h": pl.from_arrow(history)}), pl.element().struct
        query = pl.col("h").list.eval(
            pl.struct(el.field("item_id"), el.field("price")).sort_by(el.field("ts"), descending=True).head(TOP)
        )

        def dense() -> Any:
            v = lists.select(query).with_row_index()["index", "h"].explode("h").drop_nulls("h").unnest("h")
            row, n = v["index"].to_numpy(), lists.height
            at = np.arange(len(row)) - np.searchsorted(row, np.arange(n))[row]
            item, price = np.zeros((n, TOP), np.int64), np.zeros((n, TOP), np.float32)
            item[row, at], price[row, at] = v["item_id"].to_numpy(), v["price"].to_numpy()
            return item, price

        columns = [events.field(name).to_numpy() for name in ("ts", "item_id", "price")]
        return Work(
            "W4c: the last 20 events by time of 200k users, dense",
            Bar(0.5),
            (lambda: ours(x), adds),
            {"polars": (dense, adds), "numba": (lambda: loop(cuts, *columns), adds)},
        )

    yield last

    def lookup() -> Work:
        rows, column, known = x["categories"], events.field("categories").values, pa.array(vocabulary)
        ours = ex.function(lambda c, v: ex.lookup(c, v))
        words = ex.from_arrow(known)

        def adds(ids: Any) -> "dict[str, float]":
            ids = np.asarray(ids).astype(np.int64)
            return {"sum": float(ids.sum()), "unknown": float((ids < 0).sum()), "n": float(len(ids))}

        return Work(
            "W5b: 6.5M strings looked up among 10k",
            Bar(0.4),
            (lambda: ours(rows, words), lambda o: adds(ex.flatten(o))),
            {"pyarrow": (lambda: pc.index_in(column, value_set=known), lambda o: adds(o.fill_null(-1).to_numpy()))},
        )

    yield lookup
