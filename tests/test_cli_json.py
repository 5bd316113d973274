"""`--json`: every command has it, and standard output is then a single document, whatever else is printed."""

from __future__ import annotations

import errno
import json
import runpy
import socket
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

import cli
from tests.plcore.tables.large import NAMES, rows_and_sets, write_parquet
from tests.test_cli import Shell, shell, table, write_log
from tests.workflow.compared import Findings, findings
from winnow_labels import options as json_option
from winnow_labels.client import WinnowAdded
from workflow.backups import staging
from workflow.backups.manifest import DATABASE
from workflow.server import running
from workflow.server.running import noted

__all__ = ["findings", "shell", "table"]


def every_command() -> dict[str, click.Command]:
    """By the words that call it, including nested groups."""
    found: dict[str, click.Command] = {}
    left: list[tuple[str, click.Command]] = list(cli.main.commands.items())
    while left:
        words, one = left.pop()
        if isinstance(one, click.Group):
            left += [(f"{words} {name}", inner) for name, inner in one.commands.items()]
        else:
            found[words] = one
    return found


def test_every_command_has_json_option() -> None:
    assert len(every_command()) >= 17
    for words, command in every_command().items():
        options = [one for one in command.params if json_option.FLAG in one.opts]
        assert [(one.name, one.is_flag) for one in options if isinstance(one, click.Option)] == [("as_json", True)], (
            words
        )
        assert "One JSON document on standard output" in (options[0].help or ""), words  # type: ignore[attr-defined]


class Told(dict[str, Any]):
    """The documents of commands, by their words."""


@pytest.fixture
def told(shell: Shell, table: Path, tmp_path: Path, findings: Findings) -> Told:
    """Run every quick command once, in an order in which each has output."""
    found = Told()

    def run(name: str, *words: object, status: int = 0) -> None:
        code, out, err = shell(*words, "--json")
        assert code == status, err
        assert "\r" not in err, "progress is for terminals"
        found[name] = json.loads(out)

    more = tmp_path / "more.csv"
    more.write_text("id,candidates,truth,x,y,z\nr0,ant|bee,ant,1,2,3\nnew,ant|emu,,1,2,3\n")
    rows, sets = rows_and_sets(300)
    large = write_parquet(tmp_path / "large", rows, sets, NAMES, [])
    file, alone = tmp_path / "all.zip", tmp_path / "one.zip"
    run("import", "import", table, "--setting", "truth_role=hidden")
    run("append", "append", 1, more)
    run("simulate", "simulate", 1, "--answers", 2)
    run("projects", "projects")
    run("rank", "rank", 1)
    run("rank FILES", "rank", large, "--top", 3, "--neighbors", 5, "--block", 100)
    run("compare", "compare", 1)
    run("export", "export", 1, "--to", tmp_path / "out.csv")
    run("snapshot", "snapshot", 1, "March")
    run("snapshot --check", "snapshot", 1, "--check")
    run("verify", "verify", 1)
    run("people", "people")
    run("token", "token", "survey", "--days", 3)
    run("token: all", "token")
    run("token --end", "token", "survey", "--end")
    run("backup", "backup", file)
    run("backup --project", "backup", alone, "--project", 1)
    run("bring-in", "bring-in", alone, "--name", "again")
    run("restore", "restore", file, "--to", tmp_path / "other")
    run("accept-store", "accept-store")
    run("encoders list", "encoders", "list")
    run("plugins", "plugins")
    with noted(tmp_path / "home" / "servers", "https://example.org"):
        run("link", "link")
    (tmp_path / "home" / "tables" / "stray").mkdir()
    for stored in (tmp_path / "home" / "tables").glob("*.parquet"):
        stored.write_bytes(b"overwritten")
    run("doctor", "doctor", status=2)
    return found


