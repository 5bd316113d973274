"""A client of a Winnow server, for notebooks and programs.

    from winnow_labels.client import Winnow

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
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from operator import index
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar
from uuid import uuid4

import httpx2

# Replies of a Winnow server as named values (`winnow_labels.client`).


_ONE_TEXT = "The labels are a list of texts. Got {0!r:.80}. Fix: [{0!r:.80}]."


class WinnowError(Exception):
    """The server refuses, in its words.

    status : of HTTP; 0 if it could not be reached      again : seconds after which it says to try again; 0: none
    """

    def __init__(self, status: int, words: str, again: float = 0.0) -> None:
        super().__init__(words)
        self.status, self.again = status, again


@dataclass(frozen=True)
class WinnowChoice:
    """A label that a row may have.

    share : what the model gives it, in [0, 1]; None if there is no model yet
    known : where labels are asked one by one, whether it is known to be right; None: not asked
    """

    label: str
    description: str
    share: float | None
    known: bool | None


@dataclass(frozen=True)
class WinnowQuestion:
    """A question that is before the person of the token.

    row : its number, from 0      text, features, images, audio : what people would see of it
    label : where labels are asked one by one, the label asked about; None: all of them
    is_it : where it is asked in yes and no, whether it is one of these      answers : the kinds that it takes
    """

    token: str
    shown: str
    row: int
    row_id: str
    text: str | None
    features: Mapping[str, str]
    images: Sequence[str]
    audio: str | None
    label: str | None
    is_it: Sequence[str] | None
    choices: Sequence[WinnowChoice]
    answers: Sequence[str]
    why: str


@dataclass(frozen=True)
class WinnowAnswer:
    """The stored data. seq : its number in the project's log"""

    seq: int
    kind: str
    row: int
    row_id: str
    labels: Sequence[str]


@dataclass(frozen=True)
class WinnowRowAnswer:
    """An answer to send about a row of your choice. key : names it; see `WinnowProject.answer_row`"""

    row: int
    kind: str
    labels: Sequence[str] = ()
    key: str = field(default_factory=lambda: uuid4().hex)
    label: str | None = None
    note: str | None = None
    flagged: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.labels, str):
            raise TypeError(_ONE_TEXT.format(self.labels))


@dataclass(frozen=True)
class WinnowOutcome:
    """The outcome of one answer of many. status : of HTTP, as if it was sent alone

    answer : the stored data, None if it was refused      detail : why it was
    """

    status: int
    answer: WinnowAnswer | None
    detail: str | None


@dataclass(frozen=True)
class WinnowAdded:
    """The outcome of rows that were sent. rows : how many the project has now      added : how many of them are new

    known : those that it had already, by id or else by number, which stay      new_classes : labels that no row had
    dropped, empty : columns that were sent and it does not have, and its columns that were not sent
    notes : what was read as nothing, and what is odd about the table with the new rows
    reading : how the project's table is read, with the new rows
    doubts : of a dry run, those that would stop the rows: name, message and fix
    """

    rows: int
    added: int
    known: Sequence[str]
    new_classes: Sequence[str]
    dropped: Sequence[str]
    empty: Sequence[str]
    notes: Sequence[str] = ()
    reading: str = ""
    doubts: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True)
class WinnowWeighed:
    """The outcome of another model's scores. seq : the latest entry that has them      rows : how many were sent

    weighed : rows whose candidates weigh by them now      silent : rows of whose candidates they say nothing
    outside : rows whose highest score is of a class that is not a candidate
    """

    seq: int
    rows: int
    weighed: int
    silent: int
    outside: int


def made_of(kind: type[Made], said: Mapping[str, object]) -> Made:
    """The reply, as this class; what else a later server says is skipped."""
    return kind(**{one.name: said[one.name] for one in fields(kind)})  # type: ignore[arg-type]


# How the client of a server makes its calls: where to, as whom, and how long it continues.

Made = TypeVar("Made")

