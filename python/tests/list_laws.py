"""Laws of functions of lists, over random lists: `test_list_laws` tries some, and `python list_laws.py SEED SECONDS [NAME...]` others.

A list has axes of rows and of one size, and elements or whole lists that are missing. What lies under these, what is outside, says
nothing. For each function: what a trace gives, for this value and for others of other sizes, is what a call gives; other data under what
is missing changes nothing; a row is treated as it is among others, where the function is of an axis inside it; and what Arrow is given comes back.
"""

from __future__ import annotations

import dataclasses
import math
import random
import sys
import time
from collections.abc import Callable
from typing import Any

import extenso as ex

FLOATS = ["f64", "f32", "f16", "bf16"]
NUMBERS = ["i64", "i8", "u64", *FLOATS]
ALL = [*NUMBERS, "bool", "string", "categories", "times", "decimals"]


@dataclasses.dataclass(frozen=True)
class Law:
    """A function of lists, the dtypes that it takes, and what is known of it."""

    call: Callable[..., Any]
    dtypes: list[str] = dataclasses.field(default_factory=lambda: ALL)
    # Whether it has an axis, and may have several.
    axis: bool = True
    axes: bool = False
    # Whether a row does not look at others.
    by_row: bool = True


@dataclasses.dataclass(frozen=True)
class Kind:
    """What lists are made: axes behind the first, `None` for rows; at which depths something is missing; of what."""

    sizes: tuple[int | None, ...]
    missing: tuple[bool, ...]
    dtype: str

    @property
    def rank(self) -> int:
        return len(self.sizes) + 1


def element(pick: random.Random, dtype: str) -> Any:
    """An element of few different ones."""
    if dtype == "bool":
        return pick.random() < 0.5
    if dtype in ("string", "categories"):
        return pick.choice(["", "a", "b", "ab", "é"])
    if dtype == "decimals":
        return pick.choice(["1.5", "2.0", "-0.5", "3.0"])
    if dtype in FLOATS:
        return pick.randint(-4, 8) / 2
    return pick.randint(0 if dtype in ("u64", "times") else -4, 6)


def lists(pick: random.Random, kind: Kind, rows: int, depth: int = 0) -> list[Any]:
    """So many items of a kind."""
    made: list[Any] = []
    for _ in range(rows):
        if kind.missing[depth] and pick.random() < 0.3:
            made.append(None)
        elif depth == len(kind.sizes):
            made.append(element(pick, kind.dtype))
        else:
            size = kind.sizes[depth]
            made.append(lists(pick, kind, pick.choice([0, 0, 1, 2, 3]) if size is None else size, depth + 1))
    return made


def leaves(items: list[Any], dtype: str) -> Any:
    """Elements as one vector."""
    if dtype == "times":
        return ex.TimestampTensor(ex.tensor(items, dtype="i64"), "s")
    if dtype == "decimals":
        return ex.DecimalTensor.parse(items, 10, 1)
    if dtype == "categories":
        return ex.CategoricalTensor.of(ex.tensor(items, dtype="string"))
    return ex.tensor(items, dtype=dtype)


def value(items: list[Any], kind: Kind, hidden: random.Random) -> Any:
    """The lists as a value, with data of `hidden` under what is missing."""
    whole = dataclasses.replace(kind, missing=(False,) * kind.rank)
    levels: list[tuple[list[bool], list[int]]] = []
    for depth in range(kind.rank):
        there = [item is not None for item in items]
        items = [lists(hidden, whole, 1, depth)[0] if item is None else item for item in items]
        levels.append((there, [] if depth == len(kind.sizes) else [len(item) for item in items]))
        if depth < len(kind.sizes):
            items = [inner for item in items for inner in item]
    made, is_dense = leaves(items, kind.dtype), kind.dtype in (*NUMBERS, "bool", "string")
    for depth in reversed(range(kind.rank)):
        there, lengths = levels[depth]
        if depth < len(kind.sizes):
            size = kind.sizes[depth]
            if size is None:
                made, is_dense = ex.RaggedTensor.from_row_lengths(made, ex.tensor(lengths, dtype="i64")), False
            elif is_dense:
                made = ex.reshape(made, [len(there), *[n for n in kind.sizes[depth:] if n is not None]])
            else:
                made = ex.RaggedTensor.from_uniform_row_length(made, size, len(there))
        if kind.missing[depth]:
            made = ex.mask(made, ex.tensor(there, dtype="bool"))
    return made


