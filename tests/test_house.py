"""The house as a whole: imports between rooms, things that are done in a single place, and lengths of files."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from plcore.loop import EntryKind
from tests.code import imports_in
from tests.conftest import ROOT
from tests.plcore.test_floors import circles

ROOMS = ("app", "cli", "worker", "winnow_labels", "pages", "web", "workflow", "plcore", "db")
KINDS = ("one_label", "label_vectors")
FACES = {
    "plcore",
    "plcore.arrays",
    "plcore.blocks",
    "plcore.crowd",
    "plcore.evaluation",
    "plcore.kernels",
    "plcore.labels",
    "plcore.loop",
    "plcore.loop.label_vectors",
    "plcore.loop.one_label",
    "plcore.neighbors",
    "plcore.query",
    "plcore.sensing",
    "plcore.tables",
    "plcore.tables.encoders",
}
"""Packages of plcore that workflow may import: packages, never the modules inside them."""

MOST_LINES = 600
MOST_ENTRIES = 16
OF_TOOLS = {"LICENSE", "py.typed", "pyproject.toml"}
"""Files that a tool requires under that name and in that folder, which are not counted."""
CROWDED = {
    "db": 19,
    "pages": 20,  # a file for each page
    "pages/parts": 37,
    "plcore": 20,
    "plcore/loop/one_label": 17,
    "web": 21,
    "workflow": 19,
}
"""Folders with more entries than that, and the most they may have: each number may only fall."""

OPENS_BY_ITSELF = {
    "workflow/seat.py": "it is the way in",
    "workflow/kinds/opening.py": "the seat's own machinery",
    "workflow/saving.py": "the transaction that the seat takes",
    "workflow/people/team.py": "signing in: no one is there yet",
    "workflow/people/passwords.py": "signing in: no one is there yet",
    "workflow/people/elsewhere.py": "signing in: no one is there yet",
    "workflow/people/browsers.py": "who is there is what it finds out",
    "workflow/people/tokens.py": "who is there is what it finds out",
    "workflow/demos/digits.py": "the first project, before anyone is there",
    "workflow/server/figures.py": "the operator's program, which is not a person",
    "workflow/models/training.py": "the worker, who is not a person",
    "workflow/models/comparing.py": "the worker, who is not a person",
    "workflow/importing/encoding_worker.py": "the worker, who is not a person; it takes the seat of who asked",
    "workflow/models/random_order.py": "the worker, who is not a person",
    "workflow/models/map_worker.py": "the worker, who is not a person",
    "workflow/models/language/worker.py": "the worker, who is not a person; it takes the seat of who asked",
    "workflow/models/neighbors.py": "the worker, who is not a person",
    "workflow/models/waiting.py": "the worker, who is not a person",
    "workflow/models/leases.py": "the worker, who is not a person",
    "workflow/kinds/one_label/training.py": "takes in what a worker has published, whoever is there",
    "workflow/kinds/label_vectors/training.py": "a thread of the server, who is not a person",
}
"""Modules that open a transaction without a seat, each with its reason."""


@cache
def sources() -> dict[str, str]:
    """{path: text} of every Python file of the rooms."""
    files = [ROOT / f"{room}.py" for room in ROOMS]
    files += [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]
    return {str(path.relative_to(ROOT)): path.read_text() for path in files if path.is_file()}


def module_of(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


@cache
def edges() -> dict[str, set[str]]:
    """Every module, and the modules of the house that it imports, including inside functions and only for types."""
    modules = {module_of(path) for path in sources()}
    found: dict[str, set[str]] = {}
    for path, text in sources().items():
        names = set()
        for node in imports_in(text):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif node.module:
                inner = {f"{node.module}.{alias.name}" for alias in node.names}
                names |= inner & modules
                names |= {node.module} if inner - modules else set()
        found[module_of(path)] = (names & modules) - {module_of(path)}  # an example in its docstring
    return found


def places(pattern: str) -> dict[str, list[str]]:
    """{path: lines} where the pattern is in code."""
    found: dict[str, list[str]] = defaultdict(list)
    for path, text in sources().items():
        if not re.search(pattern, text):
            continue
        for line in text.splitlines():
            if re.search(pattern, line):
                found[path].append(line.strip())
    return dict(found)


def test_modules_have_no_import_cycle() -> None:
    assert circles(edges()) == []


@pytest.mark.parametrize("above", ["workflow.kinds", "pages.parts", "plcore.loop"])
def test_kinds_do_not_import_each_other(above: str) -> None:
    for own, other in (KINDS, KINDS[::-1]):
        mine = [name for name in edges() if name.startswith(f"{above}.{own}")]
        assert mine
        for name in mine:
            assert not {found for found in edges()[name] if f".{other}" in found}, name


@pytest.mark.parametrize("folder", ["workflow/kinds", "pages/parts"])
def test_kinds_have_same_file_names(folder: str) -> None:
    names = [{path.name for path in (ROOT / folder / kind).glob("*.py")} for kind in KINDS]
    capabilities = {"forms.py", "shortlists.py"}  # a kind that has none of these has no such file
    assert names[0] ^ names[1] <= capabilities
    assert len(names[0] & names[1]) >= 5


def test_only_kinds_check_the_kind() -> None:
    inside = ("workflow/kinds/", "pages/parts/one_label/", "pages/parts/label_vectors/")
    asked = places(r"isinstance\([^)]*(?:Learner|Turn|Pool)\b|(?<!labels)\.vectors\b(?! import)|\bkind_of\(")
    assert not {path: lines for path, lines in asked.items() if not path.startswith(inside)}
    assert "workflow/kinds/__init__.py" in asked


def test_kinds_are_imported_in_one_place_of_each_package() -> None:
    """A third kind is a new folder in each room, and its name in the list of folders."""
    naming = {
        name
        for name, others in edges().items()
        for other in others
        if re.match(r"(workflow\.kinds|pages\.parts)\.(one_label|label_vectors)\b", other)
        and not re.search(r"\.(one_label|label_vectors)\b", name)
    }
    assert naming == {"workflow.kinds", "pages.parts.kinds"}


def test_workflow_imports_public_plcore_packages_only() -> None:
    wrong = {
        f"{name} imports {other}"
        for name, others in edges().items()
        if name.split(".")[0] == "workflow"
        for other in others
        if other.split(".")[0] == "plcore" and other not in FACES
    }
    assert not wrong


def test_use_cases_open_transactions_through_seat_only() -> None:
    opened = places(r"\.database\.(?:read|write)\(|(?<!def )\bsaving\(")
    ours = {path for path in opened if path.startswith("workflow/")}
    assert ours <= set(OPENS_BY_ITSELF)
    assert set(OPENS_BY_ITSELF) <= ours, "what does so no longer is named for nothing"


def test_pages_and_web_do_not_open_database() -> None:
    opened = places(r"\.database\.(?:read|write)\(")
    assert not {path for path in opened if path.startswith(("pages/", "web/", "cli.py"))}


def test_public_class_names_are_unique() -> None:
    where = defaultdict(list)
    for path, text in sources().items():
        for name in re.findall(r"^class ([^\W_]\w*)", text, re.M):
            where[name].append(path)
    assert {"Seat", "ActiveLearner"} <= set(where)
    assert not {name: paths for name, paths in where.items() if len(paths) > 1}


def test_kinds_of_entries_are_written_in_one_place() -> None:
    """`EntryKind` is used everywhere; no code compares a kind with a string."""
    kinds = "|".join(EntryKind)
    assert not places(rf"""\bkind (?:==|!=|in|not in) \(?["'](?:{kinds})["']""")
    assert places(r"\bkind (?:==|!=|in|not in) \(?EntryKind\."), "the pattern finds what there is"


def test_no_file_is_longer_than_one_subject_needs() -> None:
    lengths = {path: len(text.splitlines()) for path, text in sources().items()}
    assert not {path: count for path, count in lengths.items() if count > MOST_LINES}


def holds_files(folder: Path) -> bool:
    """Whether a folder has more than compiled Python files, which a moved room may leave behind."""
    return any(path.is_file() and path.parent.name != "__pycache__" for path in folder.rglob("*"))


def test_no_folder_gets_more_crowded() -> None:
    folders = {path.parent for room in ROOMS for path in (ROOT / room).rglob("*.py")}
    entries = {
        str(folder.relative_to(ROOT)): sum(
            path.is_file() or holds_files(path) for path in folder.iterdir() if path.name not in OF_TOOLS
        )
        for folder in folders
    }
    assert not {name: count for name, count in entries.items() if count > CROWDED.get(name, MOST_ENTRIES)}
    assert not {name for name in CROWDED if entries.get(name, 0) <= MOST_ENTRIES}, "no longer crowded"
