"""The command line reports how a file is read, and stops at cells with two readings."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from tests.plcore.tables.right_readings import CASES, FOLDERS, REFUSED, RIGHT, path_of
from tests.plcore.tables.test_hunt import CASES as HUNT
from tests.plcore.tables.test_hunt import HUNTED, Hunted
from tests.plcore.tables.zips import make_zip, picture
from tests.test_cli import Shell, shell
from tests.workflow.two_questions import two_labels_frame

pytestmark = pytest.mark.slow

__all__ = ["shell"]
FEWER = [*enumerate(HUNTED)][::6]
"""Files of which the library's tests read all."""
MORE_TABLES = b"id,text,labels\n1,a bird,wren|robin\n2,two birds,wren\n3,more birds,robin\n"


def test_dry_run_prints_reading_and_stores_nothing(shell: Shell) -> None:
    out = shell.done("import", CASES / "llm_shortlist.jsonl", "--dry-run")
    assert out.startswith("Read as JSON Lines: 40 rows, ")
    assert "Learnt from: text 'text'." in out
    assert "Ignored: 'model', 'latency_ms' (kept and exported)." in out
    assert json.loads(shell.done("projects", "--json")) == []


def test_import_prints_reading_on_standard_error(shell: Shell) -> None:
    status, out, err = shell("import", CASES / "llm_shortlist.jsonl")
    assert (status, out.startswith("Project 1: 40 rows, ")) == (0, True)
    assert "Read as JSON Lines: 40 rows, " in err