def shown(result: Any) -> Any:
    """A result, or several, as objects of Python."""
    if isinstance(result, (list, tuple)):
        return [shown(part) for part in result]
    if isinstance(result, dict):
        return {name: shown(part) for name, part in result.items()}
    return ex.to_py(result)


def same(a: Any, b: Any) -> bool:
    """Whether two are the same, floats within what their order may change."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[name], b[name]) for name in a)
    if isinstance(a, float) and isinstance(b, float):
        return (math.isnan(a) and math.isnan(b)) or a == b or abs(a - b) <= 1e-6 * max(1, abs(a), abs(b))
    return type(a) is type(b) and a == b


def outcome(call: Callable[..., Any], *args: Any) -> tuple[bool, Any]:
    """Whether a call gives something, and what, or how it is refused."""
    try:
        return True, shown(call(*args))
    except ex.InternalError:
        raise
    except ex.Error as error:
        return False, f"{type(error).__name__}: {error}"


def agree(a: tuple[bool, Any], b: tuple[bool, Any]) -> bool:
    return a[0] == b[0] and (not a[0] or same(a[1], b[1]))


def kinds(pick: random.Random, dtypes: list[str]) -> Kind:
    """A random kind of lists."""
    sizes = tuple(pick.choice([None, None, None, 2, 3, 1]) for _ in range(pick.choice([1, 1, 1, 2, 2, 3])))
    return Kind(sizes, tuple(pick.random() < 0.4 for _ in range(len(sizes) + 1)), pick.choice(dtypes))


def along(pick: random.Random, law: Law, rank: int) -> Any:
    """An axis, or several, or all."""
    several: list[Any] = [None, (0, 1)]
    if rank > 2:
        several += [(0, rank - 1), tuple(range(1, rank))]
    return pick.choice([*range(rank), *(several if law.axes else [])])


def broken(law: Law, seed: int) -> str | None:
    """How one case of this seed breaks a law, if it does."""
    pick = random.Random(seed)
    kind = kinds(pick, law.dtypes)
    axis = along(pick, law, kind.rank) if law.axis else None

    def call(x: Any) -> Any:
        return law.call(x, axis) if law.axis else law.call(x)

    traced = ex.function(call)
    for rows in (pick.choice([0, 1, 2, 3, 4]), pick.choice([1, 3, 5]), pick.choice([0, 2, 6])):
        items = lists(pick, kind, rows)
        x, other = (value(items, kind, random.Random(seed + more)) for more in (1, 2))
        eager = outcome(call, x)
        for name, found in {
            "traced": outcome(traced, x),
            "other data under what is missing": outcome(call, other),
            "both": outcome(traced, other),
        }.items():
            if not agree(eager, found):
                return f"{name}: {kind}, axis {axis}, {items}:\n{eager[1]}\nand\n{found[1]}"
        if not eager[0]:
            continue
        if law.by_row and (not law.axis or (isinstance(axis, int) and axis > 0)):
            for i in range(rows):
                one = outcome(call, x[i : i + 1])
                several = isinstance(call(x), (list, tuple))
                parts = [part[i : i + 1] for part in eager[1]] if several else eager[1][i : i + 1]
                if not agree((True, parts), one):
                    return f"row {i}: {kind}, axis {axis}, {items}:\n{parts}\nand\n{one[1]}"
        result = call(x)
        for part in result if isinstance(result, (list, tuple)) else [result]:
            if kind.dtype != "bf16" and isinstance(shown(part), list):
                back = outcome(lambda part=part: ex.from_arrow(ex.to_arrow(part)))
                # A list that may be missing is no column, which has rows.
                if not agree((True, shown(part)), back) and "a mask of bool[] has no" not in str(back[1]):
                    return f"through Arrow: {kind}, axis {axis}, {items}:\n{shown(part)}\nand\n{back[1]}"
    return None


def folds() -> dict[str, Law]:
    """Reductions, with the axis and without."""
    taken = {
        "sum": [*NUMBERS, "bool"],
        "prod": NUMBERS,
        "mean": FLOATS,
        "var": FLOATS,
        "std": FLOATS,
        "min": ALL,
        "max": ALL,
        "argmin": ALL,
        "argmax": ALL,
        "count": ALL,
        "any": ["bool"],
        "all": ["bool"],
        "logsumexp": FLOATS,
    }
    made = {}
    for name, dtypes in taken.items():
        op = getattr(ex, name)
        several = not name.startswith("arg")
        made[name] = Law(lambda x, axis, op=op: op(x, axis=axis), dtypes, axes=several)
        if name not in ("var", "std"):
            kept = lambda x, axis, op=op: op(x, axis=axis, keepdims=True)  # noqa: E731
            made[f"{name}, keepdims"] = Law(kept, dtypes, axes=several)
    return made


LAWS: dict[str, Law] = {
    **folds(),
    "median": Law(lambda x, axis: ex.median(x, axis=axis), NUMBERS),
    "quantile": Law(lambda x, axis: ex.quantile(x, [0.25, 0.5], axis=axis), NUMBERS, by_row=False),
    "sort": Law(lambda x, axis: ex.sort(x, axis=axis)),
    "sort, descending": Law(lambda x, axis: ex.sort(x, axis=axis, descending=True)),
    "argsort": Law(lambda x, axis: ex.argsort(x, axis=axis)),
    "top_k": Law(lambda x, axis: ex.top_k(x, 2, axis=axis)),
    "unique": Law(lambda x, axis: ex.unique(x, axis=axis)),
    "unique_with_counts": Law(lambda x, axis: ex.unique_with_counts(x, axis=axis)),
    "unique_with_inverse": Law(lambda x, axis: ex.unique_with_inverse(x, axis=axis)),
    "run_lengths": Law(lambda x, axis: ex.run_lengths(x, axis=axis)),
    "cumulative_sum": Law(lambda x, axis: ex.cumulative_sum(x, axis=axis, include_initial=True), NUMBERS),
    "cumulative_max": Law(lambda x, axis: ex.cumulative_max(x, axis=axis, reverse=True), NUMBERS),
    "cumulative_prod": Law(lambda x, axis: ex.cumulative_prod(x, axis=axis), ["f64", "i64"]),
    "linear_scan": Law(lambda x, axis: ex.linear_scan(x, x, axis=axis), ["f64"]),
    "shift": Law(lambda x, axis: ex.shift(x, -2, 0, axis), ["i64"]),
    "diff": Law(lambda x, axis: ex.diff(x, axis=axis), NUMBERS),
    "glu": Law(lambda x, axis: ex.glu(x, axis=axis), FLOATS),
    "roll": Law(lambda x, axis: ex.roll(x, 1, axis=axis)),
    "flip": Law(lambda x, axis: ex.flip(x, axis=axis)),
    "windows": Law(lambda x, axis: ex.windows(x, 2, axis=axis)),
    "first": Law(lambda x, axis: ex.first(x, axis=axis)),
    "last": Law(lambda x, axis: ex.last(x, axis=axis)),
    "nth": Law(lambda x, axis: ex.nth(x, 1, axis=axis)),
    "head": Law(lambda x, axis: ex.head(x, 1, axis=axis)),
    "tail": Law(lambda x, axis: ex.tail(x, 2, axis=axis)),
    "pad_to": Law(lambda x, axis: ex.pad_to(x, 2, axis=axis, crop=True)),
    "pad_none": Law(lambda x, axis: ex.pad_none(x, 2, axis=axis)),
    "pad_none, clip": Law(lambda x, axis: ex.pad_none(x, 2, axis=axis, clip=True)),
    "is_none": Law(lambda x, axis: ex.is_none(x, axis=axis)),
    "drop_none": Law(lambda x, axis: ex.drop_none(x, axis=axis)),
    "singletons": Law(lambda x, axis: ex.singletons(x, axis=axis)),
    "combinations": Law(lambda x, axis: ex.combinations(x, 2, axis=axis)),
    "argcombinations": Law(lambda x, axis: ex.argcombinations(x, 2, axis=axis)),
    "cartesian": Law(lambda x, axis: ex.cartesian((x, x), axis=axis)),
    "flatten": Law(lambda x, axis: ex.flatten(x, axis=axis), by_row=False),
    "expand_dims": Law(lambda x, axis: ex.expand_dims(x, axis=axis)),
    "num": Law(lambda x, axis: ex.num(x, axis=axis)),
    "local_index": Law(lambda x, axis: ex.local_index(x, axis=axis)),
    "softmax": Law(lambda x, axis: ex.softmax(x, axis=axis), FLOATS),
    "log_softmax": Law(lambda x, axis: ex.log_softmax(x, axis=axis), FLOATS),
    "l2_normalize": Law(lambda x, axis: ex.l2_normalize(x, axis=axis), FLOATS),
    "layer_norm": Law(lambda x, axis: ex.layer_norm(x, axis=axis), FLOATS),
    "norm": Law(lambda x, axis: ex.norm(x, axis=axis), FLOATS),
    "cosine_similarity": Law(lambda x, axis: ex.cosine_similarity(x, x, axis=axis), FLOATS),
    "concat": Law(lambda x, axis: ex.concat([x, x], axis=axis)),
    "stack": Law(lambda x, axis: ex.stack([x, x], axis=axis)),
    "repeat": Law(lambda x, axis: ex.repeat(x, 2, axis=axis)),
    "isin": Law(lambda x, axis: ex.isin(x, x, axis=axis)),
    "union": Law(lambda x, axis: ex.union(x, ex.flip(x, axis=axis), axis=axis)),
    "intersection": Law(lambda x, axis: ex.intersection(x, x, axis=axis)),
    "slice": Law(lambda x, axis: ex.slice(x, axis=axis, start=-2, stop=-1)),
    "group_by": Law(lambda x, axis: ex.group_by(x, x, axis=axis)),
    "take_per_row": Law(lambda x, axis: ex.take_per_row(x, ex.argsort(x, axis=axis), axis=axis)),
    "vecdot": Law(lambda x, axis: ex.vecdot(x, x, axis=axis), FLOATS),
    "corr": Law(lambda x, axis: ex.corr(x, x, axis=axis), ["f64"]),
    "equal": Law(lambda x: ex.equal(x, x), axis=False),
    "less": Law(lambda x: ex.less(x, x), axis=False),
    "add": Law(lambda x: x + x, NUMBERS, axis=False),
    "add_flipped": Law(lambda x, axis: x + ex.flip(x, axis=axis), NUMBERS),
    "less_than_max": Law(lambda x, axis: x < ex.max(x, axis=axis, keepdims=True), NUMBERS),
    "equal_to_first": Law(lambda x, axis: ex.equal(x, ex.expand_dims(ex.first(x, axis=axis), axis))),
    "divide_by_count": Law(lambda x, axis: x // (ex.count(x, axis=axis, keepdims=True) - 1), ["i64"]),
    "where": Law(lambda x: ex.where(ex.equal(x, x), x, x), axis=False),
    "mask": Law(lambda x: ex.mask(x, x > 0), ["i64", "f64"], axis=False),
    "fill_none": Law(lambda x: ex.fill_none(x, 3), ["i64", "f64"], axis=False),
    "coalesce": Law(lambda x: ex.coalesce(x, 3), ["i64", "f64"], axis=False),
    "boolean_mask": Law(lambda x: ex.boolean_mask(x, ex.fill_none(x > 0, False)), ["i64", "f64"], axis=False, by_row=False),
    "one_hot": Law(lambda x: ex.one_hot(ex.abs(x), 8), ["i64"], axis=False),
    "multi_hot": Law(lambda x: ex.multi_hot(ex.abs(x), 8), ["i64"], axis=False),
    "searchsorted": Law(lambda x: ex.searchsorted([1, 3], x), ["i64"], axis=False),
    "matmul": Law(lambda x: ex.matmul(x, [[1.0, 2.0], [3.0, 4.0]]), ["f64"], axis=False),
    "reduce_join": Law(lambda x, axis: ex.reduce_join(x, axis=axis, separator="-"), ["string"]),
    "cross_hashed": Law(lambda x: ex.cross_hashed([x, x], 10), ["string", "i64"], axis=False),
    "key of rows": Law(lambda x: x[:, ::-1], axis=False),
    "key of the last axis": Law(lambda x: x[..., :1], axis=False),
    "zip": Law(lambda x: ex.zip({"a": x, "b": ex.local_index(x)}), axis=False),
    "vocabulary": Law(ex.vocabulary, ["i64", "string"], axis=False, by_row=False),
}


def main() -> None:
    seed, until, chosen = int(sys.argv[1]), time.monotonic() + float(sys.argv[2]), sys.argv[3:] or list(LAWS)
    cases = 0
    while time.monotonic() < until:
        for name in chosen:
            fault = broken(LAWS[name], seed)
            cases += 1
            if fault is not None:
                print(f"{name}, seed {seed}: {fault}\n", flush=True)
        seed += 1
    print(f"{cases} cases")


if __name__ == "__main__":
    main()