PATIENCE = 60.0
"""Seconds for which a call waits in all, if no one says more, to be made again: a server is restarted in them,
and a minute in which too many calls were made is over."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
"""Seconds before a call is made for the second time, and the longest; each pause is twice the one before, or what the
server asks for."""
_PASSES = frozenset({429, 502, 503, 504})
"""Temporary errors: the server is busy, or is started again."""


def address_of(url: str) -> str:
    """The address without its last slash. Raises ValueError where it is none."""
    if not url.strip().lower().startswith(("http://", "https://")):
        raise ValueError(
            f"An address begins with http:// or https://. Got {url!r:.80}. Fix: give the address that people open."
        )
    return url.strip().rstrip("/")


def secret_of(token: str) -> str:
    """The token, without what stands around it in a file. Raises ValueError without it, if it is none."""
    token = token.strip()
    if not token or not all("!" <= one <= "~" for one in token):
        raise ValueError(
            "A token is one word of letters, digits, - and _; this is not one. Fix: create one on the page My account."
        )
    return token


def persevering(once: Callable[[], Made], patience: float) -> Made:
    """The value that a call gives, made again while what hinders it passes by itself. Raises WinnowError.

    patience : seconds that all pauses in between may take
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
    """Message of an error reply."""
    try:
        words = str(reply.json()["detail"])
    except (ValueError, KeyError, TypeError):
        words = reply.text[:200] or reply.reason_phrase
    asked = reply.headers.get("retry-after", "")
    return WinnowError(reply.status_code, words, float(asked) if asked.isdecimal() else 0.0)


_AT_ONCE = 1_000
"""Rows, or entries, that are requested at a time."""
_MOST_ROWS, _MOST_ANSWERS, _MOST_BYTES = 10_000, 500, 7_000_000
"""Rows, or answers, that are sent at a time, and bytes of them: somewhat less than a body may have."""


