"""The journal of a run: the replies so far, the tokens spent, and the cap that no request crosses.

A line is appended before each request and after it, so that a killed run knows what it has and what it may have
spent. A request without a later line counts as spent up to its upper bound: the server may have answered it.
"""

from __future__ import annotations

import fcntl
import json
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Self

from workflow.models.language.replies import ModelReply
from workflow.models.language.requests import LanguageModelError, RowRequest, Tokens

VERSION = 1
_PRICE = re.compile(r"(\d+(?:\.\d+)?)/(\d+(?:\.\d+)?)\s*([^\d\s./]{1,3})")
_MONEY = re.compile(r"(\d+(?:\.\d+)?)\s*([^\d\s./]{1,3})")
_TOKENS = re.compile(r"(\d[\d_,]*)(?:\s*tokens)?")


class LedgerError(LanguageModelError):
    """A journal, a price or a cap that cannot be used."""


class OverCapError(LanguageModelError):
    """A request could cross the cap, and was not sent."""


@dataclass(frozen=True)
class TokenPrices:
    """Prices that the owner states, per million tokens. currency : such as USD"""

    read: float
    written: float
    currency: str

    @classmethod
    def parse(cls, text: str) -> TokenPrices:
        """Read `0.15/0.60 USD`. Raises LedgerError."""
        found = _PRICE.fullmatch(text.strip())
        if found is None:
            raise LedgerError(
                "A price is per million prompt tokens, then per million reply tokens, with the currency, such as "
                f"'0.15/0.60 USD'. Got {text!r:.60}."
            )
        return cls(float(found[1]), float(found[2]), found[3])

    def cost(self, tokens: Tokens) -> float:
        return (self.read * tokens.read + self.written * tokens.written) / 1e6


@dataclass(frozen=True)
class TokenCap:
    """The most that a run may spend: money if there are prices to compute it with, else tokens."""

    most: float
    prices: TokenPrices | None = None

    @classmethod
    def parse(cls, text: str, prices: TokenPrices | None) -> TokenCap:
        """Read `2000000`, tokens, or `5 USD`, money. Raises LedgerError, also for money without prices."""
        if found := _TOKENS.fullmatch(text.strip()):
            return cls(float(re.sub("[_,]", "", found[1])))
        found = _MONEY.fullmatch(text.strip())
        if found is None:
            raise LedgerError(
                f"A cap is a number of tokens, such as 2000000, or money, such as '5 USD'. Got {text!r:.60}."
            )
        if prices is None:
            raise LedgerError("A cap in money needs prices: unknown is not free. Fix: state them, too.")
        if prices.currency != found[2]:
            raise LedgerError(f"The cap is in {found[2]}, the prices are in {prices.currency}. Fix: use one currency.")
        return cls(float(found[1]), prices)

    def allows(self, tokens: Tokens) -> bool:
        return (tokens.total if self.prices is None else self.prices.cost(tokens)) <= self.most

    def __str__(self) -> str:
        return f"{self.most:,.0f} tokens" if self.prices is None else f"{self.most:,.2f} {self.prices.currency}"


@dataclass(frozen=True)
class LedgerRecord:
    """A reply to a row's request. prompt : SHA-256 of the messages"""

    row: int
    prompt: str
    model: str
    reply: ModelReply
    seconds: float


class Ledger:
    """The journal at a path, opened or begun; one process at a time. Usable with `with`, at whose end a journal
    without any request is removed.

    about : facts that must be the same when a run continues, such as the model
    Raises LedgerError if it is in use, damaged, or the journal of another run; OSError.

    Attributes
    ----------
    records : {row: its reply}
    spent : tokens of all requests so far; those without usage count up to their upper bound
    unknown : replies that did not say their usage
    """

    def __init__(self, path: Path, about: Mapping[str, str], cap: TokenCap | None = None) -> None:
        self.path, self.cap = path, cap
        self.records: dict[int, LedgerRecord] = {}
        self.spent, self.unknown = Tokens(), 0
        self._open: defaultdict[int, list[Tokens]] = defaultdict(list)
        self._lock = Lock()
        self._file = path.open("a+b")
        try:
            self._begin(dict(about))
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if not self._open:  # nothing was ever asked
            self.path.unlink()
        self._file.close()

    def require_room(self, more: Tokens) -> None:
        """Raise OverCapError if what is spent, and these tokens, cross the cap."""
        if self.cap is not None and not self.cap.allows(self.spent + more):
            raise OverCapError(
                f"With {(self.spent + more).total:,} tokens at most, {self.spent.total:,} of them spent, the run could "
                f"cross its cap of {self.cap}. Fix: raise the cap, or take fewer rows."
            )

    def ask(self, request: RowRequest) -> None:
        """Note that a request is about to be sent. Raises OverCapError if it could cross the cap."""
        with self._lock:
            self.require_room(request.most)
            self._write(_asked(request.row, request.most))

    def fail(self, request: RowRequest) -> None:
        """Note that the server has refused a request, so that it costs nothing."""
        with self._lock:
            self._write({"failed": request.row})

    def reply(self, request: RowRequest, model: str, reply: ModelReply, seconds: float) -> None:
        """Store a reply."""
        record = LedgerRecord(request.row, request.sha256, model, reply, seconds)
        stored = asdict(record) | {"reply": reply.to_json(), "at": datetime.now(UTC).isoformat(timespec="seconds")}
        with self._lock:
            self._write(stored)

    def _begin(self, about: dict[str, str]) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise LedgerError(f"Another run writes {self.path}. Fix: wait until it has ended.") from error
        self._file.seek(0)
        whole, _, cut = self._file.read().rpartition(b"\n")
        self._file.truncate(self._file.tell() - len(cut))  # a line that was cut off when the run was killed
        if not whole:
            self._write({"journal": VERSION, "about": about})
            return
        for number, line in enumerate(whole.split(b"\n"), start=1):
            try:
                event = json.loads(line)
                if number == 1:
                    self._require_same(event["about"], about)
                else:
                    self._follow(event)
            except LedgerError:
                raise
            except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
                raise LedgerError(
                    f"Line {number} of {self.path} is not a line of a journal. Fix: delete the file; then every row is "
                    "asked again."
                ) from error

    def _require_same(self, before: Mapping[str, str], about: Mapping[str, str]) -> None:
        differ = [name for name in about if before.get(name) != about[name]]
        if differ:
            raise LedgerError(
                f"{self.path} is the journal of another run: {' and '.join(differ)} differ. Fix: choose another -o, or "
                "delete the journal to ask every row again."
            )

    def _write(self, event: Mapping[str, Any]) -> None:
        """Append a line, and follow it."""
        self._file.write(json.dumps(event).encode() + b"\n")
        self._file.flush()
        if "journal" not in event:
            self._follow(event)

    def _follow(self, event: Mapping[str, Any]) -> None:
        if "asked" in event:
            most = Tokens(*event["most"])
            self._open[event["asked"]].append(most)
            self.spent += most
            return
        row = event["failed"] if "failed" in event else event["row"]
        most = self._open[row].pop()
        reply = None if "failed" in event else ModelReply.from_json(event["reply"])
        used = Tokens() if reply is None else most if reply.tokens is None else reply.tokens
        self.spent = Tokens(self.spent.read - most.read + used.read, self.spent.written - most.written + used.written)
        if reply is not None:
            self.unknown += reply.tokens is None
            self.records[row] = LedgerRecord(row, event["prompt"], event["model"], reply, event["seconds"])


def _asked(row: int, most: Tokens) -> dict[str, object]:
    return {"asked": row, "most": [most.read, most.written]}
