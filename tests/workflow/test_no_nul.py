"""A NUL character, which SQLite accepts and PostgreSQL does not, is refused wherever text is entered, so that data can
move between both databases.
"""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest

from plcore import AnswerError, LabelTable, TableError
from tests.workflow.people.test_browsers import claims
from tests.workflow.world import annotator, small_project, stored
from workflow.answering import loop, room
from workflow.exporting import snapshots
from workflow.people import disputes, elsewhere, members, team
from workflow.projects import classes, managing
from workflow.rows import reviewing
from workflow.seat import Seat
from workflow.server.home import Home

NUL = "a\0b"


def note(seat: Seat) -> object:
    question = loop.next_question(seat)
    return loop.submit_answer(seat, question.token, "skip", note=NUL)


def label(seat: Seat) -> object:
    question = loop.next_question(seat)
    return loop.submit_answer(seat, question.token, "is", [NUL])


def correction(seat: Seat) -> object:
    shown = reviewing.open_row(seat, 0)
    return reviewing.correct(seat, 0, shown.token, "unsure", note=NUL)


USES: dict[str, tuple[Callable[[Seat], object], type[Exception]]] = {
    "a note": (note, AnswerError),
    "a label": (label, AnswerError),
    "a note of a correction": (correction, AnswerError),
    "a note next to a row": (lambda seat: disputes.discuss(seat, 0, NUL), AnswerError),
    "a project": (lambda seat: small_project(seat.home, seat.person_id, NUL), managing.ProjectNameError),
    "a project's new name": (lambda seat: managing.rename_project(seat, NUL, ""), managing.ProjectNameError),
    "a description": (lambda seat: managing.rename_project(seat, "new", NUL), managing.ProjectNameError),
    "a class": (lambda seat: classes.change_classes(seat, 0, "add", [NUL]), classes.ClassError),
    "a class's new name": (lambda seat: classes.change_classes(seat, 0, "rename", ["ant", NUL]), classes.ClassError),
    "guidelines": (lambda seat: room.change_room(seat, room.RoomSettings(NUL)), room.RoomError),
    "a description of a class": (
        lambda seat: room.change_room(seat, room.RoomSettings("", "fixed", {"ant": NUL})),
        room.RoomError,
    ),
    "a group of classes": (
        lambda seat: room.groups_in_file(seat, f"class,group\nant,{NUL}\n".encode(), "groups.csv"),
        TableError,
    ),
    "a group of people": (lambda seat: members.make_group(seat, NUL, []), ValueError),
    "a person": (lambda seat: team.make_link(seat, NUL), team.PersonNameError),
    "a name elsewhere": (lambda seat: elsewhere.set_known_as(seat, seat.person_id, NUL), ValueError),
    "an account elsewhere": (
        lambda seat: elsewhere.sign_in_by_openid(seat.home, claims("ada@example.org", NUL)),
        elsewhere.NotKnown,
    ),
    "a snapshot": (lambda seat: snapshots.make_snapshot(seat, NUL), snapshots.SnapshotError),
    "candidates of a table": (
        lambda seat: LabelTable.from_frame(
            pd.DataFrame({"c": ["ant|bee", f"ant|{NUL}"], "x": [0.0, 1.0]}), {"candidates": "c", "numbers": ["x"]}
        ),
        TableError,
    ),
}


def test_nul_character_is_refused_and_not_stored(home: Home, owner: int, project: int) -> None:
    annotator(home, owner, "Ada")
    seat = Seat(home, owner, project)
    loop.next_question(seat)
    for name, (use, error) in USES.items():
        before = stored(home)
        with pytest.raises(error) as said:
            pytest.fail(f"{name} gave {use(seat)!r}")
        assert "\0" not in str(said.value), f"{name}: it does nothing to a terminal"
        assert stored(home) == before, name
