"""Demo projects: the catalogue, how they are made, and what is said about them."""

from __future__ import annotations

import base64
import io
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
import soundfile
from PIL import Image
from sklearn.datasets import load_digits

from plcore import LabelTable, LearnerSettings, TableError
from tests.present import present
from tests.workflow.world import annotator, small_project
from workflow import demos, importing
from workflow.access import Role
from workflow.answering import loop, oracle, room
from workflow.demos import Demo, calls, digits, making, remarks
from workflow.importing.crowd import reliability
from workflow.people import team
from workflow.people.audited import EventFilter, audit_lines
from workflow.projects import managing, progress
from workflow.projects.managing import NAME_LENGTH
from workflow.seat import Seat
from workflow.server.home import Home, open_home
from workflow.server.settings import Settings

# Demos made by a click: imported like any file, without questions, once, and ready to answer


SMALL = b"id,labels,size\n1,a|b,1\n2,b|c,2\n3,a|c,3\n4,a|b,4\n"
FILES = [demos.CALLS, demos.REMARKS]
PATIENCE = 600
"""Seconds that a demo may take to be made on a busy machine."""


@pytest.fixture(scope="module")
def owner_seat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seat]:
    home = open_home(Settings.from_environment({"WINNOW_HOME": str(tmp_path_factory.mktemp("home"))}))
    yield Seat(home, team.ensure_owner(home).id)
    home.close()


class Made(NamedTuple):
    """demo, seat : a demo, and the owner at its project      told : the reported progress
    upload, checked : its file as it was read, and the check of it"""

    demo: Demo
    seat: Seat
    told: list[float]
    upload: importing.Upload
    checked: importing.Checked


