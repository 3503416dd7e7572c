"""The data of the workloads: recipes and an event log, made by a seed, the same in every run.

Arrow tables, because every library that is measured reads them; floats have at most four decimals.
"""

import string

import numpy as np
import pyarrow as pa

SEED = 20190910
RATING_WIDTH = 16
CATEGORIES, KNOWN_CATEGORIES = 12_000, 10_000
ACCENTED = ["purée", "jalapeño", "crème", "brûlée", "sauté", "açaí", "tofu-döner", "käse"]
UNITS = ["cup", "teaspoon", "tablespoon", "g", "ml", "piece", "pinch", "oz"]


def words(rng: np.random.Generator, n: int) -> "list[str]":
    """Returns n distinct lower-case words, a few of them accented."""
    letters = np.array(list(string.ascii_lowercase))
    found = dict.fromkeys(ACCENTED)
    while len(found) < n:
        found["".join(rng.choice(letters, rng.integers(2, 11)))] = None
    return list(found)


def offsets(lengths: np.ndarray) -> np.ndarray:
    """Returns the offsets of rows of these lengths."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def rows(cuts: np.ndarray, values: pa.Array) -> pa.Array:
    """Returns values cut into rows."""
    return pa.ListArray.from_arrays(pa.array(cuts.astype(np.int32)), values)


def f32(values: np.ndarray) -> pa.Array:
    return pa.array(np.round(values, 4).astype(np.float32))


def chosen(rng: np.random.Generator, texts: "list[str]", n: int) -> pa.Array:
    """Returns n of the texts by chance."""
    return pa.array(texts).take(pa.array(rng.integers(0, len(texts), n)))


def record(**fields: pa.Array) -> pa.StructArray:
    return pa.StructArray.from_arrays(list(fields.values()), list(fields))


def recipes(n: int) -> pa.StructArray:
    """Returns n recipes: an embedding, a title, lists of ingredients and steps, and ratings with an embedding each."""
    rng = np.random.default_rng(SEED + n)
    vocabulary = words(np.random.default_rng(SEED), 5_000)
    cased = vocabulary + [w.capitalize() for w in vocabulary] + [w.upper() for w in vocabulary[:500]]
    names = [" ".join(rng.choice(vocabulary, rng.integers(1, 4))) for _ in range(2_000)]
    texts = [" ".join(rng.choice(vocabulary, rng.integers(8, 26))).capitalize() + "." for _ in range(5_000)]
    pick, length = rng.integers(0, len(cased), (n, 12)).tolist(), rng.integers(3, 13, n).tolist()
    embedding, ingredients = offsets(rng.integers(6, 65, n)), offsets(rng.integers(0, 21, n))
    steps, ratings = offsets(rng.integers(0, 9, n)), offsets(rng.integers(0, 51, n))
    m, k = int(ingredients[-1]), int(ratings[-1])
    recipe = record(
        title=pa.array([" ".join([cased[j] for j in p[:w]]) for p, w in zip(pick, length)]),
        est_time=pa.array(np.round(rng.gamma(3.0, 15.0, n) + 1, 1).astype(np.float32)),
        ingredients=rows(
            ingredients,
            record(amount=f32(rng.integers(1, 17, m) / 4.0), unit=chosen(rng, UNITS, m), name=chosen(rng, names, m)),
        ),
        step=rows(steps, record(description=chosen(rng, texts, int(steps[-1])))),
    )
    rated = pa.FixedSizeListArray.from_arrays(f32(rng.uniform(-1, 1, k * RATING_WIDTH)), RATING_WIDTH)
    return record(
        id=pa.array(np.arange(n)),
        user_embedding=rows(embedding, f32(rng.uniform(-1, 1, embedding[-1]))),
        recipe=recipe,
        user_rating=rows(ratings, record(user_embedding=rated, score=f32(rng.uniform(0, 1, k)))),
    )


def category(i: int) -> str:
    return f"cat/{i * 7919 % 99991:05d}"


def vocabulary() -> "list[str]":
    """Returns the categories that are known; the events have others, too."""
    return [category(i) for i in range(KNOWN_CATEGORIES)]


def events(n: int) -> pa.Array:
    """Returns the histories of n users: lists of 0 to 500 events, few of them long, times unsorted and distinct in a list."""
    rng = np.random.default_rng(SEED + 7 * n)
    lengths = np.arange(501)
    weights = 1.0 / (lengths + 1.0) ** 1.5
    cuts = offsets(rng.choice(lengths, n, p=weights / weights.sum()))
    m = int(cuts[-1])
    row = np.repeat(np.arange(n), np.diff(cuts))
    rank = np.empty(m, np.int64)
    rank[np.lexsort((rng.random(m), row))] = np.arange(m) - cuts[row]
    each = offsets(rng.integers(1, 4, m))
    index = np.minimum(rng.exponential(2_500, each[-1]).astype(np.int64), CATEGORIES - 1)
    categories = pa.array([category(i) for i in range(CATEGORIES)]).take(pa.array(index))
    history = record(
        item_id=pa.array((rng.zipf(1.2, m) * np.int64(2654435761)) % 1_000_003 + 1),
        ts=pa.array(1_700_000_000 + rank * 1000 + rng.integers(0, 1000, m)),
        price=pa.array(np.round(rng.gamma(2.0, 20.0, m), 2).astype(np.float32)),
        categories=rows(each, categories),
    )
    return rows(cuts, history)


def with_users(n: int) -> pa.StructArray:
    """Returns the histories of `events`, each with its user and a label."""
    rng = np.random.default_rng(SEED + 11 * n)
    countries = ["DE", "FR", "US", "IN", "BR", "JP", "ZA", "SE"]
    user = record(id=pa.array(rng.permutation(n)), country=chosen(rng, countries, n), age=pa.array(rng.integers(14, 90, n)))
    return record(user=user, history=events(n), label=pa.array(rng.integers(0, 2, n).astype(np.float32)))
