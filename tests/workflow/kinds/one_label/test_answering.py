"""Every kind of answer: what is stored, what the learner makes of it, and when it comes too late."""

from __future__ import annotations

from datetime import timedelta

import pytest

from db import entries
from plcore import AnswerError
from tests.workflow.answering.test_answering import pass_two_minutes
from tests.workflow.four import ask, four_class_project, left, log
from tests.workflow.world import annotator, answer_next, count_entries, opened, small_project
from workflow.answering import loop, undoing
from workflow.answering.asked import AskedAs, QuestionForm
from workflow.kinds.one_label import settings
from workflow.kinds.one_label.answering import names_now
from workflow.projects import classes, standing
from workflow.rows import queue
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.fixture
def project(home: Home, owner: int) -> int:
    return four_class_project(home, owner)


@pytest.mark.parametrize(
    ("kind", "labels", "after"),
    [
        ("is", ["bee"], ("bee",)),
        ("among", ["bee", "cat"], ("bee", "cat")),
        ("not", ["bee"], ("ant", "cat")),
        ("none", [], ("dog",)),
        ("unsure", [], ("ant", "bee", "cat")),
        ("bad", [], ()),
        ("skip", [], ("ant", "bee", "cat")),
    ],
)
def test_each_kind_moves_the_learner_as_it_says(
    home: Home, owner: int, project: int, kind: str, labels: list[str], after: tuple[str, ...]
) -> None:
    question = ask(home, owner, project)
    row = question.view.row
    saved = loop.submit_answer(Seat(home, owner, project), question.token, kind, labels)
    assert (saved.kind, saved.labels) == (kind, tuple(labels))
    assert left(home, owner, project, row) == after
    (entry,) = log(home, project)
    assert (entry.kind, entry.before, entry.after) == (kind, question.choices, after)
    again = loop.submit_answer(Seat(home, owner, project), question.token, kind, labels)
    assert again.repeated
    assert again.seq == saved.seq
    assert count_entries(home) == 1
    undoing.undo(Seat(home, owner, project))
    assert left(home, owner, project, row) == question.choices
    undoing.redo(Seat(home, owner, project))
    assert left(home, owner, project, row) == after


def test_none_with_a_label_is_two_entries_and_one_answer(home: Home, owner: int, project: int) -> None:
    question = ask(home, owner, project)
    saved = loop.submit_answer(Seat(home, owner, project), question.token, "none", ["dog"])
    first, second = log(home, project)
    assert (first.kind, first.labels, first.before, first.after) == ("none", (), question.choices, ("dog",))
    assert (second.kind, second.labels, second.before, second.after) == ("is", ("dog",), ("dog",), ("dog",))
    assert second.revision == first.revision + 1
    assert first.predicted == second.predicted == question.predicted
    assert (saved.kind, saved.labels) == ("is", ("dog",))
    again = loop.submit_answer(Seat(home, owner, project), question.token, "none", ["dog"])
    assert again.repeated
    assert count_entries(home) == 2
    assert left(home, owner, project, question.view.row) == ("dog",)


def test_a_candidate_found_by_the_search_is_a_plain_answer(home: Home, owner: int, project: int) -> None:
    question = ask(home, owner, project)
    loop.submit_answer(Seat(home, owner, project), question.token, "none", ["cat"])
    (entry,) = log(home, project)
    assert (entry.kind, entry.labels, entry.after) == ("is", ("cat",), ("cat",))


@pytest.mark.parametrize("labels", [["zebra"], ["dog", "zebra"], ["dog", "dog"]])
def test_none_with_what_is_no_class_stores_nothing(
    home: Home, owner: int, project: int, labels: list[str]
) -> None:
    question = ask(home, owner, project)
    with pytest.raises(AnswerError):
        loop.submit_answer(Seat(home, owner, project), question.token, "none", labels)
    assert count_entries(home) == 0


def test_none_where_every_class_is_a_candidate_is_refused(home: Home, owner: int) -> None:
    project = small_project(home, owner, strategy="mp")
    question = ask(home, owner, project)
    assert question.n_classes == len(question.choices)
    with pytest.raises(AnswerError, match="every class"):
        loop.submit_answer(Seat(home, owner, project), question.token, "none")