@pytest.fixture(scope="module", params=FILES, ids=lambda one: one.key)
def made(request: pytest.FixtureRequest, owner_seat: Seat) -> Made:
    told: list[float] = []
    checks: list[tuple[importing.Upload, importing.Checked]] = []
    check = importing.check

    def noting(upload: importing.Upload, *more: Any) -> importing.Checked:
        checks.append((upload, check(upload, *more)))
        return checks[-1][1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(importing, "check", noting)
        project = making.make(owner_seat, request.param, told.append)
    (noted,) = checks
    return Made(request.param, owner_seat.at(project), told, *noted)


@pytest.mark.slow
def test_demo_imports_without_doubts(made: Made) -> None:
    upload, checked = made.upload, made.checked
    assert checked.table is not None, checked.problems
    assert (checked.doubts, upload.notes) == ((), ())
    assert importing.doubts_about(checked.table, managing.default_settings(checked.table)) == []
    assert importing.made_before(made.seat, upload), "the project knows its file"


@pytest.mark.slow
def test_demo_question_can_be_answered_by_hidden_truth(made: Made) -> None:
    demo, seat = made.demo, made.seat
    question = present(loop.next_question(seat))
    assert len(question.choices) > 1
    assert oracle.can_answer(seat)
    kept = room.room_of(seat)
    assert kept == demo.room
    assert set(kept.descriptions) == set(room.class_names(seat)), "each class is explained"
    summary = managing.get_project(seat)
    assert (summary.name, summary.description) == (demo.name, demo.description)
    assert summary.left > summary.n_rows / 4


@pytest.mark.slow
def test_demo_keeps_its_model_and_reports_progress(made: Made) -> None:
    seat, told = made.seat, made.told
    settings = managing.learner_settings(seat)
    assert (settings["model"], settings["truth_role"]) == (LearnerSettings().model, "hidden")
    assert told == sorted(told)
    assert 0.4 <= told[-1] <= 1


@pytest.mark.slow
def test_demo_is_made_once(made: Made) -> None:
    demo, seat = made.demo, made.seat
    assert making.find(seat, demo) == seat.project_id == making.make(seat, demo)
    job = making.ask(seat, demo)
    assert job.wait(PATIENCE)
    assert job.result() == seat.project_id
    assert making.ask(seat, demo) is job, "two tabs of a person wait for one job"


@pytest.mark.slow
def test_removed_demo_is_made_again(home: Home, owner: int) -> None:
    seat, small = Seat(home, owner), replace(demos.REMARKS, make_file=lambda _on_step: SMALL)
    first = making.ask(seat, small)
    assert first.wait(PATIENCE)
    managing.bin_project(seat.at(first.result()))
    second = making.ask(seat, small)
    assert second is not first
    assert second.wait(PATIENCE)
    assert second.result() != first.result()


@pytest.mark.slow
def test_demo_with_unreadable_file_is_not_created(home: Home, owner: int) -> None:
    seat, broken = Seat(home, owner), replace(demos.REMARKS, make_file=lambda _on_step: b"id,labels\n1,\n")
    with pytest.raises(TableError):
        making.make(seat, broken)
    assert managing.list_projects(seat) == []


def table_of(seat: Seat) -> LabelTable:
    with seat.learner() as opened:
        found: LabelTable = opened.learner.table
    return found


@pytest.mark.proof
def test_answers_improve_demo_model(home: Home, owner: int) -> None:
    """A demo should show that questions pay off: from the first to the hundredth answer."""
    seat = Seat(home, owner)
    at = seat.at(making.make(seat, demos.CALLS))
    before = progress.read_progress(at).accuracy
    oracle.answer_for_me(at, 100)
    at.settle()
    after = progress.read_progress(at).accuracy
    assert before is not None
    assert after is not None
    assert 0.4 < before < 0.7
    assert after > before + 0.08


@pytest.mark.slow
def test_detector_scores_become_weights(owner_seat: Seat) -> None:
    table = table_of(owner_seat.at(making.make(owner_seat, demos.CALLS)))
    assert table.candidate_weights is not None
    assert table.roles.sound_features
    assert len(table.classes) == len(demos.CALLS.room.descriptions)
    question = present(loop.next_question(owner_seat.at(making.make(owner_seat, demos.CALLS))))
    assert question.view.audio


@pytest.mark.slow
def test_demo_votes_reveal_guessing_voter(owner_seat: Seat) -> None:
    found = present(reliability(table_of(owner_seat.at(making.make(owner_seat, demos.REMARKS)))))
    accuracy = {one.name: one.accuracy for one in found.voters}
    assert set(accuracy) == {"Ada", "Ben", "Cleo", "Dan", "Eve", "Finn"}
    assert min(accuracy, key=accuracy.__getitem__) == "Finn"
    assert accuracy["Ada"] > 0.85


@pytest.mark.slow
def test_existing_project_with_demo_name_is_opened(home: Home, owner: int) -> None:
    seat = Seat(home, owner)
    assert making.find(seat, demos.REMARKS) is None
    mine = small_project(home, owner, demos.REMARKS.name)
    assert making.make(seat, demos.REMARKS) == mine


@pytest.mark.slow
def test_making_digits_demo_creates_full_project(home: Home, owner: int) -> None:
    seat = Seat(home, owner)
    project = making.make(seat, demos.DIGITS)
    assert managing.get_project(seat.at(project)).n_rows == 1_797


# The demos by name: no mix-up, and true descriptions


def test_demo_names_and_keys_are_unique() -> None:
    assert len({one.name for one in making.ALL}) == len({one.key for one in making.ALL}) == len(making.ALL)
    assert {name: one.name for name, one in making.BY_NAME.items()} == {one.name: one.name for one in making.ALL}


def test_demo_descriptions_say_that_data_are_synthetic() -> None:
    for demo in making.ALL:
        assert demo.name.startswith("Demo: ")
        assert len(demo.name) <= NAME_LENGTH
        assert "held out" in demo.description
    assert "no bird is in them" in making.CALLS.description
    assert "templates of Winnow's own" in making.REMARKS.description


def test_every_demo_class_has_description() -> None:
    assert set(making.CALLS.room.descriptions) == set(calls.NAMES)
    assert set(making.REMARKS.room.descriptions) == set(remarks.ABOUT)
    assert all(name in making.CALLS.room.guidelines for name in calls.NAMES)
    assert (making.DIGITS.name, making.DIGITS.make_file) == (digits.NAME, None)


# The synthetic clips: the same for each seed, with the stated loudness, and recognizable


@pytest.fixture(scope="module")
def content() -> bytes:
    return calls.make_file()


@pytest.fixture(scope="module")
def table(content: bytes) -> pd.DataFrame:
    with zipfile.ZipFile(io.BytesIO(content)) as file, file.open("calls.csv") as lines:
        return pd.read_csv(lines, keep_default_na=False)


@pytest.mark.proof
def test_calls_demo_is_reproducible_and_small_and_reports_progress(content: bytes) -> None:
    told: list[float] = []
    assert calls.make_file(told.append) == content
    assert len(content) < 9_000_000
    assert told == sorted(told)
    assert (told[0], told[-1] > 0.9) == (0.0, True)


def test_every_row_names_its_own_recording(content: bytes, table: pd.DataFrame) -> None:
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        assert set(table["recording"]) == {name for name in file.namelist() if name.endswith(".flac")}
        samples, rate = soundfile.read(io.BytesIO(file.read("clips/007.flac")), dtype="int16")
    assert (rate, len(samples)) == (calls.RATE, round(calls.SECONDS * calls.RATE))
    assert 1_000 < np.abs(samples).max() < 32_767, "to be heard, and not cut off"
    assert table["id"].is_unique


def test_shortlist_is_scored_and_often_wrong(table: pd.DataFrame) -> None:
    labels = table[[f"label{place}" for place in range(1, 5)]].to_numpy()
    scores = table[[f"score{place}" for place in range(1, 5)]].replace("", "0").astype(float).to_numpy()
    assert (np.diff(scores, axis=1) <= 0).all(), "best first"
    assert ((labels == "") == (scores == 0)).all()
    assert (scores.sum(axis=1) < 1.01).all()
    truth = table["true_label"].to_numpy()
    assert set(truth) == set(calls.NAMES)
    assert (labels == truth[:, None]).any(axis=1).all()
    assert 0.5 < (labels[:, 0] == truth).mean() < 0.8
    assert ((labels != "").sum(axis=1) > 1).mean() > 0.8


@pytest.mark.parametrize("number", range(len(calls.SPECIES)))
def test_species_calls_match_their_descriptions(number: int) -> None:
    """The loudest pitch of a phrase, at its begin and at its end."""
    phrase = calls.SPECIES[number].sing(np.random.default_rng(0))
    assert np.abs(phrase).max() <= 1
    half = len(phrase) // 2
    begin, end = (_pitch(part) for part in (phrase[:half], phrase[half:]))
    low, high = {
        "rising piper": (1_800, 4_600),
        "falling piper": (2_200, 5_400),
        "rattle wren": (4_000, 5_000),
        "slow ticker": (5_400, 6_600),
        "two-note tit": (2_700, 4_100),
        "warble thrush": (1_800, 3_200),
        "reed buzzer": (4_400, 6_600),
        "low hooter": (500, 720),
    }[calls.NAMES[number]]
    assert low < begin < high
    assert low < end < high
    if calls.NAMES[number] == "rising piper":
        assert begin < end
    if calls.NAMES[number] == "falling piper":
        assert begin > end


def _pitch(samples: np.ndarray) -> float:
    return float(np.argmax(np.abs(np.fft.rfft(samples))) * calls.RATE / len(samples))


def test_true_label_is_loudest() -> None:
    """If there are only two singers, each in a separate band, the true label has more power in most clips."""
    rng = np.random.default_rng(5)
    right = [_louder_band(calls.make_clip(rng)) for _ in range(60)]
    assert np.mean([one for one in right if one is not None]) > 0.9


def _louder_band(clip: calls.Clip) -> bool | None:
    """Whether the band below 1 kHz is the louder one exactly if the hooter is the true label; None without a hooter."""
    power = np.abs(np.fft.rfft(clip.samples.astype(float))) ** 2
    edge = round(1_000 * len(clip.samples) / calls.RATE)
    hooter = calls.NAMES.index("low hooter")
    if hooter not in {one for one, _ in clip.shortlist}:
        return None
    return bool(power[:edge].sum() > power[edge:].sum()) == (clip.truth == hooter)


# The demo: made once, only on a first start, and ready for the first question


@pytest.fixture(scope="module")
def digits_made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seat]:
    """The owner at the demo; the tests do not change it."""
    home = open_home(Settings.from_environment({"WINNOW_HOME": str(tmp_path_factory.mktemp("home"))}))
    owner = team.ensure_owner(home).id
    project = present(digits.ensure_demo(home))
    yield Seat(home, owner, project)
    home.close()


