"""Calls every function with random arguments; `test_hostile` runs it in a process with little memory.

What a call may raise is what Extenso documents: its own errors, and the builtin exceptions that they also are. Anything else
is listed as a fault: an `InternalError` is a panic that was caught.
"""

import contextlib
import faulthandler
import inspect
import io
import math
import sys
import time
from collections.abc import Callable
from typing import Any

import extenso as ex
import numpy as np
from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st

EXPECTED = (ex.Error, TypeError, ValueError, IndexError, KeyError, OverflowError, AttributeError, BufferError)
# A size that no memory has; beside a size of zero it is one.
ENDLESS = 2**46
# A single call takes no longer, a process is ended when one does.
LONGEST = 20

DTYPES = ["bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64"]
SHAPES = [(), (1,), (2,), (3,), (2, 3), (2, 2), (1, 3), (0,), (0, 3), (3, 0), (2, 0, 2), (ENDLESS, 0), (0, ENDLESS)]
INTS = [0, 1, 2, 3, -1, -2, 5, -5, 100, 2**46, 2**60, -(2**60), 2**63 - 1, -(2**63), 2**64, -(2**70)]
FLOATS = [0.0, -0.0, 1.0, -1.5, 0.5, 1e300, -1e300, float("nan"), float("inf"), float("-inf")]
TEXTS = ["", "a", "ß", "byte", "char", "NFC", "(", "(a{1000}){1000}", "[a-z]+", "$1", "f32", "\ud800", "a" * 300]


def tensors() -> "st.SearchStrategy[ex.Tensor]":
    empty = [
        ex.zeros((ENDLESS, 0), "f64"),
        ex.zeros((0, ENDLESS), "i64"),
        ex.zeros((ENDLESS, 0), "bool"),
        ex.zeros((2**23, 2**23, 0), "f32"),
    ]
    numbers = st.builds(lambda shape, dtype: ex.ones(shape, dtype), st.sampled_from(SHAPES), st.sampled_from(DTYPES))
    special = [
        ex.tensor([float("nan"), float("inf"), -0.0]),
        ex.tensor([2**63 - 1, -(2**63)]),
        ex.tensor([0, -1, 2**60]),
        ex.tensor(["a", "ß", ""]),
        ex.tensor([[b"\xff", b""]]),
        ex.tensor([True, False, True]),
        ex.reshape(ex.tensor([1.0]), (1,) * 40),
    ]
    return st.one_of(st.sampled_from(empty + special), numbers)


def meanings() -> "list[Any]":
    """Two elements of each type whose numbers mean something."""
    return [
        ex.DecimalTensor.parse(["1.50", "-2.25"], 3, 2),
        ex.DecimalTensor.parse(["9" * 76, "0"], 76, 0),
        ex.DurationTensor([1, 2**63 - 1], "ns"),
        ex.DurationTensor([-(2**63), 0], "s"),
        ex.TimestampTensor([0, 2**63 - 1], "s", "UTC"),
        ex.DateTensor([0, -(2**31)]),
        ex.TimeTensor([0, 86_399], "s"),
        ex.CategoricalTensor.of(["b", "a"]),
        ex.CategoricalTensor([1, 0], ["b", "a"], True),
        ex.FixedBytesTensor(ex.tensor([[1, 2], [3, 4]], "u8")),
        ex.IntervalTensor(ex.zeros((2, 8), "u8"), "day_time"),
        ex.constant([{"a": 1, "b": [1, 2]}, {"a": 2, "b": []}]),
    ]


def typed() -> "st.SearchStrategy[Any]":
    return st.sampled_from(
        [
            ex.constant([[1, 2], [], [3]]),
            ex.constant([[[1.0], []], [], [[2.0, 3.0]]]),
            ex.constant([["a"], ["b", "c"]]),
            ex.constant([1, None, 3]),
            ex.constant([None, [1.5, None]]),
            ex.constant([{"a": 1, "b": [1, 2]}, {"a": 2, "b": []}]),
            ex.constant({"a": 1.0, "b": "x"}),
            ex.constant([{}, {}]),
            ex.constant([[1, 2], [], [3]]).partition,
            ex.MaskedTensor(ex.zeros((ENDLESS, 0)), ex.zeros((ENDLESS, 0), "bool")),
            *(made for like in meanings() for made in (like, like[:0], like[0], ex.mask(like, [True, False]))),
            *(ex.RaggedTensor.from_row_lengths(like, [1, 0, 1]) for like in meanings()),
        ]
    )


