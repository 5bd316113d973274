"""Log entries as plcore reads them."""

from __future__ import annotations

from db import entries
from plcore import Entry


def learner_entry(entry: entries.Entry) -> Entry:
    """The part of a stored log entry that the learner reads."""
    return Entry(
        seq=entry.seq,
        kind=entry.kind,
        row=entry.row,
        annotator=str(entry.person_id),
        labels=tuple(entry.labels),
        target=entry.target_seq,
    )
