"""Conformance cases: reads the `case` blocks of `conformance/*.md` into Python expressions and claims.

Invariant: accepts the grammar of `conformance/README.md`, the same that the Rust runner reads; an expression is an
`ast.expr` with the line numbers of its file, so that it can be compiled as it is.
Evaluates nothing and knows no op, dtype or constructor.
"""

from __future__ import annotations

import ast
import io
import math
import re
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

MAX_NESTING: Final = 64
FOLDER: Final = Path(__file__).parents[2] / "conformance"


def read_folder(folder: Path = FOLDER) -> Iterator[Block]:
    """Yields the blocks of every Markdown file of a folder, in order of file name."""
    for path in sorted(folder.glob("*.md")):
        yield from parse_markdown(path.name, path.read_text(encoding="utf-8"))


def parse_markdown(file_name: str, text: str) -> Iterator[Block]:
    """Yields the `case` blocks of a Markdown text, in order.

    Raises `CaseSyntaxError` at the first statement outside the grammar, at a block that is not closed, and at a fence
    that is nearly a `case` fence (indented, or `cases`) and would otherwise be passed over in silence.
    """
    headings: list[tuple[int, str]] = []
    lines = _lines(text)
    for number, line in lines:
        fence = _Fence.opened_by(file_name, number, line)
        if fence is None:
            _see_heading(headings, line)
            continue
        body = fence.body(lines)
        if not fence.is_case:
            continue
        if body is None:
            raise CaseSyntaxError(file_name, number, 1, "a `case` block without its end", "a closing fence")
        heading = tuple(text for _, text in headings)
        source = _Source(file_name, " > ".join(heading), number + 1, body)
        yield Block(file_name, heading, number, tuple(source.statements()))


def parse_expr(text: str) -> ast.expr:
    """Reads one expression, with nothing but white space and comments around it."""
    source = _Source("<expression>", "", 1, text.strip(" \t\r\n").split("\n"))
    statements = list(source.token_lines())
    if len(statements) != 1:
        raise CaseSyntaxError("<expression>", 1, 1, f"{len(statements)} expressions", "one expression")
    return source.expr(statements[0])


@dataclass(frozen=True)
class Equals:
    """`==`: the same type, dtype, shape and values, bit for bit; all NaNs are one."""

    value: ast.expr


@dataclass(frozen=True)
class Near:
    """`~=`: as `==`, but floats may differ by 4 units in the last place or by 1e-6 of the value written."""

    value: ast.expr


@dataclass(frozen=True)
class Raises:
    """`raises "a" and "b"`: an error whose text contains each of these."""

    texts: tuple[str, ...]


Claim: TypeAlias = Equals | Near | Raises


@dataclass(frozen=True)
class Bind:
    """`name = expr`: a name for the statements that follow in the same block."""

    name: str
    expr: ast.expr
    line: int


@dataclass(frozen=True)
class Case:
    """An expression, what is claimed of it, and where that stands; `title` is the headings joined by ` > `."""

    expr: ast.expr
    claim: Claim
    file: str
    title: str
    line: int


Statement: TypeAlias = Bind | Case


@dataclass(frozen=True)
class Block:
    """One fenced block: bindings, and the cases that may use those before them."""

    file: str
    heading: tuple[str, ...]
    line: int
    statements: tuple[Statement, ...]


class CaseSyntaxError(ValueError):
    """Where a text left the grammar, what stood there, and what was wanted.

    Line and column count from 1, the column in characters.
    """

    def __init__(self, file: str, line: int, column: int, found: str, wanted: str) -> None:
        super().__init__(f"{file}:{line}:{column}: found {found}. Wanted: {wanted}.")
        self.file = file
        self.line = line
        self.column = column
        self.wanted = wanted


def _lines(text: str) -> Iterator[tuple[int, str]]:
    # `str.splitlines` would also cut at U+2028 and its like, which may stand in a string.
    for number, line in enumerate(text.split("\n"), 1):
        yield number, line.removesuffix("\r")


