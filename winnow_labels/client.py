"""A client of a Winnow server, for notebooks and programs.

    from winnow_labels.client import Winnow

    with Winnow("http://127.0.0.1:8501", token) as winnow:
        birds = winnow.project(3)
        while (question := birds.next_question()) is not None:
            birds.answer(question, "is", [best(question)])

Reading calls, and answers, are retried if the connection or the server fails: an answer carries the token of
its question, so that it is stored once however often it is sent.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from operator import index
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

import httpx2

from winnow_labels.replies import (
    ONE_TEXT,
    Made,
    WinnowAdded,
    WinnowAnswer,
    WinnowChoice,
    WinnowError,
    WinnowOutcome,
    WinnowQuestion,
    WinnowRowAnswer,
    WinnowWeighed,
    made_of,
)

__all__ = [
    "Winnow",
    "WinnowAdded",
    "WinnowAnswer",
    "WinnowChoice",
    "WinnowError",
    "WinnowOutcome",
    "WinnowProject",
    "WinnowQuestion",
    "WinnowRowAnswer",
    "WinnowWeighed",
]

# Calls of the server's client: address, token and retries.

PATIENCE = 60.0
"""Seconds for which a call is retried in all by default: enough for a restart of the server, or for a rate
limit of a minute to pass."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
"""Seconds before the first retry, and the longest pause; each pause is twice the previous one, or what the
server requests."""
_PASSES = frozenset({429, 502, 503, 504})
"""Temporary errors: the server is busy, or restarts."""


def address_of(url: str) -> str:
    """Return the address without its last slash. Raises ValueError if it is invalid."""
    if not url.strip().lower().startswith(("http://", "https://")):
        raise ValueError(
            f"An address begins with http:// or https://. Got {url!r:.80}. Fix: give the address that people open."
        )
    return url.strip().rstrip("/")


def secret_of(token: str) -> str:
    """Return the token without surrounding whitespace. Raises ValueError if it is missing or invalid."""
    token = token.strip()
    if not token or not all("!" <= one <= "~" for one in token):
        raise ValueError(
            "A token is one word of letters, digits, - and _; this is not one. Fix: create one on the page My account."
        )
    return token


def persevering(once: Callable[[], Made], patience: float) -> Made:
    """Return the result of a call, retried while the problem is temporary. Raises WinnowError.

    patience : maximum seconds of all pauses together
    """
    pause = _FIRST_PAUSE
    while True:
        try:
            return once()
        except httpx2.TransportError as error:
            refusal, least = WinnowError(0, f"The server did not answer: {error}"), 0.0
            refusal.__cause__ = error
        except WinnowError as refused:
            if refused.status not in _PASSES:
                raise
            refusal, least = refused, refused.again
        if patience <= 0:
            raise refusal
        slept = min(max(pause, least), patience)
        time.sleep(slept)
        patience -= slept
        pause = min(2 * pause, _LONGEST_PAUSE)


def refusal_of(reply: httpx2.Response) -> WinnowError:
    """Return the error of a failed reply."""
    try:
        words = str(reply.json()["detail"])
    except (ValueError, KeyError, TypeError):
        words = reply.text[:200] or reply.reason_phrase
    asked = reply.headers.get("retry-after", "")
    return WinnowError(reply.status_code, words, float(asked) if asked.isdecimal() else 0.0)


_AT_ONCE = 1_000
"""Rows, or entries, requested at a time."""
_MOST_ROWS, _MOST_ANSWERS, _MOST_BYTES = 10_000, 500, 7_000_000
"""Rows, or answers, sent at a time, and their bytes: somewhat less than the limit of a body."""


