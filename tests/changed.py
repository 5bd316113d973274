"""Print the tests that `make check` runs: those of the changed rooms, of what imports them, and the spine.

    python -m tests.changed [BASE]

BASE is a commit, by default where the branch left `origin/main`, or the last commit if there is no such branch.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from tests.code import imports_in

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("plcore", "db", "workflow", "web", "pages", "winnow_labels", "tests", "benchmarks")
SPINE = (
    "tests/db/test_entries.py",
    "tests/plcore/test_candidate_inputs.py",
    "tests/plcore/test_floors.py",
    "tests/plcore/loop/one_label/test_fold.py",
    "tests/plcore/loop/label_vectors/test_fold.py",
    "tests/plcore/query/test_brute_force.py",
    "tests/test_house.py",
    "tests/test_imports.py",
    "tests/workflow/answering/test_answering.py",
    "tests/workflow/test_double_presses.py",
    "tests/workflow/test_kinds_acts.py",
    "tests/workflow/test_kinds_contract.py",
    "tests/workflow/test_kinds_rights.py",
    "tests/workflow/test_saving.py",
)
"""Tests of every check: contract, laws, exactly once, floors."""
EVERYTHING = (
    "pyproject.toml",
    "plcore/pyproject.toml",
    "requirements-hashed.txt",
    "requirements.txt",
    "requirements-dev.txt",
    "tests/conftest.py",
    "tests/databases.py",
)
"""Files that any test may depend on."""
ESTIMATORS = "tests/plcore/test_common.py"
"""Runs scikit-learn's checks on every public estimator, or on those that its option `--estimators` names."""


def git(*words: str) -> list[str]:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()


def changed_files(base: str | None) -> set[str]:
    """The paths that differ from the base, including uncommitted changes."""
    if base is None:
        known = git("branch", "--remotes", "--list", "origin/main")
        base = git("merge-base", "HEAD", "origin/main")[0] if known else "HEAD"
    return {*git("diff", "--name-only", base), *git("ls-files", "--others", "--exclude-standard")}


def module_of(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


@cache
def imports() -> dict[str, set[str]]:
    """The Winnow modules that each of its Python files imports, by the file's path."""
    files = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]
    paths = [str(path.relative_to(ROOT)) for path in (*ROOT.glob("*.py"), *files)]
    modules = {module_of(path) for path in paths}
    found = {}
    for path in paths:
        names = set()
        for node in imports_in((ROOT / path).read_text()):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif node.module:
                names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        found[path] = names & modules
    return found


def faces_of(modules: set[str]) -> set[str]:
    """The packages of these modules, except whole rooms such as `plcore`."""
    return {face for face in (module.rpartition(".")[0] for module in modules) if "." in face}


def users_of(modules: set[str]) -> set[str]:
    """These modules, and all modules that import one of them, or its package."""
    known = modules | faces_of(modules)
    return known | {module_of(path) for path, names in imports().items() if names & known}


@cache
def classes() -> list[tuple[str, str, set[str]]]:
    """For each class of plcore: its module, its name, and the names of its base classes."""
    return [
        (module_of(path), name, set(re.findall(r"\w+", bases)))
        for path in imports()
        if path.startswith("plcore/")
        for name, bases in re.findall(r"^class (\w+)(?:\(([^)]*)\))?", (ROOT / path).read_text(), re.M)
    ]


def classes_of(modules: set[str]) -> set[str]:
    """The names of the classes of plcore that these modules define, and of their subclasses."""
    found = {name for module, name, _ in classes() if module in modules}
    while more := {name for _, name, bases in classes() if bases & found} - found:
        found |= more
    return found


def choose_tests(changed: Iterable[str]) -> list[str]:
    """Arguments of pytest for these changed paths, the spine included; ["tests"] if any test may depend on one.

    A test runs if it changed or imports a changed helper, is in the room of a changed module, imports the module or its
    package, or is named after a module that does. Scikit-learn's checks run on the estimators defined in a changed
    module, or in one that imports it or its package, and on their subclasses.
    """
    changed = set(changed)
    if changed & set(EVERYTHING):
        return ["tests"]
    own = {module_of(path) for path in changed if path.endswith(".py") and not path.startswith("tests/")}
    users = {module for module in users_of(own) if module.partition(".")[0] != "tests"}
    rooms = {"tests." + module.rpartition(".")[0] for module in own}
    names = {f"tests.{room}.test_{name}" for room, _, name in (module.rpartition(".") for module in users)}
    wanted = own | faces_of(own)
    helpers = {module_of(path) for path in changed if path.startswith("tests/")}
    chosen = set(SPINE)
    for path, imported in imports().items():
        module = module_of(path)
        if not Path(path).name.startswith("test_"):
            continue
        if path in changed or module.rpartition(".")[0] in rooms or module in names or imported & (wanted | helpers):
            chosen.add(path)
    if ESTIMATORS not in chosen and (names := classes_of(users_of(own))):
        return [*sorted({*chosen, ESTIMATORS}), f"--estimators={','.join(sorted(names))}"]
    return sorted(chosen)


if __name__ == "__main__":
    print(*choose_tests(changed_files(sys.argv[1] if len(sys.argv) > 1 else None)))  # noqa: T201
