"""Learning from meaning: the offers to a project, and how a worker downloads an encoder and encodes the rows."""

from __future__ import annotations

import dataclasses
import threading

import pytest

from db import trained
from plcore.tables.encoders import EncoderError
from tests.fake_hub import FakeHub
from tests.plcore.tables.encoders.small_catalogue import WORDS, file_of, words_entry
from tests.present import present
from tests.workflow.encoder_world import latest, stored
from tests.workflow.models.encoders.conftest import Known
from tests.workflow.text_world import text_frame, text_project, text_table
from workflow import importing
from workflow.importing import encoding, encoding_requests, encoding_worker
from workflow.importing.encoding_worker import EncodingWorker
from workflow.models.encoders import offers
from workflow.people import audited
from workflow.people.audit import EventKind
from workflow.people.audited import EventFilter
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home

PICTURES = words_entry(kind="image", preparation={"kind": "image"})


@pytest.fixture
def seat(home: Home, owner: int) -> Seat:
    return Seat(home, owner, text_project(home, owner))


@pytest.fixture(autouse=True)
def told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding_worker, "TOLD_EVERY", 0.0)


def test_offers_match_columns_and_list_available_first(seat: Seat, known: Known) -> None:
    bare = words_entry(files=[{"name": "m", "what": "model"}])
    known(
        bare=bare,
        packaged=words_entry(revision=None, wheel="wordllama==1.0"),
        words=words_entry(ms=2.0),
        images=PICTURES,
    )
    found = offers.offers(seat)
    assert [(one.entry.key, one.state, one.column) for one in found] == [
        ("words", "download", "text"),
        ("packaged", "package", "text"),
        ("bare", "not verified", "text"),
    ]
    assert (found[0].host, found[0].rows, found[0].minutes) == ("huggingface.co", 60, 1)
    assert found[1].minutes is None
    many = dataclasses.replace(found[0], rows=100_000)
    assert many.minutes == 4, "200,000 ms are 3.3 minutes"
    assert dataclasses.replace(many, texts=2).minutes == 7, "each text is encoded"


def test_worker_downloads_then_encodes(seat: Seat, hub: FakeHub) -> None:
    assert offers.offers(seat)[0].host == hub.address.removeprefix("http://")
    offers.ask(seat, "words")
    running = present(encoding_requests.encoders(seat).running)
    assert (running.encoder, running.downloading) == ("words", True)
    EncodingWorker(seat.home, "one").look()
    assert (latest(seat).state, latest(seat).fault) == (trained.DONE, None)
    assert len(stored(seat)) == 1
    assert encoding.names(seat.home) == ("words",)
    assert offers.offers(seat)[0].state == "installed"


def test_download_shows_progress_and_cancel_removes_it(seat: Seat, hub: FakeHub, known: Known) -> None:
    half = 10 * (1 << 16)
    known(words=words_entry(files=[file_of("onnx/model.onnx", bytes(2 * half))]))
    hub.files = {name: bytes(2 * half) for name in hub.files}
    hub.gate = threading.Event()
    offers.ask(seat, "words")
    seen: list[int] = []

    class Watching(EncodingWorker):
        def go_on(self, *told: object) -> None:
            super().go_on(*told)
            running = encoding_requests.encoders(self_seat).running
            if running is not None and running.done >= half:
                seen.append(running.total)
                encoding_requests.cancel(self_seat)

    self_seat = seat
    Watching(seat.home, "one").look()
    assert seen == [2 * half]
    assert latest(seat).state == trained.CANCELLED
    assert list(seat.home.encoders_dir.iterdir()) == []
    assert stored(seat) == []


def test_failed_download_is_explained(seat: Seat, hub: FakeHub) -> None:
    hub.files = {name: data[:-1] + b"!" for name, data in hub.files.items()}
    offers.ask(seat, "words")
    EncodingWorker(seat.home, "one").look()
    failed = present(encoding_requests.encoders(seat).failed)
    assert "the file differs from the one that Winnow's authors tested; nothing was stored" in failed
    assert list(seat.home.encoders_dir.iterdir()) == []
    hub.files = dict.fromkeys(hub.files, WORDS)
    offers.ask(seat, "words")
    EncodingWorker(seat.home, "one").look()
    assert latest(seat).state == trained.DONE, "it can be asked for again"


def test_unavailable_encoder_cannot_be_requested(seat: Seat, known: Known) -> None:
    limited = words_entry(licence="CC-BY-NC-SA-4.0", commercial=False)
    known(limited=limited, bare=words_entry(files=[{"name": "m", "what": "model"}]))
    for key, words in (
        ("limited", "may not be used commercially"),
        ("bare", "is not verified"),
        ("other", "No encoder is called 'other'"),
        ("..", "No encoder is called"),
    ):
        with pytest.raises(EncoderError, match=words):
            offers.ask(seat, key)
    assert encoding_requests.encoders(seat).running is None
    offers.ask(seat, "limited", non_commercial=True)
    assert latest(seat).encoder == "limited"