class Winnow:
    """A Winnow server, as the person of a token.

    url : where people open it      seconds : to wait for a reply
    patience : seconds to wait in all before calls are made again that may be, where a connection breaks, or the server
        is busy or restarted; 0: they are made once
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
        """The project of this number; asks no one."""
        return WinnowProject(self, number)

    def read(self, file: str | Path, **how: object) -> dict[str, Any]:
        """How a file would be read: a sentence, `reading`, with rows, classes, roles, notes, doubts. Nothing is stored.

        how : roles and options of the reading, but not settings and `accept`. Raises WinnowError, OSError.
        """
        found: dict[str, Any] = self.ask("POST", "/readings", params=self._sent(file, how))
        return found

    def create(self, file: str | Path, name: str, **how: object) -> WinnowProject:
        """Make a project of a file, a table or a zip of one with its files; once, for the name of a project is its own.

        how : roles={"candidates": "guesses"}, settings={"strategy": "margin"}, description, accept=[names of doubts],
            unlabelled, truth_outside, item, unfinished, as_it_is, as `POST /projects` has them
        Raises WinnowError, such as for a doubt that stops the import; OSError.
        """
        params = {**self._sent(file, how), "project": name}
        return self.project(self.ask("POST", "/projects", again=False, params=params)["id"])

    def _sent(self, file: str | Path, how: Mapping[str, object]) -> dict[str, Any]:
        """The file is sent; what names it in an address, and how it is to be read."""
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
        """The JSON of a reply; None of one without a body. Raises WinnowError.

        again : it may be sent again if nothing is heard
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

    def settings(self) -> dict[str, Any]:
        """How the project learns and asks: every setting by its name."""
        found: dict[str, Any] = self._winnow.ask("GET", f"{self._path}/settings")["settings"]
        return found

    def change_settings(self, *, keep_latest: bool = False, **settings: object) -> dict[str, Any]:
        """Change these settings, all or none; all settings after it.

        keep_latest : let the latest of several people's answers count, where the change makes it so
        """
        sent = {"settings": settings, "keep_latest": keep_latest}
        found: dict[str, Any] = self._winnow.ask("PATCH", f"{self._path}/settings", json=sent)["settings"]
        return found

    def archive(self) -> None:
        """Put a finished project away; twice is harmless."""
        self._winnow.ask("POST", f"{self._path}/archive")

    def restore(self) -> None:
        """Bring it back from the archive or the bin; twice is harmless."""
        self._winnow.ask("POST", f"{self._path}/restore")

    def delete(self) -> None:
        """Move it to the bin; twice is harmless."""
        self._winnow.ask("DELETE", self._path)

    def members(self) -> list[dict[str, Any]]:
        """Who may see the project: `person` (their number), name, role."""
        found: list[dict[str, Any]] = self._winnow.ask("GET", f"{self._path}/members")["members"]
        return found

    def give_role(self, person: int, role: str) -> None:
        """Give someone a role: "viewer", "annotator", "reviewer" or "owner". Who is no member becomes one."""
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
        """How good the labels are and how far it is: the measure with its 95% interval, and the curve of it."""
        found: dict[str, Any] = self._winnow.ask("GET", f"{self._path}/figures")
        return found

    def next_question(self) -> WinnowQuestion | None:
        """The question before this person; None if nothing is left to ask them."""
        found = self._winnow.ask("POST", f"{self._path}/question")["question"]
        return None if found is None else _question(found)

    def questions(self, count: int = 10) -> list[WinnowQuestion]:
        """Lease up to 100 questions to this program for ten minutes: programs that work at once get different ones.
        None if none is left that no one has."""
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
        """Answer a question, exactly once, however often it has to be sent. kind : one of `question.answers`

        Raises TypeError where the labels are one text, whose letters may be labels, too.
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
        """Answer a row of your choice, exactly once by its key, however often it has to be sent.

        row : its number, from 0      label : where labels are asked one by one, the one that it is about
        key : names the answer, so that another run of the program stores it once, too; None: a new one
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
        """Answer many rows, each as `answer_row`, a few hundred a call; their outcomes, in order. One that is refused
        does not hinder the others."""
        sent = [asdict(one) | {"row": index(one.row), "labels": list(one.labels)} for one in answers]
        found: list[WinnowOutcome] = []
        for part in _parts(sent, _MOST_ANSWERS):
            path = f"{self._path}/answers/batch"
            for one in self._winnow.ask("POST", path, json={"answers": part})["outcomes"]:
                answer = None if one["answer"] is None else made_of(WinnowAnswer, one["answer"])
                found.append(made_of(WinnowOutcome, one | {"answer": answer}))
        return found

    def rows(self) -> Iterator[dict[str, Any]]:
        """All rows as the file had them, fetched while they are used."""
        yield from self._each("rows", "rows")

    def predictions(self) -> Iterator[dict[str, object]]:
        """The label of every row as it is, with the shares, fetched while they are used."""
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

    def append(
        self, rows: Sequence[Mapping[str, str]], accept: Sequence[str] = (), *, dry_run: bool = False
    ) -> WinnowAdded:
        """Add rows, each {column: cell}, all that are new or none; what was skipped is reported. It is sent once.

        accept : names of doubts that stop the import otherwise
        dry_run : store nothing, and tell what would become of the rows
        """
        sent: dict[str, object] = {"rows": [dict(one) for one in rows]}
        if accept:  # a server of an earlier version does not know it
            sent["accept"] = list(accept)
        if dry_run:
            sent["dry_run"] = True
        return made_of(WinnowAdded, self._winnow.ask("POST", f"{self._path}/rows", again=False, json=sent))

    def predict(self, scores: Mapping[int | str, Mapping[str, float]], model: str) -> WinnowWeighed:
        """Let the candidates of these rows weigh what a model says of them, exactly once, however often it has to be
        sent; this many rows at a time as the server takes.

        scores : {number of the row, or its id as a text: {class: score of 0 or more}}, numbers of NumPy too
        model : what people call it
        Raises ValueError if there are none, or one is not a number, of whatever row: nothing is sent then.
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


def _question(found: Mapping[str, Any]) -> WinnowQuestion:
    choices = [made_of(WinnowChoice, one) for one in found["choices"]]
    return made_of(WinnowQuestion, {**found, "choices": choices})


def _labels(labels: Sequence[str]) -> list[str]:
    if isinstance(labels, str):
        raise TypeError(_ONE_TEXT.format(labels))
    return list(labels)


def _parts(
    rows: Sequence[Mapping[str, object]], most: int = _MOST_ROWS
) -> Iterator[list[Mapping[str, object]]]:
    """These rows, this many at a time as a body may have, by number and by size."""
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
    """The score as JSON has it. Raises ValueError where it is no finite number."""
    if not math.isfinite(score):
        raise ValueError(
            f"The score of {name!r:.80} for row {row!r:.80} is {score}. Nothing was sent. Fix: leave it out, or send a "
            "number of 0 or more."
        )
    return float(score)
