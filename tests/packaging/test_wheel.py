"""Check the contents of the wheels: the library in one, the app inside one package in the other, and nothing else."""

from __future__ import annotations

import email
import re
import tomllib
import zipfile
from email.message import Message
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import winnow_labels
from tests.conftest import ROOT
from tests.packaging.wheel import Wheels

ROOMS = ("db", "pages", "web", "workflow")
FILES = (".streamlit/config.toml", "app.py", "cli.py", "worker.py")
OF_THE_DISTRIBUTION = {"plcore/pyproject.toml", "plcore/LICENSE"}
"""Files that build the library's wheel, or are in its .dist-info."""
BOTH = ("plcore", "winnow_labels")


def on_disk(*folders: str) -> set[str]:
    """The files of these folders of the checkout, without compiled ones."""
    found = (path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file())
    return {path.relative_to(ROOT).as_posix() for path in found if "__pycache__" not in path.parts}


def direct_pins() -> dict[str, Version]:
    """Pins in the first part of requirements.txt: name -> version."""
    first, _, _ = (ROOT / "requirements.txt").read_text().partition("\n\n")
    return {name: Version(pin) for name, pin in re.findall(r"^([\w.-]+)==(\S+)$", first, flags=re.M)}


def files_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def information(wheel: Path, name: str) -> str:
    """A file of the wheel's .dist-info."""
    folder = f"{wheel.name.split('-')[0]}-{winnow_labels.__version__}.dist-info"
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(f"{folder}/{name}").decode()


def metadata(wheel: Path) -> Message:
    return email.message_from_string(information(wheel, "METADATA"))


def requirements(wheel: Path, extra: str | None = None) -> dict[str, Requirement]:
    """Requirements, by name in lower case: always, or with this extra."""
    wanted = [Requirement(line) for line in metadata(wheel).get_all("Requires-Dist", [])]
    if extra is None:
        return {one.name.lower(): one for one in wanted if one.marker is None}
    return {one.name.lower(): one for one in wanted if one.marker and one.marker.evaluate({"extra": extra})}


@pytest.mark.parametrize("name", BOTH)
def test_wheel_installs_one_top_level_package(wheels: Wheels, name: str) -> None:
    tops = {file.partition("/")[0] for file in files_in(getattr(wheels, name))}
    assert tops == {name, f"{name}-{winnow_labels.__version__}.dist-info"}


def test_every_app_and_library_file_is_in_exactly_one_wheel(wheels: Wheels) -> None:
    """So no tests and benchmarks are."""
    inside = {f"winnow_labels/{name}" for name in on_disk(*ROOMS)} | {f"winnow_labels/{name}" for name in FILES}
    app, library = on_disk("winnow_labels") | inside, on_disk("plcore") - OF_THE_DISTRIBUTION
    assert {"winnow_labels/db/migrations/env.py", "winnow_labels/pages/main.py"} <= app
    assert ("plcore/py.typed" in library, "winnow_labels/py.typed" in app) == (True, True)
    for wheel, wanted in ((wheels.winnow_labels, app), (wheels.plcore, library)):
        assert {name for name in files_in(wheel) if ".dist-info/" not in name} == wanted


def test_command_is_winnow(wheels: Wheels) -> None:
    entries = information(wheels.winnow_labels, "entry_points.txt").split()
    assert entries == ["[console_scripts]", "winnow", "=", "winnow_labels.__main__:main"]


@pytest.mark.parametrize(("name", "readme"), [("plcore", "plcore/README.md"), ("winnow_labels", "README.md")])
def test_wheel_metadata_is_complete(wheels: Wheels, name: str, readme: str) -> None:
    wheel = getattr(wheels, name)
    said = metadata(wheel)
    assert (said["Name"], said["Version"]) == (name.replace("_", "-"), winnow_labels.__version__)
    assert said["License-Expression"] == "BSD-3-Clause"
    assert said["Requires-Python"] == ">=3.11"
    assert "Typing :: Typed" in said.get_all("Classifier", [])
    assert said.get_payload().strip() == (ROOT / readme).read_text().strip()
    assert information(wheel, "licenses/LICENSE") == (ROOT / "LICENSE").read_text()
    assert "The Winnow developers" in information(wheel, "licenses/LICENSE")


