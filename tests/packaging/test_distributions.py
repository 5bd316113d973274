"""Each distribution in an empty environment, with its dependencies as pip fetches them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.packaging.wheel import Installed, Wheels, install_with_dependencies
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
