"""Tests of what importing the package brings in."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("numpy", "typing", "inspect", "re", "dataclasses", "collections", "importlib.metadata")


def test_import_brings_in_no_heavy_module() -> None:
    program = "import sys; before = set(sys.modules); import extenso; print(*sorted(set(sys.modules) - before))"
    # Without site, nothing that an environment preloads hides an import of ours.
    paths = f"import sys; sys.path[:] = {sys.path!r}; "
    result = subprocess.run([sys.executable, "-S", "-c", paths + program], capture_output=True, text=True, check=True)
    loaded = set(result.stdout.split())
    assert "extenso._core" in loaded
    assert loaded.isdisjoint(HEAVY), sorted(loaded)


def test_every_public_name_is_reachable() -> None:
    import extenso as ex

    assert all(hasattr(ex, name) for name in ex._core.__all__)
