"""Questions, lists and corrections of a project with one label per row."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import numpy as np
import pytest

from db import entries
from plcore import AnswerError, LabelTable, LearnerSettings
from plcore.loop import MODEL_ENTRIES, Place
from plcore.query import STRATEGIES, STRATEGY_ENTRIES
from tests.present import present
from tests.workflow.four import ask, four_class_project, left
from tests.workflow.text_world import text_frame, text_project
from tests.workflow.world import ROLES, answer_next, file_of, log, opened, small_frame, small_project
from workflow.answering import loop, undoing
from workflow.answering.asked import stamp
from workflow.kinds import KINDS
from workflow.kinds.one_label import settings
from workflow.kinds.one_label.answering import CORRECTIONS
from workflow.kinds.one_label.settings import reason
from workflow.kinds.one_label.showing import ShownQuestion, Telling
from workflow.kinds.one_label.turn import OneLabelTurn, OneLabelWriter, row_token
from workflow.projects import classes, managing, standing
from workflow.rows import queue, reviewing
from workflow.seat import Seat
from workflow.server.home import Home, open_home

# Turns at a project with one true label: blind checks are not chosen, tokens end with the classes they
# named


def test_blind_check_is_asked_only_when_drawn(home: Home, owner: int) -> None:
    seat = Seat(home, owner, small_project(home, owner, control_share=0.4))
    with seat.turn() as turn:
        assert isinstance(turn, OneLabelTurn)
        pool = turn.learner.pool
        control, other = (
            int(np.flatnonzero(pool.control_rows & (pool.sizes > 1))[0]),
            int(turn.learner.ranking()[0][0]),
        )
        assert not turn.may_choose(Place(control), drawn=False)
        assert turn.may_choose(Place(control), drawn=True)
        assert turn.may_choose(Place(other), drawn=False)
        held_out = int(np.flatnonzero(turn.learner.test_rows)[0])
        assert not turn.may_choose(Place(held_out), drawn=True)
    with pytest.raises(AnswerError, match="no longer open"):
        loop.ask_next(seat, control)
    assert loop.ask_next(seat, control, drawn=True).view.row == control


def test_token_depends_on_class_version(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    with seat.turn() as turn:
        before = turn.token(Place(3), 0)
        assert before == row_token(owner, 3, 0, turn.learner.pool.class_map)
    classes.change_classes(seat, 0, "add", ["zebra"])
    with seat.turn() as turn:
        assert turn.token(Place(3), 0) == before, "more classes mean nothing else"
    classes.take_back(seat, classes.classes_view(seat).version)
    with seat.turn() as turn:
        assert turn.token(Place(3), 0) != before


def test_writer_returns_remaining_candidates(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    question = present(loop.next_question(seat))
    with seat.turn() as turn:
        writer = turn.writer(Place(question.view.row))
        assert isinstance(writer, OneLabelWriter)
        assert writer.left == question.choices
        said = writer.write("not", question.choices[:1], token="a")
        assert (said.before, said.after) == (question.choices, question.choices[1:])
        assert writer.left == question.choices[1:]
        with pytest.raises(AnswerError, match="is not among what is left"):
            writer.write("is", question.choices[:1], token="b")
        out = writer.write("bad", token="b")
        assert (out.after, writer.left) == ((), ())


def test_answer_stands_until_next_answer_about_row(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    saved = answer_next(home, owner, project)

    def stands() -> bool:
        with seat.learner() as opened:
            entry = present(entries.get(opened.session, project, saved.seq))
            assert opened.person_id == entry.person_id
            return opened.kind.make_turn(opened).stands_as_before(saved.row, (entry,))

    assert not stands(), "it is answered"
    undoing.undo(seat)
    assert stands()
    question = present(loop.next_question(seat))
    loop.submit_answer(seat, question.token, "not", question.choices[-1:], shown=question.shown)
    assert not stands()


# A question as a page shows it


def test_shown_question_has_shares_and_stamp(home: Home, owner: int, project: int) -> None:
    shown = loop.next_question(Seat(home, owner, project))
    assert isinstance(shown, ShownQuestion)
    assert shown.shown == stamp(shown.choices)
    assert shown.n_classes == 3
    assert {one.label: one.probability for one in shown.candidates} == dict(
        zip(shown.choices, shown.probabilities, strict=True)
    )
    assert abs(sum(shown.probabilities) - 1) < 1e-9 or not any(shown.probabilities)
    assert shown.why == reason("apl", shown.decides, shown.undecided)


def test_telling_columns_separate_two_likeliest_classes(home: Home, owner: int, project: int) -> None:
    """In the small table ants are far out on x, bees on y: cats, at neither, differ from each in only one column."""
    found: dict[frozenset[str], set[str]] = {}
    for _ in range(12):
        shown = present(loop.next_question(Seat(home, owner, project)))
        assert isinstance(shown.telling, Telling)
        best = sorted(shown.candidates, key=lambda one: -one.probability)[:2]
        if best[0].probability > best[1].probability:
            assert set(shown.telling.between) == {one.label for one in best}
        assert len(shown.telling.columns) == 1
        found.setdefault(frozenset(shown.telling.between), set()).update(shown.telling.columns)
        answer_next(home, owner, project)
    assert found.get(frozenset({"ant", "cat"}), {"x"}) == {"x"}
    assert found.get(frozenset({"bee", "cat"}), {"y"}) == {"y"}
    assert len(found) > 1


def test_blind_question_is_worded_like_any_other(home: Home, owner: int) -> None:
    seat = Seat(home, owner, small_project(home, owner, control_share=0.5, strategy="random"))
    strategies, whys = set(), set()
    for _ in range(12):
        shown = present(loop.next_question(seat))
        strategies.add(shown.strategy)
        whys.add(shown.why.split(".")[0])
        answer_next(home, owner, seat.project_id)
    assert len(strategies) == 2
    assert len(whys) == 1
    assert not np.isnan(shown.score)


def test_candidates_show_weights_of_file(home: Home, owner: int) -> None:
    frame = small_frame()
    frame["candidates"] = [
        "|".join(f"{label}:{place + 1}" for place, label in enumerate(cell.split("|"))) for cell in frame["candidates"]
    ]
    table = LabelTable.from_frame(frame, replace(ROLES, form="weighted"))
    project = managing.create_project(Seat(home, owner), "votes", table, LearnerSettings(n_neighbors=4))
    shown = loop.next_question(Seat(home, owner, project))
    counts = {label: place + 1 for place, label in enumerate(shown.choices)}
    total = sum(counts.values())
    assert {one.label: one.weight for one in shown.candidates} == {
        label: f"{count} of {total} votes" for label, count in counts.items()
    }


def test_equal_weights_are_not_shown(home: Home, owner: int, project: int) -> None:
    shown = loop.next_question(Seat(home, owner, project))
    assert {one.weight for one in shown.candidates} == {""}


def test_coverage_questions_share_one_reason(home: Home, owner: int) -> None:
    """Three classes: six rows; then what suits PL-KNN. Blind checks show the same reason as the others."""
    seat = Seat(home, owner, small_project(home, owner, strategy="cover", control_share=0.3))
    said = []
    for _ in range(8):
        shown = loop.next_question(seat)
        assert isinstance(shown, ShownQuestion)
        said.append((shown.strategy, shown.why.startswith("This row stands for many rows like it")))
        answer_next(home, owner, seat.project_id)
    assert [covers for _, covers in said] == [True] * 6 + [False] * 2
    assert {strategy for strategy, _ in said[:6]} == {"cover", "control"}


# The queue: every open row in asking order, found by words, downloaded, under every strategy


def test_every_strategy_has_name_and_reason() -> None:
    assert set(settings.NAMES) == {*STRATEGIES, "margin", "moves", "cover"}
    for name in STRATEGIES:
        assert settings.reason(name, 3, 10).endswith("change 3 of 10 unsettled predictions.")
        assert "No single answer" in settings.reason(name, 0, 10)
        assert "No answer can change" in settings.reason(name, 0, 0)


@pytest.mark.parametrize("name", STRATEGIES)
def test_first_of_queue_is_asked_next(home: Home, owner: int, name: str) -> None:
    project = small_project(home, owner, strategy=name)
    for _ in range(6):
        view = queue.list_queue(Seat(home, owner, project))
        assert view.strategy == name
        question = present(loop.next_question(Seat(home, owner, project)))
        assert view.rows[0].row == question.view.row
        assert view.rows[0].candidates == question.choices
        assert [one.score for one in view.rows] == sorted((one.score for one in view.rows), reverse=True)
        answer_next(home, owner, project)


def test_queue_search_matches_ids_and_candidates(home: Home, owner: int, project: int) -> None:
    everything = queue.list_queue(Seat(home, owner, project))
    assert everything.matching == everything.open == standing.standing(Seat(home, owner, project)).left
    found = queue.list_queue(Seat(home, owner, project), "ANT bee")
    assert 0 < found.matching < everything.open
    assert all({"ant", "bee"} <= set(one.candidates) for one in found.rows)
    one = everything.rows[3]
    assert one.row_id in {row.row_id for row in queue.list_queue(Seat(home, owner, project), one.row_id).rows}
    assert queue.list_queue(Seat(home, owner, project), "no such thing").rows == ()


def test_queue_counts_blind_checks_without_listing_them(home: Home, owner: int) -> None:
    project = small_project(home, owner, control_share=0.2)
    view = queue.list_queue(Seat(home, owner, project))
    with opened(home, owner, project) as learner:
        blind = len(learner.pool.control_left())
    assert view.blind == blind > 0
    assert view.open == view.listed + blind == standing.standing(Seat(home, owner, project)).left


def test_queue_csv_is_complete(home: Home, owner: int, project: int) -> None:
    lines = list(csv.DictReader(io.StringIO(queue.queue_csv(Seat(home, owner, project)).decode())))
    view = queue.list_queue(Seat(home, owner, project))
    assert [line["row_id"] for line in lines] == [one.row_id for one in view.rows]
    assert lines[0]["candidates"] == "|".join(view.rows[0].candidates)


def test_changing_strategy_keeps_answers(home: Home, owner: int, project: int) -> None:
    answer_next(home, owner, project)
    before = standing.standing(Seat(home, owner, project))
    managing.change_learner(Seat(home, owner, project), strategy="random")
    assert standing.standing(Seat(home, owner, project)) == before
    assert queue.list_queue(Seat(home, owner, project)).strategy == "random"
    with pytest.raises(ValueError, match="strategy"):
        managing.change_learner(Seat(home, owner, project), strategy="guess")


def test_finished_project_reports_proof(home: Home, owner: int, project: int) -> None:
    while loop.next_question(Seat(home, owner, project)) is not None:
        answer_next(home, owner, project)
    final = standing.standing(Seat(home, owner, project))
    assert (final.settled, final.done, final.left) == (1.0, True, 0)
    assert queue.list_queue(Seat(home, owner, project)).rows == ()


def test_queue_offers_strategies_of_model(home: Home, owner: int, project: int) -> None:
    offered = queue.list_queue(Seat(home, owner, project)).strategies
    assert offered["automatic"] == f"Automatic ({settings.NAMES['apl']})"
    assert "moves" not in offered
    other = small_project(home, owner, "kernel", model="kernelridge")
    view = queue.list_queue(Seat(home, owner, other))
    assert view.strategies["automatic"] == f"Automatic ({settings.NAMES['margin']})"
    assert view.strategies["moves"] == settings.NAMES["moves"]
    assert "apl" not in view.strategies
    managing.change_learner(Seat(home, owner, other), strategy="apl")  # as an older project may have stored it
    view = queue.list_queue(Seat(home, owner, other))
    assert (view.strategy, view.strategies["apl"]) == ("apl", settings.NAMES["apl"])
    assert view.rows[0].reason.startswith("Of all rows this one could change")


def test_change_of_strategy_reaches_every_process(home: Home, owner: int, project: int) -> None:
    other = open_home(home.settings)
    try:
        assert queue.list_queue(Seat(other, owner, project)).strategy == "automatic"
        managing.change_learner(Seat(home, owner, project), strategy="mp")
        assert queue.list_queue(Seat(other, owner, project)).strategy == "mp"
        assert loop.next_question(Seat(other, owner, project)) is not None
        answer_next(other, owner, project)
        log = csv.DictReader(io.StringIO(file_of(Seat(home, owner, project), "log").decode()))
        assert [line["strategy"] for line in log] == ["mp"]
    finally:
        other.close()


def test_log_records_reason_shown_on_screen(home: Home, owner: int, project: int) -> None:
    """The same question, shown again after the strategy was changed, is logged with the new one."""
    first = loop.next_question(Seat(home, owner, project))
    managing.change_learner(Seat(home, owner, project), strategy="mw")
    again = loop.next_question(Seat(home, owner, project))
    assert first is not None
    assert again is not None
    assert (again.token, again.strategy) == (first.token, "mw")
    answer_next(home, owner, project)
    (line,) = csv.DictReader(io.StringIO(file_of(Seat(home, owner, project), "log").decode()))
    assert line["strategy"] == "mw"
    assert float(line["score"]) == pytest.approx(again.score, abs=1e-6)


# Which rows may be shown next to a question: decided ones, no blind check among them


def test_rows_with_one_label_left_are_shown(home: Home, owner: int) -> None:
    project = text_project(home, owner, control_share=0.0, test_share=0.0)
    seat, rows = Seat(home, owner, project), []
    for kind in ("is", "bad", "is"):
        question = loop.next_question(seat)
        truth = text_frame()["truth"][question.view.row]
        loop.submit_answer(seat, question.token, kind, [truth] if kind == "is" else [])
        rows.append((question.view.row, truth))
    with opened(home, owner, project) as learner:
        mask = learner.pool.shown_to_all()
        assert sorted(mask.nonzero()[0].tolist()) == sorted([rows[0][0], rows[2][0]])
        assert learner.pool.answered_labels(rows[0][0]) == (rows[0][1],)
        mask[:] = True
        assert learner.pool.shown_to_all().sum() == 2, "the array is the caller's own"


# Why a row is asked, in words


@pytest.mark.parametrize("strategy", STRATEGY_ENTRIES)
def test_reason_states_effect_of_answer(strategy: str) -> None:
    entry = STRATEGY_ENTRIES[strategy]
    first = "" if entry.counts_say_why else f"{entry.why}. "
    assert settings.reason(strategy, 3, 1_200) == f"{first}Your answer could change 3 of 1,200 unsettled predictions."
    assert settings.reason(strategy, 0, 7).startswith(
        f"{first}No single answer here can change an unsettled prediction (7 in all). "
    )
    assert settings.reason(strategy, 0, 0).startswith(f"{first}No answer can change a prediction any more")
    uncounted = settings.reason(strategy, 3, 9, counted=False)
    assert uncounted.startswith(entry.why)
    assert "9" not in uncounted


def test_models_that_weigh_candidates_use_their_short_names() -> None:
    assert settings.WEIGHING == ("LM-PLANE", "Kernel ridge", "Forest")


def test_every_strategy_and_model_is_named() -> None:
    assert set(settings.NAMES) == set(STRATEGY_ENTRIES)
    assert set(settings.MODELS) == set(MODEL_ENTRIES)
    for model, entry in MODEL_ENTRIES.items():
        offered = settings.strategies_for(model)
        assert next(iter(offered)) == "automatic"
        assert settings.NAMES[entry.strategy] in offered["automatic"]
        assert entry.strategy in offered
        assert ("apl" in offered) == (model == "plknn")
        assert ("moves" in offered) == (model == "kernelridge")
        assert {"margin", "random", "mp", "act", "cover"} < set(offered)
        assert settings.strategies_for(model, "apl")["apl"] == settings.NAMES["apl"]
    assert all({**settings.NAMES, **settings.MODELS}.values())
    assert set(settings.TRAINED) < set(settings.CHOICES)
    assert "plknn" not in settings.TRAINED
    assert set(settings.WITH_C) < set(settings.MODELS)
    assert KINDS["one_label"].CLASSES is not None


# Corrections of a row with candidates: stored entries


@pytest.fixture
def four(home: Home, owner: int) -> int:
    return four_class_project(home, owner)


def answered(home: Home, owner: int, project: int) -> int:
    """A row with candidates ant, bee and cat that is answered: it is ant."""
    question = ask(home, owner, project)
    loop.submit_answer(Seat(home, owner, project), question.token, "is", ["ant"])
    return question.view.row


@pytest.mark.parametrize(
    ("kind", "labels", "stored", "stands"),
    [
        ("is", ["bee"], [("is", ("bee",))], ("bee",)),
        ("among", ["bee", "cat"], [("among", ("bee", "cat"))], ("bee", "cat")),
        ("none", [], [("none", ())], ("bee", "cat", "dog")),
        ("bad", [], [("bad", ())], ()),
        ("is", ["dog"], [("none", ()), ("is", ("dog",))], ("dog",)),
    ],
)
def test_each_correction_kind_updates_candidates(
    home: Home,
    owner: int,
    four: int,
    kind: str,
    labels: list[str],
    stored: list[tuple[str, tuple[str, ...]]],
    stands: tuple[str, ...],
) -> None:
    row = answered(home, owner, four)
    seat = Seat(home, owner, four)
    opened = reviewing.open_row(seat, row)
    reviewing.correct(seat, row, opened.token, kind, labels, note="why", flagged=True)
    written = log(home, four)[1:]
    assert [(one.kind, one.labels) for one in written] == stored
    assert {(one.strategy, one.note, one.flagged) for one in written} == {("review", "why", True)}
    assert {one.predicted for one in written} == {log(home, four)[0].predicted}, "what the model said at first"
    assert written[0].token == opened.token
    assert left(home, owner, four, row) == stands
    assert kind in CORRECTIONS


@pytest.mark.parametrize(
    ("kind", "labels", "changes"),
    [
        ("skip", [], {}),
        ("unsure", [], {}),
        ("labels", [], {}),
        ("not", ["ant"], {}),  # all that is left
        ("is", [], {}),
        ("is", ["zebra"], {}),
        ("is", ["ant", "bee"], {}),
        ("among", ["bee", "bee"], {}),
        ("among", ["bee", "zebra"], {}),
        ("bad", ["ant"], {}),
        ("is", ["ant"], {"ant": 1}),
    ],
)
def test_invalid_correction_stores_nothing(
    home: Home, owner: int, four: int, kind: str, labels: list[str], changes: dict[str, int]
) -> None:
    row = answered(home, owner, four)
    seat = Seat(home, owner, four)
    with pytest.raises(AnswerError):
        reviewing.correct(seat, row, reviewing.open_row(seat, row).token, kind, labels, changes=changes)
    assert len(log(home, four)) == 1
    assert left(home, owner, four, row) == ("ant",)
