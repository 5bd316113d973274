"""Shortlists: what is shown first, what is logged, that checks are not revealed, and what is measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from plcore import ActiveLearner, Entry, LabelTable, LearnerSettings, Roles
from plcore.evaluation import checks_needed
from plcore.loop.one_label import Trainer
from tests.workflow.shortlisted import answer_rows, checks_left, long_sets, shortlist_project, want
from tests.workflow.world import annotator, log, opened
from workflow.answering import loop, room, undoing
from workflow.answering.asked import AskedAs
from workflow.answering.room_settings import miss_of
from workflow.kinds.one_label.shortlists import thresholds_of
from workflow.kinds.one_label.showing import ShownQuestion
from workflow.projects import classes, managing, progress
from workflow.seat import Seat
from workflow.server.home import Home, open_home


def figures(learner: ActiveLearner[LabelTable]) -> tuple[list[float], list[float]]:
    found = thresholds_of(learner, 0.9)
    return found.cuts.tolist(), found.thresholds.tolist()


def last_asked(home: Home, project: int) -> AskedAs:
    asked = log(home, project)[-1].asked
    assert asked is not None
    return AskedAs.from_json(asked)


def others(home: Home, owner: int, project: int) -> list[int]:
    """Open rows that are not blind checks."""
    with opened(home, owner, project) as learner:
        pool = learner.pool
        return [int(row) for row in np.flatnonzero(~pool.control_rows & (pool.sizes >= 2))]


def shortlisted(seat: Seat) -> ShownQuestion:
    """A question that does not show all choices at first, now before the person."""
    rows = others(seat.home, seat.person_id, seat.project_id)
    return next(one for one in (loop.ask_next(seat, row) for row in rows) if one.first is not None)


def with_checks(home: Home, owner: int, promise: float | None = 0.9, number: int = 30) -> tuple[Seat, list[str]]:
    """The owner's seat at a project with this many answered checks, and the truth of each row."""
    project, truth = shortlist_project(home, owner, promise)
    seat = Seat(home, owner, project)
    answer_rows(seat, checks_left(home, owner, project)[:number], truth)
    return seat, truth


def test_all_choices_are_shown_until_enough_checks(home: Home, owner: int) -> None:
    project, truth = shortlist_project(home, owner, 0.9)
    seat = Seat(home, owner, project)
    answer_rows(seat, checks_left(home, owner, project)[: checks_needed(0.1) - 1], truth)
    for row in others(home, owner, project)[:5]:
        assert loop.ask_next(seat, row).first is None
    view = room.shortlists_of(seat)
    assert (view.in_force, view.missing(0.9), view.missing(0.95)) == (False, 1, 11)
    answer_rows(seat, checks_left(home, owner, project)[:1], truth)
    assert room.shortlists_of(seat).in_force
    shown = [loop.ask_next(seat, row).first for row in others(home, owner, project)[:20]]
    assert any(first is not None and first < 6 for first in shown)


def test_shortlist_is_shown_first_and_logged(home: Home, owner: int) -> None:
    seat, truth = with_checks(home, owner)
    question = shortlisted(seat)
    assert question.behind == 6 - question.first >= 2
    assert sorted(one.label for one in question.candidates) == sorted(question.choices)
    first = tuple(one.label for one in question.candidates[: question.first])
    shares = [one.probability for one in question.candidates[: question.first]]
    assert shares == sorted(shares, reverse=True)
    assert min(shares) >= max(one.probability for one in question.candidates[question.first :])
    loop.submit_answer(seat, question.token, "is", [truth[question.view.row]])
    how = last_asked(seat.home, seat.project_id)
    assert (how.form, how.choices, how.first) == ("which", len(first), first)


