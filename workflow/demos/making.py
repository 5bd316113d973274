"""Making the project of a demo through the normal import (`workflow.importing`), in a job of the person who requests
it; it continues while their page is closed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from db import answers, events
from db.events import EventFilter
from plcore import LearnerSettings
from workflow import importing, kinds
from workflow.access import Right
from workflow.answering import room
from workflow.answering.room import RoomSettings
from workflow.demos import calls, digits, remarks
from workflow.people import audit
from workflow.people.audit import EventKind
from workflow.projects import managing
from workflow.projects.managing import ProjectNameError

if TYPE_CHECKING:
    from workflow.files.limited import OnWait
    from workflow.opened import Reading
    from workflow.seat import Seat
    from workflow.server.jobs import Job


# The demos: their names, their files, and the instructions for annotators.

MakeFile = Callable[[Callable[[float], None]], bytes]
"""Makes the file of a demo, and reports the finished share."""


@dataclass(frozen=True)
class Demo:
    """key : names it      title, about : what it is, in a few words      name, description : of its project
    file, make_file : its file, as a user might upload it; the digits have none
    room : the instructions for annotators"""

    key: str
    title: str
    name: str
    about: str
    description: str
    file: str = ""
    make_file: MakeFile | None = None
    room: RoomSettings = field(default_factory=RoomSettings)


DIGITS = Demo("digits", "Handwritten digits", digits.NAME, "1,797 scans: press the digit you see", digits.DESCRIPTION)
CALLS = Demo(
    "calls",
    "Bird-like calls",
    "Demo: bird-like calls",
    f"{calls.CLIPS} made-up clips with a scored shortlist",
    f"{calls.CLIPS} clips of bird-like calls, made by Winnow itself: no bird is in them. Up to three species sing over "
    "each other, and a made-up detector lists what it hears, with scores; you say which one is loudest. True labels "
    "are hidden, and a third of the clips is held out to measure accuracy.",
    calls.FILE,
    calls.make_file,
    RoomSettings(
        "Which species sings **loudest**? Look for the strongest trace in the picture; **P** plays the clip. The calls "
        "are made by Winnow itself:\n\n" + "\n".join(f"- *{one.name}*: {one.look}" for one in calls.SPECIES),
        descriptions={one.name: one.look for one in calls.SPECIES},
    ),
)
REMARKS = Demo(
    "remarks",
    "Messages sorted by a crowd",
    "Demo: messages sorted by a crowd",
    f"{remarks.MESSAGES} texts with the votes of six people",
    f"{remarks.MESSAGES} messages to a shop, written by templates of Winnow's own, with the votes of six made-up "
    "people of whom some are good and one mostly guesses. The candidates of a row are the voted labels; you choose "
    "the main topic of the message. True labels are hidden, and a third of the rows is held out to measure accuracy.",
    remarks.FILE,
    remarks.make_file,
    RoomSettings(
        "What is the message about **first of all**? Some speak of a second thing as well; it does not count.",
        descriptions=remarks.ABOUT,
    ),
)
ALL = (DIGITS, CALLS, REMARKS)
BY_NAME = {one.name: one for one in ALL}

_MAKING = 0.4
"""Share of the time for making the file; the rest is for reading and checking it."""


def find(seat: Seat, demo: Demo) -> int | None:
    """The number of this demo's project, if it is in use. Raises NotAllowed unless the person is an owner."""
    with seat.everywhere.reading(Right.OWN):
        pass
    return next((key for key, name in managing.project_names(seat).items() if name == demo.name), None)


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
    seat: Seat, demo: Demo, on_step: Callable[[float], None] = lambda _share: None, on_wait: OnWait | None = None
) -> int:
    """Return the id of this demo's project: the one in use, or a new one.

    on_step : called now and then with the share done, in [0, 1]      on_wait : as in `importing.read_upload`

    Raises
    NotAllowed : The person is not an owner.
    NotSaved, LongLine
    """
    if (known := find(seat, demo)) is not None:
        return known
    try:
        if demo.make_file is None:
            return managing.create_project(seat, demo.name, digits.demo_table(), digits.SETTINGS, demo.description)
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


# People who have ended the tour of a demo: a line of the audit records it for all their browsers.


def ended(seat: Seat) -> bool:
    """Whether this person has ended the tour of the project. Raises NotAllowed, NotFound."""
    with seat.reading() as reading:
        return _noted(reading)


def answered(seat: Seat) -> int:
    """How many answers this person has given in the project, which the tour follows. Raises NotAllowed, NotFound."""
    with seat.reading() as reading:
        given = kinds.answers(reading.project)
        return answers.count(reading.session, reading.project.id, given, person_id=reading.person.id)


def end(seat: Seat) -> None:
    """Never show it to this person again at this project; twice is harmless. Raises NotSaved, NotAllowed, NotFound."""
    with seat.writing(Right.SEE) as own:
        if not _noted(own):
            audit.note_at(own, EventKind.TOUR_ENDED)


def _noted(there: Reading) -> bool:
    asked = EventFilter(person_id=there.person.id, what=EventKind.TOUR_ENDED.value, project_id=there.project.id)
    return bool(events.listed(there.session, asked, limit=1))
