"""The client of the HTTP API."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import pandas as pd
import pytest

from tests.conftest import ROOT
from tests.docs.pages import blocks
from tests.plcore.tables.right_readings import RIGHT, path_of
from tests.present import present
from tests.web.api.conftest import KINDS, ONE_KIND, OTHER_KIND_IN_PROOFS
from tests.workflow.two_questions import two_labels_frame
from tests.workflow.world import annotator, log
from winnow_labels import client, connection
from winnow_labels.client import Winnow, WinnowError, WinnowOutcome, WinnowProject, WinnowQuestion, WinnowRowAnswer
from workflow.people import team, tokens
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home

# The client of the wheel against a live server: it labels, it pulls, and repeated requests are stored once


TRIES = 8
"""Attempts within PATIENCE: after half a second, then after twice as long each time, and at its end."""


def fitting(question: WinnowQuestion) -> tuple[str, list[str]]:
    kind = next(one for one in ("is", "labels", "yes") if one in question.answers)
    return kind, [] if kind == "yes" else [question.choices[0].label]


@OTHER_KIND_IN_PROOFS
@pytest.mark.slow
def test_notebook_answers_twenty_questions(winnow: Winnow, seat: Seat) -> None:
    project = winnow.project(seat.project_id or 0)
    said = []
    for _ in range(20):
        question = present(project.next_question())
        kind, labels = fitting(question)
        said.append(project.answer(question, kind, labels, note="by a program"))
        assert project.answer(question, kind, labels, note="by a program") == said[-1]
    assert [one["seq"] for one in project.log(since=said[0].seq)][-1] == said[-1].seq
    assert {one.note for one in log(seat.home, seat.project_id or 0)} == {"by a program"}
    assert project.summary()["answered"] >= 1
    assert project.figures()["curve"]
    assert winnow.projects()[0] == project.summary()


def test_program_answers_rows_of_its_choice(winnow: Winnow, seat: Seat) -> None:
    project = winnow.project(seat.project_id or 0)
    with seat.learner() as opened:
        row = next(row for row in range(40) if opened.learner.may_ask(row, str(seat.person_id)))
    stored = project.answer_row(row, "bad", key="1", note="by a program")
    assert project.answer_row(row, "bad", key="1", note="by a program") == stored
    assert [(one["row"], one["note"]) for one in project.log()] == [(row, "by a program")]
    with pytest.raises(WinnowError, match="used already"):
        project.answer_row(row, "unsure", key="1")
    again, refused = project.answer_rows(
        [WinnowRowAnswer(row, "bad", key="1", note="by a program"), WinnowRowAnswer(row, "bad")]
    )
    assert again == WinnowOutcome(200, stored, None)
    assert (refused.status, refused.answer) == (409, None)
    assert refused.detail
    one, other = project.questions(1), project.questions(2)
    assert len({(question.row, question.label) for question in one + other}) == 3
    project.answer(one[0], "bad")


@OTHER_KIND_IN_PROOFS
def test_owner_changes_settings_and_archives(winnow: Winnow, seat: Seat) -> None:
    project = winnow.project(seat.project_id or 0)
    before = project.settings()
    assert before == managing.learner_settings(seat)
    change: dict[str, Any] = {"strategy": "random"} if "strategy" in before else {"refresh_every": 7}
    after = before | change
    assert project.change_settings(**change) == after
    assert managing.learner_settings(seat) == after
    wrongs: tuple[dict[str, Any], ...] = (
        {"nonsense": 1},
        {"seat": 1},
        {**change, "seed": before["seed"] + 1},
        *({name: odd} for name in before for odd in ([], {"a": 1}, "nonsense", -7)),
    )
    for wrong in wrongs:
        with pytest.raises(WinnowError) as refused:
            project.change_settings(**wrong)
        assert refused.value.status == 422, wrong
    assert project.settings() == after, "all or none"
    for put_away in (project.archive, project.delete):
        put_away()
        put_away()
        assert winnow.projects() == []
        project.restore()
        project.restore()
        assert [one["id"] for one in winnow.projects()] == [seat.project_id]


@ONE_KIND
def test_owner_manages_members(winnow: Winnow, seat: Seat) -> None:
    project, eve = winnow.project(seat.project_id or 0), annotator(seat.home, seat.person_id, "Eve", "viewer")
    for role in ("reviewer", "annotator", "annotator"):
        project.give_role(eve, role)
        assert [(one["name"], one["role"]) for one in project.members() if one["person"] == eve] == [("Eve", role)]
    for _ in range(2):
        project.remove_member(eve)
        assert eve not in [one["person"] for one in project.members()]
    for wrong, status in (((999, "viewer"), 409), ((eve, "king"), 422), ((seat.person_id, "viewer"), 409)):
        with pytest.raises(WinnowError) as refused:
            project.give_role(*wrong)
        assert refused.value.status == status, wrong


def test_owner_changes_classes_once_and_compares(url: str, home: Home) -> None:
    owner = team.ensure_owner(home).id
    seat = Seat(home, owner, KINDS["one_label"](home, owner))
    with Winnow(url, tokens.make_token(seat, "notebook")) as winnow:
        project = winnow.project(seat.project_id or 0)
        before = project.classes()
        after = project.change_classes(before["version"], "add", "heron")
        assert [one["name"] for one in after["classes"]] == [*(one["name"] for one in before["classes"]), "heron"]
        assert after["latest"] == ["add", "heron"]
        with pytest.raises(WinnowError, match="changed") as refused:
            project.change_classes(before["version"], "rename", "heron", "egret")
        assert refused.value.status == 409
        back = project.change_classes(after["version"], "back")
        assert back["classes"] == before["classes"]
        assert project.models()["running"] is None
        project.compare_models()
        found = project.models()
        assert found["running"]["begun"] is False
        assert [one["name"] for one in found["models"] if one["in_use"]] == [found["model"]]
        project.cancel_comparison()
        assert project.models()["running"] is None


@OTHER_KIND_IN_PROOFS
@pytest.mark.slow
def test_rows_and_predictions_are_fetched_in_pages(winnow: Winnow, seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_AT_ONCE", 7)
    project, count = winnow.project(seat.project_id or 0), managing.get_project(seat).n_rows
    assert [one["row"] for one in project.rows()] == list(range(count))
    assert [one["row"] for one in project.predictions()] == list(range(count))
    assert list(project.log()) == []
    monkeypatch.setattr("workflow.exporting.for_programs.ENOUGH", 1)
    assert [one["row"] for one in project.rows()] == list(range(count)), "whatever the size of the parts"


@pytest.mark.slow
def test_export_writes_file_or_raises(winnow: Winnow, seat: Seat, tmp_path: Path) -> None:
    project = winnow.project(seat.project_id or 0)
    project.export(tmp_path / "labels.csv")
    assert len(pd.read_csv(tmp_path / "labels.csv")) == managing.get_project(seat).n_rows
    with pytest.raises(WinnowError, match="A file is one of") as refused:
        project.export(tmp_path / "other", "nonsense")
    assert refused.value.status == 422
    assert not (tmp_path / "other").exists()


@ONE_KIND
@pytest.mark.slow
def test_errors_carry_message_and_status_of_server(winnow: Winnow, seat: Seat, url: str) -> None:
    with pytest.raises(WinnowError, match="There is no project 99 here") as refused:
        winnow.project(99).next_question()
    assert refused.value.status == 404
    with Winnow(url, "nonsense") as nobody, pytest.raises(WinnowError, match="token") as unknown:
        nobody.projects()
    assert unknown.value.status == 401
    with pytest.raises(WinnowError, match="Fix:"):
        winnow.project(seat.project_id or 0).append([{"nobody": "x"}])


class Flaky(httpx2.BaseTransport):
    """A proxy that loses the first replies, or says that the server is busy."""

    def __init__(self) -> None:
        self._real, self.calls = httpx2.HTTPTransport(), 0
        self.losses: list[int | None] = []

    def close(self) -> None:
        self._real.close()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        self.calls += 1
        reply = self._real.handle_request(request)
        if not self.losses:
            return reply
        reply.read()
        loss = self.losses.pop(0)
        if loss is None:
            raise httpx2.ReadError("lost on the way")
        return httpx2.Response(loss, text="busy")


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    slept: list[float] = []
    monkeypatch.setattr("winnow_labels.connection.time.sleep", slept.append)
    return slept


@pytest.mark.slow
@pytest.mark.parametrize("losses", [[None], [None, 503, None, 502]])
def test_answer_whose_reply_is_lost_is_stored_once(
    url: str, seat: Seat, no_pauses: list[float], losses: list[int | None]
) -> None:
    flaky = Flaky()
    with Winnow(url, tokens.make_token(seat, "notebook"), transport=flaky) as winnow:
        project = winnow.project(seat.project_id or 0)
        question = present(project.next_question())
        flaky.calls, flaky.losses = 0, list(losses)
        saved = project.answer(question, *fitting(question))
    assert flaky.calls == len(losses) + 1
    assert no_pauses == sorted(no_pauses)
    assert len(no_pauses) == len(losses)
    stored = log(seat.home, seat.project_id or 0)
    assert stored[-1].seq == saved.seq
    assert len({one.token for one in stored}) == len(stored) == saved.seq


class Broken(httpx2.SyncByteStream):
    """Half of a file, and then nothing."""

    def __iter__(self) -> Iterator[bytes]:
        yield b"id,winnow_label"
        raise httpx2.ReadError("lost on the way")


@pytest.mark.slow
@pytest.mark.parametrize("losses", [1, TRIES])
def test_broken_download_leaves_whole_file_or_none(tmp_path: Path, no_pauses: list[float], losses: int) -> None:
    left = [Broken()] * losses

    def reply(_request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, stream=left.pop()) if left else httpx2.Response(200, content=b"whole")

    with Winnow("http://127.0.0.1", "token", transport=httpx2.MockTransport(reply)) as winnow:
        if losses == TRIES:
            with pytest.raises(WinnowError, match="lost on the way"):
                winnow.fetch("/file", tmp_path / "labels.csv")
        else:
            winnow.fetch("/file", tmp_path / "labels.csv")
    found = {one.name: one.read_bytes() for one in tmp_path.iterdir()}
    assert found == ({} if losses == TRIES else {"labels.csv": b"whole"})
    assert len(no_pauses) == min(losses, TRIES - 1)


@pytest.mark.slow
def test_server_that_is_not_winnow_is_reported() -> None:
    page = httpx2.MockTransport(lambda _request: httpx2.Response(200, text="<html>"))
    with (
        Winnow("http://127.0.0.1", "token", transport=page) as winnow,
        pytest.raises(WinnowError, match="is not a Winnow server"),
    ):
        winnow.projects()


@ONE_KIND
@pytest.mark.slow
def test_client_gives_up_after_its_tries(url: str, seat: Seat, no_pauses: list[float]) -> None:
    flaky = Flaky()
    with Winnow(url, tokens.make_token(seat, "notebook"), transport=flaky) as winnow:
        project = winnow.project(seat.project_id or 0)
        for loss, status in ((None, 0), (503, 503)):
            flaky.calls, flaky.losses = 0, [loss] * 2 * TRIES
            with pytest.raises(WinnowError) as gone:
                project.summary()
            assert (gone.value.status, flaky.calls) == (status, TRIES)
        flaky.calls, flaky.losses = 0, [None]
        with pytest.raises(WinnowError):
            project.append([{"id": "x"}])
    assert flaky.calls == 1, "rows are sent once"


@pytest.mark.slow
@pytest.mark.parametrize("losses", [[], [None, 503]])
def test_scores_are_sent_in_batches_and_stored_once(
    url: str, home: Home, no_pauses: list[float], monkeypatch: pytest.MonkeyPatch, losses: list[int | None]
) -> None:
    owner = team.ensure_owner(home).id
    seat, flaky = Seat(home, owner, KINDS["one_label"](home, owner)), Flaky()
    scores: dict[int | str, dict[str, float]] = {0: {"dog": 0.7}, "r1": {"ant": 1, "bee": 2}, 2: {"emu": 0.0}}
    with Winnow(url, tokens.make_token(seat, "notebook"), transport=flaky) as winnow:
        project = winnow.project(seat.project_id or 0)
        with pytest.raises(WinnowError, match="'emu' is not a class"):
            project.predict(scores, "net")
        scores[2] = {}
        flaky.losses = list(losses)
        assert project.predict(scores, "net") == client.WinnowWeighed(1, 3, 2, 1, 0)
        monkeypatch.setattr(client, "_MOST_ROWS", 2)
        assert project.predict(scores, "net").seq == 3
        monkeypatch.setattr(client, "_MOST_BYTES", 10)
        assert project.predict(scores, "net") == client.WinnowWeighed(6, 3, 2, 1, 0)
        with pytest.raises(ValueError, match="no scores"):
            project.predict({}, "net")
        for row, score in enumerate(np.array([[0.25, 0.5]], dtype=np.float32)):
            of_numpy = {np.int64(row): dict(zip(np.array(["ant", "bee"]), score, strict=True))}
            assert project.predict(of_numpy, "net").rows == 1, "what a model gives goes as it is"
    assert [one.kind for one in log(home, seat.project_id or 0)] == ["rows"] * 7
    with seat.learner() as opened:
        assert sorted(opened.learner.table.candidate_weights[1])[-2:] == [1, 2]


@pytest.mark.slow
def test_client_classes_match_api_schemas() -> None:
    from dataclasses import fields

    from web.api import shapes

    for own, theirs in (
        (client.WinnowQuestion, shapes.ToldQuestion),
        (client.WinnowChoice, shapes.ToldChoice),
        (client.WinnowAdded, shapes.Added),
        (client.WinnowAnswer, shapes.StoredAnswer),
        (client.WinnowWeighed, shapes.Weighed),
    ):
        assert {one.name for one in fields(own)} <= set(theirs.model_fields)  # type: ignore[arg-type]


@pytest.mark.slow
def test_example_in_docs_labels_twenty_rows(
    url: str, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = team.ensure_owner(home).id
    seat = Seat(home, owner, KINDS["one_label"](home, owner))
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"url": url, "token": tokens.make_token(seat, "notebook")}
    block, *others = blocks(ROOT / "docs" / "http-api.md", "python")
    exec(compile(block, "http-api.md", "exec"), names)  # noqa: S102
    stored = log(home, seat.project_id or 0)
    assert len(stored) == 20
    assert {one.kind for one in stored} == {"is"}
    assert (tmp_path / "labels.csv").exists()
    (block,) = (one for one in others if "asyncio" in one)
    exec(compile(block, "http-api.md", "exec"), names)  # noqa: S102
    assert len(asyncio.run(names["label"]())) == len(log(home, seat.project_id or 0)) > 20


# Calls of the client: accepted addresses and tokens, and how long it retries


LIST = httpx2.Response(200, json={"projects": []})


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses, none of which are waited for."""
    found: list[float] = []
    monkeypatch.setattr("winnow_labels.connection.time.sleep", found.append)
    return found