def _see_heading(headings: list[tuple[int, str]], line: str) -> None:
    match = re.match(r"(#{1,6}) (.*)", line)
    if match:
        level = len(match[1])
        headings[:] = [(above, text) for above, text in headings if above < level]
        headings.append((level, match[2].strip()))


@dataclass(frozen=True)
class _Fence:
    """The fence around a block: only a line of the same mark, at least as long, closes it."""

    mark: str
    is_case: bool

    @staticmethod
    def opened_by(file: str, number: int, line: str) -> _Fence | None:
        split = _fence_line(line)
        if split is None:
            return None
        mark, info = split
        is_case = info == "case"
        if info.lower().startswith("case") and (not is_case or line[0] in " \t"):
            wanted = "a fence at the start of the line with the info string `case`"
            raise CaseSyntaxError(file, number, 1, f"`{line.rstrip()}`", wanted)
        return _Fence(mark, is_case)

    def body(self, lines: Iterable[tuple[int, str]]) -> list[str] | None:
        """Takes the lines up to the closing fence, or all of them and gives none."""
        body: list[str] = []
        for _, line in lines:
            split = _fence_line(line)
            if split is not None and split[0].startswith(self.mark) and not split[1]:
                return body
            body.append(line)
        return None


def _fence_line(line: str) -> tuple[str, str] | None:
    """Splits a line that begins with three or more backticks or tildes into the marks and the info string."""
    match = re.match(r"\s*(`{3,}(?=[^`]*$)|~{3,})(.*)", line)
    return (match[1], match[2].strip()) if match else None


_NUMBER = re.compile(r"0|[1-9][0-9]*|(?=[0-9.]*[.eE])([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_ESCAPE = (
    r"""\\(?:[\\'"abfnrtv]|[0-3][0-7]{2}|[0-7]{1,2}(?![0-7])|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}"""
    r"""|U(?:000[0-9a-fA-F]|0010)[0-9a-fA-F]{4})"""
)
_STRING = re.compile(rf"""(?P<quote>['"])(?:(?!(?P=quote))[^\\\n]|{_ESCAPE})*(?P=quote)""")
_MARKS = frozenset(["==", "=", "~", "(", ")", "[", "]", "{", "}", ",", ":", "-"])
_SKIPPED = frozenset([tokenize.COMMENT, tokenize.NL])
_Tokens: TypeAlias = Sequence[tokenize.TokenInfo]


