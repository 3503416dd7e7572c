"""Makes the suite of the Array API standard ask for what Extenso has: no complex numbers.

The suite takes it for granted that there is a widest complex dtype.
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
    from array_api_tests import dtype_helpers as dtype_helpers


def pytest_collection_modifyitems(items: "list[pytest.Item]") -> None:
    """Leaves out the special cases of complex numbers, which the suite cannot tell from those of real ones, and expects views to be refused."""
    for item in items:
        if "imag(" in item.nodeid:
            item.add_marker(pytest.mark.skip(reason="there are no complex numbers"))
        if "test_dlpack.py::test_dunder_dlpack" in item.nodeid or "test_dlpack.py::test_from_dlpack" in item.nodeid:
            # Drawn among many examples; whatever else fails is a failure.
            refused = (BufferError, extenso.InvalidValueError)
            item.add_marker(pytest.mark.xfail(raises=refused, reason="booleans are bits, and DLPack wants bytes: no view of them"))
