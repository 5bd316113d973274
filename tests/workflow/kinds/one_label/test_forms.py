"""Question forms: drawn or chosen, never depending on blind checks, and stored with the answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from plcore import LabelTable, LearnerSettings, Roles
from plcore.loop.base import CONTROL
from plcore.query import SecondsModel, SecondsPrior
from tests.present import present
from tests.workflow.four import four_class_project
from tests.workflow.world import annotator, log, opened, small_frame
from workflow.answering import loop, room, undoing
from workflow.answering.asked import AskedAs, QuestionForm
from workflow.answering.room import RoomSettings
from workflow.kinds.one_label import forms, turn
from workflow.kinds.one_label.showing import ShownQuestion
from workflow.log.verifying import verify_project
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home

WHICH, IS, GROUP = QuestionForm.WHICH, QuestionForm.IS, QuestionForm.GROUP
CHEAPEST = RoomSettings(forms="cheapest", drawn_forms=False)
PAIRS = {"furry": ("cat", "dog"), "insect": ("ant", "bee")}


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Choose forms from the first question on."""
    monkeypatch.setattr(forms, "FROM_ANSWERS", 0)
    monkeypatch.setattr(forms, "FIRST_AS_USUAL", 0)


@pytest.fixture
def seat(home: Home, owner: int) -> Seat:
    return Seat(home, owner, four_class_project(home, owner))


def put_all(
    seat: Seat, settings: RoomSettings, tokens: Iterable[str], n_first: int | None = None, **changes: object
) -> list[AskedAs]:
    """The forms of a question about row 1 under these settings, for each of these tokens."""
    with opened(seat.home, seat.person_id, seat.project_id) as learner:
        question = replace(learner.question_for(1), **changes)
        first = n_first or len(question.choices)
        return [forms.form_of(learner, settings, seat.person_id, token, question, dict, first) for token in tokens]


def put(seat: Seat, settings: RoomSettings, token: str, n_first: int | None = None, **changes: object) -> AskedAs:
    """The same for one token."""
    return put_all(seat, settings, [token], n_first, **changes)[0]


def show(seat: Seat) -> ShownQuestion:
    question = present(loop.next_question(seat))
    return question


def asked_of(seat: Seat) -> list[AskedAs | None]:
    return [None if one.asked is None else AskedAs.from_json(one.asked) for one in log(seat.home, seat.project_id)]


def yes_no_project(home: Home, owner: int, n: int = 60, **settings: object) -> Seat:
    """Every row has all four classes as candidates; three of them occur, well separated."""
    frame = small_frame(n)
    frame["candidates"] = "ant|bee|cat|dog"
    roles = Roles(candidates="candidates", truth="truth", id="id", numbers=("x", "y"))
    table = LabelTable.from_frame(frame, roles)
    made = managing.create_project(
        Seat(home, owner), "sure", table, LearnerSettings(n_neighbors=4, test_share=0.0, **settings)
    )
    return Seat(home, owner, made)


def answer_all_but(seat: Seat, n: int, truth: list[str]) -> None:
    """Answer questions with the truth until n rows are left."""
    for _ in range(len(truth) - n):
        question = show(seat)
        loop.submit_answer(seat, question.token, "is", [truth[question.view.row]])


# Which form


def test_every_question_is_which_by_default(seat: Seat) -> None:
    assert put(seat, replace(CHEAPEST, drawn_forms=True), "t") == AskedAs(WHICH, choices=3)
    # For their first twenty:
    assert {one.form for one in put_all(seat, RoomSettings(), map(str, range(200)))} == {WHICH}