def asking(reply: Callable[[httpx2.Request], httpx2.Response], **more: Any) -> Winnow:
    return Winnow("http://127.0.0.1", "token", transport=httpx2.MockTransport(reply), **more)


def refused(_request: httpx2.Request) -> httpx2.Response:
    raise httpx2.ConnectError("refused")


@pytest.mark.parametrize(
    ("patience", "pauses"),
    [
        (0, []),
        (1.75, [0.5, 1, 0.25]),
        (connection.PATIENCE, [0.5, 1, 2, 4, 8, 16, 28.5]),
        (120, [0.5, 1, 2, 4, 8, 16, 30, 30, 28.5]),
    ],
)
def test_client_retries_for_as_long_as_its_patience(slept: list[float], patience: float, pauses: list[float]) -> None:
    with asking(refused, patience=patience) as winnow, pytest.raises(WinnowError, match="did not answer") as gone:
        winnow.projects()
    assert gone.value.status == 0
    assert slept == pauses


@pytest.mark.parametrize(
    ("asked", "pauses"),
    [("60", [60.0]), ("5", [5.0]), ("600", [60.0]), ("Thu, 26 Nov 2026 12:00:00 GMT", [0.5]), (None, [0.5])],
)
def test_client_waits_for_retry_after_of_429(slept: list[float], asked: str | None, pauses: list[float]) -> None:
    """6,000 calls in half of a minute are followed by half a minute in which every call is refused."""
    many = httpx2.Response(429, json={"detail": "Too many."}, headers={} if asked is None else {"retry-after": asked})
    replies = iter([many, LIST])
    with asking(lambda _request: next(replies)) as winnow:
        assert winnow.projects() == []
    assert slept == pauses


