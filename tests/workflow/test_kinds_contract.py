"""Every use case over every kind of project: what the owner and an annotator can do, and the results."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from plcore import AnswerError
from plcore.loop import StopRules
from tests.present import present
from tests.workflow.kind_worlds import IN_EVERY_FORM_ON_BOTH, WORLDS, KindWorld, check_same, read_csv
from tests.workflow.log.written import read_log
from tests.workflow.meaning_world import give_vectors
from tests.workflow.world import annotator, count_entries, counts_agreed, file_of, log_of, opened
from workflow import importing, kinds
from workflow.access import NotAllowed, NotFound
from workflow.answering import loop, oracle, room, undoing
from workflow.answering.history import overlaps, place_of
from workflow.answering.room import RoomError, RoomSettings
from workflow.exporting import files as exporting
from workflow.models import training
from workflow.projects import classes, managing, progress, standing
from workflow.projects.classes import ClassError
from workflow.rows import instance_map as maps
from workflow.rows import queue, reviewing
from workflow.rows.finding import SAYS_SOMETHING, Search
from workflow.seat import Seat
from workflow.server.home import Home, open_home


def counts(seat: Seat) -> tuple[int, int]:
    assert seat.project_id is not None
    return counts_agreed(seat.home, seat.person_id, seat.project_id)


def correct(world: KindWorld, seat: Seat, row: int, **more: str) -> loop.Saved:
    found = reviewing.open_row(seat, row)
    what = world.correction(found)
    shown = getattr(found, "shown", None)
    return reviewing.correct(seat, row, found.token, what.kind, what.labels, changes=what.changes, shown=shown, **more)


def test_worlds_cover_every_kind_and_answer(home: Home, owner: int) -> None:
    assert {one.kind for one in WORLDS} == set(kinds.KINDS)
    for name in kinds.KINDS:
        ways = [one for one in WORLDS if one.kind == name]
        with Seat(home, owner, ways[0].make(Seat(home, owner), name)).turn() as turn:
            assert {said for one in ways for said in one.ANSWERS} == set(turn.ANSWERS)
            assert set(turn.STAYS_AFTER) <= set(turn.ANSWERS)


@IN_EVERY_FORM_ON_BOTH
def test_project_is_made_listed_and_found_again(world: KindWorld, seat: Seat) -> None:
    (listed,) = managing.list_projects(seat)
    assert managing.get_project(seat) == listed
    assert (listed.id, listed.name, listed.kind) == (seat.project_id, "small", world.kind)
    assert listed.words == kinds.KINDS[world.kind].WORDS
    assert importing.kind_of_table(world.table()) == world.kind
    assert listed.n_rows == world.table().n_rows
    assert listed.n_classes == len(world.table().classes) == len(room.class_names(seat))
    assert counts(seat) == (0, listed.left)
    assert 0 < listed.left <= listed.n_to_ask
    assert listed.by_row == world.settings().by_row
    with pytest.raises(managing.ProjectNameError, match="exists already"):
        world.make(seat)
    assert len(managing.list_projects(seat)) == 1


@IN_EVERY_FORM_ON_BOTH
def test_settings_are_read_and_changed(world: KindWorld, seat: Seat) -> None:
    before = managing.learner_settings(seat)
    assert before == world.settings().to_json()
    assert dict(world.CHANGE).items() - before.items(), "they are others than before"
    world.answer(seat)
    managing.change_learner(seat, **world.CHANGE)
    assert managing.learner_settings(seat) == {**before, **world.CHANGE}
    assert counts(seat)[0] == 1, "what was answered stays"
    world.answer(seat)


@IN_EVERY_FORM_ON_BOTH
def test_drawn_and_invalid_settings_cannot_be_changed(world: KindWorld, seat: Seat) -> None:
    before = managing.learner_settings(seat)
    drawn = kinds.KINDS[world.kind].DRAWN
    assert {"seed", "test_share", "control_share"} <= drawn <= set(before)
    for name in drawn:
        with pytest.raises(ValueError, match=f"{name} is fixed when a project is made"):
            managing.change_learner(seat, **{name: before[name]})
    with pytest.raises(ValueError, match=r"no setting 'colour'. It has .*seed"):
        managing.change_learner(seat, colour="red")
    with pytest.raises(ValueError, match=next(iter(world.WRONG))):
        managing.change_learner(seat, **world.WRONG)
    assert managing.learner_settings(seat) == before


@IN_EVERY_FORM_ON_BOTH
def test_refresh_shows_the_same_question(seat: Seat) -> None:
    seat.settle()
    first = loop.next_question(seat)
    loop.get_ready(seat)
    assert first is not None
    assert loop.next_question(seat) == first
    assert first.why
    assert first.view.row_id == f"r{first.view.row}"


@IN_EVERY_FORM_ON_BOTH
def test_chosen_place_is_asked(world: KindWorld, seat: Seat, ada: Seat) -> None:
    wanted = queue.list_queue(seat).rows[-1]
    label = getattr(wanted, "label", None)
    asked = loop.ask_next(seat, wanted.row, label)
    assert (asked.view.row, getattr(asked, "label", None)) == (wanted.row, label)
    again = present(loop.next_question(seat))
    assert again.token == asked.token
    with pytest.raises(AnswerError, match="Someone else is answering"):
        loop.ask_next(ada, wanted.row, label)
    world.answer(seat, again)
    with pytest.raises(AnswerError, match="no longer open"):
        loop.ask_next(ada, wanted.row, label)


@IN_EVERY_FORM_ON_BOTH
def test_every_kind_of_answer_is_stored_undone_and_redone(world: KindWorld, seat: Seat) -> None:
    with seat.turn() as turn:
        stays = turn.STAYS_AFTER
    for number, kind in enumerate(world.ANSWERS):
        before, seq = counts(seat), len(log_of(seat))
        question = present(loop.next_question(seat))
        saved = world.say(seat, kind, question, note=f" {number} ", flagged=True)
        assert (saved.seq, saved.row, saved.repeated) == (len(log_of(seat)), question.view.row, False)
        written = log_of(seat)[seq:]
        assert written[0].token == question.token
        assert {one.note for one in written} == {str(number)}
        assert all(one.flagged and one.seconds is not None for one in written[:1])
        assert {one.person_id for one in written} == {seat.person_id}
        after, now = counts(seat), standing.standing(seat)
        assert (now.last, now.undoable, now.redoable) == (saved, saved.seq, None)
        following = present(loop.next_question(seat))
        if kind in stays and len(question.choices) > 2:
            assert following.view.row == question.view.row
        assert following.token != question.token
        undone = present(undoing.undo(seat, saved.seq))
        assert (undone.kind, undone.row) == ("withdraw", saved.row)
        assert counts(seat) == before
        assert standing.standing(seat).redoable == saved.seq
        redone = present(undoing.redo(seat))
        assert (redone.kind, redone.labels, redone.row) == (saved.kind, saved.labels, saved.row)
        assert counts(seat) == after
        again = present(undoing.redo(seat, saved.seq))
        assert again.repeated, "what is given again is given once"
    assert undoing.redo(seat) is None
    assert len(standing.standing(seat).history) == 2 * len(world.ANSWERS)


@IN_EVERY_FORM_ON_BOTH
def test_double_press_is_stored_once(world: KindWorld, seat: Seat) -> None:
    question = loop.next_question(seat)
    saved = world.answer(seat, question)
    stored = len(log_of(seat))
    again = world.answer(seat, question)
    assert (again.seq, again.repeated, len(log_of(seat))) == (saved.seq, True, stored)
    assert counts(seat)[0] >= 1


@IN_EVERY_FORM_ON_BOTH
def test_invalid_input_stores_nothing(world: KindWorld, seat: Seat, ada: Seat) -> None:
    question, hers = loop.next_question(seat), loop.next_question(ada)
    assert question is not None
    assert hers is not None
    for refused, token, kind, labels, note in (
        (loop.StaleQuestion, hers.token, "skip", (), None),
        (loop.StaleQuestion, "1.2.3.4", "skip", (), None),
        (AnswerError, question.token, "withdraw", (), None),
        (AnswerError, question.token, "class", (), None),
        (AnswerError, question.token, "shout", (), None),
        (AnswerError, question.token, world.true(question).kind, ("zebra",), None),
        (AnswerError, question.token, "bad", ("zebra",), None),
        (AnswerError, question.token, "skip", (), "x" * 2_001),
        (AnswerError, question.token, "skip", (), "a\0b"),
    ):
        with pytest.raises(refused):
            loop.submit_answer(seat, token, kind, labels, note=note)
    assert log_of(seat) == []
    assert loop.next_question(seat) is not None
    world.answer(seat, question, note="x" * 2_000)
    assert log_of(seat)[0].note == "x" * 2_000


@IN_EVERY_FORM_ON_BOTH
def test_people_withdraw_only_their_own_answers(world: KindWorld, seat: Seat, ada: Seat) -> None:
    assert undoing.undo(seat) is None
    assert undoing.redo(seat) is None
    saved = world.answer(ada)
    assert undoing.undo(seat) is None
    for act in (undoing.undo, undoing.redo):
        with pytest.raises(loop.StaleQuestion, match="not one of yours"):
            act(seat, saved.seq)
    with pytest.raises(loop.StaleQuestion, match="still counts"):
        undoing.redo(ada, saved.seq)
    undoing.undo(ada, saved.seq)
    with pytest.raises(loop.StaleQuestion, match="already"):
        undoing.undo(ada, saved.seq)


@IN_EVERY_FORM_ON_BOTH
def test_standing_belongs_to_one_person(world: KindWorld, seat: Seat, ada: Seat) -> None:
    saved = world.answer(ada)
    loop.next_question(ada)
    mine, hers = standing.standing(seat), standing.standing(ada)
    assert (mine.last, mine.history, mine.undoable) == (None, (), None)
    assert (hers.last, hers.undoable) == (saved, saved.seq)
    assert (mine.elsewhere, hers.elsewhere) == (1, 0)
    assert (mine.answered, mine.left) == (hers.answered, hers.left) == counts(seat)
    assert mine.classes == room.class_names(seat)
    assert (mine.done, mine.stop) == (False, "")
    assert 0 <= mine.settled < 1


@IN_EVERY_FORM_ON_BOTH
def test_people_never_get_same_place(world: KindWorld, seat: Seat) -> None:
    people = [
        seat,
        *(
            Seat(seat.home, annotator(seat.home, seat.person_id, name), seat.project_id)
            for name in ("Ada", "Ben", "Cleo")
        ),
    ]
    for number in range(3):
        places = []
        for one in people:
            assert loop.next_question(one) is not None
            with one.turn() as turn:
                place = place_of(turn.open_now())
            assert not overlaps(place, set(places))
            places.append(place)
        world.say(people[number], "skip")
        world.answer(people[3])


@IN_EVERY_FORM_ON_BOTH
def test_queue_and_its_csv_are_in_asking_order(world: KindWorld, seat: Seat) -> None:
    seat.settle()
    view = queue.list_queue(seat)
    assert [one.place for one in view.rows] == list(range(1, view.listed + 1))
    question = present(loop.next_question(seat))
    assert question.view.row == view.rows[0].row
    lines = list(csv.DictReader(io.StringIO(queue.queue_csv(seat, wait=True).decode())))
    assert [(int(one["place"]), one["row_id"]) for one in lines] == [(one.place, one.row_id) for one in view.rows]
    assert [one.get("label") or None for one in lines] == [getattr(one, "label", None) for one in view.rows]
    assert [float(one["score"]) for one in lines] == pytest.approx([one.score for one in view.rows], abs=1e-6)
    name = view.rows[-1].row_id
    found = queue.list_queue(seat, name)
    assert (found.listed, found.open) == (view.listed, view.open)
    assert view.rows[-1] in found.rows
    assert found.matching == len(found.rows) == sum(name in one.row_id for one in view.rows)
    assert queue.list_queue(seat, "no such row").matching == 0


@IN_EVERY_FORM_ON_BOTH
def test_queue_lists_similar_rows_nearest_first(world: KindWorld, seat: Seat) -> None:
    seat.settle()
    n = world.table().n_rows
    vectors = np.random.default_rng(7).normal(size=(n, 4))
    bare = {one.row for one in queue.list_queue(seat).rows[:2]}
    vectors[sorted(bare)] = np.nan
    vectors = give_vectors(seat, vectors, "x")
    seat.settle()
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    before = queue.list_queue(seat)
    like = next(one.row for one in reversed(before.rows) if one.row not in bare)
    view = queue.list_nearest(seat, like=like)
    assert view.by_meaning
    assert not before.by_meaning
    assert (view.listed, view.open, view.blind) == (before.listed, before.open, before.blind)
    assert view.matching == len(view.rows) == sum(one.row not in bare for one in before.rows)
    assert view.rows[0].row == like
    near = [one.near for one in view.rows]
    assert near == sorted(near, reverse=True)
    assert near == pytest.approx([float(unit[one.row] @ unit[like]) for one in view.rows], abs=1e-6)
    places = {one.row: (one.place, one.score) for one in before.rows}
    assert all(places[one.row] == (one.place, one.score) for one in view.rows)
    assert all(one.near is None for one in before.rows)
    assert queue.search_ways(seat).by_row
    assert "not made from texts" in queue.search_ways(seat).why_no_words


def test_blind_checks_are_hidden_from_annotators(world: KindWorld, home: Home, owner: int) -> None:
    seat = Seat(home, owner, world.make(Seat(home, owner), control_share=0.4))
    ada = Seat(home, annotator(home, owner, "Ada"), seat.project_id)
    view = queue.list_queue(seat)
    with opened(home, owner, seat.project_id) as learner:
        blind = set(world.blind(learner))
    assert view.blind > 0
    assert blind
    assert not blind & {one.row for one in view.rows}
    with pytest.raises(NotAllowed, match="blind checks"):
        queue.list_queue(ada)
    seen, reasons = set(), []
    for _ in range(12):
        question = present(loop.next_question(ada))
        if question.strategy == "control":
            seen.add(question.view.row)
        reasons.append(question.why)
        world.answer(ada, question)
        assert maps.instance_map(ada).states.tolist() == maps.instance_map(seat).states.tolist()
    assert seen, "some of the questions were blind checks"
    assert not any("control" in why or "blind" in why for why in reasons)
    assert counts(seat)[0] > 0


@IN_EVERY_FORM_ON_BOTH
def test_answers_are_found_by_every_filter(world: KindWorld, seat: Seat, ada: Seat) -> None:
    seat.settle()
    question = present(loop.next_question(ada))
    against = world.answer(ada, question, world.against(question), flagged=True, note="see again")
    bad = world.say(seat, "bad")
    said = world.answer(seat)
    world.say(seat, "skip")

    def rows(whose: Seat = seat, **wanted: object) -> set[int]:
        found = reviewing.find(whose, Search(**wanted))  # type: ignore[arg-type]
        assert found.total == len(found.rows)
        assert [one.seq for one in found.rows] == sorted((one.seq for one in found.rows), reverse=True)
        return {one.row for one in found.rows}

    assert rows() == {against.row, bad.row, said.row}
    assert rows(person_id=ada.person_id) == rows(ada) == {against.row}
    assert rows(ada, person_id=seat.person_id) == {against.row}, "asking for someone else's does not help"
    assert rows(flagged=True) == {against.row}
    flagged = reviewing.find(seat, Search(flagged=True)).rows[0]
    assert (flagged.note, flagged.flagged, flagged.person) == ("see again", True, "Ada")
    assert against.row in rows(disagrees=True)
    assert bad.row not in rows(disagrees=True)
    assert rows(words=f"R{said.row} ") == {row for row in rows() if f"r{said.row}" in f"r{row}"}
    assert rows(words="no such thing") == set()
    for kind in SAYS_SOMETHING:
        found = reviewing.find(seat, Search(kind=kind)).rows
        assert {one.kind for one in found} <= {kind}
        assert (bad.row in {one.row for one in found}) == (kind == "bad")
    for label in room.class_names(seat):
        assert all(label in one.labels for one in reviewing.find(seat, Search(label=label)).rows)
    for label in said.labels:
        assert said.row in rows(label=label)
    with pytest.raises(ValueError, match="kind must be one of"):
        reviewing.find(seat, Search(kind="withdraw"))
    mine, hers = reviewing.options(seat), reviewing.options(ada)
    assert (mine.everybody, hers.everybody, hers.people) == (True, False, ())
    assert {name for _, name in mine.people} == {"owner", "Ada"}
    assert mine.anything
    assert mine.classes == hers.classes == room.class_names(seat)
    assert reviewing.find(seat, Search(), page=9).page == 0
    undoing.undo(seat)  # the skip
    undoing.undo(seat)
    assert rows() == {against.row, bad.row}


@IN_EVERY_FORM_ON_BOTH
def test_row_is_opened_and_corrected_once(world: KindWorld, seat: Seat, ada: Seat) -> None:
    said = world.answer(ada)
    untouched = next(one.row for one in queue.list_queue(seat).rows if one.row != said.row)
    for row, whose in ((untouched, ada), (10_000, seat), (-1, seat)):
        with pytest.raises(NotFound):
            reviewing.open_row(whose, row)
    assert not reviewing.open_row(seat, untouched).may_correct
    for whose in (seat, ada):
        with pytest.raises(NotAllowed):
            reviewing.correct(whose, untouched, f"{whose.person_id}.{untouched}.0", "bad")
    correct(world, ada, said.row)
    found = reviewing.open_row(seat, said.row)
    assert found.may_correct
    assert [one.person for one in found.history][-1] == "Ada"
    with opened(seat.home, seat.person_id, seat.project_id) as learner:
        before = world.state(learner)[said.row].tolist()
    saved = correct(world, seat, said.row, note="no")
    with opened(seat.home, seat.person_id, seat.project_id) as learner:
        assert world.state(learner)[said.row].tolist() != before
    stored = len(log_of(seat))
    what = world.correction(found)
    again = reviewing.correct(seat, said.row, found.token, what.kind, what.labels, changes=what.changes)
    assert (again.repeated, again.seq, len(log_of(seat))) == (True, saved.seq, stored)
    now = reviewing.open_row(seat, said.row)
    assert now.history[-1].note == "no"
    hers = reviewing.open_row(ada, said.row)
    assert {one.person for one in hers.history} == {"Ada"}, "what others have said is not for her"
    assert {one.person for one in now.history} == {"Ada", "owner"}
    for token in ("9.9.9", f"{seat.person_id}.{said.row}.77", "nonsense"):
        with pytest.raises(loop.StaleQuestion):
            reviewing.correct(seat, said.row, token, what.kind, what.labels, changes=what.changes)
    with pytest.raises(AnswerError):
        reviewing.correct(seat, said.row, now.token, "skip")
    reviewing.correct(seat, said.row, now.token, "bad")
    assert reviewing.open_row(seat, said.row).out
    counts(seat)


@IN_EVERY_FORM_ON_BOTH
def test_progress_and_watched_value_follow_log(world: KindWorld, seat: Seat, ada: Seat) -> None:
    seat.settle()
    before = progress.watched(seat)
    assert progress.watched(ada) == before
    assert before[0] == 0
    world.answer(ada)
    seat.settle()
    after = progress.watched(seat)
    assert after[0] == len(log_of(seat)) > 0
    view = progress.read_progress(seat)
    check_same(progress.read_progress(ada), view)
    assert (view.answered, view.left) == counts(seat)
    assert view.settled == standing.standing(seat).settled
    assert view.seconds_per_answer is not None
    assert view.time_left is not None
    assert view.model_version <= after[0]
    assert view.curve.answers.tolist() == sorted(view.curve.answers.tolist())
    assert {one.label for one in view.labels} <= set(room.class_names(seat))


@IN_EVERY_FORM_ON_BOTH
def test_stop_rules_are_read_changed_and_applied(world: KindWorld, seat: Seat) -> None:
    assert progress.stop_view(seat).rules == kinds.KINDS[world.kind].DEFAULT_RULES
    assert progress.stop_view(seat).reached == ()
    rules = StopRules(settled=None, flat_within=None, budget=1)
    progress.change_stop_rules(seat, rules)
    assert standing.standing(seat).stop == ""
    world.answer(seat)
    view = progress.stop_view(seat)
    assert (view.rules, len(view.reached)) == (rules, 1)
    assert standing.standing(seat).stop == view.reached[0].words
    check_same(progress.read_progress(seat).stop, view)
    assert loop.next_question(seat) is not None, "people decide whether to go on"


@IN_EVERY_FORM_ON_BOTH
def test_every_export_can_be_read_back_and_removed(world: KindWorld, seat: Seat) -> None:
    for kind in (*world.ANSWERS, world.ANSWERS[0]):
        if kind != "bad":  # such a row has nothing left to be imported
            world.say(seat, kind)
    seat.settle()
    files = kinds.KINDS[world.kind].FORMATS
    assert next(iter(files)) == "csv"
    tables = {name: file_of(seat, name) for name in files}
    assert len(set(tables.values())) == len(files)
    written = read_log(file_of(seat, "log"))
    assert [one.entry.token for one in written] == [one.token for one in log_of(seat)]
    assert {one.annotator for one in written} == {"owner"}
    with pytest.raises(ValueError, match=r"A file is one of csv, .*log. Got 'model'"):
        file_of(seat, "model")
    exported = read_csv(tables["csv"])
    with opened(seat.home, seat.person_id, seat.project_id) as learner:
        np.testing.assert_array_equal(world.read_again(exported, learner), world.state(learner))
    original = world.table().cells
    kept = [name for name in original.columns if name in exported.columns and name not in learner.classes]
    assert kept
    assert (exported[kept] == original[kept]).all(axis=None)
    first = exporting.export_view(seat, 5).first.reset_index(drop=True)
    assert set(first.columns) == set(exported.columns)
    assert (first[exported.columns] == exported[:5]).all(axis=None)
    sources = exporting.export_view(seat, 1).sources[exporting.ALL]
    assert sum(sources.values()) in (world.table().n_rows, world.state(learner).size)


@IN_EVERY_FORM_ON_BOTH
def test_map_shows_state_of_every_row(world: KindWorld, seat: Seat, ada: Seat) -> None:
    before = maps.instance_map(seat)
    assert len(before.rows) == before.n_rows == world.table().n_rows
    assert before.row_ids == tuple(map(str, world.table().ids))
    bad, said = world.say(ada, "bad"), world.answer(seat)
    now = maps.instance_map(ada)
    np.testing.assert_array_equal(now.places, before.places)
    states = [maps.STATES[number] for number in now.states]
    assert states[bad.row] == "bad"
    assert states[said.row] in ("answered", "open")
    changed = {row for row, (a, b) in enumerate(zip(before.states, now.states, strict=True)) if a != b}
    assert bad.row in changed
    assert changed <= {bad.row, said.row}
    assert now.labels[bad.row] == ()
    assert set(now.labels[said.row]) <= set(room.class_names(seat))


@IN_EVERY_FORM_ON_BOTH
def test_room_is_set_for_everyone(world: KindWorld, seat: Seat, ada: Seat) -> None:
    names = room.class_names(seat)
    assert room.class_names(ada) == names == tuple(world.table().classes)
    wanted = RoomSettings("Look twice.", "fixed", {names[0]: "the first"})
    room.change_room(seat, wanted)
    assert room.room_of(ada) == wanted
    question = present(loop.next_question(ada))
    lines = question.lines if hasattr(question, "lines") else question.candidates
    shown = [one.label for one in lines]
    assert shown == [name for name in names if name in shown], "the fixed order is that of the classes"
    assert {one.label: one.description for one in lines} == {
        name: "the first" if name == names[0] else "" for name in shown
    }


@IN_EVERY_FORM_ON_BOTH
def test_classes_are_changed_if_kind_allows_it(world: KindWorld, seat: Seat) -> None:
    world.answer(seat)
    before, stored, names = counts(seat), len(log_of(seat)), room.class_names(seat)
    if kinds.KINDS[world.kind].CLASSES is None:
        for act in (
            lambda: classes.classes_view(seat),
            lambda: classes.touched(seat, names[0]),
            lambda: classes.change_classes(seat, 0, "add", ["zebra"]),
            lambda: classes.take_back(seat, 0),
        ):
            with pytest.raises(ClassError, match="of this project cannot change"):
                act()
        assert (len(log_of(seat)), room.class_names(seat)) == (stored, names)
        return
    version = classes.classes_view(seat).version
    assert classes.change_classes(seat, version, "add", ["zebra"]) == (*names, "zebra")
    with pytest.raises(ClassError, match="changed a moment ago"):
        classes.change_classes(seat, version, "add", ["zebu"])
    view = classes.classes_view(seat)
    assert (view.latest, view.classes[-1].name) == (("add", "zebra"), "zebra")
    assert classes.take_back(seat, view.version) == names
    view = classes.classes_view(seat)
    assert classes.touched(seat, names[0]).rows > 0
    assert classes.change_classes(seat, view.version, "rename", [names[0], "first"])[0] == "first"
    assert counts(seat) == before
    world.say(seat, "skip")
    assert managing.get_project(seat).n_classes == len(names)


@IN_EVERY_FORM_ON_BOTH
def test_groups_of_classes_are_set_if_kind_takes_them(world: KindWorld, seat: Seat) -> None:
    names = room.class_names(seat)
    file = f"class,group\n{names[0]},few\n{names[1]},few\n".encode()
    if not kinds.KINDS[world.kind].TAKES_GROUPS:
        for act in (
            lambda: room.groups_in_file(seat, file, "groups.csv"),
            lambda: room.set_groups(seat, {"few": names[:2]}),
        ):
            with pytest.raises(RoomError, match="it has no groups"):
                act()
        assert room.groups_of(seat) == {}
        return
    room.set_groups(seat, room.groups_in_file(seat, file, "groups.csv"))
    assert room.groups_of(seat) == room.room_of(seat).groups == {"few": names[:2]}
    world.answer(seat)  # a question has them, and is answered as any other
    room.set_groups(seat, {})
    assert room.groups_of(seat) == {}


@IN_EVERY_FORM_ON_BOTH
def test_simulated_answers_need_hidden_truth(world: KindWorld, seat: Seat, ada: Seat) -> None:
    assert not oracle.can_answer(ada)
    if not oracle.can_answer(seat):
        with pytest.raises(oracle.NoTruth):
            oracle.answer_for_me(seat, 1)
        assert log_of(seat) == []
        return
    assert oracle.answer_for_me(seat, 3) == 3
    assert {one.note for one in log_of(seat)} == {"simulated"}
    assert counts(seat)[0] == 3
    with opened(seat.home, seat.person_id, seat.project_id) as learner:
        for one in log_of(seat):
            assert one.labels == (learner.classes[learner.table.truth[one.row]],)


@IN_EVERY_FORM_ON_BOTH
def test_project_is_renamed_unloaded_and_restored(world: KindWorld, seat: Seat) -> None:
    world.answer(seat)
    before = counts(seat)
    managing.rename_project(seat, "new", "what it is about")
    assert (managing.get_project(seat).name, managing.get_project(seat).description) == ("new", "what it is about")
    assert training.training_state(seat).fault is None
    for away, where in ((managing.archive_project, "archived"), (managing.bin_project, "binned")):
        away(seat)
        away(seat)
        assert managing.list_projects(Seat(seat.home, seat.person_id)) == []
        (one,) = getattr(managing.put_away(Seat(seat.home, seat.person_id)), where)
        assert (one.id, one.kind, one.answered) == (seat.project_id, world.kind, before[0])
        managing.restore_project(seat)
        assert counts(seat) == before
        world.say(seat, "skip")


@IN_EVERY_FORM_ON_BOTH
def test_restart_changes_nothing(world: KindWorld, seat: Seat, ada: Seat) -> None:
    for kind in world.ANSWERS:
        world.say(seat, kind)
        world.answer(ada)
    undoing.undo(seat)
    seat.settle()
    open_before = present(loop.next_question(seat))
    with seat.turn() as turn:
        best = turn.best(turn.taken)
    again = open_home(seat.home.settings)
    try:
        other = Seat(again, seat.person_id, seat.project_id)
        other.settle()
        with other.turn() as turn:
            assert turn.best(turn.taken) == best
            assert turn.open_now().token == open_before.token
        check_same(standing.standing(other), standing.standing(seat))
        check_same(progress.read_progress(other), progress.read_progress(seat))
        check_same(queue.list_queue(other), queue.list_queue(seat))
        check_same(maps.instance_map(other), maps.instance_map(seat))
        assert file_of(other) == file_of(seat)
        saved = world.answer(other, open_before)
        assert world.answer(seat, open_before).repeated, "both read one log"
        assert standing.standing(seat).last == saved
    finally:
        again.close()
    assert count_entries(seat.home) == len(log_of(seat))