class _Source:
    """The lines of one block, the first of which has the number `first_line` in the file."""

    def __init__(self, file: str, title: str, first_line: int, lines: list[str]) -> None:
        self.file = file
        self.title = title
        self.first_line = first_line
        self.lines = lines

    def statements(self) -> Iterator[Statement]:
        for tokens in self.token_lines():
            yield self.statement(tokens)

    def statement(self, tokens: _Tokens) -> Statement:
        line = self.first_line + tokens[0].start[0] - 1
        at, width = _claim_mark(tokens)
        if not width:
            raise self.error(tokens[at], "`==`, `~=`, `raises` or, after a name, `=`")
        left, mark, right = tokens[:at], tokens[at].string, tokens[at + width :]
        if not left:
            raise self.error(tokens[0], "an expression: a literal, a name or a call")
        expr = self.expr(left)
        if mark == "=":
            if not isinstance(expr, ast.Name) or expr.id in _FLOATS:
                raise self.error(left[0], "a name to bind, before `=`")
            return Bind(expr.id, self.expr(right, tokens[at]), line)
        if not isinstance(expr, ast.Call | ast.Name):
            raise self.error(left[0], "a call, or a bound name, to claim something of")
        return Case(expr, self.claim(mark, right, tokens[at]), self.file, self.title, line)

    def claim(self, mark: str, tokens: _Tokens, before: tokenize.TokenInfo) -> Claim:
        if mark == "raises":
            return Raises(tuple(self.texts(tokens, before)))
        value = self.expr(tokens, before)
        return Equals(value) if mark == "==" else Near(value)

    def texts(self, tokens: _Tokens, before: tokenize.TokenInfo) -> Iterator[str]:
        """Reads strings with `and` between them."""
        for index, token in enumerate(tokens):
            if index % 2 and token.string != "and":
                raise self.error(token, "the end of the statement")
            if index % 2 == 0:
                yield self.text(token)
        if len(tokens) % 2 == 0:
            raise self.error(tokens[-1] if tokens else before, "a string that the error's text contains")

    def text(self, token: tokenize.TokenInfo) -> str:
        if token.type != tokenize.STRING:
            raise self.error(token, "a string that the error's text contains")
        text: str = ast.literal_eval(token.string)
        return text

    def expr(self, tokens: _Tokens, before: tokenize.TokenInfo | None = None) -> ast.expr:
        """Reads tokens that are one expression; `before` is blamed where there are none."""
        if not tokens:
            assert before is not None
            raise self.error(before, "an expression after it")
        try:
            # In parentheses, Python reads line breaks as the tokens did.
            expr = ast.parse(f"({self.between(tokens)}\n)", mode="eval").body
        except SyntaxError as error:
            raise self.error(tokens[0], f"an expression of the case grammar ({error.msg})") from None
        # A tuple that begins at the parenthesis put there has none of its own.
        is_bare = isinstance(expr, ast.Tuple) and expr.col_offset == 0
        wanted = "parentheses around a tuple" if is_bare else _outside(expr)
        if wanted:
            raise self.error(tokens[0], wanted)
        return ast.increment_lineno(expr, self.first_line + tokens[0].start[0] - 2)

    def between(self, tokens: _Tokens) -> str:
        """Cuts out the source from the first to the last of `tokens`."""
        (first, start), (last, end) = tokens[0].start, tokens[-1].end
        if first == last:
            return self.lines[first - 1][start:end]
        return "\n".join([self.lines[first - 1][start:], *self.lines[first : last - 1], self.lines[last - 1][:end]])

    def token_lines(self) -> Iterator[_Tokens]:
        """Cuts the block into the tokens of its statements, without comments."""
        statement: list[tokenize.TokenInfo] = []
        open_brackets = 0
        for token in self.tokens():
            if token.type in (tokenize.NEWLINE, tokenize.ENDMARKER):
                if statement:
                    yield statement
                statement = []
            elif token.type not in _SKIPPED:
                self.check_token(token, statement[-1] if statement else None, open_brackets)
                open_brackets += (token.string in ("(", "[", "{")) - (token.string in (")", "]", "}"))
                statement.append(token)

    def tokens(self) -> Iterator[tokenize.TokenInfo]:
        self.refuse_control_characters()
        text = "\n".join(self.lines) + "\n"
        try:
            yield from tokenize.generate_tokens(io.StringIO(text, newline="\n").readline)
        except tokenize.TokenError as error:
            message, (line, column) = error.args
            line += self.first_line - 1
            raise CaseSyntaxError(self.file, line, column + 1, str(message), "a whole statement") from None
        except SyntaxError as error:
            raise self.indented(error.lineno or 1) from None

    def refuse_control_characters(self) -> None:
        """Python treats some of these as white space, some as line ends and some as errors, by version."""
        for number, line in enumerate(self.lines, self.first_line):
            control = re.search(r"[\x00-\x08\x0b-\x1f\x7f]", line)
            if control:
                wanted = "an escape for it in a string"
                raise CaseSyntaxError(self.file, number, control.start() + 1, "a control character", wanted)

    def indented(self, line: int) -> CaseSyntaxError:
        line += self.first_line - 1
        return CaseSyntaxError(self.file, line, 1, "an indent", "a statement at the start of the line")

    def check_token(self, token: tokenize.TokenInfo, last: tokenize.TokenInfo | None, open_brackets: int) -> None:
        """Refuses what Python's tokens allow beyond the grammar."""
        if token.type in (tokenize.INDENT, tokenize.DEDENT):
            raise self.indented(token.start[0])
        if last is None and token.start[1] > 0:
            raise self.indented(token.start[0])
        if not open_brackets and last is not None and token.start[0] > last.end[0]:
            raise self.error(token, "an open bracket around what spans lines")
        if open_brackets == MAX_NESTING and token.string in ("(", "[", "{"):
            raise self.error(token, f"at most {MAX_NESTING} open brackets")
        if last is not None and last.type == token.type == tokenize.STRING:
            raise self.error(token, "one string, not two side by side")
        if not _is_in_grammar(token):
            raise self.error(token, "a token of the case grammar")

    def error(self, token: tokenize.TokenInfo, wanted: str) -> CaseSyntaxError:
        line, column = token.start
        return CaseSyntaxError(self.file, self.first_line + line - 1, column + 1, f"`{token.string}`", wanted)


