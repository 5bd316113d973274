"""Shortlists of models: candidates with probabilities, batch answers, and zero-shot scores."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

import pandas as pd

from plcore.arrays.words import listed, quoted
from plcore.tables.columns import LARGEST, Finder
from plcore.tables.problems import MAX_PROBLEMS, table_error
from plcore.tables.readers.candidate_rows import (
    Records,
    Row,
    a_list,
    a_name,
    a_name_or_none,
    a_number,
    a_probability,
    an_object,
    first_of,
    json_text,
    read_each,
    refuse,
    rows_reading,
)
from plcore.tables.readers.reading import TableReading, refusal
from plcore.tables.roles.cells import MISSING
from plcore.tables.text.csv import LINE_INDEX
from plcore.tables.writers.disambiguated import Disambiguated, Tell, silent

WEIGHTS = ("p", "score", "probability", "confidence", "weight")
_LABEL_NAMES = ("label", "class", "category", "name")
_DECIDED = ("candidates_before", "label", "source", "probability", "model_version", "outside", "answers")
"""What has become of a row, in lines that were written here: it is no candidate and no truth."""
_TAKEN = ("id", "data", "candidates", "model", "truth")


class ModelCandidates:
    """Records with an `id` and a list of `candidates`, each a label with its probability `p`."""

    name = "candidates of a model"

    def fits(self, records: Records) -> bool:
        seen = records[:_LOOK]
        return bool(seen) and all(
            isinstance(one, dict)
            and isinstance(one.get("candidates"), list)
            and all(isinstance(candidate, dict) and "label" in candidate for candidate in one["candidates"])
            for one in seen
        )

    def read(self, records: Records) -> TableReading:
        """One row for each id; several models may have a line each about it. Raises TableError."""
        rows: dict[Any, Row] = {}
        for place, found in enumerate(read_each(records, _own_line)):
            key = found.cells.get("id")
            known = rows.setdefault(place if key is None else f"id {key}", found)
            if known is not found:
                known.cells = {**found.cells, **known.cells}
                for label, weight in found.weights.items():
                    known.name(label, weight)
                    for source in found.sources.get(label, ()):
                        known.name(label, None, source)
        return rows_reading(list(rows.values()), self.name, row_id="id")


def _own_line(record: dict[str, Any], row: int) -> Row:
    data = {} if record.get("data") is None else an_object(record["data"], row, "data")
    number = a_name_or_none(record.get("id"), row, "id", "an id")
    taken = {*_TAKEN, *(_DECIDED if _DECIDED[0] in record else ())}
    cells = {} if number is None else {"id": number}
    for name, value in (*((name, record[name]) for name in record if name not in taken), *data.items()):
        same = (
            name in cells and str(value).strip() == cells[name]
        )  # the id, as it came: with spaces, as a number
        cells[name if name not in cells or same else f"{name} 2"] = value
    found = Row(cells, truth=a_name_or_none(record.get("truth"), row, "truth", "a label"))
    model = a_name_or_none(record.get("model"), row, "model", "a model")
    for label, weight in candidates_of(record.get("candidates"), row, "candidates"):
        found.name(label, weight, model)
    return found


def candidates_of(value: Any, row: int, where: str) -> Iterator[tuple[str, float | None]]:
    """(label, weight) of a list of names, or of objects with a label and perhaps a weight."""
    for place, one in enumerate(a_list(value, row, where)):
        inside = f"{where}[{place}]"
        if isinstance(one, dict):
            weight = first_of(one, WEIGHTS)
            label = a_name(first_of(one, _LABEL_NAMES), row, f"{inside}.label")
            yield label, None if weight is None else a_number(weight, row, f"{inside}.p", "a probability")
        else:
            yield a_name(one, row, inside), None


def own_lines(table: Disambiguated, tell: Tell = silent) -> Iterator[str]:
    """A line of JSON for each row, with all that is known of it; `ModelCandidates` reads its candidates again, those
    that are left."""
    done = 0
    for piece in table.pieces():
        answers, records = piece.answers_by_row(), piece.records()
        before, after = piece.weighted(), piece.weighted(after=True)
        for row, record in enumerate(records):
            line = {
                "id": piece.ids[row],
                "data": record,
                "candidates_before": _written(before[row]),
                "candidates": _written(after[row]),
                "label": piece.label_name(row),
                "source": str(piece.source[row]),
                "probability": piece.known_probability(row),
                "model_version": piece.version_of(row),
                **_outside(piece, row),
                "answers": [{k: v for k, v in one.items() if k != "row"} for one in answers.get(row, [])],
            }
            yield json_text(line) + "\n"
        done += len(records)
        tell(done)


def _outside(piece: Disambiguated, row: int) -> dict[str, float | None]:
    """How likely the truth is none of the candidates, of tables of which anything tells."""
    if piece.outside is None:
        return {}
    risk = float(piece.outside[row])
    return {"outside": None if isnan(risk) else round(risk, 4)}


def _written(weighted: dict[str, float | None]) -> list[dict[str, Any]]:
    return [
        {"label": name} if weight is None else {"label": name, "p": weight}
        for name, weight in weighted.items()
    ]


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


_IDS = (
    "id", "item", "item_id", "row", "row_id", "file", "filename", "file_name", "filepath", "path", "image", "task",
    "custom_id", "sequence",
)  # fmt: skip
_LABELS = ("label", "class", "category", "prediction", "candidate", "candidate_label")
_SCORES = ("score", "probability", "prob", "p", "confidence")
_SAID = frozenset(("labels", "scores"))


class ZeroShot:
    """One record for each input, with the labels and the score of each."""

    name = "zero-shot classification"

    def fits(self, records: Records) -> bool:
        seen = records[:_LOOK]
        return bool(seen) and all(
            isinstance(one, dict) and all(isinstance(one.get(name), list) for name in _SAID) for one in seen
        )

    def read(self, records: Records) -> TableReading:
        """One row for each record; scores are weights. Raises TableError."""
        return rows_reading(read_each(records, _scored), self.name, row_id="id", text="sequence")


def _scored(record: dict[str, Any], row: int) -> Row:
    labels = a_list(record.get("labels"), row, "labels")
    scores = a_list(record.get("scores"), row, "scores")
    if len(labels) != len(scores):
        message = f"expected a score for each of the {len(labels)} labels, got {len(scores)}."
        raise refuse(row, "scores", message, "Write one number for each label, in the same order.")
    found = Row({name: value for name, value in record.items() if name not in _SAID})
    for place, (label, score) in enumerate(zip(labels, scores, strict=True)):
        found.name(
            a_name(label, row, f"labels[{place}]"), a_number(score, row, f"scores[{place}]", "a score")
        )
    return found


class LongScores:
    """Tables in which each row is one label of an item with its score."""

    name = "table with a scored label in each row"

    def fits(self, cells: pd.DataFrame) -> bool:
        return _columns(cells) is not None

    def read(self, cells: pd.DataFrame) -> TableReading:
        """One row for each item, in the order in which they first occur; columns that are the same in all rows of an
        item describe it. Raises TableError."""
        columns = _columns(cells)
        if columns is None:
            raise refusal(
                f"No labels with scores were found in the columns {listed([str(name) for name in cells.columns])}.",
                "Name the columns id, label and score.",
            )
        item, label, score = columns
        finder = Finder(cells.index.tolist() if cells.index.name == LINE_INDEX else None)
        names = cells[item].str.strip()
        others = [str(name) for name in cells.columns if str(name) not in columns]
        same = [name for name in others if bool((cells[name].groupby(names).nunique() == 1).all())]
        dropped = [name for name in others if name not in same and name.strip().lower() != "rank"]
        notes = (
            [f"Columns {listed(dropped)} differ between labels of one item and were left out."]
            if dropped
            else []
        )
        rows: dict[str, Row] = {}
        kept = cells[[item, *same]].to_dict("records")
        lines = zip(names, cells[label].str.strip(), cells[score].str.strip(), strict=True)
        for place, (name, text, number) in enumerate(lines):
            row = rows.setdefault(name, Row({str(column): value for column, value in kept[place].items()}))
            weight = _score(number)
            if len(finder.problems) >= MAX_PROBLEMS:
                break
            if not name:
                finder.add(place, item, "the row names no item.", "Write its id, or remove the row.")
            elif not text:
                finder.add(place, label, "the label is empty.", "Write it, or remove the row.")
            elif text in MISSING:
                message = f"{quoted(text)} is no label: programs write it where they have nothing."
                finder.add(place, label, message, "Remove the row, or give the class another name.")
            elif text in row.weights:
                message = f"{quoted(name)} has the label {quoted(text)} twice."
                finder.add(place, label, message, "Keep one of the two scores.")
            elif weight is None:
                message = f"expected a score, a number from 0 on, got {quoted(number)}."
                finder.add(place, score, message, "Write such a number, or remove the row.")
            else:
                row.name(text, weight)
        if finder.problems:
            raise table_error(finder.problems)
        return rows_reading(list(rows.values()), self.name, describing=same, row_id=item, notes=notes)


def _score(text: str) -> float | None:
    try:
        score = float(text)
    except ValueError:
        return None
    return score if 0 <= score <= LARGEST else None


def _columns(cells: pd.DataFrame) -> tuple[str, str, str] | None:
    """The columns of items, labels and scores; None where they are not there, or no item has two labels."""
    low = {str(name).strip().lower(): str(name) for name in reversed(cells.columns)}
    found = [next((low[name] for name in names if name in low), None) for names in (_IDS, _LABELS, _SCORES)]
    item, label, score = found
    if item is None or label is None or score is None:
        return None
    return (item, label, score) if bool(cells[item].duplicated().any()) else None
