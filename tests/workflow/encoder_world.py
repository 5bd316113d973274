"""A project of texts, an encoder in the data folder that knows some of them, and a look at each of its steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from db import entries, projects, trained
from db.trained import Encoding
from plcore import LabelTable
from plcore.loop import EntryKind
from tests.plcore.tables.encoders.models import encoder, words_of
from tests.workflow.text_world import text_frame
from workflow.importing.encoding import Encoder
from workflow.models.encoders import offers
from workflow.seat import Seat
from workflow.server.home import Home

KNOWN = text_frame()["text"][:3].tolist()
"""Texts that the encoder distinguishes from all others, each by a 1 in a separate place."""
VECTORS = np.vstack([np.eye(3), np.zeros((57, 3))])
"""Vectors that it gives the rows of `text_project`."""


def words_encoder(home: Home, name: str = "words") -> str:
    """Create an encoder that takes 16 texts at once; returns its name."""
    encoder(home.encoders_dir / name, {"kind": "text"}, words_of(*KNOWN))
    return name


def asked(home: Home, owner: int, project: int, name: str = "words") -> Seat:
    """The owner's seat at the project, with a requested encoding of its rows."""
    seat = Seat(home, owner, project)
    offers.ask(seat, words_encoder(home, name))
    return seat


def latest(seat: Seat) -> Encoding:
    with seat.home.database.read() as session:
        found = trained.ENCODINGS.latest(session, seat.project_id or 0)
    assert found is not None
    return found


def table_of(seat: Seat) -> LabelTable:
    """The project's table as it is now."""
    with seat.home.database.read() as session:
        return LabelTable.read(seat.home.table_path(projects.get(session, seat.project_id or 0).table_hash))


def stored(seat: Seat) -> list[entries.LogEntry]:
    """The entries that added rows or their embeddings."""
    with seat.home.database.read() as session:
        found = entries.about_project(session, seat.project_id or 0)
    return [one for one in found if one.kind == EntryKind.ROWS]


def at_each_step(monkeypatch: pytest.MonkeyPatch, look: Callable[[int, int], object]) -> None:
    """From now on `look` is called with (done, total) after each batch, before it is reported."""
    encode = Encoder.encode

    def watched(self: Encoder, table: LabelTable, open_file: Any, on_step: Any, *how: Any) -> Any:
        def step(done: int, total: int, kind: str) -> None:
            look(done, total)
            on_step(done, total, kind)

        return encode(self, table, open_file, step, *how)

    monkeypatch.setattr(Encoder, "encode", watched)
