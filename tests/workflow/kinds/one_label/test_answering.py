"""Answers, batches and marked rows of a project with one label per row."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from scipy import sparse

from db import entries
from plcore import ActiveLearner, AnswerError, Entry, LabelTable, LearnerSettings, Roles
from plcore.loop.one_label import Trainer
from plcore.query import FEWEST, speaks_for
from tests.present import present
from tests.workflow.answering.test_answering import pass_two_minutes
from tests.workflow.four import ask, four_class_project, left
from tests.workflow.text_world import TOPICS, text_frame, text_project
from tests.workflow.world import annotator, answer_next, count_entries, log, opened, small_project, small_table
from workflow.answering import loop, undoing
from workflow.answering.asked import AskedAs, QuestionForm
from workflow.kinds.one_label import settings, showing
from workflow.kinds.one_label.answering import BATCHING, names_now
from workflow.kinds.one_label.showing import learn_words, speaking_marks
from workflow.projects import classes, managing, standing
from workflow.rows import queue
from workflow.seat import Seat
from workflow.server.home import Home

# Every kind of answer: the stored entry, its effect on the learner, and late answers


@pytest.fixture
def answering_project(home: Home, owner: int) -> int:
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
def test_each_answer_kind_changes_candidates(
    home: Home, owner: int, answering_project: int, kind: str, labels: list[str], after: tuple[str, ...]
) -> None:
    question = ask(home, owner, answering_project)
    row = question.view.row
    saved = loop.submit_answer(Seat(home, owner, answering_project), question.token, kind, labels)
    assert (saved.kind, saved.labels) == (kind, tuple(labels))
    assert left(home, owner, answering_project, row) == after
    (entry,) = log(home, answering_project)
    assert (entry.kind, entry.before, entry.after) == (kind, question.choices, after)
    again = loop.submit_answer(Seat(home, owner, answering_project), question.token, kind, labels)
    assert again.repeated
    assert again.seq == saved.seq
    assert count_entries(home) == 1
    undoing.undo(Seat(home, owner, answering_project))
    assert left(home, owner, answering_project, row) == question.choices
    undoing.redo(Seat(home, owner, answering_project))
    assert left(home, owner, answering_project, row) == after


def test_none_with_label_is_two_entries_and_one_answer(home: Home, owner: int, answering_project: int) -> None:
    question = ask(home, owner, answering_project)
    saved = loop.submit_answer(Seat(home, owner, answering_project), question.token, "none", ["dog"])
    first, second = log(home, answering_project)
    assert (first.kind, first.labels, first.before, first.after) == ("none", (), question.choices, ("dog",))
    assert (second.kind, second.labels, second.before, second.after) == ("is", ("dog",), ("dog",), ("dog",))
    assert second.revision == first.revision + 1
    assert first.predicted == second.predicted == question.predicted
    assert (saved.kind, saved.labels) == ("is", ("dog",))
    again = loop.submit_answer(Seat(home, owner, answering_project), question.token, "none", ["dog"])
    assert again.repeated
    assert count_entries(home) == 2
    assert left(home, owner, answering_project, question.view.row) == ("dog",)


def test_candidate_found_by_search_is_plain_answer(home: Home, owner: int, answering_project: int) -> None:
    question = ask(home, owner, answering_project)
    loop.submit_answer(Seat(home, owner, answering_project), question.token, "none", ["cat"])
    (entry,) = log(home, answering_project)
    assert (entry.kind, entry.labels, entry.after) == ("is", ("cat",), ("cat",))


@pytest.mark.parametrize("labels", [["zebra"], ["dog", "zebra"], ["dog", "dog"]])
def test_none_with_unknown_class_is_refused(home: Home, owner: int, answering_project: int, labels: list[str]) -> None:
    question = ask(home, owner, answering_project)
    with pytest.raises(AnswerError):
        loop.submit_answer(Seat(home, owner, answering_project), question.token, "none", labels)
    assert count_entries(home) == 0


def test_none_if_every_class_is_candidate_is_refused(home: Home, owner: int) -> None:
    project = small_project(home, owner, strategy="mp")
    question = ask(home, owner, project)
    assert question.n_classes == len(question.choices)
    with pytest.raises(AnswerError, match="every class"):
        loop.submit_answer(Seat(home, owner, project), question.token, "none")


def test_row_stays_on_screen_after_ruling_out_label(home: Home, owner: int, answering_project: int) -> None:
    question = ask(home, owner, answering_project)
    loop.submit_answer(Seat(home, owner, answering_project), question.token, "not", ["bee"])
    stays = present(loop.next_question(Seat(home, owner, answering_project)))
    assert stays.view.row == question.view.row
    assert stays.choices == ("ant", "cat")
    assert stays.token != question.token
    loop.submit_answer(Seat(home, owner, answering_project), stays.token, "not", ["cat"])
    moved_on = present(loop.next_question(Seat(home, owner, answering_project)))
    assert moved_on.view.row != question.view.row
    assert left(home, owner, answering_project, question.view.row) == ("ant",)


def test_entry_records_form_of_its_question(home: Home, owner: int, answering_project: int) -> None:
    seat = Seat(home, owner, answering_project)
    question = ask(home, owner, answering_project)
    loop.submit_answer(seat, question.token, "not", ["bee"])
    stays = present(loop.next_question(seat))
    saved = loop.submit_answer(seat, stays.token, "is", ["ant"])
    undoing.undo(seat, seq=saved.seq)
    undoing.redo(seat)
    put = [None if one.asked is None else AskedAs.from_json(one.asked) for one in log(home, answering_project)]
    three, two = AskedAs(QuestionForm.WHICH, choices=3), AskedAs(QuestionForm.WHICH, choices=2)
    assert put == [three, two, None, two]


def test_note_and_flag_are_stored_with_answer(home: Home, owner: int, answering_project: int) -> None:
    question = ask(home, owner, answering_project)
    loop.submit_answer(
        Seat(home, owner, answering_project), question.token, "unsure", note="  wing hidden ", flagged=True
    )
    answer_next(home, owner, answering_project)
    first, second = log(home, answering_project)
    assert (first.note, first.flagged) == ("wing hidden", True)
    assert (second.note, second.flagged) == (None, False)
    given = standing.standing(Seat(home, owner, answering_project)).history
    assert [(one.note, one.flagged) for one in given] == [(None, False), ("wing hidden", True)]


def test_prediction_before_answer_is_logged(home: Home, owner: int, answering_project: int) -> None:
    predicted = []
    for kind in ("is", "skip", "unsure", "bad", "none"):
        question = ask(home, owner, answering_project)
        best = max(zip(question.probabilities, question.choices, strict=True), key=lambda one: one[0])[0]
        assert question.predicted in question.choices
        assert question.probabilities[question.choices.index(question.predicted)] == best
        predicted.append(question.predicted)
        labels = ["cat"] if kind == "is" else []
        loop.submit_answer(Seat(home, owner, answering_project), question.token, kind, labels)
    assert [entry.predicted for entry in log(home, answering_project)] == predicted


@pytest.mark.parametrize(("kind", "labels"), [("none", []), ("not", ["ant"]), ("none", ["dog"])])
def test_none_is_refused_if_candidates_changed(
    home: Home, owner: int, answering_project: int, monkeypatch: pytest.MonkeyPatch, kind: str, labels: list[str]
) -> None:
    """Someone else narrowed the row while it was open: `none of these` referred to more than is left."""
    ada = annotator(home, owner, "Ada")
    mine = ask(home, owner, answering_project)
    pass_two_minutes(monkeypatch)
    hers = loop.ask_next(Seat(home, ada, answering_project), mine.view.row)
    loop.submit_answer(Seat(home, ada, answering_project), hers.token, "among", ["ant", "bee"])
    with pytest.raises(loop.StaleQuestion, match="have changed"):
        loop.submit_answer(Seat(home, owner, answering_project), mine.token, kind, labels)
    assert count_entries(home) == 1
    # Answers that name their label keep their meaning.
    loop.submit_answer(Seat(home, owner, answering_project), mine.token, "is", ["bee"])
    assert left(home, owner, answering_project, mine.view.row) == ("bee",)


def test_tab_that_still_shows_old_candidates_is_refused(
    home: Home, owner: int, answering_project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another tab of theirs has shown the new ones, so the token is valid, but this tab's candidates are outdated."""
    ada = annotator(home, owner, "Ada")
    old = ask(home, owner, answering_project)
    pass_two_minutes(monkeypatch)
    hers = loop.ask_next(Seat(home, ada, answering_project), old.view.row)
    loop.submit_answer(Seat(home, ada, answering_project), hers.token, "among", ["ant", "bee"])
    new = present(loop.next_question(Seat(home, owner, answering_project)))
    assert (new.token, new.choices) == (old.token, ("ant", "bee"))
    with pytest.raises(loop.StaleQuestion, match="have changed"):
        loop.submit_answer(Seat(home, owner, answering_project), old.token, "none", shown=old.shown)
    loop.submit_answer(Seat(home, owner, answering_project), new.token, "none", shown=new.shown)
    assert left(home, owner, answering_project, old.view.row) == ("cat", "dog")


