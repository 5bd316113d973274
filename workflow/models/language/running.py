"""A run over the rows of a table: tries, waits, continues where it stopped; and the columns it makes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from threading import Event, Lock, Thread

import pandas as pd

from plcore.tables import to_csv_bytes
from workflow.models.language.endpoint import BusyError, ChatEndpoint, EndpointError, RequestRefusedError
from workflow.models.language.ledger import Ledger
from workflow.models.language.replies import ModelReply, ReplyError, Shortlist, read_reply
from workflow.models.language.requests import LabelTask, RowRequest, Tokens

TRIED = 5
"""Rows that are tried before the estimate."""
AT_ONCE = 4
"""Default number of requests under way."""
FORMS = ((True, True), (True, False), (False, True), (False, False))
"""Whether a request has a JSON schema, and asks for log-probabilities; a server that refuses one form gets the next."""
_ATTEMPTS, _LONGEST = 10, 600.0
"""Times that a request is sent, and the longest pause in seconds between two that the server did not ask for."""
_TOLD = 30.0
"""Seconds of a pause that is reported."""
_REFUSED_AT_ONCE = 10
"""Refused requests without a reply in between that end a run."""


class SuggestionRun:
    """A run of a language model over texts; see `AT_ONCE`.

    texts : of the rows; an empty one is not sent      ledger : the journal, which says what is done already
    tell : called with a sentence about a pause
    wait, now : how to wait for some seconds, and the time

    Attributes
    ----------
    refused : {row: why} requests that the server refused in this run; the next run sends them again
    total : rows with a text
    """

    def __init__(
        self,
        task: LabelTask,
        texts: Sequence[str],
        endpoint: ChatEndpoint,
        ledger: Ledger,
        *,
        at_once: int = AT_ONCE,
        tell: Callable[[str], None],
        wait: Callable[[float], object] | None = None,
        now: Callable[[], datetime] = datetime.now,
    ) -> None:
        self._stop, self._lock, self._ended = Event(), Lock(), False
        self._endpoint, self._ledger, self._at_once = endpoint, ledger, at_once
        self._tell, self._wait, self._now = tell, wait or self._stop.wait, now
        self._requests = task.requests(texts)
        self._sent = [request for request in self._requests if texts[request.row].strip()]
        self._form, self._form_known = 0, False
        self._until = self._told = datetime.min
        self._refused_at_once = 0
        self.refused: dict[int, str] = {}
        for request in self._sent:
            record = ledger.records.get(request.row)
            if record is not None and record.prompt != request.sha256:
                raise EndpointError(
                    f"The journal {ledger.path} has a reply to another question about row {request.row}."
                )

    @property
    def total(self) -> int:
        return len(self._sent)

    @property
    def done(self) -> int:
        """Return the number of rows that have a reply, or were refused in this run."""
        return len(self._ledger.records) + len(self.refused)

    def stop(self) -> None:
        """End the run: `run` returns after the requests under way, with rows missing."""
        self._ended = True
        self._stop.set()

    def missing(self) -> list[RowRequest]:
        """Return the requests of the rows without a reply, but those that were refused in this run."""
        return [one for one in self._sent if one.row not in self._ledger.records and one.row not in self.refused]

    def upper_bound(self) -> Tokens:
        """Return the most tokens that the missing rows can take, without lost requests."""
        return sum((request.most for request in self.missing()), Tokens())

    def likely(self) -> Tokens | None:
        """Return the tokens that the missing rows take if they go on as those before; None if usage is unknown."""
        done = [request for request in self._sent if request.row in self._ledger.records]
        used = [self._ledger.records[request.row].reply.tokens for request in done]
        known = [tokens for tokens in used if tokens is not None]
        if not known or len(known) < len(used):
            return None
        before, read = sum(request.most.read for request in done), sum(tokens.read for tokens in known)
        missing = self.missing()
        written = sum(tokens.written for tokens in known) * len(missing) / len(known)
        return Tokens(round(sum(request.most.read for request in missing) * read / before), round(written))

    def try_rows(self, count: int = TRIED) -> list[int]:
        """Ask about the first missing rows, one after the other, and return them. Finds out which form of request the
        server accepts. Raises as `run`."""
        asked = self.missing()[:count]
        self._ledger.require_room(self.upper_bound())
        for request in asked:
            self._ask_or_leave(request)
        return [request.row for request in asked if request.row not in self.refused]

    def run(self, on_step: Callable[[int, int], None]) -> None:
        """Ask about all missing rows, until `stop`. on_step : called with the rows done so far, and all

        Raises OverCapError before the first request if it could cross the cap, and later if lost requests used up the
        rest; EndpointError. What was replied is kept.
        """
        while not self._form_known and not self._ended and self.missing():
            self.try_rows(1)
        self._ledger.require_room(self.upper_bound())
        missing = iter(self.missing())

        def work() -> None:
            while not self._stop.is_set():
                with self._lock:
                    request = next(missing, None)
                if request is None:
                    return
                self._ask_or_leave(request)
                with self._lock:
                    on_step(self.done, self.total)

        def work_or_fail() -> None:
            try:
                work()
            except BaseException as error:
                failed.append(error)
                self._stop.set()  # the others end after the request they wait for

        failed: list[BaseException] = []
        # A pool's threads would keep the process alive until the server has replied.
        threads = [Thread(target=work_or_fail, name="ask-model", daemon=True) for _ in range(self._at_once)]
        for one in threads:
            one.start()
        try:
            for one in threads:
                one.join()
        finally:
            self._stop.set()
            for one in threads:
                one.join()
        if failed:
            raise failed[0]
        if not self._ended:
            self._stop.clear()

    def shortlists(self) -> list[Shortlist]:
        """Return the shortlist of every row: "empty" without text, "refused" if the server refused the request."""
        sent, replies = {request.row for request in self._sent}, self._ledger.records
        return [
            read_reply(replies[request.row].reply, request.order)
            if request.row in replies
            else Shortlist("refused" if request.row in sent else "empty")
            for request in self._requests
        ]

    def _ask(self, request: RowRequest) -> None:
        """Ask until there is a reply, and store it."""
        attempt = 0
        while self._hold():
            self._ledger.ask(request)
            begun = time.monotonic()
            try:
                reply = self._reply(request)
            except RequestRefusedError:
                self._ledger.fail(request)
                if self._form_known or self._form + 1 == len(FORMS):
                    raise
                self._form += 1
            except EndpointError:
                self._ledger.fail(request)
                raise
            except BusyError as busy:
                if not busy.charged:
                    self._ledger.fail(request)
                attempt += 1
                if attempt == _ATTEMPTS:
                    raise EndpointError(
                        f"{busy} It was tried {attempt} times. Fix: run it again later: it continues with the rows "
                        "that are missing."
                    ) from busy
                self._pause(busy, attempt)
            else:
                self._form_known, self._refused_at_once = True, 0
                self._ledger.reply(request, self._endpoint.model, reply, round(time.monotonic() - begun, 3))
                return

    def _reply(self, request: RowRequest) -> ModelReply:
        schema, logprobs = FORMS[self._form]
        response = self._endpoint.complete(request.body(self._endpoint.model, schema=schema, logprobs=logprobs))
        try:
            return ModelReply.from_response(response)
        except ReplyError as error:
            raise BusyError(str(error)) from error

    def _ask_or_leave(self, request: RowRequest) -> None:
        """Ask, or leave out a row whose request is refused, such as a text that is too long."""
        try:
            self._ask(request)
        except RequestRefusedError as error:
            with self._lock:
                self.refused[request.row] = str(error)
                self._refused_at_once += 1
                if not self._form_known:
                    self._form = 0
                if self._refused_at_once == _REFUSED_AT_ONCE:
                    raise EndpointError(f"{error} The last {_REFUSED_AT_ONCE} requests were refused.") from error

    def _pause(self, busy: BusyError, attempt: int) -> None:
        """Have all requests wait: as long as the server asks for, or twice as long as the last time."""
        pause = max(busy.after, min(2.0**attempt, _LONGEST))
        with self._lock:
            until = self._now() + timedelta(seconds=pause)
            self._until = max(self._until, until)
            if pause < _TOLD or until < self._told + timedelta(seconds=_TOLD):
                return
            self._told = until
        day = "" if until.date() == self._now().date() else f" on {until:%Y-%m-%d}"
        self._tell(f"{busy} The run continues at {until:%H:%M}{day}.")

    def _hold(self) -> bool:
        """Wait for the end of a pause; return whether the run goes on."""
        while (left := (self._until - self._now()).total_seconds()) > 0 and not self._stop.is_set():
            self._wait(left)
        return not self._stop.is_set()


def with_shortlists(
    cells: pd.DataFrame, names: Sequence[str], shortlists: Sequence[Shortlist]
) -> tuple[pd.DataFrame, str]:
    """Return a table with the shortlists next to its columns, and the name of the column of candidates.

    A cell of candidates is JSON: `{"wren": 0.8, "robin": 0.2}`; or a list of all classes if none is known to be
    likelier. An import leaves out the other columns, whose names begin with `winnow_`: outcome, and kind of score.
    """
    everything = json.dumps(list(names), ensure_ascii=False)
    shares = [{names[place]: round(max(share, 1e-6), 6) for place, share in one.shares.items()} for one in shortlists]
    lists = [json.dumps(one, ensure_ascii=False) if one else everything for one in shares]
    column = _free("candidates", cells)
    added = {
        column: lists,
        _free("winnow_suggestion", cells): [one.outcome for one in shortlists],
        _free("winnow_score", cells): [one.scores for one in shortlists],
    }
    return pd.concat([cells, pd.DataFrame(added, index=cells.index, dtype="str")], axis=1), column


def write_shortlists(cells: pd.DataFrame, names: Sequence[str], shortlists: Sequence[Shortlist], path: Path) -> str:
    """Write `with_shortlists` as CSV, whole or not at all; return the name of the column of candidates."""
    made, column = with_shortlists(cells, names, shortlists)
    aside = path.with_name(f".{path.name}.part")
    try:
        aside.write_bytes(to_csv_bytes(made))
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
    return column


def _free(name: str, cells: pd.DataFrame) -> str:
    """Return the name, with a number if a column has it already."""
    taken, new, number = {str(one).strip().casefold() for one in cells.columns}, name, 2
    while new in taken:
        new, number = f"{name}_{number}", number + 1
    return new
