"""Answers from programs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from httpx import Response
from pydantic import ValidationError
from starlette.testclient import TestClient

from plcore import LearnerSettings
from plcore.tables import ColumnVectors, directions_of
from tests.plcore.tables.encoders.small_catalogue import small_catalogue, words_entry
from tests.web.api.conftest import KINDS, program, somebody_with
from tests.workflow.encoder_world import words_encoder
from tests.workflow.text_world import text_project
from tests.workflow.world import log, small_project, small_table
from web.api import sent
from web.api import sent as bodies
from web.api.made import make_api
from workflow.answering import loop, turn
from workflow.exporting import for_programs
from workflow.importing import encoding, encoding_requests, more_rows
from workflow.models.encoders import installed
from workflow.people import audited, members, team
from workflow.people.audit import EventKind
from workflow.people.audited import EventFilter
from workflow.projects import classes, managing
from workflow.saving import NotSaved
from workflow.seat import Seat
from workflow.server.home import Home

# Questions, answers and more rows by programs: stored exactly once, or refused


def ask(api: TestClient, seat: Seat) -> Any:
    answer = api.post(f"/projects/{seat.project_id}/question")
    assert answer.status_code == 200, answer.text
    return answer.json()["question"]


def said_of(question: Any, **more: Any) -> dict[str, Any]:
    """An answer that fits the question, whatever the project's kind."""
    first = [question["choices"][0]["label"]]
    kind = next(one for one in ("is", "labels", "yes") if one in question["answers"])
    fits = {"kind": kind, "labels": [] if kind == "yes" else first}
    return {"token": question["token"], "shown": question["shown"], **fits, **more}


def send(api: TestClient, seat: Seat, said: dict[str, Any]) -> Response:
    return api.post(f"/projects/{seat.project_id}/answers", json=said)


def test_question_matches_page(api: TestClient, seat: Seat) -> None:
    question, shown = ask(api, seat), loop.next_question(seat)
    assert (question["token"], question["shown"]) == (shown.token, shown.shown)
    assert (question["row"], question["row_id"], question["why"]) == (shown.view.row, shown.view.row_id, shown.why)
    assert ask(api, seat) == question, "asked again it is the same"
    assert set(question["answers"]) > {"unsure", "skip", "bad"}
    lines = shown.candidates if hasattr(shown, "candidates") else shown.lines
    assert [one["label"] for one in question["choices"]] == [one.label for one in lines]
    assert not {"strategy", "score", "predicted"} & set(question), "they would tell the blind checks"


def test_answer_is_entry_and_next_question_another(api: TestClient, seat: Seat) -> None:
    question = ask(api, seat)
    answer = send(api, seat, said_of(question, note="by the notebook", flagged=True))
    assert answer.status_code == 200, answer.text
    stored = log(seat.home, seat.project_id or 0)
    last = stored[-1]
    assert answer.json() == {
        "seq": last.seq,
        "kind": last.kind,
        "row": question["row"],
        "row_id": question["row_id"],
        "labels": list(last.labels),
    }
    assert (last.person_id, last.note, last.flagged) == (seat.person_id, "by the notebook", True)
    assert ask(api, seat)["token"] != question["token"]


def test_the_same_answer_again_gets_the_same_reply_and_stores_nothing(api: TestClient, seat: Seat) -> None:
    said = said_of(ask(api, seat))
    first = send(api, seat, said)
    entries = log(seat.home, seat.project_id or 0)
    again = send(api, seat, said)
    assert (first.status_code, again.status_code) == (200, 200)
    assert first.content == again.content
    assert log(seat.home, seat.project_id or 0) == entries


def test_another_answer_to_the_same_question_is_refused(api: TestClient, seat: Seat) -> None:
    said = said_of(ask(api, seat))
    stored = send(api, seat, said).json()
    entries = log(seat.home, seat.project_id or 0)
    refused = send(api, seat, said | {"kind": "unsure", "labels": []})
    assert refused.status_code == 409
    assert f"answered already, as entry {stored['seq']}" in refused.json()["detail"]
    assert log(seat.home, seat.project_id or 0) == entries