def test_digits_is_made_once(digits_made: Seat) -> None:
    assert digits.ensure_demo(digits_made.home) is None
    (one,) = managing.list_projects(Seat(digits_made.home, digits_made.person_id))
    assert (one.id, one.name, one.description) == (digits_made.project_id, digits.NAME, digits.DESCRIPTION)
    assert (one.n_rows, one.n_classes) == (1_797, 10)
    assert one.left == one.n_to_ask > 900


def test_home_with_deleted_project_gets_no_demo(home: Home, owner: int) -> None:
    seat = Seat(home, owner, small_project(home, owner))
    assert digits.ensure_demo(home) is None
    managing.bin_project(seat)
    assert digits.ensure_demo(home) is None


def test_demo_needs_owner(tmp_path: Path) -> None:
    home = open_home(Settings.from_environment({"WINNOW_HOME": str(tmp_path / "new")}))
    try:
        with pytest.raises(LookupError, match=r"Fix: call ensure_owner\(home\) first"):
            digits.ensure_demo(home)
    finally:
        home.close()


def test_first_question_shows_digit_image(digits_made: Seat) -> None:
    question = present(loop.next_question(digits_made))
    assert len(question.choices) > 1
    assert set(question.choices) <= set(digits.LABELS)
    assert oracle.can_answer(digits_made)
    head, content = (question.view.image or "").split(",")
    assert head == "data:image/png;base64"
    grey = np.asarray(Image.open(io.BytesIO(base64.b64decode(content))), dtype=int)
    drawn = load_digits().images[question.view.row]
    np.testing.assert_allclose(grey, 255 - drawn * 255 / 16, atol=1)