def test_wheel_requirements_match_pinned_versions(wheels: Wheels) -> None:
    library = requirements(wheels.plcore) | requirements(wheels.plcore, "onnx")
    needed = {**requirements(wheels.winnow_labels), **library}
    del needed["plcore"]
    pins = direct_pins()
    assert set(needed) == {name.lower() for name in pins}
    for name, pin in pins.items():
        bounds = list(needed[name.lower()].specifier)
        assert [bound.operator for bound in bounds] == [">="], f"{name} needs a lower bound"
        assert pin in needed[name.lower()].specifier, f"the pin of {name} is below its bound"


def test_app_needs_library_of_its_version(wheels: Wheels) -> None:
    needed = requirements(wheels.winnow_labels)["plcore"]
    assert needed.extras == {"onnx"}
    assert str(needed.specifier) == f"=={winnow_labels.__version__}"


def test_extras_match_pinned_test_requirements(wheels: Wheels) -> None:
    assert metadata(wheels.winnow_labels).get_all("Provides-Extra") == ["cluster", "remote"]
    assert set(metadata(wheels.plcore).get_all("Provides-Extra", [])) == {"cluster", "onnx", "tables"}
    assert requirements(wheels.winnow_labels, "cluster")["plcore"].extras == {"cluster"}
    assert set(requirements(wheels.plcore, "onnx")) > set(requirements(wheels.plcore, "tables")), (
        "an encoder is for tables"
    )
    cluster = requirements(wheels.plcore, "cluster")
    assert set(cluster) == {"dask", "distributed"}
    pinned = dict(re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / "requirements-dev.txt").read_text(), flags=re.MULTILINE))
    remote = requirements(wheels.winnow_labels, "remote")
    assert set(remote) == {"fsspec"}
    pinned |= dict(re.findall(r"^(fsspec)==(\S+)$", (ROOT / "requirements.txt").read_text(), flags=re.MULTILINE))
    for name, needed in (cluster | remote).items():
        assert Version(pinned[name]) in needed.specifier


def test_every_pin_has_its_hashes() -> None:
    """`pip install --require-hashes` takes no other files."""
    pin = re.compile(r"^([\w.-]+)==(\S+)", flags=re.M)
    pinned = {canonicalize_name(name): one for name, one in pin.findall((ROOT / "requirements.txt").read_text())}
    hashed = (ROOT / "requirements-hashed.txt").read_text()
    assert {canonicalize_name(name): one for name, one in pin.findall(hashed)} == pinned, "Fix: make hashes"
    _, *releases = re.split(r"\n(?=\w)", hashed)
    for release in releases:
        first, *files = release.strip().split(" \\\n    ")
        assert files, first
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", one) for one in files), first


def test_recipes_install_only_hashed_files() -> None:
    for name in ("Makefile", "Containerfile", "docs/deploy.md"):
        text = (ROOT / name).read_text().replace("\\\n\t\t", "")
        lines = [line for line in text.splitlines() if "pip install" in line and "requirements-hashed" in line]
        assert lines, name
        assert all("--require-hashes --requirement requirements-hashed.txt" in line for line in lines), name
        assert not re.search(r"--requirement requirements\.txt", text.partition("audit:")[0]), name


def test_version_is_defined_once() -> None:
    for folder in (ROOT, ROOT / "plcore"):
        made = tomllib.loads((folder / "pyproject.toml").read_text())
        assert "version" in made["project"]["dynamic"]
        place = folder / made["tool"]["hatch"]["version"]["path"]
        assert place.resolve() == ROOT / "winnow_labels" / "__init__.py"
