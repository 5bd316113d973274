"""A plug-in like the template of the docs, installed by pip into an environment with Winnow, is found and used."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.packaging.wheel import Installed, Wheels, install
from tests.workflow.world import small_frame

pytestmark = [pytest.mark.proof, pytest.mark.timeout(1200)]


@pytest.fixture(scope="module")
def with_plugin(wheels: Wheels, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Winnow and the plug-in, built from a copy of the template. Nothing is fetched."""
    folder = tmp_path_factory.mktemp("plug-in")
    shutil.copytree(ROOT / "docs" / "plugin-template", folder / "source")
    command = [sys.executable, "-m", "pip", "wheel", str(folder / "source"), "--no-deps", "--no-build-isolation"]
    done = subprocess.run(
        [*command, "--no-index", "--wheel-dir", str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return install([*wheels, next(folder.glob("winnow_example-*.whl"))], folder / "environment")


def test_installed_plugin_is_listed_and_compared(with_plugin: Installed, tmp_path: Path) -> None:
    def winnow(*words: str) -> str:
        return with_plugin.run(with_plugin.winnow, *words, cwd=tmp_path, WINNOW_HOME=str(tmp_path / "home")).stdout

    found = json.loads(winnow("plugins", "--json"))["plugins"]
    assert [(one["group"], one["name"]) for one in found] == [
        ("winnow.models", "boosted"),
        ("winnow.strategies", "entropy"),
        ("winnow.readers", "markdown"),
        ("winnow.encoders", "trigrams"),
    ]
    assert {(one["distribution"], one["version"], one["fault"]) for one in found} == {("winnow-example", "1.0", None)}
    lines = small_frame().to_csv(index=False, sep="\t").replace("|", ";").splitlines()
    bars = ["| " + line.replace("\t", " | ") + " |" for line in (lines[0], "\t".join("-----"), *lines[1:])]
    (tmp_path / "birds.md").write_text("\n".join(bars))
    winnow("import", "birds.md", "--setting", "model=plugin-boosted", "--setting", "strategy=plugin-entropy")
    said = winnow("encode", "birds.md", "--encoder", "plugin-trigrams", "--text", "id", "--out", "vectors.npz")
    assert said.startswith("vectors.npz: vectors of the rows of birds.md.")
    figures = {one["model"]: one for one in json.loads(winnow("compare", "1", "--json"))["figures"]}
    assert figures["plugin-boosted"]["note"] == ""
    assert figures["plugin-boosted"]["kappa"] > 0.3, "0 is chance"
