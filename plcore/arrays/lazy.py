"""Packages that import a public name when it is first used, so that `import plcore` loads almost nothing.

The `__init__.py` of a package lists its names as plain imports under `if TYPE_CHECKING:`, which type
checkers, editors and the import tests can read. `lazy_names` reads the same lines, so no name is listed
twice. It is what `lazy from ... import ...` (PEP 810) will do from Python 3.15 on.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec


def lazy_names(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the functions `__getattr__` and `__dir__` of a package (PEP 562). Modules of the package are names, too.

    package : `__name__` of the package, whose `__init__.py` runs
    Raises ImportError if the package has no source to read.
    """
    module = sys.modules[package]
    spec = module.__spec__
    source = None if spec is None or spec.loader is None else spec.loader.get_source(package)  # type: ignore[attr-defined]  # all loaders of source files have it
    if source is None:
        raise ImportError(f"{package} has no source file, which names what it holds. Fix: install it again.")
    origins = typed_imports(source)

    def load(name: str) -> object:
        origin, its_name = origins.get(name, (package, name))
        if origin != package:
            vars(module)[name] = found = getattr(import_module(origin), its_name)
            return found
        if name.startswith("_") or find_spec(f"{package}.{its_name}") is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return import_module(f"{package}.{its_name}")

    def listed() -> list[str]:
        return sorted({*vars(module), *vars(module).get("__all__", origins)})

    return load, listed


def typed_imports(source: str) -> dict[str, tuple[str, str]]:
    """Return the module and the name there of each name imported under `if TYPE_CHECKING:` at the top of a source."""
    return {
        alias.asname or alias.name: (str(node.module), alias.name)
        for block in ast.parse(source).body
        if isinstance(block, ast.If) and isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
