"""Answers over HTTP."""

from __future__ import annotations

import asyncio
import dataclasses
import fcntl
import hashlib
import json
import logging
import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from httpx import Response
from sqlalchemy.exc import OperationalError
from starlette.testclient import TestClient
from streamlit import config
from streamlit.runtime.media_file_storage import MediaFileKind
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from pages.parts.one_label.card import told
from tests.present import present
from tests.web.conftest import BASE, COOKIE
from tests.workflow.alike_world import alike_project
from tests.workflow.answering.malformed import PRESS, malformed
from tests.workflow.four import four_class_project
from tests.workflow.two_questions import linked_projects
from tests.workflow.vector_world import vector_project
from tests.workflow.world import log
from web import lifespan, presses
from web.guard import PATH, NamedFiles
from web.server import MOST, answer_at_once
from workflow.access import NotAllowed, NotFound
from workflow.answering import batches, loop, press
from workflow.answering.loop import StaleQuestion
from workflow.answering.room import change_room, room_of
from workflow.people import goals, members, team
from workflow.projects import standing
from workflow.saving import NotSaved
from workflow.seat import Seat
from workflow.server.home import Home

# The route of presses: stored answers with their replies, and refusals without storing


HUGE = "9" * 9_000


@pytest.fixture
def seat(home: Home) -> Seat:
    """The owner at a project of four classes."""
    owner = team.ensure_owner(home).id
    return Seat(home, owner, four_class_project(home, owner))


@pytest.fixture
def signed_in(client: TestClient, seat: Seat) -> TestClient:
    """The owner's browser."""
    client.cookies.set(COOKIE, team.redeem_link(seat.home, team.make_start_link(seat.home)))
    return client


def send(client: TestClient, seat: Seat, **said: Any) -> Response:
    return client.post(f"/presses/{seat.project_id}", json=PRESS | said)


def entries(seat: Seat) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.kind, tuple(one.labels)) for one in log(seat.home, seat.project_id or 0)]


def test_answer_is_stored_and_returns_next_card(signed_in: TestClient, seat: Seat) -> None:
    question = loop.next_question(seat)
    answer = send(
        signed_in, seat, token=question.token, labels=["ant"], note="seen", flagged=True, zone="Europe/Berlin"
    )
    assert answer.status_code == 200
    card, now = answer.json()["card"], standing.standing(seat)
    (stored,) = log(seat.home, seat.project_id or 0)
    assert (stored.kind, stored.labels, stored.note, stored.flagged) == ("is", ("ant",), "seen", True)
    drawn = json.loads(json.dumps(told(loop.next_question(seat), now, None)))
    assert {key: value for key, value in card.items() if key != "day"} == drawn
    assert (card["height"], card["saved"]["tone"], card["counts"]["answered"]) == (1, "good", 1)
    assert card["token"] != question.token
    assert answer.json()["together"] is False


def test_answers_about_label_vectors_are_stored(signed_in: TestClient, seat: Seat) -> None:
    there = seat.at(vector_project(seat.home, seat.person_id))
    for kind in ("yes", "no", "unsure", "skip"):
        question = loop.next_question(there)
        labels = [] if question.label is None else [question.label]
        answer = send(signed_in, there, token=question.token, kind=kind, labels=labels if kind in ("yes", "no") else [])
        assert answer.status_code in (200, 409), answer.text
        card = answer.json()["card"]
        assert (card["token"] != question.token) == (answer.status_code == 200)
        assert card["question"]["view"]
    assert log(seat.home, there.project_id or 0)


def test_undo_and_redo(signed_in: TestClient, seat: Seat) -> None:
    question = loop.next_question(seat)
    card = send(signed_in, seat, token=question.token, labels=["ant"]).json()["card"]
    back = send(signed_in, seat, kind="undo", token=card["token"], seq=card["undoable"]).json()["card"]
    assert (back["question"]["view"]["id"], back["undoable"]) == (question.view.row_id, None)
    again = send(signed_in, seat, kind="redo", token=back["token"], seq=back["redoable"]).json()["card"]
    assert again["token"] == card["token"]
    assert [kind for kind, _ in entries(seat)] == ["is", "withdraw", "is"]
    twice = send(signed_in, seat, kind="undo", token=card["token"], seq=1)
    assert twice.status_code == 409
    assert "already withdrawn" in twice.json()["card"]["saved"]["message"]