def test_refused_workbook_names_the_sheet_that_was_read(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "study.xlsx"
    with pd.ExcelWriter(file) as book:
        pd.DataFrame({"item": [1, 2, 3], "ann1": ["a", "b", "a"], "ann2": ["a", "a", "b"]}).to_excel(
            book, sheet_name="votes", index=False
        )
        pd.DataFrame({"item": [1, 2], "length": [3.5, 4.5]}).to_excel(book, sheet_name="sizes", index=False)
    status, _, err = shell("import", file)
    assert status == 2
    assert "Error: There is nothing to learn from" in err
    assert "Only the sheet 'votes' was read, not 'sizes' (2 rows)." in err
    assert json.loads(shell.done("projects", "--json")) == []


def test_import_makes_project_of_further_question(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "birds.csv"
    two_labels_frame().to_csv(file, index=False)
    words = ("import", file, "--candidates", "species", "--also", "behaviour")
    assert "Further question 'behaviour': Read as CSV: 30 rows" in shell.done(*words, "--dry-run", "--json")
    assert json.loads(shell.done("projects", "--json")) == []
    status, out, _ = shell(*words, "--share", "Ada")
    assert (status, out.splitlines()) == (2, []), "no one is called Ada"
    out = shell.done(*words)
    assert out == "Project 2: further question, birds: behaviour.\nProject 1: 30 rows, 3 classes.\n"
    assert "Column 'species' holds the labels" in shell.refused(*words[:4], "--also", "species", "--name", "again")


def test_import_stops_at_ambiguous_cells(shell: Shell) -> None:
    file = CASES / "g15_mixed_sep.csv"
    line = shell.refused("import", file)
    assert "'wren, robin'" in line
    assert "choose the separator '|;,' (--separator '|;,'), which splits at each of them" in line
    assert "--accept mixed-separators" in line
    assert json.loads(shell.done("projects", "--json")) == []
    assert shell.done("import", file, "--accept", "mixed-separators") == "Project 1: 8 rows, 5 classes.\n"
    assert "is called few-separators" in shell.refused("import", file, "--accept", "few-separators", "--name", "again")
    status, out, err = shell("import", file, "--dry-run")
    assert (status, "2 rows" in out, "mixed-separators" in err) == (2, True, True)


def test_import_follows_chosen_one_of_two_lists(shell: Shell) -> None:
    file = HUNT / "devices_beside_sentiments.csv"
    assert "--accept other-lists" in shell.refused("import", file)
    for number, column in enumerate(("devices", "sentiment"), start=1):
        out = shell.done("import", file, "--candidates", column, "--name", column)
        assert out == f"Project {number}: 12 rows, 3 classes.\n"


def test_import_stops_at_unread_tables_of_zip(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "birds.zip"
    file.write_bytes(make_zip({"a.csv": MORE_TABLES, "b.tsv.txt": MORE_TABLES.replace(b",", b"\t")}))
    assert "--accept more-tables" in shell.refused("import", file)
    assert json.loads(shell.done("projects", "--json")) == []
    assert shell.done("import", file, "--accept", "more-tables") == "Project 1: 3 rows, 2 classes.\n"


def test_import_follows_chosen_item_and_unfinished(shell: Shell) -> None:
    file = path_of("md16.json")
    out = shell.done("import", file, "--dry-run", "--item", "detection")
    assert out.startswith("Read as MegaDetector JSON, an item a detection: 4 rows, ")
    assert "it can be 'picture', 'detection'" in shell.refused(
        "import", path_of("megadetector_classified.json"), "--item", "frame"
    )
    events = shell.done("import", path_of("camtrap_levels.csv"), "--dry-run", "--item", "event")
    assert events.startswith("Read as Camtrap DP observations, an item an event: 2 rows, ")
    survey = path_of("qualtrics.csv")
    assert "--accept unfinished-answers" in shell.refused("import", survey)
    assert "Project 1: 2 rows" in shell.done("import", survey, "--unfinished", "leave-out")
    assert "Project 2: 2 rows" in shell.done("import", survey, "--unfinished", "count", "--name", "all")


def test_import_of_unlabelled_file_needs_its_classes(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "birds.zip"
    file.write_bytes(make_zip({f"{k}.png": picture(k) for k in range(4)}))
    assert "--classes wren,robin" in shell.refused("import", file)
    assert shell.done("import", file, "--classes", "wren, robin, jay") == "Project 1: 4 rows, 3 classes.\n"


def test_import_needs_choice_for_rows_without_labels(shell: Shell) -> None:
    file = CASES / "null_among_candidates.jsonl"
    assert "--unlabelled" in shell.refused("import", file)
    assert "Project 1: 20 rows" in shell.done("import", file, "--unlabelled", "all")
    assert "Project 2: 19 rows" in shell.done("import", file, "--unlabelled", "leave-out", "--name", "fewer")


def test_import_needs_choice_for_truth_outside_candidates(shell: Shell) -> None:
    file = CASES / "votes_with_truth_semicolon.csv"
    assert "--truth-outside" in shell.refused("import", file)
    status, out, err = shell("import", file, "--dry-run")
    assert (status, err.count("\n")) == (2, 1)
    assert out.startswith("With --unlabelled all --truth-outside unknown: Read as CSV: 120 rows, ")
    assert "the votes of 3 annotators ('Ada', 'Ben', 'Cleo')" in out
    assert "Project 1: 120 rows" in shell.done("import", file, "--truth-outside", "unknown")
    assert "Project 2: 120 rows" in shell.done("import", file, "--truth-outside", "add", "--name", "added")


@pytest.mark.parametrize(
    "hunted", [pytest.param(one, marks=() if at % 36 == 0 else pytest.mark.proof, id=one.name) for at, one in FEWER]
)
def test_dry_run_matches_library_reading(hunted: Hunted, shell: Shell) -> None:
    status, out, err = shell("import", HUNT / hunted.name, "--dry-run")
    assert status == (2 if hunted.rows is None or hunted.stops else 0), err
    assert all(f"--accept {name}" in err for name in hunted.stops)
    if hunted.rows is None:
        assert hunted.told in err
    else:
        assert out.startswith("Read as ")


def test_every_case_has_expected_reading_or_refusal() -> None:
    assert {name for names in FOLDERS.values() for name in names} <= {*RIGHT, *REFUSED}
    assert {path.name for path in CASES.iterdir() if path.is_file()} <= {*RIGHT, *REFUSED}


@pytest.mark.parametrize("step", [6, pytest.param(1, marks=pytest.mark.proof)])
def test_dry_run_prints_expected_reading_of_every_case(shell: Shell, step: int) -> None:
    """step : one of so many; of all of them the library's tests compare every reading"""
    for name, right in [*RIGHT.items()][::step]:
        status, out, err = shell("import", path_of(name), "--dry-run")
        assert out.startswith(f"Read as {right.said}"), (name, out)
        assert f". Learnt from: {right.learnt}" in out, (name, out)
        assert (status, out.count("\n")) == (2 if right.stops else 0, 1), (name, err)
        if right.stops:
            assert err.startswith("Error: "), name
            assert "Fix: " in err, name
            assert err.endswith(f"To accept this reading, add --accept {right.stops}.\n"), (name, err)
        assert " above." not in err, (name, "there is no above in a terminal")
        assert "choose the shape" not in err, (name, "the command line has no shapes to choose")
    assert json.loads(shell.done("projects", "--json")) == []


@pytest.mark.parametrize("step", [6, pytest.param(1, marks=pytest.mark.proof)])
def test_dry_run_refuses_cases_with_fix_in_every_line(shell: Shell, step: int) -> None:
    for name, refused in [*REFUSED.items()][::step]:
        status, out, err = shell("import", path_of(name), "--dry-run")
        assert status == 2, (name, err)
        assert all(line.startswith("Error: ") and "Fix: " in line for line in err.splitlines()), (name, err)
        assert refused.words in err, name
        assert " above." not in err, (name, "there is no above in a terminal")
        assert (refused.option in err, out.startswith("With --")) == (True, bool(refused.option)), (name, out)