def test_after_a_label_is_ruled_out_the_row_stays(home: Home, owner: int, project: int) -> None:
    question = ask(home, owner, project)
    loop.submit_answer(Seat(home, owner, project), question.token, "not", ["bee"])
    stays = loop.next_question(Seat(home, owner, project))
    assert stays is not None
    assert stays.view.row == question.view.row
    assert stays.choices == ("ant", "cat")
    assert stays.token != question.token
    loop.submit_answer(Seat(home, owner, project), stays.token, "not", ["cat"])
    moved_on = loop.next_question(Seat(home, owner, project))
    assert moved_on is not None
    assert moved_on.view.row != question.view.row
    assert left(home, owner, project, question.view.row) == ("ant",)


def test_an_entry_keeps_how_its_question_was_put(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    question = ask(home, owner, project)
    loop.submit_answer(seat, question.token, "not", ["bee"])
    stays = loop.next_question(seat)
    assert stays is not None
    saved = loop.submit_answer(seat, stays.token, "is", ["ant"])
    undoing.undo(seat, seq=saved.seq)
    undoing.redo(seat)
    put = [None if one.asked is None else AskedAs.from_json(one.asked) for one in log(home, project)]
    three, two = AskedAs(QuestionForm.WHICH, choices=3), AskedAs(QuestionForm.WHICH, choices=2)
    assert put == [three, two, None, two]


def test_note_and_flag_are_stored_with_the_answer(home: Home, owner: int, project: int) -> None:
    question = ask(home, owner, project)
    loop.submit_answer(
        Seat(home, owner, project), question.token, "unsure", note="  wing hidden ", flagged=True
    )
    answer_next(home, owner, project)
    first, second = log(home, project)
    assert (first.note, first.flagged) == ("wing hidden", True)
    assert (second.note, second.flagged) == (None, False)
    given = standing.standing(Seat(home, owner, project)).history
    assert [(one.note, one.flagged) for one in given] == [(None, False), ("wing hidden", True)]


@pytest.mark.parametrize("note", ["x" * 2_001, "a\0b"])
def test_a_note_that_cannot_be_stored_is_refused(home: Home, owner: int, project: int, note: str) -> None:
    question = ask(home, owner, project)
    with pytest.raises(AnswerError, match="note"):
        loop.submit_answer(Seat(home, owner, project), question.token, "skip", note=note)
    assert count_entries(home) == 0


def test_the_models_word_before_the_answer_is_kept(home: Home, owner: int, project: int) -> None:
    predicted = []
    for kind in ("is", "skip", "unsure", "bad", "none"):
        question = ask(home, owner, project)
        best = max(zip(question.probabilities, question.choices, strict=True), key=lambda one: one[0])[0]
        assert question.predicted in question.choices
        assert question.probabilities[question.choices.index(question.predicted)] == best
        predicted.append(question.predicted)
        labels = ["cat"] if kind == "is" else []
        loop.submit_answer(Seat(home, owner, project), question.token, kind, labels)
    assert [entry.predicted for entry in log(home, project)] == predicted


@pytest.mark.parametrize(("kind", "labels"), [("none", []), ("not", ["ant"]), ("none", ["dog"])])
def test_what_speaks_of_other_candidates_than_there_are_is_refused(
    home: Home, owner: int, project: int, monkeypatch: pytest.MonkeyPatch, kind: str, labels: list[str]
) -> None:
    """Somebody else narrowed the row while it lay open: `none of these` was said of more than is left."""
    ada = annotator(home, owner, "Ada")
    mine = ask(home, owner, project)
    pass_two_minutes(monkeypatch)
    hers = loop.ask_next(Seat(home, ada, project), mine.view.row)
    loop.submit_answer(Seat(home, ada, project), hers.token, "among", ["ant", "bee"])
    with pytest.raises(loop.StaleQuestion, match="have changed"):
        loop.submit_answer(Seat(home, owner, project), mine.token, kind, labels)
    assert count_entries(home) == 1
    # What names its label means the same as ever.
    loop.submit_answer(Seat(home, owner, project), mine.token, "is", ["bee"])
    assert left(home, owner, project, mine.view.row) == ("bee",)


def test_a_tab_that_still_shows_the_old_candidates_is_refused(
    home: Home, owner: int, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another tab of theirs has shown the new ones, so the token is good; what this one showed is not."""
    ada = annotator(home, owner, "Ada")
    old = ask(home, owner, project)
    pass_two_minutes(monkeypatch)
    hers = loop.ask_next(Seat(home, ada, project), old.view.row)
    loop.submit_answer(Seat(home, ada, project), hers.token, "among", ["ant", "bee"])
    new = loop.next_question(Seat(home, owner, project))
    assert new is not None
    assert (new.token, new.choices) == (old.token, ("ant", "bee"))
    with pytest.raises(loop.StaleQuestion, match="have changed"):
        loop.submit_answer(Seat(home, owner, project), old.token, "none", shown=old.shown)
    loop.submit_answer(Seat(home, owner, project), new.token, "none", shown=new.shown)
    assert left(home, owner, project, old.view.row) == ("cat", "dog")


def test_an_answer_elsewhere_leaves_none_as_it_is(home: Home, owner: int, project: int) -> None:
    ada = annotator(home, owner, "Ada")
    mine = ask(home, owner, project)
    answer_next(home, ada, project)
    loop.submit_answer(Seat(home, owner, project), mine.token, "none", shown=mine.shown)
    assert left(home, owner, project, mine.view.row) == ("dog",)


def test_changed_since_looks_at_one_row_and_at_later_changes(home: Home, owner: int, project: int) -> None:
    question = ask(home, owner, project)
    loop.submit_answer(Seat(home, owner, project), question.token, "skip")
    loop.ask_next(Seat(home, owner, project), question.view.row)
    answer_next(home, owner, project)
    skip, answer = log(home, project)
    with home.database.read() as session:

        def changed(row: int, moment: object) -> bool:
            return entries.changed_since(session, project, row, moment)  # type: ignore[arg-type]

        assert changed(answer.row, skip.at)
        assert changed(answer.row, skip.at - timedelta(days=1))
        assert not changed(answer.row, answer.at)
        assert not changed(answer.row + 1, skip.at)


def test_the_reason_is_by_the_projects_strategy(home: Home, owner: int) -> None:
    """Blind questions carry a strategy of their own in the log, and nothing of it on the screen."""
    project = small_project(home, owner, control_share=0.5)
    seen = set()
    for _ in range(12):
        question = loop.next_question(Seat(home, owner, project))
        if question is None:
            break
        seen.add(question.strategy)
        assert question.why == settings.reason("apl", question.decides, question.undecided)
        answer_next(home, owner, project)
    assert seen == {"apl", "control"}
    assert {entry.strategy for entry in log(home, project)} == seen


def test_nobody_chooses_a_control(home: Home, owner: int) -> None:
    """Controls that somebody picked would measure the model on their picks."""
    project = small_project(home, owner, control_share=0.5)
    with opened(home, owner, project) as learner:
        control = learner.pool.control_left().tolist()
        control_rows = learner.pool.control_rows
    offered = [one.row for one in queue.list_queue(Seat(home, owner, project)).rows]
    assert len(control) > 2
    assert not set(offered) & set(control)
    for row in control:
        with pytest.raises(
            AnswerError, match="no longer open"
        ):  # as of a closed row: nobody learns which it is
            loop.ask_next(Seat(home, owner, project), row)
    assert loop.ask_next(Seat(home, owner, project), offered[0]).strategy == "apl"
    # The draw asks them, in its own order.
    asked = []
    while (question := loop.next_question(Seat(home, owner, project))) is not None:
        if control_rows[question.view.row]:
            asked.append(question.view.row)
            assert question.strategy == "control"
        answer_next(home, owner, project)
    assert asked == control


def test_reasons_in_words() -> None:
    assert "hesitates most between two candidates" in settings.reason("margin", 1, 2)
    assert "not settled" not in settings.reason("random", 0, 0, counted=False)
    assert "No answer can change" in settings.reason("apl", 0, 0)
    for name in settings.NAMES:
        assert settings.reason(name, 0, 0, counted=False).count(". ") == 1, (
            "why this row, then what the answer does"
        )


def test_the_most_telling_features_are_named(home: Home, owner: int, project: int) -> None:
    question = ask(home, owner, project)
    assert question.telling is not None
    assert set(question.telling.between) <= set(question.choices)
    assert question.telling.columns in (("x",), ("y",)), "a quarter of two columns, rounded up"


def test_names_on_a_screen_mean_their_classes_for_good(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    with seat.turn() as turn:
        assert names_now(turn, ("ant", "zebra")) == ("ant", "zebra")
    classes.change_classes(seat, 0, "rename", ["ant", "emmet"])
    classes.change_classes(seat, classes.classes_view(seat).version, "merge", ["bee", "cat"])
    kept = next(one.name for one in classes.classes_view(seat).classes if one.name in ("bee", "cat"))
    with seat.turn() as turn:
        assert names_now(turn, ("ant", "bee")) == ("emmet", kept)
        assert names_now(turn, ("bee", "cat")) == (kept,), "each once"
        assert names_now(turn, ("zebra",)) == ("zebra",), "it is refused later, by name"
