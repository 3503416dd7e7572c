"""NumPy's universal functions on rows, records and other values that are no array: the op that means the same."""

from typing import Any

import extenso as ex

# Where the names differ.
OPS = {
    "absolute": "abs",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift",
    "power": "pow",
    "right_shift": "bitwise_right_shift",
    "rint": "round",
}
REDUCTIONS = {
    "add": "sum",
    "logical_and": "all",
    "logical_or": "any",
    "maximum": "max",
    "minimum": "min",
    "multiply": "prod",
}


def apply(ufunc: Any, method: str, inputs: "tuple[Any, ...]", options: "dict[str, Any]") -> Any:
    """Returns what the op of that meaning gives; `NotImplemented` where there is none, or where an option asks for what no op does."""
    function: str = ufunc.__name__
    given = {name: option for name, option in options.items() if option is not None or name == "axis"}
    if method == "__call__":
        op = getattr(ex, OPS.get(function, function), None)
        return NotImplemented if op is None or given else op(*inputs)
    name = REDUCTIONS.get(function, "")
    if name in ("any", "all") and given.get("dtype") is bool:
        del given["dtype"]
    op = getattr(ex, name, None)
    if method != "reduce" or op is None or not given.keys() <= {"axis", "keepdims"}:
        return NotImplemented
    return op(*inputs, axis=given.get("axis", 0), keepdims=given.get("keepdims", False))
