"""The output file of OpenAI's batch interface -> a row for each request, its answers as candidates.

A line is `{"custom_id", "response": {"status_code", "body": {"model", "choices": [{"message": {"content"}, "logprobs":
{"content": [{"token", "logprob", "top_logprobs": [{"token", "logprob"}]}]}}]}}, "error"}`. Several choices (n > 1) are
as many votes. Content that is JSON lists labels, perhaps with weights. Of a single choice that is a plain label, the
probabilities of its first token are those of the labels, if no two labels begin with the same token.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from plcore.common.words import listed, quoted
from plcore.tables.formats.candidate_rows import Row, rows_reading
from plcore.tables.formats.language_models import candidates_of
from plcore.tables.formats.reading import TableReading
from plcore.tables.formats.record_values import (
    Records,
    a_list,
    a_name,
    a_name_or_none,
    a_probability,
    an_object,
    first_of,
    read_each,
    refuse,
)

_LISTS = ("candidates", "labels", "predictions", "classes")
_SINGLE = ("label", "class", "category")
_FENCED = re.compile(r"\s*```\w*\s(.*?)```\s*", re.DOTALL)
_MOST_WORDS = 12
_LOOK = 50
_ASK = "Ask the model for the label alone, or for JSON with a list of labels; or remove the line."

Weighted = list[tuple[str, float | None]]


@dataclass(frozen=True)
class _Request:
    """What came back: the labels of each choice, and the probabilities of the first token of a plain label."""

    number: str | None
    model: str | None
    choices: tuple[Weighted, ...]
    tokens: dict[str, float]
    failed: bool = False


class Batches:
    """Lines with the answers of a chat model to requests."""

    name = "batch of a language model"

    def fits(self, records: Records) -> bool:
        seen = records[:_LOOK]
        return bool(seen) and all(
            isinstance(one, dict) and "custom_id" in one and ("response" in one or "error" in one)
            for one in seen
        )

    def read(self, records: Records) -> TableReading:
        """One row for each request. Raises TableError, also where an answer is prose and no label."""
        requests = read_each(records, _request)
        notes = []
        failed = sum(request.failed for request in requests)
        if failed:
            notes.append(
                f"{failed} requests failed or were refused by the model, so nothing is known of their rows."
            )
        labels = sorted({label for request in requests for choice in request.choices for label, _ in choice})
        odd = _odd_token(labels, requests)
        if odd is not None:
            notes.append(
                f"The probabilities of the tokens were not read: {odd}. Ask for several choices instead."
            )
        rows = []
        for request in requests:
            row = Row({} if request.number is None else {"custom_id": request.number})
            if request.tokens and odd is None:
                for token, probability in request.tokens.items():
                    for label in _begin(labels, token):
                        row.name(label, probability, request.model)
            else:
                for choice in request.choices:
                    for label, weight in choice:
                        share = (1.0 if weight is None else weight) / len(request.choices)
                        row.name(label, share, request.model)
            rows.append(row)
        return rows_reading(rows, self.name, row_id="custom_id", notes=notes)


def _request(record: dict[str, Any], row: int) -> _Request:
    number = a_name_or_none(record.get("custom_id"), row, "custom_id", "an id")
    if record.get("response") is None:
        return _Request(number, None, (), {}, failed=True)
    response = an_object(record["response"], row, "response")
    if record.get("error") is not None or response.get("status_code", 200) != 200:
        return _Request(number, None, (), {}, failed=True)
    where = "response.body"
    body = an_object(response.get("body"), row, where)
    model = a_name_or_none(body.get("model"), row, f"{where}.model", "a model")
    found: list[Weighted] = []
    values = a_list(body.get("choices"), row, f"{where}.choices")
    tokens: dict[str, float] = {}
    for place, value in enumerate(values):
        inside = f"{where}.choices[{place}]"
        choice = an_object(value, row, inside)
        message = an_object(choice.get("message"), row, f"{inside}.message")
        content = message.get("content")
        if content is None:  # refused
            continue
        text = a_name(content, row, f"{inside}.message.content", "an answer")
        labels, is_plain = _labels(text, row, f"{inside}.message.content")
        found.append(labels)
        if is_plain and len(values) == 1:
            tokens = _first_token(choice.get("logprobs"), row, f"{inside}.logprobs")
    return _Request(number, model, tuple(found), tokens, failed=not found)


def _labels(text: str, row: int, where: str) -> tuple[Weighted, bool]:
    """The labels of an answer with their weights, and whether it is one plain label."""
    fenced = _FENCED.fullmatch(text)
    inner = fenced[1].strip() if fenced else text
    try:
        value = json.loads(inner)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        named = first_of(value, _LISTS)
        if named is not None:
            value = named
        elif first_of(value, _SINGLE) is not None:
            value = [value]
        else:
            value = [{"label": name, "p": weight} for name, weight in value.items()]
    if isinstance(value, dict):
        value = [{"label": name, "p": weight} for name, weight in value.items()]
    if isinstance(value, list):
        return list(candidates_of(value, row, where)), False
    if isinstance(value, str):
        inner = value
    if len(inner.split()) > _MOST_WORDS or "\n" in inner.strip():
        raise refuse(row, where, f"the answer is prose and no label: {quoted(inner)}.", _ASK)
    return [(a_name(inner, row, where), None)], True


def _first_token(value: Any, row: int, where: str) -> dict[str, float]:
    """Probabilities of the tokens that the answer could have begun with."""
    if value is None:
        return {}
    content = a_list(an_object(value, row, where).get("content"), row, f"{where}.content")
    if not content:
        return {}
    first = an_object(content[0], row, f"{where}.content[0]")
    tokens: dict[str, float] = {}
    inside = f"{where}.content[0].top_logprobs"
    for place, one in enumerate(a_list(first.get("top_logprobs"), row, inside)):
        top = an_object(one, row, f"{inside}[{place}]")
        token = top.get("token")
        if not isinstance(token, str):
            raise refuse(
                row, f"{inside}[{place}].token", "expected a text.", "Write the token as the model gave it."
            )
        probability = a_probability(top.get("logprob"), row, f"{inside}[{place}].logprob")
        if token.strip():
            tokens[token.strip()] = tokens.get(token.strip(), 0.0) + probability
    return tokens


def _begin(labels: Sequence[str], token: str) -> list[str]:
    return [label for label in labels if label.startswith(token)]


def _odd_token(labels: Sequence[str], requests: Sequence[_Request]) -> str | None:
    """Why the tokens do not tell the labels apart; None where they do."""
    for request in requests:
        for token in request.tokens:
            begun = _begin(labels, token)
            if len(begun) > 1:
                return f"several labels begin with {quoted(token)}, as {listed(begun, 3)}"
        answered = {label for choice in request.choices for label, _ in choice}
        if request.tokens and not any(_begin(sorted(answered), token) for token in request.tokens):
            return f"the answer {listed(sorted(answered), 1)} begins with none of {listed(list(request.tokens), 3)}"
    return None
