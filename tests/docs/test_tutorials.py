"""Every example of the gallery runs on its own, and prints what the page says."""

from __future__ import annotations

import ast
import contextlib
import io
import re
from pathlib import Path

import pytest

import cli
from tests.conftest import ROOT
from tests.docs.pages import blocks, commands
from tests.docs.test_pages import ours
from workflow import demos
from workflow.demos import making
from workflow.people import team
from workflow.seat import Seat
from workflow.server.home import close_home, home

EXAMPLES = [code for code in blocks(ROOT / "docs" / "gallery.md", "python") if "winnow_labels" not in code]
"""Examples that need no server; tests/web/api/test_client_files.py and test_label.py run the others."""
SAID = re.compile(r"^ *print\(.*\)  # (.+)$", flags=re.M)
NEAR = 0.021
"""Shares may differ by this much between machines: their libraries add numbers in another order."""


def as_value(word: str) -> object:
    try:
        return ast.literal_eval(word)
    except (ValueError, SyntaxError):
        return word


def values(text: str) -> list[object]:
    return [as_value(word) for word in re.findall(r"[^\s\[\],]+", text)]


def test_gallery_has_ten_examples() -> None:
    assert len(EXAMPLES) == 10


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_example_prints_values_stated_on_page(number: int) -> None:
    code, written = EXAMPLES[number], io.StringIO()
    with contextlib.redirect_stdout(written):
        exec(compile(code, f"gallery.md, example {number + 1}", "exec"), {"__name__": "__main__"})  # noqa: S102
    said, printed = values(" ".join(SAID.findall(code))), values(written.getvalue())
    assert said
    assert len(said) == len(printed)
    for expected, found in zip(said, printed, strict=True):
        if isinstance(expected, float):
            assert found == pytest.approx(expected, abs=NEAR)
        else:
            assert found == expected


def test_f1_scores_are_unpacked_as_macro_then_micro() -> None:
    """f1_scores returns macro, then micro: swapping them would go unnoticed."""
    assert [line for code in EXAMPLES for line in code.splitlines() if "= f1_scores(" in line] == [
        "macro, micro = f1_scores(Y[400:], model.predict(X[400:]))"
    ]


# The tutorials from their first command to their last line of Python, on the demos that they are about.


FOLDER = ROOT / "docs" / "tutorials"
ABOUT = {"digits": demos.DIGITS, "calls": demos.CALLS, "votes": demos.REMARKS}


def test_each_demo_has_its_tutorial() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.md")) == sorted(ABOUT)
    assert list(ABOUT.values()) == list(demos.ALL), "in the order in which the pages number their projects"


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which commands are typed, with a home of the test."""
    close_home()
    monkeypatch.delenv("WINNOW_DATABASE_URL", raising=False)
    monkeypatch.setenv("WINNOW_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=pytest.mark.proof) if one == "calls" else one for one in ABOUT]
)
def test_tutorial_commands_print_values_stated_on_page(work: Path, name: str) -> None:
    page, demo = FOLDER / f"{name}.md", ABOUT[name]
    number = making.make(Seat(home(), team.ensure_owner(home()).id), demo)
    close_home()
    told = str(list(ABOUT).index(name) + 1)  # this home has no other demo
    lines = [words for line in commands(page) if (words := ours(line)) is not None]
    assert [words[0] for words in lines] == ["projects", "simulate", "export"]
    for words in lines:
        assert words[1:2] in ([], [told])
        assert not cli.main([words[0], *([str(number)] if words[1:] else []), *words[2:]], standalone_mode=False)

    code, written = "\n".join(blocks(page, "python")), io.StringIO()
    with contextlib.redirect_stdout(written):
        exec(compile(code, page.name, "exec"), {"__name__": "__main__"})  # noqa: S102
    said, printed = values(" ".join(SAID.findall(code))), values(written.getvalue())
    assert said
    assert printed == pytest.approx(said, abs=NEAR)