def test_offers_can_be_disabled(seat: Seat, known: Known) -> None:
    off = dataclasses.replace(seat.home, settings=dataclasses.replace(seat.home.settings, encoders=False))
    there = Seat(off, seat.person_id, seat.project_id)
    assert offers.offers(there) == ()
    with pytest.raises(EncoderError, match="switched off"):
        offers.ask(there, "words")


# Asked for with the import, and in which language the texts are


def test_request_is_stored_with_project_and_worker_encodes(home: Home, owner: int, hub: FakeHub) -> None:
    seat, table = Seat(home, owner), text_table()
    (one,) = offers.offers_for(seat, table)
    assert (one.entry.key, one.state, one.rows) == ("words", "download", 60)
    project = importing.create(seat, "texts", table, also=offers.request(home, "words"))
    assert latest(seat.at(project)).encoder == "words"
    EncodingWorker(home, "one").encode_asked()
    assert latest(seat.at(project)).state == trained.DONE
    assert hub.asked


def test_refused_encoder_creates_no_project(home: Home, owner: int, known: Known) -> None:
    known(limited=words_entry(licence="CC-BY-NC-SA-4.0", commercial=False))
    with pytest.raises(EncoderError, match="may not be used commercially"):
        importing.create(Seat(home, owner), "texts", text_table(), also=offers.request(home, "limited"))
    assert managing.list_projects(Seat(home, owner)) == []


def test_consent_is_audited_once_with_licence(home: Home, owner: int, known: Known) -> None:
    known(limited=words_entry(licence="CC-BY-NC-SA-4.0", commercial=False))
    seat = Seat(home, owner, text_project(home, owner))
    for _ in range(2):
        offers.ask(seat, "limited", non_commercial=True)
    (one,) = audited.audit_lines(seat, EventFilter(what=EventKind.ENCODER_ASKED))
    assert (one.who, one.project) == ("owner", "texts")
    assert one.details == "encoder: limited; licence: CC-BY-NC-SA-4.0, for no commercial purpose"


GERMAN = "die Karte ist noch nicht da und ich weiß nicht, wie ich das Geld auf mein Konto bekomme"


def test_multilingual_encoder_is_first_for_non_english_texts(home: Home, owner: int, known: Known) -> None:
    bare = words_entry(languages=["many"], files=[{"name": "m", "what": "model"}])
    known(bare=bare, words=words_entry(), many=words_entry(languages=["many"]))
    frame = text_frame()
    for text, wanted in ((None, ["words", "many", "bare"]), (GERMAN, ["many", "words", "bare"])):
        if text is not None:
            frame["text"] = text
        seat, table = Seat(home, owner), text_table(frame)
        project = seat.at(importing.create(seat, wanted[0], table))
        for found in (offers.offers_for(seat, table), offers.offers(project)):
            assert [one.entry.key for one in found] == wanted, "what is not verified is last"
            (english,) = (one for one in found if one.entry.key == "words")
            assert (english.language, english.knows_language) == (
                ("German", False) if text else (found[0].language, True)
            )


# How long it takes: by the catalogue, then as it was on this server


def test_estimated_time_uses_measured_speed(
    seat: Seat, hub: FakeHub, known: Known, monkeypatch: pytest.MonkeyPatch
) -> None:
    known(words=words_entry(ms=2.0), small=words_entry(ms=0.1), smaller=words_entry(ms=0.05, revision=None))
    assert offers.offers(seat)[0].minutes == 1
    assert offers.slow_encoding(seat, "words") is None
    ticks = iter([0.0, 320.0])  # 32 rows, 10 seconds each
    monkeypatch.setattr("plcore.tables.encoders.encoding.perf_counter", lambda: next(ticks))
    told: list[int | None] = []

    class Watching(EncodingWorker):
        def go_on(self, *given: object) -> None:
            super().go_on(*given)
            running = encoding_requests.encoders(seat).running
            if running is not None and running.total and running.done and not running.downloading:
                told.append(running.minutes)

    offers.ask(seat, "words")
    Watching(seat.home, "one").look()
    assert latest(seat).state == trained.DONE
    assert told[-1] == 2, "12 rows are left when 48 are told of"
    assert {one.entry.key: one.minutes for one in offers.offers(seat)} == {"words": 10, "small": 1, "smaller": 1}
    slow = present(offers.slow_encoding(seat, "words"))
    assert slow.faster is not None
    assert (slow.times, slow.faster.entry.key) == (5_000, "small")
    assert offers.slow_encoding(seat, "small") is None
