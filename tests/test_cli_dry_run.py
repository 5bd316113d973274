"""The command line says how a file is read, and stops for cells with two readings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.plcore.tables.test_hunt import CASES as HUNT
from tests.plcore.tables.test_hunt import HUNTED, Hunted
from tests.test_cli import Shell, shell

pytestmark = pytest.mark.slow

__all__ = ["shell"]

CASES = Path(__file__).with_name("plcore") / "tables" / "cases"


def test_dry_run_prints_the_reading_and_stores_nothing(shell: Shell) -> None:
    out = shell.done("import", CASES / "llm_shortlist.jsonl", "--dry-run")
    assert out.startswith("Read as JSON Lines: 40 rows, ")
    assert "Learnt from: text 'text'." in out
    assert "Ignored: 'model', 'latency_ms' (kept and exported)." in out
    assert json.loads(shell.done("projects", "--json")) == []


def test_import_prints_the_reading_on_standard_error(shell: Shell) -> None:
    status, out, err = shell("import", CASES / "llm_shortlist.jsonl")
    assert (status, out.startswith("Project 1: 40 rows, ")) == (0, True)
    assert "Read as JSON Lines: 40 rows, " in err


def test_import_stops_at_cells_with_two_readings(shell: Shell) -> None:
    file = CASES / "g15_mixed_sep.csv"
    line = shell.refused("import", file)
    assert "'wren, robin'" in line
    assert "--accept mixed-separators" in line
    assert json.loads(shell.done("projects", "--json")) == []
    assert shell.done("import", file, "--accept", "mixed-separators") == "Project 1: 8 rows, 5 classes.\n"
    assert "no doubt few-separators" in shell.refused(
        "import", file, "--accept", "few-separators", "--name", "again"
    )
    status, out, err = shell("import", file, "--dry-run")
    assert (status, "2 rows" in out, "mixed-separators" in err) == (2, True, True)


def test_import_asks_once_about_rows_without_labels(shell: Shell) -> None:
    file = CASES / "null_among_candidates.jsonl"
    assert "--unlabelled" in shell.refused("import", file)
    assert "Project 1: 20 rows" in shell.done("import", file, "--unlabelled", "all")
    assert "Project 2: 19 rows" in shell.done("import", file, "--unlabelled", "leave-out", "--name", "fewer")


def test_import_asks_once_about_truth_outside_the_candidates(shell: Shell) -> None:
    file = CASES / "votes_with_truth_semicolon.csv"
    assert "--truth-outside" in shell.refused("import", file)
    status, out, err = shell("import", file, "--dry-run")
    assert (status, err.count("\n")) == (2, 1)
    assert out.startswith("With --unlabelled all --truth-outside unknown: Read as CSV: 120 rows, ")
    assert "the votes of 3 annotators ('Ada', 'Ben', 'Cleo')" in out
    assert "Project 1: 120 rows" in shell.done("import", file, "--truth-outside", "unknown")
    assert "Project 2: 120 rows" in shell.done("import", file, "--truth-outside", "add", "--name", "added")


@pytest.mark.parametrize("hunted", HUNTED[::6], ids=lambda one: one.name)
def test_dry_run_says_what_the_library_says(hunted: Hunted, shell: Shell) -> None:
    status, out, err = shell("import", HUNT / hunted.name, "--dry-run")
    assert status == (2 if hunted.rows is None or hunted.stops else 0), err
    assert all(f"--accept {name}" in err for name in hunted.stops)
    if hunted.rows is None:
        assert hunted.told in err
    else:
        assert out.startswith("Read as ")
