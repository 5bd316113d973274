"""The library on exactly the oldest releases that its pyproject.toml allows: its contract holds there, too."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from tests.conftest import ROOT
from tests.packaging.wheel import Wheels, install_with_dependencies

pytestmark = [pytest.mark.proof, pytest.mark.timeout(7200)]
TOOLS = ("hypothesis", "krippendorff", "openpyxl", "pytest", "pytest-timeout", "SQLAlchemy")
"""Packages that the tests need in addition to the library."""
SCIENCE = (
    "test_candidate_inputs.py",
    "test_common.py",
    "crowd",
    "evaluation",
    "labels",
    "query/test_brute_force.py",
    "sensing/test_estimators.py",
)
TABLES = (
    "tables/test_candidates.py",
    "tables/test_columns.py",
    "tables/test_growing.py",
    "tables/test_table.py",
    "tables/test_table_file.py",
    "tables/test_vector_columns.py",
    "tables/features",
    "tables/media/test_descriptor.py",
    "tables/media/test_image_reading.py",
    "tables/roles",
    "tables/text",
)


def lowest(*extras: str) -> dict[str, Version]:
    """The lower bounds of the library's requirements, or with these extras: the highest, if there are two."""
    project = tomllib.loads((ROOT / "plcore" / "pyproject.toml").read_text())["project"]
    lines = [*project["dependencies"], *(one for name in extras for one in project["optional-dependencies"][name])]
    bounds: dict[str, Version] = {}
    for wanted in map(Requirement, lines):
        (bound,) = wanted.specifier
        assert bound.operator == ">=", f"{wanted} has no lower bound"
        bounds[wanted.name] = max(Version(bound.version), bounds.get(wanted.name, Version("0")))
    return bounds


@pytest.mark.parametrize(("extras", "tests"), [((), SCIENCE), (("tables",), TABLES)], ids=["science", "tables"])
def test_contract_holds_on_oldest_releases(
    wheels: Wheels, tmp_path: Path, extras: tuple[str, ...], tests: tuple[str, ...]
) -> None:
    bounds = lowest(*extras)
    tools = re.findall(
        rf"^(?:{'|'.join(TOOLS)})==\S+$",
        "\n".join((ROOT / name).read_text() for name in ("requirements.txt", "requirements-dev.txt")),
        flags=re.M,
    )
    assert len(tools) == len(TOOLS)
    constraints = tmp_path / "lowest.txt"
    constraints.write_text("\n".join(f"{name}=={bound}" for name, bound in bounds.items()))
    wanted = f"plcore[{','.join(extras)}] @ {wheels.plcore.as_uri()}"
    made = install_with_dependencies(["--constraint", constraints, wanted, *tools], tmp_path / "environment")
    versions = made.versions()
    assert {name: Version(versions[name.lower()]) for name in bounds} == bounds

    away = tmp_path / "away"
    shutil.copytree(ROOT / "tests", away / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", away)
    look = made.run(made.python, "-c", "import plcore; print(plcore.__file__)", cwd=away).stdout.strip()
    assert Path(look).is_relative_to(made.packages)
    done = made.run(
        *(made.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not (slow or proof or public_data)"),
        *("-W", "ignore::pytest.PytestRemovedIn10Warning"),  # from the decorator in that scikit-learn release
        *(f"tests/plcore/{name}" for name in tests),
        cwd=away,
    )
    (passed,) = re.findall(r"(\d+) passed", done.stdout)
    assert int(passed) > 100
