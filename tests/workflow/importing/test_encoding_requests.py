"""An encoding as an owner asks for it, sees it and ends it; none of it needs a worker."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from db import trained
from tests.workflow.encoder_world import latest, words_encoder
from tests.workflow.text_world import text_project
from tests.workflow.world import annotator
from workflow.access import NotAllowed
from workflow.importing import encoding_requests, encoding_worker
from workflow.importing.encoding_requests import EncoderError
from workflow.models import leases
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.fixture
def seat(home: Home, owner: int) -> Seat:
    return Seat(home, owner, text_project(home, owner))


def test_before_anything_there_is_only_the_folder(seat: Seat) -> None:
    found = encoding_requests.encoders(seat)
    assert found.names == ()
    assert found.folder == str(seat.home.encoders_dir)
    assert (found.running, found.stored, found.failed, found.cancelled) == (None, None, None, False)
    with pytest.raises(EncoderError, match="No encoder is called 'words'"):
        encoding_requests.ask(seat, "words")
    assert encoding_requests.encoders(seat) == found


@pytest.mark.parametrize("name", ["..", "../tables", "", "/etc"])
def test_only_what_is_listed_can_be_asked_for(seat: Seat, name: str) -> None:
    words_encoder(seat.home)
    with pytest.raises(EncoderError, match="No encoder is called"):
        encoding_requests.ask(seat, name)


def test_what_is_asked_for_waits_and_twice_is_once(seat: Seat) -> None:
    encoding_requests.ask(seat, words_encoder(seat.home))
    first = latest(seat)
    assert (first.state, first.asked_by, first.encoder) == (trained.WAITING, seat.person_id, "words")
    encoding_requests.ask(seat, words_encoder(seat.home, "other"))
    assert latest(seat) == first
    found = encoding_requests.encoders(seat)
    assert found.names == ("other", "words")
    assert found.running == encoding_requests.EncodingNow("words", 0, 0, begun=False, fault=None)


def test_it_can_be_cancelled_and_asked_for_again(seat: Seat) -> None:
    encoding_requests.cancel(seat)
    encoding_requests.ask(seat, words_encoder(seat.home))
    encoding_requests.cancel(seat)
    found = encoding_requests.encoders(seat)
    assert (found.running, found.stored, found.failed, found.cancelled) == (None, None, None, True)
    encoding_requests.cancel(seat)
    first = latest(seat)
    encoding_requests.ask(seat, "words")
    assert latest(seat).id > first.id
    assert not encoding_requests.encoders(seat).cancelled


def test_whether_a_worker_has_it_is_seen_by_its_lease(seat: Seat) -> None:
    encoding_requests.ask(seat, words_encoder(seat.home))
    now, task = datetime.now(UTC), encoding_worker.TASK

    def running() -> tuple[bool, str | None]:
        found = encoding_requests.encoders(seat).running
        assert found is not None
        return found.begun, found.fault

    with seat.home.database.write() as session:
        until = now + timedelta(hours=1)
        trained.take_lease(session, latest(seat).project_id, "one", "0", now, until, task)
    assert running() == (False, None), "the lease of another"
    with seat.home.database.write() as session:
        trained.end_lease(session, latest(seat).project_id, "one", now, "old", task=task)
        trained.take_lease(session, latest(seat).project_id, "one", str(latest(seat).id), now, until, task)
        trained.note_encoding(session, latest(seat).id, 3, 9)
    assert running()[0]
    with seat.home.database.write() as session:
        trained.end_lease(
            session, latest(seat).project_id, "one", now, "It was killed.", leases.MOST_DEATHS, task
        )
    assert running() == (False, "It was killed.")
    found = encoding_requests.encoders(seat).running
    assert found is not None
    assert (found.done, found.total) == (3, 9)


def test_the_outcome_of_the_latest_stays_beside_what_was_stored(seat: Seat) -> None:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    for end in ("done", "failed", "cancelled"):
        encoding_requests.ask(seat, words_encoder(seat.home))
        with seat.home.database.write() as session:
            one = trained.latest_encoding(session, seat.project_id or 0)
            assert one is not None
            if end == "done":
                trained.end_done(session, one.id, at, ["2 rows have nothing to encode."])
            else:
                trained.end_encoding(session, one.id, end, at, fault="no memory" if end == "failed" else None)
        found = encoding_requests.encoders(seat)
        assert found.running is None
        assert found.stored == encoding_requests.StoredVectors(
            "words", at, ("2 rows have nothing to encode.",)
        )
        assert found.failed == ("no memory" if end == "failed" else None)
        assert found.cancelled == (end == "cancelled")


def test_encodings_are_the_owners(seat: Seat) -> None:
    words_encoder(seat.home)
    ada = Seat(seat.home, annotator(seat.home, seat.person_id, "Ada"), seat.project_id)
    for act in (encoding_requests.encoders, encoding_requests.cancel):
        with pytest.raises(NotAllowed, match="Only the owner"):
            act(ada)
    with pytest.raises(NotAllowed, match="Only the owner"):
        encoding_requests.ask(ada, "words")
    assert encoding_requests.encoders(seat).running is None
