"""The code has rooms, and imports go one way through them (see docs/decisions/0001-rooms.md)."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.code import imports_in
from tests.conftest import ROOT

ROOMS = {"plcore", "db", "workflow", "web", "pages", "app", "cli", "worker", "winnow_labels", "tests", "benchmarks"}
MAY_IMPORT = {
    "plcore": set(),
    "db": set(),
    "workflow": {"plcore", "db", "winnow_labels"},  # the version
    "web": {"workflow", "pages"},  # data of a card after a press
    "pages": {"workflow"},
    "app": {"web", "workflow"},
    "cli": {"workflow", "winnow_labels"},  # the version
    "worker": {"workflow"},
    "winnow_labels": {"cli", "workflow"},
}
# plcore is a library: it must not need a web framework or a database to be imported.
FOREIGN = {
    "plcore": {"streamlit", "sqlalchemy", "starlette", "alembic", "plotly"},
    "db": {"streamlit", "starlette", "sklearn", "numpy", "pandas", "plotly"},
    "workflow": {"streamlit", "starlette", "plotly"},
}


def imported_names(source: str) -> set[str]:
    """The first part of every module the source imports, including inside functions."""
    found = set()
    for node in imports_in(source):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif node.level == 0 and node.module:
            found.add(node.module.split(".")[0])
    return found


def files_of(room: str) -> list[Path]:
    single = ROOT / f"{room}.py"
    return [single] if single.exists() else sorted((ROOT / room).rglob("*.py"))


def test_room_imports_only_from_rooms_below(subtests: pytest.Subtests) -> None:
    for room in sorted(MAY_IMPORT):
        with subtests.test(room):
            wrong = {}
            assert files_of(room)
            for path in files_of(room):
                names = imported_names(path.read_text())
                bad = (names & (ROOMS - MAY_IMPORT[room] - {room})) | (names & FOREIGN.get(room, set()))
                if bad:
                    wrong[str(path.relative_to(ROOT))] = sorted(bad)
            assert not wrong


def test_walk_sees_imports_inside_functions() -> None:
    assert imported_names("def f():\n    from db import people\n    import plcore.query") == {"db", "plcore"}
