"""Habits of a command line: help, mistyped commands, standard input and output, Ctrl-C, completion."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import openpyxl
import pytest
from click.testing import CliRunner

import cli
from tests.browser.loaded import Forked
from tests.conftest import ROOT
from tests.docs.pages import commands
from tests.plcore.tables.encoders.models import encoder, words_of
from tests.test_cli import Shell, shell, table
from tests.test_cli_json import every_command
from workflow.files import arriving
from workflow.people import members

__all__ = ["shell", "table"]

PAGE = ROOT / "docs" / "command-line.md"
CSV = "id,candidates,text\na,wren|robin,small brown\nb,robin,red breast\nc,wren|robin,small brown\n"


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """CSV is on standard input, and scratch files have a folder of their own."""
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(CSV.encode())))
    return monkeypatch


def test_short_option_prints_help_of_every_command(subtests: pytest.Subtests) -> None:
    for words in ["", "encoders", *every_command()]:
        with subtests.test(words):
            done = CliRunner().invoke(cli.main, [*words.split(), "-h"], prog_name="winnow")
            said = done.output
            assert done.exit_code == 0
            assert said.startswith(f"Usage: winnow {words}".rstrip())
            assert re.search(r"-h, --help +Show this message and exit\.", said)


def test_mistyped_command_gets_usage_and_nearest_name(shell: Shell) -> None:
    status, out, err = shell("encoders", "lst")
    assert (status, out) == (cli.REFUSED, "")
    assert err.splitlines() == [
        "Usage: winnow encoders [OPTIONS] COMMAND [ARGS]...",
        "Help: winnow encoders -h",
        "Error: No such command 'lst'. Did you mean 'list'?",
    ]
    assert "'--name'" in shell.refused("import", "--nam", "birds", "-")


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_import_prints_one_problem_a_line(shell: Shell, tmp_path: Path, ending: str) -> None:
    rows = [["id", "candidates", "x"], ["a", "ant|bee", 1], ["b", None, 2], ["c", "ant", "oops"], ["d", "bee", "alas"]]
    path = tmp_path / f"wrong.{ending}"
    if ending == "csv":
        path.write_text("".join(",".join("" if one is None else str(one) for one in row) + "\n" for row in rows))
    else:
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        book.save(path)
    status, out, err = shell("import", path, "--number", "x")
    first, second = err.splitlines()
    assert (status, out) == (cli.REFUSED, "")
    assert re.match(r"Error: Row 2 .*column 'candidates': .* Fix: ", first)
    assert re.match(r"Error: Row 3 .*column 'x': expected a number, got 'oops'.*'alas'.* Fix: ", second)
    status, out, _ = shell("import", path, "--number", "x", "--json")
    assert [f"Error: {one}" for one in json.loads(out)["detail"].splitlines()] == [first, second]


class TestStandardInput:
    def test_import_reads_it_and_leaves_no_copy(self, shell: Shell, typed: pytest.MonkeyPatch, tmp_path: Path) -> None:
        assert shell.done("import", "-", "--name", "birds") == "Project 1: 3 rows, 2 classes.\n"
        assert list((tmp_path / "scratch").iterdir()) == []

    def test_file_of_that_name_is_read_by_its_path(
        self, shell: Shell, typed: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        (tmp_path / "-").write_text(CSV.replace("wren", "owl"))
        typed.chdir(tmp_path)
        assert "'owl'" in shell.done("import", "./-", "--dry-run")

    def test_imported_project_needs_name(self, shell: Shell, typed: pytest.MonkeyPatch) -> None:
        assert "Fix: name the project, such as --name birds." in shell.refused("import", "-")
        assert "3 rows, 2 classes" in shell.done("import", "-", "--dry-run")

    def test_append_reads_it(self, shell: Shell, typed: pytest.MonkeyPatch, tmp_path: Path) -> None:
        first = tmp_path / "first.csv"
        first.write_text("".join(CSV.splitlines(keepends=True)[:3]))
        shell.done("import", first)
        assert shell.done("append", 1, "-") == "Project 1: 1 row added, 3 in all.\n"

    def test_encode_reads_it_and_import_takes_vectors_from_it(
        self, shell: Shell, typed: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        encoder(tmp_path / "home" / "encoders" / "words", {"kind": "text"}, words_of("small brown", "red breast"))
        vectors, birds = tmp_path / "v.npz", tmp_path / "birds.csv"
        shell.done("encode", "-", "--encoder", "words", "--out", vectors)
        birds.write_text(CSV)
        typed.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(vectors.read_bytes())))
        assert "Vectors of 2 numbers were joined" in shell("import", birds, "--embeddings", "-")[2]

    @pytest.mark.parametrize("command", ["compare", "simulate"])
    def test_commands_that_learn_from_file_read_it(self, shell: Shell, typed: pytest.MonkeyPatch, command: str) -> None:
        """Three rows are read, but too few."""
        assert re.search("too few to compare|no true labels", shell.refused(command, "-"))

    def test_suggest_reads_it(self, shell: Shell, typed: pytest.MonkeyPatch, tmp_path: Path) -> None:
        (tmp_path / "classes").write_text("wren\nrobin\n")
        words = ("--classes", tmp_path / "classes", "--url", "http://localhost:9", "--model", "m", "--text", "no")
        refused = shell.refused("suggest", "-", *words, "-o", tmp_path / "out.csv")
        assert "There is no column 'no'. Fix: --text with one of id, candidates, text." in refused

    def test_verify_reads_exported_log(self, shell: Shell, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        shell.done("import", table)
        log = shell.done("export", 1, "--format", "sealed-log", "--to", "-")
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(log.encode())))
        assert shell.done("verify", "-").startswith("standard input: the chain holds: 0 entries, head ")

    def test_two_files_or_closed_input_are_refused(self, shell: Shell, typed: pytest.MonkeyPatch) -> None:
        two = ("import", "-", "--rows", "-", "--name", "birds")
        assert "Standard input can be only one of the files." in shell.refused(*two)
        typed.setattr(sys, "stdin", None)
        assert "Standard input is closed. Fix: name a file." in shell.refused("import", "-", "--name", "birds")

    def test_full_disk_is_refused(self, shell: Shell, typed: pytest.MonkeyPatch, tmp_path: Path) -> None:
        typed.setattr(arriving, "SPARE", 1 << 62)
        refused = shell.refused("import", "-", "--name", "birds")
        assert "There is no room left on the disk for standard input" in refused
        assert list((tmp_path / "scratch").iterdir()) == []

    def test_problem_in_standard_input_is_refused_like_in_file(
        self, shell: Shell, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
        assert "The file is empty." in shell.refused("import", "-", "--name", "birds")


def test_dash_exports_to_standard_output(shell: Shell, table: Path) -> None:
    shell.done("import", table)
    assert shell.done("export", 1, "--to", "-") == shell.done("export", 1)
    assert json.loads(shell.done("export", 1, "--to", "-", "--format", "jsonl").splitlines()[0])["winnow_id"]


def test_ctrl_c_while_reading_leaves_nothing(tmp_path: Path) -> None:
    """As a terminal does: the signal goes to the processes that read the file, too."""
    scratch, home = tmp_path / "scratch", tmp_path / "home"
    scratch.mkdir()
    environment = {**os.environ, "WINNOW_HOME": str(home), "TMPDIR": str(scratch)}
    environment.pop("WINNOW_DATABASE_URL", None)
    command = [sys.executable, str(ROOT / "cli.py"), "import", "-", "--name", "birds"]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background a shell has it ignored
    try:
        started = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
    finally:
        signal.signal(signal.SIGINT, before)
    with started as running:
        assert running.stdin is not None
        running.stdin.write(CSV)
        running.stdin.flush()  # not closed: the command waits for more
        until = time.monotonic() + 60
        while not list(scratch.glob("winnow-read-*")) and time.monotonic() < until:
            time.sleep(0.1)
        os.killpg(running.pid, signal.SIGINT)
        _, err = running.communicate(timeout=60)
    assert running.returncode == cli.INTERRUPTED
    assert "Traceback" not in err
    assert list(scratch.iterdir()) == []


def test_ctrl_c_while_sharing_leaves_no_project(shell: Shell, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(members, "share", lambda *_: None)  # the check before the file is read
        patch.setattr(members, "share_in", interrupted)
        assert shell("import", table, "--share", "Ann")[0] == cli.INTERRUPTED
    assert json.loads(shell.done("projects", "--json")) == []
    assert shell.done("import", table) == "Project 1: 60 rows, 3 classes.\n"


def test_reader_that_ends_is_not_reported(shell: Shell, table: Path, tmp_path: Path) -> None:
    """Such as `head`."""
    shell.done("import", table)
    errors = tmp_path / "errors"
    begin = f"import os, runpy, sys; os.dup2(os.open({str(errors)!r}, os.O_WRONLY | os.O_CREAT), 2); "
    run = "sys.argv = ['cli.py', 'export', '1']; runpy.run_path('cli.py', run_name='__main__')"
    process = Forked(os.environ, begin + run)
    assert process.stdout is not None
    process.stdout.close()
    assert (process.wait(60), errors.read_text()) == (1, "")


@pytest.mark.parametrize(
    ("typed_so_far", "completed"), [("winnow exp", "export"), ("winnow export 1 --la", "--label-disputed")]
)
def test_shell_completes_commands_and_options(typed_so_far: str, completed: str) -> None:
    words = typed_so_far.split()
    asked = {"_WINNOW_COMPLETE": "bash_complete", "COMP_WORDS": typed_so_far, "COMP_CWORD": str(len(words) - 1)}
    command = [sys.executable, str(ROOT / "cli.py")]
    done = subprocess.run(command, env={**os.environ, **asked}, capture_output=True, text=True, check=False)
    assert done.stdout.split(",")[1].strip() == completed


def test_documented_lines_of_completion_print_scripts(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shells = re.findall(r"_WINNOW_COMPLETE=(\w+)_source winnow", PAGE.read_text())
    assert shells == ["bash", "zsh", "fish"]
    for name in shells:
        monkeypatch.setenv("_WINNOW_COMPLETE", f"{name}_source")
        monkeypatch.setattr("click.shell_completion.BashComplete._check_version", lambda _shell: None)
        assert f"_WINNOW_COMPLETE={name}_complete" in shell.done()


def test_documented_exit_statuses_are_those_of_code() -> None:
    table = PAGE.read_text().split("## Exit status")[1].split("##")[0]
    assert re.findall(r"^\| (\d+) \|", table, flags=re.M) == ["0", "1", str(cli.REFUSED), str(cli.INTERRUPTED)]
    assert [line for line in commands(PAGE) if " - " in line or line.endswith(" -")]
