"""The command line: `winnow encoders`."""

from __future__ import annotations

import io
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from plcore.tables.encoders import read_catalogue
from plcore.tables.encoders.references import TEXTS
from tests.fake_hub import FakeHub
from tests.plcore.tables.encoders.small_catalogue import WORDS, small_catalogue, words_entry
from tests.test_cli import Shell, shell
from tests.workflow.models.encoders.conftest import hub, known
from workflow.models.encoders import installed

__all__ = ["hub", "known", "shell"]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that holds the only encoder of the catalogue, `words`, which is not for commercial use."""
    entry = words_entry(licence="CC-BY-NC-SA-4.0", commercial=False, wheel="wordllama==1.0", revision=None)
    made = small_catalogue(tmp_path / "catalogue", words=entry)
    monkeypatch.setattr(installed, "read_catalogue", lambda: made)
    with zipfile.ZipFile(tmp_path / "words-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr("words/weights", WORDS)
    return tmp_path / "words-1.0-py3-none-any.whl"


def test_list_names_every_encoder_with_licence_and_state(shell: Shell) -> None:
    status, out, _ = shell("encoders", "list")
    assert status == 0
    assert [line.split("\t")[0] for line in out.splitlines()] == list(read_catalogue())
    assert "birdnet24\tsound\t52 MB\tCC-BY-NC-SA-4.0, not for commercial use\tnot verified\t" in out
    status, out, _ = shell("encoders", "list", "--json")
    assert [one["key"] for one in json.loads(out)] == list(read_catalogue())


def test_encoder_is_added_used_checked_and_removed(shell: Shell, package: Path, tmp_path: Path) -> None:
    status, _, err = shell("encoders", "get", "words")
    assert status == 2
    assert "may not be used commercially" in err
    status, _, err = shell("encoders", "get", "words", "--non-commercial")
    assert "Fix: pip download --no-deps wordllama==1.0, then winnow encoders add FILE.whl." in err
    status, _, err = shell("encoders", "add", package)
    assert (status, "--non-commercial" in err) == (2, True)
    status, out, _ = shell("encoders", "add", package, "--non-commercial", "--yes")
    assert (status, out.startswith("words: checked.")) == (0, True)
    table = tmp_path / "t.csv"
    table.write_text(f"id,candidates,text\na,x|y,{TEXTS[0]}\nb,x,other\n")
    assert shell("encode", table, "--encoder", "words", "--out", tmp_path / "v.npz")[0] == 0
    status, out, _ = shell("encoders", "check", "words")
    assert (status, out.startswith("words: OK.")) == (0, True)
    assert shell("encoders", "remove", "words")[:2] == (0, "words: removed.\n")
    status, _, err = shell("encoders", "check", "words")
    assert (status, "No encoder is called 'words'" in err) == (2, True)


def test_commands_of_encoders_print_one_json_document(
    shell: Shell, hub: FakeHub, package: Path, tmp_path: Path
) -> None:
    table = tmp_path / "t.csv"
    table.write_text(f"id,candidates,text\na,x|y,{TEXTS[0]}\nb,x,other\n")

    def document(*words: object) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(shell.done(*words, "--json"))
        return found

    assert document("encoders", "add", package, "--non-commercial", "--yes") == {"keys": ["words"]}
    checked = document("encoders", "check", "words")
    assert (checked["key"], checked["says"].startswith("words: OK.")) == ("words", True)
    encoded = document("encode", table, "--encoder", "words", "--out", tmp_path / "v.npz")
    assert encoded == {"id": None, "file": str(tmp_path / "v.npz"), "notes": []}
    assert document("encoders", "remove", "words") == {"key": "words"}


class Terminal(io.StringIO):
    """Standard input of a person at a terminal."""

    def isatty(self) -> bool:
        return True


def test_consent_is_asked_for_and_stored(
    shell: Shell, package: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    command = ("encoders", "add", package, "--non-commercial")
    status, _, err = shell(*command)
    assert (status, "Words, from" in err, "0 MB, CC-BY-NC-SA-4.0, Copyright (c) Ada." in err) == (2, True, True)
    assert "words needs your consent to its size and licence. Fix: add --yes to the command." in err
    monkeypatch.setattr(sys, "stdin", Terminal("n\n"))
    assert shell(*command)[0] != 0
    assert list((tmp_path / "home" / "encoders").iterdir()) == []
    assert "asked for by" not in shell.done("encoders", "list"), "what was refused is not a consent"
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    assert "Add it to this server?" in shell(*command)[2]
    assert "asked for by owner" in shell.done("encoders", "list")
    assert "(CC-BY-NC-SA-4.0, for no commercial purpose)" in shell.done("encoders", "list")


def test_download_needs_consent_and_stores_it(shell: Shell, hub: FakeHub, tmp_path: Path) -> None:
    status, _, err = shell("encoders", "get", "words")
    assert (status, "add --yes" in err, hub.asked) == (2, True, [])
    assert json.loads(shell.done("encoders", "get", "words", "--yes", "--json")) == {"key": "words"}
    shell.done("encoders", "remove", "words")
    (one,) = json.loads(shell.done("encoders", "list", "--json"))
    assert (one["asked_by"], one["state"]) == ("owner", "can be downloaded")


def test_disabled_encoders_command_is_refused(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WINNOW_ENCODERS", "off")
    status, _, err = shell("encoders", "list")
    assert status == 2
    assert "switched off on this server. Fix: unset WINNOW_ENCODERS" in err
