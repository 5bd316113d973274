"""What a project may learn from meaning by: the encoders of the catalogue for its columns, and asking for one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil
from typing import TYPE_CHECKING

from db import trained
from plcore import Roles
from plcore.tables.encoders import EncoderEntry, EncoderError
from workflow.access import Right
from workflow.importing import encoding
from workflow.models.encoders import fetching, installed

if TYPE_CHECKING:
    from workflow.seat import Seat

__all__ = ["EncoderError", "EncoderOffer", "ask", "offers"]

MANY_ROWS, FAST = 200_000, "wordllama-256"
"""Rows above which the fast encoder is offered first."""


@dataclass(frozen=True)
class EncoderOffer:
    """An encoder for a column of the project.

    column : that it reads      host : where it would be downloaded from      rows : of the project
    state : "installed", "download" (once it is asked for), "package" (the operator adds it) or "not verified"
    """

    entry: EncoderEntry
    column: str
    state: str
    host: str
    rows: int

    @property
    def minutes(self) -> int | None:
        """About how long the rows take, once it is there; None where that was not measured."""
        return None if self.entry.ms is None else max(1, ceil(self.rows * self.entry.ms / 60_000))

    @property
    def can_be_asked(self) -> bool:
        """Whether a worker can have it."""
        return self.state in ("installed", "download")


def offers(seat: Seat) -> tuple[EncoderOffer, ...]:
    """The encoders for the project's columns, those first that can be had, the recommended one at the head; none where
    WINNOW_ENCODERS is off.

    Raises NotAllowed unless the person is an owner, NotFound.
    """
    with seat.reading(Right.OWN) as reading:
        roles, rows = Roles.from_json(reading.project.roles), reading.project.n_rows
    if not seat.home.settings.encoders:
        return ()
    columns = {"text": roles.text, "image": roles.image, "sound": roles.audio}
    host = fetching.host()
    there = encoding.names(seat.home)
    found = []
    for entry in installed.catalogue(seat.home).values():
        column = columns[entry.kind]
        if column is not None:
            found.append(EncoderOffer(entry, column, _state(entry, there), host, rows))
    order = ("installed", "download", "package", "not verified")

    def place(one: EncoderOffer) -> tuple[bool, int]:
        return not (rows > MANY_ROWS and one.entry.key == FAST), order.index(one.state)

    return tuple(sorted(found, key=place))


def ask(seat: Seat, key: str, *, non_commercial: bool = False) -> None:
    """Have a worker download the encoder, where it is not there yet, and encode the rows by it; where an encoding is
    asked for or under way already, nothing changes.

    non_commercial : "I use this for no commercial purpose"
    Raises EncoderError: unknown, not verified, licence not accepted; NotAllowed unless the person is an owner,
    NotSaved, NotFound.
    """
    with seat.owning() as owning:
        entry = installed.catalogue(seat.home).get(key)
        if entry is not None:
            installed.require_licence(entry, non_commercial)
        if entry is None or key in encoding.names(seat.home):
            encoding.folder_of(seat.home, key)
        else:
            installed.require_download(entry, non_commercial=non_commercial)
        trained.ask_encoding(
            owning.session,
            owning.project.id,
            asked_by=seat.person_id,
            asked_at=datetime.now(UTC),
            encoder=key,
        )


def _state(entry: EncoderEntry, there: tuple[str, ...]) -> str:
    if entry.key in there:
        return "installed"
    if entry.can_be_downloaded:
        return "download"
    return "package" if entry.verified and entry.wheel else "not verified"
