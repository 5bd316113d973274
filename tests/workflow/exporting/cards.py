"""Facts for a card, which tests change as needed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from db import entries
from workflow.exporting.card_facts import Annotator, CardFacts, take_facts
from workflow.exporting.snapshot import Described, Measure
from workflow.log.lines import first_table, head_of
from workflow.opened import Opened
from workflow.projects.figures import LabelCount

FACTS = CardFacts(
    name="Birds",
    description="Songs from a garden.",
    guidelines="Listen twice.\nThen decide.",
    kind="one label",
    classes="classes",
    task="audio-classification",
    created_at=datetime(2026, 3, 1, tzinfo=UTC),
    n_rows=1_200,
    n_classes=2,
    sources={"model": 1_100, "person": 100},
    described=Described(
        before="3.00 candidates a row on average",
        after="1.20 on average, without excluded rows",
        labels=(LabelCount("wren", 80, 20), LabelCount("robin", 19, 0)),
        set_aside=1,
        test_rows=0,
        blind_checks=96,
        measures=(
            Measure("Accuracy on checks", 0.9, 0.8, 0.95, 50),
            Measure("Old", 0.5, float("nan"), float("nan"), 4),
        ),
        model="plknn",
    ),
    annotators=(Annotator("Annotator 1", 99, 3, 2, 4.25), Annotator("Annotator 2", 1, 0, 0, None)),
    answers=100,
    simulated=7,
    withdrawn=5,
    per_row={1: 98, 2: 1},
    seconds=4.0,
    first=datetime(2026, 3, 2, 23, tzinfo=UTC),
    last=datetime(2026, 3, 9, 1, tzinfo=UTC),
    asked_by={"apl": 60, "control": 40},
    settings={"seed": 7, "strategy": "apl"},
    models=("plknn", "kernelridge"),
    model_version=120,
    table_sha256="ab" * 32,
    entries=130,
    head="cd" * 32,
    encoders=("text by minilm-en, SHA-256 53aa",),
)


def facts_of(opened: Opened[Any], names: Mapping[int, str]) -> CardFacts:
    """The facts of a project. names : {person: their name}"""
    log = entries.after(opened.session, opened.project_id, 0)
    ids = list(map(str, opened.learner.table.ids))
    head = head_of(log, names, ids, first_table(log, opened.project.table_hash))
    sources = opened.kind.snapshot(opened).sources()
    return take_facts(opened, names, sources)(log, head)
