"""One project as a line in a list of projects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from db import entries, people
from workflow import kinds
from workflow.access import RIGHTS, Right, Role
from workflow.kinds import counting

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.projects import Project
    from workflow.home import Home


@dataclass(frozen=True)
class ProjectSummary:
    """One project as Home lists it.

    kind : the name of its kind in `workflow.kinds.KINDS`      words : how pages speak of such projects
    n_to_ask : rows, or labels of rows in a project of label vectors, that were open at import
    answered, left : what is answered and what is open, as the pool of its learner counts it
    disputes : rows that people disagree on, told to who reviews; to others 0
    last_answer, last_by : when somebody last said something of a row, and who, told to who reviews; else None
    by_row : whether answered and left count rows, not labels of rows      role : what the person is in it
    pictured : whether its rows are "pictures", "recordings", "texts" or "numbers", by what is shown of them
    """

    id: int
    name: str
    description: str
    n_rows: int
    n_classes: int
    n_to_ask: int
    answered: int
    left: int
    disputes: int
    last_answer: datetime | None
    last_by: str | None
    created_at: datetime
    kind: str
    words: kinds.KindWords
    by_row: bool
    role: Role
    pictured: str

    def may(self, right: Right) -> bool:
        """Whether the person for whom this was made has this right in the project."""
        return right in RIGHTS[self.role]

    def to_json(self) -> dict[str, object]:
        """It for programs, in the words that the commands use."""
        return {
            "id": self.id,
            "name": self.name,
            "description": self.description,
            "kind": self.kind,
            "rows": self.n_rows,
            "classes": self.n_classes,
            "answered": self.answered,
            "open": self.left,
            "created_at": self.created_at.isoformat(),
            "last_answer": self.last_answer and self.last_answer.isoformat(),
        }


def summarised(home: Home, session: Session, project: Project, role: Role) -> ProjectSummary:
    """The project with its counts, by its log alone: no learner is built for it. role : of who asks"""
    last = entries.last_about_a_row(session, project.id)
    reviews = Right.REVIEW in RIGHTS[role]
    who = people.find(session, last.person_id) if last and reviews else None
    answered, left, disputes = counting.counts(home, session, project)
    return ProjectSummary(
        id=project.id,
        name=project.name,
        description=project.description,
        n_rows=project.n_rows,
        n_classes=project.n_classes,
        n_to_ask=project.n_to_ask,
        answered=answered,
        left=left,
        disputes=disputes if reviews else 0,
        last_answer=last.at if last else None,
        last_by=who.name if who else None,
        created_at=project.created_at,
        kind=kinds.kind_name(project),
        words=kinds.words(project),
        by_row=kinds.read_settings(project).by_row,
        role=role,
        pictured=_pictured(project.roles),
    )


def _pictured(roles: Mapping[str, object]) -> str:
    """What somebody sees of a row first. roles : of the columns, as stored"""
    for role, words in (("image", "pictures"), ("audio", "recordings"), ("text", "texts")):
        if roles.get(role):
            return words
    return "numbers"