def test_none_is_accepted_after_answer_to_another_row(home: Home, owner: int, answering_project: int) -> None:
    ada = annotator(home, owner, "Ada")
    mine = ask(home, owner, answering_project)
    answer_next(home, ada, answering_project)
    loop.submit_answer(Seat(home, owner, answering_project), mine.token, "none", shown=mine.shown)
    assert left(home, owner, answering_project, mine.view.row) == ("dog",)


def test_changed_since_reports_later_changes_of_row(home: Home, owner: int, answering_project: int) -> None:
    question = ask(home, owner, answering_project)
    loop.submit_answer(Seat(home, owner, answering_project), question.token, "skip")
    loop.ask_next(Seat(home, owner, answering_project), question.view.row)
    answer_next(home, owner, answering_project)
    skip, answer = log(home, answering_project)
    with home.database.read() as session:

        def changed(row: int, moment: object) -> bool:
            return entries.changed_since(session, answering_project, row, moment)  # type: ignore[arg-type]

        assert changed(answer.row, skip.at)
        assert changed(answer.row, skip.at - timedelta(days=1))
        assert not changed(answer.row, answer.at)
        assert not changed(answer.row + 1, skip.at)


def test_reason_names_strategy_of_project(home: Home, owner: int) -> None:
    """Blind checks have their own strategy in the log, which the screen does not reveal."""
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


