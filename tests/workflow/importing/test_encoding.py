"""Encoders: their input, requests, and the lease of a worker."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from db import trained
from plcore import LabelTable, Roles
from plcore.tables import MediaError, read_vectors
from plcore.tables.encoders import Description, ModelInputs, taken
from plcore.tables.encoders import encoding as encoders_encoding
from tests.plcore.tables.encoders.models import encoder, mean_color, words_of
from tests.plcore.tables.zips import picture
from tests.present import present
from tests.workflow.encoder_world import latest, words_encoder
from tests.workflow.sounds import tone
from tests.workflow.text_world import text_project
from workflow.files import limited
from workflow.importing import encoding, encoding_requests, encoding_worker
from workflow.importing.encoder_inputs import taking
from workflow.importing.encoding import Encoder, EncoderError
from workflow.models import leases
from workflow.models.encoders import offers
from workflow.seat import Seat
from workflow.server.home import Home

# Encoders in the data folder, found by name only; vectors of a file's rows, written completely or not at all


def table(*texts: str) -> LabelTable:
    cells = pd.DataFrame({"c": "a|b", "t": list(texts)}, dtype="str")
    return LabelTable.from_cells(cells, Roles(candidates="c", text="t"))


def test_encoder_is_found_in_data_folder(home: Home) -> None:
    assert encoding.names(home) == ()
    with pytest.raises(EncoderError, match=r"encoders has none"):
        encoding.folder_of(home, "words")
    folder = encoder(home.encoders_dir / "words", {"kind": "text"}, words_of("a"))
    (home.encoders_dir / "notes.txt").write_text("")
    assert encoding.names(home) == ("words",)
    assert encoding.folder_of(home, "words") == folder
    with pytest.raises(EncoderError, match=r"'minilm-en' is not on this server. Fix: get it first \(winnow encoders"):
        encoding.folder_of(home, "minilm-en")


def test_unlisted_encoder_name_is_refused(home: Home, subtests: pytest.Subtests) -> None:
    encoder(home.encoders_dir / "words", {"kind": "text"}, words_of("a"))
    for name in ["", ".", "..", "../tables", "/etc", "notes.txt", "words/../words"]:
        with subtests.test(name), pytest.raises(EncoderError, match="No encoder is called"):
            encoding.folder_of(home, name)


@pytest.mark.parametrize("ending", [".npz", ".parquet", ".NPZ"])
def test_vectors_are_written_with_row_ids(tmp_path: Path, ending: str) -> None:
    words = Encoder(encoder(tmp_path / "words", {"kind": "text"}, words_of("wren", "owl")))
    path = tmp_path / f"v{ending}"
    steps: list[tuple[int, int, str]] = []
    notes = encoding.encode_to(path, table("owl", "", "wren"), words, lambda *step: steps.append(step))
    assert notes == ("1 row has nothing to encode: '2'.",)
    assert steps == [(2, 2, "text")]
    found = read_vectors(path)
    assert list(found.names.values()) == [["1", "2", "3"]]
    np.testing.assert_array_equal(found.values, [[0, 1], [np.nan, np.nan], [1, 0]])


def test_failed_encoding_keeps_existing_file(tmp_path: Path) -> None:
    path = tmp_path / "v.npz"
    path.write_bytes(b"before")
    colors = Encoder(encoder(tmp_path / "colors", {"kind": "image", "size": 4}, mean_color()))
    with pytest.raises(EncoderError, match="No row has an image"):
        encoding.encode_to(path, table("owl"), colors)
    assert path.read_bytes() == b"before"
    with pytest.raises(
        EncoderError, match=r"'v' has no known ending of vector files. Fix: end it in '.npz', '.parquet'"
    ):
        encoding.encode_to(tmp_path / "v", table("owl"), colors)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["colors", "v.npz"]


# Inputs of an encoder come from limited processes: the right ones, and messages for missing ones


IMAGES = Description("image", size=(4, 3))
SOUNDS = Description("sound", rate=8_000, seconds=0.5, windows=3)
INLINE = "data:image/png;base64," + base64.b64encode(picture(3)).decode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, data in {"a": picture(1), "b": picture(2), "s": tone(2), "bad": picture(1)[:60]}.items():
        (tmp_path / name).write_bytes(data)
    return tmp_path


def test_model_inputs_are_same_in_limited_process(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {"image": ["a", INLINE, "b"], "sound": [("s", None, None), ("s", 1.0, 1.2), ("s", 0.0, 0.7)]}
    wanted = {
        about.kind: [taken(key, about, lambda name: (folder / name).open("rb")) for key in keys[about.kind]]
        for about in (IMAGES, SOUNDS)
    }
    monkeypatch.setattr(encoders_encoding, "open_image", None)  # nothing is decoded in this process
    monkeypatch.setattr(encoders_encoding, "Sound", None)
    for about in (IMAGES, SOUNDS):
        found = taking(lambda name: folder / name)(keys[about.kind], about)
        assert [one.whole for one in found] == [one.whole for one in wanted[about.kind]]
        for one, other in zip(found, wanted[about.kind], strict=True):
            np.testing.assert_array_equal(one.inputs, other.inputs)


def test_missing_image_has_reason(folder: Path) -> None:
    def path_of(name: str) -> Path:
        if name == "never":
            raise MediaError("the file did not come with the table.", "Give a zip.")
        return folder / name

    found = taking(path_of)(["a", "bad", "gone", "never", "b"], IMAGES)
    assert [isinstance(one, MediaError) for one in found] == [False, True, True, True, False]
    assert "damaged" in found[1].args[0]
    assert "cannot be read any more" in found[2].args[0]
    assert "did not come" in found[3].args[0]
    assert all(isinstance(one, MediaError) for one in taking(path_of)(["gone", "never"], IMAGES))


def test_oversized_input_does_not_affect_the_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    look = limited.look

    def limit(job: str, given: Mapping[str, Any], *others: Any) -> Any:
        if "b" in given["keys"]:
            raise MediaError("Reading it takes more than 350 MB.", "Save it again.")
        return look(job, given, *others)

    monkeypatch.setattr(limited, "look", limit)
    found = taking(lambda name: folder / name)(["a", "b", INLINE], IMAGES)
    assert [isinstance(one, MediaError) for one in found] == [False, True, False]


def test_texts_are_passed_unchanged() -> None:
    assert taking(Path)(["wren", "owl"], Description("text")) == [ModelInputs(("wren",)), ModelInputs(("owl",))]


# An encoding that an owner requests, watches and cancels; none of this needs a worker


@pytest.fixture
def encoding_requests_seat(home: Home, owner: int) -> Seat:
    return Seat(home, owner, text_project(home, owner))


def test_without_encoders_only_folder_is_reported(encoding_requests_seat: Seat) -> None:
    found = encoding_requests.encoders(encoding_requests_seat)
    assert found.names == ()
    assert found.folder == str(encoding_requests_seat.home.encoders_dir)
    assert (found.running, found.stored, found.failed, found.cancelled) == (None, None, None, False)
    with pytest.raises(EncoderError, match="No encoder is called 'words'"):
        offers.ask(encoding_requests_seat, "words")
    assert encoding_requests.encoders(encoding_requests_seat) == found


@pytest.mark.parametrize("name", ["..", "../tables", "", "/etc"])
def test_unlisted_encoder_cannot_be_requested(encoding_requests_seat: Seat, name: str) -> None:
    words_encoder(encoding_requests_seat.home)
    with pytest.raises(EncoderError, match="No encoder is called"):
        offers.ask(encoding_requests_seat, name)


def test_repeated_request_is_queued_once(encoding_requests_seat: Seat) -> None:
    offers.ask(encoding_requests_seat, words_encoder(encoding_requests_seat.home))
    first = latest(encoding_requests_seat)
    assert (first.state, first.asked_by, first.encoder) == (trained.WAITING, encoding_requests_seat.person_id, "words")
    offers.ask(encoding_requests_seat, words_encoder(encoding_requests_seat.home, "other"))
    assert latest(encoding_requests_seat) == first
    found = encoding_requests.encoders(encoding_requests_seat)
    assert found.names == ("other", "words")
    assert found.running == encoding_requests.EncodingNow("words", 0, 0, begun=False, fault=None)


def test_request_can_be_cancelled_and_repeated(encoding_requests_seat: Seat) -> None:
    encoding_requests.cancel(encoding_requests_seat)
    offers.ask(encoding_requests_seat, words_encoder(encoding_requests_seat.home))
    encoding_requests.cancel(encoding_requests_seat)
    found = encoding_requests.encoders(encoding_requests_seat)
    assert (found.running, found.stored, found.failed, found.cancelled) == (None, None, None, True)
    encoding_requests.cancel(encoding_requests_seat)
    first = latest(encoding_requests_seat)
    offers.ask(encoding_requests_seat, "words")
    assert latest(encoding_requests_seat).id > first.id
    assert not encoding_requests.encoders(encoding_requests_seat).cancelled


def test_running_request_is_known_by_its_lease(encoding_requests_seat: Seat) -> None:
    offers.ask(encoding_requests_seat, words_encoder(encoding_requests_seat.home))
    now, task = datetime.now(UTC), encoding_worker.TASK

    def running() -> tuple[bool, str | None]:
        found = present(encoding_requests.encoders(encoding_requests_seat).running)
        return found.begun, found.fault

    with encoding_requests_seat.home.database.write() as session:
        until = now + 2 * leases.LEASE
        trained.take_lease(session, latest(encoding_requests_seat).project_id, "one", "0", now, until, task)
    assert running() == (False, None), "the lease of another"
    with encoding_requests_seat.home.database.write() as session:
        trained.end_lease(session, latest(encoding_requests_seat).project_id, "one", now, "old", task=task)
        trained.take_lease(
            session,
            latest(encoding_requests_seat).project_id,
            "one",
            str(latest(encoding_requests_seat).id),
            now,
            until,
            task,
        )
        trained.ENCODINGS.note(session, latest(encoding_requests_seat).id, 3, 9)
    assert running()[0]
    with encoding_requests_seat.home.database.write() as session:
        trained.end_lease(
            session, latest(encoding_requests_seat).project_id, "one", now, "It was killed.", leases.MOST_DEATHS, task
        )
    assert running() == (False, "It was killed.")
    found = present(encoding_requests.encoders(encoding_requests_seat).running)
    assert (found.done, found.total) == (3, 9)


def test_last_outcome_is_reported_with_stored_vectors(
    encoding_requests_seat: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding_requests, "read_encoded_columns", lambda _: [("text", "words", "ab")])
    at = datetime(2026, 3, 1, tzinfo=UTC)
    for end in ("done", "failed", "cancelled"):
        offers.ask(encoding_requests_seat, words_encoder(encoding_requests_seat.home))
        with encoding_requests_seat.home.database.write() as session:
            one = present(trained.ENCODINGS.latest(session, encoding_requests_seat.project_id or 0))
            if end == "done":
                trained.end_done(session, one.id, at, ["2 rows have nothing to encode."])
            else:
                trained.ENCODINGS.end(session, one.id, end, at, fault="no memory" if end == "failed" else None)
        found = encoding_requests.encoders(encoding_requests_seat)
        assert found.running is None
        assert found.stored == encoding_requests.StoredVectors("words", at, ("2 rows have nothing to encode.",))
        assert found.failed == ("no memory" if end == "failed" else None)
        assert found.cancelled == (end == "cancelled")
