"""The log as learners need it: a long one is read in a fraction of the time that its whole entries take."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from sqlalchemy import Select, Text, bindparam, cast, select
from sqlalchemy.orm import Session

from db.base import Base
from db.entries import NO_ROW, READ_AT_ONCE

_TABLE = Base.metadata.tables["entries"]
_TOLD: Select[Any] = (
    select(
        *(_TABLE.c[name] for name in ("seq", "kind", "row", "person_id")),
        cast(
            _TABLE.c.labels, Text
        ),  # a long log says the same few things over and over: read as text, parsed once
        _TABLE.c.target_seq,
    )
    .where(_TABLE.c.project_id == bindparam("project"), _TABLE.c.seq > bindparam("seq"))
    .order_by(_TABLE.c.seq)
)


_ASKED_TEXT = cast(_TABLE.c.asked, Text)
_PUT: Select[Any] = (
    select(
        *(_TABLE.c[name] for name in ("seq", "kind", "row", "token")),
        cast(_TABLE.c.labels, Text),
        _ASKED_TEXT,
    )
    .where(
        _TABLE.c.project_id == bindparam("project"),
        _TABLE.c.seq > bindparam("seq"),
        _TABLE.c.seq <= bindparam("last"),
        _TABLE.c.target_seq.is_(None),
        _ASKED_TEXT.like(bindparam("like")),
    )
    .order_by(_TABLE.c.seq)
)
_PREDICTED: Select[Any] = (
    select(_TABLE.c.seq, _TABLE.c.row, _TABLE.c.predicted)
    .where(
        _TABLE.c.project_id == bindparam("project"),
        _TABLE.c.seq > bindparam("seq"),
        _TABLE.c.seq <= bindparam("last"),
        _TABLE.c.row > NO_ROW,
        _TABLE.c.predicted.is_not(None),
    )
    .order_by(_TABLE.c.seq)
)


class ToldEntry(NamedTuple):
    """The part of an entry that learners need; see `NewEntry`."""

    seq: int
    kind: str
    row: int
    person_id: int
    labels: tuple[str, ...]
    target_seq: int | None


class PutEntry(NamedTuple):
    """The part of an entry that says how its question was put; see `NewEntry`."""

    seq: int
    kind: str
    row: int
    token: str
    labels: tuple[str, ...]
    asked: dict[str, Any]


def each(session: Session, project_id: int, seq: int) -> Iterator[ToldEntry]:
    """That part of the entries with a greater seq, in order, read while they are used: never all of them in memory."""
    here = {"project": project_id, "seq": seq}
    labels: dict[str, tuple[str, ...]] = {}
    # Closed by itself where the reader stops before the end: a cursor of the server's would stay open.
    with session.execute(_TOLD, here, execution_options={"yield_per": READ_AT_ONCE}) as found:
        for number, kind, row, person_id, text, target_seq in found:
            if text not in labels:
                labels[text] = tuple(json.loads(text))
            yield ToldEntry(number, kind, row, person_id, labels[text], target_seq)


def each_put(session: Session, project_id: int, seq: int, last: int, name: str) -> Iterator[PutEntry]:
    """That part of the entries after `seq` up to `last`, in order, that take back none and have this in `asked`."""
    here = {"project": project_id, "seq": seq, "last": last, "like": f"%{json.dumps(name)}%"}
    with session.execute(_PUT, here, execution_options={"yield_per": READ_AT_ONCE}) as found:
        for number, kind, row, token, labels, text in found:
            asked = json.loads(text)
            if name in asked:  # it may be a label, too
                yield PutEntry(number, kind, row, token, tuple(json.loads(labels)), asked)


def each_predicted(session: Session, project_id: int, seq: int, last: int) -> Iterator[tuple[int, int, str]]:
    """(seq, row, prediction) of the entries about rows after `seq` up to `last`, in order, that have one."""
    here = {"project": project_id, "seq": seq, "last": last}
    with session.execute(_PREDICTED, here, execution_options={"yield_per": READ_AT_ONCE}) as found:
        yield from map(tuple, found)
