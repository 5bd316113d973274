"""Every kind of project is a folder with the same names in it, here and among the pieces of pages."""

from __future__ import annotations

import ast
import inspect
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from pages.parts.kinds import PARTS, KindParts
from tests.conftest import ROOT
from workflow.kinds import KINDS
from workflow.kinds.kind import Kind


def modules(folder: Path) -> set[str]:
    return {path.stem for path in folder.glob("*.py")}


def names_of(protocol: type) -> set[str]:
    functions = {
        name for name, _ in inspect.getmembers(protocol, inspect.isfunction) if not name.startswith("_")
    }
    capabilities = {name for name, one in vars(protocol).items() if isinstance(one, property)}
    return functions | capabilities | set(protocol.__annotations__)


def test_every_kind_is_a_folder_and_every_folder_a_kind() -> None:
    for room in (ROOT / "workflow" / "kinds", ROOT / "pages" / "parts"):
        folders = {path.parent.name for path in room.glob("*/__init__.py")}
        assert folders == set(KINDS) == set(PARTS)
    for name, kind in KINDS.items():
        assert isinstance(kind, ModuleType)
        assert name == kind.NAME
        assert kind.__name__ == f"workflow.kinds.{name}"


def test_the_folders_have_the_same_modules() -> None:
    found = {name: modules(ROOT / "workflow" / "kinds" / name) for name in KINDS}
    core = set.intersection(*found.values())
    assert {"answering", "build", "exporting", "progress", "reviewing", "rows", "settings", "showing"} <= core
    assert {"training", "turn"} <= core
    capabilities = {"forms", "shortlists"}  # a kind without them has no such file
    assert all(modules - core <= capabilities for modules in found.values()), found
    parts = [modules(ROOT / "pages" / "parts" / name) for name in PARTS]
    assert all(one == parts[0] for one in parts)


def test_the_protocols_have_names() -> None:
    assert {"NAME", "FORMATS", "open_row", "make_turn", "count"} <= names_of(Kind)
    assert {"EXPORT", "queue_page", "settings"} <= names_of(KindParts)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(("room", "protocol"), [("workflow.kinds", Kind), ("pages.parts", KindParts)])
def test_a_kind_has_every_name_of_its_protocol(name: str, room: str, protocol: type) -> None:
    module = import_module(f"{room}.{name}")
    wanted = names_of(protocol)
    assert wanted <= set(module.__all__)
    for one in wanted:
        found = getattr(module, one)
        if inspect.isfunction(inspect.getattr_static(protocol, one, None)):
            assert callable(found), one


@pytest.mark.parametrize("name", KINDS)
def test_functions_take_what_the_protocol_says(name: str) -> None:
    for one, declared in inspect.getmembers(Kind, inspect.isfunction):
        if one.startswith("_"):
            continue
        wanted = [parameter for parameter in inspect.signature(declared).parameters if parameter != "self"]
        found = inspect.signature(getattr(KINDS[name], one)).parameters
        assert list(found)[: len(wanted)] == wanted, one


@pytest.mark.parametrize("name", KINDS)
def test_one_kind_does_not_know_another(name: str) -> None:
    others = [
        f"{room}.{other}" for room in ("workflow.kinds", "pages.parts") for other in KINDS if other != name
    ]
    for room in ("workflow/kinds", "pages/parts"):
        for path in (ROOT / room / name).glob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                named = [str(node.module)] if isinstance(node, ast.ImportFrom) else []
                named += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                assert not [one for one in named if any(one.startswith(other) for other in others)], path
