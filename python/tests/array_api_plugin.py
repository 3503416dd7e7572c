"""Makes the suite of the Array API standard ask for what Extenso has: no complex numbers, and operands of one dtype.

The suite takes it for granted that there is a widest complex dtype, and mixes dtypes in nearly every binary function.
"""

import builtins
from typing import Any
from unittest import mock

import extenso
import pytest

_max: Any = builtins.max


def _widest(*items: Any, **how: Any) -> Any:
    """Returns what `max` does; of no dtypes, the widest is that of real numbers."""
    return _max(*items, **how) if len(items) > 1 else _max(*items, **{"default": (extenso.float64,), **how})


with mock.patch("builtins.max", _widest):
    from array_api_tests import dtype_helpers


def pytest_sessionstart() -> None:
    """Replaces the strategy of dtypes that promote to one another; the suite looks it up by name in each call."""
    from array_api_tests import hypothesis_helpers
    from array_api_tests._array_module import _UndefinedStub
    from hypothesis import strategies

    def one_dtype(max_size: "int | None" = 2, *, dtypes: Any = dtype_helpers.all_dtypes) -> Any:
        known = strategies.sampled_from([dtype for dtype in dtypes if not isinstance(dtype, _UndefinedStub)])
        counts = strategies.integers(2, max_size or 4)
        return strategies.tuples(known, counts).map(lambda drawn: (drawn[0],) * drawn[1])

    hypothesis_helpers.mutually_promotable_dtypes = one_dtype


def pytest_collection_modifyitems(items: "list[pytest.Item]") -> None:
    """Leaves out the special cases of complex numbers, which the suite cannot tell from those of real ones."""
    for item in items:
        if "imag(" in item.nodeid:
            item.add_marker(pytest.mark.skip(reason="there are no complex numbers"))
