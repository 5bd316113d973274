"""A third kind of project is a module in the registry: nothing else has to know of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from plcore import LabelTable, LearnerSettings
from tests.workflow.world import answer_next, small_table
from workflow import kinds
from workflow.exporting import files
from workflow.exporting.project_files import ExportChoice
from workflow.kinds import label_vectors, one_label
from workflow.kinds.kind import AnyKind, KindWords
from workflow.projects import managing, progress
from workflow.seat import Seat
from workflow.server.home import Home

CAPABILITIES = [name for name, one in vars(kinds.Kind).items() if isinstance(one, property)]


@dataclass(frozen=True)
class TriageSettings(LearnerSettings):
    """Settings that are stored under the name of the third kind."""

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> TriageSettings:
        return cls(**{name: value for name, value in stored.items() if name != "kind"})

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "kind": "triage"}


@pytest.fixture
def triage(monkeypatch: pytest.MonkeyPatch) -> AnyKind:
    """Rows with candidates and no capability at all, for tables of exactly three classes."""
    made = ModuleType("triage")
    vars(made).update({name: getattr(one_label, name) for name in one_label.__all__})
    vars(made).update(dict.fromkeys(CAPABILITIES))
    vars(made).update(
        NAME="triage",
        STORED_AS=("triage",),
        WORDS=KindWords("triage: three ways to go", "ways", "Nothing is left."),
        TAKES_GROUPS=False,
        CAN_QUALIFY=False,
        fits=lambda table: len(table.classes) == 3,
        read_settings=TriageSettings.from_json,
        default_settings=lambda _table, _share: TriageSettings(n_neighbors=4),
    )
    monkeypatch.setattr(kinds, "KINDS", {"triage": made, **kinds.KINDS})
    return made  # type: ignore[return-value]


def test_third_kind_is_imported_answered_and_exported(
    triage: AnyKind, home: Home, owner: int, tmp_path: Path
) -> None:
    table: LabelTable = small_table()
    project = managing.create_project(Seat(home, owner), "triage", table)
    seat = Seat(home, owner, project)
    assert seat.kind is triage
    saved = answer_next(home, owner, project)
    assert managing.get_project(seat).words.title == "triage: three ways to go"
    assert progress.read_progress(seat).answered == 1
    taken = files.take(seat, ExportChoice("csv"))
    files.write_file(taken, tmp_path / "triage.csv", lambda _: None)
    lines = (tmp_path / "triage.csv").read_text().splitlines()
    assert len(lines) == 1 + table.n_rows
    (line,) = [one for one in lines if table.id_of(saved.row) in one.split(",")]
    assert saved.labels[0] in line


def test_kinds_of_the_house_do_not_take_its_settings(triage: AnyKind) -> None:
    stored = TriageSettings().to_json()
    taking = [kind for kind in kinds.KINDS.values() if kinds.is_stored(kind, stored)]
    assert taking == [triage]
    assert one_label not in taking
    assert label_vectors not in taking
