"""`winnow_labels.label`: a server of its own, the answers, and the frame with its labels."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pandas as pd
import pytest

import winnow_labels
from tests.browser.loaded import Forked
from tests.browser.server import LINK
from tests.conftest import ROOT
from tests.docs.pages import blocks
from tests.docs.test_tutorials import SAID, values
from tests.migrated import lay_database
from tests.workflow.four import four_class_project
from winnow_labels import labelling
from winnow_labels.client import Winnow, WinnowError
from workflow.people import team, tokens
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import open_home
from workflow.server.running import noted, running
from workflow.server.settings import Settings

pytestmark = pytest.mark.slow

FRAME = pd.DataFrame({"n": range(12), "guesses": [["ant", "bee"], ["bee", "cat"], ["ant", "cat"]] * 4})
SCRIPT = """
import signal
import sys
import pandas as pd
import winnow_labels as winnow

signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background a shell has it ignored

frame = pd.DataFrame({"n": range(12), "guesses": [["ant", "bee"], ["bee", "cat"], ["ant", "cat"]] * 4})
labels = winnow.label(frame, candidates="guesses", open_browser=False, name="Insects")
labels[["n", "winnow_label", "winnow_source"]].to_json(sys.stdout)
"""
FORKED = """
import os, runpy, sys
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
sys.argv = [{program!r}, *{words!r}]
runpy.run_path({program!r}, run_name="__main__")
"""
"""A command whose standard error goes nowhere, so that it does not come between the lines of JSON."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder that WINNOW_HOME names."""
    for key in [one for one in os.environ if one.startswith("WINNOW_")]:
        monkeypatch.delenv(key)
    monkeypatch.setenv("WINNOW_HOME", str(tmp_path / "home"))
    return lay(tmp_path / "home")


