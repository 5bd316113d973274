"""The law of history: the state as of an entry is what an export made right after that entry held, byte for byte."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plcore.loop import ClassError
from tests.databases import Laying
from tests.workflow.importing.test_more_rows import add
from tests.workflow.kind_worlds import WORLDS, KindWorld
from tests.workflow.test_classes_live import change
from tests.workflow.test_kinds_acts import ACTS, CALM, REFUSALS, Play, played
from tests.workflow.world import annotator, answer_next, file_of, opened, small_frame, small_project
from workflow.access import NotAllowed, NotFound
from workflow.answering import undoing
from workflow.exporting import files as exporting
from workflow.exporting.files import ExportChoice
from workflow.exporting.past import open_as_of
from workflow.models import training
from workflow.people import aside, members
from workflow.projects import classes, managing
from workflow.seat import Seat
from workflow.server.home import Home
from workflow.server.settings import Settings

OWNERS = st.tuples(
    st.sampled_from(["settings", "aside", "count", "rename", "merge", "add", "back"]),
    st.integers(0, 1),
    st.integers(0, 6),
)
STEPS = st.lists(st.one_of(ACTS, OWNERS), min_size=3, max_size=8)
SETTINGS: Mapping[str, list[dict[str, object]]] = {
    "one_label": [{"n_neighbors": 3}, {"n_neighbors": 4}, {"model": "perceptron-max"}, {"model": "plknn"}],
    "label_vectors": [{"max_iter": 3}, {"max_iter": 4}, {"criterion": "random"}],
}
"""What an owner changes: with another model, and without a word of it in the log."""


def files(seat: Seat, as_of: int | None = None) -> dict[str, bytes]:
    """The labels as two formats have them, with every answer in one of them, and the log."""
    names = ("csv", "cells" if seat.kind.NAME == "label_vectors" else "jsonl", "log")
    return {name: file_of(seat, name, as_of=as_of) for name in names}


def act(play: Play, what: str, who: int, number: int) -> None:
    """One of an owner's acts, or of anybody's."""
    seat, ada = play.people
    if what == "settings":
        choices = SETTINGS[play.world.kind]
        with suppress(ValueError):
            managing.change_learner(seat, **choices[number % len(choices)])
    elif what in ("aside", "count"):
        with suppress(NotFound):
            (aside.set_aside if what == "aside" else aside.count_again)(seat, ada.person_id)
    elif what in ("rename", "merge", "add", "back"):
        with suppress(ClassError):
            view = classes.classes_view(seat)
            names = [one.name for one in view.classes]
            one = names[number % len(names)]
            if what == "back":
                classes.take_back(seat, view.version)
            else:
                said = {"rename": (one, f"{one}{number}"), "merge": (one, names[0]), "add": (f"new{number}",)}
                classes.change_classes(seat, view.version, what, said[what])
    else:
        play.do(what, who, number)


def play_and_compare(world: KindWorld, where: Settings, acts: list[tuple[str, int, int]]) -> None:
    """The files after each of these acts, against those of the state as of its entry, made when all is over."""
    with played(world, where) as play:
        play.people[0].settle()
        live = {0: files(play.people[0])}
        for what, who, number in acts:
            with suppress(*REFUSALS):
                act(play, what, who, number)
            if (length := play.length()) not in live:
                play.people[0].settle()
                live[length] = files(play.people[0])
        for seq in live:
            assert files(play.people[0], seq) == live[seq], seq


EVERY_WORLD = pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)


@EVERY_WORLD
@given(acts=STEPS)
@settings(max_examples=2, suppress_health_check=CALM)
def test_the_state_as_of_an_entry_is_the_export_made_right_after_it(
    world: KindWorld,
    acts: list[tuple[str, int, int]],
    tmp_path_factory: pytest.TempPathFactory,
    lay: Laying,
) -> None:
    play_and_compare(world, lay(tmp_path_factory.mktemp("home")), acts)


@pytest.mark.proof
@EVERY_WORLD
@given(acts=st.lists(st.one_of(ACTS, OWNERS), min_size=4, max_size=20))
@settings(max_examples=8, suppress_health_check=CALM)
def test_so_it_is_after_many_acts(
    world: KindWorld,
    acts: list[tuple[str, int, int]],
    tmp_path_factory: pytest.TempPathFactory,
    lay: Laying,
) -> None:
    play_and_compare(world, lay(tmp_path_factory.mktemp("home")), acts)


def test_classes_rows_and_people_are_those_of_then(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    ada = annotator(home, owner, "Ada")
    live = {0: files(seat)}

    def note() -> None:
        live[max(live) + 1] = files(seat)

    for person in (owner, ada, owner):
        answer_next(home, person, project)
        note()
    change(home, owner, project, "rename", "ant", "emmet")
    note()
    aside.set_aside(seat, ada)
    note()
    frame = small_frame(70).astype("str")
    add(seat, frame[60:])
    note()
    answer_next(home, owner, project)
    note()
    aside.count_again(seat, ada)
    note()
    members.remove_member(seat, ada)
    undoing.undo(seat)
    note()
    assert len(set(map(str, live.values()))) == len(live), "every entry changes what an export holds"
    for seq, held in live.items():
        assert files(seat, seq) == held, seq


def test_settings_that_the_log_does_not_tell_are_those_of_then(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    live = []
    for neighbors in (4, 9, 2):
        managing.change_learner(seat, n_neighbors=neighbors)
        answer_next(home, owner, project)
        live.append(file_of(seat))
    assert len(set(live)) == 3
    assert [file_of(seat, as_of=seq) for seq in (1, 2, 3)] == live
    managing.change_learner(seat, n_neighbors=7)
    assert file_of(seat, as_of=3) == live[-1] != file_of(seat)


def test_a_model_that_a_worker_trains_is_the_version_of_then(home: Home, owner: int) -> None:
    project = small_project(home, owner, model="kernelridge", strategy="margin", train_every=2)
    seat, worker, live = Seat(home, owner, project), training.Worker(home, "one"), []
    for number in range(7):
        if number:
            answer_next(home, owner, project)
        for one in training.due(home):
            worker.train(one)
        with seat.learner():
            pass  # takes the version in
        seat.settle()
        live.append(file_of(seat))
    with opened(home, owner, project) as learner:
        assert learner.version_published is not None
        assert learner.version_published == 6, "versions whose files are gone are needed"
    for seq, held in enumerate(live):
        assert file_of(seat, as_of=seq) == held, seq


def test_one_learner_of_the_past_is_kept_until_the_present_is_looked_at(
    home: Home, owner: int, project: int
) -> None:
    seat, past = Seat(home, owner, project), home.shelf.slot(project).past
    answer_next(home, owner, project)
    with open_as_of(seat, 0) as then:
        first = then.learner
        assert (first.seq, first.pool.answers) == (0, 0)
    with open_as_of(seat, 0) as then:
        assert then.learner is first
    with open_as_of(seat, 1) as then:
        assert then.learner.seq == 1
        assert then.learner is past.learner
    with open_as_of(seat, None) as now:
        assert now.learner is home.shelf.slot(project).learner
    assert past.learner is None


def test_the_past_is_the_owner_s(home: Home, owner: int, project: int) -> None:
    ada = annotator(home, owner, "Ada")
    with pytest.raises(NotAllowed), open_as_of(Seat(home, ada, project), 0):
        pass


def test_a_data_set_is_of_now(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    with pytest.raises(ValueError, match="is of the present state"):
        ExportChoice("dataset", as_of=0)
    assert "dataset" in exporting.export_view(seat, 1).files
    assert "dataset" not in exporting.export_view(seat, 1, as_of=0).files


def test_a_file_of_then_says_so_in_its_name(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    answer_next(home, owner, project)
    answer_next(home, owner, project)
    view = exporting.export_view(seat, 1, as_of=1)
    assert (view.seq, view.last, view.counts["answered"]) == (1, 2, 1)
    exporting.wait(seat, exporting.prepare(seat, ExportChoice(as_of=1), "small"))
    (file,) = exporting.prepared(seat)
    assert (file.file_name, file.seq) == ("small-winnowed-as-of-1.csv", 1)
    path, _ = exporting.find(seat, file.key)
    assert path.read_bytes() == file_of(seat, as_of=1)