def test_answer_and_undo_lead_to_linked_project(signed_in: TestClient, seat: Seat) -> None:
    species, behaviour = linked_projects(seat.everywhere)
    lead, other = species.project_id, behaviour.project_id
    row = 0  # open in both
    question = present(loop.ask_next(species, row))
    labels = [question.choices[0]]
    answer = send(signed_in, species, token=question.token, labels=labels, lead=lead)
    assert (answer.status_code, answer.json()) == (200, {"card": None, "together": False, "go": other})
    again = send(signed_in, species, token=question.token, labels=labels, lead=lead, again=True)
    assert again.json()["go"] == other, "the reply was lost"
    undo = send(signed_in, behaviour, kind="undo", seq=1, at=lead, lead=lead)
    assert undo.json()["go"] == lead
    assert entries(species) == [("is", tuple(labels)), ("withdraw", ())]
    lost = send(signed_in, behaviour, kind="undo", seq=1, at=lead, lead=lead, again=True)
    assert (lost.status_code, lost.json()["go"]) == (200, lead)
    assert loop.next_question(species).view.row == row


def test_card_names_question_among_linked_projects(signed_in: TestClient, seat: Seat) -> None:
    species, _ = linked_projects(seat.everywhere)
    question = present(loop.ask_next(species, 2))  # given in the other project
    card = send(signed_in, species, token=question.token, labels=[question.choices[0]]).json()["card"]
    assert card["walk"] == {"lead": species.project_id, "words": "1 of 2: species", "undoAt": None}
    assert card["saved"]["message"].startswith("Saved: row r2 is ")
    for number, lead in enumerate((10**30, -1, 99, "1", True)):
        question = present(loop.ask_next(species, 5 + 3 * number))
        answer = send(signed_in, species, token=question.token, labels=[question.choices[0]], lead=lead)
        assert answer.status_code == 200, "a page of ours sends none of these"


def test_undo_of_batch_leads_to_its_page(signed_in: TestClient, seat: Seat) -> None:
    there = alike_project(seat.home, seat.person_id)
    batch = batches.next_batch(there)
    assert isinstance(batch, batches.ShownBatch)
    batches.confirm_batch(there, batch.token, set())
    seq = standing.standing(there).undoable
    assert send(signed_in, there, kind="undo", seq=seq).json() == {"card": None, "together": True}


def test_double_press_stores_one_entry(signed_in: TestClient, seat: Seat) -> None:
    question = loop.next_question(seat)
    with ThreadPoolExecutor(2) as both:
        answers = list(both.map(lambda _: send(signed_in, seat, token=question.token, labels=["ant"]), range(2)))
    assert sorted(one.status_code for one in answers) == [200, 409]
    assert entries(seat) == [("is", ("ant",))]
    refused = next(one for one in answers if one.status_code == 409).json()["card"]
    assert "was already answered (ant)" in refused["saved"]["message"]
    assert refused["token"] == loop.next_question(seat).token
    repeated = send(signed_in, seat, token=question.token, labels=["ant"], again=True)
    assert (repeated.status_code, repeated.json()["card"]["saved"]["tone"]) == (200, "good")
    assert entries(seat) == [("is", ("ant",))]


@pytest.mark.parametrize(("kind", "labels"), [("is", ["bee"]), ("skip", []), ("not", ["ant"])])
def test_repeated_press_with_other_answer_is_refused(
    signed_in: TestClient, seat: Seat, kind: str, labels: list[str]
) -> None:
    question = loop.next_question(seat)
    send(signed_in, seat, token=question.token, labels=["ant"])  # another tab
    again = send(signed_in, seat, token=question.token, kind=kind, labels=labels, note="mine", again=True)
    assert again.status_code == 409
    assert "was already answered (ant)" in again.json()["card"]["saved"]["message"]