def test_one_in_twenty_questions_has_drawn_form(seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "FIRST_AS_USUAL", 0)
    tokens = [f"1.7.{k}" for k in range(2000)]
    found = put_all(seat, RoomSettings(), tokens)
    drawn = [one for one in found if one.drawn]
    assert 70 <= len(drawn) <= 130
    by_form = {form: sum(one.form == form for one in drawn) for form in (WHICH, IS)}
    assert sum(by_form.values()) == len(drawn)
    assert min(by_form.values()) >= 0.35 * len(drawn)  # "which" is drawn as often: there is something to compare with
    assert {one.form for one in found if not one.drawn} == {WHICH}
    assert found == put_all(seat, RoomSettings(), tokens)
    assert not any(one.drawn for one in put_all(seat, RoomSettings(drawn_forms=False), tokens))


def test_cheapest_form_waits_for_two_hundred_answers(seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "FIRST_AS_USUAL", 0)
    sure = {"probabilities": (0.9, 0.05, 0.05)}
    assert put(seat, CHEAPEST, "t", **sure).form == WHICH
    monkeypatch.setattr(forms, "FROM_ANSWERS", 0)
    assert put(seat, CHEAPEST, "t", **sure) == AskedAs(IS, ("ant",), choices=1)
    assert put(seat, replace(CHEAPEST, forms="which"), "t", **sure).form == WHICH


@pytest.mark.usefixtures("at_once")
def test_cheapest_form_is_yes_no_if_model_is_confident(seat: Seat) -> None:
    choices = tuple(f"k{place}" for place in range(8))
    torn = {"choices": choices, "probabilities": (1 / 8,) * 8}
    sure = {"choices": choices, "probabilities": (0.02, 0.86, *(0.02,) * 6)}
    assert put(seat, CHEAPEST, "t", **torn) == AskedAs(WHICH, choices=8)
    assert put(seat, CHEAPEST, "t", **sure) == AskedAs(IS, ("k1",), choices=1)
    never_wrong = {"choices": choices, "probabilities": (1.0, *(0.0,) * 7)}
    assert put(seat, CHEAPEST, "t", **never_wrong).form == IS  # no model is as sure as that
    assert put(seat, CHEAPEST, "t", choices=("ant",), probabilities=(1.0,)) == AskedAs(WHICH, choices=1)


@pytest.mark.usefixtures("at_once")
def test_shortlist_makes_which_cheaper(seat: Seat) -> None:
    """The list shown first counts; the log has how many were shown."""
    choices = tuple(f"k{place}" for place in range(30))
    found = {"choices": choices, "probabilities": (0.55, 0.25, 0.15, *(0.05 / 27,) * 27)}
    assert put(seat, CHEAPEST, "t", **found).form == IS
    assert put(seat, CHEAPEST, "t", 3, **found) == AskedAs(WHICH, choices=30)


@pytest.mark.usefixtures("at_once")
def test_form_does_not_reveal_blind_check(seat: Seat) -> None:
    """The form depends only on what the screen shows of every row, and on the token."""
    for settings in (CHEAPEST, RoomSettings()):
        for shares in ((0.9, 0.05, 0.05), (0.4, 0.3, 0.3)):
            tokens = [str(k) for k in range(100)]
            usual = put_all(seat, settings, tokens, probabilities=shares)
            blind = {"strategy": CONTROL, "score": 0.05, "decides": 0, "row": 4}
            assert put_all(seat, settings, tokens, probabilities=shares, **blind) == usual


def test_blind_check_is_completed_in_any_form(home: Home, owner: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "FIRST_AS_USUAL", 0)
    monkeypatch.setattr(forms, "DRAWN_SHARE", 1.0)
    seat = yes_no_project(home, owner, control_share=0.5)
    with opened(home, owner, seat.project_id) as learner:
        checks = learner.pool.control_rows.copy()
    form_of_row = {}
    while len(form_of_row) < 40:
        question = show(seat)
        row, form = question.view.row, asked_now(seat).form
        form_of_row.setdefault(row, form)
        loop.submit_answer(seat, question.token, "not", [question.choices[0]])
        while (stays := show(seat)).view.row == row:
            loop.submit_answer(seat, stays.token, "not", [stays.choices[0]])
    for kind in (True, False):
        seen = [form for row, form in form_of_row.items() if checks[row] == kind]
        assert set(seen) == {WHICH, IS}


