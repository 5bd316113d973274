"""Encoders that a project can use: those of the catalogue for its columns, and requests for one.

A request is consent to the download and to the licence. Who gave it, when and to which licence is an event of the
audit, stored with the request.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache, partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from db import trained
from plcore import Roles
from plcore.tables import ENGLISH, guess_language, read_first_texts
from plcore.tables.encoders import EncoderEntry, EncoderError
from workflow.access import Right
from workflow.importing import encoding
from workflow.importing.vector_memory import known_speed, minutes_for
from workflow.models.encoders import consents, fetching, installed

if TYPE_CHECKING:
    from plcore import LabelTable
    from workflow.opened import Reading
    from workflow.seat import Seat
    from workflow.server.home import Home

__all__ = [
    "EncoderEntry",
    "EncoderError",
    "EncoderOffer",
    "SlowEncoding",
    "ask",
    "note_asked",
    "offers",
    "offers_for",
    "request",
    "slow_encoding",
]

MANY_ROWS, FAST = 200_000, "wordllama-256"
"""Rows above which the fast encoder is offered first."""
UNVERIFIED = "not verified"
SLOW = 3
"""How many times the catalogue's milliseconds per row make an encoding slow."""


@dataclass(frozen=True)
class EncoderOffer:
    """An encoder for a column of the project.

    column : the column it reads      host : where it would be downloaded from      rows : number of rows of the project
    state : "installed", "download" (once it is requested), "package" (the operator adds it) or "not verified"
    language : the likely language of the texts (`guess_language`)
    ms : milliseconds per item, measured on this server by its latest encoding; None before
    texts : items of a row: its texts, else 1
    """

    entry: EncoderEntry
    column: str
    state: str
    host: str
    rows: int
    language: str | None = None
    ms: float | None = None
    texts: int = 1

    @property
    def knows_language(self) -> bool:
        """Whether it may know the language of the texts: True if that language is unknown."""
        return self.language in (None, ENGLISH) or self.entry.languages != ("en",)

    @property
    def minutes(self) -> int | None:
        """Estimated minutes for the rows, once it is downloaded: as measured on this server, or before that from the
        catalogue; None if neither is known."""
        ms = self.entry.ms if self.ms is None else self.ms
        return None if ms is None else minutes_for(self.rows * self.texts, ms)

    @property
    def is_verified(self) -> bool:
        """Whether Winnow's authors have tested its files."""
        return self.state != UNVERIFIED

    @property
    def can_be_asked(self) -> bool:
        """Whether a worker can get it."""
        return self.state in ("installed", "download")


def offers(seat: Seat) -> tuple[EncoderOffer, ...]:
    """Return the encoders for the project's columns, the recommended one first: verified ones before others, of these
    those that know the language of the texts, then those that are available. Returns none if WINNOW_ENCODERS is off.

    Raises NotAllowed unless the person is an owner, NotFound.
    """
    with seat.reading(Right.OWN) as reading:
        roles, rows = Roles.from_json(reading.project.roles), reading.project.n_rows
        path = seat.home.table_path(reading.project.table_hash)
    return _offered(seat.home, roles, rows, lambda column: _stored_language(path, column))


def offers_for(seat: Seat, table: LabelTable) -> tuple[EncoderOffer, ...]:
    """Return the encoders like `offers`, for a table that is not a project yet. Raises NotAllowed unless the person is
    an owner."""
    with seat.everywhere.reading(Right.OWN):
        pass
    return _offered(seat.home, table.roles, table.n_rows, lambda column: guess_language(map(str, table.cells[column])))


class SlowEncoding(NamedTuple):
    """An encoding that takes longer than the catalogue says.

    times : how many times as long      faster : the fastest available one for the column, if it is another
    """

    times: int
    faster: EncoderOffer | None