def test_repeated_undo_succeeds(signed_in: TestClient, seat: Seat) -> None:
    card = send(signed_in, seat, token=loop.next_question(seat).token, labels=["ant"]).json()["card"]
    undo = {"kind": "undo", "token": card["token"], "seq": card["undoable"]}
    first = send(signed_in, seat, **undo)
    again = send(signed_in, seat, **undo, again=True)
    assert (again.status_code, again.json()["card"]["token"]) == (200, first.json()["card"]["token"])
    there = alike_project(seat.home, seat.person_id)
    batch = batches.next_batch(there)
    assert isinstance(batch, batches.ShownBatch)
    batches.confirm_batch(there, batch.token, set())
    undo = {"kind": "undo", "token": "", "seq": standing.standing(there).undoable}
    for more in ({}, {"again": True}):
        assert send(signed_in, there, **undo, **more).json() == {"card": None, "together": True}


def test_busy_project_does_not_block_presses_of_another(signed_in: TestClient, seat: Seat) -> None:
    other = seat.at(four_class_project(seat.home, seat.person_id, "five"))
    question = loop.next_question(other)
    waiting = int(presses.AT_ONCE.total_tokens) + 1
    with ThreadPoolExecutor(waiting) as people:
        with seat.alone():
            held = [people.submit(send, signed_in, seat, kind="skip") for _ in range(waiting)]
            while len(presses._lines) < 1:
                time.sleep(0.01)
            answer = send(signed_in, other, token=question.token, labels=["ant"])
            assert not any(one.done() for one in held)
        assert answer.status_code == 200
        assert {one.result().status_code for one in held} == {409}


def test_malformed_press_is_refused_with_unchanged_card(
    signed_in: TestClient, seat: Seat, caplog: pytest.LogCaptureFixture
) -> None:
    token = loop.next_question(seat).token
    fitting = PRESS | {"token": token}
    said: list[Any] = [one for _, one in malformed()][::3]
    said += [fitting | {"kind": kind} for kind in ("", "IS", "withdraw", "verdict", "pause", "confirm", "open")]
    said += [fitting | {"labels": labels} for labels in ([], ["eel"], ["ant", "ant"], [""], [HUGE])]
    said += [PRESS | {"token": other, "labels": ["ant"]} for other in ("", "x", "1.1.1.1", token + "0")]
    said += [PRESS | {"kind": "undo", "seq": seq} for seq in (0, 7, 2**31 - 1)]
    with caplog.at_level(logging.WARNING):
        for one in said:
            answer = signed_in.post(
                f"/presses/{seat.project_id}", content=json.dumps(one), headers={"content-type": presses.TYPE}
            )
            assert answer.status_code == 409, ascii(one)[:80]
            card = answer.json()["card"]
            assert card["saved"]["message"].startswith("Not saved: ")
            assert card["token"] == token
    assert not [one for one in caplog.records if one.levelno >= logging.ERROR or one.exc_info]
    assert entries(seat) == []


def test_unknown_fields_of_press_are_ignored(signed_in: TestClient, seat: Seat) -> None:
    for beside in ({"zone": "../etc/passwd"}, {"zone": [1]}, {"person": "1"}, {"person": True}, {"again": 1}):
        question = loop.next_question(seat)
        answer = send(signed_in, seat, token=question.token, kind="skip", **beside)
        assert answer.status_code == 200, beside


def test_body_that_is_not_a_press_is_refused(signed_in: TestClient, seat: Seat, subtests: pytest.Subtests) -> None:
    for body, kind, status in [
        (b"{", presses.TYPE, 400),
        (b"\xff", presses.TYPE, 400),
        (b"[" * 100_000, presses.TYPE, 400),
        (b"1" * 5_000, presses.TYPE, 400),
        (b"[" + b"[]," * presses.PARTS + b"[]]", presses.TYPE, 400),
        (b" " * (presses.MOST + 1), presses.TYPE, 413),
        (json.dumps(PRESS).encode(), "text/plain", 415),
        (json.dumps(PRESS).encode(), "application/x-www-form-urlencoded", 415),
        (json.dumps(PRESS).encode(), "application/json-seq", 415),
    ]:
        with subtests.test(f"{body[:40]!r} as {kind}"):
            answer = signed_in.post(f"/presses/{seat.project_id}", content=body, headers={"content-type": kind})
            assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (status, "text/plain")