def test_every_command_prints_one_json_document(told: Told, table: Path, tmp_path: Path) -> None:
    every = set(every_command())
    done = {words if words in every else words.partition(" ")[0].rstrip(":") for words in told}
    in_test_cli_encoders = {"encode", *(f"encoders {one}" for one in ("get", "add", "remove", "check"))}
    elsewhere = {
        "pull",
        "push",
        "serve",
        "suggest",
        *in_test_cli_encoders,
    }  # test_cli_addresses.py, test_start.py, test_cli_suggest.py
    assert done == every - elsewhere, "which are tried where they run"
    assert [told["import"][name] for name in ("id", "rows", "name")] == [1, 60, "birds"]
    assert told["append"]["reading"].startswith("Read as the project's table: 61 rows, 4 classes")
    assert {key: value for key, value in told["append"].items() if key != "reading"} | {"notes": None} == {
        "rows": 61,
        "added": 1,
        "known": ["r0"],
        "new_classes": ["emu"],
        "dropped": ["z"],
        "empty": [],
        "notes": None,
    }
    of_dry_runs = {"doubts"}
    assert set(WinnowAdded.__dataclass_fields__) - of_dry_runs <= set(told["append"]), "the words of the interface"
    assert told["simulate"]["answered"] == 2
    assert told["projects"][0].keys() == told["import"].keys() - {"notes", "reading", "further"}
    assert [one["place"] for one in told["rank"]["queue"]] == list(range(1, len(told["rank"]["queue"]) + 1))
    assert told["rank"]["queue"][0].keys() >= {"row", "row_id", "candidates", "score"}
    assert len(told["rank FILES"]["queue"]) == 3
    assert told["compare"]["rows"]
    assert told["export"]["bytes"] == Path(told["export"]["file"]).stat().st_size
    assert [one["name"] for one in told["snapshot"]["snapshots"]] == ["March"]
    assert told["snapshot --check"]["checked"][0]["holds"] is True
    assert told["verify"]["holds"][0]["entries"] == 4
    assert told["token"]["token"].startswith("winnow_")
    assert [one["purpose"] for one in told["token: all"]["tokens"]] == ["survey"]
    assert [(one["person"], one["name"], one["owner"]) for one in told["people"]["people"]] == [(1, "owner", True)]
    assert told["token --end"] == {"ended": "survey"}
    assert told["backup"]["bytes"] > told["backup --project"]["bytes"] > 0
    assert (told["bring-in"]["id"], told["bring-in"]["name"]) == (2, "again")
    assert told["restore"]["counts"] == told["backup"]["counts"]
    assert told["accept-store"]["kept"] == []
    assert told["link"]["link"].startswith("https://example.org/signin?link=")
    assert told["doctor"]["well"] is False
    assert any(one["fix"] and not one["well"] for one in told["doctor"]["findings"])


REFUSED: dict[str, tuple[object, ...]] = {
    "--jsom": ("projects", "--jsom"),
    "exprot": ("exprot",),
    "There is no project 1 here": ("export", 1, "--to", "out.csv"),
    "Name a file": ("export", 1),
    "--encoder": ("encode", 1),
    "No encoder is called": ("encode", 1, "--encoder", "none"),
    "purpose": ("token", " "),
    "There is no one": ("rank", "one"),
    "No server is running": ("link",),
}


def test_refusal_is_problem_document_with_same_status(shell: Shell) -> None:
    for says, words in REFUSED.items():
        status, out, err = shell(*words, "--json")
        problem = json.loads(out)
        detail = problem["detail"]
        assert says in detail
        assert problem == {"type": "about:blank", "title": "Not done", "detail": detail, "exit_status": status}
        assert status == cli.REFUSED
        assert err == f"Error: {detail}\n"
        assert shell(*words)[1] == "" or says == "Name a file"


def test_failed_server_start_is_problem_document(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WINNOW_PORT", "many")
    status, out, _err = shell("serve", "--json")
    assert status == cli.REFUSED
    assert "WINNOW_PORT" in json.loads(out)["detail"]


START_FAULTS: list[tuple[BaseException, int, str]] = [
    (OSError(errno.EADDRNOTAVAIL, "Cannot assign requested address"), 2, "of 10.9.9.9: Cannot assign requested"),
    (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), 2, "of 10.9.9.9: Name or service not known"),
    (OSError(errno.ENOSPC, "No space left on device"), 2, "Reading or writing failed: No space left"),
    (SystemExit(1), 1, "could not start. Fix: read the message on standard error."),
    (SystemExit(3), 3, "could not start. Fix: read the message on standard error."),
]


