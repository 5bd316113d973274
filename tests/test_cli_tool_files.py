"""Files of single tools by the command line: read as what they are, and written back in the tool's own layout."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plcore import read_cells
from tests.plcore.tables.readers.cases import CASES
from tests.test_cli import Shell, shell

__all__ = ["shell"]

PROJECTS = {
    "megadetector_classified.json": "60 rows, 7 classes",
    "timelapse_two_species.csv": "60 rows, 7 classes",
    "kaleidoscope_id.csv": "4 rows, 5 classes",
    "mturk_category.csv": "8 rows, 2 classes",
    "prolific_long.csv": "48 rows, 4 classes",
    "label_studio.csv": "8 rows, 2 classes",
    "label_studio_min.json": "3 rows, 3 classes",
    "label_studio_prediction_ids.json": "8 rows, 2 classes",
    "label_studio_genus.json": "5 rows, 4 classes",
    "observations.csv": "2 rows, 3 classes",
}


@pytest.mark.parametrize("name", PROJECTS)
def test_import_reads_the_file_of_a_tool(name: str, shell: Shell) -> None:
    status, out, err = shell("import", CASES / name)
    assert status == 0, err
    assert out.splitlines()[-1] == f"Project 1: {PROJECTS[name]}."


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("megadetector_classified.json", "megadetector"),
        ("timelapse_two_species.csv", "timelapse"),
        ("kaleidoscope_id.csv", "kaleidoscope"),
    ],
)
def test_export_gives_the_file_of_a_tool_back(name: str, form: str, shell: Shell, tmp_path: Path) -> None:
    shell.done("import", CASES / name)
    target = tmp_path / "back"
    shell.done("export", 1, "--format", form, "--rows", "all", "--to", target)
    before, back = (CASES / name).read_bytes(), target.read_bytes()
    if form == "megadetector":
        assert json.loads(back) == json.loads(before)
    elif form == "kaleidoscope":
        assert back == before
    else:
        columns = ["File", "RelativePath", "Species"]
        assert read_cells(back).equals(read_cells(before)[columns])


def test_export_writes_the_labelling_interface_of_label_studio(shell: Shell) -> None:
    shell.done("import", CASES / "label_studio.csv")
    config = shell.done("export", 1, "--format", "labelstudio-config")
    assert '<Text name="item" value="$text"/>' in config
    assert config.count("<Choice ") == 2
