"""The command line: `winnow suggest FILE`, with a language model on 127.0.0.1."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

import cli
from tests.conftest import ROOT
from tests.fake_model import FakeModel, knows, labels, serving_model
from tests.test_cli import Shell, shell
from tests.workflow.models.language.test_suggestions import lists
from tests.workflow.text_world import text_frame
from workflow import importing
from workflow.models.language import endpoint
from workflow.models.language.ledger import Ledger
from workflow.models.language.requests import LabelTask, Tokens

__all__ = ["shell"]

CLASSES = ["wren", "robin", "emu"]
TEXTS = [f"a small bird, number {number}" for number in range(20)]
TRUTH = {text: CLASSES[number % 3 :] for number, text in enumerate(TEXTS)}


@pytest.fixture
def model() -> Iterator[FakeModel]:
    with serving_model(FakeModel(knows(TRUTH))) as made:
        yield made


@pytest.fixture
def birds(tmp_path: Path) -> Path:
    path = tmp_path / "birds.csv"
    pd.DataFrame({"id": [f"b{n}" for n in range(20)], "text": TEXTS, "grams": range(20)}).to_csv(path, index=False)
    (tmp_path / "classes.txt").write_text("wren\trounder than a robin\n\nrobin\nemu\n")
    return path


def words(model: FakeModel, birds: Path, *more: object) -> list[object]:
    at = birds.parent
    own = ["suggest", birds, "--classes", at / "classes.txt", "--url", model.url, "--model", "m"]
    return [*own, "-o", at / "out.csv", *more]


def test_suggest_writes_a_table_that_import_reads(shell: Shell, model: FakeModel, birds: Path) -> None:
    # The description comes behind the name in the prompt.
    model.reply = lambda numbers, text: knows(TRUTH)({one.split(" (")[0]: n for one, n in numbers.items()}, text)
    status, out, err = shell(*words(model, birds, "--yes", "--price", "1/2 USD", "--cap", "1 USD"))
    assert status == 0, err
    assert model.counts() == dict.fromkeys(TEXTS, 1)
    assert "The weights come from the weights that the model states." in err
    assert "15 rows to go: at most " in err
    assert "about 1,801 tokens (1,501 in, 300 out), 0.00 USD at this rate." in err
    assert "m listed classes for 20 of 20 rows.\n" in out
    assert "Used 2,400 tokens (2,000 in, 400 out), 0.00 USD.\n" in out
    assert f"Next: winnow import {birds.parent / 'out.csv'} --candidates candidates\n" in out
    upload, table = importing.read_as_named(birds.parent / "out.csv", {"candidates": "candidates"})
    cells = upload.cells[["id", "text", "grams"]].reset_index(drop=True)
    pd.testing.assert_frame_equal(cells, pd.read_csv(birds, dtype="str"))
    assert table.candidate_weights is not None
    for row, text in enumerate(TEXTS):
        names = [table.classes[place] for place in table.candidates[row].nonzero()[0]]
        assert sorted(names) == sorted(TRUTH[text])
        assert table.classes[int(table.candidate_weights[row].argmax())] == TRUTH[text][0]
    assert shell.done("import", birds.parent / "out.csv", "--candidates", "candidates")


def test_suggest_with_json_prints_one_document(shell: Shell, model: FakeModel, birds: Path) -> None:
    model.usage = None
    model.reply = lambda numbers, text: labels((0, 1)) if text == TEXTS[3] else labels((numbers["robin"], 1))
    told = json.loads(shell.done(*words(model, birds, "--yes", "--json")))
    assert told["outcomes"] == {"listed": 19, "none": 1, "refused": 0, "broken": 0, "empty": 0}
    assert told["tokens"]["unknown_replies"] == 20
    assert (told["unlisted"], told["column"], told["refused_rows"]) == (["wren", "emu"], "candidates", [])


def test_suggest_names_another_machine_and_asks_first(
    shell: Shell, model: FakeModel, birds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "_checked_host", lambda *_given, **_more: ("api.example.com", False))
    status, _, err = shell(*words(model, birds))
    assert (status, "need your consent to be sent. Fix: add --yes" in err) == (2, True)
    assert "The texts of 20 rows will be sent to api.example.com." in err
    assert model.bodies == []

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal("n\n"))
    assert shell(*words(model, birds))[0] == cli.INTERRUPTED
    assert model.bodies == []
    model.reply = lambda numbers, _text: labels((numbers["robin"], 1))
    monkeypatch.setattr(sys, "stdin", Terminal("y\nn\n"))
    assert shell(*words(model, birds))[0] == cli.INTERRUPTED
    assert len(model.asked) == 5
    monkeypatch.setattr(sys, "stdin", Terminal("y\ny\n"))
    status, _, err = shell(*words(model, birds))
    assert (status, "Replies so far: 5; missing: 15." in err) == (0, True), err
    assert model.counts() == dict.fromkeys(TEXTS, 1)


def test_suggest_refuses_before_the_first_request(
    shell: Shell, model: FakeModel, birds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = words(model, birds, "--yes")
    assert "also needs --classes, --url, --model, --out" in shell.refused("suggest", birds)
    assert "belong to a project" in shell.refused(*every, "--with", "x")
    assert "either --with NAME, or --url and --model" in shell.refused("suggest", 1, "--yes")
    assert "No column looks" not in shell.refused(*every, "--text", "words")
    assert "cross its cap of 100 tokens" in shell(*every, "--cap", "100")[2]
    assert "unknown is not free" in shell.refused(*every, "--cap", "5 USD")
    assert "contains no key" in shell.refused(*every, "--key-from", "WINNOW_NO_SUCH_KEY")
    monkeypatch.setenv("WINNOW_SUGGESTIONS", "off")
    assert "WINNOW_SUGGESTIONS=off" in shell.refused(*every)
    monkeypatch.setenv("WINNOW_SUGGESTIONS", "api.example.com")
    assert "The operator does not allow 127.0.0.1" in shell.refused(*every)
    monkeypatch.setenv("WINNOW_SUGGESTIONS", "127.0.0.1")
    classes = birds.parent / "classes.txt"
    known = classes.read_text()
    classes.write_text("wren\n")
    assert "must name two classes or more" in shell.refused(*every)
    classes.write_text(known)
    assert not (birds.parent / "out.csv.journal").exists()
    (birds.parent / "out.csv").write_text("mine")
    assert "is not a new CSV file" in shell.refused(*every)
    assert model.bodies == []


def test_suggest_ends_after_five_replies_that_are_no_list(shell: Shell, model: FakeModel, birds: Path) -> None:
    model.reply = lambda _numbers, _text: "Well, it depends."
    status, _, err = shell(*words(model, birds, "--yes"))
    assert (status, "No reply of the first 5 rows is a list of classes. The first is 'Well, it depends.'" in err) == (
        2,
        True,
    )
    assert len(model.asked) == 5


@pytest.mark.proof
def test_killed_suggest_resumes_with_200_rows_asked_once(tmp_path: Path) -> None:
    rows, at_once = 200, 2
    texts = [f"a small bird, number {number}" for number in range(rows)]
    pd.DataFrame({"id": [f"b{n}" for n in range(rows)], "text": texts}).to_csv(tmp_path / "birds.csv", index=False)
    (tmp_path / "classes.txt").write_text("\n".join(CLASSES))
    model = FakeModel(lambda numbers, _text: labels((numbers["emu"], 1)))
    requests = LabelTask(dict.fromkeys(CLASSES, "")).requests(texts)
    most = requests[0].most
    model.usage = (most.read, most.written)
    kills, killed = [40, 90, 160], 0
    bound = sum((one.most for one in requests), Tokens()).total + len(kills) * at_once * requests[-1].most.total
    running: list[subprocess.Popen[bytes]] = []

    def gate() -> None:
        if kills and len(model.asked) >= kills[0]:
            kills.pop(0)
            os.kill(running[-1].pid, signal.SIGKILL)

    model.gate = gate
    with serving_model(model):
        command = words(model, tmp_path / "birds.csv", "--yes", "--at-once", at_once, "--cap", bound)
        while True:
            running.append(
                subprocess.Popen(
                    [sys.executable, "cli.py", *map(str, command)],
                    cwd=ROOT,
                    env=os.environ | {"WINNOW_HOME": str(tmp_path / "home")},
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                )
            )
            _, err = running[-1].communicate()
            if running[-1].returncode != -signal.SIGKILL:
                break
            killed += 1
    assert (running[-1].returncode, killed) == (0, 3), err
    assert set(model.asked) == set(texts)
    assert sum(model.counts().values()) - rows <= killed * at_once, "requests that were under way"
    journal = [json.loads(one) for one in (tmp_path / "out.csv.journal").read_text().splitlines()]
    assert sorted(one["row"] for one in journal if "row" in one) == list(range(rows)), "one record a row"
    asked = [one["asked"] for one in journal if "asked" in one]
    answered: set[int] = set()
    for one in journal:
        assert one.get("asked") not in answered, "a row with a reply is never asked again"
        answered |= {one["row"]} if "row" in one else set()
    assert len(asked) - rows <= killed * at_once
    with Ledger(tmp_path / "out.csv.journal", {}) as ledger:
        assert ledger.spent.total <= bound


def test_suggest_weighs_the_candidates_of_a_project(shell: Shell, tmp_path: Path) -> None:
    text_frame().drop(columns="truth").to_csv(tmp_path / "texts.csv", index=False)
    shell.done("import", tmp_path / "texts.csv", "--candidates", "candidates")
    with serving_model(FakeModel(knows(lists()))) as model:
        own = ["suggest", "1", "--url", model.url, "--model", "m"]
        assert "consent to be sent" not in shell.done(*own, "--yes"), "the server is this machine"
        told = json.loads(shell.done(*own, "--yes", "--json"))
        assert model.counts() == dict.fromkeys(lists(), 1), "the second run only weighs again"
    assert (told["rows"], told["weighed"], told["calibrated_by"]) == (60, 60, 0)
    status, _, err = shell(*own, "--classes", tmp_path / "texts.csv")
    assert (status, "--classes is for a FILE." in err) == (2, True)
    status, _, err = shell("suggest", "1", "--url", model.url)
    assert (status, "either --with NAME, or --url and --model" in err) == (2, True)