def test_blind_check_cannot_be_chosen(home: Home, owner: int) -> None:
    """Controls that someone picked would measure the model on their picks."""
    project = small_project(home, owner, control_share=0.5)
    with opened(home, owner, project) as learner:
        control = learner.pool.control_left().tolist()
        control_rows = learner.pool.control_rows
    offered = [one.row for one in queue.list_queue(Seat(home, owner, project)).rows]
    assert len(control) > 2
    assert not set(offered) & set(control)
    for row in control:
        with pytest.raises(AnswerError, match="no longer open"):  # as for a closed row, to reveal nothing
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


def test_reasons_are_explained_in_words() -> None:
    assert "hesitates most between two candidates" in settings.reason("margin", 1, 2)
    assert "not settled" not in settings.reason("random", 0, 0, counted=False)
    assert "No answer can change" in settings.reason("apl", 0, 0)
    for name in settings.NAMES:
        assert settings.reason(name, 0, 0, counted=False).count(". ") == 1, "why this row, then what the answer does"


def test_most_telling_features_are_named(home: Home, owner: int, answering_project: int) -> None:
    question = ask(home, owner, answering_project)
    assert question.telling is not None
    assert set(question.telling.between) <= set(question.choices)
    assert question.telling.columns in (("x",), ("y",)), "a quarter of two columns, rounded up"


