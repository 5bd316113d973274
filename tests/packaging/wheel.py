"""The wheel built from the checkout, and an environment that has it and not the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT


def build(folder: Path) -> Path:
    """The wheel, built into this folder. Nothing is fetched: the build backend is in requirements-dev.txt."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        str(ROOT),
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
    ]
    _run([*command, "--wheel-dir", str(folder)], folder)
    (wheel,) = folder.glob("*.whl")
    return wheel


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel in it: where it is, and the folder of its packages."""

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
        """Run this away from the checkout; its output. Fails where the command fails."""
        return _run([str(word) for word in command], cwd, **environment)


def install(wheel: Path, folder: Path) -> Installed:
    """A new environment in this folder, with the wheel installed into it.

    The dependencies are not fetched and installed once more, which would take minutes and a network: a .pth file
    puts the folders where the running interpreter has them behind the new environment's own. The checkout is in none
    of them, and `test_installed.py` checks that plcore comes from the wheel.
    """
    venv.create(folder, with_pip=False, symlinks=True)
    made = Installed(folder)
    pip = [sys.executable, "-m", "pip", "--python", str(made.python), "install", "--no-index", "--no-deps"]
    _run([*pip, str(wheel)], folder)
    dependencies = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    (made.packages / "dependencies.pth").write_text("\n".join(dependencies))
    return made


def _run(command: list[str], cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=cwd, env={**kept, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done
