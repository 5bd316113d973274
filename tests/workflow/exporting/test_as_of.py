"""Which earlier state is meant, by number or moment; and what is refused, in words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import text

from db import entries
from tests.workflow.world import answer_next, small_project
from workflow.exporting.as_of import AsOf, AsOfError, find_past, read_as_of
from workflow.exporting.snapshot import Past
from workflow.models import choosing
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home


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
def test_what_is_typed_is_a_number_a_moment_or_a_name(said: str, meant: AsOf) -> None:
    assert read_as_of(said) == meant


def test_a_moment_without_a_zone_is_of_the_person_s() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    assert read_as_of("2026-07-01 12:30", berlin) == datetime(2026, 7, 1, 10, 30, tzinfo=UTC)
    assert read_as_of("2026-07-01 12:30Z", berlin) == datetime(2026, 7, 1, 12, 30, tzinfo=UTC)


def test_a_moment_means_the_latest_entry_until_then(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    with seat.reading() as reading:
        made = reading.project.created_at
    for _ in range(3):
        answer_next(home, owner, project)
    with home.database.read() as session:
        log = entries.after(session, project, 0)
    assert found(seat, made).seq == 0
    for one in log:
        last = max(other.seq for other in log if other.at <= one.at)
        assert found(seat, one.at).seq == last
        assert found(seat, one.at - timedelta(microseconds=1)).seq < one.seq
    assert found(seat, 0).moment == made
    assert found(seat, 2).moment == log[1].at


def test_a_moment_has_the_settings_of_then(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    answer_next(home, owner, project)
    before = datetime.now(UTC)
    managing.change_learner(seat, n_neighbors=9)
    between = datetime.now(UTC)
    managing.change_learner(seat, n_neighbors=2)
    after = datetime.now(UTC)
    assert [found(seat, one).settings["n_neighbors"] for one in (before, between, after)] == [4, 9, 2]
    assert found(seat, 1).settings["n_neighbors"] == 4, "right after the entry"


def test_the_log_tells_the_model_where_the_settings_of_then_were_not_noted(home: Home, owner: int) -> None:
    project = small_project(home, owner)
    seat = Seat(home, owner, project)
    answer_next(home, owner, project)
    choosing.adopt(seat, "perceptron-max")
    choosing.adopt(seat, "plknn")
    with home.database.write() as session:  # as a version that noted none
        session.execute(text("DELETE FROM past_settings"))
    assert [found(seat, seq).settings["model"] for seq in range(4)] == [
        "plknn",
        "plknn",
        "perceptron-max",
        "plknn",
    ]


@pytest.mark.parametrize(
    ("as_of", "words"),
    [
        (-1, r"has entries 1 to 1; 0 is before the first. Got -1"),
        ("final", r"There is no snapshot 'final' of this project"),
        (2, r"has entries 1 to 1; 0 is before the first. Got 2"),
        (
            datetime(2020, 1, 1, tzinfo=UTC),
            r"The project was made at .* at 2020-01-01 00:00:00 UTC there was",
        ),
        (datetime(2999, 1, 1, tzinfo=UTC), r"2999-01-01 00:00:00 UTC is yet to come"),
    ],
)
def test_a_state_that_there_is_not_is_refused(
    home: Home, owner: int, project: int, as_of: AsOf, words: str
) -> None:
    answer_next(home, owner, project)
    with pytest.raises(AsOfError, match=words):
        found(Seat(home, owner, project), as_of)


def test_an_empty_log_has_a_beginning(home: Home, owner: int, project: int) -> None:
    assert found(Seat(home, owner, project), 0).seq == 0
    with pytest.raises(AsOfError, match="has no entry yet"):
        found(Seat(home, owner, project), 1)