@pytest.mark.parametrize("kind", KINDS)
def test_stored_data_as_another_kind_is_distinguished_too(server: TestClient, home: Home, kind: str) -> None:
    owner = team.ensure_owner(home).id
    more = {} if kind == "one_label" else {"question": "instance"}
    seat = Seat(home, owner, KINDS[kind](home, owner, **more))
    api = program(server, seat)
    question = ask(api, seat)
    one, other, *_ = [choice["label"] for choice in question["choices"]]
    said = said_of(question, kind="none" if kind == "one_label" else "labels", labels=[one])
    stored = send(api, seat, said)
    assert stored.status_code == 200, stored.text
    entries = log(home, seat.project_id or 0)
    assert send(api, seat, said).content == stored.content
    for another in ([], [other], [one, other][kind == "one_label" :]):
        assert send(api, seat, said | {"labels": another}).status_code == 409, another
    assert log(home, seat.project_id or 0) == entries


def test_answer_sent_again_may_name_class_as_its_question_did(server: TestClient, home: Home) -> None:
    """The class was renamed after the question was fetched, and so before the answer was stored."""
    owner = team.ensure_owner(home).id
    seat = Seat(home, owner, KINDS["one_label"](home, owner))
    api = program(server, seat)
    question = ask(api, seat)
    said = said_of(question)
    (label,) = said["labels"]
    classes.change_classes(seat, 0, "rename", [label, "gnu"])
    stored = send(api, seat, said)
    assert (stored.status_code, stored.json()["labels"]) == (200, ["gnu"])
    entries = log(home, seat.project_id or 0)
    for again in ([label], ["gnu"]):
        assert send(api, seat, said | {"labels": again}).content == stored.content
    classes.change_classes(seat, 1, "rename", ["gnu", "yak"])
    assert send(api, seat, said).content == stored.content
    for other in (question["choices"][1]["label"], "nobody"):
        assert send(api, seat, said | {"labels": [other]}).status_code == 409
    assert len(log(home, seat.project_id or 0)) == len(entries) + 1


def put(api: TestClient, seat: Seat, row: int, **said: Any) -> Response:
    return api.put(f"/projects/{seat.project_id}/rows/{row}/answer", json=said)


def open_rows(seat: Seat) -> list[int]:
    with seat.learner() as opened:
        return [row for row in range(opened.learner.table.n_rows) if opened.learner.may_ask(row, "1")]


def test_row_is_answered_once_by_its_key(api: TestClient, seat: Seat) -> None:
    asked = ask(api, seat)
    row, other = [one for one in open_rows(seat) if one != asked["row"]][:2]
    said = {"key": "may.is", "kind": "bad", "note": "blurred", "flagged": True}
    first = put(api, seat, row, **said)
    assert (first.status_code, first.json()["row"], first.json()["kind"]) == (200, row, "bad"), first.text
    (entry,) = log(seat.home, seat.project_id or 0)
    assert (entry.row, entry.person_id, entry.note, entry.flagged) == (row, seat.person_id, "blurred", True)
    assert (entry.seconds, entry.asked) == (None, None), "no one knows what was looked at"
    assert put(api, seat, row, **said).content == first.content
    for at, another in ((other, {}), (row, {"kind": "unsure"}), (row, {"note": None}), (row, {"flagged": False})):
        refused = put(api, seat, at, **(said | another))
        assert refused.status_code == 409, another
        assert "The key 'may.is' was used already, for entry 1: bad about row" in refused.json()["detail"]
    assert put(api, seat, row, **(said | {"key": "june"})).status_code == 409, "it is not open any more"
    assert put(api, seat, 10_000, **said, label=None).status_code == 409
    assert put(api, seat, 10_000, **(said | {"key": "july"})).status_code == 422
    assert put(api, seat, other, key="august", kind="perhaps").status_code == 422
    assert log(seat.home, seat.project_id or 0) == [entry]
    assert ask(api, seat)["token"] == asked["token"], "the question before them stays"


