"""Shortlists of a project's rows by a language model of the owner's own: tried on a few rows, then run by a worker.

Replies are kept in a journal in the data folder, so that a run continues after any interruption. The server's key is
in a file of its own until the run ends: it is in no log, export or backup. The shares of the classes weigh the
candidates of the rows as a program's predictions do; no label changes.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from db import trained
from plcore.arrays import BoolArray, FloatArray, counted
from plcore.labels import fit_temperature, log_shares, tempered
from plcore.tables import whole_texts as whole_texts
from workflow.access import Right
from workflow.answering.room_settings import RoomSettings
from workflow.files.stored import make_folder
from workflow.importing.predictions import LONGEST, ScoredRow, add_predictions
from workflow.models.language.endpoint import ChatEndpoint
from workflow.models.language.ledger import Ledger, TokenCap, TokenPrices
from workflow.models.language.replies import SCORES, Shortlist, read_reply
from workflow.models.language.requests import MOST_CLASSES, LabelTask, LanguageModelError, Tokens
from workflow.models.language.running import SuggestionRun
from workflow.people.team import is_this_machine

if TYPE_CHECKING:
    from pathlib import Path

    from workflow.seat import Seat
    from workflow.server.home import Home
    from workflow.server.settings import Settings

DOUBT = 0.1
"""Share of a row that goes evenly to all classes: the list may lack the true one. Replaced by what answers show."""
LEAST_ANSWERED = 19
"""Answered rows from which on the shares are calibrated."""


@dataclass(frozen=True)
class ModelChoice:
    """The choices of an owner, without the key.

    url, model : as in `ChatEndpoint`      guide : instructions for the model
    cap, price : as `TokenCap` and `TokenPrices` read them, or ''
    """

    url: str
    model: str
    guide: str = ""
    cap: str = ""
    price: str = ""

    @property
    def prices(self) -> TokenPrices | None:
        """Read the price. Raises LedgerError."""
        return TokenPrices.parse(self.price) if self.price else None


@dataclass(frozen=True)
class TriedRow:
    """A row that was tried. shares : {class: share}, the likeliest first; empty unless outcome is "listed" """

    row_id: str
    text: str
    outcome: str
    shares: Mapping[str, float]


@dataclass(frozen=True)
class SuggestionTrial:
    """The result of a trial.

    scores : sources of the shares, in words      missing : rows that have no reply yet
    most, likely : tokens that they take, at most, and if they go on as those before (None: the server does not say)
    prices : those of the owner      host : of the server      is_own : whether that is this machine
    """

    rows: tuple[TriedRow, ...]
    scores: tuple[str, ...]
    missing: int
    most: Tokens
    likely: Tokens | None
    prices: TokenPrices | None
    host: str
    is_own: bool


@dataclass(frozen=True)
class SuggestionState:
    """The latest run of a project.

    state : "waiting" | "running" | "done" | "cancelled" | "failed"      done, total : rows
    said : why it waits, such as for a busy server, or ''
    report : of a run that is done, as `weigh` returns it
    """

    choice: ModelChoice
    state: str
    done: int
    total: int
    asked_at: datetime
    fault: str | None
    said: str
    report: Mapping[str, Any] | None

    @property
    def unfinished(self) -> bool:
        return self.state in trained.UNFINISHED


@dataclass(frozen=True)
class ProjectRows:
    """The rows of a project, as a language model needs them.

    columns : that hold the texts
    texts : of all rows, '' for rows that are not asked about: they have one candidate, or no text
    classes : {name: description or ''}
    """

    columns: tuple[str, ...]
    texts: tuple[str, ...]
    ids: tuple[str, ...]
    classes: Mapping[str, str]
    guidelines: str

    @property
    def n_asked(self) -> int:
        return sum(bool(text) for text in self.texts)


def rows_of(seat: Seat) -> ProjectRows:
    """Return the rows that a language model can be asked about. Raises LanguageModelError if there are none."""
    with seat.learner(Right.OWN) as opened:
        table, classes = opened.learner.table, tuple(map(str, opened.learner.classes))
        room = RoomSettings.from_json(opened.project.room)
    if table.roles.label_vectors:
        raise LanguageModelError(
            "Suggestions need rows with one right label. This project asks about each label of a row."
        )
    if table.roles.text is None:
        raise LanguageModelError("This project has no column of texts, and a language model reads texts only.")
    open_rows = table.candidates.sum(axis=1) > 1
    columns, whole = whole_texts(table.cells, table.roles.text, table.roles.caption, table.roles.more_texts)
    texts = tuple(text if asked else "" for text, asked in zip(whole, open_rows, strict=True))
    if not any(texts):
        raise LanguageModelError("No row has a text and more than one candidate: there is nothing to ask about.")
    described = {name: room.descriptions.get(name, "") for name in classes}
    return ProjectRows(columns, texts, tuple(map(str, table.ids)), described, room.guidelines)


def models(seat: Seat, url: str, key: str | None) -> list[str]:
    """Return the names of a server's models. Raises EndpointError; NotAllowed unless the person is an owner."""
    with seat.reading(Right.OWN):
        pass
    with closing(_endpoint(seat.home.settings, url, "", key)) as endpoint:
        return endpoint.models()


