"""A client of a Winnow server, for notebooks and programs.

    from winnow_labels.client import Winnow

    with Winnow("http://127.0.0.1:8501", token) as winnow:
        birds = winnow.project(3)
        while (question := birds.next_question()) is not None:
            birds.answer(question, "is", [best(question)])

Reading calls, and answers, are retried if the connection or the server fails: an answer carries the token of
its question, so that it is stored once however often it is sent.

Programs that use asyncio await the same calls:

    async with AsyncWinnow("http://127.0.0.1:8501", token) as winnow:
        question = await winnow.project(3).next_question()

Each then runs in a thread, so that the event loop never waits for the server. A task that is cancelled does not stop a
request that was sent; the same answer, sent again, is stored once.
"""

from __future__ import annotations

import asyncio
import json
import math
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import wraps
from itertools import islice
from operator import index
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, Self, TypeVar
from uuid import uuid4

from winnow_labels.connection import PATIENCE, WinnowConnection
from winnow_labels.replies import (
    ONE_TEXT,
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

if TYPE_CHECKING:
    import httpx2
    import pandas as pd

__all__ = [
    "AsyncWinnow",
    "AsyncWinnowProject",
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

_AT_ONCE = 1_000
"""Rows, or entries, requested at a time."""
_FIRST_LOOK, _LONGEST_LOOK = 0.05, 5.0
"""Seconds before the progress of an export is read for the first time, and the longest pause."""
_MOST_ROWS, _MOST_ANSWERS, _MOST_BYTES = 10_000, 500, 7_000_000
"""Rows, or answers, sent at a time, and their bytes: somewhat less than the limit of a body."""


class Winnow(WinnowConnection):
    """A Winnow server, as the person of a token; see `WinnowConnection` for its parameters. Usable with `with`."""

    def projects(self) -> list[dict[str, Any]]:
        """The projects of this person, the one with the latest answer first. Raises WinnowError."""
        found: list[dict[str, Any]] = self.ask("GET", "/projects")["projects"]
        return found

    def project(self, number: int) -> WinnowProject:
        """Return the project of this number, without a request."""
        return WinnowProject(self, number)

    def read(self, /, file: str | Path | pd.DataFrame, **how: object) -> dict[str, Any]:
        """Return how a file, or a frame, would be read: `reading`, rows, classes, roles, notes, doubts. Stores nothing.

        how : roles and options of the reading, but not settings and `accept`. Raises WinnowError, OSError.
        """
        found: dict[str, Any] = self.ask("POST", "/readings", params=self._sent(file, how))
        return found

    def create(self, /, file: str | Path | pd.DataFrame, name: str, **how: object) -> WinnowProject:
        """Create a project from a table, a zip of one with its files, or a frame; once, since names are unique.

        how : roles={"candidates": "guesses"}, settings={"strategy": "margin"}, description, accept=[names of doubts],
            unlabelled, truth_outside, item, unfinished, as_it_is, also=[columns of further questions], as in `POST
            /projects`
        Raises WinnowError, such as for a doubt that stops the import; OSError.
        """
        params = {**self._sent(file, how), "project": name}
        return self.project(self.ask("POST", "/projects", again=False, params=params)["id"])

    def _sent(self, file: str | Path | pd.DataFrame, how: Mapping[str, object]) -> dict[str, Any]:
        """Upload the file; return the request parameters that identify it and say how to read it."""
        if not isinstance(file, (str, Path)):
            with tempfile.TemporaryDirectory(prefix="winnow-") as folder:
                path = Path(folder) / "frame.parquet"
                file.to_parquet(path, index=False)
                return self._sent(path, how)
        return {"upload": self.upload(Path(file))} | {
            name: json.dumps(value) if isinstance(value, Mapping) else value for name, value in how.items()
        }


class WinnowProject:
    """One project of a server. Every call raises WinnowError if the server refuses."""

    def __init__(self, winnow: Winnow, number: int) -> None:
        self._winnow, self.number, self._path = winnow, number, f"/projects/{number}"

    def __repr__(self) -> str:
        return f"WinnowProject({self.number}, {self._winnow!r})"

    def summary(self) -> dict[str, Any]:
        """Return name, kind, rows, classes, and how much is answered and open."""
        found: dict[str, Any] = self._winnow.ask("GET", self._path)
        return found

    def settings(self) -> dict[str, Any]:
        """Return every setting of the project's model and questions by its name."""
        found: dict[str, Any] = self._winnow.ask("GET", f"{self._path}/settings")["settings"]
        return found

    def change_settings(self, /, *, keep_latest: bool = False, **settings: object) -> dict[str, Any]:
        """Change these settings, all or none; return all settings afterwards.

        keep_latest : use the latest of several people's answers, if the change requires a choice
        """
        sent = {"settings": settings, "keep_latest": keep_latest}
        found: dict[str, Any] = self._winnow.ask("PATCH", f"{self._path}/settings", json=sent)["settings"]
        return found

    def further(self) -> list[dict[str, Any]]:
        """Return the projects that ask about the same row after an answer here, in order: `id` and `name`."""
        found: list[dict[str, Any]] = self._winnow.ask("GET", f"{self._path}/further")["further"]
        return found

    def set_further(self, *projects: int) -> list[dict[str, Any]]:
        """Have these projects ask about the same row after an answer here; none ends that. Returns as `further`."""
        sent = {"projects": [index(one) for one in projects]}
        found: list[dict[str, Any]] = self._winnow.ask("PUT", f"{self._path}/further", json=sent)["further"]
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

        kind, names : "add" with a new name, "rename" with the old and the new one, "merge" with the class to remove and
        the class that replaces it, "back" without names: withdraw the latest change
        """
        sent = {"version": version, "kind": kind, "names": names}
        found: dict[str, Any] = self._winnow.ask("POST", f"{self._path}/classes", json=sent)
        return found

    def models(self) -> dict[str, Any]:
        """The model in use, the figures of the latest comparison, and the progress of a running one."""
        found: dict[str, Any] = self._winnow.ask("GET", f"{self._path}/models")
        return found

    def compare_models(self) -> None:
        """Have a worker compare the models; `models` has the progress."""
        self._winnow.ask("POST", f"{self._path}/models/compare")

    def cancel_comparison(self) -> None:
        """End a comparison that waits or runs; harmless if there is none."""
        self._winnow.ask("POST", f"{self._path}/models/cancel")

    def suggest(self, /, url: str, model: str, **options: str) -> None:
        """Have a worker ask a language model about every row; `suggestions` has the progress.

        url, model : of an OpenAI-compatible server      options : key, guide, cap and price, as `winnow suggest` has
        """
        self._winnow.ask("POST", f"{self._path}/suggestions", json={"url": url, "model": model, **options})

    def suggestions(self) -> dict[str, Any] | None:
        """Return the latest run of a language model: its state, progress and report; None if there was none."""
        found: dict[str, Any] | None = self._winnow.ask("GET", f"{self._path}/suggestions")["latest"]
        return found

    def cancel_suggestions(self) -> None:
        """End a run that waits or runs; harmless if there is none."""
        self._winnow.ask("POST", f"{self._path}/suggestions/cancel")

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
        start = 0
        while True:
            asked = {"start": start, "count": _AT_ONCE}
            found = self._winnow.ask("GET", f"{self._path}/rows", params=asked)
            yield from found["rows"]
            start += len(found["rows"])
            if start >= found["total"]:
                return

    def predictions(self) -> Iterator[dict[str, Any]]:
        """Yield the current label of every row with the probabilities, all from one point in time, fetched as they are
        used."""
        yield from self._winnow.lines(f"{self._path}/predictions/lines")

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
            found.append(made_of(WinnowWeighed, self._winnow.ask("POST", f"{self._path}/predictions", json=sent)))
        if not found:
            raise ValueError("There are no scores to send.")
        return WinnowWeighed(
            found[-1].seq,
            *(sum(getattr(one, name) for one in found) for name in ("rows", "weighed", "silent", "outside")),
        )

    def export(self, /, path: str | Path, file: str = "csv", **choices: object) -> None:
        """Have the server write a file of the project, however long that takes, and fetch it.

        file : csv, parquet, jsonl, log, sealed-log, probabilities, ...
        choices : rows="sure" or "answered", above=0.95, with_undecided=True, label_disputed=True,
            for_spreadsheets=True
        """
        asked = {"file": file, **choices}
        job = self._winnow.ask("POST", f"{self._path}/exports", again=False, params=asked)
        at, pause, tell = (f"{self._path}/exports/{job['key']}", _FIRST_LOOK, self._winnow.progress(f"Writing {file}"))
        try:
            while job["state"] in ("waiting", "writing"):
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_LOOK)
                job = self._winnow.ask("GET", at)
                tell(job["done"], job["total"])
            tell.end()
            if job["state"] == "failed":
                raise WinnowError(500, job["fault"])
            self._winnow.fetch(f"{at}/file", Path(path))
        finally:
            self._winnow.ask("DELETE", at)

    def to_frame(self, /, file: str = "parquet", **choices: object) -> pd.DataFrame:
        """Return the rows with their labels, as `export` writes them. file : "parquet", or "probabilities" for an id
        and a column for each class; other choices as for `export`"""
        import pandas as pd

        with tempfile.TemporaryDirectory(prefix="winnow-") as folder:
            path = Path(folder) / "rows.parquet"
            self.export(path, file, **choices)
            return pd.read_parquet(path)


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


# The same calls, awaited.

Given = ParamSpec("Given")
Reply = TypeVar("Reply")
Client = TypeVar("Client")
_TOGETHER = 256
"""Rows, or entries, taken from a thread at a time."""


class _Wraps(Protocol[Client]):
    """Has the client that does the work."""

    client: Client


def _awaited(
    call: Callable[Concatenate[Client, Given], Reply],
) -> Callable[Concatenate[_Wraps[Client], Given], Coroutine[Any, Any, Reply]]:
    """Return the method that does this call of the client in a thread."""

    @wraps(call)
    async def method(self: _Wraps[Client], /, *given: Given.args, **named: Given.kwargs) -> Reply:
        return await asyncio.to_thread(call, self.client, *given, **named)

    return method


def _each(
    call: Callable[Concatenate[Client, Given], Iterator[Reply]],
) -> Callable[Concatenate[_Wraps[Client], Given], AsyncIterator[Reply]]:
    """Return the method that yields what this call of the client yields, some at a time."""

    @wraps(call)
    async def method(self: _Wraps[Client], /, *given: Given.args, **named: Given.kwargs) -> AsyncIterator[Reply]:
        found = call(self.client, *given, **named)
        while some := await asyncio.to_thread(lambda: list(islice(found, _TOGETHER))):
            for one in some:
                yield one

    return method


class AsyncWinnow:
    """A Winnow server, used as the person of a token; parameters and errors are those of `Winnow`.
    Usable with `async with`.

    client : the client that does the work
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        seconds: float = 60.0,
        patience: float = PATIENCE,
        progress: bool | None = None,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        self.client = Winnow(url, token, seconds=seconds, patience=patience, progress=progress, transport=transport)

    def __repr__(self) -> str:
        return f"Async{self.client!r}"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await asyncio.to_thread(self.client.close)

    projects = _awaited(Winnow.projects)
    read = _awaited(Winnow.read)

    def project(self, number: int) -> AsyncWinnowProject:
        """Return the project of this number, without a request."""
        return AsyncWinnowProject(self.client.project(number))

    async def create(self, /, file: str | Path | pd.DataFrame, name: str, **how: object) -> AsyncWinnowProject:
        """Create a project as `Winnow.create` does."""
        return AsyncWinnowProject(await asyncio.to_thread(self.client.create, file, name, **how))


class AsyncWinnowProject:
    """One project of a server. Every call raises WinnowError if the server refuses.

    client : the same project of the client that does the work
    """

    def __init__(self, client: WinnowProject) -> None:
        self.client, self.number = client, client.number

    def __repr__(self) -> str:
        return f"Async{self.client!r}"

    summary = _awaited(WinnowProject.summary)
    settings = _awaited(WinnowProject.settings)
    change_settings = _awaited(WinnowProject.change_settings)
    further = _awaited(WinnowProject.further)
    set_further = _awaited(WinnowProject.set_further)
    archive = _awaited(WinnowProject.archive)
    restore = _awaited(WinnowProject.restore)
    delete = _awaited(WinnowProject.delete)
    members = _awaited(WinnowProject.members)
    give_role = _awaited(WinnowProject.give_role)
    remove_member = _awaited(WinnowProject.remove_member)
    classes = _awaited(WinnowProject.classes)
    change_classes = _awaited(WinnowProject.change_classes)
    models = _awaited(WinnowProject.models)
    compare_models = _awaited(WinnowProject.compare_models)
    cancel_comparison = _awaited(WinnowProject.cancel_comparison)
    suggest = _awaited(WinnowProject.suggest)
    suggestions = _awaited(WinnowProject.suggestions)
    cancel_suggestions = _awaited(WinnowProject.cancel_suggestions)
    figures = _awaited(WinnowProject.figures)
    next_question = _awaited(WinnowProject.next_question)
    questions = _awaited(WinnowProject.questions)
    answer = _awaited(WinnowProject.answer)
    answer_row = _awaited(WinnowProject.answer_row)
    answer_rows = _awaited(WinnowProject.answer_rows)
    append = _awaited(WinnowProject.append)
    predict = _awaited(WinnowProject.predict)
    export = _awaited(WinnowProject.export)
    to_frame = _awaited(WinnowProject.to_frame)
    rows = _each(WinnowProject.rows)
    predictions = _each(WinnowProject.predictions)
    log = _each(WinnowProject.log)
