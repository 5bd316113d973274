"""Run the commands of the pages, and check their lists."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest
from sklearn.datasets import load_digits

import cli
from plcore.evaluation import contaminate
from plcore.loop import MODEL_ENTRIES
from tests.conftest import ROOT
from tests.docs.pages import PAGES, blocks, commands, languages, name_of
from tests.workflow.world import small_frame
from workflow.server.home import close_home
from workflow.server.settings import Settings

DOCS = ROOT / "docs"
PYTHON_IS_RUN = {
    "README.md": "tests/test_readme.py",
    "docs/api.md": "here",
    "docs/first-change.md": "tests/docs/test_first_change.py",
    "docs/gallery.md": "tests/docs/test_tutorials.py",
    "docs/http-api.md": "tests/web/api/test_client.py",
    "docs/library.md": "tests/plcore/test_library_page.py",
    "docs/online-learners.md": "here",
    "docs/plug-ins.md": "tests/workflow/models/test_plugins.py",
    "docs/researcher.md": "here",
    "docs/tutorials/calls.md": "tests/docs/test_tutorials.py",
    "docs/tutorials/digits.md": "tests/docs/test_tutorials.py",
    "docs/tutorials/votes.md": "tests/docs/test_tutorials.py",
}
"""Pages with Python code, and where it is run."""
OF_OTHERS = {
    "apt",
    "cp",
    "curl",
    "dask",
    "docker",
    "export",
    "git",
    "journalctl",
    "ln",
    "mkdir",
    "nginx",
    "openssl",
    "podman",
    "python3",
    "systemctl",
}
OF_OTHERS |= {"systemd-run", "pip", "/opt/winnow/bin/python", ".venv/bin/pre-commit"}
OF_OTHERS |= {"~/library/bin/python", "~/release/bin/python", "~/release/bin/winnow"}
"""Other people's programs: their arguments are checked where a recipe is tested."""


def ours(line: str) -> list[str] | None:
    """The words of a Winnow command after its name; None for other commands."""
    words = shlex.split(line)
    if words[0] == "winnow":
        return words[1:]
    return words[2:] if words[:2] == [".venv/bin/python", "cli.py"] else None


def test_code_blocks_use_checked_languages_only(subtests: pytest.Subtests) -> None:
    for page in PAGES:
        with subtests.test(name_of(page)):
            assert languages(page) <= {"", "console", "ini", "json", "python"}
            assert ("python" in languages(page)) == (name_of(page) in PYTHON_IS_RUN)


def test_json_and_settings_blocks_can_be_parsed() -> None:
    assert [json.loads(block) for page in PAGES for block in blocks(page, "json")]
    lines = [line for page in PAGES for block in blocks(page, "ini") for line in block.splitlines()]
    assert lines
    assert all(re.fullmatch(r"[A-Z_]+=\S+", line) for line in lines)


def test_every_command_in_docs_exists(subtests: pytest.Subtests) -> None:
    """Winnow's by name and options, `make` by its targets; other commands must be known, and their files must exist."""
    for page in [page for page in PAGES if "console" in languages(page)]:
        with subtests.test(name_of(page)):
            targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), flags=re.M))
            for line in commands(page):
                if re.match("WINNOW_[A-Z_]+=", line):
                    continue  # by the test below
                words = [word for word in shlex.split(line) if word != "&&"]
                if (mine := ours(line)) is not None:
                    command = cli.main.commands[mine[0]]
                    options = {option for one in command.params for option in (*one.opts, *one.secondary_opts)}
                    assert {word for word in mine if word.startswith("--")} <= options, line
                elif words[0] == "make":
                    assert words[1] in targets, line
                elif words[:2] == [".venv/bin/python", "-m"]:
                    assert words[2] in ("pip", "pytest"), line
                else:
                    assert words[0] in OF_OTHERS, line
                for word in words:
                    if re.match(r"(docs|requirements)[\w./-]*\.(txt|conf|service)$|docs/\w+$", word):
                        assert (ROOT / word).is_file(), line