def test_class_names_on_screen_are_translated_to_current_ones(home: Home, owner: int, answering_project: int) -> None:
    seat = Seat(home, owner, answering_project)
    with seat.turn() as turn:
        assert names_now(turn, ("ant", "zebra")) == ("ant", "zebra")
    classes.change_classes(seat, 0, "rename", ["ant", "emmet"])
    classes.change_classes(seat, classes.classes_view(seat).version, "merge", ["bee", "cat"])
    kept = next(one.name for one in classes.classes_view(seat).classes if one.name in ("bee", "cat"))
    with seat.turn() as turn:
        assert names_now(turn, ("ant", "bee")) == ("emmet", kept)
        assert names_now(turn, ("bee", "cat")) == (kept,), "each once"
        assert names_now(turn, ("zebra",)) == ("zebra",), "it is refused later, by name"


# Which rows with candidates are confirmed together, as a learner says; how they are stored is tried with
# people


assert BATCHING is not None


@pytest.fixture
def learner() -> ActiveLearner[LabelTable]:
    return ActiveLearner(
        small_table(200), LearnerSettings(n_neighbors=6, control_share=0.1, test_share=0.3, model="plknn")
    )


def test_confident_open_rows_are_found_without_barred_ones(learner: ActiveLearner[LabelTable]) -> None:
    found = BATCHING.find_sure(learner, "ada", ())
    assert not isinstance(found, str), found
    label, rows = found
    column, pool = learner.classes.index(label), learner.pool
    assert len(rows) >= FEWEST
    assert not (pool.test_rows | pool.control_rows)[rows].any()
    assert all(BATCHING.may_stand(learner, "ada", row, label) for row in rows)
    shares = [share for share, _ in BATCHING.shares(learner, rows, label)]
    expected = [learner.question_for(row).probabilities for row in rows]
    assert shares == [
        said[learner.question_for(row).choices.index(label)] for row, said in zip(rows, expected, strict=True)
    ]
    again = BATCHING.find_sure(learner, "ada", rows)
    assert isinstance(again, str) or not set(again[1]) & set(rows)
    assert pool.candidates[rows][:, column].all()


def test_blind_checks_are_under_two_fifths_of_rows_left_out() -> None:
    """Batches are found and confirmed until there are none: the remaining open rows must not reveal the checks."""
    checks = others = 0
    for seed in range(4):
        learner = ActiveLearner(
            small_table(300),
            LearnerSettings(n_neighbors=6, control_share=0.1, test_share=0.2, model="plknn", seed=seed),
        )
        pool, highest = learner.pool, 1.0
        while not isinstance(found := BATCHING.find_sure(learner, "ada", ()), str):
            assert found == BATCHING.find_sure(learner, "bob", ())
            label, rows = found
            least = min(share for share, _ in BATCHING.shares(learner, rows, label))
            highest = least if highest == 1.0 else max(highest, least)
            for row in rows:
                learner.apply(Entry(learner.seq + 1, "is", row, "ada", (label,)))
        left = np.array([row for row in np.flatnonzero(~pool.test_rows) if pool.is_open(int(row))])
        sure = left[learner.shares_asked(left, pool.candidates[left]).max(axis=1) >= highest]
        checks += int(pool.control_rows[sure].sum())
        others += int((~pool.control_rows[sure]).sum())
    assert checks > 30
    assert checks / (checks + others) < 0.4


def test_all_confident_rows_can_be_batched_without_blind_checks() -> None:
    learner = ActiveLearner(small_table(200), LearnerSettings(n_neighbors=6, test_share=0.3, model="plknn"))
    found = BATCHING.find_sure(learner, "ada", ())
    assert not isinstance(found, str), found
    label, rows = found
    waiting = [int(row) for row in learner.pool.train if BATCHING.may_stand(learner, "ada", int(row), label)]
    least = min(share for share, _ in BATCHING.shares(learner, rows, label))
    told = BATCHING.shares(learner, waiting, label)
    assert rows
    assert set(rows) >= {row for row, (one, _) in zip(waiting, told, strict=True) if one > least}