LEAVES = st.one_of(
    st.sampled_from(INTS),
    st.sampled_from(INTS[:6]),
    st.sampled_from(FLOATS),
    st.sampled_from(TEXTS),
    st.sampled_from([None, True, False, b"", b"\xff", ..., object(), len, np.float32(1.5), np.int64(-1)]),
    st.sampled_from([*DTYPES, "string", "bytes", ex.f32, ex.i64, ex.TensorSpec([None], "f32"), ex.TensorSpec(None, "i8")]),
)
ARGUMENTS = st.one_of(
    tensors(),
    tensors(),
    typed(),
    LEAVES,
    st.lists(LEAVES, max_size=3),
    st.lists(st.sampled_from(INTS[:8]), max_size=4),
    st.lists(st.sampled_from(INTS[:6]), max_size=3).map(tuple),
    st.lists(st.one_of(tensors(), typed()), max_size=3),
    st.dictionaries(st.sampled_from(TEXTS[:4]), LEAVES, max_size=2),
    st.sampled_from([np.zeros((2, 3)), np.array(["a", None], object), np.zeros((0,)), np.zeros(3, "M8[s]")]),
)


def functions() -> "dict[str, Callable[..., Any]]":
    """Every public function, and the constructors of values and specs."""
    found = {}
    for module in (ex._core, ex.paths, ex.strings):
        for name in dir(module):
            if not name.startswith("_") and callable(getattr(module, name)):
                item = getattr(module, name)
                if not (inspect.isclass(item) and issubclass(item, BaseException)):
                    found[f"{module.__name__.removeprefix('extenso.')}.{name}"] = item
    for name in ("RaggedTensor", "MaskedTensor", "RaggedTensorSpec", "MaskedTensorSpec"):
        found[name] = getattr(ex, name)
    for name in dir(ex.RaggedTensor):
        if name.startswith("from_"):
            found[f"RaggedTensor.{name}"] = getattr(ex.RaggedTensor, name)
    return found


def parameters(function: "Callable[..., Any]") -> "list[inspect.Parameter]":
    try:
        return [p for p in inspect.signature(function).parameters.values() if p.kind is not p.VAR_KEYWORD]
    except (TypeError, ValueError):
        return [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in ("a", "b")]


@st.composite
def calls(draw: "st.DrawFn", function: "Callable[..., Any]") -> "tuple[list[Any], dict[str, Any]]":
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for parameter in parameters(function):
        if parameter.default is not parameter.empty and draw(st.booleans()):
            continue
        value = draw(ARGUMENTS)
        if parameter.kind is parameter.KEYWORD_ONLY or (parameter.default is not parameter.empty):
            kwargs[parameter.name] = value
        else:
            args.append(value)
    return args, kwargs


def look_at(value: Any) -> None:
    """What a user does first with a result."""
    repr(value)
    if isinstance(value, ex.Tensor):
        # Millions of empty lists take their time.
        if math.prod(filter(None, value.shape)) < 2**20 or value.size:
            value.tolist()
        np.asarray(value)
    elif not isinstance(value, (list, tuple, dict)):
        ex.to_py(value)


def attempt(function: "Callable[..., Any]", args: "list[Any]", kwargs: "dict[str, Any]") -> "str | None":
    """What is wrong with the call, if anything is."""
    try:
        look_at(function(*args, **kwargs))
    except ex.InternalError as error:
        return f"a panic: {error}"
    except EXPECTED:
        return None
    except BaseException as error:  # noqa: BLE001 - a panic of the binding is no Exception.
        return f"{type(error).__name__}: {error}"
    return None


def try_out(name: str, function: "Callable[..., Any]", examples: int, faults: "list[str]") -> None:
    def check(call: "tuple[list[Any], dict[str, Any]]") -> None:
        args, kwargs = call
        faulthandler.dump_traceback_later(LONGEST, exit=True)
        print(f"{name} {short(args)} {short(kwargs)}", file=sys.stderr)
        begin = time.perf_counter()
        fault = attempt(function, args, kwargs)
        took = time.perf_counter() - begin
        faulthandler.cancel_dump_traceback_later()
        if fault is None and took > LONGEST / 4:
            fault = f"took {took:.1f} s"
        if fault is not None:
            faults.append(f"{name}(*{short(args)}, **{short(kwargs)}): {fault[:400]}")

    limits = settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
    )
    limits(seed(0)(given(calls(function))(check)))()


def short(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(short(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {short(item)}" for key, item in value.items()) + "}"
    if isinstance(value, ex.Tensor):
        return f"{value.dtype}{tuple(value.shape)}"
    return type(value).__name__ if hasattr(value, "__extenso_type_spec__") else ascii(value)[:60]


def main() -> None:
    faults: list[str] = []
    only = sys.argv[2:]
    # What `print` prints is no fault.
    with contextlib.redirect_stdout(io.StringIO()):
        for name, function in functions().items():
            if not only or name in only:
                before = len(faults)
                try_out(name, function, int(sys.argv[1]), faults)
                del faults[before + 1 :]
    print("\n".join(faults))


if __name__ == "__main__":
    main()
