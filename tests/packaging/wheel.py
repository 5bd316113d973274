"""The wheels built from the checkout, and environments with the wheels but without the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tests.conftest import ROOT


class Wheels(NamedTuple):
    """The wheel of the library, and that of the app around it."""

    plcore: Path
    winnow_labels: Path


def build(folder: Path, source: Path = ROOT) -> Wheels:
    """Both wheels of a checkout, built into this folder. Nothing is fetched: the build backend is in
    requirements-dev.txt."""
    command = [sys.executable, "-m", "pip", "wheel", str(source / "plcore"), str(source), "--no-deps"]
    _run([*command, "--no-build-isolation", "--no-index", "--wheel-dir", str(folder)], folder)
    return Wheels(*(next(folder.glob(f"{name}-*.whl")) for name in Wheels._fields))


@dataclass(frozen=True)
class Installed:
    """An environment with installed wheels: its path, and the folder of its packages."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def winnow(self) -> Path:
        """The command."""
        return self.folder / "bin" / "winnow"

    @property
    def packages(self) -> Path:
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        return self.folder / "lib" / version / "site-packages"

    def run(self, *command: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command away from the checkout; returns its output. Fails if the command fails."""
        return _run([str(word) for word in command], cwd, **environment)

    def versions(self) -> dict[str, str]:
        """{name in lower case: version} of every installed distribution."""
        code = "import importlib.metadata as all\nfor one in all.distributions(): print(one.name, one.version)"
        lines = self.run(self.python, "-I", "-c", code, cwd=self.folder).stdout.splitlines()
        return {name.lower(): version for name, version in map(str.split, lines)}


def install(wheels: Iterable[Path], folder: Path) -> Installed:
    """A new environment in this folder, with the wheels installed into it.

    Dependencies are not installed again, which would take minutes and a network: a .pth file adds the running
    interpreter's folders after the new environment's own. The checkout is in none of them, and `test_installed.py`
    checks that plcore comes from the wheel.
    """
    made = _empty(folder)
    _run([*_pip_into(made), "--no-index", "--no-deps", *map(str, wheels)], folder)
    dependencies = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    (made.packages / "dependencies.pth").write_text("\n".join(dependencies))
    return made


def install_with_dependencies(wants: Iterable[str | Path], folder: Path) -> Installed:
    """Create an environment with these wheels and their dependencies, fetched and installed by pip: takes minutes.

    wants : wheels, requirements and options of `pip install`
    """
    made = _empty(folder)
    _run([*_pip_into(made), *map(str, wants)], folder)
    return made


def _empty(folder: Path) -> Installed:
    venv.create(folder, with_pip=False, symlinks=True)
    return Installed(folder)


def _pip_into(made: Installed) -> list[str]:
    return [sys.executable, "-m", "pip", "--python", str(made.python), "install", "--quiet"]


def _run(command: list[str], cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(command, cwd=cwd, env={**kept, **environment}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done