def test_answered_or_unsure_row_cannot_be_confirmed(learner: ActiveLearner[LabelTable]) -> None:
    found = BATCHING.find_sure(learner, "ada", ())
    assert not isinstance(found, str)
    label, (first, second, *_) = found
    learner.apply(Entry(1, "is", first, "ada", (label,)))
    learner.apply(Entry(2, "unsure", second, "ada"))
    assert not BATCHING.may_stand(learner, "ada", first, label)
    assert not BATCHING.may_stand(learner, "ada", second, label)
    assert BATCHING.may_stand(learner, "bob", second, label), "who has not said so can be asked"


def test_labels_to_confirm_are_counted(learner: ActiveLearner[LabelTable]) -> None:
    pool = learner.pool
    open_rows = [int(row) for row in pool.train if pool.is_open(int(row))][:5]
    counts = pool.candidates[open_rows].sum(axis=0)
    labels = BATCHING.labels_of(learner, "ada", open_rows)
    assert labels == {pool.classes[k]: int(counts[k]) for k in np.flatnonzero(counts)}
    assert BATCHING.labels_of(learner, "ada", np.flatnonzero(pool.test_rows).tolist()) == {}


def test_guard_counts_rows_at_least_as_confident(learner: ActiveLearner[LabelTable]) -> None:
    right, known = BATCHING.checked(learner, 0.0)
    assert 0 < right <= known <= int(learner.test_rows.sum())
    assert BATCHING.checked(learner, 1.1) == (0, 0)
    assert BATCHING.name_now(learner, learner.classes[0]) == learner.classes[0]


@pytest.mark.parametrize("weighed", [False, True])
def test_batches_need_checked_rows(weighed: bool) -> None:
    table = small_table(200)
    if weighed:
        rng = np.random.default_rng(0)
        table = replace(table, candidate_weights=np.where(table.candidates, rng.random(table.candidates.shape), 0))
    learner = ActiveLearner(table, LearnerSettings(control_share=0.1, test_share=0.3, model="kernelridge"))
    version = Trainer(learner.pool).train()
    learner.publish(version.scores, [version.point])
    found = BATCHING.find_sure(learner, "ada", ())
    said = isinstance(found, str) and "also use the weights of their candidates" in found
    assert said == weighed
    assert (BATCHING.checked(learner, 0.0) == (0, 0)) == weighed


# Words that support a candidate: those of its topic, by the plain formula, never from a held-out row


def test_topic_words_support_their_class(home: Home, owner: int) -> None:
    project = text_project(home, owner)
    assert loop.next_question(Seat(home, owner, project)).marks == (), "no one waits for them"
    loop.get_ready(Seat(home, owner, project))
    seen = 0
    for _ in range(5):
        question = loop.next_question(Seat(home, owner, project))
        text = question.view.text
        marked = {(text[mark.start : mark.end], mark.label) for mark in question.marks}
        truth = text_frame()["truth"][question.view.row]
        for word in set(text.split()) & set(TOPICS[truth]):
            seen += (word, truth) in marked
            assert not any(word == other and label != truth for other, label in marked)
        assert max(mark.strength for mark in question.marks) == 1
        assert [mark.start for mark in question.marks] == sorted(mark.start for mark in question.marks)
        loop.submit_answer(Seat(home, owner, project), question.token, "is", [truth])
    assert seen >= 12, "of fifteen"


