"""The Python page of the README runs as it stands."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_the_python_page_of_the_readme_runs(tmp_path: pathlib.Path, monkeypatch: "object") -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert blocks, "the README has no Python page"
    monkeypatch.chdir(tmp_path)  # type: ignore[attr-defined]
    scope: dict[str, object] = {"__name__": "readme"}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), scope)
