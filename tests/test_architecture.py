"""docs/architecture.md names all existing parts, nothing else, and stays short.

Names in backticks are looked up: `a/path`, `file.py`, `module.function`, `Class.method`.
"""

from __future__ import annotations

import ast
import os
import re
from functools import cache
from pathlib import Path

import pytest

from plcore.loop import MODEL_ENTRIES, EntryKind
from plcore.loop.label_vectors import CRITERION_ENTRIES, QUESTION_ENTRIES
from plcore.query import STRATEGY_ENTRIES
from tests.conftest import ROOT
from workflow.kinds import KINDS

MOST_WORDS = 1500
MOST_WORDS_OF_A_CELL = 25
WIDEST = 78
"""Characters of a diagram's line that fit the text column of the site on a screen of 1280 px."""

PAPER = (ROOT / "docs" / "architecture.md").read_text()
ROOMS = ("plcore", "db", "workflow", "pages", "web", "winnow_labels")
BESIDE = ("benchmarks", "tests")
"""Folders of code that are only named as a whole."""
READMES = [ROOT / room / "README.md" for room in (*ROOMS, *BESIDE)]
MOST_LINES_OF_A_README = 16
ENDINGS = (".py", ".js", ".ts", ".css", ".md", ".toml", ".txt", ".grit", ".jsonc")
PAPERS = sorted(
    [ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", ROOT / "README.md", *READMES, *(ROOT / "docs").rglob("*.md")]
)
"""Pages whose paths must exist."""
ELSEWHERE = {
    "screenshots/",
    "dist/site",
    "dist/release",
    "../shared/data",
    "plcore/neighbors/centroid.py",
    "tests/plcore/neighbors/test_centroid.py",
}
"""Paths that are in no checkout: created by commands or by readers of first-change.md, or public data."""


# The paper's text


def named(text: str) -> list[str]:
    """The names in backticks, outside of blocks of code."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.S))


def under(heading: str) -> str:
    """The text under a heading, up to the next heading."""
    parts = re.split(rf"^#+ {re.escape(heading)}$", PAPER, flags=re.M)
    assert len(parts) == 2, f"there is one heading {heading!r}"
    return re.split(r"^#+ ", parts[1], flags=re.M)[0]


def cells_of(text: str) -> list[list[str]]:
    """The cells of each table row in a text."""
    lines = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line] for line in lines]


def rows_under(heading: str) -> list[list[str]]:
    """The rows of the table under a heading, without its header."""
    return cells_of(under(heading))[2:]


def first_column(heading: str) -> list[str]:
    """The names in the first column of the table under a heading."""
    return [name for row in rows_under(heading) for name in named(row[0])]


# Available parts


def packages() -> set[str]:
    folders = {path.parent for room in ROOMS for ending in ("*.py", "*.js") for path in (ROOT / room).rglob(ending)}
    return {f"{folder.relative_to(ROOT).as_posix()}/" for folder in folders} | {f"{name}/" for name in BESIDE}


def sources() -> list[Path]:
    """Every Python file except tests and benchmarks."""
    return [*ROOT.glob("*.py"), *(path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py")))]


def settings() -> set[str]:
    """Every WINNOW_* variable that a program reads."""
    files = [*sources(), ROOT / "tests" / "conftest.py"]
    return {name for path in files for name in re.findall(r"WINNOW_[A-Z_]*[A-Z]", path.read_text())}


def modules(folder: str) -> set[str]:
    return {path.name for path in (ROOT / folder).glob("*.py")} - {"__init__.py"}


# Looking a name up


def is_path(name: str) -> bool:
    return bool(re.fullmatch(r"[\w.-]+(/[\w.-]+)*/?", name)) and ("/" in name or name.endswith(ENDINGS))


@cache
def file_names() -> frozenset[str]:
    skipped = {".git", ".venv", "node_modules", "__pycache__"}
    found = set()
    for _, folders, files in os.walk(ROOT):
        folders[:] = set(folders) - skipped
        found.update(folders, files)
    return frozenset(found)


def leads_somewhere(path: str) -> bool:
    return (ROOT / path).exists() if "/" in path else path in file_names()


def is_dotted(name: str) -> bool:
    return bool(re.fullmatch(r"[A-Za-z_]\w*(\.\w+)+", name)) and not name.endswith(ENDINGS)


def members_of(body: list[ast.stmt]) -> dict[str, ast.AST]:
    """The names that statements bind, including those under `if` and `try`."""
    found: dict[str, ast.AST] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(alias.asname or alias.name): node for alias in node.names}
        elif isinstance(node, ast.Assign):
            found |= {one.id: node for t in node.targets for one in ast.walk(t) if isinstance(one, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = node
        elif isinstance(node, ast.If | ast.Try):
            found |= members_of([*node.body, *node.orelse])
    return found


@cache
def bound_in(path: Path) -> dict[str, ast.AST]:
    return members_of(ast.parse(path.read_text()).body)


@cache
def files_of_classes() -> dict[str, set[Path]]:
    found: dict[str, set[Path]] = {}
    for path in sources():
        for name in re.findall(r"^\s*class (\w+)", path.read_text(), re.M):
            found.setdefault(name, set()).add(path)
    return found


@cache
def classes(name: str) -> list[ast.ClassDef]:
    """The classes of this name; only files that define one are parsed."""
    found = [bound_in(path).get(name) for path in files_of_classes().get(name, ())]
    return [node for node in found if isinstance(node, ast.ClassDef)]


def has_member(name: str, member: str) -> bool:
    """Whether a class of this name, or a base class, has this attribute."""
    for node in classes(name):
        own = set(members_of(node.body))
        own |= {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store)}
        bases = {one.id for base in node.bases for one in ast.walk(base) if isinstance(one, ast.Name)}
        if member in own or any(has_member(base, member) for base in bases - {name}):
            return True
    return False


def is_there(dotted: str) -> bool:
    """Whether `module.name`, `module.Class.name` or `Class.name` exists; `module` is the full path from a room."""
    parts = dotted.split(".")
    for end in range(len(parts), 0, -1):
        at = ROOT.joinpath(*parts[:end])
        path = at.with_suffix(".py") if at.with_suffix(".py").exists() else at / "__init__.py"
        if not path.exists():
            continue
        rest = parts[end:]
        if len(rest) <= 1:
            return not rest or rest[0] in bound_in(path)
        return len(rest) == 2 and rest[0] in bound_in(path) and has_member(rest[0], rest[1])
    return len(parts) == 2 and has_member(parts[0], parts[1])


# The tree is on the page


def test_architecture_names_every_package_and_no_other() -> None:
    assert sorted(first_column("The tree")) == sorted(packages())


@pytest.mark.parametrize(
    ("registry", "real"),
    [
        ("plcore.loop.MODEL_ENTRIES", list(MODEL_ENTRIES)),
        ("plcore.query.STRATEGY_ENTRIES", list(STRATEGY_ENTRIES)),
        ("plcore.loop.label_vectors.QUESTION_ENTRIES", list(QUESTION_ENTRIES)),
        ("plcore.loop.label_vectors.CRITERION_ENTRIES", list(CRITERION_ENTRIES)),
        ("plcore.loop.EntryKind", [str(kind) for kind in EntryKind]),
    ],
)
def test_architecture_lists_names_of_every_registry(registry: str, real: list[str]) -> None:
    rows = {named(row[0])[0]: named(row[1]) for row in rows_under("Kinds and registries")}
    assert rows[registry] == real


def test_architecture_names_every_kind() -> None:
    assert set(KINDS) <= set(named(under("Kinds and registries").partition("\n|")[0]))


def test_architecture_names_every_setting_and_no_other() -> None:
    assert {"WINNOW_HOME", "WINNOW_DATA", "WINNOW_REQUIRE_DATA"} <= settings()
    assert sorted(named(under("Settings"))) == sorted(settings())


def test_architecture_names_every_page_and_no_other() -> None:
    assert sorted(named(under("Pages"))) == sorted(modules("pages"))


def test_every_page_can_be_reached() -> None:
    navigation = (ROOT / "pages" / "main.py").read_text()
    assert {name for name in modules("pages") if f'"{name}"' not in navigation} == {"main.py"}


# It is short


def test_architecture_is_short_and_fits_screen_width() -> None:
    assert len(PAPER.split()) <= MOST_WORDS
    cells = [cell for row in cells_of(PAPER) for cell in row]
    assert len(cells) > 100
    assert [cell for cell in cells if len(cell.split()) > MOST_WORDS_OF_A_CELL] == []
    (diagram,) = re.findall(r"```(.*?)```", PAPER, flags=re.S)
    assert max(len(line) for line in diagram.splitlines()) <= WIDEST


def test_every_package_has_short_readme_linked_from_architecture(subtests: pytest.Subtests) -> None:
    for readme in READMES:
        with subtests.test(readme.parent.name):
            text = readme.read_text()
            assert len(text.splitlines()) <= MOST_LINES_OF_A_README
            for wanted in ("**Begin with**", "**May import**", "**Test**"):
                assert wanted in text or readme.parent.name == "tests", wanted
            assert f"(../{readme.parent.name}/README.md)" in PAPER


# The page is in the tree


def test_every_path_in_docs_exists(subtests: pytest.Subtests) -> None:
    for paper in PAPERS:
        with subtests.test(paper.name):
            paths = {name for name in named(paper.read_text()) if is_path(name)}
            assert [path for path in sorted(paths - ELSEWHERE) if not leads_somewhere(path)] == []


def test_every_named_function_and_class_exists() -> None:
    dotted = [name for name in named(PAPER) if is_dotted(name)]
    assert len(dotted) > 20
    assert [name for name in dotted if not is_there(name)] == []
    camel = [name for name in named(PAPER) if re.fullmatch(r"[A-Z]\w*[a-z]\w*", name)]
    assert {"Seat", "Kind", "LogEntry"} <= set(camel)
    assert [name for name in camel if not classes(name)] == []


def test_checks_find_missing_names_and_paths() -> None:
    assert is_there("workflow.answering.loop.submit_answer")
    assert is_there("workflow.kinds.KINDS")
    assert is_there("Seat.turn")
    assert is_there("OneLabelTurn.show_next")  # of the class it is made from
    assert is_there("workflow.answering.turn.Turn.show_next")
    assert not is_there("workflow.answering.loop.submit")
    assert not is_there("workflow.labeling.submit_answer")
    assert not is_there("Seat.sit")
    assert is_path("workflow/answering/loop.py")
    assert leads_somewhere("workflow/answering/loop.py")
    assert leads_somewhere("answering.py")
    assert not leads_somewhere("workflow/labeling.py")
    assert not leads_somewhere("labeling.py")
    assert named("```\n`not this`\n```\n`this`") == ["this"]