class Winnow:
    """A Winnow server, as the person of a token.

    url : its address in a browser      seconds : to wait for a reply
    patience : maximum seconds to keep retrying repeatable calls if a connection breaks, or the server is busy
    or restarts; 0: no retries
    transport : how requests are sent; None: httpx2's default
    Raises ValueError if address or token is invalid.
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
        """Return the project of this number, without a request."""
        return WinnowProject(self, number)

    def read(self, file: str | Path, **how: object) -> dict[str, Any]:
        """Return how a file would be read: `reading`, rows, classes, roles, notes, doubts. Stores nothing.

        how : roles and options of the reading, but not settings and `accept`. Raises WinnowError, OSError.
        """
        found: dict[str, Any] = self.ask("POST", "/readings", params=self._sent(file, how))
        return found

    def create(self, file: str | Path, name: str, **how: object) -> WinnowProject:
        """Create a project from a table, or a zip of one with its files; once, since names are unique.

        how : roles={"candidates": "guesses"}, settings={"strategy": "margin"}, description, accept=[names of doubts],
            unlabelled, truth_outside, item, unfinished, as_it_is, as in `POST /projects`
        Raises WinnowError, such as for a doubt that stops the import; OSError.
        """
        params = {**self._sent(file, how), "project": name}
        return self.project(self.ask("POST", "/projects", again=False, params=params)["id"])

    def _sent(self, file: str | Path, how: Mapping[str, object]) -> dict[str, Any]:
        """Upload the file; return the request parameters that identify it and say how to read it."""
        path = Path(file)
        with path.open("rb") as body:
            found = self.ask(
                "POST",
                "/uploads",
                again=False,
                params={"name": path.name},
                content=body,
                headers={
                    "content-type": "application/octet-stream",
                    "content-length": str(path.stat().st_size),
                },
            )
        return {"upload": found["key"]} | {
            name: json.dumps(value) if isinstance(value, Mapping) else value for name, value in how.items()
        }

    def ask(self, method: str, path: str, *, again: bool = True, **options: Any) -> Any:
        """Return the JSON of a reply; None if it has no body. Raises WinnowError.

        again : it may be retried if there is no reply
        """

        def once() -> Any:
            reply = self._http.request(method, path, **options)
            if not reply.is_success:
                raise refusal_of(reply)
            if reply.status_code == 204:
                return None
            try:
                return reply.json()
            except ValueError as error:
                raise WinnowError(
                    reply.status_code, f"{reply.url} is not a Winnow server: it did not return JSON."
                ) from error

        return persevering(once, self._patience if again else 0.0)

    def fetch(self, path: str, target: Path, **options: Any) -> None:
        """Write a reply to a file: all of it or nothing. Raises WinnowError, OSError."""
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
    """One project of a server. Every call raises WinnowError if the server refuses."""

    def __init__(self, winnow: Winnow, number: int) -> None:
        self._winnow, self._path = winnow, f"/projects/{number}"

    def summary(self) -> dict[str, Any]:
        """Return name, kind, rows, classes, and how much is answered and open."""
        found: dict[str, Any] = self._winnow.ask("GET", self._path)
        return found

    def settings(self) -> dict[str, Any]:
        """Return every setting of the project's model and questions by its name."""
        found: dict[str, Any] = self._winnow.ask("GET", f"{self._path}/settings")["settings"]
        return found

    def change_settings(self, *, keep_latest: bool = False, **settings: object) -> dict[str, Any]:
        """Change these settings, all or none; return all settings afterwards.

        keep_latest : use the latest of several people's answers, if the change requires a choice
        """
        sent = {"settings": settings, "keep_latest": keep_latest}
        found: dict[str, Any] = self._winnow.ask("PATCH", f"{self._path}/settings", json=sent)["settings"]
        return found

    def archive(self) -> None:
        """Archive a finished project; idempotent."""
        self._winnow.ask("POST", f"{self._path}/archive")

    def restore(self) -> None:
        """Restore it from the archive or the bin; idempotent."""
        self._winnow.ask("POST", f"{self._path}/restore")

    def delete(self) -> None:
        """Move it to the bin; idempotent."""
        self._winnow.ask("DELETE", self._path)

    def members(self) -> list[dict[str, Any]]:
        """List the people who see the project: `person` (their number), name, role."""
        found: list[dict[str, Any]] = self._winnow.ask("GET", f"{self._path}/members")["members"]
        return found

    def give_role(self, person: int, role: str) -> None:
        """Give someone a role: "viewer", "annotator", "reviewer" or "owner", as a new member if need be."""
        self._winnow.ask("PUT", f"{self._path}/members/{index(person)}", json={"role": role})

    def remove_member(self, person: int) -> None:
        """End a membership; the answers stay. Twice is harmless."""
        self._winnow.ask("DELETE", f"{self._path}/members/{index(person)}")

    def classes(self) -> dict[str, Any]:
        """The classes in order with their rows, and the `version` that a change names."""
        found: dict[str, Any] = self._winnow.ask("GET", f"{self._path}/classes")
        return found

    def change_classes(self, version: int, kind: str, *names: str) -> dict[str, Any]:
        """Change the classes once; the classes after it. A change that is based on an older version is refused.

        kind, names : "add" with a new name, "rename" with the old and the new one, "merge" with the class that goes and
            the one that it becomes, "back" without names: withdraw the latest change
        """
        sent = {"version": version, "kind": kind, "names": names}
        found: dict[str, Any] = self._winnow.ask("POST", f"{self._path}/classes", json=sent)
        return found

    def models(self) -> dict[str, Any]:
        """The model in use, what the latest comparison measured of each, and how far a running one is."""
        found: dict[str, Any] = self._winnow.ask("GET", f"{self._path}/models")
        return found

    def compare_models(self) -> None:
        """Have a worker compare the models; `models` has the progress."""
        self._winnow.ask("POST", f"{self._path}/models/compare")

    def cancel_comparison(self) -> None:
        """End a comparison that waits or runs; harmless if there is none."""
        self._winnow.ask("POST", f"{self._path}/models/cancel")

    def figures(self) -> dict[str, Any]:
        """Return quality and progress: the measure with its 95% interval, and its curve."""
        found: dict[str, Any] = self._winnow.ask("GET", f"{self._path}/figures")
        return found

    def next_question(self) -> WinnowQuestion | None:
        """Return this person's next question; None if nothing is left to ask them."""
        found = self._winnow.ask("POST", f"{self._path}/question")["question"]
        return None if found is None else _question(found)

    def questions(self, count: int = 10) -> list[WinnowQuestion]:
        """Lease up to 100 questions to this program for ten minutes: concurrent programs get different ones.
        An empty list if all others are leased or answered."""
        found = self._winnow.ask("POST", f"{self._path}/questions", params={"count": count})
        return [_question(one) for one in found["questions"]]

    def answer(
        self,
        question: WinnowQuestion,
        kind: str,
        labels: Sequence[str] = (),
        *,
        note: str | None = None,
        flagged: bool = False,
    ) -> WinnowAnswer:
        """Answer a question, stored exactly once despite retries. kind : one of `question.answers`

        Raises TypeError if the labels are a single str, whose letters could be labels, too.
        """
        said = {
            "token": question.token,
            "shown": question.shown,
            "kind": kind,
            "labels": _labels(labels),
            "note": note,
            "flagged": flagged,
        }
        return made_of(WinnowAnswer, self._winnow.ask("POST", f"{self._path}/answers", json=said))

    def answer_row(
        self,
        row: int,
        kind: str,
        labels: Sequence[str] = (),
        *,
        key: str | None = None,
        label: str | None = None,
        note: str | None = None,
        flagged: bool = False,
    ) -> WinnowAnswer:
        """Answer a row of your choice, stored exactly once by its key despite retries.

        row : its number, from 0      label : if labels are asked one by one, the one in question
        key : identifies the answer, so that another run of the program stores it only once; None: a new one
        Raises TypeError as `answer`.
        """
        said = {
            "key": uuid4().hex if key is None else key,
            "label": label,
            "kind": kind,
            "labels": _labels(labels),
            "note": note,
            "flagged": flagged,
        }
        path = f"{self._path}/rows/{index(row)}/answer"
        return made_of(WinnowAnswer, self._winnow.ask("PUT", path, json=said))

    def answer_rows(self, answers: Iterable[WinnowRowAnswer]) -> list[WinnowOutcome]:
        """Answer many rows, each as `answer_row`, a few hundred per call; return their outcomes in order. One
        refusal does not affect the others."""
        sent = [asdict(one) | {"row": index(one.row), "labels": list(one.labels)} for one in answers]
        found: list[WinnowOutcome] = []
        for part in _parts(sent, _MOST_ANSWERS):
            path = f"{self._path}/answers/batch"
            for one in self._winnow.ask("POST", path, json={"answers": part})["outcomes"]:
                answer = None if one["answer"] is None else made_of(WinnowAnswer, one["answer"])
                found.append(made_of(WinnowOutcome, one | {"answer": answer}))
        return found

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield all rows as in the file, fetched as they are used."""
        yield from self._each("rows", "rows")

    def predictions(self) -> Iterator[dict[str, object]]:
        """Yield the current label of every row with the probabilities, fetched as they are used."""
        yield from self._each("predictions", "predictions")

    def log(self, since: int = 0) -> Iterator[dict[str, Any]]:
        """Yield the entries of the log after this one, in order, up to the latest entry at the time of the
        last request."""
        while True:
            found = self._winnow.ask("GET", f"{self._path}/log", params={"since": since, "count": _AT_ONCE})
            yield from found["entries"]
            if not found["entries"]:
                return
            since = found["entries"][-1]["seq"]
            if since >= found["last"]:
                return

    def append(
        self, rows: Sequence[Mapping[str, str]], accept: Sequence[str] = (), *, dry_run: bool = False
    ) -> WinnowAdded:
        """Add rows, each {column: cell}, all new ones or none; the result lists what was skipped. Sent once,
        without retries.

        accept : names of doubts that would otherwise stop the import
        dry_run : store nothing, and return what would happen to the rows
        """
        sent: dict[str, object] = {"rows": [dict(one) for one in rows]}
        if accept:  # earlier server versions do not know it
            sent["accept"] = list(accept)
        if dry_run:
            sent["dry_run"] = True
        return made_of(WinnowAdded, self._winnow.ask("POST", f"{self._path}/rows", again=False, json=sent))

    def predict(self, scores: Mapping[int | str, Mapping[str, float]], model: str) -> WinnowWeighed:
        """Weight the candidates of these rows by a model's scores, stored exactly once despite retries; sent
        in batches that the server accepts.

        scores : {number of the row, or its id as a str: {class: score of 0 or more}}, numbers of NumPy too
        model : its display name Raises ValueError if there are none, or any score is not a number; nothing is
        sent then.
        """
        rows = [
            {
                **({"row_id": row} if isinstance(row, str) else {"row": index(row)}),
                "scores": {name: _score(row, name, score) for name, score in of_row.items()},
            }
            for row, of_row in scores.items()
        ]
        found = []
        for part in _parts(rows, _MOST_ROWS):
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


def _question(found: Mapping[str, Any]) -> WinnowQuestion:
    choices = [made_of(WinnowChoice, one) for one in found["choices"]]
    return made_of(WinnowQuestion, {**found, "choices": choices})


def _labels(labels: Sequence[str]) -> list[str]:
    if isinstance(labels, str):
        raise TypeError(ONE_TEXT.format(labels))
    return list(labels)


def _parts(rows: Sequence[Mapping[str, object]], most: int) -> Iterator[list[Mapping[str, object]]]:
    """Yield these rows in batches that fit a request, by number and by size."""
    part: list[Mapping[str, object]] = []
    size = 0
    for row in rows:
        larger = size + len(json.dumps(row)) + 2
        if part and (len(part) == most or larger > _MOST_BYTES):
            yield part
            part, larger = [], larger - size
        part.append(row)
        size = larger
    if part:
        yield part


def _score(row: int | str, name: str, score: float) -> float:
    """Return the score for JSON. Raises ValueError if it is not a finite number."""
    if not math.isfinite(score):
        raise ValueError(
            f"The score of {name!r:.80} for row {row!r:.80} is {score}. Nothing was sent. Fix: leave it out, or send a "
            "number of 0 or more."
        )
    return float(score)