def test_settings_of_console_blocks_are_valid_together(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for page in [page for page in PAGES if "console" in languages(page)]:
        with subtests.test(name_of(page)):
            for block in blocks(page, "console"):
                given = dict(re.findall(r"^(WINNOW_[A-Z_]+)=(\S+)$", block, flags=re.M))
                for key in given:
                    if key.endswith("_FILE"):
                        (tmp_path / "secret").write_text("secret")
                        given[key] = str(tmp_path / "secret")
                assert Settings.from_environment({"WINNOW_HOME": str(tmp_path), **given})


def test_code_about_online_learners_runs() -> None:
    X, truth = load_digits(return_X_y=True)
    X, truth = X[:400], truth[:400]
    candidates = contaminate(truth, "size", p=1, r=1, random_state=0)
    names: dict[str, object] = {
        "X": X,
        "candidates": candidates,
        "chunks": [(X[:200], candidates[:200]), (X[200:], candidates[200:])],
    }
    (block,) = blocks(DOCS / "online-learners.md", "python")
    exec(compile(block.replace("progress=print", "progress=None"), "online-learners.md", "exec"), names)  # noqa: S102
    model = names["model"]
    assert model.rounds_ == 800  # type: ignore[attr-defined]
    assert (model.predict(X) == truth).mean() > np.bincount(truth).max() / len(truth) * 3  # type: ignore[attr-defined]


def test_first_run_of_researchers_learns_from_candidates() -> None:
    (block,) = blocks(DOCS / "researcher.md", "python")
    names: dict[str, float] = {}
    exec(compile(block, "researcher.md", "exec"), names)  # noqa: S102
    assert names["accuracy"] > 0.8


def test_table_of_models_matches_registry() -> None:
    table = (DOCS / "researcher.md").read_text().split("## The models of a project")[1].split("\n\n")[1]
    rows = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in table.splitlines()[2:]]
    assert [f"{name}: {words}" for name, words in rows] == [one.words for one in MODEL_ENTRIES.values()]


def test_every_setting_is_documented() -> None:
    used = set(re.findall(r"WINNOW_[A-Z_]+", (ROOT / "workflow" / "server" / "settings.py").read_text()))
    assert used - {"WINNOW_"} <= set(re.findall(r"WINNOW_[A-Z_]+", (DOCS / "operator.md").read_text()))


def test_every_result_file_is_linked() -> None:
    pages = "".join(path.read_text() for path in DOCS.glob("*.md"))
    alone = [path.name for path in (ROOT / "benchmarks" / "results").glob("*.md") if f"/{path.name})" not in pages]
    assert not alone


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the commands are typed, with a home of the test."""
    close_home()
    monkeypatch.delenv("WINNOW_DATABASE_URL", raising=False)
    monkeypatch.setenv("WINNOW_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_commands_of_owners_work_in_order(work: Path) -> None:
    """The first command runs as typed; the others in this process, because each would otherwise load the whole app
    again."""
    frame = small_frame().rename(columns={"candidates": "heard", "truth": "species"})
    frame.to_csv(work / "birds.csv", index=False)
    lines = commands(DOCS / "owner.md")
    assert len(lines) == 9
    for number, line in enumerate(lines):
        # The page counts the demo project as number 1; a home made by the shell alone has none.
        for command in ("export", "rank", "simulate"):
            line = line.replace(f"{command} 2", f"{command} 1")
        words = ours(line)
        assert words is not None
        if number == 0:
            typed = [sys.executable, str(ROOT / "cli.py"), *words]
            done = subprocess.run(typed, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
        else:
            assert not cli.main(words, standalone_mode=False)
    assert (work / "birds-winnowed.csv").read_text().count("\n") == len(frame) + 1
    assert (work.parent / "winnow-backup.zip").exists()
    assert (work.parent / "winnow-restored" / "winnow.sqlite3").exists()


def test_commands_of_operators_work_in_order(work: Path) -> None:
    lines = [words for line in commands(DOCS / "operator.md") if (words := ours(line)) is not None]
    assert [words[0] for words in lines] == ["backup", "restore", "doctor"]
    for words in lines:
        try:
            status = cli.main(words, standalone_mode=False)
        except click.exceptions.Exit as done:  # doctor: 1 if something needs to be done
            status = done.exit_code
        assert status in (None, 0, 1), words
    assert (work / "winnow-restored" / "winnow.sqlite3").exists()