def slow_encoding(seat: Seat, key: str) -> SlowEncoding | None:
    """Check whether an encoder takes more than SLOW times as long on this server as the catalogue says; None if not, or
    unknown. Raises as `offers`.
    """
    offered = offers(seat)
    now = next((one for one in offered if one.entry.key == key), None)
    if now is None or now.ms is None or now.entry.ms is None or now.ms <= SLOW * now.entry.ms:
        return None
    others = [
        one for one in offered if one.can_be_asked and one.column == now.column and (one.entry.ms or inf) < now.entry.ms
    ]
    return SlowEncoding(round(now.ms / now.entry.ms), min(others, key=lambda one: one.entry.ms or inf, default=None))


@lru_cache(maxsize=100)
def _stored_language(table: Path, column: str) -> str | None:
    """Return the language of a column. table : a stored table, whose content never changes"""
    return guess_language(read_first_texts(table, column))


def _offered(home: Home, roles: Roles, rows: int, language_of: Callable[[str], str | None]) -> tuple[EncoderOffer, ...]:
    if not home.settings.encoders:
        return ()
    columns = {"text": roles.text, "image": roles.image, "sound": roles.audio}
    language = None if roles.text is None else language_of(roles.text)
    host = fetching.host()
    there = encoding.names(home)
    found = []
    for entry in installed.catalogue(home).values():
        column = columns[entry.kind]
        if column is not None:
            ms = known_speed(encoding.vectors_dir(home), entry.key)
            texts = len(roles.text_columns) if entry.kind == "text" else 1
            found.append(EncoderOffer(entry, column, _state(entry, there), host, rows, language, ms, texts))
    order = ("installed", "download", "package", UNVERIFIED)

    def place(one: EncoderOffer) -> tuple[bool, bool, bool, int]:
        fast = rows > MANY_ROWS and one.entry.key == FAST
        return one.state == UNVERIFIED, not one.knows_language, not fast, order.index(one.state)

    return tuple(sorted(found, key=place))


def ask(seat: Seat, key: str, *, non_commercial: bool = False) -> None:
    """Have a worker download the encoder, if needed, and encode the rows with it; does nothing if an encoding was
    already requested or is running.

    non_commercial : "I use this for no commercial purpose"
    Raises EncoderError if it is unknown or not verified, or its licence is not accepted; NotAllowed unless the person
    is an owner, NotSaved, NotFound.
    """
    with seat.owning() as owning:
        request(seat.home, key, non_commercial=non_commercial)(owning, owning.project.id)


def request(home: Home, key: str, *, non_commercial: bool = False) -> Callable[[Reading, int], None]:
    """Return a function that requests an encoding like `ask`, in the transaction that creates a project.

    Raises EncoderError at once, before there is a project.
    """
    entry = installed.catalogue(home).get(key)
    if entry is None or key in encoding.names(home):
        encoding.folder_of(home, key)
    else:
        installed.require_download(entry, non_commercial=non_commercial)
    if entry is not None:
        installed.require_licence(entry, non_commercial)
    return partial(_ask_for, key, entry)


def note_asked(seat: Seat, key: str) -> None:
    """Record that the person has encoded the rows with an encoder of the data folder without a worker, as `ask` does.

    Raises NotAllowed unless the person is an owner, NotSaved, NotFound.
    """
    entry = installed.catalogue(seat.home).get(key) if seat.home.settings.encoders else None
    with seat.owning() as owning:
        consents.note(owning.session, owning.person.id, key, entry, owning.project.id)


def _ask_for(key: str, entry: EncoderEntry | None, owning: Reading, project_id: int) -> None:
    last = trained.ENCODINGS.latest(owning.session, project_id)
    if last is not None and last.unfinished:
        return
    person, now = owning.person.id, datetime.now(UTC)
    trained.ENCODINGS.ask(owning.session, project_id, asked_by=person, asked_at=now, encoder=key)
    consents.note(owning.session, person, key, entry, project_id)


def _state(entry: EncoderEntry, there: tuple[str, ...]) -> str:
    if entry.key in there:
        return "installed"
    if entry.can_be_downloaded:
        return "download"
    return "package" if entry.verified and entry.wheel else UNVERIFIED
