"""A third kind of project: rows with candidates and no capabilities, for tables of exactly three classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest

from db import entries
from pages.parts import kinds as parts
from pages.parts import one_label as one_label_parts
from plcore import LearnerSettings
from workflow import kinds
from workflow.kinds import one_label
from workflow.kinds.kind import AnyKind, KindWords
from workflow.opened import Doors

CAPABILITIES = [name for name, one in vars(kinds.Kind).items() if isinstance(one, property)]


@dataclass(frozen=True)
class TriageSettings(LearnerSettings):
    """Settings stored under the name of the third kind."""

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> TriageSettings:
        return cls(**{name: value for name, value in stored.items() if name != "kind"})

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "kind": "triage"}


def watched(doors: Doors[Any]) -> tuple[int]:
    """Only the log's latest seq changes on its Progress page."""
    with doors.reading() as reading:
        return (entries.last_seq(reading.session, reading.project.id),)


def public(module: ModuleType) -> dict[str, Any]:
    return {name: getattr(module, name) for name in dir(module) if not name.startswith("_")}


def add_triage(monkeypatch: pytest.MonkeyPatch) -> AnyKind:
    """Register it among the kinds and their parts of pages."""
    made, drawn = ModuleType("triage"), ModuleType("triage")
    vars(made).update(public(one_label))
    vars(made).update(dict.fromkeys(CAPABILITIES))
    vars(made).update(
        NAME="triage",
        STORED_AS=("triage",),
        WORDS=KindWords("triage: three ways to go", "ways", "Nothing is left."),
        TAKES_GROUPS=False,
        CAN_QUALIFY=False,
        watched=watched,
        fits=lambda table: len(table.classes) == 3,
        read_settings=TriageSettings.from_json,
        default_settings=lambda _table, _share: TriageSettings(n_neighbors=4),
    )
    vars(drawn).update(public(one_label_parts))
    vars(drawn).update(classes_part=lambda _page: None, groups_part=lambda _page: None)  # its classes cannot change
    monkeypatch.setattr(kinds, "KINDS", {"triage": made, **kinds.KINDS})
    monkeypatch.setattr(parts, "PARTS", {"triage": drawn, **parts.PARTS})
    return made  # type: ignore[return-value]
