"""A client of a Winnow server, for notebooks and programs.

    from winnow.client import Winnow

    with Winnow("http://127.0.0.1:8501", token) as winnow:
        birds = winnow.project(3)
        while (question := birds.next_question()) is not None:
            birds.answer(question, "is", [best(question)])

Calls that read, and answers, are tried again where the connection or the server fails: an answer carries the token of
its question, so that it is stored once however often it is sent.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from operator import index
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

import httpx2

from winnow.client_calls import PATIENCE, address_of, persevering, refusal_of, secret_of
from winnow.client_values import (
    WinnowAdded,
    WinnowAnswer,
    WinnowChoice,
    WinnowError,
    WinnowQuestion,
    WinnowWeighed,
    made_of,
)

__all__ = [
    "Winnow",
    "WinnowAdded",
    "WinnowAnswer",
    "WinnowChoice",
    "WinnowError",
    "WinnowProject",
    "WinnowQuestion",
    "WinnowWeighed",
]

_AT_ONCE = 1_000
"""Rows, or entries, that are asked for at a time."""
_MOST_ROWS, _MOST_BYTES = 10_000, 7_000_000
"""Rows that are sent at a time, and bytes of them: somewhat less than a body may have."""


class Winnow:
    """A Winnow server, as the person of a token.

    url : where people open it      seconds : to wait for a reply
    patience : seconds to wait in all before calls are made again that may be, where a connection breaks, or the server
        is busy or started anew; 0: they are made once
    transport : how requests go out; None: as httpx2 sends them
    Raises ValueError where these are no address or no token.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        seconds: float = 60.0,
        patience: float = PATIENCE,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        self._patience = patience
        self._http = httpx2.Client(
            base_url=f"{address_of(url)}/api/v1",
            headers={"authorization": f"Bearer {secret_of(token)}"},
            timeout=seconds,
            transport=transport,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def projects(self) -> list[dict[str, Any]]:
        """The projects of this person, the one with the latest answer first. Raises WinnowError."""
        found: list[dict[str, Any]] = self.ask("GET", "/projects")["projects"]
        return found

    def project(self, number: int) -> WinnowProject:
        """The project of this number; asks nobody."""
        return WinnowProject(self, number)

    def ask(self, method: str, path: str, *, again: bool = True, **options: Any) -> Any:
        """The JSON of a reply. again : it may be sent again where nothing is heard. Raises WinnowError."""

        def once() -> Any:
            reply = self._http.request(method, path, **options)
            if not reply.is_success:
                raise refusal_of(reply)
            try:
                return reply.json()
            except ValueError as error:
                raise WinnowError(reply.status_code, f"{reply.url} is no Winnow: it gave no JSON.") from error

        return persevering(once, self._patience if again else 0.0)

    def fetch(self, path: str, target: Path, **options: Any) -> None:
        """Write a reply to a file, in pieces: whole, or there is none. Raises WinnowError, OSError."""
        aside = target.with_name(f".{target.name}.part")

        def once() -> None:
            with self._http.stream("GET", path, **options) as reply:
                if not reply.is_success:
                    reply.read()
                    raise refusal_of(reply)
                with aside.open("wb") as file:
                    for piece in reply.iter_bytes():
                        file.write(piece)

        try:
            persevering(once, self._patience)
            aside.replace(target)
        finally:
            aside.unlink(missing_ok=True)


class WinnowProject:
    """One project of a server. Every call raises WinnowError where the server refuses."""

    def __init__(self, winnow: Winnow, number: int) -> None:
        self._winnow, self._path = winnow, f"/projects/{number}"

    def summary(self) -> dict[str, Any]:
        """Name, kind, rows, classes, how much is answered and open."""
        found: dict[str, Any] = self._winnow.ask("GET", self._path)
        return found

    def figures(self) -> dict[str, Any]:
        """How good and how far it is: the measure with its 95 % interval, and the curve of it."""
        found: dict[str, Any] = self._winnow.ask("GET", f"{self._path}/figures")
        return found

    def next_question(self) -> WinnowQuestion | None:
        """The question before this person; None where nothing is left to ask them."""
        found = self._winnow.ask("POST", f"{self._path}/question")["question"]
        if found is None:
            return None
        return made_of(
            WinnowQuestion, found | {"choices": [made_of(WinnowChoice, one) for one in found["choices"]]}
        )

    def answer(
        self,
        question: WinnowQuestion,
        kind: str,
        labels: Sequence[str] = (),
        *,
        note: str | None = None,
        flagged: bool = False,
    ) -> WinnowAnswer:
        """Answer a question, exactly once, however often it has to be sent. kind : one of `question.answers`

        Raises TypeError where the labels are one text, whose letters may be labels, too.
        """
        if isinstance(labels, str):
            raise TypeError(f"The labels are a list of texts. Got {labels!r:.80}. Fix: [{labels!r:.80}].")
        said = {
            "token": question.token,
            "shown": question.shown,
            "kind": kind,
            "labels": list(labels),
            "note": note,
            "flagged": flagged,
        }
        return made_of(WinnowAnswer, self._winnow.ask("POST", f"{self._path}/answers", json=said))

    def rows(self) -> Iterator[dict[str, Any]]:
        """All rows as the file had them, fetched while they are used."""
        yield from self._each("rows", "rows")

    def predictions(self) -> Iterator[dict[str, Any]]:
        """The label of every row as it stands, with the shares, fetched while they are used."""
        yield from self._each("predictions", "predictions")

    def log(self, since: int = 0) -> Iterator[dict[str, Any]]:
        """The entries of the log after this one, in order, up to the latest there is when the last are fetched."""
        while True:
            found = self._winnow.ask("GET", f"{self._path}/log", params={"since": since, "count": _AT_ONCE})
            yield from found["entries"]
            if not found["entries"]:
                return
            since = found["entries"][-1]["seq"]
            if since >= found["last"]:
                return

    def append(self, rows: Sequence[Mapping[str, str]]) -> WinnowAdded:
        """Add rows, each {column: cell}, all that are new or none; what was passed over is told. It is sent once."""
        sent = {"rows": [dict(one) for one in rows]}
        return made_of(WinnowAdded, self._winnow.ask("POST", f"{self._path}/rows", again=False, json=sent))

    def predict(self, scores: Mapping[int | str, Mapping[str, float]], model: str) -> WinnowWeighed:
        """Let the candidates of these rows weigh what a model says of them, exactly once, however often it has to be
        sent; so many rows at a time as the server takes.

        scores : {number of the row, or its id as a text: {class: score of 0 or more}}, numbers of NumPy too
        model : what people call it
        Raises ValueError where there are none, or one is no number, of whatever row: nothing is sent then.
        """
        rows = [
            {
                **({"row_id": row} if isinstance(row, str) else {"row": index(row)}),
                "scores": {name: _score(row, name, score) for name, score in of_row.items()},
            }
            for row, of_row in scores.items()
        ]
        found = []
        for part in _parts(rows):
            sent = {"model": model, "key": uuid4().hex, "predictions": part}
            found.append(
                made_of(WinnowWeighed, self._winnow.ask("POST", f"{self._path}/predictions", json=sent))
            )
        if not found:
            raise ValueError("There are no scores to send.")
        return WinnowWeighed(
            found[-1].seq,
            *(sum(getattr(one, name) for one in found) for name in ("rows", "weighed", "silent", "outside")),
        )

    def export(self, path: str | Path, file: str = "csv", *, rows: str = "all") -> None:
        """Write a file of the project.

        file : csv, parquet, jsonl, log, sealed-log, ...      rows : all, sure or answered
        """
        self._winnow.fetch(f"{self._path}/export", Path(path), params={"file": file, "rows": rows})

    def _each(self, what: str, name: str) -> Iterator[dict[str, Any]]:
        start = 0
        while True:
            found = self._winnow.ask(
                "GET", f"{self._path}/{what}", params={"start": start, "count": _AT_ONCE}
            )
            yield from found[name]
            start += len(found[name])
            if start >= found["total"]:
                return


def _parts(rows: Sequence[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """These rows, so many at a time as a body may have, by number and by size."""
    part: list[Mapping[str, Any]] = []
    size = 0
    for row in rows:
        larger = size + len(json.dumps(row)) + 2
        if part and (len(part) == _MOST_ROWS or larger > _MOST_BYTES):
            yield part
            part, larger = [], larger - size
        part.append(row)
        size = larger
    if part:
        yield part


def _score(row: int | str, name: str, score: float) -> float:
    """The score as JSON has it. Raises ValueError where it is no finite number."""
    if not math.isfinite(score):
        raise ValueError(
            f"The score of {name!r:.80} for row {row!r:.80} is {score}. Nothing was sent. Fix: leave it out, or send a "
            "number of 0 or more."
        )
    return float(score)
