"""Encodings in the background: which worker makes them, and what a dead worker leaves behind."""

from __future__ import annotations

import base64
import os
import shutil
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import update

from db import trained
from db.models import EncodingRow
from plcore import LabelTable, LearnerSettings, Roles, TableError
from plcore.tables.encoders import MadeVector
from tests.browser.loaded import run
from tests.plcore.tables.encoders.models import encoder, mean_color, words_of
from tests.plcore.tables.zips import picture
from tests.present import present
from tests.workflow.compared import Findings, findings
from tests.workflow.encoder_world import KNOWN, VECTORS, asked, at_each_step, latest, stored, table_of
from tests.workflow.models.test_comparing import latest as latest_comparison
from tests.workflow.text_world import text_frame, text_project
from tests.workflow.world import annotator, answer_next
from workflow import importing
from workflow.importing import encoding, encoding_requests, encoding_worker, more_rows, row_records, vector_memory
from workflow.importing.encoding import Encoder
from workflow.importing.encoding_worker import EncodingWorker, has_due_work
from workflow.importing.vector_memory import KeptVectors
from workflow.models import training
from workflow.models.comparing import ComparingWorker
from workflow.models.encoders import offers
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home

__all__ = ["findings"]

# Encodings in the background: the worker, their effect, their end, and recovery after a killed worker


@pytest.fixture
def seat(home: Home, owner: int) -> Seat:
    """The owner, who has requested an encoding of a text project's rows."""
    return asked(home, owner, text_project(home, owner))


@pytest.fixture
def worker(home: Home) -> EncodingWorker:
    return EncodingWorker(home, "one")