def test_validation_error_is_raised_without_retry(slept: list[float]) -> None:
    with (
        asking(lambda _request: httpx2.Response(422, json={"detail": "It does not fit."})) as winnow,
        pytest.raises(WinnowError, match="It does not fit"),
    ):
        winnow.projects()
    assert slept == []


@pytest.mark.parametrize("url", ["", "127.0.0.1:8501", "winnow.example.org", "ftp://winnow.example.org"])
def test_invalid_url_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="begins with http:// or https://"):
        Winnow(url, "token")


@pytest.mark.parametrize("token", ["", " ", "winnow_a\nwinnow_b", "winnow_a b", "winnow_\xe4", "winnow_\0"])
def test_invalid_token_is_refused_without_echo(token: str) -> None:
    with pytest.raises(ValueError, match="A token is one word") as said:
        Winnow("http://127.0.0.1", token)
    assert "winnow_" not in str(said.value)


def test_token_from_file_and_address_with_slash_work() -> None:
    heard: list[httpx2.Request] = []

    def hear(request: httpx2.Request) -> httpx2.Response:
        heard.append(request)
        return LIST

    with Winnow(" http://127.0.0.1/there/\n", "winnow_a\n", transport=httpx2.MockTransport(hear)) as winnow:
        winnow.projects()
    assert heard[0].headers["authorization"] == "Bearer winnow_a"
    assert str(heard[0].url) == "http://127.0.0.1/there/api/v1/projects"