class OpenedRun(NamedTuple):
    """A run over the rows of a project, with its journal."""

    run: SuggestionRun
    ledger: Ledger
    task: LabelTask
    endpoint: ChatEndpoint


@contextmanager
def opened(
    seat: Seat, rows: ProjectRows, choice: ModelChoice, key: str | None, tell: Callable[[str], None]
) -> Iterator[OpenedRun]:
    """Open the journal of a choice, and the run that goes on with it. tell : called with a sentence about a pause

    Raises LanguageModelError.
    """
    task = LabelTask(rows.classes, choice.guide)
    endpoint = _endpoint(seat.home.settings, choice.url, choice.model, key)
    prices = choice.prices  # a price that cannot be read is refused, also without a cap
    cap = TokenCap.parse(choice.cap, prices) if choice.cap else None
    about = {"model": choice.model, "server": endpoint.url, "classes, guide or options": task.sha256}
    if len(rows.classes) > MOST_CLASSES:  # which ones a row is asked about depends on all texts
        about["texts"] = hashlib.sha256("\0".join(rows.texts).encode()).hexdigest()
    folder = seat.home.suggestions_dir
    make_folder(folder)
    name = hashlib.sha256(json.dumps(about).encode()).hexdigest()[:16]
    with closing(endpoint), Ledger(folder / f"{seat.project_id}-{name}.jsonl", about, cap) as ledger:
        yield OpenedRun(SuggestionRun(task, rows.texts, endpoint, ledger, tell=tell), ledger, task, endpoint)


def try_rows(seat: Seat, choice: ModelChoice, key: str | None) -> SuggestionTrial:
    """Ask about the next few rows, and estimate the rest.

    It waits for the server: call it in a job. Raises LanguageModelError; NotAllowed unless the person is an owner.
    """
    _require_idle(seat)
    rows = rows_of(seat)
    with opened(seat, rows, choice, key, _keep_quiet) as (run, ledger, task, endpoint):
        orders = {request.row: request.order for request in run.missing()}
        tried = [(row, read_reply(ledger.records[row].reply, orders[row])) for row in run.try_rows()]
        if not tried and run.refused:
            raise LanguageModelError(next(iter(run.refused.values())))
        kinds = {one.scores for _, one in tried if one.scores}
        return SuggestionTrial(
            tuple(TriedRow(rows.ids[row], rows.texts[row], one.outcome, _named(one, task)) for row, one in tried),
            tuple(words for kind, words in SCORES.items() if kind in kinds),
            len(run.missing()),
            run.upper_bound(),
            run.likely(),
            choice.prices,
            endpoint.host,
            endpoint.is_own,
        )


def ask(seat: Seat, choice: ModelChoice, key: str | None) -> None:
    """Have a worker ask about all rows without a reply, and weigh the candidates. After a run that ended early, the
    same choice continues it; after a run that is done, it only calibrates the weights by the answers so far.

    Raises LanguageModelError if a run is under way, the server is not allowed, or the cap is too low for the rows;
    NotAllowed unless the person is an owner; NotSaved.
    """
    _require_idle(seat)
    rows = rows_of(seat)
    with opened(seat, rows, choice, key, _keep_quiet) as going:
        going.ledger.require_room(going.run.upper_bound())
    _write_key(_key_path(seat.home, seat.project_id), key)
    with seat.owning() as owning:
        trained.SUGGESTIONS.ask(
            owning.session,
            owning.project.id,
            asked_by=owning.person.id,
            asked_at=datetime.now(UTC),
            settings=asdict(choice),
        )


def cancel(seat: Seat) -> None:
    """End the run that waits or runs. Its replies are kept: `ask` continues with the same choice. Harmless if there is
    none."""
    with seat.owning() as owning:
        last = trained.SUGGESTIONS.latest(owning.session, owning.project.id)
        if last is not None:
            trained.SUGGESTIONS.end(owning.session, last.id, trained.CANCELLED, datetime.now(UTC))
    forget_key(seat.home, seat.project_id)


def state(seat: Seat) -> SuggestionState | None:
    """Return the latest run of the project; None if there was none. Raises NotAllowed unless the person is an owner."""
    with seat.reading(Right.OWN) as reading:
        last = trained.SUGGESTIONS.latest(reading.session, reading.project.id)
    if last is None:
        return None
    report = last.report or {}
    return SuggestionState(
        ModelChoice(**last.settings),  # type: ignore[arg-type]
        last.state,
        last.done,
        last.total,
        last.asked_at,
        last.fault,
        str(report.get("said", "")) if last.unfinished else "",
        last.report if last.state == trained.DONE else None,
    )