def test_fixed_order_applies_within_and_behind_shortlist(home: Home, owner: int) -> None:
    seat, _ = with_checks(home, owner, 0.99, number=60)
    room.change_room(seat, replace(room.room_of(seat), order="fixed", shortlist=0.9))
    question = shortlisted(seat)
    labels = [one.label for one in question.candidates]
    assert labels[: question.first] == sorted(labels[: question.first])
    assert labels[question.first :] == sorted(labels[question.first :])


def test_blind_checks_show_all_choices_and_log_their_shortlist(home: Home, owner: int) -> None:
    seat, truth = with_checks(home, owner)
    row = checks_left(home, owner, seat.project_id)[0]
    question = loop.ask_next(seat, row, drawn=True)
    assert question.first is None
    loop.submit_answer(seat, question.token, "is", [truth[row]])
    how = last_asked(home, seat.project_id)
    assert how.choices == 6
    assert how.first is not None
    assert len(how.first) < 6


def test_blind_checks_look_like_other_full_questions(home: Home, owner: int) -> None:
    """Checks and ordinary questions look the same: both those whose list hides something, and those shown in full."""
    project, truth = shortlist_project(home, owner, 0.9, n=600, control_share=0.1)
    seat = Seat(home, owner, project)
    checks = checks_left(home, owner, project)
    answer_rows(seat, checks[:40], truth)
    rows = others(home, owner, project)[:200]
    full = [row for row in rows if loop.ask_next(seat, row).first is None]
    share = len(full) / len(rows)
    drawn = 2 * 0.1 / 0.9
    assert drawn - 4 * np.sqrt(drawn * (1 - drawn) / len(rows)) < share
    # With 10% checks, at most about a third of the questions shown in full are checks.
    assert 0.1 / (0.1 + 0.9 * share) < 0.4
    a, b = loop.ask_next(seat, full[0]), loop.ask_next(seat, checks[40], drawn=True)
    assert (a.first, a.behind) == (b.first, b.behind) == (None, 0)
    assert a.why.split(" could")[0] == b.why.split(" could")[0]


def test_row_shown_in_full_stays_in_full(home: Home, owner: int) -> None:
    seat, _ = with_checks(home, owner)
    for row in others(home, owner, seat.project_id)[:12]:
        question = loop.ask_next(seat, row)
        again = loop.next_question(seat)
        assert (again.token, again.first) == (question.token, question.first)
        assert [one.label for one in again.candidates] == [one.label for one in question.candidates]


def test_shortlist_on_screen_stays_while_model_learns(home: Home, owner: int) -> None:
    seat, truth = with_checks(home, owner, number=12)
    question = shortlisted(seat)
    kept = [one.label for one in question.candidates]
    bee = Seat(home, annotator(home, owner, "Bee"), seat.project_id)
    answer_rows(bee, checks_left(home, owner, seat.project_id)[:30], truth)  # the threshold is another now
    again = loop.next_question(seat)
    assert again.model_version != question.model_version
    assert (again.token, again.first) == (question.token, question.first)
    assert [one.label for one in again.candidates] == kept


def test_full_question_on_screen_gets_no_shortlist_later(home: Home, owner: int) -> None:
    seat, _ = with_checks(home, owner, None)
    rows = others(home, owner, seat.project_id)
    question = loop.ask_next(seat, rows[0])
    want(seat, 0.9)
    again = loop.next_question(seat)
    assert (again.token, again.first) == (question.token, None)
    loop.submit_answer(seat, again.token, "is", [again.choices[0]])
    assert last_asked(home, seat.project_id).first is None
    assert shortlisted(seat), "questions after it have theirs"


def test_ruling_out_choice_makes_new_shortlist(home: Home, owner: int) -> None:
    seat, truth = with_checks(home, owner)
    question = shortlisted(seat)
    wrong = next(one.label for one in question.candidates if one.label != truth[question.view.row])
    loop.submit_answer(seat, question.token, "not", [wrong], shown=question.shown)
    again = loop.next_question(seat)
    assert again.view.row == question.view.row
    assert wrong not in [one.label for one in again.candidates]
    assert again.first is None or again.behind == 5 - again.first


