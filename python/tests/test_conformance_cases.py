"""Tests of the parser of conformance cases; the cases themselves run elsewhere."""

from __future__ import annotations

import ast

import pytest
from conformance_cases import (
    FOLDER,
    MAX_NESTING,
    Bind,
    Block,
    Case,
    CaseSyntaxError,
    Equals,
    Near,
    Raises,
    Statement,
    parse_expr,
    parse_markdown,
    read_folder,
)


def parse_block(text: str) -> Block:
    (block,) = parse_markdown("t.md", f"```case\n{text}\n```\n")
    return block


def show(statement: Statement) -> str:
    left = ast.unparse(statement.expr)
    if isinstance(statement, Bind):
        return f"{statement.name} = {left}"
    match statement.claim:
        case Equals(value):
            return f"{left} == {ast.unparse(value)}"
        case Near(value):
            return f"{left} ~= {ast.unparse(value)}"
        case Raises(texts):
            return f"{left} raises {' and '.join(map(repr, texts))}"


@pytest.mark.parametrize(
    ("text", "expect"),
    [
        ("x = [1,\n  2]\nf(x) == x # same", ["x = [1, 2]", "f(x) == x"]),
        ("f( 1 )~=.5", ["f(1) ~= 0.5"]),
        ("f(1) raises 'a b' and \"c\"", ["f(1) raises 'a b' and 'c'"]),
        ("raises = f()\nraises raises 'x'", ["raises = f()", "raises raises 'x'"]),
        ("f('a == b ~= raises', k={'a': -inf}) == (1,)", ["f('a == b ~= raises', k={'a': -inf}) == (1,)"]),
        ("# nothing\n\n", []),
        ("f([ # one\n\n1,\n]) == True", ["f([1]) == True"]),
        (r"f('\x41\u00df\U0001F600\0\1012') == nan", ["f('Aß😀\\x00A2') == nan"]),
        ("f('a\u2028b\x85') == 18446744073709551615", ["f('a\\u2028b\\x85') == 18446744073709551615"]),
    ],
)
def test_statements_are_bindings_and_claims(text: str, expect: list[str]) -> None:
    assert [show(statement) for statement in parse_block(text).statements] == expect


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("f(1)\n== 1", 2, 4),
        ("f(1) = 1", 2, 1),
        ("nan = 1", 2, 1),
        ("1 == 1", 2, 1),
        ("\n  f() == 1", 3, 1),
        ("f() == 1 == 2", 2, 8),
        ("f() ~ = 1", 2, 5),
        ("f() raises x", 2, 12),
        ("f() raises 'x' and y", 2, 20),
        ("f() raises 'x' 'y'", 2, 16),
        ("f() raises", 2, 5),
        ("f() ==", 2, 5),
        ("f() == 1, 2", 2, 8),
        ("f() == (1),", 2, 8),
        ("f() == (1), (2)", 2, 8),
        ("f() == \\\n1", 3, 1),
        ("f() == 1; g() == 1", 2, 9),
        ("f() == 1_000", 2, 8),
        ("f() == 0x10", 2, 8),
        ("f() == 'a' 'b'", 2, 12),
        ("f() == r'a'", 2, 8),
        ("f() == '''a'''", 2, 8),
        (r"f() == '\q'", 2, 8),
        (r"f() == '\ud800'", 2, 8),
        (r"f() == '\400'", 2, 8),
        ("f() == [1,\n '\0']", 3, 3),
        ("f() \f== 1 # \r", 2, 5),
        ("f() == -x", 2, 8),
        ("f() == --1", 2, 8),
        ("f() == -True", 2, 8),
        ("f() == 1 + 2", 2, 10),
        ("f() == x.y", 2, 9),
        ("f() == x[0]", 2, 8),
        ("f() == {1}", 2, 8),
        ("f() == {1: 2}", 2, 8),
        ("f() == {'a': 1, 'a': 2}", 2, 8),
        ("f() == f(*x)", 2, 10),
        ("f() == f(a=1, 2)", 2, 8),
        ("f() == f(a=1, a=2)", 2, 8),
        ("f(x)(y) == 1", 2, 1),
        ("ß() == 1", 2, 1),
        ("f() == [1 for x in y]", 2, 8),
        ("f() == 170141183460469231731687303715884105728", 2, 8),
    ],
)
def test_statements_outside_the_grammar_are_refused_with_their_place(text: str, line: int, column: int) -> None:
    with pytest.raises(CaseSyntaxError) as caught:
        parse_block(text)
    assert (caught.value.line, caught.value.column) == (line, column), str(caught.value)


def test_a_block_without_its_brackets_closed_is_refused() -> None:
    with pytest.raises(CaseSyntaxError):
        parse_block("f([1 == 2")


def test_nesting_is_bounded() -> None:
    assert isinstance(parse_expr("[" * MAX_NESTING + "]" * MAX_NESTING), ast.List)
    for depth in (MAX_NESTING + 1, 10_000):
        with pytest.raises(CaseSyntaxError, match="at most 64 open brackets"):
            parse_expr("[" * depth + "]" * depth)


def test_blocks_carry_heading_and_line() -> None:
    text = (
        "# A\n\n## B\n\n```python\n# no heading\n```\n\n```case\nf() == 1\n\n# comment\ng(\n) == 2\n```\n\n## C\n"
        "~~~~case\n~~~~\n# D\n```case\nx = 1\n```"
    )
    blocks = list(parse_markdown("t.md", text))
    assert [(block.heading, block.line) for block in blocks] == [(("A", "B"), 9), (("A", "C"), 18), (("D",), 21)]
    case = blocks[0].statements[1]
    assert isinstance(case, Case)
    assert (case.file, case.title, case.line, case.expr.lineno) == ("t.md", "A > B", 13, 13)
    assert blocks[2].statements[0].line == 22


@pytest.mark.parametrize("fence", ["```cases", "  ```case", "``` Case", "```case python"])
def test_no_block_is_passed_over_in_silence(fence: str) -> None:
    with pytest.raises(CaseSyntaxError, match="t.md:2:1: .* a fence at the start"):
        list(parse_markdown("t.md", f"\n{fence}\n```\n"))


def test_an_open_block_is_refused() -> None:
    with pytest.raises(CaseSyntaxError, match="t.md:1:1: .* a closing fence"):
        list(parse_markdown("t.md", "```case\nf() == 1\n"))


def test_an_outer_fence_hides_an_inner_one() -> None:
    assert list(parse_markdown("t.md", "````text\n```case\n???\n```\n````\n")) == []


def test_expressions_compile_as_they_are() -> None:
    (statement,) = parse_block("f([1, -inf], k='a') == None").statements
    assert isinstance(statement, Case)
    code = compile(ast.Expression(statement.expr), statement.file, "eval")
    assert eval(code, {"f": lambda x, k: (x, k), "inf": 2.0}) == ([1, -2.0], "a")


def test_every_conformance_file_parses() -> None:
    files = {block.file for block in read_folder() if block.statements}
    assert files == {path.name for path in FOLDER.glob("*.md")}
