"""List the encoders of this server, for its owners: those in the data folder and those available for download;
downloading
and removing one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workflow.access import Right
from workflow.importing import encoding
from workflow.models.encoders import consents, installed
from workflow.models.encoders.consents import Consent
from workflow.people import audit
from workflow.people.audit import EventKind

if TYPE_CHECKING:
    from pathlib import Path

    from plcore.tables.encoders import EncoderEntry
    from workflow.models.encoders.fetching import Tell
    from workflow.models.encoders.installed import Agree
    from workflow.seat import Seat

OWN = "your own"


@dataclass(frozen=True)
class ServerEncoder:
    """One encoder. entry : of the catalogue; None for one of the owner's own

    state : as `ListedEncoder.state`, or OWN      consent : the latest, of any project; None if no one has requested it
    can_be_removed : whether it is there, and Winnow installed it
    """

    key: str
    entry: EncoderEntry | None
    state: str
    consent: Consent | None
    can_be_removed: bool = False


def server_encoders(seat: Seat) -> tuple[ServerEncoder, ...]:
    """Return the catalogue and the owner's own encoders. Raises NotAllowed unless the person is an owner, EncoderError
    if WINNOW_ENCODERS is off."""
    with seat.everywhere.reading(Right.OWN) as reading:
        given = consents.consents(reading.session)
    listed = installed.list_encoders(seat.home)
    known = {one.entry.key for one in listed}
    own = (name for name in encoding.names(seat.home) if name not in known)
    return (
        *(
            ServerEncoder(
                one.entry.key,
                one.entry,
                one.state,
                given.get(one.entry.key),
                (seat.home.encoders_dir / one.entry.key / encoding.SOURCE).is_file(),
            )
            for one in listed
        ),
        *(ServerEncoder(name, None, OWN, given.get(name)) for name in own),
    )


def get(seat: Seat, key: str, agree: Agree, *, non_commercial: bool = False, tell: Tell | None = None) -> None:
    """Download an encoder into the data folder, and record who consented to it.

    agree : called with the encoder; raises if it is declined. Nothing is recorded or downloaded before
    Raises NotAllowed unless the person is an owner, EncoderError as `installed.get`, NotSaved.
    """
    told = _noting(seat, agree)
    installed.get(seat.home, key, non_commercial=non_commercial, tell=tell, agree=told)


def add(seat: Seat, source: Path, agree: Agree, *, non_commercial: bool = False) -> tuple[str, ...]:
    """Put the encoders of a folder, zip or package into the data folder, and record who consented to them; returns
    their keys.

    agree : as in `get`, called for each
    Raises NotAllowed unless the person is an owner, EncoderError as `installed.add`, NotSaved.
    """
    return installed.add(seat.home, source, non_commercial=non_commercial, agree=_noting(seat, agree))


def _noting(seat: Seat, agree: Agree) -> Agree:
    """Wrap `agree` so that consent is also recorded in the audit. Raises NotAllowed unless the person is an owner."""
    with seat.everywhere.reading(Right.OWN, changes=True):
        pass

    def told(entry: EncoderEntry) -> None:
        agree(entry)
        with seat.everywhere.owning() as owning:
            consents.note(owning.session, seat.person_id, entry.key, entry)

    return told


def remove(seat: Seat, key: str) -> None:
    """Remove an encoder that Winnow installed; projects keep their vectors, and rows that arrive later wait for the
    encoder.

    Raises NotAllowed unless the person is an owner, EncoderError as `installed.remove`, NotSaved.
    """
    with seat.everywhere.owning() as owning:
        installed.remove(seat.home, key)
        audit.note_at(owning, EventKind.ENCODER_REMOVED, encoder=key)
