"""A reply of a language model, read as candidates with weights.

The weights come from the best source that a reply has: the log-probabilities of the one token that is the first number;
the weights it states; or 1/rank. The mean log-probability of a class's name is never used: it favours long names.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import accumulate
from typing import Any

from workflow.models.language.requests import MOST_LISTED, NONE, Tokens

SCORES = {
    "logprobs": "the log-probabilities of the class numbers",
    "weights": "the weights that the model states",
    "ranks": "the order of the classes (1/rank)",
}
"""Kinds of scores, from the best, in words."""
_FIRST_NUMBER = re.compile(r'"number"\s*:\s*"?(\d+)')
_DIGITS = re.compile(r"\d{1,4}")


class ReplyError(ValueError):
    """A server's reply is not a reply of a chat model."""


@dataclass(frozen=True)
class ModelReply:
    """The parts of a reply that count, as the journal stores them.

    content : text of the reply      refused : whether the model or the server declined to answer
    numbers : {number: log-probability} at the place of the first number, if the server sends it
    tokens : used, if the server says so
    """

    content: str
    refused: bool = False
    numbers: Mapping[str, float] = field(default_factory=dict)
    tokens: Tokens | None = None

    @classmethod
    def from_response(cls, response: object) -> ModelReply:
        """Read the JSON of `POST /chat/completions`. Raises ReplyError."""
        try:
            choice = response["choices"][0]  # type: ignore[index]
            message = choice["message"]
            content, declined = message.get("content"), message.get("refusal")
        except (TypeError, KeyError, IndexError, AttributeError) as error:
            raise ReplyError("The server sent JSON without a reply of a chat model.") from error
        refused = bool(declined) or choice.get("finish_reason") == "content_filter"
        content = content if isinstance(content, str) else ""
        return cls(content, refused, _numbers(choice.get("logprobs")), _usage(response))

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> ModelReply:
        tokens = stored["tokens"]
        return cls(**{**stored, "tokens": None if tokens is None else Tokens(**tokens)})


@dataclass(frozen=True)
class Shortlist:
    """A row's candidates by the model.

    outcome : "listed"; or "none", "refused" or "broken", or "empty" for a row without text: every class stays possible
    scores : kind of score, one of `SCORES`; '' unless listed
    shares : {place of the class: share}, which sum to 1; empty unless listed
    """

    outcome: str
    scores: str = ""
    shares: Mapping[int, float] = field(default_factory=dict)


def read_reply(reply: ModelReply, order: Sequence[int]) -> Shortlist:
    """Return the candidates of a reply. order : class with number 1, 2, ..., as in `RowRequest`"""
    if reply.refused:
        return Shortlist("refused")
    entries = _entries(reply.content)
    if entries is None:
        return Shortlist("broken")
    stated = {}
    for one in entries:
        number = _number(one.get("number")) if isinstance(one, Mapping) else None
        if number is not None and number <= len(order) and number not in stated:
            stated[number] = one.get("weight")
    if not stated:
        return Shortlist("broken" if entries else "none")
    listed = list(stated)[:MOST_LISTED]
    scores, shares = _scored(reply.numbers, {number: stated[number] for number in listed}, len(order))
    if max(listed, key=shares.__getitem__) == NONE:  # the first of equals
        return Shortlist("none")
    found = {number: share for number, share in shares.items() if number != NONE and share > 0}
    total = sum(found.values())
    return Shortlist("listed", scores, {order[number - 1]: share / total for number, share in found.items()})


def _scored(numbers: Mapping[str, float], stated: Mapping[int, object], m: int) -> tuple[str, dict[int, float]]:
    """Return the kind of score, and the score of each listed number."""
    # If a tokenizer splits numbers into digits, "1" may begin 12.
    one_token = m <= 9 or any(len(number) > 1 for number in numbers)
    if one_token and any(str(number) in numbers for number in stated):
        least = min(numbers.values())  # the server sends only the 20 likeliest tokens
        best = max(numbers.values())
        logs = {number: numbers.get(str(number), least) - best for number in stated}
        return "logprobs", {number: max(math.exp(log), 1e-6) for number, log in logs.items()}
    weights = {
        number: float(weight)
        for number, weight in stated.items()
        if isinstance(weight, (int, float)) and not isinstance(weight, bool) and 0 <= weight < 1e9
    }
    if len(weights) == len(stated) and any(weights.values()):
        return "weights", weights
    return "ranks", {number: 1 / rank for rank, number in enumerate(stated, start=1)}


def _entries(content: str) -> list[Any] | None:
    """Return the list of the first object with `labels` in a text; None if there is none."""
    decoder = json.JSONDecoder()
    for begin in (found.start() for found in re.finditer(r'\{\s*"labels"', content)):
        try:
            value, _ = decoder.raw_decode(content, begin)
        except (ValueError, RecursionError):
            continue
        if isinstance(value["labels"], list):
            return value["labels"]
    return None


def _number(value: object) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    return int(value) if isinstance(value, str) and _DIGITS.fullmatch(value) else None


def _numbers(logprobs: object) -> dict[str, float]:
    """Return {number: log-probability} of the likeliest tokens at the first number, if that is one token."""
    try:
        places = [(str(one["token"]), one) for one in logprobs["content"]]  # type: ignore[index]
        found = _FIRST_NUMBER.search("".join(token for token, _ in places))
        if found is None:
            return {}
        ends = accumulate(len(token) for token, _ in places)
        token, place = next(one for one, end in zip(places, ends, strict=True) if end > found.start(1))
        if _bare(token) != found[1]:
            return {}
        pairs = [(token, place), *((str(one["token"]), one) for one in place["top_logprobs"])]
        return {
            _bare(token): float(one["logprob"])
            for token, one in reversed(pairs)
            if _DIGITS.fullmatch(_bare(token)) and math.isfinite(one["logprob"])
        }
    except (TypeError, KeyError, ValueError):
        return {}  # many servers accept the option and send nothing, or something else


def _bare(token: str) -> str:
    return token.strip(' \n"')


def _usage(response: Any) -> Tokens | None:
    try:
        used = response["usage"]
        read, written = used["prompt_tokens"], used["completion_tokens"]
    except (TypeError, KeyError):
        return None
    fits = isinstance(read, int) and isinstance(written, int) and read >= 0 <= written
    return Tokens(read, written) if fits else None