def run(
    seat: Seat, choice: ModelChoice, tell: Callable[[str], None], watch: Callable[[SuggestionRun], Callable[[], None]]
) -> dict[str, Any] | None:
    """Ask about the missing rows with the stored key, and weigh the candidates; return the report of `weigh`, None if
    it was stopped before the end.

    tell : called with a sentence about a pause      watch : begins to watch the run; what it returns ends that
    Raises LanguageModelError, and as `add_predictions`.
    """
    rows = rows_of(seat)
    with opened(seat, rows, choice, _read_key(_key_path(seat.home, seat.project_id)), tell) as going:
        watched = watch(going.run)
        try:
            going.run.run(lambda _done, _total: None)
        finally:
            watched()
        if going.run.missing():
            return None
        return weigh(seat, rows, going)


def weigh(seat: Seat, rows: ProjectRows, going: OpenedRun) -> dict[str, Any]:
    """Weigh the candidates by the replies of a run; return its counts. Raises as `add_predictions`."""
    shortlists, names = going.run.shortlists(), going.task.names
    outcomes = [one.outcome for one, text in zip(shortlists, rows.texts, strict=True) if text]
    shares, listed, calibrated_by = _calibrated(seat, shortlists, names)
    sent = [
        ScoredRow(row, None, dict(zip(names, np.round(shares[row], 9).tolist(), strict=True)))
        for row in np.flatnonzero(listed).tolist()
    ]
    by = f"{going.endpoint.model} at {going.endpoint.host}"[:LONGEST]
    about = f" ({counted(len(outcomes), 'row')}, prompt {going.task.sha256[:12]})"
    stored = add_predictions(seat, sent, by, "language model", about) if sent else None
    spent = going.ledger.spent
    return {
        "outcomes": {name: outcomes.count(name) for name in ("listed", "none", "refused", "broken")},
        "tokens": {"read": spent.read, "written": spent.written, "unknown_replies": going.ledger.unknown},
        "weighed": 0 if stored is None else stored.weighed,
        "outside": 0 if stored is None else stored.outside,
        "calibrated_by": calibrated_by,
    }


def _calibrated(seat: Seat, shortlists: Sequence[Shortlist], names: Sequence[str]) -> tuple[FloatArray, BoolArray, int]:
    """Return (n, m) shares, bool (n,) which rows have some, and the number of answered rows that they were calibrated
    by: 0 if there are too few.

    Answers to blind checks do not count: they measure the model that these shares help.
    """
    shares = np.zeros((len(shortlists), len(names)))
    for row, one in enumerate(shortlists):
        for place, share in one.shares.items():
            shares[row, place] = share
    listed: BoolArray = np.asarray(shares.any(axis=1))
    with seat.learner(Right.OWN) as opened:
        pool = opened.learner.pool
        known = {str(name): place for place, name in enumerate(opened.learner.classes)}
        told = np.flatnonzero(np.resize(pool.shown_to_all() & pool.answered_rows, len(shortlists)) & listed)
        labels = pool.labels_shown(told.tolist())
    truth = {row: known[one[0]] for row, one in zip(told.tolist(), labels, strict=True) if len(one) == 1}
    everything = np.ones_like(shares, dtype=bool)
    if tuple(known) != tuple(names) or len(truth) < LEAST_ANSWERED:
        return np.where(listed[:, None], (1 - DOUBT) * shares + DOUBT / len(names), 0.0), listed, 0
    rows = list(truth)
    right = np.eye(len(names), dtype=bool)[list(truth.values())]
    doubt = (int((right & (shares[rows] == 0)).sum()) + 1) / (len(rows) + 2)
    temperature = fit_temperature(log_shares(shares[rows], everything[rows], doubt), right, smoothed=True)
    calibrated = tempered(shares, everything, doubt, temperature)
    return np.where(listed[:, None], calibrated, 0.0), listed, len(rows)


def _endpoint(settings: Settings, url: str, model: str, key: str | None) -> ChatEndpoint:
    return ChatEndpoint(url, model, key, hosts=settings.suggestion_hosts, own=_is_own(settings))


def _is_own(settings: Settings) -> bool:
    """Whether only people at this machine reach the server, so that its other programs are theirs, too."""
    return not settings.public_url and is_this_machine(settings.host)


def _named(one: Shortlist, task: LabelTask) -> dict[str, float]:
    likeliest = sorted(one.shares.items(), key=lambda pair: -pair[1])
    return {task.names[place]: share for place, share in likeliest}


def _require_idle(seat: Seat) -> None:
    with seat.reading(Right.OWN, changes=True) as reading:
        last = trained.SUGGESTIONS.latest(reading.session, reading.project.id)
    if last is not None and last.unfinished:
        raise LanguageModelError("A run is under way in this project. Fix: wait for its end, or cancel it.")


def forget_key(home: Home, project_id: int | None) -> None:
    """Remove the key of a run that has ended. Harmless if there is none."""
    _key_path(home, project_id).unlink(missing_ok=True)


def _key_path(home: Home, project_id: int | None) -> Path:
    return home.suggestions_dir / f"{project_id}.key"


def _write_key(path: Path, key: str | None) -> None:
    path.unlink(missing_ok=True)
    if key is None:
        return
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(key)


def _read_key(path: Path) -> str | None:
    try:
        return path.read_text()
    except FileNotFoundError:
        return None


def _keep_quiet(_words: str) -> None:
    """A trial says in the end what kept it waiting."""
