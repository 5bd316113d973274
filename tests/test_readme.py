"""What the README tells people to type works, and what CONTRIBUTING.md names is there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import cli
from plcore.loop import MODEL_ENTRIES
from tests.conftest import ROOT
from tests.workflow.world import small_frame
from workflow.home import close_home

README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.S)


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_make_targets_exist(name: str) -> None:
    named = set(re.findall(r"(?:^|`)make (\w+)", (ROOT / name).read_text(), flags=re.M))
    assert {"run", "test"} <= named
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), flags=re.M))
    assert named <= targets


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_links_lead_somewhere(name: str) -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", (ROOT / name).read_text())
    assert targets
    missing = [target for target in targets if not target.startswith("http") and not (ROOT / target).exists()]
    assert not missing


def test_pictures_are_kept_only_where_they_are_shown() -> None:
    """The others are made by `make screenshots`, into a folder that git ignores."""
    shown = set(re.findall(r"!\[[^]]*\]\((docs/screens/[^)]+)\)", README))
    kept = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs" / "screens").iterdir()}
    assert shown
    assert kept == shown


def test_the_table_of_models_says_what_the_registry_says() -> None:
    table = README.split("## The models of a project")[1].split("\n\n")[1]
    rows = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in table.splitlines()[2:]]
    assert [f"{name}: {words}" for name, words in rows] == [one.words for one in MODEL_ENTRIES.values()]


def test_the_library_example_runs_and_learns() -> None:
    (example,) = blocks("python")
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", example], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    before, after = map(float, re.findall(r": ([\d.]+)$", run.stdout, flags=re.M))
    assert after > before + 0.1


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the commands are typed, over a home of the test's own."""
    close_home()
    monkeypatch.delenv("WINNOW_DATABASE_URL", raising=False)
    monkeypatch.setenv("WINNOW_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_the_shell_commands_work_in_order(work: Path) -> None:
    """The first as it is typed; the others in this process, since each of its own would load the whole app again."""
    frame = small_frame().rename(columns={"candidates": "heard", "truth": "species"})
    frame.to_csv(work / "birds.csv", index=False)
    lines = [line for block in blocks("console") for line in block.splitlines() if "cli.py" in line]
    assert len(lines) == 9
    for number, line in enumerate(lines):
        # The README counts the demo project as number 1; a home made by the shell alone has none.
        for command in ("export", "rank", "simulate"):
            line = line.replace(f"{command} 2", f"{command} 1")
        program, file, *words = line.split()
        assert (program, file) == (".venv/bin/python", "cli.py")
        if number == 0:
            typed = [sys.executable, str(ROOT / file), *words]
            done = subprocess.run(typed, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
        else:
            assert not cli.main(words, standalone_mode=False)
    assert (work / "birds-winnowed.csv").read_text().count("\n") == len(frame) + 1
    assert (work.parent / "winnow-backup.zip").exists()
    assert (work.parent / "winnow-restored" / "winnow.sqlite3").exists()


def test_the_commands_it_names_exist() -> None:
    named = set(re.findall(r"(?:^|`)winnow ([a-z]+)", README, flags=re.M))
    assert "serve" in named
    assert named <= set(cli.main.commands)


def test_every_setting_is_documented() -> None:
    used = set(re.findall(r"WINNOW_[A-Z_]+", (ROOT / "workflow" / "settings.py").read_text()))
    assert used - {"WINNOW_"} <= set(re.findall(r"WINNOW_[A-Z_]+", README))