def test_threshold_is_rebuilt_with_every_version(home: Home, owner: int) -> None:
    seat, truth = with_checks(home, owner, number=20)
    with opened(home, owner, seat.project_id) as learner:
        assert np.isfinite(figures(learner)[1]).any()
    left = checks_left(home, owner, seat.project_id)
    answer_rows(seat, left[:20], truth, none=left[:8])
    with opened(home, owner, seat.project_id) as learner:
        assert np.isinf(figures(learner)[1]).all()  # the truth is not a candidate of 8 in 40
    view = room.shortlists_of(seat)
    assert (view.in_force, view.outside[:2]) == (False, (8, 40))


def test_online_model_has_no_shortlists(home: Home, owner: int) -> None:
    seat, _ = with_checks(home, owner)
    managing.change_learner(seat, model="perceptron-average")
    view = room.shortlists_of(seat)
    assert (view.leaves_out, view.in_force) == (False, False)
    for row in others(home, owner, seat.project_id)[:5]:
        assert loop.ask_next(seat, row).first is None


def trained(weighed: bool = False, checks: int = 30) -> tuple[ActiveLearner[LabelTable], list[Entry]]:
    """A kernel ridge on rows whose blind checks are answered, this many of them before its version; and the entries.
    weighed : whether the table has weights of the candidates"""
    frame, truth = long_sets()
    numbers = tuple(name for name in frame if name.startswith("x"))
    table = LabelTable.from_frame(frame, Roles(candidates="candidates", id="id", numbers=numbers))
    if weighed:
        rng = np.random.default_rng(0)
        weights = np.where(table.candidates, rng.random(table.candidates.shape) + 0.1, 0)
        table = replace(table, candidate_weights=weights)
    learner = ActiveLearner(table, LearnerSettings(model="kernelridge", control_share=0.25, test_share=0.0))
    entries_ = [
        Entry(seq, "is", int(row), "ann", (learner.classes[truth[row]],))
        for seq, row in enumerate(learner.pool.control_left()[:checks], start=1)
    ]
    for entry in entries_:
        learner.apply(entry)
    version = Trainer(learner.pool).train()
    learner.publish(version.scores, [version.point])
    return learner, entries_


def test_weighing_model_has_no_shortlists() -> None:
    assert np.isfinite(figures(trained()[0])[1]).any()
    assert np.isinf(figures(trained(weighed=True)[0])[1]).all()


def test_threshold_is_independent_of_first_request() -> None:
    """Checks that were answered, or changed, after the version do not count, in this process or another."""
    early, _ = trained()
    late, told = trained()
    before = figures(early)
    left = [int(row) for row in early.pool.control_left() if not early.pool.first[row].all()][:10]
    for learner in (early, late):
        for seq, row in enumerate(left, start=len(told) + 1):
            learner.apply(Entry(seq, "none", row, "ann"))
    assert figures(early) == figures(late) == before
    for learner in (early, late):
        for seq, entry in enumerate(told[:22], start=len(told) + len(left) + 1):
            learner.apply(Entry(seq, "withdraw", entry.row, "ann", (), entry.seq))
    assert np.isinf(figures(early)[1]).all(), "eight of the checks are left, and it takes nine"
    assert np.isinf(figures(late)[1]).all()


@pytest.mark.parametrize("checks", [0.1, 0.3])
def test_a_third_of_full_questions_are_checks(home: Home, owner: int, checks: float) -> None:
    project, _ = shortlist_project(home, owner, control_share=checks)
    in_full = room.shortlists_of(Seat(home, owner, project)).in_full
    assert checks / (checks + (1 - checks) * in_full) == pytest.approx(1 / 3)


