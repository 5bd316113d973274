"""Each distribution in an empty environment, with its dependencies as pip fetches them; and built twice."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.packaging.wheel import Installed, Wheels, build, install_with_dependencies
from tests.test_readme import blocks

pytestmark = [pytest.mark.proof, pytest.mark.timeout(3600)]
MOST = 14
"""Packages that come with `pip install plcore`, itself included."""


@pytest.fixture(scope="module")
def library(wheels: Wheels, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return install_with_dependencies([wheels.plcore], tmp_path_factory.mktemp("library"))


def test_library_installs_few_packages_and_none_of_app(library: Installed) -> None:
    found = set(library.versions())
    assert {"numba", "numpy", "pandas", "plcore", "scikit-learn", "scipy"} <= found
    assert len(found) <= MOST
    assert not found & {"fastapi", "plotly", "psycopg", "pyarrow", "sqlalchemy", "streamlit", "winnow-labels"}


def test_library_runs_example_of_readme(library: Installed, tmp_path: Path) -> None:
    (example,) = blocks("python")
    done = library.run(library.python, "-W", "error", "-c", example, cwd=tmp_path)
    before, after = map(float, re.findall(r": ([\d.]+)$", done.stdout, flags=re.M))
    assert after > before + 0.1


def test_mlflow_label_studio_and_torch_are_compatible(wheels: Wheels, tmp_path: Path) -> None:
    """Nothing is fetched: pip finds compatible releases, or fails. Each tool is tested alone, since two may
    conflict."""
    for tool in ("mlflow", "label-studio-sdk", "torch"):
        (tmp_path / tool).mkdir()
        install_with_dependencies(["--dry-run", *wheels, tool], tmp_path / tool)


def test_two_clones_build_the_same_wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `make release` does: in another folder, at another time, with other permissions."""
    seen = []
    monkeypatch.setenv("SOURCE_DATE_EPOCH", output("git", "log", "-1", "--format=%ct", cwd=ROOT))
    for name, mask in (("one", 0o022), ("two", 0o077)):
        clone = tmp_path / name / "clone"
        before = os.umask(mask)
        try:
            output("git", "clone", "--quiet", str(ROOT), str(clone), cwd=tmp_path)
            if name == "two":
                for path in clone.rglob("*"):
                    os.utime(path, (10**9, 10**9), follow_symlinks=False)
            found = build(tmp_path / name, clone)
        finally:
            os.umask(before)
        seen.append({one.name: hashlib.sha256(one.read_bytes()).hexdigest() for one in found})
    assert seen[0] == seen[1]


def test_release_recipe_builds_like_reproducible_build_test() -> None:
    recipe = (ROOT / "Makefile").read_text().partition("\nrelease: ")[2].partition("\n\n")[0]
    assert "SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct)" in recipe
    assert all(word in recipe for word in ("pip wheel ./plcore . --no-deps", "cyclonedx_py", "sha256sum"))


def output(*command: str, cwd: Path) -> str:
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True).stdout.strip()