@pytest.mark.parametrize(("name", "kinds"), [("one_label", ("is", "none")), ("label_vectors", ("labels", "yes"))])
def test_row_takes_the_answers_of_its_kind_of_project(
    server: TestClient, home: Home, name: str, kinds: tuple[str, str]
) -> None:
    owner = team.ensure_owner(home).id
    seat = Seat(home, owner, KINDS[name](home, owner))
    api = program(server, seat)
    row, other = open_rows(seat)[:2]
    with seat.learner() as opened:
        learner, label = opened.learner, None
        mine = list(learner.classes[1:2])
        if name == "label_vectors":
            label = next(one for one in learner.classes if learner.may_ask(other, str(owner), one))
        else:
            mine = list(learner.state(row).candidates[:1])
    assert put(api, seat, other, key="2", kind="skip", label="nobody").status_code in (409, 422)
    for at, key, said in (
        (row, "1", {"kind": kinds[0], "labels": mine}),
        (other, "2", {"kind": kinds[1], "label": label}),
    ):
        first = put(api, seat, at, key=key, **said)
        assert first.status_code == 200, first.text
        assert put(api, seat, at, key=key, **said).content == first.content
    assert put(api, seat, row, key="1", kind=kinds[0]).status_code == 409


def test_batch_of_answers_has_outcome_for_each(api: TestClient, seat: Seat) -> None:
    rows = open_rows(seat)[:3]
    answers: list[dict[str, Any]] = [{"row": row, "key": str(row), "kind": "bad"} for row in rows]
    answers[1:1] = [answers[0] | {"kind": "unsure"}, answers[0] | {"key": "x"}, answers[0] | {"key": "y", "row": 10**6}]
    path = f"/projects/{seat.project_id}/answers/batch"
    first = api.post(path, json={"answers": answers})
    assert first.status_code == 200, first.text
    outcomes = first.json()["outcomes"]
    assert [one["status"] for one in outcomes] == [200, 409, 409, 422, 200, 200]
    assert all((one["answer"] is None) == bool(one["detail"]) for one in outcomes)
    assert outcomes[0]["answer"] == put(api, seat, rows[0], key=str(rows[0]), kind="bad").json()
    entries = log(seat.home, seat.project_id or 0)
    assert [one.row for one in entries] == rows
    assert api.post(path, json={"answers": answers}).content == first.content
    assert api.post(path, json={"answers": [answers[0]] * 501}).status_code == 422
    assert log(seat.home, seat.project_id or 0) == entries


def test_the_question_before_a_person_is_answered_by_its_row_too(api: TestClient, seat: Seat) -> None:
    question = ask(api, seat)
    said = {name: value for name, value in said_of(question).items() if name != "token"}
    stored = put(api, seat, question["row"], **said, key="1", label=question["label"])
    assert stored.status_code == 200, stored.text
    (entry, *_) = log(seat.home, seat.project_id or 0)
    assert entry.seconds is not None
    assert ask(api, seat)["token"] != question["token"]
    assert send(api, seat, said_of(question)).status_code == 409


def test_blind_checks_and_rows_of_others_are_not_chosen(server: TestClient, home: Home) -> None:
    owner = team.ensure_owner(home).id
    seat = Seat(home, owner, small_project(home, owner, control_share=0.5))
    api = program(server, seat)
    with seat.learner() as opened:
        check = int(np.flatnonzero(opened.learner.pool.control_rows)[0])
    assert put(api, seat, check, key="1", kind="skip").status_code == 409
    eve = somebody_with(seat, "annotator")
    hers = ask(program(server, eve), eve)["row"]
    assert put(api, seat, hers, key="2", kind="skip").status_code == 409
    assert log(home, seat.project_id or 0) == []


def lease(api: TestClient, seat: Seat, count: int) -> list[Any]:
    answer = api.post(f"/projects/{seat.project_id}/questions", params={"count": count})
    assert answer.status_code == 200, answer.text
    found: list[Any] = answer.json()["questions"]
    return found


def test_leases_cover_different_rows_until_answered(api: TestClient, seat: Seat) -> None:
    before = ask(api, seat)
    first, second = lease(api, seat, 3), lease(api, seat, 2)
    places = [(one["row"], one["label"]) for one in (before, *first, *second)]
    assert len(places) == len(set(places)) == 6
    assert ask(api, seat)["token"] == before["token"]
    assert send(api, seat, said_of(first[0])).status_code == 200
    assert send(api, seat, said_of(first[0])).status_code == 200, "sent again it is stored once"
    said = {name: value for name, value in said_of(second[0]).items() if name != "token"}
    by_row = put(api, seat, second[0]["row"], **said, key="1", label=second[0]["label"])
    assert by_row.status_code == 200, by_row.text
    entries = log(seat.home, seat.project_id or 0)
    assert {one.row for one in entries} == {first[0]["row"], second[0]["row"]}
    assert all(one.seconds is not None for one in entries)
    assert send(api, seat, said_of(second[0])).status_code == 409
    rest = [(one["row"], one["label"]) for one in lease(api, seat, 100)]
    assert len(rest) == len(set(rest))
    assert not set(rest) & set(places)


