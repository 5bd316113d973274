"""plcore has floors, and imports only go down: no floor imports from one above, and no two modules import each
other."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from tests.code import imports_in
from tests.conftest import ROOT

FLOORS = (
    {"arrays"},
    {"blocks"},
    {"kernels", "labels"},
    {"neighbors", "margin", "online", "kernel", "trees", "sensing"},
    {"baselines"},
    {"query", "evaluation", "crowd"},
    {"tables", "loop"},
)
"""From the lowest up. A package imports from the floors below it; exceptions are listed here."""

MAY_TOO = {
    "evaluation": {"query"},  # a labelling run is replayed by a strategy
    "kernel": {"neighbors"},  # graph learners use the same neighbours and scalings as PL-KNN
    "trees": {"kernel"},  # a forest ends in the same soft labels and scores as the kernel ridge
    "sensing": {"margin"},  # the linear features of a kernel are the same for both
}
MAY_NOT = {
    "kernels": {"labels"},
    "tables": {
        "kernels", "labels", "neighbors", "margin", "online", "kernel", "sensing", "baselines", "query",
        "evaluation",
    },
    "loop": {"tables"},
}  # fmt: skip
ABOVE_ALL = {"plcore", "plcore.compiling", "plcore.multilabel"}
"""Modules outside the packages: the package's face, and modules that use everything."""


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imports_of(source: str, modules: frozenset[str]) -> set[str]:
    """The modules of plcore that a source imports by name, inside functions and for types alone too."""
    found = set()
    for node in imports_in(source):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        else:
            assert node.level == 0, "imports are absolute"
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            # `from package import module` is an import of the module.
            found |= {name for name in inner if name in modules}
            found |= {str(node.module)} if inner - modules else set()
    return {name for name in found if name.split(".")[0] == "plcore"}


@cache
def graph() -> dict[str, set[str]]:
    """Every module of plcore, and the modules of plcore that it imports."""
    files = {module_of(path): path for path in sorted((ROOT / "plcore").rglob("*.py"))}
    return {name: imports_of(path.read_text(), frozenset(files)) for name, path in files.items()}


def package_of(module: str) -> str:
    return [*module.split("."), ""][1]


def floor_of(package: str) -> int:
    return next(number for number, packages in enumerate(FLOORS) if package in packages)


def circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Modules that import one another in a circle; each circle once, by the way that was found."""
    done: set[str] = set()
    found = []

    def visit(name: str, way: list[str]) -> None:
        if name in way:
            found.append([*way[way.index(name) :], name])
        elif name not in done:
            for other in sorted(edges.get(name, ())):
                visit(other, [*way, name])
            done.add(name)

    for name in sorted(edges):
        visit(name, [])
    return found


def test_every_package_has_its_floor() -> None:
    packages = {package_of(name) for name in graph() if name not in ABOVE_ALL}
    assert packages == set().union(*FLOORS)


@pytest.mark.parametrize("package", sorted(set().union(*FLOORS)))
def test_package_imports_only_from_floors_below(package: str) -> None:
    below = set().union(*FLOORS[: floor_of(package)])
    allowed = (below | MAY_TOO.get(package, set()) | {package}) - MAY_NOT.get(package, set())
    wrong = {
        f"{name} imports {other}"
        for name, others in graph().items()
        if package_of(name) == package
        for other in others
        if other in ABOVE_ALL or package_of(other) not in allowed
    }
    assert not wrong


def test_kinds_of_project_do_not_know_each_other() -> None:
    kinds = ("plcore.loop.one_label", "plcore.loop.label_vectors")
    shared = [name for name in graph() if package_of(name) == "loop" and not name.startswith(kinds)]
    assert "plcore.loop" in shared
    assert "plcore.loop.registry" in shared
    for name in shared:
        assert not {other for other in graph()[name] if other.startswith(kinds)}, name
    for own, other in (kinds, kinds[::-1]):
        for name in graph():
            if name.startswith(own):
                assert not {one for one in graph()[name] if one.startswith(other)}, name


def test_old_names_are_for_others() -> None:
    """`plcore.multilabel` has the names of label vectors that programs outside use."""
    assert "plcore.multilabel" in graph()
    assert not {name for name, others in graph().items() if "plcore.multilabel" in others}


def test_circle_is_found() -> None:
    modules = frozenset({"plcore.a", "plcore.b", "plcore.c", "plcore.c.d"})
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from plcore.b import B"
    assert imports_of(typed, modules) == {"plcore.b"}
    assert imports_of("def f():\n    from plcore.c import d, e", modules) == {"plcore.c", "plcore.c.d"}
    assert imports_of("import plcore.a, numpy", modules) == {"plcore.a"}
    edges = {"plcore.a": {"plcore.b"}, "plcore.b": {"plcore.c"}, "plcore.c": {"plcore.b"}}
    assert circles(edges) == [["plcore.b", "plcore.c", "plcore.b"]]
    assert circles({"plcore.a": {"plcore.b"}, "plcore.b": set()}) == []


def test_modules_do_not_import_from_face_of_their_package() -> None:
    """Modules import from the module that defines a thing; the face is for others."""
    wrong = {
        f"{name} imports {other}"
        for name, others in graph().items()
        for other in others
        if name != other and name.startswith(f"{other}.") and name not in ABOVE_ALL
    }
    assert not wrong
