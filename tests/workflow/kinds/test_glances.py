"""The quality of each project, for lists: from the learners in memory, else as last stored, without waiting."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from db import projects as stored
from plcore.loop import StopRules
from tests.present import present
from tests.workflow.kind_worlds import KindWorld
from tests.workflow.sounds import tone
from tests.workflow.vector_world import vector_project
from tests.workflow.world import annotator, answer_next, small_project, somebody
from workflow.answering import loop
from workflow.files.stored import address, path_of
from workflow.kinds import glances, kind_of
from workflow.kinds.label_vectors.training import ThreadTraining
from workflow.projects import managing, progress
from workflow.rows.row import RowView
from workflow.seat import Seat
from workflow.server.home import Home


def kept(home: Home) -> list[Path]:
    return sorted((home.cache_dir / "glances").glob("*.json"))


def forget(home: Home) -> None:
    """Forget what is in memory, as after a restart."""
    glances._known.pop(home.database, None)


def put_away(home: Home, project: int) -> None:
    home.shelf.settle(project)  # one whose model is being fitted stays
    slot = present(home.shelf.peek(project))
    assert slot.put_away()


def kind_of_project(seat: Seat) -> Any:
    with seat.home.database.read() as session:
        return kind_of(stored.get(session, seat.project_id or 0))


def test_glance_follows_answers(world: KindWorld, seat: Seat) -> None:
    number = seat.project_id or 0
    seat.settle()  # a glance does not wait for a process that holds the learner, such as a fit that ends
    assert progress.at_a_glance(seat)[number].seq == 0, "the learner of a new project is in memory"
    world.answer(seat)
    seat.settle()
    seen = progress.at_a_glance(seat)[number]
    with seat.learner() as opened:
        now = opened.kind.glance(opened.learner, StopRules())
        assert (seen.seq, seen.version) == (opened.learner.seq, opened.learner.model_version)
    assert (seen.what, seen.measured) == (now.what, now.measured)


def test_glance_survives_restart_without_learner(world: KindWorld, seat: Seat) -> None:
    number, home = seat.project_id or 0, seat.home
    world.answer(seat)
    home.shelf.settle(number)
    before = progress.at_a_glance(seat)
    put_away(home, number)
    forget(home)
    assert progress.at_a_glance(seat) == before
    slot = present(home.shelf.peek(number))
    assert slot.learner is None, "looking at the list opens nothing"


def test_new_goal_is_shown_at_once(seat: Seat, world: KindWorld) -> None:
    world.answer(seat)
    progress.at_a_glance(seat)
    progress.change_stop_rules(seat, StopRules(goal=0.85))
    seat.settle()  # a glance does not wait for others who use the learner
    assert progress.at_a_glance(seat)[seat.project_id or 0].goal == 0.85


def test_changed_model_settings_are_shown_at_once(home: Home, owner: int) -> None:
    seat = Seat(home, owner, small_project(home, owner))
    number = seat.project_id or 0
    for _ in range(6):
        answer_next(home, owner, number, choice=1)
    seen = []
    for neighbours in (4, 30, 1, 15):
        managing.change_learner(seat, n_neighbors=neighbours)
        accuracy = present(progress.read_progress(seat).accuracy)
        seat.settle()
        assert progress.at_a_glance(seat)[number].curve[-1] == round(accuracy, 4)
        seen.append(accuracy)
    assert len(set(seen)) > 1, "no entry of the log says so, and the figure is another"


def test_fit_ending_after_last_answer_is_shown(home: Home, owner: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(ThreadTraining, "look", lambda _: None)
        seat = Seat(home, owner, vector_project(home, owner))
        number = seat.project_id or 0
        assert progress.at_a_glance(seat)[number].curve == (), "no model is there yet"
    progress.read_progress(seat)  # begins the fit
    seat.settle()
    seen, held = progress.at_a_glance(seat)[number], progress.read_progress(seat).held_out
    assert (seen.seq, seen.curve) == (0, (round(held.micro_f1.value, 4),))


def test_pace_is_known_if_time_to_goal_is(home: Home, owner: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seat = Seat(home, owner, small_project(home, owner))
    number = seat.project_id or 0
    for _ in range(3):
        answer_next(home, owner, number)
    assert progress.at_a_glance(seat)[number].pace is None, "no goal"
    progress.change_stop_rules(seat, StopRules(goal=0.999))
    kind = kind_of_project(seat)
    real = kind.glance
    monkeypatch.setattr(kind, "glance", lambda *parts: replace(real(*parts), more=30.0))
    answer_next(home, owner, number)
    seat.settle()
    seen = progress.at_a_glance(seat)[number]
    assert seen.pace == progress.read_progress(seat).seconds_per_answer
    assert seen.pace is not None


def test_glance_does_not_wait_for_busy_learner(home: Home, owner: int) -> None:
    seat = Seat(home, owner, small_project(home, owner))
    before = progress.at_a_glance(seat)
    asked = present(loop.next_question(seat))
    loop.submit_answer(seat, asked.token, "is", asked.choices[:1])
    there, go = threading.Event(), threading.Event()

    def hold() -> None:
        slot = present(home.shelf.peek(seat.project_id or 0))
        with slot.lock:
            there.set()
            go.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    there.wait()
    try:
        assert progress.at_a_glance(seat) == before, "what was known before"
    finally:
        go.set()
        holder.join()
    assert progress.at_a_glance(seat) != before


def test_damaged_glance_file_is_rebuilt(home: Home, owner: int, caplog: pytest.LogCaptureFixture) -> None:
    seat = Seat(home, owner, small_project(home, owner))
    before = progress.at_a_glance(seat)
    (file,) = kept(home)
    for wrong in (b"", b"\xff", b"[]", b'{"seq": 1}'):
        file.write_bytes(wrong)
        forget(home)
        caplog.clear()
        assert progress.at_a_glance(seat) == before
        assert "rebuilt" in caplog.text
        assert json.loads(file.read_bytes())["seq"] == 0


def test_glance_ahead_of_log_is_ignored(home: Home, owner: int) -> None:
    seat = Seat(home, owner, small_project(home, owner))
    (number,) = progress.at_a_glance(seat)
    put_away(home, number)
    forget(home)
    (file,) = kept(home)
    file.write_text(json.dumps({**json.loads(file.read_text()), "seq": 99}))
    assert progress.at_a_glance(seat) == {}


def test_person_sees_glances_of_own_projects(home: Home, owner: int) -> None:
    first, second = small_project(home, owner), small_project(home, owner, "second")
    ada = annotator(home, owner, "Ada", "viewer")
    assert set(progress.at_a_glance(Seat(home, ada))) == {first, second}
    managing.archive_project(Seat(home, owner, second))
    assert set(progress.at_a_glance(Seat(home, ada))) == {first}
    assert progress.at_a_glance(Seat(home, somebody(home, owner, "Eve"))) == {}


def test_glance_shows_first_image(home: Home, owner: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seat = Seat(home, owner, small_project(home, owner))
    seat.settle()
    assert progress.at_a_glance(seat)[seat.project_id or 0].picture == ""
    monkeypatch.setattr(
        "workflow.rows.row.row_view", lambda table, row: RowView(row, "r", "data:image/png;base64,AAAA", None, ())
    )
    answer_next(home, owner, seat.project_id or 0)
    seat.settle()
    assert progress.at_a_glance(seat)[seat.project_id or 0].picture == "data:image/png;base64,AAAA"


def test_glance_shows_first_spectrogram(home: Home, owner: int, monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"{'0' * 64}.wav"
    path = path_of(home.media_dir, name)
    path.parent.mkdir(parents=True)
    path.write_bytes(tone(3))
    seat = Seat(home, owner, small_project(home, owner))
    heard = RowView(0, "r", None, None, (), audio=address(name), segment=(1.0, 2.0))
    monkeypatch.setattr("workflow.rows.row.row_view", lambda table, row: heard)
    seat.settle()
    picture = progress.at_a_glance(seat)[seat.project_id or 0].picture
    assert picture.startswith("data:image/png;base64,")
    path.unlink()
    answer_next(home, owner, seat.project_id or 0)
    seat.settle()
    assert progress.at_a_glance(seat)[seat.project_id or 0].picture == picture, "it is drawn once"


def test_full_disk_does_not_break_project_list(home: Home, owner: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(glances, "whole_file", full)
    seat = Seat(home, owner, small_project(home, owner))
    assert seat.project_id in progress.at_a_glance(seat)
    assert kept(home) == []


def test_glance_of_kind_has_no_picture(seat: Seat) -> None:
    kind = kind_of_project(seat)
    with seat.learner() as opened:
        now = kind.glance(opened.learner, StopRules())
    assert now == replace(now, picture="")