def test_expired_lease_goes_to_others(
    server: TestClient, api: TestClient, seat: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turn, "LEASED_FOR", timedelta(seconds=-1))
    (over,) = lease(api, seat, 1)
    monkeypatch.undo()
    assert lease(api, seat, 1)[0]["row"] == over["row"], "the best one once more"
    eve = somebody_with(seat, "annotator")
    hers = program(server, eve)
    assert (ask(hers, eve)["row"], ask(hers, eve)["label"]) != (over["row"], over["label"])
    questions_of = {(one["row"], one["label"]) for one in lease(hers, eve, 100)}
    assert (over["row"], over["label"]) not in questions_of


@pytest.mark.slow
def test_twenty_programs_of_one_person_answer_all_rows_once(home: Home) -> None:
    owner = team.ensure_owner(home).id
    settings = LearnerSettings(n_neighbors=4)
    seat = Seat(home, owner, managing.create_project(Seat(home, owner), "many", small_table(400), settings))
    rows = set(open_rows(seat))

    def work(_number: int) -> None:
        while questions := for_programs.questions_for(seat, 2):
            for question in questions:
                assert not loop.submit_answer(seat, str(question["token"]), "bad").repeated

    with ThreadPoolExecutor(20) as programs:
        list(programs.map(work, range(20)))
    stored = [one.row for one in log(home, seat.project_id or 0)]
    assert len(stored) == len(set(stored))
    assert set(stored) == rows
    assert len(rows) > 200


def doubled(api: TestClient, seat: Seat, times: int) -> None:
    """This many answers, each sent by two threads at once: one entry each, and both get the same reply."""
    with ThreadPoolExecutor(2) as both:
        for number in range(times):
            said = {"token": ask(api, seat)["token"], "kind": "skip", "note": str(number)}
            one, other = both.map(lambda _, said=said: send(api, seat, said), range(2))
            assert (one.status_code, other.status_code) == (200, 200), (one.text, other.text)
            assert one.content == other.content
    stored = log(seat.home, seat.project_id or 0)
    assert [entry.note for entry in stored] == [str(number) for number in range(times)]
    assert len({entry.token for entry in stored}) == times


def test_doubled_answers_are_stored_once(api: TestClient, seat: Seat) -> None:
    doubled(api, seat, 25)