@pytest.fixture(autouse=True)
def told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However fast an encoding is, it reports its progress at each step, and checks whether it was cancelled."""
    monkeypatch.setattr(encoding_worker, "TOLD_EVERY", 0.0)


# Its actions


def test_requested_vectors_are_stored_once_under_requester(seat: Seat, worker: EncodingWorker) -> None:
    assert has_due_work(seat.home)
    assert worker.look()
    done = latest(seat)
    assert (done.state, done.fault, done.notes, done.done, done.total) == ("done", None, [], 60, 60)
    table = table_of(seat)
    (one,) = table.encoded
    assert (one.column, one.encoder) == ("text", "words")
    np.testing.assert_array_equal(one.values, VECTORS)
    (entry,) = stored(seat)
    assert (entry.person_id, entry.labels[:2]) == (seat.person_id, ("60", "0"))
    assert not has_due_work(seat.home)
    worker.encode_asked()
    assert latest(seat) == done
    assert len(stored(seat)) == 1


def test_model_is_closed_before_the_learner_is_built(seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = encoding.Encoder(encoding.folder_of(seat.home, "words"))
    add_rows = more_rows.add_rows

    def watched(*given: Any) -> int:
        assert "_model" not in vars(encoder)
        return add_rows(*given)

    monkeypatch.setattr(more_rows, "add_rows", watched)
    encoding.encode_project(seat, encoder)
    assert len(stored(seat)) == 1


def test_answers_during_encoding_are_kept(seat: Seat, worker: EncodingWorker, monkeypatch: pytest.MonkeyPatch) -> None:
    assert seat.project_id is not None
    project = seat.project_id
    at_each_step(monkeypatch, lambda *_: answer_next(seat.home, seat.person_id, project))
    worker.look()
    assert latest(seat).state == trained.DONE
    with seat.learner() as opened:
        assert opened.learner.progress().answers == 4
        assert [one.encoder for one in opened.learner.table.encoded] == ["words"]


def test_row_without_text_is_noted(home: Home, owner: int, worker: EncodingWorker) -> None:
    frame = text_frame()
    frame.loc[5, "text"] = ""
    table = LabelTable.from_frame(frame, Roles(candidates="candidates", id="id", text="text"))
    seat = asked(
        home, owner, managing.create_project(Seat(home, owner), "texts", table, LearnerSettings(n_neighbors=4))
    )
    worker.look()
    assert latest(seat).notes == ["1 row has nothing to encode: 't5'."]
    assert np.flatnonzero(table_of(seat).encoded[0].missing).tolist() == [5]
    found = present(encoding_requests.encoders(seat).stored)
    assert found.notes == ("1 row has nothing to encode: 't5'.",)


@pytest.mark.parametrize("own", [True, False])
def test_encoding_comes_before_rest_of_comparison(
    home: Home, owner: int, worker: EncodingWorker, findings: Findings, own: bool
) -> None:
    """Encodings do not wait for a comparison that no one requested; changed features are compared again."""
    automatic = {"model": "automatic", "train_seconds": 3600.0}
    compared = text_project(home, owner, "compared", **automatic)
    other = compared if own else text_project(home, owner, "other")
    states = []

    def look(done: int, _total: int, _name: str) -> None:
        if not states:
            asked(home, owner, other)
        states.append((done, latest(Seat(home, owner, other)).state))

    findings.kappas = {"clpl": 0.8, "plsvc": 0.6, "plknn": 0.5}
    findings.before = look
    worker.look()
    if own:
        assert states == [(0, trained.WAITING)], "given up between two fits"
        assert latest_comparison(home, compared).unfinished
        worker.look()
    else:
        states.insert(1, (0, trained.DONE))
    assert states == [(0, trained.WAITING), *((fit, trained.DONE) for fit in range(3))]
    assert latest_comparison(home, compared).state == trained.DONE
    assert len(findings.calls) == (2 if own else 1)


def test_models_are_compared_again_once_features_have_changed(
    home: Home, owner: int, worker: EncodingWorker, findings: Findings
) -> None:
    project = text_project(home, owner, model="automatic", train_seconds=3600.0)
    worker.look()
    first = latest_comparison(home, project)
    seat = asked(home, owner, project)
    worker.look()
    second = latest_comparison(home, project)
    assert (second.id > first.id, second.state) == (True, trained.DONE)
    row_records.append_rows(seat, [{"id": "new", "candidates": "birds|ships", "truth": "birds", "text": "egg"}])
    worker.look()
    worker.look()
    assert not table_of(seat).encoded[0].missing.any(), "the new row is encoded"
    assert latest_comparison(home, project) == second, "by the same encoder: nothing to compare again"
    encoding.back_to_words(seat)
    worker.look()
    assert latest_comparison(home, project).id > second.id
    assert len(findings.calls) == 3


def test_progress_is_noted_at_intervals_and_at_last_step(
    seat: Seat, worker: EncodingWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding_worker, "TOLD_EVERY", 3600.0)
    told: list[int] = []
    at_each_step(monkeypatch, lambda *_: told.append(latest(seat).done))
    worker.look()
    assert told == [0, 16, 16, 16]
    assert latest(seat).done == 60


def test_encoding_does_not_wait_for_comparison(
    home: Home, owner: int, worker: EncodingWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Models are compared before the first answer if the owner chose none; that may take minutes."""
    seat = asked(home, owner, text_project(home, owner, model="automatic"))
    before: list[str] = []
    monkeypatch.setattr(ComparingWorker, "compare", lambda *_: before.append(latest(seat).state))
    worker.look()
    assert before == [trained.DONE]


# How it ends