def test_errors_at_server_start_have_their_exit_status(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """The exit status shows whether a restart may help: docs/winnow.service."""
    monkeypatch.setenv("WINNOW_HOST", "10.9.9.9")
    shell.done("projects")
    for fault, status, says in START_FAULTS:

        def end(_path: str, run_name: str, fault: BaseException = fault) -> None:
            raise fault

        monkeypatch.setattr(runpy, "run_path", end)
        ended, out, err = shell("serve", "--json")
        problem = json.loads(out)
        assert (ended, problem["exit_status"]) == (status, status)
        assert says in problem["detail"]
        assert "Traceback" not in err


def test_staged_backup_is_restored_before_data_are_opened(
    shell: Shell, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The backup may repair the data; errors are reported in a document, too."""
    shell.done("import", table)
    home = tmp_path / "home"
    backup = Path(json.loads(shell.done("backup", "--json"))["file"])
    staging.stage(home, backup.name)
    (home / DATABASE).write_bytes(b"no database " * 1000)
    started: list[str] = []
    monkeypatch.setattr(runpy, "run_path", lambda path, run_name: started.append(run_name))
    with running.only_restore(home):
        status, out, _ = shell("serve", "--json")
    assert (status, started) == (cli.REFUSED, [])
    assert "is being restored" in json.loads(out)["detail"]
    status, _, err = shell("serve", "--json")
    assert (status, started) == (0, ["__main__"])
    assert "was restored" in err
    assert len(json.loads(shell.done("projects", "--json"))) == 1


def test_unwritable_json_document_is_refused_in_one_line(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.done("projects")

    def full(_document: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(json_option, "write_document", full)
    monkeypatch.setattr(cli, "write_document", full)
    line = "Error: Reading or writing failed: No space left on device.\n"
    assert shell("projects", "--json") == (cli.REFUSED, "", line)


def test_messages_go_to_standard_error(
    shell: Shell, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, out, err = shell("import", table, "--json")
    assert "Project 1: 60 rows" in err
    assert "Project 1: 60 rows" not in out
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    status, out, err = shell("export", 1, "--to", tmp_path / "out.csv", "--json")
    assert (status, err) == (0, "\r60 of 60 rows\n")
    assert json.loads(out)["format"] == "csv"


def test_secret_is_printed_in_document_only(shell: Shell, tmp_path: Path) -> None:
    """Logs store standard error."""
    _, out, err = shell("token", "survey", "--json")
    assert json.loads(out)["token"].startswith("winnow_")
    assert "winnow_" not in err
    with noted(tmp_path / "home" / "servers", "https://example.org"):
        _, out, err = shell("link", "--json")
    assert "signin?link=" in json.loads(out)["link"]
    assert "signin?link=" not in err


def test_failed_check_keeps_its_exit_status(shell: Shell, table: Path, tmp_path: Path) -> None:
    shell.done("import", table)
    file = tmp_path / "log.jsonl"
    write_log(tmp_path / "home", 1, file)
    assert json.loads(shell.done("verify", file, "--json"))["holds"][0]["entries"] == 0
    file.write_bytes(file.read_bytes().replace(b"2026-04-01", b"2026-04-02"))
    status, out, _ = shell("verify", file, "--json")
    assert (status, json.loads(out)["exit_status"]) == (2, 2)


def test_value_that_json_cannot_hold_raises() -> None:
    @click.command()
    @json_option.json_option
    def wrong() -> Any:
        return {"what": object()}

    assert CliRunner().invoke(wrong, []).exit_code == 0
    assert isinstance(CliRunner().invoke(wrong, ["--json"]).exception, TypeError)