def test_press_of_another_person_or_stranger_is_refused(signed_in: TestClient, seat: Seat) -> None:
    question = loop.next_question(seat)
    said = {"token": question.token, "labels": ["ant"]}
    nobody = Seat(seat.home, seat.person_id)
    ada = team.redeem_link(seat.home, team.make_link(nobody, "Ada"))
    owners = signed_in.cookies[COOKIE]
    signed_in.cookies.set(COOKIE, ada)
    members.share(nobody, "Ada", [seat.project_id or 0], "annotator")
    assert send(signed_in, seat, **said, person=seat.person_id).status_code == 401, "the page is the owner's"
    assert send(signed_in, seat, **said).status_code == 409, "the question is the owner's"
    signed_in.cookies.set(COOKIE, owners)
    for headers in ({"origin": "http://evil.example"}, {"sec-fetch-site": "cross-site"}):
        other = signed_in.post(f"/presses/{seat.project_id}", json=PRESS | said, headers=headers)
        assert (other.status_code, other.headers["content-type"].partition(";")[0]) == (403, "text/plain")
    assert entries(seat) == []
    own = signed_in.post(f"/presses/{seat.project_id}", json=PRESS | said, headers={"origin": BASE})
    assert own.status_code == 200


def test_incomplete_press_is_answered_408(signed_in: TestClient, seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(_request: object) -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.Event().wait()

    monkeypatch.setattr("starlette.requests.Request.stream", nothing)
    monkeypatch.setattr(presses, "SILENCE", 0.0)
    answer = send(signed_in, seat)
    assert (answer.status_code, answer.headers["connection"]) == (408, "close")


def test_unreadable_bodies_count_towards_rate_limit(
    signed_in: TestClient, seat: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[int] = []
    monkeypatch.setattr(
        type(seat.home.attempts), "may_press", lambda _self, person: bool(counted.append(person)) or True
    )
    for body in (b"{", b"[[]]"):
        signed_in.post(f"/presses/{seat.project_id}", content=body, headers={"content-type": presses.TYPE})
    assert counted == [seat.person_id] * 2


def test_too_many_presses_are_answered_429(signed_in: TestClient, seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    question = loop.next_question(seat)
    monkeypatch.setattr(type(seat.home.attempts), "may_press", lambda _self, person: person != seat.person_id)
    answer = send(signed_in, seat, token=question.token, labels=["ant"])
    assert (answer.status_code, "more presses within a minute" in answer.text) == (429, True)
    assert entries(seat) == []


@pytest.mark.parametrize("fault", [NotSaved("The disk is full."), OperationalError("", {}, Exception("locked"))])
def test_storage_failure_is_answered_503(
    signed_in: TestClient, seat: Seat, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise fault

    question = loop.next_question(seat)
    with monkeypatch.context() as failing:
        failing.setattr(press, "press", fail)
        answer = send(signed_in, seat, token=question.token, labels=["ant"])
    assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (503, "text/plain")
    assert "full" in answer.text or "Nothing was stored" in answer.text
    assert entries(seat) == []


def test_answer_is_stored_if_next_question_fails(
    signed_in: TestClient, seat: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = loop.next_question(seat)
    monkeypatch.setattr(press, "_next", lambda *_: None)
    answer = send(signed_in, seat, token=question.token, labels=["ant"])
    assert (answer.status_code, answer.json()) == (200, {"card": None, "together": False})
    assert entries(seat) == [("is", ("ant",))]
    twice = send(signed_in, seat, token=question.token, labels=["ant"])
    assert (twice.status_code, "already answered" in twice.text) == (409, True)


@pytest.mark.parametrize(
    "fault", [NotSaved("The disk is full."), StaleQuestion("In another tab."), NotAllowed("No."), NotFound("No.")]
)
def test_stored_answer_is_confirmed_if_next_card_fails(
    signed_in: TestClient, seat: Seat, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    def fail(*_: Any) -> None:
        raise fault

    card = send(signed_in, seat, token=loop.next_question(seat).token, labels=["ant"]).json()["card"]
    undo = {"kind": "undo", "token": card["token"], "seq": card["undoable"]}
    monkeypatch.setattr(press, "now", fail)
    answer = send(signed_in, seat, **undo)
    assert (answer.status_code, answer.json()) == (200, {"card": None, "together": False})
    twice = send(signed_in, seat, **undo)
    assert (twice.status_code, "already withdrawn" in twice.text) == (409, True)
    assert [kind for kind, _ in entries(seat)] == ["is", "withdraw"]


def test_press_during_pause_of_another_tab_shows_pause(signed_in: TestClient, seat: Seat) -> None:
    question = loop.next_question(seat)
    loop.pause(seat, question.token)
    card = send(signed_in, seat, token="x", labels=["ant"]).json()["card"]
    assert (card["token"], card["question"], card["offer"]["kind"]) == (None, None, "resume")


def test_work_due_after_press_runs_after_reply(
    signed_in: TestClient, seat: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    goals.set_goal(seat, goals.Goal(1))
    ready: list[Seat] = []
    monkeypatch.setattr(loop, "get_ready", ready.append)
    question = loop.next_question(seat)
    card = send(signed_in, seat, token=question.token, labels=["ant"]).json()["card"]
    assert "your goal for today" in card["day"]["reached"]
    assert ready == [seat]
    card = send(signed_in, seat, token=card["token"], kind="skip").json()["card"]
    assert card["day"]["reached"] is None, "it is said once"


def test_changed_settings_change_frame_stamp(signed_in: TestClient, seat: Seat) -> None:
    token = loop.next_question(seat).token
    first = send(signed_in, seat, token=token, kind="skip").json()["card"]
    same = send(signed_in, seat, token=first["token"], kind="skip").json()["card"]
    change_room(seat, dataclasses.replace(room_of(seat), guidelines="Look twice."))
    other = send(signed_in, seat, token=same["token"], kind="skip").json()["card"]
    assert first["frame"] == same["frame"] != other["frame"]


# Connections to a server in this process send data, whatever made their socket


def listening() -> socket.socket:
    """A socket as Streamlit creates it: without naming a protocol."""
    made = socket.socket(family=socket.AF_INET)
    made.bind(("127.0.0.1", 0))
    made.listen()
    return made


async def sends_at_once(listener: socket.socket) -> bool:
    """Whether a connection that asyncio accepts there sends at once."""
    found: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def come(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        taken = writer.get_extra_info("socket")
        found.set_result(taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    async with await asyncio.start_server(come, sock=listener):
        _, writer = await asyncio.open_connection(*listener.getsockname())
        told = await found
        writer.close()
    return told != 0


def test_connection_delays_small_packets_by_default() -> None:
    """The reason for the module: if this fails, asyncio or Streamlit does it, and the module can go."""
    assert not asyncio.run(sends_at_once(listening()))


def test_connection_sends_at_once_after_answer_at_once() -> None:
    listener = listening()
    answer_at_once()
    assert asyncio.run(sends_at_once(listener))


def test_answer_at_once_leaves_other_descriptors_alone() -> None:
    reading, writing = os.pipe()
    apart, pair = socket.socket(), socket.socketpair()
    answer_at_once()
    assert apart.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 0  # it does not listen
    pair[0].send(b"and this")
    assert pair[1].recv(10) == b"and this"
    os.write(writing, b"still open")
    assert os.read(reading, 10) == b"still open"
    os.close(writing)
    assert os.read(reading, 10) == b"", "someone else has it open"
    os.close(reading)
    for one in (apart, *pair):
        one.close()


def test_answer_at_once_leaves_no_descriptor_open() -> None:
    def numbers() -> set[int]:
        """The numbers of all open descriptors."""
        found = set()
        for one in range(2 * MOST):
            with suppress(OSError):
                os.fstat(one)
                found.add(one)
        return found

    before = numbers()
    answer_at_once()
    assert numbers() <= before


def test_answer_at_once_keeps_file_locks(tmp_path: Path) -> None:
    """The lock on SQLite's file belongs to the process, which loses it when it closes any descriptor of the file. The
    lock on the data folder belongs to the open file, which a copied descriptor keeps open."""
    kept, given_back = tmp_path / "database", tmp_path / "in-use"
    with kept.open("w") as database, given_back.open("w") as in_use:
        fcntl.lockf(database, fcntl.LOCK_EX)
        fcntl.flock(in_use, fcntl.LOCK_EX)
        answer_at_once()
        in_use.close()
        with given_back.open("w") as again:
            fcntl.flock(again, fcntl.LOCK_EX | fcntl.LOCK_NB)
        trying = "import fcntl, sys; fcntl.lockf(open(sys.argv[1], 'w'), fcntl.LOCK_EX | fcntl.LOCK_NB)"
        tried = subprocess.run([sys.executable, "-c", trying, kept], capture_output=True, check=False)
        assert b"BlockingIOError" in tried.stderr


def test_server_calls_answer_at_once_when_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    class ReachedError(Exception):
        pass

    def stop() -> None:
        raise ReachedError

    monkeypatch.setattr(lifespan, "home", stop)  # what a start opens next
    # The other settings that a start makes in the process must not affect later tests.
    access = logging.getLogger("uvicorn.access")
    monkeypatch.setattr(access, "disabled", access.disabled)
    monkeypatch.setattr(sys, "setswitchinterval", lambda _: None)
    monkeypatch.setattr(config, "set_option", lambda *_: None)
    listener = listening()

    async def start() -> bool:
        with pytest.raises(ReachedError):
            async with lifespan.lifespan(None):  # type: ignore[arg-type]
                pass
        return await sends_at_once(listener)

    assert asyncio.run(start())


# Files of Streamlit that pages announce: by sign-in, by the names in what they were sent, and not for
# ever


def name_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


NAME = name_of(b"file")


@pytest.mark.parametrize("after", [b"", b"\x22more", b"B\x00H\x01", b"2(&"])
def test_file_is_known_only_to_session_it_was_sent_to(after: bytes) -> None:
    told = NamedFiles()
    told.note(7, f"\n\x12 a message \x1a{PATH}{NAME}.csv".encode() + after)
    assert told.knows(7, f"{PATH}{NAME}.csv")
    assert not told.knows(8, f"{PATH}{NAME}.csv")
    for path in (PATH, f"{PATH}{NAME[:-1]}.csv", f"{PATH}/{NAME}.csv", f"{PATH}{NAME}/x", f"/x{PATH}{NAME}.csv"):
        assert not told.knows(7, path), path


def test_message_without_file_name_is_ignored() -> None:
    told = NamedFiles()
    for frame in (b"", b"nothing", b"/media/", b"/media/\x00", b"/media/a.csv", b"/medi" + b"a" * 1000):
        told.note(7, frame)
    assert not told.knows(7, PATH)
    assert len(told._told) == 0


def test_oldest_file_names_are_forgotten_first() -> None:
    told = NamedFiles(most=2)
    a, b, c = map(name_of, (b"a", b"b", b"c"))
    for frame in (f"{PATH}{a}.png\x00{PATH}{b}.csv\x01", f"{PATH}{a}.png", f"{PATH}{c}.png"):
        told.note(7, frame.encode())
    assert [told.knows(7, f"{PATH}{name}.png") for name in (a, b, c)] == [True, False, True]


def test_addresses_of_streamlit_files_are_recognised() -> None:
    store, told = MemoryMediaFileStorage(PATH.rstrip("/")), NamedFiles()
    for ending, kind in (("text/csv", MediaFileKind.DOWNLOADABLE), ("image/png", MediaFileKind.MEDIA)):
        address = store.get_url(store.load_and_get_id(b"data", ending, kind, "name.csv"))
        told.note(7, address.encode())
        assert told.knows(7, address), address
