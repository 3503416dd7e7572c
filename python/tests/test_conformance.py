"""Runs `conformance/*.md` through the Python package; the Rust runner runs the same cases."""

import ast
import math
from collections.abc import Callable

import conformance_cases as cases
import extenso as ex
import pytest

BLOCKS = list(cases.read_folder())
DTYPES = {str(d): d for d in (ex.bool, ex.i8, ex.i16, ex.i32, ex.i64, ex.u8, ex.u16, ex.u32, ex.u64)}
DTYPES |= {str(d): d for d in (ex.f16, ex.bf16, ex.f32, ex.f64, ex.string, ex.bytes)}
EPSILON = {"f16": 2.0**-10, "bf16": 2.0**-7, "f32": 2.0**-23, "f64": 2.0**-52}
Scope = dict[str, object]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda b: f"{b.file}:{b.line}")
def test_block(block: cases.Block) -> None:
    scope: Scope = {"nan": math.nan, "inf": math.inf}
    for statement in block.statements:
        if isinstance(statement, cases.Bind):
            scope[statement.name] = evaluate(statement.expr, scope)
        else:
            check(statement, scope)


def check(case: cases.Case, scope: Scope) -> None:
    place = f"{case.file}:{case.line}: {ast.unparse(case.expr)}"
    claim = case.claim
    if isinstance(claim, cases.Raises):
        with pytest.raises(ex.Error) as raised:
            evaluate(case.expr, scope)
        missing = [t for t in claim.texts if t not in str(raised.value)]
        assert not missing, f"{place}: {missing} is not in: {raised.value}"
        return
    got, want = evaluate(case.expr, scope), evaluate(claim.value, scope)
    if isinstance(want, (bool, int, float, str)):
        want = ex.tensor(want)
    differs = difference(got, want, isinstance(claim, cases.Near))
    assert differs is None, f"{place}: {differs}"


def evaluate(expr: ast.expr, scope: Scope) -> object:
    """Returns the value of an expression: lists are tensors, tuples several arguments, bare numbers weak scalars."""
    match expr:
        case ast.Constant(value=value):
            return value
        case ast.UnaryOp(operand=operand):
            return -evaluate(operand, scope)  # type: ignore[operator]
        case ast.Name(id=name):
            return scope[name]
        case ast.Tuple(elts=items):
            return tuple(evaluate(item, scope) for item in items)
        case ast.List():
            return ex.constant(plain(expr, scope))
        case ast.Dict():
            return ex.constant(plain(expr, scope))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
            if name in DTYPES:
                return typed(plain(args[0], scope), DTYPES[name])
            given = [evaluate(arg, scope) for arg in args]
            named = {k.arg: evaluate(k.value, scope) for k in keywords if k.arg}
            if name in ("ragged", "masked") and "dtype" in named:
                return FUNCTIONS[name](typed(plain(args[0], scope), DTYPES[str(named["dtype"])]))
            if name == "tensor" and "dtype" in named:
                return ex.reshape(typed(flat(plain(args[0], scope)), DTYPES[str(named["dtype"])]), named.get("shape", (-1,)))
            return function(name)(*given, **named)
    raise AssertionError(f"{ast.dump(expr)} is outside the grammar")


def function(name: str) -> "Callable[..., object]":
    """Returns the function of a name; cases name ops that are parts of others, too, which the package does not export."""
    return FUNCTIONS.get(name) or getattr(ex, name, None) or getattr(ex._core._op(name), name)


def plain(expr: ast.expr, scope: Scope) -> object:
    """Returns the nested Python lists of an expression."""
    match expr:
        case ast.List(elts=items):
            return [plain(item, scope) for item in items]
        case ast.Dict(keys=keys, values=values):
            return {k.value: plain(v, scope) for k, v in zip(keys, values) if isinstance(k, ast.Constant)}
    return evaluate(expr, scope)


def flat(items: object) -> "list[object]":
    return [leaf for item in items for leaf in flat(item)] if isinstance(items, list) else [items]


def typed(items: object, dtype: object) -> object:
    """Returns the value of nested lists with leaves of a dtype: the structure of positions, and the leaves taken from a vector."""
    if not isinstance(items, list):
        return ex.tensor(items, dtype=dtype)
    text = dtype in (ex.string, ex.bytes)
    pool: "list[object]" = [False if dtype == ex.bool else "" if text else 0]

    def positions(item: object) -> object:
        if isinstance(item, list):
            return [positions(i) for i in item]
        if item is None:
            return None
        pool.append(item)
        return len(pool) - 1

    structure = ex.constant(positions(items))
    leaves = ex.tensor([p.encode() if dtype == ex.bytes and isinstance(p, str) else p for p in pool], dtype=dtype)
    return on_values(structure, lambda at: ex.take(leaves, ex.cast(at, "i64")))