def asked_now(seat: Seat) -> AskedAs:
    """The stored form of the question on this person's screen."""
    with seat.turn() as turn:
        question = present(turn.open_now())
        return AskedAs.from_json(question.asked)


# Answers


@pytest.mark.usefixtures("at_once")
def test_yes_no_answers_update_candidates(home: Home, owner: int) -> None:
    seat = yes_no_project(home, owner)
    truth = small_frame().truth.tolist()
    answer_all_but(seat, 12, truth)
    room.change_room(seat, CHEAPEST)
    before = len(log(home, seat.project_id))
    question = show(seat)
    assert question.yes_no is not None
    assert question.yes_no.labels == (question.yes_no.name,)
    assert question.yes_no.probability == max(question.probabilities)
    assert len(question.candidates) == 4  # all can be shown
    assert show(seat) == question
    asked = question.yes_no.name
    saved = loop.submit_answer(seat, question.token, "not", [asked], shown=question.shown)
    again = loop.submit_answer(seat, question.token, "not", [asked], shown=question.shown)
    assert (saved.seq, again.repeated) == (again.seq, True)
    stays = show(seat)
    assert stays.view.row == question.view.row
    assert asked not in stays.choices
    loop.submit_answer(seat, stays.token, "is", [stays.choices[0]], shown=stays.shown)
    first, second = log(home, seat.project_id)[before:]
    assert AskedAs.from_json(first.asked) == AskedAs(IS, (asked,), choices=1)
    assert (first.kind, first.labels, len(first.after)) == ("not", (asked,), 3)
    assert second.asked is not None
    assert second.asked["choices"] in (1, 3)
    undoing.undo(seat, seq=second.seq)
    assert show(seat).view.row == question.view.row
    assert undoing.redo(seat) is not None
    assert log(home, seat.project_id)[-1].asked == second.asked
    assert verify_project(seat)[0].entries == len(log(home, seat.project_id))  # replay is live
    question = show(seat)
    assert question.yes_no is not None
    loop.submit_answer(seat, question.token, "is", [question.yes_no.name])
    with opened(home, owner, seat.project_id) as learner:
        assert learner.candidates_of(question.view.row).sum() == 1


@pytest.mark.usefixtures("at_once")
def test_yes_no_question_accepts_other_answers(home: Home, owner: int) -> None:
    seat = yes_no_project(home, owner)
    answer_all_but(seat, 12, small_frame().truth.tolist())
    room.change_room(seat, CHEAPEST)
    for kind, labels in (("skip", []), ("unsure", []), ("bad", []), ("is", ["dog"]), ("among", ["ant", "dog"])):
        question = show(seat)
        assert question.yes_no is not None
        loop.submit_answer(seat, question.token, kind, labels, shown=question.shown)
        assert show(seat).view.row != question.view.row
        assert log(home, seat.project_id)[-1].asked["form"] == IS


def group_question(seat: Seat) -> ShownQuestion:
    """Row 0, asked whether it is furry: the model gives these two classes a share of one half."""
    room.change_room(seat, RoomSettings(groups=PAIRS, forms="cheapest", drawn_forms=False))
    question = loop.ask_next(seat, 0)
    assert question.yes_no is not None
    assert (question.yes_no.name, question.yes_no.labels) == ("furry", ("cat", "dog"))
    return question


@pytest.fixture
def halves(home: Home, owner: int, monkeypatch: pytest.MonkeyPatch) -> Seat:
    """A project in which yes or no costs a fifth of "which"."""
    monkeypatch.setattr(forms, "FROM_ANSWERS", 0)
    monkeypatch.setattr(forms, "FIRST_AS_USUAL", 0)
    cheap = SecondsModel(SecondsPrior(yes_no=0.2, slope=0.1))
    monkeypatch.setattr(forms, "prices_of", lambda _learner: forms.Prices(cheap))
    return yes_no_project(home, owner)