def test_no_shortlist_if_a_third_of_rows_are_checks(home: Home, owner: int) -> None:
    project, truth = shortlist_project(home, owner, control_share=0.4)
    seat = Seat(home, owner, project)
    answer_rows(seat, checks_left(home, owner, project)[:30], truth)
    view = room.shortlists_of(seat)
    assert (view.in_full, view.in_force) == (1.0, False)
    for row in others(home, owner, project)[:5]:
        assert loop.ask_next(seat, row).first is None


def test_no_shortlist_is_shown_or_logged_without_setting(home: Home, owner: int) -> None:
    seat, truth = with_checks(home, owner, None)
    row = others(home, owner, seat.project_id)[0]
    answer_rows(seat, [row], truth)
    assert last_asked(home, seat.project_id) == AskedAs("which", choices=6)
    view = room.shortlists_of(seat)
    assert (view.promise, view.measured, view.checks) == (None, 0, 30)


def test_shortlist_rate_is_measured_on_checks(home: Home, owner: int) -> None:
    seat, truth = with_checks(home, owner, number=30)
    left = checks_left(home, owner, seat.project_id)
    before = room.shortlists_of(seat)
    answer_rows(seat, left[:6], truth, none=left[:1])
    held = listed = 0
    for entry in log(home, seat.project_id)[-6:]:
        how = AskedAs.from_json(entry.asked or {})
        listed += how.first is not None
        held += how.first is not None and entry.kind == "is" and entry.labels[0] in how.first
    view = room.shortlists_of(seat)
    assert view.measured - before.measured == listed == 5  # "none" leaves checks that are as sure no threshold
    assert view.held - before.held == held <= 5
    assert view.held_interval[0] < view.held / view.measured <= view.held_interval[1]
    assert progress.read_progress(seat).shortlists == view


def test_answers_to_shortlists_are_counted_by_kind(home: Home, owner: int) -> None:
    seat, _ = with_checks(home, owner)
    for kind in ("first", "other", "none", "skip", "taken back"):
        question = shortlisted(seat)
        labels = [one.label for one in question.candidates]
        given = {"first": ("is", [labels[0]]), "other": ("is", [labels[-1]]), "none": ("none", [])}
        loop.submit_answer(
            seat, question.token, *given.get(kind, ("is", labels[:1]) if kind != "skip" else ("skip", []))
        )
        if kind == "taken back":
            undoing.undo(seat)
    view = room.shortlists_of(seat)
    assert (view.asked, view.none, view.others) == (3, 1, 1)
    assert view.none_interval[0] < 1 / 3 < view.none_interval[1]


def test_renamed_class_keeps_its_shortlists(home: Home, owner: int) -> None:
    seat, _ = with_checks(home, owner, number=40)
    before = room.shortlists_of(seat)
    classes.change_classes(seat, 0, "rename", ["ant", "aardvark"])
    assert before.held
    assert room.shortlists_of(seat).held == before.held


def test_rebuilt_learner_has_same_thresholds(home: Home, owner: int) -> None:
    seat, truth = with_checks(home, owner, number=40)
    answer_rows(seat, others(home, owner, seat.project_id)[:5], truth)
    before = room.shortlists_of(seat)
    with opened(home, owner, seat.project_id) as learner:
        thresholds = figures(learner)
    again = open_home(home.settings)
    assert room.shortlists_of(Seat(again, owner, seat.project_id)) == before
    with opened(again, owner, seat.project_id) as learner:
        assert figures(learner) == thresholds
    again.close()


@pytest.mark.parametrize(("promise", "miss"), [(0.9, 0.1), (0.95, 0.05), (0.99, 0.01)])
def test_miss_is_complement_of_promise(promise: float, miss: float) -> None:
    assert miss_of(promise) == miss


def test_shortlist_setting_can_change_while_question_is_open(home: Home, owner: int) -> None:
    seat, _ = with_checks(home, owner)
    question = shortlisted(seat)
    want(seat, None)
    again = loop.next_question(seat)
    assert (again.token, again.first) == (question.token, None)