@pytest.fixture
def project() -> WinnowProject:
    """A project on a server that must not be called."""

    def fail(request: httpx2.Request) -> httpx2.Response:
        raise AssertionError(request.url)

    return asking(fail).project(1)


def test_string_instead_of_list_of_labels_is_refused(project: WinnowProject) -> None:
    """For classes 1, 2 and 12 "not" of "12" would rule out the first two."""
    question = WinnowQuestion("t", "s", 0, "0", None, {}, [], None, None, None, [], ["not"], "")
    with pytest.raises(TypeError, match=r"Fix: \['12'\]"):
        project.answer(question, "not", "12")


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_non_finite_score_is_refused_before_any_row_is_sent(project: WinnowProject, score: float) -> None:
    rows = itertools.chain(((row, {"ant": 1.0}) for row in range(10_000)), [(10_000, {"ant": score})])
    with pytest.raises(ValueError, match=f"score of 'ant' for row 10000 is {score}"):
        project.predict(dict(rows), "net")


# A project from a file, without a browser


RECIPES = "dish,guesses,about\n" + "".join(
    f"d{k},{'indian; french' if k % 3 else 'french; thai'},{'ghee and lentils' if k % 2 else 'butter and cream'} {k}\n"
    for k in range(40)
)


@ONE_KIND
def test_project_is_read_from_file_and_created_once(winnow: Winnow, tmp_path: Path) -> None:
    file = tmp_path / "dishes.csv"
    file.write_text(RECIPES)
    found = winnow.read(file)
    assert found["classes"] == ["french", "indian", "thai"]
    assert found["roles"]["candidates"] == "guesses"
    before = len(winnow.projects())
    project = winnow.create(
        file, "dishes", roles={"text": "about"}, settings={"strategy": "random"}, description="Eat."
    )
    made = project.summary()
    assert (made["name"], made["description"], made["rows"], made["classes"]) == ("dishes", "Eat.", 40, 3)
    assert next(project.rows())["text"] == "butter and cream 0"
    assert project.next_question() is not None
    with pytest.raises(WinnowError, match="dishes") as refused:
        winnow.create(file, "dishes")
    assert refused.value.status == 409
    assert len(winnow.projects()) == before + 1