def test_words_of_every_text_are_marked(home: Home, owner: int) -> None:
    frame = text_frame()
    frame["reply"] = frame["text"].iloc[::-1].to_list()  # its topic is that of another row
    roles = Roles(candidates="candidates", id="id", truth="truth", text="reply", more_texts=("text",))
    settings = LearnerSettings(truth_role="hidden", n_neighbors=4, seed=1)
    project = managing.create_project(Seat(home, owner), "replies", LabelTable.from_frame(frame, roles), settings)
    with opened(home, owner, project) as learner:
        learn_words(learner)
        row = int(learner.pool.train[0])
        marks = speaking_marks(learner, row, learner.pool.names(learner.pool.candidates[row]))
    assert [mark.column for mark in marks] == sorted((mark.column for mark in marks), reverse=True), "as in the file"
    words = {(mark.label, frame[mark.column][row][mark.start : mark.end]) for mark in marks if mark.column == "text"}
    topic = frame["truth"][row]
    assert {word for label, word in words if label == topic} >= set(TOPICS[topic]) & set(frame["text"][row].split())


def test_marks_match_formula(home: Home, owner: int) -> None:
    project = text_project(home, owner, control_share=0.2)
    with opened(home, owner, project) as learner:
        pool = learner.pool
        row = int(pool.train[0])
        candidates = pool.names(pool.candidates[row])
        learn_words(learner)
        marks = speaking_marks(learner, row, candidates)
        sample = showing._samples[learner]
        assert sample.rows.tolist() == pool.train.tolist(), "no held-out row"
        features, _ = sample.words["text"]
        x = features.transform([learner.table.cells["text"][row]])
        numbers = [learner.classes.index(label) for label in candidates]
        shares = learner.shares_of(sample.rows)[:, numbers]
        X = sparse.csc_matrix(features.transform(learner.table.cells["text"][sample.rows]))
        worth = dict(zip(x.indices.tolist(), speaks_for(X, shares, x.indices, x.data, 0), strict=True))
        text = learner.table.cells["text"][row]
        found = {}
        for word in text.split():
            parts = [column for _, _, column in features.columns_of(word)]
            times = [sum(p == q for o in text.split() for _, _, q in features.columns_of(o)) for p in parts]
            found[word] = sum((worth[column] / often for column, often in zip(parts, times, strict=True)), np.zeros(2))
    most = max(value.max() for value in found.values())
    for mark in marks:
        wanted = found[text[mark.start : mark.end]][candidates.index(mark.label)] / most
        assert mark.strength == pytest.approx(wanted)
    assert len(marks) == sum((value >= showing.WEAKEST * most).sum() for value in found.values())


def test_marks_sample_follows_rejected_rows_and_model(home: Home, owner: int) -> None:
    project = text_project(home, owner)
    loop.get_ready(Seat(home, owner, project))
    question = loop.next_question(Seat(home, owner, project))
    loop.submit_answer(Seat(home, owner, project), question.token, "is", [question.choices[0]])
    with opened(home, owner, project) as learner:
        sample = showing._samples[learner]
        shares = sample.shares(learner)[sample.place[question.view.row]]
        assert shares[learner.classes.index(question.choices[0])] == 1
        np.testing.assert_allclose(shares.sum(), 1)
        assert sample.seq == 0
        learner.pool.seq += showing.SHARES_LAST
        sample.shares(learner)
        assert sample.seq == learner.seq


def test_marks_need_text_and_several_candidates(home: Home, owner: int) -> None:
    numbers, texts = small_project(home, owner), text_project(home, owner)
    loop.get_ready(Seat(home, owner, numbers))
    assert loop.next_question(Seat(home, owner, numbers)).marks == ()
    with opened(home, owner, numbers) as learner:
        assert learner not in showing._samples
    with opened(home, owner, texts) as learner:
        learn_words(learner)
        assert speaking_marks(learner, 0, learner.classes[:1]) == ()


def test_number_and_range_of_marks_are_limited(home: Home, owner: int, monkeypatch: pytest.MonkeyPatch) -> None:
    project = text_project(home, owner)
    monkeypatch.setattr(showing, "MOST_MARKS", 1)
    monkeypatch.setattr(showing, "MOST_CHARACTERS", 20)
    loop.get_ready(Seat(home, owner, project))
    marks = loop.next_question(Seat(home, owner, project)).marks
    labels = [mark.label for mark in marks]
    assert len(labels) == len(set(labels))
    assert marks
    assert max(mark.end for mark in marks) <= 20
