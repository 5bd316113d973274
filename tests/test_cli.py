"""The command line: its imports, its errors, its output for programs."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
import subprocess
import sys
import zipfile
from contextlib import closing
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path

import pytest

import cli
import winnow_labels
from db import entries
from plcore import LabelTable, Roles
from tests.conftest import ROOT
from tests.disks import no_room_for_arrays
from tests.plcore.tables.media.test_pictures import CSV as PICTURES
from tests.plcore.tables.media.test_pictures import FILES
from tests.plcore.tables.pairs import PAIRS
from tests.plcore.tables.test_wording import WRONG as WRONG_COUNT
from tests.plcore.tables.zips import make_zip
from tests.workflow.compared import Findings, findings
from tests.workflow.photos import photos_csv
from tests.workflow.vector_world import answer_truly, vector_frame, vector_project
from tests.workflow.world import small_frame, small_project
from workflow import importing
from workflow.access import Right
from workflow.kinds.one_label import build
from workflow.log.lines import write_log_lines
from workflow.log.verifying import header_of
from workflow.models import neighbors
from workflow.people import members, team
from workflow.rows import queue
from workflow.seat import Seat
from workflow.server.home import close_home, open_home
from workflow.server.running import noted
from workflow.server.settings import Settings

__all__ = ["findings"]

HEAVY = {
    "fsspec",
    "numpy",
    "pandas",
    "scipy",
    "sklearn",
    "numba",
    "sqlalchemy",
    "alembic",
    "streamlit",
    "plcore",
    "db",
    "workflow",
}
HELP = [[], *([name] for name in sorted(cli.main.commands))]
PROMISED = (
    "serve import projects compare rank simulate export backup restore verify people doctor encoders suggest plugins "
    "push pull"
)
"""Commands that programs outside rely on."""


class Shell:
    """Commands in this process, with a home of the test."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
        self._patch, self._captured = monkeypatch, capfd

    def __call__(self, *words: object) -> tuple[int, str, str]:
        """Exit status, standard output, standard error."""
        self._patch.setattr(sys, "argv", ["winnow", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            cli.run()
        said = self._captured.readouterr()
        wrong = [line for line in _sentences(said.out + said.err) if WRONG_COUNT.search(line)]
        assert wrong == [], "counts agree with their words"
        return int(ended.value.code or 0), said.out, said.err

    def done(self, *words: object) -> str:
        status, out, err = self(*words)
        assert status == 0, err
        return out

    def refused(self, *words: object) -> str:
        """The single problem of a refused command; if it was mistyped, its usage precedes it."""
        status, out, err = self(*words)
        assert (status, out) == (2, ""), err
        *usage, line = err.splitlines()
        assert not usage or (usage[0].startswith("Usage: winnow ") and usage[-1].startswith("Help: winnow ")), err
        assert line.startswith("Error: ")
        return line


def _sentences(said: str) -> list[str]:
    """The lines without the project's id."""
    return re.sub(r"(?i)project \d+", "project", said).splitlines()


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Shell:
    close_home()
    monkeypatch.delenv("WINNOW_DATABASE_URL", raising=False)
    monkeypatch.setenv("WINNOW_HOME", str(tmp_path / "home"))
    return Shell(monkeypatch, capfd)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "birds.csv"
    small_frame().to_csv(path, index=False)
    return path


def test_command_computes_in_one_thread_like_server() -> None:
    """Otherwise the sums of a learner built by a command would have other last bits than a server's."""
    looks = """
import cli, threadpoolctl
def main(**_):
    import numpy
    print({one["num_threads"] for one in threadpoolctl.threadpool_info() if one["user_api"] == "blas"})
cli.main = main
cli.run()
"""
    several = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", looks], cwd=ROOT, env=several, capture_output=True, text=True, check=True
    )
    assert done.stdout == "{1}\n"


def test_help_of_every_command_imports_nothing_that_commands_need(tmp_path: Path) -> None:
    """Its speed is measured in benchmarks/pages/start.py."""
    home = tmp_path / "home"
    asks = f"""
import contextlib, sys, cli
for words in {HELP}:
    sys.argv = ["winnow", *words, "--help"]
    with contextlib.suppress(SystemExit):
        cli.run()
print(*sys.modules)
"""
    environment = {**os.environ, "WINNOW_HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "-c", asks], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.count("Show this message and exit.") == len(HELP)
    imported = {name.split(".")[0] for name in done.stdout.splitlines()[-1].split()}
    assert "click" in imported
    assert not imported & HEAVY
    assert not home.exists(), "the home is opened by commands that need it"


LEARNING = HEAVY - {"sqlalchemy", "plcore", "db", "workflow"}
"""Loaded only by commands that learn, read tables, serve pages or change the tables of a database."""


def test_short_commands_load_no_learning_modules(shell: Shell, table: Path, tmp_path: Path) -> None:
    """Seconds and memory are measured in benchmarks/pages/start.py."""
    shell.done("import", table)
    listed = shell.done("projects")  # counts the project, for which it reads the table
    runs = """
import contextlib, sys, cli
for words in ("projects", "token", "token laptop", "link", "people"):
    sys.argv = ["winnow", *words.split()]
    with contextlib.suppress(SystemExit):
        cli.run()
    print("-", *sys.modules)
"""
    with noted(tmp_path / "home" / "servers", "https://example.org/winnow"):
        done = subprocess.run([sys.executable, "-c", runs], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    printed = done.stdout.splitlines(keepends=True)
    assert "".join(printed[: len(listed.splitlines())]) == listed
    loaded = [set(line.split()) for line in printed if line.startswith("- ")]
    assert len(loaded) == 5
    assert "workflow.server.home" in loaded[0]
    libraries = {name.split(".")[0] for name in loaded[-1]}  # of all five
    assert not libraries & (LEARNING | {"psycopg", "joblib", "pyarrow", "limits"})
    assert not loaded[-1] & {"plcore.tables", "workflow.kinds.opening"}
    assert len(printed) == len(listed.splitlines()) + 5 + 3, "a token, a link, a person; no token was there to list"


def test_list_of_plugins_loads_no_library_of_models(tmp_path: Path) -> None:
    command = [sys.executable, "-X", "importtime", str(ROOT / "cli.py"), "plugins"]
    environment = {**os.environ, "WINNOW_HOME": str(tmp_path / "home")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    imported = {line.rpartition("|")[2].strip().split(".")[0] for line in done.stderr.splitlines()}
    assert "plcore" in imported
    assert not imported & ((HEAVY | {"pyarrow", "joblib", "PIL"}) - {"numpy", "plcore", "workflow"})


def test_promised_commands_are_there() -> None:
    assert set(PROMISED.split()) <= set(cli.main.commands)


def test_call_without_command_lists_commands(shell: Shell) -> None:
    status, _, err = shell()
    assert status == 2
    assert all(name in err for name in cli.main.commands)


def test_version_matches_package(shell: Shell) -> None:
    assert shell.done("--version") == f"winnow, version {winnow_labels.__version__}\n"


def test_wrong_command_or_option_is_refused_in_one_line(shell: Shell, tmp_path: Path) -> None:
    assert "'exprot'" in shell.refused("exprot")
    assert "'PROJECT_ID'" in shell.refused("export")
    assert "'one'" in shell.refused("export", "one")
    assert "--jsom" in shell.refused("projects", "--jsom")
    assert "missing.csv" in shell.refused("import", tmp_path / "missing.csv")
    assert "10,000" in shell.refused("simulate", 1, "--answers", 10_001)
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("command", ["compare", "export", "rank", "simulate", "verify"])
def test_unknown_project_is_refused_in_one_line(shell: Shell, command: str) -> None:
    assert "There is no project 7 here" in shell.refused(command, 7)


def test_problems_of_table_are_counted_in_one_line(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "wrong.csv"
    frame = small_frame()
    frame["x"] = frame["x"].astype(str)
    frame.loc[2, "x"], frame.loc[6, "x"] = "oops", "alas"
    frame.to_csv(path, index=False)
    line = shell.refused("import", path)
    assert "Row 3" in line
    assert "'oops'" in line
    assert "row 7" in line
    assert "'alas'" in line
    assert line.count("Fix:") == 1
    assert json.loads(shell.done("projects", "--json")) == [], "nothing was stored"


def test_list_of_no_projects_says_how_to_create_one(shell: Shell) -> None:
    said = "There is no project yet. To create one: winnow import FILE\n"
    assert shell("projects") == (0, "", said)


def test_wrong_setting_is_refused_in_one_line(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WINNOW_PORT", "many")
    for command in ("projects", "serve"):
        assert "WINNOW_PORT" in shell.refused(command)


def test_full_disk_or_missing_table_is_refused_in_one_line(
    shell: Shell, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.done("import", table)
    words = "simulate", 1, "--answers", 1
    with monkeypatch.context() as patch:
        no_room_for_arrays(patch)
        assert "no room left on the disk" in shell.refused(*words)
        status, _, err = shell("import", table, "--name", "again")
        assert (status, "no room left on the disk" in err.splitlines()[-1]) == (2, True)
        assert "no room for" in shell.refused("simulate", table, "--answers", 1)
    (stored,) = (tmp_path / "home" / "tables").glob("*.parquet")
    stored.unlink()
    assert "is missing or damaged" in shell.refused(*words)
    assert len(json.loads(shell.done("projects", "--json"))) == 1


def test_unreachable_database_is_refused_in_one_line(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("WINNOW_DATABASE_URL", f"sqlite:///{tmp_path / 'nowhere' / 'winnow.sqlite3'}")
    for command in ("projects", "serve"):
        assert "cannot be opened for writing" in shell.refused(command)


def test_link_needs_server(shell: Shell) -> None:
    assert "No server is running on this data" in shell.refused("link")


def test_link_uses_address_of_running_server(shell: Shell, tmp_path: Path) -> None:
    shell.done("projects")
    with noted(tmp_path / "home" / "servers", "https://example.org/winnow"):
        assert shell.done("link").startswith("https://example.org/winnow/signin?link=")


def test_import_computes_neighbours_unless_server_runs(
    shell: Shell, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "graph_takes_long", lambda _pool: True)
    graphs = tmp_path / "home" / "graphs"
    shell.done("projects")
    with noted(tmp_path / "home" / "servers", "https://example.org/winnow"):
        _, out, err = shell("import", table)
    assert "The server finds the neighbours of the rows now. Until then, questions come at random." in err
    assert [one.suffix for one in graphs.iterdir()] == [".wish"]
    monkeypatch.setattr(neighbors, "TOLD_EVERY", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    status, out, err = shell("import", table, "--name", "again", "--setting", "n_neighbors=7")
    assert (status, out) == (0, "Project 2: 60 rows, 3 classes.\n")
    assert "Finding the neighbours of the rows." in err
    assert "\r0%" in err
    assert sorted(one.suffix for one in graphs.iterdir()) == [".npz", ".wish"]


def test_control_characters_in_names_are_not_printed(shell: Shell, table: Path, tmp_path: Path) -> None:
    """Databases may hold names from before they were refused."""
    shell.done("import", table)
    name = "birds\x1b[2J\u202edrib\x9b"
    with closing(sqlite3.connect(tmp_path / "home" / "winnow.sqlite3")) as database, database:
        database.execute("UPDATE projects SET name = ?", (name,))
    said = shell.done("projects")
    assert "birds\\u001b[2J\\u202edrib\\u009b" in said
    assert not set(said) & set("\x1b\u202e\x9b")
    listed = shell.done("projects", "--json")
    assert not set(listed) & set("\x1b\u202e\x9b")
    assert json.loads(listed)[0]["name"] == name
    odd = tmp_path / "odd.csv"
    odd.write_text("id,labels,n\na,wren|tit,1\nb,tit|\x1b[31mwren,2\n")
    refused = shell.refused("import", odd, "--candidates", "labels", "--id", "id", "--number", "n")
    assert "Row 2 (line 3), column 'labels'" in refused
    assert "terminal escape" in refused
    assert "\x1b" not in refused


def test_projects_are_listed_as_lines_and_as_json(shell: Shell, table: Path) -> None:
    done = shell.done("import", table, "--setting", "truth_role=hidden")
    assert done.splitlines()[-1] == "Project 1: 60 rows, 3 classes."
    listed = shell.done("projects")
    shell.done("simulate", 1, "--answers", 2)
    (project,) = json.loads(shell.done("projects", "--json"))
    assert listed == f"1\tbirds\t0 answered, {project['open'] + 2} open\n"
    assert {key: project[key] for key in ("id", "name", "rows", "classes", "answered")} == {
        "id": 1,
        "name": "birds",
        "rows": 60,
        "classes": 3,
        "answered": 2,
    }
    assert project["created_at"] < project["last_answer"]


def test_export_to_file_matches_standard_output(shell: Shell, table: Path, tmp_path: Path) -> None:
    shell.done("import", table)
    target = tmp_path / "out.csv"
    assert shell.done("export", 1, "--to", target) == ""
    assert target.read_text() == shell.done("export", 1)
    assert target.read_text().startswith("id,candidates,truth,x,y,winnow_candidates_before,winnow_candidates,")
    assert shell.done("export", 1, "--log").startswith("seq,")
    assert "Nothing was written" in shell.refused("export", 1, "--to", tmp_path / "nowhere" / "out.csv")


def test_file_extension_chooses_export_format(shell: Shell, table: Path, tmp_path: Path) -> None:
    shell.done("import", table)
    for file, begins in (
        ("out.csv", b"id,candidates"),
        ("out.parquet", b"PAR1"),
        ("out.jsonl", b'{"'),
        ("out.npz", b"PK"),
        ("out.json", b"["),
        ("out.labelstudio.json", b"["),
        ("out.votes.csv", b"task,"),
    ):
        assert shell.done("export", 1, "--to", tmp_path / file) == ""
        assert (tmp_path / file).read_bytes().startswith(begins), file


def test_format_and_rows_of_export_are_chosen_by_options(shell: Shell, table: Path, tmp_path: Path) -> None:
    shell.done("import", table, "--setting", "truth_role=hidden")
    shell.done("simulate", 1, "--answers", 3)
    named = shell.done("export", 1, "--format", "jsonl")
    assert named.count("\n") == 60
    shell.done("export", 1, "--format", "jsonl", "--to", tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_text() == named
    assert shell.done("export", 1, "--rows", "answered").count("\n") == 1 + 3
    lines = [shell.done("export", 1, "--rows", "sure", "--above", share).count("\n") for share in (0.5, 0.9, 1)]
    assert lines == sorted(lines, reverse=True)
    assert lines[1] == shell.done("export", 1, "--rows", "sure").count("\n")
    assert 1 + 3 < lines[2] < 1 + 60
    assert shell.done("export", 1, "--format", "log") == shell.done("export", 1, "--log")


def test_export_of_earlier_state_matches_export_made_then(shell: Shell, table: Path) -> None:
    shell.done("import", table, "--setting", "truth_role=hidden", "--setting", "model=plknn")
    shell.done("simulate", 1, "--answers", 2)
    then = [shell.done("export", 1), shell.done("export", 1, "--log")]
    shell.done("simulate", 1, "--answers", 2)
    assert [shell.done("export", 1, "--as-of", 2), shell.done("export", 1, "--log", "--as-of", "2")] == then
    assert shell.done("export", 1) != then[0]
    assert "entries 1 to 4; 0 is before the first. Got 5" in shell.refused("export", 1, "--as-of", 5)
    assert "no snapshot 'March'" in shell.refused("export", 1, "--as-of", "March")
    assert "is of the present state" in shell.refused("export", 1, "--format", "dataset", "--as-of", 2)


def test_snapshot_is_made_listed_exported_and_checked(shell: Shell, table: Path) -> None:
    shell.done("import", table, "--setting", "truth_role=hidden", "--setting", "model=plknn")
    shell.done("simulate", 1, "--answers", 2)
    assert shell.done("snapshot", 1) == ""
    then, made = shell.done("export", 1), shell.done("snapshot", 1, "in March")
    name, entry, _moment, _by, sha256 = made.strip().split("\t")
    assert (name, entry) == ("in March", "entry 2")
    assert sha256 == hashlib.sha256(then.encode()).hexdigest()
    shell.done("simulate", 1, "--answers", 2)
    assert shell.done("snapshot", 1) == made
    assert shell.done("export", 1, "--as-of", "in March") == then
    assert f"is unchanged: SHA-256 {sha256}" in shell.done("snapshot", 1, "--check")
    assert "a snapshot 'in March' of this project already" in shell.refused("snapshot", 1, "in March")
    assert "no snapshot 'April'" in shell.refused("snapshot", 1, "April", "--check")


def test_input_that_cannot_be_exported_is_refused_in_one_line(shell: Shell, table: Path, tmp_path: Path) -> None:
    shell.done("import", table)
    assert "one of .csv, .parquet" in shell.refused("export", 1, "--to", tmp_path / "out.xls")
    assert "A file is one of csv, parquet" in shell.refused("export", 1, "--format", "xls")
    assert "'some' is not one of" in shell.refused("export", 1, "--rows", "some")
    assert "--above belongs to --rows sure" in shell.refused("export", 1, "--above", 0.5)
    assert "Use either" in shell.refused("export", 1, "--log", "--format", "csv")
    assert "0<=x<=1" in shell.refused("export", 1, "--rows", "sure", "--above", 90)
    assert not list(tmp_path.glob("out*"))


def test_full_disk_or_ctrl_c_keeps_existing_file(
    shell: Shell, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.done("import", table)
    target = tmp_path / "folder" / "out.csv"
    target.parent.mkdir()
    target.write_text("before")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    def interrupted(_descriptor: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        assert "Nothing was written: [Errno 28] No space left" in shell.refused("export", 1, "--to", target)
        patch.setattr(os, "fsync", interrupted)
        assert shell("export", 1, "--to", target)[0] == cli.INTERRUPTED
    assert target.read_text() == "before"
    assert list(target.parent.iterdir()) == [target]
    shell.done("export", 1, "--to", target)
    assert target.read_text().startswith("id,")


def test_export_shows_progress_on_terminal(
    shell: Shell, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.done("import", table)
    assert shell("export", 1, "--to", tmp_path / "out.csv")[2] == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    status, _, said = shell("export", 1, "--to", tmp_path / "out.csv")
    assert (status, said) == (0, "\r60 of 60 rows\n")


def test_backup_is_one_file_and_can_be_restored(shell: Shell, table: Path, tmp_path: Path) -> None:
    shell.done("import", table, "--setting", "truth_role=hidden")
    shell.done("simulate", 1, "--answers", 3)
    file = tmp_path / "b.zip"
    assert f"{file}: 1 project, 3 entries of their logs, 1 person, 2 files" in shell.done("backup", file)
    assert "There is a file" in shell.refused("backup", file)
    assert "is not empty" in shell.refused("restore", file)
    said = shell.done("restore", file, "--to", tmp_path / "other")
    assert said.startswith(f"{tmp_path / 'other'}: 1 project, 3 entries of their logs, 1 person, 2 files")
    shell.done("simulate", 1, "--answers", 1)
    status, _, said = shell("restore", file, "--replace")
    assert status == 0
    assert "The previous database is now" in said
    (project,) = json.loads(shell.done("projects", "--json"))
    assert project["answered"] == 3
    file.write_bytes(file.read_bytes()[:-100])
    assert "is damaged at its end" in shell.refused("restore", file, "--replace")


def test_backup_without_name_is_written_to_data_folder(shell: Shell, table: Path, tmp_path: Path) -> None:
    shell.done("import", table)
    shell.done("backup")
    (made,) = (tmp_path / "home" / "backups").iterdir()
    assert re.fullmatch(r"winnow-\d{8}-\d{6}\.zip", made.name)
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    shell.done("backup", folder)
    assert len(list(folder.iterdir())) == 1


def test_doctor_reports_damaged_file_with_fix(shell: Shell, table: Path, tmp_path: Path) -> None:
    shell.done("import", table)
    (stored,) = (tmp_path / "home" / "tables").iterdir()
    stored.write_bytes(b"overwritten")
    status, out, err = shell("doctor")
    assert (status, err) == (2, "")
    (line,) = (line for line in out.splitlines() if line.startswith("NOT  files:"))
    assert "Fix: put them back from a backup" in line
    assert "ok   database: " in out


def test_damaged_file_is_reported_by_backup_and_restore(shell: Shell, table: Path, tmp_path: Path) -> None:
    shell.done("import", table)
    (stored,) = (tmp_path / "home" / "tables").iterdir()
    stored.write_bytes(b"overwritten")
    for words in (("backup", tmp_path / "b.zip"), ("restore", tmp_path / "b.zip", "--to", tmp_path / "other")):
        status, _, err = shell(*words)
        assert status == 0
        assert err.startswith(f"In the data folder that was backed up, tables/{stored.name} is damaged.\n")


def test_unexpected_error_keeps_its_traceback(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError("a fault")

    monkeypatch.setattr("workflow.projects.managing.list_projects", broken)
    monkeypatch.setattr(sys, "argv", ["winnow", "projects"])
    with pytest.raises(ValueError, match="a fault"):
        cli.run()


@pytest.mark.parametrize("question", ["cell", "instance"])
def test_rank_writes_queue_of_either_kind(shell: Shell, tmp_path: Path, question: str) -> None:
    home = open_home(Settings.from_environment({"WINNOW_HOME": str(tmp_path / "home")}))
    try:
        owner = team.ensure_owner(home).id
        candidates = small_project(home, owner)
        vectors = vector_project(home, owner, question=question)
        answer_truly(home, owner, vectors)
        expected = {
            candidates: queue.queue_csv(Seat(home, owner, candidates)).decode(),
            # In the model's order, not in the earlier random order, which a beginner needs, too.
            vectors: queue.queue_csv(Seat(home, owner, vectors), wait=True).decode(),
        }
    finally:
        home.close()
    for project, lines in expected.items():
        assert shell.done("rank", project) == lines
    assert shell.refused("rank", 77).startswith("Error: There is no project 77 here,")


def test_compare_works_for_file_and_project(shell: Shell, table: Path, findings: Findings) -> None:
    findings.accuracies = {"clpl": 0.9, "plknn": 0.6}
    lines = shell.done("compare", table).splitlines()
    assert lines == [
        "model\tkappa\taccuracy\tseconds\tnote",
        "clpl\t0.800\t0.900\t0.2\tbest",
        "plknn\t0.500\t0.600\t0.2\t",
        "Each of 60 rows was held out once; accuracy on 60 of known truth.",
    ]
    shell.done("import", table, "--setting", "truth_role=hidden")
    found = json.loads(shell.done("compare", 1, "--json"))
    assert (found["best"], found["rows"], found["checks"]) == ("clpl", 40, 0), "test rows choose nothing"
    assert [one["kappa"] for one in found["figures"]] == [0.8, 0.5]
    (project,) = json.loads(shell.done("projects", "--json"))
    assert project["answered"] == 0
    assert shell.done("export", 1, "--log").count("\n") == 1, "nothing was adopted"


def test_columns_of_compared_file_can_be_named(shell: Shell, table: Path, findings: Findings) -> None:
    line = shell.refused("compare", table, "--candidates", "sets")
    assert "'sets'" in line
    assert "Fix:" in line


def test_input_that_cannot_be_compared_is_refused_in_one_line(
    shell: Shell, tmp_path: Path, table: Path, findings: Findings
) -> None:
    assert "nowhere.csv" in shell.refused("compare", tmp_path / "nowhere.csv")
    vectors = tmp_path / "vectors.csv"
    vector_frame().to_csv(vectors, index=False)
    assert "nothing to compare" in shell.refused("compare", vectors)

    def fail(*_: object) -> None:
        raise ValueError("fewer rows than folds")

    findings.before = fail
    assert shell.refused("compare", table).endswith("fewer rows than folds")


def test_append_adds_new_rows_and_reports_the_rest(shell: Shell, table: Path, tmp_path: Path) -> None:
    shell.done("import", table)
    frame = small_frame(2, seed=9)
    frame["id"] = ["r0", "new"]
    frame.loc[1, "candidates"], frame.loc[1, "truth"] = "ant|dog", ""
    more = tmp_path / "more.csv"
    frame.assign(weather="rain").to_csv(more, index=False)
    status, out, err = shell("append", 1, more)
    assert status == 0
    assert out.splitlines()[-1] == "Project 1: 1 row added, 61 in all."
    assert "Rows that the project already has, unchanged: 1." in err
    assert "New labels: dog." in err
    assert "Columns left out: weather." in err
    status, out, err = shell("append", 1, more)
    assert (status, out) == (2, "")
    assert "in the project already" in err
    assert shell("append", 9, more)[0] == 2


def test_fully_known_labels_make_dry_run_by_default(shell: Shell, table: Path) -> None:
    status, _, err = shell("import", table, "--setting", "truth_role=given")
    assert status == 0
    assert "there is nothing to ask. Fix:" in err
    assert "truth_role=hidden" in err
    (project,) = json.loads(shell.done("projects", "--json"))
    assert project["open"] == 0
    assert "hides no true labels" in shell.refused("simulate", 1)
    status, _, err = shell("import", table, "--name", "dry run")
    assert (status, "nothing to ask" in err) == (0, False)
    assert "2 answered" in shell.done("simulate", 2, "--answers", 2)


def test_further_images_and_caption_are_set_by_options(shell: Shell, tmp_path: Path) -> None:
    zipped = tmp_path / "bursts.zip"
    zipped.write_bytes(make_zip({"t.csv": PICTURES, **FILES}))
    named = ("--image", "image", "--more-image", "second", "--caption", "third", "--category", "", "--truth", "")
    shell.done("import", zipped, *named, "--image-features")
    (stored,) = (tmp_path / "home" / "tables").glob("*.parquet")
    found = LabelTable.read(stored)
    assert (found.roles.picture_columns, found.roles.caption) == (("image", "second"), ("third",))
    assert [len(found.media.images_of(row)) for row in range(3)] == [3, 1, 1]
    line = shell.refused("import", zipped, *named, "--caption", "second", "--name", "another")
    assert "both a further image shown and part of the caption" in line


def test_further_texts_are_guessed_and_set_by_options(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    file.write_bytes(PAIRS)
    shell.done("import", file, "--name", "guessed")
    shell.done("import", file, "--name", "shown", "--caption", "premise")
    shell.done("import", file, "--name", "chosen", "--text", "premise", "--more-text", "hypothesis")
    stored = map(LabelTable.read, (tmp_path / "home" / "tables").glob("*.parquet"))
    found = {(one.roles.text_columns, one.roles.caption) for one in stored}
    both = ("premise", "hypothesis")
    assert found == {(both[::-1], ()), (("hypothesis",), ("premise",)), (both, ())}
    line = shell.refused("import", file, "--caption", "premise", "--more-text", "premise", "--name", "another")
    assert "both a further text and part of the caption" in line


def test_importing_same_file_again_is_reported(shell: Shell, table: Path) -> None:
    shell.done("import", table)
    status, _, err = shell("import", table, "--name", "again", "--number", "x")
    assert status == 0
    assert "Project 'birds' was made from the same file on" in err


def test_invalid_project_name_is_refused_before_reading_file(
    shell: Shell, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.done("import", table)

    def read(*_: object, **__: object) -> None:
        pytest.fail("read")

    monkeypatch.setattr(importing, "read_as_named", read)
    assert "named 'birds' exists already" in shell.refused("import", table)
    assert "at most 80 characters" in shell.refused("import", table, "--name", "n" * 81)
    long = ("--name", "new", "--description", "d" * 100_000)
    assert "A description has at most" in shell.refused("import", table, *long)


def test_imported_folder_gives_project_its_name(shell: Shell, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = table.parent / "of birds"
    folder.mkdir()
    table.rename(folder / table.name)
    monkeypatch.chdir(folder)
    shell.done("import", ".")
    assert json.loads(shell.done("projects", "--json"))[0]["name"] == "of birds"


def test_system_error_names_its_file(shell: Shell, table: Path, tmp_path: Path) -> None:
    shell.done("import", table)
    gone = tmp_path / "gone" / "out.csv"
    assert shell.refused("verify", tmp_path).startswith(f"Error: {tmp_path}: Is a directory. Fix: ")
    assert shell.refused("verify", gone).startswith(f"Error: {gone}: No such file or directory. Fix: ")
    assert shell.refused("export", 1, "--to", gone) == (
        f"Error: Nothing was written: there is no folder {gone.parent}. Fix: make it, or name another one."
    )


def test_options_without_effect_are_refused(shell: Shell, table: Path) -> None:
    refused: dict[str, tuple[object, ...]] = {
        "Nothing is cut at 0.5": ("--cut-at", 0.5),
        "come without weights": ("--cut", "top"),
        "begins with 'p_'": ("--score-column", "x", "--score-column", "y", "--score-prefix", "p_"),
        "nothing to learn from": ("--number", ""),
    }
    for said, options in refused.items():
        status, out, err = shell("import", table, *options)
        assert (status, out) == (cli.REFUSED, "")
        assert all(line.startswith("Error: ") and "Fix:" in line for line in err.splitlines())
        assert said in err
    assert json.loads(shell.done("projects", "--json")) == []


def test_compare_accepts_role_options_for_files_only(
    shell: Shell, tmp_path: Path, table: Path, findings: Findings
) -> None:
    votes, frame = tmp_path / "votes.csv", small_frame()
    lines = [
        f"{row},{worker},{label}"
        for row, cell in zip(frame["id"], frame["candidates"], strict=True)
        for worker, label in enumerate(cell.split("|"))
    ]
    votes.write_text("\n".join(["task,worker,label", *lines]))
    assert "Each of 60 rows" in shell.done("compare", votes, "--rows", table, "--truth", "")
    assert "nothing to learn from" in shell.refused("compare", votes)
    assert "Fix:" in shell.refused("compare", votes, "--as-it-is")
    shell.done("import", table)
    for option in (("--truth", "x"), ("--rows", table), ("--as-it-is",)):
        assert "The column roles of project 1 are fixed" in shell.refused("compare", 1, *option)


def write_log(home: Path, project: int, path: Path) -> None:
    """The project's log as sealed lines."""
    here = open_home(Settings.from_environment({"WINNOW_HOME": str(home)}))
    owner = team.ensure_owner(here)
    with Seat(here, owner.id, project).learner(Right.OWN) as opened:
        log, ids = entries.after(opened.session, project, 0), list(map(str, opened.learner.table.ids))
        header = header_of(opened.project, log, datetime(2026, 4, 1, tzinfo=UTC))
        path.write_bytes(b"".join(write_log_lines(log, {owner.id: owner.name}, ids, header)))
    here.close()


def test_verify_checks_file_and_project_against_each_other(shell: Shell, table: Path, tmp_path: Path) -> None:
    shell.done("import", table, "--setting", "truth_role=hidden")
    file = tmp_path / "log.jsonl"
    write_log(tmp_path / "home", 1, file)
    (head,) = (path.stem for path in (tmp_path / "home" / "tables").glob("*.parquet"))
    assert shell.done("verify", file) == f"log.jsonl: the chain holds: 0 entries, head {head}\n"
    assert shell.done("verify", 1) == f"Project 1: the log holds: 0 entries, head {head}\n"
    project, compared = shell.done("verify", file, "--project", 1).splitlines()
    assert project + "\n" == shell.done("verify", 1)
    assert compared == f"log.jsonl: all of the log of project 1 holds: 0 entries, head {head}"
    shell.done("simulate", 1, "--answers", 2)
    assert "log.jsonl: the beginning, of 2 entries, of the log" in shell.done("verify", file, "--project", 1)


def test_verify_reports_error_in_one_line(shell: Shell, table: Path, tmp_path: Path) -> None:
    shell.done("import", table)
    file = tmp_path / "log.jsonl"
    write_log(tmp_path / "home", 1, file)
    file.write_bytes(file.read_bytes().replace(b"2026-04-01", b"2026-04-02"))
    assert "Line 2 closes the log, but it does not fit line 1" in shell.refused("verify", file)
    assert "Line 2 closes the log" in shell.refused("verify", file, "--project", 1)
    assert "Line 1 must be the header" in shell.refused("verify", table)
    assert "no-such.jsonl" in shell.refused("verify", tmp_path / "no-such.jsonl")
    assert "There is no project 7 here" in shell.refused("verify", 7)
    assert "No such file" in shell.refused("verify", 1, "--project", 1), "with a project it is a file's name"


def test_dataset_export_contains_its_card(shell: Shell, table: Path, tmp_path: Path) -> None:
    shell.done("import", table)
    target = tmp_path / "birds.zip"
    shell.done("export", 1, "--to", target, "--card", "license=mit", "--card", "languages=en, de")
    with zipfile.ZipFile(target) as packed:
        card = packed.read("README.md").decode()
        log = tmp_path / "log.jsonl"
        log.write_bytes(packed.read("log.jsonl"))
    assert 'license: "mit"' in card
    assert 'language: ["en", "de"]' in card
    assert "the chain holds" in shell.done("verify", log)
    shell.done("export", 1, "--log", "--to", log)
    assert "all of the log" in shell.done("verify", log, "--project", 1)
    assert "a name of license" in shell.refused("export", 1, "--to", target, "--card", "licence=mit")
    assert "named must be yes or no" in shell.refused("export", 1, "--to", target, "--card", "named=1")


def test_import_shares_new_project(shell: Shell, table: Path, tmp_path: Path) -> None:
    shell.done("projects")  # makes the home and its owner
    here = open_home(Settings.from_environment({"WINNOW_HOME": str(tmp_path / "home")}))
    seat = Seat(here, team.ensure_owner(here).id)
    for name in ("Ada", "Bob: the birder"):
        team.make_link(seat, name)
    for shared, said in (("Eve", "no person named 'Eve'"), ("Ada:king", "Got 'king'")):
        assert said in shell.refused("import", table, "--share", shared)
        assert shell.done("projects") == "", "nothing was made"
    shell.done("import", table, "--share", "ada:reviewer", "--share", "Bob: the birder:annotator")
    found = members.list_members(seat.at(1)).members
    assert {one.name: one.role for one in found[1:]} == {"Ada": "reviewer", "Bob: the birder": "annotator"}
    shell.done("import", table, "--name", "second", "--share", "Ada")
    assert [one.role for one in members.list_members(seat.at(2)).members] == ["owner", "annotator"]
    here.close()


def test_every_column_role_has_import_option() -> None:
    options = {option.name for option in cli.main.commands["import"].params}
    assert {one.name for one in fields(Roles)} - {"scored_by"} <= options, "which comes after the table"


def test_import_sets_source_and_asks_by_source(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "faces.csv"
    file.write_bytes(photos_csv())
    chosen = ("--source", "shot", "--candidates", "names")
    told = ("--setting", "by_source=true", "--setting", "truth_role=hidden", "--setting", "test_share=0")
    said = shell.done("import", file, *chosen, "--dry-run")
    assert "source 'shot' (8 sources of several rows)" in said
    assert "source 'shot'" not in shell.done("import", file, "--dry-run"), "shuffled rows show none"
    shell.done("import", file, *chosen, *told)
    shell.done("simulate", 1, "--answers", 6)
    rows = [line.split(",") for line in shell.done("export", 1, "--log").splitlines()]
    asked = [line[rows[0].index("row_id")] for line in rows[1:] if line[rows[0].index("kind")] == "is"]
    of = dict(line.split(",")[:2] for line in file.read_text().splitlines()[1:])
    assert [of[row] for row in asked[::3]] == [of[row] for row in asked[1::3]] == [of[row] for row in asked[2::3]]
    assert "by_source must be True or False" in shell.refused("import", file, "--name", "b", "--setting", "by_source=3")
    assert "Column 'nowhere'" in shell.refused("import", file, "--name", "c", "--source", "nowhere")
