"""The tests keep up with the house: a test for every module, and as many lines of tests as of code."""

from __future__ import annotations

import ast
import io
import tokenize
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import ROOT

CODE = ("plcore", "db", "workflow", "web", "pages", "winnow", "app.py", "cli.py", "worker.py")
LEAST_RATIO = 1.0
TESTED_IN_THEIR_ROOM = ("workflow", "web", "db")
ASKED_FROM_OUTSIDE = {
    "web.exports": "/exports/",
    "web.health": "/healthz",
    "web.media": "/files/",
    "web.signin": "/signin",
    "workflow.warming": '"-m", "workflow.warming"',
}
"""Modules that tests ask as a browser or a terminal does, and by what: the address of a route, a command."""

LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


def files(*names: str) -> list[Path]:
    return [
        path
        for name in names
        for path in ([ROOT / name] if name.endswith(".py") else sorted((ROOT / name).rglob("*.py")))
    ]


def lines_of_code(source: str) -> int:
    """Lines that hold code: no blank ones, none of comments alone, none of docstrings or other bare texts."""
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in LAYOUT:
            found.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            found.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(found)


@cache
def imported(path: Path) -> set[str]:
    """The modules that a file imports, anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def defines_something(path: Path) -> bool:
    """Whether a module holds functions or classes of its own."""
    body = ast.parse(path.read_text()).body
    return any(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) for node in body)


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def test_a_line_of_code_is_neither_blank_nor_words() -> None:
    source = '"""A docstring\nof two lines."""\n\n# comment\nx = 1  # one\n\n\ndef f():\n    """Doc."""\n'
    assert lines_of_code(source) == 2
    assert lines_of_code(source + '    return """a\n\nb"""\n') == 5, "a text that is a value is code"


def test_there_are_as_many_lines_of_tests_as_of_code() -> None:
    """Lines of code (`lines_of_code`) of all Python files in tests/, with their helpers, over those of plcore, db,
    workflow, web, pages, winnow, app.py, cli.py and worker.py. JavaScript, benchmarks and documents count on neither
    side.
    """
    tests = sum(lines_of_code(path.read_text()) for path in files("tests"))
    code = sum(lines_of_code(path.read_text()) for path in files(*CODE))
    assert tests / code >= LEAST_RATIO, f"{tests} lines of tests for {code} lines of code"


@pytest.mark.parametrize("room", TESTED_IN_THEIR_ROOM)
def test_every_module_is_used_by_a_test_in_its_own_room(room: str) -> None:
    """In the folder of the same name in tests/; helpers there count too."""
    alone = []
    for path in files(room):
        name = module_of(path)
        if not defines_something(path) or "versions" in path.parts or name in ASKED_FROM_OUTSIDE:
            continue
        beside = (ROOT / "tests" / path.relative_to(ROOT)).parent
        if not any(name in imported(test) for test in beside.glob("*.py")):
            alone.append(name)
    assert not alone


@pytest.mark.parametrize(("name", "asked_by"), ASKED_FROM_OUTSIDE.items())
def test_what_is_asked_from_outside_is_asked(name: str, asked_by: str) -> None:
    module = ROOT / f"{name.replace('.', '/')}.py"
    assert module.exists()
    sources = [path.read_text() for path in (ROOT / "tests" / module.relative_to(ROOT)).parent.glob("*.py")]
    assert any(asked_by in source for source in sources)


def test_every_folder_of_tests_is_a_room_of_the_house() -> None:
    rooms = {"plcore", "db", "workflow", "web", "pages"}
    for folder in (path.parent for room in rooms for path in (ROOT / "tests" / room).rglob("__init__.py")):
        assert (ROOT / folder.relative_to(ROOT / "tests")).is_dir(), folder


def test_every_folder_of_plcore_and_workflow_has_tests() -> None:
    for room in ("plcore", "workflow"):
        for path in (ROOT / room).rglob("__init__.py"):
            folder = ROOT / "tests" / path.parent.relative_to(ROOT)
            assert list(folder.rglob("test_*.py")), folder