def test_encoding_cancelled_at_its_last_batch_stores_nothing(
    seat: Seat, worker: EncodingWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_each_step(monkeypatch, lambda done, _total: encoding_requests.cancel(seat) if done == 60 else None)
    worker.look()
    assert latest(seat).state == trained.CANCELLED
    assert table_of(seat).encoded == ()
    assert stored(seat) == []
    assert not has_due_work(seat.home)


def test_request_cancelled_before_start_is_not_begun(
    seat: Seat, worker: EncodingWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = latest(seat)
    encoding_requests.cancel(seat)
    at_each_step(monkeypatch, lambda *_: pytest.fail("it was cancelled"))
    worker.encode(waiting)
    assert latest(seat).state == trained.CANCELLED


def test_cancel_after_last_step_is_too_late(
    seat: Seat, worker: EncodingWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = more_rows.add_rows

    def cancelled(at: Seat, addition: more_rows.Addition) -> int:
        encoding_requests.cancel(at)
        return add(at, addition)

    monkeypatch.setattr(more_rows, "add_rows", cancelled)
    worker.look()
    assert len(stored(seat)) == 1
    found = encoding_requests.encoders(seat)
    assert not found.cancelled
    assert found.stored is not None


def test_missing_onnx_runtime_is_reported_with_fix(
    seat: Seat, worker: EncodingWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    worker.look()
    assert latest(seat).state == trained.FAILED
    failed = present(encoding_requests.encoders(seat).failed)
    assert "Fix: pip install 'plcore[onnx]'" in failed


def test_failed_encoding_is_explained_and_others_continue(
    home: Home, owner: int, seat: Seat, worker: EncodingWorker
) -> None:
    encoder(home.encoders_dir / "words", {"kind": "image", "size": 4}, mean_color())
    (home.encoders_dir / "words2").mkdir()
    gone = Seat(home, owner, text_project(home, owner, "gone"))
    offers.ask(gone, "words2")
    (home.encoders_dir / "words2").rmdir()
    good = asked(home, owner, text_project(home, owner, "good"), "good")
    worker.look()
    assert latest(seat).fault == "No row has an image to encode. Fix: say which column holds it."
    assert (latest(gone).state, str(latest(gone).fault)[:29]) == (trained.FAILED, "No encoder is called 'words2'")
    assert latest(good).state == trained.DONE
    assert len(stored(good)) == 1
    assert not has_due_work(home), "what has failed is not tried again by itself"


def test_rows_added_during_encoding_are_encoded(
    seat: Seat, worker: EncodingWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = text_frame()[:1].assign(id="later", truth="")

    def add(done: int, _total: int) -> None:
        if done == 32:
            upload = importing.read_upload(more.to_csv(index=False).encode())
            more_rows.add_rows(seat, more_rows.read_rows(seat, upload))

    at_each_step(monkeypatch, add)
    worker.look()
    assert latest(seat).state == trained.DONE
    (one,) = table_of(seat).encoded
    np.testing.assert_array_equal(one.values, [*VECTORS, VECTORS[0]])


def test_requester_without_right_stores_nothing(home: Home, owner: int, worker: EncodingWorker) -> None:
    seat = asked(home, owner, text_project(home, owner))
    encoding_requests.cancel(seat)
    ada = annotator(home, owner, "Ada")
    with home.database.write() as session:
        trained.ENCODINGS.ask(session, seat.project_id or 0, asked_by=ada, asked_at=datetime.now(UTC), encoder="words")
    worker.look()
    assert latest(seat).fault == "Only the owner may do this; Ada is an annotator of this project."
    assert stored(seat) == []


def test_encoding_of_archived_project_waits(seat: Seat, worker: EncodingWorker) -> None:
    managing.archive_project(seat)
    assert not has_due_work(seat.home)
    worker.look()
    assert latest(seat).state == trained.WAITING
    managing.restore_project(seat)
    assert has_due_work(seat.home)
    worker.look()
    assert latest(seat).state == trained.DONE


# Workers that die after storing, or are stuck


def test_vectors_are_stored_once_if_worker_dies_after_storing(
    seat: Seat, worker: EncodingWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def die(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(trained, "end_done", die)
        with pytest.raises(Killed):
            worker.look()
    assert latest(seat).state == trained.RUNNING
    EncodingWorker(seat.home, "two").look()
    assert latest(seat).state == trained.DONE
    assert len(stored(seat)) == 1


STUCK = """
from workflow.importing import encoding_worker
from workflow.importing.encoding import Encoder
from workflow.server.home import open_home
from workflow.server.settings import Settings

def never_ends(self, given):
    while True:
        pass

encoding_worker.STUCK_AFTER = 0.2
Encoder.encode_inputs = never_ends
encoding_worker.EncodingWorker(open_home(Settings.from_environment()), "stuck").encode_asked()
"""


def test_worker_whose_encoder_never_ends_ends_itself(seat: Seat) -> None:
    own = {"WINNOW_HOME": str(seat.home.settings.home), "WINNOW_DATABASE_URL": seat.home.settings.database_url}
    assert run({**os.environ, **own}, STUCK) == encoding_worker.STUCK
    assert stored(seat) == []


def test_long_training_between_two_batches_is_no_standstill(
    seat: Seat, worker: EncodingWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[int] = []
    monkeypatch.setattr(encoding_worker, "STUCK_AFTER", 1.0)
    monkeypatch.setattr(os, "_exit", ended.append)
    monkeypatch.setattr(training.Worker, "look", lambda _self: time.sleep(1.5))
    worker.encode_asked()
    assert (ended, latest(seat).state) == ([], trained.DONE)


def test_same_encoder_again_changes_nothing(seat: Seat, worker: EncodingWorker) -> None:
    worker.look()
    asked(seat.home, seat.person_id, seat.project_id or 0)
    worker.encode_asked()
    assert latest(seat).state == trained.DONE
    assert len(stored(seat)) == 1
    with pytest.raises(more_rows.AlreadyThere, match="these vectors already"):
        encoding.encode_project(seat, encoding.Encoder(encoding.folder_of(seat.home, "words")))


# Rows that come later: a worker encodes them unasked, each content once


def later(seat: Seat, *texts: str, begin: int = 0) -> None:
    """Add a row of each text to the project."""
    more = text_frame()[: len(texts)].assign(
        id=[f"later{begin + place}" for place in range(len(texts))], text=texts, truth=""
    )
    upload = importing.read_upload(more.to_csv(index=False).encode())
    more_rows.add_rows(seat, more_rows.read_rows(seat, upload))


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that a model has been given."""
    found: list[str] = []
    made = Encoder.encode_inputs

    def encode_inputs(self: Encoder, given: Any) -> Any:
        found.extend(text for inputs, _ in given for text in inputs)
        return made(self, given)

    monkeypatch.setattr(Encoder, "encode_inputs", encode_inputs)
    return found


def test_added_rows_use_mean_until_encoded(seat: Seat, worker: EncodingWorker, seen: list[str]) -> None:
    worker.look()
    seen.clear()
    later(seat, "something else", KNOWN[1])
    assert np.flatnonzero(table_of(seat).encoded[0].missing).tolist() == [60, 61]
    with seat.learner() as opened:
        assert opened.learner.table.n_rows == 62
    running = present(encoding_requests.encoders(seat).running)
    assert running.encoder == "New rows"
    encoding_requests.cancel(seat)
    worker.look()
    assert seen == []
    encoding_requests.resume(seat)
    worker.look()
    encoding_requests.resume(seat)
    assert not latest(seat).unfinished, "only what was cancelled is resumed"
    assert seen == ["something else"], "the other text is known"
    (one,) = table_of(seat).encoded
    np.testing.assert_array_equal(one.values, [*VECTORS, [0, 0, 0], VECTORS[1]])
    assert [entry.labels[:2] for entry in stored(seat)] == [("60", "0"), ("60", "2"), ("62", "0")]
    assert not has_due_work(seat.home)


def test_images_and_captions_are_both_encoded(home: Home, owner: int, worker: EncodingWorker) -> None:
    urls = ["data:image/png;base64," + base64.b64encode(picture(seed)).decode() for seed in range(3)]
    frame = text_frame().assign(image=[urls[place % 3] for place in range(60)])
    roles = Roles(candidates="candidates", id="id", truth="truth", text="text", image="image", image_features=True)
    table = LabelTable.from_frame(frame, roles)
    project = managing.create_project(Seat(home, owner), "both", table, LearnerSettings(n_neighbors=4))
    seat = asked(home, owner, project)
    worker.look()
    encoder(home.encoders_dir / "colors", {"kind": "image", "size": 4}, mean_color())
    offers.ask(seat, "colors")
    worker.look()
    found = [(one.column, one.encoder) for one in encoding_requests.encoders(seat).columns]
    assert found == [("text", "words"), ("image", "colors")]
    table = table_of(seat)
    features = table.features().fit(table)
    X = features.transform(table)
    assert isinstance(X, np.ndarray)
    assert len(features.blocks_) == 4  # image features, both columns' vectors, and the words
    more = frame[:1].assign(id="later", text=KNOWN[1], image=urls[2], truth="")
    upload = importing.read_upload(more.to_csv(index=False).encode())
    more_rows.add_rows(seat, more_rows.read_rows(seat, upload))
    worker.look()
    words, colors = table_of(seat).encoded
    np.testing.assert_array_equal(words.values[60], VECTORS[1])
    np.testing.assert_array_equal(colors.values[60], colors.values[2])
    assert latest(seat).state == trained.DONE


def test_rows_added_by_program_need_no_vectors(seat: Seat, worker: EncodingWorker) -> None:
    worker.look()
    row = text_frame().iloc[0].to_dict() | {"id": "later", "text": KNOWN[2], "truth": ""}
    assert row_records.append_rows(seat, [{name: str(cell) for name, cell in row.items()}]).added == 1
    worker.look()
    np.testing.assert_array_equal(table_of(seat).encoded[0].values[60], VECTORS[2])


def test_missing_encoder_of_added_rows_is_named(
    seat: Seat, worker: EncodingWorker, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "winnow")
    worker.look()
    digest = table_of(seat).encoded[0].sha256
    encoder(seat.home.encoders_dir / "words", {"kind": "text"}, words_of("another"))
    later(seat, "owl")
    worker.look()
    assert latest(seat).fault == (
        f"The encoder words ({digest[:6]}) is no longer on this server. Fix: download it again, or go back to words."
    )
    (line,) = (one for one in caplog.records if "cannot be encoded" in one.message)
    assert latest(seat).fault in line.message
    assert line.exc_info is None
    assert table_of(seat).n_rows == 61
    assert not has_due_work(seat.home), "for an hour it is not tried again"


def failed_long_ago(seat: Seat, hours: float) -> None:
    """Let the latest encoding have failed this long ago, and the folder of encoders be older than that."""
    at = datetime.now(UTC) - timedelta(hours=hours)
    with seat.home.database.write() as session:
        session.execute(update(EncodingRow).where(EncodingRow.id == latest(seat).id).values(ended_at=at))
    os.utime(seat.home.encoders_dir, (0, 0))


def test_added_rows_wait_until_encoder_is_back(seat: Seat, worker: EncodingWorker) -> None:
    worker.look()
    folder = seat.home.encoders_dir
    (folder / "words").rename(folder.parent / "elsewhere")
    later(seat, KNOWN[0], "owl")
    worker.look()
    first = latest(seat)
    assert "no longer on this server" in str(first.fault)
    assert encoding_requests.encoders(seat).tried_again
    failed_long_ago(seat, 0.9)
    assert not has_due_work(seat.home)
    failed_long_ago(seat, 1.1)
    assert has_due_work(seat.home)
    worker.encode_asked()
    again = latest(seat)
    assert (again.id, again.state, again.fault) == (first.id, trained.FAILED, first.fault), "no second request"
    failed_long_ago(seat, 0.1)
    assert not has_due_work(seat.home), "each failure waits for an hour again"
    (folder.parent / "elsewhere").rename(folder / "words")
    assert has_due_work(seat.home), "the folder has changed"
    worker.encode_asked()
    assert latest(seat).state == trained.DONE
    np.testing.assert_array_equal(table_of(seat).encoded[0].values[60:], [VECTORS[0], [0, 0, 0]])
    assert not has_due_work(seat.home)


def test_encoding_one_column_keeps_new_rows_of_another_waiting(home: Home, owner: int, worker: EncodingWorker) -> None:
    """The encoder of one column is gone when another column is encoded: its new rows are not forgotten."""
    urls = ["data:image/png;base64," + base64.b64encode(picture(seed)).decode() for seed in range(3)]
    frame = text_frame().assign(image=[urls[place % 3] for place in range(60)])
    roles = Roles(candidates="candidates", id="id", truth="truth", text="text", image="image")
    table = LabelTable.from_frame(frame, roles)
    project = managing.create_project(Seat(home, owner), "both", table, LearnerSettings(n_neighbors=4))
    seat = asked(home, owner, project)
    worker.look()
    (home.encoders_dir / "words").rename(home.encoders_dir.parent / "elsewhere")
    more = frame[:1].assign(id="later", truth="")
    upload = importing.read_upload(more.to_csv(index=False).encode())
    more_rows.add_rows(seat, more_rows.read_rows(seat, upload))
    worker.look()
    encoder(home.encoders_dir / "colors", {"kind": "image", "size": 4}, mean_color())
    offers.ask(seat, "colors")
    worker.look()
    assert latest(seat).state in (trained.WAITING, trained.FAILED)
    (home.encoders_dir.parent / "elsewhere").rename(home.encoders_dir / "words")
    worker.look()
    assert not any(one.missing.any() for one in table_of(seat).encoded)
    assert not has_due_work(home)


def test_failed_owner_request_is_not_retried(seat: Seat, worker: EncodingWorker) -> None:
    shutil.rmtree(seat.home.encoders_dir / "words")
    worker.look()
    assert latest(seat).state == trained.FAILED
    assert not encoding_requests.encoders(seat).tried_again
    failed_long_ago(seat, 24)
    assert not has_due_work(seat.home)


def test_renamed_encoder_is_recognised_by_its_files(seat: Seat, worker: EncodingWorker) -> None:
    worker.look()
    folder = seat.home.encoders_dir
    (folder / "words").rename(folder / "renamed")
    (folder / "renamed" / "LICENSE").write_text("Apache-2.0")
    later(seat, KNOWN[0])
    worker.look()
    (one,) = table_of(seat).encoded
    assert one.encoder == "renamed"
    np.testing.assert_array_equal(one.values[60], VECTORS[0])


def test_rows_added_at_last_moment_are_queued_again(
    seat: Seat, worker: EncodingWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    encode = encoding.encode_new_rows

    def and_then(*given: Any) -> Any:
        found = encode(*given)
        if table_of(seat).n_rows == 60:
            later(seat, KNOWN[1])
        return found

    monkeypatch.setattr(encoding, "encode_new_rows", and_then)
    worker.look()
    assert latest(seat).state == trained.WAITING
    worker.look()
    assert latest(seat).state == trained.DONE
    assert not table_of(seat).encoded[0].missing.any()


def test_row_without_content_is_noted_and_not_retried(seat: Seat, worker: EncodingWorker) -> None:
    worker.look()
    later(seat, "")
    worker.look()
    assert (latest(seat).state, latest(seat).notes) == (trained.DONE, [])
    assert table_of(seat).encoded[0].missing.tolist() == [False] * 60 + [True]
    assert not has_due_work(seat.home)


# Cache by encoder and content


def test_worker_continues_after_last_batch_of_killed_worker(
    seat: Seat, worker: EncodingWorker, seen: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def die(done: int, _total: int) -> None:
        if done == 32:
            raise Killed

    with monkeypatch.context() as patch:
        at_each_step(patch, die)
        with pytest.raises(Killed):
            worker.look()
    first = list(seen)
    with seat.home.database.write() as session:
        past = datetime.now(UTC) - timedelta(seconds=1)
        trained.keep_lease(session, latest(seat).project_id, "one", past, encoding_worker.TASK)
    EncodingWorker(seat.home, "two").look()
    assert latest(seat).state == trained.DONE
    assert len(first) == 32
    assert len(seen) == len(set(seen)) == 60


def test_second_project_of_same_rows_reuses_vectors(
    home: Home, owner: int, seat: Seat, worker: EncodingWorker, seen: list[str]
) -> None:
    worker.look()
    seen.clear()
    other = asked(home, owner, text_project(home, owner, "again"))
    worker.look()
    assert seen == []
    np.testing.assert_array_equal(table_of(other).encoded[0].values, table_of(seat).encoded[0].values)


def test_damaged_stored_vectors_are_rebuilt(
    home: Home, owner: int, seat: Seat, worker: EncodingWorker, seen: list[str]
) -> None:
    worker.look()
    (path,) = (home.cache_dir / "vectors").glob("*.sqlite3")
    path.write_bytes(b"no database" * 1000)
    other = asked(home, owner, text_project(home, owner, "again"))
    worker.look()
    np.testing.assert_array_equal(table_of(other).encoded[0].values, VECTORS)
    assert len(seen) == 120


def test_least_recently_used_vectors_are_deleted_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vector = MadeVector(np.ones(500, dtype=np.float16), True)
    for place, name in enumerate("abc"):
        KeptVectors(tmp_path, name).keep({"text": vector})
        os.utime(tmp_path / f"{name}.sqlite3", (place, place))
    size = (tmp_path / "a.sqlite3").stat().st_size
    monkeypatch.setattr(vector_memory, "MOST_BYTES", 2 * size)
    assert KeptVectors(tmp_path, "a").find(["text", "other"]).keys() == {"text"}
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.sqlite3", "c.sqlite3"]


# Back to words


def test_back_to_words_removes_vectors_and_is_logged(seat: Seat, worker: EncodingWorker) -> None:
    worker.look()
    answer_next(seat.home, seat.person_id, seat.project_id or 0)
    encoding.back_to_words(seat)
    assert table_of(seat).encoded == ()
    assert [entry.note for entry in stored(seat)] == ["vectors of words", "back to words"]
    assert encoding_requests.encoders(seat).columns == ()
    with seat.learner() as opened:
        assert opened.learner.progress().answers == 1
    with pytest.raises(TableError, match="no vectors that could be removed"):
        encoding.back_to_words(seat)
    asked(seat.home, seat.person_id, seat.project_id or 0)
    worker.look()
    assert [one.encoder for one in encoding_requests.encoders(seat).columns] == ["words"]


def test_back_to_words_cancels_running_encoding(
    seat: Seat, worker: EncodingWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker.look()
    later(seat, "owl")
    at_each_step(monkeypatch, lambda *_: encoding.back_to_words(seat) if table_of(seat).encoded else None)
    worker.look()
    assert latest(seat).state == trained.CANCELLED
    assert table_of(seat).encoded == ()


def test_back_to_words_holds_while_vectors_are_being_stored(
    seat: Seat, worker: EncodingWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All vectors are cached when they are stored again: there is no batch in which to notice the cancel."""
    worker.look()
    later(seat, "owl")
    add_rows = more_rows.add_rows

    def back_first(*given: Any, **options: Any) -> Any:
        monkeypatch.setattr(more_rows, "add_rows", add_rows)
        encoding.back_to_words(seat)
        return add_rows(*given, **options)

    monkeypatch.setattr(more_rows, "add_rows", back_first)
    worker.look()
    assert latest(seat).state == trained.CANCELLED
    assert table_of(seat).encoded == ()