def test_group_question_keeps_row_on_screen(halves: Seat) -> None:
    question = group_question(halves)
    loop.submit_answer(halves, question.token, "among", ["cat", "dog"], shown=question.shown)
    stays = show(halves)
    assert (stays.view.row, stays.choices) == (0, ("cat", "dog"))
    loop.submit_answer(halves, stays.token, "is", ["dog"], shown=stays.shown)
    undoing.undo(halves)
    undoing.undo(halves)
    question = show(halves)
    assert question.view.row == 0
    loop.submit_answer(halves, question.token, "among", ["ant", "bee"], shown=question.shown)
    assert (show(halves).view.row, show(halves).choices) == (0, ("ant", "bee"))
    assert asked_of(halves)[0] == AskedAs(GROUP, ("cat", "dog"), choices=2)


def test_marking_other_candidates_is_full_answer(halves: Seat) -> None:
    """Opening the list and marking some is a full answer, as always."""
    question = group_question(halves)
    loop.submit_answer(halves, question.token, "among", ["cat", "ant"], shown=question.shown)
    assert show(halves).view.row != 0


def test_group_answer_with_changed_candidates_is_refused(halves: Seat) -> None:
    question = group_question(halves)
    with halves.learner() as found:
        before = found.learner.seq
    with pytest.raises(loop.StaleQuestion, match="have changed since"):
        loop.submit_answer(halves, question.token, "among", ["ant", "bee"], shown="another stamp")
    with halves.learner() as found:
        assert found.learner.seq == before


def test_independent_answers_ask_no_group_questions(home: Home, owner: int, halves: Seat) -> None:
    annotator(home, owner, "Ada")
    managing.change_learner(halves, overlap=2)
    room.change_room(halves, RoomSettings(groups=PAIRS, forms="cheapest", drawn_forms=False))
    question = loop.ask_next(halves, 0)
    assert question.yes_no is None or len(question.yes_no.labels) == 1


def test_open_question_keeps_its_form() -> None:
    asked = AskedAs(IS, ("ant",), choices=1)
    assert forms.kept(asked, ("ant", "bee")) == asked
    assert forms.kept(asked, ("bee", "cat")) == AskedAs(WHICH, choices=2)  # someone has ruled it out
    pair = AskedAs(GROUP, ("ant", "bee"), drawn=True, choices=2)
    assert forms.kept(pair, ("ant", "bee", "cat")) == pair
    assert forms.kept(pair, ("ant", "bee")) == AskedAs(WHICH, drawn=True, choices=2)
    assert forms.kept(AskedAs(WHICH, choices=3), ("ant", "bee")) == AskedAs(WHICH, choices=2)


