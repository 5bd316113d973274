"""A project as it was at an earlier entry or time."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from plcore.loop import ClassError
from tests.databases import Laying
from tests.workflow.importing.test_more_rows import add
from tests.workflow.kind_worlds import WORLDS, KindWorld
from tests.workflow.test_kinds_acts import ACTS, CALM, REFUSALS, Play, played
from tests.workflow.test_projects_life import change
from tests.workflow.world import annotator, answer_next, file_of, log, opened, small_frame, small_project
from workflow.access import NotAllowed, NotFound
from workflow.answering import undoing
from workflow.exporting import files as exporting
from workflow.exporting.as_of import AsOf, AsOfError, find_past, open_as_of, read_as_of
from workflow.exporting.files import ExportChoice
from workflow.exporting.snapshot import Past
from workflow.models import choosing, training
from workflow.people import aside, members
from workflow.projects import classes, managing
from workflow.seat import Seat
from workflow.server.home import Home
from workflow.server.settings import Settings

# The law of history: the state as of an entry is what an export made right after that entry held, byte for
# byte


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
"""Changes by an owner: with another model, and without any trace in the log."""


def files(seat: Seat, as_of: int | None = None) -> dict[str, bytes]:
    """The labels in two formats, one of which has every answer, and the log."""
    names = ("csv", "cells" if seat.kind.NAME == "label_vectors" else "jsonl", "log")
    return {name: file_of(seat, name, as_of=as_of) for name in names}


def act(play: Play, what: str, who: int, number: int) -> None:
    """Do something as an owner, or as anyone."""
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
    """Compare the files after each of these acts with the state as of its entry, exported when all is over."""
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
def test_past_state_equals_export_made_then(
    world: KindWorld, acts: list[tuple[str, int, int]], tmp_path_factory: pytest.TempPathFactory, lay: Laying
) -> None:
    play_and_compare(world, lay(tmp_path_factory.mktemp("home")), acts)


@pytest.mark.proof
@EVERY_WORLD
@given(acts=st.lists(st.one_of(ACTS, OWNERS), min_size=4, max_size=20))
@settings(max_examples=8, suppress_health_check=CALM)
def test_past_state_equals_export_made_then_after_many_acts(
    world: KindWorld, acts: list[tuple[str, int, int]], tmp_path_factory: pytest.TempPathFactory, lay: Laying
) -> None:
    play_and_compare(world, lay(tmp_path_factory.mktemp("home")), acts)


def test_past_state_has_its_classes_rows_and_people(home: Home, owner: int, project: int) -> None:
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


def test_past_state_has_its_stored_settings(home: Home, owner: int, project: int) -> None:
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


def test_past_state_has_its_model_version(home: Home, owner: int) -> None:
    project = small_project(home, owner, model="kernelridge", strategy="margin", train_every=2)
    seat, worker, live = Seat(home, owner, project), training.Worker(home, "one"), []
    for number in range(7):
        if number:
            answer_next(home, owner, project)
        for one in training.due(home):
            worker.train(one)
        with seat.learner():
            pass  # applies the version
        seat.settle()
        live.append(file_of(seat))
    with opened(home, owner, project) as learner:
        assert learner.version_published is not None
        assert learner.version_published == 6, "versions whose files are gone are needed"
    for seq, held in enumerate(live):
        assert file_of(seat, as_of=seq) == held, seq


def test_one_past_state_is_cached_until_present_is_opened(home: Home, owner: int, project: int) -> None:
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


def test_past_state_is_owner_only(home: Home, owner: int, project: int) -> None:
    ada = annotator(home, owner, "Ada")
    with pytest.raises(NotAllowed), open_as_of(Seat(home, ada, project), 0):
        pass


def test_data_set_needs_current_state(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    with pytest.raises(ValueError, match="is of the present state"):
        ExportChoice("dataset", as_of=0)
    assert "dataset" in exporting.export_view(seat, 1).files
    assert "dataset" not in exporting.export_view(seat, 1, as_of=0).files


def test_file_of_past_state_has_it_in_its_name(home: Home, owner: int, project: int) -> None:
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


# Choosing an earlier state by number or time, and messages of refusals


def found(seat: Seat, as_of: AsOf) -> Past:
    with seat.reading() as reading:
        return find_past(reading.session, reading.project, as_of)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (" 40 ", 40),
        ("2026-03-01T12:30:00+01:00", datetime(2026, 3, 1, 11, 30, tzinfo=UTC)),
        ("2026-03-01 12:30", datetime(2026, 3, 1, 12, 30, tzinfo=UTC)),
        ("2026-03-01", datetime(2026, 3, 1, tzinfo=UTC)),
        ("first release", "first release"),
        ("²", "²"),
        ("9999-12-31T23:59:59-14:00", "9999-12-31T23:59:59-14:00"),
        ("0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00+14:00"),
    ],
)
def test_as_of_text_is_number_time_or_name(said: str, meant: AsOf) -> None:
    assert read_as_of(said) == meant


def test_time_without_zone_uses_zone_of_person() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    assert read_as_of("2026-07-01 12:30", berlin) == datetime(2026, 7, 1, 10, 30, tzinfo=UTC)
    assert read_as_of("2026-07-01 12:30Z", berlin) == datetime(2026, 7, 1, 12, 30, tzinfo=UTC)


def test_time_means_latest_entry_until_then(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    with seat.reading() as reading:
        made = reading.project.created_at
    for _ in range(3):
        answer_next(home, owner, project)
    written = log(home, project)
    assert found(seat, made).seq == 0
    for one in written:
        last = max(other.seq for other in written if other.at <= one.at)
        assert found(seat, one.at).seq == last
        assert found(seat, one.at - timedelta(microseconds=1)).seq < one.seq
    assert found(seat, 0).moment == made
    assert found(seat, 2).moment == written[1].at


def test_time_selects_settings_at_that_time(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    answer_next(home, owner, project)
    before = datetime.now(UTC)
    managing.change_learner(seat, n_neighbors=9)
    between = datetime.now(UTC)
    managing.change_learner(seat, n_neighbors=2)
    after = datetime.now(UTC)
    assert [found(seat, one).settings["n_neighbors"] for one in (before, between, after)] == [4, 9, 2]
    assert found(seat, 1).settings["n_neighbors"] == 4, "right after the entry"


def test_past_model_is_read_from_log_without_stored_settings(home: Home, owner: int) -> None:
    project = small_project(home, owner)
    seat = Seat(home, owner, project)
    answer_next(home, owner, project)
    choosing.adopt(seat, "perceptron-max")
    choosing.adopt(seat, "plknn")
    with home.database.write() as session:  # as an earlier version, which noted none
        session.execute(text("DELETE FROM past_settings"))
    assert [found(seat, seq).settings["model"] for seq in range(4)] == ["plknn", "plknn", "perceptron-max", "plknn"]


def test_unknown_past_state_is_refused(home: Home, owner: int, project: int, subtests: pytest.Subtests) -> None:
    answer_next(home, owner, project)
    for as_of, words in [
        (-1, r"has entries 1 to 1; 0 is before the first. Got -1"),
        ("final", r"There is no snapshot 'final' of this project"),
        (2, r"has entries 1 to 1; 0 is before the first. Got 2"),
        (datetime(2020, 1, 1, tzinfo=UTC), r"The project was made at .* at 2020-01-01 00:00:00 UTC there was"),
        (datetime(2999, 1, 1, tzinfo=UTC), r"2999-01-01 00:00:00 UTC is in the future"),
    ]:
        with subtests.test(str(as_of)), pytest.raises(AsOfError, match=words):
            found(Seat(home, owner, project), as_of)


def test_empty_log_has_initial_state(home: Home, owner: int, project: int) -> None:
    assert found(Seat(home, owner, project), 0).seq == 0
    with pytest.raises(AsOfError, match="has no entry yet"):
        found(Seat(home, owner, project), 1)
