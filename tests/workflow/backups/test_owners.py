"""What owners of this Winnow see of the backups, and do; and nobody else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from db import events
from db.events import EventFilter
from tests.workflow.world import annotator
from workflow.access import NotAllowed, NotFound
from workflow.backups import keeping, owners
from workflow.backups.worker import BackupWorker
from workflow.people.audit import EventKind
from workflow.seat import Seat
from workflow.server.home import Home


def test_from_a_press_to_a_restore_that_is_to_be(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    view = owners.overview(seat)
    assert (view.kept, view.work, view.worried, view.staged) == ((), None, None, None)
    owners.back_up_now(seat)
    work = owners.overview(seat).work
    assert work is not None
    assert (work.state, work.person_id) == (keeping.WAITING, owner)
    BackupWorker(home, "one").back_up()
    (made,) = owners.overview(seat).kept
    assert made.is_good
    assert owners.find_backup(seat, made.path.name) == made.path
    owners.stage_restore(seat, made.path.name)
    assert owners.overview(seat).staged == made.path.name
    owners.unstage_restore(seat)
    assert owners.overview(seat).staged is None
    with home.database.read() as session:
        said = [one.what for one in events.listed(session, EventFilter(person_id=owner))]
    assert said[:2] == [EventKind.RESTORE_STAGED, EventKind.BACKUP_TAKEN]


@pytest.mark.parametrize(
    "name", ["../winnow.sqlite3", "state.json", "winnow-20260101-000000.zip", "", "/etc/passwd"]
)
def test_only_what_is_listed_is_found(home: Home, owner: int, name: str) -> None:
    keeping.ask(home.backups_dir, owner)
    for act in (owners.find_backup, owners.stage_restore):
        with pytest.raises(NotFound, match="There is no such backup here"):
            act(Seat(home, owner), name)
    assert owners.overview(Seat(home, owner)).staged is None


ACTS: tuple[Callable[[Seat], object], ...] = (
    owners.overview,
    owners.back_up_now,
    owners.unstage_restore,
    lambda seat: owners.find_backup(seat, "winnow-20260101-000000.zip"),
    lambda seat: owners.stage_restore(seat, "winnow-20260101-000000.zip"),
)


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("role", ["owner", "reviewer", "annotator", "viewer"])
def test_owners_of_projects_are_not_owners_of_this_winnow(
    home: Home, owner: int, project: int, act: Callable[[Seat], object], role: str
) -> None:
    ada = annotator(home, owner, "Ada", role)
    for seat in (Seat(home, ada), Seat(home, ada, project)):
        with pytest.raises(NotAllowed):
            act(seat)
    assert not home.backups_dir.exists()
