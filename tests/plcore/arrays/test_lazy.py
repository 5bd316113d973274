"""Packages whose names are imported when they are first used."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import plcore
from plcore.arrays.lazy import lazy_names, typed_imports
from tests.conftest import ROOT

LAZY = sorted(
    ".".join(path.parent.relative_to(ROOT).parts)
    for path in (ROOT / "plcore").rglob("__init__.py")
    if "lazy_names(" in path.read_text()
)


@pytest.mark.parametrize("package", LAZY)
def test_lazy_package_provides_every_listed_name(package: str) -> None:
    module = importlib.import_module(package)
    origins = typed_imports(Path(str(module.__file__)).read_text())
    assert origins
    assert set(getattr(module, "__all__", origins)) <= set(dir(module))
    for name, (origin, its_name) in origins.items():
        assert getattr(module, name) is getattr(importlib.import_module(origin), its_name)


@pytest.mark.parametrize("package", LAZY)
def test_lazy_name_is_not_module_of_package(package: str) -> None:
    """Otherwise importing the module would replace the name."""
    folder = Path(str(importlib.import_module(package).__file__)).parent
    modules = {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/*.py")}
    origins = typed_imports((folder / "__init__.py").read_text())
    assert not {name for name, (origin, _) in origins.items() if name in modules and origin != package}


@pytest.mark.parametrize("package", LAZY)
def test_lazy_package_imports_only_what_a_name_needs(package: str) -> None:
    """Otherwise one name would load what all others need."""
    source = Path(str(importlib.import_module(package).__file__)).read_text()
    others = {
        node.module
        for node in ast.parse(source).body
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("plcore")
    }
    assert others <= {"plcore.arrays.lazy", "plcore.arrays.extras"}


def test_importing_plcore_loads_no_library() -> None:
    program = (
        "import sys, plcore\nassert 'PLKernelRidge' in dir(plcore)\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'pandas'}\n"
        "print(*sorted(heavy & {name.split('.')[0] for name in sys.modules}))\n"
        "from plcore import PLKernelRidge\nprint(PLKernelRidge.__module__, 'numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "\nplcore.kernel.ridge True\n"


def test_unknown_name_raises_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"^module 'plcore' has no attribute 'PLSCV'$"):
        _ = plcore.PLSCV  # type: ignore[attr-defined]
    assert not hasattr(plcore, "__wrapped__")


def test_submodule_is_an_attribute_of_its_package() -> None:
    assert plcore.baselines.sure.SUREClassifier is plcore.SUREClassifier


def test_package_without_source_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plcore, "__spec__", None)
    with pytest.raises(ImportError, match="plcore has no source file"):
        lazy_names("plcore")