def on_values(value: object, f: "Callable[[object], object]") -> object:
    if isinstance(value, ex.RaggedTensor):
        return ex.RaggedTensor(on_values(value.values, f), value.partition)
    if isinstance(value, ex.MaskedTensor):
        return ex.MaskedTensor(on_values(value.values, f), value.mask)
    return f(value)


def ragged(value: object) -> object:
    """Returns the value with rows in every axis but the first."""
    if isinstance(value, ex.RaggedTensor):
        return ex.RaggedTensor(ragged(value.values), value.partition)
    shape = tuple(value.shape)  # type: ignore[attr-defined]
    if len(shape) < 2:
        return value
    values = ex.reshape(value, (shape[0] * shape[1], *shape[2:]))
    return ex.RaggedTensor(ragged(values), ex.RowPartition.from_row_lengths([shape[1]] * shape[0]))


def masked(value: object) -> object:
    if isinstance(value, ex.MaskedTensor):
        return value
    if isinstance(value, ex.RaggedTensor):
        return ex.RaggedTensor(masked(value.values), value.partition)
    return ex.MaskedTensor(value, ex.ones_like(ex.equal(value, value)))


def decimals(texts: ex.Tensor, precision: int, scale: int) -> object:
    """Returns decimals of texts; no text is zero."""
    parsed = ex.DecimalTensor.parse([text or "0" for text in ex.reshape(texts, (-1,)).tolist()], precision, scale)
    return ex.reshape(parsed, texts.shape)


def union_of(tags: object, children: "tuple[object, ...]") -> object:
    pa = pytest.importorskip("pyarrow", reason="unions are made of Arrow's")
    if isinstance(tags, ex.RaggedTensor):
        return ex.RaggedTensor(union_of(tags.values, children), tags.partition)
    names = [f"c{i}" for i in range(len(children))]
    return ex.from_arrow(pa.UnionArray.from_sparse(pa.array(ex.to_arrow(tags)), [pa.array(ex.to_arrow(c)) for c in children], names))


FUNCTIONS: "dict[str, Callable[..., object]]" = {
    "tensor": lambda value, shape=None: value if shape is None else ex.reshape(value, shape),
    "ragged": ragged,
    "masked": masked,
    "field": lambda x, path: x[path],
    "random_choice_weighted": lambda key, x, p, shape, replace=True: ex.random_choice(key, x, shape, replace, p),
    "top_k_values": lambda x, k, axis=-1: ex.top_k(x, k, axis)[0],
    "index": lambda x, key: eval(f"x[{key}]", {"x": x}),
    "ragged_from_dense": lambda dense, ragged_rank=1: ex.RaggedTensor.from_tensor(dense, ragged_rank=ragged_rank),
    "ragged_from_dense_nested_lengths": lambda dense, lengths: ex.RaggedTensor.from_tensor(dense, lengths=lengths),
    "ragged_from_dense_lengths": lambda dense, lengths: ex.RaggedTensor.from_tensor(dense, lengths=lengths),
    "ragged_from_dense_padding": lambda dense, padding, ragged_rank=1: ex.RaggedTensor.from_tensor(
        dense, padding=padding, ragged_rank=ragged_rank
    ),
    "to_tensor": lambda x, default, shape=None: x.to_tensor(default, shape),
    "flat_values": lambda x: x.flat_values,
    "einsum": lambda subscripts, operands: ex.einsum(subscripts, *operands),
    "bounding_shape": lambda x: x.bounding_shape(),
    "coalesce": lambda values: ex.coalesce(*values),
    "interp_between": ex.interp,
    "select_or_none": ex.select,
    "first_or": lambda x, default, axis=-1: ex.first(x, axis=axis, default=default),
    "last_or": lambda x, default, axis=-1: ex.last(x, axis=axis, default=default),
    "shift_with": lambda x, by, value, axis=-1: ex.shift(x, by, value, axis=axis),
    "pad_with": lambda x, length, value, axis=-1, crop=False: ex.pad_to(x, length, value, axis=axis, crop=crop),
    "timestamps": lambda x, unit="s": on_values(x, lambda v: ex.TimestampTensor(v, unit)),
    "durations": lambda x, unit="s": on_values(x, lambda v: ex.DurationTensor(v, unit)),
    "dates": lambda x: on_values(ex.cast(x, "i32"), lambda v: ex.DateTensor(v, "d")),
    "decimals": lambda x, precision=10, scale=2: on_values(x, lambda v: decimals(v, precision, scale)),
    "categories": ex.CategoricalTensor.of,
    "ordered": lambda x, categories: on_values(
        ex.lookup(x, categories, default=0), lambda codes: ex.CategoricalTensor(codes, categories, True)
    ),
    "union_of": lambda tags, children: union_of(ex.cast(tags, "i8"), children),
    "zip_of": lambda names, values: ex.zip(dict(zip(names, values))),
    "shown": lambda x: ex.constant(ex.to_py(x)),
    "zip_fields": lambda x, depth_limit=None: ex.zip(ex.unzip(x), depth_limit),
}
FUNCTIONS |= {f"{name}_at": getattr(ex.paths, name) for name in ex.paths.__all__}
WAYS = ("row_splits", "row_lengths", "row_starts", "row_limits", "value_rowids", "uniform_row_length")
for made in (*WAYS, "nested_row_splits", "nested_row_lengths"):
    FUNCTIONS[f"ragged_from_{made}"] = getattr(ex.RaggedTensor, f"from_{made}")


