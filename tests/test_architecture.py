"""docs/architecture.md names what there is, and nothing that is not there.

Names in backticks are looked up: `a/path`, `file.py`, `module.function`, `Class.method`. `<kind>` is every kind.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from plcore.loop import MODEL_ENTRIES, EntryKind
from plcore.loop.label_vectors import CRITERION_ENTRIES, QUESTION_ENTRIES
from plcore.query import STRATEGY_ENTRIES
from tests.conftest import ROOT
from workflow.kinds import KINDS

PAPER = (ROOT / "docs" / "architecture.md").read_text()
ROOMS = ("plcore", "db", "workflow", "pages", "web", "winnow")
BESIDE = ("benchmarks", "tests")
"""Folders of code that are named as a whole."""
ENDINGS = (".py", ".js", ".ts", ".css", ".md", ".toml", ".txt", ".grit", ".jsonc")
PAPERS = sorted([ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
"""Those whose paths must lead somewhere."""
ELSEWHERE = {"screenshots/", "dist/site", "../shared/data"}
"""Folders that lie in no checkout: commands make two of them, the public data sets are the other."""


# What the paper says


def named(text: str) -> list[str]:
    """What stands in backticks, blocks of code left out; a name with `<kind>` once for every kind."""
    found = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.S))
    return [name.replace("<kind>", kind) for name in found for kind in (KINDS if "<kind>" in name else ("",))]


def rows_under(heading: str) -> list[list[str]]:
    """The cells of the lines of the table under a heading, its own heading left out."""
    parts = re.split(rf"^#+ {re.escape(heading)}$", PAPER, flags=re.M)
    assert len(parts) == 2, f"there is one heading {heading!r}"
    text = re.split(r"^#+ ", parts[1], flags=re.M)[0]
    lines = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line] for line in lines[2:]]


def first_column(heading: str) -> list[str]:
    """What stands in backticks in the first column of the table under a heading."""
    return [name for row in rows_under(heading) for name in named(row[0])]


# What there is


def packages() -> set[str]:
    folders = {
        path.parent for room in ROOMS for ending in ("*.py", "*.js") for path in (ROOT / room).rglob(ending)
    }
    return {f"{folder.relative_to(ROOT).as_posix()}/" for folder in folders} | {f"{name}/" for name in BESIDE}


def sources() -> list[Path]:
    """Every Python file but those of tests and benchmarks."""
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
    return frozenset(path.name for path in ROOT.rglob("*") if not skipped & set(path.parts))


def leads_somewhere(path: str) -> bool:
    return (ROOT / path).exists() if "/" in path else path in file_names()


def is_dotted(name: str) -> bool:
    return bool(re.fullmatch(r"[A-Za-z_]\w*(\.\w+)+", name)) and not name.endswith(ENDINGS)


def members_of(body: list[ast.stmt]) -> dict[str, ast.AST]:
    """The names that statements bind, those under `if` and `try` too."""
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
def classes() -> dict[str, list[ast.ClassDef]]:
    found: dict[str, list[ast.ClassDef]] = {}
    for path in sources():
        for name, node in bound_in(path).items():
            if isinstance(node, ast.ClassDef):
                found.setdefault(name, []).append(node)
    return found


def has_member(name: str, member: str) -> bool:
    """Whether a class of this name, or one that it is made from, has this attribute."""
    for node in classes().get(name, []):
        own = set(members_of(node.body))
        own |= {
            one.attr
            for one in ast.walk(node)
            if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store)
        }
        bases = {one.id for base in node.bases for one in ast.walk(base) if isinstance(one, ast.Name)}
        if member in own or any(has_member(base, member) for base in bases - {name}):
            return True
    return False


def is_there(dotted: str) -> bool:
    """Whether `module.name`, `module.Class.name` or `Class.name` exists; `module` is the whole way from a room."""
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


# The tree is in the paper


def test_every_package_is_named_and_no_other() -> None:
    assert sorted(first_column("The tree")) == sorted(packages())


@pytest.mark.parametrize(
    ("heading", "real"),
    [
        ("Kinds of project", list(KINDS)),
        ("Models", list(MODEL_ENTRIES)),
        ("Strategies", list(STRATEGY_ENTRIES)),
        ("Questions and criteria of label vectors", [*QUESTION_ENTRIES, *CRITERION_ENTRIES]),
        ("Entry kinds", [str(kind) for kind in EntryKind]),
    ],
)
def test_every_entry_of_a_registry_is_named_in_its_order_and_no_other(heading: str, real: list[str]) -> None:
    assert first_column(heading) == real


def test_every_setting_is_named_and_no_other() -> None:
    assert {"WINNOW_HOME", "WINNOW_DATA", "WINNOW_REQUIRE_DATA"} <= settings()
    assert sorted(first_column("Settings")) == sorted(settings())


@pytest.mark.parametrize(("heading", "folder"), [("Pages", "pages"), ("Use cases", "workflow")])
def test_every_module_of_a_room_is_named_and_no_other(heading: str, folder: str) -> None:
    assert sorted(first_column(heading)) == sorted(modules(folder))


def test_every_page_can_be_reached() -> None:
    navigation = (ROOT / "pages" / "main.py").read_text()
    assert {name for name in modules("pages") if f'"{name}"' not in navigation} == {"main.py"}


# The paper is in the tree


@pytest.mark.parametrize("paper", PAPERS, ids=lambda path: path.name)
def test_every_path_leads_somewhere(paper: Path) -> None:
    paths = {name for name in named(paper.read_text()) if is_path(name)}
    assert [path for path in sorted(paths - ELSEWHERE) if not leads_somewhere(path)] == []


def test_every_link_leads_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", PAPER)
    assert "../README.md" in links
    assert [link for link in links if not (ROOT / "docs" / link).exists()] == []


def test_every_function_and_class_is_there() -> None:
    dotted = [name for name in named(PAPER) if is_dotted(name)]
    assert len(dotted) > 40
    assert [name for name in dotted if not is_there(name)] == []
    camel = [name for name in named(PAPER) if re.fullmatch(r"[A-Z]\w*[a-z]\w*", name)]
    assert {"Seat", "Kind", "EntryKind"} <= set(camel)
    assert [name for name in camel if name not in classes()] == []


def test_every_word_of_the_glossary_is_one_that_the_code_has() -> None:
    """In the last column stands where: a class, function or attribute, or a file."""
    rows = rows_under("Glossary")
    words = [word for row in rows for word in row[0].split(" · ")]
    assert len(words) == len(set(words)) > 40
    for word, *_, where in rows:
        places = named(where)
        assert places, word
        for place in places:
            assert place in classes() or is_path(place) or is_dotted(place), (word, place)


def test_what_is_not_there_is_found() -> None:
    assert is_there("workflow.answering.submit_answer")
    assert is_there("workflow.kinds.KINDS")
    assert is_there("Seat.turn")
    assert is_there("OneLabelTurn.show_next")  # of the class it is made from
    assert is_there("workflow.common.turn.Turn.show_next")
    assert not is_there("workflow.answering.submit")
    assert not is_there("workflow.labeling.submit_answer")
    assert not is_there("Seat.sit")
    assert is_path("workflow/answering.py")
    assert leads_somewhere("workflow/answering.py")
    assert leads_somewhere("answering.py")
    assert not leads_somewhere("workflow/labeling.py")
    assert not leads_somewhere("labeling.py")
    assert named("`a/<kind>/b.py`") == ["a/one_label/b.py", "a/label_vectors/b.py"]
    assert named("```\n`not this`\n```\n`this`") == ["this"]