def test_digits_cells_are_reproducible_and_contain_truth() -> None:
    (cells, roles), (again, _) = digits.demo_cells(), digits.demo_cells()
    assert cells.equals(again)
    table = LabelTable.from_cells(cells, roles)
    assert table.truth is not None
    assert table.candidates[np.arange(table.n_rows), table.truth].all()
    share = (table.candidates.sum(axis=1) > 1).mean()
    assert abs(share - digits.CONTAMINATED_SHARE) < 0.05
    assert len(table.features().fit(table, np.arange(100)).transform(table, np.arange(3))[0]) == 64


# The synthetic crowd: the same for each seed, with the stated accuracy, and frequent disagreement


@pytest.fixture(scope="module")
def remarks_table() -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(remarks.make_file()), keep_default_na=False)


def test_remarks_demo_is_reproducible() -> None:
    told: list[float] = []
    assert remarks.make_file(told.append) == remarks.make_file()
    assert told == [1.0]


def test_messages_are_whole_sentences(remarks_table: pd.DataFrame) -> None:
    assert len(remarks_table) == remarks.MESSAGES
    assert remarks_table["message"].str[0].str.isupper().all()
    assert not remarks_table["message"].str.contains(r"[{},]|\.\.").any()
    assert remarks_table["message"].is_unique or remarks_table["message"].nunique() > 0.9 * len(remarks_table)
    assert set(remarks_table["true_label"]) == set(remarks.ABOUT)


@pytest.mark.parametrize("person", remarks.CROWD)
def test_estimated_accuracy_matches_simulated_annotators(remarks_table: pd.DataFrame, person: str) -> None:
    seen = remarks_table[remarks_table[person] != ""]
    assert abs(len(seen) / len(remarks_table) - np.mean(remarks.VOTES) / len(remarks.CROWD)) < 0.05
    right = float((seen[person] == seen["true_label"]).mean())
    assert abs(right - remarks.CROWD[person]) < 0.07


def test_simulated_annotators_often_differ_and_never_all_miss_truth(remarks_table: pd.DataFrame) -> None:
    votes = [set(row) - {""} for row in remarks_table[list(remarks.CROWD)].to_numpy().tolist()]
    assert np.mean([len(one) > 1 for one in votes]) > 0.6
    assert all(truth in one for truth, one in zip(remarks_table["true_label"], votes, strict=True))


# A tour that was ended stays so: for this person, at this project


def test_tour_is_ended_for_one_person_and_project(home: Home, owner: int) -> None:
    seat, other = (Seat(home, owner, small_project(home, owner, name)) for name in ("one", "two"))
    ada = Seat(home, annotator(home, owner, "Ada", Role.VIEWER), seat.project_id)
    assert not making.ended(seat)
    making.end(ada)
    assert (making.ended(ada), making.ended(seat), making.ended(other)) == (True, False, False)
    making.end(seat)
    assert (making.ended(seat), making.ended(other)) == (True, False)


def test_ending_tour_twice_is_audited_once(home: Home, owner: int) -> None:
    seat = Seat(home, owner, small_project(home, owner))
    making.end(seat)
    making.end(seat)
    lines = [one for one in audit_lines(seat.everywhere, EventFilter()) if one.what == "tour ended"]
    assert len(lines) == 1