@ONE_KIND
def test_further_questions_are_made_and_linked(winnow: Winnow, tmp_path: Path) -> None:
    file = tmp_path / "birds.csv"
    two_labels_frame().to_csv(file, index=False)
    found = winnow.read(file, roles={"candidates": "species"}, also=["behaviour"])
    assert any(note.startswith("Further question 'behaviour': Read as CSV: 30 rows") for note in found["notes"])
    project = winnow.create(file, "birds", roles={"candidates": "species"}, also=["behaviour"])
    (other,) = project.further()
    assert other["name"] == "birds: behaviour"
    assert winnow.project(other["id"]).summary()["classes"] == 2
    assert project.set_further() == []
    assert project.set_further(other["id"]) == [other]
    with pytest.raises(WinnowError, match="cannot follow itself") as refused:
        project.set_further(project.number)
    assert refused.value.status == 422


REFUSED_PROJECTS = (
    ({"roles": {"colour": "about"}}, "Roles have no 'colour'"),
    ({"roles": {"text": "nothing"}}, "nothing"),
    ({"roles": {"text": 3}}, "string or null"),
    ({"roles": "[1]"}, "not an object"),
    ({"roles": "{"}, "it is not JSON"),
    ({"settings": {"strategy": "magic"}}, "magic"),
    ({"settings": {"strateg": "random"}}, "strateg"),
    ({"upload": "aa"}, "no such upload"),
)