def lay(folder: Path) -> Path:
    """Make a data folder with a small project: the server needs no demo then."""
    lay_database(folder)
    with owner(folder) as seat:
        four_class_project(seat.home, seat.person_id)
    return folder


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork the server, and the commands before and after it, from a process that has loaded the app: three times
    loading it takes longer than the rest."""

    def start(own: Mapping[str, str], *words: str) -> Forked:
        return Forked({**os.environ, **own}, FORKED.format(program=str(labelling._PROGRAM), words=[*words, "--json"]))

    def run(own: Mapping[str, str], *words: str) -> object:
        process = start(own, *words)
        assert process.stdout is not None
        with process.stdout:
            said = process.stdout.read()
        assert process.wait(60) == 0, said
        return json.loads(said)

    monkeypatch.setattr(labelling, "_start", start)
    monkeypatch.setattr(labelling, "_run", run)


@contextmanager
def owner(folder: Path) -> Iterator[Seat]:
    home = open_home(Settings.from_environment({"WINNOW_HOME": str(folder)}))
    try:
        yield Seat(home, team.ensure_owner(home).id)
    finally:
        home.close()


def answer(link: str, folder: Path, count: int) -> None:
    """Answer questions of the latest project by the API, in the place of a person in a browser."""
    address = urlsplit(link)
    with owner(folder) as seat:
        token = tokens.make_token(seat, "a person", days=1)
    with Winnow(f"{address.scheme}://{address.netloc}", token) as winnow:
        project = winnow.project(max(one["id"] for one in winnow.projects()))
        for question in project.questions(count):
            project.answer(question, "is", [question.choices[0].label])


def servers(folder: Path) -> list[str]:
    return running(folder / "servers") if (folder / "servers").exists() else []


def kept(folder: Path) -> tuple[set[str], set[str]]:
    """The names of the projects, and the purposes of the tokens."""
    with owner(folder) as seat:
        return {one.name for one in managing.list_projects(seat)}, {one.purpose for one in tokens.my_tokens(seat)}


@pytest.mark.usefixtures("forked")
def test_gallery_labels_frame_in_one_call(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (code,) = (one for one in blocks(ROOT / "docs" / "gallery.md", "python") if "winnow.label(" in one)
    opened: list[str] = []

    def browse(link: str) -> None:
        opened.append(link)
        threading.Thread(target=answer, args=(link, folder, 3)).start()

    monkeypatch.setattr(labelling.webbrowser, "open", browse)
    names: dict[str, pd.DataFrame] = {}
    exec(compile(code, "gallery.md", "exec"), names)  # noqa: S102
    printed = capsys.readouterr()
    assert values(printed.out) == [value for one in SAID.findall(code) for value in values(one)]
    assert LINK.findall(printed.err) == opened, "the link is printed, too"
    frame, labels = names["frame"], names["labels"]
    assert labels["note"].tolist() == frame["note"].tolist()
    assert all(one in may for one, may in zip(labels["winnow_label"], frame["names"], strict=True))
    assert servers(folder) == []
    with pytest.raises(OSError), socket.create_connection(("127.0.0.1", urlsplit(opened[0]).port or 0)):  # noqa: PT011
        pass
    projects, purposes = kept(folder)
    assert len(projects) == 2
    assert purposes == {"a person"}, "its own token is revoked"


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.proof)], ids=["Ctrl-C", "kill -9"]
)
def test_stopped_script_leaves_project_and_no_server(folder: Path, number: signal.Signals) -> None:
    """Ctrl-C reaches every process of a terminal's group; after kill -9 nothing can clean up."""
    script = subprocess.Popen(
        [sys.executable, "-c", SCRIPT],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert script.stderr is not None
    link = next(match.group() for line in script.stderr if (match := LINK.search(line)))
    answer(link, folder, 2)
    os.killpg(script.pid, number)
    out, err = script.communicate(timeout=120)
    if number == signal.SIGINT:
        assert script.returncode == 0, err
        assert "'Insects'" in err
        assert "winnow serve" in err
        labels = pd.DataFrame(json.loads(out))
        assert labels["n"].tolist() == FRAME["n"].tolist()
        assert labels["winnow_source"].value_counts()["person"] == 2
    deadline = time.monotonic() + 60
    while servers(folder) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert servers(folder) == []
    assert "Insects" in kept(folder)[0]
    if number == signal.SIGKILL:
        again = winnow_labels.label(FRAME, candidates="guesses", open_browser=False, name="Insects", until=2)
        assert again["winnow_source"].value_counts()["person"] == 2, "the same call continues"
        with pytest.raises(ValueError, match="'Insects' was made from another frame"):
            winnow_labels.label(FRAME[:9], candidates="guesses", open_browser=False, name="Insects")
        assert servers(folder) == []


@pytest.mark.usefixtures("forked")
def test_refused_frame_leaves_no_server(folder: Path, tmp_path: Path) -> None:
    other = lay(tmp_path / "other")
    with pytest.raises(WinnowError, match=r"'gueses'.* Fix:"):
        winnow_labels.label(FRAME, candidates="gueses", home=other)
    assert servers(other) == []
    assert kept(other)[1] == set()
    assert not (folder / "servers").exists(), "nothing ran on the default folder"


def test_folder_of_running_server_is_refused(folder: Path) -> None:
    with (
        noted(folder / "servers", "http://127.0.0.1:9"),
        pytest.raises(WinnowError, match=r"already: http://127.0.0.1:9\. Fix: "),
    ):
        winnow_labels.label(FRAME, candidates="guesses")


@pytest.mark.parametrize(
    ("frame", "until", "error", "words"),
    [
        (FRAME.to_dict("list"), None, TypeError, "Got dict. Fix:"),
        (pd.DataFrame({"guesses": [["ant"], 1]}), None, ValueError, "guesses.* Fix: .* lists of names"),
        (FRAME, 0, ValueError, "until .* Got 0"),
    ],
)
def test_wrong_argument_is_refused_before_server_starts(
    monkeypatch: pytest.MonkeyPatch, frame: pd.DataFrame, until: int | None, error: type[Exception], words: str
) -> None:
    monkeypatch.setattr(labelling.subprocess, "Popen", None)
    with pytest.raises(error, match=words):
        winnow_labels.label(frame, candidates="guesses", until=until)


def test_package_has_no_other_lazy_name() -> None:
    with pytest.raises(AttributeError, match="no attribute 'labels'"):
        _ = winnow_labels.labels  # type: ignore[attr-defined]
