"""Cached machine code matches the current sources, including those of the kernels that a kernel calls."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba import types
from numba.core.dispatcher import Dispatcher

import plcore
from plcore.kernels.compiled import kernel, kernel_files
from tests.conftest import ROOT

PROBES = {
    "of its own file": (
        "kernels/near.py",
        "total += difference * difference",
        "total += 4.0 * difference * difference",
        """
from plcore.kernels import near
from plcore.neighbors.search import make_search
X = np.arange(60.0).reshape(3, 20)
print(make_search(X, 1, "exact").nearest(X, 1, np.arange(3))[1].tolist(), hits(near.scan_dense))
""",
    ),
    "of another file": (
        "kernels/linear.py",
        "(scores[k] + V[k, d] * constant)",
        "(scores[k] + V[k, d] * constant + k)",
        """
from plcore.kernels import online
from plcore.online import PLPegasos
X, sets = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], dtype=bool)
learner = PLPegasos(max_iter=1).fit(X, sets)
print(learner.predict_then_learn(X, sets).tolist(), learner.coef_.tolist(), hits(online.learn_dense))
""",
    ),
}


@pytest.mark.proof
@pytest.mark.parametrize("name", PROBES)
def test_changed_callee_recompiles_its_caller(tmp_path: Path, name: str) -> None:
    file, before, after, probe = PROBES[name]
    package = tmp_path / "plcore"
    shutil.copytree(ROOT / "plcore", package, ignore=shutil.ignore_patterns("__pycache__"))
    begin = "import numpy as np\ndef hits(kernel): return sum(kernel.stats.cache_hits.values())\n"

    def run() -> tuple[str, bool]:
        """Output, and whether the machine code was on disk."""
        done = subprocess.run(
            [sys.executable, "-c", begin + probe], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        found, _, kept = done.stdout.strip().rpartition(" ")
        return found, kept != "0"

    first = run()
    assert not first[1]
    assert run() == (first[0], True)
    source = (package / file).read_text()
    assert before in source
    (package / file).write_text(source.replace(before, after))
    changed = run()
    assert changed[0] != first[0]
    assert not changed[1]
    (package / file).write_text(source)
    assert run() == first


@pytest.mark.proof
def test_kernel_files_are_found_in_any_folder(tmp_path: Path) -> None:
    package = tmp_path / "package"
    for part in ("", "deeper", "deeper/still", "beside"):
        (package / part).mkdir(exist_ok=True)
        (package / part / "__init__.py").write_text("")
    shutil.copy(ROOT / "plcore" / "kernels" / "compiled.py", package / "deeper" / "still" / "marked.py")
    dotted = "package.deeper.still.marked"
    calling = f"from {dotted} import kernel\nfrom package.beside.called import a\n@kernel\ndef b(): return a()\n"
    (package / "calling.py").write_text(calling)
    run = "from package.calling import b; print(b(), sum(b.stats.cache_hits.values()))"

    def result(number: int) -> list[str]:
        called = f"from {dotted} import kernel\n@kernel\ndef a(): return {number}\n"
        (package / "beside" / "called.py").write_text(called)
        # No bytecode: Python tells by second and size whether a file has changed, and these are written within one.
        return subprocess.run(
            [sys.executable, "-B", "-c", run], cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout.split()

    assert [result(1), result(1), result(2), result(2)] == [["1", "0"], ["1", "1"], ["2", "0"], ["2", "1"]]


def test_every_compiled_function_is_in_a_kernel_file() -> None:
    names = [one.name for one in pkgutil.walk_packages(plcore.__path__, "plcore.")]
    compiled = {
        Path(value.py_func.__code__.co_filename)
        for name in names
        for value in vars(importlib.import_module(name)).values()
        if isinstance(value, Dispatcher)
    }
    assert len(compiled) > 10
    assert compiled <= set(kernel_files())


def test_kernels_import_nothing_from_other_files() -> None:
    """A constant from elsewhere would be part of the machine code, and could change unnoticed."""
    files = kernel_files()
    for path, source in files.items():
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("plcore"):
                origin = Path(str(importlib.import_module(str(node.module)).__file__))
                assert origin in files, f"{path} takes from {node.module}"


@kernel
def doubled(number: int) -> int:
    return 2 * number


def test_literal_arguments_do_not_cause_recompilation() -> None:
    """Numba would specialise the callee of `doubled(3)` in another kernel."""
    for given in (types.literal(3), types.literal(4), types.int64):
        doubled.get_call_template((given,), {})  # type: ignore[attr-defined]
    assert doubled.signatures == [(types.int64,)]  # type: ignore[attr-defined]