@ONE_KIND
def test_refused_project_is_explained_and_not_created(winnow: Winnow, tmp_path: Path) -> None:
    for how, words in REFUSED_PROJECTS:
        file = tmp_path / "dishes.csv"
        file.write_text(RECIPES)
        before = len(winnow.projects())
        with pytest.raises(WinnowError, match=words) as refused:
            winnow.create(file, "dishes", **how)
        assert refused.value.status in (404, 422)
        assert len(winnow.projects()) == before


@ONE_KIND
def test_doubt_stops_project_until_it_is_accepted(winnow: Winnow) -> None:
    file = path_of("g15_mixed_sep.csv")
    stops = RIGHT[file.name].stops
    assert stops
    with pytest.raises(WinnowError, match=f"accept {stops}"):
        winnow.create(file, "birds")
    assert winnow.create(file, "birds", accept=[stops]).summary()["rows"] == RIGHT[file.name].count


@ONE_KIND
def test_file_larger_than_a_body_is_uploaded(winnow: Winnow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("web.api.calls.MOST", 1_000)
    file = tmp_path / "dishes.csv"
    file.write_text(RECIPES)
    assert len(RECIPES) > 1_000
    with pytest.raises(WinnowError, match="at most 1,000 bytes"):
        winnow.ask("POST", "/readings", content=RECIPES.encode())
    assert winnow.read(file)["rows"] == 40


@ONE_KIND
def test_stalled_upload_is_refused(winnow: Winnow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def silent(*_: object) -> None:
        raise TimeoutError

    monkeypatch.setattr("web.api.files.take_in", silent)
    file = tmp_path / "dishes.csv"
    file.write_text(RECIPES)
    with pytest.raises(WinnowError, match="was incomplete") as refused:
        winnow.read(file)
    assert refused.value.status == 408