@pytest.mark.proof
@pytest.mark.parametrize("kind", KINDS)
def test_a_thousand_doubled_answers_are_stored_once(
    server: TestClient, home: Home, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    owner = team.ensure_owner(home).id
    seat = Seat(home, owner, KINDS[kind](home, owner))
    monkeypatch.setattr(type(home.attempts), "may_call", lambda _self, _person: True)
    doubled(program(server, seat), seat, 1_000)


UNFIT = (
    ({"token": "x"}, 409),
    ({"kind": "withdraw"}, 422),
    ({"kind": "model"}, 422),
    ({"labels": ["nobody"]}, 422),
    ({"labels": "ant"}, 422),
    ({"labels": [1]}, 422),
    ({"token": None}, 422),
    ({"more": 1}, 422),
    ({"note": "x" * 5_000}, 422),
    ({"flagged": "yes"}, 422),
)


def test_invalid_input_is_reported_as_problem(api: TestClient, seat: Seat) -> None:
    for wrong, status in UNFIT:
        refused = send(api, seat, said_of(ask(api, seat)) | wrong)
        assert (refused.status_code, refused.headers["content-type"]) == (status, "application/problem+json"), wrong
        problem = refused.json()
        assert (problem["type"], problem["status"]) == ("about:blank", status)
        assert problem["detail"]
        assert log(seat.home, seat.project_id or 0) == []


def test_question_of_another_person_cannot_be_answered(server: TestClient, api: TestClient, seat: Seat) -> None:
    said = said_of(ask(api, seat))
    eve = program(server, somebody_with(seat, "annotator"))
    assert send(eve, seat, said).status_code == 409
    assert log(seat.home, seat.project_id or 0) == []


def test_store_that_fails_is_reported_and_may_be_tried_again(
    api: TestClient, seat: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise NotSaved("The disk is full.")

    said = said_of(ask(api, seat))
    with monkeypatch.context() as failing:
        failing.setattr(sent.loop, "submit_answer", fail)
        refused = send(api, seat, said)
    assert (refused.status_code, refused.json()["detail"]) == (503, "The disk is full.")
    assert refused.headers["retry-after"]
    assert send(api, seat, said).status_code == 200


def test_finished_project_has_no_question(api: TestClient, seat: Seat) -> None:
    for _ in range(200):
        question = ask(api, seat)
        if question is None:
            break
        assert send(api, seat, {"token": question["token"], "kind": "bad", "labels": []}).status_code == 200
    assert ask(api, seat) is None


def test_rows_are_all_added_once_or_none(api: TestClient, seat: Seat) -> None:
    at = f"/projects/{seat.project_id}"
    with seat.learner() as opened:
        cells = opened.learner.table.cells
    total, new = len(cells), [dict(cells.iloc[0]) | {cells.columns[0]: f"new {place}"} for place in range(3)]
    added = api.post(f"{at}/rows", json={"rows": new})
    nothing: dict[str, list[str]] = {"known": [], "new_classes": [], "dropped": [], "empty": [], "notes": []}
    reading = added.json().pop("reading")
    assert reading.startswith(f"Read as the project's table: {total + 3} rows, ")
    told = {"rows": total + 3, "added": 3, **nothing, "reading": reading, "doubts": []}
    assert (added.status_code, added.json()) == (201, told), added.text
    again = api.post(f"{at}/rows", json={"rows": new})
    assert again.status_code == 422, again.text
    broken = api.post(f"{at}/rows", json={"rows": [{"nobody": "x"}]})
    assert broken.status_code == 422
    assert "Fix:" in broken.json()["detail"]
    assert api.get(f"{at}/rows?start={total}").json()["total"] == total + 3
    assert [entry.kind for entry in log(seat.home, seat.project_id or 0)].count("rows") == 1


def test_predictions_are_all_stored_once_or_none(server: TestClient, home: Home) -> None:
    owner = team.ensure_owner(home).id
    seat = Seat(home, owner, KINDS["one_label"](home, owner))
    api, at = program(server, seat), f"/projects/{seat.project_id}/predictions"
    said: dict[str, Any] = {
        "model": "net",
        "key": "k1",
        "predictions": [{"row": 1, "scores": {"ant": 0.7, "bee": 3}}, {"row_id": "r0", "scores": {"bee": 1}}],
    }
    first = api.post(at, json=said)
    assert (first.status_code, first.json()) == (200, {"seq": 1, "rows": 2, "weighed": 1, "silent": 1, "outside": 1}), (
        first.text
    )
    assert api.post(at, json=said).content == first.content
    for wrong, status in (
        ({"predictions": [*said["predictions"], {"row": 999, "scores": {}}]}, 422),
        ({"predictions": [{"row": 1, "scores": {"nobody": 1}}]}, 422),
        ({"predictions": [{"row": 1, "scores": {"ant": -1}}]}, 422),
        ({"predictions": said["predictions"] * 5_001}, 422),
        ({"model": " "}, 422),
    ):
        refused = api.post(at, json=said | {"key": "k2"} | wrong)
        assert (refused.status_code, refused.headers["content-type"]) == (status, "application/problem+json")
    assert [entry.kind for entry in log(home, seat.project_id or 0)] == ["rows"]
    eve = program(server, somebody_with(seat, "reviewer"))
    assert eve.post(at, json=said | {"key": "k3"}).status_code == 403


def test_back_to_words_removes_vectors_once(server: TestClient, home: Home) -> None:
    seat = Seat(home, team.ensure_owner(home).id, KINDS["one_label"](home, team.ensure_owner(home).id))
    api, at = program(server, seat), f"/projects/{seat.project_id}/back-to-words"
    refused = api.post(at)
    assert (refused.status_code, "no vectors" in refused.json()["detail"]) == (422, True)
    with seat.reading() as reading:
        table_hash, n_rows = reading.project.table_hash, reading.project.n_rows
    values = directions_of(np.random.default_rng(0).normal(size=(n_rows, 2)))
    vectors = ColumnVectors("id", "words", "5a" * 32, values)
    more_rows.add_rows(seat, more_rows.read_encoded(seat, table_hash, vectors))
    assert program(server, somebody_with(seat, "reviewer")).post(at).status_code == 403
    assert [one.column for one in encoding_requests.encoders(seat).columns] == ["id"]
    done = api.post(at)
    assert (done.status_code, done.content) == (204, b"")
    assert encoding_requests.encoders(seat).columns == ()
    assert api.post(at).status_code == 422


def test_encoder_is_listed_asked_for_and_cancelled(
    server: TestClient, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited = words_entry(licence="CC-BY-NC-SA-4.0", commercial=False)
    made = small_catalogue(tmp_path / "catalogue", limited=limited, words=words_entry())
    monkeypatch.setattr(installed, "read_catalogue", lambda: made)
    owner = team.ensure_owner(home).id
    seat = Seat(home, owner, text_project(home, owner))
    api, at = program(server, seat), f"/projects/{seat.project_id}/encoders"
    found = api.get(at).json()
    assert [(one["key"], one["state"], one["column"]) for one in found["encoders"]] == [
        ("limited", "download", "text"),
        ("words", "download", "text"),
    ]
    assert (found["encoders"][0]["commercial"], found["running"], found["failed"]) == (False, None, None)
    for wrong, words in (("other", "No encoder is called"), ("limited", "may not be used commercially")):
        refused = api.post(at, json={"encoder": wrong})
        assert (refused.status_code, words in refused.json()["detail"]) == (422, True)
    reviewer = program(server, somebody_with(seat, "reviewer"))
    assert [reviewer.get(at).status_code, reviewer.post(at, json={"encoder": "words"}).status_code] == [403, 403]
    assert api.post(at, json={"encoder": "limited", "non_commercial": True}).status_code == 202
    running = {"encoder": "limited", "begun": False, "downloading": True, "done": 0, "total": 0, "minutes": None}
    assert api.get(at).json()["running"] == running
    assert api.post(f"{at}/cancel").status_code == 204
    assert (api.get(at).json()["running"], api.get(at).json()["cancelled"]) == (None, True)
    assert api.post(f"{at}/resume").status_code == 204
    assert api.get(at).json()["running"] == running


def test_encoders_of_server_are_listed_and_removed(
    server: TestClient, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = small_catalogue(tmp_path / "catalogue", words=words_entry(), other=words_entry())
    monkeypatch.setattr(installed, "read_catalogue", lambda: made)
    owner = team.ensure_owner(home).id
    seat = Seat(home, owner, text_project(home, owner))
    api, reviewer = program(server, seat), program(server, somebody_with(seat, "reviewer"))
    api.post(f"/projects/{seat.project_id}/encoders", json={"encoder": "words"})
    folder = home.encoders_dir / words_encoder(home)
    words_encoder(home, "mine")
    (folder / encoding.SOURCE).write_text("{}")
    found = api.get("/encoders").json()["encoders"]
    assert [(one["key"], one["state"], one["licence"], one["asked_by"]) for one in found] == [
        ("words", "installed", "MIT", "owner"),
        ("other", "can be downloaded", "MIT", None),
        ("mine", "your own", "", None),
    ]
    assert (reviewer.get("/encoders").status_code, reviewer.delete("/encoders/words").status_code) == (403, 403)
    for name, words in (("mine", "is your own encoder"), ("gone", "No encoder is called 'gone'")):
        refused = api.delete(f"/encoders/{name}")
        assert (refused.status_code, words in refused.json()["detail"]) == (422, True)
    assert api.delete("/encoders/words").status_code == 204
    assert encoding.names(home) == ("mine",)
    (removed,) = audited.audit_lines(Seat(home, owner), EventFilter(what=EventKind.ENCODER_REMOVED))
    assert "words" in str(removed)


def test_label_vectors_take_no_predictions(server: TestClient, home: Home) -> None:
    owner = team.ensure_owner(home).id
    seat = Seat(home, owner, KINDS["label_vectors"](home, owner))
    said = {"model": "net", "key": "k1", "predictions": [{"row": 1, "scores": {}}]}
    refused = program(server, seat).post(f"/projects/{seat.project_id}/predictions", json=said)
    assert refused.status_code == 422
    assert "label vectors" in refused.json()["detail"]


def test_rights_that_end_end_at_next_call(server: TestClient, seat: Seat) -> None:
    eve = somebody_with(seat, "annotator")
    api = program(server, eve)
    said = said_of(ask(api, seat))
    members.give_role(seat, [eve.person_id], "viewer")
    assert send(api, seat, said).status_code == 403
    members.remove_member(seat, eve.person_id)
    assert send(api, seat, said).status_code == 404
    assert log(seat.home, seat.project_id or 0) == []


# Bodies are refused at the first invalid part, and types are not converted


PREDICTION = {"row": 1, "scores": {"ant": 0.5, "bee": 2}}
PREDICTIONS: dict[str, Any] = {"model": "net", "key": "k", "predictions": [PREDICTION]}


def test_body_is_not_mistaken_for_another_type() -> None:
    for body in (bodies.AnswerBody, bodies.RowsBody, bodies.PredictionsBody, bodies.SentPrediction):
        assert body.model_json_schema()["additionalProperties"] is False
    with pytest.raises(ValueError, match="flagged"):
        bodies.AnswerBody.model_validate({"token": "t", "kind": "is", "flagged": 1})


@pytest.mark.parametrize(
    ("body", "sent", "words"),
    [
        (bodies.RowsBody, {"rows": [{"a": "1"}, {"a": 1, "b": 2}, {"a": 3}]}, "cell 'a' of row 1 must be text"),
        (bodies.RowsBody, {"rows": [{"a": "x\0"}, {"b": "\0"}]}, "Row 0: It cannot be stored"),
        (bodies.RowsBody, {"rows": [[], []]}, "Row 0 must be an object"),
        (bodies.AnswerBody, {"token": "t", "kind": "is", "a": 1, "b": 2}, "There is no 'a' here"),
    ],
)
def test_one_fault_of_a_million_is_enough(body: type[bodies.Sent], sent: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words) as refused:
        body.model_validate(sent)
    assert refused.value.error_count() == 1


def test_only_invalid_prediction_is_named(subtests: pytest.Subtests) -> None:
    for wrong, words in [
        ([], "Prediction 1 must be an object"),
        ({"row": 1}, "Prediction 1 must be an object"),
        ({"row": 1, "scores": [["ant", 1]]}, "Prediction 1 must be an object"),
        ({"row": "1", "scores": {}}, "row of prediction 1 is '1'"),
        ({"row": True, "scores": {}}, "row of prediction 1 is True"),
        ({"row": -1, "scores": {}}, "row of prediction 1 is -1"),
        ({"row_id": 7, "scores": {}}, "row_id of prediction 1 is 7"),
        ({"row": 1, "scores": {}, "more": 1}, "There is no 'more' in prediction 1"),
        ({"row": 1, "scores": {"ant": -1}}, "score -1 of 'ant' in prediction 1 is not a number of 0 or more"),
        ({"row": 1, "scores": {"ant": "1"}}, "score '1' of 'ant'"),
        ({"row": 1, "scores": {"ant": None}}, "score None of 'ant'"),
        ({"row": 1, "scores": {"ant": float("nan")}}, "score nan of 'ant'"),
        (
            {"row": 1, "scores": {"ant": 1e308}},
            r"score 1e\+308 of 'ant' in prediction 1 is more than 1e\+100. Fix: Div",
        ),
        ({"row": 1, "scores": {"ant": float("inf")}}, "score inf of 'ant' in prediction 1 is more than"),
        ({"row": 1, "scores": {"ant": 10**101}}, "score of many digits of 'ant' in prediction 1 is more than"),
        ({"row": 1, "scores": {"a\0": 1}}, "Prediction 1: It cannot be stored"),
    ]:
        with subtests.test(str(wrong)):
            with pytest.raises(ValidationError, match=words) as refused:
                bodies.PredictionsBody.model_validate(PREDICTIONS | {"predictions": [PREDICTION, wrong, wrong]})
            assert refused.value.error_count() == 1


def test_example_of_document_is_body() -> None:
    schema = make_api().openapi()["components"]["schemas"]["PredictionsBody"]
    (example,) = schema["examples"]
    assert len(bodies.PredictionsBody.model_validate(example).predictions) == 2
    assert bodies.PredictionsBody.model_validate(PREDICTIONS).predictions[0].scores == {"ant": 0.5, "bee": 2}
    for wrong in ({"model": ""}, {"key": ""}, {"key": "k" * 101}, {"predictions": []}):
        with pytest.raises(ValidationError):
            bodies.PredictionsBody.model_validate(PREDICTIONS | wrong)
