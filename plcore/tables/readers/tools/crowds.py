"""Answers of crowds, one in each line: Mechanical Turk, Prolific and Appen.

Each layout becomes a table with one voted label in each line, which `plcore.tables.readers.tools.votes` reads.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import pandas as pd

from plcore.arrays.words import listed, quoted
from plcore.tables.columns import Finder
from plcore.tables.problems import table_error
from plcore.tables.readers.candidate_rows import Json, JsonObject
from plcore.tables.readers.mapping import TableTool
from plcore.tables.readers.reading import (
    Fingerprint,
    TableReading,
    by_plain_name,
    first_named,
    lines_of,
    names,
    plain_name,
    refusal,
    texts_of,
)
from plcore.tables.readers.tools.votes import LEFT_OUT, VoteColumns, votes_reading

_LABEL, _TIME, _GOLD, _STATUS = "\x1flabel", "\x1ftime", "\x1fgold", "\x1fstatus"
"""Columns that are made here; no file has their names."""

_YES, _NO = ("true", "on", "1"), ("false", "", "off", "0")
_TURK_TIMES = ("%a %b %d %H:%M:%S UTC %Y", "%a %b %d %H:%M:%S GMT %Y", "%a %b %d %H:%M:%S %Z %Y")
_TASK_ANSWERS = "answer.taskanswers"


@dataclass(frozen=True)
class _Answers:
    """The lines that count.

    labels : the labels of each line; several are one answer, none is none
    golds : the true label of each line, "" where it is not known
    times : of each line; they need not be known
    kept : whether a line counts      notes : why others do not
    """

    labels: Sequence[Sequence[str]]
    kept: Sequence[bool]
    times: Sequence[str]
    golds: Sequence[str] = ()
    notes: tuple[str, ...] = ()


def _reading(cells: pd.DataFrame, answers: _Answers, columns: VoteColumns, name: str) -> TableReading:
    """The tasks with these answers; a task of which no answer is left stays, without votes."""
    places = [(place, label) for place, labels in enumerate(answers.labels) for label in (labels or [""])]
    at = [place for place, _ in places]
    lines = cells.iloc[at].copy()
    timed = all(answers.times)
    lines[_LABEL] = [label for _, label in places]
    # Without times the last line of the file counts; the labels of one line are one answer.
    lines[_TIME] = [answers.times[place] if timed else str(place) for place in at]
    lines[_STATUS] = ["" if answers.kept[place] else LEFT_OUT for place in at]
    if answers.golds:
        lines[_GOLD] = [answers.golds[place] for place in at]
    said = replace(columns, label=_LABEL, time=_TIME, status=_STATUS, gold=_GOLD if answers.golds else None)
    return votes_reading(lines, said, name, answers.notes)


def _left_out(lines: Sequence[bool], why: str) -> tuple[str, ...]:
    """What is to be said of lines that do not count."""
    count = sum(lines)
    return (f"Left out: {count} answer{'s' if count > 1 else ''} {why}.",) if count else ()


def _read_turk(cells: pd.DataFrame, called: str) -> TableReading:
    """One row for each task, in the order in which they first occur. Raises TableError."""
    columns = by_plain_name(cells.columns)
    question = _question(list(map(str, cells.columns)))
    if question is None:
        answers = [name for plain, name in columns.items() if plain.startswith("answer.")]
        raise refusal(
            f"Several questions were answered: {listed(answers)}.", "Keep the columns of one question."
        )
    labels = _json_answers(cells, question[0]) if question[1] is None else _marked(cells, question)
    status = texts_of(cells, columns.get("assignmentstatus"))
    rejected = [text.lower() == "rejected" for text in status]
    notes = _left_out(rejected, "that the requester rejected")
    times = [_turk_time(text) for text in texts_of(cells, columns.get("submittime"))]
    inputs = tuple(name for plain, name in columns.items() if plain.startswith("input."))
    about = tuple(name for plain, name in columns.items() if not plain.startswith("input."))
    task = columns["hitid"]
    given = _Answers(labels, [not out for out in rejected], times, notes=notes)
    voted = VoteColumns(task, inputs, columns["workerid"], _LABEL, about_votes=about)
    return _reading(cells, given, voted, called)


def _question(columns: Sequence[str]) -> tuple[str, tuple[str, ...] | None] | None:
    """The question that was asked: a column of JSON and None; or the part of the names before the options, and the
    columns. None if there is no such question, or several."""
    answers = [name for name in columns if name.strip().lower().startswith("answer.")]
    for name in answers:
        low = name.strip().lower()
        if low == _TASK_ANSWERS or (low.endswith(".labels") and len(answers) == 1):
            return name, None
    groups: dict[str, list[str]] = {}
    for name in answers:
        stem, _, option = name.strip()[len("answer.") :].rpartition(".")
        if stem and option.lower() not in ("label", "labels"):
            groups.setdefault(stem, []).append(name)
    marked = {stem: options for stem, options in groups.items() if len(options) > 1}
    if len(marked) != 1:
        return None
    ((stem, options),) = marked.items()
    return stem, tuple(options)


def _marked(cells: pd.DataFrame, question: tuple[str, tuple[str, ...] | None]) -> list[list[str]]:
    """The options of each line that are true."""
    finder, found = Finder(lines_of(cells)), []
    options = {name: name.rpartition(".")[2].strip() for name in question[1] or ()}
    texts = {name: texts_of(cells, name) for name in options}
    for row in range(len(cells)):
        chosen = []
        for name, option in options.items():
            text = texts[name][row].lower()
            if text in _YES:
                chosen.append(option)
            elif text not in _NO:
                finder.add(row, name, f"expected true or false, got {quoted(text)}.", "Write true or false.")
        found.append(chosen)
    if finder.problems:
        raise table_error(finder.problems)
    return found


def _json_answers(cells: pd.DataFrame, column: str) -> list[list[str]]:
    """The labels in `[{"q": {"cat": true, "dog": false}}]`, `[{"q": "cat"}]` and `[{"q": {"label": "cat"}}]`."""
    finder = Finder(lines_of(cells))
    parsed: list[JsonObject] = []
    for row, text in enumerate(texts_of(cells, column)):
        value = _parsed(text)
        if value is None:
            finder.add(
                row, column, "expected the answers as JSON, as in [{...}].", "Correct the cell, or remove it."
            )
        parsed.append(value or {})
    if finder.problems:
        raise table_error(finder.problems)
    asked = dict.fromkeys(name for one in parsed for name, value in one.items() if _chosen(value))
    if len(asked) > 1:
        raise refusal(
            f"Column {quoted(column)} answers several questions: {listed(list(asked))}.",
            "Keep the answers of one question in it.",
        )
    return [[label for name in asked for label in _chosen(one.get(name))] for one in parsed]


def _parsed(text: str) -> JsonObject | None:
    """The answers of a cell by question; None if it holds something else."""
    if not text:
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    parts = value if isinstance(value, list) else [value]
    if all(isinstance(one, str) for one in parts):
        return {"": parts}
    if not all(isinstance(one, dict) for one in parts):
        return None
    return {name: answer for one in parts for name, answer in one.items()}


def _chosen(value: Json) -> list[str]:
    """The labels of one answer."""
    if isinstance(value, str):
        return [value.strip()] if value.strip() else []
    if isinstance(value, list):
        return [label for one in value for label in _chosen(one)]
    if isinstance(value, dict):
        for name in ("label", "labels"):
            if isinstance(value.get(name), (str, list)):
                return _chosen(value[name])
        return [option for option, marked in value.items() if marked is True]
    return []


def _turk_time(text: str) -> str:
    """Seconds since 1970 of such a time as `Thu Oct 09 08:01:00 UTC 2025`; "" of others."""
    for form in _TURK_TIMES:
        try:
            return str((datetime.strptime(text, form) - datetime(1970, 1, 1)).total_seconds())
        except ValueError:
            continue
    return ""


_PARTICIPANTS = ("participant_id", "participant id")
_ITEMS = ("item_id", "item", "stimulus_id", "trial_id", "stimulus")
_RESPONSES = ("response", "label", "answer", "choice", "rating")
_OUT = ("rejected", "returned", "timed-out", "timed out", "screened out")


def _read_prolific(cells: pd.DataFrame, called: str) -> TableReading:
    """One row for each item, in the order in which they first occur. Raises TableError."""
    columns = by_plain_name(cells.columns)
    label = first_named(columns, *_RESPONSES)
    item = first_named(columns, *_ITEMS)
    worker = first_named(columns, *_PARTICIPANTS)
    status = [text.lower() for text in texts_of(cells, columns.get("status"))]
    out = [text in _OUT for text in status]
    said = sorted({text.upper() for text in status if text in _OUT})
    notes = _left_out(out, f"with the status {listed(said)}")
    times = texts_of(cells, first_named(columns, "completed_at", "submitted_at", "completed at"))
    labels = [[text] if text else [] for text in texts_of(cells, label)]
    about = _facts(
        columns,
        ("submission_id", "submission id", "status", "age", "sex", "rt", "started_at", "completed_at"),
    )
    voted = VoteColumns(item, (), str(worker), _LABEL, about_votes=(*about, str(label)))
    answers = _Answers(labels, [not one for one in out], times, notes=notes)
    return _reading(cells, answers, voted, called)


def _facts(columns: dict[str, str], plain: Collection[str]) -> tuple[str, ...]:
    return tuple(columns[name] for name in plain if name in columns)


def _read_appen(cells: pd.DataFrame, called: str) -> TableReading:
    """One row for each unit, in the order in which they first occur. Raises TableError."""
    columns = by_plain_name(cells.columns)
    question = _appen_question(cells.columns)
    if question is None:
        raise refusal(
            "No column has a second one that ends in _gold, or several have.",
            "Keep the columns of one question.",
        )
    tainted = [text.lower() == "true" for text in texts_of(cells, columns.get("_tainted"))]
    notes = [*_left_out(tainted, "of workers who failed the checks (_tainted)")]
    golds = [_lines(text) for text in texts_of(cells, columns[f"{plain_name(question)}_gold"])]
    several = sum(len(one) > 1 for one in golds)
    if several:
        notes.append(f"{several} test questions accept several answers, which is no single true label.")
    answers = _Answers(
        [_lines(text) for text in texts_of(cells, question)],
        [not one for one in tainted],
        [_appen_time(text) for text in texts_of(cells, columns.get("_created_at"))],
        [one[0] if len(one) == 1 else "" for one in golds],
        tuple(notes),
    )
    own = tuple(name for plain, name in columns.items() if plain.startswith("_"))
    about = (*own, question, columns[f"{plain_name(question)}_gold"])
    weight = columns.get("_trust")
    voted = VoteColumns(
        columns["_unit_id"], (), columns["_worker_id"], _LABEL, weight=weight, about_votes=about
    )
    return _reading(cells, answers, voted, called)


def _appen_question(columns: Iterable[object]) -> str | None:
    plain = by_plain_name(columns)
    pairs = [name for low, name in plain.items() if f"{low}_gold" in plain]
    return pairs[0] if len(pairs) == 1 else None


def _lines(text: str) -> list[str]:
    """The answers of a cell, one on each line."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def _appen_time(text: str) -> str:
    """ISO 8601 of such a time as `1/2/2016 10:00:10`, month first; the text of others."""
    try:
        return datetime.strptime(text, "%m/%d/%Y %H:%M:%S").isoformat()
    except ValueError:
        return text


MECHANICAL_TURK = TableTool(
    "Mechanical Turk results",
    _read_turk,
    Fingerprint(names("hitid", "workerid"), starts=("answer.",)),
    lambda cells: _question(list(map(str, cells.columns))) is not None,
    has_rows=False,
)
"""The results of a batch of Mechanical Turk, or of Turkle."""

PROLIFIC = TableTool(
    "Prolific answers",
    _read_prolific,
    Fingerprint(
        frozenset(),
        one_of=(
            frozenset(_PARTICIPANTS),
            names("submission_id", "submission id"),
            frozenset(_ITEMS),
            frozenset(_RESPONSES),
        ),
    ),
    has_rows=False,
)
"""A line for each answer of a participant, with the items of the study."""

APPEN = TableTool(
    "Appen full report",
    _read_appen,
    Fingerprint(names("_unit_id", "_worker_id", "_id")),
    lambda cells: _appen_question(cells.columns) is not None,
    has_rows=False,
)
"""The full report of Appen, once Figure Eight and CrowdFlower: a judgment in each line."""
