"""Making the project of a demo, by the way that any file comes in (`workflow.importing`), in a job of whoever asks for
it: it goes on while their page is away.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from plcore import LearnerSettings
from workflow import importing, projects, room
from workflow.access import Right
from workflow.demos import digits
from workflow.projects import ProjectNameError

if TYPE_CHECKING:
    from workflow.common.kept_jobs import Job
    from workflow.common.limited import OnWait
    from workflow.demos.catalogue import Demo
    from workflow.seat import Seat

_MAKING = 0.4
"""Share of the time that goes into making the file; the rest reads and checks it."""


def find(seat: Seat, demo: Demo) -> int | None:
    """The number of this demo's project, where it is in use. Raises NotAllowed unless the person is an owner."""
    with seat.everywhere.reading(Right.OWN):
        pass
    return next((one.id for one in projects.list_projects(seat) if one.name == demo.name), None)


def ask(seat: Seat, demo: Demo) -> Job[int]:
    """The job that makes this demo for a person, and gives its project's number: the one at work, or a new one.

    Raises NotAllowed unless the person is an owner.
    """
    known, key = find(seat, demo), f"demo-{demo.key}"

    def begun() -> Job[int]:
        return seat.home.jobs.ask(
            seat.person_id, key, "make", None, lambda job: make(seat, demo, job.on_step, job.on_wait)
        )

    job = begun()
    if known is None and job.wait(0) and not job.failed:  # it was put away since
        seat.home.jobs.end(seat.person_id, key)
        job = begun()
    return job


def make(
    seat: Seat,
    demo: Demo,
    on_step: Callable[[float], None] = lambda _share: None,
    on_wait: OnWait | None = None,
) -> int:
    """The project of this demo: the one that is in use, or one that is made now. Returns its number.

    on_step : called now and then with the share done, in [0, 1]      on_wait : as of `importing.read_upload`

    Raises
    ------
    NotAllowed
        The person is not an owner.
    NotSaved, LongLine
    """
    if (known := find(seat, demo)) is not None:
        return known
    try:
        if demo.make_file is None:
            return projects.create_project(
                seat, demo.name, digits.demo_table(), digits.SETTINGS, demo.description
            )
        content = demo.make_file(lambda share: on_step(_MAKING * share))
        upload = importing.read_upload(content, demo.file, on_wait=on_wait)
        checked = importing.check(
            upload, upload.suggest_roles(), lambda share: on_step(_MAKING + (1 - _MAKING) * share), on_wait
        )
        if checked.table is None:
            raise importing.TableError(*checked.problems)
        settings = LearnerSettings(truth_role="hidden")  # its model: docs/decisions/0053-demos.md
        project = importing.create(seat, demo.name, checked.table, settings, demo.description, upload)
    except ProjectNameError:  # another process has made it a moment ago
        if (known := find(seat, demo)) is None:
            raise
        return known
    room.change_room(seat.at(project), demo.room)
    return project