def difference(got: object, want: object, near: bool) -> "str | None":
    """Returns what differs: the type, the dtype, the structure or an element; all NaNs are one, zeros have a sign."""
    kinds = [type(v) for v in (got, want)]
    if kinds[0] is not kinds[1]:
        return f"the type is {kinds[0].__name__}, wanted {kinds[1].__name__}"
    if isinstance(got, ex.RowPartition) and isinstance(want, ex.RowPartition):
        return None if got == want else f"{got}, wanted {want}"
    if isinstance(got, ex.MaskedTensor) and isinstance(want, ex.MaskedTensor):
        if isinstance(got.values, ex.StructTensor):
            # What lies under a missing record does not count, so that the records are compared as they show themselves.
            same_data = ex.to_py(got) == ex.to_py(want) and got.values.field_names() == want.values.field_names()
            return difference(got.mask, want.mask, False) or (None if same_data else f"{got}, wanted {want}")
        return difference(got.mask, want.mask, False) or leaves_differ(got, want, near)
    if isinstance(got, ex.RaggedTensor) and isinstance(want, ex.RaggedTensor):
        lengths = [ex.row_lengths(v.partition).tolist() for v in (got, want)]
        if lengths[0] != lengths[1]:
            return f"the rows have lengths {lengths[0]}, wanted {lengths[1]}"
        records = got.values.values if isinstance(got.values, ex.MaskedTensor) else got.values
        if isinstance(records, ex.StructTensor):
            return difference(got.values, want.values, near)
        inner = [type(v.values) for v in (got, want)]
        return f"{inner[0]} inside, wanted {inner[1]}" if inner[0] is not inner[1] else leaves_differ(got, want, near)
    if isinstance(got, ex.StructTensor) and isinstance(want, ex.StructTensor):
        frames = [(v.shape, v.field_names()) for v in (got, want)]
        if frames[0] != frames[1]:
            return f"the records are {frames[0]}, wanted {frames[1]}"
        differences = (difference(got[name], want[name], near) for name in frames[0][1])
        return next((found for found in differences if found), None)
    if isinstance(got, ex.Tensor) and isinstance(want, ex.Tensor) and got.shape != want.shape:
        return f"the shape is {got.shape}, wanted {want.shape}"
    return leaves_differ(got, want, near)


def innermost(value: object) -> ex.Tensor:
    while isinstance(value, (ex.RaggedTensor, ex.MaskedTensor)):
        value = value.values
    assert isinstance(value, ex.Tensor), value
    return value


def leaves_differ(got: object, want: object, near: bool) -> "str | None":
    dtypes = [innermost(v).dtype for v in (got, want)]
    if dtypes[0] != dtypes[1]:
        return f"the dtype is {dtypes[0]}, wanted {dtypes[1]}"
    x, y = ex.to_py(got), ex.to_py(want)
    epsilon = EPSILON.get(str(dtypes[0]), 0.0)
    if shape_of(x) != shape_of(y):
        return f"{x}, wanted {y}"
    pairs = zip(flat(x), flat(y))
    return next((f"{a!r}, wanted {b!r}, in {x}" for a, b in pairs if not same(a, b, near, epsilon)), None)


def shape_of(items: object) -> object:
    return [shape_of(i) for i in items] if isinstance(items, list) else None


def same(a: object, b: object, near: bool, epsilon: float) -> bool:
    if not isinstance(a, float) or not isinstance(b, float):
        return a == b and type(a) is type(b)
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    if near and math.isfinite(b):
        return abs(a - b) <= max(1e-6, 4 * epsilon) * abs(b)
    return a == b and math.copysign(1.0, a) == math.copysign(1.0, b)
