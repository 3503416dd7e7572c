"""The Python page of the README runs as it stands, and so do the commands on it."""

import pathlib
import re
import shlex
import subprocess

import extenso as ex
import pytest
from rust_programs import ROOT, built


def _page(language: str) -> "list[str]":
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    page = text[text.index("## Python") : text.index("## Layout")]
    return re.findall(rf"```{language}\n(.*?)```", page, flags=re.DOTALL)


@pytest.fixture
def ran(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    monkeypatch.chdir(tmp_path)
    scope: dict[str, object] = {"__name__": "readme"}
    (page,) = _page("python")
    exec(compile(page, "README.md", "exec"), scope)
    return tmp_path


def test_the_python_page_of_the_readme_runs_and_its_file_on_the_command_line(ran: pathlib.Path) -> None:
    program = built("bin", "extenso")
    (commands,) = _page("sh")
    shown = ""
    for line in commands.splitlines():
        name, *arguments = shlex.split(line)
        assert name == "extenso"
        # Nothing of Python is on the path.
        done = subprocess.run([program, *arguments], cwd=ran, env={"PATH": ""}, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        shown += done.stdout
    (inspected,) = _page("text")
    assert inspected in shown

    model = ex.load("recipes.exo")
    assert (ran / "scores.ndjson").read_bytes() == model.run_ndjson((ran / "recipes.ndjson").read_bytes())
