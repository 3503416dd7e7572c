"""The Python blocks of the guide run as they stand, and print what they show."""

import doctest
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GUIDE = sorted(page.name for page in (ROOT / "book").glob("*.md") if page.name != "ops.md")


@pytest.mark.parametrize("page", GUIDE)
def test_the_python_blocks_of_a_chapter_run(page: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page share one scope and a directory of their own; a block that begins with `>>>` is a session."""
    text = (ROOT / "book" / page).read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    scope: dict[str, object] = {"__name__": "guide"}
    for block in re.finditer(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE):
        first = text.count("\n", 0, block.start()) + 1
        if block[1].startswith(">>>"):
            _run_session(block[1], scope, page, first)
        else:
            exec(compile("\n" * first + block[1], page, "exec"), scope)


def _run_session(source: str, scope: "dict[str, object]", page: str, line: int) -> None:
    session = doctest.DocTestParser().get_doctest(source, {}, page, page, line)
    session.globs = scope
    said: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    assert runner.run(session, out=said.append, clear_globs=False).failed == 0, "".join(said)


def test_the_rust_blocks_of_every_page_of_the_guide_are_doctests() -> None:
    facade = (ROOT / "crates/extenso/src/lib.rs").read_text(encoding="utf-8")
    assert [name for name in GUIDE if f'"../../../book/{name}"' not in facade] == []
