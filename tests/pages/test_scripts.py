"""The JavaScript of pages: its pure parts in Node, its imports, and the words it shares with the server."""

from __future__ import annotations

import posixpath
import re
import shutil
import subprocess
from pathlib import PurePosixPath

import pytest

from pages.parts.components import scripts_in
from tests.conftest import ROOT
from web.packed import FOLDER
from workflow.kinds.label_vectors.turn import LabelVectorTurn
from workflow.kinds.one_label.turn import OneLabelTurn

SCRIPTS = scripts_in(FOLDER)
IMPORT = r'^(?:import|export) (?:[^;"]+ from )?"([^"]+)";$'
KIND_FOLDERS = {path.parent.name for path in FOLDER.glob("*/card.js")} - {"card"}


def test_javascript_unit_tests_pass() -> None:
    npm = shutil.which("npm")
    assert npm, "The tests of the JavaScript need Node.js 20 or newer with npm: https://nodejs.org"
    run = subprocess.run([npm, "test", "--silent"], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    passed = re.search(r"^\D*pass (\d+)$", run.stdout, re.MULTILINE)
    assert passed, run.stdout
    assert int(passed[1]) >= 30


def imported(name: str) -> set[str]:
    """The modules that this one imports, by their paths in the folder."""
    found = set()
    for address in re.findall(IMPORT, SCRIPTS.contents[name], re.MULTILINE):
        assert address.startswith("."), f"{name} imports {address}: there is no other module in the browser"
        found.add(posixpath.normpath(f"{PurePosixPath(name).parent}/{address}"))
    return found


def test_script_imports_exist_and_cross_no_kind(subtests: pytest.Subtests) -> None:
    for name in sorted(SCRIPTS.contents):
        with subtests.test(name):
            modules = imported(name)
            assert modules <= SCRIPTS.contents.keys()
            folder = PurePosixPath(name).parent.name
            folders = {PurePosixPath(one).parent.name for one in modules}
            assert folders <= {"card", folder}, "the list of rows takes from the card, and what is shared knows no kind"
            assert SCRIPTS.contents[name].startswith("// @ts-check\n")


def test_walk_sees_imports_over_several_lines() -> None:
    assert imported("one_label/card.js") == {
        "card/card.js",
        "card/question.js",
        "one_label/batch.js",
        "one_label/candidates.js",
        "one_label/dispute.js",
    }
    assert "card/posting.js" in imported("label_vectors/labels.js")
    assert {"one_label", "label_vectors"} <= KIND_FOLDERS


def test_card_sends_known_entry_kinds() -> None:
    types = (FOLDER / "card" / "types.d.ts").read_text()
    union = re.search(r"export type EntryKind =(.*?);", types, re.S)
    assert union is not None
    known = re.findall(r'"(\w+)"', union[1])
    assert sorted(known) == sorted({*OneLabelTurn.ANSWERS, *LabelVectorTurn.ANSWERS, "undo", "redo"})
    # The types check that nothing else is sent (`make lint`); this test checks that each is sent.
    scripts = "".join(content for name, content in SCRIPTS.contents.items() if PurePosixPath(name).parent.name)
    assert [kind for kind in known if f'"{kind}"' not in scripts] == []