def test_yes_no_question_logs_hidden_shortlist(seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks measure lists, and some are asked as yes or no: those the model is confident of."""
    monkeypatch.setattr(forms, "FIRST_AS_USUAL", 0)
    monkeypatch.setattr(forms, "DRAWN_SHARE", 1.0)
    monkeypatch.setattr(turn, "shortlist", lambda *_args: ("ant",))
    room.change_room(seat, RoomSettings(shortlist=0.9))
    seen = set()
    for _ in range(12):
        question = show(seat)
        how = asked_now(seat)
        assert how.first == ("ant",)
        if how.form == IS:
            assert (how.choices, question.first) == (1, None)  # all are behind A
        seen.add(how.form)
        loop.submit_answer(seat, question.token, "is", [question.choices[0]])
    assert seen == {WHICH, IS}


# Its cost


def test_question_costs_are_estimated_from_log(home: Home, owner: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seat = yes_no_project(home, owner)
    assumed = present(room.forms_of(seat))
    assert (assumed.answers, assumed.timed) == (0, 0)
    assert assumed.yes_no / assumed.which == pytest.approx(0.55)
    fast = forms.answers.TimedAnswer
    spent = [
        *(fast(1, 9.0, 4, None) for _ in range(40)),  # older: "which" of as many as there were
        *(fast(1, 9.0, 9, {"form": "which", "choices": 4}) for _ in range(40)),
        *(fast(2, 1.0, 4, {"form": "is", "choices": 1, "about": ["ant"]}) for _ in range(40)),
        *(fast(1, 0.1, 4, {"form": "is", "choices": 1, "batch": "b"}) for _ in range(40)),  # one press for many
    ]
    monkeypatch.setattr(forms.answers, "timed", lambda *_args, **_more: spent)
    monkeypatch.setattr(forms, "ANEW_AFTER", 0)
    learnt = present(room.forms_of(seat))
    assert learnt.timed == 120
    assert learnt.which > 2 * learnt.yes_no
    with opened(home, owner, seat.project_id) as learner:
        seconds = forms.prices_of(learner).seconds
        assert 8 < seconds.expected(1, "which", 4) < 11
        assert 0.8 < seconds.expected(2, "is", 1) < 1.4


def test_question_costs_are_re_estimated_after_25_entries(home: Home, owner: int) -> None:
    seat = yes_no_project(home, owner)
    truth = small_frame().truth.tolist()
    for wanted, more in ((0, 0), (0, 10), (26, 16)):
        for _ in range(more):
            question = show(seat)
            loop.submit_answer(seat, question.token, "is", [truth[question.view.row]])
        loop.get_ready(seat)
        with opened(home, owner, seat.project_id) as learner:
            assert forms.prices_of(learner).seq == wanted
    assert room.forms_of(Seat(home, owner, seat.project_id)).timed == 26  # type: ignore[union-attr]


def test_question_costs_of_many_answers_are_kept_until_ten_percent_more(
    home: Home, owner: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seat = yes_no_project(home, owner)
    asked: list[int] = []

    def timed(*_args: Any, **_more: Any) -> list[Any]:
        asked.append(1)
        return [forms.answers.TimedAnswer(1, 2.0, 4, None)] * 40

    monkeypatch.setattr(forms.answers, "timed", timed)
    monkeypatch.setattr(forms, "ANEW_AFTER", 1)
    truth = small_frame().truth.tolist()
    for said, learnt in ((0, 1), (1, 1), (2, 1), (1, 2), (3, 2), (1, 3)):  # after 0, 1, 3, 4, 7 and 8 entries
        for _ in range(said):
            question = show(seat)
            loop.submit_answer(seat, question.token, "is", [truth[question.view.row]])
        loop.get_ready(seat)
        assert len(asked) == learnt


def test_temperature_is_calibrated_on_checks(home: Home, owner: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seat = yes_no_project(home, owner, 90, control_share=0.5, strategy="random")
    truth = small_frame(90).truth.tolist()
    for _ in range(88):
        question = show(seat)
        loop.submit_answer(seat, question.token, "is", [truth[question.view.row]])
    with opened(home, owner, seat.project_id) as learner:
        checks = learner.pool.control_rows & (learner.pool.sizes == 1)
        assert checks.sum() >= forms.FEWEST_CHECKS
        sharp = forms._temperature(learner)
        rows = np.flatnonzero(checks)
        shares = learner.shares_of(rows, learner.pool.first[rows])
        assert (shares.argmax(axis=1) == learner.pool.candidates[rows].argmax(axis=1)).mean() > 0.95
        assert sharp < 1.2  # such accuracy is enough
        rng = np.random.default_rng(0)
        guess = np.eye(4)[rng.integers(4, size=len(learner.pool.sizes))]
        monkeypatch.setattr(learner, "shares_of", lambda rows, _inside: guess[rows])
        assert forms._temperature(learner) > 3 * max(sharp, 0.1)  # a model that is sure and wrong is not
        with monkeypatch.context() as weighed:
            weighed.setattr(forms, "weighs_own", lambda _pool: True)
            assert forms._temperature(learner) == 1.0
        monkeypatch.setattr(forms, "FEWEST_CHECKS", 99)
        assert forms._temperature(learner) == 1.0
