"""The wheels in an environment away from the checkout. The installed server: tests/browser/test_installed.py."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import winnow_labels
from tests.packaging.wheel import Installed
from tests.test_readme import blocks

# The kernels are compiled for the new environment, and the machine may be busy.
pytestmark = [pytest.mark.proof, pytest.mark.timeout(1200)]


def test_installed_packages_are_not_imported_from_checkout(installed: Installed, tmp_path: Path) -> None:
    show = "import plcore, winnow_labels; print(plcore.__file__, winnow_labels.__file__)"
    done = installed.run(installed.python, "-c", show, cwd=tmp_path)
    assert done.stdout.split() == [
        str(installed.packages / name / "__init__.py") for name in ("plcore", "winnow_labels")
    ]


def test_app_packages_are_not_top_level_modules(installed: Installed, tmp_path: Path) -> None:
    look = (
        "import importlib.util, plcore, winnow_labels;"
        "print([name for name in ('app', 'cli', 'db', 'pages', 'web', 'worker', 'workflow')"
        " if importlib.util.find_spec(name)])"
    )
    assert installed.run(installed.python, "-c", look, cwd=tmp_path).stdout.strip() == "[]"


def test_library_example_of_readme_runs_and_learns(installed: Installed, tmp_path: Path) -> None:
    (example,) = blocks("python")
    done = installed.run(installed.python, "-W", "error", "-c", example, cwd=tmp_path)
    before, after = map(float, re.findall(r": ([\d.]+)$", done.stdout, flags=re.M))
    assert after > before + 0.1


def test_doctor_knows_what_both_distributions_need(installed: Installed, tmp_path: Path) -> None:
    look = (
        "import sys, winnow_labels; sys.path.insert(0, winnow_labels.__path__[0]);"
        "from workflow.server import doctor; needed = doctor._required();"
        "print(doctor.installation().fix, *needed, sep='\\n')"
    )
    fix, *needed = installed.run(installed.python, "-c", look, cwd=tmp_path).stdout.splitlines()
    assert fix == ""
    names = {re.split(r"[^\w.-]", line)[0] for line in needed}
    assert {"streamlit", "plcore", "numba", "pyarrow", "dask"} <= names


@pytest.mark.parametrize("words", [["--help"], ["serve", "--help"], ["--version"]], ids=" ".join)
def test_help_imports_nothing_that_command_needs(installed: Installed, tmp_path: Path, words: list[str]) -> None:
    """Its speed is measured in benchmarks/pages/start.py."""
    done = installed.run(installed.winnow, *words, cwd=tmp_path, PYTHONPROFILEIMPORTTIME="1")
    imported = {line.rpartition("|")[2].strip().split(".")[0] for line in done.stderr.splitlines()}
    assert {"click", "cli", "winnow_labels"} <= imported
    assert not imported & {"numpy", "pandas", "scipy", "sklearn", "numba", "sqlalchemy", "streamlit", "plcore"}


def test_command_and_module_are_equivalent(installed: Installed, tmp_path: Path) -> None:
    said = f"winnow, version {winnow_labels.__version__}\n"
    assert installed.run(installed.winnow, "--version", cwd=tmp_path).stdout == said
    assert installed.run(installed.python, "-m", "winnow_labels", "--version", cwd=tmp_path).stdout == said


def test_installed_command_imports_and_exports_table(installed: Installed, tmp_path: Path) -> None:
    """The database is made by the wheel's own migrations."""
    (tmp_path / "birds.csv").write_text("id,candidates,x\n1,wren|robin,1\n2,robin,2\n3,wren,3\n4,wren,4\n")
    home = str(tmp_path / "home")
    said = installed.run(installed.winnow, "import", "birds.csv", cwd=tmp_path, WINNOW_HOME=home).stdout
    assert said.splitlines()[-1] == "Project 1: 4 rows, 2 classes."
    installed.run(installed.winnow, "export", "1", "--to", "out.csv", cwd=tmp_path, WINNOW_HOME=home)
    assert (
        (tmp_path / "out.csv")
        .read_text()
        .startswith("id,candidates,x,winnow_candidates_before,winnow_candidates,winnow_label,")
    )


def test_label_starts_installed_server(installed: Installed, tmp_path: Path) -> None:
    script = (
        "import pandas as pd, winnow_labels as winnow\n"
        "frame = pd.DataFrame({'names': [['wren', 'robin'], ['wren']]})\n"
        "try: winnow.label(frame, candidates='nothing', home='home', open_browser=False)\n"
        "except winnow.client.WinnowError as error: print(error)\n"
    )
    assert "'nothing'" in installed.run(installed.python, "-c", script, cwd=tmp_path).stdout
    assert (tmp_path / "home" / "winnow.sqlite3").exists()
