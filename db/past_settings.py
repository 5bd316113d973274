"""The settings that a project had before they were changed: the log tells of other models alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from db.models import PastSettingsRow


@dataclass(frozen=True)
class PastSettings:
    """Settings that were in force until a moment, `until`, and the log's entry `until_seq`, the last before it."""

    until_seq: int
    until: datetime
    settings: dict[str, Any]


def add(
    session: Session, project_id: int, settings: Mapping[str, Any], until_seq: int, until: datetime
) -> None:
    """Note what was in force until now; call it before the project gets others, with its log locked."""
    here = PastSettingsRow.project_id == project_id
    last = session.execute(select(func.max(PastSettingsRow.number)).where(here)).scalar_one()
    session.execute(
        insert(PastSettingsRow).values(
            project_id=project_id,
            number=(last or 0) + 1,
            until_seq=until_seq,
            until=until,
            settings=dict(settings),
        )
    )


def listed(session: Session, project_id: int) -> list[PastSettings]:
    """All of a project, the earliest first."""
    found = (
        select(PastSettingsRow.until_seq, PastSettingsRow.until, PastSettingsRow.settings)
        .where(PastSettingsRow.project_id == project_id)
        .order_by(PastSettingsRow.number)
    )
    return [PastSettings(*row) for row in session.execute(found)]
