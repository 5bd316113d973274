"""What is in the wheel: the library, the app inside one package, and nothing else."""

from __future__ import annotations

import email
import re
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

import winnow
from tests.conftest import ROOT

LIBRARY = "plcore"
ROOMS = ("db", "pages", "web", "workflow")
FILES = (".streamlit/config.toml", "app.py", "cli.py", "worker.py")


def on_disk(*folders: str) -> set[str]:
    """The files of these folders of the checkout, compiled ones left out."""
    found = (path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file())
    return {path.relative_to(ROOT).as_posix() for path in found if "__pycache__" not in path.parts}


def direct_pins() -> dict[str, Version]:
    """What the first part of requirements.txt pins: name -> version."""
    first, _, _ = (ROOT / "requirements.txt").read_text().partition("\n\n")
    return {name: Version(pin) for name, pin in re.findall(r"^([\w.-]+)==(\S+)$", first, flags=re.M)}


@pytest.fixture
def archive(wheel: Path) -> Iterator[zipfile.ZipFile]:
    with zipfile.ZipFile(wheel) as opened:
        yield opened


def information(archive: zipfile.ZipFile, name: str) -> str:
    """A file of the wheel's .dist-info."""
    return archive.read(f"winnow-{winnow.__version__}.dist-info/{name}").decode()


def test_two_packages_are_all_that_comes_to_lie_beside_others(archive: zipfile.ZipFile) -> None:
    tops = {name.partition("/")[0] for name in archive.namelist()}
    assert tops == {LIBRARY, "winnow", f"winnow-{winnow.__version__}.dist-info"}


def test_every_file_of_the_app_and_the_library_is_in_it_and_no_other(archive: zipfile.ZipFile) -> None:
    """So no test and no benchmark is."""
    inside = {f"winnow/{name}" for name in on_disk(*ROOMS)} | {f"winnow/{name}" for name in FILES}
    wanted = on_disk(LIBRARY, "winnow") | inside
    assert {"plcore/py.typed", "winnow/db/migrations/env.py", "winnow/pages/main.py"} <= wanted
    assert {name for name in archive.namelist() if ".dist-info/" not in name} == wanted


def test_the_command_is_winnow(archive: zipfile.ZipFile) -> None:
    entries = information(archive, "entry_points.txt").split()
    assert entries == ["[console_scripts]", "winnow", "=", "winnow.__main__:main"]


def test_its_words_about_itself(archive: zipfile.ZipFile) -> None:
    said = email.message_from_string(information(archive, "METADATA"))
    assert (said["Name"], said["Version"]) == ("winnow", winnow.__version__)
    assert said["License-Expression"] == "BSD-3-Clause"
    assert said["Requires-Python"] == ">=3.11"
    assert "Typing :: Typed" in said.get_all("Classifier", [])
    assert said.get_payload().strip() == (ROOT / "README.md").read_text().strip()
    assert information(archive, "licenses/LICENSE") == (ROOT / "LICENSE").read_text()
    assert "The Winnow developers" in information(archive, "licenses/LICENSE")


def test_it_needs_what_requirements_pins_first(archive: zipfile.ZipFile) -> None:
    said = email.message_from_string(information(archive, "METADATA"))
    wanted = [Requirement(line) for line in said.get_all("Requires-Dist", [])]
    needed = {one.name.lower(): one for one in wanted if one.marker is None}
    pins = direct_pins()
    assert set(needed) == {name.lower() for name in pins}
    for name, pin in pins.items():
        bounds = list(needed[name.lower()].specifier)
        assert [bound.operator for bound in bounds] == [">="], f"{name} needs a lower bound"
        assert pin in needed[name.lower()].specifier, f"the pin of {name} is below its bound"


def test_what_extras_bring_is_what_the_tests_have(archive: zipfile.ZipFile) -> None:
    said = email.message_from_string(information(archive, "METADATA"))
    wanted = [Requirement(line) for line in said.get_all("Requires-Dist", [])]
    extras = {one.name: one.specifier for one in wanted if one.marker is not None}
    assert said.get_all("Provides-Extra") == ["cluster", "onnx"]
    assert set(extras) == {"dask", "distributed", "onnxruntime", "tokenizers"}
    pinned = dict(
        re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / "requirements-dev.txt").read_text(), flags=re.MULTILINE)
    )
    for name, bounds in extras.items():
        assert Version(pinned[name]) in bounds


def test_the_version_stands_in_one_place() -> None:
    assert "version" in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dynamic"]