def _claim_mark(tokens: _Tokens) -> tuple[int, int]:
    """Finds the mark between the two sides of a statement: its index, and how many tokens it has, or 0."""
    open_brackets = 0
    for index, token in enumerate(tokens):
        open_brackets += (token.string in ("(", "[", "{")) - (token.string in (")", "]", "}"))
        if open_brackets:
            continue
        if token.string in ("==", "=") or (token.string == "raises" and index > 0):
            return index, 1
        # Python has no `~=`, and so gives two tokens.
        if token.string == "~":
            touches = [after.string for after in tokens[index + 1 : index + 2] if after.start == token.end]
            return index, 2 * (touches == ["="])
    return len(tokens) - 1, 0


def _is_in_grammar(token: tokenize.TokenInfo) -> bool:
    match token.type:
        case tokenize.NAME:
            return token.string.isascii()
        case tokenize.NUMBER:
            return _NUMBER.fullmatch(token.string) is not None
        case tokenize.STRING:
            return _is_plain_string(token.string)
        case tokenize.OP:
            return token.string in _MARKS
        case _:
            return False


def _is_plain_string(source: str) -> bool:
    """Tells whether a literal has no prefix, one quote on each side and escapes that name characters."""
    return _STRING.fullmatch(source) is not None and not re.search(r"[\ud800-\udfff]", ast.literal_eval(source))


_FLOATS: Final = {"nan": math.nan, "inf": math.inf}


def _outside(expr: ast.expr) -> str | None:
    """Says what was wanted where an expression is outside the grammar."""
    for node in ast.walk(expr):
        wanted = _node_outside(node)
        if wanted:
            return wanted
    return None


def _node_outside(node: ast.AST) -> str | None:
    match node:
        case ast.Constant(value=bool() | float() | str() | None) | ast.Name() | ast.List() | ast.Tuple():
            return None
        case ast.Constant(value=int(value)):
            return None if value < 2**127 else "an integer of at most 128 bits"
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return None if _is_number(operand) else "a number or `inf` after the minus"
        case ast.Call(func=ast.Name(id=name)) if name not in _FLOATS:
            keywords = [keyword.arg for keyword in node.keywords]
            # Python itself finds a repeated keyword only when it compiles.
            is_plain = None not in keywords and len(keywords) == len(set(keywords))
            return None if is_plain else "keyword arguments with their names, each once"
        case ast.Call():
            return "a call of a name"
        case ast.Dict(keys=keys):
            texts = [key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
            return None if len(keys) == len(set(texts)) else "string keys, each once"
        case ast.keyword() | ast.expr_context() | ast.unaryop():
            return None
        case _:
            return "a literal, a name or a call"


def _is_number(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=bool()):
            return False
        case ast.Constant(value=int() | float()) | ast.Name(id="inf"):
            return True
        case _:
            return False
