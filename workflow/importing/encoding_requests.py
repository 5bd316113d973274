"""The encoding of a project's rows, as pages and the API watch, cancel and resume it. `offers` starts it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from db import trained
from plcore import Roles
from plcore.tables import read_encoded_columns
from plcore.tables.encoders import EncoderError, describe
from workflow.access import Right
from workflow.importing import encoding
from workflow.importing.encoding_worker import TASK
from workflow.importing.more_rows import NEW_ROWS
from workflow.importing.vector_memory import known_speed, minutes_for
from workflow.models import leases
from workflow.models.encoders.consents import Consent, consents

if TYPE_CHECKING:
    from pathlib import Path

    from db.trained import Encoding
    from workflow.opened import Reading
    from workflow.seat import Seat
    from workflow.server.home import Home

__all__ = ["EncodedColumn", "Encoders", "EncodingNow", "StoredVectors", "cancel", "encoders", "resume"]

NEW_WORDS = "New rows"


@dataclass(frozen=True)
class EncodingNow:
    """An encoding that waits or runs.

    encoder : its name, NEW_WORDS for rows that arrived later      begun : whether a worker has started it
    done, total : images, texts or segments; total is 0 before the first      fault : why no worker can take it now
    downloading : whether the encoder is still being downloaded; done and total then count its bytes
    ms : milliseconds per row, measured on this server; None before
    """

    encoder: str
    done: int
    total: int
    begun: bool
    fault: str | None
    downloading: bool = False
    ms: float | None = None

    @property
    def minutes(self) -> int | None:
        """Estimate the remaining minutes; None until there is an estimate."""
        if self.ms is None or self.downloading or not self.begun or not self.total:
            return None
        return minutes_for(self.total - self.done, self.ms)


@dataclass(frozen=True)
class EncodedColumn:
    """A column whose encoder vectors the project learns from. sha256 : of the encoder, in hex

    consent : who asked for it here, and when; None if its folder is not in the data folder
    """

    column: str
    encoder: str
    sha256: str
    consent: Consent | None


@dataclass(frozen=True)
class StoredVectors:
    """The latest stored encoding, and when it was stored. encoder : NEW_WORDS for rows that arrived later

    notes : a sentence about each kind of rows left out
    """

    encoder: str
    at: datetime
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Encoders:
    """Encoders of a project.

    names : the owner's own encoders in the data folder that can read a column, and those whose description is broken
    folder : where Winnow looks for them      readable : whether there is a column of texts, images or recordings
    columns : columns encoded now      stored : None if there is no stored encoding
    failed : why the latest encoding failed, None if it did not      cancelled : whether someone cancelled it
    tried_again : whether a failed encoding is retried automatically: after an hour, or when the folder has changed
    """

    names: tuple[str, ...]
    folder: str
    readable: bool
    columns: tuple[EncodedColumn, ...]
    running: EncodingNow | None
    stored: StoredVectors | None
    failed: str | None
    cancelled: bool
    tried_again: bool


def encoders(seat: Seat) -> Encoders:
    """Available encoders, and the state of the latest encoding.

    Raises NotAllowed unless the person is an owner, NotFound.
    """
    names = encoding.names(seat.home)
    with seat.reading(Right.OWN) as reading:
        last = trained.ENCODINGS.latest(reading.session, reading.project.id)
        done = trained.ENCODINGS.latest(reading.session, reading.project.id, trained.DONE)
        running = _running(seat.home, reading, last, names)
        path = seat.home.table_path(reading.project.table_hash)
        given = consents(reading.session, reading.project.id)
        roles = Roles.from_json(reading.project.roles)
    encoded = read_encoded_columns(path)
    columns = {"text": roles.text, "image": roles.image, "sound": roles.audio}
    kinds = {kind for kind, column in columns.items() if column is not None}
    return Encoders(
        names=tuple(name for name in names if _is_own(seat.home.encoders_dir / name, kinds)),
        folder=str(seat.home.encoders_dir),
        readable=bool(kinds),
        columns=tuple(EncodedColumn(*one, consent=given.get(one[1])) for one in encoded),
        running=running,
        stored=None
        if done is None or not encoded
        else StoredVectors(done.encoder or NEW_WORDS, done.ended_at or done.asked_at, tuple(done.notes)),
        failed=last.fault if last is not None and last.state == trained.FAILED else None,
        cancelled=last is not None and last.state == trained.CANCELLED,
        tried_again=last is not None and last.state == trained.FAILED and last.encoder == NEW_ROWS,
    )


def _is_own(folder: Path, kinds: Collection[str]) -> bool:
    """Whether the owner put this encoder there, and it reads one of these kinds of columns, or its kind is unknown."""
    if not kinds or (folder / encoding.SOURCE).is_file():
        return False
    try:
        return describe(folder).kind in kinds
    except EncoderError:  # starting it reports what is wrong
        return True


def cancel(seat: Seat) -> None:
    """Cancel the encoding that waits or runs; its worker stops soon. Harmless if there is none. What is already stored
    stays.

    Raises NotAllowed, NotSaved, NotFound.
    """
    with seat.owning() as owning:
        last = trained.ENCODINGS.latest(owning.session, owning.project.id)
        if last is not None:
            trained.ENCODINGS.end(owning.session, last.id, trained.CANCELLED, datetime.now(UTC))


def resume(seat: Seat) -> None:
    """Resume the encoding that was cancelled last; finished batches are not encoded again. Harmless if none was
    cancelled since. The consent given for it holds.

    Raises NotAllowed, NotSaved, NotFound.
    """
    with seat.owning() as owning:
        session, project = owning.session, owning.project.id
        last = trained.ENCODINGS.latest(session, project)
        if last is not None and last.state == trained.CANCELLED:
            trained.ENCODINGS.ask(
                session, project, asked_by=owning.person.id, asked_at=datetime.now(UTC), encoder=last.encoder
            )


def _running(home: Home, reading: Reading, last: Encoding | None, names: tuple[str, ...]) -> EncodingNow | None:
    if last is None or not last.unfinished:
        return None
    lease = trained.training(reading.session, reading.project.id, TASK)
    own = lease if lease is not None and lease.key == str(last.id) else None
    begun = own is not None and leases.is_held(own, datetime.now(UTC))
    return EncodingNow(
        last.encoder or NEW_WORDS,
        last.done,
        last.total,
        begun,
        own.fault if own is not None and own.ended else None,
        downloading=bool(last.encoder) and last.encoder not in names,
        ms=known_speed(encoding.vectors_dir(home), last.encoder) if last.encoder else None,
    )
